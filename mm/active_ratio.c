// SPDX-License-Identifier: GPL-2.0
/*
 * Share of file pages that is protected as active
 *
 * Reclaim keeps file pages that were used again apart from those that were read
 * once, so that a stream does not evict the working set. How many it keeps
 * follows from the sizes of the lists and from refaults. Neither shows how much
 * the pages are worth: a backup that reads every file twice looks like a
 * working set, and a working set that is read every few seconds looks like
 * use-once data if a disk fills memory in one second.
 *
 * vm.active_inactive_ratio and memory.active_inactive_ratio set the share of an
 * lruvec's file pages, in percent, that is protected as active. Without a
 * ratio, which is the default, the kernel's own rules apply.
 *
 * An example: a cgroup has 100000 file pages on a node.
 *
 *	ratio	protected
 *
 *	  -1	those of the kernel's own rule, on the classic LRU 50000
 *	   0	    0
 *	  25	25000
 *	  75	75000
 *	 100	93750: one page in 16 is left to reclaim; in smaller cgroups
 *		16 MiB, or a quarter if that is less, but 32 pages at least
 *
 * On the classic LRU these are the pages of the active list, and reclaim
 * deactivates the pages above the ratio. On the multi-gen LRU they are those of
 * the two youngest generations, and the eviction decides by the ratio whether a
 * page that was used again moves there. All decisions follow from the lists as
 * they are: there is nothing to convert when a ratio or lru_gen changes.
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
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/swap.h>
#include <linux/sysctl.h>
#include <linux/vmstat.h>

#include "internal.h"

/* No ratio: the kernel's own rule, or in a cgroup, the ratio of its parent. */
#define ACTIVE_RATIO_DEFAULT	(-1)
#define ACTIVE_RATIO_MAX	100

/* The most folios of a zone to demote in one call. */
#define ACTIVE_RATIO_BATCH	SWAP_CLUSTER_MAX

/*
 * Up to 25 GiB, one in 16 file pages is not protected at any ratio. With one in 64,
 * the inactive list was too short for large folios: reclaim scanned two to four
 * times as many anonymous pages at a ratio of 100 as without a ratio.
 */
#define ACTIVE_RATIO_RESERVE_SHIFT	4

/*
 * At least 16 MiB are not protected either, but no more of them than a quarter of
 * the file pages. On a rotational disk, the window of a readahead is up to 8 MiB on
 * some kernels, and a task may allocate the next one while all pages of the last
 * one are locked: at a ratio of 100, two readers in 128 MiB had reclaim scan twice
 * as many anonymous pages as without a ratio.
 */
#define ACTIVE_RATIO_RESERVE_PAGES	((unsigned long)SZ_16M >> PAGE_SHIFT)

/* Pages to deactivate at once: more than any folio that may become active. */
#define ACTIVE_RATIO_SCAN	((long)(512 + SWAP_CLUSTER_MAX))

/*
 * Down to this priority, reclaim is taken to find enough: one in 64 pages of a
 * list is a batch for a cgroup with 8 MiB of inactive file pages. kswapd goes
 * further without trouble if it has much to reclaim at once, and node_reclaim()
 * starts below it.
 */
#define ACTIVE_RATIO_EASY	(DEF_PRIORITY / 2)

/*
 * Below this priority, reclaim has scanned as many inactive pages as one in 16 file
 * pages, without finding enough: one in 32 at this priority, and as many at all
 * higher ones. That is the reserve of a cgroup with 256 MiB or more, and a part of
 * it in a smaller one, where all of these may be locked by a readahead.
 */
#define ACTIVE_RATIO_HARD	(DEF_PRIORITY / 3)

/* How long a sum over cgroups is valid, in jiffies. */
#define ACTIVE_RATIO_PERIOD	(HZ / 10)

/*
 * From the first ratio since boot on. Users to whom a cgroup is delegated could
 * otherwise have the kernel's code patched with each write.
 */
DEFINE_STATIC_KEY_FALSE(active_ratio_key);

/* vm.active_inactive_ratio, in percent */
static s8 active_ratio_global __read_mostly = ACTIVE_RATIO_DEFAULT;

/* Arithmetic */

/**
 * active_ratio_share - the number of pages that a ratio stands for
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
 * active_ratio_own_share - the pages that the kernel's own rule keeps active
 * @file: file pages
 *
 * Return: the largest number of active pages at which inactive_is_low() is
 * false.
 */
static unsigned long active_ratio_own_share(unsigned long file)
{
	unsigned long gb = file >> (30 - PAGE_SHIFT);
	unsigned long to_one = gb ? int_sqrt(10 * gb) : 1;

	return file - DIV_ROUND_UP(file, to_one + 1);
}

/**
 * active_ratio_protected - the number of pages that a ratio protects
 * @file: file pages
 * @ratio: in percent, 0 to 100
 *
 * Without a page to scan, reclaim would raise its priority until it takes
 * anonymous memory or calls the OOM killer; kswapd would give up. Of more than
 * 25 GiB, the kernel's own rule leaves less than one page in 16, and so does a
 * ratio.
 *
 * Return: the share in pages, less a reserve that is left to reclaim.
 */
static unsigned long active_ratio_protected(unsigned long file, int ratio)
{
	unsigned long reserve = max(file >> ACTIVE_RATIO_RESERVE_SHIFT,
				    min(file / 4, ACTIVE_RATIO_RESERVE_PAGES));

	reserve = min(reserve, file - active_ratio_own_share(file));
	reserve = max(reserve, SWAP_CLUSTER_MAX);
	return min(active_ratio_share(file, ratio), file - min(file, reserve));
}

/**
 * active_ratio_limit - the number of pages that may be active
 * @file: file pages
 * @ratio: in percent, or %ACTIVE_RATIO_DEFAULT if it has been unset since the
 *	caller checked: then all file pages may be active, for this one time
 *
 * Return: a number of pages.
 */
static unsigned long active_ratio_limit(unsigned long file, int ratio)
{
	return ratio == ACTIVE_RATIO_DEFAULT ? file :
		active_ratio_protected(file, ratio);
}

