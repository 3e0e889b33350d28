// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for dirty limits in the life of a service: limits are set and changed
 * while other tasks work, the owner of a part of the tree tries to get more
 * than its parent has, and siblings write in different ways.
 *
 * Each test also measures the same work without the limit that it is about, and
 * compares the two. Tests that write need a current directory on a file system
 * with cgroup writeback, on a disk that is slower than memory; elsewhere they
 * are skipped.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_dirty_util.h"
#include "memcg_test_util.h"

#define NR_SETTERS	8
#define NR_NEW		400	/* cgroups that are given a limit */
#define NR_REWRITERS	20
#define REWRITE_MS	3000
#define NR_TURNS	5	/* of two that are compared */
#define NR_SAME		10000	/* writes of the value that a file has */

/* More than twice the control plus these is too long. In ms. */
#define SET_SLACK_MS	500
#define MKDIR_SLACK_MS	100
#define REWRITE_SLACK_MS	50
#define SAME_SLACK_MS	500

#define NR_SAMPLES	4096

/* For tests that write. */
#define PARENT_LIMIT	"64M"
#define FAST_BYTES	MB(128L)
#define SLOW_BYTES	MB(128L)
#define FAST_PERCENT	60	/* of the control's rate */
#define MOST_OF_LIMIT	MB(60L)	/* PARENT_LIMIT less half of the reserve */
#define LIGHT_WRITES	80
#define LIGHT_PAUSE_MS	62
#define LIGHT_SLACK_MS	30
#define PEAK_MS		8000	/* time of a writer to reach a high peak */
#define PEAK_SLACK	MB(8L)
#define LOWEST_PEAK	MB(20L)
#define EVENT_MS	20000
#define STORM_MS	8000
/* A removed cgroup goes offline within this time. */
#define OFFLINE_SECONDS	10
#define NR_STORM_FILES	4

static const char *const test_file = "test_memcg_dirty_life.tmp";
static const char *const other_file = "test_memcg_dirty_life_other.tmp";

/**
 * struct samples - durations, in memory that tasks share
 * @stop: the task that takes the samples is to end
 * @nr: number of samples
 * @rewrites: how often tasks wrote a file meanwhile
 * @ms: the samples
 */
struct samples {
	int stop;
	int nr;
	long rewrites;
	long ms[NR_SAMPLES];
};

static struct samples *samples;

static void add_sample(long ms)
{
	if (samples->nr < NR_SAMPLES)
		samples->ms[samples->nr++] = ms;
}

/* One sample in a hundred may be longer, and one in any case. */
static long p99(void)
{
	int beyond = (samples->nr + 99) / 100;

	if (!samples->nr)
		return -1;
	sort_long(samples->ms, samples->nr);
	return samples->ms[samples->nr > beyond ? samples->nr - 1 - beyond : 0];
}

/* Is @ms within twice @control and @slack? */
static bool compare_ms(const char *name, long ms, long control, long slack)
{
	ksft_print_msg("%s: %ld ms, control %ld ms\n", name, ms, control);
	return ms >= 0 && control >= 0 && ms <= 2 * control + slack;
}

/*
 * Is @ms within twice @control and @slack in most turns? The two of a turn follow each
 * other, so a load that comes and goes weighs on both.
 */
static bool compare_turns(const char *name, const long *ms, const long *control,
			  long slack)
{
	int i, within = 0;

	for (i = 0; i < NR_TURNS; i++)
		within += compare_ms(name, ms[i], control[i], slack);
	return within > NR_TURNS / 2;
}

/* Cgroups come and go below @parent; each mkdir() and rmdir() is a sample. */
static pid_t start_mkdir(const char *parent)
{
	char path[PATH_MAX];
	long start;
	pid_t pid;

	samples->stop = 0;
	samples->nr = 0;
	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	snprintf(path, sizeof(path), "%s/passing", parent);
	do {
		start = now_ms();
		if (mkdir(path, 0755) || rmdir(path))
			_exit(EXIT_FAILURE);
		add_sample(now_ms() - start);
		sleep_ms(2);
	} while (!__atomic_load_n(&samples->stop, __ATOMIC_ACQUIRE));
	_exit(EXIT_SUCCESS);
}

