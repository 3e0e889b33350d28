// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty page limits of memory cgroups: the files
 *
 * memory.dirty_limit_in_bytes or memory.dirty_ratio sets a limit,
 * memory.dirty_background_limit_in_bytes or memory.dirty_background_ratio a
 * background limit, and memory.dirty_min a floor. memory.dirty_stat shows counts,
 * the limits in force and pauses; memory.dirty_peak shows the highest count.
 * Nothing here flushes statistics.
 *
 * A limit has two files but one setting, so that bytes and ratio exclude each
 * other. Pages are kept as they are, percent as a negative number:
 *
 *	written, in this order		setting	   in bytes	ratio
 *
 *	40M to dirty_limit_in_bytes	  10240	   41943040	  max
 *	30 to dirty_ratio		    -30		max	   30
 *	max to dirty_limit_in_bytes	    -30		max	   30
 *	max to dirty_ratio		  unset		max	  max
 *
 * The setting is stored first; then the thresholds and batches of the subtree
 * follow, and last a worker is queued that starts its flushers. When the write
 * returns, the limit is in force.
 */

#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/page_counter.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "memcg_dirty.h"

/* Parsing */

/**
 * memcg_dirty_parse_bytes - parse a limit in bytes
 * @buf: a number with an optional suffix, or "max"; stripped
 * @setting: the result, rounded down to pages
 *
 * 0 and numbers out of range are taken as memory.max takes them.
 *
 * Return: 0; -EINVAL for anything else.
 */
static int memcg_dirty_parse_bytes(const char *buf, long *setting)
{
	/* memparse() takes a string without digits for 0. */
	if (!isdigit(buf[0]) && strcmp(buf, "max"))
		return -EINVAL;
	return page_counter_memparse(buf, "max", (unsigned long *)setting);
}

/**
 * memcg_dirty_parse_ratio - parse a limit in percent
 * @buf: decimal digits, or "max"; stripped
 * @setting: the result
 *
 * Return: 0; -EINVAL for anything else or a number that is not from 1 to 100.
 */
static int memcg_dirty_parse_ratio(const char *buf, long *setting)
{
	unsigned int percent;

	*setting = MEMCG_DIRTY_UNSET;
	if (!strcmp(buf, "max"))
		return 0;
	if (!isdigit(buf[0]) || kstrtouint(buf, 10, &percent))
		return -EINVAL;
	if (percent < 1 || percent > 100)
		return -EINVAL;
	*setting = -(long)percent;
	return 0;
}

/* Files. Bytes and ratio of a limit share its setting: one unsets the other. */

static int memcg_dirty_show_pages(struct seq_file *m, const char *key,
				  unsigned long nr_pages)
{
	if (nr_pages == PAGE_COUNTER_MAX)
		seq_printf(m, "%smax\n", key);
	else
		seq_printf(m, "%s%llu\n", key, (u64)nr_pages * PAGE_SIZE);
	return 0;
}

static int memcg_dirty_bytes_show(struct seq_file *m, void *v)
{
	long setting = memcg_dirty_setting(mem_cgroup_from_seq(m),
					   seq_cft(m)->private);

	return memcg_dirty_show_pages(m, "", setting < 0 ? MEMCG_DIRTY_UNSET :
							   setting);
}

static int memcg_dirty_ratio_show(struct seq_file *m, void *v)
{
	long setting = memcg_dirty_setting(mem_cgroup_from_seq(m),
					   seq_cft(m)->private);

	if (setting < 0)
		seq_printf(m, "%ld\n", -setting);
	else
		seq_puts(m, "max\n");
	return 0;
}

/* "max" in one of the two files does not unset the limit in the other one. */
static bool memcg_dirty_is_moot(long new, long old, bool ratio)
{
	return new == MEMCG_DIRTY_UNSET && ratio == (old >= 0);
}

/* Another task may write the other file meanwhile. */
static int memcg_dirty_write(struct kernfs_open_file *of, long setting,
			     bool ratio)
{
	struct mem_cgroup *memcg = mem_cgroup_from_css(of_css(of));
	enum memcg_dirty_limit which = of_cft(of)->private;
	long old = memcg_dirty_setting(memcg, which);

	do {
		if (setting == old || memcg_dirty_is_moot(setting, old, ratio))
			return 0;
	} while (!memcg_dirty_set(memcg, which, &old, setting));
	memcg_dirty_flush_subtree(memcg);
	return 0;
}

