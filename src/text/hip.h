/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TEXT_HIP_H
#define TKB_TEXT_HIP_H

#include <stddef.h>
#include <stdint.h>

/* AMD's GPUs, as targets name them: "gfx942". */

struct tkb_hip_arch {
	const char *name;
	uint8_t machine;    /* in the flags of a code object */
	uint32_t wave_size; /* threads that Triton launches as one warp */
};

/* The GPU of that name; NULL: it is not known. */
const struct tkb_hip_arch *tkb_hip_find(const char *name);

/* GPU `index`; NULL: there are no more. */
const struct tkb_hip_arch *tkb_hip_arch(size_t index);

#endif
