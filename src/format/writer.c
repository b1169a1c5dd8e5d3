/* SPDX-License-Identifier: Apache-2.0 */
#include "format/writer.h"

#include <inttypes.h>
#include <stdio.h>

#include <zstd.h>

#include "cache/entry.h"
#include "format/frame.h"
#include "cache/names.h"
#include "tree/unit.h"
#include "format/launcher_payload.h"

#define SMALL_SET ((uint64_t)16 * TKB_MIB)
#define SMALLEST_FRAME ((uint64_t)512 * TKB_KIB)
#define LARGEST_FRAME ((uint64_t)16 * TKB_MIB)

/* Content of up to 256 KiB is packed with smaller tables, and is larger then. */
#define SMALLEST_SLICE ((uint64_t)256 * TKB_KIB + 1)

static uint64_t add_tar_sizes(const struct tkb_entry *const *entries,
                              size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += tkb_entry_tar_size(entries[i]);
	return total;
}

/*
 * More frames let more cores decode. Fewer frames compress better, which
 * matters more once all cores have enough to do.
 */
static uint64_t frame_target(uint64_t total)
{
	const uint64_t target = total / (total < SMALL_SET ? 16 : 4);

	if (target < SMALLEST_FRAME)
		return SMALLEST_FRAME;
	return target > LARGEST_FRAME ? LARGEST_FRAME : target;
}

/*
 * Does a new frame begin with `next`? Entries and payloads have separate
 * frames, because a reader may want only one of them. A large entry has its own
 * frame, or else it would keep one core busy for long.
 */
static bool is_border(const struct tkb_entry *entry,
                      const struct tkb_entry *next, uint64_t target)
{
	return tkb_entry_tar_size(next) >= target ||
	       (entry->kind != next->kind && next->kind == TKB_KIND_PAYLOAD);
}

bool tkb_frame_is_large(const struct tkb_frame *frame)
{
	return frame->size > TKB_FRAME_LARGE ||
	       frame->packed_size > TKB_FRAME_LARGE;
}

size_t tkb_slice_count(uint64_t total, uint64_t size, size_t entry_count)
{
	const uint64_t count = size / SMALLEST_SLICE;
	const bool is_shared = total < SMALL_SET || size > TKB_FRAME_LARGE;

	if (!is_shared || entry_count != 1 || count == 0)
		return 1;
	return count < TKB_SLICES_WRITTEN ? (size_t)count : TKB_SLICES_WRITTEN;
}

int tkb_cut_frames(const struct tkb_entry *const *entries, size_t count,
                   struct tkb_cut **out, size_t *count_out,
                   struct tkb_error *err)
{
	const uint64_t total = add_tar_sizes(entries, count);
	const uint64_t target = frame_target(total);
	TKB_AUTO(tkb_free_at) struct tkb_cut *cuts = NULL;
	struct tkb_cut cut = { 0 };
	size_t capacity = 0;
	size_t cut_count = 0;
	int rc;

	for (size_t i = 0; i < count; i++) {
		cut.count++;
		cut.size += tkb_entry_tar_size(entries[i]);
		if (cut.size < target && i + 1 < count &&
		    !is_border(entries[i], entries[i + 1], target))
			continue;
		rc = tkb_grow(&cuts, &capacity, cut_count, sizeof(cut), err);
		if (rc < 0)
			return rc;
		cut.slice_count = tkb_slice_count(total, cut.size, cut.count);
		cuts[cut_count++] = cut;
		cut = (struct tkb_cut){ .first = i + 1 };
	}
	*out = tkb_take(cuts);
	*count_out = cut_count;
	return 0;
}

static const char *file_name(const struct tkb_member *member)
{
	return member->entry->files[member->file].name;
}

static int compare_members(const void *a, const void *b)
{
	const struct tkb_member *left = a;
	const struct tkb_member *right = b;
	int order = tkb_name_compare(file_name(left), file_name(right));

	if (order == 0)
		order = strcmp(left->entry->key, right->entry->key);
	if (order == 0)
		order = (left->entry_index > right->entry_index) -
		        (left->entry_index < right->entry_index);
	return order;
}

void tkb_members_sort(struct tkb_member *members, size_t count)
{
	tkb_sort(members, count, sizeof(*members), compare_members);
}

void tkb_member_path(const struct tkb_member *member,
                     char out[TKB_MEMBER_PATH_SIZE])
{
	const struct tkb_entry *entry = member->entry;

	if (entry->kind == TKB_KIND_PAYLOAD)
		(void)snprintf(out, TKB_MEMBER_PATH_SIZE, "launcher/%s",
		               file_name(member));
	else if (entry->kind != TKB_KIND_UNIT)
		(void)snprintf(out, TKB_MEMBER_PATH_SIZE, "triton/%s/%s",
		               entry->key, file_name(member));
	else if (tkb_unit_is_file(entry))
		(void)snprintf(out, TKB_MEMBER_PATH_SIZE, "tree/%s/%s",
		               entry->tree, file_name(member));
	else
		(void)snprintf(out, TKB_MEMBER_PATH_SIZE, "tree/%s/%s/%s",
		               entry->tree, entry->folder, file_name(member));
}

/* Write indices as ranges: 0-41, 43, 50-51. */
static void write_ranges(const struct tkb_frame *frame, struct tkb_buf *out)
{
	size_t i = 0;

	while (i < frame->entry_count) {
		size_t last = i;

		while (last + 1 < frame->entry_count &&
		       frame->entries[last + 1] == frame->entries[last] + 1)
			last++;
		if (i != 0)
			tkb_buf_add_byte(out, ',');
		tkb_buf_add_number(out, frame->entries[i]);
		if (last != i) {
			tkb_buf_add_byte(out, '-');
			tkb_buf_add_number(out, frame->entries[last]);
		}
		i = last + 1;
	}
}

void tkb_frames_write(const struct tkb_frame *frames, size_t count, int level,
                      struct tkb_buf *out)
{
	bool is_sliced = false;

	for (size_t i = 0; i < count; i++)
		is_sliced = is_sliced || frames[i].is_sliced;
	tkb_print(out, "frames %d zstd %s %d\n", is_sliced ? 2 : 1,
	          ZSTD_versionString(), level);
	for (size_t i = 0; i < count; i++) {
		tkb_print(out, "%s %" PRIu64 " %" PRIu64 " ",
		          tkb_digest_hex(&frames[i].digest).text,
		          frames[i].packed_size, frames[i].size);
		write_ranges(&frames[i], out);
		if (frames[i].is_mixed)
			tkb_print(out, " %" PRIu64, frames[i].unused_count);
		tkb_buf_add_byte(out, '\n');
	}
}

/*
 * A frame as RFC 8878 has it: the magic number; a descriptor for a single
 * segment without checksum, and the frame's size less 256 in two bytes; a block
 * that repeats one byte 1024 times; and a last, raw block of 72 bytes.
 */
void tkb_end_write(const struct tkb_digest *header, struct tkb_buf *out)
{
	static const unsigned char before[] = {
		0x28, 0xb5, 0x2f, 0xfd, 0x60, 0x48, 0x03,
		0x02, 0x20, 0x00, 0x00, 0x41, 0x02, 0x00,
	};

	tkb_buf_add(out, (struct tkb_bytes){ before, sizeof(before) });
	tkb_print(out, "header %s\n", tkb_digest_hex(header).text);
}
