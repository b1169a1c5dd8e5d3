/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_SCRUB_H
#define TKB_CACHE_SCRUB_H

/*
 * Replace an entry's own absolute path in its JSON files by a sentinel, and the
 * sentinel by another path. Only string values change.
 *
 * Triton's group file lists an entry's files by absolute path:
 *
 *     {"child_paths": {"k.cubin": "/home/a/.triton/cache/KEY/k.cubin", ...}}
 *
 * (Triton 2 and the remote cache manager list bare names instead, in an
 * array.) A path that ends with the key and the file's name is that file of this
 * entry, whatever it begins with, since a cache may have been moved, mounted
 * elsewhere, or written through a link. All before the name becomes the sentinel.
 * No path is looked up on disk.
 */

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"

/* One file that a group file lists. Offsets are into the group file. */
struct tkb_child {
	const char *name; /* decoded */
	size_t start;     /* of what the value's quotes hold */
	size_t slash;     /* of the slash before the name */
	size_t end;       /* of what the quotes hold */
};

/* A parsed group file. */
struct tkb_group {
	struct tkb_bytes text; /* kept by reference */
	bool is_list;          /* bare names: nothing to scrub */
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
 * Append a group file of the children's names as json.dumps does, with which
 * Triton writes it: with the escaped `prefix` and a slash before each path, or, if
 * the group is a list, bare. If `is_lean`, files that lean drops are not listed.
 * Returns how many paths it holds.
 */
uint32_t tkb_group_write(const struct tkb_group *group, struct tkb_bytes prefix,
                         bool is_lean, struct tkb_buf *out);

/*
 * Append the group file with the escaped `prefix`, the sentinel or a place, before
 * each name. `*count_out` is how often. If `is_lean`, it is written anew.
 */
void tkb_group_rewrite(const struct tkb_group *group, struct tkb_bytes prefix,
                       bool is_lean, struct tkb_buf *out, uint32_t *count_out);

/*
 * Append JSON `text` with the sentinel in place of each of `prefixes` where a
 * string value is that prefix, or goes on with a slash. `*count_out` says how
 * often. The failure has the reason "metadata", or "sentinel" where a value
 * begins with it already, and speaks of `name`.
 */
TKB_NODISCARD int tkb_scrub(struct tkb_bytes text, const char *name,
                            const struct tkb_bytes *prefixes,
                            size_t prefix_count, struct tkb_buf *out,
                            uint32_t *count_out, struct tkb_error *err);

/*
 * Append JSON `text` with `place`, escaped, in place of the sentinel at the
 * start of string values; there must be exactly `count` of them.
 */
TKB_NODISCARD int tkb_restore(struct tkb_bytes text, const char *name,
                              struct tkb_bytes place, uint32_t count,
                              struct tkb_buf *out, struct tkb_error *err);

#endif
