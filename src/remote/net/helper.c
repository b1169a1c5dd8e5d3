/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "remote/net/limits.h"

/* A running helper. */
struct helper {
	pid_t pid; /* 0: none */
	int out;   /* owned; reads its output; or -1 */
};

/* Kill the helper and the processes that it has started. */
static void helper_end(struct helper *helper)
{
	tkb_fd_close_at(&helper->out);
	if (helper->pid == 0)
		return;
	(void)kill(-helper->pid, SIGKILL);
	while (waitpid(helper->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	helper->pid = 0;
}

static int plan(posix_spawn_file_actions_t *actions,
                posix_spawnattr_t *attributes, int in, int out)
{
	sigset_t none;
	sigset_t all;
	int number;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	number = posix_spawn_file_actions_adddup2(actions, in, STDIN_FILENO);
	if (number == 0)
		number = posix_spawn_file_actions_adddup2(actions, out,
		                                          STDOUT_FILENO);
	if (number == 0)
		number = posix_spawn_file_actions_addopen(
			actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (number == 0 && tkb_fd_can_close_all())
		number = posix_spawn_file_actions_addclosefrom_np(
			actions, STDERR_FILENO + 1);
	(void)posix_spawnattr_setpgroup(attributes, 0);
	(void)posix_spawnattr_setsigmask(attributes, &none);
	(void)posix_spawnattr_setsigdefault(attributes, &all);
	if (number == 0)
		number = posix_spawnattr_setflags(
			attributes, POSIX_SPAWN_SETPGROUP |
					    POSIX_SPAWN_SETSIGMASK |
					    POSIX_SPAWN_SETSIGDEF);
	return number;
}

static int spawn_helper(const char *const argv[], int in, int out,
                        pid_t *pid_out)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int number;

	number = posix_spawn_file_actions_init(&actions);
	if (number != 0)
		return number;
	number = posix_spawnattr_init(&attributes);
	if (number == 0) {
		number = plan(&actions, &attributes, in, out);
		if (number == 0)
			number = posix_spawnp(
				pid_out, argv[0], &actions, &attributes,
				(char *const *)(uintptr_t)argv, environ);
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&actions);
	return number;
}

/* Avoid the descriptors 0 to 2: they become the child's standard files. */
static int make_pipe(int pair[2], struct tkb_error *err)
{
	int made[2];

	if (pipe2(made, O_CLOEXEC) < 0)
		return tkb_fail_errno(err, "cannot make a pipe");
	for (int i = 0; i < 2; i++) {
		pair[i] = fcntl(made[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		(void)close(made[i]);
	}
	if (pair[0] < 0 || pair[1] < 0)
		return tkb_fail_errno(err, "cannot make a pipe");
	return 0;
}

/*
 * Write the request into the pipe before the helper starts: it is short enough
 * to fit.
 */
static int start_helper(struct helper *helper, const char *const argv[],
                        const char *input, struct tkb_error *err)
{
	int question[2] = { -1, -1 };
	int answer[2] = { -1, -1 };
	int number = 0;
	int rc;

	rc = make_pipe(question, err);
	if (rc == 0)
		rc = make_pipe(answer, err);
	if (rc == 0 && write(question[1], input, strlen(input)) < 0)
		rc = tkb_fail_errno(err, "cannot write to a pipe");
	tkb_fd_close_at(&question[1]);
	if (rc == 0)
		number = spawn_helper(argv, question[0], answer[1],
		                      &helper->pid);
	tkb_fd_close_at(&question[0]);
	tkb_fd_close_at(&answer[1]);
	helper->out = answer[0];
	if (number == 0)
		return rc;
	helper->pid = 0;
	return tkb_fail(err, TKB_ERR_DENIED, "cannot run '%.200s': %s", argv[0],
	                strerror(number));
}

static int check_time(const char *program, uint64_t end,
                      const struct tkb_op_limits *limits, struct tkb_error *err)
{
	if (tkb_now_ns() > end)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "'%.200s' does not answer within %u ms",
		                program, (unsigned)limits->stall_ms);
	return tkb_op_limits_check(limits, err);
}

/*
 * TKB_MISS: the exit status says that it has no credentials. If this process
 * ignores SIGCHLD, the status is lost, and only the answer counts.
 */
static int wait_for_exit(struct helper *helper, const char *program,
                         uint64_t end, const struct tkb_op_limits *limits,
                         struct tkb_error *err)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	int status = 0;
	pid_t pid = 0;
	int rc = 0;

	while (pid == 0 && rc == 0) {
		pid = waitpid(helper->pid, &status, WNOHANG);
		if (pid < 0 && errno == EINTR)
			pid = 0;
		if (pid == 0) {
			(void)nanosleep(&nap, NULL);
			rc = check_time(program, end, limits, err);
		}
	}
	if (rc < 0)
		return rc;
	helper->pid = 0;
	return pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)
	               ? 0
	               : TKB_MISS;
}

static int read_helper_answer(const struct helper *helper, const char *program,
                              uint64_t end, const struct tkb_op_limits *limits,
                              struct tkb_buf *out, struct tkb_error *err)
{
	struct pollfd wait = { .fd = helper->out, .events = POLLIN };
	char bytes[4096];
	ssize_t got = 1;
	int rc = 0;

	while (rc == 0 && got != 0) {
		rc = check_time(program, end, limits, err);
		if (rc < 0 || poll(&wait, 1, 50) <= 0)
			continue;
		got = read(helper->out, bytes, sizeof(bytes));
		if (got < 0 && errno != EINTR)
			rc = tkb_fail_errno(err, "cannot read from '%.200s'",
			                    program);
		if (got > 0)
			tkb_buf_add(out,
			            (struct tkb_bytes){ bytes, (size_t)got });
	}
	explicit_bzero(bytes, sizeof(bytes));
	return rc < 0 ? rc : tkb_buf_check(out, err);
}

int tkb_helper_run(const char *const argv[], const char *name,
                   const char *input, const struct tkb_op_limits *limits,
                   struct tkb_buf *out, struct tkb_error *err)
{
	const uint64_t end = tkb_now_ns() + limits->stall_ms * TKB_NS_PER_MS;
	TKB_AUTO(helper_end) struct helper helper = { .out = -1 };
	int rc;

	rc = start_helper(&helper, argv, input, err);
	if (rc == 0)
		rc = read_helper_answer(&helper, name, end, limits, out, err);
	if (rc == 0)
		rc = wait_for_exit(&helper, name, end, limits, err);
	return rc;
}
