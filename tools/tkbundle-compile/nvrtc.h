/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_NVRTC_H
#define TKB_COMPILE_NVRTC_H

/* CUDA C to PTX, by NVRTC, which is opened when it is first needed. */

#include <tkbundle/tkbundle.h>

struct nvrtc; /* the library, open */

/*
 * Open libnvrtc: that of CUDA 13 or 12, by its name or in the toolkit's folder.
 *
 * @return 0, or TKB_ERR_UNSUPPORTED: where it was looked for
 */
int nvrtc_open(struct nvrtc **out, struct tkb_error *err);
void nvrtc_close(struct nvrtc *nvrtc);

/* "13.0" */
const char *nvrtc_version(const struct nvrtc *nvrtc);

struct nvrtc_order {
	const char *name;           /* of the source, for messages */
	const char *arch;           /* "90" */
	const char *const *options; /* -I, -D, ... */
	size_t option_count;
	bool no_fusion;
	bool no_lines;
};

/*
 * Send the PTX of `source`, a text, to `ptx`. What NVRTC says goes whole to
 * `log`; where it refuses, its first error is the message: TKB_ERR_INVALID.
 */
int nvrtc_compile(const struct nvrtc *nvrtc, const struct nvrtc_order *order,
                  const char *source, const struct tkb_sink *ptx,
                  const struct tkb_sink *log, struct tkb_error *err);

#endif
