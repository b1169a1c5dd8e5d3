/* SPDX-License-Identifier: Apache-2.0 */
#include "pool_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* What a worker finds, whatever the process that opened the pool is like. */

TEST(pool_slate, a_worker_has_no_descriptor_of_ours)
{
	const int plain = open("/dev/null", O_RDONLY); /* not closed on exec */
	const int high = fcntl(plain, F_DUPFD, 700);
	POOL(pool) = open_pool_of(3);

	for (int i = 0; i < 9; i++)
		CHECK_STR(ask(pool, "files"), "0 1 2 3 ");
	SYS(close(plain));
	SYS(close(high));
}

TEST(pool_slate, a_restarted_worker_has_none_either)
{
	POOL(pool) = open_pool_of(3);

	for (int i = 0; i < 4; i++)
		CHECK_STR(ask(pool, text("crash-times %d %s/%d", 2,
		                         test_folder(), i)),
		          "survived");
	for (int i = 0; i < 6; i++)
		CHECK_STR(ask(pool, "files"), "0 1 2 3 ");
}

TEST(pool_slate, what_a_worker_starts_has_the_standard_streams_alone)
{
	POOL(pool) = open_pool_of(1);

	CHECK_STR(ask(pool, "child-files"), "0 1 2 \n");
}

TEST(pool_slate, standard_input_is_empty)
{
	POOL(pool) = open_pool_of(1);

	CHECK_STR(ask(pool, "read-input"), "0");
}

static void ignore(int number)
{
	(void)number;
}

TEST(pool_slate, no_signal_is_blocked_or_ignored_and_it_leads_a_group)
{
	struct tkb_pool *pool;
	const char *got;
	sigset_t all;
	sigset_t old;

	CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
	CHECK(signal(SIGHUP, SIG_IGN) != SIG_ERR);
	CHECK(signal(SIGUSR1, ignore) != SIG_ERR);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	pool = open_pool_of(2);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	got = ask(pool, "signals");
	(void)ask(pool, text("crash-times 2 %s/file", test_folder()));
	CHECK_STR(ask(pool, "signals"), got);
	tkb_pool_close(pool);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGHUP, SIG_DFL);
	(void)signal(SIGUSR1, SIG_DFL);
	CHECK_STR(got, "0 0 1");
}

TEST(pool_slate, the_callers_signal_mask_is_left_alone)
{
	sigset_t before;
	sigset_t behind;
	struct tkb_pool *pool;

	(void)sigemptyset(&before);
	(void)sigaddset(&before, SIGUSR2);
	(void)pthread_sigmask(SIG_BLOCK, &before, NULL);
	pool = open_pool_of(1);
	(void)pthread_sigmask(SIG_SETMASK, NULL, &behind);
	CHECK_INT(sigismember(&behind, SIGUSR2), 1);
	CHECK_INT(sigismember(&behind, SIGINT), 0);
	(void)pthread_sigmask(SIG_UNBLOCK, &before, NULL);
	tkb_pool_close(pool);
}

