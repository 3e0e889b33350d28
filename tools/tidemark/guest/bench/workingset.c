// SPDX-License-Identifier: GPL-2.0
/*
 * A database whose file just fits into memory, beside a reader of other files.
 * The database reads random rows; the reader is a backup, or grep. The kernel
 * command line names
 *
 *	bench.lru=0|1		classic, MGLRU
 *	bench.mechanisms=A,B	protection of the database, of the table below
 */
#define _GNU_SOURCE
#include "bench.h"
#include <sqlite3.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#define DATABASE	"/disk/database"
#define BACKED_UP	"/disk/files"
#define TOOL		"/disk/program"
#define DB_GROUP	CGROUPS "/database"
#define READER_GROUP	CGROUPS "/reader"
#define NR_ROWS		(30 * 1024)
#define ROW_BYTES	3900
#define TOOL_BYTES	(24 * MIB)
#define NR_FILES	512
#define FILES_IN_DIR	4
#define MS_PER_FILE	5
#define READS_PER_MS	10
#define WARM_MS		500
#define MAX_READS	200000

#ifndef RWF_DONTCACHE
#define RWF_DONTCACHE	0x80
#endif

/* Shared with the tasks. */
struct shared {
	int ready, go, over;
	long nr_reads, misses;
	double us[MAX_READS];
	long long begun, ended;
};

static struct shared *shared;
static const char *db_group, *reader_group;	/* NULL: the root */
static bool use_noreuse, use_dontcache;
static char buffer[MIB];

static void await(const int *flag)
{
	while (!is_set(flag))
		sleep_ms(1);
}

/* The database */

static void run_sql(sqlite3 *db, const char *text)
{
	char *error = NULL;

	if (sqlite3_exec(db, text, NULL, NULL, &error) != SQLITE_OK) {
		fprintf(stderr, "bench: %s: %s\n", text, error);
		_exit(1);
	}
}

static sqlite3 *open_database(void)
{
	sqlite3 *db;

	if (sqlite3_open(DATABASE, &db) != SQLITE_OK)
		die(DATABASE);
	return db;
}

/* A row fills a page, so that each read of a row needs one. */
static void make_database(void)
{
	sqlite3 *db = open_database();

	run_sql(db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
		    "CREATE TABLE t (id INTEGER PRIMARY KEY, data BLOB); BEGIN");
	run_sql(db, format("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
			   "WHERE i < %d) INSERT INTO t SELECT i, zeroblob(%d) FROM n",
			   NR_ROWS, ROW_BYTES));
	run_sql(db, "COMMIT");
	sqlite3_close(db);
}

/* Counts the reads of pages that are not in memory. */

static int (*read_page)(sqlite3_file *file, void *to, int bytes, sqlite3_int64 at);
static char *mapped;

static int count_and_read(sqlite3_file *file, void *to, int bytes, sqlite3_int64 at)
{
	unsigned char present;

	CHECK(mincore(mapped + at / PAGE * PAGE, PAGE, &present));
	shared->misses += !(present & 1);
	return read_page(file, to, bytes, at);
}

static void count_misses(sqlite3 *db)
{
	static sqlite3_io_methods methods;
	int fd = CHECK(open(DATABASE, O_RDONLY));
	sqlite3_file *file;

	mapped = mmap(NULL, CHECK(lseek(fd, 0, SEEK_END)), PROT_READ, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED)
		die("mmap");
	if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK)
		die("sqlite3_file_control");
	methods = *file->pMethods;
	read_page = methods.xRead;
	methods.xRead = count_and_read;
	file->pMethods = &methods;
}

/* Reads rows at a steady rate, so that misses do not make the set seem less used. */
static void pace(long nr_reads, long long begun)
{
	if (!(nr_reads % READS_PER_MS))
		sleep_until(begun + nr_reads / READS_PER_MS * 1000000LL);
}

static void read_row(sqlite3_stmt *read)
{
	sqlite3_bind_int(read, 1, 1 + rand() % NR_ROWS);
	if (sqlite3_step(read) != SQLITE_ROW)
		die("sqlite3_step");
	sqlite3_reset(read);
}

static void read_whole(const char *path)
{
	int fd = CHECK(open(path, O_RDONLY));

	while (CHECK(read(fd, buffer, sizeof(buffer))) > 0)
		;
	close(fd);
}

