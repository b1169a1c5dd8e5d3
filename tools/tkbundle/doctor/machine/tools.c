/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/machine/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/engine_version.h"
#include "keys/ptx.h"

static const char own_variable[] = "TRITON_PTXAS_PATH";
static const char newer_variable[] = "TRITON_PTXAS_BLACKWELL_PATH";

static bool has_tool(const struct tools *tools, const char *path)
{
	for (size_t i = 0; i < tools->count; i++) {
		if (strcmp(tools->items[i].path, path) == 0)
			return true;
	}
	return false;
}

static void add_tool(struct tools *tools, const char *whose, const char *path,
                     bool is_used)
{
	struct tool *const tool = &tools->items[tools->count];

	if (path[0] == '\0' || tools->count == TOOLS_LIMIT ||
	    strlen(path) >= sizeof(tool->path) || has_tool(tools, path) ||
	    access(path, X_OK) != 0)
		return;
	*tool = (struct tool){ .whose = whose, .is_used = is_used };
	(void)snprintf(tool->path, sizeof(tool->path), "%s", path);
	tools->count++;
}

/* The ptxas of a Python package. */
static void add_packaged(struct tools *tools, const char *engine,
                         const char *whose, const char *file, bool is_used)
{
	char path[PYTHON_PATH_SIZE];

	engine_file_find(file, NULL, engine, path, sizeof(path));
	add_tool(tools, whose, path, is_used);
}

/* Triton's ptxas for newer GPUs. */
static void add_newer(struct tools *tools, const char *engine)
{
	const char *const own = cli_variable(newer_variable);
	const size_t before = tools->count;

	if (own != NULL && access(own, X_OK) == 0)
		add_tool(tools, "TRITON_PTXAS_BLACKWELL_PATH's", own, true);
	else
		add_packaged(tools, engine, "Triton's for newer GPUs",
		             ENGINE_FILE_PTXAS "-blackwell", true);
	if (tools->count > before)
		tools->items[before].is_for_newer = true;
}

static void add_below(struct tools *tools, const char *whose,
                      const char *folder)
{
	char path[PYTHON_PATH_SIZE];

	if (folder != NULL && snprintf(path, sizeof(path), "%s/bin/ptxas",
	                               folder) < (int)sizeof(path))
		add_tool(tools, whose, path, false);
}

static void add_of_path(struct tools *tools)
{
	const char *folders = cli_variable("PATH");
	char path[PYTHON_PATH_SIZE];

	while (folders != NULL && *folders != '\0') {
		const size_t length = strcspn(folders, ":");

		if (length != 0 && length < sizeof(path) - 8 &&
		    snprintf(path, sizeof(path), "%.*s/ptxas", (int)length,
		             folders) > 0 &&
		    access(path, X_OK) == 0) {
			add_tool(tools, "that of PATH", path, false);
			return;
		}
		folders += length;
		folders += *folders == ':';
	}
}

static void find_all(struct tools *tools, const char *engine)
{
	const char *const own = cli_variable(own_variable);

	tools->is_set = own != NULL;
	tools->is_valid = own != NULL && access(own, X_OK) == 0;
	if (tools->is_valid)
		add_tool(tools, "TRITON_PTXAS_PATH's", own, true);
	add_packaged(tools, engine, "Triton's", ENGINE_FILE_PTXAS,
	             !tools->is_valid);
	/*
	 * Triton ignores a TRITON_PTXAS_PATH that cannot be run; PyTorch's
	 * workers do not.
	 */
	add_packaged(tools, engine, "PyTorch's", "torch/bin/ptxas",
	             !tools->is_set);
	add_newer(tools, engine);
	add_packaged(tools, engine, "the CUDA package's",
	             "nvidia/cu13/bin/ptxas", false);
	add_packaged(tools, engine, "the CUDA package's",
	             "nvidia/cuda_nvcc/bin/ptxas", false);
	add_below(tools, "CUDA_HOME's", cli_variable("CUDA_HOME"));
	add_of_path(tools);
	add_below(tools, "the machine's", "/usr/local/cuda");
}

