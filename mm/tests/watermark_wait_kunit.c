// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for waiting on watermarks: the right tasks are woken, and no task is
 * forgotten.
 *
 * Included by mm/watermark_wait.c. The zones belong to a node that does not
 * exist: pages which the system frees meanwhile are not for the tests' waiters.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>

#define WATERMARK_TEST_MIN	100
#define WATERMARK_TEST_LOW	150
#define WATERMARK_TEST_RESERVE	40
#define WATERMARK_TEST_WAITERS	(MAX(WATERMARK_PASS_MAX, WATERMARK_WAKE_MAX) + 1)
#define WATERMARK_TEST_PAGES	2000
#define WATERMARK_TEST_TASKS	4

/* A node with a zone, and tasks that want pages of it. */
struct watermark_test {
	pg_data_t *pgdat;
	struct zone *zone;
	struct zonelist *zonelist;
	struct watermark_queue *queue;
	int nid;
	struct watermark_request request[WATERMARK_TEST_WAITERS];
	struct watermark_waiter waiter[WATERMARK_TEST_WAITERS];
	int nr;
	struct task_struct *task[WATERMARK_TEST_TASKS];
	atomic_t timeouts;
};

static struct zone *watermark_test_zone(struct watermark_test *t,
					enum zone_type idx)
{
	struct zone *zone = &t->pgdat->node_zones[idx];

	zone->zone_pgdat = t->pgdat;
	zone->node = t->nid;
	zone->_watermark[WMARK_MIN] = WATERMARK_TEST_MIN;
	zone->_watermark[WMARK_LOW] = WATERMARK_TEST_LOW;
	zone->lowmem_reserve[ZONE_MOVABLE] = WATERMARK_TEST_RESERVE;
	spin_lock_init(&zone->lock);
	return zone;
}

static int watermark_test_init(struct kunit *test)
{
	struct watermark_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (nr_node_ids + WATERMARK_TEST_NODES > MAX_NUMNODES)
		kunit_skip(test, "no node to spare");
	KUNIT_ASSERT_NOT_NULL(test, t);
	t->nid = nr_node_ids;
	t->pgdat = kunit_kzalloc(test, sizeof(*t->pgdat), GFP_KERNEL);
	t->zonelist = kunit_kzalloc(test, sizeof(*t->zonelist), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->pgdat);
	KUNIT_ASSERT_NOT_NULL(test, t->zonelist);
	t->zone = watermark_test_zone(t, ZONE_NORMAL);
	t->zonelist->_zonerefs[0].zone = t->zone;
	t->zonelist->_zonerefs[0].zone_idx = ZONE_NORMAL;
	t->queue = &watermark_queues[t->nid];
	atomic_set(&t->queue->reclaimers, 1);
	test->priv = t;
	return 0;
}

static struct watermark_waiter *watermark_test_add(struct watermark_test *t,
						   unsigned int order)
{
	struct watermark_request *request = &t->request[t->nr];
	struct watermark_waiter *waiter = &t->waiter[t->nr];

	*request = (struct watermark_request) {
		.nid = t->nid,
		.zonelist = t->zonelist,
		.highest_zoneidx = ZONE_NORMAL,
		.order = order,
		.gfp_mask = GFP_KERNEL,
		.alloc_flags = ALLOC_WMARK_MIN,
	};
	t->nr++;
	watermark_waiter_init(waiter, request);
	watermark_enter(waiter);
	__set_current_state(TASK_RUNNING);
	return waiter;
}

static void watermark_test_exit(struct kunit *test)
{
	struct watermark_test *t = test->priv;
	int i;

	for (i = 0; t && i < WATERMARK_TEST_TASKS; i++) {
		if (t->task[i])
			kthread_stop(t->task[i]);
	}
	while (t && t->nr--) {
		watermark_leave(&t->waiter[t->nr]);
		watermark_release(&t->waiter[t->nr], true);
	}
	if (t)
		atomic_set(&t->queue->reclaimers, 0);
}

/* Free pages of an order, as the page allocator does. */
static void watermark_test_free(struct zone *zone, unsigned int order,
				unsigned long nr)
{
	unsigned long flags, offer;

	spin_lock_irqsave(&zone->lock, flags);
	zone->free_area[order].nr_free += nr;
	offer = watermark_offer(zone);
	spin_unlock_irqrestore(&zone->lock, flags);
	watermark_wake(zone, offer);
}

static int watermark_test_served(const struct watermark_test *t)
{
	int i, served = 0;

	for (i = 0; i < t->nr; i++)
		served += !!t->waiter[i].zone;
	return served;
}

