/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dirty page limits of memory cgroups: the interface for the memory controller
 *
 *	caller in mm/memcontrol.c	call
 *
 *	mem_cgroup_alloc()		memcg_dirty_alloc()
 *	mem_cgroup_css_online()		memcg_dirty_online()
 *	mem_cgroup_css_offline()	memcg_dirty_offline()
 *	mem_cgroup_css_reset()		memcg_dirty_reset()
 *	__mem_cgroup_free()		memcg_dirty_free()
 *
 * linux/memcg_dirty_wb.h is the interface for throttling and writeback, and
 * mm/memcg_dirty.h explains how the parts work together. It also has the call on
 * the fast path, memcg_dirty_update().
 */
#ifndef _LINUX_MEMCG_DIRTY_H
#define _LINUX_MEMCG_DIRTY_H

#include <linux/atomic.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mmzone.h>
#include <linux/types.h>

struct mem_cgroup;
struct memcg_dirty_mark;

/* The items that a dirty limit counts, in the order of enum node_stat_item. */
enum memcg_dirty_item {
	MEMCG_DIRTY,		/* NR_FILE_DIRTY */
	MEMCG_WRITEBACK,	/* NR_WRITEBACK */
	NR_MEMCG_DIRTY_ITEMS,
};

/* The two limits of a cgroup. */
enum memcg_dirty_limit {
	MEMCG_DIRTY_LIMIT,		/* writers are throttled below this */
	MEMCG_DIRTY_BACKGROUND,		/* background writeback starts at this */
	NR_MEMCG_DIRTY_LIMITS,
};

/**
 * struct memcg_dirty_flow - a sum over the recent past
 * @period: the last period in which something was added
 * @sum: each older period counts half as much as the next
 */
struct memcg_dirty_flow {
	unsigned long period;
	atomic_long_t sum;
};

/**
 * struct memcg_dirty - the part of a memory cgroup that dirty limits need
 * @sum: per CPU, the cgroup's statistics of the items that are counted
 * @mark: per CPU, the part of @sum that is in the counts
 * @fold_mask: a CPU folds its part into the counts once these bits of its sum
 *	change: the negative batch, which is a power of two
 * @own_batch: the batch that the limits of this cgroup need, in pages
 * @limited: this cgroup or an ancestor has a limit or a floor
 * @spread: for how many cgroups of the subtree the batches have been chosen, as
 *	a power of two
 * @refreshed: when @limit was last computed, in jiffies
 * @pledged: pages that writers add after their pause
 * @limit: limits in force, in pages; PAGE_COUNTER_MAX for none
 * @setting: limits as they were set: pages, or percent as a negative number
 * @floor: memory.dirty_min as it was set, in pages
 * @claim: the part of @floor that is in use, in pages
 * @claims: the sum of the children's @claim
 * @active_at: the last epoch in which the subtree wrote over a background limit
 * @epoch: the last epoch in which @active grew
 * @active: number of children that did so, in that epoch and the one before
 * @writers: a bit for each task that checked the limit, in the same epochs
 * @largest: pages of the largest folio that was dirtied, in the same epochs
 * @done: pages whose writeback has completed, of the subtree
 * @passed: folios that writers were let add of late
 * @pauses: how often writers of the subtree were paused
 * @paused_usec: for how long
 * @dirty: dirty pages of the subtree
 * @total: dirty pages and pages under writeback of the subtree
 * @written: pages of this cgroup written back that are not in @done yet
 * @watch: a higher @total may be a peak, near the limit, or change @claim
 * @peak: the highest @total, in pages
 * @local_peak: the same since the last write to memory.dirty_peak
 * @peaks: open files that have been reset
 * @flush_node: entry of the list of cgroups whose flushers are to be started
 * @flush_queued: @flush_node is on that list
 * @near: the limit is near; writers check more often
 */
struct memcg_dirty {
	long __percpu *sum;
	struct memcg_dirty_mark __percpu *mark;
	int fold_mask;
	u8 own_batch;
	bool limited;
	u8 spread;
	unsigned int refreshed;
	atomic_t pledged;
	unsigned long limit[NR_MEMCG_DIRTY_LIMITS];
	long setting[NR_MEMCG_DIRTY_LIMITS];

	unsigned long floor;
	unsigned long claim;
	atomic_long_t claims;

	unsigned int active_at;
	unsigned int epoch;
	atomic_t active[2];
	unsigned long writers[2];
	unsigned int largest[2];
	struct memcg_dirty_flow done;
	struct memcg_dirty_flow passed;

	atomic_long_t pauses;
	atomic_long_t paused_usec;

	atomic_long_t dirty;
	atomic_long_t total;
	atomic_long_t written;
	long watch;
	unsigned long peak;
	unsigned long local_peak;
	struct list_head peaks;
	struct llist_node flush_node;
	int flush_queued;
	int near;
};

#ifdef CONFIG_MEMCG_DIRTY_LIMIT

DECLARE_STATIC_KEY_FALSE(memcg_dirty_key);

/*
 * Are dirty pages counted? From the first limit or floor on, or the first open of
 * memory.dirty_peak to write.
 */
static inline bool memcg_dirty_enabled(void)
{
	return static_branch_unlikely(&memcg_dirty_key);
}

/* The life of a cgroup: mm/memcg_dirty_limit.c */

int memcg_dirty_alloc(struct mem_cgroup *memcg, struct mem_cgroup *parent);
void memcg_dirty_online(struct mem_cgroup *memcg);
void memcg_dirty_offline(struct mem_cgroup *memcg);
void memcg_dirty_reset(struct mem_cgroup *memcg);
void memcg_dirty_free(struct mem_cgroup *memcg);

#else

static inline bool memcg_dirty_enabled(void)
{
	return false;
}

static inline int memcg_dirty_alloc(struct mem_cgroup *memcg,
				    struct mem_cgroup *parent)
{
	return 0;
}

static inline void memcg_dirty_online(struct mem_cgroup *memcg) {}
static inline void memcg_dirty_offline(struct mem_cgroup *memcg) {}
static inline void memcg_dirty_reset(struct mem_cgroup *memcg) {}
static inline void memcg_dirty_free(struct mem_cgroup *memcg) {}

#endif /* CONFIG_MEMCG_DIRTY_LIMIT */

/* Counts: mm/memcg_dirty.c */

/* The number of cgroups that are near their limits. */
extern atomic_t memcg_dirty_nr_near;

/* Lives in mm/memcontrol.c, with the per-CPU statistics that it points to. */
long __percpu *memcg_page_state_percpu(struct mem_cgroup *memcg, int idx);

#endif /* _LINUX_MEMCG_DIRTY_H */
