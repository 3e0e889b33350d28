// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for charges that wait for writeback: for how long, and for how many
 * pages.
 *
 * Included by mm/memcg_max.c.
 */
#include <kunit/test.h>

static void memcg_max_test_timeout(struct kunit *test)
{
	const long full = MEMCG_MAX_TIMEOUT;

	KUNIT_EXPECT_EQ(test, memcg_max_timeout(GFP_KERNEL, 0, false), full);
	KUNIT_EXPECT_EQ(test, memcg_max_timeout(GFP_KERNEL, full - 1, false), 1);
	KUNIT_EXPECT_EQ(test, memcg_max_timeout(GFP_KERNEL, full, false), 0);
	/* A sleep may take longer than was asked for. */
	KUNIT_EXPECT_EQ(test, memcg_max_timeout(GFP_KERNEL, full + 5, false), 0);
	KUNIT_EXPECT_EQ(test, memcg_max_timeout(GFP_NOFS, 0, false),
			MEMCG_MAX_TIMEOUT_SHORT);
	KUNIT_EXPECT_EQ(test, memcg_max_timeout(GFP_NOFS, MEMCG_MAX_TIMEOUT_SHORT,
						false), 0);
	KUNIT_EXPECT_EQ(test, memcg_max_timeout(GFP_KERNEL_ACCOUNT, 0, false),
			MEMCG_MAX_TIMEOUT_SHORT);
	KUNIT_EXPECT_EQ(test, memcg_max_timeout(GFP_NOIO, 0, false), 0);
	KUNIT_EXPECT_EQ(test, memcg_max_timeout(GFP_NOWAIT, 0, false), 0);
	KUNIT_EXPECT_EQ(test, memcg_max_timeout(GFP_ATOMIC, 0, false), 0);
	/* It may hold the mmap_lock of a process in the cgroup. */
	KUNIT_EXPECT_EQ(test, memcg_max_timeout(GFP_KERNEL, 0, true),
			MEMCG_MAX_TIMEOUT_SHORT);
	KUNIT_EXPECT_EQ(test, memcg_max_timeout(GFP_NOIO, 0, true), 0);
}

/* A buffered write waits for longer than other charges without __GFP_FS. */
static void memcg_max_test_write(struct kunit *test)
{
	const gfp_t head = GFP_NOFS | __GFP_ACCOUNT | __GFP_NOFAIL;

	KUNIT_EXPECT_EQ(test, memcg_max_timeout(GFP_NOFS | __GFP_WRITE, 0, false),
			MEMCG_MAX_TIMEOUT_WRITE);
	KUNIT_EXPECT_EQ(test, memcg_max_timeout(head, 0, false),
			MEMCG_MAX_TIMEOUT_WRITE);
	/* Metadata that must not fail, and its page cache. */
	KUNIT_EXPECT_EQ(test, memcg_max_timeout(head | __GFP_MOVABLE, 0, false),
			MEMCG_MAX_TIMEOUT_SHORT);
	KUNIT_EXPECT_EQ(test, memcg_max_timeout(GFP_NOFS | __GFP_NOFAIL, 0, false),
			MEMCG_MAX_TIMEOUT_SHORT);
	KUNIT_EXPECT_EQ(test, memcg_max_timeout(GFP_NOFS | __GFP_ACCOUNT, 0, false),
			MEMCG_MAX_TIMEOUT_SHORT);
	/* Of a socket, which is locked. */
	KUNIT_EXPECT_EQ(test, memcg_max_timeout(GFP_KERNEL_ACCOUNT |
						__GFP_NOFAIL, 0, false),
			MEMCG_MAX_TIMEOUT_SHORT);
}

static void memcg_max_test_needed(struct kunit *test)
{
	const long batch = MEMCG_MAX_BATCH;

	KUNIT_EXPECT_EQ(test, memcg_max_needed(0, 1), 0);
	KUNIT_EXPECT_EQ(test, memcg_max_needed(1, 1), 1);
	KUNIT_EXPECT_EQ(test, memcg_max_needed(2, 1), 1);
	KUNIT_EXPECT_EQ(test, memcg_max_needed(3, 1), 2);
	KUNIT_EXPECT_EQ(test, memcg_max_needed(2 * batch, 1), batch);
	KUNIT_EXPECT_EQ(test, memcg_max_needed(ULONG_MAX, 1), batch);
	KUNIT_EXPECT_EQ(test, memcg_max_needed(ULONG_MAX, batch + 1), batch + 1);
	/* No more than there may be. */
	KUNIT_EXPECT_EQ(test, memcg_max_needed(10, batch + 1), 5);
}

