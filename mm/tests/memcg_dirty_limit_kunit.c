// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for dirty limits: thresholds.
 *
 * Included by mm/memcg_dirty_limit.c.
 */
#include <kunit/test.h>

static void memcg_dirty_test_part(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, memcg_dirty_part(1000, 30, 100), 300UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_part(1000, 100, 100), 1000UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_part(1000, 200, 100), 1000UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_part(1000, 0, 100), 1UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_part(1000, 0, 0), 1000UL);
	/* The product does not overflow. */
	KUNIT_EXPECT_EQ(test, memcg_dirty_part(PAGE_COUNTER_MAX,
					       PAGE_COUNTER_MAX / 4,
					       PAGE_COUNTER_MAX / 4 * 2),
			PAGE_COUNTER_MAX / 2);
}

/* The limit as it was set, or below memory.max a share of the system's. */
static void memcg_dirty_test_threshold(struct kunit *test)
{
	struct memcg_dirty_base base = { .avail = 1000, .system = 4000 };
	const long unset = MEMCG_DIRTY_UNSET, ratio = -30;
	long bytes = 900;

	KUNIT_EXPECT_EQ(test, memcg_dirty_threshold(unset, &base, 800),
			PAGE_COUNTER_MAX);
	KUNIT_EXPECT_EQ(test, memcg_dirty_threshold(bytes, &base, 800), 900UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_threshold(ratio, &base, 800), 300UL);
	base.bounded = true;
	KUNIT_EXPECT_EQ(test, memcg_dirty_threshold(unset, &base, 800), 200UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_threshold(ratio, &base, 800), 300UL);
	/* A quarter stays clean for reclaim. */
	KUNIT_EXPECT_EQ(test, memcg_dirty_threshold(bytes, &base, 800), 750UL);
	/* Below a memory.max without a limit, the own share is the maximum. */
	base.bounded = false;
	base.outer = true;
	KUNIT_EXPECT_EQ(test, memcg_dirty_threshold(bytes, &base, 800), 200UL);
	bytes = 150;
	KUNIT_EXPECT_EQ(test, memcg_dirty_threshold(bytes, &base, 800), 150UL);
	base.bounded = true;
	base.avail = 0;
	KUNIT_EXPECT_EQ(test, memcg_dirty_threshold(bytes, &base, 800), 1UL);
}

static void memcg_dirty_test_background(struct kunit *test)
{
	const unsigned long max = PAGE_COUNTER_MAX;

	KUNIT_EXPECT_EQ(test, memcg_dirty_background(30, 100, false), 30UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_background(99, 100, false), 99UL);
	/* A value that is not below the limit counts as half of it. */
	KUNIT_EXPECT_EQ(test, memcg_dirty_background(100, 100, false), 50UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_background(max, 100, true), 50UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_background(max, 1, true), 0UL);
	/* Below memory.max, it is a share of the system's if that is lower. */
	KUNIT_EXPECT_EQ(test, memcg_dirty_background(99, 100, true), 50UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_background(30, 100, true), 30UL);
	/* Without a limit, it applies as it is. */
	KUNIT_EXPECT_EQ(test, memcg_dirty_background(30, max, false), 30UL);
}

/* Headroom counts as far as the system has that much memory. */
static void memcg_dirty_test_avail(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, memcg_dirty_avail(100, 50, 1000), 150UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_avail(100, 5000, 1000), 1000UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_avail(100, PAGE_COUNTER_MAX, 1000),
			1000UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_avail(0, 0, 1000), 0UL);
	/* Statistics lag: more page cache than the system has. */
	KUNIT_EXPECT_EQ(test, memcg_dirty_avail(1100, 50, 1000), 1100UL);
}

static struct kunit_case memcg_dirty_limit_cases[] = {
	KUNIT_CASE(memcg_dirty_test_part),
	KUNIT_CASE(memcg_dirty_test_threshold),
	KUNIT_CASE(memcg_dirty_test_background),
	KUNIT_CASE(memcg_dirty_test_avail),
	{}
};

static struct kunit_suite memcg_dirty_limit_suite = {
	.name = "memcg_dirty_limit",
	.test_cases = memcg_dirty_limit_cases,
};

kunit_test_suite(memcg_dirty_limit_suite);
