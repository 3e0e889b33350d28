// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for memory.dirty_limit_in_bytes, memory.dirty_ratio, their background
 * counterparts memory.dirty_background_limit_in_bytes and
 * memory.dirty_background_ratio, memory.dirty_stat, memory.dirty_peak and
 * dirty_limit in memory.events: their values, and that the limits hold.
 *
 * The tests that write need a current directory on a file system with cgroup
 * writeback, on a disk that is slower than memory; elsewhere they are skipped.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The same at the end of the file: truncated pages are not dirty any more. */
static int append_bytes(const char *cgroup, void *arg)
{
	return write_zeroes(test_file, O_APPEND, *(long *)arg);
}

static const char *const limit_files[] = {
	LIMIT_FILE, BACKGROUND_FILE, RATIO_FILE, BACKGROUND_RATIO_FILE,
};

/* Not on the root; "max" by default; a child does not copy its parent's. */
static int test_default(const char *root)
{
	char *parent __free(cgroup) = create_parent(root, "dirty_default");
	char *child __free(cgroup) = NULL;
	int i;

	if (!parent || cg_write(parent, LIMIT_FILE, "16M") ||
	    cg_write(parent, BACKGROUND_RATIO_FILE, "10"))
		return KSFT_FAIL;
	child = create_cgroup(parent, "child");
	if (!child || cg_has(root, STAT_FILE))
		return KSFT_FAIL;
	for (i = 0; i < ARRAY_SIZE(limit_files); i++)
		if (cg_has(root, limit_files[i]) ||
		    !cg_shows(child, limit_files[i], "max\n"))
			return KSFT_FAIL;
	return KSFT_PASS;
}

/* Bytes, with suffixes and white space around them; rounded down to pages. */
static bool takes_bytes(const char *cgroup, const char *file)
{
	long page_size = sysconf(_SC_PAGE_SIZE);
	char page[32], page_line[32], odd[32];

	snprintf(page, sizeof(page), "%ld", page_size);
	snprintf(page_line, sizeof(page_line), "%ld\n", page_size);
	snprintf(odd, sizeof(odd), "%ld", 2 * page_size - 1);
	return cg_takes(cgroup, file, "41943040", "41943040\n") &&
	       cg_takes(cgroup, file, "40M", "41943040\n") &&
	       cg_takes(cgroup, file, "2g\n", "2147483648\n") &&
	       cg_takes(cgroup, file, " 1024K ", "1048576\n") &&
	       cg_takes(cgroup, file, page, page_line) &&
	       cg_takes(cgroup, file, odd, page_line) &&
	       cg_takes(cgroup, file, "1T", "1099511627776\n") &&
	       cg_takes(cgroup, file, "0", "0\n") &&
	       cg_takes(cgroup, file, "0x1000000", "16777216\n") &&
	       cg_takes(cgroup, file, "8E", "max\n") &&
	       cg_takes(cgroup, file, "max", "max\n") &&
	       cg_takes(cgroup, file, "max\n", "max\n");
}

static bool takes_ratio(const char *cgroup, const char *file)
{
	return cg_takes(cgroup, file, "1", "1\n") &&
	       cg_takes(cgroup, file, " 20\n", "20\n") &&
	       cg_takes(cgroup, file, "100", "100\n") &&
	       cg_takes(cgroup, file, "max", "max\n");
}

static int test_valid(const char *root)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_valid");

	return passed(cgroup && takes_bytes(cgroup, LIMIT_FILE) &&
		      takes_bytes(cgroup, BACKGROUND_FILE) &&
		      takes_ratio(cgroup, RATIO_FILE) &&
		      takes_ratio(cgroup, BACKGROUND_RATIO_FILE));
}

