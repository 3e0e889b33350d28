// SPDX-License-Identifier: GPL-2.0
/*
 * Writes good and bad values to the knobs of memory cgroups and to their
 * sysctls, from several tasks, while cgroups come and go.
 *
 * The first argument, or KNOB_WRITES in the environment, is the number of
 * writes; the second one is the seed of the random numbers, to repeat a run.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_knobs.h"
#include "memcg_test_util.h"

#define NR_TASKS	6
#define NAME_SIZE	256
#define PATH_SIZE	(NAME_SIZE + 16)
#define NR_PASSING	4
#define DEFAULT_WRITES	40000
#define DEFAULT_SEED	20261121

static long nr_writes = DEFAULT_WRITES;
static uint64_t seed = DEFAULT_SEED;

/**
 * struct task - a task that writes
 * @number: its number, from 0
 * @cgroup: its own cgroup, or the one that all tasks share
 * @random: its state of next_random()
 * @shown: the text that each knob shows, if no other task writes to it
 */
struct task {
	int number;
	char cgroup[NAME_SIZE];
	uint64_t random;
	char shown[NR_KNOBS][SHOWN_SIZE];
};

/* The results of a task's writes, in memory that the tasks share. */
struct count {
	long taken, refused, gone, created;
};

static struct count *counts;

/* The sysctls as they were; the knobs of cgroups have no place here. */
static char sysctls[NR_KNOBS][SHOWN_SIZE];

static void passing_name(char *path, const char *parent, int number)
{
	snprintf(path, PATH_SIZE, "%s/passing%d", parent, number);
}

/* Creates and removes cgroups until the task is killed. */
static void come_and_go(const char *parent, struct count *count)
{
	uint64_t random = seed;
	char path[PATH_SIZE];

	for (;;) {
		passing_name(path, parent, next_random(&random) % NR_PASSING);
		if (!mkdir(path, 0755))
			count->created++;
		else
			rmdir(path);
	}
}

static void remove_passing(const char *parent)
{
	char path[PATH_SIZE];
	int i;

	for (i = 0; i < NR_PASSING; i++) {
		passing_name(path, parent, i);
		rmdir(path);
	}
}

/* A number that one knob of a pair takes unsets the other knob. */
static void expect(struct task *task, int knob, const char *shown)
{
	int pair = knobs[knob].pair;

	sprintf(task->shown[knob], "%s", shown);
	if (pair >= 0 && strcmp(shown, "max\n"))
		sprintf(task->shown[pair], "max\n");
}

static bool shows_expected(struct task *task, int knob)
{
	char shown[SHOWN_SIZE];

	return !knob_read(task->cgroup, knob, shown) &&
	       !strcmp(shown, task->shown[knob]);
}

/* Writes, and checks that the value is taken or refused, as it should be. */
static bool write_as_expected(const char *cgroup, int knob, const char *text,
			      size_t len, bool takes, int *err)
{
	*err = knob_write(cgroup, knob, text, len);
	if (takes && *err)
		knob_complain(cgroup, knob, text, len, strerror(-*err));
	else if (!takes && !knob_may_refuse(knob, len, *err))
		knob_complain(cgroup, knob, text, len, *err ? strerror(-*err) :
							      "was taken");
	else
		return true;
	return false;
}

static int random_knob(struct task *task, bool sysctls)
{
	return next_random(&task->random) %
	       (sysctls ? NR_KNOBS : NR_CGROUP_KNOBS);
}

/* No other task writes: each knob's text is known. */
static bool write_alone(struct task *task, struct count *count)
{
	int err, knob = random_knob(task, !task->number);
	char text[VALUE_SIZE], shown[VALUE_SIZE];
	size_t len = random_value(&task->random, text);
	bool takes = len && knob_takes(knob, text, len, shown);

	if (!write_as_expected(task->cgroup, knob, text, len, takes || !len,
			       &err))
		return false;
	if (takes)
		expect(task, knob, shown);
	takes ? count->taken++ : count->refused++;
	if (shows_expected(task, knob) &&
	    (knobs[knob].pair < 0 || shows_expected(task, knobs[knob].pair)))
		return true;
	knob_complain(task->cgroup, knob, text, len,
		      "does not show the value that it took last");
	return false;
}

/* A cgroup that comes and goes (then true), or one that stays. */
static bool random_cgroup(struct task *task, char *path)
{
	bool passing = next_random(&task->random) % 2;

	if (passing)
		passing_name(path, task->cgroup,
			     next_random(&task->random) % NR_PASSING);
	else
		sprintf(path, "%s", task->cgroup);
	return passing;
}

static bool is_gone(int err)
{
	return err == -ENOENT || err == -ENODEV;
}

/* Other tasks write too: a knob may show any value, but has to take that. */
static bool write_among_others(struct task *task, struct count *count)
{
	char path[PATH_SIZE], text[VALUE_SIZE], shown[VALUE_SIZE];
	int err, knob = random_knob(task, true);
	size_t len = random_value(&task->random, text);
	bool takes = !len || knob_takes(knob, text, len, shown);
	bool passing = random_cgroup(task, path) && !knob_is_sysctl(knob);

	err = knob_write(path, knob, text, len);
	if (passing && is_gone(err)) {
		count->gone++;
		return true;
	}
	if (takes ? err : !knob_may_refuse(knob, len, err)) {
		knob_complain(path, knob, text, len, strerror(-err));
		return false;
	}
	takes ? count->taken++ : count->refused++;
	err = knob_read(path, knob, shown);
	if ((passing && is_gone(err)) || (!err && knob_can_show(knob, shown)))
		return true;
	knob_complain(path, knob, text, len, "shows an invalid value");
	return false;
}