/**
 * active_ratio_holds - are few enough pages of a subtree active?
 * @active: active file pages of the subtree
 * @inactive: inactive ones
 * @own: the exact number of active file pages of one of its cgroups
 * @ratio: as for active_ratio_limit()
 *
 * The sums are a moment old, and count pages as inactive, or not at all, that
 * have just become active. So @own counts, but adds nothing to the sum.
 *
 * Return: %true if fewer pages are active than the ratio protects.
 */
static bool active_ratio_holds(unsigned long active, unsigned long inactive,
			       unsigned long own, int ratio)
{
	unsigned long limit = active_ratio_limit(active + inactive, ratio);

	return max(active, own) < limit;
}

/**
 * active_ratio_above_own - active pages above the kernel's own share
 * @active: active file pages
 * @inactive: inactive file pages
 *
 * Return: a number of pages.
 */
static unsigned long active_ratio_above_own(unsigned long active,
					    unsigned long inactive)
{
	return active - min(active, active_ratio_own_share(active + inactive));
}

/**
 * active_ratio_held_of - pages that a ratio keeps above the kernel's own share
 * @active: active file pages of a cgroup
 * @inactive: inactive ones
 * @limit: the number that reclaim leaves active
 *
 * Return: a number of pages, without those that reclaim deactivates.
 */
static unsigned long active_ratio_held_of(unsigned long active,
					  unsigned long inactive,
					  unsigned long limit)
{
	unsigned long left = min(active, limit);

	return active_ratio_above_own(left, active + inactive - left);
}

/**
 * active_ratio_held_by_all - the pages that ratios keep active in a subtree
 * @active: active file pages of the subtree
 * @inactive: inactive ones
 * @held: the sum of active_ratio_held_of() over its cgroups
 *
 * The pages above the kernel's own share of each cgroup are together no fewer
 * than those above its share of the subtree. So if ratios hold fewer than
 * these, other pages are active as well, and the kernel's own rule decides.
 *
 * Return: @held, or 0 if inactive pages are low even without the ratios.
 */
static unsigned long active_ratio_held_by_all(unsigned long active,
					      unsigned long inactive,
					      unsigned long held)
{
	return active_ratio_above_own(active, inactive) > held ? 0 : held;
}

/**
 * active_ratio_above - active pages that reclaim may deactivate
 * @active: active file pages
 * @inactive: inactive ones
 * @limit: the number that the ratio protects
 * @priority: of reclaim, which falls while reclaim finds too little
 *
 * Before reclaim turns to anonymous pages because the inactive file pages are of
 * no use, the ratio gives way to the kernel's own share, by a batch at a time.
 *
 * Return: the pages above the ratio; not positive if there are none.
 */
static long active_ratio_above(unsigned long active, unsigned long inactive,
			       unsigned long limit, int priority)
{
	long above = active - limit;
	long above_own = active_ratio_above_own(active, inactive);

	if (priority >= ACTIVE_RATIO_HARD)
		return above;
	return max(above, min(above_own, (long)ACTIVE_RATIO_BATCH));
}

/**
 * active_ratio_to_scan - the number of active pages to scan at once
 * @nr: the number that reclaim asks for
 * @excess: pages that are active above the ratio; not positive below it
 *
 * For each page that reclaim asks for, one page may become active meanwhile.
 * Two are scanned, to get back to the ratio. A large folio becomes active at
 * once, so a quarter of the excess is scanned if that is more, up to the size
 * of such a folio.
 *
 * Return: at most twice @nr, or %ACTIVE_RATIO_SCAN if the excess is large.
 */
static unsigned long active_ratio_to_scan(unsigned long nr, long excess)
{
	long most = min(excess / 4, ACTIVE_RATIO_SCAN);

	return clamp(excess, 0L, max(2 * (long)nr, most));
}

/**
 * active_ratio_scan_inactive - the part of a scan for the inactive list
 * @scan: pages of both lists that reclaim is about to scan
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

	if (!file)
		return inactive;
	return max_t(unsigned long, inactive,
		     mul_u64_u64_div_u64(scan, own, file));
}

/**
 * active_ratio_to_give_up - protected pages that a folio competes with
 * @nr_pages: the size of the folio, which was used again
 * @room: further pages that the ratio would protect; negative above it
 *
 * Above the ratio, the folio replaces its own size, and no more: the pages in
 * excess may be a whole cgroup's, and lru_lock is held.
 *
 * Return: the number of pages to replace; not positive if there is room.
 */
static long active_ratio_to_give_up(long nr_pages, long room)
{
	return min(nr_pages, nr_pages - room);
}

/**
 * active_ratio_distance - the number of pages evicted between two times
 * @now: pages evicted so far
 * @then: the value of active_ratio_stamp() at the earlier time
 * @order: as for active_ratio_stamp()
 * @mask: as for active_ratio_stamp()
 *
 * Return: a number of pages, to within 2^@order. It wraps around, and is too
 * small for times that are further apart than @mask can tell.
 */
static unsigned long active_ratio_distance(unsigned long now,
					   unsigned long then,
					   unsigned int order,
					   unsigned long mask)
{
	return (((now >> order) - then) & mask) << order;
}

/**
 * active_ratio_stamp - the time for a shadow entry, in pages evicted
 * @now: pages evicted so far
 * @order: the time is in units of 2^@order pages
 * @mask: the bits that the entry has room for
 *
 * Return: the value to store.
 */
static unsigned long active_ratio_stamp(unsigned long now, unsigned int order,
					unsigned long mask)
{
	return (now >> order) & mask;
}

/**
 * active_ratio_order - the unit of the times in shadow entries
 * @ram: pages of memory
 * @mask: the bits that the entry has room for
 *
 * Return: the smallest order with which twice the memory can be evicted before
 * the time wraps around.
 */
static unsigned int active_ratio_order(unsigned long ram, unsigned long mask)
{
	int order = fls_long(ram) + 1 - fls_long(mask);

	return max(order, 0);
}

/* Which ratio */

