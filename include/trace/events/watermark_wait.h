/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM watermark_wait

#if !defined(_TRACE_WATERMARK_WAIT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_WATERMARK_WAIT_H

#include <linux/tracepoint.h>
#include <linux/types.h>

/* How a wait ended: enum watermark_outcome. */
TRACE_DEFINE_ENUM(WATERMARK_WOKEN);
TRACE_DEFINE_ENUM(WATERMARK_RECLAIMS);
TRACE_DEFINE_ENUM(WATERMARK_TIMED_OUT);
TRACE_DEFINE_ENUM(WATERMARK_MISSED);
TRACE_DEFINE_ENUM(WATERMARK_KILLED);

/*
 * The node is the one that the allocation prefers, whose queue the task waited
 * on; for a wake-up, the one whose pages were freed. "reclaims" was woken
 * because no other task reclaimed any more. "missed" timed out although a zone
 * had free pages that no task was woken for.
 */

TRACE_EVENT(watermark_wait,

	TP_PROTO(int nid, unsigned int order, gfp_t gfp_mask,
		 unsigned int outcome, u64 usec),

	TP_ARGS(nid, order, gfp_mask, outcome, usec),

	TP_STRUCT__entry(
		__field(int, nid)
		__field(unsigned int, order)
		__field(unsigned long, gfp_mask)
		__field(unsigned int, outcome)
		__field(u64, usec)
	),

	TP_fast_assign(
		__entry->nid = nid;
		__entry->order = order;
		__entry->gfp_mask = (__force unsigned long)gfp_mask;
		__entry->outcome = outcome;
		__entry->usec = usec;
	),

	TP_printk("nid=%d order=%u gfp_mask=%#lx outcome=%s usec=%llu",
		  __entry->nid, __entry->order, __entry->gfp_mask,
		  __print_symbolic(__entry->outcome,
				   { WATERMARK_WOKEN, "woken" },
				   { WATERMARK_RECLAIMS, "reclaims" },
				   { WATERMARK_TIMED_OUT, "timed-out" },
				   { WATERMARK_MISSED, "missed" },
				   { WATERMARK_KILLED, "killed" }),
		  __entry->usec)
);

TRACE_EVENT(watermark_wake,

	TP_PROTO(int nid, int zone_idx, unsigned int order, long free,
		 pid_t pid),

	TP_ARGS(nid, zone_idx, order, free, pid),

	TP_STRUCT__entry(
		__field(int, nid)
		__field(int, zone_idx)
		__field(unsigned int, order)
		__field(long, free)
		__field(pid_t, pid)
	),

	TP_fast_assign(
		__entry->nid = nid;
		__entry->zone_idx = zone_idx;
		__entry->order = order;
		__entry->free = free;
		__entry->pid = pid;
	),

	TP_printk("nid=%d zone_idx=%d order=%u free=%ld pid=%d",
		  __entry->nid, __entry->zone_idx, __entry->order,
		  __entry->free, __entry->pid)
);

#endif /* _TRACE_WATERMARK_WAIT_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
