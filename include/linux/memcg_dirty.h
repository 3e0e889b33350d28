/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dirty page limits of memory cgroups: what the rest of the kernel calls.
 *
 * Documentation/mm/memcg_dirty.rst explains how it works.
 */
#ifndef _LINUX_MEMCG_DIRTY_H
#define _LINUX_MEMCG_DIRTY_H

#include <linux/atomic.h>
#include <linux/backing-dev-defs.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/mmzone.h>
#include <linux/sched.h>
#include <linux/types.h>

struct mem_cgroup;
struct memcg_dirty_domain;
struct memcg_dirty_join;
struct memcg_dirty_percpu;

/* What a dirty limit counts, in the order of enum node_stat_item. */
enum memcg_dirty_item {
	MEMCG_DIRTY,		/* NR_FILE_DIRTY */
	MEMCG_WRITEBACK,	/* NR_WRITEBACK */
	NR_MEMCG_DIRTY_ITEMS,
};

/* Peaks: of the items, and of the two together. */
#define MEMCG_DIRTY_TOTAL	NR_MEMCG_DIRTY_ITEMS
#define NR_MEMCG_DIRTY_PEAKS	(NR_MEMCG_DIRTY_ITEMS + 1)

/* What has happened because of a limit. */
enum memcg_dirty_event {
	MEMCG_DIRTY_THROTTLED,		/* pauses */
	MEMCG_DIRTY_THROTTLED_USEC,	/* how long they were */
	MEMCG_DIRTY_WAKEUPS,		/* flushers woken */
	NR_MEMCG_DIRTY_EVENTS,
};

/* The two limits of a cgroup. */
enum memcg_dirty_limit {
	MEMCG_DIRTY_LIMIT,		/* writers are held to this */
	MEMCG_DIRTY_BACKGROUND,		/* background writeback starts at this */
	NR_MEMCG_DIRTY_LIMITS,
};

/**
 * struct memcg_dirty_setting - a limit as it was written to a file
 * @pages: in pages, PAGE_COUNTER_MAX if it was not given in bytes
 * @percent: share of the memory that the cgroup can dirty, 0 if it was not
 *	given as a ratio
 */
struct memcg_dirty_setting {
	unsigned long pages;
	unsigned int percent;
};

/**
 * struct memcg_dirty - the part of a memory cgroup that dirty limits need
 * @up: the domain of the nearest limited cgroup, this one included; NULL if
 *	there is none. Read under RCU on the update path.
 * @only: the CPUs' parts of @up if that is the only domain that counts this
 *	cgroup's pages, or of a sink if none does; else has updates look at @up
 * @join: per CPU, from which point on this cgroup's pages count in @up
 * @domain: this cgroup's own domain; NULL without a limit of its own
 * @left: pages that freed children had left in the count of this cgroup's
 *	subtree; protected by memcg_dirty_mutex
 * @node: on the list of all non-root cgroups, by memcg_dirty_mutex
 * @setting: the limits, written under memcg_dirty_mutex
 * @peak: pages at most under earlier domains of this cgroup
 * @event: how often what happened in the subtree
 * @avail: pages that the cgroup can dirty, as of @avail_at
 * @avail_at: in jiffies
 * @bounded: memory.max or memory.high bound them, here or further up
 * @reclaim_until: reclaim has asked for clean pages until then, in jiffies
 * @active_at: the last epoch in which this cgroup wrote under a limit
 * @epoch: the last epoch in which @active grew
 * @active: how many cgroups wrote under this one's limit, in that epoch and in
 *	the one before
 */
struct memcg_dirty {
	struct memcg_dirty_domain __rcu *up;
	struct memcg_dirty_percpu __percpu *only;
	struct memcg_dirty_join __percpu *join;
	struct memcg_dirty_domain __rcu *domain;
	long left[NR_MEMCG_DIRTY_ITEMS];
	struct list_head node;

