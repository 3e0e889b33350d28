/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Share of file pages that is protected as active: what reclaim calls.
 *
 * Documentation/mm/active_ratio.rst explains how it works.
 */
#ifndef _LINUX_ACTIVE_RATIO_H
#define _LINUX_ACTIVE_RATIO_H

#include <linux/jump_label.h>
#include <linux/mmzone.h>
#include <linux/types.h>

struct folio;
struct mem_cgroup;

/**
 * enum active_ratio_refault - counts of refaults that a ratio has a part in
 * @ACTIVE_RATIO_ACTIVATED: of file pages that became active
 * @ACTIVE_RATIO_RESTORED: of those that had been active before their eviction
 */
enum active_ratio_refault {
	ACTIVE_RATIO_ACTIVATED,
	ACTIVE_RATIO_RESTORED,
};

#ifdef CONFIG_ACTIVE_RATIO

DECLARE_STATIC_KEY_FALSE(active_ratio_key);

bool __active_ratio_governs(struct lruvec *lruvec);
unsigned long __active_ratio_deactivate(struct lruvec *lruvec, unsigned long nr);
bool __active_ratio_inactive_is_low(struct lruvec *target);
unsigned long __active_ratio_held(struct lruvec *target);
bool __active_ratio_refault(struct lruvec *lruvec, enum active_ratio_refault kind,
			    long nr_pages);
unsigned long active_ratio_other_refaults(struct lruvec *lruvec,
					  enum active_ratio_refault kind,
					  unsigned long refaults);
void __active_ratio_scan(struct lruvec *lruvec, unsigned long *nr);
struct lruvec *__active_ratio_eviction_lruvec(struct lruvec *target,
					      struct folio *folio);
unsigned long __active_ratio_reach(struct lruvec *lruvec, unsigned long pages);

/**
 * active_ratio_governs - is this list of pages held to a ratio?
 * @lruvec: the lists
 * @file: those of file pages, rather than anonymous ones
 *
 * Return: %false as long as the kernel's own rule is to decide.
 */
static inline bool active_ratio_governs(struct lruvec *lruvec, bool file)
{
	return static_branch_unlikely(&active_ratio_key) && file &&
	       __active_ratio_governs(lruvec);
}

/**
 * active_ratio_deactivate - how many active pages of an lruvec to scan
 * @lruvec: the lists
 * @file: those of file pages, rather than anonymous ones
 * @force: reclaim has failed without deactivating
 * @may: the kernel's own rule lets them be deactivated
 * @nr: as many as reclaim asks for
 *
 * Return: with a ratio, as many as there are above it, within bounds; else @nr
 * or nothing.
 */
static inline unsigned long active_ratio_deactivate(struct lruvec *lruvec,
						    bool file, bool force,
						    bool may, unsigned long nr)
{
	if (force || !active_ratio_governs(lruvec, file))
		return may ? nr : 0;
	return __active_ratio_deactivate(lruvec, nr);
}

/**
 * active_ratio_inactive_is_low - are inactive file pages low for a reclaimer?
 * @target: lists of the cgroup, or node, whose subtree is reclaimed from
 * @otherwise: what the kernel's own rule says
 *
 * Return: with ratios, %false as well if it is for them that it says so.
 */
static inline bool active_ratio_inactive_is_low(struct lruvec *target,
						bool otherwise)
{
	if (!otherwise || !static_branch_unlikely(&active_ratio_key))
		return otherwise;
	return __active_ratio_inactive_is_low(target);
}

/**
 * active_ratio_inactive - inactive file pages, as many as without ratios
 * @target: lists of the cgroup, or node, whose subtree is reclaimed from
 * @inactive: as many as there are
 *
 * Return: with ratios, @inactive and those that they keep active.
 */
static inline unsigned long active_ratio_inactive(struct lruvec *target,
						  unsigned long inactive)
{
	if (!static_branch_unlikely(&active_ratio_key))
		return inactive;
	return inactive + __active_ratio_held(target);
}

/**
 * active_ratio_refault - is a refault the doing of a ratio?
 * @lruvec: lists of the cgroup that has the pages
 * @file: they are file pages
 * @kind: the count of refaults that they are added to
 * @nr_pages: how many
 *
 * Return: %true if it is not to count for how much anonymous memory is reclaimed.
 */
