/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_NAMES_H
#define TKB_LAUNCH_NAMES_H

/* What may be called what in C and C++. */

#include "base/arena.h"
#include "base/base.h"

/* Letters, digits and underscores, and not a digit first. */
bool tkb_name_is_identifier(const char *name);

/*
 * Means it something already, in C, in C++, in <cuda.h>, or in what we write
 * ourselves?
 */
bool tkb_name_is_taken(const char *name);

/* Is it a function or an object of the C library, "printf"? */
bool tkb_name_is_of_library(const char *name);

/*
 * Is it "arg7", which stands for the place of an argument without a name? Up to
 * Triton 3.3 all are called so, by where they stand among the rest.
 */
bool tkb_name_is_made_up(const char *name);

/*
 * `name` for an argument, with "_" behind it where it is taken; NULL: out of
 * memory.
 */
const char *tkb_name_argument(const char *name, struct tkb_arena *arena);

/* May an argument that tkb_name_argument() named be called so? */
bool tkb_name_is_of_argument(const char *name);

/*
 * Can `name` be the name of functions? Codes: 0, TKB_ERR_INVALID, with a
 * message that says what to do.
 */
TKB_NODISCARD int tkb_name_check_function(const char *name,
                                          struct tkb_error *err);

/* Can `name`, of a file, stand in `#include "..."`? Codes as above. */
TKB_NODISCARD int tkb_name_check_file(const char *name, struct tkb_error *err);

#endif
