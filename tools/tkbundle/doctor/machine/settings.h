/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SETTINGS_H
#define TKBUNDLE_SETTINGS_H

#include "doctor/machine/finding.h"
#include "doctor/machine/versions.h"

/*
 * The variables that are set here and are part of keys, according to the
 * profiles of engines. Secrets are not shown: values of variables with a secret
 * name, and URLs with a password.
 */
void settings_print(const struct versions *versions, struct cli *cli,
                    struct findings *findings);

#endif
