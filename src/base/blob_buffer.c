/* SPDX-License-Identifier: Apache-2.0 */
#include "base/blob_buffer.h"

#include <stdlib.h>

#include "base/fd.h"

void tkb_blob_buffer_release(struct tkb_blob_buffer *buffer)
{
	tkb_buf_release(&buffer->memory);
	tkb_fd_close_at(&buffer->fd);
	buffer->size = 0;
}

void tkb_blob_buffer_reset(struct tkb_blob_buffer *buffer)
{
	(void)pthread_mutex_lock(&buffer->lock);
	tkb_buf_reset(&buffer->memory);
	tkb_fd_close_at(&buffer->fd);
	buffer->size = 0;
	(void)pthread_mutex_unlock(&buffer->lock);
}

void tkb_blob_buffer_begin(struct tkb_blob_buffer *buffer)
{
	(void)pthread_mutex_lock(&buffer->lock);
	buffer->is_growing = true;
	buffer->failure = (struct tkb_error){ 0 };
	(void)pthread_mutex_unlock(&buffer->lock);
}

void tkb_blob_buffer_end(struct tkb_blob_buffer *buffer, int rc,
                         const struct tkb_error *failure)
{
	(void)pthread_mutex_lock(&buffer->lock);
	buffer->is_growing = false;
	if (rc != 0) {
		buffer->failure = *failure;
		buffer->failure.status = rc;
	}
	(void)pthread_cond_broadcast(&buffer->changed);
	(void)pthread_mutex_unlock(&buffer->lock);
}

/* Move the bytes from memory to a file, and continue there. */
static int move_to_file(struct tkb_blob_buffer *buffer, struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	int rc;

	rc = tkb_fd_unlinked(buffer->folder, &fd, err);
	if (rc < 0)
		return rc;
	rc = tkb_fd_pwrite_all(fd, tkb_buf_bytes(&buffer->memory), 0, err);
	if (rc < 0)
		return rc;
	tkb_buf_release(&buffer->memory);
	buffer->fd = fd;
	fd = -1;
	return 0;
}

static int append_bytes(struct tkb_blob_buffer *buffer, struct tkb_bytes bytes,
                        struct tkb_error *err)
{
	int rc;

	if (bytes.size > buffer->limit - buffer->size)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "it has more than %llu bytes",
		                (unsigned long long)buffer->limit);
	if (buffer->fd < 0 &&
	    buffer->size + bytes.size > buffer->memory.limit) {
		rc = move_to_file(buffer, err);
		if (rc < 0)
			return rc;
	}
	if (buffer->fd >= 0) {
		rc = tkb_fd_pwrite_all(buffer->fd, bytes, buffer->size, err);
	} else {
		tkb_buf_add(&buffer->memory, bytes);
		rc = tkb_buf_check(&buffer->memory, err);
	}
	if (rc == 0)
		buffer->size += bytes.size;
	return rc;
}

int tkb_blob_buffer_put(struct tkb_blob_buffer *buffer, struct tkb_bytes bytes,
                        uint64_t *offset_out, struct tkb_error *err)
{
	int rc;

	(void)pthread_mutex_lock(&buffer->lock);
	*offset_out = buffer->size;
	rc = append_bytes(buffer, bytes, err);
	(void)pthread_cond_broadcast(&buffer->changed);
	(void)pthread_mutex_unlock(&buffer->lock);
	return rc;
}

int tkb_blob_buffer_add(struct tkb_blob_buffer *buffer, struct tkb_bytes bytes,
                        struct tkb_error *err)
{
	uint64_t offset;

	return tkb_blob_buffer_put(buffer, bytes, &offset, err);
}

/* Read bytes that have arrived. The lock is held. */
static int read_held(const struct tkb_blob_buffer *buffer, uint64_t offset,
                     void *data, size_t size, size_t *got_out,
                     struct tkb_error *err)
{
	ssize_t got;

