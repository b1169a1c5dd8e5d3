/* SPDX-License-Identifier: Apache-2.0 */
#include "ptxas.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "tool.h"

enum {
	ARGUMENTS_LIMIT = 128,
	FIRST_BLACKWELL = 100
};

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
	       access(path, X_OK) == 0;
}

/* "<folder>/bin/ptxas", if it is there. */
static bool try_toolkit(const char *folder, char out[4096])
{
	if (folder == NULL)
		return false;
	return snprintf(out, 4096, "%s/bin/ptxas", folder) < 4096 &&
	       is_program(out);
}

static bool try_path(char out[4096])
{
	const char *at = variable("PATH");

	while (at != NULL && *at != '\0') {
		const int length = (int)strcspn(at, ":");

		if (length > 0 &&
		    snprintf(out, 4096, "%.*s/ptxas", length, at) < 4096 &&
		    is_program(out))
			return true;
		at += length;
		at += *at == ':';
	}
	return false;
}

static int choose(const char *given, const char *arch, char out[4096],
                  struct tkb_error *err)
{
	const char *named = given;

	if (named == NULL && strtol(arch, NULL, 10) >= FIRST_BLACKWELL)
		named = variable("TRITON_PTXAS_BLACKWELL_PATH");
	if (named == NULL)
		named = variable("TRITON_PTXAS_PATH");
	if (named != NULL) {
		if (!is_program(named) ||
		    snprintf(out, 4096, "%s", named) >= 4096)
			return fail(err, TKB_ERR_IO, "there is no program '%s'",
			            named);
		return 0;
	}
	if (try_toolkit(variable("CUDA_HOME"), out) ||
	    try_toolkit(variable("CUDA_PATH"), out) ||
	    try_toolkit("/usr/local/cuda", out) || try_path(out))
		return 0;
	return fail(err, TKB_ERR_IO,
	            "there is no ptxas: name one with --ptxas or "
	            "TRITON_PTXAS_PATH");
}

/* As Triton maps a toolkit's version to that of PTX. */
static uint32_t ptx_version_of(unsigned major, unsigned minor)
{
	if (major == 12)
		return 80 + (minor < 6 ? minor : minor - 1);
	if (major >= 13)
		return 90 + (major - 13) * 10 + minor;
	return 70 + minor;
}

static int ask_version(struct ptxas *tool, struct tkb_error *err)
{
	const char *const arguments[] = { "ptxas", "--version", NULL };
	struct tool_run run = TOOL_RUN_INIT;
	unsigned major = 0;
	unsigned minor = 0;
	char text[1024];
	const char *at;
	int rc;

	rc = tool_run(tool->path, arguments, (struct tkb_bytes){ 0 }, &run,
	              err);
	if (rc < 0)
		return rc;
	tool_peek(run.output, text, sizeof(text));
	tool_release(&run);
	at = strstr(text, "release ");
	if (at == NULL || sscanf(at, "release %u.%u, V%63[0-9.]", &major,
	                         &minor, tool->version) != 3)
		return fail(err, TKB_ERR_IO,
		            "'%s' does not tell its version as ptxas does",
		            tool->path);
	tool->ptx_version = ptx_version_of(major, minor);
	return 0;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

int ptxas_find(struct ptxas *tool, const char *given, const char *arch,
               struct tkb_error *err)
{
	struct ptxas found = { .ptx_version = 0 };
	int rc;

	rc = choose(given, arch, found.path, err);
	if (rc < 0)
		return rc;
	if (stat(found.path, &found.status) < 0)
		return fail(err, TKB_ERR_IO, "'%s': %s", found.path,
		            strerror(errno));
	if (strcmp(found.path, tool->path) == 0 &&
	    is_same_file(&found.status, &tool->status))
		return 0;
	rc = ask_version(&found, err);
	if (rc == 0)
		*tool = found;
	return rc;
}

void ptxas_gpu_name(const char *arch, char out[32])
{
	(void)snprintf(out, 32, "sm_%.16s%s", arch,
	               strtol(arch, NULL, 10) >= 90 ? "a" : "");
}

/* Ours, then the user's, as Triton orders them. */
static int list_arguments(const struct ptxas_order *order, const char *gpu,
                          const char **out, struct tkb_error *err)
{
	size_t count = 0;

	if (order->option_count > ARGUMENTS_LIMIT - 8)
		return fail(err, TKB_ERR_INVALID, "too many options of ptxas");
	out[count++] = "ptxas";
	if (!order->no_lines)
		out[count++] = "-lineinfo";
	if (order->no_fusion)
		out[count++] = "--fmad=false";
	out[count++] = "-v";
	for (size_t i = 0; i < order->option_count; i++)
		out[count++] = order->options[i];
	out[count++] = gpu;
	out[count++] = "-";
	out[count++] = "-o";
	out[count++] = "/dev/stdout";
	out[count] = NULL;
	return 0;
}

static int log_text(const struct tkb_sink *log, const char *text,
                    struct tkb_error *err)
{
	return log->write(log->self, (struct tkb_bytes){ text, strlen(text) },
	                  err);
}

/* How to see it again: with the PTX in a file. */
static int log_command(const char *path, const char *const *arguments,
                       const struct tkb_sink *log, struct tkb_error *err)
{
	int rc;

	rc = log_text(log, "to repeat it: ", err);
	if (rc == 0)
		rc = log_text(log, path, err);
	for (size_t i = 1; arguments[i] != NULL && rc == 0; i++) {
		const char *text = arguments[i];

		if (strcmp(text, "-") == 0)
			text = "kernel.ptx";
		else if (strcmp(text, "/dev/stdout") == 0)
			text = "kernel.cubin";
		rc = log_text(log, " ", err);
		if (rc == 0)
			rc = log_text(log, text, err);
	}
	return rc == 0 ? log_text(log, "\n", err) : rc;
}

static int report(const struct ptxas_order *order, const struct tool_run *run,
                  const char *const *arguments, const struct tkb_sink *log,
                  struct tkb_error *err)
{
	char what[64];
	char text[300];
	int rc;

	rc = log_command(order->tool->path, arguments, log, err);
	if (rc < 0)
		return rc;
	tool_describe(run, what);
	tool_peek(run->log, text, sizeof(text));
	return fail(err, TKB_ERR_INVALID, "ptxas %s: %s", what,
	            text[0] != '\0' ? text : "it said nothing");
}

int ptxas_compile(const struct ptxas_order *order, struct tkb_bytes ptx,
                  const struct tkb_sink *cubin, const struct tkb_sink *log,
                  struct tkb_error *err)
{
	const char *arguments[ARGUMENTS_LIMIT + 1];
	struct tool_run run = TOOL_RUN_INIT;
	char option[64] = "--gpu-name=";
	char gpu[32];
	int rc;

	ptxas_gpu_name(order->arch, gpu);
	(void)strncat(option, gpu, sizeof(option) - strlen(option) - 1);
	rc = list_arguments(order, option, arguments, err);
	if (rc < 0)
		return rc;
	rc = tool_run(order->tool->path, arguments, ptx, &run, err);
	if (rc < 0)
		return rc;
	rc = tool_send(run.log, log, err);
	if (rc == 0 && run.status != 0)
		rc = report(order, &run, arguments, log, err);
	if (rc == 0)
		rc = tool_send(run.output, cubin, err);
	tool_release(&run);
	return rc;
}
