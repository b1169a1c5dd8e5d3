/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_USES_OUT_H
#define TKBUNDLE_USES_OUT_H

#include <stdio.h>

#include <tkbundle/maintain.h>

#include "cli/json_out.h"

/* Print the use of a cache's entries, as text and as JSON. */

/* Print each entry, in order of use, and how many were used. */
void uses_out_print(FILE *to, const struct tkb_uses *uses);

/* Add "uses" to the open object. */
void uses_out_json(struct json_out *json, const struct tkb_uses *uses);

#endif
