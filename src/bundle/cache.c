/* SPDX-License-Identifier: Apache-2.0 */
#include "bundle/cache.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/fd.h"
#include "base/parallel.h"
#include "bundle/key.h"
#include "bundle/manifest.h"
#include "bundle/names.h"
#include "bundle/select.h"
#include "bundle/watch.h"

/* A folder that may be an entry, and what loading it gave. */
struct candidate {
	const struct tkb_root *root;
	char *key; /* in the cache's arena */
	bool is_link;
	int rc;
	struct tkb_error err;
	struct tkb_found found;
};

struct candidates {
	struct tkb_cache *cache;
	struct tkb_watcher *watcher; /* by reference */
	struct candidate *items;     /* owned */
	size_t count;
	size_t capacity;
};

static void candidates_release(struct candidates *candidates)
{
	free(candidates->items);
}

int tkb_cache_leave_out(struct tkb_cache *cache, const struct tkb_root *root,
                        const char *key, const struct tkb_error *why,
                        struct tkb_error *err)
{
	char *message = tkb_arena_string(&cache->arena, tkb_text(why->message));
	char *kept = tkb_arena_string(&cache->arena, tkb_text(key));
	int rc;

	if (message == NULL || kept == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_grow(&cache->left_out, &cache->left_out_capacity,
	              cache->left_out_count, sizeof(*cache->left_out), err);
	if (rc < 0)
		return rc;
	cache->left_out[cache->left_out_count++] = (struct tkb_left_out){
		.root = root->path,
		.key = kept,
		.reason = (enum tkb_reason)why->reason,
		.message = message,
	};
	return 0;
}

static bool is_folder(int dir_fd, const struct dirent *item, bool *is_link)
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

static int add_candidate(struct candidates *candidates,
                         const struct tkb_root *root, const char *key,
                         bool is_link, struct tkb_error *err)
{
	struct candidate candidate = { .root = root, .is_link = is_link };
	int rc;

	candidate.key =
		tkb_arena_string(&candidates->cache->arena, tkb_text(key));
	if (candidate.key == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_grow(&candidates->items, &candidates->capacity,
	              candidates->count, sizeof(candidate), err);
	if (rc < 0)
		return rc;
	candidates->items[candidates->count++] = candidate;
	return 0;
}

static int add_item(struct candidates *candidates, const struct tkb_root *root,
                    const struct dirent *item, struct tkb_error *err)
{
	const char *name = item->d_name;
	bool is_link = false;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    strcmp(name, TKB_ROOT_OWN_FOLDER) == 0)
		return 0;
	if (is_folder(root->fd, item, &is_link) ||
	    (is_link && tkb_key_is_valid(name)))
		return add_candidate(candidates, root, name, is_link, err);
	candidates->cache->stray_count++;
	return 0;
}

static int list_root(struct candidates *candidates, const struct tkb_root *root,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item = NULL;
	int rc;

	rc = tkb_dir_open(root->fd, ".", &dir, err);
	while (rc == 0) {
		rc = tkb_dir_next(dir, &item, err);
		if (rc == 0)
			rc = add_item(candidates, root, item, err);
	}
	return rc < 0 ? tkb_fail_while(err, rc, "'%s'", root->path) : 0;
}

static const char *candidate_key(const void *list, size_t index)
{
	const struct candidates *candidates = list;

	return candidates->items[index].key;
}

/* Keep only the candidates with one of the keys asked for. */
static int select_keys(struct candidates *candidates,
                       const struct tkb_cache_options *options,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	bool *wanted = tkb_alloc_array(candidates->count, sizeof(*wanted));
	size_t kept = 0;
	int rc;

	if (wanted == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < options->key_count; i++) {
		size_t index = 0;

		rc = tkb_select_key(candidates, candidates->count,
		                    candidate_key, options->keys[i], &index,
		                    err);
		if (rc != 0)
			return rc;
		for (size_t j = 0; j < candidates->count; j++) {
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
	return 0;
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
	if (candidate->is_link) {
		candidate->rc =
			tkb_fail_entry(&candidate->err, TKB_REASON_UNSAFE,
		                       "the folder is a symbolic link");
		return 0;
	}
	candidate->rc = tkb_found_load(&candidates->cache->loaders[worker],
	                               candidate->root, candidate->key,
	                               &candidate->found, &candidate->err);
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
		                     options->lean, options->no_modules, err);
		if (rc < 0)
			return rc;
		cache->loader_count++;
	}
	return 0;
}

/* Take over what was loaded; note what was not. */
static int take_found(struct tkb_cache *cache, struct candidates *candidates,
                      struct tkb_error *err)
{
	int rc;

