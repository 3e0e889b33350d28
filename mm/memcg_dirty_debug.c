// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty page limits of memory cgroups: the counts, compared with the pages
 *
 * A count that misses an update stays wrong for as long as its cgroup lives: a
 * limit then holds too many pages or too few. memcg_dirty/check in debugfs has
 * a row for each memory cgroup below the root, also for those that have been
 * removed. All numbers are pages of the cgroup's subtree:
 *
 *	cgroup		the inode number of its directory
 *	dirty, total	the counts: dirty, and dirty or under writeback
 *	held_*		the part that the CPUs have not folded into them yet
 *	walked_*	the pages that a walk over the machine's memory found
 *	error		the largest held_* that the batches allow
 *	moved		1 if pages changed their state during the walk
 *
 * Where nothing has moved,
 *
 *	dirty + held_dirty == walked_dirty	|held_dirty| <= error
 *	total + held_total == walked_total	|held_total| <= error
 *
 * With four CPUs and a batch of 64, error is 2 * 4 * 63 = 504. 250000 dirty and
 * 37 held are 250037 pages: if the walk finds 250036, an update was missed.
 *
 * A row may be wrong for a moment: while a removed cgroup is freed, and after
 * smaller batches have been set, or an interrupt has hidden a multiple of a batch,
 * until the CPUs' next fold. A page that an
 * NFS server has yet to commit counts as under writeback, but has no flag that
 * the walk could find: sync such a mount first. Other differences are errors,
 * and stay.
 *
 * A folio that another task has locked is not counted: it sets "moved".
 */

#include <linux/atomic.h>
#include <linux/backing-dev.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/memblock.h>
#include <linux/memcontrol.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "memcg_dirty.h"

/* The walk offers to yield after so many pages. */
#define MEMCG_DIRTY_DEBUG_BATCH	SZ_1K

/**
 * struct memcg_dirty_pages - pages of a subtree
 * @dirty: dirty pages
 * @total: dirty pages and pages under writeback
 */
struct memcg_dirty_pages {
	long dirty;
	long total;
};

/**
 * struct memcg_dirty_sample - a memory cgroup's row
 * @memcg: the memory cgroup, with a reference
 * @before: all updates of the subtree before the walk
 * @counted: the counts after the walk
 * @held: the part of the updates that was not in @counted
 * @walked: the pages that the walk found
 * @error: the most that may be in @held
 * @moved: a folio was locked during the walk
 */
struct memcg_dirty_sample {
	struct mem_cgroup *memcg;
	struct memcg_dirty_pages before;
	struct memcg_dirty_pages counted;
	struct memcg_dirty_pages held;
	struct memcg_dirty_pages walked;
	unsigned long error;
	bool moved;
};

static void memcg_dirty_pages_add(struct memcg_dirty_pages *pages,
				  enum memcg_dirty_item item, long nr_pages)
{
	if (item == MEMCG_DIRTY)
		pages->dirty += nr_pages;
	pages->total += nr_pages;
}

/* The root cgroup has no sample, nor has one that was created later. */
static struct memcg_dirty_sample *
memcg_dirty_debug_find(struct xarray *samples, const struct mem_cgroup *memcg)
{
	return xa_load(samples, (unsigned long)memcg);
}

/* Samples of the counts */

/* The part of @memcg's own updates that the CPUs hold back. */
static struct memcg_dirty_pages memcg_dirty_debug_held(struct mem_cgroup *memcg)
{
	const struct memcg_dirty *dirty = &memcg->dirty;
	struct memcg_dirty_pages held = { };
	int cpu, item;
	long nr_pages;

	for_each_possible_cpu(cpu)
		for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++) {
			nr_pages = READ_ONCE(*per_cpu_ptr(&dirty->sum[item], cpu)) -
				   READ_ONCE(per_cpu_ptr(dirty->mark, cpu)->folded[item]);
			memcg_dirty_pages_add(&held, item, nr_pages);
		}
	return held;
}

static void memcg_dirty_debug_read_one(struct memcg_dirty_sample *sample)
{
	struct memcg_dirty *dirty = &sample->memcg->dirty;

	sample->counted.dirty = atomic_long_read(&dirty->dirty);
	sample->counted.total = atomic_long_read(&dirty->total);
	sample->held = (struct memcg_dirty_pages){ };
	sample->error = 0;
}

