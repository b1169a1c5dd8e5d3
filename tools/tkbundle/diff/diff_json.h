/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_DIFF_JSON_H
#define TKBUNDLE_DIFF_JSON_H

#include "diff/diff_cubins.h"
#include "cli/json_out.h"

/* Add "only_a", "only_b" and "differ" to the open object. */
void diff_json(struct json_out *json, const struct diff *diff,
               const struct diff_cubins *cubins);

#endif
