// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for memory.dirty_limit_in_bytes on cgroup v1, which has no cgroup
 * writeback: all inodes are the root's.
 *
 * The tests that write need a current directory on a disk that is slower than
 * memory.
 */
#define _GNU_SOURCE

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
	char *parent __free(cgroup) = create_cgroup(root, "dirty_default");
	char *child __free(cgroup) = NULL;

	if (!parent || cg_has(root, LIMIT_FILE) ||
	    !cg_shows(parent, LIMIT_FILE, "max\n") ||
	    !cg_takes(parent, LIMIT_FILE, "16M", "16777216\n") ||
	    !cg_takes(parent, BACKGROUND_RATIO_FILE, "5", "5\n") ||
	    dirty_stat(parent, "\nlimit ") != MB(16))
		return KSFT_FAIL;
	child = create_cgroup(parent, "child");
	return passed(child && cg_shows(child, LIMIT_FILE, "max\n"));
}

static int test_limit_holds(const char *root)
{
	const char *file __free(file) = test_file;
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_limit");

	return passed(cgroup && !cg_write(cgroup, LIMIT_FILE, "10M") &&
		      stays_within_10m(cgroup, cgroup, file));
}

static int test_no_limit(const char *root)
{
	return passed(exceeds_10m_without_limit(root, test_file));
}

/* The limit of an ancestor binds, also beside a looser one below it. */
static int test_hierarchy(const char *root)
{
	const char *file __free(file) = test_file;
	char *top __free(cgroup) = create_cgroup(root, "dirty_hierarchy");
	char *middle __free(cgroup) = create_cgroup(top, "middle");
	char *leaf __free(cgroup) = create_cgroup(middle, "leaf");

	return passed(leaf && !cg_write(leaf, LIMIT_FILE, "100M") &&
		      !cg_write(top, LIMIT_FILE, "10M") &&
		      stays_within_10m(leaf, top, file));
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

/*
 * Dirty pages that are charged to another cgroup take their count along. Had it
 * been lost or doubled, the limit would not hold afterwards.
 */
static bool charges_move(const char *here, const char *there)
{
	pid_t pid = start_in_cgroup(here, dirty_and_stop, NULL);
	bool moved;

	if (pid < 0)
		return false;
	moved = moves_there_and_back(here, there, pid);
	stop_task(pid);
	sync();
	unlink(test_file);
	return moved && falls_below(here, 0, 5) && falls_below(there, 0, 5) &&
	       stays_within_10m(here, here, test_file) &&
	       stays_within_10m(there, there, test_file);
}

static int test_charge_moving(const char *root)
{
	const char *file __free(file) = test_file;
	char *there __free(cgroup) = create_cgroup(root, "dirty_there");
	char *here __free(cgroup) = create_cgroup(root, "dirty_here");

	if (!here || !there || cg_write(here, LIMIT_FILE, "10M") ||
	    cg_write(there, LIMIT_FILE, "10M"))
		return KSFT_FAIL;
	if (cg_write(here, MOVE_FILE, "3") || cg_write(there, MOVE_FILE, "3")) {
		ksft_print_msg("charges do not move on this kernel\n");
		return KSFT_SKIP;
	}
	return passed(charges_move(here, there));
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
