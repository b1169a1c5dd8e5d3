/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/secret_text.h"

#include "text/ascii.h"
#include "tree/secret_name.h"

static unsigned char copy_byte_at(const struct tkb_secret_copy *copy, size_t at)
{
	const unsigned char *text = copy->text.data;

	return at < copy->text.size ? text[at] : '\0';
}

static struct tkb_bytes copy_part(const struct tkb_secret_copy *copy,
                                  size_t from, size_t to)
{
	return tkb_bytes_slice(copy->text, from, to);
}

void tkb_secret_replace(struct tkb_secret_copy *copy, size_t from, size_t to,
                        const char *with)
{
	tkb_buf_add(copy->out, copy_part(copy, copy->done, from));
	tkb_buf_add_text(copy->out, with);
	copy->done = to;
	copy->count++;
}

/* Is it a value that tells nothing? */
static bool is_open(struct tkb_bytes value)
{
	static const char *const open_words[] = {
		TKB_SECRET_HIDDEN, "null", "None", "true", "True",
		"false",           "False"
	};

	for (size_t i = 0; i < TKB_COUNT_OF(open_words); i++) {
		if (tkb_bytes_equal(value, tkb_text(open_words[i])))
			return true;
	}
	return value.size == 0;
}

void tkb_secret_hide(struct tkb_secret_copy *copy, size_t from, size_t to)
{
	if (!is_open(copy_part(copy, from, to)))
		tkb_secret_replace(copy, from, to, TKB_SECRET_HIDDEN);
}

/*
 * An opening quote of one or three marks, after `backslashes` backslashes.
 * Without a mark, there is no quote.
 */
struct quote {
	char mark;
	size_t backslashes;
	size_t size;
};

static struct quote quote_at(const struct tkb_secret_copy *copy, size_t at)
{
	struct quote quote = { 0 };
	unsigned char mark;

	while (copy_byte_at(copy, at + quote.backslashes) == '\\' &&
	       quote.backslashes < 15)
		quote.backslashes++;
	at += quote.backslashes;
	mark = copy_byte_at(copy, at);
	if (mark != '"' && mark != '\'')
		return (struct quote){ 0 };
	quote.mark = (char)mark;
	quote.size = quote.backslashes + 1;
	if (quote.backslashes == 0 && copy_byte_at(copy, at + 1) == mark &&
	    copy_byte_at(copy, at + 2) == mark)
		quote.size = 3;
	return quote;
}

/*
 * Find the end of the text after the opening `quote`. In a string inside a
 * string, a mark has three backslashes instead of one, and a backslash is
 * written as four; and so on.
 */
static size_t end_of_quoted(const struct tkb_secret_copy *copy, size_t at,
                            const struct quote *quote)
{
	const size_t turn = 2 * (quote->backslashes + 1);
	size_t run = 0;

	for (; at < copy->text.size; at++) {
		const char byte = (char)copy_byte_at(copy, at);

		if (byte == '\n' && quote->size != 3 &&
		    copy->style == TKB_PATH_STYLE_PYTHON)
			return at;
		if (byte == quote->mark && run % turn == quote->backslashes &&
		    (quote->size != 3 ||
		     (copy_byte_at(copy, at + 1) == (unsigned char)byte &&
		      copy_byte_at(copy, at + 2) == (unsigned char)byte)))
			return at - quote->backslashes;
		run = byte == '\\' ? run + 1 : 0;
	}
	return at;
}

/* A name, and what surrounds it. */
struct name {
	size_t start;
	size_t end;
	struct quote quote; /* the quote after the name */
	char separator;     /* ':', '=', ',' or ' ' */
	bool is_spaced;     /* white space comes before the separator */
	size_t value;       /* where the value begins */
};

static bool is_name_byte(unsigned char byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
	       (byte >= 'A' && byte <= 'Z') || byte == '_' || byte == '-' ||
	       byte == '.';
}

static bool is_option(const struct tkb_secret_copy *copy,
                      const struct name *name)
{
	return copy_byte_at(copy, name->start) == '-' &&
	       copy_byte_at(copy, name->start + 1) == '-';
}

static bool is_capital(const struct tkb_secret_copy *copy,
                       const struct name *name)
{
	for (size_t at = name->start; at < name->end; at++) {
		if (copy_byte_at(copy, at) >= 'a' &&
		    copy_byte_at(copy, at) <= 'z')
			return false;
	}
	return true;
}

