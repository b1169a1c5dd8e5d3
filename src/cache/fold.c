/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/parallel.h"
#include "cache/cache.h"
#include "cache/entry.h"

static int compare_found(const void *a, const void *b)
{
	const struct tkb_scanned_entry *left = a;
	const struct tkb_scanned_entry *right = b;

	const int order = tkb_entry_compare(&left->entry, &right->entry);

	/* If two roots have it, the first root's comes first, and is kept. */
	return order != 0 ? order
	                  : (left->root > right->root) -
	                            (left->root < right->root);
}

static bool same_identity(const struct tkb_scanned_entry *a,
                          const struct tkb_scanned_entry *b)
{
	return a->entry.kind == b->entry.kind &&
	       strcmp(a->entry.key, b->entry.key) == 0 &&
	       strcmp(a->entry.platform, b->entry.platform) == 0;
}

static bool has_twin(const struct tkb_cache *cache, size_t index)
{
	const struct tkb_scanned_entry *found = &cache->found[index];

	return (index > 0 && same_identity(found - 1, found)) ||
	       (index + 1 < cache->found_count &&
	        same_identity(found, found + 1));
}

/* The result of hashing an entry. */
struct verdict {
	int rc;
	struct tkb_error err;
};

struct hashing {
	struct tkb_cache *cache;
	struct tkb_watcher *watcher; /* by reference */
	struct verdict *verdicts;    /* of each entry found */
	bool hashes_all;   /* else only entries that another device has too */
	bool is_read_only; /* a file may change while it is read */
};

/*
 * Hash an entry if needed: entries with one key on several devices are compared
 * by their digests.
 */
static int hash_one(void *self, size_t worker, size_t index,
                    struct tkb_error *err)
{
	struct hashing *hashing = self;
	struct tkb_cache *cache = hashing->cache;
	struct verdict *result = &hashing->verdicts[index];
	struct tkb_scanned_entry *found = &cache->found[index];
	struct tkb_loader *loader = &cache->loaders[worker];
	int rc;

	rc = tkb_watcher_check(hashing->watcher, err);
	if (rc < 0)
		return rc;
	tkb_watcher_progress(hashing->watcher, 1);
	if (!hashing->hashes_all && !has_twin(cache, index))
		return 0;
	result->rc = tkb_scanned_entry_read_all(loader, found, &result->err);
	/* A file that is being written is not damaged; it matters only when
	   the entry is packed. */
	if (result->rc == 0 && !hashing->is_read_only)
		result->rc =
			tkb_scanned_entry_check(loader, found, &result->err);
	if (result->rc < 0 &&
	    !tkb_failure_is_of_entry(result->rc, &result->err)) {
		*err = result->err;
		return result->rc;
	}
	return 0;
}

static bool shares_device(const struct tkb_entry *a, const struct tkb_entry *b)
{
	for (size_t i = 0; i < a->device_count; i++) {
		for (size_t j = 0; j < b->device_count; j++) {
			if (a->devices[i] == b->devices[j])
				return true;
		}
	}
	return false;
}

/* Add `found`'s device to `into`. */
static int join_devices(struct tkb_cache *cache, struct tkb_scanned_entry *into,
                        const struct tkb_scanned_entry *found,
                        struct tkb_error *err)
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

/* Fold entry `index` into an equal one that was kept, if there is one. */
static int fold_one(struct tkb_cache *cache, size_t kept, size_t index,
                    bool *folded, struct tkb_error *err)
{
	struct tkb_scanned_entry *found = &cache->found[index];

	*folded = false;
	for (size_t i = kept; i-- > 0;) {
		struct tkb_scanned_entry *into = &cache->found[i];

		if (!same_identity(into, found))
			break;
		/* A root and a tree may have different compiles of one
		   kernel: keep one. */
		if (shares_device(&into->entry, &found->entry)) {
			*folded = true;
			return 0;
		}
		if (tkb_entry_has_same_files(&into->entry, &found->entry)) {
			*folded = true;
			return join_devices(cache, into, found, err);
		}
	}
	return 0;
}

/* Reject entries that could not be hashed; with `fold`, join equal ones too. */
static int reject_and_fold(struct tkb_cache *cache,
                           const struct verdict *verdicts, bool fold,
                           struct tkb_error *err)
{
	size_t kept = 0;
	int rc;

	for (size_t i = 0; i < cache->found_count; i++) {
		const struct tkb_scanned_entry *found = &cache->found[i];
		bool folded = false;

		if (verdicts[i].rc < 0) {
			rc = tkb_cache_reject_found(cache, found,
			                            &verdicts[i].err, err);
			if (rc < 0)
				return rc;
			continue;
		}
		rc = fold ? fold_one(cache, kept, i, &folded, err) : 0;
		if (rc < 0)
			return rc;
		if (!folded)
			cache->found[kept++] = cache->found[i];
	}
	cache->found_count = kept;
	return 0;
}

static bool folds(const struct tkb_cache *cache, const struct tkb_scan *scan)
{
	return !scan->keeps_apart && cache->roots.count > 1;
}

static bool hashes_all(const struct tkb_scan *scan)
{
	return scan->options->has_digests || scan->reads_all;
}

bool tkb_cache_hashes(const struct tkb_cache *cache,
                      const struct tkb_scan *scan)
{
	return folds(cache, scan) || hashes_all(scan);
}

static int hash_entries(struct tkb_cache *cache, const struct tkb_scan *scan,
                        struct tkb_watcher *watcher, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) struct verdict *verdicts = NULL;
	struct hashing hashing = { .cache = cache,
		                   .watcher = watcher,
		                   .hashes_all = hashes_all(scan),
		                   .is_read_only = scan->reads_all };
	const struct tkb_parallel_work work = { hash_one, &hashing };
	int rc;

	if (!tkb_cache_hashes(cache, scan))
		return 0;
	watcher->total = atomic_load(&watcher->done) + cache->found_count;
	verdicts = tkb_alloc_array(cache->found_count, sizeof(*verdicts));
	if (verdicts == NULL)
		return tkb_fail_nomem(err);
	hashing.verdicts = verdicts;
	rc = tkb_parallel(cache->found_count, cache->loader_count, &work, err);
	if (rc < 0)
		return rc;
	return reject_and_fold(cache, verdicts, folds(cache, scan), err);
}

static int compare_left_out(const void *a, const void *b)
{
	const struct tkb_left_out *left = a;
	const struct tkb_left_out *right = b;
	const int order = strcmp(left->key, right->key);

	return order != 0 ? order : strcmp(left->root, right->root);
}

int tkb_cache_fold(struct tkb_cache *cache, const struct tkb_scan *scan,
                   struct tkb_watcher *watcher, struct tkb_error *err)
{
	int rc;

	tkb_sort(cache->found, cache->found_count, sizeof(*cache->found),
	         compare_found);
	rc = hash_entries(cache, scan, watcher, err);
	if (rc < 0)
		return rc;
	tkb_sort(cache->left_out, cache->left_out_count,
	         sizeof(*cache->left_out), compare_left_out);
	return 0;
}
