/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/glob.h"

#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

/* The unread part of a pattern or path, or of one name in it. */
struct span {
	const char *at;
	const char *end;
};

static struct span span_of(const char *text)
{
	return (struct span){ text, text + strlen(text) };
}

/*
 * Take the next character. A byte that is not valid UTF-8 is taken alone, as a
 * number above all of Unicode.
 */
static uint32_t take_character(struct span *span)
{
	uint32_t code = 0;
	const size_t length = tkb_utf8_decode(
		(struct tkb_bytes){ span->at, (size_t)(span->end - span->at) },
		&code);

	if (length == 0) {
		code = 0x110000u + (unsigned char)*span->at;
		span->at++;
		return code;
	}
	span->at += length;
	return code;
}

/* Does `pattern` begin with a set that has a closing bracket? */
static bool begins_set(const struct span *pattern)
{
	const char *first = pattern->at + 1;

	if (*pattern->at != '[')
		return false;
	if (first < pattern->end && *first == '!')
		first++;
	/* A closing bracket right at the start is an item of the set. */
	return first < pattern->end &&
	       memchr(first + 1, ']', (size_t)(pattern->end - first - 1)) !=
	               NULL;
}

/* Take the set at the start of `pattern`. Is `code` in it? */
static bool take_set(struct span *pattern, uint32_t code)
{
	bool is_negated;
	bool is_first = true;
	bool is_found = false;

	pattern->at++;
	is_negated = *pattern->at == '!';
	if (is_negated)
		pattern->at++;
	while (is_first || *pattern->at != ']') {
		const uint32_t low = take_character(pattern);
		uint32_t high = low;

		is_first = false;
		if (*pattern->at == '-' && pattern->at[1] != ']') {
			pattern->at++;
			high = take_character(pattern);
		}
		is_found = is_found || (code >= low && code <= high);
	}
	pattern->at++;
	return is_found != is_negated;
}

/* Take the pattern of one character. Does `code` match it? */
static bool take_item(struct span *pattern, uint32_t code)
{
	if (*pattern->at == '?') {
		pattern->at++;
		return true;
	}
	if (begins_set(pattern))
		return take_set(pattern, code);
	return take_character(pattern) == code;
}

/*
 * Match one name against one part of a pattern. On a mismatch, let the last
 * star take one more character. Earlier stars need no other try, because the
 * last star can take everything that they could.
 */
static bool name_matches(struct span pattern, struct span name)
{
	struct span star = { NULL, NULL };
	struct span taken = { NULL, NULL };

	while (name.at < name.end) {
		if (pattern.at < pattern.end && *pattern.at == '*') {
			pattern.at++;
			star = pattern;
			taken = name;
		} else if (pattern.at == pattern.end ||
		           !take_item(&pattern, take_character(&name))) {
			if (star.at == NULL)
				return false;
			(void)take_character(&taken);
			name = taken;
			pattern = star;
		}
	}
	while (pattern.at < pattern.end && *pattern.at == '*')
		pattern.at++;
	return pattern.at == pattern.end;
}

/* Take the part up to the next slash, and the slash if there is one. */
static bool take_part(struct span *path, struct span *out)
{
	const char *slash =
		memchr(path->at, '/', (size_t)(path->end - path->at));

	*out = (struct span){ path->at, slash == NULL ? path->end : slash };
	path->at = slash == NULL ? path->end : slash + 1;
	return slash != NULL;
}

/* Take one part of each. Do they match, and are both or neither a folder? */
static bool take_parts(struct span *pattern, struct span *path)
{
	struct span wanted;
	struct span name;
	const bool wants_folder = take_part(pattern, &wanted);
	const bool is_folder = take_part(path, &name);

	return wants_folder == is_folder && name_matches(wanted, name);
}

/* Take two stars and a slash, which match any number of folders. */
static bool take_folders(struct span *pattern)
{
	if (pattern->end - pattern->at < 3 ||
	    memcmp(pattern->at, "**/", 3) != 0)
		return false;
	pattern->at += 3;
	return true;
}

static bool is_all_below(const struct span *pattern)
{
	return pattern->end - pattern->at == 2 &&
	       memcmp(pattern->at, "**", 2) == 0;
}

/* This works as name_matches() does, but with parts instead of characters. */
bool tkb_glob_matches(const char *pattern, const char *path)
{
	struct span wanted = span_of(pattern);
	struct span left = span_of(path);
	struct span folders = { NULL, NULL };
	struct span taken = { NULL, NULL };

	while (left.at < left.end) {
		if (is_all_below(&wanted))
			return true;
		if (take_folders(&wanted)) {
			folders = wanted;
			taken = left;
		} else if (wanted.at == wanted.end ||
		           !take_parts(&wanted, &left)) {
			struct span part;

			if (folders.at == NULL || !take_part(&taken, &part))
				return false;
			left = taken;
			wanted = folders;
		}
	}
	return wanted.at == wanted.end && *path != '\0';
}
