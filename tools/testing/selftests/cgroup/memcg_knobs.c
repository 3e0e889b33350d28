// SPDX-License-Identifier: GPL-2.0
/*
 * A model of the knobs of memory cgroups, and values to try on them.
 *
 * The model follows from the documentation and from the kernel's parsers of
 * numbers, not from the code of the knobs: it reads values a second time, with
 * the C library.
 */
#define _GNU_SOURCE

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kselftest.h"
#include "cgroup_util.h"
#include "memcg_knobs.h"

/* A sysctl takes no number of so many characters, even if all are zeros. */
#define SYSCTL_DIGITS	21

/* As the kernel's isspace(), which takes the no-break space of Latin-1 too. */
static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == '\xa0';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char *strip(char *text)
{
	char *end = text + strlen(text);

	while (end > text && is_space(end[-1]))
		*--end = '\0';
	while (is_space(*text))
		text++;
	return text;
}

/* Decimal digits, and nothing else. */
static bool is_number(const char *text, uint64_t *number)
{
	char *end;

	if (!is_digit(*text))
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && !*end;
}

/* Whether numbers beyond 64 bits are the largest one; in 6.12 they wrap. */
static bool saturates;

/* As simple_strtoull(): a prefix means octal or hexadecimal. */
static uint64_t read_number(const char **text)
{
	unsigned int base = 10, digit;
	const char *pos = *text;
	uint64_t number = 0;
	bool beyond = false;

	if (pos[0] == '0')
		base = tolower(pos[1]) == 'x' && isxdigit(pos[2]) ? 16 : 8;
	if (base == 16)
		pos += 2;
	for (;; pos++) {
		digit = is_digit(*pos) ? *pos - '0' : tolower(*pos) - 'a' + 10;
		if (!isxdigit((unsigned char)*pos) || digit >= base)
			break;
		beyond |= __builtin_mul_overflow(number, (uint64_t)base, &number) |
			  __builtin_add_overflow(number, digit, &number);
	}
	*text = pos;
	return beyond && saturates ? UINT64_MAX : number;
}

/* Bytes as memory.max takes them, if the text begins with a digit. */
static bool takes_bytes(const struct knob *knob, char *text, char *shown)
{
	static const char suffixes[] = "kmgtpe";
	uint64_t page = sysconf(_SC_PAGE_SIZE), bytes;
	const char *end = text, *suffix;
	int shift = 0;

	if (!is_digit(*text))
		return false;
	bytes = read_number(&end);
	suffix = *end ? strchr(suffixes, tolower((unsigned char)*end)) : NULL;
	if (suffix) {
		shift = 10 * (suffix - suffixes + 1);
		end++;
	}
	bytes = saturates && bytes > UINT64_MAX >> shift ? UINT64_MAX :
							   bytes << shift;
	if (bytes / page >= LONG_MAX / page)
		sprintf(shown, "max\n");
	else
		sprintf(shown, "%llu\n", (unsigned long long)(bytes / page * page));
	return !*end;
}

static bool in_range(const struct knob *knob, uint64_t number, char *shown)
{
	sprintf(shown, "%llu\n", (unsigned long long)number);
	return number <= LONG_MAX && (long)number >= knob->least &&
	       (long)number <= knob->most;
}

static bool takes_digits(const struct knob *knob, char *text, char *shown)
{
	uint64_t number;

	return is_number(text, &number) && in_range(knob, number, shown);
}

/* As kstrtoul() takes it: a plus sign may come first. */
static bool takes_signed(const struct knob *knob, char *text, char *shown)
{
	return takes_digits(knob, *text == '+' ? text + 1 : text, shown);
}

/* The first number of a line, as proc_dointvec_minmax() reads it. */
static bool takes_sysctl(const struct knob *knob, char *text, char *shown)
{
	char *sign, *end;
	long number;

	while (is_space(*text))
		text++;
	sign = text;
	if (*text == '-')
		text++;
	if (!is_digit(*text))
		return false;
	errno = 0;
	number = strtol(text, &end, 0);
	if (errno || *end || end - sign >= SYSCTL_DIGITS)
		return false;
	number = *sign == '-' ? -number : number;
	sprintf(shown, "%ld\n", number);
	return number >= knob->least && number <= knob->most;
}

