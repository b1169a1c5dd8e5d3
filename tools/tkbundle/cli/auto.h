/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_AUTO_H
#define TKBUNDLE_AUTO_H

#include <stdlib.h>
#include <string.h>

/* The number of elements of an array. */
#define TKB_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Call `release` with the variable's address when its scope ends. */
#define TKB_AUTO(release) __attribute__((cleanup(release)))

/* For TKB_AUTO: free what a pointer to anything points to. */
static inline void auto_free(void *pointer)
{
	void *memory;

	memcpy(&memory, pointer, sizeof(memory));
	free(memory);
}

/* Define name(), which calls release() on a pointer to `type`, for TKB_AUTO. */
#define TKB_AUTO_POINTER(name, type, release)                                  \
	/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type has none */      \
	static inline void name(type **pointer)                                \
	{                                                                      \
		release(*pointer);                                             \
	}

/*
 * Make room in a table for one item of `size` bytes after the `count` that it
 * has: at first for 16, then for twice as many each time that it is full, so
 * the table needs no capacity beside its count.
 *
 * @return the table, or NULL: out of memory, and `items` is as it was
 */
static inline void *table_grow(void *items, size_t count, size_t size)
{
	if (count == 0)
		return reallocarray(items, 16, size);
	if (count < 16 || (count & (count - 1)) != 0)
		return items;
	return reallocarray(items, 2 * count, size);
}

#endif
