/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_REMOTE_OCI_OCI_KEYS_H
#define TKB_REMOTE_OCI_OCI_KEYS_H

/*
 * Credentials for a registry. They are only sent once it asks for them by a 401:
 * with "Basic" it wants a user and a password; with "Bearer" it names a server that
 * gives tokens, for a user and a password or to anybody.
 *
 * They come from the URL, else from the first of these files that has some for the
 * registry, or that names a program which has (docker-credential-...):
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

/* Set them to a user and a password. */
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
	bool is_looked_for;       /* the credentials were searched for */
	struct tkb_oci_keys keys; /* the credentials */
	char *line;               /* owned; "Authorization: ...", as sent */
	bool is_bearer;
	bool is_new;                    /* this operation got the token */
	uint64_t expires_ns;            /* when the token ends; 0: never */
	char scope[TKB_OCI_SCOPE_SIZE]; /* all that was asked for so far */
	char also[TKB_OCI_SCOPE_SIZE];  /* of other repositories */
	char realm[TKB_OCI_SCOPE_SIZE];
	char service[TKB_OCI_SCOPE_SIZE];
};

void tkb_oci_auth_release(struct tkb_oci_auth *auth);

/* From now on, send "Authorization: <kind> <value>". */
TKB_NODISCARD int tkb_oci_auth_set(struct tkb_oci_auth *auth, const char *kind,
                                   const char *value, struct tkb_error *err);

#endif
