// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty page limits of memory cgroups: throttling and writeback
 *
 * balance_dirty_pages() throttles writers, with its position ratio and pauses.
 * This file gives it the numbers: the limit on the path to the root of which
 * the largest share is used, less the error of its counts, and the writer's
 * share of that limit, in place of the share that a device has of the
 * system-wide limit. A limit of 40 MiB is 10240 pages:
 *
 *	0		5120		7680	8960	9600	10240
 *	|---------------|---------------|-------|-------|-------|
 *			background	freerun	balance	near	limit
 *			flushers run	pauses	point
 *					begin
 *
 * A cgroup that uses at most a quarter of an equal share is light. It is not
 * paused unless the limit is exceeded by more than a 64th. Each ancestor below
 * the limit that is not light halves this 64th: many light cgroups may fill it,
 * and must not take room from those of a light tenant.
 *
 * With many tasks, or with large folios, tasks may add more pages between two
 * checks than a small limit has room for. So near the limit they check after a
 * MEMCG_DIRTY_POLL-th of the room, 10 pages at 9600, and without room, before
 * each large folio. A task may be preempted before it adds the folio, so the
 * folio counts as dirty from the check on.
 *
 * A writer that finds a background limit exceeded starts its own flusher. A
 * worker starts the other flushers that have pages of the subtree, once in
 * MEMCG_DIRTY_SEARCH at most: see Documentation/mm/memcg_dirty.rst.
 */

#include <linux/backing-dev.h>
#include <linux/cgroup.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/memcg_dirty_wb.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/page_counter.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/vmstat.h>
#include <linux/workqueue.h>
#include <linux/writeback.h>

#include "memcg_dirty.h"

#define CREATE_TRACE_POINTS
#include <trace/events/memcg_dirty.h>

/* Close to a limit, a task checks after one part in this many of the room. */
#define MEMCG_DIRTY_POLL	64UL

/*
 * The threshold that stands for none. balance_dirty_pages() adds thresholds,
 * and the sum has to fit 32 bits.
 */
#define MEMCG_DIRTY_NO_THRESH	(UINT_MAX / 2UL)

/* The shortest time between two starts of a subtree's flushers, in jiffies. */
#define MEMCG_DIRTY_SEARCH	max(HZ / 10, 1UL)

/* Does @wb belong to no cgroup in particular? */
static bool memcg_dirty_is_shared(const struct bdi_writeback *wb)
{
	return wb == &wb->bdi->wb;
}

/* The memory cgroup whose limits apply to the caller's writes to @wb. */
static struct mem_cgroup *memcg_dirty_get_writer(struct bdi_writeback *wb)
{
	if (memcg_dirty_is_shared(wb))
		return mem_cgroup_from_css(task_get_css(current,
							memory_cgrp_id));
	css_get(wb->memcg_css);
	return mem_cgroup_from_css(wb->memcg_css);
}

/* The limit that binds */

/*
 * The threshold that enforces @limit although the counts may be wrong by
 * @error. It is lower by a 16th at most: a worker chooses smaller batches
 * before the error is larger. balance_dirty_pages() needs limits that fit 32
 * bits.
 */
static unsigned long memcg_dirty_hold(unsigned long limit, unsigned long error)
{
	return clamp(limit - min(limit / 16, error), 1UL,
		     (unsigned long)UINT_MAX);
}

static unsigned long memcg_dirty_used(const struct memcg_dirty_state *state)
{
	return min_t(unsigned long, state->dirty + state->writeback, UINT_MAX);
}

/* Up to here, balance_dirty_pages() pauses no writer. */
static unsigned long memcg_dirty_freerun(const struct memcg_dirty_state *state)
{
	return (state->thresh + state->bg_thresh) / 2;
}

/*
 * Pages under writeback to a slow device may use up the limit while few pages
 * are dirty. The dirty ones have to be written then, so that their writers can
 * go on, but not before there are enough of them for large requests.
 */
