/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Direct reclaim that waits for memory: calls for the page allocator and vmscan.
 */
#ifndef _MM_WATERMARK_WAIT_H
#define _MM_WATERMARK_WAIT_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/gfp_types.h>
#include <linux/types.h>

struct alloc_context;
struct watermark_queue;
struct zone;

#ifdef CONFIG_WATERMARK_WAIT

extern atomic_t watermark_waiters;

unsigned long watermark_free_pages(struct zone *zone);
void __watermark_wake(struct zone *zone, unsigned long free);
void __watermark_wait_turn(gfp_t gfp_mask, unsigned int order,
			   unsigned int alloc_flags,
			   const struct alloc_context *ac);
void watermark_wait_progress(gfp_t gfp_mask, unsigned int order,
			     unsigned int alloc_flags,
			     const struct alloc_context *ac);
struct watermark_queue *watermark_reclaim_begin(const struct alloc_context *ac);
void watermark_reclaim_end(struct watermark_queue *queue);

/**
 * watermark_offer - count the free pages for waiters after pages have been freed
 * @zone: where they were freed, or the watermarks have changed
 *
 * Context: under zone->lock, with the pages on the buddy lists: the comment in
 * mm/watermark_wait.c says why.
 * Return: the free pages, for watermark_wake() once zone->lock is released; 0 if no
 * task waits.
 */
static inline unsigned long watermark_offer(struct zone *zone)
{
	if (likely(!atomic_read(&watermark_waiters)))
		return 0;
	return watermark_free_pages(zone);
}

/**
 * watermark_wake - wake as many waiters as the free pages can serve
 * @zone: where pages have been freed
 * @free: from watermark_offer()
 *
 * Context: any in which zone->lock can be taken, without zone->lock.
 */
static inline void watermark_wake(struct zone *zone, unsigned long free)
{
	if (unlikely(free))
		__watermark_wake(zone, free);
}

/**
 * watermark_wait_turn - let tasks go first that wait already
 * @gfp_mask: of the allocation
 * @order: of the allocation
 * @alloc_flags: of the allocation
 * @ac: of the allocation
 * @waited: whether it has been here; set
 *
 * For an allocation that enters the slow path. Sleeps if tasks wait on the same
 * node and no zone has more free pages than those tasks were woken for.
 *
 * Context: where the allocation may sleep, or not: @gfp_mask tells.
 */
static inline void watermark_wait_turn(gfp_t gfp_mask, unsigned int order,
				       unsigned int alloc_flags,
				       const struct alloc_context *ac,
				       bool *waited)
{
	if (unlikely(atomic_read(&watermark_waiters)) && !*waited)
		__watermark_wait_turn(gfp_mask, order, alloc_flags, ac);
	*waited = true;
}

#else /* CONFIG_WATERMARK_WAIT */

static inline unsigned long watermark_offer(struct zone *zone)
{
	return 0;
}

static inline void watermark_wake(struct zone *zone, unsigned long free)
{
}

static inline void watermark_wait_turn(gfp_t gfp_mask, unsigned int order,
				       unsigned int alloc_flags,
				       const struct alloc_context *ac,
				       bool *waited)
{
}

static inline void watermark_wait_progress(gfp_t gfp_mask, unsigned int order,
					   unsigned int alloc_flags,
					   const struct alloc_context *ac)
{
}

static inline struct watermark_queue *
watermark_reclaim_begin(const struct alloc_context *ac)
{
	return NULL;
}

static inline void watermark_reclaim_end(struct watermark_queue *queue)
{
}

#endif /* CONFIG_WATERMARK_WAIT */

#endif /* _MM_WATERMARK_WAIT_H */
