// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty page limits of memory cgroups: limits
 *
 * Each level has one threshold, which binds its whole subtree: the limit that
 * was set there, in bytes or as a ratio, or, where memory.max or memory.high is
 * set, the level's share of vm.dirty_ratio. Nothing below can loosen it. A
 * ratio is a share of the memory that the cgroup can dirty: the page cache that
 * it has, and the room that memory.max and memory.high leave on its path.
 *
 * An example: memory.max is 1 GiB, of which 300 MiB are used, 100 MiB by page
 * cache; the machine has plenty of free memory. The cgroup can dirty
 * 100 + (1024 - 300) = 824 MiB.
 *
 *	memory.dirty_ratio=10		limit 82.4 MiB, background limit 41.2
 *	memory.dirty_limit_in_bytes=40M	40, 20
 *	neither, but one on its path	164.8 and 82.4, by vm.dirty_ratio=20 and
 *					vm.dirty_background_ratio=10
 *	none on its path		no threshold: upstream decides
 *
 * A writer or flusher that finds thresholds older than MEMCG_DIRTY_REFRESH
 * computes them anew, from statistics as they are: nothing is flushed.
 *
 * A batch follows from the tightest limit on a cgroup's path. To set a limit is
 * a store, and a walk over its own subtree that adapts the batches and folds
 * the rest: see memcg_dirty_adapt().
 */

#include <linux/backing-dev.h>
#include <linux/cgroup.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/page_counter.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/swap.h>
#include <linux/vmstat.h>
#include <linux/workqueue.h>
#include <linux/writeback.h>

#include "memcg_dirty.h"

/* As often as balance_dirty_pages() estimates bandwidth. */
#define MEMCG_DIRTY_REFRESH	max(HZ / 5, 1)

/* Thresholds and batches are stored under this, so that no older ones are. */
static DEFINE_SPINLOCK(memcg_dirty_limit_lock);

/* Settings */

/**
 * memcg_dirty_setting - a limit as it was set
 * @memcg: the memory cgroup
 * @which: the limit
 *
 * Return: pages; or percent, as a negative number; or MEMCG_DIRTY_UNSET.
 */
long memcg_dirty_setting(const struct mem_cgroup *memcg,
			 enum memcg_dirty_limit which)
{
	return READ_ONCE(memcg->dirty.setting[which]);
}

/**
 * memcg_dirty_any_set - does a cgroup have a limit of its own?
 * @memcg: the memory cgroup
 *
 * Return: %true if a limit or a background limit is set.
 */
static bool memcg_dirty_any_set(const struct mem_cgroup *memcg)
{
	return memcg_dirty_setting(memcg, MEMCG_DIRTY_LIMIT) !=
	       MEMCG_DIRTY_UNSET ||
	       memcg_dirty_setting(memcg, MEMCG_DIRTY_BACKGROUND) !=
	       MEMCG_DIRTY_UNSET;
}

/**
 * memcg_dirty_path_set - does a cgroup or an ancestor have a limit of its own?
 * @memcg: the memory cgroup
 *
 * Return: %true if a limit or a background limit is set.
 */
bool memcg_dirty_path_set(struct mem_cgroup *memcg)
{
	while (memcg && !memcg_dirty_any_set(memcg))
		memcg = parent_mem_cgroup(memcg);
	return memcg;
}

/* Does @memcg or an ancestor have a limit or a floor? */
static bool memcg_dirty_path_limited(struct mem_cgroup *memcg)
{
	while (memcg && !memcg_dirty_any_set(memcg) &&
	       !memcg_dirty_own_floor(memcg))
		memcg = parent_mem_cgroup(memcg);
	return memcg;
}

/* Thresholds */

static bool memcg_dirty_is_bounded(const struct mem_cgroup *memcg)
{
	return min(READ_ONCE(memcg->memory.max), READ_ONCE(memcg->memory.high)) !=
	       PAGE_COUNTER_MAX;
}

/*
 * Is memory.max or memory.high set where no limit applies? That level has no
 * threshold, as upstream holds each cgroup below it to a share of its own, and
 * not to one that they have in common. So a cgroup with a limit below that
 * level is held to its own share as well.
 */
static bool memcg_dirty_is_outer_bounded(struct mem_cgroup *memcg)
{
	bool bounded = false;

	while ((memcg = parent_mem_cgroup(memcg)))
		if (memcg_dirty_any_set(memcg))
			bounded = false;
		else
			bounded |= memcg_dirty_is_bounded(memcg);
	return bounded;
}

