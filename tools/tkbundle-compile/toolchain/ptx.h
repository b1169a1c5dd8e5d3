/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_PTX_H
#define TKB_COMPILE_PTX_H

#include <tkbundle/tkbundle.h>

/*
 * Find the kernel `wanted` in a PTX text; NULL: the only one. Returns 0, or
 * TKB_ERR_INVALID with a list of the kernels.
 */
int ptx_find_kernel(struct tkb_bytes ptx, const char *wanted, char kernel[1024],
                    struct tkb_error *err);

/*
 * Write `ptx` with the folders removed from its file names (which profilers
 * show): they are private, and would make equal kernels differ.
 */
int ptx_strip_folders(struct tkb_bytes ptx, const struct tkb_sink *sink,
                      struct tkb_error *err);

/*
 * Write LLVM's PTX as Triton does: with the version of the tool that reads it
 * (86 is 8.6; 0: unchanged), and without "debug", which would turn off ptxas'
 * optimizations.
 */
int ptx_finish(struct tkb_bytes ptx, uint32_t version,
               const struct tkb_sink *sink, struct tkb_error *err);

#endif
