/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Random modules through the oracle, by the seeds from TKB_ORACLE_SEED on, so many
 * as TKB_ORACLE_MODULES says. What is found is made small, and printed.
 */

#include "generate.h"
#include "oracle.h"
#include "oracle_gpu.h"
#include "rewrite_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include <tkbundle/finalize.h>

enum {
	MODULES = 1000,
	RULE_MODULES = 6 /* of each rule */
};

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value == NULL ? otherwise : strtoull(value, NULL, 10);
}

/* Show a mismatch, as small as it gets; takes the module over. */
static void show(struct oracle *oracle, LLVMModuleRef module,
                 const struct mismatch *mismatch, const char *origin)
{
	LLVMModuleRef small = oracle_shrink(oracle, module, mismatch);

	(void)printf("; %s: %s: %s\n%s\n", origin, mismatch->name,
	             mismatch->what, print_ir(small));
	LLVMDisposeModule(small);
}

static size_t check_seed(struct oracle *oracle, uint64_t seed)
{
	const struct generate_options options = { .for_gpu = false };
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	TKB_AUTO(tkb_buf_release) struct tkb_buf ir = TKB_BUF_INIT(1 << 22);
	struct mismatch mismatch;
	LLVMModuleRef module;

	generate_ir(seed, &options, &ir);
	module = parse_ir(context, (struct tkb_bytes){ ir.data, ir.size - 1 });
	if (oracle_check(oracle, module, &mismatch)) {
		LLVMDisposeModule(module);
		return 0;
	}
	show(oracle, module, &mismatch,
	     text("seed %llu", (unsigned long long)seed));
	return 1;
}

static void print_counts(const struct oracle *oracle)
{
	(void)printf("%zu modules, %zu runs, %zu inputs undefined, %zu unknown "
	             "(%s)\n",
	             oracle->modules, oracle->runs, oracle->undefined,
	             oracle->unknown, oracle->why);
	(void)printf("bound: %zu numbers, %zu arrays\n", oracle->bound[0],
	             oracle->bound[1]);
	for (size_t i = 0; i <= oracle->step_count; i++)
		(void)printf("%s: %zu\n",
		             i < oracle->step_count ? tkb_finalize_step_name(i)
		                                    : "all",
		             oracle->changed[i]);
	for (size_t i = 0; i < oracle->rule_count; i++)
		(void)printf("rule %s: %zu\n", oracle->rule_names[i],
		             oracle->rule_counts[i]);
}

/* Each step but the last, which only verifies, did something. */
static void check_all_changed(const struct oracle *oracle)
{
	for (size_t i = 0; i <= oracle->step_count; i++) {
		if (i + 1 != oracle->step_count && oracle->changed[i] == 0)
			fail_msg("'%s' changed nothing",
			         tkb_finalize_step_name(i));
	}
	CHECK(oracle->bound[0] != 0);
	CHECK(oracle->bound[1] != 0);
}

static void check_all_known(const struct oracle *oracle)
{
	if (oracle->unknown != 0)
		fail_msg("%zu runs ended at what the machine does not know: %s",
		         oracle->unknown, oracle->why);
}

TEST(oracle, finds_nothing_in_random_modules)
{
	const uint64_t first = setting("TKB_ORACLE_SEED", 1);
	const uint64_t count = setting("TKB_ORACLE_MODULES", MODULES);
	struct oracle oracle;
	size_t wrong = 0;

	oracle_open(&oracle);
	for (uint64_t i = 0; i < count; i++)
		wrong += check_seed(&oracle, first + i);
	print_counts(&oracle);
	CHECK_INT(wrong, 0);
	check_all_known(&oracle);
	if (count >= MODULES)
		check_all_changed(&oracle);
}

static bool has_fired(const struct oracle *oracle, const char *name)
{
	for (size_t i = 0; i < oracle->rule_count; i++) {
		if (strcmp(oracle->rule_names[i], name) == 0)
			return true;
	}
	return false;
}

static size_t check_rule(struct oracle *oracle, const struct rule_set *rules,
                         const struct rule *rule)
{
	size_t wrong = 0;

	oracle->is_fast = rule->is_fast;
	for (uint64_t i = 0; i < RULE_MODULES; i++) {
		LLVMModuleRef module = generate_of_rule(rules, rule, i);
		struct mismatch mismatch;

		if (oracle_check(oracle, module, &mismatch)) {
			LLVMDisposeModule(module);
			continue;
		}
		show(oracle, module, &mismatch, rule->name);
		wrong++;
	}
	return wrong;
}

