/* SPDX-License-Identifier: Apache-2.0 */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>

enum {
	THREAD_LIMIT = 256,
	ITEMS_A_THREAD = 8 /* with fewer, another thread does not pay */
};

struct worker;

struct shared {
	const struct tkb_parallel_work *work;
	size_t count;
	struct worker *workers;
	size_t worker_count;
	cpu_set_t cores; /* that threads may use; empty: leave it as it is */
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
	bool has_thread;
};

/* The cores that the calling thread may use; none if there are too many. */
static void read_cores(cpu_set_t *cores)
{
	CPU_ZERO(cores);
	if (sched_getaffinity(0, sizeof(*cores), cores) < 0)
		CPU_ZERO(cores);
}

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

static void *run_worker(void *argument);

static bool has_more(const struct shared *shared)
{
	return !atomic_load(&shared->failed) &&
	       atomic_load(&shared->next) < shared->count;
}

/*
 * Start the worker's thread on another core than this one. The kernel can leave
 * a thread beside its parent until the next tick (4 ms), since a virtual
 * machine's idle cores look busy to it. If that fails, start it anyhow.
 */
static void start_thread(struct worker *worker)
{
	const int here = sched_getcpu();
	cpu_set_t others = worker->shared->cores;
	pthread_attr_t attributes;

	if (pthread_attr_init(&attributes) != 0)
		return;
	if (here >= 0 && here < CPU_SETSIZE)
		CPU_CLR((size_t)here, &others);
	worker->has_thread =
		CPU_COUNT(&others) != 0 &&
		pthread_attr_setaffinity_np(&attributes, sizeof(others),
	                                    &others) == 0 &&
		pthread_create(&worker->thread, &attributes, run_worker,
	                       worker) == 0;
	(void)pthread_attr_destroy(&attributes);
	if (!worker->has_thread)
		worker->has_thread = pthread_create(&worker->thread, NULL,
		                                    run_worker, worker) == 0;
}

/*
 * Start two more threads, each of which starts two more: many threads exist
 * soon, and none waits until the last is created. Start none when no work is
 * left.
 */
static void start_children(const struct worker *parent)
{
	struct shared *shared = parent->shared;
	const size_t first = 2 * parent->index + 1;

	for (size_t i = first; i < first + 2 && i < shared->worker_count; i++) {
		struct worker *worker = &shared->workers[i];

		if (!has_more(shared))
			return;
		*worker = (struct worker){ .shared = shared, .index = i };
		start_thread(worker);
	}
}

static void *run_worker(void *argument)
{
	const struct worker *worker = argument;
	const cpu_set_t *cores = &worker->shared->cores;

	/* It may not be allowed to move, and then it works where it is. */
	if (CPU_COUNT(cores) != 0)
		(void)sched_setaffinity(0, sizeof(*cores), cores);
	start_children(worker);
	work_until_done(worker->shared, worker->index);
	return NULL;
}

/*
 * Wait for each thread after the one that started it, which has written its
 * handle. One thread alone waits: if each waited for those it started, they would
 * be woken one after the other.
 */
static void join_all(const struct shared *shared)
{
	for (size_t i = 1; i < shared->worker_count; i++) {
		if (shared->workers[i].has_thread)
			(void)pthread_join(shared->workers[i].thread, NULL);
	}
}

/* The calling thread's work. New threads inherit its signal mask. */
static void work_first(struct shared *shared)
{
	struct worker *worker = &shared->workers[0];
	sigset_t all;
	sigset_t old;

	*worker = (struct worker){ .shared = shared };
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	start_children(worker);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	work_until_done(shared, 0);
	join_all(shared);
}

int tkb_parallel(size_t count, size_t threads,
                 const struct tkb_parallel_work *work, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) struct worker *workers = NULL;
	struct shared shared = { .work = work, .count = count };

	if (count == 0)
		return 0;
	if (threads > count)
		threads = count;
	if (threads > THREAD_LIMIT)
		threads = THREAD_LIMIT;
	workers = tkb_alloc_array(threads, sizeof(*workers));
	if (workers == NULL)
		return tkb_fail_nomem(err);

	shared.workers = workers;
	shared.worker_count = threads;
	/* A filter of system calls could kill us for sched_setaffinity(). */
	if (threads > 1 && prctl(PR_GET_SECCOMP) == 0)
		read_cores(&shared.cores);
	(void)pthread_mutex_init(&shared.lock, NULL);
	work_first(&shared);
	(void)pthread_mutex_destroy(&shared.lock);

	if (shared.rc < 0 && err != NULL)
		*err = shared.err;
	return shared.rc;
}

struct ranked {
	uint64_t size;
	size_t index;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *left = a;
	const struct ranked *right = b;

	if (left->size != right->size)
		return left->size < right->size ? 1 : -1;
	return (left->index > right->index) - (left->index < right->index);
}

size_t *tkb_largest_first(const uint64_t *sizes, size_t count)
{
	TKB_AUTO(tkb_free_at)
	struct ranked *ranked = tkb_alloc_array(count, sizeof(*ranked));
	size_t *order = tkb_alloc_array(count, sizeof(*order));

	if (ranked == NULL || order == NULL) {
		free(order);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		ranked[i] = (struct ranked){ sizes[i], i };
	if (count != 0)
		qsort(ranked, count, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < count; i++)
		order[i] = ranked[i].index;
	return order;
}

size_t tkb_parallel_threads(uint32_t asked)
{
	cpu_set_t cores;

	if (asked > THREAD_LIMIT)
		return THREAD_LIMIT;
	if (asked != 0)
		return asked;
	read_cores(&cores);
	if (CPU_COUNT(&cores) > THREAD_LIMIT)
		return THREAD_LIMIT;
	return CPU_COUNT(&cores) == 0 ? 1 : (size_t)CPU_COUNT(&cores);
}

size_t tkb_parallel_useful(size_t count, size_t threads)
{
	const size_t useful = 1 + count / ITEMS_A_THREAD;

	return threads < useful ? threads : useful;
}
