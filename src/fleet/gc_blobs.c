/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/gc.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"

static int add_blob(void *self, const struct tkb_digest *digest, uint64_t size,
                    uint64_t age_s, struct tkb_error *err)
{
	const struct tkb_gc_blob blob = { *digest, size, age_s };
	struct tkb_remote_gc *gc = self;

	return tkb_append(&gc->blobs, &gc->blob_count, &gc->blob_capacity,
	                  &blob, sizeof(blob), err);
}

static struct tkb_gc_blob *find_listed_blob(const struct tkb_remote_gc *gc,
                                            const struct tkb_digest *digest)
{
	return bsearch(digest, gc->blobs, gc->blob_count, sizeof(*gc->blobs),
	               tkb_compare_digests);
}

/* Does one of the records from index `first` on name the blob? */
static bool is_named(const struct tkb_remote_gc *gc, size_t first,
                     const struct tkb_digest *digest)
{
	for (size_t i = first; i < gc->item_count; i++) {
		if (tkb_digest_equal(&gc->items[i].blob, digest))
			return true;
	}
	return false;
}

static int remove_listed_blob(struct tkb_remote_gc *gc, size_t tier,
                              const struct tkb_gc_blob *blob, bool *is_refused,
                              struct tkb_error *err)
{
	struct tkb_error why = { 0 };
	int rc = 0;

	if (!gc->options->is_dry_run)
		rc = tkb_remote_remove(gc->remote, tier, &blob->digest, &why);
	rc = tkb_remote_gc_note_refusal(gc, rc, NULL, &blob->digest, &why,
	                                is_refused, err);
	if (rc < 0 || *is_refused)
		return rc;
	gc->report.removed_count++;
	gc->report.removed_size += blob->size;
	tkb_remote_gc_report_removed(gc, NULL, &blob->digest, blob->size);
	return 0;
}

static int list_blobs(struct tkb_remote_gc *gc, size_t tier,
                      struct tkb_error *err)
{
	const struct tkb_blob_visitor visitor = { add_blob, gc };
	int rc;

	gc->blob_count = 0;
	rc = tkb_remote_list(gc->remote, tier, &visitor, err);
	if (rc == 0)
		tkb_sort(gc->blobs, gc->blob_count, sizeof(*gc->blobs),
		         tkb_compare_digests);
	return rc;
}

static bool is_useless(const struct tkb_remote_gc *gc,
                       const struct tkb_gc_blob *blob)
{
	return blob->age_s >= tkb_remote_gc_grace(gc) && !gc->has_lost_name &&
	       !is_named(gc, 0, &blob->digest) &&
	       !tkb_digests_have(&gc->compacted, &blob->digest);
}

/* May something be removed, by what was read first? */
static bool has_work(const struct tkb_remote_gc *gc)
{
	uint64_t size = 0;

	for (size_t i = 0; i < gc->blob_count; i++) {
		if (is_useless(gc, &gc->blobs[i]))
			return true;
		size += gc->blobs[i].size;
	}
	return gc->options->has_max_size && size > gc->options->max_size;
}

/*
 * Remove blobs that no record names and that are old enough. `*named_out` is the
 * size of the named blobs. Only these count for eviction, since a later gc
 * removes the young unnamed ones.
 */
static int remove_unnamed(struct tkb_remote_gc *gc, size_t tier,
                          uint64_t *named_out, struct tkb_error *err)
{
	uint64_t named = 0;
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < gc->blob_count && rc == 0; i++) {
		const struct tkb_gc_blob *blob = &gc->blobs[i];
		bool is_refused = false;

		rc = tkb_watch_check(gc->options->watch, err);
		tkb_remote_gc_count_step(gc);
		if (rc == 0 && is_useless(gc, blob)) {
			rc = remove_listed_blob(gc, tier, blob, &is_refused,
			                        err);
			if (!is_refused)
				continue;
		}
		named += is_named(gc, 0, &blob->digest) ? blob->size : 0;
		gc->report.kept_size += blob->size;
		gc->blobs[kept++] = *blob;
	}
	gc->blob_count = kept;
	*named_out = named;
	return rc;
}

