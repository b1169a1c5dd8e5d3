/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ENGINE_SETTINGS_H
#define TKBUNDLE_ENGINE_SETTINGS_H

#include <stdbool.h>

#include <tkbundle/engine.h>

#include "cli/args.h"

/*
 * The variables that `run` sets for an engine's command: a place for each
 * cache, and values that give the same keys on every machine. Variables that
 * the user has set are not changed.
 */
enum {
	ENGINE_PATH_SIZE = 4096
};

/*
 * The folder for caches whose place the user has not set: below the user's
 * cache folder, or a temporary folder if that cannot be written.
 *
 * @param is_made  make it if it does not exist
 */
bool engine_settings_base(bool is_made, char out[ENGINE_PATH_SIZE]);

/*
 * Receives each variable in turn. Both texts are valid until it returns.
 *
 * @param value  the value to set, or NULL: do not set it
 * @param why    the reason for that
 */
struct engine_settings_visitor {
	void (*visit)(void *self, const char *name, const char *value,
	              const char *why);
	void *self;
};

/*
 * Other facts, besides the profile and the environment, that decide the
 * settings.
 */
struct engine_settings_case {
	const struct arguments *args; /* operands: the command, if any */
	const char *base;             /* the folder for caches not placed */
	bool has_remote; /* a remote that other machines may share */
};

/* Visit the variables of `engine`. */
void engine_settings_list(const struct tkb_engine *engine,
                          const struct engine_settings_case *where,
                          const struct engine_settings_visitor *visitor);

#endif
