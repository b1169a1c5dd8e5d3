/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BUNDLE_TAR_H
#define TKB_BUNDLE_TAR_H

/*
 * Tar members in memory, through libarchive.
 *
 * The writer appends members as one deterministic stream: mode 0644, owner 0,
 * time 0, and a pax header only where a name needs it. It writes no end of
 * archive: the streams of several frames, joined, are one tar.
 *
 *     TKB_AUTO(tkb_tar_writer_close) struct tkb_tar_writer writer = { 0 };
 *
 *     rc = tkb_tar_writer_open(&writer, &buf, err);
 *     rc = tkb_tar_writer_add(&writer, "triton/KEY/k.cubin", bytes, err);
 *
 * The reader goes through a stream that nobody vouches for: the caller says
 * which member must come next, and anything else is refused.
 */

#include "base/base.h"
#include "base/buf.h"

struct tkb_tar_writer {
	void *archive;        /* owned */
	void *binary_archive; /* owned; for names that are not ASCII */
	void *entry;          /* owned */
	struct tkb_buf *out;
	bool is_closing;
};

TKB_NODISCARD int tkb_tar_writer_open(struct tkb_tar_writer *writer,
                                      struct tkb_buf *out,
                                      struct tkb_error *err);
TKB_NODISCARD int tkb_tar_writer_add(struct tkb_tar_writer *writer,
                                     const char *path, struct tkb_bytes bytes,
                                     struct tkb_error *err);
void tkb_tar_writer_close(struct tkb_tar_writer *writer);

struct tkb_tar_reader {
	void *archive;          /* owned */
	struct tkb_bytes bytes; /* kept by reference */
	size_t end;             /* of the last member, with its padding */
};

TKB_NODISCARD int tkb_tar_reader_open(struct tkb_tar_reader *reader,
                                      struct tkb_bytes bytes,
                                      struct tkb_error *err);

/*
 * The next member: its path, valid until the next call, and its bytes, which
 * are part of what the reader was opened with. Only regular files pass.
 *
 * Returns 0, TKB_MISS at the end, or TKB_ERR_CORRUPT.
 */
TKB_NODISCARD int tkb_tar_reader_next(struct tkb_tar_reader *reader,
                                      const char **path_out,
                                      struct tkb_bytes *out,
                                      struct tkb_error *err);

/* Nothing may stand behind the last member. */
TKB_NODISCARD int tkb_tar_reader_finish(const struct tkb_tar_reader *reader,
                                        struct tkb_error *err);

void tkb_tar_reader_close(struct tkb_tar_reader *reader);

#endif
