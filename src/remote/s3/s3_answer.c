/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <time.h>

#include "remote/net/grant.h"
#include "remote/s3/s3.h"
#include "remote/net/xml.h"

/* The meaning of S3's answers. */

enum {
	TEXT_SIZE = 512
};

/* An error document. Texts that are too long are cut. */
struct refusal {
	char code[TEXT_SIZE]; /* "" if there is none */
	char message[TEXT_SIZE];
	char region[TEXT_SIZE];
};

static void copy_cut(char out[TEXT_SIZE], const char *text)
{
	const size_t size = strnlen(text, TEXT_SIZE - 1);

	memcpy(out, text, size);
	out[size] = '\0';
}

static int read_element(void *self, const char *name, size_t depth,
                        const char *text, struct tkb_error *err)
{
	struct refusal *refusal = self;

	(void)err;
	if (depth != 2)
		return 0;
	if (strcmp(name, "Code") == 0)
		copy_cut(refusal->code, text);
	if (strcmp(name, "Message") == 0)
		copy_cut(refusal->message, text);
	if (strcmp(name, "Region") == 0)
		copy_cut(refusal->region, text);
	return 0;
}

/* Does the text contain a credential? Then it is not quoted. */
static bool holds_secret(const struct tkb_s3 *s3, const char *text)
{
	const char *const secrets[] = { s3->keys.id, s3->keys.secret,
		                        s3->keys.token };

	for (size_t i = 0; i < TKB_COUNT_OF(secrets); i++) {
		if (secrets[i] != NULL && strstr(text, secrets[i]) != NULL)
			return true;
	}
	return false;
}

/* Read the members that are present; the others stay empty. */
static void read_refusal(const struct tkb_s3 *s3,
                         const struct tkb_http_request *request,
                         struct refusal *out)
{
	const struct tkb_xml_visitor visitor = { read_element, out };

	*out = (struct refusal){ .code = "" };
	if (request->refusal != NULL && request->refusal->size != 0 &&
	    (tkb_xml_read(tkb_buf_bytes(request->refusal), &visitor, NULL) <
	             0 ||
	     holds_secret(s3, out->code) || holds_secret(s3, out->message)))
		*out = (struct refusal){ .code = "" };
	if (request->wanted[0].value[0] != '\0')
		copy_cut(out->region, request->wanted[0].value);
}

/* Known error codes. */
struct reason {
	const char *code;
	int status;
	const char *sentence;
};

static const struct reason reasons[] = {
	{ "AccountProblem", TKB_ERR_DENIED, "the account is blocked" },
	{ "BadDigest", TKB_ERR_UNAVAILABLE, "the bytes changed on their way" },
	{ "ExpiredToken", TKB_ERR_DENIED, "the session token has expired" },
	{ "IncompleteBody", TKB_ERR_UNAVAILABLE,
	  "it did not receive all of the bytes" },
	{ "InvalidAccessKeyId", TKB_ERR_DENIED,
	  "it does not know the access key" },
	{ "InvalidToken", TKB_ERR_DENIED,
	  "it does not know the session token" },
	{ "OperationAborted", TKB_ERR_UNAVAILABLE,
	  "somebody else changes the bucket at this moment" },
	{ "RequestTimeout", TKB_ERR_UNAVAILABLE,
	  "it waited too long for the bytes" },
	{ "SignatureDoesNotMatch", TKB_ERR_DENIED,
	  "the secret key is not the one that belongs to the access key "
	  "(SignatureDoesNotMatch)" },
	{ "SlowDown", TKB_ERR_UNAVAILABLE, "it is asked too often" },
	{ "TokenRefreshRequired", TKB_ERR_DENIED,
	  "the session token has expired" },
	{ "XAmzContentSHA256Mismatch", TKB_ERR_UNAVAILABLE,
	  "the bytes changed on their way" },
};

static int fail_region(const struct tkb_s3 *s3, const struct refusal *refusal,
                       struct tkb_error *err)
{
	if (refusal->region[0] == '\0' ||
	    strcmp(refusal->region, s3->site.region) == 0)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the bucket '%s' is in another region than "
		                "'%s', or at another endpoint",
		                s3->site.bucket, s3->site.region);
	return tkb_fail(err, TKB_ERR_INVALID,
	                "the bucket '%s' is in region '%.64s', not in '%s': "
	                "region=%.64s",
	                s3->site.bucket, refusal->region, s3->site.region,
	                refusal->region);
}