/* Pages up to the nearest memory.max or memory.high on the path. */
static unsigned long memcg_dirty_headroom(struct mem_cgroup *memcg)
{
	unsigned long headroom = PAGE_COUNTER_MAX, ceiling, used;

	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		ceiling = min(READ_ONCE(memcg->memory.max),
			      READ_ONCE(memcg->memory.high));
		used = page_counter_read(&memcg->memory);
		headroom = min(headroom, ceiling - min(ceiling, used));
	}
	return headroom;
}

/* Free memory and page cache, as for the system-wide ratios. */
static unsigned long memcg_dirty_system(void)
{
	unsigned long nr_pages = global_zone_page_state(NR_FREE_PAGES);

	nr_pages -= min(nr_pages, totalreserve_pages);
	return nr_pages + global_node_page_state(NR_INACTIVE_FILE) +
	       global_node_page_state(NR_ACTIVE_FILE);
}

/* Pages that a cgroup can dirty: its page cache, and what it may add to that. */
static unsigned long memcg_dirty_avail(unsigned long file,
				       unsigned long headroom,
				       unsigned long system)
{
	return file + min(headroom, system - min(system, file));
}

/**
 * memcg_dirty_part - a part of a number of pages
 * @nr_pages: the pages
 * @part: the numerator
 * @whole: the denominator
 *
 * Return: @nr_pages * @part / @whole, at most @nr_pages; at least a page.
 */
unsigned long memcg_dirty_part(unsigned long nr_pages, unsigned long part,
			       unsigned long whole)
{
	if (part >= whole)
		return max(nr_pages, 1UL);
	return max(mul_u64_u64_div_u64(nr_pages, part, whole), 1ULL);
}

/**
 * struct memcg_dirty_base - the numbers that a level's thresholds follow from
 * @avail: pages that the cgroup can dirty
 * @system: pages that can be dirty in the system
 * @share: system-wide limits, in pages
 * @bounded: memory.max or memory.high of the cgroup is set
 * @outer: so is that of an ancestor above all limits
 */
struct memcg_dirty_base {
	unsigned long avail;
	unsigned long system;
	unsigned long share[NR_MEMCG_DIRTY_LIMITS];
	bool bounded;
	bool outer;
};

/* domain_dirty_limits() lifts the thresholds of real-time tasks. */
static unsigned long memcg_dirty_without_lift(unsigned long thresh)
{
	if (!rt_or_dl_task(current))
		return thresh;
	thresh -= min(thresh, READ_ONCE(global_wb_domain.dirty_limit) / 32);
	return thresh - thresh / 5;
}

static unsigned long memcg_dirty_find_avail(struct mem_cgroup *memcg,
					    unsigned long system)
{
	unsigned long file = memcg_page_state(memcg, NR_INACTIVE_FILE) +
			     memcg_page_state(memcg, NR_ACTIVE_FILE);

	/* The statistics lag behind a fast writer. */
	file = max(file, memcg_dirty_total(memcg));
	return memcg_dirty_avail(file, memcg_dirty_headroom(memcg), system);
}

/* Reclaim skips dirty pages, and needs the rest. */
static unsigned long memcg_dirty_most(unsigned long avail)
{
	return max(avail - avail / 4, 1UL);
}

/**
 * memcg_dirty_explicit - the dirty limit that is set on a cgroup
 * @memcg: the memory cgroup
 *
 * Context: any but interrupts.
 *
 * Return: in pages; PAGE_COUNTER_MAX for none.
 */
unsigned long memcg_dirty_explicit(struct mem_cgroup *memcg)
{
	long setting = memcg_dirty_setting(memcg, MEMCG_DIRTY_LIMIT);

	if (setting >= 0)
		return setting;
	return memcg_dirty_part(memcg_dirty_find_avail(memcg,
						       memcg_dirty_system()),
				-setting, 100);
}

/**
 * memcg_dirty_room - the limit that memory.max and memory.high set by themselves
 * @memcg: the memory cgroup
 *
 * Context: any but interrupts.
 *
 * Return: in pages; PAGE_COUNTER_MAX if neither is set there.
 */
