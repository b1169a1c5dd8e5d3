/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_SCRUB_H
#define TKB_CACHE_SCRUB_H

/*
 * In an entry's JSON files, replace the entry's absolute path by a sentinel,
 * and later the sentinel by another path. Only string values change.
 *
 * Triton's group file lists an entry's files by absolute path:
 *
 *     {"child_paths": {"k.cubin": "/home/a/.triton/cache/KEY/k.cubin", ...}}
 *
 * (Triton 2 and the remote cache manager list bare names in an array.) A path
 * that ends with the key and the name of a file is taken for that file of this
 * entry, whatever comes before: the cache may have been moved, mounted
 * elsewhere, or written through a link. The sentinel replaces everything before
 * the name. Nothing is looked up on disk.
 */

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"

/* A file that a group file lists. The offsets are into the group file. */
struct tkb_child {
	const char *name; /* decoded */
	size_t start;     /* of the text between the quotes */
	size_t slash;     /* of the slash before the name */
	size_t end;       /* of the text between the quotes */
};

/* A parsed group file. */
struct tkb_group {
	struct tkb_bytes text; /* kept by reference */
	bool is_list;          /* the group file is a list of bare names,
	                          which need no scrubbing */
	struct tkb_child *children;
	size_t child_count;
};

/*
 * Parse the group file of entry `key`. A failure has one of the reasons
 * "group", "name", "limit", "outside" and "sentinel".
 */
TKB_NODISCARD int tkb_group_parse(struct tkb_bytes text, const char *key,
                                  struct tkb_arena *arena,
                                  struct tkb_group *out, struct tkb_error *err);

/*
 * Does every path in `group` name a file in `place`, the escaped absolute path
 * of the entry's folder?
 */
bool tkb_group_names(const struct tkb_group *group, struct tkb_bytes place);

/*
 * Append a group file with the children's names, formatted as json.dumps()
 * does, which Triton uses. The escaped `prefix` and a slash come before each
 * name; if the group is a list, the names are bare. With `is_lean`, files that
 * lean drops are not listed. Returns the number of paths.
 */
uint32_t tkb_group_write(const struct tkb_group *group, struct tkb_bytes prefix,
                         bool is_lean, struct tkb_buf *out);

/*
 * Append the group file with the escaped `prefix`, a sentinel or a path, before
 * each name. `*count_out` is the number of prefixes. With `is_lean`, the text
 * is formatted anew.
 */
void tkb_group_rewrite(const struct tkb_group *group, struct tkb_bytes prefix,
                       bool is_lean, struct tkb_buf *out, uint32_t *count_out);

/*
 * Append JSON `text`, with the sentinel in place of each of `prefixes` where a
 * string value is that prefix or continues it with a slash. `*count_out` is the
 * number of sentinels. A failure names `name` and has the reason "metadata", or
 * "sentinel" if a value already begins with the sentinel.
 */
TKB_NODISCARD int tkb_scrub(struct tkb_bytes text, const char *name,
                            const struct tkb_bytes *prefixes,
                            size_t prefix_count, struct tkb_buf *out,
                            uint32_t *count_out, struct tkb_error *err);

/*
 * Append JSON `text` with the escaped `place` instead of the sentinel at the
 * start of string values. There must be exactly `count` sentinels.
 */
TKB_NODISCARD int tkb_restore(struct tkb_bytes text, const char *name,
                              struct tkb_bytes place, uint32_t count,
                              struct tkb_buf *out, struct tkb_error *err);

#endif
