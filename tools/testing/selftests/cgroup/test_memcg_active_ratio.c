// SPDX-License-Identifier: GPL-2.0
/*
 * Tests for vm.active_inactive_ratio and memory.active_inactive_ratio: the
 * files, and the effect of the ratio on a working set beside a stream.
 *
 * The tests of the effect need a current directory on a file system with sparse
 * files in the page cache. Reading a hole takes memory, but no disk.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cgroup_util.h"
#include "memcg_test_util.h"

#define SYSCTL		"active_inactive_ratio"
#define SYSCTL_FILE	VM "/" SYSCTL
/* In it: the aging walks page tables */
#define LRU_GEN_MM_WALK	0x2
#define LRU_GEN_DEBUG_FILE	"/sys/kernel/debug/lru_gen"
#define MIN_TTL_FILE	"/sys/kernel/mm/lru_gen/min_ttl_ms"
#define ACTIVE_RATIO_FILE	"memory.active_inactive_ratio"
#define ZRAM_CONTROL	"/sys/class/zram-control"
#define TMPFS_MAGIC	0x01021994
/* Percent of the working set that is still in memory in each round */
#define KEPT		90
#define NOT_KEPT	85
/* On a busy machine, two runs with the same ratio may differ by so much. */
#define NOISE	15
/* The reclaim of anonymous memory may differ by so many pages. */
#define ANON_NOISE	2048
/* In some runs, a reclaimer raises its priority and scans thousands. */
#define ANON_RUNS	3
#define ANON_REFERENCES	5
#define ANON_BURST	10240	/* more than it scans at once: 4000 to 8000 */

static const char *const set_file = "test_active_ratio_set.tmp";
static const char *const stream_file = "test_active_ratio_stream.tmp";

/*
 * A working set, a stream, and the memory that the two do not fit into. No part
 * of the stream is read again: the shadow entry of a page that was evicted
 * before lru_gen is switched is then taken for another time.
 */
static const long set_bytes = MB(24);
static const long stream_bytes = MB(4096L);
static const long stream_step = MB(48);
static const long memory_max = MB(64);
/* The same for the system, with memory that other parts of it need */
static const long system_step = MB(256);
static const long system_left = MB(160);
/* In kB. All but that little is locked in memory: no test for larger machines. */
static const long system_most = 8L << 20;

/* The first test: the sysctl has not been written yet. */
static int test_sysctl_default(const char *root)
{
	return passed(cg_shows(VM, SYSCTL, "-1\n"));
}

static int test_sysctl_values(const char *root)
{
	static const char *const valid[][2] = {
		{ "0", "0\n" }, { "1", "1\n" }, { "100", "100\n" },
		{ "25", "25\n" }, { "-1", "-1\n" },
	};
	static const char *const invalid[] = { "-2", "101", "x", "50x", "2147483648" };
	struct setting ratio __free(setting) = save_setting(SYSCTL_FILE);
	int i;

	for (i = 0; i < ARRAY_SIZE(valid); i++)
		if (!cg_takes(VM, SYSCTL, valid[i][0], valid[i][1]))
			return KSFT_FAIL;
	if (write_file(SYSCTL_FILE, "25"))
		return KSFT_FAIL;
	for (i = 0; i < ARRAY_SIZE(invalid); i++)
		if (!cg_refuses(VM, SYSCTL, invalid[i], "25\n"))
			return KSFT_FAIL;
	return KSFT_PASS;
}

/* Not on the root; "default" by default; a child does not copy its parent's. */
static int test_default(const char *root)
{
	char *parent __free(cgroup) = create_parent(root, "ratio_default");
	char *child __free(cgroup) = NULL;

	if (!parent || cg_has(root, ACTIVE_RATIO_FILE) ||
	    !cg_shows(parent, ACTIVE_RATIO_FILE, "default\n") ||
	    cg_write(parent, ACTIVE_RATIO_FILE, "30"))
		return KSFT_FAIL;
	child = create_cgroup(parent, "child");
	return passed(child && cg_shows(child, ACTIVE_RATIO_FILE, "default\n"));
}

static int test_values(const char *root)
{
	static const char *const valid[][2] = {
		{ "0", "0\n" }, { "100", "100\n" }, { " 25\n", "25\n" },
		{ "default", "default\n" },
	};
	static const char *const invalid[] = {
		"-1", "-2", "101", "x", "50%", "5 0", "max", "4294967296",
	};
	char *cgroup __free(cgroup) = create_cgroup(root, "ratio_values");
	int i;

	if (!cgroup)
		return KSFT_FAIL;
	for (i = 0; i < ARRAY_SIZE(valid); i++)
		if (!cg_takes(cgroup, ACTIVE_RATIO_FILE, valid[i][0],
			      valid[i][1]))
			return KSFT_FAIL;
	if (cg_write(cgroup, ACTIVE_RATIO_FILE, "42"))
		return KSFT_FAIL;
	for (i = 0; i < ARRAY_SIZE(invalid); i++)
		if (!cg_refuses(cgroup, ACTIVE_RATIO_FILE, invalid[i], "42\n"))
			return KSFT_FAIL;
	return KSFT_PASS;
}

static void read_range(int fd, long from, long bytes)
{
	static char buf[CHUNK];
	long pos;

	for (pos = from; pos < from + bytes; pos += CHUNK)
		if (pread(fd, buf, CHUNK, pos) != CHUNK)
			_exit(127);
}

static long resident_percent(void *map, long bytes)
{
	static unsigned char vec[MB(24) / 4096];
	long i, found = 0, pages = bytes / sysconf(_SC_PAGE_SIZE);

	if (mincore(map, bytes, vec))
		_exit(127);
	for (i = 0; i < pages; i++)
		found += vec[i] & 1;
	return found * 100 / pages;
}

