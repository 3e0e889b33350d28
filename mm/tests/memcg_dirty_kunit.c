// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for dirty domains: batches, and counters that are stacked, seeded
 * and replaced while updates go on.
 *
 * Included by mm/memcg_dirty.c.
 */
#include <kunit/test.h>
#include <linux/sizes.h>

/* What all CPUs can hold back stays below a 64th of the limit. */
static void memcg_dirty_test_batch(struct kunit *test)
{
	static const unsigned int cpus[] = { 1, 2, 3, 16, 128, 512, 8192 };
	unsigned long limit, held_back;
	unsigned int batch;
	int i;

	for (i = 0; i < ARRAY_SIZE(cpus); i++) {
		for (limit = 1; limit && limit <= UINT_MAX; limit <<= 1) {
			batch = memcg_dirty_batch(limit, cpus[i]);
			held_back = memcg_dirty_error(batch, cpus[i]);
			KUNIT_EXPECT_GE(test, batch, 1U);
			KUNIT_EXPECT_LE(test, batch, 64U);
			KUNIT_EXPECT_LE_MSG(test, held_back, limit / 64,
					    "limit %lu, %u CPUs", limit,
					    cpus[i]);
		}
	}
	KUNIT_EXPECT_EQ(test, memcg_dirty_batch(SZ_1G / PAGE_SIZE, 2),
			64U);
	KUNIT_EXPECT_EQ(test, memcg_dirty_batch(1, 1), 1U);
	KUNIT_EXPECT_EQ(test, memcg_dirty_error(1, 128), 0UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_error(4, 16), 96UL);
}

KUNIT_DEFINE_ACTION_WRAPPER(memcg_dirty_test_free, memcg_dirty_domain_free,
			    struct memcg_dirty_domain *);

static struct memcg_dirty_domain *
memcg_dirty_test_domain(struct kunit *test, unsigned long limit,
			unsigned long gen, struct memcg_dirty_domain *up)
{
	struct memcg_dirty_domain *domain = memcg_dirty_domain_alloc(NULL);

	KUNIT_ASSERT_NOT_NULL(test, domain);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, memcg_dirty_test_free,
						  domain));
	domain->gen = gen;
	domain->limit = limit;
	memcg_dirty_setup(domain, memcg_dirty_batch(limit, num_possible_cpus()));
	RCU_INIT_POINTER(domain->up, up);
	return domain;
}

static void memcg_dirty_test_update(struct memcg_dirty_domain *domain,
				    enum memcg_dirty_item item, long nr_pages)
{
	unsigned long flags;

	local_irq_save(flags);
	if (READ_ONCE(memcg_dirty_joining))
		memcg_dirty_join_all(domain);
	memcg_dirty_add_all(domain, item, nr_pages);
	local_irq_restore(flags);
}

/* Each level counts an update once; small ones wait for a batch. */
static void memcg_dirty_test_stacked(struct kunit *test)
{
	struct memcg_dirty_domain *upper, *lower;

	upper = memcg_dirty_test_domain(test, 1, 1, NULL);
	lower = memcg_dirty_test_domain(test, UINT_MAX, 2, upper);

	memcg_dirty_test_update(lower, MEMCG_DIRTY, 10);
	memcg_dirty_test_update(upper, MEMCG_DIRTY, 5);

	/* With a limit of one page nothing is held back. */
	KUNIT_EXPECT_EQ(test, memcg_dirty_read_dirty(upper), 15UL);
	/* With a large one, less than a batch is. */
	KUNIT_EXPECT_GT(test, lower->batch, 10U);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read_dirty(lower), 0UL);

	memcg_dirty_test_update(lower, MEMCG_WRITEBACK, 200);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read_total(upper), 215UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read_total(lower), 210UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read_dirty(lower), 10UL);
}

/* What moves from one item to the other stays in the total, and is there once. */
static void memcg_dirty_test_fold_both(struct kunit *test)
{
	struct memcg_dirty_domain *domain;
	int i;

	domain = memcg_dirty_test_domain(test, UINT_MAX, 1, NULL);
	memcg_dirty_test_update(domain, MEMCG_DIRTY, 1000);
	for (i = 0; i < 2 * domain->batch; i++) {
		memcg_dirty_test_update(domain, MEMCG_DIRTY, -1);
		/* The last move is in transit at most. */
		KUNIT_EXPECT_GE(test, memcg_dirty_read_total(domain), 999UL);
		memcg_dirty_test_update(domain, MEMCG_WRITEBACK, 1);
		KUNIT_EXPECT_LE(test, memcg_dirty_read_total(domain), 1000UL);
	}
	KUNIT_EXPECT_LE(test, memcg_dirty_read_dirty(domain), 1000UL - i / 2);
}

