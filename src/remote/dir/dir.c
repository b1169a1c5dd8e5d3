/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/draft.h"
#include "base/fd.h"
#include "base/path.h"
#include "remote/backends.h"
#include "remote/dir/dir_claim.h"
#include "remote/dir/dir_store.h"
#include "remote/net/escape.h"
#include "remote/net/url.h"
#include "remote/remote.h"

/*
 * A folder: blobs are `cas/ab/<sha256>`, records `ref/<name>/<sha256>`, where a
 * comma stands for each slash in the ref's name. Files appear whole, by a link
 * or a rename, so any number of processes may use it at once; on NFS too. They
 * are on the disk before they appear, and their names before a put returns,
 * unless the URL says sync=false: a blob under its digest is whole, also after a
 * loss of power.
 */
struct folder {
	char *path; /* owned; absolute */
	bool is_synced;
	struct tkb_buf file; /* the path that was asked for last */
};

enum {
	PATH_LIMIT = 16 * 1024,
	CHUNK = 1024 * 1024
};

static int dir_open(const struct tkb_remote_url *url,
                    const struct tkb_op_limits *limits, void **self_out,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(PATH_LIMIT);
	struct folder *folder;
	struct stat status;
	bool is_synced = true;
	int rc;

	(void)limits;
	if (url->host[0] != '\0' && strcmp(url->host, "localhost") != 0)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a file URL names no host: file:///dir");
	if (url->path[0] == '\0')
		return tkb_fail(err, TKB_ERR_INVALID, "the path is empty");
	rc = tkb_url_choice(url, "sync", &is_synced, err);
	if (rc == 0)
		rc = tkb_path_absolute(url->path, &path, err);
	tkb_buf_add_byte(&path, '\0');
	if (rc == 0)
		rc = tkb_buf_check(&path, err);
	if (rc < 0)
		return rc;
	if (stat((const char *)path.data, &status) == 0 &&
	    !S_ISDIR(status.st_mode))
		return tkb_fail(err, TKB_ERR_INVALID, "it is not a folder");
	folder = tkb_alloc_array(1, sizeof(*folder));
	if (folder == NULL)
		return tkb_fail_nomem(err);
	folder->path = (char *)tkb_take(path.data);
	folder->is_synced = is_synced;
	folder->file = (struct tkb_buf)TKB_BUF_INIT(PATH_LIMIT);
	*self_out = folder;
	return 0;
}

static void dir_close(void *self)
{
	struct folder *folder = self;

	tkb_buf_release(&folder->file);
	free(folder->path);
	free(folder);
}

/*
 * "<folder>/cas/ab/<sha256>" or "<folder>/ref/<name>/<sha256>", until it is called
 * again.
 */
static int path_of(struct folder *folder, const char *ref,
                   const struct tkb_digest *digest, char **path_out,
                   struct tkb_error *err)
{
	struct tkb_buf *out = &folder->file;
	char name[NAME_MAX + 1] = "";
	char hex[TKB_DIGEST_HEX_SIZE];

	tkb_buf_reset(out);
	if (ref != NULL)
		tkb_ref_to_folder(ref, name, sizeof(name));
	tkb_buf_add_text(out, folder->path);
	tkb_buf_add_text(out, ref != NULL ? "/ref/" : "/cas/");
	tkb_buf_add_text(out, name);
	if (digest != NULL) {
		tkb_digest_to_hex(digest, hex);
		if (ref == NULL)
			tkb_buf_add(out, (struct tkb_bytes){ hex, 2 });
		tkb_buf_add_byte(out, '/');
		tkb_buf_add_text(out, hex);
	}
	tkb_buf_add_byte(out, '\0');
	*path_out = (char *)out->data;
	return tkb_buf_check(out, err);
}

/* An I/O error is a failure of the remote; errno says of which kind. */
static int blame_remote(int rc, struct tkb_error *err)
{
	const int number = errno;
	int status = rc;

	if (rc == TKB_ERR_IO)
		status = number == EACCES || number == EPERM || number == EROFS
		                 ? TKB_ERR_DENIED
		                 : TKB_ERR_UNAVAILABLE;
	if (rc < 0 && err != NULL)
		err->status = status;
	return status;
}

/*
 * Only ENOENT is a miss. ENOTDIR is not: whoever takes a folder that is hidden
 * by a file for an empty one may remove the blobs that its records name.
 */
static int fail_unless_missing(struct tkb_error *err, const char *what)
{
	if (errno == ENOENT)
		return TKB_MISS;
	return blame_remote(tkb_fail_errno(err, "%s", what), err);
}

