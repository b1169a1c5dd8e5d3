/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_START_REPORT_H
#define TKBUNDLE_START_REPORT_H

#include <stddef.h>

#include <tkbundle/starts.h>

#include "why/start.h"

/*
 * The report of a start that is left in a remote: the part of its note
 * (why/start.h) that others may read. One JSON document:
 *
 *     {"capability":"9.0","compiled":2,"delay_ms":812,"driver":"580.159.04",
 *      "emitted":95,"failures":["pull: not done after 2 s"],
 *      "format":"tkbundle-start-report","gpu":"NVIDIA H200","id":"5f0c9d1e77a04b32",
 *      "idle":["5DJUWXT22BVR"],
 *      "made":[["add_kernel","KRJX2HQ7F5A3","ptxas"]],"node":"gpu-7","pushed":2,
 *      "reasons":{"ptxas":2},"saved_ms":41200,"status":0,"time_ms":1795420000000,
 *      "torch":"2.11.0","triton":"3.6.0","used":93,"version":1}
 *
 * Unknown members are left out, such as "status" while the command runs. Lists
 * are cut to the room that is left. "first" is 1 if nobody had published
 * anything under the ref when it was pulled: then a failed pull is no failure.
 * Paths, variables, command lines and host names are left out, and so are the
 * quoted parts of failure messages.
 */

/* Facts that the note does not have. */
struct start_report_more {
	uint64_t id;      /* all reports of one start have the same id */
	const char *node; /* NULL: it has no name */
	bool is_first;    /* the ref had no record when it was pulled */
	const char *idle; /* keys of entries that were emitted and not used, a
		          line each */
};

/* Write the report. @return its size, 0 if out of memory */
size_t start_report_write(const struct start *start,
                          const struct start_report_more *more,
                          char out[TKB_START_SIZE_LIMIT]);

/*
 * Parse a report; NULL: it is invalid, or from a newer tkbundle. Its members
 * may have any type. The caller releases the document.
 */
struct json_t *start_report_read(struct tkb_bytes text);

/*
 * A number of the report that is not negative; 0 if it is missing, or larger
 * than any start has.
 */
uint64_t start_report_number(const struct json_t *report, const char *name);

/*
 * How many entries were compiled for each reason. Entries without a reason, or
 * with one that this tkbundle does not know, count for REASON_UNKNOWN.
 */
void start_report_reasons(const struct json_t *report,
                          uint64_t out[REASON_COUNT]);

/* A text of the report, or "". */
const char *start_report_text(const struct json_t *report, const char *name);

#endif
