// SPDX-License-Identifier: GPL-2.0
/*
 * Loads that change statistics a lot, four cgroups deep: a TCP pair on the
 * loopback that sends requests and responses of a byte, one that streams
 * (iperf3), and stressors of stress-ng's class "vm", for fixed numbers of
 * operations.
 */
#define _GNU_SOURCE
#include "bench.h"
#include <arpa/inet.h>
#include <math.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <net/if.h>

#define REPEATS		3
#define REQUESTS	3000
#define PORT		7000

static const struct stressor {
	const char *name, *operations;
} stressors[] = {
	{ "brk", "8000" },	{ "malloc", "12000" },	{ "mlock", "600" },
	{ "mmapaddr", "1200" },	{ "mmapmany", "1500" },	{ "mprotect", "6000" },
	{ "mremap", "10" },	{ "msync", "700" },	{ "munmap", "3500" },
	{ "shm-sysv", "12" },	{ "stackmmap", "30" },	{ "vm", "250" },
};

static void bring_up_loopback(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = CHECK(socket(AF_INET, SOCK_DGRAM, 0));

	CHECK(ioctl(fd, SIOCSIFFLAGS, &request));
	close(fd);
}

static void no_delay(int fd)
{
	int on = 1;

	CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)));
}

static struct sockaddr *loopback(void)
{
	static struct sockaddr_in address;

	address = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	return (struct sockaddr *)&address;
}

static void respond(int listener)
{
	int fd = CHECK(accept(listener, NULL, NULL));
	char byte;

	no_delay(fd);
	while (read(fd, &byte, 1) == 1)
		CHECK(write(fd, &byte, 1));
	_exit(0);
}

static void request_response(void)
{
	int listener = CHECK(socket(AF_INET, SOCK_STREAM, 0)), fd, repeat, i;
	char byte = 0;
	pid_t server;

	CHECK(bind(listener, loopback(), sizeof(struct sockaddr_in)));
	CHECK(listen(listener, 1));
	server = CHECK(fork());
	if (!server)
		respond(listener);
	fd = CHECK(socket(AF_INET, SOCK_STREAM, 0));
	CHECK(connect(fd, loopback(), sizeof(struct sockaddr_in)));
	no_delay(fd);
	for (repeat = -1; repeat < REPEATS; repeat++) {
		long long start = now();

		for (i = 0; i < REQUESTS; i++) {
			CHECK(write(fd, &byte, 1));
			if (read(fd, &byte, 1) != 1)
				die("no response");
		}
		if (repeat >= 0)
			figure((now() - start) / (double)REQUESTS, "ns", "TCP request and response");
	}
	close(fd);
	close(listener);
	wait_for(server);
}

static pid_t spawn(const char *output, const char *const argv[])
{
	pid_t pid = CHECK(fork());
	int fd;

	if (pid)
		return pid;
	fd = CHECK(open(output, O_CREAT | O_TRUNC | O_WRONLY, 0600));
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	execvp(argv[0], (char *const *)argv);
	_exit(127);
}

/* Waits for a program, and prints its output on the console if it failed. */
static void finish(pid_t pid, const char *output)
{
	int status;

	CHECK(waitpid(pid, &status, 0));
	if (status) {
		fprintf(stderr, "%s\n", slurp(output));
		die(output);
	}
}

static void stream(void)
{
	static const char *const server[] = { "iperf3", "-s", "-1", NULL };
	static const char *const client[] = {
		"iperf3", "-c", "127.0.0.1", "-n", "64M", "-J", NULL,
	};
	int repeat;

	for (repeat = 0; repeat < REPEATS; repeat++) {
		pid_t pid = spawn("/tmp/server", server);
		char *at;

		sleep_ms(500);
		finish(spawn("/tmp/client", client), "/tmp/client");
		finish(pid, "/tmp/server");
		at = slurp("/tmp/client");
		at = at ? strstr(at, "\"sum_received\"") : NULL;
		at = at ? strstr(at, "\"bits_per_second\":") : NULL;
		if (!at)
			die("iperf3 printed no rate");
		figure(atof(at + strlen("\"bits_per_second\":")) / 8e6, "MB/s", "TCP stream");
	}
}

static double stress_one(const struct stressor *stressor)
{
	const char *const argv[] = {
		"stress-ng", format("--%s", stressor->name), "1",
		format("--%s-ops", stressor->name), stressor->operations,
		"--vm-bytes", "4M", "--mremap-bytes", "4M", "--seed", "1", "--temp-path", "/tmp",
		"--metrics", "--yaml", "/tmp/stress.yaml", NULL,
	};
	static const char key[] = "bogo-ops-per-second-real-time:";
	double rate;
	char *at;

	finish(spawn("/tmp/stress", argv), "/tmp/stress");
	at = slurp("/tmp/stress.yaml");
	at = at ? strstr(at, key) : NULL;
	rate = at ? atof(at + strlen(key)) : 0;
	if (rate <= 0)
		die("stress-ng printed no rate");
	return rate;
}

static void stress(void)
{
	const int count = sizeof(stressors) / sizeof(stressors[0]);
	double logarithms = 0;
	int i;

	for (i = 0; i < count; i++) {
		double rate = stress_one(&stressors[i]);

		figure(rate, "ops/s", format("stress-ng %s", stressors[i].name));
		logarithms += log(rate);
	}
	figure(exp(logarithms / count), "ops/s", "stress-ng, geometric mean");
}

int main(void)
{
	const char *threshold = option("threshold", NULL);

	setvbuf(stdout, NULL, _IOFBF, 65536);
	bring_up_loopback();
	if (threshold)
		put("/proc/sys/vm/memcg_stat_flush_threshold", threshold);
	enter_cgroup(make_deep_cgroup(CGROUPS "/deep", 4));
	use_seed();
	request_response();
	stream();
	stress();
	return 0;
}
