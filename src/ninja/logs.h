/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_NINJA_LOGS_H
#define TKB_NINJA_LOGS_H

/*
 * What ninja remembers in a build's folder, read and written.
 *
 *     .ninja_log    versions 5 to 7: when each output was made, and the hash of
 *                   the command (hash.h)
 *     .ninja_deps   versions 3 and 4: the headers that each was made of
 *
 * Of a file that is not as ninja writes it, reading fails with
 * TKB_REASON_METADATA.
 */

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"

/* An output, by the name that ninja has for it. */
struct tkb_ninja_output {
	const char *name;
	int64_t mtime; /* in nanoseconds: no input may be newer */
	uint64_t hash;
};

/* A log: each output once, by name, as it was last made. */
struct tkb_ninja_log {
	struct tkb_arena arena; /* holds what follows */
	int version;
	struct tkb_ninja_output *outputs;
	size_t output_count;
};

TKB_NODISCARD int tkb_ninja_log_read(struct tkb_bytes text,
                                     struct tkb_ninja_log *out,
                                     struct tkb_error *err);
void tkb_ninja_log_release(struct tkb_ninja_log *log);

/* That of `name`, or NULL. */
const struct tkb_ninja_output *tkb_ninja_log_find(
	const struct tkb_ninja_log *log, const char *name);

/* Append a log. */
void tkb_ninja_log_write(const struct tkb_ninja_log *log, struct tkb_buf *out);

/* What an output was made of besides the inputs that build.ninja names. */
struct tkb_ninja_dep {
	const char *output;
	int64_t mtime; /* that the output had */
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

/* That of `output`, or NULL. */
const struct tkb_ninja_dep *tkb_ninja_deps_find(
	const struct tkb_ninja_deps *deps, const char *output);

/*
 * Append dependencies, in version 4. What does not fit into a record of ninja's
 * is TKB_REASON_LIMIT.
 */
TKB_NODISCARD int tkb_ninja_deps_write(const struct tkb_ninja_deps *deps,
                                       struct tkb_buf *out,
                                       struct tkb_error *err);

#endif