/**
 * active_ratio_of - the ratio that applies to an lruvec
 * @lruvec: the lists
 *
 * Return: the ratio of the lruvec's cgroup or of the nearest ancestor that has
 * one, else the system's; %ACTIVE_RATIO_DEFAULT if there is none.
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
 * __active_ratio_governs - does a ratio apply to an lruvec?
 * @lruvec: the lists
 *
 * Return: %false if the kernel's own rule decides.
 */
bool __active_ratio_governs(struct lruvec *lruvec)
{
	return active_ratio_of(lruvec) != ACTIVE_RATIO_DEFAULT;
}

static unsigned long active_ratio_target(struct lruvec *lruvec,
					 unsigned long file)
{
	return active_ratio_limit(file, active_ratio_of(lruvec));
}

/*
 * Classic LRU
 *
 * Reclaim deactivates active file folios only while more of the lruvec's file
 * pages are active than the ratio protects, and, unless it finds too little,
 * more of those of the whole subtree that it takes pages from. The kernel's own
 * rule also deactivates upon refaults, at any size of the lists, and direct
 * reclaim does so once it has found nothing. With a ratio, a refault
 * activates its folio, which displaces the oldest folio of the active list.
 * While fewer pages are active than the ratio protects, a folio that is read
 * again is activated if no more pages were evicted in between than the lruvec
 * has file pages, even if that is more than are active. Both counts are those
 * of the folio's own cgroup. The kernel's own rule takes those of the cgroup
 * whose limit causes the reclaim. So a cgroup has its ratio in global reclaim,
 * too.
 *
 * Reclaim scans both lists in proportion to their sizes. With a ratio below the
 * kernel's own share, it would deactivate fewer pages than can become active
 * meanwhile, so it scans as many active pages as inactive ones. With a ratio
 * above that share, the inactive list is shorter than without a ratio. Reclaim
 * would scan less of it, up to a priority that takes anonymous memory as well,
 * so it scans the list as if it were as long as without a ratio. At any ratio a
 * few pages are not protected, so that reclaim has pages to scan. If all of
 * these are locked or otherwise of no use, it deactivates pages above the
 * kernel's own share, a batch for each batch of inactive pages that it scans.
 */

/* The exact size of this one list, unlike the statistics. Not for lru_gen. */
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

#ifdef CONFIG_LRU_GEN

/* The size of a generation of @type, without the zones above @highest. */
static unsigned long active_ratio_gen_size(struct lruvec *lruvec, int type,
					   unsigned long seq, int highest)
{
	struct lru_gen_folio *lrugen = &lruvec->lrugen;
	int gen = lru_gen_from_seq(seq);
	unsigned long size = 0;
	int zone;

	for (zone = 0; zone <= highest; zone++)
		size += max(READ_ONCE(lrugen->nr_pages[gen][type][zone]), 0L);
	return size;
}

/* The size of the @nr youngest generations of @type. A missing one has no pages. */
static unsigned long active_ratio_gens_size(struct lruvec *lruvec, int type, int nr)
{
	unsigned long seq = READ_ONCE(lruvec->lrugen.max_seq);
	unsigned long size = 0;

	while (nr--)
		size += active_ratio_gen_size(lruvec, type, seq--, MAX_NR_ZONES - 1);
	return size;
}

/* The pages that are left to evict, without the zones above @highest. */
static long active_ratio_inactive_size(struct lruvec *lruvec, int highest)
{
	unsigned long seq = READ_ONCE(lruvec->lrugen.max_seq) - MIN_NR_GENS;
	long size = 0;
	int nr;

	for (nr = MIN_NR_GENS; nr < MAX_NR_GENS; nr++)
		size += active_ratio_gen_size(lruvec, LRU_GEN_FILE, seq--,
					      highest);
	return size;
}

#endif

/* The exact number of this cgroup's active file pages, on either LRU. */
static unsigned long active_ratio_own_active(struct lruvec *lruvec)
{
#ifdef CONFIG_LRU_GEN
	if (lru_gen_enabled())
		return active_ratio_gens_size(lruvec, LRU_GEN_FILE, MIN_NR_GENS);
#endif
	return active_ratio_lru_size(lruvec, LRU_ACTIVE_FILE);
}

/* The same of all its file pages */
static unsigned long active_ratio_own_file(struct lruvec *lruvec)
{
#ifdef CONFIG_LRU_GEN
	if (lru_gen_enabled())
		return active_ratio_gens_size(lruvec, LRU_GEN_FILE, MAX_NR_GENS);
#endif
	return active_ratio_lru_size(lruvec, LRU_ACTIVE_FILE) +
	       active_ratio_lru_size(lruvec, LRU_INACTIVE_FILE);
}

/* Without memory cgroups, a node's lists belong to none. */
static bool active_ratio_is_node(struct lruvec *target)
{
	struct mem_cgroup *memcg = lruvec_memcg(target);

	return !memcg || mem_cgroup_is_root(memcg);
}

/* The file pages of the subtree of @target. Those of a cgroup are a moment old. */
static void active_ratio_get_sizes(struct lruvec *target, unsigned long *active,
				   unsigned long *inactive)
{
	struct pglist_data *pgdat = lruvec_pgdat(target);

	if (active_ratio_is_node(target)) {
		*active = node_page_state(pgdat, NR_ACTIVE_FILE);
		*inactive = node_page_state(pgdat, NR_INACTIVE_FILE);
	} else {
		*active = READ_ONCE(target->active_ratio.active);
		*inactive = READ_ONCE(target->active_ratio.inactive);
	}
}

/*
 * Pages of @lruvec become inactive in reclaim from @memcg. If its sums went on to
 * count them as active, reclaim would give up more pages until the next sums.
 */
static void active_ratio_give_back(struct lruvec *lruvec,
				   struct mem_cgroup *memcg, unsigned long nr)
{
	struct lruvec *target = mem_cgroup_lruvec(memcg, lruvec_pgdat(lruvec));
	unsigned long active = READ_ONCE(target->active_ratio.active);
	unsigned long inactive = READ_ONCE(target->active_ratio.inactive);

	/* A node has no such sums. */
	if (!nr || active_ratio_is_node(target))
		return;
	nr = min(nr, active);
	WRITE_ONCE(target->active_ratio.active, active - nr);
	WRITE_ONCE(target->active_ratio.inactive, inactive + nr);
}