static int test_invalid(const char *root)
{
	static char *const bad[] = {
		"-1", "12x", "\n", " ", "x", "M", "10 M", "maxx", "+7",
	};
	static char *const bad_ratio[] = {
		"0", "101", "5%", "1K", "0x10", "4294967297",
	};
	/* Of limit_files[], each of which is to keep its value. */
	static const char *const kept[] = {
		"16777216\n", "max\n", "max\n", "10\n",
	};
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_invalid");
	int i, j;

	if (!cgroup || cg_write(cgroup, LIMIT_FILE, "16M") ||
	    cg_write(cgroup, BACKGROUND_RATIO_FILE, "10"))
		return KSFT_FAIL;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		for (j = 0; j < ARRAY_SIZE(limit_files); j++)
			if (!cg_refuses(cgroup, limit_files[j], bad[i], kept[j]))
				return KSFT_FAIL;
	for (i = 0; i < ARRAY_SIZE(bad_ratio); i++)
		if (!cg_refuses(cgroup, BACKGROUND_RATIO_FILE, bad_ratio[i],
				"10\n"))
			return KSFT_FAIL;
	return KSFT_PASS;
}

/* Of bytes and ratio, the one that was written last counts. */
static bool is_pair(const char *cgroup, const char *bytes, const char *ratio)
{
	if (!cg_takes(cgroup, bytes, "16M", "16777216\n") ||
	    !cg_takes(cgroup, ratio, "20", "20\n") ||
	    !cg_shows(cgroup, bytes, "max\n"))
		return false;
	/* "max" for the bytes leaves the ratio alone. */
	if (!cg_takes(cgroup, bytes, "max", "max\n") ||
	    !cg_shows(cgroup, ratio, "20\n"))
		return false;
	return cg_takes(cgroup, bytes, "8M", "8388608\n") &&
	       cg_shows(cgroup, ratio, "max\n");
}

static int test_pairs(const char *root)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_pairs");

	/* A pair does not change the other one. */
	return passed(cgroup && is_pair(cgroup, LIMIT_FILE, RATIO_FILE) &&
		      is_pair(cgroup, BACKGROUND_FILE, BACKGROUND_RATIO_FILE) &&
		      cg_shows(cgroup, LIMIT_FILE, "8388608\n"));
}

/* Compares the limits in force, as memory.dirty_stat shows them. */
static bool limits_are(const char *cgroup, long limit, long background)
{
	long is_limit = dirty_stat(cgroup, "\nlimit ");
	long is_background = dirty_stat(cgroup, "background_limit ");

	if (is_limit == limit && is_background == background)
		return true;
	ksft_print_msg("limits are %ld and %ld, not %ld and %ld\n", is_limit,
		       is_background, limit, background);
	return false;
}

/* The tightest limit on the path counts, for each of the two limits. */
static int test_effective(const char *root)
{
	char *parent __free(cgroup) = create_parent(root, "dirty_effective");
	char *child __free(cgroup) = create_cgroup(parent, "child");

	if (!child || cg_read_strstr(child, STAT_FILE, "\nlimit max\n") ||
	    cg_read_strstr(child, STAT_FILE, "background_limit max\n"))
		return KSFT_FAIL;
	/* Half of the limit, unless one is set that is below the limit. */
	if (cg_write(parent, LIMIT_FILE, "32M") ||
	    !limits_are(child, MB(32), MB(16)) ||
	    cg_write(parent, BACKGROUND_FILE, "24M") ||
	    !limits_are(child, MB(32), MB(24)) ||
	    cg_write(parent, BACKGROUND_FILE, "32M") ||
	    !limits_are(child, MB(32), MB(16)))
		return KSFT_FAIL;
	/* A child can tighten, but not loosen. */
	if (cg_write(child, LIMIT_FILE, "64M") ||
	    !limits_are(child, MB(32), MB(16)) ||
	    cg_write(child, LIMIT_FILE, "8M") ||
	    !limits_are(child, MB(8), MB(4)) ||
	    !limits_are(parent, MB(32), MB(16)))
		return KSFT_FAIL;
	return KSFT_PASS;
}

