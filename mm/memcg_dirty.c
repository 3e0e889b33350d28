// SPDX-License-Identifier: GPL-2.0
/*
 * Dirty page limits of memory cgroups
 *
 * memory.dirty_limit_in_bytes bounds the pages of a cgroup and its descendants
 * that are dirty or under writeback. The throttling is that of
 * balance_dirty_pages(), with its position ratio and pauses; this file keeps
 * the count that it works on and says which limit binds.
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
 *	of this off the path.
 *
 * Setting a limit while pages are dirty
 *
 *	A new domain must start from the number of pages that are dirty in its
 *	subtree already, no update may be missed and none be counted twice, and
 *	no CPU may be stopped or interrupted for it. The cgroups' own statistics
 *	hold, per CPU, the sum of all updates that have ever happened there. So
 *	each CPU notes at its first update for a cgroup under the new domain
 *	what this sum was before: that is where the domain's own counting starts
 *	(struct memcg_dirty_join). After a grace period every update goes to the
 *	new domain. The noted sums, and the present ones where a CPU had nothing
 *	to note since, add up to the start value. No update may come between the
 *	noting and the one that causes it: the callers see to that by disabling
 *	interrupts from before memcg_dirty_account() until the sum has changed.
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
 *	order. A domain that goes away needs no counting: its subtree has been
 *	counted above it all along.
 *
 * Lifetime
 *
 *	memcg_dirty_mutex serialises all changes. Updates and limit lookups run
 *	under RCU (updates have preemption disabled, which is as good). A domain
 *	is freed a grace period after the last pointer to it has gone, or with
 *	its cgroup, when nothing is charged there or below any more. A cgroup
 *	that was removed keeps its domain until then: its pages may still be
 *	dirty, and count for its ancestors. "Below" means what the css tree
 *	says: a css pins its parent. A cgroup whose controller was disabled and
 *	enabled again has two csses, and neither pins the other.
 *
 * Greg Thelen posted per-memcg dirty limits with hierarchy in 2010 and 2011;
 * Konstantin Khlebnikov used per-CPU counters for them in 2015.
 */

#include <linux/atomic.h>
#include <linux/backing-dev.h>
#include <linux/cgroup.h>
#include <linux/ctype.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/page_counter.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

/* The largest batch, in pages: what the base's own statistics tolerate. */
#define MEMCG_DIRTY_BATCH_MAX	64UL

/* A domain's shared count may be off by one part in this many of its limit. */
#define MEMCG_DIRTY_PRECISION	64UL

/**
 * struct memcg_dirty_join - how a CPU's sums entered the domain above
 * @gen: ->gen of the domain that they entered last
 * @base: the sums at that moment, in pages
 *
 * Written by its own CPU only.
 */
struct memcg_dirty_join {
	unsigned long gen;
	long base[NR_MEMCG_DIRTY_ITEMS];
};

/**
 * struct memcg_dirty_percpu - a CPU's part of a domain
 * @sum: all updates on this CPU, in pages; a page that is dirtied on one CPU
 *	and cleaned on another makes a negative one
 * @unfolded: the share of @sum that the domain's shared count lacks
 * @join: since when @sum counts in the next domain up
 */
struct memcg_dirty_percpu {
	long sum[NR_MEMCG_DIRTY_ITEMS];
	long unfolded[NR_MEMCG_DIRTY_ITEMS];
	struct memcg_dirty_join join;
};

/**
 * struct memcg_dirty_domain - the count of a limited cgroup's subtree
 * @up: the next domain on the way to the root
 * @pcpu: the CPUs' parts
 * @gen: distinguishes this domain from all others before and after it
 * @batch: how many pages a CPU collects before it folds them into @folded
 * @limit: pages that may be dirty or under writeback
 * @seed: pages that were dirty or under writeback when counting began
 * @folded: pages that were added since
 */
