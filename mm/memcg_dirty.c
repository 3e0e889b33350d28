// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty page limits of memory cgroups: the counts
 *
 * A limit needs the number of pages that a subtree has dirty or under
 * writeback. memory.stat may be seconds old, and its error grows with the
 * number of CPUs. The counts here are exact to a known number of pages, and
 * are so as soon as a limit is set.
 *
 * For each cgroup and CPU, upstream's statistics have the sum of all updates
 * since the cgroup was created. A mark beside it records how much of that sum
 * is in the shared counts of the cgroup and of each ancestor. A fold moves the
 * mark to the sum with cmpxchg() and adds the difference to the counts of every
 * level. So the counts of a level are the sum of the marks below it, and a new
 * limit needs no other preparation than the batches: a CPU folds when its sum gets
 * to another multiple of the batch, and holds back less than a batch between two.
 * That compares two values of the sum, and does not read the mark. With a batch of
 * 64:
 *
 *	a CPU's sum	mark	counts of the cgroup and of each ancestor
 *
 *	      1024	1024	5000	16 * 64
 *	      1087	1024	5000	63 updates later
 *	      1088	1088	5064	the next update folds all 64
 *
 * On four CPUs, the counts of a cgroup without descendants lack 63 pages for
 * each CPU and each of the two items at most, which is 504.
 *
 * A CPU adds to its sum first, and folds after that: see memcg_dirty_fold().
 *
 * The recent past of a cgroup is kept here too: sums that decay, children that
 * wrote lately, and folios in flight.
 */

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/page_counter.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "memcg_dirty.h"

DEFINE_STATIC_KEY_FALSE(memcg_dirty_key);

atomic_t memcg_dirty_nr_near = ATOMIC_INIT(0);

/* Sums that decay */

/* The number of the current period; jiffies would wrap inside one. */
static unsigned long memcg_dirty_now(unsigned long period)
{
	return div_u64(get_jiffies_64(), period);
}

/* In periods: a task preempted after it reads the clock is late by less. */
#define MEMCG_DIRTY_LATE	1024UL

/*
 * Is @now a later period than @last? On 32 bits the difference may be of any
 * sign: @last is 0 in a new cgroup, and as old as the last writer in others.
 */
static bool memcg_dirty_is_later(unsigned long now, unsigned long last)
{
	return last - now >= MEMCG_DIRTY_LATE;
}

/**
 * memcg_dirty_flow_add - add to a sum that decays
 * @flow: the sum
 * @period: after this time, in jiffies, an addition counts half
 * @nr: the number to add, in the caller's unit
 *
 * Context: any but interrupts.
 */
void memcg_dirty_flow_add(struct memcg_dirty_flow *flow, unsigned long period,
			  long nr)
{
	unsigned long now = memcg_dirty_now(period);
	unsigned long last = READ_ONCE(flow->period);
	long old;

	if (memcg_dirty_is_later(now, last) &&
	    try_cmpxchg(&flow->period, &last, now)) {
		old = atomic_long_read(&flow->sum);
		nr -= old - (old >> min(now - last, BITS_PER_LONG - 1UL));
	}
	atomic_long_add(nr, &flow->sum);
}

/**
 * memcg_dirty_flow_read - read a sum that decays
 * @flow: the sum
 * @period: as for memcg_dirty_flow_add()
 *
 * Return: the sum, in the unit of the additions.
 */
unsigned long memcg_dirty_flow_read(const struct memcg_dirty_flow *flow,
				    unsigned long period)
{
	unsigned long now = memcg_dirty_now(period);
	unsigned long last = READ_ONCE(flow->period);
	long nr = atomic_long_read(&flow->sum);

	if (memcg_dirty_is_later(now, last))
		nr >>= min(now - last, BITS_PER_LONG - 1UL);
	return max(nr, 0L);
}

/* How long a cgroup counts as a writing one. */
#define MEMCG_DIRTY_EPOCH	HZ

/**
 * memcg_dirty_epoch - the current epoch
 *
 * Return: a number that grows by one with each MEMCG_DIRTY_EPOCH.
 */
unsigned int memcg_dirty_epoch(void)
{
	return memcg_dirty_now(MEMCG_DIRTY_EPOCH);
}

/**
 * memcg_dirty_turn_epoch - reset the counts of an epoch when a new one begins
 * @dirty: of a memory cgroup
 * @epoch: the current one
 */
