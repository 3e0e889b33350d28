// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the share of active file pages: the arithmetic, and parsing.
 *
 * Included by mm/active_ratio.c.
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/sizes.h>

struct active_ratio_share_case {
	unsigned long file;
	int ratio;
	unsigned long share;
};

/*
 * 1001 * 50 / 100 is 500, remainder 50. This detects a division that returns
 * the remainder, as do_div() does.
 */
static const struct active_ratio_share_case active_ratio_share_cases[] = {
	{ 0, 0, 0 },
	{ 0, 100, 0 },
	{ 1, 99, 0 },
	{ 1, 100, 1 },
	{ 1000, 0, 0 },
	{ 1000, 1, 10 },
	{ 1000, 25, 250 },
	{ 1001, 50, 500 },
	{ 1000, 100, 1000 },
	{ 65536, 50, 32768 },
	/* the product needs more than 32 bits: 16 TiB of 4 KiB pages */
	{ U32_MAX, 100, U32_MAX },
	{ U32_MAX, 50, U32_MAX / 2 },
	{ U32_MAX, 1, U32_MAX / 100 },
#if BITS_PER_LONG == 64
	/* all pages of 57 address bits, and the largest argument */
	{ 1UL << 45, 75, 3UL << 43 },
	{ 1UL << 45, 100, 1UL << 45 },
	{ ULONG_MAX / 100, 100, ULONG_MAX / 100 },
#endif
};

static void active_ratio_test_share(struct kunit *test)
{
	const struct active_ratio_share_case *c;
	int i;

	for (i = 0; i < ARRAY_SIZE(active_ratio_share_cases); i++) {
		c = &active_ratio_share_cases[i];
		KUNIT_EXPECT_EQ_MSG(test, active_ratio_share(c->file, c->ratio),
				    c->share, "%d%% of %lu", c->ratio, c->file);
	}
}

static void active_ratio_test_share_grows(struct kunit *test)
{
	unsigned long share, last = 0;
	int ratio;

	for (ratio = 1; ratio <= ACTIVE_RATIO_MAX; ratio++) {
		share = active_ratio_share(12345, ratio);
		KUNIT_EXPECT_GT(test, share, last);
		last = share;
	}
	KUNIT_EXPECT_EQ(test, last, 12345UL);
}

/* At any ratio and size, some pages are left to reclaim. */
static void active_ratio_test_reserve(struct kunit *test)
{
	const unsigned long two = ACTIVE_RATIO_RESERVE_PAGES;
	unsigned long file, left, own;
	int ratio;

	KUNIT_EXPECT_EQ(test, active_ratio_protected(1000, 50), 500UL);
	KUNIT_EXPECT_EQ(test, active_ratio_protected(80000, 93), 74400UL);
	KUNIT_EXPECT_EQ(test, active_ratio_protected(80000, 94), 75000UL);
	KUNIT_EXPECT_EQ(test, active_ratio_protected(80000, 100), 75000UL);
	/* two windows of a readahead, up to a quarter */
	KUNIT_EXPECT_EQ(test, active_ratio_protected(8 * two, 100), 7 * two);
	KUNIT_EXPECT_EQ(test, active_ratio_protected(2 * two, 100),
			2 * two / 4 * 3);
	KUNIT_EXPECT_EQ(test, active_ratio_protected(2 * two, 75),
			2 * two / 4 * 3);
	KUNIT_EXPECT_EQ(test, active_ratio_protected(33, 100), 1UL);
	KUNIT_EXPECT_EQ(test, active_ratio_protected(0, 100), 0UL);
	for (file = 1; file <= 1UL << 24; file <<= 1) {
		own = active_ratio_own_share(file);
		for (ratio = 0; ratio <= ACTIVE_RATIO_MAX; ratio++) {
			left = file - active_ratio_protected(file, ratio);
			KUNIT_EXPECT_GE(test, left,
					min(file, SWAP_CLUSTER_MAX));
			KUNIT_EXPECT_GE(test, left,
					min(file >> 4, file - own));
		}
		/* A ratio of 100 protects no less than the kernel's own rule. */
		if (own > SWAP_CLUSTER_MAX && file - own > SWAP_CLUSTER_MAX)
			KUNIT_EXPECT_GE(test, active_ratio_protected(file, 100),
					own);
	}
}

