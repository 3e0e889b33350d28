/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Charges that wait for writeback before the OOM killer is called
 *
 * try_charge_memcg() calls memcg_max_wait() between its attempts, when reclaim
 * has freed nothing; the task may hold locks of a file system. It knows kernel
 * memory by __GFP_ACCOUNT. obj_cgroup_charge_pages() adds that, as allocations
 * from a cache with SLAB_ACCOUNT need not have it, and so do charges of socket
 * memory, under the lock of the socket. The end of writeback calls
 * memcg_max_written() for each folio, from interrupts too.
 * linux/memcg_wait.h has the calls that end a wait because there is room.
 */
#ifndef _LINUX_MEMCG_MAX_H
#define _LINUX_MEMCG_MAX_H

#include <linux/atomic.h>
#include <linux/gfp_types.h>

struct folio;
struct mem_cgroup;

#ifdef CONFIG_MEMCG_MAX_WAIT

extern atomic_t memcg_max_nr_waiters;

void memcg_max_wait(struct mem_cgroup *level, gfp_t gfp_mask,
		    unsigned int nr_pages, long *slept);
void __memcg_max_written(struct folio *folio);

/**
 * memcg_max_written - wake charges that wait for writeback
 * @folio: a folio that is not under writeback any more
 *
 * Where no charge waits, this is a load.
 *
 * Context: any in which writeback may end; the caller has a reference to @folio.
 */
static inline void memcg_max_written(struct folio *folio)
{
	if (unlikely(atomic_read(&memcg_max_nr_waiters)))
		__memcg_max_written(folio);
}

#else

static inline void memcg_max_wait(struct mem_cgroup *level, gfp_t gfp_mask,
				  unsigned int nr_pages, long *slept)
{
}

static inline void memcg_max_written(struct folio *folio) {}

#endif /* CONFIG_MEMCG_MAX_WAIT */

#endif /* _LINUX_MEMCG_MAX_H */
