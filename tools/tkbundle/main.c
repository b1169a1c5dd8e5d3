/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "verbs/commands.h"
#include "cli/signals.h"

/* Sorted by name; `tkbundle help` prints the verbs in this order. */
static const struct command *const commands[] = {
	&command_version,  &command_attest, &command_collect,
	&command_compile,  &command_config, &command_diff,
	&command_doctor,   &command_emit,   &command_export,
	&command_fleet,    &command_gc,     &command_help,
	&command_import,   &command_key,    &command_launcher,
	&command_ls,       &command_merge,  &command_promote,
	&command_pull,     &command_push,   &command_refs,
	&command_relocate, &command_report, &command_revoke,
	&command_run,      &command_show,   &command_sign,
	&command_stats,    &command_verify, &command_why,
};

/*
 * If the program was started without standard files, reserve their numbers:
 * otherwise the next file that is opened would receive what is printed. The
 * reserved files refuse to be used.
 */
static bool hold_standard_files(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		const int flags = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;

		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags) != fd)
			return false;
	}

	return true;
}

/* The value of the variable; NULL if it is not set, empty or "0". */
static const char *setting(const char *name)
{
	const char *const value = getenv(name);

	return value == NULL || value[0] == '\0' || strcmp(value, "0") == 0
	               ? NULL
	               : value;
}

/*
 * If TKBUNDLE_PARENT holds the process number of our parent, have the kernel
 * kill us when the parent ends: being killed leaves nothing half-written. Our
 * own children do not get the variable.
 *
 * @return whether the parent still runs; true if no parent is named
 */
static bool end_with_parent(void)
{
	static const char variable[] = "TKBUNDLE_PARENT";
	const char *const value = setting(variable);
	const long long parent = value == NULL ? 0 : strtoll(value, NULL, 10);

	return value == NULL ||
	       (unsetenv(variable) == 0 &&
	        prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && parent == getppid());
}

static bool is_drawable(FILE *log)
{
	const char *const terminal = getenv("TERM");

	return isatty(fileno(log)) && terminal != NULL && terminal[0] != '\0' &&
	       strcmp(terminal, "dumb") != 0;
}

/* Run the verb cli->command; `argv` is what follows it. */
static enum status run_verb(struct cli *cli, int argc, char **argv)
{
	TKB_AUTO(args_release) struct arguments args = { .is_help = false };
	enum status status = args_parse(cli, argc, argv, &args);

	if (status != STATUS_DONE)
		return status;
	if (args.is_help) {
		help_print_command(cli, cli->command);
		return STATUS_DONE;
	}

	json_out_init(&cli->json, args.is_json, cli->command->name);
	cli->is_tty = cli->is_tty && !args.is_json;
	status = cli->command->run(cli, &args);
	/* A wrong command line has no document, not a part of one. */
	if (status == STATUS_USAGE && !json_out_has(&cli->json, "error"))
		json_out_release(&cli->json);
	if (!json_out_write(&cli->json, cli->out) && !ferror(cli->out)) {
		cli_say(cli, "cannot make the JSON document: out of memory");
		status = status_merge(status, STATUS_FAILED);
	}

	json_out_release(&cli->json);
	return status;
}

static enum status dispatch(struct cli *cli, int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (name == NULL)
		return cli_misused(cli, "no verb");
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";

	cli->command = cli_find_command(cli, name);
	if (cli->command == NULL)
		return cli_misused(cli, "unknown %s '%s'",
		                   name[0] == '-' ? "option" : "verb", name);
	return run_verb(cli, argc - 2, argv + 2);
}

/* Check that all output was written: the disk may be full. */
static enum status flush_output(const struct cli *cli, enum status status)
{
	const bool has_failed = ferror(cli->out) != 0;
	struct tkb_error err = { .message = "cannot write to standard output" };

	if (cli_flush(cli, &err) == 0) {
		if (!has_failed)
			return status;
		/*
		 * The reason of an earlier failure is lost: write once more to
		 * get it.
		 */
		(void)fputc('\n', cli->out);
		if (cli_flush(cli, &err) == 0)
			err.status = TKB_ERR_IO;
	}

	/* If the verb's own sink could not write, it has already said so. */
	if (status != STATUS_FAILED)
		cli_say(cli, "%s", err.message);
	return status_merge(status, STATUS_FAILED);
}

int main(int argc, char **argv)
{
	struct cli cli = {
		.out = stdout,
		.log = stderr,
		.is_disabled = setting("TKBUNDLE_DISABLE") != NULL,
		.commands = commands,
		.command_count = TKB_COUNT_OF(commands),
	};
	enum status status;

	if (!hold_standard_files() || !end_with_parent())
		return STATUS_FAILED;

	signals_let_writes_fail();
	cli.is_tty = is_drawable(cli.log);
	status = dispatch(&cli, argc, argv);
	status = flush_output(&cli, status);
	signals_die_if_caught();
	return (int)status;
}
