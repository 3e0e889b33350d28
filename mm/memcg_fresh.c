// SPDX-License-Identifier: GPL-2.0
/*
 * Fresh counts of a memory cgroup's dirty pages for balance_dirty_pages()
 *
 * balance_dirty_pages() holds the writers of a memory cgroup to the cgroup's
 * share of vm.dirty_ratio. It counts the dirty pages by the cgroup's
 * statistics, which are flushed every 2 s, or when the cgroup reclaims. In
 * between, the count may be wrong in both directions:
 *
 *	too low		The writer is not paused, and fills the cgroup with dirty
 *			pages up to memory.max. Reclaim finds no page to free.
 *	too high	The writer is paused, although its pages are written.
 *			Asleep, it does not reclaim, so the count stays for 2 s.
 *
 * So the statistics are flushed before a writer is paused, and during the
 * pauses; and if it is not to be paused, but the counters of its flusher, which
 * need no flush, say that it should be. An example: memory.max=24M is 6144
 * pages, and the writer is paused if more than 920 are dirty.
 *
 *	statistics	flusher's counters	the statistics are flushed
 *	       100		       900	not
 *	       100		      1000	if the last flush was 4 ms ago
 *	      1000		       700	if it was 50 ms ago
 *
 * The statistics alone decide on the pause: the flusher also counts pages of
 * its inodes that are charged to other cgroups. A flush takes a lock, that of
 * all cgroups on some kernels, and time that grows with the number of CPUs,
 * hence the intervals. Charges that wait at memory.max share that of 4 ms.
 */

#include <linux/atomic.h>
#include <linux/backing-dev.h>
#include <linux/jiffies.h>
#include <linux/memcg_fresh.h>
#include <linux/memcontrol.h>

#define MEMCG_FRESH_LOW_INTERVAL	DIV_ROUND_UP(HZ, 250)
#define MEMCG_FRESH_HIGH_INTERVAL	DIV_ROUND_UP(HZ, 20)

/*
 * May the caller flush at @now? Not within @interval of @last, the time of the last
 * flush, and not if another task has stored a new time in @flushed since. All are
 * in jiffies.
 */
static bool memcg_fresh_claim(unsigned long *flushed, unsigned long last,
			      unsigned long now, unsigned long interval)
{
	return now - last >= interval && cmpxchg(flushed, last, now) == last;
}

/*
 * After how many jiffies the count of @dirty pages is too old; 0 if it does not
 * matter. A writer with that count would be paused unless @freerun, and with
 * @wb_dirty pages if those are more than @ceiling.
 */
static unsigned long memcg_fresh_interval(bool freerun, unsigned long dirty,
					  unsigned long wb_dirty,
					  unsigned long ceiling)
{
	if (wb_dirty > dirty && wb_dirty > ceiling)
		return MEMCG_FRESH_LOW_INTERVAL;
	return freerun ? 0 : MEMCG_FRESH_HIGH_INTERVAL;
}

static bool memcg_fresh_flush_after(struct mem_cgroup *memcg,
				    unsigned long interval)
{
	/* Before the clock: a later stamp would seem to be very old. */
	unsigned long last = READ_ONCE(memcg->fresh_flushed);

	if (!memcg_fresh_claim(&memcg->fresh_flushed, last, jiffies, interval))
		return false;
	memcg_flush_stats_now(memcg);
	return true;
}

/**
 * memcg_fresh_flush_once - flush statistics that no other task has just flushed
 * @memcg: the cgroup whose statistics the caller reads
 *
 * However many tasks call this, they flush @memcg at most once in 4 ms, or once in a
 * jiffy if that is longer.
 *
 * Context: may sleep.
 * Return: true if the statistics were flushed. Otherwise they may lack what has
 *	changed in that time.
 */
bool memcg_fresh_flush_once(struct mem_cgroup *memcg)
{
	return memcg_fresh_flush_after(memcg, MEMCG_FRESH_LOW_INTERVAL);
}

/**
 * memcg_fresh_flush - flush the statistics by which a writer is to be paused
 * @wb: the flusher of the pages, which is that of a memory cgroup
 * @freerun: the writer is not to be paused
 * @dirty: the cgroup's dirty pages, as its statistics have them
 * @ceiling: up to how many of them a writer is not paused
 *
 * Context: may sleep.
 * Return: true if the statistics were flushed, and have to be read once again.
 */
bool memcg_fresh_flush(struct bdi_writeback *wb, bool freerun,
		       unsigned long dirty, unsigned long ceiling)
{
	struct mem_cgroup *memcg = mem_cgroup_from_css(wb->memcg_css);
	unsigned long wb_dirty = wb_stat(wb, WB_RECLAIMABLE) +
				 wb_stat(wb, WB_WRITEBACK);
	unsigned long interval = memcg_fresh_interval(freerun, dirty, wb_dirty,
						      ceiling);

	return interval && memcg_fresh_flush_after(memcg, interval);
}

#ifdef CONFIG_MEMCG_MAX_WAIT_KUNIT_TEST
#include "tests/memcg_fresh_kunit.c"
#endif
