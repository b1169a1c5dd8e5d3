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

/* A row of a table: a name, and its counts. */
struct fleet_row {
	char *name;         /* owned */
	uint64_t starts;    /* starts with it in their reports */
	uint64_t cold;      /* cold ones of these */
	uint64_t compiled;  /* entries */
	uint64_t newest_s;  /* the age of the newest start, in seconds */
	uint64_t last;      /* the number of the last start that was counted */
	enum reason reason; /* of a kernel: the reason in the newest start */
};

struct fleet_rows {
	struct fleet_row *items; /* owned; by fleet_sort() the worst first */
	size_t count;
	struct json_t *places; /* owned; maps a name to an index of the items */
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
	uint64_t delay_ms; /* the longest delay */
	uint64_t failed;   /* starts in which something failed */
	uint64_t first;    /* cold starts before anything was published */
	struct {
		uint64_t compiled;
		uint64_t starts;
	} reasons[REASON_COUNT];
	enum reason order[REASON_COUNT]; /* the reason of most kernels first */
	struct fleet_rows nodes;         /* nodes, by name or by their facts */
	struct fleet_rows kernels;       /* kernels that were compiled anew, by
	                                    name */
	struct fleet_rows idle; /* keys that were emitted and not used */
	bool is_failed;         /* out of memory */
};

/* For TKB_AUTO. */
void fleet_release(struct fleet *fleet);

/* Count the start of this report; NULL: a report that cannot be read. */
void fleet_add(struct fleet *fleet, const struct json_t *report,
               uint64_t age_s);

/* Sort all tables. */
void fleet_sort(struct fleet *fleet);

#endif
