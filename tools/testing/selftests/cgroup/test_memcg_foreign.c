// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for cgroups that write the files of other cgroups, or of removed ones
 *
 * Runs in the current directory, on a file system with cgroup writeback and a
 * disk that is slower than memory.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/limits.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_test_util.h"

#define OWNERS		6
#define PAIRS		6
/* In percent of the rate of writes to new files. */
#define ENOUGH		70
#define SWITCH_SECONDS	10
#define RELEASE_SECONDS	60
/* From linux/ext4.h, which may not be installed. */
#define EXT4_IOC_CHECKPOINT	_IOW('f', 43, __u32)
#define TRACING		"/sys/kernel/tracing/"
#define SWITCH_EVENT	TRACING "events/writeback/inode_switch_wbs/enable"

/* The work of a task in a cgroup: it writes a chunk to each file in turn. */
struct job {
	const char *prefix;	/* files are PREFIX.0 to PREFIX.(files - 1) */
	int files;
	int flags;		/* for open() */
	long offset;		/* in each file */
	long bytes;		/* over all files */
	int pause_ms;		/* after each chunk */
	char *memory_max;	/* if set, fsync() at the end */
};

static void file_name(char *name, size_t len, const char *prefix, int number)
{
	snprintf(name, len, "%s.%d", prefix, number);
}

static void remove_files(const char *prefix, int files)
{
	char name[64];
	int i;

	for (i = 0; i < files; i++) {
		file_name(name, sizeof(name), prefix, i);
		unlink(name);
	}
}

/* Runs in a cgroup. */
static int write_files(const char *cgroup, void *arg)
{
	struct job *job = arg;
	static char buf[CHUNK];
	char name[64];
	int i, fds[OWNERS];
	long done, at = job->offset;

	for (i = 0; i < job->files; i++) {
		file_name(name, sizeof(name), job->prefix, i);
		fds[i] = open(name, O_CREAT | O_WRONLY | job->flags, 0600);
		if (fds[i] < 0)
			return 1;
	}
	for (done = 0; done < job->bytes; done += job->files * CHUNK) {
		for (i = 0; i < job->files; i++)
			if (pwrite(fds[i], buf, CHUNK, at) != CHUNK)
				return 1;
		at += CHUNK;
		if (job->pause_ms)
			usleep(job->pause_ms * 1000);
	}
	for (i = 0; job->memory_max && i < job->files; i++)
		if (fsync(fds[i]))
			return 1;
	return 0;
}

/* Leaves files of a removed cgroup. Returns the cgroup's inode number, or 0. */
static ino_t leave_files(const char *parent, const char *name, struct job *job)
{
	char *cgroup = create_cgroup(parent, name);
	struct stat st = {};

	if (!cgroup)
		return 0;
	if (cg_run(cgroup, write_files, job) || stat(cgroup, &st))
		st.st_ino = 0;
	destroy_cgroup(cgroup);
	return st.st_ino;
}

/* Writes in a new cgroup with memory.max. Returns KB per second, or -1. */
static long rate_of(const char *parent, const char *name, struct job *job)
{
	char *cgroup = create_cgroup(parent, name);
	long rate = -1, start;

	if (!cgroup || cg_write(cgroup, "memory.max", job->memory_max))
		goto out;
	start = now_ms();
	if (cg_run(cgroup, write_files, job))
		goto out;
	rate = job->bytes / (now_ms() - start + 1);
	ksft_print_msg("%s: %ld KB/s\n", name, rate);
out:
	destroy_cgroup(cgroup);
	return rate;
}

/* Lets no test start with the dirty pages of another one. */
static void settle(void)
{
	sync();
	sleep(1);
}

/* Does the job @like with new files. Returns the rate, or -1. */
static long rate_of_new(const char *parent, const struct job *like)
{
	struct job job = *like;
	long rate;

	job.prefix = "foreign_new";

	settle();
	rate = rate_of(parent, "new_files", &job);
	remove_files(job.prefix, job.files);
	settle();
	return rate;
}

static int compare(long new, long old)
{
	return new > 0 && old >= new / 100 * ENOUGH ? KSFT_PASS : KSFT_FAIL;
}

/*
 * A service is restarted in a new cgroup and writes its files anew: the inodes
 * belong to the cgroup that it had before.
 */
