/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IMAGE_SIGN_H
#define TKBUNDLE_IMAGE_SIGN_H

#include "config/remote_use.h"
#include "trust/signers.h"

/*
 * Sign the image with this manifest by each key, and store each signature as a
 * manifest whose subject is the image's. If the registry does not list these,
 * add them to the index with the tag "sha256-<digest>", as the distribution
 * protocol asks.
 *
 * @param name  name of the image, "host/repository:tag"
 * @param size  size of the manifest
 */
TKB_NODISCARD int image_sign(struct remote_use *use,
                             const struct signers *signers, const char *name,
                             const struct tkb_digest *manifest, uint64_t size,
                             struct tkb_error *err);

#endif
