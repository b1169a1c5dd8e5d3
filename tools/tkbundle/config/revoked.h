/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REVOKED_H
#define TKBUNDLE_REVOKED_H

#include <tkbundle/maintain.h>

#include "config/remote_use.h"

/*
 * Which entries of the cache `root` come from something that the remote's list
 * revokes, under the policy.
 *
 * @return STATUS_DONE, or why not, which has been said
 */
enum status revoked_open(struct cli *cli, const struct arguments *args,
                         const char *root, struct tkb_origins **out);

/* For TKB_AUTO. */
void revoked_close(struct tkb_origins **origins);

#endif