/* The counts of the ancestors lack the part that @memcg holds back as well. */
static void memcg_dirty_debug_hold(struct xarray *samples,
				   struct mem_cgroup *memcg)
{
	struct memcg_dirty_pages part = memcg_dirty_debug_held(memcg);
	unsigned long error = memcg_dirty_error(memcg_dirty_fold_batch(memcg),
						num_possible_cpus(), 1);
	struct memcg_dirty_sample *sample;

	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		sample = memcg_dirty_debug_find(samples, memcg);
		if (!sample)
			continue;
		sample->held.dirty += part.dirty;
		sample->held.total += part.total;
		sample->error += error;
	}
}

static void memcg_dirty_debug_read(struct xarray *samples)
{
	struct memcg_dirty_sample *sample;
	unsigned long index;

	xa_for_each(samples, index, sample)
		memcg_dirty_debug_read_one(sample);
	xa_for_each(samples, index, sample) {
		memcg_dirty_debug_hold(samples, sample->memcg);
		cond_resched();
	}
}

/* All updates of the subtree. */
static struct memcg_dirty_pages
memcg_dirty_debug_sum(const struct memcg_dirty_sample *sample)
{
	return (struct memcg_dirty_pages){
		.dirty = sample->counted.dirty + sample->held.dirty,
		.total = sample->counted.total + sample->held.total,
	};
}

static bool memcg_dirty_debug_moved(const struct memcg_dirty_sample *sample)
{
	struct memcg_dirty_pages sum = memcg_dirty_debug_sum(sample);

	return sample->moved || sum.dirty != sample->before.dirty ||
	       sum.total != sample->before.total;
}

/* The walk */

/* Does NR_FILE_DIRTY count @folio, which is locked? */
static bool memcg_dirty_debug_is_dirty(struct folio *folio)
{
	struct address_space *mapping;

	if (!folio_test_dirty(folio) || folio_test_anon(folio) ||
	    folio_test_swapcache(folio))
		return false;
	mapping = folio_mapping(folio);
	return mapping && mapping_can_writeback(mapping);
}

static void memcg_dirty_debug_add_folio(struct memcg_dirty_sample *sample,
					struct folio *folio)
{
	long nr_pages = folio_nr_pages(folio);

	if (memcg_dirty_debug_is_dirty(folio))
		memcg_dirty_pages_add(&sample->walked, MEMCG_DIRTY, nr_pages);
	if (folio_test_writeback(folio))
		memcg_dirty_pages_add(&sample->walked, MEMCG_WRITEBACK, nr_pages);
}

/* Adds @folio to its cgroup and the ancestors. */
static void memcg_dirty_debug_count(struct xarray *samples, struct folio *folio)
{
	bool locked = folio_trylock(folio);
	struct memcg_dirty_sample *sample;
	struct mem_cgroup *memcg;

	rcu_read_lock();
	for (memcg = folio_memcg_check(folio); memcg;
	     memcg = parent_mem_cgroup(memcg)) {
		sample = memcg_dirty_debug_find(samples, memcg);
		if (!sample)
			continue;
		if (locked)
			memcg_dirty_debug_add_folio(sample, folio);
		else
			sample->moved = true;
	}
	rcu_read_unlock();
	if (locked)
		folio_unlock(folio);
}

static bool memcg_dirty_debug_is_counted(const struct folio *folio)
{
	return folio_test_dirty(folio) || folio_test_writeback(folio);
}

/* A folio that begins at @pfn and is dirty or under writeback, with a reference. */
static struct folio *memcg_dirty_debug_get_folio(unsigned long pfn)
{
	struct page *page = pfn_to_online_page(pfn);
	struct folio *folio;

	if (!page || PageTail(page))
		return NULL;
	folio = page_folio(page);
	if (!memcg_dirty_debug_is_counted(folio) || !folio_try_get(folio))
		return NULL;
	if (page_folio(page) == folio && !folio_test_slab(folio))
		return folio;
	folio_put(folio);
	return NULL;
}

/*
 * Takes a reference to each folio that is dirty or under writeback, and its lock,
 * which keeps its mapping and its cgroup. To skip the folios that are not on an LRU
 * list would miss those on their way to it.
 */
