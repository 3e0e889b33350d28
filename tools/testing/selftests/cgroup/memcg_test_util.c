// SPDX-License-Identifier: GPL-2.0
/* Common parts of the tests of memory cgroups. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_test_util.h"

#define SAMPLE_MS	50
/* After so many bytes, a writer that watches itself reads the counts. */
#define PIECE		(4 * CHUNK)

/*
 * memory.stat lags: a reader flushes it once the CPUs have reported 64 updates
 * each, on average, and each CPU may hold back up to 64 more.
 */
#define STAT_ERROR_PAGES_PER_CPU	128

long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void sleep_ms(int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

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

/* Since 6.16. A write or readahead then adds many pages at a time. */
bool ext4_has_large_folios(void)
{
	struct utsname name;
	int major, minor;

	if (uname(&name) || sscanf(name.release, "%d.%d", &major, &minor) != 2)
		return false;
	return major > 6 || (major == 6 && minor >= 16);
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
int wait_until_below(const char *cgroup, long bytes, int seconds)
{
	int i;

	for (i = 0; i < seconds * 1000 / SAMPLE_MS; i++) {
		if (cg_dirty(cgroup) <= bytes)
			return 0;
		sleep_ms(SAMPLE_MS);
	}
	return -1;
}

/* With O_DIRECT in @flags, the buffer has to be aligned. */
int write_zeroes(const char *path, int flags, long bytes)
{
	int fd = open(path, O_CREAT | O_WRONLY | flags, 0600);
	char *buf = aligned_alloc(CHUNK, CHUNK);
	int ret = -1;

	if (fd < 0 || !buf)
		goto out;
	memset(buf, 0, CHUNK);
	for (; bytes > 0; bytes -= CHUNK)
		if (write(fd, buf, CHUNK) != CHUNK)
			goto out;
	ret = 0;
out:
	free(buf);
	if (fd >= 0)
		close(fd);
	return ret;
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

	write.peak = mmap(NULL, sizeof(*write.peak), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (write.peak == MAP_FAILED)
		return false;
	slow_down(watched, 10);
	peak = peak_of_64m(cgroup, &write);
	munmap(write.peak, sizeof(*write.peak));
	if (peak < 0)
		return false;
	ksft_print_msg("peak %ld of %ld bytes\n", peak, limit);
	return peak > limit / 4 && peak <= limit / 10 * 11 + stat_error();
}

char *create_cgroup(const char *parent, const char *name)
{
	char *cgroup = cg_name(parent, name);

	if (cgroup && cg_create(cgroup)) {
		free(cgroup);
		return NULL;
	}
	return cgroup;
}

void destroy_cgroup(char *cgroup)
{
	if (cgroup)
		cg_destroy(cgroup);
	free(cgroup);
}

/* The root of cgroup v2, with the memory controller; else skips all tests. */
void find_root(char *root, size_t len)
{
	if (cg_find_unified_root(root, len, NULL))
		ksft_exit_skip("cgroup v2 isn't mounted\n");
	if (cg_read_strstr(root, "cgroup.controllers", "memory"))
		ksft_exit_skip("memory controller isn't available\n");
	if (cg_read_strstr(root, "cgroup.subtree_control", "memory") &&
	    cg_write(root, "cgroup.subtree_control", "+memory"))
		ksft_exit_skip("Failed to set memory controller\n");
	cg_write(root, "cgroup.subtree_control", "+io");
}

/*
 * Limits the writeback of @cgroup to @rate MB/s, where the disk allows that:
 * then a writer is faster than the disk, however slow the machine is.
 */
void slow_down(const char *cgroup, unsigned int rate)
{
	struct stat st;
	char text[64];

	if (stat(".", &st))
		return;
	snprintf(text, sizeof(text), "%u:%u wbps=%u000000", major(st.st_dev),
		 minor(st.st_dev), rate);
	cg_write(cgroup, "io.max", text);
}

/* Is the current directory on a file system with a disk? */
bool can_write_back(void)
{
	struct statfs fs;

	return !statfs(".", &fs) && fs.f_type != TMPFS_MAGIC &&
	       fs.f_type != RAMFS_MAGIC && fs.f_type != OVERLAYFS_SUPER_MAGIC;
}

/**
 * case_wanted() - Tell whether a case of this program is to run.
 * @name: the case, as its result names it
 *
 * TEST_CASES has words like "test_memcg_dirty.test_pairs" between commas. A
 * program that it does not name runs all of its cases.
 *
 * Return: true if the case runs.
 */
bool case_wanted(const char *name)
{
	size_t length = strlen(program_invocation_short_name);
	const char *word = getenv("TEST_CASES");
	bool named = false;
	size_t size;

	for (; word && *word; word += size + (word[size] == ',')) {
		size = strcspn(word, ",");
		if (strncmp(word, program_invocation_short_name, length) ||
		    word[length] != '.')
			continue;
		named = true;
		if (size == length + 1 + strlen(name) &&
		    !strncmp(word + length + 1, name, strlen(name)))
			return true;
	}
	return !named;
}
