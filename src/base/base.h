/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_BASE_H
#define TKB_BASE_BASE_H

/*
 * Words that every file of the library uses.
 *
 * TKB_AUTO(fn) calls fn(&variable) when the variable's scope ends. A variable
 * declared so must be initialised on its declaration line; ownership leaves it
 * only through tkb_take().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

#define TKB_AUTO(fn) __attribute__((cleanup(fn)))

/* Define name(), which calls release() on a pointer to `type`, for TKB_AUTO. */
#define TKB_AUTO_POINTER(name, type, release)                                  \
	/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type */               \
	static inline void name(type **pointer)                                \
	{                                                                      \
		release(*pointer);                                             \
	}

/* Move a pointer out of `*variable`, which becomes NULL. */
#define tkb_take(variable)                                                     \
	__extension__({                                                        \
		__typeof__(variable) tkb_taken_ = (variable);                  \
		(variable) = NULL;                                             \
		tkb_taken_;                                                    \
	})

#define TKB_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define TKB_KIB ((size_t)1024)
#define TKB_MIB ((size_t)1024 * 1024)

/* free() for TKB_AUTO, on a variable of any pointer type. */
void tkb_free_at(void *pointer_to_pointer);

/*
 * Zeroed memory for `count` items of `size` bytes; NULL if there is no memory
 * or the product overflows. Zero items also give a pointer that is not NULL.
 */
void *tkb_alloc_array(size_t count, size_t size) TKB_NODISCARD;

/* The value of an environment variable; NULL if it is unset or empty. */
const char *tkb_environment(const char *name);

static inline uint32_t tkb_or_default(uint32_t value, uint32_t otherwise)
{
	return value != 0 ? value : otherwise;
}

static inline bool tkb_begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Does `text` begin with one of `count` starts? */
bool tkb_begins_with_any(const char *text, const char *const *starts,
                         size_t count);

/* qsort(), which also takes no items at NULL. */
void tkb_sort(void *items, size_t count, size_t size,
              int (*compare)(const void *a, const void *b));

/* Compare items by the `const char *` that they begin with, for tkb_sort(). */
int tkb_compare_texts(const void *a, const void *b);

/* Of equal items that are neighbours, keep the first. Returns how many are left. */
size_t tkb_unique(void *items, size_t count, size_t size,
                  int (*compare)(const void *a, const void *b));

/* Sort `count` texts, drop duplicates, and return how many are left. */
size_t tkb_sort_texts(const char **texts, size_t count);

/* Is `text` one of `count` texts? */
bool tkb_is_among(const char *text, const char *const *texts, size_t count);

/* Is `text` one of `count` sorted texts? */
bool tkb_is_among_sorted(const char *text, const char *const *sorted,
                         size_t count);

/*
 * The index of the first of `count` sorted items, each of `size` bytes, that is
 * not less than `key`; `count` if there is none. `compare` gets the key and an
 * item.
 */
size_t tkb_lower_bound(const void *key, const void *items, size_t count,
                       size_t size,
                       int (*compare)(const void *key, const void *item));

/*
 * Make room for one more item in the array `*items` of `count` items of
 * `size` bytes. On failure nothing changes.
 */
TKB_NODISCARD int tkb_grow(void *items, size_t *capacity, size_t count,
                           size_t size, struct tkb_error *err);

/* Append a copy of `item`, of `size` bytes. On failure nothing changes. */
TKB_NODISCARD int tkb_append(void *items, size_t *count, size_t *capacity,
                             const void *item, size_t size,
                             struct tkb_error *err);

#endif
