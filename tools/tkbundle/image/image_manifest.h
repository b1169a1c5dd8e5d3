/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IMAGE_MANIFEST_H
#define TKBUNDLE_IMAGE_MANIFEST_H

#include <tkbundle/tkbundle.h>

struct json_t; /* jansson's */
struct remote_use;

/* The documents of an OCI image. */

#define IMAGE_MEDIA "application/vnd.oci.image."
#define IMAGE_MANIFEST IMAGE_MEDIA "manifest.v1+json"
#define IMAGE_INDEX IMAGE_MEDIA "index.v1+json"

/* In the configuration: the id of the bundle that the image was made of. */
#define IMAGE_BUNDLE_LABEL "dev.tkbundle.bundle"

/* A blob that a manifest names. */
struct image_part {
	const char *media_type;
	const struct tkb_digest *digest;
	uint64_t size;
};

/*
 * Make the description of a part in a manifest:
 * {"digest":...,"mediaType":...,"size":...}. NULL: out of memory.
 */
struct json_t *image_part_json(const struct image_part *part);

/*
 * Make the configuration of an image of one layer.
 *
 * @param sum     the digest of the layer without compression, 64 digits
 * @param time_s  its creation time, since 1970
 * @return a text that the caller frees, or NULL: out of memory
 */
char *image_config_text(struct json_t *labels, const char *sum, int64_t time_s);

/* Make its manifest, likewise. */
char *image_manifest_text(const struct image_part *config,
                          const struct image_part *layer);

/*
 * Fetch a document of an image, which anybody may have written; `*out` is NULL
 * if it is not valid.
 */
TKB_NODISCARD int image_get_json(struct remote_use *use, const char *name,
                                 struct json_t **out, struct tkb_error *err);

/* Hash a text. */
TKB_NODISCARD int image_digest_text(int (*digest)(const struct tkb_blob *blob,
                                                  struct tkb_digest *out,
                                                  struct tkb_error *err),
                                    const char *text, struct tkb_digest *out,
                                    struct tkb_error *err);

/* Read "sha256:" and 64 lower-case digits. */
bool image_digest_read(const char *text, struct tkb_digest *out);

#endif