static bool ratio_gives(const char *cgroup, long bytes)
{
	long limit = dirty_stat(cgroup, "\nlimit ");

	/* A few pages are charged for the cgroup itself. */
	if (limit <= bytes && limit > bytes / 10 * 9)
		return true;
	ksft_print_msg("the ratio gives %ld, not %ld\n", limit, bytes);
	return false;
}

/* vm.dirty_ratio, in percent. */
static long system_ratio(void)
{
	return cg_read_long(VM, "dirty_ratio");
}

/* A ratio is a share of memory.max or memory.high, and follows changes. */
static int test_ratio_follows(const char *root)
{
	char *parent __free(cgroup) = create_parent(root, "dirty_ratio");
	char *child __free(cgroup) = create_cgroup(parent, "child");

	if (!child || cg_write(child, RATIO_FILE, "50") ||
	    cg_write(child, "memory.max", "100M") ||
	    !ratio_gives(child, MB(50)))
		return KSFT_FAIL;
	if (cg_write(child, "memory.high", "60M") ||
	    !ratio_gives(child, MB(30)))
		return KSFT_FAIL;
	/* The parent has its share of vm.dirty_ratio, which binds below it. */
	if (cg_write(parent, "memory.max", "20M") ||
	    !ratio_gives(child, MB(20) / 100 * system_ratio()))
		return KSFT_FAIL;
	if (cg_write(parent, "memory.max", "max") ||
	    !ratio_gives(child, MB(30)))
		return KSFT_FAIL;
	return KSFT_PASS;
}

/* A limit of 10M holds while 64M are written, and also the second time. */
static int test_limit_holds(const char *root)
{
	const char *file __free(file) = test_file;
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_limit");

	return passed(cgroup && !cg_write(cgroup, LIMIT_FILE, "10M") &&
		      stays_within_10m(cgroup, cgroup, file) &&
		      stays_within_10m(cgroup, cgroup, file));
}

static int test_no_limit(const char *root)
{
	return passed(exceeds_10m_without_limit(root, test_file));
}

/* A ratio holds like the number of bytes that it gives. */
static int test_ratio_holds(const char *root)
{
	const char *file __free(file) = test_file;
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_ratio_holds");

	return passed(cgroup && !cg_write(cgroup, "memory.max", "100M") &&
		      !cg_write(cgroup, RATIO_FILE, "10") &&
		      stays_within_10m(cgroup, cgroup, file));
}

static bool stat_within(const char *cgroup, const char *key, long least, long most)
{
	long value = dirty_stat(cgroup, key);

	if (value < least || value > most) {
		ksft_print_msg("%s%ld, not from %ld to %ld\n", key, value, least, most);
		return false;
	}
	return true;
}

/* A write resets the peak for that open file, and for no other. */
static bool peak_is_right(const char *cgroup)
{
	int fd __free(fd) = -1, other __free(fd) = -1;

	fd = cg_open(cgroup, PEAK_FILE, O_RDWR);
	other = cg_open(cgroup, PEAK_FILE, O_RDWR);
	if (fd >= 0 && other >= 0 && cg_read_long_fd(fd) >= MB(5) &&
	    cg_read_long_fd(fd) <= MB(11) && write(fd, "reset", 5) == 5 &&
	    cg_read_long_fd(fd) == 0 && cg_read_long_fd(other) >= MB(5) &&
	    cg_read_long(cgroup, PEAK_FILE) >= MB(5))
		return true;
	ksft_print_msg("peaks are %ld and %ld\n", cg_read_long_fd(fd),
		       cg_read_long_fd(other));
	return false;
}

/* Counts include the descendants, and so do pauses. */
static bool stat_is_right(const char *cgroup)
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
	       stat_within(cgroup, "writeback ", 0, 0) && peak_is_right(cgroup);
}

