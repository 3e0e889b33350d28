// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile tenant beside another one. An unprivileged user has a subtree of cgroups,
 * with a memory.max that the administrator has set. Its tasks rewrite values, create
 * and remove cgroups, fork and exit, read memory.stat, and write files, also those of
 * others, all without a pause. The writers' own cgroups have no limits. The other
 * tenant makes a cgroup, writes and fsyncs a file, and writes to a file that both
 * write, again and again.
 *
 *	bench.files=ours	the values are those of our files; else, of upstream's
 *	bench.limit=BYTES	a dirty limit that the administrator has set, too
 */
#define _GNU_SOURCE
#include "bench.h"
#include <grp.h>
#include <sys/prctl.h>

#define SUBTREE		CGROUPS "/tenant"
#define VICTIM		CGROUPS "/victim"
#define SUBTREE_MAX	"67108864"
#define USER_ID		65534
#define SECONDS		10
#define PAUSE_MS	5
#define CHUNK		65536
#define FILE_BYTES	(8 * MIB)
#define OWN_BYTES	(128 * MIB)	/* more than SUBTREE_MAX */
#define NR_TASKS	9
#define NR_SAMPLES	(SECONDS * 1000 / PAUSE_MS)
/* In one round of so many, the tenant also calls fsync(), and writes what is shared. */
#define MORE_EVERY	2

static char chunk[CHUNK];
static const char *const shared_file = "/disk/shared";
static bool ours;

/* The files that a tenant may write, with the values that it goes through. */
struct knob {
	const char *file;
	const char *values[4];
};

static const struct knob our_knobs[] = {
	{ "memory.dirty_limit_in_bytes", { "4096", "8M", "1P", "max" } },
	{ "memory.dirty_background_limit_in_bytes", { "4096", "4M", "1P", "max" } },
	{ "memory.dirty_min", { "0", "4M", "1P", "max" } },
	{ "memory.active_inactive_ratio", { "0", "50", "100", "default" } },
	{ "memory.stat_flush_threshold", { "0", "1000", "auto", "default" } },
};

static const struct knob upstream_knobs[] = {
	{ "memory.max", { "16M", "32M", "1P", "max" } },
	{ "memory.high", { "16M", "24M", "1P", "max" } },
	{ "memory.low", { "0", "4M", "1P", "max" } },
	{ "memory.min", { "0", "4M", "1P", "max" } },
};

static void write_value(const char *cgroup, unsigned long turn)
{
	const struct knob *knobs = ours ? our_knobs : upstream_knobs;
	int nr = ours ? 5 : 4;

	try_put(format("%s/%s", cgroup, knobs[turn % nr].file),
		knobs[turn % nr].values[turn / nr % 4]);
}

static void rewrite(const char *cgroup)
{
	unsigned long turn;

	for (turn = 0;; turn++)
		write_value(cgroup, turn);
}

static void make_and_remove(const char *cgroup)
{
	const char *child = strdup(format("%s-child", cgroup));
	unsigned long turn;

	for (turn = 0;; turn++) {
		if (!mkdir(child, 0755))
			write_value(child, turn);
		rmdir(child);
	}
}

