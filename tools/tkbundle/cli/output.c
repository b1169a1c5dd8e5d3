/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/text.h"

static bool is_stdout(const char *path)
{
	static const char *const paths[] = { "-", "/dev/stdout", "/dev/fd/1",
		                             "/proc/self/fd/1" };

	return text_is_among(path, paths, TKB_COUNT_OF(paths));
}

bool output_is_stdout(const struct arguments *args)
{
	char target[32] = "";

	return args->output != NULL &&
	       (is_stdout(args->output) ||
	        (readlink(args->output, target, sizeof(target) - 1) > 1 &&
	         is_stdout(target)));
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

enum status output_check_input(const struct cli *cli,
                               const struct arguments *args, const char *input)
{
	struct stat from;
	struct stat to;

	if (input == NULL || args->output == NULL || output_is_stdout(args) ||
	    stat(input, &from) < 0 || stat(args->output, &to) < 0 ||
	    !S_ISREG(from.st_mode) || from.st_dev != to.st_dev ||
	    from.st_ino != to.st_ino)
		return STATUS_DONE;
	return cli_misused(cli, "'-o %s' is the file that is read",
	                   args->output);
}

FILE *output_log(const struct cli *cli, const struct arguments *args)
{
	return output_is_stdout(args) ? cli->log : cli->out;
}

const char *output_name(const struct arguments *args)
{
	return output_is_stdout(args) ? "standard output" : args->output;
}
