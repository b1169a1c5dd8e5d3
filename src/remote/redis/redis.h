/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_REDIS_REDIS_H
#define TKB_REMOTE_REDIS_REDIS_H

/*
 * Redis. These are the keys; the prefix is "tkbundle" by default:
 *
 *     <prefix>:cas:<sha256>    a blob: a string
 *     <prefix>:times:cas       when blobs were put: a sorted set of digests
 *     <prefix>:ref:<name>      a ref: a hash, digest to record
 *     <prefix>:used:<name>     when its records were used: a hash, digest to
 *                              seconds
 *
 * After the prefix, each key has two parts without a colon. So keys do not
 * collide if one prefix is the beginning of another.
 *
 * Only the first and third keys tell what exists, since the server may evict
 * any key at any time. A missing time is set to now, so that its blob or record
 * still ages. Times are by the server's clock.
 *
 * With a TTL, each put, add, get, has or listing of records renews the
 * lifetime, and none but a put makes one shorter: entries that are pulled every
 * day never expire.
 *
 * A user (ACL) needs the keys `~<prefix>:*`, and these commands:
 *
 *     to pull  time exists strlen get getrange hgetall hexists hset hdel
 *     to push  all of these and set zadd hsetnx
 *     for gc   all of these and scan zscore del zrem
 *     with ?ttl=  pexpire, and to push psetex; before Redis 7 also pttl
 *     with a database select
 *     for Triton's layout, whose keys are not below the prefix (`~triton:*`)
 *                 time multi exec, and set or psetex
 *
 * Without hset, hexists and hdel a pull works, but cannot note that it used
 * a record.
 */

#include "base/digest.h"
#include "remote/backends.h"
#include "remote/redis/resp.h"

enum {
	TKB_REDIS_CHUNK = 1024 * 1024, /* bytes of a large blob moved at once */
	TKB_REDIS_PREFIX_LIMIT = 64,
	TKB_REDIS_KEY_SIZE = 320,
	TKB_REDIS_NUMBER_SIZE = 24
};

struct tkb_redis {
	struct tkb_resp resp;
	const char *prefix;              /* the URL's */
	char ttl[TKB_REDIS_NUMBER_SIZE]; /* in ms; "" if nothing expires */
	uint64_t clock_s;                /* the server's time when */
	uint64_t clock_ns;               /* our clock was this */
	bool asks_ttl;  /* there is a TTL, and PEXPIRE knows no GT */
	bool may_begin; /* tested: transactions are allowed */
};

/* Seconds, by the server's clock. */
uint64_t tkb_redis_now(const struct tkb_redis *redis);

/* The age in seconds of the time in `text`; 0 if it is not a time. */
uint64_t tkb_redis_age(const struct tkb_redis *redis, struct tkb_bytes text);

void tkb_redis_number(uint64_t number, char out[TKB_REDIS_NUMBER_SIZE]);

/* Write the key "<prefix>:<kind>:<name>". */
void tkb_redis_key(const struct tkb_redis *redis, const char *kind,
                   const char *name, char out[TKB_REDIS_KEY_SIZE]);
void tkb_redis_blob_key(const struct tkb_redis *redis,
                        const struct tkb_digest *digest,
                        char out[TKB_REDIS_KEY_SIZE]);

/* Read a number; false unless `text` has only digits. */
bool tkb_redis_read_number(struct tkb_bytes text, uint64_t *out);

/*
 * Queue a renewal of `key`'s lifetime by the TTL, if there is one and the server
 * need not be asked first. Returns the number of answers.
 */
size_t tkb_redis_queue_expire(struct tkb_redis *redis, const char *key);

/*
 * Renew the lifetimes of keys on a server that is asked first; else do nothing.
 * Call it before commands that may be refused are queued.
 */
TKB_NODISCARD int tkb_redis_renew(struct tkb_redis *redis,
                                  const struct tkb_op_limits *limits,
                                  const char *const *keys, size_t count,
                                  struct tkb_error *err);

/* Queue the TTL of a key that was just created. There is one answer. */
void tkb_redis_queue_first_expire(struct tkb_redis *redis, const char *key);

