/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_GPU_H
#define TKB_TREE_GPU_H

/*
 * A tuned unit fits only the GPU and the driver on which it was measured. Its
 * platform names both: "gpu <name>, driver <major>", as in "gpu NVIDIA H200,
 * driver 580".
 */

#include "base/base.h"

enum {
	TKB_GPU_PLATFORM_SIZE = 160
};

/* The GPU and driver of this machine. Zeroed: not looked up yet. */
struct tkb_gpu_here {
	bool is_asked;
	char platform[TKB_GPU_PLATFORM_SIZE]; /* "": not known */
};

/* Is this the platform of a tuned unit, and not of a module? */
bool tkb_gpu_is_platform(const char *platform);

/* Does `platform`, of a tuned unit, fit the machine in `here`? */
bool tkb_gpu_fits(const char *platform, const struct tkb_gpu_here *here);

/*
 * Look up GPU and driver, unless this was done before. $TKBUNDLE_GPU replaces
 * what the driver says, as in "NVIDIA H200,580"; if it is empty, there is no
 * GPU. Returns 0, or TKB_ERR_INVALID (the variable is malformed).
 */
TKB_NODISCARD int tkb_gpu_ask(struct tkb_gpu_here *here, struct tkb_error *err);

/*
 * Read the GPU's name and the driver's version from `folder`, which is
 * /proc/driver/nvidia, into `out`. `out` is "" if there is no driver or GPU, or
 * if the GPUs have different names.
 */
void tkb_gpu_read(const char *folder, char out[TKB_GPU_PLATFORM_SIZE]);

#endif