const struct knob knobs[NR_KNOBS] = {
	{ "memory.dirty_limit_in_bytes", takes_bytes, { "max" }, 1 },
	{ "memory.dirty_ratio", takes_digits, { "max" }, 0, 1, 100 },
	{ "memory.dirty_background_limit_in_bytes", takes_bytes, { "max" }, 3 },
	{ "memory.dirty_background_ratio", takes_digits, { "max" }, 2, 1, 100 },
	{ "memory.dirty_min", takes_bytes, { "max" }, -1 },
	{ "memory.stat_flush_threshold", takes_signed,
	  { "default", "auto", "max" }, -1, 0, LONG_MAX - 1 },
	{ "memory.active_inactive_ratio", takes_signed, { "default" }, -1, 0,
	  100 },
	{ "/proc/sys/vm/memcg_stat_flush_threshold", takes_sysctl, {}, -1, -2,
	  INT_MAX },
	{ "/proc/sys/vm/active_inactive_ratio", takes_sysctl, {}, -1, -1, 100 },
};

/* White space has to separate the number of a sysctl from other text. */
static bool takes_sysctl_text(const struct knob *knob, const char *text,
			      size_t len, char *shown)
{
	long page_size = sysconf(_SC_PAGE_SIZE);
	char copy[VALUE_SIZE + 1];
	size_t number, start = 0;

	if (len > page_size - 1)
		len = page_size - 1;
	memcpy(copy, text, len);
	copy[len] = '\0';
	while (is_space(copy[start]))
		start++;
	number = strcspn(copy + start, " \t\n");
	/* Any other byte, also 0, belongs to the word: it is no number. */
	if (start + number < len && !copy[start + number])
		return false;
	copy[start + number] = '\0';
	return takes_sysctl(knob, copy + start, shown);
}

/**
 * knob_takes - whether a knob takes a value
 * @knob: index of the knob
 * @text: the value, which may have bytes of 0 in it
 * @len: its length, not 0
 * @shown: the text that the knob shows from then on
 */
bool knob_takes(int knob, const char *text, size_t len, char *shown)
{
	char copy[VALUE_SIZE + 1], *stripped;
	int i;

	if (knob_is_sysctl(knob))
		return takes_sysctl_text(&knobs[knob], text, len, shown);
	if (len > sysconf(_SC_PAGE_SIZE))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	stripped = strip(copy);
	for (i = 0; i < ARRAY_SIZE(knobs[knob].words); i++) {
		if (!knobs[knob].words[i] ||
		    strcmp(stripped, knobs[knob].words[i]))
			continue;
		sprintf(shown, "%s\n", stripped);
		return true;
	}
	return knobs[knob].takes_number(&knobs[knob], stripped, shown);
}

/* Is @err the right error for a value of @len bytes that is not taken? */
bool knob_may_refuse(int knob, size_t len, int err)
{
	if (!knob_is_sysctl(knob) && len > sysconf(_SC_PAGE_SIZE))
		return err == -E2BIG;
	return err == -EINVAL;
}

/* A text that a knob shows can be written to it, and it shows that again. */
bool knob_can_show(int knob, const char *shown)
{
	char again[VALUE_SIZE];

	return *shown && knob_takes(knob, shown, strlen(shown), again) &&
	       !strcmp(shown, again);
}

static int knob_open(const char *cgroup, int knob, int flags)
{
	char path[PATH_MAX];

	if (knob_is_sysctl(knob))
		return open(knobs[knob].file, flags);
	snprintf(path, sizeof(path), "%s/%s", cgroup, knobs[knob].file);
	return open(path, flags);
}

/**
 * knob_probe - find out how the kernel treats numbers beyond 64 bits
 * @root: parent of a temporary cgroup, whose memory.max shows it
 */
void knob_probe(const char *root)
{
	char *cgroup = cg_name(root, "knobs_probe");

	if (cgroup && !cg_create(cgroup)) {
		saturates = !cg_write(cgroup, "memory.max", "16E") &&
			    !cg_read_strcmp(cgroup, "memory.max", "max\n");
		cg_destroy(cgroup);
	}
	free(cgroup);
}

/* Returns 0 or a negative error code. */
int knob_write(const char *cgroup, int knob, const char *text, size_t len)
{
	int fd = knob_open(cgroup, knob, O_WRONLY);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, len) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* Likewise; @shown has SHOWN_SIZE bytes. */
int knob_read(const char *cgroup, int knob, char *shown)
{
	int fd = knob_open(cgroup, knob, O_RDONLY);
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = read(fd, shown, SHOWN_SIZE - 1);
	if (len < 0)
		len = -errno;
	else
		shown[len] = '\0';
	close(fd);
	return len < 0 ? len : 0;
}

/* Prints the @problem of writing @text, or as much of it as fits on a line. */
void knob_complain(const char *cgroup, int knob, const char *text, size_t len,
		   const char *problem)
{
	char line[512] = "";
	size_t i;

	for (i = 0; i < len && strlen(line) < 200; i++)
		sprintf(line + strlen(line),
			isprint((unsigned char)text[i]) ? "%c" : "\\x%02x",
			(unsigned char)text[i]);
	ksft_print_msg("%s %s: %zu bytes '%s': %s\n",
		       knob_is_sysctl(knob) ? "" : cgroup, knobs[knob].file,
		       len, line, problem);
	fflush(stdout);
}

