// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for dirty limits: sums that decay, batches, marks, peaks, and folios
 * in flight.
 *
 * Included by mm/memcg_dirty.c.
 */
#include <kunit/test.h>
#include <linux/sizes.h>

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
	KUNIT_EXPECT_EQ(test, dirty.largest[0], 0U);
	memcg_dirty_turn_epoch(&dirty, 9);
	KUNIT_EXPECT_EQ(test, dirty.epoch, 10U);
}

/* The error stays below a 64th of the limit, however many CPUs and cgroups. */
static void memcg_dirty_test_batch(struct kunit *test)
{
	static const unsigned int cpus[] = { 1, 2, 3, 16, 128, 512, 8192 };
	static const unsigned int cgroups[] = { 1, 2, 64, 1024, 1U << 20 };
	unsigned long limit, error;
	unsigned int batch;
	int i, j;

	for (i = 0; i < ARRAY_SIZE(cpus); i++)
		for (j = 0; j < ARRAY_SIZE(cgroups); j++)
			for (limit = 1; limit < LONG_MAX; limit <<= 1) {
				batch = memcg_dirty_batch(limit, cpus[i],
							  cgroups[j]);
				error = memcg_dirty_error(batch, cpus[i],
							  cgroups[j]);
				KUNIT_EXPECT_TRUE(test, is_power_of_2(batch));
				KUNIT_EXPECT_LE(test, batch, 64U);
				/* A limit that loses half is still kept to a 64th. */
				KUNIT_EXPECT_LE(test, error, limit / 2 / 64);
				/* So is one that falls into the exact range. */
				if (limit < SZ_512M / PAGE_SIZE)
					KUNIT_EXPECT_EQ(test, error, 0UL);
			}
	KUNIT_EXPECT_EQ(test, memcg_dirty_batch(PAGE_COUNTER_MAX, 2, 1), 64U);
	/* 1024 pages for 2 * 3 parts are 170, and for 2 * 12, 42. */
	KUNIT_EXPECT_EQ(test, memcg_dirty_batch(131072, 3, 1), 64U);
	KUNIT_EXPECT_EQ(test, memcg_dirty_batch(131072, 12, 1), 32U);
	KUNIT_EXPECT_EQ(test, memcg_dirty_error(4, 16, 2), 192UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_tolerance(SZ_256M / PAGE_SIZE - 1),
			0UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_tolerance(SZ_256M / PAGE_SIZE),
			SZ_256M / PAGE_SIZE / 64UL);
}

/* A mark gets to the sum, and reports each difference once. */
static void memcg_dirty_test_mark(struct kunit *test)
{
	static const long sums[] = { 0, 5, 5, -3, LONG_MAX, LONG_MIN, 12 };
	long mark = 0, count = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(sums); i++) {
		count += memcg_dirty_move_mark(&mark, &sums[i]);
		KUNIT_EXPECT_EQ(test, mark, sums[i]);
		KUNIT_EXPECT_EQ(test, count, sums[i]);
	}
}

static struct mem_cgroup *memcg_dirty_test_memcg(struct kunit *test)
{
	struct mem_cgroup *memcg = kunit_kzalloc(test, sizeof(*memcg),
						 GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memcg);
	memcg->dirty.limit[MEMCG_DIRTY_LIMIT] = PAGE_COUNTER_MAX;
	memcg->css.parent = &root_mem_cgroup->css;
	return memcg;
}

/* The sums and the marks of a memory cgroup, if there is memory. */
static bool memcg_dirty_test_alloc(struct memcg_dirty *dirty)
{
	dirty->sum = __alloc_percpu(NR_MEMCG_DIRTY_ITEMS * sizeof(long),
				    __alignof__(long));
	dirty->mark = alloc_percpu(struct memcg_dirty_mark);
	return dirty->sum && dirty->mark;
}

static void memcg_dirty_test_free(struct memcg_dirty *dirty)
{
	free_percpu(dirty->mark);
	free_percpu(dirty->sum);
}

/* Update as the memory controller does: the statistic first. */
static void memcg_dirty_test_update(struct mem_cgroup *memcg,
				    enum memcg_dirty_item item, long nr_pages)
{
	struct memcg_dirty *dirty = &memcg->dirty;

