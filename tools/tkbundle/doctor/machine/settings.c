/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/machine/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/text.h"
#include "keys/variables.h"
#include "why/reason.h"

enum {
	NAME_SIZE = 256
};

/*
 * Is the version `text`, "0.24.1", before `limit`, "0.33"? An unknown version
 * counts as before.
 */
static bool is_older_version(const char *text, const char *limit)
{
	while (*text != '\0' && *limit != '\0') {
		char *text_end = NULL;
		char *limit_end = NULL;
		const unsigned long own = strtoul(text, &text_end, 10);
		const unsigned long other = strtoul(limit, &limit_end, 10);

		if (text_end == text || own != other)
			return own < other;
		text = text_end + (*text_end == '.');
		limit = limit_end + (*limit_end == '.');
	}
	return *text == '\0' && *limit != '\0';
}

/*
 * Note a secret that is part of keys: secrets should differ between servers, so
 * their keys would, too.
 */
static void note_secret(const char *name, const struct key_variable *variable,
                        const struct versions *versions,
                        struct findings *findings)
{
	const char *const version = versions_find(versions, variable->package);

	/*
	 * If the engine is not installed here, it is unknown whether its
	 * version uses the variable.
	 */
	findings_add(
		findings, version[0] != '\0' ? FINDING_FAULT : FINDING_RISK,
		reason_word(REASON_ENVIRONMENT),
		"%s is set, and its value enters the keys of %s%s%s: servers "
		"with another one share no graph\tunset %s%s",
		name, variable->engine,
		variable->before[0] != '\0' ? " before " : "", variable->before,
		name,
		strcmp(name, "VLLM_API_KEY") == 0
			? ", and give it as 'vllm serve --api-key'"
			: ", or give all servers the same");
}

static void print_setting(const struct key_variables *variables,
                          const char *text, const struct versions *versions,
                          struct cli *cli, struct findings *findings)
{
	const char *const equals = strchr(text, '=');
	struct json_out *const json = &cli->json;
	char name[NAME_SIZE];
	struct key_variable variable;
	bool is_hidden;

	if (equals == NULL || (size_t)(equals - text) >= sizeof(name) ||
	    equals[1] == '\0')
		return;
	(void)snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
	if (!key_variable_find(variables, name, &variable) ||
	    (variable.before[0] != '\0' &&
	     !is_older_version(versions_find(versions, variable.package),
	                       variable.before)))
		return;
	is_hidden = key_variable_is_secret(name, equals + 1);
	json_out_open_object(json, NULL);
	json_out_text(json, "name", name);
	json_out_text(json, "value", is_hidden ? NULL : equals + 1);
	json_out_text(json, "of", variable.engine);
	json_out_close(json);
	if (is_hidden)
		cli_print(cli, "  %s is set, enters keys of %s", name,
		          variable.engine);
	else
		cli_print(cli, "  %s=%s, enters keys of %s", name, equals + 1,
		          variable.engine);
	if (is_hidden)
		note_secret(name, &variable, versions, findings);
}

void settings_print(const struct versions *versions, struct cli *cli,
                    struct findings *findings)
{
	TKB_AUTO(key_variables_release)
	struct key_variables variables = { .count = 0 };

	key_variables_load(&variables);
	json_out_open_array(&cli->json, "settings");
	for (size_t i = 0; environ[i] != NULL; i++)
		print_setting(&variables, environ[i], versions, cli, findings);
	json_out_close(&cli->json);
}
