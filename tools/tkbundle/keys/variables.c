/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/variables.h"

#include <string.h>

#include <tkbundle/tree.h>
#include <tkbundle/triton_compile.h>

const char *key_variable_of_triton(size_t index)
{
	const struct tkb_triton_variable *found;

	for (size_t i = 0; (found = tkb_triton_variable(i)) != NULL; i++) {
		if (found->is_in_newest && index-- == 0)
			return found->name;
	}
	return NULL;
}

bool key_variable_is_of_triton(const char *name)
{
	const char *found;

	for (size_t i = 0; (found = key_variable_of_triton(i)) != NULL; i++) {
		if (strcmp(found, name) == 0)
			return true;
	}
	return false;
}

bool key_variable_is_secret(const char *name, const char *value)
{
	return tkb_secret_name(name) ||
	       (strstr(value, "://") != NULL && strchr(value, '@') != NULL);
}
