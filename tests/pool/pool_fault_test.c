/* SPDX-License-Identifier: Apache-2.0 */
#include "pool_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Workers that crash, hang and lie. The pool goes on after each. */

static struct tkb_pool *open_odd(const char *how, const char *rest)
{
	const char *const arguments[] = { how, rest, NULL };

	return open_pool_with(.worker_count = 1, .arguments = arguments);
}

/* The first worker of a pool is lost; the next does the next job. */
static void check_lost(const char *request, const char *part)
{
	struct tkb_pool *pool = open_pool_with(.worker_count = 1, .tries = 1);

	check_fails(pool, request, TKB_ERR_UNAVAILABLE, part);
	CHECK_STR(ask(pool, "echo on"), "echo on");
	CHECK_INT(tkb_pool_job_count(pool), 0);
	tkb_pool_close(pool);
	CHECK_INT(child_count(), 0);
}

TEST(pool_fault, a_crash_costs_only_its_own_job)
{
	POOL(pool) = open_pool_of(2);
	struct tkb_future *futures[6];

	for (int i = 0; i < 6; i++)
		futures[i] = give(pool, i % 2 == 0 ? "crash" : "echo well");
	for (int i = 0; i < 6; i++) {
		if (i % 2 == 0)
			check_job_fails(futures[i], TKB_ERR_UNAVAILABLE,
			                "the worker was killed by SIGABRT at "
			                "the last of 3 tries");
		else
			CHECK_STR(answer_of(futures[i]), "echo well");
	}
}

TEST(pool_fault, a_worker_that_ends_or_lies_is_told_and_replaced)
{
	static const struct {
		const char *request;
		const char *part;
	} cases[] = {
		{ "exit 7", "the worker exited with status 7" },
		{ "exit 0", "the worker exited with status 0" },
		{ "half", "the worker exited with status 3" },
		{ "close-socket", "the worker closed its connection" },
		{ "garbage",
		  "the worker wrote something that is not an answer" },
		{ "huge", "the worker wrote something that is not an answer" },
		{ "odd-result 1", "wrote something that is not an answer" },
		{ "odd-result -13", "wrote something that is not an answer" },
		{ "odd-result -2147483648",
		  "wrote something that is not an answer" },
		{ "other-job", "wrote something that is not an answer" },
		{ "greet-again", "wrote something that is not an answer" },
		{ "give-a-job", "wrote something that is not an answer" },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++)
		check_lost(cases[i].request, cases[i].part);
}

TEST(pool_fault, a_job_is_tried_twice_more_and_no_more)
{
	POOL(pool) = open_pool_of(1);
	const char *path = text("%s/tries", test_folder());

	CHECK_STR(ask(pool, text("crash-times 2 %s", path)), "survived");
	CHECK_INT(read_file(path).size, 3);
	path = text("%s/more", test_folder());
	check_fails(pool, text("crash-times 99 %s", path), TKB_ERR_UNAVAILABLE,
	            "SIGKILL at the last of 3 tries");
	CHECK_INT(read_file(path).size, 3);
}

TEST(pool_fault, the_caller_may_want_another_number_of_tries)
{
	POOL(pool) = open_pool_with(.worker_count = 1, .tries = 5);
	const char *path = text("%s/tries", test_folder());

	CHECK_STR(ask(pool, text("crash-times 4 %s", path)), "survived");
	CHECK_INT(read_file(path).size, 5);
}

TEST(pool_fault, what_a_try_answered_is_not_in_the_next)
{
	POOL(pool) = open_pool_of(1);
	const char *path = text("%s/tries", test_folder());

	/* 9: crash at the first time; 2: after a part of the answer. */
	CHECK(strncmp(ask(pool, text("mean-sum 9 %s", path)), "wrong", 5) != 0);
}

