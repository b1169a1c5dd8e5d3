/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_SAVED_H
#define TKB_TESTS_SAVED_H

/* What the tests of saved launchers in bundles share. */

#include "forge.h"
#include "recording.h"

#define NEEDS "\"needs\":[\"" FORGE_KERNEL "\"]"

#define LAUNCHER(key, need, payload)                                           \
	"{\"key\":\"" key "\",\"name\":\"kernel\",\"need\":\"" need            \
	"\",\"needs\":[\"" FORGE_KERNEL "\"],\"payload\":[\"" payload "\",5]}"

/* The bundle of save_three(), taken apart. */
static inline struct forge *forge_three(void)
{
	save_three("real.tkb");
	return forge_open("real.tkb");
}

#endif
