/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compile_check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile/compile_emit.h"
#include "compile/compile_input.h"
#include "compile/compile_table.h"
#include "compile/compile_triton_request.h"
#include "compile/compile_work.h"

void compile_check_release(struct compile_inputs *inputs)
{
	free(inputs->files);
	free(inputs->kernels);
}

enum status compile_check_sort(const struct cli *cli,
                               const struct arguments *args,
                               struct compile_inputs *out)
{
	out->files = calloc(args->operands.count, sizeof(*out->files));
	out->kernels = calloc(args->operands.count, sizeof(*out->kernels));
	if (out->files == NULL || out->kernels == NULL)
		return cli_no_memory(cli);
	for (size_t i = 0; i < args->operands.count; i++) {
		const char *const operand = args->operands.items[i];
		enum tkb_source_kind kind;

		if (compile_triton_is_input(operand))
			out->kernels[out->kernel_count++] = operand;
		else if (compile_input_kind(operand, &kind))
			out->files[out->file_count++] = operand;
		else
			return cli_misused(
				cli,
				"'%s' is nothing to compile: its name ends "
				"in none of " COMPILE_INPUT_ENDINGS
				", and it is no FILE.py:KERNEL, FILE.py, "
				"FILE.json, FILE.tkb or folder",
				operand);
	}
	return STATUS_DONE;
}

static enum status check_kernels(const struct cli *cli,
                                 const struct arguments *args,
                                 const struct compile_inputs *inputs)
{
	const struct compile_arguments *const chosen = &args->compile;

	for (size_t i = 0; i < inputs->kernel_count; i++) {
		if (chosen->signature == NULL &&
		    !compile_triton_is_list(inputs->kernels[i]) &&
		    !compile_triton_is_recorded(inputs->kernels[i]) &&
		    !compile_triton_is_module(inputs->kernels[i]) &&
		    !compile_triton_is_ir(inputs->kernels[i]))
			return cli_misused(cli,
			                   "'--signature ITEMS' is missing, "
			                   "for '%s'",
			                   inputs->kernels[i]);
	}
	return STATUS_DONE;
}

static enum status check_targets(const struct cli *cli,
                                 const struct arguments *args,
                                 const struct compile_inputs *inputs)
{
	bool is_wanted = inputs->file_count != 0;

	for (size_t i = 0; i < inputs->kernel_count; i++)
		is_wanted = is_wanted ||
		            !compile_triton_is_list(inputs->kernels[i]);
	if (is_wanted && args->targets.count == 0)
		return cli_misused(cli, "'--target TARGET' is missing, as in "
		                        "--target cuda:90");
	for (size_t i = 0; i < args->targets.count; i++) {
		struct tkb_error err = { .status = 0 };
		char name[64];

		compile_work_target(&args->targets.items[i], name);
		if (tkb_target_check(name, &err) < 0)
			return cli_misused(cli, "%s", err.message);
	}
	return STATUS_DONE;
}

/* A list or a bundle may have many kernels. */
static bool is_one(const struct arguments *args,
                   const struct compile_inputs *inputs)
{
	return args->targets.count == 1 && args->compile.pythons.count < 2 &&
	       inputs->file_count + inputs->kernel_count == 1 &&
	       (inputs->kernel_count == 0 ||
	        (!compile_triton_is_list(inputs->kernels[0]) &&
	         !compile_triton_is_recorded(inputs->kernels[0])));
}

static bool is_binary(uint32_t stage)
{
	return stage == COMPILE_STAGE_CUBIN || stage == COMPILE_STAGE_HSACO;
}

static enum status check_emit(const struct cli *cli,
                              const struct arguments *args,
                              const struct compile_inputs *inputs)
{
	const bool is_to_stdout =
		args->output != NULL && strcmp(args->output, "-") == 0;

	if (!args->compile.emit.is_set)
		return args->output == NULL
		               ? STATUS_DONE
		               : cli_misused(cli, "'-o' wants '--emit'");
	if (args->output == NULL)
		return cli_misused(cli, "'-o FILE' is missing");
	if (!compile_emit_is_folder(args->output) && !is_one(args, inputs))
		return cli_misused(cli, "'--emit' wants one kernel and one "
		                        "target, or a folder, as '-o out/'");
	if (args->cache != NULL)
		return cli_misused(cli, "'--emit' makes no entry, so '--cache' "
		                        "has no use");
	if (is_to_stdout && args->is_json)
		return cli_misused(cli, "'-o -' and '--json' both want "
		                        "standard output");
	if (is_to_stdout && is_binary(args->compile.emit.value) &&
	    isatty(fileno(cli->out)))
		return cli_misused(
			cli, "a %s is not written to a terminal",
			compile_emit_word(
				(enum compile_stage)args->compile.emit.value));
	return STATUS_DONE;
}

/*
 * Refuse options that have no effect without another option, or together with
 * one.
 */
static enum status check_pairs(const struct cli *cli,
                               const struct compile_arguments *chosen,
                               const struct compile_inputs *inputs)
{
	const bool is_linked =
		chosen->cubin_with.is_set &&
		chosen->cubin_with.value == TKB_CUBIN_TOOL_NVJITLINK;

	if (!chosen->is_finalized &&
	    (chosen->without.count != 0 || chosen->rules.count != 0 ||
	     chosen->kept.count != 0 || chosen->bindings.count != 0 ||
	     chosen->bindings_file != NULL || chosen->quant.is_set ||
	     chosen->is_fast))
		return cli_misused(cli, "'--without', '--rules', '--fast', "
		                        "'--keep', '--bind', '--bind-from' "
		                        "and '--quant' want '--finalize'");
	if (is_linked && chosen->ptxas != NULL)
		return cli_misused(cli, "'--ptxas' has no meaning with "
		                        "'--cubin-with nvjitlink'");
	if (chosen->emit.is_set && chosen->emit.value == COMPILE_STAGE_LLIR &&
	    inputs->file_count != 0 && !chosen->is_finalized &&
	    (chosen->kernel != NULL || chosen->has_pass_output))
		return cli_misused(cli, "'--name' and '--print-after-all' "
		                        "want '--finalize' with '--emit llir'");
	return STATUS_DONE;
}

/* Refuse options without effect: the user expects one. */
enum status compile_check(const struct cli *cli, const struct arguments *args,
                          const struct compile_inputs *inputs)
{
	const struct compile_arguments *const chosen = &args->compile;
	const uint32_t warps = chosen->num_warps.value;
	enum status status = check_targets(cli, args, inputs);

	if (status != STATUS_DONE)
		return status;
	if ((warps & (warps - 1)) != 0)
		return cli_misused(cli,
		                   "'--num-warps' wants a power of two, not %u",
		                   warps);
	status = check_pairs(cli, chosen, inputs);
	if (status == STATUS_DONE)
		status = check_emit(cli, args, inputs);
	if (status == STATUS_DONE)
		status = compile_table_check(cli, args);
	return status == STATUS_DONE ? check_kernels(cli, args, inputs)
	                             : status;
}
