// SPDX-License-Identifier: GPL-2.0
/*
 * Flush thresholds of memory cgroups
 *
 * The statistics of a memory cgroup are per-CPU counters. A flush adds them up
 * along the tree. It is expensive and takes a global lock, so readers skip it
 * while few updates are pending. Upstream's threshold is MEMCG_CHARGE_BATCH
 * updates per online CPU: 512 KiB on 2 CPUs and 32 MiB on 128, for a cgroup of
 * 1 MiB as well as for one of 100 GiB. This file gives each cgroup a threshold
 * of its own, and "auto" derives it from the size of the cgroup.
 *
 * The bound of "auto"
 *
 *	No update changes an entry of memory.stat by more pages than it counts.
 *	So if a reader skips the flush while P updates are pending, each entry
 *	in pages is off by P at most. Let S be the size of the cgroup as of the
 *	last flush. Its true size is S - P at least. With
 *
 *		P <= max((S - P) / MEMCG_FLUSH_AUTO_SHARE, MEMCG_FLUSH_AUTO_MIN)
 *
 *	the error is 1 % of the cgroup's memory at most, or 16 pages, whichever
 *	is more, on any number of CPUs: 16 of 256 pages, 253 of 25600. Updates
 *	that run while the reader adds up the pending ones may or may not be
 *	included. If P is larger, the error may still be small, and the reader
 *	may compute it: see memcg_flush_auto_needed().
 *
 * Yosry Ahmed posted thresholds per memory cgroup in 2023. A reviewer asked how
 * users should know the right number. "auto" needs no number.
 */

#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/memcontrol.h>
#include <linux/memcg_flush_threshold.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/seqlock.h>
#include <linux/string.h>
#include <linux/sysctl.h>
#include <linux/vmstat.h>

/* "auto": one part in SHARE of the cgroup's memory, but MIN pages at least. */
#define MEMCG_FLUSH_AUTO_SHARE	100UL
#define MEMCG_FLUSH_AUTO_MIN	16UL

/* Thresholds that are not numbers. The sysctl takes the first two as well. */
enum memcg_flush_special {
	MEMCG_FLUSH_BASE = -1,		/* upstream's rule */
	MEMCG_FLUSH_AUTO = -2,
	MEMCG_FLUSH_DEFAULT = -3,	/* the parent's threshold */
};

/* Readers never flush. */
#define MEMCG_FLUSH_MAX		LONG_MAX

/*
 * From the first threshold since boot on. Users to whom a cgroup is delegated
 * could otherwise have code patched and everything flushed with each write.
 */
DEFINE_STATIC_KEY_FALSE(memcg_flush_threshold_key);

/* There may be updates that were not counted. */
static bool memcg_flush_uncounted;

static int sysctl_memcg_stat_flush_threshold = MEMCG_FLUSH_BASE;

/*
 * Counting
 *
 * An update of a statistic counts the pages that it changes, in the cgroup and
 * in all its ancestors, in the stats_updates of its own CPU. When stats_updates
 * reaches MEMCG_CHARGE_BATCH, upstream moves it to a count that all CPUs share,
 * unless that count is high enough for a flush already. A flush resets the
 * shared count once per CPU, and loses the updates that other CPUs have added
 * meanwhile. For upstream's threshold, these two losses do not matter. For a
 * smaller or a larger one, they do.
 *
 * So a CPU that moves stats_updates also adds it to ->folded, a sum that is
 * never reset. A flush of the CPU's share stores in ->flushed how many updates
 * it includes, less those that it clears from stats_updates. The pending
 * updates of a CPU are
 *
 *	->folded + stats_updates - ->flushed
 *
 * which includes those that upstream leaves in stats_updates. The reader adds
 * this up over all CPUs that have been online since boot. An updater needs one
 * more addition per MEMCG_CHARGE_BATCH updates.
 *
 *	an update on a CPU		a flush of that CPU's share
 *
 *	its statistic += 10		begun = folded + stats_updates
 *	its stats_updates += 10		(full barrier)
 *					adds up the statistics
 *					flushed = begun, less stats_updates,
 *					which it clears
 *
 * An update that a flush misses has not been counted in "begun", so it is pending
 * after the flush. On CPUs that make stores visible out of order, an update can be
 * counted a moment before its statistic changes: the update path has no barrier
 * for that.
 *
 * If an update and a flush race while stats_updates is folded or cleared, the
 * number of pending updates is too high by less than a batch until that CPU's
 * share of the cgroup is flushed again, which takes another update there. Then
 * a reader may flush in vain, but it does not miss an update.
 *
 * Some versions of upstream add to stats_updates with interrupts enabled where
 * rmap counts mapped pages. An interrupt that counts for the same cgroup during
 * the addition loses up to a batch of updates there. Such an interrupt ends
 * writeback. It is rare, and the periodic flush corrects the count. Other
 * versions protect the addition without disabling interrupts: an interrupt
 * during folding folds the same updates again, and too many are pending until
 * the next flush. In an NMI, some versions change statistics of kernel memory
 * without counting updates.
 */

