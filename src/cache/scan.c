/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/parallel.h"
#include "cache/cache.h"
#include "cache/load.h"

static void candidates_release(struct tkb_candidates *candidates)
{
	free(candidates->items);
}

static int load_candidate(struct tkb_loader *loader,
                          struct tkb_candidate *candidate)
{
	struct tkb_error *err = &candidate->err;

	if (candidate->is_link)
		return tkb_fail_entry(err, TKB_REASON_UNSAFE,
		                      "the folder is a symbolic link");
	return candidate->unit != NULL
	               ? tkb_load_unit(loader, candidate->root, candidate->unit,
	                               &candidate->found, err)
	               : tkb_scanned_entry_load(loader, candidate->root,
	                                        candidate->key,
	                                        &candidate->found, err);
}

static int load_one(void *self, size_t worker, size_t index,
                    struct tkb_error *err)
{
	struct tkb_candidates *candidates = self;
	struct tkb_candidate *candidate = &candidates->items[index];
	int rc;

	rc = tkb_watcher_check(candidates->watcher, err);
	if (rc < 0)
		return rc;
	if (candidates->end_ns != 0 && tkb_now_ns() > candidates->end_ns) {
		candidate->is_unread = true;
		return 0;
	}
	candidate->rc =
		load_candidate(&candidates->cache->loaders[worker], candidate);
	tkb_watcher_progress(candidates->watcher, 1);
	if (candidate->rc < 0 &&
	    !tkb_failure_is_of_entry(candidate->rc, &candidate->err)) {
		*err = candidate->err;
		return candidate->rc;
	}
	return 0;
}

static int open_loaders(struct tkb_cache *cache,
                        const struct tkb_cache_options *options,
                        struct tkb_error *err)
{
	const size_t count = tkb_parallel_threads(options->threads);
	int rc;

	cache->loaders = tkb_alloc_array(count, sizeof(*cache->loaders));
	if (cache->loaders == NULL)
		return tkb_fail_nomem(err);
	while (cache->loader_count < count) {
		struct tkb_loader *loader =
			&cache->loaders[cache->loader_count];

		rc = tkb_loader_open(loader, options->is_lean,
		                     options->is_kernels_only, err);
		if (rc < 0)
			return rc;
		loader->strips = options->is_stripped;
		loader->settle_ms = options->settle_ms;
		loader->named = cache->named;
		loader->named_count = cache->named_count;
		cache->loader_count++;
	}
	return 0;
}

/* Move the loaded entries into the cache; count or reject the others. */
static int take_found(struct tkb_cache *cache,
                      struct tkb_candidates *candidates, bool is_picked,
                      struct tkb_error *err)
{
	int rc;

	cache->found =
		tkb_alloc_array(candidates->count, sizeof(*cache->found));
	if (cache->found == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < candidates->count; i++) {
		struct tkb_candidate *candidate = &candidates->items[i];

		if (candidate->is_unread) {
			cache->unread_count++;
		} else if (candidate->rc == TKB_MISS && is_picked) {
			rc = tkb_cache_reject_missing(cache,
			                              candidate->root->path,
			                              candidate->key, err);
			if (rc < 0)
				return rc;
		} else if (candidate->rc == TKB_MISS) {
			cache->unfinished_count++;
			if (candidate->unit != NULL)
				cache->units[candidate->unit - cache->units]
					.is_unfinished = true;
		} else if (candidate->rc < 0) {
			rc = tkb_cache_reject(cache, candidate->root->path,
			                      candidate->unit != NULL
			                              ? candidate->unit->path
			                              : candidate->key,
			                      &candidate->err, err);
			if (rc < 0)
				return rc;
		} else if (!candidate->found.is_unwanted) {
			if (candidate->devices != NULL) {
				candidate->found.entry.devices =
					candidate->devices;
				candidate->found.entry.device_count =
					candidate->device_count;
			}
			cache->stray_count += candidate->found.stray_count;
			cache->found[cache->found_count++] = candidate->found;
		}
	}
	return 0;
}

/* Does any candidate for the key hold an entry, even one that is left out? */
static bool has_entry(const struct tkb_candidates *candidates, const char *key)
{
	for (size_t i = 0; i < candidates->count; i++) {
		const struct tkb_candidate *candidate = &candidates->items[i];

		if (candidate->rc != TKB_MISS &&
		    !candidate->found.is_unwanted &&
		    tkb_begins_with(candidate->key, key))
			return true;
	}
	return false;
}

/* Report each key that was asked for and has only unfinished folders. */
static int check_keys(const struct tkb_candidates *candidates,
                      const struct tkb_cache_options *options)
{
	int rc = 0;

	for (size_t i = 0; i < options->key_count; i++) {
		const char *key = options->keys[i];

		if (!has_entry(candidates, key))
			rc = tkb_watch_missing(options->watch, key,
			                       "there is no finished entry "
			                       "'%s'",
			                       key);
	}
	return rc;
}

int tkb_cache_load(struct tkb_cache *cache, const struct tkb_scan *scan,
                   struct tkb_watcher *watcher, struct tkb_error *err)
{
	const struct tkb_cache_options *options = scan->options;
	TKB_AUTO(candidates_release)
	struct tkb_candidates candidates = { .cache = cache,
		                             .watcher = watcher };
	const uint64_t patience_ns = options->patience_ms * UINT64_C(1000000);
	const struct tkb_parallel_work work = { load_one, &candidates };
	int rc;

	rc = tkb_candidates_find(&candidates, scan, err);
	if (rc != 0)
		return rc;
	/* The time starts here, so that some entries are loaded however long
	   the list is. */
	if (patience_ns != 0)
		candidates.end_ns = tkb_now_ns() + patience_ns;
	rc = open_loaders(cache, options, err);
	if (rc < 0)
		return rc;
	watcher->total = candidates.count;
	if (tkb_cache_hashes(cache, scan))
		watcher->total += candidates.count;
	rc = tkb_parallel(candidates.count, cache->loader_count, &work, err);
	if (rc < 0)
		return rc;
	rc = take_found(cache, &candidates, scan->picks != NULL, err);
	return rc < 0 ? rc : check_keys(&candidates, options);
}
