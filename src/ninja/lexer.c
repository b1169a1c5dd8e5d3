/* SPDX-License-Identifier: Apache-2.0 */
#include "ninja/lexer.h"

#include <stdlib.h>

#include "text/ascii.h"

enum {
	EXPANDED_LIMIT = 64 * 1024 * 1024,
	VARIABLES_LIMIT = 256
};

void tkb_ninja_lexer_release(struct tkb_ninja_lexer *lexer)
{
	tkb_arena_release(&lexer->arena);
	free(lexer->file.items);
	free(lexer->statement.items);
}

static unsigned char lexer_byte_at(const struct tkb_ninja_lexer *lexer,
                                   size_t at)
{
	const unsigned char *text = lexer->text.data;

	return at < lexer->text.size ? text[at] : '\0';
}

int tkb_ninja_lexer_fail(const struct tkb_ninja_lexer *lexer, const char *what,
                         struct tkb_error *err)
{
	size_t line = 1;

	for (size_t i = 0; i < lexer->at; i++)
		line += lexer_byte_at(lexer, i) == '\n';
	return tkb_fail_entry(err, TKB_REASON_METADATA,
	                      "line %zu of build.ninja: %s", line, what);
}

unsigned char tkb_ninja_lexer_peek(const struct tkb_ninja_lexer *lexer)
{
	return lexer_byte_at(lexer, lexer->at);
}

/* The size of the line's end at `at`; 0 if there is none. */
static size_t end_size(const struct tkb_ninja_lexer *lexer, size_t at)
{
	if (lexer_byte_at(lexer, at) == '\n')
		return 1;
	return lexer_byte_at(lexer, at) == '\r' &&
	                       lexer_byte_at(lexer, at + 1) == '\n'
	               ? 2
	               : 0;
}

void tkb_ninja_lexer_skip_space(struct tkb_ninja_lexer *lexer)
{
	for (;;) {
		if (lexer_byte_at(lexer, lexer->at) == ' ')
			lexer->at++;
		else if (lexer_byte_at(lexer, lexer->at) == '$' &&
		         end_size(lexer, lexer->at + 1) != 0)
			lexer->at += 1 + end_size(lexer, lexer->at + 1);
		else
			return;
	}
}

bool tkb_ninja_lexer_take_end(struct tkb_ninja_lexer *lexer)
{
	const size_t size = end_size(lexer, lexer->at);

	lexer->at += size;
	return size != 0 || lexer->at == lexer->text.size;
}

bool tkb_ninja_lexer_take_comment(struct tkb_ninja_lexer *lexer)
{
	if (lexer_byte_at(lexer, lexer->at) != '#')
		return false;
	while (lexer->at < lexer->text.size &&
	       lexer_byte_at(lexer, lexer->at) != '\n')
		lexer->at++;
	lexer->at += lexer->at < lexer->text.size;
	return true;
}

void tkb_ninja_lexer_skip_line(struct tkb_ninja_lexer *lexer)
{
	while (!tkb_ninja_lexer_take_end(lexer)) {
		if (lexer_byte_at(lexer, lexer->at) == '$') {
			const size_t size = end_size(lexer, lexer->at + 1);

			lexer->at += size == 0 ? 2 : 1 + size;
			if (lexer->at > lexer->text.size)
				lexer->at = lexer->text.size;
		} else {
			lexer->at++;
		}
	}
}

static bool is_simple(unsigned char byte)
{
	return tkb_is_digit(byte) || tkb_is_letter(byte) || byte == '_' ||
	       byte == '-';
}

bool tkb_ninja_lexer_take(struct tkb_ninja_lexer *lexer, const char *word)
{
	const size_t size = strlen(word);

	if (size > lexer->text.size - lexer->at ||
	    memcmp((const char *)lexer->text.data + lexer->at, word, size) != 0)
		return false;
	lexer->at += size;
	tkb_ninja_lexer_skip_space(lexer);
	return true;
}

int tkb_ninja_lexer_word(struct tkb_ninja_lexer *lexer, struct tkb_bytes *out,
                         struct tkb_error *err)
{
	const size_t start = lexer->at;

