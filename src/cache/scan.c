/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/parallel.h"
#include "cache/cache.h"
#include "cache/load.h"
#include "cache/key.h"
#include "text/select.h"

/* A folder that may hold an entry, and the result of loading it. */
struct candidate {
	const struct tkb_root *root;
	char *key;                         /* in the cache's arena */
	const struct tkb_unit_place *unit; /* or NULL: of kernels */
	bool is_link;
	const uint32_t *devices; /* picked; in the cache's arena, or NULL */
	size_t device_count;
	bool is_unread;
	int rc;
	struct tkb_error err;
	struct tkb_scanned_entry found;
};

struct candidates {
	struct tkb_cache *cache;
	struct tkb_watcher *watcher; /* by reference */
	uint64_t end_ns;             /* when patience is over; 0: never */
	struct candidate *items;     /* owned */
	size_t count;
	size_t capacity;
};

static void candidates_release(struct candidates *candidates)
{
	free(candidates->items);
}

static bool is_folder_item(int dir_fd, const struct dirent *item, bool *is_link)
{
	struct stat status;

	*is_link = item->d_type == DT_LNK;
	if (item->d_type != DT_UNKNOWN)
		return item->d_type == DT_DIR;
	if (fstatat(dir_fd, item->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	*is_link = S_ISLNK(status.st_mode);
	return S_ISDIR(status.st_mode);
}

/* Append `candidate`, with a copy of `key`. */
static int push_candidate(struct candidates *candidates,
                          struct candidate candidate, const char *key,
                          struct tkb_error *err)
{
	candidate.key =
		tkb_arena_string(&candidates->cache->arena, tkb_text(key));
	if (candidate.key == NULL)
		return tkb_fail_nomem(err);
	return tkb_append(&candidates->items, &candidates->count,
	                  &candidates->capacity, &candidate, sizeof(candidate),
	                  err);
}

static int add_candidate(struct candidates *candidates,
                         const struct tkb_root *root, const char *key,
                         bool is_link, struct tkb_error *err)
{
	const struct candidate candidate = { .root = root, .is_link = is_link };

	return push_candidate(candidates, candidate, key, err);
}

static int add_listed_item(struct candidates *candidates,
                           const struct tkb_root *root,
                           const struct dirent *item, struct tkb_error *err)
{
	const char *name = item->d_name;
	bool is_link = false;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    strcmp(name, TKB_OWN_FOLDER) == 0)
		return 0;
	if (is_folder_item(root->fd, item, &is_link) ||
	    (is_link && tkb_key_is_valid(name)))
		return add_candidate(candidates, root, name, is_link, err);
	candidates->cache->stray_count++;
	return 0;
}

/*
 * Is the folder a tree's, too? Then names that are not keys belong to the tree.
 */
static bool is_tree_as_well(const struct tkb_roots *roots,
                            const struct tkb_root *root)
{
	for (size_t i = 0; i < roots->count; i++) {
		if (roots->items[i].tree != NULL &&
		    strcmp(roots->items[i].path, root->path) == 0)
			return true;
	}
	return false;
}

static int list_root(struct candidates *candidates, const struct tkb_root *root,
                     struct tkb_error *err)
{
	const bool has_units = is_tree_as_well(&candidates->cache->roots, root);
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item = NULL;
	int rc;

	rc = tkb_dir_open(root->fd, ".", &dir, err);
	while (rc == 0) {
		rc = tkb_dir_next(dir, &item, err);
		if (rc == 0 && (!has_units || tkb_key_is_valid(item->d_name)))
			rc = add_listed_item(candidates, root, item, err);
	}
	return rc < 0 ? tkb_fail_while(err, rc, "'%s'", root->path) : 0;
}

static const char *candidate_key(const void *list, size_t index)
{
	const struct candidates *candidates = list;

	return candidates->items[index].key;
}

/* Is there a folder `key`, or a link of that name? */
static bool has_folder(const struct tkb_root *root, const char *key,
                       bool *is_link)
{
	struct stat status;

	if (fstatat(root->fd, key, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	*is_link = S_ISLNK(status.st_mode);
	return S_ISDIR(status.st_mode) || *is_link;
}

static int reject_missing(struct tkb_cache *cache, const char *root,
                          const char *key, struct tkb_error *err)
{
	struct tkb_error why = { 0 };

	(void)tkb_fail_entry(&why, TKB_REASON_MISSING,
	                     "it is wanted, but there is no finished entry");
	return tkb_cache_reject(cache, root, key, &why, err);
}

/* Keep the devices of `count` picks, which have one key. */
static int keep_devices(struct candidates *candidates,
                        const struct tkb_pick *picks, size_t count,
                        struct candidate *candidate, struct tkb_error *err)
{
	uint32_t *devices = tkb_arena_alloc(&candidates->cache->arena, count,
	                                    sizeof(*devices));

	if (devices == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		devices[i] = picks[i].device;
	candidate->devices = devices;
	candidate->device_count = count;
	return 0;
}

/* A Triton root has one folder for all devices of a key. */
static int pick_in_root(struct candidates *candidates,
                        const struct tkb_root *root,
                        const struct tkb_pick *picks, size_t count,
                        bool *has_any, struct tkb_error *err)
{
	struct candidate candidate = { .root = root };
	int rc;

	if (root->tree != NULL ||
	    !has_folder(root, picks->key, &candidate.is_link))
		return 0;
	*has_any = true;
	if (!picks->any_device) {
		rc = keep_devices(candidates, picks, count, &candidate, err);
		if (rc < 0)
			return rc;
	}
	return push_candidate(candidates, candidate, picks->key, err);
}

/* The path of the first root, for results; "" if there is none. */
static const char *first_path(const struct tkb_roots *roots)
{
	return roots->count == 0 ? "" : roots->items[0].path;
}

/* With trees there may be several Triton roots: look in each. */
static int pick_in_each(struct candidates *candidates,
                        const struct tkb_pick *picks, size_t count,
                        struct tkb_error *err)
{
	const struct tkb_roots *roots = &candidates->cache->roots;
	bool has_any = false;
	int rc;

	for (size_t i = 0; i < roots->count; i++) {
		rc = pick_in_root(candidates, &roots->items[i], picks, count,
		                  &has_any, err);
		if (rc < 0)
			return rc;
	}
	return has_any ? 0
	               : reject_missing(candidates->cache, first_path(roots),
	                                picks->key, err);
}

/* The path for results about a pick: its device's root, or else the first. */
static const char *path_of(const struct tkb_roots *roots,
                           const struct tkb_pick *pick)
{
	for (size_t i = 0; i < roots->count && !pick->any_device; i++) {
		if (roots->items[i].tree == NULL &&
		    roots->items[i].device == pick->device)
			return roots->items[i].path;
	}
	return first_path(roots);
}

/* Under Inductor, each device has a folder of its own. */
static int pick_in_roots(struct candidates *candidates,
                         const struct tkb_pick *pick, struct tkb_error *err)
{
	const struct tkb_roots *roots = &candidates->cache->roots;
	bool is_link = false;
	bool has_any = false;
	int rc;

	for (size_t i = 0; i < roots->count; i++) {
		const struct tkb_root *root = &roots->items[i];

		if (root->tree != NULL ||
		    (!pick->any_device && pick->device != root->device) ||
		    !has_folder(root, pick->key, &is_link))
			continue;
		has_any = true;
		rc = add_candidate(candidates, root, pick->key, is_link, err);
		if (rc < 0)
			return rc;
	}
	if (has_any)
		return 0;
	return reject_missing(candidates->cache, path_of(roots, pick),
	                      pick->key, err);
}

static int add_unit(struct candidates *candidates,
                    const struct tkb_unit_place *unit, struct tkb_error *err)
{
	const struct candidate candidate = {
		.root = &candidates->cache->roots.items[unit->root],
		.unit = unit,
	};

	return push_candidate(candidates, candidate, unit->key, err);
}

/* Look up a unit that was listed before. */
static int pick_unit(struct candidates *candidates, const char *key,
                     struct tkb_error *err)
{
	const struct tkb_cache *cache = candidates->cache;
	const struct tkb_unit_place *unit = tkb_cache_find_unit(cache, key);

	if (unit != NULL)
		return add_unit(candidates, unit, err);
	return reject_missing(candidates->cache, first_path(&cache->roots), key,
	                      err);
}

/* Look up the picks instead of listing the roots. */
static int look_up_picks(struct candidates *candidates,
                         const struct tkb_scan *scan, struct tkb_error *err)
{
	const bool is_inductor = candidates->cache->roots.is_inductor;
	size_t end;
	int rc;

	for (size_t i = 0; i < scan->pick_count; i = end) {
		end = i + 1;
		while (!is_inductor && end < scan->pick_count &&
		       strcmp(scan->picks[end].key, scan->picks[i].key) == 0)
			end++;
		if (scan->picks[i].is_unit)
			rc = pick_unit(candidates, scan->picks[i].key, err);
		else if (is_inductor)
			rc = pick_in_roots(candidates, &scan->picks[i], err);
		else
			rc = pick_in_each(candidates, &scan->picks[i], end - i,
			                  err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Keep only candidates whose key is asked for. */
static int select_keys(struct candidates *candidates,
                       const struct tkb_cache_options *options,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	bool *wanted = tkb_alloc_array(candidates->count, sizeof(*wanted));
	size_t kept = 0;
	int missed = 0;
	int rc;

	if (wanted == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < options->key_count; i++) {
		const char *key = options->keys[i];
		size_t index = 0;

		rc = tkb_select_key(candidates, candidates->count,
		                    candidate_key, key, &index, err);
		if (rc < 0)
			return rc;
		if (rc == TKB_MISS)
			missed = tkb_watch_missing(options->watch, key,
			                           "no key begins with '%s'",
			                           key);
		for (size_t j = 0; rc == 0 && j < candidates->count; j++) {
			if (strcmp(candidates->items[j].key,
			           candidates->items[index].key) == 0)
				wanted[j] = true;
		}
	}
	for (size_t i = 0; i < candidates->count; i++) {
		if (wanted[i])
			candidates->items[kept++] = candidates->items[i];
	}
	candidates->count = kept;
	return missed;
}

static int load_candidate(struct tkb_loader *loader,
                          struct candidate *candidate)
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
	struct candidates *candidates = self;
	struct candidate *candidate = &candidates->items[index];
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
		rc = tkb_loader_open(&cache->loaders[cache->loader_count],
		                     options->is_lean, options->is_kernels_only,
		                     err);
		if (rc < 0)
			return rc;
		cache->loaders[cache->loader_count].strips =
			options->is_stripped;
		cache->loaders[cache->loader_count].settle_ms =
			options->settle_ms;
		cache->loaders[cache->loader_count].named = cache->named;
		cache->loaders[cache->loader_count].named_count =
			cache->named_count;
		cache->loader_count++;
	}
	return 0;
}

/* Move what was loaded into the cache; count or reject the rest. */
static int take_found(struct tkb_cache *cache, struct candidates *candidates,
                      bool is_picked, struct tkb_error *err)
{
	int rc;

	cache->found =
		tkb_alloc_array(candidates->count, sizeof(*cache->found));
	if (cache->found == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < candidates->count; i++) {
		struct candidate *candidate = &candidates->items[i];

		if (candidate->is_unread) {
			cache->unread_count++;
		} else if (candidate->rc == TKB_MISS && is_picked) {
			rc = reject_missing(cache, candidate->root->path,
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

/* List the roots of the devices asked for, and select by keys. */
static int list_candidates(struct candidates *candidates,
                           const struct tkb_cache_options *options,
                           struct tkb_error *err)
{
	struct tkb_roots *roots = &candidates->cache->roots;
	bool has_root = false;
	int rc;

	for (size_t i = 0; i < roots->count; i++) {
		struct tkb_root *root = &roots->items[i];

		if (root->tree != NULL)
			continue;
		if (options->has_device && !roots->is_inductor)
			root->device = options->device;
		if (options->has_device && root->device != options->device)
			continue;
		has_root = true;
		rc = list_root(candidates, root, err);
		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < candidates->cache->unit_count; i++) {
		rc = add_unit(candidates, &candidates->cache->units[i], err);
		if (rc < 0)
			return rc;
	}
	if (!has_root && options->has_device)
		return tkb_watch_missing(options->watch, "",
		                         "there is no device %u",
		                         (unsigned)options->device);
	return options->key_count == 0 ? 0
	                               : select_keys(candidates, options, err);
}

int tkb_cache_load(struct tkb_cache *cache, const struct tkb_scan *scan,
                   struct tkb_watcher *watcher, struct tkb_error *err)
{
	const struct tkb_cache_options *options = scan->options;
	TKB_AUTO(candidates_release)
	struct candidates candidates = { .cache = cache, .watcher = watcher };
	const uint64_t patience_ns = options->patience_ms * UINT64_C(1000000);
	const struct tkb_parallel_work work = { load_one, &candidates };
	int rc;

	rc = scan->picks != NULL ? look_up_picks(&candidates, scan, err)
	                         : list_candidates(&candidates, options, err);
	if (rc != 0)
		return rc;
	/* However long the list is, some of it is read. */
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
	if (rc < 0)
		return rc;
	if (options->key_count != 0 &&
	    cache->found_count + cache->left_out_count == 0)
		return tkb_watch_missing(options->watch, options->keys[0],
		                         "there is no finished entry '%s'",
		                         options->keys[0]);
	return 0;
}
