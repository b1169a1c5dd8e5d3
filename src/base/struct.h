/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_STRUCT_H
#define TKB_BASE_STRUCT_H

/*
 * Structs that callers allocate begin with `size_t struct_size`: the size that
 * the struct had when the caller was compiled. A library with a larger struct
 * reads the missing end as zeros, which mean the default, and fills only what
 * the caller has room for.
 *
 *     struct tkb_gc_options own;
 *     struct tkb_gc_report done = { 0 };
 *
 *     rc = TKB_STRUCT_READ(tkb_gc_options, watch, &own, options, err);
 *     rc = TKB_STRUCT_CHECK(tkb_gc_report, unfinished_count, report, err);
 *     ...
 *     TKB_STRUCT_WRITE(tkb_gc_report, report, &done);
 *
 * The second argument is the last member of the struct's first version, which
 * every caller has. It never changes. New members go to the end of a struct,
 * and not into its padding, which an older caller leaves undefined.
 */

#include <string.h>

#include "base/base.h"

/* What the library knows about a struct. */
struct tkb_struct_shape {
	const char *name;
	size_t size;
	size_t first_size; /* up to the last member of its first version */
};

/*
 * Copy the caller's struct to `own`, whose other bytes are zeroed; NULL is a
 * struct of zeros. Returns 0; TKB_ERR_INVALID if the size is not set or less
 * than any version's; TKB_ERR_UNSUPPORTED if members that this library does not
 * know are not zero.
 */
TKB_NODISCARD int tkb_struct_read(const struct tkb_struct_shape *shape,
                                  void *own, const void *given,
                                  struct tkb_error *err);

/* Check the size of a struct that is to be filled; NULL is allowed. */
TKB_NODISCARD int tkb_struct_check(const struct tkb_struct_shape *shape,
                                   const void *given, struct tkb_error *err);

/*
 * Fill a struct that was checked. Members that this library does not know
 * become zero; NULL is allowed.
 */
void tkb_struct_write(const struct tkb_struct_shape *shape, void *given,
                      const void *own);

#define TKB_STRUCT_SHAPE(type, last)                                           \
	(&(const struct tkb_struct_shape){                                     \
		.name = #type,                                                 \
		.size = sizeof(struct type),                                   \
		.first_size = offsetof(struct type, last) +                    \
	                      sizeof(((const struct type *)0)->last) })

/* `pointer`; the compiler complains if it is of another type. */
#define TKB_STRUCT_POINTER(type, pointer)                                      \
	(1 ? (pointer) : (const struct type *)NULL)

#define TKB_STRUCT_READ(type, last, own, given, err)                           \
	tkb_struct_read(TKB_STRUCT_SHAPE(type, last), (struct type *){ own },  \
	                TKB_STRUCT_POINTER(type, given), err)

#define TKB_STRUCT_CHECK(type, last, given, err)                               \
	tkb_struct_check(TKB_STRUCT_SHAPE(type, last),                         \
	                 TKB_STRUCT_POINTER(type, given), err)

#define TKB_STRUCT_WRITE(type, given, own)                                     \
	tkb_struct_write(TKB_STRUCT_SHAPE(type, struct_size),                  \
	                 (struct type *){ given },                             \
	                 TKB_STRUCT_POINTER(type, own))

#endif
