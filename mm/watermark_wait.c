// SPDX-License-Identifier: GPL-2.0
/*
 * Direct reclaim that waits for memory, not for time
 *
 * A task reclaims pages in the slow path of the page allocator, and then finds
 * that other tasks have taken them. Upstream lets it reclaim again at once,
 * which costs CPU time and evicts more pages than it needs. With
 * vm.watermark_wait_timeout_ms it sleeps until a zone that its allocation may
 * use is above its watermark. After that timeout it reclaims, so that it
 * depends on no other task, not on kswapd either.
 *
 * Example: 16 tasks write to files, and the zone is below its watermark. Each
 * reclaims 32 pages, and six of them find that the others have taken these.
 * Upstream has the six reclaim again. With the wait they sleep, and so do tasks
 * that enter the slow path from then on. When kswapd has lifted the zone 4
 * pages above the watermark, the first 4 sleepers are woken for one page each.
 *
 * These wait, unless watermark_may_wait_alloc() excludes them:
 *
 *	- An allocation whose direct reclaim made progress, and for which there
 *	  is still no page. Without progress it goes on to the OOM killer as
 *	  before.
 *	- An allocation that enters the slow path while other tasks wait. It
 *	  queues behind them once, so that it does not take the pages that they
 *	  are woken for.
 *
 * A task sleeps only while another task is in direct reclaim for the same node,
 * or kswapd is awake there: see watermark_hand_over(). No wake-up is lost: see
 * watermark_wait_on().
 *
 * Mel Gorman proposed waiting on watermarks in place of congestion in 2010.
 */

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/cpuset.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/oom.h>
#include <linux/psi.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/sysctl.h>
#include <linux/vmstat.h>
#include <linux/wait.h>

#include "internal.h"
#include "page_alloc.h"
#include "watermark_wait.h"

enum watermark_outcome {
	WATERMARK_REACHED,	/* there was memory already, or no task reclaims */
	WATERMARK_WOKEN,
	WATERMARK_RECLAIMS,	/* no other task does */
	WATERMARK_TIMED_OUT,
	WATERMARK_MISSED,	/* timed out although there was memory */
	WATERMARK_KILLED,
};

#define CREATE_TRACE_POINTS
#include <trace/events/watermark_wait.h>

#define WATERMARK_WAIT_TIMEOUT_MAX_MS	1000

/* How many waiters a task that frees pages passes over, as they cannot use them. */
#define WATERMARK_PASS_MAX	32
/* How many it wakes in each queue. Interrupts are disabled. */
#define WATERMARK_WAKE_MAX	32

/* A node that does not exist, for the tests. */
#ifdef CONFIG_WATERMARK_WAIT_KUNIT_TEST
#define WATERMARK_TEST_NODES	1
#else
#define WATERMARK_TEST_NODES	0
#endif

/*
 * Queues
 *
 * Each node has a queue. A task waits on that of its preferred node, and is
 * served from all zones that it may use. A task that frees pages serves the
 * queue of the zone's node first, and then those of the other nodes. It wakes
 * tasks in the order of arrival, as many as there are pages above the
 * watermark. The zone counts the promised pages until the woken task runs, so
 * that the next task to free pages does not promise them again. A task that
 * cannot use the zone, or has to leave more pages there, is passed over and
 * keeps its place. WATERMARK_PASS_MAX are passed over at most, and
 * WATERMARK_WAKE_MAX of each queue woken, since interrupts are disabled.
 *
 * Pages are freed in interrupts too. The queue's lock is taken with interrupts
 * disabled where zone->lock can be taken: under pcp->lock, but never under
 * zone->lock. On PREEMPT_RT all three are sleeping locks, and none is taken in
 * a context that cannot sleep.
 *
 * A node that is removed and added again keeps its queue and its struct zone. A
 * changed cpuset or memory policy takes effect at the next retry, after the
 * timeout at the latest.
 *
 * Not promised: a woken task may find the page gone. No page is held back from
 * tasks that find one on the fast path or in a per-CPU list, and these lists
 * are filled in batches. Pages on a per-CPU list wake no task until they leave
 * it. A task whose node's zones are full queues on its own node, not on the
 * node that it falls back to. In all these cases the task reclaims, as
 * upstream.
 */

