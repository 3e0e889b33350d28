/* SPDX-License-Identifier: GPL-2.0 */
/* Fresh counts of a memory cgroup's dirty pages for balance_dirty_pages(). */
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
#else
static inline bool memcg_fresh_flush(struct bdi_writeback *wb, bool freerun,
				     unsigned long dirty, unsigned long ceiling)
{
	return false;
}
#endif

#endif /* _LINUX_MEMCG_FRESH_H */
