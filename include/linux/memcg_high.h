/* SPDX-License-Identifier: GPL-2.0 */
/* Tasks that sleep until a memory cgroup is below memory.high again. */
#ifndef _LINUX_MEMCG_HIGH_H
#define _LINUX_MEMCG_HIGH_H

#include <linux/memcg_wait.h>
#include <linux/sched.h>

struct mem_cgroup;

#ifdef CONFIG_MEMCG_HIGH_WAIT

void memcg_high_sleep(struct mem_cgroup *memcg, long timeout);

#else

static inline void memcg_high_sleep(struct mem_cgroup *memcg, long timeout)
{
	schedule_timeout_killable(timeout);
}

#endif /* CONFIG_MEMCG_HIGH_WAIT */

#endif /* _LINUX_MEMCG_HIGH_H */
