/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/collect.h>

#include <libgen.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/draft.h"
#include "base/fd.h"
#include "base/parallel.h"
#include "base/spool.h"
#include "bundle/cache.h"
#include "bundle/frame.h"
#include "bundle/manifest.h"
#include "bundle/names.h"
#include "bundle/tar.h"
#include "bundle/watch.h"
#include "bundle/writer.h"

/*
 * The entries are sorted and cut into frames by what their folders say; then
 * each frame is read, checked and packed by one thread. If an entry turns out
 * to be bad there, all is cut and packed again without it: the bytes of a
 * bundle must not tell of an entry that is not in it.
 */

#define SPOOL_MEMORY ((size_t)8 * TKB_MIB)
#define FRAME_LIMIT ((size_t)4 * 1024 * TKB_MIB)

/* What one thread packs with. */
struct packing {
	struct tkb_packer packer;
	struct tkb_buf tar;
	struct tkb_buf packed;
	struct tkb_member *members; /* owned */
	size_t member_capacity;
};

struct collector {
	const struct tkb_collect_options *options;
	struct tkb_cache *cache;
	struct tkb_watcher watcher;
	struct tkb_spool spool;
	struct packing *packings;         /* owned; one a loader */
	const struct tkb_entry **entries; /* owned */
	struct tkb_error **faults; /* owned; of an entry that fails, why */
	struct tkb_cut *cuts;      /* owned */
	struct tkb_frame *frames;  /* owned */
	struct tkb_piece *pieces;  /* owned */
	uint32_t *indices;  /* owned; what the frames' entries point to */
	size_t fault_count; /* as many as entries */
	size_t frame_count;
};

static void drop_frames(struct collector *collector)
{
	for (size_t i = 0; i < collector->frame_count; i++)
		tkb_piece_release(&collector->pieces[i]);
	free(tkb_take(collector->pieces));
	free(tkb_take(collector->frames));
	free(tkb_take(collector->indices));
	free(tkb_take(collector->cuts));
	free(tkb_take(collector->entries));
	for (size_t i = 0;
	     collector->faults != NULL && i < collector->fault_count; i++)
		free(collector->faults[i]);
	free(tkb_take(collector->faults));
	collector->frame_count = 0;
}

/* What frames were packed with is more than what is left to do needs. */
static void release_buffers(struct collector *collector)
{
	for (size_t i = 0;
	     collector->packings != NULL && i < collector->cache->loader_count;
	     i++) {
		tkb_buf_release(&collector->packings[i].tar);
		tkb_buf_release(&collector->packings[i].packed);
		free(tkb_take(collector->packings[i].members));
		collector->packings[i].member_capacity = 0;
	}
}

static void collector_close(struct collector *collector)
{
	drop_frames(collector);
	release_buffers(collector);
	for (size_t i = 0;
	     collector->packings != NULL && i < collector->cache->loader_count;
	     i++)
		tkb_packer_close(&collector->packings[i].packer);
	free(collector->packings);
	tkb_cache_close(collector->cache);
	tkb_spool_release(&collector->spool);
	tkb_watcher_release(&collector->watcher);
}

static int add_members(struct packing *packing,
                       const struct collector *collector,
                       const struct tkb_cut *cut, size_t *count_out,
                       struct tkb_error *err)
{
	size_t count = 0;
	int rc;

	for (size_t i = cut->first; i < cut->first + cut->count; i++) {
		const struct tkb_entry *entry = collector->entries[i];

		for (size_t j = 0; j < entry->file_count; j++) {
			rc = tkb_grow(&packing->members,
			              &packing->member_capacity, count,
			              sizeof(*packing->members), err);
			if (rc < 0)
				return rc;
			packing->members[count++] = (struct tkb_member){
				.entry = entry, .entry_index = i, .file = j
			};
		}
	}
	tkb_members_sort(packing->members, count);
	*count_out = count;
	return 0;
}

