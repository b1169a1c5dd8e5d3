/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "remote/redis/redis.h"

enum {
	CHUNK = TKB_REDIS_CHUNK,
	CHUNK_ANSWER = CHUNK + 64, /* including bytes of the protocol */
	WINDOW = 4,                /* chunks requested ahead */
	BATCH = 512,               /* requests per batch */
	RENEWED = 64,              /* lifetimes per batch */
	BLOBS_LIMIT = 4 * 1024 * 1024,
	VALUE_LIMIT = 512 * 1024 * 1024 /* of Redis: proto-max-bulk-len */
};

static int fail_changed(struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_UNAVAILABLE,
	                "the blob changed while it was read");
}

/* A blob that is being received. */
struct download {
	struct tkb_redis *redis;
	const struct tkb_op_limits *limits;
	char key[TKB_REDIS_KEY_SIZE];
	uint64_t size;  /* size of the blob */
	uint64_t asked; /* bytes requested so far */
	uint64_t done;
};

static void ask_chunk(struct download *load)
{
	char first[TKB_REDIS_NUMBER_SIZE];
	char last[TKB_REDIS_NUMBER_SIZE];

	tkb_redis_number(load->asked, first);
	tkb_redis_number(load->asked + CHUNK - 1, last);
	tkb_resp_queue(&load->redis->resp, "GETRANGE", load->key, first, last);
	load->asked += CHUNK;
}

static int receive_blob(struct download *load, const struct tkb_sink *sink,
                        struct tkb_error *err)
{
	while (load->done < load->size) {
		const struct tkb_reply *reply = NULL;
		uint64_t wanted = load->size - load->done;
		int rc;

		while (load->asked < load->size &&
		       load->asked - load->done < (uint64_t)WINDOW * CHUNK)
			ask_chunk(load);
		if (wanted > CHUNK)
			wanted = CHUNK;
		rc = tkb_redis_next(load->redis, load->limits, TKB_REPLY_STRING,
		                    CHUNK_ANSWER, &reply, err);
		if (rc == 0 && reply->text.size != wanted)
			rc = fail_changed(err);
		if (rc == 0)
			rc = sink->write(sink->self, reply->text, err);
		if (rc < 0)
			return rc;
		load->done += wanted;
	}
	return 0;
}

/*
 * The key exists and has size 0: an empty blob, or one that was removed or put
 * between the two commands. A single command can tell.
 */
static int check_empty(struct download *load, struct tkb_error *err)
{
	const struct tkb_reply *reply = NULL;
	int rc;

	rc = tkb_resp_drain(&load->redis->resp, load->limits, err);
	if (rc < 0)
		return rc;
	tkb_resp_queue(&load->redis->resp, "GET", load->key);
	rc = tkb_redis_any(load->redis, load->limits, CHUNK_ANSWER, &reply,
	                   err);
	if (rc < 0)
		return rc;
	if (reply->kind == TKB_REPLY_NIL)
		return TKB_MISS;
	return reply->kind == TKB_REPLY_STRING && reply->text.size == 0
	               ? 0
	               : fail_changed(err);
}

/* Renew the lifetimes of blobs, if the server must be asked first. */
static int renew_blobs(struct tkb_redis *redis,
                       const struct tkb_op_limits *limits,
                       const struct tkb_digest *digests, size_t count,
                       struct tkb_error *err)
{
	char keys[RENEWED][TKB_REDIS_KEY_SIZE];
	const char *names[RENEWED];
	int rc = 0;

	if (!redis->asks_ttl)
		return 0;
	for (size_t at = 0; at < count && rc == 0; at += RENEWED) {
		size_t used = 0;

		for (; used < RENEWED && at + used < count; used++) {
			tkb_redis_blob_key(redis, &digests[at + used],
			                   keys[used]);
			names[used] = keys[used];
		}
		rc = tkb_redis_renew(redis, limits, names, used, err);
	}
	return rc;
}