struct memcg_dirty_domain {
	struct memcg_dirty_domain __rcu *up;
	struct memcg_dirty_percpu __percpu *pcpu;
	unsigned long gen;
	unsigned int batch;
	unsigned long limit;
	long seed[NR_MEMCG_DIRTY_ITEMS];

	atomic_long_t folded[NR_MEMCG_DIRTY_ITEMS] ____cacheline_aligned_in_smp;
};

static const enum node_stat_item memcg_dirty_idx[NR_MEMCG_DIRTY_ITEMS] = {
	[MEMCG_DIRTY]		= NR_FILE_DIRTY,
	[MEMCG_WRITEBACK]	= NR_WRITEBACK,
};

DEFINE_STATIC_KEY_FALSE(memcg_dirty_limit_key);

/* Serialises changes of limits, and of the tree of domains. */
static DEFINE_MUTEX(memcg_dirty_mutex);
static LIST_HEAD(memcg_dirty_memcgs);
static unsigned long memcg_dirty_gen;

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
static unsigned int memcg_dirty_batch(unsigned long limit, unsigned int nr_cpus)
{
	unsigned long parts = MEMCG_DIRTY_PRECISION * NR_MEMCG_DIRTY_ITEMS *
			      nr_cpus;

	return clamp(limit / parts, 1UL, MEMCG_DIRTY_BATCH_MAX);
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
static noinline void memcg_dirty_join(struct memcg_dirty_join *join,
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

static struct memcg_dirty_domain *
memcg_dirty_enter(struct mem_cgroup *memcg)
{
	struct memcg_dirty_domain *up = rcu_dereference_sched(memcg->dirty.up);
	struct memcg_dirty_join *join = this_cpu_ptr(memcg->dirty.join);
	int cpu = smp_processor_id();

	if (memcg_dirty_needs_join(join, up))
		memcg_dirty_join(join, up,
				 memcg_page_state_cpu(memcg, NR_FILE_DIRTY, cpu),
				 memcg_page_state_cpu(memcg, NR_WRITEBACK, cpu));
	return up;
}

/**
 * memcg_dirty_add - add to a domain's count on this CPU
 * @domain: the domain
 * @item: what to count
 * @nr_pages: how many pages came, or went when negative
 *
 * Context: no other update can happen on this CPU.
 *
 * Return: the next domain up, which is to count them as well.
 */
static struct memcg_dirty_domain *
memcg_dirty_add(struct memcg_dirty_domain *domain, enum memcg_dirty_item item,
		long nr_pages)
{
	struct memcg_dirty_domain *up = rcu_dereference_sched(domain->up);
	struct memcg_dirty_percpu *pcpu = this_cpu_ptr(domain->pcpu);
	long unfolded = pcpu->unfolded[item] + nr_pages;

	if (memcg_dirty_needs_join(&pcpu->join, up))
		memcg_dirty_join(&pcpu->join, up, pcpu->sum[MEMCG_DIRTY],
				 pcpu->sum[MEMCG_WRITEBACK]);

	WRITE_ONCE(pcpu->sum[item], pcpu->sum[item] + nr_pages);
	if (abs(unfolded) >= domain->batch) {
		atomic_long_add(unfolded, &domain->folded[item]);
		unfolded = 0;
	}
	pcpu->unfolded[item] = unfolded;
	return up;
}

/**
 * __memcg_dirty_account - memcg_dirty_account() where some cgroup has a limit
 * @memcg: the memory cgroup whose statistics are about to change
 * @item: what changes
 * @nr_pages: the change, in pages
 *
 * Context: as for memcg_dirty_account().
 */
void __memcg_dirty_account(struct mem_cgroup *memcg, enum memcg_dirty_item item,
			   long nr_pages)
{
	struct memcg_dirty_domain *domain = memcg_dirty_enter(memcg);

	while (domain)
		domain = memcg_dirty_add(domain, item, nr_pages);
}

/* Limits */

/*
 * Pages in transit between two CPUs' sums can make a count negative for a
 * moment. Nobody is to see that.
 */
static unsigned long memcg_dirty_read(const struct memcg_dirty_domain *domain,
				      enum memcg_dirty_item item)
{
	long nr_pages = domain->seed[item] +
			atomic_long_read(&domain->folded[item]);

	return max(nr_pages, 0L);
}

/*
 * balance_dirty_pages() wants limits that fit 32 bits: domain_dirty_limits()
 * caps its own likewise.
 */
static void memcg_dirty_set_state(struct memcg_dirty_state *state,
				  const struct memcg_dirty_domain *domain)
{
	state->dirty = memcg_dirty_read(domain, MEMCG_DIRTY);
	state->writeback = memcg_dirty_read(domain, MEMCG_WRITEBACK);
	state->thresh = min_t(unsigned long, READ_ONCE(domain->limit), UINT_MAX);
	state->bg_thresh = state->thresh / 2;
	state->over_bg = state->dirty > state->bg_thresh;
}

/**
 * memcg_dirty_tighter - which of two limits leaves less room
 * @a: a limit
 * @b: another one, or one with a zero ->thresh, which is none
 *
 * Return: %true if @a is used up to a larger share than @b is.
 */
static bool memcg_dirty_tighter(const struct memcg_dirty_state *a,
				const struct memcg_dirty_state *b)
{
	u64 used_a = min_t(unsigned long, a->dirty + a->writeback, UINT_MAX);
	u64 used_b = min_t(unsigned long, b->dirty + b->writeback, UINT_MAX);

	if (!b->thresh)
		return true;
	return used_a * b->thresh > used_b * a->thresh;
}

bool __memcg_dirty_wb_state(struct bdi_writeback *wb,
			    struct memcg_dirty_state *state)
{
	struct mem_cgroup *memcg = mem_cgroup_from_css(wb->memcg_css);
	struct memcg_dirty_domain *domain;
	struct memcg_dirty_state next;
	bool over_bg = false;

	rcu_read_lock();
	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		domain = rcu_dereference(memcg->dirty.domain);
		if (!domain)
			continue;
		memcg_dirty_set_state(&next, domain);
		over_bg |= next.over_bg;
		if (memcg_dirty_tighter(&next, state))
			*state = next;
	}
	rcu_read_unlock();

	state->over_bg = over_bg;
	return state->thresh;
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

static struct memcg_dirty_domain *memcg_dirty_domain_alloc(unsigned long limit)
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
	domain->limit = limit;
	domain->batch = memcg_dirty_batch(limit, num_possible_cpus());
	return domain;
}

static void memcg_dirty_domain_free(struct memcg_dirty_domain *domain)
{
	if (!domain)
		return;
	free_percpu(domain->pcpu);
	kfree(domain);
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
static void memcg_dirty_seed_memcg(struct memcg_dirty_domain *domain,
				   struct mem_cgroup *memcg)
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
			domain->seed[item] += sum[item];
	}
	for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++)
		domain->seed[item] += memcg->dirty.left[item];
}

