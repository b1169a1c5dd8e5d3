/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/dir/dir_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/draft.h"
#include "base/fd.h"
#include "base/share.h"
#include "remote/net/grant.h"
#include "remote/dir/dir_store.h"
#include "remote/net/escape.h"
#include "remote/remote.h"

int tkb_dir_file_path(struct tkb_dir_folder *folder, const char *ref,
                      const struct tkb_digest *digest, char **path_out,
                      struct tkb_error *err)
{
	struct tkb_buf *out = &folder->file;
	char name[NAME_MAX + 1] = "";
	char hex[TKB_DIGEST_HEX_SIZE];

	tkb_buf_reset(out);
	if (ref != NULL)
		tkb_ref_to_folder(ref, name, sizeof(name));
	tkb_print(out, "%s/%s/%s", folder->path, ref != NULL ? "ref" : "cas",
	          name);
	if (digest != NULL) {
		tkb_digest_to_hex(digest, hex);
		tkb_print(out, "%.*s/%s", ref == NULL ? 2 : 0, hex, hex);
	}
	*path_out = (char *)out->data;
	return tkb_buf_check(out, err);
}

/* Turn an I/O error into a failure of the remote, of the kind in errno. */
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

/* The same for a write: add the advice to grant rights. */
static int blame_writing(int rc, struct tkb_error *err)
{
	const int status = blame_remote(rc, err);

	if (status == TKB_ERR_DENIED && err != NULL) {
		const size_t used = strlen(err->message);

		(void)snprintf(err->message + used, sizeof(err->message) - used,
		               ": " TKB_REMOTE_GRANT);
	}
	return status;
}

int tkb_dir_fail_unless_missing(struct tkb_error *err, const char *what,
                                const char *name)
{
	if (errno == ENOENT)
		return TKB_MISS;
	return blame_remote(
		tkb_fail_errno(err, "cannot %s '%.300s'", what, name), err);
}

int tkb_dir_file_open(struct tkb_dir_folder *folder, const char *ref,
                      const struct tkb_digest *digest, int *out,
                      struct tkb_error *err)
{
	char *path = NULL;
	int rc;

	rc = tkb_dir_file_path(folder, ref, digest, &path, err);
	if (rc < 0)
		return rc;
	*out = tkb_fd_open(AT_FDCWD, path,
	                   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	return *out < 0 ? tkb_dir_fail_unless_missing(err, "read", path) : 0;
}

/* Whoever can use the folder can use the file, whatever the umask is. */
static void share_file(const struct tkb_draft *draft, const char *folder_path)
{
	TKB_AUTO(tkb_fd_close_at) int folder = -1;
	struct tkb_share share;

	folder = tkb_fd_open(AT_FDCWD, folder_path, O_RDONLY | O_DIRECTORY, 0);
	if (folder < 0)
		return;
	tkb_share_of(folder, &share);
	tkb_share_apply(&share, tkb_draft_fd(draft));
}

int tkb_dir_file_store(struct tkb_dir_folder *folder, const char *ref,
                       const struct tkb_digest *digest,
                       const struct tkb_blob *blob, struct tkb_error *err)
{
	TKB_AUTO(tkb_draft_close_at) struct tkb_draft *draft = NULL;
	char *path = NULL;
	char *slash;
	int rc;

	rc = tkb_dir_file_path(folder, ref, digest, &path, err);
	if (rc < 0)
		return rc;
	slash = strrchr(path, '/');
	*slash = '\0';
	rc = tkb_dir_make_folders(path, folder->is_synced, err);
	*slash = '/';
	if (rc == 0)
		rc = tkb_draft_open(path, &draft, err);
	if (rc == 0) {
		const struct tkb_sink sink = tkb_draft_sink(draft);

		rc = tkb_blob_send(blob, &sink, err);
	}
	*slash = '\0';
	if (rc == 0) {
		share_file(draft, path);
		rc = tkb_dir_publish(draft, path, folder->is_synced, err);
	}
	return blame_writing(rc, err);
}

int tkb_dir_file_remove(struct tkb_dir_folder *folder, const char *ref,
                        const struct tkb_digest *digest, struct tkb_error *err)
{
	char *path = NULL;
	int rc;

	rc = tkb_dir_file_path(folder, ref, digest, &path, err);
	if (rc < 0)
		return rc;
	if (unlink(path) < 0)
		return tkb_dir_fail_unless_missing(err, "remove", path);
	return 0;
}

time_t tkb_dir_now(const struct tkb_dir_folder *folder)
{
	TKB_AUTO(tkb_draft_close_at) struct tkb_draft *draft = NULL;
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(TKB_DIR_PATH_LIMIT);
	struct stat status;

	tkb_print(&path, "%s/now", folder->path);
	if (tkb_buf_check(&path, NULL) < 0 ||
	    tkb_draft_open((const char *)path.data, &draft, NULL) < 0 ||
	    fstat(tkb_draft_fd(draft), &status) < 0)
		return time(NULL);
	return status.st_mtim.tv_sec;
}

uint64_t tkb_dir_age(const struct stat *status, time_t now)
{
	return status->st_mtim.tv_sec >= now
	               ? 0
	               : (uint64_t)(now - status->st_mtim.tv_sec);
}

int tkb_dir_visit(int dir_fd, const char *path,
                  const struct tkb_dir_visitor *visitor, struct tkb_error *err)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item = NULL;
	int rc;

	if (tkb_dir_open(dir_fd, path, &dir, NULL) < 0) {
		rc = tkb_dir_fail_unless_missing(err, "list", path);
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
