/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/path.h"
#include "cache/key.h"
#include "tree/unit.h"
#include "format/reader.h"
#include "format/launcher_payload.h"
#include "format/tar.h"

int tkb_decoder_open(struct tkb_decoder *decoder, struct tkb_error *err)
{
	*decoder = (struct tkb_decoder){
		.packed = TKB_BUF_INIT(TKB_FRAME_PACKED_LIMIT),
		.tar = TKB_BUF_INIT(TKB_FRAME_SIZE_LIMIT),
		.unpacker = { .has_digest = true }
	};
	return tkb_hasher_open(&decoder->hasher, err);
}

void tkb_decoder_close(struct tkb_decoder *decoder)
{
	tkb_hasher_close(&decoder->hasher);
	tkb_unpacker_close(&decoder->unpacker);
	tkb_buf_release(&decoder->packed);
	tkb_buf_release(&decoder->tar);
	free(decoder->members);
	free(decoder->files);
	free(decoder->firsts);
	*decoder = (struct tkb_decoder){ 0 };
}

int tkb_frame_read(const struct tkb_bundle *bundle,
                   const struct tkb_frame *frame, struct tkb_hasher *hasher,
                   struct tkb_buf *out, struct tkb_error *err)
{
	const size_t size = (size_t)frame->packed_size;
	unsigned char *place;
	size_t got = 0;
	int rc;

	tkb_buf_reset(out);
	place = tkb_buf_reserve(out, size);
	if (place == NULL)
		return tkb_buf_check(out, err);
	rc = tkb_bundle_pread(bundle, frame->offset, place, size, &got, err);
	if (rc < 0)
		return rc;
	if (got != size)
		return tkb_fail(err, TKB_ERR_CORRUPT, "it is cut short");
	out->size = size;

	rc = tkb_hasher_check(hasher, tkb_buf_bytes(out), &frame->digest, err);
	if (rc == TKB_MISS)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "its bytes have another digest than the "
		                "bundle says");
	return rc;
}

/* List the frame's members in order, and where their bytes go. */
static int expect_members(struct tkb_decoder *decoder,
                          const struct tkb_bundle *bundle,
                          const struct tkb_frame *frame, struct tkb_error *err)
{
	size_t count = 0;
	int rc;

	for (size_t i = 0; i < frame->entry_count; i++) {
		const struct tkb_entry *entry =
			&bundle->manifest.entries[frame->entries[i]];

		rc = tkb_grow(&decoder->firsts, &decoder->first_capacity, i,
		              sizeof(*decoder->firsts), err);
		if (rc < 0)
			return rc;
		decoder->firsts[i] = count;
		for (size_t j = 0; j < entry->file_count; j++) {
			rc = tkb_grow(&decoder->members,
			              &decoder->member_capacity, count,
			              sizeof(*decoder->members), err);
			if (rc < 0)
				return rc;
			rc = tkb_grow(&decoder->files, &decoder->file_capacity,
			              count, sizeof(*decoder->files), err);
			if (rc < 0)
				return rc;
			decoder->members[count++] = (struct tkb_member){
				.entry = entry, .entry_index = i, .file = j
			};
		}
	}
	tkb_members_sort(decoder->members, count);
	decoder->member_count = count;
	return 0;
}

/* Keep a member's bytes, whose number must be the one that the manifest says. */
static int keep_member(struct tkb_decoder *decoder,
                       const struct tkb_member *member, struct tkb_bytes bytes,
                       struct tkb_error *err)
{
	const struct tkb_file *file = &member->entry->files[member->file];
	char path[TKB_MEMBER_PATH_SIZE];

	if (bytes.size != file->size) {
		tkb_member_path(member, path);
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "'%s' has %zu bytes, the manifest says %llu",
		                path, bytes.size,
		                (unsigned long long)file->size);
	}
	decoder->files[decoder->firsts[member->entry_index] + member->file] =
		bytes;
	return 0;
}

static int read_tar_member(struct tkb_decoder *decoder,
                           struct tkb_tar_reader *tar,
                           const struct tkb_member *member,
                           struct tkb_error *err)
{
	char wanted[TKB_MEMBER_PATH_SIZE];
	struct tkb_bytes bytes;
	int rc;

