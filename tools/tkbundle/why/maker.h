/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_MAKER_H
#define TKBUNDLE_MAKER_H

#include <tkbundle/makers.h>

#include "keys/facts.h"
#include "why/parts.h"

/*
 * What makes entries, as caches and records note it: "engine=vllm 0.24.0;
 * gpu=NVIDIA H200; libtriton=8987...; torch=2.11.0; triton=3.6.0".
 *
 * It lacks variables, options and ptxas: a kernel's metadata and cubin have those, and
 * so do an engine's own files. For what `tkbundle compile` makes of IR, PTX and CUDA C,
 * the library writes it: "input=PTX; options=none; ptxas=13.0.88". It names no folder
 * and no person.
 */

/* Write the maker of a start's entries. False: nothing is known of it. */
bool maker_write(const struct facts *facts, char out[TKB_MAKER_SIZE]);

/*
 * Copy a member's value, as of "torch"; false: it is not noted. `maker` may be NULL.
 */
bool maker_find(const char *maker, const char *member, char *out, size_t size);

/*
 * Add a maker's facts to the parts of an entry that it made, where the entry lacks
 * them and they decide keys of that kind. Of a kernel that is the build of Triton;
 * its metadata has only the version.
 *
 * @param maker  NULL: nobody knows it
 */
TKB_NODISCARD int maker_add(const char *maker, enum tkb_kind kind,
                            struct parts *parts, struct tkb_error *err);

#endif
