/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_BATCH_H
#define TKB_EMIT_BATCH_H

/*
 * What emit, relocate and gc have in common: a caller's watch and deadline, a
 * stage in each cache root, and a job for each entry at a root.
 *
 *     rc = tkb_batch_begin(&batch, is_enabled, watch, deadline_ms, err);
 *     if (rc != 0)
 *             return rc < 0 ? rc : 0;                  // failed, or disabled
 *     rc = tkb_batch_init_stages(&batch, &roots, id, is_dry_run, err);
 *     ...                                              // fill in batch.jobs
 *     rc = tkb_batch_run(&batch, threads, do_one, self, err);
 *     tkb_batch_report(&batch, count, self);
 *     return tkb_batch_end(&batch, rc, &fault, err);
 *
 * A zeroed batch can be released. Results are reported at the end, in the order
 * of the jobs: reporting each at once would make the threads wait for each
 * other, which costs more than the work.
 */

#include "cache/watch.h"
#include "emit/stage.h"
#include "tree/unit.h"

/* A unit that has another name here: see tree/unit_names.h. */
struct tkb_renamed {
	struct tkb_entry entry;
	char path[TKB_UNIT_PATH_LIMIT + 1];
};

/* One entry for one root, and what becomes of it. */
struct tkb_job {
	const struct tkb_entry *entry;
	struct tkb_renamed *renamed; /* by reference; or NULL */
	size_t root;                 /* the root's index */
	uint64_t size;               /* its part of the progress, in bytes */
	bool is_done;                /* the following members are set */
	enum tkb_outcome outcome;
	enum tkb_reason reason;
	const char *message; /* a constant, or `fault` */
	char *fault;         /* owned */
};

struct tkb_batch {
	struct tkb_timed timed;
	struct tkb_watcher watcher;
	const struct tkb_roots *roots; /* by reference */
	struct tkb_stage *stages;      /* owned; one for each root */
	size_t stage_count;
	struct tkb_job *jobs; /* owned */
	size_t job_count;
	size_t job_capacity;
};

/*
 * Begin a call with the caller's watch and deadline: see tkb_timed_begin().
 * Returns 0; TKB_MISS if TKBUNDLE_DISABLE is set and `is_enabled` is false; or
 * a failure.
 */
TKB_NODISCARD int tkb_batch_begin(struct tkb_batch *batch, bool is_enabled,
                                  const struct tkb_watch *watch,
                                  uint32_t deadline_ms, struct tkb_error *err);

void tkb_batch_release(struct tkb_batch *batch);

/*
 * Give each root a stage. Unless `is_dry_run` is set, also remove the stages of
 * dead processes there. `id` is the bundle's id, or NULL.
 */
TKB_NODISCARD int tkb_batch_init_stages(struct tkb_batch *batch,
                                        const struct tkb_roots *roots,
                                        const struct tkb_digest *id,
                                        bool is_dry_run, struct tkb_error *err);

/*
 * Open the stage of each root that has an unfinished job. If we may not write
 * to a root, the call fails; any other failure fails only the jobs of that
 * root.
 */
TKB_NODISCARD int tkb_batch_open_stages(struct tkb_batch *batch,
                                        struct tkb_error *err);

/* Append a job that is not done. Its size is that of the entry. */
TKB_NODISCARD int tkb_batch_add_job(struct tkb_batch *batch,
                                    const struct tkb_entry *entry, size_t root,
                                    struct tkb_error *err);

/* Set the total that progress is measured against: the size of all jobs. */
void tkb_batch_set_total(struct tkb_batch *batch);

/*
 * Call do_one(self, worker, index) for each job that is not done, on up to
 * `threads` threads, with tkb_parallel(), until a call fails or the batch is
 * cancelled.
 */
TKB_NODISCARD int tkb_batch_run(struct tkb_batch *batch, size_t threads,
                                int (*do_one)(void *self, size_t worker,
                                              size_t index,
                                              struct tkb_error *err),
                                void *self, struct tkb_error *err);

/* Note the result of a job. `message` must be a constant. */
void tkb_batch_finish(struct tkb_batch *batch, struct tkb_job *job,
                      enum tkb_outcome outcome, enum tkb_reason reason,
                      const char *message);

/* The same for a job that needs no reason. */
void tkb_batch_done(struct tkb_batch *batch, struct tkb_job *job,
                    enum tkb_outcome outcome);

/*
 * Finish a job that failed with `rc` and `fault`, and return 0. A failure that
 * concerns the whole call (out of memory, cancelled) is returned instead.
 */
TKB_NODISCARD int tkb_batch_fail(struct tkb_batch *batch, struct tkb_job *job,
                                 enum tkb_outcome outcome, int rc,
                                 const struct tkb_error *fault,
                                 struct tkb_error *err);

bool tkb_batch_is_done(const struct tkb_batch *batch);

/*
 * Call count() for the result of each job that is done, and report it to the
 * caller.
 */
void tkb_batch_report(struct tkb_batch *batch,
                      void (*count)(void *self,
                                    const struct tkb_result *result),
                      void *self);

/*
 * Return `rc`, with `fault` in `err`. If the deadline ended the call, `err`
 * says so.
 */
TKB_NODISCARD int tkb_batch_end(const struct tkb_batch *batch, int rc,
                                const struct tkb_error *fault,
                                struct tkb_error *err);

#endif