static void fork_and_exit(const char *cgroup UNUSED)
{
	for (;;) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

static void read_stat(const char *cgroup UNUSED)
{
	for (;;)
		slurp(SUBTREE "/memory.stat");
}

static void write_file(const char *path, long at, long bytes)
{
	long pos;
	int fd = open(path, O_CREAT | O_WRONLY, 0666);

	for (;;)
		for (pos = 0; pos < bytes; pos += CHUNK)
			if (pwrite(fd, chunk, CHUNK, at + pos) < 0)
				sleep_ms(1);
}

static void write_own(const char *cgroup)
{
	write_file(strdup(format("/disk/tenant/%s", strrchr(cgroup, '/') + 1)), 0,
		   OWN_BYTES);
}

static void write_others(const char *cgroup UNUSED)
{
	write_file(shared_file, FILE_BYTES, FILE_BYTES);
}

static void (*const work[NR_TASKS])(const char *cgroup) = {
	rewrite, rewrite, make_and_remove, make_and_remove, fork_and_exit,
	read_stat, write_own, write_own, write_others,
};

/* Each task has a cgroup that the user has made. */
static pid_t start(int i)
{
	const char *cgroup = strdup(format(SUBTREE "/%d", i));
	pid_t pid = CHECK(fork());

	if (pid)
		return pid;
	CHECK(seteuid(USER_ID));
	make_cgroup(cgroup);
	CHECK(seteuid(0));
	enter_cgroup(cgroup);
	CHECK(setgroups(0, NULL));
	CHECK(setresgid(USER_ID, USER_ID, USER_ID));
	CHECK(setresuid(USER_ID, USER_ID, USER_ID));
	work[i](cgroup);
	_exit(1);
}

/* The user may create cgroups in the subtree, and not change its limits. */
static void delegate(const char *limit)
{
	put(CGROUPS "/cgroup.subtree_control", "+memory");
	make_cgroup(SUBTREE);
	put(SUBTREE "/memory.max", SUBTREE_MAX);
	if (limit)
		put(SUBTREE "/memory.dirty_limit_in_bytes", limit);
	put(SUBTREE "/cgroup.subtree_control", "+memory");
	CHECK(chown(SUBTREE, USER_ID, USER_ID));
	CHECK(mkdir("/disk/tenant", 0777));
	CHECK(chown("/disk/tenant", USER_ID, USER_ID));
}

/* Its blocks are there, and it belongs to this task's cgroup. */
static int make_file(const char *path)
{
	int fd = CHECK(open(path, O_CREAT | O_RDWR, 0666));
	long pos;

	CHECK(fchmod(fd, 0666));
	for (pos = 0; pos < FILE_BYTES; pos += CHUNK)
		CHECK(pwrite(fd, chunk, CHUNK, pos));
	CHECK(fsync(fd));
	return fd;
}

static long long took[4][NR_SAMPLES];

static long long timed_mkdir(int i)
{
	const char *path = format(CGROUPS "/other-%d", i);
	long long start = now();

	CHECK(mkdir(path, 0755));
	start = now() - start;
	CHECK(rmdir(path));
	return start;
}

static long long timed_write(int fd, int i)
{
	long long start = now();

	CHECK(pwrite(fd, chunk, CHUNK, (long)i * CHUNK % FILE_BYTES));
	return now() - start;
}

static long long timed_fsync(int fd)
{
	long long start = now();

	CHECK(fsync(fd));
	return now() - start;
}

static int compare(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

static void report(long long *samples, int nr, const char *name)
{
	qsort(samples, nr, sizeof(*samples), compare);
	figure(samples[nr / 2] / 1e3, "us", format("%s, p50", name));
	figure(samples[nr - 1 - nr / 10] / 1e3, "us", format("%s, p90", name));
	figure(samples[nr - 1] / 1e3, "us", format("%s, slowest", name));
}

/* MiB written to the disk since boot. */
static double mib_written(void)
{
	const char *stat = slurp("/sys/block/nullb0/stat");
	long long sectors;

	if (!stat || sscanf(stat, "%*s%*s%*s%*s%*s%*s%lld", &sectors) != 1)
		die("/sys/block/nullb0/stat");
	return sectors * 512.0 / MIB;
}

static void be_victim(int fd, int shared)
{
	long long until = now() + SECONDS * NSEC_PER_SEC;
	double written = mib_written();
	int i, more = 0;

	for (i = 0; now() < until && i < NR_SAMPLES; i++) {
		took[0][i] = timed_mkdir(i);
		took[1][i] = timed_write(fd, i);
		if (i % MORE_EVERY == 0) {
			took[2][more] = timed_fsync(fd);
			took[3][more++] = timed_write(shared, i);
		}
		sleep_ms(PAUSE_MS);
	}
	report(took[0], i, "mkdir of a cgroup");
	report(took[1], i, "a write");
	report(took[2], more, "fsync");
	report(took[3], more, "a write to a file of both");
	figure(i, "rounds", "rounds of the other tenant");
	figure(mib_written() - written, "MiB", "written to the disk");
}

int main(void)
{
	pid_t pids[NR_TASKS];
	int i, fd, shared;

	setvbuf(stdout, NULL, _IOFBF, 65536);
	ours = !strcmp(option("files", ""), "ours");
	use_seed();
	CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1));
	delegate(option("limit", NULL));
	enter_cgroup(make_cgroup(VICTIM));
	fd = make_file("/disk/own");
	shared = make_file(shared_file);
	for (i = 0; i < NR_TASKS; i++)
		pids[i] = start(i);
	sleep_ms(1000);
	be_victim(fd, shared);
	for (i = 0; i < NR_TASKS; i++) {
		if (waitpid(pids[i], NULL, WNOHANG))
			die("a task of the tenant has ended");
		kill(pids[i], SIGKILL);
	}
	/* Until they are gone, the console is not closed, and loses its last line. */
	while (wait(NULL) > 0)
		;
	return 0;
}