/* Returns the 99th percentile in ms, or -1. */
static long end_mkdir(pid_t pid)
{
	int status;

	if (pid < 0)
		return -1;
	__atomic_store_n(&samples->stop, 1, __ATOMIC_RELEASE);
	if (waitpid(pid, &status, 0) < 0 || status) {
		ksft_print_msg("mkdir() or rmdir() failed\n");
		return -1;
	}
	return p99();
}

static void new_name(char *path, const char *parent, int number)
{
	snprintf(path, PATH_MAX, "%s/new%d", parent, number);
}

/* Sets the limits of one setter's part of the cgroups. */
static int set_part(const char *parent, const char *file, int setter)
{
	char path[PATH_MAX];
	int i;

	for (i = setter; i < NR_NEW; i += NR_SETTERS) {
		new_name(path, parent, i);
		if (cg_write(path, file, "64M"))
			return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

/* Runs all setters at once. Returns the time in ms, or -1. */
static long set_all(const char *parent, const char *file)
{
	pid_t pids[NR_SETTERS];
	long start = now_ms();
	int i;

	fflush(stdout);
	for (i = 0; i < NR_SETTERS; i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(set_part(parent, file, i));
	}
	return wait_tasks(pids, NR_SETTERS) ? now_ms() - start : -1;
}

/**
 * struct set_run - a run of all setters
 * @set_ms: the time that the run took
 * @mkdir_ms: time of mkdir() and rmdir() meanwhile, 99th percentile
 */
struct set_run {
	long set_ms;
	long mkdir_ms;
};

static bool create_new(const char *parent)
{
	char path[PATH_MAX];
	int i;

	for (i = 0; i < NR_NEW; i++) {
		new_name(path, parent, i);
		if (cg_create(path))
			return false;
	}
	return true;
}

static void remove_new(const char *parent)
{
	char path[PATH_MAX];
	int i;

	for (i = 0; i < NR_NEW; i++) {
		new_name(path, parent, i);
		rmdir(path);
	}
}

/* Sets @file of many new cgroups, and measures that. */
static bool set_many(const char *root, const char *file, struct set_run *run)
{
	char *parent __free(cgroup) = create_io_parent(root, "life_many");
	char *other __free(cgroup) = create_io_parent(root, "life_other");
	bool created;
	pid_t pid;

	if (!parent || !other)
		return false;
	created = create_new(parent);
	if (created) {
		pid = start_mkdir(other);
		run->set_ms = set_all(parent, file);
		run->mkdir_ms = end_mkdir(pid);
	}
	remove_new(parent);
	return created && run->set_ms >= 0 && run->mkdir_ms >= 0;
}

/*
 * Limits on 400 new cgroups take no longer than memory.max on as many. As in
 * test_rewrite(), the two take turns.
 */
static int test_set_many(const char *root)
{
	long max_set[NR_TURNS], max_mkdir[NR_TURNS], set[NR_TURNS], mkdir[NR_TURNS];
	struct set_run max, limit;
	bool ok;
	int i;

	for (i = 0; i < NR_TURNS; i++) {
		if (!set_many(root, "memory.max", &max) ||
		    !set_many(root, LIMIT_FILE, &limit))
			return KSFT_FAIL;
		max_set[i] = max.set_ms;
		max_mkdir[i] = max.mkdir_ms;
		set[i] = limit.set_ms;
		mkdir[i] = limit.mkdir_ms;
	}
	ok = compare_turns("set", set, max_set, SET_SLACK_MS);
	ok &= compare_turns("mkdir", mkdir, max_mkdir, MKDIR_SLACK_MS);
	return passed(ok);
}

/* Each value differs from the last one of this task. */
static int rewrite(const char *cgroup, const char *file)
{
	static char *const values[] = { "64M", "65M", "80M" };
	long end = now_ms() + REWRITE_MS;
	int i;

	for (i = 0; now_ms() < end; i++)
		if (cg_write(cgroup, file, values[i % ARRAY_SIZE(values)]))
			return EXIT_FAILURE;
	__atomic_add_fetch(&samples->rewrites, i, __ATOMIC_RELAXED);
	return EXIT_SUCCESS;
}

/*
 * Returns the time of mkdir() beside tasks that rewrite @file, in ms, or -1, and
 * adds how often they did to @rewrites.
 */
static long mkdir_beside(const char *root, const char *file, long *rewrites)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "life_rewritten");
	char *other __free(cgroup) = create_io_parent(root, "life_other");
	pid_t pids[NR_REWRITERS], pid;
	long ms;
	int i;

	if (!cgroup || !other)
		return -1;
	samples->rewrites = 0;
	fflush(stdout);
	for (i = 0; i < NR_REWRITERS; i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(rewrite(cgroup, file));
	}
	pid = start_mkdir(other);
	sleep_ms(REWRITE_MS);
	ms = end_mkdir(pid);
	if (!wait_tasks(pids, NR_REWRITERS))
		return -1;
	*rewrites += samples->rewrites;
	ksft_print_msg("%s: rewritten %ld times, mkdir %ld ms\n", file,
		       samples->rewrites, ms);
	return ms;
}

