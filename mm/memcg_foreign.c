// SPDX-License-Identifier: GPL-2.0
/*
 * Flushers that have a memory cgroup's dirty pages and are not its own
 *
 * A page is charged to a memcg, but writeback goes by inodes, and each inode
 * belongs to one bdi_writeback (wb).  Where these do not match, a memcg can
 * have too many dirty pages while its own wb has nothing to write:
 *
 * - it writes a part of a file whose owner is another memcg, and the owner is
 *   far below its own thresholds;
 * - a service was restarted in a new cgroup.  Its files stay with the wb of its
 *   removed predecessor, and nothing starts writeback there.
 *
 * balance_dirty_pages() would then pause the memcg until the pages are old
 * enough for the periodic flusher, 30 s by default.  So each memcg records up
 * to 32 wbs that have dirty pages of it and are not its own: foreign, dying, or
 * that of the root cgroup.  An example: by vm.dirty_ratio and memory.max=200M,
 * a service may have 40M dirty, and is paused from 30M on.  It dirties 30M of
 * the files of its predecessor.  Its own wb has nothing to write, the old one
 * has 30M.  The pause starts that, and a disk of 30 MB/s needs a second.
 *
 *	a page becomes dirty			a task is to be paused
 *
 *	mem_cgroup_track_foreign_dirty()	mem_cgroup_flush_foreign()
 *		|					|
 *		v					v
 *	the memcg's records of wbs  -------->	start their flushers
 *
 * A record holds references to its wb and bdi.  Since a wb pins its memcg and
 * blkcg, two memcgs that write each other's files would pin each other for
 * ever.  So records end: see memcg_foreign_expired(), and "Locking".
 */
#include <linux/backing-dev.h>
#include <linux/memcontrol.h>
#include <linux/slab.h>
#include <linux/writeback.h>
#include <trace/events/writeback.h>

#define MEMCG_FOREIGN_MAX	32

/* How often unused records are looked for, and how exact times of use are. */
#define MEMCG_FOREIGN_PERIOD	(2 * HZ)
#define MEMCG_FOREIGN_EXACT	HZ

/*
 * Locking
 *
 * Records fill the first @nr places of an array that exists until the memcg is
 * freed.  memcg_foreign->lock protects additions and removals.  It nests inside
 * the i_pages lock and is taken with interrupts off; no other lock of mm or
 * writeback is taken under it.  A page that is dirtied through a recorded wb
 * takes no lock and writes to the record once in a second, or after a flush.
 * Such a reader may find a place that a removal has just given to another wb.
 * Then the other record lives a little longer, or the next page finds the right
 * one.
 */
struct memcg_foreign_wb {
	struct bdi_writeback	*wb;
	unsigned long		at;		/* jiffies of the last use */
	bool			dirtied;	/* since the last flush */
};

static void memcg_foreign_get(struct bdi_writeback *wb)
{
	bdi_get(wb->bdi);
	wb_get(wb);
}

/**
 * memcg_foreign_put - put the references that memcg_foreign_next() has taken
 * @wb: bdi_writeback, or NULL
 *
 * The references are to the wb and, as that of a bdi's own wb is no protection,
 * to the bdi.
 *
 * Context: Any but hard interrupts.
 */
void memcg_foreign_put(struct bdi_writeback *wb)
{
	struct backing_dev_info *bdi;

	if (!wb)
		return;
	bdi = wb->bdi;
	wb_put(wb);
	bdi_put(bdi);
}

/* Needs no lock, at the price of errors that "Locking" above describes. */
static struct memcg_foreign_wb *memcg_foreign_find(struct memcg_foreign *foreign,
						   struct bdi_writeback *wb)
{
	unsigned int i, nr = READ_ONCE(foreign->nr);
	struct memcg_foreign_wb *wbs;

	/* Pairs with cmpxchg_release() in memcg_foreign_alloc(). */
	wbs = smp_load_acquire(&foreign->wbs);
	for (i = 0; wbs && i < nr; i++)
		if (READ_ONCE(wbs[i].wb) == wb)
			return &wbs[i];
	return NULL;
}

/* Times of use are inexact to keep the cache line shared. */
static void memcg_foreign_use(struct memcg_foreign_wb *record)
{
	unsigned long now = jiffies;

	if (!READ_ONCE(record->dirtied))
		WRITE_ONCE(record->dirtied, true);
	if (time_after(now, READ_ONCE(record->at) + MEMCG_FOREIGN_EXACT))
		WRITE_ONCE(record->at, now);
}

