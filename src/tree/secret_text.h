/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_SECRET_TEXT_H
#define TKB_TREE_SECRET_TEXT_H

/*
 * Hide secrets in plain text, in code, and in strings of JSON: the value after
 * a name such as API_KEY, and passwords in URLs.
 */

#include "tree/path_style.h"

#define TKB_SECRET_HIDDEN "hidden"

/* A text that is copied. In JSON, each string is such a text. */
struct tkb_secret_copy {
	struct tkb_bytes text;
	enum tkb_path_style style;
	struct tkb_buf *out;
	size_t done; /* the text is copied to `out` up to here */
	size_t count;
};

/* Replace the bytes from `from` up to `to` by `with`. */
void tkb_secret_replace(struct tkb_secret_copy *copy, size_t from, size_t to,
                        const char *with);

/*
 * Hide the bytes from `from` up to `to`, unless there are none or they are
 * hidden already.
 */
void tkb_secret_hide(struct tkb_secret_copy *copy, size_t from, size_t to);

/* Hide the secrets in the text from `at` on. */
void tkb_secret_hide_in_text(struct tkb_secret_copy *copy, size_t at);

#endif
