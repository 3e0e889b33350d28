// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for memory.stat_flush_threshold and vm.memcg_stat_flush_threshold: the
 * files, how often readers flush, and how exact memory.stat is with "auto".
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_test_util.h"

#define THRESHOLD_FILE	"memory.stat_flush_threshold"
#define EFFECTIVE_FILE	"memory.stat_flush_threshold.effective"
#define SYSCTL		"/proc/sys/vm/memcg_stat_flush_threshold"
#define BATCH		64L
/* Each page makes several updates; a CPU holds back those of so few pages. */
#define FEW_PAGES	9L

static const char *const test_file = "test_memcg_flush_threshold.tmp";

/* Returns 0, or the error of the write as a negative number. */
static int write_sysctl(const char *text)
{
	int fd = open(SYSCTL, O_WRONLY);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int read_sysctl(void)
{
	char text[32] = "";
	int fd = open(SYSCTL, O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		ksft_exit_fail_msg("cannot read %s\n", SYSCTL);
	close(fd);
	return atoi(text);
}

static bool shows(const char *cgroup, const char *file, const char *expected)
{
	if (!cg_read_strcmp(cgroup, file, expected))
		return true;
	ksft_print_msg("%s of %s is not %s", file, cgroup, expected);
	return false;
}

/* "default" everywhere, also on the root: upstream's rule applies. */
static int test_default(const char *root)
{
	char *cgroup = create_cgroup(root, "flush_default");
	char base[32];
	int ret = KSFT_FAIL;

	snprintf(base, sizeof(base), "%ld\n",
		 BATCH * sysconf(_SC_NPROCESSORS_ONLN));
	if (cgroup && read_sysctl() == -1 &&
	    shows(root, THRESHOLD_FILE, "default\n") &&
	    shows(root, EFFECTIVE_FILE, base) &&
	    shows(cgroup, THRESHOLD_FILE, "default\n") &&
	    shows(cgroup, EFFECTIVE_FILE, base))
		ret = KSFT_PASS;
	destroy_cgroup(cgroup);
	return ret;
}

static bool takes(const char *cgroup, char *text, const char *setting,
		  const char *effective)
{
	if (cg_write(cgroup, THRESHOLD_FILE, text)) {
		ksft_print_msg("'%s' was refused\n", text);
		return false;
	}
	return shows(cgroup, THRESHOLD_FILE, setting) &&
	       shows(cgroup, EFFECTIVE_FILE, effective);
}

static int test_valid(const char *root)
{
	char *cgroup = create_cgroup(root, "flush_valid");
	int ret = KSFT_FAIL;

	if (cgroup && takes(cgroup, "0", "0\n", "0\n") &&
	    takes(cgroup, "1\n", "1\n", "1\n") &&
	    takes(cgroup, " 1000000 ", "1000000\n", "1000000\n") &&
	    takes(cgroup, "max", "max\n", "max\n") &&
	    takes(cgroup, "auto\n", "auto\n", "16\n"))
		ret = KSFT_PASS;
	destroy_cgroup(cgroup);
	return ret;
}

/* The kernel refuses a bad value with EINVAL, and keeps the old one. */
static int test_invalid(const char *root)
{
	static char *const bad[] = {
		"\n", " ", "-1", "-2", "1.5", "0x10", "16M", "1 2", "maximum",
		"Auto", "18446744073709551616", "9223372036854775808",
	};
	char *cgroup = create_cgroup(root, "flush_invalid");
	int i, ret = KSFT_FAIL;

	if (!cgroup || cg_write(cgroup, THRESHOLD_FILE, "42"))
		goto out;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (cg_write(cgroup, THRESHOLD_FILE, bad[i]) != -EINVAL ||
		    !shows(cgroup, THRESHOLD_FILE, "42\n")) {
			ksft_print_msg("'%s' was not refused\n", bad[i]);
			goto out;
		}
	}
	ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	return ret;
}

static int test_sysctl(const char *root)
{
	static const char *const bad[] = { "-3", "1.5", "auto", "4294967296" };
	char *cgroup = create_cgroup(root, "flush_sysctl");
	int i, ret = KSFT_FAIL;

	if (!cgroup || write_sysctl("77") || read_sysctl() != 77 ||
	    !shows(root, EFFECTIVE_FILE, "77\n") ||
	    !shows(cgroup, EFFECTIVE_FILE, "77\n"))
		goto out;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (write_sysctl(bad[i]) != -EINVAL || read_sysctl() != 77) {
			ksft_print_msg("'%s' was not refused\n", bad[i]);
			goto out;
		}
	}
	if (write_sysctl("-2") || !shows(cgroup, EFFECTIVE_FILE, "16\n") ||
	    write_sysctl("2147483647") ||
	    !shows(cgroup, EFFECTIVE_FILE, "2147483647\n"))
		goto out;
	ret = KSFT_PASS;
out:
	if (write_sysctl("-1"))
		ret = KSFT_FAIL;
	destroy_cgroup(cgroup);
	return ret;
}

