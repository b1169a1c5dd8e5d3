/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite_fixture.h"

#include <stdio.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Target.h>

static const struct rule_options exact = { .arch = 90 };
static const struct rule_options fast = { .is_fast = true, .arch = 90 };

TEST(rewrite, of_what_a_pattern_says_and_of_nothing_else)
{
	const char *log = rewrite_check("plain", &exact, false);

	CHECK_STR(log, "rule 'eight' of 'plain': 4 times\n"
	               "rule 'absorb' of 'plain': 5 times\n"
	               "rule 'back' of 'plain': 2 times\n"
	               "rule 'greater' of 'plain': 2 times\n"
	               "rule 'element' of 'plain': 1 time\n"
	               "rule 'shifted' of 'plain': 1 time\n");
}

TEST(rewrite, takes_a_parameter_only_through_its_filters)
{
	const char *log = rewrite_check("filters", &fast, false);

	CHECK_STR(log, "rule 'rem' of 'filters': 1 time\n"
	               "rule 'quarter' of 'filters': 3 times\n"
	               "rule 'low' of 'filters': 1 time\n"
	               "rule 'signs' of 'filters': 2 times\n"
	               "rule 'fixed' of 'filters': 1 time\n"
	               "rule 'scale' of 'filters': 1 time\n"
	               "rule 'inverse' of 'filters': 1 time\n"
	               "rule 'once' of 'filters': 1 time\n");
}

TEST(rewrite, keeps_what_others_need_and_makes_nothing_slower)
{
	CHECK_STR(rewrite_check("uses", &exact, false),
	          "rule 'factor' of 'uses': 4 times\n"
	          "rule 'twice' of 'uses': 1 time\n");
}

TEST(rewrite, of_loads_only_while_memory_stays_as_it_is)
{
	CHECK_STR(rewrite_check("loads", &exact, false),
	          "rule 'pair' of 'loads': 4 times\n");
}

TEST(rewrite, makes_nothing_more_poisonous_and_rounds_only_where_allowed)
{
	CHECK_STR(rewrite_check("flags", &fast, false),
	          "rule 'undo' of 'flags': 1 time\n"
	          "rule 'even' of 'flags': 1 time\n"
	          "rule 'never' of 'flags': 1 time\n"
	          "rule 'scales' of 'flags': 1 time\n");
}

TEST(rewrite, adds_up_terms_in_any_order)
{
	CHECK_STR(rewrite_check("sums", &exact, false),
	          "rule 'pair' of 'sums': 8 times\n");
}

TEST(rewrite, finds_each_way_to_write_a_thing)
{
	CHECK_STR(rewrite_check("ways", &exact, false),
	          "rule 'join' of 'ways': 7 times\n"
	          "rule 'pick' of 'ways': 3 times\n");
}

TEST(rewrite, makes_dp4a_of_bytes_that_are_multiplied_and_added_up)
{
	CHECK_STR(rewrite_check("dp4a", &exact, true),
	          "rule 'dp4a.s.s' of 'dp4a.ll': 9 times\n"
	          "rule 'dp4a.s.u' of 'dp4a.ll': 1 time\n"
	          "rule 'dp4a.u.u' of 'dp4a.ll': 1 time\n"
	          "rule 'dp4a.s.s.vector4' of 'dp4a.ll': 1 time\n"
	          "rule 'dp4a.s.u.vector8' of 'dp4a.ll': 1 time\n"
	          "rule 'dp4a.u.u.vector16' of 'dp4a.ll': 1 time\n"
	          "rule 'dp4a.s.s.constants' of 'dp4a.ll': 1 time\n"
	          "rule 'dp4a.u.s.constants8' of 'dp4a.ll': 1 time\n");
}

TEST(rewrite, of_quantized_values)
{
	CHECK_STR(rewrite_check("quantized", &fast, true),
	          "rule 'requantize.signed' of 'requantize.ll': 2 times\n"
	          "rule 'requantize.word' of 'requantize.ll': 1 time\n"
	          "rule 'requantize.signed.reciprocal' of 'requantize.ll': "
	          "1 time\n"
	          "rule 'requantize.signed.ends.greatest.least' of "
	          "'requantize.ll': 1 time\n"
	          "rule 'requantize.signed.any' of 'requantize.ll': 1 time\n"
	          "rule 'dequantize.signed.zero.divide' of "
	          "'dequantize_fold.ll': 1 time\n"
	          "rule 'dequantize.word.multiply' of 'dequantize_fold.ll': "
	          "1 time\n");
}

/* How many rewrites there are in <name>.ll. */
static size_t count_rewrites(const char *name,
                             const struct rule_options *options)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	RULES(rules) = rewrite_rules(context, name, true);
	AUTO_LLVM(LLVMModuleRef) module = parse_ir(context, rewrite_file(name));
	size_t count = 77;

	OK(rules_apply(rules, module, options, NULL, &count, ERR));
	return count;
}