static const long memcg_dirty_test_changes[] = {
	1, -1, 512, -512, INT_MAX, INT_MIN, 0
};

/* Where there are several domains, each update goes the long way. */
static void memcg_dirty_test_none(struct kunit *test)
{
	const long *changes = memcg_dirty_test_changes;
	struct memcg_dirty_percpu none = *raw_cpu_ptr(&memcg_dirty_none);
	int i;

	KUNIT_EXPECT_NULL(test, none.domain);
	for (i = 0; i < ARRAY_SIZE(memcg_dirty_test_changes); i++) {
		KUNIT_EXPECT_TRUE(test, memcg_dirty_add(&none, MEMCG_DIRTY,
							changes[i]));
		KUNIT_EXPECT_TRUE(test, memcg_dirty_add(&none, MEMCG_WRITEBACK,
							changes[i]));
	}
}

/* Where there is none, no update does. */
static void memcg_dirty_test_unlimited(struct kunit *test)
{
	const long *changes = memcg_dirty_test_changes;
	struct memcg_dirty_percpu sink = *raw_cpu_ptr(&memcg_dirty_unlimited);
	int i;

	KUNIT_EXPECT_TRUE(test, memcg_dirty_find_only(NULL) ==
				&memcg_dirty_unlimited);
	for (i = 0; i < ARRAY_SIZE(memcg_dirty_test_changes); i++) {
		KUNIT_EXPECT_FALSE(test, memcg_dirty_add(&sink, MEMCG_DIRTY,
							 changes[i]));
		KUNIT_EXPECT_FALSE(test, memcg_dirty_add(&sink, MEMCG_WRITEBACK,
							 changes[i]));
	}
}

/* The exact count has what the CPUs hold back. */
static void memcg_dirty_test_exact(struct kunit *test)
{
	struct memcg_dirty_domain *domain;

	domain = memcg_dirty_test_domain(test, UINT_MAX, 1, NULL);
	domain->seed[MEMCG_DIRTY] = 3;
	memcg_dirty_test_update(domain, MEMCG_DIRTY, 4);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read_dirty(domain), 3UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read_exact(domain, MEMCG_DIRTY), 7UL);
	memcg_dirty_test_update(domain, MEMCG_DIRTY, -9);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read_exact(domain, MEMCG_DIRTY), 0UL);
}

/* Peaks stay until they are reset; a limit is near in its last 16th. */
static void memcg_dirty_test_note(struct kunit *test)
{
	struct memcg_dirty_domain *domain;

	domain = memcg_dirty_test_domain(test, 160, 1, NULL);
	memcg_dirty_test_update(domain, MEMCG_DIRTY, 149);
	KUNIT_EXPECT_FALSE(test, domain->near);
	memcg_dirty_test_update(domain, MEMCG_WRITEBACK, 1);
	KUNIT_EXPECT_TRUE(test, domain->near);
	memcg_dirty_test_update(domain, MEMCG_DIRTY, -100);
	KUNIT_EXPECT_FALSE(test, domain->near);

	KUNIT_EXPECT_EQ(test, domain->peak[MEMCG_DIRTY], 149UL);
	KUNIT_EXPECT_EQ(test, domain->peak[MEMCG_WRITEBACK], 1UL);
	KUNIT_EXPECT_EQ(test, domain->peak[MEMCG_DIRTY_TOTAL], 150UL);
	memcg_dirty_reset_peaks(domain);
	KUNIT_EXPECT_EQ(test, domain->peak[MEMCG_DIRTY], 49UL);
	KUNIT_EXPECT_EQ(test, domain->peak[MEMCG_DIRTY_TOTAL], 50UL);

	/* The margin counts, and may be left over from a larger limit. */
	domain->margin = 1000;
	memcg_dirty_note(domain);
	KUNIT_EXPECT_TRUE(test, domain->near);
	domain->margin = 100;
	memcg_dirty_note(domain);
	KUNIT_EXPECT_TRUE(test, domain->near);
	domain->margin = 99;
	memcg_dirty_note(domain);
	KUNIT_EXPECT_FALSE(test, domain->near);
}

/* A count below zero is an artefact of reading; nobody is to see it. */
static void memcg_dirty_test_negative(struct kunit *test)
{
	struct memcg_dirty_domain *domain;

	domain = memcg_dirty_test_domain(test, 1, 1, NULL);
	memcg_dirty_test_update(domain, MEMCG_DIRTY, -3);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read_dirty(domain), 0UL);
	memcg_dirty_test_update(domain, MEMCG_DIRTY, 5);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read_dirty(domain), 2UL);
}

