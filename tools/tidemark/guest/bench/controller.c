// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of the memory controller: the latencies that its series of 2007 gave
 * (lmbench's: processes, context switches, files, mappings, faults), and a
 * compile. Then the enforcement of its limits, and reclaim when one is lowered.
 *
 *	bench.max=BYTES		memory.max of the cgroup
 *	bench.controller=off	the controller is disabled: no cgroup
 */
#define _GNU_SOURCE
#include "bench.h"

#define REPEATS		5
#define CGROUP		CGROUPS "/child"
#define MAPPED		(4 * MIB)

static const char *self;
static char chunk[65536];

static void run(const char *const argv[])
{
	pid_t pid = CHECK(fork());

	if (!pid) {
		if (argv)
			execv(argv[0], (char *const *)argv);
		_exit(argv ? 127 : 0);
	}
	wait_for(pid);
}

static void fork_exit(int i) { (void)i; run(NULL); }

static void fork_exec(int i)
{
	const char *const argv[] = { self, "exit", NULL };

	(void)i;
	run(argv);
}

static void fork_shell(int i)
{
	const char *const argv[] = { "/bin/sh", "-c", format("%s exit; :", self), NULL };

	(void)i;
	run(argv);
}

static int there[2], back[2];

static void bounce(void)
{
	char token;

	close(there[1]);
	while (read(there[0], &token, 1) == 1)
		CHECK(write(back[1], &token, 1));
	_exit(0);
}

/* A round trip is two context switches. */
static void switch_context(int i)
{
	char token = 0;

	(void)i;
	CHECK(write(there[1], &token, 1));
	CHECK(read(back[0], &token, 1));
}

static void create_empty(int i)
{
	close(CHECK(open(format("/disk/file-%d", i), O_CREAT | O_WRONLY, 0600)));
}

static void create_10k(int i)
{
	int fd = CHECK(open(format("/disk/file-%d", i), O_CREAT | O_WRONLY, 0600));

	CHECK(write(fd, chunk, 10240));
	close(fd);
}

static void delete(int i)
{
	CHECK(unlink(format("/disk/file-%d", i)));
}

static void map_unmap(int i)
{
	int fd = CHECK(open("/disk/mapped", O_RDONLY));
	volatile char *p = mmap(NULL, MAPPED, PROT_READ, MAP_SHARED, fd, 0);
	long at;

	(void)i;
	if (p == MAP_FAILED)
		die("mmap");
	for (at = 0; at < MAPPED; at += 16 * PAGE)
		(void)p[at];
	CHECK(munmap((void *)p, MAPPED));
	close(fd);
}

static volatile char *faulted;

static void fault(int i) { faulted[i * PAGE] = 1; }

static bool warming_up;

static void measure(const char *name, void (*body)(int), int times, double scale)
{
	long long start = now();
	int i;

	for (i = 0; i < times; i++)
		body(i);
	if (!warming_up)
		figure((now() - start) / 1e3 / times / scale, "us", name);
}

static void measure_latencies(void)
{
	pid_t pid;
	int repeat;

	CHECK(pipe(there));
	CHECK(pipe(back));
	pid = CHECK(fork());
	if (!pid)
		bounce();
	close(there[0]);
	for (repeat = -1; repeat < REPEATS; repeat++) {
		warming_up = repeat < 0;
		measure("fork", fork_exit, 100, 1);
		measure("exec", fork_exec, 50, 1);
		measure("sh", fork_shell, 20, 1);
		measure("context switch", switch_context, 1000, 2);
		measure("file create, empty", create_empty, 200, 1);
		measure("file delete, empty", delete, 200, 1);
		measure("file create, 10 KB", create_10k, 200, 1);
		measure("file delete, 10 KB", delete, 200, 1);
		measure("mmap, 4 MiB", map_unmap, 20, 1);
		faulted = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (faulted == MAP_FAILED)
			die("mmap");
		measure("page fault", fault, MAPPED / PAGE, 1);
		CHECK(munmap((void *)faulted, MAPPED));
	}
	close(there[1]);
	wait_for(pid);
}

static void compile(void)
{
	static const char *const cc1[] = {
		"/sbin/cc1", "-quiet", "-O1", "-fpreprocessed", "/tidemark/compiled.i",
		"-o", "/tmp/compiled.s", NULL,
	};
	static const char *const as[] = { "/sbin/as", "/tmp/compiled.s", "-o", "/tmp/compiled.o", NULL };
	int repeat;

	for (repeat = -1; repeat < 1; repeat++) {
		long long start = now();

		run(cc1);
		run(as);
		if (repeat >= 0)
			figure((now() - start) / 1e6, "ms", "compile");
	}
}

static void write_file(const char *path, long mib)
{
	int fd = CHECK(open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600));

	for (mib *= MIB / sizeof(chunk); mib > 0; mib--)
		CHECK(write(fd, chunk, sizeof(chunk)));
	close(fd);
}

static void write_in(const char *cgroup, long mib)
{
	pid_t pid = CHECK(fork());

	if (!pid) {
		enter_cgroup(cgroup);
		write_file("/disk/large", mib);
		_exit(0);
	}
	wait_for(pid);
}

static void check_limits(void)
{
	const char *cgroup = strdup(make_cgroup(CGROUPS "/limits"));
	double mib = MIB;

	put(format("%s/memory.max", cgroup), "16M");
	write_in(cgroup, 48);
	figure(strtoll(slurp(format("%s/memory.peak", cgroup)), NULL, 10) / mib, "MiB",
	       "most that was charged under a limit of 16 MiB");
	put(format("%s/memory.max", cgroup), "max");
	write_in(cgroup, 48);
	sync();
	figure(strtoll(slurp(format("%s/memory.current", cgroup)), NULL, 10) / mib, "MiB",
	       "charged without a limit");
	put(format("%s/memory.max", cgroup), "16M");
	figure(strtoll(slurp(format("%s/memory.current", cgroup)), NULL, 10) / mib, "MiB",
	       "charged after the limit became 16 MiB");
	figure(value_in(format("%s/memory.events", cgroup), "oom_kill"), "kills", "OOM kills");
}

int main(int argc, char **argv)
{
	const char *max = option("max", NULL);
	bool off = !strcmp(option("controller", "on"), "off");

	if (argc > 1)
		return 0;
	self = argv[0];
	setvbuf(stdout, NULL, _IOFBF, 65536);
	use_seed();
	run_on(0);
	if (!off) {
		make_cgroup(CGROUP);
		if (max)
			put(CGROUP "/memory.max", max);
		enter_cgroup(CGROUP);
	}
	write_file("/disk/mapped", MAPPED / MIB);
	sync();
	measure_latencies();
	compile();
	if (!off)
		check_limits();
	return 0;
}
