/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_RULE_TEXTS_H
#define TKB_COMPILE_RULE_TEXTS_H

/* The files in rules/, compiled in by rule_texts.cmake. */

#include <stddef.h>

struct rule_text {
	const char *name; /* "dp4a.ll" */
	const char *const *lines;
	size_t line_count;
};

extern const struct rule_text rule_texts[];
extern const size_t rule_text_count;

#endif