/*
 * Rewriting a limit delays mkdir() elsewhere no more than memory.max does, and is
 * not slow itself, so that the delay is not that of a few rewrites. The two take
 * turns, since a machine may be busy during one of them.
 */
static int test_rewrite(const char *root)
{
	long max[NR_TURNS], limit[NR_TURNS], max_rewrites = 0, rewrites = 0;
	int i;

	for (i = 0; i < NR_TURNS; i++) {
		max[i] = mkdir_beside(root, "memory.max", &max_rewrites);
		limit[i] = mkdir_beside(root, LIMIT_FILE, &rewrites);
		if (max[i] < 0 || limit[i] < 0)
			return KSFT_FAIL;
	}
	return passed(compare_turns("mkdir", limit, max, REWRITE_SLACK_MS) &&
		      rewrites >= max_rewrites / 4);
}

/* Returns the time of NR_SAME writes in ms, or -1. Ends soon after @most_ms. */
static long write_same(const char *cgroup, const char *file, char *value,
		       long most_ms)
{
	long start = now_ms();
	int i;

	for (i = 0; i < NR_SAME && now_ms() - start <= most_ms; i++)
		if (cg_write(cgroup, file, value))
			return -1;
	if (i < NR_SAME)
		ksft_print_msg("only %d writes\n", i);
	return now_ms() - start;
}

/* The limit files, the counts and the events of a cgroup that is empty. */
static int read_all(const char *cgroup, char *text, size_t len)
{
	static const char *const files[] = {
		LIMIT_FILE, BACKGROUND_FILE, RATIO_FILE, BACKGROUND_RATIO_FILE,
		STAT_FILE, PEAK_FILE, "memory.events",
	};
	size_t at = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		if (cg_read(cgroup, files[i], text + at, len - at))
			return -1;
		at += strlen(text + at);
	}
	return 0;
}

/* Writes @value, which @file has already, and compares with memory.max. */
static bool same_changes_nothing(const char *cgroup, const char *file,
				 char *value)
{
	char before[4096], after[4096];
	long control, ms;

	if (cg_write(cgroup, "memory.max", "512M"))
		return false;
	control = write_same(cgroup, "memory.max", "512M", LONG_MAX);
	if (cg_write(cgroup, "memory.max", "max") ||
	    read_all(cgroup, before, sizeof(before)))
		return false;
	ms = write_same(cgroup, file, value, 2 * control + SAME_SLACK_MS);
	if (!compare_ms(value, ms, control, SAME_SLACK_MS) ||
	    read_all(cgroup, after, sizeof(after)))
		return false;
	if (strcmp(before, after)) {
		ksft_print_msg("%s changed\n%s to\n%s", file, before, after);
		return false;
	}
	return true;
}

/* A value over itself, and max over max or over the ratio of the same limit. */
static int test_same_value(const char *root)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "life_same");

	return passed(cgroup && same_changes_nothing(cgroup, LIMIT_FILE, "max") &&
		      !cg_write(cgroup, LIMIT_FILE, "16M") &&
		      same_changes_nothing(cgroup, LIMIT_FILE, "16777216") &&
		      cg_takes(cgroup, BACKGROUND_RATIO_FILE, "10", "10\n") &&
		      !cg_write(cgroup, BACKGROUND_FILE, "max") &&
		      cg_shows(cgroup, BACKGROUND_RATIO_FILE, "10\n") &&
		      cg_shows(cgroup, LIMIT_FILE, "16777216\n"));
}

