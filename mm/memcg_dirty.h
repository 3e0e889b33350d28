/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dirty page limits of memory cgroups
 *
 * A limit bounds the pages of a cgroup and its descendants that are dirty or
 * under writeback. The files are layers: each calls only those below it.
 *
 *	memcg_dirty_file.c	files: settings, counts, peaks
 *	memcg_dirty_wb.c	throttling and writeback: from limits and counts
 *				to the numbers of balance_dirty_pages()
 *	memcg_dirty_pace.c	the disk's queue: how much a flusher submits
 *	memcg_dirty_share.c	shares of a limit
 *	memcg_dirty_floor.c	floors: pages that other cgroups' limits spare
 *	memcg_dirty_limit.c	limits: one threshold per level, and the batches
 *	memcg_dirty.c		counts: pages of each subtree, exact to a batch
 *
 *	  folio accounting		balance_dirty_pages(), flushers
 *		|				|
 *		v				v
 *	sum on this CPU  --batch-->  counts of each level  <--  thresholds
 *
 * An example: /a has a limit of 64 MiB, 16384 pages; /a/b and /a/c write. A
 * page that becomes dirty in b adds one to b's sum on this CPU. Below 512 MiB
 * the batch is one page, so the difference goes at once to the counts of b and
 * a. When a has 12288 pages, half way between its background limit (8192) and
 * its limit, balance_dirty_pages() begins to pause its writers.
 *
 * The counts of a level lack at most 2 items * possible CPUs * cgroups below it *
 * (batch - 1) pages: a 128th of the limit at most, and none below 512 MiB; but see
 * memcg_dirty_must_fold() about interrupts.
 *
 * Greg Thelen posted per-memcg dirty limits with hierarchy in 2010 and 2011.
 */
#ifndef _MM_MEMCG_DIRTY_H
#define _MM_MEMCG_DIRTY_H

#include <linux/memcontrol.h>
#include <linux/memcg_dirty.h>
#include <linux/percpu.h>
#include <linux/sizes.h>

struct task_struct;

/* Of mm/backing-dev.c: the lists of wbs. */
extern spinlock_t cgwb_lock;
extern struct list_head offline_cgwbs;

#ifdef CONFIG_MEMCG_DIRTY_LIMIT

/* A level's counts may be wrong by one part in this many of its limit, at most. */
#define MEMCG_DIRTY_PRECISION	64UL

/*
 * Counts for a limit below twice this are exact: batches are chosen for half of the
 * limit. In pages.
 */
#define MEMCG_DIRTY_EXACT	(SZ_256M / PAGE_SIZE)

/* The largest batch, in pages: the one of upstream's statistics. */
#define MEMCG_DIRTY_BATCH_MAX	64UL

/* A cgroup is light up to one part in this many of an equal share. */
#define MEMCG_DIRTY_LIGHT	4UL

/**
 * struct memcg_dirty_mark - a CPU's part of a cgroup's counts
 * @folded: how much of the CPU's sum is in the counts, in pages
 */
struct memcg_dirty_mark {
	long folded[NR_MEMCG_DIRTY_ITEMS];
};

/*
 * Fields of struct memcg_dirty: memcg_dirty_limit.c initialises them, one file
 * writes each, and the others read it by these functions, or by those of that
 * file. Only a check of the counts reads them as they are.
 */

/* Does @memcg or an ancestor have a limit or a floor? */
static inline bool memcg_dirty_is_limited(const struct mem_cgroup *memcg)
{
	return READ_ONCE(memcg->dirty.limited);
}

/* A limit in force, in pages; PAGE_COUNTER_MAX for none. */
static inline unsigned long memcg_dirty_in_force(const struct mem_cgroup *memcg,
						 enum memcg_dirty_limit which)
{
	return READ_ONCE(memcg->dirty.limit[which]);
}

/* memory.dirty_min as it was set, in pages. */
static inline unsigned long memcg_dirty_own_floor(const struct mem_cgroup *memcg)
{
	return READ_ONCE(memcg->dirty.floor);
}

/* The part of memory.dirty_min that is in use, in pages. */
static inline unsigned long memcg_dirty_claimed(const struct mem_cgroup *memcg)
{
	return READ_ONCE(memcg->dirty.claim);
}

/* The same of all children, in pages. CPUs add to it in any order. */
static inline unsigned long memcg_dirty_claims(const struct mem_cgroup *memcg)
{
	return max(atomic_long_read(&memcg->dirty.claims), 0L);
}

/*
 * A CPU folds its part into the counts when its sum gets to another multiple of this
 * many pages.
 */
static inline unsigned int memcg_dirty_fold_batch(const struct mem_cgroup *memcg)
{
	return -READ_ONCE(memcg->dirty.fold_mask);
}

