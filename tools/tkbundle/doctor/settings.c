/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/text.h"
#include "keys/variables.h"
#include "why/reason.h"

enum {
	NAME_SIZE = 256
};

/* Those that enter keys; with a star, all that begin so. */
static const struct {
	const char *name;
	const char *of;
} entering[] = {
	{ "TRITON_PTXAS_PATH", "Triton" },
	{ "TRITON_PTXAS_BLACKWELL_PATH", "Triton" },
	{ "PTXAS_OPTIONS", "Triton" },
	{ "TRITON_OVERRIDE_ARCH", "Triton" },
	{ "TORCH_COMPILE_CACHE_KEY_TAG", "PyTorch" },
	{ "TORCHINDUCTOR_*", "PyTorch" },
	{ "VLLM_*", "vLLM" },
	{ "RAY_EXPERIMENTAL_NOSET_*", "vLLM" },
	{ "CUDA_HOME", "vLLM" },
};

/* Those of them that do not. Source: vllm/envs.py, torch/_inductor/config.py. */
static const char *const passing[] = {
	"TORCHINDUCTOR_CACHE_DIR",
	"TORCHINDUCTOR_COMPILE_THREADS",
	"TORCHINDUCTOR_WORKER_START",
	"TORCHINDUCTOR_*REMOTE_CACHE",
	"TORCHINDUCTOR_REDIS_*",
	"VLLM_CACHE_ROOT",
	"VLLM_PORT",
	"VLLM_HOST_IP",
	"VLLM_LOGGING_*",
	"VLLM_CONFIGURE_LOGGING",
	"VLLM_ASSETS_CACHE",
	"VLLM_DP_MASTER_IP",
	"VLLM_DP_MASTER_PORT",
	"VLLM_LOG_*",
	"VLLM_NO_USAGE_STATS",
	"VLLM_DO_NOT_TRACK",
};

static bool matches(const char *pattern, const char *name)
{
	const char *const star = strchr(pattern, '*');
	const size_t length = strlen(name);
	size_t before;
	size_t behind;

	if (star == NULL)
		return strcmp(pattern, name) == 0;
	before = (size_t)(star - pattern);
	behind = strlen(star + 1);
	return length >= before + behind &&
	       strncmp(pattern, name, before) == 0 &&
	       strcmp(star + 1, name + length - behind) == 0;
}

/* Whose keys it enters; NULL: none that is known. */
static const char *whose(const char *name)
{
	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
		if (matches(passing[i], name))
			return NULL;
	}
	for (size_t i = 0; i < sizeof(entering) / sizeof(entering[0]); i++) {
		if (matches(entering[i].name, name))
			return entering[i].of;
	}
	return key_variable_is_of_triton(name) ? "Triton" : NULL;
}

/* vLLM leaves secrets out of its keys from 0.33 on. */
static void note_secret(const char *name, const char *of,
                        const struct versions *versions,
                        struct findings *findings)
{
	const char *const version = versions_find(versions, "vllm");
	char *end = NULL;
	const bool is_old = version[0] == '\0' ||
	                    (strtoul(version, &end, 10) == 0 && *end == '.' &&
	                     strtoul(end + 1, NULL, 10) < 33);

	if (strcmp(of, "vLLM") != 0 || !is_old)
		return;
	/* Of a machine without vLLM nobody knows that it matters. */
	findings_add(
		findings, version[0] != '\0' ? FINDING_FAULT : FINDING_RISK,
		reason_word(REASON_ENVIRONMENT),
		"%s is set, and its value enters the key of vLLM before "
		"0.33: servers with another one share no graph\tunset %s%s",
		name, name,
		strcmp(name, "VLLM_API_KEY") == 0
			? ", and give it as 'vllm serve --api-key'"
			: ", or give all servers the same");
}

static void print_one(const char *variable, const struct versions *versions,
                      struct cli *cli, bool is_json, struct findings *findings)
{
	const char *const equals = strchr(variable, '=');
	struct json_out *const json = &cli->json;
	char name[NAME_SIZE];
	const char *of;
	bool is_hidden;

	if (equals == NULL || (size_t)(equals - variable) >= sizeof(name) ||
	    equals[1] == '\0')
		return;
	(void)snprintf(name, sizeof(name), "%.*s", (int)(equals - variable),
	               variable);
	of = whose(name);
	if (of == NULL)
		return;
	is_hidden = key_variable_is_secret(name, equals + 1);
	json_out_open_object(json, NULL);
	json_out_text(json, "name", name);
	json_out_text(json, "value", is_hidden ? NULL : equals + 1);
	json_out_text(json, "of", of);
	json_out_close(json);
	if (!is_json && is_hidden)
		text_line(cli->out, "  %s is set, enters keys of %s", name, of);
	else if (!is_json)
		text_line(cli->out, "  %s=%s, enters keys of %s", name,
		          equals + 1, of);
	if (is_hidden)
		note_secret(name, of, versions, findings);
}

void settings_print(const struct versions *versions, struct cli *cli,
                    bool is_json, struct findings *findings)
{
	json_out_open_array(&cli->json, "settings");
	for (size_t i = 0; environ[i] != NULL; i++)
		print_one(environ[i], versions, cli, is_json, findings);
	json_out_close(&cli->json);
}
