/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "remote/oci/oci.h"

/* Asking a registry, with the credentials that it wants. */

enum {
	ROUNDS = 3 /* it may want a token, and then one for more */
};

static void note_time(struct tkb_oci *oci,
                      const struct tkb_http_request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (requests[i].rc == 0 && requests[i].date_s > oci->now_s)
			oci->now_s = requests[i].date_s;
	}
}

/* One line is sent with all requests; libcurl sends none without a value. */
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

/* Send those again that were refused for want of credentials. */
static int send_again(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                      struct tkb_http_request *requests, size_t count,
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	struct tkb_http_request *again = tkb_alloc_array(count, sizeof(*again));
	size_t used = 0;
	int rc;

	if (again == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		if (is_unknown(&requests[i]))
			again[used++] = requests[i];
	}
	rc = send_all(oci, limits, again, used, err);
	used = 0;
	for (size_t i = 0; i < count && rc == 0; i++) {
		if (is_unknown(&requests[i]))
			requests[i] = again[used++];
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
	rc = send_all(oci, limits, requests, count, err);
	for (int round = 1; rc == 0 && round < ROUNDS; round++) {
		size_t i = 0;

		while (i < count && !is_unknown(&requests[i]))
			i++;
		if (i == count)
			break;
		rc = tkb_oci_auth_answer(oci, limits, value, err);
		if (rc == 0)
			rc = send_again(oci, limits, requests, count, err);
	}
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
