/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "config/remote_use.h"
#include "cli/text.h"
#include "config/config_engine.h"
#include "trust/policy.h"

static const struct option_spec options[] = {
	{ OPTION(TEXTS, "engine", "NAME", engines,
	         "show the profile of this engine, too, as vllm or torch") },
	{ OPTION(TEXT, "get", "NAME", value_name,
	         "print only this value, including its secrets") },
	ARGS_JSON,
};

/* Load all values, and find the policy that is used if none is named. */
static int load_config(struct config *config, struct tkb_error *err)
{
	struct config_value *const policy = &config->values[CONFIG_TRUST];
	int rc;

	rc = config_load(NULL, config, err);
	return rc == 0 && policy->text == NULL
	               ? policy_find(NULL, &policy->text, err)
	               : rc;
}

/* Name the remote without secrets; leave `*out` alone if there is none. */
static int name_remote(struct cli *cli, const struct config *config, char **out,
                       struct tkb_error *err)
{
	TKB_AUTO(remote_use_end) struct remote_use use = { .cli = cli };
	const struct config_value *const value = &config->values[CONFIG_REMOTE];
	struct tkb_error fault = { .status = 0 };
	int rc;

	if (value->text == NULL)
		return 0;
	rc = remote_use_open(&use, value->text, NULL, &fault);
	if (rc != 0)
		return cli_error(err, (enum tkb_status)rc, "%.100s: %.400s",
		                 value->origin, fault.message);
	*out = remote_use_name(&use);
	if (*out == NULL)
		return cli_error_nomem(err);
	return 0;
}

/* The value `name` without secrets, or NULL if it has none. */
static const char *shown_value(const struct config *config, const char *remote,
                               size_t name)
{
	return name == CONFIG_REMOTE ? remote : config->values[name].text;
}

static const char *origin_of(const struct config *config, size_t name)
{
	const char *const origin = config->values[name].origin;

	return origin != NULL ? origin : "default";
}

static int value_width(const struct config *config, const char *remote)
{
	size_t width = 1;

	for (size_t i = 0; i < CONFIG_COUNT; i++) {
		const char *const text = shown_value(config, remote, i);
		const size_t length = text != NULL ? strlen(text) : 0;

		width = length > width ? length : width;
	}
	return (int)width;
}

static void print_config(const struct cli *cli, const struct config *config,
                         const char *remote)
{
	const int width = value_width(config, remote);

	for (size_t i = 0; i < CONFIG_COUNT; i++) {
		const char *const text = shown_value(config, remote, i);

		text_line(cli->out, "%-15s  %-*s  %s",
		          config_name((enum config_name)i), width,
		          text != NULL ? text : "-", origin_of(config, i));
	}
}

static void fill_config_json(struct json_out *json, const struct config *config,
                             const char *remote)
{
	json_out_open_array(json, "values");
	for (size_t i = 0; i < CONFIG_COUNT; i++) {
		const char *const text = shown_value(config, remote, i);

		json_out_open_object(json, NULL);
		json_out_text(json, "name", config_name((enum config_name)i));
		json_out_text(json, "variable",
		              config_variable((enum config_name)i));
		json_out_text(json, "value", text);
		json_out_text(json, "origin", origin_of(config, i));
		json_out_close(json);
	}
	json_out_close(json);
}

static enum status print_files(struct cli *cli)
{
	enum status status = STATUS_DONE;

	json_out_open_array(&cli->json, "files");
	for (size_t i = 0; i < CONFIG_PATH_COUNT; i++) {
		TKB_AUTO(text_free) char *path = NULL;
		const char *word = "";

		if (!config_path(i, &path))
			status = STATUS_FAILED;
		if (path == NULL)
			continue;
		if (access(path, F_OK) != 0)
			word = errno == EACCES ? ", which may not be read"
			                       : ", which is not there";
		else if (access(path, R_OK) != 0)
			word = ", which may not be read";
		json_out_text(&cli->json, NULL, path);
		cli_print(cli, "file %s%s", path, word);
	}
	json_out_close(&cli->json);
	return status;
}

/* Report unknown variables: their names may be misspelt. */
static void print_unknown(struct cli *cli)
{
	json_out_open_array(&cli->json, "unknown");
	for (size_t i = 0; environ[i] != NULL; i++) {
		const int length = (int)strcspn(environ[i], "=");
		char name[128];

		if (!config_is_unknown(environ[i]))
			continue;
		(void)snprintf(name, sizeof(name), "%.*s", length, environ[i]);
		cli_say(cli, "unknown variable %s", name);
		json_out_text(&cli->json, NULL, name);
	}
	json_out_close(&cli->json);
}

/* Print the value as it is configured: programs read it from a pipe. */
static enum status print_value(struct cli *cli, const char *name)
{
	TKB_AUTO(config_release) struct config config = { .fault_count = 0 };
	struct tkb_error err = { .status = 0 };
	size_t found = 0;
	int rc;

	while (found < CONFIG_COUNT &&
	       strcmp(config_name((enum config_name)found), name) != 0)
		found++;
	if (found == CONFIG_COUNT)
		return cli_misused(cli, "'%.100s' is not the name of a value",
		                   name);
	rc = load_config(&config, &err);
	if (rc != 0)
		return cli_failed(cli, rc, &err, "the configuration");
	if (config.values[found].text == NULL)
		return STATUS_ABSENT;
	(void)fprintf(cli->out, "%s\n", config.values[found].text);
	return STATUS_DONE;
}

static enum status cmd_config(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(config_release) struct config config = { .fault_count = 0 };
	TKB_AUTO(text_free) char *remote = NULL;
	struct tkb_error err = { .status = 0 };
	enum status status = STATUS_DONE;
	int rc;

	if (cli_exclude(cli, args->value_name != NULL, "--get", args->is_json,
	                "--json") != STATUS_DONE ||
	    cli_exclude(cli, args->value_name != NULL, "--get",
	                args->engines.count > 0, "--engine") != STATUS_DONE)
		return STATUS_USAGE;
	if (args->value_name != NULL)
		return print_value(cli, args->value_name);
	rc = load_config(&config, &err);
	if (rc == 0)
		rc = name_remote(cli, &config, &remote, &err);
	if (rc != 0)
		status = cli_failed(cli, rc, &err, "the configuration");

	fill_config_json(&cli->json, &config, remote);
	if (!args->is_json)
		print_config(cli, &config, remote);
	status = status_merge(status, print_files(cli));
	print_unknown(cli);
	return status_merge(
		status,
		config_engine_show(cli, args,
	                           config.values[CONFIG_REMOTE].text != NULL));
}

const struct command command_config = {
	.name = "config",
	.summary = "show what is configured, and where",
	.details = "Prints each value and its source: a variable, a line of a "
		   "file, or the default. Then it lists the files; a later "
		   "file overrides an earlier one. A remote is shown without "
		   "user, password and parameters. With --engine it also "
		   "shows where the caches of an engine are here, by which "
		   "rules they move, and what run would set. With --get it "
		   "prints one value as it is configured, user and password "
		   "of a remote included, and exits with 3 if there is none.",
	COMMAND_OPTIONS(options),
	.run = cmd_config,
};
