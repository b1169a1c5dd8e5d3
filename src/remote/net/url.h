/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_URL_H
#define TKB_REMOTE_NET_URL_H

/* Helpers for backends that read a URL's parameters. */

#include <tkbundle/remote_backend.h>

#include "base/base.h"
#include "base/buf.h"

/* Release function for TKB_AUTO. */
TKB_AUTO_POINTER(tkb_url_free_at, struct tkb_remote_url, tkb_remote_url_free)

/* Append "scheme://host:port" of the URL. */
void tkb_url_add_server(const struct tkb_remote_url *url, struct tkb_buf *out);

/*
 * Fail with TKB_ERR_INVALID: parameter `name` has a bad value, and must be
 * `wanted`.
 */
int tkb_url_refuse(const char *name, const char *wanted, const char *value,
                   struct tkb_error *err);

/*
 * Read the parameter `name`, 'true' or 'false'; if it is missing, `*in_out` is
 * unchanged. Returns 0 or TKB_ERR_INVALID.
 */
TKB_NODISCARD int tkb_url_choice(const struct tkb_remote_url *url,
                                 const char *name, bool *in_out,
                                 struct tkb_error *err);

/*
 * Check the URL's parameters for TLS: cafile, cert, key, server-name, verify.
 * Without TLS there must be none, since a parameter that is meant to protect
 * must not be ignored; the message then names `tls_scheme`. Returns 0 or
 * TKB_ERR_INVALID.
 */
TKB_NODISCARD int tkb_url_check_tls(const struct tkb_remote_url *url,
                                    bool has_tls, const char *tls_scheme,
                                    struct tkb_error *err);

/*
 * Is this registry (oci:// or oci+http://) reached by TLS? Like Docker, not if it is
 * on this machine, unless the URL has a parameter for TLS.
 */
bool tkb_url_registry_has_tls(const struct tkb_remote_url *url);

/*
 * Are CA certificates needed? Only with TLS, and if certificates are checked.
 */
bool tkb_url_asks_authorities(const struct tkb_remote_url *url);

#endif
