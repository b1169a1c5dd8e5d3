/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_FAIL_H
#define TKB_COMPILE_FAIL_H

#include <tkbundle/error.h>

/* Say what failed, in one line: of a tool's words the first. Returns `status`. */
__attribute__((format(printf, 3, 4))) int fail(struct tkb_error *err,
                                               int status, const char *format,
                                               ...);

enum {
	FAIL_LINE_SIZE = 400
};

/*
 * The first line of a tool's words that speaks of an error, or where none does
 * the first that is not empty. NULL: it said nothing.
 */
void fail_first_error(const char *words, char out[FAIL_LINE_SIZE]);

#endif
