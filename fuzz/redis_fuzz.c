/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include "base/clock.h"
#include "remote/redis/redis.h"
#include <tkbundle/remote.h>

/*
 * The Redis backend against any server. The first byte selects the operation,
 * the second the size of the pieces in which answers arrive.
 */

enum {
	DIGESTS = 3
};

struct told {
	uint64_t size;
	size_t count;
};

static int take_bytes(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	struct told *told = self;

	(void)err;
	told->size += bytes.size;
	told->count++;
	return 0;
}

static int take_blob(void *self, const struct tkb_digest *digest, uint64_t size,
                     uint64_t age_s, struct tkb_error *err)
{
	struct told *told = self;

	(void)digest, (void)size, (void)age_s, (void)err;
	told->count++;
	return 0;
}

static int take_record(void *self, const struct tkb_digest *digest,
                       struct tkb_bytes record, uint64_t age_s,
                       struct tkb_error *err)
{
	const char *text = record.data;
	struct told *told = self;

	(void)digest, (void)age_s, (void)err;
	MUST(text != NULL && text[record.size] == '\0');
	told->count++;
	return 0;
}

static int take_ref(void *self, const char *ref, struct tkb_error *err)
{
	struct told *told = self;

	(void)err;
	MUST(tkb_ref_is_valid(ref));
	told->count++;
	return 0;
}

/* Redis never refuses a single record. */
static int take_unread(void *self, const struct tkb_digest *digest,
                       const struct tkb_error *why, struct tkb_error *err)
{
	(void)self, (void)digest, (void)why, (void)err;
	MUST(false);
	return 0;
}

static int do_get(struct tkb_redis *redis, const struct tkb_op_limits *call,
                  uint64_t offset, struct tkb_error *err)
{
	const struct tkb_digest digest = { { 1 } };
	struct told told = { .size = 0 };
	const struct tkb_sink sink = { take_bytes, &told };
	const int rc =
		tkb_backend_redis.get(redis, call, &digest, offset, &sink, err);

	MUST(rc != TKB_MISS || told.count == 0);
	return rc;
}

static int do_put(struct tkb_redis *redis, const struct tkb_op_limits *call,
                  struct tkb_error *err)
{
	static const struct tkb_named items[] = { { "a", { "1", 1 } },
		                                  { "b", { "", 0 } } };
	const struct tkb_digest digest = { { 1 } };
	const struct tkb_bytes bytes = { "blob", 4 };
	const struct tkb_blob blob = { 4, tkb_memory_source(&bytes) };
	int rc;

	rc = tkb_backend_redis.put(redis, call, &digest, &blob, err);
	if (rc == 0)
		rc = tkb_backend_redis.add(redis, call, "ref", &digest, bytes,
		                           err);
	if (rc == 0)
		rc = tkb_backend_redis.put_named(redis, call, items, 2, err);
	return rc == 0 ? tkb_backend_redis.put_named(redis, call, items, 2, err)
	               : rc;
}

static int do_what(uint8_t wish, struct tkb_redis *redis,
                   const struct tkb_op_limits *call, struct tkb_error *err)
{
	const struct tkb_digest digests[DIGESTS] = { { { 1 } } };
	struct told told = { .size = 0 };
	bool has[DIGESTS];
	uint64_t sizes[DIGESTS];

	switch (wish % 8) {
	case 0:
		return do_get(redis, call, 0, err);
	case 1:
		return do_get(redis, call, 3, err);
	case 2:
		return tkb_backend_redis.has(redis, call, digests, DIGESTS, has,
		                             sizes, err);
	case 3:
		return tkb_backend_redis.list(
			redis, call,
			&(struct tkb_blob_visitor){ take_blob, &told }, err);
	case 4:
		return tkb_backend_redis.records(
			redis, call, "ref",
			&(struct tkb_record_visitor){ .on_record = take_record,
		                                      .self = &told,
		                                      .on_unread =
		                                              take_unread },
			err);
	case 5:
		return tkb_backend_redis.refs(
			redis, call,
			&(struct tkb_ref_visitor){ take_ref, &told }, err);
	case 6:
		return do_put(redis, call, err);
	default:
		return tkb_backend_redis.touch(redis, call, "ref", digests,
		                               err);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct tkb_remote_url url = { .host = "peer" };
	const struct tkb_peer peer = { .url = &url, .port = 1 };
	const struct tkb_watch watch = { .struct_size = sizeof(watch) };
	const struct tkb_op_limits call = { .watch = &watch };
	struct tkb_redis redis = { .prefix = "tkbundle", .clock_s = 1 };
	struct tkb_error err = { 0 };
	int rc;

	if (size < 2)
		return 0;
	if (data[0] >= 128)
		tkb_redis_number(1000, redis.ttl);
	redis.clock_ns = tkb_now_ns();
	fuzz_peer_say((struct tkb_bytes){ data + 2, size - 2 },
	              data[1] == 0 ? size : data[1]);
	MUST_OK(tkb_resp_open(&redis.resp, &peer, &call, &err), &err);
	rc = do_what(data[0], &redis, &call, &err);
	MUST(rc == 0 || rc == TKB_MISS || rc == TKB_ERR_UNAVAILABLE ||
	     rc == TKB_ERR_DENIED || rc == TKB_ERR_INVALID);
	MUST(rc >= 0 || (err.status == rc && err.message[0] != '\0'));
	tkb_resp_close(&redis.resp);
	return 0;
}
