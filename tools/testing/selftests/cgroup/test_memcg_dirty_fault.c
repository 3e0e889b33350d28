// SPDX-License-Identifier: GPL-2.0
/*
 * Tests dirty limits on a disk that fails: its requests end with EIO, or wait
 * for a minute, or its file system is frozen, also below an NFS server. Limited
 * writers then stay killable, an error is reported once, the cgroups of another
 * disk keep their rate, and when the fault is over, writers go on and all
 * counts return to 0.
 *
 * Only blocks of files fail: an error of metadata is no matter of dirty
 * limits, and ext4 warns or refuses to write after one.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_dirty_disk.h"
#include "memcg_dirty_nfs.h"
#include "memcg_dirty_util.h"
#include "memcg_test_util.h"

#define NR_WRITERS	3
#define LIMIT		MB(4L)
#define FILE_BYTES	MB(8L)
#define SETTLE_SECONDS	10
#define SUSPEND_SECONDS	60
#define FREEZE_SECONDS	9
#define SILENCE_SECONDS	15
#define ERROR_SECONDS	9
#define RATE_SECONDS	5
#define NR_PAGES	5
#define NR_WINDOWS	3
#define KILL_SECONDS	5
#define DISK_MB		"128"
/* The disk starts with its metadata, of less than this without a journal. */
#define METADATA_SECTORS	2048
/* Slow enough for writers to be faster, also on an emulated machine. */
#define MB_PER_SECOND	"10"

static char top[64];
static struct slow_disk bad_disk = { .name = "nullb_fault" };
static struct slow_disk good_disk = { .name = "nullb_good" };
static struct fault_disk fault = { .name = "memcg_fault",
				   .disk = &bad_disk,
				   .metadata = METADATA_SECTORS };
static char bad[64], good[64];		/* where the two are mounted */
static char nfs[64], nfsd[64];		/* the failing disk's client and server */

/* A writer, its cgroup, and the chunks that it has written so far. */
struct writer {
	char *cgroup;
	char file[96];
	pid_t pid;
	long *chunks;
};

/*
 * Each writer of the failing disk has a cgroup. The neighbour and the guest
 * write to the other disk: one from a cgroup of its own, the other, if it has
 * been started, from the first writer's.
 */
struct scene {
	struct writer writers[NR_WRITERS];
	struct writer neighbour;
	struct writer guest;
	long *chunks;
};

static long *counted;

static void count_chunk(long ms)
{
	__atomic_add_fetch(counted, 1, __ATOMIC_RELAXED);
}

/*
 * Returns an open file whose blocks are allocated: to write it again needs no
 * metadata. Its pages are gone, so that they are charged to the next writer.
 */
