/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PROFILES_INSIDE_H
#define TKBUNDLE_PROFILES_INSIDE_H

#include <tkbundle/engine.h>

/* The profiles of share/engines, as the build embeds them: see embed_profiles.cmake. */
struct profile_inside {
	const char *name; /* NULL behind the last */
	struct tkb_bytes text;
};

extern const struct profile_inside profiles_inside[];

#endif
