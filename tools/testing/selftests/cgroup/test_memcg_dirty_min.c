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

#include <fcntl.h>
#include <linux/limits.h>
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

#define VM_LIMIT	VM "/dirty_bytes"
#define VM_BACKGROUND	VM "/dirty_background_bytes"
#define VM_INTERVAL	VM "/dirty_writeback_centisecs"
#define VM_RATIO	VM "/dirty_ratio"
#define VM_BACKGROUND_RATIO	VM "/dirty_background_ratio"

#define SYSTEM_BYTES	MB(32L)
#define FLOOR_BYTES	MB(12L)
#define VICTIM_BYTES	MB(8L)	/* the victim writes over this much */
#define VICTIM_WRITES	150
#define VICTIM_PAUSE_MS	20
#define HOG_RATE	8	/* MB/s that the hog's disk takes */
#define SAMPLE_MS	5
#define REWRITE_MS	10000	/* how long a floor is rewritten */
#define DEPTH		300	/* below the cgroup whose floor is rewritten */
#define SLACK		MB(1L)	/* for the batches of the system's counts */

static const char *const hog_file = "test_memcg_dirty_min_hog.tmp";
static const char *const victim_file = "test_memcg_dirty_min.tmp";

/* The system's limits as they were. */
struct system_limits {
	struct setting bytes;
	struct setting background;
	struct setting ratio;
	struct setting background_ratio;
};

static struct system_limits save_system(void)
{
	return (struct system_limits){
		.bytes = save_setting(VM_LIMIT),
		.background = save_setting(VM_BACKGROUND),
		.ratio = save_setting(VM_RATIO),
		.background_ratio = save_setting(VM_BACKGROUND_RATIO),
	};
}

/* One of bytes and ratio is 0: a write to the other one has reset it. */
static void free_system(struct system_limits *old)
{
	free_setting(atol(old->bytes.text) ? &old->bytes : &old->ratio);
	free_setting(atol(old->background.text) ? &old->background :
						  &old->background_ratio);
}

/* A limit of 32 MiB, and half of that in the background. */
static bool limit_system(const struct system_limits *old)
{
	return *old->bytes.text && *old->background.text && *old->ratio.text &&
	       *old->background_ratio.text &&
	       !write_file(VM_LIMIT, "33554432") &&
	       !write_file(VM_BACKGROUND, "16777216");
}

/* A cgroup with a floor, whose children may have floors too. */
static char *create_floored(const char *parent, const char *name, char *floor)
{
	char *cgroup = create_parent(parent, name);

	if (cgroup && cg_write(cgroup, MIN_FILE, floor)) {
		destroy_cgroup(cgroup);
		return NULL;
	}
	return cgroup;
}

static int test_default(const char *root)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "min_default");

	return passed(cgroup && !cg_has(root, MIN_FILE) &&
		      cg_shows(cgroup, MIN_FILE, "0\n") && floor_is(cgroup, 0));
}

static int test_values(const char *root)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "min_values");
	static const char *const good[][2] = {
		{ "16777216", "16777216\n" }, { "16M", "16777216\n" },
		{ " 8m\n", "8388608\n" }, { "0", "0\n" }, { "max", "max\n" },
		{ "8E", "max\n" }, { "5000", "4096\n" },
	};
	static const char *const bad[] = {
		"-1", "12x", "\n", "M", "maxx", "1 M", "default", "10%",
	};
	int i;

	if (!cgroup)
		return KSFT_FAIL;
	for (i = 0; i < ARRAY_SIZE(good); i++)
		if (!cg_takes(cgroup, MIN_FILE, good[i][0], good[i][1]))
			return KSFT_FAIL;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		if (!cg_refuses(cgroup, MIN_FILE, bad[i], "4096\n"))
			return KSFT_FAIL;
	return KSFT_PASS;
}

