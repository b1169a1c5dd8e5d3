/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_LAUNCH_NAMES_H
#define TKB_LAUNCH_NAMES_H

/* Checks which names are allowed in C and C++. */

#include "base/arena.h"
#include "base/base.h"

/* Is the byte a letter or an underscore? */
bool tkb_name_may_begin_with(char byte);

/* Only letters, digits and underscores, and no digit first? */
bool tkb_name_is_identifier(const char *name);

/* True if the name has a meaning in C, C++, <cuda.h> or our own code. */
bool tkb_name_is_taken(const char *name);

/* True if `name` is one of the words in `list`, separated by blanks. */
bool tkb_name_is_in(const char *list, const char *name);

/* True for functions and objects of the C library, such as "printf". */
bool tkb_name_is_of_library(const char *name);

/*
 * True for a name such as "arg7", which is made from the position of an
 * argument. Up to Triton 3.3, all arguments have such names.
 */
bool tkb_name_is_made_up(const char *name);

/* The C name for an argument: with "_" if it is taken; NULL: out of memory. */
const char *tkb_name_argument(const char *name, struct tkb_arena *arena);

/* True if tkb_name_argument() could have returned this name. */
bool tkb_name_is_of_argument(const char *name);

/*
 * Check that functions can have this name. Returns 0, or TKB_ERR_INVALID with a
 * message that says what to do.
 */
TKB_NODISCARD int tkb_name_check_function(const char *name,
                                          struct tkb_error *err);

/* Check that such a file can be included. Returns 0 or TKB_ERR_INVALID. */
TKB_NODISCARD int tkb_name_check_file(const char *name, struct tkb_error *err);

#endif
