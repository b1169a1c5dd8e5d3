/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/struct.h"
#include "compile/pool/pool_internal.h"

/* Jobs submitted to a pool, and the futures that callers hold. */

struct tkb_future {
	struct tkb_pool *pool; /* a reference */
	struct tkb_task *task; /* a reference */
	bool is_cancelled;
};

/* An unfinished task with this key, or NULL. */
static struct tkb_task *find_task(const struct tkb_pool *pool, const char *key)
{
	for (size_t i = 0; key != NULL && i < pool->slot_count; i++) {
		struct tkb_task *task = pool->slots[i].task;

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

/* Lock held. Enqueue `made`, or join an unfinished task with its key. */
static void enqueue_or_join(struct tkb_pool *pool, struct tkb_task *made,
                            struct tkb_future *future)
{
	struct tkb_task *twin = find_task(pool, made->key);

	if (twin != NULL) {
		tkb_task_free(made);
	} else {
		twin = made;
		twin->references = 1;
		pool->task_count++;
		tkb_pool_enqueue(pool, twin, false);
	}
	twin->references++;
	twin->wanted++;
	pool->references++;
	future->pool = pool;
	future->task = twin;
}

int tkb_pool_submit(struct tkb_pool *pool, const struct tkb_job *job,
                    struct tkb_future **out, struct tkb_error *err)
{
	struct tkb_future *future;
	struct tkb_task *task = NULL;
	struct tkb_job own;
	bool is_closing;
	int rc;

	rc = TKB_STRUCT_READ(tkb_job, timeout_ms, &own, job, err);
	if (rc == 0)
		rc = tkb_task_new(&own, &pool->limits, &task, err);
	if (rc != 0)
		return rc;
	future = tkb_alloc_array(1, sizeof(*future));
	if (future == NULL) {
		tkb_task_free(task);
		return tkb_fail_nomem(err);
	}
	(void)pthread_mutex_lock(&pool->lock);
	is_closing = pool->is_closing;
	if (!is_closing) {
		enqueue_or_join(pool, task, future);
		tkb_pool_wake(pool);
	}
	(void)pthread_mutex_unlock(&pool->lock);
	if (is_closing) {
		tkb_task_free(task);
		free(future);
		return tkb_fail(err, TKB_ERR_CANCELLED, "the pool is closing");
	}
	*out = future;
	return 0;
}

enum {
	ASK_MS = 100 /* between checks whether a wait is cancelled */
};

static struct timespec time_after(uint32_t ms)
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

static bool is_earlier(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec
	                              : a->tv_nsec < b->tv_nsec;
}

/* Is the wait cancelled? The lock is released while the watch is called. */
static bool is_told_to_end(struct tkb_pool *pool)
{
	bool answer;

	(void)pthread_mutex_unlock(&pool->lock);
	answer = pool->watch.is_cancelled(pool->watch.self);
	(void)pthread_mutex_lock(&pool->lock);
	return answer;
}

/*
 * Wait for a change until `end` (NULL: without limit), or only for a moment if
 * the caller's watch must be polled. Returns whether `end` has been reached.
 */
static bool wait_until(struct tkb_pool *pool, const struct timespec *end)
{
	const struct timespec moment = time_after(ASK_MS);
	const bool asks = pool->watch.is_cancelled != NULL &&
	                  (end == NULL || is_earlier(&moment, end));
	int rc;

	if (asks)
		end = &moment;
	if (end == NULL)
		rc = pthread_cond_wait(&pool->changed, &pool->lock);
	else
		rc = pthread_cond_timedwait(&pool->changed, &pool->lock, end);
	return rc == ETIMEDOUT && !asks;
}

int tkb_future_wait(struct tkb_future *future, uint32_t timeout_ms,
                    struct tkb_bytes *out, struct tkb_error *err)
{
	const struct timespec end = time_after(timeout_ms);
	struct tkb_pool *pool = future->pool;
	struct tkb_task *task = future->task;
	bool is_late = timeout_ms == 0;
	bool is_ended = false;
	int rc = TKB_MISS;

	(void)pthread_mutex_lock(&pool->lock);
	while (!task->is_done && !future->is_cancelled && !is_late &&
	       !is_ended) {
		is_ended = pool->watch.is_cancelled != NULL &&
		           is_told_to_end(pool);
		if (!is_ended && !task->is_done)
			is_late = wait_until(
				pool, timeout_ms == TKB_FOREVER ? NULL : &end);
	}
	if (task->is_done)
		rc = task->rc;
	else if (future->is_cancelled || is_ended)
		rc = tkb_fail(err, TKB_ERR_CANCELLED, "cancelled");
	if (task->is_done && rc < 0 && err != NULL)
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
	if (future->task->is_done)
		log = tkb_buf_bytes(&future->task->log);
	(void)pthread_mutex_unlock(&future->pool->lock);
	return log;
}

/* The lock is held. The dispatcher ends tasks that no future wants. */
static void cancel(struct tkb_future *future)
{
	if (future->is_cancelled)
		return;
	future->is_cancelled = true;
	if (--future->task->wanted == 0)
		future->pool->has_unwanted = true;
	(void)pthread_cond_broadcast(&future->pool->changed);
	if (!future->pool->is_closing)
		tkb_pool_wake(future->pool);
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
	tkb_task_unref(future->task);
	tkb_pool_unref(future->pool);
	free(future);
}
