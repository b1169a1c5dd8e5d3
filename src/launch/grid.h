/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_GRID_H
#define TKB_LAUNCH_GRID_H

/*
 * The size of a grid, as three expressions of the kernel's arguments.
 *
 * The expressions become C code, so they are parsed in full: only names of
 * integer arguments, decimal integers, + - * / % and parentheses are allowed.
 * They are computed in `long long`. An operation that may overflow, and a
 * division by anything but a constant, becomes a call that reports it.
 */

#include "base/arena.h"
#include "base/base.h"
#include "launch/signature.h"

/* An argument that an expression may name. */
struct tkb_grid_name {
	const char *given; /* name in the expression */
	const char *c;     /* name in C */
	bool is_integer;
	uint32_t bits; /* bits of its value, without the sign */
};

/* Checked operations. */
enum {
	TKB_GRID_PLUS,
	TKB_GRID_MINUS,
	TKB_GRID_TIMES,
	TKB_GRID_DIVIDE,
	TKB_GRID_REST,
	TKB_GRID_CALL_COUNT
};

struct tkb_grid {
	const char *sizes[3]; /* the three sizes as C code */
	unsigned calls;       /* 1u << TKB_GRID_PLUS, ...: operations in use */
};

/*
 * Parse `text`; strings are put into `arena`. Calls have the form
 * `<function>_divide(a, b, &tkb_bad)`.
 */
TKB_NODISCARD int tkb_grid_parse(const char *text,
                                 const struct tkb_grid_name *names,
                                 size_t name_count, const char *function,
                                 struct tkb_arena *arena, struct tkb_grid *out,
                                 struct tkb_error *err);

#endif
