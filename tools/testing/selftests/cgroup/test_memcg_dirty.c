// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for memory.dirty_limit_in_bytes and related files: their values, and
 * that the limits hold.
 *
 * The tests that write need a current directory on a file system with cgroup
 * writeback, on a disk that is slower than memory; elsewhere they are skipped.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_dirty_util.h"
#include "memcg_test_util.h"

static const char *const test_file = "test_memcg_dirty.tmp";

/* Runs in the cgroup: writes @arg bytes, a pointer to a long. */
static int write_bytes(const char *cgroup, void *arg)
{
	return write_zeroes(test_file, O_TRUNC, *(long *)arg);
}

static const char *const limit_files[] = {
	LIMIT_FILE, BACKGROUND_FILE, RATIO_FILE, BACKGROUND_RATIO_FILE,
};

static bool exists(const char *cgroup, const char *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", cgroup, file);
	return !access(path, F_OK);
}

/* Not on the root; "max" by default; a child does not copy its parent's. */
static int test_default(const char *root)
{
	char *parent = create_cgroup(root, "dirty_default");
	char *child = NULL;
	int i, ret = KSFT_FAIL;

	if (!parent || cg_write(parent, "cgroup.subtree_control", "+memory") ||
	    cg_write(parent, LIMIT_FILE, "16M") ||
	    cg_write(parent, BACKGROUND_RATIO_FILE, "10"))
		goto out;
	child = create_cgroup(parent, "child");
	if (!child || exists(root, STAT_FILE))
		goto out;
	for (i = 0; i < ARRAY_SIZE(limit_files); i++)
		if (exists(root, limit_files[i]) ||
		    cg_read_strcmp(child, limit_files[i], "max\n"))
			goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(child);
	destroy_cgroup(parent);
	return ret;
}

static int check_value(const char *cgroup, const char *file, char *text,
		       const char *expected)
{
	if (cg_write(cgroup, file, text) ||
	    cg_read_strcmp(cgroup, file, expected)) {
		ksft_print_msg("%s: '%s' did not give %s", file, text, expected);
		return -1;
	}
	return 0;
}

/* Bytes, with suffixes and white space around them; rounded down to pages. */
static int check_bytes(const char *cgroup, const char *file)
{
	long page_size = sysconf(_SC_PAGE_SIZE);
	char page[32], page_line[32], odd[32];

	snprintf(page, sizeof(page), "%ld", page_size);
	snprintf(page_line, sizeof(page_line), "%ld\n", page_size);
	snprintf(odd, sizeof(odd), "%ld", 2 * page_size - 1);
	return check_value(cgroup, file, "41943040", "41943040\n") ||
	       check_value(cgroup, file, "40M", "41943040\n") ||
	       check_value(cgroup, file, "2g\n", "2147483648\n") ||
	       check_value(cgroup, file, " 1024K ", "1048576\n") ||
	       check_value(cgroup, file, page, page_line) ||
	       check_value(cgroup, file, odd, page_line) ||
	       check_value(cgroup, file, "1T", "1099511627776\n") ||
	       check_value(cgroup, file, "0", "0\n") ||
	       check_value(cgroup, file, "0x1000000", "16777216\n") ||
	       check_value(cgroup, file, "8E", "max\n") ||
	       check_value(cgroup, file, "max", "max\n") ||
	       check_value(cgroup, file, "max\n", "max\n");
}

static int check_ratio(const char *cgroup, const char *file)
{
	return check_value(cgroup, file, "1", "1\n") ||
	       check_value(cgroup, file, " 20\n", "20\n") ||
	       check_value(cgroup, file, "100", "100\n") ||
	       check_value(cgroup, file, "max", "max\n");
}

