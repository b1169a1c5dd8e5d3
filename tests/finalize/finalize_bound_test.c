/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Real products and convolutions, of tests/gpu/bound/plain.ll, with their sizes
 * and weights bound: are their int8 products made by dp4a, and their loops gone?
 * That they compute the same, the oracle says, and tests/gpu/bound.py.
 */

#include "finalize_fixture.h"

static unsigned char weights[64 * 64];

/* The kernel with weights of this type, and its numbers from the fourth on. */
static const char *bound(const char *kernel, const char *type, size_t size,
                         const char *sizes)
{
	static const char *const names[] = { "3", "4", "5", "6" };
	const char **numbers = words(sizes);
	LLVMModuleRef module = test_module(
		read_file(text("%s/gpu/bound/plain.ll", TKB_TESTS)));
	struct tkb_binding bindings[5] = {
		{ "0", type, { weights, size }, NULL },
	};
	struct finalize_request order = {
		.is_wanted = true,
		.kernels = { &kernel, 1 },
		.bindings = { bindings, 1 },
	};

	for (size_t i = 0; i < sizeof(weights); i++)
		weights[i] = (unsigned char)(i * 7 + i / 64);
	for (size_t i = 0; numbers[i] != NULL; i++)
		bindings[order.bindings.count++] =
			(struct tkb_binding)NUMBER(names[i], numbers[i]);
	finalize_ok(module, nvptx(), &order);
	return print_ir(module);
}

static const struct {
	const char *kernel;
	const char *what;
	const char *type;
	size_t size;
	const char *numbers;
	size_t dp4a;
} products[] = {
	{ "gemv_int8", "by rows", "i8[64,64]", 64 * 64, "64|64", 16 },
	{ "gemv_int8_columns", "by columns", "i8[64,64]", 64 * 64, "64|64",
	  16 },
	{ "matmul_int8", "of two matrices", "i8[64,64]", 64 * 64, "64|64", 16 },
	{ "convolution_int8", "of 1 by 1", "i8[8,1,1,16]", 8 * 16, "1|16|8|64",
	  4 },
	{ "convolution_int8", "of 3 by 3", "i8[8,3,3,16]", 8 * 9 * 16,
	  "3|16|8|64", 9 * 4 },
	{ "convolution_int8_columns", "of 1 by 1", "i8[1,1,16,8]", 8 * 16,
	  "1|16|8|64", 4 },
	{ "convolution_int8_columns", "of 3 by 3", "i8[3,3,16,8]", 8 * 9 * 16,
	  "3|16|8|64", 9 * 4 },
};

TEST(bound, products_of_bytes_are_made_by_dp4a)
{
	EACH(i, products) {
		const char *ir;

		test_name_row(
			text("%s %s", products[i].kernel, products[i].what));
		ir = bound(products[i].kernel, products[i].type,
		           products[i].size, products[i].numbers);

		CHECK_INT(count_parts(ir, "call i32 @llvm.nvvm.idp4a"),
		          products[i].dp4a);
		CHECK_INT(count_parts(ir, "mul nsw"), 0);
		/* No loop, but the check whether the row is one. */
		CHECK(count_parts(ir, " phi ") == 0);
		CHECK(count_parts(ir, "br i1") <= 1);
	}
}

TEST(bound, a_convolution_of_each_channel_has_no_loop)
{
	const char *ir =
		bound("depthwise_int8", "i8[3,3,64]", 9 * 64, "3|64|32");

	CHECK(count_parts(ir, " phi ") == 0);
	CHECK(count_parts(ir, "br i1") <= 1);
}

/*
 * Fused as the loop's are: the first with zero, each other with the sum before it.
 * a*a + b*b could be fused in two ways, and would be rounded otherwise.
 */
TEST(bound, sums_of_floats_keep_their_order_and_rounding)
{
	const char *ir = bound("gemv_float", "f32[4,4]", 64, "4|4");

	CHECK_INT(count_parts(ir, "call float @llvm.fma.f32("), 4);
	CHECK_INT(count_parts(ir, ", float 0.000000e+00)"), 1);
	CHECK_INT(count_parts(ir, "fadd") + count_parts(ir, "fmul"), 0);
	CHECK_INT(count_parts(ir, " contract "), 0);
	CHECK(strstr(ir, "\"tkb.contracted\"") != NULL);
	CHECK(count_parts(ir, " phi ") == 0);
}
