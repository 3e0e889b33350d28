// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks that wait because of a memory cgroup: at memory.high, at memory.max
 * with all pages dirty, and for the memory of an OOM victim.
 *
 *	bench.at=high|max|oom	where they wait
 *	bench.lru=0|1		classic, MGLRU
 */
#define _GNU_SOURCE
#include "bench.h"

#define CGROUP		CGROUPS "/waits"
#define PIECE		(256L << 10)
#define HIGH		(64 * MIB)

/* One task above memory.high, and one that frees memory. */
#define NR_ROUNDS	9
#define HELD		(56 * MIB)
#define FREED		(48 * MIB)
#define EXCEEDING	(18 * MIB)
#define DELAY_MS	3500

/* Requests that arrive at fixed times, so that a slow one delays those behind it. */
#define NR_WORKERS	8
#define NR_REQUESTS	40
#define REQUEST		(9 * MIB)
#define WORKING_SET	(16 * MIB)
#define PERIOD_MS	250
#define HOLD_MS		100
#define SAMPLE_MS	2

/*
 * A writer at memory.max, on a machine with page cache of others. It is clean, and more
 * than the writer's pages: otherwise reclaim sleeps for the disk by itself.
 */
#define MAX		"24M"
#define CHUNK		(64L << 10)
#define NR_CHUNKS	1280
#define NR_WRITERS	4
#define CACHE		(128 * MIB)

/* All hogs but one fit beside the bystanders; in a chain, no two hogs fit. */
#define NR_KILLS	8
#define NR_HOGS		3
#define HOG		(60 * MIB)
#define BYSTANDER	(4 * MIB)
#define OOM_MAX		"160M"
#define NR_CHAIN	6
#define CHAIN_MAX	"64M"
#define OOM_MS		20000

struct shared {
	int held, go, done, over;
	long long freed_at, done_at;
	double excess;
	double ms[NR_WORKERS * NR_REQUESTS];
	double writes[NR_WRITERS * NR_CHUNKS];
};

static struct shared *shared;

static char *take(long bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long at;

	if (p == MAP_FAILED)
		die("mmap");
	for (at = 0; at < bytes; at += PAGE)
		p[at] = 1;
	return p;
}

static void await(const int *flag, int value)
{
	while (__atomic_load_n(flag, __ATOMIC_SEQ_CST) < value)
		sleep_ms(1);
}

static void count_up(int *counter)
{
	__atomic_add_fetch(counter, 1, __ATOMIC_SEQ_CST);
}

static pid_t fork_into(const char *cgroup)
{
	pid_t pid = CHECK(fork());

	if (!pid)
		enter_cgroup(cgroup);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0));
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void figures(double *ms, int n, const char *name)
{
	if (!n)
		return;
	qsort(ms, n, sizeof(*ms), compare);
	figure(ms[n / 2], "ms", format("%s, p50", name));
	figure(ms[n - 1 - n / 100], "ms", format("%s, p99", name));
	figure(ms[n - 1], "ms", format("%s, slowest", name));
}

static pid_t start_holder(long bytes)
{
	pid_t pid = fork_into(CGROUP);
	char *p;

	if (pid) {
		await(&shared->held, 1);
		return pid;
	}
	p = take(bytes);
	count_up(&shared->held);
	await(&shared->go, 1);
	shared->freed_at = now();
	munmap(p, FREED);
	pause();
	_exit(0);
}

/* The time that a task goes on sleeping after the excess has gone. */
static double time_asleep(int round)
{
	pid_t holder, pid;
	long bytes;

	memset(shared, 0, sizeof(*shared));
	holder = start_holder(HELD);
	pid = fork_into(CGROUP);
	if (!pid) {
		for (bytes = 0; bytes < EXCEEDING; bytes += PIECE)
			take(PIECE);
		shared->done_at = now();
		_exit(0);
	}
	sleep_ms(DELAY_MS + 100 * round);
	count_up(&shared->go);
	wait_for(pid);
	stop(holder);
	return (shared->done_at - shared->freed_at) / 1e6;
}

