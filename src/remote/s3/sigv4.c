/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/s3/sigv4.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/arena.h"
#include "base/digest.h"
#include "remote/net/escape.h"

enum {
	REQUEST_LIMIT = 64 * 1024,
	SECRET_LIMIT = 1024,
	DAY_SIZE = 8 /* of the date: YYYYMMDD */
};

void tkb_sigv4_date(int64_t now_s, char out[TKB_SIGV4_DATE_SIZE])
{
	const time_t now = (time_t)now_s;
	struct tm parts = { 0 };

	(void)gmtime_r(&now, &parts);
	out[0] = '\0';
	(void)strftime(out, TKB_SIGV4_DATE_SIZE, "%Y%m%dT%H%M%SZ", &parts);
}

/* An encoded copy of `text`, or NULL. */
static const char *encoded(struct tkb_arena *arena, const char *text)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf buf = TKB_BUF_INIT(REQUEST_LIMIT);

	tkb_escape(&buf, text, "");
	if (tkb_buf_check(&buf, NULL) < 0)
		return NULL;
	return tkb_arena_string(arena, tkb_buf_bytes(&buf));
}

static int compare_sigv4_pairs(const void *a, const void *b)
{
	const struct tkb_sigv4_pair *left = a;
	const struct tkb_sigv4_pair *right = b;
	const int order = strcmp(left->name, right->name);

	return order != 0 ? order : strcmp(left->value, right->value);
}

int tkb_sigv4_query(const struct tkb_sigv4_pair *pairs, size_t count,
                    struct tkb_buf *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_sigv4_pair *sorted =
		tkb_arena_alloc(&arena, count + 1, sizeof(*sorted));

	if (sorted == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		sorted[i].name = encoded(&arena, pairs[i].name);
		sorted[i].value = encoded(&arena, pairs[i].value);
		if (sorted[i].name == NULL || sorted[i].value == NULL)
			return tkb_fail_nomem(err);
	}
	tkb_sort(sorted, count, sizeof(*sorted), compare_sigv4_pairs);
	for (size_t i = 0; i < count; i++)
		tkb_print(out, "%s%s=%s", i != 0 ? "&" : "", sorted[i].name,
		          sorted[i].value);
	return tkb_buf_check(out, err);
}

static void add_names(struct tkb_buf *out,
                      const struct tkb_sigv4_request *request)
{
	for (size_t i = 0; i < request->header_count; i++)
		tkb_print(out, "%s%s", i != 0 ? ";" : "",
		          request->headers[i].name);
}

/* Add "<day>/<region>/<service>/aws4_request". */
static void add_scope(struct tkb_buf *out, const struct tkb_sigv4_keys *keys,
                      const struct tkb_sigv4_request *request)
{
	tkb_print(out, "%.*s/%s/%s/aws4_request", DAY_SIZE, request->date,
	          keys->region, keys->service);
}

/* Compute the digest of the canonical request. */
static int digest_request(const struct tkb_sigv4_request *request,
                          char out[TKB_DIGEST_HEX_SIZE], struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(REQUEST_LIMIT);
	struct tkb_digest digest;
	int rc;

	tkb_print(&text, "%s\n%s\n%s\n", request->method, request->path,
	          request->query);
	for (size_t i = 0; i < request->header_count; i++)
		tkb_print(&text, "%s:%s\n", request->headers[i].name,
		          request->headers[i].value);
	tkb_buf_add_byte(&text, '\n');
	add_names(&text, request);
	tkb_print(&text, "\n%s", request->payload);
	rc = tkb_buf_check(&text, err);
	if (rc == 0)
		rc = tkb_digest_of(tkb_buf_bytes(&text), &digest, err);
	if (rc == 0)
		tkb_digest_to_hex(&digest, out);
	return rc;
}

static int authenticate(struct tkb_bytes key, struct tkb_bytes text,
                        struct tkb_digest *out, struct tkb_error *err)
{
	unsigned size = sizeof(out->bytes);

	if (HMAC(EVP_sha256(), key.data, (int)key.size, text.data, text.size,
	         out->bytes, &size) == NULL)
		return tkb_fail(err, TKB_ERR_NOMEM, "OpenSSL has no HMAC");
	return 0;
}

/* Derive the key for one day, one region and one service. */
static int make_key(const struct tkb_sigv4_keys *keys, const char *date,
                    struct tkb_digest *out, struct tkb_error *err)
{
	const struct tkb_bytes steps[] = {
		{ date, DAY_SIZE },
		tkb_text(keys->region),
		tkb_text(keys->service),
		tkb_text("aws4_request"),
	};
	char start[SECRET_LIMIT];
	const int size = snprintf(start, sizeof(start), "AWS4%s", keys->secret);
	struct tkb_bytes key = { start, (size_t)size };
	int rc = 0;

	if (key.size >= sizeof(start))
		rc = tkb_fail(err, TKB_ERR_INVALID,
		              "the secret key is longer "
		              "than such keys are");
	for (size_t i = 0; i < TKB_COUNT_OF(steps) && rc == 0; i++) {
		rc = authenticate(key, steps[i], out, err);
		key = (struct tkb_bytes){ out->bytes, sizeof(out->bytes) };
	}
	explicit_bzero(start, sizeof(start));
	return rc;
}

static int sign_text(const struct tkb_sigv4_keys *keys,
                     const struct tkb_sigv4_request *request,
                     struct tkb_digest *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(REQUEST_LIMIT);
	char digest[TKB_DIGEST_HEX_SIZE];
	struct tkb_digest key;
	int rc;

	rc = digest_request(request, digest, err);
	if (rc < 0)
		return rc;
	tkb_print(&text, "AWS4-HMAC-SHA256\n%s\n", request->date);
	add_scope(&text, keys, request);
	tkb_print(&text, "\n%s", digest);
	rc = tkb_buf_check(&text, err);
	if (rc == 0)
		rc = make_key(keys, request->date, &key, err);
	if (rc == 0)
		rc = authenticate(
			(struct tkb_bytes){ key.bytes, sizeof(key.bytes) },
			tkb_buf_bytes(&text), out, err);
	explicit_bzero(&key, sizeof(key));
	return rc;
}

int tkb_sigv4_sign(const struct tkb_sigv4_keys *keys,
                   const struct tkb_sigv4_request *request, struct tkb_buf *out,
                   struct tkb_error *err)
{
	struct tkb_digest signature;
	int rc;

	rc = sign_text(keys, request, &signature, err);
	if (rc < 0)
		return rc;
	tkb_print(out, "AWS4-HMAC-SHA256 Credential=%s/", keys->id);
	add_scope(out, keys, request);
	tkb_buf_add_text(out, ",SignedHeaders=");
	add_names(out, request);
	tkb_print(out, ",Signature=%s", tkb_digest_hex(&signature).text);
	return tkb_buf_check(out, err);
}