/* Add the pages that @below had counted when it joined @domain. */
static void memcg_dirty_seed_domain(struct memcg_dirty_domain *domain,
				    struct memcg_dirty_domain *below)
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
			domain->seed[item] += sum[item];
	}
	for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++)
		domain->seed[item] += below->seed[item];
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

/* Count what was dirty in @root's subtree before @domain saw the updates. */
static void memcg_dirty_seed(struct mem_cgroup *root,
			     struct memcg_dirty_domain *domain)
{
	struct memcg_dirty_domain *below;
	struct mem_cgroup *memcg;

	list_for_each_entry(memcg, &memcg_dirty_memcgs, dirty.node) {
		if (!memcg_dirty_below(memcg, root))
			continue;
		if (memcg_dirty_nearest(memcg) == domain)
			memcg_dirty_seed_memcg(domain, memcg);
		below = memcg_dirty_own(memcg);
		if (below && memcg_dirty_next(below) == domain)
			memcg_dirty_seed_domain(domain, below);
		cond_resched();
	}
}

/**
 * memcg_dirty_replace - give a cgroup another domain, or its first, or none
 * @memcg: the memory cgroup
 * @new: its new domain, NULL for none
 *
 * Context: memcg_dirty_mutex is held. Takes a grace period, and another one if
 * a domain replaces a domain.
 */
