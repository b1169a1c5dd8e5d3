/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include <tkbundle/remote.h>

#include "remote/redis/redis.h"

enum {
	REFS_LIMIT = 1024 * 1024
};

/* All records of a ref, at once. */
#define RECORDS_LIMIT ((size_t)256 * TKB_MIB)

/* The two keys of a ref, and a record in it. */
struct place {
	char records[TKB_REDIS_KEY_SIZE];
	char used[TKB_REDIS_KEY_SIZE];
	char hex[TKB_DIGEST_HEX_SIZE];
	char now[TKB_REDIS_NUMBER_SIZE];
};

static void find(const struct tkb_redis *redis, const char *ref,
                 const struct tkb_digest *digest, struct place *out)
{
	tkb_redis_key(redis, "ref", ref, out->records);
	tkb_redis_key(redis, "used", ref, out->used);
	tkb_redis_number(tkb_redis_now(redis), out->now);
	if (digest != NULL)
		tkb_digest_to_hex(digest, out->hex);
}

/* Returns how many answers come. */
static size_t ask_to_keep(struct tkb_redis *redis, const struct place *place)
{
	return tkb_redis_ask_to_keep(redis, place->records) +
	       tkb_redis_ask_to_keep(redis, place->used);
}

int tkb_redis_add(void *self, const struct tkb_op_limits *call, const char *ref,
                  const struct tkb_digest *digest, struct tkb_bytes record,
                  struct tkb_error *err)
{
	struct tkb_redis *redis = self;
	struct tkb_resp *resp = &redis->resp;
	struct place place;
	size_t courtesies;
	int64_t added = 0;
	int rc;

	rc = tkb_resp_settle(resp, call, err);
	if (rc < 0)
		return rc;
	find(redis, ref, digest, &place);
	tkb_resp_ask(resp, (const char *const[]){ "HSET", place.used, place.hex,
	                                          place.now, NULL });
	tkb_resp_ask_bytes(resp,
	                   (const struct tkb_bytes[]){
				   tkb_text("HSET"), tkb_text(place.records),
				   tkb_text(place.hex), record },
	                   4);
	courtesies = ask_to_keep(redis, &place);
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = tkb_redis_integer(redis, call, &added, err);
	return rc == 0 ? tkb_redis_skip(redis, call, courtesies, err) : rc;
}

int tkb_redis_drop(void *self, const struct tkb_op_limits *call,
                   const char *ref, const struct tkb_digest *digest,
                   struct tkb_error *err)
{
	struct tkb_redis *redis = self;
	struct tkb_resp *resp = &redis->resp;
	struct place place;
	int64_t dropped = 0;
	int rc;

	rc = tkb_resp_settle(resp, call, err);
	if (rc < 0)
		return rc;
	find(redis, ref, digest, &place);
	tkb_resp_ask(resp, (const char *const[]){ "HDEL", place.records,
	                                          place.hex, NULL });
	tkb_resp_ask(resp, (const char *const[]){ "HDEL", place.used, place.hex,
	                                          NULL });
	rc = tkb_redis_integer(redis, call, &dropped, err);
	if (rc == 0)
		rc = tkb_redis_skip(redis, call, 1, err);
	if (rc < 0)
		return rc;
	return dropped == 0 ? TKB_MISS : 0;
}

/* The time of a record that is not there is taken back. */
int tkb_redis_touch(void *self, const struct tkb_op_limits *call,
                    const char *ref, const struct tkb_digest *digest,
                    struct tkb_error *err)
{
	struct tkb_redis *redis = self;
	struct tkb_resp *resp = &redis->resp;
	struct place place;
	int64_t number = 0;
	int64_t is_there = 0;
	size_t courtesies;
	int rc;

	rc = tkb_resp_settle(resp, call, err);
	if (rc < 0)
		return rc;
	find(redis, ref, digest, &place);
	tkb_resp_ask(resp, (const char *const[]){ "HSET", place.used, place.hex,
	                                          place.now, NULL });
	tkb_resp_ask(resp, (const char *const[]){ "HEXISTS", place.records,
	                                          place.hex, NULL });
	courtesies = ask_to_keep(redis, &place);
	rc = tkb_redis_integer(redis, call, &number, err);
	if (rc == 0)
		rc = tkb_redis_integer(redis, call, &is_there, err);
	if (rc == 0)
		rc = tkb_redis_skip(redis, call, courtesies, err);
	if (rc < 0 || is_there != 0)
		return rc;
	tkb_resp_ask(resp, (const char *const[]){ "HDEL", place.used, place.hex,
	                                          NULL });
	rc = tkb_redis_skip(redis, call, 1, err);
	return rc < 0 ? rc : TKB_MISS;
}

/* When a record was used. */
struct stamp {
	struct tkb_digest digest;
	uint64_t age_s;
};

/* The answers of two hashes: fields and values in turn. */
struct listing {
	struct tkb_redis *redis;
	const struct tkb_op_limits *call;
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

static int compare_stamps(const void *a, const void *b)
{
	const struct stamp *left = a;
	const struct stamp *right = b;

	return memcmp(left->digest.bytes, right->digest.bytes,
	              sizeof(left->digest.bytes));
}

static bool read_field(const struct tkb_reply *hash, size_t index,
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

		if (!read_field(hash, i, &stamp->digest))
			continue;
		stamp->age_s =
			tkb_redis_age(listing->redis, hash->items[i + 1]->text);
		listing->stamp_count++;
	}
	if (listing->stamp_count > 1)
		qsort(listing->stamps, listing->stamp_count,
		      sizeof(*listing->stamps), compare_stamps);
	return 0;
}

