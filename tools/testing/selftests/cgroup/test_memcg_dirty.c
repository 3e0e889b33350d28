// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for memory.dirty_limit_in_bytes.
 *
 * The tests that write need a current directory on a file system with cgroup
 * writeback, on a disk that is slower than memory; elsewhere they are skipped.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup_util.h"

#define LIMIT_FILE	"memory.dirty_limit_in_bytes"
#define SAMPLE_MS	50

/*
 * memory.stat lags: a reader flushes it once 64 updates have come together on
 * the average CPU, and each CPU may have 64 more that nobody has seen.
 */
#define STAT_ERROR_PAGES_PER_CPU	128

static const char *const test_file = "test_memcg_dirty.tmp";

static void sleep_ms(int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

static long stat_error(void)
{
	return STAT_ERROR_PAGES_PER_CPU * sysconf(_SC_NPROCESSORS_CONF) *
	       sysconf(_SC_PAGE_SIZE);
}

/* Dirty plus writeback bytes of @cgroup and its descendants. */
static long cg_dirty(const char *cgroup)
{
	return cg_read_key_long(cgroup, "memory.stat", "file_dirty ") +
	       cg_read_key_long(cgroup, "memory.stat", "file_writeback ");
}

static int write_zeroes(const char *path, long bytes)
{
	static char buf[65536];
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	int ret = -1;

	if (fd < 0)
		return -1;
	for (; bytes > 0; bytes -= sizeof(buf))
		if (write(fd, buf, sizeof(buf)) != sizeof(buf))
			goto out;
	ret = 0;
out:
	close(fd);
	return ret;
}

/* Runs in the cgroup: writes @arg bytes, a pointer to a long. */
static int write_file(const char *cgroup, void *arg)
{
	return write_zeroes(test_file, *(long *)arg);
}

/* Watches @cgroup until @pid ends, and returns the peak of its dirty bytes. */
static long watch_peak(const char *cgroup, pid_t pid, int *status)
{
	long dirty, peak = 0;

	while (!waitpid(pid, status, WNOHANG)) {
		dirty = cg_dirty(cgroup);
		if (dirty > peak)
			peak = dirty;
		sleep_ms(SAMPLE_MS);
	}
	return peak;
}

/* Waits up to @seconds for @cgroup to have no more than @bytes dirty. */
static int wait_until_below(const char *cgroup, long bytes, int seconds)
{
	int i;

	for (i = 0; i < seconds * 1000 / SAMPLE_MS; i++) {
		if (cg_dirty(cgroup) <= bytes)
			return 0;
		sleep_ms(SAMPLE_MS);
	}
	return -1;
}

static char *create_cgroup(const char *parent, const char *name)
{
	char *cgroup = cg_name(parent, name);

	if (cgroup && cg_create(cgroup)) {
		free(cgroup);
		return NULL;
	}
	return cgroup;
}

static void destroy_cgroup(char *cgroup)
{
	if (cgroup)
		cg_destroy(cgroup);
	free(cgroup);
}

/* Not on the root; "max" by default; a child does not copy its parent's. */
static int test_default(const char *root)
{
	char *parent = create_cgroup(root, "dirty_default");
	char *child = NULL;
	char path[PATH_MAX];
	int ret = KSFT_FAIL;

	snprintf(path, sizeof(path), "%s/" LIMIT_FILE, root);
	if (!parent || !access(path, F_OK))
		goto out;
	if (cg_read_strcmp(parent, LIMIT_FILE, "max\n"))
		goto out;
	if (cg_write(parent, "cgroup.subtree_control", "+memory") ||
	    cg_write(parent, LIMIT_FILE, "16M"))
		goto out;
	child = create_cgroup(parent, "child");
	if (!child || cg_read_strcmp(child, LIMIT_FILE, "max\n"))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(child);
	destroy_cgroup(parent);
	return ret;
}

static int check_value(const char *cgroup, char *text, const char *expected)
{
	if (cg_write(cgroup, LIMIT_FILE, text) ||
	    cg_read_strcmp(cgroup, LIMIT_FILE, expected)) {
		ksft_print_msg("'%s' did not give %s", text, expected);
		return -1;
	}
	return 0;
}

/* Bytes, suffixes, white space around them; rounded down to pages. */
static int test_valid(const char *root)
{
	char *cgroup = create_cgroup(root, "dirty_valid");
	long page_size = sysconf(_SC_PAGE_SIZE);
	char page[32], page_line[32], odd[32];
	int ret = KSFT_FAIL;

	snprintf(page, sizeof(page), "%ld", page_size);
	snprintf(page_line, sizeof(page_line), "%ld\n", page_size);
	snprintf(odd, sizeof(odd), "%ld", 2 * page_size - 1);
	if (!cgroup ||
	    check_value(cgroup, "41943040", "41943040\n") ||
	    check_value(cgroup, "40M", "41943040\n") ||
	    check_value(cgroup, "2g\n", "2147483648\n") ||
	    check_value(cgroup, " 1024K ", "1048576\n") ||
	    check_value(cgroup, page, page_line) ||
	    check_value(cgroup, odd, page_line) ||
	    check_value(cgroup, "1T", "1099511627776\n") ||
	    check_value(cgroup, "max", "max\n") ||
	    check_value(cgroup, "max\n", "max\n"))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	return ret;
}

/* A bad value is refused, and the old one stays. */
static int test_invalid(const char *root)
{
	static char *const bad[] = {
		"0", "-1", "12x", "\n", " ", "1", "1K", "x", "M", "10 M", "maxx",
		"0x1000000", "16E", "123456789012345678901234567890",
	};
	char *cgroup = create_cgroup(root, "dirty_invalid");
	int err, i, ret = KSFT_FAIL;

	if (!cgroup || cg_write(cgroup, LIMIT_FILE, "16M"))
		goto out;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		err = cg_write(cgroup, LIMIT_FILE, bad[i]);
		if ((err != -EINVAL && err != -ERANGE) ||
		    cg_read_strcmp(cgroup, LIMIT_FILE, "16777216\n")) {
			ksft_print_msg("'%s' gave %d\n", bad[i], err);
			goto out;
		}
	}
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	return ret;
}

