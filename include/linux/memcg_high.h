/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tasks that sleep until a memory cgroup is below memory.high again
 *
 * mem_cgroup_handle_over_high() calls memcg_high_sleep() in place of
 * schedule_timeout_killable(): on the way to user space or, as upstream, in a
 * charge, where the task may hold locks. The penalty is the longest time that it
 * sleeps. linux/memcg_wait.h has the calls that end the sleep.
 */
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
