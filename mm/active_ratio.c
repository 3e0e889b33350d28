// SPDX-License-Identifier: GPL-2.0
/*
 * Share of file pages that is protected as active
 *
 * The kernel keeps file pages that were used again apart from those that were
 * read once, so that a stream leaves the working set alone. How many it keeps
 * so follows from the size of the lists and from refaults. Neither knows what
 * the pages are worth: a backup that reads every file twice looks like a
 * working set, and a working set that is read every few seconds looks like
 * use-once data to a disk that fills memory in one.
 *
 * vm.active_inactive_ratio and memory.active_inactive_ratio say it instead: so
 * many percent of the file pages of an lruvec are protected as active. The
 * default leaves all decisions with the kernel, behind a static key.
 *
 *
 *		Classic LRU
 *
 * Active file folios are deactivated while more of the lruvec's file pages are
 * active than the ratio protects, and only then. Refaults, upon which the
 * kernel's own rule deactivates whatever the size of the lists, no longer do:
 * they activate, and what they displace is the oldest of the active list. While
 * fewer are active than the ratio protects, a folio that is read again before
 * as many pages were evicted as the lruvec has file pages is activated, even if
 * that is more than are active. Both counts are those of the cgroup that the
 * folio belongs to, where the kernel's own rule takes those of the cgroup whose
 * limit is to be kept: a cgroup has its ratio also in a reclaim from all.
 *
 * Reclaim scans both lists in proportion to their sizes. With a ratio below the
 * kernel's own share, less would be deactivated than can become active meanwhile:
 * as many active pages are scanned as inactive ones then. With a ratio above it,
 * the inactive list is shorter than without one, and would be scanned less, up
 * to a priority at which anonymous memory goes as well: it is scanned as if it
 * had its size of before. A few pages are never protected, so that reclaim has
 * something to scan at any ratio.
 *
 * A ratio only chooses between file pages. What reclaim takes of anonymous
 * memory follows from the refaults of file pages, the length of their inactive
 * list, and whether active file pages have to be deactivated. So reclaim is
 * shown these as they would be without a ratio: pages that are active above the
 * kernel's own share count as inactive, and while a ratio protects less than that
 * share, the refaults in question are taken for its doing.
 *
 *
 *		Multi-gen LRU
 *
 * Protected are the two youngest generations, which is what the statistics
 * call active. Folios that are mapped get there by the aging, which is left as
 * it is. Folios that are read through file descriptors stay in the oldest
 * generation until the eviction meets them, and then move up or not. This is
 * the place of the ratio:
 *
 *   - A file folio that was used again since it got to the oldest generation
 *     moves to the second youngest, as long as there is room below the ratio.
 *     How the refaults of tiers compare, by which the kernel's own rule
 *     decides, does not matter.
 *
 *   - Without room, it competes with the tail of the second youngest: if that
 *     was not used since it got there, it is evicted in place of the newcomer.
 *     If it was, it goes round once more, and the newcomer is evicted. So a
 *     stale working set gives way at the pace at which a new one shows up, one
 *     that is larger than the ratio does not push itself out, and reclaim gets
 *     something of each two folios that it looks at.
 *
 *   - Above the ratio, because it was lowered or because file pages became
 *     fewer, the tail of the second youngest generation moves back to the
 *     oldest. What was used meanwhile may win its place again.
 *
 *   - Of four generations, the eviction would not look at the second oldest as
 *     long as use-once data arrives in the oldest. What is in it would be
 *     protected too, so it moves to the oldest, and keeps note of its use.
 *
 *   - The aging moves whole generations, and starts when the oldest holds too
 *     little. What the ratio protects is no reason to. When the eviction has
 *     left nothing that is not protected, the tail of the second youngest
 *     generation moves to the oldest, rather than all of it at once.
 *
 * In the short time that a generation takes to pass when a lot is streamed,
 * most working sets are not seen twice. Their refaults tell: as on the classic
 * LRU, a shadow entry has the number of pages evicted so far in place of the
 * generation, and a folio that is read again before as many were evicted as
 * the lruvec has file pages counts as used again. Entries from before the
 * ratio was set, or after it was unset, or from before lru_gen was switched,
 * are taken for another time; this spoils a decision each, once.
 *
 * All of it depends on what is in the lists at the moment of the decision, so
 * there is nothing to convert when a ratio changes, or when lru_gen does.
 */

#include <linux/active_ratio.h>
#include <linux/cgroup.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/swap.h>
#include <linux/sysctl.h>
#include <linux/vmstat.h>

#include "internal.h"

/* No ratio: the kernel's own rule, or for a cgroup, that of its parent. */
#define ACTIVE_RATIO_DEFAULT	(-1)
#define ACTIVE_RATIO_MAX	100

/* At most so many folios are moved, or looked at, for one that asks. */
#define ACTIVE_RATIO_BATCH	SWAP_CLUSTER_MAX

/* One in 64 file pages is not protected, at any ratio. */
#define ACTIVE_RATIO_RESERVE_SHIFT	6

