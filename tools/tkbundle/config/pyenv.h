/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PYENV_H
#define TKBUNDLE_PYENV_H

#include <stdbool.h>

enum {
	PYENV_PATH_SIZE = 4096
};

/*
 * pyenv puts a folder of scripts into PATH, `<root>/shims`, with one script for
 * each program of all its Pythons. $PYENV_VERSION decides which Python a script
 * starts, else the file `.python-version` in the current folder or the nearest
 * one above, else `<root>/version`. These are read here: no program is started.
 */

/*
 * If `path` is such a script, replace it by the program that it starts. False:
 * the script starts none of pyenv's programs, so search the rest of PATH.
 */
bool pyenv_resolve(char path[PYENV_PATH_SIZE]);

#endif
