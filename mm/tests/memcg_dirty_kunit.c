// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for dirty limits: the arithmetic, and the counters of domains
 * that are stacked, seeded and replaced while updates go on.
 *
 * Included by mm/memcg_dirty.c.
 */
#include <kunit/test.h>
#include <linux/sizes.h>

struct memcg_dirty_parse_case {
	const char *text;
	int err;
	unsigned long pages;
};

#define PAGES(bytes)	((unsigned long)((bytes) / PAGE_SIZE))

static const struct memcg_dirty_parse_case memcg_dirty_parse_cases[] = {
	{ "max", 0, PAGE_COUNTER_MAX },
	{ "1048576", 0, PAGES(SZ_1M) },
	{ "1024K", 0, PAGES(SZ_1M) },
	{ "40M", 0, PAGES(40 * SZ_1M) },
	{ "40m", 0, PAGES(40 * SZ_1M) },
	{ "2G", 0, PAGES(2ULL * SZ_1G) },
	{ "1048577", 0, PAGES(SZ_1M) },
	{ "", -EINVAL },
	{ "0", -EINVAL },
	{ "1", -EINVAL },
	{ "1K", -EINVAL },
	{ "-1", -EINVAL },
	{ "12x", -EINVAL },
	{ "x", -EINVAL },
	{ "M", -EINVAL },
	{ "1 M", -EINVAL },
	{ "1MM", -EINVAL },
	{ "maximum", -EINVAL },
	{ "0x100000", -EINVAL },
	{ "+1M", -EINVAL },
	{ "1048576\nM", -EINVAL },
	{ "16E", -ERANGE },
	{ "18446744073709551615", -ERANGE },
	{ "18446744073709551616", -ERANGE },
	{ "123456789012345678901234567890", -ERANGE },
};

static void memcg_dirty_test_parse(struct kunit *test)
{
	const struct memcg_dirty_parse_case *c;
	unsigned long pages;
	char buf[64];
	int i;

	for (i = 0; i < ARRAY_SIZE(memcg_dirty_parse_cases); i++) {
		c = &memcg_dirty_parse_cases[i];
		pages = 4711;
		strscpy(buf, c->text, sizeof(buf));
		KUNIT_EXPECT_EQ_MSG(test, memcg_dirty_parse_limit(buf, &pages),
				    c->err, "\"%s\"", c->text);
		KUNIT_EXPECT_EQ_MSG(test, pages, c->err ? 4711 : c->pages,
				    "\"%s\"", c->text);
	}
}

/* One page is the smallest limit, whatever the page size. */
static void memcg_dirty_test_parse_page(struct kunit *test)
{
	unsigned long pages = 0;
	char buf[32];

	snprintf(buf, sizeof(buf), "%lu", PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, memcg_dirty_parse_limit(buf, &pages), 0);
	KUNIT_EXPECT_EQ(test, pages, 1UL);
	snprintf(buf, sizeof(buf), "%lu", PAGE_SIZE - 1);
	KUNIT_EXPECT_EQ(test, memcg_dirty_parse_limit(buf, &pages), -EINVAL);
}

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
			held_back = (batch - 1UL) * cpus[i] *
				    NR_MEMCG_DIRTY_ITEMS;
			KUNIT_EXPECT_GE(test, batch, 1U);
			KUNIT_EXPECT_LE(test, batch, 64U);
			KUNIT_EXPECT_LE_MSG(test, held_back, limit / 64,
					    "limit %lu, %u CPUs", limit,
					    cpus[i]);
		}
	}
	KUNIT_EXPECT_EQ(test, memcg_dirty_batch(PAGES(SZ_1G), 2), 64U);
	KUNIT_EXPECT_EQ(test, memcg_dirty_batch(1, 1), 1U);
}

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

KUNIT_DEFINE_ACTION_WRAPPER(memcg_dirty_test_free, memcg_dirty_domain_free,
			    struct memcg_dirty_domain *);