/* Note a fault of one entry; what concerns them all is passed on. */
static int note_fault(struct collector *collector, size_t entry, int rc,
                      const struct tkb_error *fault, struct tkb_error *err)
{
	if (rc >= 0)
		return 0;
	if (!tkb_failure_is_of_entry(rc, fault)) {
		if (err != NULL)
			*err = *fault;
		return rc;
	}
	collector->faults[entry] = malloc(sizeof(*fault));
	if (collector->faults[entry] == NULL)
		return tkb_fail_nomem(err);
	*collector->faults[entry] = *fault;
	return 0;
}

static int pack_member(struct collector *collector, struct tkb_loader *loader,
                       struct tkb_tar_writer *tar,
                       const struct tkb_member *member, struct tkb_error *err)
{
	const struct tkb_found *found =
		&collector->cache->found[member->entry_index];
	char path[TKB_MEMBER_PATH_SIZE];
	struct tkb_error fault = { 0 };
	struct tkb_bytes bytes;
	int rc;

	if (collector->faults[member->entry_index] != NULL)
		return 0;
	rc = tkb_found_read(loader, found, member->file, &bytes, &fault);
	if (rc < 0)
		return note_fault(collector, member->entry_index, rc, &fault,
		                  err);
	tkb_member_path(member, path);
	return tkb_tar_writer_add(tar, path, bytes, err);
}

/* Did anything change while it was read? */
static int check_frame(struct collector *collector, struct tkb_loader *loader,
                       const struct tkb_cut *cut, bool *is_good,
                       struct tkb_error *err)
{
	int rc;

	for (size_t i = cut->first; i < cut->first + cut->count; i++) {
		struct tkb_error fault = { 0 };

		if (collector->faults[i] == NULL) {
			rc = tkb_found_check(
				loader, &collector->cache->found[i], &fault);
			rc = note_fault(collector, i, rc, &fault, err);
			if (rc < 0)
				return rc;
		}
		if (collector->faults[i] != NULL)
			*is_good = false;
		tkb_watcher_progress(&collector->watcher,
		                     tkb_entry_size(collector->entries[i]));
	}
	return 0;
}

static int pack_tar(struct collector *collector, struct tkb_loader *loader,
                    struct packing *packing, size_t index,
                    struct tkb_error *err)
{
	struct tkb_frame *frame = &collector->frames[index];
	int rc;

	tkb_buf_reset(&packing->packed);
	rc = tkb_packer_pack(&packing->packer, tkb_buf_bytes(&packing->tar),
	                     &packing->packed, err);
	if (rc < 0)
		return rc;
	frame->size = packing->tar.size;
	frame->packed_size = packing->packed.size;
	rc = tkb_hasher_digest(&loader->hasher, tkb_buf_bytes(&packing->packed),
	                       &frame->digest, err);
	if (rc < 0)
		return rc;
	return tkb_spool_put(&collector->spool, tkb_buf_bytes(&packing->packed),
	                     &collector->pieces[index], err);
}

static int pack_frame(void *self, size_t worker, size_t index,
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_tar_writer_close) struct tkb_tar_writer tar = { 0 };
	struct collector *collector = self;
	struct tkb_loader *loader = &collector->cache->loaders[worker];
	struct packing *packing = &collector->packings[worker];
	const struct tkb_cut *cut = &collector->cuts[index];
	bool is_good = true;
	size_t count = 0;
	int rc;

	rc = tkb_watcher_check(&collector->watcher, err);
	if (rc < 0)
		return rc;
	rc = add_members(packing, collector, cut, &count, err);
	if (rc < 0)
		return rc;
	tkb_buf_reset(&packing->tar);
	rc = tkb_tar_writer_open(&tar, &packing->tar, err);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = pack_member(collector, loader, &tar, &packing->members[i],
		                 err);
	if (rc < 0)
		return rc;
	rc = check_frame(collector, loader, cut, &is_good, err);
	if (rc < 0 || !is_good || collector->options->dry_run)
		return rc;
	return pack_tar(collector, loader, packing, index, err);
}

