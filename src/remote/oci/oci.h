/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_OCI_OCI_H
#define TKB_REMOTE_OCI_OCI_H

/*
 * A repository of a registry that speaks the OCI distribution protocol. A registry
 * can list only tags, and its garbage collection removes each blob that no manifest
 * names. So each object has a tag for a small manifest, and is the only layer of that
 * manifest:
 *
 *     b.<sha256>         a blob
 *     r.<ref>.<sha256>   a record of a ref, whose name is escaped
 *     h.<hash>.<sha256>  a record whose ref is too long for a tag: the start
 *                        of the SHA-256 of the name, which is in the manifest
 *
 * A record of at most TKB_OCI_DATA_LIMIT bytes is also embedded in its manifest, so
 * that one request gets both.
 *
 * Two pushers never write the same tag for different objects, so no compare-and-swap
 * is needed. A manifest also has the time when it was put, by the server's clock, and
 * a random word, so that no two are equal. Manifests are deleted by digest, so a
 * deletion never hits a manifest that another process has put meanwhile.
 *
 * In the names in tags, "__" is a slash, and "_xx" another byte that tags cannot
 * have.
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

/* The contents of one of our manifests. */
struct tkb_oci_manifest {
	uint64_t size;              /* of its layer, or TKB_SIZE_UNKNOWN */
	int64_t put_s;              /* when it was put; 0: unknown */
	char ref[TKB_OCI_REF_SIZE]; /* "" if it has none */
	struct tkb_digest digest;   /* of the manifest itself */
	uint64_t age_s;             /* since it was put */
	struct tkb_bytes
		data; /* the layer's bytes, if embedded; not verified */
};

/* A cache of manifests by tag. A zeroed struct is empty. */
struct tkb_oci_seen_item {
	char tag[TKB_OCI_TAG_SIZE];
	char etag[96]; /* lets the registry tell whether it changed */
	struct tkb_oci_manifest manifest;
	char *data; /* owned; holds the manifest's data */
};

struct tkb_oci_seen {
	struct tkb_oci_seen_item *items; /* owned; sorted */
	size_t count;
	size_t capacity;
	size_t data_size; /* of all items together */
};