static int test_valid(const char *root)
{
	char *cgroup = create_cgroup(root, "dirty_valid");
	int ret = KSFT_FAIL;

	if (!cgroup || check_bytes(cgroup, LIMIT_FILE) ||
	    check_bytes(cgroup, BACKGROUND_FILE) ||
	    check_ratio(cgroup, RATIO_FILE) ||
	    check_ratio(cgroup, BACKGROUND_RATIO_FILE))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	return ret;
}

/* The kernel refuses a bad value and keeps the old one. */
static int check_bad(const char *cgroup, const char *file, char *bad)
{
	char before[32], after[32];
	int err;

	cg_read(cgroup, file, before, sizeof(before));
	err = cg_write(cgroup, file, bad);
	cg_read(cgroup, file, after, sizeof(after));
	if (err == -EINVAL && !strcmp(before, after))
		return 0;
	ksft_print_msg("%s: '%s' gave %d\n", file, bad, err);
	return -1;
}

static int test_invalid(const char *root)
{
	static char *const bad[] = {
		"-1", "12x", "\n", " ", "x", "M", "10 M", "maxx", "+7",
	};
	static char *const bad_ratio[] = {
		"0", "101", "5%", "1K", "0x10", "4294967297",
	};
	char *cgroup = create_cgroup(root, "dirty_invalid");
	int i, j, ret = KSFT_FAIL;

	if (!cgroup || cg_write(cgroup, LIMIT_FILE, "16M") ||
	    cg_write(cgroup, BACKGROUND_RATIO_FILE, "10"))
		goto out;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		for (j = 0; j < ARRAY_SIZE(limit_files); j++)
			if (check_bad(cgroup, limit_files[j], bad[i]))
				goto out;
	for (i = 0; i < ARRAY_SIZE(bad_ratio); i++)
		if (check_bad(cgroup, BACKGROUND_RATIO_FILE, bad_ratio[i]))
			goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	return ret;
}

/* Of bytes and ratio, the one that was written last counts. */
static int check_pair(const char *cgroup, const char *bytes, const char *ratio)
{
	if (check_value(cgroup, bytes, "16M", "16777216\n") ||
	    check_value(cgroup, ratio, "20", "20\n") ||
	    cg_read_strcmp(cgroup, bytes, "max\n"))
		return -1;
	/* "max" for the bytes leaves the ratio alone. */
	if (check_value(cgroup, bytes, "max", "max\n") ||
	    cg_read_strcmp(cgroup, ratio, "20\n"))
		return -1;
	return check_value(cgroup, bytes, "8M", "8388608\n") ||
	       cg_read_strcmp(cgroup, ratio, "max\n");
}

static int test_pairs(const char *root)
{
	char *cgroup = create_cgroup(root, "dirty_pairs");
	int ret = KSFT_FAIL;

	if (!cgroup || check_pair(cgroup, LIMIT_FILE, RATIO_FILE) ||
	    check_pair(cgroup, BACKGROUND_FILE, BACKGROUND_RATIO_FILE))
		goto out;
	/* A pair does not change the other one. */
	if (cg_read_strcmp(cgroup, LIMIT_FILE, "8388608\n"))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	return ret;
}

/* Compares the limits in force, as memory.dirty_stat shows them. */
static int check_effective(const char *cgroup, long limit, long background)
{
	long is_limit = cg_read_key_long(cgroup, STAT_FILE, "\nlimit ");
	long is_background = cg_read_key_long(cgroup, STAT_FILE,
					      "background_limit ");

	if (is_limit == limit && is_background == background)
		return 0;
	ksft_print_msg("limits are %ld and %ld, not %ld and %ld\n", is_limit,
		       is_background, limit, background);
	return -1;
}