/**
 * struct watermark_queue - the waiters of a node
 * @wait: their queue
 * @nr: how many wait, or have been woken and have not run yet
 * @reclaimers: how many are in direct reclaim for allocations that prefer the
 *	node
 * @promised: for each zone of this node, the pages that tasks of any node have
 *	been woken for and have not been able to take yet
 */
struct watermark_queue {
	wait_queue_head_t wait;
	atomic_t nr;
	atomic_t reclaimers;
	atomic_long_t promised[MAX_NR_ZONES];
};

/**
 * struct watermark_request - the needs of an allocation
 * @nid: the node that it prefers
 * @zonelist: zones that it may use, in order
 * @nodemask: nodes that it may use, NULL for all
 * @highest_zoneidx: the highest zone that it may use
 * @order: it is for 2^@order pages
 * @gfp_mask: its flags
 * @alloc_flags: ALLOC_ flags, among them the watermark that it has to leave
 */
struct watermark_request {
	int nid;
	struct zonelist *zonelist;
	const nodemask_t *nodemask;
	enum zone_type highest_zoneidx;
	unsigned int order;
	gfp_t gfp_mask;
	unsigned int alloc_flags;
};

/**
 * struct watermark_waiter - a task that waits
 * @entry: in the queue
 * @request: the needs of its allocation
 * @queue: of the node that the allocation prefers
 * @zone: the zone that serves it; set once, under the queue's lock
 * @reclaims: it is to reclaim, because no other task does; set likewise
 * @nodes: the nodes that the allocation may use. The waiter's cpuset is not
 *	for others to evaluate, nor is its zonelist.
 */
struct watermark_waiter {
	struct wait_queue_entry entry;
	const struct watermark_request *request;
	struct watermark_queue *queue;
	struct zone *zone;
	bool reclaims;
	nodemask_t nodes;
};

/**
 * struct watermark_offer - pages that were freed: the key of a wake-up
 * @zone: where; NULL if a waiter is to reclaim
 * @free: free pages there
 * @passed: waiters that had no use for them
 */
struct watermark_offer {
	struct zone *zone;
	long free;
	unsigned int passed;
};

/* How long a task waits for memory; 0 to leave everything as without. */
static unsigned int watermark_wait_timeout_ms __read_mostly;

/* How many wait in all queues: all that is read while it is 0. */
atomic_t watermark_waiters __cacheline_aligned_in_smp;

static struct watermark_queue *watermark_queues __read_mostly;

static bool watermark_wait_enabled(void)
{
	return READ_ONCE(watermark_wait_timeout_ms);
}

static atomic_long_t *watermark_promised(struct zone *zone)
{
	return &watermark_queues[zone_to_nid(zone)].promised[zone_idx(zone)];
}

/* Watermarks */

static bool watermark_isolated(const struct zone *zone)
{
#ifdef CONFIG_MEMORY_ISOLATION
	return zone->nr_isolate_pageblock;
#else
	return false;
#endif
}

/**
 * watermark_free_pages - count the free pages of a zone
 * @zone: the zone
 *
 * Exact, unlike NR_FREE_PAGES. Isolated pages are on the lists, but not
 * free: while there are any, the counter has to do.
 *
 * Context: under zone->lock.
 * Return: the number of pages.
 */
unsigned long watermark_free_pages(struct zone *zone)
{
	unsigned long free = 0;
	unsigned int order;

	lockdep_assert_held(&zone->lock);
	if (watermark_isolated(zone))
		return zone_page_state_snapshot(zone, NR_FREE_PAGES);
	for (order = 0; order < NR_PAGE_ORDERS; order++)
		free += zone->free_area[order].nr_free << order;
	return free;
}

/**
 * watermark_serves - would an allocation leave the zone above its watermark?
 * @zone: the zone
 * @request: the allocation
 * @free: pages that are free there and not promised
 *
 * Return: true if there are enough pages. Whether they make up a block of the
 * order in question is for compaction to see to.
 */
