/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_MAKER_H
#define TKBUNDLE_MAKER_H

#include <tkbundle/makers.h>

#include "keys/facts.h"
#include "why/parts.h"

/*
 * The maker of entries, as caches and records store it: "engine=vllm 0.24.0;
 * gpu=NVIDIA H200; libtriton=8987...; torch=2.11.0; triton=3.6.0".
 *
 * It does not contain variables, options and ptxas: a kernel's metadata and
 * cubin, and an engine's own files, have those. For entries that `tkbundle
 * compile` makes from IR, PTX and CUDA C, the library writes the maker:
 * "input=PTX; options=none; ptxas=13.0.88". A maker names no folder and no
 * person.
 */

/* Write the maker of a start's entries. False: nothing is known about it. */
bool maker_write(const struct facts *facts, char out[TKB_MAKER_SIZE]);

/*
 * Copy the value of a member such as "torch"; false: it has none. `maker` may
 * be NULL.
 */
bool maker_find(const char *maker, const char *member, char *out, size_t size);

/*
 * Add a maker's facts to the parts of an entry that it made, if the entry lacks
 * them and they decide keys of that kind. For a kernel, this is the build of
 * Triton: its metadata has only the version.
 *
 * @param maker  NULL: unknown
 */
TKB_NODISCARD int maker_add(const char *maker, enum tkb_kind kind,
                            struct parts *parts, struct tkb_error *err);

#endif
