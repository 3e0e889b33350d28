// SPDX-License-Identifier: GPL-2.0
/*
 * Queues of tasks that sleep until a memory cgroup has room
 *
 * A task sleeps because one level of the hierarchy, its own cgroup or an
 * ancestor, has no room below a limit. The queues are hashed by the address of
 * that limit, as those of folio locks are by the folio's, and a waker checks the
 * limit of each task.
 *
 * An uncharge that leaves a level below a limit has the tasks woken which sleep
 * because of that limit: as many as the room is for, if each charges a batch of
 * 64 pages. With room for 128 pages, and four tasks that need 1, 512, 1 and 1, the
 * first and the third are woken, for 64 each. A woken task does the same for the
 * others, as it may need less than a batch, or none.
 *
 *	task				another task
 *
 *	memcg_wait_nr++			usage -= nr
 *	on the queue			(full barrier)
 *	(full barrier)			if (memcg_wait_nr && room)
 *	if (no room) sleep			have the queue woken
 *
 * One of the two sees the other's write, so an uncharge loses no wake-up. Where
 * no task sleeps, it costs a load. Kernel memory may be freed under any lock of
 * the scheduler, or in an NMI, so an irq_work does the waking.
 *
 * Each sleep has a timeout: no task depends on another one's wake-up for ever.
 *
 * The queues serve waits at memory.high, and at memory.max for writeback and for
 * victims of the OOM killer. Each user chooses the tasks that sleep, and for how
 * long. The last two wait for another event as well, on queues of their own.
 */

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/hash.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/page_counter.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "memcg_wait.h"

#define MEMCG_WAIT_QUEUE_BITS	6
#define MEMCG_WAIT_NR_QUEUES	BIT(MEMCG_WAIT_QUEUE_BITS)

/* Tasks that sleep, or are about to, because of any cgroup. */
atomic_t memcg_wait_nr = ATOMIC_INIT(0);

static wait_queue_head_t memcg_wait_queues[MEMCG_WAIT_NR_QUEUES];
/* The queues that have yet to be woken. */
static DECLARE_BITMAP(memcg_wait_due, MEMCG_WAIT_NR_QUEUES);

/**
 * struct memcg_wait_event - a walk of a queue
 * @limit: the limit of the last task
 * @room: how many pages may be charged below it, without those for the tasks before
 * @nr_passed: how many tasks have not been woken
 */
struct memcg_wait_event {
	const unsigned long *limit;
	long room;
	int nr_passed;
};

static unsigned int memcg_wait_index(const unsigned long *limit)
{
	return hash_ptr(limit, MEMCG_WAIT_QUEUE_BITS);
}

/* Other limits may have the same queue. */
static wait_queue_head_t *memcg_wait_queue(const unsigned long *limit)
{
	return &memcg_wait_queues[memcg_wait_index(limit)];
}

/* How many pages may be charged below the limit; less than 0 above it. */
static long memcg_wait_room(const struct memcg_waiter *waiter)
{
	return READ_ONCE(*waiter->limit) -
	       page_counter_read(&waiter->level->memory);
}

/* Takes the pages that a task needs from @room; it charges a batch if there is one. */
static bool memcg_wait_take(long *room, unsigned long nr_pages)
{
	if (*room < (long)nr_pages)
		return false;
	*room -= max_t(long, nr_pages, MEMCG_CHARGE_BATCH);
	return true;
}

/* May @waiter go on, with the room that the tasks before it have left? */
static bool memcg_wait_spend(struct memcg_wait_event *event,
			     const struct memcg_waiter *waiter)
{
	if (event->limit != waiter->limit) {
		event->limit = waiter->limit;
		event->room = memcg_wait_room(waiter);
	}
	return memcg_wait_take(&event->room, waiter->nr_pages);
}

/* The tasks behind the last one are reached by another event, or by their timeout. */
static int memcg_wait_wake_function(wait_queue_entry_t *wait, unsigned int mode,
				    int sync, void *arg)
{
	struct memcg_waiter *waiter =
		container_of(wait, struct memcg_waiter, wait);
	struct memcg_wait_event *event = arg;

	if (memcg_wait_spend(event, waiter) &&
	    autoremove_wake_function(wait, mode, sync, NULL))
		return 1;
	return ++event->nr_passed < MEMCG_WAIT_PASS_MAX ? 0 : -1;
}

