/* SPDX-License-Identifier: Apache-2.0 */
#include "config/python.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

enum {
	ARGUMENTS_LIMIT = 64
};

const char *python_of(const char *name)
{
	const char *const slash = name == NULL ? NULL : strrchr(name, '/');
	const char *const own = cli_variable("TKBUNDLE_PYTHON");

	if (name != NULL && strncmp(slash != NULL ? slash + 1 : name, "python",
	                            strlen("python")) == 0)
		return name;
	return own != NULL ? own : "python3";
}

/* Start `argv` with its output to `out_fd`, and its complaints to nowhere. */
static bool start(const char *const argv[], int out_fd, pid_t *child)
{
	posix_spawn_file_actions_t actions;
	bool is_started;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return false;
	is_started = posix_spawn_file_actions_adddup2(&actions, out_fd,
	                                              STDOUT_FILENO) == 0 &&
	             posix_spawn_file_actions_addopen(&actions, STDERR_FILENO,
	                                              "/dev/null", O_WRONLY,
	                                              0) == 0 &&
	             posix_spawnp(child, argv[0], &actions, NULL,
	                          (char *const *)argv, environ) == 0;
	(void)posix_spawn_file_actions_destroy(&actions);
	return is_started;
}

/* Read all of it; false where it does not fit. */
static bool read_answer(FILE *answer, char *out, size_t size)
{
	const size_t length = fread(out, 1, size - 1, answer);

	out[length] = '\0';
	return feof(answer) != 0;
}

bool python_ask(const char *python, const char *code,
                const char *const *arguments, char *out, size_t size)
{
	const char *argv[ARGUMENTS_LIMIT + 4] = { python, "-c", code };
	FILE *answer;
	int ends[2];
	int status = -1;
	pid_t child = -1;
	bool is_started;
	bool is_read;

	for (size_t i = 0; arguments[i] != NULL && i < ARGUMENTS_LIMIT; i++)
		argv[3 + i] = arguments[i];
	out[0] = '\0';
	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	is_started = start(argv, ends[1], &child);
	(void)close(ends[1]);
	answer = fdopen(ends[0], "r");
	if (answer == NULL)
		(void)close(ends[0]);
	is_read =
		is_started && answer != NULL && read_answer(answer, out, size);
	if (answer != NULL)
		(void)fclose(answer);
	while (is_started && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!is_read || status != 0)
		out[0] = '\0';
	return is_read && status == 0;
}