static void memcg_flush_begin_cpu(struct memcg_flush_percpu *percpu,
				  const unsigned long *updates)
{
	unsigned long folded = local_read(&percpu->folded);
	unsigned long unfolded;

	/* Pairs with both barriers of the fold: none is in both counts ... */
	smp_rmb();
	unfolded = READ_ONCE(*updates);
	/* ... unless it is being folded at this moment. */
	percpu->begun = folded;
	if (unfolded < MEMCG_CHARGE_BATCH)
		percpu->begun += unfolded;
	/* The caller reads the statistics after the counts. */
	smp_mb();
}

/*
 * Flushing a subtree
 *
 * A flush visits one CPU after the other, and on each CPU the children before
 * their parent. The update of a child that has been flushed already is counted
 * in the parent, but its statistic is still in the child:
 *
 *	flush of a CPU's share			update of the child on that CPU
 *
 *	parent and child: memcg_flush_begin_cpu()
 *	child's statistics go to the parent
 *						child's statistic += 10
 *						child's updates += 10
 *						parent's updates += 10
 *	parent's statistics are added up
 *
 * So the first descendant that is flushed reads the counts of all its ancestors
 * too, and the 10 pages are pending in both. The cgroup that the flush was
 * called for comes last. It clears ->has_begun in the cgroups above it, which
 * are not flushed.
 *
 * The bound does not cover one case. cgroup core lists the cgroups of a CPU
 * before the first memcg_flush_begin(). A descendant that is not on that list
 * may change before its ancestor's counts are read: then the ancestor's flush
 * includes the count, but not the statistic, until the descendant's next flush,
 * two seconds later at most. Nor does it cover an update whose CPU still finds the
 * cgroup on the list while a flush takes it off: cgroup core lists it again with
 * the next update on that CPU.
 */

/**
 * memcg_flush_begin - record the updates that a flush is certain to include
 * @memcg: the memory cgroup
 * @cpu: the CPU
 * @last: this cgroup is the last one of the flush on this CPU
 *
 * Does the same for the ancestors, which are flushed later: see above.
 *
 * Context: the rstat lock is held, before the statistics are read.
 */
void memcg_flush_begin(struct mem_cgroup *memcg, int cpu, bool last)
{
	struct memcg_flush_percpu *percpu;

	raw_write_seqcount_begin(&memcg->flush.flushing);
	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		percpu = per_cpu_ptr(memcg->flush.percpu, cpu);
		/* Then all its ancestors have, too. */
		if (percpu->has_begun)
			return;
		memcg_flush_begin_cpu(percpu, per_cpu_ptr(memcg->flush.updates, cpu));
		percpu->has_begun = true;
		if (last)
			return;
	}
}

static void memcg_flush_end_cpu(struct memcg_flush_percpu *percpu,
				unsigned long *updates)
{
	unsigned long flushed = percpu->begun - READ_ONCE(*updates);

	/* Before stats_updates is cleared: readers must not count too few. */
	smp_store_release(&percpu->flushed, flushed);
	flushed = percpu->begun - xchg(updates, 0);
	WRITE_ONCE(percpu->flushed, flushed);
}

/* @memcg and its ancestors are above the flushed subtree. */
static void memcg_flush_take_back(struct mem_cgroup *memcg, int cpu)
{
	struct memcg_flush_percpu *percpu;

	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		percpu = per_cpu_ptr(memcg->flush.percpu, cpu);
		if (!percpu->has_begun)
			return;
		percpu->has_begun = false;
	}
}

/**
 * memcg_flush_end - publish the flush of a CPU's share
 * @memcg: the memory cgroup
 * @cpu: the CPU
 * @last: this cgroup is the last one of the flush on this CPU
 * @updates: the CPU's stats_updates, which is cleared, as upstream does
 *
 * Context: the rstat lock is held, after the statistics have been added up.
 */
