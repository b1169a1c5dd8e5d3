/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_engine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "config/engine_settings.h"
#include "config/engine_version.h"
#include "config/python.h"
#include "config/profiles.h"
#include "config/trees.h"

/* Where to print, and in which form. */
struct show {
	struct cli *cli;
	const struct arguments *args;
	bool has_remote;
	const struct tkb_engine *engine;
};

TKB_AUTO_POINTER(close_engine, struct tkb_engine, tkb_engine_close)

/*
 * The engine
 */

static void show_head(const struct show *show, const char *profile)
{
	const struct tkb_engine *const engine = show->engine;
	struct json_out *const json = &show->cli->json;
	char version[ENGINE_VERSION_SIZE];
	char note[ENGINE_NOTE_SIZE];
	char python[PYTHON_PATH_SIZE];
	bool is_found;

	is_found = python_find(NULL, tkb_engine_name(engine), python);
	engine_version_find(engine, NULL, version);
	engine_version_note(engine, version, note);
	json_out_text(json, "engine", tkb_engine_name(engine));
	json_out_text(json, "profile", profile[0] != '\0' ? profile : NULL);
	json_out_text(json, "python", is_found ? python : NULL);
	json_out_text(json, "package", tkb_engine_package(engine));
	json_out_text(json, "version", version[0] != '\0' ? version : NULL);
	json_out_flag(json, "is_checked",
	              version[0] != '\0' &&
	                      engine_version_is_checked(engine, version));
	json_out_open_array(json, "versions");
	for (size_t i = 0; i < tkb_engine_version_count(engine); i++)
		json_out_text(json, NULL, tkb_engine_version(engine, i));
	json_out_close(json);
	cli_print(show->cli, "%s", note);
	cli_print(show->cli, "  profile %s",
	          profile[0] != '\0' ? profile : "built into tkbundle");
	cli_print(show->cli, "  python %s", is_found ? python : "is not found");
	for (size_t i = 0; i < tkb_engine_version_count(engine); i++)
		cli_print(show->cli, "  checked with %s %s",
		          tkb_engine_package(engine),
		          tkb_engine_version(engine, i));
}

/*
 * Its roots
 */

static void show_rule(const struct show *show,
                      const struct tkb_engine_rule *rule)
{
	struct json_out *const json = &show->cli->json;
	char words[128];

	json_out_open_object(json, NULL);
	json_out_text(json, "path", rule->path);
	json_out_text(json, "is", rule->is[0] != '\0' ? rule->is : NULL);
	json_out_text(json, "style",
	              rule->style[0] != '\0' ? rule->style : NULL);
	json_out_text(json, "named",
	              rule->named[0] != '\0' ? rule->named : NULL);
	json_out_text(json, "shows",
	              rule->shows[0] != '\0' ? rule->shows : NULL);
	json_out_flag(json, "last", rule->is_last);
	json_out_flag(json, "secrets", rule->has_secrets);
	json_out_flag(json, "tuned", rule->is_tuned);
	json_out_close(json);
	(void)snprintf(words, sizeof(words), "%s%s%s%s%s%s%s%s%s%s%s",
	               rule->is[0] != '\0' ? ", " : "", rule->is,
	               rule->style[0] != '\0' ? ", paths as " : "", rule->style,
	               rule->named[0] != '\0' ? ", named by " : "", rule->named,
	               rule->shows[0] != '\0' ? ", shows " : "", rule->shows,
	               rule->is_last ? ", last" : "",
	               rule->has_secrets ? ", secrets" : "",
	               rule->is_tuned ? ", tuned" : "");
	cli_print(show->cli, "    %s: %s", rule->path,
	          words[0] != '\0' ? words + strlen(", ") : "");
}

static int show_root(const struct show *show, size_t index,
                     struct tkb_error *err)
{
	const struct tkb_engine_root *const root =
		tkb_engine_root(show->engine, index);
	struct json_out *const json = &show->cli->json;
	TKB_AUTO(text_free) char *path = NULL;
	bool is_placed = false;
	char origin[TREES_ORIGIN_SIZE];
	int rc;

	rc = trees_locate(show->engine, index, &path, &is_placed, err);
	if (rc < 0)
		return rc;
	trees_describe_origin(show->engine, index, is_placed, origin);
	json_out_open_object(json, NULL);
	json_out_text(json, "name", root->name);
	json_out_flag(json, "kernels", root->is_kernels);
	json_out_text(json, "variable",
	              root->variable[0] != '\0' ? root->variable
	              : root->base[0] != '\0'   ? root->base
	                                        : NULL);
	json_out_text(json, "path", path);
	json_out_text(json, "origin", origin);
	cli_print(show->cli, "  root %s%s  %s  %s", root->name,
	          root->is_kernels ? " (kernels)" : "",
	          path != NULL ? path : "-", origin);
	json_out_open_array(json, "rules");
	for (size_t i = 0; i < tkb_engine_rule_count(show->engine, index); i++)
		show_rule(show, tkb_engine_rule(show->engine, index, i));
	json_out_close(json);
	json_out_close(json);
	return 0;
}

/*
 * What run sets
 */

