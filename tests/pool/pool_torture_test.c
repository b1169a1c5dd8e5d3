/* SPDX-License-Identifier: Apache-2.0 */
#include "pool_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

/*
 * Many jobs, some of which crash their workers in one way or another, while
 * somebody else kills workers at random: each job ends exactly once,
 * with the right answer or a failure that says why, and nothing is left.
 * TKB_POOL_ROUNDS says how many rounds (1), TKB_POOL_SEED repeats one.
 */

enum {
	JOBS = 1000,
	WORKERS = 8,
	MURDERS_LIMIT = 150
};

struct job {
	struct tkb_future *future;
	unsigned long number;
	bool is_mean;
	bool is_cancelled;
};

struct round {
	struct tkb_pool *pool;
	struct job jobs[JOBS];
	unsigned seed;
	atomic_bool is_over;
	atomic_int murders;
	int right;
	int failed;
	int cancelled;
};

static unsigned number_from(const char *name, unsigned otherwise)
{
	const char *value = getenv(name);

	return value == NULL ? otherwise : (unsigned)strtoul(value, NULL, 10);
}

/* What the worker answers to "sum N". */
static const char *sum_of(unsigned long number)
{
	uint64_t sum = number;

	for (int i = 0; i < 1000; i++)
		sum = sum * 6364136223846793005u + 1442695040888963407u;
	return text("%ld", (long)(sum >> 1));
}

/* A thread of its own, so it may not use what the harness keeps. */
static void *kill_at_random(void *self)
{
	struct round *round = self;
	unsigned seed = round->seed;

	while (!atomic_load(&round->is_over)) {
		pid_t pids[CHILDREN_LIMIT];
		const size_t count = children(pids);

		if (count != 0 && round->murders < MURDERS_LIMIT) {
			const pid_t victim =
				pids[(unsigned)rand_r(&seed) % count];

			(void)kill(victim,
			           rand_r(&seed) % 4 == 0 ? SIGTERM : SIGKILL);
			(void)atomic_fetch_add(&round->murders, 1);
		}
		nap_ms((unsigned)rand_r(&seed) % 25);
	}
	return NULL;
}

static void submit(struct round *round, size_t index, unsigned *seed)
{
	struct job *job = &round->jobs[index];

	job->number = (unsigned long)rand_r(seed) % 100000;
	job->is_mean = rand_r(seed) % 5 == 0;
	job->future = give_with(
		round->pool,
		.request = tkb_text(text(
			"%s %lu %s/%u-%zu", job->is_mean ? "mean-sum" : "sum",
			job->number, test_folder(), round->seed, index)),
		.timeout_ms = 20000);
	job->is_cancelled = rand_r(seed) % 50 == 0;
	if (job->is_cancelled)
		tkb_future_cancel(job->future);
}

/* A mean one fails where it crashes three times, and else only by murder. */
static void judge(struct round *round, struct job *job)
{
	struct tkb_bytes answer = { NULL, 0 };
	int rc;

	rc = tkb_future_wait(job->future, PATIENCE_MS, &answer, ERR);
	if (rc == TKB_ERR_CANCELLED) {
		CHECK(job->is_cancelled);
		round->cancelled++;
	} else if (rc == TKB_ERR_UNAVAILABLE) {
		CHECK(ERR->message[0] != '\0');
		round->failed++;
	} else {
		CHECK_OK(rc, ERR);
		CHECK(tkb_bytes_equal(answer, tkb_text(sum_of(job->number))));
		CHECK(!job->is_mean || job->number % 4 != 3);
		round->right++;
	}
	/* It ended once: it is not begun again, nor is the end another. */
	CHECK_INT(tkb_future_wait(job->future, 0, NULL, NULL), rc);
	tkb_future_free(job->future);
}

static void torture(unsigned seed)
{
	struct round *round = test_alloc(sizeof(*round));
	const size_t files = count_names("/proc/self/fd");
	pthread_t killer;

	(void)fprintf(stderr, "TKB_POOL_SEED=%u\n", seed);
	memset(round, 0, sizeof(*round));
	round->seed = seed;
	round->pool = open_pool_of(WORKERS);
	SYS(pthread_create(&killer, NULL, kill_at_random, round));
	for (size_t i = 0; i < JOBS; i++)
		submit(round, i, &seed);
	for (size_t i = 0; i < JOBS; i++)
		judge(round, &round->jobs[i]);
	atomic_store(&round->is_over, true);
	(void)pthread_join(killer, NULL);
	CHECK_INT(round->right + round->failed + round->cancelled, JOBS);
	CHECK(round->right > JOBS / 2);
	CHECK_INT(tkb_pool_job_count(round->pool), 0);
	CHECK_STR(ask(round->pool, "echo on"), "echo on");
	tkb_pool_close(round->pool);
	CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_INT(errno, ECHILD);
	CHECK_INT(count_names("/proc/self/fd"), files);
	(void)fprintf(stderr, "%d right, %d failed, %d cancelled, %d murders\n",
	              round->right, round->failed, round->cancelled,
	              atomic_load(&round->murders));
}

TEST(pool_torture, every_job_ends_once_and_rightly_or_is_told)
{
	const unsigned rounds = number_from("TKB_POOL_ROUNDS", 1);
	const unsigned seed = number_from("TKB_POOL_SEED", (unsigned)now_ms());

	for (unsigned i = 0; i < rounds; i++)
		torture(seed + i);
}
