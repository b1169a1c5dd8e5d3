/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_PATHS_H
#define TKB_TREE_PATHS_H

/*
 * Replace the paths of named roots in a text by sentinels, and sentinels by the
 * paths that the roots have elsewhere:
 *
 *     '/home/a/.cache/vllm/x'  <->  '[REPLACE:vllm]/x'
 *
 * A path is looked for, and written, as the file's style spells it:
 *
 *     JSON     as json.dumps() does by default; where a text has the other
 *              spelling, with ensure_ascii=False, "[REPLACE:vllm:utf-8]"
 *     Python   as repr() does; as ascii() does, "[REPLACE:vllm:ascii]"
 *     ninja    as in a list of paths ("$ ", "$:", "$$"); as in a variable,
 *              where only "$" is escaped, "[REPLACE:vllm:value]"
 *     text     as it is
 *     none     not at all: such a file is never rewritten
 *
 * The other spelling has a sentinel of its own only where the two differ, so a
 * text is the same whatever its root's path is.
 *
 * A path counts where it begins and ends as one: behind the start, white space, a
 * control character, one of '"`=:,;([{<|&!#@ or an option such as -I; before the
 * end, a slash, white space, a control character or one of '"`:,;)]}>|& (in JSON
 * and Python, "\n" and the like are what they mean). So "/home/a" is neither in
 * "/home/ab" nor in "/mnt/home/a". Nothing is parsed, and nothing is looked up on
 * disk.
 */

#include "base/base.h"
#include "base/buf.h"
#include "tree/path_style.h"

/* A root with its name; its path differs between machines. */
struct tkb_named_root {
	const char *name; /* letters, digits and "_.-" */
	const char *path; /* absolute, without a slash at its end */
	bool is_in_names; /* of units, and in no text: see unit_names.h */
};

/*
 * Append `text` with a sentinel for each path of a root; where roots are
 * nested, that of the innermost. `*sentinels_out` is their number.
 *
 * The result is restored with the same roots before this returns: a text that
 * would not come back as it was fails with TKB_REASON_SENTINEL, and so does one
 * that already holds a sentinel. After a failure, what was appended to `out` is
 * meaningless; the same holds for the functions below.
 */
TKB_NODISCARD int tkb_paths_scrub(struct tkb_bytes text,
                                  enum tkb_path_style style,
                                  const struct tkb_named_root *roots,
                                  size_t root_count, struct tkb_buf *out,
                                  uint32_t *sentinels_out,
                                  struct tkb_error *err);

/*
 * Append `text` with each sentinel replaced by its root's path. It fails with
 * TKB_REASON_SENTINEL if the number of sentinels is not `sentinels`, if a root
 * is not listed, or if the style cannot express its path at that place.
 */
TKB_NODISCARD int tkb_paths_restore(struct tkb_bytes text,
                                    enum tkb_path_style style,
                                    const struct tkb_named_root *roots,
                                    size_t root_count, uint32_t sentinels,
                                    struct tkb_buf *out, struct tkb_error *err);

/* Could tkb_paths_restore() restore it, given all the roots that it names? */
TKB_NODISCARD int tkb_paths_check(struct tkb_bytes text,
                                  enum tkb_path_style style, uint32_t sentinels,
                                  struct tkb_error *err);

#endif
