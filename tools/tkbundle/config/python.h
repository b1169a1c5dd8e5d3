/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PYTHON_H
#define TKBUNDLE_PYTHON_H

#include <stdbool.h>
#include <stddef.h>

#include "config/pyenv.h"

enum {
	PYTHON_PATH_SIZE = PYENV_PATH_SIZE
};

/* Is the program `path` named like a Python, such as "python3.12"? */
bool python_is_name(const char *path);

/*
 * Find the Python whose packages an engine uses: `command` itself, or the one
 * in that script's first line; else $TKBUNDLE_PYTHON; else that of the script
 * with the engine's name; else python3. False if there is none.
 *
 * @param command  NULL: unknown
 */
bool python_find(const char *command, const char *engine,
                 char out[PYTHON_PATH_SIZE]);

/*
 * Does the script in PATH with the engine's name need a Python that does not
 * exist, as after a move of a virtual environment?
 *
 * @param script  receives the script's path
 * @param python  receives the Python that its first line names
 */
bool python_is_gone(const char *engine, char script[PYTHON_PATH_SIZE],
                    char python[PYTHON_PATH_SIZE]);

/*
 * Run `code` with `python` and `arguments`, which end with NULL, and store what
 * it prints, with a terminating zero. False, and "", if it fails, takes longer
 * than 5 s, or prints more than fits.
 */
bool python_ask(const char *python, const char *code,
                const char *const *arguments, char *out, size_t size);

#endif
