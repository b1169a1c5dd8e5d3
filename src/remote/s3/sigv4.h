/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_S3_SIGV4_H
#define TKB_REMOTE_S3_SIGV4_H

/*
 * AWS Signature Version 4, as a header. It uses no clock and no network: the
 * caller passes everything that is signed, so that the result can be compared
 * with AWS's examples.
 *
 * libcurl can also sign, but it signs every header in its list, even one that
 * it does not send ("Expect:"), and its versions treat path and query
 * differently.
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
	const char *query; /* from tkb_sigv4_query(), or "" */
	/* Names are lower case and sorted; they include host and x-amz-date. */
	const struct tkb_sigv4_pair *headers;
	size_t header_count;
	const char *payload; /* its SHA-256 in hexadecimal */
	const char *date;    /* the value of x-amz-date */
};

/* Write a time as "20130524T000000Z". */
void tkb_sigv4_date(int64_t now_s, char out[TKB_SIGV4_DATE_SIZE]);

/* Append the query, encoded and in the order that is signed. */
TKB_NODISCARD int tkb_sigv4_query(const struct tkb_sigv4_pair *pairs,
                                  size_t count, struct tkb_buf *out,
                                  struct tkb_error *err);

/* Append the value of the header Authorization. */
TKB_NODISCARD int tkb_sigv4_sign(const struct tkb_sigv4_keys *keys,
                                 const struct tkb_sigv4_request *request,
                                 struct tkb_buf *out, struct tkb_error *err);

#endif
