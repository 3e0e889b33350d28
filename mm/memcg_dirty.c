// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty page limits of memory cgroups: the counts
 *
 * A dirty limit bounds the pages of a cgroup and its descendants that are dirty
 * or under writeback. This file keeps the counts; mm/memcg_dirty_limit.c has
 * the limits, and mm/memcg_dirty_wb.c what follows from the two.
 *
 * Why another count
 *
 *	memory.stat has file_dirty and file_writeback, but only from time to
 *	time: rstat may be seconds old, and what it lacks grows with the number
 *	of CPUs. A limit of 10 MiB cannot be held with that.
 *
 * Dirty domains
 *
 *	A cgroup with a limit owns a domain, which counts its whole subtree. A
 *	cgroup points to the nearest domain on its path to the root, and a
 *	domain to the next one up. An update adds to each domain on that path,
 *	on its own CPU, and folds into the domain's shared count once a batch
 *	has come together. So the shared count is off by
 *
 *		NR_MEMCG_DIRTY_ITEMS * possible CPUs * (batch - 1)
 *
 *	updates at most, CPUs that went offline included, and the batch is
 *	chosen such that this is a 64th of the limit at most: see
 *	memcg_dirty_batch(). While no cgroup has a limit, a static key keeps all
 *	of this off the path; and updates of other statistics never come here.
 *	Where only one domain counts, or none, which are the common cases, updates
 *	find this CPU's part of it, or of a sink, in a single step (->only).
 *
 * Setting a limit while pages are dirty
 *
 *	A new domain must start from the number of pages that are dirty in its
 *	subtree already, no update may be missed and none be counted twice, and
 *	no CPU may be stopped for it. The cgroups' own statistics hold, per CPU,
 *	the sum of all updates that have ever happened there. While a domain is
 *	being set up (memcg_dirty_joining), each CPU notes at its first update
 *	for a cgroup under the new domain what this sum was before: that is where
 *	the domain's own counting starts (struct memcg_dirty_join). A grace
 *	period sees to it that all CPUs know that they have to, and that none is
 *	on the short way, where there is no looking; after another one, every
 *	update goes to the new domain. Then the noted sums, and the present ones
 *	where a CPU had nothing to note since, add up to the start value. No
 *	update may come between the noting and the one that causes it: interrupts
 *	are disabled from before the one until after the other.
 *
 *	The pairing, with L the updating CPU and R the task that sets the limit:
 *
 *		L: note the sum, set ->gen	R: read the sum
 *		   smp_wmb()			   smp_rmb()
 *		   change the sum		   read ->gen
 *
 *	A sum that contains an update of L's comes with ->gen set; R then takes
 *	the noted sum in its place.
 *
 *	Domains further down are treated alike: they too have a sum per CPU, and
 *	join the new domain at their first update. So limits can be set in any
 *	order. A domain that replaces another one, for another batch, is first
 *	put above it and starts from its count, so that there is a good count at
 *	all times. A domain that goes away needs no counting: its subtree has
 *	been counted above it all along.
 *
 * Lifetime
 *
 *	memcg_dirty_mutex serialises all changes. Updates and limit lookups run
 *	under RCU (updates have preemption disabled, which is as good). A domain
 *	is freed a grace period after the last pointer to it has gone; the last
 *	one of a cgroup goes with that, when nothing is charged there or below
 *	any more. A cgroup that was removed keeps its domain until then: its
 *	pages may still be dirty, and count for its ancestors. Where they become
 *	the parent's as it is removed, counts go by the statistics: those of a
 *	removed cgroup change no more once what is left of them has moved to the
 *	parent (mm/memcg_dirty_state.h), and it may be freed at any time after
 *	that, with pages dirty that it has counted. "Below" means what the css
 *	tree says: a css pins its parent. A cgroup whose controller was disabled
 *	and enabled again has two csses, and neither pins the other.
 *
 * Greg Thelen posted per-memcg dirty limits with hierarchy in 2010 and 2011;
 * Konstantin Khlebnikov used per-CPU counters for them in 2015.
 */

#include <linux/atomic.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/page_counter.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "memcg_dirty.h"

/* The largest batch, in pages: what the base's own statistics tolerate. */
#define MEMCG_DIRTY_BATCH_MAX	64UL

