/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_CUDA_H
#define TKB_COMPILE_CUDA_H

/* Finds the CUDA toolkit, and opens its libraries when they are needed. */

#include <tkbundle/tkbundle.h>

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* The toolkit if no variable names one. */
#define CUDA_DEFAULT_TOOLKIT "/usr/local/cuda"

enum {
	CUDA_PATH_SIZE = 4096
};

/* The toolkit's folder: $CUDA_HOME, or $CUDA_PATH, or "/usr/local/cuda". */
const char *cuda_toolkit(void);

/* True if the file "<toolkit>/<rest>" exists; `out` is its path. */
bool cuda_find_file(const char *rest, char out[CUDA_PATH_SIZE]);

/* What every tool is told. */
struct cuda_options {
	const char *arch;         /* "90" */
	const char *const *items; /* the user's, in the form of the tool */
	size_t count;
	bool is_fusion_off;
	bool is_line_info_off; /* omit line information for profilers */
};

/* A library of the toolkit. */
struct cuda_library {
	void *handle; /* owned; NULL: not open */
	void *beside; /* owned; another library that this one opens by name;
	                 or NULL */
	char path[CUDA_PATH_SIZE]; /* of the opened file */
	char *home; /* owned; the toolkit that the variables named */
	struct tkb_buf searched; /* as fields: paths searched and opened */
};

/*
 * Open "<name>.so" of CUDA 13 or 12: in the toolkit named by $CUDA_HOME or
 * $CUDA_PATH, then by the loader's search, then in /usr/local/cuda. An open
 * library is kept while these variables are unchanged.
 */
bool cuda_open(struct cuda_library *library, const char *name);
void cuda_close(struct cuda_library *library);

/*
 * Open the file `name` in the library's folder, or in the folder of the file
 * that it links to. When the library itself opens this name it gets that file,
 * even if the loader does not search that folder.
 */
void cuda_open_beside(struct cuda_library *library, const char *name);

/* Store the function `name` in `function_out`. False if there is none. */
bool cuda_find(const struct cuda_library *library, const char *name,
               void *function_out);

/* A sink that ignores everything. */
extern const struct tkb_sink cuda_no_log;

/*
 * Read a version such as "13.0.88" from a tool's product, if it has one. Adds a
 * NUL to `product`.
 */
void cuda_read_version(struct tkb_buf *product, char version[64]);

/* A log of a library's handle, for the caller to free; NULL: it is empty. */
char *cuda_read_log(void *handle, int (*get_size)(void *handle, size_t *size),
                    int (*get)(void *handle, char *log));

#endif
