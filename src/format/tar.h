/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_TAR_H
#define TKB_FORMAT_TAR_H

/*
 * Tar members in memory: POSIX.1-2001 (ustar, with a pax header before a name
 * that is too long for ustar). There is only one way to write a member: a plain
 * file, mode 0644, owner 0, time 0.
 *
 * libarchive is not used because it calls exit() when it is out of memory. And
 * our reader can be simple: it makes the headers that the writer would make for
 * the member's name and size, and refuses any other bytes.
 *
 * No end of archive is written, so that the streams of several frames, joined,
 * are one tar.
 */

#include "base/base.h"
#include "base/buf.h"

enum {
	TKB_TAR_PATH_SIZE = 960 /* the longest path, and a zero */
};

/* Append a member; if that fails, `out` keeps the failure. */
void tkb_tar_add(struct tkb_buf *out, const char *path, struct tkb_bytes bytes);

/* Reads an untrusted stream, member by member. */
struct tkb_tar_reader {
	struct tkb_bytes bytes; /* kept by reference */
	size_t at;
	char path[TKB_TAR_PATH_SIZE]; /* of the member just read */
};

struct tkb_tar_reader tkb_tar_reader_of(struct tkb_bytes bytes);

/*
 * Read the next member. Its path is in the reader; its bytes are a part of the
 * reader's bytes. Returns 0, TKB_MISS at the end, or TKB_ERR_CORRUPT.
 */
TKB_NODISCARD int tkb_tar_next(struct tkb_tar_reader *reader,
                               struct tkb_bytes *out, struct tkb_error *err);

/* Check that nothing follows the last member. */
TKB_NODISCARD int tkb_tar_finish(const struct tkb_tar_reader *reader,
                                 struct tkb_error *err);

#endif
