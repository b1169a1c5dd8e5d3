/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/pool/variables.h"

#include <stdlib.h>
#include <string.h>

struct tkb_variable {
	char *name;  /* owned; NULL: out of memory */
	char *value; /* owned; NULL: was not set */
};

static int change_variable(const char *text, struct tkb_variable *out,
                           struct tkb_error *err)
{
	const size_t length = strcspn(text, "=");
	const char *old;
	int failed;

	out->name = strndup(text, length);
	if (out->name == NULL)
		return tkb_fail_nomem(err);
	old = getenv(out->name);
	out->value = old == NULL ? NULL : strdup(old);
	if (old != NULL && out->value == NULL) {
		free(tkb_take(out->name)); /* not changed yet */
		return tkb_fail_nomem(err);
	}
	if (text[length] == '=')
		failed = setenv(out->name, text + length + 1, 1);
	else
		failed = unsetenv(out->name);
	return failed ? tkb_fail_errno(err, "cannot set '%s'", out->name) : 0;
}

int tkb_variables_set(struct tkb_variables *variables, struct tkb_bytes texts,
                      struct tkb_error *err)
{
	int rc;

	for (size_t at = 0; at < texts.size;) {
		const char *text = (const char *)texts.data + at;

		rc = tkb_grow(&variables->items, &variables->capacity,
		              variables->count, sizeof(*variables->items), err);
		if (rc < 0)
			return rc;
		variables->items[variables->count] = (struct tkb_variable){ 0 };
		rc = change_variable(text, &variables->items[variables->count],
		                     err);
		variables->count++;
		if (rc < 0)
			return rc;
		at += strlen(text) + 1;
	}
	return 0;
}

/* Restore in reverse order: a name may have been set twice. */
int tkb_variables_put_back(struct tkb_variables *variables,
                           struct tkb_error *err)
{
	int failed = 0;

	for (size_t i = variables->count; i > 0; i--) {
		struct tkb_variable *item = &variables->items[i - 1];

		if (item->name != NULL && item->value != NULL)
			failed |= setenv(item->name, item->value, 1);
		else if (item->name != NULL)
			failed |= unsetenv(item->name);
		free(item->name);
		free(item->value);
	}
	free(variables->items);
	*variables = (struct tkb_variables){ 0 };
	return failed ? tkb_fail_errno(err, "cannot put a variable back") : 0;
}
