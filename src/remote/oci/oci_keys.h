/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_OCI_OCI_KEYS_H
#define TKB_REMOTE_OCI_OCI_KEYS_H

/*
 * Credentials for a registry. They are sent only after the registry answers 401.
 * With "Basic" it wants a user and a password; with "Bearer" it names a server that
 * gives tokens, for a user and a password or to anybody.
 *
 * They come from the URL, or else from the first of these files that has
 * credentials for the registry, or that names a helper program which has them
 * (docker-credential-...):
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
	char *identity; /* a refresh token; NULL: none */
};

void tkb_oci_keys_release(struct tkb_oci_keys *keys);

/* Set the credentials to a user and a password. */
TKB_NODISCARD int tkb_oci_keys_set(struct tkb_oci_keys *keys, const char *user,
                                   const char *password, struct tkb_error *err);

/*
 * Find credentials for the registry "host:port", or for its repository
 * "team/kernels". If there are none, `out` stays empty. Returns 0,
 * TKB_ERR_DENIED (a file or a program that cannot be used), TKB_ERR_NOMEM, or
 * what tkb_op_limits_check() returns.
 */
TKB_NODISCARD int tkb_oci_keys_find(const char *registry,
                                    const char *repository,
                                    const struct tkb_op_limits *limits,
                                    struct tkb_oci_keys *out,
                                    struct tkb_error *err);

/*
 * Ask docker-credential-<name> for the credentials of `registry`. TKB_MISS: it
 * has none.
 */
TKB_NODISCARD int tkb_oci_helper_ask(const char *name, const char *registry,
                                     const struct tkb_op_limits *limits,
                                     struct tkb_oci_keys *out,
                                     struct tkb_error *err);

struct tkb_oci_auth {
	bool is_looked_for;       /* the credentials were searched for */
	struct tkb_oci_keys keys; /* the credentials */
	char *line;               /* owned; "Authorization: ...", as sent */
	bool is_bearer;
	bool is_new;                    /* the token was fetched in this
	                                   operation */
	uint64_t expires_ns;            /* when the token expires; 0: never */
	char scope[TKB_OCI_SCOPE_SIZE]; /* all rights that were needed so far */
	char also[TKB_OCI_SCOPE_SIZE];  /* for other repositories */
	char realm[TKB_OCI_SCOPE_SIZE];
	char service[TKB_OCI_SCOPE_SIZE];
};

void tkb_oci_auth_release(struct tkb_oci_auth *auth);

/* From now on, send "Authorization: <kind> <value>". */
TKB_NODISCARD int tkb_oci_auth_set(struct tkb_oci_auth *auth, const char *kind,
                                   const char *value, struct tkb_error *err);

#endif