/* The module as PTX for sm_61, the first that has dp4a. */
static const char *emit_ptx(LLVMModuleRef module)
{
	AUTO_LLVM(LLVMMemoryBufferRef) ptx = NULL;
	AUTO_LLVM(LLVMTargetMachineRef) machine = NULL;
	AUTO_LLVM_MESSAGE message = NULL;
	static const char triple[] = "nvptx64-nvidia-cuda";
	LLVMTargetRef target = NULL;

	LLVMInitializeNVPTXTargetInfo();
	LLVMInitializeNVPTXTarget();
	LLVMInitializeNVPTXTargetMC();
	LLVMInitializeNVPTXAsmPrinter();
	CHECK(!LLVMGetTargetFromTriple(triple, &target, &message));
	machine = LLVMCreateTargetMachine(target, triple, "sm_61", "+ptx80",
	                                  LLVMCodeGenLevelDefault, LLVMRelocPIC,
	                                  LLVMCodeModelDefault);
	LLVMSetTarget(module, triple);
	CHECK(!LLVMTargetMachineEmitToMemoryBuffer(
		machine, module, LLVMAssemblyFile, &message, &ptx));
	return text("%.*s", (int)LLVMGetBufferSize(ptx),
	            LLVMGetBufferStart(ptx));
}

TEST(rewrite, to_dp4a_is_in_the_ptx)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	RULES(rules) = rewrite_rules(context, "dp4a", true);
	AUTO_LLVM(LLVMModuleRef)
	module = parse_ir(context, rewrite_file("dp4a"));
	const char *ptx;

	for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL;) {
		LLVMValueRef next = LLVMGetNextFunction(at);
		size_t size = 0;

		if (strstr(LLVMGetValueName2(at, &size), ".after") != NULL)
			LLVMDeleteFunction(at);
		at = next;
	}
	OK(rules_apply(rules, module, &exact, NULL, NULL, ERR));
	ptx = emit_ptx(module);
	CHECK_CONTAINS(ptx, "dp4a.s32.s32");
	CHECK_CONTAINS(ptx, "dp4a.s32.u32");
	CHECK_CONTAINS(ptx, "dp4a.u32.s32");
	CHECK_CONTAINS(ptx, "dp4a.u32.u32");
}

TEST(rewrite, by_fast_rules_only_where_they_are_asked_for)
{
	CHECK_INT(count_rewrites("quantized", &fast), 8);
	CHECK_INT(count_rewrites("quantized", &exact), 5);
}

TEST(rewrite, by_a_rule_of_later_targets_only_for_them)
{
	const struct rule_options sm_60 = { .arch = 60 };
	const struct rule_options sm_61 = { .arch = 61 };
	const struct rule_options none = { .arch = 0 };

	CHECK_INT(count_rewrites("dp4a", &sm_61), 16);
	CHECK_INT(count_rewrites("dp4a", &sm_60), 0);
	CHECK_INT(count_rewrites("dp4a", &none), 0);
}

/* Word `number` of both operands, and their four products added to the sum. */
static void add_products(struct tkb_buf *ir, int number)
{
	const char *sum = number == 0 ? "0" : text("%%s%d.3", number - 1);

	tkb_buf_add_text(ir, text("%%p%d = getelementptr i32, ptr %%p, i32 %d\n"
	                          "%%q%d = getelementptr i32, ptr %%q, i32 %d\n"
	                          "%%a%d = load i32, ptr %%p%d\n"
	                          "%%b%d = load i32, ptr %%q%d\n",
	                          number, number, number, number, number,
	                          number, number, number));
	for (int i = 0; i < 4; i++) {
		for (const char *word = "ab"; *word != '\0'; word++)
			tkb_buf_add_text(
				ir,
				text("%%%cs%d.%d = lshr i32 %%%c%d, %d\n"
			             "%%%ct%d.%d = trunc i32 %%%c%s%d%s "
			             "to i8\n"
			             "%%%c%d.%d = sext i8 %%%ct%d.%d to "
			             "i32\n",
			             *word, number, i, *word, number, 8 * i,
			             *word, number, i, *word, i == 0 ? "" : "s",
			             number, i == 0 ? "" : text(".%d", i),
			             *word, number, i, *word, number, i));
		tkb_buf_add_text(ir, text("%%m%d.%d = mul i32 %%a%d.%d, "
		                          "%%b%d.%d\n"
		                          "%%s%d.%d = add i32 %s, %%m%d.%d\n",
		                          number, i, number, i, number, i,
		                          number, i, sum, number, i));
		sum = text("%%s%d.%d", number, i);
	}
}

TEST(rewrite, of_a_sum_that_is_too_long_for_one_look_takes_all_of_it)
{
	enum {
		WORDS = 150,
		MORE = 300
	};
	BUF(ir, TKB_MIB);
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	RULES(rules) = rewrite_rules(context, NULL, true);
	LLVMModuleRef module;
	size_t count = 0;

	tkb_buf_add_text(&ir, "define i32 @f(ptr %p, ptr %q) {\n");
	for (int i = 0; i < WORDS; i++)
		add_products(&ir, i);
	/* What is seen first holds no product. */
	tkb_buf_add_text(&ir,
	                 text("%%x0 = add i32 %%s%d.3, %%a0\n", WORDS - 1));
	for (int i = 0; i < MORE; i++)
		tkb_buf_add_text(&ir, text("%%x%d = add i32 %%x%d, %%a%d\n",
		                           i + 1, i, i % WORDS));
	tkb_buf_add_text(&ir, text("ret i32 %%x%d\n}\n", MORE));
	OK(tkb_buf_check(&ir, ERR));
	module = parse_ir(context, tkb_buf_bytes(&ir));
	OK(rules_apply(rules, module, &exact, NULL, &count, ERR));
	CHECK_INT(count, WORDS);
	LLVMDisposeModule(module);
}

