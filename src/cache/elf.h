/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_ELF_H
#define TKB_CACHE_ELF_H

/*
 * Check that an ELF file is whole and made for its target. Nothing is executed
 * or mapped, and every offset is checked before it is used.
 */

#include "base/base.h"
#include "base/buf.h"
#include "tree/gpu.h"

enum {
	TKB_ELF_HEAD = 64
};

/*
 * Check that `elf` is a whole cubin for sm_<arch> with the kernel `symbol`. If
 * `arch` is 0 or `symbol` NULL, it is not compared. A failure has the reason
 * "binary" and names `name`.
 */
TKB_NODISCARD int tkb_elf_check_cubin(struct tkb_bytes elf, const char *name,
                                      uint64_t arch, const char *symbol,
                                      struct tkb_error *err);

/*
 * Check that `elf` is a whole AMD code object for `arch`, such as "gfx942",
 * with the kernel `symbol`. If `arch` is unknown or `symbol` NULL, it is not
 * compared.
 */
TKB_NODISCARD int tkb_elf_check_hsaco(struct tkb_bytes elf, const char *name,
                                      const char *arch, const char *symbol,
                                      struct tkb_error *err);

/* Does an ELF file begin with `head`? */
bool tkb_elf_is(struct tkb_bytes head);

/*
 * Check that an ELF file of `size` bytes reaches to the end of its list of
 * sections. `head` is its first TKB_ELF_HEAD bytes, or all if it has fewer.
 */
TKB_NODISCARD int tkb_elf_check_head(struct tkb_bytes head, uint64_t size,
                                     const char *name, struct tkb_error *err);

/*
 * Check that `elf` is a whole shared object, and append its platform to
 * `platform`: "<machine>-<libc>[-<python tag>]", such as
 * "x86_64-glibc2.34-cpython312".
 */
TKB_NODISCARD int tkb_elf_check_module(struct tkb_bytes elf, const char *name,
                                       struct tkb_buf *platform,
                                       struct tkb_error *err);

/*
 * Can this machine, with its C library, load a module of `platform`? If
 * `platform` is a GPU (of a tuned unit), is it this machine's? Only then `here`
 * is needed.
 */
bool tkb_platform_fits(const char *platform, const struct tkb_gpu_here *here);

#endif
