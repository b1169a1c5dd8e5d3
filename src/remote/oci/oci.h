/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_OCI_OCI_H
#define TKB_REMOTE_OCI_OCI_H

/*
 * A repository of a registry that speaks the OCI distribution protocol. A
 * registry lists tags and nothing else, and removes by its own garbage
 * collection each blob that no manifest names. So everything has a tag and,
 * behind that, a small manifest, whose one layer it is:
 *
 *     b.<sha256>         a blob
 *     r.<ref>.<sha256>   a record of a ref; the ref's name escaped
 *     h.<hash>.<sha256>  the same where that is too long for a tag: the start
 *                        of the name's SHA-256; the manifest has the name
 *
 * A manifest has a record of at most TKB_OCI_DATA_LIMIT bytes in itself, too, so that
 * one request gets both.
 *
 * No two pushers write one tag for different things, so nobody needs to compare
 * and swap. A manifest also says when it was put, by the server's clock, and a
 * random word, so that no two are equal: to delete one, which is only possible
 * by its digest, never deletes what another process has put meanwhile.
 *
 * Names in a tag: "__" is a slash, "_xx" another byte that no tag may have.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "base/digest.h"
#include "remote/backends.h"
#include "remote/net/http_objects.h"
#include "remote/oci/oci_keys.h"

enum {
	TKB_OCI_TAG_SIZE = 129,
	TKB_OCI_REF_SIZE = 256,
	TKB_OCI_HEADER_SIZE = 4096,
	TKB_OCI_MANIFEST_LIMIT = 4 * 1024 * 1024,
	TKB_OCI_DATA_LIMIT = 8 * 1024,
	TKB_OCI_URL_LIMIT = 16 * 1024
};

/* What a manifest of ours says. */
struct tkb_oci_manifest {
	uint64_t size;              /* of its layer; TKB_SIZE_UNKNOWN */
	int64_t put_s;              /* when it was put; 0: not told */
	char ref[TKB_OCI_REF_SIZE]; /* "" if it has none */
	struct tkb_digest digest;   /* its own */
	uint64_t age_s;             /* since it was put */
	struct tkb_bytes
		data; /* of its layer, where it has that: not checked */
};

/* Manifests as they were seen last, by their tags. Zeroed is empty. */
struct tkb_oci_seen_item {
	char tag[TKB_OCI_TAG_SIZE];
	char etag[96]; /* by which a registry tells whether it changed */
	struct tkb_oci_manifest manifest;
	char *data; /* owned; what that has */
};

struct tkb_oci_seen {
	struct tkb_oci_seen_item *items; /* owned; sorted */
	size_t count;
	size_t capacity;
	size_t data_size; /* of all */
};

struct tkb_oci {
	const struct tkb_remote_url *url;
	struct tkb_arena arena; /* owns the texts */
	const char *base;       /* "https://host:port" */
	const char *registry;   /* "host:port", as in files of credentials */
	const char *repository; /* "team/kernels" */
	const char *mount; /* a repository that may have blobs, too; or NULL */
	struct tkb_oci_auth auth;
	const char *lines[1];           /* the header that each request has */
	struct tkb_http_client *client; /* owned */
	int64_t now_s; /* by the server's clock, when last heard of; 0: never */
	struct tkb_oci_seen seen;
};

/* Read the URL into base and repository. Returns 0, TKB_ERR_INVALID or _NOMEM. */
TKB_NODISCARD int tkb_oci_site_read(const struct tkb_remote_url *url,
                                    struct tkb_oci *oci, struct tkb_error *err);

/* "<base>/v2/<repository>/<kind><name>" */
TKB_NODISCARD int tkb_oci_url(const struct tkb_oci *oci,
                              struct tkb_arena *arena, const char *kind,
                              const char *name, const char **out,
                              struct tkb_error *err);
/* The URL of a blob. */
TKB_NODISCARD int tkb_oci_blob_url(const struct tkb_oci *oci,
                                   struct tkb_arena *arena,
                                   const struct tkb_digest *digest,
                                   const char **out, struct tkb_error *err);