static struct memcg_dirty_domain *
memcg_dirty_test_domain(struct kunit *test, unsigned long limit,
			unsigned long gen, struct memcg_dirty_domain *up)
{
	struct memcg_dirty_domain *domain = memcg_dirty_domain_alloc(limit);

	KUNIT_ASSERT_NOT_NULL(test, domain);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, memcg_dirty_test_free,
						  domain));
	domain->gen = gen;
	RCU_INIT_POINTER(domain->up, up);
	return domain;
}

static void memcg_dirty_test_update(struct memcg_dirty_domain *domain,
				    enum memcg_dirty_item item, long nr_pages)
{
	unsigned long flags;

	local_irq_save(flags);
	while (domain)
		domain = memcg_dirty_add(domain, item, nr_pages);
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
	memcg_dirty_test_update(lower, MEMCG_WRITEBACK, 200);

	/* With a limit of one page nothing is held back. */
	KUNIT_EXPECT_EQ(test, memcg_dirty_read(upper, MEMCG_DIRTY), 15UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read(upper, MEMCG_WRITEBACK), 200UL);
	/* With a large one, less than a batch is. */
	KUNIT_EXPECT_GT(test, lower->batch, 10U);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read(lower, MEMCG_DIRTY), 0UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read(lower, MEMCG_WRITEBACK), 200UL);
}

/* A count below zero is an artefact of reading; nobody is to see it. */
static void memcg_dirty_test_negative(struct kunit *test)
{
	struct memcg_dirty_domain *domain;

	domain = memcg_dirty_test_domain(test, 1, 1, NULL);
	memcg_dirty_test_update(domain, MEMCG_DIRTY, -3);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read(domain, MEMCG_DIRTY), 0UL);
	memcg_dirty_test_update(domain, MEMCG_DIRTY, 5);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read(domain, MEMCG_DIRTY), 2UL);
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

	lower = memcg_dirty_test_domain(test, 1, 1, NULL);
	lower->seed[MEMCG_DIRTY] = 100;
	memcg_dirty_test_update(lower, MEMCG_DIRTY, 10);

	upper = memcg_dirty_test_domain(test, 1, 2, NULL);
	rcu_assign_pointer(lower->up, upper);
	memcg_dirty_test_update(lower, MEMCG_DIRTY, -4);
	memcg_dirty_test_update(lower, MEMCG_WRITEBACK, 4);
	memcg_dirty_seed_domain(upper, lower);
	memcg_dirty_test_update(lower, MEMCG_DIRTY, 1);

	KUNIT_EXPECT_EQ(test, memcg_dirty_read(lower, MEMCG_DIRTY), 107UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read(upper, MEMCG_DIRTY), 107UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read(upper, MEMCG_WRITEBACK), 4UL);
}

/* A replacement starts from where its predecessor was. */
static void memcg_dirty_test_reseed(struct kunit *test)
{
	struct memcg_dirty_domain *first, *second, *lower;

	first = memcg_dirty_test_domain(test, 1, 1, NULL);
	lower = memcg_dirty_test_domain(test, 1, 2, first);
	memcg_dirty_test_update(lower, MEMCG_DIRTY, 30);

	second = memcg_dirty_test_domain(test, 1, 3, NULL);
	rcu_assign_pointer(lower->up, second);
	memcg_dirty_seed_domain(second, lower);
	memcg_dirty_test_update(lower, MEMCG_DIRTY, 5);

	KUNIT_EXPECT_EQ(test, memcg_dirty_read(first, MEMCG_DIRTY), 30UL);
	KUNIT_EXPECT_EQ(test, memcg_dirty_read(second, MEMCG_DIRTY), 35UL);
}

static struct kunit_case memcg_dirty_cases[] = {
	KUNIT_CASE(memcg_dirty_test_parse),
	KUNIT_CASE(memcg_dirty_test_parse_page),
	KUNIT_CASE(memcg_dirty_test_batch),
	KUNIT_CASE(memcg_dirty_test_tighter),
	KUNIT_CASE(memcg_dirty_test_stacked),
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
