/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/emit.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/parallel.h"
#include "bundle/elf.h"
#include "bundle/install.h"
#include "bundle/names.h"
#include "bundle/reader.h"
#include "bundle/select.h"
#include "bundle/watch.h"

/*
 * An emit in four steps: which entry goes where (jobs); what is there now;
 * frames of which something is wanted are decoded, and their entries staged
 * and published; what was staged and not used is removed.
 */

/* One entry, at one root. */
struct job {
	size_t entry;
	size_t root;
	enum tkb_place_state state;
	bool is_staged;
	bool is_done; /* its outcome was told */
};

struct emitter {
	const struct tkb_bundle *bundle;
	const struct tkb_emit_options *options;
	struct tkb_roots roots;
	struct tkb_stage *stages; /* owned; one a root */
	size_t stage_count;
	struct job *jobs; /* owned; by entry, then root */
	size_t job_count;
	size_t job_capacity;
	size_t *first_jobs; /* owned; of each entry, and behind the last */
	struct tkb_loader *loaders;   /* owned; one a thread */
	struct tkb_decoder *decoders; /* owned; one a thread */
	size_t thread_count;
	size_t decoder_count;
	struct tkb_watcher watcher; /* its lock guards what follows */
	struct tkb_emit_report report;
	struct tkb_error first_damage;
};

static void emitter_close(struct emitter *emitter)
{
	for (size_t i = 0; i < emitter->stage_count; i++)
		tkb_stage_close(&emitter->stages[i]);
	free(emitter->stages);
	for (size_t i = 0; i < emitter->thread_count; i++)
		tkb_loader_close(&emitter->loaders[i]);
	free(emitter->loaders);
	for (size_t i = 0; i < emitter->decoder_count; i++)
		tkb_decoder_close(&emitter->decoders[i]);
	free(emitter->decoders);
	free(emitter->jobs);
	free(emitter->first_jobs);
	tkb_roots_release(&emitter->roots);
	tkb_watcher_release(&emitter->watcher);
}

static const struct tkb_entry *entry_of(const struct emitter *emitter,
                                        const struct job *job)
{
	return &emitter->bundle->manifest.entries[job->entry];
}

static void count_failure(struct tkb_emit_report *report,
                          enum tkb_reason reason)
{
	switch (reason) {
	case TKB_REASON_UNSAFE:
		report->unsafe_count++;
		break;
	case TKB_REASON_IO:
	case TKB_REASON_UNREADABLE:
		report->failed_count++;
		break;
	default:
		report->damaged_count++;
		break;
	}
}

static void count(struct tkb_emit_report *report,
                  const struct tkb_result *result)
{
	switch (result->outcome) {
	case TKB_EMITTED:
		report->emitted_count++;
		break;
	case TKB_PRESENT:
		report->present_count++;
		break;
	case TKB_REPAIRED:
		report->repaired_count++;
		break;
	case TKB_SKIPPED:
		if (result->reason == TKB_REASON_BUSY)
			report->busy_count++;
		else
			report->skipped_count++;
		break;
	default:
		count_failure(report, result->reason);
		break;
	}
}

/* Tell what became of `entry` at `root`. */
static void tell(struct emitter *emitter, const struct tkb_entry *entry,
                 const char *root, enum tkb_outcome outcome,
                 enum tkb_reason reason, const char *message)
{
	const struct tkb_result result = { .root = root,
		                           .key = entry->key,
		                           .name = entry->name,
		                           .outcome = outcome,
		                           .reason = reason,
		                           .message = message };

	(void)pthread_mutex_lock(&emitter->watcher.lock);
	count(&emitter->report, &result);
	(void)pthread_mutex_unlock(&emitter->watcher.lock);
	tkb_watcher_result(&emitter->watcher, &result);
	tkb_watcher_progress(&emitter->watcher, tkb_entry_size(entry));
}

static void finish_job(struct emitter *emitter, struct job *job,
                       enum tkb_outcome outcome, enum tkb_reason reason,
                       const char *message)
{
	job->is_done = true;
	tell(emitter, entry_of(emitter, job),
	     emitter->roots.items[job->root].path, outcome, reason, message);
}

