/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_BUILTIN_PROFILES_H
#define TKBUNDLE_BUILTIN_PROFILES_H

#include <tkbundle/engine.h>

/* The profiles of share/engines, as the build embeds them: see embed_profiles.cmake. */
struct builtin_profile {
	const char *name; /* NULL behind the last */
	struct tkb_bytes text;
};

extern const struct builtin_profile builtin_profiles[];

#endif
