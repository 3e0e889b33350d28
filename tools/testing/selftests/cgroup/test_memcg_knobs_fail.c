// SPDX-License-Identifier: GPL-2.0
/*
 * Makes allocations fail while cgroups are created and the knobs of memory
 * cgroups are written: each mkdir() or write() fails as a whole or not at all,
 * and leaks nothing.
 *
 * For a kernel with CONFIG_FAILSLAB, CONFIG_FAIL_PAGE_ALLOC and
 * CONFIG_FAULT_INJECTION_DEBUG_FS, whose debugfs is mounted.
 */
#define _GNU_SOURCE

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_dirty_util.h"
#include "memcg_knobs.h"
#include "memcg_test_util.h"

#define DEBUGFS		"/sys/kernel/debug/"
#define KMEMLEAK	DEBUGFS "kmemleak"
/* kmemleak does not report objects that are younger than 5 s. */
#define LEAK_AGE_MS	6000
#define NR_TASKS	3
#define NR_STEPS	600
/* An upper bound of the allocations of a mkdir() */
#define NTH_MAX		5000
#define SEED		20261121

static const char *const kinds[] = { "failslab", "fail_page_alloc" };

/* Both for this task; kept open, so that their use allocates no memory. */
static int fail_fd, nth_fd;

/* An operation to try while allocations fail; fn() returns 0 or -errno. */
struct attempt {
	int (*fn)(const struct attempt *attempt);
	const char *cgroup;
	int knob;
	const char *text;
	size_t len;
};

static int attempt_mkdir(const struct attempt *attempt)
{
	return mkdir(attempt->cgroup, 0755) ? -errno : 0;
}

static int attempt_write(const struct attempt *attempt)
{
	return knob_write(attempt->cgroup, attempt->knob, attempt->text,
			  attempt->len);
}

static int set_attribute(const char *kind, const char *name, const char *value)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), DEBUGFS "%s/%s", kind, name);
	return write_file(path, value);
}

/* Makes @percent of all allocations fail, in tasks that ask for that. */
static int set_failures(const char *percent)
{
	int i, failed = 0;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		failed |= set_attribute(kinds[i], "probability", percent);
		failed |= set_attribute(kinds[i], "interval", "1");
		failed |= set_attribute(kinds[i], "times", "-1");
		failed |= set_attribute(kinds[i], "space", "0");
		failed |= set_attribute(kinds[i], "verbose", "0");
		failed |= set_attribute(kinds[i], "task-filter", "Y");
		failed |= set_attribute(kinds[i], "ignore-gfp-wait", "N");
	}
	return failed | set_attribute("fail_page_alloc", "min-order", "0");
}

/* A task opens its own files, before any allocation is to fail. */
static int open_failures(void)
{
	fail_fd = open("/proc/thread-self/make-it-fail", O_WRONLY);
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	return fail_fd < 0 || nth_fd < 0;
}

static void may_fail(const char *yes)
{
	if (pwrite(fail_fd, yes, 1, 0) != 1)
		ksft_exit_fail_msg("cannot write make-it-fail\n");
}

static int attempt_at_random(const struct attempt *attempt)
{
	int err;

	may_fail("1");
	err = attempt->fn(attempt);
	may_fail("0");
	return err;
}

/* Allocation number @nth fails. *@used tells whether there were so many. */
static int attempt_nth(const struct attempt *attempt, int nth, bool *used)
{
	char text[32];
	int len, err;

	len = sprintf(text, "%d", nth);
	if (pwrite(nth_fd, text, len, 0) != len)
		ksft_exit_fail_msg("cannot write fail-nth\n");
	err = attempt->fn(attempt);
	memset(text, 0, sizeof(text));
	if (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0 ||
	    pwrite(nth_fd, "0", 1, 0) != 1)
		ksft_exit_fail_msg("cannot read fail-nth\n");
	*used = !atoi(text);
	return err;
}

static bool is_default(int knob, const char *shown)
{
	if (!strcmp(knobs[knob].file, "memory.dirty_min"))
		return !strcmp(shown, "0\n");
	return !strcmp(shown, "max\n") || !strcmp(shown, "default\n");
}

