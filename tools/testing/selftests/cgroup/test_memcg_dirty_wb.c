// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for the effects of dirty limits: which writers are throttled, and which
 * pages are written back.
 *
 * They need a current directory on a file system with cgroup writeback, on a
 * disk that is slower than memory; elsewhere they are skipped. A test for which
 * the LRU makes a difference runs on both.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <linux/limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_dirty_util.h"
#include "memcg_test_util.h"

#define LRU_GEN_FILE	"/sys/kernel/mm/lru_gen/enabled"
#define TRACING		"/sys/kernel/tracing"
#define PERIOD_FILE	"/proc/sys/vm/dirty_writeback_centisecs"
#define CYCLES			50
#define SLOWEST_SMALL_MS	1000
#define SLOWEST_RECLAIM_MS	500

static const char *const test_file = "test_memcg_dirty_wb.tmp";
static const char *const other_file = "test_memcg_dirty_wb_other.tmp";

/**
 * struct writes - the work of a writer
 * @file: name of the file
 * @bytes: how much to write; 0 for no end
 * @pause_ms: pause between one write() and the next
 * @slowest_ms: fail if a single write() takes longer; 0 for no bound
 */
struct writes {
	const char *file;
	long bytes;
	int pause_ms;
	int slowest_ms;
};

