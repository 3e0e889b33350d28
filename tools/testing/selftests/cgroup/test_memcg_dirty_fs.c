// SPDX-License-Identifier: GPL-2.0
/*
 * Tests memory.dirty_limit_in_bytes on one file system after the other, each on
 * a slow disk that null_blk makes from memory.
 *
 * The test has its own mount and network namespaces, so that it leaves no mount
 * behind and does not touch an NFS server on the machine. It skips cases for
 * which the machine lacks a file system, its mkfs or null_blk.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/const.h>
#include <linux/io_uring.h>
#include <linux/limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_dirty_disk.h"
#include "memcg_dirty_fuse.h"
#include "memcg_dirty_nfs.h"
#include "memcg_dirty_util.h"
#include "memcg_test_util.h"

#define LIMIT			MB(10L)
#define BYTES			MB(30L)
#define MB_PER_SECOND		"10"
#define DEVICE_MB		"512"

/* Small writers, beside one that uses large folios where there are any */
#define NR_SMALL		10
#define MIXED_SECONDS		8
#define LARGE_SECONDS		60	/* more, for one large write beside them */
#define SMALL_WRITES_MIN	400	/* of all together, in a second */

/* A guest's pages in a file, behind the owner's, and the owner's in another file */
#define YOUNG_BYTES		MB(12L)
#define OLD_BYTES		MB(160L)

/* A write fault dirties a whole folio, and is throttled only afterwards. */
#define FOLIO_ALLOWANCE		MB(2L)

static struct slow_disk slow_disk = { .name = "nullb_dirty_limit" };

/* Below it, all is mounted; set up by prepare() */
static char top[PATH_MAX];
static char disk[PATH_MAX];		/* ext4, below the one under test */
static char mnt[PATH_MAX];		/* the file system under test */
static char nfsd[PATH_MAX];		/* the NFS server's control files */
static char test_file[PATH_MAX];
static char direct_file[PATH_MAX];
static bool own_network;

/* Writers: they run in the cgroup, and return a KSFT_ code */

static int write_buffered(const char *cgroup, void *arg)
{
	return passed(!write_zeroes(test_file, 0, BYTES));
}

static int write_mapped(const char *cgroup, void *arg)
{
	int fd = open(test_file, O_CREAT | O_RDWR, 0600);
	char *map;

	if (fd < 0 || ftruncate(fd, BYTES))
		return KSFT_FAIL;
	map = mmap(NULL, BYTES, PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return KSFT_FAIL;
	memset(map, 1, BYTES);
	return KSFT_PASS;
}

static int write_fallocated(const char *cgroup, void *arg)
{
	int fd = open(test_file, O_CREAT | O_RDWR, 0600);

	if (fd < 0 || fallocate(fd, 0, 0, BYTES))
		return KSFT_FAIL;
	return write_buffered(cgroup, arg);
}

/* The truncated file has no dirty pages left: the caller checks that. */
static int write_truncated(const char *cgroup, void *arg)
{
	return passed(!write_zeroes(test_file, 0, BYTES / 2) &&
		      !truncate(test_file, 0));
}

static int write_beside_direct(const char *cgroup, void *arg)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return KSFT_FAIL;
	if (!pid)
		_exit(write_zeroes(direct_file, O_DIRECT, BYTES / 6) ? KSFT_FAIL :
								       KSFT_PASS);
	if (write_buffered(cgroup, arg) || waitpid(pid, &status, 0) != pid)
		return KSFT_FAIL;
	return WIFEXITED(status) ? WEXITSTATUS(status) : KSFT_FAIL;
}

/* Endless writes of @size bytes each to a file of a sixth of BYTES. */
static void write_in_pieces(const char *file, long size, long *count)
{
	char *buf __free(memory) = calloc(1, size);
	int fd = open(file, O_CREAT | O_WRONLY, 0600);
	long at = 0;

	while (buf && pwrite(fd, buf, size, at) == size) {
		__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
		at = at + size < BYTES / 6 ? at + size : 0;
	}
}