static bool watermark_serves(struct zone *zone,
			     const struct watermark_request *request, long free)
{
	unsigned long mark = wmark_pages(zone, request->alloc_flags &
					 ALLOC_WMARK_MASK);

	return __zone_watermark_ok(zone, 0, mark, request->highest_zoneidx,
				   request->alloc_flags,
				   free - (1L << request->order) + 1);
}

static bool watermark_usable(const struct watermark_waiter *waiter,
			     struct zone *zone)
{
	return zone_idx(zone) <= waiter->request->highest_zoneidx &&
	       node_isset(zone_to_nid(zone), waiter->nodes);
}

static bool watermark_zone_reached(const struct watermark_waiter *waiter,
				   struct zone *zone)
{
	unsigned long flags, free;

	spin_lock_irqsave(&zone->lock, flags);
	free = watermark_free_pages(zone);
	spin_unlock_irqrestore(&zone->lock, flags);
	return watermark_serves(zone, waiter->request, (long)free -
				atomic_long_read(watermark_promised(zone)));
}

/* Is there a zone for it, with pages that are not promised to others? */
static bool watermark_reached(const struct watermark_waiter *waiter)
{
	const struct watermark_request *request = waiter->request;
	struct zoneref *z;
	struct zone *zone;

	for_each_zone_zonelist(zone, z, request->zonelist,
			       request->highest_zoneidx) {
		if (watermark_usable(waiter, zone) &&
		    watermark_zone_reached(waiter, zone))
			return true;
	}
	return false;
}

/* Waking */

static int watermark_wake_waiter(struct wait_queue_entry *entry,
				 unsigned int mode, int flags)
{
	default_wake_function(entry, mode, flags, NULL);
	list_del_init_careful(&entry->entry);
	return 1;
}

/*
 * The promised pages are read and raised under the lock of the queue, so that two
 * tasks that free pages at the same time do not both promise those of the first.
 */
static bool watermark_promise(struct watermark_waiter *waiter,
			      const struct watermark_offer *offer, long free)
{
	struct zone *zone = offer->zone;
	unsigned int order = waiter->request->order;
	struct task_struct *task = waiter->entry.private;

	if (!watermark_usable(waiter, zone) ||
	    !watermark_serves(zone, waiter->request, free))
		return false;
	atomic_long_add(1L << order, watermark_promised(zone));
	trace_watermark_wake(zone_to_nid(zone), zone_idx(zone), order, free,
			     task->pid);
	WRITE_ONCE(waiter->zone, zone);
	return true;
}

/**
 * watermark_wake_function - serve a waiter if there are pages for it
 * @entry: of the waiter
 * @mode: of the wake-up
 * @flags: of the wake-up
 * @key: the offer
 *
 * Return: as for any wake function; -1 once no page is left for any waiter, as
 * tasks that may go below the watermark do not wait, or once enough waiters have
 * been passed over.
 */
static int watermark_wake_function(struct wait_queue_entry *entry,
				   unsigned int mode, int flags, void *key)
{
	struct watermark_waiter *waiter =
		container_of(entry, struct watermark_waiter, entry);
	struct watermark_offer *offer = key;
	long free;

	if (!offer->zone) {
		WRITE_ONCE(waiter->reclaims, true);
		return watermark_wake_waiter(entry, mode, flags);
	}
	free = offer->free - atomic_long_read(watermark_promised(offer->zone));
	if (free <= (long)min_wmark_pages(offer->zone))
		return -1;
	if (!watermark_promise(waiter, offer, free))
		return ++offer->passed < WATERMARK_PASS_MAX ? 0 : -1;
	return watermark_wake_waiter(entry, mode, flags);
}

static void watermark_wake_queue(struct watermark_queue *queue,
				 struct watermark_offer *offer)
{
	/* zone->lock was taken since the waiter entered: see watermark_wait_on() */
	if (waitqueue_active(&queue->wait))
		__wake_up(&queue->wait, TASK_NORMAL, WATERMARK_WAKE_MAX, offer);
}

