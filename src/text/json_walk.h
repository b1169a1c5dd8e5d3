/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TEXT_JSON_WALK_H
#define TKB_TEXT_JSON_WALK_H

/*
 * Calls a function for each value of a JSON document, with the value's path. In
 *
 *     {"annotations":{"a":"b"},"tags":["v1"]}
 *
 * the path of the string b is "annotations/a", and that of each tag is "tags/"
 * and a star. This suits foreign documents of which only a few members are
 * needed.
 */

#include "text/json.h"

struct tkb_json_walker {
	/*
	 * @param path   the names of members, and a star for an item of an array,
	 *               with slashes between
	 * @param type   TKB_JSON_STRING, TKB_JSON_NUMBER, or TKB_JSON_WORD
	 * @param value  decoded; up to its first zero byte
	 */
	int (*on_value)(void *self, const char *path, enum tkb_json_type type,
	                const char *value, struct tkb_error *err);
	void *self;
};

/*
 * Returns 0, TKB_ERR_CORRUPT (it is no JSON), TKB_ERR_TOO_LARGE (one value, or
 * its path, is unreasonably long), TKB_ERR_NOMEM, or the result of on_value().
 */
TKB_NODISCARD int tkb_json_walk(struct tkb_bytes text,
                                const struct tkb_json_walker *walker,
                                struct tkb_error *err);

#endif
