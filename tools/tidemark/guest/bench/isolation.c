// SPDX-License-Identifier: GPL-2.0
/*
 * Which mechanism protects the I/O of one cgroup, the victim, from endless
 * writers in another. The kernel command line names
 *
 *	bench.mechanisms=A,B	those in force, of the table below
 *	bench.victims=A,B	the victims; all by default
 *	bench.fs=xfs		the file system; ext4 by default
 *	bench.alone=1		each victim also works without a writer
 *
 * Every SAMPLE_MS the function in which the victim sleeps is sampled.
 */
#define _GNU_SOURCE
#include "bench.h"
#include <math.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#define DISK		"/dev/vda"
#define HOG		CGROUPS "/hog"
#define VICTIM		CGROUPS "/victim"
#define SETTLE_MS	number("settle_ms", 2000)
#define WORK_MS		number("work_ms", 5000)
#define SAMPLE_MS	5
#define NSEC_PER_MSEC	1000000LL
#define CHUNK		65536L
#define OVERWRITTEN	(16 * MIB)
#define READ		(128 * MIB)
#define MAX_WRITERS	8
#define MAX_STEPS	20000

#ifndef RWF_DONTCACHE
#define RWF_DONTCACHE	0x80
#endif

/* Shared with the tasks. */
struct shared {
	bool dontcache;
	long long written[MAX_WRITERS];
	long nr_steps;
	double ms[MAX_STEPS];
};

static struct shared *shared;
static long long end;
static char chunk[CHUNK] __attribute__((aligned(4096)));

static void end_step(long long start)
{
	if (shared->nr_steps < MAX_STEPS)
		shared->ms[shared->nr_steps++] = (double)(now() - start) / NSEC_PER_MSEC;
}

/* The next step begins a period after the last one, or at once if that is past. */
static long long pace(long long start, long period_ms)
{
	long long next = start + period_ms * NSEC_PER_MSEC;

	sleep_until(next);
	return next > now() - period_ms * NSEC_PER_MSEC ? next : now();
}

/* The victims. Each works until the end, and records how long each step took. */

/* 125 overwrites of 4 KiB a second, in a file of 16 MiB (the RFC of May 2026). */
static void overwrite(void)
{
	int fd = CHECK(open("/disk/overwritten", O_RDWR));
	long long start = now();

	while (now() < end) {
		long long begun = now();

		CHECK(pwrite(fd, chunk, PAGE, rand() % (OVERWRITTEN / PAGE) * PAGE));
		end_step(begun);
		start = pace(start, 8);
	}
}

/* A log as etcd's: 4 KiB and fdatasync(), at most 50 times a second. */
static void append(void)
{
	int fd = CHECK(open("/disk/log", O_CREAT | O_WRONLY | O_TRUNC, 0600));
	long long start = now();

	while (now() < end) {
		long long begun = now();

		CHECK(write(fd, chunk, PAGE));
		CHECK(fdatasync(fd));
		end_step(begun);
		start = pace(start, 20);
	}
}

/* Random reads of 4 KiB. */
static void read_pages(void)
{
	int fd = CHECK(open("/disk/data", O_RDONLY | O_DIRECT));

	while (now() < end) {
		long long begun = now();

		CHECK(pread(fd, chunk, PAGE, rand() % (READ / PAGE) * PAGE));
		end_step(begun);
	}
}

static int new_file(const char *path)
{
	int fd = CHECK(open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600));

	CHECK(write(fd, chunk, 4 * PAGE));
	return fd;
}

/* Files of 16 KiB, as a tarball has them; never synced. */
static void unpack(void)
{
	int i;

	for (i = 0; now() < end; i++) {
		long long begun = now();

		close(new_file(format("/disk/unpacked/%d", i % 2000)));
		end_step(begun);
	}
}

/* As package managers and pulls of images do it: a new file, fsync(), rename(). */
static void install(void)
{
	int fd, i;

	for (i = 0; now() < end; i++) {
		long long begun = now();

		fd = new_file("/disk/installed.new");
		CHECK(fsync(fd));
		close(fd);
		CHECK(rename("/disk/installed.new", format("/disk/installed-%d", i % 100)));
		end_step(begun);
	}
}

static const struct victim {
	const char *name;
	void (*work)(void);
	bool crowd;
} victims[] = {
	{ "overwrite", overwrite, true },
	{ "append", append, true },
	{ "read", read_pages, false },
	{ "unpack", unpack, false },
	{ "install", install, false },
};

#define NR_VICTIMS	(sizeof(victims) / sizeof(victims[0]))

