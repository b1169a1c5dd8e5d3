/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_NVRTC_H
#define TKB_COMPILE_NVRTC_H

/* CUDA C to PTX, by NVRTC, which is opened when it is first needed. */

#include <tkbundle/tkbundle.h>

#include "toolchain/cuda.h"

typedef struct _nvrtcProgram *nvrtc_program; /* as in nvrtc.h */

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
 * Open the library; nothing to do where it is open. Zeroed is closed. Its build
 * is told by PTX that it makes for `arch`.
 *
 * @return 0, or TKB_ERR_UNSUPPORTED: where it was looked for
 */
int nvrtc_open(struct nvrtc *nvrtc, const char *arch, struct tkb_error *err);
void nvrtc_close(struct nvrtc *nvrtc);

struct nvrtc_request {
	const char *path;           /* of the source */
	const char *arch;           /* "90" */
	const char *kernel;         /* as C++ or the PTX names it; or NULL */
	const char *const *options; /* -I, -D, ... */
	size_t option_count;
	bool is_fusion_off;
	bool is_line_info_off;
};

/*
 * Send the PTX of `source`, a text, to `ptx`. What it includes is looked for
 * beside it, then as the options say, then in the toolkit. No folder's name gets
 * into the PTX. Where `order` names a kernel as C++ does, "scale<float>", that
 * instance is made; `kernel` becomes its name in the PTX, "" where none is named.
 * What NVRTC says goes whole to `log`.
 *
 * @return 0; TKB_ERR_INVALID with its first error; or what a sink returned
 */
int nvrtc_compile(const struct nvrtc *nvrtc, const struct nvrtc_request *order,
                  const char *source, const struct tkb_sink *ptx,
                  const struct tkb_sink *log, char kernel[1024],
                  struct tkb_error *err);

#endif
