/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/pack.h"

#include <stdlib.h>

#include "base/digest.h"
#include "base/parallel.h"
#include "format/frame.h"
#include "format/tar.h"

/* What one thread needs to pack. */
struct tkb_packing {
	struct tkb_packer packer;
	struct tkb_buf slices[TKB_SLICES_WRITTEN]; /* of its frame */
	struct tkb_buf tar;
	struct tkb_buf packed;
	struct tkb_member *members; /* owned */
	size_t member_capacity;
};

void tkb_pack_init(struct tkb_pack *pack, struct tkb_watcher *watcher,
                   const char *folder)
{
	*pack = (struct tkb_pack){ .watcher = watcher,
		                   .hold = TKB_BLOB_BUFFER_INIT(UINT64_MAX) };
	pack->hold.folder = folder;
}

static void drop_frames(struct tkb_pack *pack)
{
	for (size_t i = 0; i < pack->fault_count; i++)
		free(pack->faults[i]);
	free(tkb_take(pack->offsets));
	free(tkb_take(pack->frames));
	free(tkb_take(pack->indices));
	free(tkb_take(pack->cuts));
	free(tkb_take(pack->order));
	free(tkb_take(pack->items));
	free(tkb_take(pack->payloads));
	free(tkb_take(pack->launchers));
	free(tkb_take(pack->dropped));
	free(tkb_take(pack->faults));
	tkb_arena_release(&pack->arena);
	tkb_blob_buffer_reset(&pack->hold);
	pack->frame_count = 0;
	pack->fault_count = 0;
}

static void release_buffers(struct tkb_packing *packing)
{
	tkb_buf_release(&packing->tar);
	tkb_buf_release(&packing->packed);
	for (size_t i = 0; i < TKB_SLICES_WRITTEN; i++)
		tkb_buf_release(&packing->slices[i]);
}

/* Free the memory that only packing needs as soon as possible: it is large. */
static void release_packings(struct tkb_pack *pack)
{
	for (size_t i = 0; i < pack->packing_count; i++) {
		tkb_packer_close(&pack->packings[i].packer);
		release_buffers(&pack->packings[i]);
		free(pack->packings[i].members);
	}
	free(tkb_take(pack->packings));
	pack->packing_count = 0;
}

static int open_packings(struct tkb_pack *pack, struct tkb_error *err)
{
	const size_t count = pack->cache->loader_count;

	pack->packings = tkb_alloc_array(count, sizeof(*pack->packings));
	if (pack->packings == NULL)
		return tkb_fail_nomem(err);
	pack->packing_count = count;
	for (size_t i = 0; i < count; i++) {
		pack->packings[i].packer.level = pack->level;
		pack->packings[i].tar.limit = TKB_FRAME_SIZE_LIMIT;
		pack->packings[i].packed.limit = TKB_FRAME_PACKED_LIMIT;
		for (size_t j = 0; j < TKB_SLICES_WRITTEN; j++)
			pack->packings[i].slices[j].limit =
				TKB_FRAME_PACKED_LIMIT;
	}
	return 0;
}

void tkb_pack_close(struct tkb_pack *pack)
{
	drop_frames(pack);
	release_packings(pack);
	tkb_blob_buffer_release(&pack->hold);
}

static int add_members(struct tkb_packing *packing, const struct tkb_pack *pack,
                       const struct tkb_cut *cut, size_t *count_out,
                       struct tkb_error *err)
{
	size_t count = 0;
	int rc;

