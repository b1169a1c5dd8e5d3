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
 * Variables, options and ptxas are not in it: a kernel's metadata and its cubin tell
 * those, and so do an engine's own files. Of what `tkbundle compile` makes of IR, PTX
 * and CUDA C, the library says it: "input=PTX; options=none; ptxas=13.0.88". No place
 * is in it, and no person.
 */

/* Write that of a start; false: nothing of it is known. */
bool maker_write(const struct facts *facts, char out[TKB_MAKER_SIZE]);

/*
 * Add what a maker tells to the parts of an entry that it made, where those lack
 * it, and where it decides keys of that kind: of a kernel the build of Triton does,
 * whose version its metadata tell.
 *
 * @param maker  NULL: nobody knows it
 */
TKB_NODISCARD int maker_add(const char *maker, enum tkb_kind kind,
                            struct parts *parts, struct tkb_error *err);

#endif
