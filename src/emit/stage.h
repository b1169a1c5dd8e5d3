/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_STAGE_H
#define TKB_EMIT_STAGE_H

/*
 * tkbundle's own folder in a cache root, `<root>/.tkbundle`, where entries are
 * written before they appear.
 *
 *   stage-<random>/       one for each emit that writes. Its owner holds a lock
 *                         on the file `lock` in it as long as it lives, so that
 *                         anybody can remove the stage of a dead owner
 *   lock                  the root's lock: held to make or remove stages, and to
 *                         commit an entry file by file
 *   trusted-<boot id>     see mark.h
 *   runs                  see hold.h
 *   tools                 see compile/compiler/tools_memory.h
 *   triton                see compile/triton/triton_memory.h
 *
 *     tkb_stage_init(&stage, root);
 *     tkb_stage_begin(&stage, &id, true);     // opens .tkbundle, cleans up
 *     rc = tkb_stage_open(&stage, err);       // only to write
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
	/*
	 * How long to wait for a root's lock. Holders replace a file or an
	 * entry, or remove dead stages, which takes much less.
	 */
	TKB_STAGE_LOCK_MS = 5000,
	TKB_STAGE_NUMBER_SIZE = 24 /* for tkb_stage_format_number() */
};

struct tkb_stage {
	const struct tkb_root *root;
	int own_fd;  /* owned; `.tkbundle`, or -1 */
	int fd;      /* owned; `stage-<random>`, or -1 */
	int lock_fd; /* owned; its lock */
	char name[sizeof("stage-") + TKB_RANDOM_NAME_SIZE];
	struct tkb_share share; /* rights of the files that it writes */
	bool is_trusted;        /* for the bundle that is emitted */
	/* The file system has no RENAME_NOREPLACE. */
	atomic_bool lacks_noreplace;
	/* Waiting for the lock took too long. */
	atomic_bool has_given_up;
	struct tkb_watcher *watcher; /* by reference, or NULL; it can end a wait
	                                for the lock */
};

void tkb_stage_init(struct tkb_stage *stage, const struct tkb_root *root);

/*
 * Open `.tkbundle` if it is there, and find out whether bundle `id`, if it is not
 * NULL, is trusted. With `clean`, remove the stages of dead owners.
 */
void tkb_stage_begin(struct tkb_stage *stage, const struct tkb_digest *id,
                     bool clean);

/* Open `.tkbundle`, or make it. Returns as tkb_stage_open() does. */
TKB_NODISCARD int tkb_stage_open_own(struct tkb_stage *stage,
                                     struct tkb_error *err);

/* Make a stage. Returns 0, TKB_ERR_IO (errno is set), _NOMEM or _CANCELLED. */
TKB_NODISCARD int tkb_stage_open(struct tkb_stage *stage,
                                 struct tkb_error *err);

/*
 * Take the root's lock; tkb_fd_unlock_at() releases it. Returns 0,
 * TKB_ERR_CANCELLED or TKB_ERR_IO. It is also 0, and `lock_out` is unchanged,
 * where one has to go on without the lock: the file system has no locks, the
 * lock is not ours to take, or another process holds it for longer than
 * TKB_STAGE_LOCK_MS.
 */
TKB_NODISCARD int tkb_stage_lock(struct tkb_stage *stage, int *lock_out,
                                 struct tkb_error *err);

/* Format the name of folder `number` in the stage. */
void tkb_stage_format_number(size_t number, char out[TKB_STAGE_NUMBER_SIZE]);

/*
 * Write a new file into `dir_fd`, a folder of the stage, with the rights that
 * files of this root have. A group file is stamped as unused, and so is each file
 * of a tree.
 */
TKB_NODISCARD int tkb_stage_write_file(const struct tkb_stage *stage,
                                       int dir_fd, const char *name,
                                       struct tkb_bytes bytes,
                                       struct tkb_error *err);

/* Mark bundle `id` as trusted: all of it that belongs in this root is whole. */
void tkb_stage_trust(const struct tkb_stage *stage,
                     const struct tkb_digest *id);

/* Remove the stage and all in it. */
void tkb_stage_close(struct tkb_stage *stage);

#endif
