// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for dirty limits: which limit binds, who is spared, and how close
 * to a limit tasks look again.
 *
 * Included by mm/memcg_dirty_wb.c.
 */
#include <kunit/test.h>

static void memcg_dirty_test_tighter(struct kunit *test)
{
	struct memcg_dirty_state none = {};
	struct memcg_dirty_state small = { .dirty = 50, .thresh = 100 };
	struct memcg_dirty_state large = {
		.dirty = 300, .writeback = 300, .thresh = 1000
	};
	struct memcg_dirty_state huge = {
		.dirty = UINT_MAX, .thresh = UINT_MAX
	};

	KUNIT_EXPECT_TRUE(test, memcg_dirty_tighter(&small, &none));
	KUNIT_EXPECT_TRUE(test, memcg_dirty_tighter(&large, &small));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_tighter(&small, &large));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_tighter(&small, &small));
	/* The products do not overflow. */
	KUNIT_EXPECT_TRUE(test, memcg_dirty_tighter(&huge, &large));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_tighter(&large, &huge));
}

/* The strictest limit stays; so does the wish for background writeback. */
static void memcg_dirty_test_tighten(struct kunit *test)
{
	struct memcg_dirty_state state = {};
	struct memcg_dirty_state background = {
		.dirty = 9, .bg_thresh = 5, .over_bg = true, .cgroup = 1
	};
	struct memcg_dirty_state loose = {
		.dirty = 10, .thresh = 100, .cgroup = 2
	};
	struct memcg_dirty_state tight = {
		.dirty = 90, .thresh = 100, .cgroup = 3
	};

	memcg_dirty_tighten(&state, &background);
	KUNIT_EXPECT_EQ(test, state.thresh, 0UL);
	KUNIT_EXPECT_EQ(test, state.cgroup, 1ULL);
	memcg_dirty_tighten(&state, &loose);
	KUNIT_EXPECT_EQ(test, state.cgroup, 2ULL);
	memcg_dirty_tighten(&state, &tight);
	memcg_dirty_tighten(&state, &loose);
	memcg_dirty_tighten(&state, &background);
	KUNIT_EXPECT_EQ(test, state.cgroup, 3ULL);
	KUNIT_EXPECT_TRUE(test, state.over_bg);
}

/* What the count may be wrong by is taken off, and the result fits 32 bits. */
static void memcg_dirty_test_hold(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, memcg_dirty_hold(100, 0), 100UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_hold(6400, 100), 6300UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_hold(1, 0), 1UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_hold(5, 9), 1UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_hold(ULONG_MAX, 0),
			(unsigned long)UINT_MAX);
}

static void memcg_dirty_test_margin(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, memcg_dirty_margin(4096, 0, 0), 0UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_margin(4096, 1, 1), 1UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_margin(4096, 32, 16), 512UL);
	/* Half of the limit stays, whatever comes. */
	KUNIT_EXPECT_EQ(test, memcg_dirty_margin(1024, 64, 512), 512UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_margin(1, 64, 512), 0UL);
}

/* Each task that looks counts once, and for one epoch after its last look. */
static void memcg_dirty_test_writers(struct kunit *test)
{
	struct memcg_dirty_domain *domain;

	domain = kunit_kzalloc(test, sizeof(*domain), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, domain);
	domain->limit = 4096;
	domain->epoch = jiffies / MEMCG_DIRTY_EPOCH - 1;
	domain->writers[0] = ~BIT(current->pid % BITS_PER_LONG);
	domain->largest[0] = 16;
	memcg_dirty_note_writer(domain);
	KUNIT_EXPECT_EQ(test, domain->margin, 16UL * BITS_PER_LONG);
	/* The tasks of before are gone, and so are their folios. */
	domain->epoch--;
	domain->largest[0] = 1;
	memcg_dirty_note_writer(domain);
	KUNIT_EXPECT_EQ(test, domain->margin, 1UL);
	/* Of long ago, only how large folios are is still of use. */
	domain->epoch -= 2;
	domain->writers[0] = ULONG_MAX;
	domain->largest[0] = 512;
	memcg_dirty_note_writer(domain);
	KUNIT_EXPECT_EQ(test, domain->margin, 512UL);
}

/* Throttling and writeback keep their range below the limit. */
static void memcg_dirty_test_scale(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, memcg_dirty_scale(2048, 4096, 4096), 2048UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_scale(2048, 2048, 4096), 1024UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_scale(4095, 2048, 4096), 2047UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_scale(1, 1, 1), 0UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_scale(UINT_MAX - 1, UINT_MAX, UINT_MAX),
			UINT_MAX - 1UL);
}

