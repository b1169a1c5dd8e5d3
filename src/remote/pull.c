/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/fleet.h>

#include <stdlib.h>

#include "base/digest.h"
#include "bundle/elf.h"
#include "bundle/found.h"
#include "bundle/manifest.h"
#include "bundle/root.h"
#include "remote/records.h"
#include "remote/remote.h"

/*
 * The records tell what each blob holds. Those are fetched that hold something
 * which is wanted here and not here, each is checked against its digest before
 * anything in it is looked at, and emitted as any bundle is.
 */

struct puller {
	struct tkb_remote *remote;
	const char *ref;
	const char *root;
	struct tkb_emit_options options;
	struct tkb_record_list records;
	struct tkb_roots roots; /* those that are there */
	struct tkb_loader loader;
	struct tkb_pull_report report;
	int failure; /* of a blob that could not be had */
	struct tkb_error fault;
};

static void puller_close(struct puller *puller)
{
	tkb_record_list_release(&puller->records);
	tkb_roots_release(&puller->roots);
	tkb_loader_close(&puller->loader);
}

static bool is_key_wanted(const struct puller *puller, const char *key)
{
	const struct tkb_emit_options *options = &puller->options;

	for (size_t i = 0; i < options->key_count; i++) {
		if (strncmp(key, options->keys[i], strlen(options->keys[i])) ==
		    0)
			return true;
	}
	return options->key_count == 0;
}

static bool is_target_wanted(const struct puller *puller,
                             const struct tkb_target *target)
{
	const struct tkb_emit_options *options = &puller->options;

	if (options->target_count == 0 || target->backend[0] == '\0')
		return true;
	for (size_t i = 0; i < options->target_count; i++) {
		if (tkb_target_fits(target, &options->targets[i]))
			return true;
	}
	return false;
}

static bool is_entry_wanted(const struct puller *puller,
                            const struct tkb_record_entry *entry)
{
	return is_key_wanted(puller, entry->key) &&
	       is_target_wanted(puller, &entry->target) &&
	       tkb_platform_fits(entry->platform);
}

