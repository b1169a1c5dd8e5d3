/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_HTTP_HTTP_H
#define TKB_REMOTE_HTTP_HTTP_H

/*
 * Any HTTP server that takes PUT. Below the URL of the remote stand
 *
 *     cas/<sha256>         blobs
 *     ref/<name>/<sha256>  the records of a ref; its slashes become commas
 *
 * Each record is a file of its own, so pushers need no lock, but the server
 * must be able to list files. There are these listing modes; each handle finds
 * out once which one the server has:
 *
 *     index     GET of a folder gives JSON, as nginx's autoindex writes it
 *     dav       PROPFIND, WebDAV
 *     document  the server cannot list, but honours If-Match: one document
 *               per folder, index/ref,<name>, index/ref and index/cas,<0..f>,
 *               has a line for each name in it. A write replaces it only if no
 *               other writer did so meanwhile
 *
 * A blob's name is added to the document before the upload, a record's after
 * it. A killed process thus leaves a name without a blob, which listing skips,
 * or a record that nobody sees. Some servers, such as nginx, ignore If-Match,
 * so this is tested with a scratch file before documents are used.
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
	TKB_HTTP_NONE /* the server cannot list */
};

struct tkb_http {
	const struct tkb_remote_url *url;
	struct tkb_http_client *client; /* owned */
	char *base;           /* owned; the remote's URL, no slash at its end */
	char *bearer;         /* owned; may be NULL */
	const char **headers; /* owned; the texts belong to the URL */
	size_t header_count;
	enum tkb_http_listing_mode mode;
	bool is_single_writer; /* documents are replaced without If-Match */
	bool is_tried;         /* tested: the server honours If-Match */
};

struct tkb_http_file {
	const char *name;
	bool is_folder;
	uint64_t size;      /* UINT64_MAX: unknown */
	int64_t modified_s; /* since 1970; 0: unknown */
};

/* The files of a folder. A zeroed struct is an empty listing. */
struct tkb_http_listing {
	struct tkb_arena arena;      /* owns the names */
	struct tkb_http_file *files; /* owned */
	size_t count;
	size_t capacity;
	int64_t now_s; /* by the server's clock; 0: unknown */
};

void tkb_http_listing_release(struct tkb_http_listing *listing);
TKB_NODISCARD int tkb_http_listing_add(struct tkb_http_listing *listing,
                                       struct tkb_bytes name,
                                       const struct tkb_http_file *file,
                                       struct tkb_error *err);

/* Is it a file whose name is a digest? */
bool tkb_http_is_ours(const struct tkb_http_file *file);

/* Room for "ref/<name>", with commas for slashes. */
enum {
	TKB_HTTP_FOLDER_SIZE = 256
};

void tkb_http_ref_folder(const char *ref, char out[TKB_HTTP_FOLDER_SIZE]);

/* The URL of file `name` in `folder`, or of the folder if `name` is NULL. */
TKB_NODISCARD int tkb_http_url(const struct tkb_http *http,
                               struct tkb_arena *arena, const char *folder,
                               const char *name, const char **out,
                               struct tkb_error *err);

/* The records of `ref`, or the blobs if `ref` is NULL. */
struct tkb_http_objects tkb_http_objects_of(struct tkb_http *http,
                                            const struct tkb_op_limits *limits,
                                            const char *ref);

/*
 * Do one request, for file `name` in `folder`. Returns what
 * tkb_http_request_judge() does.
 */
TKB_NODISCARD int tkb_http_ask(struct tkb_http *http,
                               const struct tkb_op_limits *limits,
                               const char *folder, const char *name,
                               struct tkb_http_request *request,
                               struct tkb_error *err);

struct tkb_http_put {
	const char *folder;
	const char *name;
	const struct tkb_blob *blob;
	const char *condition; /* a header; NULL: none */
};

/*
 * Store a file, and make its folder if the server requires that. TKB_MISS: the
 * condition was false.
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
 * none, so written files could not be found again.
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
 * Add or remove the line `name` in a folder's document. Does nothing if the
 * server lists folders itself.
 */
TKB_NODISCARD int tkb_http_edit_index(struct tkb_http *http,
                                      const struct tkb_op_limits *limits,
                                      const char *folder, const char *name,
                                      bool is_there, struct tkb_error *err);

/*
 * The file name, in folder "index", of the document for `folder`. Folder "cas"
 * has several; this is the one that lists the blob `hex`.
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

/* Functions of struct tkb_remote_backend. */
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
