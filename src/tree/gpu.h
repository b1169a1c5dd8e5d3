/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_GPU_H
#define TKB_TREE_GPU_H

/*
 * What was tuned fits only the GPU and the driver that it was measured on. As a
 * platform these are called "gpu <name>, driver <major>", as in
 * "gpu NVIDIA H200, driver 580".
 */

#include "base/base.h"

enum {
	TKB_GPU_PLATFORM_SIZE = 160
};

/* The GPU and driver of this machine. Zeroed: not asked yet. */
struct tkb_gpu_here {
	bool is_asked;
	char platform[TKB_GPU_PLATFORM_SIZE]; /* "": unknown */
};

/* Is this the platform of something tuned, and not of a module? */
bool tkb_gpu_is_platform(const char *platform);

/* Does `platform`, of something tuned, fit the machine of `here`? */
bool tkb_gpu_fits(const char *platform, const struct tkb_gpu_here *here);

/*
 * Find out, unless that was done. $TKBUNDLE_GPU overrides the driver, as in
 * "NVIDIA H200,580"; empty, it hides them. Returns 0, or TKB_ERR_INVALID (the
 * variable is malformed).
 */
TKB_NODISCARD int tkb_gpu_ask(struct tkb_gpu_here *here, struct tkb_error *err);

/*
 * Read name and version from `folder`, which is /proc/driver/nvidia, into
 * `out`. It is "" without a driver or a GPU, and where GPUs have different
 * names.
 */
void tkb_gpu_read(const char *folder, char out[TKB_GPU_PLATFORM_SIZE]);

#endif
