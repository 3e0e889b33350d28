// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for dirty limits: the limit that binds, light writers, and checks
 * close to a limit.
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
	/* While nothing is dirty, the smaller limit binds. */
	small.dirty = 0;
	large.dirty = 0;
	large.writeback = 0;
	KUNIT_EXPECT_TRUE(test, memcg_dirty_tighter(&small, &large));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_tighter(&large, &small));
	large.dirty = 600;
	/* The products do not overflow. */
	KUNIT_EXPECT_TRUE(test, memcg_dirty_tighter(&huge, &large));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_tighter(&large, &huge));
}

/* The strictest limit stays, and so does a request for background writeback. */
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

/* The error of the counts is subtracted, and the result fits 32 bits. */
static void memcg_dirty_test_hold(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, memcg_dirty_hold(100, 0), 100UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_hold(6400, 100), 6300UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_hold(1, 0), 1UL);
	/* A 16th at most, until a worker has chosen smaller batches. */
	KUNIT_EXPECT_EQ(test, memcg_dirty_hold(1600, 900), 1500UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_hold(ULONG_MAX, 0),
			(unsigned long)UINT_MAX);
}

/* A quarter of an equal share, for as long as the limit holds. */
static void memcg_dirty_test_light(struct kunit *test)
{
	struct memcg_dirty_state state = {
		.dirty = 6000, .writeback = 400, .thresh = 6400,
		.bg_thresh = 3200
	};

	KUNIT_EXPECT_TRUE(test, memcg_dirty_is_light(&state, 6400, 0));
	state.own = 1600;
	KUNIT_EXPECT_TRUE(test, memcg_dirty_is_light(&state, 6400, 0));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_light(&state, 6399, 0));
	state.own = 800;
	KUNIT_EXPECT_TRUE(test, memcg_dirty_is_light(&state, 3200, 0));
	/* A 64th beyond the limit, but no more. */
	state.writeback += 100;
	KUNIT_EXPECT_TRUE(test, memcg_dirty_is_light(&state, 6400, 0));
	state.writeback++;
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_light(&state, 6400, 0));
	/* Half of that below a tenant that uses its share, and so on. */
	state.writeback = 450;
	KUNIT_EXPECT_TRUE(test, memcg_dirty_is_light(&state, 6400, 1));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_light(&state, 6400, 2));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_light(&state, 6400, 100));
}

/* A spared writer may pass, and no more pages are hidden than that takes. */
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

/* Pages are written because of the background limit, or for paused writers. */
static void memcg_dirty_test_over_bg(struct kunit *test)
{
	struct memcg_dirty_state state = {
		.dirty = 3200, .thresh = 6400, .bg_thresh = 3200
	};

	KUNIT_EXPECT_FALSE(test, memcg_dirty_over_bg(&state));
	state.dirty++;
	KUNIT_EXPECT_TRUE(test, memcg_dirty_over_bg(&state));
	state.dirty = 401;
	state.writeback = 4399;
	KUNIT_EXPECT_FALSE(test, memcg_dirty_over_bg(&state));
	state.writeback++;
	KUNIT_EXPECT_TRUE(test, memcg_dirty_over_bg(&state));
	/* There is little to write, or no limit. */
	state.dirty = 400;
	state.writeback = 6400;
	KUNIT_EXPECT_FALSE(test, memcg_dirty_over_bg(&state));
	state.dirty = 401;
	state.thresh = 0;
	KUNIT_EXPECT_FALSE(test, memcg_dirty_over_bg(&state));
}

/* The flushers of those that write were faster than the worker. */
static void memcg_dirty_test_needs_flush(struct kunit *test)
{
	struct memcg_dirty_state state = {
		.dirty = 1600, .thresh = 6400, .bg_thresh = 3200
	};

	KUNIT_EXPECT_FALSE(test, memcg_dirty_needs_flush(&state));
	state.dirty++;
	KUNIT_EXPECT_TRUE(test, memcg_dirty_needs_flush(&state));
	/* Pages under writeback have paused the writers. */
	state.dirty = 401;
	state.over_bg = true;
	KUNIT_EXPECT_TRUE(test, memcg_dirty_needs_flush(&state));
}

static void memcg_dirty_test_has_rested(struct kunit *test)
{
	struct bdi_writeback *wb = kunit_kzalloc(test, sizeof(*wb), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, wb);
	wb->bw_time_stamp = jiffies;
	KUNIT_EXPECT_FALSE(test, memcg_dirty_has_rested(wb));
	wb->bw_time_stamp = jiffies - MEMCG_DIRTY_REST - 1;
	KUNIT_EXPECT_TRUE(test, memcg_dirty_has_rested(wb));
}

static void memcg_dirty_test_interval(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, memcg_dirty_interval(6400, 0, 2), 100UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_interval(6400, 6335, 2), 2UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_interval(6400, 6336, 2), 1UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_interval(6400, 6399, 2), 1UL);
	/* A task that has dirtied none yet checks, too. */
	KUNIT_EXPECT_EQ(test, memcg_dirty_interval(6400, 6400, 2), 0UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_interval(6400, 9000, 2), 0UL);
	/* With small folios, one that rewrites dirty pages is let go on. */
	KUNIT_EXPECT_EQ(test, memcg_dirty_interval(6400, 9000, 1), 1UL);
}

static struct kunit_case memcg_dirty_wb_cases[] = {
	KUNIT_CASE(memcg_dirty_test_tighter),
	KUNIT_CASE(memcg_dirty_test_tighten),
	KUNIT_CASE(memcg_dirty_test_hold),
	KUNIT_CASE(memcg_dirty_test_light),
	KUNIT_CASE(memcg_dirty_test_spare),
	KUNIT_CASE(memcg_dirty_test_over_bg),
	KUNIT_CASE(memcg_dirty_test_needs_flush),
	KUNIT_CASE(memcg_dirty_test_has_rested),
	KUNIT_CASE(memcg_dirty_test_interval),
	{}
};

static struct kunit_suite memcg_dirty_wb_suite = {
	.name = "memcg_dirty_wb",
	.test_cases = memcg_dirty_wb_cases,
};

kunit_test_suite(memcg_dirty_wb_suite);