/**
 * active_ratio_is_met - does the ratio of a cgroup hold for a whole subtree?
 * @lruvec: lists that a ratio applies to
 * @memcg: the memory cgroup whose subtree is reclaimed from; %NULL for the root
 * @priority: of reclaim, which falls while reclaim finds too little
 *
 * A cgroup whose pages are all in use would have to give up those above its
 * ratio, although reclaim for the node, or for an ancestor's limit, finds pages
 * that were read once in another cgroup. With a ratio of 50, such a database
 * beside a backup lost more pages than without a ratio. So a cgroup may exceed
 * its ratio while the ratio holds for the whole subtree.
 *
 * A cgroup that reclaim does not reach from an ancestor has to keep to its own
 * ratio. So has every cgroup when reclaim finds too little: the inactive pages
 * of the others may be protected, or on a disk that does not answer. Reclaim is
 * to take all pages of a removed cgroup.
 *
 * Context: any; __active_ratio_prepare() has summed up the subtree of a @memcg
 * that is not @lruvec's own.
 * Return: %true if fewer of the subtree's file pages are active than the ratio
 * of @lruvec protects.
 */
static bool active_ratio_is_met(struct lruvec *lruvec, struct mem_cgroup *memcg,
				int priority)
{
	struct lruvec *target = mem_cgroup_lruvec(memcg, lruvec_pgdat(lruvec));
	unsigned long active, inactive;

	if (lruvec == target || priority < ACTIVE_RATIO_EASY ||
	    !mem_cgroup_online(lruvec_memcg(lruvec)))
		return false;
	active_ratio_get_sizes(target, &active, &inactive);
	return active_ratio_holds(active, inactive,
				  active_ratio_own_active(lruvec),
				  active_ratio_of(lruvec));
}

/* As for active_ratio_above(). */
static long active_ratio_excess(struct lruvec *lruvec, int priority)
{
	unsigned long active, inactive;

	active = active_ratio_lru_size(lruvec, LRU_ACTIVE_FILE);
	inactive = active_ratio_lru_size(lruvec, LRU_INACTIVE_FILE);
	return active_ratio_above(active, inactive,
				  active_ratio_target(lruvec, active + inactive),
				  priority);
}

/**
 * __active_ratio_deactivate - the number of active file pages to scan at once
 * @lruvec: the lists, of one cgroup on one node
 * @memcg: the memory cgroup whose subtree is reclaimed from; %NULL for the root
 * @priority: of reclaim, which falls while reclaim finds too little
 * @nr: the number that reclaim asks for
 *
 * Return: the active pages above the ratio, or above the kernel's own share if
 * reclaim finds almost nothing, within bounds.
 */
unsigned long __active_ratio_deactivate(struct lruvec *lruvec,
					struct mem_cgroup *memcg, int priority,
					unsigned long nr)
{
	if (active_ratio_is_met(lruvec, memcg, priority))
		return 0;
	nr = active_ratio_to_scan(nr, active_ratio_excess(lruvec, priority));
	active_ratio_give_back(lruvec, memcg, nr);
	return nr;
}

/**
 * __active_ratio_scan - divide a scan of file pages between the two lists
 * @lruvec: lists that a ratio applies to
 * @memcg: the memory cgroup whose subtree is reclaimed from; %NULL for the root
 * @priority: of reclaim, which falls while reclaim finds too little
 * @nr: the number of pages to scan of each list
 *
 * The sum grows only by the pages that reclaim may deactivate.
 */
void __active_ratio_scan(struct lruvec *lruvec, struct mem_cgroup *memcg,
			 int priority, unsigned long *nr)
{
	unsigned long scan = nr[LRU_INACTIVE_FILE] + nr[LRU_ACTIVE_FILE];
	unsigned long file;
	long excess;

	if (active_ratio_is_met(lruvec, memcg, priority))
		return;
	file = active_ratio_lru_size(lruvec, LRU_ACTIVE_FILE) +
	       active_ratio_lru_size(lruvec, LRU_INACTIVE_FILE);
	excess = active_ratio_excess(lruvec, priority);
	nr[LRU_INACTIVE_FILE] =
		active_ratio_scan_inactive(scan, nr[LRU_INACTIVE_FILE], file);
	nr[LRU_ACTIVE_FILE] = scan - nr[LRU_INACTIVE_FILE];
	if (excess > 0)
		nr[LRU_ACTIVE_FILE] = max(nr[LRU_ACTIVE_FILE],
					  min_t(unsigned long, excess,
						nr[LRU_INACTIVE_FILE]));
}

/*
 * Anonymous memory
 *
 * A ratio only chooses between file pages. How much anonymous memory is
 * reclaimed follows from the refaults of file pages, the length of their
 * inactive list, and whether active file pages have to be deactivated. So
 * reclaim is shown the list as it would be without a ratio: pages that a ratio
 * keeps active above the kernel's own share count as inactive. Each cgroup's own
 * ratio tells which pages these are, whichever cgroup's limit causes the
 * reclaim. Pages that reclaim is about to deactivate are not among them. A ratio
 * below the kernel's own share leaves more inactive pages than no ratio does.
 * Refaults are not corrected: those that a ratio causes count like all others.
 */

/* File pages of a subtree, and those that are active because of ratios */
struct active_ratio_sum {
	unsigned long active;
	unsigned long inactive;
	unsigned long held;
};

/* Adds one cgroup of the subtree of @root, on either LRU. */
static void active_ratio_add_sizes(struct active_ratio_sum *sum,
				   struct lruvec *lruvec,
				   struct mem_cgroup *root)
{
	unsigned long file = active_ratio_own_file(lruvec);
	unsigned long active = min(active_ratio_own_active(lruvec), file);

	sum->active += active;
	sum->inactive += file - active;
}

/*
 * The same on the classic LRU, with the pages that ratios keep active. Of a
 * cgroup that may exceed its ratio, reclaim leaves all pages active, so all of
 * them count.
 */
static void active_ratio_add_held(struct active_ratio_sum *sum,
				  struct lruvec *lruvec, struct mem_cgroup *root)
{
	unsigned long active, inactive, limit;

