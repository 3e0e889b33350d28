// SPDX-License-Identifier: GPL-2.0
/*
 * The testcase of io-throttle (2009) on io.max: four cgroups that may write 2,
 * 4, 6 and 8 MB/s to one disk, with several streams each, buffered or direct.
 * The faster a cgroup, the more it has to write: they finish in order, and the
 * disk's total goes from 20 to 18, 14 and 8 MB/s.
 *
 *	bench.limit=MS		a dirty limit for each cgroup: its rate times MS
 */
#define _GNU_SOURCE
#include "bench.h"
#include <sys/sysmacros.h>

#define GROUPS		4
#define STREAMS		4
#define CHUNK		65536
#define SECONDS		3
#define MB		1000000L
#define SAMPLE_MS	50

static char chunk[CHUNK] __attribute__((aligned(4096)));

static const char *cgroup(int group) { return format(CGROUPS "/io-%d", group); }
static const char *file(int group, int stream) { return format("/disk/%d-%d", group, stream); }
static long rate(int group) { return (group + 1) * 2 * MB; }

/* Bytes of a stream: whole chunks, for SECONDS times the rank of its cgroup. */
static long stream_bytes(int group, int streams)
{
	return rate(group) * SECONDS * (group + 1) / streams / CHUNK * CHUNK;
}

static const char *device(void)
{
	struct stat st;

	CHECK(stat("/dev/nullb0", &st));
	return format("%u:%u", major(st.st_rdev), minor(st.st_rdev));
}

static int write_out(const char *path, long bytes, int flags)
{
	int fd = CHECK(open(path, O_CREAT | O_WRONLY | flags, 0600));

	for (; bytes > 0; bytes -= CHUNK)
		if (write(fd, chunk, CHUNK) != CHUNK)
			die(path);
	return fd;
}

/* Stores the time when the last write() is done, then waits for the disk. */
static pid_t writer(int group, const char *path, long bytes, int flags, long long *done)
{
	pid_t pid = CHECK(fork());
	int fd;

	if (pid)
		return pid;
	enter_cgroup(cgroup(group));
	fd = write_out(path, bytes, flags);
	*done = now();
	CHECK(fsync(fd));
	_exit(0);
}

/* Bytes that a cgroup has written to the disk: "MAJOR:MINOR rbytes=N wbytes=N ...". */
static long long written(int group)
{
	char *line = slurp(format("%s/io.stat", cgroup(group)));

	line = line ? strstr(line, device()) : NULL;
	line = line ? strstr(line, "wbytes=") : NULL;
	return line ? atoll(line + strlen("wbytes=")) : 0;
}

struct course {
	long long before;	/* on the disk at the start, in bytes */
	long bytes;		/* to write */
	double stored;		/* seconds that the disk took */
};

static double seconds_since(long long start)
{
	return (now() - start) / 1e9;
}

/*
 * Waits until all is on the disk. Each time that a cgroup's data is complete,
 * prints the rate of the disk since the last time.
 */
static void follow(struct course *courses, long long start, const char *mode)
{
	static const char *const left_names[] = { "one", "two", "three", "four" };
	long long marked = 0, sampled = 0;
	double mark = 0, sample = 0;
	int left = GROUPS, group;

	while (left) {
		int complete = 0;
		long long total = 0;
		double at;

		sleep_ms(SAMPLE_MS);
		at = seconds_since(start);
		for (group = 0; group < GROUPS; group++) {
			struct course *course = &courses[group];
			long long stored = written(group) - course->before;

			total += stored;
			if (!course->stored && stored >= course->bytes) {
				course->stored = at;
				complete++;
			}
		}
		if (complete) {
			figure((total - marked) / (at - mark) / MB, "MB/s",
			       format("%s: disk, while %s write", mode, left_names[left - 1]));
			left -= complete;
			marked = total;
			mark = at;
		}
		if (at >= sample + 0.5) {
			printf("sample %.2f %.3f written per second, %s\n", at,
			       (total - sampled) / (at - sample) / MB, mode);
			sampled = total;
			sample = at;
		}
	}
}