/* The watermark, the reserve of lower zones, and the order. */
static void watermark_test_mark(struct kunit *test)
{
	struct watermark_test *t = test->priv;
	struct watermark_request request = { .alloc_flags = ALLOC_WMARK_MIN };

	KUNIT_EXPECT_FALSE(test, watermark_serves(t->zone, &request, 100));
	KUNIT_EXPECT_TRUE(test, watermark_serves(t->zone, &request, 101));
	request.order = 3;
	KUNIT_EXPECT_FALSE(test, watermark_serves(t->zone, &request, 107));
	KUNIT_EXPECT_TRUE(test, watermark_serves(t->zone, &request, 108));
	request.order = 0;
	request.alloc_flags = ALLOC_WMARK_LOW;
	KUNIT_EXPECT_FALSE(test, watermark_serves(t->zone, &request, 150));
	KUNIT_EXPECT_TRUE(test, watermark_serves(t->zone, &request, 151));
	request.alloc_flags = ALLOC_WMARK_MIN | ALLOC_MIN_RESERVE;
	KUNIT_EXPECT_FALSE(test, watermark_serves(t->zone, &request, 50));
	KUNIT_EXPECT_TRUE(test, watermark_serves(t->zone, &request, 51));
	request.alloc_flags = ALLOC_WMARK_MIN;
	request.highest_zoneidx = ZONE_MOVABLE;
	KUNIT_EXPECT_FALSE(test, watermark_serves(t->zone, &request, 140));
	KUNIT_EXPECT_TRUE(test, watermark_serves(t->zone, &request, 141));
	KUNIT_EXPECT_FALSE(test, watermark_serves(t->zone, &request, -1));
}

static void watermark_test_free_pages(struct kunit *test)
{
	struct watermark_test *t = test->priv;
	unsigned long free;

	t->zone->free_area[0].nr_free = 3;
	t->zone->free_area[3].nr_free = 2;
	t->zone->free_area[MAX_PAGE_ORDER].nr_free = 1;
	spin_lock_irq(&t->zone->lock);
	free = watermark_free_pages(t->zone);
	spin_unlock_irq(&t->zone->lock);
	KUNIT_EXPECT_EQ(test, free, 3 + 16 + MAX_ORDER_NR_PAGES);
}

/* As many as there are pages above the watermark, in the order they came. */
static void watermark_test_count(struct kunit *test)
{
	struct watermark_test *t = test->priv;
	int i;

	for (i = 0; i < 5; i++)
		watermark_test_add(t, 0);
	watermark_test_free(t->zone, 0, WATERMARK_TEST_MIN);
	KUNIT_EXPECT_EQ(test, watermark_test_served(t), 0);
	watermark_test_free(t->zone, 0, 3);
	KUNIT_EXPECT_EQ(test, watermark_test_served(t), 3);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, !!t->waiter[i].zone, i < 3);
	KUNIT_EXPECT_FALSE(test, list_empty(&t->queue->wait.head));
	KUNIT_EXPECT_EQ(test, atomic_read(&t->queue->nr), 5);
	watermark_test_free(t->zone, 0, 100);
	KUNIT_EXPECT_EQ(test, watermark_test_served(t), 5);
	KUNIT_EXPECT_TRUE(test, list_empty(&t->queue->wait.head));
}

/* Pages that one was woken for are not given to the next as well. */
static void watermark_test_promise(struct kunit *test)
{
	struct watermark_test *t = test->priv;
	struct watermark_waiter *first = watermark_test_add(t, 0);
	struct watermark_waiter *second = watermark_test_add(t, 0);

	watermark_test_free(t->zone, 0, WATERMARK_TEST_MIN + 1);
	KUNIT_EXPECT_PTR_EQ(test, first->zone, t->zone);
	KUNIT_EXPECT_FALSE(test, watermark_reached(second));
	watermark_test_free(t->zone, 0, 0);
	KUNIT_EXPECT_NULL(test, second->zone);
	/* a task that was killed lets the next one have them */
	watermark_release(first, false);
	first->zone = NULL;
	KUNIT_EXPECT_PTR_EQ(test, second->zone, t->zone);
}

