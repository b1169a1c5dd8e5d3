/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PROFILES_H
#define TKBUNDLE_PROFILES_H

#include <tkbundle/engine.h>

/*
 * Profiles of engines. A profile is NAME.json in $TKBUNDLE_ENGINES, in
 * ~/.config/tkbundle/engines, or in the folder that was installed with the
 * program, or it is built into the program; the first one found is used.
 */

/* Names of profiles, each once. */
struct profile_names {
	char **items; /* owned, and the texts */
	size_t count;
};

void profile_names_release(struct profile_names *names);

/* Add a name of `length` bytes; without memory, it is left out. */
void profile_names_add(struct profile_names *names, const char *name,
                       size_t length);

/* For qsort(). */
int profile_names_compare(const void *a, const void *b);

/* Add all profiles that can be read; fewer if out of memory. */
void profiles_list(struct profile_names *out);

enum {
	PROFILE_PATH_SIZE = 8192
};

/*
 * Read the profile called `name`; the caller closes it. `path`, which may be
 * NULL, receives its file, or "" if it is built into the program.
 * TKB_ERR_INVALID: there is none.
 */
TKB_NODISCARD int profile_open(const char *name, char path[PROFILE_PATH_SIZE],
                               struct tkb_engine **out, struct tkb_error *err);

#endif