	struct memcg_dirty_setting setting[NR_MEMCG_DIRTY_LIMITS];
	unsigned long peak[NR_MEMCG_DIRTY_PEAKS];
	atomic64_t event[NR_MEMCG_DIRTY_EVENTS];

	unsigned long avail;
	unsigned long avail_at;
	bool bounded;
	unsigned long reclaim_until;

	unsigned long active_at;
	unsigned long epoch;
	unsigned int active[2];
};

/**
 * struct memcg_dirty_state - a limit and what counts against it, in pages
 * @dirty: dirty pages of the limited cgroup's subtree
 * @writeback: pages of the subtree under writeback
 * @thresh: the limit on the two together; 0 if there is no limit
 * @bg_thresh: above this many dirty pages, background writeback runs
 * @cgroup: ID of the limited cgroup
 * @over_bg: there are more than that, here or at another limit that binds
 * @shared_wb: the writeback is not the cgroup's own, but that of all
 */
struct memcg_dirty_state {
	unsigned long dirty;
	unsigned long writeback;
	unsigned long thresh;
	unsigned long bg_thresh;
	u64 cgroup;
	bool over_bg;
	bool shared_wb;
};

#ifdef CONFIG_MEMCG_DIRTY_LIMIT

DECLARE_STATIC_KEY_FALSE(memcg_dirty_limit_key);
extern atomic_t memcg_dirty_nr_near;

static inline bool memcg_dirty_limited(void)
{
	return static_branch_unlikely(&memcg_dirty_limit_key);
}

/* Counting: mm/memcg_dirty.c; the updates are in mm/memcg_dirty.h */

int memcg_dirty_alloc(struct mem_cgroup *memcg);
void memcg_dirty_online(struct mem_cgroup *memcg);
void memcg_dirty_reset(struct mem_cgroup *memcg);
void memcg_dirty_free(struct mem_cgroup *memcg);

/* Lives in mm/memcontrol.c, with the per-CPU statistics that it reads. */
long memcg_page_state_cpu(struct mem_cgroup *memcg, int idx, int cpu);

/* Throttling and writeback: mm/memcg_dirty_wb.c */

bool __memcg_dirty_writer_limited(void);
bool __memcg_dirty_wb_state(struct bdi_writeback *wb,
			    struct memcg_dirty_state *state);
bool __memcg_dirty_shared_over_bg(struct bdi_writeback *wb);
int __memcg_dirty_poll(struct bdi_writeback *wb, int ratelimit);
void __memcg_dirty_start_writeback(struct bdi_writeback *wb,
				   const struct memcg_dirty_state *state);
void __memcg_dirty_sleep(struct bdi_writeback *wb,
			 const struct memcg_dirty_state *state, long pause);
void __memcg_dirty_reclaim(struct mem_cgroup *memcg);

/**
 * memcg_dirty_writer_limited - does the current task write under a limit?
 *
 * Return: %true if its memory cgroup or an ancestor has a dirty limit.
 */
static inline bool memcg_dirty_writer_limited(void)
{
	return memcg_dirty_limited() && __memcg_dirty_writer_limited();
}

/**
 * memcg_dirty_wb_state - look up the limit that binds a writer
 * @wb: the bdi_writeback that it writes to: its memory cgroup's, or the one that
 *	all share where the filesystem has no other
 * @state: the tightest limit from the writer's memory cgroup to the root and
 *	its counts; all zero if there is no limit, but for ->thresh, which is then
 *	out of reach if @wb is shared
 *
 * Context: may sleep. Flushers call it too, for their own cgroup.
 *
 * Return: %true if there is a limit, or if @wb is shared.
 */
static inline bool memcg_dirty_wb_state(struct bdi_writeback *wb,
					struct memcg_dirty_state *state)
{
	*state = (struct memcg_dirty_state){};
	/* The last limit may go while a writer on shared writeback is here. */
	if (!memcg_dirty_limited() && wb != &wb->bdi->wb)
		return false;
	return __memcg_dirty_wb_state(wb, state);
}

