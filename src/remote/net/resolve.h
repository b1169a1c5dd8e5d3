/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_RESOLVE_H
#define TKB_REMOTE_NET_RESOLVE_H

/*
 * The addresses of a host. The system's resolver knows no deadline and cannot
 * be stopped, so it works in a thread of its own: one that hangs is left to
 * itself, with all that it needs, and cleans up when it comes back.
 */

#include <netdb.h>

#include <tkbundle/remote_backend.h>

#include "base/base.h"

/* For TKB_AUTO; NULL is released. */
void tkb_resolve_release(struct addrinfo **addresses);

/* Returns 0, TKB_ERR_UNAVAILABLE, TKB_ERR_CANCELLED or TKB_ERR_NOMEM. */
TKB_NODISCARD int tkb_resolve(const char *host, uint32_t port,
                              const struct tkb_op_limits *call,
                              struct addrinfo **out, struct tkb_error *err);

#endif
