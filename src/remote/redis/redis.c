/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/redis/redis.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "remote/net/grant.h"

enum {
	SHORT = 64 * 1024,             /* limit of a short answer */
	SCAN_LIMIT = 16 * 1024 * 1024, /* limit of a SCAN answer; others'
	                                  keys may be long */
	PATTERN_SIZE = 2 * TKB_REDIS_KEY_SIZE
};

uint64_t tkb_redis_now(const struct tkb_redis *redis)
{
	return redis->clock_s + (tkb_now_ns() - redis->clock_ns) / TKB_NS_PER_S;
}

bool tkb_redis_read_number(struct tkb_bytes text, uint64_t *out)
{
	const char *digits = text.data;
	uint64_t number = 0;

	if (text.size == 0 || text.size > 18)
		return false;
	for (size_t i = 0; i < text.size; i++) {
		if (digits[i] < '0' || digits[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(digits[i] - '0');
	}
	*out = number;
	return true;
}

uint64_t tkb_redis_age(const struct tkb_redis *redis, struct tkb_bytes text)
{
	const uint64_t now = tkb_redis_now(redis);
	uint64_t then = now;

	if (!tkb_redis_read_number(text, &then) || then > now)
		return 0;
	return now - then;
}

void tkb_redis_number(uint64_t number, char out[TKB_REDIS_NUMBER_SIZE])
{
	(void)snprintf(out, TKB_REDIS_NUMBER_SIZE, "%llu",
	               (unsigned long long)number);
}

void tkb_redis_key(const struct tkb_redis *redis, const char *kind,
                   const char *name, char out[TKB_REDIS_KEY_SIZE])
{
	(void)snprintf(out, TKB_REDIS_KEY_SIZE, "%s:%s:%s", redis->prefix, kind,
	               name);
}

void tkb_redis_blob_key(const struct tkb_redis *redis,
                        const struct tkb_digest *digest,
                        char out[TKB_REDIS_KEY_SIZE])
{
	tkb_redis_key(redis, "cas", tkb_digest_hex(digest).text, out);
}

void tkb_redis_queue_time(struct tkb_redis *redis,
                          const struct tkb_digest *digest)
{
	char times[TKB_REDIS_KEY_SIZE];
	char now[TKB_REDIS_NUMBER_SIZE];

	tkb_redis_key(redis, "times", "cas", times);
	tkb_redis_number(tkb_redis_now(redis), now);
	tkb_resp_queue(&redis->resp, "ZADD", times, now,
	               tkb_digest_hex(digest).text);
}

void tkb_redis_begin_set(struct tkb_redis *redis, const char *key,
                         uint64_t size)
{
	if (redis->ttl[0] == '\0')
		tkb_resp_begin(&redis->resp,
		               (const char *const[]){ "SET", key, NULL }, size);
	else
		tkb_resp_begin(&redis->resp,
		               (const char *const[]){ "PSETEX", key, redis->ttl,
		                                      NULL },
		               size);
}

/* Is it a command that only reads, so that a pull needs it? */
static bool is_reading(const char *command, size_t size)
{
	static const char *const names[] = { "get",     "getrange", "strlen",
		                             "exists",  "hgetall",  "hexists",
		                             "pexpire", "pttl",     "scan",
		                             "select",  "time",     "zscore" };

	for (size_t i = 0; i < TKB_COUNT_OF(names); i++) {
		if (size == strlen(names[i]) &&
		    strncasecmp(command, names[i], size) == 0)
			return true;
	}
	return false;
}

/*
 * Redis names the forbidden command last, in single quotes. Since 7.2 it also
 * names the user, which must not be shown.
 */
static int explain_rights(const char *text, struct tkb_error *err)
{
	const char *end = strrchr(text, '\'');
	const char *start = end;

	while (start != NULL && start != text && start[-1] != '\'')
		start--;
	if (start == NULL || start == text)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "its rules (ACL) do not let this user use "
		                "these keys: grant it that right");
	return tkb_fail(err, TKB_ERR_DENIED,
	                "its rules (ACL) do not let this user use '%.*s': %s",
	                (int)(end - start), start,
	                is_reading(start, (size_t)(end - start))
	                        ? "grant it"
	                        : TKB_REMOTE_GRANT);
}

#define CLUSTER                                                                \
	"it is one of a Redis Cluster, which is not supported: name a single " \
	"server, or a proxy before the cluster"

/* How Redis's error texts begin, and what they mean. */
static const struct {
	const char *start;
	int status;
	const char *sentence;
} refusals[] = {
	{ "ASK ", TKB_ERR_INVALID, CLUSTER },
	{ "BUSY ", TKB_ERR_UNAVAILABLE, "it is busy with a script" },
	{ "CLUSTERDOWN ", TKB_ERR_INVALID, CLUSTER },
	{ "CROSSSLOT ", TKB_ERR_INVALID, CLUSTER },
	{ "DENIED ", TKB_ERR_DENIED,
	  "it is in protected mode: it wants a password" },
	{ "ERR SELECT is not allowed in cluster mode", TKB_ERR_INVALID,
	  CLUSTER },
	{ "ERR max number of clients", TKB_ERR_UNAVAILABLE,
	  "it has too many clients" },
	{ "LOADING ", TKB_ERR_UNAVAILABLE, "it is still loading its data" },
	{ "MASTERDOWN ", TKB_ERR_UNAVAILABLE,
	  "it is a replica that has lost its primary" },
	{ "MISCONF ", TKB_ERR_UNAVAILABLE,
	  "it cannot save to its disk, and so takes nothing: see its log and "
	  "its disk" },
	{ "MOVED ", TKB_ERR_INVALID, CLUSTER },
	{ "NOAUTH ", TKB_ERR_DENIED, "it wants a password" },
	{ "OOM ", TKB_ERR_UNAVAILABLE,
	  "its memory is full (maxmemory), and it evicts nothing: give it "
	  "more, let it evict (maxmemory-policy), or run gc" },
	{ "READONLY ", TKB_ERR_DENIED,
	  "it is a replica that takes nothing: name its primary" },
	{ "WRONGPASS ", TKB_ERR_DENIED,
	  "it does not know this user and password" },
};

int tkb_redis_explain(const char *text, struct tkb_error *err)
{
	if (tkb_begins_with(text, "NOPERM "))
		return explain_rights(text, err);
	for (size_t i = 0; i < TKB_COUNT_OF(refusals); i++) {
		if (tkb_begins_with(text, refusals[i].start))
			return tkb_fail(err, refusals[i].status, "%s",
			                refusals[i].sentence);
	}
	return 0;
}

int tkb_redis_any(struct tkb_redis *redis, const struct tkb_op_limits *limits,
                  size_t limit, const struct tkb_reply **out,
                  struct tkb_error *err)
{
	const struct tkb_reply *reply = NULL;
	int rc;

	rc = tkb_resp_next(&redis->resp, limits, limit, &reply, err);
	if (rc < 0)
		return rc;
	*out = reply;
	if (reply->kind != TKB_REPLY_ERROR)
		return 0;
	rc = tkb_redis_explain(reply->text.data, err);
	if (rc < 0)
		return rc;
	return tkb_fail(err, TKB_ERR_UNAVAILABLE, "it answers '%.160s'",
	                (const char *)reply->text.data);
}

int tkb_redis_fail_answer(struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_UNAVAILABLE,
	                "its answer is not one that Redis gives");
}

