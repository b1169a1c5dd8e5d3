/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_POOL_H
#define TKBUNDLE_POOL_H

#include <tkbundle/cache.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/pool.h
 * Jobs for worker processes: bytes in, bytes out. What crashes, hangs or aborts
 * in a worker costs only its own job.
 *
 *     rc = tkb_pool_open(&options, &pool, &err);
 *     rc = tkb_pool_submit(pool, &job, &future, &err);
 *     rc = tkb_future_wait(future, 10000, &answer, &err);
 *     tkb_future_free(future);
 *     tkb_pool_close(pool);
 *
 * and in the worker program:
 *
 *     int main(void)
 *     {
 *             return tkb_worker_serve(&handler, &err) < 0;
 *     }
 *
 * Workers are started before there is work. A job whose worker crashed, was
 * killed, hung or wrote what is no answer is tried again on another one; then it
 * fails, with what is known. A worker leads a process group, and when its pool
 * is gone, however that ended, it ends itself with all that it started.
 *
 * Threads: everything here may be called from any thread at any time. A pool
 * has one thread of its own. The disposition of SIGCHLD does not matter.
 * Fork: in a child of fork() the parent's pools and futures must not be used.
 */
struct tkb_pool;
struct tkb_future;

/** Choices for tkb_pool_open(). Zero means the default. */
struct tkb_pool_options {
	const char *worker;           /**< the program; a path. Required */
	const char *const *arguments; /**< of it, after its name; ends with
	                                   NULL; NULL: none */
	uint32_t worker_count; /**< default: the cores of the affinity mask, at
	                            most 32 */
	uint32_t tries;        /**< of one job; default 3 */
	uint32_t grace_ms; /**< that workers have to end, before SIGTERM, and
	                            again before SIGKILL; default 1000 */
	uint64_t max_answer_size; /**< bytes; default 256 MiB */
};

/**
 * Start the workers.
 *
 * @param options  not kept
 * @param out      receives a pool that the caller closes
 * @return 0, TKB_ERR_INVALID, TKB_ERR_IO (the program cannot be started),
 *         TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_pool_open(const struct tkb_pool_options *options,
                                        struct tkb_pool **out,
                                        struct tkb_error *err);

/**
 * End the workers, and wait until they are gone. Jobs that are not done are
 * cancelled; futures stay valid. Never fails; NULL is allowed.
 */
TKB_API void tkb_pool_close(struct tkb_pool *pool);

/** One job. */
struct tkb_job {
	struct tkb_bytes request;       /**< copied */
	const char *const *environment; /**< "NAME=value", or "NAME" to be
	                                     unset, for this job alone; ends
	                                     with NULL; copied; may be NULL */
	const char
		*key; /**< jobs of equal keys that are in the pool at the same
	                      time are done once; NULL: this one by itself */
	uint32_t timeout_ms; /**< of one try; default 120000 */
};

/**
 * Give a job to the pool. Jobs are begun in the order in which they came.
 *
 * @param out  receives a future that the caller frees
 * @return 0, TKB_ERR_INVALID, TKB_ERR_TOO_LARGE or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_pool_submit(struct tkb_pool *pool,
                                          const struct tkb_job *job,
                                          struct tkb_future **out,
                                          struct tkb_error *err);

/** How many jobs are waiting or at work. */
TKB_API size_t tkb_pool_job_count(struct tkb_pool *pool);

/** For tkb_future_wait(): as long as it takes. */
#define TKB_FOREVER UINT32_MAX

/**
 * Wait until the job is done, at most `timeout_ms`; 0 only looks.
 *
 * @param out  the answer; borrowed until the future is freed; may be NULL
 * @return 0; TKB_MISS (not yet); what the handler failed with; else
 *         TKB_ERR_UNAVAILABLE (its workers crashed or took too long),
 *         TKB_ERR_TOO_LARGE (the answer), TKB_ERR_CANCELLED or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_future_wait(struct tkb_future *future,
                                          uint32_t timeout_ms,
                                          struct tkb_bytes *out,
                                          struct tkb_error *err);

/**
 * What the worker logged, and where it crashed the end of what it wrote to
 * standard error: of the last try, at most the last 64 KiB. Empty while the job
 * is not done. Borrowed until the future is freed.
 */
TKB_API struct tkb_bytes tkb_future_log(struct tkb_future *future);

/**
 * The job is not needed any more by this future. If no other wants it, it does
 * not begin, and a worker that is at it is killed.
 */
TKB_API void tkb_future_cancel(struct tkb_future *future);

/** Cancel and free. Never fails; NULL is allowed. */
TKB_API void tkb_future_free(struct tkb_future *future);

/** What a worker does. */
struct tkb_worker_handler {
	/**
	 * Do one job, under its environment.
	 *
	 * @param answer  takes the answer, in pieces
	 * @param log     takes what helps where the job fails
	 * @return 0, or a negative enum tkb_status, which the future gives
	 */
	int (*handle)(void *self, struct tkb_bytes request,
	              const struct tkb_sink *answer, const struct tkb_sink *log,
	              struct tkb_error *err);
	void *self; /**< given to handle() */
};

/**
 * In the worker program: do jobs, one after another, until the pool is gone.
 * The pool is at descriptor 3. A second thread watches it, and kills the process
 * group when it is gone while a job is at work.
 *
 * @return 0, TKB_ERR_INVALID (this process was not started by a pool),
 *         TKB_ERR_IO or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_worker_serve(
	const struct tkb_worker_handler *handler, struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif
