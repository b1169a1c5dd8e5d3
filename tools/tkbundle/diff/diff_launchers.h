/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_DIFF_LAUNCHERS_H
#define TKBUNDLE_DIFF_LAUNCHERS_H

#include <stdio.h>

#include "diff/diff.h"
#include "cli/json_out.h"

/*
 * Compare the saved launchers of two bundles by their cache keys. A cache has
 * none: if one side is a cache, there is nothing to compare.
 */

struct diff_launcher {
	const struct tkb_saved_launcher *a; /* NULL if only B has it */
	const struct tkb_saved_launcher *b;
	enum diff_state state;
};

/* Zeroed is empty. */
struct diff_launchers {
	struct diff_launcher *items; /* owned; sorted by cache key */
	size_t count;
	uint64_t counts[4]; /* numbers by state */
};

/*
 * @param a  must live, like `b`, until `out` is released
 * @return 0 or TKB_ERR_NOMEM
 */
TKB_NODISCARD int diff_launchers(const struct source *a, const struct source *b,
                                 struct diff_launchers *out,
                                 struct tkb_error *err);

/* For TKB_AUTO. */
void diff_launchers_release(struct diff_launchers *launchers);

/* Print what differs; see diff_out_print(). */
void diff_launchers_print(FILE *to, const struct diff_launchers *launchers);

/* Add "launchers" to the open object, if both sources are bundles. */
void diff_launchers_json(struct json_out *json,
                         const struct diff_launchers *launchers);

#endif