/* What else the reader of a set and a stream does. */
struct reads {
	char *lru_gen;		/* written to lru_gen, unless NULL */
	const char *other;	/* cgroup that reads the stream, unless NULL */
	long step;		/* bytes of the stream to read at once, or 0 */
	long idle;		/* bytes of anonymous memory that is used only once */
	bool switching;		/* lru_gen is switched for some of the first rounds */
};

/* The share in each round: a few bad rounds have another cause than a low mean. */
static void print_rounds(const long *percent, int nr)
{
	char text[64];
	int i, len = 0;

	for (i = 0; i < nr; i++)
		len += snprintf(text + len, sizeof(text) - len, " %ld", percent[i]);
	ksft_print_msg("in each round, percent:%s\n", text);
}

/* Makes all pages different, or the kernel might not write them to swap. */
static void use_anon(long *anon, long bytes)
{
	long i, step = sysconf(_SC_PAGE_SIZE) / sizeof(*anon);

	for (i = 0; i < bytes / (long)sizeof(*anon); i += step)
		anon[i] = (long)&anon[i];
}

/* In the background: switches lru_gen all the time, and at last back again. */
static pid_t start_switching(bool enabled)
{
	pid_t pid = fork();
	int i;

	if (pid)
		return pid;
	for (i = 0; i < 50; i++) {
		if (write_file(LRU_GEN_FILE, enabled == i % 2 ? "y" : "n"))
			_exit(EXIT_FAILURE);
		sleep_ms(20);
	}
	_exit(EXIT_SUCCESS);
}

/* Has the aging walk all page tables of @cgroup, for all nodes. */
static int age(const char *cgroup)
{
	char line[PATH_MAX + 32], path[PATH_MAX], commands[4096] = "", *end = commands;
	FILE *file = fopen(LRU_GEN_DEBUG_FILE, "r");
	unsigned long id = 0, node = 0, seq, ms;
	bool found = false;

	if (!file)
		return -1;
	/*
	 * The youngest generation of a node comes last, and so does the
	 * youngest cgroup of that name: removed ones may still be listed.
	 */
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "memcg %lu %s", &id, path) == 2) {
			found = !strcmp(strrchr(path, '/'), strrchr(cgroup, '/'));
			if (found) {
				end = commands;
				*end = '\0';
			}
		} else if (found && sscanf(line, " node %lu", &node) == 1) {
			end += strlen(end);
		} else if (found && sscanf(line, "%lu %lu", &seq, &ms) == 2) {
			snprintf(end, sizeof(commands) - (end - commands),
				 "+ %lu %lu %lu\n", id, node, seq);
		}
	}
	fclose(file);
	end += strlen(end);
	return write_text(LRU_GEN_DEBUG_FILE, commands, end - commands) > 0 ? 0 : -1;
}

/*
 * Runs in the cgroup: reads the set, then a piece of the stream, over and over.
 * Writes to lru_gen halfway through the rounds that do not count yet. Exits with
 * the share of the set that was still in memory at the next round, on average.
 */
static int read_set_beside_stream(const char *cgroup, void *arg)
{
	int set = open(set_file, O_RDONLY), stream = open(stream_file, O_RDONLY);
	const struct reads *reads = arg;
	long pos = 0, sum = 0, percent[8];
	const int warm = reads->switching ? 16 : reads->lru_gen ? 8 : 4;
	const int rounds = warm + ARRAY_SIZE(percent);
	const long step = reads->step ?: stream_step;
	pid_t switcher = 0;
	void *map;
	int i;

	map = mmap(NULL, set_bytes, PROT_READ, MAP_SHARED, set, 0);
	if (set < 0 || stream < 0 || map == MAP_FAILED)
		return 127;
	/* khugepaged would replace pages of the set by new ones, not used again yet. */
	madvise(map, set_bytes, MADV_NOHUGEPAGE);
	if (reads->idle)
		use_anon((long *)map_memory(reads->idle), reads->idle);
	if (reads->switching)
		switcher = start_switching(lru_gen_is_enabled());
	for (i = 0; i < rounds; i++) {
		if (switcher && i == warm / 4 && !wait_task(switcher))
			return 127;
		if (i >= warm) {
			percent[i - warm] = resident_percent(map, set_bytes);
			sum += percent[i - warm];
		}
		if (reads->lru_gen && i == warm / 2 &&
		    write_text(LRU_GEN_FILE, reads->lru_gen, 1) != 1)
			return 127;
		/* The multi-gen LRU takes idle memory from old generations. */
		if (reads->idle && lru_gen_is_enabled() && i < warm && age(cgroup))
			return 127;
		if (reads->other && cg_enter_current(cgroup))
			return 127;
		read_range(set, 0, set_bytes);
		if (reads->other && cg_enter_current(reads->other))
			return 127;
		read_range(stream, pos, step);
		pos += step;
	}
	print_rounds(percent, ARRAY_SIZE(percent));
	return sum / (rounds - warm);
}

/*
 * Makes a new file: on Linux 7.2 and 7.3, truncating a file that was mapped
 * deadlocks if khugepaged has locked folios of it and waits for the truncation
 * to end, in the readahead of collapse_file().
 */
static int make_sparse(const char *path, long bytes)
{
	int fd, err;

	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return -1;
	err = ftruncate(fd, bytes);
	close(fd);
	return err;
}

/* New files: pages in memory stay charged to the cgroup that read them. */
static int make_files(void)
{
	return make_sparse(set_file, set_bytes) ||
	       make_sparse(stream_file, stream_bytes) ? -1 : 0;
}

static int hit_rate_beside(const char *cgroup, struct reads reads)
{
	int status;

	if (make_files())
		return -1;
	status = cg_run(cgroup, read_set_beside_stream, &reads);
	ksft_print_msg("%s: hit rate %d%%\n", cgroup, status);
	return status == 127 ? -1 : status;
}