/* What a mechanism writes where; %s is the number of the disk. */
static const struct {
	const char *name, *path, *text;
} mechanisms[] = {
	{ "limit-40M", HOG "/memory.dirty_limit_in_bytes", "40M" },
	{ "limit-8M", HOG "/memory.dirty_limit_in_bytes", "8M" },
	{ "floor", VICTIM "/memory.dirty_min", "16M" },
	{ "memory.max", HOG "/memory.max", "128M" },
	{ "memory.high", HOG "/memory.high", "128M" },
	{ "io.max", HOG "/io.max", "%s wbps=15000000" },
	{ "io.latency", VICTIM "/io.latency", "%s target=20000" },
	{ "io.cost", CGROUPS "/io.cost.model",
	  "%s ctrl=user model=linear rbps=30000000 rseqiops=4000 rrandiops=4000 "
	  "wbps=30000000 wseqiops=4000 wrandiops=4000" },
	{ "io.cost", CGROUPS "/io.cost.qos",
	  "%s enable=1 ctrl=user rpct=95 rlat=20000 wpct=95 wlat=50000 min=50 max=100" },
	{ "io.cost", VICTIM "/io.weight", "default 1000" },
	{ "bfq", "/sys/block/vda/queue/scheduler", "bfq" },
	{ "bfq", VICTIM "/io.bfq.weight", "1000" },
	{ "strict_limit", "/sys/class/bdi/%s/strict_limit", "1" },
	{ "strict_limit", "/sys/class/bdi/%s/max_bytes", "41943040" },
};

static bool is_listed(const char *name, const char *list)
{
	size_t length = strlen(name);

	while (*list) {
		size_t here = strcspn(list, ",");

		if (here == length && !strncmp(list, name, length))
			return true;
		list += here + (list[here] == ',');
	}
	return false;
}

static const char *disk_number(void)
{
	struct stat st;

	CHECK(stat(DISK, &st));
	return format("%u:%u", major(st.st_rdev), minor(st.st_rdev));
}

static void apply_mechanisms(const char *asked)
{
	const char *disk = disk_number();
	size_t i;

	for (i = 0; i < sizeof(mechanisms) / sizeof(mechanisms[0]); i++)
		if (is_listed(mechanisms[i].name, asked))
			put(format(mechanisms[i].path, disk), format(mechanisms[i].text, disk));
	shared->dontcache = is_listed("dontcache", asked);
}

static ssize_t write_chunk(int fd, long at)
{
	struct iovec iov = { chunk, CHUNK };

	return pwritev2(fd, &iov, 1, at, shared->dontcache ? RWF_DONTCACHE : 0);
}

static const char *written_file(int writer)
{
	return format("/disk/written-%d", writer);
}

static void write_endlessly(int writer)
{
	int fd = CHECK(open(written_file(writer), O_CREAT | O_WRONLY | O_TRUNC, 0600));
	long at;

	for (at = 0;; at = (at + CHUNK) % (256 * MIB)) {
		CHECK(write_chunk(fd, at));
		shared->written[writer] += CHUNK;
	}
}

static pid_t start_writer(int writer)
{
	pid_t pid = CHECK(fork());

	if (pid)
		return pid;
	enter_cgroup(HOG);
	write_endlessly(writer);
	_exit(0);
}

static pid_t start_victim(const struct victim *victim)
{
	pid_t pid = CHECK(fork());

	if (pid)
		return pid;
	enter_cgroup(VICTIM);
	victim->work();
	_exit(0);
}

/* Dirty pages of a file that is gone need no writeback: the disk is soon idle. */
static void stop_writers(const pid_t *pids, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		kill(pids[i], SIGKILL);
	for (i = 0; i < nr; i++) {
		CHECK(waitpid(pids[i], NULL, 0));
		CHECK(truncate(written_file(i), 0));
	}
	sync();
}

static long long written_in_all(void)
{
	long long sum = 0;
	int i;

	for (i = 0; i < MAX_WRITERS; i++)
		sum += shared->written[i];
	return sum;
}

/* Where a victim sleeps, but for its own pauses between steps. */
static const struct {
	const char *name;
	const char *functions[8];
} places[] = {
	{ "throttled", { "balance_dirty" } },
	{ "a folio", { "folio_wait", "folio_lock" } },
	{ "the journal", { "jbd2", "do_get_write", "start_this_handle", "xlog", "xfs_log", "xlog_cil",
			   "ext4_fc", "wait_on_buffer" } },
	{ "the disk", { "blk_", "rq_qos", "wbt", "bio", "dio", "throttle", "bfq", "io_" } },
	{ "elsewhere", { } },
};

#define NR_PLACES	(sizeof(places) / sizeof(places[0]))

/**
 * struct samples - counts of samples of a victim
 * @nr: all of them
 * @at: those in which it slept at each place
 * @peak: the most dirty and writeback pages of the system
 */
struct samples {
	long nr, at[NR_PLACES];
	long long peak;
};

static size_t place_of(const char *function)
{
	size_t i, j;

	for (i = 0; i < NR_PLACES - 1; i++)
		for (j = 0; j < 8 && places[i].functions[j]; j++)
			if (strstr(function, places[i].functions[j]))
				return i;
	return NR_PLACES - 1;
}

