/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/args.h"

#include <stdlib.h>
#include <string.h>

const struct option_spec args_help_option = {
	.name = "help",
	.letter = 'h',
	.kind = OPTION_SWITCH,
	.offset = offsetof(struct arguments, is_help),
	.help = "explain this verb"
};

/* The state of the parser. */
struct parser {
	const struct cli *cli;
	char **argv;
	int argc;
	int next;       /* the next word to be looked at */
	char shown[64]; /* the present option, as it was written */
	struct arguments *out;
};

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

const char *args_operand(const struct arguments *args, size_t index)
{
	return index < args->operands.count ? args->operands.items[index]
	                                    : NULL;
}

bool args_is_given(const struct arguments *args, const struct option_spec *spec)
{
	const void *const at = (const char *)args + spec->offset;

	switch (spec->kind) {
	case OPTION_SWITCH:
		return *(const bool *)at;
	case OPTION_TEXT:
	case OPTION_SECRET:
		return *(const char *const *)at != NULL;
	case OPTION_TEXTS:
		return ((const struct texts *)at)->count != 0;
	case OPTION_NUMBER:
	case OPTION_WORD:
		return ((const struct number *)at)->is_set;
	case OPTION_NUMBERS:
		return ((const struct numbers *)at)->count != 0;
	case OPTION_SIZE:
	case OPTION_AGE:
	case OPTION_TIME:
		return ((const struct amount *)at)->is_set;
	case OPTION_TARGETS:
		return ((const struct targets *)at)->count != 0;
	}
	return false;
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

static enum status store_number(const struct parser *parser,
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

static enum status store_amount(const struct parser *parser,
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

static enum status store_word(const struct parser *parser,
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
 * One value may hold several targets; the commas between them are overwritten.
 */
static enum status store_targets(const struct parser *parser,
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

static enum status store_text(const struct parser *parser,
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
static enum status store_secret(const struct parser *parser,
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

/* Keep the value of an option; a switch has none. */
static enum status store_option(const struct parser *parser,
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

/* Store the value that is joined to the option, or else the next word. */
static enum status store_value(struct parser *parser,
                               const struct option_spec *spec, char *joined)
{
	if (joined != NULL)
		return store_option(parser, spec, joined);
	if (parser->next == parser->argc)
		return cli_misused(parser->cli, "'%s' wants %s", parser->shown,
		                   spec->value);

	parser->next++;
	return store_option(parser, spec, parser->argv[parser->next - 1]);
}

/* The option called `name`, of `length` bytes, or `letter`; or NULL. */
static const struct option_spec *find_option(const struct command *command,
                                             const char *name, size_t length,
                                             char letter)
{
	for (size_t i = 0; i <= command->option_count; i++) {
		const struct option_spec *spec = i < command->option_count
		                                         ? &command->options[i]
		                                         : &args_help_option;

		if (letter != '\0' && spec->letter == letter)
			return spec;
		if (letter == '\0' && strlen(spec->name) == length &&
		    strncmp(spec->name, name, length) == 0)
			return spec;
	}

	return NULL;
}

static enum status take_long(struct parser *parser, char *word)
{
	const char *const name = word + 2;
	const size_t length = strcspn(name, "=");
	char *const value = word[2 + length] != '\0' ? word + 3 + length : NULL;
	const struct option_spec *const spec =
		find_option(parser->cli->command, name, length, '\0');

	if (spec == NULL)
		return cli_misused(parser->cli, "unknown option '%.*s'",
		                   (int)length + 2, word);

	(void)snprintf(parser->shown, sizeof(parser->shown), "--%s",
	               spec->name);
	if (spec->kind != OPTION_SWITCH)
		return store_value(parser, spec, value);
	if (value != NULL)
		return cli_misused(parser->cli, "'%s' takes no value",
		                   parser->shown);
	return store_option(parser, spec, NULL);
}

static enum status take_letters(struct parser *parser, char *word)
{
	enum status status = STATUS_DONE;

	for (char *at = word + 1; status == STATUS_DONE && *at != '\0'; at++) {
		const struct option_spec *const spec =
			find_option(parser->cli->command, "", 0, *at);

		if (spec == NULL)
			return cli_misused(parser->cli, "unknown option '-%c'",
			                   *at);

		(void)snprintf(parser->shown, sizeof(parser->shown), "-%c",
		               *at);
		if (spec->kind != OPTION_SWITCH)
			return store_value(parser, spec,
			                   at[1] != '\0' ? at + 1 : NULL);
		status = store_option(parser, spec, NULL);
	}

	return status;
}

/*
 * The name of operand number `index`, or NULL if the verb has no such operand.
 */
static const char *operand_name(const struct command *command, size_t index)
{
	size_t i = 0;

	while (i < index && command->operands[i] != NULL)
		i++;
	if (command->operands[i] == NULL && command->repeats_operand)
		return command->operands[i - 1];
	return command->operands[i];
}

/* A URL may hold a password: it is never shown. */
static bool is_misplaced_url(const struct parser *parser, const char *word)
{
	const struct command *const command = parser->cli->command;

	if (word[0] == '-' || strstr(word, "://") == NULL)
		return false;
	for (size_t i = 0; i < command->option_count; i++) {
		if (command->options[i].kind == OPTION_SECRET)
			return true;
	}
	return false;
}

static enum status take_operand(struct parser *parser, const char *word)
{
	const struct command *const command = parser->cli->command;
	struct texts *const operands = &parser->out->operands;
	const char *const name = operand_name(command, operands->count);

	if (name == NULL)
		return cli_misused(parser->cli, "unexpected operand '%s'",
		                   word);
	if (word[0] == '\0' &&
	    (!command->takes_command || operands->count == 0))
		return cli_misused(parser->cli, "%s must not be empty", name);

	operands->items[operands->count] = word;
	operands->count++;
	return STATUS_DONE;
}

static enum status take_words(struct parser *parser)
{
	enum status status = STATUS_DONE;
	bool has_options = true;

	while (status == STATUS_DONE && parser->next < parser->argc &&
	       !parser->out->is_help) {
		char *const word = parser->argv[parser->next];

		parser->next++;
		has_options =
			has_options && (!parser->cli->command->takes_command ||
		                        parser->out->operands.count == 0);
		if (has_options && is_misplaced_url(parser, word))
			status = cli_misused(parser->cli,
			                     "write a URL after '--remote'");
		else if (!has_options || word[0] != '-' || word[1] == '\0')
			status = take_operand(parser, word);
		else if (strcmp(word, "--") == 0)
			has_options = false;
		else if (word[1] == '-')
			status = take_long(parser, word);
		else
			status = take_letters(parser, word);
	}

	return status;
}

/* The members of struct arguments that are lists of texts. */
static const size_t text_lists[] = {
	offsetof(struct arguments, operands),
	offsetof(struct arguments, keys),
	offsetof(struct arguments, engines),
	offsetof(struct arguments, trees),
	offsetof(struct arguments, labels),
	offsetof(struct arguments, compile.bindings),
	offsetof(struct arguments, compile.defines),
	offsetof(struct arguments, compile.folders),
	offsetof(struct arguments, compile.kept),
	offsetof(struct arguments, compile.ptxas_options),
	offsetof(struct arguments, compile.pythons),
	offsetof(struct arguments, compile.rules),
	offsetof(struct arguments, compile.without),
	offsetof(struct arguments, trust.sign),
};

static struct texts *text_list(struct arguments *args, size_t index)
{
	return (struct texts *)((char *)args + text_lists[index]);
}

static size_t count_commas(char *const *argv, int argc)
{
	size_t count = 0;

	for (int i = 0; i < argc; i++) {
		for (const char *at = strchr(argv[i], ','); at != NULL;
		     at = strchr(at + 1, ','))
			count++;
	}
	return count;
}

/* No list can become longer than the command line; each ends with NULL. */
static bool allocate(struct arguments *args, char *const *argv, int argc)
{
	const size_t count = (size_t)argc + 1;

	for (size_t i = 0; i < sizeof(text_lists) / sizeof(text_lists[0]);
	     i++) {
		struct texts *const list = text_list(args, i);

		list->items = calloc(count, sizeof(*list->items));
		if (list->items == NULL)
			return false;
	}
	args->devices.items = calloc(count, sizeof(*args->devices.items));
	args->targets.items = calloc(count + count_commas(argv, argc),
	                             sizeof(*args->targets.items));

	return args->devices.items != NULL && args->targets.items != NULL;
}

enum status args_parse(const struct cli *cli, int argc, char **argv,
                       struct arguments *out)
{
	struct parser parser = {
		.cli = cli, .argv = argv, .argc = argc, .out = out
	};
	const struct command *const command = cli->command;
	enum status status;

	*out = (struct arguments){ .is_help = false };
	if (!allocate(out, argv, argc))
		return cli_no_memory(cli);

	status = take_words(&parser);
	if (status != STATUS_DONE || out->is_help)
		return status;

	if (out->operands.count < command->required_operands)
		return cli_misused(cli, "%s is missing",
		                   command->operands[out->operands.count]);
	return STATUS_DONE;
}

void args_release(struct arguments *args)
{
	for (size_t i = 0; i < sizeof(text_lists) / sizeof(text_lists[0]); i++)
		free(text_list(args, i)->items);
	free(args->devices.items);
	free(args->targets.items);
	free(args->remote);
	*args = (struct arguments){ .is_help = false };
}
