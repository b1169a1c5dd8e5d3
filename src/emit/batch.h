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
 * A zeroed batch can be released.
 * Results are reported at the end and in the jobs' order: to take turns for it
 * would cost more than the work.
 */

#include "cache/watch.h"
#include "emit/stage.h"
#include "tree/unit.h"

/* A unit that is called otherwise here: see tree/unit_names.h. */
struct tkb_renamed {
	struct tkb_entry entry;
	char path[TKB_UNIT_PATH_LIMIT + 1];
};

/* One entry at one root, and what becomes of it. */
struct tkb_job {
	const struct tkb_entry *entry;
	struct tkb_renamed *renamed; /* by reference; or NULL */
	size_t root;                 /* its index */
	uint64_t size; /* what it counts for in progress, in bytes */
	bool is_done;  /* what follows is set */
	enum tkb_outcome outcome;
	enum tkb_reason reason;
	const char *message; /* static, or `fault` */
	char *fault;         /* owned */
};

struct tkb_batch {
	struct tkb_timed timed;
	struct tkb_watcher watcher;
	const struct tkb_roots *roots; /* by reference */
	struct tkb_stage *stages;      /* owned; one a root */
	size_t stage_count;
	struct tkb_job *jobs; /* owned */
	size_t job_count;
	size_t job_capacity;
};

/*
 * Begin a call with the caller's watch and deadline, as tkb_timed_begin() does.
 * Returns 0; TKB_MISS if TKBUNDLE_DISABLE is set and `is_enabled` is false; or
 * a failure.
 */
TKB_NODISCARD int tkb_batch_begin(struct tkb_batch *batch, bool is_enabled,
                                  const struct tkb_watch *watch,
                                  uint32_t deadline_ms, struct tkb_error *err);

void tkb_batch_release(struct tkb_batch *batch);

/*
 * Give each root a stage, and unless `is_dry_run` remove the stages of dead
 * processes there. `id` is the bundle's, or NULL.
 */
TKB_NODISCARD int tkb_batch_init_stages(struct tkb_batch *batch,
                                        const struct tkb_roots *roots,
                                        const struct tkb_digest *id,
                                        bool is_dry_run, struct tkb_error *err);

/*
 * Open the stage of each root that has an unfinished job. A root that is
 * read-only for us fails the call; any other failure fails only the jobs of
 * that root.
 */
TKB_NODISCARD int tkb_batch_open_stages(struct tkb_batch *batch,
                                        struct tkb_error *err);

/* Append a job that is not done; its size is the entry's. */
TKB_NODISCARD int tkb_batch_add_job(struct tkb_batch *batch,
                                    const struct tkb_entry *entry, size_t root,
                                    struct tkb_error *err);

/* Set the total that progress is measured against: the size of all jobs. */
void tkb_batch_set_total(struct tkb_batch *batch);

/*
 * Call do_one(self, worker, index) for each job that is not done, on up to
 * `threads` threads as tkb_parallel() does, until one fails or it is cancelled.
 */
TKB_NODISCARD int tkb_batch_run(struct tkb_batch *batch, size_t threads,
                                int (*do_one)(void *self, size_t worker,
                                              size_t index,
                                              struct tkb_error *err),
                                void *self, struct tkb_error *err);

/* Note what became of a job; `message` is static. */
void tkb_batch_finish(struct tkb_batch *batch, struct tkb_job *job,
                      enum tkb_outcome outcome, enum tkb_reason reason,
                      const char *message);

/*
 * Finish a job that failed with `rc` and `fault`, and return 0. A failure that
 * is not the job's own (out of memory, cancelled) is returned instead.
 */
TKB_NODISCARD int tkb_batch_fail(struct tkb_batch *batch, struct tkb_job *job,
                                 enum tkb_outcome outcome, int rc,
                                 const struct tkb_error *fault,
                                 struct tkb_error *err);

bool tkb_batch_is_done(const struct tkb_batch *batch);

/* Count and tell the result of each job that is done. */
void tkb_batch_report(struct tkb_batch *batch,
                      void (*count)(void *self,
                                    const struct tkb_result *result),
                      void *self);

/* Return `rc`, with `fault` in `err`, or that the deadline has passed. */
TKB_NODISCARD int tkb_batch_end(const struct tkb_batch *batch, int rc,
                                const struct tkb_error *fault,
                                struct tkb_error *err);

#endif