void memcg_flush_end(struct mem_cgroup *memcg, int cpu, bool last,
		     unsigned long *updates)
{
	struct memcg_flush_percpu *percpu = per_cpu_ptr(memcg->flush.percpu, cpu);

	memcg_flush_end_cpu(percpu, updates);
	percpu->has_begun = false;
	if (last)
		memcg_flush_take_back(parent_mem_cgroup(memcg), cpu);
	raw_write_seqcount_end(&memcg->flush.flushing);
}

static unsigned long memcg_flush_pending_cpu(struct memcg_flush_percpu *percpu,
					     const unsigned long *updates)
{
	unsigned long pending;

	/* In reverse order of memcg_flush_fold() and memcg_flush_end(). */
	pending = smp_load_acquire(updates);
	/* If the reader skips the flush, its statistics are as new as this. */
	pending -= smp_load_acquire(&percpu->flushed);
	return pending + local_read(&percpu->folded);
}

/* The updates, in pages, that a reader of @memcg's statistics would miss. */
static unsigned long memcg_flush_pending(struct mem_cgroup *memcg)
{
	struct memcg_flush_percpu *percpu;
	unsigned long pending = 0;
	unsigned long *updates;
	int cpu;

	for_each_cpu(cpu, memcg_flush_cpus()) {
		percpu = per_cpu_ptr(memcg->flush.percpu, cpu);
		updates = per_cpu_ptr(memcg->flush.updates, cpu);
		pending += memcg_flush_pending_cpu(percpu, updates);
	}
	return pending;
}

/* Deciding */

/**
 * memcg_flush_auto - derive a threshold from a cgroup's size
 * @size: the size of the cgroup as of the last flush, in pages
 * @pending: the updates since then, in pages
 *
 * Return: the updates, in pages, that may be pending without a flush.
 */
static unsigned long memcg_flush_auto(unsigned long size, unsigned long pending)
{
	unsigned long certain = size - min(size, pending);

	return max(certain / MEMCG_FLUSH_AUTO_SHARE, MEMCG_FLUSH_AUTO_MIN);
}

/*
 * Not the charge: it includes the stocks of the CPUs, which on many CPUs are
 * larger than a small cgroup's memory.
 */
static unsigned long
memcg_flush_size(struct mem_cgroup *memcg,
		 unsigned long (*state)(struct mem_cgroup *memcg, int item))
{
	return state(memcg, NR_ANON_MAPPED) + state(memcg, NR_FILE_PAGES) +
	       state(memcg, MEMCG_KMEM);
}

/* @memcg's own threshold, or that of the nearest ancestor that has one. */
static long memcg_flush_threshold(struct mem_cgroup *memcg)
{
	long threshold;

	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		threshold = READ_ONCE(memcg->flush.threshold);
		if (threshold != MEMCG_FLUSH_DEFAULT)
			return threshold;
	}
	return READ_ONCE(sysctl_memcg_stat_flush_threshold);
}

/* The value of an item of @memcg's statistics after a flush, in pages. */
static unsigned long memcg_flush_state(struct mem_cgroup *memcg, int item)
{
	long pages = div_s64(memcg_unflushed(memcg, item), PAGE_SIZE);

	return max((long)memcg_page_state(memcg, item) + pages, 0L);
}

/* Is the error of any item larger than "auto" allows? */
static bool memcg_flush_auto_exceeded(struct mem_cgroup *memcg)
{
	unsigned long size = memcg_flush_size(memcg, memcg_flush_state);
	s64 limit = (s64)memcg_flush_auto(size, 0) * PAGE_SIZE;
	int item;

	for (item = 0; item < MEMCG_NR_STAT; item++)
		if (abs(memcg_unflushed(memcg, item)) > limit)
			return true;
	return false;
}

/*
 * Many updates may be pending and cancel out, since memory comes and goes, and
 * many are events. In a cgroup without descendants, the error of an entry is
 * the sum of the unflushed changes on each CPU (memcg_unflushed()). The reader
 * computes it entry by entry, and applies the rule of "auto" to it. In a cgroup
 * with descendants, a flush may have taken a change from a child and not yet
 * added it to the parent. To check a whole subtree, the reader would need the
 * lock that it is to avoid. Nor does it check while a flush is running.
 */
