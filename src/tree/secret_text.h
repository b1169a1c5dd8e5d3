/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_SECRET_TEXT_H
#define TKB_TREE_SECRET_TEXT_H

/*
 * Secrets in plain text, in code, and in strings of JSON: names such as API_KEY with
 * a value behind them, and passwords in URLs.
 */

#include "tree/path_style.h"

#define TKB_SECRET_HIDDEN "hidden"

/* A text while it is copied; of JSON, each string is one. */
struct tkb_secret_copy {
	struct tkb_bytes text;
	enum tkb_path_style style;
	struct tkb_buf *out;
	size_t done; /* up to where the text is copied to `out` */
	size_t count;
};

/* Replace bytes `from` to `to` by `with`. */
void tkb_secret_replace(struct tkb_secret_copy *copy, size_t from, size_t to,
                        const char *with);

/* Hide bytes `from` to `to`, unless that is empty or hidden already. */
void tkb_secret_hide(struct tkb_secret_copy *copy, size_t from, size_t to);

/* Hide secrets in the text, from `at` on. */
void tkb_secret_hide_in_text(struct tkb_secret_copy *copy, size_t at);

#endif