static int test_stat(const char *root)
{
	const char *file __free(file) = test_file;
	char *parent __free(cgroup) = create_parent(root, "dirty_stat");
	char *child __free(cgroup) = NULL;
	long bytes = MB(16);

	if (!parent || cg_write(parent, LIMIT_FILE, "10M"))
		return KSFT_FAIL;
	child = create_cgroup(parent, "child");
	if (!child)
		return KSFT_FAIL;
	/* A writer that is not faster than the disk need not be throttled. */
	slow_down(parent, 1);
	if (cg_run(child, write_bytes, &bytes))
		return KSFT_FAIL;
	slow_down(parent, 1000);
	/* The child was throttled for its parent's limit. */
	return passed(stat_is_right(parent) &&
		      stat_within(child, "throttled ", 1, LONG_MAX) &&
		      stat_within(child, "limit_levels_up ", 1, 1) &&
		      cg_read_long(child, PEAK_FILE) >= MB(5) &&
		      !cg_read_key_long(child, "memory.events", "dirty_limit "));
}

/* The limit of the topmost of four binds, also beside looser ones below it. */
static int test_ancestor(const char *root)
{
	const char *file __free(file) = test_file;
	char *top __free(cgroup) = create_parent(root, "dirty_ancestor");
	char *upper __free(cgroup) = create_parent(top, "child");
	char *lower __free(cgroup) = create_parent(upper, "child");
	char *leaf __free(cgroup) = create_cgroup(lower, "child");

	if (!leaf || cg_write(leaf, LIMIT_FILE, "100M") ||
	    cg_write(top, LIMIT_FILE, "10M") ||
	    !stays_within_10m(leaf, top, file))
		return KSFT_FAIL;
	/* A looser limit in between, set last, changes nothing. */
	return passed(!cg_write(upper, LIMIT_FILE, "200M") &&
		      stays_within_10m(leaf, top, file));
}

/*
 * Pages that were dirty before the limit count: the flushers bring them down
 * to half of it, long before the pages are old enough to be written anyway.
 */
static int test_seed_and_background(const char *root)
{
	const char *file __free(file) = test_file;
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_seed");
	long bytes = MB(32L);

	if (!cgroup || cg_run(cgroup, write_bytes, &bytes))
		return KSFT_FAIL;
	if (cg_dirty(cgroup) < bytes / 2) {
		ksft_print_msg("nothing is dirty without a limit\n");
		return KSFT_FAIL;
	}
	if (cg_write(cgroup, LIMIT_FILE, "16M"))
		return KSFT_FAIL;
	/* The next writer notices that, and then the flusher goes on. */
	bytes = MB(1);
	return passed(!cg_run(cgroup, append_bytes, &bytes) &&
		      falls_below(cgroup, MB(8) + stat_error(), 10));
}

/* A limit changes all the time, with its batch, while a task dirties pages. */
static bool change_beside(const char *cgroup, pid_t pid)
{
	static char *const values[] = { "1G", "4M", "max", "64M", "1M", "16M" };
	bool good = true;
	int i, status;

	for (i = 0; !waitpid(pid, &status, WNOHANG); i++)
		if (cg_write(cgroup, LIMIT_FILE, values[i % ARRAY_SIZE(values)]))
			good = false;
	ksft_print_msg("%d changes\n", i);
	return good && WIFEXITED(status) && !WEXITSTATUS(status);
}

static int test_change_under_load(const char *root)
{
	const char *file __free(file) = test_file;
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_change");
	long bytes = MB(96L);
	pid_t pid;

	if (!cgroup)
		return KSFT_FAIL;
	pid = cg_run_nowait(cgroup, write_bytes, &bytes);
	if (pid < 0 || !change_beside(cgroup, pid))
		return KSFT_FAIL;
	/* Had the changes lost or doubled pages, the limit would not hold. */
	unlink(file);
	return passed(!cg_write(cgroup, LIMIT_FILE, "10M") &&
		      falls_below(cgroup, stat_error(), 10) &&
		      stays_within_10m(cgroup, cgroup, file));
}