/* Rules of `file`, or those that are built in, in kernels made of them. */
static void check_rules(const char *file)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	struct rule_set *rules = rewrite_rules(context, file, file == NULL);
	const char *user = NULL;
	struct oracle oracle;
	size_t wrong = 0;

	oracle_open(&oracle);
	if (file != NULL) {
		user = rewrite_file(text("%s.rules", file)).data;
		oracle.rules = (struct texts){ &user, 1 };
	}
	for (size_t i = 0; i < rules->count; i++) {
		wrong += check_rule(&oracle, rules, rules->rules[i]);
		if (!has_fired(&oracle, rules->rules[i]->name))
			fail_msg("rule '%s' was never used",
			         rules->rules[i]->name);
	}
	check_all_known(&oracle);
	rules_free(rules);
	CHECK_INT(wrong, 0);
}

TEST(oracle, finds_nothing_in_kernels_of_each_rule)
{
	check_rules(NULL);
}

TEST(oracle, finds_nothing_in_kernels_of_rules_of_users)
{
	static const char *const files[] = { "plain", "filters", "uses",
		                             "loads", "flags",   "sums",
		                             "ways" };

	for (size_t i = 0; i < TKB_COUNT_OF(files); i++)
		check_rules(files[i]);
}

/* For tests/gpu/carry.sh, which says where to and how many. */
TEST(oracle, writes_kernels_for_a_gpu)
{
	const char *folder = getenv("TKB_ORACLE_KERNELS");
	const uint64_t count = setting("TKB_ORACLE_KERNEL_COUNT", 5);

	if (folder == NULL)
		folder = test_folder();

	oracle_write_kernels(folder, (unsigned)count);

	CHECK_INT(count_names(folder), 2 * count);
}

/* Rules that say of themselves that they are exact. None is. */
static const char *const wrong_rules[] = {
	"define i32 @quarter.pattern(i32 %x) #0 {\n"
	"  %r = sdiv i32 %x, 4\n  ret i32 %r\n}\n"
	"define i32 @quarter.replacement(i32 %x) {\n"
	"  %r = ashr i32 %x, 2\n  ret i32 %r\n}\n",

	/* poison, where a byte is 32 or more */
	"define i32 @shift.pattern(i32 %x, i32 \"tkb.range\"=\"0,255\" %y) "
	"#0 {\n"
	"  %m = and i32 %y, 31\n  %r = lshr i32 %x, %m\n  ret i32 %r\n}\n"
	"define i32 @shift.replacement(i32 %x, i32 %y) {\n"
	"  %r = lshr i32 %x, %y\n  ret i32 %r\n}\n",

	/* wrong in one lane */
	"define <4 x i8> @lane.pattern(<4 x i8> %x) #0 {\n"
	"  %r = mul <4 x i8> %x, <i8 1, i8 1, i8 1, i8 2>\n"
	"  ret <4 x i8> %r\n}\n"
	"define <4 x i8> @lane.replacement(<4 x i8> %x) {\n"
	"  ret <4 x i8> %x\n}\n",

	/* a negative zero */
	"define float @zero.pattern(i8 %x) #0 {\n"
	"  %f = sitofp i8 %x to float\n  %r = fmul float %f, -1.0\n"
	"  ret float %r\n}\n"
	"define float @zero.replacement(i8 %x) {\n"
	"  %w = sext i8 %x to i32\n  %n = sub i32 0, %w\n"
	"  %r = sitofp i32 %n to float\n  ret float %r\n}\n",
};

static bool is_caught(const char *text_of_rule)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	const char *ir = text("%sattributes #0 = { \"tkb.rule\"=\"exact\" }\n",
	                      text_of_rule);
	struct rule_set *rules = NULL;
	struct oracle oracle;
	bool is_right = true;

	OK(rules_read(context, tkb_text(ir), "wrong.ll", &rules, ERR));
	oracle_open(&oracle);
	oracle.rules = (struct texts){ &ir, 1 };
	for (uint64_t i = 0; i < 10 * RULE_MODULES && is_right; i++) {
		AUTO_LLVM(LLVMModuleRef)
		module = generate_of_rule(rules, rules->rules[0], i);
		struct mismatch mismatch;

		is_right = oracle_check(&oracle, module, &mismatch);
	}
	rules_free(rules);
	return !is_right;
}

