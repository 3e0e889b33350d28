// SPDX-License-Identifier: GPL-2.0
/*
 * A file that is sent once is not used twice: sendfile() in pieces smaller than
 * a folio marks the folio accessed once for each pass, and not for each piece.
 *
 * Makes an xfs in the current directory, because it has large folios. The
 * classic LRU shows what was accessed twice: it is active.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../kselftest.h"

#define LRU_GEN_FILE	"/sys/kernel/mm/lru_gen/enabled"
#define IMAGE		"test_splice_accessed.img"
#define PLACE		"test_splice_accessed.mnt"
#define PIECE		65536L

static const long image_bytes = 1L << 30;
static const long file_bytes = 64L << 20;

/* Of the whole system, in KiB. */
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
	/* takes effect when it is unmounted */
	run("losetup -d", loop, "");
	return mounted;
}

/* Returns the length of what is to be written back, or 0. */
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
	ksft_set_plan(2);
	len = use_classic_lru(old, sizeof(old));
	if (mount_xfs()) {
		test_passes();
		umount(PLACE);
	} else {
		ksft_test_result_skip("no xfs\n");
		ksft_test_result_skip("no xfs\n");
	}
	rmdir(PLACE);
	unlink(IMAGE);
	if (len)
		restore_lru(old, len);
	ksft_finished();
}
