// SPDX-License-Identifier: GPL-2.0
/*
 * Charges that wait for writeback before the OOM killer is called
 *
 * A task that charges a page to a cgroup at memory.max reclaims there. Reclaim
 * does not wait for pages that are dirty or under writeback. If all file pages
 * are, it frees none, and after 16 attempts, which may be over within
 * milliseconds, the OOM killer is called. Later the disk has written them.
 *
 * So a charge for which reclaim has freed nothing sleeps until the cgroup at
 * the limit, with its descendants, has had a batch of pages written. It wakes
 * the flushers once if fewer pages are under writeback. Then it makes the next
 * of its 16 attempts: their number is as without. A charge sleeps for 2 s at
 * most in all, so that a disk that does not write gets it to the OOM killer
 * after all. An example: memory.max=24M, 6000 pages dirty, a disk of 20 MB/s. A
 * charge waits for 32 of them. The disk writes these in 7 ms, so all 16
 * attempts take about 105 ms.
 *
 *	task				end of writeback
 *
 *	memcg_max_nr_waiters++
 *	on a queue of the level		NR_WRITEBACK -= nr
 *	pages = NR_WRITEBACK + dirty	if (memcg_max_nr_waiters)
 *	if (pages) sleep			needed -= nr, wake at 0
 *
 * A waiter counts the rest every 100 ms: its pages may be truncated, or its
 * wake-up lost, as the end of writeback has no barrier between the two steps
 * above. Room below memory.max, by an uncharge or a higher limit, ends the sleep
 * as well: see mm/memcg_wait.c. On cgroup v1, reclaim itself waits for folios
 * under writeback, and charges do not.
 */

#include <linux/atomic.h>
#include <linux/backing-dev.h>
#include <linux/cgroup.h>
#include <linux/hash.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/memcg_fresh.h>
#include <linux/memcg_max.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/oom.h>
#include <linux/psi.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/swap.h>
#include <linux/wait.h>
#include <linux/writeback.h>

#include "memcg_wait.h"

#define CREATE_TRACE_POINTS
#include <trace/events/memcg_max.h>

/* How long all sleeps of a charge take at most, in jiffies. */
#define MEMCG_MAX_TIMEOUT	(2 * HZ)
/* The same for a buffered write without __GFP_FS. */
#define MEMCG_MAX_TIMEOUT_WRITE	HZ
/* The same for all other charges without __GFP_FS, and for kernel memory. */
#define MEMCG_MAX_TIMEOUT_SHORT	DIV_ROUND_UP(HZ, 10)
/* How often, in jiffies, a sleeping task counts again the pages it can wait for. */
#define MEMCG_MAX_SLICE		DIV_ROUND_UP(HZ, 10)
/* How many pages a charge waits for, if it does not need more. */
#define MEMCG_MAX_BATCH		SWAP_CLUSTER_MAX
/* After how many jiffies each task wakes the flushers again. */
#define MEMCG_MAX_REPEAT	DIV_ROUND_UP(HZ, 2)

#define MEMCG_MAX_QUEUE_BITS	6

/* Charges that wait, or are about to: all that the end of writeback reads. */
atomic_t memcg_max_nr_waiters = ATOMIC_INIT(0);

/* The charges that wait, hashed by the level that is at its limit. */
static wait_queue_head_t memcg_max_queues[1 << MEMCG_MAX_QUEUE_BITS];

/**
 * struct memcg_max_waiter - a charge on two queues
 * @wait: its entry on the one that the end of writeback wakes
 * @room: on the one that is woken when there is room
 * @level: the cgroup at its limit
 * @nr_pages: that are charged
 * @needed: the pages of @level that have yet to be written; changed under the lock of
 *	@wait's queue
 * @counted: the task has counted the pages before
 * @flushed: the flushers have been woken for it
 * @flushed_at: when they were, in jiffies
 */
struct memcg_max_waiter {
	wait_queue_entry_t wait;
	struct memcg_waiter room;
	struct mem_cgroup *level;
	unsigned int nr_pages;
	long needed;
	bool counted;
	bool flushed;
	unsigned long flushed_at;
};

/**
 * struct memcg_max_event - pages that have been written
 * @level: the cgroup that they belong to, or an ancestor
 * @nr_pages: how many of them no charge has counted yet
 * @nr_passed: how many charges have been met that do not wait for them
 */
struct memcg_max_event {
	struct mem_cgroup *level;
	long nr_pages;
	int nr_passed;
};