/* A failure of one job; what concerns them all is passed on. */
static int fail_job(struct emitter *emitter, struct job *job, int rc,
                    const struct tkb_error *fault, struct tkb_error *err)
{
	if (rc == TKB_ERR_NOMEM) {
		*err = *fault;
		return rc;
	}
	if (rc == TKB_ERR_CORRUPT && fault->reason != TKB_REASON_UNSAFE) {
		(void)pthread_mutex_lock(&emitter->watcher.lock);
		if (emitter->first_damage.status == 0)
			emitter->first_damage = *fault;
		(void)pthread_mutex_unlock(&emitter->watcher.lock);
	}
	finish_job(emitter, job, TKB_FAILED,
	           fault->reason == TKB_REASON_NONE
	                   ? TKB_REASON_IO
	                   : (enum tkb_reason)fault->reason,
	           fault->message);
	return 0;
}

static bool is_target(const struct tkb_entry *entry,
                      const struct tkb_emit_options *options)
{
	if (options->target_count == 0 || entry->kind != TKB_KIND_KERNEL)
		return true;
	for (size_t i = 0; i < options->target_count; i++) {
		const struct tkb_target *target = &options->targets[i];

		if (strcmp(target->backend, entry->target.backend) == 0 &&
		    (target->arch == NULL || target->arch[0] == '\0' ||
		     strcmp(target->arch, entry->target.arch) == 0) &&
		    (target->warp_size == 0 ||
		     target->warp_size == entry->target.warp_size))
			return true;
	}
	return false;
}

/* Which entries have one of the keys asked for? */
static int select_entries(const struct emitter *emitter, bool *wanted,
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

static int choose_layout(struct emitter *emitter, const char *path,
                         struct tkb_error *err)
{
	bool is_inductor = emitter->options->layout == TKB_LAYOUT_INDUCTOR;
	int rc;

	if (emitter->options->layout == TKB_LAYOUT_AUTO) {
		rc = tkb_roots_probe(path, &is_inductor, err);
		if (rc < 0)
			return rc;
		is_inductor |= emitter->options->device_count > 1 ||
		               has_several_devices(&emitter->bundle->manifest);
	}
	emitter->roots.is_inductor = is_inductor;
	emitter->report.is_inductor = is_inductor;
	return 0;
}

/* The root for `device`, which is opened or made. */
static int root_for(struct emitter *emitter, const char *path, uint32_t device,
                    size_t *out, struct tkb_error *err)
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
	                   !emitter->options->dry_run, &emitter->roots, err);
	if (rc < 0)
		return rc;
	*out = emitter->roots.count - 1;
	return 0;
}

static int add_job(struct emitter *emitter, size_t entry, size_t root,
                   struct tkb_error *err)
{
	int rc;

	rc = tkb_grow(&emitter->jobs, &emitter->job_capacity,
	              emitter->job_count, sizeof(*emitter->jobs), err);
	if (rc < 0)
		return rc;
	emitter->jobs[emitter->job_count++] =
		(struct job){ .entry = entry, .root = root };
	return 0;
}

/* Jobs for entry `index`, one for each root that it goes to. */
static int add_jobs(struct emitter *emitter, const char *path, size_t index,
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

static int plan(struct emitter *emitter, const char *path,
                struct tkb_error *err)
{
	const struct tkb_manifest *manifest = &emitter->bundle->manifest;
	TKB_AUTO(tkb_free_at)
	bool *wanted = tkb_alloc_array(manifest->entry_count, sizeof(*wanted));
	int rc;

	emitter->first_jobs = tkb_alloc_array(manifest->entry_count + 1,
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
			tell(emitter, entry, path, TKB_SKIPPED,
			     TKB_REASON_TARGET, "another target");
		} else if (!tkb_platform_fits(entry->platform)) {
			tell(emitter, entry, path, TKB_SKIPPED,
			     TKB_REASON_PLATFORM, "another platform");
		} else {
			rc = add_jobs(emitter, path, i, err);
			if (rc < 0)
				return rc;
		}
	}
	emitter->first_jobs[manifest->entry_count] = emitter->job_count;
	return 0;
}

