/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/whole.h"

#include <string.h>

#include "tree/utf16.h"

enum {
	DEPTH_LIMIT = 1024 /* Python's own parser allows 200 */
};

struct scan {
	const char *at;
	const char *end;
	bool is_python;
	size_t depth;
	char closers[DEPTH_LIMIT]; /* what closes each open bracket */
};

static bool rest_begins_with(const struct scan *scan, const char *text,
                             size_t size)
{
	return (size_t)(scan->end - scan->at) >= size &&
	       memcmp(scan->at, text, size) == 0;
}

/* Skip the string that begins here. */
static bool skip_string(struct scan *scan)
{
	const char quotes[] = { *scan->at, *scan->at, *scan->at };
	const bool is_long = scan->is_python &&
	                     rest_begins_with(scan, quotes, sizeof(quotes));
	const size_t size = is_long ? sizeof(quotes) : 1;

	for (scan->at += size; scan->at < scan->end; scan->at++) {
		if (rest_begins_with(scan, quotes, size)) {
			scan->at += size;
			return true;
		}
		if (*scan->at == '\\' && scan->at + 1 < scan->end)
			scan->at++;
		else if (*scan->at == '\n' && !is_long)
			return false;
	}
	return false;
}

static void skip_comment(struct scan *scan)
{
	while (scan->at < scan->end && *scan->at != '\n')
		scan->at++;
}

static char closer_of(char c)
{
	static const char pairs[] = "()[]{}";
	const char *const found = c == '\0' ? NULL : strchr(pairs, c);

	return found == NULL || (found - pairs) % 2 != 0 ? '\0' : found[1];
}

/* Skip a character that is not in a string. */
static bool skip_one(struct scan *scan)
{
	const char c = *scan->at++;
	const char closer = closer_of(c);

	if (closer != '\0') {
		if (scan->depth == DEPTH_LIMIT)
			return false;
		scan->closers[scan->depth++] = closer;
	} else if (c == ')' || c == ']' || c == '}') {
		return scan->depth != 0 && scan->closers[--scan->depth] == c;
	}
	return c != '\0';
}

bool tkb_text_is_whole(struct tkb_bytes text, enum tkb_path_style style)
{
	struct scan scan = { .is_python = style == TKB_PATH_STYLE_PYTHON };
	bool has_value = false;

	if ((!scan.is_python && style != TKB_PATH_STYLE_JSON) ||
	    tkb_utf16_order(text) != TKB_UTF16_NONE)
		return true;
	scan.at = text.data;
	scan.end = scan.at + text.size;
	while (scan.at < scan.end) {
		const char c = *scan.at;

		if (scan.is_python && c == '#') {
			skip_comment(&scan);
			continue;
		}
		has_value |= strchr(" \t\r\n", c) == NULL;
		if (c == '"' || (scan.is_python && c == '\'')) {
			if (!skip_string(&scan))
				return false;
		} else if (!skip_one(&scan)) {
			return false;
		}
	}
	return has_value && scan.depth == 0;
}

bool tkb_pickle_is_whole(struct tkb_bytes head, char last)
{
	/* Protocols 4 and 5 begin with a frame. Older ones are not told from
	   formats that put something behind a pickle, as torch.save() did. */
	return last == '.' ||
	       (!tkb_bytes_begin_with(head, tkb_text("\x80\x04\x95")) &&
	        !tkb_bytes_begin_with(head, tkb_text("\x80\x05\x95")));
}
