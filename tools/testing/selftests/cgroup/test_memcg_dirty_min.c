// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for memory.dirty_min, the floor below which the limits above a cgroup
 * do not pause its writers: values, the division of floors among siblings and
 * down the tree, and a writer below its floor beside one that fills the limits
 * above.
 *
 * Tests that write need a current directory on a file system with cgroup
 * writeback, on a disk that is slower than memory; elsewhere they are skipped.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_dirty_util.h"
#include "memcg_test_util.h"

#define VM_LIMIT	"/proc/sys/vm/dirty_bytes"
#define VM_BACKGROUND	"/proc/sys/vm/dirty_background_bytes"
#define VM_RATIO	"/proc/sys/vm/dirty_ratio"
#define VM_BACKGROUND_RATIO	"/proc/sys/vm/dirty_background_ratio"

#define SYSTEM_BYTES	MB(32L)
#define FLOOR_BYTES	MB(12L)
#define VICTIM_BYTES	MB(8L)	/* the victim writes over this much */
#define VICTIM_WRITES	150
#define VICTIM_PAUSE_MS	20
#define HOG_RATE	8	/* MB/s that the hog's disk takes */
#define SAMPLE_MS	5
#define SLACK		MB(1L)	/* for the batches of the system's counts */

static const char *const hog_file = "test_memcg_dirty_min_hog.tmp";
static const char *const victim_file = "test_memcg_dirty_min.tmp";

/* The system's limits as they were. */
struct system_limits {
	char bytes[32];
	char background[32];
	char ratio[32];
	char background_ratio[32];
};

/* One of bytes and ratio is 0: a write to the other one has reset it. */
static void restore_system(const struct system_limits *old)
{
	if (atol(old->bytes))
		write_file(VM_LIMIT, old->bytes);
	else
		write_file(VM_RATIO, old->ratio);
	if (atol(old->background))
		write_file(VM_BACKGROUND, old->background);
	else
		write_file(VM_BACKGROUND_RATIO, old->background_ratio);
}

/* A limit of 32 MiB, and half of that in the background. */
static int limit_system(struct system_limits *old)
{
	if (read_text(VM_LIMIT, old->bytes, sizeof(old->bytes)) <= 0 ||
	    read_text(VM_BACKGROUND, old->background,
		      sizeof(old->background)) <= 0 ||
	    read_text(VM_RATIO, old->ratio, sizeof(old->ratio)) <= 0 ||
	    read_text(VM_BACKGROUND_RATIO, old->background_ratio,
		      sizeof(old->background_ratio)) <= 0)
		return -1;
	return write_file(VM_LIMIT, "33554432") ||
	       write_file(VM_BACKGROUND, "16777216");
}

static long used(const char *cgroup)
{
	return dirty_stat(cgroup, "dirty ") + dirty_stat(cgroup, "writeback ");
}

static bool floor_is(const char *cgroup, long bytes)
{
	long floor = dirty_stat(cgroup, "effective_min ");

	if (floor == bytes)
		return true;
	ksft_print_msg("%s: the effective floor is %ld, not %ld\n", cgroup,
		       floor, bytes);
	return false;
}

/* A cgroup with a floor, whose children may have floors too. */
static char *create_floored(const char *parent, const char *name, char *floor)
{
	char *cgroup = create_cgroup(parent, name);

	if (cgroup && (cg_write(cgroup, "cgroup.subtree_control", "+memory") ||
		       cg_write(cgroup, MIN_FILE, floor))) {
		destroy_cgroup(cgroup);
		return NULL;
	}
	return cgroup;
}

static int test_default(const char *root)
{
	char *cgroup = create_cgroup(root, "min_default"), path[PATH_MAX];
	int ret = KSFT_FAIL;

	snprintf(path, sizeof(path), "%s/%s", root, MIN_FILE);
	if (cgroup && access(path, F_OK) &&
	    !cg_read_strcmp(cgroup, MIN_FILE, "0\n") && floor_is(cgroup, 0))
		ret = KSFT_PASS;
	destroy_cgroup(cgroup);
	return ret;
}