static bool memcg_flush_auto_needed(struct mem_cgroup *memcg)
{
	struct cgroup *cgroup = memcg->css.cgroup;
	unsigned int seq = raw_read_seqcount(&memcg->flush.flushing);
	bool flushing = seq & 1;
	bool needed;

	/* nr_descendants first: a removed cgroup moves on to the dying ones. */
	needed = flushing || READ_ONCE(cgroup->nr_descendants) ||
		 memcg_flush_auto_exceeded(memcg) ||
		 READ_ONCE(cgroup->nr_dying_descendants);
	return read_seqcount_retry(&memcg->flush.flushing, seq) || needed;
}

/* See memcg_flush_needed(). */
bool __memcg_flush_needed(struct mem_cgroup *memcg, bool base_rule)
{
	long threshold = memcg_flush_threshold(memcg);
	unsigned long pending;

	if (READ_ONCE(memcg_flush_uncounted))
		return true;
	if (threshold == MEMCG_FLUSH_BASE)
		return base_rule;
	if (threshold == MEMCG_FLUSH_MAX)
		return false;
	if (!threshold)
		return true;
	pending = memcg_flush_pending(memcg);
	if (threshold != MEMCG_FLUSH_AUTO)
		return pending > threshold;
	threshold = memcg_flush_auto(memcg_flush_size(memcg, memcg_page_state),
				     pending);
	return pending > threshold && memcg_flush_auto_needed(memcg);
}

/**
 * memcg_flush_note - count a flush, or a reader that skips it
 * @flush: whether the statistics are flushed
 */
void memcg_flush_note(bool flush)
{
	count_vm_event(flush ? MEMCG_STAT_FLUSH : MEMCG_STAT_FLUSH_SKIP);
}

/* Settings */

/*
 * From the first threshold on, all updates are counted.
 *
 * Some versions of upstream stop counting at the first cgroup on the way up
 * that is due for a flush by upstream's rule, as the rule needs no higher
 * count. Once there was a threshold, memcg_flush_counting() keeps them
 * counting. Therefore, when the first threshold is set, the number of pending
 * updates is not known: everything is flushed, and until that is done, all
 * readers flush (memcg_flush_uncounted).
 */
static void memcg_flush_use(void)
{
	static DEFINE_MUTEX(mutex);

	mutex_lock(&mutex);
	if (!static_key_enabled(&memcg_flush_threshold_key)) {
		WRITE_ONCE(memcg_flush_uncounted, true);
		static_branch_enable(&memcg_flush_threshold_key);
		/* Updates run with preemption disabled. */
		synchronize_rcu();
		/* From here on, all are counted. */
		mem_cgroup_flush_stats(NULL);
		WRITE_ONCE(memcg_flush_uncounted, false);
	}
	mutex_unlock(&mutex);
}

/**
 * memcg_flush_init - prepare a memory cgroup for a flush threshold
 * @memcg: the cgroup, not yet visible
 * @percpu: its CPUs' shares
 * @updates: its CPUs' stats_updates
 */
void memcg_flush_init(struct mem_cgroup *memcg,
		      struct memcg_flush_percpu __percpu *percpu,
		      unsigned long __percpu *updates)
{
	memcg->flush.threshold = MEMCG_FLUSH_DEFAULT;
	memcg->flush.percpu = percpu;
	memcg->flush.updates = updates;
	seqcount_init(&memcg->flush.flushing);
}

/**
 * memcg_flush_reset - remove a memory cgroup's flush threshold
 * @memcg: a cgroup for which the memory controller has been disabled
 */
void memcg_flush_reset(struct mem_cgroup *memcg)
{
	WRITE_ONCE(memcg->flush.threshold, MEMCG_FLUSH_DEFAULT);
}

/* Returns 0, or -EINVAL with nothing changed. */
static int memcg_flush_parse(const char *text, long *threshold)
{
	unsigned long number;

	if (!strcmp(text, "default"))
		*threshold = MEMCG_FLUSH_DEFAULT;
	else if (!strcmp(text, "auto"))
		*threshold = MEMCG_FLUSH_AUTO;
	else if (!strcmp(text, "max"))
		*threshold = MEMCG_FLUSH_MAX;
	else if (!kstrtoul(text, 10, &number) && number < MEMCG_FLUSH_MAX)
		*threshold = number;
	else
		return -EINVAL;
	return 0;
}