	tkb_member_path(member, wanted);
	rc = tkb_tar_next(tar, &bytes, err);
	if (rc < 0)
		return rc;
	if (rc == TKB_MISS)
		return tkb_fail(err, TKB_ERR_CORRUPT, "'%s' is not there",
		                wanted);
	if (strcmp(tar->path, wanted) != 0)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "'%.300s' stands where '%s' should", tar->path,
		                wanted);
	return keep_member(decoder, member, bytes, err);
}

/*
 * Identifies a member of a mixed frame, by path and digest: an unused member
 * may have the same path as a used one.
 */
struct wanted {
	enum {
		OF_ENTRY,
		OF_UNIT,
		OF_PAYLOAD
	} owner;
	struct tkb_bytes
		key; /* empty for units: any file with these bytes will do */
	struct tkb_bytes name;
	struct tkb_digest digest;
};

/* Is `path`, after "tree/", the name of a tree and a path in it? */
static bool is_tree_path(const char *path)
{
	const size_t length = strcspn(path, "/");
	char tree[TKB_TREE_NAME_LIMIT + 1] = "";

	if (length >= sizeof(tree) || path[length] == '\0')
		return false;
	memcpy(tree, path, length);
	return tkb_unit_name_is_valid(tree, path + length + 1);
}

/*
 * Split a member's path. Unused members need valid paths too, because other
 * tools may unpack them.
 */
static bool split_path(const char *path, struct wanted *out)
{
	static const char entry[] = "triton/";
	static const char unit[] = "tree/";
	static const char payload[] = "launcher/";
	char key[TKB_KEY_SIZE] = "";
	struct tkb_digest digest;
	const char *slash;

	if (tkb_begins_with(path, payload)) {
		out->owner = OF_PAYLOAD;
		out->key = tkb_text(path + strlen(payload));
		out->name = out->key;
		return tkb_digest_from_hex(out->key, &digest);
	}
	if (tkb_begins_with(path, unit)) {
		*out = (struct wanted){ .owner = OF_UNIT,
			                .key = tkb_text(""),
			                .name = tkb_text("") };
		return is_tree_path(path + strlen(unit));
	}
	if (!tkb_begins_with(path, entry))
		return false;
	path += strlen(entry);
	slash = strchr(path, '/');
	if (slash == NULL || (size_t)(slash - path) >= sizeof(key))
		return false;
	out->owner = OF_ENTRY;
	out->key = (struct tkb_bytes){ path, (size_t)(slash - path) };
	out->name = tkb_text(slash + 1);
	memcpy(key, path, out->key.size);
	return tkb_key_is_valid(key) && tkb_name_is_valid(out->name);
}

static struct wanted wanted_of(const struct tkb_member *member)
{
	const struct tkb_entry *entry = member->entry;
	const struct tkb_file *file = &entry->files[member->file];

	if (entry->kind == TKB_KIND_UNIT)
		return (struct wanted){ .owner = OF_UNIT,
			                .key = tkb_text(""),
			                .name = tkb_text(""),
			                .digest = file->digest };
	return (struct wanted){
		.owner =
			entry->kind == TKB_KIND_PAYLOAD ? OF_PAYLOAD : OF_ENTRY,
		.key = tkb_text(entry->key),
		.name = tkb_text(file->name),
		.digest = file->digest,
	};
}

static int compare_wanted(const struct wanted *a, const struct wanted *b)
{
	int order = (int)a->owner - (int)b->owner;

	if (order == 0)
		order = tkb_bytes_compare(a->key, b->key);
	if (order == 0)
		order = tkb_bytes_compare(a->name, b->name);
	return order != 0 ? order
	                  : memcmp(&a->digest, &b->digest, sizeof(a->digest));
}

static int compare_members(const void *a, const void *b)
{
	const struct wanted left = wanted_of(a);
	const struct wanted right = wanted_of(b);

	return compare_wanted(&left, &right);
}

static int compare_with_member(const void *wanted, const void *member)
{
	const struct wanted found = wanted_of(member);

	return compare_wanted(wanted, &found);
}