static pid_t start_pieces(const char *file, long size, long *count)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	write_in_pieces(file, size, count);
	_exit(KSFT_FAIL);
}

static bool wait_count(const long *count, int seconds)
{
	long end = now_ms() + seconds * 1000L;

	while (!__atomic_load_n(count, __ATOMIC_RELAXED) && now_ms() < end)
		sleep_ms(100);
	return __atomic_load_n(count, __ATOMIC_RELAXED);
}

/*
 * A task that dirties large folios checks the limit before each one. Tasks that
 * write little go on meanwhile; the more of them, the fewer large writes.
 */
static int write_mixed(const char *cgroup, void *arg)
{
	long *counts = share_memory(2 * sizeof(*counts));
	pid_t pids[NR_SMALL + 1];
	char file[PATH_MAX + 8];
	bool fine = true;
	int i;

	pids[NR_SMALL] = start_pieces(test_file, MB(2), &counts[1]);
	for (i = 0; i < NR_SMALL; i++) {
		snprintf(file, sizeof(file), "%s%d", test_file, i);
		pids[i] = start_pieces(file, sysconf(_SC_PAGESIZE), &counts[0]);
	}
	sleep_ms(1000);
	counts[0] = 0;
	counts[1] = 0;
	sleep_ms(MIXED_SECONDS * 1000);
	ksft_print_msg("%ld writes of a page in %d s, beside %ld of 2 MiB\n",
		       counts[0], MIXED_SECONDS, counts[1]);
	fine = counts[0] >= SMALL_WRITES_MIN * MIXED_SECONDS &&
	       wait_count(&counts[1], LARGE_SECONDS);
	for (i = 0; i <= NR_SMALL; i++)
		fine = stop_task(pids[i]) && fine;
	for (i = 0; i < NR_SMALL; i++) {
		snprintf(file, sizeof(file), "%s%d", test_file, i);
		unlink(file);
	}
	return passed(fine);
}

/* io_uring */

#define RING_ENTRIES	8

struct ring {
	int fd;
	struct io_uring_params params;
	char *rings;
	struct io_uring_sqe *sqes;
};

static int ring_open(struct ring *ring)
{
	struct io_uring_params *params = &ring->params;

	memset(params, 0, sizeof(*params));
	ring->fd = syscall(__NR_io_uring_setup, RING_ENTRIES, params);
	if (ring->fd < 0 || !(params->features & IORING_FEAT_SINGLE_MMAP))
		return -1;
	/* The completion queue's entries come last, and are twice as many. */
	ring->rings = mmap(NULL, params->cq_off.cqes + params->cq_entries *
					 sizeof(struct io_uring_cqe),
			   PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
			   IORING_OFF_SQ_RING);
	ring->sqes = mmap(NULL, params->sq_entries * sizeof(*ring->sqes),
			  PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
			  IORING_OFF_SQES);
	return ring->rings == MAP_FAILED || ring->sqes == MAP_FAILED ? -1 : 0;
}

static unsigned int *ring_word(struct ring *ring, unsigned int offset)
{
	return (unsigned int *)(ring->rings + offset);
}

static void ring_queue_write(struct ring *ring, unsigned int slot, int fd,
			     const char *buf, long offset)
{
	struct io_uring_sqe *sqe = &ring->sqes[slot];

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_WRITE;
	sqe->fd = fd;
	sqe->addr = (unsigned long)buf;
	sqe->len = CHUNK;
	sqe->off = offset;
	ring_word(ring, ring->params.sq_off.array)[slot] = slot;
}

