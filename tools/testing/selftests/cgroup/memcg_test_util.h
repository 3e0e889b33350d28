/* SPDX-License-Identifier: GPL-2.0 */
/* Common parts of the tests of memory cgroups. */
#ifndef MEMCG_TEST_UTIL_H
#define MEMCG_TEST_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../kselftest.h"

#define CHUNK		65536L

/**
 * struct memcg_place - where a case can run
 * @enter: prepares the place, and returns whether the case can run there;
 *	otherwise it is skipped
 * @suffix: what follows the name of the case in its result
 */
struct memcg_place {
	bool (*enter)(void);
	const char *suffix;
};

/**
 * struct memcg_test - a case
 * @fn: runs it below the root cgroup, and returns a KSFT_ code
 * @name: its name in the result and in TEST_CASES
 * @place: where it can run; NULL if that is anywhere
 */
struct memcg_test {
	int (*fn)(const char *root);
	const char *name;
	const struct memcg_place *place;
};

/* A row of a table of cases: a function, and where it can run. */
#define T(x, ...) { x, #x, ##__VA_ARGS__ }

/* A file system with writeback to a disk, in the current directory. */
extern const struct memcg_place on_disk;

int memcg_test_main(const struct memcg_test *tests, int nr,
		    void (*setup)(const char *root));
int memcg_test_run(const char *root, const struct memcg_test *tests, int nr);

/*
 * When the block of a variable ends, also by return, free_NAME() gets a pointer
 * to it; variables that were declared later come first.
 */
#define __free(name)	__attribute__((cleanup(free_##name)))

void free_cgroup(char **cgroup);
void free_memory(char **memory);
void free_file(const char **path);
void free_fd(int *fd);
void free_task(pid_t *pid);

/**
 * struct setting - a file of the kernel's as it was, to be restored
 * @path: the file
 * @text: its content; empty if it cannot be read
 */
struct setting {
	const char *path;
	char text[64];
};

struct setting save_setting(const char *path);
void free_setting(struct setting *setting);
int write_file(const char *path, const char *text);

long now_ms(void);
void sleep_ms(int ms);
void *share_memory(size_t size);
bool stop_task(pid_t pid);
bool wait_tasks(const pid_t *pids, int nr);
int write_zeroes(const char *path, int flags, long bytes);
char *create_cgroup(const char *parent, const char *name);
char *create_parent(const char *root, const char *name);
char *create_io_parent(const char *root, const char *name);
void destroy_cgroup(char *cgroup);
void find_root(char *root, size_t len);
bool cg_has(const char *cgroup, const char *file);
bool cg_shows(const char *cgroup, const char *file, const char *text);
bool cg_takes(const char *cgroup, const char *file, const char *text,
	      const char *shown);
bool cg_refuses(const char *cgroup, const char *file, const char *text,
		const char *shown);
void slow_down(const char *cgroup, unsigned int rate);
bool ext4_has_large_folios(void);

static inline int passed(bool good)
{
	return good ? KSFT_PASS : KSFT_FAIL;
}

#endif