struct sorted_job {
	const char *key;
	struct job *job;
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

/* Of several variants of a key at one root, the first is taken. */
static int skip_twins(struct emitter *emitter, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	struct sorted_job *sorted =
		tkb_alloc_array(emitter->job_count, sizeof(*sorted));

	if (sorted == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < emitter->job_count; i++) {
		struct job *job = &emitter->jobs[i];

		sorted[i] =
			(struct sorted_job){ entry_of(emitter, job)->key, job };
	}
	qsort(sorted, emitter->job_count, sizeof(*sorted), compare_jobs);
	for (size_t i = 1; i < emitter->job_count; i++) {
		if (strcmp(sorted[i - 1].key, sorted[i].key) == 0 &&
		    sorted[i - 1].job->root == sorted[i].job->root)
			finish_job(emitter, sorted[i].job, TKB_SKIPPED,
			           TKB_REASON_TWIN,
			           "another entry of this key goes there");
	}
	return 0;
}

static int open_stages(struct emitter *emitter, struct tkb_error *err)
{
	emitter->stages =
		tkb_alloc_array(emitter->roots.count, sizeof(*emitter->stages));
	if (emitter->stages == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < emitter->roots.count; i++) {
		struct tkb_stage *stage = &emitter->stages[i];

		tkb_stage_init(stage, &emitter->roots.items[i]);
		emitter->stage_count++;
		if (emitter->roots.items[i].fd >= 0)
			tkb_stage_begin(stage, &emitter->bundle->id,
			                !emitter->options->dry_run);
	}
	return 0;
}

static int open_loaders(struct emitter *emitter, struct tkb_error *err)
{
	const size_t wanted = tkb_parallel_threads(emitter->options->threads);
	int rc;

	emitter->loaders = tkb_alloc_array(wanted, sizeof(*emitter->loaders));
	emitter->decoders = tkb_alloc_array(wanted, sizeof(*emitter->decoders));
	if (emitter->loaders == NULL || emitter->decoders == NULL)
		return tkb_fail_nomem(err);
	while (emitter->thread_count < wanted) {
		rc = tkb_loader_open(&emitter->loaders[emitter->thread_count],
		                     false, false, err);
		if (rc < 0)
			return rc;
		emitter->thread_count++;
	}
	while (emitter->decoder_count < wanted) {
		rc = tkb_decoder_open(
			&emitter->decoders[emitter->decoder_count], err);
		if (rc < 0)
			return rc;
		emitter->decoder_count++;
	}
	return 0;
}

/* Settle what needs no bytes of the bundle. */
static int note_state(struct emitter *emitter, struct job *job,
                      struct tkb_error *err)
{
	struct tkb_error fault = { 0 };
	int rc;

	switch (job->state) {
	case TKB_PLACE_PRESENT:
		finish_job(emitter, job, TKB_PRESENT, TKB_REASON_NONE, "");
		return 0;
	case TKB_PLACE_BUSY:
		finish_job(emitter, job, TKB_SKIPPED, TKB_REASON_BUSY,
		           "a compiler is writing there");
		return 0;
	case TKB_PLACE_UNSAFE:
		rc = tkb_fail_entry(&fault, TKB_REASON_UNSAFE,
		                    "'%s/%s' is not a folder",
		                    emitter->roots.items[job->root].path,
		                    entry_of(emitter, job)->key);
		return fail_job(emitter, job, rc, &fault, err);
	case TKB_PLACE_MOVED:
	case TKB_PLACE_BROKEN:
		if (emitter->options->dry_run)
			finish_job(emitter, job, TKB_REPAIRED, TKB_REASON_NONE,
			           "");
		return 0;
	case TKB_PLACE_ABSENT:
		if (emitter->options->dry_run)
			finish_job(emitter, job, TKB_EMITTED, TKB_REASON_NONE,
			           "");
		return 0;
	}
	return 0;
}

static int look_one(void *self, size_t worker, size_t index,
                    struct tkb_error *err)
{
	struct emitter *emitter = self;
	struct job *job = &emitter->jobs[index];
	struct tkb_loader *loader = &emitter->loaders[worker];
	struct tkb_error fault = { 0 };
	int rc;