static bool memcg_dirty_over_bg(const struct memcg_dirty_state *state)
{
	return state->dirty > state->bg_thresh ||
	       (state->dirty > state->bg_thresh / 8 && state->thresh &&
		memcg_dirty_used(state) > memcg_dirty_freerun(state));
}

/* The state of @memcg's own limit; ->thresh is 0 without one. */
static void memcg_dirty_set_state(struct memcg_dirty_state *state,
				  struct mem_cgroup *memcg)
{
	unsigned long limit = memcg_dirty_in_force(memcg, MEMCG_DIRTY_LIMIT);
	unsigned long background = memcg_dirty_in_force(memcg,
							MEMCG_DIRTY_BACKGROUND);
	unsigned long total = memcg_dirty_total(memcg);

	*state = (struct memcg_dirty_state){};
	state->dirty = min(memcg_dirty_dirty(memcg), total);
	state->writeback = total - state->dirty;
	state->cgroup = cgroup_id(memcg->css.cgroup);
	state->bg_thresh = min_t(unsigned long, background, UINT_MAX - 1);
	if (limit != PAGE_COUNTER_MAX) {
		state->thresh = memcg_dirty_hold(limit,
						 memcg_dirty_own_error(memcg));
		state->bg_thresh = min(state->bg_thresh, state->thresh - 1);
	}
	state->over_bg = memcg_dirty_over_bg(state);
}

/*
 * Is a larger share of @a used than of @b? If both are unused, is @a smaller?
 */
static bool memcg_dirty_tighter(const struct memcg_dirty_state *a,
				const struct memcg_dirty_state *b)
{
	u64 used_a = memcg_dirty_used(a);
	u64 used_b = memcg_dirty_used(b);

	if (!b->thresh)
		return true;
	if (!used_a && !used_b)
		return a->thresh < b->thresh;
	return used_a * b->thresh > used_b * a->thresh;
}

/* Is the writer's cgroup far below its share, and does the limit hold? */
static bool memcg_dirty_is_light(const struct memcg_dirty_state *state,
				 unsigned long equal, unsigned int nr_heavy)
{
	unsigned long slack = state->thresh / MEMCG_DIRTY_PRECISION;

	return state->own <= equal / MEMCG_DIRTY_LIGHT &&
	       memcg_dirty_used(state) <= state->thresh +
					  (slack >> min(nr_heavy, 31U));
}

/* Reduce the counts that a light writer sees until it is not paused. */
static void memcg_dirty_spare(struct memcg_dirty_state *state)
{
	unsigned long freerun = memcg_dirty_freerun(state);

	state->writeback = min(state->writeback, freerun);
	state->dirty = min(state->dirty, freerun - state->writeback);
}

/*
 * Complete the state of @limited's limit for a writer of @memcg. A writer that
 * leaves its siblings no room waits as if the limit were used up.
 */
static void memcg_dirty_writer_state(struct mem_cgroup *memcg,
				     struct mem_cgroup *limited,
				     struct memcg_dirty_state *state)
{
	struct memcg_dirty_share share;
	unsigned long slack;
	bool light;

	state->own = memcg_dirty_total(memcg);
	state->dirty += memcg_dirty_expected(limited);
	if (memcg_dirty_used(state) <= memcg_dirty_freerun(state)) {
		state->share = state->thresh;
		return;
	}
	memcg_dirty_find_share(memcg, limited, state->thresh, &share);
	state->share = max(share.earned, share.equal / MEMCG_DIRTY_LIGHT);
	light = memcg_dirty_is_light(state, share.equal,
				     memcg_dirty_nr_heavy(memcg, limited,
							  share.equal));
	slack = light ? state->thresh / MEMCG_DIRTY_PRECISION : 0;
	if (!memcg_dirty_leaves_room(memcg, limited, state->thresh, slack))
		state->dirty = max(state->dirty,
				   state->thresh - min(state->thresh,
						       state->writeback));
	else if (light)
		memcg_dirty_spare(state);
}

/*
 * Pages that a cgroup dirties may be charged to others, so that its own count
 * stays below its floor. Floors together are at most half of the system's
 * limit. So no cgroup is spared once the system exceeds its limit by half.
 */
