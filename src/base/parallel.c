/* SPDX-License-Identifier: Apache-2.0 */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

enum {
	THREAD_LIMIT = 256
};

struct shared {
	const struct tkb_parallel_work *work;
	size_t count;
	atomic_size_t next;
	atomic_bool failed;
	pthread_mutex_t lock; /* guards rc and err */
	int rc;
	struct tkb_error err;
};

struct worker {
	struct shared *shared;
	size_t index;
	pthread_t thread;
};

static void note_failure(struct shared *shared, int rc,
                         const struct tkb_error *err)
{
	(void)pthread_mutex_lock(&shared->lock);
	if (!atomic_exchange(&shared->failed, true)) {
		shared->rc = rc;
		shared->err = *err;
	}
	(void)pthread_mutex_unlock(&shared->lock);
}

static void work_until_done(struct shared *shared, size_t worker)
{
	struct tkb_error err = { 0 };

	while (!atomic_load(&shared->failed)) {
		const size_t index = atomic_fetch_add(&shared->next, 1);
		int rc;

		if (index >= shared->count)
			return;
		rc = shared->work->do_one(shared->work->self, worker, index,
		                          &err);
		if (rc < 0)
			note_failure(shared, rc, &err);
	}
}

static void *run_worker(void *argument)
{
	const struct worker *worker = argument;

	work_until_done(worker->shared, worker->index);
	return NULL;
}

/* Returns how many of `workers`, from the second on, have a thread. */
static size_t start(struct worker *workers, size_t count, struct shared *shared)
{
	size_t started = 1;
	sigset_t all;
	sigset_t old;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	while (started < count) {
		struct worker *worker = &workers[started];

		*worker = (struct worker){ .shared = shared, .index = started };
		if (pthread_create(&worker->thread, NULL, run_worker, worker) !=
		    0)
			break;
		started++;
	}
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	return started;
}

int tkb_parallel(size_t count, size_t threads,
                 const struct tkb_parallel_work *work, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) struct worker *workers = NULL;
	struct shared shared = { .work = work, .count = count };
	size_t started;

	if (threads > count)
		threads = count;
	if (threads > THREAD_LIMIT)
		threads = THREAD_LIMIT;
	workers = tkb_alloc_array(threads, sizeof(*workers));
	if (workers == NULL)
		return tkb_fail_nomem(err);

	(void)pthread_mutex_init(&shared.lock, NULL);
	started = threads > 1 ? start(workers, threads, &shared) : 1;
	work_until_done(&shared, 0);
	for (size_t i = 1; i < started; i++)
		(void)pthread_join(workers[i].thread, NULL);
	(void)pthread_mutex_destroy(&shared.lock);

	if (shared.rc < 0 && err != NULL)
		*err = shared.err;
	return shared.rc;
}

size_t tkb_parallel_threads(uint32_t asked)
{
	cpu_set_t cores;

	if (asked > THREAD_LIMIT)
		return THREAD_LIMIT;
	if (asked != 0)
		return asked;
	CPU_ZERO(&cores);
	if (sched_getaffinity(0, sizeof(cores), &cores) < 0)
		return 1;
	return CPU_COUNT(&cores) == 0 ? 1 : (size_t)CPU_COUNT(&cores);
}
