/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Each step by itself, on modules that stand in tests/finalize: NAME.ll becomes
 * NAME.after.ll, and NAME_not.ll stays as it is.
 */

#include "finalize_fixture.h"

#include <llvm-c/Analysis.h>

static void check_step(const char *step, const char *name, const char *log)
{
	const char *before = text("%s.ll", name);
	const char *after = log[0] == '\0' ? before : text("%s.after.ll", name);
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	AUTO_LLVM(LLVMModuleRef) module = parse_ir(context, ir_file(before));
	AUTO_LLVM(LLVMModuleRef) wanted = parse_ir(context, ir_file(after));
	const char *kernel = "kernel";
	const char *names[32];
	struct finalize_request order = { .is_wanted = true };

	choose_only(step, names, &order);
	if (strcmp(step, "internalize") == 0)
		order.kernels = (struct texts){ &kernel, 1 };

	CHECK_STR(finalize_ok(module, NULL, &order), log);

	CHECK_STR(print_ir(module), print_ir(wanted));
}

/* NAME.ll becomes NAME.after.ll if there is something to be logged. */
static const struct {
	const char *step;
	const char *name;
	const char *what;
	const char *log;
} steps[] = {
	{ "strip", "strip", "removes debug data and profiles",
	  "strip: 3 traces of a profile, debug data\n" },
	{ "strip", "strip_not", "keeps other metadata", "" },
	{ "internalize", "internalize",
	  "makes all but the kernel the modules own",
	  "internalize: 7 names\n" },
	{ "internalize", "internalize_not", "leaves what is seen from outside",
	  "" },
	{ "fold-globals", "fold_globals", "makes constant what is only read",
	  "fold-globals: 11 globals\n" },
	{ "fold-globals", "fold_globals_not", "leaves what may be written",
	  "" },
	{ "resolve-calls", "resolve_calls",
	  "calls directly what a constant table holds",
	  "resolve-calls: 1 call\n" },
	{ "resolve-calls", "resolve_calls_not",
	  "leaves calls that are not known", "" },
	{ "resolve-calls", "peephole", "leaves all else", "" },
	{ "gather", "gather", "puts products of bytes into words",
	  "gather: 1 word\n" },
	{ "gather", "gather_not", "leaves sums in which nothing is gained",
	  "" },
	{ "prepack", "prepack",
	  "puts constant bytes into words as they are read",
	  "prepack: 12 words repacked into 4 tables\n" },
	{ "prepack", "prepack_loop", "knows the values of a loops counter",
	  "prepack: 3 words repacked into 3 tables\n" },
	{ "prepack", "prepack_not",
	  "leaves bytes that are not its own or not known", "" },
	{ "prepack", "prepack_widen", "reads aligned bytes as a word",
	  "prepack: 1 word read at once\n" },
	{ "prepack", "prepack_widen_not", "leaves bytes that are no word", "" },
	{ "fold", "fold", "reads constants while compiling",
	  "fold: 3 loads\n" },
	{ "fold", "fold_not", "leaves loads that are not known", "" },
	{ "inline", "inline", "puts functions where they are called",
	  "inline: 3 instructions, before 5\n" },
	{ "propagate", "propagate", "puts constants where they are used",
	  "propagate: 5 instructions, before 7\n" },
	{ "peephole", "peephole", "writes small patterns in a simpler way",
	  "peephole: 4 instructions, before 6\n" },
	{ "cse", "cse", "computes once what is computed twice",
	  "cse: 6 instructions, before 8\n" },
	{ "dce", "dce", "drops what nothing uses",
	  "dce: 4 instructions, before 8\n" },
};

TEST(finalize, does_in_each_step_what_it_should_and_no_more)
{
	EACH(i, steps) {
		test_name_row(text("%s %s", steps[i].step, steps[i].what));
		check_step(steps[i].step, steps[i].name, steps[i].log);
	}
}

TEST(gather, leaves_machines_that_are_big_endian)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	AUTO_LLVM(LLVMModuleRef)
	module = parse_ir(context, ir_file("gather.ll"));
	const char *names[32];
	struct finalize_request order = { .is_wanted = true };

	choose_only("gather", names, &order);
	LLVMSetDataLayout(module, "E-i64:64");

	CHECK_STR(finalize_ok(module, NULL, &order), "");
}

TEST(finalize, leaves_a_module_in_which_there_is_nothing_to_do)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	AUTO_LLVM(LLVMTargetMachineRef) machine = nvptx();
	AUTO_LLVM(LLVMModuleRef)
	module = parse_ir(context, ir_file("nothing.ll"));
	const struct finalize_request order = { .is_wanted = true };
	const char *before = print_ir(module);

	CHECK_STR(finalize_ok(module, machine, &order), "");

	CHECK_STR(print_ir(module), before);
}

static void check_refused(const struct finalize_request *order,
                          const char *part)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	AUTO_LLVM(LLVMModuleRef)
	module = parse_ir(context, ir_file("internalize.ll"));

	FAILS(finalize_module(module, NULL, order, NULL, ERR), TKB_ERR_INVALID,
	      part);
}

TEST(finalize, refuses_a_step_that_is_not_there)
{
	const char *name = "strips";

	check_refused(&(struct finalize_request){ .without = { &name, 1 } },
	              "finalize has no step 'strips', but strip, "
	              "internalize, fold-globals, ");
}

TEST(finalize, refuses_a_kernel_that_is_not_there)
{
	const char *name = "helper";

	check_refused(&(struct finalize_request){ .kernels = { &name, 1 } },
	              "the IR has no kernel 'helper' to be kept");
}

TEST(finalize, refuses_rules_that_are_none)
{
	const char *rule = "define";

	check_refused(&(struct finalize_request){ .rules = { &rule, 1 } },
	              "rules 1");
}

static int refuse(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)self, (void)bytes, (void)err;
	return TKB_ERR_CANCELLED;
}

TEST(finalize, gives_what_the_log_fails_with)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	AUTO_LLVM(LLVMModuleRef)
	module = parse_ir(context, ir_file("internalize.ll"));
	const struct finalize_request order = { .is_wanted = true };
	const struct tkb_sink log = { refuse, NULL };

	CHECK_INT(finalize_module(module, NULL, &order, &log, ERR),
	          TKB_ERR_CANCELLED);
}

TEST(finalize, has_a_name_and_a_text_for_each_step)
{
	for (size_t i = 0; i < tkb_finalize_step_count(); i++) {
		CHECK(tkb_finalize_step_name(i)[0] != '\0');
		CHECK(tkb_finalize_step_text(i)[0] != '\0');
	}
	CHECK_STR(tkb_finalize_step_name(0), "strip");
	CHECK_STR(tkb_finalize_step_name(tkb_finalize_step_count() - 1),
	          "verify");
}
