/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_DETACHED_H
#define TKBUNDLE_DETACHED_H

#include "cli/args.h"
#include "cli/cli.h"

/*
 * Hold the bundle in the file `path` against the policy of args and the signature in
 * `path`.minisig, before anything of it is read otherwise. Who has signed it is printed,
 * and added to the document as "signer".
 */
enum status detached_check(struct cli *cli, const struct arguments *args,
                           const char *path);

#endif
