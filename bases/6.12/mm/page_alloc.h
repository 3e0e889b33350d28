/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the header that later kernels have the page allocator's
 * internals in.
 */
#ifndef _MM_PAGE_ALLOC_H
#define _MM_PAGE_ALLOC_H

#include "internal.h"

#endif /* _MM_PAGE_ALLOC_H */