static void memcg_foreign_set(struct memcg_foreign_wb *record,
			      struct bdi_writeback *wb)
{
	WRITE_ONCE(record->at, jiffies);
	WRITE_ONCE(record->dirtied, true);
	WRITE_ONCE(record->wb, wb);
}

/* The last record moves to the place that becomes free. Returns the wb. */
static struct bdi_writeback *memcg_foreign_remove(struct memcg_foreign *foreign,
						  struct memcg_foreign_wb *record)
{
	struct memcg_foreign_wb *last = &foreign->wbs[foreign->nr - 1];
	struct bdi_writeback *wb = record->wb;

	lockdep_assert_held(&foreign->lock);
	WRITE_ONCE(record->at, READ_ONCE(last->at));
	WRITE_ONCE(record->dirtied, READ_ONCE(last->dirtied));
	WRITE_ONCE(record->wb, last->wb);
	WRITE_ONCE(last->wb, NULL);
	WRITE_ONCE(foreign->nr, foreign->nr - 1);
	return wb;
}

static struct memcg_foreign_wb *memcg_foreign_oldest(struct memcg_foreign *foreign)
{
	struct memcg_foreign_wb *oldest = &foreign->wbs[0];
	unsigned int i;

	for (i = 1; i < foreign->nr; i++)
		if (time_before(READ_ONCE(foreign->wbs[i].at), READ_ONCE(oldest->at)))
			oldest = &foreign->wbs[i];
	return oldest;
}

/* Returns the wb whose record had to make room, or NULL. */
static struct bdi_writeback *memcg_foreign_insert(struct memcg_foreign *foreign,
						  struct bdi_writeback *wb)
{
	struct bdi_writeback *evicted = NULL;

	lockdep_assert_held(&foreign->lock);
	if (foreign->nr == MEMCG_FOREIGN_MAX)
		evicted = memcg_foreign_remove(foreign, memcg_foreign_oldest(foreign));
	if (!foreign->nr)
		schedule_delayed_work(&foreign->work, MEMCG_FOREIGN_PERIOD);
	memcg_foreign_get(wb);
	memcg_foreign_set(&foreign->wbs[foreign->nr], wb);
	WRITE_ONCE(foreign->nr, foreign->nr + 1);
	return evicted;
}

/* Returns whether the records exist now. */
static bool memcg_foreign_alloc(struct memcg_foreign *foreign)
{
	struct memcg_foreign_wb *wbs;

	if (READ_ONCE(foreign->wbs))
		return true;
	wbs = kcalloc(MEMCG_FOREIGN_MAX, sizeof(*wbs), GFP_NOWAIT);
	if (!wbs)
		return false;
	/* Pairs with smp_load_acquire() in memcg_foreign_find(). */
	if (cmpxchg_release(&foreign->wbs, NULL, wbs))
		kfree(wbs);
	return true;
}

/* Returns false if the memcg is offline and takes no records. */
static bool memcg_foreign_add(struct memcg_foreign *foreign,
			      struct bdi_writeback *wb)
{
	struct bdi_writeback *evicted = NULL;
	unsigned long flags;
	bool offline;

	if (READ_ONCE(foreign->offline))
		return false;
	/* Without memory, the next page that is dirtied tries again. */
	if (!memcg_foreign_alloc(foreign))
		return true;

	spin_lock_irqsave(&foreign->lock, flags);
	offline = foreign->offline;
	if (!offline && !memcg_foreign_find(foreign, wb))
		evicted = memcg_foreign_insert(foreign, wb);
	spin_unlock_irqrestore(&foreign->lock, flags);
	memcg_foreign_put(evicted);
	return !offline;
}

/**
 * memcg_foreign_record - remember that a wb has dirty pages of a memcg
 * @memcg: memcg that the pages are charged to
 * @wb: bdi_writeback that they are written by: another memcg's, or a dying one
 *
 * The pages of a memcg that is offline count for its nearest ancestor that is
 * not, so that one takes the record, unless @wb is its own.
 *
 * Context: Any but interrupts, also under the i_pages lock.  The caller holds a
 * reference to @wb, for example that of an inode, and to @memcg or
 * rcu_read_lock().  May fail silently if memory is short.
 */
void memcg_foreign_record(struct mem_cgroup *memcg, struct bdi_writeback *wb)
{
	struct memcg_foreign_wb *record;

	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		if (&memcg->css == wb->memcg_css && !wb_dying(wb))
			return;
		record = memcg_foreign_find(&memcg->foreign, wb);
		if (record) {
			memcg_foreign_use(record);
			return;
		}
		if (memcg_foreign_add(&memcg->foreign, wb))
			return;
	}
}

