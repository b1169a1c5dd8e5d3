/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "remote/redis/redis.h"

enum {
	CHUNK = TKB_REDIS_CHUNK
};

/* Bytes `offset` to `offset + size` of the blob. */
static int read_chunk(const struct tkb_blob *blob, uint64_t offset, char *data,
                      size_t size, struct tkb_error *err)
{
	size_t done = 0;

	while (done < size) {
		size_t got = 0;
		int rc;

		rc = blob->source.read_at(blob->source.self, offset + done,
		                          data + done, size - done, &got, err);
		if (rc < 0)
			return rc;
		if (got == 0)
			return tkb_fail(err, TKB_ERR_IO,
			                "the blob is cut short");
		done += got;
	}
	return 0;
}

static size_t chunk_at(const struct tkb_blob *blob, uint64_t offset)
{
	const uint64_t left = blob->size - offset;

	return left < CHUNK ? (size_t)left : CHUNK;
}

/*
 * The blob is one argument of one command, which the server executes when all
 * of it has arrived: no reader sees a part, and a writer that dies leaves
 * nothing.
 */
static int send_blob(struct tkb_redis *redis,
                     const struct tkb_op_limits *limits,
                     const struct tkb_digest *digest,
                     const struct tkb_blob *blob, char *chunk,
                     struct tkb_error *err)
{
	char key[TKB_REDIS_KEY_SIZE];
	uint64_t offset = 0;
	size_t size = chunk_at(blob, 0);
	int rc;

	rc = read_chunk(blob, 0, chunk, size, err);
	if (rc < 0)
		return rc;
	tkb_redis_blob_key(redis, digest, key);
	tkb_redis_begin_set(redis, key, blob->size);
	for (;;) {
		tkb_resp_add(&redis->resp, (struct tkb_bytes){ chunk, size });
		offset += size;
		if (offset == blob->size ||
		    tkb_connection_is_hung_up(redis->resp.connection))
			break;
		rc = tkb_resp_send(&redis->resp, limits, err);
		size = chunk_at(blob, offset);
		if (rc == 0)
			rc = read_chunk(blob, offset, chunk, size, err);
		if (rc < 0) {
			redis->resp.is_broken =
				true; /* in the middle of a command */
			return rc;
		}
	}
	tkb_resp_end(&redis->resp);
	return 0;
}

int tkb_redis_put(void *self, const struct tkb_op_limits *limits,
                  const struct tkb_digest *digest, const struct tkb_blob *blob,
                  struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) char *chunk = malloc(chunk_at(blob, 0) + 1);
	struct tkb_redis *redis = self;
	int64_t added = 0;
	int rc;

	if (chunk == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_resp_drain(&redis->resp, limits, err);
	if (rc == 0)
		rc = send_blob(redis, limits, digest, blob, chunk, err);
	if (rc < 0)
		return rc;
	tkb_redis_queue_time(redis, digest);
	rc = tkb_redis_done(redis, limits, err);
	return rc == 0 ? tkb_redis_integers(redis, limits, &added, 1, 0, err)
	               : rc;
}