	cache->found =
		tkb_alloc_array(candidates->count, sizeof(*cache->found));
	if (cache->found == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < candidates->count; i++) {
		const struct candidate *candidate = &candidates->items[i];

		if (candidate->rc == TKB_MISS) {
			cache->unfinished_count++;
		} else if (candidate->rc < 0) {
			rc = tkb_cache_leave_out(cache, candidate->root,
			                         candidate->key,
			                         &candidate->err, err);
			if (rc < 0)
				return rc;
		} else if (!candidate->found.is_unwanted) {
			cache->stray_count += candidate->found.stray_count;
			cache->found[cache->found_count++] = candidate->found;
		}
	}
	return 0;
}

static int compare_found(const void *a, const void *b)
{
	const struct tkb_found *left = a;
	const struct tkb_found *right = b;

	return tkb_entry_compare(&left->entry, &right->entry);
}

static bool same_identity(const struct tkb_found *a, const struct tkb_found *b)
{
	return a->entry.kind == b->entry.kind &&
	       strcmp(a->entry.key, b->entry.key) == 0 &&
	       strcmp(a->entry.platform, b->entry.platform) == 0;
}

static bool has_twin(const struct tkb_cache *cache, size_t index)
{
	const struct tkb_found *found = &cache->found[index];

	return (index > 0 && same_identity(found - 1, found)) ||
	       (index + 1 < cache->found_count &&
	        same_identity(found, found + 1));
}

/* What several devices hold under one key can be told apart only by digest. */
static int hash_one(void *self, size_t worker, size_t index,
                    struct tkb_error *err)
{
	struct candidates *work = self;
	struct tkb_cache *cache = work->cache;
	struct candidate *result = &work->items[index];
	struct tkb_found *found = &cache->found[index];
	struct tkb_loader *loader = &cache->loaders[worker];
	struct tkb_bytes bytes;

	if (!has_twin(cache, index))
		return 0;
	for (size_t i = 0; i < found->entry.file_count && result->rc == 0; i++)
		result->rc =
			tkb_found_read(loader, found, i, &bytes, &result->err);
	if (result->rc == 0)
		result->rc = tkb_found_check(loader, found, &result->err);
	if (result->rc < 0 &&
	    !tkb_failure_is_of_entry(result->rc, &result->err)) {
		*err = result->err;
		return result->rc;
	}
	return 0;
}

static bool same_files(const struct tkb_entry *a, const struct tkb_entry *b)
{
	if (a->file_count != b->file_count)
		return false;
	for (size_t i = 0; i < a->file_count; i++) {
		const struct tkb_file *left = &a->files[i];
		const struct tkb_file *right = &b->files[i];

		if (strcmp(left->name, right->name) != 0 ||
		    left->size != right->size ||
		    left->sentinels != right->sentinels ||
		    !tkb_digest_equal(&left->digest, &right->digest))
			return false;
	}
	return true;
}

/* Let `into` stand for `found`'s device too. */
static int join_devices(struct tkb_cache *cache, struct tkb_found *into,
                        const struct tkb_found *found, struct tkb_error *err)
{
	const size_t count = into->entry.device_count;
	uint32_t *devices =
		tkb_arena_alloc(&cache->arena, count + 1, sizeof(*devices));

	if (devices == NULL)
		return tkb_fail_nomem(err);
	memcpy(devices, into->entry.devices, count * sizeof(*devices));
	devices[count] = found->entry.devices[0];
	into->entry.devices = devices;
	into->entry.device_count = count + 1;
	into->is_moved |= found->is_moved;
	return 0;
}

/* Fold entry `index` into an equal one among those kept; false if none is. */
static int fold_one(struct tkb_cache *cache, size_t kept, size_t index,
                    bool *folded, struct tkb_error *err)
{
	struct tkb_found *found = &cache->found[index];

	*folded = false;
	for (size_t i = kept; i-- > 0;) {
		struct tkb_found *into = &cache->found[i];

		if (!same_identity(into, found))
			break;
		if (same_files(&into->entry, &found->entry)) {
			*folded = true;
			return join_devices(cache, into, found, err);
		}
	}
	return 0;
}

/* One entry for all devices that hold the same. */
static int fold_devices(struct tkb_cache *cache, struct candidates *hashed,
                        struct tkb_error *err)
{
	size_t kept = 0;
	int rc;