	preempt_disable();
	__this_cpu_add(dirty->sum[item], nr_pages);
	if (memcg_dirty_must_fold(dirty, item, nr_pages))
		memcg_dirty_fold(memcg, item);
	preempt_enable();
}

/* The total after an update that stays between two multiples of the batch. */
static long memcg_dirty_test_hold(struct mem_cgroup *memcg)
{
	long total;

	memcg->dirty.fold_mask = -64;
	preempt_disable();
	memcg_dirty_test_update(memcg, MEMCG_DIRTY, 63);
	total = atomic_long_read(&memcg->dirty.total);
	memcg_dirty_test_update(memcg, MEMCG_DIRTY, -63);
	preempt_enable();
	return total;
}

/* What a CPU holds back stays below the batch, and all of it is folded in the end. */
static void memcg_dirty_test_fold(struct kunit *test)
{
	static const long updates[] = {
		1, 62, 1, 1, -1, -2, 512, -575, 1, -64, 63, 128, 1, 1024, -1152
	};
	struct mem_cgroup *memcg = memcg_dirty_test_memcg(test);
	bool ready = memcg_dirty_test_alloc(&memcg->dirty);
	long all, error, held;
	int batch, i, item;

	KUNIT_EXPECT_TRUE(test, ready);
	if (ready)
		KUNIT_EXPECT_EQ(test, memcg_dirty_test_hold(memcg), 0L);
	for (batch = 1; ready && batch <= 64; batch *= 2) {
		memcg->dirty.fold_mask = -batch;
		error = memcg_dirty_error(batch, num_possible_cpus(), 1);
		for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++)
			for (i = 0, all = 0; i < ARRAY_SIZE(updates); i++) {
				all += updates[i];
				memcg_dirty_test_update(memcg, item, updates[i]);
				/* The test may have gone to another CPU. */
				held = all - atomic_long_read(&memcg->dirty.total);
				KUNIT_EXPECT_LE(test, abs(held), error);
			}
		memcg_dirty_fold_all(memcg);
		KUNIT_EXPECT_EQ(test, atomic_long_read(&memcg->dirty.total), 0L);
		KUNIT_EXPECT_EQ(test, atomic_long_read(&memcg->dirty.dirty), 0L);
	}
	memcg_dirty_test_free(&memcg->dirty);
}

/* Dirty pages count twice: by themselves, and in the total. */
static void memcg_dirty_test_levels(struct kunit *test)
{
	struct mem_cgroup *parent = memcg_dirty_test_memcg(test);
	struct mem_cgroup *child = memcg_dirty_test_memcg(test);

	child->css.parent = &parent->css;
	memcg_dirty_add(child, MEMCG_DIRTY, 10);
	memcg_dirty_add(parent, MEMCG_DIRTY, 5);
	memcg_dirty_add(child, MEMCG_DIRTY, -4);
	memcg_dirty_add(child, MEMCG_WRITEBACK, 4);
	KUNIT_EXPECT_EQ(test, memcg_dirty_dirty(child), 6UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_total(child), 10UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_dirty(parent), 11UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_total(parent), 15UL);
	KUNIT_EXPECT_EQ(test, parent->dirty.peak, 15UL);
	/* A folio in transit between two CPUs cannot be observed. */
	memcg_dirty_add(child, MEMCG_DIRTY, -20);
	KUNIT_EXPECT_EQ(test, memcg_dirty_total(child), 0UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_dirty(child), 0UL);
	KUNIT_EXPECT_EQ(test, child->dirty.peak, 10UL);
}

