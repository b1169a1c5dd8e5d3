/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_AUTHORITIES_H
#define TKB_REMOTE_NET_AUTHORITIES_H

/*
 * Where the certificates of the authorities are that TLS trusts: what the URL
 * names, or a variable, or libcurl's own place, or one where a distribution
 * keeps them. A libcurl that is linked statically was built elsewhere, and
 * knows no place of this machine.
 */

#include <tkbundle/remote.h>

#include "base/base.h"

struct tkb_authorities {
	/* Both NULL: libcurl's own place, or none at all. Borrowed of the URL
	   or the environment. */
	const char *file;
	const char *folder;
	bool is_none;
	char text[TKB_AUTHORITIES_SIZE]; /* what follows "TLS trusts" */
};

/* Choose them for a connection to the URL's server. */
void tkb_authorities_find(const struct tkb_remote_url *url,
                          struct tkb_authorities *out);

/* The same for another server, such as a proxy: the URL's `cafile` is ignored. */
void tkb_authorities_find_general(const struct tkb_remote_url *url,
                                  struct tkb_authorities *out);

/* Are they needed? Only if the URL has TLS, and certificates are checked. */
bool tkb_authorities_are_asked(const struct tkb_remote_url *url);

#endif
