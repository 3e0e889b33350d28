/* SPDX-License-Identifier: GPL-2.0 */
/* Common parts of the tests of memory cgroups. */
#ifndef MEMCG_TEST_UTIL_H
#define MEMCG_TEST_UTIL_H

#include <stdbool.h>
#include <sys/types.h>

#include "../kselftest.h"

#define LIMIT_FILE		"memory.dirty_limit_in_bytes"
#define BACKGROUND_FILE		"memory.dirty_background_limit_in_bytes"
#define RATIO_FILE		"memory.dirty_ratio"
#define BACKGROUND_RATIO_FILE	"memory.dirty_background_ratio"
#define STAT_FILE		"memory.dirty_stat"
#define PEAK_FILE		"memory.dirty_peak"
#define MIN_FILE		"memory.dirty_min"
#define CHUNK		65536L

long now_ms(void);
void sleep_ms(int ms);
long error_bytes(int pages_per_cpu);
long stat_error(void);
long cg_dirty(const char *cgroup);
long watch_peak(const char *cgroup, pid_t pid, int *status);
int wait_until_below(const char *cgroup, long bytes, int seconds);
int write_zeroes(const char *path, int flags, long bytes);
pid_t start_in_cgroup(const char *cgroup,
		      int (*fn)(const char *cgroup, void *arg), void *arg);
bool stays_within_10m(const char *cgroup, const char *watched, const char *path);
char *create_cgroup(const char *parent, const char *name);
void destroy_cgroup(char *cgroup);
void find_root(char *root, size_t len);
void slow_down(const char *cgroup, unsigned int rate);
bool can_write_back(void);
bool case_wanted(const char *name);

bool ext4_has_large_folios(void);

#endif
