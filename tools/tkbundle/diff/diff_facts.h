/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_DIFF_FACTS_H
#define TKBUNDLE_DIFF_FACTS_H

#include <tkbundle/entry.h>

/*
 * The facts of two entries that can differ besides their files, each as text.
 */

enum diff_fact_flag {
	DIFF_KIND = 1u << 0,
	DIFF_NAME = 1u << 1,
	DIFF_DEVICES = 1u << 2,
	DIFF_TARGET = 1u << 3,
	DIFF_PRODUCER = 1u << 4
};

/* Enough for any fact: all possible devices. */
#define DIFF_FACT_SIZE 4096

struct diff_fact {
	unsigned flag; /* an enum diff_fact_flag */
	const char *name;
	void (*write)(const struct tkb_entry *entry, char *out, size_t size);
};

#define DIFF_FACT_COUNT 5

extern const struct diff_fact diff_facts[DIFF_FACT_COUNT];

/* The facts that differ, as a set of enum diff_fact_flag. */
unsigned diff_facts_compare(const struct tkb_entry *a,
                            const struct tkb_entry *b);

#endif
