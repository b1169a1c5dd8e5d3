/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_STAGE_H
#define TKB_EMIT_STAGE_H

/*
 * tkbundle's own folder in a cache root, `<root>/.tkbundle`, where entries are
 * written before they appear.
 *
 *   stage-<random>/       one for each emit that writes; see tkb_stage_part().
 *                         Its owner locks the file `lock` in it for life, so
 *                         that others can tell when the owner is dead, and
 *                         remove the stage
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
	/* How long to wait for a root's lock. Holders replace a file or an
	   entry, or remove dead stages, which takes much less time. */
	TKB_STAGE_LOCK_MS = 5000,
	TKB_STAGE_NUMBER_SIZE = 24, /* for tkb_stage_format_number() */
	TKB_STAGE_PARTS = 16
};

struct tkb_stage {
	const struct tkb_root *root;
	int own_fd;  /* owned; `.tkbundle`, or -1 */
	int fd;      /* owned; `stage-<random>`, or -1 */
	int lock_fd; /* owned; `lock` in the stage */
	/* Owned, but for `fd`; see tkb_stage_part(). -1: not open yet. */
	atomic_int parts[TKB_STAGE_PARTS];
	char name[sizeof("stage-") + TKB_RANDOM_NAME_SIZE];
	struct tkb_share share; /* permissions of files written to the root */
	bool is_trusted;        /* the bundle is marked as trusted */
	bool is_empty;          /* the root has no entries yet */
	/* RENAME_NOREPLACE does not work on this file system. */
	atomic_bool lacks_noreplace;
	/* A wait for the lock took too long. */
	atomic_bool has_given_up;
	struct tkb_watcher *watcher; /* by reference, or NULL; it can end a
	                                wait for the lock */
};

void tkb_stage_init(struct tkb_stage *stage, const struct tkb_root *root);

/*
 * Open `.tkbundle` if it exists, and find out whether bundle `id` (or NULL) is
 * trusted. If `clean` is set, remove the stages of dead owners.
 */
void tkb_stage_begin(struct tkb_stage *stage, const struct tkb_digest *id,
                     bool clean);

/* Open `.tkbundle`, or make it. Returns what tkb_stage_open() returns. */
TKB_NODISCARD int tkb_stage_open_own(struct tkb_stage *stage,
                                     struct tkb_error *err);

/*
 * Make a stage. Returns 0, TKB_ERR_IO (errno is set), TKB_ERR_NOMEM or
 * TKB_ERR_CANCELLED.
 */
TKB_NODISCARD int tkb_stage_open(struct tkb_stage *stage,
                                 struct tkb_error *err);

/*
 * Take the root's lock; tkb_fd_unlock_at() releases it. Returns 0,
 * TKB_ERR_CANCELLED or TKB_ERR_IO. It also returns 0, with `lock_out`
 * unchanged, if the caller must continue without the lock: the file system has
 * no locks, we may not take the lock, or another process holds it for longer
 * than TKB_STAGE_LOCK_MS.
 */
TKB_NODISCARD int tkb_stage_lock(struct tkb_stage *stage, int *lock_out,
                                 struct tkb_error *err);

/*
 * The folder of the stage for what has this number; not closed by the caller. A
 * change in a folder locks it, so threads, which write ranges of numbers, get
 * different ones. If none can be made, it is the stage itself.
 */
int tkb_stage_part(struct tkb_stage *stage, size_t number);

/* Format the name of folder `number` in its part of the stage. */
void tkb_stage_format_number(size_t number, char out[TKB_STAGE_NUMBER_SIZE]);

/*
 * Write a new file into `dir_fd`, a folder of the stage, with the permissions
 * that files in this root have. Group files and files of trees are stamped as
 * unused.
 */
TKB_NODISCARD int tkb_stage_write_file(const struct tkb_stage *stage,
                                       int dir_fd, const char *name,
                                       struct tkb_bytes bytes,
                                       struct tkb_error *err);

/* Mark bundle `id` as trusted: all its entries for this root are whole. */
void tkb_stage_trust(const struct tkb_stage *stage,
                     const struct tkb_digest *id);

/* Remove the stage and everything in it. */
void tkb_stage_close(struct tkb_stage *stage);

#endif
