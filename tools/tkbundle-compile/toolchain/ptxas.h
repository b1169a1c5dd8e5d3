/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_PTXAS_H
#define TKB_COMPILE_PTXAS_H

/* PTX to cubin, by ptxas: a child process without temporary files. */

#include <tkbundle/tkbundle.h>

#include <sys/stat.h>

#include "base/buf.h"

/* A tool that was found, and its version. */
struct ptxas {
	char path[4096];
	char version[64];     /* "13.0.88" */
	uint32_t ptx_version; /* the newest that it takes: 90 is 9.0 */
	struct stat status;   /* of the file that was asked */
};

/*
 * Find ptxas: `given`, or where that is NULL $TRITON_PTXAS_PATH (from sm_100 on
 * $TRITON_PTXAS_BLACKWELL_PATH before it), then the toolkit's in $CUDA_HOME,
 * $CUDA_PATH and /usr/local/cuda, then on the PATH. One that is named must be
 * there. Its version is asked unless `tool` holds that of the same file. Where it
 * was looked for, and found, goes to `seen` as fields (compile/compiler/tools_file.h).
 *
 * @return 0; TKB_ERR_UNSUPPORTED (there is none); TKB_ERR_IO (the one that is
 *         named is not there, or does not work)
 */
int ptxas_find(struct ptxas *tool, const char *given, const char *arch,
               struct tkb_buf *seen, struct tkb_error *err);

struct ptxas_request {
	const struct ptxas *tool;
	const char *arch;
	const char *file; /* where the PTX came from; NULL: it was made here */
	const char *const *options; /* of the user, besides ours */
	size_t option_count;
	bool is_fusion_off;
	bool is_line_info_off; /* no line numbers for profilers */
};

/*
 * Compile. What ptxas says goes whole to `log`, and where it fails a command that
 * repeats it.
 *
 * @return 0, TKB_ERR_INVALID (ptxas refused or made no cubin: how it ended, and
 *         its first error), TKB_ERR_IO, or what a sink returned
 */
int ptxas_compile(const struct ptxas_request *order, struct tkb_bytes ptx,
                  const struct tkb_sink *cubin, const struct tkb_sink *log,
                  struct tkb_error *err);

#endif
