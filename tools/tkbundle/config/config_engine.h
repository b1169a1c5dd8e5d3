/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_CONFIG_ENGINE_H
#define TKBUNDLE_CONFIG_ENGINE_H

#include <stdbool.h>

#include "cli/args.h"
#include "cli/cli.h"

/*
 * Print the profile of each engine of --engine, and its effect on this machine,
 * as lines or in the document. Nothing is created or changed.
 *
 * @param has_remote  the configuration names one
 */
enum status config_engine_show(struct cli *cli, const struct arguments *args,
                               bool has_remote);

#endif