const enum node_stat_item memcg_dirty_idx[NR_MEMCG_DIRTY_ITEMS] = {
	[MEMCG_DIRTY]		= NR_FILE_DIRTY,
	[MEMCG_WRITEBACK]	= NR_WRITEBACK,
};

DEFINE_STATIC_KEY_FALSE(memcg_dirty_limit_key);

/* How many domains are near their limits. */
atomic_t memcg_dirty_nr_near = ATOMIC_INIT(0);

/* Serialises changes of limits, and of the tree of domains. */
static DEFINE_MUTEX(memcg_dirty_mutex);
static LIST_HEAD(memcg_dirty_memcgs);
LIST_HEAD(memcg_dirty_domains);

/* CPUs are to note their sums as they enter a domain. */
static bool memcg_dirty_joining __read_mostly;
static unsigned long memcg_dirty_gen;

/* Whatever is added here, the sum is further above @low than @width. */
static DEFINE_PER_CPU(struct memcg_dirty_percpu, memcg_dirty_none) = {
	.low = { LONG_MIN, LONG_MIN },
};

/* Here, it never is: nobody wants to know what has no limit on its path. */
static DEFINE_PER_CPU(struct memcg_dirty_percpu, memcg_dirty_unlimited) = {
	.width = ULONG_MAX,
};

/* Accounting */

/**
 * memcg_dirty_batch - the batch of a domain
 * @limit: the domain's limit in pages
 * @nr_cpus: the number of possible CPUs
 *
 * Return: how many pages a CPU may hold back, for the sum of what all CPUs hold
 * back of all items to stay within a MEMCG_DIRTY_PRECISION-th of @limit. A
 * batch of one holds nothing back.
 */
unsigned int memcg_dirty_batch(unsigned long limit, unsigned int nr_cpus)
{
	unsigned long parts = MEMCG_DIRTY_PRECISION * NR_MEMCG_DIRTY_ITEMS *
			      nr_cpus;

	return clamp(limit / parts, 1UL, MEMCG_DIRTY_BATCH_MAX);
}

/**
 * memcg_dirty_error - the bound on the error of a domain's shared count
 * @batch: the domain's batch
 * @nr_cpus: the number of possible CPUs
 *
 * Return: by how many pages the shared counts of all items together can differ
 * from the pages that there are.
 */
unsigned long memcg_dirty_error(unsigned int batch, unsigned int nr_cpus)
{
	return (unsigned long)NR_MEMCG_DIRTY_ITEMS * nr_cpus * (batch - 1);
}

/**
 * memcg_dirty_needs_join - are this CPU's sums yet to enter a domain?
 * @join: this CPU's record
 * @up: the domain, NULL for none
 *
 * Return: %true at the first update since @up became the domain above; the
 * caller is to call memcg_dirty_join() then.
 */
static bool memcg_dirty_needs_join(const struct memcg_dirty_join *join,
				   const struct memcg_dirty_domain *up)
{
	return up && unlikely(join->gen != up->gen);
}

/**
 * memcg_dirty_join - enter this CPU's sums into a domain
 * @join: this CPU's record
 * @up: the domain
 * @dirty: the sum of NR_FILE_DIRTY on this CPU, in pages
 * @writeback: the sum of NR_WRITEBACK on this CPU, in pages
 *
 * Context: no other update can happen on this CPU before the caller has made
 * its own.
 */
static void memcg_dirty_join(struct memcg_dirty_join *join,
			     const struct memcg_dirty_domain *up,
			     long dirty, long writeback)
{
	WRITE_ONCE(join->base[MEMCG_DIRTY], dirty);
	WRITE_ONCE(join->base[MEMCG_WRITEBACK], writeback);
	/* memcg_dirty_snapshot() reads ->base after ->gen. */
	smp_store_release(&join->gen, up->gen);
	/* It reads ->gen after the sums that the caller is about to change. */
	smp_wmb();
}

/**
 * memcg_dirty_read_total - a domain's shared count of all items together
 * @domain: the domain
 *
 * This is a count of its own. A sum of two would be one of two moments, and for
 * who is interrupted in between, or runs on a virtual CPU that is, what has gone
 * from the first and what has come to the second since would both be in it.
 *
 * Pages in transit between two CPUs' sums can make a count negative for a
 * moment. Nobody is to see that.
 *
 * Return: the pages; off by memcg_dirty_error() at most.
 */
