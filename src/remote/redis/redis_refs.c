/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include <tkbundle/remote.h>

#include "remote/redis/redis.h"

/* Limit on all records of a ref, which arrive in one answer. */
#define RECORDS_LIMIT ((size_t)256 * TKB_MIB)

/* The two keys of a ref, and a record in it. */
struct keys {
	char records[TKB_REDIS_KEY_SIZE];
	char used[TKB_REDIS_KEY_SIZE];
	char hex[TKB_DIGEST_HEX_SIZE];
	char now[TKB_REDIS_NUMBER_SIZE];
};

static void make_keys(const struct tkb_redis *redis, const char *ref,
                      const struct tkb_digest *digest, struct keys *out)
{
	tkb_redis_key(redis, "ref", ref, out->records);
	tkb_redis_key(redis, "used", ref, out->used);
	tkb_redis_number(tkb_redis_now(redis), out->now);
	if (digest != NULL)
		tkb_digest_to_hex(digest, out->hex);
}

static int renew(struct tkb_redis *redis, const struct tkb_op_limits *limits,
                 const struct keys *keys, struct tkb_error *err)
{
	const char *const names[] = { keys->records, keys->used };

	return tkb_redis_renew(redis, limits, names, TKB_COUNT_OF(names), err);
}

/* Returns the number of answers. */
static size_t queue_expire(struct tkb_redis *redis, const struct keys *keys)
{
	return tkb_redis_queue_expire(redis, keys->records) +
	       tkb_redis_queue_expire(redis, keys->used);
}

/* Do the two keys of a ref exist? Without a TTL, nobody wants to know. */
static int ask_for_keys(struct tkb_redis *redis,
                        const struct tkb_op_limits *limits,
                        const struct keys *keys, int64_t exist[2],
                        struct tkb_error *err)
{
	exist[0] = exist[1] = 1;
	if (redis->ttl[0] == '\0')
		return 0;
	tkb_resp_queue(&redis->resp, "EXISTS", keys->records);
	tkb_resp_queue(&redis->resp, "EXISTS", keys->used);
	return tkb_redis_integers(redis, limits, exist, 2, 0, err);
}

/*
 * Set the TTL of the keys that did not exist before, together with their first
 * value: later, nobody could tell that they are to have one.
 */
static size_t queue_first_expire(struct tkb_redis *redis,
                                 const struct keys *keys,
                                 const int64_t existed[2])
{
	if (existed[0] == 0)
		tkb_redis_queue_first_expire(redis, keys->records);
	if (existed[1] == 0)
		tkb_redis_queue_first_expire(redis, keys->used);
	return (size_t)(existed[0] == 0) + (size_t)(existed[1] == 0);
}

int tkb_redis_add(void *self, const struct tkb_op_limits *limits,
                  const char *ref, const struct tkb_digest *digest,
                  struct tkb_bytes record, struct tkb_error *err)
{
	struct tkb_redis *redis = self;
	struct tkb_resp *resp = &redis->resp;
	struct keys keys;
	size_t ignored;
	int64_t existed[2];
	int64_t answers[2];
	int rc;

	rc = tkb_resp_drain(resp, limits, err);
	make_keys(redis, ref, digest, &keys);
	if (rc == 0)
		rc = renew(redis, limits, &keys, err);
	if (rc == 0)
		rc = ask_for_keys(redis, limits, &keys, existed, err);
	if (rc < 0)
		return rc;
	tkb_resp_queue(resp, "HSET", keys.used, keys.hex, keys.now);
	tkb_resp_queue_bytes(resp,
	                     (const struct tkb_bytes[]){
				     tkb_text("HSET"), tkb_text(keys.records),
				     tkb_text(keys.hex), record },
	                     4);
	ignored = queue_expire(redis, &keys) +
	          queue_first_expire(redis, &keys, existed);
	return tkb_redis_integers(redis, limits, answers, 2, ignored, err);
}