/* Pages that became active after the statistics were flushed count. */
static void active_ratio_test_holds(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, active_ratio_holds(499, 501, 0, 50));
	KUNIT_EXPECT_FALSE(test, active_ratio_holds(500, 500, 0, 50));
	KUNIT_EXPECT_TRUE(test, active_ratio_holds(0, 1000, 499, 50));
	KUNIT_EXPECT_FALSE(test, active_ratio_holds(0, 1000, 500, 50));
	KUNIT_EXPECT_FALSE(test, active_ratio_holds(0, 1000, 900, 50));
	KUNIT_EXPECT_TRUE(test, active_ratio_holds(300, 700, 749, 75));
	KUNIT_EXPECT_FALSE(test, active_ratio_holds(300, 700, 750, 75));
	KUNIT_EXPECT_FALSE(test, active_ratio_holds(0, 0, 0, 75));
	/* nor does a subtree whose pages are not counted yet */
	KUNIT_EXPECT_FALSE(test, active_ratio_holds(0, 0, 1000, 75));
	KUNIT_EXPECT_FALSE(test, active_ratio_holds(0, 1000, 0, 0));
}

/* The result of inactive_is_low() for these numbers of pages. */
static bool active_ratio_low(unsigned long active, unsigned long file)
{
	unsigned long gb = file >> (30 - PAGE_SHIFT);

	return (file - active) * (gb ? int_sqrt(10 * gb) : 1) < active;
}

static void active_ratio_test_own_share(struct kunit *test)
{
	static const unsigned long files[] = {
		0, 1, 2, 3, 1000, 1001, SZ_1G >> PAGE_SHIFT,
		10UL * (SZ_1G >> PAGE_SHIFT), 100UL * (SZ_1G >> PAGE_SHIFT),
	};
	unsigned long share;
	int i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		share = active_ratio_own_share(files[i]);
		KUNIT_EXPECT_FALSE_MSG(test, active_ratio_low(share, files[i]),
				       "%lu of %lu", share, files[i]);
		if (files[i])
			KUNIT_EXPECT_TRUE_MSG(test,
					      active_ratio_low(share + 1, files[i]),
					      "%lu of %lu", share, files[i]);
	}
	KUNIT_EXPECT_EQ(test, active_ratio_above_own(700, 300), 200UL);
	KUNIT_EXPECT_EQ(test, active_ratio_above_own(500, 500), 0UL);
	KUNIT_EXPECT_EQ(test, active_ratio_above_own(0, 0), 0UL);
}

/* Pages that reclaim deactivates are not held: then inactive ones are low. */
static void active_ratio_test_held(struct kunit *test)
{
	unsigned long held;

	KUNIT_EXPECT_EQ(test, active_ratio_held_of(700, 300, 750), 200UL);
	KUNIT_EXPECT_EQ(test, active_ratio_held_of(700, 300, 600), 100UL);
	KUNIT_EXPECT_EQ(test, active_ratio_held_of(700, 300, 250), 0UL);
	KUNIT_EXPECT_EQ(test, active_ratio_held_of(700, 300, 0), 0UL);
	KUNIT_EXPECT_EQ(test, active_ratio_held_of(400, 600, 750), 0UL);
	KUNIT_EXPECT_EQ(test, active_ratio_held_of(0, 0, 0), 0UL);
	/* a cgroup that holds more than its ratio, until it has given them up */
	KUNIT_EXPECT_EQ(test, active_ratio_held_by_all(700, 300, 0), 0UL);
	KUNIT_EXPECT_EQ(test, active_ratio_held_by_all(700, 300, 199), 0UL);
	KUNIT_EXPECT_EQ(test, active_ratio_held_by_all(700, 300, 200), 200UL);
	/* one with a ratio of 75, beside one with 25 */
	held = active_ratio_held_of(7000, 3000, 7500) +
	       active_ratio_held_of(250, 750, 250);
	KUNIT_EXPECT_EQ(test, active_ratio_held_by_all(7250, 3750, held), held);
	/* one that may exceed its ratio, as the other has inactive pages */
	held = active_ratio_held_of(700, 0, 700);
	KUNIT_EXPECT_EQ(test, active_ratio_held_by_all(700, 300, held), held);
	/* children have the smaller own share: 50% each, 75% together */
	held = 2 * active_ratio_held_of(180000, 20000, 187500);
	KUNIT_EXPECT_EQ(test, active_ratio_held_by_all(360000, 40000, held), held);
}

