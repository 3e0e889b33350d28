// SPDX-License-Identifier: GPL-2.0
/*
 * A file that is sent once is not used twice: sendfile() in pieces smaller than
 * a folio marks the folio accessed once for each pass, and not for each piece.
 * A file of one folio that is sent again and again is used each time.
 *
 * Makes an xfs in the current directory, because it has large folios. The
 * classic LRU shows which folios were accessed twice: they are active, and a
 * stream does not evict them.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest.h"

#define LRU_GEN_FILE	"/sys/kernel/mm/lru_gen/enabled"
#define IMAGE		"test_splice_accessed.img"
#define PLACE		"test_splice_accessed.mnt"
#define CGROUP		"/sys/fs/cgroup/test_splice_accessed"
#define PIECE		65536L
#define SMALL_FILES	200

static const long image_bytes = 1L << 30;
static const long file_bytes = 64L << 20;
/* The small files fit into it beside a stream; the stream does not fit. */
static const char *const memory_max = "32M";

/* Active file pages of the whole system, in KiB. */
static long active_file(void)
{
	char line[128];
	long found = -1;
	FILE *file = fopen("/proc/meminfo", "r");

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "Active(file): %ld", &found) == 1)
			break;
	fclose(file);
	return found;
}

static int create(const char *path, long bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd >= 0 && ftruncate(fd, bytes)) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool send_once(const char *path)
{
	int in = open(path, O_RDONLY), out = open("/dev/null", O_WRONLY);
	long sent, total = 0;

	while (in >= 0 && out >= 0 && total < file_bytes) {
		sent = sendfile(out, in, NULL, PIECE);
		if (sent <= 0)
			break;
		total += sent;
	}
	close(in);
	close(out);
	return total == file_bytes;
}

/* Returns how much of the file has become active, in percent; -1 on errors. */
static long activated_by_pass(const char *path)
{
	long before = active_file();

	if (before < 0 || !send_once(path))
		return -1;
	return (active_file() - before) * 100 / (file_bytes >> 10);
}

static void test_passes(void)
{
	const char *path = PLACE "/file";
	int fd = create(path, file_bytes);
	long first, second;

	if (fd < 0)
		ksft_exit_fail_perror(path);
	close(fd);
	first = activated_by_pass(path);
	second = activated_by_pass(path);
	ksft_print_msg("active after the first pass: %ld%%, more by the second: %ld%%\n",
		       first, second);
	ksft_test_result(first >= 0 && first < 10, "one pass leaves a file inactive\n");
	ksft_test_result(second > 90, "a second pass makes it active\n");
}

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool written = fd >= 0 && write(fd, text, strlen(text)) > 0;

	close(fd);
	return written;
}

/* Moves the caller into a cgroup of its own, with a limit. */
static bool enter_cgroup(void)
{
	mkdir(CGROUP, 0755);
	return write_text(CGROUP "/memory.max", memory_max) &&
	       write_text(CGROUP "/cgroup.procs", "0");
}

static bool is_resident(int fd, long bytes)
{
	void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	unsigned char resident = 0;

	if (map == MAP_FAILED || mincore(map, bytes, &resident))
		_exit(127);
	munmap(map, bytes);
	return resident & 1;
}

/* As a web server does: the files stay open, and their position is not used. */
static void send_small(const int *fds, int out, long bytes)
{
	off_t pos;
	int i;

	for (i = 0; i < SMALL_FILES; i++) {
		pos = 0;
		if (sendfile(out, fds[i], &pos, bytes) != bytes)
			_exit(127);
	}
}

/*
 * Runs in a child: sends files of a page three times, and then one that does
 * not fit. Exits with the percentage of small files that are still in memory.
 */
static void send_small_beside_stream(void)
{
	const long page = sysconf(_SC_PAGE_SIZE);
	int fds[SMALL_FILES], out = open("/dev/null", O_WRONLY);
	int i, found = 0;
	char path[64];

	for (i = 0; i < SMALL_FILES; i++) {
		snprintf(path, sizeof(path), PLACE "/small%d", i);
		fds[i] = create(path, page);
		if (fds[i] < 0)
			_exit(127);
	}
	for (i = 0; i < 3; i++)
		send_small(fds, out, page);
	if (!send_once(PLACE "/stream"))
		_exit(127);
	for (i = 0; i < SMALL_FILES; i++)
		found += is_resident(fds[i], page);
	_exit(found * 100 / SMALL_FILES);
}

static void test_small_files(void)
{
	int fd = create(PLACE "/stream", file_bytes);
	int status = 0;
	pid_t pid;

	close(fd);
	pid = fork();
	if (!pid) {
		if (!enter_cgroup())
			_exit(126);
		send_small_beside_stream();
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	rmdir(CGROUP);
	if (WEXITSTATUS(status) == 126) {
		ksft_test_result_skip("no memory controller of cgroup v2\n");
		return;
	}
	ksft_print_msg("of the small files, %d%% stay\n", WEXITSTATUS(status));
	ksft_test_result(WIFEXITED(status) && WEXITSTATUS(status) >= 95 &&
			 WEXITSTATUS(status) <= 100,
			 "small files stay beside a stream\n");
}

static bool find_loop(char *loop, size_t size)
{
	FILE *out = popen("losetup -f", "r");
	bool found;

	if (!out)
		return false;
	found = fgets(loop, size, out);
	pclose(out);
	loop[strcspn(loop, "\n")] = '\0';
	return found;
}

static bool run(const char *program, const char *device, const char *path)
{
	char command[128];

	snprintf(command, sizeof(command), "%s %s %s", program, device, path);
	return !system(command);
}

static bool mount_xfs(void)
{
	int fd = create(IMAGE, image_bytes);
	char loop[64];
	bool mounted;

	if (fd < 0)
		return false;
	close(fd);
	mkdir(PLACE, 0700);
	if (!run("mkfs.xfs -q -f", "", IMAGE) || !find_loop(loop, sizeof(loop)) ||
	    !run("losetup", loop, IMAGE))
		return false;
	mounted = run("mount -t xfs", loop, PLACE);
	/* takes effect when the file system is unmounted */
	run("losetup -d", loop, "");
	return mounted;
}

/* Returns the length of the old setting, to be restored, or 0. */
static int use_classic_lru(char *old, size_t size)
{
	int fd = open(LRU_GEN_FILE, O_RDWR);
	int len;

	if (fd < 0)
		return 0;
	len = read(fd, old, size);
	if (pwrite(fd, "n", 1, 0) != 1)
		len = 0;
	close(fd);
	return len;
}

static void restore_lru(const char *old, int len)
{
	int fd = open(LRU_GEN_FILE, O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, old, len) != len)
		ksft_print_msg("lru_gen stays disabled\n");
	close(fd);
}

int main(void)
{
	char old[32];
	int len;

	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("needs root\n");
	ksft_set_plan(3);
	len = use_classic_lru(old, sizeof(old));
	if (mount_xfs()) {
		test_passes();
		test_small_files();
		umount(PLACE);
	} else {
		ksft_test_result_skip("no xfs\n");
		ksft_test_result_skip("no xfs\n");
		ksft_test_result_skip("no xfs\n");
	}
	rmdir(PLACE);
	unlink(IMAGE);
	if (len)
		restore_lru(old, len);
	ksft_finished();
}
