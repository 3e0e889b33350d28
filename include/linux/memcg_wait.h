/* SPDX-License-Identifier: GPL-2.0 */
/* Tasks that sleep until a memory cgroup has room. */
#ifndef _LINUX_MEMCG_WAIT_H
#define _LINUX_MEMCG_WAIT_H

#include <linux/atomic.h>

struct mem_cgroup;

#ifdef CONFIG_MEMCG_WAIT

extern atomic_t memcg_wait_nr;

void memcg_wait_changed(struct mem_cgroup *memcg);
void __memcg_wait_wake(struct mem_cgroup *memcg);

/**
 * memcg_wait_wake - wake tasks that sleep until a cgroup has room
 * @memcg: a memory cgroup from whose usage pages have just been subtracted
 *
 * Its ancestors have less usage as well. Where no task sleeps, this is a load.
 *
 * Context: any.
 */
static inline void memcg_wait_wake(struct mem_cgroup *memcg)
{
	if (unlikely(atomic_read(&memcg_wait_nr)))
		__memcg_wait_wake(memcg);
}

#else

static inline void memcg_wait_changed(struct mem_cgroup *memcg) {}
static inline void memcg_wait_wake(struct mem_cgroup *memcg) {}

#endif /* CONFIG_MEMCG_WAIT */

#endif /* _LINUX_MEMCG_WAIT_H */
