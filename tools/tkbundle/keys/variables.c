/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/variables.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <tkbundle/tree.h>
#include <tkbundle/triton_compile.h>

#include "cli/cli.h"
#include "config/profiles.h"

const char *key_variable_next_of_triton(size_t *at)
{
	const struct tkb_triton_variable *variable;

	do {
		variable = tkb_triton_variable((*at)++);
	} while (variable != NULL && !variable->is_in_newest);
	return variable != NULL ? variable->name : NULL;
}

void key_variables_load(struct key_variables *out)
{
	TKB_AUTO(profile_names_release) struct profile_names names = { 0 };

	profiles_list(&names);
	if (names.count > 1)
		qsort(names.items, names.count, sizeof(*names.items),
		      profile_names_compare);
	out->engines = calloc(names.count + 1, sizeof(*out->engines));
	for (size_t i = 0; i < names.count && out->engines != NULL; i++) {
		if (profile_open(names.items[i], NULL,
		                 &out->engines[out->count], NULL) == 0)
			out->count++;
	}
}

void key_variables_release(struct key_variables *variables)
{
	for (size_t i = 0; i < variables->count; i++)
		tkb_engine_close(variables->engines[i]);
	free(variables->engines);
}

/* Use the first pattern of an engine that matches the name. */
static bool find_of(const struct tkb_engine *engine, const char *name,
                    struct key_variable *out)
{
	for (size_t i = 0; i < tkb_engine_variable_count(engine); i++) {
		const struct tkb_engine_variable *const item =
			tkb_engine_variable(engine, i);

		if (fnmatch(item->name, name, 0) != 0)
			continue;
		*out = (struct key_variable){ tkb_engine_name(engine),
			                      tkb_engine_package(engine),
			                      item->before };
		return strcmp(item->before, "0") != 0;
	}
	return false;
}

bool key_variable_find(const struct key_variables *variables, const char *name,
                       struct key_variable *out)
{
	for (size_t i = 0; i < variables->count; i++) {
		if (find_of(variables->engines[i], name, out))
			return true;
	}
	*out = (struct key_variable){ "triton", "triton", "" };
	for (size_t at = 0;;) {
		const char *const of_triton = key_variable_next_of_triton(&at);

		if (of_triton == NULL || strcmp(of_triton, name) == 0)
			return of_triton != NULL;
	}
}

bool key_variable_is_secret(const char *name, const char *value)
{
	return tkb_name_is_secret(name) ||
	       (strstr(value, "://") != NULL && strchr(value, '@') != NULL);
}
