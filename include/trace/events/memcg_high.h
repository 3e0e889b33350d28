/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM memcg_high

#if !defined(_TRACE_MEMCG_HIGH_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_MEMCG_HIGH_H

#include <linux/tracepoint.h>
#include <linux/types.h>

/*
 * The cgroup is the one whose memory.high is exceeded, given by ID; usage and
 * high are in pages, and the timeout is the rest of the penalty.
 */
TRACE_EVENT(memcg_high_sleep,

	TP_PROTO(u64 cgroup, unsigned long usage, unsigned long high,
		 unsigned int timeout_ms),

	TP_ARGS(cgroup, usage, high, timeout_ms),

	TP_STRUCT__entry(
		__field(u64, cgroup)
		__field(unsigned long, usage)
		__field(unsigned long, high)
		__field(unsigned int, timeout_ms)
	),

	TP_fast_assign(
		__entry->cgroup = cgroup;
		__entry->usage = usage;
		__entry->high = high;
		__entry->timeout_ms = timeout_ms;
	),

	TP_printk("cgroup=%llu usage=%lu high=%lu timeout_ms=%u",
		  __entry->cgroup, __entry->usage, __entry->high,
		  __entry->timeout_ms)
);

/* A task goes on, with so much of the penalty left; 0 if it has slept in full. */
TRACE_EVENT(memcg_high_woken,

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

#endif /* _TRACE_MEMCG_HIGH_H */

#include <trace/define_trace.h>