static int plan_frames(struct collector *collector, struct tkb_error *err)
{
	const size_t count = collector->cache->found_count;
	int rc;

	collector->entries =
		tkb_alloc_array(count, sizeof(*collector->entries));
	collector->faults = tkb_alloc_array(count, sizeof(*collector->faults));
	collector->fault_count = count;
	collector->indices =
		tkb_alloc_array(count, sizeof(*collector->indices));
	if (collector->entries == NULL || collector->faults == NULL ||
	    collector->indices == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		collector->entries[i] = &collector->cache->found[i].entry;
		collector->indices[i] = (uint32_t)i;
	}

	rc = tkb_cut_frames(collector->entries, count, &collector->cuts,
	                    &collector->frame_count, err);
	if (rc < 0)
		return rc;
	collector->frames = tkb_alloc_array(collector->frame_count,
	                                    sizeof(*collector->frames));
	collector->pieces = tkb_alloc_array(collector->frame_count,
	                                    sizeof(*collector->pieces));
	if (collector->frames == NULL || collector->pieces == NULL) {
		collector->frame_count = 0;
		return tkb_fail_nomem(err);
	}
	for (size_t i = 0; i < collector->frame_count; i++) {
		collector->frames[i].entries =
			collector->indices + collector->cuts[i].first;
		collector->frames[i].entry_count = collector->cuts[i].count;
	}
	return 0;
}

/* Take out the entries that turned out to be bad. */
static int drop_bad_entries(struct collector *collector, bool *dropped,
                            struct tkb_error *err)
{
	struct tkb_cache *cache = collector->cache;
	size_t kept = 0;
	int rc;

	*dropped = false;
	for (size_t i = 0; i < cache->found_count; i++) {
		if (collector->faults[i] == NULL) {
			cache->found[kept++] = cache->found[i];
			continue;
		}
		*dropped = true;
		rc = tkb_cache_leave_out(cache, cache->found[i].root->path,
		                         cache->found[i].entry.key,
		                         collector->faults[i], err);
		if (rc < 0)
			return rc;
	}
	cache->found_count = kept;
	return 0;
}

/* Each round is as much work as there are entries left. */
static void add_to_total(struct collector *collector)
{
	for (size_t i = 0; i < collector->cache->found_count; i++)
		collector->watcher.total +=
			tkb_entry_size(&collector->cache->found[i].entry);
}