static int fail_clock(const struct tkb_http_request *request,
                      struct tkb_error *err)
{
	const long long off =
		request->date_s == 0
			? 0
			: (long long)time(NULL) - (long long)request->date_s;

	return tkb_fail(err, TKB_ERR_DENIED,
	                "the clock here and the server's are %lld s apart "
	                "(RequestTimeTooSkewed)",
	                off < 0 ? -off : off);
}

/*
 * Is the bucket in another region? Either the answer says so, or the request
 * was redirected to another region, where its signature is not valid.
 */
static bool is_elsewhere(const struct tkb_s3 *s3,
                         const struct tkb_http_request *request,
                         const struct refusal *refusal)
{
	if (strcmp(refusal->code, "PermanentRedirect") == 0 ||
	    strcmp(refusal->code, "TemporaryRedirect") == 0)
		return true;
	return (request->status / 100 == 3 || request->status == 400 ||
	        request->status == 403) &&
	       refusal->region[0] != '\0' &&
	       strcmp(refusal->region, s3->site.region) != 0;
}

/* `rc` is the meaning of the HTTP status alone. */
static int explain_refusal(const struct tkb_s3 *s3,
                           const struct tkb_http_request *request,
                           const struct refusal *refusal, int rc,
                           struct tkb_error *err)
{
	if (is_elsewhere(s3, request, refusal))
		return fail_region(s3, refusal, err);
	if (strcmp(refusal->code, "NoSuchBucket") == 0)
		return tkb_fail(err, TKB_ERR_INVALID, "there is no bucket '%s'",
		                s3->site.bucket);
	if (rc == TKB_MISS)
		return TKB_MISS;
	if (strcmp(refusal->code, "RequestTimeTooSkewed") == 0)
		return fail_clock(request, err);
	for (size_t i = 0; i < TKB_COUNT_OF(reasons); i++) {
		if (strcmp(refusal->code, reasons[i].code) == 0)
			return tkb_fail(err, reasons[i].status, "%s",
			                reasons[i].sentence);
	}
	if (strcmp(refusal->code, "AccessDenied") == 0 &&
	    strcmp(request->method, "PUT") == 0)
		return tkb_fail(err, rc,
		                "it answers %ld, AccessDenied: "
		                "%.200s: " TKB_REMOTE_GRANT,
		                request->status, refusal->message);
	if (refusal->code[0] != '\0')
		return tkb_fail(err, rc, "it answers %ld, %.60s: %.250s",
		                request->status, refusal->code,
		                refusal->message);
	return 0;
}

int tkb_s3_judge(const struct tkb_s3 *s3, const struct tkb_op_limits *limits,
                 const struct tkb_http_request *request, struct tkb_error *err)
{
	struct tkb_error fault = { 0 };
	struct refusal refusal;
	int explained = 0;
	int rc;

	rc = tkb_http_request_judge(request, limits, &fault);
	if (rc == 0)
		return 0;
	if (request->rc == 0 || request->status / 100 == 3) {
		read_refusal(s3, request, &refusal);
		explained = explain_refusal(s3, request, &refusal, rc, err);
	}
	if (explained != 0)
		return explained;
	return rc < 0 ? tkb_fail_as(err, rc, &fault) : rc;
}

int tkb_s3_do(struct tkb_s3 *s3, const struct tkb_op_limits *limits,
              const struct tkb_s3_ask *ask, struct tkb_http_request *request,
              struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf refusal = TKB_BUF_INIT(TKB_HTTP_REFUSAL_LIMIT);
	int rc;

	request->refusal = &refusal;
	rc = tkb_s3_prepare(s3, limits, ask, &arena, request, err);
	if (rc == 0)
		rc = tkb_http_client_do(s3->client, limits, request, 1, err);
	if (rc == 0)
		rc = tkb_s3_judge(s3, limits, request, err);
	request->refusal = NULL;
	return rc;
}
