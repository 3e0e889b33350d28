// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty page limits of memory cgroups: the limits, and their files
 *
 * A cgroup has a limit and a background limit, each in bytes or as a ratio: a
 * share of the memory that the cgroup can dirty, which follows the page cache
 * that it has and the room that memory.max and memory.high leave, its own and
 * those of its ancestors. Writers and flushers have this looked up anew once it
 * is older than MEMCG_DIRTY_REFRESH; for a reader of memory.dirty_stat, that
 * cgroup's own is looked up at once.
 */

#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/ctype.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/page_counter.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/swap.h>
#include <linux/vmstat.h>

#include "memcg_dirty.h"

/* As often as balance_dirty_pages() estimates bandwidth. */
#define MEMCG_DIRTY_REFRESH	max(HZ / 5, 1)

const struct memcg_dirty_setting memcg_dirty_unset = {
	.pages = PAGE_COUNTER_MAX,
};

/* Keeps a cgroup's settings and what its domain has of them together. */
static DEFINE_SPINLOCK(memcg_dirty_setting_lock);

/* Settings */

/**
 * memcg_dirty_is_set - is this a limit?
 * @setting: what was written to a file
 *
 * Return: %false for "max".
 */
bool memcg_dirty_is_set(const struct memcg_dirty_setting *setting)
{
	return setting->percent || setting->pages != PAGE_COUNTER_MAX;
}

/**
 * memcg_dirty_any_set - does a memory cgroup have a limit of its own?
 * @memcg: the memory cgroup
 *
 * Context: memcg_dirty_mutex is held.
 *
 * Return: %true if one of its files does not read "max".
 */
bool memcg_dirty_any_set(struct mem_cgroup *memcg)
{
	return memcg_dirty_is_set(&memcg->dirty.setting[MEMCG_DIRTY_LIMIT]) ||
	       memcg_dirty_is_set(&memcg->dirty.setting[MEMCG_DIRTY_BACKGROUND]);
}

/**
 * memcg_dirty_init_settings - start without limits
 * @memcg: a memory cgroup that nothing else knows of yet
 */
void memcg_dirty_init_settings(struct mem_cgroup *memcg)
{
	int i;

	for (i = 0; i < NR_MEMCG_DIRTY_LIMITS; i++)
		memcg->dirty.setting[i] = memcg_dirty_unset;
	memcg->dirty.avail_at = jiffies - MEMCG_DIRTY_REFRESH;
}

/**
 * memcg_dirty_store - keep a setting
 * @memcg: the memory cgroup
 * @which: the limit that it is for
 * @setting: the new value; takes the place of bytes and ratio alike
 *
 * Context: memcg_dirty_mutex is held. memcg_dirty_apply() is to follow, where
 * there is a domain.
 */
void memcg_dirty_store(struct mem_cgroup *memcg, enum memcg_dirty_limit which,
		       const struct memcg_dirty_setting *setting)
{
	spin_lock(&memcg_dirty_setting_lock);
	memcg->dirty.setting[which] = *setting;
	spin_unlock(&memcg_dirty_setting_lock);
}

static struct memcg_dirty_setting
memcg_dirty_load(struct mem_cgroup *memcg, enum memcg_dirty_limit which)
{
	struct memcg_dirty_setting setting;

	spin_lock(&memcg_dirty_setting_lock);
	setting = memcg->dirty.setting[which];
	spin_unlock(&memcg_dirty_setting_lock);
	return setting;
}

/* From settings to pages */

/**
 * memcg_dirty_pages - a limit in pages
 * @setting: the limit
 * @avail: pages that the cgroup can dirty
 *
 * Return: a page at least; PAGE_COUNTER_MAX for no limit.
 */
static unsigned long
memcg_dirty_pages(const struct memcg_dirty_setting *setting,
		  unsigned long avail)
{
	if (!setting->percent)
		return setting->pages;
	return max(div_u64((u64)avail * setting->percent, 100), 1ULL);
}

/**
 * memcg_dirty_background - a background limit that goes with a limit
 * @background: the background limit as it was set, in pages
 * @limit: the limit, in pages
 *
 * Return: half of @limit if @background is not below it, as for the system-wide
 * thresholds; so also where @background is not set.
 */
