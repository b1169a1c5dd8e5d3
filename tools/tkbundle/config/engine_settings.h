/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ENGINE_SETTINGS_H
#define TKBUNDLE_ENGINE_SETTINGS_H

#include <stdbool.h>

#include <tkbundle/engine.h>

#include "cli/args.h"

/*
 * The variables that `run` sets for an engine's command: a place for each
 * cache, and those that give it the same keys on every machine. What the user
 * has set stays.
 */
enum {
	ENGINE_PATH_SIZE = 4096
};

/*
 * The folder for caches that the user has not placed: below the user's cache
 * folder, or a temporary one if that cannot be written.
 *
 * @param is_made  make it if it does not exist
 */
bool engine_settings_base(bool is_made, char out[ENGINE_PATH_SIZE]);

/*
 * Gets each variable in turn. Both texts hold until it returns.
 *
 * @param value  to be set, or NULL: it is left alone
 * @param why    the reason for that
 */
struct engine_settings_visitor {
	void (*visit)(void *self, const char *name, const char *value,
	              const char *why);
	void *self;
};

/* What decides, beside the profile and the environment. */
struct engine_settings_case {
	const struct arguments
		*args;    /* operands: the command, if one is there */
	const char *base; /* the folder for caches not placed */
	bool has_remote;  /* one that other machines may share */
};

/* Visit the variables of `engine`. */
void engine_settings_list(const struct tkb_engine *engine,
                          const struct engine_settings_case *where,
                          const struct engine_settings_visitor *visitor);

#endif