	while (is_simple(tkb_ninja_lexer_peek(lexer)) ||
	       tkb_ninja_lexer_peek(lexer) == '.')
		lexer->at++;
	if (lexer->at == start)
		return tkb_ninja_lexer_fail(lexer, "a word is missing", err);
	*out = tkb_bytes_slice(lexer->text, start, lexer->at);
	tkb_ninja_lexer_skip_space(lexer);
	return 0;
}

static struct tkb_ninja_variable *find_in_scope(
	const struct tkb_ninja_scope *scope, struct tkb_bytes name)
{
	for (size_t i = 0; i < scope->count; i++) {
		if (tkb_bytes_equal(scope->items[i].name, name))
			return &scope->items[i];
	}
	return NULL;
}

const char *tkb_ninja_scope_value(const struct tkb_ninja_scope *scope,
                                  struct tkb_bytes name)
{
	const struct tkb_ninja_variable *found = find_in_scope(scope, name);

	return found == NULL ? NULL : found->value;
}

/* Append a variable's value; nothing if the variable is not set. */
static int expand_variable(const struct tkb_ninja_lexer *lexer,
                           struct tkb_bytes name, bool is_path,
                           struct tkb_buf *out, struct tkb_error *err)
{
	const char *value = NULL;

	if (lexer->names != NULL)
		return lexer->names->lookup(lexer->names->self, name, out, err);
	/* The variables of a statement are used in its paths, but not in
	   each other's values. */
	if (is_path)
		value = tkb_ninja_scope_value(&lexer->statement, name);
	if (value == NULL)
		value = tkb_ninja_scope_value(&lexer->file, name);
	if (value != NULL)
		tkb_buf_add_text(out, value);
	return 0;
}

/* Append what the "$" at `lexer->at` stands for. */
static int add_escape(struct tkb_ninja_lexer *lexer, bool is_path,
                      struct tkb_buf *out, struct tkb_error *err)
{
	const bool is_braced = lexer_byte_at(lexer, lexer->at + 1) == '{';
	const unsigned char next = lexer_byte_at(lexer, lexer->at + 1);
	size_t start = lexer->at + 1;
	size_t end;
	int rc;

	if (end_size(lexer, start) != 0) {
		tkb_ninja_lexer_skip_space(lexer);
		return 0;
	}
	if (next == '$' || next == ' ' || next == ':') {
		tkb_buf_add_byte(out, (char)next);
		lexer->at += 2;
		return 0;
	}
	start += is_braced;
	end = start;
	while (is_simple(lexer_byte_at(lexer, end)) ||
	       (is_braced && lexer_byte_at(lexer, end) == '.'))
		end++;
	if (end == start || (is_braced && lexer_byte_at(lexer, end) != '}'))
		return tkb_ninja_lexer_fail(lexer, "a \"$\" with no meaning",
		                            err);
	rc = expand_variable(lexer, tkb_bytes_slice(lexer->text, start, end),
	                     is_path, out, err);
	lexer->at = end + is_braced;
	return rc;
}

static bool ends_ninja_path(unsigned char byte)
{
	return byte == ' ' || byte == ':' || byte == '|';
}

/* Take a value up to the end of the line, or a path up to its own end. */
static int take_value_text(struct tkb_ninja_lexer *lexer, bool is_path,
                           struct tkb_buf *out, struct tkb_error *err)
{
	const size_t before = out->size;
	int rc = 0;

	while (rc == 0 && lexer->at < lexer->text.size &&
	       end_size(lexer, lexer->at) == 0) {
		const unsigned char byte = tkb_ninja_lexer_peek(lexer);

		if (is_path && ends_ninja_path(byte))
			break;
		if (byte == '\0' || byte == '\r')
			return tkb_ninja_lexer_fail(
				lexer, "a byte that is not allowed", err);
		if (byte == '$') {
			rc = add_escape(lexer, is_path, out, err);
			continue;
		}
		tkb_buf_add_byte(out, (char)byte);
		lexer->at++;
	}
	if (rc == 0)
		rc = tkb_buf_check(out, err);
	lexer->expanded += out->size - before;
	if (rc == 0 && lexer->expanded > EXPANDED_LIMIT)
		rc = tkb_ninja_lexer_fail(lexer,
		                          "its variables become too long", err);
	return rc;
}