static void on_setting(void *self, const char *name, const char *value,
                       const char *why)
{
	const struct show *const show = self;
	struct json_out *const json = &show->cli->json;

	json_out_open_object(json, NULL);
	json_out_text(json, "variable", name);
	json_out_text(json, "value", value);
	json_out_text(json, "why", why);
	json_out_close(json);
	if (value != NULL)
		cli_print(show->cli, "  run sets %s=%s: %s", name, value, why);
	else
		cli_print(show->cli, "  run leaves %s: %s", name, why);
}

static void show_settings(struct show *show)
{
	const struct engine_settings_visitor visitor = { on_setting, show };
	char base[ENGINE_PATH_SIZE];
	const struct engine_settings_case where = {
		.args = show->args,
		.base = base,
		.has_remote = show->has_remote,
	};

	json_out_open_array(&show->cli->json, "settings");
	if (engine_settings_base(false, base))
		engine_settings_list(show->engine, &where, &visitor);
	else
		cli_print(show->cli,
		          "  run sets nothing: there is no folder for caches");
	json_out_close(&show->cli->json);
}

static void show_keys(const struct show *show)
{
	json_out_open_array(&show->cli->json, "keys");
	for (size_t i = 0; i < tkb_engine_key_count(show->engine); i++) {
		const char *const key = tkb_engine_key(show->engine, i);

		json_out_text(&show->cli->json, NULL, key);
		cli_print(show->cli, "  keys hold %s", key);
	}
	json_out_close(&show->cli->json);
}

static void show_variables(const struct show *show)
{
	struct json_out *const json = &show->cli->json;
	uint64_t count = 0; /* those that are not held */

	json_out_open_array(json, "variables");
	for (size_t i = 0; i < tkb_engine_variable_count(show->engine); i++) {
		const struct tkb_engine_variable *const variable =
			tkb_engine_variable(show->engine, i);
		const bool is_held = strcmp(variable->before, "0") != 0;

		json_out_open_object(json, NULL);
		json_out_text(json, "name", variable->name);
		json_out_text(json, "before", variable->before);
		json_out_close(json);
		count += !is_held;
		if (is_held)
			cli_print(show->cli, "  keys hold variable %s%s%s",
			          variable->name,
			          variable->before[0] != '\0' ? ", before "
			                                      : "",
			          variable->before);
	}
	json_out_close(json);
	if (count != 0)
		cli_print(show->cli,
		          "  keys do not hold %" PRIu64 " %s, which --json "
		          "names",
		          count, text_plural(count, "variable", "variables"));
}

static void show_external(const struct show *show)
{
	struct json_out *const json = &show->cli->json;

	json_out_open_array(json, "outside");
	for (size_t i = 0; i < tkb_engine_external_count(show->engine); i++) {
		const struct tkb_engine_external *const item =
			tkb_engine_external(show->engine, i);
		const bool is_package = item->package[0] != '\0';
		const size_t folder_count =
			tkb_engine_external_folder_count(show->engine, i);

		json_out_open_object(json, NULL);
		json_out_text(json, "name", item->name);
		json_out_text(json, "package",
		              is_package ? item->package : NULL);
		json_out_open_array(json, "folders");
		for (size_t j = 0; j < folder_count; j++)
			json_out_text(
				json, NULL,
				tkb_engine_external_folder(show->engine, i, j));
		json_out_close(json);
		json_out_close(json);
		cli_print(show->cli, "  outside %s%s%s", item->name,
		          is_package ? ", the package " : "", item->package);
		for (size_t j = 0; j < folder_count; j++)
			cli_print(
				show->cli, "    below Python's packages: %s",
				tkb_engine_external_folder(show->engine, i, j));
	}
	json_out_close(json);
}

static int show_engine(struct show *show, const char *name,
                       struct tkb_error *err)
{
	TKB_AUTO(close_engine) struct tkb_engine *engine = NULL;
	struct json_out *const json = &show->cli->json;
	char profile[PROFILE_PATH_SIZE];
	int rc;

	rc = profile_open(name, profile, &engine, err);
	if (rc != 0)
		return rc;
	show->engine = engine;
	json_out_open_object(json, NULL);
	show_head(show, profile);
	json_out_open_array(json, "roots");
	for (size_t i = 0; i < tkb_engine_root_count(engine) && rc == 0; i++)
		rc = show_root(show, i, err);
	json_out_close(json);
	show_settings(show);
	show_external(show);
	show_keys(show);
	show_variables(show);
	json_out_close(json);
	return rc;
}

enum status config_engine_show(struct cli *cli, const struct arguments *args,
                               bool has_remote)
{
	struct show show = { .cli = cli,
		             .args = args,
		             .has_remote = has_remote };

	if (args->engines.count == 0)
		return STATUS_DONE;
	json_out_open_array(&cli->json, "engines");
	for (size_t i = 0; i < args->engines.count; i++) {
		struct tkb_error err = { .status = 0 };
		const int rc = show_engine(&show, args->engines.items[i], &err);

		if (rc != 0) {
			json_out_close(&cli->json);
			return cli_failed(cli, rc, &err,
			                  args->engines.items[i]);
		}
	}
	json_out_close(&cli->json);
	return STATUS_DONE;
}