/* Skip white space. After a name in quotes, also skip line breaks. */
static size_t skip_space_before_value(const struct tkb_secret_copy *copy,
                                      size_t at, bool has_lines)
{
	while (copy_byte_at(copy, at) == ' ' ||
	       copy_byte_at(copy, at) == '\t' ||
	       (has_lines && (copy_byte_at(copy, at) == '\n' ||
	                      copy_byte_at(copy, at) == '\r')))
		at++;
	return at;
}

/* Is the quoted name the first item in a bracket? */
static bool is_first_in_bracket(const struct tkb_secret_copy *copy,
                                const struct name *name)
{
	size_t at = name->start - name->quote.size;

	if (name->start <= name->quote.size)
		return false;
	return copy_byte_at(copy, at - 1) == '(' ||
	       copy_byte_at(copy, at - 1) == '[';
}

/* The size of the separator of name and value at `at`; 0 if there is none. */
static size_t separator_at(const struct tkb_secret_copy *copy,
                           const struct name *name, size_t at)
{
	const unsigned char byte = copy_byte_at(copy, at);
	const unsigned char next = copy_byte_at(copy, at + 1);

	if (byte == ':' && next != ':' &&
	    !(next == '/' && copy_byte_at(copy, at + 2) == '/'))
		return next == '=' ? 2 : 1;
	if (byte == '=' && next != '=')
		return next == '>' ? 2 : 1;
	if ((byte == '+' || byte == '?') && next == '=')
		return 2; /* of a shell, of make */
	if (byte == ',' && name->quote.mark != '\0' &&
	    (is_option(copy, name) || is_first_in_bracket(copy, name)))
		return 1;
	return 0;
}

/* Find the separator and the value of the name; false if no value follows. */
static bool find_value(const struct tkb_secret_copy *copy, struct name *name)
{
	size_t at = name->end;
	size_t size;
	bool has_lines;

	name->quote = quote_at(copy, at);
	has_lines = name->quote.mark != '\0';
	at += name->quote.size;
	if (has_lines && copy_byte_at(copy, at) == ']')
		at++;
	name->value = skip_space_before_value(copy, at, has_lines);
	name->is_spaced = name->value != at;
	size = separator_at(copy, name, name->value);
	if (size != 0) {
		name->separator = (char)copy_byte_at(copy, name->value);
		if (name->separator == '+' || name->separator == '?')
			name->separator = '=';
		name->value = skip_space_before_value(copy, name->value + size,
		                                      has_lines);
		return name->value < copy->text.size;
	}
	name->separator = ' ';
	return is_option(copy, name) && !has_lines && name->is_spaced &&
	       name->value < copy->text.size &&
	       copy_byte_at(copy, name->value) != '-';
}

/* Hide the quoted text at `at`; returns the position after its last quote. */
static size_t hide_quoted(struct tkb_secret_copy *copy, size_t at,
                          const struct quote *quote)
{
	const size_t start = at + quote->size;
	const size_t end = end_of_quoted(copy, start, quote);

	tkb_secret_hide(copy, start, end);
	return end < copy->text.size ? end + quote->size : end;
}

/*
 * Skip what is not part of a name. An escape, a backslash and a letter, is
 * skipped whole: its letter does not begin the name behind it.
 */
static size_t skip_other(const struct tkb_secret_copy *copy, size_t at)
{
	if (copy_byte_at(copy, at++) != '\\')
		return at;
	while (copy_byte_at(copy, at) == '\\')
		at++;
	return tkb_is_one_of(copy_byte_at(copy, at), "nrtbfv") ? at + 1 : at;
}

static bool has_escapes(const struct tkb_secret_copy *copy)
{
	return copy->style == TKB_PATH_STYLE_JSON ||
	       copy->style == TKB_PATH_STYLE_PYTHON;
}

/*
 * The end of the line from `start` on. In a string, an escaped line break ends
 * a line too.
 */
static size_t end_of_copied_line(const struct tkb_secret_copy *copy,
                                 size_t start)
{
	size_t run = 0; /* number of backslashes */
	size_t at = start;

	for (; at < copy->text.size; at++) {
		const unsigned char byte = copy_byte_at(copy, at);

		if (byte == '\n' || byte == '\r')
			break;
		if (has_escapes(copy) && run % 2 == 1 &&
		    (byte == 'n' || byte == 'r'))
			return at - 1;
		run = byte == '\\' ? run + 1 : 0;
	}
	return at;
}

