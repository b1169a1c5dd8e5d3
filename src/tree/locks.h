/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_LOCKS_H
#define TKB_TREE_LOCKS_H

/* Who works in a tree: engines lock files called "*.lock" while they compile. */

#include "base/base.h"

enum {
	TKB_LOCK_PATH_SIZE = 4096
};

/*
 * Find a file "*.lock" below `root` that another process holds by flock() or
 * fcntl(); `out` receives its path. tkbundle's own folders are passed over, and so
 * is what cannot be opened. `check` is asked once for each file, and ends the
 * search by a failure.
 *
 * Returns 0, TKB_MISS (none is held), TKB_ERR_NOMEM or what `check` returned.
 */
TKB_NODISCARD int tkb_tree_find_lock(
	const char *root, int (*check)(void *self, struct tkb_error *err),
	void *self, char out[TKB_LOCK_PATH_SIZE], struct tkb_error *err);

#endif
