/* SPDX-License-Identifier: Apache-2.0 */
#include "emit/emitter.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * Are there kernels or modules for several devices? Units come last and have no
 * devices.
 */
static bool has_several_devices(const struct tkb_manifest *manifest)
{
	for (size_t i = 0; i < manifest->entry_count; i++) {
		const struct tkb_entry *entry = &manifest->entries[i];

		if (entry->kind == TKB_KIND_UNIT)
			break;
		if (entry->device_count > 1 ||
		    entry->devices[0] != manifest->entries[0].devices[0])
			return true;
	}
	return false;
}

static int choose_layout(struct tkb_emitter *emitter, struct tkb_error *err)
{
	const struct tkb_emit_options *options = emitter->options;
	bool is_inductor = options->layout == TKB_LAYOUT_INDUCTOR;
	struct tkb_probe probe = { 0 };
	int rc;

	if (options->layout == TKB_LAYOUT_AUTO) {
		rc = tkb_roots_probe((const char *)emitter->path.data, &probe,
		                     err);
		if (rc < 0)
			return rc;
		/* Inductor only looks into `triton/<device>/`. */
		is_inductor =
			probe.is_inductor ||
			(!probe.has_keys &&
		         (options->device_count > 1 ||
		          (!options->is_layout_ignored &&
		           emitter->bundle->manifest.layout != NULL) ||
		          has_several_devices(&emitter->bundle->manifest)));
	}
	emitter->roots.is_inductor = is_inductor;
	emitter->report.is_inductor = is_inductor;
	return 0;
}

/* Open or make the root for `device`, unless this was done before. */
static int open_root(struct tkb_emitter *emitter, uint32_t device, size_t *out,
                     struct tkb_error *err)
{
	int rc;

	for (size_t i = 0; i < emitter->roots.count; i++) {
		if (emitter->roots.items[i].tree == NULL &&
		    (!emitter->roots.is_inductor ||
		     emitter->roots.items[i].device == device)) {
			*out = i;
			return 0;
		}
	}
	rc = tkb_root_make((const char *)emitter->path.data,
	                   emitter->roots.is_inductor, device,
	                   !emitter->options->is_dry_run, &emitter->roots, err);
	if (rc < 0)
		return rc;
	*out = emitter->roots.count - 1;
	return 0;
}

/* If the unit may have another name here, its job gets a copy. */
static struct tkb_renamed *copy_unit(struct tkb_emitter *emitter,
                                     const struct tkb_unit_names *names,
                                     const struct tkb_entry *unit)
{
	struct tkb_renamed *copy =
		tkb_arena_alloc(&emitter->arena, 1, sizeof(*copy));

	if (copy != NULL) {
		copy->entry = *unit;
		(void)snprintf(copy->path, sizeof(copy->path), "%s",
		               tkb_unit_names_here(names, unit->name, NULL));
		copy->entry.name = copy->path;
		copy->entry.folder = copy->path;
	}
	return copy;
}

/* Add one job for a unit, because its tree has one root. */
static int add_unit_job(struct tkb_emitter *emitter,
                        const struct tkb_entry *unit, struct tkb_error *err)
{
	const struct tkb_root *root =
		tkb_roots_tree(&emitter->roots, unit->tree);
	struct tkb_renamed *renamed = NULL;
	int rc;

	if (tkb_unit_names_concern(root->names, unit->name)) {
		renamed = copy_unit(emitter, root->names, unit);
		if (renamed == NULL)
			return tkb_fail_nomem(err);
	}
	rc = tkb_batch_add_job(&emitter->batch,
	                       renamed == NULL ? unit : &renamed->entry,
	                       (size_t)(root - emitter->roots.items), err);
	if (rc == 0)
		emitter->batch.jobs[emitter->batch.job_count - 1].renamed =
			renamed;
	return rc;
}

/* Add a job for each root to which `entry` goes. */
static int add_jobs(struct tkb_emitter *emitter, const struct tkb_entry *entry,
                    struct tkb_error *err)
{
	const struct tkb_emit_options *options = emitter->options;
	const bool is_chosen = options->device_count != 0;
	const uint32_t *devices = is_chosen ? options->devices : entry->devices;
	size_t device_count =
		is_chosen ? options->device_count : entry->device_count;
	int rc = 0;

	if (!emitter->roots.is_inductor)
		device_count = 1;
	for (size_t i = 0; i < device_count && rc == 0; i++) {
		size_t root = 0;

		rc = open_root(emitter, devices[i], &root, err);
		if (rc == 0)
			rc = tkb_batch_add_job(&emitter->batch, entry, root,
			                       err);
	}
	return rc;
}

