/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dirty page limits of memory cgroups: the interface for balance_dirty_pages()
 *
 *	caller in mm/page-writeback.c		call
 *
 *	balance_dirty_pages_ratelimited_flags()	memcg_dirty_poll()
 *	domain_dirty_avail()			memcg_dirty_wb_state()
 *	mdtc_wb_domain()			memcg_dirty_writer_limited()
 *	balance_dirty_pages()			memcg_dirty_start_writeback(),
 *						memcg_dirty_sleep(),
 *						memcg_dirty_may_pass(),
 *						memcg_dirty_wb_spared()
 *	wb_over_bg_thresh()			memcg_dirty_wb_spared()
 *
 * A writer asks how many pages it may dirty before the next check, and at the
 * check, for the limit that binds it. The answer is a struct memcg_dirty_state
 * in its dirty_throttle_control; the other calls take it from there. It is a
 * copy: limits and counts may change at any time, and the next check finds the
 * new ones. Flushers ask too, whether they are to go on.
 *
 * All calls do nothing, and cost a branch, until dirty pages are counted: from
 * the first limit or floor on, or the first open of memory.dirty_peak to write.
 */
#ifndef _LINUX_MEMCG_DIRTY_WB_H
#define _LINUX_MEMCG_DIRTY_WB_H

#include <linux/atomic.h>
#include <linux/memcg_dirty.h>
#include <linux/sched.h>
#include <linux/types.h>

struct bdi_writeback;

/**
 * struct memcg_dirty_state - the limit that binds a writer, in pages
 * @dirty: dirty pages of the limited cgroup's subtree
 * @writeback: pages of the subtree under writeback
 * @thresh: the limit on the two together; 0 if there is no limit
 * @bg_thresh: above this many dirty pages, background writeback runs
 * @share: the part of @thresh that the writer's own cgroup may use
 * @own: dirty pages and pages under writeback of the writer's own cgroup
 * @cgroup: ID of the limited cgroup
 * @over_bg: more than @bg_thresh are dirty, here or at another limit that binds
 * @shared_wb: the device has no cgroup writeback
 * @spared: the writer's cgroup is below its floor
 */
struct memcg_dirty_state {
	unsigned long dirty;
	unsigned long writeback;
	unsigned long thresh;
	unsigned long bg_thresh;
	unsigned long share;
	unsigned long own;
	u64 cgroup;
	bool over_bg;
	bool shared_wb;
	bool spared;
};

bool __memcg_dirty_writer_limited(void);
bool __memcg_dirty_wb_spared(struct bdi_writeback *wb);
bool __memcg_dirty_wb_state(struct bdi_writeback *wb,
			    struct memcg_dirty_state *state);
int __memcg_dirty_poll(struct bdi_writeback *wb, int ratelimit);
void __memcg_dirty_start_writeback(struct bdi_writeback *wb,
				   const struct memcg_dirty_state *state);
void __memcg_dirty_sleep(struct bdi_writeback *wb,
			 const struct memcg_dirty_state *state, long pause,
			 unsigned long nr_pages);
bool __memcg_dirty_may_pass(struct bdi_writeback *wb,
			    const struct memcg_dirty_state *state,
			    unsigned long start);

/**
 * memcg_dirty_writer_limited - does the current task write under a limit?
 *
 * Return: %true if its memory cgroup or an ancestor has a dirty limit or a floor.
 */
static inline bool memcg_dirty_writer_limited(void)
{
	return memcg_dirty_enabled() && __memcg_dirty_writer_limited();
}

/**
 * memcg_dirty_wb_state - look up the limit that binds a writer
 * @wb: the bdi_writeback that it writes to: its memory cgroup's, or the one that
 *	all share where the filesystem has no other
 * @state: the tightest limit from the writer's memory cgroup to the root and
 *	its counts; all zero if there is no limit, but for ->thresh, which is
 *	then out of reach if @wb is shared
 *
 * Context: any but interrupts. Flushers call it too, for their own cgroup.
 *
 * Return: %true if there is a limit, if @wb is shared, or below a floor.
 */
static inline bool memcg_dirty_wb_state(struct bdi_writeback *wb,
					struct memcg_dirty_state *state)
{
	*state = (struct memcg_dirty_state){};
	return memcg_dirty_enabled() && __memcg_dirty_wb_state(wb, state);
}

/**
 * memcg_dirty_wb_spared - is a flusher's cgroup well below its floor?
 * @wb: the flusher's bdi_writeback
 *
 * The floor may be rewritten before memcg_dirty_wb_state() reads it again, and may
 * not spare the cgroup then. So callers compute the system's limits before they ask:
 * the thresholds of a cgroup without a limit are derived from them.
 *
 * Return: %true if the system's background limit is no reason to write.
 */
static inline bool memcg_dirty_wb_spared(struct bdi_writeback *wb)
{
	return memcg_dirty_enabled() && __memcg_dirty_wb_spared(wb);
}

/**
 * memcg_dirty_poll - how many pages a task may dirty before its next check
 * @wb: the bdi_writeback that it writes to
 * @ratelimit: the number without dirty limits
 *
 * Return: fewer when a limit is near, 0 when it is reached and folios of several
 * pages are dirtied; at most @ratelimit.
 */
static inline int memcg_dirty_poll(struct bdi_writeback *wb, int ratelimit)
{
	if (!memcg_dirty_enabled() || !atomic_read(&memcg_dirty_nr_near))
		return ratelimit;
	return __memcg_dirty_poll(wb, ratelimit);
}

/**
 * memcg_dirty_start_writeback - write back a limited subtree's pages
 * @wb: the bdi_writeback that the caller writes to
 * @state: from memcg_dirty_wb_state()
 *
 * Starts @wb at once, and those of the rest of the subtree soon, if a
 * background limit is exceeded.
 */
static inline void
memcg_dirty_start_writeback(struct bdi_writeback *wb,
			    const struct memcg_dirty_state *state)
{
	if (memcg_dirty_enabled() && state->over_bg)
		__memcg_dirty_start_writeback(wb, state);
}

/**
 * memcg_dirty_sleep - io_schedule_timeout() for a throttled writer
 * @wb: the bdi_writeback that it writes to
 * @state: the limit that it is throttled for; none if ->thresh is 0
 * @pause: in jiffies
 * @nr_pages: that it dirtied before the pause, if it goes on after that without
 *	another check; else 0
 */
static inline void memcg_dirty_sleep(struct bdi_writeback *wb,
				     const struct memcg_dirty_state *state,
				     long pause, unsigned long nr_pages)
{
	if (memcg_dirty_enabled() && state->thresh)
		__memcg_dirty_sleep(wb, state, pause, nr_pages);
	else
		io_schedule_timeout(pause);
}

/**
 * memcg_dirty_may_pass - has a throttled writer waited for long enough?
 * @wb: the bdi_writeback that it writes to
 * @state: the limit that it is throttled for
 * @start: since when, in jiffies
 *
 * Return: %true if it may dirty a page although the limit is exceeded.
 */
static inline bool memcg_dirty_may_pass(struct bdi_writeback *wb,
					const struct memcg_dirty_state *state,
					unsigned long start)
{
	return memcg_dirty_enabled() && __memcg_dirty_may_pass(wb, state, start);
}

#endif /* _LINUX_MEMCG_DIRTY_WB_H */
