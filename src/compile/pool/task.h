/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_TASK_H
#define TKB_COMPILE_POOL_TASK_H

/* A job in a pool, which one future or several wait for. */

#include <tkbundle/pool.h>

#include "base/base.h"
#include "base/buf.h"

struct tkb_task_limits {
	uint64_t max_answer_size;
	uint64_t max_log_size;
	uint32_t tries;
};

struct tkb_task {
	struct tkb_task *next;  /* in the pool's line */
	size_t wanted;          /* futures that did not cancel */
	size_t held;            /* futures that are not freed, and the pool */
	char *key;              /* owned; NULL: nobody shares it */
	struct tkb_buf message; /* for a worker */
	uint32_t timeout_ms;
	uint32_t tries; /* left */
	bool is_done;   /* then these are its result */
	int rc;
	struct tkb_error error;
	struct tkb_buf answer;
	struct tkb_buf log;
	size_t max_log_size;
};

/* Copies what `job` says. Returns 0, TKB_ERR_INVALID, _TOO_LARGE or _NOMEM. */
TKB_NODISCARD int tkb_task_new(const struct tkb_job *job,
                               const struct tkb_task_limits *limits,
                               struct tkb_task **out, struct tkb_error *err);

/* When nobody holds it. */
void tkb_task_free(struct tkb_task *task);

/* Another try begins, number `job`: what came of the last is forgotten. */
void tkb_task_begin(struct tkb_task *task, uint64_t job);

/* Add to the log, of which the last bytes stay. */
void tkb_task_log(struct tkb_task *task, struct tkb_bytes bytes);

/* All is logged; where to put what the worker wrote besides. */
struct tkb_buf *tkb_task_log_end(struct tkb_task *task);

#endif