/* The tightest limit on the path counts, for each of the two limits. */
static int test_effective(const char *root)
{
	char *parent = create_cgroup(root, "dirty_effective");
	char *child = NULL;
	int ret = KSFT_FAIL;

	if (!parent || cg_write(parent, "cgroup.subtree_control", "+memory"))
		goto out;
	child = create_cgroup(parent, "child");
	if (!child || cg_read_strstr(child, STAT_FILE, "\nlimit max\n") ||
	    cg_read_strstr(child, STAT_FILE, "background_limit max\n"))
		goto out;
	/* Half of the limit, unless one is set that is below the limit. */
	if (cg_write(parent, LIMIT_FILE, "32M") ||
	    check_effective(child, MB(32), MB(16)) ||
	    cg_write(parent, BACKGROUND_FILE, "24M") ||
	    check_effective(child, MB(32), MB(24)) ||
	    cg_write(parent, BACKGROUND_FILE, "32M") ||
	    check_effective(child, MB(32), MB(16)))
		goto out;
	/* A child can tighten, but not loosen. */
	if (cg_write(child, LIMIT_FILE, "64M") ||
	    check_effective(child, MB(32), MB(16)) ||
	    cg_write(child, LIMIT_FILE, "8M") ||
	    check_effective(child, MB(8), MB(4)) ||
	    check_effective(parent, MB(32), MB(16)))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(child);
	destroy_cgroup(parent);
	return ret;
}

static int check_ratio_of(const char *cgroup, long bytes)
{
	long limit = cg_read_key_long(cgroup, STAT_FILE, "\nlimit ");

	/* A few pages are charged for the cgroup itself. */
	if (limit <= bytes && limit > bytes / 10 * 9)
		return 0;
	ksft_print_msg("the ratio gives %ld, not %ld\n", limit, bytes);
	return -1;
}

/* vm.dirty_ratio, in percent. */
static long system_ratio(void)
{
	char text[16] = "";

	read_text("/proc/sys/vm/dirty_ratio", text, sizeof(text));
	return atol(text);
}

/* A ratio is a share of memory.max or memory.high, and follows changes. */
static int test_ratio_follows(const char *root)
{
	char *parent = create_cgroup(root, "dirty_ratio");
	char *child = NULL;
	int ret = KSFT_FAIL;

	if (!parent || cg_write(parent, "cgroup.subtree_control", "+memory"))
		goto out;
	child = create_cgroup(parent, "child");
	if (!child || cg_write(child, RATIO_FILE, "50") ||
	    cg_write(child, "memory.max", "100M") ||
	    check_ratio_of(child, MB(50)))
		goto out;
	if (cg_write(child, "memory.high", "60M") ||
	    check_ratio_of(child, MB(30)))
		goto out;
	/* The parent has its share of vm.dirty_ratio, which binds below it. */
	if (cg_write(parent, "memory.max", "20M") ||
	    check_ratio_of(child, MB(20) / 100 * system_ratio()))
		goto out;
	if (cg_write(parent, "memory.max", "max") ||
	    check_ratio_of(child, MB(30)))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(child);
	destroy_cgroup(parent);
	return ret;
}

/* A limit of 10M holds while 64M are written, and also the second time. */
static int test_limit_holds(const char *root)
{
	char *cgroup = create_cgroup(root, "dirty_limit");
	int ret = KSFT_FAIL;

	if (!cgroup || cg_write(cgroup, LIMIT_FILE, "10M"))
		goto out;
	if (!stays_within_10m(cgroup, cgroup, test_file) ||
	    !stays_within_10m(cgroup, cgroup, test_file))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	unlink(test_file);
	return ret;
}

/* Without a limit, the same writes go beyond it: the test above can fail. */
static int test_no_limit(const char *root)
{
	char *cgroup = create_cgroup(root, "dirty_no_limit");
	int ret = KSFT_FAIL;

	if (!cgroup || cg_write(cgroup, LIMIT_FILE, "10M") ||
	    cg_write(cgroup, LIMIT_FILE, "max"))
		goto out;
	if (stays_within_10m(cgroup, cgroup, test_file))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	unlink(test_file);
	return ret;
}

