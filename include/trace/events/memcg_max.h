/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM memcg_max

#if !defined(_TRACE_MEMCG_MAX_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_MEMCG_MAX_H

#include <linux/tracepoint.h>
#include <linux/types.h>

/*
 * The cgroup is the one at memory.max, given by ID. It has so many pages that are
 * dirty or under writeback, and the task waits for "needed" of them.
 */
TRACE_EVENT(memcg_max_sleep,

	TP_PROTO(u64 cgroup, unsigned long dirty, unsigned long writeback,
		 long needed, unsigned int timeout_ms),

	TP_ARGS(cgroup, dirty, writeback, needed, timeout_ms),

	TP_STRUCT__entry(
		__field(u64, cgroup)
		__field(unsigned long, dirty)
		__field(unsigned long, writeback)
		__field(long, needed)
		__field(unsigned int, timeout_ms)
	),

	TP_fast_assign(
		__entry->cgroup = cgroup;
		__entry->dirty = dirty;
		__entry->writeback = writeback;
		__entry->needed = needed;
		__entry->timeout_ms = timeout_ms;
	),

	TP_printk("cgroup=%llu dirty=%lu writeback=%lu needed=%ld timeout_ms=%u",
		  __entry->cgroup, __entry->dirty, __entry->writeback,
		  __entry->needed, __entry->timeout_ms)
);

/* A task goes on; it needed so many more pages, and may sleep for so long again. */
TRACE_EVENT(memcg_max_woken,

	TP_PROTO(u64 cgroup, long needed, unsigned int timeout_ms),

	TP_ARGS(cgroup, needed, timeout_ms),

	TP_STRUCT__entry(
		__field(u64, cgroup)
		__field(long, needed)
		__field(unsigned int, timeout_ms)
	),

	TP_fast_assign(
		__entry->cgroup = cgroup;
		__entry->needed = needed;
		__entry->timeout_ms = timeout_ms;
	),

	TP_printk("cgroup=%llu needed=%ld timeout_ms=%u", __entry->cgroup,
		  __entry->needed, __entry->timeout_ms)
);

#endif /* _TRACE_MEMCG_MAX_H */

#include <trace/define_trace.h>