TEST(pool_fault, a_job_that_hangs_ends_at_its_time)
{
	POOL(pool) = open_pool_with(.worker_count = 1, .tries = 2);
	const char *path = text("%s/pid", test_folder());
	const uint64_t start = now_ms();

	check_job_fails(
		give_with(pool, .request = tkb_text(text("hang %s", path)),
	                  .timeout_ms = 400),
		TKB_ERR_UNAVAILABLE,
		"the worker was not done after 400 ms at the last of 2 tries");
	CHECK(now_ms() - start >= 800);
	await_end_of(pid_from(path));
	CHECK_STR(ask(pool, "echo on"), "echo on");
}

/* It is the time of one try, and it does not begin in the line. */
TEST(pool_fault, the_time_in_line_does_not_count)
{
	POOL(pool) = open_pool_of(1);
	struct tkb_future *first = give(pool, "sleep 600");
	struct tkb_future *second = give_with(
		pool, .request = tkb_text("sleep 10"), .timeout_ms = 400);

	CHECK_STR(answer_of(second), "awake");
	CHECK_STR(answer_of(first), "awake");
}

TEST(pool_fault, an_end_that_is_told_twice_is_not_that_of_the_next_job)
{
	POOL(pool) = open_pool_of(1);
	struct tkb_future *first = give(pool, "done-twice");
	struct tkb_future *second = give(pool, "echo second");

	CHECK_STR(answer_of(first), "");
	CHECK_STR(answer_of(second), "echo second");
	CHECK_STR(ask(pool, "echo third"), "echo third");
}

TEST(pool_fault, an_answer_counts_though_its_worker_dies_behind_it)
{
	struct tkb_pool *pool = open_pool_of(1);

	CHECK_STR(ask(pool, "done-and-die"), "the answer");
	CHECK_STR(ask(pool, "echo on"), "echo on");
	tkb_pool_close(pool);
	pool = open_pool_of(1);
	CHECK_INT(strlen(ask(pool, "many-and-die")), 200);
	tkb_pool_close(pool);
}

/* With one try each, no job may meet a worker that is about to end. */
TEST(pool_fault, a_worker_whose_job_was_its_last_gets_no_other)
{
	POOL(pool) = open_pool_with(.worker_count = 1, .tries = 1);
	struct tkb_future *futures[4];

	for (int i = 0; i < 4; i++)
		futures[i] = give(pool, i % 2 == 0 ? "last" : "echo on");
	for (int i = 0; i < 4; i++)
		CHECK_STR(answer_of(futures[i]),
		          i % 2 == 0 ? "last" : "echo on");
}

/* Its child holds the socket too, so that it is not closed. */
TEST(pool_fault, a_crash_is_seen_though_a_child_is_left)
{
	const char *path = text("%s/child", test_folder());
	const uint64_t start = now_ms();

	check_lost(text("child-and-crash %s", path), "killed by SIGKILL");
	CHECK(now_ms() - start < 30000);
	await_end_of(pid_from(path));
}

TEST(pool_fault, what_a_lost_worker_started_is_killed)
{
	const char *path = text("%s/child", test_folder());
	POOL(pool) = open_pool_with(.worker_count = 1, .tries = 1);
	struct tkb_future *future =
		give_with(pool, .request = tkb_text(text("child %s", path)),
	                  .timeout_ms = 500);

	CHECK(is_alive(pid_from(path)));
	check_job_fails(future, TKB_ERR_UNAVAILABLE, "was not done");
	await_end_of(pid_from(path));
}

TEST(pool_fault, a_worker_that_left_its_group_is_killed)
{
	const char *path = text("%s/pid", test_folder());
	POOL(pool) = open_pool_with(.worker_count = 1, .tries = 1);

	check_job_fails(
		give_with(pool,
	                  .request = tkb_text(text("leave-group %s", path)),
	                  .timeout_ms = 500),
		TKB_ERR_UNAVAILABLE, "was not done");
	await_end_of(pid_from(path));
	CHECK_STR(ask(pool, "echo on"), "echo on");
}

TEST(pool_fault, a_worker_that_was_killed_is_replaced)
{
	POOL(pool) = open_pool_of(1);
	const char *pid = ask(pool, "pid");

	SYS(kill((pid_t)strtol(pid, NULL, 10), SIGKILL));
	await_end_of((pid_t)strtol(pid, NULL, 10));
	CHECK(strcmp(ask(pool, "pid"), pid) != 0);
}