/* When reclaim finds almost nothing, the kernel's own share is the limit. */
static void active_ratio_test_above(struct kunit *test)
{
	int priority;

	for (priority = ACTIVE_RATIO_HARD; priority <= DEF_PRIORITY; priority++) {
		KUNIT_EXPECT_EQ(test, active_ratio_above(900, 100, 937, priority),
				-37L);
		KUNIT_EXPECT_EQ(test, active_ratio_above(700, 300, 250, priority),
				450L);
	}
	for (priority = 0; priority < ACTIVE_RATIO_HARD; priority++) {
		/* a batch, or the pages above the own share if they are fewer */
		KUNIT_EXPECT_EQ(test, active_ratio_above(900, 100, 937, priority),
				(long)ACTIVE_RATIO_BATCH);
		KUNIT_EXPECT_EQ(test, active_ratio_above(501, 499, 937, priority),
				1L);
		KUNIT_EXPECT_LE(test, active_ratio_above(500, 500, 937, priority),
				0L);
		/* never less than above the ratio */
		KUNIT_EXPECT_EQ(test, active_ratio_above(990, 10, 937, priority),
				53L);
		KUNIT_EXPECT_EQ(test, active_ratio_above(300, 700, 250, priority),
				50L);
		KUNIT_EXPECT_EQ(test, active_ratio_above(0, 0, 0, priority), 0L);
	}
}

/* The request, and as much again to get back to the ratio. */
static void active_ratio_test_to_scan(struct kunit *test)
{
	unsigned long nr;
	long excess;

	KUNIT_EXPECT_EQ(test, active_ratio_to_scan(32, -100), 0UL);
	KUNIT_EXPECT_EQ(test, active_ratio_to_scan(32, 0), 0UL);
	KUNIT_EXPECT_EQ(test, active_ratio_to_scan(32, 1), 1UL);
	KUNIT_EXPECT_EQ(test, active_ratio_to_scan(32, 50), 50UL);
	KUNIT_EXPECT_EQ(test, active_ratio_to_scan(32, 256), 64UL);
	/* more if large folios became active, up to such a folio */
	KUNIT_EXPECT_EQ(test, active_ratio_to_scan(32, 544), 136UL);
	KUNIT_EXPECT_EQ(test, active_ratio_to_scan(32, 100000), 544UL);
	for (nr = 1; nr <= SWAP_CLUSTER_MAX; nr++)
		for (excess = -1000; excess <= 100000; excess += 250)
			KUNIT_EXPECT_LE(test, active_ratio_to_scan(nr, excess),
					max(2 * nr, 544UL));
}

static void active_ratio_test_scan_inactive(struct kunit *test)
{
	/* a short list is scanned as if it had the kernel's own share */
	KUNIT_EXPECT_EQ(test, active_ratio_scan_inactive(100, 2, 10000), 50UL);
	/* a longer list is scanned as it is */
	KUNIT_EXPECT_EQ(test, active_ratio_scan_inactive(100, 90, 10000), 90UL);
	KUNIT_EXPECT_EQ(test, active_ratio_scan_inactive(0, 0, 10000), 0UL);
	KUNIT_EXPECT_EQ(test, active_ratio_scan_inactive(0, 0, 0), 0UL);
	/* never more than both lists, and a part stays for the active list */
	KUNIT_EXPECT_EQ(test, active_ratio_scan_inactive(1, 0, 1), 1UL);
	KUNIT_EXPECT_EQ(test, active_ratio_scan_inactive(1, 0, 1000), 0UL);
	KUNIT_EXPECT_LT(test, active_ratio_scan_inactive(100, 0, 10000000), 50UL);
}