/* Submits all entries, waits for them, and checks their results. */
static int ring_run(struct ring *ring)
{
	unsigned int *tail = ring_word(ring, ring->params.sq_off.tail);
	unsigned int *head = ring_word(ring, ring->params.cq_off.head);
	struct io_uring_cqe *cqes = (void *)(ring->rings +
					     ring->params.cq_off.cqes);
	unsigned int i, at;

	__atomic_store_n(tail, *tail + RING_ENTRIES, __ATOMIC_RELEASE);
	if (syscall(__NR_io_uring_enter, ring->fd, RING_ENTRIES, RING_ENTRIES,
		    IORING_ENTER_GETEVENTS, NULL, 0) != RING_ENTRIES)
		return -1;
	for (i = 0; i < RING_ENTRIES; i++) {
		at = (*head + i) & (ring->params.cq_entries - 1);
		if (cqes[at].res != CHUNK)
			return -1;
	}
	__atomic_store_n(head, *head + RING_ENTRIES, __ATOMIC_RELEASE);
	return 0;
}

static int write_io_uring(const char *cgroup, void *arg)
{
	static const char buf[CHUNK];
	struct ring ring;
	unsigned int slot;
	long offset = 0;
	int fd;

	if (ring_open(&ring))
		return KSFT_SKIP;
	fd = open(test_file, O_CREAT | O_WRONLY, 0600);
	if (fd < 0)
		return KSFT_FAIL;
	while (offset < BYTES) {
		for (slot = 0; slot < RING_ENTRIES; slot++, offset += CHUNK)
			ring_queue_write(&ring, slot, fd, buf, offset);
		if (ring_run(&ring))
			return KSFT_FAIL;
	}
	return KSFT_PASS;
}

/* How often the caller has slept; waiting for a CPU is no sleep. */
static long nr_sleeps(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nvcsw;
}

/*
 * A writer with RWF_NOWAIT gets EAGAIN in place of a pause, or for reasons of
 * the file system. It then writes that chunk without the flag, and waits there.
 */
static int write_nowait(const char *cgroup, void *arg)
{
	static char buf[CHUNK];
	struct iovec iov = { buf, CHUNK };
	int fd = open(test_file, O_CREAT | O_WRONLY, 0600);
	long start, refused = 0, waited = 0, not_waited = 0, offset;

	if (fd < 0)
		return KSFT_FAIL;
	for (offset = 0; offset < BYTES; offset += CHUNK) {
		start = nr_sleeps();
		if (pwritev2(fd, &iov, 1, offset, RWF_NOWAIT) == CHUNK) {
			not_waited += nr_sleeps() - start;
			continue;
		}
		if (errno == EOPNOTSUPP)
			return KSFT_SKIP;
		not_waited += nr_sleeps() - start;
		refused++;
		start = nr_sleeps();
		if (pwrite(fd, buf, CHUNK, offset) != CHUNK)
			return KSFT_FAIL;
		waited += nr_sleeps() - start;
	}
	ksft_print_msg("refused %ld times; slept %ld times without and %ld times with waiting\n",
		       refused, not_waited, waited);
	return passed(refused && not_waited < waited);
}

/*
 * Pages that the server has and that wait for COMMIT count as under writeback.
 * They are so few that no flusher sends COMMIT before fsync() does.
 */
static int write_unstable(const char *cgroup, void *arg)
{
	const long bytes = LIMIT / 10 * 4;
	static char buf[CHUNK];
	long waiting, left, offset;
	int fd;

	/* The file stays open: close() would send COMMIT, too. */
	fd = open(test_file, O_CREAT | O_WRONLY, 0600);
	if (fd < 0)
		return KSFT_FAIL;
	for (offset = 0; offset < bytes; offset += CHUNK)
		if (pwrite(fd, buf, CHUNK, offset) != CHUNK)
			return KSFT_FAIL;
	if (sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE |
				      SYNC_FILE_RANGE_WRITE |
				      SYNC_FILE_RANGE_WAIT_AFTER))
		return KSFT_FAIL;
	waiting = dirty_stat(cgroup, "writeback ");
	if (fsync(fd))
		return KSFT_FAIL;
	left = dirty_stat(cgroup, "writeback ");
	ksft_print_msg("under writeback: %ld of %ld bytes before COMMIT, %ld after\n",
		       waiting, bytes, left);
	return passed(waiting > bytes / 2 && left <= stat_error());
}