static bool memcg_dirty_is_spared(struct mem_cgroup *memcg)
{
	return memcg_dirty_below_floor(memcg, 1, 1) &&
	       global_node_page_state(NR_FILE_DIRTY) +
	       global_node_page_state(NR_WRITEBACK) <=
	       3 * memcg_dirty_system_floor();
}

/*
 * Below a floor, the limit that is set on @memcg applies, an ancestor's limit
 * is raised by the ancestor's effective @floor, and on each level the room below
 * memory.max applies. Up to there writers are not paused. Background writeback
 * goes by the limits as they are set, and makes room.
 */
static void memcg_dirty_lift(struct memcg_dirty_state *state,
			     struct mem_cgroup *memcg, struct mem_cgroup *pos,
			     unsigned long floor)
{
	unsigned long lifted = memcg_dirty_explicit(pos);
	unsigned long room = memcg_dirty_room(pos), background;

	if (pos != memcg)
		lifted = min(lifted + floor, PAGE_COUNTER_MAX);
	state->thresh = 0;
	if (min(lifted, room) == PAGE_COUNTER_MAX)
		return;
	state->thresh = memcg_dirty_hold(min(lifted, room),
					 memcg_dirty_own_error(pos));
	background = min(pos == memcg ? lifted / 2 : lifted, room / 2);
	state->bg_thresh = min(background, state->thresh - 1);
	state->over_bg |= state->dirty > room / 2;
}

/* Without a limit, the state is that of a background limit alone. */
static void memcg_dirty_tighten(struct memcg_dirty_state *state,
				const struct memcg_dirty_state *next)
{
	bool over_bg = state->over_bg || next->over_bg;

	if (next->thresh ? memcg_dirty_tighter(next, state) :
			   next->over_bg && !state->thresh)
		*state = *next;
	state->over_bg = over_bg;
}

/*
 * Tighten @state to the limit on @pos, for a writer of @memcg that is @spared if
 * it is below its floor. Flushers are not writers.
 */
static void memcg_dirty_add_level(struct memcg_dirty_state *state,
				  struct mem_cgroup *memcg,
				  struct mem_cgroup *pos, bool spared,
				  unsigned long floor)
{
	struct memcg_dirty_state next;

	memcg_dirty_refresh(pos);
	if (!(current->flags & PF_KTHREAD))
		memcg_dirty_note_writer(pos, memcg);
	memcg_dirty_set_state(&next, pos);
	if (spared)
		memcg_dirty_lift(&next, memcg, pos, floor);
	if (next.thresh)
		memcg_dirty_writer_state(memcg, pos, &next);
	memcg_dirty_tighten(state, &next);
}

/* All levels, from the top: effective floors follow from those above. */
static void memcg_dirty_add_spared_levels(struct memcg_dirty_state *state,
					  struct mem_cgroup *memcg)
{
	unsigned long floor = memcg_dirty_system_floor();
	struct mem_cgroup *pos = root_mem_cgroup;

	while (pos != memcg) {
		pos = memcg_dirty_next_floor(pos, memcg, &floor);
		if (memcg_dirty_is_limited(pos))
			memcg_dirty_add_level(state, memcg, pos, true, floor);
	}
}

/* The limit on @memcg's path that binds a writer. */
static void memcg_dirty_find_state(struct mem_cgroup *memcg,
				   struct memcg_dirty_state *state)
{
	struct mem_cgroup *pos;
	bool spared;

	memcg_dirty_credit(memcg);
	memcg_dirty_turn_epoch(&memcg->dirty, memcg_dirty_epoch());
	spared = memcg_dirty_is_spared(memcg);
	if (spared)
		memcg_dirty_add_spared_levels(state, memcg);
	else
		for (pos = memcg; memcg_dirty_is_limited(pos);
		     pos = parent_mem_cgroup(pos))
			memcg_dirty_add_level(state, memcg, pos, false, 0);
	state->spared = spared;
}