/*
 * Writes 64M in @cgroup, and compares the peak of what is dirty in @watched
 * with a limit of 10M.
 */
static bool stays_within_10m(const char *cgroup, const char *watched)
{
	long limit = MB(10L), bytes = MB(64L), peak;
	int status;
	pid_t pid = cg_run_nowait(cgroup, write_file, &bytes);

	if (pid < 0)
		return false;
	peak = watch_peak(watched, pid, &status);
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		ksft_print_msg("the writer failed\n");
		return false;
	}
	ksft_print_msg("peak %ld of %ld bytes\n", peak, limit);
	return peak > limit / 4 && peak <= limit / 10 * 11 + stat_error();
}

/* A limit of 10M holds while 64M are written, and while they are again. */
static int test_limit_holds(const char *root)
{
	char *cgroup = create_cgroup(root, "dirty_limit");
	int ret = KSFT_FAIL;

	if (!cgroup || cg_write(cgroup, LIMIT_FILE, "10M"))
		goto out;
	if (!stays_within_10m(cgroup, cgroup) ||
	    !stays_within_10m(cgroup, cgroup))
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
	if (stays_within_10m(cgroup, cgroup))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	unlink(test_file);
	return ret;
}

/* The limit of a grandparent binds, also beside looser ones below it. */
static int test_ancestor(const char *root)
{
	char *top = create_cgroup(root, "dirty_ancestor");
	char *middle = NULL, *leaf = NULL;
	int ret = KSFT_FAIL;

	if (!top || cg_write(top, "cgroup.subtree_control", "+memory"))
		goto out;
	middle = create_cgroup(top, "middle");
	if (!middle || cg_write(middle, "cgroup.subtree_control", "+memory"))
		goto out;
	leaf = create_cgroup(middle, "leaf");
	if (!leaf || cg_write(leaf, LIMIT_FILE, "100M") ||
	    cg_write(top, LIMIT_FILE, "10M"))
		goto out;
	if (!stays_within_10m(leaf, top))
		goto out;
	/* A limit in between that comes last counts the rest of the way. */
	if (cg_write(middle, LIMIT_FILE, "200M") ||
	    !stays_within_10m(leaf, top))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(leaf);
	destroy_cgroup(middle);
	destroy_cgroup(top);
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

	if (!cgroup || cg_run(cgroup, write_file, &bytes))
		goto out;
	if (cg_dirty(cgroup) < bytes / 2) {
		ksft_print_msg("nothing is dirty without a limit\n");
		goto out;
	}
	if (cg_write(cgroup, LIMIT_FILE, "16M"))
		goto out;
	/* The next writer is what notices, and then the flusher goes on. */
	bytes = MB(1);
	if (cg_run(cgroup, write_file, &bytes))
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

/* The limit changes all the time, also across batches, while pages come. */
static int test_change_under_load(const char *root)
{
	static char *const values[] = { "1G", "4M", "max", "64M", "1M", "16M" };
	char *cgroup = create_cgroup(root, "dirty_change");
	long bytes = MB(96L);
	int i, status, ret = KSFT_FAIL;
	pid_t pid;

	if (!cgroup)
		goto out;
	pid = cg_run_nowait(cgroup, write_file, &bytes);
	if (pid < 0)
		goto out;
	for (i = 0; !waitpid(pid, &status, WNOHANG); i++)
		if (cg_write(cgroup, LIMIT_FILE, values[i % ARRAY_SIZE(values)]))
			goto out;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		goto out;
	ksft_print_msg("%d changes\n", i);
	/* Had the changes lost or doubled pages, the limit would not hold. */
	unlink(test_file);
	if (cg_write(cgroup, LIMIT_FILE, "10M") ||
	    wait_until_below(cgroup, stat_error(), 10) ||
	    !stays_within_10m(cgroup, cgroup))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	unlink(test_file);
	return ret;
}

/*
 * Removed cgroups leave dirty pages behind, which count for their parent until
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
		    cg_run(child, write_file, &bytes) || cg_destroy(child))
			goto out;
		free(child);
		child = NULL;
		if (i & 2)
			unlink(test_file);
	}
	/* A file of the new cgroup's own, so that its flusher writes it. */
	unlink(test_file);
	child = create_cgroup(parent, "child");
	if (!child || !stays_within_10m(child, parent))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(child);
	destroy_cgroup(parent);
	unlink(test_file);
	return ret;
}

