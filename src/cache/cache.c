/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/cache.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/fd.h"
#include "base/struct.h"
#include "cache/entry.h"
#include "cache/names.h"
#include "text/select.h"
#include "tree/unit.h"

int tkb_cache_reject(struct tkb_cache *cache, const char *root, const char *key,
                     const struct tkb_error *why, struct tkb_error *err)
{
	char *message = tkb_arena_string(&cache->arena, tkb_text(why->message));
	char *kept = tkb_arena_string(&cache->arena, tkb_text(key));
	const struct tkb_left_out left_out = {
		.root = root,
		.key = kept,
		.reason = (enum tkb_reason)why->reason,
		.message = message,
	};

	if (message == NULL || kept == NULL)
		return tkb_fail_nomem(err);
	return tkb_append(&cache->left_out, &cache->left_out_count,
	                  &cache->left_out_capacity, &left_out,
	                  sizeof(left_out), err);
}

int tkb_cache_reject_found(struct tkb_cache *cache,
                           const struct tkb_scanned_entry *found,
                           const struct tkb_error *why, struct tkb_error *err)
{
	const struct tkb_entry *entry = &found->entry;

	return tkb_cache_reject(cache, found->root->path,
	                        entry->kind == TKB_KIND_UNIT ? entry->name
	                                                     : entry->key,
	                        why, err);
}

struct tkb_result tkb_left_out_result(const struct tkb_left_out *left_out,
                                      enum tkb_outcome outcome)
{
	return (struct tkb_result){ .root = left_out->root,
		                    .key = left_out->key,
		                    .name = "",
		                    .outcome = outcome,
		                    .reason = left_out->reason,
		                    .message = left_out->message };
}

size_t tkb_cache_root_of(const struct tkb_cache *cache,
                         const struct tkb_scanned_entry *found)
{
	return (size_t)(found->root - cache->roots.items);
}

TKB_AUTO_POINTER(close_at, struct tkb_cache, tkb_cache_close)

int tkb_cache_scan(const char *path, const struct tkb_scan *scan,
                   struct tkb_cache **out, struct tkb_error *err)
{
	const struct tkb_cache_options *options = scan->options;
	struct tkb_watch watch;
	TKB_AUTO(tkb_watcher_release) struct tkb_watcher watcher = { 0 };
	TKB_AUTO(close_at)
	struct tkb_cache *cache = tkb_alloc_array(1, sizeof(*cache));
	int rc;

	if (cache == NULL)
		return tkb_fail_nomem(err);
	if (options->has_device && options->device >= TKB_DEVICE_LIMIT)
		return tkb_fail(err, TKB_ERR_INVALID, "no device has number %u",
		                (unsigned)options->device);
	rc = tkb_watch_read(&watch, options->watch, err);
	if (rc < 0)
		return rc;
	if (!scan->is_followed)
		watch.on_progress = watch.on_look;
	tkb_watcher_init(&watcher, &watch, 0);
	if (path != NULL)
		rc = tkb_roots_open(path, &cache->roots, err);
	/* Trees may exist before the first kernel does. */
	if (rc < 0 || (rc != 0 && options->tree_count == 0))
		return rc;
	rc = tkb_cache_list_trees(cache, options, &watcher, err);
	if (rc != 0)
		return rc;
	rc = tkb_cache_load(cache, scan, &watcher, err);
	if (rc != 0)
		return rc;
	rc = tkb_cache_fold(cache, scan, &watcher, err);
	if (rc < 0)
		return rc;
	tkb_watcher_finish(&watcher);
	*out = tkb_take(cache);
	return 0;
}

int tkb_cache_open(const char *path, const struct tkb_cache_options *options,
                   struct tkb_cache **out, struct tkb_error *err)
{
	struct tkb_cache_options chosen;
	struct tkb_scan scan = { .options = &chosen, .is_followed = true };
	struct tkb_timed timed;
	int rc;

	rc = TKB_STRUCT_READ(tkb_cache_options, settle_ms, &chosen, options,
	                     err);
	if (rc == 0)
		rc = tkb_timed_begin(&timed, chosen.watch, chosen.deadline_ms,
		                     err);
	if (rc < 0)
		return rc;
	chosen.watch = &timed.watch;
	scan.keeps_apart = chosen.patience_ms != 0;
	rc = tkb_cache_scan(path, &scan, out, err);
	return tkb_timed_end(&timed, rc, err);
}

void tkb_cache_close(struct tkb_cache *cache)
{
	if (cache == NULL)
		return;
	for (size_t i = 0; i < cache->loader_count; i++)
		tkb_loader_close(&cache->loaders[i]);
	free(cache->loaders);
	free(cache->named);
	free(cache->units);
	free(cache->found);
	free(cache->left_out);
	tkb_arena_release(&cache->arena);
	tkb_roots_release(&cache->roots);
	free(cache);
}

bool tkb_cache_is_inductor(const struct tkb_cache *cache)
{
	return cache->roots.is_inductor;
}

size_t tkb_cache_entry_count(const struct tkb_cache *cache)
{
	return cache->found_count;
}

const struct tkb_entry *tkb_cache_entry(const struct tkb_cache *cache,
                                        size_t index)
{
	return &cache->found[index].entry;
}

bool tkb_cache_is_moved(const struct tkb_cache *cache, size_t index)
{
	return cache->found[index].is_moved;
}

size_t tkb_cache_left_out_count(const struct tkb_cache *cache)
{
	return cache->left_out_count;
}

const struct tkb_left_out *tkb_cache_left_out(const struct tkb_cache *cache,
                                              size_t index)
{
	return &cache->left_out[index];
}

size_t tkb_cache_unread_count(const struct tkb_cache *cache)
{
	return cache->unread_count;
}

size_t tkb_cache_unfinished_count(const struct tkb_cache *cache)
{
	return cache->unfinished_count;
}

size_t tkb_cache_stray_count(const struct tkb_cache *cache)
{
	return cache->stray_count;
}

static const char *found_key(const void *list, size_t index)
{
	const struct tkb_cache *cache = list;

	return cache->found[index].entry.key;
}

int tkb_cache_find(const struct tkb_cache *cache, const char *prefix,
                   size_t *index_out, struct tkb_error *err)
{
	return tkb_select_key(cache, cache->found_count, found_key, prefix,
	                      index_out, err);
}

int tkb_cache_read(const struct tkb_cache *cache, size_t index, size_t file,
                   const struct tkb_sink *sink, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf bytes = TKB_BUF_INIT(TKB_UNIT_FILE_SIZE_LIMIT + 1);
	TKB_AUTO(tkb_fd_close_at) int folder = -1;
	const struct tkb_scanned_entry *found = &cache->found[index];
	struct stat status;
	int rc;

	folder = tkb_fd_open_below(found->root->fd,
	                           tkb_root_folder(found->root, &found->entry),
	                           O_RDONLY | O_DIRECTORY);
	if (folder < 0)
		return tkb_fail_errno(err, "cannot open '%s'",
		                      found->entry.key);
	rc = tkb_fd_read_file(folder, found->files[file].name,
	                      tkb_entry_file_limit(&found->entry), &bytes,
	                      &status, err);
	if (rc < 0)
		return rc;
	return sink->write(sink->self, tkb_buf_bytes(&bytes), err);
}
