// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for cgroups that write the files of other cgroups, or of removed ones
 *
 * Runs in the current directory, on a file system with cgroup writeback and a
 * disk that is slower than memory.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/types.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_test_util.h"

#define OWNERS		6
#define PAIRS		6
/* In percent of the rate of writes to new files. */
#define ENOUGH		70
#define ENOUGH_RESTARTED	80	/* without records, it is 74 */
#define SWITCH_SECONDS	10
#define RELEASE_SECONDS	60
/* NR_MEMCG_STOCK, the cgroups whose charges a CPU caches; Linux 6.12 has one. */
#define STOCKS		7
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
	char *cgroup __free(cgroup) = create_cgroup(parent, name);
	struct stat st;

	if (!cgroup || cg_run(cgroup, write_files, job) || stat(cgroup, &st))
		return 0;
	return st.st_ino;
}

/* Writes in a new cgroup with memory.max. Returns KB per second, or -1. */
static long rate_of(const char *parent, const char *name, struct job *job)
{
	char *cgroup __free(cgroup) = create_cgroup(parent, name);
	long rate, start;

	if (!cgroup || cg_write(cgroup, "memory.max", job->memory_max))
		return -1;
	start = now_ms();
	if (cg_run(cgroup, write_files, job))
		return -1;
	rate = job->bytes / (now_ms() - start + 1);
	ksft_print_msg("%s: %ld KB/s\n", name, rate);
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

static int compare(long new, long old, int percent)
{
	return passed(new > 0 && old >= new / 100 * percent);
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
	char *parent __free(cgroup) = create_io_parent(root, "foreign_restart");
	int ret = KSFT_FAIL;
	long new;

	if (!parent)
		return KSFT_FAIL;
	new = rate_of_new(parent, &after);
	if (leave_files(parent, "predecessor", &before))
		ret = compare(new, rate_of(parent, "successor", &after),
			      ENOUGH_RESTARTED);
	remove_files(before.prefix, before.files);
	return ret;
}

/* Creates an owner and its file, which is then number @i of @prefix. */
static char *create_owner(const char *parent, const char *prefix, int i)
{
	char cgroup_name[64], file[64], own_file[80], name[64];
	struct job own = { .prefix = file, .files = 1, .bytes = MB(1L) };
	char *owner;

	file_name(cgroup_name, sizeof(cgroup_name), "owner", i);
	owner = create_cgroup(parent, cgroup_name);
	snprintf(file, sizeof(file), "foreign_owner%d", i);
	file_name(own_file, sizeof(own_file), file, 0);
	file_name(name, sizeof(name), prefix, i);
	if (owner && !cg_run(owner, write_files, &own) && !rename(own_file, name))
		return owner;
	destroy_cgroup(owner);
	return NULL;
}

/* Writes the files of more cgroups than upstream has records for. */
static int test_six_owners(const char *root)
{
	char *parent __free(cgroup) = create_io_parent(root, "foreign_six");
	struct job job = { .prefix = "foreign_six", .files = OWNERS,
			   .offset = MB(2L), .bytes = MB(300L),
			   .memory_max = "200M" };
	char *owners[OWNERS] = {};
	int i, ret = KSFT_FAIL;
	bool good = parent;
	long new;

	for (i = 0; good && i < OWNERS; i++) {
		owners[i] = create_owner(parent, job.prefix, i);
		good = owners[i];
	}
	if (good) {
		new = rate_of_new(parent, &job);
		ret = compare(new, rate_of(parent, "writer", &job), ENOUGH);
	}
	remove_files(job.prefix, OWNERS);
	for (i = 0; i < OWNERS; i++)
		destroy_cgroup(owners[i]);
	return ret;
}

/* A cgroup of a pair: its name and the prefix of its file are @name. */
static char *create_half(const char *parent, char *name, struct job *job)
{
	char *cgroup = create_cgroup(parent, name);

	*job = (struct job){ .prefix = name, .files = 1, .bytes = MB(2L) };
	if (cgroup && !cg_write(cgroup, "memory.max", "16M") &&
	    !cg_run(cgroup, write_files, job))
		return cgroup;
	destroy_cgroup(cgroup);
	return NULL;
}

static void half_name(char *name, size_t len, int number, int half)
{
	snprintf(name, len, "foreign_%d_%d", number, half);
}

/* Each writes the other one's file, and the witness that of the first. */
static bool write_crosswise(char *const cgroups[2], const char *witness,
			    struct job jobs[2])
{
	struct job seen = jobs[0];
	pid_t pids[2];
	bool good;
	int i;

	for (i = 0; i < 2; i++) {
		jobs[i].offset = MB(2L);
		jobs[i].bytes = MB(8L);
		pids[i] = cg_run_nowait(cgroups[!i], write_files, &jobs[i]);
	}
	seen.offset = MB(16L);
	seen.bytes = MB(1L);
	good = !cg_run(witness, write_files, &seen);
	return wait_tasks(pids, 2) && good;
}

/* Two cgroups write their own files, then each other's, and are removed. */
static bool one_pair(const char *parent, const char *witness, int number)
{
	char names[2][64], *cgroups[2];
	struct job jobs[2];
	bool good;
	int i;

	for (i = 0; i < 2; i++) {
		half_name(names[i], sizeof(names[i]), number, i);
		cgroups[i] = create_half(parent, names[i], &jobs[i]);
	}
	good = cgroups[0] && cgroups[1] &&
	       write_crosswise(cgroups, witness, jobs);
	for (i = 0; i < 2; i++)
		destroy_cgroup(cgroups[i]);
	return good;
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

/* Runs in a cgroup. Charges a page on the CPU that @arg points to. */
static int charge_page(const char *cgroup, void *arg)
{
	if (run_on(*(int *)arg))
		return 1;
	touch_memory(map_memory(1), 1);
	return 0;
}

/*
 * Each CPU caches charges of up to STOCKS cgroups, and pins these. The kernel
 * drains the cache when a cgroup is removed. But if the CPU goes offline before
 * the work that drains it has run, its FLUSHING_CACHED_CHARGE stays set, and the
 * cache is never drained again. Charges of other cgroups replace its content.
 */
static void replace_stocks(const char *root)
{
	int cpu, i;

	for (cpu = 0; cpu < get_nprocs_conf(); cpu++)
		for (i = 0; i < STOCKS; i++) {
			char *cgroup __free(cgroup) =
				create_cgroup(root, "foreign_stock");

			/* Fails on a CPU that is offline. */
			if (cgroup)
				cg_run(cgroup, charge_page, &cpu);
		}
}

/* Waits until removed cgroups are freed; drops page cache, which pins them. */
static bool wait_released(const char *root, const char *parent)
{
	long start = now_ms(), dying;

	do {
		empty_journal();
		if (write_file(VM "/drop_caches", "3"))
			return false;
		dying = dying_below(parent);
		if (!dying) {
			ksft_print_msg("released after %ld ms\n", now_ms() - start);
			return true;
		}
		replace_stocks(root);
		usleep(500000);
	} while (now_ms() - start < RELEASE_SECONDS * 1000L);
	ksft_print_msg("%ld cgroups are still dying\n", dying);
	return false;
}

/* Records of each other's wbs, or a third cgroup's, pin no removed cgroup. */
static int test_pairs(const char *root)
{
	char *parent __free(cgroup) = create_io_parent(root, "foreign_pairs");
	char *witness __free(cgroup) = create_cgroup(parent, "witness");
	char prefix[32];
	bool counted;
	int i;

	for (i = 0; i < PAIRS; i++)
		if (!witness || !one_pair(parent, witness, i))
			return KSFT_FAIL;
	counted = dying_below(parent) >= 0;
	sync();
	for (i = 0; i < 2 * PAIRS; i++) {
		half_name(prefix, sizeof(prefix), i / 2, i % 2);
		remove_files(prefix, 1);
	}
	if (wait_released(root, parent))
		return KSFT_PASS;
	return counted ? KSFT_FAIL : KSFT_SKIP;
}

/* Reads the whole trace: a single read() returns a page of it at most. */
static bool read_trace(char *trace, size_t size)
{
	int fd __free(fd) = -1;
	ssize_t len = -1;
	size_t at = 0;

	fd = open(TRACING "trace", O_RDONLY);
	while (fd >= 0 && at < size - 1) {
		len = read(fd, trace + at, size - 1 - at);
		if (len <= 0)
			break;
		at += len;
	}
	trace[at] = '\0';
	return len >= 0;
}

/* Waits until an inode of cgroup @from moves to cgroup @to. */
static bool wait_switch(ino_t from, ino_t to)
{
	static char trace[1 << 20];
	long start = now_ms();
	char text[128], *found;

	snprintf(text, sizeof(text), "old_cgroup_ino=%lu new_cgroup_ino=%lu\n",
		 from, to);
	do {
		usleep(100000);
		if (!read_trace(trace, sizeof(trace)))
			return false;
		found = strstr(trace, text);
		if (found) {
			ksft_print_msg("%.*s after %ld ms\n",
				       (int)strcspn(found, "\n"), found, now_ms() - start);
			return true;
		}
	} while (now_ms() - start < SWITCH_SECONDS * 1000L);
	ksft_print_msg("not within %d s: %s\n", SWITCH_SECONDS, text);
	return false;
}

/*
 * A cgroup that keeps dirtying the file of a removed one gets the inode. New
 * pages are charged to the writer.
 */
static int test_inode_moves(const char *root)
{
	char *parent __free(cgroup) = create_io_parent(root, "foreign_moves");
	char *writer __free(cgroup) = create_cgroup(parent, "writer");
	struct setting event __free(setting) = save_setting(SWITCH_EVENT);
	struct job before = { .prefix = "foreign_moves", .files = 1,
			      .bytes = MB(8L) };
	struct job later = { .prefix = "foreign_moves", .files = 1,
			     .offset = MB(8L), .bytes = MB(64L), .pause_ms = 20 };
	int ret = KSFT_FAIL;
	struct stat st;
	ino_t from;
	pid_t pid;

	if (!writer || stat(writer, &st))
		return KSFT_FAIL;
	if (write_file(SWITCH_EVENT, "1") || write_file(TRACING "trace", "\n"))
		return KSFT_SKIP;
	from = leave_files(parent, "predecessor", &before);
	pid = from ? cg_run_nowait(writer, write_files, &later) : -1;
	if (pid >= 0)
		ret = passed(wait_switch(from, st.st_ino));
	stop_task(pid);
	remove_files("foreign_moves", 1);
	return ret;
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