static ssize_t memcg_dirty_bytes_write(struct kernfs_open_file *of, char *buf,
				       size_t nbytes, loff_t off)
{
	long setting;

	return memcg_dirty_parse_bytes(strstrip(buf), &setting) ?:
	       memcg_dirty_write(of, setting, false) ?: nbytes;
}

static ssize_t memcg_dirty_ratio_write(struct kernfs_open_file *of, char *buf,
				       size_t nbytes, loff_t off)
{
	long setting;

	return memcg_dirty_parse_ratio(strstrip(buf), &setting) ?:
	       memcg_dirty_write(of, setting, true) ?: nbytes;
}

/* memory.dirty_min: pages that writers may always have dirty */

static int memcg_dirty_min_show(struct seq_file *m, void *v)
{
	return memcg_dirty_show_pages(m, "",
				      memcg_dirty_own_floor(mem_cgroup_from_seq(m)));
}

static ssize_t memcg_dirty_min_write(struct kernfs_open_file *of, char *buf,
				     size_t nbytes, loff_t off)
{
	long floor;
	int err;

	err = memcg_dirty_parse_bytes(strstrip(buf), &floor);
	if (!err)
		memcg_dirty_set_floor(mem_cgroup_from_css(of_css(of)), floor);
	return err ?: nbytes;
}

/* memory.dirty_stat */

/* Until memcg_dirty_enable(), the counts are those of memory.stat. */
static void memcg_dirty_show_counts(struct mem_cgroup *memcg,
				    unsigned long *dirty, unsigned long *total)
{
	if (memcg_dirty_enabled()) {
		*total = memcg_dirty_total(memcg);
		*dirty = min(memcg_dirty_dirty(memcg), *total);
		return;
	}
	*dirty = memcg_page_state(memcg, NR_FILE_DIRTY);
	*total = *dirty + memcg_page_state(memcg, NR_WRITEBACK);
}

static int memcg_dirty_stat_show(struct seq_file *m, void *v)
{
	struct mem_cgroup *memcg = mem_cgroup_from_seq(m);
	unsigned long dirty, total, limit = PAGE_COUNTER_MAX, background;
	struct mem_cgroup *binding;
	unsigned int levels = 0;

	memcg_dirty_show_counts(memcg, &dirty, &total);
	binding = memcg_dirty_find_binding(memcg, &levels, &background);
	if (binding)
		limit = memcg_dirty_in_force(binding, MEMCG_DIRTY_LIMIT);
	memcg_dirty_show_pages(m, "dirty ", dirty);
	memcg_dirty_show_pages(m, "writeback ", total - dirty);
	memcg_dirty_show_pages(m, "limit ", limit);
	memcg_dirty_show_pages(m, "background_limit ", background);
	seq_printf(m, "limit_levels_up %u\n", levels);
	memcg_dirty_show_pages(m, "effective_min ",
			       memcg_dirty_effective_floor(memcg));
	seq_printf(m, "throttled %lu\n", memcg_dirty_pauses(memcg));
	seq_printf(m, "throttled_usec %lu\n", memcg_dirty_paused_usec(memcg));
	return 0;
}

/* memory.dirty_peak; a write resets it for that open file, as in memory.peak. */

#define MEMCG_DIRTY_PEAK_UNSET	ULONG_MAX

static int memcg_dirty_peak_open(struct kernfs_open_file *of)
{
	of_peak(of)->value = MEMCG_DIRTY_PEAK_UNSET;
	/* Counts begin with the first limit or floor, or here: before a peak can be reset. */
	if (of->file->f_mode & FMODE_WRITE)
		memcg_dirty_enable();
	return 0;
}

