/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_BUILTIN_PROFILES_H
#define TKBUNDLE_BUILTIN_PROFILES_H

#include <tkbundle/engine.h>

/*
 * The profiles of share/engines, which the build embeds: see
 * embed_profiles.cmake.
 */
struct builtin_profile {
	const char *name; /* NULL after the last */
	struct tkb_bytes text;
};

extern const struct builtin_profile builtin_profiles[];

#endif
