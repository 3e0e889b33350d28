/* SPDX-License-Identifier: GPL-2.0 */
/* Slow disks that null_blk makes from memory, and disks that fail. */
#ifndef MEMCG_DIRTY_DISK_H
#define MEMCG_DIRTY_DISK_H

#include <stdbool.h>

int run_quietly(const char *const argv[]);
void unmount(const char *directory);

bool disk_possible(void);
int disk_create(const char *name, const char *megabytes,
		const char *mb_per_second);
void disk_remove(const char *name);

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
	const char *disk;
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
