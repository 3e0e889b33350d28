// SPDX-License-Identifier: GPL-2.0
/* Common parts of the tests of dirty limits. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_dirty_util.h"
#include "memcg_test_util.h"

#define SAMPLE_MS	50
/* After so many bytes, a writer that watches itself reads the counts. */
#define PIECE		(4 * CHUNK)

/*
 * memory.stat lags: a reader flushes it once the CPUs have reported 64 updates
 * each, on average, and each CPU may hold back up to 64 more.
 */
#define STAT_ERROR_PAGES_PER_CPU	128

long error_bytes(int pages_per_cpu)
{
	return pages_per_cpu * sysconf(_SC_NPROCESSORS_CONF) *
	       sysconf(_SC_PAGE_SIZE);
}

long stat_error(void)
{
	return error_bytes(STAT_ERROR_PAGES_PER_CPU);
}

/* cgroup v1 has other names for the same counts of a subtree. */
static long count_in(const char *stat, const char *v2_key, const char *v1_key)
{
	const char *value = strstr(stat, v2_key) ?: strstr(stat, v1_key);

	return value ? atol(strchr(value, ' ')) : -1;
}

/*
 * Dirty plus writeback bytes of @cgroup and its descendants, from one read:
 * with two reads, pages whose writeback starts in between would count twice.
 */
long cg_dirty(const char *cgroup)
{
	char stat[BUFSIZ];

	if (cg_read(cgroup, "memory.stat", stat, sizeof(stat)))
		return -1;
	return count_in(stat, "\nfile_dirty ", "\ntotal_dirty ") +
	       count_in(stat, "\nfile_writeback ", "\ntotal_writeback ");
}

long dirty_stat(const char *cgroup, const char *key)
{
	return cg_read_key_long(cgroup, STAT_FILE, key);
}

/* The same as cg_dirty(), as the limits count it. */
long dirty_counted(const char *cgroup)
{
	return dirty_stat(cgroup, "dirty ") + dirty_stat(cgroup, "writeback ");
}

/* Once all pages are written, the counts are 0 again. */
bool is_clean(const char *cgroup)
{
	long left;

	sync();
	left = dirty_counted(cgroup);
	if (left)
		ksft_print_msg("%ld bytes left after sync\n", left);
	return !left;
}

bool floor_is(const char *cgroup, long bytes)
{
	long floor = dirty_stat(cgroup, "effective_min ");

	if (floor == bytes)
		return true;
	ksft_print_msg("%s: the effective floor is %ld, not %ld\n", cgroup,
		       floor, bytes);
	return false;
}

/* A removed cgroup goes offline, and gives up its floor, some time later. */
bool floor_becomes(const char *cgroup, long bytes, int seconds)
{
	int i;

	for (i = 0; i < seconds * 10; i++) {
		if (dirty_stat(cgroup, "effective_min ") == bytes)
			return true;
		sleep_ms(100);
	}
	return floor_is(cgroup, bytes);
}

/* Waits for the writers of @cgroup to be paused ten times. */
bool wait_paused(const char *cgroup)
{
	int i;

	for (i = 0; i < 200; i++) {
		if (dirty_stat(cgroup, "throttled ") >= 10)
			return true;
		sleep_ms(100);
	}
	ksft_print_msg("no writer is faster than the disk\n");
	return false;
}

static void raise_peak(long *peak, const char *cgroup)
{
	long dirty = cg_dirty(cgroup);

	if (dirty > *peak)
		*peak = dirty;
}

/* Watches @cgroup until @pid ends, and returns the peak of its dirty bytes. */
long watch_peak(const char *cgroup, pid_t pid, int *status)
{
	long peak = 0;

	while (!waitpid(pid, status, WNOHANG)) {
		raise_peak(&peak, cgroup);
		sleep_ms(SAMPLE_MS);
	}
	return peak;
}

/* Waits up to @seconds for @cgroup to have no more than @bytes dirty. */
bool falls_below(const char *cgroup, long bytes, int seconds)
{
	long dirty = -1;
	int i;

	for (i = 0; i < seconds * 1000 / SAMPLE_MS; i++) {
		dirty = cg_dirty(cgroup);
		if (dirty >= 0 && dirty <= bytes)
			return true;
		sleep_ms(SAMPLE_MS);
	}
	ksft_print_msg("%s: still %ld bytes dirty\n", cgroup, dirty);
	return false;
}

