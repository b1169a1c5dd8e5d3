/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_READER_H
#define TKB_FORMAT_READER_H

/*
 * struct tkb_bundle, for code that reads frames.
 *
 * Each thread uses its own decoder. The decoder reads a frame's bytes, checks
 * their digest, decompresses them, and compares each member with the manifest.
 * Then it can give the bytes of each file in the frame.
 */

#include <tkbundle/bundle.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/parallel.h"
#include "format/frame.h"
#include "format/manifest.h"
#include "format/writer.h"

struct tkb_bundle {
	struct tkb_source source; /* where its bytes come from */
	int fd;                   /* of a bundle in a file; else -1 */
	bool owns_fd;
	struct tkb_bytes memory; /* by reference; of a bundle in memory */
	char *name;              /* owned; for messages */
	struct tkb_digest id;
	struct tkb_digest frames_digest; /* of the text of tkbundle.frames */
	bool is_pinned; /* a record has the digests of header and frame list,
	                   so the end is not read */
	struct tkb_manifest manifest;
	struct tkb_frame *frames; /* in the manifest's arena */
	size_t frame_count;
	struct tkb_error fault; /* what is wrong after the last data frame */
};

/*
 * Open a bundle whose id and frame list are known. Each frame can then be
 * checked before the last one has arrived. TKB_ERR_CORRUPT if it is another
 * bundle.
 */
TKB_NODISCARD int tkb_bundle_open_pinned(const struct tkb_source *source,
                                         const char *name,
                                         const struct tkb_digest *id,
                                         const struct tkb_digest *frames,
                                         struct tkb_bundle **out,
                                         struct tkb_error *err);

/*
 * Read up to `size` bytes at `offset`; fewer only at the end. The failure's
 * message does not name the bundle.
 */
TKB_NODISCARD int tkb_bundle_pread(const struct tkb_bundle *bundle,
                                   uint64_t offset, void *data, size_t size,
                                   size_t *got_out, struct tkb_error *err);

/* Read manifest and frame list, and check the end. */
TKB_NODISCARD int tkb_bundle_read_header(struct tkb_bundle *bundle,
                                         struct tkb_error *err);

/* Parse the text of `tkbundle.frames`. The data frames begin at `offset`. */
TKB_NODISCARD int tkb_frames_parse(struct tkb_bundle *bundle,
                                   struct tkb_bytes text, uint64_t offset,
                                   struct tkb_error *err);

/* The item that is the payload of launcher `index`. */
size_t tkb_bundle_payload(const struct tkb_bundle *bundle, size_t index);

/*
 * Read the packed bytes of `frame` into `out`, which is emptied first, and
 * check their digest.
 */
TKB_NODISCARD int tkb_frame_read(const struct tkb_bundle *bundle,
                                 const struct tkb_frame *frame,
                                 struct tkb_hasher *hasher, struct tkb_buf *out,
                                 struct tkb_error *err);

struct tkb_decoder {
	const struct tkb_decoder_team *team; /* that it is in; NULL: none */
	struct tkb_hasher hasher;
	struct tkb_unpacker unpacker;
	struct tkb_buf packed;
	struct tkb_buf tar;
	struct tkb_member *members; /* owned */
	size_t member_capacity;
	size_t member_count;
	struct tkb_bytes *files; /* owned; the files of the frame's entries,
	                            in order */
	size_t file_capacity;
	size_t *firsts; /* owned; each entry's first index in `files` */
	size_t first_capacity;
	const struct tkb_frame *frame; /* the decoded frame */
};

TKB_NODISCARD int tkb_decoder_open(struct tkb_decoder *decoder,
                                   struct tkb_error *err);
void tkb_decoder_close(struct tkb_decoder *decoder);

/* Decode frame `index`. Returns 0, TKB_ERR_CORRUPT, _IO or _NOMEM. */
TKB_NODISCARD int tkb_decoder_decode(struct tkb_decoder *decoder,
                                     const struct tkb_bundle *bundle,
                                     size_t index, struct tkb_error *err);

/* File `file` of the frame's entry number `nth`; valid until the next frame. */
struct tkb_bytes tkb_decoder_file(const struct tkb_decoder *decoder, size_t nth,
                                  size_t file);

/*
 * The decoders of threads that work on frames of a bundle: of large ones, on one at
 * a time, whose slices they share. A zeroed team has none.
 *
 *     rc = tkb_decoder_team_open(&team, threads, err);
 *     rc = tkb_decoder_team_run(&team, bundle, &work, err);
 *
 * which calls work.do_one(), that uses team.decoders[worker], for each frame's index:
 *
 *     tkb_decoder_hold(decoder, frame);
 *     rc = tkb_decoder_decode(decoder, bundle, index, err);
 *     ...
 *     tkb_decoder_let_go(decoder, frame);   a large frame is dropped
 */
struct tkb_decoder_team {
	struct tkb_decoder *decoders; /* owned; of each thread */
	size_t count;
	struct tkb_parallel_team *team; /* while they run */
};

TKB_NODISCARD int tkb_decoder_team_open(struct tkb_decoder_team *team,
                                        size_t threads, struct tkb_error *err);
void tkb_decoder_team_close(struct tkb_decoder_team *team);

TKB_NODISCARD int tkb_decoder_team_run(struct tkb_decoder_team *team,
                                       const struct tkb_bundle *bundle,
                                       const struct tkb_parallel_work *work,
                                       struct tkb_error *err);

/* Wait until no other thread of the team has a large frame, if this is one. */
void tkb_decoder_hold(struct tkb_decoder *decoder,
                      const struct tkb_frame *frame);
void tkb_decoder_let_go(struct tkb_decoder *decoder,
                        const struct tkb_frame *frame);

#endif