/* CPUs dirty more pages than are left, and others clean them: no peak shows that. */
static void memcg_dirty_test_history(struct kunit *test)
{
	struct mem_cgroup *memcg = memcg_dirty_test_memcg(test);
	long left = 3 + 1000L * num_possible_cpus();
	int cpu;

	if (memcg_dirty_test_alloc(&memcg->dirty)) {
		for_each_possible_cpu(cpu) {
			per_cpu_ptr(memcg->dirty.sum, cpu)[MEMCG_DIRTY] = left - 1000;
			left = 0;
		}
		memcg_dirty_fold_all(memcg);
		KUNIT_EXPECT_EQ(test, memcg_dirty_dirty(memcg), 3UL);
		KUNIT_EXPECT_EQ(test, memcg->dirty.peak, 3UL);
		memcg_dirty_fold_all(memcg);
		KUNIT_EXPECT_EQ(test, memcg_dirty_total(memcg), 3UL);
	} else {
		KUNIT_FAIL(test, "no memory");
	}
	memcg_dirty_test_free(&memcg->dirty);
}

static void memcg_dirty_test_note(struct mem_cgroup *memcg, long total)
{
	atomic_long_set(&memcg->dirty.total, total);
	memcg_dirty_note(memcg, total);
}

/* The last 16th of a limit is near, and so is room for folios in flight. */
static void memcg_dirty_test_near(struct kunit *test)
{
	struct mem_cgroup *memcg = memcg_dirty_test_memcg(test);
	struct memcg_dirty *dirty = &memcg->dirty;
	int before = atomic_read(&memcg_dirty_nr_near);

	dirty->limit[MEMCG_DIRTY_LIMIT] = 1600;
	memcg_dirty_test_note(memcg, 1499);
	KUNIT_EXPECT_EQ(test, dirty->near, 0);
	memcg_dirty_test_note(memcg, 1500);
	KUNIT_EXPECT_EQ(test, dirty->near, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&memcg_dirty_nr_near) - before, 1);
	memcg_dirty_test_note(memcg, 1400);
	KUNIT_EXPECT_EQ(test, dirty->near, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&memcg_dirty_nr_near) - before, 0);
	/* Three tasks with folios of 40 pages. */
	dirty->writers[0] = 5;
	dirty->writers[1] = 2;
	dirty->largest[1] = 40;
	memcg_dirty_test_note(memcg, 1380);
	KUNIT_EXPECT_EQ(test, dirty->near, 1);
	memcg_dirty_test_note(memcg, 1379);
	KUNIT_EXPECT_EQ(test, dirty->near, 0);
	KUNIT_EXPECT_EQ(test, dirty->peak, 1500UL);
	/* Not while no page is dirty, even if folios do not fit. */
	dirty->limit[MEMCG_DIRTY_LIMIT] = 100;
	memcg_dirty_test_note(memcg, 0);
	KUNIT_EXPECT_EQ(test, dirty->near, 0);
}

/* Pages come while a limit is set: they are compared with the old watch. */
static void memcg_dirty_test_late(struct kunit *test)
{
	struct mem_cgroup *memcg = memcg_dirty_test_memcg(test);
	struct memcg_dirty *dirty = &memcg->dirty;

	memcg_dirty_test_note(memcg, 5000);
	dirty->limit[MEMCG_DIRTY_LIMIT] = 1600;
	atomic_long_set(&dirty->total, 1550);
	memcg_dirty_note(memcg, 100);
	KUNIT_EXPECT_EQ(test, dirty->near, 1);
	memcg_dirty_test_note(memcg, 0);
	KUNIT_EXPECT_EQ(test, dirty->near, 0);
}

/* A peak is restarted between the addition of a page and its note. */
static void memcg_dirty_test_peak(struct kunit *test)
{
	struct mem_cgroup *memcg = memcg_dirty_test_memcg(test);
	struct memcg_dirty *dirty = &memcg->dirty;

	memcg_dirty_test_note(memcg, 60);
	KUNIT_EXPECT_EQ(test, memcg_dirty_restart_peak(memcg, 80), 60UL);
	memcg_dirty_test_note(memcg, 80);
	KUNIT_EXPECT_EQ(test, dirty->peak, 80UL);
	memcg_dirty_test_note(memcg, 10);
	KUNIT_EXPECT_EQ(test, memcg_dirty_restart_peak(memcg, 10), 80UL);
	KUNIT_EXPECT_EQ(test, dirty->local_peak, 10UL);
	memcg_dirty_test_note(memcg, 20);
	KUNIT_EXPECT_EQ(test, dirty->local_peak, 20UL);
	KUNIT_EXPECT_EQ(test, dirty->peak, 80UL);
}

