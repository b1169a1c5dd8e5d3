/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_GRID_H
#define TKB_LAUNCH_GRID_H

/*
 * The size of a grid, as three expressions over the arguments of a kernel.
 *
 * They become C, so every word of them is looked at: only the names of integer
 * arguments, decimal integers, + - * / % and parentheses may be there. All is
 * computed in `long long`; a division by what is no constant is a call, which
 * notes a division by zero instead of trapping.
 */

#include "base/arena.h"
#include "base/base.h"
#include "launch/signature.h"

/* What an expression may name. */
struct tkb_grid_name {
	const char *given; /* in the expression */
	const char *c;     /* in C */
	bool is_integer;
};

struct tkb_grid {
	const char *sizes[3]; /* in C */
	bool divides;         /* there is such a call */
};

/*
 * Parse `text`; strings are put into `arena`. `divide` is the function that is
 * called to divide: `divide(a, b, &tkb_bad)`, and `<divide>_rest` for the
 * remainder.
 */
TKB_NODISCARD int tkb_grid_parse(const char *text,
                                 const struct tkb_grid_name *names,
                                 size_t name_count, const char *divide,
                                 struct tkb_arena *arena, struct tkb_grid *out,
                                 struct tkb_error *err);

#endif
