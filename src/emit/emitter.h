/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_EMITTER_H
#define TKB_EMIT_EMITTER_H

/*
 * An emit, and its steps in their order. emit.c passes through each once:
 *
 *   select.c   which entries of the bundle are wanted, and fit this machine;
 *   plan.c     into which roots each of them goes: a job for each root;
 *   inspect    what already exists there (emit/inspect.h);
 *   write      frame by frame, decode and stage what is wanted (write.c,
 *              destination.c);
 *   commit     move what was staged into place (destination_commit.c);
 *   report.c   tell what became of each job.
 */

#include <tkbundle/emit.h>

#include "emit/inspect.h"
#include "emit/batch.h"
#include "format/reader.h"
#include "tree/gpu.h"

/* What an emit does with an entry of the bundle. */
enum tkb_selection {
	TKB_SELECTION_NONE,     /* none of the keys asked for */
	TKB_SELECTION_TAKE,     /* it is emitted */
	TKB_SELECTION_TARGET,   /* skipped: for another target */
	TKB_SELECTION_PLATFORM, /* skipped: for another platform */
	TKB_SELECTION_TREE,     /* skipped: no folder given for its tree */
};

/* How far a job is. */
struct tkb_progress {
	enum tkb_entry_state state; /* of its destination */
	bool is_written;            /* to the stage */
};

struct tkb_emitter {
	const struct tkb_bundle *bundle;
	const struct tkb_emit_options *options;
	const bool *skips;      /* by entry; NULL: none is skipped */
	struct tkb_batch batch; /* its jobs are by entry, then root */
	struct tkb_arena arena; /* of units that are called otherwise here */
	struct tkb_buf path; /* the root's, absolute, with a zero; or empty */
	struct tkb_named_root *named;   /* owned; of the trees */
	enum tkb_selection *selections; /* owned; of each entry */
	struct tkb_gpu_here here;       /* asked where something was tuned */
	struct tkb_roots roots;
	size_t *first_jobs; /* owned; item i has jobs from [i] up to [i + 1] */
	struct tkb_progress *progress; /* owned; of each job */
	size_t *order;                 /* owned; of frames, as they are read */
	struct tkb_loader *loaders;    /* owned; one a thread */
	struct tkb_decoder *decoders;  /* owned; one a thread */
	size_t loader_count;
	size_t decoder_count;
	struct tkb_emit_report report;
	_Atomic uint64_t written_size;
	struct tkb_error first_damage; /* guarded by the watcher's lock */
};

/* Fill in `selections`. Returns 0, TKB_MISS (no such key), or an error. */
TKB_NODISCARD int tkb_emit_select(struct tkb_emitter *emitter,
                                  struct tkb_error *err);

/*
 * Choose the layout, open or make the roots, and fill in the jobs. Of several
 * variants of a key for one root, the first is emitted.
 */
TKB_NODISCARD int tkb_emit_plan(struct tkb_emitter *emitter,
                                struct tkb_error *err);

/*
 * Write what the inspection found missing, and move it into place. Options say
 * whether it is synced.
 */
TKB_NODISCARD int tkb_emit_write(struct tkb_emitter *emitter,
                                 struct tkb_error *err);

/*
 * Finish a job that has failed, and return 0. A failure that concerns the whole
 * emit is passed on.
 */
TKB_NODISCARD int tkb_emit_fail(struct tkb_emitter *emitter,
                                struct tkb_job *job, int rc,
                                const struct tkb_error *fault,
                                struct tkb_error *err);

/* Fill in the report, and give the caller all results. */
void tkb_emit_report(struct tkb_emitter *emitter);

/* 0, or TKB_ERR_CORRUPT and what is damaged first. */
TKB_NODISCARD int tkb_emit_damage(const struct tkb_emitter *emitter,
                                  struct tkb_error *err);

#endif
