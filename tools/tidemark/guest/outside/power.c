// SPDX-License-Identifier: GPL-2.0
/*
 * Writes files in cgroups until the power is cut, and checks them afterwards.
 *
 *	power write NAME DIRECTORY CUT CGROUP
 *	power check NAME DIRECTORY CUT
 *
 * Three writers sync their data, each in its own way. Each write has a number,
 * and once it is on the disk, a line says so: "ack NAME KIND NUMBER". Others
 * keep the cgroups at their limits. After the cut, "found NAME KIND NUMBER"
 * tells the last write whose data is there, as is all that must precede it;
 * "broken NAME KIND REASON" that the files cannot have come about so.
 *
 * The content of a write follows from the cut, the kind and the number: data
 * of another write or of an earlier cut is recognized as such.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOT		4096
#define NR_SLOTS	64
#define LARGEST		65536
#define STREAM_BYTES	(48L << 20)

enum { APPEND, RENAME, DSYNC, NR_KINDS };

static const char *const kinds[NR_KINDS] = { "append", "rename", "dsync" };

static const char *name;
static unsigned long cut;
static int directory;
static char content[LARGEST], stored[LARGEST + 1];

static void fail(const char *what)
{
	fprintf(stderr, "power: %s: %s: %s\n", name, what, strerror(errno));
	_exit(EXIT_FAILURE);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Makes the content of a write, and returns its length. */
static size_t make_content(int kind, uint64_t number)
{
	uint64_t state = (cut + 1) * 0x9e3779b97f4a7c15 + number * NR_KINDS +
			 kind + 1;
	size_t i, length = SLOT;
	uint64_t word;

	for (i = 0; i < 8; i++)
		word = next_random(&state);
	if (kind != DSYNC)
		length = 64 + word % (LARGEST - 64);
	for (i = 0; i < length; i += sizeof(word)) {
		word = i ? next_random(&state) : number;
		memcpy(content + i, &word, length - i < sizeof(word) ?
		       length - i : sizeof(word));
	}
	return length;
}

static void acknowledge(int kind, uint64_t number)
{
	char line[64];
	int length = sprintf(line, "ack %s %s %lu\n", name, kinds[kind],
			     (unsigned long)number);

	if (write(STDOUT_FILENO, line, length) != length)
		fail("acknowledging");
}

static int open_file(const char *file, int flags)
{
	int fd = openat(directory, file, O_CREAT | O_RDWR | flags, 0600);

	if (fd < 0)
		fail(file);
	return fd;
}

static void write_all(int fd, size_t length, off_t at)
{
	if (pwrite(fd, content, length, at) != (ssize_t)length)
		fail("writing");
}

static void sync_file(int fd)
{
	if (fsync(fd))
		fail("fsync");
}

/* Writers: they run until the power is cut. */

static void write_appended(void)
{
	int fd = open_file("append", 0);
	uint64_t number;
	size_t length;
	off_t at = 0;

	sync_file(fd);
	sync_file(directory);
	for (number = 1;; number++, at += length) {
		length = make_content(APPEND, number);
		write_all(fd, length, at);
		sync_file(fd);
		acknowledge(APPEND, number);
	}
}

static void write_renamed(void)
{
	uint64_t number;
	int fd;

	for (number = 1;; number++) {
		fd = open_file("rename.new", O_TRUNC);
		write_all(fd, make_content(RENAME, number), 0);
		sync_file(fd);
		close(fd);
		if (renameat(directory, "rename.new", directory, "rename"))
			fail("renaming");
		sync_file(directory);
		acknowledge(RENAME, number);
	}
}

static void write_dsync(void)
{
	int fd = open_file("dsync", O_DSYNC);
	uint64_t number;

	sync_file(directory);
	for (number = 1;; number++) {
		write_all(fd, make_content(DSYNC, number),
			  number % NR_SLOTS * SLOT);
		acknowledge(DSYNC, number);
	}
}

/* Two cgroups do this to one file: half of its pages is another's. */
static void write_stream(void)
{
	int fd = open_file("stream", 0);
	off_t at;

	for (at = 0;; at = (at + LARGEST) % STREAM_BYTES)
		if (pwrite(fd, content, LARGEST, at) != LARGEST)
			fail("streaming");
}

