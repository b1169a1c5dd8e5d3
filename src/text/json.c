/* SPDX-License-Identifier: Apache-2.0 */
#include "text/json.h"

#include "base/digest.h"
#include "base/utf8.h"
#include "text/ascii.h"

/* What may come next in the text. */
enum state {
	WANT_VALUE,
	WANT_VALUE_OR_END, /* after "[" */
	WANT_KEY,          /* after "," in an object */
	WANT_KEY_OR_END,   /* after "{" */
	WANT_COLON,
	WANT_COMMA_OR_END,
	WANT_NOTHING
};

static int fail_json(const struct tkb_json *json, const char *what,
                     struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_CORRUPT, "not JSON at byte %zu: %s",
	                json->at, what);
}

struct tkb_json tkb_json_of(struct tkb_bytes text, unsigned flags)
{
	return (struct tkb_json){ .text = text, .flags = flags };
}

static bool is_canonical(const struct tkb_json *json)
{
	return (json->flags & TKB_JSON_CANONICAL) != 0;
}

/* The byte at `at`, or 0 after the end; a zero byte is an error anyway. */
static unsigned char json_byte_at(const struct tkb_json *json, size_t at)
{
	const unsigned char *text = json->text.data;

	return at < json->text.size ? text[at] : 0;
}

/*
 * Is the escape allowed in a canonical string? Only a quote, a backslash and
 * control characters are escaped there, each in one way.
 */
static bool is_canonical_escape(const unsigned char *escape)
{
	int32_t value;

	if (escape[1] == '"' || escape[1] == '\\')
		return true;
	if (escape[1] != 'u')
		return false;
	for (int i = 2; i < 6; i++) {
		if (escape[i] >= 'A' && escape[i] <= 'F')
			return false;
	}
	value = tkb_hex4_value(escape + 2);
	return value >= 0 && value < 0x20;
}

/* The length of the escape at `at`, or 0 if there is no valid one. */
static size_t escape_length(const struct tkb_json *json, size_t at)
{
	const unsigned char *escape =
		(const unsigned char *)json->text.data + at;
	const size_t left = json->text.size - at;
	size_t length;

	if (left < 2)
		return 0;
	if (escape[1] == 'u')
		length = left >= 6 && tkb_hex4_value(escape + 2) >= 0 ? 6 : 0;
	else
		length = strchr("\"\\/bfnrt", escape[1]) != NULL &&
		                         escape[1] != '\0'
		                 ? 2
		                 : 0;
	if (length != 0 && is_canonical(json) && !is_canonical_escape(escape))
		return 0;
	return length;
}

/* The length of the character at `at` in a string, or 0 if it is not valid. */
static size_t character_length(const struct tkb_json *json, size_t at)
{
	const unsigned char byte = json_byte_at(json, at);
	uint32_t code;

	if (byte < 0x20)
		return 0;
	if (byte == '\\')
		return escape_length(json, at);
	if (byte < 0x80)
		return 1;
	return tkb_utf8_decode(tkb_bytes_slice(json->text, at, json->text.size),
	                       &code);
}

/* Set the top bit of each byte of `word` that is 0. */
static uint64_t zero_bytes(uint64_t word)
{
	return (word - UINT64_C(0x0101010101010101)) & ~word;
}

/* Are eight bytes ASCII, without control characters, quotes and backslashes? */
static bool are_plain_bytes(const unsigned char *bytes)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return ((word | (word - ones * 0x20) | zero_bytes(word ^ ones * '"') |
	         zero_bytes(word ^ ones * '\\')) &
	        ones * 0x80) == 0;
}

/* Skip characters that need no further check, as most do. */
static void skip_plain(struct tkb_json *json)
{
	const unsigned char *text = json->text.data;
	size_t at = json->at;

	while (json->text.size - at >= sizeof(uint64_t) &&
	       are_plain_bytes(text + at))
		at += sizeof(uint64_t);
	while (at < json->text.size && text[at] >= 0x20 && text[at] < 0x80 &&
	       text[at] != '"' && text[at] != '\\')
		at++;
	json->at = at;
}

static int read_string(struct tkb_json *json, struct tkb_error *err)
{
	json->at++;
	for (skip_plain(json); json_byte_at(json, json->at) != '"';
	     skip_plain(json)) {
		const size_t length = character_length(json, json->at);

		if (length == 0)
			return fail_json(
				json,
				json->at >= json->text.size
					? "the text ends inside a string"
					: "a byte that a string may not have",
				err);
		json->at += length;
	}
	json->at++;
	return 0;
}

