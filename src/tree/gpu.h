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

/* Those of this machine. Zeroed: nobody has asked. */
struct tkb_gpu_here {
	bool is_asked;
	char platform[TKB_GPU_PLATFORM_SIZE]; /* "": not known */
};

/* Is it a platform of what was tuned, and none of a module? */
bool tkb_gpu_is_platform(const char *platform);

/* Was what has this platform tuned on the machine that `here` is of? */
bool tkb_gpu_fits(const char *platform, const struct tkb_gpu_here *here);

/*
 * Ask, unless that was done. $TKBUNDLE_GPU tells, as in "NVIDIA H200,580", or is
 * empty where it is not to be known; else the driver does.
 * Returns 0, or TKB_ERR_INVALID (the variable makes no sense).
 */
TKB_NODISCARD int tkb_gpu_ask(struct tkb_gpu_here *here, struct tkb_error *err);

/*
 * What NVIDIA's driver says in `folder`, which is /proc/driver/nvidia, is put into
 * `out`. It is "" where there is no driver, no GPU, or GPUs of several names.
 */
void tkb_gpu_read(const char *folder, char out[TKB_GPU_PLATFORM_SIZE]);

#endif
