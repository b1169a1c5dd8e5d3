/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_NINJA_HASH_H
#define TKB_NINJA_HASH_H

#include <tkbundle/entry.h>

#include "base/base.h"

/*
 * The hash by which ninja's log of `version` keeps a command: that of 5 and 6, which
 * ninja writes up to 1.12, is MurmurHash64A; that of 7 is rapidhash.
 */
uint64_t tkb_ninja_hash(int version, struct tkb_bytes command);

#endif
