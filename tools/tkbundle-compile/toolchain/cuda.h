/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_CUDA_H
#define TKB_COMPILE_CUDA_H

/* Where the CUDA toolkit is, and its libraries, opened when they are needed. */

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Where a toolkit is that no variable names. */
#define CUDA_DEFAULT_TOOLKIT "/usr/local/cuda"

enum {
	CUDA_PATH_SIZE = 4096
};

/* $CUDA_HOME, or $CUDA_PATH, or "/usr/local/cuda". */
const char *cuda_toolkit(void);

/* A variable's value; NULL where it is unset or empty. */
const char *cuda_variable(const char *name);

/* "<toolkit>/<rest>" is there, and `out` is it. */
bool cuda_find_file(const char *rest, char out[CUDA_PATH_SIZE]);

/* A library of the toolkit. */
struct cuda_library {
	void *handle;              /* owned; NULL: not open */
	void *beside;              /* owned; what it opens itself; or NULL */
	char path[CUDA_PATH_SIZE]; /* of its file */
	char *home;                /* owned; what the variables said */
	struct tkb_buf seen; /* fields: where it was looked for, and found */
};

/*
 * Open "<name>.so" of CUDA 13 or 12: in the toolkit's folder where $CUDA_HOME or
 * $CUDA_PATH names one; then as the system finds libraries; then in
 * /usr/local/cuda. One that is open stays so while these variables say the same.
 */
bool cuda_open(struct cuda_library *library, const char *name);
void cuda_close(struct cuda_library *library);

/*
 * Open the file `name` in the folder where the library lies, or where the file
 * lies that it links to. What the library then opens by this name is that file,
 * also where the loader does not look in that folder.
 */
void cuda_open_beside(struct cuda_library *library, const char *name);

/* Put the function `name` in `place`. False: there is none. */
bool cuda_find(const struct cuda_library *library, const char *name,
               void *place);

#endif