/* Only if too little is under writeback already, and once. */
static void memcg_max_test_flush(struct kunit *test)
{
	struct memcg_max_pending pending = { .writeback = 5, .flushed = true };
	struct memcg_max_waiter waiter = {};

	KUNIT_EXPECT_FALSE(test, memcg_max_must_flush(&waiter, &pending, 32));
	pending.dirty = 100;
	KUNIT_EXPECT_FALSE(test, memcg_max_must_flush(&waiter, &pending, 5));
	KUNIT_EXPECT_TRUE(test, memcg_max_must_flush(&waiter, &pending, 6));
	KUNIT_EXPECT_FALSE(test, memcg_max_must_flush(&waiter, &pending, 6));
	/* The request was lost: a task that flushes the statistics repeats it. */
	pending.writeback = 0;
	KUNIT_EXPECT_TRUE(test, memcg_max_must_flush(&waiter, &pending, 6));
	pending.flushed = false;
	KUNIT_EXPECT_FALSE(test, memcg_max_must_flush(&waiter, &pending, 6));
	/* After a while, each task does. */
	waiter.flushed_at -= MEMCG_MAX_REPEAT;
	KUNIT_EXPECT_TRUE(test, memcg_max_must_flush(&waiter, &pending, 6));
	KUNIT_EXPECT_FALSE(test, memcg_max_must_flush(&waiter, &pending, 6));
	/* A first request is made, whichever task has flushed the statistics. */
	waiter.flushed = false;
	KUNIT_EXPECT_TRUE(test, memcg_max_must_flush(&waiter, &pending, 6));
}

/* Folios of any size, before and after the pages suffice. */
static void memcg_max_test_count(struct kunit *test)
{
	long needed = 32;

	KUNIT_EXPECT_EQ(test, memcg_max_count(&needed, 1), 0);
	KUNIT_EXPECT_EQ(test, needed, 31);
	KUNIT_EXPECT_EQ(test, memcg_max_count(&needed, 30), 0);
	KUNIT_EXPECT_EQ(test, needed, 1);
	KUNIT_EXPECT_EQ(test, memcg_max_count(&needed, 512), 511);
	KUNIT_EXPECT_EQ(test, needed, 0);
	KUNIT_EXPECT_EQ(test, memcg_max_count(&needed, 4), 4);
	KUNIT_EXPECT_EQ(test, needed, 0);
}

static size_t memcg_max_test_queued(wait_queue_head_t *queue)
{
	return list_count_nodes(&queue->head);
}

/* Written pages of a level go to its waiters in turn, and to no other level's. */
static void memcg_max_test_wake(struct kunit *test)
{
	static const long needed[] = { 32, 32, 32, 5, 32 };
	struct mem_cgroup *level = kunit_kzalloc(test, sizeof(*level),
						 GFP_KERNEL);
	struct memcg_max_waiter waiters[ARRAY_SIZE(needed)] = {};
	struct memcg_max_event event = { .level = level, .nr_pages = 40 };
	wait_queue_head_t queue;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, level);
	init_waitqueue_head(&queue);
	for (i = 0; i < ARRAY_SIZE(needed); i++) {
		init_wait(&waiters[i].wait);
		waiters[i].wait.func = memcg_max_wake_function;
		waiters[i].level = i ? level : NULL;
		waiters[i].needed = needed[i];
		add_wait_queue_exclusive(&queue, &waiters[i].wait);
	}
	/* This one was woken for room, and is on its way. */
	INIT_LIST_HEAD(&waiters[1].room.wait.entry);
	__wake_up(&queue, TASK_NORMAL, INT_MAX, &event);
	KUNIT_EXPECT_EQ(test, waiters[0].needed, 32);
	KUNIT_EXPECT_EQ(test, waiters[1].needed, 32);
	KUNIT_EXPECT_EQ(test, waiters[2].needed, 0);
	KUNIT_EXPECT_EQ(test, waiters[3].needed, 0);
	KUNIT_EXPECT_EQ(test, waiters[4].needed, 29);
	KUNIT_EXPECT_EQ(test, event.nr_pages, 0);
	KUNIT_EXPECT_EQ(test, event.nr_passed, 2);
	/* Those that have their pages are off the queue, although the task runs. */
	KUNIT_EXPECT_EQ(test, memcg_max_test_queued(&queue), 3);
	event.nr_pages = 29;
	__wake_up(&queue, TASK_NORMAL, INT_MAX, &event);
	KUNIT_EXPECT_EQ(test, waiters[4].needed, 0);
}

/* One event does not walk a long queue of other levels with interrupts off. */
static void memcg_max_test_pass(struct kunit *test)
{
	struct memcg_max_event event = { .nr_passed = MEMCG_WAIT_PASS_MAX - 2 };
	struct memcg_max_waiter waiter = { .level = root_mem_cgroup };

	KUNIT_EXPECT_EQ(test, memcg_max_wake_function(&waiter.wait, TASK_NORMAL,
						      0, &event), 0);
	KUNIT_EXPECT_EQ(test, memcg_max_wake_function(&waiter.wait, TASK_NORMAL,
						      0, &event), -1);
}

static struct kunit_case memcg_max_cases[] = {
	KUNIT_CASE(memcg_max_test_timeout),
	KUNIT_CASE(memcg_max_test_write),
	KUNIT_CASE(memcg_max_test_needed),
	KUNIT_CASE(memcg_max_test_flush),
	KUNIT_CASE(memcg_max_test_count),
	KUNIT_CASE(memcg_max_test_wake),
	KUNIT_CASE(memcg_max_test_pass),
	{}
};

static struct kunit_suite memcg_max_suite = {
	.name = "memcg_max",
	.test_cases = memcg_max_cases,
};

kunit_test_suite(memcg_max_suite);
