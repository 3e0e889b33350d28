// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for tasks that sleep because their cgroup is above memory.high: they go
 * on once it is not any more, and no earlier.
 *
 * Memory is anonymous and locked, so that reclaim cannot free it.
 */
#define _GNU_SOURCE

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_test_util.h"

/*
 * The penalty for each batch of 256 KiB grows with the square of the excess. At
 * a memory.high of 16M, it is about a second when the excess is 2 MiB, which a
 * task reaches after some three seconds.
 */
#define HIGH		"16M"
#define HELD_BYTES	MB(14L)	/* of the task that frees memory */
#define FREED_BYTES	MB(12L)
#define ALONE_BYTES	MB(5L)	/* of a single task beside it */
#define CROWD_BYTES	(MB(3L) / 2)	/* of each of many tasks */
#define PENALTY_BYTES	MB(4L)	/* where no memory is freed */
#define DELAY_MS	3500	/* before memory is freed */
#define NR_ROUNDS	3
#define NR_CROWD	8
/* Bounds of the median and of the worst of the rounds. */
#define MOST_MS		100
#define WORST_MS	400
/* If no memory is freed, the excess takes longer than this. */
#define LEAST_MS	2500

/**
 * struct shared - memory that the tasks share
 * @free: the holder is to free memory
 * @held: the holder has its memory
 * @freed_at: time at which it frees that, in ms
 * @done_at: time at which each task has all its memory, in ms
 * @bytes: memory that each of these tasks takes
 */
struct shared {
	int free;
	int held;
	long freed_at;
	long done_at[NR_CROWD];
	long bytes;
};

static struct shared *shared;

static void *take(long bytes)
{
	void *memory = map_memory(bytes);

	if (mlock(memory, bytes))
		_exit(EXIT_FAILURE);
	return memory;
}

/* Takes memory, and frees most of it later. */
static int hold(const char *cgroup, void *arg)
{
	char *memory = take(HELD_BYTES);

	__atomic_store_n(&shared->held, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&shared->free, __ATOMIC_ACQUIRE))
		sleep_ms(1);
	shared->freed_at = now_ms();
	munmap(memory, FREED_BYTES);
	pause();
	return EXIT_SUCCESS;
}

/* Goes above memory.high piece by piece: the task sleeps after each. */
static int exceed(const char *cgroup, void *arg)
{
	long *done_at = arg, bytes;

	for (bytes = 0; bytes < shared->bytes; bytes += MB(1L) / 4)
		take(MB(1L) / 4);
	*done_at = now_ms();
	return EXIT_SUCCESS;
}

/* Returns the time from @start until the last of @nr tasks has its memory. */
static long last_after(long start, int nr)
{
	long last = -1;
	int i;

	if (!start) {
		ksft_print_msg("all went on before memory was freed\n");
		return -1;
	}
	for (i = 0; i < nr; i++)
		if (shared->done_at[i] - start > last)
			last = shared->done_at[i] - start;
	return last;
}

/*
 * @nr tasks in @cgroup go above memory.high of @level. After @delay_ms, memory
 * is freed, or memory.high raised. Returns the time that the last task needs
 * from then on, in ms, or -1.
 */
static long time_after(const char *cgroup, const char *level, int nr,
		       int delay_ms, bool raise)
{
	pid_t holder __free(task) = -1;
	pid_t pids[NR_CROWD];
	long start;
	int i;

	memset(shared, 0, sizeof(*shared));
	shared->bytes = nr == 1 ? ALONE_BYTES : CROWD_BYTES;
	if (cg_write(level, "memory.high", HIGH))
		return -1;
	holder = cg_run_nowait(cgroup, hold, NULL);
	if (holder < 0 || !wait_for(&shared->held, 1))
		return -1;
	for (i = 0; i < nr; i++)
		pids[i] = cg_run_nowait(cgroup, exceed, &shared->done_at[i]);
	sleep_ms(delay_ms);
	start = now_ms();
	if (raise)
		cg_write(level, "memory.high", "max");
	else
		__atomic_store_n(&shared->free, 1, __ATOMIC_RELEASE);
	if (!wait_tasks(pids, nr))
		return -1;
	return last_after(raise ? start : shared->freed_at, nr);
}

/* The median of several rounds is at most @most_ms, and none is much more. */
static int check(const char *cgroup, const char *level, int nr, bool raise,
		 long most_ms)
{
	long ms[NR_ROUNDS];
	int i;

	for (i = 0; i < NR_ROUNDS; i++) {
		ms[i] = time_after(cgroup, level, nr, DELAY_MS + 100 * i, raise);
		if (ms[i] < 0)
			return KSFT_FAIL;
	}
	sort_long(ms, NR_ROUNDS);
	ksft_print_msg("median %ld ms, from %ld to %ld\n", ms[NR_ROUNDS / 2],
		       ms[0], ms[NR_ROUNDS - 1]);
	return passed(ms[NR_ROUNDS / 2] <= most_ms &&
		      ms[NR_ROUNDS - 1] <= WORST_MS);
}

static int check_one(const char *root, int nr, bool raise, long most_ms)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "high_wait");

	return cgroup ? check(cgroup, cgroup, nr, raise, most_ms) : KSFT_FAIL;
}

/* One task sleeps, and another one frees memory. */
static int test_freed(const char *root)
{
	return check_one(root, 1, false, MOST_MS);
}

static int test_raised(const char *root)
{
	return check_one(root, 1, true, MOST_MS);
}

/* All tasks go on, not just the first. */
static int test_crowd(const char *root)
{
	return check_one(root, NR_CROWD, false, WORST_MS);
}

static int test_ancestor(const char *root)
{
	char *parent __free(cgroup) = create_parent(root, "high_parent");
	char *child __free(cgroup) = create_cgroup(parent, "child");

	return child ? check(child, parent, 1, false, MOST_MS) : KSFT_FAIL;
}

/* If no memory is freed, a task sleeps for the whole penalty. */
static int test_penalty(const char *root)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "high_penalty");
	pid_t holder __free(task) = -1;
	long start;

	memset(shared, 0, sizeof(*shared));
	shared->bytes = PENALTY_BYTES;
	if (!cgroup || cg_write(cgroup, "memory.high", HIGH))
		return KSFT_FAIL;
	holder = cg_run_nowait(cgroup, hold, NULL);
	if (holder < 0 || !wait_for(&shared->held, 1))
		return KSFT_FAIL;
	start = now_ms();
	if (!wait_task(cg_run_nowait(cgroup, exceed, &shared->done_at[0])))
		return KSFT_FAIL;
	ksft_print_msg("the excess took %ld ms\n", shared->done_at[0] - start);
	return passed(shared->done_at[0] - start >= LEAST_MS &&
		      cg_read_key_long(cgroup, "memory.events", "high ") > 0);
}

static const struct memcg_test tests[] = {
	T(test_freed),
	T(test_raised),
	T(test_crowd),
	T(test_ancestor),
	T(test_penalty),
};

static void share(const char *root)
{
	shared = share_memory(sizeof(*shared));
}

int main(void)
{
	return memcg_test_main(tests, ARRAY_SIZE(tests), share);
}
