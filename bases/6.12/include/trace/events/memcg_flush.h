/* SPDX-License-Identifier: GPL-2.0 */
/* The event is that of later kernels, for the same tools to work. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM memcg

#if !defined(_TRACE_MEMCG_FLUSH_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_MEMCG_FLUSH_H

#include <linux/memcontrol.h>
#include <linux/tracepoint.h>

TRACE_EVENT(memcg_flush_stats,

	TP_PROTO(struct mem_cgroup *memcg, s64 stats_updates, bool force,
		 bool needs_flush),

	TP_ARGS(memcg, stats_updates, force, needs_flush),

	TP_STRUCT__entry(
		__field(u64, id)
		__field(s64, stats_updates)
		__field(bool, force)
		__field(bool, needs_flush)
	),

	TP_fast_assign(
		__entry->id = cgroup_id(memcg->css.cgroup);
		__entry->stats_updates = stats_updates;
		__entry->force = force;
		__entry->needs_flush = needs_flush;
	),

	TP_printk("memcg_id=%llu stats_updates=%lld force=%d needs_flush=%d",
		  __entry->id, __entry->stats_updates, __entry->force,
		  __entry->needs_flush)
);

#endif /* _TRACE_MEMCG_FLUSH_H */

#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE memcg_flush
#include <trace/define_trace.h>
