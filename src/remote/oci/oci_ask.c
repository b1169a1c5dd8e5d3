/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/oci/oci.h"

/* Asking a registry. */

int tkb_oci_do(struct tkb_oci *oci, const struct tkb_op_limits *limits,
               struct tkb_http_request *requests, size_t count,
               struct tkb_error *err)
{
	int rc;

	rc = tkb_http_client_do(oci->client, limits, requests, count, err);
	for (size_t i = 0; i < count && rc == 0; i++) {
		if (requests[i].rc == 0 && requests[i].date_s > oci->now_s)
			oci->now_s = requests[i].date_s;
	}
	return rc;
}

int tkb_oci_judge(const struct tkb_http_request *request,
                  const struct tkb_op_limits *limits, struct tkb_error *err)
{
	return tkb_http_request_judge(request, limits, err);
}

int tkb_oci_ask(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                struct tkb_http_request *request, struct tkb_error *err)
{
	int rc;

	rc = tkb_oci_do(oci, limits, request, 1, err);
	return rc == 0 ? tkb_oci_judge(request, limits, err) : rc;
}