static int test_restart(const char *root)
{
	struct job before = { .prefix = "foreign_old", .files = 2,
			      .bytes = MB(16L) };
	struct job after = { .prefix = "foreign_old", .files = 2,
			     .flags = O_TRUNC, .bytes = MB(400L),
			     .memory_max = "200M" };
	char *parent = create_io_parent(root, "foreign_restart");
	int ret = KSFT_FAIL;
	long new;

	if (!parent)
		return KSFT_FAIL;
	new = rate_of_new(parent, &after);
	if (leave_files(parent, "predecessor", &before))
		ret = compare(new, rate_of(parent, "successor", &after));
	remove_files(before.prefix, before.files);
	destroy_cgroup(parent);
	return ret;
}

/* Writes the files of more cgroups than upstream has records for. */
static int test_six_owners(const char *root)
{
	struct job job = { .prefix = "foreign_six", .files = OWNERS,
			   .offset = MB(2L), .bytes = MB(300L),
			   .memory_max = "200M" };
	char *parent = create_io_parent(root, "foreign_six");
	char *owners[OWNERS] = {}, name[64], file[64];
	struct job own = { .prefix = file, .files = 1, .bytes = MB(1L) };
	int i, ret = KSFT_FAIL;
	long new;

	for (i = 0; parent && i < OWNERS; i++) {
		file_name(name, sizeof(name), "owner", i);
		owners[i] = create_cgroup(parent, name);
		snprintf(file, sizeof(file), "foreign_owner%d", i);
		if (!owners[i] || cg_run(owners[i], write_files, &own))
			goto out;
		strcat(file, ".0");
		file_name(name, sizeof(name), job.prefix, i);
		if (rename(file, name))
			goto out;
	}
	if (!parent)
		goto out;
	new = rate_of_new(parent, &job);
	ret = compare(new, rate_of(parent, "writer", &job));
out:
	remove_files(job.prefix, OWNERS);
	for (i = 0; i < OWNERS; i++)
		destroy_cgroup(owners[i]);
	destroy_cgroup(parent);
	return ret;
}

/* Two cgroups write their own files, then each other's, and are removed. */
static int one_pair(const char *parent, const char *witness, int number)
{
	char names[2][64], files[2][64];
	struct job jobs[2] = {}, seen;
	char *cgroups[2] = {};
	int i, status, ret = -1;
	pid_t pids[2] = { -1, -1 };

	for (i = 0; i < 2; i++) {
		snprintf(names[i], sizeof(names[i]), "pair%d.%d", number, i);
		snprintf(files[i], sizeof(files[i]), "foreign_%d_%d", number, i);
		jobs[i] = (struct job){ .prefix = files[i], .files = 1,
					.bytes = MB(2L) };
		cgroups[i] = create_cgroup(parent, names[i]);
		if (!cgroups[i] || cg_write(cgroups[i], "memory.max", "16M") ||
		    cg_run(cgroups[i], write_files, &jobs[i]))
			goto out;
	}
	for (i = 0; i < 2; i++) {
		jobs[i].offset = MB(2L);
		jobs[i].bytes = MB(8L);
		pids[i] = cg_run_nowait(cgroups[!i], write_files, &jobs[i]);
	}
	seen = jobs[0];
	seen.offset = MB(16L);
	seen.bytes = MB(1L);
	ret = cg_run(witness, write_files, &seen);
	for (i = 0; i < 2; i++)
		if (pids[i] < 0 || waitpid(pids[i], &status, 0) < 0 || status)
			ret = -1;
out:
	for (i = 0; i < 2; i++)
		destroy_cgroup(cgroups[i]);
	return ret;
}

static long dying_below(const char *parent)
{
	return cg_read_key_long(parent, "cgroup.stat", "nr_dying_descendants ");
}

/*
 * Metadata pages of ext4 are charged to the task that needs them first, and
 * stay charged until they leave the journal, which may take long.
 */
static void empty_journal(void)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY);
	__u32 flags = 0;

	if (fd < 0)
		return;
	/* Other file systems refuse. */
	ioctl(fd, EXT4_IOC_CHECKPOINT, &flags);
	close(fd);
}

/* Waits until removed cgroups are freed; drops page cache, which pins them. */
static int wait_released(const char *parent)
{
	long start = now_ms(), dying;

	do {
		empty_journal();
		if (write_text("/proc/sys/vm/drop_caches", "3", 1) < 0)
			return -1;
		dying = dying_below(parent);
		if (!dying) {
			ksft_print_msg("released after %ld ms\n", now_ms() - start);
			return 0;
		}
		usleep(500000);
	} while (now_ms() - start < RELEASE_SECONDS * 1000L);
	ksft_print_msg("%ld cgroups are still dying\n", dying);
	return -1;
}

