/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compile_open.h"

#include <stdlib.h>

#include <tkbundle/finalize.h>

#include "compile/compile_bind.h"
#include "compile/compile_emit.h"
#include "config/root.h"
#include "cli/text.h"

/* Texts that the options of the library point to. */
struct choices {
	char **nvrtc;            /* owned; ends with NULL */
	struct tkb_bytes *rules; /* owned, with their data */
	size_t rule_count;
	struct compile_bindings bindings;
	struct tkb_finalize_options finalize;
};

static void choices_release(struct choices *choices)
{
	for (size_t i = 0; choices->nvrtc != NULL && choices->nvrtc[i] != NULL;
	     i++)
		free(choices->nvrtc[i]);
	free(choices->nvrtc);
	for (size_t i = 0; i < choices->rule_count; i++)
		free((void *)(uintptr_t)choices->rules[i].data);
	free(choices->rules);
	compile_bindings_release(&choices->bindings);
}

/* Add an option such as "-Ifolder" or "-DNAME=V". */
static int join_option(const char *letter, const char *value, char **out,
                       struct tkb_error *err)
{
	*out = text_format("%s%s", letter, value);
	return *out != NULL ? 0 : cli_error_nomem(err);
}

static int choose_nvrtc(const struct compile_arguments *args,
                        struct choices *choices, struct tkb_error *err)
{
	const size_t count = args->folders.count + args->defines.count;
	size_t used = 0;
	int rc = 0;

	choices->nvrtc = calloc(count + 1, sizeof(*choices->nvrtc));
	if (choices->nvrtc == NULL)
		return cli_error_nomem(err);
	for (size_t i = 0; i < args->folders.count && rc == 0; i++)
		rc = join_option("-I", args->folders.items[i],
		                 &choices->nvrtc[used++], err);
	for (size_t i = 0; i < args->defines.count && rc == 0; i++)
		rc = join_option("-D", args->defines.items[i],
		                 &choices->nvrtc[used++], err);
	return rc;
}

/* The words are in the enum's order, after the default. */
static enum tkb_quant quant_of(const struct compile_arguments *args)
{
	return args->quant.is_set ? (enum tkb_quant)(args->quant.value + 1)
	                          : TKB_QUANT_ANY;
}

static int choose_finalize(const struct compile_arguments *args,
                           struct choices *choices, struct tkb_error *err)
{
	int rc;

	choices->rules = calloc(args->rules.count + 1, sizeof(*choices->rules));
	if (choices->rules == NULL)
		return cli_error_nomem(err);
	for (size_t i = 0; i < args->rules.count; i++) {
		const char *const path = args->rules.items[i];

		rc = compile_input_file(path, &choices->rules[i], err);
		if (rc == TKB_MISS)
			return cli_error(err, TKB_MISS,
			                 "there are no rules '%s'", path);
		if (rc < 0)
			return rc;
		choices->rule_count++;
	}
	rc = compile_bindings_read(args, &choices->bindings, err);
	if (rc != 0)
		return rc;
	choices->finalize = (struct tkb_finalize_options){
		.struct_size = sizeof(struct tkb_finalize_options),
		.kernels = args->kept.items,
		.bindings = choices->bindings.items,
		.binding_count = choices->bindings.count,
		.without = args->without.items,
		.rules = choices->rules,
		.rule_names = args->rules.items,
		.rule_count = choices->rule_count,
		.is_fast = args->is_fast,
		.quant = quant_of(args),
	};
	return 0;
}

static enum tkb_product product_of(const struct arguments *args)
{
	static const enum tkb_product products[COMPILE_STAGE_COUNT] = {
		[COMPILE_STAGE_LLIR] = TKB_PRODUCT_LLIR,
		[COMPILE_STAGE_PTX] = TKB_PRODUCT_PTX,
		[COMPILE_STAGE_CUBIN] = TKB_PRODUCT_CUBIN,
		[COMPILE_STAGE_SASS] = TKB_PRODUCT_CUBIN,
	};

	return args->compile.emit.is_set ? products[args->compile.emit.value]
	                                 : TKB_PRODUCT_CUBIN;
}

static int open_compiler(struct compile_work *work, struct tkb_error *err)
{
	const struct arguments *const args = work->args;
	const struct compile_arguments *const chosen = &args->compile;
	TKB_AUTO(choices_release) struct choices choices = { .nvrtc = NULL };
	struct tkb_compiler_options options = {
		.struct_size = sizeof(options),
		.worker_count = args->jobs.value,
		.cache_root = work->root,
		.product = product_of(args),
		/* The words are in the enum's order. */
		.cubin_with = (enum tkb_cubin_tool)chosen->cubin_with.value,
		.ptxas = chosen->ptxas,
		.ptxas_options = chosen->ptxas_options.items,
		.libdevice = chosen->libdevice,
		.is_optimized = chosen->is_optimized,
		.has_pass_output = chosen->has_pass_output,
		.log = compile_open_log(work),
	};
	int rc;

	rc = choose_nvrtc(chosen, &choices, err);
	if (rc == 0)
		rc = choose_finalize(chosen, &choices, err);
	if (rc != 0)
		return rc;
	options.nvrtc_options = (const char *const *)choices.nvrtc;
	if (chosen->is_finalized)
		options.finalize = &choices.finalize;
	return tkb_compiler_open(&options, &work->compiler, err);
}

enum status compile_open(struct compile_work *work)
{
	struct tkb_error err = { .status = 0 };
	const int rc = open_compiler(work, &err);

	return rc == 0 ? STATUS_DONE : cli_failed(work->cli, rc, &err, "");
}

enum status compile_open_root(struct compile_work *work, char **root_out)
{
	TKB_AUTO(root_release) struct root root = { .path = NULL };
	struct tkb_error err = { .status = 0 };
	int rc;

	rc = root_choose(work->args->cache, &root, &err);
	/* An Inductor folder has a cache of Triton's for each GPU. */
	if (rc == 0)
		*root_out = text_format("%s%s", root.path,
		                        root.is_inductor ? "/triton/0" : "");
	if (rc == 0 && *root_out == NULL)
		rc = cli_error_nomem(&err);
	work->root = *root_out;
	return rc == 0 ? STATUS_DONE : cli_failed(work->cli, rc, &err, "~");
}

enum status compile_open_log_file(struct compile_work *work)
{
	const char *const path = work->args->compile.log;
	struct tkb_error err = { .status = 0 };

	if (path == NULL)
		return STATUS_DONE;
	work->log = fopen(path, "we");
	if (work->log != NULL)
		return STATUS_DONE;
	(void)cli_error_errno(&err, "write", path);
	return cli_failed(work->cli, TKB_ERR_IO, &err, path);
}

/* The log must be complete if the compiler or the machine crashes. */
static int write_log(void *self, struct tkb_bytes source, struct tkb_error *err)
{
	const struct compile_work *const work = self;
	const struct compile_item *const item = work->logged;

	if (item != NULL)
		text_line(work->log, "==== %s for %s, %s", item->path,
		          item->target, item->key);
	if (fwrite(source.data, 1, source.size, work->log) == source.size &&
	    fputc('\n', work->log) != EOF && fflush(work->log) == 0)
		return 0;
	return cli_error_errno(err, "write", work->args->compile.log);
}

struct tkb_sink compile_open_log(struct compile_work *work)
{
	return (struct tkb_sink){ work->log == NULL ? NULL : write_log, work };
}
