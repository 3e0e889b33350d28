// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for dirty limits: parsing.
 *
 * Included by mm/memcg_dirty_file.c.
 */
#include <kunit/test.h>
#include <linux/sizes.h>

struct memcg_dirty_parse_case {
	const char *text;
	int err;
	long setting;
};

#define PAGES(bytes)	((long)((bytes) / PAGE_SIZE))

static const struct memcg_dirty_parse_case memcg_dirty_parse_cases[] = {
	{ "max", 0, MEMCG_DIRTY_UNSET },
	{ "1048576", 0, PAGES(SZ_1M) },
	{ "1024K", 0, PAGES(SZ_1M) },
	{ "40M", 0, PAGES(40 * SZ_1M) },
	{ "40m", 0, PAGES(40 * SZ_1M) },
	{ "2G", 0, PAGES(2ULL * SZ_1G) },
	{ "1048577", 0, PAGES(SZ_1M) },
	{ "0", 0, 0 },
	{ "1", 0, 0 },
	{ "1K", 0, 0 },
	{ "0x100000", 0, PAGES(SZ_1M) },
	/* A number too large for a limit is none. */
	{ "8E", 0, MEMCG_DIRTY_UNSET },
	{ "18446744073709551615", 0, MEMCG_DIRTY_UNSET },
	{ "", -EINVAL },
	{ "-1", -EINVAL },
	{ "12x", -EINVAL },
	{ "x", -EINVAL },
	{ "M", -EINVAL },
	{ "1 M", -EINVAL },
	{ "1MM", -EINVAL },
	{ "maximum", -EINVAL },
	{ "+1M", -EINVAL },
	{ "1048576\nM", -EINVAL },
};

static void memcg_dirty_test_cases(struct kunit *test,
				   const struct memcg_dirty_parse_case *c, int nr,
				   int (*parse)(const char *buf, long *setting))
{
	long setting;

	for (; nr--; c++) {
		KUNIT_EXPECT_EQ_MSG(test, parse(c->text, &setting), c->err,
				    "\"%s\"", c->text);
		if (!c->err)
			KUNIT_EXPECT_EQ_MSG(test, setting, c->setting, "\"%s\"",
					    c->text);
	}
}

static void memcg_dirty_test_parse(struct kunit *test)
{
	memcg_dirty_test_cases(test, memcg_dirty_parse_cases,
			       ARRAY_SIZE(memcg_dirty_parse_cases),
			       memcg_dirty_parse_bytes);
}

static const struct memcg_dirty_parse_case memcg_dirty_ratio_cases[] = {
	{ "max", 0, MEMCG_DIRTY_UNSET },
	{ "1", 0, -1 },
	{ "20", 0, -20 },
	{ "100", 0, -100 },
	{ "0", -EINVAL },
	{ "101", -EINVAL },
	{ "-1", -EINVAL },
	{ "+5", -EINVAL },
	{ "", -EINVAL },
	{ "5%", -EINVAL },
	{ "0x10", -EINVAL },
	{ "4294967316", -EINVAL },
	{ "5 5", -EINVAL },
};

static void memcg_dirty_test_parse_ratio(struct kunit *test)
{
	memcg_dirty_test_cases(test, memcg_dirty_ratio_cases,
			       ARRAY_SIZE(memcg_dirty_ratio_cases),
			       memcg_dirty_parse_ratio);
}

/* "max" for the one of bytes and ratio that is not set changes nothing. */
static void memcg_dirty_test_moot(struct kunit *test)
{
	const long unset = MEMCG_DIRTY_UNSET, bytes = 10, ratio = -30;

	KUNIT_EXPECT_TRUE(test, memcg_dirty_is_moot(unset, bytes, true));
	KUNIT_EXPECT_TRUE(test, memcg_dirty_is_moot(unset, ratio, false));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_moot(unset, bytes, false));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_moot(unset, ratio, true));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_moot(bytes, ratio, false));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_moot(ratio, bytes, true));
}

static struct kunit_case memcg_dirty_file_cases[] = {
	KUNIT_CASE(memcg_dirty_test_parse),
	KUNIT_CASE(memcg_dirty_test_parse_ratio),
	KUNIT_CASE(memcg_dirty_test_moot),
	{}
};

static struct kunit_suite memcg_dirty_file_suite = {
	.name = "memcg_dirty_file",
	.test_cases = memcg_dirty_file_cases,
};

kunit_test_suite(memcg_dirty_file_suite);
