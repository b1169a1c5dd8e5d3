/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compile_table.h"

#include <string.h>

#include "compile/compile_emit.h"
#include "compile/compile_input.h"
#include "compile/compile_triton_request.h"
#include "compile/compile_work.h"

/* The kinds of inputs. */
enum {
	IR = 1u << 0,
	PTX = 1u << 1,
	CUDA = 1u << 2,
	TTIR = 1u << 3,
	TTGIR = 1u << 4,  /* and .glir */
	KERNEL = 1u << 5, /* FILE.py:KERNEL */
	LIST = 1u << 6,   /* FILE.json */
	MODULE = 1u << 7, /* FILE.py, or a folder */
	ANEW = 1u << 8,   /* FILE.tkb, or a cache root */
	CODE = IR | PTX | CUDA,
	MLIR = TTIR | TTGIR,
	SOURCE = KERNEL | LIST,
	EARLY = TTIR | SOURCE, /* IR without layouts */
	TRITON = MLIR | SOURCE | ANEW,
	ALL = CODE | TRITON,
	FILES = ALL & ~ANEW
};

static const struct {
	unsigned kind;
	const char *is;   /* the name of a kind of input, for messages */
	const char *name; /* the plural, for messages */
} kinds[] = {
	{ IR, "LLVM IR", "LLVM IR" },
	{ PTX, "PTX", "PTX" },
	{ CUDA, "CUDA C", "CUDA C" },
	{ TTIR, "Triton IR", "FILE.ttir" },
	{ TTGIR, "Triton GPU IR", "FILE.ttgir" },
	{ KERNEL, "a kernel of Triton's", "FILE.py:KERNEL" },
	{ LIST, "a list of kernels", "FILE.json" },
	{ MODULE, "a module of Inductor's", "FILE.py" },
	{ ANEW, "of compiled kernels", "FILE.tkb" },
};

enum {
	KIND_COUNT = TKB_COUNT_OF(kinds),
	NAMES_SIZE = 128
};

/*
 * The inputs for which an option has a meaning: for an entry, and for each
 * stage of --emit. An option without a row always has one.
 */
static const struct row {
	const char *option;
	unsigned entry;
	unsigned cubin;
	unsigned ptx;
	unsigned llir;
	unsigned ttgir;
	unsigned ttir;
	bool wants_one; /* one such input is enough; others are allowed */
} rows[] = {
	{ "ptxas", ALL | MODULE, ALL, IR | TRITON, TRITON, 0, 0, false },
	{ "cubin-with", CODE, CODE, IR, 0, 0, 0, false },
	{ "ptxas-option", CODE, CODE, 0, 0, 0, 0, false },
	{ "include", CUDA, CUDA, CUDA, 0, 0, 0, false },
	{ "define", CUDA, CUDA, CUDA, 0, 0, 0, false },
	{ "libdevice", IR, IR, IR, 0, 0, 0, false },
	{ "optimize", IR, IR, IR, 0, 0, 0, false },
	{ "name", CODE, CODE, CODE, IR, 0, 0, false },
	{ "num-warps", CODE | EARLY, EARLY, EARLY, EARLY, EARLY, SOURCE,
	  false },
	{ "num-stages", EARLY, EARLY, EARLY, EARLY, EARLY, SOURCE, false },
	{ "metadata", CODE | MLIR, MLIR, MLIR, MLIR, TTIR, 0, false },
	{ "finalize", IR, IR, IR, IR, 0, 0, false },
	{ "keep", IR, IR, IR, IR, 0, 0, false },
	{ "bind", IR, IR, IR, IR, 0, 0, false },
	{ "bind-from", IR, IR, IR, IR, 0, 0, false },
	{ "without", IR, IR, IR, IR, 0, 0, false },
	{ "fast", IR, IR, IR, IR, 0, 0, false },
	{ "quant", IR, IR, IR, IR, 0, 0, false },
	{ "rules", IR, IR, IR, IR, 0, 0, false },
	{ "signature", KERNEL, KERNEL, KERNEL, KERNEL, KERNEL, KERNEL, true },
	{ "python", TRITON | MODULE, TRITON, TRITON, TRITON, TRITON,
	  EARLY | ANEW, true },
	{ "strict", SOURCE, SOURCE, SOURCE, SOURCE, SOURCE, SOURCE, true },
	{ "winners", MODULE, 0, 0, 0, 0, 0, true },
	{ "emit", 0, ALL, ALL, IR | TRITON, TRITON, EARLY | ANEW, false },
	{ "output", 0, ALL, ALL, IR | TRITON, TRITON, EARLY | ANEW, false },
	{ "log", FILES | MODULE, FILES, FILES, FILES, FILES, FILES, false },
	{ "print-after-all", IR | TRITON, IR | TRITON, IR | TRITON, IR | TRITON,
	  EARLY | ANEW, SOURCE | ANEW, false },
};

