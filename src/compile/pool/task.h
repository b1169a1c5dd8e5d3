/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_TASK_H
#define TKB_COMPILE_POOL_TASK_H

/* A job in a pool, awaited by one or more futures. */

#include <tkbundle/pool.h>

#include "base/base.h"
#include "base/buf.h"

struct tkb_task_limits {
	uint64_t max_answer_size;
	uint64_t max_log_size;
	uint32_t tries;
};

struct tkb_task {
	struct tkb_task *next;  /* in the pool's queue */
	size_t wanted;          /* number of futures that are not cancelled */
	size_t references;      /* number of futures not freed, plus the pool */
	char *key;              /* owned; NULL: not shared */
	struct tkb_buf message; /* the request to the worker */
	uint32_t timeout_ms;
	uint32_t tries; /* tries that are left */
	bool is_done;   /* the fields below are the result */
	int rc;
	struct tkb_error error;
	struct tkb_buf answer;
	struct tkb_buf log;
	size_t max_log_size;
};

/* Copies the job. Returns 0, TKB_ERR_INVALID, _TOO_LARGE or _NOMEM. */
TKB_NODISCARD int tkb_task_new(const struct tkb_job *job,
                               const struct tkb_task_limits *limits,
                               struct tkb_task **out, struct tkb_error *err);

/* Free a task without references. */
void tkb_task_free(struct tkb_task *task);

/* Drop a reference, under the pool's lock. */
void tkb_task_unref(struct tkb_task *task);

/* Begin try number `job`: drop the answer and log of the last try. */
void tkb_task_begin(struct tkb_task *task, uint64_t job);

/* Append to the log, which keeps its last max_log_size bytes. */
void tkb_task_log(struct tkb_task *task, struct tkb_bytes bytes);

/* The worker's log is complete: returns it, to append the worker's output. */
struct tkb_buf *tkb_task_log_end(struct tkb_task *task);

#endif
