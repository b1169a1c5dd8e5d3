/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_NET_AUTHORITIES_H
#define TKB_REMOTE_NET_AUTHORITIES_H

/*
 * Finds the CA certificates that TLS trusts. They are named by the URL or a
 * variable, or are at libcurl's default path, or where a distribution keeps
 * them. The last is needed for a statically linked libcurl, whose default path
 * comes from another machine.
 */

#include <tkbundle/remote.h>

#include "base/base.h"

struct tkb_authorities {
	/*
	 * Borrowed from the URL or the environment. If both are NULL, libcurl's
	 * default path is used, or there are no certificates.
	 */
	const char *file;
	const char *folder;
	bool is_none;
	char text[TKB_AUTHORITIES_SIZE]; /* text after "TLS trusts" in
	                                    messages */
};

/* Find the certificates for a connection to the URL's server. */
void tkb_authorities_find(const struct tkb_remote_url *url,
                          struct tkb_authorities *out);

/* The same for another server, such as a proxy: the URL's `cafile` is ignored. */
void tkb_authorities_find_general(const struct tkb_remote_url *url,
                                  struct tkb_authorities *out);

#endif
