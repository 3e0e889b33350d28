// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for writers whose cgroup is at memory.max while its pages wait for a
 * slow disk: they are not killed, and no single write takes long.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <limits.h>
#include <linux/limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest.h"
#include "cgroup_util.h"
#include "memcg_test_util.h"

#define LRU_GEN_FILE	"/sys/kernel/mm/lru_gen/enabled"
#define MAX		"24M"
#define DISK_MB		20	/* per second */
#define WRITTEN_BYTES	MB(80L)
#define NR_WRITERS	4	/* where there are many */
#define WORST_MS	500	/* for a single write */
#define NR_RUNS		3	/* one has to pass: others may disturb it */
#define WORST_FULL_MS	1500	/* where all pages may be in a single bio */
/* A disk that writes hardly anything, and the longest time until a kill. */
#define STUCK_BPS	"4096"
#define KILL_MS		20000
#define DIRTY_BYTES	MB(4L)
#define HOG_BYTES	MB(48L)

static const char file_name[] = "test_memcg_max_wait.tmp";

/**
 * struct writer - a task that writes
 * @number: number of its file
 * @flags: flags to open the file with
 * @bytes: number of bytes to write
 * @worst_ms: time of its slowest write
 */
struct writer {
	int number;
	int flags;
	long bytes;
	long worst_ms;
};

static struct writer *writers;

static void name_file(char *name, size_t len, int number)
{
	snprintf(name, len, "%s.%d", file_name, number);
}

static void remove_files(void)
{
	char name[64];
	int i;

	for (i = 0; i < NR_WRITERS; i++) {
		name_file(name, sizeof(name), i);
		unlink(name);
	}
}

static int do_writes(const char *cgroup, void *arg)
{
	struct writer *writer = arg;
	static char buf[CHUNK];
	long bytes, start, took;
	char name[64];
	int fd;

	name_file(name, sizeof(name), writer->number);
	fd = open(name, O_CREAT | O_WRONLY | writer->flags, 0600);
	if (fd < 0)
		return 1;
	for (bytes = 0; bytes < writer->bytes; bytes += CHUNK) {
		start = now_ms();
		if (write(fd, buf, CHUNK) != CHUNK)
			return 2;
		took = now_ms() - start;
		if (took > writer->worst_ms)
			writer->worst_ms = took;
	}
	close(fd);
	return 0;
}

static long oom_kills(const char *cgroup)
{
	return cg_read_key_long(cgroup, "memory.events", "oom_kill ");
}

/* A cgroup with memory.max, whose writes go to a disk of @rate MB/s. */
static char *create_limited(const char *root, unsigned int rate)
{
	char *cgroup = create_cgroup(root, "max_wait");

	if (!cgroup)
		return NULL;
	if (cg_write(cgroup, "memory.max", MAX) ||
	    cg_write(cgroup, "memory.swap.max", "0")) {
		destroy_cgroup(cgroup);
		return NULL;
	}
	slow_down(cgroup, rate);
	return cgroup;
}

/* Runs @nr writers. Returns the time of the slowest write in ms, or -1. */
static long run_writers(const char *cgroup, int nr, int flags)
{
	pid_t pids[NR_WRITERS];
	bool good = true;
	long worst = 0;
	int i, status;

	sync();
	for (i = 0; i < nr; i++) {
		writers[i] = (struct writer){
			.number = i, .flags = flags, .bytes = WRITTEN_BYTES / nr,
		};
		pids[i] = cg_run_nowait(cgroup, do_writes, &writers[i]);
	}
	for (i = 0; i < nr; i++) {
		if (pids[i] < 0 || waitpid(pids[i], &status, 0) < 0 || status)
			good = false;
		if (writers[i].worst_ms > worst)
			worst = writers[i].worst_ms;
	}
	return good ? worst : -1;
}

static int check_writers(const char *root, int nr, int flags, long most_ms)
{
	char *cgroup = create_limited(root, DISK_MB);
	int i, ret = KSFT_FAIL;
	long worst, kills;

	if (!cgroup)
		return KSFT_FAIL;
	for (i = 0; i < NR_RUNS && ret; i++) {
		worst = run_writers(cgroup, nr, flags);
		kills = oom_kills(cgroup);
		ksft_print_msg("%d writers: slowest write %ld ms, %ld OOM kills\n",
			       nr, worst, kills);
		if (worst < 0 || kills)
			break;
		if (worst <= most_ms)
			ret = KSFT_PASS;
	}
	slow_down(cgroup, 1000);
	remove_files();
	destroy_cgroup(cgroup);
	return ret;
}

