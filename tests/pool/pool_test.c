/* SPDX-License-Identifier: Apache-2.0 */
#include "pool_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What a pool does where nothing goes wrong. */

TEST(pool, an_answer_is_what_the_worker_gave)
{
	POOL(pool) = open_pool_of(2);

	CHECK_STR(ask(pool, "echo of this"), "echo of this");
}

TEST(pool, a_request_of_any_bytes_arrives_whole)
{
	POOL(pool) = open_pool_of(1);
	const size_t size = 3 * TKB_MIB + 17;
	char *bytes = test_alloc(size);
	struct tkb_bytes answer = { NULL, 0 };
	struct tkb_future *future;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)(i * 31 >> 3);
	memcpy(bytes, "echo ", 5);
	future = give_with(pool, .request = { bytes, size });
	OK(tkb_future_wait(future, PATIENCE_MS, &answer, ERR));
	CHECK_INT(answer.size, size);
	CHECK(memcmp(answer.data, bytes, size) == 0);
	tkb_future_free(future);
}

TEST(pool, an_empty_answer_is_an_answer)
{
	POOL(pool) = open_pool_of(1);

	CHECK_STR(ask(pool, "answer-much 0"), "");
}

TEST(pool, the_request_is_copied)
{
	POOL(pool) = open_pool_of(1);
	struct tkb_future *first = give(pool, "sleep 50");
	char request[] = "echo mine";
	char key[] = "key";
	struct tkb_future *future =
		give_with(pool, .request = tkb_text(request), .key = key);

	memset(request, 'z', strlen(request));
	key[0] = 'z';
	CHECK_STR(answer_of(first), "awake");
	CHECK_STR(answer_of(future), "echo mine");
}

TEST(pool, a_failure_is_what_the_handler_failed_with)
{
	POOL(pool) = open_pool_of(1);

	check_fails(pool, "fail bad IR: line 3", TKB_ERR_CORRUPT,
	            "bad IR: line 3");
	check_fails(pool, "fail ", TKB_ERR_CORRUPT, "the job failed");
	CHECK_STR(ask(pool, "echo on"), "echo on");
}

/* Neither 1 nor -4711 is an enum tkb_status that a handler may return. */
TEST(pool, a_result_that_is_none_is_a_failure)
{
	POOL(pool) = open_pool_of(1);

	check_fails(pool, "return 1", TKB_ERR_INVALID, "returned 1");
	check_fails(pool, "return -4711", TKB_ERR_INVALID, "returned -4711");
	check_fails(pool, "return -10", TKB_ERR_DENIED, "the job failed");
}

TEST(pool, a_failed_job_is_not_tried_again)
{
	POOL(pool) = open_pool_of(1);

	check_fails(pool, "fail once", TKB_ERR_CORRUPT, "once");
	CHECK_STR(ask(pool, text("note %s/file a", test_folder())), "0");
}

TEST(pool, workers_are_there_before_there_is_work)
{
	struct tkb_pool *pool = open_pool_of(5);
	const uint64_t end = now_ms() + PATIENCE_MS;

	while (child_count() < 5 && now_ms() < end)
		nap_ms(2);
	CHECK_INT(child_count(), 5);
	tkb_pool_close(pool);
	CHECK_INT(child_count(), 0);
}

TEST(pool, a_job_starts_no_worker)
{
	POOL(pool) = open_pool_of(1);
	const char *first = ask(pool, "pid");

	for (int i = 0; i < 10; i++)
		CHECK_STR(ask(pool, "pid"), first);
}

/* Of so many jobs that sleep, all are at work at once. */
TEST(pool, as_many_jobs_as_workers_are_done_at_once)
{
	POOL(pool) = open_pool_of(4);
	struct tkb_future *futures[4];

	for (int i = 0; i < 4; i++)
		futures[i] = give(pool, text("hang %s/%d", test_folder(), i));
	for (int i = 0; i < 4; i++)
		await_file(text("%s/%d", test_folder(), i));
	CHECK_INT(tkb_pool_job_count(pool), 4);
	for (int i = 0; i < 4; i++)
		tkb_future_free(futures[i]);
	CHECK_STR(ask(pool, "echo"), "echo");
	CHECK_INT(tkb_pool_job_count(pool), 0);
}

TEST(pool, by_default_there_is_a_worker_for_each_core_of_the_mask)
{
	const uint64_t end = now_ms() + PATIENCE_MS;
	struct tkb_pool *pool;
	cpu_set_t old;
	cpu_set_t one;
	size_t cores;

	CHECK_INT(sched_getaffinity(0, sizeof(old), &old), 0);
	CPU_ZERO(&one);
	for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
		if (CPU_ISSET(i, &old))
			CPU_SET(i, &one);
	}
	CHECK_INT(sched_setaffinity(0, sizeof(one), &one), 0);
	pool = open_pool_of(0);
	CHECK_STR(ask(pool, "echo"), "echo");
	CHECK_INT(child_count(), 1);
	tkb_pool_close(pool);

	CHECK_INT(sched_setaffinity(0, sizeof(old), &old), 0);
	cores = (size_t)CPU_COUNT(&old) < 32 ? (size_t)CPU_COUNT(&old) : 32;
	pool = open_pool_of(0);
	while (child_count() < cores && now_ms() < end)
		nap_ms(2);
	nap_ms(20);
	CHECK_INT(child_count(), cores);
	tkb_pool_close(pool);
}

