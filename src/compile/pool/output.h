/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_OUTPUT_H
#define TKB_COMPILE_POOL_OUTPUT_H

/*
 * What a worker writes to standard output and error: a file in memory that both
 * sides hold. Nothing can fill up and block the worker, and what it wrote
 * before it crashed is there.
 */

#include <sys/types.h>

#include "base/base.h"
#include "base/buf.h"

struct tkb_output {
	int fd;      /* owned; -1: none */
	off_t start; /* of the job at hand */
	off_t kept;  /* what stands before is not in memory any more */
};

/*
 * A copy of `fd` that is above those that a worker has; closes `fd`, and passes
 * a failure on. Below, it would be in the way there, and might be taken for a
 * standard stream here.
 */
int tkb_output_raise(int fd);

TKB_NODISCARD int tkb_output_open(struct tkb_output *out,
                                  struct tkb_error *err);

void tkb_output_close(struct tkb_output *output);

/* A job begins: what was written before does not count. */
void tkb_output_mark(struct tkb_output *output);

/* No more than the last `size` bytes will be asked for. */
void tkb_output_trim(struct tkb_output *output, size_t size);

/* The last `size` bytes at most of what was written since, into `out`. */
void tkb_output_read(const struct tkb_output *output, size_t size,
                     struct tkb_buf *out);

/* The first line of that with a letter in it; "" where there is none. */
void tkb_output_first_line(const struct tkb_output *output, char out[256]);

#endif
