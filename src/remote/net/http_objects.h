/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_HTTP_OBJECTS_H
#define TKB_REMOTE_NET_HTTP_OBJECTS_H

/*
 * Blobs, or the records of a ref, that a server keeps each under a URL of its
 * own: many requests at once, for all backends that speak HTTP.
 */

#include "base/arena.h"
#include "remote/net/http_client.h"

enum {
	TKB_HTTP_RECORD_LIMIT = 64 * 1024 * 1024, /* bytes of a record */
	TKB_HTTP_REFUSAL_LIMIT =
		16 * 1024 /* of an answer that says what fails */
};

/* How a backend asks for them. */
struct tkb_http_objects {
	void *self;
	struct tkb_http_client *client;
	const struct tkb_op_limits *limits;
	const char *ref; /* whose records they are; NULL: blobs */
	/* Name the object in `out`; the arena owns what that points to. */
	int (*prepare)(const struct tkb_http_objects *objects,
	               const char *method, const struct tkb_digest *digest,
	               struct tkb_arena *arena, struct tkb_http_request *out,
	               struct tkb_error *err);
	/* NULL: tkb_http_request_judge(). */
	int (*judge)(const struct tkb_http_objects *objects,
	             const struct tkb_http_request *request,
	             struct tkb_error *err);
};

/* Ask for `count` of them by HEAD. The arena owns the requests in `*out`. */
TKB_NODISCARD int tkb_http_objects_head(const struct tkb_http_objects *objects,
                                        const struct tkb_digest *digests,
                                        size_t count, struct tkb_arena *arena,
                                        struct tkb_http_request **out,
                                        struct tkb_error *err);

/* A record that is listed. */
struct tkb_http_listed {
	struct tkb_digest digest;
	uint64_t size;  /* TKB_SIZE_UNKNOWN: not told */
	uint64_t age_s; /* UINT64_MAX: as its answer says */
};

/* Records that are listed, one by one. */
struct tkb_http_records {
	struct tkb_http_listed *items; /* owned */
	size_t count;
	size_t capacity;
};

/* Append one. TKB_ERR_TOO_LARGE if there are more than a million. */
TKB_NODISCARD int tkb_http_records_add(struct tkb_http_records *records,
                                       const struct tkb_http_listed *record,
                                       struct tkb_error *err);
void tkb_http_records_release(struct tkb_http_records *records);

/*
 * Get records, several at once, and tell them. One that is too large, or is
 * refused, or fails alone, is told as unread; one that is gone is passed over.
 */
TKB_NODISCARD int tkb_http_objects_records(
	const struct tkb_http_objects *objects,
	const struct tkb_http_listed *records, size_t count,
	const struct tkb_record_visitor *visitor, struct tkb_error *err);

/* Seconds between two times; 0 where one is not known. */
uint64_t tkb_http_age(int64_t now_s, int64_t then_s);

#endif
