/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_NINJA_HASH_H
#define TKB_NINJA_HASH_H

#include <tkbundle/entry.h>

#include "base/base.h"

/*
 * The hash of a command in ninja's log: MurmurHash64A for `version` 5 and 6,
 * which ninja writes up to 1.12, and rapidhash for 7.
 */
uint64_t tkb_ninja_hash(int version, struct tkb_bytes command);

#endif
