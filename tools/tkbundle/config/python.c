/* SPDX-License-Identifier: Apache-2.0 */
#include "config/python.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/fd.h"

enum {
	ARGUMENTS_LIMIT = 64,
	HEAD_SIZE = 1024, /* of a script */
	ANSWER_LIMIT_MS = 5000
};

/*
 * Find the Python
 */

bool python_is_name(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return strncmp(slash != NULL ? slash + 1 : path, "python",
	               strlen("python")) == 0;
}

/*
 * Find the file that a shell would run for `name`; instead of a script of
 * pyenv's, find the program that it starts.
 */
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

/*
 * The first word of `line` that names a Python; NULL: there is none. `line` is
 * cut into words.
 */
static char *python_word(char *line)
{
	char *word;

	do {
		word = strsep(&line, " \t'\"");
	} while (word != NULL && !python_is_name(word));
	return word;
}

/*
 * Read the Python that the script `path` names in its first line; it need not
 * exist. If that line would be too long, pip writes /bin/sh there, and a second
 * line that executes the Python.
 */
static bool read_interpreter(const char *path, char out[PYTHON_PATH_SIZE])
{
	char head[HEAD_SIZE];
	char *rest = head + 2;
	char *word;

	if (fd_read_file(AT_FDCWD, path, head, sizeof(head)) < 2 ||
	    strncmp(head, "#!", 2) != 0)
		return false;
	word = python_word(strsep(&rest, "\n"));
	if (word == NULL && rest != NULL &&
	    strncmp(rest, "'''exec'", strlen("'''exec'")) == 0)
		word = python_word(strsep(&rest, "\n"));
	if (word != NULL)
		(void)snprintf(out, PYTHON_PATH_SIZE, "%s", word);
	return word != NULL;
}

static bool find_interpreter(const char *path, char out[PYTHON_PATH_SIZE])
{
	char word[PYTHON_PATH_SIZE];

	return read_interpreter(path, word) && find_program(word, out);
}

static bool find_of_script(const char *name, char out[PYTHON_PATH_SIZE])
{
	char path[PYTHON_PATH_SIZE];

	return find_program(name, path) && find_interpreter(path, out);
}

static bool find_python(const char *command, const char *engine,
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
 * Make a path absolute: the command may change its folder before it, or a child
 * of it, uses the path. Do not resolve links, since the Python of a virtual
 * environment is a link.
 */
static bool make_absolute(char path[PYTHON_PATH_SIZE])
{
	char folder[PYTHON_PATH_SIZE];
	char relative[PYTHON_PATH_SIZE];

	if (path[0] == '/')
		return true;
	(void)snprintf(relative, sizeof(relative), "%s", path);
	return getcwd(folder, sizeof(folder)) != NULL &&
	       folder_join(path, PYTHON_PATH_SIZE, folder, relative);
}

bool python_find(const char *command, const char *engine,
                 char out[PYTHON_PATH_SIZE])
{
	return find_python(command, engine, out) && make_absolute(out);
}

bool python_is_gone(const char *engine, char script[PYTHON_PATH_SIZE],
                    char python[PYTHON_PATH_SIZE])
{
	return find_program(engine, script) &&
	       read_interpreter(script, python) && python[0] == '/' &&
	       access(python, X_OK) != 0;
}

/*
 * Run the Python
 */

bool python_ask(const char *python, const char *code,
                const char *const *arguments, char *out, size_t size)
{
	const char *argv[ARGUMENTS_LIMIT + 4] = { python, "-c", code };
	struct ask ask = { .argv = argv, .out = out, .size = size };

	for (size_t i = 0; arguments[i] != NULL && i < ARGUMENTS_LIMIT; i++)
		argv[3 + i] = arguments[i];
	asks_begin(&ask, 1);
	asks_end(&ask, 1, ANSWER_LIMIT_MS);
	if (ask.end != ASK_DONE)
		out[0] = '\0';
	return ask.end == ASK_DONE;
}
