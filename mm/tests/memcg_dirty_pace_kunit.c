// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for dirty limits: how much may be in the disk's queue.
 *
 * Included by mm/memcg_dirty_pace.c.
 */
#include <kunit/test.h>

/* The bound is a time, and some pages for a disk whose rate is not known yet. */
static void memcg_dirty_test_pace_bound(struct kunit *test)
{
	const unsigned long least = SZ_256K / PAGE_SIZE;

	KUNIT_EXPECT_EQ(test, memcg_dirty_pace_bound(0), least);
	KUNIT_EXPECT_EQ(test, memcg_dirty_pace_bound(8000), 200 + least);
	KUNIT_EXPECT_EQ(test, memcg_dirty_pace_bound(4000000), 100000 + least);
}

/* Two flushers that share a disk come nearer to each other. */
static void memcg_dirty_test_pace_converges(struct kunit *test)
{
	const unsigned long disk = 8000;
	unsigned long rates[2] = { 7900, 100 };
	int i;

	for (i = 0; i < 20; i++) {
		unsigned long first = memcg_dirty_pace_bound(rates[0]);
		unsigned long second = memcg_dirty_pace_bound(rates[1]);

		rates[0] = disk * first / (first + second);
		rates[1] = disk - rates[0];
	}
	KUNIT_EXPECT_LT(test, rates[0], 11 * disk / 20);
	KUNIT_EXPECT_GT(test, rates[1], 9 * disk / 20);
}

static void memcg_dirty_test_pace_sleep(struct kunit *test)
{
	const long longest = MEMCG_DIRTY_PACE_SLEEP;

	KUNIT_EXPECT_EQ(test, memcg_dirty_pace_sleep(1, 1000000), 1L);
	KUNIT_EXPECT_EQ(test, memcg_dirty_pace_sleep(longest * 100, 100UL * HZ),
			longest);
	KUNIT_EXPECT_EQ(test, memcg_dirty_pace_sleep(ULONG_MAX / HZ, 1), longest);
	KUNIT_EXPECT_EQ(test, memcg_dirty_pace_sleep(1000, 0), longest);
}

/* A filesystem on a disk with zones gets as much as it wants. */
static void memcg_dirty_test_pace_chunk(struct kunit *test)
{
	const long usual = SZ_4M / PAGE_SIZE;

	KUNIT_EXPECT_EQ(test, memcg_dirty_pace_chunk(5000, 200, usual), 200L);
	KUNIT_EXPECT_EQ(test, memcg_dirty_pace_chunk(100, 200, usual), 100L);
	KUNIT_EXPECT_EQ(test, memcg_dirty_pace_chunk(5000, 200, 65536), 5000L);
}

/* Others must get a worker, however many flushers sleep. */
static void memcg_dirty_test_pace_nap(struct kunit *test)
{
	const int most = WQ_DFL_ACTIVE / 2;

	KUNIT_EXPECT_GE(test, memcg_dirty_pace_most(), WQ_DFL_MIN_ACTIVE / 2);
	KUNIT_EXPECT_LE(test, memcg_dirty_pace_most(), most);
	KUNIT_EXPECT_TRUE(test, memcg_dirty_pace_nap(1));
	atomic_add(most, &memcg_dirty_nr_pacing);
	KUNIT_EXPECT_FALSE(test, memcg_dirty_pace_nap(1));
	atomic_sub(most, &memcg_dirty_nr_pacing);
	KUNIT_EXPECT_TRUE(test, memcg_dirty_pace_nap(1));
}

/* A disk that is removed, and work that others wait for, end the sleep. */
static void memcg_dirty_test_pace_urgent(struct kunit *test)
{
	struct bdi_writeback *wb = kunit_kzalloc(test, sizeof(*wb), GFP_KERNEL);
	struct backing_dev_info *bdi = kunit_kzalloc(test, sizeof(*bdi),
						     GFP_KERNEL);
	LIST_HEAD(work);

	KUNIT_ASSERT_NOT_NULL(test, wb);
	KUNIT_ASSERT_NOT_NULL(test, bdi);
	wb->bdi = bdi;
	bdi->crowded = jiffies - 2 * MEMCG_DIRTY_PACE_CROWDED;
	INIT_LIST_HEAD(&wb->work_list);
	KUNIT_EXPECT_TRUE(test, memcg_dirty_is_urgent(wb));
	set_bit(WB_registered, &wb->state);
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_urgent(wb));
	list_add(&work, &wb->work_list);
	KUNIT_EXPECT_TRUE(test, memcg_dirty_is_urgent(wb));
}

static struct kunit_case memcg_dirty_pace_cases[] = {
	KUNIT_CASE(memcg_dirty_test_pace_bound),
	KUNIT_CASE(memcg_dirty_test_pace_converges),
	KUNIT_CASE(memcg_dirty_test_pace_sleep),
	KUNIT_CASE(memcg_dirty_test_pace_chunk),
	KUNIT_CASE(memcg_dirty_test_pace_nap),
	KUNIT_CASE(memcg_dirty_test_pace_urgent),
	{}
};

static struct kunit_suite memcg_dirty_pace_suite = {
	.name = "memcg_dirty_pace",
	.test_cases = memcg_dirty_pace_cases,
};

kunit_test_suite(memcg_dirty_pace_suite);
