/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <string.h>
#include <unistd.h>

bool output_is_stdout(const struct arguments *args)
{
	return args->output != NULL &&
	       (strcmp(args->output, "-") == 0 ||
	        strcmp(args->output, "/dev/stdout") == 0);
}

enum status output_check(const struct cli *cli, const struct arguments *args)
{
	if (!output_is_stdout(args))
		return STATUS_DONE;
	if (args->is_json)
		return cli_misused(cli, "'-o -' and '--json' both want "
		                        "standard output");
	if (!args->is_dry_run && isatty(fileno(cli->out)))
		return cli_misused(cli, "a bundle is not written to a "
		                        "terminal");
	return STATUS_DONE;
}

FILE *output_log(const struct cli *cli, const struct arguments *args)
{
	return output_is_stdout(args) ? cli->log : cli->out;
}

const char *output_name(const struct arguments *args)
{
	return output_is_stdout(args) ? "standard output" : args->output;
}
