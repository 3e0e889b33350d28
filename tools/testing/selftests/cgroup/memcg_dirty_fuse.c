// SPDX-License-Identifier: GPL-2.0
/*
 * A FUSE server for the tests of dirty limits: each lookup, of any name, finds
 * the same regular file, which takes all writes, slowly, and reads as zeroes.
 * The kernel caches the writes.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "memcg_dirty_fuse.h"

#define MAX_WRITE	131072

struct server {
	int fd;
	int mb_per_second;
	__u64 node;		/* a new one once the file is removed */
	__u64 size;
};

/* The answer to a request: an error, or @size bytes of data. */
struct answer {
	int error;
	size_t size;
	union {
		struct fuse_init_out init;
		struct fuse_entry_out entry;
		struct fuse_attr_out attr;
		struct fuse_open_out open;
		struct fuse_write_out write;
		char data[MAX_WRITE];
	};
};

static void fill_attr(const struct server *server, __u64 node,
		      struct fuse_attr *attr)
{
	attr->ino = node;
	attr->nlink = 1;
	attr->blksize = 4096;
	attr->mode = S_IFDIR | 0700;
	if (node != FUSE_ROOT_ID) {
		attr->mode = S_IFREG | 0600;
		attr->size = server->size;
	}
}

static void do_init(struct answer *answer)
{
	answer->init.major = FUSE_KERNEL_VERSION;
	answer->init.minor = FUSE_KERNEL_MINOR_VERSION;
	answer->init.max_readahead = MAX_WRITE;
	answer->init.flags = FUSE_WRITEBACK_CACHE | FUSE_BIG_WRITES;
	answer->init.max_write = MAX_WRITE;
	answer->size = sizeof(answer->init);
}

static void do_lookup(const struct server *server, struct answer *answer)
{
	answer->entry.nodeid = server->node;
	fill_attr(server, server->node, &answer->entry.attr);
	answer->size = sizeof(answer->entry);
}

static void do_getattr(const struct server *server, __u64 node,
		       struct answer *answer)
{
	fill_attr(server, node, &answer->attr.attr);
	answer->size = sizeof(answer->attr);
}

static void do_setattr(struct server *server, __u64 node,
		       const struct fuse_setattr_in *in, struct answer *answer)
{
	if (in->valid & FATTR_SIZE)
		server->size = in->size;
	do_getattr(server, node, answer);
}

static void do_write(struct server *server, const struct fuse_write_in *in,
		     struct answer *answer)
{
	usleep(in->size / server->mb_per_second);
	if (in->offset + in->size > server->size)
		server->size = in->offset + in->size;
	answer->write.size = in->size;
	answer->size = sizeof(answer->write);
}

static void do_request(struct server *server, const struct fuse_in_header *in,
		       struct answer *answer)
{
	const void *arg = in + 1;

	switch (in->opcode) {
	case FUSE_INIT:
		do_init(answer);
		break;
	case FUSE_LOOKUP:
		do_lookup(server, answer);
		break;
	case FUSE_GETATTR:
		do_getattr(server, in->nodeid, answer);
		break;
	case FUSE_SETATTR:
		do_setattr(server, in->nodeid, arg, answer);
		break;
	case FUSE_OPEN:
		answer->size = sizeof(answer->open);
		break;
	case FUSE_READ:
		answer->size = ((const struct fuse_read_in *)arg)->size;
		break;
	case FUSE_WRITE:
		do_write(server, arg, answer);
		break;
	case FUSE_UNLINK:
		server->node++;
		server->size = 0;
		break;
	case FUSE_FLUSH:
	case FUSE_FSYNC:
	case FUSE_RELEASE:
		break;
	default:
		answer->error = -ENOSYS;
	}
}

static void reply(int fd, __u64 unique, struct answer *answer)
{
	struct fuse_out_header out = {
		.len = sizeof(out) + answer->size,
		.error = answer->error,
		.unique = unique,
	};
	struct iovec iov[] = {
		{ &out, sizeof(out) },
		{ answer->data, answer->size },
	};

	/* A request that was interrupted or aborted needs no answer. */
	if (writev(fd, iov, 2) < 0 && errno != ENOENT)
		exit(EXIT_FAILURE);
}

/* Answers requests until the file system is unmounted. */
static void serve(struct server *server)
{
	static struct {
		struct fuse_in_header in;
		char data[MAX_WRITE + 4096];
	} request;
	static struct answer answer;
	const struct fuse_in_header *in = &request.in;

	while (read(server->fd, &request, sizeof(request)) > 0 ||
	       errno == EINTR || errno == ENOENT) {
		if (in->opcode == FUSE_FORGET ||
		    in->opcode == FUSE_BATCH_FORGET)
			continue;
		memset(&answer, 0, sizeof(answer));
		do_request(server, in, &answer);
		reply(server->fd, in->unique, &answer);
	}
}

/* Returns the process that serves @directory, or -1 with errno. */
pid_t fuse_mount(const char *directory, int mb_per_second)
{
	struct server server = {
		.mb_per_second = mb_per_second,
		.node = FUSE_ROOT_ID + 1,
	};
	char options[64];
	pid_t pid = -1;

	server.fd = open("/dev/fuse", O_RDWR);
	if (server.fd < 0)
		return -1;
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0", server.fd);
	if (!mount("fuse", directory, "fuse", 0, options))
		pid = fork();
	if (!pid) {
		serve(&server);
		exit(EXIT_SUCCESS);
	}
	close(server.fd);
	return pid;
}