static void memcg_dirty_peak_release(struct kernfs_open_file *of)
{
	struct mem_cgroup *memcg = mem_cgroup_from_css(of_css(of));
	struct cgroup_of_peak *peak = of_peak(of);

	/* No other file sets the first value. */
	if (READ_ONCE(peak->value) == MEMCG_DIRTY_PEAK_UNSET)
		return;
	spin_lock(&memcg->peaks_lock);
	list_del(&peak->list);
	spin_unlock(&memcg->peaks_lock);
}

static int memcg_dirty_peak_show(struct seq_file *m, void *v)
{
	struct mem_cgroup *memcg = mem_cgroup_from_seq(m);
	unsigned long peak = READ_ONCE(of_peak(m->private)->value);

	if (peak == MEMCG_DIRTY_PEAK_UNSET)
		peak = memcg_dirty_peak(memcg);
	else
		peak = max(peak, memcg_dirty_peak_since(memcg));
	return memcg_dirty_show_pages(m, "", peak);
}

/*
 * The peak since the last write to any open file starts again from the present
 * count; the other open files keep the peak that they have shown.
 */
static ssize_t memcg_dirty_peak_write(struct kernfs_open_file *of, char *buf,
				      size_t nbytes, loff_t off)
{
	struct mem_cgroup *memcg = mem_cgroup_from_css(of_css(of));
	struct cgroup_of_peak *own = of_peak(of), *peak;
	unsigned long total = memcg_dirty_total(memcg);
	unsigned long last;

	/* A user may reset any number of open files: the lock is the cgroup's own. */
	spin_lock(&memcg->peaks_lock);
	last = memcg_dirty_restart_peak(memcg, total);
	list_for_each_entry(peak, &memcg->dirty.peaks, list)
		WRITE_ONCE(peak->value, max(peak->value, last));
	if (own->value == MEMCG_DIRTY_PEAK_UNSET)
		list_add(&own->list, &memcg->dirty.peaks);
	WRITE_ONCE(own->value, total);
	spin_unlock(&memcg->peaks_lock);
	return nbytes;
}

#define MEMCG_DIRTY_FILE(_name, _kind, _which) {		\
	.name = (_name),					\
	.flags = CFTYPE_NOT_ON_ROOT,				\
	.private = (_which),					\
	.seq_show = memcg_dirty_##_kind##_show,			\
	.write = memcg_dirty_##_kind##_write,			\
}

static struct cftype memcg_dirty_files[] = {
	MEMCG_DIRTY_FILE("dirty_limit_in_bytes", bytes, MEMCG_DIRTY_LIMIT),
	MEMCG_DIRTY_FILE("dirty_background_limit_in_bytes", bytes,
			 MEMCG_DIRTY_BACKGROUND),
	MEMCG_DIRTY_FILE("dirty_ratio", ratio, MEMCG_DIRTY_LIMIT),
	MEMCG_DIRTY_FILE("dirty_background_ratio", ratio,
			 MEMCG_DIRTY_BACKGROUND),
	MEMCG_DIRTY_FILE("dirty_min", min, 0),
	{
		.name = "dirty_stat",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = memcg_dirty_stat_show,
	},
	{
		.name = "dirty_peak",
		.flags = CFTYPE_NOT_ON_ROOT,
		.open = memcg_dirty_peak_open,
		.release = memcg_dirty_peak_release,
		.seq_show = memcg_dirty_peak_show,
		.write = memcg_dirty_peak_write,
	},
	{ }	/* terminate */
};

/* cgroup core needs an array for each of the two hierarchies. */
static struct cftype memcg_dirty_v1_files[ARRAY_SIZE(memcg_dirty_files)];

static int __init memcg_dirty_init(void)
{
	if (IS_ENABLED(CONFIG_MEMCG_V1)) {
		memcpy(memcg_dirty_v1_files, memcg_dirty_files,
		       sizeof(memcg_dirty_files));
		WARN_ON(cgroup_add_legacy_cftypes(&memory_cgrp_subsys,
						  memcg_dirty_v1_files));
	}
	WARN_ON(cgroup_add_dfl_cftypes(&memory_cgrp_subsys, memcg_dirty_files));
	return 0;
}
subsys_initcall(memcg_dirty_init);

#ifdef CONFIG_MEMCG_DIRTY_LIMIT_KUNIT_TEST
#include "tests/memcg_dirty_file_kunit.c"
#endif
