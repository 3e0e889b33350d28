/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Charges that wait for the memory of a task that the OOM killer has chosen
 *
 *	mem_cgroup_out_of_memory()	memcg_oom_in_flight(): no second kill;
 *					memcg_oom_kill(): kill, and mark
 *	try_charge_memcg(),		memcg_oom_wait(): sleep until there is
 *	memory_max_write()		room
 *	exit_mmap()			memcg_oom_mm_freed(): the mark goes
 *	oom_reap_task()			memcg_oom_freed(): the mark goes
 *
 * The mark is set under oom_lock, before the kill, and checked under it before
 * the next one.
 */
#ifndef _LINUX_MEMCG_OOM_H
#define _LINUX_MEMCG_OOM_H

#include <linux/oom.h>
#include <linux/types.h>

struct mem_cgroup;
struct mm_struct;
struct task_struct;

#ifdef CONFIG_MEMCG_OOM_WAIT

bool memcg_oom_in_flight(struct mem_cgroup *level);
bool memcg_oom_kill(struct oom_control *oc);
void memcg_oom_freed(struct task_struct *victim);
void memcg_oom_mm_freed(const struct mm_struct *mm, bool reaped, bool queued);
void memcg_oom_wait(struct mem_cgroup *level, unsigned int nr_pages);

#else

static inline bool memcg_oom_in_flight(struct mem_cgroup *level)
{
	return false;
}

static inline bool memcg_oom_kill(struct oom_control *oc)
{
	return out_of_memory(oc);
}

static inline void memcg_oom_freed(struct task_struct *victim) {}
static inline void memcg_oom_mm_freed(const struct mm_struct *mm, bool reaped,
				      bool queued)
{
}

static inline void memcg_oom_wait(struct mem_cgroup *level,
				  unsigned int nr_pages)
{
}

#endif /* CONFIG_MEMCG_OOM_WAIT */

#endif /* _LINUX_MEMCG_OOM_H */