static unsigned long memcg_dirty_background(unsigned long background,
					    unsigned long limit)
{
	return background < limit ? background : limit / 2;
}

/* Has to be called with memcg_dirty_setting_lock held. */
static void __memcg_dirty_apply(struct mem_cgroup *memcg,
				struct memcg_dirty_domain *domain)
{
	const struct memcg_dirty_setting *setting = memcg->dirty.setting;
	unsigned long avail = memcg->dirty.avail;
	unsigned long background, limit;

	limit = memcg_dirty_pages(&setting[MEMCG_DIRTY_LIMIT], avail);
	background = memcg_dirty_pages(&setting[MEMCG_DIRTY_BACKGROUND], avail);
	WRITE_ONCE(domain->limit, limit);
	WRITE_ONCE(domain->background,
		   memcg_dirty_background(background, limit));
	memcg_dirty_note(domain);
}

/**
 * memcg_dirty_apply - make a domain do what its cgroup's settings say
 * @memcg: the memory cgroup
 * @domain: its domain, or one that is about to be
 */
void memcg_dirty_apply(struct mem_cgroup *memcg,
		       struct memcg_dirty_domain *domain)
{
	spin_lock(&memcg_dirty_setting_lock);
	__memcg_dirty_apply(memcg, domain);
	spin_unlock(&memcg_dirty_setting_lock);
}

/* What a cgroup can dirty */

/* Pages up to the nearest memory.max or memory.high; false where none is set. */
static bool memcg_dirty_headroom(struct mem_cgroup *memcg,
				 unsigned long *headroom)
{
	unsigned long ceiling, used;
	bool bounded = false;

	*headroom = PAGE_COUNTER_MAX;
	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		ceiling = min(READ_ONCE(memcg->memory.max),
			      READ_ONCE(memcg->memory.high));
		if (ceiling == PAGE_COUNTER_MAX)
			continue;
		bounded = true;
		used = page_counter_read(&memcg->memory);
		*headroom = min(*headroom, ceiling - min(ceiling, used));
	}
	return bounded;
}

/* Free memory and page cache, as for the system-wide ratios. */
static unsigned long memcg_dirty_system(void)
{
	unsigned long nr_pages = global_zone_page_state(NR_FREE_PAGES);

	nr_pages -= min(nr_pages, totalreserve_pages);
	return nr_pages + global_node_page_state(NR_INACTIVE_FILE) +
	       global_node_page_state(NR_ACTIVE_FILE);
}

/**
 * memcg_dirty_avail - what a cgroup can dirty
 * @file: pages of page cache that it has
 * @headroom: pages that it may have in addition
 * @system: pages of page cache and free pages in the system
 *
 * Return: in pages.
 */
static unsigned long memcg_dirty_avail(unsigned long file,
				       unsigned long headroom,
				       unsigned long system)
{
	return file + min(headroom, system - min(system, file));
}

/**
 * memcg_dirty_refresh_now - look up what a memory cgroup can dirty
 * @memcg: the memory cgroup
 *
 * Context: may sleep.
 */
void memcg_dirty_refresh_now(struct mem_cgroup *memcg)
{
	struct memcg_dirty_domain *domain;
	unsigned long file, headroom;
	bool bounded;

	WRITE_ONCE(memcg->dirty.avail_at, jiffies);
	mem_cgroup_flush_stats(memcg);
	file = memcg_page_state(memcg, NR_INACTIVE_FILE) +
	       memcg_page_state(memcg, NR_ACTIVE_FILE);
	bounded = memcg_dirty_headroom(memcg, &headroom);

	rcu_read_lock();
	spin_lock(&memcg_dirty_setting_lock);
	WRITE_ONCE(memcg->dirty.avail, memcg_dirty_avail(file, headroom,
							 memcg_dirty_system()));
	WRITE_ONCE(memcg->dirty.bounded, bounded);
	domain = rcu_dereference(memcg->dirty.domain);
	if (domain)
		__memcg_dirty_apply(memcg, domain);
	spin_unlock(&memcg_dirty_setting_lock);
	rcu_read_unlock();
}