	active = active_ratio_lru_size(lruvec, LRU_ACTIVE_FILE);
	inactive = active_ratio_lru_size(lruvec, LRU_INACTIVE_FILE);
	sum->active += active;
	sum->inactive += inactive;
	if (!__active_ratio_governs(lruvec))
		return;
	limit = active_ratio_is_met(lruvec, root, DEF_PRIORITY) ? active :
		active_ratio_target(lruvec, active + inactive);
	sum->held += active_ratio_held_of(active, inactive, limit);
}

/* All numbers are exact: the statistics may be 2 s older than the lists. */
static void active_ratio_sum_up(struct lruvec *target,
				void (*add)(struct active_ratio_sum *sum,
					    struct lruvec *lruvec,
					    struct mem_cgroup *root),
				struct active_ratio_sum *sum)
{
	struct mem_cgroup *root = lruvec_memcg(target);
	struct mem_cgroup *memcg = mem_cgroup_iter(root, NULL, NULL);

	/* Without memory cgroups, the node's own lists are all there is. */
	do {
		add(sum, mem_cgroup_lruvec(memcg, lruvec_pgdat(target)), root);
		cond_resched();
		memcg = mem_cgroup_iter(root, memcg, NULL);
	} while (memcg);
}

static void active_ratio_renew_sizes(struct lruvec *target)
{
	struct active_ratio_sum sum = {};

	active_ratio_sum_up(target, active_ratio_add_sizes, &sum);
	WRITE_ONCE(target->active_ratio.active, sum.active);
	WRITE_ONCE(target->active_ratio.inactive, sum.inactive);
}

/*
 * Its three sums are from the same moment, or they would not agree. They follow
 * from the sizes, which therefore come first.
 */
static void active_ratio_renew_held(struct lruvec *target)
{
	struct active_ratio_sum sum = {};

	/* For the classic LRU. An old number must not outlast the other one. */
	if (!lru_gen_enabled())
		active_ratio_sum_up(target, active_ratio_add_held, &sum);
	WRITE_ONCE(target->active_ratio.held,
		   active_ratio_held_by_all(sum.active, sum.inactive, sum.held));
}

/*
 * When the sums of a subtree were renewed, in jiffies, without the lowest bit; or
 * when a reclaimer began to renew them, with that bit. There is one at a time:
 * where cgroups are so many that a walk takes longer than a period, reclaimers
 * would pile up. But on some kernels a reclaimer that has used up its cpu.max stops
 * in the walk, and may not come back for minutes. Then another one takes over. The
 * sums of the first one are old when they come, and last for a period.
 */
#define ACTIVE_RATIO_RENEWING	1UL
#define ACTIVE_RATIO_TAKEOVER	(10 * ACTIVE_RATIO_PERIOD)

/* Is the value @then of ->at, read before the clock, too old at @now? */
static bool active_ratio_is_due(unsigned long then, unsigned long now)
{
	unsigned long start = then & ~ACTIVE_RATIO_RENEWING;
	unsigned long wait = then & ACTIVE_RATIO_RENEWING ?
			     ACTIVE_RATIO_TAKEOVER : ACTIVE_RATIO_PERIOD;

	return !time_in_range(now, start, start + wait);
}

static bool active_ratio_begin_renewal(struct lruvec *target)
{
	unsigned long then = READ_ONCE(target->active_ratio.at), now = jiffies;

	return active_ratio_is_due(then, now) &&
	       cmpxchg(&target->active_ratio.at, then,
		       now | ACTIVE_RATIO_RENEWING) == then;
}

static void active_ratio_end_renewal(struct lruvec *target)
{
	/* The next reclaimer's sums are to come after these. */
	smp_store_release(&target->active_ratio.at,
			  jiffies & ~ACTIVE_RATIO_RENEWING);
}

/**
 * __active_ratio_prepare - sum up the cgroups below one that reclaim starts from
 * @target: lists of the cgroup, or node, whose subtree is reclaimed from
 *
 * Reclaimers share the last sums, so that not each of their passes visits all
 * cgroups. While one of them computes new ones, the others go by the last ones.
 * The first sums are 0, and no ratio holds by them.
 *
 * Context: may sleep.
 */
void __active_ratio_prepare(struct lruvec *target)
{
	if (!active_ratio_begin_renewal(target))
		return;
	if (!active_ratio_is_node(target))
		active_ratio_renew_sizes(target);
	active_ratio_renew_held(target);
	active_ratio_end_renewal(target);
}

/**
 * __active_ratio_eviction_lruvec - the lists that count the eviction of a folio
 * @target: lists of the cgroup, or node, whose subtree is reclaimed from
 * @folio: the folio being evicted, locked
 *
 * A shadow entry cannot refer to a removed cgroup, which has lost its ID. On
 * some kernels, the folios of a removed cgroup stay with it.
 *
 * Context: under RCU on kernels on which a folio can change its cgroup.
 * Return: the folio's own lists if a ratio applies to them and their cgroup is
 * online; else @target.
 */
struct lruvec *__active_ratio_eviction_lruvec(struct lruvec *target,
					      struct folio *folio)
{
	struct lruvec *own;

	if (!folio_is_file_lru(folio))
		return target;
	own = folio_lruvec(folio);
	return mem_cgroup_online(lruvec_memcg(own)) &&
	       __active_ratio_governs(own) ? own : target;
}