/* A newcomer replaces its own size at most, however large the excess. */
static void active_ratio_test_to_give_up(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, active_ratio_to_give_up(1, 100), -99L);
	KUNIT_EXPECT_EQ(test, active_ratio_to_give_up(1, 1), 0L);
	KUNIT_EXPECT_EQ(test, active_ratio_to_give_up(512, 500), 12L);
	KUNIT_EXPECT_EQ(test, active_ratio_to_give_up(1, 0), 1L);
	KUNIT_EXPECT_EQ(test, active_ratio_to_give_up(1, -24000000), 1L);
	KUNIT_EXPECT_EQ(test, active_ratio_to_give_up(512, -1), 512L);
}

static void active_ratio_test_order(struct kunit *test)
{
	/* twice the memory fits */
	KUNIT_EXPECT_EQ(test, active_ratio_order(0x7ff, 0xfff), 0);
	KUNIT_EXPECT_EQ(test, active_ratio_order(0x800, 0xfff), 1);
	KUNIT_EXPECT_EQ(test, active_ratio_order(1UL << 20, 0xfff), 10);
	KUNIT_EXPECT_EQ(test, active_ratio_order(1, ULONG_MAX), 0);
}

static unsigned long active_ratio_between(unsigned long then, unsigned long now,
					  unsigned int order)
{
	unsigned long stamp = active_ratio_stamp(then, order, 0xfff);

	return active_ratio_distance(now, stamp, order, 0xfff);
}

static void active_ratio_test_distance(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, active_ratio_between(0, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, active_ratio_between(1000, 1234, 0), 234);
	KUNIT_EXPECT_EQ(test, active_ratio_between(1000, 2000, 3), 1000);
	KUNIT_EXPECT_EQ(test, active_ratio_between(1001, 2000, 3), 1000);
	/* the count exceeds the range of a stamp, and that of a long */
	KUNIT_EXPECT_EQ(test, active_ratio_between(0xff0, 0x1010, 0), 0x20);
	KUNIT_EXPECT_EQ(test, active_ratio_between(-8UL, 8, 0), 16);
	KUNIT_EXPECT_EQ(test, active_ratio_between(-8UL, 8, 2), 16);
}

#ifdef CONFIG_LRU_GEN

/* Pages of zones that reclaim may not take pages from are not left to evict. */
static void active_ratio_test_zones(struct kunit *test)
{
	struct lruvec *lruvec = kunit_kzalloc(test, sizeof(*lruvec), GFP_KERNEL);
	struct lru_gen_folio *lrugen;
	int gen, zone;

	KUNIT_ASSERT_NOT_NULL(test, lruvec);
	lrugen = &lruvec->lrugen;
	lrugen->max_seq = MAX_NR_GENS + 1;
	for (gen = 0; gen < MAX_NR_GENS; gen++)
		for (zone = 0; zone < MAX_NR_ZONES; zone++)
			lrugen->nr_pages[gen][LRU_GEN_FILE][zone] = 1 << zone;
	/* all but the two youngest generations */
	KUNIT_EXPECT_EQ(test, active_ratio_inactive_size(lruvec, 0), 2L);
	KUNIT_EXPECT_EQ(test, active_ratio_inactive_size(lruvec, 1), 2L * 3);
	KUNIT_EXPECT_EQ(test,
			active_ratio_inactive_size(lruvec, MAX_NR_ZONES - 1),
			2L * ((1 << MAX_NR_ZONES) - 1));
	gen = lru_gen_from_seq(lrugen->max_seq);
	lrugen->nr_pages[gen][LRU_GEN_FILE][0] = 100;
	KUNIT_EXPECT_EQ(test, active_ratio_inactive_size(lruvec, 0), 2L);
	gen = lru_gen_from_seq(lrugen->max_seq - MIN_NR_GENS);
	lrugen->nr_pages[gen][LRU_GEN_FILE][0] = 100;
	KUNIT_EXPECT_EQ(test, active_ratio_inactive_size(lruvec, 0), 101L);
}

/* 30 file pages beside 31 young anonymous ones */
static struct lruvec *active_ratio_thrashing(struct kunit *test)
{
	struct lruvec *lruvec = kunit_kzalloc(test, sizeof(*lruvec), GFP_KERNEL);
	struct lru_gen_folio *lrugen;
	int old, young;

