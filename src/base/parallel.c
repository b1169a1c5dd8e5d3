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
	ITEMS_A_THREAD = 8, /* with fewer, another thread does not pay */
	/*
	 * As glibc has it where a stack's size is not limited. Of stacks that
	 * ended, glibc keeps 40 MiB for later threads: these, but not those of
	 * 8 MiB of all cores, which would be mapped and unmapped in each call.
	 */
	STACK_SIZE = 2 * 1024 * 1024
};

struct worker;

/* An item in parts. All members are guarded by the team's lock. */
struct share {
	const struct tkb_parallel_work *part;
	size_t count;
	size_t next;
	size_t helper_count; /* threads that work on it beside its owner */
	int rc;
	struct tkb_error err;
	struct share *older; /* in the team's list */
};

/* What all threads share. */
struct tkb_parallel_team {
	const struct tkb_parallel_work *work;
	size_t count;
	size_t useful_count; /* how many threads may have something to do */
	bool has_parts;
	struct worker *workers;
	size_t worker_count;
	cpu_set_t cores; /* that threads may use; empty: leave it as it is */
	atomic_size_t next;
	atomic_bool failed;
	pthread_mutex_t lock; /* guards what follows */
	int rc;
	struct tkb_error err;
	struct share *shares; /* those that are open */
	size_t busy_count;    /* threads that may still open one */
	size_t idle_count;    /* threads that wait for one */
	bool is_held;         /* by one thread: tkb_parallel_hold() */
	pthread_cond_t offer; /* a share was opened, or none will be; or it is
	                         no longer held */
	pthread_cond_t ended; /* the last helper of a share has ended */
};

struct worker {
	struct tkb_parallel_team *team;
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

static void note_failure(struct tkb_parallel_team *team, int rc,
                         const struct tkb_error *err)
{
	(void)pthread_mutex_lock(&team->lock);
	if (!atomic_exchange(&team->failed, true)) {
		team->rc = rc;
		team->err = *err;
	}
	(void)pthread_mutex_unlock(&team->lock);
}

/*
 * Parts of items
 */

/* Is there a part that no thread has begun? */
static bool has_part(const struct share *share)
{
	return share->rc == 0 && share->next < share->count;
}

/* Work on parts until none is left. The lock is held before and after. */
static void work_on_parts(struct tkb_parallel_team *team, struct share *share,
                          size_t worker)
{
	struct tkb_error err = { 0 };

	while (has_part(share)) {
		const size_t index = share->next++;
		int rc;

		(void)pthread_mutex_unlock(&team->lock);
		rc = share->part->do_one(share->part->self, worker, index,
		                         &err);
		(void)pthread_mutex_lock(&team->lock);
		if (rc < 0 && share->rc == 0) {
			share->rc = rc;
			share->err = err;
		}
	}
}

static int work_alone(size_t worker, size_t count,
                      const struct tkb_parallel_work *part,
                      struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++)
		rc = part->do_one(part->self, worker, i, err);
	return rc;
}

int tkb_parallel_share(struct tkb_parallel_team *team, size_t worker,
                       size_t count, const struct tkb_parallel_work *part,
                       struct tkb_error *err)
{
	struct share share = { .part = part, .count = count };
	struct share **link;

	if (team == NULL || count < 2)
		return work_alone(worker, count, part, err);
	(void)pthread_mutex_lock(&team->lock);
	share.older = team->shares;
	team->shares = &share;
	for (size_t i = 1; i < count && i <= team->idle_count; i++)
		(void)pthread_cond_signal(&team->offer);
	work_on_parts(team, &share, worker);
	for (link = &team->shares; *link != &share; link = &(*link)->older)
		;
	*link = share.older;
	while (share.helper_count != 0)
		(void)pthread_cond_wait(&team->ended, &team->lock);
	(void)pthread_mutex_unlock(&team->lock);
	return share.rc < 0 ? tkb_fail_as(err, share.rc, &share.err) : share.rc;
}

/* Help with a share, or wait for an offer. The lock is held before and after. */
static void help_once(struct tkb_parallel_team *team, size_t worker)
{
	struct share *share = team->shares;

	while (share != NULL && !has_part(share))
		share = share->older;
	if (share == NULL) {
		team->idle_count++;
		(void)pthread_cond_wait(&team->offer, &team->lock);
		team->idle_count--;
		return;
	}
	share->helper_count++;
	work_on_parts(team, share, worker);
	if (--share->helper_count == 0)
		(void)pthread_cond_broadcast(&team->ended);
}

/* Help with parts until no thread can open another share. */
static void help(struct tkb_parallel_team *team, size_t worker)
{
	(void)pthread_mutex_lock(&team->lock);
	team->busy_count--;
	if (team->busy_count == 0)
		(void)pthread_cond_broadcast(&team->offer);
	while (team->busy_count != 0)
		help_once(team, worker);
	(void)pthread_mutex_unlock(&team->lock);
}

void tkb_parallel_hold(struct tkb_parallel_team *team, size_t worker)
{
	(void)pthread_mutex_lock(&team->lock);
	while (team->is_held)
		help_once(team, worker);
	team->is_held = true;
	(void)pthread_mutex_unlock(&team->lock);
}

void tkb_parallel_let_go(struct tkb_parallel_team *team)
{
	(void)pthread_mutex_lock(&team->lock);
	team->is_held = false;
	(void)pthread_cond_broadcast(&team->offer);
	(void)pthread_mutex_unlock(&team->lock);
}

/*
 * Threads
 */

static void work_until_done(struct tkb_parallel_team *team, size_t worker)
{
	struct tkb_error err = { 0 };

	while (!atomic_load(&team->failed)) {
		const size_t index = atomic_fetch_add(&team->next, 1);
		int rc;

		if (index >= team->count)
			break;
		rc = team->work->do_one(team->work->self, worker, index, &err);
		if (rc < 0)
			note_failure(team, rc, &err);
	}
	if (team->has_parts)
		help(team, worker);
}