void memcg_dirty_turn_epoch(struct memcg_dirty *dirty, unsigned int epoch)
{
	unsigned int last = READ_ONCE(dirty->epoch);
	bool next = last + 1 == epoch;
	unsigned int largest;

	if ((int)(epoch - last) <= 0 ||
	    !try_cmpxchg(&dirty->epoch, &last, epoch))
		return;
	atomic_set(&dirty->active[1], next * atomic_xchg(&dirty->active[0], 0));
	WRITE_ONCE(dirty->writers[1], next * xchg(&dirty->writers[0], 0));
	/*
	 * After a gap, folios are likely to be as large as before it. A larger one that
	 * comes meanwhile stays for two epochs.
	 */
	largest = READ_ONCE(dirty->largest[0]);
	WRITE_ONCE(dirty->largest[1], largest);
	cmpxchg(&dirty->largest[0], largest, 0);
}

/**
 * memcg_dirty_count_active - count a child that has begun to write
 * @parent: the parent
 * @epoch: the current epoch, in which the child has not been counted yet
 */
void memcg_dirty_count_active(struct mem_cgroup *parent, unsigned int epoch)
{
	memcg_dirty_turn_epoch(&parent->dirty, epoch);
	atomic_inc(&parent->dirty.active[0]);
}

/**
 * memcg_dirty_nr_active - how many children have written lately
 * @memcg: the parent
 *
 * Return: the number of those that found a background limit exceeded; at least
 * one.
 */
unsigned int memcg_dirty_nr_active(const struct mem_cgroup *memcg)
{
	const struct memcg_dirty *dirty = &memcg->dirty;

	if (memcg_dirty_epoch() - READ_ONCE(dirty->epoch) > 1)
		return 1;
	return max3(atomic_read(&dirty->active[0]), atomic_read(&dirty->active[1]),
		    1);
}

/* Counts */

/**
 * memcg_dirty_tolerance - the largest error of the counts for a limit
 * @limit: the limit, in pages
 *
 * Return: the error, in pages.
 */
unsigned long memcg_dirty_tolerance(unsigned long limit)
{
	return limit < MEMCG_DIRTY_EXACT ? 0 : limit / MEMCG_DIRTY_PRECISION;
}

/**
 * memcg_dirty_batch - the batch that a limit needs
 * @limit: the limit, in pages
 * @nr_cpus: the number of possible CPUs
 * @nr_cgroups: the number of cgroups that the limit applies to
 *
 * The batch suits half of the limit as well, as a limit may follow memory.
 *
 * Return: a number of pages, a power of two; one if each update must be folded at
 * once.
 */
unsigned int memcg_dirty_batch(unsigned long limit, unsigned int nr_cpus,
			       unsigned int nr_cgroups)
{
	u64 parts = (u64)nr_cpus * nr_cgroups * NR_MEMCG_DIRTY_ITEMS;

	u64 batch = div64_u64(memcg_dirty_tolerance(limit / 2), parts);

	return rounddown_pow_of_two(clamp_t(u64, batch, 1, MEMCG_DIRTY_BATCH_MAX));
}

/**
 * memcg_dirty_error - the pages that all CPUs together may hold back
 * @batch: the batch, in pages
 * @nr_cpus: the number of possible CPUs
 * @nr_cgroups: the number of cgroups with this batch
 *
 * Return: the number of pages.
 */
unsigned long memcg_dirty_error(unsigned int batch, unsigned int nr_cpus,
				unsigned int nr_cgroups)
{
	return (unsigned long)nr_cpus * nr_cgroups * NR_MEMCG_DIRTY_ITEMS *
	       (batch - 1);
}

/**
 * memcg_dirty_total - pages of a subtree that are dirty or under writeback
 * @memcg: the subtree's root, not the root cgroup
 *
 * Dirty and writeback pages have a common count: two counts would be read at
 * different moments. A folio that goes from dirty to writeback is in neither
 * state for a moment, and the count can be negative for that time.
 *
 * Return: the number of pages.
 */
unsigned long memcg_dirty_total(const struct mem_cgroup *memcg)
{
	return max(atomic_long_read(&memcg->dirty.total), 0L);
}

/**
 * memcg_dirty_dirty - dirty pages of a subtree
 * @memcg: the subtree's root, not the root cgroup
 *
 * Return: the number of pages.
 */
