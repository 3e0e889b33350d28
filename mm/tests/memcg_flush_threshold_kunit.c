// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for flush thresholds: the bound of "auto", the parser, and races
 * between updates and flushes, which must not lose an update.
 *
 * Included by mm/memcg_flush_threshold.c.
 */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/sizes.h>

/* Without a flush, the error is at most 1 % of the memory, or 16 pages. */
static void memcg_flush_test_auto(struct kunit *test)
{
	unsigned long size, pending, least;

	KUNIT_EXPECT_EQ(test, memcg_flush_auto(0, 0), 16UL);
	KUNIT_EXPECT_EQ(test, memcg_flush_auto(1600, 0), 16UL);
	KUNIT_EXPECT_EQ(test, memcg_flush_auto(1700, 0), 17UL);
	KUNIT_EXPECT_EQ(test, memcg_flush_auto(SZ_1G / SZ_4K, 0), 2621UL);
	KUNIT_EXPECT_EQ(test, memcg_flush_auto(10, 20), 16UL);
	KUNIT_EXPECT_EQ(test, memcg_flush_auto(ULONG_MAX, 0), ULONG_MAX / 100);
	KUNIT_EXPECT_EQ(test, memcg_flush_auto(ULONG_MAX, ULONG_MAX), 16UL);

	for (size = 1; size < SZ_1G; size += size / 2 + 1) {
		for (pending = 1; pending <= size; pending += pending / 2 + 1) {
			if (pending > memcg_flush_auto(size, pending))
				continue;
			least = size - pending;
			KUNIT_EXPECT_LE_MSG(test, pending,
					    max(least / 100, 16UL),
					    "%lu of %lu", pending, size);
		}
	}
}

static void memcg_flush_test_parse(struct kunit *test)
{
	static const char *const bad[] = {
		"", "-1", "-2", "-3", "1.5", "0x10", "16M", "max 1", "Auto",
		"defaults", "9223372036854775807", "18446744073709551616",
	};
	long threshold = 42;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		/* LONG_MAX is less on 32 bits. */
		KUNIT_EXPECT_EQ_MSG(test, memcg_flush_parse(bad[i], &threshold),
				    -EINVAL, "'%s'", bad[i]);
		KUNIT_EXPECT_EQ(test, threshold, 42L);
	}
	KUNIT_EXPECT_EQ(test, memcg_flush_parse("0", &threshold), 0);
	KUNIT_EXPECT_EQ(test, threshold, 0L);
	KUNIT_EXPECT_EQ(test, memcg_flush_parse("2147483646", &threshold), 0);
	KUNIT_EXPECT_EQ(test, threshold, 2147483646L);
	KUNIT_EXPECT_EQ(test, memcg_flush_parse("auto", &threshold), 0);
	KUNIT_EXPECT_EQ(test, threshold, (long)MEMCG_FLUSH_AUTO);
	KUNIT_EXPECT_EQ(test, memcg_flush_parse("max", &threshold), 0);
	KUNIT_EXPECT_EQ(test, threshold, MEMCG_FLUSH_MAX);
	KUNIT_EXPECT_EQ(test, memcg_flush_parse("default", &threshold), 0);
	KUNIT_EXPECT_EQ(test, threshold, (long)MEMCG_FLUSH_DEFAULT);
}

/* The steps of an update, as other CPUs can see them. */
struct memcg_flush_test_cpu {
	struct memcg_flush_percpu percpu;
	unsigned long updates;
	unsigned long statistic;	/* the current value */
	unsigned long seen;		/* the value as of the last flush */
	unsigned long loaded;
	int step;
};

static void memcg_flush_test_update(struct memcg_flush_test_cpu *cpu)
{
	switch (cpu->step++) {
	case 0:
		cpu->statistic++;
		return;
	case 1:
		cpu->loaded = cpu->updates;
		return;
	case 2:
		WRITE_ONCE(cpu->updates, ++cpu->loaded);
		if (cpu->loaded < MEMCG_CHARGE_BATCH)
			cpu->step = 0;
		return;
	case 3:
		memcg_flush_fold(&cpu->percpu, cpu->loaded);
		return;
	case 4:
		WRITE_ONCE(cpu->updates, 0);
		cpu->step = 0;
	}
}

static unsigned long memcg_flush_test_pending(struct memcg_flush_test_cpu *cpu)
{
	return memcg_flush_pending_cpu(&cpu->percpu, &cpu->updates);
}

/* A flush without concurrent updates leaves none pending, at any time. */
static void memcg_flush_test_count(struct kunit *test)
{
	struct memcg_flush_test_cpu cpu = {};
	int i, total;

	for (total = 0; total < 300; total++) {
		for (i = 0; i < total; i++) {
			do
				memcg_flush_test_update(&cpu);
			while (cpu.step);
			KUNIT_ASSERT_EQ(test, memcg_flush_test_pending(&cpu),
					i + 1UL);
		}
		memcg_flush_begin_cpu(&cpu.percpu, &cpu.updates);
		memcg_flush_end_cpu(&cpu.percpu, &cpu.updates);
		KUNIT_ASSERT_EQ(test, memcg_flush_test_pending(&cpu), 0UL);
	}
}

/* A flush with updates between its steps. */
static void memcg_flush_test_flush(struct memcg_flush_test_cpu *cpu,
				   struct rnd_state *rnd)
{
	unsigned long seen;
	int i;