/* Pages to deactivate at once: more than a folio has that may become active. */
#define ACTIVE_RATIO_SCAN	((long)(512 + SWAP_CLUSTER_MAX))

/* How long a sum over cgroups is good for, in jiffies */
#define ACTIVE_RATIO_PERIOD	(HZ / 10)

DEFINE_STATIC_KEY_FALSE(active_ratio_key);

/* Keeps settings and the count of those that active_ratio_key has together. */
static DEFINE_MUTEX(active_ratio_mutex);

/* vm.active_inactive_ratio, in percent */
static s8 active_ratio_global __read_mostly = ACTIVE_RATIO_DEFAULT;

/* Arithmetic */

/**
 * active_ratio_share - how many pages a ratio protects
 * @file: file pages
 * @ratio: in percent, 0 to 100
 *
 * Return: a number of pages, rounded down.
 */
static unsigned long active_ratio_share(unsigned long file, int ratio)
{
	return div_u64((u64)file * ratio, ACTIVE_RATIO_MAX);
}

/**
 * active_ratio_protected - how many pages a ratio keeps from reclaim
 * @file: file pages
 * @ratio: in percent, 0 to 100
 *
 * Reclaim that may not touch anything would raise its priority until it takes
 * anonymous memory, or the OOM killer comes; kswapd would give up.
 *
 * Return: the share in pages, but for those that are left to reclaim.
 */
static unsigned long active_ratio_protected(unsigned long file, int ratio)
{
	unsigned long reserve = max(file >> ACTIVE_RATIO_RESERVE_SHIFT,
				    SWAP_CLUSTER_MAX);

	return min(active_ratio_share(file, ratio), file - min(file, reserve));
}

/**
 * active_ratio_own_share - how many pages the kernel's own rule keeps active
 * @file: file pages
 *
 * Return: the most pages of which inactive_is_low() says that they leave enough
 * inactive.
 */
static unsigned long active_ratio_own_share(unsigned long file)
{
	unsigned long gb = file >> (30 - PAGE_SHIFT);
	unsigned long to_one = gb ? int_sqrt(10 * gb) : 1;

	return file - DIV_ROUND_UP(file, to_one + 1);
}

/**
 * active_ratio_above_own - active pages that the kernel's own rule would not keep
 * @active: active file pages
 * @inactive: inactive ones
 *
 * Return: a number of pages.
 */
static unsigned long active_ratio_above_own(unsigned long active,
					    unsigned long inactive)
{
	return active - min(active, active_ratio_own_share(active + inactive));
}

/**
 * active_ratio_to_scan - how many active pages to scan at once
 * @nr: as many as reclaim asks for
 * @excess: pages that are active above the ratio; not positive below it
 *
 * One for each page that may become active while reclaim is scanning, and one to
 * get back to the ratio. A large folio becomes active at once, so a quarter of the
 * excess is scanned if that is more, up to such a folio.
 *
 * Return: at most twice @nr, or %ACTIVE_RATIO_SCAN if the excess is large.
 */
static unsigned long active_ratio_to_scan(unsigned long nr, long excess)
{
	long most = min(excess / 4, ACTIVE_RATIO_SCAN);

	return clamp(excess, 0L, max(2 * (long)nr, most));
}

/**
 * active_ratio_scan_inactive - share of a scan that goes to the inactive list
 * @scan: pages of both lists that are to be scanned
 * @inactive: inactive ones among them
 * @file: file pages
 *
 * Return: @inactive, or the kernel's own share if that is more.
 */
static unsigned long active_ratio_scan_inactive(unsigned long scan,
						unsigned long inactive,
						unsigned long file)
{
	unsigned long own = file - active_ratio_own_share(file);

	return file ? max(inactive, mult_frac(scan, own, file)) : inactive;
}

/**
 * active_ratio_distance - how many pages were evicted between two times
 * @now: pages evicted so far
 * @then: what active_ratio_stamp() made of the same, at the earlier time
 * @order: what it was given
 * @mask: likewise
 *
 * Return: a number of pages, to within 2^@order; small ones for times that are
 * further apart than @mask can tell.
 */
static unsigned long active_ratio_distance(unsigned long now,
					   unsigned long then,
					   unsigned int order,
					   unsigned long mask)
{
	return (((now >> order) - then) & mask) << order;
}

/**
 * active_ratio_stamp - a time, in pages evicted, as a shadow entry has it
 * @now: pages evicted so far
 * @order: they are counted in units of 2^@order
 * @mask: of the bits that there is room for
 *
 * Return: what to store.
 */
static unsigned long active_ratio_stamp(unsigned long now, unsigned int order,
					unsigned long mask)
{
	return (now >> order) & mask;
}

/**
 * active_ratio_order - the unit that times are stored in
 * @ram: pages of memory
 * @mask: of the bits that there is room for
 *
 * Return: the smallest order with which twice the memory can be evicted
 * without a time coming up again.
 */
static unsigned int active_ratio_order(unsigned long ram, unsigned long mask)
{
	int order = fls_long(ram) + 1 - fls_long(mask);

	return max(order, 0);
}

