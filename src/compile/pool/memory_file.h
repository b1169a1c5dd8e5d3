/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_MEMORY_FILE_H
#define TKB_COMPILE_POOL_MEMORY_FILE_H

/*
 * A file in a cache root's own folder with what workers answered, for the next
 * process. It only saves time: a damaged or foreign file counts as empty, and one
 * that cannot be written is left. If two processes write at the same time, what one
 * has to say is lost.
 */

#include "base/base.h"
#include "base/buf.h"
#include "base/digest.h"
#include "compile/pool/fields.h"

struct tkb_memory_file {
	const char *name;
	const char *
		magic; /* the file begins with it, then the digest of the rest */
	size_t limit;  /* of the file */
};

/* Its contents, which are fields; empty if the file is damaged or missing. */
struct tkb_bytes tkb_memory_file_read(const struct tkb_memory_file *file,
                                      const char *root, struct tkb_buf *buf);

/*
 * The contents are a sequence of answers, each behind the digest of what was asked.
 * Read the next one; false at the end.
 */
bool tkb_memory_next(struct tkb_fields *fields, struct tkb_digest *query_out,
                     struct tkb_bytes *answer_out);

bool tkb_memory_find(struct tkb_bytes all, const struct tkb_digest *query,
                     struct tkb_bytes *answer_out);

void tkb_memory_add(struct tkb_buf *out, const struct tkb_digest *query,
                    struct tkb_bytes answer);

/* Writes into `out` what is to stand, given what stands. */
typedef void (*tkb_memory_merge)(void *self, struct tkb_bytes old,
                                 struct tkb_buf *out);

/* Does nothing if there is no root or it cannot be written. */
void tkb_memory_file_update(const struct tkb_memory_file *file,
                            const char *root, tkb_memory_merge merge,
                            void *self);

void tkb_memory_file_remove(const struct tkb_memory_file *file,
                            const char *root);

#endif