unsigned long memcg_dirty_dirty(const struct mem_cgroup *memcg)
{
	return max(atomic_long_read(&memcg->dirty.dirty), 0L);
}

/* Notes: the peak, the claim, and whether the limit is near */

/**
 * memcg_dirty_largest - the largest folio that was dirtied recently
 * @memcg: the memory cgroup
 *
 * Return: its size in pages; 1 if no folio was larger.
 */
unsigned int memcg_dirty_largest(const struct mem_cgroup *memcg)
{
	return max3(READ_ONCE(memcg->dirty.largest[0]),
		    READ_ONCE(memcg->dirty.largest[1]), 1U);
}

/* The tasks that checked the limit recently. BITS_PER_LONG may mean more. */
static unsigned int memcg_dirty_nr_writers(const struct memcg_dirty *dirty)
{
	return hweight_long(READ_ONCE(dirty->writers[0]) |
			    READ_ONCE(dirty->writers[1]));
}

static void memcg_dirty_raise(unsigned long *peak, unsigned long nr_pages)
{
	unsigned long old = READ_ONCE(*peak);

	while (nr_pages > old && !try_cmpxchg(peak, &old, nr_pages))
		;
}

/*
 * Updates the parent's claims too, as in propagate_protected_usage(). A CPU
 * that has stored its claim late checks it once more.
 */
static void memcg_dirty_claim(struct mem_cgroup *memcg)
{
	struct memcg_dirty *dirty = &memcg->dirty;
	unsigned long claim, old;

	for (;;) {
		claim = min(memcg_dirty_total(memcg), memcg_dirty_own_floor(memcg));
		if (claim == READ_ONCE(dirty->claim))
			return;
		old = xchg(&dirty->claim, claim);
		atomic_long_add(claim - old,
				&parent_mem_cgroup(memcg)->dirty.claims);
	}
}

/*
 * The limit is near from this total on: with a folio for each writer, in its last 16th.
 * It is not while no page is dirty.
 */
static long memcg_dirty_near_from(const struct mem_cgroup *memcg,
				  unsigned int nr_writers)
{
	long limit = memcg_dirty_in_force(memcg, MEMCG_DIRTY_LIMIT);

	return max(limit - limit / 16 -
		   (long)nr_writers * (long)memcg_dirty_largest(memcg), 1L);
}

/*
 * The highest total that memcg_dirty_note() need not know. Most of the time, the limit
 * is far away, and there has been a higher total.
 */
static long memcg_dirty_find_watch(const struct mem_cgroup *memcg)
{
	const struct memcg_dirty *dirty = &memcg->dirty;

	if (memcg_dirty_own_floor(memcg) || memcg_dirty_claimed(memcg) ||
	    memcg_dirty_near(memcg))
		return LONG_MIN;
	return min((long)READ_ONCE(dirty->local_peak),
		   memcg_dirty_near_from(memcg, BITS_PER_LONG) - 1);
}

/*
 * Of two CPUs that have changed a number that the watch follows from, the one that
 * is the last to store a watch finds both changes. It need not store a higher one: the
 * next total above a watch that is too low corrects that. Returns %true if the watch
 * is lower than it was at any time since the call: a CPU that has added pages
 * meanwhile may have found the higher one.
 */
static bool memcg_dirty_adjust_watch(struct mem_cgroup *memcg)
{
	long *watch = &memcg->dirty.watch, found, stored, highest = LONG_MIN;

	/* Pairs with the barrier of xchg() on another CPU. */
	smp_mb();
	found = memcg_dirty_find_watch(memcg);
	if (found == READ_ONCE(*watch))
		return false;
	do {
		stored = found;
		highest = max(highest, xchg(watch, stored));
		found = memcg_dirty_find_watch(memcg);
	} while (found < stored);
	return highest > stored;
}

static void memcg_dirty_note_once(struct mem_cgroup *memcg, long total)
{
	struct memcg_dirty *dirty = &memcg->dirty;
	int near = total >= memcg_dirty_near_from(memcg,
						  memcg_dirty_nr_writers(dirty));

	if (total > (long)READ_ONCE(dirty->local_peak)) {
		memcg_dirty_raise(&dirty->peak, total);
		memcg_dirty_raise(&dirty->local_peak, total);
	}
	if (memcg_dirty_own_floor(memcg) || memcg_dirty_claimed(memcg))
		memcg_dirty_claim(memcg);
	if (near != READ_ONCE(dirty->near) && near != xchg(&dirty->near, near))
		atomic_add(near ? 1 : -1, &memcg_dirty_nr_near);
}

