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
	struct memcg_dirty_setting setting;
	char buf[64];
	int i;

	for (i = 0; i < ARRAY_SIZE(memcg_dirty_parse_cases); i++) {
		c = &memcg_dirty_parse_cases[i];
		strscpy(buf, c->text, sizeof(buf));
		KUNIT_EXPECT_EQ_MSG(test, memcg_dirty_parse_bytes(buf, &setting),
				    c->err, "\"%s\"", c->text);
		if (c->err)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, setting.pages, c->pages, "\"%s\"",
				    c->text);
		KUNIT_EXPECT_EQ(test, setting.percent, 0U);
	}
}

/* One page is the smallest limit, whatever the page size. */
static void memcg_dirty_test_parse_page(struct kunit *test)
{
	struct memcg_dirty_setting setting;
	char buf[32];

	snprintf(buf, sizeof(buf), "%lu", PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, memcg_dirty_parse_bytes(buf, &setting), 0);
	KUNIT_EXPECT_EQ(test, setting.pages, 1UL);
	snprintf(buf, sizeof(buf), "%lu", PAGE_SIZE - 1);
	KUNIT_EXPECT_EQ(test, memcg_dirty_parse_bytes(buf, &setting), -EINVAL);
}

struct memcg_dirty_ratio_case {
	const char *text;
	int err;
	unsigned int percent;
};

static const struct memcg_dirty_ratio_case memcg_dirty_ratio_cases[] = {
	{ "max", 0, 0 },
	{ "1", 0, 1 },
	{ "20", 0, 20 },
	{ "100", 0, 100 },
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
	const struct memcg_dirty_ratio_case *c;
	struct memcg_dirty_setting setting;
	char buf[64];
	int i;

	for (i = 0; i < ARRAY_SIZE(memcg_dirty_ratio_cases); i++) {
		c = &memcg_dirty_ratio_cases[i];
		strscpy(buf, c->text, sizeof(buf));
		KUNIT_EXPECT_EQ_MSG(test, memcg_dirty_parse_ratio(buf, &setting),
				    c->err, "\"%s\"", c->text);
		if (c->err)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, setting.percent, c->percent, "\"%s\"",
				    c->text);
		KUNIT_EXPECT_EQ(test, setting.pages, PAGE_COUNTER_MAX);
	}
}

/* "max" for the one of bytes and ratio that is not set changes nothing. */
static void memcg_dirty_test_moot(struct kunit *test)
{
	struct memcg_dirty_setting bytes = { .pages = 10 };
	struct memcg_dirty_setting ratio = {
		.pages = PAGE_COUNTER_MAX, .percent = 30
	};
	const struct memcg_dirty_setting *unset = &memcg_dirty_unset;

	KUNIT_EXPECT_TRUE(test, memcg_dirty_is_moot(unset, &bytes, true));
	KUNIT_EXPECT_TRUE(test, memcg_dirty_is_moot(unset, &ratio, false));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_moot(unset, &bytes, false));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_moot(unset, &ratio, true));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_moot(&bytes, &ratio, false));
	KUNIT_EXPECT_FALSE(test, memcg_dirty_is_moot(&ratio, &bytes, true));
}

static struct kunit_case memcg_dirty_file_cases[] = {
	KUNIT_CASE(memcg_dirty_test_parse),
	KUNIT_CASE(memcg_dirty_test_parse_page),
	KUNIT_CASE(memcg_dirty_test_parse_ratio),
	KUNIT_CASE(memcg_dirty_test_moot),
	{}
};

static struct kunit_suite memcg_dirty_file_suite = {
	.name = "memcg_dirty_file",
	.test_cases = memcg_dirty_file_cases,
};

kunit_test_suite(memcg_dirty_file_suite);
