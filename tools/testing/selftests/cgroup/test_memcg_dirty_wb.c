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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_dirty_util.h"
#include "memcg_test_util.h"

#define TRACING		"/sys/kernel/tracing"
#define EVENTS_FILE	TRACING "/events/memcg_dirty/enable"
#define CYCLES			50
#define ONCE_LIMIT		MB(16L)
#define NR_LARGE		16
#define LARGE			MB(2L)
#define LARGE_WRAP		MB(32L)
#define SLOWEST_SMALL_MS	1000
#define SLOWEST_RECLAIM_MS	500

static const char *const test_file = "test_memcg_dirty_wb.tmp";
static const char *const other_file = "test_memcg_dirty_wb_other.tmp";

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
	pid_t *pids __free(memory) = calloc(crowd->nr, sizeof(*pids));
	struct writes writes = { .bytes = crowd->bytes };
	bool good = pids;
	char name[64];
	int i;

	writes.file = name;
	for (i = 0; pids && i < crowd->nr; i++) {
		crowd_file(name, sizeof(name), i);
		pids[i] = cg_run_nowait(cgroup, do_writes, &writes);
	}
	for (i = 0; pids && i < crowd->nr; i++) {
		good = wait_task(pids[i]) && good;
		crowd_file(name, sizeof(name), i);
		unlink(name);
	}
	return good;
}

static int test_crowd(const char *root, const struct crowd *crowd)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_many");
	long peak;

	if (!cgroup || cg_write_numeric(cgroup, LIMIT_FILE, crowd->limit))
		return KSFT_FAIL;
	slow_down(cgroup, 10);
	if (!run_crowd(cgroup, crowd))
		return KSFT_FAIL;
	peak = cg_read_long(cgroup, PEAK_FILE);
	ksft_print_msg("%d writers: peak %ld of %ld bytes\n", crowd->nr, peak,
		       crowd->limit);
	return passed(peak >= crowd->limit / 2 &&
		      peak <= crowd->limit / 100 * crowd->percent &&
		      is_clean(cgroup));
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

/* Two cgroups below one limit. */
static bool create_siblings(const char *parent, char **hog, char **light)
{
	if (!parent || cg_write(parent, LIMIT_FILE, "64M"))
		return false;
	*hog = create_cgroup(parent, "hog");
	*light = create_cgroup(parent, "light");
	return *hog && *light;
}

/* The hog is throttled all the time, the light writer for @percent of it at most. */
static bool keeps_pace(const char *light, const char *hog, int percent)
{
	struct writes little = {
		.file = test_file, .bytes = MB(5), .pause_ms = 62,
	};
	long took = now_ms(), throttled;

	if (cg_run(light, do_writes, &little))
		return false;
	took = now_ms() - took;
	throttled = dirty_stat(light, "throttled_usec ");
	ksft_print_msg("5 MiB took %ld ms, of these throttled %ld us\n", took,
		       throttled);
	return throttled <= took * 10 * percent &&
	       dirty_stat(hog, "throttled ") >= 10;
}

/* A light writer keeps its pace beside one that fills their parent's limit. */
static int test_light_sibling(const char *root)
{
	const char *file __free(file) = test_file, *second __free(file) = other_file;
	char *parent __free(cgroup) = create_io_parent(root, "dirty_parent");
	char *hog __free(cgroup) = NULL, *light __free(cgroup) = NULL;
	pid_t pid __free(task) = -1;
	struct writes endless = { .file = second };

	if (!create_siblings(parent, &hog, &light))
		return KSFT_FAIL;
	slow_down(hog, 10);
	pid = cg_run_nowait(hog, do_writes, &endless);
	if (!wait_paused(hog))
		return KSFT_SKIP;
	return passed(keeps_pace(light, hog, 2) &&
		      cg_read_long(parent, PEAK_FILE) <=
		      MB(64L) / 100 * 102 + error_bytes(64));
}

/* Endless writes for which file systems use large folios, if they have any. */
static int write_large(const char *cgroup, void *arg)
{
	char *buf __free(memory) = calloc(1, LARGE);
	int fd __free(fd) = open(arg, O_CREAT | O_WRONLY, 0600);
	long at;

	for (at = 0; buf && pwrite(fd, buf, LARGE, at) == LARGE; at += LARGE)
		if (at == LARGE_WRAP)
			at = 0;
	return KSFT_FAIL;
}

