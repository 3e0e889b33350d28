// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty page limits of memory cgroups: what writers and flushers are told
 *
 * Throttling is that of balance_dirty_pages(), with its position ratio and
 * pauses. It works on the numbers that come from here.
 *
 * Which limit binds
 *
 *	The one on the path to the root that is used up to the largest share.
 *	What a count may be wrong by (memcg_dirty_error(), a 64th of the limit
 *	at most) is taken off the limit, so that the limit holds for the pages
 *	that there are.
 *
 * Light writers
 *
 *	While some cgroups fill their parent's limit, another one below the same
 *	parent that has little dirty is to keep its pace. It is light while it
 *	has no more than a MEMCG_DIRTY_LIGHT-th of its fair share dirty: the
 *	limit, divided by the number of cgroups that have lately written while
 *	the background limit was exceeded. Light writers are told of no more
 *	dirty pages than balance_dirty_pages() lets pass freely. There is room
 *	for them: the others settle half way between that and the limit, an
 *	eighth of the limit below it by default. If the light ones together
 *	should fill that, and a MEMCG_DIRTY_PRECISION-th of the limit on top,
 *	they are held like all others.
 *
 * Close to a limit
 *
 *	A task looks at the limits once it has dirtied as many pages as it was
 *	allowed when it looked last. With many tasks, or with large folios, that
 *	adds up to more than a small limit has room for. So from the last 16th
 *	of a limit on, they look again after a MEMCG_DIRTY_POLL-th of the room
 *	that is left, down to every page; and once there is none, before the
 *	first, where the kernel asks at all before a page is dirtied.
 *
 *	Between the look and the page, a task may have to wait, for a CPU or for
 *	the journal, and so may many. A page each is not much; a large folio each
 *	is. So a margin is kept free below the limit: the number of tasks that
 *	have looked lately, times the pages of the largest folio that was dirtied.
 *	All count who look, however little is dirty: a few large folios later, a
 *	small limit may be reached. The background limit is lowered in proportion,
 *	for writeback and throttling to have as much of a range.
 *
 * Room for reclaim
 *
 *	A cgroup whose memory is full of dirty pages finds nothing to reclaim.
 *	Whatever its limits say, it may have three quarters dirty of what it can
 *	dirty at all below its memory.max and memory.high. So also where its
 *	ancestor has a dirty limit that is far above what the cgroup can hold.
 *	If its reclaim falls short all the same, its flushers are woken, and for
 *	a while its background limits are 0.
 *
 * Writeback
 *
 *	A writer that finds a background limit exceeded wakes its own flusher at
 *	once, and has a work item look for others in the limited subtree that
 *	have something to write: of cgroups that are idle, or that were removed.
 *	They go on for as long as wb_over_bg_thresh() finds the limit exceeded.
 *	Pages that were dirtied through another cgroup's inode are written by
 *	what the base has for them, mem_cgroup_flush_foreign().
 *
 * Shared writeback
 *
 *	Files on a filesystem without cgroup writeback, and all files on cgroup
 *	v1, are written by one bdi_writeback that belongs to the root cgroup.
 *	There, the limits of the writer's own memory cgroup apply, and writeback
 *	for a background limit writes what the device has, whoever dirtied it.
 *	A domain remembers the devices that its subtree has used in this way.
 */

#include <linux/backing-dev.h>
#include <linux/cgroup.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/page_counter.h>
#include <linux/rcupdate.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "memcg_dirty.h"

#define CREATE_TRACE_POINTS
#include <trace/events/memcg_dirty.h>

/* A writer is light below one part in this many of its fair share. */
#define MEMCG_DIRTY_LIGHT	4UL

/* Close to a limit, a task looks again after one part in this many of the room. */
#define MEMCG_DIRTY_POLL	64UL

/* The margin for tasks that have looked is at most one part in this many. */
#define MEMCG_DIRTY_MARGIN	2UL

/* How long a cgroup, or a task, counts as writing after it was last seen to. */
#define MEMCG_DIRTY_EPOCH	HZ

/*
 * The threshold where there is none. balance_dirty_pages() adds thresholds, and
 * wants the sum to fit 32 bits.
 */
#define MEMCG_DIRTY_NO_THRESH	(UINT_MAX / 2UL)

/* How long reclaim that fell short is remembered. */
#define MEMCG_DIRTY_RECLAIM	HZ