/* Cases */

#define TRUNCATES	1	/* leaves a file without dirty pages */

struct dirty_case {
	const char *name;
	int (*write)(const char *cgroup, void *arg);
	unsigned int flags;
};

enum {
	BUFFERED,
	MAPPED,
	FALLOCATED,
	TRUNCATED,
	DIRECT,
	MIXED,
	URING,
	NOWAIT,
	UNSTABLE,
};

static const struct dirty_case cases[] = {
	[BUFFERED]	= { "buffered writes", write_buffered },
	[MAPPED]	= { "shared mapping", write_mapped },
	[FALLOCATED]	= { "fallocate and write", write_fallocated },
	[TRUNCATED]	= { "truncate while dirty", write_truncated, TRUNCATES },
	[DIRECT]	= { "beside direct I/O", write_beside_direct },
	[MIXED]		= { "small writes beside large ones", write_mixed },
	[URING]		= { "io_uring", write_io_uring },
	[NOWAIT]	= { "RWF_NOWAIT", write_nowait },
	[UNSTABLE]	= { "pages that wait for COMMIT", write_unstable },
};

#define FUSE_CASES	(_BITUL(BUFFERED) | _BITUL(MAPPED) | \
			 _BITUL(TRUNCATED) | _BITUL(URING))
#define COMMON_CASES	(FUSE_CASES | _BITUL(DIRECT))
#define EXT4_CASES	(COMMON_CASES | _BITUL(FALLOCATED) | _BITUL(MIXED))
#define NFS_CASES	(COMMON_CASES | _BITUL(UNSTABLE))
#define NOWAIT_CASES	(EXT4_CASES | _BITUL(NOWAIT))

/* File systems */

struct filesystem {
	const char *name;
	const char *type;
	int (*start)(const struct filesystem *fs);
	void (*stop)(void);
	unsigned int cases;
	bool cgroup_writeback;
	bool no_lower_bound;
	const char *mkfs[12];		/* the device comes last */
};

enum {
	EXT4,
	XFS,
	BTRFS,
	OVERLAY,
	VFAT,
	NFS,
	FUSE,
};

static pid_t fuse_server;

static int skip(const struct filesystem *fs, const char *why)
{
	ksft_print_msg("%s: %s\n", fs->name, why);
	return KSFT_SKIP;
}

static int fail(const struct filesystem *fs, const char *what)
{
	ksft_print_msg("%s: %s: %s\n", fs->name, what, strerror(errno));
	return KSFT_FAIL;
}

/* Makes a device with the file system @type, and mounts it on @directory. */
static int start_device(const struct filesystem *fs, const char *type,
			const char *directory)
{
	const char *argv[ARRAY_SIZE(fs->mkfs) + 1] = { NULL };
	char device[64];
	int i, status;

	if (!disk_possible())
		return skip(fs, "no null_blk in configfs");
	if (disk_create(&slow_disk, DEVICE_MB, MB_PER_SECOND))
		return fail(fs, "null_blk");
	snprintf(device, sizeof(device), "/dev/%s", slow_disk.name);
	for (i = 0; fs->mkfs[i]; i++)
		argv[i] = fs->mkfs[i];
	argv[i] = device;
	status = run_quietly(argv);
	if (status == 127)
		return skip(fs, "no mkfs");
	if (status)
		return fail(fs, "mkfs");
	if (mount(device, directory, type, MS_NOATIME, NULL))
		return fail(fs, "mount");
	return KSFT_PASS;
}

static int start_local(const struct filesystem *fs)
{
	return start_device(fs, fs->type, mnt);
}

static void stop_local(void)
{
	unmount(mnt);
	disk_remove(&slow_disk);
}

