/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"

#include <stdlib.h>

void tkb_free_at(void *pointer_to_pointer)
{
	void *memory;

	memcpy(&memory, pointer_to_pointer, sizeof(memory));
	free(memory);
}

void *tkb_alloc_array(size_t count, size_t size)
{
	return calloc(count == 0 ? 1 : count, size);
}

const char *tkb_environment(const char *name)
{
	const char *value = getenv(name);

	return value == NULL || value[0] == '\0' ? NULL : value;
}

void tkb_sort(void *items, size_t count, size_t size,
              int (*compare)(const void *a, const void *b))
{
	if (count > 1)
		qsort(items, count, size, compare);
}

int tkb_compare_texts(const void *a, const void *b)
{
	const char *const *left = a;
	const char *const *right = b;

	return strcmp(*left, *right);
}

size_t tkb_unique(void *items, size_t count, size_t size,
                  int (*compare)(const void *a, const void *b))
{
	char *bytes = items;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (kept == 0 ||
		    compare(bytes + (kept - 1) * size, bytes + i * size) != 0)
			memmove(bytes + kept++ * size, bytes + i * size, size);
	}
	return kept;
}

size_t tkb_sort_texts(const char **texts, size_t count)
{
	tkb_sort(texts, count, sizeof(*texts), tkb_compare_texts);
	return tkb_unique(texts, count, sizeof(*texts), tkb_compare_texts);
}

bool tkb_begins_with_any(const char *text, const char *const *starts,
                         size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (tkb_begins_with(text, starts[i]))
			return true;
	}
	return false;
}

bool tkb_is_among(const char *text, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(text, texts[i]) == 0)
			return true;
	}
	return false;
}

bool tkb_is_among_sorted(const char *text, const char *const *sorted,
                         size_t count)
{
	return count != 0 && bsearch(&text, sorted, count, sizeof(*sorted),
	                             tkb_compare_texts) != NULL;
}

size_t tkb_lower_bound(const void *key, const void *items, size_t count,
                       size_t size,
                       int (*compare)(const void *key, const void *item))
{
	size_t low = 0;
	size_t high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare(key, (const char *)items + middle * size) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int tkb_grow(void *items, size_t *capacity, size_t count, size_t size,
             struct tkb_error *err)
{
	size_t wanted;
	void *old;
	void *grown;

	if (count < *capacity)
		return 0;

	wanted = *capacity == 0 ? 16 : *capacity;
	if (wanted > SIZE_MAX / 2 / size)
		return tkb_fail_nomem(err);
	if (*capacity != 0)
		wanted *= 2;

	memcpy(&old, items, sizeof(old));
	grown = realloc(old, wanted * size);
	if (grown == NULL)
		return tkb_fail_nomem(err);
	memcpy(items, &grown, sizeof(grown));
	*capacity = wanted;
	return 0;
}

int tkb_append(void *items, size_t *count, size_t *capacity, const void *item,
               size_t size, struct tkb_error *err)
{
	char *start;
	int rc;

	rc = tkb_grow(items, capacity, *count, size, err);
	if (rc < 0)
		return rc;
	memcpy(&start, items, sizeof(start));
	memcpy(start + (*count)++ * size, item, size);
	return 0;
}