/* How long shared writeback goes on for a writer, or a reclaim, that wanted it. */
#define MEMCG_DIRTY_WANTED	max(HZ / 2, 1)

/* Pages older than that have been written for their age. */
#define MEMCG_DIRTY_SHARED	(60 * HZ)

/* How often subtrees are searched for flushers to wake. */
#define MEMCG_DIRTY_SEARCH	max(HZ / 10, 1)

static DEFINE_SPINLOCK(memcg_dirty_active_lock);

/* Does @wb belong to no cgroup in particular? */
static bool memcg_dirty_is_shared(const struct bdi_writeback *wb)
{
	return wb == &wb->bdi->wb;
}

/* The memory cgroup whose limits apply to what the caller writes to @wb. */
static struct mem_cgroup *memcg_dirty_get_writer(struct bdi_writeback *wb)
{
	if (memcg_dirty_is_shared(wb))
		return mem_cgroup_from_css(task_get_css(current,
							memory_cgrp_id));
	css_get(wb->memcg_css);
	return mem_cgroup_from_css(wb->memcg_css);
}

/* Counts and limits */

/**
 * memcg_dirty_margin - room for what writers add after they have looked
 * @limit: the limit, in pages
 * @nr_writers: how many tasks write at once
 * @largest: how many pages each may add at once
 *
 * Return: in pages.
 */
static unsigned long memcg_dirty_margin(unsigned long limit,
					unsigned int nr_writers,
					unsigned long largest)
{
	return min(nr_writers * largest, limit / MEMCG_DIRTY_MARGIN);
}

/*
 * Who writes now may have dirtied its folios long ago; so these are kept for
 * another epoch, however old.
 */
static void memcg_dirty_turn_writers(struct memcg_dirty_domain *domain)
{
	/* Before jiffies, or a later epoch could be taken for an earlier one. */
	unsigned long last = smp_load_acquire(&domain->epoch);
	unsigned long epoch = jiffies / MEMCG_DIRTY_EPOCH;
	unsigned long old;

	if (last == epoch || cmpxchg(&domain->epoch, last, epoch) != last)
		return;
	old = xchg(&domain->writers[0], 0);
	WRITE_ONCE(domain->writers[1], last + 1 == epoch ? old : 0);
	WRITE_ONCE(domain->largest[1], xchg(&domain->largest[0], 0));
}

/*
 * Have the margin follow from who writes. More tasks than there are bits in a
 * word are not told apart.
 */
static void memcg_dirty_note_writer(struct memcg_dirty_domain *domain)
{
	unsigned long *writers = domain->writers, *largest = domain->largest;
	unsigned int bit = current->pid % BITS_PER_LONG;
	unsigned long margin;

	memcg_dirty_turn_writers(domain);
	if (!test_bit(bit, writers))
		set_bit(bit, writers);
	margin = memcg_dirty_margin(READ_ONCE(domain->limit),
				    hweight_long(READ_ONCE(writers[0]) |
						 READ_ONCE(writers[1])),
				    max(READ_ONCE(largest[0]),
					READ_ONCE(largest[1])));
	if (margin != READ_ONCE(domain->margin))
		WRITE_ONCE(domain->margin, margin);
}

/**
 * memcg_dirty_hold - the threshold that keeps a limit
 * @limit: the limit, in pages
 * @error: what has to be left below it, in pages: for what the count may be
 *	wrong by, and for writers that have looked already
 *
 * balance_dirty_pages() wants limits that fit 32 bits: domain_dirty_limits()
 * caps its own likewise.
 *
 * Return: in pages; one at least.
 */
static unsigned long memcg_dirty_hold(unsigned long limit, unsigned long error)
{
	return clamp(limit - min(limit, error), 1UL, (unsigned long)UINT_MAX);
}

/*
 * A batch that is too large, as the limit is a ratio and the memory has become
 * less since, makes the shared counts useless.
 */
static unsigned long memcg_dirty_gauge(const struct memcg_dirty_domain *domain,
				       unsigned long limit,
				       struct memcg_dirty_state *state)
{
	unsigned int nr_cpus = num_possible_cpus();
	unsigned long total;

	if (domain->batch > memcg_dirty_batch(limit, nr_cpus)) {
		state->dirty = memcg_dirty_read_exact(domain, MEMCG_DIRTY);
		state->writeback = memcg_dirty_read_exact(domain,
							  MEMCG_WRITEBACK);
		return 0;
	}
	total = memcg_dirty_read_total(domain);
	state->dirty = min(memcg_dirty_read_dirty(domain), total);
	state->writeback = total - state->dirty;
	return memcg_dirty_error(domain->batch, nr_cpus);
}

