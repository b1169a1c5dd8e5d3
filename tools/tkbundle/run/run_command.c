/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cli/cli.h"
#include "run/run_loop.h"

#define NOT_FOUND 127
#define NOT_EXECUTABLE 126

/* The variable that names the root for Triton or Inductor. */
static const char *variable_of(const struct run_plan *plan)
{
	return plan->is_inductor ? "TORCHINDUCTOR_CACHE_DIR"
	                         : "TRITON_CACHE_DIR";
}

/* Set that variable, unless the user has. */
static void set_root(const struct run_plan *plan)
{
	const char *const name = variable_of(plan);

	/* Override the user's variable: that root cannot be used. */
	if (plan->has_root && (plan->is_other || cli_variable(name) == NULL))
		(void)setenv(name, plan->root, 1);
}

const char *run_command_elsewhere(const struct run *run)
{
	const struct run_plan *const plan = &run->shared->plan;
	const char *const own = cli_variable(variable_of(plan));
	/* Set this one, too: Inductor prefers it. */
	const char *const stronger =
		plan->is_inductor ? cli_variable("TRITON_CACHE_DIR") : NULL;

	if (stronger != NULL)
		return "TRITON_CACHE_DIR";
	if (run->args->cache != NULL && own != NULL && !plan->is_other &&
	    strcmp(own, run->args->cache) != 0 && strcmp(own, plan->root) != 0)
		return variable_of(plan);
	return NULL;
}

/*
 * If we were started without a standard file, main() has opened /dev/null in
 * its place, in a way that using it fails. Close it, so that the command starts
 * without that file, too.
 */
static void drop_held(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		const int flags = fcntl(fd, F_GETFL);
		const int wrong = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
		struct stat status;

		if (flags >= 0 && (flags & O_ACCMODE) == wrong &&
		    fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) &&
		    status.st_rdev == makedev(1, 3))
			(void)close(fd);
	}
}

/* @return only on failure: errno */
static int become_command(const struct arguments *args)
{
	char *const *const argv = (char *const *)args->operands.items;

	drop_held();
	(void)execvp(argv[0], argv);
	return errno;
}

/*
 * Let the kernel kill the child when its parent dies. The kernel watches the
 * thread that forked the child; we have only one. The new program keeps this
 * setting unless it changes its user.
 */
static void die_with(pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
}

bool run_command_start(struct run *run)
{
	const pid_t own = getpid();
	const pid_t pid = fork();

	if (pid < 0)
		return false;
	if (pid == 0) {
		if (run->args->is_kill_child)
			die_with(own);
		run_signals_restore(&run->signals);
		set_root(&run->shared->plan);
		run->shared->exec_error = become_command(run->args);
		_exit(run->shared->exec_error == ENOENT ? NOT_FOUND
		                                        : NOT_EXECUTABLE);
	}

	run->command = pid;
	run->has_begun = true;
	run_loop_drain(run);
	run_child_let_go(STDOUT_FILENO, run->children, RUN_ROLE_COUNT);
	return true;
}

enum status run_command_failed(const struct cli *cli,
                               const struct arguments *args, int error)
{
	cli_say(cli, "cannot run '%s': %s", args->operands.items[0],
	        strerror(error));
	return (enum status)(error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

enum status run_command_become_alone(struct cli *cli,
                                     const struct arguments *args)
{
	return run_command_failed(cli, args, become_command(args));
}

enum status run_command_become(struct run *run)
{
	set_root(&run->shared->plan);
	run_signals_restore(&run->signals);
	return run_command_become_alone(run->cli, run->args);
}
