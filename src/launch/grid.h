/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_GRID_H
#define TKB_LAUNCH_GRID_H

/*
 * The size of a grid, as three expressions over the arguments of a kernel.
 *
 * They become C, so every word of them is looked at: only the names of integer
 * arguments, decimal integers, + - * / % and parentheses may be there. All is
 * computed in `long long`; what may be too large for that, and a division by
 * what is no constant, is a call, which notes it instead of going on.
 */

#include "base/arena.h"
#include "base/base.h"
#include "launch/signature.h"

/* What an expression may name. */
struct tkb_grid_name {
	const char *given; /* in the expression */
	const char *c;     /* in C */
	bool is_integer;
	uint32_t bits; /* of its size, without the sign */
};

/* What may be called, in the order of tkb_grid_calls. */
enum {
	TKB_GRID_PLUS,
	TKB_GRID_MINUS,
	TKB_GRID_TIMES,
	TKB_GRID_DIVIDE,
	TKB_GRID_REST,
	TKB_GRID_CALL_COUNT
};

/* Their names: they begin with the function's. */
extern const char *const tkb_grid_calls[TKB_GRID_CALL_COUNT];

struct tkb_grid {
	const char *sizes[3]; /* in C */
	unsigned calls;       /* 1u << TKB_GRID_PLUS, ...: which there are */
};

/*
 * Parse `text`; strings are put into `arena`. What is called is
 * `<function>_divide(a, b, &tkb_bad)`, and the like.
 */
TKB_NODISCARD int tkb_grid_parse(const char *text,
                                 const struct tkb_grid_name *names,
                                 size_t name_count, const char *function,
                                 struct tkb_arena *arena, struct tkb_grid *out,
                                 struct tkb_error *err);

#endif