/* Which ratio */

/**
 * active_ratio_of - the ratio that an lruvec is held to
 * @lruvec: the lists
 *
 * Return: that of the closest cgroup that has one, the own one included; else
 * the system's; %ACTIVE_RATIO_DEFAULT without any.
 */
static int active_ratio_of(struct lruvec *lruvec)
{
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg = lruvec_memcg(lruvec);

	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		int ratio = READ_ONCE(memcg->active_inactive_ratio);

		if (ratio != ACTIVE_RATIO_DEFAULT)
			return ratio;
	}
#endif
	return READ_ONCE(active_ratio_global);
}

/**
 * __active_ratio_governs - is an lruvec held to a ratio?
 * @lruvec: the lists
 *
 * Return: %false if the kernel's own rule is to decide.
 */
bool __active_ratio_governs(struct lruvec *lruvec)
{
	return active_ratio_of(lruvec) != ACTIVE_RATIO_DEFAULT;
}

/*
 * The ratio may be gone since the caller saw that there is one. Then all that
 * is there may be protected, for this one time.
 */
static unsigned long active_ratio_target(struct lruvec *lruvec,
					 unsigned long file)
{
	int ratio = active_ratio_of(lruvec);

	return ratio == ACTIVE_RATIO_DEFAULT ? file :
		active_ratio_protected(file, ratio);
}

/* Classic LRU */

/* Its own, and exact, unlike the statistics of a cgroup. Not kept by lru_gen. */
static unsigned long active_ratio_lru_size(struct lruvec *lruvec,
					   enum lru_list lru)
{
	unsigned long size = 0;
	int zid;

	if (mem_cgroup_disabled())
		return node_page_state(lruvec_pgdat(lruvec), NR_LRU_BASE + lru);
	for (zid = 0; zid < MAX_NR_ZONES; zid++)
		size += mem_cgroup_get_zone_lru_size(lruvec, lru, zid);
	return size;
}

/* How many file pages more are active than the ratio protects; may be negative. */
static long active_ratio_excess(struct lruvec *lruvec)
{
	unsigned long active, inactive;

	active = active_ratio_lru_size(lruvec, LRU_ACTIVE_FILE);
	inactive = active_ratio_lru_size(lruvec, LRU_INACTIVE_FILE);
	return active - active_ratio_target(lruvec, active + inactive);
}

/**
 * __active_ratio_deactivate - how many active file pages to scan at once
 * @lruvec: the lists, of one cgroup on one node
 * @nr: as many as reclaim asks for
 *
 * Return: as many as are too many, within bounds.
 */
unsigned long __active_ratio_deactivate(struct lruvec *lruvec, unsigned long nr)
{
	return active_ratio_to_scan(nr, active_ratio_excess(lruvec));
}

/**
 * __active_ratio_scan - divide a scan of file pages between the two lists
 * @lruvec: lists that are held to a ratio
 * @nr: how many pages of each list are to be scanned
 *
 * The sum grows only by the pages that are active above the ratio.
 */
void __active_ratio_scan(struct lruvec *lruvec, unsigned long *nr)
{
	unsigned long file = active_ratio_lru_size(lruvec, LRU_ACTIVE_FILE) +
			     active_ratio_lru_size(lruvec, LRU_INACTIVE_FILE);
	unsigned long scan = nr[LRU_INACTIVE_FILE] + nr[LRU_ACTIVE_FILE];
	long excess = active_ratio_excess(lruvec);

	nr[LRU_INACTIVE_FILE] =
		active_ratio_scan_inactive(scan, nr[LRU_INACTIVE_FILE], file);
	nr[LRU_ACTIVE_FILE] = scan - nr[LRU_INACTIVE_FILE];
	if (excess > 0)
		nr[LRU_ACTIVE_FILE] = max(nr[LRU_ACTIVE_FILE],
					  min_t(unsigned long, excess,
						nr[LRU_INACTIVE_FILE]));
}

/* Of a subtree that is held to a ratio at its top */
static bool active_ratio_exceeded_below(struct lruvec *target)
{
	unsigned long active, inactive;

	active = lruvec_page_state(target, NR_ACTIVE_FILE);
	inactive = lruvec_page_state(target, NR_INACTIVE_FILE);
	return active > active_ratio_target(target, active + inactive);
}

/* The sum over the cgroups that have a ratio, in one that has none. */
static unsigned long active_ratio_sum_held(struct lruvec *target)
{
	struct pglist_data *pgdat = lruvec_pgdat(target);
	struct mem_cgroup *root = lruvec_memcg(target);
	struct mem_cgroup *memcg = NULL;
	unsigned long active, inactive, sum = 0;
	struct lruvec *lruvec;

	while ((memcg = mem_cgroup_iter(root, memcg, NULL))) {
		cond_resched();
		lruvec = mem_cgroup_lruvec(memcg, pgdat);
		if (!__active_ratio_governs(lruvec))
			continue;
		active = active_ratio_lru_size(lruvec, LRU_ACTIVE_FILE);
		inactive = active_ratio_lru_size(lruvec, LRU_INACTIVE_FILE);
		sum += active_ratio_above_own(active, inactive);
	}
	return sum;
}