static void be_database(void)
{
	sqlite3 *db = open_database();
	sqlite3_stmt *read;
	long long begun;
	long i;

	srand(1);
	/* All of it is in use: read twice. */
	read_whole(DATABASE);
	read_whole(DATABASE);
	if (sqlite3_prepare_v2(db, "SELECT data FROM t WHERE id = ?", -1, &read, NULL))
		die("sqlite3_prepare_v2");
	/* Otherwise each read would take the file's locks. */
	run_sql(db, "BEGIN");
	begun = now();
	for (i = 0; i < WARM_MS * READS_PER_MS; i++) {
		pace(i, begun);
		read_row(read);
	}
	count_misses(db);
	set_flag(&shared->ready);
	begun = now();
	while (!is_set(&shared->over) && shared->nr_reads < MAX_READS) {
		long long start;

		pace(shared->nr_reads, begun);
		start = now();
		read_row(read);
		shared->us[shared->nr_reads++] = (now() - start) / 1e3;
	}
}

/* A large program, which is mapped and used as the loader does it. */

static double use_tool(void)
{
	int fd = CHECK(open(TOOL, O_RDONLY));
	long long start = now();
	volatile char *p;
	long at;

	p = mmap(NULL, TOOL_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		die("mmap");
	for (at = 0; at < TOOL_BYTES; at += PAGE)
		p[at];
	munmap((void *)p, TOOL_BYTES);
	close(fd);
	return (now() - start) / 1e6;
}

/* The readers. Each takes one file, or in a directory's last turn all its files. */

static const char *file(int i)
{
	return format(BACKED_UP "/%d/%d", i / FILES_IN_DIR, i % FILES_IN_DIR);
}

static int open_file(int i)
{
	int fd = CHECK(open(file(i), O_RDONLY));

	if (use_noreuse && posix_fadvise(fd, 0, 0, POSIX_FADV_NOREUSE))
		die("posix_fadvise");
	return fd;
}

static void back_up(int i)
{
	struct iovec part = { buffer, 128 << 10 };
	int fd = open_file(i);

	while (CHECK(preadv2(fd, &part, 1, -1, use_dontcache ? RWF_DONTCACHE : 0)) > 0)
		;
	close(fd);
}

static void send(int i)
{
	int fd = open_file(i), null = CHECK(open("/dev/null", O_WRONLY));

	while (CHECK(sendfile(null, fd, NULL, 128 << 10)) > 0)
		;
	close(null);
	close(fd);
}

static void map(int i)
{
	int fd = open_file(i);
	volatile char *p = mmap(NULL, MIB, PROT_READ, MAP_SHARED, fd, 0);
	long at;

	if (p == MAP_FAILED)
		die("mmap");
	for (at = 0; at < MIB; at += PAGE)
		p[at];
	munmap((void *)p, MIB);
	close(fd);
}

static void grep(int i)
{
	const char *dir = format(BACKED_UP "/%d", i / FILES_IN_DIR);
	pid_t pid;
	int status;

	if (i % FILES_IN_DIR != FILES_IN_DIR - 1)
		return;
	pid = CHECK(fork());
	if (!pid) {
		execlp("grep", "grep", "-r", "-q", "needle", dir, NULL);
		die("grep");
	}
	CHECK(waitpid(pid, &status, 0));
	/* It finds nothing. */
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 1)
		die("grep");
}

static const struct load {
	const char *name;
	void (*take)(int i);
	bool noreuse, dontcache;	/* can use it */
} loads[] = {
	{ "read()", back_up, true, true },
	{ "sendfile()", send, true, false },
	{ "mmap()", map, true, false },
	{ "grep -r", grep, false, false },
};

static void be_reader(const struct load *load)
{
	long long next;
	int i;

	await(&shared->go);
	next = shared->begun = now();
	for (i = 0; i < NR_FILES; i++) {
		load->take(i);
		next += MS_PER_FILE * 1000000LL;
		sleep_until(next);
	}
	shared->ended = now();
}

