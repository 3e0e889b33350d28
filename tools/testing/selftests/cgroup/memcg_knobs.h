/* SPDX-License-Identifier: GPL-2.0 */
/* A model of the knobs of memory cgroups, and values to try on them. */
#ifndef MEMCG_KNOBS_H
#define MEMCG_KNOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More than a page, which is the most that a cgroup file takes. */
#define VALUE_SIZE	6000
/* Room for any text that a knob shows. */
#define SHOWN_SIZE	128
/* Shortens RCU grace periods, which the tests wait for but are not about. */
#define HURRY_FILE	"/sys/kernel/rcu_expedited"
#define NR_KNOBS	9
#define NR_CGROUP_KNOBS	7

/**
 * struct knob - a file that takes a value, and how it reads and shows that
 * @file: its name in a cgroup, or its path
 * @takes_number: whether it takes a text as a number, and how it then shows it
 * @words: words that it takes in place of a number
 * @pair: the knob whose number is unset by a number written to this one, or -1
 * @least: the smallest number that it takes
 * @most: the largest number
 */
struct knob {
	const char *file;
	bool (*takes_number)(const struct knob *knob, char *text, char *shown);
	const char *words[3];
	int pair;
	long least, most;
};

/* The files of a cgroup come first. */
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
