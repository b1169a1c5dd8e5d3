/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/json_out.h"
#include "cli/text.h"

const struct command *cli_find_command(const struct cli *cli, const char *name)
{
	for (size_t i = 0; i < cli->command_count; i++) {
		if (strcmp(cli->commands[i]->name, name) == 0)
			return cli->commands[i];
	}

	return NULL;
}

enum status status_of(int rc)
{
	switch (rc) {
	case TKB_OK:
		return STATUS_DONE;
	case TKB_MISS:
		return STATUS_ABSENT;
	case TKB_ERR_INVALID:
		return STATUS_USAGE;
	case TKB_ERR_CORRUPT:
	case TKB_ERR_UNTRUSTED:
		return STATUS_UNTRUSTED;
	case TKB_ERR_PARTIAL:
		return STATUS_PARTIAL;
	case TKB_ERR_UNAVAILABLE:
	case TKB_ERR_DENIED:
	default:
		return STATUS_FAILED;
	}
}

bool cli_is_done(int rc)
{
	return rc == TKB_OK || rc == TKB_ERR_PARTIAL;
}

enum status status_merge(enum status one, enum status other)
{
	static const enum status by_weight[] = { STATUS_USAGE, STATUS_UNTRUSTED,
		                                 STATUS_FAILED, STATUS_PARTIAL,
		                                 STATUS_ABSENT };

	for (size_t i = 0; i < TKB_COUNT_OF(by_weight); i++) {
		if (one == by_weight[i] || other == by_weight[i])
			return by_weight[i];
	}

	return STATUS_DONE;
}

void cli_say(const struct cli *cli, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	text_line_around(cli->log, "tkbundle: ", "", format, values);
	va_end(values);
}

void cli_print(const struct cli *cli, const char *format, ...)
{
	va_list values;

	if (cli->json.is_wanted)
		return;
	va_start(values, format);
	text_line_around(cli->out, "", "", format, values);
	va_end(values);
}

enum status cli_no_memory(const struct cli *cli)
{
	cli_say(cli, "out of memory");
	return STATUS_FAILED;
}

enum status cli_misused(const struct cli *cli, const char *format, ...)
{
	const char *verb = cli->command != NULL ? cli->command->name : "";
	const char *space = cli->command != NULL ? " " : "";
	/* "help --version" would not work, so do not suggest it. */
	const bool is_option = verb[0] == '-';
	char prefix[64];
	char suffix[64];
	va_list values;

	(void)snprintf(prefix, sizeof(prefix), "tkbundle%s%s: ", space, verb);
	(void)snprintf(suffix, sizeof(suffix), "; see 'tkbundle help%s%s'",
	               is_option ? "" : space, is_option ? "" : verb);

	va_start(values, format);
	text_line_around(cli->log, prefix, suffix, format, values);
	va_end(values);
	return STATUS_USAGE;
}

enum status cli_exclude(const struct cli *cli, bool has_one, const char *one,
                        bool has_other, const char *other)
{
	if (!has_one || !has_other)
		return STATUS_DONE;
	return cli_misused(cli, "'%s' and '%s' exclude each other", one, other);
}

int cli_missed(struct tkb_error *err, int rc, const char *what,
               const char *path)
{
	return rc == TKB_MISS && err->message[0] == '\0'
	               ? cli_error(err, rc, "there is no %s '%s'", what, path)
	               : rc;
}

enum status cli_failed(struct cli *cli, int rc, const struct tkb_error *err,
                       const char *subject)
{
	struct tkb_error own = *err;

	if (own.message[0] == '\0' && rc == TKB_MISS)
		(void)cli_error(&own, TKB_MISS, "there is no '%s'", subject);
	else if (own.message[0] == '\0')
		(void)cli_error(&own, TKB_ERR_IO, "cannot use '%s'", subject);

	cli_say(cli, "%s", own.message);
	json_out_text(&cli->json, "error", own.message);
	return status_of(rc);
}

bool cli_is_disabled(struct cli *cli)
{
	if (!cli->is_disabled)
		return false;

	cli_say(cli, "nothing done: TKBUNDLE_DISABLE is set");
	cli->json.verb = NULL;
	json_out_flag(&cli->json, "disabled", true);
	return true;
}

static int cannot_write(struct tkb_error *err)
{
	return cli_error(err, TKB_ERR_IO, "cannot write to standard output: %s",
	                 strerror(errno));
}

int cli_flush(const struct cli *cli, struct tkb_error *err)
{
	return fflush(cli->out) == 0 ? 0 : cannot_write(err);
}

static int write_out(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	const struct cli *cli = self;

	if (fwrite(bytes.data, 1, bytes.size, cli->out) != bytes.size)
		return cannot_write(err);
	return 0;
}

struct tkb_sink cli_sink(struct cli *cli)
{
	return (struct tkb_sink){ .write = write_out, .self = cli };
}

#undef cli_error
#undef cli_error_nomem
#undef cli_error_errno

int cli_error(struct tkb_error *err, enum tkb_status status, const char *format,
              ...)
{
	va_list values;

	if (err == NULL)
		return status;

	*err = (struct tkb_error){ .status = status };
	va_start(values, format);
	(void)vsnprintf(err->message, sizeof(err->message), format, values);
	va_end(values);
	return status;
}

int cli_error_nomem(struct tkb_error *err)
{
	return cli_error(err, TKB_ERR_NOMEM, "out of memory");
}

int cli_error_errno(struct tkb_error *err, const char *verb, const char *path)
{
	return cli_error(err, TKB_ERR_IO, "cannot %s '%.300s': %s", verb, path,
	                 strerror(errno));
}

void cli_close_draft(struct tkb_draft **draft)
{
	tkb_draft_close(*draft);
}

int cli_write_file(const char *path, struct tkb_bytes text, mode_t mode,
                   struct tkb_error *err)
{
	TKB_AUTO(cli_close_draft) struct tkb_draft *draft = NULL;
	struct tkb_sink sink;
	int rc;

	rc = tkb_draft_open(path, &draft, err);
	if (rc != 0)
		return rc;
	/*
	 * A pipe or a device keeps its mode: only a file has a descriptor here.
	 */
	if (tkb_draft_fd(draft) >= 0)
		(void)fchmod(tkb_draft_fd(draft), mode);
	sink = tkb_draft_sink(draft);
	rc = sink.write(sink.self, text, err);
	return rc == 0 ? tkb_draft_publish(draft, err) : rc;
}

const char *cli_variable(const char *name)
{
	const char *const value = getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}
