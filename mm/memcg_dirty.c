// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty page limits of memory cgroups: the counts
 *
 * Upstream's statistics have, for each cgroup and CPU, the sum of all updates
 * since the cgroup was created. A mark beside it says how much of that sum is in
 * the shared counts of the cgroup and of each ancestor. A fold moves the mark to
 * the sum with cmpxchg() and adds the difference to the counts of every level.
 * So the counts of a level are the sum of the marks below it, and a new limit
 * needs no other preparation than the batches: a CPU folds when sum and mark
 * differ by the batch.
 *
 * A freed cgroup folds the rest. Where folios become the parent's as a cgroup is
 * removed, the statistics move with them and the ancestors' counts stay as they
 * are. CPUs that go offline leave their sums and marks behind, and those differ by
 * less than a batch.
 *
 * Two CPUs that fold the same part may leave the mark behind the sum by what
 * was added in the meantime; the CPU's next update sees that. On its own CPU, an
 * interrupt between an update and its fold folds both.
 */

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/jump_label.h>
#include <linux/math64.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/page_counter.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "memcg_dirty.h"

const enum node_stat_item memcg_dirty_idx[NR_MEMCG_DIRTY_ITEMS] = {
	[MEMCG_DIRTY]		= NR_FILE_DIRTY,
	[MEMCG_WRITEBACK]	= NR_WRITEBACK,
};

DEFINE_STATIC_KEY_FALSE(memcg_dirty_key);

/* How many cgroups are near their limits. */
atomic_t memcg_dirty_nr_near = ATOMIC_INIT(0);

/**
 * memcg_dirty_tolerance - how wrong the counts for a limit may be
 * @limit: the limit, in pages
 *
 * Return: in pages.
 */
unsigned long memcg_dirty_tolerance(unsigned long limit)
{
	return limit < MEMCG_DIRTY_EXACT ? 0 : limit / MEMCG_DIRTY_PRECISION;
}

/**
 * memcg_dirty_batch - the batch that a limit needs
 * @limit: the limit, in pages
 * @nr_cpus: the number of possible CPUs
 * @nr_cgroups: the number of cgroups that the limit applies to
 *
 * It is enough for half of the limit, as a limit may follow memory.
 *
 * Return: a number of pages; one if each update is to be folded at once.
 */
unsigned int memcg_dirty_batch(unsigned long limit, unsigned int nr_cpus,
			       unsigned int nr_cgroups)
{
	u64 parts = (u64)nr_cpus * nr_cgroups * NR_MEMCG_DIRTY_ITEMS;

	return clamp_t(u64, div64_u64(memcg_dirty_tolerance(limit / 2), parts), 1,
		       MEMCG_DIRTY_BATCH_MAX);
}

/**
 * memcg_dirty_error - pages that the CPUs together may hold back
 * @batch: the batch, in pages
 * @nr_cpus: the number of possible CPUs
 * @nr_cgroups: the number of cgroups with this batch
 *
 * Return: in pages.
 */
unsigned long memcg_dirty_error(unsigned int batch, unsigned int nr_cpus,
				unsigned int nr_cgroups)
{
	return (unsigned long)nr_cpus * nr_cgroups * NR_MEMCG_DIRTY_ITEMS *
	       (batch - 1);
}

/**
 * memcg_dirty_total - pages of a subtree that are dirty or under writeback
 * @memcg: the subtree's root, not the root cgroup
 *
 * Dirty and writeback pages have a common count: of two, each would be of
 * another moment. A folio that goes from dirty to writeback is in neither for a
 * moment, and the count can be negative for as long.
 *
 * Return: in pages.
 */
unsigned long memcg_dirty_total(const struct mem_cgroup *memcg)
{
	return max(atomic_long_read(&memcg->dirty.total), 0L);
}

/**
 * memcg_dirty_dirty - dirty pages of a subtree
 * @memcg: the subtree's root, not the root cgroup
 *
 * Return: in pages.
 */
unsigned long memcg_dirty_dirty(const struct mem_cgroup *memcg)
{
	return max(atomic_long_read(&memcg->dirty.dirty), 0L);
}

static void memcg_dirty_raise(unsigned long *peak, unsigned long nr_pages)
{
	unsigned long old = READ_ONCE(*peak);

	while (nr_pages > old && !try_cmpxchg(peak, &old, nr_pages))
		;
}

/* Room for the pages that each writer may add between two checks. */
static unsigned long memcg_dirty_margin(const struct memcg_dirty *dirty)
{
	unsigned long nr = hweight_long(READ_ONCE(dirty->writers[0]) |
					READ_ONCE(dirty->writers[1]));

	return nr * max(READ_ONCE(dirty->largest[0]),
			READ_ONCE(dirty->largest[1]));
}

/**
 * memcg_dirty_note - record a peak, and whether a limit is near
 * @memcg: a memory cgroup
 * @total: dirty pages and pages under writeback of its subtree
 *
 * Context: any.
 */
