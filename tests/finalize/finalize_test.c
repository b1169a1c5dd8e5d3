/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Each step by itself, on modules that stand in tests/finalize: NAME.ll becomes
 * NAME.after.ll, and NAME_not.ll stays as it is.
 */

#include "finalize_fixture.h"

#include <llvm-c/Analysis.h>

static void check_step(const char *step, const char *before, const char *after,
                       const char *log)
{
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

TEST(strip, removes_debug_data_and_profiles)
{
	check_step("strip", "strip.ll", "strip.after.ll",
	           "strip: 3 traces of a profile, debug data\n");
}

TEST(strip, keeps_other_metadata)
{
	check_step("strip", "strip_not.ll", "strip_not.ll", "");
}

TEST(internalize, makes_all_but_the_kernel_the_modules_own)
{
	check_step("internalize", "internalize.ll", "internalize.after.ll",
	           "internalize: 7 names\n");
}

TEST(internalize, leaves_what_is_seen_from_outside)
{
	check_step("internalize", "internalize_not.ll", "internalize_not.ll",
	           "");
}

TEST(fold_globals, makes_constant_what_is_only_read)
{
	check_step("fold-globals", "fold_globals.ll", "fold_globals.after.ll",
	           "fold-globals: 11 globals\n");
}

TEST(fold_globals, leaves_what_may_be_written)
{
	check_step("fold-globals", "fold_globals_not.ll", "fold_globals_not.ll",
	           "");
}

TEST(resolve_calls, calls_directly_what_a_constant_table_holds)
{
	check_step("resolve-calls", "resolve_calls.ll",
	           "resolve_calls.after.ll", "resolve-calls: 1 call\n");
}

TEST(resolve_calls, leaves_calls_that_are_not_known)
{
	check_step("resolve-calls", "resolve_calls_not.ll",
	           "resolve_calls_not.ll", "");
}

TEST(resolve_calls, leaves_all_else)
{
	check_step("resolve-calls", "peephole.ll", "peephole.ll", "");
}

TEST(gather, puts_products_of_bytes_into_words)
{
	check_step("gather", "gather.ll", "gather.after.ll",
	           "gather: 1 word\n");
}

TEST(gather, leaves_sums_in_which_nothing_is_gained)
{
	check_step("gather", "gather_not.ll", "gather_not.ll", "");
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

TEST(prepack, puts_constant_bytes_into_words_as_they_are_read)
{
	check_step("prepack", "prepack.ll", "prepack.after.ll",
	           "prepack: 12 words repacked into 4 tables\n");
}

TEST(prepack, knows_the_values_of_a_loops_counter)
{
	check_step("prepack", "prepack_loop.ll", "prepack_loop.after.ll",
	           "prepack: 3 words repacked into 3 tables\n");
}

TEST(prepack, leaves_bytes_that_are_not_its_own_or_not_known)
{
	check_step("prepack", "prepack_not.ll", "prepack_not.ll", "");
}

TEST(prepack, reads_aligned_bytes_as_a_word)
{
	check_step("prepack", "prepack_widen.ll", "prepack_widen.after.ll",
	           "prepack: 1 word read at once\n");
}

TEST(prepack, leaves_bytes_that_are_no_word)
{
	check_step("prepack", "prepack_widen_not.ll", "prepack_widen_not.ll",
	           "");
}

TEST(fold, reads_constants_while_compiling)
{
	check_step("fold", "fold.ll", "fold.after.ll", "fold: 3 loads\n");
}

TEST(fold, leaves_loads_that_are_not_known)
{
	check_step("fold", "fold_not.ll", "fold_not.ll", "");
}

TEST(inline, puts_functions_where_they_are_called)
{
	check_step("inline", "inline.ll", "inline.after.ll",
	           "inline: 3 instructions, before 5\n");
}

TEST(propagate, puts_constants_where_they_are_used)
{
	check_step("propagate", "propagate.ll", "propagate.after.ll",
	           "propagate: 5 instructions, before 7\n");
}

TEST(peephole, writes_small_patterns_in_a_simpler_way)
{
	check_step("peephole", "peephole.ll", "peephole.after.ll",
	           "peephole: 4 instructions, before 6\n");
}

TEST(cse, computes_once_what_is_computed_twice)
{
	check_step("cse", "cse.ll", "cse.after.ll",
	           "cse: 6 instructions, before 8\n");
}

TEST(dce, drops_what_nothing_uses)
{
	check_step("dce", "dce.ll", "dce.after.ll",
	           "dce: 4 instructions, before 8\n");
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
	struct tkb_error err = { .status = 0 };

	CHECK_FAILS(finalize_module(module, NULL, order, NULL, &err),
	            TKB_ERR_INVALID, &err, part);
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
	struct tkb_error err = { .status = 0 };

	CHECK_INT(finalize_module(module, NULL, &order, &log, &err),
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