/**
 * memcg_dirty_note - record the peak, the claim, and whether the limit is near
 * @memcg: a memory cgroup
 * @total: dirty pages and pages under writeback of its subtree
 *
 * To be called when @total is above the watch, and after each change of a number
 * that the watch follows from: see memcg_dirty_find_watch().
 *
 * Context: any.
 */
void memcg_dirty_note(struct mem_cgroup *memcg, long total)
{
	memcg_dirty_note_once(memcg, total);
	while (memcg_dirty_adjust_watch(memcg))
		memcg_dirty_note_once(memcg, memcg_dirty_total(memcg));
}

/**
 * memcg_dirty_restart_peak - begin a new peak
 * @memcg: the memory cgroup
 * @total: its first value, in pages
 *
 * A CPU that has added to the counts, but has not recorded a peak yet, finds
 * @total and records none: so this does.
 *
 * Return: the peak since the last call, in pages.
 */
unsigned long memcg_dirty_restart_peak(struct mem_cgroup *memcg,
				       unsigned long total)
{
	unsigned long last;

	memcg_dirty_raise(&memcg->dirty.peak, total);
	last = xchg(&memcg->dirty.local_peak, total);
	memcg_dirty_note(memcg, memcg_dirty_total(memcg));
	return last;
}

static void memcg_dirty_raise_largest(struct mem_cgroup *memcg,
				      unsigned int nr_pages)
{
	unsigned int *largest = &memcg->dirty.largest[0];
	unsigned int old = READ_ONCE(*largest);

	do {
		if (nr_pages <= old)
			return;
	} while (!try_cmpxchg(largest, &old, nr_pages));
	memcg_dirty_note(memcg, memcg_dirty_total(memcg));
}

/**
 * memcg_dirty_note_writer - record that a task checks a limit
 * @limited: the memory cgroup that has the limit
 * @memcg: the task's memory cgroup, to which it may add a folio soon
 */
void memcg_dirty_note_writer(struct mem_cgroup *limited,
			     const struct mem_cgroup *memcg)
{
	unsigned int bit = current->pid % BITS_PER_LONG;
	struct memcg_dirty *dirty = &limited->dirty;

	memcg_dirty_turn_epoch(dirty, memcg_dirty_epoch());
	if (!test_bit(bit, dirty->writers))
		set_bit(bit, dirty->writers);
	memcg_dirty_raise_largest(limited, READ_ONCE(memcg->dirty.largest[0]));
}

DEFINE_PER_CPU(struct memcg_dirty_last, memcg_dirty_last);

/* Tasks with large folios may exceed a limit that seems to be far away. */
static noinline void memcg_dirty_record_folio(struct mem_cgroup *memcg, long nr_pages)
{
	if (!memcg_dirty_is_limited(memcg) || (current->flags & PF_KTHREAD))
		return;
	__this_cpu_write(memcg_dirty_last.task, current);
	__this_cpu_write(memcg_dirty_last.nr_pages, nr_pages);
	memcg_dirty_raise_largest(memcg, nr_pages);
}

/* Folds */

/*
 * Add to the counts of @memcg, which is not the root, and of each ancestor below it.
 * The addition to the total and the store of a watch are full barriers: either this
 * CPU finds the new watch, or the one that has stored it finds the new total.
 */
static __always_inline void
memcg_dirty_add(struct mem_cgroup *memcg, enum memcg_dirty_item item,
		long nr_pages)
{
	long total;

	do {
		if (item == MEMCG_DIRTY)
			atomic_long_add(nr_pages, &memcg->dirty.dirty);
		total = atomic_long_add_return(nr_pages, &memcg->dirty.total);
		if (total > READ_ONCE(memcg->dirty.watch))
			memcg_dirty_note(memcg, total);
		memcg = parent_mem_cgroup(memcg);
	} while (!mem_cgroup_is_root(memcg));
}

/*
 * Moves @mark to @sum, and returns the difference. The sum may change meanwhile: by an
 * interrupt, or as it is another CPU's.
 */
static long memcg_dirty_move_mark(long *mark, const long *sum)
{
	long old = READ_ONCE(*mark), nr_pages = 0, new;

	for (;;) {
		/* A sum is not older than a mark that its own CPU has moved to it. */
		smp_rmb();
		new = READ_ONCE(*sum);
		if (new == old)
			return nr_pages;
		if (!try_cmpxchg(mark, &old, new))
			continue;
		nr_pages += new - old;
		old = new;
	}
}

