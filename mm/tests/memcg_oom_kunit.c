// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for charges that wait for a victim of the OOM killer: for how long a
 * level is marked, and which events end the wait.
 *
 * Included by mm/memcg_oom.c.
 */
#include <kunit/test.h>

static struct mem_cgroup *memcg_oom_test_memcg(struct kunit *test)
{
	struct mem_cgroup *memcg = kunit_kzalloc(test, sizeof(*memcg),
						 GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memcg);
	return memcg;
}

static void memcg_oom_test_mark(struct kunit *test)
{
	struct mem_cgroup *level = memcg_oom_test_memcg(test);
	struct mem_cgroup *other = memcg_oom_test_memcg(test);
	struct memcg_oom_mark mark = { .level = level, .until = 100 };

	KUNIT_EXPECT_TRUE(test, memcg_oom_marks_level(&mark, level, 99));
	/* Nor is one that was left behind taken for another time's. */
	KUNIT_EXPECT_FALSE(test, memcg_oom_marks_level(&mark, level,
						       100 - MEMCG_OOM_TIMEOUT - 1));
	KUNIT_EXPECT_FALSE(test, memcg_oom_marks_level(&mark, level, 100));
	KUNIT_EXPECT_FALSE(test, memcg_oom_marks_level(&mark, other, 99));
	/* Jiffies wrap. */
	mark.until = 5;
	KUNIT_EXPECT_TRUE(test, memcg_oom_marks_level(&mark, level, -10));
}

/* A kill marks its level, until the victim's memory is free. */
static void memcg_oom_test_kill(struct kunit *test)
{
	struct mem_cgroup *level = memcg_oom_test_memcg(test);

	KUNIT_EXPECT_FALSE(test, memcg_oom_in_flight(level));
	memcg_oom_set_mark(level);
	KUNIT_EXPECT_TRUE(test, memcg_oom_in_flight(level));
	/* A cgroup that is being removed has no victim. */
	level->css.flags = CSS_DYING;
	KUNIT_EXPECT_FALSE(test, memcg_oom_in_flight(level));
	level->css.flags = 0;
	memcg_oom_unmark(level);
	KUNIT_EXPECT_FALSE(test, memcg_oom_in_flight(level));
}

/* An mm is a victim's once the task is chosen, not only once it is queued. */
static void memcg_oom_test_chosen(struct kunit *test)
{
	struct mm_struct *mm = kunit_kzalloc(test, sizeof(*mm), GFP_KERNEL);
	bool chosen;

	KUNIT_ASSERT_NOT_NULL(test, mm);
	KUNIT_EXPECT_FALSE(test, memcg_oom_was_chosen(mm, false));
	KUNIT_EXPECT_TRUE(test, memcg_oom_was_chosen(mm, true));
	KUNIT_ASSERT_NULL(test, current->signal->oom_mm);
	current->signal->oom_mm = mm;
	chosen = memcg_oom_was_chosen(mm, false);
	current->signal->oom_mm = NULL;
	KUNIT_EXPECT_TRUE(test, chosen);
}

/* Another level's victim wakes no task, even where the two have the same queue. */
static void memcg_oom_test_wake(struct kunit *test)
{
	struct mem_cgroup *level = memcg_oom_test_memcg(test);
	struct mem_cgroup *other = memcg_oom_test_memcg(test);
	wait_queue_head_t *queue = &memcg_oom_mark(level)->queue;
	struct memcg_oom_sleeper sleeper = { .level = level };
	bool by_other, by_own;

	memcg_oom_set_mark(level);
	init_wait(&sleeper.wait);
	sleeper.wait.func = memcg_oom_wake_function;
	/* A task that runs cannot be woken. */
	prepare_to_wait_exclusive(queue, &sleeper.wait, TASK_UNINTERRUPTIBLE);
	memcg_oom_wake(queue, other);
	by_other = list_empty(&sleeper.wait.entry);
	memcg_oom_unmark(level);
	by_own = list_empty(&sleeper.wait.entry);
	finish_wait(queue, &sleeper.wait);
	KUNIT_EXPECT_FALSE(test, by_other);
	KUNIT_EXPECT_TRUE(test, by_own);
	/* The walk goes on: all of the victim's are woken. */
	KUNIT_EXPECT_EQ(test, memcg_oom_wake_function(&sleeper.wait, TASK_NORMAL,
						      0, other), 0);
}

static struct kunit_case memcg_oom_cases[] = {
	KUNIT_CASE(memcg_oom_test_mark),
	KUNIT_CASE(memcg_oom_test_kill),
	KUNIT_CASE(memcg_oom_test_chosen),
	KUNIT_CASE(memcg_oom_test_wake),
	{}
};

static struct kunit_suite memcg_oom_suite = {
	.name = "memcg_oom",
	.test_cases = memcg_oom_cases,
};

kunit_test_suite(memcg_oom_suite);
