// SPDX-License-Identifier: GPL-2.0
/*
 * Charges that wait for the memory of a task that the OOM killer has chosen
 *
 * From the kill on, it takes a while until the victim's memory is uncharged.
 * The other tasks of a cgroup at memory.max reclaim meanwhile, in vain, on the
 * CPUs that the victim needs to exit. And they may have a second task killed:
 * the OOM killer passes over a victim with MMF_OOM_SKIP, and exit_mmap() sets
 * that before it frees the pages, of which up to 38 MiB are still in its
 * mmu_gather.
 *
 * So a kill marks the level for which it was made. As long as it is marked,
 * charges at that level do not call the OOM killer, and sleep until there is room
 * (see mm/memcg_wait.c), or the mark ends. The mark goes when a victim of the level
 * or below has no memory left, by exit_mmap() or by the OOM reaper, and all sleepers
 * are woken: if there is still no room, they make the rest of their attempts, and
 * have the next task killed.
 *
 *	charges at the level			victim
 *
 *	mark; out_of_memory()	----------->	SIGKILL
 *	all charges sleep			exit_mmap() sets MMF_OOM_SKIP
 *	one is woken per 64 pages	<------	pages are uncharged
 *	all others are woken		<------	no memory left: the mark goes
 *
 * An example: a victim has 400 MiB, 102400 pages. 16 other tasks charge a page
 * each while it exits. Each 64 pages that are uncharged wake one of them, so all
 * resume after a hundredth of its pages, and the OOM killer is not called again.
 *
 * The mark is a hint, and ends 1 s after the last call of the OOM killer for the
 * level: see struct memcg_oom_mark. For locks, see "Why this cannot deadlock".
 */

#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/hash.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/memcg_oom.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/oom.h>
#include <linux/psi.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>

#include "memcg_wait.h"

#define CREATE_TRACE_POINTS
#include <trace/events/memcg_oom.h>

#define MEMCG_OOM_BITS		6
#define MEMCG_OOM_TIMEOUT	HZ	/* of a mark, and of a sleep */
#define MEMCG_OOM_TIMEOUT_WRITE	max(HZ / 50, 1)	/* of a write to memory.max */

/*
 * Why this cannot deadlock
 *
 * A sleeper may hold a lock that the victim needs to exit. It sleeps until the mark
 * ends, 1 s at most, and then tries again, with the lock held as without this file.
 * A task in a transaction, and others that writeback may need, sleep for a tick. Nor
 * has the victim's exit to be waited for: after 2 s the OOM reaper frees its
 * anonymous memory, asleep or not. The uncharge wakes the sleepers. If the reaper
 * cannot get mmap_lock either, it sets MMF_OOM_SKIP after another second, the mark
 * goes, and the next victim is chosen.
 *
 * A sleeper that is chosen itself, or shares the victim's memory, is woken by its
 * fatal signal. A task that dies does not sleep, and its charge fails as before,
 * unless it must not fail: see the end of try_charge_memcg().
 *
 * The victim does not need anything of the OOM killer, and oom_lock is not held by
 * sleepers. A mark that no task takes away ends 1 s after the last call of the OOM
 * killer for its level.
 */

/**
 * struct memcg_oom_mark - a level whose victim has memory yet
 * @level: the level; only compared, since it may be gone
 * @until: when the mark ends, in jiffies
 * @queue: the sleepers
 *
 * There is one for each slot of a hash. If two levels share a slot, the later kill's
 * mark stays, and the other level's tasks do as without; those that sleep already may
 * do so until its own mark would have ended. Nor does it name the victim. Where
 * several die at a level or below, the first one without memory takes the mark away,
 * and the next kill may come before the others have freed theirs, as without the
 * mark.
 */
struct memcg_oom_mark {
	struct mem_cgroup *level;
	unsigned long until;
	wait_queue_head_t queue;
};

/**
 * struct memcg_oom_sleeper - a charge on two queues
 * @wait: its entry on the one of its level's mark
 * @room: on the one that is woken when there is room
 * @level: the level
 */
struct memcg_oom_sleeper {
	wait_queue_entry_t wait;
	struct memcg_waiter room;
	struct mem_cgroup *level;
};

