/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "remote/oci/oci.h"

/* The header WWW-Authenticate, with which a registry requests credentials. */

/* Find what follows "Bearer " or "Basic " in the challenge; NULL if absent. */
static const char *find_kind(const char *challenge, const char *kind)
{
	const size_t size = strlen(kind);

	for (const char *at = challenge; *at != '\0'; at++) {
		const bool is_start =
			at == challenge || at[-1] == ' ' || at[-1] == ',';

		if (is_start && strncasecmp(at, kind, size) == 0 &&
		    (at[size] == ' ' || at[size] == '\0' || at[size] == ','))
			return at + size;
	}
	return NULL;
}

/* Read the value of name="value". */
static void read_value(const char *text, const char *name, char *out,
                       size_t size)
{
	const size_t length = strlen(name);
	size_t used = 0;

	out[0] = '\0';
	for (; text != NULL && *text != '\0'; text++) {
		const bool is_start = text[-1] == ' ' || text[-1] == ',';

		if (is_start && strncasecmp(text, name, length) == 0 &&
		    text[length] == '=' && text[length + 1] == '"')
			break;
	}
	if (text == NULL || *text == '\0')
		return;
	for (text += length + 2; *text != '\0' && *text != '"'; text++) {
		if (used + 1 == size) {
			out[0] = '\0';
			return;
		}
		out[used++] = *text;
	}
	out[used] = '\0';
}

/* Is `word` (`size` bytes) in the comma-separated `list`? */
static bool has_scope_word(const char *list, const char *word, size_t size)
{
	while (*list != '\0') {
		const size_t length = strcspn(list, ",");

		if (length == size && memcmp(list, word, size) == 0)
			return true;
		list += length + (list[length] == ',');
	}
	return false;
}

/*
 * Add the rights of another scope to the scope: rights needed before will be
 * needed again. False: nothing is new.
 */
static bool widen_scope(const struct tkb_oci *oci,
                        char scope[TKB_OCI_SCOPE_SIZE], const char *wanted)
{
	char start[TKB_OCI_SCOPE_SIZE];
	const size_t size = (size_t)snprintf(start, sizeof(start),
	                                     "repository:%s:", oci->repository);
	const char *at;
	bool is_wider = false;

	if (scope[0] == '\0' || strncmp(scope, start, size) != 0 ||
	    strncmp(wanted, start, size) != 0) {
		is_wider = strcmp(scope, wanted) != 0;
		(void)snprintf(scope, TKB_OCI_SCOPE_SIZE, "%s", wanted);
		return is_wider;
	}
	for (at = wanted + size; *at != '\0';) {
		const size_t length = strcspn(at, ",");
		const size_t used = strlen(scope);

		if (!has_scope_word(scope + size, at, length) &&
		    used + length + 2 <= TKB_OCI_SCOPE_SIZE) {
			(void)snprintf(scope + used, TKB_OCI_SCOPE_SIZE - used,
			               ",%.*s", (int)length, at);
			is_wider = true;
		}
		at += length + (at[length] == ',');
	}
	return is_wider;
}

static int look_for_keys(struct tkb_oci *oci,
                         const struct tkb_op_limits *limits,
                         struct tkb_error *err)
{
	struct tkb_oci_auth *auth = &oci->auth;
	const struct tkb_remote_url *url = oci->url;
	int rc;

	if (auth->is_looked_for)
		return 0;
	if (url->has_user || url->has_password)
		rc = tkb_oci_keys_set(&auth->keys, url->user, url->password,
		                      err);
	else
		rc = tkb_oci_keys_find(oci->registry, oci->repository, limits,
		                       &auth->keys, err);
	auth->is_looked_for = rc == 0;
	return rc;
}

static void add_part(char scope[TKB_OCI_SCOPE_SIZE], const char *part,
                     size_t size)
{
	const size_t used = strlen(scope);

	if (used + size + 2 <= TKB_OCI_SCOPE_SIZE)
		(void)snprintf(scope + used, TKB_OCI_SCOPE_SIZE - used,
		               "%s%.*s", used == 0 ? "" : " ", (int)size, part);
}

/*
 * A scope may name several repositories, separated by blanks: ours, and the one
 * that blobs are mounted from. A single one is taken for ours, whatever its name.
 */
static void split_scope(const struct tkb_oci *oci, const char *wanted,
                        char own[TKB_OCI_SCOPE_SIZE],
                        char also[TKB_OCI_SCOPE_SIZE])
{
	char start[TKB_OCI_SCOPE_SIZE];
	const size_t size = (size_t)snprintf(start, sizeof(start),
	                                     "repository:%s:", oci->repository);

	own[0] = '\0';
	also[0] = '\0';
	for (const char *at = wanted; *at != '\0';) {
		const size_t length = strcspn(at, " ");
		const bool is_own =
			wanted[length] == '\0' || strncmp(at, start, size) == 0;

		if (length != 0)
			add_part(is_own ? own : also, at, length);
		at += length + (at[length] == ' ');
	}
}

/* Add the rights of a scope. False: nothing is new. */
static bool add_scope(struct tkb_oci *oci, const char *wanted)
{
	struct tkb_oci_auth *auth = &oci->auth;
	char own[TKB_OCI_SCOPE_SIZE];
	char also[TKB_OCI_SCOPE_SIZE];
	bool is_wider;

	split_scope(oci, wanted, own, also);
	is_wider = widen_scope(oci, auth->scope, own);
	if (also[0] == '\0' || strcmp(also, auth->also) == 0)
		return is_wider;
	memcpy(auth->also, also, sizeof(also));
	return true;
}

void tkb_oci_auth_forget_mount(struct tkb_oci *oci)
{
	oci->mount = NULL;
	oci->auth.also[0] = '\0';
}

static int answer_bearer(struct tkb_oci *oci,
                         const struct tkb_op_limits *limits,
                         const char *challenge, struct tkb_error *err)
{
	struct tkb_oci_auth *auth = &oci->auth;
	char scope[TKB_OCI_SCOPE_SIZE];
	const bool has_token = auth->line != NULL && auth->is_bearer;
	bool is_wider;

	read_value(challenge, "realm", auth->realm, sizeof(auth->realm));
	read_value(challenge, "service", auth->service, sizeof(auth->service));
	read_value(challenge, "scope", scope, sizeof(scope));
	is_wider = add_scope(oci, scope);
	/* A token for this scope was refused a moment ago. */
	if (has_token && !is_wider && auth->is_new)
		return TKB_MISS;
	auth->is_new = true;
	return tkb_oci_auth_token(oci, limits, err);
}

int tkb_oci_auth_answer(struct tkb_oci *oci, const struct tkb_op_limits *limits,
                        const char *challenge, struct tkb_error *err)
{
	struct tkb_oci_auth *auth = &oci->auth;
	const char *bearer = find_kind(challenge, "Bearer");
	int rc;

	rc = look_for_keys(oci, limits, err);
	if (rc < 0)
		return rc;
	if (bearer != NULL)
		return answer_bearer(oci, limits, bearer, err);
	if (find_kind(challenge, "Basic") == NULL)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "it wants credentials, but does not say "
		                "which: HTTP 401");
	if (auth->keys.basic == NULL)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "it wants a user and a password, and there are "
		                "none for it (docker login, or podman login)");
	if (auth->line != NULL)
		return TKB_MISS;
	return tkb_oci_auth_set(auth, "Basic", auth->keys.basic, err);
}
