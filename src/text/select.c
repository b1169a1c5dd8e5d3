/* SPDX-License-Identifier: Apache-2.0 */
#include "text/select.h"

#include <string.h>

/*
 * The two smallest matching keys, so that the message does not depend on the
 * order in which a folder is listed.
 */
struct matches {
	const char *first;
	const char *second;
	size_t index; /* of the first */
};

static void add_match(struct matches *matches, const char *key, size_t index)
{
	const int order =
		matches->first == NULL ? -1 : strcmp(key, matches->first);

	if (order < 0) {
		matches->second = matches->first;
		matches->first = key;
		matches->index = index;
	} else if (order > 0 && (matches->second == NULL ||
	                         strcmp(key, matches->second) < 0)) {
		matches->second = key;
	}
}

int tkb_select_key(const void *list, size_t count,
                   const char *(*key_at)(const void *list, size_t index),
                   const char *prefix, size_t *out, struct tkb_error *err)
{
	const size_t length = strlen(prefix);
	struct matches matches = { 0 };

	if (length == 0)
		return tkb_fail(err, TKB_ERR_INVALID, "the key is empty");
	for (size_t i = 0; i < count; i++) {
		const char *key = key_at(list, i);

		if (strncmp(key, prefix, length) == 0)
			add_match(&matches, key, i);
	}
	if (matches.second != NULL)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "several keys begin with '%s': '%s', '%s'",
		                prefix, matches.first, matches.second);
	if (matches.first == NULL)
		return TKB_MISS;
	*out = matches.index;
	return 0;
}
