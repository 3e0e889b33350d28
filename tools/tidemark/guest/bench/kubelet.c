// SPDX-License-Identifier: GPL-2.0
/*
 * A node of a cluster: 2011 cgroups four levels deep, 200 of them busy. One reader
 * sweeps all memory.stat files every 10 s, as kubelet and cadvisor do, another one
 * reads 20 of them every second, as systemd-oomd does.
 *
 *	bench.threshold=N	vm.memcg_stat_flush_threshold
 */
#define _GNU_SOURCE
#include "bench.h"

#define TOP		CGROUPS "/kubelet"
#define NR_SLICES	10
#define NR_PODS		10
#define NR_CONTAINERS	19
#define NR_LEAVES	(NR_SLICES * NR_PODS * NR_CONTAINERS)
#define NR_BUSY		200
#define NR_WATCHED	20
#define NR_SWEEPS	3
#define SWEEP_SECONDS	10
#define BUSY_PAGES	32
#define BUSY_PAUSE_MS	200
#define PROBE_PAGES	1024
#define PROBE_STEP	8
/* Longer than it takes until all is flushed in the background. */
#define SETTLE_MS	5000

/* What the tasks have measured, in memory that they share. */
struct shared {
	long long fault_ns;
	long faults;
	long worst_error;
	long reads;
	long long read_ns[NR_SWEEPS * SWEEP_SECONDS * NR_WATCHED];
};

static struct shared *shared;
static pid_t pids[NR_BUSY + 2];
static int nr_pids;

static const char *leaf(int i)
{
	int pod = i / NR_CONTAINERS;

	return format(TOP "/%d/%d/%d", pod / NR_PODS, pod % NR_PODS, i % NR_CONTAINERS);
}

/* Busy cgroups are spread over the tree. */
static const char *busy_leaf(int i)
{
	return leaf(i * (NR_LEAVES / NR_BUSY));
}

static const char *make_parent(const char *path)
{
	put(format("%s/cgroup.subtree_control", make_cgroup(path)), "+memory");
	return path;
}

static void make_tree(void)
{
	int i, j;

	make_parent(TOP);
	for (i = 0; i < NR_SLICES; i++) {
		make_parent(format(TOP "/%d", i));
		for (j = 0; j < NR_PODS; j++)
			make_parent(format(TOP "/%d/%d", i, j));
	}
	for (i = 0; i < NR_LEAVES; i++)
		make_cgroup(leaf(i));
}

static char *map_pages(long pages)
{
	char *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static void touch(char *p, long pages)
{
	long i;

	for (i = 0; i < pages; i++)
		p[i * PAGE] = 1;
}

static void be_busy(int i)
{
	enter_cgroup(busy_leaf(i));
	sleep_ms(i * BUSY_PAUSE_MS / NR_BUSY);
	for (;;) {
		char *p = map_pages(BUSY_PAGES);
		long long start = now();

		touch(p, BUSY_PAGES);
		__atomic_add_fetch(&shared->fault_ns, now() - start, __ATOMIC_RELAXED);
		__atomic_add_fetch(&shared->faults, BUSY_PAGES, __ATOMIC_RELAXED);
		CHECK(munmap(p, BUSY_PAGES * PAGE));
		sleep_ms(BUSY_PAUSE_MS);
	}
}

/* The second reader: some cgroups, every second. */
static void watch(int nr UNUSED)
{
	long long next = now(), start;
	int i;

	for (;; next += NSEC_PER_SEC) {
		sleep_until(next);
		for (i = 0; i < NR_WATCHED; i++) {
			const char *path = format("%s/memory.stat",
						  busy_leaf(i * (NR_BUSY / NR_WATCHED)));

			start = now();
			value_in(path, "anon");
			if (shared->reads < NR_SWEEPS * SWEEP_SECONDS * NR_WATCHED)
				shared->read_ns[shared->reads++] = now() - start;
		}
	}
}

/* How far off is a reader that knows the truth? On each CPU in turn. */
static void probe(int nr UNUSED)
{
	const char *stat = strdup(format("%s/memory.stat", leaf(1)));
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), pages, before, error;
	char *p = map_pages(PROBE_PAGES);

	enter_cgroup(leaf(1));
	for (;;) {
		sleep_ms(SETTLE_MS);
		before = value_in(stat, "anon") / PAGE;
		for (pages = PROBE_STEP; pages <= PROBE_PAGES; pages += PROBE_STEP) {
			run_on(pages / PROBE_STEP % cpus);
			touch(p + (pages - PROBE_STEP) * PAGE, PROBE_STEP);
			error = labs(before + pages - value_in(stat, "anon") / PAGE);
			if (error > shared->worst_error)
				shared->worst_error = error;
		}
		CHECK(madvise(p, PROBE_PAGES * PAGE, MADV_DONTNEED));
	}
}

static void start(void (*work)(int), int i)
{
	pid_t pid = CHECK(fork());

	if (!pid) {
		work(i);
		_exit(1);
	}
	pids[nr_pids++] = pid;
}

static long long sweep(void)
{
	long long start = now();
	int i, j;

	value_in(TOP "/memory.stat", "anon");
	for (i = 0; i < NR_SLICES; i++) {
		value_in(format(TOP "/%d/memory.stat", i), "anon");
		for (j = 0; j < NR_PODS; j++)
			value_in(format(TOP "/%d/%d/memory.stat", i, j), "anon");
	}
	for (i = 0; i < NR_LEAVES; i++)
		value_in(format("%s/memory.stat", leaf(i)), "anon");
	return now() - start;
}

static int compare(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

static void report(void)
{
	long n = shared->reads;

	qsort(shared->read_ns, n, sizeof(shared->read_ns[0]), compare);
	figure(shared->read_ns[n / 2] / 1e3, "us", "one read, median");
	figure(shared->read_ns[n - 1 - n / 100] / 1e3, "us", "one read, p99");
	figure(1.0 * shared->fault_ns / shared->faults, "ns", "a page fault in a busy cgroup");
	figure(shared->worst_error, "pages", "worst error of a cgroup with 4 MiB");
}

int main(void)
{
	const char *threshold = option("threshold", NULL);
	int i;

	setvbuf(stdout, NULL, _IOFBF, 65536);
	shared = map_shared(sizeof(*shared));
	if (threshold)
		put("/proc/sys/vm/memcg_stat_flush_threshold", threshold);
	make_tree();
	use_seed();
	for (i = 0; i < NR_BUSY; i++)
		start(be_busy, i);
	start(watch, 0);
	start(probe, 0);
	for (i = 0; i < NR_SWEEPS; i++) {
		sleep_ms(SWEEP_SECONDS * 1000);
		figure(sweep() / 1e6, "ms", "a sweep of 2011 cgroups");
	}
	for (i = 0; i < nr_pids; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	report();
	return 0;
}