/*
 * Why this cannot deadlock
 *
 * The task may hold locks: that of the inode it writes to, mmap_lock, or in the
 * case of GFP_NOFS those of a file system. A flusher may need these, and the
 * pages that are waited for may belong to a file system whose server is a
 * process in the same cgroup. So
 *
 * - all sleeps have a bound: 2 s, or 100 ms without __GFP_FS, as for metadata that
 *   a file system reads with its own locks held, and for kernel memory, which is
 *   charged under locks of the whole machine too. A buffered write holds locks of
 *   its inode and folios, and waits for 1 s;
 * - a task that charges on behalf of another cgroup does not sleep: mkdir charges
 *   the parent of the new cgroup, with cgroup_mutex held. A task outside the
 *   cgroup that accesses the memory of a process in it, as ps does, charges that
 *   process with its mmap_lock held, and waits for 100 ms;
 * - a task in a transaction, or in a scope of memalloc_nofs_save() or
 *   memalloc_noio_save(), or with PR_SET_IO_FLUSHER, as a server of FUSE should
 *   have it, does not sleep, and neither does a kernel thread;
 * - a task that dies does not sleep, and a fatal signal ends the sleep. A task
 *   that the OOM killer has chosen is never waited for here: the reaper frees
 *   its memory, and the uncharge wakes the waiters.
 */

/* Larger folios have smaller ones to fall back to. */
static bool memcg_max_may_wait(unsigned int nr_pages)
{
	return cgroup_subsys_on_dfl(memory_cgrp_subsys) &&
	       nr_pages <= 1 << PAGE_ALLOC_COSTLY_ORDER &&
	       !memcg_wait_is_needed(current) && !tsk_is_oom_victim(current);
}

/*
 * Is this the page cache of a buffered write, or one of its buffer heads? Those of
 * a block device are charged as movable, like its page cache.
 */
static bool memcg_max_is_write(gfp_t gfp_mask)
{
	const gfp_t mask = __GFP_FS | __GFP_NOFAIL | __GFP_MOVABLE;

	if (gfp_mask & __GFP_ACCOUNT)
		return (gfp_mask & mask) == __GFP_NOFAIL;
	return gfp_mask & __GFP_WRITE;
}

/*
 * How long a charge that has slept for @slept may sleep, in jiffies; by a task that
 * is @outside the cgroup or in it.
 */
static long memcg_max_timeout(gfp_t gfp_mask, long slept, bool outside)
{
	long timeout = MEMCG_MAX_TIMEOUT_SHORT;

	if (!(gfp_mask & __GFP_DIRECT_RECLAIM) || !(gfp_mask & __GFP_IO))
		return 0;
	if (!outside && (gfp_mask & (__GFP_FS | __GFP_ACCOUNT)) == __GFP_FS)
		timeout = MEMCG_MAX_TIMEOUT;
	else if (!outside && memcg_max_is_write(gfp_mask))
		timeout = MEMCG_MAX_TIMEOUT_WRITE;
	return max(timeout - slept, 0L);
}

/*
 * For how many of @pending pages, by statistics that others change, a charge of
 * @nr_pages waits. All would be too many: some may have been written meanwhile.
 */
static long memcg_max_needed(unsigned long pending, unsigned int nr_pages)
{
	return min_t(unsigned long, pending - pending / 2,
		     max(nr_pages, MEMCG_MAX_BATCH));
}

/*
 * @nr of the pages that @needed counts have been written, or more. Returns how many
 * of these are left for others.
 */
static long memcg_max_count(long *needed, long nr)
{
	long counted = min(*needed, nr);

	WRITE_ONCE(*needed, *needed - counted);
	return nr - counted;
}

/* Other levels may have the same queue. */
static wait_queue_head_t *memcg_max_queue(struct mem_cgroup *level)
{
	return &memcg_max_queues[hash_ptr(level, MEMCG_MAX_QUEUE_BITS)];
}

/*
 * Pages wake the first waiter that they suffice for, in the order in which the tasks
 * came; those that it does not need count for the next. So there is one wake-up for
 * each batch, or less: a waiter that is killed, or whose time is over, keeps the
 * pages that it has counted. One that was woken for room needs none.
 */