static int make_file(const char *path)
{
	int fd;

	if (write_zeroes(path, 0, FILE_BYTES))
		return -1;
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -1;
	if (!fsync(fd) && !posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		return fd;
	close(fd);
	return -1;
}

static int write_again(const char *cgroup, void *arg)
{
	const struct writer *writer = arg;
	struct writes writes = { .file = writer->file, .wrap = FILE_BYTES,
				 .keep = true, .took = count_chunk };

	counted = writer->chunks;
	return do_writes(cgroup, &writes);
}

/* Counts pages: few are let past a limit that another disk's pages use up. */
static int write_pages(const char *cgroup, void *arg)
{
	int fd __free(fd) = -1;
	long at, size = sysconf(_SC_PAGESIZE);
	const struct writer *writer = arg;
	static char buf[CHUNK];

	fd = open(writer->file, O_WRONLY);
	for (at = 0; at < FILE_BYTES; at += size) {
		if (pwrite(fd, buf, size, at) != size)
			return 1;
		__atomic_add_fetch(writer->chunks, 1, __ATOMIC_RELAXED);
	}
	return 0;
}

/* Beside an endless writer of a file, close() of it on NFS may wait for ever. */
static bool make_closed_file(const char *path)
{
	int fd = make_file(path);

	return fd >= 0 && !close(fd);
}

static bool start_writer(struct writer *writer, const char *root,
			 const char *name, const char *directory)
{
	snprintf(writer->file, sizeof(writer->file), "%s/%s", directory, name);
	writer->cgroup = create_cgroup(root, name);
	if (!make_closed_file(writer->file) || !writer->cgroup ||
	    cg_write(writer->cgroup, LIMIT_FILE, "4M"))
		return false;
	writer->pid = cg_run_nowait(writer->cgroup, write_again, writer);
	return writer->pid > 0;
}

static void end_writer(struct writer *writer)
{
	stop_task(writer->pid);
	writer->pid = 0;
	destroy_cgroup(writer->cgroup);
	writer->cgroup = NULL;
}

static bool start_scene(struct scene *scene, const char *root,
			const char *directory)
{
	char name[32];
	int i;

	scene->chunks = share_memory((NR_WRITERS + 2) * sizeof(long));
	scene->neighbour.chunks = scene->chunks + NR_WRITERS;
	scene->guest.chunks = scene->chunks + NR_WRITERS + 1;
	if (!start_writer(&scene->neighbour, root, "fault_neighbour", good))
		return false;
	for (i = 0; i < NR_WRITERS; i++) {
		sprintf(name, "fault_writer%d", i);
		scene->writers[i].chunks = scene->chunks + i;
		if (!start_writer(&scene->writers[i], root, name, directory))
			return false;
		if (!wait_paused(scene->writers[i].cgroup))
			return false;
	}
	return true;
}

static void free_scene(struct scene *scene)
{
	int i;

	end_writer(&scene->guest);
	for (i = 0; i < NR_WRITERS; i++)
		end_writer(&scene->writers[i]);
	end_writer(&scene->neighbour);
	sync();
}

/* Chunks per second */
static long rate_of(const struct writer *writer, int seconds)
{
	long before = __atomic_load_n(writer->chunks, __ATOMIC_RELAXED);
	long ms = now_ms();

	sleep_ms(seconds * 1000);
	ms = now_ms() - ms;
	return (__atomic_load_n(writer->chunks, __ATOMIC_RELAXED) - before) *
	       1000 / ms;
}

static bool goes_on(const struct writer *writer)
{
	long before = __atomic_load_n(writer->chunks, __ATOMIC_RELAXED);
	int i;

	for (i = 0; i < 200; i++) {
		if (__atomic_load_n(writer->chunks, __ATOMIC_RELAXED) > before)
			return true;
		sleep_ms(100);
	}
	ksft_print_msg("%s does not go on\n", writer->file);
	return false;
}

/* Does a writer end soon after SIGKILL? */
static bool dies(struct writer *writer)
{
	int i, status;

	kill(writer->pid, SIGKILL);
	for (i = 0; i < KILL_SECONDS * 100; i++) {
		if (waitpid(writer->pid, &status, WNOHANG) == writer->pid) {
			writer->pid = 0;
			return true;
		}
		sleep_ms(10);
	}
	ksft_print_msg("%s: its writer does not die\n", writer->file);
	return false;
}

/* After the fault: writers go on, end, and leave no count behind. */
static bool recovers(struct scene *scene)
{
	bool fine = true;
	int i;

	for (i = 0; i < NR_WRITERS; i++) {
		if (!scene->writers[i].pid)
			continue;
		fine = goes_on(&scene->writers[i]) && fine;
		fine = dies(&scene->writers[i]) && fine;
		fine = is_clean(scene->writers[i].cgroup) && fine;
	}
	fine = dies(&scene->neighbour) && fine;
	return is_clean(scene->neighbour.cgroup) && fine;
}

/*
 * A neighbour on another disk keeps nine tenths of its rate. It may lose more
 * for a while if the machine is busy, but not each time.
 */
static bool keeps_rate(const struct writer *neighbour, long alone, int seconds)
{
	long now, rate = 0;
	int i;

	for (i = 0; i < NR_WINDOWS; i++) {
		now = rate_of(neighbour, seconds / NR_WINDOWS);
		if (now > rate)
			rate = now;
	}
	ksft_print_msg("neighbour: %ld KiB/s before, %ld KiB/s beside the fault\n",
		       alone * CHUNK / 1024, rate * CHUNK / 1024);
	return rate * 10 >= alone * 9;
}

/* Cases */

/* A removed cgroup's pages are written when the disk answers again. */
static bool is_removed(struct writer *writer)
{
	char *cgroup __free(memory) = writer->cgroup;

	writer->cgroup = NULL;
	return dies(writer) && !rmdir(cgroup);
}

static long chunks_of(const struct scene *scene)
{
	long chunks = 0;
	int i;

	for (i = 0; i < NR_WRITERS; i++)
		chunks += __atomic_load_n(scene->writers[i].chunks,
					  __ATOMIC_RELAXED);
	return chunks;
}

/* Waits until no writer has ended a chunk for SETTLE_SECONDS. */
static bool settles(const struct scene *scene)
{
	long start = now_ms(), chunks;

	do {
		chunks = chunks_of(scene);
		sleep_ms(SETTLE_SECONDS * 1000);
		if (chunks_of(scene) == chunks)
			return true;
	} while (now_ms() - start < SUSPEND_SECONDS * 1000L);
	ksft_print_msg("writers go on without their disk\n");
	return false;
}

/* The other disk answers: its writer goes on, although the limit is used up. */
static bool passes_beside(struct scene *scene)
{
	struct writer *guest = &scene->guest;
	int i, fd __free(fd) = -1;

	snprintf(guest->file, sizeof(guest->file), "%s/guest", good);
	fd = make_file(guest->file);
	if (fd < 0)
		return false;
	guest->pid = cg_run_nowait(scene->writers[0].cgroup, write_pages, guest);
	if (guest->pid <= 0)
		return false;
	for (i = 0; i < NR_PAGES; i++)
		if (!goes_on(guest))
			return false;
	return dies(guest);
}

/* No page passes the limits while none is written, however long that takes. */
static bool endures_suspension(struct scene *scene)
{
	long alone = rate_of(&scene->neighbour, RATE_SECONDS), chunks;
	bool fine;

	if (fault_disk_suspend(&fault))
		return false;
	fine = settles(scene);
	chunks = chunks_of(scene);
	fine = keeps_rate(&scene->neighbour, alone, SUSPEND_SECONDS) && fine;
	chunks = chunks_of(scene) - chunks;
	if (chunks) {
		ksft_print_msg("%ld KiB passed the limits of a disk that does not answer\n",
			       chunks * CHUNK / 1024);
		fine = false;
	}
	fine = passes_beside(scene) && fine;
	fine = dies(&scene->writers[1]) && fine;
	fine = is_removed(&scene->writers[2]) && fine;
	if (fault_disk_resume(&fault))
		return false;
	return recovers(scene) && fine;
}

static int test_suspended(const char *root)
{
	struct scene scene = {};
	bool fine = start_scene(&scene, root, bad) && endures_suspension(&scene);

	free_scene(&scene);
	return passed(fine);
}

/* Returns a file to thaw the failing disk's file system with, or -1. */
static int freeze_bad(void)
{
	int fd = open(bad, O_RDONLY | O_DIRECTORY);

	if (fd >= 0 && !ioctl(fd, FIFREEZE, 0))
		return fd;
	ksft_print_msg("cannot freeze: %s\n", strerror(errno));
	free_fd(&fd);
	return -1;
}

static bool endures_freeze(struct scene *scene)
{
	int fd __free(fd) = -1;
	long alone;
	bool fine;

	alone = rate_of(&scene->neighbour, RATE_SECONDS);
	fd = freeze_bad();
	if (fd < 0)
		return false;
	fine = keeps_rate(&scene->neighbour, alone, FREEZE_SECONDS);
	if (dirty_counted(scene->writers[0].cgroup)) {
		ksft_print_msg("a frozen file system has dirty pages\n");
		fine = false;
	}
	if (ioctl(fd, FITHAW, 0))
		return false;
	return recovers(scene) && fine;
}

static int test_frozen(const char *root)
{
	struct scene scene = {};
	bool fine = start_scene(&scene, root, bad) && endures_freeze(&scene);

	free_scene(&scene);
	return passed(fine);
}

/* A page of a shared flusher may pass now and then, for an eighth of the limit. */
static bool stay_bounded(const struct scene *scene)
{
	long dirty, most = LIMIT / 8 * 9 + stat_error();
	bool fine = true;
	int i;

	for (i = 0; i < NR_WRITERS; i++) {
		dirty = dirty_counted(scene->writers[i].cgroup);
		ksft_print_msg("%ld bytes wait for the server\n", dirty);
		fine = dirty > 0 && dirty <= most && fine;
	}
	return fine;
}

/*
 * The server answers again after a while, as one that was not to be reached. A
 * task that is killed meanwhile does not end before, with or without a limit:
 * it closes its file, and that waits until the file's pages are written.
 */
static bool endures_silence(struct scene *scene)
{
	int fd __free(fd) = -1;
	long alone;
	bool fine;

	alone = rate_of(&scene->neighbour, RATE_SECONDS);
	fd = freeze_bad();
	if (fd < 0)
		return false;
	fine = keeps_rate(&scene->neighbour, alone, SILENCE_SECONDS);
	fine = stay_bounded(scene) && fine;
	fine = passes_beside(scene) && fine;
	if (ioctl(fd, FITHAW, 0))
		return false;
	return recovers(scene) && fine;
}

/* Returns a KSFT_ code. The server has a network of its own. */
static int serve(void)
{
	if (mkdir(nfs, 0700) || mkdir(nfsd, 0700))
		return KSFT_FAIL;
	if (unshare(CLONE_NEWNET) || nfs_server_start(bad, nfsd)) {
		ksft_print_msg("no NFS server: %s\n", strerror(errno));
		return KSFT_SKIP;
	}
	return passed(!nfs_mount(nfs));
}

static int test_silent_server(const char *root)
{
	struct scene scene = {};
	int ret = serve();

	if (!ret)
		ret = passed(start_scene(&scene, root, nfs) &&
			     endures_silence(&scene));
	free_scene(&scene);
	unmount(nfs);
	nfs_server_stop(nfsd);
	rmdir(nfs);
	rmdir(nfsd);
	return ret;
}

/* Writeback that fails cleans pages as well: nothing waits for the disk. */
static bool endures_errors(struct scene *scene)
{
	long alone = rate_of(&scene->neighbour, RATE_SECONDS);
	bool fine;

	if (fault_disk_set(&fault, true))
		return false;
	fine = keeps_rate(&scene->neighbour, alone, ERROR_SECONDS);
	fine = goes_on(&scene->writers[0]) && fine;
	fine = dies(&scene->writers[1]) && fine;
	fine = is_removed(&scene->writers[2]) && fine;
	if (fault_disk_set(&fault, false))
		return false;
	return recovers(scene) && fine;
}

static int test_errors(const char *root)
{
	struct scene scene = {};
	bool fine = start_scene(&scene, root, bad) && endures_errors(&scene);

	free_scene(&scene);
	return passed(fine);
}

/* Runs in a limited cgroup. The exit code tells the step that failed. */
static int sync_beside_errors(const char *cgroup, void *arg)
{
	int i, ret = 0, fd __free(fd) = -1;
	static char buf[CHUNK];

	fd = open(arg, O_WRONLY);
	for (i = 0; i < MB(8) / CHUNK; i++)
		if (pwrite(fd, buf, CHUNK, i * CHUNK) != CHUNK)
			return 1;
	if (!fsync(fd) || errno != EIO)
		ret = 2;
	if (fault_disk_set(&fault, false))
		return 3;
	if (!ret && fsync(fd))
		ret = 4;
	if (!ret && (pwrite(fd, buf, CHUNK, 0) != CHUNK || fsync(fd)))
		ret = 5;
	return ret;
}

/* Whether the flusher or fsync() met the error, fsync() tells it, and once. */
static int test_error_once(const char *root)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "fault_once");
	char file[96];
	int ret, fd __free(fd) = -1;

	snprintf(file, sizeof(file), "%s/once", bad);
	fd = make_file(file);
	if (fd < 0 || !cgroup || cg_write(cgroup, LIMIT_FILE, "4M") ||
	    fault_disk_set(&fault, true))
		return KSFT_FAIL;
	ret = cg_run(cgroup, sync_beside_errors, file);
	if (ret)
		ksft_print_msg("step %d failed\n", ret);
	/* Another open file reports it too. */
	return passed(!ret && fsync(fd) && errno == EIO && !fsync(fd) &&
		      is_clean(cgroup));
}

