/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Flushers that hold dirty pages of a memory cgroup and are not its own
 *
 *	folio_account_dirtied()		mem_cgroup_track_foreign_dirty() makes a
 *					record, under the i_pages lock
 *	balance_dirty_pages()		mem_cgroup_flush_foreign() starts the
 *					recorded flushers
 *	dirty limits			memcg_foreign_next() walks the records
 *	mem_cgroup_css_offline()	memcg_foreign_offline() ends them
 *
 * A record holds references to its wb and bdi, so a walk may use the wb of a
 * removed cgroup. mm/memcg_foreign.c says when a record ends.
 */
#ifndef _LINUX_MEMCG_FOREIGN_H
#define _LINUX_MEMCG_FOREIGN_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct bdi_writeback;
struct mem_cgroup;
struct memcg_foreign_wb;

#ifdef CONFIG_CGROUP_WRITEBACK

/**
 * struct memcg_foreign - the foreign wbs of a memory cgroup
 * @wbs: records, the first @nr of them in use; NULL until there is one
 * @lock: protects additions and removals, and @offline
 * @nr: number of records
 * @offline: the cgroup is being removed and takes no more records
 * @work: ends the records that are no longer used; pending while there are any
 */
struct memcg_foreign {
	struct memcg_foreign_wb	*wbs;
	spinlock_t		lock;		/* nests inside the i_pages lock */
	unsigned int		nr;
	bool			offline;
	struct delayed_work	work;
};

void memcg_foreign_init(struct mem_cgroup *memcg);
void memcg_foreign_offline(struct mem_cgroup *memcg);
void memcg_foreign_free(struct mem_cgroup *memcg);
void memcg_foreign_record(struct mem_cgroup *memcg, struct bdi_writeback *wb);
struct bdi_writeback *memcg_foreign_next(struct mem_cgroup *memcg,
					 unsigned int *pos);
void memcg_foreign_retry(struct mem_cgroup *memcg, struct bdi_writeback *wb);
void memcg_foreign_put(struct bdi_writeback *wb);

#else

static inline void memcg_foreign_init(struct mem_cgroup *memcg)
{
}

static inline void memcg_foreign_offline(struct mem_cgroup *memcg)
{
}

static inline void memcg_foreign_free(struct mem_cgroup *memcg)
{
}

#endif

#endif
