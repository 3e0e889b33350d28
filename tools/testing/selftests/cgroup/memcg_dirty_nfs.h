/* SPDX-License-Identifier: GPL-2.0 */
/* An NFS server for the tests of dirty limits. */
#ifndef MEMCG_DIRTY_NFS_H
#define MEMCG_DIRTY_NFS_H

int nfs_server_start(const char *exported, const char *control);
void nfs_server_stop(const char *control);
int nfs_mount(const char *directory);

#endif