static size_t skip_digits(const struct tkb_json *json, size_t at)
{
	while (tkb_is_digit(json_byte_at(json, at)))
		at++;
	return at;
}

/* The index after the fraction and exponent at `at`, or 0 if they are wrong. */
static size_t skip_fraction(const struct tkb_json *json, size_t at)
{
	size_t end;

	if (json_byte_at(json, at) == '.') {
		end = skip_digits(json, at + 1);
		if (end == at + 1)
			return 0;
		at = end;
	}
	if (json_byte_at(json, at) == 'e' || json_byte_at(json, at) == 'E') {
		at++;
		if (json_byte_at(json, at) == '+' ||
		    json_byte_at(json, at) == '-')
			at++;
		end = skip_digits(json, at);
		if (end == at)
			return 0;
		at = end;
	}
	return at;
}

static int read_json_number(struct tkb_json *json, struct tkb_error *err)
{
	size_t at = json->at;
	size_t end;

	if (json_byte_at(json, at) == '-')
		at++;
	end = json_byte_at(json, at) == '0' ? at + 1 : skip_digits(json, at);
	if (end == at)
		return fail_json(json, "not a number", err);
	if (is_canonical(json)) {
		if (at != json->at)
			return fail_json(json, "a negative number", err);
		json->at = end;
		return 0;
	}
	end = skip_fraction(json, end);
	if (end == 0)
		return fail_json(json, "an incomplete number", err);
	json->at = end;
	return 0;
}

/* Read true, false or null, or NaN or Infinity, which Python writes. */
static int read_word(struct tkb_json *json, struct tkb_json_token *out,
                     struct tkb_error *err)
{
	static const struct {
		const char *text;
		enum tkb_json_type type;
	} words[] = {
		{ "true", TKB_JSON_WORD },
		{ "false", TKB_JSON_WORD },
		{ "null", TKB_JSON_WORD },
		{ "NaN", TKB_JSON_NUMBER },
		{ "Infinity", TKB_JSON_NUMBER },
		{ "-Infinity", TKB_JSON_NUMBER },
	};
	const size_t count = is_canonical(json) ? 3 : TKB_COUNT_OF(words);
	const struct tkb_bytes left =
		tkb_bytes_slice(json->text, json->at, json->text.size);

	for (size_t i = 0; i < count; i++) {
		if (tkb_bytes_begin_with(left, tkb_text(words[i].text))) {
			out->type = words[i].type;
			json->at += strlen(words[i].text);
			return 0;
		}
	}
	return fail_json(json, "a value is missing", err);
}

static void after_value(struct tkb_json *json)
{
	json->state = json->depth == 0 ? WANT_NOTHING : WANT_COMMA_OR_END;
}

static bool in_object(const struct tkb_json *json)
{
	return (json->objects >> (json->depth - 1) & 1) != 0;
}

static int open_container(struct tkb_json *json, struct tkb_json_token *out,
                          struct tkb_error *err)
{
	const bool object = json_byte_at(json, json->at) == '{';
	const uint64_t bit = UINT64_C(1) << json->depth % TKB_JSON_DEPTH;

	if (json->depth == TKB_JSON_DEPTH)
		return fail_json(json, "nested deeper than 64", err);
	json->objects = object ? json->objects | bit : json->objects & ~bit;
	json->depth++;
	json->last_keys[json->depth] = (struct tkb_bytes){ NULL, 0 };
	json->state = object ? WANT_KEY_OR_END : WANT_VALUE_OR_END;
	out->type = object ? TKB_JSON_OBJECT : TKB_JSON_ARRAY;
	json->at++;
	return 0;
}

static int close_container(struct tkb_json *json, struct tkb_json_token *out)
{
	out->type = in_object(json) ? TKB_JSON_OBJECT_END : TKB_JSON_ARRAY_END;
	json->depth--;
	json->at++;
	after_value(json);
	return 0;
}

static int read_value(struct tkb_json *json, struct tkb_json_token *out,
                      struct tkb_error *err)
{
	const unsigned char byte = json_byte_at(json, json->at);
	int rc;

	if (byte == '{' || byte == '[')
		return open_container(json, out, err);
	if (byte == '"') {
		out->type = TKB_JSON_STRING;
		rc = read_string(json, err);
	} else if (tkb_is_digit(byte) ||
	           (byte == '-' && json_byte_at(json, json->at + 1) != 'I')) {
		out->type = TKB_JSON_NUMBER;
		rc = read_json_number(json, err);
	} else {
		rc = read_word(json, out, err);
	}
	if (rc < 0)
		return rc;
	after_value(json);
	return 0;
}

