/* SPDX-License-Identifier: GPL-2.0 */
/* The queues of tasks that sleep until a memory cgroup has room. */
#ifndef _MM_MEMCG_WAIT_H
#define _MM_MEMCG_WAIT_H

#include <linux/memcg_wait.h>
#include <linux/wait.h>

/* How many tasks are woken before interrupts are let in. */
#define MEMCG_WAIT_WAKE_MAX	32
/*
 * How many tasks an uncharge, or a folio that is written, may pass over on a queue:
 * the walk has interrupts off.
 */
#define MEMCG_WAIT_PASS_MAX	1024

/**
 * struct memcg_waiter - a task on a queue; mm/memcg_wait.c alone looks inside
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

void memcg_wait_start(struct memcg_waiter *waiter, struct mem_cgroup *level,
		      const unsigned long *limit, unsigned long nr_pages);
bool memcg_wait_is_woken(const struct memcg_waiter *waiter);
bool memcg_wait_is_over(const struct memcg_waiter *waiter);
void memcg_wait_finish(struct memcg_waiter *waiter);
bool memcg_wait_is_needed(struct task_struct *task);
bool memcg_wait_is_outside(struct task_struct *task, struct mem_cgroup *level);

#endif /* _MM_MEMCG_WAIT_H */
