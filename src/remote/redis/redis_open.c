/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include <tkbundle/amount.h>

#include "remote/redis/redis.h"
#include "remote/url.h"

enum {
	DEFAULT_PORT = 6379,
	SHORT = 64 * 1024
};

#define TTL_LIMIT_MS ((uint64_t)10 * 366 * 24 * 60 * 60 * 1000)

/* What the URL says. Texts are the place's. */
struct wish {
	struct tkb_peer peer;
	struct tkb_tls_options tls;
	const char *database; /* NULL: the first */
};

static int refuse(const char *name, const char *wanted, const char *value,
                  struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_INVALID, "'%s' wants %s, not '%.80s'",
	                name, wanted, value);
}

static int read_verify(const struct tkb_remote_url *place, bool *out,
                       struct tkb_error *err)
{
	const char *verify = tkb_remote_url_param(place, "verify");

	*out = verify != NULL && strcmp(verify, "false") == 0;
	if (verify != NULL && !*out && strcmp(verify, "true") != 0)
		return refuse("verify", "'true' or 'false'", verify, err);
	return 0;
}

/* What is meant to protect must not be passed over where there is no TLS. */
static int read_tls(const struct tkb_remote_url *place, struct wish *wish,
                    struct tkb_error *err)
{
	static const char *const names[] = { "cafile", "cert", "key",
		                             "server-name", "verify" };

	if (strcmp(place->scheme, "rediss") == 0) {
		wish->tls.ca_file = tkb_remote_url_param(place, "cafile");
		wish->tls.cert_file = tkb_remote_url_param(place, "cert");
		wish->tls.key_file = tkb_remote_url_param(place, "key");
		wish->tls.server_name =
			tkb_remote_url_param(place, "server-name");
		wish->peer.tls = &wish->tls;
		return read_verify(place, &wish->tls.accepts_anybody, err);
	}
	for (size_t i = 0; i < TKB_COUNT_OF(names); i++) {
		if (tkb_remote_url_param(place, names[i]) != NULL)
			return tkb_fail(err, TKB_ERR_INVALID,
			                "'%s' is for TLS: rediss://", names[i]);
	}
	return 0;
}

static bool is_number(const char *text)
{
	uint64_t number = 0;

	return tkb_redis_read_number(tkb_text(text), &number);
}

/* In a URL with a host, the path may be a database. */
static int read_database(const struct tkb_remote_url *place, struct wish *wish,
                         struct tkb_error *err)
{
	const char *param = tkb_remote_url_param(place, "db");
	const char *path = wish->peer.path == NULL && place->path[0] != '\0'
	                           ? place->path + 1
	                           : "";

	if (param != NULL && path[0] != '\0')
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the URL names a database twice");
	wish->database = path[0] != '\0' ? path : param;
	if (wish->database != NULL && !is_number(wish->database))
		return refuse("db", "a database's number", wish->database, err);
	return 0;
}

static int read_wish(const struct tkb_remote_url *place, struct wish *wish,
                     struct tkb_error *err)
{
	int rc;

	wish->peer.host = place->host;
	wish->peer.port = place->port != 0 ? place->port : DEFAULT_PORT;
	if (strcmp(place->scheme, "redis+unix") == 0) {
		wish->peer.path = place->path;
		if (place->host[0] != '\0' || place->path[0] == '\0')
			return tkb_fail(err, TKB_ERR_INVALID,
			                "the URL of a socket has a path and no "
			                "host: redis+unix:///path");
	} else if (place->host[0] == '\0') {
		return tkb_fail(err, TKB_ERR_INVALID, "the URL has no host");
	}
	rc = read_tls(place, wish, err);
	return rc == 0 ? read_database(place, wish, err) : rc;
}

static int read_options(const struct tkb_remote_url *place,
                        struct tkb_redis *redis, struct tkb_error *err)
{
	const char *prefix = tkb_remote_url_param(place, "prefix");
	const char *ttl = tkb_remote_url_param(place, "ttl");
	uint64_t ttl_ms = 0;

