/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_HTTP_HTTP_H
#define TKB_REMOTE_HTTP_HTTP_H

/*
 * Any HTTP server that takes PUT. Below the URL of the remote stand
 *
 *     cas/<sha256>         blobs
 *     ref/<name>/<sha256>  the records of a ref; its slashes become commas
 *
 * A record is a file like any other, so pushers need no lock; what there is
 * must be listed. Servers do that in one of these ways, and which it is, is
 * found out once per handle:
 *
 *     index     GET of a folder gives JSON, as nginx's autoindex writes it
 *     dav       PROPFIND, WebDAV
 *     document  the server lists nothing, but honours If-Match: one document
 *               a folder, index/ref,<name>, index/ref and index/cas,<0..f>,
 *               has a line for each name in it, and is replaced only if nobody
 *               else did so meanwhile
 *
 * A document names a blob before it is there, and a record after: what a kill
 * leaves behind is a name without a blob, which listing passes over, or a
 * record that nobody sees. nginx passes over If-Match: whether a server honours
 * it is tried on a scratch name before it is trusted with a document.
 *
 * Ages are by the server's clock: its Date, and when the file was modified.
 */

#include "base/arena.h"
#include "base/digest.h"
#include "remote/backends.h"
#include "remote/net/http_objects.h"

enum tkb_http_listing_mode {
	TKB_HTTP_UNKNOWN,
	TKB_HTTP_INDEX,
	TKB_HTTP_DAV,
	TKB_HTTP_DOCUMENT,
	TKB_HTTP_NONE /* nothing can be listed */
};

struct tkb_http {
	const struct tkb_remote_url *url;
	struct tkb_http_client *client; /* owned */
	char *base;           /* owned; the remote's URL, no slash at its end */
	char *bearer;         /* owned; NULL: none */
	const char **headers; /* owned; the texts are the URL's */
	size_t header_count;
	enum tkb_http_listing_mode mode;
	bool is_single_writer; /* no If-Match is needed */
	bool is_tried;         /* the server was seen to honour If-Match */
};

struct tkb_http_file {
	const char *name;
	bool is_folder;
	uint64_t size;      /* UINT64_MAX: not told */
	int64_t modified_s; /* since 1970; 0: not told */
};

/* What there is in a folder. Zeroed is empty. */
struct tkb_http_listing {
	struct tkb_arena arena;      /* owns the names */
	struct tkb_http_file *files; /* owned */
	size_t count;
	size_t capacity;
	int64_t now_s; /* by the server's clock; 0: not told */
};

void tkb_http_listing_release(struct tkb_http_listing *listing);
TKB_NODISCARD int tkb_http_listing_add(struct tkb_http_listing *listing,
                                       struct tkb_bytes name,
                                       const struct tkb_http_file *file,
                                       struct tkb_error *err);

/* Is it a file whose name is a digest? */
bool tkb_http_is_ours(const struct tkb_http_file *file);

/* "ref/<name>", slashes as commas. */
enum {
	TKB_HTTP_FOLDER_SIZE = 256
};

void tkb_http_ref_folder(const char *ref, char out[TKB_HTTP_FOLDER_SIZE]);

/* The URL of file `name` in `folder`, or of the folder where `name` is NULL. */
TKB_NODISCARD int tkb_http_url(const struct tkb_http *http,
                               struct tkb_arena *arena, const char *folder,
                               const char *name, const char **out,
                               struct tkb_error *err);

/* The records of `ref`, or, if that is NULL, the blobs. */
struct tkb_http_objects tkb_http_objects_of(struct tkb_http *http,
                                            const struct tkb_op_limits *limits,
                                            const char *ref);

/* Do one request. Returns what tkb_http_request_judge() does. */
TKB_NODISCARD int tkb_http_ask(struct tkb_http *http,
                               const struct tkb_op_limits *limits,
                               struct tkb_http_request *request,
                               struct tkb_error *err);

struct tkb_http_put {
	const char *folder;
	const char *name;
	const struct tkb_blob *blob;
	const char *condition; /* a header; NULL: none */
};

/*
 * Store a file, and make its folder if the server needs that. TKB_MISS: the
 * condition does not hold.
 */