int tkb_redis_next(struct tkb_redis *redis, const struct tkb_op_limits *limits,
                   enum tkb_reply_kind kind, size_t limit,
                   const struct tkb_reply **out, struct tkb_error *err)
{
	int rc;

	rc = tkb_redis_any(redis, limits, limit, out, err);
	if (rc == 0 && (*out)->kind != kind)
		return tkb_redis_fail_answer(err);
	return rc;
}

int tkb_redis_integers(struct tkb_redis *redis,
                       const struct tkb_op_limits *limits, int64_t *out,
                       size_t count, size_t ignored, struct tkb_error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct tkb_reply *reply = NULL;
		int rc;

		rc = tkb_redis_next(redis, limits, TKB_REPLY_INTEGER, SHORT,
		                    &reply, err);
		if (rc < 0)
			return rc;
		out[i] = reply->integer;
	}
	return tkb_redis_skip(redis, limits, ignored, err);
}

int tkb_redis_done(struct tkb_redis *redis, const struct tkb_op_limits *limits,
                   struct tkb_error *err)
{
	const struct tkb_reply *reply = NULL;

	return tkb_redis_next(redis, limits, TKB_REPLY_STATUS, SHORT, &reply,
	                      err);
}

int tkb_redis_skip(struct tkb_redis *redis, const struct tkb_op_limits *limits,
                   size_t count, struct tkb_error *err)
{
	const struct tkb_reply *reply = NULL;
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++)
		rc = tkb_resp_next(&redis->resp, limits, SHORT, &reply, err);
	return rc;
}

