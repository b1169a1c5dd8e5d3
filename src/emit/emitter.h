/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_EMITTER_H
#define TKB_EMIT_EMITTER_H

/*
 * An emit, and its steps in order. emit.c runs them; write and commit alternate,
 * frame by frame (tkb_emit_write()):
 *
 *   select.c   choose the entries that are wanted and fit this machine;
 *   plan.c     find the roots for each entry, and make a job for each root;
 *   inspect    see what already exists there (emit/inspect.h);
 *   write      frame by frame, decode the wanted entries and write them to the
 *              stage (write.c, destination.c);
 *   commit     move entries from the stage into place (destination_commit.c);
 *   report.c   report the result of each job.
 */

#include <tkbundle/emit.h>

#include "emit/inspect.h"
#include "emit/batch.h"
#include "emit/destination.h"
#include "format/reader.h"
#include "tree/gpu.h"

/* What an emit does with an entry of the bundle. */
enum tkb_selection {
	TKB_SELECTION_NONE,     /* its key was not asked for */
	TKB_SELECTION_TAKE,     /* emitted */
	TKB_SELECTION_TARGET,   /* skipped: for another target */
	TKB_SELECTION_PLATFORM, /* skipped: for another platform */
	TKB_SELECTION_TREE,     /* skipped: no folder given for its tree */
};

/* The progress of a job. */
struct tkb_progress {
	enum tkb_entry_state state; /* of the destination */
	bool is_written;            /* the stage has it */
	/* See siblings.h: the first job in the folder, and the next one; the
	   last one's next is itself. */
	bool has_siblings;
	size_t first_sibling;
	size_t next_sibling;
};

struct tkb_emitter {
	const struct tkb_bundle *bundle;
	const struct tkb_emit_options *options;
	const bool *skips;      /* by entry; NULL: skip none */
	struct tkb_batch batch; /* its jobs are sorted by entry, then root */
	struct tkb_arena arena; /* owns units that have another name here */
	struct tkb_buf path; /* absolute, of the root, with a zero; or empty */
	struct tkb_named_root *named;   /* owned; the trees' paths */
	enum tkb_selection *selections; /* owned; one per entry */
	struct tkb_gpu_here here;       /* set if the bundle has tuned units */
	struct tkb_roots roots;
	size_t *first_jobs; /* owned; item i has jobs [i] up to [i + 1] */
	struct tkb_progress *progress;    /* owned; one per job */
	size_t *order;                    /* owned; frames, in reading order */
	struct tkb_loader *loaders;       /* owned; one per thread */
	struct tkb_decoder_team decoding; /* of as many threads */
	size_t loader_count;
	struct tkb_emit_report report;
	_Atomic uint64_t written_size;
	struct tkb_error first_damage; /* the watcher's lock guards it */
};

/* Fill in `selections`. Returns 0, TKB_MISS (no such key), or an error. */
TKB_NODISCARD int tkb_emit_select(struct tkb_emitter *emitter,
                                  struct tkb_error *err);

/*
 * Choose the layout, open or make the roots, and fill in the jobs. If a key has
 * several variants for one root, the first variant is emitted.
 */
TKB_NODISCARD int tkb_emit_plan(struct tkb_emitter *emitter,
                                struct tkb_error *err);

/* Where job `index` goes. */
struct tkb_destination tkb_emit_destination(struct tkb_emitter *emitter,
                                            size_t index);

/*
 * Write what the inspection found missing, and move it into place. The options
 * say whether to sync it.
 */
TKB_NODISCARD int tkb_emit_write(struct tkb_emitter *emitter,
                                 struct tkb_error *err);

/*
 * Finish a job that failed, and return 0. A failure that concerns the whole
 * emit is returned instead.
 */
TKB_NODISCARD int tkb_emit_fail(struct tkb_emitter *emitter,
                                struct tkb_job *job, int rc,
                                const struct tkb_error *fault,
                                struct tkb_error *err);

/* Fill in the report, and give all results to the caller. */
void tkb_emit_report(struct tkb_emitter *emitter);

/* Returns 0, or TKB_ERR_CORRUPT with the first damage that was found. */
TKB_NODISCARD int tkb_emit_damage(const struct tkb_emitter *emitter,
                                  struct tkb_error *err);

#endif
