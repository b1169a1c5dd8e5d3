/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_STAGE_H
#define TKB_EMIT_STAGE_H

/*
 * Where entries are made before they appear: `<root>/.tkbundle`.
 *
 *   stage-<random>/       one for each emit that writes; its file `lock` is
 *                         locked by its owner from birth to death, so that
 *                         anybody can tell a dead one and remove it
 *   lock                  held by who makes or removes stages, and by who
 *                         installs an entry file by file
 *   trusted-<boot id>     the ids of bundles whose entries here were written
 *                         or verified since the machine started; a power
 *                         failure cannot have touched those
 *   tools                 what is known of tools that compile: see
 *                         compile/compiler/tools_memory.h
 *
 *     tkb_stage_init(&stage, root);
 *     rc = tkb_stage_begin(&stage, &id, true, err);   // look, clean up
 *     rc = tkb_stage_open(&stage, err);               // only if one writes
 *     ...
 *     tkb_stage_close(&stage);
 */

#include <stdatomic.h>

#include "base/base.h"
#include "base/random.h"
#include "base/share.h"
#include "cache/root.h"
#include "cache/watch.h"

enum {
	/* Nobody holds a root's lock for so long who means well: one file is
	   replaced in it, or one entry, or the dead are removed. */
	TKB_STAGE_LOCK_MS = 5000
};

struct tkb_stage {
	const struct tkb_root *root;
	int own_fd;  /* owned; `.tkbundle`, or -1 */
	int fd;      /* owned; `stage-<random>`, or -1 */
	int lock_fd; /* owned; its lock */
	char name[sizeof("stage-") + TKB_RANDOM_NAME_SIZE];
	struct tkb_share share;   /* of what appears in the root */
	bool is_trusted;          /* for the bundle that is emitted */
	atomic_bool no_noreplace; /* the file system cannot RENAME_NOREPLACE */
	atomic_bool is_lock_kept; /* somebody does not give the lock back */
	struct tkb_watcher *watcher; /* by reference; ends a wait for the lock;
	                                NULL: nobody */
};

void tkb_stage_init(struct tkb_stage *stage, const struct tkb_root *root);

/*
 * Look what is there: is bundle `id` trusted? With `clean`, remove the stages
 * of the dead. A root without our folder is left as it is.
 */
void tkb_stage_begin(struct tkb_stage *stage, const struct tkb_digest *id,
                     bool clean);

/* Make a stage. Returns 0, TKB_ERR_IO (see errno), _NOMEM or _CANCELLED. */
TKB_NODISCARD int tkb_stage_open(struct tkb_stage *stage,
                                 struct tkb_error *err);

/*
 * Wait for the root's lock; tkb_fd_unlock_at() gives it back. Where the file
 * system has none, it is not for us, or somebody holds it for longer than
 * TKB_STAGE_LOCK_MS, one must do without: then it is 0, too, and -1 stays in
 * `lock_out`. Returns 0, TKB_ERR_CANCELLED, or TKB_ERR_IO.
 */
TKB_NODISCARD int tkb_stage_lock(struct tkb_stage *stage, int *lock_out,
                                 struct tkb_error *err);

/* Note that all of bundle `id` that belongs here is here. */
void tkb_stage_trust(const struct tkb_stage *stage,
                     const struct tkb_digest *id);

/* Remove the stage and all in it. */
void tkb_stage_close(struct tkb_stage *stage);

#endif