int tkb_ninja_lexer_expand(struct tkb_ninja_lexer *lexer, size_t at,
                           const struct tkb_ninja_names *names,
                           struct tkb_buf *out, struct tkb_error *err)
{
	const struct tkb_ninja_names *outer = lexer->names;
	const size_t before = lexer->at;
	int rc;

	lexer->at = at;
	lexer->names = names;
	rc = take_value_text(lexer, false, out, err);
	lexer->at = before;
	lexer->names = outer;
	return rc;
}

int tkb_ninja_lexer_set(struct tkb_ninja_lexer *lexer, struct tkb_bytes name,
                        struct tkb_ninja_scope *scope, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf value = TKB_BUF_INIT(TKB_NINJA_VALUE_LIMIT);
	struct tkb_ninja_variable variable = { .name = name };
	struct tkb_ninja_variable *found = find_in_scope(scope, name);
	int rc;

	if (!tkb_ninja_lexer_take(lexer, "="))
		return tkb_ninja_lexer_fail(lexer, "no \"=\" after a word",
		                            err);
	rc = take_value_text(lexer, false, &value, err);
	if (rc == 0)
		rc = tkb_arena_copy_buf(&lexer->arena, &value, &variable.value,
		                        err);
	if (rc < 0)
		return rc;
	(void)tkb_ninja_lexer_take_end(lexer);
	if (found != NULL) {
		*found = variable;
		return 0;
	}
	if (scope->count == VARIABLES_LIMIT)
		return tkb_ninja_lexer_fail(lexer, "more variables than 256",
		                            err);
	return tkb_append(&scope->items, &scope->count, &scope->capacity,
	                  &variable, sizeof(variable), err);
}

/* Find the last part of the path in `out`; false if ".." may not remove it. */
static bool find_last(const struct tkb_buf *out, size_t *start)
{
	const char *text = (const char *)out->data;
	size_t at = out->size;

	if (at == 0 || (at == 1 && text[0] == '/'))
		return false;
	at--; /* the slash after it */
	while (at > 0 && text[at - 1] != '/')
		at--;
	*start = at;
	return !(out->size - at == 3 && memcmp(text + at, "../", 3) == 0);
}

/* Remove "//", "./" and "x/../", as ninja's CanonicalizePath() does. */
static void tidy(struct tkb_bytes path, struct tkb_buf *out)
{
	const char *text = path.data;
	const bool is_absolute = path.size != 0 && text[0] == '/';
	size_t start;
	size_t end;

	if (is_absolute)
		tkb_buf_add_byte(out, '/');
	for (size_t at = 0; at < path.size; at = end + 1) {
		const char *slash = memchr(text + at, '/', path.size - at);
		const struct tkb_bytes part = tkb_bytes_slice(
			path, at,
			slash == NULL ? path.size : (size_t)(slash - text));

		end = at + part.size;
		if (part.size == 0 || tkb_bytes_equal(part, tkb_text(".")))
			continue;
		if (tkb_bytes_equal(part, tkb_text("..")) && is_absolute &&
		    out->size == 1)
			continue;
		if (tkb_bytes_equal(part, tkb_text("..")) &&
		    find_last(out, &start)) {
			out->size = start;
			continue;
		}
		tkb_buf_add(out, part);
		tkb_buf_add_byte(out, '/');
	}
	if (out->size == 0)
		tkb_buf_add_byte(out, '.');
	else if (out->size > 1)
		out->size--;
}

int tkb_ninja_lexer_path(struct tkb_ninja_lexer *lexer, const char **out,
                         struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(TKB_NINJA_VALUE_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf tidied = TKB_BUF_INIT(TKB_NINJA_VALUE_LIMIT + 1);
	const size_t start = lexer->at;
	int rc;

	rc = take_value_text(lexer, true, &path, err);
	if (rc < 0)
		return rc;
	if (path.size == 0 && lexer->at != start)
		return tkb_ninja_lexer_fail(lexer, "an empty path", err);
	if (path.size != 0)
		tidy(tkb_buf_bytes(&path), &tidied);
	tkb_ninja_lexer_skip_space(lexer);
	return tkb_arena_copy_buf(&lexer->arena, &tidied, out, err);
}