static void run(bool direct, int streams)
{
	const char *mode = strdup(format("%s, %d stream%s", direct ? "direct" : "buffered",
					 streams, streams > 1 ? "s each" : " each"));
	long long (*done)[STREAMS] = map_shared(PAGE), start;
	pid_t pids[GROUPS][STREAMS];
	struct course courses[GROUPS];
	double worst = 0;
	int group, i;

	sync();
	put("/proc/sys/vm/drop_caches", "3");
	start = now();
	for (group = 0; group < GROUPS; group++) {
		long bytes = stream_bytes(group, streams);

		courses[group] = (struct course){
			.before = written(group), .bytes = bytes * streams,
		};
		for (i = 0; i < streams; i++)
			pids[group][i] = writer(group, file(group, i), bytes, direct ? O_DIRECT : 0,
						&done[group][i]);
	}
	follow(courses, start, mode);
	for (group = 0; group < GROUPS; group++) {
		double limit = rate(group), bytes = courses[group].bytes, application;
		long long last = 0;

		for (i = 0; i < streams; i++) {
			wait_for(pids[group][i]);
			last = done[group][i] > last ? done[group][i] : last;
		}
		application = bytes / ((last - start) / 1e9);

		figure(application / MB, "MB/s",
		       format("%s, %ld MB/s: application", mode, rate(group) / MB));
		figure(bytes / courses[group].stored / MB, "MB/s",
		       format("%s, %ld MB/s: disk", mode, rate(group) / MB));
		if (application / limit > worst)
			worst = application / limit;
	}
	figure(worst, "times", format("%s, application above its limit", mode));
}

/* A slow cgroup has a backlog; another writes 1 MiB and waits for the disk. */
static void run_sync(const char *name, bool everything)
{
	long long done, start;
	pid_t backlog, pid;

	sync();
	backlog = writer(0, file(0, 0), 40 * MB / CHUNK * CHUNK, 0, &done);
	sleep_ms(3000);
	start = now();
	pid = CHECK(fork());
	if (!pid) {
		int fd;

		enter_cgroup(cgroup(3));
		fd = write_out(file(3, 0), 16 * CHUNK, 0);
		if (everything)
			sync();
		else
			CHECK(fsync(fd));
		_exit(0);
	}
	wait_for(pid);
	figure(seconds_since(start), "s", format("%s of one cgroup beside another's backlog", name));
	kill(backlog, SIGKILL);
	waitpid(backlog, NULL, 0);
}

/* Little memory, and a disk that is slower than the writer, which may be killed. */
static void run_tight(void)
{
	long long before, done;
	int status;
	pid_t pid;

	sync();
	put(format("%s/memory.max", cgroup(3)), "16M");
	before = written(3);
	pid = writer(3, file(3, 0), 48 * MB / CHUNK * CHUNK, 0, &done);
	CHECK(waitpid(pid, &status, 0));
	if (status && status != SIGKILL)
		die("a writer with 16 MiB of memory");
	figure((written(3) - before) / 1e6, "MB", "48 MB with 16 MiB of memory: on the disk at the end");
	put(format("%s/memory.max", cgroup(3)), "max");
}

static void prepare(void)
{
	long limit_ms = number("limit", 0);
	int group, i;

	for (group = 0; group < GROUPS; group++) {
		for (i = 0; i < STREAMS; i++)
			close(write_out(file(group, i), stream_bytes(group, i + 1), O_DIRECT));
		make_cgroup(cgroup(group));
		put(format("%s/io.max", cgroup(group)),
		    format("%s wbps=%ld", device(), rate(group)));
		if (limit_ms)
			put(format("%s/memory.dirty_limit_in_bytes", cgroup(group)),
			    format("%ld", rate(group) / 1000 * limit_ms));
	}
}

int main(void)
{
	long kills = 0;
	int group, streams;

	setvbuf(stdout, NULL, _IOFBF, 65536);
	use_seed();
	prepare();
	for (streams = 1; streams <= STREAMS; streams *= 2) {
		run(true, streams);
		run(false, streams);
	}
	run_sync("fsync", false);
	run_sync("sync", true);
	run_tight();
	for (group = 0; group < GROUPS; group++)
		kills += value_in(format("%s/memory.events", cgroup(group)), "oom_kill");
	figure(kills, "kills", "OOM kills");
	return 0;
}
