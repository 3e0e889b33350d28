/* SPDX-License-Identifier: GPL-2.0 */
/* Common parts of the tests of memory cgroups. */
#ifndef MEMCG_TEST_UTIL_H
#define MEMCG_TEST_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../kselftest.h"

#define CHUNK		65536L
#define LRU_GEN_FILE	"/sys/kernel/mm/lru_gen/enabled"
#define VM		"/proc/sys/vm"
#define PERIOD_FILE	VM "/dirty_writeback_centisecs"
#define CPU1_FILE	"/sys/devices/system/cpu/cpu1/online"

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
void free_memory(void *memory);
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
long idle_us(void);
void sleep_ms(int ms);
void sort_long(long *values, int nr);
void *share_memory(size_t size);
void *map_memory(long bytes);
void touch_memory(char *memory, long bytes);
int run_on(int cpu);
bool wait_for(const int *count, int least);
bool stop_task(pid_t pid);
bool wait_task(pid_t pid);
bool wait_tasks(const pid_t *pids, int nr);

/**
 * struct writes - the work of a writer
 * @file: name of the file
 * @bytes: how much to write, 0 for no end
 * @wrap: after so many bytes, begin anew at the start of the file
 * @keep: overwrite an existing file instead of truncating it
 * @pause_ms: pause between one write() and the next
 * @slowest_ms: fail if a single write() takes longer; 0 for no bound
 * @took: if set, gets the time of each write(), in ms
 */
struct writes {
	const char *file;
	long bytes;
	long wrap;
	bool keep;
	int pause_ms;
	int slowest_ms;
	void (*took)(long ms);
};

int do_writes(const char *cgroup, void *arg);
int write_zeroes(const char *path, int flags, long bytes);
char *create_cgroup(const char *parent, const char *name);
char *create_parent(const char *root, const char *name);
char *create_io_parent(const char *root, const char *name);
char *create_limited(const char *parent, const char *name, char *max);
void destroy_cgroup(char *cgroup);
void find_root(char *root, size_t len);
bool cg_has(const char *cgroup, const char *file);
bool cg_shows(const char *cgroup, const char *file, const char *text);
bool cg_takes(const char *cgroup, const char *file, const char *text,
	      const char *shown);
bool cg_refuses(const char *cgroup, const char *file, const char *text,
		const char *shown);
long vmstat_count(const char *key);
long oom_kills(const char *cgroup);
int limit_disk(const char *cgroup, long bytes_per_second);
void slow_down(const char *cgroup, unsigned int rate);
bool lru_gen_is_enabled(void);
int on_other_lru(const char *root, int (*fn)(const char *root));

static inline int passed(bool good)
{
	return good ? KSFT_PASS : KSFT_FAIL;
}

#endif
