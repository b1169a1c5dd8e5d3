/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>

#include "base/fd.h"
#include "base/path.h"
#include "cache/cache.h"
#include "cache/key.h"
#include "text/select.h"

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
static int push_candidate(struct tkb_candidates *candidates,
                          struct tkb_candidate candidate, const char *key,
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

static int add_candidate(struct tkb_candidates *candidates,
                         const struct tkb_root *root, const char *key,
                         bool is_link, struct tkb_error *err)
{
	const struct tkb_candidate candidate = { .root = root,
		                                 .is_link = is_link };

	return push_candidate(candidates, candidate, key, err);
}

static int add_listed_item(struct tkb_candidates *candidates,
                           const struct tkb_root *root,
                           const struct dirent *item, struct tkb_error *err)
{
	const char *name = item->d_name;
	bool is_link = false;

	if (tkb_name_is_dots(name) || strcmp(name, TKB_OWN_FOLDER) == 0)
		return 0;
	if (is_folder_item(root->fd, item, &is_link) ||
	    (is_link && tkb_key_is_valid(name)))
		return add_candidate(candidates, root, name, is_link, err);
	candidates->cache->stray_count++;
	return 0;
}

/*
 * Is the folder also the root of a tree? Then names that are not keys belong to
 * the tree.
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

static int list_root(struct tkb_candidates *candidates,
                     const struct tkb_root *root, struct tkb_error *err)
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
	const struct tkb_candidates *candidates = list;

	return candidates->items[index].key;
}

/* Is there a folder or a link with the name `key`? */
static bool has_folder(const struct tkb_root *root, const char *key,
                       bool *is_link)
{
	struct stat status;

	if (fstatat(root->fd, key, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	*is_link = S_ISLNK(status.st_mode);
	return S_ISDIR(status.st_mode) || *is_link;
}

int tkb_cache_reject_missing(struct tkb_cache *cache, const char *root,
                             const char *key, struct tkb_error *err)
{
	struct tkb_error why = { 0 };

	(void)tkb_fail_entry(&why, TKB_REASON_MISSING,
	                     "it is wanted, but there is no finished entry");
	return tkb_cache_reject(cache, root, key, &why, err);
}

/* Keep the devices of `count` picks, which have the same key. */
static int keep_devices(struct tkb_candidates *candidates,
                        const struct tkb_pick *picks, size_t count,
                        struct tkb_candidate *candidate, struct tkb_error *err)
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

/* In a Triton root, all devices share one folder for a key. */
static int pick_in_root(struct tkb_candidates *candidates,
                        const struct tkb_root *root,
                        const struct tkb_pick *picks, size_t count,
                        bool *has_any, struct tkb_error *err)
{
	struct tkb_candidate candidate = { .root = root };
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

/* The path of the first root, for results; "" if there is no root. */
static const char *first_path(const struct tkb_roots *roots)
{
	return roots->count == 0 ? "" : roots->items[0].path;
}

/* With trees there may be several Triton roots: look in each of them. */
static int pick_in_each(struct tkb_candidates *candidates,
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
	               : tkb_cache_reject_missing(candidates->cache,
	                                          first_path(roots), picks->key,
	                                          err);
}

/* The path to report for a pick: its device's root, or else the first root. */
static const char *path_of_pick(const struct tkb_roots *roots,
                                const struct tkb_pick *pick)
{
	for (size_t i = 0; i < roots->count && !pick->any_device; i++) {
		if (roots->items[i].tree == NULL &&
		    roots->items[i].device == pick->device)
			return roots->items[i].path;
	}
	return first_path(roots);
}

/* Under Inductor, each device has its own root. */
static int pick_in_roots(struct tkb_candidates *candidates,
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
	return tkb_cache_reject_missing(
		candidates->cache, path_of_pick(roots, pick), pick->key, err);
}

static int add_unit_candidate(struct tkb_candidates *candidates,
                              const struct tkb_unit_place *unit,
                              struct tkb_error *err)
{
	const struct tkb_candidate candidate = {
		.root = &candidates->cache->roots.items[unit->root],
		.unit = unit,
	};

	return push_candidate(candidates, candidate, unit->key, err);
}

/* Look up a unit that was listed before. */
static int pick_unit(struct tkb_candidates *candidates, const char *key,
                     struct tkb_error *err)
{
	const struct tkb_cache *cache = candidates->cache;
	const struct tkb_unit_place *unit = tkb_cache_find_unit(cache, key);

	if (unit != NULL)
		return add_unit_candidate(candidates, unit, err);
	return tkb_cache_reject_missing(candidates->cache,
	                                first_path(&cache->roots), key, err);
}

/* Look up the picks instead of listing the roots. */
static int look_up_picks(struct tkb_candidates *candidates,
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

/* Keep only the candidates with one of the wanted keys. */
static int select_keys(struct tkb_candidates *candidates,
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

/* List the roots of the wanted devices, and select by keys. */
static int list_candidates(struct tkb_candidates *candidates,
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
		rc = add_unit_candidate(candidates,
		                        &candidates->cache->units[i], err);
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

int tkb_candidates_find(struct tkb_candidates *candidates,
                        const struct tkb_scan *scan, struct tkb_error *err)
{
	return scan->picks != NULL
	               ? look_up_picks(candidates, scan, err)
	               : list_candidates(candidates, scan->options, err);
}
