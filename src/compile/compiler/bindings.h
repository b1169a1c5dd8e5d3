/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_COMPILER_BINDINGS_H
#define TKB_COMPILE_COMPILER_BINDINGS_H

/*
 * Values of arguments that finalize makes constants, for both the library and
 * the worker.
 */

#include <tkbundle/finalize.h>

#include "base/base.h"
#include "base/buf.h"

/* The elements of an array, as "i8[256,256]" names them. */
enum tkb_element_kind {
	TKB_ELEMENT_KIND_INTEGER,
	TKB_ELEMENT_KIND_FLOAT,
	TKB_ELEMENT_KIND_BFLOAT
};

struct tkb_array_type {
	enum tkb_element_kind kind;
	unsigned bits;  /* of an element: 8, 16, 32 or 64 */
	uint64_t count; /* of elements, in all dimensions */
};

/* Is the value the type of an array, and not a number? */
bool tkb_binding_is_array(const struct tkb_binding *binding);

/* Read the type of an array: 0, or TKB_ERR_INVALID with what it may be. */
TKB_NODISCARD int tkb_array_type_read(const char *text,
                                      struct tkb_array_type *out,
                                      struct tkb_error *err);

/*
 * Check that each has a name and a value, that none is bound twice, and that
 * arrays have as many bytes as their types say.
 */
TKB_NODISCARD int tkb_bindings_check(const struct tkb_binding *bindings,
                                     size_t count, struct tkb_error *err);

/*
 * The bindings for an entry's metadata, as a JSON object: numbers as they were
 * given, arrays by type and digest. Nothing if there are none.
 */
TKB_NODISCARD int tkb_bindings_write(const struct tkb_binding *bindings,
                                     size_t count, struct tkb_buf *out,
                                     struct tkb_error *err);

#endif
