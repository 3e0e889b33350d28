// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty page limits of memory cgroups: shares of a limit
 *
 * Cgroups below one limit write to disks of different speeds. The pages of a
 * slow disk stay longest. Without shares they fill the limit, and the writers
 * to a fast disk wait for the slow one.
 *
 * Inside a limit, each child's share follows the writeback that it has
 * completed of late, and is multiplied level by level, as block/blk-iocost.c
 * does with weights. A slow disk earns little, and a tenant gains nothing from
 * the number of its cgroups. An example:
 *
 *	cgroup			completed	earned		equal
 *
 *	/a, limit 64 MiB	30000		16384		16384
 *	/a/b			27000		14717		 8192
 *	/a/b/d			13500		 7358		 4096
 *	/a/b/e			13500		 7358		 4096
 *	/a/c, slow disk		 3000		 1666		 8192
 *
 * All are pages. Each child starts with MEMCG_DIRTY_PRIOR, so b has earned
 * 16384 * (27000 + 64) / (30000 + 2 * 64). A writer may use the pages that its
 * cgroup has earned, but a quarter of an equal share at least: 2048 for c. A
 * cgroup with siblings leaves an eighth of the limit to them, on each level: b
 * has 14336 pages at most, and d 12288.
 *
 * The numbers are read without a lock and at different moments. An error moves
 * a share for one check; the limit itself does not depend on it.
 */

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>

#include "memcg_dirty.h"

/* Completed writeback of this age counts half; as in wb_domain's completions. */
#define MEMCG_DIRTY_SHARE_PERIOD	(3 * HZ)

/* What each child has earned before it has written anything, in pages. */
#define MEMCG_DIRTY_PRIOR	64UL

/* Siblings have one part in this many of a limit in reserve. */
#define MEMCG_DIRTY_RESERVE	8U

/**
 * memcg_dirty_credit - credit a cgroup with the writeback that it has completed
 * @memcg: the memory cgroup
 *
 * Context: any but interrupts.
 */
void memcg_dirty_credit(struct mem_cgroup *memcg)
{
	long nr_pages = memcg_dirty_take_written(memcg);

	for (; nr_pages && !mem_cgroup_is_root(memcg);
	     memcg = parent_mem_cgroup(memcg))
		memcg_dirty_flow_add(&memcg->dirty.done,
				     MEMCG_DIRTY_SHARE_PERIOD, nr_pages);
}

/**
 * memcg_dirty_mark_active - count a cgroup as one that writes, once per epoch
 * @memcg: the memory cgroup; its ancestors count as well, as children of theirs
 *
 * At the turn of an epoch, a count may go to the epoch before.
 *
 * Context: any but interrupts.
 */
void memcg_dirty_mark_active(struct mem_cgroup *memcg)
{
	unsigned int epoch = memcg_dirty_epoch(), last;
	struct mem_cgroup *parent;

	for (; !mem_cgroup_is_root(memcg); memcg = parent) {
		parent = parent_mem_cgroup(memcg);
		last = READ_ONCE(memcg->dirty.active_at);
		if ((int)(epoch - last) <= 0 ||
		    !try_cmpxchg(&memcg->dirty.active_at, &last, epoch))
			return;
		memcg_dirty_count_active(parent, epoch);
	}
}

/**
 * memcg_dirty_share_step - go down a level with a share
 * @share: the parent's share; replaced by the child's
 * @child: pages of the child whose writeback has completed lately
 * @parent: the same of the parent's subtree
 * @nr_active: the number of children that write
 */
static void memcg_dirty_share_step(struct memcg_dirty_share *share,
				   unsigned long child, unsigned long parent,
				   unsigned int nr_active)
{
	share->earned = memcg_dirty_part(share->earned,
					 child + MEMCG_DIRTY_PRIOR,
					 parent + nr_active * MEMCG_DIRTY_PRIOR);
	share->equal = max(share->equal / nr_active, 1UL);
}

