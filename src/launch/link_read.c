/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/link.h"

#include "launch/names.h"
#include "launch/print.h"

enum {
	WORD_COUNT = 6 /* words before the signature */
};

static int fail_header(const struct tkb_c_header *header, struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_INVALID,
	                "'%s' is not a header written by 'tkbundle launcher'",
	                header->name);
}

/* Find the complete line that begins with `start`, and return its rest. */
static bool find_line(struct tkb_bytes text, const char *start,
                      struct tkb_bytes *out)
{
	const char *const data = text.data;
	const size_t length = strlen(start);
	size_t at = 0;

	while (at < text.size) {
		const char *const newline =
			memchr(data + at, '\n', text.size - at);
		size_t end;

		if (newline == NULL)
			return false;
		end = (size_t)(newline - data);
		if (end - at >= length &&
		    memcmp(data + at, start, length) == 0) {
			*out = tkb_bytes_slice(text, at + length, end);
			return true;
		}
		at = end + 1;
	}
	return false;
}

/* Take a word from the start of `text`; NULL: out of memory. */
static const char *take_word(struct tkb_bytes *text, struct tkb_arena *arena)
{
	const char *const data = text->data;
	size_t length = 0;
	const char *word;

	while (length < text->size && data[length] != ' ')
		length++;
	word = tkb_arena_string(arena, tkb_bytes_slice(*text, 0, length));
	length += length < text->size ? 1 : 0;
	*text = tkb_bytes_slice(*text, length, text->size);
	return word;
}

/* Read a number from 1 to 999; 0 for anything else. */
static uint32_t read_link_number(const char *word)
{
	uint32_t number = 0;

	if (strlen(word) > 3)
		return 0;
	for (; *word != '\0'; word++) {
		if (*word < '0' || *word > '9')
			return 0;
		number = number * 10 + (uint32_t)(*word - '0');
	}
	return number;
}

static int read_words(const struct tkb_c_header *header,
                      const char *const words[WORD_COUNT],
                      struct tkb_arena *arena, struct tkb_c_variant *out,
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf buf = TKB_BUF_INIT(TKB_MIB);
	const uint32_t num_warps = read_link_number(words[2]);
	const uint32_t num_stages = read_link_number(words[3]);
	size_t scratch = 0;
	int rc;

	while (scratch < 4 && strcmp(words[5], tkb_scratch_words[scratch]) != 0)
		scratch++;
	if (!tkb_name_is_identifier(words[0]) || num_warps == 0 ||
	    num_stages == 0 || scratch == 4)
		return fail_header(header, err);
	out->name = words[0];
	out->scratch = (unsigned)scratch;
	out->has_grid = strcmp(words[4], "grid") == 0;

	/* Names computed from the signature must match the header's. */
	tkb_print(&buf, "%s_", out->name);
	rc = tkb_signature_suffix(&out->signature, num_warps, num_stages, &buf,
	                          err);
	if (rc < 0)
		return rc;
	rc = tkb_arena_copy_buf(arena, &buf, &out->function, err);
	if (rc < 0)
		return rc;
	tkb_buf_reset(&buf);
	tkb_print(&buf, "%s_", out->name);
	tkb_signature_algo(&out->signature, num_warps, num_stages, &buf);
	rc = tkb_arena_copy_buf(arena, &buf, &out->algo, err);
	if (rc < 0)
		return rc;
	return strcmp(out->function + strlen(out->name) + 1, words[1]) == 0
	               ? 0
	               : fail_header(header, err);
}

static int read_arguments(const struct tkb_c_header *header,
                          struct tkb_arena *arena, struct tkb_c_variant *out,
                          struct tkb_error *err)
{
	struct tkb_bytes names;

	if (!find_line(header->text, TKB_ARGUMENTS_LINE, &names))
		return fail_header(header, err);
	out->arguments = tkb_arena_alloc(arena, out->signature.count,
	                                 sizeof(*out->arguments));
	if (out->arguments == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < out->signature.count; i++) {
		const struct tkb_argument *const item =
			&out->signature.items[i];
		struct tkb_c_argument *const argument =
			&out->arguments[out->argument_count];

		if (item->what == TKB_CLASS_CONSTANT)
			continue;
		argument->item = item;
		argument->c = take_word(&names, arena);
		if (argument->c == NULL)
			return tkb_fail_nomem(err);
		if (!tkb_name_is_of_argument(argument->c))
			return fail_header(header, err);
		argument->given = argument->c;
		out->argument_count++;
		out->hint_count += item->hint == TKB_HINT_NONE ? 0 : 1;
	}
	return names.size == 0 ? 0 : fail_header(header, err);
}

int tkb_c_variant_read(const struct tkb_c_header *header,
                       struct tkb_arena *arena, struct tkb_c_variant *out,
                       struct tkb_error *err)
{
	const char *words[WORD_COUNT];
	struct tkb_bytes line;
	int rc;

	out->header = header->name;
	if (!find_line(header->text, TKB_LAUNCHER_LINE, &line))
		return fail_header(header, err);
	for (size_t i = 0; i < WORD_COUNT; i++) {
		words[i] = take_word(&line, arena);
		if (words[i] == NULL)
			return tkb_fail_nomem(err);
	}
	rc = tkb_signature_parse(line, arena, &out->signature, err);
	if (rc == TKB_ERR_NOMEM)
		return rc;
	if (rc < 0)
		return fail_header(header, err);
	rc = read_words(header, words, arena, out, err);
	return rc == 0 ? read_arguments(header, arena, out, err) : rc;
}
