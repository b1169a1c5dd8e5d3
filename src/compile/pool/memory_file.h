/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_MEMORY_FILE_H
#define TKB_COMPILE_POOL_MEMORY_FILE_H

/*
 * A file in a cache root's own folder that keeps workers' answers for later
 * processes. It only saves time: a damaged or foreign file counts as empty, and a
 * failed write is ignored. If two processes write at the same time, the answers of
 * one are lost.
 */

#include "base/base.h"
#include "base/buf.h"
#include "base/digest.h"
#include "compile/pool/fields.h"

struct tkb_memory_file {
	const char *name;
	const char
		*magic; /* start of the file; the digest of the rest follows */
	size_t limit;   /* maximum size of the file */
};

/* Read the contents, which are fields; none: the file is damaged or missing. */
struct tkb_bytes tkb_memory_file_read(const struct tkb_memory_file *file,
                                      const char *root, struct tkb_buf *buf);

/*
 * The contents are a sequence of pairs: the digest of a query, and the answer. Read
 * the next pair; false at the end.
 */
bool tkb_memory_next(struct tkb_fields *fields, struct tkb_digest *query_out,
                     struct tkb_bytes *answer_out);

bool tkb_memory_find(struct tkb_bytes all, const struct tkb_digest *query,
                     struct tkb_bytes *answer_out);

void tkb_memory_add(struct tkb_buf *out, const struct tkb_digest *query,
                    struct tkb_bytes answer);

/* Writes the new contents to `out`, given the old ones. */
typedef void (*tkb_memory_merge)(void *self, struct tkb_bytes old,
                                 struct tkb_buf *out);

/* Update the file by `merge`, unless there is no root to write to. */
void tkb_memory_file_update(const struct tkb_memory_file *file,
                            const char *root, tkb_memory_merge merge,
                            void *self);

void tkb_memory_file_remove(const struct tkb_memory_file *file,
                            const char *root);

#endif
