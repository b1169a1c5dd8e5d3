/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_S3_S3_H
#define TKB_REMOTE_S3_S3_H

/*
 * S3 and compatible servers. These are the objects, below the URL's path:
 *
 *     cas/<sha256>         a blob
 *     ref/<name>/<sha256>  a record; a comma for each slash in the ref's name
 *
 * Ages are by the server's clock: Last-Modified compared with Date. An object
 * is named by its digest, and a put is signed with it, so that S3 refuses other
 * bytes.
 *
 * Rights: s3:GetObject and s3:ListBucket to pull (without the latter, S3
 * answers "denied" for an object that does not exist), s3:PutObject to push,
 * s3:DeleteObject for gc. A record is touched by copying it onto itself.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "base/digest.h"
#include "remote/backends.h"
#include "remote/s3/s3_keys.h"
#include "remote/s3/sigv4.h"
#include "remote/net/http_objects.h"

enum {
	TKB_S3_REF_SIZE = 256,
	TKB_S3_KEY_SIZE = TKB_S3_REF_SIZE + 80
};

/* Where the bucket is. The arena owns the texts. */
struct tkb_s3_site {
	struct tkb_arena arena;
	const char *bucket;
	const char *prefix; /* of keys: "", or ends with a slash */
	const char *region;
	const char *base; /* "https://host:9000" */
	const char *host; /* value of the header Host */
	const char *path; /* of the bucket: "" or "/bucket" */
};

struct tkb_s3 {
	const struct tkb_remote_url *url;
	struct tkb_s3_site site;
	bool is_anonymous; /* requests are not signed */
	struct tkb_s3_keys keys;
	struct tkb_http_client *client; /* owned */
};

/* Find the bucket. Returns 0, TKB_ERR_INVALID or TKB_ERR_NOMEM. */
TKB_NODISCARD int tkb_s3_site_read(const struct tkb_remote_url *url,
                                   struct tkb_s3_site *out,
                                   struct tkb_error *err);
void tkb_s3_site_release(struct tkb_s3_site *site);

/* A request, before it is signed. */
struct tkb_s3_ask {
	const char *method;
	const char *ref;                 /* the ref of a record; NULL: a blob */
	const struct tkb_digest *digest; /* of the object; NULL: the bucket
	                                    itself */
	const struct tkb_sigv4_pair *query;
	size_t query_count;
	const struct tkb_blob *body; /* may be NULL */
	bool is_copy;                /* copy the object onto itself */
};

/*
 * Sign the request with the current time, with new credentials if there are none
 * yet or those of a role end soon. `arena` owns what `out` points to.
 */
TKB_NODISCARD int tkb_s3_prepare(struct tkb_s3 *s3,
                                 const struct tkb_op_limits *limits,
                                 const struct tkb_s3_ask *ask,
                                 struct tkb_arena *arena,
                                 struct tkb_http_request *out,
                                 struct tkb_error *err);

/*
 * Prepare a request in which only the sink is set, send it, and judge the
 * answer.
 */
TKB_NODISCARD int tkb_s3_do(struct tkb_s3 *s3,
                            const struct tkb_op_limits *limits,
                            const struct tkb_s3_ask *ask,
                            struct tkb_http_request *request,
                            struct tkb_error *err);

/* The records of `ref`, or the blobs if `ref` is NULL. */
struct tkb_http_objects tkb_s3_objects_of(struct tkb_s3 *s3,
                                          const struct tkb_op_limits *limits,
                                          const char *ref);

/*
 * The meaning of an answer: like tkb_http_request_judge(), with S3's own
 * reasons.
 */
TKB_NODISCARD int tkb_s3_judge(const struct tkb_s3 *s3,
                               const struct tkb_op_limits *limits,
                               const struct tkb_http_request *request,
                               struct tkb_error *err);

/*
 * Write the key "cas/<sha256>" or "ref/<name>/<sha256>"; without a digest, the
 * part before it.
 */
void tkb_s3_key(const char *ref, const struct tkb_digest *digest,
                char out[TKB_S3_KEY_SIZE]);

struct tkb_s3_item {
	const char *name; /* the key without `start` of the listing */
	uint64_t size;
	uint64_t age_s;
};

/* A listing of the keys that begin with `start`. */
struct tkb_s3_listing {
	const char *start; /* a key, ending with a slash */
	bool has_folders;  /* report only the names up to the next slash */
	int (*on_item)(void *self, const struct tkb_s3_item *item,
	               struct tkb_error *err);
	void *self;
};

TKB_NODISCARD int tkb_s3_list(struct tkb_s3 *s3,
                              const struct tkb_op_limits *limits,
                              const struct tkb_s3_listing *listing,
                              struct tkb_error *err);

/* Functions of struct tkb_remote_backend. */
int tkb_s3_records(void *self, const struct tkb_op_limits *limits,
                   const char *ref, const struct tkb_record_visitor *visitor,
                   struct tkb_error *err);
int tkb_s3_touch(void *self, const struct tkb_op_limits *limits,
                 const char *ref, const struct tkb_digest *digest,
                 struct tkb_error *err);
int tkb_s3_refs(void *self, const struct tkb_op_limits *limits,
                const struct tkb_ref_visitor *visitor, struct tkb_error *err);

#endif