TEST(pool_fault, a_worker_that_was_stopped_is_late)
{
	const char *path = text("%s/pid", test_folder());
	POOL(pool) = open_pool_with(.worker_count = 1, .tries = 1);
	struct tkb_future *future =
		give_with(pool, .request = tkb_text(text("hang %s", path)),
	                  .timeout_ms = 700);

	SYS(kill(pid_from(path), SIGSTOP));
	check_job_fails(future, TKB_ERR_UNAVAILABLE, "was not done");
	await_end_of(pid_from(path));
}

TEST(pool_fault, an_answer_over_the_limit_is_told)
{
	POOL(pool) =
		open_pool_with(.worker_count = 1, .max_answer_size = 100000);

	CHECK_INT(strlen(ask(pool, "answer-much 100000")), 100000);
	check_fails(pool, "answer-much 100001", TKB_ERR_TOO_LARGE, "");
	CHECK_STR(ask(pool, "echo on"), "echo on");
}

/* One that talks without end keeps nobody from anything. */
TEST(pool_fault, a_flood_drowns_nobody)
{
	POOL(pool) = open_pool_with(.worker_count = 2, .tries = 1);
	struct tkb_future *flood = give_with(pool, .request = tkb_text("flood"),
	                                     .timeout_ms = 1000);

	for (int i = 0; i < 20; i++)
		CHECK_STR(ask(pool, "echo on"), "echo on");
	check_job_fails(flood, TKB_ERR_UNAVAILABLE, "was not done");
}

/* More than a socket holds. */
static struct tkb_job big_job(uint32_t timeout_ms)
{
	const size_t size = 8 * TKB_MIB;

	return CHOSEN(tkb_job, .request = { test_alloc(size), size },
	              .timeout_ms = timeout_ms);
}

TEST(pool_fault, a_worker_that_reads_no_request_is_late)
{
	const uint64_t start = now_ms();
	struct tkb_pool *pool = open_odd("--deaf", NULL);

	check_job_fails(give_job(pool, big_job(150)), TKB_ERR_UNAVAILABLE,
	                "was not done after 150 ms");
	CHECK(now_ms() - start < 20000);
	tkb_pool_close(pool);
	pool = open_odd("--half-deaf", NULL);
	check_job_fails(give_job(pool, big_job(150)), TKB_ERR_UNAVAILABLE,
	                "was not done after 150 ms");
	tkb_pool_close(pool);
}

/* In ms, of this process: of waiting there should be none. */
static uint64_t cpu_ms(void)
{
	struct timespec used = { 0 };

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000;
}

TEST(pool_fault, what_cannot_be_written_is_not_tried_in_haste)
{
	POOL(pool) = open_odd("--half-deaf", NULL);
	struct tkb_job job = big_job(300);
	const uint64_t start = cpu_ms();

	check_job_fails(give_job(pool, job), TKB_ERR_UNAVAILABLE,
	                "was not done after 300 ms");
	CHECK(cpu_ms() - start < 400);
}

TEST(pool_fault, a_pool_without_workers_rests)
{
	POOL(pool) = open_odd("--exit", NULL);
	uint64_t start;

	check_fails(pool, "echo", TKB_ERR_UNAVAILABLE, "no worker can be had");
	start = cpu_ms();
	nap_ms(500);
	CHECK(cpu_ms() - start < 200);
}

TEST(pool_fault, an_answer_to_half_a_request_is_none)
{
	POOL(pool) = open_odd("--hasty", NULL);

	check_job_fails(give_job(pool, big_job(0)), TKB_ERR_UNAVAILABLE,
	                "wrote something that is not an answer");
}

TEST(pool_fault, who_speaks_before_it_greets_is_no_worker)
{
	POOL(pool) = open_odd("--unruly", NULL);

	check_fails(pool, "echo", TKB_ERR_UNAVAILABLE,
	            "no worker can be had: '");
}

