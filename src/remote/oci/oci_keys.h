/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_OCI_OCI_KEYS_H
#define TKB_REMOTE_OCI_OCI_KEYS_H

/*
 * What a registry wants to know of us. Nothing is sent before it asks: a 401 says
 * "Basic", and gets a user and a password, or "Bearer", and names a server that
 * gives tokens for them, or for nothing.
 *
 * Credentials are the URL's, else the first that one of these files has for the
 * registry, or the program that it names (docker-credential-...):
 *
 *     $REGISTRY_AUTH_FILE
 *     $XDG_RUNTIME_DIR/containers/auth.json
 *     $DOCKER_CONFIG/config.json, or ~/.docker/config.json
 */

#include "base/buf.h"
#include "remote/net/http_request.h"

enum {
	TKB_OCI_SCOPE_SIZE = 1024,
	TKB_OCI_CHALLENGE_SIZE = 4096
};

/* Owned, and wiped on release. */
struct tkb_oci_keys {
	char *basic;    /* "user:password" in base64; NULL: none */
	char *identity; /* a token that gives tokens; NULL: none */
};

void tkb_oci_keys_release(struct tkb_oci_keys *keys);

/* Of "user:password". */
TKB_NODISCARD int tkb_oci_keys_set(struct tkb_oci_keys *keys, const char *user,
                                   const char *password, struct tkb_error *err);

/*
 * Look for those of the registry "host:port", or of its repository
 * "team/kernels". Leaves `out` empty where there are none. Returns 0,
 * TKB_ERR_DENIED (a file or a program that cannot be used), TKB_ERR_NOMEM, or
 * what tkb_op_limits_check() returns.
 */
TKB_NODISCARD int tkb_oci_keys_find(const char *registry,
                                    const char *repository,
                                    const struct tkb_op_limits *limits,
                                    struct tkb_oci_keys *out,
                                    struct tkb_error *err);

/*
 * Ask docker-credential-<name> for those of `registry`. TKB_MISS: it has none.
 */
TKB_NODISCARD int tkb_oci_helper_ask(const char *name, const char *registry,
                                     const struct tkb_op_limits *limits,
                                     struct tkb_oci_keys *out,
                                     struct tkb_error *err);

struct tkb_oci_auth {
	bool is_looked_for;       /* the credentials were */
	struct tkb_oci_keys keys; /* they */
	char *line;               /* owned; "Authorization: ...", as sent */
	bool is_bearer;
	bool is_new;                    /* the token is of this operation */
	uint64_t expires_ns;            /* when the token ends; 0: never */
	char scope[TKB_OCI_SCOPE_SIZE]; /* all that was asked for so far */
	char also[TKB_OCI_SCOPE_SIZE];  /* of other repositories */
	char realm[TKB_OCI_SCOPE_SIZE];
	char service[TKB_OCI_SCOPE_SIZE];
};

void tkb_oci_auth_release(struct tkb_oci_auth *auth);

/* Send from now on "Authorization: <kind> <value>". */
TKB_NODISCARD int tkb_oci_auth_set(struct tkb_oci_auth *auth, const char *kind,
                                   const char *value, struct tkb_error *err);

#endif