/**
 * memcg_dirty_find_binding - the level whose limit binds writers
 * @memcg: the writers' memory cgroup
 * @levels: set to the number of levels that it is above @memcg
 * @background: set to the lowest background limit on the path, in pages;
 *	PAGE_COUNTER_MAX for none
 *
 * Thresholds are computed anew.
 *
 * Context: any but interrupts; the caller holds a reference to @memcg.
 *
 * Return: the memory cgroup; %NULL if there is no limit on the path.
 */
struct mem_cgroup *memcg_dirty_find_binding(struct mem_cgroup *memcg,
					    unsigned int *levels,
					    unsigned long *background)
{
	struct memcg_dirty_state state = {}, next;
	struct mem_cgroup *binding = NULL;
	unsigned int level;

	*background = PAGE_COUNTER_MAX;
	for (level = 0; memcg_dirty_is_limited(memcg); level++) {
		memcg_dirty_apply(memcg);
		memcg_dirty_set_state(&next, memcg);
		if (next.thresh && memcg_dirty_tighter(&next, &state)) {
			state = next;
			binding = memcg;
			*levels = level;
		}
		*background = min(*background,
				  memcg_dirty_in_force(memcg,
						       MEMCG_DIRTY_BACKGROUND));
		memcg = parent_mem_cgroup(memcg);
	}
	return binding;
}

/* See memcg_dirty_writer_limited(). */
bool __memcg_dirty_writer_limited(void)
{
	struct mem_cgroup *memcg;
	bool limited;

	rcu_read_lock();
	memcg = mem_cgroup_from_task(current);
	limited = memcg && memcg_dirty_is_limited(memcg);
	rcu_read_unlock();
	return limited;
}

/* See memcg_dirty_wb_state(). */
bool __memcg_dirty_wb_state(struct bdi_writeback *wb,
			    struct memcg_dirty_state *state)
{
	struct mem_cgroup *memcg = memcg_dirty_get_writer(wb);

	if (memcg_dirty_is_limited(memcg))
		memcg_dirty_find_state(memcg, state);
	if (memcg_dirty_is_shared(wb)) {
		state->shared_wb = true;
		/* Pages that wait for NFS's COMMIT are not dirty. */
		state->over_bg |= state->thresh && memcg_dirty_used(state) >
						   memcg_dirty_freerun(state);
	}
	/* Here upstream has no threshold for a cgroup, or has one to ignore. */
	if (!state->thresh && (state->shared_wb || state->spared)) {
		state->thresh = MEMCG_DIRTY_NO_THRESH;
		state->share = MEMCG_DIRTY_NO_THRESH;
	}
	css_put(&memcg->css);
	return state->thresh;
}

/*
 * Does @wb have dirty pages that are charged to other cgroups, or a device with
 * a limit of its own? Then it must write even if its memory cgroup is spared.
 */
static bool memcg_dirty_serves_others(struct bdi_writeback *wb,
				      struct mem_cgroup *memcg)
{
	return wb->bdi->capabilities & BDI_CAP_STRICTLIMIT ||
	       wb_stat(wb, WB_RECLAIMABLE) >
	       memcg_dirty_total(memcg) + wb_stat_error();
}

/*
 * See memcg_dirty_wb_spared(). From three quarters of the floor on, which is
 * half way between a limit and its background limit, the flusher makes room. If
 * periodic writeback is off, there would be no writeback below that.
 */
bool __memcg_dirty_wb_spared(struct bdi_writeback *wb)
{
	struct mem_cgroup *memcg;

	if (!dirty_writeback_interval || memcg_dirty_is_shared(wb))
		return false;
	memcg = mem_cgroup_from_css(wb->memcg_css);
	return memcg_dirty_below_floor(memcg, 3, 4) &&
	       !memcg_dirty_serves_others(wb, memcg);
}

/* Close to a limit */

/*
 * The number of pages until a task's next check. It is 0 if no room is left and
 * folios are large: the task checks before it dirties any. With small folios, a
 * task that rewrites dirty pages goes on.
 */