TEST(oracle, catches_a_wrong_rule)
{
	for (size_t i = 0; i < TKB_COUNT_OF(wrong_rules); i++) {
		if (!is_caught(wrong_rules[i]))
			fail_msg("rule %zu went through", i);
	}
}

static LLVMModuleRef squares(LLVMContextRef context, const char *first,
                             const char *second)
{
	return parse_ir(
		context,
		tkb_text(text(
			"define ptx_kernel void @kernel(ptr addrspace(1) %%a,\n"
			"    ptr addrspace(1) %%b, ptr addrspace(1) %%c,\n"
			"    ptr addrspace(1) %%d, i32 %%n, i64 %%m) {\n"
			"  %%i = load i32, ptr addrspace(1) %%a, align 1\n"
			"  %%k = load i32, ptr addrspace(1) %%b, align 1\n"
			"  %%x = sitofp i32 %%i to float\n"
			"  %%y = sitofp i32 %%k to float\n"
			"  %%xx = fmul float %%x, %%x\n"
			"  %%yy = fmul float %%y, %%y\n"
			"  %%r = fadd float %%%s, %%%s\n"
			"  store float %%r, ptr addrspace(1) %%c, align 1\n"
			"  ret void\n}\n",
			first, second)));
}

TEST(oracle, catches_sums_that_are_fused_the_other_way_around)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	AUTO_LLVM(LLVMModuleRef) before = squares(context, "xx", "yy");
	AUTO_LLVM(LLVMModuleRef) after = squares(context, "yy", "xx");
	AUTO_LLVM(LLVMModuleRef) same = squares(context, "xx", "yy");
	struct oracle oracle;
	struct mismatch mismatch;

	oracle_open(&oracle);

	CHECK(!oracle_same(&oracle, before, after, &mismatch));

	CHECK_CONTAINS(mismatch.what, "'c' differs");
	CHECK(oracle_same(&oracle, before, same, &mismatch));
}

TEST(oracle, finds_nothing_in_what_it_once_found)
{
	const char *folder = text("%s/finalize/found", TKB_TESTS);
	struct oracle oracle;
	size_t count = 0;

	oracle_open(&oracle);
	for (const char **name = list(folder); *name != NULL; name++) {
		LLVMModuleRef module =
			test_module(read_file(text("%s/%s", folder, *name)));
		struct mismatch mismatch;

		if (!oracle_check(&oracle, module, &mismatch))
			fail_msg("%s: %s: %s", *name, mismatch.name,
			         mismatch.what);
		count++;
	}
	check_all_known(&oracle);
	CHECK(oracle.undefined < count);
}

/* Kernels of tests/finalize/quant, by the schemes that take them. */
static const struct {
	const char *name;
	enum tkb_quant quant;
} quantized[] = {
	{ "dynamic", TKB_QUANT_DYNAMIC },
	{ "sums", TKB_QUANT_DYNAMIC },
	{ "static", TKB_QUANT_STATIC },
	{ "weight_only", TKB_QUANT_WEIGHT_ONLY },
	{ "weight_only_int4", TKB_QUANT_WEIGHT_ONLY },
};

static void check_quantized(struct oracle *oracle, const char *name)
{
	LLVMModuleRef module = test_module(ir_file(text("quant/%s.ll", name)));
	struct mismatch mismatch;

	if (!oracle_check(oracle, module, &mismatch))
		fail_msg("%s: %s: %s", name, mismatch.name, mismatch.what);
}

TEST(oracle, finds_nothing_in_kernels_of_schemes_of_quantization)
{
	EACH(i, quantized) {
		struct oracle oracle;

		oracle_open(&oracle);
		oracle.quant = quantized[i].quant;
		check_quantized(&oracle, quantized[i].name);
		check_all_known(&oracle);
		CHECK_INT(oracle.undefined, 0);
		CHECK(oracle.changed[oracle.step_count] != 0);
		CHECK(oracle.runs != 0);
	}
}
