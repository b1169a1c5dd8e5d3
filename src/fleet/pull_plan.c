/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/pull_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cache/elf.h"
#include "cache/root.h"
#include "emit/entry_state.h"
#include "emit/stage.h"
#include "fleet/peek.h"
#include "format/manifest.h"
#include "remote/tier.h"

#define NS_PER_MS ((uint64_t)1000000)

/* Where an entry goes. Under Triton's layout all devices are one. */
struct place {
	const char *key;
	uint32_t device;
	unsigned kinds;  /* a bit for each that a record gives it */
	bool is_trusted; /* written or verified here since boot */
	bool is_bad;     /* not what its record's bundle says */
	bool is_present;
	bool is_coming; /* with a record that was chosen */
};

struct tkb_pull_plan {
	struct tkb_pull_plan_request order;
	enum tkb_layout layout;
	struct tkb_roots roots; /* those that are there */
	struct tkb_loader loader;
	struct place *places; /* owned; by key and device, each once */
	size_t place_count;
	size_t place_capacity;
	bool *is_tried; /* owned; by record */
};

static bool is_key_wanted(const struct tkb_emit_options *options,
                          const char *key)
{
	for (size_t i = 0; i < options->key_count; i++) {
		if (strcmp(key, options->keys[i]) == 0)
			return true;
	}
	return options->key_count == 0;
}

static bool is_target_wanted(const struct tkb_emit_options *options,
                             const struct tkb_target *target)
{
	if (options->target_count == 0 || target->backend[0] == '\0')
		return true;
	for (size_t i = 0; i < options->target_count; i++) {
		if (tkb_target_fits(target, &options->targets[i]))
			return true;
	}
	return false;
}

static bool is_entry_wanted(const struct tkb_pull_plan *wanted,
                            const struct tkb_record_entry *entry)
{
	const struct tkb_emit_options *options = wanted->order.options;

	return is_key_wanted(options, entry->key) &&
	       is_target_wanted(options, &entry->target) &&
	       tkb_platform_fits(entry->platform);
}

/* Does the ref speak of more than one device? */
static bool has_several_devices(const struct tkb_record_list *records)
{
	bool has_any = false;
	uint32_t first = 0;

	for (size_t i = 0; i < records->count; i++) {
		const struct tkb_record *record = &records->items[i];

		for (size_t j = 0; j < record->entry_count; j++) {
			const struct tkb_record_entry *entry =
				&record->entries[j];

			if (entry->device_count > 1 ||
			    (has_any && entry->devices[0] != first))
				return true;
			has_any = true;
			first = entry->devices[0];
		}
	}
	return false;
}

/* All bundles of a ref go into one layout, whichever of them is fetched. */
static int choose_layout(struct tkb_pull_plan *wanted, struct tkb_error *err)
{
	const struct tkb_emit_options *options = wanted->order.options;
	struct tkb_probe probe = { 0 };
	bool is_inductor;
	int rc;

	wanted->layout = options->layout;
	if (wanted->layout != TKB_LAYOUT_AUTO)
		return 0;
	rc = tkb_roots_probe(wanted->order.cache_root, &probe, err);
	if (rc < 0)
		return rc;
	is_inductor = probe.is_inductor ||
	              (!probe.has_keys &&
	               (options->device_count > 1 ||
	                has_several_devices(wanted->order.records)));
	wanted->layout = is_inductor ? TKB_LAYOUT_INDUCTOR : TKB_LAYOUT_TRITON;
	return 0;
}