/*
 * Give the bytes to the next equal member that has no bytes yet; a miss if there
 * is none.
 */
static int place_member(struct tkb_decoder *decoder,
                        const struct wanted *wanted, struct tkb_bytes bytes,
                        struct tkb_error *err)
{
	const size_t first =
		tkb_lower_bound(wanted, decoder->members, decoder->member_count,
	                        sizeof(*decoder->members), compare_with_member);
	size_t at = first;

	if (first < decoder->member_count)
		at += decoder->members[first].placed;
	if (at == decoder->member_count ||
	    compare_with_member(wanted, &decoder->members[at]) != 0)
		return TKB_MISS;
	decoder->members[first].placed++;
	return keep_member(decoder, &decoder->members[at], bytes, err);
}

/* Read a mixed frame: members may be in any order, and some are unused. */
static int read_mixed(struct tkb_decoder *decoder,
                      const struct tkb_frame *frame, struct tkb_tar_reader *tar,
                      struct tkb_error *err)
{
	const uint64_t total = decoder->member_count + frame->unused_count;
	uint64_t unused = 0;

	qsort(decoder->members, decoder->member_count,
	      sizeof(*decoder->members), compare_members);
	for (uint64_t i = 0; i < total; i++) {
		struct wanted wanted = { 0 };
		struct tkb_bytes bytes;
		int rc;

		rc = tkb_tar_next(tar, &bytes, err);
		if (rc < 0)
			return rc;
		if (rc == TKB_MISS || !split_path(tar->path, &wanted))
			return tkb_fail(err, TKB_ERR_CORRUPT,
			                rc == TKB_MISS
			                        ? "files are missing"
			                        : "a path is not allowed");
		rc = tkb_hasher_digest(&decoder->hasher, bytes, &wanted.digest,
		                       err);
		if (rc == 0)
			rc = place_member(decoder, &wanted, bytes, err);
		if (rc < 0)
			return rc;
		unused += rc == TKB_MISS;
	}
	if (unused != frame->unused_count)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "some of its files are not those that the "
		                "manifest says");
	return 0;
}

static int read_members(struct tkb_decoder *decoder,
                        const struct tkb_frame *frame, struct tkb_error *err)
{
	struct tkb_tar_reader tar =
		tkb_tar_reader_of(tkb_buf_bytes(&decoder->tar));
	int rc = 0;

	if (frame->is_mixed)
		rc = read_mixed(decoder, frame, &tar, err);
	for (size_t i = 0;
	     !frame->is_mixed && i < decoder->member_count && rc == 0; i++)
		rc = read_tar_member(decoder, &tar, &decoder->members[i], err);
	return rc < 0 ? rc : tkb_tar_finish(&tar, err);
}

/* Slices that a team decodes, and where to. */
struct decoding {
	struct tkb_decoder *decoders; /* of all threads */
	struct tkb_slices slices;
	unsigned char *place;
};

static int unpack_slice(void *self, size_t worker, size_t index,
                        struct tkb_error *err)
{
	const struct decoding *decoding = self;

	return tkb_unpacker_unpack_slice(&decoding->decoders[worker].unpacker,
	                                 &decoding->slices.items[index],
	                                 decoding->place, err);
}

static int unpack_frame(struct tkb_decoder *decoder,
                        const struct tkb_frame *frame, struct tkb_error *err)
{
	const size_t size = (size_t)frame->size;
	const struct tkb_bytes packed = tkb_buf_bytes(&decoder->packed);
	const struct tkb_decoder_team alone = { .decoders = decoder };
	const struct tkb_decoder_team *team =
		decoder->team != NULL ? decoder->team : &alone;
	struct decoding decoding = { .decoders = team->decoders };
	const struct tkb_parallel_work part = { unpack_slice, &decoding };
	int rc;

	tkb_buf_reset(&decoder->tar);
	if (!frame->is_sliced)
		return tkb_unpacker_unpack(&decoder->unpacker, packed, size,
		                           &decoder->tar, err);
	rc = tkb_slices_find(packed, size, &decoding.slices, err);
	if (rc < 0)
		return rc;
	decoding.place = tkb_buf_reserve(&decoder->tar, size);
	if (decoding.place == NULL)
		return tkb_buf_check(&decoder->tar, err);
	rc = tkb_parallel_share(team->team, (size_t)(decoder - team->decoders),
	                        decoding.slices.count, &part, err);
	if (rc == 0)
		decoder->tar.size += size;
	return rc;
}

