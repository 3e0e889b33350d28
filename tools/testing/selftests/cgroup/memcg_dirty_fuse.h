/* SPDX-License-Identifier: GPL-2.0 */
/* A FUSE server for the tests of dirty limits. */
#ifndef MEMCG_DIRTY_FUSE_H
#define MEMCG_DIRTY_FUSE_H

#include <sys/types.h>

pid_t fuse_mount(const char *directory, int mb_per_second);

#endif
