// SPDX-License-Identifier: GPL-2.0
/*
 * When readers flush the statistics of memory cgroups
 *
 * The statistics of a memory cgroup are collected per CPU, and added up along
 * the tree by a flush. A flush is not cheap and takes a lock that all share, so
 * readers do without while few updates are pending: on the base, no more than
 * MEMCG_CHARGE_BATCH updates for each online CPU. That is 512 KiB on two CPUs
 * and 32 MiB on 128, for a cgroup of 1 MiB as for one of 100 GiB. Here, each
 * cgroup may have a threshold of its own, and "auto" derives it from the size.
 *
 * What is pending
 *
 *	Each update of a statistic counts the pages that it is about, in the
 *	cgroup and in all its ancestors, on its own CPU: in stats_updates, which
 *	is the base's. When that has come to MEMCG_CHARGE_BATCH, the base moves
 *	it on to a count that all CPUs share, unless that is high enough for a
 *	flush already; and a flush resets the shared count once per CPU, with
 *	what came from others in the meantime. For its own threshold, that does.
 *	For a smaller or a larger one, both lose too much.
 *
 *	So, as stats_updates is moved on, a CPU also adds it to a sum that is
 *	never reset (->folded), and a flush of this CPU's share notes how far it
 *	has got (->flushed). What is pending on a CPU is
 *
 *		->folded + stats_updates - ->flushed
 *
 *	with what the base leaves in stats_updates included. A reader adds this
 *	up over all CPUs that have been online since boot: it can afford to,
 *	whereas for an update there is one addition more in MEMCG_CHARGE_BATCH.
 *
 *	On its way up, an update may come to a cgroup that is to be flushed by
 *	the base's own rule. There is a base that stops counting there, as that
 *	rule has nothing to learn any more. While there is a threshold, it goes
 *	on (memcg_flush_counting()). So when the first one is set, nobody knows
 *	what is pending: all is flushed then, and all readers flush until that
 *	has been done (memcg_flush_uncounted).
 *
 * The bound of "auto"
 *
 *	No update changes an entry of memory.stat by more pages than it counts
 *	for. So if a reader does without a flush while P updates are pending, each
 *	entry in pages is off by P at most. Let S be the size of the cgroup as
 *	of the last flush; its true size is S - P at least. With
 *
 *		P <= max((S - P) / MEMCG_FLUSH_AUTO_SHARE, MEMCG_FLUSH_AUTO_MIN)
 *
 *	the error is 1 % of the cgroup's memory at most, or 16 pages, whichever
 *	is more, on any number of CPUs. Updates that are under way while the
 *	reader adds up may or may not be in.
 *
 *	Where P is more, it may still be that updates cancel out, and many of
 *	them are events. If a cgroup has none below it, what each entry lacks is
 *	a sum over its own CPUs' shares: memcg_unflushed(). A reader then adds
 *	that up, for one entry after the other, and goes by the same rule with
 *	what it finds. Below it, there could be a flush that has taken something
 *	out of a child and not yet brought it up; to look at a whole subtree
 *	would take the lock that reading is to do without.
 *
 * The order of things
 *
 *	An update changes the statistic first and counts after that; a flush
 *	reads the counts first (memcg_flush_begin()), the statistics then, and
 *	publishes at last (memcg_flush_end()). What a flush has missed is
 *	therefore pending after it. Where the two meet in the middle of folding
 *	or clearing stats_updates, what is pending comes out too high, by less
 *	than a batch, until the next flush: a reader may flush in vain, but is
 *	not misled. On CPUs that make stores visible out of order, an update can
 *	count a moment before its statistic changes: the update path has no
 *	barrier for that.
 *
 *	A base may add to stats_updates without protection from interrupts where
 *	rmap counts mapped pages. An interrupt that comes in between and counts
 *	for the same cgroup loses up to a batch of updates there. Such an
 *	interrupt ends writeback; it is rare, and the periodic flush mends it.
 *	Where the base has protection, and no need to disable interrupts for it,
 *	one that comes in the middle of folding folds the same updates again: too
 *	many are pending then until the next flush. In an NMI, a base may change
 *	statistics of kernel memory without counting updates.
 *
 * A flush takes one CPU after the other, and on each CPU the children before their
 * parent. An update in between, of a child that has been flushed already, has
 * counted in the parent, but its statistic is still in the child:
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
 * So the first descendant that is flushed begins for all its ancestors, and the 10
 * pages are pending in both. The cgroup that the flush is for comes last; it takes
 * back the beginnings of the cgroups above it, which are not flushed.
 *
 * Yosry Ahmed posted thresholds that belong to each memory cgroup in 2023. The
 * question from review how anybody should know the number is answered by not
 * asking for one.
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

/* "auto": a share of the cgroup's memory, and what need not be bettered. */
#define MEMCG_FLUSH_AUTO_SHARE	100UL
#define MEMCG_FLUSH_AUTO_MIN	16UL