static int hit_rate(const char *cgroup)
{
	return hit_rate_beside(cgroup, (struct reads){});
}

static bool can_test_effect(void)
{
	struct statfs fs;

	return !statfs(".", &fs) && fs.f_type != TMPFS_MAGIC && !make_files();
}

static char *create_bounded(const char *parent, const char *name, char *ratio)
{
	char *cgroup = create_cgroup(parent, name);

	if (cgroup && (cg_write_numeric(cgroup, "memory.max", memory_max) ||
		       cg_write(cgroup, ACTIVE_RATIO_FILE, ratio))) {
		destroy_cgroup(cgroup);
		return NULL;
	}
	return cgroup;
}

static int hit_rate_with(const char *root, char *ratio)
{
	char *cgroup __free(cgroup) = create_bounded(root, "ratio_effect", ratio);

	return cgroup ? hit_rate(cgroup) : -1;
}

/* A set that fits into the ratio is kept; a lower ratio protects less of it. */
static int test_effect(const char *root)
{
	int all = hit_rate_with(root, "75");
	int some = hit_rate_with(root, "20");
	int none = hit_rate_with(root, "0");

	return passed(all >= KEPT && none >= 0 && none < NOT_KEPT &&
		      some + NOISE >= none && some < KEPT);
}

static bool is_small_system(void)
{
	long kib = cg_read_key_long("/proc", "meminfo", "MemTotal:");

	return kib > 0 && kib <= system_most;
}

static int system_hit_rate(const char *root, const char *ratio)
{
	char *cgroup __free(cgroup) = create_cgroup(root, "ratio_system");
	struct setting system __free(setting) = save_setting(SYSCTL_FILE);
	const struct reads reads = { .step = system_step };
	long bytes = cg_read_key_long("/proc", "meminfo", "MemAvailable:") * 1024;
	char *memory;
	int rate = -1;

	if (bytes <= system_left)
		return -1;
	bytes -= system_left;
	memory = map_memory(bytes);
	if (cgroup && !mlock(memory, bytes) && !write_file(SYSCTL_FILE, ratio))
		rate = hit_rate_beside(cgroup, reads);
	munmap(memory, bytes);
	return rate;
}

/* The sysctl holds for reclaim from a node, by kswapd or for an allocation. */
static int test_system(const char *root)
{
	int all, none;

	if (!is_small_system())
		return KSFT_SKIP;
	all = system_hit_rate(root, "50");
	none = system_hit_rate(root, "0");
	return passed(all >= KEPT && none >= 0 && none < NOT_KEPT);
}

/*
 * kswapd may not reclaim pages that were used in the last second, and kills a task
 * if there are no others. A ratio keeps its set, and no task is killed.
 */
static int test_min_ttl(const char *root)
{
	struct setting ttl __free(setting) = save_setting(MIN_TTL_FILE);
	long kills = vmstat_count("oom_kill");

	if (!is_small_system() || write_file(MIN_TTL_FILE, "1000"))
		return KSFT_SKIP;
	return passed(system_hit_rate(root, "50") >= KEPT &&
		      vmstat_count("oom_kill") == kills);
}

/*
 * A child follows its parent, and the parent the system. The child's own value
 * comes first, even if its pages are evicted for its parent's limit.
 */
static int test_inheritance(const char *root)
{
	char *parent __free(cgroup) = create_bounded(root, "ratio_parent", "default");
	char *child __free(cgroup) = NULL;
	struct setting ratio __free(setting) = save_setting(SYSCTL_FILE);

	if (!parent || cg_write(parent, "cgroup.subtree_control", "+memory"))
		return KSFT_FAIL;
	child = create_cgroup(parent, "child");
	if (!child || write_file(SYSCTL_FILE, "75") ||
	    hit_rate(child) < KEPT)
		return KSFT_FAIL;
	if (cg_write(parent, ACTIVE_RATIO_FILE, "0") || hit_rate(child) >= NOT_KEPT)
		return KSFT_FAIL;
	if (cg_write(child, ACTIVE_RATIO_FILE, "75") || hit_rate(child) < KEPT)
		return KSFT_FAIL;
	return passed(!cg_write(child, ACTIVE_RATIO_FILE, "default") &&
		      hit_rate(child) < NOT_KEPT);
}

/* A set that was kept on one LRU is kept, or soon read back, on the other. */
static int test_lru_switch(const char *root)
{
	char *cgroup __free(cgroup) = create_bounded(root, "ratio_switch", "75");
	struct setting lru __free(setting) = save_setting(LRU_GEN_FILE);
	struct reads reads = { .lru_gen = lru_gen_is_enabled() ? "n" : "y" };

	return passed(cgroup && *lru.text &&
		      hit_rate_beside(cgroup, reads) >= KEPT);
}

/* So is a set that was read while lru_gen was switched all the time. */
static int test_lru_switching(const char *root)
{
	char *cgroup __free(cgroup) = create_bounded(root, "ratio_switching", "50");
	struct setting lru __free(setting) = save_setting(LRU_GEN_FILE);

	return passed(cgroup && *lru.text &&
		      hit_rate_beside(cgroup, (struct reads){ .switching = true }) >=
		      KEPT);
}

/*
 * Sets the readahead of the file system here. Without one, folios are small; with
 * 128 KiB, as for disks that do not rotate, they may be as large.
 */
static struct setting set_readahead(const char *kib)
{
	static char path[64];
	struct setting old;
	struct stat st;

	if (stat(".", &st))
		return (struct setting){};
	snprintf(path, sizeof(path), "/sys/class/bdi/%u:%u/read_ahead_kb",
		 major(st.st_dev), minor(st.st_dev));
	old = save_setting(path);
	write_file(path, kib);
	return old;
}

