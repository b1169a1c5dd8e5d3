/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PYTHON_H
#define TKBUNDLE_PYTHON_H

#include <stdbool.h>
#include <stddef.h>

#include "config/pyenv.h"

enum {
	PYTHON_PATH_SIZE = PYENV_PATH_SIZE
};

/* Is the program `path` called as a Python is, "python3.12"? */
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
 * Is the script in PATH that has the engine's name started by a Python that is not
 * there, as in a virtual environment that was moved?
 *
 * @param script  receives the script's path
 * @param python  receives the Python that its first line names
 */
bool python_is_gone(const char *engine, char script[PYTHON_PATH_SIZE],
                    char python[PYTHON_PATH_SIZE]);

/*
 * Run `code` by `python` with `arguments`, which end with NULL, and take what it
 * prints, with a zero behind it. False, and "", where it fails, takes longer than
 * 5 s, or prints more than fits.
 */
bool python_ask(const char *python, const char *code,
                const char *const *arguments, char *out, size_t size);

#endif
