// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for memory.stat_flush_threshold and vm.memcg_stat_flush_threshold: the
 * files, how often readers flush, and how exact memory.stat is with "auto".
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_test_util.h"

#define THRESHOLD_FILE	"memory.stat_flush_threshold"
#define EFFECTIVE_FILE	"memory.stat_flush_threshold.effective"
#define SYSCTL		"memcg_stat_flush_threshold"
#define SYSCTL_FILE	VM "/" SYSCTL
#define BATCH		64L
/* Each page makes several updates; a CPU holds back those of so few pages. */
#define FEW_PAGES	9L
#define LRU_BATCH	31L	/* PAGEVEC_SIZE: pages that a CPU adds at once */

static const char *const test_file = "test_memcg_flush_threshold.tmp";

/* "default" everywhere, also on the root: upstream's rule applies. */
static int test_default(const char *root)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "flush_default");
	char base[32];

	snprintf(base, sizeof(base), "%ld\n",
		 BATCH * sysconf(_SC_NPROCESSORS_ONLN));
	return passed(cgroup && cg_shows(VM, SYSCTL, "-1\n") &&
		      cg_shows(root, THRESHOLD_FILE, "default\n") &&
		      cg_shows(root, EFFECTIVE_FILE, base) &&
		      cg_shows(cgroup, THRESHOLD_FILE, "default\n") &&
		      cg_shows(cgroup, EFFECTIVE_FILE, base));
}

static bool takes(const char *cgroup, const char *text, const char *setting,
		  const char *effective)
{
	return cg_takes(cgroup, THRESHOLD_FILE, text, setting) &&
	       cg_shows(cgroup, EFFECTIVE_FILE, effective);
}

static int test_valid(const char *root)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "flush_valid");

	return passed(cgroup && takes(cgroup, "0", "0\n", "0\n") &&
		      takes(cgroup, "1\n", "1\n", "1\n") &&
		      takes(cgroup, " 1000000 ", "1000000\n", "1000000\n") &&
		      takes(cgroup, "max", "max\n", "max\n") &&
		      takes(cgroup, "auto\n", "auto\n", "16\n"));
}

/* The kernel refuses a bad value with EINVAL, and keeps the old one. */
static int test_invalid(const char *root)
{
	static const char *const bad[] = {
		"\n", " ", "-1", "-2", "1.5", "0x10", "16M", "1 2", "maximum",
		"Auto", "18446744073709551616", "9223372036854775808",
	};
	char *cgroup __free(cgroup) = create_cgroup(root, "flush_invalid");
	int i;

	if (!cgroup || cg_write(cgroup, THRESHOLD_FILE, "42"))
		return KSFT_FAIL;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		if (!cg_refuses(cgroup, THRESHOLD_FILE, bad[i], "42\n"))
			return KSFT_FAIL;
	return KSFT_PASS;
}

static bool sysctl_is_right(const char *root, const char *cgroup)
{
	static const char *const bad[] = { "-3", "1.5", "auto", "4294967296" };
	int i;

	if (!cg_takes(VM, SYSCTL, "77", "77\n") ||
	    !cg_shows(root, EFFECTIVE_FILE, "77\n") ||
	    !cg_shows(cgroup, EFFECTIVE_FILE, "77\n"))
		return false;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		if (!cg_refuses(VM, SYSCTL, bad[i], "77\n"))
			return false;
	return !write_file(SYSCTL_FILE, "-2") &&
	       cg_shows(cgroup, EFFECTIVE_FILE, "16\n") &&
	       !write_file(SYSCTL_FILE, "2147483647") &&
	       cg_shows(cgroup, EFFECTIVE_FILE, "2147483647\n");
}

static int test_sysctl(const char *root)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "flush_sysctl");
	bool good = cgroup && sysctl_is_right(root, cgroup);

	return passed(!write_file(SYSCTL_FILE, "-1") && good);
}

