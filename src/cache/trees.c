/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cache/cache.h"
#include "tree/walk.h"

/* Lists the units of one tree. */
struct lister {
	struct tkb_cache *cache;
	size_t root;
	struct tkb_hasher *hasher;   /* by reference */
	struct tkb_watcher *watcher; /* by reference */
	struct tkb_gpu_here here;
};

static const struct tkb_root *root_of(const struct lister *lister)
{
	return &lister->cache->roots.items[lister->root];
}

static int reject_path(const struct lister *lister, const char *path,
                       const struct tkb_error *why, struct tkb_error *err)
{
	return tkb_cache_reject(lister->cache, root_of(lister)->path, path, why,
	                        err);
}

static int add_unit(struct lister *lister, const struct tkb_tree_item *item,
                    struct tkb_error *err)
{
	struct tkb_cache *cache = lister->cache;
	struct tkb_unit_place place = {
		.root = lister->root,
		.is_file = item->thing == TKB_TREE_THING_FILE,
		.is_tuned = item->rule->is_tuned != 0,
		.is_ninja = item->rule->action == TKB_TREE_ACTION_NINJA,
	};
	const char *path = item->path;
	const char *name = tkb_unit_names_bundled(root_of(lister)->names, path);
	struct tkb_error why = { 0 };
	char key[TKB_DIGEST_HEX_SIZE];
	int rc;

	if (name == NULL)
		return 0;
	if (!tkb_unit_path_is_valid(path)) {
		(void)tkb_fail_entry(&why, TKB_REASON_NAME,
		                     "its path cannot be in a bundle");
		return reject_path(lister, path, &why, err);
	}
	rc = tkb_unit_tree_key(lister->hasher, root_of(lister)->tree->name,
	                       name, key, err);
	if (rc == 0)
		rc = tkb_grow(&cache->units, &cache->unit_capacity,
		              cache->unit_count, sizeof(place), err);
	if (rc < 0)
		return rc;
	place.key = tkb_arena_string(&cache->arena, tkb_text(key));
	place.name = tkb_arena_string(&cache->arena, tkb_text(name));
	place.path = tkb_arena_string(&cache->arena, tkb_text(path));
	if (place.key == NULL || place.name == NULL || place.path == NULL)
		return tkb_fail_nomem(err);
	cache->units[cache->unit_count++] = place;
	return 0;
}

/*
 * Leave out a tuned unit if this machine's GPU is unknown: nobody could tell to
 * which GPU it belongs.
 */
static int is_left(struct lister *lister, const struct tkb_tree_rule *rule,
                   bool *out, struct tkb_error *err)
{
	int rc;

	*out = false;
	if (!rule->is_tuned)
		return 0;
	rc = tkb_gpu_ask(&lister->here, err);
	*out = lister->here.platform[0] == '\0';
	return rc;
}

static int check_watcher(void *self, struct tkb_error *err)
{
	const struct lister *lister = self;

	return tkb_watcher_check(lister->watcher, err);
}

static int list_tree_item(void *self, const struct tkb_tree_item *item,
                          struct tkb_error *err)
{
	struct lister *lister = self;
	bool leaves = false;
	int rc;

	switch (item->thing) {
	case TKB_TREE_THING_KERNELS:
		return tkb_root_add_nested(&lister->cache->roots, lister->root,
		                           item->path, err);
	case TKB_TREE_THING_REFUSED:
		return reject_path(lister, item->path, item->why, err);
	case TKB_TREE_THING_FILE:
	case TKB_TREE_THING_FOLDER:
		break;
	}
	rc = is_left(lister, item->rule, &leaves, err);
	return rc < 0 || leaves ? rc : add_unit(lister, item, err);
}

/* List the units of a tree. If its root does not exist, no result names it. */
static int list_tree(struct lister *lister, const struct tkb_named_root *named,
                     struct tkb_error *err)
{
	const struct tkb_tree_visitor visitor = { .self = lister,
		                                  .check = check_watcher,
		                                  .visit = list_tree_item };
	struct tkb_cache *cache = lister->cache;

	if (root_of(lister)->tree->is_external) {
		cache->named[cache->named_count++] = *named;
		return 0;
	}
	if (root_of(lister)->fd < 0)
		return 0;
	cache->named[cache->named_count++] = *named;
	return tkb_tree_walk(root_of(lister)->fd, NULL,
	                     root_of(lister)->tree->rules, &visitor, err);
}

const struct tkb_unit_place *tkb_cache_find_unit(const struct tkb_cache *cache,
                                                 const char *key)
{
	if (cache->unit_count == 0)
		return NULL;
	return bsearch(&key, cache->units, cache->unit_count,
	               sizeof(*cache->units), tkb_compare_texts);
}

int tkb_cache_list_trees(struct tkb_cache *cache,
                         const struct tkb_cache_options *options,
                         struct tkb_watcher *watcher, struct tkb_error *err)
{
	TKB_AUTO(tkb_hasher_close) struct tkb_hasher hasher = { 0 };
	struct lister lister = { .cache = cache,
		                 .hasher = &hasher,
		                 .watcher = watcher };
	int rc;

	if (options->tree_count == 0)
		return 0;
	lister.root = cache->roots.count;
	rc = tkb_roots_add_trees(options->trees, options->tree_count, false,
	                         &cache->roots, &cache->named, err);
	if (rc == 0)
		rc = tkb_hasher_open(&hasher, err);
	for (size_t i = 0; i < options->tree_count && rc == 0; i++) {
		rc = list_tree(&lister, &cache->named[i], err);
		lister.root++;
	}
	tkb_sort(cache->units, cache->unit_count, sizeof(*cache->units),
	         tkb_compare_texts);
	return rc;
}
