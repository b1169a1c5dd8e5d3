/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/commands.h"

#include <inttypes.h>

#include "compile/compile_check.h"
#include "compile/compile_emit.h"
#include "compile/compile_open.h"
#include "compile/compile_out.h"
#include "compile/compile_triton.h"
#include "config/root.h"
#include "cli/signals.h"
#include "cli/text.h"

static const struct option_spec options[] = {
	{ OPTION(TARGETS, "target", "TARGET[,TARGET...]", targets,
	         "compile for these GPUs, as cuda:90"),
	  .is_required = true },
	{ OPTION(TEXT, "cache", "CACHE_ROOT", cache,
	         "write entries here; by default to Triton's cache") },
	{ OPTION(NUMBER, "jobs", "N", jobs,
	         "use N workers, not one for each core"),
	  .letter = 'j', .min = 1, .max = 256 },
	{ OPTION(TEXT, "ptxas", "PATH", compile.ptxas,
	         "use this ptxas, not the one that is found") },
	{ OPTION(WORD, "cubin-with", "ptxas|nvjitlink", compile.cubin_with,
	         "the tool that makes cubins from PTX") },
	{ OPTION(TEXTS, "ptxas-option", "O", compile.ptxas_options,
	         "pass this option to ptxas") },
	{ OPTION(TEXTS, "include", "DIR", compile.folders,
	         "search this folder for headers of CUDA C"),
	  .letter = 'I' },
	{ OPTION(TEXTS, "define", "NAME[=V]", compile.defines,
	         "define a macro of CUDA C"),
	  .letter = 'D' },
	{ OPTION(TEXT, "libdevice", "FILE", compile.libdevice,
	         "link functions that IR calls from this file") },
	{ OPTION(SWITCH, "optimize", NULL, compile.is_optimized,
	         "run LLVM's O3; Triton has run it on its own IR") },
	{ OPTION(TEXT, "name", "KERNEL", compile.kernel,
	         "compile this one of several kernels") },
	{ OPTION(NUMBER, "num-warps", "N", compile.num_warps,
	         "launch with N warps"),
	  .min = 1, .max = 32 },
	{ OPTION(NUMBER, "num-stages", "N", compile.num_stages,
	         "pipeline loops of a Triton kernel in N stages"),
	  .min = 1, .max = 64 },
	{ OPTION(TEXT, "metadata", "FILE", compile.metadata,
	         "take launch attributes from Triton's JSON in FILE") },
	{ OPTION(SWITCH, "finalize", NULL, compile.is_finalized,
	         "optimize IR as a whole module") },
	{ OPTION(TEXTS, "keep", "KERNEL", compile.kept,
	         "keep this kernel; --finalize drops the others") },
	{ OPTION(TEXTS, "bind", "ARG=V", compile.bindings,
	         "let --finalize make an argument a constant") },
	{ OPTION(TEXT, "bind-from", "FILE.json", compile.bindings_file,
	         "take such arguments from a JSON object") },
	{ OPTION(TEXTS, "without", "STEP", compile.without,
	         "skip this step of --finalize") },
	{ OPTION(SWITCH, "fast", NULL, compile.is_fast,
	         "let --finalize use rules that change rounding") },
	{ OPTION(WORD, "quant", "dynamic|static|weight-only", compile.quant,
	         "use the rules of this scheme; refuse other kernels") },
	{ OPTION(TEXTS, "rules", "FILE.ll", compile.rules,
	         "add these rules to --finalize") },
	{ OPTION(TEXT, "signature", "ITEMS", compile.signature,
	         "parameters of a Triton kernel, as '*fp32:16, i32, 64'") },
	{ OPTION(TEXTS, "python", "PYTHON", compile.pythons,
	         "a Python that has Triton; each of several compiles all") },
	{ OPTION(SWITCH, "keep-going", NULL, compile.keeps_going,
	         "compile the rest after a failure") },
	{ OPTION(SWITCH, "strict", NULL, compile.is_strict,
	         "fail if no launch uses a compiled Triton kernel") },
	{ OPTION(SWITCH, "winners", NULL, compile.has_only_winners,
	         "compile only what Inductor's tuning chose") },
	{ OPTION(WORD, "emit", COMPILE_STAGES, compile.emit,
	         "write this of one kernel, and make no entry") },
	{ OPTION(TEXT, "output", "FILE|FOLDER/|-", output,
	         "where --emit writes"),
	  .letter = 'o' },
	{ OPTION(SWITCH, "print-after-all", NULL, compile.has_pass_output,
	         "show the IR after each pass") },
	{ OPTION(TEXT, "log", "FILE", compile.log,
	         "write each source to FILE before it is compiled") },
	ARGS_DEADLINE,
	ARGS_JSON,
	ARGS_VERBOSE("report each kernel and the output of the tools"),
};