/* All pages of one cgroup are in use; another one has those that are read once. */
static bool one_of_two_keeps_set(const char *root, char *ratio, const char *kib)
{
	struct setting readahead __free(setting) = set_readahead(kib);
	char *parent __free(cgroup) = create_bounded(root, "ratio_two", ratio);
	char *used __free(cgroup) = NULL, *once __free(cgroup) = NULL;

	if (!parent || cg_write(parent, "cgroup.subtree_control", "+memory"))
		return false;
	used = create_cgroup(parent, "used");
	once = create_cgroup(parent, "once");
	return used && once &&
	       hit_rate_beside(used, (struct reads){ .other = once }) >= KEPT;
}

/* While the ratio holds for both together, the first one keeps its pages. */
static int test_two_cgroups(const char *root)
{
	return passed(one_of_two_keeps_set(root, "50", "0") &&
		      one_of_two_keeps_set(root, "50", "128"));
}

/*
 * The set is a bit larger than the ratio allows for both. Only the excess goes,
 * and not all that is above the ratio of the first cgroup alone.
 */
static int test_two_above(const char *root)
{
	return passed(one_of_two_keeps_set(root, "37", "0") &&
		      one_of_two_keeps_set(root, "37", "128"));
}

static long active_percent(const char *cgroup)
{
	long active = cg_read_key_long(cgroup, "memory.stat", "\nactive_file ");
	long inactive = cg_read_key_long(cgroup, "memory.stat", "inactive_file ");

	return active * 100 / (active + inactive + 1);
}

/*
 * Runs in the cgroup: reads more than fits, all of it twice. Between the two
 * reads of a folio come those of others: else it would count as used once. The
 * active share grows until readahead makes room, again and again; so exits with
 * the mean.
 */
static int read_all_twice(const char *cgroup, void *arg)
{
	const long end = MB(512), steady = end / 2, step = MB(2);
	int fd = open(stream_file, O_RDONLY);
	long pos, sum = 0;

	for (pos = step; pos < end; pos += step) {
		read_range(fd, pos, step);
		read_range(fd, pos - step, step);
		if (pos >= steady)
			sum += active_percent(cgroup);
	}
	return sum / (steady / step);
}

static bool share_is_near(const char *root, char *ratio)
{
	char *cgroup __free(cgroup) = create_bounded(root, "ratio_share", ratio);
	int share = -1;

	if (!cgroup)
		return false;
	if (!cg_write_numeric(cgroup, "memory.max", 2 * memory_max) &&
	    !make_files())
		share = cg_run(cgroup, read_all_twice, NULL);
	ksft_print_msg("ratio %s: %d%% active\n", ratio, share);
	return share >= atoi(ratio) - 5 && share <= atoi(ratio) + 5;
}

/* When all pages are used again, the share of active pages is the ratio. */
static int test_share(const char *root)
{
	static char *const ratios[] = { "10", "25", "50", "75", "90" };
	int i;

	for (i = 0; i < ARRAY_SIZE(ratios); i++)
		if (!share_is_near(root, ratios[i]))
			return KSFT_FAIL;
	return KSFT_PASS;
}

/* Reads each page. Returns the sum of the bytes, which is 0 for holes. */
static long touch(const char *map, long bytes)
{
	long pos, sum = 0, page = sysconf(_SC_PAGE_SIZE);

	for (pos = 0; pos < bytes; pos += page)
		sum += map[pos];
	return sum;
}

/*
 * Runs in the cgroup: maps the set, and has the aging find it used @arg times;
 * then reads a stream. Exits with the share of the set that is still in memory,
 * and leaves no pages behind.
 */
static int map_set_beside_stream(const char *cgroup, void *arg)
{
	int set = open(set_file, O_RDONLY), stream = open(stream_file, O_RDONLY);
	const int times = *(const int *)arg;
	int i, percent;
	char *map;

	map = mmap(NULL, set_bytes, PROT_READ, MAP_SHARED, set, 0);
	if (set < 0 || stream < 0 || map == MAP_FAILED)
		return 127;
	for (i = 0; i < times; i++) {
		if (touch(map, set_bytes) || age(cgroup))
			return 127;
	}
	read_range(stream, 0, stream_step);
	percent = resident_percent(map, set_bytes);
	munmap(map, set_bytes);
	posix_fadvise(set, 0, 0, POSIX_FADV_DONTNEED);
	posix_fadvise(stream, 0, 0, POSIX_FADV_DONTNEED);
	return percent;
}

/* The statistics are exact after a few seconds. */
static bool counts_nothing(const char *cgroup)
{
	long active, inactive;
	int i;

	for (i = 0; i < 50; i++) {
		active = cg_read_key_long(cgroup, "memory.stat", "\nactive_file ");
		inactive = cg_read_key_long(cgroup, "memory.stat", "inactive_file ");
		if (!active && !inactive)
			return true;
		sleep_ms(100);
	}
	ksft_print_msg("without pages, %ld bytes are active and %ld inactive\n",
		       active, inactive);
	return false;
}

static bool keeps_mapped(const char *root, int times)
{
	char *cgroup __free(cgroup) = create_bounded(root, "ratio_mapped", "75");
	int percent = -1;

	if (cgroup && !make_files())
		percent = cg_run(cgroup, map_set_beside_stream, &times);
	ksft_print_msg("aged %d times: %d%% kept\n", times, percent);
	return cgroup && counts_nothing(cgroup) && percent >= KEPT &&
	       percent <= 100;
}

/*
 * The aging gives a mapped page that was used another generation, but leaves it
 * on its list, from which the eviction moves it later. Whichever list that is,
 * the page has to be counted and kept by its generation.
 */
static int test_mapped(const char *root)
{
	char enabled[32];
	int times;

	if (read_text(LRU_GEN_FILE, enabled, sizeof(enabled)) <= 0 ||
	    !(strtol(enabled, NULL, 16) & LRU_GEN_MM_WALK) ||
	    access(LRU_GEN_DEBUG_FILE, W_OK))
		return KSFT_SKIP;
	for (times = 1; times <= 4; times++)
		if (!keeps_mapped(root, times))
			return KSFT_FAIL;
	return KSFT_PASS;
}