static int open_stored_file(struct folder *folder, const char *ref,
                            const struct tkb_digest *digest, int *out,
                            struct tkb_error *err)
{
	char *path = NULL;
	int rc;

	rc = path_of(folder, ref, digest, &path, err);
	if (rc < 0)
		return rc;
	*out = tkb_fd_open(AT_FDCWD, path,
	                   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	return *out < 0 ? fail_unless_missing(err, "cannot read a file") : 0;
}

static int send_file(int fd, uint64_t offset, const struct tkb_sink *sink,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) void *chunk = malloc(CHUNK);

	if (chunk == NULL)
		return tkb_fail_nomem(err);
	for (;;) {
		const ssize_t got = tkb_fd_pread_full(fd, chunk, CHUNK, offset);
		int rc;

		if (got < 0)
			return fail_unless_missing(err, "cannot read a file");
		if (got == 0)
			return 0;
		rc = sink->write(sink->self,
		                 (struct tkb_bytes){ chunk, (size_t)got }, err);
		if (rc < 0)
			return rc;
		offset += (uint64_t)got;
	}
}

static int dir_get(void *self, const struct tkb_op_limits *limits,
                   const struct tkb_digest *digest, uint64_t offset,
                   const struct tkb_sink *sink, struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	int rc;

	(void)limits;
	rc = open_stored_file(self, NULL, digest, &fd, err);
	return rc == 0 ? send_file(fd, offset, sink, err) : rc;
}

static int store_file(struct folder *folder, const char *ref,
                      const struct tkb_digest *digest,
                      const struct tkb_blob *blob, struct tkb_error *err)
{
	TKB_AUTO(tkb_draft_close_at) struct tkb_draft *draft = NULL;
	char *path = NULL;
	char *slash;
	int rc;

	rc = path_of(folder, ref, digest, &path, err);
	if (rc < 0)
		return rc;
	slash = strrchr(path, '/');
	*slash = '\0';
	rc = tkb_dir_make_folders(path, folder->is_synced, err);
	*slash = '/';
	if (rc == 0)
		rc = tkb_draft_open(path, &draft, err);
	if (rc == 0)
		rc = tkb_dir_write(draft, blob, err);
	*slash = '\0';
	if (rc == 0)
		rc = tkb_dir_publish(draft, path, folder->is_synced, err);
	return blame_remote(rc, err);
}

static int dir_put(void *self, const struct tkb_op_limits *limits,
                   const struct tkb_digest *digest, const struct tkb_blob *blob,
                   struct tkb_error *err)
{
	(void)limits;
	return store_file(self, NULL, digest, blob, err);
}

static int dir_has(void *self, const struct tkb_op_limits *limits,
                   const struct tkb_digest *digests, size_t count, bool *out,
                   uint64_t *sizes, struct tkb_error *err)
{
	char *path = NULL;

	(void)limits;
	for (size_t i = 0; i < count; i++) {
		struct stat status = { 0 };
		int rc;

		rc = path_of(self, NULL, &digests[i], &path, err);
		if (rc < 0)
			return rc;
		if (lstat(path, &status) < 0) {
			rc = fail_unless_missing(err, "cannot look");
			if (rc < 0)
				return rc;
		}
		/* A symbolic link is not a blob. */
		out[i] = S_ISREG(status.st_mode);
		if (sizes != NULL)
			sizes[i] = (uint64_t)status.st_size;
	}
	return 0;
}

static int remove_file(struct folder *folder, const char *ref,
                       const struct tkb_digest *digest, struct tkb_error *err)
{
	char *path = NULL;
	int rc;

	rc = path_of(folder, ref, digest, &path, err);
	if (rc < 0)
		return rc;
	if (unlink(path) < 0)
		return fail_unless_missing(err, "cannot remove a file");
	return 0;
}

static int dir_claim(void *self, const struct tkb_op_limits *limits,
                     const struct tkb_digest *digest, void **claim_out,
                     struct tkb_error *err)
{
	const struct folder *folder = self;

	(void)limits;
	return tkb_dir_claim(folder->path, digest, claim_out, err);
}

static int dir_remove(void *self, const struct tkb_op_limits *limits,
                      const struct tkb_digest *digest, struct tkb_error *err)
{
	(void)limits;
	return remove_file(self, NULL, digest, err);
}

