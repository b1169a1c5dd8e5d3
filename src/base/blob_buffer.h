/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_BLOB_BUFFER_H
#define TKB_BASE_BLOB_BUFFER_H

/*
 * Bytes that are added at the end and read in any order: in memory while they are
 * few, then in a file without a name. Several threads may add pieces.
 *
 *     TKB_AUTO(tkb_blob_buffer_release)
 *     struct tkb_blob_buffer buffer = TKB_BLOB_BUFFER_INIT(limit);
 *
 *     rc = tkb_blob_buffer_add(&buffer, bytes, err);
 *     rc = tkb_blob_buffer_read(&buffer, offset, data, size, &got, err);
 *
 * One thread may fill the buffer while others read it through
 * tkb_blob_buffer_live_source(). Between tkb_blob_buffer_begin() and
 * tkb_blob_buffer_end(), readers wait for bytes that have not arrived yet.
 */

#include <pthread.h>

#include <tkbundle/memory.h>

#include "base/base.h"
#include "base/buf.h"

enum {
	TKB_BLOB_BUFFER_MEMORY =
		8 * 1024 * 1024 /* a larger buffer moves to a file */
};

struct tkb_blob_buffer {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* it grew, or is complete */
	const char *folder;     /* where the file is made; NULL: $TMPDIR */
	struct tkb_buf memory;
	int fd; /* owned; -1 while all is in memory */
	uint64_t size;
	uint64_t limit;
	bool is_growing;
	struct tkb_error failure; /* why the filling ended early, for readers */
};

/* Keep at most `memory_` bytes in memory, and `limit_` bytes in all. */
#define TKB_BLOB_BUFFER_INIT_SMALL(memory_, limit_)                            \
	{                                                                      \
		.lock = PTHREAD_MUTEX_INITIALIZER,                             \
		.changed = PTHREAD_COND_INITIALIZER,                           \
		.memory = TKB_BUF_INIT(memory_), .fd = -1, .limit = (limit_)   \
	}

#define TKB_BLOB_BUFFER_INIT(limit_)                                           \
	TKB_BLOB_BUFFER_INIT_SMALL(TKB_BLOB_BUFFER_MEMORY, limit_)

void tkb_blob_buffer_release(struct tkb_blob_buffer *buffer);

/* Returns 0, TKB_ERR_TOO_LARGE (beyond the limit), TKB_ERR_IO or _NOMEM. */
TKB_NODISCARD int tkb_blob_buffer_add(struct tkb_blob_buffer *buffer,
                                      struct tkb_bytes bytes,
                                      struct tkb_error *err);

/* As tkb_blob_buffer_add(); `*offset_out` is where the bytes are. */
TKB_NODISCARD int tkb_blob_buffer_put(struct tkb_blob_buffer *buffer,
                                      struct tkb_bytes bytes,
                                      uint64_t *offset_out,
                                      struct tkb_error *err);

/* Tell readers that more bytes will come. */
void tkb_blob_buffer_begin(struct tkb_blob_buffer *buffer);

/*
 * Tell readers that no more bytes will come. `rc` is 0, or the failure that
 * reads past the end return.
 */
void tkb_blob_buffer_end(struct tkb_blob_buffer *buffer, int rc,
                         const struct tkb_error *failure);

/* Read fewer bytes than `size` only at the end. Threads may share this. */
TKB_NODISCARD int tkb_blob_buffer_read(struct tkb_blob_buffer *buffer,
                                       uint64_t offset, void *data, size_t size,
                                       size_t *got_out, struct tkb_error *err);

/*
 * Send the `size` bytes at `offset`, which must have been added, to `sink`.
 * Meanwhile nobody may add bytes.
 */
TKB_NODISCARD int tkb_blob_buffer_send(struct tkb_blob_buffer *buffer,
                                       uint64_t offset, uint64_t size,
                                       const struct tkb_sink *sink,
                                       struct tkb_error *err);

/* Empty the buffer; its limit stays. */
void tkb_blob_buffer_reset(struct tkb_blob_buffer *buffer);

/* A sink that fills the buffer, which must live as long as the sink. */
struct tkb_sink tkb_blob_buffer_sink(struct tkb_blob_buffer *buffer);

/* A source that reads the buffer, which must live as long as the source. */
struct tkb_source tkb_blob_buffer_source(struct tkb_blob_buffer *buffer);

/*
 * As tkb_blob_buffer_source(), for threads other than the one that fills the
 * buffer.
 */
struct tkb_source tkb_blob_buffer_live_source(struct tkb_blob_buffer *buffer);

#endif