unsigned long memcg_dirty_room(struct mem_cgroup *memcg)
{
	if (!memcg_dirty_is_bounded(memcg))
		return PAGE_COUNTER_MAX;
	return memcg_dirty_most(memcg_dirty_find_avail(memcg,
						       memcg_dirty_system()));
}

/**
 * memcg_dirty_system_floor - half of the system-wide limit
 *
 * Return: in pages.
 */
unsigned long memcg_dirty_system_floor(void)
{
	unsigned long background, limit;

	global_dirty_limits(&background, &limit);
	return memcg_dirty_without_lift(limit) / 2;
}

static void memcg_dirty_find_base(struct mem_cgroup *memcg,
				  struct memcg_dirty_base *base)
{
	unsigned long background, limit;

	base->system = memcg_dirty_system();
	base->avail = memcg_dirty_find_avail(memcg, base->system);
	base->bounded = memcg_dirty_is_bounded(memcg);
	base->outer = memcg_dirty_is_outer_bounded(memcg);
	global_dirty_limits(&background, &limit);
	base->share[MEMCG_DIRTY_BACKGROUND] = memcg_dirty_without_lift(background);
	base->share[MEMCG_DIRTY_LIMIT] = memcg_dirty_without_lift(limit);
}

/**
 * memcg_dirty_threshold - one of a level's thresholds
 * @setting: the limit as it was set
 * @base: the numbers that it follows from
 * @share: the system-wide limit of the same kind, in pages
 *
 * Return: in pages; a page at least, PAGE_COUNTER_MAX for no limit.
 */
static unsigned long memcg_dirty_threshold(long setting,
					   const struct memcg_dirty_base *base,
					   unsigned long share)
{
	unsigned long pages = setting;

	if (setting < 0)
		pages = memcg_dirty_part(base->avail, -setting, 100);
	share = memcg_dirty_part(share, base->avail, base->system);
	if (base->outer || (base->bounded && pages == PAGE_COUNTER_MAX))
		pages = min(pages, share);
	if (base->bounded)
		pages = min(pages, memcg_dirty_most(base->avail));
	return max(pages, 1UL);
}

/**
 * memcg_dirty_background - the background limit beside a limit
 * @background: the background limit, in pages
 * @limit: the limit, in pages
 * @follows: only the limit is set, and the background limit follows from it
 *
 * Return: in pages; half of the limit where @background is not below it, as for
 * the system's, and at most half of it if @follows.
 */
static unsigned long memcg_dirty_background(unsigned long background,
					    unsigned long limit, bool follows)
{
	if (limit == PAGE_COUNTER_MAX || (background < limit && !follows))
		return background;
	return min(background, limit / 2);
}

static bool memcg_dirty_follows(const struct mem_cgroup *memcg)
{
	return memcg_dirty_setting(memcg, MEMCG_DIRTY_LIMIT) !=
	       MEMCG_DIRTY_UNSET &&
	       memcg_dirty_setting(memcg, MEMCG_DIRTY_BACKGROUND) ==
	       MEMCG_DIRTY_UNSET;
}

/**
 * memcg_dirty_apply - compute a memory cgroup's thresholds
 * @memcg: the memory cgroup
 *
 * Context: any but interrupts.
 */
void memcg_dirty_apply(struct mem_cgroup *memcg)
{
	struct memcg_dirty *dirty = &memcg->dirty;
	unsigned long limit[NR_MEMCG_DIRTY_LIMITS] = {
		PAGE_COUNTER_MAX, PAGE_COUNTER_MAX
	};
	struct memcg_dirty_base base;
	int i;

	memcg_dirty_find_base(memcg, &base);
	spin_lock(&memcg_dirty_limit_lock);
	if (memcg_dirty_path_set(memcg))
		for (i = 0; i < NR_MEMCG_DIRTY_LIMITS; i++)
			limit[i] = memcg_dirty_threshold(memcg_dirty_setting(memcg, i),
							 &base, base.share[i]);
	WRITE_ONCE(dirty->limit[MEMCG_DIRTY_LIMIT], limit[MEMCG_DIRTY_LIMIT]);
	WRITE_ONCE(dirty->limit[MEMCG_DIRTY_BACKGROUND],
		   memcg_dirty_background(limit[MEMCG_DIRTY_BACKGROUND],
					  limit[MEMCG_DIRTY_LIMIT],
					  memcg_dirty_follows(memcg)));
	spin_unlock(&memcg_dirty_limit_lock);
	memcg_dirty_note(memcg, memcg_dirty_total(memcg));
}