/**
 * __active_ratio_reach - the refault distance up to which a page is activated
 * @lruvec: the lists that the page was evicted from
 * @otherwise: the distance by the kernel's own rule, in pages evicted since
 *
 * The kernel's own rule counts a page as part of the working set if no more
 * pages were evicted since its eviction than are active: it could have been
 * kept in place of an active one. While no page is active, no page becomes
 * active. A ratio says how many pages are to be active.
 *
 * Return: the number of file pages while there is room below the ratio, if that
 * is more than @otherwise; else @otherwise.
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

/*
 * Multi-gen LRU
 *
 * The two youngest generations, which the statistics call active, are
 * protected. The aging moves mapped folios there, and is unchanged. Folios that
 * are read through file descriptors stay in the oldest generation until the
 * eviction scans them and decides whether they move up. This decision goes by
 * the ratio:
 *
 * - A file folio that was used again since it got to the oldest generation
 *   moves to the second youngest, as long as there is room below the ratio. The
 *   kernel's own rule compares the refaults of tiers, which do not matter here.
 *
 * - Without room, it competes with the tail of the second youngest generation.
 *   If the tail was not used since it got there, it is evicted in place of the
 *   newcomer. If it was used or is busy, it moves to the head of its list, and
 *   the newcomer is evicted. So a stale working set gives way at the pace at which
 *   a new one shows up, a working set that is larger than the ratio does not
 *   evict itself, and reclaim gets one of every two folios that it scans.
 *
 * - Above the ratio, because it was lowered or because file pages became fewer,
 *   the tail of the second youngest generation moves back to the oldest. A
 *   folio that was used meanwhile may move up again. A cgroup that may exceed
 *   its ratio gives none while it has no newcomers: one folio is in the oldest
 *   generation, since that must not be empty, and each pass of reclaim exchanges
 *   it for the next tail.
 *
 * - With four generations, the eviction would not scan the second oldest as
 *   long as use-once data arrives in the oldest, and its folios would be
 *   protected, too. So they move to the oldest, and keep note of their use.
 *
 * - The aging moves whole generations, and starts when the oldest holds too
 *   little. It does not start because of pages that the ratio protects. When
 *   the eviction has left only protected pages, the tail of the second youngest
 *   generation moves to the oldest, rather than all of it at once. But then
 *   anonymous pages stay young, however often file pages are read again. So it
 *   also starts if most pages are anonymous, none of these is old, and as many
 *   file pages were evicted and read again as there are.
 *
 * A large stream makes a generation pass so fast that most working sets are not
 * used twice within it. Their refaults show the second use. As on the classic
 * LRU, a shadow entry has the number of pages evicted so far, in place of the
 * generation. A folio that is read again counts as used again if no more pages
 * were evicted in between than the lruvec has file pages. Entries from before
 * the ratio was set or unset, or from before lru_gen was switched, are read as
 * a wrong time. Each of them spoils one decision.
 */

#ifdef CONFIG_LRU_GEN

/*
 * Moves are from the second youngest generation, which is active, to the oldest
 * and back. With two generations these are the same. While lru_gen is being
 * disabled, a folio that leaves a list moves to a list of the classic LRU.
 */
static bool active_ratio_can_move(struct lruvec *lruvec)
{
	struct lru_gen_folio *lrugen = &lruvec->lrugen;

	return lrugen->enabled &&
	       lrugen->min_seq[LRU_GEN_FILE] + MIN_NR_GENS <= lrugen->max_seq;
}

/**
 * active_ratio_room - the number of further pages that a ratio would protect
 * @lruvec: the lists
 *
 * Context: lru_lock is held.
 * Return: a number of pages; negative if too many are protected.
 */
static long active_ratio_room(struct lruvec *lruvec)
{
	unsigned long file = active_ratio_gens_size(lruvec, LRU_GEN_FILE, MAX_NR_GENS);

	return active_ratio_target(lruvec, file) -
	       active_ratio_gens_size(lruvec, LRU_GEN_FILE, MIN_NR_GENS);
}

/* The flags that record the use of a folio within and across generations. */
#define ACTIVE_RATIO_USE_FLAGS \
	(LRU_REFS_MASK | LRU_REFS_FLAGS | BIT(PG_workingset))

static bool active_ratio_was_used(struct folio *folio)
{
	return READ_ONCE(*folio_flags(folio, 0)) &
	       (LRU_REFS_FLAGS | LRU_REFS_MASK);
}

/*
 * Fails if the aging has found the folio used through page tables meanwhile,
 * and has set its generation.
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
 * Adds to the counts that get_type_to_scan() and get_tier_idx() read. The first
 * tier need not have a count.
 */
static void active_ratio_count_protected(struct lruvec *lruvec, int tier,
					 long nr_pages)
{
	struct lru_gen_folio *lrugen = &lruvec->lrugen;
	int hist = lru_hist_from_seq(lrugen->min_seq[LRU_GEN_FILE]);
	unsigned long *counts = lrugen->protected[hist][LRU_GEN_FILE];
	int i = tier - (MAX_NR_TIERS - ARRAY_SIZE(lrugen->protected[0][0]));

	if (!tier)
		return;
	WRITE_ONCE(counts[i], counts[i] + nr_pages);
}

