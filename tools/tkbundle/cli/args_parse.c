/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/args.h"

#include <stdlib.h>
#include <string.h>

#include "cli/args_values.h"

const struct option_spec args_help_option = {
	.name = "help",
	.letter = 'h',
	.kind = OPTION_SWITCH,
	.offset = offsetof(struct arguments, is_help),
	.help = "explain this verb"
};

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

/* Store the value that is joined to the option, or else the next word. */
static enum status store_value(struct args_parser *parser,
                               const struct option_spec *spec, char *joined)
{
	if (joined != NULL)
		return args_store(parser, spec, joined);
	if (parser->next == parser->argc)
		return cli_misused(parser->cli, "'%s' wants %s", parser->shown,
		                   spec->value);

	parser->next++;
	return args_store(parser, spec, parser->argv[parser->next - 1]);
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

static enum status take_long(struct args_parser *parser, char *word)
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
	return args_store(parser, spec, NULL);
}

static enum status take_letters(struct args_parser *parser, char *word)
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
		status = args_store(parser, spec, NULL);
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

/* A URL may hold a password: never print it. */
static bool is_misplaced_url(const struct args_parser *parser, const char *word)
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

static enum status take_operand(struct args_parser *parser, const char *word)
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

static enum status take_words(struct args_parser *parser)
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
	offsetof(struct arguments, again),
	offsetof(struct arguments, compile.bindings),
	offsetof(struct arguments, compile.defines),
	offsetof(struct arguments, compile.folders),
	offsetof(struct arguments, compile.kept),
	offsetof(struct arguments, compile.ptxas_options),
	offsetof(struct arguments, compile.pythons),
	offsetof(struct arguments, compile.rules),
	offsetof(struct arguments, compile.without),
	offsetof(struct arguments, trust.sign),
	offsetof(struct arguments, trust.imported),
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

	for (size_t i = 0; i < TKB_COUNT_OF(text_lists); i++) {
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
	struct args_parser parser = {
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
	for (size_t i = 0; i < TKB_COUNT_OF(text_lists); i++)
		free(text_list(args, i)->items);
	free(args->devices.items);
	free(args->targets.items);
	free(args->remote);
	*args = (struct arguments){ .is_help = false };
}