static int test_writer(const char *root)
{
	return check_writers(root, 1, O_TRUNC, WORST_MS);
}

/* Each of the writers only gets its share of the disk. */
static int test_writers(const char *root)
{
	return check_writers(root, NR_WRITERS, O_TRUNC, WORST_MS * NR_WRITERS);
}

/* Drops the pages of writer 0's file from memory; its inode stays. */
static int forget_pages(void)
{
	char name[64];
	int fd, ret;

	name_file(name, sizeof(name), 0);
	fd = open(name, O_RDONLY);
	if (fd < 0)
		return -1;
	sync();
	ret = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
	return ret;
}

/*
 * The file's inode belongs to another cgroup. balance_dirty_pages() counts that
 * cgroup's pages, so the writer's cgroup fills with dirty pages.
 */
static int test_foreign(const char *root)
{
	struct writer owner = { .flags = O_TRUNC, .bytes = WRITTEN_BYTES };

	if (do_writes(NULL, &owner) || forget_pages())
		return KSFT_FAIL;
	return check_writers(root, 1, 0, WORST_FULL_MS);
}

static int dirty_pages(const char *cgroup, void *arg)
{
	struct writer writer = { .bytes = DIRTY_BYTES };

	if (do_writes(cgroup, &writer))
		return 1;
	return pause();
}

static int take_memory(const char *cgroup, void *arg)
{
	char *memory = mmap(NULL, HOG_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long i;

	for (i = 0; memory != MAP_FAILED && i < HOG_BYTES; i += 4096)
		memory[i] = 1;
	return 0;
}

static int stop_disk(const char *cgroup)
{
	struct stat st;
	char text[64];

	if (stat(".", &st))
		return -1;
	snprintf(text, sizeof(text), "%u:%u wbps=" STUCK_BPS, major(st.st_dev),
		 minor(st.st_dev));
	return cg_write(cgroup, "io.max", text);
}

/* The disk writes no pages: a task that takes memory is killed soon. */
static int test_stuck(const char *root)
{
	char *cgroup = create_limited(root, DISK_MB);
	int ret = KSFT_FAIL, status = 0;
	pid_t pid = -1, hog = -1;
	long start;

	if (!cgroup || stop_disk(cgroup))
		goto out;
	pid = cg_run_nowait(cgroup, dirty_pages, NULL);
	if (pid < 0)
		goto out;
	sleep_ms(2000);
	start = now_ms();
	hog = cg_run_nowait(cgroup, take_memory, NULL);
	if (hog < 0 || waitpid(hog, &status, 0) < 0)
		goto out;
	ksft_print_msg("%ld OOM kills after %ld ms\n", oom_kills(cgroup),
		       now_ms() - start);
	if (oom_kills(cgroup) && now_ms() - start <= KILL_MS)
		ret = KSFT_PASS;
out:
	if (cgroup)
		slow_down(cgroup, 1000);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	remove_files();
	destroy_cgroup(cgroup);
	return ret;
}

static bool other_lru(char *text)
{
	char old[16] = "";

	if (read_text(LRU_GEN_FILE, old, sizeof(old)) <= 0)
		return false;
	*text = strncmp(old, "0x0000", 6) ? 'n' : 'y';
	return true;
}

/* The same on the LRU that is not in use. */
static int on_other_lru(const char *root, int (*fn)(const char *root))
{
	char other, back;
	int ret;

	if (!other_lru(&other))
		return KSFT_SKIP;
	back = other == 'n' ? 'y' : 'n';
	if (write_text(LRU_GEN_FILE, &other, 1) < 0)
		return KSFT_FAIL;
	ret = fn(root);
	write_text(LRU_GEN_FILE, &back, 1);
	return ret;
}

static int test_writer_other_lru(const char *root)
{
	return on_other_lru(root, test_writer);
}

static int test_writers_other_lru(const char *root)
{
	return on_other_lru(root, test_writers);
}

static int test_foreign_other_lru(const char *root)
{
	return on_other_lru(root, test_foreign);
}

static const struct memcg_test tests[] = {
	T(test_writer),
	T(test_writer_other_lru),
	T(test_writers),
	T(test_writers_other_lru),
	T(test_foreign),
	T(test_foreign_other_lru),
	T(test_stuck),
};

static void setup(const char *root)
{
	if (!on_disk.enter())
		ksft_exit_skip("no disk here\n");
	writers = share_memory(NR_WRITERS * sizeof(*writers));
}

int main(void)
{
	return memcg_test_main(tests, ARRAY_SIZE(tests), setup);
}