/* mem_cgroup_track_foreign_dirty(): @wb is not the folio's memcg's, or dying. */
void mem_cgroup_track_foreign_dirty_slowpath(struct folio *folio,
					     struct bdi_writeback *wb)
{
	trace_track_foreign_dirty(folio, wb);
	memcg_foreign_record(folio_memcg(folio), wb);
}

/* The next wb of a walk. A @flush is for those with pages that it has to write. */
static struct bdi_writeback *__memcg_foreign_next(struct memcg_foreign *foreign,
						  unsigned int *pos, bool flush)
{
	struct bdi_writeback *wb = NULL;

	if (!READ_ONCE(foreign->nr))
		return NULL;

	spin_lock_irq(&foreign->lock);
	while (!wb && *pos < foreign->nr) {
		struct memcg_foreign_wb *record = &foreign->wbs[(*pos)++];

		if (flush && !READ_ONCE(record->dirtied))
			continue;
		if (flush)
			WRITE_ONCE(record->dirtied, false);
		wb = record->wb;
		memcg_foreign_get(wb);
	}
	spin_unlock_irq(&foreign->lock);
	return wb;
}

/**
 * memcg_foreign_next - walk the wbs that have to write pages of a memcg
 * @memcg: memcg, with a reference held
 * @pos: position of the walk, 0 at its start
 *
 * These are the recorded ones through which @memcg has dirtied pages since the
 * last walk.  The caller starts writeback of all that the wb has dirty, and
 * calls memcg_foreign_retry() if it has not: pages of the wb's own memcg, which
 * may be dirtied again all the time, are then written once and no more.
 *
 * A walk misses a record if others are removed meanwhile.
 *
 * Context: Process context with interrupts on; takes memcg->foreign.lock.
 * Return: the next wb with references, for memcg_foreign_put(), or NULL at the
 * end.
 */
struct bdi_writeback *memcg_foreign_next(struct mem_cgroup *memcg,
					 unsigned int *pos)
{
	return __memcg_foreign_next(&memcg->foreign, pos, true);
}

/* All recorded wbs if @wb is NULL. */
static void __memcg_foreign_retry(struct memcg_foreign *foreign,
				  struct bdi_writeback *wb)
{
	unsigned int i;

	if (!READ_ONCE(foreign->nr))
		return;

	spin_lock_irq(&foreign->lock);
	for (i = 0; i < foreign->nr; i++)
		if (!wb || foreign->wbs[i].wb == wb)
			WRITE_ONCE(foreign->wbs[i].dirtied, true);
	spin_unlock_irq(&foreign->lock);
}

/**
 * memcg_foreign_retry - let the next walk find a wb again
 * @memcg: memcg, with a reference held
 * @wb: bdi_writeback from memcg_foreign_next() whose writeback was not started,
 *	or NULL for all that are recorded
 *
 * A page counts for @memcg before its inode is on a list of its wb: the wb may
 * have nothing to write, or only other pages, when a walk finds it.  Pages of
 * the wb's own memcg may also have taken the place of @memcg's.  So a caller
 * for whom too little was written tries all again.
 *
 * Context: Process context with interrupts on; takes memcg->foreign.lock.
 */
void memcg_foreign_retry(struct mem_cgroup *memcg, struct bdi_writeback *wb)
{
	__memcg_foreign_retry(&memcg->foreign, wb);
}

/**
 * mem_cgroup_flush_foreign - start writeback on the foreign wbs of a memcg
 * @wb: bdi_writeback of the memcg that has too many dirty pages
 *
 * Each wb through which the memcg has dirtied pages since the last flush of
 * that wb is asked to write all that it has dirty.
 *
 * Context: Process context with interrupts on.  Does not wait for writeback.
 */
void mem_cgroup_flush_foreign(struct bdi_writeback *wb)
{
	struct mem_cgroup *memcg = mem_cgroup_from_css(wb->memcg_css);
	struct bdi_writeback *frn;
	unsigned int pos = 0;

	while ((frn = memcg_foreign_next(memcg, &pos))) {
		if (wb_start_foreign_writeback(frn, ULONG_MAX))
			trace_flush_foreign(wb, frn->bdi->id, frn->memcg_css->id);
		else
			memcg_foreign_retry(memcg, frn);
		memcg_foreign_put(frn);
	}
}

/*
 * A record ends
 *
 * - dirty_expire_interval after it was last used: the flusher has begun to
 *   write by then without being asked.  If dirty_writeback_interval is 0, it
 *   has not, and the record also waits until the wb has nothing left to write;
 * - when its wb is dying and has nothing left to write;
 * - when its bdi is unregistered;
 * - when its memcg goes offline: memcg_foreign_bequeath();
 * - when MEMCG_FOREIGN_MAX others were used later: memcg_foreign_insert().
 *
 * cgwb_kill() takes the wb of a removed memcg out of all indexes, but the wb works
 * until its last reference is put: that of a record is the way to it.
 */