static bool memcg_dirty_has_ratio(struct mem_cgroup *memcg)
{
	struct memcg_dirty_setting *setting = memcg->dirty.setting;

	return READ_ONCE(setting[MEMCG_DIRTY_LIMIT].percent) ||
	       READ_ONCE(setting[MEMCG_DIRTY_BACKGROUND].percent);
}

/*
 * A cgroup needs to know what it can dirty for its own ratios, and to leave
 * reclaim some room (see memcg_dirty_room()) where its memory is bounded.
 */
static void memcg_dirty_refresh_stale(struct mem_cgroup *memcg, bool room)
{
	unsigned long at = READ_ONCE(memcg->dirty.avail_at);
	unsigned long headroom;

	if (jiffies - at < MEMCG_DIRTY_REFRESH ||
	    !try_cmpxchg(&memcg->dirty.avail_at, &at, jiffies))
		return;
	if (memcg_dirty_has_ratio(memcg) ||
	    (room && memcg_dirty_headroom(memcg, &headroom)))
		memcg_dirty_refresh_now(memcg);
	else
		WRITE_ONCE(memcg->dirty.bounded, false);
}

/**
 * memcg_dirty_refresh - have the limits up to date that bind a memory cgroup
 * @memcg: the memory cgroup
 *
 * Context: may sleep.
 */
void memcg_dirty_refresh(struct mem_cgroup *memcg)
{
	struct mem_cgroup *pos;

	for (pos = memcg; pos; pos = parent_mem_cgroup(pos))
		memcg_dirty_refresh_stale(pos, pos == memcg);
}

/* Parsing */

/**
 * memcg_dirty_parse_bytes - parse a limit in bytes
 * @buf: decimal digits with an optional suffix K, M, G, T, P or E, or "max";
 *	stripped; the suffix is cut off
 * @setting: the result, rounded down to pages
 *
 * Unlike page_counter_memparse(), this does not take a number that overflows
 * for a small one, nor one too large for a limit for "max".
 *
 * Return: 0; -EINVAL for anything else or less than a page; -ERANGE for what
 * does not fit.
 */
static int memcg_dirty_parse_bytes(char *buf,
				   struct memcg_dirty_setting *setting)
{
	static const char suffixes[] = "kmgtpe";
	size_t len = strlen(buf);
	const char *suffix;
	int shift = 0;
	u64 bytes;
	int err;

	*setting = memcg_dirty_unset;
	if (!strcmp(buf, "max"))
		return 0;

	suffix = len ? strchr(suffixes, tolower(buf[len - 1])) : NULL;
	if (suffix) {
		shift = 10 * (suffix - suffixes + 1);
		buf[--len] = '\0';
	}
	/* kstrtou64() takes a sign and a line feed as well. */
	if (!len || !isdigit(buf[0]) || !isdigit(buf[len - 1]))
		return -EINVAL;
	err = kstrtou64(buf, 10, &bytes);
	if (err)
		return err;
	if (bytes > U64_MAX >> shift ||
	    (bytes << shift) / PAGE_SIZE >= PAGE_COUNTER_MAX)
		return -ERANGE;
	if (bytes << shift < PAGE_SIZE)
		return -EINVAL;
	setting->pages = (bytes << shift) / PAGE_SIZE;
	return 0;
}

/**
 * memcg_dirty_parse_ratio - parse a limit in percent
 * @buf: decimal digits, or "max"; stripped
 * @setting: the result
 *
 * Return: 0; -EINVAL for anything else or what is not from 1 to 100.
 */
static int memcg_dirty_parse_ratio(char *buf,
				   struct memcg_dirty_setting *setting)
{
	unsigned int percent;

	*setting = memcg_dirty_unset;
	if (!strcmp(buf, "max"))
		return 0;
	if (!isdigit(buf[0]) || kstrtouint(buf, 10, &percent))
		return -EINVAL;
	if (percent < 1 || percent > 100)
		return -EINVAL;
	setting->percent = percent;
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
	struct memcg_dirty_setting setting =
		memcg_dirty_load(mem_cgroup_from_seq(m), seq_cft(m)->private);

