/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_HTTP_OBJECTS_H
#define TKB_REMOTE_NET_HTTP_OBJECTS_H

/*
 * Blobs, or records of a ref, each stored under a URL of its own. Many requests
 * run at once. All backends that speak HTTP use this.
 */

#include "base/arena.h"
#include "remote/net/http_client.h"

enum {
	TKB_HTTP_RECORD_LIMIT = 64 * 1024 * 1024, /* bytes of a record */
	TKB_HTTP_REFUSAL_LIMIT = 16 * 1024        /* of an error answer */
};

/* How a backend requests objects. */
struct tkb_http_objects {
	void *self;
	struct tkb_http_client *client;
	const struct tkb_op_limits *limits;
	const char *ref; /* the ref of the records; NULL: blobs */
	/*
	 * Fill in the request for an object; the arena owns what it points to.
	 */
	int (*prepare)(const struct tkb_http_objects *objects,
	               const char *method, const struct tkb_digest *digest,
	               struct tkb_arena *arena, struct tkb_http_request *out,
	               struct tkb_error *err);
	/* Judge an answer. If NULL, tkb_http_request_judge() is used. */
	int (*judge)(const struct tkb_http_objects *objects,
	             const struct tkb_http_request *request,
	             struct tkb_error *err);
};

/* Request `count` objects by HEAD. The arena owns the requests in `*out`. */
TKB_NODISCARD int tkb_http_objects_head(const struct tkb_http_objects *objects,
                                        const struct tkb_digest *digests,
                                        size_t count, struct tkb_arena *arena,
                                        struct tkb_http_request **out,
                                        struct tkb_error *err);

/* A record in a listing. */
struct tkb_http_listed {
	struct tkb_digest digest;
	uint64_t size;  /* or TKB_SIZE_UNKNOWN */
	uint64_t age_s; /* UINT64_MAX: the answer will tell */
};

/* A list of records. */
struct tkb_http_records {
	struct tkb_http_listed *items; /* owned */
	size_t count;
	size_t capacity;
};

/* Append a record. TKB_ERR_TOO_LARGE if there are more than a million. */
TKB_NODISCARD int tkb_http_records_add(struct tkb_http_records *records,
                                       const struct tkb_http_listed *record,
                                       struct tkb_error *err);
void tkb_http_records_release(struct tkb_http_records *records);

/*
 * Get records, several at once, and pass them to the visitor. A record that is
 * too large, is refused, or fails alone is reported as unread; one that is gone
 * is skipped.
 */
TKB_NODISCARD int tkb_http_objects_records(
	const struct tkb_http_objects *objects,
	const struct tkb_http_listed *records, size_t count,
	const struct tkb_record_visitor *visitor, struct tkb_error *err);

/* Seconds between two times; 0 if either is unknown. */
uint64_t tkb_http_age(int64_t now_s, int64_t then_s);

#endif