/* Records of each other's wbs, or a third cgroup's, pin no removed cgroup. */
static int test_pairs(const char *root)
{
	char *parent = create_io_parent(root, "foreign_pairs");
	char *witness = parent ? create_cgroup(parent, "witness") : NULL;
	char prefix[32];
	int i, ret = KSFT_FAIL;

	for (i = 0; i < PAIRS; i++)
		if (!witness || one_pair(parent, witness, i))
			goto out;
	if (dying_below(parent) < 0)
		ret = KSFT_SKIP;
	sync();
	for (i = 0; i < 2 * PAIRS; i++) {
		snprintf(prefix, sizeof(prefix), "foreign_%d_%d", i / 2, i % 2);
		remove_files(prefix, 1);
	}
	if (!wait_released(parent))
		ret = KSFT_PASS;
out:
	destroy_cgroup(witness);
	destroy_cgroup(parent);
	return ret;
}

/* Reads the whole trace: a single read() returns a page of it at most. */
static int read_trace(char *trace, size_t size)
{
	int fd = open(TRACING "trace", O_RDONLY);
	ssize_t len = -1;
	size_t at = 0;

	while (fd >= 0 && at < size - 1) {
		len = read(fd, trace + at, size - 1 - at);
		if (len <= 0)
			break;
		at += len;
	}
	if (fd >= 0)
		close(fd);
	trace[at] = '\0';
	return len < 0 ? -1 : 0;
}

/* Waits until an inode of cgroup @from moves to @to, or to any if @to is 0. */
static int wait_switch(ino_t from, ino_t to)
{
	static char trace[1 << 20];
	long start = now_ms();
	char text[128], *found;

	if (to)
		snprintf(text, sizeof(text), "old_cgroup_ino=%lu new_cgroup_ino=%lu\n",
			 from, to);
	else
		snprintf(text, sizeof(text), "old_cgroup_ino=%lu ", from);
	do {
		usleep(100000);
		if (read_trace(trace, sizeof(trace)))
			return -1;
		found = strstr(trace, text);
		if (found) {
			ksft_print_msg("%.*s after %ld ms\n",
				       (int)strcspn(found, "\n"), found, now_ms() - start);
			return 0;
		}
	} while (now_ms() - start < SWITCH_SECONDS * 1000L);
	ksft_print_msg("not within %d s: %s\n", SWITCH_SECONDS, text);
	return -1;
}

/* A cgroup that keeps dirtying the file of a removed one gets the inode. */
static int inode_moves(const char *root, struct job *later, bool to_writer)
{
	struct job before = { .prefix = "foreign_moves", .files = 1,
			      .bytes = MB(8L) };
	char *parent = create_io_parent(root, "foreign_moves");
	char *writer = parent ? create_cgroup(parent, "writer") : NULL;
	struct stat st = {};
	ino_t from;
	int ret = KSFT_FAIL;

	if (!writer || stat(writer, &st))
		goto out;
	if (write_text(SWITCH_EVENT, "1", 1) < 0 ||
	    write_text(TRACING "trace", "\n", 1) < 0) {
		ret = KSFT_SKIP;
		goto out;
	}
	from = leave_files(parent, "predecessor", &before);
	if (!from || cg_run_nowait(writer, write_files, later) < 0)
		goto out;
	if (!wait_switch(from, to_writer ? st.st_ino : 0))
		ret = KSFT_PASS;
	cg_killall(writer);
	wait(NULL);
out:
	write_text(SWITCH_EVENT, "0", 1);
	remove_files("foreign_moves", 1);
	destroy_cgroup(writer);
	destroy_cgroup(parent);
	return ret;
}

/* New pages are charged to the writer. */
static int test_inode_moves(const char *root)
{
	struct job later = { .prefix = "foreign_moves", .files = 1,
			     .offset = MB(8L), .bytes = MB(64L), .pause_ms = 20 };

	return inode_moves(root, &later, true);
}

static const struct memcg_test tests[] = {
	T(test_restart),
	T(test_six_owners),
	T(test_pairs),
	T(test_inode_moves),
};

static void require_io(const char *root)
{
	if (cg_read_strstr(root, "cgroup.subtree_control", "io"))
		ksft_exit_skip("io controller isn't available\n");
}

int main(void)
{
	return memcg_test_main(tests, ARRAY_SIZE(tests), require_io);
}
