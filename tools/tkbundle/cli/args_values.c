/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/args_values.h"

#include <stdlib.h>
#include <string.h>

size_t args_word(const char *words, uint32_t index, const char **begin_out)
{
	const char *begin = words;

	for (uint32_t i = 0; i < index && *begin != '\0'; i++) {
		begin += strcspn(begin, "|");
		begin += *begin == '|' ? 1 : 0;
	}

	*begin_out = begin;
	return strcspn(begin, "|");
}

static bool parse_number(const char *text, uint32_t min, uint32_t max,
                         uint32_t *out)
{
	const size_t length = strlen(text);
	unsigned long value;

	/*
	 * Nine digits fit into 32 bits; strtoul() alone would accept signs and
	 * spaces.
	 */
	if (length == 0 || length > 9 || strspn(text, "0123456789") != length)
		return false;

	value = strtoul(text, NULL, 10);
	if (value < min || value > max)
		return false;

	*out = (uint32_t)value;
	return true;
}

bool args_find_word(const char *text, const char *words, uint32_t *out)
{
	const char *word;
	size_t length = args_word(words, 0, &word);

	for (uint32_t i = 0; length > 0;
	     length = args_word(words, ++i, &word)) {
		if (strlen(text) == length &&
		    strncmp(text, word, length) == 0) {
			*out = i;
			return true;
		}
	}

	return false;
}

/* Cuts `text`, "cuda:90" or "cuda:90:32", into the parts of a target. */
static bool is_target(char *text, struct tkb_target *out)
{
	char *arch = strchr(text, ':');
	char *warp = arch != NULL ? strchr(arch + 1, ':') : NULL;
	uint32_t warp_size = 0;

	if (text[0] == '\0' || arch == text)
		return false;
	if (warp != NULL && !parse_number(warp + 1, 1, 1024, &warp_size))
		return false;

	if (warp != NULL)
		*warp = '\0';
	if (arch != NULL)
		*arch = '\0';

	*out = (struct tkb_target){ .backend = text,
		                    .arch = arch != NULL ? arch + 1 : "",
		                    .warp_size = warp_size };
	return true;
}

static void add_number(struct numbers *list, uint32_t value)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i] == value)
			return;
	}

	list->items[list->count] = value;
	list->count++;
}

static enum status store_number(const struct args_parser *parser,
                                const struct option_spec *spec,
                                const char *text, void *to)
{
	struct number *const number = to;
	uint32_t value;

	if (!parse_number(text, spec->min, spec->max, &value))
		return cli_misused(parser->cli,
		                   "'%s' wants a number from %u to %u, "
		                   "not '%s'",
		                   parser->shown, spec->min, spec->max, text);

	if (spec->kind == OPTION_NUMBERS)
		add_number(to, value);
	else
		*number = (struct number){ .is_set = true, .value = value };
	return STATUS_DONE;
}

static bool parse_time(const char *text, uint64_t *out)
{
	return tkb_time_parse(text, 0, out);
}

/* Ages are whole seconds. */
static bool read_age(const char *text, uint64_t *out)
{
	uint64_t time_ms;

	if (strstr(text, "ms") != NULL || !parse_time(text, &time_ms))
		return false;
	*out = time_ms / 1000;
	return true;
}

struct amount_kind {
	bool (*parse)(const char *text, uint64_t *out);
	const char *example;
};

static const struct amount_kind *amount_kind(enum option_kind kind)
{
	static const struct amount_kind size = { tkb_size_parse,
		                                 "500M or 20Gi" };
	static const struct amount_kind age = { read_age, "30d or 12h" };
	static const struct amount_kind time = { parse_time, "500ms or 30s" };

	if (kind == OPTION_SIZE)
		return &size;
	return kind == OPTION_AGE ? &age : &time;
}

static enum status store_amount(const struct args_parser *parser,
                                const struct option_spec *spec,
                                const char *text, void *to)
{
	struct amount *const amount = to;
	const struct amount_kind *const kind = amount_kind(spec->kind);
	uint64_t value = 0;

	if (!kind->parse(text, &value) || value < spec->min ||
	    (spec->max != 0 && value > spec->max))
		return cli_misused(
			parser->cli, "'%s' wants %s, as in %s, not '%s'",
			parser->shown, spec->value, kind->example, text);

	*amount = (struct amount){ .is_set = true, .value = value };
	return STATUS_DONE;
}

static enum status store_word(const struct args_parser *parser,
                              const struct option_spec *spec, const char *text,
                              void *to)
{
	struct number *const number = to;
	uint32_t value;

	if (!args_find_word(text, spec->value, &value))
		return cli_misused(parser->cli, "'%s' wants %s, not '%s'",
		                   parser->shown, spec->value, text);

	*number = (struct number){ .is_set = true, .value = value };
	return STATUS_DONE;
}

/*
 * A value may hold several targets; the commas between them are overwritten.
 */
static enum status store_targets(const struct args_parser *parser,
                                 const struct option_spec *spec, char *text,
                                 void *to)
{
	struct targets *const list = to;

	while (text != NULL) {
		char *const comma = strchr(text, ',');

		if (comma != NULL)
			*comma = '\0';
		if (!is_target(text, &list->items[list->count]))
			return cli_misused(
				parser->cli,
				"'%s' wants %s, as in cuda:90, not '%s'",
				parser->shown, spec->value, text);
		list->count++;
		text = comma != NULL ? comma + 1 : NULL;
	}
	return STATUS_DONE;
}

static enum status store_text(const struct args_parser *parser,
                              const struct option_spec *spec, const char *text,
                              void *to)
{
	struct texts *const list = to;
	const char **const last = to;

	if (text[0] == '\0')
		return cli_misused(parser->cli, "'%s' wants %s, not nothing",
		                   parser->shown, spec->value);

	if (spec->kind == OPTION_TEXT) {
		*last = text;
		return STATUS_DONE;
	}

	list->items[list->count] = text;
	list->count++;
	return STATUS_DONE;
}

/* Overwrite the secret: other users can read a process's command line. */
static enum status store_secret(const struct args_parser *parser,
                                const struct option_spec *spec, char *text,
                                void *to)
{
	char **const last = to;
	char *const copy = strdup(text);

	if (copy == NULL)
		return cli_no_memory(parser->cli);
	free(*last);
	*last = copy;
	(void)memset(text, '*', strlen(text));
	if (copy[0] == '\0')
		return cli_misused(parser->cli, "'%s' wants %s, not nothing",
		                   parser->shown, spec->value);
	return STATUS_DONE;
}

enum status args_store(const struct args_parser *parser,
                       const struct option_spec *spec, char *text)
{
	void *const to = (char *)parser->out + spec->offset;

	switch (spec->kind) {
	case OPTION_SWITCH:
		*(bool *)to = true;
		break;
	case OPTION_TEXT:
	case OPTION_TEXTS:
		return store_text(parser, spec, text, to);
	case OPTION_SECRET:
		return store_secret(parser, spec, text, to);
	case OPTION_NUMBER:
	case OPTION_NUMBERS:
		return store_number(parser, spec, text, to);
	case OPTION_SIZE:
	case OPTION_AGE:
	case OPTION_TIME:
		return store_amount(parser, spec, text, to);
	case OPTION_WORD:
		return store_word(parser, spec, text, to);
	case OPTION_TARGETS:
		return store_targets(parser, spec, text, to);
	}

	return STATUS_DONE;
}
