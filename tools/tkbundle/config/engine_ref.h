/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ENGINE_REF_H
#define TKBUNDLE_ENGINE_REF_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The default ref of a command: a template with {engine}, {version}, {model}
 * and {arch}.
 */
#define ENGINE_REF_DEFAULT "{engine}-{version}/{model}/{arch}"
#define ENGINE_REF_WANTED                                                      \
	"a ref with no other words in braces than {engine}, {version}, "       \
	"{model} and {arch}"

enum {
	ENGINE_REF_SIZE = 512
};

struct engine_ref_facts {
	const char *engine;
	const char *version; /* "" if unknown; only its first two parts are
	                        used */
	const char *model;   /* a name or a path, or NULL */
};

bool engine_ref_is_valid(const char *pattern);

/*
 * Fill in `pattern`, except {arch}, which is filled in when the ref is used. A
 * word whose value is unknown is removed with the '-', '_', '.' or '/' before
 * it. A result that is too long is cut.
 */
void engine_ref_make(const char *pattern, const struct engine_ref_facts *facts,
                     char *out, size_t size);

#endif
