/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fd.h"
#include "base/path.h"
#include "remote/backends.h"
#include "remote/dir/dir_claim.h"
#include "remote/dir/dir_files.h"
#include "remote/net/escape.h"
#include "remote/net/url.h"
#include "remote/remote.h"

enum {
	CHUNK = 1024 * 1024
};

static int dir_open(const struct tkb_remote_url *url,
                    const struct tkb_op_limits *limits, void **self_out,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(TKB_DIR_PATH_LIMIT);
	struct tkb_dir_folder *folder;
	struct stat status;
	bool is_synced = true;
	int rc;

	(void)limits;
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
	folder->file = (struct tkb_buf)TKB_BUF_INIT(TKB_DIR_PATH_LIMIT);
	*self_out = folder;
	return 0;
}

static void dir_close(void *self)
{
	struct tkb_dir_folder *folder = self;

	tkb_buf_release(&folder->file);
	free(folder->path);
	free(folder);
}

static int cannot_read(const struct tkb_digest *digest, struct tkb_error *err)
{
	return tkb_dir_fail_unless_missing(err, "read",
	                                   tkb_digest_hex(digest).text);
}

static int send_file(int fd, const struct tkb_digest *digest, uint64_t offset,
                     const struct tkb_sink *sink, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) void *chunk = malloc(CHUNK);

	if (chunk == NULL)
		return tkb_fail_nomem(err);
	for (;;) {
		const ssize_t got = tkb_fd_pread_full(fd, chunk, CHUNK, offset);
		int rc;

		if (got < 0)
			return cannot_read(digest, err);
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
	rc = tkb_dir_file_open(self, NULL, digest, &fd, err);
	return rc == 0 ? send_file(fd, digest, offset, sink, err) : rc;
}

static int dir_put(void *self, const struct tkb_op_limits *limits,
                   const struct tkb_digest *digest, const struct tkb_blob *blob,
                   struct tkb_error *err)
{
	(void)limits;
	return tkb_dir_file_store(self, NULL, digest, blob, err);
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

		rc = tkb_dir_file_path(self, NULL, &digests[i], &path, err);
		if (rc < 0)
			return rc;
		if (lstat(path, &status) < 0) {
			rc = tkb_dir_fail_unless_missing(err, "look at", path);
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

static int dir_claim(void *self, const struct tkb_op_limits *limits,
                     const struct tkb_digest *digest, void **claim_out,
                     struct tkb_error *err)
{
	const struct tkb_dir_folder *folder = self;

	(void)limits;
	return tkb_dir_claim(folder->path, digest, claim_out, err);
}

static int dir_remove(void *self, const struct tkb_op_limits *limits,
                      const struct tkb_digest *digest, struct tkb_error *err)
{
	(void)limits;
	return tkb_dir_file_remove(self, NULL, digest, err);
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
		const int rc =
			tkb_dir_fail_unless_missing(err, "look at", name);

		return rc == TKB_MISS ? 0
		                      : rc; /* removed since it was listed */
	}
	if (!S_ISREG(status.st_mode))
		return 0; /* not a file of ours */
	return listing->visitor->on_blob(
		listing->visitor->self, digest, (uint64_t)status.st_size,
		tkb_dir_age(&status, listing->now), err);
}

static int dir_list(void *self, const struct tkb_op_limits *limits,
                    const struct tkb_blob_visitor *visitor,
                    struct tkb_error *err)
{
	struct blob_listing listing = { visitor, tkb_dir_now(self) };
	const struct tkb_dir_visitor each = { report_blob, &listing };
	char *path = NULL;
	int rc = 0;

	(void)limits;
	for (unsigned i = 0; i < 256 && rc == 0; i++) {
		const struct tkb_digest digest = { { (unsigned char)i } };

		rc = tkb_dir_file_path(self, NULL, &digest, &path, err);
		if (rc < 0)
			return rc;
		*strrchr(path, '/') = '\0';
		rc = tkb_dir_visit(AT_FDCWD, path, &each, err);
	}
	return rc;
}

static int dir_add(void *self, const struct tkb_op_limits *limits,
                   const char *ref, const struct tkb_digest *digest,
                   struct tkb_bytes record, struct tkb_error *err)
{
	const struct tkb_dir_folder *folder = self;
	const struct tkb_blob blob = { record.size,
		                       tkb_memory_source(&record) };
	struct stat status;

	(void)limits;
	/*
	 * The report of a start must not create the remote. The folder may be
	 * on a file system that is not mounted yet, which would hide the
	 * report.
	 */
	if (tkb_begins_with(ref, TKB_STARTS_PREFIX) &&
	    stat(folder->path, &status) < 0 && errno == ENOENT)
		return tkb_fail(err, TKB_ERR_UNAVAILABLE,
		                "the folder is not there");
	return tkb_dir_file_store(self, ref, digest, &blob, err);
}

struct record_listing {
	const struct tkb_record_visitor *visitor;
	time_t now;
	struct tkb_buf record;
};

static int report_unread(const struct record_listing *listing,
                         const struct tkb_digest *digest, struct tkb_error *why,
                         struct tkb_error *err)
{
	switch (why->reason) {
	case TKB_REASON_MISSING:
		why->status = TKB_MISS;
		break;
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
	return listing->visitor->on_record(
		listing->visitor->self, digest, tkb_buf_bytes(&listing->record),
		tkb_dir_age(&status, listing->now), err);
}

static int dir_records(void *self, const struct tkb_op_limits *limits,
                       const char *ref,
                       const struct tkb_record_visitor *visitor,
                       struct tkb_error *err)
{
	struct record_listing listing = { .visitor = visitor,
		                          .now = tkb_dir_now(self),
		                          .record =
		                                  TKB_BUF_INIT(64 * TKB_MIB) };
	const struct tkb_dir_visitor each = { report_record, &listing };
	char *path = NULL;
	int rc;

	(void)limits;
	rc = tkb_dir_file_path(self, ref, NULL, &path, err);
	if (rc == 0)
		rc = tkb_dir_visit(AT_FDCWD, path, &each, err);
	tkb_buf_release(&listing.record);
	return rc;
}

static int dir_drop(void *self, const struct tkb_op_limits *limits,
                    const char *ref, const struct tkb_digest *digest,
                    struct tkb_error *err)
{
	(void)limits;
	return tkb_dir_file_remove(self, ref, digest, err);
}

static int dir_touch(void *self, const struct tkb_op_limits *limits,
                     const char *ref, const struct tkb_digest *digest,
                     struct tkb_error *err)
{
	char *path = NULL;
	int rc;

	(void)limits;
	rc = tkb_dir_file_path(self, ref, digest, &path, err);
	if (rc < 0)
		return rc;
	if (utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW) < 0)
		return tkb_dir_fail_unless_missing(err, "touch", path);
	return 0;
}

/* Visitor that stops at the first record. */
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
	const struct tkb_dir_visitor each = { stop_at_first, &has_record };
	char ref[NAME_MAX + 1];
	int rc;

	rc = tkb_dir_visit(dir_fd, name, &each, err);
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
	rc = tkb_dir_file_path(self, "", NULL, &path, err);
	if (rc < 0)
		return rc;
	if (tkb_dir_open(AT_FDCWD, path, &dir, NULL) < 0) {
		rc = tkb_dir_fail_unless_missing(err, "list", path);
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