void __watermark_wake(struct zone *zone, unsigned long free)
{
	struct watermark_offer offer = { .zone = zone, .free = free };
	int own = zone_to_nid(zone), nid;

	watermark_wake_queue(&watermark_queues[own], &offer);
	for_each_node(nid) {
		if (offer.passed >= WATERMARK_PASS_MAX)
			return;
		if (nid != own)
			watermark_wake_queue(&watermark_queues[nid], &offer);
	}
}

static bool watermark_kswapd_awake(const struct watermark_queue *queue)
{
	pg_data_t *pgdat = NODE_DATA(queue - watermark_queues);

	if (!pgdat || !READ_ONCE(pgdat->kswapd))
		return false;
	/* Without a barrier: if this is wrong, the timeout ends the wait. */
	return !waitqueue_active(&pgdat->kswapd_wait);
}

/*
 * Has the first waiter reclaim.
 *
 * A task sleeps only while another task is in direct reclaim for the same node,
 * or kswapd is awake there. The last task to leave direct reclaim wakes the
 * first waiter, which takes a page or reclaims, unless kswapd is awake:
 *
 *	waiter				last reclaimer
 *
 *	queue->nr++			queue->reclaimers--
 *	smp_mb()			smp_mb()
 *	if (!queue->reclaimers) reclaim	if (queue->nr) wake the first waiter
 *
 * One of the two sees the other's store. A kswapd that sleeps in
 * reclaim_throttle() counts as awake, and so do direct reclaimers that sleep
 * there. If the woken task finds a page, or kswapd stops early, the other
 * waiters sleep until the next task frees pages or reclaims. The timeout bounds
 * both losses. A kswapd that has given up is asleep.
 */
static void watermark_hand_over(struct watermark_queue *queue)
{
	struct watermark_offer nothing = {};

	if (atomic_read(&queue->nr) && !watermark_kswapd_awake(queue))
		__wake_up(&queue->wait, TASK_NORMAL, 1, &nothing);
}

/*
 * The node whose queue a task uses. NUMA_NO_NODE if memory has gone offline since
 * the task began: zonelists are built anew in place, and this one may end here.
 */
static int watermark_nid(const struct alloc_context *ac)
{
	struct zone *zone = READ_ONCE(ac->preferred_zoneref->zone);

	return zone ? zone_to_nid(zone) : NUMA_NO_NODE;
}

/**
 * watermark_reclaim_begin - a task goes to reclaim for its allocation
 * @ac: of the allocation
 *
 * Context: the slow path of the page allocator.
 * Return: the queue, for watermark_reclaim_end(); NULL if the wait is off.
 */
struct watermark_queue *watermark_reclaim_begin(const struct alloc_context *ac)
{
	struct watermark_queue *queue = watermark_queues;
	int nid;

	/* Not counted while the wait is off: then waiters reclaim for themselves. */
	if (!queue || !watermark_wait_enabled())
		return NULL;
	nid = watermark_nid(ac);
	if (nid == NUMA_NO_NODE)
		return NULL;
	queue += nid;
	atomic_inc(&queue->reclaimers);
	return queue;
}

/**
 * watermark_reclaim_end - a task has reclaimed for its allocation
 * @queue: from watermark_reclaim_begin()
 *
 * The last such task hands over to the first waiter, if there is one.
 *
 * Context: the slow path of the page allocator.
 */
void watermark_reclaim_end(struct watermark_queue *queue)
{
	/* The barrier in it pairs with that in watermark_enter(). */
	if (queue && atomic_dec_and_test(&queue->reclaimers))
		watermark_hand_over(queue);
}

/* For pages that were promised and not taken. */
static void watermark_reoffer(struct zone *zone)
{
	unsigned long flags, free;

	spin_lock_irqsave(&zone->lock, flags);
	free = watermark_offer(zone);
	spin_unlock_irqrestore(&zone->lock, flags);
	watermark_wake(zone, free);
}

/* Waiting */

