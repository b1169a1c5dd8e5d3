/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/redis/redis.h"

enum {
	SHORT = 64 * 1024
};

/* Send a value as one argument of one command, in pieces. */
static int queue_set(struct tkb_redis *redis,
                     const struct tkb_op_limits *limits,
                     const struct tkb_named *item, struct tkb_error *err)
{
	struct tkb_resp *resp = &redis->resp;
	const struct tkb_bytes bytes = item->bytes;
	size_t done = 0;
	int rc = 0;

	tkb_redis_begin_set(redis, item->name, bytes.size);
	while (done < bytes.size &&
	       !tkb_connection_is_hung_up(resp->connection) && rc == 0) {
		size_t end = bytes.size;

		if (end - done > TKB_REDIS_CHUNK)
			end = done + TKB_REDIS_CHUNK;
		tkb_resp_add(resp, tkb_bytes_slice(bytes, done, end));
		if (resp->out.size >= TKB_REDIS_CHUNK)
			rc = tkb_resp_send(resp, limits, err);
		done = end;
	}
	tkb_resp_end(resp);
	return rc;
}

/* Each command of the transaction must have answered "OK". */
static int check_results(const struct tkb_reply *reply, size_t count,
                         struct tkb_error *err)
{
	int rc;

	if (reply->count != count)
		return tkb_redis_fail_answer(err);
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
 * If MULTI is refused, the commands that follow are executed at once. So wait
 * for the answer to the first MULTI of a connection.
 */
static int begin_transaction(struct tkb_redis *redis,
                             const struct tkb_op_limits *limits,
                             size_t *pending, struct tkb_error *err)
{
	int rc;

	tkb_resp_queue(&redis->resp, "MULTI");
	if (redis->may_begin) {
		(*pending)++;
		return 0;
	}
	rc = tkb_redis_done(redis, limits, err);
	redis->may_begin = rc == 0;
	return rc;
}

/*
 * Put all values in one transaction, so that a reader's MGET sees all or none.
 */
int tkb_redis_put_named(void *self, const struct tkb_op_limits *limits,
                        const struct tkb_named *items, size_t count,
                        struct tkb_error *err)
{
	struct tkb_redis *redis = self;
	const struct tkb_reply *reply = NULL;
	size_t pending = count;
	int rc;

	rc = tkb_resp_drain(&redis->resp, limits, err);
	if (rc == 0)
		rc = begin_transaction(redis, limits, &pending, err);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = queue_set(redis, limits, &items[i], err);
	if (rc < 0)
		return rc;
	tkb_resp_queue(&redis->resp, "EXEC");
	for (size_t i = 0; i < pending && rc == 0; i++)
		rc = tkb_redis_done(redis, limits, err);
	if (rc == 0)
		rc = tkb_redis_next(redis, limits, TKB_REPLY_ARRAY, SHORT,
		                    &reply, err);
	return rc == 0 ? check_results(reply, count, err) : rc;
}
