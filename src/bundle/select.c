/* SPDX-License-Identifier: Apache-2.0 */
#include "bundle/select.h"

#include <string.h>

int tkb_select_key(const void *list, size_t count,
                   const char *(*key_at)(const void *list, size_t index),
                   const char *prefix, size_t *out, struct tkb_error *err)
{
	const size_t length = strlen(prefix);
	size_t found = count;

	if (length == 0)
		return tkb_fail(err, TKB_ERR_INVALID, "the key is empty");
	for (size_t i = 0; i < count; i++) {
		const char *key = key_at(list, i);

		if (strncmp(key, prefix, length) != 0)
			continue;
		if (found != count && strcmp(key, key_at(list, found)) != 0)
			return tkb_fail(err, TKB_ERR_INVALID,
			                "several keys begin with '%s': '%s', "
			                "'%s'",
			                prefix, key_at(list, found), key);
		if (found == count)
			found = i;
	}
	if (found == count) {
		(void)tkb_fail(err, TKB_MISS, "no key begins with '%s'",
		               prefix);
		return TKB_MISS;
	}
	*out = found;
	return 0;
}