static int pack(struct collector *collector, struct tkb_error *err)
{
	const struct tkb_parallel_work work = { pack_frame, collector };
	bool again = true;
	int rc;

	while (again) {
		add_to_total(collector);
		drop_frames(collector);
		rc = plan_frames(collector, err);
		if (rc < 0)
			return rc;
		rc = tkb_parallel(collector->frame_count,
		                  collector->cache->loader_count, &work, err);
		if (rc < 0)
			return rc;
		rc = drop_bad_entries(collector, &again, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static const char *profile_name(const struct collector *collector)
{
	return collector->options->profile == TKB_PROFILE_LEAN ? "lean"
	                                                       : "full";
}

/* A sink that counts what goes through it. */
struct meter {
	const struct tkb_sink *sink;
	uint64_t size;
};

static int meter_write(void *self, struct tkb_bytes bytes,
                       struct tkb_error *err)
{
	struct meter *meter = self;

	meter->size += bytes.size;
	return meter->sink->write(meter->sink->self, bytes, err);
}

/* The header frame's tar. */
static int write_header(struct collector *collector, struct tkb_bytes manifest,
                        struct tkb_buf *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_tar_writer_close) struct tkb_tar_writer tar = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf frames = TKB_BUF_INIT(TKB_FRAMES_SIZE_LIMIT);
	int rc;

	tkb_frames_write(collector->frames, collector->frame_count, &frames);
	rc = tkb_buf_check(&frames, err);
	if (rc < 0)
		return rc;
	tkb_buf_reset(out);
	rc = tkb_tar_writer_open(&tar, out, err);
	if (rc < 0)
		return rc;
	rc = tkb_tar_writer_add(&tar, TKB_MANIFEST_MEMBER, manifest, err);
	if (rc < 0)
		return rc;
	return tkb_tar_writer_add(&tar, TKB_FRAMES_MEMBER,
	                          tkb_buf_bytes(&frames), err);
}

static int send_header(struct collector *collector, struct tkb_bytes manifest,
                       const struct tkb_sink *sink,
                       struct tkb_digest *digest_out, struct tkb_error *err)
{
	struct packing *packing = &collector->packings[0];
	int rc;

	rc = write_header(collector, manifest, &packing->tar, err);
	if (rc < 0)
		return rc;
	tkb_buf_reset(&packing->packed);
	rc = tkb_packer_pack(&packing->packer, tkb_buf_bytes(&packing->tar),
	                     &packing->packed, err);
	if (rc < 0)
		return rc;
	rc = tkb_digest_of(tkb_buf_bytes(&packing->packed), digest_out, err);
	if (rc < 0)
		return rc;
	return sink->write(sink->self, tkb_buf_bytes(&packing->packed), err);
}

static int send_bundle(struct collector *collector, struct tkb_bytes manifest,
                       const struct tkb_sink *sink, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf end = TKB_BUF_INIT(TKB_END_SIZE);
	struct tkb_digest header;
	int rc;

	rc = send_header(collector, manifest, sink, &header, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < collector->frame_count; i++) {
		rc = tkb_spool_send(&collector->spool, &collector->pieces[i],
		                    sink, err);
		if (rc < 0)
			return rc;
	}
	tkb_end_write(&header, &end);
	rc = tkb_buf_check(&end, err);
	if (rc < 0)
		return rc;
	return sink->write(sink->self, tkb_buf_bytes(&end), err);
}

static int write_bundle(struct collector *collector,
                        const struct tkb_sink *sink,
                        struct tkb_collect_report *report,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf manifest = TKB_BUF_INIT(TKB_MANIFEST_SIZE_LIMIT);
	struct meter meter = { .sink = sink };
	const struct tkb_sink metered = { meter_write, &meter };
	int rc;

	if (collector->cache->found_count > TKB_ENTRIES_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "%zu entries, a bundle holds at most %d",
		                collector->cache->found_count,
		                TKB_ENTRIES_LIMIT);
	tkb_manifest_write(collector->entries, collector->cache->found_count,
	                   profile_name(collector), &manifest);
	rc = tkb_buf_check(&manifest, err);
	if (rc < 0)
		return tkb_fail_while(err, rc, "the manifest");
	rc = tkb_digest_of(tkb_buf_bytes(&manifest), &report->id, err);
	if (rc < 0 || sink == NULL)
		return rc; /* only in a dry run */
	rc = send_bundle(collector, tkb_buf_bytes(&manifest), &metered, err);
	report->bundle_size = meter.size;
	return rc;
}

static void fill_report(const struct collector *collector,
                        struct tkb_collect_report *report)
{
	const struct tkb_cache *cache = collector->cache;

	report->is_inductor = cache->roots.is_inductor;
	report->collected_count = cache->found_count;
	report->left_out_count = cache->left_out_count;
	report->unfinished_count = cache->unfinished_count;
	report->stray_count = cache->stray_count;
	for (size_t i = 0; i < cache->found_count; i++) {
		const struct tkb_found *found = &cache->found[i];

		report->moved_count += found->is_moved;
		report->file_count += found->entry.file_count;
		report->size += tkb_entry_size(&found->entry);
	}
}

static void tell_results(struct collector *collector)
{
	const struct tkb_cache *cache = collector->cache;

	for (size_t i = 0; i < cache->found_count; i++) {
		const struct tkb_found *found = &cache->found[i];
		const struct tkb_result result = { .root = found->root->path,
			                           .key = found->entry.key,
			                           .name = found->entry.name,
			                           .outcome = TKB_COLLECTED,
			                           .message = "" };

		tkb_watcher_result(&collector->watcher, &result);
	}
	for (size_t i = 0; i < cache->left_out_count; i++) {
		const struct tkb_left_out *left_out = &cache->left_out[i];
		const struct tkb_result result = {
			.root = left_out->root,
			.key = left_out->key,
			.name = "",
			.outcome = TKB_LEFT_OUT,
			.reason = left_out->reason,
			.message = left_out->message,
		};

		tkb_watcher_result(&collector->watcher, &result);
	}
}

static int open_collector(struct collector *collector, const char *cache_root,
                          struct tkb_error *err)
{
	const struct tkb_collect_options *options = collector->options;
	const struct tkb_cache_options choices = {
		.keys = options->keys,
		.key_count = options->key_count,
		.has_device = options->has_device,
		.device = options->device,
		.no_modules = options->no_modules,
		.lean = options->profile == TKB_PROFILE_LEAN,
		.threads = options->threads,
		.watch = &options->watch,
	};
	size_t count;
	int rc;

	rc = tkb_cache_open(cache_root, &choices, &collector->cache, err);
	if (rc != 0)
		return rc;
	count = collector->cache->loader_count;
	collector->packings =
		tkb_alloc_array(count, sizeof(*collector->packings));
	if (collector->packings == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		collector->packings[i].tar.limit = FRAME_LIMIT;
		collector->packings[i].packed.limit = FRAME_LIMIT;
	}
	return 0;
}

/* `folder` is where a large bundle waits until its header can be written. */
static int collect(const char *cache_root,
                   const struct tkb_collect_options *options,
                   const struct tkb_sink *sink, const char *folder,
                   struct tkb_collect_report *report, struct tkb_error *err)
{
	TKB_AUTO(collector_close)
	struct collector collector = { .options = options };
	struct tkb_collect_report own = { 0 };
	int rc;

	tkb_watcher_init(&collector.watcher, &options->watch, 0);
	tkb_spool_init(&collector.spool, folder, SPOOL_MEMORY);
	rc = open_collector(&collector, cache_root, err);
	if (rc != 0)
		return rc;
	rc = pack(&collector, err);
	if (rc < 0)
		return rc;
	release_buffers(&collector);

	fill_report(&collector, &own);
	tell_results(&collector);
	if (options->strict && own.left_out_count != 0)
		rc = tkb_fail(err, TKB_ERR_LEFT_OUT,
		              own.left_out_count == 1
		                      ? "%llu entry would be left out"
		                      : "%llu entries would be left out",
		              (unsigned long long)own.left_out_count);
	else
		rc = write_bundle(&collector, options->dry_run ? NULL : sink,
		                  &own, err);
	if ((rc == 0 || rc == TKB_ERR_LEFT_OUT) && report != NULL)
		*report = own;
	return rc;
}

static const struct tkb_collect_options defaults = { 0 };

int tkb_collect(const char *cache_root,
                const struct tkb_collect_options *options,
                const struct tkb_sink *sink, struct tkb_collect_report *report,
                struct tkb_error *err)
{
	if (options == NULL)
		options = &defaults;
	if (sink == NULL && !options->dry_run)
		return tkb_fail(err, TKB_ERR_INVALID, "there is no sink");
	return collect(cache_root, options, sink, NULL, report, err);
}

struct file_sink {
	const struct tkb_draft *draft;
	const char *path;
};

static int write_to_draft(void *self, struct tkb_bytes bytes,
                          struct tkb_error *err)
{
	const struct file_sink *file = self;

	return tkb_fd_write_all(file->draft->fd, bytes, file->path, err);
}

int tkb_collect_to_file(const char *cache_root,
                        const struct tkb_collect_options *options,
                        const char *path, struct tkb_collect_report *report,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_draft_discard) struct tkb_draft draft = TKB_DRAFT_INIT;
	TKB_AUTO(tkb_free_at) char *copy = NULL;
	struct file_sink file = { &draft, path };
	const struct tkb_sink sink = { write_to_draft, &file };
	int rc;

	if (options == NULL)
		options = &defaults;
	if (options->dry_run)
		return collect(cache_root, options, NULL, NULL, report, err);
	copy = strdup(path);
	if (copy == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_draft_open(&draft, path, err);
	if (rc < 0)
		return rc;
	rc = collect(cache_root, options, &sink, dirname(copy), report, err);
	if (rc != 0)
		return rc;
	return tkb_draft_publish(&draft, err);
}