/* Find out whether the server must be asked first. There is one answer. */
void tkb_redis_queue_ttl_test(struct tkb_redis *redis);
TKB_NODISCARD int tkb_redis_read_ttl_test(struct tkb_redis *redis,
                                          const struct tkb_op_limits *limits,
                                          struct tkb_error *err);

/* Queue setting the time of a blob to now. There is one answer. */
void tkb_redis_queue_time(struct tkb_redis *redis,
                          const struct tkb_digest *digest);

/* Begin to set `key` to `size` bytes, with the TTL if there is one. */
void tkb_redis_begin_set(struct tkb_redis *redis, const char *key,
                         uint64_t size);

/* Fail with TKB_ERR_UNAVAILABLE: the answer is not one that Redis gives. */
int tkb_redis_fail_answer(struct tkb_error *err);

/*
 * Explain a refusal that Redis is known for. Returns its status, or 0 for any
 * other.
 */
int tkb_redis_explain(const char *text, struct tkb_error *err);

/*
 * Get the next answer, of at most `limit` bytes. An error reply is a failure.
 */
TKB_NODISCARD int tkb_redis_any(struct tkb_redis *redis,
                                const struct tkb_op_limits *limits,
                                size_t limit, const struct tkb_reply **out,
                                struct tkb_error *err);

/* The same; the answer must be of `kind`. */
TKB_NODISCARD int tkb_redis_next(struct tkb_redis *redis,
                                 const struct tkb_op_limits *limits,
                                 enum tkb_reply_kind kind, size_t limit,
                                 const struct tkb_reply **out,
                                 struct tkb_error *err);

/*
 * Get the next `count` answers, which must be integers; then skip `ignored`
 * ones.
 */
TKB_NODISCARD int tkb_redis_integers(struct tkb_redis *redis,
                                     const struct tkb_op_limits *limits,
                                     int64_t *out, size_t count, size_t ignored,
                                     struct tkb_error *err);

/* Get the next answer, which must say that the command succeeded. */
TKB_NODISCARD int tkb_redis_done(struct tkb_redis *redis,
                                 const struct tkb_op_limits *limits,
                                 struct tkb_error *err);

/* Skip `count` answers, even errors. */
TKB_NODISCARD int tkb_redis_skip(struct tkb_redis *redis,
                                 const struct tkb_op_limits *limits,
                                 size_t count, struct tkb_error *err);

/* Called for each key "<prefix>:<kind>:<name>", for some more than once. */
struct tkb_redis_scan {
	const char *kind;
	int (*on_name)(void *self, const char *name, struct tkb_error *err);
	void *self;
};

TKB_NODISCARD int tkb_redis_scan(struct tkb_redis *redis,
                                 const struct tkb_op_limits *limits,
                                 const struct tkb_redis_scan *scan,
                                 struct tkb_error *err);

/* Functions of struct tkb_remote_backend. */
int tkb_redis_open(const struct tkb_remote_url *url,
                   const struct tkb_op_limits *limits, void **self_out,
                   struct tkb_error *err);
void tkb_redis_close(void *self);
int tkb_redis_add(void *self, const struct tkb_op_limits *limits,
                  const char *ref, const struct tkb_digest *digest,
                  struct tkb_bytes record, struct tkb_error *err);
int tkb_redis_records(void *self, const struct tkb_op_limits *limits,
                      const char *ref, const struct tkb_record_visitor *visitor,
                      struct tkb_error *err);
int tkb_redis_drop(void *self, const struct tkb_op_limits *limits,
                   const char *ref, const struct tkb_digest *digest,
                   struct tkb_error *err);
int tkb_redis_touch(void *self, const struct tkb_op_limits *limits,
                    const char *ref, const struct tkb_digest *digest,
                    struct tkb_error *err);
int tkb_redis_refs(void *self, const struct tkb_op_limits *limits,
                   const struct tkb_ref_visitor *visitor,
                   struct tkb_error *err);
int tkb_redis_put_named(void *self, const struct tkb_op_limits *limits,
                        const struct tkb_named *items, size_t count,
                        struct tkb_error *err);

#endif