/* Waits for the data, not for the journal, which slow siblings delay. */
static int write_and_flush(const char *cgroup, void *arg)
{
	int fd __free(fd) = -1;
	const struct writes *writes = arg;
	int ret = do_writes(cgroup, arg);

	if (ret)
		return ret;
	fd = open(writes->file, O_WRONLY);
	return sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE |
			       SYNC_FILE_RANGE_WRITE |
			       SYNC_FILE_RANGE_WAIT_AFTER) ? 4 : 0;
}

/* Ends a writer on a slow disk, and speeds that up, so that its file can go. */
static bool stop_slow(const char *cgroup, pid_t pid)
{
	bool running = stop_task(pid);

	slow_down(cgroup, 1000);
	return running;
}

/*
 * Measures the peak of an endless writer on a slow disk, with its own @limit
 * unless that is NULL. Returns it in bytes, or a negative result of the test.
 */
static long peak_below_max(const char *root, char *limit)
{
	const char *file __free(file) = test_file;
	char *parent __free(cgroup) = create_io_parent(root, "life_loosen");
	char *child __free(cgroup) = create_cgroup(parent, "child");
	struct writes writes = { .file = file, .wrap = MB(1024L) };
	long peak;
	pid_t pid;

	sync();
	/* To open such a file makes the kernel count, also without a limit. */
	if (!child || cg_write(parent, "memory.max", "300M") ||
	    cg_write(child, PEAK_FILE, "reset") ||
	    (limit && cg_write(child, LIMIT_FILE, limit)))
		return -KSFT_FAIL;
	slow_down(child, 10);
	pid = cg_run_nowait(child, do_writes, &writes);
	sleep_ms(PEAK_MS);
	if (!stop_slow(child, pid)) {
		ksft_print_msg("the writer failed\n");
		return -KSFT_FAIL;
	}
	peak = cg_read_long(child, PEAK_FILE);
	ksft_print_msg("limit %s: peak %ld bytes\n", limit ?: "none", peak);
	if (peak < 0)
		return -KSFT_FAIL;
	return limit || peak >= LOWEST_PEAK ? peak : -KSFT_SKIP;
}

/* A limit of 1P gives a child no more than the share of its parent's memory. */
static int test_cannot_loosen(const char *root)
{
	long before = peak_below_max(root, NULL);
	long loose = before < 0 ? before : peak_below_max(root, "1P");
	long after = loose < 0 ? loose : peak_below_max(root, NULL);
	long control = before > after ? before : after;

	if (after < 0)
		return -after;
	return passed(loose <= control / 10 * 11 + PEAK_SLACK);
}

/*
 * In a file system in ordered mode, a task that allocates blocks waits for the
 * data of others. So the files get their blocks before there are limits.
 */
static bool allocate_files(const char *fast, const char *slow)
{
	struct writes fast_file = { .file = test_file, .bytes = FAST_BYTES };
	struct writes slow_file = { .file = other_file, .bytes = SLOW_BYTES };

	if (cg_run(fast, do_writes, &fast_file) ||
	    cg_run(slow, do_writes, &slow_file))
		return false;
	sync();
	return true;
}

/* Returns KB per second, or a negative result of the test. */
static long rate_of(const char *fast, bool both)
{
	struct writes writes = {
		.file = test_file, .bytes = FAST_BYTES, .keep = true,
	};
	long start = now_ms(), rate;

	if (cg_run(fast, write_and_flush, &writes))
		return -KSFT_FAIL;
	rate = FAST_BYTES / (now_ms() - start + 1);
	ksft_print_msg("limit on %s: %ld KB/s\n",
		       both ? "both" : "the slow one", rate);
	return rate;
}

/* A cgroup that wrote alone has left a part of its parent's limit. */
static bool leaves_room(int peak_fd)
{
	long peak = cg_read_long_fd(peak_fd);

	ksft_print_msg("the slow one: peak %ld bytes\n", peak);
	return peak >= 0 && peak <= MOST_OF_LIMIT;
}

/*
 * Writes beside a sibling on a slow disk, with the limit on both or on the slow
 * one. Returns KB per second, or a negative result of the test.
 */
