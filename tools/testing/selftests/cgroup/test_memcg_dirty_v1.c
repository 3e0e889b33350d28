// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for memory.dirty_limit_in_bytes on cgroup v1, which has no cgroup
 * writeback: all inodes are the root's.
 *
 * The tests that write need a current directory on a disk that is slower than
 * memory.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_dirty_util.h"
#include "memcg_test_util.h"

#define MOVE_FILE	"memory.move_charge_at_immigrate"
/* Below the background limit, so that no page is written in between. */
#define MOVED_BYTES	MB(4L)

static const char *const test_file = "test_memcg_dirty_v1.tmp";

/* Not on the root; "max" by default; a child does not copy its parent's. */
static int test_default(const char *root)
{
	char *parent = create_cgroup(root, "dirty_default");
	char *child = NULL;
	char path[PATH_MAX];
	int ret = KSFT_FAIL;

	snprintf(path, sizeof(path), "%s/" LIMIT_FILE, root);
	if (!parent || !access(path, F_OK))
		goto out;
	if (cg_read_strcmp(parent, LIMIT_FILE, "max\n") ||
	    cg_write(parent, LIMIT_FILE, "16M") ||
	    cg_read_strcmp(parent, LIMIT_FILE, "16777216\n") ||
	    cg_write(parent, BACKGROUND_RATIO_FILE, "5") ||
	    cg_read_strcmp(parent, BACKGROUND_RATIO_FILE, "5\n") ||
	    cg_read_key_long(parent, STAT_FILE, "\nlimit ") != MB(16))
		goto out;
	child = create_cgroup(parent, "child");
	if (!child || cg_read_strcmp(child, LIMIT_FILE, "max\n"))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(child);
	destroy_cgroup(parent);
	return ret;
}

static int test_limit_holds(const char *root)
{
	char *cgroup = create_cgroup(root, "dirty_limit");
	int ret = KSFT_FAIL;

	if (cgroup && !cg_write(cgroup, LIMIT_FILE, "10M") &&
	    stays_within_10m(cgroup, cgroup, test_file))
		ret = KSFT_PASS;
	destroy_cgroup(cgroup);
	unlink(test_file);
	return ret;
}

/* Without a limit, the same writes go beyond it: the test above can fail. */
static int test_no_limit(const char *root)
{
	char *cgroup = create_cgroup(root, "dirty_no_limit");
	int ret = KSFT_FAIL;

	if (cgroup && !cg_write(cgroup, LIMIT_FILE, "10M") &&
	    !cg_write(cgroup, LIMIT_FILE, "max") &&
	    !stays_within_10m(cgroup, cgroup, test_file))
		ret = KSFT_PASS;
	destroy_cgroup(cgroup);
	unlink(test_file);
	return ret;
}

/* The limit of an ancestor binds, also beside a looser one below it. */
static int test_hierarchy(const char *root)
{
	char *top = create_cgroup(root, "dirty_hierarchy");
	char *middle = NULL, *leaf = NULL;
	int ret = KSFT_FAIL;

	if (!top)
		goto out;
	middle = create_cgroup(top, "middle");
	if (!middle)
		goto out;
	leaf = create_cgroup(middle, "leaf");
	if (!leaf || cg_write(leaf, LIMIT_FILE, "100M") ||
	    cg_write(top, LIMIT_FILE, "10M") ||
	    !stays_within_10m(leaf, top, test_file))
		goto out;
	ret = KSFT_PASS;
out:
	destroy_cgroup(leaf);
	destroy_cgroup(middle);
	destroy_cgroup(top);
	unlink(test_file);
	return ret;
}

/* Maps and dirties pages, and stops for its parent to move the task. */
static int dirty_and_stop(const char *cgroup, void *arg)
{
	int fd = open(test_file, O_CREAT | O_RDWR | O_TRUNC, 0600);
	char *map;

	if (fd < 0 || ftruncate(fd, MOVED_BYTES))
		return -1;
	map = mmap(NULL, MOVED_BYTES, PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -1;
	memset(map, 1, MOVED_BYTES);
	raise(SIGSTOP);
	return 0;
}

static bool has_moved(const char *from, const char *to)
{
	long left = cg_dirty(from), arrived = cg_dirty(to);

	ksft_print_msg("%ld bytes left, %ld arrived\n", left, arrived);
	return left >= 0 && left <= stat_error() &&
	       arrived >= MOVED_BYTES - stat_error() &&
	       arrived <= MOVED_BYTES + stat_error();
}

static bool moves_there_and_back(const char *here, const char *there, pid_t pid)
{
	int status;

	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		return false;
	return !cg_enter(there, pid) && has_moved(here, there) &&
	       !cg_enter(here, pid) && has_moved(there, here);
}

static bool comes_to_nothing(const char *cgroup)
{
	long left;

	wait_until_below(cgroup, 0, 5);
	left = cg_dirty(cgroup);
	if (left)
		ksft_print_msg("%ld bytes are left\n", left);
	return !left;
}

/*
 * Dirty pages that are charged to another cgroup take their count along. Had it
 * been lost or doubled, the limit would not hold afterwards.
 */
static int check_charge_moving(const char *here, const char *there)
{
	bool moved;
	pid_t pid;

	pid = start_in_cgroup(here, dirty_and_stop, NULL);
	if (pid < 0)
		return KSFT_FAIL;
	moved = moves_there_and_back(here, there, pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	sync();
	unlink(test_file);
	if (!moved || !comes_to_nothing(here) || !comes_to_nothing(there) ||
	    !stays_within_10m(here, here, test_file) ||
	    !stays_within_10m(there, there, test_file))
		return KSFT_FAIL;
	return KSFT_PASS;
}

static int test_charge_moving(const char *root)
{
	char *here = create_cgroup(root, "dirty_here");
	char *there = create_cgroup(root, "dirty_there");
	int ret = KSFT_FAIL;

	if (!here || !there || cg_write(here, LIMIT_FILE, "10M") ||
	    cg_write(there, LIMIT_FILE, "10M"))
		goto out;
	if (cg_write(here, MOVE_FILE, "3") || cg_write(there, MOVE_FILE, "3")) {
		ksft_print_msg("charges do not move on this kernel\n");
		ret = KSFT_SKIP;
		goto out;
	}
	ret = check_charge_moving(here, there);
out:
	destroy_cgroup(here);
	destroy_cgroup(there);
	unlink(test_file);
	return ret;
}

static const struct memcg_test tests[] = {
	T(test_default),
	T(test_limit_holds),
	T(test_no_limit),
	T(test_hierarchy),
	T(test_charge_moving),
};

static int find_v1_root(char *root, size_t len)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *entry;
	int ret = -1;

	if (!mounts)
		return -1;
	while (ret && (entry = getmntent(mounts))) {
		if (!strcmp(entry->mnt_type, "cgroup") &&
		    hasmntopt(entry, "memory")) {
			snprintf(root, len, "%s", entry->mnt_dir);
			ret = 0;
		}
	}
	endmntent(mounts);
	return ret;
}

int main(void)
{
	char root[PATH_MAX];

	ksft_print_header();
	if (find_v1_root(root, sizeof(root)))
		ksft_exit_skip("no cgroup v1 hierarchy has the memory controller\n");
	return memcg_test_run(root, tests, ARRAY_SIZE(tests));
}