	for (size_t i = cut->first; i < cut->first + cut->count; i++) {
		const struct tkb_entry *entry = pack->items[i];

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

/* Keep a failure of one entry, and return 0. Any other failure is returned. */
static int keep_fault(struct tkb_pack *pack, size_t entry, int rc,
                      const struct tkb_error *fault, struct tkb_error *err)
{
	if (rc >= 0)
		return 0;
	if (!tkb_failure_is_of_entry(rc, fault))
		return tkb_fail_as(err, rc, fault);
	pack->faults[entry] = malloc(sizeof(*fault));
	if (pack->faults[entry] == NULL)
		return tkb_fail_nomem(err);
	*pack->faults[entry] = *fault;
	return 0;
}

/* The bytes of a member; in a dry run there may be none, as nobody needs them. */
static int read_member(struct tkb_pack *pack, struct tkb_loader *loader,
                       const struct tkb_member *member, struct tkb_bytes *out,
                       struct tkb_error *err)
{
	const size_t found_count = pack->cache->found_count;
	const size_t item = member->entry_index;
	const struct tkb_scanned_entry *found;

	if (item >= found_count) {
		*out = pack->payloads[item - found_count];
		return 0;
	}
	found = &pack->cache->found[item];
	return pack->is_dry_run
	               ? tkb_scanned_entry_hash(loader, found, member->file,
	                                        err)
	               : tkb_scanned_entry_read(loader, found, member->file,
	                                        out, err);
}

static int pack_member(struct tkb_pack *pack, struct tkb_loader *loader,
                       struct tkb_buf *tar, const struct tkb_member *member,
                       struct tkb_error *err)
{
	const size_t item = member->entry_index;
	char path[TKB_MEMBER_PATH_SIZE];
	struct tkb_error fault = { 0 };
	struct tkb_bytes bytes = { 0 };
	int rc;

	if (pack->faults[item] != NULL)
		return 0;
	rc = read_member(pack, loader, member, &bytes, &fault);
	if (rc < 0)
		return keep_fault(pack, item, rc, &fault, err);
	if (pack->is_dry_run)
		return 0;
	tkb_member_path(member, path);
	tkb_tar_add(tar, path, bytes);
	return tkb_buf_check(tar, err);
}

/* Check that no file changed while the frame was read. */
static int check_frame(struct tkb_pack *pack, struct tkb_loader *loader,
                       const struct tkb_cut *cut, bool *is_good,
                       struct tkb_error *err)
{
	int rc;

	for (size_t i = cut->first; i < cut->first + cut->count; i++) {
		struct tkb_error fault = { 0 };

		if (pack->faults[i] == NULL && i < pack->cache->found_count) {
			rc = tkb_scanned_entry_check(
				loader, &pack->cache->found[i], &fault);
			rc = keep_fault(pack, i, rc, &fault, err);
			if (rc < 0)
				return rc;
		}
		if (pack->faults[i] != NULL)
			*is_good = false;
		tkb_watcher_progress(pack->watcher,
		                     tkb_entry_size(pack->items[i]));
	}
	return 0;
}

/* A frame whose slices the team packs. */
struct slicing {
	struct tkb_pack *pack;
	struct tkb_packing *packing; /* the frame's */
	size_t count;
};

static int pack_slice(void *self, size_t worker, size_t index,
                      struct tkb_error *err)
{
	const struct slicing *slicing = self;
	const struct tkb_bytes tar = tkb_buf_bytes(&slicing->packing->tar);
	const size_t size = (tar.size + slicing->count - 1) / slicing->count;
	const size_t from = index * size;
	const size_t to = from + size < tar.size ? from + size : tar.size;
	struct tkb_buf *out = &slicing->packing->slices[index];

	tkb_buf_reset(out);
	return tkb_packer_pack(&slicing->pack->packings[worker].packer,
	                       tkb_bytes_slice(tar, from, to), out, err);
}

static int compress(struct tkb_pack *pack, size_t worker, size_t slice_count,
                    struct tkb_error *err)
{
	struct tkb_packing *packing = &pack->packings[worker];
	struct slicing slicing = { pack, packing, slice_count };
	const struct tkb_parallel_work part = { pack_slice, &slicing };
	int rc;

	tkb_buf_reset(&packing->packed);
	rc = tkb_parallel_share(pack->team, worker, slice_count, &part, err);
	for (size_t i = 0; i < slice_count && rc == 0; i++) {
		tkb_buf_add(&packing->packed,
		            tkb_buf_bytes(&packing->slices[i]));
		if (packing->tar.size > TKB_FRAME_LARGE)
			tkb_buf_release(&packing->slices[i]);
	}
	return rc < 0 ? rc : tkb_buf_check(&packing->packed, err);
}

static int pack_tar(struct tkb_pack *pack, struct tkb_loader *loader,
                    size_t worker, size_t index, struct tkb_error *err)
{
	struct tkb_packing *packing = &pack->packings[worker];
	struct tkb_frame *frame = &pack->frames[index];
	int rc;

	rc = compress(pack, worker, pack->cuts[index].slice_count, err);
	if (rc < 0)
		return rc;
	frame->size = packing->tar.size;
	frame->packed_size = packing->packed.size;
	rc = tkb_hasher_digest(&loader->hasher, tkb_buf_bytes(&packing->packed),
	                       &frame->digest, err);
	if (rc < 0)
		return rc;
	return tkb_blob_buffer_put(&pack->hold, tkb_buf_bytes(&packing->packed),
	                           &pack->offsets[index], err);
}

static int pack_frame(struct tkb_pack *pack, size_t worker, size_t index,
                      struct tkb_error *err)
{
	struct tkb_loader *loader = &pack->cache->loaders[worker];
	struct tkb_packing *packing = &pack->packings[worker];
	const struct tkb_cut *cut = &pack->cuts[index];
	bool is_good = true;
	size_t count = 0;
	int rc;

	rc = tkb_watcher_check(pack->watcher, err);
	if (rc < 0)
		return rc;
	rc = add_members(packing, pack, cut, &count, err);
	if (rc < 0)
		return rc;
	tkb_buf_reset(&packing->tar);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = pack_member(pack, loader, &packing->tar,
		                 &packing->members[i], err);
	/* The tar has what was read; compressing a large one takes as much again. */
	if (cut->size > TKB_FRAME_LARGE)
		tkb_buf_release(&loader->scratch);
	if (rc < 0)
		return rc;
	rc = check_frame(pack, loader, cut, &is_good, err);
	if (rc < 0 || !is_good || pack->is_dry_run)
		return rc;
	return pack_tar(pack, loader, worker, index, err);
}

/* Pack the frame number `nth` in order of size; of large ones, one at a time. */
static int pack_nth(void *self, size_t worker, size_t nth,
                    struct tkb_error *err)
{
	struct tkb_pack *pack = self;
	const size_t index = pack->order[nth];
	int rc;

	if (pack->cuts[index].size <= TKB_FRAME_LARGE)
		return pack_frame(pack, worker, index, err);
	tkb_parallel_hold(pack->team, worker);
	rc = pack_frame(pack, worker, index, err);
	release_buffers(&pack->packings[worker]);
	tkb_parallel_let_go(pack->team);
	return rc;
}

static int list_packed_items(struct tkb_pack *pack, struct tkb_error *err)
{
	int rc;

	rc = tkb_pack_choose(pack, err);
	if (rc < 0)
		return rc;
	pack->faults = tkb_alloc_array(pack->item_count, sizeof(*pack->faults));
	pack->indices =
		tkb_alloc_array(pack->item_count, sizeof(*pack->indices));
	if (pack->faults == NULL || pack->indices == NULL)
		return tkb_fail_nomem(err);
	pack->fault_count = pack->item_count;
	for (size_t i = 0; i < pack->item_count; i++)
		pack->indices[i] = (uint32_t)i;
	return 0;
}

static int order_frames(struct tkb_pack *pack, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	uint64_t *sizes = tkb_alloc_array(pack->frame_count, sizeof(*sizes));

	if (sizes == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < pack->frame_count; i++)
		sizes[i] = pack->cuts[i].size;
	pack->order = tkb_largest_first(sizes, pack->frame_count);
	return pack->order != NULL ? 0 : tkb_fail_nomem(err);
}

static int plan_frames(struct tkb_pack *pack, struct tkb_error *err)
{
	size_t count = 0;
	int rc;

	rc = list_packed_items(pack, err);
	if (rc < 0)
		return rc;
	rc = tkb_cut_frames(pack->items, pack->item_count, &pack->cuts, &count,
	                    err);
	if (rc < 0)
		return rc;
	pack->frames = tkb_alloc_array(count, sizeof(*pack->frames));
	pack->offsets = tkb_alloc_array(count, sizeof(*pack->offsets));
	if (pack->frames == NULL || pack->offsets == NULL)
		return tkb_fail_nomem(err);
	pack->frame_count = count;
	for (size_t i = 0; i < count; i++) {
		pack->frames[i].entries = pack->indices + pack->cuts[i].first;
		pack->frames[i].entry_count = pack->cuts[i].count;
		pack->frames[i].is_sliced = pack->cuts[i].slice_count > 1;
	}
	return order_frames(pack, err);
}

/* Move the entries that turned out to be bad to the left-out ones. */
static int drop_bad_entries(struct tkb_pack *pack, bool *dropped,
                            struct tkb_error *err)
{
	struct tkb_cache *cache = pack->cache;
	size_t kept = 0;
	int rc;

	*dropped = false;
	for (size_t i = 0; i < cache->found_count; i++) {
		if (pack->faults[i] == NULL) {
			cache->found[kept++] = cache->found[i];
			continue;
		}
		*dropped = true;
		rc = tkb_cache_reject_found(cache, &cache->found[i],
		                            pack->faults[i], err);
		if (rc < 0)
			return rc;
	}
	cache->found_count = kept;
	return 0;
}

/* Each round reads all remaining items again. */
static void add_to_total(struct tkb_pack *pack)
{
	for (size_t i = 0; i < pack->item_count; i++)
		pack->watcher->total += tkb_entry_size(pack->items[i]);
}

static size_t count_slices(const struct tkb_pack *pack)
{
	size_t count = 0;

	for (size_t i = 0; i < pack->frame_count; i++)
		count += pack->cuts[i].slice_count;
	return count;
}

int tkb_pack(struct tkb_pack *pack, struct tkb_error *err)
{
	const struct tkb_parallel_work work = { pack_nth, pack };
	bool again = true;
	int rc;

	rc = open_packings(pack, err);
	if (rc < 0)
		return rc;
	while (again) {
		drop_frames(pack);
		rc = plan_frames(pack, err);
		if (rc < 0)
			return rc;
		add_to_total(pack);
		rc = tkb_parallel_in_parts(
			pack->frame_count, count_slices(pack),
			pack->packing_count, &work, &pack->team, err);
		if (rc < 0)
			return rc;
		rc = drop_bad_entries(pack, &again, err);
		if (rc < 0)
			return rc;
	}
	release_packings(pack);
	return 0;
}

int tkb_pack_send(void *self, size_t index, const struct tkb_sink *sink,
                  struct tkb_error *err)
{
	struct tkb_pack *pack = self;
	const int rc = tkb_watcher_check(pack->watcher, err);

	return rc < 0 ? rc
	              : tkb_blob_buffer_send(&pack->hold, pack->offsets[index],
	                                     pack->frames[index].packed_size,
	                                     sink, err);
}
