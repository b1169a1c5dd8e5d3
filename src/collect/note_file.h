/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_NOTE_FILE_H
#define TKB_COLLECT_NOTE_FILE_H

/*
 * Files of a cache root in which lines about its entries are noted, in our own
 * folder: "times", "makers" and "origins". Whoever writes one only appends whole lines.
 */

#include "base/base.h"
#include "base/buf.h"
#include "base/digest.h"

enum {
	TKB_NOTE_FILE_LIMIT = 16 * 1024 * 1024
};

/* Append all of file `name`; nothing if there is none. */
TKB_NODISCARD int tkb_note_file_read(const char *cache_root, const char *name,
                                     struct tkb_buf *out,
                                     struct tkb_error *err);

/* Append lines to the file; its folder is made if necessary. */
TKB_NODISCARD int tkb_note_file_append(const char *cache_root, const char *name,
                                       struct tkb_bytes lines,
                                       struct tkb_error *err);

/*
 * The next line of `text` from `*at` on, which is moved behind it, without its line
 * feed. False: there is none. One without an end, whose writer was killed, is none.
 */
bool tkb_note_file_line(struct tkb_bytes text, size_t *at,
                        struct tkb_bytes *out);

/*
 * The key by which an entry is noted, that of a manifest: `name`, or of a unit, in
 * `room`, the digest of its tree and name.
 *
 * @return 0, TKB_MISS (no entry can be called so), or a failure
 */
TKB_NODISCARD int tkb_note_key(const char *tree, const char *name,
                               char room[TKB_DIGEST_HEX_SIZE],
                               const char **key_out, struct tkb_error *err);

#endif