/* The devices that an entry goes to. */
static size_t devices_of(const struct tkb_pull_plan *wanted,
                         const struct tkb_record_entry *entry,
                         const uint32_t **out)
{
	static const uint32_t one = 0;
	const struct tkb_emit_options *options = wanted->order.options;

	if (wanted->layout == TKB_LAYOUT_TRITON) {
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
	const struct place *left = a;
	const struct place *right = b;
	const int order = strcmp(left->key, right->key);

	if (order != 0)
		return order;
	return (left->device > right->device) - (left->device < right->device);
}

/* Only a module has a platform, and only a kernel a target. */
static enum tkb_kind kind_of(const struct tkb_record_entry *entry)
{
	if (entry->platform[0] != '\0')
		return TKB_KIND_MODULE;
	return entry->target.backend[0] != '\0' ? TKB_KIND_KERNEL
	                                        : TKB_KIND_AUTOTUNE;
}

static int add_places(struct tkb_pull_plan *wanted,
                      const struct tkb_record_entry *entry,
                      struct tkb_error *err)
{
	const uint32_t *devices = NULL;
	const size_t count = devices_of(wanted, entry, &devices);
	int rc = 0;

	if (!is_entry_wanted(wanted, entry))
		return 0;
	for (size_t i = 0; i < count && rc == 0; i++) {
		rc = tkb_grow(&wanted->places, &wanted->place_capacity,
		              wanted->place_count, sizeof(*wanted->places),
		              err);
		if (rc == 0)
			wanted->places[wanted->place_count++] =
				(struct place){ .key = entry->key,
				                .device = devices[i],
				                .kinds = 1U << kind_of(entry) };
	}
	return rc;
}

static int list_places(struct tkb_pull_plan *wanted, struct tkb_error *err)
{
	const struct tkb_record_list *records = wanted->order.records;
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < records->count; i++) {
		const struct tkb_record *record = &records->items[i];

		for (size_t j = 0; j < record->entry_count && rc == 0; j++)
			rc = add_places(wanted, &record->entries[j], err);
	}
	if (rc == 0 && wanted->place_count > 1)
		qsort(wanted->places, wanted->place_count,
		      sizeof(*wanted->places), compare_places);
	for (size_t i = 0; i < wanted->place_count; i++) {
		if (kept == 0 || compare_places(&wanted->places[kept - 1],
		                                &wanted->places[i]) != 0)
			wanted->places[kept++] = wanted->places[i];
		else
			wanted->places[kept - 1].kinds |=
				wanted->places[i].kinds;
	}
	wanted->place_count = kept;
	return rc;
}

static void close_at(struct tkb_pull_plan **wanted)
{
	tkb_pull_plan_close(*wanted);
}

int tkb_pull_plan_open(const struct tkb_pull_plan_request *order,
                       struct tkb_pull_plan **out, struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_pull_plan *wanted = tkb_alloc_array(1, sizeof(*wanted));
	int rc;

	if (wanted == NULL)
		return tkb_fail_nomem(err);
	wanted->order = *order;
	wanted->is_tried = tkb_alloc_array(order->records->count,
	                                   sizeof(*wanted->is_tried));
	if (wanted->is_tried == NULL)
		return tkb_fail_nomem(err);
	rc = choose_layout(wanted, err);
	if (rc == 0)
		rc = tkb_loader_open(&wanted->loader, false, false, err);
	if (rc == 0)
		rc = list_places(wanted, err);
	if (rc < 0)
		return rc;
	*out = tkb_take(wanted);
	return 0;
}

void tkb_pull_plan_close(struct tkb_pull_plan *wanted)
{
	if (wanted == NULL)
		return;
	tkb_roots_release(&wanted->roots);
	tkb_loader_close(&wanted->loader);
	free(wanted->places);
	free(wanted->is_tried);
	free(wanted);
}

enum tkb_layout tkb_pull_plan_layout(const struct tkb_pull_plan *wanted)
{
	return wanted->layout;
}

static const struct tkb_root *find_root(const struct tkb_pull_plan *wanted,
                                        uint32_t device)
{
	const bool is_inductor = wanted->layout == TKB_LAYOUT_INDUCTOR;

	if (is_inductor != wanted->roots.is_inductor)
		return NULL;
	for (size_t i = 0; i < wanted->roots.count; i++) {
		if (!is_inductor || wanted->roots.items[i].device == device)
			return &wanted->roots.items[i];
	}
	return NULL;
}

static struct place *find_place(const struct tkb_pull_plan *wanted,
                                const char *key, uint32_t device)
{
	const struct place place = { .key = key, .device = device };

	return bsearch(&place, wanted->places, wanted->place_count,
	               sizeof(place), compare_places);
}

static bool is_marked(const struct tkb_root *root, const struct tkb_digest *id)
{
	struct tkb_stage stage;
	bool answer;

	tkb_stage_init(&stage, root);
	tkb_stage_begin(&stage, id, false);
	answer = stage.is_trusted;
	tkb_stage_close(&stage);
	return answer;
}