/* No child has more than its parent, and none more than half of all. */
static int test_delegation(const char *root)
{
	char *parent __free(cgroup) = create_floored(root, "min_parent", "8M");
	char *child __free(cgroup) = create_floored(parent, "child", "max");
	char *leaf __free(cgroup) = create_cgroup(child, "leaf");
	struct system_limits old __free(system) = save_system();

	return passed(leaf && limit_system(&old) &&
		      floor_is(parent, MB(8L)) && floor_is(child, MB(8L)) &&
		      !cg_write(child, MIN_FILE, "2M") &&
		      floor_is(child, MB(2L)) &&
		      !cg_write(leaf, MIN_FILE, "1G") &&
		      floor_is(leaf, MB(2L)) &&
		      !cg_write(parent, MIN_FILE, "max") &&
		      floor_is(parent, SYSTEM_BYTES / 2) &&
		      !cg_write(parent, MIN_FILE, "0") && floor_is(child, 0) &&
		      floor_is(leaf, 0));
}

/* A floor ends with the controller, and with the cgroup. */
static int test_offline(const char *root)
{
	char *parent __free(cgroup) = create_floored(root, "min_parent", "8M");
	char *child __free(cgroup) = create_cgroup(parent, "child");

	/* -memory ends the css; with io, which needs it, only hides it. */
	if (parent)
		cg_write(parent, "cgroup.subtree_control", "+io");
	return passed(child && !cg_write(child, MIN_FILE, "4M") &&
		      floor_is(child, MB(4L)) &&
		      !cg_write(parent, "cgroup.subtree_control", "-memory") &&
		      !cg_write(parent, "cgroup.subtree_control", "+memory") &&
		      cg_shows(child, MIN_FILE, "0\n"));
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
	.file = "test_memcg_dirty_min.tmp", .bytes = VICTIM_WRITES * CHUNK,
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
	stop_task(hog);
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
	return passed(not_throttled(sampled));
}

/* The hog fills the limit of the system. */
static int test_system(const char *root)
{
	char *hog __free(cgroup) = create_cgroup(root, "min_hog");
	char *victim __free(cgroup) = create_cgroup(root, "min_victim");
	struct system_limits old __free(system) = save_system();
	struct scene scene = { hog, victim, little };
	struct sampled sampled;
	int ret;

	if (!hog || !victim || !limit_system(&old))
		return KSFT_FAIL;
	ret = compare(&scene, &sampled);
	if (ret == KSFT_PASS &&
	    sampled.peak > SYSTEM_BYTES + FLOOR_BYTES + SLACK)
		return KSFT_FAIL;
	return ret;
}

/*
 * Above its floor, a writer is paused like any other. Its disk is slow, so that
 * it has to wait on a slow machine, too.
 */
static int test_above(const char *root)
{
	char *hog __free(cgroup) = create_cgroup(root, "min_hog");
	char *victim __free(cgroup) = create_cgroup(root, "min_victim");
	struct system_limits old __free(system) = save_system();
	struct scene scene = {
		hog, victim,
		{ .file = victim_file, .bytes = MB(48L), .wrap = MB(48L) },
	};
	struct sampled sampled;

	if (!hog || !victim)
		return KSFT_FAIL;
	slow_down(victim, HOG_RATE);
	return passed(limit_system(&old) && !cg_write(victim, MIN_FILE, "4M") &&
		      play(&scene, &sampled) &&
		      sampled.throttled >= sampled.nr / 5 &&
		      sampled.peak <= SYSTEM_BYTES + MB(4L) + SLACK);
}

/*
 * The hog fills the limit of a common parent. Of that limit, a victim with few
 * pages has its share even without a floor: this one has as many as the hog.
 */