static void start(const char *cgroup, const char *child, void (*write)(void))
{
	char path[256];
	pid_t pid = fork();
	FILE *procs;

	if (pid < 0)
		fail("fork");
	if (pid)
		return;
	snprintf(path, sizeof(path), "%s/%s/cgroup.procs", cgroup, child);
	procs = fopen(path, "w");
	if (!procs || fputs("0", procs) < 0 || fclose(procs))
		fail(path);
	write();
}

static int write_files(const char *cgroup)
{
	start(cgroup, "a", write_appended);
	start(cgroup, "b", write_renamed);
	start(cgroup, "b", write_dsync);
	start(cgroup, "a", write_stream);
	start(cgroup, "b", write_stream);
	/* A writer ends only if it fails. */
	wait(NULL);
	return EXIT_FAILURE;
}

/* Checks */

static void found(int kind, uint64_t number)
{
	printf("found %s %s %lu\n", name, kinds[kind], (unsigned long)number);
}

static void broken(int kind, const char *reason, uint64_t number)
{
	printf("broken %s %s %s %lu\n", name, kinds[kind], reason,
	       (unsigned long)number);
}

/* Is the content of a write at this place of a file? */
static bool has_content(int fd, int kind, uint64_t number, off_t at,
			size_t *length)
{
	*length = make_content(kind, number);
	return pread(fd, stored, *length, at) == (ssize_t)*length &&
	       !memcmp(content, stored, *length);
}

/* The last write, and only that one, may be incomplete. */
static void check_appended(int fd)
{
	uint64_t number = 1;
	size_t length;
	off_t at = 0;

	while (has_content(fd, APPEND, number, at, &length)) {
		number++;
		at += length;
	}
	if (lseek(fd, 0, SEEK_END) > at + (off_t)length)
		broken(APPEND, "is followed by more than write", number);
	else
		found(APPEND, number - 1);
}

/* The file that got the name is complete. */
static void check_renamed(int fd)
{
	uint64_t number;
	size_t length;

	if (pread(fd, &number, sizeof(number), 0) != sizeof(number))
		broken(RENAME, "is empty after write", 0);
	else if (!has_content(fd, RENAME, number, 0, &length) ||
		 lseek(fd, 0, SEEK_END) != (off_t)length)
		broken(RENAME, "is not write", number);
	else
		found(RENAME, number);
}

static uint64_t last_slot(int fd)
{
	uint64_t number, last = 0;
	size_t length;
	off_t slot;

	for (slot = 0; slot < NR_SLOTS; slot++)
		if (pread(fd, &number, sizeof(number), slot * SLOT) ==
		    sizeof(number) && number > last &&
		    number % NR_SLOTS == (uint64_t)slot &&
		    has_content(fd, DSYNC, number, slot * SLOT, &length))
			last = number;
	return last;
}

/* Each slot has its last write, but for the one that was being written. */
static void check_dsync(int fd)
{
	uint64_t number, last = last_slot(fd);
	size_t length;

	for (number = last; number && number + NR_SLOTS > last + 1; number--)
		if (!has_content(fd, DSYNC, number, number % NR_SLOTS * SLOT,
				 &length)) {
			broken(DSYNC, "lacks write", number);
			return;
		}
	found(DSYNC, last);
}

static int check_files(void)
{
	static void (*const checks[NR_KINDS])(int fd) = {
		check_appended, check_renamed, check_dsync,
	};
	int kind, fd;

	for (kind = 0; kind < NR_KINDS; kind++) {
		fd = openat(directory, kinds[kind], O_RDONLY);
		if (fd >= 0)
			checks[kind](fd);
		else
			found(kind, 0);
		close(fd);
	}
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	bool writes = argc == 6 && !strcmp(argv[1], "write");

	if (!writes && (argc != 5 || strcmp(argv[1], "check")))
		return EXIT_FAILURE;
	name = argv[2];
	cut = strtoul(argv[4], NULL, 10);
	directory = open(argv[3], O_RDONLY | O_DIRECTORY);
	if (directory < 0)
		return EXIT_FAILURE;
	return writes ? write_files(argv[5]) : check_files();
}
