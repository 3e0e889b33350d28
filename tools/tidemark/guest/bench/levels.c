// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of flush thresholds for tasks that change statistics: loops of page
 * faults like will-it-scale's three (1: anonymous memory, 2: a private mapping
 * of a file, 3: a shared one), by processes and by threads, four cgroups deep.
 */
#define _GNU_SOURCE
#include "bench.h"
#include <pthread.h>

#define REPEATS	5
#define ROUNDS	2
#define SIZE	(4 * MIB)

enum kind { ANONYMOUS = 1, PRIVATE, SHARED };

static enum kind kind;
static int files[64];

static void fault_all(int worker)
{
	static const int flags[] = {
		[ANONYMOUS] = MAP_PRIVATE | MAP_ANONYMOUS,
		[PRIVATE] = MAP_PRIVATE,
		[SHARED] = MAP_SHARED,
	};
	int fd = kind == ANONYMOUS ? -1 : files[worker], round;
	long at;

	for (round = 0; round < ROUNDS; round++) {
		volatile char *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, flags[kind], fd, 0);

		if (p == MAP_FAILED)
			die("mmap");
		for (at = 0; at < SIZE; at += PAGE)
			p[at] = 1;
		CHECK(munmap((void *)p, SIZE));
	}
}

static void *thread(void *worker)
{
	run_on((long)worker);
	fault_all((long)worker);
	return NULL;
}

static void with_threads(int workers)
{
	pthread_t threads[64];
	long i;

	for (i = 0; i < workers; i++)
		if (pthread_create(&threads[i], NULL, thread, (void *)i))
			die("pthread_create");
	for (i = 0; i < workers; i++)
		pthread_join(threads[i], NULL);
}

static void with_processes(int workers)
{
	pid_t pids[64];
	long i;

	for (i = 0; i < workers; i++) {
		pids[i] = CHECK(fork());
		if (!pids[i]) {
			thread((void *)i);
			_exit(0);
		}
	}
	for (i = 0; i < workers; i++)
		wait_for(pids[i]);
}

static void run(const char *name, void (*with)(int), int workers)
{
	double faults = (double)workers * ROUNDS * (SIZE / PAGE);
	int repeat;

	for (repeat = -1; repeat < REPEATS; repeat++) {
		long long start = now();

		with(workers);
		if (repeat >= 0)
			figure((now() - start) / faults, "ns", format("page_fault%d, %s", kind, name));
	}
}

int main(void)
{
	int workers = sysconf(_SC_NPROCESSORS_ONLN), i;
	const char *threshold = option("threshold", NULL);
	char *p;

	setvbuf(stdout, NULL, _IOFBF, 65536);
	if (threshold)
		put("/proc/sys/vm/memcg_stat_flush_threshold", threshold);
	enter_cgroup(make_deep_cgroup(CGROUPS "/deep", 4));
	use_seed();
	for (i = 0; i < workers; i++) {
		files[i] = CHECK(open(format("/tmp/file-%d", i), O_CREAT | O_RDWR, 0600));
		CHECK(ftruncate(files[i], SIZE));
		p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, files[i], 0);
		if (p == MAP_FAILED)
			die("mmap");
		memset(p, 1, SIZE);
		CHECK(munmap(p, SIZE));
	}
	for (kind = ANONYMOUS; kind <= SHARED; kind++) {
		run("processes", with_processes, workers);
		run("threads", with_threads, workers);
	}
	return 0;
}