/* A new cgroup has its files, with their defaults. */
static bool is_whole(const char *cgroup)
{
	char shown[SHOWN_SIZE];
	int i;

	for (i = 0; i < NR_CGROUP_KNOBS; i++) {
		if (!knob_read(cgroup, i, shown) && is_default(i, shown))
			continue;
		ksft_print_msg("%s of a new cgroup shows '%s'\n", knobs[i].file,
			       shown);
		return false;
	}
	return true;
}

/* mkdir() has to leave behind a whole cgroup, or nothing. */
static bool mkdir_is_right(const char *cgroup, int err)
{
	bool whole = !err && is_whole(cgroup);

	/* As long as it is there, cg_destroy() of the parent does not return. */
	if (!err)
		return !rmdir(cgroup) && whole;
	if (err == -ENOMEM && access(cgroup, F_OK) && errno == ENOENT)
		return true;
	ksft_print_msg("mkdir: %s\n", strerror(-err));
	return false;
}

/* Each allocation of mkdir() fails in turn, until there are no more. */
static int test_nth_mkdir(const char *root)
{
	char *parent __free(cgroup) = create_parent(root, "fail_nth");
	char *child __free(memory) = parent ? cg_name(parent, "child") : NULL;
	struct attempt attempt = { attempt_mkdir, child };
	bool used = true;
	int nth, err;

	if (!child || cg_write(parent, LIMIT_FILE, "16M"))
		return KSFT_FAIL;
	for (nth = 1; used && nth < NTH_MAX; nth++) {
		err = attempt_nth(&attempt, nth, &used);
		if (!mkdir_is_right(child, err))
			return KSFT_FAIL;
	}
	ksft_print_msg("%d allocations failed, one at a time\n", nth - 2);
	return passed(!used && !err && nth > 10);
}

/* After an error, the knob shows the same value as before. */
static bool write_is_right(const struct attempt *attempt, int err,
			   const char *before, const char *after)
{
	const char *expected = err ? before : after;
	char shown[SHOWN_SIZE] = "";

	if ((!err || err == -ENOMEM) &&
	    !knob_read(attempt->cgroup, attempt->knob, shown) &&
	    !strcmp(shown, expected))
		return true;
	knob_complain(attempt->cgroup, attempt->knob, attempt->text,
		      attempt->len, err ? strerror(-err) : shown);
	return false;
}

/* Writes @text, which the knob shows as @after, and then the default again. */
static bool write_nth(const char *cgroup, int knob, const char *text,
		      const char *after)
{
	struct attempt attempt = { attempt_write, cgroup, knob, text,
				   strlen(text) };
	char before[SHOWN_SIZE];
	bool used = true;
	int nth, err;

	if (knob_read(cgroup, knob, before))
		return false;
	for (nth = 1; used && nth < NTH_MAX; nth++) {
		err = attempt_nth(&attempt, nth, &used);
		if (!write_is_right(&attempt, err, before, after))
			return false;
		if (knob_write(cgroup, knob, before, strlen(before)))
			return false;
	}
	ksft_print_msg("%s: %d allocations failed\n", knobs[knob].file,
		       nth - 2);
	return !used && !err && nth > 2;
}

static int test_nth_write(const char *root)
{
	static const char *const texts[] = { "16M", "20", "8M", "10", "4M",
					     "100", "50", "100", "50" };
	char *cgroup __free(cgroup) = create_cgroup(root, "fail_nth");
	char after[SHOWN_SIZE];
	int i;

	static_assert(ARRAY_SIZE(texts) == NR_KNOBS, "a text for each knob");
	if (!cgroup)
		return KSFT_FAIL;
	for (i = 0; i < NR_KNOBS; i++)
		if (!knob_takes(i, texts[i], strlen(texts[i]), after) ||
		    !write_nth(cgroup, i, texts[i], after))
			return KSFT_FAIL;
	return KSFT_PASS;
}

