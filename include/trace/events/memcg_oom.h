/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM memcg_oom

#if !defined(_TRACE_MEMCG_OOM_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_MEMCG_OOM_H

#include <linux/tracepoint.h>
#include <linux/types.h>

/* The cgroup is the one at memory.max, given by ID. */
TRACE_EVENT(memcg_oom_sleep,

	TP_PROTO(u64 cgroup, unsigned int nr_pages, unsigned int timeout_ms),

	TP_ARGS(cgroup, nr_pages, timeout_ms),

	TP_STRUCT__entry(
		__field(u64, cgroup)
		__field(unsigned int, nr_pages)
		__field(unsigned int, timeout_ms)
	),

	TP_fast_assign(
		__entry->cgroup = cgroup;
		__entry->nr_pages = nr_pages;
		__entry->timeout_ms = timeout_ms;
	),

	TP_printk("cgroup=%llu nr_pages=%u timeout_ms=%u", __entry->cgroup,
		  __entry->nr_pages, __entry->timeout_ms)
);

/* A task goes on, with so much of the timeout left. */
TRACE_EVENT(memcg_oom_woken,

	TP_PROTO(u64 cgroup, unsigned int timeout_ms),

	TP_ARGS(cgroup, timeout_ms),

	TP_STRUCT__entry(
		__field(u64, cgroup)
		__field(unsigned int, timeout_ms)
	),

	TP_fast_assign(
		__entry->cgroup = cgroup;
		__entry->timeout_ms = timeout_ms;
	),

	TP_printk("cgroup=%llu timeout_ms=%u", __entry->cgroup,
		  __entry->timeout_ms)
);

#endif /* _TRACE_MEMCG_OOM_H */

#include <trace/define_trace.h>
