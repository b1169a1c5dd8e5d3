/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_OUTPUT_H
#define TKB_COMPILE_POOL_OUTPUT_H

/*
 * A worker's standard output and error: a file in memory that both sides have
 * open. The worker never blocks on a full pipe, and what it wrote before a
 * crash is still readable.
 */

#include <sys/types.h>

#include "base/base.h"
#include "base/buf.h"

struct tkb_output {
	int fd;      /* owned; -1: none */
	off_t start; /* where the output of the current job starts */
	off_t kept;  /* the bytes before it are released from memory */
};

/*
 * Duplicate `fd` to a number above those a worker uses, and close `fd`; a
 * failure (-1) is passed through. A lower number would collide with the
 * worker's descriptors, or be taken for a standard stream here.
 */
int tkb_output_raise(int fd);

TKB_NODISCARD int tkb_output_open(struct tkb_output *out,
                                  struct tkb_error *err);

void tkb_output_close(struct tkb_output *output);

/* Start a job: drop the output so far. */
void tkb_output_mark(struct tkb_output *output);

/* Release all but the last `size` bytes: no more will be read. */
void tkb_output_trim(struct tkb_output *output, size_t size);

/* Append the job's output, at most its last `size` bytes, to `out`. */
void tkb_output_read(const struct tkb_output *output, size_t size,
                     struct tkb_buf *out);

/* The first line of the job's output that has a letter, or "". */
void tkb_output_first_line(const struct tkb_output *output, char out[256]);

#endif
