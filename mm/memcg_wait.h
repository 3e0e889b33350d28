/* SPDX-License-Identifier: GPL-2.0 */
/* The queues of tasks that sleep until a memory cgroup has room. */
#ifndef _MM_MEMCG_WAIT_H
#define _MM_MEMCG_WAIT_H

#include <linux/memcg_wait.h>
#include <linux/wait.h>

/* How many tasks are woken before interrupts are let in. */
#define MEMCG_WAIT_WAKE_MAX	32

/**
 * struct memcg_waiter - a task on a queue
 * @wait: its entry
 * @level: the cgroup that lacks room
 * @limit: the limit of @level that is in its way, in pages
 * @nr_pages: the room below that limit with which it goes on, in pages
 */
struct memcg_waiter {
	wait_queue_entry_t wait;
	struct mem_cgroup *level;
	const unsigned long *limit;
	unsigned long nr_pages;
};

/**
 * struct memcg_wait_event - the reason for which a queue is woken
 * @written: the cgroup of which pages have been written, or
 * @freed: the cgroup of which a victim of the OOM killer has no memory left; if
 *	both are %NULL, pages have been uncharged, or a limit has been raised
 * @nr_written: how many pages of @written no waiter has counted yet
 * @limit: the limit below which there is room
 * @room: how many pages it is for, without those that waiters have been woken for
 * @nr_woken: how many waiters have been woken
 * @nr_passed: how many waiters the event was not for
 */
struct memcg_wait_event {
	struct mem_cgroup *written;
	struct mem_cgroup *freed;
	long nr_written;
	const unsigned long *limit;
	long room;
	int nr_woken;
	int nr_passed;
};

void memcg_wait_init(struct memcg_waiter *waiter, wait_queue_func_t func,
		     struct mem_cgroup *level, const unsigned long *limit,
		     unsigned long nr_pages);
wait_queue_head_t *memcg_wait_queue(const unsigned long *limit);
bool memcg_wait_is_over(const struct memcg_waiter *waiter);
bool memcg_wait_is_needed(struct task_struct *task);
bool memcg_wait_is_outside(struct task_struct *task, struct mem_cgroup *level);
int memcg_wait_pass(struct memcg_wait_event *event);
int memcg_wait_wake_function(wait_queue_entry_t *wait, unsigned int mode,
			     int sync, void *event);

#endif /* _MM_MEMCG_WAIT_H */