/* Replace a value without quotes by one in the quotes of the name. */
static void hide_unquoted(struct tkb_secret_copy *copy, const struct name *name,
                          size_t from, size_t to)
{
	const struct tkb_bytes quote =
		copy_part(copy, name->end, name->end + name->quote.size);

	tkb_secret_replace(copy, from, to, "");
	tkb_buf_add(copy->out, quote);
	tkb_buf_add_text(copy->out, TKB_SECRET_HIDDEN);
	tkb_buf_add(copy->out, quote);
}

/*
 * The size of the next character of a word in a bracket, with the backslashes
 * before it, as in \u00e9 or \/: without them, the rest would be no string, or
 * what replaces the word would follow a backslash. 0: the word ends.
 */
static size_t word_character_at(const struct tkb_secret_copy *copy, size_t at)
{
	size_t backslashes = 0;
	unsigned char byte;

	while (copy_byte_at(copy, at + backslashes) == '\\')
		backslashes++;
	byte = copy_byte_at(copy, at + backslashes);
	if (byte <= ' ' || tkb_is_one_of(byte, "[](){},\"'") ||
	    (backslashes != 0 && tkb_is_one_of(byte, "nrtbfv")))
		return 0;
	return backslashes + 1;
}

/* Hide the word without quotes at `at` in a bracket, unless it is a key. */
static size_t hide_word(struct tkb_secret_copy *copy, const struct name *name,
                        size_t at)
{
	const size_t start = at;
	bool is_key;

	for (size_t size = word_character_at(copy, at); size != 0;
	     size = word_character_at(copy, at))
		at += size;
	if (at == start)
		return skip_other(copy, at);
	is_key = copy_byte_at(copy, at - 1) == ':' &&
	         copy_byte_at(copy, at) <= ' ';
	if (!is_key && !is_open(copy_part(copy, start, at)))
		hide_unquoted(copy, name, start, at);
	return at;
}

static bool is_bracket_byte(unsigned char byte)
{
	return tkb_is_one_of(byte, "[({");
}

/* How many more brackets are open after the byte: 1, 0 or -1. */
static int nesting(unsigned char byte)
{
	return is_bracket_byte(byte) ? 1 : -(int)tkb_is_one_of(byte, "])}");
}

/*
 * Hide all that is quoted in the bracket at the name's value, and, except in
 * Python, all other words.
 */
static size_t hide_bracket(struct tkb_secret_copy *copy,
                           const struct name *name)
{
	size_t at = name->value;
	long depth = 0;

	while (at < copy->text.size) {
		const struct quote quote = quote_at(copy, at);
		const unsigned char byte = copy_byte_at(copy, at);

		if (quote.mark != '\0') {
			at = hide_quoted(copy, at, &quote);
			continue;
		}
		if (nesting(byte) == 0 &&
		    copy->style != TKB_PATH_STYLE_PYTHON) {
			at = hide_word(copy, name, at);
			continue;
		}
		depth += nesting(byte);
		at++;
		if (depth == 0)
			break;
	}
	return at;
}

/* A line break; in a string, also one that is written as an escape. */
static bool is_line_break(const struct tkb_secret_copy *copy, size_t at)
{
	const unsigned char byte = copy_byte_at(copy, at);

	return byte == '\n' || byte == '\r' ||
	       (has_escapes(copy) && byte == '\\' &&
	        tkb_is_one_of(copy_byte_at(copy, at + 1), "nr"));
}

static bool is_end(unsigned char byte)
{
	return byte <= ' ' || tkb_is_one_of(byte, "'\",;:)]}\\");
}

/* Does the value end with the bracket that ends at `at`? */
static bool ends_bracket(const struct tkb_secret_copy *copy,
                         const struct name *name, size_t at)
{
	const bool is_line = name->separator == ':' || name->is_spaced;
	const size_t next =
		is_line ? skip_space_before_value(copy, at, false) : at;
	const unsigned char byte = copy_byte_at(copy, next);

	if (is_line && next != at && byte == '#')
		return true;
	return is_end(byte) && byte != ':';
}

/*
 * Does the value begin with a bracket that may hold several? After a name
 * without quotes, as in PASSWORD=[abc or PASSWORD=[a]b, it may also be the
 * first byte of a longer value, which is the rest of the line. A bracket that
 * is closed in a later line has nothing but its own items in this one.
 */