/* A cgroup with this limit dirties 4M and is removed. */
static bool dirty_and_remove(const char *parent, char *limit)
{
	char *child __free(cgroup) = create_cgroup(parent, "child");
	long bytes = MB(4);

	return child && !cg_write(child, LIMIT_FILE, limit) &&
	       !cg_run(child, write_bytes, &bytes) && !cg_destroy(child);
}

/*
 * Removed cgroups leave dirty pages behind. These count for the parent until
 * they are written or truncated, and no longer.
 */
static int test_rmdir(const char *root)
{
	const char *file __free(file) = test_file;
	char *parent __free(cgroup) = create_parent(root, "dirty_rmdir");
	char *child __free(cgroup) = NULL;
	int i;

	if (!parent || cg_write(parent, LIMIT_FILE, "10M"))
		return KSFT_FAIL;
	for (i = 0; i < 8; i++) {
		if (!dirty_and_remove(parent, i & 1 ? "8M" : "max"))
			return KSFT_FAIL;
		if (i & 2)
			unlink(file);
	}
	/* The new cgroup owns this file, so its own flusher writes it. */
	unlink(file);
	child = create_cgroup(parent, "child");
	return passed(child && stays_within_10m(child, parent, file));
}

/*
 * A parent that gets a limit counts the dirty pages of a removed child, until
 * they have been written: none is counted twice, or for ever.
 */
static int test_limit_after_rmdir(const char *root)
{
	const char *file __free(file) = test_file;
	char *parent __free(cgroup) = create_parent(root, "dirty_after_rmdir");
	long before, after, bytes = MB(4);

	if (!parent || !dirty_and_remove(parent, "64M") ||
	    cg_write(parent, LIMIT_FILE, "64M"))
		return KSFT_FAIL;
	before = dirty_counted(parent);
	sync();
	unlink(file);
	after = dirty_counted(parent);
	ksft_print_msg("%ld bytes, then %ld\n", before, after);
	/* There may be some metadata. */
	return passed(before > bytes / 2 && before < 2 * bytes && after < MB(1));
}

/*
 * After the controller was disabled and enabled again, a cgroup that has dirty
 * pages has two memory csses. The new one's limit must not affect the old one.
 */
static bool toggle_and_remove(const char *parent)
{
	char *child __free(cgroup) = create_cgroup(parent, "child");
	long bytes = MB(8);

	return child && !cg_run(child, write_bytes, &bytes) &&
	       !cg_write(parent, "cgroup.subtree_control", "-memory") &&
	       !cg_write(parent, "cgroup.subtree_control", "+memory") &&
	       cg_shows(child, LIMIT_FILE, "max\n") &&
	       !cg_write(child, LIMIT_FILE, "4M");
}

static int test_controller_toggle(const char *root)
{
	const char *file __free(file) = test_file;
	char *parent __free(cgroup) = create_parent(root, "dirty_toggle");
	char *child __free(cgroup) = NULL;

	/* The old pages are written and truncated under the parent's limit. */
	if (!parent || !toggle_and_remove(parent) ||
	    cg_write(parent, LIMIT_FILE, "10M"))
		return KSFT_FAIL;
	sync();
	unlink(file);
	child = create_cgroup(parent, "child");
	return passed(child && stays_within_10m(child, parent, file));
}

/* The system's background share of 640M is more than half of this limit. */
static int test_background_follows(const char *root)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_background");

	return passed(cgroup && !cg_write(cgroup, "memory.max", "640M") &&
		      !cg_write(cgroup, LIMIT_FILE, "96M") &&
		      limits_are(cgroup, MB(96), MB(48)));
}

/* Without CONFIG_MEMCG_DIRTY_LIMIT_DEBUG, there is no such file. */
static const char *const check_file = "/sys/kernel/debug/memcg_dirty/check";

