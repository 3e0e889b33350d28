// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for fresh counts of dirty pages: when they are flushed, and how often.
 *
 * Included by mm/memcg_fresh.c.
 */
#include <kunit/test.h>

static void memcg_fresh_test_claim(struct kunit *test)
{
	unsigned long flushed = 0;

	/* Jiffies start below 0. */
	KUNIT_EXPECT_TRUE(test, memcg_fresh_claim(&flushed, flushed, -100, 5));
	KUNIT_EXPECT_EQ(test, flushed, -100UL);
	KUNIT_EXPECT_FALSE(test, memcg_fresh_claim(&flushed, flushed, -100, 1));
	KUNIT_EXPECT_FALSE(test, memcg_fresh_claim(&flushed, flushed, -96, 5));
	KUNIT_EXPECT_TRUE(test, memcg_fresh_claim(&flushed, flushed, -96, 1));
	KUNIT_EXPECT_FALSE(test, memcg_fresh_claim(&flushed, flushed, -92, 5));
	KUNIT_EXPECT_TRUE(test, memcg_fresh_claim(&flushed, flushed, 3, 5));
	KUNIT_EXPECT_EQ(test, flushed, 3);
	/* Another task was faster. */
	KUNIT_EXPECT_FALSE(test, memcg_fresh_claim(&flushed, -92, 9, 5));
	KUNIT_EXPECT_EQ(test, flushed, 3);
}

static void memcg_fresh_test_interval(struct kunit *test)
{
	const unsigned long low = MEMCG_FRESH_LOW_INTERVAL;
	const unsigned long high = MEMCG_FRESH_HIGH_INTERVAL;

	/* Below the ceiling by both counts: no pause, no flush. */
	KUNIT_EXPECT_EQ(test, memcg_fresh_interval(true, 10, 0, 100), 0);
	KUNIT_EXPECT_EQ(test, memcg_fresh_interval(true, 10, 100, 100), 0);
	/* The statistics lag behind the writer. */
	KUNIT_EXPECT_EQ(test, memcg_fresh_interval(true, 10, 101, 100), low);
	KUNIT_EXPECT_EQ(test, memcg_fresh_interval(false, 110, 120, 100), low);
	/* They may lag behind the disk. */
	KUNIT_EXPECT_EQ(test, memcg_fresh_interval(false, 110, 0, 100), high);
	KUNIT_EXPECT_EQ(test, memcg_fresh_interval(false, 110, 110, 100), high);
	/* Much less often than a writer is paused on a busy machine. */
	KUNIT_EXPECT_GT(test, high, low);
}

static struct kunit_case memcg_fresh_cases[] = {
	KUNIT_CASE(memcg_fresh_test_claim),
	KUNIT_CASE(memcg_fresh_test_interval),
	{}
};

static struct kunit_suite memcg_fresh_suite = {
	.name = "memcg_fresh",
	.test_cases = memcg_fresh_cases,
};

kunit_test_suite(memcg_fresh_suite);