/* A disk that has failed a write says so to the next freeze: errors come last. */
static const struct memcg_test tests[] = {
	T(test_frozen),
	T(test_silent_server),
	T(test_suspended),
	T(test_error_once),
	T(test_errors),
};

static int make_and_mount(const char *node, const char *directory)
{
	const char *const mkfs[] = {
		"mkfs.ext4", "-q", "-F", "-b", "4096", "-O", "^has_journal",
		"-E", "lazy_itable_init=0", "-N", "64", node, NULL,
	};

	return mkdir(directory, 0700) || run_quietly(mkfs) ||
	       mount(node, directory, "ext4", MS_NOATIME, NULL);
}

static void clean_up(void)
{
	unmount(bad);
	unmount(good);
	fault_disk_remove(&fault);
	disk_remove(&bad_disk);
	disk_remove(&good_disk);
	rmdir(bad);
	rmdir(good);
	rmdir(top);
}

static void setup(const char *root)
{
	char node[64];

	snprintf(top, sizeof(top), "/tmp/test_memcg_dirty_fault.XXXXXX");
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || !mkdtemp(top))
		ksft_exit_skip("no namespaces\n");
	snprintf(bad, sizeof(bad), "%.48s/bad", top);
	snprintf(good, sizeof(good), "%.48s/good", top);
	snprintf(nfs, sizeof(nfs), "%.48s/nfs", top);
	snprintf(nfsd, sizeof(nfsd), "%.48s/nfsd", top);
	snprintf(node, sizeof(node), "/dev/%s", good_disk.name);
	fault.sectors = atol(DISK_MB) * 2048;
	if (!disk_possible() || disk_create(&good_disk, DISK_MB, MB_PER_SECOND) ||
	    disk_create(&bad_disk, DISK_MB, MB_PER_SECOND) || fault_disk_create(&fault) ||
	    make_and_mount(fault.node, bad) || make_and_mount(node, good)) {
		clean_up();
		ksft_exit_skip("no null_blk, device mapper or mkfs.ext4\n");
	}
}

int main(void)
{
	char root[PATH_MAX];
	int ret;

	ksft_print_header();
	find_root(root, sizeof(root));
	setup(root);
	ret = memcg_test_run(root, tests, ARRAY_SIZE(tests));
	clean_up();
	return ret;
}
