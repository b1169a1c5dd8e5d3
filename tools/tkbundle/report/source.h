/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SOURCE_H
#define TKBUNDLE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include <tkbundle/tkbundle.h>

#include "cli/cli.h"
#include "config/root.h"

/*
 * The operand of a verb: a folder is a cache, anything else is a bundle, "-" is
 * the bundle on standard input; or a ref, see remote_source.h.
 *
 *     TKB_AUTO(source_close) struct source source = { .cli = cli };
 *
 *     rc = source_open("kernels.tkb", false, &source, &err);
 */
struct source {
	struct cli *cli; /* shows the progress of reading; NULL: nothing does */
	struct tkb_bundle *bundle;        /* NULL if it is a cache or a ref */
	struct tkb_cache *cache;          /* or NULL */
	const struct tkb_entry **entries; /* entries of a ref, which has no
	                                     bytes */
	size_t entry_count;               /* number of these */
	const struct tkb_tree
		*trees; /* trees read with the cache; borrowed from the root */
	size_t tree_count;
};

/* Is `path` a folder, and so a cache? */
bool source_is_cache(const char *path);

/*
 * Is the chosen root a cache? The default root is one, even if it does not
 * exist.
 */
bool source_is_root(const struct root *root);

/*
 * Choose the source by the verb's first operand, and the trees that are read
 * with a cache. TKB_ERR_INVALID also if trees are named, and the source is not
 * a cache.
 */
TKB_NODISCARD int source_choose(const struct arguments *args, struct root *out,
                                struct tkb_error *err);

/* Open a bundle; "-" is standard input. Returns like tkb_bundle_open(). */
TKB_NODISCARD int source_open_bundle(const char *path, struct tkb_bundle **out,
                                     struct tkb_error *err);

/*
 * Open a source; returns like tkb_bundle_open() and tkb_cache_open(). With
 * `is_hashed`, a cache's files are read, checked and hashed, as collect does:
 * their digests are those that a bundle would have.
 */
TKB_NODISCARD int source_open(const char *path, bool is_hashed,
                              struct source *out, struct tkb_error *err);

/*
 * Open the bundle or cache of a chosen root, which may be the default one, and
 * its trees.
 */
TKB_NODISCARD int source_open_root(const struct root *root, bool is_hashed,
                                   struct source *out, struct tkb_error *err);

/* For TKB_AUTO; a zeroed source is allowed. */
void source_close(struct source *source);
void source_close_bundle(struct tkb_bundle **bundle);

size_t source_entry_count(const struct source *source);
const struct tkb_entry *source_entry(const struct source *source, size_t index);

/* Does the entry name another path than its own? */
bool source_is_moved(const struct source *source, size_t index);

/* Does a file of an entry have the name of a group file? */
bool source_is_group(const char *name);

/*
 * What a cache left out under this key, or this path in a tree; NULL: nothing.
 * Borrowed.
 */
const struct tkb_left_out *source_left_out(const struct source *source,
                                           const char *key);

/*
 * Returns like tkb_bundle_find(), with a sentence for TKB_MISS, too.
 *
 * @param path  of the source, for that sentence
 */
TKB_NODISCARD int source_find(const struct source *source, const char *path,
                              const char *prefix, size_t *index_out,
                              struct tkb_error *err);

/* Returns like tkb_bundle_read(). */
TKB_NODISCARD int source_read(const struct source *source, size_t index,
                              size_t file, const struct tkb_sink *sink,
                              struct tkb_error *err);

/*
 * Visit every file of every entry: those of a bundle have sentinels, those of a
 * cache do not. Returns like tkb_bundle_read_all().
 */
TKB_NODISCARD int source_read_all(const struct source *source,
                                  const struct tkb_file_visitor *visitor,
                                  struct tkb_error *err);

/* The contents of a file that was read. */
static inline struct tkb_bytes source_bytes(const struct tkb_memory *file)
{
	return (struct tkb_bytes){ file->data, file->size };
}

/*
 * Read a file into `out`, whose old bytes are dropped. Returns like
 * source_read().
 */
TKB_NODISCARD int source_read_file(const struct source *source, size_t index,
                                   size_t file, struct tkb_memory *out,
                                   struct tkb_error *err);

#endif
