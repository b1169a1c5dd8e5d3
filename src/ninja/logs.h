/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_NINJA_LOGS_H
#define TKB_NINJA_LOGS_H

/*
 * Read and write what ninja remembers in a build's folder.
 *
 *     .ninja_log    versions 5 to 7: when each output was made, and the hash of
 *                   the command (hash.h)
 *     .ninja_deps   versions 3 and 4: the headers that each was made of
 *
 * If a file is not as ninja writes it, reading fails with TKB_REASON_METADATA.
 */

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"

/* An output, with the name that ninja uses. */
struct tkb_ninja_output {
	const char *name; /* first, for tkb_compare_texts() */
	int64_t mtime;    /* in nanoseconds; no input may be newer */
	uint64_t hash;
};

/* A log: the last build of each output, sorted by name. */
struct tkb_ninja_log {
	struct tkb_arena arena; /* owns the following */
	int version;
	struct tkb_ninja_output *outputs;
	size_t output_count;
};

TKB_NODISCARD int tkb_ninja_log_read(struct tkb_bytes text,
                                     struct tkb_ninja_log *out,
                                     struct tkb_error *err);
void tkb_ninja_log_release(struct tkb_ninja_log *log);

/* The entry for `name`, or NULL. */
const struct tkb_ninja_output *tkb_ninja_log_find(
	const struct tkb_ninja_log *log, const char *name);

/* Append a log. */
void tkb_ninja_log_write(const struct tkb_ninja_log *log, struct tkb_buf *out);

/* What an output was made from, besides the inputs that build.ninja names. */
struct tkb_ninja_dep {
	const char *output; /* first, for tkb_compare_texts() */
	int64_t mtime;      /* of the output at that time */
	const char **inputs;
	size_t input_count;
};

/* The present dependencies of each output. */
struct tkb_ninja_deps {
	struct tkb_arena arena; /* owns the following */
	struct tkb_ninja_dep *items;
	size_t count;
};

TKB_NODISCARD int tkb_ninja_deps_read(struct tkb_bytes bytes,
                                      struct tkb_ninja_deps *out,
                                      struct tkb_error *err);
void tkb_ninja_deps_release(struct tkb_ninja_deps *deps);

/* The dependencies of `output`, or NULL. */
const struct tkb_ninja_dep *tkb_ninja_deps_find(
	const struct tkb_ninja_deps *deps, const char *output);

/*
 * Append dependencies in version 4. Fails with TKB_REASON_LIMIT if some do not
 * fit into one of ninja's records.
 */
TKB_NODISCARD int tkb_ninja_deps_write(const struct tkb_ninja_deps *deps,
                                       struct tkb_buf *out,
                                       struct tkb_error *err);

#endif