	if (job->is_done)
		return 0;
	rc = tkb_watcher_check(&emitter->watcher, err);
	if (rc < 0)
		return rc;
	if (emitter->roots.items[job->root].fd >= 0) {
		tkb_arena_release(&loader->arena);
		rc = tkb_place_look(loader, &emitter->roots.items[job->root],
		                    entry_of(emitter, job),
		                    emitter->stages[job->root].is_trusted,
		                    &job->state, &fault);
		if (rc < 0)
			return fail_job(emitter, job, rc, &fault, err);
	}
	return note_state(emitter, job, err);
}

/* A root that we may not write in is no entry's fault. */
static bool is_refusal(int number)
{
	return number == EACCES || number == EPERM || number == EROFS ||
	       number == ENOTDIR || number == ELOOP;
}

/* Make a stage in each root in which something is to be written. */
static int prepare_stages(struct emitter *emitter, struct tkb_error *err)
{
	for (size_t i = 0; i < emitter->job_count; i++) {
		struct job *job = &emitter->jobs[i];
		struct tkb_stage *stage = &emitter->stages[job->root];
		struct tkb_error fault = { 0 };
		int rc;

		if (job->is_done || stage->fd >= 0)
			continue;
		rc = tkb_stage_open(stage, &fault);
		if (rc < 0 && is_refusal(errno)) {
			if (err != NULL)
				*err = fault;
			return rc;
		}
		if (rc < 0)
			rc = fail_job(emitter, job, rc, &fault, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static struct tkb_install install_of(struct emitter *emitter,
                                     const struct job *job)
{
	return (struct tkb_install){
		.stage = &emitter->stages[job->root],
		.entry = entry_of(emitter, job),
		.number = (size_t)(job - emitter->jobs),
	};
}

static int publish_job(struct emitter *emitter, struct tkb_loader *loader,
                       struct job *job, struct tkb_error *err)
{
	const struct tkb_install install = install_of(emitter, job);
	enum tkb_outcome outcome = TKB_FAILED;
	struct tkb_error fault = { 0 };
	int rc;

	rc = tkb_install_publish(&install, loader, job->state, &outcome,
	                         &fault);
	if (rc < 0)
		return fail_job(emitter, job, rc, &fault, err);
	if (outcome == TKB_SKIPPED)
		finish_job(emitter, job, outcome, TKB_REASON_BUSY,
		           "a compiler is writing there");
	else
		finish_job(emitter, job, outcome, TKB_REASON_NONE, "");
	return 0;
}

/* Stage entry `index` at each root that wants it. */
static int stage_entry(struct emitter *emitter, struct tkb_loader *loader,
                       size_t index, const struct tkb_bytes *files,
                       struct tkb_error *err)
{
	struct tkb_install twin = { 0 };
	bool has_twin = false;
	int rc;

	for (size_t i = emitter->first_jobs[index];
	     i < emitter->first_jobs[index + 1]; i++) {
		struct job *job = &emitter->jobs[i];
		const struct tkb_install install = install_of(emitter, job);
		struct tkb_error fault = { 0 };
		uint64_t written = 0;

		if (job->is_done || job->state == TKB_PLACE_MOVED)
			continue;
		rc = tkb_install_stage(&install, loader, files,
		                       has_twin ? &twin : NULL, &written,
		                       &fault);
		if (rc < 0) {
			rc = fail_job(emitter, job, rc, &fault, err);
			if (rc < 0)
				return rc;
			continue;
		}
		job->is_staged = true;
		twin = install;
		has_twin = true;
		(void)pthread_mutex_lock(&emitter->watcher.lock);
		emitter->report.size += written;
		(void)pthread_mutex_unlock(&emitter->watcher.lock);
	}
	return 0;
}

static int publish_entry(struct emitter *emitter, struct tkb_loader *loader,
                         size_t index, struct tkb_error *err)
{
	int rc;

	for (size_t i = emitter->first_jobs[index];
	     i < emitter->first_jobs[index + 1]; i++) {
		struct job *job = &emitter->jobs[i];

		if (job->is_done || !job->is_staged)
			continue;
		rc = publish_job(emitter, loader, job, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool needs_bytes(const struct emitter *emitter, size_t index)
{
	for (size_t i = emitter->first_jobs[index];
	     i < emitter->first_jobs[index + 1]; i++) {
		if (!emitter->jobs[i].is_done &&
		    emitter->jobs[i].state != TKB_PLACE_MOVED)
			return true;
	}
	return false;
}

/* All that was to come out of a damaged frame has failed. */
static int fail_frame(struct emitter *emitter, const struct tkb_frame *frame,
                      int cause, const struct tkb_error *fault,
                      struct tkb_error *err)
{
	int rc;

	for (size_t i = 0; i < frame->entry_count; i++) {
		const size_t index = frame->entries[i];

		for (size_t j = emitter->first_jobs[index];
		     j < emitter->first_jobs[index + 1]; j++) {
			struct job *job = &emitter->jobs[j];

			if (job->is_done || job->state == TKB_PLACE_MOVED)
				continue;
			rc = fail_job(emitter, job, cause, fault, err);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static int emit_decoded(struct emitter *emitter, size_t worker,
                        const struct tkb_frame *frame, struct tkb_error *err)
{
	const struct tkb_decoder *decoder = &emitter->decoders[worker];
	struct tkb_loader *loader = &emitter->loaders[worker];
	int rc;

	for (size_t i = 0; i < frame->entry_count; i++) {
		const size_t index = frame->entries[i];

		if (!needs_bytes(emitter, index))
			continue;
		rc = tkb_watcher_check(&emitter->watcher, err);
		if (rc < 0)
			return rc;
		rc = stage_entry(emitter, loader, index,
		                 decoder->files + decoder->firsts[i], err);
		if (rc < 0)
			return rc;
		if (emitter->options->sync)
			continue;
		rc = publish_entry(emitter, loader, index, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int emit_frame(void *self, size_t worker, size_t index,
                      struct tkb_error *err)
{
	struct emitter *emitter = self;
	const struct tkb_frame *frame = &emitter->bundle->frames[index];
	struct tkb_error fault = { 0 };
	bool wanted = false;
	int rc;

	for (size_t i = 0; i < frame->entry_count && !wanted; i++)
		wanted = needs_bytes(emitter, frame->entries[i]);
	if (!wanted)
		return 0;
	rc = tkb_watcher_check(&emitter->watcher, err);
	if (rc < 0)
		return rc;
	rc = tkb_decoder_decode(&emitter->decoders[worker], emitter->bundle,
	                        index, &fault);
	if (rc < 0) {
		if (rc == TKB_ERR_CORRUPT)
			fault.reason = TKB_REASON_DAMAGED;
		return fail_frame(emitter, frame, rc, &fault, err);
	}
	return emit_decoded(emitter, worker, frame, err);
}

static int readdress_one(void *self, size_t worker, size_t index,
                         struct tkb_error *err)
{
	struct emitter *emitter = self;
	struct job *job = &emitter->jobs[index];
	const struct tkb_install install = install_of(emitter, job);
	struct tkb_error fault = { 0 };
	int rc;

	if (job->is_done || job->state != TKB_PLACE_MOVED)
		return 0;
	rc = tkb_install_readdress(&install, &emitter->loaders[worker], &fault);
	if (rc < 0)
		return fail_job(emitter, job, rc, &fault, err);
	finish_job(emitter, job, TKB_REPAIRED, TKB_REASON_NONE, "");
	return 0;
}

static int publish_one(void *self, size_t worker, size_t index,
                       struct tkb_error *err)
{
	struct emitter *emitter = self;

	return publish_entry(emitter, &emitter->loaders[worker], index, err);
}

static int sync_roots(struct emitter *emitter, struct tkb_error *err)
{
	for (size_t i = 0; i < emitter->roots.count; i++) {
		if (emitter->roots.items[i].fd >= 0 &&
		    syncfs(emitter->roots.items[i].fd) < 0)
			return tkb_fail_errno(err, "cannot sync '%s'",
			                      emitter->roots.items[i].path);
	}
	return 0;
}

static int write_all(struct emitter *emitter, struct tkb_error *err)
{
	const struct tkb_parallel_work frames = { emit_frame, emitter };
	const struct tkb_parallel_work moved = { readdress_one, emitter };
	const struct tkb_parallel_work staged = { publish_one, emitter };
	const size_t threads = emitter->thread_count;
	int rc;

	rc = prepare_stages(emitter, err);
	if (rc < 0)
		return rc;
	rc = tkb_parallel(emitter->job_count, threads, &moved, err);
	if (rc < 0)
		return rc;
	rc = tkb_parallel(emitter->bundle->frame_count, threads, &frames, err);
	if (rc < 0 || !emitter->options->sync)
		return rc;

	rc = sync_roots(emitter, err);
	if (rc < 0)
		return rc;
	rc = tkb_parallel(emitter->bundle->manifest.entry_count, threads,
	                  &staged, err);
	if (rc < 0)
		return rc;
	return sync_roots(emitter, err);
}

static bool is_settled(const struct emitter *emitter)
{
	for (size_t i = 0; i < emitter->job_count; i++) {
		if (!emitter->jobs[i].is_done)
			return false;
	}
	return true;
}

/* Only an emit of all that is whole afterwards says something of a bundle. */
static void mark_trusted(const struct emitter *emitter)
{
	const struct tkb_emit_report *report = &emitter->report;

	if (emitter->options->dry_run || emitter->options->key_count != 0 ||
	    emitter->options->target_count != 0 || report->failed_count != 0 ||
	    report->damaged_count != 0 || report->unsafe_count != 0 ||
	    report->busy_count != 0)
		return;
	for (size_t i = 0; i < emitter->stage_count; i++)
		tkb_stage_trust(&emitter->stages[i], &emitter->bundle->id);
}

static uint64_t job_bytes(const struct emitter *emitter)
{
	uint64_t total = 0;

	for (size_t i = 0; i < emitter->job_count; i++)
		total += tkb_entry_size(entry_of(emitter, &emitter->jobs[i]));
	return total;
}

static int emit(struct emitter *emitter, const char *path,
                struct tkb_error *err)
{
	const struct tkb_parallel_work look = { look_one, emitter };
	int rc;

	rc = choose_layout(emitter, path, err);
	if (rc < 0)
		return rc;
	rc = plan(emitter, path, err);
	if (rc != 0)
		return rc;
	emitter->watcher.total = job_bytes(emitter);
	rc = skip_twins(emitter, err);
	if (rc < 0)
		return rc;
	rc = open_stages(emitter, err);
	if (rc < 0)
		return rc;
	rc = open_loaders(emitter, err);
	if (rc < 0)
		return rc;
	rc = tkb_parallel(emitter->job_count, emitter->thread_count, &look,
	                  err);
	if (rc < 0 || is_settled(emitter))
		return rc;
	return write_all(emitter, err);
}

/* What is damaged is said once more, by the status. */
static int damage(const struct emitter *emitter, struct tkb_error *err)
{
	struct tkb_error fault = emitter->first_damage;

	if (fault.status == 0 && emitter->bundle->fault.status != 0) {
		fault = emitter->bundle->fault;
		(void)tkb_fail_while(&fault, TKB_ERR_CORRUPT, "'%s'",
		                     emitter->bundle->name);
	}
	if (fault.status == 0)
		return 0;
	if (err != NULL)
		*err = fault;
	return TKB_ERR_CORRUPT;
}

int tkb_emit(const struct tkb_bundle *bundle, const char *cache_root,
             const struct tkb_emit_options *options,
             struct tkb_emit_report *report, struct tkb_error *err)
{
	static const struct tkb_emit_options defaults = { 0 };
	TKB_AUTO(emitter_close) struct emitter emitter = { .bundle = bundle };
	struct tkb_error own = { 0 };
	int rc;

	emitter.options = options == NULL ? &defaults : options;
	tkb_watcher_init(&emitter.watcher, &emitter.options->watch, 0);
	rc = emit(&emitter, cache_root, &own);
	if (rc != 0) {
		if (err != NULL)
			*err = own;
		return rc;
	}
	mark_trusted(&emitter);
	if (report != NULL)
		*report = emitter.report;
	return damage(&emitter, err);
}
