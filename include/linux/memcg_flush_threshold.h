/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flush thresholds of memory cgroups: the interface for the memory controller
 *
 *	a statistic changes	memcg_rstat_updated()
 *					memcg_flush_fold()
 *	memory.stat is read	mem_cgroup_flush_stats()
 *					memcg_flush_needed()
 *					memcg_flush_note()
 *	a flush, for each	mem_cgroup_css_rstat_flush()
 *	cgroup and CPU			memcg_flush_begin()
 *					memcg_flush_end()
 *
 * An update changes the statistic first and counts after that; a flush reads the
 * counts first. So an update that a flush misses is pending after it.
 * Documentation/mm/memcg_flush_threshold.rst explains how it works.
 */
#ifndef _LINUX_MEMCG_FLUSH_THRESHOLD_H
#define _LINUX_MEMCG_FLUSH_THRESHOLD_H

#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/jump_label.h>
#include <linux/seqlock_types.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/local.h>

struct mem_cgroup;

#ifdef CONFIG_MEMCG_FLUSH_THRESHOLD

/**
 * struct memcg_flush_percpu - counts of the updates in a CPU's share
 * @folded: updates that the CPU has moved from its stats_updates; written by
 *	that CPU only
 * @flushed: updates that flushes have included, less those that they have
 *	cleared from stats_updates
 * @begun: the value of @folded + stats_updates that a flush in progress is
 *	certain to include
 * @has_begun: a flush of this cgroup or a descendant is in progress, and @begun
 *	is set
 *
 * Updates count pages. The sums wrap around; only their differences matter.
 */
struct memcg_flush_percpu {
	local_t folded;
	unsigned long flushed;
	unsigned long begun;
	bool has_begun;
};

/**
 * struct memcg_flush - the flush threshold of a memory cgroup
 * @threshold: the setting: a number of updates, or one of enum
 *	memcg_flush_special
 * @percpu: the CPUs' shares
 * @updates: the CPUs' stats_updates
 * @flushing: odd while a CPU's share is being flushed, under the rstat lock
 */
struct memcg_flush {
	long threshold;
	struct memcg_flush_percpu __percpu *percpu;
	unsigned long __percpu *updates;
	seqcount_t flushing;
};

DECLARE_STATIC_KEY_FALSE(memcg_flush_threshold_key);

void memcg_flush_init(struct mem_cgroup *memcg,
		      struct memcg_flush_percpu __percpu *percpu,
		      unsigned long __percpu *updates);
void memcg_flush_reset(struct mem_cgroup *memcg);

s64 memcg_unflushed(struct mem_cgroup *memcg, int item);
void memcg_flush_begin(struct mem_cgroup *memcg, int cpu, bool last);
void memcg_flush_end(struct mem_cgroup *memcg, int cpu, bool last,
		     unsigned long *updates);
bool __memcg_flush_needed(struct mem_cgroup *memcg, bool base_rule);
void memcg_flush_note(bool flush);

/**
 * memcg_flush_cpus - CPUs that may have changed statistics
 *
 * Return: those that have been online since boot. Many more may be possible.
 */
static inline const struct cpumask *memcg_flush_cpus(void)
{
	return IS_ENABLED(CONFIG_SMP) ? &cpus_booted_once_mask : cpu_possible_mask;
}

/**
 * memcg_flush_fold - count the updates that a CPU moves from its stats_updates
 * @percpu: the CPU's share
 * @nr_updates: the value of its stats_updates; the caller clears it next
 *
 * If an interrupt on that CPU folds them again before that, they are counted
 * twice until the next flush.
 *
 * Context: on that CPU, with preemption disabled.
 */
static inline void memcg_flush_fold(struct memcg_flush_percpu *percpu,
				    unsigned long nr_updates)
{
	/* A flush that reads the new sum reads no older stats_updates. */
	smp_wmb();
	local_add(nr_updates, &percpu->folded);
	/* Before stats_updates is cleared: readers may count both, not none. */
	smp_wmb();
}

/**
 * memcg_flush_counting - must every update be counted?
 *
 * Return: %true once there was a threshold: thresholds also need the updates
 * that upstream's rule leaves uncounted.
 */
static inline bool memcg_flush_counting(void)
{
	return static_branch_unlikely(&memcg_flush_threshold_key);
}

/**
 * memcg_flush_needed - must a reader flush first?
 * @memcg: the memory cgroup whose statistics it reads
 * @base_rule: upstream's decision, which applies without a threshold
 *
 * Return: %true if more updates are pending than the threshold of @memcg
 * allows.
 */
static inline bool memcg_flush_needed(struct mem_cgroup *memcg, bool base_rule)
{
	if (!memcg_flush_counting())
		return base_rule;
	return __memcg_flush_needed(memcg, base_rule);
}

#else /* CONFIG_MEMCG_FLUSH_THRESHOLD */

struct memcg_flush_percpu {
};

static inline void memcg_flush_init(struct mem_cgroup *memcg,
				    struct memcg_flush_percpu __percpu *percpu,
				    unsigned long __percpu *updates)
{
}

static inline void memcg_flush_reset(struct mem_cgroup *memcg)
{
}

static inline void memcg_flush_begin(struct mem_cgroup *memcg, int cpu, bool last)
{
}

static inline void memcg_flush_end(struct mem_cgroup *memcg, int cpu, bool last,
				   unsigned long *updates)
{
	WRITE_ONCE(*updates, 0);
}

static inline void memcg_flush_fold(struct memcg_flush_percpu *percpu,
				    unsigned long nr_updates)
{
}

static inline bool memcg_flush_counting(void)
{
	return false;
}

static inline bool memcg_flush_needed(struct mem_cgroup *memcg, bool base_rule)
{
	return base_rule;
}

static inline void memcg_flush_note(bool flush)
{
}

#endif /* CONFIG_MEMCG_FLUSH_THRESHOLD */

#endif /* _LINUX_MEMCG_FLUSH_THRESHOLD_H */
