/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_URL_H
#define TKB_REMOTE_NET_URL_H

/* What backends read in a URL's parameters. */

#include <tkbundle/remote_backend.h>

#include "base/base.h"

/* For TKB_AUTO. */
static inline void tkb_url_free_at(struct tkb_remote_url **url)
{
	tkb_remote_url_free(*url);
}

/*
 * The parameter `name`, which is 'true' or 'false'; without it `*in_out` stays.
 * Returns 0 or TKB_ERR_INVALID.
 */
TKB_NODISCARD int tkb_url_choice(const struct tkb_remote_url *url,
                                 const char *name, bool *in_out,
                                 struct tkb_error *err);

/*
 * Do the URL's parameters for TLS (cafile, cert, key, server-name, verify) make
 * sense? Where the connection is in the clear, there must be none: what is meant
 * to protect must not be ignored. `tls_scheme` is named then. Returns 0 or
 * TKB_ERR_INVALID.
 */
TKB_NODISCARD int tkb_url_check_tls(const struct tkb_remote_url *url,
                                    bool has_tls, const char *tls_scheme,
                                    struct tkb_error *err);

#endif
