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
#include "cli/fd.h"

enum {
	ARGUMENTS_LIMIT = 64,
	HEAD_SIZE = 1024 /* of a script */
};

/*
 * Which Python
 */

bool python_is_name(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return strncmp(slash != NULL ? slash + 1 : path, "python",
	               strlen("python")) == 0;
}

/* The file that a shell would run for `name`, and not a script of pyenv's. */
static bool find_program(const char *name, char out[PYTHON_PATH_SIZE])
{
	const char *folders = cli_variable("PATH");

	if (strchr(name, '/') != NULL) {
		if (snprintf(out, PYTHON_PATH_SIZE, "%s", name) >=
		            PYTHON_PATH_SIZE ||
		    access(out, X_OK) != 0)
			return false;
		(void)pyenv_resolve(out);
		return true;
	}
	while (folders != NULL && *folders != '\0') {
		const size_t length = strcspn(folders, ":");

		if (length != 0 && length < PYTHON_PATH_SIZE &&
		    snprintf(out, PYTHON_PATH_SIZE, "%.*s/%s", (int)length,
		             folders, name) < PYTHON_PATH_SIZE &&
		    access(out, X_OK) == 0 && pyenv_resolve(out))
			return true;
		folders += length;
		folders += *folders == ':';
	}
	return false;
}

/* The first word of `line` that is a Python's, cut off; NULL: there is none. */
static char *python_word(char *line)
{
	char *word;

	do {
		word = strsep(&line, " \t'\"");
	} while (word != NULL && !python_is_name(word));
	return word;
}

/*
 * Find the Python that the script `path` names in its first line. If that line
 * would be too long, pip writes /bin/sh there, and a second line that executes
 * the Python.
 */
static bool find_interpreter(const char *path, char out[PYTHON_PATH_SIZE])
{
	TKB_AUTO(fd_close)
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char head[HEAD_SIZE];
	char *rest = head + 2;
	char *word;
	ssize_t size;

	size = fd < 0 ? -1 : fd_read(fd, head, sizeof(head) - 1);
	if (size < 2 || strncmp(head, "#!", 2) != 0)
		return false;
	head[size] = '\0';
	word = python_word(strsep(&rest, "\n"));
	if (word == NULL && rest != NULL &&
	    strncmp(rest, "'''exec'", strlen("'''exec'")) == 0)
		word = python_word(strsep(&rest, "\n"));
	return word != NULL && find_program(word, out);
}

static bool find_of_script(const char *name, char out[PYTHON_PATH_SIZE])
{
	char path[PYTHON_PATH_SIZE];

	return find_program(name, path) && find_interpreter(path, out);
}

bool python_find(const char *command, const char *engine,
                 char out[PYTHON_PATH_SIZE])
{
	const char *const own = cli_variable("TKBUNDLE_PYTHON");

	if (command != NULL && python_is_name(command))
		return find_program(command, out);
	if (command != NULL && find_of_script(command, out))
		return true;
	if (own != NULL)
		return find_program(own, out);
	return find_of_script(engine, out) || find_program("python3", out);
}

/*
 * What it says
 */

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