/* A ratio holds like the number of bytes that it gives. */
static int test_ratio_holds(const char *root)
{
	char *cgroup = create_cgroup(root, "dirty_ratio_holds");
	int ret = KSFT_FAIL;

	if (!cgroup || cg_write(cgroup, "memory.max", "100M") ||
	    cg_write(cgroup, RATIO_FILE, "10") ||
	    !stays_within_10m(cgroup, cgroup, test_file))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	unlink(test_file);
	return ret;
}

static long stat_value(const char *cgroup, const char *key)
{
	return cg_read_key_long(cgroup, STAT_FILE, key);
}

static bool stat_within(const char *cgroup, const char *key, long least, long most)
{
	long value = stat_value(cgroup, key);

	if (value < least || value > most) {
		ksft_print_msg("%s%ld, not from %ld to %ld\n", key, value, least, most);
		return false;
	}
	return true;
}

static long read_peak(int fd)
{
	char text[32] = "";

	return pread(fd, text, sizeof(text) - 1, 0) > 0 ? atol(text) : -1;
}

/* A write resets the peak for that open file, and for no other. */
static bool check_peak(const char *cgroup)
{
	char path[PATH_MAX];
	bool ok = false;
	int fd, other;

	snprintf(path, sizeof(path), "%s/" PEAK_FILE, cgroup);
	fd = open(path, O_RDWR);
	other = open(path, O_RDWR);
	if (fd >= 0 && other >= 0)
		ok = read_peak(fd) >= MB(5) && read_peak(fd) <= MB(11) &&
		     write(fd, "reset", 5) == 5 && read_peak(fd) == 0 &&
		     read_peak(other) >= MB(5) &&
		     cg_read_long(cgroup, PEAK_FILE) >= MB(5);
	if (!ok)
		ksft_print_msg("peaks are %ld and %ld\n", read_peak(fd),
			       read_peak(other));
	close(fd);
	close(other);
	return ok;
}

/* Counts include the descendants, and so do pauses. */
static bool check_stat(const char *cgroup)
{
	if (!stat_within(cgroup, "throttled ", 1, LONG_MAX) ||
	    !stat_within(cgroup, "throttled_usec ", 1, LONG_MAX))
		return false;
	if (cg_read_key_long(cgroup, "memory.events", "dirty_limit ") < 1) {
		ksft_print_msg("no event in memory.events\n");
		return false;
	}
	sync();
	return stat_within(cgroup, "dirty ", 0, 0) &&
	       stat_within(cgroup, "writeback ", 0, 0) && check_peak(cgroup);
}

static int test_stat(const char *root)
{
	char *parent = create_cgroup(root, "dirty_stat");
	char *child = NULL;
	long bytes = MB(16);
	int ret = KSFT_FAIL;

	if (!parent || cg_write(parent, "cgroup.subtree_control", "+memory") ||
	    cg_write(parent, LIMIT_FILE, "10M"))
		goto out;
	child = create_cgroup(parent, "child");
	if (!child)
		goto out;
	/* A writer that is not faster than the disk need not be throttled. */
	slow_down(parent, 1);
	if (cg_run(child, write_bytes, &bytes))
		goto out;
	slow_down(parent, 1000);
	if (!check_stat(parent))
		goto out;
	/* The child was throttled for its parent's limit. */
	if (stat_within(child, "throttled ", 1, LONG_MAX) &&
	    stat_within(child, "limit_levels_up ", 1, 1) &&
	    cg_read_long(child, PEAK_FILE) >= MB(5) &&
	    !cg_read_key_long(child, "memory.events", "dirty_limit "))
		ret = KSFT_PASS;
out:
	destroy_cgroup(child);
	destroy_cgroup(parent);
	unlink(test_file);
	return ret;
}