void tools_begin(struct tools *tools, const char *engine, struct ask *asks)
{
	*tools = (struct tools){ .count = 0 };
	find_all(tools, engine != NULL ? engine : "python3");
	for (size_t i = 0; i < tools->count; i++) {
		struct tool *const tool = &tools->items[i];

		tool->argv[0] = tool->path;
		tool->argv[1] = "--version";
		asks[i] = (struct ask){ .argv = tool->argv,
			                .out = tool->answer,
			                .size = sizeof(tool->answer) };
	}
}

void tools_end(struct tools *tools, const struct ask *asks)
{
	for (size_t i = 0; i < tools->count; i++) {
		struct tool *const tool = &tools->items[i];
		const char *const at = strstr(tool->answer, ", V");

		tool->has_answered = asks[i].end == ASK_DONE;
		if (!tool->has_answered)
			continue;
		tool->ptx = ptx_of_ptxas(tool->answer);
		if (at != NULL)
			(void)snprintf(tool->version, sizeof(tool->version),
			               "%.*s", (int)strcspn(at + 3, " \n"),
			               at + 3);
	}
}

/* Is the version of any used ptxas known? */
static bool is_any_known(const struct tools *tools)
{
	for (size_t i = 0; i < tools->count; i++) {
		if (tools->items[i].is_used && tools->items[i].ptx != 0)
			return true;
	}
	return false;
}

bool tools_have(const struct tools *tools, uint32_t ptx)
{
	for (size_t i = 0; i < tools->count; i++) {
		if (tools->items[i].is_used && tools->items[i].ptx == ptx)
			return true;
	}
	return ptx == 0 || !is_any_known(tools);
}

bool tools_disagree(const struct tools *tools, const struct tool **one,
                    const struct tool **other)
{
	*one = NULL;
	for (size_t i = 0; i < tools->count; i++) {
		const struct tool *const tool = &tools->items[i];

		if (!tool->is_used || tool->is_for_newer ||
		    tool->version[0] == '\0')
			continue;
		if (*one == NULL)
			*one = tool;
		*other = tool;
		if (strcmp((*one)->version, tool->version) != 0)
			return true;
	}
	return false;
}

const struct tool *tools_find(const struct tools *tools, uint32_t ptx)
{
	const struct tool *found = NULL;

	for (size_t i = 0; i < tools->count && ptx != 0; i++) {
		const struct tool *const tool = &tools->items[i];

		if (tool->ptx == ptx && (found == NULL || !found->is_used))
			found = tool;
	}
	return found;
}

static void print_tool(const struct tool *tool, struct cli *cli)
{
	struct json_out *const json = &cli->json;
	const char *const version = tool->version[0] != '\0' ? tool->version
	                            : tool->has_answered
	                                    ? "of an unknown version"
	                                    : "did not answer";

	json_out_open_object(json, NULL);
	json_out_text(json, "whose", tool->whose);
	json_out_text(json, "path", tool->path);
	json_out_text(json, "version",
	              tool->version[0] != '\0' ? tool->version : NULL);
	json_out_flag(json, "is_used", tool->is_used);
	json_out_close(json);
	cli_print(cli, "  ptxas %s, %s%s: %s", version, tool->whose,
	          tool->is_used ? "" : ", not used for Triton's kernels",
	          tool->path);
}

void tools_print(const struct tools *tools, struct cli *cli,
                 struct findings *findings)
{
	json_out_open_array(&cli->json, "ptxas");
	for (size_t i = 0; i < tools->count; i++)
		print_tool(&tools->items[i], cli);
	json_out_close(&cli->json);
	if (tools->is_set && !tools->is_valid)
		findings_add(findings, FINDING_FAULT, "ptxas",
		             "TRITON_PTXAS_PATH is '%s', which is no program, "
		             "so Triton takes its own\tunset "
		             "TRITON_PTXAS_PATH, or name a ptxas in it",
		             cli_variable(own_variable));
	for (size_t i = 0; i < tools->count; i++) {
		const struct tool *const tool = &tools->items[i];

		if (tool->is_used && !tool->has_answered)
			findings_add(findings, FINDING_FAULT, "ptxas",
			             "%s, %s, does not tell its version\t"
			             "reinstall it, or name another one in %s",
			             tool->path, tool->whose,
			             tool->is_for_newer ? newer_variable
			                                : own_variable);
	}
}
