/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_NOTE_FILE_H
#define TKB_COLLECT_NOTE_FILE_H

/*
 * Files in a cache root's `.tkbundle` folder that have lines about the root's
 * entries: "times", "makers" and "origins". Writers append whole lines; one that
 * finds no room forgets the oldest ones.
 */

#include "base/base.h"
#include "base/buf.h"
#include "base/digest.h"

enum {
	TKB_NOTE_FILE_LIMIT = 16 * 1024 * 1024, /* the most that is read */
	TKB_NOTE_FILE_ROOM = 8 * 1024 * 1024    /* the most that is written */
};

/*
 * Read file `name` into an empty buffer; nothing if there is no such file. Of one
 * that is too large, the newest lines are read.
 */
TKB_NODISCARD int tkb_note_file_read(const char *cache_root, const char *name,
                                     struct tkb_buf *out,
                                     struct tkb_error *err);

/*
 * Append lines to the file; its folder is made if necessary. If it would get
 * larger than its room, all but the newest lines are removed, which then take at
 * most half of the room. Meanwhile, a reader may see lines twice. Of `lines` that
 * are more than the room, the first are left out.
 */
TKB_NODISCARD int tkb_note_file_append(const char *cache_root, const char *name,
                                       struct tkb_bytes lines,
                                       struct tkb_error *err);

/*
 * Read the next line of `text` from `*at` on, without its line feed, and move
 * `*at` past it. False if there is none. A last line without a line feed does
 * not count: its writer was killed.
 */
bool tkb_note_file_line(struct tkb_bytes text, size_t *at,
                        struct tkb_bytes *out);

/*
 * The key under which an entry is noted, as in a manifest: of a kernel or
 * module, `name`; of a unit, the digest of its tree and name, which is put into
 * `room`.
 *
 * @return 0, TKB_MISS (no entry can have that name), or a failure
 */
TKB_NODISCARD int tkb_note_key(const char *tree, const char *name,
                               char room[TKB_DIGEST_HEX_SIZE],
                               const char **key_out, struct tkb_error *err);

#endif
