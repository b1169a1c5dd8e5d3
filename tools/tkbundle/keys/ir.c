/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/ir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys/ptx.h"

static bool word_begins_at(struct tkb_bytes text, size_t at, const char *word)
{
	const size_t size = strlen(word);

	return text.size - at >= size &&
	       memcmp((const char *)text.data + at, word, size) == 0;
}

/*
 * The position after the bracket that closes the one at `at`; brackets in
 * strings are ignored.
 */
static size_t end_of_bracket(struct tkb_bytes text, size_t at)
{
	const char *const bytes = text.data;
	bool is_string = false;
	size_t depth = 0;

	for (; at < text.size; at++) {
		const char byte = bytes[at];

		if (is_string && byte == '\\')
			at++;
		else if (byte == '"')
			is_string = !is_string;
		else if (!is_string && byte == '(')
			depth++;
		else if (!is_string && byte == ')' && --depth == 0)
			return at + 1;
	}
	return text.size;
}

static size_t end_of_line(struct tkb_bytes text, size_t at)
{
	const char *const end =
		memchr((const char *)text.data + at, '\n', text.size - at);

	return end != NULL ? (size_t)(end - (const char *)text.data) + 1
	                   : text.size;
}

char *ir_without_places(struct tkb_bytes ir, size_t *size_out)
{
	const char *const bytes = ir.data;
	char *const out = malloc(ir.size + 1);
	bool is_line_begin = true;
	size_t size = 0;

	for (size_t at = 0; out != NULL && at < ir.size;) {
		if (is_line_begin && word_begins_at(ir, at, "#loc")) {
			at = end_of_line(ir, at);
			continue;
		}
		if (word_begins_at(ir, at, " loc(")) {
			at = end_of_bracket(ir, at);
			continue;
		}
		is_line_begin = bytes[at] == '\n';
		out[size++] = bytes[at++];
	}
	if (out != NULL)
		out[size] = '\0';
	*size_out = size;
	return out;
}

/* #loc5 = loc("/srv/app/model.py":7:24) */
char *ir_lines(struct tkb_bytes ir, size_t *size_out)
{
	const char *const bytes = ir.data;
	char *const out = malloc(ir.size + 1);
	size_t size = 0;

	for (size_t at = 0; out != NULL && at < ir.size;) {
		const size_t end = end_of_line(ir, at);
		const char *const quote =
			word_begins_at(ir, at, "#loc")
				? memrchr(bytes + at, '"', end - at)
				: NULL;
		size_t from = quote != NULL ? (size_t)(quote - bytes) + 2 : end;

		for (; from < end && strchr(":0123456789", bytes[from]) != NULL;
		     from++)
			out[size++] = bytes[from];
		if (quote != NULL)
			out[size++] = ' ';
		at = end;
	}
	if (out != NULL)
		out[size] = '\0';
	*size_out = size;
	return out;
}

/* The position after the first `word` in the text; NULL: there is none. */
static const char *find_behind(struct tkb_bytes text, const char *word)
{
	const char *const found =
		memmem(text.data, text.size, word, strlen(word));

	return found != NULL ? found + strlen(word) : NULL;
}

/* Copy the characters at `from` that are in `set`; false: there are none. */
static bool take_characters(struct tkb_bytes text, const char *from,
                            const char *set, char out[IR_TEXT_SIZE])
{
	const char *const end = (const char *)text.data + text.size;
	size_t size = 0;

	while (from < end && size < IR_TEXT_SIZE - 1 && *from != '\0' &&
	       strchr(set, *from) != NULL)
		out[size++] = *from++;
	out[size] = '\0';
	return size != 0;
}

bool ir_line(struct tkb_bytes ir, char out[IR_TEXT_SIZE])
{
	/* #loc = loc("/srv/app/model.py":9:0) */
	const char *const path = find_behind(ir, "#loc = loc(\"");
	const char *const end = (const char *)ir.data + ir.size;
	const char *quote =
		path != NULL ? memchr(path, '"', (size_t)(end - path)) : NULL;

	return quote != NULL && quote + 1 < end && quote[1] == ':' &&
	       take_characters(ir, quote + 2, "0123456789", out);
}

bool ir_module(struct tkb_bytes ir, char out[IR_TEXT_SIZE])
{
	/* #loc = loc("/root/torchinductor/5n/c5nsflqgsg....py":18:0) */
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
	const char *const path = find_behind(ir, "#loc = loc(\"");
	const char *const end = (const char *)ir.data + ir.size;
	const char *const quote =
		path != NULL ? memchr(path, '"', (size_t)(end - path)) : NULL;
	const char *name;

	if (quote == NULL || quote - path < IR_MODULE_SIZE + 4)
		return false;
	name = quote - IR_MODULE_SIZE;
	/* The folder is named after the first two digits of the hash. */
	if (name[-1] != '/' || name[-4] != '/' ||
	    memcmp(name - 3, name + 1, 2) != 0 ||
	    memcmp(quote - 3, ".py", 3) != 0)
		return false;
	(void)snprintf(out, IR_TEXT_SIZE, "%.*s", IR_MODULE_SIZE, name);
	return strspn(out, digits) == IR_MODULE_SIZE - strlen(".py");
}

bool ir_ptxas_of_ptx(struct tkb_bytes ptx, char out[IR_TEXT_SIZE])
{
	return ptx_cuda(ptx_of_text(ptx), out, IR_TEXT_SIZE);
}

bool ir_ptxas_of_cubin(struct tkb_bytes cubin, char out[IR_TEXT_SIZE])
{
	const char *const release =
		find_behind(cubin, "Cuda compilation tools, release ");
	const char *const end = (const char *)cubin.data + cubin.size;
	const char *version;

	if (release == NULL)
		return false;
	version = memmem(release, (size_t)(end - release), ", V", 3);
	return version != NULL && version - release < IR_TEXT_SIZE &&
	       take_characters(cubin, version + 3, "0123456789.", out);
}
