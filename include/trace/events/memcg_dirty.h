/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM memcg_dirty

#if !defined(_TRACE_MEMCG_DIRTY_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_MEMCG_DIRTY_H

#include <linux/tracepoint.h>
#include <linux/types.h>

/*
 * Cgroups are IDs; counts and limits are in pages. limited_cgroup is the cgroup
 * itself or the ancestor whose limit binds it most. The limit is the threshold
 * in force: memory.dirty_limit_in_bytes less the error of the counts, or the
 * room that reclaim leaves. It is 0 if there is only a background limit.
 */

TRACE_EVENT(memcg_dirty_throttle,

	TP_PROTO(u64 cgroup, u64 limited_cgroup, unsigned long dirty,
		 unsigned long writeback, unsigned long limit,
		 unsigned long background, u64 pause_usec),

	TP_ARGS(cgroup, limited_cgroup, dirty, writeback, limit, background,
		pause_usec),

	TP_STRUCT__entry(
		__field(u64, cgroup)
		__field(u64, limited_cgroup)
		__field(unsigned long, dirty)
		__field(unsigned long, writeback)
		__field(unsigned long, limit)
		__field(unsigned long, background)
		__field(u64, pause_usec)
	),

	TP_fast_assign(
		__entry->cgroup = cgroup;
		__entry->limited_cgroup = limited_cgroup;
		__entry->dirty = dirty;
		__entry->writeback = writeback;
		__entry->limit = limit;
		__entry->background = background;
		__entry->pause_usec = pause_usec;
	),

	TP_printk("cgroup=%llu limited_cgroup=%llu dirty=%lu writeback=%lu limit=%lu background=%lu pause_usec=%llu",
		  __entry->cgroup, __entry->limited_cgroup, __entry->dirty,
		  __entry->writeback, __entry->limit, __entry->background,
		  __entry->pause_usec)
);

TRACE_EVENT(memcg_dirty_wakeup,

	TP_PROTO(u64 cgroup, u64 limited_cgroup, u64 bdi_id,
		 unsigned long dirty, unsigned long limit,
		 unsigned long background),

	TP_ARGS(cgroup, limited_cgroup, bdi_id, dirty, limit, background),

	TP_STRUCT__entry(
		__field(u64, cgroup)
		__field(u64, limited_cgroup)
		__field(u64, bdi_id)
		__field(unsigned long, dirty)
		__field(unsigned long, limit)
		__field(unsigned long, background)
	),

	TP_fast_assign(
		__entry->cgroup = cgroup;
		__entry->limited_cgroup = limited_cgroup;
		__entry->bdi_id = bdi_id;
		__entry->dirty = dirty;
		__entry->limit = limit;
		__entry->background = background;
	),

	TP_printk("cgroup=%llu limited_cgroup=%llu bdi_id=%llu dirty=%lu limit=%lu background=%lu",
		  __entry->cgroup, __entry->limited_cgroup, __entry->bdi_id,
		  __entry->dirty, __entry->limit, __entry->background)
);

#endif /* _TRACE_MEMCG_DIRTY_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