/*
 * Reclaimers share the last sum, or each of their passes would visit all
 * cgroups. If two make it at a time, either will do.
 */
static unsigned long active_ratio_held_below(struct lruvec *target)
{
	unsigned long then = READ_ONCE(target->active_ratio_held_at);

	if (!time_in_range(jiffies, then, then + ACTIVE_RATIO_PERIOD)) {
		WRITE_ONCE(target->active_ratio_held_at, jiffies);
		WRITE_ONCE(target->active_ratio_held,
			   active_ratio_sum_held(target));
	}
	return READ_ONCE(target->active_ratio_held);
}

/**
 * __active_ratio_held - pages that are active because a ratio keeps them so
 * @target: lists of the cgroup, or node, whose subtree is reclaimed from
 *
 * Context: may sleep.
 * Return: a number of pages, a moment old where @target has no ratio.
 */
unsigned long __active_ratio_held(struct lruvec *target)
{
	unsigned long active, inactive;

	if (!__active_ratio_governs(target))
		return active_ratio_held_below(target);
	active = lruvec_page_state(target, NR_ACTIVE_FILE);
	inactive = lruvec_page_state(target, NR_INACTIVE_FILE);
	return active_ratio_above_own(active, inactive);
}

/**
 * __active_ratio_inactive_is_low - would inactive file pages be low without ratios?
 * @target: lists of the cgroup, or node, whose subtree is reclaimed from
 *
 * Return: %true if they are low for the kernel's own rule, and not because a
 * ratio keeps pages active.
 */
bool __active_ratio_inactive_is_low(struct lruvec *target)
{
	unsigned long active, inactive;

	if (__active_ratio_governs(target))
		return active_ratio_exceeded_below(target);
	active = lruvec_page_state(target, NR_ACTIVE_FILE);
	inactive = lruvec_page_state(target, NR_INACTIVE_FILE);
	return active_ratio_above_own(active, inactive) >
	       active_ratio_held_below(target);
}

/* Whether a ratio protects less than the kernel's own rule would. */
static bool active_ratio_is_small(struct lruvec *lruvec)
{
	unsigned long file = active_ratio_lru_size(lruvec, LRU_ACTIVE_FILE) +
			     active_ratio_lru_size(lruvec, LRU_INACTIVE_FILE);

	return active_ratio_target(lruvec, file) < active_ratio_own_share(file);
}

/**
 * __active_ratio_refault - count a refault of file pages as a ratio's doing
 * @lruvec: lists that are held to a ratio, of the cgroup that has the pages
 * @kind: the count of refaults that they were added to
 * @nr_pages: how many
 *
 * Which of them would have stayed in memory without a ratio cannot be known.
 * So all are taken for its doing if it protects less than the kernel would, and
 * none if not.
 *
 * Context: the cgroup cannot go away.
 * Return: %true if it is.
 */
bool __active_ratio_refault(struct lruvec *lruvec, enum active_ratio_refault kind,
			    long nr_pages)
{
	if (!active_ratio_is_small(lruvec))
		return false;
	for (; lruvec; lruvec = parent_lruvec(lruvec))
		atomic_long_add(nr_pages, &lruvec->file_refaults[kind].caused);
	return true;
}

/**
 * active_ratio_other_refaults - refaults of file pages that no ratio has caused
 * @lruvec: the lists
 * @kind: of which count of refaults
 * @refaults: that count
 *
 * @refaults comes late from other CPUs, unlike the number of those that a ratio
 * has caused. To take one for another time would make reclaim see new ones in
 * each pass; so this only grows.
 *
 * Return: a count that is to be compared with an earlier one.
 */
unsigned long active_ratio_other_refaults(struct lruvec *lruvec,
					  enum active_ratio_refault kind,
					  unsigned long refaults)
{
	unsigned long caused, others, last;

	caused = atomic_long_read(&lruvec->file_refaults[kind].caused);
	others = refaults - caused;
	last = READ_ONCE(lruvec->file_refaults[kind].others);
	if (caused && (long)(others - last) <= 0)
		return last;
	WRITE_ONCE(lruvec->file_refaults[kind].others, others);
	return others;
}

/**
 * __active_ratio_eviction_lruvec - where to count the eviction of a folio
 * @target: lists of the cgroup, or node, whose subtree is reclaimed from
 * @folio: the folio being evicted, locked
 *
 * A shadow entry cannot tell of a cgroup that was removed, which has no ID any
 * more. Its folios stay with it where they do not become its parent's.
 *
 * Context: on kernels where a folio can change its cgroup, RCU.
 * Return: the folio's own lists if they are held to a ratio, and those of a
 * cgroup that is online; else @target.
 */
struct lruvec *__active_ratio_eviction_lruvec(struct lruvec *target,
					      struct folio *folio)
{
	struct lruvec *own = folio_lruvec(folio);

