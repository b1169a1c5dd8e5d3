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
 * Workers are started before there is work, and again when they end. They have
 * the environment and the working directory that the process had when it opened
 * the pool, no signal blocked or ignored, no descriptors but 0 (empty), 1, 2
 * and the socket 3. A job whose worker crashed, was killed, hung or wrote what
 * is no answer is tried again on another one; then it fails, with what is
 * known. Where no worker can be had at all, the jobs that wait fail; the next
 * one has it tried again.
 *
 * A worker leads a process group, and when its pool is gone, however that
 * ended, it ends itself with all that it started. What left the group is on its
 * own.
 *
 * Threads: everything here may be called from any thread at any time; of
 * closing and freeing the rest must have come back. A pool has one thread of
 * its own. The disposition of SIGCHLD does not matter; nor does it whether the
 * standard streams are open.
 * Fork: in a child of fork() the parent's pools and futures must not be used.
 */
struct tkb_pool;
struct tkb_future;

/** Choices for tkb_pool_open(). Zero means the default. */
struct tkb_pool_options {
	size_t struct_size;           /**< sizeof it, as the caller was built */
	const char *worker;           /**< the program; a path. Required */
	const char *const *arguments; /**< of it, after its name; ends with
	                                   NULL; NULL: none */
	uint32_t worker_count; /**< at most 256; default: the cores of the
	                            affinity mask, at most 32 */
	uint32_t tries;        /**< of one job; default 3 */
	uint32_t grace_ms; /**< that workers have to end, before SIGTERM, and
	                            again before SIGKILL; default 1000 */
	uint32_t start_timeout_ms; /**< that one has to begin; default 60000 */
	uint64_t max_answer_size;  /**< bytes; default 256 MiB */
	uint64_t max_log_size;     /**< bytes; default 64 KiB, at most 1 GiB */
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
 * cancelled, and a job that another thread still gives is refused; futures stay
 * valid. Never fails; NULL is allowed.
 */
TKB_API void tkb_pool_close(struct tkb_pool *pool);

/** One job. */
struct tkb_job {
	size_t struct_size;       /**< sizeof it, as the caller was built */
	struct tkb_bytes request; /**< copied */
	const char *const *environment; /**< "NAME=value", or "NAME" to be
	                                     unset, for this job alone; ends
	                                     with NULL; copied; may be NULL.
	                                     TRITON_CACHE_DIR and
	                                     TORCHINDUCTOR_CACHE_DIR go with
	                                     it as they are here now */
	const char
		*key; /**< jobs of equal keys that are in the pool at the same
	                      time are done once, as the first of them says;
	                      copied; NULL: this one by itself */
	uint32_t timeout_ms; /**< of one try; default 120000 */
};

/**
 * Give a job to the pool. Jobs are begun in the order in which they came.
 *
 * @param out  receives a future that the caller frees
 * @return 0, TKB_ERR_INVALID, TKB_ERR_TOO_LARGE (over 1 GiB), TKB_ERR_CANCELLED
 *         (the pool is closing) or TKB_ERR_NOMEM
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
 * What the worker logged during the job, and behind it what it and the programs
 * that it started wrote to standard output and error meanwhile: of the last
 * try, and of each of both the last max_log_size bytes at most. Empty while the
 * job is not done. Borrowed until the future is freed.
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
	 * Do one job, under its environment; what that replaces is put back
	 * afterwards. The sinks are for one thread at a time.
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
 * The pool is at descriptor 3. A second thread watches it and, where it is the
 * parent, its process, and kills the process group when one is gone.
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
