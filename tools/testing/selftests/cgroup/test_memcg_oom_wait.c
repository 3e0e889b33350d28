// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for tasks that wait for the memory of a task that the OOM killer has
 * chosen: no second task is killed without need, and a kill that is needed
 * comes soon.
 */
#define _GNU_SOURCE

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_test_util.h"

/* All hogs but one fit, beside the bystanders. */
#define MAX		"160M"
#define NR_HOGS		3
#define HOG_BYTES	MB(60L)
#define BYSTANDER_BYTES	MB(4L)
#define CHURN_BYTES	MB(1L)
#define NR_ROUNDS	24
/* No two hogs fit. */
#define CHAIN_MAX	"64M"
#define CHAIN_MS	15000
#define ROUND_MS	20000
#define NR_TASKS	(2 * NR_HOGS)

/**
 * struct shared - memory that the tasks share
 * @go: the hogs are to start
 * @ready: number of bystanders that have their memory
 * @full: number of hogs that have their memory
 */
struct shared {
	int go;
	int ready;
	int full;
};

static struct shared *shared;

static char *take(long bytes)
{
	char *memory = map_memory(bytes);

	touch_memory(memory, bytes);
	return memory;
}

static int do_bystander(const char *cgroup, void *arg)
{
	take(BYSTANDER_BYTES);
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	while (!munmap(take(CHURN_BYTES), CHURN_BYTES))
		sleep_ms(2);
	return EXIT_FAILURE;
}

static int do_hog(const char *cgroup, void *arg)
{
	while (!__atomic_load_n(&shared->go, __ATOMIC_SEQ_CST))
		sleep_ms(1);
	take(HOG_BYTES);
	__atomic_add_fetch(&shared->full, 1, __ATOMIC_SEQ_CST);
	pause();
	return EXIT_SUCCESS;
}

/**
 * struct round - the tasks of one round, and their fate
 * @pids: the hogs, and then the bystanders; 0 once they are dead
 * @hogs_killed: number of hogs that the OOM killer has killed
 * @others_killed: number of bystanders that it has killed
 */
struct round {
	pid_t pids[NR_TASKS];
	int hogs_killed;
	int others_killed;
};

static void start_round(const char *cgroup, struct round *round)
{
	int i;

	memset(shared, 0, sizeof(*shared));
	memset(round, 0, sizeof(*round));
	for (i = 0; i < NR_TASKS; i++)
		round->pids[i] = cg_run_nowait(cgroup, i < NR_HOGS ? do_hog :
					       do_bystander, NULL);
	wait_for(&shared->ready, NR_TASKS - NR_HOGS);
	__atomic_store_n(&shared->go, 1, __ATOMIC_SEQ_CST);
}

static void collect(struct round *round)
{
	int i, status;

	for (i = 0; i < NR_TASKS; i++) {
		if (round->pids[i] <= 0 ||
		    waitpid(round->pids[i], &status, WNOHANG) <= 0)
			continue;
		round->pids[i] = 0;
		if (i < NR_HOGS)
			round->hogs_killed++;
		else
			round->others_killed++;
	}
}

static void end_round(struct round *round)
{
	int i;

	for (i = 0; i < NR_TASKS; i++)
		stop_task(round->pids[i]);
}

/* Returns the time until each hog was killed or had its memory, in ms. */
static long run_round(const char *cgroup, struct round *round)
{
	long start, took;

	start_round(cgroup, round);
	start = now_ms();
	do {
		sleep_ms(5);
		collect(round);
		took = now_ms() - start;
	} while (took < ROUND_MS &&
		 round->hogs_killed + shared->full < NR_HOGS);
	/* A hog that had its memory may have been killed as well. */
	sleep_ms(300);
	collect(round);
	end_round(round);
	return took;
}

/* One hog has to be killed, and no other task. */
static int test_second_victim(const char *root)
{
	char *cgroup __free(cgroup) = create_limited(root, "oom_wait", MAX);
	int i, hogs = 0, others = 0;
	struct round round;
	long took = 0, calls;

	for (i = 0; cgroup && i < NR_ROUNDS; i++) {
		took += run_round(cgroup, &round);
		hogs += round.hogs_killed;
		others += round.others_killed;
	}
	ksft_print_msg("%d hogs and %d others killed in %d rounds of %ld ms\n",
		       hogs, others, NR_ROUNDS, took / NR_ROUNDS);
	calls = cg_read_key_long(cgroup, "memory.events", "oom ");
	ksft_print_msg("%ld calls of the OOM killer\n", calls);
	return passed(hogs == NR_ROUNDS && !others &&
		      calls <= NR_ROUNDS * (NR_TASKS - 1));
}

/* All hogs have to be killed, one after the other. */
static int test_chain(const char *root)
{
	char *cgroup __free(cgroup) = create_limited(root, "oom_wait", CHAIN_MAX);
	struct round round = {};
	long took = -1;

	if (cgroup)
		took = run_round(cgroup, &round);
	ksft_print_msg("%d hogs and %d others killed, within %ld ms\n",
		       round.hogs_killed, round.others_killed, took);
	return passed(round.hogs_killed == NR_HOGS && !round.others_killed &&
		      took <= CHAIN_MS);
}

static const struct memcg_test tests[] = {
	T(test_second_victim),
	T(test_chain),
};

static void share(const char *root)
{
	shared = share_memory(sizeof(*shared));
}

int main(void)
{
	return memcg_test_main(tests, ARRAY_SIZE(tests), share);
}