/**
 * memcg_dirty_find_share - a cgroup's share of a limit
 * @memcg: the memory cgroup
 * @limited: the ancestor with the limit, or @memcg itself
 * @thresh: the limit, in pages
 * @share: the result
 *
 * A product does not depend on the order: this goes up.
 */
void memcg_dirty_find_share(struct mem_cgroup *memcg,
			    struct mem_cgroup *limited, unsigned long thresh,
			    struct memcg_dirty_share *share)
{
	const unsigned long period = MEMCG_DIRTY_SHARE_PERIOD;
	struct mem_cgroup *parent;

	*share = (struct memcg_dirty_share){ thresh, thresh };
	for (; memcg != limited; memcg = parent) {
		parent = parent_mem_cgroup(memcg);
		memcg_dirty_share_step(share,
				       memcg_dirty_flow_read(&memcg->dirty.done,
							     period),
				       memcg_dirty_flow_read(&parent->dirty.done,
							     period),
				       memcg_dirty_nr_active(parent));
	}
}

/**
 * memcg_dirty_nr_heavy - on how many levels a cgroup's path is not light
 * @memcg: the memory cgroup
 * @limited: the ancestor with the limit, or @memcg itself
 * @equal: @memcg's equal share of the limit, in pages
 *
 * Return: the number of cgroups from @memcg to below @limited that use more than
 * a MEMCG_DIRTY_LIGHT-th of their own equal share.
 */
unsigned int memcg_dirty_nr_heavy(struct mem_cgroup *memcg,
				  struct mem_cgroup *limited,
				  unsigned long equal)
{
	struct mem_cgroup *parent;
	unsigned int nr = 0;

	for (; memcg != limited; memcg = parent) {
		parent = parent_mem_cgroup(memcg);
		nr += memcg_dirty_total(memcg) > equal / MEMCG_DIRTY_LIGHT;
		equal *= memcg_dirty_nr_active(parent);
	}
	return nr;
}

/* Of an online css, ->online_cnt counts itself and its children. */
static bool memcg_dirty_has_siblings(const struct mem_cgroup *memcg)
{
	return atomic_read(&memcg->css.parent->online_cnt) > 2;
}

/*
 * The most that a cgroup may use of an ancestor's limit, if it or an ancestor
 * below the limit has siblings on @nr_levels levels: half of the limit at
 * least.
 */
static unsigned long memcg_dirty_cap(unsigned long thresh,
				     unsigned int nr_levels)
{
	return thresh - thresh * min(nr_levels, MEMCG_DIRTY_RESERVE / 2) /
			MEMCG_DIRTY_RESERVE;
}

/**
 * memcg_dirty_leaves_room - does a cgroup leave room for its siblings?
 * @memcg: the memory cgroup
 * @limited: the ancestor with the limit, or @memcg itself
 * @thresh: the limit, in pages
 * @slack: pages by which the caps may be exceeded
 *
 * A cgroup that writes alone earns the whole limit, and pages that are under
 * writeback to a slow disk cannot be taken back when others begin to write.
 * Pages that its writers are about to add count as well.
 *
 * Return: %false if @memcg or an ancestor below @limited is above its cap.
 */
bool memcg_dirty_leaves_room(struct mem_cgroup *memcg,
			     struct mem_cgroup *limited, unsigned long thresh,
			     unsigned long slack)
{
	unsigned int nr_levels = 0;
	struct mem_cgroup *pos;

	for (pos = memcg; pos != limited; pos = parent_mem_cgroup(pos))
		nr_levels += memcg_dirty_has_siblings(pos);
	for (pos = memcg; pos != limited; pos = parent_mem_cgroup(pos)) {
		if (memcg_dirty_total(pos) + memcg_dirty_expected(pos) >
		    memcg_dirty_cap(thresh, nr_levels) + slack)
			return false;
		/* A sibling that comes or goes matters for this check only. */
		nr_levels -= memcg_dirty_has_siblings(pos);
	}
	return true;
}

#ifdef CONFIG_MEMCG_DIRTY_LIMIT_KUNIT_TEST
#include "tests/memcg_dirty_share_kunit.c"
#endif