/* ext4, below a file system that needs another one */
static int start_lower(const struct filesystem *fs)
{
	return start_device(fs, "ext4", disk);
}

static void stop_lower(void)
{
	unmount(mnt);
	unmount(disk);
	disk_remove(&slow_disk);
}

static int start_overlay(const struct filesystem *fs)
{
	static const char *const names[] = { "lower", "upper", "work" };
	char path[PATH_MAX + 16], options[512];
	int i, ret = start_lower(fs);

	if (ret)
		return ret;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", disk, names[i]);
		if (mkdir(path, 0700))
			return fail(fs, "mkdir");
	}
	snprintf(options, sizeof(options),
		 "lowerdir=%1$.100s/lower,upperdir=%1$.100s/upper,workdir=%1$.100s/work",
		 disk);
	if (mount("overlay", mnt, "overlay", 0, options))
		return fail(fs, "mount");
	return KSFT_PASS;
}

static int start_nfs(const struct filesystem *fs)
{
	int ret;

	if (!own_network)
		return skip(fs, "no network namespaces");
	ret = start_lower(fs);
	if (ret)
		return ret;
	if (nfs_server_start(disk, nfsd))
		return errno == ENODEV ? skip(fs, "no NFS server") :
					 fail(fs, "NFS server");
	if (nfs_mount(mnt))
		return fail(fs, "mount");
	return KSFT_PASS;
}

static void stop_nfs(void)
{
	unmount(mnt);
	nfs_server_stop(nfsd);
	stop_lower();
}

/*
 * FUSE limits itself to a hundredth of the system's dirty pages, which is below
 * the limit of the test on a small machine.
 */
static void relax_bdi(void)
{
	char path[64];
	struct stat st;

	if (stat(mnt, &st))
		return;
	snprintf(path, sizeof(path), "/sys/class/bdi/%u:%u", major(st.st_dev),
		 minor(st.st_dev));
	cg_write(path, "max_ratio", "100");
	cg_write(path, "strict_limit", "0");
}

static int start_fuse(const struct filesystem *fs)
{
	fuse_server = fuse_mount(mnt, atoi(MB_PER_SECOND));
	if (fuse_server < 0)
		return errno == ENOENT ? skip(fs, "no /dev/fuse") :
					 fail(fs, "mount");
	relax_bdi();
	return KSFT_PASS;
}

static void stop_fuse(void)
{
	unmount(mnt);
	stop_task(fuse_server);
}

#define EXT4_MKFS { "mkfs.ext4", "-q", "-F", "-N", "64", "-E", \
		    "lazy_itable_init=0,lazy_journal_init=1" }

static const struct filesystem filesystems[] = {
	[EXT4] = {
		.name = "ext4", .type = "ext4",
		.start = start_local, .stop = stop_local,
		.cases = EXT4_CASES,
		.cgroup_writeback = true,
		.mkfs = EXT4_MKFS,
	},
	[XFS] = {
		.name = "xfs", .type = "xfs",
		.start = start_local, .stop = stop_local,
		.cases = NOWAIT_CASES,
		.cgroup_writeback = true,
		.mkfs = { "mkfs.xfs", "-q", "-f", "-K" },
	},
	[BTRFS] = {
		.name = "btrfs", .type = "btrfs",
		.start = start_local, .stop = stop_local,
		.cases = NOWAIT_CASES,
		.cgroup_writeback = true,
		/* A small one has 8 MiB for metadata alone, and may not add more. */
		.mkfs = { "mkfs.btrfs", "-q", "-f", "-K", "--mixed" },
	},
	[OVERLAY] = {
		.name = "overlayfs on ext4", .type = "overlay",
		.start = start_overlay, .stop = stop_lower,
		.cases = COMMON_CASES,
		.cgroup_writeback = true,
		.mkfs = EXT4_MKFS,
	},
	[VFAT] = {
		.name = "vfat", .type = "vfat",
		.start = start_local, .stop = stop_local,
		.cases = COMMON_CASES,
		.mkfs = { "mkfs.vfat", "-F", "32" },
	},
	[NFS] = {
		.name = "nfs", .type = "nfs4",
		.start = start_nfs, .stop = stop_nfs,
		.cases = NFS_CASES,
		.mkfs = EXT4_MKFS,
	},
	[FUSE] = {
		.name = "fuse", .type = "fuse",
		.start = start_fuse, .stop = stop_fuse,
		.cases = FUSE_CASES,
		/* 6.12 writes back copies of pages, which no cgroup counts. */
		.no_lower_bound = true,
	},
};

