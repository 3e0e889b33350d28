// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for writers whose cgroup is at memory.max while its pages wait for a
 * slow disk: they are not killed, and no single write takes long.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_test_util.h"

#define MAX		"24M"
#define DISK_MB		20	/* per second */
#define WRITTEN_BYTES	MB(80L)
/*
 * A cgroup so small that its 16 attempts to reclaim end before the disk has written
 * a page, also where the kernel runs in an emulator.
 */
#define SMALL_MAX	"8M"
#define SMALL_DISK_MB	7
#define SMALL_BYTES	MB(24L)
#define NR_WRITERS	4	/* where there are many */
#define WORST_MS	500	/* for a single write */
#define NR_RUNS		3	/* most have to pass: others may disturb one */
#define WORST_FULL_MS	1500	/* where all pages may be in a single bio */
/* A disk that writes hardly anything, and the longest time until a kill. */
#define STUCK_BPS	4096
#define KILL_MS		20000
#define OUTSIDE_MS	100	/* for a task outside; others wait for 2 s */
#define TRACING		"/sys/kernel/tracing"
#define SLEEP_EVENT	TRACING "/events/memcg_max/memcg_max_sleep/enable"
#define DIRTY_BYTES	MB(4L)
/* More than twice what may be dirty: see fill_cache(). */
#define CACHE_FILE	"test_memcg_max_wait.cache"
#define CACHE_BYTES	MB(128L)
#define HOG_BYTES	MB(48L)

/**
 * struct writer - a task that writes, in memory that it shares with the test
 * @writes: its work
 * @file: name of the file
 * @worst_ms: time of its slowest write
 */
struct writer {
	struct writes writes;
	char file[64];
	long worst_ms;
};

static struct writer *writers;
/* In a writer: itself. */
static struct writer *self;

static void remove_files(void)
{
	int i;

	for (i = 0; i < NR_WRITERS; i++)
		unlink(writers[i].file);
}

static void note_worst(long ms)
{
	if (ms > self->worst_ms)
		self->worst_ms = ms;
}

static int run_writer(const char *cgroup, void *arg)
{
	self = arg;
	return do_writes(cgroup, &self->writes);
}

/**
 * struct load - writers in a cgroup at its memory.max
 * @max: that limit
 * @disk_mb: speed of the disk, in MB/s
 * @bytes: how much all writers write
 * @nr: their number
 * @most_ms: for a single write
 * @prepare: if set, makes the files anew for each run, and the writers keep them
 */
struct load {
	char *max;
	unsigned int disk_mb;
	long bytes;
	int nr;
	long most_ms;
	bool (*prepare)(void);
};

static char *create_slow(const char *root, char *max, unsigned int disk_mb)
{
	char *cgroup = create_limited(root, "max_wait", max);

	slow_down(cgroup, disk_mb);
	return cgroup;
}

/* Returns the time of the slowest write in ms, or -1. */
static long run_writers(const char *cgroup, const struct load *load)
{
	pid_t pids[NR_WRITERS];
	long worst = 0;
	bool good;
	int i;

	sync();
	for (i = 0; i < load->nr; i++) {
		writers[i].worst_ms = 0;
		writers[i].writes = (struct writes){
			.file = writers[i].file, .bytes = load->bytes / load->nr,
			.keep = load->prepare, .took = note_worst,
		};
		pids[i] = cg_run_nowait(cgroup, run_writer, &writers[i]);
	}
	good = wait_tasks(pids, load->nr);
	for (i = 0; i < load->nr; i++)
		if (writers[i].worst_ms > worst)
			worst = writers[i].worst_ms;
	return good ? worst : -1;
}

/* Returns whether the writers pass most times, without an OOM kill until then. */
static bool most_pass(const char *cgroup, const struct load *load)
{
	int i, passes = 0;
	long worst, kills;

	for (i = 0; i < NR_RUNS && passes <= NR_RUNS / 2; i++) {
		if (load->prepare && !load->prepare())
			return false;
		worst = run_writers(cgroup, load);
		kills = oom_kills(cgroup);
		ksft_print_msg("%d writers: slowest write %ld ms, %ld OOM kills\n",
			       load->nr, worst, kills);
		if (worst < 0 || kills)
			return false;
		passes += worst <= load->most_ms;
	}
	return passes > NR_RUNS / 2;
}