/* One worker, so that the order in which they begin is that of the notes. */
TEST(pool, jobs_begin_in_the_order_in_which_they_came)
{
	POOL(pool) = open_pool_of(1);
	const char *path = text("%s/order", test_folder());
	struct tkb_future *futures[26];

	for (int i = 0; i < 26; i++)
		futures[i] = give(pool, text("note %s %c", path, 'a' + i));
	for (int i = 0; i < 26; i++)
		CHECK_STR(answer_of(futures[i]), text("%d", i));
	CHECK_STR(read_file(path).data, "abcdefghijklmnopqrstuvwxyz");
}

/* It came first: the others have not begun when it crashes. */
TEST(pool, a_job_that_is_tried_again_keeps_its_place)
{
	POOL(pool) = open_pool_of(1);
	const char *path = text("%s/order", test_folder());
	struct tkb_future *crashing =
		give(pool, text("crash-times 2 %s", path));
	struct tkb_future *next = give(pool, text("note %s b", path));
	struct tkb_future *last;

	await_file(path);
	nap_ms(1); /* the line is not what it was */
	last = give(pool, text("note %s c", path));
	CHECK_STR(answer_of(last), "4");
	CHECK_STR(answer_of(next), "3");
	CHECK_STR(answer_of(crashing), "survived");
	CHECK_STR(read_file(path).data, "...bc");
}

TEST(pool, a_wait_of_nothing_only_looks)
{
	POOL(pool) = open_pool_of(1);
	struct tkb_error err = { .status = 77 };
	struct tkb_bytes answer = { "untouched", 9 };
	const char *go = text("%s/go", test_folder());
	struct tkb_future *future = give(pool, text("await %s", go));
	const uint64_t start = now_ms();

	CHECK_INT(tkb_future_wait(future, 0, &answer, &err), TKB_MISS);
	CHECK(now_ms() - start < 1000);
	CHECK_INT(err.status, 77);
	CHECK_INT(answer.size, 9);
	CHECK_INT(tkb_future_log(future).size, 0);
	write_text(go, "");
	CHECK_OK(tkb_future_wait(future, TKB_FOREVER, NULL, &err), &err);
	CHECK_OK(tkb_future_wait(future, 0, &answer, NULL), &err);
	CHECK_INT(answer.size, 4);
	tkb_future_free(future);
}

TEST(pool, a_wait_ends_at_its_deadline_and_not_before)
{
	POOL(pool) = open_pool_of(1);
	const char *go = text("%s/go", test_folder());
	struct tkb_future *future = give(pool, text("await %s", go));
	const uint64_t start = now_ms();
	uint64_t took;

	CHECK_INT(tkb_future_wait(future, 1050, NULL, ERR), TKB_MISS);
	took = now_ms() - start;
	CHECK(took >= 1049 && took < 10000);
	write_text(go, "");
	OK(tkb_future_wait(future, PATIENCE_MS, NULL, ERR));
	tkb_future_free(future);
}

TEST(pool, jobs_of_equal_keys_are_done_once)
{
	POOL(pool) = open_pool_of(2);
	const char *path = text("%s/order", test_folder());
	const char *go = text("%s/go", test_folder());
	struct tkb_future *waiting[2] = { give(pool, text("await %s", go)),
		                          give(pool, text("await %s", go)) };
	struct tkb_future *same[3];
	struct tkb_future *other;

	for (int i = 0; i < 3; i++)
		same[i] = give_with(
			pool, .request = tkb_text(text("note %s a", path)),
			.key = "one");
	other = give_with(pool, .request = tkb_text(text("note %s b", path)),
	                  .key = "another");
	CHECK_INT(tkb_pool_job_count(pool), 4);
	write_text(go, "");
	for (int i = 0; i < 2; i++)
		CHECK_STR(answer_of(waiting[i]), "seen");
	(void)answer_of(other);
	CHECK_STR(answer_of(same[0]), answer_of(same[1]));
	(void)answer_of(same[2]);
	CHECK_INT(read_file(path).size, 2);
}

/* At work, not in line. */
TEST(pool, a_job_joins_one_of_its_key_that_has_begun)
{
	POOL(pool) = open_pool_of(2);
	const char *path = text("%s/pid", test_folder());
	const struct tkb_job job = { SIZED(job),
		                     .request = tkb_text(text("hang %s", path)),
		                     .key = "k" };
	struct tkb_future *first = give_job(pool, job);
	struct tkb_future *second;
	struct tkb_error err = { 0 };

	await_file(path);
	second = give_job(pool, job);
	CHECK_INT(tkb_pool_job_count(pool), 1);
	tkb_future_free(first); /* the second wants it still */
	CHECK_INT(tkb_future_wait(second, 100, NULL, &err), TKB_MISS);
	CHECK(is_alive(pid_from(path)));
	tkb_future_free(second);
	await_end_of(pid_from(path));
}