	for (size_t i = 0; i < cache->found_count; i++) {
		const struct tkb_found *found = &cache->found[i];
		bool folded = false;

		if (hashed->items[i].rc < 0) {
			rc = tkb_cache_leave_out(cache, found->root,
			                         found->entry.key,
			                         &hashed->items[i].err, err);
			if (rc < 0)
				return rc;
			continue;
		}
		rc = fold_one(cache, kept, i, &folded, err);
		if (rc < 0)
			return rc;
		if (!folded)
			cache->found[kept++] = cache->found[i];
	}
	cache->found_count = kept;
	return 0;
}

static int merge_devices(struct tkb_cache *cache, struct tkb_error *err)
{
	TKB_AUTO(candidates_release)
	struct candidates hashed = { .cache = cache };
	const struct tkb_parallel_work work = { hash_one, &hashed };
	int rc;

	if (cache->roots.count < 2)
		return 0;
	hashed.items =
		tkb_alloc_array(cache->found_count, sizeof(*hashed.items));
	if (hashed.items == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_parallel(cache->found_count, cache->loader_count, &work, err);
	if (rc < 0)
		return rc;
	return fold_devices(cache, &hashed, err);
}

static int compare_left_out(const void *a, const void *b)
{
	const struct tkb_left_out *left = a;
	const struct tkb_left_out *right = b;
	const int order = strcmp(left->key, right->key);

	return order != 0 ? order : strcmp(left->root, right->root);
}

/* List the roots that are wanted, and keep the keys that are. */
static int list_candidates(struct candidates *candidates,
                           const struct tkb_cache_options *options,
                           struct tkb_error *err)
{
	struct tkb_roots *roots = &candidates->cache->roots;
	bool has_root = false;
	int rc;

	for (size_t i = 0; i < roots->count; i++) {
		struct tkb_root *root = &roots->items[i];

		if (options->has_device && !roots->is_inductor)
			root->device = options->device;
		if (options->has_device && root->device != options->device)
			continue;
		has_root = true;
		rc = list_root(candidates, root, err);
		if (rc < 0)
			return rc;
	}
	if (!has_root) {
		(void)tkb_fail(err, TKB_MISS, "there is no device %u",
		               (unsigned)options->device);
		return TKB_MISS;
	}
	return options->key_count == 0 ? 0
	                               : select_keys(candidates, options, err);
}

static int sort_and_fold(struct tkb_cache *cache, struct tkb_error *err)
{
	int rc;

	if (cache->found_count > 1)
		qsort(cache->found, cache->found_count, sizeof(*cache->found),
		      compare_found);
	rc = merge_devices(cache, err);
	if (rc < 0)
		return rc;
	if (cache->left_out_count > 1)
		qsort(cache->left_out, cache->left_out_count,
		      sizeof(*cache->left_out), compare_left_out);
	return 0;
}

static int load(struct tkb_cache *cache,
                const struct tkb_cache_options *options,
                struct tkb_watcher *watcher, struct tkb_error *err)
{
	TKB_AUTO(candidates_release)
	struct candidates candidates = { .cache = cache, .watcher = watcher };
	const struct tkb_parallel_work work = { load_one, &candidates };
	int rc;

	rc = list_candidates(&candidates, options, err);
	if (rc != 0)
		return rc;
	rc = open_loaders(cache, options, err);
	if (rc < 0)
		return rc;
	rc = tkb_parallel(candidates.count, cache->loader_count, &work, err);
	if (rc < 0)
		return rc;
	rc = take_found(cache, &candidates, err);
	if (rc < 0)
		return rc;
	if (options->key_count != 0 &&
	    cache->found_count + cache->left_out_count == 0) {
		(void)tkb_fail(err, TKB_MISS, "there is no finished entry '%s'",
		               options->keys[0]);
		return TKB_MISS;
	}
	return sort_and_fold(cache, err);
}

static void close_at(struct tkb_cache **cache)
{
	tkb_cache_close(*cache);
}

int tkb_cache_open(const char *path, const struct tkb_cache_options *options,
                   struct tkb_cache **out, struct tkb_error *err)
{
	static const struct tkb_cache_options defaults = { 0 };
	static const struct tkb_watch nobody = { 0 };
	TKB_AUTO(tkb_watcher_release) struct tkb_watcher watcher = { 0 };
	TKB_AUTO(close_at)
	struct tkb_cache *cache = tkb_alloc_array(1, sizeof(*cache));
	int rc;

	if (cache == NULL)
		return tkb_fail_nomem(err);
	if (options == NULL)
		options = &defaults;
	if (options->has_device && options->device >= TKB_DEVICE_LIMIT)
		return tkb_fail(err, TKB_ERR_INVALID, "no device has number %u",
		                (unsigned)options->device);
	tkb_watcher_init(&watcher,
	                 options->watch != NULL ? options->watch : &nobody, 0);
	rc = tkb_roots_open(path, &cache->roots, err);
	if (rc != 0)
		return rc;
	rc = load(cache, options, &watcher, err);
	if (rc != 0)
		return rc;
	*out = tkb_take(cache);
	return 0;
}

void tkb_cache_close(struct tkb_cache *cache)
{
	if (cache == NULL)
		return;
	for (size_t i = 0; i < cache->loader_count; i++)
		tkb_loader_close(&cache->loaders[i]);
	free(cache->loaders);
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
	struct tkb_buf bytes = TKB_BUF_INIT(TKB_FILE_SIZE_LIMIT + 1);
	TKB_AUTO(tkb_fd_close_at) int folder = -1;
	const struct tkb_found *found = &cache->found[index];
	struct stat status;
	int rc;

	folder = tkb_fd_open(found->root->fd, found->entry.key,
	                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (folder < 0)
		return tkb_fail_errno(err, "cannot open '%s'",
		                      found->entry.key);
	rc = tkb_fd_read_file(folder, found->files[file].name,
	                      TKB_FILE_SIZE_LIMIT, &bytes, &status, err);
	if (rc < 0)
		return rc;
	return sink->write(sink->self, tkb_buf_bytes(&bytes), err);
}
