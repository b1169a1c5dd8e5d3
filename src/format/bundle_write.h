/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_BUNDLE_WRITE_H
#define TKB_FORMAT_BUNDLE_WRITE_H

/*
 * Put a bundle together: the header frame, data frames that are packed
 * already, and the last frame. Collect and merge both end here.
 */

#include "base/base.h"
#include "format/manifest.h"
#include "format/writer.h"

struct tkb_outline {
	struct tkb_contents contents;
	const struct tkb_frame *frames;
	size_t frame_count;
	int level; /* that the frames were packed with; 0: TKB_FRAME_LEVEL */
	/* Send the packed bytes of frame `index`, all of them. */
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