unsigned long memcg_dirty_read_total(const struct memcg_dirty_domain *domain)
{
	long nr_pages = READ_ONCE(domain->seed[MEMCG_DIRTY]) +
			READ_ONCE(domain->seed[MEMCG_WRITEBACK]) +
			atomic_long_read(&domain->total);

	return max(nr_pages, 0L);
}

/**
 * memcg_dirty_read_dirty - a domain's shared count of dirty pages
 * @domain: the domain
 *
 * Return: the pages; off by memcg_dirty_error() at most.
 */
unsigned long memcg_dirty_read_dirty(const struct memcg_dirty_domain *domain)
{
	long nr_pages = READ_ONCE(domain->seed[MEMCG_DIRTY]) +
			atomic_long_read(&domain->dirty);

	return max(nr_pages, 0L);
}

static void memcg_dirty_raise_peak(unsigned long *peak, unsigned long nr_pages)
{
	unsigned long old = READ_ONCE(*peak);

	while (nr_pages > old && !try_cmpxchg(peak, &old, nr_pages))
		;
}

/**
 * memcg_dirty_note - take note of what a domain's shared count has come to
 * @domain: the domain
 */
void memcg_dirty_note(struct memcg_dirty_domain *domain)
{
	unsigned long total = memcg_dirty_read_total(domain);
	unsigned long dirty = min(memcg_dirty_read_dirty(domain), total);
	unsigned long limit = READ_ONCE(domain->limit);
	unsigned long margin = READ_ONCE(domain->margin);
	int near = total + margin >= limit - limit / 16;

	memcg_dirty_raise_peak(&domain->peak[MEMCG_DIRTY], dirty);
	memcg_dirty_raise_peak(&domain->peak[MEMCG_WRITEBACK], total - dirty);
	memcg_dirty_raise_peak(&domain->peak[MEMCG_DIRTY_TOTAL], total);
	if (near != READ_ONCE(domain->near) && near != xchg(&domain->near, near))
		atomic_add(near ? 1 : -1, &memcg_dirty_nr_near);
}

/*
 * How large are the folios that tasks dirty? Kernel threads are not looked at:
 * one makes all that is left of a removed cgroup its parent's in a single update.
 */
static void memcg_dirty_note_folio(struct memcg_dirty_domain *domain,
				   enum memcg_dirty_item item, long nr_pages)
{
	if (item != MEMCG_DIRTY || current->flags & PF_KTHREAD)
		return;
	if (nr_pages > (long)READ_ONCE(domain->largest[0]))
		WRITE_ONCE(domain->largest[0], nr_pages);
}

/*
 * Both items at once: a page that goes from dirty to writeback is not to be seen
 * in both counts, nor in neither, for longer than need be.
 */
static void memcg_dirty_fold(struct memcg_dirty_domain *domain,
			     struct memcg_dirty_percpu *pcpu)
{
	long held_back[NR_MEMCG_DIRTY_ITEMS], reach = domain->batch - 1;
	long total = 0;
	int item;

	for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++) {
		held_back[item] = pcpu->sum[item] - (pcpu->low[item] + reach);
		pcpu->low[item] = pcpu->sum[item] - reach;
		total += held_back[item];
	}
	if (held_back[MEMCG_DIRTY])
		atomic_long_add(held_back[MEMCG_DIRTY], &domain->dirty);
	if (total)
		atomic_long_add(total, &domain->total);
	memcg_dirty_note(domain);
}

/* Count in @domain and all above. */
static void memcg_dirty_add_all(struct memcg_dirty_domain *domain,
				enum memcg_dirty_item item, long nr_pages)
{
	struct memcg_dirty_percpu *pcpu;

	for (; domain; domain = rcu_dereference_sched(domain->up)) {
		pcpu = this_cpu_ptr(domain->pcpu);
		if (!memcg_dirty_add(pcpu, item, nr_pages))
			continue;
		memcg_dirty_note_folio(domain, item, nr_pages);
		memcg_dirty_fold(domain, pcpu);
	}
}

