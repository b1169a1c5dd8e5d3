/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_CUBIN_H
#define TKBUNDLE_CUBIN_H

#include <tkbundle/entry.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/cubin.h
 * The parts of a cubin: the sections of its ELF file.
 *
 * Nothing is mapped or executed, and every offset is checked before it is
 * followed. Source: the ELF-64 specification; NVIDIA's "CUDA Binary
 * Utilities" for what the sections hold. Threads: no state is kept.
 */

/** One section. The name holds until on_part() returns. */
struct tkb_cubin_part {
	const char *name;       /**< ".text.add_kernel"; "" where it has none */
	uint64_t offset;        /**< in the file, bytes */
	struct tkb_bytes bytes; /**< empty where it takes no place there */
};

/** Where sections are told, in the file's order. */
struct tkb_cubin_visitor {
	/** @return 0, or a negative enum tkb_status, which ends it */
	int (*on_part)(void *self, const struct tkb_cubin_part *part,
	               struct tkb_error *err);
	void *self; /**< given to on_part() */
};

/**
 * Tell the parts of the cubin in `bytes`.
 *
 * @param name  for messages; not kept
 * @return 0, TKB_ERR_CORRUPT (not an ELF file, or not whole), or what the
 *         visitor returned
 */
TKB_API TKB_NODISCARD int tkb_cubin_parts(
	struct tkb_bytes bytes, const char *name,
	const struct tkb_cubin_visitor *visitor, struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif
