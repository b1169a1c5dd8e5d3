/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_FAIL_H
#define TKB_COMPILE_FAIL_H

#include <tkbundle/error.h>

/* Set the message, cut at the first newline. Returns `status`. */
__attribute__((format(printf, 3, 4))) int fail(struct tkb_error *err,
                                               int status, const char *format,
                                               ...);

enum {
	FAIL_LINE_SIZE = 400
};

/*
 * The first line of a tool's output that mentions an error, or else the first
 * line that is not empty. NULL: no output.
 */
void fail_first_error(const char *words, char out[FAIL_LINE_SIZE]);

#endif