	*got_out = 0;
	if (offset >= buffer->size || size == 0)
		return 0;
	if (size > buffer->size - offset)
		size = (size_t)(buffer->size - offset);
	if (buffer->fd < 0) {
		memcpy(data, buffer->memory.data + offset, size);
		*got_out = size;
		return 0;
	}
	got = tkb_fd_pread_full(buffer->fd, data, size, offset);
	if (got < 0)
		return tkb_fail_errno(err, "cannot read a temporary file");
	*got_out = (size_t)got;
	return 0;
}

int tkb_blob_buffer_read(struct tkb_blob_buffer *buffer, uint64_t offset,
                         void *data, size_t size, size_t *got_out,
                         struct tkb_error *err)
{
	int rc;

	(void)pthread_mutex_lock(&buffer->lock);
	rc = read_held(buffer, offset, data, size, got_out, err);
	(void)pthread_mutex_unlock(&buffer->lock);
	return rc;
}

static int read_live(void *self, uint64_t offset, void *data, size_t size,
                     size_t *got_out, struct tkb_error *err)
{
	struct tkb_blob_buffer *buffer = self;
	int rc;

	(void)pthread_mutex_lock(&buffer->lock);
	while (buffer->is_growing &&
	       (offset > buffer->size || size > buffer->size - offset))
		(void)pthread_cond_wait(&buffer->changed, &buffer->lock);
	rc = read_held(buffer, offset, data, size, got_out, err);
	if (rc == 0 && *got_out < size && buffer->failure.status < 0)
		rc = tkb_fail_as(err, buffer->failure.status, &buffer->failure);
	(void)pthread_mutex_unlock(&buffer->lock);
	return rc;
}

struct tkb_source tkb_blob_buffer_live_source(struct tkb_blob_buffer *buffer)
{
	return (struct tkb_source){ .read_at = read_live, .self = buffer };
}

int tkb_blob_buffer_send(struct tkb_blob_buffer *buffer, uint64_t offset,
                         uint64_t size, const struct tkb_sink *sink,
                         struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) void *chunk = NULL;
	const uint64_t end = offset + size;
	size_t got = 0;
	int rc = 0;

	if (size == 0)
		return 0;
	if (buffer->fd < 0)
		return sink->write(
			sink->self,
			tkb_bytes_slice(tkb_buf_bytes(&buffer->memory),
		                        (size_t)offset, (size_t)end),
			err);
	chunk = malloc(TKB_MIB);
	if (chunk == NULL)
		return tkb_fail_nomem(err);
	for (; offset < end && rc == 0; offset += got) {
		const uint64_t left = end - offset;
		const size_t wanted = left < TKB_MIB ? (size_t)left : TKB_MIB;

		rc = tkb_blob_buffer_read(buffer, offset, chunk, wanted, &got,
		                          err);
		if (rc == 0 && got < wanted)
			rc = tkb_fail(err, TKB_ERR_IO,
			              "a temporary file is cut short");
		if (rc == 0)
			rc = sink->write(sink->self,
			                 (struct tkb_bytes){ chunk, got }, err);
	}
	return rc;
}

static int write_bytes(void *self, struct tkb_bytes bytes,
                       struct tkb_error *err)
{
	return tkb_blob_buffer_add(self, bytes, err);
}

struct tkb_sink tkb_blob_buffer_sink(struct tkb_blob_buffer *buffer)
{
	return (struct tkb_sink){ .write = write_bytes, .self = buffer };
}

static int read_at(void *self, uint64_t offset, void *data, size_t size,
                   size_t *got_out, struct tkb_error *err)
{
	return tkb_blob_buffer_read(self, offset, data, size, got_out, err);
}

struct tkb_source tkb_blob_buffer_source(struct tkb_blob_buffer *buffer)
{
	return (struct tkb_source){ .read_at = read_at, .self = buffer };
}
