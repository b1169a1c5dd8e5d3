/* SPDX-License-Identifier: Apache-2.0 */
#include "config/paths.h"

#include <limits.h>
#include <string.h>

/* Is `byte` one of [A-Za-z0-9._+@~-]? Whatever the locale. */
static bool is_part(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') ||
	       (byte != '\0' && strchr("._+@~-", byte) != NULL);
}

/*
 * Does a sentinel end at `at`: "[REPLACE]", or that of a tree,
 * "[REPLACE:vllm]"?
 */
static bool is_replaced(const char *text, size_t at)
{
	const size_t length = sizeof(TKB_SENTINEL) - 2;
	const char *const begin =
		text[at - 1] == ']' ? memrchr(text, '[', at) : NULL;

	return begin != NULL && (size_t)(text + at - begin) > length &&
	       memcmp(begin, TKB_SENTINEL, length) == 0 &&
	       (begin[length] == ']' || begin[length] == ':');
}

/* Is `at` inside a path, or inside the path after a sentinel? */
static bool is_inside(const char *text, size_t at)
{
	return at > 0 && (is_part(text[at - 1]) || text[at - 1] == '/' ||
	                  is_replaced(text, at));
}

/* The end of the path that begins at `at`, and the number of its parts. */
static size_t end_of_path(struct tkb_bytes bytes, size_t at, size_t *parts_out)
{
	const char *const text = bytes.data;
	size_t end = at;

	*parts_out = 0;
	while (end + 1 < bytes.size && text[end] == '/' &&
	       is_part(text[end + 1])) {
		end++;
		while (end < bytes.size && is_part(text[end]))
			end++;
		(*parts_out)++;
	}

	return end;
}

bool paths_next(struct tkb_bytes bytes, size_t *at, struct tkb_bytes *out)
{
	const char *const text = bytes.data;

	while (*at < bytes.size) {
		const char *const slash =
			memchr(text + *at, '/', bytes.size - *at);
		size_t begin;
		size_t parts;

		if (slash == NULL)
			break;

		begin = (size_t)(slash - text);
		*at = end_of_path(bytes, begin, &parts);
		if (parts >= 2 && *at - begin < PATH_MAX &&
		    !is_inside(text, begin)) {
			*out = (struct tkb_bytes){ slash, *at - begin };
			return true;
		}
		if (*at == begin)
			(*at)++;
	}

	*at = bytes.size;
	return false;
}

/*
 * The first offset of `part` at or after `from`; bytes.size if there is none.
 */
static size_t find_bytes(struct tkb_bytes bytes, size_t from, const char *part,
                         size_t size)
{
	const char *const text = bytes.data;
	const char *found = NULL;

	if (from < bytes.size)
		found = memmem(text + from, bytes.size - from, part, size);
	return found != NULL ? (size_t)(found - text) : bytes.size;
}

/* The last quote before `at` that begins a string; NULL if there is none. */
static const char *find_quote(const char *text, size_t at)
{
	const char *quote = memrchr(text, '"', at);

	while (quote != NULL) {
		const char *before = quote;

		while (before > text && before[-1] == '\\')
			before--;
		if ((quote - before) % 2 == 0)
			return quote;
		quote = memrchr(text, '"', (size_t)(quote - text));
	}

	return NULL;
}

struct tkb_bytes paths_own(struct tkb_bytes group, const char *key)
{
	const char *const text = group.data;
	const size_t length = strlen(key);
	size_t at = find_bytes(group, 0, key, length);

	/*
	 * Find "<place>/<key>/<name>", with the quotes. A key never contains
	 * escaped characters.
	 */
	while (at < group.size) {
		const size_t end = at + length;
		const bool is_folder = at > 0 && text[at - 1] == '/' &&
		                       end < group.size && text[end] == '/';
		const char *const quote =
			is_folder ? find_quote(text, at) : NULL;

		if (quote != NULL)
			return (struct tkb_bytes){
				quote + 1, (size_t)(text + end - (quote + 1))
			};
		at = find_bytes(group, at + 1, key, length);
	}

	return (struct tkb_bytes){ .size = 0 };
}

/* Does a string that is the path `own`, or a path below it, begin at `at`? */
static bool is_own_path_at(struct tkb_bytes json, struct tkb_bytes own,
                           size_t at)
{
	const char *const text = json.data;
	const size_t end = at + own.size;

	return at > 0 && text[at - 1] == '"' && end < json.size &&
	       (text[end] == '"' || text[end] == '/');
}

bool paths_next_own(struct tkb_bytes json, struct tkb_bytes own, size_t *at,
                    struct tkb_bytes *out)
{
	const char *const text = json.data;
	const size_t begin = *at;
	size_t found = json.size;

	if (json.size == 0 || begin == json.size) {
		*out = (struct tkb_bytes){ .size = 0 };
		return false;
	}

	if (own.size > 0)
		found = find_bytes(json, begin, own.data, own.size);
	while (found < json.size && !is_own_path_at(json, own, found))
		found = find_bytes(json, found + 1, own.data, own.size);

	*out = (struct tkb_bytes){ text + begin, found - begin };
	if (found == json.size) {
		*at = json.size;
		return false;
	}

	*at = find_bytes(json, found + own.size, "\"", 1);
	return true;
}
