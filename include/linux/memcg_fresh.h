/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fresh counts of a memory cgroup's dirty pages for balance_dirty_pages()
 *
 * balance_domain_limits() in mm/page-writeback.c compares statistics with the
 * threshold of a cgroup without a dirty limit. Then it calls memcg_fresh_flush(),
 * which flushes them if they may be wrong, and compares once more. A cgroup with
 * a limit does not need that: its counts are exact.
 */
#ifndef _LINUX_MEMCG_FRESH_H
#define _LINUX_MEMCG_FRESH_H

#include <linux/types.h>

struct bdi_writeback;
struct mem_cgroup;

/* In mm/memcontrol.c, whose function of that kind is private. */
void memcg_flush_stats_now(struct mem_cgroup *memcg);

#ifdef CONFIG_CGROUP_WRITEBACK
bool memcg_fresh_flush(struct bdi_writeback *wb, bool freerun,
		       unsigned long dirty, unsigned long ceiling);
bool memcg_fresh_flush_once(struct mem_cgroup *memcg);
#else
static inline bool memcg_fresh_flush(struct bdi_writeback *wb, bool freerun,
				     unsigned long dirty, unsigned long ceiling)
{
	return false;
}

static inline bool memcg_fresh_flush_once(struct mem_cgroup *memcg)
{
	memcg_flush_stats_now(memcg);
	return true;
}
#endif

#endif /* _LINUX_MEMCG_FRESH_H */