static bool keeps_pace_beside_large(const char *light, const char *hog)
{
	pid_t pids[NR_LARGE];
	char name[64];
	bool good;
	int i;

	for (i = 0; i < NR_LARGE; i++) {
		crowd_file(name, sizeof(name), i);
		pids[i] = cg_run_nowait(hog, write_large, name);
	}
	good = wait_paused(hog);
	/* The first folios of all tasks come at once. */
	sleep_ms(1000);
	good = good && keeps_pace(light, hog, 15);
	for (i = 0; i < NR_LARGE; i++) {
		good = stop_task(pids[i]) && good;
		crowd_file(name, sizeof(name), i);
		unlink(name);
	}
	return good;
}

/*
 * A light writer keeps its pace beside tasks that are about to write large
 * folios, which are half of the limit together.
 */
static int test_large_sibling(const char *root)
{
	const char *file __free(file) = test_file;
	char *parent __free(cgroup) = create_io_parent(root, "dirty_parent");
	char *hog __free(cgroup) = NULL, *light __free(cgroup) = NULL;

	if (!create_siblings(parent, &hog, &light))
		return KSFT_FAIL;
	slow_down(hog, 30);
	return passed(keeps_pace_beside_large(light, hog));
}

/* Waits for the pages of @idle to be written; those of @other have to stay. */
static bool writes_idle(const char *idle, const char *other)
{
	if (!falls_below(idle, MB(2), 8))
		return false;
	if (cg_dirty(other) >= MB(10))
		return true;
	ksft_print_msg("another cgroup's pages were written\n");
	return false;
}

/* Returns whether most of what @cgroup writes is dirty afterwards. */
static bool stays_dirty(const char *cgroup, struct writes *writes)
{
	long dirty;

	if (cg_run(cgroup, do_writes, writes))
		return false;
	dirty = cg_dirty(cgroup);
	if (dirty >= MB(10))
		return true;
	ksft_print_msg("%ld of %ld bytes are dirty\n", dirty, writes->bytes);
	return false;
}

/*
 * Above the parent's background limit, flushers also write the pages of an idle
 * child, but not those of an unrelated cgroup.
 */
static int aimed_writeback(const char *root)
{
	const char *file __free(file) = test_file, *second __free(file) = other_file;
	const char *third __free(file) = "test_memcg_dirty_wb_busy.tmp";
	char *other __free(cgroup) = create_cgroup(root, "dirty_aimed_other");
	char *parent __free(cgroup) = create_io_parent(root, "dirty_aimed");
	char *idle __free(cgroup) = create_cgroup(parent, "idle");
	char *busy __free(cgroup) = create_cgroup(parent, "busy");
	pid_t pid __free(task) = -1;
	struct writes idle_writes = { .file = file, .bytes = MB(12) };
	struct writes other_writes = { .file = second, .bytes = MB(12) };
	struct writes busy_writes = { .file = third };

	/*
	 * All dirty pages together stay below the system's background limit,
	 * once those of earlier cases are written.
	 */
	sync();
	if (!other || !idle || !busy || cg_write(parent, LIMIT_FILE, "48M") ||
	    cg_write(parent, BACKGROUND_FILE, "16M"))
		return KSFT_FAIL;
	if (!stays_dirty(other, &other_writes) || !stays_dirty(idle, &idle_writes))
		return KSFT_FAIL;
	pid = cg_run_nowait(busy, do_writes, &busy_writes);
	return passed(writes_idle(idle, other));
}

/*
 * Without periodic writeback for five minutes: it writes the pages of a wb above its
 * share of the system's background limit, which is next to nothing for a new one.
 * With a period of 0, a flusher runs once an inode becomes dirty, and does so too. On
 * a busy machine it runs late, and finds more than a few pages.
 */
static int test_aimed_writeback(const char *root)
{
	struct setting period __free(setting) = save_setting(PERIOD_FILE);

	if (!*period.text || write_file(PERIOD_FILE, "30000"))
		return KSFT_SKIP;
	return aimed_writeback(root);
}