static pid_t start_task(struct task *task, long writes,
			bool (*step)(struct task *task, struct count *count))
{
	pid_t pid = fork();
	long i;

	if (pid)
		return pid;
	task->random = seed + task->number;
	for (i = 0; i < NR_KNOBS; i++)
		if (knob_read(task->cgroup, i, task->shown[i]))
			_exit(EXIT_FAILURE);
	for (i = 0; i < writes; i++)
		if (!step(task, &counts[task->number]))
			_exit(EXIT_FAILURE);
	_exit(EXIT_SUCCESS);
}

/* Runs all tasks at once, each with a share of the writes. */
static bool run_tasks(struct task *tasks, const char *parent, long writes,
		      bool (*step)(struct task *task, struct count *count))
{
	long each = (writes + NR_TASKS - 1) / NR_TASKS;
	pid_t passing, pids[NR_TASKS];
	bool good;
	int i;

	fflush(stdout);
	memset(counts, 0, (NR_TASKS + 1) * sizeof(*counts));
	passing = fork();
	if (!passing)
		come_and_go(parent, &counts[NR_TASKS]);
	for (i = 0; i < NR_TASKS; i++)
		pids[i] = start_task(&tasks[i], each, step);
	good = wait_tasks(pids, NR_TASKS);
	stop_task(passing);
	return good;
}

static void report(long began)
{
	struct count sum = {};
	int i;

	for (i = 0; i < NR_TASKS; i++) {
		sum.taken += counts[i].taken;
		sum.refused += counts[i].refused;
		sum.gone += counts[i].gone;
	}
	ksft_print_msg("%ld values taken, %ld refused, %ld found no cgroup\n",
		       sum.taken, sum.refused, sum.gone);
	ksft_print_msg("%ld cgroups came and went, in %ld ms\n",
		       counts[NR_TASKS].created, now_ms() - began);
}

/* Runs all tasks on the cgroups in @tasks, which are below @parent or are it. */
static int run_and_report(struct task *tasks, const char *parent, long writes,
			  bool (*step)(struct task *task, struct count *count))
{
	long began = now_ms();
	bool good = run_tasks(tasks, parent, writes, step);

	report(began);
	remove_passing(parent);
	return passed(good);
}

static int test_cgroup_each(const char *root)
{
	char *parent __free(cgroup) = create_parent(root, "knobs_each");
	struct task tasks[NR_TASKS] = {};
	int i, ret = KSFT_FAIL;

	for (i = 0; parent && i < NR_TASKS; i++) {
		tasks[i].number = i;
		snprintf(tasks[i].cgroup, NAME_SIZE, "%s/task%d", parent, i);
		if (mkdir(tasks[i].cgroup, 0755))
			break;
	}
	if (i == NR_TASKS)
		ret = run_and_report(tasks, parent, nr_writes / 2, write_alone);
	for (i = 0; i < NR_TASKS; i++)
		rmdir(tasks[i].cgroup);
	return ret;
}

static int test_same_cgroups(const char *root)
{
	char *parent __free(cgroup) = create_parent(root, "knobs_same");
	struct task tasks[NR_TASKS] = {};
	int i;

	if (!parent)
		return KSFT_FAIL;
	for (i = 0; i < NR_TASKS; i++) {
		tasks[i].number = i;
		sprintf(tasks[i].cgroup, "%s", parent);
	}
	return run_and_report(tasks, parent, nr_writes - nr_writes / 2,
			      write_among_others);
}

static void setup(const char *root)
{
	int i;

	for (i = NR_CGROUP_KNOBS; i < NR_KNOBS; i++)
		if (knob_read(NULL, i, sysctls[i]))
			ksft_exit_skip("no %s\n", knobs[i].file);
	counts = share_memory((NR_TASKS + 1) * sizeof(*counts));
	knob_probe(root);
	ksft_print_msg("%ld writes, seed %llu\n", nr_writes,
		       (unsigned long long)seed);
	write_file(HURRY_FILE, "1");
}

/* Returns whether the sysctls have their old values again. */
static bool restore_sysctls(void)
{
	bool restored = true;
	int i;

	for (i = NR_CGROUP_KNOBS; i < NR_KNOBS; i++)
		if (knob_write(NULL, i, sysctls[i], strlen(sysctls[i])))
			restored = false;
	return restored;
}

static const struct memcg_test tests[] = {
	T(test_cgroup_each),
	T(test_same_cgroups),
};

int main(int argc, char **argv)
{
	struct setting hurry __free(setting) = save_setting(HURRY_FILE);
	const char *writes = argc > 1 ? argv[1] : getenv("KNOB_WRITES");
	int ret;

	if (writes)
		nr_writes = atol(writes);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	ret = memcg_test_main(tests, ARRAY_SIZE(tests), setup);
	if (restore_sysctls())
		return ret;
	ksft_print_msg("the sysctls are not as they were\n");
	return KSFT_FAIL;
}
