/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dirty page limits of memory cgroups: updates, where a folio may go over to
 * another memory cgroup while it is dirty.
 *
 * When a cgroup is removed, its folios become its parent's, and updates for them
 * change the parent's statistics from some moment before that on. What a domain
 * counts has to follow the statistics, not the folio: each change of the one is
 * to be found in the other, for the same cgroup.
 */
#ifndef _MM_MEMCG_DIRTY_STATE_H
#define _MM_MEMCG_DIRTY_STATE_H

#include "memcg_dirty.h"

#ifdef CONFIG_MEMCG_DIRTY_LIMIT

/**
 * memcg_dirty_add_state - change one of a memory cgroup's own statistics
 * @memcg: the memory cgroup
 * @idx: which one
 * @state: where it is counted
 * @val: the change; in pages, if dirty limits count them
 *
 * All changes of NR_FILE_DIRTY and NR_WRITEBACK come here, for limits to know of
 * them.
 *
 * Context: preemption is disabled.
 */
static __always_inline void memcg_dirty_add_state(struct mem_cgroup *memcg,
						  int idx, long __percpu *state,
						  long val)
{
	unsigned long flags;

	if (!memcg_dirty_limited() ||
	    (idx != NR_FILE_DIRTY && idx != NR_WRITEBACK)) {
		this_cpu_add(*state, val);
		return;
	}
	local_irq_save(flags);
	memcg_dirty_account(memcg, idx == NR_FILE_DIRTY ?
				   MEMCG_DIRTY : MEMCG_WRITEBACK, val);
	this_cpu_add(*state, val);
	local_irq_restore(flags);
}

#else /* CONFIG_MEMCG_DIRTY_LIMIT */

static inline void memcg_dirty_add_state(struct mem_cgroup *memcg, int idx,
					 long __percpu *state, long val)
{
	this_cpu_add(*state, val);
}

#endif /* CONFIG_MEMCG_DIRTY_LIMIT */

#endif /* _MM_MEMCG_DIRTY_STATE_H */
