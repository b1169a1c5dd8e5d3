/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_GPU_H
#define TKB_COMPILE_GPU_H

/* What GPUs are called, and which PTX they understand. */

#include <tkbundle/tkbundle.h>

enum {
	GPU_NAME_SIZE = 32
};

/*
 * Of "90": "sm_90a". From there on an architecture has features that later ones
 * lack.
 */
void gpu_name(const char *arch, char out[GPU_NAME_SIZE]);

/* The newest PTX of a toolkit's release, as Triton maps them: 90 is 9.0. */
uint32_t gpu_ptx_of_release(unsigned major, unsigned minor);

/*
 * The version of PTX that LLVM is to make for `arch`, where the tool that takes
 * it knows up to `tool_ptx`; 0: not known. LLVM itself ends the process where
 * the two do not go together.
 *
 * @return 0, or TKB_ERR_UNSUPPORTED: which GPUs there are, or which PTX it takes
 */
int gpu_choose_ptx(const char *arch, uint32_t tool_ptx, uint32_t *out,
                   struct tkb_error *err);

#endif
