/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IMAGE_TRUST_H
#define TKBUNDLE_IMAGE_TRUST_H

#include "config/remote_use.h"

struct json_t;

/*
 * Check that the policy in use trusts the image with the manifest `text`, which was
 * found as `name`. Its signatures are those that the registry lists, or an index
 * with the tag of the manifest's digest. Nothing of the image is decoded.
 *
 * @return 0; TKB_ERR_UNTRUSTED; TKB_ERR_TOO_LARGE, TKB_ERR_NOMEM, or a failure of the
 *         remote
 */
TKB_NODISCARD int image_trust_check(struct remote_use *use, const char *name,
                                    struct tkb_bytes text,
                                    struct tkb_error *err);

/*
 * Check that neither the image's layer nor the bundle that it was made of, as its
 * labels name it, is revoked.
 *
 * @param manifest  that of the image `name`
 * @return 0; TKB_ERR_UNTRUSTED; TKB_ERR_CORRUPT (it has no configuration), or as
 *         image_trust_check()
 */
TKB_NODISCARD int image_trust_check_revoked(struct remote_use *use,
                                            const char *name,
                                            const struct json_t *manifest,
                                            const struct tkb_digest *layer,
                                            struct tkb_error *err);

#endif