/* Is @memcg near its limit, so that writers check more often? */
static inline bool memcg_dirty_near(const struct mem_cgroup *memcg)
{
	return READ_ONCE(memcg->dirty.near);
}

/* How often writers of the subtree were paused. */
static inline unsigned long memcg_dirty_pauses(const struct mem_cgroup *memcg)
{
	return atomic_long_read(&memcg->dirty.pauses);
}

/* For how long they were, in microseconds. */
static inline unsigned long
memcg_dirty_paused_usec(const struct mem_cgroup *memcg)
{
	return atomic_long_read(&memcg->dirty.paused_usec);
}

/* The highest memcg_dirty_total(), in pages. */
static inline unsigned long memcg_dirty_peak(const struct mem_cgroup *memcg)
{
	return READ_ONCE(memcg->dirty.peak);
}

/* The same since memcg_dirty_restart_peak(), in pages. */
static inline unsigned long
memcg_dirty_peak_since(const struct mem_cgroup *memcg)
{
	return READ_ONCE(memcg->dirty.local_peak);
}

/* Counts: memcg_dirty.c */

void memcg_dirty_flow_add(struct memcg_dirty_flow *flow, unsigned long period,
			  long nr);
unsigned long memcg_dirty_flow_read(const struct memcg_dirty_flow *flow,
				    unsigned long period);
unsigned int memcg_dirty_epoch(void);
void memcg_dirty_turn_epoch(struct memcg_dirty *dirty, unsigned int epoch);
void memcg_dirty_count_active(struct mem_cgroup *parent, unsigned int epoch);
unsigned int memcg_dirty_nr_active(const struct mem_cgroup *memcg);
unsigned int memcg_dirty_largest(const struct mem_cgroup *memcg);
void memcg_dirty_note_writer(struct mem_cgroup *limited,
			     const struct mem_cgroup *memcg);
unsigned long memcg_dirty_expected(const struct mem_cgroup *memcg);
unsigned int memcg_dirty_last_folio(void);
void memcg_dirty_pass(struct mem_cgroup *memcg, unsigned int nr_pages);
void memcg_dirty_take_back(struct mem_cgroup *memcg, unsigned int nr_pages);
void memcg_dirty_pledge(struct mem_cgroup *memcg, int nr_pages);
unsigned long memcg_dirty_tolerance(unsigned long limit);
unsigned int memcg_dirty_batch(unsigned long limit, unsigned int nr_cpus,
			       unsigned int nr_cgroups);
unsigned long memcg_dirty_error(unsigned int batch, unsigned int nr_cpus,
				unsigned int nr_cgroups);
unsigned long memcg_dirty_total(const struct mem_cgroup *memcg);
unsigned long memcg_dirty_dirty(const struct mem_cgroup *memcg);
unsigned long memcg_dirty_restart_peak(struct mem_cgroup *memcg,
				       unsigned long total);
long memcg_dirty_take_written(struct mem_cgroup *memcg);
void memcg_dirty_note(struct mem_cgroup *memcg, long total);
void memcg_dirty_update_dirty(struct mem_cgroup *memcg, long nr_pages);
void memcg_dirty_update_writeback(struct mem_cgroup *memcg);
void memcg_dirty_fold_all(struct mem_cgroup *memcg);

/**
 * struct memcg_dirty_last - the folio that was dirtied last under a limit
 * @task: the task that dirtied it; only compared
 * @nr_pages: its size
 */
struct memcg_dirty_last {
	const struct task_struct *task;
	unsigned int nr_pages;
};

DECLARE_PER_CPU(struct memcg_dirty_last, memcg_dirty_last);

/*
 * Must the size of a folio be recorded, of which @nr_pages have become dirty? That of a
 * single page must be after a large folio on the same CPU.
 */
static __always_inline bool memcg_dirty_must_record(long nr_pages)
{
	return nr_pages > 1 ||
	       (nr_pages == 1 && this_cpu_read(memcg_dirty_last.nr_pages) > 1);
}

/*
 * Has an update of @nr_pages taken the sum of this CPU to another multiple of the
 * batch? A sum that alternates between two values there is folded each time: with a
 * batch of 64, pages do that at one sum of 64, and larger folios at more. Where
 * updates are made with interrupts enabled, an interrupt may hide a multiple: then
 * the CPU holds back up to a batch more until its sum gets to the next one. A batch
 * of one page hides nothing.
 */
static __always_inline bool memcg_dirty_must_fold(const struct memcg_dirty *dirty,
						  enum memcg_dirty_item item,
						  long nr_pages)
{
	long sum = this_cpu_read(dirty->sum[item]);

	return (int)(sum ^ (sum - nr_pages)) & READ_ONCE(dirty->fold_mask);
}

