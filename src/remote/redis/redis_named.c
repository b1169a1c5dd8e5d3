/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/redis/redis.h"

enum {
	SHORT = 64 * 1024
};

/* One word of one command; it is sent in pieces. */
static int ask_to_set(struct tkb_redis *redis, const struct tkb_op_limits *call,
                      const struct tkb_named *item, struct tkb_error *err)
{
	struct tkb_resp *resp = &redis->resp;
	const struct tkb_bytes bytes = item->bytes;
	size_t done = 0;
	int rc = 0;

	if (redis->ttl[0] == '\0')
		tkb_resp_begin(resp,
		               (const char *const[]){ "SET", item->name, NULL },
		               bytes.size);
	else
		tkb_resp_begin(resp,
		               (const char *const[]){ "PSETEX", item->name,
		                                      redis->ttl, NULL },
		               bytes.size);
	while (done < bytes.size && !resp->net.wire.is_hung_up && rc == 0) {
		size_t end = bytes.size;

		if (end - done > TKB_REDIS_CHUNK)
			end = done + TKB_REDIS_CHUNK;
		tkb_resp_add(resp, tkb_bytes_slice(bytes, done, end));
		if (resp->out.size >= TKB_REDIS_CHUNK)
			rc = tkb_resp_send(resp, call, err);
		done = end;
	}
	tkb_resp_end(resp);
	return rc;
}

/* Of each command in the transaction: "OK". */
static int check_results(const struct tkb_reply *reply, size_t count,
                         struct tkb_error *err)
{
	int rc;

	if (reply->count != count)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "its answer is not one that Redis gives");
	for (size_t i = 0; i < count; i++) {
		const struct tkb_reply *item = reply->items[i];

		if (item->kind == TKB_REPLY_STATUS)
			continue;
		rc = item->kind == TKB_REPLY_ERROR
		             ? tkb_redis_explain(item->text.data, err)
		             : 0;
		return rc < 0 ? rc
		              : tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                         "it did not store what it was sent");
	}
	return 0;
}

/*
 * Where a transaction is not allowed, what is meant for it would be obeyed at
 * once: the first on a connection waits for the answer.
 */
static int begin(struct tkb_redis *redis, const struct tkb_op_limits *call,
                 size_t *pending, struct tkb_error *err)
{
	int rc;

	tkb_resp_ask(&redis->resp, (const char *const[]){ "MULTI", NULL });
	if (redis->may_begin) {
		(*pending)++;
		return 0;
	}
	rc = tkb_redis_done(redis, call, err);
	redis->may_begin = rc == 0;
	return rc;
}

/* In one transaction: a reader's MGET sees all of it, or none. */
int tkb_redis_put_named(void *self, const struct tkb_op_limits *call,
                        const struct tkb_named *items, size_t count,
                        struct tkb_error *err)
{
	struct tkb_redis *redis = self;
	const struct tkb_reply *reply = NULL;
	size_t pending = count;
	int rc;

	rc = tkb_resp_settle(&redis->resp, call, err);
	if (rc == 0)
		rc = begin(redis, call, &pending, err);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = ask_to_set(redis, call, &items[i], err);
	if (rc < 0)
		return rc;
	tkb_resp_ask(&redis->resp, (const char *const[]){ "EXEC", NULL });
	for (size_t i = 0; i < pending && rc == 0; i++)
		rc = tkb_redis_done(redis, call, err);
	if (rc == 0)
		rc = tkb_redis_next(redis, call, TKB_REPLY_ARRAY, SHORT, &reply,
		                    err);
	return rc == 0 ? check_results(reply, count, err) : rc;
}