/* Of several devices, in what is wanted? */
static bool has_several_devices(const struct puller *puller)
{
	bool has_any = false;
	uint32_t first = 0;

	for (size_t i = 0; i < puller->records.count; i++) {
		const struct tkb_record *record = &puller->records.items[i];

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
static int choose_layout(struct puller *puller, struct tkb_error *err)
{
	struct tkb_probe probe = { 0 };
	bool is_inductor;
	int rc;

	if (puller->options.layout != TKB_LAYOUT_AUTO)
		return 0;
	rc = tkb_roots_probe(puller->root, &probe, err);
	if (rc < 0)
		return rc;
	is_inductor = probe.is_inductor ||
	              (!probe.has_keys && (puller->options.device_count > 1 ||
	                                   has_several_devices(puller)));
	puller->options.layout =
		is_inductor ? TKB_LAYOUT_INDUCTOR : TKB_LAYOUT_TRITON;
	return 0;
}

/* What is there now; an emit may have made more of it. */
static int open_roots(struct puller *puller, struct tkb_error *err)
{
	struct tkb_error fault = { 0 };
	int rc;

	tkb_roots_release(&puller->roots);
	rc = tkb_roots_open(puller->root, &puller->roots, &fault);
	if (rc < 0 && err != NULL)
		*err = fault;
	return rc < 0 ? rc : 0;
}

/* Does a whole entry of this key stand in `root`? */
static int is_present(struct puller *puller, const struct tkb_root *root,
                      const char *key, bool *out, struct tkb_error *err)
{
	struct tkb_found found = { 0 };
	struct tkb_error fault = { 0 };
	int rc;

	tkb_arena_release(&puller->loader.arena);
	rc = tkb_found_load(&puller->loader, root, key, &found, &fault);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	*out = rc == 0 && !found.is_moved;
	return 0;
}

static const struct tkb_root *find_root(const struct puller *puller,
                                        uint32_t device)
{
	const bool is_inductor = puller->options.layout == TKB_LAYOUT_INDUCTOR;

	if (is_inductor != puller->roots.is_inductor)
		return NULL;
	for (size_t i = 0; i < puller->roots.count; i++) {
		if (!is_inductor || puller->roots.items[i].device == device)
			return &puller->roots.items[i];
	}
	return NULL;
}

static int is_missing(struct puller *puller,
                      const struct tkb_record_entry *entry, bool *out,
                      struct tkb_error *err)
{
	const struct tkb_emit_options *options = &puller->options;
	const bool chosen = options->device_count != 0;
	const uint32_t *devices = chosen ? options->devices : entry->devices;
	const size_t count =
		chosen ? options->device_count : entry->device_count;
	int rc = 0;

	*out = false;
	for (size_t i = 0; i < count && !*out && rc == 0; i++) {
		const struct tkb_root *root = find_root(puller, devices[i]);
		bool is_there = false;

		if (root != NULL)
			rc = is_present(puller, root, entry->key, &is_there,
			                err);
		*out = !is_there;
	}
	return rc;
}

/* Does the record hold something that is wanted here, and not here? */
static int is_record_wanted(struct puller *puller,
                            const struct tkb_record *record, bool *out,
                            struct tkb_error *err)
{
	int rc = 0;

	*out = false;
	for (size_t i = 0; i < record->entry_count && !*out && rc == 0; i++) {
		if (is_entry_wanted(puller, &record->entries[i]))
			rc = is_missing(puller, &record->entries[i], out, err);
	}
	return rc;
}

static void add_report(struct tkb_emit_report *sum,
                       const struct tkb_emit_report *part)
{
	sum->is_inductor = part->is_inductor;
	sum->emitted_count += part->emitted_count;
	sum->present_count += part->present_count;
	sum->repaired_count += part->repaired_count;
	sum->busy_count += part->busy_count;
	sum->skipped_count += part->skipped_count;
	sum->failed_count += part->failed_count;
	sum->damaged_count += part->damaged_count;
	sum->unsafe_count += part->unsafe_count;
	sum->size += part->size;
}

/* A record that speaks of another bundle than its blob is not trusted. */
static int emit_blob(struct puller *puller, const struct tkb_record *record,
                     const struct tkb_hold *hold, struct tkb_error *err)
{
	const struct tkb_source source = tkb_hold_source(hold);
	struct tkb_emit_report report = { 0 };
	struct tkb_bundle *bundle = NULL;
	int rc;

	rc = tkb_bundle_open_source(&source, puller->ref, &bundle, err);
	if (rc < 0)
		return rc;
	if (!tkb_digest_equal(tkb_bundle_id(bundle), &record->bundle))
		rc = tkb_fail(err, TKB_ERR_CORRUPT,
		              "ref '%s': a record names another bundle than "
		              "its blob is",
		              puller->ref);
	if (rc == 0)
		rc = tkb_emit(bundle, puller->root, &puller->options, &report,
		              err);
	tkb_bundle_close(bundle);
	add_report(&puller->report.emit, &report);
	/* Of the keys asked for this bundle need not have one. */
	return rc == TKB_MISS ? 0 : rc;
}

/* A blob that cannot be had takes only its own entries with it. */
static int note_failure(struct puller *puller, int rc,
                        const struct tkb_error *fault, struct tkb_error *err)
{
	if (rc == TKB_ERR_NOMEM || rc == TKB_ERR_CANCELLED ||
	    rc == TKB_ERR_IO || rc == TKB_ERR_INVALID) {
		if (err != NULL)
			*err = *fault;
		return rc;
	}
	puller->report.failed_count++;
	if (puller->failure == 0) {
		puller->failure = rc;
		puller->fault = *fault;
	}
	return 0;
}

static int pull_record(struct puller *puller, const struct tkb_record *record,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_hold_release)
	struct tkb_hold hold = TKB_HOLD_INIT(puller->remote->max_blob_size);
	struct tkb_error fault = { 0 };
	bool is_wanted = false;
	int rc;

	rc = is_record_wanted(puller, record, &is_wanted, err);
	if (rc < 0 || !is_wanted)
		return rc;
	puller->report.wanted_count++;
	if (puller->options.dry_run)
		return 0;
	rc = tkb_remote_fetch(puller->remote, &record->blob, &hold, &fault);
	if (rc == TKB_MISS) {
		puller->report.gone_count++;
		return 0;
	}
	if (rc < 0)
		return note_failure(puller, rc, &fault, err);
	puller->report.fetched_count++;
	puller->report.fetched_size += hold.size;
	rc = emit_blob(puller, record, &hold, &fault);
	if (rc < 0)
		return note_failure(puller, rc, &fault, err);
	return open_roots(puller, err);
}

/* The largest first: what it brings need not come from others. */
static int compare_records(const void *a, const void *b)
{
	const struct tkb_record *left = a;
	const struct tkb_record *right = b;

	if (left->entry_count != right->entry_count)
		return left->entry_count > right->entry_count ? -1 : 1;
	return memcmp(left->digest.bytes, right->digest.bytes,
	              sizeof(left->digest.bytes));
}

static int pull(struct puller *puller, struct tkb_error *err)
{
	struct tkb_record_list *records = &puller->records;
	int rc;

	rc = tkb_record_list_read(puller->remote, puller->ref, records, err);
	if (rc < 0)
		return rc;
	puller->report.record_count = records->count;
	puller->report.unreadable_count = records->unreadable_count;
	if (records->count == 0) {
		(void)tkb_fail(err, TKB_MISS, "ref '%s' has no record",
		               puller->ref);
		return TKB_MISS;
	}
	qsort(records->items, records->count, sizeof(*records->items),
	      compare_records);
	rc = choose_layout(puller, err);
	if (rc == 0)
		rc = open_roots(puller, err);
	if (rc == 0)
		rc = tkb_loader_open(&puller->loader, false, false, err);
	for (size_t i = 0; i < records->count && rc == 0; i++)
		rc = pull_record(puller, &records->items[i], err);
	return rc;
}

int tkb_pull(struct tkb_remote *remote, const char *ref, const char *cache_root,
             const struct tkb_pull_options *options,
             struct tkb_pull_report *report, struct tkb_error *err)
{
	TKB_AUTO(puller_close)
	struct puller puller = { .remote = remote,
		                 .ref = ref,
		                 .root = cache_root };
	int rc;

	if (options != NULL)
		puller.options = options->emit;
	rc = pull(&puller, err);
	if (rc != 0)
		return rc;
	if (report != NULL)
		*report = puller.report;
	if (puller.failure != 0 && err != NULL)
		*err = puller.fault;
	return puller.failure;
}
