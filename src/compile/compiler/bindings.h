/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_COMPILER_BINDINGS_H
#define TKB_COMPILE_COMPILER_BINDINGS_H

/* Values for arguments that finalize binds; for the library and the worker. */

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
	unsigned bits;  /* bits per element: 8, 16, 32 or 64 */
	uint64_t count; /* number of elements, over all dimensions */
};

/* Is the value an array type, and not a number? */
bool tkb_binding_is_array(const struct tkb_binding *binding);

/* Parse an array type; the message of TKB_ERR_INVALID names the valid ones. */
TKB_NODISCARD int tkb_array_type_read(const char *text,
                                      struct tkb_array_type *out,
                                      struct tkb_error *err);

/*
 * Check that each binding has a name and a value, that no argument is bound
 * twice, and that arrays have the size of their types.
 */
TKB_NODISCARD int tkb_bindings_check(const struct tkb_binding *bindings,
                                     size_t count, struct tkb_error *err);

/*
 * Write the bindings for an entry's metadata as a JSON object: numbers as
 * given, arrays by type and digest. Writes nothing if there are no bindings.
 */
TKB_NODISCARD int tkb_bindings_write(const struct tkb_binding *bindings,
                                     size_t count, struct tkb_buf *out,
                                     struct tkb_error *err);

#endif
