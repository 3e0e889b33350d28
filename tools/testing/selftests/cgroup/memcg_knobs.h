/* SPDX-License-Identifier: GPL-2.0 */
/* A model of the knobs of memory cgroups, and values to try on them. */
#ifndef MEMCG_KNOBS_H
#define MEMCG_KNOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More than a page, which is the most that cgroup takes. */
#define VALUE_SIZE	6000
/* Room for what a knob shows; it may be asked to show something else. */
#define SHOWN_SIZE	128
#define NR_KNOBS	9
#define NR_CGROUP_KNOBS	7

/**
 * struct knob - a file that takes a value, and what it makes of it
 * @file: its name in a cgroup, or its path
 * @takes_number: whether it takes the text for a number, and how it shows it
 * @words: what it takes that is no number
 * @pair: the knob of which a number here unsets the number, or -1
 * @least: the smallest number that it takes
 * @most: the largest
 */
struct knob {
	const char *file;
	bool (*takes_number)(const struct knob *knob, char *text, char *shown);
	const char *words[3];
	int pair;
	long least, most;
};

/* Those of a cgroup come first. */
extern const struct knob knobs[NR_KNOBS];

static inline bool knob_is_sysctl(int knob)
{
	return knob >= NR_CGROUP_KNOBS;
}

uint64_t next_random(uint64_t *state);
size_t random_value(uint64_t *state, char *text);

bool knob_takes(int knob, const char *text, size_t len, char *shown);
bool knob_may_refuse(int knob, size_t len, int err);
bool knob_can_show(int knob, const char *shown);

void knob_probe(const char *root);
int knob_write(const char *cgroup, int knob, const char *text, size_t len);
int knob_read(const char *cgroup, int knob, char *shown);
void knob_complain(const char *cgroup, int knob, const char *text, size_t len,
		   const char *problem);

#endif
