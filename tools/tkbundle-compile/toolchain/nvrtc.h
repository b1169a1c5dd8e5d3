/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_NVRTC_H
#define TKB_COMPILE_NVRTC_H

/* CUDA C to PTX, by NVRTC, which is opened when it is first needed. */

#include <tkbundle/tkbundle.h>

#include "toolchain/cuda.h"

typedef void *nvrtc_program; /* an opaque pointer, as in nvrtc.h */

struct nvrtc {
	struct cuda_library library; /* owned */
	char version[64];            /* "13.0.88" */
	const char *(*get_error)(int number);
	int (*get_version)(int *major, int *minor);
	int (*create)(nvrtc_program *out, const char *source, const char *name,
	              int header_count, const char *const *headers,
	              const char *const *header_names);
	int (*destroy)(nvrtc_program *handle);
	int (*compile)(nvrtc_program handle, int option_count,
	               const char *const *options);
	int (*add_name)(nvrtc_program handle, const char *name);
	int (*get_name)(nvrtc_program handle, const char *name,
	                const char **out);
	int (*get_log_size)(nvrtc_program handle, size_t *size);
	int (*get_log)(nvrtc_program handle, char *log);
	int (*get_ptx_size)(nvrtc_program handle, size_t *size);
	int (*get_ptx)(nvrtc_program handle, char *ptx);
};

/*
 * Open the library, unless it is open. A zeroed struct is closed. The exact
 * version comes from PTX that is made for `arch`.
 *
 * @return 0, or TKB_ERR_UNSUPPORTED (no NVRTC of CUDA 12 or 13)
 */
int nvrtc_open(struct nvrtc *nvrtc, const char *arch, struct tkb_error *err);
void nvrtc_close(struct nvrtc *nvrtc);

struct nvrtc_request {
	const char *path;            /* path of the source */
	const char *kernel;          /* the kernel's name in C++ or in the
	                               PTX; or NULL */
	struct cuda_options options; /* -I, -D, ... */
};

/*
 * Write the PTX of the text `source` to `ptx`. Includes are searched in its
 * folder, then as the options say, then in the toolkit. The PTX contains no
 * folders. If `request` names a kernel in C++, such as "scale<float>", it is
 * instantiated. `kernel` receives its name in the PTX, or "" if none is named.
 * NVRTC's output goes to `log`.
 *
 * @return 0; TKB_ERR_INVALID with its first error; or a sink's own error
 */
int nvrtc_compile(const struct nvrtc *nvrtc,
                  const struct nvrtc_request *request, const char *source,
                  const struct tkb_sink *ptx, const struct tkb_sink *log,
                  char kernel[1024], struct tkb_error *err);

#endif