/* What the record holds was written or verified in a root since boot. */
static void trust_places(struct tkb_pull_plan *wanted,
                         const struct tkb_record *record,
                         const struct tkb_root *root)
{
	for (size_t i = 0; i < record->entry_count; i++) {
		const struct tkb_record_entry *entry = &record->entries[i];
		const uint32_t *devices = NULL;
		const size_t count = devices_of(wanted, entry, &devices);

		for (size_t j = 0; j < count; j++) {
			struct place *place =
				find_place(wanted, entry->key, devices[j]);

			if (place != NULL &&
			    find_root(wanted, place->device) == root)
				place->is_trusted = true;
		}
	}
}

static void find_trusted(struct tkb_pull_plan *wanted)
{
	const struct tkb_record_list *records = wanted->order.records;

	for (size_t i = 0; i < records->count; i++) {
		const struct tkb_record *record = &records->items[i];

		for (size_t j = 0; j < wanted->roots.count; j++) {
			const struct tkb_root *root = &wanted->roots.items[j];

			if (is_marked(root, &record->bundle))
				trust_places(wanted, record, root);
		}
	}
}

/* One record that lies of an entry's kind makes no whole entry missing. */
static int inspect(struct tkb_pull_plan *wanted, const struct tkb_root *root,
                   const struct place *place, bool *is_intact,
                   struct tkb_error *err)
{
	static const enum tkb_kind kinds[] = { TKB_KIND_KERNEL, TKB_KIND_MODULE,
		                               TKB_KIND_AUTOTUNE };

	*is_intact = false;
	for (size_t i = 0; i < TKB_COUNT_OF(kinds) && !*is_intact; i++) {
		enum tkb_entry_state state = TKB_ENTRY_STATE_ABSENT;
		struct tkb_error fault = { 0 };
		int rc;

		if ((place->kinds & 1U << kinds[i]) == 0)
			continue;
		tkb_arena_release(&wanted->loader.arena);
		rc = tkb_entry_state_inspect(&wanted->loader, root, place->key,
		                             kinds[i], place->is_trusted,
		                             &state, &fault);
		if (rc == TKB_ERR_NOMEM)
			return tkb_fail_nomem(err);
		*is_intact = rc == 0 && state == TKB_ENTRY_STATE_PRESENT;
	}
	return 0;
}

/* As an emit looks; what it cannot look at, it will say. */
static int look(struct tkb_pull_plan *wanted, struct place *place,
                struct tkb_error *err)
{
	const struct tkb_root *root = find_root(wanted, place->device);
	bool is_intact = false;
	int rc;

	place->is_present = false;
	place->is_coming = false;
	if (root == NULL)
		return 0;
	rc = inspect(wanted, root, place, &is_intact, err);
	place->is_present = is_intact && (place->is_trusted || !place->is_bad);
	return rc;
}

int tkb_pull_plan_look(struct tkb_pull_plan *wanted, struct tkb_error *err)
{
	struct tkb_error fault = { 0 };
	int rc;

	tkb_roots_release(&wanted->roots);
	rc = tkb_roots_open(wanted->order.cache_root, &wanted->roots, &fault);
	if (rc < 0) {
		if (err != NULL)
			*err = fault;
		return rc;
	}
	rc = 0; /* also where there is no such folder yet */
	find_trusted(wanted);
	for (size_t i = 0; i < wanted->place_count && rc == 0; i++)
		rc = look(wanted, &wanted->places[i], err);
	return rc;
}

void tkb_pull_plan_clean(const struct tkb_pull_plan *wanted)
{
	static const struct tkb_digest none = { { 0 } };

	for (size_t i = 0; i < wanted->roots.count; i++) {
		struct tkb_stage stage;

		tkb_stage_init(&stage, &wanted->roots.items[i]);
		tkb_stage_begin(&stage, &none, true);
		tkb_stage_close(&stage);
	}
}