static enum status compile_kernels(struct compile_work *work,
                                   const struct compile_inputs *inputs,
                                   struct compile_triton_counts *counts)
{
	const struct compile_arguments *const chosen = &work->args->compile;
	const struct compile_triton_request request = {
		.inputs = inputs->kernels,
		.input_count = inputs->kernel_count,
		.signature = chosen->signature,
		.pythons = chosen->pythons.items,
		.python_count = chosen->pythons.count,
		.ptxas = chosen->ptxas,
		.cache_root = work->root,
		.metadata = chosen->metadata,
		.emitted = chosen->emit.is_set ? work->args : NULL,
		.num_warps = chosen->num_warps.value,
		.num_stages = chosen->num_stages.value,
		.targets = work->args->targets.items,
		.target_count = work->args->targets.count,
		.worker_count = work->args->jobs.value,
		.deadline = work->deadline,
		.keeps_going = chosen->keeps_going,
		.has_only_winners = chosen->has_only_winners,
		.has_pass_output = chosen->has_pass_output,
		.is_json = work->args->is_json,
		.is_verbose = work->args->is_verbose,
		.log = compile_open_log(work),
	};

	work->logged = NULL;
	return compile_triton(work->cli, &request, counts);
}

static void add_counts(struct compile_work *work,
                       const struct compile_triton_counts *counts)
{
	work->counts[COMPILE_DONE] += counts->compiled;
	work->counts[COMPILE_HIT] += counts->hit;
	work->counts[COMPILE_FAILED] += counts->failed;
	work->counts[COMPILE_LEFT] += counts->left;
	compile_out_note_tools(work->tools, sizeof(work->tools), counts->tools);
}

/* Print why the rest was skipped, unless a failure was printed. */
static void print_why_skipped(struct compile_work *work)
{
	const uint64_t left = work->counts[COMPILE_LEFT];
	const char *const noun = text_plural(left, "kernel is", "kernels are");
	struct tkb_error err = { .status = 0 };
	char time[TEXT_TIME_SIZE];

	text_time(work->deadline.time_ms, time);
	if (left == 0)
		return;
	if (signals_is_caught())
		(void)cli_error(&err, TKB_ERR_CANCELLED,
		                "cancelled: %" PRIu64 " %s left", left, noun);
	else if (deadline_is_over(&work->deadline))
		(void)cli_error(&err, TKB_ERR_CANCELLED,
		                "the deadline of %s ended it: %" PRIu64
		                " %s left",
		                time, left, noun);
	else
		return;
	work->status = status_merge(
		work->status,
		cli_failed(work->cli, TKB_ERR_CANCELLED, &err, ""));
}

static void summarize_compile(struct compile_work *work,
                              const struct compile_triton_counts *triton)
{
	const uint64_t *const counts = work->counts;
	struct json_out *const json = &work->cli->json;
	const struct text_count rest[] = { { "unasked", triton->unasked },
		                           { "left", counts[COMPILE_LEFT] } };
	char more[96];

	json_out_number(json, "compiled", counts[COMPILE_DONE]);
	json_out_number(json, "hits", counts[COMPILE_HIT]);
	json_out_number(json, "failed", counts[COMPILE_FAILED]);
	json_out_number(json, "unasked", triton->unasked);
	json_out_number(json, "left", counts[COMPILE_LEFT]);
	json_out_text(json, "tools", work->tools);
	compile_matrix_print(work->cli, &triton->matrix,
	                     !work->args->is_json &&
	                             !work->args->compile.emit.is_set);
	if (work->args->is_json || work->args->compile.emit.is_set)
		return;
	text_counts(rest, 2, more, sizeof(more));
	text_line(work->cli->out,
	          "compiled %" PRIu64 ", hits %" PRIu64 ", failed %" PRIu64
	          "%s%s%s to %s",
	          counts[COMPILE_DONE], counts[COMPILE_HIT],
	          counts[COMPILE_FAILED], more,
	          work->tools[0] == '\0' ? "" : " with ", work->tools,
	          work->root);
}