/* The tightest limit or floor that the counts of @memcg are compared with. */
static unsigned long memcg_dirty_least(const struct mem_cgroup *memcg)
{
	unsigned long floor = memcg_dirty_own_floor(memcg);

	if (floor)
		floor = max(min(floor, memcg_dirty_system_floor()), 1UL);
	return min3(memcg_dirty_in_force(memcg, MEMCG_DIRTY_LIMIT),
		    2 * memcg_dirty_in_force(memcg, MEMCG_DIRTY_BACKGROUND),
		    floor ?: PAGE_COUNTER_MAX);
}

/* For so many cgroups of the subtree the batches have been chosen. */
static unsigned int memcg_dirty_spread(const struct memcg_dirty *dirty)
{
	return 1U << READ_ONCE(dirty->spread);
}

/**
 * memcg_dirty_own_error - pages by which a cgroup's counts can be wrong
 * @memcg: the memory cgroup
 *
 * Return: in pages.
 */
unsigned long memcg_dirty_own_error(const struct mem_cgroup *memcg)
{
	const struct memcg_dirty *dirty = &memcg->dirty;

	return memcg_dirty_error(READ_ONCE(dirty->own_batch), num_possible_cpus(),
				 memcg_dirty_spread(dirty));
}

/**
 * memcg_dirty_refresh - have a cgroup's thresholds follow its memory
 * @memcg: the memory cgroup
 *
 * Where a limit has become so small that its batches are too large, a worker
 * adapts them.
 *
 * Context: any but interrupts.
 */
void memcg_dirty_refresh(struct mem_cgroup *memcg)
{
	struct memcg_dirty *dirty = &memcg->dirty;
	unsigned int at = READ_ONCE(dirty->refreshed), now = jiffies;

	if (!memcg_dirty_is_limited(memcg) || now - at < MEMCG_DIRTY_REFRESH ||
	    !try_cmpxchg(&dirty->refreshed, &at, now))
		return;
	memcg_dirty_apply(memcg);
	if (memcg_dirty_own_error(memcg) >
	    memcg_dirty_tolerance(memcg_dirty_least(memcg)))
		memcg_dirty_adapt_later();
}

/* Batches */

/* Memory cgroups of @memcg's subtree, including those that have been removed. */
static unsigned int memcg_dirty_nr_cgroups(const struct mem_cgroup *memcg)
{
	const struct cgroup_subsys_state *css = &memcg->css;

	return READ_ONCE(css->nr_descendants) + 1 +
	       READ_ONCE(css->cgroup->nr_dying_subsys[memory_cgrp_id]);
}

/*
 * The batch for @memcg and its ancestors; to be called with the lock held.
 * Those of the ancestors are as they were set, though their limits may have
 * grown.
 */
static unsigned int memcg_dirty_path_batch(struct mem_cgroup *memcg)
{
	unsigned int batch = MEMCG_DIRTY_BATCH_MAX;

	for (; !mem_cgroup_is_root(memcg); memcg = parent_mem_cgroup(memcg))
		batch = min(batch, memcg->dirty.own_batch);
	return batch;
}

/* Returns %true if the CPUs may hold back more than the new batch. */
static bool memcg_dirty_adapt_one(struct mem_cgroup *memcg)
{
	struct memcg_dirty *dirty = &memcg->dirty;
	unsigned int batch;
	bool less;

	memcg_dirty_apply(memcg);
	spin_lock(&memcg_dirty_limit_lock);
	/* Twice as many cgroups may come before the batches have to change. */
	WRITE_ONCE(dirty->spread, order_base_2(memcg_dirty_nr_cgroups(memcg)));
	WRITE_ONCE(dirty->own_batch,
		   memcg_dirty_batch(memcg_dirty_least(memcg),
				     num_possible_cpus(),
				     memcg_dirty_spread(dirty)));
	batch = memcg_dirty_path_batch(memcg);
	less = batch < memcg_dirty_fold_batch(memcg);
	WRITE_ONCE(dirty->fold_mask, -batch);
	WRITE_ONCE(dirty->limited, memcg_dirty_path_limited(memcg));
	spin_unlock(&memcg_dirty_limit_lock);
	return less;
}