static struct memcg_oom_mark memcg_oom_marks[1 << MEMCG_OOM_BITS];

static struct memcg_oom_mark *memcg_oom_mark(struct mem_cgroup *level)
{
	return &memcg_oom_marks[hash_ptr(level, MEMCG_OOM_BITS)];
}

static bool memcg_oom_marks_level(const struct memcg_oom_mark *mark,
				  struct mem_cgroup *level, unsigned long now)
{
	unsigned long until = READ_ONCE(mark->until);

	return READ_ONCE(mark->level) == level &&
	       time_in_range_open(now, until - MEMCG_OOM_TIMEOUT, until);
}

/**
 * memcg_oom_in_flight - check if a kill for a level has yet to free its memory
 * @level: the cgroup at its limit
 *
 * A cgroup that is being removed has no victim, and cgroup_rmdir() waits with
 * cgroup_mutex held for a task that writes to its memory.max.
 *
 * Return: true if no other task should be killed.
 */
bool memcg_oom_in_flight(struct mem_cgroup *level)
{
	return !css_is_dying(&level->css) &&
	       memcg_oom_marks_level(memcg_oom_mark(level), level, jiffies);
}

/* Under oom_lock. On version 1, a task can take the kill into its own hands. */
static void memcg_oom_set_mark(struct mem_cgroup *level)
{
	struct memcg_oom_mark *mark = memcg_oom_mark(level);

	if (!cgroup_subsys_on_dfl(memory_cgrp_subsys))
		return;
	WRITE_ONCE(mark->until, jiffies + MEMCG_OOM_TIMEOUT);
	WRITE_ONCE(mark->level, level);
}

/* Two levels may have the same queue. */
static int memcg_oom_wake_function(wait_queue_entry_t *wait, unsigned int mode,
				   int sync, void *level)
{
	struct memcg_oom_sleeper *sleeper =
		container_of(wait, struct memcg_oom_sleeper, wait);

	return sleeper->level == level &&
	       autoremove_wake_function(wait, mode, sync, NULL);
}

/* The loop ends: without the mark, no other task begins to sleep. */
static void memcg_oom_wake(wait_queue_head_t *queue, struct mem_cgroup *level)
{
	while (__wake_up(queue, TASK_NORMAL, MEMCG_WAIT_WAKE_MAX, level) ==
	       MEMCG_WAIT_WAKE_MAX)
		;
}

static void memcg_oom_unmark(struct mem_cgroup *level)
{
	struct memcg_oom_mark *mark = memcg_oom_mark(level);

	if (READ_ONCE(mark->level) != level ||
	    cmpxchg(&mark->level, level, NULL) != level)
		return;
	memcg_oom_wake(&mark->queue, level);
}

/* A report of all tasks, on a slow console, may have taken longer than the mark. */
static void memcg_oom_extend_mark(struct mem_cgroup *level)
{
	struct memcg_oom_mark *mark = memcg_oom_mark(level);

	if (READ_ONCE(mark->level) == level)
		WRITE_ONCE(mark->until, jiffies + MEMCG_OOM_TIMEOUT);
}

/**
 * memcg_oom_kill - call the OOM killer for a level
 * @oc: with the cgroup at its limit
 *
 * A victim may be gone before out_of_memory() returns, so the mark comes first.
 *
 * Context: under oom_lock.
 * Return: what out_of_memory() returns: true if a task was killed, or is dying.
 */
bool memcg_oom_kill(struct oom_control *oc)
{
	bool killed;

	memcg_oom_set_mark(oc->memcg);
	killed = out_of_memory(oc);
	if (killed)
		memcg_oom_extend_mark(oc->memcg);
	else
		memcg_oom_unmark(oc->memcg);
	return killed;
}

/**
 * memcg_oom_freed - note that a victim of the OOM killer has no memory left
 * @victim: a task of it
 *
 * Context: any that allows to wake tasks.
 */
void memcg_oom_freed(struct task_struct *victim)
{
	struct mem_cgroup *level;

	rcu_read_lock();
	for (level = mem_cgroup_from_task(victim);
	     level && !mem_cgroup_is_root(level);
	     level = parent_mem_cgroup(level))
		memcg_oom_unmark(level);
	rcu_read_unlock();
}