static int memcg_max_wake_function(wait_queue_entry_t *wait, unsigned int mode,
				   int sync, void *arg)
{
	struct memcg_max_waiter *waiter =
		container_of(wait, struct memcg_max_waiter, wait);
	struct memcg_max_event *event = arg;

	/* Those behind the last one count again, within 100 ms. */
	if (event->level != waiter->level || memcg_wait_is_woken(&waiter->room))
		return ++event->nr_passed < MEMCG_WAIT_PASS_MAX ? 0 : -1;
	event->nr_pages = memcg_max_count(&waiter->needed, event->nr_pages);
	if (!waiter->needed) {
		default_wake_function(wait, mode, sync, NULL);
		/* Also if it was awake: it needs no more pages. */
		list_del_init_careful(&wait->entry);
	}
	/* There is nothing for those behind it. */
	return event->nr_pages ? 0 : -1;
}

static void memcg_max_wake(struct mem_cgroup *level, long nr)
{
	struct memcg_max_event event = { .level = level, .nr_pages = nr };
	wait_queue_head_t *queue = memcg_max_queue(level);

	/* No barrier: see the top. */
	if (waitqueue_active(queue))
		__wake_up(queue, TASK_NORMAL, INT_MAX, &event);
}

/* See memcg_max_written(). */
void __memcg_max_written(struct folio *folio)
{
	struct mem_cgroup *memcg;

	rcu_read_lock();
	for (memcg = folio_memcg(folio); memcg && !mem_cgroup_is_root(memcg);
	     memcg = parent_mem_cgroup(memcg))
		memcg_max_wake(memcg, folio_nr_pages(folio));
	rcu_read_unlock();
}

/* Makes @waiter need no more than is there to be written. */
static void memcg_max_need(struct memcg_max_waiter *waiter, long needed)
{
	wait_queue_head_t *queue = memcg_max_queue(waiter->level);

	spin_lock_irq(&queue->lock);
	WRITE_ONCE(waiter->needed, min(waiter->needed, needed));
	spin_unlock_irq(&queue->lock);
}

/**
 * struct memcg_max_pending - pages of a level that a charge can wait for
 * @dirty: those that no flusher has submitted
 * @writeback: those that are under writeback
 * @flushed: the task itself has flushed the statistics that these are from
 */
struct memcg_max_pending {
	unsigned long dirty;
	unsigned long writeback;
	bool flushed;
};

static unsigned long memcg_max_read(struct mem_cgroup *level,
				    struct memcg_max_pending *pending)
{
	pending->dirty = memcg_page_state(level, NR_FILE_DIRTY);
	pending->writeback = memcg_page_state(level, NR_WRITEBACK);
	return pending->dirty + pending->writeback;
}

/*
 * Any number of tasks may wait, and a flush may take a lock of all cgroups. So tasks
 * that count again share it. The first count of a sleep needs a flush of its own: an
 * older one may show pages under writeback that the task has just waited for, and
 * then the task would wake no flusher.
 */
static bool memcg_max_flush_stats(struct memcg_max_waiter *waiter)
{
	if (waiter->counted)
		return memcg_fresh_flush_once(waiter->level);
	waiter->counted = true;
	memcg_flush_stats_now(waiter->level);
	return true;
}

/* No task gives up waiting because of a count that another one has flushed. */
static unsigned long memcg_max_pending(struct memcg_max_waiter *waiter,
				       struct memcg_max_pending *pending)
{
	struct mem_cgroup *level = waiter->level;
	unsigned long sum;

	pending->flushed = memcg_max_flush_stats(waiter);
	sum = memcg_max_read(level, pending);
	if (sum || pending->flushed)
		return sum;
	memcg_flush_stats_now(level);
	pending->flushed = true;
	return memcg_max_read(level, pending);
}

/*
 * The flushers are those of the whole machine, and write all that is dirty then. So
 * they are woken once for each sleep, and not for each slice of it, as long as any
 * page is under writeback. A request may be lost behind one that is about to end:
 * the task that flushes the statistics repeats it. A paused writer may be that task
 * each time, and wakes no flusher: after a while, each charge repeats its own.
 */
static bool memcg_max_must_flush(struct memcg_max_waiter *waiter,
				 const struct memcg_max_pending *pending,
				 long needed)
{
	if (!pending->dirty || pending->writeback >= needed)
		return false;
	if (waiter->flushed &&
	    (pending->writeback ||
	     (!pending->flushed &&
	      time_before(jiffies, waiter->flushed_at + MEMCG_MAX_REPEAT))))
		return false;
	waiter->flushed = true;
	waiter->flushed_at = jiffies;
	return true;
}

