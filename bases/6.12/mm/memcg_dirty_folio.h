/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dirty page limits of memory cgroups: updates, where the memory cgroup of a
 * folio cannot change between the count and the statistics.
 */
#ifndef _MM_MEMCG_DIRTY_FOLIO_H
#define _MM_MEMCG_DIRTY_FOLIO_H

#include "memcg_dirty.h"

#ifdef CONFIG_MEMCG_DIRTY_LIMIT

/* A folio of the page cache is charged directly: no need for folio_memcg(). */
static __always_inline void __memcg_dirty_account(struct folio *folio,
						  enum memcg_dirty_item item,
						  long nr_pages)
{
	if (likely(folio_memcg_charged(folio)))
		memcg_dirty_account(__folio_memcg(folio), item, nr_pages);
}

/**
 * __memcg_dirty_mod_folio - count a folio that becomes dirty or clean
 * @folio: a folio of the page cache; its memory cgroup cannot change
 * @idx: NR_FILE_DIRTY or NR_WRITEBACK, a constant
 * @nr_pages: the change, in pages
 *
 * All changes of the two items are made by this function and the following
 * ones, for limits to know of them. No other item pays for that.
 *
 * Context: interrupts are disabled, but on PREEMPT_RT, where the two do not
 * change in interrupts.
 */
static __always_inline void __memcg_dirty_mod_folio(struct folio *folio,
						    enum node_stat_item idx,
						    long nr_pages)
{
	preempt_disable_nested();
	if (memcg_dirty_limited())
		__memcg_dirty_account(folio, idx == NR_FILE_DIRTY ?
					     MEMCG_DIRTY : MEMCG_WRITEBACK,
				      nr_pages);
	__lruvec_stat_mod_folio(folio, idx, nr_pages);
	preempt_enable_nested();
}

/**
 * memcg_dirty_mod_folio - __memcg_dirty_mod_folio() with interrupts enabled
 * @folio: a folio of the page cache; its memory cgroup cannot change
 * @idx: NR_FILE_DIRTY or NR_WRITEBACK, a constant
 * @nr_pages: the change, in pages
 *
 * Context: any.
 */
static __always_inline void memcg_dirty_mod_folio(struct folio *folio,
						  enum node_stat_item idx,
						  long nr_pages)
{
	unsigned long flags;

	local_irq_save(flags);
	__memcg_dirty_mod_folio(folio, idx, nr_pages);
	local_irq_restore(flags);
}

/**
 * memcg_dirty_mod_lruvec - count pages that move from or to a lruvec
 * @lruvec: the lruvec
 * @idx: NR_FILE_DIRTY or NR_WRITEBACK, a constant
 * @nr_pages: the change, in pages; an int, as callers negate what is unsigned
 *
 * Context: as for __memcg_dirty_mod_folio().
 */
static inline void memcg_dirty_mod_lruvec(struct lruvec *lruvec,
					  enum node_stat_item idx, int nr_pages)
{
	preempt_disable_nested();
	if (memcg_dirty_limited())
		memcg_dirty_count(lruvec_memcg(lruvec), idx == NR_FILE_DIRTY ?
				  MEMCG_DIRTY : MEMCG_WRITEBACK, nr_pages);
	__mod_lruvec_state(lruvec, idx, nr_pages);
	preempt_enable_nested();
}

#else /* CONFIG_MEMCG_DIRTY_LIMIT */

static inline void __memcg_dirty_mod_folio(struct folio *folio,
					   enum node_stat_item idx,
					   long nr_pages)
{
	__lruvec_stat_mod_folio(folio, idx, nr_pages);
}

static inline void memcg_dirty_mod_folio(struct folio *folio,
					 enum node_stat_item idx, long nr_pages)
{
	lruvec_stat_mod_folio(folio, idx, nr_pages);
}

static inline void memcg_dirty_mod_lruvec(struct lruvec *lruvec,
					  enum node_stat_item idx, int nr_pages)
{
	__mod_lruvec_state(lruvec, idx, nr_pages);
}

#endif /* CONFIG_MEMCG_DIRTY_LIMIT */

#endif /* _MM_MEMCG_DIRTY_FOLIO_H */
