/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_PATHS_H
#define TKB_TREE_PATHS_H

/*
 * Replace the paths of named roots in a text by sentinels, and on another
 * machine the sentinels by the paths that the roots have there:
 *
 *     '/home/a/.cache/vllm/x'  <->  '[REPLACE:vllm]/x'
 *
 * Paths are found and written in the spelling of the file's style:
 *
 *     JSON     as json.dumps() does by default; where a text has the other
 *              spelling, with ensure_ascii=False, "[REPLACE:vllm:utf-8]"
 *     Python   as repr() does; as ascii() does, "[REPLACE:vllm:ascii]"
 *     ninja    as in a list of paths ("$ ", "$:", "$$"); as in a variable,
 *              where only "$" is escaped, "[REPLACE:vllm:value]"
 *     text     as it is
 *     none     not at all: such a file is never rewritten
 *
 * The other spelling has its own sentinel only where the two spellings differ,
 * so that the scrubbed text does not depend on the root's path.
 *
 * A path is replaced only if it stands alone. Before it must be the start of
 * the text, white space, a control character, one of '"`=:,;([{<|&!#@ or an
 * option such as -I; after it the end of the text, a slash, white space, a
 * control character or one of '"`:,;)]}>|& (in JSON and Python, an escape such
 * as "\n" counts as what it means). So "/home/a" is found neither in "/home/ab"
 * nor in "/mnt/home/a". Nothing is parsed, and nothing is looked up on disk.
 */

#include "base/base.h"
#include "base/buf.h"
#include "tree/path_style.h"

/* A root, whose name is the same on all machines and whose path is not. */
struct tkb_named_root {
	const char *name; /* letters, digits and "_.-" */
	const char *path; /* absolute, without a slash at its end */
	bool is_in_names; /* its path is part of units' names, and in no
	                     text: see unit_names.h */
};

/*
 * Append `text` with a sentinel in place of each path of a root. If roots are
 * nested, the innermost one is used. `*sentinels_out` is the number of
 * sentinels.
 *
 * Before this returns, it restores the result with the same roots. If that does
 * not give `text` again, or if `text` already has a sentinel, it fails with
 * TKB_REASON_SENTINEL. After a failure of this or a following function, do not
 * use what was appended to `out`.
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
 * is not in the list, or if the style cannot express its path there.
 */
TKB_NODISCARD int tkb_paths_restore(struct tkb_bytes text,
                                    enum tkb_path_style style,
                                    const struct tkb_named_root *roots,
                                    size_t root_count, uint32_t sentinels,
                                    struct tkb_buf *out, struct tkb_error *err);

/* Could tkb_paths_restore() restore the text if it knew all its roots? */
TKB_NODISCARD int tkb_paths_check(struct tkb_bytes text,
                                  enum tkb_path_style style, uint32_t sentinels,
                                  struct tkb_error *err);

#endif