static int read_set(const char *cgroup, void *arg)
{
	read_range(open(set_file, O_RDONLY), 0, set_bytes);
	return 0;
}

/*
 * Runs in another cgroup: makes as many pages active as the set has, and reads
 * so much that a part of the set is evicted. Once the statistics show the
 * active pages, which takes two seconds, reads the set.
 */
static int read_set_again(const char *cgroup, void *arg)
{
	int fd = open(stream_file, O_RDONLY);

	read_range(fd, 0, set_bytes);
	read_range(fd, 0, set_bytes);
	read_range(fd, set_bytes, memory_max / 2);
	sleep_ms(3000);
	return read_set(cgroup, arg);
}

static int run_and_remove(const char *parent, const char *name,
			  int (*fn)(const char *cgroup, void *arg))
{
	char *cgroup __free(cgroup) = create_cgroup(parent, name);

	return cgroup ? cg_run(cgroup, fn, NULL) : -1;
}

/* Evicted pages of a removed cgroup are activated when they are read again. */
static int test_removed(const char *root)
{
	char *parent __free(cgroup) = create_bounded(root, "ratio_removed", "75");
	long refaults, activated;

	if (!parent || make_files() ||
	    cg_write(parent, "cgroup.subtree_control", "+memory") ||
	    run_and_remove(parent, "old", read_set) ||
	    run_and_remove(parent, "new", read_set_again))
		return KSFT_FAIL;
	activated = cg_read_key_long(parent, "memory.stat",
				     "workingset_activate_file ");
	refaults = cg_read_key_long(parent, "memory.stat",
				    "workingset_refault_file ");
	ksft_print_msg("%ld of %ld pages activated\n", activated, refaults);
	return passed(activated > 256);
}

/*
 * Anonymous memory: each round uses the hot part, and a tenth of the cool part.
 * With a set and a stream beside it, the limit leaves upstream's rule enough
 * file pages to keep the set, and it reclaims almost no anonymous memory. If the
 * set is another one every few rounds, it does for a while.
 */
static const char *const swap_file = "test_active_ratio_swap.tmp";
static const long swap_bytes = MB(128);
static const long hot_bytes = MB(30);
static const long cool_bytes = MB(20);
static const int cool_rounds = 10;
static const long anon_set_bytes = MB(30);
static const int anon_rounds = 20;
static const int set_rounds = 4;
static const long anon_stream_step = MB(32);
static const long anon_memory_max = MB(128);

/* Anonymous pages that were scanned and written to swap, since boot */
struct anon_reclaim {
	long scanned;
	long swapped;
};

/**
 * struct anon_load - a load beside anonymous memory
 * @changes: every few rounds, the set is another one
 * @found: the reclaim that it has caused
 */
struct anon_load {
	bool changes;
	struct anon_reclaim found;
};

static struct anon_reclaim anon_reclaim_now(void)
{
	return (struct anon_reclaim){
		.scanned = vmstat_count("pgscan_anon"),
		.swapped = vmstat_count("pswpout"),
	};
}

static struct anon_reclaim anon_reclaim_since(struct anon_reclaim then)
{
	struct anon_reclaim now = anon_reclaim_now();

	now.scanned -= then.scanned;
	now.swapped -= then.swapped;
	return now;
}

/* As mkswap(8) writes it: the name is at the end of the first page. */
static bool write_swap_header(int fd)
{
	const long page = sysconf(_SC_PAGE_SIZE);
	const unsigned int header[] = { 1, swap_bytes / page - 1 };

	return pwrite(fd, header, sizeof(header), 1024) == sizeof(header) &&
	       pwrite(fd, "SWAPSPACE2", 10, page - 10) == 10 && !fsync(fd);
}

static bool make_swap_file(void)
{
	bool made;
	int fd;

	unlink(swap_file);
	fd = open(swap_file, O_RDWR | O_CREAT | O_EXCL, 0600);
	made = fd >= 0 && !posix_fallocate(fd, 0, swap_bytes) &&
	       write_swap_header(fd);
	close(fd);
	return made;
}

static void use_all(char *anon, int set, int stream, int round, bool changes)
{
	const long set_at = changes ? round / set_rounds * anon_set_bytes : 0;
	const long part = cool_bytes / cool_rounds;

	use_anon((long *)anon, hot_bytes);
	use_anon((long *)(anon + hot_bytes + round % cool_rounds * part), part);
	read_range(set, set_at, anon_set_bytes);
	read_range(stream, round * anon_stream_step, anon_stream_step);
}

/*
 * Runs in the cgroup: uses the anonymous memory, the set, and a piece of the
 * stream, over and over.
 */
static int use_anon_beside_stream(const char *cgroup, void *arg)
{
	int set = open(set_file, O_RDONLY), stream = open(stream_file, O_RDONLY);
	const bool ages = lru_gen_is_enabled();
	struct anon_reclaim then = {};
	struct anon_load *load = arg;
	const int warm = 4;
	char *anon = map_memory(hot_bytes + cool_bytes);
	int i;

	if (set < 0 || stream < 0)
		return 127;
	madvise(anon, hot_bytes + cool_bytes, MADV_NOHUGEPAGE);
	use_anon((long *)anon, hot_bytes + cool_bytes);
	for (i = 0; i < anon_rounds; i++) {
		if (i == warm)
			then = anon_reclaim_now();
		use_all(anon, set, stream, i, load->changes);
		if (ages && i % 2)
			age(cgroup);
	}
	load->found = anon_reclaim_since(then);
	return 0;
}

