/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite_exact.h"

#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/Target.h>

enum {
	INPUTS = 100000
};

static void start_llvm(void)
{
	LLVMLinkInMCJIT();
	CHECK(!LLVMInitializeNativeTarget());
	CHECK(!LLVMInitializeNativeAsmPrinter());
}

/* Every exact rule of a set. At least `rule_count` there must be. */
static void check_rules(const struct rule_set *rules, size_t rule_count)
{
	size_t count = 0;

	start_llvm();
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = rules->rules[i];
		struct exactness exactness;

		if (rule->is_fast)
			continue;
		rewrite_run(rules, rule, INPUTS, &exactness);
		if (!exactness.is_exact)
			fail_msg("%s", exactness.difference);
		CHECK_INT(exactness.count, INPUTS);
		if (exactness.defined_count < INPUTS / 100)
			fail_msg("rule '%s' is seldom defined: %zu times",
			         rule->name, exactness.defined_count);
		count++;
	}
	CHECK(count >= rule_count);
}

TEST(rewrite_exact, built_in_rules_compute_what_they_replace)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	RULES(rules) = rewrite_rules(context, NULL, true);

	check_rules(rules, 26);
}

static void check_file(const char *name, size_t rule_count)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	RULES(rules) = rewrite_rules(context, name, false);

	check_rules(rules, rule_count);
}

TEST(rewrite_exact, rules_of_these_tests_compute_what_they_replace)
{
	check_file("plain", 6);
	check_file("filters", 7);
	check_file("uses", 2);
	check_file("loads", 1);
	check_file("flags", 3);
	check_file("sums", 1);
	check_file("ways", 2);
}

/* Rules that say of themselves that they are exact. None is. */
static const char *const wrong[] = {
	"define i32 @quarter.pattern(i32 %x) #0 {\n"
	"  %r = sdiv i32 %x, 4\n  ret i32 %r\n}\n"
	"define i32 @quarter.replacement(i32 %x) {\n"
	"  %r = ashr i32 %x, 2\n  ret i32 %r\n}\n",

	"define float @zero.pattern(float %x) #0 {\n"
	"  %r = fadd float %x, 0.0\n  ret float %r\n}\n"
	"define float @zero.replacement(float %x) {\n"
	"  ret float %x\n}\n",

	"define float @self.pattern(float %x) #0 {\n"
	"  %r = fsub float %x, %x\n  ret float %r\n}\n"
	"define float @self.replacement(float %x) {\n"
	"  %b = bitcast float %x to i32\n"
	"  %c = and i32 %b, 0\n  %r = bitcast i32 %c to float\n"
	"  ret float %r\n}\n",

	"declare i32 @llvm.nvvm.idp4a.s.u(i32, i32, i32) #1\n"
	"declare i32 @llvm.nvvm.idp4a.u.s(i32, i32, i32) #1\n"
	"define i32 @dot.pattern(i32 %a, i32 %b) #0 {\n"
	"  %r = call i32 @llvm.nvvm.idp4a.s.u(i32 %a, i32 %b, i32 0)\n"
	"  ret i32 %r\n}\n"
	"define i32 @dot.replacement(i32 %a, i32 %b) {\n"
	"  %r = call i32 @llvm.nvvm.idp4a.u.s(i32 %a, i32 %b, i32 0)\n"
	"  ret i32 %r\n}\n",

	"declare float @llvm.rint.f32(float) #1\n"
	"define float @scale.pattern(i8 %q, float %s) #0 {\n"
	"  %f = sitofp i8 %q to float\n  %d = fmul float %f, %s\n"
	"  %e = fdiv float %d, %s\n"
	"  %r = call float @llvm.rint.f32(float %e)\n  ret float %r\n}\n"
	"define float @scale.replacement(i8 %q, float %s) {\n"
	"  %r = sitofp i8 %q to float\n  ret float %r\n}\n",

	/* one way of two is wrong */
	"declare i32 @low(i32)\n"
	"define i32 @low.either.a(i32 %x) {\n"
	"  %r = and i32 %x, 255\n  ret i32 %r\n}\n"
	"define i32 @low.either.b(i32 %x) {\n"
	"  %r = and i32 %x, 127\n  ret i32 %r\n}\n"
	"define i32 @way.pattern(i32 %x) #0 {\n"
	"  %l = call i32 @low(i32 %x)\n  %r = shl i32 %l, 24\n"
	"  ret i32 %r\n}\n"
	"define i32 @way.replacement(i32 %x) {\n"
	"  %r = shl i32 %x, 24\n  ret i32 %r\n}\n",

	/* right for all but one value of a filter's range */
	"define i32 @range.pattern(i32 \"tkb.range\"=\"-128,128\" %x) #0 {\n"
	"  %t = trunc i32 %x to i8\n  %r = sext i8 %t to i32\n"
	"  ret i32 %r\n}\n"
	"define i32 @range.replacement(i32 %x) {\n"
	"  ret i32 %x\n}\n",

	/* wrong in one lane */
	"define <4 x i8> @lane.pattern(<4 x i8> %x) #0 {\n"
	"  %r = mul <4 x i8> %x, <i8 1, i8 1, i8 1, i8 2>\n"
	"  ret <4 x i8> %r\n}\n"
	"define <4 x i8> @lane.replacement(<4 x i8> %x) {\n"
	"  ret <4 x i8> %x\n}\n",
};

TEST(rewrite_exact, a_wrong_rule_is_caught)
{
	start_llvm();
	for (size_t i = 0; i < TKB_COUNT_OF(wrong); i++) {
		AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
		const char *ir =
			text("%s%s", wrong[i],
		             "attributes #0 = { \"tkb.rule\"=\"exact\" }\n"
		             "attributes #1 = { memory(none) nounwind "
		             "willreturn }\n");
		RULES(rules) = NULL;
		struct exactness exactness;

		OK(rules_read(context, tkb_text(ir), "wrong.ll", &rules, ERR));
		rewrite_run(rules, rules->rules[0], INPUTS, &exactness);
		if (exactness.is_exact)
			fail_msg("rule %zu went through", i);
		CHECK_CONTAINS(exactness.difference, rules->rules[0]->name);
	}
}
