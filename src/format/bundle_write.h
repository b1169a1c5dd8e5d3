/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_BUNDLE_WRITE_H
#define TKB_FORMAT_BUNDLE_WRITE_H

/*
 * Put a bundle together: the header frame, data frames that are already packed,
 * and the last frame. Both collect and merge use it.
 */

#include "base/base.h"
#include "format/manifest.h"
#include "format/writer.h"

struct tkb_outline {
	struct tkb_contents contents;
	const struct tkb_frame *frames;
	size_t frame_count;
	int level; /* of the packed frames; 0: TKB_FRAME_LEVEL */
	/* Send all packed bytes of frame `index`. */
	int (*send_frame)(void *self, size_t index, const struct tkb_sink *sink,
	                  struct tkb_error *err);
	void *self; /* given to send_frame() */
};

/* Send the bundle to `sink`. If that is NULL, only compute the bundle's id. */
TKB_NODISCARD int tkb_bundle_write(const struct tkb_outline *outline,
                                   const struct tkb_sink *sink,
                                   struct tkb_digest *id_out,
                                   uint64_t *size_out, struct tkb_error *err);

#endif
