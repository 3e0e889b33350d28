// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for vm.active_inactive_ratio and memory.active_inactive_ratio: the
 * files, and what the ratio does to a working set beside a stream.
 *
 * The tests of the effect need a current directory on a file system with sparse
 * files in the page cache. Reading holes takes memory, but no disk.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_dirty_util.h"

#define SYSCTL_FILE	"/proc/sys/vm/active_inactive_ratio"
#define LRU_GEN_FILE	"/sys/kernel/mm/lru_gen/enabled"
#define ACTIVE_RATIO_FILE	"memory.active_inactive_ratio"
#define TMPFS_MAGIC	0x01021994
/* Percent of the working set that is found in memory in each round */
#define KEPT		90
#define NOT_KEPT	85

static const char *const set_file = "test_active_ratio_set.tmp";
static const char *const stream_file = "test_active_ratio_stream.tmp";

/*
 * A working set, a stream, and the memory that the two do not fit into. Of the
 * stream, nothing is read again: what was evicted before lru_gen is switched is
 * then taken for another time.
 */
static const long set_bytes = MB(24);
static const long stream_bytes = MB(768);
static const long stream_step = MB(48);
static const long memory_max = MB(64);

static int set_sysctl(const char *text)
{
	int fd = open(SYSCTL_FILE, O_WRONLY);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static bool sysctl_is(const char *expected)
{
	char text[32];

	return read_text(SYSCTL_FILE, text, sizeof(text)) > 0 &&
	       !strcmp(text, expected);
}

/* The first test: nobody has set it yet. */
static int test_sysctl_default(const char *root)
{
	return sysctl_is("-1\n") ? KSFT_PASS : KSFT_FAIL;
}

static int test_sysctl_values(const char *root)
{
	static const char *const valid[] = { "0", "1", "100", "25", "-1" };
	static const char *const invalid[] = { "-2", "101", "x", "50x", "2147483648" };
	char expected[32];
	int i, ret = KSFT_FAIL;

	for (i = 0; i < ARRAY_SIZE(valid); i++) {
		snprintf(expected, sizeof(expected), "%s\n", valid[i]);
		if (set_sysctl(valid[i]) || !sysctl_is(expected))
			goto out;
	}
	if (set_sysctl("25"))
		goto out;
	for (i = 0; i < ARRAY_SIZE(invalid); i++) {
		if (set_sysctl(invalid[i]) != -EINVAL || !sysctl_is("25\n")) {
			ksft_print_msg("'%s' was not refused\n", invalid[i]);
			goto out;
		}
	}
	ret = KSFT_PASS;
out:
	set_sysctl("-1");
	return ret;
}

/* Not on the root; "default" by default; a child does not copy its parent's. */
static int test_default(const char *root)
{
	char *parent = create_cgroup(root, "ratio_default");
	char *child = NULL;
	char path[PATH_MAX];
	int ret = KSFT_FAIL;

	snprintf(path, sizeof(path), "%s/%s", root, ACTIVE_RATIO_FILE);
	if (!parent || !access(path, F_OK) ||
	    cg_read_strcmp(parent, ACTIVE_RATIO_FILE, "default\n") ||
	    cg_write(parent, "cgroup.subtree_control", "+memory") ||
	    cg_write(parent, ACTIVE_RATIO_FILE, "30"))
		goto out;
	child = create_cgroup(parent, "child");
	if (child && !cg_read_strcmp(child, ACTIVE_RATIO_FILE, "default\n"))
		ret = KSFT_PASS;
out:
	destroy_cgroup(child);
	destroy_cgroup(parent);
	return ret;
}

static int test_values(const char *root)
{
	static char *const valid[] = { "0", "100", " 25\n", "default" };
	static const char *const read[] = { "0\n", "100\n", "25\n", "default\n" };
	static char *const invalid[] = {
		"-1", "-2", "101", "x", "50%", "5 0", "max", "4294967296",
	};
	char *cgroup = create_cgroup(root, "ratio_values");
	int i, ret = KSFT_FAIL;

	if (!cgroup)
		return KSFT_FAIL;
	for (i = 0; i < ARRAY_SIZE(valid); i++)
		if (cg_write(cgroup, ACTIVE_RATIO_FILE, valid[i]) ||
		    cg_read_strcmp(cgroup, ACTIVE_RATIO_FILE, read[i]))
			goto out;
	if (cg_write(cgroup, ACTIVE_RATIO_FILE, "42"))
		goto out;
	for (i = 0; i < ARRAY_SIZE(invalid); i++) {
		if (cg_write(cgroup, ACTIVE_RATIO_FILE, invalid[i]) != -EINVAL ||
		    cg_read_strcmp(cgroup, ACTIVE_RATIO_FILE, "42\n")) {
			ksft_print_msg("'%s' was not refused\n", invalid[i]);
			goto out;
		}
	}
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	return ret;
}

static void read_range(int fd, long from, long bytes)
{
	static char buf[CHUNK];
	long pos;

	for (pos = from; pos < from + bytes; pos += CHUNK)
		if (pread(fd, buf, CHUNK, pos) != CHUNK)
			_exit(127);
}

static int resident_percent(void *map, long bytes)
{
	static unsigned char vec[MB(24) / 4096];
	long i, found = 0, pages = bytes / sysconf(_SC_PAGE_SIZE);

	if (mincore(map, bytes, vec))
		_exit(127);
	for (i = 0; i < pages; i++)
		found += vec[i] & 1;
	return found * 100 / pages;
}

static int compare_int(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/*
 * Runs in the cgroup: reads the set, then a piece of the stream, over and over.
 * Halfway through the rounds that do not count yet, @arg is what to write to
 * lru_gen, if anything. Exits with the share of the set that was still there at
 * the next round, in the mean. Where folios are large, the median: a reclaimer
 * that finds nothing, because all that is inactive is being read, may take what
 * is active, once in many rounds.
 */
static int read_set_beside_stream(const char *cgroup, void *arg)
{
	int set = open(set_file, O_RDONLY), stream = open(stream_file, O_RDONLY);
	int i, sum = 0, percent[8];
	const int warm = arg ? 8 : 4, rounds = warm + ARRAY_SIZE(percent);
	long pos = 0;
	void *map;

	map = mmap(NULL, set_bytes, PROT_READ, MAP_SHARED, set, 0);
	if (set < 0 || stream < 0 || map == MAP_FAILED)
		return 127;
	for (i = 0; i < rounds; i++) {
		if (i >= warm) {
			percent[i - warm] = resident_percent(map, set_bytes);
			sum += percent[i - warm];
		}
		if (arg && i == warm / 2 && write_text(LRU_GEN_FILE, arg, 1) != 1)
			return 127;
		read_range(set, 0, set_bytes);
		read_range(stream, pos, stream_step);
		pos += stream_step;
	}
	if (!ext4_has_large_folios())
		return sum / (rounds - warm);
	qsort(percent, ARRAY_SIZE(percent), sizeof(*percent), compare_int);
	return percent[ARRAY_SIZE(percent) / 2 - 1];
}

static int make_sparse(const char *path, long bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	int err;

	if (fd < 0)
		return -1;
	err = ftruncate(fd, bytes);
	close(fd);
	return err;
}

/* Pages that are in memory already belong to the cgroup that read them. */
static int make_files(void)
{
	return make_sparse(set_file, set_bytes) ||
	       make_sparse(stream_file, stream_bytes) ? -1 : 0;
}

static int hit_rate(const char *cgroup, char *lru_gen)
{
	int status;

	if (make_files())
		return -1;
	status = cg_run(cgroup, read_set_beside_stream, lru_gen);
	ksft_print_msg("%s: hit rate %d%%\n", cgroup, status);
	return status == 127 ? -1 : status;
}

static bool can_test_effect(void)
{
	struct statfs fs;

	return !statfs(".", &fs) && fs.f_type != TMPFS_MAGIC && !make_files();
}

static char *create_bounded(const char *parent, const char *name, char *ratio)
{
	char *cgroup = create_cgroup(parent, name);

	if (cgroup && (cg_write_numeric(cgroup, "memory.max", memory_max) ||
		       cg_write(cgroup, ACTIVE_RATIO_FILE, ratio))) {
		destroy_cgroup(cgroup);
		return NULL;
	}
	return cgroup;
}

static int hit_rate_with(const char *root, char *ratio)
{
	char *cgroup = create_bounded(root, "ratio_effect", ratio);
	int rate = cgroup ? hit_rate(cgroup, NULL) : -1;

	destroy_cgroup(cgroup);
	return rate;
}

/* What fits into the ratio is kept; the less of it, the less is protected. */
static int test_effect(const char *root)
{
	int all = hit_rate_with(root, "75");
	int some = hit_rate_with(root, "20");
	int none = hit_rate_with(root, "0");

	return all >= KEPT && none >= 0 && none < NOT_KEPT &&
	       some + 5 >= none && some < KEPT ? KSFT_PASS : KSFT_FAIL;
}

/*
 * A child follows its parent, the parent the system; its own value is closer,
 * even if it is for its parent's limit that its pages are evicted.
 */
static int test_inheritance(const char *root)
{
	char *parent = create_bounded(root, "ratio_parent", "default");
	char *child = NULL;
	int ret = KSFT_FAIL;

	if (!parent || cg_write(parent, "cgroup.subtree_control", "+memory"))
		goto out;
	child = create_cgroup(parent, "child");
	if (!child || set_sysctl("75") || hit_rate(child, NULL) < KEPT)
		goto out;
	if (cg_write(parent, ACTIVE_RATIO_FILE, "0") || hit_rate(child, NULL) >= NOT_KEPT)
		goto out;
	if (cg_write(child, ACTIVE_RATIO_FILE, "75") || hit_rate(child, NULL) < KEPT)
		goto out;
	if (cg_write(child, ACTIVE_RATIO_FILE, "default") || hit_rate(child, NULL) >= NOT_KEPT)
		goto out;
	ret = KSFT_PASS;
out:
	set_sysctl("-1");
	destroy_cgroup(child);
	destroy_cgroup(parent);
	return ret;
}

/* A set that was kept on one LRU is kept, or found again, on the other. */
static int test_lru_switch(const char *root)
{
	char *cgroup = create_bounded(root, "ratio_switch", "75");
	char enabled[32];
	int ret = KSFT_FAIL;
	char *other;

	if (!cgroup || read_text(LRU_GEN_FILE, enabled, sizeof(enabled)) <= 0)
		goto out;
	other = strtol(enabled, NULL, 16) & 1 ? "n" : "y";
	if (hit_rate(cgroup, other) >= KEPT)
		ret = KSFT_PASS;
	write_text(LRU_GEN_FILE, enabled, strlen(enabled) - 1);
out:
	destroy_cgroup(cgroup);
	return ret;
}

static long active_percent(const char *cgroup)
{
	long active = cg_read_key_long(cgroup, "memory.stat", "\nactive_file ");
	long inactive = cg_read_key_long(cgroup, "memory.stat", "inactive_file ");

	return active * 100 / (active + inactive + 1);
}

/*
 * Runs in the cgroup: uses everything twice, more than fits. The second time
 * comes after another folio: read twice on end, one counts as used once. Between
 * two times that readahead has made room, more and more becomes active; so exits
 * with the mean.
 */
static int read_all_twice(const char *cgroup, void *arg)
{
	const long end = MB(512), steady = end / 2, step = MB(2);
	int fd = open(stream_file, O_RDONLY);
	long pos, sum = 0;

	for (pos = step; pos < end; pos += step) {
		read_range(fd, pos, step);
		read_range(fd, pos - step, step);
		if (pos >= steady)
			sum += active_percent(cgroup);
	}
	return sum / (steady / step);
}

static bool share_is_near(const char *root, int ratio)
{
	char *cgroup, text[16];
	int share = -1;

	snprintf(text, sizeof(text), "%d", ratio);
	cgroup = create_bounded(root, "ratio_share", text);
	if (!cgroup)
		return false;
	if (!cg_write_numeric(cgroup, "memory.max", 2 * memory_max) &&
	    !make_files())
		share = cg_run(cgroup, read_all_twice, NULL);
	destroy_cgroup(cgroup);
	ksft_print_msg("ratio %d: %d%% active\n", ratio, share);
	return share >= ratio - 5 && share <= ratio + 5;
}

/* When everything is used again, the active part is the ratio. */
static int test_share(const char *root)
{
	static const int ratios[] = { 10, 25, 50, 75, 90 };
	int i;

	for (i = 0; i < ARRAY_SIZE(ratios); i++)
		if (!share_is_near(root, ratios[i]))
			return KSFT_FAIL;
	return KSFT_PASS;
}

static const struct {
	const char *name;
	int (*fn)(const char *root);
	bool effect;
} tests[] = {
	{ "test_sysctl_default", test_sysctl_default },
	{ "test_sysctl_values", test_sysctl_values },
	{ "test_default", test_default },
	{ "test_values", test_values },
	{ "test_effect", test_effect, true },
	{ "test_inheritance", test_inheritance, true },
	{ "test_share", test_share, true },
	{ "test_lru_switch", test_lru_switch, true },
};

static void run_tests(const char *root, bool effect, bool can, const char *lru)
{
	char name[64];
	int i;

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (tests[i].effect != effect)
			continue;
		snprintf(name, sizeof(name), "%s%s", tests[i].name, lru);
		ksft_test_result_code(can ? tests[i].fn(root) : KSFT_SKIP, name,
				      NULL);
	}
}

/* Those of the effect on either LRU, if it can be switched. */
static void run_on_lru(const char *root, char *enabled, const char *lru)
{
	bool can = write_text(LRU_GEN_FILE, enabled, 1) == 1;

	run_tests(root, true, can && can_test_effect(), lru);
}

int main(int argc, char **argv)
{
	char root[PATH_MAX], enabled[32];
	int i, plan = 0;

	ksft_print_header();
	find_root(root, sizeof(root));
	if (access(SYSCTL_FILE, F_OK))
		ksft_exit_skip("no vm.active_inactive_ratio\n");
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		plan += tests[i].effect ? 2 : 1;
	ksft_set_plan(plan);

	run_tests(root, false, true, "");
	if (read_text(LRU_GEN_FILE, enabled, sizeof(enabled)) <= 0)
		snprintf(enabled, sizeof(enabled), "0\n");
	run_on_lru(root, "n", " on the classic LRU");
	run_on_lru(root, "y", " on the multi-gen LRU");
	write_text(LRU_GEN_FILE, enabled, strlen(enabled) - 1);
	unlink(set_file);
	unlink(stream_file);
	ksft_finished();
}