	return memcg_dirty_show_pages(m, "", setting.pages);
}

static int memcg_dirty_ratio_show(struct seq_file *m, void *v)
{
	struct memcg_dirty_setting setting =
		memcg_dirty_load(mem_cgroup_from_seq(m), seq_cft(m)->private);

	if (setting.percent)
		seq_printf(m, "%u\n", setting.percent);
	else
		seq_puts(m, "max\n");
	return 0;
}

/* "max" in one of the two files does not take away what the other one says. */
static bool memcg_dirty_is_moot(const struct memcg_dirty_setting *new,
				const struct memcg_dirty_setting *old,
				bool ratio)
{
	if (memcg_dirty_is_set(new))
		return false;
	return ratio ? old->pages != PAGE_COUNTER_MAX : old->percent;
}

static int memcg_dirty_write(struct kernfs_open_file *of,
			     const struct memcg_dirty_setting *setting,
			     bool ratio)
{
	struct mem_cgroup *memcg = mem_cgroup_from_css(of_css(of));
	enum memcg_dirty_limit which = of_cft(of)->private;
	struct memcg_dirty_setting old = memcg_dirty_load(memcg, which);

	if (memcg_dirty_is_moot(setting, &old, ratio))
		return 0;
	/* The domain's batch follows from what the ratio comes to. */
	if (setting->percent)
		memcg_dirty_refresh_now(memcg);
	return memcg_dirty_set(memcg, which, setting);
}

static ssize_t memcg_dirty_bytes_write(struct kernfs_open_file *of, char *buf,
				       size_t nbytes, loff_t off)
{
	struct memcg_dirty_setting setting;
	int err;

	err = memcg_dirty_parse_bytes(strstrip(buf), &setting);
	if (!err)
		err = memcg_dirty_write(of, &setting, false);
	return err ?: nbytes;
}

static ssize_t memcg_dirty_ratio_write(struct kernfs_open_file *of, char *buf,
				       size_t nbytes, loff_t off)
{
	struct memcg_dirty_setting setting;
	int err;

	err = memcg_dirty_parse_ratio(strstrip(buf), &setting);
	if (!err)
		err = memcg_dirty_write(of, &setting, true);
	return err ?: nbytes;
}

/* memory.dirty_stat */

/**
 * struct memcg_dirty_report - what memory.dirty_stat shows
 * @now: dirty and writeback pages of the subtree
 * @peak: the highest of them and of their sum
 * @limit: the tightest limits on the path to the root, in pages
 */
struct memcg_dirty_report {
	unsigned long now[NR_MEMCG_DIRTY_ITEMS];
	unsigned long peak[NR_MEMCG_DIRTY_PEAKS];
	unsigned long limit[NR_MEMCG_DIRTY_LIMITS];
};

/* Without a domain of its own, a cgroup has its statistics. */
static void memcg_dirty_report_stat(struct mem_cgroup *memcg,
				    struct memcg_dirty_report *report)
{
	int i;

	mem_cgroup_flush_stats(memcg);
	for (i = 0; i < NR_MEMCG_DIRTY_ITEMS; i++)
		report->now[i] = memcg_page_state(memcg, memcg_dirty_idx[i]);
	for (i = 0; i < NR_MEMCG_DIRTY_PEAKS; i++)
		report->peak[i] = READ_ONCE(memcg->dirty.peak[i]);
}

static void memcg_dirty_report_domain(const struct memcg_dirty_domain *domain,
				      struct memcg_dirty_report *report)
{
	int i;

	for (i = 0; i < NR_MEMCG_DIRTY_ITEMS; i++)
		report->now[i] = memcg_dirty_read_exact(domain, i);
	for (i = 0; i < NR_MEMCG_DIRTY_PEAKS; i++)
		report->peak[i] = max(report->peak[i],
				      READ_ONCE(domain->peak[i]));
}

/* The tightest of the limits from @memcg to the root. */
static void memcg_dirty_report_limits(struct mem_cgroup *memcg,
				      struct memcg_dirty_report *report)
{
	unsigned long *limit = report->limit;
	struct memcg_dirty_domain *domain;

