// SPDX-License-Identifier: GPL-2.0
/* Slow disks that null_blk makes from memory, and disks that fail. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <linux/limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_dirty_disk.h"
#include "memcg_test_util.h"

#define NULLB	"/sys/kernel/config/nullb"
#define BLOCK	"/sys/kernel/debug/block"

/* Returns the exit code, 127 if there is no such program, or -1. */
int run_quietly(const char *const argv[])
{
	int status, null;
	pid_t pid = fork();

	if (!pid) {
		null = open("/dev/null", O_RDWR);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* The files of an io_uring are closed some time after its process exits. */
void unmount(const char *directory)
{
	int i;

	for (i = 0; umount(directory) && errno == EBUSY; i++) {
		if (i == 100) {
			ksft_print_msg("%s stays busy\n", directory);
			return;
		}
		sleep_ms(100);
	}
}

/* Loads null_blk and mounts configfs where that is needed. */
bool disk_possible(void)
{
	static const char *const modprobe[] = {
		"modprobe", "-q", "null_blk", "nr_devices=0", NULL,
	};

	if (access(NULLB, F_OK)) {
		run_quietly(modprobe);
		mount("configfs", "/sys/kernel/config", "configfs", 0, NULL);
	}
	return !access(NULLB, F_OK);
}

/* The requests that /dev/@name has completed, and those that it has not. */
static bool read_requests(const char *name, long *completed, long *in_flight)
{
	char path[PATH_MAX], buf[BUFSIZ];
	long reads, writes;

	snprintf(path, sizeof(path), "/sys/block/%s/stat", name);
	if (read_text(path, buf, sizeof(buf)) <= 0 ||
	    sscanf(buf, "%ld %*d %*d %*d %ld %*d %*d %*d %ld", &reads, &writes,
		   in_flight) != 3)
		return false;
	*completed = reads + writes;
	return true;
}

/*
 * null_blk may stop a disk for good. Its timer ends when the disk is idle; a
 * request that comes at that moment takes the timer for active and does not
 * start it, and those behind it stop the queue until the timer starts it again.
 * A queue that waits for the next tick rightly is stopped again at once.
 * Without CONFIG_BLK_DEBUG_FS, this task only says that the disk has stopped.
 */
static void restart_disk(const char *name)
{
	long completed, in_flight, last = -1;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), BLOCK "/%s", name);
	for (;;) {
		sleep_ms(1000);
		if (!read_requests(name, &completed, &in_flight))
			continue;
		if (in_flight && completed == last) {
			ksft_print_msg("%s has stopped with %ld requests\n",
				       name, in_flight);
			cg_write(path, "state", "start");
		}
		last = completed;
	}
}

static pid_t start_restarter(const char *name)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	restart_disk(name);
	_exit(KSFT_FAIL);
}

void disk_remove(struct slow_disk *disk)
{
	char path[PATH_MAX];

	stop_task(disk->restarter);
	disk->restarter = 0;
	snprintf(path, sizeof(path), NULLB "/%s", disk->name);
	cg_write(path, "power", "0");
	rmdir(path);
}

/*
 * /dev/NAME. It allocates its memory as it is written. null_blk never passes a
 * request that is larger than all that it passes in a tick of 20 ms.
 */
int disk_create(struct slow_disk *disk, const char *megabytes,
		const char *mb_per_second)
{
	const char *attributes[][2] = {
		{ "memory_backed", "1" }, { "size", megabytes },
		{ "mbps", mb_per_second }, { "max_sectors", "256" },
		{ "power", "1" },
	};
	char path[PATH_MAX];
	int i;

	/* A run that was killed may have left the device behind. */
	disk_remove(disk);
	snprintf(path, sizeof(path), NULLB "/%s", disk->name);
	if (mkdir(path, 0755))
		return -1;
	for (i = 0; i < ARRAY_SIZE(attributes); i++)
		if (cg_write(path, attributes[i][0], (char *)attributes[i][1])) {
			disk_remove(disk);
			return -1;
		}
	disk->restarter = start_restarter(disk->name);
	return disk->restarter < 0 ? -1 : 0;
}

/* A request of the device mapper, and up to two targets for it. */
struct dm_request {
	struct dm_ioctl head;
	struct dm_target {
		struct dm_target_spec spec;
		char parameters[128];
	} targets[2];
};

static int dm_run(const struct fault_disk *fault, unsigned long command,
		  struct dm_request *request)
{
	int fd __free(fd) = -1;

	fd = open("/dev/mapper/control", O_RDWR);
	if (fd < 0)
		return -1;
	request->head.version[0] = DM_VERSION_MAJOR;
	request->head.data_size = sizeof(*request);
	request->head.data_start = offsetof(struct dm_request, targets);
	snprintf(request->head.name, sizeof(request->head.name), "%s",
		 fault->name);
	return ioctl(fd, command, request);
}

static int dm_simple(const struct fault_disk *fault, unsigned long command,
		     unsigned int flags)
{
	struct dm_request request = { .head.flags = flags };

	return dm_run(fault, command, &request);
}

/* Requests that are not yet in the disk wait; no file system is frozen. */
int fault_disk_suspend(const struct fault_disk *fault)
{
	return dm_simple(fault, DM_DEV_SUSPEND, DM_SUSPEND_FLAG |
			 DM_SKIP_LOCKFS_FLAG | DM_NOFLUSH_FLAG);
}

int fault_disk_resume(const struct fault_disk *fault)
{
	return dm_simple(fault, DM_DEV_SUSPEND, 0);
}

static void set_target(struct dm_target *target, const char *type,
		       const struct fault_disk *fault, long start, long end)
{
	target->spec.sector_start = start;
	target->spec.length = end - start;
	target->spec.next = sizeof(*target);
	snprintf(target->spec.target_type, sizeof(target->spec.target_type),
		 "%s", type);
	snprintf(target->parameters, sizeof(target->parameters), "/dev/%s %ld",
		 fault->disk->name, start);
}

/* From now on, all requests behind the metadata fail with EIO, or none. */
int fault_disk_set(const struct fault_disk *fault, bool errors)
{
	struct dm_request request = { .head.target_count = 2 };

	set_target(&request.targets[0], "linear", fault, 0, fault->metadata);
	set_target(&request.targets[1], errors ? "error" : "linear", fault,
		   fault->metadata, fault->sectors);
	if (dm_run(fault, DM_TABLE_LOAD, &request) || fault_disk_suspend(fault))
		return -1;
	return fault_disk_resume(fault);
}

int fault_disk_create(struct fault_disk *fault)
{
	struct dm_request request = {};

	fault_disk_remove(fault);
	if (dm_run(fault, DM_DEV_CREATE, &request))
		return -1;
	snprintf(fault->node, sizeof(fault->node), "/dev/dm-%u",
		 minor(request.head.dev));
	return fault_disk_set(fault, false);
}

void fault_disk_remove(const struct fault_disk *fault)
{
	dm_simple(fault, DM_DEV_REMOVE, 0);
}
