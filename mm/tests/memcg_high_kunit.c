// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for sleeping on memory.high: because of which level.
 *
 * Included by mm/memcg_high.c.
 */
#include <kunit/test.h>

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
	KUNIT_CASE(memcg_high_test_find),
	{}
};

static struct kunit_suite memcg_high_suite = {
	.name = "memcg_high",
	.test_cases = memcg_high_cases,
};

kunit_test_suite(memcg_high_suite);
