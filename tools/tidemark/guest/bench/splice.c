// SPDX-License-Identifier: GPL-2.0
/*
 * A set of pages that is read every few seconds, beside a stream: a file larger than
 * memory, which is read from beginning to end by read() or sendfile(), on XFS,
 * which has large folios. The kernel command line names
 *
 *	bench.lru=0|1		classic, MGLRU
 *	bench.sendfile=0|1	the stream is read by read(), or by sendfile()
 *
 * A boot measures one of them: the first stream leaves the LRU in a state in which a
 * second one evicts more.
 */
#define _GNU_SOURCE
#include "bench.h"
#include <sys/mount.h>
#include <sys/sendfile.h>

#define DISK		"/dev/nullb0"
#define SET		"/disk/set"
#define STREAM		"/disk/stream"
#define SET_BYTES	(128 * MIB)
#define STREAM_BYTES	(512 * MIB)
#define PIECE		(64L << 10)
#define NR_PASSES	3
#define SET_NS		1600000		/* for a piece: the set takes 3.3 s */
#define STREAM_NS	400000		/* 160 MB/s */

/* Shared with the tasks. */
struct shared {
	int ready, over;
	long nr_pages, misses;
};

static struct shared *shared;
static char buffer[PIECE];

static void make_file(const char *path, long bytes)
{
	int fd = CHECK(open(path, O_CREAT | O_WRONLY, 0600));

	memset(buffer, 'x', sizeof(buffer));
	for (; bytes > 0; bytes -= PIECE)
		CHECK(write(fd, buffer, PIECE));
	close(fd);
}

static void make_disk(void)
{
	if (system("mkfs.xfs -q -f " DISK " >&2"))
		die("mkfs.xfs");
	CHECK(mount(DISK, "/disk", "xfs", MS_NOATIME, NULL));
	make_file(SET, SET_BYTES);
	make_file(STREAM, STREAM_BYTES);
}

/* The set */

static void count_misses(const char *mapped, long at)
{
	unsigned char present[PIECE / PAGE];
	size_t i;

	CHECK(mincore((void *)(mapped + at), PIECE, present));
	for (i = 0; i < sizeof(present); i++)
		shared->misses += !(present[i] & 1);
	shared->nr_pages += sizeof(present);
}

static void read_set(int fd, const char *mapped)
{
	long long next = now();
	long at;

	for (at = 0; at < SET_BYTES && !is_set(&shared->over); at += PIECE) {
		if (mapped)
			count_misses(mapped, at);
		CHECK(pread(fd, buffer, PIECE, at));
		sleep_until(next += SET_NS);
	}
}

static void use_set(void)
{
	int fd = CHECK(open(SET, O_RDONLY));
	char *mapped = mmap(NULL, SET_BYTES, PROT_READ, MAP_SHARED, fd, 0);

	if (mapped == MAP_FAILED)
		die("mmap");
	/* Readahead would bring pages back before they are counted as missing. */
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM))
		die("posix_fadvise");
	/* All of it is in use: read twice. */
	read_set(fd, NULL);
	read_set(fd, NULL);
	set_flag(&shared->ready);
	while (!is_set(&shared->over))
		read_set(fd, mapped);
}

/* The stream */

static void take_by_read(int fd)
{
	CHECK(read(fd, buffer, PIECE));
}

static void take_by_sendfile(int fd)
{
	static int null = -1;

	if (null < 0)
		null = CHECK(open("/dev/null", O_WRONLY));
	CHECK(sendfile(null, fd, NULL, PIECE));
}

static void stream(void (*take)(int fd))
{
	int fd = CHECK(open(STREAM, O_RDONLY));
	long long next = now();
	long at;

	for (at = 0; at < STREAM_BYTES; at += PIECE) {
		take(fd);
		sleep_until(next += STREAM_NS);
	}
	close(fd);
}

static void measure(void (*take)(int fd))
{
	pid_t user;
	int i;

	sync();
	put("/proc/sys/vm/drop_caches", "3");
	user = CHECK(fork());
	if (!user) {
		use_set();
		_exit(0);
	}
	while (!is_set(&shared->ready))
		sleep_ms(1);
	for (i = 0; i < NR_PASSES; i++)
		stream(take);
	set_flag(&shared->over);
	wait_for(user);
	figure(100.0 * (shared->nr_pages - shared->misses) / shared->nr_pages, "%",
	       "hit rate of the set");
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	put("/sys/kernel/mm/lru_gen/enabled", number("lru", 1) ? "7" : "0");
	shared = map_shared(sizeof(*shared));
	use_seed();
	make_disk();
	measure(number("sendfile", 0) ? take_by_sendfile : take_by_read);
	return 0;
}
