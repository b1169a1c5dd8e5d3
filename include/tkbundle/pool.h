/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_POOL_H
#define TKBUNDLE_POOL_H

#include <tkbundle/cache.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/pool.h
 * Run jobs in worker processes: bytes in, bytes out. A crash, hang or abort in
 * a worker costs only its own job.
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
 * Workers are started before there are jobs, unless the options say otherwise,
 * and replaced when they exit. They get the environment and the working
 * directory that the process had when it opened the pool. No signal is blocked
 * or ignored in them, and they have no descriptors except 0 (empty), 1, 2 and
 * the socket 3. If a worker crashes, is killed, hangs or sends garbage, its job
 * is tried again on another one; after the last try it fails with the reason.
 * If no worker can be started at all, the queued jobs fail; the next submit
 * tries again.
 *
 * A worker leads a process group. When its pool is gone, for whatever reason,
 * it kills itself and its group. Processes that left the group are not ended.
 *
 * Threads: every function may be called from any thread at any time, except
 * that no other call may be running on a handle while it is closed or freed. A
 * pool has one thread of its own. It works with any disposition of SIGCHLD, and
 * with closed standard streams.
 *
 * Fork: a child of fork() must not use its parent's pools and futures.
 */
struct tkb_pool;
struct tkb_future;

/** Options for tkb_pool_open(). Zero means the default. */
struct tkb_pool_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const char *worker; /**< path of the program. Required */
	/** after the program's name; ends with NULL; may be NULL */
	const char *const *arguments;
	uint32_t worker_count; /**< at most 256; default: the cores of the
	                            affinity mask, at most 32 */
	uint32_t tries;        /**< tries per job; default 3 */
	/** before SIGTERM, and before SIGKILL, at closing; default 1000 */
	uint32_t grace_ms;
	/** for a worker to get ready; default 60000 */
	uint32_t start_timeout_ms;
	uint64_t max_answer_size; /**< bytes; default 256 MiB */
	uint64_t max_log_size;    /**< bytes; default 64 KiB, at most 1 GiB */
	/**
	 * Copied. Threads that wait for a future call its is_cancelled() ten
	 * times a second. If it returns true, the wait ends with
	 * TKB_ERR_CANCELLED, and the job goes on. May be NULL.
	 */
	const struct tkb_watch *watch;
	/** Do not start a worker before a job waits for one. */
	bool is_started_late;
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
 * End the workers, and wait until they are gone. Unfinished jobs are cancelled,
 * and submits from other threads are refused; futures stay valid. Never fails;
 * NULL is allowed.
 */
TKB_API void tkb_pool_close(struct tkb_pool *pool);

/** A job. */
struct tkb_job {
	size_t struct_size;       /**< sizeof it, as the caller was built */
	struct tkb_bytes request; /**< copied */
	/**
	 * for this job only: "NAME=value" sets a variable, "NAME" unsets it;
	 * ends with NULL; copied; may be NULL. TRITON_CACHE_DIR and
	 * TORCHINDUCTOR_CACHE_DIR are sent along with their current values
	 */
	const char *const *environment;
	/**
	 * jobs with the same key that are in the pool at the same time run
	 * once, with the first one's request; copied; NULL: not shared
	 */
	const char *key;
	uint32_t timeout_ms; /**< per try; default 120000 */
};

/**
 * Submit a job. Jobs start in the order in which they were submitted.
 *
 * @param out  receives a future that the caller frees
 * @return 0, TKB_ERR_INVALID, TKB_ERR_TOO_LARGE (over 1 GiB), TKB_ERR_CANCELLED
 *         (the pool is closing) or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_pool_submit(struct tkb_pool *pool,
                                          const struct tkb_job *job,
                                          struct tkb_future **out,
                                          struct tkb_error *err);

/** The number of queued and running jobs. */
TKB_API size_t tkb_pool_job_count(struct tkb_pool *pool);

/** For tkb_future_wait(): without a limit. */
#define TKB_FOREVER UINT32_MAX

/**
 * Wait until the job is done, at most `timeout_ms`; 0 only checks.
 *
 * @param out  the answer; borrowed until the future is freed; may be NULL
 * @return 0; TKB_MISS (not done yet); the handler's own error; else
 *         TKB_ERR_UNAVAILABLE (the workers crashed or timed out),
 *         TKB_ERR_TOO_LARGE (the answer), TKB_ERR_CANCELLED or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_future_wait(struct tkb_future *future,
                                          uint32_t timeout_ms,
                                          struct tkb_bytes *out,
                                          struct tkb_error *err);

/**
 * The log of the job's last try: first what the handler logged, then what the
 * worker and its child processes wrote to standard output and error; of each,
 * at most the last max_log_size bytes. Empty until the job is done. Borrowed
 * until the future is freed.
 */
TKB_API struct tkb_bytes tkb_future_log(struct tkb_future *future);

/**
 * This future no longer needs the job. If no other future needs it either, the
 * job is removed from the queue, or its worker is killed.
 */
TKB_API void tkb_future_cancel(struct tkb_future *future);

/** Cancel the future and free it. Never fails; NULL is allowed. */
TKB_API void tkb_future_free(struct tkb_future *future);

/** The worker program's side. */
struct tkb_worker_handler {
	/**
	 * Run one job, with its environment set; it is restored afterwards. The
	 * sinks may be used by one thread at a time.
	 *
	 * @param answer  takes the answer, in pieces
	 * @param log     takes details that help if the job fails
	 * @return 0, or a negative enum tkb_status, which the future returns
	 */
	int (*handle)(void *self, struct tkb_bytes request,
	              const struct tkb_sink *answer, const struct tkb_sink *log,
	              struct tkb_error *err);
	void *self; /**< given to handle() */
};

/**
 * In the worker program: run jobs, one after another, until the pool is gone.
 * The pool is at descriptor 3. A second thread watches the socket and, if the
 * pool's process is the parent, that process. It kills the process group when
 * either is gone.
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