/* A background limit alone starts writeback, and throttles no writer. */
static int test_background_only(const char *root)
{
	const char *file __free(file) = test_file;
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_background");
	struct writes writes = { .file = file, .bytes = MB(24) };

	return passed(cgroup && !cg_write(cgroup, BACKGROUND_FILE, "4M") &&
		      !cg_run(cgroup, do_writes, &writes) &&
		      falls_below(cgroup, MB(4) + stat_error(), 5) &&
		      !dirty_stat(cgroup, "throttled "));
}

/*
 * Lowering a limit below the dirty pages starts writeback without a writer, and
 * without the periodic flusher, which would notice the limit too: see
 * test_aimed_writeback().
 */
static int test_lower(const char *root)
{
	struct setting period __free(setting) = save_setting(PERIOD_FILE);
	const char *file __free(file) = test_file;
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_lower");
	struct writes writes = { .file = file, .bytes = MB(24) };

	if (!*period.text || write_file(PERIOD_FILE, "30000"))
		return KSFT_SKIP;
	return passed(cgroup && !cg_write(cgroup, LIMIT_FILE, "128M") &&
		      !cg_run(cgroup, do_writes, &writes) &&
		      cg_dirty(cgroup) >= MB(20) &&
		      !cg_write(cgroup, LIMIT_FILE, "8M") &&
		      falls_below(cgroup, MB(4) + stat_error(), 5));
}

/*
 * A limit replaces the share of memory.max that vm.dirty_ratio gives, and may
 * be higher. The system's limit has to be higher still. The disk is slowed
 * down: on a slow machine, it may be as fast as the writer.
 */
static int test_raise(const char *root)
{
	const char *file __free(file) = test_file;
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_raise");
	struct writes writes = { .file = file, .bytes = MB(100) };
	long limit = MB(120L), derived = MB(256L) / 100 * 20, peak;

	if (!cgroup || cg_write(cgroup, "memory.max", "256M") ||
	    cg_write(cgroup, LIMIT_FILE, "120M"))
		return KSFT_FAIL;
	slow_down(cgroup, 2);
	if (cg_run(cgroup, do_writes, &writes))
		return KSFT_FAIL;
	peak = cg_read_long(cgroup, PEAK_FILE);
	/* Pages under writeback have to be on disk before the file can go. */
	slow_down(cgroup, 1000);
	ksft_print_msg("peak %ld of %ld bytes\n", peak, limit);
	return passed(peak >= derived + MB(20));
}

/* Under a limit of one page, a writer still makes progress. */
static int test_one_page(const char *root)
{
	const char *file __free(file) = test_file;
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_page");
	struct writes writes = {
		.file = file, .bytes = MB(2), .slowest_ms = SLOWEST_SMALL_MS,
	};
	long page = sysconf(_SC_PAGE_SIZE);

	return passed(cgroup && !cg_write_numeric(cgroup, LIMIT_FILE, page) &&
		      !cg_run(cgroup, do_writes, &writes) && is_clean(cgroup));
}

/*
 * A writer that is faster than the disk reaches memory.max: no task is killed,
 * and no write takes longer than @slowest_ms.
 */
static bool fills_memory(const char *root, char *limit, int slowest_ms)
{
	const char *file __free(file) = test_file;
	char *cgroup __free(cgroup) = create_limited(root, "dirty_reclaim", "24M");
	struct writes writes = {
		.file = file, .bytes = MB(100), .slowest_ms = slowest_ms,
	};

	if (!cgroup || cg_write(cgroup, LIMIT_FILE, limit))
		return false;
	if (!cg_run(cgroup, do_writes, &writes) && !oom_kills(cgroup))
		return true;
	ksft_print_msg("%ld OOM kills\n", oom_kills(cgroup));
	return false;
}

/* With a limit that is well below memory.max, and with one that is above it. */
static int test_reclaim(const char *root)
{
	return passed(fills_memory(root, "8M", SLOWEST_RECLAIM_MS) &&
		      fills_memory(root, "1G", 0));
}

static int test_reclaim_other_lru(const char *root)
{
	return on_other_lru(root, test_reclaim);
}