static int redis_get(void *self, const struct tkb_op_limits *limits,
                     const struct tkb_digest *digest, uint64_t offset,
                     const struct tkb_sink *sink, struct tkb_error *err)
{
	struct download load = {
		.redis = self, .limits = limits, .asked = offset, .done = offset
	};
	struct tkb_resp *resp = &load.redis->resp;
	int64_t answers[2]; /* of STRLEN and EXISTS */
	size_t ignored;
	int rc;

	rc = tkb_resp_drain(resp, limits, err);
	if (rc < 0)
		return rc;
	tkb_redis_blob_key(load.redis, digest, load.key);
	rc = renew_blobs(load.redis, limits, digest, 1, err);
	if (rc < 0)
		return rc;
	tkb_resp_queue(resp, "STRLEN", load.key);
	tkb_resp_queue(resp, "EXISTS", load.key);
	ignored = tkb_redis_queue_expire(load.redis, load.key);
	ask_chunk(&load);
	rc = tkb_redis_integers(load.redis, limits, answers, 2, ignored, err);
	if (rc < 0)
		return rc;
	if (answers[0] <= 0)
		return answers[1] == 0 ? TKB_MISS : check_empty(&load, err);
	load.size = (uint64_t)answers[0];
	return receive_blob(&load, sink, err);
}

/* Read the bytes from `offset` to `offset + size` of the blob. */
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
				true; /* a command was sent in part */
			return rc;
		}
	}
	tkb_resp_end(&redis->resp);
	return 0;
}

static int redis_put(void *self, const struct tkb_op_limits *limits,
                     const struct tkb_digest *digest,
                     const struct tkb_blob *blob, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) char *chunk = malloc(chunk_at(blob, 0) + 1);
	struct tkb_redis *redis = self;
	int64_t added = 0;
	int rc;

	if (chunk == NULL)
		return tkb_fail_nomem(err);
	if (blob->size > VALUE_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "a blob of %llu bytes: Redis keeps at most 512 "
		                "MiB in a value",
		                (unsigned long long)blob->size);
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

static int redis_has(void *self, const struct tkb_op_limits *limits,
                     const struct tkb_digest *digests, size_t count, bool *out,
                     uint64_t *sizes, struct tkb_error *err)
{
	struct tkb_redis *redis = self;
	size_t ignored = 0;
	int rc;

	rc = tkb_resp_drain(&redis->resp, limits, err);
	if (rc == 0)
		rc = renew_blobs(redis, limits, digests, count, err);
	for (size_t i = 0; i < count && rc == 0; i++) {
		char key[TKB_REDIS_KEY_SIZE];

		tkb_redis_blob_key(redis, &digests[i], key);
		tkb_resp_queue(&redis->resp, "EXISTS", key);
		tkb_resp_queue(&redis->resp, "STRLEN", key);
		ignored = tkb_redis_queue_expire(redis, key);
	}
	for (size_t i = 0; i < count && rc == 0; i++) {
		int64_t answers[2] = { 0 }; /* of EXISTS and STRLEN */

		rc = tkb_redis_integers(redis, limits, answers, 2, ignored,
		                        err);
		out[i] = answers[0] != 0;
		if (sizes != NULL)
			sizes[i] = answers[1] > 0 ? (uint64_t)answers[1] : 0;
	}
	return rc;
}

static int redis_remove(void *self, const struct tkb_op_limits *limits,
                        const struct tkb_digest *digest, struct tkb_error *err)
{
	struct tkb_redis *redis = self;
	char key[TKB_REDIS_KEY_SIZE];
	char times[TKB_REDIS_KEY_SIZE];
	int64_t removed = 0;
	int rc;

	rc = tkb_resp_drain(&redis->resp, limits, err);
	if (rc < 0)
		return rc;
	tkb_redis_blob_key(redis, digest, key);
	tkb_redis_key(redis, "times", "cas", times);
	tkb_resp_queue(&redis->resp, "DEL", key);
	tkb_resp_queue(&redis->resp, "ZREM", times,
	               tkb_digest_hex(digest).text);
	rc = tkb_redis_integers(redis, limits, &removed, 1, 1, err);
	if (rc < 0)
		return rc;
	return removed == 0 ? TKB_MISS : 0;
}

static int gather_digest(void *self, const char *name, struct tkb_error *err)
{
	struct tkb_digests *found = self;
	struct tkb_digest digest;

	if (!tkb_digest_from_hex(tkb_text(name), &digest))
		return 0;
	if (found->count == BLOBS_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE, "more than %d blobs",
		                BLOBS_LIMIT);
	return tkb_digests_add(found, &digest, err);
}

struct facts {
	bool is_there;
	bool has_time;
	uint64_t size;
	uint64_t age_s;
};