/*
 * What is to @thresh as @background is to @hard, and less than @thresh.
 * @background and @thresh fit 32 bits.
 */
static unsigned long memcg_dirty_scale(unsigned long background,
				       unsigned long thresh, unsigned long hard)
{
	background = div64_u64((u64)background * thresh, hard);
	return min(background, thresh - 1);
}

/* ->thresh is 0 if there is a background limit only. */
static void memcg_dirty_set_state(struct memcg_dirty_state *state,
				  const struct memcg_dirty_domain *domain)
{
	unsigned long limit = READ_ONCE(domain->limit);
	unsigned long background = READ_ONCE(domain->background);
	unsigned long error, margin;

	error = memcg_dirty_gauge(domain, min(limit, 2 * background), state);
	state->thresh = 0;
	state->bg_thresh = min_t(unsigned long, background, UINT_MAX - 1);
	if (limit != PAGE_COUNTER_MAX) {
		margin = READ_ONCE(domain->margin);
		state->thresh = memcg_dirty_hold(limit, error + margin);
		state->bg_thresh = memcg_dirty_scale(state->bg_thresh,
						     state->thresh,
						     state->thresh + margin);
	}
	state->over_bg = state->dirty > state->bg_thresh;
}

static unsigned long memcg_dirty_used(const struct memcg_dirty_state *state)
{
	return min_t(unsigned long, state->dirty + state->writeback, UINT_MAX);
}

/* Up to here, balance_dirty_pages() lets everybody pass. */
static unsigned long memcg_dirty_freerun(const struct memcg_dirty_state *state)
{
	return (state->thresh + state->bg_thresh) / 2;
}

/**
 * memcg_dirty_tighter - which of two limits leaves less room
 * @a: a limit
 * @b: another one, or one with a zero ->thresh, which is none
 *
 * Return: %true if @a is used up to a larger share than @b is.
 */
static bool memcg_dirty_tighter(const struct memcg_dirty_state *a,
				const struct memcg_dirty_state *b)
{
	u64 used_a = memcg_dirty_used(a);
	u64 used_b = memcg_dirty_used(b);

	if (!b->thresh)
		return true;
	return used_a * b->thresh > used_b * a->thresh;
}

/* Light writers */

/* How many cgroups have written under @memcg's limit lately; one at least. */
static unsigned int memcg_dirty_nr_active(struct mem_cgroup *memcg)
{
	unsigned int *active = memcg->dirty.active;

	return max3(READ_ONCE(active[0]), READ_ONCE(active[1]), 1U);
}

/* Start counting afresh in an epoch that @memcg has not seen yet. */
static void memcg_dirty_turn_epoch(struct memcg_dirty *dirty,
				   unsigned long epoch)
{
	unsigned int last = dirty->epoch + 1 == epoch ? dirty->active[0] : 0;

	if (dirty->epoch == epoch)
		return;
	dirty->epoch = epoch;
	WRITE_ONCE(dirty->active[1], last);
	WRITE_ONCE(dirty->active[0], 0);
}

/* Make @memcg count as one that writes, once per epoch. */
static void memcg_dirty_mark_active(struct mem_cgroup *memcg)
{
	unsigned long epoch = jiffies / MEMCG_DIRTY_EPOCH;
	struct memcg_dirty *dirty;

	if (READ_ONCE(memcg->dirty.active_at) == epoch)
		return;
	spin_lock(&memcg_dirty_active_lock);
	if (memcg->dirty.active_at != epoch) {
		WRITE_ONCE(memcg->dirty.active_at, epoch);
		for (; memcg; memcg = parent_mem_cgroup(memcg)) {
			dirty = &memcg->dirty;
			if (!rcu_access_pointer(dirty->domain))
				continue;
			memcg_dirty_turn_epoch(dirty, epoch);
			WRITE_ONCE(dirty->active[0], dirty->active[0] + 1);
		}
	}
	spin_unlock(&memcg_dirty_active_lock);
}

/**
 * memcg_dirty_is_light - is a cgroup to be spared what others have dirtied?
 * @state: a limit that it writes under
 * @thresh: the same with the margin, which is for others to fill
 * @own: its own dirty and writeback pages
 * @nr_active: the number of cgroups that write under that limit
 *
 * Return: %true if it is far below its share, and the limit holds.
 */