static int test_values(const char *root)
{
	static char *const good[][2] = {
		{ "16777216", "16777216\n" }, { "16M", "16777216\n" },
		{ " 8m\n", "8388608\n" }, { "0", "0\n" }, { "max", "max\n" },
		{ "8E", "max\n" }, { "5000", "4096\n" },
	};
	static char *const bad[] = {
		"-1", "12x", "\n", "M", "maxx", "1 M", "default", "10%",
	};
	char *cgroup = create_cgroup(root, "min_values");
	int i, ret = KSFT_FAIL;

	for (i = 0; cgroup && i < ARRAY_SIZE(good); i++)
		if (cg_write(cgroup, MIN_FILE, good[i][0]) ||
		    cg_read_strcmp(cgroup, MIN_FILE, good[i][1])) {
			ksft_print_msg("'%s' is not taken\n", good[i][0]);
			goto out;
		}
	for (i = 0; cgroup && i < ARRAY_SIZE(bad); i++)
		if (cg_write(cgroup, MIN_FILE, bad[i]) != -EINVAL ||
		    cg_read_strcmp(cgroup, MIN_FILE, "4096\n")) {
			ksft_print_msg("'%s' is not refused\n", bad[i]);
			goto out;
		}
	if (cgroup)
		ret = KSFT_PASS;
out:
	destroy_cgroup(cgroup);
	return ret;
}

/* No child has more than its parent, and none more than half of all. */
static int test_delegation(const char *root)
{
	char *parent = create_floored(root, "min_parent", "8M");
	char *child = parent ? create_floored(parent, "child", "max") : NULL;
	char *leaf = child ? create_cgroup(child, "leaf") : NULL;
	struct system_limits old = {};
	int ret = KSFT_FAIL;

	if (!leaf || limit_system(&old))
		goto out;
	if (!floor_is(parent, MB(8L)) || !floor_is(child, MB(8L)) ||
	    cg_write(child, MIN_FILE, "2M") || !floor_is(child, MB(2L)) ||
	    cg_write(leaf, MIN_FILE, "1G") || !floor_is(leaf, MB(2L)) ||
	    cg_write(parent, MIN_FILE, "max") ||
	    !floor_is(parent, SYSTEM_BYTES / 2) ||
	    cg_write(parent, MIN_FILE, "0") || !floor_is(child, 0) ||
	    !floor_is(leaf, 0))
		goto out;
	ret = KSFT_PASS;
out:
	restore_system(&old);
	destroy_cgroup(leaf);
	destroy_cgroup(child);
	destroy_cgroup(parent);
	return ret;
}

/* A floor ends with the controller, and with the cgroup. */
static int test_offline(const char *root)
{
	char *parent = create_floored(root, "min_parent", "8M");
	char *child = parent ? create_cgroup(parent, "child") : NULL;
	int ret = KSFT_FAIL;

	/* -memory ends the css; with io, which needs it, only hides it. */
	if (parent)
		cg_write(parent, "cgroup.subtree_control", "+io");
	if (!child || cg_write(child, MIN_FILE, "4M") ||
	    !floor_is(child, MB(4L)) ||
	    cg_write(parent, "cgroup.subtree_control", "-memory") ||
	    cg_write(parent, "cgroup.subtree_control", "+memory") ||
	    cg_read_strcmp(child, MIN_FILE, "0\n"))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(child);
	destroy_cgroup(parent);
	return ret;
}

/**
 * struct writes - the work of a writer
 * @file: name of the file
 * @nr: how many chunks to write, 0 for no end
 * @wrap: after so many bytes, begin anew at the start of the file
 * @pause_ms: pause between one write() and the next
 */
struct writes {
	const char *file;
	int nr;
	long wrap;
	int pause_ms;
};