static bool known(const char *type)
{
	char buf[BUFSIZ], line[64];

	snprintf(line, sizeof(line), "\t%s\n", type);
	return read_text("/proc/filesystems", buf, sizeof(buf)) > 0 &&
	       strstr(buf, line);
}

/* Tests */

/*
 * On a busy machine, the watching task may never run while many pages are
 * dirty. So the peak that the kernel has counted has to be within the limit as
 * well, and not far below it.
 */
static bool within_limit(const struct filesystem *fs, const char *cgroup, long watched)
{
	long counted = cg_read_long(cgroup, PEAK_FILE);
	long most = LIMIT / 10 * 11 + stat_error() + FOLIO_ALLOWANCE;

	if (counted < 0 || counted > most || watched > most)
		return false;
	return fs->no_lower_bound || counted > LIMIT / 4;
}

static int run_writer(const struct filesystem *fs, const struct dirty_case *c,
		      const char *cgroup)
{
	long start = now_ms(), peak;
	int status;
	pid_t pid = cg_run_nowait(cgroup, c->write, NULL);

	if (pid < 0)
		return KSFT_FAIL;
	peak = watch_peak(cgroup, pid, &status);
	ksft_print_msg("%s (%s): %s: peak %ld of %ld bytes, %ld ms\n", fs->name,
		       fs->cgroup_writeback ? "cgroup writeback" : "root wb",
		       c->name, peak, LIMIT, now_ms() - start);
	if (!WIFEXITED(status))
		return KSFT_FAIL;
	if (WEXITSTATUS(status))
		return WEXITSTATUS(status);
	return passed(within_limit(fs, cgroup, peak));
}

/* A truncated or removed file has no dirty pages; metadata may be dirty. */
static bool drains(const struct dirty_case *c, const char *cgroup)
{
	bool drained;

	if (!(c->flags & TRUNCATES))
		unlink(test_file);
	unlink(direct_file);
	sync();
	drained = falls_below(cgroup, stat_error(), 10);
	unlink(test_file);
	return drained;
}

static int test_case(const struct filesystem *fs, const struct dirty_case *c,
		     const char *root)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_fs");
	int ret;

	if (!cgroup || cg_write(cgroup, LIMIT_FILE, "10M"))
		return KSFT_FAIL;
	ret = run_writer(fs, c, cgroup);
	return drains(c, cgroup) ? ret : KSFT_FAIL;
}

static void test_filesystem(const struct filesystem *fs, const char *root)
{
	char name[128];
	int i, result, ready;

	if (known(fs->type))
		ready = fs->start(fs);
	else
		ready = skip(fs, "not in this kernel");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (!(fs->cases & _BITUL(i)))
			continue;
		result = ready ? ready : test_case(fs, &cases[i], root);
		snprintf(name, sizeof(name), "%s: %s", fs->name, cases[i].name);
		ksft_test_result_code(result, name, NULL);
	}
	fs->stop();
}

static int write_tmpfs(const char *cgroup, void *arg)
{
	return passed(!write_zeroes(test_file, 0, MB(32L)));
}