static bool measure_anon_reclaim(const char *root, char *ratio,
				 struct anon_load *load)
{
	char *cgroup __free(cgroup) = create_bounded(root, "ratio_anon", ratio);
	bool done;

	done = cgroup && !make_sparse(set_file, stream_bytes) &&
	       !make_sparse(stream_file, stream_bytes) &&
	       !cg_write_numeric(cgroup, "memory.max", anon_memory_max) &&
	       !cg_run(cgroup, use_anon_beside_stream, load);
	ksft_print_msg("%s, ratio %s: %ld anonymous pages scanned, %ld swapped out\n",
		       load->changes ? "several sets" : "one set", ratio,
		       load->found.scanned, load->found.swapped);
	return done;
}

static bool is_within(long pages, long reference)
{
	return pages <= reference + reference / 2 + ANON_NOISE;
}

/* Beside one set, there is no reclaim to compare with but for such bursts. */
static bool scans_like(const struct anon_load *load, long reference)
{
	if (load->changes)
		return is_within(load->found.scanned, reference);
	return load->found.scanned <= reference + ANON_BURST;
}

/**
 * struct anon_reference - runs without a ratio
 * @sum: the pages that all of them have reclaimed
 * @nr: their number
 */
struct anon_reference {
	struct anon_reclaim sum;
	int nr;
};

static bool measure_reference(const char *root, struct anon_load *load,
			      struct anon_reference *reference)
{
	if (!measure_anon_reclaim(root, "default", load))
		return false;
	reference->sum.scanned += load->found.scanned;
	reference->sum.swapped += load->found.swapped;
	reference->nr++;
	return true;
}

/*
 * Without a ratio, one run on the multi-gen LRU swaps out three times as many pages
 * as another. So a run with a ratio is compared with the mean of all without, and
 * one that has more is followed by one more of each.
 */
static bool reclaims_like(const char *root, char *ratio, struct anon_load *load,
			  struct anon_reference *reference)
{
	int i;

	for (i = 0; i < ANON_RUNS; i++) {
		if (i && !measure_reference(root, load, reference))
			return false;
		if (measure_anon_reclaim(root, ratio, load) &&
		    scans_like(load, reference->sum.scanned / reference->nr) &&
		    is_within(load->found.swapped,
			      reference->sum.swapped / reference->nr))
			return true;
	}
	return false;
}

static int compare_anon_reclaim(const char *root, struct anon_load *load)
{
	static char *const ratios[] = { "0", "10", "25", "50", "75", "100" };
	struct anon_reference reference = {};
	int i, ret = KSFT_PASS;

	while (reference.nr < ANON_REFERENCES)
		if (!measure_reference(root, load, &reference))
			return KSFT_FAIL;
	if (load->changes && !reference.sum.scanned)
		return KSFT_FAIL;
	for (i = 0; i < ARRAY_SIZE(ratios); i++)
		if (!reclaims_like(root, ratios[i], load, &reference))
			ret = KSFT_FAIL;
	return ret;
}

/*
 * If the set changes, a load for which no anonymous page is scanned is no test. If
 * it stays, the multi-gen LRU scans a number of them that is too different each time.
 */
static int compare_anon_reclaims(const char *root, struct anon_load *load)
{
	if (!lru_gen_is_enabled() &&
	    compare_anon_reclaim(root, load) != KSFT_PASS)
		return KSFT_FAIL;
	load->changes = true;
	return compare_anon_reclaim(root, load);
}

static int with_swap(const char *root,
		     int (*fn)(const char *root, struct anon_load *load))
{
	const char *file __free(file) = swap_file;
	struct anon_load *load = share_memory(sizeof(*load));
	int ret;

	if (!make_swap_file() || swapon(swap_file, 0))
		return KSFT_SKIP;
	ret = fn(root, load);
	swapoff(swap_file);
	return ret;
}

/* A ratio only chooses between file pages. */
static int test_anon(const char *root)
{
	return with_swap(root, compare_anon_reclaims);
}

/*
 * Reclaim cannot take file pages that are locked or that a task refers to, and a
 * ratio must not keep it from anonymous pages: it would scan the former again and
 * again while the task sleeps above memory.high. A task that adds the pages of a
 * large readahead has locked most of those of its small cgroup.
 */
static char *const readahead_kb = "8192";
static const long readahead_bytes = MB(64);
static const long readahead_limit = MB(24);
/* The file pages that are in a pipe: one in three of the cgroup's */
static const long piped_bytes = MB(8);
/*
 * How many times as many pages a ratio may have reclaim scan: up to 10 if pages are
 * evicted before they are read, more than 75 if it scans the locked ones again.
 */
#define BUSY_SCANS	25
/* Less than 4, but up to 20 if no anonymous page becomes old */
#define SHORT_SCANS	8

static int read_at_once(const char *cgroup, void *arg)
{
	int fd = open(stream_file, O_RDONLY);
	char *anon = map_memory(readahead_bytes);

	return fd >= 0 && read(fd, anon, readahead_bytes) == readahead_bytes ? 0 : 127;
}

/* The pipe keeps a reference to each file page. */
static int fill_beside_pipe(const char *cgroup, void *arg)
{
	int fd = open(stream_file, O_RDONLY), ends[2];
	char *anon = map_memory(readahead_bytes);
	long left = piped_bytes, bytes;

	if (fd < 0 || pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, piped_bytes) < 0)
		return 127;
	for (; left > 0; left -= bytes) {
		bytes = splice(fd, NULL, ends[1], NULL, left, SPLICE_F_NONBLOCK);
		if (bytes <= 0)
			return 127;
	}
	memset(anon, 1, readahead_bytes);
	return 0;
}

/*
 * Which pages of a readahead are read before they are evicted depends on when they
 * arrive: at any ratio and without one, some reads below memory.max scan five times
 * as many pages as others, or more. The median of these turns counts.
 */