/* A cgroup follows the nearest one above that has a threshold. */
static int test_inherited(const char *root)
{
	char *parent = create_cgroup(root, "flush_parent");
	char *child = NULL, *grandchild = NULL;
	int ret = KSFT_FAIL;

	if (!parent || cg_write(parent, "cgroup.subtree_control", "+memory"))
		goto out;
	child = create_cgroup(parent, "child");
	if (!child || cg_write(child, "cgroup.subtree_control", "+memory"))
		goto out;
	grandchild = create_cgroup(child, "grandchild");
	if (!grandchild || cg_write(parent, THRESHOLD_FILE, "max") ||
	    !shows(grandchild, EFFECTIVE_FILE, "max\n") ||
	    !shows(grandchild, THRESHOLD_FILE, "default\n") ||
	    cg_write(child, THRESHOLD_FILE, "10") ||
	    !shows(grandchild, EFFECTIVE_FILE, "10\n") ||
	    !shows(parent, EFFECTIVE_FILE, "max\n") ||
	    cg_write(child, THRESHOLD_FILE, "default") ||
	    !shows(grandchild, EFFECTIVE_FILE, "max\n"))
		goto out;
	/* The controller is disabled, and comes back without the threshold. */
	if (cg_write(child, THRESHOLD_FILE, "10") ||
	    cg_write(child, "cgroup.subtree_control", "-memory") ||
	    cg_write(parent, "cgroup.subtree_control", "-memory") ||
	    cg_write(parent, "cgroup.subtree_control", "+memory") ||
	    !shows(child, THRESHOLD_FILE, "default\n") ||
	    !shows(child, EFFECTIVE_FILE, "max\n"))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(grandchild);
	destroy_cgroup(child);
	destroy_cgroup(parent);
	return ret;
}

/* Counts since boot: flushes, and reads that went without one. */
static void count_flushes(long *flushed, long *skipped)
{
	char key[64];
	FILE *file = fopen("/proc/vmstat", "r");
	long value;

	*flushed = *skipped = -1;
	while (file && fscanf(file, "%63s %ld", key, &value) == 2) {
		if (!strcmp(key, "memcg_stat_flush"))
			*flushed = value;
		else if (!strcmp(key, "memcg_stat_flush_skip"))
			*skipped = value;
	}
	if (file)
		fclose(file);
}

/* A process in the cgroup that obeys orders, and does nothing else. */
struct worker {
	pid_t pid;
	int orders[2], reports[2];
	long pages;
};

static int order(struct worker *worker, char what)
{
	char report;

	if (write(worker->orders[1], &what, 1) != 1 ||
	    read(worker->reports[0], &report, 1) != 1)
		return -1;
	return 0;
}

/*
 * Reads memory.stat of @cgroup 100 times. Before each read, @worker, if not
 * NULL, touches and drops its pages. Do all reads flush, or none, as @expected?
 */
static bool reads_flush(const char *cgroup, struct worker *worker,
			bool expected)
{
	long flushed[2], skipped[2];
	int i;

	count_flushes(&flushed[0], &skipped[0]);
	for (i = 0; i < 100; i++) {
		if (worker && (order(worker, 't') || order(worker, 'd')))
			return false;
		cg_read_key_long(cgroup, "memory.stat", "anon ");
	}
	count_flushes(&flushed[1], &skipped[1]);
	flushed[1] -= flushed[0];
	skipped[1] -= skipped[0];
	ksft_print_msg("100 reads: %ld flushes, %ld skipped\n", flushed[1],
		       skipped[1]);
	/* The periodic flusher runs now and then, and other tasks read too. */
	return expected ? flushed[1] >= 100 && skipped[1] < 10 :
			  skipped[1] >= 100 && flushed[1] < 10;
}