	limit[MEMCG_DIRTY_LIMIT] = PAGE_COUNTER_MAX;
	limit[MEMCG_DIRTY_BACKGROUND] = PAGE_COUNTER_MAX;
	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		domain = rcu_dereference(memcg->dirty.domain);
		if (!domain)
			continue;
		limit[MEMCG_DIRTY_LIMIT] = min(limit[MEMCG_DIRTY_LIMIT],
					       READ_ONCE(domain->limit));
		limit[MEMCG_DIRTY_BACKGROUND] =
			min(limit[MEMCG_DIRTY_BACKGROUND],
			    READ_ONCE(domain->background));
	}
}

static void memcg_dirty_report(struct mem_cgroup *memcg,
			       struct memcg_dirty_report *report)
{
	struct memcg_dirty_domain *domain;

	if (memcg_dirty_has_ratio(memcg))
		memcg_dirty_refresh_now(memcg);
	memcg_dirty_refresh(memcg);

	memcg_dirty_report_stat(memcg, report);
	rcu_read_lock();
	memcg_dirty_report_limits(memcg, report);
	domain = rcu_dereference(memcg->dirty.domain);
	if (domain)
		memcg_dirty_report_domain(domain, report);
	rcu_read_unlock();
}

static int memcg_dirty_stat_show(struct seq_file *m, void *v)
{
	struct mem_cgroup *memcg = mem_cgroup_from_seq(m);
	atomic64_t *event = memcg->dirty.event;
	struct memcg_dirty_report report;

	memcg_dirty_report(memcg, &report);
	memcg_dirty_show_pages(m, "dirty ", report.now[MEMCG_DIRTY]);
	memcg_dirty_show_pages(m, "writeback ", report.now[MEMCG_WRITEBACK]);
	memcg_dirty_show_pages(m, "dirty_peak ", report.peak[MEMCG_DIRTY]);
	memcg_dirty_show_pages(m, "writeback_peak ",
			       report.peak[MEMCG_WRITEBACK]);
	memcg_dirty_show_pages(m, "total_peak ",
			       report.peak[MEMCG_DIRTY_TOTAL]);
	memcg_dirty_show_pages(m, "limit ", report.limit[MEMCG_DIRTY_LIMIT]);
	memcg_dirty_show_pages(m, "background_limit ",
			       report.limit[MEMCG_DIRTY_BACKGROUND]);
	seq_printf(m, "throttled %lld\n",
		   atomic64_read(&event[MEMCG_DIRTY_THROTTLED]));
	seq_printf(m, "throttled_usec %lld\n",
		   atomic64_read(&event[MEMCG_DIRTY_THROTTLED_USEC]));
	seq_printf(m, "flusher_wakeups %lld\n",
		   atomic64_read(&event[MEMCG_DIRTY_WAKEUPS]));
	return 0;
}

/* Whatever is written, the peaks start again from the present counts. */
static ssize_t memcg_dirty_stat_write(struct kernfs_open_file *of, char *buf,
				      size_t nbytes, loff_t off)
{
	struct mem_cgroup *memcg = mem_cgroup_from_css(of_css(of));
	struct memcg_dirty_domain *domain;
	int i;

	for (i = 0; i < NR_MEMCG_DIRTY_PEAKS; i++)
		WRITE_ONCE(memcg->dirty.peak[i], 0);
	rcu_read_lock();
	domain = rcu_dereference(memcg->dirty.domain);
	if (domain)
		memcg_dirty_reset_peaks(domain);
	rcu_read_unlock();
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
	MEMCG_DIRTY_FILE("dirty_stat", stat, 0),
	{ }	/* terminate */
};

/* cgroup core wants an array for each of the two hierarchies. */
static struct cftype memcg_dirty_v1_files[ARRAY_SIZE(memcg_dirty_files)];

static int __init memcg_dirty_init(void)
{
	if (mem_cgroup_disabled())
		return 0;
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
#include "tests/memcg_dirty_limit_kunit.c"
#endif
