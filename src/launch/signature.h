/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_SIGNATURE_H
#define TKB_LAUNCH_SIGNATURE_H

/*
 * A signature as Triton's tools take it, and the names that come of it. The
 * grammar is in tkbundle/c_launcher.h.
 */

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"

enum tkb_class {
	TKB_CLASS_POINTER,
	TKB_CLASS_INTEGER,
	TKB_CLASS_FLOAT,
	TKB_CLASS_CONSTANT
};

/* A type that a parameter can have, or a pointer point to. */
struct tkb_type {
	const char *name;    /* "fp32" */
	enum tkb_class what; /* of a parameter of this type */
	const char *c;       /* what a caller passes, NULL: only behind a
	                        pointer */
	uint32_t size;       /* bytes of the parameter */
	const char *mlir;    /* as Triton's IR calls it; NULL: not known */
};

/* The hints that there are; "c" and "d" in a name. */
enum {
	TKB_HINT_NONE = 0,
	TKB_HINT_ONE = 1,
	TKB_HINT_SIXTEEN = 16
};

struct tkb_argument {
	const char *text; /* the item, as it was written */
	enum tkb_class what;
	const struct tkb_type *type; /* of what a pointer points to; NULL for a
	                                constant */
	bool is_pointer_to_pointer;
	unsigned hint;
};

struct tkb_signature {
	const char *text; /* the items, ", " between */
	const struct tkb_argument *items;
	size_t count;
};

/* Parse `text`; all of `*out` is put into `arena`. */
TKB_NODISCARD int tkb_signature_parse(struct tkb_bytes text,
                                      struct tkb_arena *arena,
                                      struct tkb_signature *out,
                                      struct tkb_error *err);

/*
 * What Triton's IR calls "f32" as a signature has it, "fp32"; NULL where it is
 * not known. Integers have no sign there: they become signed ones.
 */
const char *tkb_type_of_mlir(struct tkb_bytes mlir);

/* Is it what a caller passes? A `:1` is not. */
bool tkb_argument_is_passed(const struct tkb_argument *argument);

/* What a caller passes, in C. */
const char *tkb_argument_c_type(const struct tkb_argument *argument);

/* How many bytes the parameter has. */
uint32_t tkb_argument_size(const struct tkb_argument *argument);

/* Append "9969bdda_0123". */
TKB_NODISCARD int tkb_signature_suffix(const struct tkb_signature *signature,
                                       uint32_t num_warps, uint32_t num_stages,
                                       struct tkb_buf *out,
                                       struct tkb_error *err);

/*
 * Append "64x3_warps4xstages3": the constants, then how it was
 * compiled, as a part of an identifier. Without constants it begins with "_",
 * as Triton's does.
 */
void tkb_signature_algo(const struct tkb_signature *signature,
                        uint32_t num_warps, uint32_t num_stages,
                        struct tkb_buf *out);

#endif
