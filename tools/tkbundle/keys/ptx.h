/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PTX_H
#define TKBUNDLE_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tkbundle/entry.h>

/*
 * Versions of PTX as numbers: 87 is 8.7. Each CUDA has one, and Triton writes that
 * of its ptxas into a kernel's PTX: so this tells by which ptxas it was made. That of a
 * CUDA is tkb_ptx_of_cuda().
 */

/* The CUDA that has it, "12.8" or "12.5 or 12.6"; false if it is unknown. */
bool ptx_cuda(uint32_t ptx, char *out, size_t size);

/* That of a text of PTX, by its line ".version 8.7"; 0 if there is none. */
uint32_t ptx_of_text(struct tkb_bytes text);

/* That of a ptxas, by what `ptxas --version` prints; 0 where it tells none. */
uint32_t ptx_of_ptxas(const char *text);

#endif
