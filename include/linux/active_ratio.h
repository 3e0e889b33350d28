/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Share of file pages that is protected as active: the interface for reclaim
 *
 *	both LRUs, mm/vmscan.c, but for global reclaim on the multi-gen LRU
 *		shrink_node()			active_ratio_prepare()
 *	classic LRU, mm/vmscan.c
 *		shrink_list()			active_ratio_deactivate()
 *		prepare_scan_control()		active_ratio_inactive_is_low(),
 *						active_ratio_inactive()
 *		shrink_lruvec()			active_ratio_scan()
 *	classic LRU, mm/workingset.c
 *		workingset_eviction()		active_ratio_eviction_lruvec()
 *		workingset_test_recent()	active_ratio_reach()
 *	multi-gen LRU, mm/vmscan.c
 *		sort_folio()			active_ratio_protect()
 *		evict_folios()			active_ratio_trim(),
 *						active_ratio_refill()
 *		scan_folios()			active_ratio_sorted(), by version
 *		should_run_aging()		active_ratio_kept() or, by version,
 *						active_ratio_lets_age()
 *		should_run_aging() or, by version,
 *		get_nr_to_scan()		active_ratio_needs_aging()
 *	multi-gen LRU, mm/workingset.c
 *		lru_gen_eviction()		active_ratio_evicted()
 *		lru_gen_refault(),		active_ratio_recent()
 *		workingset_test_recent()
 *
 * Each call answers as the kernel's own rule would while no ratio is set. Until
 * the first one is set, it costs a static branch.
 * Documentation/mm/active_ratio.rst explains how it works.
 */
#ifndef _LINUX_ACTIVE_RATIO_H
#define _LINUX_ACTIVE_RATIO_H

#include <linux/jump_label.h>
#include <linux/mmzone.h>
#include <linux/types.h>

struct folio;
struct mem_cgroup;

#ifdef CONFIG_ACTIVE_RATIO

DECLARE_STATIC_KEY_FALSE(active_ratio_key);

bool __active_ratio_governs(struct lruvec *lruvec);
unsigned long __active_ratio_deactivate(struct lruvec *lruvec,
					struct mem_cgroup *memcg, int priority,
					unsigned long nr);
void __active_ratio_prepare(struct lruvec *target);
void __active_ratio_scan(struct lruvec *lruvec, struct mem_cgroup *memcg,
			 int priority, unsigned long *nr);
struct lruvec *__active_ratio_eviction_lruvec(struct lruvec *target,
					      struct folio *folio);
unsigned long __active_ratio_reach(struct lruvec *lruvec, unsigned long pages);

/**
 * active_ratio_governs - does a ratio apply to this list of pages?
 * @lruvec: the lists
 * @file: those of file pages, rather than anonymous ones
 *
 * Return: %false if the kernel's own rule decides.
 */
static inline bool active_ratio_governs(struct lruvec *lruvec, bool file)
{
	return static_branch_unlikely(&active_ratio_key) && file &&
	       __active_ratio_governs(lruvec);
}

/**
 * active_ratio_prepare - sum up the cgroups below one that reclaim starts from
 * @target: lists of the cgroup, or node, whose subtree is reclaimed from
 *
 * Context: may sleep.
 */
static inline void active_ratio_prepare(struct lruvec *target)
{
	if (static_branch_unlikely(&active_ratio_key))
		__active_ratio_prepare(target);
}

/**
 * active_ratio_deactivate - the number of active pages of an lruvec to scan
 * @lruvec: the lists
 * @memcg: the memory cgroup whose subtree is reclaimed from; %NULL for the root
 * @priority: of reclaim, which falls while reclaim finds too little
 * @file: those of file pages, rather than anonymous ones
 * @force: reclaim has failed without deactivating
 * @may: the kernel's own rule allows their deactivation
 * @nr: the number that reclaim asks for
 *
 * Return: with a ratio, the number of active pages above it, within bounds;
 * else @nr or 0.
 */
