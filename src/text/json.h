/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TEXT_JSON_H
#define TKB_TEXT_JSON_H

/*
 * A JSON tokenizer that gives the position of each token, so that a caller can
 * change one string of a document and leave every other byte alone.
 *
 *     struct tkb_json json = tkb_json_of(text, 0);
 *     struct tkb_json_token token;
 *
 *     do {
 *             rc = tkb_json_next(&json, &token, err);
 *             if (rc < 0)
 *                     return rc;
 *     } while (token.type != TKB_JSON_END);
 *
 * It accepts RFC 8259, and what Python's json.dumps writes beyond that: NaN,
 * Infinity, -Infinity, and escapes of lone surrogates. It refuses bytes after
 * the document, invalid UTF-8, and nesting deeper than 64. It allocates no
 * memory and does not recurse.
 */

#include <tkbundle/entry.h>

#include "base/base.h"
#include "base/buf.h"

enum {
	TKB_JSON_DEPTH = 64
};

enum tkb_json_flags {
	/* Accept only the canonical form that the manifest's format demands:
	   no white space, unsigned integers, members sorted by bytes and not
	   repeated, escapes only where they must be. */
	TKB_JSON_CANONICAL = 1u << 0
};

enum tkb_json_type {
	TKB_JSON_OBJECT,
	TKB_JSON_OBJECT_END,
	TKB_JSON_ARRAY,
	TKB_JSON_ARRAY_END,
	TKB_JSON_KEY, /* a member's name; its value is the next token */
	TKB_JSON_STRING,
	TKB_JSON_NUMBER,
	TKB_JSON_WORD, /* true, false or null */
	TKB_JSON_END   /* the end of the document */
};

/* Bytes `start` to `end` of the text; a string includes its quotes. */
struct tkb_json_token {
	enum tkb_json_type type;
	size_t start;
	size_t end;
};

struct tkb_json {
	struct tkb_bytes text; /* kept by reference */
	unsigned flags;
	unsigned state;
	unsigned depth;
	size_t at;
	uint64_t objects; /* bit d: the container at depth d is an object */
	struct tkb_bytes last_keys[TKB_JSON_DEPTH + 1]; /* canonical only */
};

struct tkb_json tkb_json_of(struct tkb_bytes text, unsigned flags);

TKB_NODISCARD int tkb_json_next(struct tkb_json *json,
                                struct tkb_json_token *out,
                                struct tkb_error *err);

/* Skip to the end of the value that begins with `first`. */
TKB_NODISCARD int tkb_json_skip(struct tkb_json *json,
                                const struct tkb_json_token *first,
                                struct tkb_error *err);

/* The text between the quotes of a key or string, escapes unchanged. */
struct tkb_bytes tkb_json_raw(const struct tkb_json *json,
                              const struct tkb_json_token *token);

/*
 * Append the value of the string whose raw text is `raw`. The escape of a lone
 * surrogate U+DC80 to U+DCFF gives the byte that Python encoded so
 * ("surrogateescape").
 */
void tkb_json_decode(struct tkb_bytes raw, struct tkb_buf *out);

/* Is the value of `raw` equal to `value`? */
bool tkb_json_equals(struct tkb_bytes raw, struct tkb_bytes value);

/*
 * Does the value of `raw` begin with `prefix`? Then `*end_out` is the number of
 * bytes of `raw` that spell the prefix.
 */
bool tkb_json_begins(struct tkb_bytes raw, struct tkb_bytes prefix,
                     size_t *end_out);

/*
 * The position in `raw` of the last slash of its value, escaped or not; its
 * length in `raw` goes to `*length_out`. SIZE_MAX if there is no slash.
 */
size_t tkb_json_last_slash(struct tkb_bytes raw, size_t *length_out);

/* Read an unsigned integer of at most 64 bits; false for any other number. */
bool tkb_json_number(const struct tkb_json *json,
                     const struct tkb_json_token *token, uint64_t *out);

/* Append `bytes` as json.dumps(os.fsdecode(bytes)) does, without quotes. */
void tkb_json_escape_python(struct tkb_bytes bytes, struct tkb_buf *out);

/* Append UTF-8 `bytes` as a canonical string, with quotes. */
void tkb_json_quote(struct tkb_bytes bytes, struct tkb_buf *out);

/*
 * Append `before` unchanged, such as "],\"key\":", and then a value: a string,
 * a number, or a digest as a string of 64 digits.
 */
void tkb_json_add_text(struct tkb_buf *out, const char *before,
                       const char *text);
void tkb_json_add_number(struct tkb_buf *out, const char *before,
                         uint64_t number);
void tkb_json_add_digest(struct tkb_buf *out, const char *before,
                         const struct tkb_digest *digest);

#endif