/* A total up to the watch changes nothing when it is noted. */
static int memcg_dirty_test_count_noted(struct kunit *test,
					struct mem_cgroup *memcg)
{
	struct memcg_dirty before;
	long total;
	int nr = 0;

	memcg_dirty_adjust_watch(memcg);
	for (total = -10; total <= 1700; total++) {
		if (total > memcg->dirty.watch)
			continue;
		memcpy(&before, &memcg->dirty, sizeof(before));
		memcg_dirty_note(memcg, total);
		KUNIT_EXPECT_MEMEQ(test, &before, &memcg->dirty, sizeof(before));
		nr++;
	}
	return nr;
}

static void memcg_dirty_test_watch(struct kunit *test)
{
	struct mem_cgroup *memcg = memcg_dirty_test_memcg(test);
	struct memcg_dirty *dirty = &memcg->dirty;

	dirty->limit[MEMCG_DIRTY_LIMIT] = 1600;
	dirty->writers[0] = ULONG_MAX;
	dirty->largest[0] = 2;
	KUNIT_EXPECT_EQ(test, memcg_dirty_test_count_noted(test, memcg), 11);
	memcg_dirty_test_note(memcg, 1700);
	KUNIT_EXPECT_EQ(test, memcg_dirty_test_count_noted(test, memcg), 0);
	memcg_dirty_test_note(memcg, 0);
	/* Up to a 16th below the limit, and 128 pages in flight below that */
	KUNIT_EXPECT_EQ(test, memcg_dirty_test_count_noted(test, memcg),
			11 + 1500 - BITS_PER_LONG * 2 - 1);
	dirty->floor = 1;
	KUNIT_EXPECT_EQ(test, memcg_dirty_test_count_noted(test, memcg), 0);
	dirty->floor = 0;
	dirty->claim = 1;
	KUNIT_EXPECT_EQ(test, memcg_dirty_test_count_noted(test, memcg), 0);
	dirty->claim = 0;
	/* Folios of 8 pages: all that the watch follows from adjusts it. */
	memcg_dirty_raise_largest(memcg, 8);
	KUNIT_EXPECT_EQ(test, dirty->watch, 1500L - BITS_PER_LONG * 8 - 1);
	memcg_dirty_restart_peak(memcg, 700);
	KUNIT_EXPECT_EQ(test, dirty->watch, 700L);
	memcg_dirty_test_note(memcg, 800);
	KUNIT_EXPECT_EQ(test, dirty->watch, 800L);
	dirty->limit[MEMCG_DIRTY_LIMIT] = 1120;
	memcg_dirty_test_note(memcg, 0);
	KUNIT_EXPECT_EQ(test, dirty->watch, 1050L - BITS_PER_LONG * 8 - 1);
}

/* A writer that was let pass counts with a folio like its last, if that is large. */
static void memcg_dirty_test_pass(struct kunit *test)
{
	struct mem_cgroup *memcg = memcg_dirty_test_memcg(test);
	struct memcg_dirty *dirty = &memcg->dirty;

	dirty->limited = true;
	dirty->writers[0] = 3;
	/* The sum must not halve meanwhile. */
	dirty->passed.period = memcg_dirty_now(MEMCG_DIRTY_PASS_PERIOD) + 1000;
	memcg_dirty_pass(memcg, 4);
	dirty->near = 1;
	memcg_dirty_pass(memcg, 1);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&dirty->passed.sum), 0L);
	memcg_dirty_pledge(memcg, 4);
	KUNIT_EXPECT_EQ(test, memcg_dirty_expected(memcg), 0UL);
	dirty->largest[0] = 16;
	KUNIT_EXPECT_EQ(test, memcg_dirty_expected(memcg), 4UL);
	memcg_dirty_pass(memcg, 8);
	KUNIT_EXPECT_EQ(test, memcg_dirty_expected(memcg), 4UL);
	memcg_dirty_pass(memcg, 9);
	KUNIT_EXPECT_EQ(test, memcg_dirty_expected(memcg), 20UL);
	memcg_dirty_pledge(memcg, -4);
	KUNIT_EXPECT_EQ(test, memcg_dirty_bound(90, 2, 16), 32UL);
	/* Half a folio: it was let pass before this period, and is dirty by now. */
	KUNIT_EXPECT_EQ(test, memcg_dirty_bound(8, 2, 16), 0UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_bound(9, BITS_PER_LONG / 2, 1), 9UL);
	KUNIT_EXPECT_LE(test, memcg_dirty_bound(9000, BITS_PER_LONG, 1), 1000UL);
}