/**
 * memcg_wait_start - put the current task on a queue
 * @waiter: its entry, until memcg_wait_finish()
 * @level: the cgroup that lacks room
 * @limit: the limit of @level that is in the way
 * @nr_pages: the room that the task needs, in pages
 *
 * The caller calls set_current_state(), which is the full barrier of the diagram at
 * the top, and sleeps unless memcg_wait_is_over().
 *
 * Context: task context; the caller holds a reference to a cgroup below @level.
 */
void memcg_wait_start(struct memcg_waiter *waiter, struct mem_cgroup *level,
		      const unsigned long *limit, unsigned long nr_pages)
{
	init_wait(&waiter->wait);
	waiter->wait.func = memcg_wait_wake_function;
	waiter->level = level;
	waiter->limit = limit;
	waiter->nr_pages = nr_pages;
	atomic_inc(&memcg_wait_nr);
	add_wait_queue_exclusive(memcg_wait_queue(limit), &waiter->wait);
}

/**
 * memcg_wait_is_woken - check if a task was woken because there is room
 * @waiter: the task
 *
 * Context: any, before memcg_wait_finish().
 * Return: true if it is off its queue.
 */
bool memcg_wait_is_woken(const struct memcg_waiter *waiter)
{
	return list_empty_careful(&waiter->wait.entry);
}

/**
 * memcg_wait_is_over - check if a task has no reason to sleep for room
 * @waiter: the task
 *
 * Return: true if its level has the room that it needs, or it was woken for some.
 */
bool memcg_wait_is_over(const struct memcg_waiter *waiter)
{
	return memcg_wait_is_woken(waiter) ||
	       memcg_wait_room(waiter) >= (long)waiter->nr_pages;
}

/**
 * memcg_wait_finish - take the current task off its queue
 * @waiter: its entry
 *
 * Wakes others: the task may need less room than it was woken for, or have counted
 * for a batch while another event had woken it.
 *
 * Context: as for memcg_wait_start(). The task's state is TASK_RUNNING afterwards.
 */
void memcg_wait_finish(struct memcg_waiter *waiter)
{
	finish_wait(memcg_wait_queue(waiter->limit), &waiter->wait);
	atomic_dec(&memcg_wait_nr);
	memcg_wait_wake(waiter->level);
}

/*
 * Flags of tasks that die, or may be needed for writeback to make progress. Workers
 * of io_uring write for their users, as these themselves would.
 */
static bool memcg_wait_needs_flags(unsigned int flags)
{
	if ((flags & PF_USER_WORKER) && !(flags & PF_IO_WORKER))
		return true;
	return flags & (PF_KTHREAD | PF_MEMALLOC | PF_MEMALLOC_NOFS |
			PF_MEMALLOC_NOIO | PF_LOCAL_THROTTLE | PF_EXITING);
}

/*
 * A task that charges on behalf of another cgroup does so for many: mkdir charges
 * the parent of the new cgroup, with cgroup_mutex held. Buffer heads are charged
 * to the cgroup of their folio, which is the writer's own as a rule.
 */
static bool memcg_wait_charges_other(struct task_struct *task)
{
	struct mem_cgroup *active = task->active_memcg;
	bool other;

	if (!active)
		return false;
	rcu_read_lock();
	other = active != mem_cgroup_from_task(task);
	rcu_read_unlock();
	return other;
}

/**
 * memcg_wait_is_outside - check if a task charges the memory of others
 * @task: the task
 * @level: the cgroup that lacks room
 *
 * Access to the memory of another process, by ptrace or /proc/PID/cmdline, charges
 * that process's cgroup, with its mmap_lock held.
 *
 * Return: true if @task is in no cgroup below @level.
 */
bool memcg_wait_is_outside(struct task_struct *task, struct mem_cgroup *level)
{
	bool outside;

	rcu_read_lock();
	outside = !mem_cgroup_is_descendant(mem_cgroup_from_task(task), level);
	rcu_read_unlock();
	return outside;
}

/**
 * memcg_wait_is_needed - check if others may depend on a task
 * @task: the current task
 *
 * Return: true if it should not sleep until others make progress.
 */
