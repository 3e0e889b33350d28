// SPDX-License-Identifier: GPL-2.0
/*
 * vm.watermark_wait_timeout_ms: its values and its effect.
 *
 * The pressure comes from tasks that read a null_blk disk through mappings,
 * without readahead, which does not wait: each page of it is allocated by a fault
 * that reclaims. Most of the memory is anonymous, for as little page cache as
 * possible; with swap there is less pressure.
 *
 * PRESSURE_SECONDS in the environment is how long tasks are killed under it, on
 * each LRU.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../kselftest.h"

#define KNOB		"/proc/sys/vm/watermark_wait_timeout_ms"
#define MIN_FREE	"/proc/sys/vm/min_free_kbytes"
#define LRU_GEN		"/sys/kernel/mm/lru_gen/enabled"
#define NULLB		"/sys/kernel/config/nullb/watermark_wait"
#define DISK		"/dev/watermark_wait"
#define DEFAULT_MS	0
#define WAIT_MS		20
#define MAX_MS		1000
#define TASKS		8
#define ROUNDS		20
#define ROUND_USEC	100000
#define FILL_ROUNDS	3000	/* enough for a slow machine */
#define DISK_MB		"4096"
#define MIB		1048576UL
#define LEFT_BYTES	(160 * MIB)	/* that the hog leaves to page cache */
#define PRESSURE_SECONDS	4
#define TRIES		15	/* on a slow machine, until something happens */
#define GROWERS		2
#define GROWN_BYTES	(16 * MIB)
#define GONE_SECONDS	10
#define SMALL_ZONE	16384	/* pages; the zone for DMA has fewer, and is soon used up */

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static long read_long(const char *path)
{
	FILE *file = fopen(path, "r");
	long value = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%li", &value) != 1)
		value = -1;
	fclose(file);
	return value;
}

static long keyed(const char *path, const char *key)
{
	FILE *file = fopen(path, "r");
	long value = -1, number;
	char name[64];

	while (file && fscanf(file, "%63s %ld%*[^\n]", name, &number) == 2)
		if (!strcmp(name, key))
			value = number;
	if (file)
		fclose(file);
	return value;
}

static long vmstat_count(const char *key)
{
	return keyed("/proc/vmstat", key);
}

static int write_long(const char *path, long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", value);
	return write_text(path, text);
}

static void set_long(const char *path, long value)
{
	if (write_long(path, value))
		ksft_exit_fail_msg("%s: %ld refused\n", path, value);
}

/* Values */

static void test_default(long value)
{
	ksft_test_result(value == DEFAULT_MS, "default: %ld\n", value);
}

static void test_valid(void)
{
	static const long values[] = { 0, 1, WAIT_MS, MAX_MS };
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		set_long(KNOB, values[i]);
		ok = ok && read_long(KNOB) == values[i];
	}
	ksft_test_result(ok, "valid values\n");
}

static void test_invalid(void)
{
	static const char *const values[] = { "-1", "1001", "4294967296", "x", "20x" };
	bool ok = true;
	size_t i;

	set_long(KNOB, 7);
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		int err = write_text(KNOB, values[i]);

		if (err != -EINVAL || read_long(KNOB) != 7) {
			ksft_print_msg("%s: error %d, value %ld\n", values[i],
				       err, read_long(KNOB));
			ok = false;
		}
	}
	ksft_test_result(ok, "invalid values are refused and change nothing\n");
}

static void test_counters(void)
{
	ksft_test_result(vmstat_count("watermark_wait") >= 0 &&
			 vmstat_count("watermark_wait_woken") >= 0 &&
			 vmstat_count("watermark_wait_timeout") >= 0 &&
			 vmstat_count("watermark_wait_usec") >= 0, "vmstat\n");
}

/* Effect */

static int disk_create(void)
{
	if (mkdir(NULLB, 0755))
		return -1;
	if (write_text(NULLB "/size", DISK_MB) || write_text(NULLB "/power", "1"))
		return -1;
	return access(DISK, R_OK);
}

static void disk_remove(void)
{
	write_text(NULLB "/power", "0");
	rmdir(NULLB);
}

