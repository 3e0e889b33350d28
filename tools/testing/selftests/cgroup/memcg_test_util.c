// SPDX-License-Identifier: GPL-2.0
/* Common parts of the tests of memory cgroups. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_test_util.h"

static long clock_us(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

long now_ms(void)
{
	return clock_us(CLOCK_MONOTONIC) / 1000;
}

/* A clock that stops while the caller runs, however slow the machine is. */
long idle_us(void)
{
	return clock_us(CLOCK_MONOTONIC) - clock_us(CLOCK_THREAD_CPUTIME_ID);
}

void sleep_ms(int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

static int compare_long(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

void sort_long(long *values, int nr)
{
	qsort(values, nr, sizeof(*values), compare_long);
}

/* Memory that is shared with the tasks that the caller starts. */
void *share_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		ksft_exit_fail_msg("no memory\n");
	return memory;
}

/* Anonymous memory; a task that gets none ends. */
void *map_memory(long bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		_exit(EXIT_FAILURE);
	return memory;
}

void touch_memory(char *memory, long bytes)
{
	long at, page_size = sysconf(_SC_PAGE_SIZE);

	for (at = 0; at < bytes; at += page_size)
		memory[at] = 1;
}

/* The caller runs on @cpu from here on. Returns 0, or -1 if @cpu is offline. */
int run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

/* Waits up to 10 s for other tasks to make a count in shared memory @least. */
bool wait_for(const int *count, int least)
{
	int i;

	for (i = 0; i < 1000; i++) {
		if (__atomic_load_n(count, __ATOMIC_ACQUIRE) >= least)
			return true;
		sleep_ms(10);
	}
	return false;
}

/* Kills a task, and returns whether it was still running. */
bool stop_task(pid_t pid)
{
	int status;

	if (pid <= 0)
		return false;
	kill(pid, SIGKILL);
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status);
}

void free_task(pid_t *pid)
{
	stop_task(*pid);
}

/* Returns whether the task was started and succeeded. */
bool wait_task(pid_t pid)
{
	int status;

	if (pid <= 0 || waitpid(pid, &status, 0) != pid) {
		ksft_print_msg("a task did not start\n");
		return false;
	}
	if (status)
		ksft_print_msg("task %d failed with status %#x\n", pid, status);
	return !status;
}

bool wait_tasks(const pid_t *pids, int nr)
{
	bool good = true;
	int i;

	for (i = 0; i < nr; i++)
		good = wait_task(pids[i]) && good;
	return good;
}

/* Returns 0, or the error as a negative number. */
int write_file(const char *path, const char *text)
{
	ssize_t len = strlen(text), written;

	written = write_text(path, (char *)text, len);
	if (written < 0)
		return written;
	return written == len ? 0 : -EIO;
}

struct setting save_setting(const char *path)
{
	struct setting setting = { .path = path };

	read_text(path, setting.text, sizeof(setting.text));
	return setting;
}

void free_setting(struct setting *setting)
{
	if (*setting->text)
		write_file(setting->path, setting->text);
}

void free_memory(void *memory)
{
	free(*(void **)memory);
}

void free_file(const char **path)
{
	unlink(*path);
}

void free_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static int write_chunk(int fd, long at, const struct writes *writes)
{
	static char buf[CHUNK];
	long ms = now_ms();

	if (pwrite(fd, buf, CHUNK, at) != CHUNK)
		return 2;
	ms = now_ms() - ms;
	if (writes->took)
		writes->took(ms);
	if (writes->slowest_ms && ms > writes->slowest_ms) {
		ksft_print_msg("a write took %ld ms\n", ms);
		return 3;
	}
	if (writes->pause_ms)
		sleep_ms(writes->pause_ms);
	return 0;
}

/* Runs in a cgroup. The exit code tells the step that failed. */
int do_writes(const char *cgroup, void *arg)
{
	int fd __free(fd) = -1, ret = 0;
	const struct writes *writes = arg;
	long done = 0;

	/* A disk may take in a burst of the last test, and then be slow. */
	if (writes->slowest_ms)
		sync();
	fd = open(writes->file, O_CREAT | O_WRONLY |
		  (writes->keep ? 0 : O_TRUNC), 0600);
	if (fd < 0)
		return 1;
	for (; !ret && (!writes->bytes || done < writes->bytes); done += CHUNK)
		ret = write_chunk(fd, writes->wrap ? done % writes->wrap : done,
				  writes);
	return ret;
}

