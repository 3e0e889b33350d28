/* SPDX-License-Identifier: GPL-2.0 */
/* Common parts of the tests of dirty limits. */
#ifndef MEMCG_DIRTY_UTIL_H
#define MEMCG_DIRTY_UTIL_H

#include <stdbool.h>
#include <sys/types.h>

#define LIMIT_FILE		"memory.dirty_limit_in_bytes"
#define BACKGROUND_FILE		"memory.dirty_background_limit_in_bytes"
#define RATIO_FILE		"memory.dirty_ratio"
#define BACKGROUND_RATIO_FILE	"memory.dirty_background_ratio"
#define STAT_FILE		"memory.dirty_stat"
#define PEAK_FILE		"memory.dirty_peak"
#define MIN_FILE		"memory.dirty_min"

long error_bytes(int pages_per_cpu);
long stat_error(void);
long cg_dirty(const char *cgroup);
long dirty_stat(const char *cgroup, const char *key);
long dirty_counted(const char *cgroup);
long watch_peak(const char *cgroup, pid_t pid, int *status);
bool falls_below(const char *cgroup, long bytes, int seconds);
pid_t start_in_cgroup(const char *cgroup,
		      int (*fn)(const char *cgroup, void *arg), void *arg);
bool stays_within_10m(const char *cgroup, const char *watched, const char *path);

#endif