/* A quarter of the fair share, for as long as the limit holds. */
static void memcg_dirty_test_light(struct kunit *test)
{
	struct memcg_dirty_state state = {
		.dirty = 6000, .writeback = 400, .thresh = 6400,
		.bg_thresh = 3200
	};

	KUNIT_EXPECT_TRUE(test, memcg_dirty_is_light(&state, 6400, 0, 1));
	KUNIT_EXPECT_TRUE(test, memcg_dirty_is_light(&state, 6400, 1600, 1));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_light(&state, 6400, 1601, 1));
	KUNIT_EXPECT_TRUE(test, memcg_dirty_is_light(&state, 6400, 800, 2));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_light(&state, 6400, 801, 2));
	/* A 64th beyond the limit, but no more. */
	state.writeback += 100;
	KUNIT_EXPECT_TRUE(test, memcg_dirty_is_light(&state, 6400, 0, 1));
	state.writeback++;
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_light(&state, 6400, 0, 1));
}

/* Who is spared may pass, and more than that is not hidden. */
static void memcg_dirty_test_spare(struct kunit *test)
{
	struct memcg_dirty_state state = {
		.dirty = 5000, .writeback = 1400, .thresh = 6400,
		.bg_thresh = 3200
	};

	memcg_dirty_spare(&state);
	KUNIT_EXPECT_EQ(test, memcg_dirty_used(&state),
			memcg_dirty_freerun(&state));
	KUNIT_EXPECT_EQ(test, state.writeback, 1400UL);
	state.dirty = 10;
	memcg_dirty_spare(&state);
	KUNIT_EXPECT_EQ(test, state.dirty, 10UL);
}

static void memcg_dirty_test_active(struct kunit *test)
{
	struct memcg_dirty dirty = { .active = { 3, 5 }, .epoch = 7 };

	/* Within an epoch nothing changes. */
	memcg_dirty_turn_epoch(&dirty, 7);
	KUNIT_EXPECT_EQ(test, dirty.active[0], 3U);
	KUNIT_EXPECT_EQ(test, dirty.active[1], 5U);
	/* The last epoch is remembered, and none before it. */
	memcg_dirty_turn_epoch(&dirty, 8);
	KUNIT_EXPECT_EQ(test, dirty.active[0], 0U);
	KUNIT_EXPECT_EQ(test, dirty.active[1], 3U);
	dirty.active[0] = 2;
	memcg_dirty_turn_epoch(&dirty, 10);
	KUNIT_EXPECT_EQ(test, dirty.active[1], 0U);
}

static void memcg_dirty_test_interval(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, memcg_dirty_interval(6400, 0), 100UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_interval(6400, 6335), 2UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_interval(6400, 6336), 1UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_interval(6400, 6399), 1UL);
	/* Who has dirtied none yet looks, too. */
	KUNIT_EXPECT_EQ(test, memcg_dirty_interval(6400, 6400), 0UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_interval(6400, 9000), 0UL);
}

static void memcg_dirty_test_room(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, memcg_dirty_room(400), 300UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_room(1), 1UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_room(0), 1UL);
}

/* All domains that count a cgroup, on the devices that they know of. */
static void memcg_dirty_test_want_shared(struct kunit *test)
{
	struct memcg_dirty_domain *domain;
	struct mem_cgroup *memcg;
	int i;

	memcg = kunit_kzalloc(test, sizeof(*memcg), GFP_KERNEL);
	domain = kunit_kcalloc(test, 2, sizeof(*domain), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memcg);
	KUNIT_ASSERT_NOT_NULL(test, domain);
	for (i = 0; i < 2; i++) {
		domain[i].batch = 1;
		domain[i].limit = 4096;
		domain[i].background = 2048;
		domain[i].wanted_at = jiffies - HZ;
		domain[i].shared[i].bdi = 7;
		domain[i].shared[i].at = jiffies;
	}
	RCU_INIT_POINTER(memcg->dirty.up, &domain[0]);
	RCU_INIT_POINTER(domain[0].up, &domain[1]);
	KUNIT_EXPECT_FALSE(test, memcg_dirty_domain_wants_shared(&domain[0], 7));
	memcg_dirty_want_shared(memcg);
	KUNIT_EXPECT_TRUE(test, memcg_dirty_domain_wants_shared(&domain[0], 7));
	KUNIT_EXPECT_TRUE(test, memcg_dirty_domain_wants_shared(&domain[1], 7));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_domain_wants_shared(&domain[1], 8));
}

static struct kunit_case memcg_dirty_wb_cases[] = {
	KUNIT_CASE(memcg_dirty_test_tighter),
	KUNIT_CASE(memcg_dirty_test_tighten),
	KUNIT_CASE(memcg_dirty_test_hold),
	KUNIT_CASE(memcg_dirty_test_margin),
	KUNIT_CASE(memcg_dirty_test_writers),
	KUNIT_CASE(memcg_dirty_test_scale),
	KUNIT_CASE(memcg_dirty_test_light),
	KUNIT_CASE(memcg_dirty_test_spare),
	KUNIT_CASE(memcg_dirty_test_active),
	KUNIT_CASE(memcg_dirty_test_interval),
	KUNIT_CASE(memcg_dirty_test_room),
	KUNIT_CASE(memcg_dirty_test_want_shared),
	{}
};

static struct kunit_suite memcg_dirty_wb_suite = {
	.name = "memcg_dirty_wb",
	.test_cases = memcg_dirty_wb_cases,
};

kunit_test_suite(memcg_dirty_wb_suite);
