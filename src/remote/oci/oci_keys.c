/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/net/secret.h"
#include "remote/oci/oci_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/net/base64.h"

enum {
	SECRET_LIMIT = 256 * 1024
};

void tkb_oci_keys_release(struct tkb_oci_keys *keys)
{
	tkb_secret_text_release(&keys->basic);
	tkb_secret_text_release(&keys->identity);
}

void tkb_oci_auth_release(struct tkb_oci_auth *auth)
{
	tkb_oci_keys_release(&auth->keys);
	tkb_secret_text_release(&auth->line);
}

int tkb_oci_keys_set(struct tkb_oci_keys *keys, const char *user,
                     const char *password, struct tkb_error *err)
{
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf plain = TKB_BUF_INIT(SECRET_LIMIT);
	TKB_AUTO(tkb_secret_release)
	struct tkb_buf text = TKB_BUF_INIT(SECRET_LIMIT * 2);
	int rc;

	tkb_print(&plain, "%s:%s", user, password);
	rc = tkb_buf_check(&plain, err);
	if (rc < 0)
		return rc;
	tkb_base64_add(tkb_buf_bytes(&plain), &text);
	tkb_buf_add_byte(&text, '\0');
	rc = tkb_buf_check(&text, err);
	if (rc < 0)
		return rc;
	tkb_secret_text_release(&keys->basic);
	keys->basic = (char *)tkb_take(text.data);
	return 0;
}

int tkb_oci_auth_set(struct tkb_oci_auth *auth, const char *kind,
                     const char *value, struct tkb_error *err)
{
	const size_t size =
		strlen("Authorization:  ") + strlen(kind) + strlen(value) + 1;
	char *line = malloc(size);

	if (line == NULL)
		return tkb_fail_nomem(err);
	(void)snprintf(line, size, "Authorization: %s %s", kind, value);
	tkb_secret_text_release(&auth->line);
	auth->line = line;
	return 0;
}