static bool is_bracket(const struct tkb_secret_copy *copy,
                       const struct name *name)
{
	size_t at = name->value;
	long depth = 0;
	unsigned char last = '\0';

	if (!is_bracket_byte(copy_byte_at(copy, at)))
		return false;
	if (name->quote.mark != '\0' || copy->style == TKB_PATH_STYLE_PYTHON)
		return true;
	while (at < copy->text.size && !is_line_break(copy, at)) {
		const struct quote quote = quote_at(copy, at);
		const unsigned char byte = copy_byte_at(copy, at);

		if (byte > ' ')
			last = byte;
		if (quote.mark != '\0') {
			const size_t start = at + quote.size;

			at = end_of_quoted(copy, start, &quote);
			if (memchr((const char *)copy->text.data + start, '\n',
			           at - start) != NULL)
				return false;
			at += quote.size;
			continue;
		}
		depth += nesting(byte);
		at++;
		if (depth == 0)
			return ends_bracket(copy, name, at);
	}
	return at < copy->text.size && tkb_is_one_of(last, "[({,");
}

/*
 * The end of a value that is one word without quotes: white space, also an
 * escaped line break in a string, or the quote that ends the string.
 */
static size_t end_of_word(const struct tkb_secret_copy *copy, size_t start)
{
	size_t run = 0; /* number of backslashes */
	size_t at = start;

	for (; at < copy->text.size; at++) {
		const unsigned char byte = copy_byte_at(copy, at);

		if (byte <= ' ')
			break;
		if (has_escapes(copy) && run % 2 == 1 &&
		    (byte == 'n' || byte == 'r'))
			return at - 1;
		if ((byte == '"' || byte == '\'') &&
		    is_end(copy_byte_at(copy, at + 1))) {
			while (at > start && copy_byte_at(copy, at - 1) == '\\')
				at--;
			break;
		}
		run = byte == '\\' ? run + 1 : 0;
	}
	return at;
}

/* In YAML, a value may go on in lines that are indented more than its name. */
static bool may_have_block(const struct tkb_secret_copy *copy,
                           const struct name *name)
{
	return copy->style == TKB_PATH_STYLE_TEXT && name->separator == ':';
}

/*
 * Does the whole value come on the next lines, as in YAML: a text after "name:
 * |", a list or an object?
 */
static bool begins_block(const struct tkb_secret_copy *copy,
                         const struct name *name)
{
	size_t at = name->value;

	if (!may_have_block(copy, name))
		return false;
	if (tkb_is_one_of(copy_byte_at(copy, at), "|>"))
		at++;
	while (at > name->value &&
	       tkb_is_one_of(copy_byte_at(copy, at), "+-123456789"))
		at++;
	if (at > name->value) {
		at = skip_space_before_value(copy, at, false);
		if (copy_byte_at(copy, at) == '#')
			return true;
	}
	return end_of_copied_line(copy, at) == at;
}

/*
 * Hide what a line has except a key. Returns the line's end, or that of its
 * quoted text.
 */
static size_t hide_item(struct tkb_secret_copy *copy, size_t at, size_t end)
{
	struct quote quote;
	size_t key;

	while (copy_byte_at(copy, at) == '-' &&
	       copy_byte_at(copy, at + 1) == ' ')
		at = skip_space_before_value(copy, at + 1, false);
	for (key = at; is_name_byte(copy_byte_at(copy, key));)
		key++;
	if (key != at && copy_byte_at(copy, key) == ':' &&
	    copy_byte_at(copy, key + 1) <= ' ')
		at = skip_space_before_value(copy, key + 1, false);
	quote = quote_at(copy, at);
	if (quote.mark != '\0')
		return end_of_copied_line(copy, hide_quoted(copy, at, &quote));
	if (at < end)
		tkb_secret_hide(copy, at, end);
	return end;
}

/* Hide the lines that are indented more than the name; returns their end. */
static size_t hide_block(struct tkb_secret_copy *copy, const struct name *name)
{
	size_t end = end_of_copied_line(copy, name->value);
	const bool is_text = end != name->value;
	size_t column = 0; /* of the name */

	while (column < name->start &&
	       copy_byte_at(copy, name->start - column - 1) != '\n')
		column++;
	while (end < copy->text.size) {
		const size_t line = end + 1;
		const size_t at = skip_space_before_value(copy, line, false);
		const size_t next = end_of_copied_line(copy, at);
		const bool is_item = !is_text &&
		                     copy_byte_at(copy, at) == '-' &&
		                     copy_byte_at(copy, at + 1) == ' ';

		if (at != next && at - line + (is_item ? 1 : 0) <= column)
			break;
		end = next;
		if (is_text)
			tkb_secret_hide(copy, at, next);
		else
			end = hide_item(copy, at, next);
	}
	return end;
}