bool memcg_wait_is_needed(struct task_struct *task)
{
	return task->journal_info || memcg_wait_charges_other(task) ||
	       memcg_wait_needs_flags(task->flags);
}

/* Wakes @most tasks at most, and returns how many. */
static int memcg_wait_wake_queue(wait_queue_head_t *queue, int most)
{
	struct memcg_wait_event event = {};

	return __wake_up(queue, TASK_NORMAL, most, &event);
}

/* The uncharge before this was a full barrier, and so is the bit that is taken. */
static void memcg_wait_wake_queues(struct irq_work *work)
{
	int left = MEMCG_WAIT_WAKE_MAX;
	unsigned int i;

	for (i = 0; i < MEMCG_WAIT_NR_QUEUES; i++) {
		if (!test_bit(i, memcg_wait_due) ||
		    !test_and_clear_bit(i, memcg_wait_due))
			continue;
		left -= memcg_wait_wake_queue(&memcg_wait_queues[i], left);
		if (left)
			continue;
		/* This queue, or one behind it, may have more. */
		set_bit(i, memcg_wait_due);
		irq_work_queue(work);
		return;
	}
}

/* One for each CPU: on PREEMPT_RT, that of a CPU which goes down may get stuck. */
static DEFINE_PER_CPU(struct irq_work, memcg_wait_wake_work) =
	IRQ_WORK_INIT(memcg_wait_wake_queues);

static void memcg_wait_wake_soon(void)
{
	irq_work_queue(raw_cpu_ptr(&memcg_wait_wake_work));
}

static bool memcg_wait_below(unsigned long usage, unsigned long limit)
{
	return limit != PAGE_COUNTER_MAX && usage <= limit;
}

/*
 * Notes that the queue of @limit is to be woken, if a task may sleep because of it
 * without a reason.
 */
static bool memcg_wait_note(const unsigned long *limit, unsigned long usage)
{
	if (!memcg_wait_below(usage, READ_ONCE(*limit)))
		return false;
	/* The uncharge was a full barrier. */
	if (!waitqueue_active(memcg_wait_queue(limit)))
		return false;
	set_bit(memcg_wait_index(limit), memcg_wait_due);
	return true;
}

/*
 * A charge that fails at an ancestor takes back the pages that it has added at the
 * levels below, and does not come here. A task that finds no room there within these
 * few instructions sleeps until the next uncharge, or its timeout. To wake it would
 * cost each attempt of each charge at a limit an interrupt.
 */
static bool memcg_wait_note_level(struct mem_cgroup *level)
{
	unsigned long usage = page_counter_read(&level->memory);
	bool high = memcg_wait_note(&level->memory.high, usage);

	return memcg_wait_note(&level->memory.max, usage) || high;
}

/* See memcg_wait_wake(). */
void __memcg_wait_wake(struct mem_cgroup *memcg)
{
	bool due = false;

	for (; memcg && !mem_cgroup_is_root(memcg);
	     memcg = parent_mem_cgroup(memcg))
		due |= memcg_wait_note_level(memcg);
	if (due)
		memcg_wait_wake_soon();
}

/**
 * memcg_wait_changed - wake tasks after memory.high or memory.max has changed
 * @memcg: the cgroup with that limit
 *
 * Unlike an uncharge, it also wakes the tasks of a limit that is there no more.
 *
 * Context: any.
 */
void memcg_wait_changed(struct mem_cgroup *memcg)
{
	/* Pairs with the one of a task that has put itself on a queue. */
	smp_mb();
	if (!atomic_read(&memcg_wait_nr))
		return;
	set_bit(memcg_wait_index(&memcg->memory.high), memcg_wait_due);
	set_bit(memcg_wait_index(&memcg->memory.max), memcg_wait_due);
	memcg_wait_wake_soon();
}

static int __init memcg_wait_queues_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(memcg_wait_queues); i++)
		init_waitqueue_head(&memcg_wait_queues[i]);
	return 0;
}
pure_initcall(memcg_wait_queues_init);

#ifdef CONFIG_MEMCG_WAIT_KUNIT_TEST
#include "tests/memcg_wait_kunit.c"
#endif