TEST(pool, a_key_that_was_done_is_done_again)
{
	POOL(pool) = open_pool_of(1);
	const struct tkb_job job = { SIZED(job),
		                     .request = tkb_text(text("note %s/file a",
		                                              test_folder())),
		                     .key = "k" };

	CHECK_STR(answer_of(give_job(pool, job)), "0");
	CHECK_STR(answer_of(give_job(pool, job)), "1");
}

TEST(pool, what_makes_no_job_is_refused)
{
	static const char *const nameless[] = { "=value", NULL };
	static const char *const empty[] = { "", NULL };
	POOL(pool) = open_pool_of(1);
	struct tkb_future *future = NULL;
	struct tkb_job job = { SIZED(job), .environment = nameless };

	FAILS(tkb_pool_submit(pool, &job, &future, ERR), TKB_ERR_INVALID,
	      "'=value' does not name a variable");
	job.environment = empty;
	FAILS(tkb_pool_submit(pool, &job, &future, ERR), TKB_ERR_INVALID,
	      "does not name a variable");
	job = CHOSEN(tkb_job, .request = { "", (size_t)1025 * TKB_MIB });
	FAILS(tkb_pool_submit(pool, &job, &future, ERR), TKB_ERR_TOO_LARGE,
	      "a job of");
	CHECK(future == NULL);
	CHECK_INT(tkb_pool_job_count(pool), 0);
}

TEST(pool, without_a_worker_program_there_is_none)
{
	struct tkb_pool_options options = { SIZED(options), .worker_count = 1 };
	struct tkb_pool *pool = NULL;

	FAILS(tkb_pool_open(&options, &pool, ERR), TKB_ERR_INVALID,
	      "needs a worker program");
	options.worker = "/nonexistent/worker";
	FAILS(tkb_pool_open(&options, &pool, ERR), TKB_ERR_IO,
	      "cannot start '/nonexistent/worker'");
	options.worker = test_folder();
	FAILS(tkb_pool_open(&options, &pool, ERR), TKB_ERR_IO, "cannot start");
	CHECK(pool == NULL);
	CHECK_INT(child_count(), 0);
}

TEST(pool, a_worker_that_no_pool_started_says_so)
{
	const struct outcome done = run(worker_program(), NULL);

	CHECK_INT(done.status, 1);
	CHECK_CONTAINS(done.err, "a pool starts it");
}

TEST(pool, a_future_outlives_its_pool)
{
	struct tkb_pool *pool = open_pool_of(1);
	struct tkb_future *done = give(pool, "echo kept");

	OK(tkb_future_wait(done, PATIENCE_MS, NULL, ERR));
	tkb_pool_close(pool);
	CHECK_STR(answer_of(done), "echo kept");
}

TEST(pool, nothing_is_closed_and_freed_as_well)
{
	tkb_pool_close(NULL);
	tkb_future_free(NULL);
}

enum {
	ASKERS = 8,
	QUESTIONS = 20
};

struct asker {
	pthread_t thread;
	struct tkb_pool *pool;
	int number;
	int right;
};

static void *ask_much(void *self)
{
	struct asker *asker = self;

	for (int i = 0; i < QUESTIONS; i++) {
		struct tkb_job job = { SIZED(job) };
		struct tkb_future *future = NULL;
		struct tkb_bytes answer;
		char request[64];

		(void)snprintf(request, sizeof(request), "echo %d of %d", i,
		               asker->number);
		job.request = tkb_text(request);
		if (tkb_pool_submit(asker->pool, &job, &future, NULL) == 0 &&
		    tkb_future_wait(future, PATIENCE_MS, &answer, NULL) == 0 &&
		    tkb_bytes_equal(answer, tkb_text(request)))
			asker->right++;
		tkb_future_free(future);
	}
	return NULL;
}

TEST(pool, many_threads_may_ask_at_once)
{
	POOL(pool) = open_pool_of(3);
	struct asker askers[ASKERS];

	for (int i = 0; i < ASKERS; i++) {
		askers[i] = (struct asker){ .pool = pool, .number = i };
		SYS(pthread_create(&askers[i].thread, NULL, ask_much,
		                   &askers[i]));
	}
	for (int i = 0; i < ASKERS; i++) {
		(void)pthread_join(askers[i].thread, NULL);
		CHECK_INT(askers[i].right, QUESTIONS);
	}
}

/* Two pools at once have nothing to do with each other. */
TEST(pool, one_pool_closed_leaves_another)
{
	struct tkb_pool *first = open_pool_of(2);
	struct tkb_pool *second = open_pool_of(2);

	CHECK_STR(ask(second, "echo 1"), "echo 1");
	tkb_pool_close(first);
	CHECK_STR(ask(second, "echo 2"), "echo 2");
	tkb_pool_close(second);
}
