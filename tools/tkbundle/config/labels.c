/* SPDX-License-Identifier: Apache-2.0 */
#include "config/labels.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

int labels_read(const struct arguments *args, struct labels *out,
                struct tkb_error *err)
{
	const size_t count = args->labels.count;

	out->items = calloc(count + 1, sizeof(*out->items));
	if (out->items == NULL)
		return cli_error_nomem(err);
	for (size_t i = 0; i < count; i++) {
		const char *const text = args->labels.items[i];
		const char *const sign = strchr(text, '=');

		if (sign == NULL)
			return cli_error(err, TKB_ERR_INVALID,
			                 "'--label' wants NAME=VALUE, as "
			                 "commit=4f2a, not '%.100s'",
			                 text);
		out->items[i].name = strndup(text, (size_t)(sign - text));
		out->items[i].value = sign + 1;
		if (out->items[i].name == NULL)
			return cli_error_nomem(err);
		out->count++;
	}
	return 0;
}

void labels_release(struct labels *labels)
{
	for (size_t i = 0; i < labels->count; i++)
		free((char *)labels->items[i].name);
	free(labels->items);
}
