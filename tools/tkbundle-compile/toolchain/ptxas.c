/* SPDX-License-Identifier: Apache-2.0 */
#include "toolchain/ptxas.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tkbundle/machine.h>

#include "base/base.h"
#include "base/path.h"
#include "compile/compiler/tools_file.h"

#include "worker/fail.h"
#include "toolchain/gpu.h"
#include "toolchain/tool.h"

enum {
	ARGUMENTS_LIMIT = 128,
	FIRST_BLACKWELL = 100,
	PEEK_SIZE = 16 * 1024 /* bytes of the output that are searched for an
	                         error */
};

/* If there is no such program, add the path to `searched`. */
static bool check_program(const char *path, struct tkb_buf *searched)
{
	if (tkb_path_is_program(path))
		return true;
	tkb_tool_file_add(searched, path);
	return false;
}

/* Try "<folder>/bin/ptxas". */
static bool try_toolkit(const char *folder, char out[CUDA_PATH_SIZE],
                        struct tkb_buf *searched)
{
	if (folder == NULL)
		return false;
	return snprintf(out, CUDA_PATH_SIZE, "%s/bin/ptxas", folder) <
	               CUDA_PATH_SIZE &&
	       check_program(out, searched);
}

static bool try_path(char out[CUDA_PATH_SIZE], struct tkb_buf *searched)
{
	const char *at = tkb_environment("PATH");

	while (at != NULL && *at != '\0') {
		const int length = (int)strcspn(at, ":");

		if (length > 0 &&
		    snprintf(out, CUDA_PATH_SIZE, "%.*s/ptxas", length, at) <
		            CUDA_PATH_SIZE &&
		    check_program(out, searched))
			return true;
		at += length;
		at += *at == ':';
	}
	return false;
}

static int find_ptxas_file(const char *given, const char *arch,
                           char out[CUDA_PATH_SIZE], struct tkb_buf *searched,
                           struct tkb_error *err)
{
	const char *named = given;

	if (named == NULL && strtol(arch, NULL, 10) >= FIRST_BLACKWELL)
		named = tkb_environment("TRITON_PTXAS_BLACKWELL_PATH");
	if (named == NULL)
		named = tkb_environment("TRITON_PTXAS_PATH");
	if (named != NULL) {
		if (!tkb_path_is_program(named) ||
		    snprintf(out, CUDA_PATH_SIZE, "%s", named) >=
		            CUDA_PATH_SIZE)
			return fail(err, TKB_ERR_IO, "there is no program '%s'",
			            named);
		return 0;
	}
	if (try_toolkit(tkb_environment("CUDA_HOME"), out, searched) ||
	    try_toolkit(tkb_environment("CUDA_PATH"), out, searched) ||
	    try_toolkit(CUDA_DEFAULT_TOOLKIT, out, searched) ||
	    try_path(out, searched))
		return 0;
	return fail(err, TKB_ERR_UNSUPPORTED,
	            "there is no ptxas: name one with --ptxas or "
	            "TRITON_PTXAS_PATH");
}

static int query_version(struct ptxas *tool, struct tkb_error *err)
{
	const char *const arguments[] = { "ptxas", "--version", NULL };
	TKB_AUTO(tool_release) struct tool_run run = TOOL_RUN_INIT;
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
	at = strstr(text, "release ");
	if (at == NULL || sscanf(at, "release %u.%u, V%63[0-9.]", &major,
	                         &minor, tool->version) != 3)
		return fail(err, TKB_ERR_IO,
		            "'%s' does not print a version like ptxas",
		            tool->path);
	tool->ptx_version = tkb_ptx_of_cuda(major, minor);
	return 0;
}

int ptxas_find(struct ptxas *tool, const char *given, const char *arch,
               struct tkb_buf *searched, struct tkb_error *err)
{
	struct ptxas found = { .ptx_version = 0 };
	int rc;

	rc = find_ptxas_file(given, arch, found.path, searched, err);
	if (rc < 0)
		return rc;
	tkb_tool_file_add(searched, found.path);
	if (!tkb_file_identify(found.path, &found.identity))
		return fail(err, TKB_ERR_IO, "'%s': %s", found.path,
		            strerror(errno));
	if (strcmp(found.path, tool->path) == 0 &&
	    tkb_file_is_same(&found.identity, &tool->identity))
		return 0;
	rc = query_version(&found, err);
	if (rc == 0)
		*tool = found;
	return rc;
}

static const char input[] = "/dev/stdin"; /* not "-", which ptxas would copy
                                             to a file */
static const char output[] = "/dev/stdout";

/* List tkbundle's options, then the user's, in Triton's order. */
static int list_ptxas_arguments(const struct ptxas_request *request,
                                const char *gpu, const char **out,
                                struct tkb_error *err)
{
	size_t count = 0;