/* On each CPU, a task may add its first page, and a small total takes few of them. */
static void memcg_dirty_test_expected(struct kunit *test)
{
	struct mem_cgroup *memcg = memcg_dirty_test_memcg(test);
	unsigned int nr_cpus = num_online_cpus();

	KUNIT_EXPECT_EQ(test, memcg_dirty_expected(memcg), 0UL);
	atomic_long_set(&memcg->dirty.total, 63);
	KUNIT_EXPECT_EQ(test, memcg_dirty_expected(memcg), 1UL);
	atomic_long_set(&memcg->dirty.total, 64L * nr_cpus);
	KUNIT_EXPECT_EQ(test, memcg_dirty_expected(memcg), (unsigned long)nr_cpus);
}

/* It counts on all levels, if one of them is near its limit, until it pauses. */
static void memcg_dirty_test_take_back(struct kunit *test)
{
	struct mem_cgroup *parent = memcg_dirty_test_memcg(test);
	struct mem_cgroup *child = memcg_dirty_test_memcg(test);
	struct memcg_dirty_flow *flow = &child->dirty.passed;

	parent->dirty.limited = true;
	child->css.parent = &parent->css;
	child->dirty.limited = true;
	flow->period = memcg_dirty_now(MEMCG_DIRTY_PASS_PERIOD) + 1000;
	parent->dirty.passed.period = flow->period;
	memcg_dirty_pass(child, 16);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&flow->sum), 0L);
	parent->dirty.near = 1;
	memcg_dirty_pass(child, 16);
	memcg_dirty_pass(child, 16);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&flow->sum), 32L);
	memcg_dirty_take_back(child, 16);
	memcg_dirty_take_back(child, 1);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&flow->sum), 16L);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&parent->dirty.passed.sum), 16L);
}

/* A page after a large folio is noted, even if other tasks' pages were. */
static void memcg_dirty_test_record(struct kunit *test)
{
	bool after_large, after_small;

	preempt_disable();
	__this_cpu_write(memcg_dirty_last.nr_pages, 512);
	after_large = memcg_dirty_must_record(1);
	__this_cpu_write(memcg_dirty_last.nr_pages, 1);
	after_small = memcg_dirty_must_record(1);
	preempt_enable();
	KUNIT_EXPECT_TRUE(test, after_large);
	KUNIT_EXPECT_FALSE(test, after_small);
	KUNIT_EXPECT_TRUE(test, memcg_dirty_must_record(2));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_must_record(-2));
}

static struct kunit_case memcg_dirty_cases[] = {
	KUNIT_CASE(memcg_dirty_test_flow),
	KUNIT_CASE(memcg_dirty_test_epoch),
	KUNIT_CASE(memcg_dirty_test_batch),
	KUNIT_CASE(memcg_dirty_test_mark),
	KUNIT_CASE(memcg_dirty_test_fold),
	KUNIT_CASE(memcg_dirty_test_levels),
	KUNIT_CASE(memcg_dirty_test_history),
	KUNIT_CASE(memcg_dirty_test_near),
	KUNIT_CASE(memcg_dirty_test_late),
	KUNIT_CASE(memcg_dirty_test_peak),
	KUNIT_CASE(memcg_dirty_test_watch),
	KUNIT_CASE(memcg_dirty_test_pass),
	KUNIT_CASE(memcg_dirty_test_expected),
	KUNIT_CASE(memcg_dirty_test_take_back),
	KUNIT_CASE(memcg_dirty_test_record),
	{}
};

static struct kunit_suite memcg_dirty_suite = {
	.name = "memcg_dirty",
	.test_cases = memcg_dirty_cases,
};

kunit_test_suite(memcg_dirty_suite);
