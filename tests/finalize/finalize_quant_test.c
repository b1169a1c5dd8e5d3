/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Schemes of quantization, on the kernels in tests/finalize/quant: which are of
 * which scheme, and what becomes of them. That they compute the same, the oracle
 * says.
 */

#include "finalize_fixture.h"

#define NO_PRODUCT "it has no product of int8 and int8"
#define UNBOUND                                                                \
	"neither factor of its int8 products is a constant of the module; "    \
	"bind the weights"
#define RUN_TIME "a scale is known at run time only; bind it"
#define CONSTANTS "all its scales are constants"
#define NO_DP4A "none of its int8 products becomes dp4a"
#define PRODUCTS "it multiplies int8 by int8"
#define NO_WEIGHTS                                                             \
	"it makes no float of int8 or int4 weights that are constants of the " \
	"module"

/* Why a kernel is refused by each scheme; NULL: it is of the scheme. */
static const struct {
	const char *name;
	const char *faults[TKB_QUANT_WEIGHT_ONLY + 1];
} kernels[] = {
	{ "dynamic", { NULL, NULL, RUN_TIME, PRODUCTS } },
	{ "dynamic_inside", { NULL, NO_DP4A, RUN_TIME, PRODUCTS } },
	{ "static", { NULL, CONSTANTS, NULL, PRODUCTS } },
	{ "static_inside", { NULL, CONSTANTS, NO_DP4A, PRODUCTS } },
	{ "sums", { NULL, NULL, NULL, PRODUCTS } },
	{ "unbound", { NULL, UNBOUND, UNBOUND, PRODUCTS } },
	{ "weight_only", { NULL, NO_PRODUCT, NO_PRODUCT, NULL } },
	{ "weight_only_int4", { NULL, NO_PRODUCT, NO_PRODUCT, NULL } },
	{ "floats", { NULL, NO_PRODUCT, NO_PRODUCT, NO_WEIGHTS } },
};

static const char *const schemes[] = { "any", "dynamic", "static",
	                               "weight-only" };

static void check_kernel(const char *name, enum tkb_quant quant,
                         const char *fault)
{
	LLVMTargetMachineRef machine = nvptx();
	LLVMModuleRef module = test_module(ir_file(text("quant/%s.ll", name)));
	const struct finalize_request order = { .is_wanted = true,
		                                .quant = quant };

	if (fault == NULL) {
		finalize_ok(module, machine, &order);
		return;
	}
	FAILS(finalize_module(module, machine, &order, NULL, ERR),
	      TKB_ERR_INVALID,
	      text("kernel 'kernel' cannot be quantized by '%s': %s",
	           schemes[quant], fault));
}

TEST(quant, takes_kernels_of_its_scheme_and_refuses_the_others)
{
	EACH(i, kernels) {
		EACH(quant, schemes) {
			test_name_row(text("%s by %s", kernels[i].name,
			                   schemes[quant]));
			check_kernel(kernels[i].name, (enum tkb_quant)quant,
			             kernels[i].faults[quant]);
		}
	}
}

static const char *finalized(const char *name, enum tkb_quant quant,
                             bool is_fast, const char **log)
{
	LLVMModuleRef module = test_module(ir_file(text("quant/%s.ll", name)));
	const struct finalize_request order = { .is_wanted = true,
		                                .is_fast = is_fast,
		                                .quant = quant };

	*log = finalize_ok(module, nvptx(), &order);
	return print_ir(module);
}

TEST(quant, makes_dp4a_of_products)
{
	static const struct {
		const char *name;
		enum tkb_quant quant;
	} products[] = { { "dynamic", TKB_QUANT_DYNAMIC },
		         { "static", TKB_QUANT_STATIC },
		         { "sums", TKB_QUANT_STATIC } };
	const char *log;

	EACH(i, products) {
		test_name_row(products[i].name);
		CHECK_CONTAINS(finalized(products[i].name, products[i].quant,
		                         false, &log),
		               "call i32 @llvm.nvvm.idp4a.s.s(");
	}
}