static bool memcg_dirty_is_light(const struct memcg_dirty_state *state,
				 unsigned long thresh, unsigned long own,
				 unsigned int nr_active)
{
	return own <= thresh / MEMCG_DIRTY_LIGHT / nr_active &&
	       memcg_dirty_used(state) <= thresh + thresh / MEMCG_DIRTY_PRECISION;
}

/* Tell a light writer of as many pages as it may pass with. */
static void memcg_dirty_spare(struct memcg_dirty_state *state)
{
	unsigned long freerun = memcg_dirty_freerun(state);

	state->writeback = min(state->writeback, freerun);
	state->dirty = min(state->dirty, freerun - state->writeback);
}

/* The tightest limit */

/**
 * struct memcg_dirty_writer - who asks for its limit
 * @memcg: its memory cgroup
 * @own: the pages that are dirty or under writeback there; read when needed
 */
struct memcg_dirty_writer {
	struct mem_cgroup *memcg;
	struct memcg_dirty_state own;
};

static unsigned long memcg_dirty_own_used(struct memcg_dirty_writer *writer)
{
	struct memcg_dirty_state *own = &writer->own;

	if (!own->cgroup) {
		own->cgroup = cgroup_id(writer->memcg->css.cgroup);
		own->dirty = memcg_dirty_read_local(writer->memcg, MEMCG_DIRTY);
		own->writeback = memcg_dirty_read_local(writer->memcg,
							MEMCG_WRITEBACK);
	}
	return memcg_dirty_used(own);
}

static bool memcg_dirty_in_reclaim(struct mem_cgroup *memcg)
{
	unsigned long until = READ_ONCE(memcg->dirty.reclaim_until);

	return until - jiffies - 1 < MEMCG_DIRTY_RECLAIM;
}

/* What @memcg's own limit says to @writer; false if it has none. */
static bool memcg_dirty_one_state(struct mem_cgroup *memcg,
				  struct memcg_dirty_writer *writer,
				  struct memcg_dirty_state *state)
{
	struct memcg_dirty_domain *domain = rcu_dereference(memcg->dirty.domain);
	unsigned long thresh;

	if (!domain)
		return false;
	/* Flushers ask as well. */
	if (!(current->flags & PF_KTHREAD))
		memcg_dirty_note_writer(domain);
	memcg_dirty_set_state(state, domain);
	state->cgroup = cgroup_id(memcg->css.cgroup);
	if (!state->thresh ||
	    memcg_dirty_used(state) <= memcg_dirty_freerun(state))
		return true;
	thresh = state->thresh + READ_ONCE(domain->margin);
	if (memcg_dirty_is_light(state, thresh, memcg_dirty_own_used(writer),
				 memcg_dirty_nr_active(memcg)))
		memcg_dirty_spare(state);
	return true;
}

/**
 * memcg_dirty_room - how much of a cgroup's memory may be dirty at most
 * @avail: pages that it can dirty
 *
 * Return: in pages; one at least.
 */
static unsigned long memcg_dirty_room(unsigned long avail)
{
	return max(avail - avail / 4, 1UL);
}

/* The room for reclaim, as if it were a limit on the pages of @writer's own. */
static bool memcg_dirty_room_state(struct memcg_dirty_writer *writer,
				   struct memcg_dirty_state *state)
{
	struct memcg_dirty *dirty = &writer->memcg->dirty;
	unsigned long room;

	if (!READ_ONCE(dirty->bounded))
		return false;
	memcg_dirty_own_used(writer);
	room = memcg_dirty_room(READ_ONCE(dirty->avail));
	*state = writer->own;
	state->thresh = memcg_dirty_hold(room, 0);
	state->bg_thresh = state->thresh / 2;
	state->over_bg = state->dirty > state->bg_thresh;
	return true;
}

/* A background limit alone is worth to be told of where there is no limit. */
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
 * A reclaim that fell short counts like an exceeded background limit.
 * Context: RCU.
 */
static void memcg_dirty_find_state(struct mem_cgroup *memcg,
				   struct memcg_dirty_state *state)
{
	struct memcg_dirty_writer writer = { .memcg = memcg };
	struct memcg_dirty_state next;

