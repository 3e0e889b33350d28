// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for dirty limits: how a floor is divided among children.
 *
 * Included by mm/memcg_dirty_floor.c.
 */
#include <kunit/test.h>

/* A child has its own floor, and never more than its parent. */
static void memcg_dirty_test_floor(struct kunit *test)
{
	struct memcg_dirty_need need = { .parent = 4096, .floor = 1000 };

	KUNIT_EXPECT_EQ(test, memcg_dirty_divide_floor(&need), 1000UL);
	need.floor = PAGE_COUNTER_MAX;
	KUNIT_EXPECT_EQ(test, memcg_dirty_divide_floor(&need), 4096UL);
	need.parent = 0;
	KUNIT_EXPECT_EQ(test, memcg_dirty_divide_floor(&need), 0UL);
	/* The siblings' claims are not for this child. */
	need = (struct memcg_dirty_need){
		.parent = 4096, .claims = 3500, .floor = 3000, .claim = 500,
		.used = 500,
	};
	KUNIT_EXPECT_EQ(test, memcg_dirty_divide_floor(&need), 1096UL);
}

/* Claims of more than there is are scaled by use, and all are. */
static void memcg_dirty_test_overcommitted(struct kunit *test)
{
	struct memcg_dirty_need a = {
		.parent = 4096, .claims = 5120, .floor = 3072, .claim = 3072,
		.used = 3072,
	};
	struct memcg_dirty_need b = {
		.parent = 4096, .claims = 5120, .floor = 3072, .claim = 2048,
		.used = 2048,
	};

	KUNIT_EXPECT_EQ(test, memcg_dirty_divide_floor(&a), 2457UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_divide_floor(&b), 1638UL);
	/* At exactly the parent's floor, each keeps its claim. */
	a.claims = 4096;
	a.claim = 2048;
	a.used = 2048;
	KUNIT_EXPECT_EQ(test, memcg_dirty_divide_floor(&a), 2048UL);
	/* A sum that is older than one of its parts. */
	a.claims = 1000;
	KUNIT_EXPECT_LE(test, memcg_dirty_divide_floor(&a), 4096UL);
}

/* The unclaimed rest goes to children that use more than they claim. */
static void memcg_dirty_test_unclaimed(struct kunit *test)
{
	struct memcg_dirty_need need = {
		.parent = 4000, .unclaimed = 1000, .used = 1000,
	};

	KUNIT_EXPECT_EQ(test, memcg_dirty_divide_floor(&need), 4000UL);
	need.used = 250;
	KUNIT_EXPECT_EQ(test, memcg_dirty_divide_floor(&need), 1000UL);
	need.claims = 2000;
	KUNIT_EXPECT_EQ(test, memcg_dirty_divide_floor(&need), 500UL);
	/* Beside a floor of its own. */
	need.floor = 100;
	need.claim = 100;
	need.used = 350;
	KUNIT_EXPECT_EQ(test, memcg_dirty_divide_floor(&need), 600UL);
	/* The floor of the system goes to those that claim it alone. */
	need = (struct memcg_dirty_need){ .parent = 4000, .used = 1000 };
	KUNIT_EXPECT_EQ(test, memcg_dirty_divide_floor(&need), 0UL);
}

static void memcg_dirty_test_use(struct mem_cgroup *memcg, long total)
{
	atomic_long_set(&memcg->dirty.total, total);
	memcg_dirty_note(memcg, total);
}

/* The parent's claims follow use, up to the floor. */
static void memcg_dirty_test_claim(struct kunit *test)
{
	struct mem_cgroup *parent = kunit_kzalloc(test, sizeof(*parent),
						  GFP_KERNEL);
	struct mem_cgroup *child = kunit_kzalloc(test, sizeof(*child),
						 GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, parent);
	KUNIT_ASSERT_NOT_NULL(test, child);
	child->css.parent = &parent->css;
	child->dirty.limit[MEMCG_DIRTY_LIMIT] = PAGE_COUNTER_MAX;
	memcg_dirty_test_use(child, 50);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&parent->dirty.claims), 0L);
	child->dirty.floor = 100;
	memcg_dirty_test_use(child, 50);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&parent->dirty.claims), 50L);
	memcg_dirty_test_use(child, 5000);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&parent->dirty.claims), 100L);
	memcg_dirty_test_use(child, -1);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&parent->dirty.claims), 0L);
	memcg_dirty_test_use(child, 70);
	child->dirty.floor = 0;
	memcg_dirty_test_use(child, 70);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&parent->dirty.claims), 0L);
}

static struct kunit_case memcg_dirty_floor_cases[] = {
	KUNIT_CASE(memcg_dirty_test_floor),
	KUNIT_CASE(memcg_dirty_test_overcommitted),
	KUNIT_CASE(memcg_dirty_test_unclaimed),
	KUNIT_CASE(memcg_dirty_test_claim),
	{}
};

static struct kunit_suite memcg_dirty_floor_suite = {
	.name = "memcg_dirty_floor",
	.test_cases = memcg_dirty_floor_cases,
};

kunit_test_suite(memcg_dirty_floor_suite);