static ssize_t memcg_flush_threshold_write(struct kernfs_open_file *of,
					   char *buf, size_t nbytes, loff_t off)
{
	struct mem_cgroup *memcg = mem_cgroup_from_css(of_css(of));
	long threshold;
	int err;

	err = memcg_flush_parse(strstrip(buf), &threshold);
	if (err)
		return err;
	if (threshold != MEMCG_FLUSH_DEFAULT)
		memcg_flush_use();
	WRITE_ONCE(memcg->flush.threshold, threshold);
	return nbytes;
}

static int memcg_flush_threshold_show(struct seq_file *m, void *v)
{
	struct mem_cgroup *memcg = mem_cgroup_from_seq(m);
	long threshold = READ_ONCE(memcg->flush.threshold);

	if (threshold == MEMCG_FLUSH_DEFAULT)
		seq_puts(m, "default\n");
	else if (threshold == MEMCG_FLUSH_AUTO)
		seq_puts(m, "auto\n");
	else if (threshold == MEMCG_FLUSH_MAX)
		seq_puts(m, "max\n");
	else
		seq_printf(m, "%ld\n", threshold);
	return 0;
}

/* The threshold in force, as a number. */
static int memcg_flush_effective_show(struct seq_file *m, void *v)
{
	struct mem_cgroup *memcg = mem_cgroup_from_seq(m);
	long threshold = memcg_flush_threshold(memcg);

	if (threshold == MEMCG_FLUSH_BASE)
		threshold = MEMCG_CHARGE_BATCH * num_online_cpus();
	else if (threshold == MEMCG_FLUSH_AUTO)
		threshold = memcg_flush_auto(memcg_flush_size(memcg,
							      memcg_page_state),
					     memcg_flush_pending(memcg));
	if (threshold == MEMCG_FLUSH_MAX)
		seq_puts(m, "max\n");
	else
		seq_printf(m, "%ld\n", threshold);
	return 0;
}

/* memory.stat_flush_threshold and memory.stat_flush_threshold.effective */
static struct cftype memcg_flush_files[] = {
	{
		.name = "stat_flush_threshold",
		.seq_show = memcg_flush_threshold_show,
		.write = memcg_flush_threshold_write,
	},
	{
		.name = "stat_flush_threshold.effective",
		.seq_show = memcg_flush_effective_show,
	},
	{ }	/* terminate */
};

/* cgroup core needs an array for each of the two hierarchies. */
static struct cftype memcg_flush_v1_files[ARRAY_SIZE(memcg_flush_files)];

static int memcg_flush_sysctl(const struct ctl_table *table, int write,
			      void *buffer, size_t *lenp, loff_t *ppos)
{
	int err = proc_dointvec_minmax(table, write, buffer, lenp, ppos);

	if (READ_ONCE(sysctl_memcg_stat_flush_threshold) != MEMCG_FLUSH_BASE)
		memcg_flush_use();
	return err;
}

static int memcg_flush_sysctl_min = MEMCG_FLUSH_AUTO;

/* vm.memcg_stat_flush_threshold */
static struct ctl_table memcg_flush_sysctls[] = {
	{
		.procname	= "memcg_stat_flush_threshold",
		.data		= &sysctl_memcg_stat_flush_threshold,
		.maxlen		= sizeof(sysctl_memcg_stat_flush_threshold),
		.mode		= 0644,
		.proc_handler	= memcg_flush_sysctl,
		.extra1		= &memcg_flush_sysctl_min,
	},
};

static int __init memcg_flush_threshold_init(void)
{
	if (mem_cgroup_disabled())
		return 0;
	register_sysctl_init("vm", memcg_flush_sysctls);
	if (IS_ENABLED(CONFIG_MEMCG_V1)) {
		memcpy(memcg_flush_v1_files, memcg_flush_files,
		       sizeof(memcg_flush_files));
		WARN_ON(cgroup_add_legacy_cftypes(&memory_cgrp_subsys,
						  memcg_flush_v1_files));
	}
	WARN_ON(cgroup_add_dfl_cftypes(&memory_cgrp_subsys, memcg_flush_files));
	return 0;
}
subsys_initcall(memcg_flush_threshold_init);

#ifdef CONFIG_MEMCG_FLUSH_THRESHOLD_KUNIT_TEST
#include "tests/memcg_flush_threshold_kunit.c"
#endif