/* A cgroup follows the nearest one above that has a threshold. */
static int test_inherited(const char *root)
{
	char *parent __free(cgroup) = create_parent(root, "flush_parent");
	char *child __free(cgroup) = create_parent(parent, "child");
	char *grandchild __free(cgroup) = create_cgroup(child, "grandchild");

	if (!grandchild || cg_write(parent, THRESHOLD_FILE, "max") ||
	    !cg_shows(grandchild, EFFECTIVE_FILE, "max\n") ||
	    !cg_shows(grandchild, THRESHOLD_FILE, "default\n") ||
	    cg_write(child, THRESHOLD_FILE, "10") ||
	    !cg_shows(grandchild, EFFECTIVE_FILE, "10\n") ||
	    !cg_shows(parent, EFFECTIVE_FILE, "max\n") ||
	    cg_write(child, THRESHOLD_FILE, "default") ||
	    !cg_shows(grandchild, EFFECTIVE_FILE, "max\n"))
		return KSFT_FAIL;
	/* The controller is disabled, and comes back without the threshold. */
	return passed(!cg_write(child, THRESHOLD_FILE, "10") &&
		      !cg_write(child, "cgroup.subtree_control", "-memory") &&
		      !cg_write(parent, "cgroup.subtree_control", "-memory") &&
		      !cg_write(parent, "cgroup.subtree_control", "+memory") &&
		      cg_shows(child, THRESHOLD_FILE, "default\n") &&
		      cg_shows(child, EFFECTIVE_FILE, "max\n"));
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
	long flushed = vmstat_count("memcg_stat_flush");
	long skipped = vmstat_count("memcg_stat_flush_skip");
	int i;

	for (i = 0; i < 100; i++) {
		if (worker && (order(worker, 't') || order(worker, 'd')))
			return false;
		cg_read_key_long(cgroup, "memory.stat", "anon ");
	}
	flushed = vmstat_count("memcg_stat_flush") - flushed;
	skipped = vmstat_count("memcg_stat_flush_skip") - skipped;
	ksft_print_msg("100 reads: %ld flushes, %ld skipped\n", flushed,
		       skipped);
	/* The periodic flusher runs now and then, and other tasks read too. */
	return expected ? flushed >= 100 && skipped < 10 :
			  skipped >= 100 && flushed < 10;
}

/* Each read flushes with 0, none does with max, and none in an idle cgroup. */
static int test_counts(const char *root)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "flush_counts");

	return passed(cgroup && reads_flush(cgroup, NULL, false) &&
		      !cg_write(cgroup, THRESHOLD_FILE, "0") &&
		      reads_flush(cgroup, NULL, true) &&
		      !cg_write(cgroup, THRESHOLD_FILE, "max") &&
		      reads_flush(cgroup, NULL, false) &&
		      !cg_write(cgroup, THRESHOLD_FILE, "auto") &&
		      reads_flush(cgroup, NULL, false));
}

/* Runs @step on @pages pages of @memory, a share of them on each CPU. */
static void on_all_cpus(void (*step)(char *memory, long bytes), char *memory,
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
		step(memory + from * page_size, (to - from) * page_size);
	}
}

/* MADV_REMOVE works on files: it removes the pages from the page cache. */
static void drop(char *memory, long bytes)
{
	if (madvise(memory, bytes, MADV_REMOVE))
		madvise(memory, bytes, MADV_DONTNEED);
}

/* Obeys orders: 't' touches, 'd' drops all pages; '1' touches them on CPU 1. */
static int work(struct worker *worker, char *memory)
{
	char order;

	while (read(worker->orders[0], &order, 1) == 1) {
		if (order != '1')
			on_all_cpus(order == 't' ? touch_memory : drop, memory,
				    worker->pages);
		else if (!run_on(1))
			touch_memory(memory,
				     worker->pages * sysconf(_SC_PAGE_SIZE));
		if (write(worker->reports[1], &order, 1) != 1)
			return 1;
	}
	return 0;
}

static int anon_worker(struct worker *worker)
{
	long bytes = worker->pages * sysconf(_SC_PAGE_SIZE);
	char *memory = map_memory(bytes);

	madvise(memory, bytes, MADV_NOHUGEPAGE);
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

static void free_worker(struct worker *worker)
{
	if (worker->pid > 0)
		stop_worker(worker);
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
	return passed(exact);
}

static int check_exact(const char *root, int (*fn)(struct worker *worker),
		       const char *key)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "flush_exact");

	return cgroup ? check_exact_of(cgroup, cgroup, fn, key) : KSFT_FAIL;
}