/* The time by the file server's clock, which sets the times of files. */
static time_t store_now(const struct folder *folder)
{
	TKB_AUTO(tkb_draft_close_at) struct tkb_draft *draft = NULL;
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(PATH_LIMIT);
	struct stat status;

	tkb_buf_add_text(&path, folder->path);
	tkb_buf_add_text(&path, "/now");
	tkb_buf_add_byte(&path, '\0');
	if (tkb_buf_check(&path, NULL) < 0 ||
	    tkb_draft_open((const char *)path.data, &draft, NULL) < 0 ||
	    fstat(tkb_draft_fd(draft), &status) < 0)
		return time(NULL);
	return status.st_mtim.tv_sec;
}

static uint64_t age_of(const struct stat *status, time_t now)
{
	return status->st_mtim.tv_sec >= now
	               ? 0
	               : (uint64_t)(now - status->st_mtim.tv_sec);
}

/* Called for each file of a folder whose name is a digest. */
struct digest_visitor {
	int (*on_digest)(void *self, int dir_fd, const char *name,
	                 const struct tkb_digest *digest,
	                 struct tkb_error *err);
	void *self;
};

/* A missing folder is an empty one. */
static int visit_digests(int dir_fd, const char *path,
                         const struct digest_visitor *visitor,
                         struct tkb_error *err)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item = NULL;
	int rc;

	if (tkb_dir_open(dir_fd, path, &dir, NULL) < 0) {
		rc = fail_unless_missing(err, "cannot list a folder");
		return rc == TKB_MISS ? 0 : rc;
	}
	for (;;) {
		struct tkb_digest digest;

		rc = tkb_dir_next(dir, &item, err);
		if (rc == TKB_MISS)
			return 0;
		if (rc < 0)
			return blame_remote(rc, err);
		if (!tkb_digest_from_hex(tkb_text(item->d_name), &digest))
			continue;
		rc = visitor->on_digest(visitor->self, dirfd(dir), item->d_name,
		                        &digest, err);
		if (rc < 0)
			return rc;
	}
}

struct blob_listing {
	const struct tkb_blob_visitor *visitor;
	time_t now;
};

static int report_blob(void *self, int dir_fd, const char *name,
                       const struct tkb_digest *digest, struct tkb_error *err)
{
	const struct blob_listing *listing = self;
	struct stat status;

	if (fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0) {
		const int rc = fail_unless_missing(err, "cannot look");

		return rc == TKB_MISS ? 0
		                      : rc; /* removed since it was listed */
	}
	if (!S_ISREG(status.st_mode))
		return 0; /* not a file of ours */
	return listing->visitor->on_blob(listing->visitor->self, digest,
	                                 (uint64_t)status.st_size,
	                                 age_of(&status, listing->now), err);
}

static int dir_list(void *self, const struct tkb_op_limits *limits,
                    const struct tkb_blob_visitor *visitor,
                    struct tkb_error *err)
{
	struct blob_listing listing = { visitor, store_now(self) };
	const struct digest_visitor each = { report_blob, &listing };
	char *path = NULL;
	int rc = 0;

	(void)limits;
	for (unsigned i = 0; i < 256 && rc == 0; i++) {
		const struct tkb_digest digest = { { (unsigned char)i } };

		rc = path_of(self, NULL, &digest, &path, err);
		if (rc < 0)
			return rc;
		*strrchr(path, '/') = '\0';
		rc = visit_digests(AT_FDCWD, path, &each, err);
	}
	return rc;
}

static int dir_add(void *self, const struct tkb_op_limits *limits,
                   const char *ref, const struct tkb_digest *digest,
                   struct tkb_bytes record, struct tkb_error *err)
{
	const struct folder *folder = self;
	const struct tkb_blob blob = { record.size,
		                       tkb_memory_source(&record) };
	struct stat status;

	(void)limits;
	/*
	 * A report of a start makes no remote: the folder may be one that is
	 * not mounted, and who mounts it finds the report below it.
	 */
	if (tkb_ref_is_of_starts(ref) && stat(folder->path, &status) < 0 &&
	    errno == ENOENT)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "the folder is not there");
	return store_file(self, ref, digest, &blob, err);
}

struct record_listing {
	const struct tkb_record_visitor *visitor;
	time_t now;
	struct tkb_buf record;
};

/* A record that was dropped since it was listed is no failure. */
static int report_unread(const struct record_listing *listing,
                         const struct tkb_digest *digest, struct tkb_error *why,
                         struct tkb_error *err)
{
	switch (why->reason) {
	case TKB_REASON_MISSING:
		return 0;
	case TKB_REASON_LIMIT:
		why->status = TKB_ERR_TOO_LARGE;
		break;
	case TKB_REASON_UNSAFE:
		why->status = TKB_ERR_DENIED;
		break;
	default:
		why->status = TKB_ERR_UNAVAILABLE;
	}
	return listing->visitor->on_unread(listing->visitor->self, digest, why,
	                                   err);
}