	KUNIT_ASSERT_NOT_NULL(test, lruvec);
	lrugen = &lruvec->lrugen;
	lrugen->max_seq = MAX_NR_GENS + 1;
	lrugen->min_seq[LRU_GEN_FILE] = lrugen->max_seq - MIN_NR_GENS;
	old = lru_gen_from_seq(lrugen->max_seq - MIN_NR_GENS);
	young = lru_gen_from_seq(lrugen->max_seq - 1);
	lrugen->nr_pages[old][LRU_GEN_FILE][0] = 10;
	lrugen->nr_pages[young][LRU_GEN_FILE][0] = 20;
	lrugen->nr_pages[young][LRU_GEN_ANON][0] = 31;
	return lruvec;
}

static bool active_ratio_ages(struct lruvec *lruvec, int type, int tier, long refaults)
{
	int hist = lru_hist_from_seq(lruvec->lrugen.min_seq[LRU_GEN_FILE]);

	atomic_long_set(&lruvec->lrugen.refaulted[hist][type][tier], refaults);
	return __active_ratio_needs_aging(lruvec);
}

static void active_ratio_test_needs_aging(struct kunit *test)
{
	struct lruvec *lruvec = active_ratio_thrashing(test);
	long *anon, *young;
	int gen;

	KUNIT_EXPECT_FALSE(test, active_ratio_ages(lruvec, LRU_GEN_ANON, 0, 100));
	KUNIT_EXPECT_FALSE(test, active_ratio_ages(lruvec, LRU_GEN_FILE, 0, 20));
	KUNIT_EXPECT_FALSE(test, active_ratio_ages(lruvec, LRU_GEN_FILE,
						   MAX_NR_TIERS - 1, 10));
	/* no more anonymous pages than file pages */
	gen = lru_gen_from_seq(lruvec->lrugen.max_seq - 1);
	young = &lruvec->lrugen.nr_pages[gen][LRU_GEN_ANON][0];
	*young = 30;
	KUNIT_EXPECT_FALSE(test, active_ratio_ages(lruvec, LRU_GEN_FILE, 0, 21));
	/* one of them is old */
	*young = 31;
	gen = lru_gen_from_seq(lruvec->lrugen.max_seq - MIN_NR_GENS);
	anon = &lruvec->lrugen.nr_pages[gen][LRU_GEN_ANON][MAX_NR_ZONES - 1];
	*anon = 1;
	KUNIT_EXPECT_FALSE(test, active_ratio_ages(lruvec, LRU_GEN_FILE, 0, 21));
	*anon = 0;
	KUNIT_EXPECT_TRUE(test, active_ratio_ages(lruvec, LRU_GEN_FILE, 0, 21));
	/* a generation more */
	lruvec->lrugen.min_seq[LRU_GEN_FILE]--;
	KUNIT_EXPECT_FALSE(test, active_ratio_ages(lruvec, LRU_GEN_FILE,
						   MAX_NR_TIERS - 1, 10));
	KUNIT_EXPECT_FALSE(test, active_ratio_ages(lruvec, LRU_GEN_FILE, 0, 51));
	KUNIT_EXPECT_TRUE(test, active_ratio_ages(lruvec, LRU_GEN_FILE, 0, 52));
}

#endif /* CONFIG_LRU_GEN */

#ifdef CONFIG_MEMCG

struct active_ratio_parse_case {
	const char *text;
	int err;
	int ratio;
};

static const struct active_ratio_parse_case active_ratio_parse_cases[] = {
	{ "default", 0, ACTIVE_RATIO_DEFAULT },
	{ "0", 0, 0 },
	{ "25", 0, 25 },
	{ "100", 0, 100 },
	{ "", -EINVAL },
	{ "-1", -EINVAL },
	{ "-2", -EINVAL },
	{ "101", -EINVAL },
	{ "4294967296", -EINVAL },
	{ "50%", -EINVAL },
	{ "5 0", -EINVAL },
	{ "0x10", -EINVAL },
	{ "max", -EINVAL },
	{ "defaults", -EINVAL },
};

