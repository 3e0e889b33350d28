/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dirty page limits: how much of a limited cgroup is in the disk's queue
 *
 * The only caller is writeback_chunk_size() in fs/fs-writeback.c, for writeback
 * that is not for data integrity. With a limit of 40 MiB and a disk of 30 MB/s,
 * it would write 4096 pages at once; memcg_dirty_pace() makes that 247, and
 * returns when no more than 247 are in the queue. The caller holds no spinlock.
 */
#ifndef _LINUX_MEMCG_DIRTY_PACE_H
#define _LINUX_MEMCG_DIRTY_PACE_H

#include <linux/memcg_dirty.h>

struct bdi_writeback;

long __memcg_dirty_pace(struct bdi_writeback *wb, long nr_pages, long least);

/**
 * memcg_dirty_pace - wait until the flusher of a limited cgroup may write more
 * @wb: the flusher's bdi_writeback
 * @nr_pages: pages that it is about to write, not for data integrity
 * @least: pages that the filesystem wants to write at once, if there are as many
 *
 * Does nothing until memcg_dirty_enabled() is true.
 *
 * Context: may sleep, for a second at most. The caller may hold I_SYNC of an inode.
 *
 * Return: how many pages to write at once, @nr_pages at most.
 */
static inline long memcg_dirty_pace(struct bdi_writeback *wb, long nr_pages,
				    long least)
{
	if (!memcg_dirty_enabled())
		return nr_pages;
	return __memcg_dirty_pace(wb, nr_pages, least);
}

#endif /* _LINUX_MEMCG_DIRTY_PACE_H */
