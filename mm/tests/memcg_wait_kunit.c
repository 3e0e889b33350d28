// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the queues of tasks that wait for room in a memory cgroup: which
 * tasks are woken, and how many.
 *
 * Included by mm/memcg_wait.c.
 */
#include <kunit/test.h>

/* How many tasks that need @nr_pages each are served. */
static int memcg_wait_test_served(long room, unsigned long nr_pages)
{
	int nr = 0;

	while (memcg_wait_take(&room, nr_pages))
		nr++;
	return nr;
}

/* One for each batch, and the first for less than one. */
static void memcg_wait_test_nr_served(struct kunit *test)
{
	const long batch = MEMCG_CHARGE_BATCH;

	KUNIT_EXPECT_EQ(test, memcg_wait_test_served(-1, 0), 0);
	KUNIT_EXPECT_EQ(test, memcg_wait_test_served(0, 0), 1);
	KUNIT_EXPECT_EQ(test, memcg_wait_test_served(batch - 1, 0), 1);
	KUNIT_EXPECT_EQ(test, memcg_wait_test_served(batch, 0), 2);
	KUNIT_EXPECT_EQ(test, memcg_wait_test_served(10 * batch, 0), 11);
	KUNIT_EXPECT_EQ(test, memcg_wait_test_served(4 * batch, 2 * batch), 2);
}

/* Less room than a task needs does not serve it, but others. */
static void memcg_wait_test_needed(struct kunit *test)
{
	const long batch = MEMCG_CHARGE_BATCH;
	long room = 100;

	KUNIT_EXPECT_EQ(test, memcg_wait_test_served(0, 1), 0);
	KUNIT_EXPECT_EQ(test, memcg_wait_test_served(1, 1), 1);
	KUNIT_EXPECT_EQ(test, memcg_wait_test_served(7, 8), 0);
	KUNIT_EXPECT_EQ(test, memcg_wait_test_served(8, 8), 1);
	KUNIT_EXPECT_EQ(test, memcg_wait_test_served(batch + 7, 8), 1);
	KUNIT_EXPECT_EQ(test, memcg_wait_test_served(batch + 8, 8), 2);

	KUNIT_EXPECT_FALSE(test, memcg_wait_take(&room, 101));
	KUNIT_EXPECT_TRUE(test, memcg_wait_take(&room, 1));
}

static struct mem_cgroup *memcg_wait_test_memcg(struct kunit *test,
						unsigned long usage,
						unsigned long high,
						unsigned long max)
{
	struct mem_cgroup *memcg = kunit_kzalloc(test, sizeof(*memcg),
						 GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memcg);
	atomic_long_set(&memcg->memory.usage, usage);
	memcg->memory.high = high;
	memcg->memory.max = max;
	return memcg;
}

/* A queue may be that of several levels and limits, and each has its own room. */
static void memcg_wait_test_spend(struct kunit *test)
{
	struct mem_cgroup *memcg =
		memcg_wait_test_memcg(test, 1, 1 + MEMCG_CHARGE_BATCH, 1);
	struct memcg_waiter below = {
		.level = memcg, .limit = &memcg->memory.high,
	};
	struct memcg_waiter above = {
		.level = memcg, .limit = &memcg->memory.max, .nr_pages = 1,
	};
	struct memcg_waiter large = {
		.level = memcg, .limit = &memcg->memory.high, .nr_pages = 512,
	};
	struct memcg_wait_event event = {};

	KUNIT_EXPECT_FALSE(test, memcg_wait_is_over(&large));
	KUNIT_EXPECT_FALSE(test, memcg_wait_is_over(&above));
	KUNIT_EXPECT_TRUE(test, memcg_wait_is_over(&below));
	KUNIT_EXPECT_FALSE(test, memcg_wait_spend(&event, &above));
	KUNIT_EXPECT_FALSE(test, memcg_wait_spend(&event, &large));
	KUNIT_EXPECT_TRUE(test, memcg_wait_spend(&event, &below));
	KUNIT_EXPECT_TRUE(test, memcg_wait_spend(&event, &below));
	KUNIT_EXPECT_FALSE(test, memcg_wait_spend(&event, &below));
	KUNIT_EXPECT_FALSE(test, memcg_wait_spend(&event, &above));
	KUNIT_EXPECT_TRUE(test, memcg_wait_spend(&event, &below));
}

