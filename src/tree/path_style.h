/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_PATH_STYLE_H
#define TKB_TREE_PATH_STYLE_H

/* The styles of files, and how each spells a path: see paths.h. */

#include <tkbundle/entry.h>

#include "base/base.h"
#include "base/buf.h"

/* "none", "json", "python", "ninja", "text" or "build"; NULL after the last. */
const char *tkb_path_style_name(unsigned style);

/* The rest is for paths.c. */

/* One of the spellings of a path. */
struct tkb_path_spelling {
	enum tkb_path_style style;
	bool is_other; /* not the style's usual spelling */
	char quote;    /* in Python, the quote before the path; 0: unknown */
};

/*
 * The word in a sentinel for the style's other spelling; NULL if the style has
 * only one spelling.
 */
const char *tkb_path_spelling_other(enum tkb_path_style style);

/*
 * Append `path`. If the style cannot express it, return false; then a part of
 * it may have been appended.
 */
bool tkb_path_spell(struct tkb_path_spelling spelling, const char *path,
                    struct tkb_buf *out);

/* May a path begin, or end, at `at`? */
bool tkb_path_begins(enum tkb_path_style style, struct tkb_bytes text,
                     size_t at);
bool tkb_path_ends(enum tkb_path_style style, struct tkb_bytes text, size_t at);

/* The quote that opens a Python literal right before `at`, or 0. */
char tkb_path_quote(enum tkb_path_style style, struct tkb_bytes text,
                    size_t at);

#endif
