/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dirty page limits of memory cgroups: what the parts of it share.
 *
 *	mm/memcg_dirty.c	counts
 *	mm/memcg_dirty_limit.c	the limits, and the files that set and show them
 *	mm/memcg_dirty_wb.c	what writers and flushers are told
 */
#ifndef _MM_MEMCG_DIRTY_H
#define _MM_MEMCG_DIRTY_H

#include <linux/memcontrol.h>
#include <linux/memcg_dirty.h>

#ifdef CONFIG_MEMCG_DIRTY_LIMIT

/* A domain's shared count may be off by one part in this many of its limit. */
#define MEMCG_DIRTY_PRECISION	64UL

/**
 * struct memcg_dirty_join - how a CPU's sums entered the domain above
 * @gen: ->gen of the domain that they entered last
 * @base: the sums at that moment, in pages
 *
 * Written by its own CPU only.
 */
struct memcg_dirty_join {
	unsigned long gen;
	long base[NR_MEMCG_DIRTY_ITEMS];
};

/**
 * struct memcg_dirty_percpu - a CPU's part of a domain
 * @sum: all updates on this CPU, in pages; a page that is dirtied on one CPU
 *	and cleaned on another makes a negative one
 * @low: the lowest that @sum may become before it is folded; the middle between
 *	this and the highest is what the domain's shared count has of it
 * @width: by how much the highest is above @low
 * @domain: the domain; NULL in memcg_dirty_none and memcg_dirty_unlimited
 * @join: since when @sum counts in the next domain up
 */
struct memcg_dirty_percpu {
	long sum[NR_MEMCG_DIRTY_ITEMS];
	long low[NR_MEMCG_DIRTY_ITEMS];
	unsigned long width;
	struct memcg_dirty_domain *domain;
	struct memcg_dirty_join join;
};

/**
 * memcg_dirty_add - add to a domain's count on this CPU
 * @pcpu: this CPU's part of the domain
 * @item: what to count
 * @nr_pages: how many pages came, or went when negative
 *
 * Context: no other update can happen on this CPU.
 *
 * Return: %true if a batch has come together; the caller is to fold it.
 */
static __always_inline bool memcg_dirty_add(struct memcg_dirty_percpu *pcpu,
					    enum memcg_dirty_item item,
					    long nr_pages)
{
	long sum = pcpu->sum[item] + nr_pages;

	WRITE_ONCE(pcpu->sum[item], sum);
	return (unsigned long)(sum - pcpu->low[item]) > pcpu->width;
}

/* How many devices with shared writeback a domain keeps apart. */
#define MEMCG_DIRTY_NR_SHARED	4

/**
 * struct memcg_dirty_shared - use of a device's shared writeback
 * @bdi: the device's ID
 * @at: when a cgroup of the subtree last wrote to it, in jiffies
 *
 * Written without a lock: to be wrong for a moment costs little.
 */
struct memcg_dirty_shared {
	u64 bdi;
	unsigned long at;
};

/**
 * struct memcg_dirty_domain - the count of a limited cgroup's subtree
 * @up: the next domain on the way to the root
 * @pcpu: the CPUs' parts
 * @memcg: the limited cgroup
 * @gen: distinguishes this domain from all others before and after it
 * @batch: how many pages a CPU collects before it folds them into @dirty
 *	and @total
 * @near: the limit is near; writers are to look more often
 * @limit: pages that may be dirty or under writeback, PAGE_COUNTER_MAX for any
 *	number
 * @background: background writeback is to run above this many dirty pages
 * @shared: devices whose shared writeback the subtree has dirtied pages for
 * @wanted_at: when a writer, or reclaim, last wanted shared writeback to go on,
 *	in jiffies
 * @epoch: the last epoch in which @writers grew
 * @writers: a bit for each task that looked at the limit, in that epoch and in
 *	the one before
 * @largest: pages of the largest folio that a task has dirtied since, and before
 * @margin: pages of the limit to keep free for what such tasks may add at once
 * @seed: pages that were dirty or under writeback when counting began
 * @node: on the list of all domains; RCU
 * @rcu: for freeing it
 * @dirty: dirty pages that were added since
 * @total: dirty pages and pages under writeback that were added since
 * @peak: the highest counts seen, in pages
 */