static long rate_beside_slow(const char *root, bool both)
{
	const char *file __free(file) = test_file, *second __free(file) = other_file;
	char *parent __free(cgroup) = create_io_parent(root, "life_slow");
	char *slow __free(cgroup) = create_cgroup(parent, "slow");
	char *fast __free(cgroup) = create_cgroup(parent, "fast");
	struct writes endless = {
		.file = second, .wrap = SLOW_BYTES, .keep = true,
	};
	int peak_fd __free(fd) = -1;
	long rate = -KSFT_SKIP;
	pid_t pid;

	if (!slow || !fast || !allocate_files(fast, slow) ||
	    cg_write(both ? parent : slow, LIMIT_FILE, PARENT_LIMIT))
		return -KSFT_FAIL;
	peak_fd = cg_open(slow, PEAK_FILE, O_RDWR);
	if (peak_fd < 0 || write(peak_fd, "reset", 5) != 5)
		return -KSFT_FAIL;
	slow_down(slow, 1);
	pid = cg_run_nowait(slow, do_writes, &endless);
	if (wait_paused(slow))
		rate = rate_of(fast, both);
	if (both && rate >= 0 && !leaves_room(peak_fd))
		rate = -KSFT_FAIL;
	return stop_slow(slow, pid) || rate < 0 ? rate : -KSFT_FAIL;
}

/* A child on a slow disk does not take its parent's limit from a sibling. */
static int test_slow_sibling(const char *root)
{
	long control = rate_beside_slow(root, false);
	long rate = control < 0 ? control : rate_beside_slow(root, true);

	if (rate < 0)
		return -rate;
	return passed(rate >= control / 100 * FAST_PERCENT);
}

/* Returns the time of the writes, 99th percentile, in ms. */
static long sample_light(const char *light, bool both)
{
	struct writes little = {
		.file = test_file, .bytes = LIGHT_WRITES * CHUNK,
		.pause_ms = LIGHT_PAUSE_MS, .took = add_sample,
	};
	long ms;

	samples->nr = 0;
	if (cg_run(light, do_writes, &little))
		return -KSFT_FAIL;
	ms = p99();
	ksft_print_msg("limit on %s: slowest write %ld ms, %ld pauses\n",
		       both ? "both" : "the busy one",
		       samples->ms[samples->nr - 1],
		       dirty_stat(light, "throttled "));
	return ms;
}

/*
 * Measures a light tenant's writes beside a busy one, with the limit on both or
 * on the busy one. Returns the time in ms, or a negative result of the test.
 */
static long light_ms(const char *root, bool both)
{
	const char *file __free(file) = test_file;
	char *parent __free(cgroup) = create_io_parent(root, "life_leaves");
	char *busy __free(cgroup) = create_io_parent(parent, "busy");
	char *light __free(cgroup) = create_cgroup(parent, "light");
	struct leaves leaves __free(leaves) = { .nr = NR_LEAVES };
	long ms = -KSFT_FAIL;
	bool running;

	sync();
	if (!busy || !light ||
	    cg_write(both ? parent : busy, LIMIT_FILE, PARENT_LIMIT))
		return -KSFT_FAIL;
	slow_down(busy, 20);
	if (start_leaves(&leaves, busy, MB(64L)))
		ms = wait_paused(busy) ? sample_light(light, both) : -KSFT_SKIP;
	running = stop_leaves(&leaves);
	slow_down(busy, 1000);
	return running || ms < 0 ? ms : -KSFT_FAIL;
}

/*
 * A tenant's many leaf cgroups do not slow another tenant's light writer. As in
 * test_rewrite(), the two cases take turns.
 */
static int test_many_leaves(const char *root)
{
	long control[NR_TURNS], ms[NR_TURNS];
	int i;

	for (i = 0; i < NR_TURNS; i++) {
		control[i] = light_ms(root, false);
		if (control[i] < 0)
			return -control[i];
		ms[i] = light_ms(root, true);
		if (ms[i] < 0)
			return -ms[i];
	}
	return passed(compare_turns("write", ms, control, LIGHT_SLACK_MS));
}

static long events(const char *cgroup, const char *file)
{
	return cg_read_key_long(cgroup, file, "dirty_limit ");
}

