/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/dir/dir_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/share.h"

enum {
	PATH_LIMIT = 16 * 1024
};

/*
 * A claim is a lock on one byte of a file; the digest chooses the byte. The
 * kernel releases the lock when its owner exits or is killed.
 */
static struct flock claim_of(const struct tkb_digest *digest, short type)
{
	uint64_t offset = 0;

	for (size_t i = 0; i < sizeof(offset); i++)
		offset = offset << 8 | digest->bytes[i];
	return (struct flock){ .l_type = type,
		               .l_whence = SEEK_SET,
		               .l_start = (off_t)(offset >> 2),
		               .l_len = 1 };
}

/* Open the file whose bytes are locked; -1 on failure. */
static int open_claims(const char *folder)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(PATH_LIMIT);
	TKB_AUTO(tkb_fd_close_at) int dir = -1;

	tkb_buf_add_text(&path, folder);
	tkb_buf_add_byte(&path, '\0');
	if (tkb_buf_check(&path, NULL) < 0 ||
	    tkb_path_make_folders((const char *)path.data, NULL) < 0)
		return -1;
	dir = tkb_fd_open(AT_FDCWD, (const char *)path.data,
	                  O_RDONLY | O_DIRECTORY, 0);
	return dir < 0 ? -1 : tkb_share_open_common(dir, "claims", O_RDWR);
}

int tkb_dir_claim(const char *folder, const struct tkb_digest *digest,
                  void **claim_out, struct tkb_error *err)
{
	struct flock lock = claim_of(digest, F_WRLCK);
	TKB_AUTO(tkb_fd_close_at) int fd = open_claims(folder);
	TKB_AUTO(tkb_free_at) int *claim = malloc(sizeof(*claim));

	*claim_out = NULL;
	if (claim == NULL)
		return tkb_fail_nomem(err);
	if (fd < 0)
		return 0;
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0)
		return errno == EAGAIN || errno == EACCES ? TKB_MISS : 0;
	*claim = fd;
	fd = -1;
	*claim_out = tkb_take(claim);
	return 0;
}

/* Unlock explicitly: a child forked meanwhile also has the file open. */
void tkb_dir_unclaim(void *claim)
{
	struct flock all = { .l_type = F_UNLCK, .l_whence = SEEK_SET };
	int *fd = claim;

	(void)fcntl(*fd, F_OFD_SETLK, &all);
	tkb_fd_close_at(fd);
	free(fd);
}