/*
 * Have the counts include the pages that this CPU holds back.
 *
 * An interrupt or another CPU may fold a part of them. Another CPU may also move the
 * mark to an older sum, and finds that when it reads the sum again. A CPU that goes
 * offline leaves its sum and mark behind, which differ by less than a batch. A cgroup
 * that is freed folds the rest. On kernels on which the folios of a removed cgroup
 * become its parent's, the statistics move with them, and the counts of the ancestors
 * do not change.
 */
static __always_inline void memcg_dirty_fold(struct mem_cgroup *memcg,
					     enum memcg_dirty_item item)
{
	long *mark = this_cpu_ptr(&memcg->dirty.mark->folded[item]);
	const long *sum = this_cpu_ptr(&memcg->dirty.sum[item]);
	long nr_pages = memcg_dirty_move_mark(mark, sum);

	if (nr_pages)
		memcg_dirty_add(memcg, item, nr_pages);
}

/*
 * See memcg_dirty_update(). Under a small limit, each page gets to these functions two
 * or four times. Those of the root cgroup, which has no counts, are never folded.
 */
void memcg_dirty_update_dirty(struct mem_cgroup *memcg, long nr_pages)
{
	if (memcg_dirty_must_record(nr_pages)) {
		memcg_dirty_record_folio(memcg, nr_pages);
		if (!memcg_dirty_must_fold(&memcg->dirty, MEMCG_DIRTY, nr_pages))
			return;
	}
	memcg_dirty_fold(memcg, MEMCG_DIRTY);
}

void memcg_dirty_update_writeback(struct mem_cgroup *memcg)
{
	memcg_dirty_fold(memcg, MEMCG_WRITEBACK);
}

static long memcg_dirty_move_marks(struct memcg_dirty *dirty,
				   enum memcg_dirty_item item)
{
	long nr_pages = 0, *mark, *sum;
	int cpu;

	for_each_possible_cpu(cpu) {
		mark = &per_cpu_ptr(dirty->mark, cpu)->folded[item];
		sum = per_cpu_ptr(&dirty->sum[item], cpu);
		nr_pages += memcg_dirty_move_mark(mark, sum);
	}
	return nr_pages;
}

/**
 * memcg_dirty_fold_all - have the counts include the pages that CPUs hold back
 * @memcg: the memory cgroup
 *
 * The first time, these are all pages that the CPUs have ever counted: one of them
 * pages that tasks have dirtied, another one those that the flusher has cleaned. So
 * the parts of all CPUs are added at once. Each by itself would be a peak.
 *
 * Context: any, with @memcg alive.
 */
void memcg_dirty_fold_all(struct mem_cgroup *memcg)
{
	long nr_pages;
	int item;

	for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++) {
		nr_pages = memcg_dirty_move_marks(&memcg->dirty, item);
		if (nr_pages)
			memcg_dirty_add(memcg, item, nr_pages);
	}
}

/**
 * memcg_dirty_take_written - take the pages whose writeback has completed
 * @memcg: the memory cgroup
 *
 * Return: the pages of @memcg that were written since the last call.
 */
long memcg_dirty_take_written(struct mem_cgroup *memcg)
{
	if (!atomic_long_read(&memcg->dirty.written))
		return 0;
	return atomic_long_xchg(&memcg->dirty.written, 0);
}

/* Folios in flight: between the writer's last check and the counts */

/* About how long a folio counts after its check, as its task may be slow. */
#define MEMCG_DIRTY_PASS_PERIOD	max(HZ / 10, 1)

/* First pages of tasks count up to one part in this many of the total. */
#define MEMCG_DIRTY_FIRST	32

/*
 * The most pages that have been let pass and are not dirty yet, out of
 * @nr_passed. Each writer has at most one folio in flight, of @largest pages, so a
 * remainder that is smaller than a folio belongs to one that is dirty by now.
 * Writers share bits: if half of the bits are set, there may be a few times as
 * many writers.
 */
static unsigned long memcg_dirty_bound(unsigned long nr_passed,
				       unsigned int nr_writers,
				       unsigned int largest)
{
	if (nr_writers >= BITS_PER_LONG / 2)
		nr_writers *= nr_writers / 8;
	return min(rounddown(nr_passed, largest),
		   (unsigned long)nr_writers * largest);
}