TEST(pool_fault, a_program_that_is_no_worker_is_told)
{
	POOL(pool) = open_odd("--exit", NULL);

	check_fails(pool, "echo", TKB_ERR_UNAVAILABLE,
	            "pool_worker' exited with status 5: no licence was found");
	check_fails(pool, "echo", TKB_ERR_UNAVAILABLE,
	            "no worker can be had: '");
	CHECK_INT(tkb_pool_job_count(pool), 0);
}

TEST(pool_fault, a_program_that_never_greets_is_told)
{
	const char *const arguments[] = { "--mute", NULL };
	struct tkb_pool *pool =
		open_pool_with(.worker_count = 2, .arguments = arguments,
	                       .start_timeout_ms = 200);

	check_fails(pool, "echo", TKB_ERR_UNAVAILABLE,
	            "did not greet in 200 ms");
	tkb_pool_close(pool);
	CHECK_INT(child_count(), 0);
}

TEST(pool_fault, a_worker_that_cannot_be_had_once_can_be_had_again)
{
	POOL(pool) = open_odd("--once", text("%s/file", test_folder()));

	CHECK_STR(ask(pool, "echo on"), "echo on");
}

/* A fault is not for ever: the next job has it tried again. */
TEST(pool_fault, a_pool_recovers_when_its_program_does)
{
	const char *path = text("%s/file", test_folder());
	POOL(pool) = open_odd("--while", path);

	check_fails(pool, "echo", TKB_ERR_UNAVAILABLE, "no worker can be had");
	write_text(path, "");
	CHECK_STR(ask(pool, "echo on"), "echo on");
}

/* A program that is gone, likewise. */
TEST(pool_fault, a_program_that_is_removed_is_told)
{
	struct tkb_pool_options options = { SIZED(options), .worker_count = 1,
		                            .worker = "./worker" };
	struct tkb_pool *pool;

	SYS(symlink(worker_program(), "worker"));
	pool = open_pool(options);
	CHECK_STR(ask(pool, "echo on"), "echo on");
	SYS(unlink("worker"));
	check_fails(pool, "crash", TKB_ERR_UNAVAILABLE,
	            "no worker can be had: cannot start './worker'");
	SYS(symlink(worker_program(), "worker"));
	CHECK_STR(ask(pool, "echo on"), "echo on");
	tkb_pool_close(pool);
}

/* It greets and goes, again and again: not as fast as that can be. */
TEST(pool_fault, a_worker_of_no_use_is_not_started_without_a_rest)
{
	const char *path = text("%s/starts", test_folder());
	struct tkb_pool *pool = open_odd("--brief", path);

	nap_ms(1000);
	tkb_pool_close(pool);
	CHECK(read_file(path).size >= 2);
	CHECK(read_file(path).size <= 15);
}

/* What it started works on; that is its business. */
TEST(pool_fault, a_child_that_is_left_does_not_keep_a_job)
{
	struct tkb_pool *pool = open_pool_of(1);
	const char *path = text("%s/child", test_folder());

	CHECK_STR(ask(pool, text("child-and-answer %s", path)), "done");
	CHECK_STR(ask(pool, "echo on"), "echo on");
	tkb_pool_close(pool);
	await_end_of(pid_from(path));
}

/* Cancelled while it runs, while it waits, by one of two, and when done. */
TEST(pool_fault, a_cancelled_job_that_waits_does_not_begin)
{
	POOL(pool) = open_pool_of(1);
	const char *go = text("%s/go", test_folder());
	const char *path = text("%s/order", test_folder());
	struct tkb_future *first = give(pool, text("await %s", go));
	struct tkb_future *second = give(pool, text("note %s b", path));
	struct tkb_future *third = give(pool, text("note %s c", path));

	tkb_future_cancel(second);
	tkb_future_cancel(second);
	FAILS(tkb_future_wait(second, PATIENCE_MS, NULL, ERR),
	      TKB_ERR_CANCELLED, "cancelled");
	write_text(go, "");
	CHECK_STR(answer_of(third), "0");
	CHECK_STR(answer_of(first), "seen");
	CHECK_STR(read_file(path).data, "c");
	tkb_future_free(second);
}