/*
 * With the controller disabled and enabled again, a cgroup that has dirty pages
 * has two memory csses. The new one's limit is not to touch the old one.
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
	if (!child || cg_run(child, write_file, &bytes) ||
	    cg_write(parent, "cgroup.subtree_control", "-memory") ||
	    cg_write(parent, "cgroup.subtree_control", "+memory"))
		goto out;
	if (cg_read_strcmp(child, LIMIT_FILE, "max\n") ||
	    cg_write(child, LIMIT_FILE, "4M"))
		goto out;
	destroy_cgroup(child);
	child = NULL;
	/* The old pages are written and truncated while another limit counts. */
	if (cg_write(parent, LIMIT_FILE, "10M"))
		goto out;
	sync();
	unlink(test_file);
	child = create_cgroup(parent, "child");
	if (!child || !stays_within_10m(child, parent))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(child);
	destroy_cgroup(parent);
	unlink(test_file);
	return ret;
}

static bool can_write_back(void)
{
	struct statfs fs;

	return !statfs(".", &fs) && fs.f_type != TMPFS_MAGIC &&
	       fs.f_type != RAMFS_MAGIC && fs.f_type != OVERLAYFS_SUPER_MAGIC;
}

#define T(x, w) { x, #x, w }
static const struct {
	int (*fn)(const char *root);
	const char *name;
	bool writes;
} tests[] = {
	T(test_default, false),
	T(test_valid, false),
	T(test_invalid, false),
	T(test_limit_holds, true),
	T(test_no_limit, true),
	T(test_ancestor, true),
	T(test_seed_and_background, true),
	T(test_change_under_load, true),
	T(test_rmdir, true),
	T(test_controller_toggle, true),
};

#undef T

int main(int argc, char **argv)
{
	char root[PATH_MAX];
	int i, result;

	ksft_print_header();
	if (cg_find_unified_root(root, sizeof(root), NULL))
		ksft_exit_skip("cgroup v2 isn't mounted\n");
	if (cg_read_strstr(root, "cgroup.controllers", "memory"))
		ksft_exit_skip("memory controller isn't available\n");
	if (cg_read_strstr(root, "cgroup.subtree_control", "memory") &&
	    cg_write(root, "cgroup.subtree_control", "+memory"))
		ksft_exit_skip("Failed to set memory controller\n");
	ksft_set_plan(ARRAY_SIZE(tests));

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		result = KSFT_SKIP;
		if (!tests[i].writes || can_write_back())
			result = tests[i].fn(root);
		ksft_test_result_code(result, tests[i].name, NULL);
	}
	ksft_finished();
}