static void active_ratio_test_parse(struct kunit *test)
{
	const struct active_ratio_parse_case *c;
	int i, ratio;

	for (i = 0; i < ARRAY_SIZE(active_ratio_parse_cases); i++) {
		c = &active_ratio_parse_cases[i];
		ratio = 42;
		KUNIT_EXPECT_EQ_MSG(test, active_ratio_parse(c->text, &ratio),
				    c->err, "\"%s\"", c->text);
		KUNIT_EXPECT_EQ_MSG(test, ratio, c->err ? 42 : c->ratio,
				    "\"%s\"", c->text);
	}
}

#endif /* CONFIG_MEMCG */

/* Sums are renewed once in a period, by one reclaimer, until it seems to be stuck. */
static void active_ratio_test_due(struct kunit *test)
{
	const unsigned long at = 0UL - 1000, renewing = at | ACTIVE_RATIO_RENEWING;

	KUNIT_EXPECT_FALSE(test, active_ratio_is_due(at, at));
	KUNIT_EXPECT_FALSE(test, active_ratio_is_due(at, at + ACTIVE_RATIO_PERIOD));
	KUNIT_EXPECT_TRUE(test, active_ratio_is_due(at, at + ACTIVE_RATIO_PERIOD + 1));
	/* The clock may be odd, and is rounded down. */
	KUNIT_EXPECT_FALSE(test, active_ratio_is_due(renewing, at));
	KUNIT_EXPECT_FALSE(test, active_ratio_is_due(renewing,
						     at + ACTIVE_RATIO_TAKEOVER));
	KUNIT_EXPECT_TRUE(test, active_ratio_is_due(renewing,
						    at + ACTIVE_RATIO_TAKEOVER + 1));
}

static void active_ratio_test_renewal(struct kunit *test)
{
	struct lruvec *target = kunit_kzalloc(test, sizeof(*target), GFP_KERNEL);
	unsigned long start = jiffies & ~ACTIVE_RATIO_RENEWING;

	KUNIT_ASSERT_NOT_NULL(test, target);
	target->active_ratio.at = (jiffies - 2 * ACTIVE_RATIO_TAKEOVER) &
				  ~ACTIVE_RATIO_RENEWING;
	KUNIT_EXPECT_TRUE(test, active_ratio_begin_renewal(target));
	KUNIT_EXPECT_TRUE(test, target->active_ratio.at & ACTIVE_RATIO_RENEWING);
	KUNIT_EXPECT_FALSE(test, active_ratio_begin_renewal(target));
	active_ratio_end_renewal(target);
	KUNIT_EXPECT_FALSE(test, target->active_ratio.at & ACTIVE_RATIO_RENEWING);
	KUNIT_EXPECT_TRUE(test, time_in_range(target->active_ratio.at, start,
					      jiffies));
}

static struct kunit_case active_ratio_cases[] = {
	KUNIT_CASE(active_ratio_test_share),
	KUNIT_CASE(active_ratio_test_share_grows),
	KUNIT_CASE(active_ratio_test_reserve),
	KUNIT_CASE(active_ratio_test_holds),
	KUNIT_CASE(active_ratio_test_own_share),
	KUNIT_CASE(active_ratio_test_held),
	KUNIT_CASE(active_ratio_test_above),
	KUNIT_CASE(active_ratio_test_to_scan),
	KUNIT_CASE(active_ratio_test_scan_inactive),
	KUNIT_CASE(active_ratio_test_to_give_up),
	KUNIT_CASE(active_ratio_test_order),
	KUNIT_CASE(active_ratio_test_distance),
	KUNIT_CASE(active_ratio_test_due),
	KUNIT_CASE(active_ratio_test_renewal),
#ifdef CONFIG_LRU_GEN
	KUNIT_CASE(active_ratio_test_zones),
	KUNIT_CASE(active_ratio_test_needs_aging),
#endif
#ifdef CONFIG_MEMCG
	KUNIT_CASE(active_ratio_test_parse),
#endif
	{}
};

static struct kunit_suite active_ratio_suite = {
	.name = "active_ratio",
	.test_cases = active_ratio_cases,
};

kunit_test_suite(active_ratio_suite);
