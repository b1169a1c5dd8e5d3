/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_VARIABLES_H
#define TKBUNDLE_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>

/* Variables of the environment that enter keys. */

/* Variable `index` that enters Triton's keys, by name; NULL: there are no more. */
const char *key_variable_of_triton(size_t index);
bool key_variable_is_of_triton(const char *name);

/* Is its value kept secret, by its name, or as a URL with a password in it? */
bool key_variable_is_secret(const char *name, const char *value);

#endif