struct tkb_oci {
	const struct tkb_remote_url *url;
	struct tkb_arena arena; /* owns the texts */
	const char *base;       /* "https://host:port" */
	const char *registry;   /* "host:port", as in files of credentials */
	const char *repository; /* "team/kernels" */
	const char *mount;      /* a repository to mount blobs from; or NULL */
	struct tkb_oci_auth auth;
	const char *lines[1];           /* the header sent with each request */
	struct tkb_http_client *client; /* owned */
	int64_t now_s; /* by the server's clock at its last answer; 0: none
	                  yet */
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
 * Get the credentials that a 401 requests in its header WWW-Authenticate. TKB_MISS:
 * there are no others than those sent already.
 */
TKB_NODISCARD int tkb_oci_auth_answer(struct tkb_oci *oci,
                                      const struct tkb_op_limits *limits,
                                      const char *challenge,
                                      struct tkb_error *err);

/* Get a token for all scopes that were needed so far. */
TKB_NODISCARD int tkb_oci_auth_token(struct tkb_oci *oci,
                                     const struct tkb_op_limits *limits,
                                     struct tkb_error *err);

/* Stop mounting blobs, and stop requesting the right to. */
void tkb_oci_auth_forget_mount(struct tkb_oci *oci);

/* Begin an operation: get a new token if the current one is about to expire. */
TKB_NODISCARD int tkb_oci_auth_renew(struct tkb_oci *oci,
                                     const struct tkb_op_limits *limits,
                                     struct tkb_error *err);

/* Like tkb_http_client_do(), with the credentials that the registry wants. */
TKB_NODISCARD int tkb_oci_do(struct tkb_oci *oci,
                             const struct tkb_op_limits *limits,
                             struct tkb_http_request *requests, size_t count,
                             struct tkb_error *err);

/* Do one request, and judge the answer. */
TKB_NODISCARD int tkb_oci_ask(struct tkb_oci *oci,
                              const struct tkb_op_limits *limits,
                              struct tkb_http_request *request,
                              struct tkb_error *err);

/* The tag of a record of `ref`, or of a blob if `ref` is NULL. */
TKB_NODISCARD int tkb_oci_tag(const char *ref, const struct tkb_digest *digest,
                              char out[TKB_OCI_TAG_SIZE],
                              struct tkb_error *err);

/* The common prefix of the tags of a ref's records. */
TKB_NODISCARD int tkb_oci_tag_start(const char *ref, char out[TKB_OCI_TAG_SIZE],
                                    struct tkb_error *err);

/* Read the digest in a tag, and the length of the part before it. */
bool tkb_oci_tag_read(const char *tag, struct tkb_digest *digest_out,
                      size_t *start_out);

/*
 * Read the ref from the start of a tag, "r.<ref>."; false: it has another form.
 */
bool tkb_oci_tag_ref(const char *tag, size_t start, char out[TKB_OCI_REF_SIZE]);

/* All tags of the repository that may be ours. A zeroed struct is empty. */
struct tkb_oci_tags {
	struct tkb_arena arena;
	const char **items; /* owned */
	size_t count;
	size_t capacity;
};

void tkb_oci_tags_release(struct tkb_oci_tags *tags);
/* Read the tags that begin with `start`. */
TKB_NODISCARD int tkb_oci_tags_read(struct tkb_oci *oci,
                                    const struct tkb_op_limits *limits,
                                    const char *start, struct tkb_oci_tags *out,
                                    struct tkb_error *err);

void tkb_oci_seen_release(struct tkb_oci_seen *seen);

/* Find a tag's manifest in the cache, or NULL. */
const struct tkb_oci_seen_item *tkb_oci_seen_find(
	const struct tkb_oci_seen *seen, const char *tag);

/* Add a manifest to the cache, if there is room. */
void tkb_oci_seen_note(struct tkb_oci_seen *seen, const char *tag,
                       const char *etag,
                       const struct tkb_oci_manifest *manifest);

/*
 * Fetch manifests, several at once, and pass them to `on_manifest` in order: rc
 * is 0, TKB_MISS (it is gone), or the reason why it cannot be read, as in struct
 * tkb_record_visitor.
 */
struct tkb_oci_manifest_visitor {
	/* The manifest's texts are valid until this returns. */
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

/* The object that a tag stands for. */
struct tkb_oci_item {
	const char *ref; /* the ref of a record; NULL: a blob */
	const struct tkb_digest *digest;
	uint64_t size;
	struct tkb_bytes data; /* bytes to embed in the manifest, if any */
	const char *condition; /* a header of its PUT; NULL: none */
};

/*
 * Put a manifest after its blobs. `*lacks_blob_out` becomes true if the registry
 * says that a blob is missing. TKB_MISS: the item's condition was false.
 */
TKB_NODISCARD int tkb_oci_manifest_put(struct tkb_oci *oci,
                                       const struct tkb_op_limits *limits,
                                       const struct tkb_oci_item *item,
                                       bool *lacks_blob_out,
                                       struct tkb_error *err);

/* Delete the manifest of an item's tag; TKB_MISS: there is none. */
TKB_NODISCARD int tkb_oci_manifest_delete(struct tkb_oci *oci,
                                          const struct tkb_op_limits *limits,
                                          const struct tkb_oci_item *item,
                                          struct tkb_error *err);

/* Store a blob unless it exists, and put its manifest. */
TKB_NODISCARD int tkb_oci_store(struct tkb_oci *oci,
                                const struct tkb_op_limits *limits,
                                const struct tkb_oci_item *item,
                                const struct tkb_blob *blob,
                                struct tkb_error *err);

/* Upload or mount a blob, without checking whether it exists. */
TKB_NODISCARD int tkb_oci_send(struct tkb_oci *oci,
                               const struct tkb_op_limits *limits,
                               const struct tkb_digest *digest,
                               const struct tkb_blob *blob,
                               struct tkb_error *err);

/* The same, unless the blob exists. */
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
