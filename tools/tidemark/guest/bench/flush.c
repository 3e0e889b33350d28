// SPDX-License-Identifier: GPL-2.0
/*
 * Reads of memory.stat with a flush threshold: how far off the numbers are, how
 * long a read takes, and how many reads flush.
 *
 *	bench.threshold=N	vm.memcg_stat_flush_threshold
 *	bench.part=error	after pages were touched on all CPUs in turn
 *	bench.part=busy		while every CPU changes the statistics
 *	bench.part=idle		of 1000 cgroups in which nothing happens
 */
#define _GNU_SOURCE
#include "bench.h"

#define CGROUP	CGROUPS "/deep"
#define TRACING	"/sys/kernel/tracing"
/* The period of the kernel's own flush, and a time in which one completes. */
#define FLUSH_MS	2000
#define PERIOD_MS	5000
#define ROUNDS		20

static int cpus;

static long anon_pages(const char *cgroup)
{
	return value_in(format("%s/memory.stat", cgroup), "anon") / PAGE;
}

/* The difference between a read now and one after the periodic flush. */
static long error_now(const char *cgroup)
{
	long shown = anon_pages(cgroup);

	sleep_ms(PERIOD_MS);
	return labs(anon_pages(cgroup) - shown);
}

static void touch_on_each_cpu(char *p, long size, bool drop)
{
	long share = size / cpus, at;
	int cpu;

	for (cpu = 0; cpu < cpus; cpu++) {
		char *part = p + cpu * share;

		run_on(cpu);
		for (at = 0; at < share && !drop; at += PAGE)
			part[at] = 1;
		if (drop)
			CHECK(madvise(part, share, MADV_DONTNEED));
	}
}

static void toucher(const char *cgroup, long size, int orders, int reports)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char order;

	if (p == MAP_FAILED)
		die("mmap");
	enter_cgroup(cgroup);
	while (read(orders, &order, 1) == 1) {
		touch_on_each_cpu(p, size, order == 'd');
		CHECK(write(reports, "d", 1));
	}
	_exit(0);
}

static void measure_error(const char *cgroup, long mib)
{
	int orders[2], reports[2], round;
	long error, sum = 0, worst = 0;
	char report;
	pid_t pid;

	CHECK(pipe(orders));
	CHECK(pipe(reports));
	pid = CHECK(fork());
	if (!pid) {
		close(orders[1]);
		toucher(cgroup, mib * MIB, orders[0], reports[1]);
	}
	close(orders[0]);
	for (round = 0; round < ROUNDS; round++) {
		/* Each round is at another phase of the periodic flush. */
		sleep_ms(FLUSH_MS * round / ROUNDS);
		CHECK(write(orders[1], round % 2 ? "d" : "t", 1));
		CHECK(read(reports[0], &report, 1));
		error = error_now(cgroup);
		sum += error;
		worst = error > worst ? error : worst;
	}
	close(orders[1]);
	close(reports[0]);
	close(reports[1]);
	wait_for(pid);
	figure(worst, "pages", format("worst error, %ld MiB touched on all CPUs", mib));
	figure(100.0 * sum / ROUNDS / (mib * MIB / PAGE), "%",
	       format("share of %ld MiB that a reader misses", mib));
}

static void updater(const char *cgroup, int cpu)
{
	long at;

	run_on(cpu);
	enter_cgroup(cgroup);
	for (;;) {
		char *p = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			die("mmap");
		for (at = 0; at < MIB; at += PAGE)
			p[at] = 1;
		CHECK(munmap(p, MIB));
	}
}

/* Other memory in the cgroup: the larger, the smaller the part that changes. */
static pid_t fill(const char *cgroup, long mib)
{
	char *ready = map_shared(PAGE);
	pid_t pid = CHECK(fork());

	if (!pid) {
		char *p = mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		enter_cgroup(cgroup);
		if (p == MAP_FAILED)
			die("mmap");
		memset(p, 1, mib * MIB);
		*ready = 1;
		for (;;)
			pause();
	}
	while (!*(volatile char *)ready)
		sleep_ms(10);
	return pid;
}

static void count_flushes(bool on)
{
	static const char *const flushes[] = { "cgroup_rstat_flush", "css_rstat_flush" };

	if (on && !try_put(TRACING "/set_ftrace_filter", flushes[0]))
		put(TRACING "/set_ftrace_filter", flushes[1]);
	put(TRACING "/current_tracer", on ? "function" : "nop");
}

/* Events that are in the ring buffers, or were and have been overwritten. */
static long traced(void)
{
	long events = 0;
	int cpu;

	for (cpu = 0; cpu < cpus; cpu++) {
		const char *stats = format(TRACING "/per_cpu/cpu%d/stats", cpu);

		events += value_in(stats, "entries:") + value_in(stats, "overrun:");
	}
	return events;
}

static long read_for_ms(const char *cgroup, long ms)
{
	long long end = now() + ms * 1000000LL;
	long reads = 0;

	while (now() < end) {
		anon_pages(cgroup);
		reads++;
	}
	return reads;
}

static void stop(pid_t *pids, int count)
{
	while (count--) {
		kill(pids[count], SIGKILL);
		waitpid(pids[count], NULL, 0);
	}
}

static void measure_busy(const char *cgroup, long mib)
{
	pid_t pids[65];
	long reads, before;
	int cpu;

	pids[cpus] = fill(cgroup, mib);
	for (cpu = 0; cpu < cpus; cpu++) {
		pids[cpu] = CHECK(fork());
		if (!pids[cpu])
			updater(cgroup, cpu);
	}
	sleep_ms(200);
	reads = read_for_ms(cgroup, 1000);
	figure(1e6 / reads, "us", format("read of memory.stat, %ld MiB", mib));
	count_flushes(true);
	before = traced();
	reads = read_for_ms(cgroup, 500);
	figure(1000.0 * (traced() - before) / reads, "flushes",
	       format("in 1000 reads, %ld MiB", mib));
	count_flushes(false);
	stop(pids, cpus + 1);
}

static void measure_idle(void)
{
	enum { COUNT = 1000 };
	int round, i;
	pid_t pid;

	for (i = 0; i < COUNT; i++) {
		const char *cgroup = make_cgroup(format(CGROUPS "/idle-%d", i));

		pid = CHECK(fork());
		if (!pid) {
			char *p;

			enter_cgroup(cgroup);
			p = malloc(25 * PAGE);
			memset(p, 1, 25 * PAGE);
			_exit(*p == 1 ? 0 : 1);
		}
		wait_for(pid);
	}
	sleep_ms(PERIOD_MS);
	for (round = -1; round < 3; round++) {
		long long start = now();

		for (i = 0; i < COUNT; i++)
			anon_pages(format(CGROUPS "/idle-%d", i));
		if (round >= 0)
			figure((now() - start) / 1e3 / COUNT, "us", "read of memory.stat, 1000 idle cgroups");
	}
}

int main(void)
{
	const char *threshold = option("threshold", NULL);
	const char *part = option("part", "error");
	const char *cgroup;
	long mib;

	setvbuf(stdout, NULL, _IOFBF, 65536);
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (threshold)
		put("/proc/sys/vm/memcg_stat_flush_threshold", threshold);
	cgroup = make_deep_cgroup(CGROUP, 4);
	use_seed();
	if (!strcmp(part, "error"))
		for (mib = 1; mib <= 64; mib *= 4)
			measure_error(cgroup, mib);
	if (!strcmp(part, "busy")) {
		measure_busy(cgroup, 4);
		measure_busy(cgroup, 256);
	}
	if (!strcmp(part, "idle"))
		measure_idle();
	return 0;
}