/* Runs in the cgroup. The exit code tells the step that failed. */
static int do_writes(const char *cgroup, void *arg)
{
	const struct writes *writes = arg;
	long bytes, start, took;
	static char buf[CHUNK];
	int fd;

	/* A disk may take in a burst of the last test, and then be slow. */
	if (writes->slowest_ms)
		sync();
	fd = open(writes->file, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	if (fd < 0)
		return 1;
	for (bytes = 0; !writes->bytes || bytes < writes->bytes; bytes += CHUNK) {
		start = now_ms();
		if (write(fd, buf, CHUNK) != CHUNK)
			return 2;
		took = now_ms() - start;
		if (writes->slowest_ms && took > writes->slowest_ms) {
			ksft_print_msg("a write took %ld ms\n", took);
			return 3;
		}
		sleep_ms(writes->pause_ms);
	}
	close(fd);
	return 0;
}

static void stop(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool succeeded(int status)
{
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return true;
	ksft_print_msg("the writer failed with status %#x\n", status);
	return false;
}

static void remove_files(void)
{
	unlink(test_file);
	unlink(other_file);
}

/* Once all pages are written, the counts are 0 again. */
static int check_clean(const char *cgroup)
{
	long left;

	sync();
	left = dirty_stat(cgroup, "dirty ") + dirty_stat(cgroup, "writeback ");
	if (left)
		ksft_print_msg("%ld bytes left after sync\n", left);
	return left ? -1 : 0;
}

/**
 * struct crowd - writers under a common limit
 * @nr: number of writers
 * @bytes: bytes that each of them writes
 * @limit: limit of their cgroup, in bytes
 * @percent: the highest peak that passes, in percent of the limit
 */
struct crowd {
	int nr;
	long bytes;
	long limit;
	int percent;
};

static void crowd_file(char *name, size_t len, int number)
{
	snprintf(name, len, "test_memcg_dirty_wb_%d.tmp", number);
}

/* Returns whether all writers have done their work. */
static bool run_crowd(const char *cgroup, const struct crowd *crowd)
{
	struct writes writes = { .bytes = crowd->bytes };
	pid_t *pids = calloc(crowd->nr, sizeof(*pids));
	bool good = pids;
	char name[64];
	int i, status;

	writes.file = name;
	for (i = 0; pids && i < crowd->nr; i++) {
		crowd_file(name, sizeof(name), i);
		pids[i] = cg_run_nowait(cgroup, do_writes, &writes);
	}
	for (i = 0; pids && i < crowd->nr; i++) {
		if (pids[i] < 0 || waitpid(pids[i], &status, 0) < 0 ||
		    !succeeded(status))
			good = false;
		crowd_file(name, sizeof(name), i);
		unlink(name);
	}
	free(pids);
	return good;
}

static int test_crowd(const char *root, const struct crowd *crowd)
{
	char *cgroup = create_cgroup(root, "dirty_many"), limit[32];
	int ret = KSFT_FAIL;
	long peak;

	snprintf(limit, sizeof(limit), "%ld", crowd->limit);
	if (!cgroup || cg_write(cgroup, LIMIT_FILE, limit))
		goto out;
	slow_down(cgroup, 10);
	if (!run_crowd(cgroup, crowd))
		goto out;
	peak = cg_read_long(cgroup, PEAK_FILE);
	ksft_print_msg("%d writers: peak %ld of %ld bytes\n", crowd->nr, peak,
		       crowd->limit);
	if (peak >= crowd->limit / 2 && peak <= crowd->limit / 100 * crowd->percent &&
	    !check_clean(cgroup))
		ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	return ret;
}

/* Many writers together do not exceed the limit. */
static int test_many_writers(const char *root)
{
	const struct crowd crowd = {
		.nr = 32, .bytes = MB(3L), .limit = MB(16L), .percent = 102,
	};

	return test_crowd(root, &crowd);
}

/* Nor do they if the limit is small for so many writers and CPUs. */
static int test_small_limit(const char *root)
{
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const struct crowd crowd = {
		.nr = nr_cpus < 48 ? 48 : nr_cpus,
		.bytes = MB(1L), .limit = MB(4L), .percent = 105,
	};

	return test_crowd(root, &crowd);
}

static int test_thousand_writers(const char *root)
{
	const struct crowd crowd = {
		.nr = 1000, .bytes = 2 * CHUNK, .limit = MB(16L), .percent = 105,
	};

	return test_crowd(root, &crowd);
}

/* A light writer keeps its pace beside one that fills their parent's limit. */
static int test_light_sibling(const char *root)
{
	struct writes endless = { .file = other_file };
	struct writes little = {
		.file = test_file, .bytes = MB(5), .pause_ms = 62,
	};
	char *parent = create_io_parent(root, "dirty_parent");
	char *hog = NULL, *light = NULL;
	long took, throttled;
	int i, ret = KSFT_FAIL;
	pid_t pid = 0;

	if (!parent || cg_write(parent, LIMIT_FILE, "64M"))
		goto out;
	hog = create_cgroup(parent, "hog");
	light = create_cgroup(parent, "light");
	if (!hog || !light)
		goto out;
	slow_down(hog, 10);
	pid = cg_run_nowait(hog, do_writes, &endless);
	for (i = 0; dirty_stat(hog, "throttled ") < 10; i++) {
		if (i == 200) {
			ksft_print_msg("no writer is faster than the disk\n");
			ret = KSFT_SKIP;
			goto out;
		}
		sleep_ms(100);
	}

	took = now_ms();
	if (cg_run(light, do_writes, &little))
		goto out;
	took = now_ms() - took;
	throttled = dirty_stat(light, "throttled_usec ");
	ksft_print_msg("5 MiB took %ld ms, of these throttled %ld us\n", took,
		       throttled);
	/* The hog is throttled all the time, the light writer hardly ever. */
	if (throttled > took * 1000 / 50 || dirty_stat(hog, "throttled ") < 10)
		goto out;
	if (cg_read_long(parent, PEAK_FILE) > MB(64L) / 100 * 102 +
						 error_bytes(64))
		goto out;
	ret = KSFT_PASS;
out:
	stop(pid);
	destroy_cgroup(light);
	destroy_cgroup(hog);
	destroy_cgroup(parent);
	remove_files();
	return ret;
}

/*
 * Above the parent's background limit, flushers also write the pages of an idle
 * child, but not those of an unrelated cgroup.
 */
static int aimed_writeback(const char *root)
{
	struct writes idle_writes = { .file = test_file, .bytes = MB(12) };
	struct writes other_writes = { .file = other_file, .bytes = MB(12) };
	struct writes busy_writes = { .file = "test_memcg_dirty_wb_busy.tmp" };
	char *parent = create_io_parent(root, "dirty_aimed");
	char *other = create_cgroup(root, "dirty_aimed_other");
	char *idle = NULL, *busy = NULL;
	int ret = KSFT_FAIL;
	pid_t pid = 0;

	if (!parent || !other)
		goto out;
	idle = create_cgroup(parent, "idle");
	busy = create_cgroup(parent, "busy");
	/* All dirty pages together stay below the system's background limit. */
	if (!idle || !busy || cg_write(parent, LIMIT_FILE, "48M") ||
	    cg_write(parent, BACKGROUND_FILE, "16M"))
		goto out;
	if (cg_run(other, do_writes, &other_writes) ||
	    cg_run(idle, do_writes, &idle_writes) || cg_dirty(idle) < MB(10))
		goto out;
	pid = cg_run_nowait(busy, do_writes, &busy_writes);
	if (!falls_below(idle, MB(2), 8)) {
		ksft_print_msg("%ld bytes of the idle one are dirty\n",
			       cg_dirty(idle));
		goto out;
	}
	if (cg_dirty(other) < MB(10)) {
		ksft_print_msg("another cgroup's pages were written\n");
		goto out;
	}
	ret = KSFT_PASS;
out:
	stop(pid);
	destroy_cgroup(busy);
	destroy_cgroup(idle);
	destroy_cgroup(parent);
	destroy_cgroup(other);
	unlink(busy_writes.file);
	remove_files();
	return ret;
}

/* Without periodic writeback: it writes the pages of a wb above its share. */
static int test_aimed_writeback(const char *root)
{
	char period[32];
	int ret;

	if (read_text(PERIOD_FILE, period, sizeof(period)) <= 0 ||
	    write_text(PERIOD_FILE, "0", 1) < 0)
		return KSFT_SKIP;
	ret = aimed_writeback(root);
	write_text(PERIOD_FILE, period, strlen(period));
	return ret;
}

/* A background limit alone starts writeback, and throttles no writer. */
static int test_background_only(const char *root)
{
	struct writes writes = { .file = test_file, .bytes = MB(24) };
	char *cgroup = create_cgroup(root, "dirty_background");
	int ret = KSFT_FAIL;

	if (!cgroup || cg_write(cgroup, BACKGROUND_FILE, "4M") ||
	    cg_run(cgroup, do_writes, &writes))
		goto out;
	if (!falls_below(cgroup, MB(4) + stat_error(), 5)) {
		ksft_print_msg("still %ld bytes\n", cg_dirty(cgroup));
		goto out;
	}
	if (dirty_stat(cgroup, "throttled "))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	remove_files();
	return ret;
}

/* Lowering a limit below the dirty pages starts writeback without a writer. */
static int test_lower(const char *root)
{
	struct writes writes = { .file = test_file, .bytes = MB(24) };
	char *cgroup = create_cgroup(root, "dirty_lower");
	int ret = KSFT_FAIL;

	if (!cgroup || cg_write(cgroup, LIMIT_FILE, "128M") ||
	    cg_run(cgroup, do_writes, &writes) || cg_dirty(cgroup) < MB(20) ||
	    cg_write(cgroup, LIMIT_FILE, "8M"))
		goto out;
	if (!falls_below(cgroup, MB(4) + stat_error(), 5)) {
		ksft_print_msg("still %ld bytes\n", cg_dirty(cgroup));
		goto out;
	}
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	remove_files();
	return ret;
}

/*
 * A limit replaces the share of memory.max that vm.dirty_ratio gives, and may
 * be higher. The system's limit has to be higher still. The disk is slowed
 * down: on a slow machine, it may be as fast as the writer.
 */
static int test_raise(const char *root)
{
	struct writes writes = { .file = test_file, .bytes = MB(100) };
	char *cgroup = create_cgroup(root, "dirty_raise");
	long limit = MB(120L), derived, peak;
	int ret = KSFT_FAIL;

	if (!cgroup || cg_write(cgroup, "memory.max", "256M") ||
	    cg_write(cgroup, LIMIT_FILE, "120M"))
		goto out;
	derived = MB(256L) / 100 * 20;
	slow_down(cgroup, 2);
	if (cg_run(cgroup, do_writes, &writes))
		goto out;
	peak = cg_read_long(cgroup, PEAK_FILE);
	/* Pages under writeback have to be on disk before the file can go. */
	slow_down(cgroup, 1000);
	ksft_print_msg("peak %ld of %ld bytes\n", peak, limit);
	if (peak < derived + MB(20))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	remove_files();
	return ret;
}

/* Under a limit of one page, a writer still makes progress. */
static int test_one_page(const char *root)
{
	struct writes writes = {
		.file = test_file, .bytes = MB(2), .slowest_ms = SLOWEST_SMALL_MS,
	};
	char *cgroup = create_cgroup(root, "dirty_page");
	char page[32];
	int ret = KSFT_FAIL;

	sprintf(page, "%ld", sysconf(_SC_PAGE_SIZE));
	if (!cgroup || cg_write(cgroup, LIMIT_FILE, page) ||
	    cg_run(cgroup, do_writes, &writes) || check_clean(cgroup))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	remove_files();
	return ret;
}

static long oom_kills(const char *cgroup)
{
	return cg_read_key_long(cgroup, "memory.events", "oom_kill ");
}

/*
 * A writer that is faster than the disk reaches memory.max: no task is killed,
 * and no write takes longer than @slowest_ms.
 */
static int fills_memory(const char *root, char *limit, int slowest_ms)
{
	struct writes writes = {
		.file = test_file, .bytes = MB(100), .slowest_ms = slowest_ms,
	};
	char *cgroup = create_cgroup(root, "dirty_reclaim");
	int ret = -1;

	if (!cgroup || cg_write(cgroup, "memory.max", "24M") ||
	    cg_write(cgroup, "memory.swap.max", "0") ||
	    cg_write(cgroup, LIMIT_FILE, limit))
		goto out;
	if (cg_run(cgroup, do_writes, &writes) || oom_kills(cgroup)) {
		ksft_print_msg("%ld OOM kills\n", oom_kills(cgroup));
		goto out;
	}
	ret = 0;
out:
	destroy_cgroup(cgroup);
	remove_files();
	return ret;
}

/* With a limit that is well below memory.max, and with one that is above it. */
static int reclaims(const char *root)
{
	return fills_memory(root, "8M", SLOWEST_RECLAIM_MS) ||
	       fills_memory(root, "1G", 0);
}

static int test_reclaim(const char *root)
{
	return reclaims(root) ? KSFT_FAIL : KSFT_PASS;
}

/* The same on the LRU that is not in use. */
static int test_reclaim_other_lru(const char *root)
{
	char old[16], *new;
	int ret;

	if (read_text(LRU_GEN_FILE, old, sizeof(old)) <= 0)
		return KSFT_SKIP;
	new = strncmp(old, "0x0000", 6) ? "n" : "y";
	if (write_text(LRU_GEN_FILE, new, 1) < 0)
		return KSFT_FAIL;
	ret = reclaims(root) ? KSFT_FAIL : KSFT_PASS;
	write_text(LRU_GEN_FILE, *new == 'n' ? "y" : "n", 1);
	return ret;
}

/* Runs in a cgroup: writes to a file whose inode has another cgroup's wb. */
static int write_foreign(const char *cgroup, void *arg)
{
	int fd = open(test_file, O_WRONLY);
	static char buf[CHUNK];
	long offset;

	for (offset = MB(32); offset < MB(48); offset += CHUNK)
		if (pwrite(fd, buf, CHUNK, offset) != CHUNK)
			return 1;
	return 0;
}

/* Dirty pages of another cgroup's inode count in the cgroup that is charged. */
static int test_foreign_inode(const char *root)
{
	struct writes writes = { .file = test_file, .bytes = MB(32) };
	char *owner = create_cgroup(root, "dirty_owner");
	char *guest = create_cgroup(root, "dirty_guest");
	int ret = KSFT_FAIL;

	if (!owner || !guest || cg_write(owner, LIMIT_FILE, "128M") ||
	    cg_write(guest, LIMIT_FILE, "16M") ||
	    cg_run(owner, do_writes, &writes) ||
	    cg_run(guest, write_foreign, NULL))
		goto out;
	if (cg_read_long(guest, PEAK_FILE) <= 0) {
		ksft_print_msg("the guest's pages did not count\n");
		goto out;
	}
	if (check_clean(owner) || check_clean(guest))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(guest);
	destroy_cgroup(owner);
	remove_files();
	return ret;
}

static int set_cpu1(char *online)
{
	return write_text("/sys/devices/system/cpu/cpu1/online", online, 1) < 0;
}

/* Counts that a CPU held back when it went offline are not lost. */
static int test_cpu_hotplug(const char *root)
{
	struct writes writes = { .file = test_file };
	char *cgroup = create_cgroup(root, "dirty_hotplug");
	int i, ret = KSFT_FAIL;
	pid_t pid = 0;

	if (set_cpu1("1")) {
		ret = KSFT_SKIP;
		goto out;
	}
	if (!cgroup || cg_write(cgroup, LIMIT_FILE, "1G"))
		goto out;
	pid = cg_run_nowait(cgroup, do_writes, &writes);
	for (i = 0; i < 6; i++) {
		if (set_cpu1(i & 1 ? "1" : "0"))
			goto out;
		sleep_ms(300);
	}
	stop(pid);
	pid = 0;
	/* Counts for a small limit are exact. */
	if (cg_write(cgroup, LIMIT_FILE, "16M") || check_clean(cgroup))
		goto out;
	ret = KSFT_PASS;
out:
	stop(pid);
	set_cpu1("1");
	destroy_cgroup(cgroup);
	remove_files();
	return ret;
}

/* Creates a cgroup, sets limits, dirties a page, and removes the cgroup. */
static int one_cycle(const char *parent, int number)
{
	static char *const limits[] = { "1M", "max", "64M", "4096", "8M" };
	struct writes writes = { .file = other_file, .bytes = CHUNK };
	char *cgroup = create_cgroup(parent, "cycle");
	int ret = -1;

	if (!cgroup)
		return -1;
	if (cg_write(cgroup, LIMIT_FILE, limits[number % 5]) ||
	    cg_run(cgroup, do_writes, &writes) ||
	    cg_write(cgroup, BACKGROUND_RATIO_FILE, "10") ||
	    cg_write(cgroup, LIMIT_FILE, limits[number % 4]))
		goto out;
	ret = 0;
out:
	destroy_cgroup(cgroup);
	return ret;
}

static int test_cycles(const char *root)
{
	struct writes writes = {};
	char *parent = create_io_parent(root, "dirty_cycles");
	char *busy[4] = {}, name[4][32] = {};
	int i, ret = KSFT_FAIL;
	pid_t pid[4] = {};

	if (!parent || cg_write(parent, LIMIT_FILE, "32M"))
		goto out;
	for (i = 0; i < ARRAY_SIZE(busy); i++) {
		sprintf(name[i], "test_memcg_dirty_wb_%d.tmp", i);
		writes.file = name[i];
		busy[i] = create_cgroup(parent, name[i]);
		if (!busy[i])
			goto out;
		pid[i] = cg_run_nowait(busy[i], do_writes, &writes);
	}
	for (i = 0; i < CYCLES; i++)
		if (one_cycle(parent, i))
			goto out;
	for (i = 0; i < ARRAY_SIZE(busy); i++) {
		stop(pid[i]);
		pid[i] = 0;
	}
	if (check_clean(parent))
		goto out;
	ret = KSFT_PASS;
out:
	for (i = 0; i < ARRAY_SIZE(busy); i++) {
		stop(pid[i]);
		destroy_cgroup(busy[i]);
		unlink(name[i]);
	}
	destroy_cgroup(parent);
	remove_files();
	return ret;
}

/* Returns whether the trace has this event since it was cleared. */
static bool traced(const char *event)
{
	FILE *trace = fopen(TRACING "/trace", "r");
	bool found = false;
	char line[512];

	while (trace && !found && fgets(line, sizeof(line), trace))
		found = strstr(line, event);
	if (trace)
		fclose(trace);
	return found;
}

static int test_tracepoints(const char *root)
{
	struct writes writes = { .file = test_file, .bytes = MB(8) };
	char *cgroup = create_cgroup(root, "dirty_trace");
	int ret = KSFT_FAIL;

	if (access(TRACING "/events/memcg_dirty/enable", W_OK)) {
		ret = KSFT_SKIP;
		goto out;
	}
	write_text(TRACING "/events/memcg_dirty/enable", "1", 1);
	write_text(TRACING "/trace", "\n", 1);
	if (!cgroup || cg_write(cgroup, LIMIT_FILE, "2M"))
		goto out;
	slow_down(cgroup, 2);
	if (cg_run(cgroup, do_writes, &writes))
		goto out;
	if (!traced("memcg_dirty_throttle: ") || !traced("memcg_dirty_wakeup: "))
		goto out;
	ret = KSFT_PASS;
out:
	write_text(TRACING "/events/memcg_dirty/enable", "0", 1);
	destroy_cgroup(cgroup);
	remove_files();
	return ret;
}

#define QUEUE_LIMIT	MB(40L)
#define QUEUE_RATE	4
#define SETTLE_MS	3000
#define SAMPLES		100

/* Waits until the limit is nearly used up. Returns whether it is. */
static bool wait_queue_limit(const char *cgroup)
{
	int i;

	for (i = 0; i < 300; i++) {
		if (cg_dirty(cgroup) > QUEUE_LIMIT / 4 * 3)
			return true;
		sleep_ms(100);
	}
	ksft_print_msg("the writer does not fill its limit\n");
	return false;
}

/*
 * Most pages of a limited cgroup stay dirty, where they delay no other task,
 * and few are in the disk's queue.
 */
static int test_queue(const char *root)
{
	struct writes endless = { .file = test_file };
	char *cgroup = create_cgroup(root, "wb_queue");
	int i, ret = KSFT_FAIL;
	long queued = 0;
	pid_t pid = 0;

	if (!cgroup || cg_write(cgroup, LIMIT_FILE, "40M"))
		goto out;
	slow_down(cgroup, QUEUE_RATE);
	pid = cg_run_nowait(cgroup, do_writes, &endless);
	if (!wait_queue_limit(cgroup))
		goto out;
	/* Wait until the kernel knows the flusher's rate. */
	sleep_ms(SETTLE_MS);
	for (i = 0; i < SAMPLES; i++) {
		queued += dirty_stat(cgroup, "writeback ") / SAMPLES;
		sleep_ms(20);
	}
	ksft_print_msg("%ld KiB queued\n", queued >> 10);
	if (queued < QUEUE_LIMIT / 4)
		ret = KSFT_PASS;
out:
	if (cgroup)
		slow_down(cgroup, 1000);
	stop(pid);
	remove_files();
	destroy_cgroup(cgroup);
	return ret;
}

static long file_size(const char *file)
{
	struct stat st;

	return stat(file, &st) ? 0 : st.st_size;
}

/*
 * Beside a writer without a limit, which fills the disk's queue, a limited one
 * keeps its part of the disk.
 */
static int test_crowded_queue(const char *root)
{
	struct writes limited = { .file = test_file };
	struct writes unlimited = { .file = other_file };
	char *cgroup = create_cgroup(root, "wb_limited");
	char *other = create_cgroup(root, "wb_unlimited");
	pid_t pid = 0, other_pid = 0;
	long before, other_before;
	int ret = KSFT_FAIL;

	if (!cgroup || !other || cg_write(cgroup, LIMIT_FILE, "40M"))
		goto out;
	pid = cg_run_nowait(cgroup, do_writes, &limited);
	other_pid = cg_run_nowait(other, do_writes, &unlimited);
	sleep_ms(2 * SETTLE_MS);
	before = file_size(test_file);
	other_before = file_size(other_file);
	sleep_ms(2 * SETTLE_MS);
	before = file_size(test_file) - before;
	other_before = file_size(other_file) - other_before;
	ksft_print_msg("%ld KiB with a limit, %ld KiB without\n", before >> 10,
		       other_before >> 10);
	if (before >= (before + other_before) / 8)
		ret = KSFT_PASS;
out:
	stop(pid);
	stop(other_pid);
	remove_files();
	destroy_cgroup(cgroup);
	destroy_cgroup(other);
	return ret;
}

static const struct memcg_test tests[] = {
	T(test_many_writers, &on_disk),
	T(test_small_limit, &on_disk),
	T(test_thousand_writers, &on_disk),
	T(test_light_sibling, &on_disk),
	T(test_aimed_writeback, &on_disk),
	T(test_background_only, &on_disk),
	T(test_lower, &on_disk),
	T(test_raise, &on_disk),
	T(test_one_page, &on_disk),
	T(test_reclaim, &on_disk),
	T(test_reclaim_other_lru, &on_disk),
	T(test_foreign_inode, &on_disk),
	T(test_cpu_hotplug, &on_disk),
	T(test_cycles, &on_disk),
	T(test_tracepoints, &on_disk),
	T(test_queue, &on_disk),
	T(test_crowded_queue, &on_disk),
};

int main(void)
{
	return memcg_test_main(tests, ARRAY_SIZE(tests), NULL);
}
