/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_DRAFT_H
#define TKB_BASE_DRAFT_H

/* The struct behind the public draft.h, for the library's own use. */

#include <tkbundle/draft.h>

#include "base/base.h"

struct tkb_draft {
	int fd;             /* owned; -1 once it is published */
	char *path;         /* owned: what open() was given */
	char *private_name; /* owned: the name before publishing, or for a
	                       moment if the destination exists; NULL: write
	                       to the destination itself */
	bool is_named;      /* the file has its private name */
};

/*
 * Write the draft to the disk before it is published, so that a power loss does
 * not leave an empty file under the final name.
 */
TKB_NODISCARD int tkb_draft_sync(const struct tkb_draft *draft,
                                 struct tkb_error *err);

/* For TKB_AUTO. */
void tkb_draft_close_at(struct tkb_draft **draft);

#endif
