/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_EMITTER_H
#define TKB_EMIT_EMITTER_H

/* What an emit works with: its jobs, what became of them, and its plan. */

#include <tkbundle/emit.h>

#include "emit/entry_state.h"
#include "format/reader.h"
#include "emit/stage.h"
#include "cache/watch.h"

/* One entry, at one root. */
struct tkb_job {
	size_t entry;
	size_t root;
	enum tkb_entry_state state;
	bool is_staged;
	bool is_done; /* with what follows */
	enum tkb_outcome outcome;
	enum tkb_reason reason;
	const char *message; /* static, or the fault */
	char *fault;         /* owned */
};

struct tkb_emitter {
	const struct tkb_bundle *bundle;
	const struct tkb_emit_options *options;
	struct tkb_roots roots;
	struct tkb_stage *stages; /* owned; one a root */
	size_t stage_count;
	struct tkb_job *jobs; /* owned; by entry, then root */
	size_t job_count;
	size_t job_capacity;
	size_t *first_jobs; /* owned; of each entry, and behind the last */
	struct tkb_loader *loaders;   /* owned; one a thread */
	struct tkb_decoder *decoders; /* owned; one a thread */
	size_t thread_count;
	size_t decoder_count;
	struct tkb_watcher watcher; /* its lock guards first_damage */
	struct tkb_emit_report report;
	_Atomic uint64_t written; /* bytes */
	struct tkb_error first_damage;
};

void tkb_emitter_close(struct tkb_emitter *emitter);

const struct tkb_entry *tkb_emitter_entry(const struct tkb_emitter *emitter,
                                          const struct tkb_job *job);

/* Tell what became of `entry` at `root`. */
void tkb_emitter_tell(struct tkb_emitter *emitter,
                      const struct tkb_entry *entry, const char *root,
                      enum tkb_outcome outcome, enum tkb_reason reason,
                      const char *message);

/* Note what became of a job, which is done then; `message` is static. */
void tkb_emitter_finish(struct tkb_emitter *emitter, struct tkb_job *job,
                        enum tkb_outcome outcome, enum tkb_reason reason,
                        const char *message);

/*
 * Note that a job has failed with `rc` and `fault`, and return 0. What concerns
 * them all is passed on.
 */
TKB_NODISCARD int tkb_emitter_fail(struct tkb_emitter *emitter,
                                   struct tkb_job *job, int rc,
                                   const struct tkb_error *fault,
                                   struct tkb_error *err);

/*
 * Tell what became of the jobs that are done, in their order. It is told at the
 * end: to take turns for it would cost more than the work.
 */
void tkb_emitter_tell_jobs(struct tkb_emitter *emitter);

/* Is `path` to be laid out for Triton or for Inductor? */
TKB_NODISCARD int tkb_emitter_choose_layout(struct tkb_emitter *emitter,
                                            const char *path,
                                            struct tkb_error *err);

/*
 * Make the jobs: what was asked for, fits this machine, and has a root, which
 * is opened or made. Returns 0, TKB_MISS (no such key), or an error.
 */
TKB_NODISCARD int tkb_emitter_plan(struct tkb_emitter *emitter,
                                   const char *path, struct tkb_error *err);

/* Of several variants of a key at one root, the first is taken. */
TKB_NODISCARD int tkb_emitter_skip_twins(struct tkb_emitter *emitter,
                                         struct tkb_error *err);

#endif