/*
 * Get the credentials that a 401 asks for in its header WWW-Authenticate. TKB_MISS:
 * there are none but those that were sent.
 */
TKB_NODISCARD int tkb_oci_auth_answer(struct tkb_oci *oci,
                                      const struct tkb_op_limits *limits,
                                      const char *challenge,
                                      struct tkb_error *err);

/* Get a token for all scopes that were asked for so far. */
TKB_NODISCARD int tkb_oci_auth_token(struct tkb_oci *oci,
                                     const struct tkb_op_limits *limits,
                                     struct tkb_error *err);

/* Mount nothing any more, and ask for no right to. */
void tkb_oci_auth_forget_mount(struct tkb_oci *oci);

/* Begin an operation: get another token if the present one expires. */
TKB_NODISCARD int tkb_oci_auth_renew(struct tkb_oci *oci,
                                     const struct tkb_op_limits *limits,
                                     struct tkb_error *err);

/* As tkb_http_client_do(), with the credentials that the registry wants. */
TKB_NODISCARD int tkb_oci_do(struct tkb_oci *oci,
                             const struct tkb_op_limits *limits,
                             struct tkb_http_request *requests, size_t count,
                             struct tkb_error *err);

/* Do one request, and judge its answer. */
TKB_NODISCARD int tkb_oci_ask(struct tkb_oci *oci,
                              const struct tkb_op_limits *limits,
                              struct tkb_http_request *request,
                              struct tkb_error *err);

/* The tag of a record of `ref`, or, if that is NULL, of a blob. */
TKB_NODISCARD int tkb_oci_tag(const char *ref, const struct tkb_digest *digest,
                              char out[TKB_OCI_TAG_SIZE],
                              struct tkb_error *err);

/* How the tags of a ref's records begin. */
TKB_NODISCARD int tkb_oci_tag_start(const char *ref, char out[TKB_OCI_TAG_SIZE],
                                    struct tkb_error *err);

/* The digest in a tag, and the length of what stands before it. */
bool tkb_oci_tag_read(const char *tag, struct tkb_digest *digest_out,
                      size_t *start_out);

/* The ref in the beginning of a tag, "r.<ref>."; false: it has another form. */
bool tkb_oci_tag_ref(const char *tag, size_t start, char out[TKB_OCI_REF_SIZE]);

/* All tags of the repository that may be ours. Zeroed is empty. */
struct tkb_oci_tags {
	struct tkb_arena arena;
	const char **items; /* owned */
	size_t count;
	size_t capacity;
};

void tkb_oci_tags_release(struct tkb_oci_tags *tags);
/* Those that begin with `start`. */
TKB_NODISCARD int tkb_oci_tags_read(struct tkb_oci *oci,
                                    const struct tkb_op_limits *limits,
                                    const char *start, struct tkb_oci_tags *out,
                                    struct tkb_error *err);

void tkb_oci_seen_release(struct tkb_oci_seen *seen);

/* NULL: it was not seen. */
const struct tkb_oci_seen_item *tkb_oci_seen_find(
	const struct tkb_oci_seen *seen, const char *tag);

/* Remember it, if there is room. */
void tkb_oci_seen_note(struct tkb_oci_seen *seen, const char *tag,
                       const char *etag,
                       const struct tkb_oci_manifest *manifest);

/*
 * Fetch manifests, several at once, and give them to `on_manifest` in this order:
 * rc is 0, TKB_MISS (there is none any more), or why it cannot be read, as in
 * struct tkb_record_visitor.
 */
struct tkb_oci_manifest_visitor {
	/* What the manifest points to lasts until this returns. */
	int (*on_manifest)(void *self, size_t index, int rc,
	                   const struct tkb_oci_manifest *manifest,
	                   const struct tkb_error *why, struct tkb_error *err);
	void *self;
};

