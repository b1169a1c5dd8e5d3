/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_URL_H
#define TKB_REMOTE_NET_URL_H

/* What backends read in a URL's parameters. */

#include <tkbundle/remote_backend.h>

#include "base/base.h"
#include "base/buf.h"

/* For TKB_AUTO. */
TKB_AUTO_POINTER(tkb_url_free_at, struct tkb_remote_url, tkb_remote_url_free)

/* Append "scheme://host:port", as the URL has it. */
void tkb_url_add_server(const struct tkb_remote_url *url, struct tkb_buf *out);

/* Refuse the value of parameter `name`: TKB_ERR_INVALID, and what it wants. */
int tkb_url_refuse(const char *name, const char *wanted, const char *value,
                   struct tkb_error *err);

/*
 * The parameter `name`, which is 'true' or 'false'; without it `*in_out` stays.
 * Returns 0 or TKB_ERR_INVALID.
 */
TKB_NODISCARD int tkb_url_choice(const struct tkb_remote_url *url,
                                 const char *name, bool *in_out,
                                 struct tkb_error *err);

/*
 * Check the URL's parameters for TLS: cafile, cert, key, server-name, verify.
 * Without TLS there must be none, since what is meant to protect must not be
 * ignored; then the message names `tls_scheme`. Returns 0 or TKB_ERR_INVALID.
 */
TKB_NODISCARD int tkb_url_check_tls(const struct tkb_remote_url *url,
                                    bool has_tls, const char *tls_scheme,
                                    struct tkb_error *err);

#endif
