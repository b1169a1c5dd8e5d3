/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_MACHINE_NVML_H
#define TKB_MACHINE_NVML_H

/*
 * GPUs and driver, according to NVML, the NVIDIA driver's management library.
 * It is opened at run time, called, and closed again. It needs no CUDA and
 * wakes no GPU. If the driver hangs, so does the caller.
 */

#include <tkbundle/entry.h>

#include "base/base.h"

enum {
	TKB_NVML_TEXT_SIZE = 96
};

struct tkb_gpu {
	char name[TKB_NVML_TEXT_SIZE]; /* "NVIDIA H100 80GB HBM3" */
	char uuid[TKB_NVML_TEXT_SIZE]; /* "GPU-..." */
	int major;                     /* of its compute capability */
	int minor;
};

struct tkb_nvml {
	struct tkb_gpu *gpus; /* owned; in the order of their PCI bus */
	size_t gpu_count;
	char driver[TKB_NVML_TEXT_SIZE]; /* "580.65.06" */
	int cuda;      /* the newest CUDA that the driver supports, as 13000;
	                  0: unknown */
	char why[256]; /* the failure, or "" */
};

void tkb_nvml_release(struct tkb_nvml *nvml);

/*
 * Read from the library at `path`; NULL stands for libnvidia-ml.so.1, wherever
 * the loader finds it. Release `out` even on failure. Returns 0, TKB_MISS (NVML
 * failed: see `why`) or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_nvml_read(const char *path, struct tkb_nvml *out,
                                struct tkb_error *err);

/*
 * Is GPU `index` visible to CUDA? Without CUDA, CUDA_VISIBLE_DEVICES can be
 * interpreted only if it has UUIDs, or if it has indices and CUDA_DEVICE_ORDER
 * is PCI_BUS_ID, which is NVML's order. Otherwise all GPUs count as visible.
 */
bool tkb_nvml_is_visible(const struct tkb_nvml *nvml, size_t index);

#endif
