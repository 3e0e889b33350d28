// SPDX-License-Identifier: GPL-2.0
/*
 * An NFS server for the tests of dirty limits, without any user space for it.
 *
 * It runs in the network namespace of the caller, which has to be a new one.
 * The answers that exportfs and rpc.mountd would give are in the kernel's
 * caches before it asks for them.
 */
#define _GNU_SOURCE

#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_dirty_nfs.h"

#define EXPIRY		"2147483647"
#define NFS_PORT	"20049"

/* The least that nfsd takes: a client's first open waits for as long. */
#define GRACE_SECONDS	"10"

/* NFSEXP_INSECURE_PORT | NFSEXP_NOSUBTREECHECK | NFSEXP_FSID */
#define EXPORT_FLAGS	(0x0002 | 0x0400 | 0x2000)

static int loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int ret;

	if (fd < 0)
		return -1;
	ret = ioctl(fd, SIOCSIFFLAGS, &request);
	close(fd);
	return ret;
}

/* One client, and one export, which is the root that the client sees. */
static int fill_caches(const char *exported)
{
	char text[PATH_MAX + 128];

	if (cg_write("/proc/net/rpc/auth.unix.ip", "channel",
		     "nfsd 127.0.0.1 " EXPIRY " dirty\n"))
		return -1;
	snprintf(text, sizeof(text), "dirty %s " EXPIRY " %d 65534 65534 0\n",
		 exported, EXPORT_FLAGS);
	if (cg_write("/proc/net/rpc/nfsd.export", "channel", text))
		return -1;
	snprintf(text, sizeof(text), "dirty 1 \\x00000000 " EXPIRY " %s\n",
		 exported);
	return cg_write("/proc/net/rpc/nfsd.fh", "channel", text);
}

/* Serves @exported; @control is an empty directory for nfsd's own files. */
int nfs_server_start(const char *exported, const char *control)
{
	if (loopback_up() || mount("nfsd", control, "nfsd", 0, NULL))
		return -1;
	if (fill_caches(exported) ||
	    cg_write(control, "versions", "-2 -3 +4 +4.1 +4.2\n") ||
	    cg_write(control, "nfsv4leasetime", GRACE_SECONDS "\n") ||
	    cg_write(control, "nfsv4gracetime", GRACE_SECONDS "\n") ||
	    cg_write(control, "portlist", "tcp " NFS_PORT "\n") ||
	    cg_write(control, "threads", "2\n")) {
		nfs_server_stop(control);
		return -1;
	}
	return 0;
}

/* Afterwards, no cache of nfsd pins the exported file system. */
void nfs_server_stop(const char *control)
{
	cg_write(control, "threads", "0\n");
	cg_write("/proc/net/rpc/nfsd.fh", "flush", "1\n");
	cg_write("/proc/net/rpc/nfsd.export", "flush", "1\n");
	umount(control);
}

int nfs_mount(const char *directory)
{
	return mount("127.0.0.1:/", directory, "nfs4", 0,
		     "addr=127.0.0.1,clientaddr=127.0.0.1,vers=4.2,sec=sys,proto=tcp,port="
		     NFS_PORT);
}