static int add_all_jobs(struct tkb_emitter *emitter, struct tkb_error *err)
{
	const struct tkb_manifest *manifest = &emitter->bundle->manifest;
	int rc = 0;

	emitter->first_jobs = tkb_alloc_array(manifest->item_count + 1,
	                                      sizeof(*emitter->first_jobs));
	if (emitter->first_jobs == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < manifest->entry_count && rc == 0; i++) {
		emitter->first_jobs[i] = emitter->batch.job_count;
		if (emitter->selections[i] != TKB_SELECTION_TAKE)
			continue;
		rc = manifest->entries[i].kind == TKB_KIND_UNIT
		             ? add_unit_job(emitter, &manifest->entries[i], err)
		             : add_jobs(emitter, &manifest->entries[i], err);
	}
	/* The items after the entries are payloads, which have no jobs. */
	for (size_t i = manifest->entry_count; i <= manifest->item_count; i++)
		emitter->first_jobs[i] = emitter->batch.job_count;
	return rc;
}

static int compare_jobs(const void *a, const void *b)
{
	const struct tkb_job *left = *(const struct tkb_job *const *)a;
	const struct tkb_job *right = *(const struct tkb_job *const *)b;
	const int order = strcmp(left->entry->key, right->entry->key);

	if (order != 0)
		return order;
	if (left->root != right->root)
		return left->root < right->root ? -1 : 1;
	return (left > right) - (left < right);
}

/*
 * Of the jobs with the same key and root, skip all but the first. Units need no
 * sorting: a manifest has those of one name together.
 */
static int skip_duplicates(struct tkb_emitter *emitter, struct tkb_error *err)
{
	struct tkb_batch *batch = &emitter->batch;
	TKB_AUTO(tkb_free_at)
	struct tkb_job **sorted =
		tkb_alloc_array(batch->job_count, sizeof(struct tkb_job *));
	size_t kernels = 0;

	if (sorted == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < batch->job_count; i++) {
		sorted[i] = &batch->jobs[i];
		if (i == kernels && sorted[i]->entry->kind != TKB_KIND_UNIT)
			kernels++;
	}
	qsort(sorted, kernels, sizeof(*sorted), compare_jobs);
	for (size_t i = 1; i < batch->job_count; i++) {
		if (sorted[i - 1]->root == sorted[i]->root &&
		    strcmp(sorted[i - 1]->entry->key, sorted[i]->entry->key) ==
		            0)
			tkb_batch_finish(
				batch, sorted[i], TKB_OUTCOME_SKIPPED,
				TKB_REASON_TWIN,
				"another entry with this key is emitted there");
	}
	return 0;
}

/*
 * The caller will move the roots from `staged_in` to their final path, so use
 * that path in the files.
 */
static int unstage_roots(struct tkb_emitter *emitter, struct tkb_error *err)
{
	const char *staged_in = emitter->options->staged_in;
	size_t length = staged_in == NULL ? 0 : strlen(staged_in);

	while (length != 0 && staged_in[length - 1] == '/')
		length--;
	for (size_t i = 0; length != 0 && i < emitter->roots.count; i++) {
		char *path = emitter->roots.items[i].path;

		if (strncmp(path, staged_in, length) != 0 ||
		    (path[length] != '/' && path[length] != '\0'))
			return tkb_fail(err, TKB_ERR_INVALID,
			                "'%s' is not below '%s'", path,
			                staged_in);
		if (path[length] == '\0')
			memcpy(path, "/", sizeof("/"));
		else
			memmove(path, path + length, strlen(path + length) + 1);
	}
	return 0;
}

int tkb_emit_plan(struct tkb_emitter *emitter, struct tkb_error *err)
{
	const struct tkb_emit_options *options = emitter->options;
	int rc;

	rc = tkb_roots_add_trees(options->trees, options->tree_count,
	                         !options->is_dry_run, &emitter->roots,
	                         &emitter->named, err);
	if (rc == 0 && emitter->path.size != 0)
		rc = choose_layout(emitter, err);
	if (rc == 0)
		rc = add_all_jobs(emitter, err);
	if (rc == 0)
		rc = unstage_roots(emitter, err);
	if (rc < 0)
		return rc;
	tkb_batch_set_total(&emitter->batch);
	return skip_duplicates(emitter, err);
}