/*
 * Counts the pages that @waiter can wait for, and has them written. The task is on
 * its queues, so that pages count that are written from now on. Returns false if
 * there are none.
 */
static bool memcg_max_prepare(struct memcg_max_waiter *waiter, long timeout)
{
	struct memcg_max_pending pending;
	long needed;

	needed = memcg_max_needed(memcg_max_pending(waiter, &pending),
				  waiter->nr_pages);
	if (!needed)
		return false;
	if (memcg_max_must_flush(waiter, &pending, needed))
		wakeup_flusher_threads(WB_REASON_VMSCAN);
	memcg_max_need(waiter, needed);
	trace_memcg_max_sleep(cgroup_id(waiter->level->css.cgroup),
			      pending.dirty, pending.writeback, needed,
			      jiffies_to_msecs(timeout));
	return true;
}

static bool memcg_max_is_over(struct memcg_max_waiter *waiter)
{
	return !READ_ONCE(waiter->needed) || memcg_wait_is_over(&waiter->room);
}

/* Sleeps for a slice of @timeout; returns the rest of it. */
static long memcg_max_sleep_once(struct memcg_max_waiter *waiter, long timeout)
{
	long slice = min(timeout, MEMCG_MAX_SLICE), left = slice;

	set_current_state(TASK_KILLABLE);
	if (!memcg_max_is_over(waiter))
		left = schedule_timeout(slice);
	__set_current_state(TASK_RUNNING);
	return timeout - (slice - left);
}

/*
 * Returns the rest of @timeout. Without a page to wait for it is all left: others
 * may dirty the pages that this charge is about to reclaim, and then its next
 * attempts must wait.
 */
static long memcg_max_sleep(struct mem_cgroup *level, unsigned int nr_pages,
			    long timeout)
{
	struct memcg_max_waiter waiter = {
		.level = level,
		.nr_pages = nr_pages,
		.needed = max(nr_pages, MEMCG_MAX_BATCH),
	};
	wait_queue_head_t *queue = memcg_max_queue(level);

	memcg_wait_start(&waiter.room, level, &level->memory.max, nr_pages);
	init_wait(&waiter.wait);
	waiter.wait.func = memcg_max_wake_function;
	/* Exclusive only to get to the end of the queue: pages serve tasks in turn. */
	add_wait_queue_exclusive(queue, &waiter.wait);
	while (timeout > 0 && !memcg_max_is_over(&waiter) &&
	       !fatal_signal_pending(current) &&
	       memcg_max_prepare(&waiter, timeout))
		timeout = memcg_max_sleep_once(&waiter, timeout);
	finish_wait(queue, &waiter.wait);
	memcg_wait_finish(&waiter.room);
	trace_memcg_max_woken(cgroup_id(level->css.cgroup), waiter.needed,
			      jiffies_to_msecs(timeout));
	return timeout;
}

/**
 * memcg_max_wait - wait for pages to be written before the next attempt to reclaim
 * @level: the cgroup at its limit
 * @gfp_mask: of the allocation
 * @nr_pages: that are charged
 * @slept: how long this charge has slept here, in jiffies; 0 at first
 *
 * Returns at once if no page of @level is dirty or under writeback, or if the task
 * must not sleep.
 *
 * Context: may sleep if @gfp_mask allows it; the caller holds a reference to a
 * cgroup below @level.
 */
void memcg_max_wait(struct mem_cgroup *level, gfp_t gfp_mask,
		    unsigned int nr_pages, long *slept)
{
	bool outside = memcg_wait_is_outside(current, level);
	long timeout = memcg_max_timeout(gfp_mask, *slept, outside);
	unsigned long pflags;

	if (!timeout || !memcg_max_may_wait(nr_pages))
		return;
	psi_memstall_enter(&pflags);
	atomic_inc(&memcg_max_nr_waiters);
	*slept += timeout - memcg_max_sleep(level, nr_pages, timeout);
	atomic_dec(&memcg_max_nr_waiters);
	psi_memstall_leave(&pflags);
}

static int __init memcg_max_queues_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(memcg_max_queues); i++)
		init_waitqueue_head(&memcg_max_queues[i]);
	return 0;
}
pure_initcall(memcg_max_queues_init);

#ifdef CONFIG_MEMCG_MAX_WAIT_KUNIT_TEST
#include "tests/memcg_max_kunit.c"
#endif
