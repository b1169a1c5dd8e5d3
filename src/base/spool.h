/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_SPOOL_H
#define TKB_BASE_SPOOL_H

/*
 * Keeps pieces of bytes for later: in memory up to a limit, then in a file
 * without a name. Several threads may put pieces in. When that is over, pieces
 * are taken out in any order, by their handle.
 */

#include <pthread.h>

#include "base/base.h"
#include "base/buf.h"

struct tkb_spool {
	pthread_mutex_t lock;
	const char *folder; /* where the file is made; NULL is $TMPDIR */
	size_t memory_limit;
	size_t memory_used;
	int fd; /* owned; -1 until it is needed */
	uint64_t file_used;
};

/* A piece: its bytes, or its place in the file. */
struct tkb_piece {
	void *data; /* owned; NULL if it is in the file */
	uint64_t offset;
	size_t size;
};

void tkb_spool_init(struct tkb_spool *spool, const char *folder,
                    size_t memory_limit);
void tkb_spool_release(struct tkb_spool *spool);

/* Empty the spool. All pieces must have been released. */
void tkb_spool_reset(struct tkb_spool *spool);

TKB_NODISCARD int tkb_spool_put(struct tkb_spool *spool, struct tkb_bytes bytes,
                                struct tkb_piece *out, struct tkb_error *err);

TKB_NODISCARD int tkb_spool_send(const struct tkb_spool *spool,
                                 const struct tkb_piece *piece,
                                 const struct tkb_sink *sink,
                                 struct tkb_error *err);

void tkb_piece_release(struct tkb_piece *piece);

#endif
