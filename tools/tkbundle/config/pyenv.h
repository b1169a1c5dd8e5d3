/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PYENV_H
#define TKBUNDLE_PYENV_H

#include <stdbool.h>

enum {
	PYENV_PATH_SIZE = 4096
};

/*
 * pyenv puts a folder of scripts into PATH, `<root>/shims`, one for each program of
 * all its Pythons. Which of those it starts, $PYENV_VERSION says, or the file
 * `.python-version` in this folder or the next one above, or `<root>/version`. That
 * is read here: nothing is started.
 */

/*
 * If `path` is such a script, replace it by what it starts. False: that is none of
 * pyenv's, and what comes behind in PATH counts.
 */
bool pyenv_resolve(char path[PYENV_PATH_SIZE]);

#endif