/* What the record fills; what it alone brings is marked, if `marks`. */
static struct tkb_choice weigh(struct tkb_pull_plan *wanted, size_t index,
                               bool marks)
{
	const struct tkb_record *record = &wanted->order.records->items[index];
	struct tkb_choice choice = { .record = index };

	for (size_t i = 0; i < record->entry_count; i++) {
		const struct tkb_record_entry *entry = &record->entries[i];
		const uint32_t *devices = NULL;
		const size_t count = devices_of(wanted, entry, &devices);

		if (!is_entry_wanted(wanted, entry))
			continue;
		for (size_t j = 0; j < count; j++) {
			struct place *place =
				find_place(wanted, entry->key, devices[j]);

			choice.place_count++;
			choice.missing_count +=
				!place->is_present && !place->is_coming;
			if (marks)
				place->is_coming = !place->is_present;
		}
	}
	return choice;
}

/* Does the record tell of what is present, and nobody looked at its bytes? */
static bool is_doubtful(const struct tkb_pull_plan *wanted,
                        const struct tkb_record *record)
{
	for (size_t i = 0; i < record->entry_count; i++) {
		const struct tkb_record_entry *entry = &record->entries[i];
		const uint32_t *devices = NULL;
		const size_t count = devices_of(wanted, entry, &devices);

		for (size_t j = 0; j < count; j++) {
			const struct place *place =
				find_place(wanted, entry->key, devices[j]);

			if (place != NULL && place->is_present &&
			    !place->is_trusted)
				return true;
		}
	}
	return false;
}

/* Hold one entry of the record's bundle against what stands there. */
static int compare(struct tkb_pull_plan *wanted, const struct tkb_entry *entry,
                   const struct tkb_record_entry *listed, struct tkb_error *err)
{
	const uint32_t *devices = NULL;
	const size_t count = devices_of(wanted, listed, &devices);
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++) {
		struct place *place =
			find_place(wanted, entry->key, devices[i]);
		enum tkb_entry_state state = TKB_ENTRY_STATE_ABSENT;
		struct tkb_error fault = { 0 };

		if (place == NULL || !place->is_present || place->is_trusted)
			continue;
		tkb_arena_release(&wanted->loader.arena);
		rc = tkb_entry_state_look(&wanted->loader,
		                          find_root(wanted, place->device),
		                          entry, false, &state, &fault);
		if (rc == TKB_ERR_NOMEM)
			return tkb_fail_nomem(err);
		place->is_present = rc == 0 && state == TKB_ENTRY_STATE_PRESENT;
		place->is_trusted = place->is_present;
		place->is_bad = !place->is_present;
		rc = 0;
	}
	return rc;
}

static int check_watch(const struct tkb_remote *remote, struct tkb_error *err)
{
	const struct tkb_watch *watch = &remote->watch;

	return watch->is_cancelled != NULL && watch->is_cancelled(watch->self)
	               ? tkb_fail(err, TKB_ERR_CANCELLED, "cancelled")
	               : 0;
}

static int compare_all(struct tkb_pull_plan *wanted,
                       const struct tkb_remote *remote,
                       const struct tkb_record *record,
                       const struct tkb_bundle *bundle, struct tkb_error *err)
{
	int rc = 0;

	/* A record lists its bundle's entries in the bundle's order. */
	for (size_t i = 0; i < record->entry_count && rc == 0; i++) {
		rc = check_watch(remote, err);
		if (rc == 0 && i < tkb_bundle_entry_count(bundle) &&
		    strcmp(tkb_bundle_entry(bundle, i)->key,
		           record->entries[i].key) == 0)
			rc = compare(wanted, tkb_bundle_entry(bundle, i),
			             &record->entries[i], err);
	}
	return rc;
}

/* Has the root all that the record has for it, written or verified? */
static bool is_whole(const struct tkb_pull_plan *wanted,
                     const struct tkb_record *record, uint32_t device)
{
	for (size_t i = 0; i < record->entry_count; i++) {
		const struct tkb_record_entry *entry = &record->entries[i];
		const uint32_t *devices = NULL;
		const size_t count = devices_of(wanted, entry, &devices);

		for (size_t j = 0; j < count; j++) {
			const struct place *place;

			if (devices[j] != device)
				continue; /* it goes into another root */
			place = find_place(wanted, entry->key, device);
			if (place == NULL || !place->is_trusted)
				return false;
		}
	}
	return true;
}

