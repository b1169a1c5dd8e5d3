/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "remote/net/limits.h"
#include "remote/oci/oci.h"

/* Sending requests to a registry with the credentials that it wants. */

enum {
	ROUNDS = 3,      /* a token may turn out not to cover the request */
	TORN_PAUSES = 3, /* retries if a file is being written */
	FIRST_PAUSE_MS = 20
};

static void note_time(struct tkb_oci *oci,
                      const struct tkb_http_request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (requests[i].rc == 0 && requests[i].date_s > oci->now_s)
			oci->now_s = requests[i].date_s;
	}
}

/*
 * All requests are sent with one extra header line; libcurl omits a line
 * without a value.
 */
static int send_all(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                    struct tkb_http_request *requests, size_t count,
                    struct tkb_error *err)
{
	int rc;

	oci->lines[0] =
		oci->auth.line != NULL ? oci->auth.line : "Authorization:";
	rc = tkb_http_client_do(oci->client, limits, requests, count, err);
	note_time(oci, requests, count);
	return rc;
}

static bool is_unknown(const struct tkb_http_request *request)
{
	return request->rc == 0 && request->status == 401;
}

/*
 * A registry that keeps its state in files may answer 500 while it writes the
 * file. When a client puts a blob that exists, docker-registry truncates the
 * blob's link and writes the same digest into it again.
 */
static bool is_torn(const struct tkb_http_request *request)
{
	return request->rc == 0 && request->status == 500 &&
	       (strcmp(request->method, "HEAD") == 0 ||
	        strcmp(request->method, "GET") == 0);
}

static bool has_any(const struct tkb_http_request *requests, size_t count,
                    bool (*is_meant)(const struct tkb_http_request *request))
{
	for (size_t i = 0; i < count; i++) {
		if (is_meant(&requests[i]))
			return true;
	}
	return false;
}

static int send_again(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                      struct tkb_http_request *requests, size_t count,
                      bool (*is_meant)(const struct tkb_http_request *request),
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	struct tkb_http_request *again = tkb_alloc_array(count, sizeof(*again));
	size_t used = 0;
	int rc;

	if (again == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		if (is_meant(&requests[i]))
			again[used++] = requests[i];
	}
	rc = send_all(oci, limits, again, used, err);
	used = 0;
	for (size_t i = 0; i < count && rc == 0; i++) {
		if (is_meant(&requests[i]))
			requests[i] = again[used++];
	}
	return rc;
}

/*
 * Send all requests. Those refused for lack of credentials are sent again with
 * credentials.
 */
static int send_with_credentials(struct tkb_oci *oci,
                                 const struct tkb_op_limits *limits,
                                 struct tkb_http_request *requests,
                                 size_t count,
                                 const struct tkb_http_header *challenge,
                                 struct tkb_error *err)
{
	int rc;

	rc = send_all(oci, limits, requests, count, err);
	for (int round = 1;
	     rc == 0 && round < ROUNDS && has_any(requests, count, is_unknown);
	     round++) {
		rc = tkb_oci_auth_answer(oci, limits, challenge->value, err);
		if (rc == 0)
			rc = send_again(oci, limits, requests, count,
			                is_unknown, err);
	}
	return rc;
}

/* Retry, after a pause, requests whose files were being written. */
static int outlast_writes(struct tkb_oci *oci,
                          const struct tkb_op_limits *limits,
                          struct tkb_http_request *requests, size_t count,
                          struct tkb_error *err)
{
	int rc = 0;

	for (int i = 0;
	     rc == 0 && i < TORN_PAUSES && has_any(requests, count, is_torn);
	     i++) {
		const int pause_ms =
			tkb_op_limits_wait_ms(limits, FIRST_PAUSE_MS << i);
		const struct timespec pause = {
			.tv_nsec = pause_ms * (long)TKB_NS_PER_MS
		};

		(void)nanosleep(&pause, NULL);
		rc = send_again(oci, limits, requests, count, is_torn, err);
	}
	return rc;
}

int tkb_oci_do(struct tkb_oci *oci, const struct tkb_op_limits *limits,
               struct tkb_http_request *requests, size_t count,
               struct tkb_error *err)
{
	char value[TKB_OCI_CHALLENGE_SIZE] = "";
	struct tkb_http_header challenge = { "WWW-Authenticate", value,
		                             sizeof(value) };
	int rc;

	rc = tkb_oci_auth_renew(oci, limits, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count; i++)
		requests[i].challenge = &challenge;
	rc = send_with_credentials(oci, limits, requests, count, &challenge,
	                           err);
	if (rc == 0)
		rc = outlast_writes(oci, limits, requests, count, err);
	for (size_t i = 0; i < count; i++)
		requests[i].challenge = NULL;
	return rc < 0 ? rc : 0;
}

int tkb_oci_ask(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                struct tkb_http_request *request, struct tkb_error *err)
{
	int rc;

	rc = tkb_oci_do(oci, limits, request, 1, err);
	return rc == 0 ? tkb_http_request_judge(request, limits, err) : rc;
}
