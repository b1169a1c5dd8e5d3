/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compiler/compiler_internal.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile/pool/fields.h"
#include "compile/pool/libexec.h"
#include "compile/compiler/tools_file.h"
#include "cache/watch.h"

enum {
	PASSES_LIMIT = 256 * 1024 * 1024 /* bytes of the printed passes */
};

/*
 * Variables that determine which tools are found. Their values are those at the
 * time when the compiler was opened.
 */
static const char *const variables[TKB_VARIABLE_COUNT] = {
	"PATH",
	"CUDA_HOME",
	"CUDA_PATH",
	"LD_LIBRARY_PATH",
	"TRITON_PTXAS_PATH",
	"TRITON_PTXAS_BLACKWELL_PATH",
	"TRITON_LIBDEVICE_PATH",
};

/* Copy a variable as jobs have it: "NAME=value", or "NAME" if it is not set. */
static int copy_variable(struct tkb_compiler *compiler, const char *name,
                         const char **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_COMPILE_TEXT_LIMIT);
	const char *value = getenv(name);

	tkb_buf_add_text(&text, name);
	if (value != NULL)
		tkb_print(&text, "=%s", value);
	return tkb_arena_copy_buf(&compiler->arena, &text, out, err);
}

static int check_program(const char *path, struct tkb_error *err)
{
	struct stat status;

	if (stat(path, &status) < 0 || access(path, X_OK) < 0)
		return tkb_fail_errno(err, "cannot start '%s'", path);
	if (!S_ISREG(status.st_mode))
		return tkb_fail(err, TKB_ERR_IO,
		                "cannot start '%s': it is not a program", path);
	return 0;
}

static int find_program(struct tkb_compiler *compiler, const char *named,
                        struct tkb_error *err)
{
	char path[TKB_LIBEXEC_PATH_SIZE];
	int rc = 0;

	if (named == NULL) {
		rc = tkb_libexec_find("tkbundle-compile", path, err);
		named = path;
	}
	if (rc == 0)
		rc = check_program(named, err);
	if (rc < 0)
		return rc;
	return tkb_arena_copy(&compiler->arena, tkb_text(named),
	                      &compiler->worker, err);
}

int tkb_workers_set_options(struct tkb_compiler *compiler,
                            const struct tkb_compiler_options *options,
                            struct tkb_error *err)
{
	struct tkb_buf *tools_context = &compiler->tools_context;
	int rc;

	compiler->worker_count = options->worker_count;
	compiler->has_pass_output = options->has_pass_output;
	rc = tkb_watch_read(&compiler->watch, options->watch, err);
	if (rc == 0)
		rc = find_program(compiler, options->worker, err);
	for (size_t i = 0; i < TKB_VARIABLE_COUNT && rc == 0; i++)
		rc = copy_variable(compiler, variables[i],
		                   &compiler->environment[i], err);
	if (rc < 0)
		return rc;
	tkb_tool_file_add(tools_context, compiler->worker);
	/* Include the user: tools that a user may not start are not found. */
	tkb_field_add_number(tools_context, TKB_FIELD_NAME, geteuid());
	for (size_t i = 0; i < TKB_VARIABLE_COUNT; i++)
		tkb_field_add_text(tools_context, TKB_FIELD_NAME,
		                   compiler->environment[i]);
	return tkb_buf_check(tools_context, err);
}

static int open_pool(struct tkb_compiler *compiler, struct tkb_error *err)
{
	static const char *const printing[] = { "--print-after-all", NULL };
	const bool prints = compiler->has_pass_output;
	const struct tkb_pool_options options = {
		.struct_size = sizeof(options),
		.worker = compiler->worker,
		.watch = &compiler->watch,
		.arguments = prints ? printing : NULL,
		.worker_count = compiler->worker_count,
		.max_log_size = prints ? PASSES_LIMIT : 0,
	};

	return tkb_pool_open(&options, &compiler->pool, err);
}

int tkb_workers_submit(struct tkb_compiler *compiler, struct tkb_job *job,
                       struct tkb_future **out, struct tkb_error *err)
{
	int rc = 0;

	(void)pthread_mutex_lock(&compiler->pool_lock);
	if (compiler->pool == NULL)
		rc = open_pool(compiler, err);
	(void)pthread_mutex_unlock(&compiler->pool_lock);
	if (rc < 0)
		return rc;
	job->environment = compiler->environment;
	job->timeout_ms = compiler->timeout_ms;
	return tkb_pool_submit(compiler->pool, job, out, err);
}