static void *run_worker(void *argument);

static bool has_more(const struct tkb_parallel_team *team)
{
	return !atomic_load(&team->failed) &&
	       atomic_load(&team->next) < team->useful_count;
}

/* Start the worker's thread on one of the cores; NULL: on any. */
static bool create_thread(struct worker *worker, const cpu_set_t *cores)
{
	pthread_attr_t attributes;
	bool is_created;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	(void)pthread_attr_setstacksize(&attributes, STACK_SIZE);
	is_created = (cores == NULL ||
	              pthread_attr_setaffinity_np(&attributes, sizeof(*cores),
	                                          cores) == 0) &&
	             pthread_create(&worker->thread, &attributes, run_worker,
	                            worker) == 0;
	(void)pthread_attr_destroy(&attributes);
	return is_created;
}

/*
 * Start the worker's thread on another core than this one. The kernel can leave
 * a thread beside its parent until the next tick (4 ms), since a virtual
 * machine's idle cores look busy to it. If that fails, start it anyhow.
 */
static void start_thread(struct worker *worker)
{
	const int here = sched_getcpu();
	cpu_set_t others = worker->team->cores;

	if (here >= 0 && here < CPU_SETSIZE)
		CPU_CLR((size_t)here, &others);
	worker->has_thread =
		(CPU_COUNT(&others) != 0 && create_thread(worker, &others)) ||
		create_thread(worker, NULL);
}

static void count_busy(struct tkb_parallel_team *team, int change)
{
	(void)pthread_mutex_lock(&team->lock);
	team->busy_count += (size_t)change;
	(void)pthread_mutex_unlock(&team->lock);
}

/*
 * Start two more threads, each of which starts two more: many threads exist
 * soon, and none waits until the last is created. Start none when no work is
 * left.
 */
static void start_children(const struct worker *parent)
{
	struct tkb_parallel_team *team = parent->team;
	const size_t first = 2 * parent->index + 1;

	for (size_t i = first; i < first + 2 && i < team->worker_count; i++) {
		struct worker *worker = &team->workers[i];

		if (!has_more(team))
			return;
		*worker = (struct worker){ .team = team, .index = i };
		count_busy(team, 1);
		start_thread(worker);
		if (!worker->has_thread)
			count_busy(team, -1);
	}
}

static void *run_worker(void *argument)
{
	const struct worker *worker = argument;
	const cpu_set_t *cores = &worker->team->cores;

	/* It may not be allowed to move, and then it works where it is. */
	if (CPU_COUNT(cores) != 0)
		(void)sched_setaffinity(0, sizeof(*cores), cores);
	start_children(worker);
	work_until_done(worker->team, worker->index);
	return NULL;
}

/*
 * Wait for each thread after the one that started it, which has written its
 * handle. One thread alone waits: if each waited for those it started, they would
 * be woken one after the other.
 */
static void join_all(const struct tkb_parallel_team *team)
{
	for (size_t i = 1; i < team->worker_count; i++) {
		if (team->workers[i].has_thread)
			(void)pthread_join(team->workers[i].thread, NULL);
	}
}

/* The calling thread's work. New threads inherit its signal mask. */
static void work_first(struct tkb_parallel_team *team)
{
	struct worker *worker = &team->workers[0];
	sigset_t all;
	sigset_t old;

	*worker = (struct worker){ .team = team };
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	start_children(worker);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	work_until_done(team, 0);
	join_all(team);
}

static int work_in_team(struct tkb_parallel_team *team, size_t threads,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) struct worker *workers = NULL;

	if (threads > team->useful_count)
		threads = team->useful_count;
	if (threads > THREAD_LIMIT)
		threads = THREAD_LIMIT;
	workers = tkb_alloc_array(threads, sizeof(*workers));
	if (workers == NULL)
		return tkb_fail_nomem(err);

	team->workers = workers;
	team->worker_count = threads;
	/* A filter of system calls could kill us for sched_setaffinity(). */
	if (threads > 1 && prctl(PR_GET_SECCOMP) == 0)
		read_cores(&team->cores);
	(void)pthread_mutex_init(&team->lock, NULL);
	(void)pthread_cond_init(&team->offer, NULL);
	(void)pthread_cond_init(&team->ended, NULL);
	work_first(team);
	(void)pthread_cond_destroy(&team->offer);
	(void)pthread_cond_destroy(&team->ended);
	(void)pthread_mutex_destroy(&team->lock);

	return team->rc < 0 ? tkb_fail_as(err, team->rc, &team->err) : team->rc;
}

int tkb_parallel(size_t count, size_t threads,
                 const struct tkb_parallel_work *work, struct tkb_error *err)
{
	struct tkb_parallel_team team = { .work = work,
		                          .count = count,
		                          .useful_count = count,
		                          .busy_count = 1 };

	return count == 0 ? 0 : work_in_team(&team, threads, err);
}

int tkb_parallel_in_parts(size_t count, size_t part_count, size_t threads,
                          const struct tkb_parallel_work *work,
                          struct tkb_parallel_team **team_out,
                          struct tkb_error *err)
{
	struct tkb_parallel_team team = { .work = work,
		                          .count = count,
		                          .useful_count = part_count > count
		                                                  ? part_count
		                                                  : count,
		                          .has_parts = true,
		                          .busy_count = 1 };
	int rc;

	if (count == 0)
		return 0;
	*team_out = &team;
	rc = work_in_team(&team, threads, err);
	*team_out = NULL;
	return rc;
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
	tkb_sort(ranked, count, sizeof(*ranked), compare_ranked);
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
