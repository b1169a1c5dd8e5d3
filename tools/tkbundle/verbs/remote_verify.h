/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REMOTE_VERIFY_H
#define TKBUNDLE_REMOTE_VERIFY_H

#include "cli/args.h"
#include "cli/cli.h"

/* Verify a remote, as `tkbundle verify --remote` does. */
enum status remote_verify_run(struct cli *cli, const struct arguments *args);

#endif
