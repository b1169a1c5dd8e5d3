/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_MACHINE_H
#define TKBUNDLE_MACHINE_H

#include <tkbundle/entry.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/machine.h
 * The properties of this machine that decide which entries fit it.
 *
 *     rc = tkb_machine_open(NULL, &machine, &err);
 *     for (size_t i = 0; i < tkb_machine_gpu_count(machine); i++)
 *             puts(tkb_machine_gpu(machine, i)->name);
 *     tkb_machine_close(machine);
 *
 * They come from NVIDIA's driver through its management library, NVML, which is
 * opened, called once, and closed. This needs no CUDA and wakes no GPU. But it
 * runs the driver's code: if that hangs, so does tkb_machine_open().
 */
struct tkb_machine;

/** A GPU. GPUs are in the order of their PCI bus. Strings are never NULL. */
struct tkb_machine_gpu {
	const char *name; /**< "NVIDIA H100 80GB HBM3" */
	const char *uuid; /**< "GPU-..." */
	uint32_t major;   /**< of its compute capability */
	uint32_t minor;
	/**
	 * CUDA_VISIBLE_DEVICES does not hide it. Without CUDA, only UUIDs, and
	 * indices with CUDA_DEVICE_ORDER=PCI_BUS_ID, can be interpreted.
	 */
	bool is_visible;
};

/**
 * Ask the driver. A machine without a driver is not a failure:
 * tkb_machine_why() then says that there is none.
 *
 * @param nvml  the library; NULL: libnvidia-ml.so.1, as the loader finds it
 * @param out   receives a handle that the caller closes
 * @return 0 or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_machine_open(const char *nvml,
                                           struct tkb_machine **out,
                                           struct tkb_error *err);

/** Release the handle and all that it lent. NULL is allowed. */
TKB_API void tkb_machine_close(struct tkb_machine *machine);

/** The machine's GPUs. */
TKB_API size_t tkb_machine_gpu_count(const struct tkb_machine *machine);
TKB_API const struct tkb_machine_gpu *tkb_machine_gpu(
	const struct tkb_machine *machine, size_t index);

/** The driver's version, "580.65.06"; "" if unknown. */
TKB_API const char *tkb_machine_driver(const struct tkb_machine *machine);

/** The newest CUDA that the driver supports: 13000 for 13.0; 0 if unknown. */
TKB_API uint32_t tkb_machine_cuda(const struct tkb_machine *machine);

/**
 * One sentence that says why GPUs, or some of their properties, are unknown; or
 * "".
 */
TKB_API const char *tkb_machine_why(const struct tkb_machine *machine);

/**
 * Can an entry with this `platform`, as in struct tkb_entry, be used here? A
 * module must be for this architecture and C library; a tuned unit must be for
 * this GPU and driver. "" fits everywhere.
 *
 * @return 0, TKB_MISS (it does not fit) or TKB_ERR_INVALID (TKBUNDLE_GPU is
 *         malformed)
 */
TKB_API TKB_NODISCARD int tkb_platform_check(const char *platform,
                                             struct tkb_error *err);

/**
 * The newest PTX version that this version of CUDA understands: 87 is PTX 8.7,
 * of CUDA 12.8. 0 if unknown, as for CUDA 10.
 */
TKB_API uint32_t tkb_ptx_of_cuda(uint32_t major, uint32_t minor);

#ifdef __cplusplus
}
#endif

#endif