	redis->prefix = prefix != NULL ? prefix : "tkbundle";
	if (redis->prefix[0] == '\0' ||
	    strlen(redis->prefix) > TKB_REDIS_PREFIX_LIMIT)
		return refuse("prefix", "up to 64 bytes", redis->prefix, err);
	if (ttl == NULL)
		return 0;
	if (!tkb_time_parse(ttl, 1000, &ttl_ms) || ttl_ms == 0 ||
	    ttl_ms > TTL_LIMIT_MS)
		return refuse("ttl", "a time up to ten years, as in 30d", ttl,
		              err);
	tkb_redis_number(ttl_ms, redis->ttl);
	return 0;
}

static void ask_to_enter(struct tkb_redis *redis,
                         const struct tkb_remote_url *place,
                         const struct wish *wish)
{
	struct tkb_resp *resp = &redis->resp;

	if (place->has_user)
		tkb_resp_ask(resp,
		             (const char *const[]){ "AUTH", place->user,
		                                    place->password, NULL });
	else if (place->has_password)
		tkb_resp_ask(resp, (const char *const[]){
					   "AUTH", place->password, NULL });
	if (wish->database != NULL)
		tkb_resp_ask(resp, (const char *const[]){
					   "SELECT", wish->database, NULL });
	tkb_resp_ask(resp, (const char *const[]){ "TIME", NULL });
}

/* What is not known is told as `otherwise`: it may repeat what was sent. */
static int check_entry(struct tkb_redis *redis,
                       const struct tkb_op_limits *call, int status,
                       const char *otherwise, struct tkb_error *err)
{
	const struct tkb_reply *reply = NULL;
	int rc;

	rc = tkb_resp_next(&redis->resp, call, SHORT, &reply, err);
	if (rc < 0 || reply->kind != TKB_REPLY_ERROR)
		return rc;
	rc = tkb_redis_explain(reply->text.data, err);
	return rc < 0 ? rc : tkb_fail(err, status, "%s", otherwise);
}

static int set_clock(struct tkb_redis *redis, const struct tkb_op_limits *call,
                     struct tkb_error *err)
{
	const struct tkb_reply *reply = NULL;
	int rc;

	rc = tkb_redis_next(redis, call, TKB_REPLY_ARRAY, SHORT, &reply, err);
	if (rc < 0)
		return rc;
	redis->clock_ns = tkb_now_ns();
	if (reply->count == 0 || reply->items[0]->kind != TKB_REPLY_STRING ||
	    !tkb_redis_read_number(reply->items[0]->text, &redis->clock_s))
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "its answer is not one that Redis gives");
	return 0;
}

static int greet(struct tkb_redis *redis, const struct tkb_remote_url *place,
                 const struct wish *wish, const struct tkb_op_limits *call,
                 struct tkb_error *err)
{
	int rc = 0;

	ask_to_enter(redis, place, wish);
	if (place->has_user || place->has_password)
		rc = check_entry(redis, call, TKB_ERR_DENIED,
		                 "it refuses the user or the password", err);
	if (rc == 0 && wish->database != NULL)
		rc = check_entry(redis, call, TKB_ERR_INVALID,
		                 "it has no such database", err);
	return rc == 0 ? set_clock(redis, call, err) : rc;
}

static void close_at(struct tkb_redis **redis)
{
	tkb_redis_close(*redis);
}

int tkb_redis_open(const struct tkb_remote_url *place,
                   const struct tkb_op_limits *call, void **self_out,
                   struct tkb_error *err)
{
	const struct tkb_op_limits connect_call = tkb_net_connect_call(call);
	TKB_AUTO(close_at)
	struct tkb_redis *redis = tkb_alloc_array(1, sizeof(*redis));
	struct wish wish = { .database = NULL };
	int rc;

	if (redis == NULL)
		return tkb_fail_nomem(err);
	rc = read_wish(place, &wish, err);
	if (rc == 0)
		rc = read_options(place, redis, err);
	if (rc == 0)
		rc = tkb_resp_open(&redis->resp, &wish.peer, &connect_call,
		                   err);
	if (rc == 0)
		rc = greet(redis, place, &wish, &connect_call, err);
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