/* Note this CPU's sums of @domain and all above where that is due. */
static void memcg_dirty_join_all(struct memcg_dirty_domain *domain)
{
	struct memcg_dirty_percpu *pcpu;
	struct memcg_dirty_domain *up;

	for (; domain; domain = up) {
		up = rcu_dereference_sched(domain->up);
		pcpu = this_cpu_ptr(domain->pcpu);
		if (memcg_dirty_needs_join(&pcpu->join, up))
			memcg_dirty_join(&pcpu->join, up,
					 pcpu->sum[MEMCG_DIRTY],
					 pcpu->sum[MEMCG_WRITEBACK]);
	}
}

static noinline void memcg_dirty_join_memcg(struct mem_cgroup *memcg,
					    struct memcg_dirty_domain *up)
{
	struct memcg_dirty_join *join = this_cpu_ptr(memcg->dirty.join);
	int cpu = smp_processor_id();

	if (memcg_dirty_needs_join(join, up))
		memcg_dirty_join(join, up,
				 memcg_page_state_cpu(memcg, NR_FILE_DIRTY, cpu),
				 memcg_page_state_cpu(memcg, NR_WRITEBACK, cpu));
	memcg_dirty_join_all(up);
}

/**
 * memcg_dirty_count - count pages that become dirty or clean in all domains
 * @memcg: the memory cgroup whose statistics are about to change
 * @item: what changes
 * @nr_pages: the change, in pages
 *
 * The long way, where domains may be stacked, and CPUs may have to join one.
 *
 * Context: no other update can happen on this CPU until the memory cgroup's
 * own count has changed.
 */
void memcg_dirty_count(struct mem_cgroup *memcg, enum memcg_dirty_item item,
		       long nr_pages)
{
	struct memcg_dirty_domain *up = rcu_dereference_sched(memcg->dirty.up);

	if (unlikely(READ_ONCE(memcg_dirty_joining)))
		memcg_dirty_join_memcg(memcg, up);
	memcg_dirty_add_all(up, item, nr_pages);
}

/**
 * memcg_dirty_account_slow - finish what the update path has begun
 * @memcg: the memory cgroup whose statistics are about to change
 * @pcpu: where the update path has counted: this CPU's part of a domain, or
 *	of memcg_dirty_none
 * @item: what changes
 * @nr_pages: the change, in pages
 *
 * Context: as for memcg_dirty_count().
 */
void memcg_dirty_account_slow(struct mem_cgroup *memcg,
			      struct memcg_dirty_percpu *pcpu,
			      enum memcg_dirty_item item, long nr_pages)
{
	if (!pcpu->domain) {
		memcg_dirty_count(memcg, item, nr_pages);
		return;
	}
	memcg_dirty_note_folio(pcpu->domain, item, nr_pages);
	memcg_dirty_fold(pcpu->domain, pcpu);
}

/* Reading */

/**
 * memcg_dirty_read_exact - add up a domain's count
 * @domain: the domain
 * @item: what was counted
 *
 * Return: the pages; exact as far as the CPUs stand still.
 */
unsigned long memcg_dirty_read_exact(const struct memcg_dirty_domain *domain,
				     enum memcg_dirty_item item)
{
	long nr_pages = domain->seed[item];
	int cpu;

	for_each_possible_cpu(cpu)
		nr_pages += READ_ONCE(per_cpu_ptr(domain->pcpu, cpu)->sum[item]);
	return max(nr_pages, 0L);
}

/**
 * memcg_dirty_read_local - add up a memory cgroup's own count
 * @memcg: the memory cgroup
 * @item: what to count
 *
 * Return: the pages that are charged to @memcg itself; exact as far as the CPUs
 * stand still.
 */
unsigned long memcg_dirty_read_local(struct mem_cgroup *memcg,
				     enum memcg_dirty_item item)
{
	long nr_pages = READ_ONCE(memcg->dirty.left[item]);
	int cpu;

	for_each_possible_cpu(cpu)
		nr_pages += memcg_page_state_cpu(memcg, memcg_dirty_idx[item],
						 cpu);
	return max(nr_pages, 0L);
}

/**
 * memcg_dirty_reset_peaks - let a domain's peaks start again from its counts
 * @domain: the domain
 */
void memcg_dirty_reset_peaks(struct memcg_dirty_domain *domain)
{
	int i;

	for (i = 0; i < NR_MEMCG_DIRTY_PEAKS; i++)
		WRITE_ONCE(domain->peak[i], 0);
	memcg_dirty_note(domain);
}