static bool memcg_foreign_expired(struct memcg_foreign_wb *record)
{
	unsigned long interval = msecs_to_jiffies(dirty_expire_interval * 10);
	struct bdi_writeback *wb = record->wb;

	if (!test_bit(WB_registered, &wb->state) ||
	    (wb_dying(wb) && !wb_has_dirty_io(wb)))
		return true;
	interval = max(interval, MEMCG_FOREIGN_PERIOD);
	return time_after(jiffies, READ_ONCE(record->at) + interval) &&
	       (dirty_writeback_interval || !wb_has_dirty_io(wb));
}

/* Ends a record that has expired, or @any. Returns its wb, or NULL. */
static struct bdi_writeback *memcg_foreign_expire(struct memcg_foreign *foreign,
						  bool any)
{
	struct bdi_writeback *wb = NULL;
	unsigned int i;

	spin_lock_irq(&foreign->lock);
	for (i = 0; i < foreign->nr; i++)
		if (any || memcg_foreign_expired(&foreign->wbs[i])) {
			wb = memcg_foreign_remove(foreign, &foreign->wbs[i]);
			break;
		}
	spin_unlock_irq(&foreign->lock);
	return wb;
}

static void memcg_foreign_drop(struct memcg_foreign *foreign)
{
	struct bdi_writeback *wb;

	while ((wb = memcg_foreign_expire(foreign, false)))
		memcg_foreign_put(wb);
}

/*
 * Ends the records of an offline memcg. Its pages still count for the limits of
 * @heir, its parent, which takes the records, and those of pages dirtied later.
 */
static void memcg_foreign_bequeath(struct memcg_foreign *foreign,
				   struct mem_cgroup *heir)
{
	struct bdi_writeback *wb;

	while ((wb = memcg_foreign_expire(foreign, true))) {
		memcg_foreign_record(heir, wb);
		memcg_foreign_put(wb);
	}
}

/*
 * No balance_dirty_pages() watches the pages of a dying wb, and its inodes move
 * to the memcg that dirties them when they are written.  So do not leave them
 * to dirty_expire_interval.
 */
static void memcg_foreign_flush_dying(struct memcg_foreign *foreign)
{
	struct bdi_writeback *wb;
	unsigned int pos = 0;

	while ((wb = __memcg_foreign_next(foreign, &pos, false))) {
		if (wb_dying(wb))
			wb_start_foreign_writeback(wb, ULONG_MAX);
		memcg_foreign_put(wb);
	}
}

static void memcg_foreign_workfn(struct work_struct *work)
{
	struct memcg_foreign *foreign = container_of(to_delayed_work(work),
						     struct memcg_foreign, work);

	memcg_foreign_drop(foreign);
	memcg_foreign_flush_dying(foreign);

	spin_lock_irq(&foreign->lock);
	if (foreign->nr)
		schedule_delayed_work(&foreign->work, MEMCG_FOREIGN_PERIOD);
	spin_unlock_irq(&foreign->lock);
}

/**
 * memcg_foreign_init - prepare a memcg for records of foreign wbs
 * @memcg: memcg that is being created
 */
void memcg_foreign_init(struct mem_cgroup *memcg)
{
	spin_lock_init(&memcg->foreign.lock);
	INIT_DELAYED_WORK(&memcg->foreign.work, memcg_foreign_workfn);
}

/**
 * memcg_foreign_offline - pass all records of a memcg to its parent
 * @memcg: memcg that is going offline
 *
 * Nothing is recorded for @memcg from here on, and its work has ended.
 *
 * Context: Process context, may sleep.
 */
void memcg_foreign_offline(struct mem_cgroup *memcg)
{
	struct memcg_foreign *foreign = &memcg->foreign;

	spin_lock_irq(&foreign->lock);
	WRITE_ONCE(foreign->offline, true);
	spin_unlock_irq(&foreign->lock);

	memcg_foreign_bequeath(foreign, parent_mem_cgroup(memcg));
	/* Without records the work does not arm itself again. */
	cancel_delayed_work_sync(&foreign->work);
}

/**
 * memcg_foreign_free - free the memory of the records
 * @memcg: memcg that is being freed, after memcg_foreign_offline()
 */
void memcg_foreign_free(struct mem_cgroup *memcg)
{
	kfree(memcg->foreign.wbs);
}

#ifdef CONFIG_MEMCG_FOREIGN_KUNIT_TEST
#include "tests/memcg_foreign_kunit.c"
#endif
