/* SPDX-License-Identifier: Apache-2.0 */
#include "pool_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* How a pool ends, and that nothing is left of it. */

/* Opens a pool whose workers have children, and ends as `how` says. */
static pid_t start_parent_of(const char *worker, const char *folder,
                             const char *how)
{
	const char *const arguments[] = { "pool_parent", worker, folder, how,
		                          NULL };
	pid_t pid = 0;

	/* What is orphaned comes to us. */
	CHECK_INT(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	CHECK_INT(posix_spawn(&pid, parent_program(), NULL, NULL,
	                      (char *const *)(uintptr_t)arguments, environ),
	          0);
	return pid;
}

static pid_t start_parent(const char *how)
{
	return start_parent_of(worker_program(), test_folder(), how);
}

/* Nobody is left below us; how `parent` ended. */
static int await_all(pid_t parent)
{
	const uint64_t end = now_ms() + PATIENCE_MS;
	int status = -1;

	for (;;) {
		int one;
		const pid_t pid = waitpid(-1, &one, WNOHANG);

		if (pid < 0 && errno == ECHILD)
			return status;
		if (pid == parent)
			status = one;
		CHECK(now_ms() < end);
		if (pid == 0)
			nap_ms(5);
	}
}

/* How a parent ends, with three workers and their children, and its status. */
static const struct {
	const char *how;
	int status; /* -1: any but 0, as a sanitizer makes an exit of a crash */
} ends[] = {
	{ "exit", 0 },          { "_exit", 0 },
	{ "sigkill", SIGKILL }, { "segv", -1 },
	{ "abort", -1 },        { "thread exit", 0 },
	{ "thread _exit", 0 },  { "thread sigkill", SIGKILL },
	{ "close exit", 0 }, /* in mid-job */
};

TEST(pool_end, nothing_survives_a_parent_however_it_ends)
{
	EACH(i, ends) {
		const char *folder = text("%s/%zu", test_folder(), i);
		int status;

		test_name_row(ends[i].how);
		SYS(mkdir(folder, 0777));
		status = await_all(
			start_parent_of(worker_program(), folder, ends[i].how));

		if (ends[i].status < 0)
			CHECK(status != 0);
		else
			CHECK_INT(status, ends[i].status);
		for (int j = 0; j < 3 && ends[i].status >= 0; j++)
			CHECK(!is_alive(pid_from(text("%s/%d", folder, j))));
	}
}

/* A signal at the death of a parent comes at that of its thread already. */
TEST(pool_end, all_survive_the_thread_that_opened_the_pool)
{
	const pid_t parent = start_parent("opener-gone wait");

	for (int i = 0; i < 3; i++)
		(void)pid_from(text("%s/%d", test_folder(), i));
	nap_ms(600);
	for (int i = 0; i < 3; i++)
		CHECK(is_alive(pid_from(text("%s/%d", test_folder(), i))));
	SYS(kill(parent, SIGKILL));
	CHECK_INT(await_all(parent), SIGKILL);
}

TEST(pool_end, nothing_survives_a_parent_that_is_killed)
{
	const pid_t parent = start_parent("wait");

	for (int i = 0; i < 3; i++)
		(void)pid_from(text("%s/%d", test_folder(), i));
	SYS(kill(parent, SIGKILL));
	CHECK_INT(await_all(parent), SIGKILL);
}

/* Nobody is left below us but `copy`, which is ended. */
static void check_only(pid_t copy)
{
	const uint64_t end = now_ms() + 20000;
	pid_t left[CHILDREN_LIMIT];
	size_t count;

	do {
		nap_ms(5);
		count = children(left);
	} while (count != 1 && now_ms() < end);
	(void)kill(copy, SIGKILL);
	CHECK_INT(count, 1);
	CHECK_INT(left[0], copy);
	(void)await_all(copy);
}

/* A child of fork() holds the sockets of its parent, and lives on. */
TEST(pool_end, nothing_survives_a_parent_whose_forked_child_does)
{
	const pid_t parent = start_parent("forked sigkill");
	const pid_t copy = pid_from(text("%s/copy", test_folder()));

	(void)end_of(parent);
	check_only(copy);
}

TEST(pool_end, a_worker_ends_whose_pool_was_gone_before_it_began)
{
	const char *gone = text("%s/gone", test_folder());
	const char *worker =
		write_script("worker",
	                     "until test -e %s; do sleep 0.01; done\n"
	                     "exec %s\n",
	                     gone, worker_program());
	pid_t parent;
	pid_t copy;

	parent = start_parent_of(worker, test_folder(), "early forked sigkill");
	copy = pid_from(text("%s/copy", test_folder()));
	(void)end_of(parent);
	write_text(gone, "");
	check_only(copy);
}

TEST(pool_end, no_process_is_left_to_be_waited_for)
{
	struct tkb_pool *pool = open_pool_of(4);

	(void)ask(pool, text("crash-times 2 %s/file", test_folder()));
	check_fails(pool, "crash", TKB_ERR_UNAVAILABLE, "SIGABRT");
	tkb_pool_close(pool);
	CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_INT(errno, ECHILD);
}

TEST(pool_end, idle_workers_end_in_order_and_soon)
{
	struct tkb_pool *pool =
		open_pool_with(.worker_count = 2, .grace_ms = 30000);
	const uint64_t start = now_ms();

	CHECK_STR(ask(pool, "echo"), "echo");
	tkb_pool_close(pool);
	CHECK(now_ms() - start < 15000);
}

/* Close a pool whose worker is at such a job: how many ms that took. */
static uint64_t close_at_work(const char *job, unsigned grace_ms)
{
	struct tkb_pool *pool =
		open_pool_with(.worker_count = 1, .grace_ms = grace_ms);
	const char *path = text("%s/pid", test_folder());
	struct tkb_future *future = give(pool, text("%s %s", job, path));
	const pid_t worker = pid_from(path);
	const uint64_t start = now_ms();
	uint64_t took;

	tkb_pool_close(pool);
	took = now_ms() - start;
	CHECK(!is_alive(worker));
	check_job_fails(future, TKB_ERR_CANCELLED, "cancelled");
	return took;
}

TEST(pool_end, a_worker_at_work_gets_its_grace_and_then_sigterm)
{
	const uint64_t took = close_at_work("heed-term", 1500);

	CHECK(took >= 1490 && took < 2990);
	CHECK(exists("pid.term"));
}

TEST(pool_end, a_worker_that_does_not_heed_sigterm_is_killed)
{
	const uint64_t took = close_at_work("ignore-term", 150);

	CHECK(took >= 290 && took < 10000);
}

/* It may end its job, though nobody wants the answer. */
TEST(pool_end, a_worker_that_talks_while_the_pool_closes_can_end)
{
	struct tkb_pool *pool =
		open_pool_with(.worker_count = 1, .grace_ms = 30000);
	const char *path = text("%s/pid", test_folder());
	struct tkb_future *future = give(pool, text("talk-on %s", path));
	const uint64_t start = now_ms();

	await_file(path);
	tkb_pool_close(pool);
	CHECK(now_ms() - start < 25000);
	tkb_future_free(future);
}

TEST(pool_end, jobs_that_wait_and_run_are_cancelled)
{
	struct tkb_pool *pool =
		open_pool_with(.worker_count = 1, .grace_ms = 50);
	struct tkb_future *futures[5];

	for (int i = 0; i < 5; i++)
		futures[i] = give(pool, text("hang %s/pid", test_folder()));
	await_file(text("%s/pid", test_folder()));
	tkb_pool_close(pool);
	for (int i = 0; i < 5; i++) {

		FAILS(tkb_future_wait(futures[i], 0, NULL, ERR),
		      TKB_ERR_CANCELLED, "cancelled");
		tkb_future_cancel(futures[i]);
	}
	for (int i = 0; i < 5; i++)
		tkb_future_free(futures[i]);
}

struct waiter {
	pthread_t thread;
	struct tkb_future *future;
	int rc;
};

static void *wait_for_ever(void *self)
{
	struct waiter *waiter = self;

	waiter->rc = tkb_future_wait(waiter->future, TKB_FOREVER, NULL, NULL);
	return NULL;
}

TEST(pool_end, who_waits_in_another_thread_is_told)
{
	struct tkb_pool *pool =
		open_pool_with(.worker_count = 1, .grace_ms = 50);
	struct waiter waiters[3];

	for (int i = 0; i < 3; i++) {
		waiters[i].future =
			give(pool, text("hang %s/pid", test_folder()));
		SYS(pthread_create(&waiters[i].thread, NULL, wait_for_ever,
		                   &waiters[i]));
	}
	nap_ms(50);
	tkb_pool_close(pool);
	for (int i = 0; i < 3; i++) {
		(void)pthread_join(waiters[i].thread, NULL);
		CHECK_INT(waiters[i].rc, TKB_ERR_CANCELLED);
		tkb_future_free(waiters[i].future);
	}
}

struct closer {
	pthread_t thread;
	struct tkb_pool *pool;
};

static void *close_pool(void *self)
{
	struct closer *closer = self;

	tkb_pool_close(closer->pool);
	return NULL;
}

/* A future that is held keeps the pool's memory where it is. */
TEST(pool_end, a_job_for_a_pool_that_closes_is_refused)
{
	struct closer closer = { .pool = open_pool_with(.worker_count = 1,
		                                        .grace_ms = 700) };
	const char *path = text("%s/pid", test_folder());
	struct tkb_future *held =
		give(closer.pool, text("ignore-term %s", path));
	const struct tkb_job job = { SIZED(job), .request = tkb_text("echo") };
	struct tkb_future *late = NULL;

	await_file(path);
	SYS(pthread_create(&closer.thread, NULL, close_pool, &closer));
	CHECK_INT(tkb_future_wait(held, PATIENCE_MS, NULL, ERR),
	          TKB_ERR_CANCELLED);
	FAILS(tkb_pool_submit(closer.pool, &job, &late, ERR), TKB_ERR_CANCELLED,
	      "the pool is closing");
	CHECK(late == NULL);
	(void)pthread_join(closer.thread, NULL);
	tkb_future_free(held);
}

TEST(pool_end, a_pool_may_be_closed_before_its_workers_have_begun)
{
	for (int i = 0; i < 10; i++) {
		struct tkb_pool *pool = open_pool_of(4);

		nap_ms((unsigned)i);
		tkb_pool_close(pool);
		CHECK_INT(child_count(), 0);
	}
}
