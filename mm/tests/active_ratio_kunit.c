// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the share of active file pages: the arithmetic, and parsing.
 *
 * Included by mm/active_ratio.c.
 */
#include <kunit/test.h>
#include <linux/limits.h>

struct active_ratio_share_case {
	unsigned long file;
	int ratio;
	unsigned long share;
};

/*
 * 1001 * 50 / 100 is 500, remainder 50: a division that returns the remainder,
 * as do_div() does, is told apart.
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
	/* 32 bits do not hold the product: 16 TiB of 4 KiB pages */
	{ U32_MAX, 100, U32_MAX },
	{ U32_MAX, 50, U32_MAX / 2 },
	{ U32_MAX, 1, U32_MAX / 100 },
#if BITS_PER_LONG == 64
	/* all that 57 address bits reach, and the most that can be told */
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
	/* the count goes past what a stamp holds, and past what a long holds */
	KUNIT_EXPECT_EQ(test, active_ratio_between(0xff0, 0x1010, 0), 0x20);
	KUNIT_EXPECT_EQ(test, active_ratio_between(-8UL, 8, 0), 16);
	KUNIT_EXPECT_EQ(test, active_ratio_between(-8UL, 8, 2), 16);
}

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

static struct kunit_case active_ratio_cases[] = {
	KUNIT_CASE(active_ratio_test_share),
	KUNIT_CASE(active_ratio_test_share_grows),
	KUNIT_CASE(active_ratio_test_order),
	KUNIT_CASE(active_ratio_test_distance),
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