/* tmpfs has no writeback, so its writers are not throttled. */
static int test_tmpfs(const char *root)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_tmpfs");
	long start;
	int ret;

	if (!cgroup || cg_write(cgroup, LIMIT_FILE, "10M") ||
	    mount("tmpfs", mnt, "tmpfs", 0, NULL))
		return KSFT_FAIL;
	start = now_ms();
	ret = cg_run(cgroup, write_tmpfs, NULL);
	ksft_print_msg("tmpfs: %ld ms\n", now_ms() - start);
	if (now_ms() - start > 2000 || dirty_stat(cgroup, "throttled "))
		ret = KSFT_FAIL;
	umount(mnt);
	return ret;
}

/* Adds a page to a file whose inode has another cgroup's flusher. */
static int append(const char *cgroup, void *arg)
{
	static const char buf[CHUNK];
	int fd = open(arg, O_WRONLY | O_APPEND);

	return passed(fd >= 0 && write(fd, buf, CHUNK) == CHUNK);
}

/* Returns whether @owner's pages are still dirty when @cgroup has been paused. */
static bool leaves_owner_alone(const struct filesystem *fs, const char *root,
			       const char *owner, const char *cgroup)
{
	const char *file __free(file) = "test_memcg_dirty_fs.tmp";
	struct writes owned = { .file = file, .bytes = MB(12) };
	long before, after;

	if (cg_run(owner, do_writes, &owned) || cg_run(root, append, (void *)file))
		return false;
	before = cg_dirty(owner);
	if (run_writer(fs, &cases[BUFFERED], cgroup) != KSFT_PASS)
		return false;
	after = cg_dirty(owner);
	ksft_print_msg("the owner has %ld bytes dirty before and %ld after\n",
		       before, after);
	return before >= MB(10) && after >= before / 2;
}

/*
 * The root cgroup has a dirty page in a file of @owner's. The flusher of a file
 * system without cgroup writeback is the root cgroup's, too. Writers there that
 * reach their own limit do not have @owner's pages written. There is no periodic
 * writeback for five minutes, which would also write these.
 */
static int test_root_page(const struct filesystem *fs, const char *root)
{
	struct setting period __free(setting) = save_setting(PERIOD_FILE);
	char *owner __free(cgroup) = create_cgroup(root, "dirty_fs_owner");
	char *cgroup __free(cgroup) = create_cgroup(root, "dirty_fs");

	if (!on_disk.enter() || write_file(PERIOD_FILE, "30000"))
		return KSFT_SKIP;
	sync();
	if (!owner || !cgroup || cg_write(cgroup, LIMIT_FILE, "10M"))
		return KSFT_FAIL;
	return passed(leaves_owner_alone(fs, root, owner, cgroup));
}

/* Runs in a cgroup: writes behind what the owner has written to its file. */
static int write_young(const char *cgroup, void *arg)
{
	int fd = open(test_file, O_WRONLY);
	static char buf[CHUNK];
	long done;

	for (done = 0; done < YOUNG_BYTES; done += CHUNK)
		if (pwrite(fd, buf, CHUNK, YOUNG_BYTES + done) != CHUNK)
			return KSFT_FAIL;
	return KSFT_PASS;
}

/* Waits until periodic writeback of an old file of @owner's has begun. */
static bool write_old(const char *owner)
{
	struct writes young = { .file = test_file, .bytes = YOUNG_BYTES };
	struct writes old = { .file = direct_file, .bytes = OLD_BYTES };

	/* The kernel learns how slow the disk is, and writes smaller parts. */
	if (cg_run(owner, do_writes, &young))
		return false;
	sync();
	return !cg_run(owner, do_writes, &old) && cg_dirty(owner) > OLD_BYTES / 10 * 9 &&
	       falls_below(owner, OLD_BYTES / 10 * 9, 20);
}