/* An uncharge need not wake tasks of a level that has no room, or no limit. */
static void memcg_wait_test_below(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, memcg_wait_below(5, PAGE_COUNTER_MAX));
	KUNIT_EXPECT_FALSE(test, memcg_wait_below(5, 4));
	KUNIT_EXPECT_TRUE(test, memcg_wait_below(5, 5));
}

/* Nor one of a level at which tasks sleep because of another limit. */
static void memcg_wait_test_note(struct kunit *test)
{
	struct mem_cgroup *memcg = memcg_wait_test_memcg(test, 5, 4, 9);
	const unsigned long *high = &memcg->memory.high;
	bool exceeded, met;
	struct memcg_waiter waiter;

	memcg_wait_start(&waiter, memcg, high, 0);
	exceeded = memcg_wait_note_level(memcg);
	memcg->memory.high = 5;
	met = memcg_wait_note_level(memcg);
	memcg_wait_finish(&waiter);
	KUNIT_EXPECT_FALSE(test, exceeded);
	KUNIT_EXPECT_TRUE(test, met);
	KUNIT_EXPECT_TRUE(test, test_and_clear_bit(memcg_wait_index(high),
						   memcg_wait_due));
	KUNIT_EXPECT_FALSE(test, memcg_wait_note_level(memcg));
}

static atomic_t memcg_wait_test_events;

static int memcg_wait_test_event(wait_queue_entry_t *wait, unsigned int mode,
				 int sync, void *event)
{
	atomic_inc(&memcg_wait_test_events);
	return 0;
}

/* Is a task that sleeps because of @limit woken when those of @memcg change? */
static bool memcg_wait_test_reached(struct mem_cgroup *memcg,
				    const unsigned long *limit)
{
	struct memcg_waiter waiter;

	atomic_set(&memcg_wait_test_events, 0);
	memcg_wait_start(&waiter, memcg, limit, 0);
	waiter.wait.func = memcg_wait_test_event;
	migrate_disable();
	memcg_wait_changed(memcg);
	irq_work_sync(this_cpu_ptr(&memcg_wait_wake_work));
	migrate_enable();
	memcg_wait_finish(&waiter);
	return atomic_read(&memcg_wait_test_events);
}

/* A limit that changes wakes the tasks of its cgroup, and not those of others. */
static void memcg_wait_test_changed(struct kunit *test)
{
	struct mem_cgroup *memcg = memcg_wait_test_memcg(test, 5, 4,
							 PAGE_COUNTER_MAX);
	const unsigned long *high = &memcg->memory.high;
	const unsigned long *max = &memcg->memory.max;
	const unsigned long *other = high;

	while (memcg_wait_queue(other) == memcg_wait_queue(high) ||
	       memcg_wait_queue(other) == memcg_wait_queue(max))
		other++;
	KUNIT_EXPECT_TRUE(test, memcg_wait_test_reached(memcg, high));
	KUNIT_EXPECT_TRUE(test, memcg_wait_test_reached(memcg, max));
	KUNIT_EXPECT_FALSE(test, memcg_wait_test_reached(memcg, other));
}