static int decode_frame(struct tkb_decoder *decoder,
                        const struct tkb_bundle *bundle,
                        const struct tkb_frame *frame, struct tkb_error *err)
{
	int rc;

	rc = tkb_frame_read(bundle, frame, &decoder->hasher, &decoder->packed,
	                    err);
	if (rc < 0)
		return rc;
	rc = unpack_frame(decoder, frame, err);
	if (rc < 0)
		return rc;
	rc = expect_members(decoder, bundle, frame, err);
	if (rc < 0)
		return rc;
	return read_members(decoder, frame, err);
}

int tkb_decoder_decode(struct tkb_decoder *decoder,
                       const struct tkb_bundle *bundle, size_t index,
                       struct tkb_error *err)
{
	const struct tkb_frame *frame = &bundle->frames[index];
	int rc;

	decoder->frame = NULL;
	rc = decode_frame(decoder, bundle, frame, err);
	if (rc < 0)
		return tkb_fail_while(err, rc, "'%s', frame %zu", bundle->name,
		                      index);
	decoder->frame = frame;
	return 0;
}

struct tkb_bytes tkb_decoder_file(const struct tkb_decoder *decoder, size_t nth,
                                  size_t file)
{
	return decoder->files[decoder->firsts[nth] + file];
}

/*
 * Teams
 */

int tkb_decoder_team_open(struct tkb_decoder_team *team, size_t threads,
                          struct tkb_error *err)
{
	int rc = 0;

	*team = (struct tkb_decoder_team){
		.decoders = tkb_alloc_array(threads, sizeof(*team->decoders))
	};
	if (team->decoders == NULL)
		return tkb_fail_nomem(err);
	while (team->count < threads && rc == 0) {
		struct tkb_decoder *decoder = &team->decoders[team->count];

		rc = tkb_decoder_open(decoder, err);
		decoder->team = team;
		team->count += rc == 0;
	}
	return rc;
}

void tkb_decoder_team_close(struct tkb_decoder_team *team)
{
	for (size_t i = 0; i < team->count; i++)
		tkb_decoder_close(&team->decoders[i]);
	free(team->decoders);
	*team = (struct tkb_decoder_team){ 0 };
}

/* How many slices have all frames, if a tkbundle made them? */
static size_t count_slices(const struct tkb_bundle *bundle)
{
	uint64_t total = 0;
	size_t count = 0;

	for (size_t i = 0; i < bundle->frame_count; i++)
		total += bundle->frames[i].size;
	for (size_t i = 0; i < bundle->frame_count; i++)
		count +=
			bundle->frames[i].is_sliced
				? tkb_slice_count(total, bundle->frames[i].size,
		                                  bundle->frames[i].entry_count)
				: 1;
	return count;
}

int tkb_decoder_team_run(struct tkb_decoder_team *team,
                         const struct tkb_bundle *bundle,
                         const struct tkb_parallel_work *work,
                         struct tkb_error *err)
{
	return tkb_parallel_in_parts(bundle->frame_count, count_slices(bundle),
	                             team->count, work, &team->team, err);
}

static size_t worker_of(const struct tkb_decoder *decoder)
{
	return (size_t)(decoder - decoder->team->decoders);
}

void tkb_decoder_hold(struct tkb_decoder *decoder,
                      const struct tkb_frame *frame)
{
	if (tkb_frame_is_large(frame))
		tkb_parallel_hold(decoder->team->team, worker_of(decoder));
}

void tkb_decoder_let_go(struct tkb_decoder *decoder,
                        const struct tkb_frame *frame)
{
	if (!tkb_frame_is_large(frame))
		return;
	decoder->frame = NULL;
	tkb_buf_release(&decoder->packed);
	tkb_buf_release(&decoder->tar);
	tkb_parallel_let_go(decoder->team->team);
}