/* The prefix may have characters that are special in a pattern. */
static void make_pattern(const struct tkb_redis *redis, const char *kind,
                         char out[PATTERN_SIZE])
{
	size_t used = 0;

	for (const char *at = redis->prefix; *at != '\0'; at++) {
		if (strchr("*?[]\\", *at) != NULL)
			out[used++] = '\\';
		out[used++] = *at;
	}
	(void)snprintf(out + used, PATTERN_SIZE - used, ":%s:*", kind);
}

static int report_names(const struct tkb_redis *redis,
                        const struct tkb_reply *keys,
                        const struct tkb_redis_scan *scan,
                        struct tkb_error *err)
{
	char start[TKB_REDIS_KEY_SIZE];
	size_t size;
	int rc = 0;

	tkb_redis_key(redis, scan->kind, "", start);
	size = strlen(start);
	for (size_t i = 0; i < keys->count && rc == 0; i++) {
		const struct tkb_reply *key = keys->items[i];
		const char *name = key->text.data;

		if (key->kind != TKB_REPLY_STRING || key->text.size <= size ||
		    memcmp(name, start, size) != 0 ||
		    strlen(name) != key->text.size)
			continue;
		rc = scan->on_name(scan->self, name + size, err);
	}
	return rc;
}

static bool is_scan_answer(const struct tkb_reply *reply)
{
	return reply->count == 2 && reply->items[0]->kind == TKB_REPLY_STRING &&
	       reply->items[0]->text.size < TKB_REDIS_NUMBER_SIZE &&
	       reply->items[1]->kind == TKB_REPLY_ARRAY;
}

int tkb_redis_scan(struct tkb_redis *redis, const struct tkb_op_limits *limits,
                   const struct tkb_redis_scan *scan, struct tkb_error *err)
{
	char cursor[TKB_REDIS_NUMBER_SIZE] = "0";
	char pattern[PATTERN_SIZE];
	int rc;

	make_pattern(redis, scan->kind, pattern);
	do {
		const struct tkb_reply *reply = NULL;

		tkb_resp_queue(&redis->resp, "SCAN", cursor, "MATCH", pattern,
		               "COUNT", "1000");
		rc = tkb_redis_next(redis, limits, TKB_REPLY_ARRAY, SCAN_LIMIT,
		                    &reply, err);
		if (rc < 0)
			return rc;
		if (!is_scan_answer(reply))
			return tkb_redis_fail_answer(err);
		(void)snprintf(cursor, sizeof(cursor), "%s",
		               (const char *)reply->items[0]->text.data);
		rc = report_names(redis, reply->items[1], scan, err);
	} while (rc == 0 && strcmp(cursor, "0") != 0);
	return rc;
}