/* Nobody can be waited for then: a worker ends when it likes. */
TEST(pool_slate, the_disposition_of_sigchld_does_not_matter)
{
	const uint64_t end = now_ms() + PATIENCE_MS;
	struct tkb_pool *pool;

	CHECK(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
	pool = open_pool_of(2);
	CHECK_STR(ask(pool, text("crash-times 2 %s/file", test_folder())),
	          "survived");
	check_fails(pool, "exit 3", TKB_ERR_UNAVAILABLE, "the worker ended");
	CHECK_STR(ask(pool, "echo on"), "echo on");
	tkb_pool_close(pool);
	while (child_count() > 0 && now_ms() < end)
		nap_ms(1);
	(void)signal(SIGCHLD, SIG_DFL);
	CHECK_INT(child_count(), 0);
}

/* So that the pool's own descriptors would be 0, 1 and 2. */
TEST(pool_slate, it_does_not_matter_that_the_standard_streams_are_closed)
{
	POOL(pool) = NULL;
	struct tkb_pool_options options = { SIZED(options),
		                            .worker = worker_program(),
		                            .worker_count = 2 };
	const struct tkb_job job = { SIZED(job), .request = tkb_text("files") };
	struct tkb_future *future = NULL;
	struct tkb_bytes answer = { NULL, 0 };
	bool is_taken = false;
	bool is_right = false;
	int old[3];
	int rc;

	for (int fd = 0; fd < 3; fd++) {
		old[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 100);
		(void)close(fd);
	}
	rc = tkb_pool_open(&options, &pool, ERR);
	if (rc == 0)
		rc = tkb_pool_submit(pool, &job, &future, ERR);
	if (rc == 0)
		rc = tkb_future_wait(future, PATIENCE_MS, &answer, ERR);
	if (rc == 0)
		is_right = tkb_bytes_equal(answer, tkb_text("0 1 2 3 "));
	for (int fd = 0; fd < 3; fd++)
		is_taken = is_taken || fcntl(fd, F_GETFD) >= 0;
	for (int fd = 0; fd < 3; fd++) {
		(void)dup2(old[fd], fd);
		(void)close(old[fd]);
	}
	CHECK_OK(rc, ERR);
	CHECK(is_right);
	CHECK(!is_taken);
	tkb_future_free(future);
}

TEST(pool_slate, our_descriptors_are_closed_on_exec)
{
	POOL(pool) = open_pool_of(2);
	const char **names = list("/proc/self/fd");

	CHECK_STR(ask(pool, "echo"), "echo");
	for (; *names != NULL; names++) {
		const int fd = (int)strtol(*names, NULL, 10);
		const int flags = fcntl(fd, F_GETFD);

		/* What CTest gave us may stay open. */
		if (flags >= 0 && fd > 2 && (flags & FD_CLOEXEC) == 0) {
			char target[256] = "";

			(void)!readlink(text("/proc/self/fd/%d", fd), target,
			                sizeof(target) - 1);
			CHECK(strstr(target, "socket:") == NULL);
			CHECK(strstr(target, "eventfd") == NULL);
			CHECK(strstr(target, "memfd") == NULL);
		}
	}
}

static size_t open_count(void)
{
	return count_names("/proc/self/fd");
}

TEST(pool_slate, no_descriptor_stays_open_behind)
{
	const size_t before = open_count();
	struct tkb_pool *pool = open_pool_of(3);
	struct tkb_future *future = give(pool, "echo");
	size_t at_work;

	OK(tkb_future_wait(future, PATIENCE_MS, NULL, ERR));
	(void)ask(pool, text("crash-times 2 %s/f", test_folder()));
	(void)ask(pool, "sleep 300"); /* all are back */
	at_work = open_count();
	for (int i = 0; i < 5; i++)
		(void)ask(pool, text("crash-times 2 %s/%d", test_folder(), i));
	(void)ask(pool, "sleep 300");
	CHECK_INT(open_count(), at_work);
	tkb_pool_close(pool);
	CHECK_INT(open_count(), before); /* though a future is left */
	tkb_future_free(future);
}

/* Too few descriptors for any worker, then for some of them. */
TEST(pool_slate, a_limit_of_descriptors_is_told_or_lived_with)
{
	struct tkb_pool_options options = { SIZED(options),
		                            .worker = worker_program(),
		                            .worker_count = 20 };
	struct tkb_pool *pool = NULL;
	struct rlimit old;
	struct rlimit low;
	int probe;

	SYS(getrlimit(RLIMIT_NOFILE, &old));
	probe = open("/dev/null", O_RDONLY | O_CLOEXEC);
	(void)close(probe);
	low = old;
	low.rlim_cur = (rlim_t)probe + 2;
	SYS(setrlimit(RLIMIT_NOFILE, &low));
	FAILS(tkb_pool_open(&options, &pool, ERR), TKB_ERR_IO,
	      "cannot make a socket");
	low.rlim_cur = (rlim_t)probe + 10;
	SYS(setrlimit(RLIMIT_NOFILE, &low));
	pool = open_pool(options);
	for (int i = 0; i < 20; i++)
		CHECK_STR(ask(pool, "echo few"), "echo few");
	CHECK(child_count() < 10);
	SYS(setrlimit(RLIMIT_NOFILE, &old));
	tkb_pool_close(pool);
	CHECK_INT(child_count(), 0);
}

TEST(pool_slate, a_worker_has_the_folder_and_environment_of_the_open)
{
	struct tkb_pool *pool;
	const char *folder = test_folder();

	SYS(setenv("TKB_POOL_TEST", "then", 1));
	pool = open_pool_of(1);
	SYS(setenv("TKB_POOL_TEST", "now", 1));
	SYS(chdir("/"));
	CHECK_STR(ask(pool, "variable TKB_POOL_TEST"), "then");
	CHECK_STR(ask(pool, text("crash-times 1 %s/file", folder)), "survived");
	CHECK_STR(ask(pool, "variable TKB_POOL_TEST"), "then");
	CHECK_STR(ask(pool, "folder"), folder);
	SYS(chdir(folder));
	SYS(unsetenv("TKB_POOL_TEST"));
	tkb_pool_close(pool);
}

TEST(pool_slate, a_relative_path_is_that_of_the_open)
{
	struct tkb_pool_options options = { SIZED(options),
		                            .worker = "./worker",
		                            .worker_count = 1 };
	struct tkb_pool *pool;

	SYS(symlink(worker_program(), "worker"));
	pool = open_pool(options);
	SYS(chdir("/"));
	CHECK_STR(ask(pool, text("crash-times 2 %s/file", test_folder())),
	          "survived");
	SYS(chdir(test_folder()));
	tkb_pool_close(pool);
}

static const char *variable(struct tkb_pool *pool, const char *name,
                            const char *const *environment)
{
	return answer_of(
		give_with(pool, .request = tkb_text(text("variable %s", name)),
	                  .environment = environment));
}

TEST(pool_slate, a_job_has_its_environment_and_the_next_has_not)
{
	static const char *const both[] = { "TKB_POOL_A=of the job",
		                            "TKB_POOL_B", NULL };
	static const char *const twice[] = { "TKB_POOL_B=1", "TKB_POOL_B=2",
		                             "TKB_POOL_A=x=y", NULL };
	static const char *const empty[] = { "TKB_POOL_B=", NULL };
	struct tkb_pool *pool;

	SYS(setenv("TKB_POOL_B", "of the pool", 1));
	pool = open_pool_of(1);
	CHECK_STR(variable(pool, "TKB_POOL_A", both), "of the job");
	CHECK_STR(variable(pool, "TKB_POOL_B", both), "(unset)");
	CHECK_STR(variable(pool, "TKB_POOL_A", NULL), "(unset)");
	CHECK_STR(variable(pool, "TKB_POOL_B", NULL), "of the pool");
	CHECK_STR(variable(pool, "TKB_POOL_B", twice), "2");
	CHECK_STR(variable(pool, "TKB_POOL_A", twice), "x=y");
	CHECK_STR(variable(pool, "TKB_POOL_B", empty), "");
	CHECK_STR(variable(pool, "TKB_POOL_B", NULL), "of the pool");
	SYS(unsetenv("TKB_POOL_B"));
	tkb_pool_close(pool);
}

TEST(pool_slate, the_environment_is_put_back_after_a_failure_too)
{
	static const char *const one[] = { "TKB_POOL_A=1", NULL };
	POOL(pool) = open_pool_of(1);

	check_job_fails(give_with(pool, .request = tkb_text("fail x"),
	                          .environment = one),
	                TKB_ERR_CORRUPT, "x");
	CHECK_STR(variable(pool, "TKB_POOL_A", NULL), "(unset)");
	(void)answer_of(give_with(pool, .request = tkb_text("set TKB_POOL_A"),
	                          .environment = one));
	CHECK_STR(variable(pool, "TKB_POOL_A", NULL), "(unset)");
}

/* Set, changed and unset behind the open: as it is where a job is given. */
static void check_carried(const char *name)
{
	const char *const own[] = { text("%s=own", name), NULL };
	const char *const none[] = { name, NULL };
	struct tkb_pool *pool;

	SYS(setenv(name, "/first", 1));
	pool = open_pool_of(1);
	CHECK_STR(variable(pool, name, NULL), "/first");
	SYS(setenv(name, "/second", 1));
	CHECK_STR(variable(pool, name, NULL), "/second");
	CHECK_STR(variable(pool, name, own), "own");
	CHECK_STR(variable(pool, name, none), "(unset)");
	SYS(unsetenv(name));
	CHECK_STR(variable(pool, name, NULL), "(unset)");
	tkb_pool_close(pool);
}

TEST(pool_slate, the_caches_folders_go_with_each_job)
{
	check_carried("TRITON_CACHE_DIR");
	check_carried("TORCHINDUCTOR_CACHE_DIR");
}

/* Not when it begins: when it was given. */
TEST(pool_slate, the_caches_folders_are_those_of_the_submit)
{
	POOL(pool) = open_pool_of(1);
	const char *go = text("%s/go", test_folder());
	struct tkb_future *first = give(pool, text("await %s", go));
	struct tkb_future *second;

	SYS(setenv("TRITON_CACHE_DIR", "/then", 1));
	second = give(pool, "variable TRITON_CACHE_DIR");
	SYS(unsetenv("TRITON_CACHE_DIR"));
	write_text(go, "");
	CHECK_STR(answer_of(first), "seen");
	CHECK_STR(answer_of(second), "/then");
}
