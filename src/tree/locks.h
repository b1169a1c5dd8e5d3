/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_LOCKS_H
#define TKB_TREE_LOCKS_H

/*
 * Find out whether an engine is working in a tree. Engines lock files called
 * "*.lock" while they compile.
 */

#include "base/base.h"

enum {
	TKB_LOCK_PATH_SIZE = 4096
};

/*
 * Find a file "*.lock" below `root` that another process has locked with
 * flock() or fcntl(); `out` receives its path. tkbundle's own folders and
 * everything that cannot be opened are skipped. `check` is called for each
 * file; if it fails, the search ends.
 *
 * Returns 0, TKB_MISS (none is locked), TKB_ERR_NOMEM or what `check` returned.
 */
TKB_NODISCARD int tkb_tree_find_lock(
	const char *root, int (*check)(void *self, struct tkb_error *err),
	void *self, char out[TKB_LOCK_PATH_SIZE], struct tkb_error *err);

#endif