static void memcg_dirty_adapt_subtree(struct mem_cgroup *root, bool fold)
{
	struct mem_cgroup *memcg = NULL;

	while ((memcg = mem_cgroup_iter(root, memcg, NULL))) {
		if (mem_cgroup_is_root(memcg))
			continue;
		if (memcg_dirty_adapt_one(memcg) || fold)
			memcg_dirty_fold_all(memcg);
		cond_resched();
	}
}

/**
 * memcg_dirty_adapt - give a subtree the thresholds and batches that it needs
 * @root: the subtree's root; %NULL for all cgroups
 *
 * A setting is stored before the walk. Each cgroup's thresholds and batch are
 * derived and stored under memcg_dirty_limit_lock, so that the last of two walks
 * stores those of the last setting. The memory that they follow from is read
 * before: thresholds that an older walk stores last are corrected by the next
 * writer that finds them too old. A threshold that follows memory may halve
 * before the batches have to change; when it falls further, a worker adapts them.
 * A CPU that updates its sum while a smaller batch is being set may hold back that
 * update until its sum gets to another multiple of the batch.
 *
 * Context: may sleep; after a limit at or above @root has changed.
 */
static void memcg_dirty_adapt(struct mem_cgroup *root)
{
	memcg_dirty_adapt_subtree(root, false);
}

static void memcg_dirty_adapt_workfn(struct work_struct *work)
{
	memcg_dirty_adapt(NULL);
}

static DECLARE_DELAYED_WORK(memcg_dirty_adapt_work, memcg_dirty_adapt_workfn);

/**
 * memcg_dirty_adapt_later - memcg_dirty_adapt() for all cgroups, by a worker
 *
 * Calls within MEMCG_DIRTY_REFRESH have the effect of one.
 *
 * Context: any.
 */
void memcg_dirty_adapt_later(void)
{
	queue_delayed_work(bdi_wq, &memcg_dirty_adapt_work, MEMCG_DIRTY_REFRESH);
}

/*
 * An update that came before the walk may have folded all that its CPU had ever
 * counted, and raised peaks by that.
 */
static void memcg_dirty_restart_peaks(void)
{
	struct mem_cgroup *memcg = NULL;

	while ((memcg = mem_cgroup_iter(NULL, memcg, NULL))) {
		WRITE_ONCE(memcg->dirty.peak, 0);
		memcg_dirty_restart_peak(memcg, memcg_dirty_total(memcg));
		cond_resched();
	}
}

/**
 * memcg_dirty_enable - begin to count
 *
 * Until the first limit or floor of a boot, or the first memory.dirty_peak opened
 * for writing, a static key keeps the counts off the update path; then it stays on.
 * Once jump labels have been patched, no CPU passes by the counts, and each update
 * that did so is in the sums that the walk folds.
 *
 * Context: may sleep.
 */
void memcg_dirty_enable(void)
{
	static DEFINE_MUTEX(mutex);
	static bool done;

	if (READ_ONCE(done))
		return;
	mutex_lock(&mutex);
	if (!done) {
		static_branch_enable(&memcg_dirty_key);
		memcg_dirty_adapt_subtree(NULL, true);
		memcg_dirty_restart_peaks();
		WRITE_ONCE(done, true);
	}
	mutex_unlock(&mutex);
}

/* Changes of settings */

/**
 * memcg_dirty_set - set a limit of a memory cgroup
 * @memcg: the memory cgroup
 * @which: the limit
 * @old: the setting that is replaced, as for memcg_dirty_setting()
 * @setting: the new one, which differs
 *
 * Context: may sleep.
 *
 * Return: %true if the setting has changed; %false if it was not @old, which then
 * is the setting.
 */
bool memcg_dirty_set(struct mem_cgroup *memcg, enum memcg_dirty_limit which,
		     long *old, long setting)
{
	if (setting != MEMCG_DIRTY_UNSET)
		memcg_dirty_enable();
	if (!try_cmpxchg(&memcg->dirty.setting[which], old, setting))
		return false;
	memcg_dirty_adapt(memcg);
	return true;
}

/**
 * memcg_dirty_set_floor - set the floor of a memory cgroup
 * @memcg: the memory cgroup
 * @floor: in pages
 *
 * Context: may sleep.
 */
void memcg_dirty_set_floor(struct mem_cgroup *memcg, unsigned long floor)
{
	if (floor)
		memcg_dirty_enable();
	if (xchg(&memcg->dirty.floor, floor) != floor)
		memcg_dirty_adapt(memcg);
}