/* Each read flushes with 0, none does with max, and none in an idle cgroup. */
static int test_counts(const char *root)
{
	char *cgroup = create_cgroup(root, "flush_counts");
	int ret = KSFT_FAIL;

	if (cgroup && reads_flush(cgroup, NULL, false) &&
	    !cg_write(cgroup, THRESHOLD_FILE, "0") &&
	    reads_flush(cgroup, NULL, true) &&
	    !cg_write(cgroup, THRESHOLD_FILE, "max") &&
	    reads_flush(cgroup, NULL, false) &&
	    !cg_write(cgroup, THRESHOLD_FILE, "auto") &&
	    reads_flush(cgroup, NULL, false))
		ret = KSFT_PASS;
	destroy_cgroup(cgroup);
	return ret;
}

static int run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

/* Runs @step on @pages pages of @memory, a share of them on each CPU. */
static void on_all_cpus(void (*step)(char *memory, long pages), char *memory,
			long pages)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	long page_size = sysconf(_SC_PAGE_SIZE);
	long cpu, from, to;

	for (cpu = 0; cpu < cpus; cpu++) {
		if (run_on(cpu))
			continue;
		from = pages * cpu / cpus;
		to = pages * (cpu + 1) / cpus;
		step(memory + from * page_size, to - from);
	}
}

static void touch(char *memory, long pages)
{
	long page_size = sysconf(_SC_PAGE_SIZE);

	while (pages--)
		memory[pages * page_size] = 1;
}

/* MADV_REMOVE works on files: it removes the pages from the page cache. */
static void drop(char *memory, long pages)
{
	long bytes = pages * sysconf(_SC_PAGE_SIZE);

	if (madvise(memory, bytes, MADV_REMOVE))
		madvise(memory, bytes, MADV_DONTNEED);
}

/* Obeys orders: 't' touches, 'd' drops all pages; '1' touches them on CPU 1. */
static int work(struct worker *worker, char *memory)
{
	char order;

	while (read(worker->orders[0], &order, 1) == 1) {
		if (order != '1')
			on_all_cpus(order == 't' ? touch : drop, memory,
				    worker->pages);
		else if (!run_on(1))
			touch(memory, worker->pages);
		if (write(worker->reports[1], &order, 1) != 1)
			return 1;
	}
	return 0;
}

