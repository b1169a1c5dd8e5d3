/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_S3_SIGV4_H
#define TKB_REMOTE_S3_SIGV4_H

/*
 * AWS Signature Version 4, in a header. No clock, no network: what is signed
 * is what the caller says, so that it can be held against AWS' own examples.
 *
 * libcurl signs too, but whatever header stands in its list, also one that it
 * leaves out ("Expect:"); and each version treats path and query otherwise.
 */

#include "base/base.h"
#include "base/buf.h"

enum {
	TKB_SIGV4_DATE_SIZE = 17
};

struct tkb_sigv4_keys {
	const char *id;
	const char *secret;
	const char *region;
	const char *service; /* "s3" */
};

struct tkb_sigv4_pair {
	const char *name;
	const char *value;
};

struct tkb_sigv4_request {
	const char *method;
	const char *path;  /* encoded */
	const char *query; /* by tkb_sigv4_query(); "" if there is none */
	/* Names in lower case and sorted; host and x-amz-date among them. */
	const struct tkb_sigv4_pair *headers;
	size_t header_count;
	const char *payload; /* its SHA-256 in hexadecimal */
	const char *date;    /* as in x-amz-date */
};

/* "20130524T000000Z" */
void tkb_sigv4_date(int64_t now_s, char out[TKB_SIGV4_DATE_SIZE]);

/* Append a query, encoded and in the order that is signed. */
TKB_NODISCARD int tkb_sigv4_query(const struct tkb_sigv4_pair *pairs,
                                  size_t count, struct tkb_buf *out,
                                  struct tkb_error *err);

/* Append what the header Authorization says. */
TKB_NODISCARD int tkb_sigv4_sign(const struct tkb_sigv4_keys *keys,
                                 const struct tkb_sigv4_request *request,
                                 struct tkb_buf *out, struct tkb_error *err);

#endif
