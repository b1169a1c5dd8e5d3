/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/web.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "remote/net/web_slot.h"

enum {
	CONNECTIONS_LIMIT = 64
};

/* No write to a connection that is gone may kill the caller. */
struct shield {
	sigset_t before;
	bool was_pending;
};

static void raise_shield(struct shield *shield)
{
	sigset_t pipe;

	(void)sigemptyset(&pipe);
	(void)sigaddset(&pipe, SIGPIPE);
	(void)sigemptyset(&shield->before);
	(void)sigpending(&shield->before);
	shield->was_pending = sigismember(&shield->before, SIGPIPE) == 1;
	(void)pthread_sigmask(SIG_BLOCK, &pipe, &shield->before);
}

static void lower_shield(const struct shield *shield)
{
	const struct timespec now = { 0 };
	sigset_t pipe;

	(void)sigemptyset(&pipe);
	(void)sigaddset(&pipe, SIGPIPE);
	while (!shield->was_pending && sigtimedwait(&pipe, NULL, &now) < 0 &&
	       errno == EINTR)
		continue;
	(void)pthread_sigmask(SIG_SETMASK, &shield->before, NULL);
}

static void close_at(struct tkb_web **web)
{
	tkb_web_close(*web);
}

/* Without it, the first curl_easy_init() of two threads is a race. */
static bool is_safe(void)
{
	const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);

	return (info->features & CURL_VERSION_THREADSAFE) != 0;
}

static int prepare_multi(struct tkb_web *web, struct tkb_error *err)
{
	const long limit = web->options.connections;

	/* The first handle makes libcurl ready. */
	web->slots[0].curl = curl_easy_init();
	web->multi = curl_multi_init();
	if (web->slots[0].curl == NULL || web->multi == NULL)
		return tkb_fail_nomem(err);
	if (curl_multi_setopt(web->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS,
	                      limit) != CURLM_OK ||
	    curl_multi_setopt(web->multi, CURLMOPT_MAX_HOST_CONNECTIONS,
	                      limit) != CURLM_OK ||
	    curl_multi_setopt(web->multi, CURLMOPT_MAXCONNECTS, limit) !=
	            CURLM_OK)
		return tkb_fail_nomem(err);
	return 0;
}

int tkb_web_open(const struct tkb_web_options *options, struct tkb_web **out,
                 struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_web *web = tkb_alloc_array(1, sizeof(*web));
	int rc;

	if (web == NULL)
		return tkb_fail_nomem(err);
	if (!is_safe())
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "this libcurl was built without threads");
	web->options = *options;
	if (web->options.connections == 0)
		web->options.connections = TKB_WEB_CONNECTIONS;
	if (web->options.connections > CONNECTIONS_LIMIT)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "at most %d connections can be had at once",
		                CONNECTIONS_LIMIT);
	web->slot_count = (size_t)web->options.connections * TKB_WEB_STREAMS;
	web->slots = tkb_alloc_array(web->slot_count, sizeof(*web->slots));
	if (web->slots == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < web->slot_count; i++)
		web->slots[i].options = &web->options;
	rc = prepare_multi(web, err);
	if (rc == 0)
		*out = tkb_take(web);
	return rc;
}

void tkb_web_close(struct tkb_web *web)
{
	struct shield shield;

	if (web == NULL)
		return;
	raise_shield(&shield);
	for (size_t i = 0; web->slots != NULL && i < web->slot_count; i++)
		tkb_web_slot_release(&web->slots[i]);
	if (web->multi != NULL)
		(void)curl_multi_cleanup(web->multi);
	lower_shield(&shield);
	free(web->slots);
	free(web);
}

/* What is filled in begins empty. */
static void clear(struct tkb_web_request *request)
{
	request->rc = 0;
	request->error = (struct tkb_error){ 0 };
	request->status = 0;
	request->length = UINT64_MAX;
	request->etag[0] = '\0';
	request->date_s = 0;
	request->modified_s = 0;
	request->retry_after_ms = 0;
	request->content_type[0] = '\0';
	request->told[0] = '\0';
}

int tkb_web_do(struct tkb_web *web, const struct tkb_op_limits *call,
               struct tkb_web_request *requests, size_t count,
               struct tkb_error *err)
{
	struct shield shield;
	int rc;

	for (size_t i = 0; i < count; i++)
		clear(&requests[i]);
	raise_shield(&shield);
	rc = tkb_web_run(web, call, requests, count, err);
	lower_shield(&shield);
	return rc;
}
