/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_WHY_OUT_H
#define TKBUNDLE_WHY_OUT_H

#include "cli/cli.h"
#include "why/match.h"

/* What `why` prints: lines, or members of the document. */

/* The result for one entry of A or B. */
struct why_pair {
	const struct tkb_entry *a; /* NULL: only B has it */
	const struct tkb_entry *b;
	const struct differences *differences; /* if there are two keys, else
	                                          NULL */
	enum reason reason;
	bool is_equal;
	const char *detail; /* if there is one key: the files that differ */
	const char *advice; /* "": none */
};

/* Print it, and add it to the open list. */
void why_out_pair(struct cli *cli, const struct why_pair *pair);

#endif