/* Mark the bundle in each root where all that it has for it is sound. */
static void mark(const struct tkb_pull_plan *wanted,
                 const struct tkb_record *record)
{
	for (size_t i = 0; i < wanted->roots.count; i++) {
		const struct tkb_root *root = &wanted->roots.items[i];
		struct tkb_stage stage;

		if (!is_whole(wanted, record,
		              wanted->layout == TKB_LAYOUT_TRITON
		                      ? 0
		                      : root->device))
			continue;
		tkb_stage_init(&stage, root);
		tkb_stage_begin(&stage, &record->bundle, false);
		tkb_stage_trust(&stage, &record->bundle);
		tkb_stage_close(&stage);
	}
}

/* What is fetched anyway, an emit looks at. */
static int doubt(struct tkb_pull_plan *wanted, struct tkb_remote *remote,
                 struct tkb_error *err)
{
	const struct tkb_record_list *records = wanted->order.records;

	for (size_t i = 0; i < records->count; i++) {
		const struct tkb_record *record = &records->items[i];
		struct tkb_bundle *bundle = NULL;
		struct tkb_error fault = { 0 };
		int rc;

		if (weigh(wanted, i, true).missing_count != 0 ||
		    !is_doubtful(wanted, record))
			continue;
		rc = tkb_remote_peek(remote, record, &bundle, &fault);
		if (rc == TKB_ERR_NOMEM || rc == TKB_ERR_CANCELLED) {
			if (err != NULL)
				*err = fault;
			return rc;
		}
		if (rc != 0)
			continue; /* what is whole is not given up for that */
		rc = compare_all(wanted, remote, record, bundle, err);
		tkb_bundle_close(bundle);
		if (rc < 0)
			return rc;
		if (!wanted->order.options->is_dry_run)
			mark(wanted, record);
	}
	return 0;
}

static bool is_over(void *self)
{
	const uint64_t *end_ns = self;

	return tkb_now_ns() >= *end_ns;
}

int tkb_pull_plan_doubt(struct tkb_pull_plan *wanted, struct tkb_remote *remote,
                        uint32_t limit_ms, struct tkb_error *err)
{
	uint64_t end_ns = tkb_now_ns() + limit_ms * NS_PER_MS;
	const struct tkb_watch brief = { .struct_size = sizeof(brief),
		                         .self = &end_ns,
		                         .is_cancelled = is_over };
	struct tkb_remote_joint joint = { 0 };
	TKB_AUTO(tkb_free_at)
	bool *was_dead = tkb_alloc_array(remote->tier_count, sizeof(*was_dead));
	int rc;

	if (was_dead == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < remote->tier_count; i++)
		was_dead[i] = remote->tiers[i].is_dead;
	tkb_remote_join(&joint, remote, &brief);
	rc = doubt(wanted, remote, err);
	tkb_remote_part(&joint);
	/* Who did not answer this may well have what is missing. */
	for (size_t i = 0; i < remote->tier_count; i++)
		remote->tiers[i].is_dead = was_dead[i];
	for (size_t i = 0; i < wanted->place_count; i++)
		wanted->places[i].is_coming = false;
	return rc;
}

size_t tkb_pull_plan_make(struct tkb_pull_plan *wanted, struct tkb_choice *out)
{
	size_t count = 0;

	for (size_t i = 0; i < wanted->order.records->count; i++) {
		if (wanted->is_tried[i] ||
		    weigh(wanted, i, false).missing_count == 0)
			continue;
		wanted->is_tried[i] = true;
		out[count++] = weigh(wanted, i, true);
	}
	return count;
}

size_t tkb_pull_plan_present(const struct tkb_pull_plan *wanted)
{
	size_t count = 0;

	for (size_t i = 0; i < wanted->place_count; i++)
		count += wanted->places[i].is_present;
	return count;
}

bool tkb_pull_plan_uses(const struct tkb_pull_plan *wanted, size_t record)
{
	const struct tkb_record *item = &wanted->order.records->items[record];

	for (size_t i = 0; i < item->entry_count; i++) {
		if (is_entry_wanted(wanted, &item->entries[i]))
			return true;
	}
	return false;
}
