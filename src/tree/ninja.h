/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_NINJA_H
#define TKB_TREE_NINJA_H

/*
 * What ninja remembers in a build's folder, read and stamped.
 *
 *     .ninja_log    versions 5 to 7: when each output was made
 *     .ninja_deps   versions 3 and 4: the headers that each was made of
 *
 * ninja goes by times alone: an output is made anew where it, or what is
 * remembered of it, is older than one of its inputs. So files that were restored
 * beside newer headers with the same contents are all made again. Who has checked
 * that every input (of .ninja_deps, and of build.ninja by ninja_build.h) has the
 * bytes it was made of gives the outputs a time that is no older than those of
 * the inputs, and stamps the same time here: then ninja has no work to do. Without
 * that check, a stamp hides a change.
 *
 * The log holds a hash of each command, which a stamp leaves alone: what was
 * built by another command, such as one with other paths in it, is made again.
 *
 * Of a file that is not as ninja writes it, reading and stamping fail with
 * TKB_REASON_METADATA.
 */

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"

/* An output, by the name that ninja has for it, and its time in nanoseconds. */
struct tkb_ninja_mtime {
	const char *output;
	int64_t mtime;
};

/* A log: each output once, by name, with the time it was last given. */
struct tkb_ninja_log {
	struct tkb_arena arena; /* holds what follows */
	struct tkb_ninja_mtime *outputs;
	size_t output_count;
};

TKB_NODISCARD int tkb_ninja_log_read(struct tkb_bytes text,
                                     struct tkb_ninja_log *out,
                                     struct tkb_error *err);
void tkb_ninja_log_release(struct tkb_ninja_log *log);

/* What an output was made of besides the inputs that build.ninja names. */
struct tkb_ninja_dep {
	const char *output;
	const char **inputs;
	size_t input_count;
};

/* The dependencies that hold now, each output once. */
struct tkb_ninja_deps {
	struct tkb_arena arena; /* holds what follows */
	struct tkb_ninja_dep *items;
	size_t count;
};

TKB_NODISCARD int tkb_ninja_deps_read(struct tkb_bytes bytes,
                                      struct tkb_ninja_deps *out,
                                      struct tkb_error *err);
void tkb_ninja_deps_release(struct tkb_ninja_deps *deps);

/*
 * Append both files with the times of `mtimes`, and all else as it was; `deps` may
 * be empty. An output that the log does not know is TKB_REASON_MISSING: ninja would
 * make it in any case.
 */
TKB_NODISCARD int tkb_ninja_stamp(struct tkb_bytes log, struct tkb_bytes deps,
                                  const struct tkb_ninja_mtime *mtimes,
                                  size_t mtime_count, struct tkb_buf *log_out,
                                  struct tkb_buf *deps_out,
                                  struct tkb_error *err);

#endif
