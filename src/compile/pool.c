/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/pool_inside.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/parallel.h"

enum {
	DEFAULT_WORKERS_LIMIT = 32,
	DEFAULT_TRIES = 3,
	DEFAULT_GRACE_MS = 1000,
	ARGUMENTS_LIMIT = 4096
};

#define DEFAULT_ANSWER_SIZE ((uint64_t)256 * TKB_MIB)

struct tkb_future {
	struct tkb_pool *pool; /* held */
	struct tkb_task *task; /* held */
	bool is_cancelled;
};

static void free_pool(struct tkb_pool *pool)
{
	for (size_t i = 0; i < pool->seat_count; i++) {
		tkb_hand_end(&pool->seats[i].hand);
		tkb_buf_release(&pool->seats[i].body);
	}
	for (char **at = pool->arguments; at != NULL && *at != NULL; at++)
		free(*at);
	free(pool->arguments);
	free(pool->program);
	free(pool->seats);
	tkb_fd_close_at(&pool->bell);
	(void)pthread_cond_destroy(&pool->moved);
	(void)pthread_mutex_destroy(&pool->lock);
	free(pool);
}

/* Leave the lock and what it guards. */
static void let_pool_go(struct tkb_pool *pool)
{
	const bool is_last = --pool->held == 0;

	(void)pthread_mutex_unlock(&pool->lock);
	if (is_last)
		free_pool(pool);
}

static void ring(const struct tkb_pool *pool)
{
	const uint64_t one = 1;
	ssize_t written;

	do {
		written = write(pool->bell, &one, sizeof(one));
	} while (written < 0 && errno == EINTR);
}

void tkb_pool_let_go(struct tkb_task *task)
{
	if (--task->held == 0)
		tkb_task_free(task);
}

void tkb_pool_finish(struct tkb_pool *pool, struct tkb_task *task, int rc,
                     const struct tkb_error *error)
{
	task->state = TKB_TASK_DONE;
	task->rc = rc;
	if (rc < 0) {
		task->error = *error;
		task->error.status = rc;
	}
	tkb_buf_release(&task->message);
	pool->task_count--;
	(void)pthread_cond_broadcast(&pool->moved);
	tkb_pool_let_go(task);
}

void tkb_pool_line_up(struct tkb_pool *pool, struct tkb_task *task,
                      bool is_first)
{
	struct tkb_task **link = &pool->first;

	while (!is_first && *link != NULL)
		link = &(*link)->next;
	task->state = TKB_TASK_WAITING;
	task->next = *link;
	*link = task;
}

static int copy_arguments(struct tkb_pool *pool, const char *const *arguments,
                          struct tkb_error *err)
{
	size_t count = 0;

	while (arguments != NULL && arguments[count] != NULL)
		count++;
	if (count > ARGUMENTS_LIMIT)
		return tkb_fail(err, TKB_ERR_INVALID, "too many arguments");
	pool->arguments = tkb_alloc_array(count + 2, sizeof(char *));
	if (pool->arguments == NULL)
		return tkb_fail_nomem(err);
	pool->arguments[0] = strdup(pool->program);
	for (size_t i = 0; i < count && pool->arguments[i] != NULL; i++)
		pool->arguments[i + 1] = strdup(arguments[i]);
	return pool->arguments[count] == NULL ? tkb_fail_nomem(err) : 0;
}

