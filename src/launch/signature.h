/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_SIGNATURE_H
#define TKB_LAUNCH_SIGNATURE_H

/*
 * Signatures in the form of Triton's tools, and the names derived from them.
 * The grammar is in tkbundle/c_launcher.h.
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

/* A type of parameters, or of data that pointers point to. */
struct tkb_type {
	const char *name;    /* "fp32" */
	enum tkb_class what; /* of a parameter of this type */
	const char *c;       /* what a caller passes; NULL: only for pointers */
	uint32_t size;       /* bytes of the parameter */
	const char *mlir;    /* in Triton's IR; NULL: unknown */
};

/* Hints; "c" and "d" in names. */
enum {
	TKB_HINT_NONE = 0,
	TKB_HINT_ONE = 1,
	TKB_HINT_SIXTEEN = 16
};

struct tkb_argument {
	const char *text; /* the item as given */
	enum tkb_class what;
	/* of the pointed-to data for a pointer; NULL for a constant */
	const struct tkb_type *type;
	bool is_pointer_to_pointer;
	unsigned hint;
};

struct tkb_signature {
	const char *text; /* the items, joined by ", " */
	const struct tkb_argument *items;
	size_t count;
};

/* Parse `text`; all of `*out` is put into `arena`. */
TKB_NODISCARD int tkb_signature_parse(struct tkb_bytes text,
                                      struct tkb_arena *arena,
                                      struct tkb_signature *out,
                                      struct tkb_error *err);

/*
 * The signature's name for a type of Triton's IR: "fp32" for "f32"; NULL:
 * unknown. Integers have no sign there, and become signed.
 */
const char *tkb_type_of_mlir(struct tkb_bytes mlir);

/* True unless the argument is a constant or `:1`. */
bool tkb_argument_is_passed(const struct tkb_argument *argument);

/* The C type that a caller passes. */
const char *tkb_argument_c_type(const struct tkb_argument *argument);

/* The size of the parameter, in bytes. */
uint32_t tkb_argument_size(const struct tkb_argument *argument);

/* Append "9969bdda_0123". */
TKB_NODISCARD int tkb_signature_suffix(const struct tkb_signature *signature,
                                       uint32_t num_warps, uint32_t num_stages,
                                       struct tkb_buf *out,
                                       struct tkb_error *err);

/*
 * Append "64x3_warps4xstages3": constants, warps and stages, as a part of an
 * identifier. As in Triton, it begins with "_" if there are no constants.
 */
void tkb_signature_algo(const struct tkb_signature *signature,
                        uint32_t num_warps, uint32_t num_stages,
                        struct tkb_buf *out);

#endif