	if (!mem_cgroup_online(lruvec_memcg(own)))
		return target;
	return active_ratio_governs(own, folio_is_file_lru(folio)) ? own : target;
}

/**
 * __active_ratio_reach - how recently was a page evicted that is to be active?
 * @lruvec: the lists that it was evicted from
 * @otherwise: what the kernel's own rule says, in pages evicted since
 *
 * The kernel's own rule takes a page for a part of the working set if it was
 * read again before as many were evicted as are active: then it could have been
 * kept in their place. With nothing active, nothing ever gets there. A ratio
 * says how many are to be active.
 *
 * Return: the number of file pages while there is room below the ratio, if that
 * is more than @otherwise.
 */
unsigned long __active_ratio_reach(struct lruvec *lruvec,
				   unsigned long otherwise)
{
	unsigned long active, file;

	active = active_ratio_lru_size(lruvec, LRU_ACTIVE_FILE);
	file = active + active_ratio_lru_size(lruvec, LRU_INACTIVE_FILE);
	if (active >= active_ratio_target(lruvec, file))
		return otherwise;
	return max(otherwise, file);
}

/* Multi-gen LRU */

#ifdef CONFIG_LRU_GEN

static unsigned long active_ratio_gen_size(struct lruvec *lruvec,
					   unsigned long seq)
{
	struct lru_gen_folio *lrugen = &lruvec->lrugen;
	int gen = lru_gen_from_seq(seq);
	unsigned long size = 0;
	int zone;

	for (zone = 0; zone < MAX_NR_ZONES; zone++)
		size += max(READ_ONCE(lrugen->nr_pages[gen][LRU_GEN_FILE][zone]),
			    0L);
	return size;
}

/* That of the @nr youngest generations; older ones than there are have none. */
static unsigned long active_ratio_gens_size(struct lruvec *lruvec, int nr)
{
	unsigned long seq = READ_ONCE(lruvec->lrugen.max_seq);
	unsigned long size = 0;

	while (nr--)
		size += active_ratio_gen_size(lruvec, seq--);
	return size;
}

/*
 * The second youngest generation is active, and with two generations it is the
 * oldest as well: then there is nothing to move between. Nor is there while
 * lru_gen is being disabled, and folios that leave a list go to another kind.
 */
static bool active_ratio_can_move(struct lruvec *lruvec)
{
	struct lru_gen_folio *lrugen = &lruvec->lrugen;

	return lrugen->enabled &&
	       lrugen->min_seq[LRU_GEN_FILE] + MIN_NR_GENS <= lrugen->max_seq;
}

/**
 * active_ratio_room - how many pages more a ratio would protect
 * @lruvec: the lists
 *
 * Context: lru_lock is held.
 * Return: a number of pages; negative for those that are too many.
 */
static long active_ratio_room(struct lruvec *lruvec)
{
	unsigned long file = active_ratio_gens_size(lruvec, MAX_NR_GENS);

	return active_ratio_target(lruvec, file) -
	       active_ratio_gens_size(lruvec, MIN_NR_GENS);
}

/* What says of a folio that it was used, for one generation and the next. */
#define ACTIVE_RATIO_USE_FLAGS \
	(LRU_REFS_MASK | LRU_REFS_FLAGS | BIT(PG_workingset))

static bool active_ratio_was_used(struct folio *folio)
{
	return READ_ONCE(*folio_flags(folio, 0)) &
	       (LRU_REFS_FLAGS | LRU_REFS_MASK);
}

/*
 * Fails if the aging has just found the folio used through page tables, and
 * given it a generation.
 */
static bool active_ratio_set_gen(struct folio *folio, int old_gen, int new_gen,
				 unsigned long forget)
{
	unsigned long *flags = folio_flags(folio, 0);
	unsigned long new_flags, old_flags = READ_ONCE(*flags);

	do {
		if (((old_flags & LRU_GEN_MASK) >> LRU_GEN_PGOFF) != old_gen + 1UL)
			return false;
		new_flags = old_flags & ~(LRU_GEN_MASK | forget);
		new_flags |= (new_gen + 1UL) << LRU_GEN_PGOFF;
	} while (!try_cmpxchg(flags, &old_flags, new_flags));

	return true;
}

/*
 * Adds to what get_type_to_scan() and get_tier_idx() go by. The first tier is
 * never protected, and need not have a count.
 */
static void active_ratio_count_protected(struct lruvec *lruvec, int tier,
					 long nr_pages)
{
	struct lru_gen_folio *lrugen = &lruvec->lrugen;
	int hist = lru_hist_from_seq(lrugen->min_seq[LRU_GEN_FILE]);
	unsigned long *counts = lrugen->protected[hist][LRU_GEN_FILE];
	int i = tier - (MAX_NR_TIERS - ARRAY_SIZE(lrugen->protected[0][0]));

	WRITE_ONCE(counts[i], counts[i] + nr_pages);
}

