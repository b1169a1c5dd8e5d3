/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_MEMBER_NAME_H
#define TKBUNDLE_ARCHIVE_MEMBER_NAME_H

#include <stdbool.h>

#include "limits.h"

#include <tkbundle/error.h>

/* A path below the folder, without parts that are "." or empty. */
struct member_name {
	char text[ARCHIVE_PATH_LIMIT + 1]; /* "": the folder itself */
};

/*
 * Take the name of an entry apart. Refused, as TKB_ERR_CORRUPT or
 * TKB_ERR_TOO_LARGE, is one that is absolute, goes up, is no text, is beyond a
 * limit, or is a mark in an image layer.
 */
TKB_NODISCARD int member_name_read(const char *raw, struct member_name *out,
                                   struct tkb_error *err);

/* Does a link at `name` to `target` stay below the folder? */
bool member_name_stays(const struct member_name *name, const char *target);

#endif
