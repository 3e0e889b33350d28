// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for dirty limits: shares of a limit.
 *
 * Included by mm/memcg_dirty_share.c.
 */
#include <kunit/test.h>

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

/* Folios that its writers are about to add are in a cgroup's own part. */
static void memcg_dirty_test_leaves_room(struct kunit *test)
{
	struct mem_cgroup *limited = kunit_kzalloc(test, sizeof(*limited),
						   GFP_KERNEL);
	struct mem_cgroup *memcg = kunit_kzalloc(test, sizeof(*memcg),
						 GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, limited);
	KUNIT_ASSERT_NOT_NULL(test, memcg);
	memcg->css.parent = &limited->css;
	atomic_set(&limited->css.online_cnt, 3);
	atomic_long_set(&memcg->dirty.total, 14336);
	memcg->dirty.largest[0] = 512;
	KUNIT_EXPECT_TRUE(test, memcg_dirty_leaves_room(memcg, limited, 16384, 0));
	atomic_set(&memcg->dirty.pledged, 512);
	KUNIT_EXPECT_FALSE(test, memcg_dirty_leaves_room(memcg, limited, 16384, 0));
	KUNIT_EXPECT_TRUE(test, memcg_dirty_leaves_room(memcg, limited, 16384, 512));
	/* Without siblings, there is no reserve. */
	atomic_set(&limited->css.online_cnt, 2);
	KUNIT_EXPECT_TRUE(test, memcg_dirty_leaves_room(memcg, limited, 16384, 0));
}

static struct kunit_case memcg_dirty_share_cases[] = {
	KUNIT_CASE(memcg_dirty_test_share),
	KUNIT_CASE(memcg_dirty_test_cap),
	KUNIT_CASE(memcg_dirty_test_leaves_room),
	{}
};

static struct kunit_suite memcg_dirty_share_suite = {
	.name = "memcg_dirty_share",
	.test_cases = memcg_dirty_share_cases,
};

kunit_test_suite(memcg_dirty_share_suite);
