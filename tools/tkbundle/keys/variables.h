/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_VARIABLES_H
#define TKBUNDLE_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>

#include <tkbundle/engine.h>

/*
 * Variables of the environment that enter keys: as the profiles of engines say, and,
 * of Triton, those that it writes into a kernel's metadata.
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
	const char *engine;  /* whose keys it enters, "vllm" */
	const char *package; /* of which the engine is, or "" */
	const char *before;  /* only in versions before this; "": in all */
};

/* Read all profiles that can be; fewer where memory is short. */
void key_variables_load(struct key_variables *out);

/* For TKB_AUTO. */
void key_variables_release(struct key_variables *variables);

/* Does a variable enter any engine's keys? What is found lives as the variables do. */
bool key_variable_find(const struct key_variables *variables, const char *name,
                       struct key_variable *out);

/*
 * Go through the variables that are in Triton's metadata, sorted by name: `*at` is 0
 * for the first. NULL: there are no more.
 */
const char *key_variable_next_of_triton(size_t *at);

/* Is its value kept secret, by its name, or as a URL with a password in it? */
bool key_variable_is_secret(const char *name, const char *value);

#endif