static int read_facts(struct tkb_redis *redis,
                      const struct tkb_op_limits *limits, struct facts *facts,
                      struct tkb_error *err)
{
	const struct tkb_reply *reply = NULL;
	int64_t answers[2]; /* of STRLEN and EXISTS */
	int rc;

	rc = tkb_redis_integers(redis, limits, answers, 2, 0, err);
	if (rc == 0)
		rc = tkb_redis_any(redis, limits, CHUNK_ANSWER, &reply, err);
	if (rc != 0)
		return rc;
	facts->is_there = answers[1] != 0;
	facts->size = answers[0] > 0 ? (uint64_t)answers[0] : 0;
	facts->has_time = reply->kind == TKB_REPLY_STRING;
	facts->age_s = facts->has_time ? tkb_redis_age(redis, reply->text) : 0;
	return 0;
}

static int read_batch(struct tkb_redis *redis,
                      const struct tkb_op_limits *limits,
                      const struct tkb_digest *digests, size_t count,
                      struct facts *facts, struct tkb_error *err)
{
	struct tkb_resp *resp = &redis->resp;
	char times[TKB_REDIS_KEY_SIZE];
	size_t ignored = 0;
	int rc = 0;

	tkb_redis_key(redis, "times", "cas", times);
	for (size_t i = 0; i < count; i++) {
		char key[TKB_REDIS_KEY_SIZE];

		tkb_redis_blob_key(redis, &digests[i], key);
		tkb_resp_queue(resp, "STRLEN", key);
		tkb_resp_queue(resp, "EXISTS", key);
		tkb_resp_queue(resp, "ZSCORE", times,
		               tkb_digest_hex(&digests[i]).text);
	}
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = read_facts(redis, limits, &facts[i], err);
	for (size_t i = 0; i < count && rc == 0; i++) {
		if (facts[i].is_there && !facts[i].has_time) {
			tkb_redis_queue_time(redis, &digests[i]);
			ignored++;
		}
	}
	return rc == 0 ? tkb_redis_skip(redis, limits, ignored, err) : rc;
}

static int report_batch(struct tkb_redis *redis,
                        const struct tkb_op_limits *limits,
                        const struct tkb_digest *digests, size_t count,
                        const struct tkb_blob_visitor *visitor,
                        struct tkb_error *err)
{
	struct facts facts[BATCH] = { { .size = 0 } };
	int rc;

	rc = read_batch(redis, limits, digests, count, facts, err);
	for (size_t i = 0; i < count && rc == 0; i++) {
		if (facts[i].is_there)
			rc = visitor->on_blob(visitor->self, &digests[i],
			                      facts[i].size, facts[i].age_s,
			                      err);
	}
	return rc;
}

static int redis_list(void *self, const struct tkb_op_limits *limits,
                      const struct tkb_blob_visitor *visitor,
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_digests_release) struct tkb_digests found = { 0 };
	const struct tkb_redis_scan scan = { "cas", gather_digest, &found };
	struct tkb_redis *redis = self;
	int rc;

	rc = tkb_resp_drain(&redis->resp, limits, err);
	if (rc == 0)
		rc = tkb_redis_scan(redis, limits, &scan, err);
	tkb_digests_sort(&found); /* SCAN may return a key twice */
	for (size_t at = 0; at < found.count && rc == 0; at += BATCH)
		rc = report_batch(redis, limits, found.items + at,
		                  found.count - at < BATCH ? found.count - at
		                                           : BATCH,
		                  visitor, err);
	return rc;
}

const struct tkb_remote_backend tkb_backend_redis = {
	.abi = TKB_REMOTE_BACKEND_ABI,
	.is_shared = true,
	.schemes =
		(const char *const[]){ "redis", "rediss", "redis+unix", NULL },
	.params =
		(const char *const[]){ "cafile", "cert", "db", "key", "prefix",
	                               "server-name", "triton-key-format",
	                               "ttl", "verify", NULL },
	.open = tkb_redis_open,
	.close = tkb_redis_close,
	.get = redis_get,
	.put = redis_put,
	.has = redis_has,
	.remove = redis_remove,
	.list = redis_list,
	.add = tkb_redis_add,
	.records = tkb_redis_records,
	.drop = tkb_redis_drop,
	.touch = tkb_redis_touch,
	.refs = tkb_redis_refs,
	.put_named = tkb_redis_put_named,
};