/*
 * Drop the records that name a blob: the first `*kept` that do, and `last`. Those
 * that must stay are left, and then `*is_refused`.
 */
static int drop_names(struct tkb_remote_gc *gc, const struct tkb_gc_item *last,
                      uint64_t size, size_t *kept, bool *is_refused,
                      struct tkb_error *err)
{
	struct tkb_gc_item *items = gc->items;
	size_t count = *kept;
	size_t left = 0;
	int rc = 0;

	items[count++] = *last;
	for (size_t i = 0; i < count; i++) {
		bool stays = rc < 0 ||
		             !tkb_digest_equal(&items[i].blob, &last->blob);

		if (!stays) {
			rc = tkb_remote_gc_drop(gc, items[i].ref,
			                        &items[i].digest, size, &stays,
			                        err);
			*is_refused |= stays;
			gc->report.evicted_count += rc == 0 && !stays;
		}
		if (stays)
			items[left++] = items[i];
	}
	*kept = left;
	return rc;
}

/*
 * Remove the least recently used blobs, with their records, until the tier is
 * small enough. A blob is as young as the youngest record that names it.
 */
static int evict(struct tkb_remote_gc *gc, size_t tier, uint64_t size,
                 struct tkb_error *err)
{
	const struct tkb_remote_gc_options *options = gc->options;
	struct tkb_gc_item *items = gc->items;
	size_t next = 0;
	size_t kept = 0;
	int rc = 0;

	while (next < gc->item_count && rc == 0 && size > options->max_size) {
		const struct tkb_gc_item item = items[next++];
		struct tkb_gc_blob *blob = find_listed_blob(gc, &item.blob);
		bool is_refused = false;

		rc = tkb_watch_check(gc->options->watch, err);
		if (rc < 0 || blob == NULL || is_named(gc, next, &item.blob)) {
			items[kept++] = item;
			continue;
		}
		rc = drop_names(gc, &item, blob->size, &kept, &is_refused, err);
		if (rc < 0 || is_refused)
			continue;
		rc = remove_listed_blob(gc, tier, blob, &is_refused, err);
		if (is_refused)
			continue;
		size -= blob->size;
		gc->report.kept_size -= blob->size;
		blob->size = 0;
	}
	if (next != kept)
		memmove(items + kept, items + next,
		        (gc->item_count - next) * sizeof(*items));
	gc->item_count -= next - kept;
	return rc;
}

static int clean_tier(struct tkb_remote_gc *gc, size_t tier,
                      struct tkb_error *err)
{
	const uint64_t removed = gc->report.removed_count;
	size_t listed;
	uint64_t named = 0;
	int rc;

	rc = list_blobs(gc, tier, err);
	listed = gc->blob_count;
	gc->steps += listed;
	if (rc == 0 && !gc->options->is_dry_run && has_work(gc))
		rc = tkb_remote_gc_read_again(gc, err);
	if (rc == 0)
		rc = remove_unnamed(gc, tier, &named, err);
	if (rc == 0 && gc->options->has_max_size)
		rc = evict(gc, tier, named, err);
	gc->report.kept_count += listed - (gc->report.removed_count - removed);
	return rc;
}

int tkb_remote_gc_blobs(struct tkb_remote_gc *gc, struct tkb_error *err)
{
	bool has_tier = false;
	int rc = 0;

	for (size_t i = 0; i < gc->remote->tier_count && rc == 0; i++) {
		if (gc->remote->tiers[i].is_read_only)
			continue;
		has_tier = true;
		rc = clean_tier(gc, i, err);
	}
	return rc == 0 && !has_tier ? tkb_fail(err, TKB_ERR_DENIED,
	                                       "no remote may be written")
	                            : rc;
}
