// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the queues of tasks that wait for room in a memory cgroup: which
 * tasks are woken, and how many.
 *
 * Included by mm/memcg_wait.c.
 */
#include <kunit/test.h>

/* One for each batch, and the first for less than one. */
static void memcg_wait_test_nr_served(struct kunit *test)
{
	const unsigned long batch = MEMCG_CHARGE_BATCH;

	KUNIT_EXPECT_EQ(test, memcg_wait_nr_served(101, 100, 0), 0);
	KUNIT_EXPECT_EQ(test, memcg_wait_nr_served(100, 100, 0), 1);
	KUNIT_EXPECT_EQ(test, memcg_wait_nr_served(0, batch - 1, 0), 1);
	KUNIT_EXPECT_EQ(test, memcg_wait_nr_served(0, batch, 0), 2);
	KUNIT_EXPECT_EQ(test, memcg_wait_nr_served(7, 7 + 10 * batch, 0), 11);
	KUNIT_EXPECT_LE(test, memcg_wait_nr_served(0, ULONG_MAX, 0), INT_MAX);
	KUNIT_EXPECT_GT(test, memcg_wait_nr_served(0, ULONG_MAX, 0), 1000000);
}

/* Less room than the first task needs serves none. */
static void memcg_wait_test_needed(struct kunit *test)
{
	const unsigned long batch = MEMCG_CHARGE_BATCH;

	KUNIT_EXPECT_EQ(test, memcg_wait_nr_served(100, 100, 1), 0);
	KUNIT_EXPECT_EQ(test, memcg_wait_nr_served(99, 100, 1), 1);
	KUNIT_EXPECT_EQ(test, memcg_wait_nr_served(93, 100, 8), 0);
	KUNIT_EXPECT_EQ(test, memcg_wait_nr_served(92, 100, 8), 1);
	KUNIT_EXPECT_EQ(test, memcg_wait_nr_served(0, batch + 7, 8), 1);
	KUNIT_EXPECT_EQ(test, memcg_wait_nr_served(0, batch + 8, 8), 2);
}

static struct mem_cgroup *memcg_wait_test_memcg(struct kunit *test,
						unsigned long usage,
						unsigned long high,
						unsigned long max)
{
	struct mem_cgroup *memcg = kunit_kzalloc(test, sizeof(*memcg),
						 GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memcg);
	atomic_long_set(&memcg->memory.usage, usage);
	memcg->memory.high = high;
	memcg->memory.max = max;
	return memcg;
}

/* A queue may be that of several levels and limits, and each has its own room. */
static void memcg_wait_test_spend(struct kunit *test)
{
	struct mem_cgroup *memcg =
		memcg_wait_test_memcg(test, 1, 1 + MEMCG_CHARGE_BATCH, 1);
	struct memcg_waiter below = {
		.level = memcg, .limit = &memcg->memory.high,
	};
	struct memcg_waiter above = {
		.level = memcg, .limit = &memcg->memory.max, .nr_pages = 1,
	};
	struct memcg_wait_event event = {};

	KUNIT_EXPECT_FALSE(test, memcg_wait_spend(&event, &above));
	KUNIT_EXPECT_TRUE(test, memcg_wait_spend(&event, &below));
	KUNIT_EXPECT_TRUE(test, memcg_wait_spend(&event, &below));
	KUNIT_EXPECT_FALSE(test, memcg_wait_spend(&event, &below));
	KUNIT_EXPECT_FALSE(test, memcg_wait_spend(&event, &above));
	KUNIT_EXPECT_TRUE(test, memcg_wait_spend(&event, &below));
}

/* An uncharge need not wake tasks of a level that has no room, or no limit. */
static void memcg_wait_test_may_be_over(struct kunit *test)
{
	const unsigned long none = PAGE_COUNTER_MAX;
	struct mem_cgroup *memcg = memcg_wait_test_memcg(test, 5, none, none);

	KUNIT_EXPECT_FALSE(test, memcg_wait_may_be_over(memcg));
	memcg->memory.high = 4;
	KUNIT_EXPECT_FALSE(test, memcg_wait_may_be_over(memcg));
	memcg->memory.high = 5;
	KUNIT_EXPECT_TRUE(test, memcg_wait_may_be_over(memcg));
	memcg->memory.high = none;
	memcg->memory.max = 5;
	KUNIT_EXPECT_FALSE(test, memcg_wait_may_be_over(memcg));
	memcg->memory.max = 6;
	KUNIT_EXPECT_TRUE(test, memcg_wait_may_be_over(memcg));
}

/* Which tasks may sleep until others make progress. */
static void memcg_wait_test_flags(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, memcg_wait_needs_flags(0));
	KUNIT_EXPECT_FALSE(test, memcg_wait_needs_flags(PF_USER_WORKER |
							PF_IO_WORKER));
	KUNIT_EXPECT_TRUE(test, memcg_wait_needs_flags(PF_USER_WORKER));
	KUNIT_EXPECT_TRUE(test, memcg_wait_needs_flags(PF_KTHREAD));
	KUNIT_EXPECT_TRUE(test, memcg_wait_needs_flags(PF_MEMALLOC_NOFS));
	KUNIT_EXPECT_TRUE(test, memcg_wait_needs_flags(PF_MEMALLOC_NOIO));
	/* As prctl(PR_SET_IO_FLUSHER) sets it. */
	KUNIT_EXPECT_TRUE(test, memcg_wait_needs_flags(PF_LOCAL_THROTTLE));
	KUNIT_EXPECT_TRUE(test, memcg_wait_needs_flags(PF_EXITING));
}

static struct kunit_case memcg_wait_cases[] = {
	KUNIT_CASE(memcg_wait_test_nr_served),
	KUNIT_CASE(memcg_wait_test_needed),
	KUNIT_CASE(memcg_wait_test_spend),
	KUNIT_CASE(memcg_wait_test_may_be_over),
	KUNIT_CASE(memcg_wait_test_flags),
	{}
};

static struct kunit_suite memcg_wait_suite = {
	.name = "memcg_wait",
	.test_cases = memcg_wait_cases,
};

kunit_test_suite(memcg_wait_suite);