#define MOST_TURNS	5

/* A task, its limit, how many times the scans are too many, and in which turns */
struct busy_load {
	int (*task)(const char *cgroup, void *arg);
	const char *limit;
	int times, turns;
};

/* The pages that reclaim scans for it. */
static long scans_of(const char *root, char *ratio, const struct busy_load *load)
{
	char *cgroup __free(cgroup) = create_bounded(root, "ratio_busy", ratio);
	long scanned;

	if (!cgroup || make_sparse(stream_file, stream_bytes) ||
	    cg_write_numeric(cgroup, load->limit, readahead_limit) ||
	    cg_run(cgroup, load->task, NULL))
		return -1;
	scanned = cg_read_key_long(cgroup, "memory.stat", "pgscan ");
	ksft_print_msg("%s, ratio %s: %ld pages scanned\n", load->limit, ratio, scanned);
	return scanned;
}

static int compare_scans(const char *root, const struct busy_load *load)
{
	static char *const ratios[] = { "default", "0", "20", "70", "100" };
	long scanned[ARRAY_SIZE(ratios)][MOST_TURNS], reference;
	int i, turn;

	for (turn = 0; turn < load->turns; turn++) {
		for (i = 0; i < ARRAY_SIZE(ratios); i++) {
			scanned[i][turn] = scans_of(root, ratios[i], load);
			if (scanned[i][turn] <= 0)
				return KSFT_FAIL;
		}
	}
	for (i = 0; i < ARRAY_SIZE(ratios); i++)
		sort_long(scanned[i], load->turns);
	reference = scanned[0][load->turns / 2];
	for (i = 1; i < ARRAY_SIZE(ratios); i++)
		if (scanned[i][load->turns / 2] > load->times * reference)
			return KSFT_FAIL;
	return KSFT_PASS;
}

static int compare_reads(const char *root, struct anon_load *unused)
{
	static const struct busy_load high = { read_at_once, "memory.high", BUSY_SCANS, 1 };

	return compare_scans(root, &high);
}

static int test_readahead(const char *root)
{
	struct setting readahead __free(setting) = set_readahead(readahead_kb);

	return *readahead.text ? with_swap(root, compare_reads) : KSFT_SKIP;
}

static int compare_reads_max(const char *root, struct anon_load *unused)
{
	static const struct busy_load max = {
		read_at_once, "memory.max", SHORT_SCANS, MOST_TURNS,
	};

	return compare_scans(root, &max);
}

/* There is always a file page to evict, but soon too few remain for the readahead. */
static int test_readahead_max(const char *root)
{
	struct setting readahead __free(setting) = set_readahead(readahead_kb);

	return *readahead.text ? with_swap(root, compare_reads_max) : KSFT_SKIP;
}

static int compare_pipes(const char *root, struct anon_load *unused)
{
	static const struct busy_load piped = {
		fill_beside_pipe, "memory.high", BUSY_SCANS, 1,
	};

	return compare_scans(root, &piped);
}

/* Pages in a pipe are not locked, but have a reference more. */
static int test_piped(const char *root)
{
	return with_swap(root, compare_pipes);
}

/*
 * Two sets, used one after the other, are two thirds of the file pages. Without
 * a ratio, the first one is deactivated after its last use, until no more pages
 * are active than inactive, and reclaim leaves anonymous memory alone. A ratio
 * of 75 keeps it active.
 */
static const long turn_bytes = MB(26);
static const int turn_first = 4, turn_warm = 10, turn_rounds = 30;
/* With this, reclaim that turns to anonymous memory scans much of it. */
static char *const turn_swappiness = "150";

struct turn {
	const char *other;	/* cgroup that has the anonymous memory */
	struct anon_reclaim *found;
};

/* Memory that stays charged to the cgroup that uses it first. */
static char *map_anon_in(const char *cgroup, long bytes)
{
	char *anon = map_memory(bytes);

	if (cg_enter_current(cgroup))
		return NULL;
	madvise(anon, bytes, MADV_NOHUGEPAGE);
	use_anon((long *)anon, bytes);
	return anon;
}

/*
 * Runs in the cgroup: uses the anonymous memory of another one, a set, and a
 * piece of the stream, over and over.
 */
static int use_sets_in_turn(const char *cgroup, void *arg)
{
	int set = open(set_file, O_RDONLY), stream = open(stream_file, O_RDONLY);
	const struct turn *turn = arg;
	struct anon_reclaim then = {};
	char *anon = map_anon_in(turn->other, hot_bytes + cool_bytes);
	int i;

	if (set < 0 || stream < 0 || !anon || cg_enter_current(cgroup))
		return 127;
	for (i = 0; i < turn_rounds; i++) {
		if (i == turn_warm)
			then = anon_reclaim_now();
		use_anon((long *)anon, hot_bytes + cool_bytes);
		read_range(set, i < turn_first ? 0 : turn_bytes, turn_bytes);
		read_range(stream, i * anon_stream_step, anon_stream_step);
	}
	*turn->found = anon_reclaim_since(then);
	return 0;
}

/* The limit is the parent's, the file pages are those of a child. */
static bool measure_below(const char *root, char *of_parent, char *of_child,
			  struct anon_reclaim *found)
{
	char *parent __free(cgroup) = create_bounded(root, "ratio_below", of_parent);
	char *database __free(cgroup) = NULL, *other __free(cgroup) = NULL;
	struct turn turn = { .found = found };
	bool done;

	if (!parent || make_sparse(set_file, 2 * turn_bytes) ||
	    make_sparse(stream_file, stream_bytes) ||
	    cg_write_numeric(parent, "memory.max", anon_memory_max) ||
	    cg_write(parent, "cgroup.subtree_control", "+memory"))
		return false;
	database = create_cgroup(parent, "database");
	other = create_cgroup(parent, "other");
	turn.other = other;
	done = database && other &&
	       !cg_write(database, ACTIVE_RATIO_FILE, of_child) &&
	       !cg_run(database, use_sets_in_turn, &turn);
	ksft_print_msg("ratio %s below %s: %ld anonymous pages scanned, %ld swapped out\n",
		       of_child, of_parent, found->scanned, found->swapped);
	return done;
}

