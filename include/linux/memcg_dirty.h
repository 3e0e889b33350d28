/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dirty page limits of memory cgroups: what the rest of mm/ calls.
 *
 * mm/memcg_dirty.c explains how the counters work.
 */
#ifndef _LINUX_MEMCG_DIRTY_H
#define _LINUX_MEMCG_DIRTY_H

#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/mmzone.h>
#include <linux/types.h>

struct bdi_writeback;
struct mem_cgroup;
struct memcg_dirty_domain;
struct memcg_dirty_join;

/* What a dirty limit counts, in the order of the node_stat_items. */
enum memcg_dirty_item {
	MEMCG_DIRTY,		/* NR_FILE_DIRTY */
	MEMCG_WRITEBACK,	/* NR_WRITEBACK */
	NR_MEMCG_DIRTY_ITEMS,
};

/**
 * struct memcg_dirty - the part of a memory cgroup that dirty limits need
 * @up: the domain of the nearest limited cgroup, this one included; NULL if
 *	there is none. Read under RCU on the update path.
 * @join: per CPU, from which point on this cgroup's pages count in @up
 * @domain: this cgroup's own domain; NULL without a limit of its own
 * @left: pages that freed children had left in the count of this cgroup's
 *	subtree; protected by memcg_dirty_mutex
 * @node: on the list of all non-root cgroups, by memcg_dirty_mutex
 */
struct memcg_dirty {
	struct memcg_dirty_domain __rcu *up;
	struct memcg_dirty_join __percpu *join;
	struct memcg_dirty_domain __rcu *domain;
	long left[NR_MEMCG_DIRTY_ITEMS];
	struct list_head node;
};

/**
 * struct memcg_dirty_state - a limit and what counts against it, in pages
 * @dirty: dirty pages of the limited cgroup's subtree
 * @writeback: pages of the subtree under writeback
 * @thresh: the limit on the two together; 0 if there is no limit
 * @bg_thresh: above this many dirty pages, background writeback runs
 * @over_bg: there are more than that, here or at another limit that binds
 */
struct memcg_dirty_state {
	unsigned long dirty;
	unsigned long writeback;
	unsigned long thresh;
	unsigned long bg_thresh;
	bool over_bg;
};

#ifdef CONFIG_MEMCG_DIRTY_LIMIT

DECLARE_STATIC_KEY_FALSE(memcg_dirty_limit_key);

static inline bool memcg_dirty_limited(void)
{
	return static_branch_unlikely(&memcg_dirty_limit_key);
}

void __memcg_dirty_account(struct mem_cgroup *memcg, enum memcg_dirty_item item,
			   long nr_pages);

/**
 * memcg_dirty_account - count pages that become dirty or clean in a domain
 * @memcg: the memory cgroup whose statistics change
 * @idx: the node_stat_item that changes; most are of no interest here
 * @nr_pages: the change, in pages
 *
 * To be called before the change of @memcg's own per-CPU count, on the same
 * CPU.
 *
 * Context: no other change of the two items can come in between on this CPU:
 * interrupts are disabled from before this call until the count has changed.
 * On PREEMPT_RT, where counts do not change in interrupts, preemption is.
 */
static inline void memcg_dirty_account(struct mem_cgroup *memcg, int idx,
				       long nr_pages)
{
	if (!memcg_dirty_limited())
		return;
	if (idx == NR_FILE_DIRTY)
		__memcg_dirty_account(memcg, MEMCG_DIRTY, nr_pages);
	else if (idx == NR_WRITEBACK)
		__memcg_dirty_account(memcg, MEMCG_WRITEBACK, nr_pages);
}

int memcg_dirty_alloc(struct mem_cgroup *memcg);
void memcg_dirty_online(struct mem_cgroup *memcg);
void memcg_dirty_reset(struct mem_cgroup *memcg);
void memcg_dirty_free(struct mem_cgroup *memcg);

bool __memcg_dirty_wb_state(struct bdi_writeback *wb,
			    struct memcg_dirty_state *state);

/**
 * memcg_dirty_wb_state - look up the limit that binds a cgroup's writeback
 * @wb: a cgroup's bdi_writeback
 * @state: the tightest limit from @wb's memory cgroup to the root and its
 *	counts; all zero if there is no limit
 *
 * Return: %true if there is a limit.
 */
static inline bool memcg_dirty_wb_state(struct bdi_writeback *wb,
					struct memcg_dirty_state *state)
{
	*state = (struct memcg_dirty_state){};
	return memcg_dirty_limited() && __memcg_dirty_wb_state(wb, state);
}

/* Lives in mm/memcontrol.c, with the per-CPU statistics that it reads. */
long memcg_page_state_cpu(struct mem_cgroup *memcg, int idx, int cpu);

#else /* CONFIG_MEMCG_DIRTY_LIMIT */

static inline void memcg_dirty_account(struct mem_cgroup *memcg, int idx,
				       long nr_pages)
{
}

static inline int memcg_dirty_alloc(struct mem_cgroup *memcg)
{
	return 0;
}

static inline void memcg_dirty_online(struct mem_cgroup *memcg)
{
}

static inline void memcg_dirty_reset(struct mem_cgroup *memcg)
{
}

static inline void memcg_dirty_free(struct mem_cgroup *memcg)
{
}

static inline bool memcg_dirty_wb_state(struct bdi_writeback *wb,
					struct memcg_dirty_state *state)
{
	return false;
}

#endif /* CONFIG_MEMCG_DIRTY_LIMIT */

#endif /* _LINUX_MEMCG_DIRTY_H */