/*
 * Was @mm a victim's? A small one may be gone before the victim is @queued for the
 * OOM reaper: the OOM killer goes through all processes between the two steps. But
 * then the last user is a thread of the victim: oom_mm is set under task_lock(),
 * while the victim has @mm.
 */
static bool memcg_oom_was_chosen(const struct mm_struct *mm, bool queued)
{
	return queued || READ_ONCE(current->signal->oom_mm) == mm;
}

/**
 * memcg_oom_mm_freed - note that an mm, which may be a victim's, has no memory left
 * @mm: the mm; the current task was its last user
 * @reaped: the OOM reaper has freed its memory before, and has noted it
 * @queued: a task of it was queued for the OOM reaper
 *
 * Context: any that allows to wake tasks.
 */
void memcg_oom_mm_freed(const struct mm_struct *mm, bool reaped, bool queued)
{
	if (!reaped && memcg_oom_was_chosen(mm, queued))
		memcg_oom_freed(current);
}

/*
 * A task that others may depend on sleeps for a tick only, as does one outside the
 * cgroup, which may hold the mmap_lock of a process in it. A writer to memory.max,
 * which charges nothing, checks every 20 ms if the cgroup is being removed:
 * cgroup_rmdir() waits for it, and nothing wakes it.
 */
static long memcg_oom_timeout(struct mem_cgroup *level, unsigned int nr_pages)
{
	long left = READ_ONCE(memcg_oom_mark(level)->until) - jiffies;
	long most = nr_pages ? MEMCG_OOM_TIMEOUT : MEMCG_OOM_TIMEOUT_WRITE;

	if (memcg_wait_is_needed(current) ||
	    (nr_pages && memcg_wait_is_outside(current, level)))
		return 1;
	return clamp(left, 1L, most);
}

static void memcg_oom_sleep(struct mem_cgroup *level, unsigned int nr_pages,
			    long timeout)
{
	wait_queue_head_t *queue = &memcg_oom_mark(level)->queue;
	struct memcg_oom_sleeper sleeper = { .level = level };

	memcg_wait_start(&sleeper.room, level, &level->memory.max, nr_pages);
	init_wait(&sleeper.wait);
	sleeper.wait.func = memcg_oom_wake_function;
	prepare_to_wait_exclusive(queue, &sleeper.wait, TASK_KILLABLE);
	if (memcg_oom_in_flight(level) && !memcg_wait_is_over(&sleeper.room)) {
		trace_memcg_oom_sleep(cgroup_id(level->css.cgroup), nr_pages,
				      jiffies_to_msecs(timeout));
		timeout = schedule_timeout(timeout);
		trace_memcg_oom_woken(cgroup_id(level->css.cgroup),
				      jiffies_to_msecs(timeout));
	}
	finish_wait(queue, &sleeper.wait);
	memcg_wait_finish(&sleeper.room);
}

/**
 * memcg_oom_wait - wait for the memory of a victim of the OOM killer
 * @level: the cgroup at its limit
 * @nr_pages: that are charged; 0 for a write to memory.max
 *
 * Returns at once if there is none.
 *
 * Context: may sleep; the caller holds a reference to a cgroup below @level.
 */
void memcg_oom_wait(struct mem_cgroup *level, unsigned int nr_pages)
{
	unsigned long pflags;

	/* Larger folios have smaller ones to fall back to. */
	if (nr_pages > 1 << PAGE_ALLOC_COSTLY_ORDER ||
	    !memcg_oom_in_flight(level) || fatal_signal_pending(current) ||
	    (current->flags & PF_EXITING))
		return;
	psi_memstall_enter(&pflags);
	memcg_oom_sleep(level, nr_pages, memcg_oom_timeout(level, nr_pages));
	psi_memstall_leave(&pflags);
}

static int __init memcg_oom_queues_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(memcg_oom_marks); i++)
		init_waitqueue_head(&memcg_oom_marks[i].queue);
	return 0;
}
pure_initcall(memcg_oom_queues_init);

#ifdef CONFIG_MEMCG_OOM_WAIT_KUNIT_TEST
#include "tests/memcg_oom_kunit.c"
#endif
