/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/pull_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "cache/elf.h"
#include "cache/entry.h"

enum {
	INSPECT_LIMIT = 16 /* threads; more would hold many descriptors */
};

static bool is_key_wanted(const struct tkb_emit_options *options,
                          const char *key)
{
	return options->key_count == 0 ||
	       tkb_is_among(key, options->keys, options->key_count);
}

static bool is_target_wanted(const struct tkb_emit_options *options,
                             const struct tkb_target *target)
{
	return target->backend[0] == '\0' ||
	       tkb_target_is_wanted(target, options->targets,
	                            options->target_count);
}

/* Did the caller give a folder for this tree? */
static bool has_root(const struct tkb_pull_plan *plan, const char *tree)
{
	const struct tkb_emit_options *options = plan->request.options;

	if (tree == NULL)
		return plan->request.cache_root != NULL;
	for (size_t i = 0; i < options->tree_count; i++) {
		if (strcmp(options->trees[i].name, tree) == 0)
			return true;
	}
	return false;
}

/* Do the options ask for the entry, whatever its platform? */
static bool is_entry_asked_for(const struct tkb_pull_plan *plan,
                               const struct tkb_record_entry *entry)
{
	const struct tkb_emit_options *options = plan->request.options;

	return has_root(plan, entry->tree) &&
	       is_key_wanted(options, entry->key) &&
	       is_target_wanted(options, &entry->target);
}

static bool is_entry_wanted(const struct tkb_pull_plan *plan,
                            const struct tkb_record_entry *entry)
{
	return is_entry_asked_for(plan, entry) &&
	       tkb_platform_fits(entry->platform, &plan->here);
}

/* Does the ref have entries of more than one device? */
static bool has_several_devices(const struct tkb_record_list *records)
{
	bool has_any = false;
	uint32_t first = 0;

	for (size_t i = 0; i < records->count; i++) {
		const struct tkb_record *record = &records->items[i];

		for (size_t j = 0; j < record->entry_count; j++) {
			const struct tkb_record_entry *entry =
				&record->entries[j];

			if (entry->tree != NULL)
				continue;
			if (entry->device_count > 1 ||
			    (has_any && entry->devices[0] != first))
				return true;
			has_any = true;
			first = entry->devices[0];
		}
	}
	return false;
}

/* Does one of the bundles have Inductor's layout? */
static bool has_layout(const struct tkb_record_list *records)
{
	for (size_t i = 0; i < records->count; i++) {
		if (records->items[i].layout != NULL)
			return true;
	}
	return false;
}

/* Choose one layout for all bundles of a ref, whichever of them are fetched. */
static int choose_layout(struct tkb_pull_plan *plan, struct tkb_error *err)
{
	const struct tkb_emit_options *options = plan->request.options;
	struct tkb_probe probe = { 0 };
	bool is_inductor;
	int rc;

	plan->layout = options->layout;
	if (plan->layout != TKB_LAYOUT_AUTO)
		return 0;
	if (plan->request.cache_root == NULL) {
		plan->layout = TKB_LAYOUT_TRITON;
		return 0;
	}
	rc = tkb_roots_probe(plan->request.cache_root, &probe, err);
	if (rc < 0)
		return rc;
	is_inductor = probe.is_inductor ||
	              (!probe.has_keys &&
	               (options->device_count > 1 ||
	                (!options->is_layout_ignored &&
	                 has_layout(plan->request.records)) ||
	                has_several_devices(plan->request.records)));
	plan->layout = is_inductor ? TKB_LAYOUT_INDUCTOR : TKB_LAYOUT_TRITON;
	return 0;
}

/* The devices that an entry goes to. */
static size_t devices_of(const struct tkb_pull_plan *plan,
                         const struct tkb_record_entry *entry,
                         const uint32_t **out)
{
	static const uint32_t one = 0;
	const struct tkb_emit_options *options = plan->request.options;

	if (plan->layout == TKB_LAYOUT_TRITON || entry->tree != NULL) {
		*out = &one;
		return 1;
	}
	if (options->device_count != 0) {
		*out = options->devices;
		return options->device_count;
	}
	*out = entry->devices;
	return entry->device_count;
}

static int compare_places(const void *a, const void *b)
{
	const struct tkb_pull_place *left = a;
	const struct tkb_pull_place *right = b;
	const int order = strcmp(left->key, right->key);

	if (order != 0)
		return order;
	return (left->device > right->device) - (left->device < right->device);
}

