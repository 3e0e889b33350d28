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
bool is_clean(const char *cgroup);
bool floor_is(const char *cgroup, long bytes);
bool floor_becomes(const char *cgroup, long bytes, int seconds);
bool wait_paused(const char *cgroup);
long watch_peak(const char *cgroup, pid_t pid, int *status);
bool falls_below(const char *cgroup, long bytes, int seconds);
pid_t start_in_cgroup(const char *cgroup,
		      int (*fn)(const char *cgroup, void *arg), void *arg);

#define NR_LEAVES	16

/**
 * struct leaves - endless writers, each in a cgroup of its own
 * @nr: number of writers
 * @cgroups: their cgroups
 * @pids: the writers, or 0 where one is stopped
 */
struct leaves {
	int nr;
	char *cgroups[NR_LEAVES];
	pid_t pids[NR_LEAVES];
};

bool start_leaves(struct leaves *leaves, const char *parent, long wrap);
bool stop_leaves(struct leaves *leaves);
void free_leaves(struct leaves *leaves);

bool stays_within_10m(const char *cgroup, const char *watched, const char *path);
bool exceeds_10m_without_limit(const char *root, const char *path);

#endif