int tkb_redis_drop(void *self, const struct tkb_op_limits *limits,
                   const char *ref, const struct tkb_digest *digest,
                   struct tkb_error *err)
{
	struct tkb_redis *redis = self;
	struct tkb_resp *resp = &redis->resp;
	struct keys keys;
	int64_t dropped = 0;
	int rc;

	rc = tkb_resp_drain(resp, limits, err);
	if (rc < 0)
		return rc;
	make_keys(redis, ref, digest, &keys);
	tkb_resp_queue(resp, "HDEL", keys.records, keys.hex);
	tkb_resp_queue(resp, "HDEL", keys.used, keys.hex);
	rc = tkb_redis_integers(redis, limits, &dropped, 1, 1, err);
	if (rc < 0)
		return rc;
	return dropped == 0 ? TKB_MISS : 0;
}

/* Set the time first, and remove it again if the record does not exist. */
int tkb_redis_touch(void *self, const struct tkb_op_limits *limits,
                    const char *ref, const struct tkb_digest *digest,
                    struct tkb_error *err)
{
	struct tkb_redis *redis = self;
	struct tkb_resp *resp = &redis->resp;
	struct keys keys;
	int64_t answers[2]; /* of HSET and HEXISTS */
	size_t ignored;
	int rc;

	rc = tkb_resp_drain(resp, limits, err);
	make_keys(redis, ref, digest, &keys);
	if (rc == 0)
		rc = renew(redis, limits, &keys, err);
	if (rc < 0)
		return rc;
	tkb_resp_queue(resp, "HSET", keys.used, keys.hex, keys.now);
	tkb_resp_queue(resp, "HEXISTS", keys.records, keys.hex);
	ignored = queue_expire(redis, &keys);
	rc = tkb_redis_integers(redis, limits, answers, 2, ignored, err);
	if (rc < 0 || answers[1] != 0)
		return rc;
	tkb_resp_queue(resp, "HDEL", keys.used, keys.hex);
	rc = tkb_redis_skip(redis, limits, 1, err);
	return rc < 0 ? rc : TKB_MISS;
}

/* When a record was last used. */
struct stamp {
	struct tkb_digest digest;
	uint64_t age_s;
};

/* The contents of two hashes: field, value, field, value, and so on. */
struct listing {
	struct tkb_redis *redis;
	const struct tkb_op_limits *limits;
	const struct tkb_reply *records;
	struct tkb_arena arena; /* owns the records */
	struct stamp *stamps;   /* owned; by digest */
	size_t stamp_count;
};

static void listing_release(struct listing *listing)
{
	tkb_arena_release(&listing->arena);
	free(listing->stamps);
}

static bool read_digest_field(const struct tkb_reply *hash, size_t index,
                              struct tkb_digest *out)
{
	return hash->items[index]->kind == TKB_REPLY_STRING &&
	       hash->items[index + 1]->kind == TKB_REPLY_STRING &&
	       tkb_digest_from_hex(hash->items[index]->text, out);
}

static int read_stamps(struct listing *listing, const struct tkb_reply *hash,
                       struct tkb_error *err)
{
	listing->stamps =
		tkb_alloc_array(hash->count / 2, sizeof(*listing->stamps));
	if (listing->stamps == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i + 1 < hash->count; i += 2) {
		struct stamp *stamp = &listing->stamps[listing->stamp_count];

		if (!read_digest_field(hash, i, &stamp->digest))
			continue;
		stamp->age_s =
			tkb_redis_age(listing->redis, hash->items[i + 1]->text);
		listing->stamp_count++;
	}
	tkb_sort(listing->stamps, listing->stamp_count,
	         sizeof(*listing->stamps), tkb_compare_digests);
	return 0;
}

static const struct stamp *find_stamp(const struct listing *listing,
                                      const struct tkb_digest *digest)
{
	return bsearch(digest, listing->stamps, listing->stamp_count,
	               sizeof(*listing->stamps), tkb_compare_digests);
}

