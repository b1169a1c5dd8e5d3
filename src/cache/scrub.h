/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_SCRUB_H
#define TKB_CACHE_SCRUB_H

/*
 * Take an entry's own absolute path out of its JSON files, and put another
 * one in. Only string values change; every other byte stays as it is.
 *
 * Triton's group file lists an entry's files by absolute path:
 *
 *     {"child_paths": {"k.cubin": "/home/a/.triton/cache/KEY/k.cubin", ...}}
 *
 * (Triton 2 and the remote cache manager list bare names instead, in an
 * array.) A path whose last two parts are the key and the file's own name
 * means that file of this entry, whatever stands before: a cache may have been
 * moved, mounted elsewhere, or written through a link. What stands before the
 * name becomes the sentinel. No path is looked up on disk.
 */

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"

/* One file that a group file lists. Offsets are into the group file. */
struct tkb_child {
	const char *name;        /* decoded */
	struct tkb_bytes member; /* in a dict: its name as it stands there */
	size_t start;            /* of what the value's quotes hold */
	size_t slash;            /* of the slash before the name */
	size_t end;              /* of what the quotes hold */
};

/* A group file, taken apart. */
struct tkb_group {
	struct tkb_bytes text; /* kept by reference */
	bool is_list;          /* bare names: nothing to scrub */
	struct tkb_child *children;
	size_t child_count;
};

/*
 * Take apart the group file of entry `key`. The failure has a reason: group,
 * name, limit, outside, sentinel.
 */
TKB_NODISCARD int tkb_group_parse(struct tkb_bytes text, const char *key,
                                  struct tkb_arena *arena,
                                  struct tkb_group *out, struct tkb_error *err);

/*
 * Does every path of `group` begin with `place`, the escaped absolute path of
 * the entry's folder, and go on with the file's name?
 */
bool tkb_group_names(const struct tkb_group *group, struct tkb_bytes place);

/*
 * Append the group file with `prefix`, escaped, before each name: the
 * sentinel, or a place. `*count_out` says how often. With `lean`, files that
 * lean drops are not listed.
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