static void active_ratio_promote(struct lruvec *lruvec, struct folio *folio,
				 int tier)
{
	struct lru_gen_folio *lrugen = &lruvec->lrugen;
	int new_gen = lru_gen_from_seq(lrugen->max_seq - 1);
	int old_gen = folio_lru_gen(folio);
	int zone = folio_zonenum(folio);

	/* For the new generation it counts from here on. */
	if (active_ratio_set_gen(folio, old_gen, new_gen,
				 ACTIVE_RATIO_USE_FLAGS)) {
		lru_gen_update_size(lruvec, folio, old_gen, new_gen);
		active_ratio_count_protected(lruvec, tier,
					     folio_nr_pages(folio));
	} else {
		new_gen = folio_lru_gen(folio);
	}
	list_move(&folio->lru, &lrugen->folios[new_gen][LRU_GEN_FILE][zone]);
}

/*
 * Unless the aging has found it used through page tables: then it is young, on
 * whatever list it is still. Nor can lru_gen_update_size() make active inactive.
 */
static void active_ratio_make_oldest(struct lruvec *lruvec,
				     struct folio *folio)
{
	int oldest = lru_gen_from_seq(lruvec->lrugen.min_seq[LRU_GEN_FILE]);
	int gen = folio_lru_gen(folio);

	if (gen == oldest || lru_gen_is_active(lruvec, gen))
		return;
	if (active_ratio_set_gen(folio, gen, oldest, 0))
		lru_gen_update_size(lruvec, folio, gen, oldest);
}

/* Keeps note of its use, so that it need not be used twice again. */
static void active_ratio_demote(struct lruvec *lruvec, struct folio *folio)
{
	bool success;

	success = lru_gen_del_folio(lruvec, folio, true) &&
		  lru_gen_add_folio(lruvec, folio, false);
	VM_WARN_ON_ONCE_FOLIO(!success, folio);
}

/*
 * A dirty folio that reclaim waits for would be added to the same generation
 * again. The others are on their way to another list.
 */
static bool active_ratio_can_demote(struct folio *folio, int gen)
{
	return folio_lru_gen(folio) == gen && folio_evictable(folio) &&
	       !(folio_test_reclaim(folio) &&
		 (folio_test_dirty(folio) || folio_test_writeback(folio)));
}

static struct list_head *active_ratio_list(struct lruvec *lruvec,
					   struct folio *folio)
{
	int gen = folio_lru_gen(folio);

	return &lruvec->lrugen.folios[gen][LRU_GEN_FILE][folio_zonenum(folio)];
}

/* Puts it to the head of its list, which aging may have made another one. */
static void active_ratio_rotate(struct lruvec *lruvec, struct folio *folio)
{
	list_move(&folio->lru, active_ratio_list(lruvec, folio));
}

/* Has it evicted next. */
static void active_ratio_give_up(struct lruvec *lruvec, struct folio *folio)
{
	active_ratio_demote(lruvec, folio);
	active_ratio_make_oldest(lruvec, folio);
	list_move_tail(&folio->lru, active_ratio_list(lruvec, folio));
}

/**
 * active_ratio_turn - look at the tail of the second youngest generation
 * @lruvec: the lists
 * @zone: of which zone
 * @used: let it age even if it was used; else it is up next for eviction, or
 *	reclaim would not come to an end while there are others to compete
 *
 * What stays is moved out of the way, and not taken for used the next time
 * unless it was used again.
 *
 * Context: lru_lock is held.
 * Return: how many pages less are protected.
 */
static long active_ratio_turn(struct lruvec *lruvec, int zone, bool used)
{
	struct lru_gen_folio *lrugen = &lruvec->lrugen;
	int gen = lru_gen_from_seq(lrugen->max_seq - 1);
	struct list_head *head = &lrugen->folios[gen][LRU_GEN_FILE][zone];
	struct folio *folio;

	if (list_empty(head))
		return 0;
	folio = lru_to_folio(head);
	if (!active_ratio_can_demote(folio, gen)) {
		active_ratio_rotate(lruvec, folio);
		return 0;
	}
	if (!used && active_ratio_was_used(folio)) {
		active_ratio_set_gen(folio, gen, gen, ACTIVE_RATIO_USE_FLAGS);
		active_ratio_rotate(lruvec, folio);
		return 0;
	}
	if (used)
		active_ratio_demote(lruvec, folio);
	else
		active_ratio_give_up(lruvec, folio);
	return folio_nr_pages(folio);
}

/**
 * active_ratio_protect - keep a file folio, if that is what the ratio is for
 * @lruvec: lists that are held to a ratio
 * @folio: the tail of the oldest generation
 * @tier: that of the folio; above the first, it was used again
 *
 * Context: lru_lock is held.
 * Return: %true if the folio has moved to a younger generation; %false if it
 * may be evicted.
 */
bool active_ratio_protect(struct lruvec *lruvec, struct folio *folio, int tier)
{
	long missing, moved;

	if (!tier || !active_ratio_can_move(lruvec))
		return false;
	missing = folio_nr_pages(folio) - active_ratio_room(lruvec);
	while (missing > 0) {
		moved = active_ratio_turn(lruvec, folio_zonenum(folio), false);
		if (!moved)
			return false;
		missing -= moved;
	}
	active_ratio_promote(lruvec, folio, tier);
	return true;
}

