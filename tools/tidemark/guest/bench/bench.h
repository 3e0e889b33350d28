/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code that the guest's benchmarks share.
 *
 * Settings come from the kernel command line, as bench.NAME=VALUE. Results are
 * lines on stdout, "figure VALUE UNIT NAME" and "sample NAME X Y". A figure
 * that is measured several times is printed each time.
 */
#ifndef BENCH_H
#define BENCH_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE		4096L
#define MIB		(1L << 20)
#define NSEC_PER_SEC	1000000000LL
#define CGROUPS		"/sys/fs/cgroup"

#define CHECK(x) ({ long r_ = (long)(x); if (r_ < 0) die(#x); r_; })
#define UNUSED __attribute__((unused))

static void die(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static UNUSED long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static UNUSED void sleep_until(long long when)
{
	struct timespec t = { when / NSEC_PER_SEC, when % NSEC_PER_SEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static UNUSED void sleep_ms(long ms)
{
	sleep_until(now() + ms * 1000000);
}

/* Reads a small file into a static buffer; NULL if the file cannot be read. */
static UNUSED char *slurp(const char *path)
{
	static char text[65536];
	int fd = open(path, O_RDONLY);
	size_t size = 0;
	ssize_t n = 0;

	if (fd < 0)
		return NULL;
	while (size < sizeof(text) - 1 && (n = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += n;
	close(fd);
	text[size] = '\0';
	return n < 0 ? NULL : text;
}

static UNUSED const char *option(const char *name, const char *fallback)
{
	char key[64], *at, *value;

	snprintf(key, sizeof(key), "bench.%s=", name);
	at = slurp("/proc/cmdline");
	at = at ? strstr(at, key) : NULL;
	if (!at)
		return fallback;
	at += strlen(key);
	value = strndup(at, strcspn(at, " \n"));
	if (!value)
		die("strndup");
	return value;
}

static UNUSED long number(const char *name, long fallback)
{
	const char *value = option(name, NULL);

	return value ? atol(value) : fallback;
}

static UNUSED bool try_put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool done;

	if (fd < 0)
		return false;
	done = write(fd, text, strlen(text)) >= 0;
	close(fd);
	return done;
}

static UNUSED void put(const char *path, const char *text)
{
	if (!try_put(path, text))
		die(path);
}

static UNUSED const char *format(const char *text, ...)
{
	static char buffers[8][512];
	static unsigned int turn;
	char *buffer = buffers[turn++ % 8];
	va_list args;

	va_start(args, text);
	vsnprintf(buffer, sizeof(buffers[0]), text, args);
	va_end(args);
	return buffer;
}

/* The number that follows a word at the start of a line of a file, or -1. */
static UNUSED long long value_in(const char *path, const char *word)
{
	size_t length = strlen(word);
	char *line = slurp(path);

	while (line) {
		if (!strncmp(line, word, length) && line[length] == ' ')
			return atoll(line + length);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return -1;
}

static UNUSED void figure(double value, const char *unit, const char *name)
{
	printf("figure %.6g %s %s\n", value, unit, name);
}

static UNUSED void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK(sched_setaffinity(0, sizeof(set), &set));
}

static UNUSED const char *make_cgroup(const char *path)
{
	if (mkdir(path, 0755) && errno != EEXIST)
		die(path);
	return path;
}

/* A chain of cgroups, of which only the last may hold processes. */
static UNUSED const char *make_deep_cgroup(const char *top, int levels)
{
	const char *path = make_cgroup(top);

	while (--levels > 0) {
		put(format("%s/cgroup.subtree_control", path), "+memory");
		path = make_cgroup(format("%s/a", path));
	}
	return strdup(path);
}

static UNUSED void enter_cgroup(const char *path)
{
	put(format("%s/cgroup.procs", path), "0");
}

static UNUSED void wait_for(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0));
	if (status) {
		fprintf(stderr, "bench: a child ended with status %#x\n", status);
		_exit(1);
	}
}

/* Flags that tasks share. */
static UNUSED void set_flag(int *flag)
{
	__atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
}

static UNUSED bool is_set(const int *flag)
{
	return __atomic_load_n(flag, __ATOMIC_SEQ_CST);
}

static UNUSED void *map_shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

/*
 * Under icount, every boot executes the same instructions. The seed gives each
 * boot another initial layout of memory and another initial phase of the timer.
 */
static UNUSED void use_seed(void)
{
	long seed = number("seed", 1), i;
	long long until;

	for (i = 0; i < seed * 41; i++) {
		int fd = CHECK(open(format("/tmp/seed-%ld", i), O_CREAT | O_RDWR, 0600));

		CHECK(write(fd, "seed", 4));
		close(fd);
	}
	until = now() + seed * 1370000;
	while (now() < until)
		;
}

#endif