/* With O_DIRECT in @flags, the buffer has to be aligned. */
int write_zeroes(const char *path, int flags, long bytes)
{
	char *buf __free(memory) = aligned_alloc(CHUNK, CHUNK);
	int fd __free(fd) = -1;

	fd = open(path, O_CREAT | O_WRONLY | flags, 0600);
	if (fd < 0 || !buf)
		return -1;
	memset(buf, 0, CHUNK);
	for (; bytes > 0; bytes -= CHUNK)
		if (write(fd, buf, CHUNK) != CHUNK)
			return -1;
	return 0;
}

char *create_cgroup(const char *parent, const char *name)
{
	char *cgroup = parent ? cg_name(parent, name) : NULL;

	if (cgroup && cg_create(cgroup)) {
		free(cgroup);
		return NULL;
	}
	return cgroup;
}

/* A cgroup whose children have the memory controller. */
char *create_parent(const char *root, const char *name)
{
	char *parent = create_cgroup(root, name);

	if (parent && cg_write(parent, "cgroup.subtree_control", "+memory")) {
		destroy_cgroup(parent);
		return NULL;
	}
	return parent;
}

/* The same, and its children have the io controller, if there is one. */
char *create_io_parent(const char *root, const char *name)
{
	char *parent = create_parent(root, name);

	if (parent)
		cg_write(parent, "cgroup.subtree_control", "+io");
	return parent;
}

/* A cgroup with memory.max, and without swap. */
char *create_limited(const char *parent, const char *name, char *max)
{
	char *cgroup = create_cgroup(parent, name);

	if (cgroup && (cg_write(cgroup, "memory.max", max) ||
		       cg_write(cgroup, "memory.swap.max", "0"))) {
		destroy_cgroup(cgroup);
		return NULL;
	}
	return cgroup;
}

void destroy_cgroup(char *cgroup)
{
	if (cgroup)
		cg_destroy(cgroup);
	free(cgroup);
}

void free_cgroup(char **cgroup)
{
	destroy_cgroup(*cgroup);
}

bool cg_has(const char *cgroup, const char *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", cgroup, file);
	return !access(path, F_OK);
}

bool cg_shows(const char *cgroup, const char *file, const char *text)
{
	if (!cg_read_strcmp(cgroup, file, text))
		return true;
	ksft_print_msg("%s of %s is not %s", file, cgroup, text);
	return false;
}

/* Does @file take @text, and then show it as @shown? */
bool cg_takes(const char *cgroup, const char *file, const char *text,
	      const char *shown)
{
	int err = cg_write(cgroup, file, (char *)text);

	if (err)
		ksft_print_msg("%s: '%s' gave %d\n", file, text, err);
	return !err && cg_shows(cgroup, file, shown);
}

/* Is @text refused with EINVAL, and does @file go on showing @shown? */
bool cg_refuses(const char *cgroup, const char *file, const char *text,
		const char *shown)
{
	int err = cg_write(cgroup, file, (char *)text);

	if (err == -EINVAL && cg_shows(cgroup, file, shown))
		return true;
	ksft_print_msg("%s: '%s' gave %d\n", file, text, err);
	return false;
}

/* A count of /proc/vmstat, or -1. */
long vmstat_count(const char *key)
{
	FILE *file = fopen("/proc/vmstat", "r");
	long value, found = -1;
	char name[64];

	while (file && found < 0 && fscanf(file, "%63s %ld", name, &value) == 2)
		if (!strcmp(name, key))
			found = value;
	if (file)
		fclose(file);
	return found;
}

long oom_kills(const char *cgroup)
{
	return cg_read_key_long(cgroup, "memory.events", "oom_kill ");
}

bool lru_gen_is_enabled(void)
{
	char enabled[32];

	return read_text(LRU_GEN_FILE, enabled, sizeof(enabled)) > 0 &&
	       strtol(enabled, NULL, 16) & 1;
}

/* Runs a case on the LRU that is not in use, where there are two. */
int on_other_lru(const char *root, int (*fn)(const char *root))
{
	struct setting lru __free(setting) = save_setting(LRU_GEN_FILE);

	if (!*lru.text)
		return KSFT_SKIP;
	if (write_file(LRU_GEN_FILE, lru_gen_is_enabled() ? "n" : "y"))
		return KSFT_FAIL;
	return fn(root);
}

