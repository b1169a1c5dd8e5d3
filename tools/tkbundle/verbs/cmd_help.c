/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <string.h>

#define COLUMNS 80
#define TEXT_COLUMNS 72
#define OPTION_WIDTH 26 /* width of the text before an option's help */

static const struct option_spec version_options[] = {
	{ OPTION(SWITCH, "verbose", NULL, is_verbose,
	         "also list the libraries") },
};

/*
 * The state of a synopsis that is printed with line breaks between its parts.
 */
struct synopsis {
	FILE *to;
	int indent;
	int column;
};

static void put_part(struct synopsis *synopsis, const char *part)
{
	const int length = (int)strlen(part);

	if (synopsis->column + 1 + length >= COLUMNS) {
		synopsis->column =
			fprintf(synopsis->to, "\n%*s", synopsis->indent, "") -
			1;
	}

	synopsis->column += fprintf(synopsis->to, " %s", part);
}

static void put_option(struct synopsis *synopsis,
                       const struct option_spec *spec)
{
	const bool is_list = spec->kind == OPTION_TEXTS ||
	                     spec->kind == OPTION_NUMBERS ||
	                     spec->kind == OPTION_TARGETS;
	char part[96];
	char name[40];

	if (spec->letter != '\0')
		(void)snprintf(name, sizeof(name), "-%c", spec->letter);
	else
		(void)snprintf(name, sizeof(name), "--%s", spec->name);

	(void)snprintf(part, sizeof(part), "%s%s%s%s%s%s",
	               spec->is_required ? "" : "[", name,
	               spec->value != NULL ? " " : "",
	               spec->value != NULL ? spec->value : "",
	               spec->is_required ? "" : "]", is_list ? "..." : "");
	put_part(synopsis, part);
}

static void put_operands(struct synopsis *synopsis,
                         const struct command *command)
{
	for (size_t i = 0; command->operands[i] != NULL; i++) {
		const bool is_required = i < command->required_operands;
		char part[64];

		(void)snprintf(part, sizeof(part), "%s%s%s%s",
		               is_required ? "" : "[", command->operands[i],
		               is_required ? "" : "]",
		               command->repeats_operand ? "..." : "");
		put_part(synopsis, part);
	}
}

static void put_synopsis(FILE *to, const struct command *command)
{
	struct synopsis synopsis = { .to = to };

	synopsis.indent = fprintf(to, "usage: tkbundle %s", command->name);
	synopsis.column = synopsis.indent;

	if (!command->takes_command)
		put_operands(&synopsis, command);
	for (size_t i = 0; i < command->option_count; i++)
		put_option(&synopsis, &command->options[i]);
	if (command->takes_command) {
		put_part(&synopsis, "--");
		put_operands(&synopsis, command);
	}

	(void)fputc('\n', to);
}

static void put_option_help(FILE *to, const struct option_spec *spec)
{
	char letter[8] = "    ";
	char left[96];

	if (spec->letter != '\0')
		(void)snprintf(letter, sizeof(letter), "-%c, ", spec->letter);
	(void)snprintf(left, sizeof(left), "%s--%s%s%s", letter, spec->name,
	               spec->value != NULL ? " " : "",
	               spec->value != NULL ? spec->value : "");

	/* A long option gets a line of its own. */
	if (strlen(left) > OPTION_WIDTH)
		(void)fprintf(to, "  %s\n  %-*s", left, OPTION_WIDTH, "");
	else
		(void)fprintf(to, "  %-*s", OPTION_WIDTH, left);
	(void)fprintf(to, "  %s\n", spec->help);
}

/* Print paragraphs with line breaks between their words. */
static void put_paragraphs(FILE *to, const char *text)
{
	int column = 0;

	while (*text != '\0') {
		const int length = (int)strcspn(text, " \n");

		if (column > 0 && column + 1 + length > TEXT_COLUMNS) {
			(void)fputc('\n', to);
			column = 0;
		}
		column += fprintf(to, "%s%.*s", column > 0 ? " " : "", length,
		                  text);
		text += length;
		for (; *text == '\n'; text++) {
			(void)fputc('\n', to);
			column = 0;
		}
		text += *text == ' ' ? 1 : 0;
	}
	(void)fputc('\n', to);
}

void help_print_command(const struct cli *cli, const struct command *command)
{
	put_synopsis(cli->out, command);
	(void)fprintf(cli->out, "\n%s: %s.\n", command->name, command->summary);
	if (command->details != NULL) {
		(void)fputc('\n', cli->out);
		put_paragraphs(cli->out, command->details);
	}

	(void)fputs("\noptions:\n", cli->out);
	for (size_t i = 0; i < command->option_count; i++)
		put_option_help(cli->out, &command->options[i]);
	put_option_help(cli->out, &args_help_option);
}

static void print_overview(const struct cli *cli)
{
	(void)fputs("usage: tkbundle VERB [OPTION]... [OPERAND]...\n\n",
	            cli->out);
	for (size_t i = 0; i < cli->command_count; i++)
		(void)fprintf(cli->out, "  %-9s  %s\n", cli->commands[i]->name,
		              cli->commands[i]->summary);
	(void)fputs("\n'tkbundle help VERB' or 'tkbundle VERB --help' explains "
	            "a verb;\n'tkbundle --version --verbose' lists the "
	            "libraries.\nTKBUNDLE_DISABLE=1 makes attest, collect, "
	            "compile, "
	            "emit, export, gc,\nimport, promote, pull, push, relocate, "
	            "revoke and sign do nothing, with success.\n"
	            "\nexit status: 0 done, 1 failed, 2 usage, 3 absent, "
	            "4 partial, 5 untrusted\n",
	            cli->out);
}

static enum status run_help(struct cli *cli, const struct arguments *args)
{
	const char *const name = args_operand(args, 0);
	const struct command *command;

	if (name == NULL) {
		print_overview(cli);
		return STATUS_DONE;
	}

	command = cli_find_command(cli, name);
	if (command == NULL) {
		cli->command = NULL; /* see 'tkbundle help' itself */
		return cli_misused(cli, "unknown verb '%s'", name);
	}

	help_print_command(cli, command);
	return STATUS_DONE;
}

static enum status run_version(struct cli *cli, const struct arguments *args)
{
	(void)fprintf(cli->out, "tkbundle %s\n", tkb_version());
	if (args->is_verbose)
		(void)fprintf(cli->out, "%s\n", tkb_version_libraries());
	return STATUS_DONE;
}

const struct command command_help = {
	.name = "help",
	.operands = { "VERB" },
	.summary = "explain a verb, or list them all",
	.run = run_help,
};

const struct command command_version = {
	.name = "--version",
	.summary = "print the version",
	COMMAND_OPTIONS(version_options),
	.run = run_version,
};