static int do_writes(const char *cgroup, void *arg)
{
	const struct writes *writes = arg;
	static char data[CHUNK];
	int fd = open(writes->file, O_CREAT | O_WRONLY, 0600), i;
	long at = 0;

	for (i = 0; fd >= 0 && (!writes->nr || i < writes->nr); i++) {
		if (pwrite(fd, data, CHUNK, at) != CHUNK)
			return EXIT_FAILURE;
		at = (at + CHUNK) % writes->wrap;
		if (writes->pause_ms)
			sleep_ms(writes->pause_ms);
	}
	return fd < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void stop(pid_t pid)
{
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* The sum of dirty pages and pages under writeback in the system, in bytes. */
static long system_used(void)
{
	static const char *const keys[] = { "\nDirty:", "\nWriteback:" };
	char text[8192], *at;
	long kib = 0;
	int i;

	if (read_text("/proc/meminfo", text, sizeof(text)) <= 0)
		return -1;
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		at = strstr(text, keys[i]);
		kib += at ? atol(at + strlen(keys[i])) : 0;
	}
	return kib * 1024;
}

/**
 * struct sampled - samples that a task takes of a writer
 * @nr: number of samples
 * @throttled: samples in which the writer was in balance_dirty_pages()
 * @peak: the highest sum of the system's dirty and writeback bytes
 */
struct sampled {
	int nr;
	int throttled;
	long peak;
};

static bool in_balance_dirty_pages(pid_t pid)
{
	char path[64], text[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/wchan", pid);
	read_text(path, text, sizeof(text));
	return strstr(text, "balance_dirty_pages") ||
	       strstr(text, "memcg_dirty_sleep");
}

/* Returns whether the writer has done its work. */
static bool watch(pid_t pid, struct sampled *sampled)
{
	long bytes;
	int status;

	*sampled = (struct sampled){};
	while (!waitpid(pid, &status, WNOHANG)) {
		sampled->nr++;
		sampled->throttled += in_balance_dirty_pages(pid);
		bytes = system_used();
		if (bytes > sampled->peak)
			sampled->peak = bytes;
		sleep_ms(SAMPLE_MS);
	}
	ksft_print_msg("throttled in %d of %d samples, peak %ld\n",
		       sampled->throttled, sampled->nr, sampled->peak);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/**
 * struct scene - a light writer, the victim, beside one that takes all, the hog
 * @hog: cgroup of the hog
 * @victim: cgroup of the victim
 * @writes: the work of the victim
 */
struct scene {
	const char *hog;
	const char *victim;
	struct writes writes;
};

static const struct writes little = {
	.file = "test_memcg_dirty_min.tmp", .nr = VICTIM_WRITES,
	.wrap = VICTIM_BYTES, .pause_ms = VICTIM_PAUSE_MS,
};

static bool play(struct scene *scene, struct sampled *sampled)
{
	struct writes endless = { .file = hog_file, .wrap = MB(256L) };
	pid_t hog, victim;
	bool ok;

	sync();
	slow_down(scene->hog, HOG_RATE);
	hog = cg_run_nowait(scene->hog, do_writes, &endless);
	sleep_ms(3000);
	victim = cg_run_nowait(scene->victim, do_writes, &scene->writes);
	ok = hog > 0 && victim > 0 && watch(victim, sampled);
	stop(hog);
	slow_down(scene->hog, 1000);
	unlink(hog_file);
	unlink(scene->writes.file);
	return ok;
}

/* Allows two hundredths of the time. */
static bool not_throttled(const struct sampled *sampled)
{
	return sampled->throttled <= sampled->nr / 50;
}

/*
 * Plays the scene without the victim's floor, where the victim has to be
 * throttled for the test to have a meaning, and then with the floor.
 */
static int compare(struct scene *scene, struct sampled *sampled)
{
	if (!play(scene, sampled))
		return KSFT_FAIL;
	if (sampled->throttled < sampled->nr / 10) {
		ksft_print_msg("the victim is not throttled without a floor\n");
		return KSFT_SKIP;
	}
	if (cg_write(scene->victim, MIN_FILE, "12M") || !play(scene, sampled))
		return KSFT_FAIL;
	return not_throttled(sampled) ? KSFT_PASS : KSFT_FAIL;
}

/* The hog fills the limit of the system. */
static int test_system(const char *root)
{
	struct scene scene = {
		.hog = create_cgroup(root, "min_hog"),
		.victim = create_cgroup(root, "min_victim"),
		.writes = little,
	};
	struct system_limits old = {};
	struct sampled sampled;
	int ret = KSFT_FAIL;

	if (!scene.hog || !scene.victim || limit_system(&old))
		goto out;
	ret = compare(&scene, &sampled);
	if (ret == KSFT_PASS &&
	    sampled.peak > SYSTEM_BYTES + FLOOR_BYTES + SLACK)
		ret = KSFT_FAIL;
out:
	restore_system(&old);
	destroy_cgroup((char *)scene.victim);
	destroy_cgroup((char *)scene.hog);
	return ret;
}

/* Above its floor, a writer is paused like any other. */
static int test_above(const char *root)
{
	struct scene scene = {
		.hog = create_cgroup(root, "min_hog"),
		.victim = create_cgroup(root, "min_victim"),
		.writes = {
			.file = victim_file, .nr = MB(24L) / CHUNK,
			.wrap = MB(24L),
		},
	};
	struct system_limits old = {};
	int ret = KSFT_FAIL;
	struct sampled sampled;

	if (!scene.hog || !scene.victim || limit_system(&old) ||
	    cg_write(scene.victim, MIN_FILE, "4M") || !play(&scene, &sampled))
		goto out;
	if (sampled.throttled >= sampled.nr / 5 &&
	    sampled.peak <= SYSTEM_BYTES + MB(4L) + SLACK)
		ret = KSFT_PASS;
out:
	restore_system(&old);
	destroy_cgroup((char *)scene.victim);
	destroy_cgroup((char *)scene.hog);
	return ret;
}

/* The hog fills the limit of a common parent. */
static int test_ancestor(const char *root)
{
	char *parent = create_floored(root, "min_parent", "12M");
	struct scene scene = {
		.hog = parent ? create_cgroup(parent, "hog") : NULL,
		.victim = parent ? create_cgroup(parent, "victim") : NULL,
		.writes = little,
	};
	int ret = KSFT_FAIL;
	struct sampled sampled;

	if (!scene.hog || !scene.victim || cg_write(parent, LIMIT_FILE, "8M") ||
	    cg_write(parent, MIN_FILE, "0"))
		goto out;
	if (!play(&scene, &sampled))
		goto out;
	if (not_throttled(&sampled)) {
		ret = KSFT_SKIP;
		goto out;
	}
	if (!cg_write(scene.victim, MIN_FILE, "12M") &&
	    !cg_write(parent, MIN_FILE, "12M") && play(&scene, &sampled) &&
	    not_throttled(&sampled) &&
	    cg_read_long(parent, PEAK_FILE) <= MB(8L) + FLOOR_BYTES)
		ret = KSFT_PASS;
out:
	destroy_cgroup((char *)scene.victim);
	destroy_cgroup((char *)scene.hog);
	destroy_cgroup(parent);
	return ret;
}

/* A floor does not lift the cgroup's own limit. */
static int test_own_limit(const char *root)
{
	struct writes writes = {
		.file = victim_file, .nr = MB(16L) / CHUNK, .wrap = MB(16L),
	};
	char *cgroup = create_floored(root, "min_limited", "12M");
	int ret = KSFT_FAIL;
	long peak;

	if (!cgroup || cg_write(cgroup, "cgroup.subtree_control", "-memory") ||
	    cg_write(cgroup, LIMIT_FILE, "4M"))
		goto out;
	slow_down(cgroup, HOG_RATE);
	if (cg_run(cgroup, do_writes, &writes))
		goto out;
	peak = cg_read_long(cgroup, PEAK_FILE);
	ksft_print_msg("peak %ld of %ld bytes\n", peak, MB(4L));
	if (peak <= MB(4L) / 100 * 105)
		ret = KSFT_PASS;
out:
	unlink(victim_file);
	destroy_cgroup(cgroup);
	return ret;
}

/* A cgroup goes offline some time after its directory was removed. */
static bool floor_becomes(const char *cgroup, long bytes)
{
	int i;

	for (i = 0; i < 50; i++) {
		if (dirty_stat(cgroup, "effective_min ") == bytes)
			return true;
		sleep_ms(100);
	}
	return floor_is(cgroup, bytes);
}

/*
 * Both claims together are more than half of the system's limit: each gets a
 * part. Pages may be written between two reads.
 */
static bool check_scaled(const char *first, const char *second)
{
	long a = dirty_stat(first, "effective_min ");
	long b = dirty_stat(second, "effective_min ");

	ksft_print_msg("floors of %ld and %ld, used %ld and %ld\n", a, b,
		       used(first), used(second));
	return a > 0 && b > 0 && a < FLOOR_BYTES && b < FLOOR_BYTES &&
	       a + b <= SYSTEM_BYTES / 2 + SLACK;
}

static int test_overcommit(const char *root)
{
	struct writes writes = {
		.file = victim_file, .nr = FLOOR_BYTES / CHUNK,
		.wrap = FLOOR_BYTES,
	};
	char *first = create_cgroup(root, "min_first");
	char *second = create_cgroup(root, "min_second");
	struct system_limits old = {};
	int ret = KSFT_FAIL;

	if (!first || !second || limit_system(&old) ||
	    cg_write(first, MIN_FILE, "12M") ||
	    cg_write(second, MIN_FILE, "12M") ||
	    !floor_is(first, FLOOR_BYTES) || !floor_is(second, FLOOR_BYTES))
		goto out;
	slow_down(first, 1);
	slow_down(second, 1);
	if (cg_run(first, do_writes, &writes))
		goto out;
	writes.file = hog_file;
	if (cg_run(second, do_writes, &writes) || !check_scaled(first, second))
		goto out;
	/* The dirty pages of a removed cgroup make no claim. */
	if (cg_destroy(second) || !floor_becomes(first, FLOOR_BYTES))
		goto out;
	ret = KSFT_PASS;
out:
	if (first)
		slow_down(first, 1000);
	restore_system(&old);
	unlink(victim_file);
	unlink(hog_file);
	destroy_cgroup(second);
	destroy_cgroup(first);
	return ret;
}

/* Without cgroup writeback, the floor of the writer's cgroup protects it. */
static int test_shared_writeback(const char *root)
{
	static const char disk[] = "test_memcg_dirty_min.disk";
	static const char place[] = "test_memcg_dirty_min.mnt";
	struct scene scene = {
		.hog = create_cgroup(root, "min_hog"),
		.victim = create_cgroup(root, "min_victim"),
		.writes = little,
	};
	struct system_limits old = {};
	struct sampled sampled;
	int ret = KSFT_FAIL;

	scene.writes.file = "test_memcg_dirty_min.mnt/file";
	if (!scene.hog || !scene.victim)
		goto out;
	mkdir(place, 0755);
	if (write_zeroes(disk, O_TRUNC, MB(32L)) ||
	    system("mkfs.vfat test_memcg_dirty_min.disk >/dev/null 2>&1") ||
	    system("losetup /dev/loop0 test_memcg_dirty_min.disk") ||
	    mount("/dev/loop0", place, "vfat", 0, NULL)) {
		ksft_print_msg("no vfat on /dev/loop0\n");
		ret = KSFT_SKIP;
		goto out;
	}
	if (!limit_system(&old))
		ret = compare(&scene, &sampled);
	umount(place);
out:
	restore_system(&old);
	if (system("losetup -d /dev/loop0"))
		ksft_print_msg("/dev/loop0 was not in use\n");
	rmdir(place);
	unlink(disk);
	destroy_cgroup((char *)scene.victim);
	destroy_cgroup((char *)scene.hog);
	return ret;
}

static const struct memcg_test tests[] = {
	T(test_default),
	T(test_values),
	T(test_delegation),
	T(test_offline),
	T(test_system, &on_disk),
	T(test_above, &on_disk),
	T(test_ancestor, &on_disk),
	T(test_own_limit, &on_disk),
	T(test_overcommit, &on_disk),
	T(test_shared_writeback, &on_disk),
};

int main(void)
{
	return memcg_test_main(tests, ARRAY_SIZE(tests), NULL);
}