static void make_files(void)
{
	int i, fd;

	memset(buffer, 'x', sizeof(buffer));
	for (i = 80; i < MIB; i += 80)
		buffer[i] = '\n';
	CHECK(mkdir(BACKED_UP, 0755));
	for (i = 0; i < NR_FILES; i++) {
		if (!(i % FILES_IN_DIR))
			CHECK(mkdir(format(BACKED_UP "/%d", i / FILES_IN_DIR), 0755));
		fd = CHECK(open(file(i), O_CREAT | O_WRONLY, 0600));
		CHECK(write(fd, buffer, MIB));
		close(fd);
	}
	fd = CHECK(open(TOOL, O_CREAT | O_WRONLY, 0700));
	for (i = 0; i < TOOL_BYTES / MIB; i++)
		CHECK(write(fd, buffer, MIB));
	close(fd);
}

/* What may protect the database. By default it and the reader are in the root cgroup. */

static void enable(const char *name)
{
	if (!strcmp(name, "none"))
		return;
	if (!strncmp(name, "ratio-", 6)) {
		put("/proc/sys/vm/active_inactive_ratio", name + 6);
		return;
	}
	if (!strcmp(name, "noreuse")) {
		use_noreuse = true;
		return;
	}
	if (!strcmp(name, "dontcache")) {
		use_dontcache = true;
		return;
	}
	db_group = DB_GROUP;
	if (!reader_group)
		reader_group = READER_GROUP;
	if (!strcmp(name, "one-cgroup"))
		reader_group = DB_GROUP;
	else if (!strncmp(name, "own-ratio-", 10))
		put(DB_GROUP "/memory.active_inactive_ratio", name + 10);
	else if (!strcmp(name, "memory.low") || !strcmp(name, "memory.min"))
		put(format(DB_GROUP "/%s", name), "136M");
	else if (!strcmp(name, "memory.high"))
		put(READER_GROUP "/memory.high", "32M");
	else if (strcmp(name, "cgroups"))
		die(name);
}

static bool knows_dontcache(void)
{
	struct iovec part = { buffer, PAGE };
	int fd = CHECK(open(TOOL, O_RDONLY));
	bool known = preadv2(fd, &part, 1, 0, RWF_DONTCACHE) >= 0;

	close(fd);
	return known;
}

static pid_t fork_into(const char *cgroup)
{
	pid_t pid = CHECK(fork());

	if (!pid && cgroup)
		enter_cgroup(cgroup);
	return pid;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_reads(const char *name)
{
	long n = shared->nr_reads;

	qsort(shared->us, n, sizeof(*shared->us), compare);
	figure(100.0 * (n - shared->misses) / n, "%", format("%s: hit rate", name));
	figure(shared->us[n / 2], "us", format("%s: p50", name));
	figure(shared->us[n - 1 - n / 100], "us", format("%s: p99", name));
	figure((double)(shared->ended - shared->begun) / NSEC_PER_SEC, "s",
	       format("%s: reader takes", name));
}

/* Pages that one task has brought into memory stay charged to its cgroup. */
static void measure(const struct load *load)
{
	pid_t db, reader, tool;

	sync();
	put("/proc/sys/vm/drop_caches", "3");
	memset(shared, 0, sizeof(*shared));
	db = fork_into(db_group);
	if (!db) {
		be_database();
		_exit(0);
	}
	reader = fork_into(reader_group);
	if (!reader) {
		be_reader(load);
		_exit(0);
	}
	tool = CHECK(fork());
	if (!tool) {
		use_tool();
		use_tool();
		_exit(0);
	}
	wait_for(tool);
	await(&shared->ready);
	set_flag(&shared->go);
	wait_for(reader);
	set_flag(&shared->over);
	wait_for(db);
	print_reads(load->name);
	figure(use_tool(), "ms", format("%s: program starts in", load->name));
}

int main(void)
{
	char *names = strdup(option("mechanisms", "none")), *name;
	size_t i;

	setvbuf(stdout, NULL, _IOFBF, 65536);
	put("/sys/kernel/mm/lru_gen/enabled", number("lru", 1) ? "7" : "0");
	make_cgroup(DB_GROUP);
	make_cgroup(READER_GROUP);
	while ((name = strsep(&names, ",")))
		enable(name);
	shared = map_shared(sizeof(*shared));
	use_seed();
	make_files();
	make_database();
	if (use_dontcache && !knows_dontcache())
		return 0;
	for (i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		if ((!use_noreuse || loads[i].noreuse) && (!use_dontcache || loads[i].dontcache))
			measure(&loads[i]);
	return 0;
}