/* The life of a cgroup */

/**
 * memcg_dirty_alloc - prepare a memory cgroup for dirty limits
 * @memcg: a cgroup that cannot be observed yet
 * @parent: its parent; %NULL for the root cgroup, which has no counts
 *
 * Return: 0 or -ENOMEM.
 */
int memcg_dirty_alloc(struct mem_cgroup *memcg, struct mem_cgroup *parent)
{
	struct memcg_dirty *dirty = &memcg->dirty;
	int i;

	BUILD_BUG_ON(sizeof(*dirty) > 256);
	INIT_LIST_HEAD(&dirty->peaks);
	dirty->own_batch = MEMCG_DIRTY_BATCH_MAX;
	dirty->refreshed = jiffies - HZ;
	for (i = 0; i < NR_MEMCG_DIRTY_LIMITS; i++) {
		dirty->setting[i] = MEMCG_DIRTY_UNSET;
		dirty->limit[i] = PAGE_COUNTER_MAX;
	}
	/* Updates of the root cgroup read some sum, and fold nothing. */
	dirty->sum = memcg_page_state_percpu(memcg, NR_FILE_DIRTY);
	if (!parent)
		return 0;
	WARN_ON_ONCE(memcg_page_state_percpu(memcg, NR_WRITEBACK) !=
		     &dirty->sum[MEMCG_WRITEBACK]);
	dirty->fold_mask = -(int)MEMCG_DIRTY_BATCH_MAX;
	dirty->mark = alloc_percpu_gfp(struct memcg_dirty_mark,
				       GFP_KERNEL_ACCOUNT);
	return dirty->mark ? 0 : -ENOMEM;
}

/**
 * memcg_dirty_online - place a new memory cgroup below the limits on its path
 * @memcg: a cgroup that memcg_dirty_adapt() finds from now on
 *
 * Context: cgroup_mutex is held.
 */
void memcg_dirty_online(struct mem_cgroup *memcg)
{
	struct mem_cgroup *pos = parent_mem_cgroup(memcg);

	if (!pos)
		return;
	memcg_dirty_adapt_one(memcg);
	/* @memcg itself is not counted yet. */
	for (; memcg_dirty_is_limited(pos); pos = parent_mem_cgroup(pos))
		if (memcg_dirty_nr_cgroups(pos) >= memcg_dirty_spread(&pos->dirty))
			memcg_dirty_adapt_later();
}

/**
 * memcg_dirty_offline - remove the floor of a cgroup that is being removed
 * @memcg: the memory cgroup
 *
 * Its limits stay, for the pages that are still dirty.
 *
 * Context: cgroup_mutex is held.
 */
void memcg_dirty_offline(struct mem_cgroup *memcg)
{
	/* A full barrier: memcg_dirty_claim() on another CPU checks once more. */
	xchg(&memcg->dirty.floor, 0);
	memcg_dirty_note(memcg, memcg_dirty_total(memcg));
}

/**
 * memcg_dirty_reset - remove a memory cgroup's limits and its floor
 * @memcg: a cgroup for which the memory controller has been disabled
 *
 * Context: cgroup_mutex is held.
 */
void memcg_dirty_reset(struct mem_cgroup *memcg)
{
	bool changed = xchg(&memcg->dirty.floor, 0);
	int i;

	for (i = 0; i < NR_MEMCG_DIRTY_LIMITS; i++)
		changed |= xchg(&memcg->dirty.setting[i], MEMCG_DIRTY_UNSET) !=
			   MEMCG_DIRTY_UNSET;
	if (changed)
		memcg_dirty_adapt_later();
}

/**
 * memcg_dirty_free - fold the rest of a memory cgroup that is about to be freed
 * @memcg: a cgroup without pages and without children
 *
 * Context: may sleep; nothing refers to @memcg any more.
 */
void memcg_dirty_free(struct mem_cgroup *memcg)
{
	if (!memcg->dirty.mark)
		return;
	if (memcg_dirty_enabled())
		memcg_dirty_fold_all(memcg);
	/* It is not near its limit any more, and claims nothing. */
	memcg_dirty_note(memcg, 0);
	free_percpu(memcg->dirty.mark);
}

#ifdef CONFIG_MEMCG_DIRTY_LIMIT_KUNIT_TEST
#include "tests/memcg_dirty_limit_kunit.c"
#endif