static const struct row *row_of(const char *option)
{
	for (size_t i = 0; i < TKB_COUNT_OF(rows); i++) {
		if (strcmp(rows[i].option, option) == 0)
			return &rows[i];
	}
	return NULL;
}

static unsigned input_kind(const char *input)
{
	enum tkb_source_kind kind = TKB_SOURCE_KIND_LLIR;

	if (compile_triton_is_list(input))
		return LIST;
	if (compile_triton_is_recorded(input))
		return ANEW;
	if (compile_triton_is_module(input))
		return MODULE;
	if (compile_triton_is_ir(input))
		return compile_triton_has_layouts(input) ? TTGIR : TTIR;
	if (compile_triton_is_input(input))
		return KERNEL;
	(void)compile_input_kind(input, &kind);
	if (kind == TKB_SOURCE_KIND_LLIR)
		return IR;
	return kind == TKB_SOURCE_KIND_PTX ? PTX : CUDA;
}

static const char *words_of(unsigned kind)
{
	size_t i = 0;

	while (kinds[i].kind != kind)
		i++;
	return kinds[i].is;
}

/* "LLVM IR, PTX and CUDA C" */
static void list_kinds(unsigned set, char out[NAMES_SIZE])
{
	size_t used = 0;

	for (size_t i = 0; i < KIND_COUNT; i++) {
		const char *between = ", ";

		if ((set & kinds[i].kind) == 0)
			continue;
		if (used == 0)
			between = "";
		else if (set >> (i + 1) == 0)
			between = " and ";
		used += (size_t)snprintf(out + used, NAMES_SIZE - used, "%s%s",
		                         between, kinds[i].name);
	}
}

static unsigned inputs_of(const struct row *row, const struct number *emit)
{
	if (!emit->is_set)
		return row->entry;
	switch ((enum compile_stage)emit->value) {
	case COMPILE_STAGE_TTIR:
		return row->ttir;
	case COMPILE_STAGE_TTGIR:
		return row->ttgir;
	case COMPILE_STAGE_LLIR:
		return row->llir;
	case COMPILE_STAGE_PTX:
		return row->ptx;
	case COMPILE_STAGE_AMDGCN:
		return row->ptx & TRITON;
	case COMPILE_STAGE_HSACO:
		return row->cubin & TRITON;
	default:
		return row->cubin;
	}
}

static enum status refuse_option(const struct cli *cli,
                                 const struct arguments *args,
                                 const struct row *row, const char *input)
{
	const struct number *const emit = &args->compile.emit;
	const char *const stage =
		emit->is_set
			? compile_emit_word((enum compile_stage)emit->value)
			: "";
	const unsigned ever = row->entry | row->cubin | row->ptx | row->llir |
	                      row->ttgir | row->ttir;
	const unsigned kind = input_kind(input);
	const bool is_emit = strcmp(row->option, "emit") == 0;
	char names[NAMES_SIZE] = "";

	list_kinds(is_emit ? inputs_of(row, emit) : ever, names);
	if (is_emit)
		return cli_misused(cli,
		                   "'--emit %s' has no meaning for '%s', which "
		                   "is %s: it is for %s",
		                   stage, input, words_of(kind), names);
	if ((ever & kind) != 0)
		return cli_misused(cli,
		                   "'--%s' has no meaning for '%s' with "
		                   "'--emit %s'",
		                   row->option, input, stage);
	return cli_misused(cli,
	                   "'--%s' has no meaning for '%s', which is %s: it is "
	                   "for %s",
	                   row->option, input, words_of(kind), names);
}

