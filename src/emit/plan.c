/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cache/elf.h"
#include "emit/emitter.h"

static bool is_target(const struct tkb_entry *entry,
                      const struct tkb_emit_options *options)
{
	if (options->target_count == 0 || entry->kind != TKB_KIND_KERNEL)
		return true;
	for (size_t i = 0; i < options->target_count; i++) {
		if (tkb_target_fits(&entry->target, &options->targets[i]))
			return true;
	}
	return false;
}

/* Which entries have one of the keys asked for? */
static int select_entries(const struct tkb_emitter *emitter, bool *wanted,
                          struct tkb_error *err)
{
	const struct tkb_emit_options *options = emitter->options;
	const struct tkb_manifest *manifest = &emitter->bundle->manifest;
	int rc;

	for (size_t i = 0; i < manifest->entry_count; i++)
		wanted[i] = options->key_count == 0;
	for (size_t i = 0; i < options->key_count; i++) {
		size_t found = 0;

		rc = tkb_bundle_find(emitter->bundle, options->keys[i], &found,
		                     err);
		if (rc != 0)
			return rc;
		for (size_t j = 0; j < manifest->entry_count; j++) {
			if (strcmp(manifest->entries[j].key,
			           manifest->entries[found].key) == 0)
				wanted[j] = true;
		}
	}
	return 0;
}

static bool has_several_devices(const struct tkb_manifest *manifest)
{
	if (manifest->entry_count == 0)
		return false;
	for (size_t i = 0; i < manifest->entry_count; i++) {
		const struct tkb_entry *entry = &manifest->entries[i];

		if (entry->device_count > 1 ||
		    entry->devices[0] != manifest->entries[0].devices[0])
			return true;
	}
	return false;
}

int tkb_emitter_choose_layout(struct tkb_emitter *emitter, const char *path,
                              struct tkb_error *err)
{
	bool is_inductor = emitter->options->layout == TKB_LAYOUT_INDUCTOR;
	struct tkb_probe probe = { 0 };
	int rc;

	if (emitter->options->layout == TKB_LAYOUT_AUTO) {
		rc = tkb_roots_probe(path, &probe, err);
		if (rc < 0)
			return rc;
		/* Beside `triton/<device>/`, keys would not be seen again. */
		is_inductor =
			probe.is_inductor ||
			(!probe.has_keys &&
		         (emitter->options->device_count > 1 ||
		          has_several_devices(&emitter->bundle->manifest)));
	}
	emitter->roots.is_inductor = is_inductor;
	emitter->report.is_inductor = is_inductor;
	return 0;
}

/* The root for `device`, which is opened or made. */
static int root_for(struct tkb_emitter *emitter, const char *path,
                    uint32_t device, size_t *out, struct tkb_error *err)
{
	int rc;

	for (size_t i = 0; i < emitter->roots.count; i++) {
		if (!emitter->roots.is_inductor ||
		    emitter->roots.items[i].device == device) {
			*out = i;
			return 0;
		}
	}
	rc = tkb_root_make(path, emitter->roots.is_inductor, device,
	                   !emitter->options->is_dry_run, &emitter->roots, err);
	if (rc < 0)
		return rc;
	*out = emitter->roots.count - 1;
	return 0;
}

static int add_job(struct tkb_emitter *emitter, size_t entry, size_t root,
                   struct tkb_error *err)
{
	int rc;

	rc = tkb_grow(&emitter->jobs, &emitter->job_capacity,
	              emitter->job_count, sizeof(*emitter->jobs), err);
	if (rc < 0)
		return rc;
	emitter->jobs[emitter->job_count++] =
		(struct tkb_job){ .entry = entry, .root = root };
	return 0;
}

/* Jobs for entry `index`, one for each root that it goes to. */
static int add_jobs(struct tkb_emitter *emitter, const char *path, size_t index,
                    struct tkb_error *err)
{
	const struct tkb_emit_options *options = emitter->options;
	const struct tkb_entry *entry =
		&emitter->bundle->manifest.entries[index];
	const bool chosen = options->device_count != 0;
	const uint32_t *devices = chosen ? options->devices : entry->devices;
	size_t device_count =
		chosen ? options->device_count : entry->device_count;
	int rc;

	if (!emitter->roots.is_inductor)
		device_count = 1;
	for (size_t i = 0; i < device_count; i++) {
		size_t root = 0;

		rc = root_for(emitter, path, devices[i], &root, err);
		if (rc < 0)
			return rc;
		rc = add_job(emitter, index, root, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int tkb_emitter_plan(struct tkb_emitter *emitter, const char *path,
                     struct tkb_error *err)
{
	const struct tkb_manifest *manifest = &emitter->bundle->manifest;
	TKB_AUTO(tkb_free_at)
	bool *wanted = tkb_alloc_array(manifest->entry_count, sizeof(*wanted));
	int rc;

	emitter->first_jobs = tkb_alloc_array(manifest->item_count + 1,
	                                      sizeof(*emitter->first_jobs));
	if (wanted == NULL || emitter->first_jobs == NULL)
		return tkb_fail_nomem(err);
	rc = select_entries(emitter, wanted, err);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < manifest->entry_count; i++) {
		const struct tkb_entry *entry = &manifest->entries[i];

		emitter->first_jobs[i] = emitter->job_count;
		if (!wanted[i])
			continue;
		if (!is_target(entry, emitter->options)) {
			tkb_emitter_tell(emitter, entry, path,
			                 TKB_OUTCOME_SKIPPED, TKB_REASON_TARGET,
			                 "another target");
		} else if (!tkb_platform_fits(entry->platform)) {
			tkb_emitter_tell(
				emitter, entry, path, TKB_OUTCOME_SKIPPED,
				TKB_REASON_PLATFORM, "another platform");
		} else {
			rc = add_jobs(emitter, path, i, err);
			if (rc < 0)
				return rc;
		}
	}
	/* Payloads go nowhere. */
	for (size_t i = manifest->entry_count; i <= manifest->item_count; i++)
		emitter->first_jobs[i] = emitter->job_count;
	return 0;
}

struct sorted_job {
	const char *key;
	struct tkb_job *job;
};

static int compare_jobs(const void *a, const void *b)
{
	const struct sorted_job *left = a;
	const struct sorted_job *right = b;
	const int order = strcmp(left->key, right->key);

	if (order != 0)
		return order;
	if (left->job->root != right->job->root)
		return left->job->root < right->job->root ? -1 : 1;
	return (left->job > right->job) - (left->job < right->job);
}

int tkb_emitter_skip_twins(struct tkb_emitter *emitter, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	struct sorted_job *sorted =
		tkb_alloc_array(emitter->job_count, sizeof(*sorted));

	if (sorted == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < emitter->job_count; i++) {
		struct tkb_job *job = &emitter->jobs[i];

		sorted[i] = (struct sorted_job){
			tkb_emitter_entry(emitter, job)->key, job
		};
	}
	qsort(sorted, emitter->job_count, sizeof(*sorted), compare_jobs);
	for (size_t i = 1; i < emitter->job_count; i++) {
		if (strcmp(sorted[i - 1].key, sorted[i].key) == 0 &&
		    sorted[i - 1].job->root == sorted[i].job->root)
			tkb_emitter_finish(
				emitter, sorted[i].job, TKB_OUTCOME_SKIPPED,
				TKB_REASON_TWIN,
				"another entry of this key goes there");
	}
	return 0;
}
