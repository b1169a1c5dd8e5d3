/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REVOKED_H
#define TKBUNDLE_REVOKED_H

#include <tkbundle/maintain.h>

#include "config/remote_use.h"

/*
 * Which entries of the cache `root` come from something that the remote's list
 * revokes, under the policy. Returns as tkb_revoked() and tkb_origins_open() do.
 */
TKB_NODISCARD int revoked_find(const struct remote_use *use, const char *root,
                               struct tkb_origins **out, struct tkb_error *err);

/*
 * The same of the configured remote, which is opened for that.
 *
 * @return STATUS_DONE, or why not, which has been said
 */
enum status revoked_open(struct cli *cli, const struct arguments *args,
                         const char *root, struct tkb_origins **out);

/* For TKB_AUTO. */
void revoked_close(struct tkb_origins **origins);

#endif
