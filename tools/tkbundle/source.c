/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

bool source_is_cache(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int source_open_bundle(const char *path, struct tkb_bundle **out,
                       struct tkb_error *err)
{
	if (strcmp(path, "-") != 0)
		return tkb_bundle_open(path, out, err);

	if (isatty(STDIN_FILENO))
		return cli_error(err, TKB_ERR_INVALID,
		                 "standard input is a terminal, not a bundle");
	return tkb_bundle_open_fd(STDIN_FILENO, "standard input", out, err);
}

int source_open(const char *path, struct source *out, struct tkb_error *err)
{
	if (source_is_cache(path))
		return tkb_cache_open(path, NULL, &out->cache, err);
	return source_open_bundle(path, &out->bundle, err);
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
	if (source->bundle != NULL)
		return tkb_bundle_entry_count(source->bundle);
	return tkb_cache_entry_count(source->cache);
}

const struct tkb_entry *source_entry(const struct source *source, size_t index)
{
	if (source->bundle != NULL)
		return tkb_bundle_entry(source->bundle, index);
	return tkb_cache_entry(source->cache, index);
}

bool source_is_moved(const struct source *source, size_t index)
{
	return source->cache != NULL &&
	       tkb_cache_is_moved(source->cache, index);
}

int source_find(const struct source *source, const char *prefix,
                size_t *index_out, struct tkb_error *err)
{
	if (source->bundle != NULL)
		return tkb_bundle_find(source->bundle, prefix, index_out, err);
	return tkb_cache_find(source->cache, prefix, index_out, err);
}

int source_read(const struct source *source, size_t index, size_t file,
                const struct tkb_sink *sink, struct tkb_error *err)
{
	if (source->bundle != NULL)
		return tkb_bundle_read(source->bundle, index, file, sink, err);
	return tkb_cache_read(source->cache, index, file, sink, err);
}