/* Runs in a cgroup: writes to a file whose inode has another cgroup's wb. */
static int write_foreign(const char *cgroup, void *arg)
{
	const long *bytes = arg;
	int fd = open(test_file, O_WRONLY);
	static char buf[CHUNK];
	long done;

	for (done = 0; done < *bytes; done += CHUNK)
		if (pwrite(fd, buf, CHUNK, MB(32) + done) != CHUNK)
			return 1;
	return 0;
}

/* Dirty pages of another cgroup's inode count in the cgroup that is charged. */
static int test_foreign_inode(const char *root)
{
	const char *file __free(file) = test_file;
	char *owner __free(cgroup) = create_cgroup(root, "dirty_owner");
	char *guest __free(cgroup) = create_cgroup(root, "dirty_guest");
	struct writes writes = { .file = file, .bytes = MB(32) };
	long bytes = MB(16);

	if (!owner || !guest || cg_write(owner, LIMIT_FILE, "128M") ||
	    cg_write(guest, LIMIT_FILE, "16M") ||
	    cg_run(owner, do_writes, &writes) ||
	    cg_run(guest, write_foreign, &bytes))
		return KSFT_FAIL;
	if (cg_read_long(guest, PEAK_FILE) <= 0) {
		ksft_print_msg("the guest's pages did not count\n");
		return KSFT_FAIL;
	}
	return passed(is_clean(owner) && is_clean(guest));
}

/*
 * A removed cgroup leaves dirty pages in the file of a cgroup elsewhere. They count
 * for the parent's limit, so writers below it have the file's flusher write them.
 */
static bool writes_inherited(const char *parent, const char *owner)
{
	int fd __free(fd) = -1;
	const char *file __free(file) = test_file, *second __free(file) = other_file;
	char *next __free(cgroup) = create_cgroup(parent, "next");
	char *guest = create_cgroup(parent, "guest");
	struct writes owned = { .file = file, .bytes = MB(32) };
	struct writes own = { .file = second, .bytes = MB(24) };
	long bytes = MB(16);
	bool left;

	left = guest && next && !cg_run(owner, do_writes, &owned);
	sync();
	left = left && !cg_run(guest, write_foreign, &bytes) && cg_dirty(guest) >= MB(14);
	destroy_cgroup(guest);
	/* rmdir() returns before the memory controller takes it offline. */
	sleep_ms(1000);
	if (!left || cg_run(next, do_writes, &own))
		return false;
	/* Its own pages may stay: they are below the background limit. */
	fd = open(second, O_RDONLY);
	return !fsync(fd) && falls_below(parent, MB(2), 5);
}

/* Without periodic writeback, which would write them after a while. */
static int test_foreign_removed(const char *root)
{
	struct setting period __free(setting) = save_setting(PERIOD_FILE);
	char *owner __free(cgroup) = create_cgroup(root, "dirty_removed_owner");
	char *parent __free(cgroup) = create_io_parent(root, "dirty_removed");

	if (!*period.text || write_file(PERIOD_FILE, "0"))
		return KSFT_SKIP;
	if (!owner || !parent || cg_write(parent, LIMIT_FILE, "20M") ||
	    cg_write(parent, BACKGROUND_FILE, "18M"))
		return KSFT_FAIL;
	return passed(writes_inherited(parent, owner));
}

/* Writes a page to the owner's file, then has its own pages written all the time. */
static int append_and_write(const char *cgroup, void *arg)
{
	struct writes endless = { .file = other_file };
	long bytes = CHUNK;

	if (write_foreign(cgroup, &bytes))
		return KSFT_FAIL;
	return do_writes(cgroup, &endless);
}

/*
 * A limited cgroup dirties a page in a file of another cgroup's, whose flusher
 * then writes all that it has. Pages that the owner dirties afterwards stay. A
 * writer that is slower than the disk stays below its limit unpaused, and is no test.
 */
static int writes_once(const char *owner, const char *guest)
{
	const char *file __free(file) = test_file, *second __free(file) = other_file;
	pid_t pid __free(task) = -1;
	struct writes owned = { .file = file, .bytes = MB(12), .keep = true };

	if (!stays_dirty(owner, &owned))
		return KSFT_FAIL;
	pid = cg_run_nowait(guest, append_and_write, NULL);
	if (!wait_paused(guest))
		return cg_dirty(guest) <= ONCE_LIMIT ? KSFT_SKIP : KSFT_FAIL;
	if (!falls_below(owner, MB(2), 8))
		return KSFT_FAIL;
	/* The flusher may still be about to end. */
	sleep_ms(500);
	if (!stays_dirty(owner, &owned))
		return KSFT_FAIL;
	sleep_ms(2000);
	ksft_print_msg("the owner has %ld bytes dirty\n", cg_dirty(owner));
	return passed(cg_dirty(owner) >= MB(10));
}