static inline unsigned long active_ratio_deactivate(struct lruvec *lruvec,
						    struct mem_cgroup *memcg,
						    int priority, bool file,
						    bool force, bool may,
						    unsigned long nr)
{
	if (force || !active_ratio_governs(lruvec, file))
		return may ? nr : 0;
	return __active_ratio_deactivate(lruvec, memcg, priority, nr);
}

/**
 * active_ratio_inactive_is_low - are inactive file pages low for reclaim?
 * @target: lists of the cgroup, or node, whose subtree is reclaimed from
 * @otherwise: the decision of the kernel's own rule
 *
 * Return: @otherwise; %false if they are low only because of ratios.
 */
static inline bool active_ratio_inactive_is_low(struct lruvec *target,
						bool otherwise)
{
	if (!otherwise || !static_branch_unlikely(&active_ratio_key))
		return otherwise;
	return !READ_ONCE(target->active_ratio.held);
}

/**
 * active_ratio_inactive - the number of inactive file pages without ratios
 * @target: lists of the cgroup, or node, whose subtree is reclaimed from
 * @inactive: the number that there is
 *
 * Return: @inactive, plus the pages that are active because of ratios.
 */
static inline unsigned long active_ratio_inactive(struct lruvec *target,
						  unsigned long inactive)
{
	if (!static_branch_unlikely(&active_ratio_key))
		return inactive;
	return inactive + READ_ONCE(target->active_ratio.held);
}

/**
 * active_ratio_scan - divide a scan of file pages between the two lists
 * @lruvec: the lists
 * @memcg: the memory cgroup whose subtree is reclaimed from; %NULL for the root
 * @priority: of reclaim, which falls while reclaim finds too little
 * @nr: the number of pages to scan of each list
 */
static inline void active_ratio_scan(struct lruvec *lruvec,
				     struct mem_cgroup *memcg, int priority,
				     unsigned long *nr)
{
	if (active_ratio_governs(lruvec, true))
		__active_ratio_scan(lruvec, memcg, priority, nr);
}

/**
 * active_ratio_eviction_lruvec - the lists that count the eviction of a folio
 * @target: lists of the cgroup, or node, whose subtree is reclaimed from
 * @folio: the folio being evicted
 *
 * Return: with a ratio, the folio's own lists; @target otherwise.
 */
static inline struct lruvec *active_ratio_eviction_lruvec(struct lruvec *target,
							  struct folio *folio)
{
	return static_branch_unlikely(&active_ratio_key) ?
		__active_ratio_eviction_lruvec(target, folio) : target;
}

/**
 * active_ratio_reach - the refault distance up to which a page is activated
 * @lruvec: the lists that the page was evicted from
 * @file: those of file pages, rather than anonymous ones
 * @otherwise: the distance by the kernel's own rule, in pages evicted since
 *
 * Return: @otherwise; with a ratio, the number of file pages if that is more,
 * while there is room below the ratio.
 */
static inline unsigned long active_ratio_reach(struct lruvec *lruvec, bool file,
					       unsigned long otherwise)
{
	if (!active_ratio_governs(lruvec, file))
		return otherwise;
	return __active_ratio_reach(lruvec, otherwise);
}

#else /* !CONFIG_ACTIVE_RATIO */

static inline bool active_ratio_governs(struct lruvec *lruvec, bool file)
{
	return false;
}

static inline void active_ratio_prepare(struct lruvec *target)
{
}

static inline unsigned long active_ratio_deactivate(struct lruvec *lruvec,
						    struct mem_cgroup *memcg,
						    int priority, bool file,
						    bool force, bool may,
						    unsigned long nr)
{
	return may ? nr : 0;
}

static inline bool active_ratio_inactive_is_low(struct lruvec *target,
						bool otherwise)
{
	return otherwise;
}

static inline unsigned long active_ratio_inactive(struct lruvec *target,
						  unsigned long inactive)
{
	return inactive;
}

static inline void active_ratio_scan(struct lruvec *lruvec,
				     struct mem_cgroup *memcg, int priority,
				     unsigned long *nr)
{
}