static const struct stamp *find_stamp(const struct listing *listing,
                                      const struct tkb_digest *digest)
{
	const struct stamp wanted = { .digest = *digest };

	return bsearch(&wanted, listing->stamps, listing->stamp_count,
	               sizeof(wanted), compare_stamps);
}

static int fetch(struct listing *listing, const char *ref,
                 struct tkb_error *err)
{
	struct tkb_redis *redis = listing->redis;
	const struct tkb_reply *hash = NULL;
	struct place place;
	size_t courtesies;
	int rc;

	find(redis, ref, NULL, &place);
	tkb_resp_ask(&redis->resp,
	             (const char *const[]){ "HGETALL", place.used, NULL });
	tkb_resp_ask(&redis->resp,
	             (const char *const[]){ "HGETALL", place.records, NULL });
	courtesies = ask_to_keep(redis, &place);
	rc = tkb_redis_next(redis, listing->call, TKB_REPLY_ARRAY,
	                    RECORDS_LIMIT, &hash, err);
	if (rc == 0)
		rc = read_stamps(listing, hash, err);
	if (rc == 0)
		rc = tkb_redis_next(redis, listing->call, TKB_REPLY_ARRAY,
		                    RECORDS_LIMIT, &listing->records, err);
	if (rc < 0)
		return rc;
	tkb_resp_keep(&redis->resp, &listing->arena);
	return tkb_redis_skip(redis, listing->call, courtesies, err);
}

/* Those without a time get one: the server may have evicted it. */
static int date(struct listing *listing, const char *ref, struct tkb_error *err)
{
	struct tkb_redis *redis = listing->redis;
	struct tkb_digest digest;
	struct place place;
	size_t courtesies = 0;

	for (size_t i = 0; i + 1 < listing->records->count; i += 2) {
		if (!read_field(listing->records, i, &digest) ||
		    find_stamp(listing, &digest) != NULL)
			continue;
		find(redis, ref, &digest, &place);
		tkb_resp_ask(&redis->resp,
		             (const char *const[]){ "HSETNX", place.used,
		                                    place.hex, place.now,
		                                    NULL });
		courtesies++;
	}
	return tkb_redis_skip(redis, listing->call, courtesies, err);
}

int tkb_redis_records(void *self, const struct tkb_op_limits *call,
                      const char *ref, const struct tkb_record_visitor *visitor,
                      struct tkb_error *err)
{
	TKB_AUTO(listing_release)
	struct listing listing = { .redis = self, .call = call };
	int rc;

	rc = tkb_resp_settle(&listing.redis->resp, call, err);
	if (rc == 0)
		rc = fetch(&listing, ref, err);
	if (rc == 0)
		rc = date(&listing, ref, err);
	for (size_t i = 0; rc == 0 && i + 1 < listing.records->count; i += 2) {
		const struct stamp *stamp;
		struct tkb_digest digest;

		if (!read_field(listing.records, i, &digest))
			continue;
		stamp = find_stamp(&listing, &digest);
		rc = visitor->on_record(visitor->self, &digest,
		                        listing.records->items[i + 1]->text,
		                        stamp != NULL ? stamp->age_s : 0, err);
	}
	return rc;
}

/* The names of all refs. */
struct gathering {
	struct tkb_arena arena; /* owns the names */
	const char **items;     /* owned */
	size_t count;
	size_t capacity;
};

static void gathering_release(struct gathering *gathering)
{
	tkb_arena_release(&gathering->arena);
	free(gathering->items);
}

/* One that cannot be a ref's name is a key below a longer prefix. */
static int gather(void *self, const char *name, struct tkb_error *err)
{
	struct gathering *gathering = self;
	const char *kept;
	int rc;

	if (!tkb_ref_is_valid(name))
		return 0;
	if (gathering->count == REFS_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE, "more than %d refs",
		                REFS_LIMIT);
	kept = tkb_arena_string(&gathering->arena, tkb_text(name));
	if (kept == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_grow(&gathering->items, &gathering->capacity, gathering->count,
	              sizeof(*gathering->items), err);
	if (rc == 0)
		gathering->items[gathering->count++] = kept;
	return rc;
}

static int compare_names(const void *a, const void *b)
{
	const char *const *left = a;
	const char *const *right = b;

	return strcmp(*left, *right);
}

/* A scan may tell a key twice. */
int tkb_redis_refs(void *self, const struct tkb_op_limits *call,
                   const struct tkb_ref_visitor *visitor, struct tkb_error *err)
{
	TKB_AUTO(gathering_release) struct gathering found = { .count = 0 };
	const struct tkb_redis_scan scan = { "ref", gather, &found };
	struct tkb_redis *redis = self;
	int rc;

	rc = tkb_resp_settle(&redis->resp, call, err);
	if (rc == 0)
		rc = tkb_redis_scan(redis, call, &scan, err);
	if (found.count > 1)
		qsort(found.items, found.count, sizeof(*found.items),
		      compare_names);
	for (size_t i = 0; i < found.count && rc == 0; i++) {
		if (i == 0 || strcmp(found.items[i - 1], found.items[i]) != 0)
			rc = visitor->on_ref(visitor->self, found.items[i],
			                     err);
	}
	return rc;
}