static void memcg_dirty_replace(struct mem_cgroup *memcg,
				struct memcg_dirty_domain *new)
{
	struct memcg_dirty_domain *old = memcg_dirty_own(memcg);
	struct memcg_dirty_domain *above;

	above = old ? memcg_dirty_next(old) : memcg_dirty_nearest(memcg);
	if (new) {
		static_branch_inc(&memcg_dirty_limit_key);
		new->gen = ++memcg_dirty_gen;
		RCU_INIT_POINTER(new->up, above);
	} else {
		RCU_INIT_POINTER(memcg->dirty.domain, NULL);
	}

	memcg_dirty_relink(memcg, old ?: above, new ?: above);
	synchronize_rcu();
	if (new) {
		memcg_dirty_seed(memcg, new);
		rcu_assign_pointer(memcg->dirty.domain, new);
		/* Limit lookups may have @old still. */
		if (old)
			synchronize_rcu();
	}

	if (old)
		static_branch_dec(&memcg_dirty_limit_key);
	memcg_dirty_domain_free(old);
}

/*
 * Another batch needs another domain. With a smaller one, the CPUs may hold
 * back more than that in the old domain, for as long as they see no update;
 * with a larger one, staying would cost the shared count more updates.
 *
 * Returns @new if it was not needed.
 */
static struct memcg_dirty_domain *
memcg_dirty_change_limit(struct mem_cgroup *memcg,
			 struct memcg_dirty_domain *new)
{
	struct memcg_dirty_domain *old = memcg_dirty_own(memcg);

	if (old && new->batch == old->batch) {
		WRITE_ONCE(old->limit, new->limit);
		return new;
	}
	memcg_dirty_replace(memcg, new);
	return NULL;
}

/**
 * memcg_dirty_set_limit - set, change or remove a cgroup's dirty limit
 * @memcg: the memory cgroup
 * @limit: the limit in pages, PAGE_COUNTER_MAX for none
 *
 * Context: may sleep, for a grace period or two.
 *
 * Return: 0, or -ENOMEM with the old limit in force.
 */
static int memcg_dirty_set_limit(struct mem_cgroup *memcg, unsigned long limit)
{
	struct memcg_dirty_domain *new = NULL;

	/* Not under the mutex: the allocation may reclaim, and mkdir wait. */
	if (limit != PAGE_COUNTER_MAX) {
		new = memcg_dirty_domain_alloc(limit);
		if (!new)
			return -ENOMEM;
	}

	mutex_lock(&memcg_dirty_mutex);
	if (new)
		new = memcg_dirty_change_limit(memcg, new);
	else if (memcg_dirty_own(memcg))
		memcg_dirty_replace(memcg, NULL);
	mutex_unlock(&memcg_dirty_mutex);

	memcg_dirty_domain_free(new);
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
	memcg->dirty.join = alloc_percpu_gfp(struct memcg_dirty_join,
					     GFP_KERNEL_ACCOUNT);
	return memcg->dirty.join ? 0 : -ENOMEM;
}

/**
 * memcg_dirty_online - place a new memory cgroup under the limits above it
 * @memcg: a cgroup that has no pages and no children yet
 *
 * Context: cgroup_mutex is held.
 */
void memcg_dirty_online(struct mem_cgroup *memcg)
{
	struct mem_cgroup *parent = parent_mem_cgroup(memcg);

	if (!parent)
		return;
	mutex_lock(&memcg_dirty_mutex);
	rcu_assign_pointer(memcg->dirty.up, memcg_dirty_nearest(parent));
	list_add_tail(&memcg->dirty.node, &memcg_dirty_memcgs);
	mutex_unlock(&memcg_dirty_mutex);
}