/**
 * memcg_dirty_shared_over_bg - does a limit want shared writeback to go on?
 * @wb: a bdi_writeback that no memory cgroup but the root owns
 *
 * Return: %true if cgroups that write to it are over a background limit.
 */
static inline bool memcg_dirty_shared_over_bg(struct bdi_writeback *wb)
{
	return memcg_dirty_limited() && __memcg_dirty_shared_over_bg(wb);
}

/**
 * memcg_dirty_poll - how many pages a task may dirty before it looks again
 * @wb: the bdi_writeback that it writes to
 * @ratelimit: how many it may for all else
 *
 * Return: fewer when a limit is near, 0 when it is reached; at most @ratelimit.
 */
static inline int memcg_dirty_poll(struct bdi_writeback *wb, int ratelimit)
{
	if (!memcg_dirty_limited() || !atomic_read(&memcg_dirty_nr_near))
		return ratelimit;
	return __memcg_dirty_poll(wb, ratelimit);
}

/**
 * memcg_dirty_start_writeback - have a limited subtree's pages written
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
	if (state->over_bg)
		__memcg_dirty_start_writeback(wb, state);
}

/**
 * memcg_dirty_sleep - io_schedule_timeout() for a throttled writer
 * @wb: the bdi_writeback that it writes to
 * @state: the limit that it is throttled for; none if ->thresh is 0
 * @pause: in jiffies
 */
static inline void memcg_dirty_sleep(struct bdi_writeback *wb,
				     const struct memcg_dirty_state *state,
				     long pause)
{
	if (state->thresh)
		__memcg_dirty_sleep(wb, state, pause);
	else
		io_schedule_timeout(pause);
}

/**
 * memcg_dirty_may_pass - has a throttled writer waited for long enough?
 * @state: the limit that it is throttled for
 * @start: since when, in jiffies
 *
 * On shared writeback, one cannot tell whether its own device is what fails to
 * make progress.
 *
 * Return: %true if it is to go on for a page although the limit is exceeded.
 */
static inline bool memcg_dirty_may_pass(const struct memcg_dirty_state *state,
					unsigned long start)
{
	return state->shared_wb && jiffies - start > HZ;
}

/**
 * memcg_dirty_reclaim - have clean pages made for a cgroup that found too few
 * @memcg: the memory cgroup whose reclaim fell short
 */
static inline void memcg_dirty_reclaim(struct mem_cgroup *memcg)
{
	if (memcg_dirty_limited())
		__memcg_dirty_reclaim(memcg);
}

#else /* CONFIG_MEMCG_DIRTY_LIMIT */

static inline int memcg_dirty_alloc(struct mem_cgroup *memcg)
{
	return 0;
}

static inline void memcg_dirty_online(struct mem_cgroup *memcg)
{
}

static inline void memcg_dirty_reset(struct mem_cgroup *memcg)
{
}

static inline void memcg_dirty_free(struct mem_cgroup *memcg)
{
}

static inline bool memcg_dirty_writer_limited(void)
{
	return false;
}

static inline bool memcg_dirty_wb_state(struct bdi_writeback *wb,
					struct memcg_dirty_state *state)
{
	return false;
}

static inline bool memcg_dirty_shared_over_bg(struct bdi_writeback *wb)
{
	return false;
}

static inline int memcg_dirty_poll(struct bdi_writeback *wb, int ratelimit)
{
	return ratelimit;
}

static inline void
memcg_dirty_start_writeback(struct bdi_writeback *wb,
			    const struct memcg_dirty_state *state)
{
}

static inline void memcg_dirty_sleep(struct bdi_writeback *wb,
				     const struct memcg_dirty_state *state,
				     long pause)
{
	io_schedule_timeout(pause);
}

static inline bool memcg_dirty_may_pass(const struct memcg_dirty_state *state,
					unsigned long start)
{
	return false;
}

static inline void memcg_dirty_reclaim(struct mem_cgroup *memcg)
{
}

#endif /* CONFIG_MEMCG_DIRTY_LIMIT */

#endif /* _LINUX_MEMCG_DIRTY_H */