static enum status check_row(const struct cli *cli,
                             const struct arguments *args,
                             const struct row *row)
{
	const unsigned inputs = inputs_of(row, &args->compile.emit);
	const char *refused = NULL;

	for (size_t i = 0; i < args->operands.count; i++) {
		const char *const input = args->operands.items[i];

		if ((inputs & input_kind(input)) == 0)
			refused = refused == NULL ? input : refused;
		else if (row->wants_one)
			return STATUS_DONE;
	}
	return refused == NULL ? STATUS_DONE
	                       : refuse_option(cli, args, row, refused);
}

/* Stages after LLVM IR belong to one vendor. */
static bool is_stage_of(enum compile_stage stage, bool is_hip)
{
	switch (stage) {
	case COMPILE_STAGE_PTX:
	case COMPILE_STAGE_CUBIN:
	case COMPILE_STAGE_SASS:
		return !is_hip;
	case COMPILE_STAGE_AMDGCN:
	case COMPILE_STAGE_HSACO:
		return is_hip;
	default:
		return true;
	}
}

static enum status check_hip_inputs(const struct cli *cli,
                                    const struct arguments *args,
                                    const char *target)
{
	char names[NAMES_SIZE] = "";

	list_kinds(TRITON, names);
	for (size_t i = 0; i < args->operands.count; i++) {
		const char *const input = args->operands.items[i];
		const unsigned kind = input_kind(input);

		if ((kind & TRITON) == 0)
			return cli_misused(cli,
			                   "'--target %s' has no meaning for "
			                   "'%s', which is %s: it is for %s",
			                   target, input, words_of(kind),
			                   names);
	}
	if (args->compile.ptxas != NULL)
		return cli_misused(cli,
		                   "'--ptxas' has no meaning for '--target %s'",
		                   target);
	return STATUS_DONE;
}

static enum status check_target(const struct cli *cli,
                                const struct arguments *args,
                                const struct tkb_target *target)
{
	const bool is_hip = strcmp(target->backend, "hip") == 0;
	const struct number *const emit = &args->compile.emit;
	const enum compile_stage stage = (enum compile_stage)emit->value;
	char name[64];

	compile_work_target(target, name);
	if (emit->is_set && !is_stage_of(stage, is_hip))
		return cli_misused(cli,
		                   "'--emit %s' has no meaning for '--target "
		                   "%s': it makes %s",
		                   compile_emit_word(stage), name,
		                   is_hip ? "amdgcn and hsaco"
		                          : "ptx, cubin and sass");
	return is_hip ? check_hip_inputs(cli, args, name) : STATUS_DONE;
}

enum status compile_table_check(const struct cli *cli,
                                const struct arguments *args)
{
	const struct command *const command = cli->command;
	enum status status = STATUS_DONE;

	/* Check this first: others depend on it. */
	if (args->compile.emit.is_set)
		status = check_row(cli, args, row_of("emit"));
	for (size_t i = 0; i < command->option_count && status == STATUS_DONE;
	     i++) {
		const struct option_spec *const spec = &command->options[i];
		const struct row *const row = row_of(spec->name);

		if (row != NULL && args_is_given(args, spec))
			status = check_row(cli, args, row);
	}
	for (size_t i = 0; i < args->targets.count && status == STATUS_DONE;
	     i++)
		status = check_target(cli, args, &args->targets.items[i]);
	return status;
}