static void active_ratio_promote(struct lruvec *lruvec, struct folio *folio,
				 int tier)
{
	struct lru_gen_folio *lrugen = &lruvec->lrugen;
	int new_gen = lru_gen_from_seq(lrugen->max_seq - 1);
	int old_gen = folio_lru_gen(folio);
	int zone = folio_zonenum(folio);

	/* In the new generation, its use is recorded anew. */
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
 * A folio that the aging has found used through page tables is left alone: it
 * is young, whichever list it is still on. Moreover, lru_gen_update_size()
 * cannot make an active folio inactive.
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

/* Its use flags stay: it need not be used twice to move up again. */
static void active_ratio_demote(struct lruvec *lruvec, struct folio *folio)
{
	bool success;

	success = lru_gen_del_folio(lruvec, folio, true) &&
		  lru_gen_add_folio(lruvec, folio, false);
	VM_WARN_ON_ONCE_FOLIO(!success, folio);
}

/*
 * Reclaim cannot take such a folio, and would scan it again and again instead of
 * anonymous pages. In a small cgroup, a task may have most of the file pages: those
 * of a large readahead are locked until they are read, and it refers to those that
 * it copies or that are in its pipes. A reference that comes or goes meanwhile only
 * matters for this pass.
 */
static bool active_ratio_is_busy(struct folio *folio)
{
	return folio_test_locked(folio) ||
	       folio_ref_count(folio) > folio_expected_ref_count(folio);
}

/*
 * lru_gen_add_folio() would add a dirty folio that reclaim waits for to the
 * same generation again. The other exceptions are about to move to another list,
 * or reclaim cannot take them.
 */
static bool active_ratio_can_demote(struct folio *folio, int gen)
{
	return folio_lru_gen(folio) == gen && folio_evictable(folio) &&
	       !active_ratio_is_busy(folio) &&
	       !(folio_test_reclaim(folio) &&
		 (folio_test_dirty(folio) || folio_test_writeback(folio)));
}

static struct list_head *active_ratio_list(struct lruvec *lruvec,
					   struct folio *folio)
{
	int gen = folio_lru_gen(folio);

	return &lruvec->lrugen.folios[gen][LRU_GEN_FILE][folio_zonenum(folio)];
}

/* Moves it to the head of its list, which the aging may have changed. */
static void active_ratio_rotate(struct lruvec *lruvec, struct folio *folio)
{
	list_move(&folio->lru, active_ratio_list(lruvec, folio));
}

/* Makes it the next one to evict. */
static void active_ratio_give_up(struct lruvec *lruvec, struct folio *folio)
{
	active_ratio_demote(lruvec, folio);
	active_ratio_make_oldest(lruvec, folio);
	list_move_tail(&folio->lru, active_ratio_list(lruvec, folio));
}

/**
 * active_ratio_turn - demote or keep the tail of the second youngest generation
 * @lruvec: the lists
 * @zone: the zone of the list
 * @used: demote the folio even if it was used. If false, a demoted folio is
 *	evicted next, or reclaim would not end while there are newcomers
 *
 * A folio that stays moves to the head of its list, and has to be used again to
 * stay the next time, unless it is one that reclaim could not take now.
 *
 * Context: lru_lock is held.
 * Return: the number of pages that are no longer protected.
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

/* Is @folio all that is left to evict? In most cases its list tells that it is not. */
static bool active_ratio_is_last(struct lruvec *lruvec, struct folio *folio)
{
	return list_is_singular(active_ratio_list(lruvec, folio)) &&
	       active_ratio_inactive_size(lruvec, MAX_NR_ZONES - 1) <=
	       folio_nr_pages(folio);
}

/**
 * active_ratio_protect - move a file folio up instead of evicting it
 * @lruvec: lists that a ratio applies to
 * @memcg: the memory cgroup whose subtree is reclaimed from; %NULL for the root
 * @priority: of reclaim, which falls while reclaim finds too little
 * @folio: the tail of the oldest generation
 * @tier: the tier of the folio; above the first one, it was used again
 *
 * The last folio of a cgroup that may exceed its ratio is one that
 * __active_ratio_refill() has left, whether it was used again or not. Each pass of
 * reclaim would evict one, and a large folio is a large part of a small cgroup.
 *
 * Context: lru_lock is held.
 * Return: %true if the folio has moved to a younger generation; %false if it
 * may be evicted.
 */
bool active_ratio_protect(struct lruvec *lruvec, struct mem_cgroup *memcg,
			  int priority, struct folio *folio, int tier)
{
	long missing = 0, moved;

	if (!active_ratio_can_move(lruvec) ||
	    (!tier && !active_ratio_is_last(lruvec, folio)))
		return false;
	if (!active_ratio_is_met(lruvec, memcg, priority)) {
		if (!tier)
			return false;
		missing = active_ratio_to_give_up(folio_nr_pages(folio),
						  active_ratio_room(lruvec));
	}
	while (missing > 0) {
		moved = active_ratio_turn(lruvec, folio_zonenum(folio), false);
		if (!moved)
			return false;
		missing -= moved;
	}
	active_ratio_promote(lruvec, folio, tier);
	return true;
}

/* Moves folios from the third youngest generation to the oldest, but busy ones. */
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
		if (!active_ratio_is_busy(folio))
			active_ratio_make_oldest(lruvec, folio);
		active_ratio_rotate(lruvec, folio);
	}
}

/*
 * Demotes up to @nr pages, and up to a batch of folios of each zone. Reclaim
 * cannot take those above @highest, and moves them up again: it would go on for
 * ever, and never turn to anonymous pages. While the ratio is @met, the folio moves
 * up again soon, and still counts as active. Returns the number of pages demoted.
 */
static long active_ratio_demote_tails(struct lruvec *lruvec,
				      struct mem_cgroup *memcg, int highest,
				      long nr, bool met)
{
	long done = 0;
	int i, zone;

	for (zone = highest; zone >= 0; zone--)
		for (i = 0; i < ACTIVE_RATIO_BATCH && done < nr; i++)
			done += active_ratio_turn(lruvec, zone, true);
	if (!met)
		active_ratio_give_back(lruvec, memcg, done);
	return done;
}

/**
 * __active_ratio_trim - demote file pages in excess of a ratio
 * @lruvec: lists that a ratio applies to
 * @memcg: the memory cgroup whose subtree is reclaimed from; %NULL for the root
 * @priority: of reclaim, which falls while reclaim finds too little
 * @highest: the highest zone that reclaim may take pages from
 *
 * The page that __active_ratio_refill() has left may be gone, as its file was
 * truncated. Some kernels drop an empty generation at this point.
 *
 * Context: lru_lock is held.
 */
void __active_ratio_trim(struct lruvec *lruvec, struct mem_cgroup *memcg,
			 int priority, int highest)
{
	long excess;
	bool met;
	int zone;

	if (!active_ratio_can_move(lruvec))
		return;
	for (zone = highest; zone >= 0; zone--)
		active_ratio_merge(lruvec, zone);
	met = active_ratio_is_met(lruvec, memcg, priority);
	excess = met ? !active_ratio_inactive_size(lruvec, highest) :
		       -active_ratio_room(lruvec);
	active_ratio_demote_tails(lruvec, memcg, highest, excess, met);
}

/**
 * __active_ratio_refill - leave pages to evict, even protected ones
 * @lruvec: lists that a ratio applies to
 * @memcg: the memory cgroup whose subtree is reclaimed from; %NULL for the root
 * @priority: of reclaim, which falls while reclaim finds too little
 * @highest: the highest zone that reclaim may take pages from
 *
 * Without a page to evict, reclaim would have to make a new generation, and all
 * protected pages would be old at once. A cgroup that may exceed its ratio
 * leaves a single folio, which the next pass moves up again: see
 * active_ratio_protect(). If this one went on, it would do so with one after the
 * other.
 *
 * Context: lru_lock is held.
 * Return: see active_ratio_refill().
 */
