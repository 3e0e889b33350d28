/* SPDX-License-Identifier: GPL-2.0 */
/* Slow disks that null_blk makes from memory, and disks that fail. */
#ifndef MEMCG_DIRTY_DISK_H
#define MEMCG_DIRTY_DISK_H

#include <stdbool.h>
#include <sys/types.h>

int run_quietly(const char *const argv[]);
void unmount(const char *directory);

/**
 * struct slow_disk - a disk that null_blk makes
 * @name: its name
 * @restarter: 0, or the task that starts it when it has stopped
 */
struct slow_disk {
	const char *name;
	pid_t restarter;
};

bool disk_possible(void);
int disk_create(struct slow_disk *disk, const char *megabytes,
		const char *mb_per_second);
void disk_remove(struct slow_disk *disk);

/**
 * struct fault_disk - a device mapper's device in front of a disk
 * @name: its name
 * @disk: the disk
 * @node: gets the path of its block device
 * @metadata: the sectors at its start that never fail
 * @sectors: the size
 */
struct fault_disk {
	const char *name;
	const struct slow_disk *disk;
	char node[32];
	long metadata;
	long sectors;
};

int fault_disk_create(struct fault_disk *fault);
int fault_disk_set(const struct fault_disk *fault, bool errors);
int fault_disk_suspend(const struct fault_disk *fault);
int fault_disk_resume(const struct fault_disk *fault);
void fault_disk_remove(const struct fault_disk *fault);

#endif