	if (!rcu_access_pointer(memcg->dirty.up))
		return;
	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		if (memcg_dirty_one_state(memcg, &writer, &next))
			memcg_dirty_tighten(state, &next);
		state->over_bg |= memcg_dirty_in_reclaim(memcg);
	}
	/* With a background limit alone, the base's threshold leaves room. */
	if (state->thresh && memcg_dirty_room_state(&writer, &next))
		memcg_dirty_tighten(state, &next);
}

/* Shared writeback */

static bool memcg_dirty_uses_shared(const struct memcg_dirty_shared *shared,
				    u64 bdi)
{
	return READ_ONCE(shared->bdi) == bdi &&
	       jiffies - READ_ONCE(shared->at) < MEMCG_DIRTY_SHARED;
}

/* The entry for @bdi, or else the one that has not been used for longest. */
static struct memcg_dirty_shared *
memcg_dirty_find_shared(struct memcg_dirty_domain *domain, u64 bdi)
{
	struct memcg_dirty_shared *oldest = domain->shared;
	struct memcg_dirty_shared *shared;
	int i;

	for (i = 0; i < MEMCG_DIRTY_NR_SHARED; i++) {
		shared = &domain->shared[i];
		if (READ_ONCE(shared->bdi) == bdi)
			return shared;
		if (jiffies - READ_ONCE(shared->at) >
		    jiffies - READ_ONCE(oldest->at))
			oldest = shared;
	}
	return oldest;
}

/* Updates of counts read the same cache line. */
static void memcg_dirty_stamp(unsigned long *at)
{
	unsigned long now = jiffies;

	if (READ_ONCE(*at) != now)
		WRITE_ONCE(*at, now);
}

/*
 * Leave word of where @memcg has dirtied pages, for its limited ancestors.
 * Context: RCU.
 */
static void memcg_dirty_note_shared(struct mem_cgroup *memcg, u64 bdi,
				    bool over_bg)
{
	struct memcg_dirty_domain *domain;
	struct memcg_dirty_shared *shared;

	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		domain = rcu_dereference(memcg->dirty.domain);
		if (!domain)
			continue;
		shared = memcg_dirty_find_shared(domain, bdi);
		memcg_dirty_stamp(&shared->at);
		if (READ_ONCE(shared->bdi) != bdi)
			WRITE_ONCE(shared->bdi, bdi);
		if (over_bg)
			memcg_dirty_stamp(&domain->wanted_at);
	}
}

/*
 * A writer that is held for the room that reclaim needs wants writeback to go on
 * although the background limit is not exceeded. So does reclaim itself.
 */
static bool memcg_dirty_domain_wants_shared(struct memcg_dirty_domain *domain,
					    u64 bdi)
{
	struct memcg_dirty_state state;
	int i;

	for (i = 0; i < MEMCG_DIRTY_NR_SHARED; i++) {
		if (!memcg_dirty_uses_shared(&domain->shared[i], bdi))
			continue;
		memcg_dirty_set_state(&state, domain);
		return state.over_bg ||
		       jiffies - READ_ONCE(domain->wanted_at) <
			       MEMCG_DIRTY_WANTED;
	}
	return false;
}

/* See memcg_dirty_shared_over_bg(). */
bool __memcg_dirty_shared_over_bg(struct bdi_writeback *wb)
{
	struct memcg_dirty_domain *domain;
	bool over_bg = false;

	rcu_read_lock();
	list_for_each_entry_rcu(domain, &memcg_dirty_domains, node) {
		over_bg = memcg_dirty_domain_wants_shared(domain, wb->bdi->id);
		if (over_bg)
			break;
	}
	rcu_read_unlock();
	return over_bg;
}

/* The limit for a writer */

/* See memcg_dirty_writer_limited(). */
bool __memcg_dirty_writer_limited(void)
{
	struct mem_cgroup *memcg;
	bool limited;

	rcu_read_lock();
	memcg = mem_cgroup_from_task(current);
	limited = memcg && rcu_access_pointer(memcg->dirty.up);
	rcu_read_unlock();
	return limited;
}

/* See memcg_dirty_wb_state(). */
bool __memcg_dirty_wb_state(struct bdi_writeback *wb,
			    struct memcg_dirty_state *state)
{
	struct mem_cgroup *memcg = memcg_dirty_get_writer(wb);