/* Waiters that need more than there is are passed over and keep their place. */
static void watermark_test_order(struct kunit *test)
{
	struct watermark_test *t = test->priv;
	struct watermark_waiter *large = watermark_test_add(t, 3);
	struct watermark_waiter *small = watermark_test_add(t, 0);
	struct watermark_waiter *last = watermark_test_add(t, 0);

	watermark_test_free(t->zone, 0, WATERMARK_TEST_MIN + 1);
	KUNIT_EXPECT_NULL(test, large->zone);
	KUNIT_EXPECT_PTR_EQ(test, small->zone, t->zone);
	KUNIT_EXPECT_NULL(test, last->zone);
	watermark_test_free(t->zone, 3, 1);
	KUNIT_EXPECT_PTR_EQ(test, large->zone, t->zone);
	KUNIT_EXPECT_NULL(test, last->zone);
	watermark_test_free(t->zone, 0, 1);
	KUNIT_EXPECT_PTR_EQ(test, last->zone, t->zone);
}

/* A task that frees pages passes over no more waiters than WATERMARK_PASS_MAX. */
static void watermark_test_pass(struct kunit *test)
{
	struct watermark_test *t = test->priv;
	struct watermark_waiter *large, *small;
	int i;

	for (i = 0; i < WATERMARK_PASS_MAX; i++)
		large = watermark_test_add(t, 3);
	small = watermark_test_add(t, 0);
	watermark_test_free(t->zone, 0, WATERMARK_TEST_MIN + 1);
	KUNIT_EXPECT_NULL(test, small->zone);
	watermark_leave(large);
	watermark_test_free(t->zone, 0, 0);
	KUNIT_EXPECT_PTR_EQ(test, small->zone, t->zone);
	watermark_enter(large);
	__set_current_state(TASK_RUNNING);
}

/* Nor does it wake more than WATERMARK_WAKE_MAX with interrupts disabled. */
static void watermark_test_wake_max(struct kunit *test)
{
	struct watermark_test *t = test->priv;
	int i;

	for (i = 0; i <= WATERMARK_WAKE_MAX; i++)
		watermark_test_add(t, 0);
	watermark_test_free(t->zone, 0, 10 * WATERMARK_WAKE_MAX);
	KUNIT_EXPECT_EQ(test, watermark_test_served(t), WATERMARK_WAKE_MAX);
	watermark_test_free(t->zone, 0, 1);
	KUNIT_EXPECT_EQ(test, watermark_test_served(t), WATERMARK_WAKE_MAX + 1);
}

/* A zone above the highest that the allocation may use does not help. */
static void watermark_test_zone_idx(struct kunit *test)
{
	struct watermark_test *t = test->priv;
	struct zone *movable = watermark_test_zone(t, ZONE_MOVABLE);
	struct watermark_waiter *waiter = watermark_test_add(t, 0);

	watermark_test_free(movable, 0, 500);
	KUNIT_EXPECT_NULL(test, waiter->zone);
	t->request[0].highest_zoneidx = ZONE_MOVABLE;
	watermark_test_free(movable, 0, 0);
	KUNIT_EXPECT_PTR_EQ(test, waiter->zone, movable);
}

/* A waiter is served by a node that it may use, also by another, and by no other. */
static void watermark_test_nodes(struct kunit *test)
{
	struct watermark_test *t = test->priv;
	struct watermark_waiter *here, *away;

	here = watermark_test_add(t, 0);
	away = watermark_test_add(t, 0);
	watermark_leave(away);
	t->request[1].nid = first_online_node;
	watermark_waiter_init(away, &t->request[1]);
	watermark_enter(away);
	__set_current_state(TASK_RUNNING);
	nodes_clear(here->nodes);
	watermark_test_free(t->zone, 0, WATERMARK_TEST_MIN + 1);
	KUNIT_EXPECT_NULL(test, here->zone);
	KUNIT_EXPECT_PTR_EQ(test, away->zone, t->zone);
	node_set(t->nid, here->nodes);
	watermark_test_free(t->zone, 0, 1);
	KUNIT_EXPECT_PTR_EQ(test, here->zone, t->zone);
}

static bool watermark_test_take(struct zone *zone)
{
	struct free_area *area = &zone->free_area[0];
	unsigned long flags;
	bool took;

	spin_lock_irqsave(&zone->lock, flags);
	took = area->nr_free > WATERMARK_TEST_MIN;
	area->nr_free -= took;
	spin_unlock_irqrestore(&zone->lock, flags);
	return took;
}

static int watermark_test_task(void *data)
{
	struct watermark_test *t = data;
	const struct watermark_request request = {
		.nid = t->nid,
		.zonelist = t->zonelist,
		.highest_zoneidx = ZONE_NORMAL,
		.gfp_mask = GFP_KERNEL,
		.alloc_flags = ALLOC_WMARK_MIN,
	};
	struct watermark_waiter waiter;

	while (!kthread_should_stop()) {
		enum watermark_outcome outcome;

		if (watermark_test_take(t->zone))
			continue;
		watermark_waiter_init(&waiter, &request);
		outcome = watermark_wait_on(&waiter, HZ);
		if (outcome == WATERMARK_MISSED)
			atomic_inc(&t->timeouts);
	}
	return 0;
}

