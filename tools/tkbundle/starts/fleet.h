/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_FLEET_VERB_H
#define TKBUNDLE_FLEET_VERB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tkbundle/entry.h>

#include "why/reason.h"

/*
 * The sums and tables of the reports of a ref's starts.
 *
 *     TKB_AUTO(fleet_release) struct fleet fleet = { 0 };
 *
 *     fleet_add(&fleet, report, age_s);   each, by starts_read()
 *     fleet_sort(&fleet);
 *
 * A start is cold if it compiled something, or its pull failed.
 */

struct json_t;

/* Something with a name, and how often it was met. */
struct fleet_row {
	char *name;         /* owned */
	uint64_t starts;    /* in whose reports it is */
	uint64_t cold;      /* of those */
	uint64_t compiled;  /* entries */
	uint64_t newest_s;  /* the age of the newest start, in seconds */
	uint64_t last;      /* number of the start that was counted last */
	enum reason reason; /* of a kernel: that of the newest start */
};

struct fleet_rows {
	struct fleet_row *items; /* owned; by fleet_sort() the worst first */
	size_t count;
	size_t capacity;
	struct json_t *places; /* owned; where in the items a name is */
};

struct fleet {
	uint64_t starts;
	uint64_t unread; /* reports that are invalid, or from a newer
			    tkbundle */
	uint64_t cold;
	uint64_t emitted;
	uint64_t used;
	uint64_t compiled;
	uint64_t saved_ms;
	uint64_t oldest_s; /* the age of the oldest start */
	uint64_t delay_ms; /* the longest */
	uint64_t failed;   /* starts of which something failed */
	uint64_t first;    /* cold ones, for which nothing was published yet */
	struct {
		uint64_t compiled;
		uint64_t starts;
	} reasons[REASON_COUNT];
	enum reason order[REASON_COUNT]; /* that of most kernels first */
	struct fleet_rows nodes;         /* by name, or by what they are */
	struct fleet_rows kernels;       /* that were compiled anew, by name */
	struct fleet_rows idle; /* keys that were emitted and not used */
	bool is_failed;         /* there was no memory */
};

/* For TKB_AUTO. */
void fleet_release(struct fleet *fleet);

/* Count a start, of which this is the report; NULL: it cannot be read. */
void fleet_add(struct fleet *fleet, const struct json_t *report,
               uint64_t age_s);

/* Put all tables into their order. */
void fleet_sort(struct fleet *fleet);

#endif
