/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_SECRET_H
#define TKB_REMOTE_NET_SECRET_H

/* Credentials in memory and in files. */

#include "base/base.h"
#include "base/buf.h"

/* Overwrite what a buffer holds, and release it. */
void tkb_secret_release(struct tkb_buf *buf);

/* The same of a text, which may be NULL, and is NULL then. */
void tkb_secret_text_release(char **text);

/*
 * Read a whole file of at most `limit` bytes; `out` must have room for one more, which
 * is a zero and not counted. Links are followed, since mounted secrets are links. Only
 * regular files are read: others may have no end. `what` is what the file should be, for
 * a message. TKB_MISS: there is none.
 */
TKB_NODISCARD int tkb_secret_file_read(const char *path, const char *what,
                                       size_t limit, struct tkb_buf *out,
                                       struct tkb_error *err);

#endif
