/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_FRAME_H
#define TKB_FORMAT_FRAME_H

/*
 * Compress to and decompress zstd frames, always with the same settings and each in
 * one thread, so that the same input gives the same bytes.
 *
 * A data frame of a small bundle may be several zstd frames, its slices, so that
 * several threads work on a large entry.
 */

#include "base/base.h"
#include "base/buf.h"

/*
 * Level 2 makes kernels smaller than level 3 does, in two thirds of the time,
 * and shared libraries 5 % larger.
 */
enum {
	TKB_FRAME_LEVEL = 2,
	TKB_FRAME_LEVEL_LEAST = -50,
	TKB_FRAME_LEVEL_MOST = 19,
	TKB_FRAME_WINDOW_LOG = 24,
	TKB_SLICE_LIMIT = 64 /* slices of one data frame */
};

/*
 * A compressor for one thread. It can be used any number of times, also after a
 * failure. A zeroed one is closed.
 */
struct tkb_packer {
	void *context; /* owned */
	int level;     /* zstd's; 0: TKB_FRAME_LEVEL */
};

void tkb_packer_close(struct tkb_packer *packer);

/* Append `bytes` as one frame. */
TKB_NODISCARD int tkb_packer_pack(struct tkb_packer *packer,
                                  struct tkb_bytes bytes, struct tkb_buf *out,
                                  struct tkb_error *err);

/* A decompressor, used in the same way. */
struct tkb_unpacker {
	void *context; /* owned */
	/* The frames' digests are compared, so skip zstd's own checksum. */
	bool has_digest;
};

void tkb_unpacker_close(struct tkb_unpacker *unpacker);

/* A zstd frame, and where its content belongs. */
struct tkb_slice {
	struct tkb_bytes packed;
	size_t offset;
	size_t size;
};

struct tkb_slices {
	struct tkb_slice items[TKB_SLICE_LIMIT];
	size_t count; /* at least 1 */
};

/*
 * Find the slices of a data frame, which must have `size` decoded bytes in all.
 * Returns 0 or TKB_ERR_CORRUPT.
 */
TKB_NODISCARD int tkb_slices_find(struct tkb_bytes frame, size_t size,
                                  struct tkb_slices *out,
                                  struct tkb_error *err);

/* Decode a slice to `out`, the place of the first one. Likewise, or _NOMEM. */
TKB_NODISCARD int tkb_unpacker_unpack_slice(struct tkb_unpacker *unpacker,
                                            const struct tkb_slice *slice,
                                            unsigned char *out,
                                            struct tkb_error *err);

/* Decode `frame`, which must be exactly one slice, and append it. */
TKB_NODISCARD int tkb_unpacker_unpack(struct tkb_unpacker *unpacker,
                                      struct tkb_bytes frame, size_t size,
                                      struct tkb_buf *out,
                                      struct tkb_error *err);

/*
 * Find the packed and decoded sizes of the frame that `bytes` begin with.
 * Returns 0, TKB_MISS (the frame is longer than `bytes`) or TKB_ERR_CORRUPT (it
 * is not a frame, or does not state its size).
 */
TKB_NODISCARD int tkb_frame_measure(struct tkb_bytes bytes, size_t *packed_out,
                                    uint64_t *size_out, struct tkb_error *err);

#endif