/* The limit of the topmost of four binds, also beside looser ones below it. */
static int test_ancestor(const char *root)
{
	char *level[4] = { create_cgroup(root, "dirty_ancestor") };
	int i, ret = KSFT_FAIL;

	for (i = 1; i < ARRAY_SIZE(level); i++) {
		if (!level[i - 1] ||
		    cg_write(level[i - 1], "cgroup.subtree_control", "+memory"))
			goto out;
		level[i] = create_cgroup(level[i - 1], "child");
	}
	if (!level[3] || cg_write(level[3], LIMIT_FILE, "100M") ||
	    cg_write(level[0], LIMIT_FILE, "10M") ||
	    !stays_within_10m(level[3], level[0], test_file))
		goto out;
	/* A looser limit in between, set last, changes nothing. */
	if (cg_write(level[1], LIMIT_FILE, "200M") ||
	    !stays_within_10m(level[3], level[0], test_file))
		goto out;
	ret = KSFT_PASS;
out:
	for (i = ARRAY_SIZE(level) - 1; i >= 0; i--)
		destroy_cgroup(level[i]);
	unlink(test_file);
	return ret;
}

/*
 * Pages that were dirty before the limit count: the flushers bring them down
 * to half of it, long before the pages are old enough to be written anyway.
 */
static int test_seed_and_background(const char *root)
{
	char *cgroup = create_cgroup(root, "dirty_seed");
	long bytes = MB(32L);
	int ret = KSFT_FAIL;

	if (!cgroup || cg_run(cgroup, write_bytes, &bytes))
		goto out;
	if (cg_dirty(cgroup) < bytes / 2) {
		ksft_print_msg("nothing is dirty without a limit\n");
		goto out;
	}
	if (cg_write(cgroup, LIMIT_FILE, "16M"))
		goto out;
	/* The next writer notices that, and then the flusher goes on. */
	bytes = MB(1);
	if (cg_run(cgroup, write_bytes, &bytes))
		goto out;
	if (wait_until_below(cgroup, MB(8) + stat_error(), 10)) {
		ksft_print_msg("still %ld bytes\n", cg_dirty(cgroup));
		goto out;
	}
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	unlink(test_file);
	return ret;
}

/* A limit changes all the time, with its batch, while a task dirties pages. */
static int test_change_under_load(const char *root)
{
	static char *const values[] = { "1G", "4M", "max", "64M", "1M", "16M" };
	char *cgroup = create_cgroup(root, "dirty_change");
	long bytes = MB(96L);
	int i, status, ret = KSFT_FAIL;
	bool failed = false;
	pid_t pid;

	if (!cgroup)
		goto out;
	pid = cg_run_nowait(cgroup, write_bytes, &bytes);
	if (pid < 0)
		goto out;
	for (i = 0; !waitpid(pid, &status, WNOHANG); i++)
		if (cg_write(cgroup, LIMIT_FILE, values[i % ARRAY_SIZE(values)]))
			failed = true;
	if (failed || !WIFEXITED(status) || WEXITSTATUS(status))
		goto out;
	ksft_print_msg("%d changes\n", i);
	/* Had the changes lost or doubled pages, the limit would not hold. */
	unlink(test_file);
	if (cg_write(cgroup, LIMIT_FILE, "10M") ||
	    wait_until_below(cgroup, stat_error(), 10) ||
	    !stays_within_10m(cgroup, cgroup, test_file))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	unlink(test_file);
	return ret;
}

/*
 * Removed cgroups leave dirty pages behind. These count for the parent until
 * they are written or truncated, and no longer.
 */
static int test_rmdir(const char *root)
{
	char *parent = create_cgroup(root, "dirty_rmdir");
	char *child = NULL;
	long bytes = MB(4);
	int i, ret = KSFT_FAIL;

	if (!parent || cg_write(parent, "cgroup.subtree_control", "+memory") ||
	    cg_write(parent, LIMIT_FILE, "10M"))
		goto out;
	for (i = 0; i < 8; i++) {
		child = create_cgroup(parent, "child");
		if (!child || cg_write(child, LIMIT_FILE, i & 1 ? "8M" : "max") ||
		    cg_run(child, write_bytes, &bytes) || cg_destroy(child))
			goto out;
		free(child);
		child = NULL;
		if (i & 2)
			unlink(test_file);
	}
	/* The new cgroup owns this file, so its own flusher writes it. */
	unlink(test_file);
	child = create_cgroup(parent, "child");
	if (!child || !stays_within_10m(child, parent, test_file))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(child);
	destroy_cgroup(parent);
	unlink(test_file);
	return ret;
}