static unsigned long memcg_dirty_interval(unsigned long thresh,
					  unsigned long used,
					  unsigned int largest)
{
	unsigned long room = thresh - min(thresh, used);

	return max(DIV_ROUND_UP(room, MEMCG_DIRTY_POLL), largest <= 1UL);
}

static int memcg_dirty_poll_one(struct mem_cgroup *memcg, int ratelimit)
{
	unsigned long limit = memcg_dirty_in_force(memcg, MEMCG_DIRTY_LIMIT);
	unsigned long used = memcg_dirty_total(memcg) +
			     memcg_dirty_expected(memcg);

	limit = memcg_dirty_hold(limit, memcg_dirty_own_error(memcg));
	return min_t(unsigned long, ratelimit,
		     memcg_dirty_interval(limit, used,
					  memcg_dirty_largest(memcg)));
}

/* See memcg_dirty_poll(). */
int __memcg_dirty_poll(struct bdi_writeback *wb, int ratelimit)
{
	struct mem_cgroup *memcg = NULL, *pos;

	rcu_read_lock();
	if (memcg_dirty_is_shared(wb))
		memcg = mem_cgroup_from_task(current);
	else
		memcg = mem_cgroup_from_css(wb->memcg_css);
	for (pos = memcg; pos && memcg_dirty_is_limited(pos);
	     pos = parent_mem_cgroup(pos))
		if (memcg_dirty_near(pos))
			ratelimit = memcg_dirty_poll_one(pos, ratelimit);
	/* A task that only rewrites dirty pages adds none. */
	if (memcg && current->nr_dirtied)
		memcg_dirty_pass(memcg, memcg_dirty_last_folio());
	rcu_read_unlock();
	return ratelimit;
}

/* Events */

/* @cgroup, an ID, has the limit, and may no longer be on @memcg's path. */
static void memcg_dirty_count_pause(struct mem_cgroup *memcg, u64 cgroup,
				    u64 usec)
{
	for (; !mem_cgroup_is_root(memcg); memcg = parent_mem_cgroup(memcg)) {
		atomic_long_inc(&memcg->dirty.pauses);
		atomic_long_add(usec, &memcg->dirty.paused_usec);
		if (cgroup_id(memcg->css.cgroup) == cgroup)
			memcg_memory_event(memcg, MEMCG_DIRTY_PAUSE);
	}
}

/* See memcg_dirty_sleep(). */
void __memcg_dirty_sleep(struct bdi_writeback *wb,
			 const struct memcg_dirty_state *state, long pause,
			 unsigned long nr_pages)
{
	struct mem_cgroup *memcg = memcg_dirty_get_writer(wb);
	int folio = min_t(unsigned long, nr_pages, memcg_dirty_largest(memcg));
	unsigned int passed = memcg_dirty_last_folio();
	ktime_t start = ktime_get();
	u64 usec;

	memcg_dirty_take_back(memcg, passed);
	memcg_dirty_pledge(memcg, folio);
	io_schedule_timeout(pause);
	usec = ktime_us_delta(ktime_get(), start);
	memcg_dirty_pledge(memcg, -folio);
	memcg_dirty_pass(memcg, nr_pages ? folio : passed);

	if (state->cgroup)
		memcg_dirty_count_pause(memcg, state->cgroup, usec);
	trace_memcg_dirty_throttle(cgroup_id(memcg->css.cgroup), state->cgroup,
				   state->dirty, state->writeback,
				   state->thresh, state->bg_thresh, usec);
	css_put(&memcg->css);
}

/* Has @wb more than @least pages to write? Sums per-CPU data if in doubt only. */
static bool memcg_dirty_has_more(struct bdi_writeback *wb, unsigned long least)
{
	if (wb_stat(wb, WB_RECLAIMABLE) + wb_stat(wb, WB_WRITEBACK) >
	    least + 2 * wb_stat_error())
		return true;
	return wb_stat_sum(wb, WB_RECLAIMABLE) + wb_stat_sum(wb, WB_WRITEBACK) >
	       least;
}

/*
 * Foreign wbs on the path of a writer that waits for long are started again: what
 * they have written may have been pages of others.
 */
