/* SPDX-License-Identifier: Apache-2.0 */
#include "toolchain/tool.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "worker/fail.h"

void tool_release(struct tool_run *run)
{
	if (run->output >= 0)
		(void)close(run->output);
	if (run->log >= 0)
		(void)close(run->log);
	*run = (struct tool_run)TOOL_RUN_INIT;
}

/* The tool starts with no signal blocked or ignored. */
static int add_signals(posix_spawnattr_t *attributes)
{
	const short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
	sigset_t none;
	sigset_t all;
	int number;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	number = posix_spawnattr_setflags(attributes, flags);
	if (number == 0)
		number = posix_spawnattr_setsigmask(attributes, &none);
	if (number == 0)
		number = posix_spawnattr_setsigdefault(attributes, &all);
	return number;
}

/* A limit cannot be set only for a child: set it for this process meanwhile. */
static int spawn_tool(const char *path, const char *const *arguments,
                      const posix_spawn_file_actions_t *actions, pid_t *pid)
{
	posix_spawnattr_t attributes;
	struct rlimit limit;
	struct rlimit old;
	int number = posix_spawnattr_init(&attributes);

	if (number != 0)
		return number;
	number = add_signals(&attributes);
	if (number == 0 && getrlimit(RLIMIT_FSIZE, &old) < 0)
		number = errno;
	if (number == 0) {
		limit = old;
		if (limit.rlim_cur > TOOL_FILE_LIMIT)
			limit.rlim_cur = TOOL_FILE_LIMIT;
		(void)setrlimit(RLIMIT_FSIZE, &limit);
		number = posix_spawn(pid, path, actions, &attributes,
		                     (char *const *)arguments, environ);
		(void)setrlimit(RLIMIT_FSIZE, &old);
	}
	(void)posix_spawnattr_destroy(&attributes);
	return number;
}

/* The three files are its standard streams; it gets no other descriptors. */
static int start_tool(const char *path, const char *const *arguments, int input,
                      const struct tool_run *run, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int number = posix_spawn_file_actions_init(&actions);

	if (number != 0)
		return number;
	number =
		posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	if (number == 0)
		number = posix_spawn_file_actions_adddup2(&actions, run->output,
		                                          STDOUT_FILENO);
	if (number == 0)
		number = posix_spawn_file_actions_adddup2(&actions, run->log,
		                                          STDERR_FILENO);
	if (number == 0 && tkb_fd_can_close_all())
		number = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	if (number == 0)
		number = spawn_tool(path, arguments, &actions, pid);
	(void)posix_spawn_file_actions_destroy(&actions);
	return number;
}

static int run_tool_with_input(const char *path, const char *const *arguments,
                               int input, struct tool_run *run,
                               struct tkb_error *err)
{
	pid_t pid = 0;
	pid_t rc;
	int number;

	number = start_tool(path, arguments, input, run, &pid);
	if (number != 0)
		return fail(err, TKB_ERR_IO, "cannot start '%s': %s", path,
		            strerror(number));
	do {
		rc = waitpid(pid, &run->status, 0);
	} while (rc < 0 && errno == EINTR);
	if (rc < 0)
		return fail(err, TKB_ERR_IO, "cannot wait for '%s': %s", path,
		            strerror(errno));
	return 0;
}

int tool_run(const char *path, const char *const *arguments,
             struct tkb_bytes input, struct tool_run *out,
             struct tkb_error *err)
{
	struct tool_run run = {
		.output = memfd_create("output", MFD_CLOEXEC),
		.log = memfd_create("log", MFD_CLOEXEC),
	};
	const int file = memfd_create("input", MFD_CLOEXEC);
	int rc;

	if (file < 0 || run.output < 0 || run.log < 0)
		rc = fail(err, TKB_ERR_IO, "cannot make a file in memory: %s",
		          strerror(errno));
	else
		rc = tkb_fd_pwrite_all(file, input, 0, err);
	if (rc == 0)
		rc = run_tool_with_input(path, arguments, file, &run, err);
	if (file >= 0)
		(void)close(file);
	if (rc < 0)
		tool_release(&run);
	else
		*out = run;
	return rc;
}

int tool_send(int file, const struct tkb_sink *sink, struct tkb_error *err)
{
	char bytes[64 * 1024];
	off_t offset = 0;

	for (;;) {
		const ssize_t got = pread(file, bytes, sizeof(bytes), offset);
		int rc;

		if (got < 0)
			return fail(err, TKB_ERR_IO, "cannot read: %s",
			            strerror(errno));
		if (got == 0)
			return 0;
		rc = sink->write(sink->self,
		                 (struct tkb_bytes){ bytes, (size_t)got }, err);
		if (rc < 0)
			return rc;
		offset += got;
	}
}

void tool_peek(int file, char *out, size_t size)
{
	const ssize_t got = pread(file, out, size - 1, 0);

	out[got < 0 ? 0 : got] = '\0';
}

void tool_describe(const struct tool_run *run, char out[64])
{
	const int number = WIFSIGNALED(run->status) ? WTERMSIG(run->status) : 0;

	if (number == SIGXFSZ)
		(void)snprintf(out, 64, "was killed: it wrote more than %u MiB",
		               (unsigned)(TOOL_FILE_LIMIT >> 20));
	else if (number != 0)
		(void)snprintf(out, 64, "was killed by signal %d (%.30s)",
		               number, strsignal(number));
	else
		(void)snprintf(out, 64, "exited with status %d",
		               WEXITSTATUS(run->status));
}
