/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_ELF_H
#define TKB_CACHE_ELF_H

/*
 * Check that an ELF file is whole and for its target. Nothing is executed or
 * mapped, and every offset is checked before it is used.
 */

#include "base/base.h"
#include "base/buf.h"
#include "tree/gpu.h"

enum {
	TKB_ELF_HEAD = 64
};

/*
 * Is `elf` a whole cubin for sm_<arch> with the kernel `symbol`? An `arch` of 0
 * fits any; a NULL `symbol` is not checked. A failure has the reason "binary",
 * and names `name`.
 */
TKB_NODISCARD int tkb_elf_check_cubin(struct tkb_bytes elf, const char *name,
                                      uint64_t arch, const char *symbol,
                                      struct tkb_error *err);

/*
 * Is `elf` a whole AMD code object for `arch`, "gfx942", with the kernel `symbol`?
 * An `arch` that is not known fits any; a NULL `symbol` is not checked.
 */
TKB_NODISCARD int tkb_elf_check_hsaco(struct tkb_bytes elf, const char *name,
                                      const char *arch, const char *symbol,
                                      struct tkb_error *err);

/*
 * Does `head`, the first TKB_ELF_HEAD bytes of a file of `size` bytes or all that it
 * has, begin an ELF file that was written to the end of its list of sections?
 */
TKB_NODISCARD int tkb_elf_check_head(struct tkb_bytes head, uint64_t size,
                                     const char *name, struct tkb_error *err);

/*
 * Is `elf` a whole shared object? Its platform is appended to `platform`:
 * "<machine>-<libc>[-<python tag>]", as in "x86_64-glibc2.34-cpython312".
 */
TKB_NODISCARD int tkb_elf_check_module(struct tkb_bytes elf, const char *name,
                                       struct tkb_buf *platform,
                                       struct tkb_error *err);

/*
 * Can this machine, with its C library, load a module of `platform`; or, for
 * something tuned, does `platform` name its GPU? `here` is needed only for a
 * GPU's.
 */
bool tkb_platform_fits(const char *platform, const struct tkb_gpu_here *here);

#endif
