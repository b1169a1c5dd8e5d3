/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_PTX_H
#define TKB_COMPILE_PTX_H

#include <tkbundle/tkbundle.h>

/*
 * The kernel of a PTX text: `wanted`, or where that is NULL the only one. Returns
 * 0 or TKB_ERR_INVALID, which names those that there are.
 */
int ptx_find_kernel(struct tkb_bytes ptx, const char *wanted, char kernel[1024],
                    struct tkb_error *err);

/*
 * Send `ptx` with the files that it names (for profilers) by their last names:
 * where they lay is nobody's business, and would make the same differ.
 */
int ptx_strip_folders(struct tkb_bytes ptx, const struct tkb_sink *sink,
                      struct tkb_error *err);

/*
 * Send the PTX that LLVM made as Triton leaves it: its version that of the tool
 * which takes it (86 is 8.6; 0: as it is), and without the word that keeps ptxas
 * from optimizing.
 */
int ptx_finish(struct tkb_bytes ptx, uint32_t version,
               const struct tkb_sink *sink, struct tkb_error *err);

#endif
