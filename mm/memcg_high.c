// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks that sleep until a memory cgroup is below memory.high again
 *
 * A task that takes a cgroup above memory.high sleeps on its way to user space,
 * or in the charge if that is its 65th page, for a penalty that grows with the
 * square of the excess, up to 2 s. The penalty is there to slow down the growth.
 * Once others have freed memory there is no excess, and the task sleeps for
 * nothing.
 *
 * So the task sleeps on a queue of mm/memcg_wait.c, with the penalty as its
 * timeout, until no level of the hierarchy is above its memory.high. An example
 * with memory.high=100M:
 *
 *	  0 ms	a task charges 64 pages, usage is 110M: its penalty is 639 ms
 *	 50 ms	another task frees 8M. Usage is 102M: the sleep goes on
 *	 60 ms	another one frees 4M. Usage is 98M, and the uncharge wakes it
 *		upstream: the sleep goes on until 639 ms
 *
 * A task that then takes the cgroup above memory.high again pays again: the
 * penalty follows from the excess, and no task goes on while there is one.
 */

#include <linux/cgroup.h>
#include <linux/jiffies.h>
#include <linux/memcg_high.h>
#include <linux/memcontrol.h>
#include <linux/page_counter.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "memcg_wait.h"

#define CREATE_TRACE_POINTS
#include <trace/events/memcg_high.h>

/* The nearest level above its memory.high; %NULL if there is none. */
static struct mem_cgroup *memcg_high_find(struct mem_cgroup *memcg)
{
	for (; !mem_cgroup_is_root(memcg); memcg = parent_mem_cgroup(memcg))
		if (page_counter_read(&memcg->memory) >
		    READ_ONCE(memcg->memory.high))
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
	struct memcg_waiter waiter;

	memcg_wait_start(&waiter, level, &level->memory.high, 0);
	set_current_state(TASK_KILLABLE);
	if (!memcg_wait_is_over(&waiter)) {
		trace_memcg_high_sleep(cgroup_id(level->css.cgroup),
				       page_counter_read(&level->memory),
				       READ_ONCE(level->memory.high),
				       jiffies_to_msecs(timeout));
		timeout = schedule_timeout(timeout);
	}
	memcg_wait_finish(&waiter);
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
	while (timeout > 0 && !fatal_signal_pending(current)) {
		level = memcg_high_find(memcg);
		if (!level)
			break;
		timeout = memcg_high_sleep_once(level, timeout);
	}
	trace_memcg_high_woken(cgroup_id(memcg->css.cgroup),
			       jiffies_to_msecs(timeout));
}

#ifdef CONFIG_MEMCG_HIGH_WAIT_KUNIT_TEST
#include "tests/memcg_high_kunit.c"
#endif