/* cg_run_nowait() for cgroup v1 as well, which has no CLONE_INTO_CGROUP. */
pid_t start_in_cgroup(const char *cgroup,
		      int (*fn)(const char *cgroup, void *arg), void *arg)
{
	pid_t pid = fork();

	if (!pid)
		_exit(cg_enter_current(cgroup) ? EXIT_FAILURE : fn(cgroup, arg));
	return pid;
}

/* @peak is in shared memory: the most dirty bytes that the writer has read. */
struct watched_write {
	const char *path;
	const char *watched;
	long *peak;
};

static int write_64m(const char *cgroup, void *arg)
{
	struct watched_write *write = arg;
	int flags = O_TRUNC;
	long bytes;

	for (bytes = 0; bytes < MB(64L); bytes += PIECE) {
		if (write_zeroes(write->path, flags, PIECE))
			return -1;
		raise_peak(write->peak, write->watched);
		flags = O_APPEND;
	}
	return 0;
}

/* Returns the peak, or -1. */
static long peak_of_64m(const char *cgroup, struct watched_write *write)
{
	pid_t pid = start_in_cgroup(cgroup, write_64m, write);
	long peak;
	int status;

	if (pid < 0)
		return -1;
	peak = watch_peak(write->watched, pid, &status);
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		ksft_print_msg("the writer failed\n");
		return -1;
	}
	return peak > *write->peak ? peak : *write->peak;
}

/*
 * Writes 64M to @path in @cgroup, and compares the peak of the dirty bytes of
 * @watched with a limit of 10M. The writer reads them as well: on a busy
 * machine, the watching task may never run while many are dirty. The disk is
 * slowed down, where it can be, so that the limit throttles the writer.
 */
bool stays_within_10m(const char *cgroup, const char *watched, const char *path)
{
	struct watched_write write = { .path = path, .watched = watched };
	long limit = MB(10L), peak;

	write.peak = share_memory(sizeof(*write.peak));
	slow_down(watched, 10);
	peak = peak_of_64m(cgroup, &write);
	munmap(write.peak, sizeof(*write.peak));
	if (peak < 0)
		return false;
	ksft_print_msg("peak %ld of %ld bytes\n", peak, limit);
	return peak > limit / 4 && peak <= limit / 10 * 11 + stat_error();
}

/* Without a limit, the same writes go beyond it: tests of limits can fail. */
bool exceeds_10m_without_limit(const char *root, const char *path)
{
	const char *file __free(file) = path;
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_no_limit");

	return cgroup && !cg_write(cgroup, LIMIT_FILE, "10M") &&
	       !cg_write(cgroup, LIMIT_FILE, "max") &&
	       !stays_within_10m(cgroup, cgroup, file);
}

static void leaf_file(char *name, size_t len, int number)
{
	snprintf(name, len, "%s_%d.tmp", program_invocation_short_name, number);
}

/* The first bytes of a file are overwritten after @wrap bytes, if not 0. */
bool start_leaves(struct leaves *leaves, const char *parent, long wrap)
{
	struct writes writes = { .wrap = wrap };
	char file[64], name[32];
	int i;

	writes.file = file;
	for (i = 0; i < leaves->nr; i++) {
		snprintf(name, sizeof(name), "leaf%d", i);
		leaves->cgroups[i] = create_cgroup(parent, name);
		if (!leaves->cgroups[i])
			return false;
		leaf_file(file, sizeof(file), i);
		leaves->pids[i] = cg_run_nowait(leaves->cgroups[i], do_writes,
						&writes);
		if (leaves->pids[i] < 0)
			return false;
	}
	return true;
}

/* Returns whether all writers were still running. */
bool stop_leaves(struct leaves *leaves)
{
	bool running = true;
	int i;

	for (i = 0; i < leaves->nr; i++) {
		running = stop_task(leaves->pids[i]) && running;
		leaves->pids[i] = 0;
	}
	return running;
}

void free_leaves(struct leaves *leaves)
{
	char file[64];
	int i;

	stop_leaves(leaves);
	for (i = 0; i < leaves->nr; i++) {
		leaf_file(file, sizeof(file), i);
		unlink(file);
		destroy_cgroup(leaves->cgroups[i]);
	}
}
