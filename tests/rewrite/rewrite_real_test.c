/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite_fixture.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>

/*
 * Real kernels: what Triton and Inductor made. Triton 3.8 and later write IR
 * that LLVM 22 cannot read.
 */

static const struct rule_options fast = { .is_fast = true, .arch = 90 };

static const char *const fixtures[] = {
	"inductor-2.11-llama4-h100", "triton-3.0.0-cpu", "triton-3.1.0-cpu",
	"triton-3.2.0-cpu",          "triton-3.3.1-cpu", "triton-3.4.0-cpu",
	"triton-3.5.1-cpu",          "triton-3.6.0-cpu", "triton-3.6.0-h100",
	"triton-3.7.1-cpu"
};

/* The rewrites in one file; it must still be right. */
static size_t rewrite_kernel(const char *path)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	AUTO_LLVM_MESSAGE message = NULL;
	RULES(rules) = rewrite_rules(context, NULL, true);
	AUTO_LLVM(LLVMModuleRef) module = parse_ir(context, read_file(path));
	size_t count = 0;

	OK(rules_apply(rules, module, &fast, NULL, &count, ERR));
	if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
		fail_msg("%s: %s", path, message);
	return count;
}

TEST(rewrite_real, of_the_fixtures_kernels_breaks_none_and_finds_nothing)
{
	const char **paths;
	size_t count = 0;

	for (size_t i = 0; i < TKB_COUNT_OF(fixtures); i++)
		unpack(fixtures[i], fixtures[i]);
	for (paths = files_below(".", ".llir"); paths[count] != NULL; count++)
		CHECK_INT(rewrite_kernel(paths[count]), 0);
	CHECK(count >= 40);
}

static const char *rewrite_text(const char *name)
{
	AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
	AUTO_LLVM_MESSAGE printed = NULL;
	RULES(rules) = rewrite_rules(context, NULL, true);
	AUTO_LLVM(LLVMModuleRef) module = parse_ir(context, rewrite_file(name));
	const struct rule_options exact = { .arch = 90 };
	const char *result;

	OK(rules_apply(rules, module, &exact, NULL, NULL, ERR));
	CHECK(!LLVMVerifyModule(module, LLVMReturnStatusAction, NULL));
	printed = LLVMPrintModuleToString(module);
	result = text("%s", printed);
	return result;
}

TEST(rewrite_real, of_a_gemv_of_bytes_by_triton_leaves_dp4a)
{
	const char *ir = rewrite_text("triton_gemv");

	CHECK_INT(count_parts(ir, "call i32 @llvm.nvvm.idp4a.s.s("), 8);
	CHECK_INT(count_parts(ir, "call i32 @llvm.vector.reduce.add"), 0);
	CHECK_INT(count_parts(ir, "mul nsw <16 x i32>"), 0);
}

TEST(rewrite_real, of_a_requantization_by_triton_leaves_a_copy)
{
	const char *ir = rewrite_text("triton_requantize");

	CHECK_INT(count_parts(ir, "fmul"), 0);
	CHECK_INT(count_parts(ir, "call float"), 0);
	CHECK_INT(count_parts(ir, "call <4 x float>"), 0);
	CHECK_INT(count_parts(ir, "fptosi"), 0);
}

TEST(rewrite_real, of_a_requantization_with_a_zero_point_leaves_integers)
{
	const char *ir = rewrite_text("triton_zero_point");

	CHECK_INT(count_parts(ir, "fmul"), 0);
	CHECK_INT(count_parts(ir, "fptosi"), 0);
	CHECK_INT(count_parts(ir, "sitofp"), 0);
}