static inline bool active_ratio_refault(struct lruvec *lruvec, bool file,
					enum active_ratio_refault kind,
					long nr_pages)
{
	return active_ratio_governs(lruvec, file) &&
	       __active_ratio_refault(lruvec, kind, nr_pages);
}

/**
 * active_ratio_scan - divide a scan of file pages between the two lists
 * @lruvec: the lists
 * @nr: how many pages of each list are to be scanned
 */
static inline void active_ratio_scan(struct lruvec *lruvec, unsigned long *nr)
{
	if (active_ratio_governs(lruvec, true))
		__active_ratio_scan(lruvec, nr);
}

/**
 * active_ratio_eviction_lruvec - where to count the eviction of a folio
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
 * active_ratio_reach - how recently was a page evicted that is to be active?
 * @lruvec: the lists that it was evicted from
 * @file: those of file pages, rather than anonymous ones
 * @otherwise: what the kernel's own rule says, in pages evicted since
 *
 * Return: with a ratio, the number of file pages while there is room below it.
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

static inline unsigned long active_ratio_deactivate(struct lruvec *lruvec,
						    bool file, bool force,
						    bool may, unsigned long nr)
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

static inline bool active_ratio_refault(struct lruvec *lruvec, bool file,
					enum active_ratio_refault kind,
					long nr_pages)
{
	return false;
}

static inline unsigned long
active_ratio_other_refaults(struct lruvec *lruvec,
			    enum active_ratio_refault kind,
			    unsigned long refaults)
{
	return refaults;
}

static inline void active_ratio_scan(struct lruvec *lruvec, unsigned long *nr)
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

bool active_ratio_protect(struct lruvec *lruvec, struct folio *folio, int tier);
void __active_ratio_trim(struct lruvec *lruvec);
void __active_ratio_refill(struct lruvec *lruvec);
unsigned long __active_ratio_kept(struct lruvec *lruvec);
unsigned long __active_ratio_evicted(struct lruvec *lruvec, bool file,
				     long nr_pages, unsigned long token,
				     unsigned long mask);
bool __active_ratio_recent(struct lruvec *lruvec, bool file,
			   unsigned long evicted, unsigned long mask,
			   bool otherwise);

/**
 * active_ratio_trim - let file pages age that are more than a ratio protects
 * @lruvec: the lists
 *
 * Context: lru_lock is held.
 */
static inline void active_ratio_trim(struct lruvec *lruvec)
{
	if (active_ratio_governs(lruvec, true))
		__active_ratio_trim(lruvec);
}

/**
 * active_ratio_refill - leave something to evict, even of what is protected
 * @lruvec: the lists
 *
 * Context: lru_lock is held.
 */
static inline void active_ratio_refill(struct lruvec *lruvec)
{
	if (active_ratio_governs(lruvec, true))
		__active_ratio_refill(lruvec);
}

/**
 * active_ratio_kept - pages of which a ratio wants that they do not age
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
 * active_ratio_lets_age - may aging be run before eviction asks for it?
 * @lruvec: the lists
 * @level: no other kind of pages is behind that are to be evicted too
 *
 * For kernels that age when there is one generation above the active ones.
 *
 * Return: %false if there are pages of which a ratio wants that they do not age.
 */
static inline bool active_ratio_lets_age(struct lruvec *lruvec, bool level)
{
	return !level || !active_ratio_kept(lruvec);
}

/**
 * active_ratio_evicted - what a shadow entry is to remember the time by
 * @lruvec: the lists that a folio is evicted from
 * @file: it is a file folio
 * @nr_pages: its size
 * @token: what the entry has without a ratio, with the oldest generation as the
 *	time
 * @mask: of the bits that the entry has room for
 *
 * Return: with a ratio, @token with a time for active_ratio_recent() in it;
 * @token otherwise.
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
 * @evicted: the time in what active_ratio_evicted() said
 * @mask: of the bits that the entry has room for it
 * @otherwise: what the kernel's own rule says
 *
 * Return: with a ratio, %true if fewer pages were evicted since than there are
 * file pages.
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
					struct folio *folio, int tier)
{
	return false;
}

static inline void active_ratio_trim(struct lruvec *lruvec)
{
}

static inline void active_ratio_refill(struct lruvec *lruvec)
{
}

static inline unsigned long active_ratio_kept(struct lruvec *lruvec)
{
	return 0;
}

static inline bool active_ratio_lets_age(struct lruvec *lruvec, bool level)
{
	return true;
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
