/* SPDX-License-Identifier: GPL-2.0 */
/* Common parts of the tests of memory cgroups. */
#ifndef MEMCG_TEST_UTIL_H
#define MEMCG_TEST_UTIL_H

#include <stdbool.h>
#include <sys/types.h>

#include "../kselftest.h"

#define CHUNK		65536L

long now_ms(void);
void sleep_ms(int ms);
int write_zeroes(const char *path, int flags, long bytes);
char *create_cgroup(const char *parent, const char *name);
char *create_parent(const char *root, const char *name);
char *create_io_parent(const char *root, const char *name);
void destroy_cgroup(char *cgroup);
void find_root(char *root, size_t len);
void slow_down(const char *cgroup, unsigned int rate);
bool can_write_back(void);
bool case_wanted(const char *name);

bool ext4_has_large_folios(void);

#endif
