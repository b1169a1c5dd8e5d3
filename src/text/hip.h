/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TEXT_HIP_H
#define TKB_TEXT_HIP_H

#include <stddef.h>
#include <stdint.h>

/* An AMD GPU, by the name that targets use: "gfx942". */

struct tkb_hip_arch {
	const char *name;
	uint8_t machine;    /* in the flags of a code object */
	uint32_t wave_size; /* threads in what Triton calls a warp */
};

/* The GPU with that name; NULL if it is not known. */
const struct tkb_hip_arch *tkb_hip_find(const char *name);

/* GPU number `index`; NULL after the last one. */
const struct tkb_hip_arch *tkb_hip_arch(size_t index);

#endif
