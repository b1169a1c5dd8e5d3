/* SPDX-License-Identifier: Apache-2.0 */
#include "pool_fixture.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a job leaves to read besides its answer. */

static struct tkb_future *do_job(struct tkb_pool *pool, const char *request)
{
	struct tkb_future *future = give(pool, request);

	OK(tkb_future_wait(future, PATIENCE_MS, NULL, ERR));
	return future;
}

static const char *log_after(struct tkb_pool *pool, const char *request)
{
	struct tkb_future *future = do_job(pool, request);
	const char *log = log_of(future);

	tkb_future_free(future);
	return log;
}

static const char *log_of_failure(struct tkb_pool *pool, const char *request)
{
	struct tkb_future *future = give(pool, request);
	struct tkb_error err = { 0 };
	const char *log;

	CHECK(tkb_future_wait(future, PATIENCE_MS, NULL, &err) < 0);
	log = log_of(future);
	tkb_future_free(future);
	return log;
}

TEST(pool_log, what_the_handler_logged_stands_before_what_was_written)
{
	POOL(pool) = open_pool_of(1);
	const char *log = log_after(pool, "speak of it");

	CHECK(strncmp(log, "of it", 5) == 0);
	CHECK_CONTAINS(log, "printed of it\n");
	CHECK_CONTAINS(log, "complained of it\n");
	CHECK_INT(strlen(log),
	          strlen("of itprinted of it\ncomplained of it\n"));
}

TEST(pool_log, each_job_has_its_own)
{
	POOL(pool) = open_pool_of(1);

	CHECK_CONTAINS(log_after(pool, "speak first"), "printed first");
	CHECK_STR(log_after(pool, "log second"), "second");
	CHECK_STR(log_after(pool, "echo"), "");
	CHECK_STR(log_after(pool, "write-much 1"), "line 0\n");
}

TEST(pool_log, of_a_crash_it_has_the_last_words)
{
	POOL(pool) = open_pool_of(1);
	const char *log = log_of_failure(pool, "speak-and-crash A");

	CHECK(strncmp(log, "A---\nlast words A\nand more\n", 27) == 0);
	CHECK(strstr(log + 27, "last words") == NULL); /* of the last try */
}

TEST(pool_log, of_a_crash_the_error_quotes_the_first_line)
{
	POOL(pool) = open_pool_of(1);

	check_fails(pool, "speak-and-crash B", TKB_ERR_UNAVAILABLE,
	            "the worker was killed by SIGABRT at the last of 3 tries: "
	            "last words B");
}

TEST(pool_log, a_job_that_failed_has_one)
{
	POOL(pool) = open_pool_of(1);

	CHECK_STR(log_of_failure(pool, "log-and-fail x"), "xcomplaint\n");
}

/* Lines 0 to count - 1, of which the last `size` bytes stay. */
static const char *tail_of_lines(long count, size_t size)
{
	struct tkb_buf *all = test_buf(64 * TKB_MIB);

	for (long i = 0; i < count; i++)
		tkb_print(all, "line %ld\n", i);
	return (const char *)all->data +
	       (all->size > size ? all->size - size : 0);
}

TEST(pool_log, of_too_much_the_last_64_kib_stay)
{
	POOL(pool) = open_pool_of(1);
	const char *wanted = tail_of_lines(30000, 64 * TKB_KIB);

	CHECK_INT(strlen(wanted), 64 * TKB_KIB);
	CHECK_STR(log_after(pool, "write-much 30000"), wanted);
	CHECK_STR(log_after(pool, "log-much 30000"), wanted);
}

TEST(pool_log, up_to_the_limit_it_is_whole)
{
	POOL(pool) =
		open_pool_with(.worker_count = 1, .max_log_size = 4 * TKB_MIB);
	const char *wanted = tail_of_lines(100000, SIZE_MAX);

	CHECK_STR(log_after(pool, "write-much 100000"), wanted);
	CHECK_STR(log_after(pool, "log-much 100000"), wanted);
}

TEST(pool_log, its_limit_may_be_a_byte)
{
	POOL(pool) = open_pool_with(.worker_count = 1, .max_log_size = 1);

	CHECK_STR(log_after(pool, "write-much 3"), "\n");
	CHECK_STR(log_after(pool, "log abc"), "c");
}

TEST(pool_log, its_limit_may_be_without_bound)
{
	POOL(pool) =
		open_pool_with(.worker_count = 1, .max_log_size = UINT64_MAX,
	                       .max_answer_size = UINT64_MAX);

	CHECK_STR(log_after(pool, "log-much 3"), "line 0\nline 1\nline 2\n");
	CHECK_STR(ask(pool, "echo"), "echo");
}

/* The most memory that it took, and its size, of a file of a process. */
static void look_at_file(pid_t pid, int fd, uint64_t *most, uint64_t *size)
{
	struct stat about;
	uint64_t used;

	if (stat(text("/proc/%d/fd/%d", (int)pid, fd), &about) < 0)
		return;
	used = (uint64_t)about.st_blocks * 512;
	*most = used > *most ? used : *most;
	*size = (uint64_t)about.st_size;
}

/* Nothing may fill up, as a pipe would, and nothing may grow without end. */
TEST(pool_log, a_worker_may_write_without_end)
{
	POOL(pool) = open_pool_with(.worker_count = 1, .tries = 1);
	struct tkb_future *future =
		give_with(pool, .request = tkb_text("write-endlessly"),
	                  .timeout_ms = 2500);
	struct tkb_error err = { 0 };
	uint64_t most = 0;
	uint64_t size = 0;
	int rc;

	do {
		pid_t pids[CHILDREN_LIMIT];

		rc = tkb_future_wait(future, 20, NULL, &err);
		if (children(pids) == 1)
			look_at_file(pids[0], STDERR_FILENO, &most, &size);
	} while (rc == TKB_MISS);
	CHECK_INT(rc, TKB_ERR_UNAVAILABLE);
	CHECK_CONTAINS(err.message, "was not done after 2500 ms");
	CHECK_INT(tkb_future_log(future).size, 64 * TKB_KIB);
	CHECK(most > 0 && (most < size / 2 || size < 32 * TKB_MIB));
	tkb_future_free(future);
}