static void sample_sleep(pid_t pid, struct samples *samples)
{
	const char *function = slurp(format("/proc/%d/wchan", pid));

	samples->nr++;
	if (!function || !strcmp(function, "0") || strstr(function, "nanosleep"))
		return;
	samples->at[place_of(function)]++;
	if (place_of(function) == NR_PLACES - 1 && number("verbose", 0))
		fprintf(stderr, "asleep in %s\n", function);
}

static void sample_dirty(struct samples *samples)
{
	long long dirty = value_in("/proc/vmstat", "nr_dirty") +
			  value_in("/proc/vmstat", "nr_writeback");

	if (dirty > samples->peak)
		samples->peak = dirty;
}

static void watch(pid_t pid, struct samples *samples)
{
	while (now() < end) {
		sample_sleep(pid, samples);
		if (samples->nr % 10 == 0)
			sample_dirty(samples);
		sleep_ms(SAMPLE_MS);
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double percentile(double part)
{
	long at = ceil(part * shared->nr_steps) - 1;

	return shared->ms[at < 0 ? 0 : at];
}

static void report(const char *scene, const struct samples *samples, double written)
{
	double seconds = WORK_MS / 1e3;
	size_t i;

	qsort(shared->ms, shared->nr_steps, sizeof(shared->ms[0]), compare);
	figure(shared->nr_steps / seconds, "1/s", format("%s: steps", scene));
	figure(percentile(0.5), "ms", format("%s: p50", scene));
	figure(percentile(0.99), "ms", format("%s: p99", scene));
	figure(percentile(1), "ms", format("%s: worst", scene));
	for (i = 0; i < NR_PLACES; i++)
		figure(100.0 * samples->at[i] / samples->nr, "%",
		       format("%s: %s", scene, places[i].name));
	figure((double)samples->peak * PAGE / MIB, "MiB", format("%s: peak", scene));
	figure(written / 1e6 / seconds, "MB/s", format("%s: writer", scene));
}

/* A step that began before the end counts with all of its time. */
static void play(const struct victim *victim, int nr_writers)
{
	pid_t writers[MAX_WRITERS], pid;
	struct samples samples = {};
	long long written;
	char scene[64];
	int i;

	shared->nr_steps = 0;
	for (i = 0; i < nr_writers; i++)
		writers[i] = start_writer(i);
	if (nr_writers)
		sleep_ms(SETTLE_MS);
	written = written_in_all();
	end = now() + WORK_MS * NSEC_PER_MSEC;
	pid = start_victim(victim);
	watch(pid, &samples);
	written = written_in_all() - written;
	wait_for(pid);
	stop_writers(writers, nr_writers);
	snprintf(scene, sizeof(scene), "%s, %d writer%s", victim->name, nr_writers,
		 nr_writers == 1 ? "" : "s");
	report(scene, &samples, written);
}

static void fill(const char *path, long bytes)
{
	int fd = CHECK(open(path, O_CREAT | O_WRONLY | O_DIRECT, 0600));

	for (; bytes > 0; bytes -= CHUNK)
		CHECK(write(fd, chunk, CHUNK));
	close(fd);
}

static void make_xfs(void)
{
	CHECK(umount("/disk"));
	if (system("mkfs.xfs -q -f " DISK " >&2"))
		die("mkfs.xfs");
	CHECK(mount(DISK, "/disk", "xfs", MS_NOATIME, NULL));
}

static bool is_supported(void)
{
	int fd = CHECK(open("/disk/tried", O_CREAT | O_WRONLY, 0600));
	bool supported = write_chunk(fd, 0) >= 0;

	close(fd);
	return supported || errno != EOPNOTSUPP;
}

static void play_all(const char *asked)
{
	size_t i;

	for (i = 0; i < NR_VICTIMS; i++) {
		if (*asked && !is_listed(victims[i].name, asked))
			continue;
		if (number("alone", 0))
			play(&victims[i], 0);
		play(&victims[i], 1);
		if (victims[i].crowd)
			play(&victims[i], MAX_WRITERS);
	}
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	shared = map_shared(sizeof(*shared));
	if (!strcmp(option("fs", "ext4"), "xfs"))
		make_xfs();
	/* About four and two seconds of the disk. */
	put("/proc/sys/vm/dirty_bytes", "134217728");
	put("/proc/sys/vm/dirty_background_bytes", "67108864");
	make_cgroup(HOG);
	make_cgroup(VICTIM);
	apply_mechanisms(option("mechanisms", ""));
	/* A kernel without RWF_DONTCACHE has no figures for it. */
	if (!is_supported())
		return 0;
	CHECK(mkdir("/disk/unpacked", 0755));
	fill("/disk/overwritten", OVERWRITTEN);
	fill("/disk/data", READ);
	play_all(option("victims", ""));
	return 0;
}