/* If some were compiled, those that failed count as left out. */
static enum status exit_status_of(const struct compile_work *work)
{
	const bool is_partial = work->counts[COMPILE_DONE] != 0 ||
	                        work->counts[COMPILE_HIT] != 0;

	if (work->status == STATUS_DONE || !is_partial)
		return work->status;
	return STATUS_PARTIAL;
}

static enum status compile_inputs_of(struct compile_work *work,
                                     const struct compile_inputs *inputs)
{
	TKB_AUTO(compile_triton_counts_release)
	struct compile_triton_counts counts = { .compiled = 0 };
	struct json_out *const json = &work->cli->json;
	enum status status = compile_open_log_file(work);

	if (status == STATUS_DONE && inputs->file_count != 0)
		status = compile_open(work);
	if (status == STATUS_DONE && inputs->file_count != 0)
		status = compile_work_begin(work, inputs->files,
		                            inputs->file_count);
	if (status != STATUS_DONE)
		return status;
	json_out_open_array(json, "kernels");
	compile_work_do(work);
	if (work->is_stopped) /* lists were not read */
		work->counts[COMPILE_LEFT] +=
			inputs->kernel_count * work->args->targets.count;
	else if (inputs->kernel_count != 0)
		work->status = status_merge(
			work->status, compile_kernels(work, inputs, &counts));
	json_out_close(json);
	add_counts(work, &counts);
	print_why_skipped(work);
	summarize_compile(work, &counts);
	if (counts.unasked != 0 && work->args->compile.is_strict)
		work->status = status_merge(work->status, STATUS_PARTIAL);
	return exit_status_of(work);
}

static enum status cmd_compile(struct cli *cli, const struct arguments *args)
{
	TKB_AUTO(compile_check_release)
	struct compile_inputs inputs = { NULL, 0, NULL, 0 };
	TKB_AUTO(text_free) char *root = NULL;
	TKB_AUTO(compile_work_release)
	struct compile_work work = { .cli = cli, .args = args };
	enum status status = compile_check_sort(cli, args, &inputs);

	if (status == STATUS_DONE)
		status = compile_check(cli, args, &inputs);
	if (status != STATUS_DONE || cli_is_disabled(cli))
		return status;
	deadline_begin(&work.deadline, args->deadline.value);
	if (!args->compile.emit.is_set) {
		status = compile_open_root(&work, &root);
		json_out_text(&cli->json, "root", work.root);
	}
	return status == STATUS_DONE ? compile_inputs_of(&work, &inputs)
	                             : status;
}

const struct command command_compile = {
	.name = "compile",
	.operands = { "INPUT" },
	.required_operands = 1,
	.repeats_operand = true,
	.summary = "compile IR, PTX, CUDA C or Triton kernels to entries",
	.details =
		"INPUT is LLVM IR (.ll, .llir, .bc), PTX (.ptx), CUDA C "
		"(.cu), a Triton kernel (FILE.py:KERNEL), a list of these "
		"(FILE.json), a module of Inductor's (FILE.py) or its cache "
		"folder, Triton's IR (.ttir, .ttgir, .glir), or compiled "
		"kernels (FILE.tkb, CACHE_ROOT), for other GPUs. No GPU "
		"is needed. Each input becomes a cache entry as Triton would "
		"write it. An entry that is already there is a hit and is "
		"not compiled. IR and PTX from a cache use the metadata file "
		"beside them. After a failure the rest is skipped, unless "
		"--keep-going is given.",
	COMMAND_OPTIONS(options),
	.run = cmd_compile,
};