/* A kernel in which the rules of all built-in files apply. */
static const char all_rules[] =
	"declare float @llvm.rint.f32(float)\n"
	"define ptx_kernel void @kernel(ptr addrspace(1) %a, "
	"ptr addrspace(1) %b, ptr addrspace(1) %c) {\n"
	"  %q = load i8, ptr addrspace(1) %a\n"
	"  %f = sitofp i8 %q to float\n"
	"  %d = fmul float %f, 0.5\n"
	"  %u = fdiv float %d, 0.5\n"
	"  %r = call float @llvm.rint.f32(float %u)\n"
	"  store float %r, ptr addrspace(1) %b\n"
	"  %x = fmul reassoc float %f, 3.0\n"
	"  %y = fmul reassoc float %x, 7.0\n"
	"  store float %y, ptr addrspace(1) %c\n"
	"  %wp = getelementptr i8, ptr addrspace(1) @w, i8 %q\n"
	"  %w = load <4 x i8>, ptr addrspace(1) %wp, align 1\n"
	"  %xs = load <4 x i8>, ptr addrspace(1) %a, align 4\n"
	"  %ws = sext <4 x i8> %w to <4 x i32>\n"
	"  %xw = sext <4 x i8> %xs to <4 x i32>\n"
	"  %p = mul <4 x i32> %ws, %xw\n"
	"  %sum = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %p)\n"
	"  %end = getelementptr i8, ptr addrspace(1) %c, i32 4\n"
	"  store i32 %sum, ptr addrspace(1) %end\n"
	"  ret void\n}\n"
	"declare i32 @llvm.vector.reduce.add.v4i32(<4 x i32>)\n"
	"@w = internal addrspace(1) constant [256 x i8] zeroinitializer\n";

static const char *log_of(enum tkb_quant quant)
{
	LLVMModuleRef module = test_module(tkb_text(all_rules));
	const char *const without[] = { "propagate", "peephole", "fold-globals",
		                        "fold",      "cse",      "dce",
		                        "optimize" };
	struct finalize_request order = { .is_wanted = true,
		                          .is_fast = true,
		                          .quant = quant };
	const char *items[TKB_COUNT_OF(without)];

	memcpy(items, without, sizeof(items));
	order.without = (struct texts){ items, TKB_COUNT_OF(items) };
	return finalize_ok(module, nvptx(), &order);
}

TEST(quant, applies_the_rules_of_its_scheme)
{
	const char *any = log_of(TKB_QUANT_ANY);
	const char *dynamic = log_of(TKB_QUANT_DYNAMIC);

	CHECK_CONTAINS(any, "dp4a.s.s.vector4");
	CHECK_CONTAINS(any, "requantize.signed");
	CHECK_CONTAINS(any, "dequantize.signed.multiply");
	CHECK_STR(log_of(TKB_QUANT_STATIC), any);
	CHECK_CONTAINS(dynamic, "dp4a.s.s.vector4");
	CHECK(strstr(dynamic, "quantize.") == NULL);
}

/* The sum stays in its order: what it does is done by floats, one by one. */
TEST(quant, keeps_sums_of_floats)
{
	const char *log;
	const char *plain =
		finalized("weight_only", TKB_QUANT_ANY, false, &log);

	CHECK_STR(finalized("weight_only", TKB_QUANT_WEIGHT_ONLY, false, &log),
	          plain);

	CHECK(strstr(log, "dp4a") == NULL);
	CHECK(strstr(log, "gather") == NULL);
}

TEST(quant, looks_at_kernels_that_are_kept_alone)
{
	LLVMTargetMachineRef machine = nvptx();
	const struct tkb_bytes file = ir_file("quant/dynamic.ll");
	const char *ir = text("%.*s\ndefine ptx_kernel void @other() {\n"
	                      "  ret void\n}\n",
	                      (int)file.size, (const char *)file.data);
	LLVMModuleRef module = test_module(tkb_text(ir));
	LLVMModuleRef again = test_module(tkb_text(ir));
	const char *kernel = "kernel";
	struct finalize_request order = { .is_wanted = true,
		                          .quant = TKB_QUANT_DYNAMIC };

	FAILS(finalize_module(again, machine, &order, NULL, ERR),
	      TKB_ERR_INVALID,
	      "kernel 'other' cannot be quantized by 'dynamic': " NO_PRODUCT);

	order.kernels = (struct texts){ &kernel, 1 };
	finalize_ok(module, machine, &order);
}