/* Reads the events, and waits for new ones. Returns as poll() does. */
static int poll_events(int fd, int ms)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLPRI };
	char text[BUFSIZ];

	if (fd < 0 || pread(fd, text, sizeof(text), 0) <= 0)
		return -1;
	return poll(&pollfd, 1, ms);
}

/* Waits for more events than @first. A late wakeup may be for an old one. */
static bool poll_more(int fd, const char *cgroup, long first)
{
	long end = now_ms() + EVENT_MS;

	while (now_ms() < end) {
		if (poll_events(fd, EVENT_MS) != 1)
			break;
		if (events(cgroup, "memory.events") > first)
			return true;
	}
	ksft_print_msg("no more events than %ld\n", first);
	return false;
}

/* Pauses count where the limit is, and in the sums of its ancestors. */
static bool check_events(const char *top, const char *limited, const char *child)
{
	const char *const cgroups[] = { top, limited, child };
	static const bool any[] = { true, true, false };
	static const bool any_local[] = { false, true, false };
	long sum, local;
	bool ok = true;
	int i;

	for (i = 0; i < ARRAY_SIZE(cgroups); i++) {
		local = events(cgroups[i], "memory.events.local");
		sum = events(cgroups[i], "memory.events");
		if (local >= 0 && sum >= 0 && !any[i] == !sum &&
		    !any_local[i] == !local)
			continue;
		ksft_print_msg("%s: %ld events, %ld local\n", cgroups[i], sum,
			       local);
		ok = false;
	}
	return ok;
}

/* The first event, then more of them, and only where they belong. */
static int await_events(int fd, const char *top, const char *limited,
			const char *child)
{
	long first;

	if (poll_events(fd, EVENT_MS) != 1) {
		ksft_print_msg("no event within %d ms\n", EVENT_MS);
		return dirty_stat(child, "throttled ") ? KSFT_FAIL : KSFT_SKIP;
	}
	first = events(limited, "memory.events");
	return passed(first >= 1 && poll_more(fd, limited, first) &&
		      check_events(top, limited, child));
}

/* poll() on memory.events of a limited cgroup tells of a paused writer. */
static int test_event_poll(const char *root)
{
	const char *file __free(file) = test_file;
	char *top __free(cgroup) = create_io_parent(root, "life_events");
	char *limited __free(cgroup) = create_io_parent(top, "limited");
	char *child __free(cgroup) = create_cgroup(limited, "child");
	int fd __free(fd) = -1, ret;
	struct writes endless = { .file = file, .wrap = MB(256L) };
	pid_t pid;

	if (!child || cg_write(limited, LIMIT_FILE, "8M"))
		return KSFT_FAIL;
	slow_down(child, 2);
	fd = cg_open(limited, "memory.events", O_RDONLY);
	/* The control: without a writer, there is no event. */
	if (poll_events(fd, 1000) || events(limited, "memory.events"))
		return KSFT_FAIL;
	pid = cg_run_nowait(child, do_writes, &endless);
	ret = await_events(fd, top, limited, child);
	return stop_slow(child, pid) || ret != KSFT_PASS ? ret : KSFT_FAIL;
}

/* The time when the tasks of test_storm() end, in ms. */
static long storm_end;

static void storm_file(char *name, size_t len, int number)
{
	snprintf(name, len, "test_memcg_dirty_life_%d.tmp", number);
}

static void remove_storm_files(void)
{
	char name[64];
	int i;

	for (i = 0; i < NR_STORM_FILES; i++) {
		storm_file(name, sizeof(name), i);
		unlink(name);
	}
}

/* Makes each kind of change of a limit: new, tighter, looser, none. */
static int storm_set(const char *parent)
{
	static char *const limits[] = { "8M", "1M", "64K", "1G", "max" };
	static char *const ratios[] = { "1", "20", "max" };
	int i, ret = 0;

	for (i = 0; !ret && now_ms() < storm_end; i++) {
		ret = cg_write(parent, LIMIT_FILE,
			       limits[i % ARRAY_SIZE(limits)]) ||
		      cg_write(parent, BACKGROUND_RATIO_FILE,
			       ratios[i % ARRAY_SIZE(ratios)]);
		if (i % 8 == 7)
			ret = ret || cg_write(parent, RATIO_FILE, "30");
		ret = ret || cg_write(parent, MIN_FILE,
				      limits[(i + 1) % ARRAY_SIZE(limits)]);
	}
	return ret;
}

