/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/note_file.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/share.h"
#include "cache/key.h"
#include "tree/unit.h"

int tkb_note_file_read(const char *cache_root, const char *name,
                       struct tkb_buf *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int own = tkb_own_folder_open_at(cache_root);
	struct tkb_error fault = { 0 };
	struct stat status = { .st_size = -1 };
	off_t last_size;
	int rc;

	if (own < 0 || faccessat(own, name, F_OK, 0) < 0)
		return 0;
	/*
	 * Others append to it: read it again, which ends at the limit. On some
	 * file systems, a size is never that of what is read.
	 */
	do {
		last_size = status.st_size;
		tkb_buf_reset(out);
		rc = tkb_fd_read_file(own, name, TKB_NOTE_FILE_LIMIT, out,
		                      &status, &fault);
	} while (rc < 0 && fault.reason == TKB_REASON_BUSY &&
	         status.st_size != last_size);
	return rc < 0 ? tkb_fail_as(err, rc, &fault) : 0;
}

static int open_note_file(const char *cache_root, const char *name, int *out,
                          struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_close_at) int root = -1;
	TKB_AUTO(tkb_fd_close_at) int own = -1;
	struct tkb_share share = TKB_SHARE_INIT;
	struct tkb_share common;

	root = tkb_fd_open(AT_FDCWD, cache_root, O_RDONLY | O_DIRECTORY, 0);
	if (root >= 0) {
		tkb_share_of(root, &share);
		common = tkb_share_in_common(&share);
		own = tkb_share_publish_folder(&common, root, TKB_OWN_FOLDER);
		if (own < 0)
			own = tkb_own_folder_open(root);
	}
	if (own >= 0)
		*out = tkb_share_open_common(own, name, O_WRONLY | O_APPEND);
	if (*out < 0)
		return tkb_fail_errno(err, "cannot write '%s/%s/%s'",
		                      cache_root, TKB_OWN_FOLDER, name);
	return 0;
}

int tkb_note_file_append(const char *cache_root, const char *name,
                         struct tkb_bytes lines, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_NOTE_FILE_LIMIT);
	TKB_AUTO(tkb_fd_close_at) int fd = -1;
	int rc;

	/* The file's last line may be incomplete: begin a new one. */
	tkb_buf_add_byte(&text, '\n');
	tkb_buf_add(&text, lines);
	rc = tkb_buf_check(&text, err);
	if (rc == 0)
		rc = open_note_file(cache_root, name, &fd, err);
	/* Others may append too, so write all lines in one call. */
	return rc == 0 ? tkb_fd_write_all(fd, tkb_buf_bytes(&text), name, err)
	               : rc;
}

bool tkb_note_file_line(struct tkb_bytes text, size_t *at,
                        struct tkb_bytes *out)
{
	const char *begin;
	const char *stop;

	/* An empty text may have a NULL pointer. */
	if (*at >= text.size)
		return false;
	begin = (const char *)text.data + *at;
	stop = memchr(begin, '\n', text.size - *at);
	if (stop == NULL)
		return false;
	*out = (struct tkb_bytes){ begin, (size_t)(stop - begin) };
	*at += out->size + 1;
	return true;
}

int tkb_note_key(const char *tree, const char *name,
                 char room[TKB_DIGEST_HEX_SIZE], const char **key_out,
                 struct tkb_error *err)
{
	TKB_AUTO(tkb_hasher_close) struct tkb_hasher hasher = { 0 };
	int rc;

	*key_out = tree == NULL ? name : room;
	if (tree == NULL)
		return tkb_key_is_valid(name) ? 0 : TKB_MISS;
	if (!tkb_unit_name_is_valid(tree, name))
		return TKB_MISS;
	rc = tkb_hasher_open(&hasher, err);
	return rc == 0 ? tkb_unit_tree_key(&hasher, tree, name, room, err) : rc;
}
