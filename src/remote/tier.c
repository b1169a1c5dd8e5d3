/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/tier.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <tkbundle/amount.h>

#include "cache/watch.h"
#include "remote/backends.h"
#include "remote/net/limits.h"
#include "remote/net/url.h"

enum {
	DEFAULT_TIMEOUT_MS = 30000,
	DEFAULT_CONNECT_MS = 1000,
	DEFAULT_STALL_MS = 5000,
	DEFAULT_RETRIES = 2,
	RETRIES_LIMIT = 10,
	FIRST_PAUSE_MS = 50,
	PAUSE_LIMIT_MS = 2000,
	RETRY_AFTER_LIMIT_MS = 5000, /* at most, whatever a server asks for */
	NAP_MS = 20, /* between two checks whether it is cancelled */
	TIME_LIMIT_MS = 24 * 60 * 60 * 1000,
	REFUSED_AGE_S = 5 /* of a connection that is made anew if refused */
};

static const struct tkb_remote_backend *const built_in[] = {
	&tkb_backend_dir, &tkb_backend_http,  &tkb_backend_memory,
	&tkb_backend_oci, &tkb_backend_redis, &tkb_backend_s3,
};

static bool is_one_of_words(const char *const *words, const char *wanted)
{
	for (; *words != NULL; words++) {
		if (strcmp(*words, wanted) == 0)
			return true;
	}
	return false;
}

const struct tkb_remote_backend *tkb_remote_backend_find(const char *scheme)
{
	for (size_t i = 0; i < TKB_COUNT_OF(built_in); i++) {
		if (is_one_of_words(built_in[i]->schemes, scheme))
			return built_in[i];
	}
	return NULL;
}

/* The caller's backends take precedence over the built-in ones. */
static const struct tkb_remote_backend *choose_backend(
	const char *scheme, const struct tkb_remote_options *options)
{
	for (size_t i = 0; i < options->backend_count; i++) {
		if (options->backends[i]->abi == TKB_REMOTE_BACKEND_ABI &&
		    is_one_of_words(options->backends[i]->schemes, scheme))
			return options->backends[i];
	}
	return tkb_remote_backend_find(scheme);
}

/* A parameter that is one of two words. */
static int read_choice(const struct tkb_param *param, const char *no,
                       const char *yes, bool *out, struct tkb_error *err)
{
	char wanted[64];

	if (strcmp(param->value, yes) == 0 || strcmp(param->value, no) == 0) {
		*out = strcmp(param->value, yes) == 0;
		return 0;
	}
	(void)snprintf(wanted, sizeof(wanted), "'%s' or '%s'", no, yes);
	return tkb_url_refuse(param->name, wanted, param->value, err);
}

static int read_timeout(const struct tkb_param *param, uint32_t *out,
                        struct tkb_error *err)
{
	uint64_t time_ms = 0;

	if (!tkb_time_parse(param->value, 1000, &time_ms) || time_ms == 0 ||
	    time_ms > TIME_LIMIT_MS)
		return tkb_url_refuse(param->name,
		                      "a time of at most 24h, as in 5s or "
		                      "500ms",
		                      param->value, err);
	*out = (uint32_t)time_ms;
	return 0;
}

static int read_retries(const struct tkb_param *param, uint32_t *out,
                        struct tkb_error *err)
{
	uint64_t number = 0;

	if (!tkb_size_parse(param->value, &number) || number > RETRIES_LIMIT)
		return tkb_url_refuse(param->name, "a number up to 10",
		                      param->value, err);
	*out = (uint32_t)number;
	return 0;
}

static int read_param(struct tkb_tier *tier, const struct tkb_param *param,
                      struct tkb_error *err)
{
	const char *name = param->name;