/* Without periodic writeback, see test_aimed_writeback(). */
static int test_foreign_once(const char *root)
{
	struct setting period __free(setting) = save_setting(PERIOD_FILE);
	char *owner __free(cgroup) = create_cgroup(root, "dirty_once_owner");
	char *guest __free(cgroup) = create_cgroup(root, "dirty_once_guest");

	if (!*period.text || write_file(PERIOD_FILE, "30000"))
		return KSFT_SKIP;
	sync();
	if (!owner || !guest || cg_write_numeric(guest, LIMIT_FILE, ONCE_LIMIT))
		return KSFT_FAIL;
	slow_down(guest, 10);
	return writes_once(owner, guest);
}

static bool write_beside_hotplug(const char *cgroup)
{
	struct setting cpu1 __free(setting) = save_setting(CPU1_FILE);
	pid_t pid __free(task) = -1;
	struct writes writes = { .file = test_file };
	int i;

	pid = cg_run_nowait(cgroup, do_writes, &writes);
	for (i = 0; i < 6; i++) {
		if (write_file(CPU1_FILE, i & 1 ? "1" : "0"))
			return false;
		sleep_ms(300);
	}
	return true;
}

/* Counts that a CPU held back when it went offline are not lost. */
static int test_cpu_hotplug(const char *root)
{
	const char *file __free(file) = test_file;
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_hotplug");

	if (write_file(CPU1_FILE, "1"))
		return KSFT_SKIP;
	/* Counts for a small limit are exact. */
	return passed(cgroup && !cg_write(cgroup, LIMIT_FILE, "1G") &&
		      write_beside_hotplug(cgroup) &&
		      !cg_write(cgroup, LIMIT_FILE, "16M") && is_clean(cgroup));
}

/* Creates a cgroup, sets limits, dirties a page, and removes the cgroup. */
static bool one_cycle(const char *parent, int number)
{
	char *cgroup __free(cgroup) = create_cgroup(parent, "cycle");
	static char *const limits[] = { "1M", "max", "64M", "4096", "8M" };
	struct writes writes = { .file = other_file, .bytes = CHUNK };

	return cgroup && !cg_write(cgroup, LIMIT_FILE, limits[number % 5]) &&
	       !cg_run(cgroup, do_writes, &writes) &&
	       !cg_write(cgroup, BACKGROUND_RATIO_FILE, "10") &&
	       !cg_write(cgroup, LIMIT_FILE, limits[number % 4]);
}

static int test_cycles(const char *root)
{
	const char *file __free(file) = other_file;
	char *parent __free(cgroup) = create_io_parent(root, "dirty_cycles");
	struct leaves leaves __free(leaves) = { .nr = 4 };
	int i;

	if (!parent || cg_write(parent, LIMIT_FILE, "32M") ||
	    !start_leaves(&leaves, parent, 0))
		return KSFT_FAIL;
	for (i = 0; i < CYCLES; i++)
		if (!one_cycle(parent, i))
			return KSFT_FAIL;
	stop_leaves(&leaves);
	return passed(is_clean(parent));
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
	const char *file __free(file) = test_file;
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_trace");
	struct setting events __free(setting) = save_setting(EVENTS_FILE);
	struct writes writes = { .file = file, .bytes = MB(8) };

	if (access(EVENTS_FILE, W_OK))
		return KSFT_SKIP;
	write_file(EVENTS_FILE, "1");
	/* Only this clears the trace. */
	close(open(TRACING "/trace", O_WRONLY | O_TRUNC));
	if (!cgroup || cg_write(cgroup, LIMIT_FILE, "2M"))
		return KSFT_FAIL;
	slow_down(cgroup, 2);
	return passed(!cg_run(cgroup, do_writes, &writes) &&
		      traced("memcg_dirty_throttle: ") &&
		      traced("memcg_dirty_wakeup: "));
}

