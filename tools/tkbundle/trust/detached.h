/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_DETACHED_H
#define TKBUNDLE_DETACHED_H

#include "cli/args.h"
#include "cli/cli.h"

/*
 * Check that the policy of args trusts the bundle in the file `path` by the
 * signature in `path`.minisig, before the bundle is parsed. Print who signed it, and
 * add that to the document as "signer".
 */
enum status detached_check(struct cli *cli, const struct arguments *args,
                           const char *path);

#endif
