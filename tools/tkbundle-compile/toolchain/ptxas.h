/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_PTXAS_H
#define TKB_COMPILE_PTXAS_H

/* PTX to cubin by ptxas, as a child process without temporary files. */

#include <tkbundle/tkbundle.h>

#include "base/buf.h"
#include "compile/pool/file_identity.h"
#include "toolchain/cuda.h"

/* The ptxas that was found, and its version. */
struct ptxas {
	char path[4096];
	char version[64];                  /* "13.0.88" */
	uint32_t ptx_version;              /* newest supported; 90 is 9.0 */
	struct tkb_file_identity identity; /* when the version was queried */
};

/*
 * Find ptxas: `given`, or else $TRITON_PTXAS_PATH (before it, from sm_100 on,
 * $TRITON_PTXAS_BLACKWELL_PATH), then the toolkits $CUDA_HOME, $CUDA_PATH and
 * /usr/local/cuda, then the PATH. A named ptxas must exist. Its version is
 * queried unless `tool` has it for the same file. The paths searched and found
 * are added to `searched` as fields (compile/compiler/tools_file.h).
 *
 * @return 0; TKB_ERR_UNSUPPORTED (there is none); TKB_ERR_IO (the named one
 *         does not exist or does not work)
 */
int ptxas_find(struct ptxas *tool, const char *given, const char *arch,
               struct tkb_buf *searched, struct tkb_error *err);

struct ptxas_request {
	const struct ptxas *tool;
	const char *file; /* path of the PTX; NULL: this worker made it */
	struct cuda_options options;
};

/*
 * Compile. ptxas' output goes to `log`, and after a failure a command that
 * repeats it.
 *
 * @return 0, TKB_ERR_INVALID (ptxas failed or made no cubin: how it ended, and
 *         its first error), TKB_ERR_IO, or a sink's own error
 */
int ptxas_compile(const struct ptxas_request *request, struct tkb_bytes ptx,
                  const struct tkb_sink *cubin, const struct tkb_sink *log,
                  struct tkb_error *err);

#endif