/* Thresholds that are not numbers; the sysctl has the first two as they are. */
enum memcg_flush_special {
	MEMCG_FLUSH_BASE = -1,		/* the base's own rule */
	MEMCG_FLUSH_AUTO = -2,
	MEMCG_FLUSH_DEFAULT = -3,	/* the parent's */
};

/* Readers never flush. */
#define MEMCG_FLUSH_MAX		LONG_MAX

/* One for each cgroup with a threshold, and one for the sysctl. */
DEFINE_STATIC_KEY_FALSE(memcg_flush_threshold_key);

/* Serialises changes of thresholds. */
static DEFINE_MUTEX(memcg_flush_mutex);

/* There may be updates that were not counted. */
static bool memcg_flush_uncounted;

static int sysctl_memcg_stat_flush_threshold = MEMCG_FLUSH_BASE;

/* Counting */

static void memcg_flush_begin_cpu(struct memcg_flush_percpu *percpu,
				  const unsigned long *updates)
{
	unsigned long folded = local_read(&percpu->folded);
	unsigned long unfolded;

	/* Pairs with memcg_flush_fold(): no update shows up in both ... */
	smp_rmb();
	unfolded = READ_ONCE(*updates);
	/* ... unless it is being folded right now. */
	percpu->begun = folded;
	if (unfolded < MEMCG_CHARGE_BATCH)
		percpu->begun += unfolded;
	/* The statistics are read after the counts. */
	smp_mb();
}

/**
 * memcg_flush_begin - note what a flush of a CPU's share is certain to see
 * @memcg: the memory cgroup
 * @cpu: the CPU
 * @last: the flush ends with this cgroup on this CPU
 *
 * Does the same for the ancestors, as their share is flushed later: see "The order
 * of things" at the top.
 *
 * Context: the rstat lock is held, before the statistics are read.
 */
void memcg_flush_begin(struct mem_cgroup *memcg, int cpu, bool last)
{
	struct memcg_flush_percpu *percpu;

	raw_write_seqcount_begin(&memcg->flush.flushing);
	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		percpu = per_cpu_ptr(memcg->flush.percpu, cpu);
		/* So have all above. */
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

	/* Before stats_updates is cleared, for readers not to see too few. */
	smp_store_release(&percpu->flushed, flushed);
	flushed = percpu->begun - xchg(updates, 0);
	WRITE_ONCE(percpu->flushed, flushed);
}

/* The ancestors of the cgroup that was to be flushed were not. */
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
 * memcg_flush_end - make a flush of a CPU's share known
 * @memcg: the memory cgroup
 * @cpu: the CPU
 * @last: the flush ends with this cgroup on this CPU
 * @updates: the CPU's stats_updates, which is cleared, as on the base
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

	/* The reverse of the order in memcg_flush_fold() and memcg_flush_end(). */
	pending = smp_load_acquire(updates);
	/* Statistics that a reader without a flush looks at are as new as this. */
	pending -= smp_load_acquire(&percpu->flushed);
	return pending + local_read(&percpu->folded);
}

/* How many updates, in pages, a reader of @memcg's statistics would miss. */
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
 * memcg_flush_auto - the threshold that follows from a cgroup's size
 * @size: its pages as of the last flush
 * @pending: updates since, in pages
 *
 * Return: how many updates, in pages, may be pending without a flush.
 */
static unsigned long memcg_flush_auto(unsigned long size, unsigned long pending)
{
	unsigned long certain = size - min(size, pending);

	return max(certain / MEMCG_FLUSH_AUTO_SHARE, MEMCG_FLUSH_AUTO_MIN);
}

/*
 * Not what is charged: that has what the CPUs keep in stock, which on many CPUs
 * is more than a small cgroup's memory.
 */
static unsigned long
memcg_flush_size(struct mem_cgroup *memcg,
		 unsigned long (*state)(struct mem_cgroup *memcg, int item))
{
	return state(memcg, NR_ANON_MAPPED) + state(memcg, NR_FILE_PAGES) +
	       state(memcg, MEMCG_KMEM);
}

