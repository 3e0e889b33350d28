// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for sleeping on memory.high: which tasks are woken, and how many.
 *
 * Included by mm/memcg_high.c.
 */
#include <kunit/test.h>

/* One for each batch, and the first for less than one. */
static void memcg_high_test_nr_served(struct kunit *test)
{
	const unsigned long batch = MEMCG_CHARGE_BATCH;

	KUNIT_EXPECT_EQ(test, memcg_high_nr_served(101, 100), 0);
	KUNIT_EXPECT_EQ(test, memcg_high_nr_served(100, 100), 1);
	KUNIT_EXPECT_EQ(test, memcg_high_nr_served(0, batch - 1), 1);
	KUNIT_EXPECT_EQ(test, memcg_high_nr_served(0, batch), 2);
	KUNIT_EXPECT_EQ(test, memcg_high_nr_served(7, 7 + 10 * batch), 11);
	KUNIT_EXPECT_LE(test, memcg_high_nr_served(0, ULONG_MAX), INT_MAX);
	KUNIT_EXPECT_GT(test, memcg_high_nr_served(0, ULONG_MAX), 1000000);
}

static struct mem_cgroup *memcg_high_test_memcg(struct kunit *test,
						unsigned long usage,
						unsigned long high)
{
	struct mem_cgroup *memcg = kunit_kzalloc(test, sizeof(*memcg),
						 GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memcg);
	atomic_long_set(&memcg->memory.usage, usage);
	memcg->memory.high = high;
	return memcg;
}

/* A queue may be that of several levels, and each has its own room. */
static void memcg_high_test_spend(struct kunit *test)
{
	struct mem_cgroup *below = memcg_high_test_memcg(test, 0,
							 MEMCG_CHARGE_BATCH);
	struct mem_cgroup *above = memcg_high_test_memcg(test, 2, 1);
	struct memcg_high_budget budget = {};

	KUNIT_EXPECT_FALSE(test, memcg_high_spend(&budget, above));
	KUNIT_EXPECT_TRUE(test, memcg_high_spend(&budget, below));
	KUNIT_EXPECT_TRUE(test, memcg_high_spend(&budget, below));
	KUNIT_EXPECT_FALSE(test, memcg_high_spend(&budget, below));
	KUNIT_EXPECT_FALSE(test, memcg_high_spend(&budget, above));
	KUNIT_EXPECT_TRUE(test, memcg_high_spend(&budget, below));
}

/* A task sleeps because of the nearest level that is exceeded. */
static void memcg_high_test_find(struct kunit *test)
{
	struct mem_cgroup *parent = memcg_high_test_memcg(test, 10, 9);
	struct mem_cgroup *child = memcg_high_test_memcg(test, 5, 5);

	child->css.parent = &parent->css;
	KUNIT_EXPECT_PTR_EQ(test, memcg_high_find(child), parent);
	child->memory.high = 4;
	KUNIT_EXPECT_PTR_EQ(test, memcg_high_find(child), child);
}

static struct kunit_case memcg_high_cases[] = {
	KUNIT_CASE(memcg_high_test_nr_served),
	KUNIT_CASE(memcg_high_test_spend),
	KUNIT_CASE(memcg_high_test_find),
	{}
};

static struct kunit_suite memcg_high_suite = {
	.name = "memcg_high",
	.test_cases = memcg_high_cases,
};

kunit_test_suite(memcg_high_suite);
