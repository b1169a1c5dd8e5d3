/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_DRAFT_H
#define TKB_BASE_DRAFT_H

/* What stands behind the public draft.h, for the library's own use. */

#include <tkbundle/draft.h>

#include "base/base.h"

struct tkb_draft {
	int fd;             /* owned; -1 once it is published */
	char *path;         /* owned: what open() was given */
	char *private_name; /* owned: what it is called before, or is for a
	                       moment if the destination exists; NULL: it is
	                       written to as it is */
	bool is_named;      /* it has its private name */
};

/*
 * Bring what was written to the disk, so that no loss of power leaves an empty
 * file under a name that says more. Before it is published.
 */
TKB_NODISCARD int tkb_draft_sync(const struct tkb_draft *draft,
                                 struct tkb_error *err);

/* For TKB_AUTO. */
void tkb_draft_close_at(struct tkb_draft **draft);

#endif