/* Moves folios from the third youngest generation to the oldest. */
static void active_ratio_merge(struct lruvec *lruvec, int zone)
{
	struct lru_gen_folio *lrugen = &lruvec->lrugen;
	int gen = lru_gen_from_seq(lrugen->max_seq - MIN_NR_GENS);
	int oldest = lru_gen_from_seq(lrugen->min_seq[LRU_GEN_FILE]);
	struct list_head *head = &lrugen->folios[gen][LRU_GEN_FILE][zone];
	struct folio *folio;
	int i;

	if (gen == oldest)
		return;
	for (i = 0; i < ACTIVE_RATIO_BATCH && !list_empty(head); i++) {
		folio = lru_to_folio(head);
		active_ratio_make_oldest(lruvec, folio);
		active_ratio_rotate(lruvec, folio);
	}
}

/**
 * __active_ratio_trim - let file pages age that are more than a ratio protects
 * @lruvec: lists that are held to a ratio
 *
 * Context: lru_lock is held.
 */
void __active_ratio_trim(struct lruvec *lruvec)
{
	long excess = -active_ratio_room(lruvec);
	int i, zone;

	if (!active_ratio_can_move(lruvec))
		return;
	for (zone = MAX_NR_ZONES - 1; zone >= 0; zone--) {
		active_ratio_merge(lruvec, zone);
		for (i = 0; i < ACTIVE_RATIO_BATCH && excess > 0; i++)
			excess -= active_ratio_turn(lruvec, zone, true);
	}
}

/**
 * __active_ratio_refill - leave something to evict, even of what is protected
 * @lruvec: lists that are held to a ratio
 *
 * With nothing there, reclaim would have to make a new generation, and all that
 * is protected would be old at once.
 *
 * Context: lru_lock is held.
 */
void __active_ratio_refill(struct lruvec *lruvec)
{
	unsigned long file = active_ratio_gens_size(lruvec, MAX_NR_GENS);
	unsigned long active = active_ratio_gens_size(lruvec, MIN_NR_GENS);
	long missing = ACTIVE_RATIO_BATCH - (file - active);
	int i, zone;

	if (!active_ratio_can_move(lruvec))
		return;
	for (zone = MAX_NR_ZONES - 1; zone >= 0; zone--)
		for (i = 0; i < ACTIVE_RATIO_BATCH && missing > 0; i++)
			missing -= active_ratio_turn(lruvec, zone, true);
}

/**
 * __active_ratio_kept - pages of which a ratio wants that they do not age
 * @lruvec: lists that are held to a ratio
 *
 * Return: the number of file pages in the second youngest generation.
 */
unsigned long __active_ratio_kept(struct lruvec *lruvec)
{
	unsigned long max_seq = READ_ONCE(lruvec->lrugen.max_seq);

	return active_ratio_gen_size(lruvec, max_seq - 1);
}

/**
 * __active_ratio_evicted - count an eviction, and say when it was
 * @lruvec: the lists that a folio is evicted from
 * @file: it is a file folio
 * @nr_pages: its size
 * @token: what the shadow entry has without a ratio
 * @mask: of the bits that there is room for in a shadow entry
 *
 * Return: see active_ratio_evicted().
 */
unsigned long __active_ratio_evicted(struct lruvec *lruvec, bool file,
				     long nr_pages, unsigned long token,
				     unsigned long mask)
{
	unsigned long now = atomic_long_read(&lruvec->nonresident_age);
	unsigned long refs = token & (BIT(LRU_REFS_WIDTH) - 1);

	if (!active_ratio_governs(lruvec, file))
		return token;
	workingset_age_nonresident(lruvec, nr_pages);
	mask >>= LRU_REFS_WIDTH;
	now = active_ratio_stamp(now, active_ratio_order(totalram_pages(), mask),
				 mask);
	return (now << LRU_REFS_WIDTH) | refs;
}

/**
 * __active_ratio_recent - could a folio that was evicted have been kept?
 * @lruvec: the lists that it was evicted from
 * @file: it is a file folio
 * @evicted: the time in what active_ratio_evicted() said
 * @mask: of the bits that there is room for it in a shadow entry
 * @otherwise: what the kernel's own rule says
 *
 * Return: see active_ratio_recent().
 */
bool __active_ratio_recent(struct lruvec *lruvec, bool file,
			   unsigned long evicted, unsigned long mask,
			   bool otherwise)
{
	unsigned long now = atomic_long_read(&lruvec->nonresident_age);
	unsigned int order = active_ratio_order(totalram_pages(), mask);

	if (!active_ratio_governs(lruvec, file))
		return otherwise;
	return active_ratio_distance(now, evicted, order, mask) <=
	       active_ratio_gens_size(lruvec, MAX_NR_GENS);
}

#endif /* CONFIG_LRU_GEN */

/* Settings */

