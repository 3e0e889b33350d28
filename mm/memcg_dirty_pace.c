// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty page limits: how much of a limited cgroup is in the disk's queue
 *
 * A flusher submits all that it may write, and a disk serves requests nearly in
 * their order. So the pages of a noisy cgroup wait in the disk's queue rather
 * than in memory, and every request of the others waits behind them: 40 MiB are
 * 1.4 s of a disk of 30 MB/s. An fsync() on a journaling filesystem waits there
 * several times: for its own data, for data that the commit has to wait for,
 * and for the commit.
 *
 * The flusher of a cgroup with a dirty limit keeps no more in the queue than
 * the disk needs to stay busy: about MEMCG_DIRTY_PACE_MS of the flusher's own
 * recent rate. It writes as much at once, and before the next chunk it waits
 * until it has no more than that under writeback. The rest of the cgroup's
 * pages stay dirty; they count for its limit as before.
 *
 *	limit 40 MiB		  cgroup's dirty pages		disk's queue
 *
 *	not paced		  [ ]				[################]
 *	paced, at 30 MB/s	  [##############]		[##]  1 to 2 MiB
 *
 * Beside a flusher without a limit that fills the queue, pacing would help
 * nothing and take the limited cgroup's part of the disk. Such a flusher notes
 * the time in its bdi, and for a second the others are not paced.
 *
 * The flusher waits for a second at most, with an inode locked for writeback,
 * and then writes the smallest chunk. Writes for data integrity (sync(),
 * fsync()) are not paced, and work that is queued for the flusher, such as
 * sync(), ends its wait.
 */

#include <linux/atomic.h>
#include <linux/backing-dev.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/memcg_dirty_pace.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/time64.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

#include "memcg_dirty.h"

#define MEMCG_DIRTY_PACE_MS	25UL
#define MEMCG_DIRTY_PACE_LEAST	(SZ_256K / PAGE_SIZE)
#define MEMCG_DIRTY_PACE_USUAL	((long)(SZ_4M / PAGE_SIZE))

/* In jiffies: the longest sleep, and the longest wait for a chunk. */
#define MEMCG_DIRTY_PACE_SLEEP	max(HZ / 50, 1)
#define MEMCG_DIRTY_PACE_WAIT	HZ

/* In jiffies: a flusher without a limit writes a chunk in this time. */
#define MEMCG_DIRTY_PACE_CROWDED	HZ

/**
 * memcg_dirty_pace_bound - pages that keep a disk busy
 * @bandwidth: rate at which the disk completes them, in pages per second
 *
 * The constant part lets a new flusher grow: with a bound that only follows the
 * rate, flushers that share a disk could keep any ratio of rates, as each gets what
 * it has in the queue. It also is the smallest chunk.
 *
 * Return: in pages.
 */
static unsigned long memcg_dirty_pace_bound(unsigned long bandwidth)
{
	return mul_u64_u32_div(bandwidth, MEMCG_DIRTY_PACE_MS, MSEC_PER_SEC) +
	       MEMCG_DIRTY_PACE_LEAST;
}

/**
 * memcg_dirty_pace_sleep - how long a disk needs for pages
 * @nr_pages: pages
 * @bandwidth: in pages per second
 *
 * Return: in jiffies, 1 to MEMCG_DIRTY_PACE_SLEEP.
 */
static long memcg_dirty_pace_sleep(unsigned long nr_pages,
				   unsigned long bandwidth)
{
	u64 need = div64_ul((u64)nr_pages * HZ, max(bandwidth, 1UL));

	return clamp_t(u64, need, 1, MEMCG_DIRTY_PACE_SLEEP);
}

/**
 * memcg_dirty_pace_chunk - how much to write at once
 * @nr_pages: pages without a limit
 * @bound: from memcg_dirty_pace_bound(), in pages
 * @least: pages that the filesystem wants to write at once
 *
 * Most filesystems ask for 4 MiB, to save seeks, and get less. One that asks for
 * more writes whole zones, and gets all of it.
 *
 * Return: in pages.
 */
static long memcg_dirty_pace_chunk(long nr_pages, unsigned long bound,
				   long least)
{
	if (least > MEMCG_DIRTY_PACE_USUAL)
		return nr_pages;
	return min_t(unsigned long, nr_pages, bound);
}

static bool memcg_dirty_is_crowded(const struct backing_dev_info *bdi)
{
	unsigned long crowded = READ_ONCE(bdi->crowded);

	return time_in_range(jiffies, crowded,
			     crowded + MEMCG_DIRTY_PACE_CROWDED);
}

/* Others wait for the flusher, or would take the disk, or the disk is removed. */
static bool memcg_dirty_is_urgent(const struct bdi_writeback *wb)
{
	return !list_empty(&wb->work_list) || current_is_workqueue_rescuer() ||
	       !test_bit(WB_registered, &wb->state) ||
	       memcg_dirty_is_crowded(wb->bdi);
}

/* Flushers that sleep here. */
static atomic_t memcg_dirty_nr_pacing = ATOMIC_INIT(0);

/*
 * Half of the works that bdi_wq runs at a time on this node, as it divides them
 * among the nodes by their CPUs.
 */
static int memcg_dirty_pace_most(void)
{
	int nr_cpus = cpumask_weight(cpumask_of_node(numa_node_id()));

	return max(WQ_DFL_ACTIVE / 2 * nr_cpus / (int)num_online_cpus(),
		   WQ_DFL_MIN_ACTIVE / 2);
}

/*
 * A flusher that sleeps is a running work. Others wait for works that are not
 * running yet: sync, umount, and the writeback of other disks. Returns false without
 * a sleep if enough flushers sleep, of all disks together.
 */
static bool memcg_dirty_pace_nap(long timeout)
{
	bool may_sleep = atomic_inc_return(&memcg_dirty_nr_pacing) <=
			 memcg_dirty_pace_most();

	if (may_sleep)
		schedule_timeout_idle(timeout);
	atomic_dec(&memcg_dirty_nr_pacing);
	return may_sleep;
}

/* Returns whether there is room in the queue. */
static bool memcg_dirty_pace_wait(struct bdi_writeback *wb,
				  unsigned long bandwidth, unsigned long bound)
{
	unsigned long end = jiffies + MEMCG_DIRTY_PACE_WAIT;

	while (!memcg_dirty_is_urgent(wb)) {
		/* The cheap count may be wrong by more than the bound. */
		unsigned long queued = wb_stat_sum(wb, WB_WRITEBACK);

		if (queued <= bound)
			return true;
		if (time_after(jiffies, end) ||
		    !memcg_dirty_pace_nap(memcg_dirty_pace_sleep(queued - bound,
								 bandwidth)))
			break;
	}
	return false;
}

/* See memcg_dirty_pace(). */
long __memcg_dirty_pace(struct bdi_writeback *wb, long nr_pages, long least)
{
	unsigned long bandwidth = READ_ONCE(wb->avg_write_bandwidth);
	unsigned long bound = memcg_dirty_pace_bound(bandwidth);

	if (!memcg_dirty_path_set(mem_cgroup_from_css(wb->memcg_css))) {
		if (wb_stat_sum(wb, WB_WRITEBACK) > bound)
			WRITE_ONCE(wb->bdi->crowded, jiffies);
		return nr_pages;
	}
	if (memcg_dirty_is_urgent(wb))
		return nr_pages;
	if (!memcg_dirty_pace_wait(wb, bandwidth, bound))
		bound = MEMCG_DIRTY_PACE_LEAST;
	return memcg_dirty_pace_chunk(nr_pages, bound, least);
}

#ifdef CONFIG_MEMCG_DIRTY_LIMIT_KUNIT_TEST
#include "tests/memcg_dirty_pace_kunit.c"
#endif