/* Another task takes the pages within half of the time that a task waits at most. */
static bool watermark_test_taken(struct zone *zone)
{
	unsigned long end = jiffies + HZ / 2;

	while (READ_ONCE(zone->free_area[0].nr_free) > WATERMARK_TEST_MIN) {
		if (time_after(jiffies, end))
			return false;
		usleep_range(20, 50);
	}
	return true;
}

/*
 * One or two pages come at a time, and no more until they are gone: if a wake-up
 * is lost, they stay until a task has waited in vain.
 */
static void watermark_test_lost(struct kunit *test)
{
	struct watermark_test *t = test->priv;
	int i;

	t->zone->free_area[0].nr_free = WATERMARK_TEST_MIN;
	for (i = 0; i < WATERMARK_TEST_TASKS; i++) {
		struct task_struct *task;

		task = kthread_run(watermark_test_task, t, "watermark/%d", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		t->task[i] = task;
	}
	for (i = 0; i < WATERMARK_TEST_PAGES; i++) {
		watermark_test_free(t->zone, 0, 1 + i % 2);
		KUNIT_ASSERT_TRUE(test, watermark_test_taken(t->zone));
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&t->timeouts), 0);
}

/* Pages that come before the task is in the queue, and before it sleeps. */
static void watermark_test_races(struct kunit *test)
{
	struct watermark_test *t = test->priv;
	struct watermark_waiter *waiter = watermark_test_add(t, 0);
	unsigned long end = jiffies + HZ / 2;

	watermark_leave(waiter);
	t->nr--;
	watermark_test_free(t->zone, 0, WATERMARK_TEST_MIN + 1);
	KUNIT_EXPECT_EQ(test, watermark_wait_on(waiter, HZ),
			WATERMARK_REACHED);
	t->zone->free_area[0].nr_free--;
	waiter = watermark_test_add(t, 0);
	watermark_test_free(t->zone, 0, 1);
	watermark_sleep(waiter, HZ);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, end));
}

/* An allocation sleeps only while others reclaim; the last of these wakes one. */
static void watermark_test_hand_over(struct kunit *test)
{
	struct watermark_test *t = test->priv;
	struct watermark_waiter *first = watermark_test_add(t, 0);
	struct watermark_waiter *second = watermark_test_add(t, 0);

	KUNIT_EXPECT_FALSE(test, watermark_must_reclaim(first));
	atomic_inc(&t->queue->reclaimers);
	watermark_reclaim_end(t->queue);
	KUNIT_EXPECT_FALSE(test, first->reclaims);
	watermark_reclaim_end(t->queue);
	KUNIT_EXPECT_TRUE(test, first->reclaims);
	KUNIT_EXPECT_FALSE(test, second->reclaims);
	KUNIT_EXPECT_NULL(test, first->zone);
	KUNIT_EXPECT_TRUE(test, watermark_must_reclaim(second));
	/* a task that was killed lets the next one do it */
	watermark_release(first, false);
	KUNIT_EXPECT_TRUE(test, second->reclaims);
}

