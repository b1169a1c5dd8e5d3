/* SPDX-License-Identifier: Apache-2.0 */

#include "remote/redis/redis.h"

/*
 * Renewing the lifetime of keys, without making any shorter: other clients may
 * have a longer TTL, or none. Redis has PEXPIRE with GT for this, but only since
 * version 7. Older servers are asked first what is left (PTTL).
 */

enum {
	SHORT = 64 * 1024
};

void tkb_redis_queue_ttl_test(struct tkb_redis *redis)
{
	char key[TKB_REDIS_KEY_SIZE];

	tkb_redis_key(redis, "used", "", key); /* no ref has this name */
	tkb_resp_queue(&redis->resp, "PEXPIRE", key, redis->ttl, "GT");
}

int tkb_redis_read_ttl_test(struct tkb_redis *redis,
                            const struct tkb_op_limits *limits,
                            struct tkb_error *err)
{
	const struct tkb_reply *reply = NULL;
	int rc;

	rc = tkb_resp_next(&redis->resp, limits, SHORT, &reply, err);
	if (rc < 0)
		return rc;
	redis->asks_ttl = reply->kind == TKB_REPLY_ERROR &&
	                  tkb_begins_with(reply->text.data, "ERR ");
	return 0;
}

size_t tkb_redis_queue_expire(struct tkb_redis *redis, const char *key)
{
	if (redis->ttl[0] == '\0' || redis->asks_ttl)
		return 0;
	tkb_resp_queue(&redis->resp, "PEXPIRE", key, redis->ttl, "GT");
	return 1;
}

void tkb_redis_queue_first_expire(struct tkb_redis *redis, const char *key)
{
	tkb_resp_queue(&redis->resp, "PEXPIRE", key, redis->ttl);
}

/*
 * Is less than three quarters of the TTL left? Not if the key never expires. If
 * the right to ask is missing, what is used shall live on.
 */
static bool is_due(const struct tkb_redis *redis, const struct tkb_reply *left)
{
	uint64_t ttl_ms = 0;

	if (left->kind == TKB_REPLY_ERROR)
		return true;
	(void)tkb_redis_read_number(tkb_text(redis->ttl), &ttl_ms);
	return left->kind == TKB_REPLY_INTEGER && left->integer >= 0 &&
	       (uint64_t)left->integer < ttl_ms / 4 * 3;
}

int tkb_redis_renew(struct tkb_redis *redis, const struct tkb_op_limits *limits,
                    const char *const *keys, size_t count,
                    struct tkb_error *err)
{
	size_t due = 0;
	int rc = 0;

	if (!redis->asks_ttl)
		return 0;
	for (size_t i = 0; i < count; i++)
		tkb_resp_queue(&redis->resp, "PTTL", keys[i]);
	for (size_t i = 0; i < count && rc == 0; i++) {
		const struct tkb_reply *left = NULL;

		rc = tkb_resp_next(&redis->resp, limits, SHORT, &left, err);
		if (rc == 0 && is_due(redis, left)) {
			tkb_redis_queue_first_expire(redis, keys[i]);
			due++;
		}
	}
	return rc == 0 ? tkb_redis_skip(redis, limits, due, err) : rc;
}