/* Domains */

/* The domain of @memcg itself, or NULL. */
static struct memcg_dirty_domain *memcg_dirty_own(struct mem_cgroup *memcg)
{
	return rcu_dereference_protected(memcg->dirty.domain,
					 lockdep_is_held(&memcg_dirty_mutex));
}

/* The domain that counts @memcg's pages, or NULL. */
static struct memcg_dirty_domain *memcg_dirty_nearest(struct mem_cgroup *memcg)
{
	return rcu_dereference_protected(memcg->dirty.up,
					 lockdep_is_held(&memcg_dirty_mutex));
}

/* The next domain above @domain, or NULL. */
static struct memcg_dirty_domain *
memcg_dirty_next(const struct memcg_dirty_domain *domain)
{
	return rcu_dereference_protected(domain->up,
					 lockdep_is_held(&memcg_dirty_mutex));
}

static struct memcg_dirty_domain *
memcg_dirty_domain_alloc(struct mem_cgroup *memcg)
{
	struct memcg_dirty_domain *domain;

	domain = kzalloc(sizeof(*domain), GFP_KERNEL_ACCOUNT);
	if (!domain)
		return NULL;
	domain->pcpu = alloc_percpu_gfp(struct memcg_dirty_percpu,
					GFP_KERNEL_ACCOUNT);
	if (!domain->pcpu) {
		kfree(domain);
		return NULL;
	}
	domain->memcg = memcg;
	return domain;
}

static void memcg_dirty_domain_free(struct memcg_dirty_domain *domain)
{
	if (!domain)
		return;
	if (domain->near)
		atomic_dec(&memcg_dirty_nr_near);
	free_percpu(domain->pcpu);
	kfree(domain);
}

static void memcg_dirty_domain_free_rcu(struct rcu_head *rcu)
{
	memcg_dirty_domain_free(container_of(rcu, struct memcg_dirty_domain,
					     rcu));
}

/**
 * memcg_dirty_snapshot - what a CPU's sums were when they entered a domain
 * @join: the CPU's record
 * @gen: ->gen of the domain
 * @sum: the CPU's sums, read just now; replaced by those at the time of joining
 *	if the CPU has joined since
 *
 * Context: a grace period after the domain was made known.
 */
static void memcg_dirty_snapshot(const struct memcg_dirty_join *join,
				 unsigned long gen,
				 long sum[NR_MEMCG_DIRTY_ITEMS])
{
	int item;

	/* Pairs with smp_wmb() in memcg_dirty_join(). */
	smp_rmb();
	/* Pairs with smp_store_release() in memcg_dirty_join(). */
	if (smp_load_acquire(&join->gen) != gen)
		return;
	for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++)
		sum[item] = READ_ONCE(join->base[item]);
}

/* Add the pages that were charged to @memcg itself when it joined @domain. */
static void memcg_dirty_seed_memcg(const struct memcg_dirty_domain *domain,
				   struct mem_cgroup *memcg, long seed[])
{
	long sum[NR_MEMCG_DIRTY_ITEMS];
	int cpu, item;

	for_each_possible_cpu(cpu) {
		for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++)
			sum[item] = memcg_page_state_cpu(memcg,
							 memcg_dirty_idx[item],
							 cpu);
		memcg_dirty_snapshot(per_cpu_ptr(memcg->dirty.join, cpu),
				     domain->gen, sum);
		for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++)
			seed[item] += sum[item];
	}
	for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++)
		seed[item] += memcg->dirty.left[item];
}

/* Add the pages that @below had counted when it joined @domain. */
static void memcg_dirty_seed_domain(const struct memcg_dirty_domain *domain,
				    const struct memcg_dirty_domain *below,
				    long seed[])
{
	long sum[NR_MEMCG_DIRTY_ITEMS];
	struct memcg_dirty_percpu *pcpu;
	int cpu, item;

	for_each_possible_cpu(cpu) {
		pcpu = per_cpu_ptr(below->pcpu, cpu);
		for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++)
			sum[item] = READ_ONCE(pcpu->sum[item]);
		memcg_dirty_snapshot(&pcpu->join, domain->gen, sum);
		for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++)
			seed[item] += sum[item];
	}
	for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++)
		seed[item] += below->seed[item];
}