static void hog(int ready)
{
	long bytes = keyed("/proc/meminfo", "MemAvailable:") * 1024 - LEFT_BYTES;
	char *memory;

	if (bytes <= 0)
		_exit(1);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED || write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void reader(int number)
{
	unsigned long part = atol(DISK_MB) / TASKS * MIB, at;
	int fd = open(DISK, O_RDONLY);
	char *memory = mmap(NULL, part, PROT_READ, MAP_SHARED, fd, number * part);

	if (memory == MAP_FAILED || madvise(memory, part, MADV_RANDOM))
		_exit(1);
	for (at = 0;; at = (at + 4096) % part)
		asm volatile("" : : "r" (memory[at]));
}

static void spinner(void)
{
	for (;;)
		asm volatile("");
}

/* Takes memory, gives it back, takes it again. */
static void grower(void)
{
	char *memory = mmap(NULL, GROWN_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long at;

	if (memory == MAP_FAILED)
		_exit(1);
	for (;;) {
		for (at = 0; at < GROWN_BYTES; at += 4096)
			memory[at] = 1;
		madvise(memory, GROWN_BYTES, MADV_DONTNEED);
	}
}

/* A child that goes with its parent. */
static pid_t spawn(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		ksft_exit_fail_msg("fork\n");
	if (!pid && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent))
		_exit(1);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

struct counts {
	long waits, woken, timeouts, usec, stalls;
};

static struct counts counts(void)
{
	return (struct counts) {
		.waits = vmstat_count("watermark_wait"),
		.woken = vmstat_count("watermark_wait_woken"),
		.timeouts = vmstat_count("watermark_wait_timeout"),
		.usec = vmstat_count("watermark_wait_usec"),
		.stalls = vmstat_count("pgsteal_direct"),
	};
}

static long free_kb(void)
{
	return keyed("/proc/meminfo", "MemFree:");
}

/* Until the readers have filled the memory that is left, and reclaim runs. */
static void wait_for_reclaim(void)
{
	long before = vmstat_count("pgsteal_kswapd");
	int i;

	for (i = 0; i < FILL_ROUNDS; i++) {
		if (vmstat_count("pgsteal_kswapd") > before)
			return;
		usleep(ROUND_USEC);
	}
	ksft_exit_fail_msg("no reclaim\n");
}

/*
 * Waits until the readers have used about as much as was freed for a raised
 * watermark: on a slow machine, memory would not be short at the next one otherwise.
 * Counts the pages that they have read. The free pages need not come back to @free:
 * kswapd stops and starts at watermarks that are further apart, and may boost them.
 */
static void wait_for_readers(long free)
{
	long freed = free_kb() - free - free / 8, read = vmstat_count("pgpgin");
	int i;

	for (i = 0; i < FILL_ROUNDS && vmstat_count("pgpgin") - read < freed; i++)
		usleep(ROUND_USEC / 10);
}

/* Of a zone, in pages. A task that may use a higher zone leaves the reserve. */
struct zone_pages {
	long managed, reserve, free, cache;
};

/*
 * Which part of a zone to keep free for a task to find less than that, but not
 * less than it can reclaim there. Otherwise it would get a page at once, or never.
 */
static double raised_part(const struct zone_pages *zone)
{
	long free = zone->free - zone->reserve;

	if (zone->managed < SMALL_ZONE || free < 0)
		return 0;
	return (free + (free < zone->cache ? free : zone->cache) / 4.0) /
	       zone->managed;
}

static void read_zone_line(const char *line, struct zone_pages *zone)
{
	char key[64];
	long value;

	if (strstr(line, "protection: "))
		zone->reserve = atol(strrchr(line, ' '));
	if (sscanf(line, "%63s %ld", key, &value) != 2)
		return;
	if (!strcmp(key, "managed"))
		zone->managed = value;
	else if (!strcmp(key, "nr_free_pages"))
		zone->free = value;
	else if (!strcmp(key, "nr_zone_active_file") ||
		 !strcmp(key, "nr_zone_inactive_file"))
		zone->cache += value;
}

/*
 * Each zone keeps the same part of its pages free, but some have more free pages
 * than others, and a task takes them from there: above the most that any has.
 */
static long raised_kb(void)
{
	struct zone_pages zone = {};
	FILE *file = fopen("/proc/zoneinfo", "r");
	double most = 0;
	long managed = 0;
	char line[256];

	if (!file)
		ksft_exit_fail_msg("no /proc/zoneinfo\n");
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "Node ", strlen("Node ")))
			zone = (struct zone_pages) {};
		read_zone_line(line, &zone);
		if (strstr(line, "  start_pfn:")) {
			managed += zone.managed;
			if (raised_part(&zone) > most)
				most = raised_part(&zone);
		}
	}
	fclose(file);
	return most * managed * (getpagesize() / 1024);
}

/* Raises the watermark above the free pages at times, for @scale times as long. */
static void shake(long min_free, long free, unsigned int scale)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		set_long(MIN_FREE, raised_kb());
		usleep(scale * ROUND_USEC);
		set_long(MIN_FREE, min_free);
		wait_for_readers(free);
	}
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* The longest that one of them took to go. */
static double kill_growers(unsigned int usec)
{
	double longest = 0, start;
	pid_t pids[GROWERS];
	int i;

	for (i = 0; i < GROWERS; i++) {
		pids[i] = spawn();
		if (!pids[i])
			grower();
	}
	usleep(usec);
	for (i = 0; i < GROWERS; i++) {
		start = seconds_now();
		stop(pids[i]);
		if (seconds_now() - start > longest)
			longest = seconds_now() - start;
	}
	return longest;
}