/* The root of cgroup v2, with the memory controller; else skips all tests. */
void find_root(char *root, size_t len)
{
	if (cg_find_unified_root(root, len, NULL))
		ksft_exit_skip("cgroup v2 isn't mounted\n");
	if (cg_read_strstr(root, "cgroup.controllers", "memory"))
		ksft_exit_skip("memory controller isn't available\n");
	if (cg_read_strstr(root, "cgroup.subtree_control", "memory") &&
	    cg_write(root, "cgroup.subtree_control", "+memory"))
		ksft_exit_skip("Failed to set memory controller\n");
	cg_write(root, "cgroup.subtree_control", "+io");
}

/* Limits the writeback of @cgroup, where the disk allows that. */
int limit_disk(const char *cgroup, long bytes_per_second)
{
	struct stat st;
	char text[64];

	if (stat(".", &st))
		return -errno;
	snprintf(text, sizeof(text), "%u:%u wbps=%ld", major(st.st_dev),
		 minor(st.st_dev), bytes_per_second);
	return cg_write(cgroup, "io.max", text);
}

/* To @rate MB/s: a writer is then faster than the disk on any machine. */
void slow_down(const char *cgroup, unsigned int rate)
{
	if (cgroup)
		limit_disk(cgroup, rate * 1000000L);
}

static bool can_write_back(void)
{
	struct statfs fs;

	return !statfs(".", &fs) && fs.f_type != TMPFS_MAGIC &&
	       fs.f_type != RAMFS_MAGIC && fs.f_type != OVERLAYFS_SUPER_MAGIC;
}

const struct memcg_place on_disk = { can_write_back, "" };

/**
 * case_wanted() - Tell whether a case of this program is to run.
 * @name: the case, as its result names it
 *
 * TEST_CASES has words like "test_memcg_dirty.test_pairs" between commas. A
 * program that it does not name runs all of its cases.
 *
 * Return: true if the case runs.
 */
static bool case_wanted(const char *name)
{
	size_t length = strlen(program_invocation_short_name);
	const char *word = getenv("TEST_CASES");
	bool named = false;
	size_t size;

	for (; word && *word; word += size + (word[size] == ',')) {
		size = strcspn(word, ",");
		if (strncmp(word, program_invocation_short_name, length) ||
		    word[length] != '.')
			continue;
		named = true;
		if (size == length + 1 + strlen(name) &&
		    !strncmp(word + length + 1, name, strlen(name)))
			return true;
	}
	return !named;
}

static void run_case(const struct memcg_test *test, const char *root)
{
	const struct memcg_place *place = test->place;
	int result = KSFT_SKIP;
	char name[128];

	snprintf(name, sizeof(name), "%s%s", test->name,
		 place ? place->suffix : "");
	if (!place || place->enter())
		result = test->fn(root);
	ksft_test_result_code(result, name, NULL);
}

/**
 * memcg_test_run() - Run the cases that are wanted.
 * @root: the root cgroup
 * @tests: all cases
 * @nr: number of cases
 *
 * Return: the exit code of the program.
 */
int memcg_test_run(const char *root, const struct memcg_test *tests, int nr)
{
	int i, plan = 0;

	for (i = 0; i < nr; i++)
		plan += case_wanted(tests[i].name);
	ksft_set_plan(plan);
	for (i = 0; i < nr; i++)
		if (case_wanted(tests[i].name))
			run_case(&tests[i], root);
	ksft_print_cnts();
	return ksft_plan == ksft_cnt.ksft_pass + ksft_cnt.ksft_xfail +
			    ksft_cnt.ksft_xskip ? KSFT_PASS : KSFT_FAIL;
}

/**
 * memcg_test_main() - Run the cases of a program below the root of cgroup v2.
 * @tests: all cases
 * @nr: number of cases
 * @setup: prepares what all cases need, or exits; may be NULL
 *
 * Return: the exit code of the program.
 */
int memcg_test_main(const struct memcg_test *tests, int nr,
		    void (*setup)(const char *root))
{
	char root[PATH_MAX];

	ksft_print_header();
	find_root(root, sizeof(root));
	if (setup)
		setup(root);
	return memcg_test_run(root, tests, nr);
}