/* Hide a value that is neither quoted nor in brackets. */
static size_t hide_bare(struct tkb_secret_copy *copy, const struct name *name)
{
	const bool is_word = (name->separator == ' ' ||
	                      (name->separator == '=' && !name->is_spaced)) &&
	                     !is_bracket_byte(copy_byte_at(copy, name->value));
	size_t end;

	if (begins_block(copy, name))
		return hide_block(copy, name);
	if (name->separator == ',')
		return name->value;
	if (copy->style == TKB_PATH_STYLE_PYTHON &&
	    (!is_word || (!is_option(copy, name) && !is_capital(copy, name))))
		return name->value;
	end = is_word ? end_of_word(copy, name->value)
	              : end_of_copied_line(copy, name->value);
	tkb_secret_hide(copy, name->value, end);
	return may_have_block(copy, name) ? hide_block(copy, name) : end;
}

/*
 * The end of the number at the value of a name in quotes; the value itself if
 * there is none.
 */
static size_t end_of_number(const struct tkb_secret_copy *copy,
                            const struct name *name)
{
	const unsigned char first = copy_byte_at(copy, name->value);
	size_t end = name->value;

	if (name->quote.mark == '\0' || name->separator == ',')
		return name->value;
	if (first == '-')
		end++;
	if (copy_byte_at(copy, end) < '0' || copy_byte_at(copy, end) > '9')
		return name->value;
	while (is_name_byte(copy_byte_at(copy, end)) ||
	       copy_byte_at(copy, end) == '+')
		end++;
	return is_end(copy_byte_at(copy, end)) ? end : name->value;
}

/* Hide the name's value; returns the position at which to continue. */
static size_t hide_value(struct tkb_secret_copy *copy, const struct name *name)
{
	size_t at = name->value;
	struct quote quote;

	while (at < name->value + 2 &&
	       tkb_is_one_of(copy_byte_at(copy, at), "rRbBuUfF"))
		at++;
	quote = quote_at(copy, at);
	if (quote.mark != '\0') {
		const size_t start = at + quote.size;

		if (name->separator == ',' &&
		    (!is_option(copy, name) ||
		     copy_byte_at(copy, start) == '-') &&
		    tkb_secret_name_bytes(copy_part(
			    copy, start, end_of_quoted(copy, start, &quote))))
			return start;
		return hide_quoted(copy, at, &quote);
	}
	if (is_bracket(copy, name))
		return hide_bracket(copy, name);
	at = end_of_number(copy, name);
	if (at == name->value)
		return hide_bare(copy, name);
	hide_unquoted(copy, name, name->value, at);
	return at;
}

/*
 * The end of a URL's user, password and host. It is at white space, a quote, a
 * character that may follow a host, or a backslash, which begins an escape.
 */
static size_t end_of_authority(const struct tkb_secret_copy *copy, size_t at)
{
	while (at < copy->text.size && copy_byte_at(copy, at) > ' ' &&
	       !tkb_is_one_of(copy_byte_at(copy, at), "/?#\"'`<>\\"))
		at++;
	return at;
}

/*
 * Hide the password of a URL whose scheme ends at `at`; returns the position at
 * which to continue.
 */
static size_t hide_in_url(struct tkb_secret_copy *copy, size_t at)
{
	size_t start = at;
	size_t end;

	/* "://", or in JSON ":\/\/" */
	if (copy_byte_at(copy, start++) != ':')
		return at;
	for (int i = 0; i < 2; i++) {
		start += copy_byte_at(copy, start) == '\\' ? 1 : 0;
		if (copy_byte_at(copy, start++) != '/')
			return at;
	}
	end = end_of_authority(copy, start);
	while (end > start && copy_byte_at(copy, end - 1) != '@')
		end--;
	if (end == start)
		return at;
	while (start < end && copy_byte_at(copy, start) != ':')
		start++;
	if (start == end)
		return at;
	tkb_secret_hide(copy, start + 1, end - 1);
	return end;
}

void tkb_secret_hide_in_text(struct tkb_secret_copy *copy, size_t at)
{
	while (at < copy->text.size) {
		struct name name = { .start = at };

		if (!is_name_byte(copy_byte_at(copy, at))) {
			at = skip_other(copy, at);
			continue;
		}
		while (is_name_byte(copy_byte_at(copy, at)))
			at++;
		name.end = at;
		at = hide_in_url(copy, at);
		if (at != name.end)
			continue;
		if (find_value(copy, &name) &&
		    tkb_secret_name_bytes(
			    copy_part(copy, name.start, name.end)))
			at = hide_value(copy, &name);
	}
}