static const char ping_pong[] = "define i32 @ping.pattern(i32 %x) #0 {\n"
				"  %r = mul i32 %x, 2\n  ret i32 %r\n}\n"
				"define i32 @ping.replacement(i32 %x) {\n"
				"  %r = shl i32 %x, 1\n  ret i32 %r\n}\n"
				"define i32 @pong.pattern(i32 %x) #0 {\n"
				"  %r = shl i32 %x, 1\n  ret i32 %r\n}\n"
				"define i32 @pong.replacement(i32 %x) {\n"
				"  %r = mul i32 %x, 2\n  ret i32 %r\n}\n"
				"attributes #0 = { \"tkb.rule\"=\"exact\" }\n";

TEST(rewrite, that_goes_on_for_ever_is_ended_and_leaves_a_whole_module)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	RULES(rules) = NULL;
	AUTO_LLVM(LLVMModuleRef)
	module = parse_ir(context,
	                  tkb_text("define i32 @f(i32 %a) {\n"
	                           "  %r = mul i32 %a, 2\n  ret i32 %r\n}\n"));
	size_t count = 77;

	OK(rules_read(context, tkb_text(ping_pong), "mine.ll", &rules, ERR));
	FAILS(rules_apply(rules, module, &exact, NULL, &count, ERR),
	      TKB_ERR_INVALID,
	      "of 'mine.ll': together with the others, it never ends");
	CHECK_INT(count, 77);
	CHECK(!LLVMVerifyModule(module, LLVMReturnStatusAction, NULL));
}

static int refuse_line(void *self, struct tkb_bytes bytes,
                       struct tkb_error *err)
{
	(void)self, (void)bytes;
	err->status = TKB_ERR_IO;
	(void)snprintf(err->message, sizeof(err->message), "no more paper");
	return TKB_ERR_IO;
}

TEST(rewrite, whose_log_fails_says_so)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	const struct tkb_sink log = { refuse_line, NULL };
	RULES(rules) = rewrite_rules(context, "plain", false);
	AUTO_LLVM(LLVMModuleRef)
	module = parse_ir(context, rewrite_file("plain"));

	FAILS(rules_apply(rules, module, &exact, &log, NULL, ERR), TKB_ERR_IO,
	      "no more paper");
}

TEST(rewrite, gives_the_same_text_each_time)
{
	const char *first = NULL;

	for (int i = 0; i < 3; i++) {
		AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
		AUTO_LLVM_MESSAGE printed = NULL;
		RULES(rules) = rewrite_rules(context, "dp4a", true);
		AUTO_LLVM(LLVMModuleRef)
		module = parse_ir(context, rewrite_file("dp4a"));

		OK(rules_apply(rules, module, &fast, NULL, NULL, ERR));
		printed = LLVMPrintModuleToString(module);
		if (first == NULL)
			first = text("%s", printed);
		CHECK_STR(printed, first);
	}
}

TEST(rewrite, calls_a_function_as_the_rule_declares_it_or_not_at_all)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	static const char rule[] =
		"declare i32 @pure(i32) memory(none) nounwind willreturn\n"
		"define i32 @call.pattern(i32 %x) #0 {\n"
		"  %r = mul i32 %x, 3\n  ret i32 %r\n}\n"
		"define i32 @call.replacement(i32 %x) {\n"
		"  %r = call i32 @pure(i32 %x)\n  ret i32 %r\n}\n"
		"attributes #0 = { \"tkb.rule\"=\"exact\" }\n";
	static const char right[] =
		"define i32 @f(i32 %a) {\n  %r = mul i32 %a, 3\n"
		"  ret i32 %r\n}\n";
	const char *wrong = text("declare i64 @pure(i64)\n%s", right);
	RULES(rules) = NULL;
	AUTO_LLVM(LLVMModuleRef) module = parse_ir(context, tkb_text(right));
	AUTO_LLVM(LLVMModuleRef) other = parse_ir(context, tkb_text(wrong));
	AUTO_LLVM_MESSAGE printed = NULL;

	OK(rules_read(context, tkb_text(rule), "mine.ll", &rules, ERR));
	OK(rules_apply(rules, module, &exact, NULL, NULL, ERR));
	printed = LLVMPrintModuleToString(module);
	CHECK_CONTAINS(printed, "nounwind willreturn memory(none)");
	FAILS(rules_apply(rules, other, &exact, NULL, NULL, ERR),
	      TKB_ERR_INVALID,
	      "rule 'call' of 'mine.ll': the module's 'pure' has another type");
	CHECK(!LLVMVerifyModule(other, LLVMReturnStatusAction, NULL));
}
