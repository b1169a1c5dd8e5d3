/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IMAGE_NAME_H
#define TKBUNDLE_IMAGE_NAME_H

#include "config/remote_use.h"

/* Names of images: host[:port]/repository:tag, or @sha256:digits. */

enum {
	IMAGE_TAG_SIZE = 129,   /* with its NUL */
	IMAGE_DIGEST_SIZE = 72, /* "sha256:" and digits, with its NUL */
	IMAGE_URL_SIZE = 4096
};

/*
 * The tag for an image of a ref: a slash becomes two underscores; an
 * underscore, or another byte that a tag cannot have, becomes an underscore and
 * two digits.
 *
 * @param name_out  receives "host/repository:tag" of the remote in use
 * @return 0; TKB_ERR_INVALID (the tag would be too long); TKB_ERR_UNSUPPORTED
 *         (the remote is no registry)
 */
TKB_NODISCARD int image_name_of_ref(const struct remote_use *use,
                                    const char *ref, char tag[IMAGE_TAG_SIZE],
                                    char *name_out, size_t size,
                                    struct tkb_error *err);

/* Is it oci://..., or oci+http://...? */
bool image_name_is_url(const char *text);

/*
 * Cut "oci://host/repository:tag?parameters" into the URL of a remote and the
 * name of an image in it: a tag, "latest" if there is none, or a digest, which
 * is used if both are given.
 *
 * @return 0 or TKB_ERR_INVALID
 */
TKB_NODISCARD int image_name_split(const char *text, char url[IMAGE_URL_SIZE],
                                   char name[IMAGE_TAG_SIZE],
                                   struct tkb_error *err);

#endif