void memcg_dirty_note(struct mem_cgroup *memcg, long total)
{
	struct memcg_dirty *dirty = &memcg->dirty;
	unsigned long limit = READ_ONCE(dirty->limit[MEMCG_DIRTY_LIMIT]);
	int near = limit != PAGE_COUNTER_MAX && total > 0 &&
		   total + memcg_dirty_margin(dirty) >= limit - limit / 16;

	if (total > (long)READ_ONCE(dirty->local_peak)) {
		memcg_dirty_raise(&dirty->peak, total);
		memcg_dirty_raise(&dirty->local_peak, total);
	}
	if (near != READ_ONCE(dirty->near) && near != xchg(&dirty->near, near))
		atomic_add(near ? 1 : -1, &memcg_dirty_nr_near);
}

/* Add to the counts of @memcg and of each ancestor below the root. */
static void memcg_dirty_add(struct mem_cgroup *memcg,
			    enum memcg_dirty_item item, long nr_pages)
{
	long total;

	for (; memcg && !mem_cgroup_is_root(memcg);
	     memcg = parent_mem_cgroup(memcg)) {
		if (item == MEMCG_DIRTY)
			atomic_long_add(nr_pages, &memcg->dirty.dirty);
		total = atomic_long_add_return(nr_pages, &memcg->dirty.total);
		memcg_dirty_note(memcg, total);
	}
}

/* How much @mark lacks of @sum, and is then no longer lacking. */
static long memcg_dirty_move_mark(long *mark, const long *sum)
{
	long old = READ_ONCE(*mark), nr_pages = 0, new;

	/* Another CPU's sum may have changed before the mark did. */
	while ((new = READ_ONCE(*sum)) != old) {
		if (!try_cmpxchg(mark, &old, new))
			continue;
		nr_pages += new - old;
		old = new;
	}
	return nr_pages;
}

static void memcg_dirty_fold(struct mem_cgroup *memcg,
			     enum memcg_dirty_item item, int cpu)
{
	const long *sum = memcg_page_state_cpu(memcg, memcg_dirty_idx[item],
					       cpu);
	long *mark = &per_cpu_ptr(memcg->dirty.mark, cpu)->folded[item];
	long nr_pages;

	nr_pages = memcg_dirty_move_mark(mark, sum);
	if (nr_pages)
		memcg_dirty_add(memcg, item, nr_pages);
}

/**
 * memcg_dirty_fold_all - have the counts include the pages that CPUs hold back
 * @memcg: the memory cgroup
 *
 * Context: any, with @memcg alive.
 */
void memcg_dirty_fold_all(struct mem_cgroup *memcg)
{
	int cpu, item;

	for_each_possible_cpu(cpu)
		for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++)
			memcg_dirty_fold(memcg, item, cpu);
}

/* Tasks with folios of several pages may overrun a limit that looks far. */
static void memcg_dirty_note_folio(struct memcg_dirty *dirty, long nr_pages)
{
	if (nr_pages > (long)READ_ONCE(dirty->largest[0]))
		WRITE_ONCE(dirty->largest[0], nr_pages);
}

/* See memcg_dirty_update(). */
void __memcg_dirty_update(struct mem_cgroup *memcg, int idx, long nr_pages)
{
	enum memcg_dirty_item item = idx - NR_FILE_DIRTY;
	struct memcg_dirty *dirty = &memcg->dirty;
	int cpu = smp_processor_id();
	long rest;

	BUILD_BUG_ON(NR_WRITEBACK - NR_FILE_DIRTY != MEMCG_WRITEBACK);
	if (!dirty->mark)
		return;
	rest = READ_ONCE(*memcg_page_state_cpu(memcg, idx, cpu)) -
	       READ_ONCE(this_cpu_ptr(dirty->mark)->folded[item]);
	if (abs(rest) >= READ_ONCE(dirty->batch))
		memcg_dirty_fold(memcg, item, cpu);
	if (!READ_ONCE(dirty->limited))
		return;
	if (item == MEMCG_WRITEBACK && nr_pages < 0)
		atomic_long_sub(nr_pages, &dirty->written);
	else if (item == MEMCG_DIRTY && !(current->flags & PF_KTHREAD))
		memcg_dirty_note_folio(dirty, nr_pages);
}

/**
 * memcg_dirty_free - leave no rest in a memory cgroup that is about to be freed
 * @memcg: a cgroup without pages and without children
 *
 * Context: may sleep; nothing refers to @memcg any more.
 */
void memcg_dirty_free(struct mem_cgroup *memcg)
{
	struct memcg_dirty *dirty = &memcg->dirty;

	if (!dirty->mark)
		return;
	if (memcg_dirty_enabled())
		memcg_dirty_fold_all(memcg);
	if (dirty->near)
		atomic_dec(&memcg_dirty_nr_near);
	free_percpu(dirty->mark);
}

#ifdef CONFIG_MEMCG_DIRTY_LIMIT_KUNIT_TEST
#include "tests/memcg_dirty_kunit.c"
#endif