	memcg_flush_begin_cpu(&cpu->percpu, &cpu->updates);
	for (i = prandom_u32_state(rnd) % 200; i; i--)
		memcg_flush_test_update(cpu);
	seen = cpu->statistic;
	for (i = prandom_u32_state(rnd) % 200; i; i--)
		memcg_flush_test_update(cpu);
	cpu->seen = seen;
	memcg_flush_end_cpu(&cpu->percpu, &cpu->updates);
}

/*
 * A reader never misses more than the pending updates and the one update that
 * is in progress. The pending updates never exceed the missed ones by more than
 * those that came during the flush and two batches.
 */
static void memcg_flush_test_race(struct kunit *test)
{
	struct memcg_flush_test_cpu cpu = {};
	unsigned long missed, pending;
	struct rnd_state rnd;
	int i, round;

	prandom_seed_state(&rnd, 1);
	for (round = 0; round < 20000; round++) {
		for (i = prandom_u32_state(&rnd) % 400; i; i--)
			memcg_flush_test_update(&cpu);
		memcg_flush_test_flush(&cpu, &rnd);
		for (i = prandom_u32_state(&rnd) % 8; i; i--)
			memcg_flush_test_update(&cpu);

		missed = cpu.statistic - cpu.seen;
		pending = memcg_flush_test_pending(&cpu);
		KUNIT_ASSERT_LE(test, missed, pending + 1);
		KUNIT_ASSERT_LE(test, pending,
				missed + 200 + 2 * MEMCG_CHARGE_BATCH);
	}
}

static void memcg_flush_test_free(void *percpu)
{
	free_percpu((void __percpu __force *)percpu);
}

static void memcg_flush_test_own(struct kunit *test, void __percpu *percpu)
{
	KUNIT_ASSERT_TRUE(test, percpu);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, memcg_flush_test_free,
						  (void __force *)percpu));
}

/* A memory cgroup that only this test uses. No flush of the system finds it. */
static struct mem_cgroup *memcg_flush_test_memcg(struct kunit *test,
						 struct mem_cgroup *parent)
{
	struct mem_cgroup *memcg = kunit_kzalloc(test, sizeof(*memcg), GFP_KERNEL);
	struct memcg_flush_percpu __percpu *percpu;
	unsigned long __percpu *updates;

	KUNIT_ASSERT_NOT_NULL(test, memcg);
	percpu = alloc_percpu(struct memcg_flush_percpu);
	memcg_flush_test_own(test, percpu);
	updates = alloc_percpu(unsigned long);
	memcg_flush_test_own(test, updates);
	memcg_flush_init(memcg, percpu, updates);
	if (parent)
		memcg->css.parent = &parent->css;
	return memcg;
}

/* An update of @nr_pages on @cpu counts in @memcg and in its ancestors. */
static void memcg_flush_test_climb(struct mem_cgroup *memcg, int cpu,
				   unsigned long nr_pages)
{
	for (; memcg; memcg = parent_mem_cgroup(memcg))
		*per_cpu_ptr(memcg->flush.updates, cpu) += nr_pages;
}

static void memcg_flush_test_end(struct mem_cgroup *memcg, int cpu, bool last)
{
	memcg_flush_end(memcg, cpu, last, per_cpu_ptr(memcg->flush.updates, cpu));
}

/*
 * An update after its cgroup has been flushed, and before the parent is: the
 * parent's statistics lack it, and it is pending there.
 */
static void memcg_flush_test_levels(struct kunit *test)
{
	struct mem_cgroup *root = memcg_flush_test_memcg(test, NULL);
	struct mem_cgroup *parent = memcg_flush_test_memcg(test, root);
	struct mem_cgroup *child = memcg_flush_test_memcg(test, parent);
	struct mem_cgroup *sibling = memcg_flush_test_memcg(test, parent);
	int cpu = cpumask_first(cpu_online_mask);

	memcg_flush_test_climb(child, cpu, 40);
	memcg_flush_begin(child, cpu, false);
	memcg_flush_test_end(child, cpu, false);
	memcg_flush_test_climb(child, cpu, 10);
	memcg_flush_begin(sibling, cpu, false);
	memcg_flush_test_climb(sibling, cpu, 5);
	memcg_flush_test_end(sibling, cpu, false);
	memcg_flush_begin(parent, cpu, true);
	memcg_flush_test_climb(child, cpu, 1);
	memcg_flush_test_end(parent, cpu, true);
	KUNIT_EXPECT_EQ(test, memcg_flush_pending(child), 11UL);
	KUNIT_EXPECT_EQ(test, memcg_flush_pending(sibling), 5UL);
	KUNIT_EXPECT_EQ(test, memcg_flush_pending(parent), 16UL);

	/* The flush ended at the parent. The next one begins anew above it. */
	KUNIT_EXPECT_EQ(test, memcg_flush_pending(root), 56UL);
	memcg_flush_begin(root, cpu, true);
	memcg_flush_test_end(root, cpu, true);
	KUNIT_EXPECT_EQ(test, memcg_flush_pending(root), 0UL);
}

static struct kunit_case memcg_flush_cases[] = {
	KUNIT_CASE(memcg_flush_test_auto),
	KUNIT_CASE(memcg_flush_test_parse),
	KUNIT_CASE(memcg_flush_test_count),
	KUNIT_CASE(memcg_flush_test_race),
	KUNIT_CASE(memcg_flush_test_levels),
	{}
};

static struct kunit_suite memcg_flush_suite = {
	.name = "memcg_flush_threshold",
	.test_cases = memcg_flush_cases,
};

kunit_test_suite(memcg_flush_suite);