/**
 * memcg_dirty_reset - forget a memory cgroup's limit
 * @memcg: a cgroup for which the memory controller has been disabled
 *
 * Context: cgroup_mutex is held.
 */
void memcg_dirty_reset(struct mem_cgroup *memcg)
{
	memcg_dirty_set_limit(memcg, PAGE_COUNTER_MAX);
}

/* Leave to the parent what @memcg's statistics leave there. */
static void memcg_dirty_bequeath(struct mem_cgroup *memcg)
{
	struct mem_cgroup *parent = parent_mem_cgroup(memcg);
	int cpu, item;

	for (item = 0; item < NR_MEMCG_DIRTY_ITEMS; item++) {
		for_each_possible_cpu(cpu)
			memcg->dirty.left[item] +=
				memcg_page_state_cpu(memcg,
						     memcg_dirty_idx[item],
						     cpu);
		parent->dirty.left[item] += memcg->dirty.left[item];
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
	if (domain)
		static_branch_dec(&memcg_dirty_limit_key);
	mutex_unlock(&memcg_dirty_mutex);

	memcg_dirty_domain_free(domain);
	free_percpu(memcg->dirty.join);
}

/* Files */

/**
 * memcg_dirty_parse_limit - parse a limit in bytes
 * @buf: decimal digits with an optional suffix K, M, G, T, P or E, or "max";
 *	stripped; the suffix is cut off
 * @limit: the result in pages, rounded down; PAGE_COUNTER_MAX for "max"
 *
 * Unlike page_counter_memparse(), this does not take a number that overflows
 * for a small one, nor one too large for a limit for "max".
 *
 * Return: 0; -EINVAL for anything else or less than a page; -ERANGE for what
 * does not fit.
 */
static int memcg_dirty_parse_limit(char *buf, unsigned long *limit)
{
	static const char suffixes[] = "kmgtpe";
	size_t len = strlen(buf);
	const char *suffix;
	int shift = 0;
	u64 bytes;
	int err;

	if (!strcmp(buf, "max")) {
		*limit = PAGE_COUNTER_MAX;
		return 0;
	}

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
	*limit = (bytes << shift) / PAGE_SIZE;
	return 0;
}

static int memcg_dirty_limit_show(struct seq_file *m, void *v)
{
	struct mem_cgroup *memcg = mem_cgroup_from_seq(m);
	unsigned long limit = PAGE_COUNTER_MAX;
	struct memcg_dirty_domain *domain;

	rcu_read_lock();
	domain = rcu_dereference(memcg->dirty.domain);
	if (domain)
		limit = READ_ONCE(domain->limit);
	rcu_read_unlock();

	if (limit == PAGE_COUNTER_MAX)
		seq_puts(m, "max\n");
	else
		seq_printf(m, "%llu\n", (u64)limit * PAGE_SIZE);
	return 0;
}

static ssize_t memcg_dirty_limit_write(struct kernfs_open_file *of, char *buf,
				       size_t nbytes, loff_t off)
{
	struct mem_cgroup *memcg = mem_cgroup_from_css(of_css(of));
	unsigned long limit;
	int err;

	err = memcg_dirty_parse_limit(strstrip(buf), &limit);
	if (!err)
		err = memcg_dirty_set_limit(memcg, limit);
	return err ?: nbytes;
}

static struct cftype memcg_dirty_files[] = {
	{
		.name = "dirty_limit_in_bytes",
		.flags = CFTYPE_NOT_ON_ROOT,
		.seq_show = memcg_dirty_limit_show,
		.write = memcg_dirty_limit_write,
	},
	{ }	/* terminate */
};

static int __init memcg_dirty_init(void)
{
	if (!mem_cgroup_disabled())
		WARN_ON(cgroup_add_dfl_cftypes(&memory_cgrp_subsys,
					       memcg_dirty_files));
	return 0;
}
subsys_initcall(memcg_dirty_init);

#ifdef CONFIG_MEMCG_DIRTY_LIMIT_KUNIT_TEST
#include "tests/memcg_dirty_kunit.c"
#endif