static void init_locks(struct tkb_pool *pool)
{
	pthread_condattr_t attributes;

	(void)pthread_mutex_init(&pool->lock, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&pool->moved, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

static uint32_t or_default(uint32_t value, uint32_t otherwise)
{
	return value != 0 ? value : otherwise;
}

static size_t count_workers(const struct tkb_pool_options *options)
{
	const size_t count = tkb_parallel_threads(options->worker_count);

	if (options->worker_count != 0 || count < DEFAULT_WORKERS_LIMIT)
		return count;
	return DEFAULT_WORKERS_LIMIT;
}

static void close_at(struct tkb_pool **pool)
{
	tkb_pool_close(*pool);
}

/* One worker tells whether there can be any; the dispatcher starts the rest. */
static int start(struct tkb_pool *pool, struct tkb_error *err)
{
	sigset_t all;
	sigset_t old;
	int number;
	int rc;

	rc = tkb_hand_start(&pool->seats[0].hand, pool->program,
	                    pool->arguments, err);
	if (rc < 0)
		return rc;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	number = pthread_create(&pool->thread, NULL, tkb_pool_dispatch, pool);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	pool->has_thread = number == 0;
	if (number == 0)
		return 0;
	tkb_hand_end(&pool->seats[0].hand);
	errno = number;
	return tkb_fail_errno(err, "cannot start a thread");
}

int tkb_pool_open(const struct tkb_pool_options *options, struct tkb_pool **out,
                  struct tkb_error *err)
{
	TKB_AUTO(close_at)
	struct tkb_pool *pool = tkb_alloc_array(1, sizeof(*pool));
	int rc;

	if (pool == NULL)
		return tkb_fail_nomem(err);
	init_locks(pool);
	pool->held = 1;
	pool->tries = or_default(options->tries, DEFAULT_TRIES);
	pool->grace_ms = or_default(options->grace_ms, DEFAULT_GRACE_MS);
	pool->max_answer_size = options->max_answer_size != 0
	                                ? options->max_answer_size
	                                : DEFAULT_ANSWER_SIZE;
	pool->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (pool->bell < 0)
		return tkb_fail_errno(err, "cannot make an eventfd");
	if (options->worker == NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a pool needs a worker program");
	pool->program = strdup(options->worker);
	if (pool->program == NULL)
		return tkb_fail_nomem(err);
	rc = copy_arguments(pool, options->arguments, err);
	if (rc < 0)
		return rc;
	pool->seats =
		tkb_alloc_array(count_workers(options), sizeof(*pool->seats));
	if (pool->seats == NULL)
		return tkb_fail_nomem(err);
	for (; pool->seat_count < count_workers(options); pool->seat_count++) {
		struct tkb_seat *seat = &pool->seats[pool->seat_count];

		seat->hand = (struct tkb_hand)TKB_HAND_INIT;
		seat->body = (struct tkb_buf)TKB_BUF_INIT(SIZE_MAX / 2);
	}
	rc = start(pool, err);
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
	(void)pthread_mutex_unlock(&pool->lock);
	if (pool->has_thread) {
		ring(pool);
		(void)pthread_join(pool->thread, NULL);
	}
	(void)pthread_mutex_lock(&pool->lock);
	let_pool_go(pool);
}

/* A task of this key that is not done, or NULL. */
static struct tkb_task *find_task(const struct tkb_pool *pool, const char *key)
{
	for (size_t i = 0; key != NULL && i < pool->seat_count; i++) {
		struct tkb_task *task = pool->seats[i].task;

		if (task != NULL && task->key != NULL && task->wanted != 0 &&
		    strcmp(task->key, key) == 0)
			return task;
	}
	for (struct tkb_task *task = pool->first; key != NULL && task != NULL;
	     task = task->next) {
		if (task->key != NULL && task->wanted != 0 &&
		    strcmp(task->key, key) == 0)
			return task;
	}
	return NULL;
}

/* Under the lock. What was made is in vain where another does the same. */
static void join_line(struct tkb_pool *pool, struct tkb_task *made,
                      struct tkb_future *future)
{
	struct tkb_task *twin = find_task(pool, made->key);

	if (twin != NULL) {
		tkb_task_free(made);
	} else {
		twin = made;
		twin->held = 1;
		pool->task_count++;
		tkb_pool_line_up(pool, twin, false);
	}
	twin->held++;
	twin->wanted++;
	pool->held++;
	future->pool = pool;
	future->task = twin;
}

int tkb_pool_submit(struct tkb_pool *pool, const struct tkb_job *job,
                    struct tkb_future **out, struct tkb_error *err)
{
	struct tkb_future *future;
	struct tkb_task *task = NULL;
	int rc;

	rc = tkb_task_new(job, pool->max_answer_size, pool->tries, &task, err);
	if (rc < 0)
		return rc;
	future = tkb_alloc_array(1, sizeof(*future));
	if (future == NULL) {
		tkb_task_free(task);
		return tkb_fail_nomem(err);
	}
	(void)pthread_mutex_lock(&pool->lock);
	join_line(pool, task, future);
	(void)pthread_mutex_unlock(&pool->lock);
	ring(pool);
	*out = future;
	return 0;
}

size_t tkb_pool_job_count(struct tkb_pool *pool)
{
	size_t count;

	(void)pthread_mutex_lock(&pool->lock);
	count = pool->task_count;
	(void)pthread_mutex_unlock(&pool->lock);
	return count;
}

static struct timespec after(uint32_t ms)
{
	struct timespec end = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += ms / 1000;
	end.tv_nsec += (long)(ms % 1000) * 1000000;
	if (end.tv_nsec >= 1000000000) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000;
	}
	return end;
}

int tkb_future_wait(struct tkb_future *future, uint32_t timeout_ms,
                    struct tkb_bytes *out, struct tkb_error *err)
{
	const struct timespec end = after(timeout_ms);
	struct tkb_pool *pool = future->pool;
	struct tkb_task *task = future->task;
	bool is_late = timeout_ms == 0;
	int rc = TKB_MISS;

	(void)pthread_mutex_lock(&pool->lock);
	while (task->state != TKB_TASK_DONE && !future->is_cancelled &&
	       !is_late) {
		if (timeout_ms == TKB_FOREVER)
			(void)pthread_cond_wait(&pool->moved, &pool->lock);
		else
			is_late = pthread_cond_timedwait(&pool->moved,
			                                 &pool->lock,
			                                 &end) == ETIMEDOUT;
	}
	if (task->state == TKB_TASK_DONE)
		rc = task->rc;
	else if (future->is_cancelled)
		rc = tkb_fail(err, TKB_ERR_CANCELLED, "cancelled");
	if (task->state == TKB_TASK_DONE && rc < 0 && err != NULL)
		*err = task->error;
	if (rc == 0 && out != NULL)
		*out = tkb_buf_bytes(&task->answer);
	(void)pthread_mutex_unlock(&pool->lock);
	return rc;
}

struct tkb_bytes tkb_future_log(struct tkb_future *future)
{
	struct tkb_bytes log = { NULL, 0 };

	(void)pthread_mutex_lock(&future->pool->lock);
	if (future->task->state == TKB_TASK_DONE)
		log = tkb_buf_bytes(&future->task->log);
	(void)pthread_mutex_unlock(&future->pool->lock);
	return log;
}

/* Under the lock. The dispatcher finishes what nobody wants. */
static void cancel(struct tkb_future *future)
{
	if (future->is_cancelled)
		return;
	future->is_cancelled = true;
	future->task->wanted--;
	(void)pthread_cond_broadcast(&future->pool->moved);
	ring(future->pool);
}

void tkb_future_cancel(struct tkb_future *future)
{
	(void)pthread_mutex_lock(&future->pool->lock);
	cancel(future);
	(void)pthread_mutex_unlock(&future->pool->lock);
}

void tkb_future_free(struct tkb_future *future)
{
	if (future == NULL)
		return;
	(void)pthread_mutex_lock(&future->pool->lock);
	cancel(future);
	tkb_pool_let_go(future->task);
	let_pool_go(future->pool);
	free(future);
}