/* Writes any value to a knob of @cgroup, to which no other task writes. */
static bool step_write(const char *cgroup, uint64_t *random, long *failed)
{
	char text[VALUE_SIZE], before[SHOWN_SIZE], after[VALUE_SIZE];
	size_t len = random_value(random, text);
	int err, knob = next_random(random) % NR_CGROUP_KNOBS;
	struct attempt attempt = { attempt_write, cgroup, knob, text, len };

	if (knob_read(cgroup, knob, before))
		return false;
	if (!len || !knob_takes(knob, text, len, after))
		sprintf(after, "%s", before);
	err = attempt_at_random(&attempt);
	*failed += err == -ENOMEM;
	/* A refusal is right: test_memcg_knobs checks which ones are due. */
	if (knob_may_refuse(knob, len, err) && !strcmp(before, after))
		err = 0;
	return write_is_right(&attempt, err, before, after);
}

static bool step_mkdir(const char *cgroup, long *failed)
{
	char child[PATH_MAX];
	struct attempt attempt = { attempt_mkdir, child };
	int err;

	snprintf(child, sizeof(child), "%s/child", cgroup);
	err = attempt_at_random(&attempt);
	*failed += err == -ENOMEM;
	return mkdir_is_right(child, err);
}

static int run_task(const char *cgroup, int number)
{
	uint64_t random = SEED + number;
	long i, mkdirs = 0, writes = 0;

	if (open_failures())
		return EXIT_FAILURE;
	for (i = 0; i < NR_STEPS; i++)
		if (!(i % 8 ? step_write(cgroup, &random, &writes) :
			      step_mkdir(cgroup, &mkdirs)))
			return EXIT_FAILURE;
	ksft_print_msg("%ld writes and %ld mkdirs of %d ran out of memory\n",
		       writes, mkdirs, NR_STEPS);
	fflush(stdout);
	return writes && mkdirs ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* One allocation in ten fails, in several tasks, each with its cgroup. */
static int test_random(const char *root)
{
	char *cgroups[NR_TASKS] = {}, name[32];
	pid_t pids[NR_TASKS];
	bool good;
	int i;

	fflush(stdout);
	if (set_failures("10"))
		return KSFT_FAIL;
	for (i = 0; i < NR_TASKS; i++) {
		sprintf(name, "fail_random%d", i);
		cgroups[i] = create_parent(root, name);
		if (!cgroups[i])
			ksft_exit_fail_msg("cannot create %s\n", name);
		pids[i] = fork();
		if (!pids[i])
			_exit(run_task(cgroups[i], i));
	}
	good = wait_tasks(pids, NR_TASKS);
	for (i = 0; i < NR_TASKS; i++)
		good = !rmdir(cgroups[i]) && good;
	return passed(!set_failures("0") && good);
}

/* All cgroups are freed by now, or will be soon. */
static int test_no_leak(const char *root)
{
	char found[4096];
	ssize_t len;

	if (access(KMEMLEAK, F_OK))
		return KSFT_SKIP;
	sleep_ms(LEAK_AGE_MS);
	if (write_file(KMEMLEAK, "scan"))
		return KSFT_FAIL;
	sleep_ms(LEAK_AGE_MS);
	if (write_file(KMEMLEAK, "scan"))
		return KSFT_FAIL;
	len = read_text(KMEMLEAK, found, sizeof(found));
	if (len > 0)
		ksft_print_msg("%s\n", found);
	return passed(!len);
}

static const struct memcg_test tests[] = {
	T(test_nth_mkdir),
	T(test_nth_write),
	T(test_random),
	T(test_no_leak),
};

static void setup(const char *root)
{
	if (set_failures("0") || open_failures())
		ksft_exit_skip("the kernel has no failslab or fail_page_alloc\n");
	if (access(knobs[NR_KNOBS - 1].file, F_OK))
		ksft_exit_skip("no %s\n", knobs[NR_KNOBS - 1].file);
	knob_probe(root);
	write_file(HURRY_FILE, "1");
	/* Leaks from before this test are not reported. */
	write_file(KMEMLEAK, "scan");
	write_file(KMEMLEAK, "clear");
}

int main(void)
{
	struct setting hurry __free(setting) = save_setting(HURRY_FILE);

	return memcg_test_main(tests, ARRAY_SIZE(tests), setup);
}
