// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty page limits of memory cgroups: floors
 *
 * A limit protects others from a cgroup. A floor, memory.dirty_min, protects a
 * cgroup from others: while it has fewer dirty pages and pages under writeback
 * than its effective floor, neither the system-wide limit nor the limit of an
 * ancestor pauses its writers. Three quarters of what it could dirty below
 * memory.max and memory.high still do: its page cache, and the room there.
 *
 * Effective floors are divided as page_counter_calculate_protection() divides
 * memory.low, with memory_recursiveprot. A claim is the part of a floor that is
 * in use. If the claims of siblings are more than their parent's floor, each
 * gets a part of that in proportion to its claim. The unclaimed rest goes to
 * children that use more than they claim, in proportion to that. The floor of
 * the whole system is half of its limit.
 *
 * An example: the limit of the system is 32 MiB, and its floor 16. The cgroups
 * a and b have floors of 12 MiB each. While b has 2 MiB dirty, a may have 12.
 * When b has 8, the claims are 20 MiB: a's floor becomes 16 * 12 / 20 = 9.6 MiB
 * and b's 16 * 8 / 20 = 6.4, and writers of both are subject to the limits
 * above until the flushers have made room.
 *
 * Tejun Heo and Johannes Weiner designed memory.low; a floor for dirty pages
 * was proposed in 2026 by engineers of Uber.
 */

#include <linux/atomic.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>

#include "memcg_dirty.h"

/**
 * struct memcg_dirty_need - the numbers that an effective floor follows from
 * @parent: the parent's effective floor
 * @claims: the sum of the claims of the parent's children
 * @unclaimed: pages of the parent's subtree beyond @claims; 0 for the system
 * @floor: memory.dirty_min of the child
 * @claim: the claim of the child
 * @used: pages of the child that are dirty or under writeback
 *
 * All are in pages.
 */
struct memcg_dirty_need {
	unsigned long parent;
	unsigned long claims;
	unsigned long unclaimed;
	unsigned long floor;
	unsigned long claim;
	unsigned long used;
};

/*
 * A child's effective floor, in pages. Counts of different moments may
 * contradict each other; the result is no more than the parent's.
 */
static unsigned long memcg_dirty_divide_floor(const struct memcg_dirty_need *need)
{
	unsigned long claim = min(need->claim, need->claims);
	unsigned long rest, own, extra = need->used - min(need->used, claim);

	if (need->claims > need->parent)
		return mul_u64_u64_div_u64(need->parent, claim, need->claims);
	rest = need->parent - need->claims;
	own = min(need->floor, rest + claim);
	if (!need->unclaimed || !extra)
		return own;
	extra = min(extra, need->unclaimed);
	return max(own, claim + (unsigned long)mul_u64_u64_div_u64(rest, extra,
							   need->unclaimed));
}

/* The child of @pos on the path to @memcg. */
static struct mem_cgroup *memcg_dirty_next_on_path(struct mem_cgroup *pos,
						   struct mem_cgroup *memcg)
{
	while (parent_mem_cgroup(memcg) != pos)
		memcg = parent_mem_cgroup(memcg);
	return memcg;
}

/* The effective floor of @child, whose parent has one of @floor pages. */
static unsigned long memcg_dirty_child_floor(struct mem_cgroup *child,
					     unsigned long floor)
{
	struct mem_cgroup *parent = parent_mem_cgroup(child);
	struct memcg_dirty_need need = {
		.parent = floor,
		.claims = memcg_dirty_claims(parent),
		.floor = memcg_dirty_own_floor(child),
		.claim = memcg_dirty_claimed(child),
		.used = memcg_dirty_total(child),
	};
	unsigned long used;

	if (!mem_cgroup_is_root(parent)) {
		/* A child without a floor asks for its next page. */
		used = memcg_dirty_total(parent) + !need.floor;
		need.used += !need.floor;
		need.unclaimed = used - min(used, need.claims);
	}
	/* A subtree is spared no more than its own limit. */
	return min(memcg_dirty_divide_floor(&need), memcg_dirty_explicit(child));
}

/**
 * memcg_dirty_next_floor - go down a path by a level, with the effective floors
 * @pos: the root cgroup, or a memory cgroup on the path
 * @memcg: the end of the path, below @pos
 * @floor: the effective floor of @pos in pages; gets that of the result
 *
 * Context: any but interrupts.
 *
 * Return: the child of @pos on the path.
 */
struct mem_cgroup *memcg_dirty_next_floor(struct mem_cgroup *pos,
					  struct mem_cgroup *memcg,
					  unsigned long *floor)
{
	pos = memcg_dirty_next_on_path(pos, memcg);
	if (*floor)
		*floor = memcg_dirty_child_floor(pos, *floor);
	return pos;
}

/**
 * memcg_dirty_effective_floor - the part of a cgroup's floor that is in effect
 * @memcg: the memory cgroup, not the root cgroup
 *
 * This goes down from the root, in a time that grows with the square of the
 * depth: no result is kept that could be of another moment.
 *
 * Context: any but interrupts.
 *
 * Return: in pages.
 */
unsigned long memcg_dirty_effective_floor(struct mem_cgroup *memcg)
{
	struct mem_cgroup *pos = root_mem_cgroup;
	unsigned long floor = memcg_dirty_system_floor();

	while (pos != memcg && floor)
		pos = memcg_dirty_next_floor(pos, memcg, &floor);
	return floor;
}

/**
 * memcg_dirty_below_floor - is a cgroup below a part of its effective floor?
 * @memcg: the memory cgroup
 * @part: numerator of the part
 * @whole: its denominator
 *
 * Context: any but interrupts.
 *
 * Return: %false if there is no floor.
 */
bool memcg_dirty_below_floor(struct mem_cgroup *memcg, unsigned long part,
			     unsigned long whole)
{
	unsigned long floor;

	if (mem_cgroup_is_root(memcg) || !memcg_dirty_is_limited(memcg) ||
	    !memcg_dirty_own_floor(memcg_dirty_next_on_path(root_mem_cgroup,
							    memcg)))
		return false;
	floor = memcg_dirty_effective_floor(memcg);
	return floor && memcg_dirty_total(memcg) <=
			memcg_dirty_part(floor, part, whole);
}

#ifdef CONFIG_MEMCG_DIRTY_LIMIT_KUNIT_TEST
#include "tests/memcg_dirty_floor_kunit.c"
#endif