	if (rcu_access_pointer(memcg->dirty.up))
		memcg_dirty_refresh(memcg);
	rcu_read_lock();
	memcg_dirty_find_state(memcg, state);
	if (memcg_dirty_is_shared(wb)) {
		state->shared_wb = true;
		memcg_dirty_note_shared(memcg, wb->bdi->id, state->over_bg);
		/* The base has no threshold for a cgroup there. */
		state->thresh = state->thresh ?: MEMCG_DIRTY_NO_THRESH;
	}
	rcu_read_unlock();
	css_put(&memcg->css);
	return state->thresh;
}

/* Close to a limit */

/**
 * memcg_dirty_interval - how many pages until a task is to look again
 * @thresh: what it is held to, in pages
 * @used: what counts against that, in pages
 *
 * Return: 0 if no room is left: then it is to look before it dirties any.
 */
static unsigned long memcg_dirty_interval(unsigned long thresh,
					  unsigned long used)
{
	return DIV_ROUND_UP(thresh - min(thresh, used), MEMCG_DIRTY_POLL);
}

static int memcg_dirty_poll_domain(const struct memcg_dirty_domain *domain,
				   int ratelimit)
{
	unsigned long thresh = memcg_dirty_hold(READ_ONCE(domain->limit),
						READ_ONCE(domain->margin));

	return min_t(unsigned long, ratelimit,
		     memcg_dirty_interval(thresh,
					  memcg_dirty_read_total(domain)));
}

/* See memcg_dirty_poll(). */
int __memcg_dirty_poll(struct bdi_writeback *wb, int ratelimit)
{
	struct memcg_dirty_domain *domain = NULL;
	struct mem_cgroup *memcg;

	rcu_read_lock();
	if (memcg_dirty_is_shared(wb))
		memcg = mem_cgroup_from_task(current);
	else
		memcg = mem_cgroup_from_css(wb->memcg_css);
	if (memcg)
		domain = rcu_dereference(memcg->dirty.up);
	for (; domain; domain = rcu_dereference(domain->up))
		if (READ_ONCE(domain->near))
			ratelimit = memcg_dirty_poll_domain(domain, ratelimit);
	rcu_read_unlock();
	return ratelimit;
}

/* Events */

static void memcg_dirty_event(struct mem_cgroup *memcg,
			      enum memcg_dirty_event event, u64 count)
{
	for (; !mem_cgroup_is_root(memcg); memcg = parent_mem_cgroup(memcg))
		atomic64_add(count, &memcg->dirty.event[event]);
}

/* See memcg_dirty_sleep(). */
void __memcg_dirty_sleep(struct bdi_writeback *wb,
			 const struct memcg_dirty_state *state, long pause)
{
	struct mem_cgroup *memcg = memcg_dirty_get_writer(wb);
	ktime_t start = ktime_get();
	u64 usec;

	io_schedule_timeout(pause);
	usec = ktime_us_delta(ktime_get(), start);

	memcg_dirty_event(memcg, MEMCG_DIRTY_THROTTLED, 1);
	memcg_dirty_event(memcg, MEMCG_DIRTY_THROTTLED_USEC, usec);
	trace_memcg_dirty_throttle(cgroup_id(memcg->css.cgroup), state->cgroup,
				   state->dirty, state->writeback,
				   state->thresh, state->bg_thresh, usec);
	css_put(&memcg->css);
}

/* Writeback */

/* Start @wb's flusher for @memcg's sake. */
static void memcg_dirty_wake(struct bdi_writeback *wb, struct mem_cgroup *memcg,
			     const struct memcg_dirty_state *state)
{
	memcg_dirty_event(memcg, MEMCG_DIRTY_WAKEUPS, 1);
	trace_memcg_dirty_wakeup(cgroup_id(memcg->css.cgroup), state->cgroup,
				 wb->bdi->id, state->dirty, state->thresh,
				 state->bg_thresh);
	wb_start_background_writeback(wb);
}

/* Context: RCU. */
static bool memcg_dirty_find_over_bg(struct mem_cgroup *memcg,
				     struct memcg_dirty_state *state)
{
	struct memcg_dirty_domain *domain;

	*state = (struct memcg_dirty_state){};
	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		if (memcg_dirty_in_reclaim(memcg))
			return true;
		domain = rcu_dereference(memcg->dirty.domain);
		if (!domain)
			continue;
		memcg_dirty_set_state(state, domain);
		state->cgroup = cgroup_id(memcg->css.cgroup);
		if (state->over_bg)
			return true;
	}
	return false;
}

/*
 * Context: RCU. It keeps @wb, and through it the cgroup that @wb belonged to
 * when it was put on its device's list.
 */