/**
 * memcg_dirty_update - have the counts follow a memory cgroup's statistics
 * @memcg: the memory cgroup, whose statistics have just changed
 * @idx: the item that has changed; limits count two items and ignore the others
 * @nr_pages: the change, in pages
 *
 * __mod_memcg_lruvec_state() calls this after each change of a statistic, on the
 * same CPU. On kernels that move the statistics of a removed cgroup to its parent,
 * __mod_memcg_state() calls it as well. It is a branch until memcg_dirty_enabled()
 * is true. Then each page gets here two or four times. Most updates need no call, and
 * about 13 instructions.
 *
 * Context: any, with preemption disabled.
 */
static __always_inline void memcg_dirty_update(struct mem_cgroup *memcg,
					       int idx, long nr_pages)
{
	if (!memcg_dirty_enabled())
		return;
	if (idx == NR_FILE_DIRTY) {
		if (memcg_dirty_must_fold(&memcg->dirty, MEMCG_DIRTY, nr_pages) ||
		    memcg_dirty_must_record(nr_pages))
			memcg_dirty_update_dirty(memcg, nr_pages);
	} else if (idx == NR_WRITEBACK) {
		if (nr_pages < 0 && memcg_dirty_is_limited(memcg))
			atomic_long_sub(nr_pages, &memcg->dirty.written);
		if (memcg_dirty_must_fold(&memcg->dirty, MEMCG_WRITEBACK, nr_pages))
			memcg_dirty_update_writeback(memcg);
	}
}

/* Limits: memcg_dirty_limit.c */

/* A setting that is no limit. In pages, as a limit in bytes is kept. */
#define MEMCG_DIRTY_UNSET	((long)PAGE_COUNTER_MAX)

unsigned long memcg_dirty_part(unsigned long nr_pages, unsigned long part,
			       unsigned long whole);
long memcg_dirty_setting(const struct mem_cgroup *memcg,
			 enum memcg_dirty_limit which);
bool memcg_dirty_path_set(struct mem_cgroup *memcg);
unsigned long memcg_dirty_explicit(struct mem_cgroup *memcg);
unsigned long memcg_dirty_room(struct mem_cgroup *memcg);
unsigned long memcg_dirty_system_floor(void);
unsigned long memcg_dirty_own_error(const struct mem_cgroup *memcg);
void memcg_dirty_apply(struct mem_cgroup *memcg);
void memcg_dirty_refresh(struct mem_cgroup *memcg);
void memcg_dirty_adapt_later(void);
void memcg_dirty_enable(void);
bool memcg_dirty_set(struct mem_cgroup *memcg, enum memcg_dirty_limit which,
		     long *old, long setting);
void memcg_dirty_set_floor(struct mem_cgroup *memcg, unsigned long floor);

/* Shares of a limit: memcg_dirty_share.c */

void memcg_dirty_mark_active(struct mem_cgroup *memcg);
void memcg_dirty_credit(struct mem_cgroup *memcg);

/**
 * struct memcg_dirty_share - the part of a limit that a descendant may use
 * @earned: in pages; follows completed writeback
 * @equal: in pages, if the limit is divided equally at each level
 */
struct memcg_dirty_share {
	unsigned long earned;
	unsigned long equal;
};

unsigned int memcg_dirty_nr_heavy(struct mem_cgroup *memcg,
				  struct mem_cgroup *limited,
				  unsigned long equal);
bool memcg_dirty_leaves_room(struct mem_cgroup *memcg,
			     struct mem_cgroup *limited, unsigned long thresh,
			     unsigned long slack);
void memcg_dirty_find_share(struct mem_cgroup *memcg,
			    struct mem_cgroup *limited, unsigned long thresh,
			    struct memcg_dirty_share *share);

/* Floors: memcg_dirty_floor.c */

struct mem_cgroup *memcg_dirty_next_floor(struct mem_cgroup *pos,
					  struct mem_cgroup *memcg,
					  unsigned long *floor);
unsigned long memcg_dirty_effective_floor(struct mem_cgroup *memcg);
bool memcg_dirty_below_floor(struct mem_cgroup *memcg, unsigned long part,
			     unsigned long whole);

/* Throttling and writeback: memcg_dirty_wb.c */

struct mem_cgroup *memcg_dirty_find_binding(struct mem_cgroup *memcg,
					    unsigned int *levels,
					    unsigned long *background);
void memcg_dirty_flush_subtree(struct mem_cgroup *memcg);

#else

static inline void memcg_dirty_update(struct mem_cgroup *memcg, int idx,
				      long nr_pages)
{
}

#endif /* CONFIG_MEMCG_DIRTY_LIMIT */

#endif /* _MM_MEMCG_DIRTY_H */