static inline struct lruvec *active_ratio_eviction_lruvec(struct lruvec *target,
							  struct folio *folio)
{
	return target;
}

static inline unsigned long active_ratio_reach(struct lruvec *lruvec, bool file,
					       unsigned long otherwise)
{
	return otherwise;
}

#endif /* CONFIG_ACTIVE_RATIO */

#if defined(CONFIG_ACTIVE_RATIO) && defined(CONFIG_LRU_GEN)

bool active_ratio_protect(struct lruvec *lruvec, struct mem_cgroup *memcg,
			  int priority, struct folio *folio, int tier);
void __active_ratio_trim(struct lruvec *lruvec, struct mem_cgroup *memcg,
			 int priority, int highest);
bool __active_ratio_refill(struct lruvec *lruvec, struct mem_cgroup *memcg,
			   int priority, int highest);
unsigned long __active_ratio_kept(struct lruvec *lruvec);
bool __active_ratio_needs_aging(struct lruvec *lruvec);
unsigned long __active_ratio_evicted(struct lruvec *lruvec, bool file,
				     long nr_pages, unsigned long token,
				     unsigned long mask);
bool __active_ratio_recent(struct lruvec *lruvec, bool file,
			   unsigned long evicted, unsigned long mask,
			   bool otherwise);

/**
 * active_ratio_trim - demote file pages in excess of a ratio
 * @lruvec: the lists
 * @memcg: the memory cgroup whose subtree is reclaimed from; %NULL for the root
 * @priority: of reclaim, which falls while reclaim finds too little
 * @highest: the highest zone that reclaim may take pages from
 *
 * Context: lru_lock is held.
 */
static inline void active_ratio_trim(struct lruvec *lruvec,
				     struct mem_cgroup *memcg, int priority,
				     int highest)
{
	if (active_ratio_governs(lruvec, true))
		__active_ratio_trim(lruvec, memcg, priority, highest);
}

/**
 * active_ratio_refill - leave pages to evict, even protected ones
 * @lruvec: the lists
 * @memcg: the memory cgroup whose subtree is reclaimed from; %NULL for the root
 * @priority: of reclaim, which falls while reclaim finds too little
 * @highest: the highest zone that reclaim may take pages from
 *
 * Context: lru_lock is held.
 * Return: %true if the eviction has taken what the cgroup had to give, and
 * should go on with another one.
 */
static inline bool active_ratio_refill(struct lruvec *lruvec,
				       struct mem_cgroup *memcg, int priority,
				       int highest)
{
	return active_ratio_governs(lruvec, true) &&
	       __active_ratio_refill(lruvec, memcg, priority, highest);
}

/**
 * active_ratio_sorted - has the eviction moved pages up instead of taking them?
 * @lruvec: the lists
 * @file: those of file pages, rather than anonymous ones
 * @sorted: the number of pages that it has moved, without those of zones that
 *	it may not take pages from
 *
 * For kernels that turn to the other kind of pages if a scan has taken none.
 *
 * Return: %true if a ratio has it move them, so that the scan was no failure.
 */
static inline bool active_ratio_sorted(struct lruvec *lruvec, bool file,
				       int sorted)
{
	return sorted && active_ratio_governs(lruvec, file);
}

/**
 * active_ratio_kept - pages that a ratio keeps from aging
 * @lruvec: the lists
 *
 * Return: the number of pages; 0 without a ratio.
 */
static inline unsigned long active_ratio_kept(struct lruvec *lruvec)
{
	return active_ratio_governs(lruvec, true) ?
		__active_ratio_kept(lruvec) : 0;
}

/**
 * active_ratio_lets_age - may the aging run before the eviction needs it?
 * @lruvec: the lists
 * @level: the kinds of pages to evict have the same oldest generation
 *
 * For kernels that age while there is still one generation to evict from.
 *
 * Return: %false if the ratio keeps pages from aging, and @level.
 */
static inline bool active_ratio_lets_age(struct lruvec *lruvec, bool level)
{
	return !level || !active_ratio_kept(lruvec);
}