static void memcg_dirty_wake_subtree_wb(struct bdi_writeback *wb)
{
	struct memcg_dirty_state state;
	struct mem_cgroup *memcg;

	if (!wb_has_dirty_io(wb) || writeback_in_progress(wb))
		return;
	if (memcg_dirty_is_shared(wb)) {
		if (__memcg_dirty_shared_over_bg(wb))
			wb_start_background_writeback(wb);
		return;
	}
	memcg = mem_cgroup_from_css(wb->memcg_css);
	if (memcg_dirty_find_over_bg(memcg, &state))
		memcg_dirty_wake(wb, memcg, &state);
}

static void memcg_dirty_wake_workfn(struct work_struct *work)
{
	struct backing_dev_info *bdi;
	struct bdi_writeback *wb;

	rcu_read_lock();
	list_for_each_entry_rcu(bdi, &bdi_list, bdi_list)
		list_for_each_entry_rcu(wb, &bdi->wb_list, bdi_node)
			memcg_dirty_wake_subtree_wb(wb);
	rcu_read_unlock();
}

static DECLARE_DELAYED_WORK(memcg_dirty_wake_work, memcg_dirty_wake_workfn);

/**
 * memcg_dirty_wake_subtrees - wake all flushers that have a limit to care for
 *
 * They include those of idle cgroups, and of removed ones that have dirty pages
 * still.
 */
void memcg_dirty_wake_subtrees(void)
{
	mod_delayed_work(bdi_wq, &memcg_dirty_wake_work, 0);
}

/* The same for those who ask all the time; the last one is not forgotten. */
static void memcg_dirty_wake_subtrees_ratelimited(void)
{
	static unsigned long next;
	unsigned long now = jiffies, at = READ_ONCE(next);

	if (time_before(now, at) && at - now <= MEMCG_DIRTY_SEARCH) {
		queue_delayed_work(bdi_wq, &memcg_dirty_wake_work, at - now);
		return;
	}
	WRITE_ONCE(next, now + MEMCG_DIRTY_SEARCH);
	memcg_dirty_wake_subtrees();
}

/* See memcg_dirty_start_writeback(). */
void __memcg_dirty_start_writeback(struct bdi_writeback *wb,
				   const struct memcg_dirty_state *state)
{
	struct mem_cgroup *memcg = memcg_dirty_get_writer(wb);

	memcg_dirty_mark_active(memcg);
	if (wb_has_dirty_io(wb) && !writeback_in_progress(wb))
		memcg_dirty_wake(wb, memcg, state);
	memcg_dirty_wake_subtrees_ratelimited();
	css_put(&memcg->css);
}

/*
 * Are dirty pages what keeps reclaim from success? Of a subtree without a limit
 * of its own, only the cgroup itself is counted.
 */
static bool memcg_dirty_hinders_reclaim(struct mem_cgroup *memcg)
{
	struct memcg_dirty_domain *domain;
	unsigned long dirty;

	rcu_read_lock();
	domain = rcu_dereference(memcg->dirty.domain);
	if (domain)
		dirty = memcg_dirty_read_dirty(domain);
	else
		dirty = memcg_dirty_read_local(memcg, MEMCG_DIRTY);
	rcu_read_unlock();
	return dirty > page_counter_read(&memcg->memory) / 8;
}

/* Shared writeback goes by domains, and knows nothing of cgroups. */
static void memcg_dirty_want_shared(struct mem_cgroup *memcg)
{
	struct memcg_dirty_domain *domain;

	rcu_read_lock();
	domain = rcu_dereference(memcg->dirty.up);
	for (; domain; domain = rcu_dereference(domain->up))
		memcg_dirty_stamp(&domain->wanted_at);
	rcu_read_unlock();
}

/* See memcg_dirty_reclaim(). */
void __memcg_dirty_reclaim(struct mem_cgroup *memcg)
{
	if (!rcu_access_pointer(memcg->dirty.up) ||
	    !memcg_dirty_hinders_reclaim(memcg))
		return;
	WRITE_ONCE(memcg->dirty.reclaim_until, jiffies + MEMCG_DIRTY_RECLAIM);
	memcg_dirty_want_shared(memcg);
	memcg_dirty_wake_subtrees_ratelimited();
}

#ifdef CONFIG_MEMCG_DIRTY_LIMIT_KUNIT_TEST
#include "tests/memcg_dirty_wb_kunit.c"
#endif
