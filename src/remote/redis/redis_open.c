/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/clock.h"
#include <tkbundle/amount.h>

#include "remote/redis/redis.h"
#include "remote/net/url.h"

enum {
	DEFAULT_PORT = 6379,
	SHORT = 64 * 1024
};

#define TTL_LIMIT_MS ((uint64_t)10 * 366 * 24 * 60 * 60 * 1000)

/* Options from the URL, which owns the texts. */
struct choices {
	struct tkb_peer peer;
	const char *database; /* NULL: the default */
};

static bool is_database_number(const char *text)
{
	uint64_t number = 0;

	return tkb_redis_read_number(tkb_text(text), &number);
}

/* In a URL with a host, the path may be a database. */
static int read_database(const struct tkb_remote_url *url,
                         struct choices *choices, struct tkb_error *err)
{
	const char *param = tkb_remote_url_param(url, "db");
	const char *path = choices->peer.port != 0 && url->path[0] != '\0'
	                           ? url->path + 1
	                           : "";

	if (param != NULL && path[0] != '\0')
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the URL names a database twice");
	choices->database = path[0] != '\0' ? path : param;
	if (choices->database != NULL && !is_database_number(choices->database))
		return tkb_url_refuse("db", "a database's number",
		                      choices->database, err);
	return 0;
}

static int read_choices(const struct tkb_remote_url *url,
                        struct choices *choices, struct tkb_error *err)
{
	int rc;

	choices->peer.url = url;
	choices->peer.has_tls = strcmp(url->scheme, "rediss") == 0;
	if (strcmp(url->scheme, "redis+unix") == 0) {
		if (url->host[0] != '\0' || url->path[0] == '\0')
			return tkb_fail(err, TKB_ERR_INVALID,
			                "the URL of a socket has a path and no "
			                "host: redis+unix:///path");
	} else {
		choices->peer.port = url->port != 0 ? url->port : DEFAULT_PORT;
		if (url->host[0] == '\0')
			return tkb_fail(err, TKB_ERR_INVALID,
			                "the URL has no host");
	}
	rc = tkb_url_check_tls(url, choices->peer.has_tls, "rediss", err);
	return rc == 0 ? read_database(url, choices, err) : rc;
}

static int read_params(const struct tkb_remote_url *url,
                       struct tkb_redis *redis, struct tkb_error *err)
{
	const char *prefix = tkb_remote_url_param(url, "prefix");
	const char *ttl = tkb_remote_url_param(url, "ttl");
	uint64_t ttl_ms = 0;

	redis->prefix = prefix != NULL ? prefix : "tkbundle";
	if (redis->prefix[0] == '\0' ||
	    strlen(redis->prefix) > TKB_REDIS_PREFIX_LIMIT)
		return tkb_url_refuse("prefix", "up to 64 bytes", redis->prefix,
		                      err);
	if (ttl == NULL)
		return 0;
	if (!tkb_time_parse(ttl, 1000, &ttl_ms) || ttl_ms == 0 ||
	    ttl_ms > TTL_LIMIT_MS)
		return tkb_url_refuse(
			"ttl", "a time up to ten years, as in 30d", ttl, err);
	tkb_redis_number(ttl_ms, redis->ttl);
	return 0;
}

static void queue_login(struct tkb_redis *redis,
                        const struct tkb_remote_url *url,
                        const struct choices *choices)
{
	struct tkb_resp *resp = &redis->resp;

	if (url->has_user)
		tkb_resp_queue(resp, "AUTH", url->user, url->password);
	else if (url->has_password)
		tkb_resp_queue(resp, "AUTH", url->password);
	if (choices->database != NULL)
		tkb_resp_queue(resp, "SELECT", choices->database);
	tkb_resp_queue(resp, "TIME");
	if (redis->ttl[0] != '\0')
		tkb_redis_queue_ttl_test(redis);
}

/*
 * An unknown refusal is reported as `otherwise`, since the server's text may
 * repeat the password.
 */
static int check_login(struct tkb_redis *redis,
                       const struct tkb_op_limits *limits, int status,
                       const char *unknown, struct tkb_error *err)
{
	const struct tkb_reply *reply = NULL;
	int rc;

	rc = tkb_resp_next(&redis->resp, limits, SHORT, &reply, err);
	if (rc < 0 || reply->kind != TKB_REPLY_ERROR)
		return rc;
	rc = tkb_redis_explain(reply->text.data, err);
	return rc < 0 ? rc : tkb_fail(err, status, "%s", unknown);
}

static int set_clock(struct tkb_redis *redis,
                     const struct tkb_op_limits *limits, struct tkb_error *err)
{
	const struct tkb_reply *reply = NULL;
	int rc;

	rc = tkb_redis_next(redis, limits, TKB_REPLY_ARRAY, SHORT, &reply, err);
	if (rc < 0)
		return rc;
	redis->clock_ns = tkb_now_ns();
	if (reply->count == 0 || reply->items[0]->kind != TKB_REPLY_STRING ||
	    !tkb_redis_read_number(reply->items[0]->text, &redis->clock_s))
		return tkb_redis_fail_answer(err);
	return 0;
}

static int greet(struct tkb_redis *redis, const struct tkb_remote_url *url,
                 const struct choices *choices,
                 const struct tkb_op_limits *limits, struct tkb_error *err)
{
	int rc = 0;

	queue_login(redis, url, choices);
	if (url->has_user || url->has_password)
		rc = check_login(redis, limits, TKB_ERR_DENIED,
		                 "it refuses the user or the password", err);
	if (rc == 0 && choices->database != NULL)
		rc = check_login(redis, limits, TKB_ERR_INVALID,
		                 "it has no such database", err);
	if (rc == 0)
		rc = set_clock(redis, limits, err);
	if (rc == 0 && redis->ttl[0] != '\0')
		rc = tkb_redis_read_ttl_test(redis, limits, err);
	return rc;
}

TKB_AUTO_POINTER(close_at, struct tkb_redis, tkb_redis_close)

int tkb_redis_open(const struct tkb_remote_url *url,
                   const struct tkb_op_limits *limits, void **self_out,
                   struct tkb_error *err)
{
	const struct tkb_op_limits connect_limits =
		tkb_connection_open_limits(limits);
	TKB_AUTO(close_at)
	struct tkb_redis *redis = tkb_alloc_array(1, sizeof(*redis));
	struct choices choices = { .database = NULL };
	int rc;

	if (redis == NULL)
		return tkb_fail_nomem(err);
	rc = read_choices(url, &choices, err);
	if (rc == 0)
		rc = read_params(url, redis, err);
	if (rc == 0)
		rc = tkb_resp_open(&redis->resp, &choices.peer, &connect_limits,
		                   err);
	if (rc == 0)
		rc = greet(redis, url, &choices, &connect_limits, err);
	if (rc == 0)
		*self_out = tkb_take(redis);
	return rc;
}

void tkb_redis_close(void *self)
{
	struct tkb_redis *redis = self;

	if (redis == NULL)
		return;
	tkb_resp_close(&redis->resp);
	free(redis);
}