/* Tasks that must not wait. The test runs in a kernel thread, which is one. */
static void watermark_test_may_wait(struct kunit *test)
{
	unsigned int flags = current->flags, timeout_ms = watermark_wait_timeout_ms;

	watermark_wait_timeout_ms = 20;
	KUNIT_EXPECT_FALSE(test, watermark_may_wait(GFP_KERNEL, 0));
	current->flags &= ~PF_KTHREAD;
	KUNIT_EXPECT_TRUE(test, watermark_may_wait(GFP_KERNEL, 0));
	KUNIT_EXPECT_TRUE(test, watermark_may_wait(GFP_KERNEL, 3));
	KUNIT_EXPECT_FALSE(test, watermark_may_wait(GFP_NOFS, 0));
	KUNIT_EXPECT_FALSE(test, watermark_may_wait(GFP_NOIO, 0));
	KUNIT_EXPECT_TRUE(test, watermark_may_wait(GFP_NOFS | __GFP_WRITE, 0));
	current->flags |= PF_MEMALLOC_NOFS;
	KUNIT_EXPECT_FALSE(test, watermark_may_wait(GFP_NOFS | __GFP_WRITE, 0));
	current->flags &= ~PF_MEMALLOC_NOFS;
	current->journal_info = test;
	KUNIT_EXPECT_FALSE(test, watermark_may_wait(GFP_KERNEL, 0));
	current->journal_info = NULL;
	KUNIT_EXPECT_FALSE(test, watermark_may_wait(GFP_KERNEL, 4));
	KUNIT_EXPECT_FALSE(test, watermark_may_wait(GFP_NOWAIT, 0));
	KUNIT_EXPECT_FALSE(test, watermark_may_wait(GFP_ATOMIC, 0));
	KUNIT_EXPECT_FALSE(test, watermark_may_wait(GFP_KERNEL | __GFP_NORETRY,
						    0));
	KUNIT_EXPECT_TRUE(test, watermark_may_wait_alloc(GFP_KERNEL, 0, 0));
	KUNIT_EXPECT_FALSE(test, watermark_may_wait_alloc(GFP_KERNEL, 0,
							  ALLOC_MIN_RESERVE));
	KUNIT_EXPECT_FALSE(test, watermark_may_wait_alloc(GFP_KERNEL |
							  __GFP_MEMALLOC, 0, 0));
	current->flags |= PF_MEMALLOC;
	KUNIT_EXPECT_FALSE(test, watermark_may_wait_alloc(GFP_KERNEL, 0, 0));
	KUNIT_EXPECT_FALSE(test, watermark_may_wait_alloc(GFP_KERNEL |
							  __GFP_NOMEMALLOC, 0,
							  0));
	current->flags = (flags & ~PF_KTHREAD) | PF_USER_WORKER;
	KUNIT_EXPECT_FALSE(test, watermark_may_wait(GFP_KERNEL, 0));
	current->flags = (flags & ~PF_KTHREAD) | PF_LOCAL_THROTTLE;
	KUNIT_EXPECT_FALSE(test, watermark_may_wait(GFP_KERNEL, 0));
	current->flags = (flags & ~PF_KTHREAD) | PF_EXITING;
	KUNIT_EXPECT_FALSE(test, watermark_may_wait(GFP_KERNEL, 0));
	current->flags = flags & ~PF_KTHREAD;
	watermark_wait_timeout_ms = 0;
	KUNIT_EXPECT_FALSE(test, watermark_may_wait(GFP_KERNEL, 0));
	current->flags = flags;
	watermark_wait_timeout_ms = timeout_ms;
}

/* Memory hotplug may empty the rest of a zonelist while a task allocates. */
static void watermark_test_no_zone(struct kunit *test)
{
	unsigned int timeout_ms = watermark_wait_timeout_ms;
	struct watermark_test *t = test->priv;
	struct alloc_context ac = {
		.zonelist = t->zonelist,
		.preferred_zoneref = &t->zonelist->_zonerefs[0],
		.highest_zoneidx = ZONE_NORMAL,
	};
	unsigned int flags = current->flags;
	unsigned long start;

	watermark_wait_timeout_ms = WATERMARK_WAIT_TIMEOUT_MAX_MS;
	KUNIT_EXPECT_PTR_EQ(test, watermark_reclaim_begin(&ac), t->queue);
	watermark_reclaim_end(t->queue);
	ac.preferred_zoneref++;
	KUNIT_EXPECT_NULL(test, watermark_reclaim_begin(&ac));
	current->flags = flags & ~PF_KTHREAD;
	start = jiffies;
	watermark_wait_progress(GFP_KERNEL, 0, ALLOC_WMARK_MIN, &ac);
	__watermark_wait_turn(GFP_KERNEL, 0, ALLOC_WMARK_MIN, &ac);
	current->flags = flags;
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, start + HZ));
	watermark_wait_timeout_ms = timeout_ms;
}

static struct kunit_case watermark_test_cases[] = {
	KUNIT_CASE(watermark_test_mark),
	KUNIT_CASE(watermark_test_free_pages),
	KUNIT_CASE(watermark_test_count),
	KUNIT_CASE(watermark_test_promise),
	KUNIT_CASE(watermark_test_order),
	KUNIT_CASE(watermark_test_pass),
	KUNIT_CASE(watermark_test_wake_max),
	KUNIT_CASE(watermark_test_zone_idx),
	KUNIT_CASE(watermark_test_nodes),
	KUNIT_CASE(watermark_test_races),
	KUNIT_CASE_SLOW(watermark_test_lost),
	KUNIT_CASE(watermark_test_hand_over),
	KUNIT_CASE(watermark_test_may_wait),
	KUNIT_CASE(watermark_test_no_zone),
	{ }
};

static struct kunit_suite watermark_test_suite = {
	.name = "watermark_wait",
	.init = watermark_test_init,
	.exit = watermark_test_exit,
	.test_cases = watermark_test_cases,
};

kunit_test_suite(watermark_test_suite);