TKB_NODISCARD int tkb_oci_manifests(
	struct tkb_oci *oci, const struct tkb_op_limits *limits,
	const char *const *tags, size_t count,
	const struct tkb_oci_manifest_visitor *visitor, struct tkb_error *err);

/*
 * Fetch the manifest of one tag: 0, TKB_MISS, or a failure. Its data are appended
 * to `data`, unless that is NULL.
 */
TKB_NODISCARD int tkb_oci_manifest_get(struct tkb_oci *oci,
                                       const struct tkb_op_limits *limits,
                                       const char *tag,
                                       struct tkb_oci_manifest *out,
                                       struct tkb_buf *data,
                                       struct tkb_error *err);

/* What a tag stands for. */
struct tkb_oci_item {
	const char *ref; /* whose record it is; NULL: a blob */
	const struct tkb_digest *digest;
	uint64_t size;
	struct tkb_bytes data; /* its bytes, for the manifest; or none */
};

/*
 * Put a manifest after its blobs. `*lacks_blob_out` becomes true if the registry
 * says that a blob is missing.
 */
TKB_NODISCARD int tkb_oci_manifest_put(struct tkb_oci *oci,
                                       const struct tkb_op_limits *limits,
                                       const struct tkb_oci_item *item,
                                       bool *lacks_blob_out,
                                       struct tkb_error *err);

/* Delete the manifest behind an item's tag; TKB_MISS: there is none. */
TKB_NODISCARD int tkb_oci_manifest_delete(struct tkb_oci *oci,
                                          const struct tkb_op_limits *limits,
                                          const struct tkb_oci_item *item,
                                          struct tkb_error *err);

/* Store a blob unless it is there, and put its manifest. */
TKB_NODISCARD int tkb_oci_store(struct tkb_oci *oci,
                                const struct tkb_op_limits *limits,
                                const struct tkb_oci_item *item,
                                const struct tkb_blob *blob,
                                struct tkb_error *err);

/* Upload a blob, or mount it, without a look whether it is there. */
TKB_NODISCARD int tkb_oci_send(struct tkb_oci *oci,
                               const struct tkb_op_limits *limits,
                               const struct tkb_digest *digest,
                               const struct tkb_blob *blob,
                               struct tkb_error *err);

/* The same, unless it is there. */
TKB_NODISCARD int tkb_oci_upload(struct tkb_oci *oci,
                                 const struct tkb_op_limits *limits,
                                 const struct tkb_digest *digest,
                                 const struct tkb_blob *blob,
                                 struct tkb_error *err);

/* Functions of struct tkb_remote_backend. */
int tkb_oci_put_image(void *self, const struct tkb_op_limits *limits,
                      const struct tkb_image_manifest *manifest,
                      bool *is_listed_out, struct tkb_error *err);
int tkb_oci_get_image(void *self, const struct tkb_op_limits *limits,
                      const char *name, const struct tkb_sink *sink,
                      struct tkb_error *err);
int tkb_oci_get_referrers(void *self, const struct tkb_op_limits *limits,
                          const struct tkb_digest *subject,
                          const struct tkb_sink *sink, struct tkb_error *err);
int tkb_oci_add(void *self, const struct tkb_op_limits *limits, const char *ref,
                const struct tkb_digest *digest, struct tkb_bytes record,
                struct tkb_error *err);
int tkb_oci_records(void *self, const struct tkb_op_limits *limits,
                    const char *ref, const struct tkb_record_visitor *visitor,
                    struct tkb_error *err);
int tkb_oci_drop(void *self, const struct tkb_op_limits *limits,
                 const char *ref, const struct tkb_digest *digest,
                 struct tkb_error *err);
int tkb_oci_touch(void *self, const struct tkb_op_limits *limits,
                  const char *ref, const struct tkb_digest *digest,
                  struct tkb_error *err);
int tkb_oci_refs(void *self, const struct tkb_op_limits *limits,
                 const struct tkb_ref_visitor *visitor, struct tkb_error *err);

#endif
