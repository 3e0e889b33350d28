// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty limits on a large machine: setting many of them, and one limit for
 * writers on many CPUs or for many writers.
 *
 *	bench.part=set|write
 *	bench.file=max|limit	what is set: memory.max, or the dirty limit
 *	bench.limit=BYTES	the limit of the writers
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

static void measure_writers(void)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), writers = number("writers", cpus), i;
	long bytes = ALL_BYTES / writers / CHUNK * CHUNK, limit = number("limit", 0);
	pid_t *pids = calloc(writers, sizeof(*pids));
	double before;

	put(TOP "/" LIMIT_FILE, option("limit", "max"));
	for (i = 0; i < writers; i++) {
		pids[i] = CHECK(fork());
		if (!pids[i])
			write_on(i % cpus, i, bytes);
	}
	sleep_ms(1000);
	before = stored();
	sleep_ms(SECONDS * 1000);
	figure((stored() - before) / 1e6 / SECONDS, "MB/s", "stored");
	figure(atof(slurp(TOP "/" PEAK_FILE)) / limit, "of_the_limit", "peak");
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
