/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_PATH_STYLE_H
#define TKB_TREE_PATH_STYLE_H

/* The styles of files, and how each spells a path: see paths.h. */

#include <tkbundle/entry.h>

#include "base/base.h"
#include "base/buf.h"

/* "none", "json", "python", "ninja", "text", "build"; NULL behind the last. */
const char *tkb_path_style_name(unsigned style);

/* What follows is for paths.c. */

/* Which spelling of a path is meant. */
struct tkb_path_spelling {
	enum tkb_path_style style;
	bool is_other; /* not the style's common one */
	char quote;    /* Python: the literal's quote; 0: unknown */
};

/*
 * In a sentinel, the word for the other spelling of the style; NULL: it has
 * one.
 */
const char *tkb_path_spelling_other(enum tkb_path_style style);

/* Append `path`. False, with some of it appended, if the style cannot hold it. */
bool tkb_path_spell(struct tkb_path_spelling spelling, const char *path,
                    struct tkb_buf *out);

/* With a path at `at`: may a path begin, or end, there? */
bool tkb_path_begins(enum tkb_path_style style, struct tkb_bytes text,
                     size_t at);
bool tkb_path_ends(enum tkb_path_style style, struct tkb_bytes text, size_t at);

/* The quote that opens a Python literal right before `at`, or 0. */
char tkb_path_quote(enum tkb_path_style style, struct tkb_bytes text,
                    size_t at);

#endif