static int test_ancestor(const char *root)
{
	char *parent __free(cgroup) = create_floored(root, "min_parent", "12M");
	char *hog __free(cgroup) = create_cgroup(parent, "hog");
	char *victim __free(cgroup) = create_cgroup(parent, "victim");
	struct scene scene = {
		hog, victim,
		{ .file = victim_file, .bytes = MB(100L), .wrap = VICTIM_BYTES,
		  .pause_ms = 1 },
	};
	struct sampled sampled;

	if (!hog || !victim || cg_write(parent, LIMIT_FILE, "8M") ||
	    cg_write(parent, MIN_FILE, "0") || !play(&scene, &sampled))
		return KSFT_FAIL;
	if (not_throttled(&sampled))
		return KSFT_SKIP;
	return passed(!cg_write(victim, MIN_FILE, "12M") &&
		      !cg_write(parent, MIN_FILE, "12M") &&
		      play(&scene, &sampled) && not_throttled(&sampled) &&
		      cg_read_long(parent, PEAK_FILE) <= MB(8L) + FLOOR_BYTES);
}

/* A floor does not lift the cgroup's own limit. */
static int test_own_limit(const char *root)
{
	char *cgroup __free(cgroup) = create_floored(root, "min_limited", "12M");
	const char *file __free(file) = victim_file;
	struct writes writes = { .file = file, .bytes = MB(16L) };
	long peak;

	if (!cgroup || cg_write(cgroup, "cgroup.subtree_control", "-memory") ||
	    cg_write(cgroup, LIMIT_FILE, "4M"))
		return KSFT_FAIL;
	slow_down(cgroup, HOG_RATE);
	if (cg_run(cgroup, do_writes, &writes))
		return KSFT_FAIL;
	peak = cg_read_long(cgroup, PEAK_FILE);
	ksft_print_msg("peak %ld of %ld bytes\n", peak, MB(4L));
	return passed(peak <= MB(4L) / 100 * 105);
}

/*
 * Both claims together are more than half of the system's limit: each gets a
 * part. Pages may be written between two reads.
 */
static bool is_scaled(const char *first, const char *second)
{
	long a = dirty_stat(first, "effective_min ");
	long b = dirty_stat(second, "effective_min ");

	ksft_print_msg("floors of %ld and %ld, used %ld and %ld\n", a, b,
		       dirty_counted(first), dirty_counted(second));
	return a > 0 && b > 0 && a < FLOOR_BYTES && b < FLOOR_BYTES &&
	       a + b <= SYSTEM_BYTES / 2 + SLACK;
}

static bool scales_floors(const char *first, const char *second)
{
	struct writes one = { .file = victim_file, .bytes = FLOOR_BYTES };
	struct writes other = { .file = hog_file, .bytes = FLOOR_BYTES };

	return !cg_run(first, do_writes, &one) &&
	       !cg_run(second, do_writes, &other) && is_scaled(first, second);
}

static int test_overcommit(const char *root)
{
	char *first __free(cgroup) = create_cgroup(root, "min_first");
	char *second __free(cgroup) = create_cgroup(root, "min_second");
	const char *file __free(file) = victim_file, *other __free(file) = hog_file;
	struct system_limits old __free(system) = save_system();
	bool good;

	if (!first || !second || !limit_system(&old) ||
	    cg_write(first, MIN_FILE, "12M") ||
	    cg_write(second, MIN_FILE, "12M") ||
	    !floor_is(first, FLOOR_BYTES) || !floor_is(second, FLOOR_BYTES))
		return KSFT_FAIL;
	slow_down(first, 1);
	slow_down(second, 1);
	/* The dirty pages of a removed cgroup make no claim. */
	good = scales_floors(first, second) && !cg_destroy(second) &&
	       floor_becomes(first, FLOOR_BYTES, 5);
	slow_down(first, 1000);
	return passed(good);
}

/* Runs until it is killed. */
static int rewrite_floor(const char *cgroup, void *rewritten)
{
	static const char *const floors[] = { "12M", "0" };
	char path[PATH_MAX];
	unsigned int i;
	int fd;

	snprintf(path, sizeof(path), "%s/" MIN_FILE, (char *)rewritten);
	fd = open(path, O_WRONLY);
	for (i = 0; pwrite(fd, floors[i % 2], strlen(floors[i % 2]), 0) > 0; i++)
		;
	return 1;
}

