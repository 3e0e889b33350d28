// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty limits on a large machine: setting many of them, and one limit for
 * writers on many CPUs or for many writers.
 *
 *	bench.part=set|write
 *	bench.file=max|limit	what is set: memory.max, or the dirty limit
 *	bench.limit=BYTES	the limit of the writers; without dirty limits, memory.max
 *				is ten times that, and vm.dirty_ratio a tenth
 *	bench.writers=N		their number; else, one for each CPU
 */
#define _GNU_SOURCE
#include "bench.h"

#define NR_CGROUPS	10000
#define NR_THOUSANDS	10
#define TOP		CGROUPS "/scale"
#define MAX_FILE	"memory.max"
#define LIMIT_FILE	"memory.dirty_limit_in_bytes"
#define PEAK_FILE	"memory.dirty_peak"
#define CHUNK		65536
#define ALL_BYTES	(192 * MIB)
#define SECONDS		5
#define SAMPLE_MS	50
/* With less, the charges that 64 CPUs make in advance fill memory.max. */
#define MAX_LIMITS	10
#define SECTOR		512

static char chunk[CHUNK];
static int *stop;

static const char *member(int i)
{
	return format("%s/%d/%d", TOP, i % NR_THOUSANDS, i / NR_THOUSANDS);
}

static double make_all(void)
{
	long long begun = now();
	int i;

	put(TOP "/cgroup.subtree_control", "+memory");
	for (i = 0; i < NR_THOUSANDS; i++) {
		make_cgroup(format("%s/%d", TOP, i));
		put(format("%s/%d/cgroup.subtree_control", TOP, i), "+memory");
	}
	for (i = 0; i < NR_CGROUPS; i++)
		make_cgroup(member(i));
	return (now() - begun) / 1e6;
}

static double set_all(const char *file, const char *value)
{
	long long begun = now();
	int i;

	for (i = 0; i < NR_CGROUPS; i++)
		put(format("%s/%s", member(i), file), value);
	return (now() - begun) / 1e6;
}

static void measure_setting(void)
{
	const char *file = strcmp(option("file", "max"), "limit") ? MAX_FILE : LIMIT_FILE;

	figure(make_all(), "ms", "mkdir");
	figure(set_all(file, "64M"), "ms", "first values");
	figure(set_all(file, "4M"), "ms", "smaller values");
	figure(set_all(file, "64M"), "ms", "larger values");
	put(format("%s/%s", TOP, file), "1G");
	figure(set_all(file, "4M"), "ms", "smaller values below a limit");
}

/* Overwrites its own file again and again. */
static void write_on(int cpu, int writer, long bytes)
{
	int fd = CHECK(open(format("/disk/%d", writer), O_CREAT | O_WRONLY, 0600));
	long at;

	run_on(cpu);
	enter_cgroup(TOP);
	while (!is_set(stop))
		for (at = 0; at < bytes && !is_set(stop); at += CHUNK)
			if (pwrite(fd, chunk, CHUNK, at) != CHUNK)
				die("pwrite");
	_exit(0);
}

/* Bytes that the disk has stored. */
static double stored(void)
{
	long long sectors;

	if (sscanf(slurp("/sys/block/nullb0/stat"), "%*s %*s %*s %*s %*s %*s %lld",
		   &sectors) != 1)
		die("stat");
	return (double)sectors * SECTOR;
}

static bool has_limits(void)
{
	return !access(TOP "/" LIMIT_FILE, F_OK);
}

static void set_limit(long limit)
{
	if (has_limits()) {
		put(TOP "/" LIMIT_FILE, format("%ld", limit));
		return;
	}
	put(TOP "/" MAX_FILE, format("%ld", MAX_LIMITS * limit));
	put("/proc/sys/vm/dirty_ratio", format("%d", 100 / MAX_LIMITS));
}

/* Waits, and returns the most bytes that are dirty or under writeback meanwhile. */
static double peak_over(int ms)
{
	long long end = now() + ms * 1000000LL, bytes, peak = 0;

	for (; now() < end; sleep_ms(SAMPLE_MS)) {
		bytes = value_in(TOP "/memory.stat", "file_dirty");
		bytes += value_in(TOP "/memory.stat", "file_writeback");
		peak = bytes > peak ? bytes : peak;
	}
	return has_limits() ? atof(slurp(TOP "/" PEAK_FILE)) : peak;
}

static void measure_writers(void)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), writers = number("writers", cpus), i;
	long bytes = ALL_BYTES / writers / CHUNK * CHUNK, limit = number("limit", 0);
	pid_t *pids = calloc(writers, sizeof(*pids));
	double before, peak;

	set_limit(limit);
	for (i = 0; i < writers; i++) {
		pids[i] = CHECK(fork());
		if (!pids[i])
			write_on(i % cpus, i, bytes);
	}
	sleep_ms(1000);
	before = stored();
	peak = peak_over(SECONDS * 1000);
	figure((stored() - before) / 1e6 / SECONDS, "MB/s", "stored");
	figure(peak / limit, "of_the_limit", "peak");
	set_flag(stop);
	for (i = 0; i < writers; i++)
		wait_for(pids[i]);
}

int main(void)
{
	use_seed();
	put(CGROUPS "/cgroup.subtree_control", "+memory +io");
	make_cgroup(TOP);
	stop = map_shared(sizeof(*stop));
	if (!strcmp(option("part", "write"), "set"))
		measure_setting();
	else
		measure_writers();
	return 0;
}
