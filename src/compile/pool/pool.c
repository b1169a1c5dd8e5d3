/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/pool/pool_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/parallel.h"
#include "base/struct.h"
#include "cache/watch.h"

enum {
	DEFAULT_WORKERS_LIMIT = 32,
	DEFAULT_TRIES = 3,
	DEFAULT_GRACE_MS = 1000,
	DEFAULT_START_TIMEOUT_MS = 60000
};

#define DEFAULT_ANSWER_SIZE ((uint64_t)256 * TKB_MIB)
#define DEFAULT_LOG_SIZE ((uint64_t)64 * TKB_KIB)

/* Release the data that only the dispatcher needed. */
static void free_spawn(struct tkb_pool *pool)
{
	for (size_t i = 0; i < pool->slot_count; i++) {
		tkb_worker_process_end(&pool->slots[i].process);
		tkb_buf_release(&pool->slots[i].body);
	}
	pool->slot_count = 0;
	free(pool->slots);
	pool->slots = NULL;
	tkb_spawn_release(&pool->spawn);
	tkb_fd_close_at(&pool->wakeup);
}

void tkb_pool_unref(struct tkb_pool *pool)
{
	const bool is_last = --pool->references == 0;

	(void)pthread_mutex_unlock(&pool->lock);
	if (!is_last)
		return;
	(void)pthread_cond_destroy(&pool->changed);
	(void)pthread_mutex_destroy(&pool->lock);
	free(pool);
}

void tkb_pool_wake(const struct tkb_pool *pool)
{
	const uint64_t one = 1;
	ssize_t written;

	do {
		written = write(pool->wakeup, &one, sizeof(one));
	} while (written < 0 && errno == EINTR);
}

void tkb_pool_finish(struct tkb_pool *pool, struct tkb_task *task, int rc,
                     const struct tkb_error *error)
{
	task->is_done = true;
	task->rc = rc;
	if (rc < 0) {
		task->error = *error;
		task->error.status = rc;
	}
	tkb_buf_release(&task->message);
	pool->task_count--;
	(void)pthread_cond_broadcast(&pool->changed);
	tkb_task_unref(task);
}

void tkb_pool_enqueue(struct tkb_pool *pool, struct tkb_task *task,
                      bool is_first)
{
	struct tkb_task **link = is_first ? &pool->first : pool->end;

	task->next = *link;
	*link = task;
	if (task->next == NULL)
		pool->end = &task->next;
}

struct tkb_task *tkb_pool_dequeue(struct tkb_pool *pool)
{
	struct tkb_task *task = pool->first;

	pool->first = task->next;
	if (pool->first == NULL)
		pool->end = &pool->first;
	return task;
}