/**
 * active_ratio_needs_aging - does reclaim need a new generation because of a ratio?
 * @lruvec: the lists
 * @anon: reclaim may choose anonymous pages
 *
 * Return: %true if file pages are evicted and read again in turn, as a ratio keeps
 * all anonymous pages young.
 */
static inline bool active_ratio_needs_aging(struct lruvec *lruvec, bool anon)
{
	return active_ratio_governs(lruvec, anon) &&
	       __active_ratio_needs_aging(lruvec);
}

/**
 * active_ratio_evicted - the contents of a shadow entry, with the time
 * @lruvec: the lists that a folio is evicted from
 * @file: it is a file folio
 * @nr_pages: its size
 * @token: the contents without a ratio: the oldest generation is the time
 * @mask: the bits that the entry has room for
 *
 * Return: with a ratio, @token with a time for active_ratio_recent(); else
 * @token.
 */
static inline unsigned long active_ratio_evicted(struct lruvec *lruvec,
						 bool file, long nr_pages,
						 unsigned long token,
						 unsigned long mask)
{
	return static_branch_unlikely(&active_ratio_key) ?
		__active_ratio_evicted(lruvec, file, nr_pages, token, mask) :
		token;
}

/**
 * active_ratio_recent - could a folio that was evicted have been kept?
 * @lruvec: the lists that it was evicted from
 * @file: it is a file folio
 * @evicted: the time in the value of active_ratio_evicted()
 * @mask: the bits that a shadow entry has for the time
 * @otherwise: the decision of the kernel's own rule
 *
 * Return: with a ratio, %true if no more pages were evicted since than there
 * are file pages; else @otherwise.
 */
static inline bool active_ratio_recent(struct lruvec *lruvec, bool file,
				       unsigned long evicted,
				       unsigned long mask, bool otherwise)
{
	return static_branch_unlikely(&active_ratio_key) ?
		__active_ratio_recent(lruvec, file, evicted, mask, otherwise) :
		otherwise;
}

#else

static inline bool active_ratio_protect(struct lruvec *lruvec,
					struct mem_cgroup *memcg, int priority,
					struct folio *folio, int tier)
{
	return false;
}

static inline void active_ratio_trim(struct lruvec *lruvec,
				     struct mem_cgroup *memcg, int priority,
				     int highest)
{
}

static inline bool active_ratio_refill(struct lruvec *lruvec,
				       struct mem_cgroup *memcg, int priority,
				       int highest)
{
	return false;
}

static inline bool active_ratio_sorted(struct lruvec *lruvec, bool file,
				       int sorted)
{
	return false;
}

static inline unsigned long active_ratio_kept(struct lruvec *lruvec)
{
	return 0;
}

static inline bool active_ratio_lets_age(struct lruvec *lruvec, bool level)
{
	return true;
}

static inline bool active_ratio_needs_aging(struct lruvec *lruvec, bool anon)
{
	return false;
}

static inline unsigned long active_ratio_evicted(struct lruvec *lruvec,
						 bool file, long nr_pages,
						 unsigned long seq,
						 unsigned long mask)
{
	return seq;
}

static inline bool active_ratio_recent(struct lruvec *lruvec, bool file,
				       unsigned long evicted,
				       unsigned long mask, bool otherwise)
{
	return otherwise;
}

#endif /* CONFIG_ACTIVE_RATIO && CONFIG_LRU_GEN */

#if defined(CONFIG_ACTIVE_RATIO) && defined(CONFIG_MEMCG)

void active_ratio_memcg_init(struct mem_cgroup *memcg);
void active_ratio_memcg_reset(struct mem_cgroup *memcg);

#else

static inline void active_ratio_memcg_init(struct mem_cgroup *memcg)
{
}

static inline void active_ratio_memcg_reset(struct mem_cgroup *memcg)
{
}

#endif /* CONFIG_ACTIVE_RATIO && CONFIG_MEMCG */

#endif /* _LINUX_ACTIVE_RATIO_H */
