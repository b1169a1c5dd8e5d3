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
 * Nothing is mapped or executed, and every offset is checked before use.
 * Sources: the ELF-64 specification, and NVIDIA's "CUDA Binary Utilities" for
 * the contents of sections. Threads: no state is kept.
 */

/** A section. Its name is valid until on_part() returns. */
struct tkb_cubin_part {
	const char *name;       /**< ".text.add_kernel"; may be "" */
	uint64_t offset;        /**< in the file, bytes */
	struct tkb_bytes bytes; /**< empty if the file has none */
};

/** Receives the sections, in the file's order. */
struct tkb_cubin_visitor {
	/**
	 * @return 0, or a negative enum tkb_status, which stops the listing
	 */
	int (*on_part)(void *self, const struct tkb_cubin_part *part,
	               struct tkb_error *err);
	void *self; /**< given to on_part() */
};

/**
 * List the sections of the cubin in `bytes`.
 *
 * @param name  for messages; not kept
 * @return 0, TKB_ERR_CORRUPT (not an ELF file, or cut short), or the visitor's
 *         own error
 */
TKB_API TKB_NODISCARD int tkb_cubin_parts(
	struct tkb_bytes bytes, const char *name,
	const struct tkb_cubin_visitor *visitor, struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif
