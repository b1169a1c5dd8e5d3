/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spool.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"

enum {
	CHUNK = 1024 * 1024
};

void tkb_spool_init(struct tkb_spool *spool, const char *folder,
                    size_t memory_limit)
{
	*spool = (struct tkb_spool){ .folder = folder,
		                     .memory_limit = memory_limit,
		                     .fd = -1 };
	(void)pthread_mutex_init(&spool->lock, NULL);
}

void tkb_spool_reset(struct tkb_spool *spool)
{
	tkb_fd_close_at(&spool->fd);
	spool->memory_used = 0;
	spool->file_used = 0;
}

void tkb_spool_release(struct tkb_spool *spool)
{
	tkb_spool_reset(spool);
	(void)pthread_mutex_destroy(&spool->lock);
}

/* Append the piece to the file. The lock is held. */
static int put_in_file(struct tkb_spool *spool, struct tkb_bytes bytes,
                       struct tkb_piece *out, struct tkb_error *err)
{
	int rc;

	if (spool->fd < 0) {
		rc = tkb_fd_unlinked(spool->folder, &spool->fd, err);
		if (rc < 0)
			return rc;
	}
	rc = tkb_fd_pwrite_all(spool->fd, bytes, spool->file_used, err);
	if (rc < 0)
		return rc;
	*out = (struct tkb_piece){ .offset = spool->file_used,
		                   .size = bytes.size };
	spool->file_used += bytes.size;
	return 0;
}

static bool take_memory(struct tkb_spool *spool, size_t size)
{
	if (size > spool->memory_limit - spool->memory_used)
		return false;
	spool->memory_used += size;
	return true;
}

int tkb_spool_put(struct tkb_spool *spool, struct tkb_bytes bytes,
                  struct tkb_piece *out, struct tkb_error *err)
{
	bool is_in_memory;
	void *copy;
	int rc = 0;

	(void)pthread_mutex_lock(&spool->lock);
	is_in_memory = take_memory(spool, bytes.size);
	if (!is_in_memory)
		rc = put_in_file(spool, bytes, out, err);
	(void)pthread_mutex_unlock(&spool->lock);
	if (!is_in_memory)
		return rc;

	copy = malloc(bytes.size == 0 ? 1 : bytes.size);
	if (copy == NULL)
		return tkb_fail_nomem(err);
	if (bytes.size != 0)
		memcpy(copy, bytes.data, bytes.size);
	*out = (struct tkb_piece){ .data = copy, .size = bytes.size };
	return 0;
}

static int send_from_file(const struct tkb_spool *spool,
                          const struct tkb_piece *piece,
                          const struct tkb_sink *sink, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) void *chunk = malloc(CHUNK);
	size_t done = 0;
	int rc;

	if (chunk == NULL)
		return tkb_fail_nomem(err);
	while (done < piece->size) {
		const size_t left = piece->size - done;
		const size_t size = left < CHUNK ? left : CHUNK;

		const ssize_t got = tkb_fd_pread_full(spool->fd, chunk, size,
		                                      piece->offset + done);

		if (got < 0)
			return tkb_fail_errno(err,
			                      "cannot read a temporary file");
		if ((size_t)got != size)
			return tkb_fail(err, TKB_ERR_IO,
			                "a temporary file is cut short");
		rc = sink->write(sink->self, (struct tkb_bytes){ chunk, size },
		                 err);
		if (rc < 0)
			return rc;
		done += size;
	}
	return 0;
}

int tkb_spool_send(const struct tkb_spool *spool, const struct tkb_piece *piece,
                   const struct tkb_sink *sink, struct tkb_error *err)
{
	if (piece->data != NULL)
		return sink->write(
			sink->self,
			(struct tkb_bytes){ piece->data, piece->size }, err);
	return send_from_file(spool, piece, sink, err);
}

void tkb_piece_release(struct tkb_piece *piece)
{
	free(piece->data);
	*piece = (struct tkb_piece){ 0 };
}
