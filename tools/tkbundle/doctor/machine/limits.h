/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_LIMITS_H
#define TKBUNDLE_LIMITS_H

#include "doctor/machine/finding.h"

/*
 * The cores and memory that the control groups of this process allow: the
 * smallest limit of all groups that it is in.
 */
void limits_print(struct cli *cli, struct findings *findings);

#endif
