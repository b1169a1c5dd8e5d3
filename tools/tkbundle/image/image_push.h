/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IMAGE_PUSH_H
#define TKBUNDLE_IMAGE_PUSH_H

#include "archive/archive_export.h"
#include "config/labels.h"
#include "config/remote_use.h"
#include "config/root.h"
#include "trust/signers.h"

/*
 * push --as image: an image of one layer. Paths in its files are those below
 * the path where it will be mounted. The same bundle, mount path and format
 * give the same image.
 */
struct image_push {
	struct remote_use *use;
	const struct arguments *args;
	const struct root *root; /* what to collect, without --bundle */
	const struct labels *labels;
	const struct signers *signers;

	/* Filled in. */
	struct tkb_collect_report collected; /* without --bundle */
	struct tkb_emit_report emitted;
	struct archive_export packed;
	uint64_t layer_size;
	char digest[TKB_DIGEST_HEX_SIZE]; /* of the image's manifest */
	char name[TKB_REF_SIZE * 3];      /* "host/name:tag" */
};

/*
 * Make the image, and push it, unless it is a dry run.
 *
 * @return 0; TKB_ERR_PARTIAL (an entry was left out); TKB_MISS (there is
 *         nothing to push); or a failure
 */
TKB_NODISCARD int image_push(struct image_push *push, struct tkb_error *err);

#endif
