/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SOURCE_H
#define TKBUNDLE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include <tkbundle/tkbundle.h>

#include "cli/cli.h"
#include "config/root.h"

/*
 * What the verbs look into: a folder is a cache, anything else a
 * bundle, "-" the bundle on standard input; or a ref, see remote_source.h.
 *
 *     TKB_AUTO(source_close) struct source source = { .cli = cli };
 *
 *     rc = source_open("kernels.tkb", false, &source, &err);
 */
struct source {
	struct cli *cli; /* shows how far it is with reading; NULL: nobody */
	struct tkb_bundle *bundle; /* or NULL: then it is a cache, or a ref */
	struct tkb_cache *cache;   /* or NULL */
	const struct tkb_entry **entries; /* of a ref, which has no bytes */
	size_t entry_count;               /* of those */
	const struct tkb_tree
		*trees; /* read with the cache; lent by the root */
	size_t tree_count;
};

/* Is `path` a folder, and so a cache? */
bool source_is_cache(const char *path);

/* Is the root that was chosen one? The default is, there or not. */
bool source_is_root(const struct root *root);

/*
 * Choose what a verb looks into by its first operand, and the trees that are read
 * with a cache. TKB_ERR_INVALID also where trees are asked for, and it is none.
 */
TKB_NODISCARD int source_choose(const struct arguments *args, struct root *out,
                                struct tkb_error *err);

/* Open a bundle; "-" is standard input. Codes as of tkb_bundle_open(). */
TKB_NODISCARD int source_open_bundle(const char *path, struct tkb_bundle **out,
                                     struct tkb_error *err);

/*
 * Codes as of tkb_bundle_open() and tkb_cache_open(). Where `is_hashed`, a cache's
 * files are read, checked and hashed, as collect does: their digests are those
 * that a bundle would have.
 */
TKB_NODISCARD int source_open(const char *path, bool is_hashed,
                              struct source *out, struct tkb_error *err);

/* One of both, of a root that need not have been named, and its trees. */
TKB_NODISCARD int source_open_root(const struct root *root, bool is_hashed,
                                   struct source *out, struct tkb_error *err);

/* For TKB_AUTO; a zeroed source is allowed. */
void source_close(struct source *source);
void source_close_bundle(struct tkb_bundle **bundle);

size_t source_entry_count(const struct source *source);
const struct tkb_entry *source_entry(const struct source *source, size_t index);

/* Is the entry recorded at another place than where it lies? */
bool source_is_moved(const struct source *source, size_t index);

/* Is a file of an entry called as group files are? */
bool source_is_group(const char *name);

/* Codes as of tkb_bundle_find(). */
TKB_NODISCARD int source_find(const struct source *source, const char *prefix,
                              size_t *index_out, struct tkb_error *err);

/* Codes as of tkb_bundle_read(). */
TKB_NODISCARD int source_read(const struct source *source, size_t index,
                              size_t file, const struct tkb_sink *sink,
                              struct tkb_error *err);

/*
 * Tell every file of every entry: a bundle's with sentinels, a cache's as it
 * lies there. Codes as of tkb_bundle_read_all().
 */
TKB_NODISCARD int source_read_all(const struct source *source,
                                  const struct tkb_file_visitor *visitor,
                                  struct tkb_error *err);

/* Read a file into `out`, whose bytes go. Codes as of source_read(). */
TKB_NODISCARD int source_read_file(const struct source *source, size_t index,
                                   size_t file, struct tkb_memory *out,
                                   struct tkb_error *err);

#endif
