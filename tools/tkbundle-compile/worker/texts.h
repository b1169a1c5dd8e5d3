/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_TEXTS_H
#define TKB_COMPILE_TEXTS_H

#include <stddef.h>

/* A list of strings. */
struct texts {
	const char **items;
	size_t count;
};

#endif