/* The pending updates of a child are missing from its parent. */
static int test_exact_parent(const char *root)
{
	char *parent __free(cgroup) = create_parent(root, "flush_exact_parent");
	char *child __free(cgroup) = create_cgroup(parent, "child");

	return child ? check_exact_of(parent, child, anon_worker, "anon ") :
		       KSFT_FAIL;
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

/*
 * No page may be written back between a read and the exact read after it. With a
 * period of 0, a new flusher starts at once.
 */
static int test_exact_file_dirty(const char *root)
{
	struct setting period __free(setting) = save_setting(PERIOD_FILE);
	struct setting ratio __free(setting) = save_setting(VM "/dirty_ratio");
	struct setting background __free(setting) =
		save_setting(VM "/dirty_background_ratio");

	if (write_file(period.path, "30000") || write_file(ratio.path, "95") ||
	    write_file(background.path, "90"))
		return KSFT_FAIL;
	return check_exact(root, file_worker, "file_dirty ");
}

/*
 * In a large cgroup, pages that come and go need no flush with "auto", but need
 * one with the number that "auto" stands for there.
 */
static int test_cancelling(const char *root)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "flush_cancelling");
	struct worker holder __free(worker) = {
		.pages = (64L << 20) / sysconf(_SC_PAGE_SIZE),
	};
	/* Two updates each, one as they come and one as they go, at least. */
	struct worker worker __free(worker) = { .pages = holder.pages / 150 };
	long error;

	if (sysconf(_SC_AVPHYS_PAGES) < 2 * holder.pages)
		return KSFT_SKIP;
	if (!cgroup ||
	    cg_write_numeric(cgroup, THRESHOLD_FILE, holder.pages / 100) ||
	    start_worker(&holder, cgroup, anon_worker) ||
	    start_worker(&worker, cgroup, anon_worker))
		return KSFT_FAIL;
	if (order(&holder, 't') || !reads_flush(cgroup, &worker, true) ||
	    cg_write(cgroup, THRESHOLD_FILE, "auto") ||
	    !reads_flush(cgroup, &worker, false))
		return KSFT_FAIL;
	error = error_pages(cgroup, "anon ");
	ksft_print_msg("anon is off by %ld pages\n", error);
	return passed(error >= 0 && error <= holder.pages / 100);
}

/* Is "anon" exact while the CPU that made the last updates is offline? */
static bool is_exact_offline(const char *cgroup)
{
	long error;
	int err;

	if (write_file(CPU1_FILE, "0"))
		return false;
	error = error_pages(cgroup, "anon ");
	err = write_file(CPU1_FILE, "1");
	return !err && error >= 0 && error <= 16;
}

/*
 * Updates that an offline CPU has counted are pending too. There are few others: a
 * flush comes before, and pages in full batches are on the LRU lists. For what
 * remains, the CPU that takes this one offline counts updates, fewer than the
 * threshold.
 */
static int test_offline(const char *root)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "flush_offline");
	struct worker worker __free(worker) = { .pages = 8 * LRU_BATCH };

	if (access(CPU1_FILE, W_OK))
		return KSFT_SKIP;
	return passed(cgroup &&
		      !cg_write_numeric(cgroup, THRESHOLD_FILE, 4 * LRU_BATCH) &&
		      !start_worker(&worker, cgroup, anon_worker) &&
		      !order(&worker, 't') && !order(&worker, 'd') &&
		      error_pages(cgroup, "anon ") >= 0 &&
		      !order(&worker, '1') && is_exact_offline(cgroup));
}

/* Returns whether "anon" can be read beside all changes. */
static bool change_at_random(const char *cgroup)
{
	static char *const values[] = {
		"default", "auto", "max", "0", "1", "100", "100000", "bad",
	};
	int i;

	for (i = 0; i < 1000; i++) {
		cg_write(cgroup, THRESHOLD_FILE, values[rand() % 8]);
		if (i % 16 == 0)
			write_file(SYSCTL_FILE, i % 32 ? "-2" : "-1");
		if (cg_read_key_long(cgroup, "memory.stat", "anon ") < 0)
			return false;
	}
	return true;
}

/* Thresholds change at random while another process makes updates. */
static int test_change_under_load(const char *root)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "flush_load");
	struct worker worker = { .pages = 256 };
	bool good;
	pid_t pid;

	if (!cgroup || start_worker(&worker, cgroup, anon_worker))
		return KSFT_FAIL;
	pid = fork();
	if (!pid) {
		for (;;)
			if (order(&worker, 't') || order(&worker, 'd'))
				_exit(1);
	}
	good = change_at_random(cgroup);
	stop_task(pid);
	kill(worker.pid, SIGKILL);
	stop_worker(&worker);
	good = good && !cg_write(cgroup, THRESHOLD_FILE, "0") &&
	       !cg_read_key_long(cgroup, "memory.stat", "anon ");
	return passed(!write_file(SYSCTL_FILE, "-1") && good);
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
	if (access(SYSCTL_FILE, F_OK))
		ksft_exit_skip("no " SYSCTL_FILE "\n");
}

int main(void)
{
	return memcg_test_main(tests, ARRAY_SIZE(tests), setup);
}