static bool watermark_allowed(const struct watermark_request *request,
			      struct zone *zone)
{
	if (request->nodemask &&
	    !node_isset(zone_to_nid(zone), *request->nodemask))
		return false;
	return !cpusets_enabled() || !(request->alloc_flags & ALLOC_CPUSET) ||
	       __cpuset_zone_allowed(zone, request->gfp_mask);
}

static void watermark_waiter_init(struct watermark_waiter *waiter,
				  const struct watermark_request *request)
{
	struct zoneref *z;
	struct zone *zone;

	init_wait(&waiter->entry);
	waiter->entry.func = watermark_wake_function;
	waiter->request = request;
	waiter->queue = &watermark_queues[request->nid];
	waiter->zone = NULL;
	waiter->reclaims = false;
	nodes_clear(waiter->nodes);
	for_each_zone_zonelist(zone, z, request->zonelist,
			       request->highest_zoneidx) {
		if (watermark_allowed(request, zone))
			node_set(zone_to_nid(zone), waiter->nodes);
	}
}

static void watermark_enter(struct watermark_waiter *waiter)
{
	struct watermark_queue *queue = waiter->queue;

	atomic_inc(&watermark_waiters);
	atomic_inc(&queue->nr);
	/* has a full barrier, for watermark_must_reclaim() */
	prepare_to_wait_exclusive(&queue->wait, &waiter->entry, TASK_KILLABLE);
}

static void watermark_leave(struct watermark_waiter *waiter)
{
	finish_wait(&waiter->queue->wait, &waiter->entry);
	atomic_dec(&waiter->queue->nr);
	atomic_dec(&watermark_waiters);
}

/*
 * Ends a promise: @takes the pages, or leaves them, or the task of reclaiming, to
 * the next waiter. A woken task that was killed leaves them. A task that lowers a
 * watermark or its boost offers the zone as well.
 */
static void watermark_release(struct watermark_waiter *waiter, bool takes)
{
	if (waiter->reclaims && !takes)
		watermark_hand_over(waiter->queue);
	if (!waiter->zone)
		return;
	atomic_long_sub(1L << waiter->request->order,
			watermark_promised(waiter->zone));
	if (!takes)
		watermark_reoffer(waiter->zone);
}

/*
 * The waiter sets its state before it counts, and the other task sets ->zone
 * before it wakes: the waiter finds ->zone set, or is woken, or both. Removal
 * of the entry from the queue is the last access to it, as in
 * autoremove_wake_function(), and finish_wait() takes the queue's lock or has
 * seen the entry removed. So the waiter does not return earlier.
 */
static void watermark_sleep(struct watermark_waiter *waiter, long timeout)
{
	unsigned long pflags;

	psi_memstall_enter(&pflags);
	while (!READ_ONCE(waiter->zone) && !READ_ONCE(waiter->reclaims) &&
	       timeout && !fatal_signal_pending(current)) {
		timeout = schedule_timeout(timeout);
		set_current_state(TASK_KILLABLE);
	}
	psi_memstall_leave(&pflags);
}

static enum watermark_outcome
watermark_outcome(const struct watermark_waiter *waiter)
{
	if (waiter->zone)
		return WATERMARK_WOKEN;
	if (fatal_signal_pending(current))
		return WATERMARK_KILLED;
	if (waiter->reclaims)
		return WATERMARK_RECLAIMS;
	return watermark_reached(waiter) ? WATERMARK_MISSED :
					   WATERMARK_TIMED_OUT;
}

static void watermark_account(const struct watermark_waiter *waiter,
			      enum watermark_outcome outcome, u64 usec)
{
	count_vm_event(WATERMARK_WAIT);
	count_vm_events(WATERMARK_WAIT_USEC, usec);
	if (outcome == WATERMARK_WOKEN)
		count_vm_event(WATERMARK_WAIT_WOKEN);
	else if (outcome == WATERMARK_TIMED_OUT || outcome == WATERMARK_MISSED)
		count_vm_event(WATERMARK_WAIT_TIMEOUT);
	trace_watermark_wait(waiter->request->nid, waiter->request->order,
			     waiter->request->gfp_mask, outcome, usec);
}

