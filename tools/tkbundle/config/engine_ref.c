/* SPDX-License-Identifier: Apache-2.0 */
#include "config/engine_ref.h"

#include <stdio.h>
#include <string.h>

#include "cli/auto.h"

#define SEPARATORS "-_./"

static const char *const words[] = { "{engine}", "{version}", "{model}",
	                             "{arch}" };

enum {
	WORD_COUNT = TKB_COUNT_OF(words),
	NAME_SIZE = 128
};

/* Find the word that begins at `text`. WORD_COUNT: none. */
static size_t find_word(const char *text)
{
	size_t i = 0;

	while (i < WORD_COUNT && strncmp(text, words[i], strlen(words[i])) != 0)
		i++;
	return i;
}

bool engine_ref_is_valid(const char *pattern)
{
	if (strlen(pattern) >= ENGINE_REF_SIZE)
		return false;
	while (*pattern != '\0') {
		const size_t word = find_word(pattern);

		if (word == WORD_COUNT && strchr("{}", *pattern) != NULL)
			return false;
		pattern += word == WORD_COUNT ? 1 : strlen(words[word]);
	}
	return true;
}

static bool is_ref_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

/*
 * The last two parts of a model's name or path, with only bytes that a ref may
 * have.
 */
static void name_model(const char *model, char out[NAME_SIZE])
{
	const char *start = model + strlen(model);
	size_t slashes = 0;
	size_t used = 0;

	while (start > model && slashes < 2) {
		start--;
		slashes += *start == '/';
	}
	if (*start == '/')
		start++;
	for (; *start != '\0' && used + 1 < NAME_SIZE; start++) {
		const bool begins = used == 0 || out[used - 1] == '/';

		if (*start == '/' && !begins)
			out[used++] = '/';
		else if (is_ref_character(*start) && !(begins && *start == '.'))
			out[used++] = *start;
	}
	while (used > 0 && out[used - 1] == '/')
		used--;
	out[used] = '\0';
}

/* "0.24" of "0.24.1+cu128" */
static void name_version(const char *version, char out[NAME_SIZE])
{
	size_t used = 0;
	size_t dots = 0;

	for (; is_ref_character(*version) && used + 1 < NAME_SIZE; version++) {
		dots += *version == '.';
		if (dots == 2)
			break;
		out[used++] = *version;
	}
	out[used] = '\0';
}

void engine_ref_make(const char *pattern, const struct engine_ref_facts *facts,
                     char *out, size_t size)
{
	char version[NAME_SIZE];
	char model[NAME_SIZE] = "";
	const char *const values[] = { facts->engine, version, model,
		                       "{arch}" };
	size_t used = 0;

	name_version(facts->version, version);
	if (facts->model != NULL)
		name_model(facts->model, model);
	while (*pattern != '\0' && used + 1 < size) {
		const size_t word = find_word(pattern);
		const size_t length =
			word == WORD_COUNT ? 1 : strlen(words[word]);
		const char *const value =
			word == WORD_COUNT ? NULL : values[word];

		if (value == NULL &&
		    !(used == 0 && strchr(SEPARATORS, *pattern) != NULL))
			out[used++] = *pattern;
		else if (value != NULL && value[0] != '\0')
			used += (size_t)snprintf(out + used, size - used, "%s",
			                         value);
		else if (used > 0 && strchr(SEPARATORS, out[used - 1]) != NULL)
			used--;
		used = used < size ? used : size - 1;
		pattern += length;
	}
	out[used] = '\0';
}