static long cg_counted(const char *cgroup)
{
	return cg_read_key_long(cgroup, STAT_FILE, "dirty ") +
	       cg_read_key_long(cgroup, STAT_FILE, "writeback ");
}

/*
 * A parent that gets a limit counts the dirty pages of a removed child, until
 * they have been written: none is counted twice, or for ever.
 */
static int test_limit_after_rmdir(const char *root)
{
	char *parent = create_cgroup(root, "dirty_after_rmdir");
	long before, after, bytes = MB(4);
	char *child = NULL;
	int ret = KSFT_FAIL;

	if (!parent || cg_write(parent, "cgroup.subtree_control", "+memory"))
		goto out;
	child = create_cgroup(parent, "child");
	if (!child || cg_write(child, LIMIT_FILE, "64M") ||
	    cg_run(child, write_bytes, &bytes) || cg_destroy(child))
		goto out;
	free(child);
	child = NULL;
	if (cg_write(parent, LIMIT_FILE, "64M"))
		goto out;
	before = cg_counted(parent);
	sync();
	unlink(test_file);
	after = cg_counted(parent);
	ksft_print_msg("%ld bytes, then %ld\n", before, after);
	/* There may be some metadata. */
	if (before > bytes / 2 && before < 2 * bytes && after < MB(1))
		ret = KSFT_PASS;
out:
	destroy_cgroup(child);
	destroy_cgroup(parent);
	unlink(test_file);
	return ret;
}

/*
 * After the controller was disabled and enabled again, a cgroup that has dirty
 * pages has two memory csses. The new one's limit must not affect the old one.
 */
static int test_controller_toggle(const char *root)
{
	char *parent = create_cgroup(root, "dirty_toggle");
	char *child = NULL;
	long bytes = MB(8);
	int ret = KSFT_FAIL;

	if (!parent || cg_write(parent, "cgroup.subtree_control", "+memory"))
		goto out;
	child = create_cgroup(parent, "child");
	if (!child || cg_run(child, write_bytes, &bytes) ||
	    cg_write(parent, "cgroup.subtree_control", "-memory") ||
	    cg_write(parent, "cgroup.subtree_control", "+memory"))
		goto out;
	if (cg_read_strcmp(child, LIMIT_FILE, "max\n") ||
	    cg_write(child, LIMIT_FILE, "4M"))
		goto out;
	destroy_cgroup(child);
	child = NULL;
	/* The old pages are written and truncated under the parent's limit. */
	if (cg_write(parent, LIMIT_FILE, "10M"))
		goto out;
	sync();
	unlink(test_file);
	child = create_cgroup(parent, "child");
	if (!child || !stays_within_10m(child, parent, test_file))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(child);
	destroy_cgroup(parent);
	unlink(test_file);
	return ret;
}

static const struct memcg_test tests[] = {
	T(test_default),
	T(test_valid),
	T(test_invalid),
	T(test_pairs),
	T(test_effective),
	T(test_ratio_follows),
	T(test_limit_holds, &on_disk),
	T(test_no_limit, &on_disk),
	T(test_ratio_holds, &on_disk),
	T(test_stat, &on_disk),
	T(test_ancestor, &on_disk),
	T(test_seed_and_background, &on_disk),
	T(test_change_under_load, &on_disk),
	T(test_rmdir, &on_disk),
	T(test_limit_after_rmdir, &on_disk),
	T(test_controller_toggle, &on_disk),
};

int main(void)
{
	return memcg_test_main(tests, ARRAY_SIZE(tests), NULL);
}
