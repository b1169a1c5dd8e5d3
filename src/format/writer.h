/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_WRITER_H
#define TKB_FORMAT_WRITER_H

/*
 * The layout of a bundle: how entries are cut into frames, the order of files
 * in a frame, and what comes before and after the data frames.
 */

#include "base/base.h"
#include "base/buf.h"

enum {
	TKB_SLICES_WRITTEN = 8 /* the most that a writer makes of a frame */
};

/* A frame has the entries `first` to `first + count - 1`. */
struct tkb_cut {
	size_t first;
	size_t count;
	uint64_t size; /* of its tar, in bytes */
	size_t slice_count;
};

/*
 * Cut `entries`, which are in order, into frames. A frame ends once it holds a
 * quarter of all bytes, but at most 16 MiB; if there are less than 16 MiB in
 * all, a sixteenth, but at least 512 KiB. It also ends before an entry that
 * holds this much by itself, and before the first payload. The caller frees
 * `*out`.
 */
TKB_NODISCARD int tkb_cut_frames(const struct tkb_entry *const *entries,
                                 size_t count, struct tkb_cut **out,
                                 size_t *count_out, struct tkb_error *err);

/*
 * In how many slices is a frame of `size` bytes and `entry_count` entries written,
 * in a bundle whose frames have `total` bytes? One, unless the bundle is small and
 * the frame is one large entry. Of larger bundles, all cores have enough to decode;
 * and slices compress worse, above all if they part similar entries.
 */
size_t tkb_slice_count(uint64_t total, uint64_t size, size_t entry_count);

/* One file in a frame. */
struct tkb_member {
	const struct tkb_entry *entry;
	size_t entry_index; /* in the manifest */
	size_t file;
	/* For a decoder of a mixed frame: at the first of equal members, how
	   many of them have their bytes already. */
	size_t placed;
};

/* Sort the members of one frame by extension, name, key and entry. */
void tkb_members_sort(struct tkb_member *members, size_t count);

enum {
	TKB_MEMBER_PATH_SIZE = 960
};

/*
 * Write the member's path in the tar: "triton/<key>/<file>",
 * "tree/<name>/<path>", or "launcher/<sha256>".
 */
void tkb_member_path(const struct tkb_member *member,
                     char out[TKB_MEMBER_PATH_SIZE]);

/* A data frame, as described in `tkbundle.frames`. */
struct tkb_frame {
	struct tkb_digest digest; /* of the compressed bytes */
	uint64_t packed_size;
	uint64_t size;
	uint64_t offset;         /* in the bundle; not written to the list */
	const uint32_t *entries; /* items of the manifest, ascending */
	size_t entry_count;
	bool is_sliced; /* it may be several zstd frames */
	/* Made by a merge: it may have unused files or another order. */
	bool is_mixed;
	uint64_t unused_count; /* number of unused files */
};

#define TKB_FRAMES_SIZE_LIMIT ((size_t)8 * 1024 * 1024)

/*
 * The largest frame that a writer makes, decoded: a full one plus one more unit,
 * and their headers; and its compressed bytes, which may be a little more.
 */
#define TKB_FRAME_SIZE_LIMIT ((uint64_t)2112 * 1024 * 1024)
#define TKB_FRAME_PACKED_LIMIT ((uint64_t)2240 * 1024 * 1024)

/*
 * Only one thread at a time has a frame above this, so that many such do not take
 * the machine's memory.
 */
#define TKB_FRAME_LARGE ((uint64_t)256 * 1024 * 1024)

/* Of either: a frame of a few bytes can have any number of packed ones. */
bool tkb_frame_is_large(const struct tkb_frame *frame);

/* Append the text of `tkbundle.frames`, which states the frames' `level`. */
void tkb_frames_write(const struct tkb_frame *frames, size_t count, int level,
                      struct tkb_buf *out);

#define TKB_MANIFEST_MEMBER "tkbundle.json"
#define TKB_FRAMES_MEMBER "tkbundle.frames"
#define TKB_SIGNATURE_MEMBER "tkbundle.sig"

/*
 * Append the last frame: the two zero blocks that end a tar, and then a line
 * with the digest of the header frame's bytes. It is not compressed, so there
 * is only one way to write it, and a reader can compare bytes. The header has
 * the digests of the data frames, and this frame has the digest of the header,
 * so every byte of a bundle is covered.
 */
void tkb_end_write(const struct tkb_digest *header, struct tkb_buf *out);

/* The size of the last frame. */
enum {
	TKB_END_SIZE = 86
};

#endif