TEST(pool_fault, a_cancelled_job_that_has_begun_is_killed)
{
	POOL(pool) = open_pool_of(1);
	const char *path = text("%s/pid", test_folder());
	struct tkb_future *future = give(pool, text("child %s", path));
	const pid_t child = pid_from(path);

	tkb_future_cancel(future);
	check_job_fails(future, TKB_ERR_CANCELLED, "cancelled");
	await_end_of(child);
	CHECK_STR(ask(pool, "echo on"), "echo on");
	CHECK_INT(tkb_pool_job_count(pool), 0);
}

TEST(pool_fault, a_future_that_is_freed_cancels)
{
	POOL(pool) = open_pool_of(1);
	const char *path = text("%s/pid", test_folder());
	struct tkb_future *future = give(pool, text("hang %s", path));
	const pid_t worker = pid_from(path);

	tkb_future_free(future);
	await_end_of(worker);
	CHECK_STR(ask(pool, "echo on"), "echo on");
}

TEST(pool_fault, a_cancelled_job_that_is_done_is_done)
{
	POOL(pool) = open_pool_of(1);
	struct tkb_future *future = give(pool, "echo kept");

	OK(tkb_future_wait(future, PATIENCE_MS, NULL, ERR));
	tkb_future_cancel(future);
	CHECK_STR(answer_of(future), "echo kept");
}

/* A key whose job nobody wants any more is begun anew. */
TEST(pool_fault, a_cancelled_job_is_joined_by_nobody)
{
	POOL(pool) = open_pool_of(1);
	const char *path = text("%s/pid", test_folder());
	struct tkb_job job = { SIZED(job),
		               .request = tkb_text(text("hang %s", path)),
		               .key = "k" };
	struct tkb_future *first = give_job(pool, job);
	struct tkb_future *second;

	await_file(path);
	job.request = tkb_text("echo second");
	tkb_future_cancel(first);
	second = give_job(pool, job);
	CHECK_STR(answer_of(second), "echo second");
	tkb_future_free(first);
}

TEST(pool_fault, a_wait_ends_where_the_pools_watch_says_so_and_the_job_goes_on)
{
	struct countdown left = { .left = 2 };
	const struct tkb_watch watch = { SIZED(watch), .self = &left,
		                         .is_cancelled = is_counted_down };
	POOL(pool) = open_pool_with(.worker_count = 1, .watch = &watch);
	const char *path = text("%s/pid", test_folder());
	struct tkb_future *future = give(pool, text("hang %s", path));

	await_file(path);

	FAILS(tkb_future_wait(future, PATIENCE_MS, NULL, ERR),
	      TKB_ERR_CANCELLED, "cancelled");
	CHECK_INT(left.left, 0);
	CHECK(is_alive(pid_from(path)));
	CHECK_INT(tkb_pool_job_count(pool), 1);
	tkb_future_free(future);
}

static void *cancel_soon(void *future)
{
	nap_ms(100);
	tkb_future_cancel(future);
	return NULL;
}

/* Though the job goes on, for another. */
TEST(pool_fault, a_cancel_wakes_who_waits)
{
	POOL(pool) = open_pool_of(1);
	const struct tkb_job job = { SIZED(job),
		                     .request = tkb_text(text("hang %s/pid",
		                                              test_folder())),
		                     .key = "k" };
	struct tkb_future *future = give_job(pool, job);
	struct tkb_future *other = give_job(pool, job);
	pthread_t thread;

	SYS(pthread_create(&thread, NULL, cancel_soon, future));
	CHECK_INT(tkb_future_wait(future, PATIENCE_MS, NULL, NULL),
	          TKB_ERR_CANCELLED);
	(void)pthread_join(thread, NULL);
	CHECK_INT(tkb_future_wait(other, 0, NULL, NULL), TKB_MISS);
	tkb_future_free(future);
	tkb_future_free(other);
}