	if (request->options.count > ARGUMENTS_LIMIT - 8)
		return fail(err, TKB_ERR_INVALID,
		            "ptxas cannot have more than %d options",
		            ARGUMENTS_LIMIT - 8);
	out[count++] = "ptxas";
	if (!request->options.is_line_info_off)
		out[count++] = "-lineinfo";
	if (request->options.is_fusion_off)
		out[count++] = "--fmad=false";
	out[count++] = "-v";
	for (size_t i = 0; i < request->options.count; i++)
		out[count++] = request->options.items[i];
	out[count++] = gpu;
	out[count++] = input;
	out[count++] = "-o";
	out[count++] = output;
	out[count] = NULL;
	return 0;
}

static int log_text(const struct tkb_sink *log, const char *text,
                    struct tkb_error *err)
{
	return log->write(log->self, (struct tkb_bytes){ text, strlen(text) },
	                  err);
}

/* Write a word quoted for a shell. */
static int log_word(const struct tkb_sink *log, const char *word,
                    struct tkb_error *err)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./:,@%";
	int rc;

	if (word[0] != '\0' && word[strspn(word, plain)] == '\0')
		return log_text(log, word, err);
	rc = log_text(log, "'", err);
	while (rc == 0 && *word != '\0') {
		const size_t length = strcspn(word, "'");

		rc = log->write(log->self, (struct tkb_bytes){ word, length },
		                err);
		word += length;
		if (rc == 0 && *word == '\'') {
			rc = log_text(log, "'\\''", err);
			word++;
		}
	}
	return rc == 0 ? log_text(log, "'", err) : rc;
}

/* Write a command that repeats the failure, with the PTX in a file. */
static int log_command(const struct ptxas_request *request,
                       const char *const *arguments, const struct tkb_sink *log,
                       struct tkb_error *err)
{
	const char *file = request->file == NULL ? "kernel.ptx" : request->file;
	int rc = 0;

	if (request->file == NULL)
		rc = log_text(log,
		              "to repeat it, compile the same with --emit ptx "
		              "-o kernel.ptx, and then:\n",
		              err);
	else
		rc = log_text(log, "to repeat it:\n", err);
	if (rc == 0)
		rc = log_word(log, request->tool->path, err);
	for (size_t i = 1; arguments[i] != NULL && rc == 0; i++) {
		const char *word = arguments[i];

		if (word == input)
			word = file;
		else if (word == output)
			word = "kernel.cubin";
		rc = log_text(log, " ", err);
		if (rc == 0)
			rc = log_word(log, word, err);
	}
	return rc == 0 ? log_text(log, "\n", err) : rc;
}

/* Report that ptxas failed, and `why`. */
static int report_ptxas_failure(const struct ptxas_request *request,
                                const struct tool_run *run,
                                const char *const *arguments, const char *why,
                                const struct tkb_sink *log,
                                struct tkb_error *err)
{
	char line[FAIL_LINE_SIZE];
	char text[PEEK_SIZE];
	int rc;

	rc = log_command(request, arguments, log, err);
	if (rc < 0)
		return rc;
	tool_peek(run->log, text, sizeof(text));
	fail_first_error(text, line);
	return fail(err, TKB_ERR_INVALID, "ptxas %s: %s", why, line);
}

/* Set `why` to the reason of a failure; "" on success. */
static void check_result(const struct tool_run *run, char why[64])
{
	static const char magic[] = "\177ELF";
	char start[sizeof(magic)];

	why[0] = '\0';
	if (run->status != 0) {
		tool_describe(run, why);
		return;
	}
	tool_peek(run->output, start, sizeof(start));
	if (start[0] == '\0')
		(void)snprintf(why, 64, "succeeded, but made nothing");
	else if (strcmp(start, magic) != 0)
		(void)snprintf(why, 64, "succeeded, but made no cubin");
}

int ptxas_compile(const struct ptxas_request *request, struct tkb_bytes ptx,
                  const struct tkb_sink *cubin, const struct tkb_sink *log,
                  struct tkb_error *err)
{
	const char *arguments[ARGUMENTS_LIMIT + 1];
	TKB_AUTO(tool_release) struct tool_run run = TOOL_RUN_INIT;
	char option[64];
	char gpu[GPU_NAME_SIZE];
	char why[64];
	int rc;

	gpu_name(request->options.arch, gpu);
	(void)snprintf(option, sizeof(option), "--gpu-name=%s", gpu);
	rc = list_ptxas_arguments(request, option, arguments, err);
	if (rc < 0)
		return rc;
	rc = tool_run(request->tool->path, arguments, ptx, &run, err);
	if (rc == 0)
		rc = tool_send(run.log, log, err);
	if (rc < 0)
		return rc;
	check_result(&run, why);
	if (why[0] != '\0')
		return report_ptxas_failure(request, &run, arguments, why, log,
		                            err);
	return tool_send(run.output, cubin, err);
}
