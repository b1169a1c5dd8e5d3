/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_SCRUB_H
#define TKB_CACHE_SCRUB_H

/*
 * In an entry's JSON files, replace its own absolute path by a sentinel, and
 * the sentinel by another path. Only string values change.
 *
 * Triton's group file lists an entry's files by absolute path:
 *
 *     {"child_paths": {"k.cubin": "/home/a/.triton/cache/KEY/k.cubin", ...}}
 *
 * (Triton 2 and the remote cache manager list bare names in an array.) A path
 * that ends with the key and the file's name is that file of this entry,
 * whatever comes before: a cache may have been moved, mounted elsewhere, or
 * written through a link. Everything before the name becomes the sentinel.
 * Nothing is looked up on disk.
 */

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"

/* One file that a group file lists. Offsets are into the group file. */
struct tkb_child {
	const char *name; /* decoded */
	size_t start;     /* start of the text within the quotes */
	size_t slash;     /* of the slash before the name */
	size_t end;       /* end of the text within the quotes */
};

/* A parsed group file. */
struct tkb_group {
	struct tkb_bytes text; /* kept by reference */
	bool is_list;          /* a list of bare names: nothing to scrub */
	struct tkb_child *children;
	size_t child_count;
};

/*
 * Parse the group file of entry `key`. A failure has one of the reasons group,
 * name, limit, outside and sentinel.
 */
TKB_NODISCARD int tkb_group_parse(struct tkb_bytes text, const char *key,
                                  struct tkb_arena *arena,
                                  struct tkb_group *out, struct tkb_error *err);

/*
 * Is every path of `group` a file in `place`, the escaped absolute path of the
 * entry's folder?
 */
bool tkb_group_names(const struct tkb_group *group, struct tkb_bytes place);

/*
 * Append a group file of the children's names, formatted as json.dumps does,
 * which Triton uses. Each path has the escaped `prefix` and a slash before it;
 * if the group is a list, it is bare. If `is_lean`, files that lean drops are
 * not listed. Returns the number of paths.
 */
uint32_t tkb_group_write(const struct tkb_group *group, struct tkb_bytes prefix,
                         bool is_lean, struct tkb_buf *out);

/*
 * Append the group file with the escaped `prefix`, a sentinel or a path, before
 * each name; `*count_out` is their number. If `is_lean`, it is formatted anew.
 */
void tkb_group_rewrite(const struct tkb_group *group, struct tkb_bytes prefix,
                       bool is_lean, struct tkb_buf *out, uint32_t *count_out);

/*
 * Append JSON `text` with the sentinel for each of `prefixes`, where a string
 * value is that prefix, or continues with a slash. `*count_out` is their
 * number. A failure names `name`, and has the reason "metadata", or "sentinel"
 * if a value already begins with one.
 */
TKB_NODISCARD int tkb_scrub(struct tkb_bytes text, const char *name,
                            const struct tkb_bytes *prefixes,
                            size_t prefix_count, struct tkb_buf *out,
                            uint32_t *count_out, struct tkb_error *err);

/*
 * Append JSON `text` with `place`, escaped, for the sentinel at the start of
 * string values; there must be exactly `count` sentinels.
 */
TKB_NODISCARD int tkb_restore(struct tkb_bytes text, const char *name,
                              struct tkb_bytes place, uint32_t count,
                              struct tkb_buf *out, struct tkb_error *err);

#endif