TKB_NODISCARD int tkb_http_put(struct tkb_http *http,
                               const struct tkb_op_limits *limits,
                               const struct tkb_http_put *put,
                               struct tkb_error *err);
TKB_NODISCARD int tkb_http_delete(struct tkb_http *http,
                                  const struct tkb_op_limits *limits,
                                  const char *folder, const char *name,
                                  struct tkb_error *err);

/*
 * List `count` folders at once, into empty listings. A missing folder is empty.
 */
TKB_NODISCARD int tkb_http_list(struct tkb_http *http,
                                const struct tkb_op_limits *limits,
                                const char *const *folders, size_t count,
                                struct tkb_http_listing *listings,
                                struct tkb_error *err);

/*
 * Find the listing mode by listing a folder. The result is in `listing`, unless
 * the mode is documents. TKB_MISS: the remote is empty, so nothing shows the
 * mode. On failure `*is_hidden` says whether the folder exists, but cannot be
 * listed.
 */
TKB_NODISCARD int tkb_http_probe(struct tkb_http *http,
                                 const struct tkb_op_limits *limits,
                                 const char *folder,
                                 struct tkb_http_listing *listing,
                                 bool *is_hidden, struct tkb_error *err);

/*
 * Find the listing mode before the first write. TKB_ERR_DENIED: the server has
 * none, so nothing that is written could be found again.
 */
TKB_NODISCARD int tkb_http_find_mode(struct tkb_http *http,
                                     const struct tkb_op_limits *limits,
                                     struct tkb_error *err);

/*
 * Test on file `name` of folder "cas" whether the server honours If-Match.
 * TKB_MISS: it does not.
 */
TKB_NODISCARD int tkb_http_test_match(struct tkb_http *http,
                                      const struct tkb_op_limits *limits,
                                      const char *name, struct tkb_error *err);

/*
 * Add or remove the line `name` in a folder's document. Does nothing where the
 * server lists folders itself.
 */
TKB_NODISCARD int tkb_http_edit_index(struct tkb_http *http,
                                      const struct tkb_op_limits *limits,
                                      const char *folder, const char *name,
                                      bool is_there, struct tkb_error *err);

/*
 * The name, in folder "index", of a folder's document: of folder "cas" the one
 * that has the blob `hex`.
 */
void tkb_http_document(const char *folder, const char *hex,
                       char out[TKB_HTTP_FOLDER_SIZE]);

/*
 * Read a server's listing of the folder at `path`. TKB_ERR_CORRUPT: it is not
 * one.
 */
TKB_NODISCARD int tkb_http_read_index(struct tkb_bytes body,
                                      struct tkb_http_listing *listing,
                                      struct tkb_error *err);
TKB_NODISCARD int tkb_http_read_dav(struct tkb_bytes body, const char *path,
                                    struct tkb_http_listing *listing,
                                    struct tkb_error *err);
TKB_NODISCARD int tkb_http_read_document(struct tkb_bytes body,
                                         struct tkb_http_listing *listing,
                                         struct tkb_error *err);

/* What struct tkb_remote_backend wants. */
int tkb_http_open(const struct tkb_remote_url *url,
                  const struct tkb_op_limits *limits, void **self_out,
                  struct tkb_error *err);
void tkb_http_close(void *self);
int tkb_http_list_blobs(void *self, const struct tkb_op_limits *limits,
                        const struct tkb_blob_visitor *visitor,
                        struct tkb_error *err);
int tkb_http_add(void *self, const struct tkb_op_limits *limits,
                 const char *ref, const struct tkb_digest *digest,
                 struct tkb_bytes record, struct tkb_error *err);
int tkb_http_records(void *self, const struct tkb_op_limits *limits,
                     const char *ref, const struct tkb_record_visitor *visitor,
                     struct tkb_error *err);
int tkb_http_drop(void *self, const struct tkb_op_limits *limits,
                  const char *ref, const struct tkb_digest *digest,
                  struct tkb_error *err);
int tkb_http_touch(void *self, const struct tkb_op_limits *limits,
                   const char *ref, const struct tkb_digest *digest,
                   struct tkb_error *err);
int tkb_http_refs(void *self, const struct tkb_op_limits *limits,
                  const struct tkb_ref_visitor *visitor, struct tkb_error *err);

#endif