	if (strcmp(name, "mode") == 0)
		return read_choice(param, "rw", "ro", &tier->is_read_only, err);
	if (strcmp(name, "on-error") == 0)
		return read_choice(param, "fail", "ignore",
		                   &tier->ignores_errors, err);
	if (strcmp(name, "timeout") == 0)
		return read_timeout(param, &tier->timeout_ms, err);
	if (strcmp(name, "connect-timeout") == 0)
		return read_timeout(param, &tier->connect_ms, err);
	if (strcmp(name, "stall-timeout") == 0)
		return read_timeout(param, &tier->stall_ms, err);
	if (strcmp(name, "retries") == 0)
		return read_retries(param, &tier->retries, err);
	if (is_one_of_words(tier->backend->params, name))
		return 0;
	return tkb_fail(err, TKB_ERR_INVALID,
	                "%s:// knows no parameter '%.80s'", tier->url->scheme,
	                name);
}

static int prepare_tier(struct tkb_tier *tier,
                        const struct tkb_remote_options *options,
                        struct tkb_error *err)
{
	const struct tkb_remote_url *url = tier->url;
	int rc = 0;

	tier->watch = options->watch;
	tier->timeout_ms =
		tkb_or_default(options->timeout_ms, DEFAULT_TIMEOUT_MS);
	tier->connect_ms =
		tkb_or_default(options->connect_timeout_ms, DEFAULT_CONNECT_MS);
	tier->stall_ms =
		tkb_or_default(options->stall_timeout_ms, DEFAULT_STALL_MS);
	tier->retries = DEFAULT_RETRIES;
	tier->backend = choose_backend(url->scheme, options);
	if (tier->backend == NULL)
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "this tkbundle knows no '%.80s://'",
		                url->scheme);
	for (size_t i = 0; i < url->param_count && rc == 0; i++)
		rc = read_param(tier, &url->params[i], err);
	return rc;
}

int tkb_tier_open(struct tkb_tier *tier, const char *text,
                  const struct tkb_remote_options *options,
                  struct tkb_error *err)
{
	TKB_AUTO(tkb_tier_close) struct tkb_tier made = { 0 };
	int rc;

	rc = tkb_remote_url_parse(text, &made.url, err);
	if (rc < 0)
		return rc;
	made.url->fallback_cafile = options->fallback_cafile;
	rc = prepare_tier(&made, options, err);
	if (rc < 0)
		return tkb_fail_while(err, rc, "remote '%s'", made.url->name);
	*tier = made;
	made = (struct tkb_tier){ 0 };
	return 0;
}

static void disconnect(struct tkb_tier *tier)
{
	if (tier->self != NULL)
		tier->backend->close(tier->self);
	tier->self = NULL;
}

void tkb_tier_close(struct tkb_tier *tier)
{
	disconnect(tier);
	tkb_remote_url_free(tkb_take(tier->url));
}

/* Full jitter, so that clients that failed together do not retry together. */
static uint64_t pause_ns(uint32_t attempt)
{
	const uint64_t limit_ms = (uint64_t)FIRST_PAUSE_MS << attempt;

	return tkb_random_pause_ns(limit_ms < PAUSE_LIMIT_MS ? limit_ms
	                                                     : PAUSE_LIMIT_MS);
}

/* The pause that the server requested with Retry-After. */
static uint64_t asked_pause_ns(const struct tkb_op_limits *limits)
{
	const uint32_t asked_ms = *limits->retry_after_ms;

	return TKB_NS_PER_MS * (asked_ms < RETRY_AFTER_LIMIT_MS
	                                ? asked_ms
	                                : RETRY_AFTER_LIMIT_MS);
}

/* Pause before the next try. False: cancelled, or the deadline comes first. */
static bool pause_before(const struct tkb_tier *tier, uint32_t attempt,
                         const struct tkb_op_limits *limits)
{
	const struct timespec nap = { .tv_nsec = NAP_MS * (long)TKB_NS_PER_MS };
	const uint64_t end =
		tkb_now_ns() + pause_ns(attempt) + asked_pause_ns(limits);

	if (end >= limits->deadline_ns)
		return false;
	while (tkb_now_ns() < end) {
		if (tkb_watch_is_cancelled(tier->watch))
			return false;
		(void)nanosleep(&nap, NULL);
	}
	return true;
}