/* Does the guest end long before the old file is written? */
static bool does_not_wait_for_old(const char *owner, const char *guest)
{
	bool good = write_old(owner);
	long start = now_ms();

	good = good && !cg_run(guest, write_young, NULL);
	ksft_print_msg("%ld MiB took %ld ms, then %ld of %ld bytes of the old file are dirty\n",
		       YOUNG_BYTES >> 20, now_ms() - start, cg_dirty(owner),
		       OLD_BYTES);
	return good && cg_dirty(owner) >= OLD_BYTES / 8;
}

/*
 * A cgroup's flusher is busy with pages that are old enough for periodic writeback.
 * A limited cgroup has younger ones in another file of the same owner. It need not
 * wait until all of the old ones are written, as its pages get old.
 */
static int test_young_pages(const struct filesystem *fs, const char *root)
{
	struct setting period __free(setting) = save_setting(PERIOD_FILE);
	struct setting expire __free(setting) = save_setting(VM "/dirty_expire_centisecs");
	struct setting ratio __free(setting) = save_setting(VM "/dirty_ratio");
	struct setting background __free(setting) =
		save_setting(VM "/dirty_background_ratio");
	char *owner __free(cgroup) = create_cgroup(root, "dirty_fs_owner");
	char *guest __free(cgroup) = create_cgroup(root, "dirty_fs_guest");
	int ret = KSFT_FAIL;

	/* Nothing but the periodic flusher writes, for the first time after 10 s. */
	if (write_file(period.path, "1000") || write_file(expire.path, "900") ||
	    write_file(ratio.path, "60") || write_file(background.path, "50"))
		return KSFT_SKIP;
	if (owner && guest && !cg_write(guest, LIMIT_FILE, "4M"))
		ret = passed(does_not_wait_for_old(owner, guest));
	unlink(direct_file);
	unlink(test_file);
	return ret;
}

static void test_flusher(const struct filesystem *fs, const char *root, const char *name,
			 int (*test)(const struct filesystem *fs, const char *root))
{
	int ret = known(fs->type) ? fs->start(fs) : skip(fs, "not in this kernel");

	if (ret == KSFT_PASS)
		ret = test(fs, root);
	fs->stop();
	ksft_test_result_code(ret, name, NULL);
}

static int make_directory(char *path, const char *name)
{
	snprintf(path, PATH_MAX, "%.100s/%s", top, name);
	return mkdir(path, 0700);
}

static int prepare(void)
{
	snprintf(top, sizeof(top), "/tmp/test_memcg_dirty_fs.XXXXXX");
	own_network = !unshare(CLONE_NEWNET);
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || !mkdtemp(top))
		return -1;
	if (make_directory(disk, "disk") || make_directory(mnt, "mnt") ||
	    make_directory(nfsd, "nfsd"))
		return -1;
	snprintf(test_file, sizeof(test_file), "%.100s/file", mnt);
	snprintf(direct_file, sizeof(direct_file), "%.100s/direct", mnt);
	return 0;
}

static void clean_up(void)
{
	rmdir(disk);
	rmdir(mnt);
	rmdir(nfsd);
	rmdir(top);
}

static unsigned int count_cases(void)
{
	unsigned int i, count = 0;

	for (i = 0; i < ARRAY_SIZE(filesystems); i++)
		count += __builtin_popcount(filesystems[i].cases);
	return count;
}

int main(int argc, char **argv)
{
	char root[PATH_MAX];
	int i;

	ksft_print_header();
	find_root(root, sizeof(root));
	if (prepare())
		ksft_exit_skip("no namespaces: %s\n", strerror(errno));
	ksft_set_plan(count_cases() + 3);

	for (i = 0; i < ARRAY_SIZE(filesystems); i++)
		test_filesystem(&filesystems[i], root);
	ksft_test_result_code(test_tmpfs(root), "tmpfs: not limited", NULL);
	test_flusher(&filesystems[VFAT], root, "vfat: leaves other flushers alone",
		     test_root_page);
	test_flusher(&filesystems[EXT4], root, "ext4: does not wait for old pages",
		     test_young_pages);
	clean_up();
	ksft_finished();
}