static double slowest_kill;

/*
 * Tasks come and are killed, beside one that wants the CPU; the watermark moves.
 * For @scale times as long, too: on a slow machine, few rounds fit into a try.
 */
static void kill_under_pressure(long min_free, long free, unsigned int scale)
{
	const char *text = getenv("PRESSURE_SECONDS");
	double end = seconds_now() +
		     scale * (text ? atoi(text) : PRESSURE_SECONDS);
	pid_t hot = spawn();
	double took;

	if (!hot)
		spinner();
	srand(1);
	while (seconds_now() < end) {
		set_long(MIN_FREE, raised_kb());
		took = kill_growers(rand() % (scale * ROUND_USEC));
		set_long(MIN_FREE, min_free);
		wait_for_readers(free);
		if (took > slowest_kill)
			slowest_kill = took;
	}
	stop(hot);
}

/*
 * Returns the counts while memory was short, until @awaited was among them. On a
 * slow machine, a watermark that does not stay up for longer than it takes a task
 * to reclaim once makes no task wait; so each try lets it stay for longer. The
 * counts are read one after the other, when no task waits.
 */
static struct counts pressure(void (*load)(long min_free, long free, unsigned int scale),
			      const char *awaited)
{
	pid_t tasks[TASKS], hog_pid;
	struct counts before, after;
	long min_free = read_long(MIN_FREE), free, seen;
	int ready[2], i;
	char c;

	if (pipe(ready))
		ksft_exit_fail_msg("pipe\n");
	hog_pid = spawn();
	if (!hog_pid)
		hog(ready[1]);
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		ksft_exit_fail_msg("no memory to fill\n");
	close(ready[0]);
	before = counts();
	for (i = 0; i < TASKS; i++) {
		tasks[i] = spawn();
		if (!tasks[i])
			reader(i);
	}
	wait_for_reclaim();
	free = free_kb();
	seen = vmstat_count(awaited);
	for (i = 0; i < TRIES && vmstat_count(awaited) == seen; i++)
		load(min_free, free, i + 1);
	for (i = 0; i < TASKS; i++)
		stop(tasks[i]);
	stop(hog_pid);
	after = counts();
	after.waits -= before.waits;
	after.woken -= before.woken;
	after.timeouts -= before.timeouts;
	after.usec -= before.usec;
	after.stalls -= before.stalls;
	ksft_print_msg("%ld pages by direct reclaim; %ld waits, %ld woken, %ld timed out, %ld us\n",
		       after.stalls, after.waits, after.woken, after.timeouts,
		       after.usec);
	return after;
}

static void test_effect(const char *lru, const char *name)
{
	struct counts on, off, killed;

	if (lru && write_text(LRU_GEN, lru)) {
		ksft_test_result_skip("%s: no lru_gen\n", name);
		ksft_test_result_skip("%s: no lru_gen\n", name);
		ksft_test_result_skip("%s: no lru_gen\n", name);
		return;
	}
	set_long(KNOB, 0);
	off = pressure(shake, "pgsteal_direct");
	ksft_test_result(off.stalls > 0 && off.waits == 0,
			 "%s: no task waits with 0\n", name);
	set_long(KNOB, WAIT_MS);
	on = pressure(shake, "watermark_wait_woken");
	ksft_test_result(on.waits > 0 && on.woken > 0 &&
			 on.woken + on.timeouts <= on.waits && on.usec > 0,
			 "%s: tasks wait and are woken\n", name);
	set_long(KNOB, MAX_MS);
	slowest_kill = 0;
	killed = pressure(kill_under_pressure, "watermark_wait");
	ksft_print_msg("the slowest was gone after %.3f s\n", slowest_kill);
	ksft_test_result(killed.waits > 0 && slowest_kill < GONE_SECONDS,
			 "%s: tasks that are killed go\n", name);
}

/* The settings before the test. */
static struct {
	pid_t pid;
	long knob, min_free, lru;
} before;

static void restore(void)
{
	if (getpid() != before.pid)
		return;
	write_long(MIN_FREE, before.min_free);
	write_long(KNOB, before.knob);
	if (before.lru >= 0)
		write_long(LRU_GEN, before.lru);
	disk_remove();
}

int main(void)
{
	long value = read_long(KNOB);

	ksft_print_header();
	if (value < 0)
		ksft_exit_skip("no %s\n", KNOB);
	if (geteuid())
		ksft_exit_skip("not root\n");
	ksft_set_plan(10);
	before.pid = getpid();
	before.knob = value;
	before.min_free = read_long(MIN_FREE);
	before.lru = read_long(LRU_GEN);
	atexit(restore);
	test_default(value);
	test_valid();
	test_invalid();
	test_counters();
	if (disk_create())
		ksft_exit_fail_msg("no null_blk from configfs\n");
	test_effect("0", "classic LRU");
	test_effect("7", "MGLRU");
	ksft_finished();
}
