/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/maintain/gc.h"

#include "base/clock.h"
#include "emit/maintain/uses.h"

int tkb_gc_look(const struct tkb_gc *gc, const struct tkb_gc_item *item,
                struct tkb_use *out, struct tkb_error *err)
{
	return tkb_use_look(
		item->found,
		gc->has_times[tkb_cache_root_of(gc->cache, item->found)], out,
		err);
}

static int compare_last_uses(const void *a, const void *b)
{
	const struct tkb_gc_item *left = a;
	const struct tkb_gc_item *right = b;
	int order;

	if (left->last_ns != right->last_ns)
		return left->last_ns < right->last_ns ? -1 : 1;
	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	order = strcmp(left->found->entry.key, right->found->entry.key);
	if (order != 0)
		return order;
	return (left->use.device > right->use.device) -
	       (left->use.device < right->use.device);
}

static int list_gc_items(struct tkb_gc *gc, struct tkb_error *err)
{
	const size_t count = gc->cache->found_count;
	int rc;

	gc->items = tkb_alloc_array(count, sizeof(*gc->items));
	if (gc->items == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		struct tkb_gc_item *item = &gc->items[gc->item_count];

		item->found = &gc->cache->found[i];
		rc = tkb_gc_look(gc, item, &item->use, err);
		if (rc < 0)
			return rc;
		item->last_ns = item->use.used_ns > item->use.written_ns
		                        ? item->use.used_ns
		                        : item->use.written_ns;
		if (rc == 0)
			gc->item_count++;
	}
	rc = tkb_gc_bind_units(gc, err);
	if (rc < 0)
		return rc;
	tkb_sort(gc->items, gc->item_count, sizeof(*gc->items),
	         compare_last_uses);
	tkb_gc_index_units(gc);
	return 0;
}

static bool is_too_old(const struct tkb_gc *gc, const struct tkb_gc_item *item)
{
	const uint64_t limit_s = gc->options->max_age_s;

	return gc->options->has_max_age && limit_s < INT64_MAX / TKB_NS_PER_S &&
	       item->last_ns < gc->now_ns - (int64_t)(limit_s * TKB_NS_PER_S);
}

/*
 * Choose from the front: the items are sorted by their last use. If a chosen
 * item later turns out to be busy, it stays, and no younger item is chosen
 * instead.
 */
static void choose_victims(struct tkb_gc *gc)
{
	const struct tkb_gc_options *options = gc->options;
	uint64_t count = gc->item_count;
	uint64_t size = 0;

	for (size_t i = 0; i < gc->item_count; i++)
		size += gc->items[i].use.size;
	for (size_t i = 0; i < gc->item_count; i++) {
		struct tkb_gc_item *item = &gc->items[i];

		item->is_chosen =
			is_too_old(gc, item) ||
			(options->revoked != NULL &&
		         tkb_origins_is_revoked(options->revoked,
		                                item->found->entry.key)) ||
			(options->has_max_entries &&
		         count > options->max_entries) ||
			(options->has_max_size && size > options->max_size);
		if (!item->is_chosen)
			continue;
		count--;
		size -= item->use.size;
		gc->batch.watcher.total += item->use.size;
	}
}

static int add_jobs(struct tkb_gc *gc, struct tkb_error *err)
{
	struct tkb_batch *batch = &gc->batch;
	int rc = 0;

	for (size_t i = 0; i < gc->item_count && rc == 0; i++) {
		const struct tkb_gc_item *item = &gc->items[i];

		rc = tkb_batch_add_job(
			batch, &item->found->entry,
			tkb_cache_root_of(gc->cache, item->found), err);
		if (rc == 0)
			batch->jobs[i].size = item->use.size;
	}
	return rc;
}

int tkb_gc_plan(struct tkb_gc *gc, struct tkb_error *err)
{
	int rc;

	gc->now_ns = tkb_wall_ns();
	rc = list_gc_items(gc, err);
	if (rc < 0)
		return rc;
	choose_victims(gc);
	return add_jobs(gc, err);
}