static void measure_sleep(void)
{
	double ms[NR_ROUNDS];
	int i;

	for (i = 0; i < NR_ROUNDS; i++)
		ms[i] = time_asleep(i);
	qsort(ms, NR_ROUNDS, sizeof(*ms), compare);
	figure(ms[NR_ROUNDS / 2], "ms", "memory.high, asleep after memory was freed, p50");
	figure(ms[NR_ROUNDS - 1], "ms", "memory.high, asleep after memory was freed, slowest");
}

static void serve_requests(int worker, long long start)
{
	unsigned int state = worker + 1;
	long long due;
	char *p;
	long at;
	int i;

	for (i = 0; i < NR_REQUESTS; i++) {
		state = state * 1103515245 + 12345;
		due = start + (i * PERIOD_MS + (state >> 16) % PERIOD_MS) * 1000000LL;
		sleep_until(due);
		p = mmap(NULL, REQUEST, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			die("mmap");
		for (at = 0; at < REQUEST; at += PAGE)
			p[at] = 1;
		shared->ms[worker * NR_REQUESTS + i] = (now() - due) / 1e6;
		sleep_ms(HOLD_MS);
		munmap(p, REQUEST);
	}
}

/* Adds up the usage above memory.high over time, in MiB x s. */
static void sample_excess(void)
{
	long long at = now();

	while (!is_set(&shared->over)) {
		long excess = atol(slurp(CGROUP "/memory.current")) - HIGH;

		if (excess > 0)
			shared->excess += (double)excess / MIB * SAMPLE_MS / 1000;
		at += SAMPLE_MS * 1000000LL;
		sleep_until(at);
	}
}

static void measure_bursts(void)
{
	pid_t holder, sampler, pids[NR_WORKERS];
	long long start;
	int i;

	memset(shared, 0, sizeof(*shared));
	holder = start_holder(WORKING_SET);
	sampler = CHECK(fork());
	if (!sampler) {
		sample_excess();
		_exit(0);
	}
	start = now() + 100 * 1000000LL;
	for (i = 0; i < NR_WORKERS; i++) {
		pids[i] = fork_into(CGROUP);
		if (!pids[i]) {
			serve_requests(i, start);
			_exit(0);
		}
	}
	for (i = 0; i < NR_WORKERS; i++)
		wait_for(pids[i]);
	figure((now() - start) / 1e9, "s", "memory.high, bursts, until all are served");
	count_up(&shared->over);
	wait_for(sampler);
	stop(holder);
	figures(shared->ms, NR_WORKERS * NR_REQUESTS, "memory.high, bursts");
	figure(shared->excess, "MiB*s", "memory.high, bursts, usage above it over time");
}

/* Its pages are those of a hole. They stay as long as the file is open. */
static void fill_cache(void)
{
	static char chunk[CHUNK];
	int fd = CHECK(open("/disk/cache", O_CREAT | O_RDWR, 0600));
	long at;

	CHECK(ftruncate(fd, CACHE));
	for (at = 0; at < CACHE; at += CHUNK)
		CHECK(pread(fd, chunk, CHUNK, at));
}

static void write_chunks(const char *file, double *ms)
{
	static char chunk[CHUNK];
	int fd = CHECK(open(file, O_CREAT | O_WRONLY, 0600));
	long long begun;
	int i;

	for (i = 0; i < NR_CHUNKS; i++) {
		begun = now();
		if (write(fd, chunk, CHUNK) != CHUNK)
			die("write");
		ms[i] = (now() - begun) / 1e6;
		count_up(&shared->done);
	}
	close(fd);
}

/* As a service leaves it that has restarted in another cgroup: nothing is in memory. */
static void make_owned_by_other(const char *file, double *ms)
{
	int fd;

	write_chunks(file, ms);
	fd = CHECK(open(file, O_RDONLY));
	CHECK(fsync(fd));
	CHECK(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	close(fd);
}

/* Returns whether the writer lives until it has written all. */
static bool run_writer(const char *file, double *ms)
{
	pid_t pid = fork_into(CGROUP);
	int status;

	if (!pid) {
		write_chunks(file, ms);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0));
	return !WIFSIGNALED(status);
}

static void measure_writes(const char *name, bool owned_by_other)
{
	const char *file = "/disk/file";
	double *times = map_shared(NR_CHUNKS * sizeof(*times));
	int i, nr = 0;

	memset(shared, 0, sizeof(*shared));
	for (i = 0; i < NR_WRITERS; i++) {
		if (owned_by_other) {
			make_owned_by_other(file, times);
			shared->done -= NR_CHUNKS;
		}
		if (run_writer(file, times)) {
			memcpy(shared->writes + nr, times, NR_CHUNKS * sizeof(*times));
			nr += NR_CHUNKS;
		}
		CHECK(unlink(file));
	}
	figures(shared->writes, nr, format("%s, writes of 64 KiB", name));
	figure((double)shared->done * CHUNK / MIB / NR_WRITERS, "MiB",
	       format("%s, written of 80 MiB before a kill", name));
}

static void be_bystander(void)
{
	take(BYSTANDER);
	count_up(&shared->held);
	for (;;) {
		munmap(take(MIB), MIB);
		sleep_ms(2);
	}
}

static void be_hog(void)
{
	await(&shared->go, 1);
	take(HOG);
	count_up(&shared->done);
	pause();
}

struct killed {
	int hogs, others;
	double ms;
};

static bool reap(pid_t *pid)
{
	if (!*pid || waitpid(*pid, NULL, WNOHANG) <= 0)
		return false;
	*pid = 0;
	return true;
}

/* Starts hogs beside bystanders, and waits until each hog has its memory or is dead. */
static struct killed run_hogs(int hogs, int others)
{
	struct killed killed = {};
	pid_t pids[16];
	long long start;
	int i;

	memset(shared, 0, sizeof(*shared));
	for (i = 0; i < hogs + others; i++) {
		pids[i] = fork_into(CGROUP);
		if (!pids[i] && i < hogs)
			be_hog();
		if (!pids[i])
			be_bystander();
	}
	await(&shared->held, others);
	start = now();
	count_up(&shared->go);
	do {
		sleep_ms(1);
		for (i = 0; i < hogs + others; i++) {
			if (!reap(&pids[i]))
				continue;
			*(i < hogs ? &killed.hogs : &killed.others) += 1;
			killed.ms = (now() - start) / 1e6;
		}
	} while (now() - start < OOM_MS * 1000000LL &&
		 killed.hogs + __atomic_load_n(&shared->done, __ATOMIC_SEQ_CST) < hogs);
	sleep_ms(300);
	for (i = 0; i < hogs + others; i++) {
		if (reap(&pids[i]))
			*(i < hogs ? &killed.hogs : &killed.others) += 1;
		else if (pids[i])
			stop(pids[i]);
	}
	return killed;
}

static void measure_kills(void)
{
	struct killed killed;
	int i, hogs = 0, others = 0;

	put(CGROUP "/memory.max", OOM_MAX);
	for (i = 0; i < NR_KILLS; i++) {
		killed = run_hogs(NR_HOGS, NR_HOGS);
		hogs += killed.hogs;
		others += killed.others;
	}
	figure((double)hogs / NR_KILLS, "kills", "OOM, hogs killed where one is enough");
	figure((double)others / NR_KILLS, "kills", "OOM, bystanders killed");
	put(CGROUP "/memory.max", CHAIN_MAX);
	killed = run_hogs(NR_CHAIN, 0);
	figure(killed.hogs, "kills", "OOM, hogs killed where all but one have to be");
	figure(killed.ms, "ms", "OOM, last of these kills");
}

int main(void)
{
	const char *at = option("at", "high");

	setvbuf(stdout, NULL, _IOFBF, 65536);
	put("/sys/kernel/mm/lru_gen/enabled", number("lru", 1) ? "7" : "0");
	shared = map_shared(sizeof(*shared));
	make_cgroup(CGROUP);
	try_put(CGROUP "/memory.swap.max", "0");
	use_seed();
	if (!strcmp(at, "high")) {
		put(CGROUP "/memory.high", format("%ld", HIGH));
		measure_sleep();
		measure_bursts();
	} else if (!strcmp(at, "max")) {
		put(CGROUP "/memory.max", MAX);
		fill_cache();
		measure_writes("memory.max", false);
		measure_writes("memory.max, another cgroup's file", true);
	} else {
		measure_kills();
	}
	return 0;
}
