/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_VARIABLES_H
#define TKBUNDLE_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>

#include <tkbundle/engine.h>

/*
 * Environment variables that are part of keys: those that the profiles of
 * engines list, and those that Triton writes into a kernel's metadata.
 *
 *     TKB_AUTO(key_variables_release) struct key_variables variables = { 0 };
 *     struct key_variable found;
 *
 *     key_variables_load(&variables);
 *     if (key_variable_find(&variables, "VLLM_USE_V1", &found))
 *             puts(found.engine);
 */
struct key_variables {
	struct tkb_engine **engines; /* owned */
	size_t count;
};

struct key_variable {
	const char *engine;  /* the engine whose keys it is part of, "vllm" */
	const char *package; /* the engine's Python package, or "" */
	const char *before;  /* only in versions before this; "": in all */
};

/* Read all profiles that are readable; fewer if out of memory. */
void key_variables_load(struct key_variables *out);

/* For TKB_AUTO. */
void key_variables_release(struct key_variables *variables);

/*
 * Is a variable part of any engine's keys? `out` is valid as long as
 * `variables`.
 */
bool key_variable_find(const struct key_variables *variables, const char *name,
                       struct key_variable *out);

/*
 * The next variable that Triton writes into metadata, sorted by name; `*at` is
 * 0 for the first. NULL: there are no more.
 */
const char *key_variable_next_of_triton(size_t *at);

/*
 * Is the value secret, because of the name, or because it is a URL with a
 * password?
 */
bool key_variable_is_secret(const char *name, const char *value);

#endif