static void memcg_dirty_retry_foreign(struct bdi_writeback *wb)
{
	struct mem_cgroup *memcg = memcg_dirty_get_writer(wb), *pos;

	for (pos = memcg; memcg_dirty_is_limited(pos); pos = parent_mem_cgroup(pos))
		memcg_foreign_retry(pos, NULL);
	css_put(&memcg->css);
}

/*
 * See memcg_dirty_may_pass(). The pages that use up the limit may be on another
 * device than the writer's, which makes no progress. So a page now and then has
 * to pass if the writer's own device has nothing to write, or if that cannot be
 * known. Its flusher is started, so that it soon has nothing to write. Pages
 * under writeback are still to be written: if the writer's own device makes no
 * progress either, nothing passes, however long that takes.
 */
bool __memcg_dirty_may_pass(struct bdi_writeback *wb,
			    const struct memcg_dirty_state *state,
			    unsigned long start)
{
	unsigned long used = memcg_dirty_used(state);

	if (jiffies - start <= HZ)
		return false;
	memcg_dirty_retry_foreign(wb);
	if (!state->own)
		return true;
	wb_start_foreign_writeback(wb, used);
	if (memcg_dirty_is_shared(wb))
		return used <= state->thresh + state->thresh / 8 ||
		       !memcg_dirty_has_more(wb, wb_stat_error());
	/* It has dirty inodes all the time if these are only touched. */
	return !memcg_dirty_has_more(wb, 0);
}

/* Writeback */

/* Limited cgroups whose flushers will be started. The list holds references. */
static LLIST_HEAD(memcg_dirty_flush_list);

/* When flushers were last started, in jiffies. */
static unsigned long memcg_dirty_flushed;

static void memcg_dirty_trace_wakeup(struct bdi_writeback *wb,
				     struct mem_cgroup *memcg,
				     const struct memcg_dirty_state *state)
{
	trace_memcg_dirty_wakeup(cgroup_id(memcg->css.cgroup), state->cgroup,
				 wb->bdi->id, state->dirty, state->thresh,
				 state->bg_thresh);
}

/* The time since its last writeback after which a wb counts as idle, in jiffies. */
#define MEMCG_DIRTY_REST	(HZ / 2)

/* The most wbs of a cgroup to start at a time. The rest follows next time. */
#define MEMCG_DIRTY_NR_WBS	16

/* The most wbs of removed cgroups to check at a time. */
#define MEMCG_DIRTY_NR_CHECKED	256

/**
 * struct memcg_dirty_wbs - references to wbs that have dirty inodes
 * @wb: the wbs
 * @nr: their number
 */
struct memcg_dirty_wbs {
	struct bdi_writeback *wb[MEMCG_DIRTY_NR_WBS];
	unsigned int nr;
};

static bool memcg_dirty_get_wb(struct bdi_writeback *wb,
			       struct memcg_dirty_wbs *wbs)
{
	if (wbs->nr == MEMCG_DIRTY_NR_WBS || !wb_has_dirty_io(wb) ||
	    writeback_in_progress(wb) || !wb_tryget(wb))
		return false;
	wbs->wb[wbs->nr++] = wb;
	return true;
}

/* The stamp is that of the bandwidth estimate, at most 200 ms old under writeback. */
static bool memcg_dirty_has_rested(const struct bdi_writeback *wb)
{
	return time_after(jiffies,
			  READ_ONCE(wb->bw_time_stamp) + MEMCG_DIRTY_REST);
}

/* The wbs of @memcg, while it is online. */
static void memcg_dirty_get_own_wbs(struct mem_cgroup *memcg,
				    struct memcg_dirty_wbs *wbs)
{
	struct bdi_writeback *wb;

	spin_lock_irq(&cgwb_lock);
	/* Offlining clears the list head. */
	if (memcg->cgwb_list.next)
		list_for_each_entry(wb, &memcg->cgwb_list, memcg_node)
			memcg_dirty_get_wb(wb, wbs);
	spin_unlock_irq(&cgwb_lock);
}

