// SPDX-License-Identifier: GPL-2.0
/*
 * Times a command beside an endless writer, and watches the writer's cgroup.
 *
 * antagonist CGROUP FILE SETTLE_MS WINDOW_MS COMMAND...
 *
 * Runs "dd if=/dev/zero of=FILE" in CGROUP (a directory), and COMMAND once
 * SETTLE_MS have passed. The writer goes on for another WINDOW_MS, or until
 * COMMAND is done if that takes longer. FILE "-" runs COMMAND alone and at once.
 *
 * Prints one line of JSON: the seconds that COMMAND took, the bytes per second
 * that the writer wrote in the window, and the peak of dirty plus writeback
 * bytes in CGROUP's memory.stat, sampled every 50 ms from the writer's start to
 * its end; also [seconds, bytes] of one sample every 200 ms.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAMPLE_MS 50
#define KEPT_MS 200
#define MAX_KEPT 1000

static struct {
	long long ms, bytes;
} kept[MAX_KEPT];
static int kept_count;

static volatile sig_atomic_t command_ended;
static long long command_end_ms;
static int command_status;
static pid_t command;

static void die(const char *what)
{
	fprintf(stderr, "antagonist: %s: %s\n", what, strerror(errno));
	exit(2);
}

static long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static void sleep_until_ms(long long when)
{
	struct timespec ts = {
		.tv_sec = when / 1000,
		.tv_nsec = when % 1000 * 1000000,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static pid_t spawn_writer(const char *cgroup, const char *file)
{
	char procs[512], output[512];
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", cgroup);
	fd = open(procs, O_WRONLY);
	if (fd < 0 || write(fd, "0", 1) != 1)
		die(procs);
	snprintf(output, sizeof(output), "of=%s", file);
	execlp("dd", "dd", "if=/dev/zero", output, "bs=64k", NULL);
	die("dd");
	return -1;
}

/* Records the time when the command ends, also in the middle of a sample. */
static void on_child(int sig)
{
	(void)sig;
	if (!command_ended &&
	    waitpid(command, &command_status, WNOHANG) == command) {
		command_end_ms = now_ms();
		command_ended = 1;
	}
}

static void spawn_command(char **argv)
{
	struct sigaction action = { .sa_handler = on_child };
	sigset_t child, old;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &old);
	sigaction(SIGCHLD, &action, NULL);
	command = fork();
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (command)
		return;
	execvp(argv[0], argv);
	die(argv[0]);
}

/* Dirty plus writeback bytes of the cgroup whose memory.stat @fd is. */
static long long dirty_bytes(int fd)
{
	static const char *const keys[] = { "\nfile_dirty ", "\nfile_writeback " };
	static char stat[16384];
	long long sum = 0;
	ssize_t len;
	size_t i;

	len = pread(fd, stat, sizeof(stat) - 1, 0);
	if (len < 0)
		die("memory.stat");
	stat[len] = '\0';
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *value = strstr(stat, keys[i]);

		if (value)
			sum += atoll(value + strlen(keys[i]));
	}
	return sum;
}

static long long file_bytes(const char *file)
{
	struct stat st;

	return stat(file, &st) ? 0 : st.st_size;
}

static void keep(long long bytes)
{
	long long ms = now_ms();

	if (kept_count == MAX_KEPT ||
	    (kept_count && ms < kept[kept_count - 1].ms + KEPT_MS))
		return;
	kept[kept_count].ms = ms;
	kept[kept_count].bytes = bytes;
	kept_count++;
}

/* Sleeps to the next sample or @until, whichever is first, and takes it. */
static void sample(int stat_fd, long long until, long long *peak)
{
	long long next = now_ms() + SAMPLE_MS;
	long long bytes;

	sleep_until_ms(next < until ? next : until);
	bytes = stat_fd < 0 ? 0 : dirty_bytes(stat_fd);
	if (bytes > *peak)
		*peak = bytes;
	keep(bytes);
}

int main(int argc, char **argv)
{
	long long start, end, written, peak = 0;
	int settle, window, stat_fd = -1, i;
	char stat_path[512];
	pid_t writer = -1;

	if (argc < 6) {
		fprintf(stderr, "usage: antagonist CGROUP FILE SETTLE_MS WINDOW_MS COMMAND...\n");
		return 2;
	}
	settle = atoi(argv[3]);
	window = atoi(argv[4]);
	if (!strcmp(argv[2], "-")) {
		settle = 0;
		window = 0;
	} else {
		snprintf(stat_path, sizeof(stat_path), "%s/memory.stat", argv[1]);
		stat_fd = open(stat_path, O_RDONLY);
		if (stat_fd < 0)
			die(stat_path);
		writer = spawn_writer(argv[1], argv[2]);
	}

	start = now_ms() + settle;
	while (now_ms() < start)
		sample(stat_fd, start, &peak);

	written = file_bytes(argv[2]);
	start = now_ms();
	end = start + window;
	spawn_command(argv + 5);
	while (!command_ended || now_ms() < end)
		sample(stat_fd, now_ms() + SAMPLE_MS, &peak);
	end = now_ms();
	written = file_bytes(argv[2]) - written;

	if (writer > 0) {
		kill(writer, SIGKILL);
		waitpid(writer, NULL, 0);
	}
	if (!WIFEXITED(command_status) || WEXITSTATUS(command_status)) {
		fprintf(stderr, "antagonist: %s failed\n", argv[5]);
		return 1;
	}
	printf("{\"seconds\": %.3f, ", (command_end_ms - start) / 1000.0);
	printf("\"writer_bytes_per_second\": %lld, ", written * 1000 / (end - start));
	printf("\"peak_dirty_bytes\": %lld, \"dirty_bytes\": [", peak);
	for (i = 0; stat_fd >= 0 && i < kept_count; i++)
		printf("%s[%.1f, %lld]", i ? ", " : "",
		       (kept[i].ms - kept[0].ms) / 1000.0, kept[i].bytes);
	printf("]}\n");
	return 0;
}