/* An allocation must not sleep while no other task reclaims. */
static bool watermark_must_reclaim(const struct watermark_waiter *waiter)
{
	return !atomic_read(&waiter->queue->reclaimers) &&
	       !watermark_kswapd_awake(waiter->queue);
}

/**
 * watermark_wait_on - wait until there is memory for an allocation
 * @waiter: set up by watermark_waiter_init()
 * @timeout: in jiffies
 *
 * No wake-up is lost::
 *
 *	waiter					task that frees pages
 *
 *	watermark_waiters++
 *	enter the queue
 *	lock(zone->lock)			lock(zone->lock)
 *	count the pages on the buddy lists	put pages on the buddy lists
 *						read watermark_waiters
 *	unlock(zone->lock)			unlock(zone->lock)
 *	sleep if there are too few		wake waiters from the queue
 *
 * If the waiter's critical section is first, the other task sees the waiter and its
 * entry in the queue. Otherwise the waiter finds the pages and does not sleep. So
 * freeing pages needs no barrier, and one load while no task waits. Both count the
 * pages on the buddy lists under the lock: the zone's counter may lack the per-CPU
 * differences, and a wake-up must not be withheld because of those. Other tasks may
 * free or take pages before the wake-up; the last one to free pages has the latest
 * count, and decides by that.
 *
 * The timeout covers the rest: memory that becomes usable without being freed (a
 * lower vm.lowmem_reserve_ratio, pageblocks that are no longer isolated or
 * reserved), pages that are freed where no lock may be waited for, waiters behind
 * WATERMARK_PASS_MAX or WATERMARK_WAKE_MAX others if no task frees more pages, and
 * a page promised to a task that took another one.
 *
 * Context: the task can sleep.
 * Return: how it ended; WATERMARK_REACHED if it did not sleep.
 */
static enum watermark_outcome watermark_wait_on(struct watermark_waiter *waiter,
						long timeout)
{
	enum watermark_outcome outcome = WATERMARK_REACHED;
	ktime_t start = ktime_get();
	bool sleeps;

	watermark_enter(waiter);
	sleeps = !watermark_must_reclaim(waiter) &&
		 !nodes_empty(waiter->nodes) && !watermark_reached(waiter);
	if (sleeps)
		watermark_sleep(waiter, timeout);
	watermark_leave(waiter);
	if (sleeps) {
		outcome = watermark_outcome(waiter);
		watermark_account(waiter, outcome,
				  ktime_us_delta(ktime_get(), start));
	}
	watermark_release(waiter, !fatal_signal_pending(current));
	return outcome;
}

/*
 * A task in a file system's transaction, or one that must not enter the file system
 * or do I/O, may hold locks that others need to clean pages. The page of a buffered
 * write is allocated without __GFP_FS in some file systems, but before the
 * transaction, with the lock of its inode and, in some, of earlier pages of the same
 * write. A flusher that needs those sleeps for the timeout at most.
 */
static bool watermark_in_transaction(gfp_t gfp_mask)
{
	return current->journal_info ||
	       current->flags & (PF_MEMALLOC_NOFS | PF_MEMALLOC_NOIO) ||
	       !(gfp_mask & __GFP_IO) || !(gfp_mask & (__GFP_FS | __GFP_WRITE));
}

/**
 * watermark_may_wait - may the task sleep for this allocation?
 * @gfp_mask: of the allocation
 * @order: of the allocation
 *
 * Costly orders do not wait. An order above 0 waits for the number of pages;
 * compaction makes a block of them in the retry.
 *
 * Kernel threads, user workers and user space that serves block devices may be
 * needed for memory to become free: see reclaim_throttle() and
 * current_may_throttle(). A task that has been killed, or exits, frees
 * memory by going on.
 *
 * Return: true if it may.
 */