static void init_locks(struct tkb_pool *pool)
{
	pthread_condattr_t attributes;

	(void)pthread_mutex_init(&pool->lock, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&pool->changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

static struct tkb_task_limits limits_of(const struct tkb_pool_options *options)
{
	return (struct tkb_task_limits){
		.tries = tkb_or_default(options->tries, DEFAULT_TRIES),
		.max_answer_size = options->max_answer_size != 0
		                           ? options->max_answer_size
		                           : DEFAULT_ANSWER_SIZE,
		.max_log_size = options->max_log_size != 0
		                        ? options->max_log_size
		                        : DEFAULT_LOG_SIZE,
	};
}

static size_t count_workers(const struct tkb_pool_options *options)
{
	const size_t count = tkb_parallel_threads(options->worker_count);

	if (options->worker_count != 0 || count < DEFAULT_WORKERS_LIMIT)
		return count;
	return DEFAULT_WORKERS_LIMIT;
}

TKB_AUTO_POINTER(close_at, struct tkb_pool, tkb_pool_close)

/* Start one worker, to see whether that works. */
static int start_one(struct tkb_pool *pool, struct tkb_error *err)
{
	struct tkb_slot *slot = &pool->slots[0];
	int rc;

	rc = tkb_worker_process_start(&slot->process, &pool->spawn, err);
	if (rc == 0)
		slot->deadline_ns =
			tkb_now_ns() + pool->start_timeout_ms * TKB_NS_PER_MS;
	return rc;
}

/* Start the dispatcher, which starts all workers but the first. */
static int start_dispatcher(struct tkb_pool *pool, struct tkb_error *err)
{
	sigset_t all;
	sigset_t old;
	int number;
	int rc = pool->is_started_late ? 0 : start_one(pool, err);

	if (rc < 0)
		return rc;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	number = pthread_create(&pool->thread, NULL, tkb_pool_dispatch, pool);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	pool->has_thread = number == 0;
	if (number == 0)
		return 0;
	errno = number;
	return tkb_fail_errno(err, "cannot start a thread");
}

static int make_slots(struct tkb_pool *pool, size_t count,
                      struct tkb_error *err)
{
	pool->slots = tkb_alloc_array(count, sizeof(*pool->slots));
	if (pool->slots == NULL)
		return tkb_fail_nomem(err);
	for (; pool->slot_count < count; pool->slot_count++) {
		struct tkb_slot *slot = &pool->slots[pool->slot_count];

		slot->process =
			(struct tkb_worker_process)TKB_WORKER_PROCESS_INIT;
		slot->body = (struct tkb_buf)TKB_BUF_INIT(TKB_MESSAGE_PIECE);
	}
	return 0;
}

int tkb_pool_open(const struct tkb_pool_options *given, struct tkb_pool **out,
                  struct tkb_error *err)
{
	TKB_AUTO(close_at) struct tkb_pool *pool = NULL;
	struct tkb_pool_options own;
	struct tkb_watch watch;
	const struct tkb_pool_options *options = &own;
	int rc;

	rc = TKB_STRUCT_READ(tkb_pool_options, watch, &own, given, err);
	if (rc == 0)
		rc = tkb_watch_read(&watch, own.watch, err);
	if (rc < 0)
		return rc;
	if (options->worker == NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a pool needs a worker program");
	pool = tkb_alloc_array(1, sizeof(*pool));
	if (pool == NULL)
		return tkb_fail_nomem(err);
	init_locks(pool);
	pool->references = 1;
	pool->end = &pool->first;
	pool->spawn.folder = -1;
	pool->grace_ms = tkb_or_default(options->grace_ms, DEFAULT_GRACE_MS);
	pool->start_timeout_ms = tkb_or_default(options->start_timeout_ms,
	                                        DEFAULT_START_TIMEOUT_MS);
	pool->limits = limits_of(options);
	pool->watch = watch;
	pool->is_started_late = options->is_started_late;
	pool->wakeup = tkb_output_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (pool->wakeup < 0)
		return tkb_fail_errno(err, "cannot make an eventfd");
	rc = tkb_spawn_init(&pool->spawn, options->worker, options->arguments,
	                    err);
	if (rc == 0)
		rc = make_slots(pool, count_workers(options), err);
	if (rc == 0)
		rc = start_dispatcher(pool, err);
	if (rc < 0)
		return rc;
	*out = tkb_take(pool);
	return 0;
}

void tkb_pool_close(struct tkb_pool *pool)
{
	if (pool == NULL)
		return;
	(void)pthread_mutex_lock(&pool->lock);
	pool->is_closing = true;
	tkb_pool_wake(pool);
	(void)pthread_mutex_unlock(&pool->lock);
	if (pool->has_thread)
		(void)pthread_join(pool->thread, NULL);
	(void)pthread_mutex_lock(&pool->lock);
	free_spawn(pool);
	tkb_pool_unref(pool);
}

size_t tkb_pool_job_count(struct tkb_pool *pool)
{
	size_t count;

	(void)pthread_mutex_lock(&pool->lock);
	count = pool->task_count;
	(void)pthread_mutex_unlock(&pool->lock);
	return count;
}
