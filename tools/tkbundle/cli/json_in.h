/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_JSON_IN_H
#define TKBUNDLE_JSON_IN_H

#include <jansson.h>

#include "cli/text.h"

/*
 * The text of a member; "" if the object has no such member or it is not a
 * text.
 */
static inline const char *json_in_text(const json_t *object, const char *name)
{
	return text_or_empty(json_string_value(json_object_get(object, name)));
}

#endif