static int report_record(void *self, int dir_fd, const char *name,
                         const struct tkb_digest *digest, struct tkb_error *err)
{
	struct record_listing *listing = self;
	struct tkb_error why = { 0 };
	struct stat status;
	int rc;

	tkb_buf_reset(&listing->record);
	rc = tkb_fd_read_file(dir_fd, name, listing->record.limit,
	                      &listing->record, &status, &why);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (rc < 0)
		return report_unread(listing, digest, &why, err);
	return listing->visitor->on_record(listing->visitor->self, digest,
	                                   tkb_buf_bytes(&listing->record),
	                                   age_of(&status, listing->now), err);
}

static int dir_records(void *self, const struct tkb_op_limits *limits,
                       const char *ref,
                       const struct tkb_record_visitor *visitor,
                       struct tkb_error *err)
{
	struct record_listing listing = { .visitor = visitor,
		                          .now = store_now(self),
		                          .record =
		                                  TKB_BUF_INIT(64 * TKB_MIB) };
	const struct digest_visitor each = { report_record, &listing };
	char *path = NULL;
	int rc;

	(void)limits;
	rc = path_of(self, ref, NULL, &path, err);
	if (rc == 0)
		rc = visit_digests(AT_FDCWD, path, &each, err);
	tkb_buf_release(&listing.record);
	return rc;
}

static int dir_drop(void *self, const struct tkb_op_limits *limits,
                    const char *ref, const struct tkb_digest *digest,
                    struct tkb_error *err)
{
	(void)limits;
	return remove_file(self, ref, digest, err);
}

static int dir_touch(void *self, const struct tkb_op_limits *limits,
                     const char *ref, const struct tkb_digest *digest,
                     struct tkb_error *err)
{
	char *path = NULL;
	int rc;

	(void)limits;
	rc = path_of(self, ref, digest, &path, err);
	if (rc < 0)
		return rc;
	if (utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW) < 0)
		return fail_unless_missing(err, "cannot touch a file");
	return 0;
}

/* Stop at the first record. */
static int stop_at_first(void *self, int dir_fd, const char *name,
                         const struct tkb_digest *digest, struct tkb_error *err)
{
	bool *has_record = self;

	(void)dir_fd, (void)name, (void)digest, (void)err;
	*has_record = true;
	return TKB_ERR_CANCELLED;
}

static int report_folder_ref(int dir_fd, const char *name,
                             const struct tkb_ref_visitor *visitor,
                             struct tkb_error *err)
{
	bool has_record = false;
	const struct digest_visitor each = { stop_at_first, &has_record };
	char ref[NAME_MAX + 1];
	int rc;

	rc = visit_digests(dir_fd, name, &each, err);
	/* A folder that cannot be listed may have records. */
	has_record |= rc == TKB_ERR_DENIED || rc == TKB_ERR_UNAVAILABLE;
	if (rc < 0 && !has_record)
		return rc;
	if (!has_record)
		return 0;
	tkb_ref_from_folder(name, ref, sizeof(ref));
	return visitor->on_ref(visitor->self, ref, err);
}

static int dir_refs(void *self, const struct tkb_op_limits *limits,
                    const struct tkb_ref_visitor *visitor,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	char *path = NULL;
	const struct dirent *item = NULL;
	int rc;

	(void)limits;
	rc = path_of(self, "", NULL, &path, err);
	if (rc < 0)
		return rc;
	if (tkb_dir_open(AT_FDCWD, path, &dir, NULL) < 0) {
		rc = fail_unless_missing(err, "cannot list a folder");
		return rc == TKB_MISS ? 0 : rc;
	}
	while (rc == 0) {
		rc = tkb_dir_next(dir, &item, err);
		if (rc == 0 && item->d_name[0] != '.')
			rc = report_folder_ref(dirfd(dir), item->d_name,
			                       visitor, err);
	}
	return rc < 0 ? rc : 0;
}

const struct tkb_remote_backend tkb_backend_dir = {
	.abi = TKB_REMOTE_BACKEND_ABI,
	.is_shared = true,
	.schemes = (const char *const[]){ "file", NULL },
	.params = (const char *const[]){ "sync", NULL },
	.open = dir_open,
	.close = dir_close,
	.get = dir_get,
	.put = dir_put,
	.has = dir_has,
	.remove = dir_remove,
	.list = dir_list,
	.add = dir_add,
	.records = dir_records,
	.drop = dir_drop,
	.touch = dir_touch,
	.refs = dir_refs,
	.claim = dir_claim,
	.unclaim = tkb_dir_unclaim,
};
