/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_URL_H
#define TKB_REMOTE_URL_H

/*
 * The URL of a remote: scheme://[user[:password]@][host[:port]][/path][?query],
 * RFC 3986; or a path, which is a file URL.
 */

#include <tkbundle/remote_backend.h>

#include "base/arena.h"
#include "base/base.h"

struct tkb_url {
	struct tkb_arena arena; /* owns the texts */
	struct tkb_remote_url place;
};

void tkb_url_release(struct tkb_url *url);

/*
 * Take `text` apart. Returns 0, TKB_ERR_INVALID or TKB_ERR_NOMEM. No message
 * holds what may be a password.
 */
TKB_NODISCARD int tkb_url_parse(const char *text, struct tkb_url *out,
                                struct tkb_error *err);

#endif