/*
 * The kind, as far as a record tells: modules and tuned units have a platform,
 * kernels have a target.
 */
static enum tkb_kind record_entry_kind(const struct tkb_record_entry *entry)
{
	if (entry->platform[0] != '\0' && !tkb_gpu_is_platform(entry->platform))
		return TKB_KIND_MODULE;
	return entry->target.backend[0] != '\0' ? TKB_KIND_KERNEL
	                                        : TKB_KIND_AUTOTUNE;
}

static int add_places(struct tkb_pull_plan *plan,
                      const struct tkb_record_entry *entry,
                      struct tkb_error *err)
{
	const uint32_t *devices = NULL;
	const size_t count = devices_of(plan, entry, &devices);
	int rc = 0;

	if (tkb_gpu_is_platform(entry->platform))
		rc = tkb_gpu_ask(&plan->here, err);
	if (rc < 0 || !is_entry_wanted(plan, entry))
		return rc;
	for (size_t i = 0; i < count && rc == 0; i++) {
		const struct tkb_pull_place place = {
			.key = entry->key,
			.tree = entry->tree,
			.name = entry->name,
			.device = devices[i],
			.kinds = 1U << record_entry_kind(entry),
			.version = entry->version,
		};

		rc = tkb_append(&plan->places, &plan->place_count,
		                &plan->place_capacity, &place, sizeof(place),
		                err);
	}
	return rc;
}

/* Merge two places with the same key and device from different records. */
static void merge_places(struct tkb_pull_place *place,
                         const struct tkb_pull_place *other)
{
	place->kinds |= other->kinds;
	if (tkb_version_compare(&other->version, &place->version) > 0)
		place->version = other->version;
}

static int list_places(struct tkb_pull_plan *plan, struct tkb_error *err)
{
	const struct tkb_record_list *records = plan->request.records;
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < records->count; i++) {
		const struct tkb_record *record = &records->items[i];

		for (size_t j = 0; j < record->entry_count && rc == 0; j++)
			rc = add_places(plan, &record->entries[j], err);
	}
	if (rc == 0)
		tkb_sort(plan->places, plan->place_count, sizeof(*plan->places),
		         compare_places);
	for (size_t i = 0; i < plan->place_count; i++) {
		if (kept == 0 || compare_places(&plan->places[kept - 1],
		                                &plan->places[i]) != 0)
			plan->places[kept++] = plan->places[i];
		else
			merge_places(&plan->places[kept - 1], &plan->places[i]);
	}
	plan->place_count = kept;
	return rc;
}

/* One for each thread that inspects. */
static int open_loaders(struct tkb_pull_plan *plan, struct tkb_error *err)
{
	const size_t threads =
		tkb_parallel_threads(plan->request.options->threads);
	const size_t count = tkb_parallel_useful(
		plan->place_count,
		threads < INSPECT_LIMIT ? threads : INSPECT_LIMIT);
	int rc = 0;

	plan->loaders = tkb_alloc_array(count, sizeof(*plan->loaders));
	if (plan->loaders == NULL)
		return tkb_fail_nomem(err);
	while (plan->loader_count < count && rc == 0) {
		struct tkb_loader *loader =
			&plan->loaders[plan->loader_count++];

		rc = tkb_loader_open(loader, false, false, err);
		loader->here = plan->here;
	}
	return rc;
}

TKB_AUTO_POINTER(close_at, struct tkb_pull_plan, tkb_pull_plan_close)

int tkb_pull_plan_open(const struct tkb_pull_plan_request *request,
                       struct tkb_pull_plan **out, struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_pull_plan *plan = tkb_alloc_array(1, sizeof(*plan));
	int rc;

	if (plan == NULL)
		return tkb_fail_nomem(err);
	plan->request = *request;
	plan->is_tried = tkb_alloc_array(request->records->count,
	                                 sizeof(*plan->is_tried));
	if (plan->is_tried == NULL)
		return tkb_fail_nomem(err);
	rc = choose_layout(plan, err);
	if (rc == 0)
		rc = list_places(plan, err);
	if (rc == 0)
		rc = open_loaders(plan, err);
	if (rc < 0)
		return rc;
	*out = tkb_take(plan);
	return 0;
}