static int fetch_ref_records(struct listing *listing, const char *ref,
                             struct tkb_error *err)
{
	struct tkb_redis *redis = listing->redis;
	const struct tkb_reply *hash = NULL;
	struct keys keys;
	size_t ignored;
	int rc;

	make_keys(redis, ref, NULL, &keys);
	rc = renew(redis, listing->limits, &keys, err);
	if (rc < 0)
		return rc;
	tkb_resp_queue(&redis->resp, "HGETALL", keys.used);
	tkb_resp_queue(&redis->resp, "HGETALL", keys.records);
	ignored = queue_expire(redis, &keys);
	rc = tkb_redis_next(redis, listing->limits, TKB_REPLY_ARRAY,
	                    RECORDS_LIMIT, &hash, err);
	if (rc == 0)
		rc = read_stamps(listing, hash, err);
	if (rc == 0)
		rc = tkb_redis_next(redis, listing->limits, TKB_REPLY_ARRAY,
		                    RECORDS_LIMIT, &listing->records, err);
	if (rc < 0)
		return rc;
	tkb_resp_keep_reply(&redis->resp, &listing->arena);
	return tkb_redis_skip(redis, listing->limits, ignored, err);
}

/* Set the time of records that have none: the server may have evicted it. */
static int set_missing_times(struct listing *listing, const char *ref,
                             struct tkb_error *err)
{
	struct tkb_redis *redis = listing->redis;
	struct tkb_digest digest;
	struct keys keys;
	size_t ignored = 0;

	for (size_t i = 0; i + 1 < listing->records->count; i += 2) {
		if (!read_digest_field(listing->records, i, &digest) ||
		    find_stamp(listing, &digest) != NULL)
			continue;
		make_keys(redis, ref, &digest, &keys);
		tkb_resp_queue(&redis->resp, "HSETNX", keys.used, keys.hex,
		               keys.now);
		ignored++;
	}
	return tkb_redis_skip(redis, listing->limits, ignored, err);
}

int tkb_redis_records(void *self, const struct tkb_op_limits *limits,
                      const char *ref, const struct tkb_record_visitor *visitor,
                      struct tkb_error *err)
{
	TKB_AUTO(listing_release)
	struct listing listing = { .redis = self, .limits = limits };
	int rc;

	rc = tkb_resp_drain(&listing.redis->resp, limits, err);
	if (rc == 0)
		rc = fetch_ref_records(&listing, ref, err);
	if (rc == 0)
		rc = set_missing_times(&listing, ref, err);
	for (size_t i = 0; rc == 0 && i + 1 < listing.records->count; i += 2) {
		const struct stamp *stamp;
		struct tkb_digest digest;

		if (!read_digest_field(listing.records, i, &digest))
			continue;
		stamp = find_stamp(&listing, &digest);
		rc = visitor->on_record(visitor->self, &digest,
		                        listing.records->items[i + 1]->text,
		                        stamp != NULL ? stamp->age_s : 0, err);
	}
	return rc;
}

/*
 * Report a ref. A key that is not the name of a ref belongs to a longer prefix.
 */
static int report_key_ref(void *self, const char *name, struct tkb_error *err)
{
	const struct tkb_ref_visitor *visitor = self;

	return tkb_ref_is_valid(name)
	               ? visitor->on_ref(visitor->self, name, err)
	               : 0;
}

int tkb_redis_refs(void *self, const struct tkb_op_limits *limits,
                   const struct tkb_ref_visitor *visitor, struct tkb_error *err)
{
	struct tkb_ref_visitor copy = *visitor;
	const struct tkb_redis_scan scan = { "ref", report_key_ref, &copy };
	struct tkb_redis *redis = self;
	int rc;

	rc = tkb_resp_drain(&redis->resp, limits, err);
	return rc == 0 ? tkb_redis_scan(redis, limits, &scan, err) : rc;
}