static bool watermark_may_wait(gfp_t gfp_mask, unsigned int order)
{
	if (!watermark_queues || !watermark_wait_enabled())
		return false;
	if (!(gfp_mask & __GFP_DIRECT_RECLAIM) || (gfp_mask & __GFP_NORETRY))
		return false;
	if (order > PAGE_ALLOC_COSTLY_ORDER || watermark_in_transaction(gfp_mask))
		return false;
	if (current->flags & (PF_KTHREAD | PF_USER_WORKER | PF_LOCAL_THROTTLE |
			      PF_EXITING))
		return false;
	return !fatal_signal_pending(current) && !tsk_is_oom_victim(current);
}

static long watermark_wait_timeout(void)
{
	return msecs_to_jiffies(READ_ONCE(watermark_wait_timeout_ms));
}

static noinline_for_stack void
watermark_wait_alloc(gfp_t gfp_mask, unsigned int order,
		     unsigned int alloc_flags, const struct alloc_context *ac)
{
	struct watermark_request request = {
		.nid = watermark_nid(ac),
		.zonelist = ac->zonelist,
		.nodemask = ac->nodemask,
		.highest_zoneidx = ac->highest_zoneidx,
		.order = order,
		.gfp_mask = gfp_mask,
		.alloc_flags = alloc_flags,
	};
	struct watermark_waiter waiter;

	if (request.nid == NUMA_NO_NODE)
		return;
	watermark_waiter_init(&waiter, &request);
	watermark_wait_on(&waiter, watermark_wait_timeout());
}

/*
 * Tasks that may use the reserves do not wait for pages above them: realtime tasks
 * are among them.
 */
static bool watermark_may_wait_alloc(gfp_t gfp_mask, unsigned int order,
				     unsigned int alloc_flags)
{
	return watermark_may_wait(gfp_mask, order) &&
	       !(alloc_flags & ALLOC_RESERVES) &&
	       !(current->flags & PF_MEMALLOC) &&
	       !gfp_pfmemalloc_allowed(gfp_mask);
}

void __watermark_wait_turn(gfp_t gfp_mask, unsigned int order,
			   unsigned int alloc_flags,
			   const struct alloc_context *ac)
{
	int nid = watermark_nid(ac);

	if (watermark_may_wait_alloc(gfp_mask, order, alloc_flags) &&
	    nid != NUMA_NO_NODE && atomic_read(&watermark_queues[nid].nr))
		watermark_wait_alloc(gfp_mask, order, alloc_flags, ac);
}

/**
 * watermark_wait_progress - wait for memory after direct reclaim
 * @gfp_mask: of the allocation
 * @order: of the allocation
 * @alloc_flags: of the allocation
 * @ac: of the allocation
 *
 * For an allocation whose direct reclaim made progress, and which still got no
 * page.
 *
 * Context: the slow path of the page allocator, where it may sleep.
 */
void watermark_wait_progress(gfp_t gfp_mask, unsigned int order,
			     unsigned int alloc_flags,
			     const struct alloc_context *ac)
{
	if (watermark_may_wait_alloc(gfp_mask, order, alloc_flags))
		watermark_wait_alloc(gfp_mask, order, alloc_flags, ac);
}

/* The knob */

static unsigned int watermark_wait_timeout_max = WATERMARK_WAIT_TIMEOUT_MAX_MS;

static struct ctl_table watermark_wait_table[] = {
	{
		.procname	= "watermark_wait_timeout_ms",
		.data		= &watermark_wait_timeout_ms,
		.maxlen		= sizeof(watermark_wait_timeout_ms),
		.mode		= 0644,
		.proc_handler	= proc_douintvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &watermark_wait_timeout_max,
	},
};

static int __init watermark_wait_init(void)
{
	unsigned int nr = nr_node_ids + WATERMARK_TEST_NODES, i;
	struct watermark_queue *queues = kcalloc(nr, sizeof(*queues), GFP_KERNEL);

	if (!queues)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		init_waitqueue_head(&queues[i].wait);
	watermark_queues = queues;
	register_sysctl_init("vm", watermark_wait_table);
	return 0;
}
subsys_initcall(watermark_wait_init);

#ifdef CONFIG_WATERMARK_WAIT_KUNIT_TEST
#include "tests/watermark_wait_kunit.c"
#endif
