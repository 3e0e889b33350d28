// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for dirty limits: sums that forget, and shares of a limit.
 *
 * Included by mm/memcg_dirty_share.c.
 */
#include <kunit/test.h>

/* Each period that has gone by halves the sum. */
static void memcg_dirty_test_flow(struct kunit *test)
{
	struct memcg_dirty_flow flow = {};
	const unsigned long period = 1000 * HZ;

	flow.period = jiffies / period;
	memcg_dirty_flow_add(&flow, period, 800);
	KUNIT_EXPECT_EQ(test, memcg_dirty_flow_read(&flow, period), 800UL);
	flow.period--;
	KUNIT_EXPECT_EQ(test, memcg_dirty_flow_read(&flow, period), 400UL);
	memcg_dirty_flow_add(&flow, period, 5);
	KUNIT_EXPECT_EQ(test, memcg_dirty_flow_read(&flow, period), 405UL);
	flow.period -= 2;
	memcg_dirty_flow_add(&flow, period, 0);
	KUNIT_EXPECT_EQ(test, memcg_dirty_flow_read(&flow, period), 101UL);
	flow.period -= 200;
	KUNIT_EXPECT_EQ(test, memcg_dirty_flow_read(&flow, period), 0UL);
	/* A CPU that has read the clock before another one wipes nothing out. */
	memcg_dirty_flow_add(&flow, period, 7);
	flow.period++;
	memcg_dirty_flow_add(&flow, period, 1);
	KUNIT_EXPECT_EQ(test, memcg_dirty_flow_read(&flow, period), 8UL);
	KUNIT_EXPECT_EQ(test, flow.period, jiffies / period + 1);
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_later(7, 7));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_later(7, 8));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_later(-1UL, 0));
	KUNIT_EXPECT_TRUE(test, memcg_dirty_is_later(0, -1UL));
	/* A new cgroup, while periods have the highest bit set. */
	KUNIT_EXPECT_TRUE(test, memcg_dirty_is_later(LONG_MAX + 5UL, 0));
}

/* Completed writeback decides; the number of cgroups further down does not. */
static void memcg_dirty_test_share(struct kunit *test)
{
	struct memcg_dirty_share share = { 16384, 16384 };

	/* Nothing is known of two children: half each. */
	memcg_dirty_share_step(&share, 0, 0, 2);
	KUNIT_EXPECT_EQ(test, share.earned, 8192UL);
	KUNIT_EXPECT_EQ(test, share.equal, 8192UL);
	/* Of these, one has 40 children of its own. */
	memcg_dirty_share_step(&share, 100000, 4000000, 40);
	KUNIT_EXPECT_EQ(test, share.equal, 204UL);
	KUNIT_EXPECT_LE(test, share.earned, 206UL);
	KUNIT_EXPECT_GE(test, share.earned, 202UL);
	/* A slow disk. */
	share = (struct memcg_dirty_share){ 16384, 16384 };
	memcg_dirty_share_step(&share, 256, 64000, 2);
	KUNIT_EXPECT_LT(test, share.earned, 100UL);
	/* A share is never nothing. */
	share = (struct memcg_dirty_share){ 1, 1 };
	memcg_dirty_share_step(&share, 0, 64000, 2);
	KUNIT_EXPECT_EQ(test, share.earned, 1UL);
	KUNIT_EXPECT_EQ(test, share.equal, 1UL);
}

/* An eighth on each level is in reserve for siblings, up to half of the limit. */
static void memcg_dirty_test_cap(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, memcg_dirty_cap(16384, 0), 16384UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_cap(16384, 1), 14336UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_cap(16384, 4), 8192UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_cap(16384, 100), 8192UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_cap(1, 1), 1UL);
}

static void memcg_dirty_test_epoch(struct kunit *test)
{
	struct memcg_dirty dirty = {
		.active = { ATOMIC_INIT(3), ATOMIC_INIT(5) },
		.writers = { 1, 2 },
		.largest = { 16, 0 },
		.epoch = 7,
	};

	/* Within an epoch nothing changes. */
	memcg_dirty_turn_epoch(&dirty, 7);
	KUNIT_EXPECT_EQ(test, atomic_read(&dirty.active[0]), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&dirty.active[1]), 5);
	/* The last epoch is remembered, and none before it. */
	memcg_dirty_turn_epoch(&dirty, 8);
	KUNIT_EXPECT_EQ(test, atomic_read(&dirty.active[0]), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&dirty.active[1]), 3);
	KUNIT_EXPECT_EQ(test, dirty.writers[1], 1UL);
	atomic_set(&dirty.active[0], 2);
	dirty.largest[0] = 512;
	memcg_dirty_turn_epoch(&dirty, 10);
	KUNIT_EXPECT_EQ(test, atomic_read(&dirty.active[0]), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&dirty.active[1]), 0);
	KUNIT_EXPECT_EQ(test, dirty.writers[1], 0UL);
	KUNIT_EXPECT_EQ(test, dirty.largest[1], 512U);
	memcg_dirty_turn_epoch(&dirty, 9);
	KUNIT_EXPECT_EQ(test, dirty.epoch, 10U);
}

static struct kunit_case memcg_dirty_share_cases[] = {
	KUNIT_CASE(memcg_dirty_test_flow),
	KUNIT_CASE(memcg_dirty_test_share),
	KUNIT_CASE(memcg_dirty_test_cap),
	KUNIT_CASE(memcg_dirty_test_epoch),
	{}
};

static struct kunit_suite memcg_dirty_share_suite = {
	.name = "memcg_dirty_share",
	.test_cases = memcg_dirty_share_cases,
};

kunit_test_suite(memcg_dirty_share_suite);