bool __active_ratio_refill(struct lruvec *lruvec, struct mem_cgroup *memcg,
			   int priority, int highest)
{
	long nr = -active_ratio_inactive_size(lruvec, highest);
	bool met;

	if (!active_ratio_can_move(lruvec))
		return false;
	met = active_ratio_is_met(lruvec, memcg, priority);
	nr += met ? 1 : ACTIVE_RATIO_BATCH;
	return active_ratio_demote_tails(lruvec, memcg, highest, nr, met) && met;
}

/**
 * __active_ratio_kept - pages that a ratio keeps from aging
 * @lruvec: lists that a ratio applies to
 *
 * While the ratio is met, __active_ratio_refill() leaves fewer pages to evict
 * than a batch. The aging must not take them for a small oldest generation, so
 * those that are missing count MIN_NR_GENS + 2 times, as should_run_aging()
 * multiplies them.
 *
 * Return: the number of file pages in the second youngest generation, and more
 * if fewer than a batch are left to evict.
 */
unsigned long __active_ratio_kept(struct lruvec *lruvec)
{
	unsigned long max_seq = READ_ONCE(lruvec->lrugen.max_seq);
	const int highest = MAX_NR_ZONES - 1;
	long missing = ACTIVE_RATIO_BATCH -
		       active_ratio_inactive_size(lruvec, highest);

	return active_ratio_gen_size(lruvec, LRU_GEN_FILE, max_seq - 1, highest) +
	       (MIN_NR_GENS + 2) * max(missing, 0L);
}

/*
 * The recent refaults of file pages since their last generation was dropped, for
 * each one that there is to evict: an aging that adds one needs as many again.
 */
static unsigned long active_ratio_refaults(struct lruvec *lruvec)
{
	struct lru_gen_folio *lrugen = &lruvec->lrugen;
	unsigned long seq = READ_ONCE(lrugen->min_seq[LRU_GEN_FILE]);
	long gens = READ_ONCE(lrugen->max_seq) + 1 - seq - MIN_NR_GENS;
	int tier, hist = lru_hist_from_seq(seq);
	unsigned long sum = 0;

	for (tier = 0; tier < MAX_NR_TIERS; tier++)
		sum += atomic_long_read(&lrugen->refaulted[hist][LRU_GEN_FILE][tier]);
	return sum / max(gens, 1L);
}

/**
 * __active_ratio_needs_aging - has file memory become too small for its pages?
 * @lruvec: lists that a ratio applies to
 *
 * Without a ratio, there is a new generation each time that reclaim has evicted an
 * old one, and anonymous pages become old. With one, there are always file pages
 * to evict. If as many of those were read again as there are, reclaim has to be
 * able to choose anonymous pages. But a new generation costs file pages some
 * protection, and anonymous pages may be in use. So it has to be worth it: most
 * pages are anonymous.
 *
 * Context: any; the sizes and counts may change meanwhile.
 * Return: see active_ratio_needs_aging().
 */
bool __active_ratio_needs_aging(struct lruvec *lruvec)
{
	unsigned long file, young, anon;

	file = active_ratio_gens_size(lruvec, LRU_GEN_FILE, MAX_NR_GENS);
	young = active_ratio_gens_size(lruvec, LRU_GEN_ANON, MIN_NR_GENS);
	anon = active_ratio_gens_size(lruvec, LRU_GEN_ANON, MAX_NR_GENS);
	return active_ratio_refaults(lruvec) > file && young > file &&
	       young == anon;
}

/**
 * __active_ratio_evicted - count an eviction, and return its time
 * @lruvec: the lists that a folio is evicted from
 * @file: it is a file folio
 * @nr_pages: its size
 * @token: the contents of the shadow entry without a ratio
 * @mask: the bits that a shadow entry has room for
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
 * @evicted: the time in the value of active_ratio_evicted()
 * @mask: the bits that a shadow entry has for the time
 * @otherwise: the decision of the kernel's own rule
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
	       active_ratio_gens_size(lruvec, LRU_GEN_FILE, MAX_NR_GENS);
}

#endif /* CONFIG_LRU_GEN */

/* Settings */

static void active_ratio_set(s8 *setting, int ratio)
{
	if (ratio != ACTIVE_RATIO_DEFAULT)
		static_branch_enable(&active_ratio_key);
	WRITE_ONCE(*setting, ratio);
}

static int active_ratio_sysctl(const struct ctl_table *table, int write,
			       void *buffer, size_t *lenp, loff_t *ppos)
{
	struct ctl_table copy = *table;
	int ratio = READ_ONCE(active_ratio_global);
	int err;

	copy.data = &ratio;
	err = proc_dointvec_minmax(&copy, write, buffer, lenp, ppos);
	if (!err && write)
		active_ratio_set(&active_ratio_global, ratio);
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
 */
void active_ratio_memcg_reset(struct mem_cgroup *memcg)
{
	WRITE_ONCE(memcg->active_inactive_ratio, ACTIVE_RATIO_DEFAULT);
}

/**
 * active_ratio_parse - parse a value written to memory.active_inactive_ratio
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
	active_ratio_set(&memcg->active_inactive_ratio, ratio);
	return nbytes;
}

static struct cftype active_ratio_files[] = {
	{
		.name = "active_inactive_ratio",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = active_ratio_show,
		.write = active_ratio_write,
	},
	{ }	/* terminate */
};

/* cgroup core needs an array for each of the two hierarchies. */
static struct cftype active_ratio_v1_files[ARRAY_SIZE(active_ratio_files)];

static void __init active_ratio_add_files(void)
{
	if (mem_cgroup_disabled())
		return;
	if (IS_ENABLED(CONFIG_MEMCG_V1)) {
		memcpy(active_ratio_v1_files, active_ratio_files,
		       sizeof(active_ratio_files));
		WARN_ON(cgroup_add_legacy_cftypes(&memory_cgrp_subsys,
						  active_ratio_v1_files));
	}
	WARN_ON(cgroup_add_dfl_cftypes(&memory_cgrp_subsys,
				       active_ratio_files));
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