/* Any other interval wakes all flushers, and a flusher checks its thresholds. */
static int wake_flushers(const char *cgroup, void *arg)
{
	const long end = now_ms() + REWRITE_MS;
	int fd = open(victim_file, O_CREAT | O_WRONLY, 0600);
	int i;

	for (i = 0; now_ms() < end; i++)
		if (pwrite(fd, "", 1, 0) != 1 ||
		    write_file(VM_INTERVAL, i % 2 ? "500" : "501"))
			return 1;
	return syncfs(fd);
}

static int wake_at_depth(const char *parent, int depth)
{
	char *cgroup __free(cgroup) = NULL;

	cgroup = depth ? create_parent(parent, "d") : create_cgroup(parent, "d");
	if (!cgroup || cg_write(cgroup, MIN_FILE, "max"))
		return -1;
	return depth ? wake_at_depth(cgroup, depth - 1) :
		       cg_run(cgroup, wake_flushers, NULL);
}

/*
 * The flusher asks for the floor, and may find none when it computes thresholds,
 * from the system's limit in bytes. It must know the system's memory by then. In
 * a deep tree, it takes a while from one to the other.
 */
static int test_rewritten(const char *root)
{
	char *cgroup __free(cgroup) = create_parent(root, "min_rewritten");
	char *other __free(cgroup) = create_cgroup(root, "min_rewriter");
	struct setting interval __free(setting) = save_setting(VM_INTERVAL);
	struct system_limits old __free(system) = save_system();
	const char *file __free(file) = victim_file;
	pid_t rewriter = 0;
	int status = -1;

	if (cgroup && other && limit_system(&old)) {
		rewriter = cg_run_nowait(other, rewrite_floor, cgroup);
		status = wake_at_depth(cgroup, DEPTH);
	}
	return passed(stop_task(rewriter) && !status);
}

static const char disk[] = "test_memcg_dirty_min.disk";
static const char place[] = "test_memcg_dirty_min.mnt";

static bool mount_vfat(void)
{
	mkdir(place, 0755);
	if (!write_zeroes(disk, O_TRUNC, MB(32L)) &&
	    !system("mkfs.vfat test_memcg_dirty_min.disk >/dev/null 2>&1") &&
	    !system("losetup /dev/loop0 test_memcg_dirty_min.disk") &&
	    !mount("/dev/loop0", place, "vfat", 0, NULL))
		return true;
	ksft_print_msg("no vfat on /dev/loop0\n");
	return false;
}

static void unmount_vfat(void)
{
	umount(place);
	if (system("losetup -d /dev/loop0"))
		ksft_print_msg("/dev/loop0 was not in use\n");
	rmdir(place);
	unlink(disk);
}

/* Without cgroup writeback, the floor of the writer's cgroup protects it. */
static int test_shared_writeback(const char *root)
{
	char *hog __free(cgroup) = create_cgroup(root, "min_hog");
	char *victim __free(cgroup) = create_cgroup(root, "min_victim");
	struct system_limits old __free(system) = save_system();
	struct scene scene = { hog, victim, little };
	struct sampled sampled;
	int ret = KSFT_SKIP;

	scene.writes.file = "test_memcg_dirty_min.mnt/file";
	if (!hog || !victim)
		return KSFT_FAIL;
	if (mount_vfat())
		ret = limit_system(&old) ? compare(&scene, &sampled) : KSFT_FAIL;
	unmount_vfat();
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
	T(test_rewritten, &on_disk),
	T(test_shared_writeback, &on_disk),
};

int main(void)
{
	return memcg_test_main(tests, ARRAY_SIZE(tests), NULL);
}
