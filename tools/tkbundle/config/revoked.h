/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_REVOKED_H
#define TKBUNDLE_REVOKED_H

#include <tkbundle/maintain.h>

#include "config/remote_use.h"

/*
 * Find the entries of the cache `root` that were pulled from something that is
 * revoked now, by the policy and the remote's list. Returns like tkb_revoked()
 * and tkb_origins_open().
 */
TKB_NODISCARD int revoked_find(const struct remote_use *use, const char *root,
                               struct tkb_origins **out, struct tkb_error *err);

/*
 * The same with the configured remote, which is opened here.
 *
 * @return STATUS_DONE, or another status after printing why
 */
enum status revoked_open(struct cli *cli, const struct arguments *args,
                         const char *root, struct tkb_origins **out);

/* For TKB_AUTO. */
void revoked_close(struct tkb_origins **origins);

#endif
