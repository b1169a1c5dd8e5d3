/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_NVJITLINK_H
#define TKB_COMPILE_NVJITLINK_H

/* PTX to cubin in this process, by nvJitLink. */

#include <tkbundle/tkbundle.h>

#include "toolchain/cuda.h"

struct nvjitlink {
	struct cuda_library library; /* owned */
	char version[64];            /* "13.0.88" */
	uint32_t ptx_version;        /* newest supported version */
	int (*create)(void **handle, uint32_t option_count,
	              const char **options);
	int (*destroy)(void **handle);
	int (*add)(void *handle, int type, const void *data, size_t size,
	           const char *name);
	int (*complete)(void *handle);
	int (*get_cubin_size)(void *handle, size_t *size);
	int (*get_cubin)(void *handle, void *cubin);
	int (*get_errors_size)(void *handle, size_t *size);
	int (*get_errors)(void *handle, char *log);
	int (*get_infos_size)(void *handle, size_t *size);
	int (*get_infos)(void *handle, char *log);
};

/*
 * Open the library, unless it is open. A zeroed struct is closed. The exact
 * version comes from a cubin that is made for `arch`.
 *
 * @return 0, or TKB_ERR_UNSUPPORTED (no nvJitLink of CUDA 12 or 13)
 */
int nvjitlink_open(struct nvjitlink *linker, const char *arch,
                   struct tkb_error *err);
void nvjitlink_close(struct nvjitlink *linker);

/*
 * Compile, by options in the form of ptxas. nvJitLink's output goes to `log`.
 *
 * @return 0; TKB_ERR_INVALID with its first error; or a sink's own error
 */
int nvjitlink_compile(const struct nvjitlink *linker,
                      const struct cuda_options *options, struct tkb_bytes ptx,
                      const struct tkb_sink *cubin, const struct tkb_sink *log,
                      struct tkb_error *err);

#endif
