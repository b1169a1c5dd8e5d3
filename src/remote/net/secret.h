/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_SECRET_H
#define TKB_REMOTE_NET_SECRET_H

/* Credentials in memory and in files. */

#include "base/base.h"
#include "base/buf.h"

/* Is all of it visible ASCII, so that it breaks no header? */
bool tkb_is_visible(const char *text);

/* Overwrite a buffer's contents, and release it. */
void tkb_secret_release(struct tkb_buf *buf);

/* The same for a text, which may be NULL; sets it to NULL. */
void tkb_secret_text_release(char **text);

/*
 * Read a whole file of at most `limit` bytes. `out` must have room for one more: a NUL
 * is added, which is not counted. Links are followed, since mounted secrets are links.
 * Only regular files are read: others may never end. `what` says what the file should
 * hold, for a message. TKB_MISS: there is no such file.
 */
TKB_NODISCARD int tkb_secret_file_read(const char *path, const char *what,
                                       size_t limit, struct tkb_buf *out,
                                       struct tkb_error *err);

#endif
