/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_MEMBER_NAME_H
#define TKBUNDLE_ARCHIVE_MEMBER_NAME_H

#include <stdbool.h>

#include "limits.h"

#include <tkbundle/error.h>

/* A path below the folder, without empty parts and parts that are ".". */
struct member_name {
	char text[ARCHIVE_PATH_LIMIT + 1]; /* "" means the folder itself */
};

/*
 * Parse the name of an entry. TKB_ERR_CORRUPT or TKB_ERR_TOO_LARGE if it is
 * absolute, has "..", is not text, exceeds a limit, or is a whiteout of an
 * image layer.
 */
TKB_NODISCARD int member_name_read(const char *raw, struct member_name *out,
                                   struct tkb_error *err);

/* Does a link at `name` to `target` stay below the folder? */
bool member_name_stays(const struct member_name *name, const char *target);

#endif