static int compare_below(const char *root, struct anon_load *load)
{
	struct anon_reclaim *found = &load->found;
	struct setting readahead __free(setting) = set_readahead("0");
	struct setting swappiness __free(setting) = save_setting(VM "/swappiness");
	struct anon_reclaim reference;
	int i;

	if (write_file(VM "/swappiness", turn_swappiness))
		return KSFT_FAIL;
	for (i = 0; i < ANON_RUNS; i++) {
		if (!measure_below(root, "default", "default", found))
			return KSFT_FAIL;
		reference = *found;
		if (measure_below(root, "25", "75", found) &&
		    is_within(found->scanned, reference.scanned) &&
		    is_within(found->swapped, reference.swapped))
			return KSFT_PASS;
	}
	return KSFT_FAIL;
}

/*
 * A child keeps pages active that would be too many by the ratio of its parent,
 * whose limit causes the reclaim. This does not make inactive pages low.
 */
static int test_anon_below(const char *root)
{
	return with_swap(root, compare_below);
}

/* As it is recommended for such a disk: reading a file again costs more. */
static char *const zram_swappiness = "180";

/* Swaps to a disk in compressed memory. */
static bool use_zram(long id, const char *node)
{
	int fd __free(fd) = -1;
	char path[64];

	snprintf(path, sizeof(path), "/sys/block/zram%ld", id);
	if (cg_write_numeric(path, "disksize", swap_bytes))
		return false;
	fd = open(node, O_RDWR);
	return fd >= 0 && write_swap_header(fd) && !swapon(node, 0);
}

static int hit_rate_beside_idle(const char *root, char *ratio)
{
	char *cgroup __free(cgroup) = create_bounded(root, "ratio_zram", ratio);

	return cgroup ? hit_rate_beside(cgroup, (struct reads){ .idle = MB(16) }) :
			-1;
}

static int keep_set_beside_idle(const char *root)
{
	struct setting swappiness __free(setting) = save_setting(VM "/swappiness");
	long swapped = vmstat_count("pswpout");
	int all, none;

	if (write_file(VM "/swappiness", zram_swappiness))
		return KSFT_FAIL;
	all = hit_rate_beside_idle(root, "75");
	none = hit_rate_beside_idle(root, "0");
	swapped = vmstat_count("pswpout") - swapped;
	ksft_print_msg("%ld pages swapped out\n", swapped);
	return passed(all >= KEPT && none >= 0 && none < NOT_KEPT && swapped > 0);
}

/*
 * Swap costs almost no time, and memory that no task uses goes there. A ratio
 * keeps its set, and only its set, as it does without swap.
 */
static int test_zram(const char *root)
{
	long id = cg_read_long(ZRAM_CONTROL, "hot_add");
	int ret = KSFT_SKIP;
	char node[32];

	if (id < 0)
		return KSFT_SKIP;
	snprintf(node, sizeof(node), "/dev/zram%ld", id);
	if (use_zram(id, node)) {
		ret = keep_set_beside_idle(root);
		swapoff(node);
	}
	cg_write_numeric(ZRAM_CONTROL, "hot_remove", id);
	return ret;
}

static bool use_lru(const char *enabled)
{
	return !write_file(LRU_GEN_FILE, enabled) && can_test_effect();
}

static bool use_classic_lru(void)
{
	return use_lru("n");
}

static bool use_lru_gen(void)
{
	return use_lru("y");
}

static const struct memcg_place classic_lru = {
	use_classic_lru, " on the classic LRU",
};

static const struct memcg_place lru_gen = {
	use_lru_gen, " on the multi-gen LRU",
};

static const struct memcg_test tests[] = {
	T(test_sysctl_default),
	T(test_sysctl_values),
	T(test_default),
	T(test_values),
	T(test_effect, &classic_lru),
	T(test_system, &classic_lru),
	T(test_inheritance, &classic_lru),
	T(test_two_cgroups, &classic_lru),
	T(test_two_above, &classic_lru),
	T(test_share, &classic_lru),
	T(test_anon, &classic_lru),
	T(test_anon_below, &classic_lru),
	T(test_readahead, &classic_lru),
	T(test_readahead_max, &classic_lru),
	T(test_piped, &classic_lru),
	T(test_zram, &classic_lru),
	T(test_lru_switch, &classic_lru),
	T(test_lru_switching, &classic_lru),
	T(test_removed, &classic_lru),
	T(test_effect, &lru_gen),
	T(test_system, &lru_gen),
	T(test_min_ttl, &lru_gen),
	T(test_inheritance, &lru_gen),
	T(test_two_cgroups, &lru_gen),
	T(test_two_above, &lru_gen),
	T(test_share, &lru_gen),
	T(test_anon, &lru_gen),
	T(test_readahead, &lru_gen),
	T(test_readahead_max, &lru_gen),
	T(test_piped, &lru_gen),
	T(test_zram, &lru_gen),
	T(test_lru_switch, &lru_gen),
	T(test_lru_switching, &lru_gen),
	T(test_mapped, &lru_gen),
};

static void require_sysctl(const char *root)
{
	if (access(SYSCTL_FILE, F_OK))
		ksft_exit_skip("no vm.active_inactive_ratio\n");
}

int main(void)
{
	const char *set __free(file) = set_file, *stream __free(file) = stream_file;
	struct setting lru __free(setting) = save_setting(LRU_GEN_FILE);

	return memcg_test_main(tests, ARRAY_SIZE(tests), require_sysctl);
}
