/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/s3/s3.h"

#include <stdlib.h>

#include "remote/net/url.h"

enum {
	CONNECTIONS = 16 /* since each answer takes tens of milliseconds */
};

static void s3_close(void *self)
{
	struct tkb_s3 *s3 = self;

	tkb_http_client_close(s3->client);
	tkb_s3_keys_release(&s3->keys);
	tkb_s3_site_release(&s3->site);
	free(s3);
}

static void close_at(struct tkb_s3 **s3)
{
	if (*s3 != NULL)
		s3_close(*s3);
}

static int s3_open(const struct tkb_remote_url *url,
                   const struct tkb_op_limits *limits, void **self_out,
                   struct tkb_error *err)
{
	const struct tkb_http_client_options options = { .url = url,
		                                         .connections =
		                                                 CONNECTIONS };
	TKB_AUTO(close_at)
	struct tkb_s3 *s3 = tkb_alloc_array(1, sizeof(*s3));
	bool is_anonymous = false;
	int rc;

	(void)limits;
	if (s3 == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_url_choice(url, "anonymous", &is_anonymous, err);
	if (rc == 0)
		rc = tkb_url_check_tls(url, true, "https", err);
	if (rc == 0)
		rc = tkb_s3_site_read(url, &s3->site, err);
	if (rc == 0 && !is_anonymous)
		rc = tkb_s3_keys_find(url, &s3->keys, err);
	if (rc == 0)
		rc = tkb_http_client_open(&options, &s3->client, err);
	if (rc == 0)
		*self_out = tkb_take(s3);
	return rc;
}

const struct tkb_remote_backend tkb_backend_s3 = {
	.abi = TKB_REMOTE_BACKEND_ABI,
	.is_shared = true,
	.schemes = (const char *const[]){ "s3", NULL },
	.params = (const char *const[]){ "anonymous", "cafile", "cert",
	                                 "endpoint", "key", "path-style",
	                                 "profile", "region", "server-name",
	                                 "verify", NULL },
	.open = s3_open,
	.close = s3_close,
	.get = tkb_s3_get,
	.put = tkb_s3_put,
	.has = tkb_s3_has,
	.remove = tkb_s3_remove,
	.list = tkb_s3_blobs,
	.add = tkb_s3_add,
	.records = tkb_s3_records,
	.drop = tkb_s3_drop,
	.touch = tkb_s3_touch,
	.refs = tkb_s3_refs,
};