/* Sums that changed after a CPU had joined are taken as they were before. */
static void memcg_dirty_test_snapshot(struct kunit *test)
{
	struct memcg_dirty_domain *domain;
	struct memcg_dirty_join join = {};
	long sum[NR_MEMCG_DIRTY_ITEMS] = { 7, 9 };

	domain = memcg_dirty_test_domain(test, 1, 42, NULL);
	KUNIT_EXPECT_FALSE(test, memcg_dirty_needs_join(&join, NULL));
	KUNIT_EXPECT_TRUE(test, memcg_dirty_needs_join(&join, domain));

	/* Not joined: the sums are those of now. */
	memcg_dirty_snapshot(&join, domain->gen, sum);
	KUNIT_EXPECT_EQ(test, sum[MEMCG_DIRTY], 7L);
	KUNIT_EXPECT_EQ(test, sum[MEMCG_WRITEBACK], 9L);

	preempt_disable();
	memcg_dirty_join(&join, domain, 3, 4);
	preempt_enable();
	KUNIT_EXPECT_FALSE(test, memcg_dirty_needs_join(&join, domain));
	memcg_dirty_snapshot(&join, domain->gen, sum);
	KUNIT_EXPECT_EQ(test, sum[MEMCG_DIRTY], 3L);
	KUNIT_EXPECT_EQ(test, sum[MEMCG_WRITEBACK], 4L);

	/* A record of another domain's says nothing. */
	sum[MEMCG_DIRTY] = 8;
	memcg_dirty_snapshot(&join, domain->gen + 1, sum);
	KUNIT_EXPECT_EQ(test, sum[MEMCG_DIRTY], 8L);
}

/* A limit is set above one whose pages are dirty already, and written. */
static void memcg_dirty_test_seed(struct kunit *test)
{
	struct memcg_dirty_domain *upper, *lower;
	long seed[NR_MEMCG_DIRTY_ITEMS] = {};

	lower = memcg_dirty_test_domain(test, 1, 1, NULL);
	lower->seed[MEMCG_DIRTY] = 100;
	memcg_dirty_test_update(lower, MEMCG_DIRTY, 10);

	WRITE_ONCE(memcg_dirty_joining, true);
	upper = memcg_dirty_test_domain(test, 1, 2, NULL);
	rcu_assign_pointer(lower->up, upper);
	memcg_dirty_test_update(lower, MEMCG_DIRTY, -4);
	memcg_dirty_test_update(lower, MEMCG_WRITEBACK, 4);
	memcg_dirty_seed_domain(upper, lower, seed);
	memcg_dirty_set_seed(upper, seed);
	WRITE_ONCE(memcg_dirty_joining, false);
	memcg_dirty_test_update(lower, MEMCG_DIRTY, 1);

	KUNIT_EXPECT_EQ(test, memcg_dirty_read_dirty(lower), 107UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read_dirty(upper), 107UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read_total(upper), 111UL);
}

/* A replacement starts from where its predecessor was. */
static void memcg_dirty_test_reseed(struct kunit *test)
{
	struct memcg_dirty_domain *first, *second, *lower;
	long seed[NR_MEMCG_DIRTY_ITEMS] = {};

	first = memcg_dirty_test_domain(test, 1, 1, NULL);
	lower = memcg_dirty_test_domain(test, 1, 2, first);
	memcg_dirty_test_update(lower, MEMCG_DIRTY, 30);

	WRITE_ONCE(memcg_dirty_joining, true);
	second = memcg_dirty_test_domain(test, 1, 3, NULL);
	rcu_assign_pointer(lower->up, second);
	memcg_dirty_seed_domain(second, lower, seed);
	memcg_dirty_set_seed(second, seed);
	WRITE_ONCE(memcg_dirty_joining, false);
	memcg_dirty_test_update(lower, MEMCG_DIRTY, 5);

	KUNIT_EXPECT_EQ(test, memcg_dirty_read_dirty(first), 30UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read_dirty(second), 35UL);
}

static struct kunit_case memcg_dirty_cases[] = {
	KUNIT_CASE(memcg_dirty_test_batch),
	KUNIT_CASE(memcg_dirty_test_stacked),
	KUNIT_CASE(memcg_dirty_test_fold_both),
	KUNIT_CASE(memcg_dirty_test_none),
	KUNIT_CASE(memcg_dirty_test_unlimited),
	KUNIT_CASE(memcg_dirty_test_exact),
	KUNIT_CASE(memcg_dirty_test_note),
	KUNIT_CASE(memcg_dirty_test_negative),
	KUNIT_CASE(memcg_dirty_test_snapshot),
	KUNIT_CASE(memcg_dirty_test_seed),
	KUNIT_CASE(memcg_dirty_test_reseed),
	{}
};

static struct kunit_suite memcg_dirty_suite = {
	.name = "memcg_dirty",
	.test_cases = memcg_dirty_cases,
};

kunit_test_suite(memcg_dirty_suite);