/* The threshold that applies to @memcg: its own, or the nearest one's above. */
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

/* What an item of @memcg's statistics would be after a flush, in pages. */
static unsigned long memcg_flush_state(struct mem_cgroup *memcg, int item)
{
	long pages = div_s64(memcg_unflushed(memcg, item), PAGE_SIZE);

	return max((long)memcg_page_state(memcg, item) + pages, 0L);
}

/* Is any item further off than "auto" allows? */
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
 * Much may be pending, and cancel out: memory comes and goes. A reader can
 * afford to look at the statistics themselves where a cgroup has none below it
 * that are yet to be added to its own, and while nobody flushes them.
 */
static bool memcg_flush_auto_needed(struct mem_cgroup *memcg)
{
	struct cgroup *cgroup = memcg->css.cgroup;
	unsigned int seq = raw_read_seqcount(&memcg->flush.flushing);
	bool flushing = seq & 1;
	bool needed;

	/* In this order: a descendant is counted as one, then as a dying one. */
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
 * memcg_flush_note - count what was decided about a flush
 * @flush: whether statistics are to be flushed
 */
void memcg_flush_note(bool flush)
{
	count_vm_event(flush ? MEMCG_STAT_FLUSH : MEMCG_STAT_FLUSH_SKIP);
}

/* Settings */

/* One more threshold. The first has updates counted that were not before. */
static void memcg_flush_use(void)
{
	bool first = !static_key_enabled(&memcg_flush_threshold_key);

	WRITE_ONCE(memcg_flush_uncounted, first);
	static_branch_inc(&memcg_flush_threshold_key);
	if (!first)
		return;
	/* Preemption is disabled in updates: from here on, all are counted. */
	synchronize_rcu();
	mem_cgroup_flush_stats(NULL);
	WRITE_ONCE(memcg_flush_uncounted, false);
}

/* The key counts the users of anything but the base's rule. */
static void memcg_flush_switch(bool from, bool to)
{
	if (to && !from)
		memcg_flush_use();
	else if (from && !to)
		static_branch_dec(&memcg_flush_threshold_key);
}

static void memcg_flush_set(struct mem_cgroup *memcg, long threshold)
{
	mutex_lock(&memcg_flush_mutex);
	memcg_flush_switch(memcg->flush.threshold != MEMCG_FLUSH_DEFAULT,
			   threshold != MEMCG_FLUSH_DEFAULT);
	WRITE_ONCE(memcg->flush.threshold, threshold);
	mutex_unlock(&memcg_flush_mutex);
}

/**
 * memcg_flush_init - prepare a memory cgroup for a flush threshold
 * @memcg: a cgroup that nothing else knows of yet
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
 * memcg_flush_reset - forget a memory cgroup's flush threshold
 * @memcg: a cgroup for which the memory controller has been disabled, or that
 *	is about to be freed
 *
 * Context: may sleep.
 */
void memcg_flush_reset(struct mem_cgroup *memcg)
{
	/* Allocation may have failed before memcg_flush_init(). */
	if (memcg->flush.percpu)
		memcg_flush_set(memcg, MEMCG_FLUSH_DEFAULT);
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
	long threshold;
	int err;

	err = memcg_flush_parse(strstrip(buf), &threshold);
	if (err)
		return err;
	memcg_flush_set(mem_cgroup_from_css(of_css(of)), threshold);
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

/* The number that applies now. */
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

/* cgroup core wants an array for each of the two hierarchies. */
static struct cftype memcg_flush_v1_files[ARRAY_SIZE(memcg_flush_files)];

static int memcg_flush_sysctl(const struct ctl_table *table, int write,
			      void *buffer, size_t *lenp, loff_t *ppos)
{
	bool before, after;
	int err;

	mutex_lock(&memcg_flush_mutex);
	before = sysctl_memcg_stat_flush_threshold != MEMCG_FLUSH_BASE;
	err = proc_dointvec_minmax(table, write, buffer, lenp, ppos);
	after = sysctl_memcg_stat_flush_threshold != MEMCG_FLUSH_BASE;
	memcg_flush_switch(before, after);
	mutex_unlock(&memcg_flush_mutex);
	return err;
}

static int memcg_flush_sysctl_min = MEMCG_FLUSH_AUTO;

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
