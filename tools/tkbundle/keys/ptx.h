/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PTX_H
#define TKBUNDLE_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tkbundle/entry.h>

/*
 * Versions of PTX as numbers: 87 is 8.7. Each CUDA has one, and Triton writes
 * the version of its ptxas into a kernel's PTX: this shows which ptxas made the
 * kernel. tkb_ptx_of_cuda() gives the version of a CUDA.
 */

/*
 * The CUDA that has this version, "12.8" or "12.5 or 12.6"; false if unknown.
 */
bool ptx_cuda(uint32_t ptx, char *out, size_t size);

/*
 * The version of a PTX text, from its line ".version 8.7"; 0 if there is none.
 */
uint32_t ptx_of_text(struct tkb_bytes text);

/*
 * The version of a ptxas, from the output of `ptxas --version`; 0 if unknown.
 */
uint32_t ptx_of_ptxas(const char *text);

#endif
