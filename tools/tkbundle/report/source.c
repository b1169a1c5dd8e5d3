/* SPDX-License-Identifier: Apache-2.0 */
#include "report/source.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/text.h"

bool source_is_cache(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool source_is_root(const struct root *root)
{
	return !root->is_given || source_is_cache(root->path);
}

int source_choose(const struct arguments *args, struct root *out,
                  struct tkb_error *err)
{
	const int rc = root_choose_all(args, args_operand(args, 0), out, err);

	if (rc != 0 || args->engines.count + args->trees.count == 0 ||
	    source_is_root(out))
		return rc;
	return cli_error(err, TKB_ERR_INVALID,
	                 "'--engine' and '--tree' are for a cache, and '%s' "
	                 "is no folder",
	                 out->path);
}

int source_open_bundle(const char *path, struct tkb_bundle **out,
                       struct tkb_error *err)
{
	if (strcmp(path, "-") != 0)
		return cli_missed(err, tkb_bundle_open(path, out, err), "file",
		                  path);

	if (isatty(STDIN_FILENO))
		return cli_error(err, TKB_ERR_INVALID,
		                 "standard input is a terminal, not a bundle");
	return tkb_bundle_open_fd(STDIN_FILENO, "standard input", NULL, out,
	                          err);
}

int source_open_root(const struct root *root, bool is_hashed,
                     struct source *out, struct tkb_error *err)
{
	struct cli *const cli = out->cli;
	struct progress progress;
	const struct tkb_cache_options options = {
		.struct_size = sizeof(options),
		.has_digests = is_hashed,
		.watch = &progress.watch,
		.trees = root->trees.items,
		.tree_count = root->trees.count,
	};
	int rc;

	if (!source_is_root(root))
		return source_open_bundle(root->path, &out->bundle, err);
	out->trees = root->trees.items;
	out->tree_count = root->trees.count;
	progress_init(&progress, cli != NULL ? cli->log : NULL,
	              cli != NULL && cli->is_tty);
	progress.is_count = true;
	rc = tkb_cache_open(root->path, &options, &out->cache, err);
	progress_erase(&progress);
	return cli_missed(err, rc, "folder", root_name(root));
}

int source_open(const char *path, bool is_hashed, struct source *out,
                struct tkb_error *err)
{
	TKB_AUTO(root_release) struct root root = { .path = NULL };
	int rc = root_choose(path, &root, err);

	return rc != 0 ? rc : source_open_root(&root, is_hashed, out, err);
}

void source_close(struct source *source)
{
	tkb_bundle_close(source->bundle);
	tkb_cache_close(source->cache);
}

void source_close_bundle(struct tkb_bundle **bundle)
{
	tkb_bundle_close(*bundle);
}

size_t source_entry_count(const struct source *source)
{
	if (source->entries != NULL)
		return source->entry_count;
	if (source->bundle != NULL)
		return tkb_bundle_entry_count(source->bundle);
	return tkb_cache_entry_count(source->cache);
}

const struct tkb_entry *source_entry(const struct source *source, size_t index)
{
	if (source->entries != NULL)
		return source->entries[index];
	if (source->bundle != NULL)
		return tkb_bundle_entry(source->bundle, index);
	return tkb_cache_entry(source->cache, index);
}

bool source_is_moved(const struct source *source, size_t index)
{
	return source->cache != NULL &&
	       tkb_cache_is_moved(source->cache, index);
}

bool source_is_group(const char *name)
{
	static const char prefix[] = "__grp__";

	return strncmp(name, prefix, strlen(prefix)) == 0 &&
	       text_ends_with(name, ".json");
}

/* The first that was left out whose key's first `length` bytes are these. */
static const struct tkb_left_out *find_left_out(const struct source *source,
                                                const char *key, size_t length)
{
	const size_t count = source->cache != NULL
	                             ? tkb_cache_left_out_count(source->cache)
	                             : 0;

	for (size_t i = 0; i < count; i++) {
		const struct tkb_left_out *const left_out =
			tkb_cache_left_out(source->cache, i);

		if (strncmp(left_out->key, key, length) == 0)
			return left_out;
	}
	return NULL;
}

const struct tkb_left_out *source_left_out(const struct source *source,
                                           const char *key)
{
	return find_left_out(source, key, strlen(key) + 1);
}

int source_find(const struct source *source, const char *path,
                const char *prefix, size_t *index_out, struct tkb_error *err)
{
	const struct tkb_left_out *left_out;
	const int rc =
		source->bundle != NULL
			? tkb_bundle_find(source->bundle, prefix, index_out,
	                                  err)
			: tkb_cache_find(source->cache, prefix, index_out, err);

	if (rc != TKB_MISS)
		return rc;
	left_out = find_left_out(source, prefix, strlen(prefix));
	return left_out == NULL
	               ? cli_error(err, rc,
	                           "no key in '%.300s' begins with '%.100s'",
	                           path, prefix)
	               : cli_error(err, rc, "'%s' is no whole entry: %s: %s",
	                           left_out->key,
	                           tkb_reason_name(left_out->reason),
	                           left_out->message);
}

int source_read(const struct source *source, size_t index, size_t file,
                const struct tkb_sink *sink, struct tkb_error *err)
{
	if (source->bundle != NULL)
		return tkb_bundle_read(source->bundle, index, file, sink, err);
	return tkb_cache_read(source->cache, index, file, sink, err);
}

int source_read_file(const struct source *source, size_t index, size_t file,
                     struct tkb_memory *out, struct tkb_error *err)
{
	const struct tkb_sink sink = tkb_memory_sink(out);

	out->size = 0;
	return source_read(source, index, file, &sink, err);
}

static int visit_entry(const struct source *source, size_t index,
                       const struct tkb_file_visitor *visitor,
                       struct tkb_memory *file, struct tkb_error *err)
{
	const size_t count = source_entry(source, index)->file_count;
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++) {
		rc = source_read_file(source, index, i, file, err);
		if (rc == 0)
			rc = visitor->on_file(
				visitor->self, index, i,
				(struct tkb_bytes){ file->data, file->size },
				err);
	}

	return rc;
}

int source_read_all(const struct source *source,
                    const struct tkb_file_visitor *visitor,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_memory_release) struct tkb_memory file = { .size = 0 };
	int rc = 0;

	if (source->bundle != NULL)
		return tkb_bundle_read_all(source->bundle, visitor, NULL, err);

	for (size_t i = 0; i < source_entry_count(source) && rc == 0; i++)
		rc = visit_entry(source, i, visitor, &file, err);
	return rc;
}