/* Without the controller, the children's pages become the parent's. */
static int storm_toggle(const char *parent)
{
	int ret = 0;

	while (!ret && now_ms() < storm_end) {
		ret = cg_write(parent, "cgroup.subtree_control", "-memory");
		sleep_ms(50);
		ret = ret || cg_write(parent, "cgroup.subtree_control", "+memory");
		sleep_ms(200);
	}
	return ret;
}

static int storm_read(const char *parent)
{
	char text[BUFSIZ];
	int ret = 0;

	while (!ret && now_ms() < storm_end) {
		ret = read_all(parent, text, sizeof(text)) ||
		      cg_write(parent, PEAK_FILE, "reset");
		sleep_ms(1);
	}
	return ret;
}

/* Other cgroups, also removed ones, have written the same files. */
static int storm_write_file(const char *cgroup, void *arg)
{
	int *round = arg, number = *round % NR_STORM_FILES;
	static char data[CHUNK];
	char name[64];
	int i, fd;

	storm_file(name, sizeof(name), number);
	fd = open(name, O_CREAT | O_WRONLY, 0600);
	for (i = 0; fd >= 0 && i < 16; i++)
		if (pwrite(fd, data, CHUNK, (*round + i) % 64 * CHUNK) != CHUNK)
			return EXIT_FAILURE;
	if (*round % 5 == 0 && fd >= 0)
		fsync(fd);
	if (*round % 7 == 0)
		unlink(name);
	return fd < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Creates a cgroup, writes in it, and removes it. */
static int storm_write(const char *parent)
{
	char path[PATH_MAX];
	int round = getpid(), ret = 0;

	for (; !ret && now_ms() < storm_end; round++) {
		snprintf(path, sizeof(path), "%s/storm%d_%d", parent, getpid(),
			 round);
		if (cg_create(path))
			return -1;
		/* The file may be absent. */
		cg_write(path, MIN_FILE, round % 2 ? "1M" : "max");
		ret = cg_run(path, storm_write_file, &round);
		ret = cg_destroy(path) || ret;
	}
	return ret;
}

/* Removed cgroups leave no claims: a new one gets all of its parent's floor. */
static bool no_claims_left(const char *parent)
{
	char *child __free(cgroup) = create_cgroup(parent, "claim");

	/* A cgroup's limit caps its floor. */
	return child && !cg_write(parent, LIMIT_FILE, "1G") &&
	       !cg_write(parent, MIN_FILE, "8M") &&
	       !cg_write(child, MIN_FILE, "max") &&
	       floor_becomes(child, MB(8L), OFFLINE_SECONDS);
}

/* Settings, cgroups and writers change at once; warnings are on the console. */
static int test_storm(const char *root)
{
	char *parent __free(cgroup) = create_io_parent(root, "life_storm");
	static int (*const work[])(const char *parent) = {
		storm_set, storm_set, storm_toggle, storm_read,
		storm_write, storm_write, storm_write, storm_write,
	};
	pid_t pids[ARRAY_SIZE(work)];
	bool good = true;
	int i;

	if (!parent)
		return KSFT_FAIL;
	storm_end = now_ms() + STORM_MS;
	fflush(stdout);
	for (i = 0; i < ARRAY_SIZE(work); i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(work[i](parent) ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	for (i = 0; i < ARRAY_SIZE(work); i++)
		if (!wait_task(pids[i])) {
			ksft_print_msg("task %d of the storm failed\n", i);
			good = false;
		}
	good = is_clean(parent) && good;
	good = no_claims_left(parent) && good;
	remove_storm_files();
	return passed(good);
}

static const struct memcg_test tests[] = {
	T(test_set_many),
	T(test_rewrite),
	T(test_same_value),
	T(test_cannot_loosen, &on_disk),
	T(test_slow_sibling, &on_disk),
	T(test_many_leaves, &on_disk),
	T(test_event_poll, &on_disk),
	T(test_storm, &on_disk),
};

static void share_samples(const char *root)
{
	samples = share_memory(sizeof(*samples));
}

int main(void)
{
	return memcg_test_main(tests, ARRAY_SIZE(tests), share_samples);
}