/**
 * memcg_dirty_expected - pages that writers add without another check
 * @memcg: the memory cgroup to whose subtree they add them
 *
 * A task that begins to write adds its first page before its first check. On each
 * CPU there may be one, whatever the number of writers is so far. These count up to
 * a part of the total, so that many CPUs leave most of a small limit to use. Where
 * folios are large, those count that were let pass; a task's first one was not.
 *
 * Return: the number of pages.
 */
unsigned long memcg_dirty_expected(const struct mem_cgroup *memcg)
{
	const struct memcg_dirty *dirty = &memcg->dirty;
	unsigned int largest = memcg_dirty_largest(memcg);
	unsigned long nr;

	if (largest <= 1)
		return min_t(unsigned long, num_online_cpus(),
			     memcg_dirty_total(memcg) / MEMCG_DIRTY_FIRST);
	nr = memcg_dirty_flow_read(&dirty->passed, MEMCG_DIRTY_PASS_PERIOD);
	nr = memcg_dirty_bound(nr, memcg_dirty_nr_writers(dirty), largest);
	return nr + atomic_read(&dirty->pledged);
}

/**
 * memcg_dirty_last_folio - the size of the folio that the task dirtied last
 *
 * Return: its size in pages; 1 if another task was the last one on this CPU.
 */
unsigned int memcg_dirty_last_folio(void)
{
	unsigned int nr_pages = 1;

	preempt_disable();
	if (__this_cpu_read(memcg_dirty_last.task) == current)
		nr_pages = __this_cpu_read(memcg_dirty_last.nr_pages);
	preempt_enable();
	return nr_pages;
}

static void memcg_dirty_add_passed(struct mem_cgroup *memcg, long nr_pages)
{
	for (; memcg_dirty_is_limited(memcg); memcg = parent_mem_cgroup(memcg))
		memcg_dirty_flow_add(&memcg->dirty.passed,
				     MEMCG_DIRTY_PASS_PERIOD, nr_pages);
}

/* Is the limit of @memcg or of an ancestor near? */
static bool memcg_dirty_path_near(struct mem_cgroup *memcg)
{
	while (memcg_dirty_is_limited(memcg) && !memcg_dirty_near(memcg))
		memcg = parent_mem_cgroup(memcg);
	return memcg_dirty_is_limited(memcg);
}

/**
 * memcg_dirty_pass - record that a writer may add a large folio soon
 * @memcg: the writer's memory cgroup
 * @nr_pages: the size of its last folio, in pages: the next one may be as large
 *
 * It counts on all limited levels, once the limit of one of them is near.
 *
 * Context: any but interrupts; @memcg is not freed meanwhile.
 */
void memcg_dirty_pass(struct mem_cgroup *memcg, unsigned int nr_pages)
{
	if (nr_pages > 1 && memcg_dirty_path_near(memcg))
		memcg_dirty_add_passed(memcg, nr_pages);
}

/**
 * memcg_dirty_take_back - undo memcg_dirty_pass() for a writer that has to pause
 * @memcg: the writer's memory cgroup
 * @nr_pages: as for memcg_dirty_pass()
 *
 * Such a writer would count a second time if it is to go on after the pause, and
 * for nothing if it is to check again.
 *
 * Context: any but interrupts; @memcg is not freed meanwhile.
 */
void memcg_dirty_take_back(struct mem_cgroup *memcg, unsigned int nr_pages)
{
	if (nr_pages > 1 && memcg_dirty_path_near(memcg))
		memcg_dirty_add_passed(memcg, -(long)nr_pages);
}

/**
 * memcg_dirty_pledge - count pages of writers that go on after their pause
 * @memcg: their memory cgroup
 * @nr_pages: the pages that they may add; negative when the pause is over
 *
 * Such a writer has passed the check before the pause.
 */
void memcg_dirty_pledge(struct mem_cgroup *memcg, int nr_pages)
{
	if (!nr_pages)
		return;
	for (; !mem_cgroup_is_root(memcg); memcg = parent_mem_cgroup(memcg))
		atomic_add(nr_pages, &memcg->dirty.pledged);
}

#ifdef CONFIG_MEMCG_DIRTY_LIMIT_KUNIT_TEST
#include "tests/memcg_dirty_kunit.c"
#endif
