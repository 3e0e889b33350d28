// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of dirty limits for page faults and writes: the loops of the patch
 * series of 2010, "map a page of a file, touch it, unmap it", by one reader or
 * writer and by one on each CPU, in the root cgroup and in a child. Then two
 * loops that dirty new pages each time: 1 MiB is written and truncated again,
 * before or after it has been written back. A sibling of the child, without a
 * limit, runs these too.
 *
 *	bench.limit=BYTES	a dirty limit for the child
 *	bench.parallel=1	a process on each CPU; only the fault loops
 */
#define _GNU_SOURCE
#include "bench.h"

#define REPEATS	7
#define FAULTS	5000
#define CHUNK	65536

static char chunk[CHUNK];

static void touch(int fd, bool write)
{
	volatile char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		die("mmap");
	if (write)
		*p = 1;
	else
		(void)*p;
	CHECK(munmap((void *)p, PAGE));
}

static void read_fault(int fd) { touch(fd, false); }
static void write_fault(int fd) { touch(fd, true); }

static void fill(int fd)
{
	long at;

	for (at = 0; at < MIB; at += CHUNK)
		if (pwrite(fd, chunk, CHUNK, at) != CHUNK)
			die("pwrite");
}

static void cancel(int fd)
{
	fill(fd);
	CHECK(ftruncate(fd, 0));
}

static void write_back(int fd)
{
	fill(fd);
	CHECK(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
			      SYNC_FILE_RANGE_WAIT_AFTER));
	CHECK(ftruncate(fd, 0));
}

static const struct loop {
	const char *name;
	void (*body)(int fd);
	int rounds;
	long pages;	/* per round */
} loops[] = {
	{ "read fault",			read_fault,	FAULTS,	1 },
	{ "write fault",		write_fault,	FAULTS,	1 },
	{ "page written, truncated",	cancel,		10,	MIB / PAGE },
	{ "page written, written back",	write_back,	8,	MIB / PAGE },
};
#define FAULT_LOOPS 2

/* A process of the loop: runs all rounds for each order that it reads. */
static void work(const struct loop *loop, int number, int orders, int reports)
{
	int fd, i;
	char order;

	run_on(number);
	fd = CHECK(open(format("/disk/file-%d", number), O_CREAT | O_TRUNC | O_RDWR, 0600));
	CHECK(ftruncate(fd, PAGE));
	while (read(orders, &order, 1) == 1) {
		for (i = 0; i < loop->rounds; i++)
			loop->body(fd);
		CHECK(write(reports, "d", 1));
	}
	_exit(0);
}

static void run(const struct loop *loop, const char *place, int processes)
{
	int orders[2], reports[2], i, repeat;
	pid_t pids[64];
	char report;

	sync();
	CHECK(pipe(orders));
	CHECK(pipe(reports));
	for (i = 0; i < processes; i++) {
		pids[i] = CHECK(fork());
		if (!pids[i]) {
			close(orders[1]);
			work(loop, i, orders[0], reports[1]);
		}
	}
	close(orders[0]);
	for (repeat = -1; repeat < REPEATS; repeat++) {
		long long start = now();
		double pages = (double)loop->rounds * loop->pages * processes;

		for (i = 0; i < processes; i++)
			CHECK(write(orders[1], "g", 1));
		for (i = 0; i < processes; i++)
			CHECK(read(reports[0], &report, 1));
		if (repeat >= 0)
			figure((now() - start) / pages, "ns", format("%s, %s", place, loop->name));
	}
	close(orders[1]);
	close(reports[0]);
	close(reports[1]);
	for (i = 0; i < processes; i++)
		wait_for(pids[i]);
}

static void run_all(const char *place, size_t first)
{
	int processes = number("parallel", 0) ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
	size_t count = processes > 1 ? FAULT_LOOPS : sizeof(loops) / sizeof(loops[0]), i;

	for (i = first; i < count; i++)
		run(&loops[i], place, processes);
}

int main(void)
{
	const char *child = make_cgroup(CGROUPS "/child");
	const char *limit = option("limit", NULL);

	setvbuf(stdout, NULL, _IOFBF, 65536);
	put("/proc/sys/vm/dirty_writeback_centisecs", "0");
	if (limit)
		put(CGROUPS "/child/memory.dirty_limit_in_bytes", limit);
	use_seed();
	run_all("root", 0);
	enter_cgroup(child);
	run_all("child", 0);
	enter_cgroup(make_cgroup(CGROUPS "/sibling"));
	run_all("sibling", FAULT_LOOPS);
	return 0;
}