/**
 * struct check_row - a cgroup's row in the check of the counts, in pages
 * @dirty: the count of dirty pages
 * @total: the count of dirty pages and pages under writeback
 * @held_dirty: the part that CPUs have not added to @dirty yet
 * @held_total: the same for @total
 * @walked_dirty: dirty pages that the kernel's walk has found
 * @walked_total: the same with pages under writeback
 * @error: the most that the CPUs may hold back
 * @moved: pages changed their state during the walk
 */
struct check_row {
	long dirty, total, held_dirty, held_total, walked_dirty, walked_total;
	long error;
	int moved;
};

static bool parse_row(const char *line, unsigned long inode, struct check_row *row)
{
	unsigned long found;

	return sscanf(line, "%lu %ld %ld %ld %ld %ld %ld %ld %d", &found, &row->dirty,
		      &row->total, &row->held_dirty, &row->held_total,
		      &row->walked_dirty, &row->walked_total, &row->error,
		      &row->moved) == 9 && found == inode;
}

static bool read_row(const char *cgroup, struct check_row *row)
{
	FILE *file = fopen(check_file, "r");
	bool found = false;
	struct stat st;
	char line[256];

	if (!file)
		return false;
	if (!stat(cgroup, &st))
		while (!found && fgets(line, sizeof(line), file))
			found = parse_row(line, st.st_ino, row);
	fclose(file);
	return found;
}

static bool row_agrees(const struct check_row *row, long least)
{
	return row->walked_dirty >= least && labs(row->held_dirty) <= row->error &&
	       labs(row->held_total) <= row->error &&
	       row->dirty + row->held_dirty == row->walked_dirty &&
	       row->total + row->held_total == row->walked_total;
}

/*
 * Does the walk find @bytes at least, and as many pages as are counted? A row is
 * wrong for a moment while a cgroup is freed; a count that is wrong stays so.
 */
static bool counts_agree(const char *cgroup, long bytes)
{
	long least = bytes / sysconf(_SC_PAGE_SIZE);
	struct check_row row;
	bool agrees = false;
	int i;

	for (i = 0; i < 50 && !agrees; i++) {
		sleep_ms(100);
		if (!read_row(cgroup, &row))
			return false;
		agrees = !row.moved && row_agrees(&row, least);
	}
	ksft_print_msg("counted %ld and %ld, held back %ld and %ld of %ld, found %ld and %ld\n",
		       row.dirty, row.total, row.held_dirty, row.held_total,
		       row.error, row.walked_dirty, row.walked_total);
	return agrees;
}

/* Under a limit with exact counts, and under one with the largest batches. */
static int test_counts_agree(const char *root)
{
	const char *file __free(file) = test_file;
	char *parent __free(cgroup) = create_parent(root, "dirty_agree");
	char *child __free(cgroup) = create_cgroup(parent, "child");
	long bytes = MB(8), more = MB(8) + 5 * sysconf(_SC_PAGE_SIZE);

	if (access(check_file, R_OK))
		return KSFT_SKIP;
	if (!child || cg_write(parent, LIMIT_FILE, "64M") ||
	    cg_run(child, write_bytes, &bytes) || !counts_agree(child, bytes) ||
	    !counts_agree(parent, bytes))
		return KSFT_FAIL;
	if (cg_write(parent, LIMIT_FILE, "1T") || cg_run(child, append_bytes, &more) ||
	    !counts_agree(child, bytes + more))
		return KSFT_FAIL;
	destroy_cgroup(child);
	child = NULL;
	return passed(counts_agree(parent, bytes + more));
}

static const struct memcg_test tests[] = {
	T(test_default),
	T(test_valid),
	T(test_invalid),
	T(test_pairs),
	T(test_effective),
	T(test_background_follows),
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
	T(test_counts_agree, &on_disk),
};

int main(void)
{
	return memcg_test_main(tests, ARRAY_SIZE(tests), NULL);
}