/* Is @memcg @root, or below it in the css tree? See "Lifetime" above. */
static bool memcg_dirty_below(struct mem_cgroup *memcg, struct mem_cgroup *root)
{
	while (memcg && memcg != root)
		memcg = parent_mem_cgroup(memcg);
	return memcg;
}

/*
 * Make all in @root's subtree that counts in @old count in @new instead. The
 * list has the cgroups that were removed but have pages still: they count too.
 */
static void memcg_dirty_relink(struct mem_cgroup *root,
			       struct memcg_dirty_domain *old,
			       struct memcg_dirty_domain *new)
{
	struct memcg_dirty_domain *domain;
	struct mem_cgroup *memcg;

	list_for_each_entry(memcg, &memcg_dirty_memcgs, dirty.node) {
		if (!memcg_dirty_below(memcg, root))
			continue;
		if (memcg_dirty_nearest(memcg) == old)
			rcu_assign_pointer(memcg->dirty.up, new);
		domain = memcg_dirty_own(memcg);
		if (domain && memcg_dirty_next(domain) == old)
			rcu_assign_pointer(domain->up, new);
		cond_resched();
	}
}

/* Updates are to take the long way, for CPUs to join. */
static void memcg_dirty_clear_only(void)
{
	struct mem_cgroup *memcg;

	list_for_each_entry(memcg, &memcg_dirty_memcgs, dirty.node) {
		WRITE_ONCE(memcg->dirty.only, &memcg_dirty_none);
		cond_resched();
	}
}

/* ->only for who counts in @up */
static struct memcg_dirty_percpu __percpu *
memcg_dirty_find_only(const struct memcg_dirty_domain *up)
{
	if (!up)
		return &memcg_dirty_unlimited;
	return memcg_dirty_next(up) ? &memcg_dirty_none : up->pcpu;
}

/* Where one domain counts at most, updates can take the short way. */
static void memcg_dirty_set_only(void)
{
	struct memcg_dirty_percpu __percpu *only;
	struct mem_cgroup *memcg;

	list_for_each_entry(memcg, &memcg_dirty_memcgs, dirty.node) {
		only = memcg_dirty_find_only(memcg_dirty_nearest(memcg));
		/* What it points to is set up: a grace period has gone by. */
		WRITE_ONCE(memcg->dirty.only, only);
		cond_resched();
	}
}

/* Add what was dirty in @root's subtree before @domain saw the updates. */
static void memcg_dirty_seed_subtree(const struct memcg_dirty_domain *domain,
				     struct mem_cgroup *root, long seed[])
{
	struct memcg_dirty_domain *below;
	struct mem_cgroup *memcg;

	list_for_each_entry(memcg, &memcg_dirty_memcgs, dirty.node) {
		if (!memcg_dirty_below(memcg, root))
			continue;
		if (memcg_dirty_nearest(memcg) == domain)
			memcg_dirty_seed_memcg(domain, memcg, seed);
		below = memcg_dirty_own(memcg);
		if (below && memcg_dirty_next(below) == domain)
			memcg_dirty_seed_domain(domain, below, seed);
		cond_resched();
	}
}

/*
 * Updates look at the seed all the while, and parts of it say nothing: a single
 * CPU's sum may be far from zero.
 */
static void memcg_dirty_set_seed(struct memcg_dirty_domain *domain,
				 const long seed[])
{
	int item;

	for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++)
		WRITE_ONCE(domain->seed[item], seed[item]);
	memcg_dirty_note(domain);
}

/*
 * What a domain has learned survives it. Nothing points to it any more; updates
 * and lookups that are under way may have it still.
 */
static void memcg_dirty_retire(struct memcg_dirty_domain *domain)
{
	unsigned long *peak = domain->memcg->dirty.peak;
	int i;

	for (i = 0; i < NR_MEMCG_DIRTY_PEAKS; i++)
		WRITE_ONCE(peak[i], max(peak[i], domain->peak[i]));
	static_branch_dec(&memcg_dirty_limit_key);
	call_rcu(&domain->rcu, memcg_dirty_domain_free_rcu);
}

