// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks that sleep until a memory cgroup is below memory.high again
 *
 * A task that takes a cgroup above memory.high sleeps on its way to user space,
 * for a penalty that grows with the square of the excess, up to 2 s. The penalty
 * is there to slow down the growth. Once others have freed memory there is no
 * excess, and the task sleeps for nothing.
 *
 * So the task sleeps on a queue, with the penalty as its timeout. An uncharge
 * that leaves a level below its memory.high has tasks woken which sleep because of
 * that level: one for each batch of pages that may be charged there. A task that
 * goes on does the same for those behind it. The queues are hashed by the level,
 * as those of folio locks are, and a waker checks the level of each task.
 *
 *	task				another task
 *
 *	nr_sleepers++			usage -= nr
 *	on the queue, TASK_KILLABLE	(full barrier)
 *	(full barrier)			if (nr_sleepers && usage <= high)
 *	if (usage > high) sleep			have the queue woken
 *
 * One of the two sees the other's write, so no wake-up is lost. Where no task
 * sleeps, an uncharge costs a load. Kernel memory may be freed under any
 * lock of the scheduler, or in an NMI, so an irq_work does the waking.
 *
 * A task that then takes the cgroup above memory.high again pays again: the
 * penalty follows from the excess, and no task goes on while there is one.
 */

#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/memcg_high.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/page_counter.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>

#define CREATE_TRACE_POINTS
#include <trace/events/memcg_high.h>

#define MEMCG_HIGH_QUEUE_BITS	6

/* Tasks that memory.high of any cgroup has put to sleep. */
atomic_t memcg_high_nr_sleepers = ATOMIC_INIT(0);

static wait_queue_head_t memcg_high_queues[1 << MEMCG_HIGH_QUEUE_BITS];

/**
 * struct memcg_high_sleeper - a task on a queue
 * @wait: its entry
 * @level: the cgroup whose memory.high is exceeded
 */
struct memcg_high_sleeper {
	wait_queue_entry_t wait;
	struct mem_cgroup *level;
};

static wait_queue_head_t *memcg_high_queue(struct mem_cgroup *level)
{
	return &memcg_high_queues[hash_ptr(level, MEMCG_HIGH_QUEUE_BITS)];
}

static bool memcg_high_exceeded(struct mem_cgroup *level)
{
	return page_counter_read(&level->memory) > READ_ONCE(level->memory.high);
}

/* How many tasks the room below memory.high can serve, if each charges a batch. */
static int memcg_high_nr_served(unsigned long usage, unsigned long high)
{
	if (usage > high)
		return 0;
	return min_t(unsigned long, (high - usage) / MEMCG_CHARGE_BATCH + 1,
		     INT_MAX);
}

/**
 * struct memcg_high_budget - the tasks of a level that are to be woken
 * @level: the cgroup
 * @nr_left: how many more
 */
struct memcg_high_budget {
	struct mem_cgroup *level;
	int nr_left;
};

/* May a task that sleeps because of @level go on? */
static bool memcg_high_spend(struct memcg_high_budget *budget,
			     struct mem_cgroup *level)
{
	if (budget->level != level) {
		budget->level = level;
		budget->nr_left =
			memcg_high_nr_served(page_counter_read(&level->memory),
					     READ_ONCE(level->memory.high));
	}
	return budget->nr_left && budget->nr_left--;
}

static int memcg_high_wake_function(wait_queue_entry_t *wait, unsigned int mode,
				    int sync, void *budget)
{
	struct memcg_high_sleeper *sleeper =
		container_of(wait, struct memcg_high_sleeper, wait);

	return memcg_high_spend(budget, sleeper->level) &&
	       autoremove_wake_function(wait, mode, sync, NULL);
}

static void memcg_high_wake_queues(struct irq_work *work)
{
	struct memcg_high_budget budget;
	int i;

	for (i = 0; i < ARRAY_SIZE(memcg_high_queues); i++) {
		budget.level = NULL;
		/* The uncharge before this was a full barrier. */
		if (waitqueue_active(&memcg_high_queues[i]))
			__wake_up(&memcg_high_queues[i], TASK_NORMAL, INT_MAX,
				  &budget);
	}
}

/* One for each CPU: on PREEMPT_RT, that of a CPU which goes down may get stuck. */
static DEFINE_PER_CPU(struct irq_work, memcg_high_wake_work) =
	IRQ_WORK_INIT(memcg_high_wake_queues);