static bool memcg_dirty_wb_is_below(struct bdi_writeback *wb,
				    struct mem_cgroup *memcg)
{
	return mem_cgroup_is_descendant(mem_cgroup_from_css(wb->memcg_css),
					memcg);
}

/*
 * The wbs of removed cgroups in @memcg's subtree. A wb on the list has a memcg
 * only while there are references to the wb.
 */
static void memcg_dirty_get_dying_wbs(struct mem_cgroup *memcg,
				      struct memcg_dirty_wbs *wbs)
{
	unsigned int nr_checked = MEMCG_DIRTY_NR_CHECKED;
	struct bdi_writeback *wb;

	spin_lock_irq(&cgwb_lock);
	list_for_each_entry(wb, &offline_cgwbs, offline_node)
		if (wbs->nr == MEMCG_DIRTY_NR_WBS || !nr_checked--)
			break;
		else if (memcg_dirty_get_wb(wb, wbs) &&
			 !memcg_dirty_wb_is_below(wb, memcg))
			wb_put(wbs->wb[--wbs->nr]);
	/* The next walk begins with the wbs that this one has not checked. */
	if (!list_entry_is_head(wb, &offline_cgwbs, offline_node))
		list_rotate_to_front(&wb->offline_node, &offline_cgwbs);
	spin_unlock_irq(&cgwb_lock);
}

/*
 * Has @wb write up to @nr_pages of its dirty pages. Below the background limit, a
 * wb that has just written has been stopped there, and a cgroup may rewrite its
 * pages all the time. Returns false if @wb was not started.
 */
static bool memcg_dirty_start_wb(struct bdi_writeback *wb,
				 const struct memcg_dirty_state *state,
				 unsigned long nr_pages)
{
	return (state->over_bg || memcg_dirty_has_rested(wb)) &&
	       wb_start_foreign_writeback(wb, nr_pages);
}

/* Each wb writes no more than the subtree has dirty. */
static void memcg_dirty_start_wbs(struct memcg_dirty_wbs *wbs,
				  const struct memcg_dirty_state *state)
{
	struct bdi_writeback *wb;

	while (wbs->nr) {
		wb = wbs->wb[--wbs->nr];
		if (memcg_dirty_start_wb(wb, state, state->dirty))
			memcg_dirty_trace_wakeup(wb, mem_cgroup_from_css(wb->memcg_css),
						 state);
		wb_put(wb);
	}
}

/*
 * The wbs that have pages of @memcg, but are not its own. Where these are among
 * the pages of other cgroups is not known, so a wb of another cgroup writes all,
 * once. A device's own wb may have the pages of any number of cgroups.
 */
static void memcg_dirty_start_foreign(struct mem_cgroup *memcg,
				      const struct memcg_dirty_state *state)
{
	struct bdi_writeback *wb;
	unsigned int pos = 0;

	while ((wb = memcg_foreign_next(memcg, &pos))) {
		if (memcg_dirty_is_shared(wb)) {
			memcg_dirty_start_wb(wb, state, state->dirty);
			memcg_foreign_retry(memcg, wb);
		} else if (!memcg_dirty_start_wb(wb, state, ULONG_MAX)) {
			memcg_foreign_retry(memcg, wb);
		}
		memcg_foreign_put(wb);
	}
}

/*
 * By now the flushers of cgroups that write may have brought the subtree below
 * its background limit. If idle ones have the rest, it would stay, and leave the
 * writers little.
 */
static bool memcg_dirty_needs_flush(const struct memcg_dirty_state *state)
{
	return state->over_bg || state->dirty > state->bg_thresh / 2;
}

static void memcg_dirty_flush(struct mem_cgroup *limited)
{
	struct memcg_dirty_wbs wbs = {};
	struct mem_cgroup *memcg = NULL;
	struct memcg_dirty_state state;

	memcg_dirty_set_state(&state, limited);
	if (!memcg_dirty_needs_flush(&state))
		return;
	while ((memcg = mem_cgroup_iter(limited, memcg, NULL))) {
		memcg_dirty_get_own_wbs(memcg, &wbs);
		memcg_dirty_start_wbs(&wbs, &state);
		memcg_dirty_start_foreign(memcg, &state);
		cond_resched();
	}
	memcg_dirty_get_dying_wbs(limited, &wbs);
	memcg_dirty_start_wbs(&wbs, &state);
}