static int anon_worker(struct worker *worker)
{
	char *memory = mmap(NULL, worker->pages * sysconf(_SC_PAGE_SIZE),
			    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	if (memory == MAP_FAILED)
		return 1;
	madvise(memory, worker->pages * sysconf(_SC_PAGE_SIZE),
		MADV_NOHUGEPAGE);
	return work(worker, memory);
}

/* Dirties pages of a file through a mapping. */
static int file_worker(struct worker *worker)
{
	long bytes = worker->pages * sysconf(_SC_PAGE_SIZE);
	int fd = open(test_file, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *memory;

	if (fd < 0 || ftruncate(fd, bytes))
		return 1;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return 1;
	return work(worker, memory);
}

static int start_worker(struct worker *worker, const char *cgroup,
			int (*fn)(struct worker *worker))
{
	if (pipe(worker->orders) || pipe(worker->reports))
		return -1;
	worker->pid = fork();
	if (worker->pid) {
		/* If the worker dies, order() must not wait for it. */
		close(worker->orders[0]);
		close(worker->reports[1]);
		return worker->pid > 0 ? 0 : -1;
	}
	close(worker->orders[1]);
	close(worker->reports[0]);
	if (cg_enter_current(cgroup))
		_exit(1);
	_exit(fn(worker));
}

static void stop_worker(struct worker *worker)
{
	close(worker->orders[1]);
	waitpid(worker->pid, NULL, 0);
	close(worker->reports[0]);
}

/* How many pages is @key off, compared with a read that flushes? */
static long error_pages(const char *cgroup, const char *key)
{
	long seen = cg_read_key_long(cgroup, "memory.stat", key);
	long exact;

	if (cg_write(cgroup, THRESHOLD_FILE, "0"))
		return -1;
	exact = cg_read_key_long(cgroup, "memory.stat", key);
	if (cg_write(cgroup, THRESHOLD_FILE, "auto") || seen < 0 || exact < 0)
		return -1;
	return labs(seen - exact) / sysconf(_SC_PAGE_SIZE);
}

/* Is the error of @key within bounds in @rounds of touching and dropping? */
static bool is_exact(const char *cgroup, struct worker *worker, const char *key,
		     int rounds)
{
	long page_size = sysconf(_SC_PAGE_SIZE);
	long error, memory, bound, worst = 0;
	int round;

	for (round = 0; round < rounds; round++) {
		if (order(worker, round % 2 ? 'd' : 't'))
			return false;
		memory = cg_read_long(cgroup, "memory.current") / page_size;
		error = error_pages(cgroup, key);
		bound = memory / 100 > 16 ? memory / 100 : 16;
		if (error < 0 || error > bound) {
			ksft_print_msg("%sis off by %ld pages of %ld\n", key,
				       error, memory);
			return false;
		}
		worst = error > worst ? error : worst;
	}
	ksft_print_msg("%ld pages: %sis off by %ld at most\n", worker->pages,
		       key, worst);
	return true;
}

/*
 * Checks so few pages on each CPU that upstream's rule sees no update; then 1,
 * 4, 16 and 64 MiB, or as many of these as fit.
 */
static int check_exact_of(const char *cgroup, const char *workers_cgroup,
			  int (*fn)(struct worker *worker), const char *key)
{
	long free_pages = sysconf(_SC_AVPHYS_PAGES);
	long pages, most = (64L << 20) / sysconf(_SC_PAGE_SIZE);
	long few = FEW_PAGES * sysconf(_SC_NPROCESSORS_CONF);
	struct worker worker;
	bool exact = true;

	if (cg_write(cgroup, THRESHOLD_FILE, "auto"))
		return KSFT_FAIL;
	for (pages = few; exact && pages <= most && pages < free_pages / 2;
	     pages = pages == few ? most / 64 : pages * 4) {
		worker.pages = pages;
		if (start_worker(&worker, workers_cgroup, fn))
			return KSFT_FAIL;
		exact = is_exact(cgroup, &worker, key, 6);
		stop_worker(&worker);
	}
	unlink(test_file);
	return exact ? KSFT_PASS : KSFT_FAIL;
}

static int check_exact(const char *root, int (*fn)(struct worker *worker),
		       const char *key)
{
	char *cgroup = create_cgroup(root, "flush_exact");
	int ret = KSFT_FAIL;

	if (cgroup)
		ret = check_exact_of(cgroup, cgroup, fn, key);
	destroy_cgroup(cgroup);
	return ret;
}

/* The pending updates of a child are missing from its parent. */
static int test_exact_parent(const char *root)
{
	char *parent = create_cgroup(root, "flush_exact_parent");
	char *child = NULL;
	int ret = KSFT_FAIL;

	if (parent && !cg_write(parent, "cgroup.subtree_control", "+memory"))
		child = create_cgroup(parent, "child");
	if (child)
		ret = check_exact_of(parent, child, anon_worker, "anon ");
	destroy_cgroup(child);
	destroy_cgroup(parent);
	return ret;
}

static int test_exact_anon(const char *root)
{
	return check_exact(root, anon_worker, "anon ");
}

static int test_exact_file(const char *root)
{
	return check_exact(root, file_worker, "file ");
}

static int test_exact_file_mapped(const char *root)
{
	return check_exact(root, file_worker, "file_mapped ");
}

/* No page may be written back between a read and the exact read after it. */
static int test_exact_file_dirty(const char *root)
{
	static const char file[] = "/proc/sys/vm/dirty_writeback_centisecs";
	char old[32] = "";
	int fd = open(file, O_RDWR);
	int ret = KSFT_FAIL;

	if (fd < 0 || read(fd, old, sizeof(old) - 1) <= 0)
		goto out;
	if (pwrite(fd, "0", 1, 0) == 1)
		ret = check_exact(root, file_worker, "file_dirty ");
	if (pwrite(fd, old, strlen(old), 0) < 0)
		ret = KSFT_FAIL;
out:
	close(fd);
	return ret;
}

/*
 * In a large cgroup, pages that come and go need no flush with "auto", but need
 * one with the number that "auto" stands for there.
 */
static int test_cancelling(const char *root)
{
	long free_pages = sysconf(_SC_AVPHYS_PAGES);
	struct worker holder = { .pages = (64L << 20) / sysconf(_SC_PAGE_SIZE) };
	/* Two updates each, one as they come and one as they go, at least. */
	struct worker worker = { .pages = holder.pages / 150 };
	char *cgroup = create_cgroup(root, "flush_cancelling");
	int ret = KSFT_FAIL;
	char number[32];
	long error;

	if (free_pages < 2 * holder.pages)
		return KSFT_SKIP;
	snprintf(number, sizeof(number), "%ld", holder.pages / 100);
	if (!cgroup || cg_write(cgroup, THRESHOLD_FILE, number) ||
	    start_worker(&holder, cgroup, anon_worker))
		goto out;
	if (start_worker(&worker, cgroup, anon_worker))
		goto out_holder;
	if (order(&holder, 't') || !reads_flush(cgroup, &worker, true) ||
	    cg_write(cgroup, THRESHOLD_FILE, "auto") ||
	    !reads_flush(cgroup, &worker, false))
		goto out_worker;
	error = error_pages(cgroup, "anon ");
	ksft_print_msg("anon is off by %ld pages\n", error);
	if (error >= 0 && error <= holder.pages / 100)
		ret = KSFT_PASS;
out_worker:
	stop_worker(&worker);
out_holder:
	stop_worker(&holder);
out:
	destroy_cgroup(cgroup);
	return ret;
}

/*
 * Updates that an offline CPU has counted are pending too. There are no others:
 * a flush comes before.
 */
static int test_offline(const char *root)
{
	static const char online[] = "/sys/devices/system/cpu/cpu1/online";
	char *cgroup = create_cgroup(root, "flush_offline");
	struct worker worker = { .pages = 2 * FEW_PAGES };
	int fd = open(online, O_WRONLY);
	int ret = KSFT_SKIP;
	long error;

	if (fd < 0)
		goto out;
	ret = KSFT_FAIL;
	if (!cgroup || cg_write(cgroup, THRESHOLD_FILE, "auto") ||
	    start_worker(&worker, cgroup, anon_worker))
		goto out;
	if (!order(&worker, 't') && !order(&worker, 'd') &&
	    error_pages(cgroup, "anon ") >= 0 && !order(&worker, '1') &&
	    write(fd, "0", 1) == 1) {
		error = error_pages(cgroup, "anon ");
		if (error >= 0 && error <= 16)
			ret = KSFT_PASS;
		if (write(fd, "1", 1) != 1)
			ret = KSFT_FAIL;
	}
	stop_worker(&worker);
out:
	if (fd >= 0)
		close(fd);
	destroy_cgroup(cgroup);
	return ret;
}

/* Thresholds change at random while another process makes updates. */
static int test_change_under_load(const char *root)
{
	static char *const values[] = {
		"default", "auto", "max", "0", "1", "100", "100000", "bad",
	};
	char *cgroup = create_cgroup(root, "flush_load");
	struct worker worker = { .pages = 256 };
	int i, ret = KSFT_FAIL;
	pid_t pid;

	if (!cgroup || start_worker(&worker, cgroup, anon_worker))
		goto out;
	pid = fork();
	if (!pid) {
		for (;;)
			if (order(&worker, 't') || order(&worker, 'd'))
				_exit(1);
	}
	for (i = 0; i < 1000; i++) {
		cg_write(cgroup, THRESHOLD_FILE, values[rand() % 8]);
		if (i % 16 == 0)
			write_sysctl(i % 32 ? "-2" : "-1");
		if (cg_read_key_long(cgroup, "memory.stat", "anon ") < 0)
			break;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	kill(worker.pid, SIGKILL);
	stop_worker(&worker);
	if (i == 1000 && !cg_write(cgroup, THRESHOLD_FILE, "0") &&
	    !cg_read_key_long(cgroup, "memory.stat", "anon "))
		ret = KSFT_PASS;
	if (write_sysctl("-1"))
		ret = KSFT_FAIL;
out:
	destroy_cgroup(cgroup);
	return ret;
}

static const struct memcg_test tests[] = {
	T(test_default),
	T(test_valid),
	T(test_invalid),
	T(test_sysctl),
	T(test_inherited),
	T(test_counts),
	T(test_exact_anon),
	T(test_exact_parent),
	T(test_exact_file),
	T(test_exact_file_mapped),
	T(test_exact_file_dirty),
	T(test_cancelling),
	T(test_offline),
	T(test_change_under_load),
};

static void setup(const char *root)
{
	/* If a worker dies, its test is to fail, and not this program. */
	signal(SIGPIPE, SIG_IGN);
	if (access(SYSCTL, F_OK))
		ksft_exit_skip("no " SYSCTL "\n");
}

int main(void)
{
	return memcg_test_main(tests, ARRAY_SIZE(tests), setup);
}
