/* SPDX-License-Identifier: GPL-2.0 */
/* Tasks that sleep until a memory cgroup is below memory.high again. */
#ifndef _LINUX_MEMCG_HIGH_H
#define _LINUX_MEMCG_HIGH_H

#include <linux/atomic.h>
#include <linux/sched.h>

struct mem_cgroup;

#ifdef CONFIG_MEMCG_HIGH_WAIT

extern atomic_t memcg_high_nr_sleepers;

void memcg_high_sleep(struct mem_cgroup *memcg, long timeout);
void memcg_high_changed(void);
void __memcg_high_wake(struct mem_cgroup *memcg);

/**
 * memcg_high_wake - wake tasks that memory.high of a cgroup has put to sleep
 * @memcg: a memory cgroup from whose usage pages have just been subtracted
 *
 * Its ancestors have less usage as well. Where no task sleeps, this is a load.
 *
 * Context: any.
 */
static inline void memcg_high_wake(struct mem_cgroup *memcg)
{
	if (unlikely(atomic_read(&memcg_high_nr_sleepers)))
		__memcg_high_wake(memcg);
}

#else

static inline void memcg_high_sleep(struct mem_cgroup *memcg, long timeout)
{
	schedule_timeout_killable(timeout);
}

static inline void memcg_high_changed(void) {}
static inline void memcg_high_wake(struct mem_cgroup *memcg) {}

#endif /* CONFIG_MEMCG_HIGH_WAIT */

#endif /* _LINUX_MEMCG_HIGH_H */
