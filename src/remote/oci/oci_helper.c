/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "remote/net/helper.h"
#include "remote/net/secret.h"
#include "remote/oci/oci_keys.h"
#include "text/json_walk.h"

/*
 * Credential helpers: docker-credential-<name> gets "get" as its argument and
 * the registry's name on its standard input, and prints JSON.
 */

enum {
	ANSWER_LIMIT = 256 * 1024,
	NAME_SIZE = 300
};

struct answer {
	struct tkb_buf user;
	struct tkb_buf secret;
};

static void answer_release(struct answer *answer)
{
	tkb_secret_release(&answer->user);
	tkb_secret_release(&answer->secret);
}

static int take_helper_value(void *self, const char *path,
                             enum tkb_json_type type, const char *value,
                             struct tkb_error *err)
{
	struct answer *answer = self;
	struct tkb_buf *to = strcmp(path, "Username") == 0 ? &answer->user
	                     : strcmp(path, "Secret") == 0 ? &answer->secret
	                                                   : NULL;

	if (to == NULL || type != TKB_JSON_STRING)
		return 0;
	tkb_buf_reset(to);
	tkb_buf_add_text(to, value);
	tkb_buf_add_byte(to, '\0');
	return tkb_buf_check(to, err);
}

static int use_answer(struct tkb_bytes text, const char *program,
                      struct tkb_oci_keys *out, struct tkb_error *err)
{
	TKB_AUTO(answer_release)
	struct answer answer = { TKB_BUF_INIT(ANSWER_LIMIT),
		                 TKB_BUF_INIT(ANSWER_LIMIT) };
	const struct tkb_json_walker walker = { take_helper_value, &answer };
	int rc;

	rc = tkb_json_walk(text, &walker, NULL);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (rc < 0 || answer.user.size == 0 || answer.secret.size == 0)
		return tkb_fail(err, TKB_ERR_DENIED,
		                "the output of '%.200s' is not a user and a "
		                "secret",
		                program);
	if (strcmp((const char *)answer.user.data, "<token>") == 0) {
		out->identity = (char *)tkb_take(answer.secret.data);
		return 0;
	}
	return tkb_oci_keys_set(out, (const char *)answer.user.data,
	                        (const char *)answer.secret.data, err);
}

/* A credential file must not name a program by a path, or a hidden one. */
static bool is_helper_name(const char *name)
{
	return name[0] != '\0' && name[0] != '.' && strlen(name) < 200 &&
	       name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                         "abcdefghijklmnopqrstuvwxyz0123456789._-")] ==
	               '\0';
}

int tkb_oci_helper_ask(const char *name, const char *registry,
                       const struct tkb_op_limits *limits,
                       struct tkb_oci_keys *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf text = TKB_BUF_INIT(ANSWER_LIMIT);
	char program[NAME_SIZE];
	const char *const argv[] = { program, "get", NULL };
	int rc;

	if (!is_helper_name(name))
		return tkb_fail(err, TKB_ERR_DENIED,
		                "'%.80s' is not the name of a credential "
		                "helper",
		                name);
	(void)snprintf(program, sizeof(program), "docker-credential-%s", name);
	rc = tkb_helper_run(argv, program, registry, limits, &text, err);
	return rc == 0 ? use_answer(tkb_buf_bytes(&text), program, out, err)
	               : rc;
}