/* A domain that has a limit, but nothing to count yet. */
static void memcg_dirty_setup(struct memcg_dirty_domain *domain,
			      unsigned int batch)
{
	struct memcg_dirty_percpu *pcpu;
	int cpu, item;

	domain->batch = batch;
	for_each_possible_cpu(cpu) {
		pcpu = per_cpu_ptr(domain->pcpu, cpu);
		pcpu->domain = domain;
		for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++)
			pcpu->low[item] = 1L - batch;
		pcpu->width = 2UL * (batch - 1);
	}
}

/* Have all that counts in @old under @memcg, or @old itself, count in @new too. */
static void memcg_dirty_insert(struct mem_cgroup *memcg,
			       struct memcg_dirty_domain *new)
{
	struct memcg_dirty_domain *old = memcg_dirty_own(memcg);
	long seed[NR_MEMCG_DIRTY_ITEMS] = {};
	struct memcg_dirty_domain *above;

	above = old ? memcg_dirty_next(old) : memcg_dirty_nearest(memcg);
	new->gen = ++memcg_dirty_gen;
	RCU_INIT_POINTER(new->up, above);

	WRITE_ONCE(memcg_dirty_joining, true);
	memcg_dirty_clear_only();
	synchronize_rcu();
	/* From here on, all CPUs note their sums. */
	if (old)
		rcu_assign_pointer(old->up, new);
	else
		memcg_dirty_relink(memcg, above, new);
	synchronize_rcu();
	/* From here on, no CPU passes @new by. */
	if (old)
		memcg_dirty_seed_domain(new, old, seed);
	else
		memcg_dirty_seed_subtree(new, memcg, seed);
	memcg_dirty_set_seed(new, seed);
	WRITE_ONCE(memcg_dirty_joining, false);
}

/**
 * memcg_dirty_replace - give a cgroup another domain, or its first, or none
 * @memcg: the memory cgroup
 * @new: its new domain, NULL for none
 *
 * Context: memcg_dirty_mutex is held. Takes two grace periods if there is a new
 * domain.
 */
static void memcg_dirty_replace(struct mem_cgroup *memcg,
				struct memcg_dirty_domain *new)
{
	struct memcg_dirty_domain *old = memcg_dirty_own(memcg);

	if (new) {
		static_branch_inc(&memcg_dirty_limit_key);
		memcg_dirty_insert(memcg, new);
		list_add_rcu(&new->node, &memcg_dirty_domains);
	}
	rcu_assign_pointer(memcg->dirty.domain, new);
	if (old)
		memcg_dirty_relink(memcg, old, new ?: memcg_dirty_next(old));
	memcg_dirty_set_only();
	if (old) {
		list_del_rcu(&old->node);
		if (new)
			memcpy(new->shared, old->shared, sizeof(new->shared));
		memcg_dirty_retire(old);
	}
}

/*
 * Another batch needs another domain. With a smaller one, the CPUs may hold
 * back more than that in the old domain, for as long as they see no update;
 * with a larger one, staying would cost the shared count more updates.
 *
 * Returns @new if it was not needed. Without @new, the old one has to do.
 */
static struct memcg_dirty_domain *
memcg_dirty_change(struct mem_cgroup *memcg, struct memcg_dirty_domain *new)
{
	struct memcg_dirty_domain *old = memcg_dirty_own(memcg);

	if (new) {
		memcg_dirty_apply(memcg, new);
		memcg_dirty_setup(new, memcg_dirty_batch(min(new->limit,
							     2 * new->background),
							 num_possible_cpus()));
	}
	if (old && (!new || new->batch == old->batch)) {
		memcg_dirty_apply(memcg, old);
		return new;
	}
	if (new)
		memcg_dirty_replace(memcg, new);
	return NULL;
}

/**
 * memcg_dirty_set - set, change or remove one of a cgroup's dirty limits
 * @memcg: the memory cgroup
 * @which: the limit
 * @setting: its new value
 *
 * Context: may sleep, for two grace periods and those of others' changes.
 *
 * Return: 0, or -ENOMEM with the old limit in force; removing one does not
 * fail.
 */
int memcg_dirty_set(struct mem_cgroup *memcg, enum memcg_dirty_limit which,
		    const struct memcg_dirty_setting *setting)
{
	/* Not under the mutex: the allocation may reclaim, and mkdir wait. */
	struct memcg_dirty_domain *new = memcg_dirty_domain_alloc(memcg);

	if (!new && memcg_dirty_is_set(setting))
		return -ENOMEM;

	mutex_lock(&memcg_dirty_mutex);
	memcg_dirty_store(memcg, which, setting);
	if (memcg_dirty_any_set(memcg))
		new = memcg_dirty_change(memcg, new);
	else if (memcg_dirty_own(memcg))
		memcg_dirty_replace(memcg, NULL);
	mutex_unlock(&memcg_dirty_mutex);

	memcg_dirty_domain_free(new);
	memcg_dirty_wake_subtrees();
	return 0;
}

