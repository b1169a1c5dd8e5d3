/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_POOL_FIXTURE_H
#define TKB_TESTS_POOL_FIXTURE_H

/* What the tests of pools have in common. Their worker is pool_worker.c. */

#include <sys/types.h>

#include <tkbundle/pool.h>

#include "harness.h"

enum {
	PATIENCE_MS = 60000, /* for what must come */
	CHILDREN_LIMIT = 512
};

/* The paths of the worker, and of a program that opens a pool and dies. */
const char *worker_program(void);
const char *parent_program(void);

/* A pool of that worker where `options` name none; of the fields given. */
struct tkb_pool *open_pool(struct tkb_pool_options options);
#define open_pool_with(...)                                                    \
	open_pool((struct tkb_pool_options){                                   \
		.struct_size = sizeof(struct tkb_pool_options), __VA_ARGS__ })
struct tkb_pool *open_pool_of(uint32_t worker_count);

/* A variable that is closed with its block. */
#define POOL(name) TKB_AUTO(close_pool_at) struct tkb_pool *name
TKB_AUTO_POINTER(close_pool_at, struct tkb_pool, tkb_pool_close)

/* A job of that request, all else default; of the fields given. */
struct tkb_future *give(struct tkb_pool *pool, const char *request);
struct tkb_future *give_job(struct tkb_pool *pool, struct tkb_job job);
#define give_with(pool, ...)                                                   \
	give_job(pool,                                                         \
	         (struct tkb_job){ .struct_size = sizeof(struct tkb_job),      \
	                           __VA_ARGS__ })

/* Wait, and free the future. */
const char *answer_of(struct tkb_future *future);
void check_job_fails(struct tkb_future *future, int status, const char *part);

/* Both at once. */
const char *ask(struct tkb_pool *pool, const char *request);
void check_fails(struct tkb_pool *pool, const char *request, int status,
                 const char *part);

/* The log of a job that was waited for. */
const char *log_of(struct tkb_future *future);

/* Processes whose parent this is, and that have not ended. */
size_t children(pid_t pids[CHILDREN_LIMIT]);
size_t child_count(void);

bool is_alive(pid_t pid);

/* Fails after PATIENCE_MS. */
void await_end_of(pid_t pid);
void await_file(const char *path);

/* The number that stands in the file, which may yet come. */
pid_t pid_from(const char *path);

#endif