/* Which tasks may sleep until others make progress. */
static void memcg_wait_test_flags(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, memcg_wait_needs_flags(0));
	KUNIT_EXPECT_FALSE(test, memcg_wait_needs_flags(PF_USER_WORKER |
							PF_IO_WORKER));
	KUNIT_EXPECT_TRUE(test, memcg_wait_needs_flags(PF_USER_WORKER));
	KUNIT_EXPECT_TRUE(test, memcg_wait_needs_flags(PF_KTHREAD));
	KUNIT_EXPECT_TRUE(test, memcg_wait_needs_flags(PF_MEMALLOC_NOFS));
	KUNIT_EXPECT_TRUE(test, memcg_wait_needs_flags(PF_MEMALLOC_NOIO));
	/* As prctl(PR_SET_IO_FLUSHER) sets it. */
	KUNIT_EXPECT_TRUE(test, memcg_wait_needs_flags(PF_LOCAL_THROTTLE));
	KUNIT_EXPECT_TRUE(test, memcg_wait_needs_flags(PF_EXITING));
}

/* A task sleeps while there is no room, and has not been woken for any. */
static void memcg_wait_test_over(struct kunit *test)
{
	struct mem_cgroup *memcg = memcg_wait_test_memcg(test, 5, 4, 7);
	struct memcg_waiter waiter;

	memcg_wait_start(&waiter, memcg, &memcg->memory.max, 3);
	KUNIT_EXPECT_FALSE(test, memcg_wait_is_over(&waiter));
	memcg->memory.max = 8;
	KUNIT_EXPECT_TRUE(test, memcg_wait_is_over(&waiter));
	memcg->memory.max = 7;
	list_del_init_careful(&waiter.wait.entry);
	KUNIT_EXPECT_TRUE(test, memcg_wait_is_over(&waiter));
	memcg_wait_finish(&waiter);
}

/* One event does not walk a long queue with interrupts off. */
static void memcg_wait_test_pass(struct kunit *test)
{
	struct mem_cgroup *memcg = memcg_wait_test_memcg(test, 5, 4, 9);
	struct memcg_wait_event event = { .nr_passed = MEMCG_WAIT_PASS_MAX - 2 };
	struct memcg_waiter waiter;
	wait_queue_func_t wake;

	memcg_wait_start(&waiter, memcg, &memcg->memory.high, 0);
	wake = waiter.wait.func;
	KUNIT_EXPECT_EQ(test, wake(&waiter.wait, TASK_NORMAL, 0, &event), 0);
	KUNIT_EXPECT_EQ(test, wake(&waiter.wait, TASK_NORMAL, 0, &event), -1);
	memcg_wait_finish(&waiter);
}

/*
 * mkdir charges the parent of the new cgroup, with cgroup_mutex held. A writer is in
 * the cgroup that its buffer heads are charged to.
 */
static void memcg_wait_test_remote(struct kunit *test)
{
	struct task_struct *task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, task);
	RCU_INIT_POINTER(task->cgroups, rcu_access_pointer(current->cgroups));
	KUNIT_EXPECT_FALSE(test, memcg_wait_is_needed(task));
	task->active_memcg = root_mem_cgroup;
	KUNIT_EXPECT_FALSE(test, memcg_wait_is_needed(task));
	task->active_memcg = memcg_wait_test_memcg(test, 5, 4, 9);
	KUNIT_EXPECT_TRUE(test, memcg_wait_is_needed(task));
}

static struct kunit_case memcg_wait_cases[] = {
	KUNIT_CASE(memcg_wait_test_nr_served),
	KUNIT_CASE(memcg_wait_test_needed),
	KUNIT_CASE(memcg_wait_test_spend),
	KUNIT_CASE(memcg_wait_test_over),
	KUNIT_CASE(memcg_wait_test_below),
	KUNIT_CASE(memcg_wait_test_note),
	KUNIT_CASE(memcg_wait_test_changed),
	KUNIT_CASE(memcg_wait_test_flags),
	KUNIT_CASE(memcg_wait_test_pass),
	KUNIT_CASE(memcg_wait_test_remote),
	{}
};

static struct kunit_suite memcg_wait_suite = {
	.name = "memcg_wait",
	.test_cases = memcg_wait_cases,
};

kunit_test_suite(memcg_wait_suite);