/* Canonical JSON: keys ascend, which also excludes duplicates. */
static int check_order(struct tkb_json *json, struct tkb_bytes key,
                       struct tkb_error *err)
{
	const struct tkb_bytes last = json->last_keys[json->depth];

	if (last.data != NULL && tkb_bytes_compare(last, key) >= 0)
		return fail_json(json, "a member is repeated or not in order",
		                 err);
	json->last_keys[json->depth] = key;
	return 0;
}

static int read_key(struct tkb_json *json, struct tkb_json_token *out,
                    struct tkb_error *err)
{
	int rc;

	if (json_byte_at(json, json->at) != '"')
		return fail_json(json, "a member name is missing", err);
	out->type = TKB_JSON_KEY;
	rc = read_string(json, err);
	if (rc < 0)
		return rc;
	json->state = WANT_COLON;
	if (!is_canonical(json))
		return 0;
	out->end = json->at;
	return check_order(json, tkb_json_raw(json, out), err);
}

static void skip_json_space(struct tkb_json *json)
{
	const char *text = json->text.data;

	if (is_canonical(json))
		return;
	while (json->at < json->text.size &&
	       (text[json->at] == ' ' || text[json->at] == '\n' ||
	        text[json->at] == '\t' || text[json->at] == '\r'))
		json->at++;
}

/* Skip the colon or comma that must come before the next token. */
static int read_separator(struct tkb_json *json, struct tkb_error *err)
{
	const unsigned char byte = json_byte_at(json, json->at);

	if (json->state == WANT_COLON) {
		if (byte != ':')
			return fail_json(json, "a colon is missing", err);
		json->state = WANT_VALUE;
	} else if (json->state == WANT_COMMA_OR_END && byte == ',') {
		json->state = in_object(json) ? WANT_KEY : WANT_VALUE;
	} else {
		return 0;
	}
	json->at++;
	skip_json_space(json);
	return 0;
}

static int read_token(struct tkb_json *json, struct tkb_json_token *out,
                      struct tkb_error *err)
{
	const unsigned char byte = json_byte_at(json, json->at);

	switch ((enum state)json->state) {
	case WANT_VALUE_OR_END:
		if (byte == ']')
			return close_container(json, out);
		return read_value(json, out, err);
	case WANT_VALUE:
		return read_value(json, out, err);
	case WANT_KEY_OR_END:
		if (byte == '}')
			return close_container(json, out);
		return read_key(json, out, err);
	case WANT_KEY:
		return read_key(json, out, err);
	case WANT_COMMA_OR_END:
		if (byte == (in_object(json) ? '}' : ']'))
			return close_container(json, out);
		return fail_json(json, "a comma or an end is missing", err);
	case WANT_NOTHING:
		if (json->at != json->text.size)
			return fail_json(json, "bytes after the end", err);
		out->type = TKB_JSON_END;
		return 0;
	case WANT_COLON:
		break;
	}
	return fail_json(json, "a colon is missing", err);
}

int tkb_json_next(struct tkb_json *json, struct tkb_json_token *out,
                  struct tkb_error *err)
{
	struct tkb_json_token token;
	int rc;

	skip_json_space(json);
	rc = read_separator(json, err);
	if (rc < 0)
		return rc;

	token.start = json->at;
	rc = read_token(json, &token, err);
	if (rc < 0)
		return rc;
	token.end = json->at;
	*out = token;
	return 0;
}

int tkb_json_skip(struct tkb_json *json, const struct tkb_json_token *first,
                  struct tkb_error *err)
{
	struct tkb_json_token token;
	unsigned depth;
	int rc;

	if (first->type != TKB_JSON_OBJECT && first->type != TKB_JSON_ARRAY)
		return 0;
	depth = json->depth - 1;
	while (json->depth > depth) {
		rc = tkb_json_next(json, &token, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

struct tkb_bytes tkb_json_raw(const struct tkb_json *json,
                              const struct tkb_json_token *token)
{
	return tkb_bytes_slice(json->text, token->start + 1, token->end - 1);
}

bool tkb_json_number(const struct tkb_json *json,
                     const struct tkb_json_token *token, uint64_t *out)
{
	const char *text = json->text.data;

	return token->type == TKB_JSON_NUMBER &&
	       tkb_digits_read(text + token->start, token->end - token->start,
	                       out);
}
