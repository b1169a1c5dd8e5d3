/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_LIMITS_H
#define TKBUNDLE_LIMITS_H

#include "doctor/machine/finding.h"

/*
 * What the control group of this process may use of the machine's cores and memory:
 * the least of all groups that it is in.
 */
void limits_print(struct cli *cli, bool is_json, struct findings *findings);

#endif