static void active_ratio_set(s8 *setting, int ratio)
{
	lockdep_assert_held(&active_ratio_mutex);

	if (*setting == ACTIVE_RATIO_DEFAULT && ratio != ACTIVE_RATIO_DEFAULT)
		static_branch_inc(&active_ratio_key);
	if (*setting != ACTIVE_RATIO_DEFAULT && ratio == ACTIVE_RATIO_DEFAULT)
		static_branch_dec(&active_ratio_key);
	WRITE_ONCE(*setting, ratio);
}

static int active_ratio_sysctl(const struct ctl_table *table, int write,
			       void *buffer, size_t *lenp, loff_t *ppos)
{
	struct ctl_table copy = *table;
	int ratio, err;

	mutex_lock(&active_ratio_mutex);
	ratio = active_ratio_global;
	copy.data = &ratio;
	err = proc_dointvec_minmax(&copy, write, buffer, lenp, ppos);
	if (!err && write)
		active_ratio_set(&active_ratio_global, ratio);
	mutex_unlock(&active_ratio_mutex);
	return err;
}

static struct ctl_table active_ratio_table[] = {
	{
		.procname	= "active_inactive_ratio",
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= active_ratio_sysctl,
		.extra1		= SYSCTL_NEG_ONE,
		.extra2		= SYSCTL_ONE_HUNDRED,
	},
};

#ifdef CONFIG_MEMCG

/**
 * active_ratio_memcg_init - a new memory cgroup follows its parent
 * @memcg: the memory cgroup, not yet visible
 */
void active_ratio_memcg_init(struct mem_cgroup *memcg)
{
	memcg->active_inactive_ratio = ACTIVE_RATIO_DEFAULT;
}

/**
 * active_ratio_memcg_reset - a memory cgroup follows its parent again
 * @memcg: the memory cgroup, which is going offline or loses its controller
 *
 * Context: may sleep.
 */
void active_ratio_memcg_reset(struct mem_cgroup *memcg)
{
	mutex_lock(&active_ratio_mutex);
	active_ratio_set(&memcg->active_inactive_ratio, ACTIVE_RATIO_DEFAULT);
	mutex_unlock(&active_ratio_mutex);
}

/**
 * active_ratio_parse - what was written to memory.active_inactive_ratio
 * @text: without space around it
 * @ratio: set to the ratio in percent, or %ACTIVE_RATIO_DEFAULT
 *
 * Return: 0, or -EINVAL with @ratio as it was.
 */
static int active_ratio_parse(const char *text, int *ratio)
{
	unsigned int percent;

	if (!strcmp(text, "default")) {
		*ratio = ACTIVE_RATIO_DEFAULT;
		return 0;
	}
	if (kstrtouint(text, 10, &percent) || percent > ACTIVE_RATIO_MAX)
		return -EINVAL;
	*ratio = percent;
	return 0;
}

static int active_ratio_show(struct seq_file *m, void *v)
{
	struct mem_cgroup *memcg = mem_cgroup_from_seq(m);
	int ratio = READ_ONCE(memcg->active_inactive_ratio);

	if (ratio == ACTIVE_RATIO_DEFAULT)
		seq_puts(m, "default\n");
	else
		seq_printf(m, "%d\n", ratio);
	return 0;
}

static ssize_t active_ratio_write(struct kernfs_open_file *of, char *buf,
				  size_t nbytes, loff_t off)
{
	struct mem_cgroup *memcg = mem_cgroup_from_css(of_css(of));
	int ratio, err;

	err = active_ratio_parse(strstrip(buf), &ratio);
	if (err)
		return err;
	mutex_lock(&active_ratio_mutex);
	active_ratio_set(&memcg->active_inactive_ratio, ratio);
	mutex_unlock(&active_ratio_mutex);
	return nbytes;
}

#define ACTIVE_RATIO_FILE {					\
		.name = "active_inactive_ratio",		\
		.flags = CFTYPE_NOT_ON_ROOT,			\
		.seq_show = active_ratio_show,			\
		.write = active_ratio_write,			\
	}

static struct cftype active_ratio_files[] = {
	ACTIVE_RATIO_FILE,
	{ }	/* terminate */
};

static struct cftype active_ratio_v1_files[] = {
	ACTIVE_RATIO_FILE,
	{ }	/* terminate */
};

static void __init active_ratio_add_files(void)
{
	if (mem_cgroup_disabled())
		return;
	WARN_ON(cgroup_add_dfl_cftypes(&memory_cgrp_subsys,
				       active_ratio_files));
	if (IS_ENABLED(CONFIG_MEMCG_V1))
		WARN_ON(cgroup_add_legacy_cftypes(&memory_cgrp_subsys,
						  active_ratio_v1_files));
}

#else /* !CONFIG_MEMCG */

static void __init active_ratio_add_files(void)
{
}

#endif /* CONFIG_MEMCG */

static int __init active_ratio_init(void)
{
	register_sysctl_init("vm", active_ratio_table);
	active_ratio_add_files();
	return 0;
}
subsys_initcall(active_ratio_init);

#ifdef CONFIG_ACTIVE_RATIO_KUNIT_TEST
#include "tests/active_ratio_kunit.c"
#endif
