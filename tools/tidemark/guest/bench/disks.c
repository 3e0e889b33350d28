// SPDX-License-Identifier: GPL-2.0
/*
 * Sequential writers and readers, each on a disk of its own, with little memory:
 * the case of two patch series of 2010.
 *
 *	bench.disks=N		the number of disks
 *	bench.mib=N		MiB that each writes or reads
 *	bench.phases=...	w: all write, r: all read, s: sync, d: sync and drop caches
 *	bench.lru=0|1		classic, MGLRU
 *	bench.ratio=N		vm.active_inactive_ratio, on a kernel that has it
 */
#define _GNU_SOURCE
#include "bench.h"
#include <dirent.h>

#define CHUNK	65536
#define TRACING	"/sys/kernel/tracing"
#define EVENTS	TRACING "/events/vmscan/mm_vmscan_direct_reclaim_"

static char chunk[CHUNK] __attribute__((aligned(4096)));

static void transfer(int disk, long size, bool write_it)
{
	int fd = CHECK(open(format("/dev/nullb%d", disk), write_it ? O_WRONLY : O_RDONLY));
	long at;

	for (at = 0; at < size; at += CHUNK)
		if ((write_it ? write(fd, chunk, CHUNK) : read(fd, chunk, CHUNK)) != CHUNK)
			die("a disk");
	close(fd);
}

static long long all_transfer(int disks, long size, bool write_it)
{
	long long start = now();
	pid_t pids[64];
	int i;

	for (i = 0; i < disks; i++) {
		pids[i] = CHECK(fork());
		if (!pids[i]) {
			transfer(i, size, write_it);
			_exit(0);
		}
	}
	for (i = 0; i < disks; i++)
		wait_for(pids[i]);
	return now() - start;
}

/* Counters of /proc/vmstat, summed up where there is one for each zone. */
struct counts {
	long long stalls, direct, kswapd, waits;
};

static struct counts count(void)
{
	static const char *const zones[] = { "dma", "dma32", "normal", "movable" };
	struct counts counts = {
		.direct = value_in("/proc/vmstat", "pgsteal_direct"),
		.kswapd = value_in("/proc/vmstat", "pgsteal_kswapd"),
		/* not in the unpatched kernel */
		.waits = value_in("/proc/vmstat", "watermark_wait"),
	};
	size_t i;

	for (i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
		long long n = value_in("/proc/vmstat", format("allocstall_%s", zones[i]));

		counts.stalls += n > 0 ? n : 0;
	}
	return counts;
}

/* CPU time of kswapd on all nodes, from the CPU clocks of its threads. */
static double kswapd_ms(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	double ms = 0;

	while (proc && (entry = readdir(proc))) {
		char *name = slurp(format("/proc/%s/comm", entry->d_name));
		struct timespec t;
		clockid_t clock;

		if (!name || strncmp(name, "kswapd", 6))
			continue;
		if (!clock_getcpuclockid(atoi(entry->d_name), &clock) && !clock_gettime(clock, &t))
			ms += t.tv_sec * 1e3 + t.tv_nsec / 1e6;
	}
	if (proc)
		closedir(proc);
	return ms;
}

static void trace_reclaim(bool on)
{
	put(TRACING "/buffer_size_kb", "512");
	/* Truncation empties the trace. */
	if (on)
		close(CHECK(open(TRACING "/trace", O_WRONLY | O_TRUNC)));
	put(EVENTS "begin/enable", on ? "1" : "0");
	put(EVENTS "end/enable", on ? "1" : "0");
}

/* Lines are "TASK-PID [CPU] FLAGS SECONDS: EVENT: ...". */
static double reclaim_ms(void)
{
	static double begun[65536];
	FILE *trace = fopen(TRACING "/trace", "r");
	char line[512];
	double ms = 0;

	if (!trace)
		die(TRACING "/trace");
	memset(begun, 0, sizeof(begun));
	while (fgets(line, sizeof(line), trace)) {
		char *event = strstr(line, ": mm_vmscan_direct_reclaim_");
		char *cpu = strstr(line, " [");
		char *pid = cpu, *time = event;

		if (line[0] == '#' || !event || !cpu)
			continue;
		while (pid > line && pid[-1] != '-')
			pid--;
		while (time > line && time[-1] != ' ')
			time--;
		if (strstr(event, "_begin:"))
			begun[atoi(pid) % 65536] = atof(time);
		else if (begun[atoi(pid) % 65536] > 0)
			ms += 1e3 * (atof(time) - begun[atoi(pid) % 65536]);
	}
	fclose(trace);
	return ms;
}

static void run_phase(const char *name, int disks, long size, bool write_it)
{
	struct counts before = count(), after;
	double kswapd = kswapd_ms(), reclaim;
	long long ns;

	trace_reclaim(true);
	ns = all_transfer(disks, size, write_it);
	trace_reclaim(false);
	after = count();
	kswapd = kswapd_ms() - kswapd;
	reclaim = reclaim_ms();
	figure(1e3 * disks * size / ns, "MB/s", name);
	figure(after.stalls - before.stalls, "stalls", format("%s, direct reclaim", name));
	figure(after.waits - before.waits, "waits", format("%s, for memory", name));
	figure(reclaim, "ms", format("%s, time in direct reclaim", name));
	figure(after.direct - before.direct, "pages", format("%s, by direct reclaim", name));
	figure(kswapd, "ms", format("%s, time in kswapd", name));
	figure(after.kswapd - before.kswapd, "pages", format("%s, by kswapd", name));
}

int main(void)
{
	const char *phases = option("phases", "r"), *ratio = option("ratio", NULL), *phase;
	long size = number("mib", 32) * MIB;
	int disks = number("disks", 4), i;
	bool written = false, dropped = false;

	setvbuf(stdout, NULL, _IOFBF, 65536);
	put("/sys/kernel/mm/lru_gen/enabled", number("lru", 1) ? "7" : "0");
	if (ratio)
		try_put("/proc/sys/vm/active_inactive_ratio", ratio);
	/* Keep disks open: the last close of a disk would drop its pages. */
	for (i = 0; i < disks; i++)
		CHECK(open(format("/dev/nullb%d", i), O_RDONLY));
	use_seed();
	for (phase = phases; *phase; phase++) {
		switch (*phase) {
		case 'w':
			run_phase("writers", disks, size, true);
			written = true;
			break;
		case 'r':
			run_phase(dropped ? "readers, caches dropped" :
				  written ? "readers, after writers" : "readers", disks, size, false);
			break;
		case 's':
			sync();
			break;
		case 'd':
			sync();
			put("/proc/sys/vm/drop_caches", "3");
			dropped = true;
			break;
		}
	}
	return 0;
}