/* Values */

/* splitmix64: gives the same numbers on all machines. */
uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static const char *pick(uint64_t *state, const char *const *list, size_t count)
{
	return list[next_random(state) % count];
}

/* The empty text, in two of three cases. */
static const char *pick_or_none(uint64_t *state, const char *const *list,
				size_t count)
{
	return next_random(state) % 3 ? "" : pick(state, list, count);
}

static size_t add(char *text, size_t len, const char *more)
{
	return len + sprintf(text + len, "%s", more);
}

static size_t add_number(uint64_t *state, char *text, size_t len)
{
	static const char *const limits[] = {
		"0", "1", "99", "100", "101", "007", "0100", "4095", "4096",
		"8191", "2147483647", "2147483648", "4294967295", "4294967296",
		"4294967297", "9223372036854771711", "9223372036854771712",
		"9223372036854775806", "9223372036854775807",
		"9223372036854775808", "18446744073709551615",
		"18446744073709551616", "00000000000000000000000000000000007",
		"123456789012345678901234567890",
	};
	char number[32];

	if (next_random(state) % 2)
		return add(text, len, pick(state, limits, ARRAY_SIZE(limits)));
	/* Of all 64-bit numbers, nearly all would be too large. */
	sprintf(number, "%llu",
		(unsigned long long)next_random(state) >>
			(next_random(state) % 2 ? 57 : next_random(state) % 64));
	return add(text, len, number);
}

/* A possible value: a word or a number, maybe with other text around it. */
static size_t random_text(uint64_t *state, char *text)
{
	static const char *const spaces[] = {
		" ", "\n", "\t", "\r\n", "\xa0", "\v", "  ",
	};
	static const char *const signs[] = {
		"-", "-", "+", "--", "0x", "- ", "+-", ".",
	};
	static const char *const suffixes[] = {
		"K", "m", "G", "t", "P", "e", "kB", "%", ".5", " 1", "\n2",
		"KK", "e3",
	};
	static const char *const words[] = {
		"max", "default", "auto", "max", "default", "Max", "maximum",
		"none", "default auto", "effective",
	};
	const char *space = pick_or_none(state, spaces, ARRAY_SIZE(spaces));
	size_t len = add(text, 0, space);

	if (next_random(state) % 4) {
		len = add(text, len,
			  pick_or_none(state, signs, ARRAY_SIZE(signs)));
		len = add_number(state, text, len);
		len = add(text, len,
			  pick_or_none(state, suffixes, ARRAY_SIZE(suffixes)));
	} else {
		len = add(text, len, pick(state, words, ARRAY_SIZE(words)));
	}
	space = pick_or_none(state, spaces, ARRAY_SIZE(spaces));
	return add(text, len, space);
}

/* Inserts any byte, or one that a parser knows, somewhere in @text. */
static size_t damage(uint64_t *state, char *text, size_t len)
{
	static const char bytes[] = { '\0', '\n', ' ', '-', 'K', '0', 'x' };
	size_t at = next_random(state) % (len + 1);

	memmove(text + at + 1, text + at, len - at);
	text[at] = next_random(state);
	if (next_random(state) % 2)
		text[at] = bytes[next_random(state) % sizeof(bytes)];
	return len + 1;
}

/* Pads @text to any length, maybe above a page, with one of bytes[]. */
static size_t lengthen(uint64_t *state, char *text, size_t len)
{
	static const char bytes[] = { ' ', '\n', '0', '9', 'x', '\0' };
	long page_size = sysconf(_SC_PAGE_SIZE);
	size_t longer = next_random(state) % VALUE_SIZE;

	if (next_random(state) % 4 == 0)
		longer = page_size - 1 + next_random(state) % 3;
	if (longer <= len || longer > VALUE_SIZE)
		return len;
	memset(text + len, bytes[next_random(state) % sizeof(bytes)],
	       longer - len);
	return longer;
}

static size_t garbage(uint64_t *state, char *text)
{
	size_t i, len = next_random(state) % 64;

	for (i = 0; i < len; i++)
		text[i] = next_random(state);
	return len;
}

/**
 * random_value - a value, good or bad, to write to a knob
 * @state: state of next_random()
 * @text: room for VALUE_SIZE bytes
 *
 * Return: the length of the value, which may be 0.
 */
size_t random_value(uint64_t *state, char *text)
{
	size_t len;

	if (next_random(state) % 16 == 0)
		return garbage(state, text);
	len = random_text(state, text);
	if (next_random(state) % 8 == 0)
		len = damage(state, text, len);
	if (next_random(state) % 32 == 0)
		len = lengthen(state, text, len);
	return len;
}