static int try_once(struct tkb_tier *tier, const struct tkb_tier_work *work,
                    const struct tkb_op_limits *limits, struct tkb_error *err)
{
	int rc;

	rc = tkb_watch_check(tier->watch, err);
	if (rc < 0)
		return rc;
	if (tier->self == NULL) {
		tier->opened_ns = tkb_now_ns();
		rc = tier->backend->open(tier->url, limits, &tier->self, err);
	}
	if (rc == 0)
		rc = work->run(tier, limits, work->self, err);
	if (rc < 0 && rc != TKB_ERR_DENIED && rc != TKB_ERR_INVALID)
		disconnect(tier);
	return rc;
}

/* What was refused, and the backend that was refused it. */
struct refused {
	void *self; /* owned; NULL: nothing was */
	struct tkb_error error;
};

/*
 * A backend reads credentials when it is opened. Its user may have others since, as
 * a token that is renewed each hour.
 */
static int try_with_new_credentials(struct tkb_tier *tier,
                                    const struct tkb_tier_work *work,
                                    const struct tkb_op_limits *limits,
                                    struct refused *refused,
                                    struct tkb_error *err)
{
	struct tkb_error fault = { 0 };
	int rc;

	rc = try_once(tier, work, limits, &fault);
	if (rc != TKB_ERR_DENIED || tier->self == NULL ||
	    refused->self != NULL ||
	    tkb_now_ns() - tier->opened_ns < REFUSED_AGE_S * TKB_NS_PER_S)
		return rc < 0 ? tkb_fail_as(err, rc, &fault) : rc;
	refused->self = tkb_take(tier->self);
	refused->error = fault;
	return try_once(tier, work, limits, err);
}

/* If who gives other credentials cannot be reached, the old ones serve for the rest. */
static int end_refused(struct tkb_tier *tier, struct refused *refused, int rc,
                       struct tkb_error *err)
{
	if (refused->self == NULL)
		return rc;
	if (rc == TKB_ERR_UNAVAILABLE) {
		tier->self = tkb_take(refused->self);
		return tkb_fail_as(err, TKB_ERR_DENIED, &refused->error);
	}
	tier->backend->close(refused->self);
	return rc;
}

static int try_all(struct tkb_tier *tier, const struct tkb_tier_work *work,
                   struct tkb_error *err)
{
	uint32_t retry_after_ms = 0;
	struct tkb_op_limits limits = {
		.deadline_ns = tkb_now_ns() + tier->timeout_ms * TKB_NS_PER_MS,
		.connect_ms = tier->connect_ms,
		.stall_ms = tier->stall_ms,
		.watch = tier->watch,
		.retry_after_ms = &retry_after_ms,
	};
	struct refused refused = { .self = NULL };
	int rc;

	for (uint32_t attempt = 0;; attempt++) {
		retry_after_ms = 0;
		limits.is_last_attempt = attempt == tier->retries;
		rc = try_with_new_credentials(tier, work, &limits, &refused,
		                              err);
		if (rc != TKB_ERR_UNAVAILABLE || attempt == tier->retries ||
		    !pause_before(tier, attempt, &limits))
			return end_refused(tier, &refused, rc, err);
	}
}

int tkb_tier_do(struct tkb_tier *tier, const struct tkb_tier_work *work,
                struct tkb_error *err)
{
	struct tkb_error fault = { 0 };
	int rc;

	if (tier->is_unreachable)
		return tkb_fail_as(err, TKB_ERR_UNAVAILABLE,
		                   &tier->unreachable_error);
	rc = try_all(tier, work, &fault);
	if (rc >= 0)
		return rc;
	(void)tkb_fail_while(&fault, rc, "remote '%s'", tier->url->name);
	if (rc == TKB_ERR_UNAVAILABLE) {
		tier->is_unreachable = true;
		tier->unreachable_error = fault;
	}
	return tkb_fail_as(err, rc, &fault);
}