#define QUEUE_LIMIT	MB(40L)
#define QUEUE_RATE	4
#define SETTLE_MS	3000
#define SAMPLES		100
#define PART_WINDOWS	3

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

static bool few_are_queued(const char *cgroup)
{
	pid_t pid __free(task) = -1;
	struct writes endless = { .file = test_file };
	long queued = 0;
	int i;

	pid = cg_run_nowait(cgroup, do_writes, &endless);
	if (!wait_queue_limit(cgroup))
		return false;
	/* Wait until the kernel knows the flusher's rate. */
	sleep_ms(SETTLE_MS);
	for (i = 0; i < SAMPLES; i++) {
		queued += dirty_stat(cgroup, "writeback ") / SAMPLES;
		sleep_ms(20);
	}
	ksft_print_msg("%ld KiB queued\n", queued >> 10);
	return queued < QUEUE_LIMIT / 4;
}

/*
 * Most pages of a limited cgroup stay dirty, where they delay no other task,
 * and few are in the disk's queue.
 */
static int test_queue(const char *root)
{
	const char *file __free(file) = test_file;
	char *cgroup __free(cgroup) = create_cgroup(root, "wb_queue");
	bool good;

	if (!cgroup || cg_write(cgroup, LIMIT_FILE, "40M"))
		return KSFT_FAIL;
	slow_down(cgroup, QUEUE_RATE);
	good = few_are_queued(cgroup);
	slow_down(cgroup, 1000);
	return passed(good);
}

static long file_size(const char *file)
{
	struct stat st;

	return stat(file, &st) ? 0 : st.st_size;
}

/* How much of all that is written meanwhile comes from the writer of @file, in percent */
static long part_of(const char *file, const char *second)
{
	long written = file_size(file), other_written = file_size(second);

	sleep_ms(2 * SETTLE_MS);
	written = file_size(file) - written;
	other_written = file_size(second) - other_written;
	ksft_print_msg("%ld KiB with a limit, %ld KiB without\n", written >> 10,
		       other_written >> 10);
	return written * 100 / (written + other_written + 1);
}

/* Is that an eighth, in most windows? */
static bool keeps_part(const char *file, const char *second)
{
	long parts[PART_WINDOWS];
	int i;

	for (i = 0; i < PART_WINDOWS; i++)
		parts[i] = part_of(file, second);
	sort_long(parts, PART_WINDOWS);
	return parts[PART_WINDOWS / 2] * 8 >= 100;
}

/*
 * Beside a writer without a limit, which fills the disk's queue, a limited one
 * keeps its part of the disk. On a busy machine, it may lose it for seconds.
 */
static int test_crowded_queue(const char *root)
{
	const char *file __free(file) = test_file, *second __free(file) = other_file;
	char *other __free(cgroup) = create_cgroup(root, "wb_unlimited");
	char *cgroup __free(cgroup) = create_cgroup(root, "wb_limited");
	pid_t other_pid __free(task) = -1, pid __free(task) = -1;
	struct writes limited = { .file = file }, unlimited = { .file = second };

	if (!cgroup || !other || cg_write(cgroup, LIMIT_FILE, "40M"))
		return KSFT_FAIL;
	pid = cg_run_nowait(cgroup, do_writes, &limited);
	other_pid = cg_run_nowait(other, do_writes, &unlimited);
	sleep_ms(2 * SETTLE_MS);
	return passed(keeps_part(file, second));
}

static const struct memcg_test tests[] = {
	T(test_many_writers, &on_disk),
	T(test_small_limit, &on_disk),
	T(test_thousand_writers, &on_disk),
	T(test_light_sibling, &on_disk),
	T(test_large_sibling, &on_disk),
	T(test_aimed_writeback, &on_disk),
	T(test_background_only, &on_disk),
	T(test_lower, &on_disk),
	T(test_raise, &on_disk),
	T(test_one_page, &on_disk),
	T(test_reclaim, &on_disk),
	T(test_reclaim_other_lru, &on_disk),
	T(test_foreign_inode, &on_disk),
	T(test_foreign_removed, &on_disk),
	T(test_foreign_once, &on_disk),
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