void tkb_pull_plan_close(struct tkb_pull_plan *plan)
{
	if (plan == NULL)
		return;
	tkb_roots_release(&plan->roots);
	for (size_t i = 0; i < plan->loader_count; i++)
		tkb_loader_close(&plan->loaders[i]);
	free(plan->loaders);
	free(plan->named);
	free(plan->places);
	free(plan->is_tried);
	free(plan);
}

const struct tkb_root *tkb_pull_plan_root(const struct tkb_pull_plan *plan,
                                          const char *tree, uint32_t device)
{
	const bool is_inductor = plan->layout == TKB_LAYOUT_INDUCTOR;
	const struct tkb_root *root;

	if (tree != NULL) {
		root = tkb_roots_tree(&plan->roots, tree);
		return root == NULL || root->fd < 0 ? NULL : root;
	}
	if (is_inductor != plan->roots.is_inductor)
		return NULL;
	for (size_t i = 0; i < plan->roots.count; i++) {
		if (plan->roots.items[i].tree == NULL &&
		    (!is_inductor || plan->roots.items[i].device == device))
			return &plan->roots.items[i];
	}
	return NULL;
}

static struct tkb_pull_place *find_place(const struct tkb_pull_plan *plan,
                                         const char *key, uint32_t device)
{
	const struct tkb_pull_place place = { .key = key, .device = device };

	if (plan->place_count == 0)
		return NULL;
	return bsearch(&place, plan->places, plan->place_count, sizeof(place),
	               compare_places);
}

bool tkb_pull_walk_next(struct tkb_pull_walk *walk)
{
	while (walk->next_device == walk->device_count) {
		if (walk->entry_count == walk->record->entry_count)
			return false;
		walk->entry = &walk->record->entries[walk->entry_count++];
		walk->device_count =
			devices_of(walk->plan, walk->entry, &walk->devices);
		walk->next_device = 0;
	}
	walk->device = walk->devices[walk->next_device++];
	/* One key may have an entry for each platform. */
	walk->place =
		tkb_platform_fits(walk->entry->platform, &walk->plan->here)
			? find_place(walk->plan, walk->entry->key, walk->device)
			: NULL;
	return true;
}

bool tkb_pull_is_old(const struct tkb_pull_place *place,
                     const struct tkb_record_entry *entry)
{
	return place != NULL && !tkb_digest_equal(&place->version.digest,
	                                          &entry->version.digest);
}

bool tkb_pull_plan_list_old(const struct tkb_pull_plan *plan,
                            const struct tkb_record *record, bool *out)
{
	bool has_old = false;

	for (size_t i = 0; i < record->entry_count; i++) {
		const struct tkb_record_entry *entry = &record->entries[i];
		const struct tkb_pull_place *place =
			entry->tree == NULL ? NULL
					    : find_place(plan, entry->key, 0);

		out[i] = tkb_pull_is_old(place, entry);
		has_old |= out[i];
	}
	return has_old;
}

struct tkb_choice tkb_pull_plan_weigh(struct tkb_pull_plan *plan, size_t index,
                                      bool marks)
{
	struct tkb_pull_walk walk = {
		.plan = plan,
		.record = &plan->request.records->items[index],
	};
	struct tkb_choice choice = { .record = index };

	while (tkb_pull_walk_next(&walk)) {
		struct tkb_pull_place *place = walk.place;

		if (place == NULL || !is_entry_asked_for(plan, walk.entry) ||
		    tkb_pull_is_old(place, walk.entry))
			continue;
		choice.place_count++;
		choice.missing_count += !place->is_present && !place->is_coming;
		if (marks)
			place->is_coming = !place->is_present;
	}
	return choice;
}

size_t tkb_pull_plan_choose(struct tkb_pull_plan *plan, struct tkb_choice *out)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->request.records->count; i++) {
		if (plan->is_tried[i] ||
		    tkb_pull_plan_weigh(plan, i, false).missing_count == 0)
			continue;
		plan->is_tried[i] = true;
		out[count++] = tkb_pull_plan_weigh(plan, i, true);
	}
	return count;
}

size_t tkb_pull_plan_present(const struct tkb_pull_plan *plan)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->place_count; i++)
		count += plan->places[i].is_present;
	return count;
}

bool tkb_pull_plan_uses(const struct tkb_pull_plan *plan, size_t record)
{
	const struct tkb_record *item = &plan->request.records->items[record];

	for (size_t i = 0; i < item->entry_count; i++) {
		if (is_entry_wanted(plan, &item->entries[i]))
			return true;
	}
	return false;
}