static void memcg_dirty_debug_walk(struct xarray *samples)
{
	struct folio *folio;
	unsigned long pfn;

	for (pfn = 0; pfn < max_pfn; pfn++) {
		folio = memcg_dirty_debug_get_folio(pfn);
		if (folio) {
			memcg_dirty_debug_count(samples, folio);
			folio_put(folio);
		}
		if (pfn % MEMCG_DIRTY_DEBUG_BATCH == 0)
			cond_resched();
	}
}

/* The samples of one open file */

static int memcg_dirty_debug_add_sample(struct xarray *samples,
					struct mem_cgroup *memcg)
{
	struct memcg_dirty_sample *sample;
	int err;

	sample = kzalloc(sizeof(*sample), GFP_KERNEL);
	if (!sample)
		return -ENOMEM;
	err = xa_insert(samples, (unsigned long)memcg, sample, GFP_KERNEL);
	if (err) {
		kfree(sample);
		return err;
	}
	css_get(&memcg->css);
	sample->memcg = memcg;
	return 0;
}

static int memcg_dirty_debug_collect(struct xarray *samples)
{
	struct mem_cgroup *memcg = NULL;
	int err;

	while ((memcg = mem_cgroup_iter(NULL, memcg, NULL))) {
		if (mem_cgroup_is_root(memcg))
			continue;
		err = memcg_dirty_debug_add_sample(samples, memcg);
		if (err) {
			mem_cgroup_iter_break(NULL, memcg);
			return err;
		}
		cond_resched();
	}
	return 0;
}

static void memcg_dirty_debug_take(struct xarray *samples)
{
	struct memcg_dirty_sample *sample;
	unsigned long index;

	memcg_dirty_debug_read(samples);
	xa_for_each(samples, index, sample)
		sample->before = memcg_dirty_debug_sum(sample);
	memcg_dirty_debug_walk(samples);
	memcg_dirty_debug_read(samples);
}

static void memcg_dirty_debug_free(struct xarray *samples)
{
	struct memcg_dirty_sample *sample;
	unsigned long index;

	xa_for_each(samples, index, sample) {
		css_put(&sample->memcg->css);
		kfree(sample);
	}
	xa_destroy(samples);
	kfree(samples);
}

static void memcg_dirty_debug_show_row(struct seq_file *m,
				       const struct memcg_dirty_sample *sample)
{
	seq_printf(m, "%lu %ld %ld %ld %ld %ld %ld %lu %d\n",
		   (unsigned long)cgroup_ino(sample->memcg->css.cgroup),
		   sample->counted.dirty, sample->counted.total,
		   sample->held.dirty, sample->held.total,
		   sample->walked.dirty, sample->walked.total,
		   sample->error, memcg_dirty_debug_moved(sample));
}

static int memcg_dirty_check_show(struct seq_file *m, void *v)
{
	struct memcg_dirty_sample *sample;
	struct xarray *samples = m->private;
	unsigned long index;

	seq_puts(m, "cgroup dirty total held_dirty held_total walked_dirty walked_total error moved\n");
	xa_for_each(samples, index, sample)
		memcg_dirty_debug_show_row(m, sample);
	return 0;
}

/* Without a limit since boot there are no counts, and no rows. */
static int memcg_dirty_check_open(struct inode *inode, struct file *file)
{
	struct xarray *samples;
	int err = 0;

	samples = kzalloc(sizeof(*samples), GFP_KERNEL);
	if (!samples)
		return -ENOMEM;
	xa_init(samples);
	if (memcg_dirty_enabled())
		err = memcg_dirty_debug_collect(samples);
	if (!err) {
		memcg_dirty_debug_take(samples);
		err = single_open(file, memcg_dirty_check_show, samples);
	}
	if (err)
		memcg_dirty_debug_free(samples);
	return err;
}

static int memcg_dirty_check_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	memcg_dirty_debug_free(m->private);
	return single_release(inode, file);
}

static const struct file_operations memcg_dirty_check_fops = {
	.owner		= THIS_MODULE,
	.open		= memcg_dirty_check_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= memcg_dirty_check_release,
};

static int __init memcg_dirty_debug_init(void)
{
	struct dentry *dir = debugfs_create_dir("memcg_dirty", NULL);

	debugfs_create_file("check", 0400, dir, NULL, &memcg_dirty_check_fops);
	return 0;
}
late_initcall(memcg_dirty_debug_init);