/* The life of a cgroup */

/**
 * memcg_dirty_alloc - prepare a memory cgroup for dirty limits
 * @memcg: a cgroup that nothing else knows of yet
 *
 * Return: 0 or -ENOMEM.
 */
int memcg_dirty_alloc(struct mem_cgroup *memcg)
{
	INIT_LIST_HEAD(&memcg->dirty.node);
	memcg_dirty_init_settings(memcg);
	memcg->dirty.only = &memcg_dirty_none;
	memcg->dirty.join = alloc_percpu_gfp(struct memcg_dirty_join,
					     GFP_KERNEL_ACCOUNT);
	return memcg->dirty.join ? 0 : -ENOMEM;
}

/**
 * memcg_dirty_online - place a new memory cgroup under the limits above it
 * @memcg: a cgroup that has no pages and no children yet
 *
 * There is none above the root cgroup, nor can it have one.
 *
 * Context: cgroup_mutex is held.
 */
void memcg_dirty_online(struct mem_cgroup *memcg)
{
	struct mem_cgroup *parent = parent_mem_cgroup(memcg);

	if (!parent) {
		memcg->dirty.only = &memcg_dirty_unlimited;
		return;
	}
	mutex_lock(&memcg_dirty_mutex);
	rcu_assign_pointer(memcg->dirty.up, memcg_dirty_nearest(parent));
	memcg->dirty.only = parent->dirty.only;
	list_add_tail(&memcg->dirty.node, &memcg_dirty_memcgs);
	mutex_unlock(&memcg_dirty_mutex);
}

/**
 * memcg_dirty_reset - forget a memory cgroup's limits
 * @memcg: a cgroup for which the memory controller has been disabled
 *
 * Context: cgroup_mutex is held.
 */
void memcg_dirty_reset(struct mem_cgroup *memcg)
{
	mutex_lock(&memcg_dirty_mutex);
	memcg_dirty_store(memcg, MEMCG_DIRTY_LIMIT, &memcg_dirty_unset);
	memcg_dirty_store(memcg, MEMCG_DIRTY_BACKGROUND, &memcg_dirty_unset);
	if (memcg_dirty_own(memcg))
		memcg_dirty_replace(memcg, NULL);
	mutex_unlock(&memcg_dirty_mutex);
}

/* Leave to the parent what @memcg's statistics leave there. */
static void memcg_dirty_bequeath(struct mem_cgroup *memcg)
{
	struct mem_cgroup *parent = parent_mem_cgroup(memcg);
	int cpu, item;
	long left;

	for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++) {
		left = memcg->dirty.left[item] + parent->dirty.left[item];
		for_each_possible_cpu(cpu)
			left += memcg_page_state_cpu(memcg,
						     memcg_dirty_idx[item],
						     cpu);
		WRITE_ONCE(parent->dirty.left[item], left);
	}
}

/**
 * memcg_dirty_free - free what memcg_dirty_alloc() and later calls have made
 * @memcg: a cgroup without pages and without children
 *
 * Context: may sleep; nothing refers to @memcg any more.
 */
void memcg_dirty_free(struct mem_cgroup *memcg)
{
	struct memcg_dirty_domain *domain;

	if (!memcg->dirty.join)
		return;

	mutex_lock(&memcg_dirty_mutex);
	domain = memcg_dirty_own(memcg);
	if (!list_empty(&memcg->dirty.node)) {
		memcg_dirty_bequeath(memcg);
		list_del(&memcg->dirty.node);
	}
	if (domain) {
		list_del_rcu(&domain->node);
		memcg_dirty_retire(domain);
	}
	mutex_unlock(&memcg_dirty_mutex);

	free_percpu(memcg->dirty.join);
}

#ifdef CONFIG_MEMCG_DIRTY_LIMIT_KUNIT_TEST
#include "tests/memcg_dirty_kunit.c"
#endif