struct memcg_dirty_domain {
	struct memcg_dirty_domain __rcu *up;
	struct memcg_dirty_percpu __percpu *pcpu;
	struct mem_cgroup *memcg;
	unsigned long gen;
	unsigned int batch;
	int near;
	unsigned long limit;
	unsigned long background;
	struct memcg_dirty_shared shared[MEMCG_DIRTY_NR_SHARED];
	unsigned long wanted_at;
	unsigned long epoch;
	unsigned long writers[2];
	unsigned long largest[2];
	unsigned long margin;
	long seed[NR_MEMCG_DIRTY_ITEMS];
	struct list_head node;
	struct rcu_head rcu;

	atomic_long_t dirty ____cacheline_aligned_in_smp;
	atomic_long_t total;
	unsigned long peak[NR_MEMCG_DIRTY_PEAKS];
};

/* All domains; RCU, written under memcg_dirty_mutex. */
extern struct list_head memcg_dirty_domains;

/* In the order of enum memcg_dirty_item. */
extern const enum node_stat_item memcg_dirty_idx[NR_MEMCG_DIRTY_ITEMS];

void memcg_dirty_account_slow(struct mem_cgroup *memcg,
			      struct memcg_dirty_percpu *pcpu,
			      enum memcg_dirty_item item, long nr_pages);
void memcg_dirty_count(struct mem_cgroup *memcg, enum memcg_dirty_item item,
		       long nr_pages);
unsigned int memcg_dirty_batch(unsigned long limit, unsigned int nr_cpus);
unsigned long memcg_dirty_error(unsigned int batch, unsigned int nr_cpus);
unsigned long memcg_dirty_read_total(const struct memcg_dirty_domain *domain);
unsigned long memcg_dirty_read_dirty(const struct memcg_dirty_domain *domain);
unsigned long memcg_dirty_read_exact(const struct memcg_dirty_domain *domain,
				     enum memcg_dirty_item item);
unsigned long memcg_dirty_read_local(struct mem_cgroup *memcg,
				     enum memcg_dirty_item item);
void memcg_dirty_note(struct memcg_dirty_domain *domain);
void memcg_dirty_reset_peaks(struct memcg_dirty_domain *domain);
int memcg_dirty_set(struct mem_cgroup *memcg, enum memcg_dirty_limit which,
		    const struct memcg_dirty_setting *setting);

extern const struct memcg_dirty_setting memcg_dirty_unset;

void memcg_dirty_init_settings(struct mem_cgroup *memcg);
bool memcg_dirty_is_set(const struct memcg_dirty_setting *setting);
bool memcg_dirty_any_set(struct mem_cgroup *memcg);
void memcg_dirty_store(struct mem_cgroup *memcg, enum memcg_dirty_limit which,
		       const struct memcg_dirty_setting *setting);
void memcg_dirty_apply(struct mem_cgroup *memcg,
		       struct memcg_dirty_domain *domain);
void memcg_dirty_refresh(struct mem_cgroup *memcg);
void memcg_dirty_refresh_now(struct mem_cgroup *memcg);

void memcg_dirty_wake_subtrees(void);

/**
 * memcg_dirty_account - count pages that become dirty or clean
 * @memcg: the memory cgroup whose statistics are about to change
 * @item: what changes
 * @nr_pages: the change, in pages
 *
 * This is inlined where the statistics change: a call costs as much as all that
 * is done here.
 *
 * ->only of a cgroup with more than one domain to count in is memcg_dirty_none,
 * in which a batch has always come together. Without any, it is
 * memcg_dirty_unlimited, where that never happens.
 *
 * Context: as for memcg_dirty_count().
 */
static __always_inline void memcg_dirty_account(struct mem_cgroup *memcg,
						enum memcg_dirty_item item,
						long nr_pages)
{
	struct memcg_dirty_percpu *pcpu;

	pcpu = this_cpu_ptr(READ_ONCE(memcg->dirty.only));
	if (unlikely(memcg_dirty_add(pcpu, item, nr_pages)))
		memcg_dirty_account_slow(memcg, pcpu, item, nr_pages);
}

#endif /* CONFIG_MEMCG_DIRTY_LIMIT */

#endif /* _MM_MEMCG_DIRTY_H */
