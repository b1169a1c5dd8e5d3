/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_GPU_H
#define TKB_COMPILE_GPU_H

/* Names of GPUs, and the PTX versions that they support. */

#include <tkbundle/tkbundle.h>

enum {
	GPU_NAME_SIZE = 32
};

/* "sm_90a" for "90": from 90 on, the "a" adds what only this GPU has. */
void gpu_name(const char *arch, char out[GPU_NAME_SIZE]);

/*
 * Choose the PTX version for `arch`, if the tool that reads it knows versions
 * up to `tool_ptx`; 0: unknown. LLVM would end the process if target and
 * version did not fit.
 *
 * @return 0, or TKB_ERR_UNSUPPORTED with the known GPUs or the tool's newest
 *         version
 */
int gpu_choose_ptx(const char *arch, uint32_t tool_ptx, uint32_t *out,
                   struct tkb_error *err);

#endif
