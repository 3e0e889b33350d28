// SPDX-License-Identifier: GPL-2.0
/* Common parts of the tests of dirty limits. */
#define _GNU_SOURCE

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