static void memcg_high_wake_soon(void)
{
	irq_work_queue(raw_cpu_ptr(&memcg_high_wake_work));
}

/* May a task sleep because of @level, and has it no reason to? */
static bool memcg_high_is_over(struct mem_cgroup *level)
{
	return READ_ONCE(level->memory.high) != PAGE_COUNTER_MAX &&
	       !memcg_high_exceeded(level);
}

/* See memcg_high_wake(). */
void __memcg_high_wake(struct mem_cgroup *memcg)
{
	for (; memcg && !mem_cgroup_is_root(memcg);
	     memcg = parent_mem_cgroup(memcg))
		/* So was this one. */
		if (waitqueue_active(memcg_high_queue(memcg)) &&
		    memcg_high_is_over(memcg)) {
			memcg_high_wake_soon();
			return;
		}
}

/**
 * memcg_high_changed - wake tasks after memory.high of a cgroup has changed
 *
 * Context: any.
 */
void memcg_high_changed(void)
{
	/* Pairs with the one of prepare_to_wait_exclusive(). */
	smp_mb();
	if (atomic_read(&memcg_high_nr_sleepers))
		memcg_high_wake_soon();
}

/* The nearest level above its memory.high; %NULL if there is none. */
static struct mem_cgroup *memcg_high_find(struct mem_cgroup *memcg)
{
	for (; !mem_cgroup_is_root(memcg); memcg = parent_mem_cgroup(memcg))
		if (memcg_high_exceeded(memcg))
			return memcg;
	return NULL;
}

/* No queue for these: memory.swap.high is there to be met by an administrator. */
static bool memcg_high_swap_exceeded(struct mem_cgroup *memcg)
{
	for (; !mem_cgroup_is_root(memcg); memcg = parent_mem_cgroup(memcg))
		if (page_counter_read(&memcg->swap) >
		    READ_ONCE(memcg->swap.high))
			return true;
	return false;
}

static long memcg_high_sleep_once(struct mem_cgroup *level, long timeout)
{
	struct memcg_high_sleeper sleeper = {
		.wait = {
			.private = current,
			.func = memcg_high_wake_function,
			.entry = LIST_HEAD_INIT(sleeper.wait.entry),
		},
		.level = level,
	};
	wait_queue_head_t *queue = memcg_high_queue(level);

	prepare_to_wait_exclusive(queue, &sleeper.wait, TASK_KILLABLE);
	if (memcg_high_exceeded(level)) {
		trace_memcg_high_sleep(cgroup_id(level->css.cgroup),
				       page_counter_read(&level->memory),
				       READ_ONCE(level->memory.high),
				       jiffies_to_msecs(timeout));
		timeout = schedule_timeout(timeout);
	}
	finish_wait(queue, &sleeper.wait);
	return timeout;
}

/**
 * memcg_high_sleep - sleep until no memory.high is exceeded any more
 * @memcg: the memory cgroup that the current task has charged
 * @timeout: the longest that it has to sleep, in jiffies
 *
 * A fatal signal ends the sleep. If memory.swap.high is exceeded, the task sleeps
 * for the whole time.
 *
 * Context: may sleep; the caller holds a reference to @memcg.
 */
void memcg_high_sleep(struct mem_cgroup *memcg, long timeout)
{
	struct mem_cgroup *level;

	if (memcg_high_swap_exceeded(memcg)) {
		schedule_timeout_killable(timeout);
		return;
	}
	atomic_inc(&memcg_high_nr_sleepers);
	while (timeout > 0 && !fatal_signal_pending(current)) {
		level = memcg_high_find(memcg);
		if (!level)
			break;
		timeout = memcg_high_sleep_once(level, timeout);
		/* That wake-up was for one task, and there may be room for more. */
		memcg_high_wake(memcg);
	}
	atomic_dec(&memcg_high_nr_sleepers);
	trace_memcg_high_woken(cgroup_id(memcg->css.cgroup),
			       jiffies_to_msecs(timeout));
}

static int __init memcg_high_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(memcg_high_queues); i++)
		init_waitqueue_head(&memcg_high_queues[i]);
	return 0;
}
pure_initcall(memcg_high_init);

#ifdef CONFIG_MEMCG_HIGH_WAIT_KUNIT_TEST
#include "tests/memcg_high_kunit.c"
#endif