static int check_writers(const char *root, const struct load *load)
{
	char *cgroup __free(cgroup) = create_slow(root, load->max, load->disk_mb);
	bool good = cgroup && most_pass(cgroup, load);

	slow_down(cgroup, 1000);
	remove_files();
	return passed(good);
}

static int test_writer(const char *root)
{
	static const struct load load = {
		.max = MAX, .disk_mb = DISK_MB, .bytes = WRITTEN_BYTES,
		.nr = 1, .most_ms = WORST_MS,
	};

	return check_writers(root, &load);
}

/* Each of the writers only gets its share of the disk. */
static int test_writers(const char *root)
{
	static const struct load load = {
		.max = MAX, .disk_mb = DISK_MB, .bytes = WRITTEN_BYTES,
		.nr = NR_WRITERS, .most_ms = 2 * WORST_MS,
	};

	return check_writers(root, &load);
}

/* Drops the pages of a file from memory; its inode stays. */
static int forget_pages(const char *file)
{
	int fd __free(fd) = -1;

	fd = open(file, O_RDONLY);
	if (fd < 0)
		return -1;
	sync();
	return posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

/* Makes a file whose inode belongs to the cgroup of the test itself. */
static bool make_foreign(void)
{
	struct writes owner = {
		.file = writers[0].file, .bytes = SMALL_BYTES,
	};

	remove_files();
	return !do_writes(NULL, &owner) && !forget_pages(owner.file);
}

/*
 * The file's inode belongs to another cgroup. balance_dirty_pages() counts that
 * cgroup's pages, so the writer's cgroup fills with dirty pages.
 */
static int test_foreign(const char *root)
{
	static const struct load load = {
		.max = SMALL_MAX, .disk_mb = SMALL_DISK_MB, .bytes = SMALL_BYTES,
		.nr = 1, .most_ms = WORST_FULL_MS, .prepare = make_foreign,
	};

	return check_writers(root, &load);
}

static int dirty_pages(const char *cgroup, void *arg)
{
	struct writes writes = { .file = writers[0].file, .bytes = DIRTY_BYTES };

	if (do_writes(cgroup, &writes))
		return 1;
	return pause();
}

static int take_memory(const char *cgroup, void *arg)
{
	touch_memory(map_memory(HOG_BYTES), HOG_BYTES);
	return 0;
}

/* Returns whether a task that takes memory is killed soon. */
static bool is_killed_soon(const char *cgroup)
{
	int status = 0;
	long start = now_ms();
	pid_t hog = cg_run_nowait(cgroup, take_memory, NULL);

	if (hog < 0 || waitpid(hog, &status, 0) < 0)
		return false;
	ksft_print_msg("%ld OOM kills after %ld ms\n", oom_kills(cgroup),
		       now_ms() - start);
	return oom_kills(cgroup) && now_ms() - start <= KILL_MS;
}

/* The disk writes no pages: a task that takes memory is killed soon. */
static int test_stuck(const char *root)
{
	char *cgroup __free(cgroup) = create_slow(root, MAX, DISK_MB);
	bool good = false;
	pid_t pid = -1;

	if (cgroup && !limit_disk(cgroup, STUCK_BPS))
		pid = cg_run_nowait(cgroup, dirty_pages, NULL);
	if (pid >= 0) {
		sleep_ms(2000);
		good = is_killed_soon(cgroup);
	}
	slow_down(cgroup, 1000);
	stop_task(pid);
	remove_files();
	return passed(good);
}

static int map_and_dirty(const char *cgroup, void *arg)
{
	*(char **)arg = map_memory(HOG_BYTES);
	return dirty_pages(cgroup, NULL);
}

/*
 * Writes to the memory of a task, until that task is killed or all is written.
 * Returns the bytes written.
 */
static long write_memory(pid_t pid, char *to)
{
	int fd __free(fd) = -1;
	static char buf[CHUNK];
	long at = 0, written = CHUNK;
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/mem", pid);
	fd = open(name, O_WRONLY);
	while (at < HOG_BYTES && written == CHUNK) {
		written = pwrite(fd, buf, CHUNK, (long)to + at);
		if (written > 0)
			at += written;
	}
	return at;
}

/*
 * How long this task has meant to sleep at most, in ms; 0 if it has not slept for
 * memory.max. By the clock, reclaim in an emulator takes as long.
 */
static long longest_timeout(void)
{
	FILE *trace = fopen(TRACING "/trace", "r");
	long ms, longest = 0;
	char line[512], *at, task[32];

	snprintf(task, sizeof(task), "-%d ", getpid());
	while (trace && fgets(line, sizeof(line), trace)) {
		at = strstr(line, "memcg_max_sleep: ");
		if (!at || !strstr(line, task))
			continue;
		at = strstr(at, "timeout_ms=");
		ms = at ? atol(at + strlen("timeout_ms=")) : -1;
		longest = ms > longest ? ms : longest;
	}
	if (trace)
		fclose(trace);
	return longest;
}

/*
 * A debugger, or ps, holds the mmap_lock of the task at whose memory it looks. The
 * memory is charged to that task's cgroup, whose disk writes nothing: the debugger
 * waits less long for it than the task itself would.
 */
static int test_outside(const char *root)
{
	struct setting event __free(setting) = save_setting(SLEEP_EVENT);
	char *cgroup __free(cgroup) = create_slow(root, MAX, DISK_MB);
	char **map = share_memory(sizeof(*map));
	long written = 0, longest = 0;
	pid_t pid = -1;

	if (write_file(SLEEP_EVENT, "1") || write_file(TRACING "/trace", "\n"))
		return KSFT_SKIP;
	if (cgroup && !limit_disk(cgroup, STUCK_BPS))
		pid = cg_run_nowait(cgroup, map_and_dirty, map);
	if (pid >= 0) {
		sleep_ms(2000);
		written = write_memory(pid, *map);
		longest = longest_timeout();
		ksft_print_msg("%ld bytes, longest sleep %ld ms, %ld OOM kills\n",
			       written, longest, oom_kills(cgroup));
	}
	slow_down(cgroup, 1000);
	stop_task(pid);
	remove_files();
	return passed(written && written < HOG_BYTES && longest && longest <= OUTSIDE_MS);
}

static int test_writer_other_lru(const char *root)
{
	return on_other_lru(root, test_writer);
}

static int test_writers_other_lru(const char *root)
{
	return on_other_lru(root, test_writers);
}

static int test_foreign_other_lru(const char *root)
{
	return on_other_lru(root, test_foreign);
}

static const struct memcg_test tests[] = {
	T(test_writer),
	T(test_writer_other_lru),
	T(test_writers),
	T(test_writers_other_lru),
	T(test_foreign),
	T(test_foreign_other_lru),
	T(test_stuck),
	T(test_outside),
};

/*
 * Reclaim itself sleeps for the disk if more than half of a node's reclaimable
 * pages are dirty or under writeback. Where there is as much clean page cache as on
 * most machines, it does not. The file is open as long as the test runs.
 */
static bool fill_cache(void)
{
	static char buf[CHUNK];
	int fd = open(CACHE_FILE, O_RDWR | O_CREAT | O_TRUNC, 0600);
	long at;

	unlink(CACHE_FILE);
	if (fd < 0 || ftruncate(fd, CACHE_BYTES))
		return false;
	for (at = 0; at < CACHE_BYTES; at += CHUNK)
		if (pread(fd, buf, CHUNK, at) != CHUNK)
			return false;
	return true;
}

static void setup(const char *root)
{
	int i;

	if (!on_disk.enter())
		ksft_exit_skip("no disk here\n");
	if (!fill_cache())
		ksft_exit_fail_msg("no page cache\n");
	writers = share_memory(NR_WRITERS * sizeof(*writers));
	for (i = 0; i < NR_WRITERS; i++)
		snprintf(writers[i].file, sizeof(writers[i].file),
			 "test_memcg_max_wait.tmp.%d", i);
}

int main(void)
{
	return memcg_test_main(tests, ARRAY_SIZE(tests), setup);
}