static void memcg_dirty_flush_workfn(struct work_struct *work)
{
	struct llist_node *list = llist_del_all(&memcg_dirty_flush_list);
	struct mem_cgroup *memcg, *next;

	WRITE_ONCE(memcg_dirty_flushed, jiffies);
	llist_for_each_entry_safe(memcg, next, list, dirty.flush_node) {
		/* A cgroup that is added again is flushed next time. */
		xchg(&memcg->dirty.flush_queued, 0);
		memcg_dirty_flush(memcg);
		css_put(&memcg->css);
	}
}

static DECLARE_DELAYED_WORK(memcg_dirty_flush_work, memcg_dirty_flush_workfn);

/*
 * At once, unless flushers were started within MEMCG_DIRTY_SEARCH: if they were
 * always started later, the writer's own flusher could have brought the subtree
 * below the limit by then, and idle cgroups would keep half of it.
 */
static unsigned long memcg_dirty_flush_delay(void)
{
	unsigned long age = jiffies - READ_ONCE(memcg_dirty_flushed);

	return MEMCG_DIRTY_SEARCH - min(age, MEMCG_DIRTY_SEARCH);
}

/* Calls within MEMCG_DIRTY_SEARCH have the effect of one. */
static void memcg_dirty_queue_flush(struct mem_cgroup *memcg)
{
	if (!READ_ONCE(memcg->dirty.flush_queued) &&
	    !xchg(&memcg->dirty.flush_queued, 1)) {
		css_get(&memcg->css);
		llist_add(&memcg->dirty.flush_node, &memcg_dirty_flush_list);
	}
	queue_delayed_work(bdi_wq, &memcg_dirty_flush_work,
			   memcg_dirty_flush_delay());
}

/**
 * memcg_dirty_flush_subtree - start all flushers of a cgroup over its limit
 * @memcg: the memory cgroup; nothing is done if it is below its background limit
 *
 * These include the flushers of idle cgroups, and of removed ones that still
 * have dirty pages.
 *
 * Context: any but interrupts; @memcg is not freed meanwhile.
 */
void memcg_dirty_flush_subtree(struct mem_cgroup *memcg)
{
	struct memcg_dirty_state state;

	memcg_dirty_set_state(&state, memcg);
	if (state.over_bg)
		memcg_dirty_queue_flush(memcg);
}

/* The topmost cgroup on @memcg's path that is over its background limit. */
static struct mem_cgroup *memcg_dirty_find_over_bg(struct mem_cgroup *memcg)
{
	struct mem_cgroup *top = NULL;
	struct memcg_dirty_state state;

	for (; memcg_dirty_is_limited(memcg); memcg = parent_mem_cgroup(memcg)) {
		memcg_dirty_set_state(&state, memcg);
		if (state.over_bg)
			top = memcg;
	}
	return top;
}

/* See memcg_dirty_start_writeback(). */
void __memcg_dirty_start_writeback(struct bdi_writeback *wb,
				   const struct memcg_dirty_state *state)
{
	struct mem_cgroup *memcg = memcg_dirty_get_writer(wb);
	struct mem_cgroup *top = memcg_dirty_find_over_bg(memcg);

	memcg_dirty_mark_active(memcg);
	if (memcg_dirty_is_shared(wb)) {
		wb_start_foreign_writeback(wb, memcg_dirty_used(state));
	} else if (wb_has_dirty_io(wb) && !writeback_in_progress(wb)) {
		memcg_dirty_trace_wakeup(wb, memcg, state);
		wb_start_background_writeback(wb);
	}
	if (top)
		memcg_dirty_queue_flush(top);
	css_put(&memcg->css);
}

#ifdef CONFIG_MEMCG_DIRTY_LIMIT_KUNIT_TEST
#include "tests/memcg_dirty_wb_kunit.c"
#endif
