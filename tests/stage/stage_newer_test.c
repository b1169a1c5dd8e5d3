/* SPDX-License-Identifier: Apache-2.0 */
#include "stage_fixture.h"

/* Text of LLVM 23's IR, which LLVM 22 does not read as it stands. */

/* A kernel that adds `constant` to a `type`, as the worker gives it back. */
static struct stage_made add(const char *type, const char *constant)
{
	need_llvm();
	return stage(&(struct stage_request){
		.input = TKB_INPUT_LLIR,
		.product = TKB_PRODUCT_LLIR,
		.source = tkb_text(text(
			"@\"float 1.5\" = constant [9 x i8] c\"float 1.1\"\n"
			"define ptx_kernel void @k(%s %%float, ptr %%p) {\n"
			"  %%float.1.1 = fadd %s %%float, %s ; float 1.1\n"
			"  store %s %%float.1.1, ptr %%p\n"
			"  br label %%-1.5\n"
			"-1.5:\n"
			"  ret void\n"
			"}\n",
			type, type, constant, type)),
	});
}

/* What the constant becomes. */
static void check(const char *type, const char *constant, const char *wanted)
{
	const struct stage_made made = add(type, constant);

	CHECK_STR(made.err.message, "");
	CHECK_CONTAINS(
		made.llir.data,
		text("%%float.1.1 = fadd %s %%float, %s\n", type, wanted));
	CHECK_CONTAINS(made.llir.data, "@\"float 1.5\" = constant [9 x i8] "
	                               "c\"float 1.1\"\n");
}

TEST(stage_newer, bits_of_every_type_are_read)
{
	check("float", "f0x3F8CCCCD", "0x3FF19999A0000000");
	check("float", "f0xBF800000", "-1.000000e+00");
	check("double", "f0x3FF199999999999A", "1.100000e+00");
	check("half", "f0x3C66", "0xH3C66");
	check("bfloat", "f0x3F8D", "0xR3F8D");
	check("<2 x float>", "splat (float f0x3F8CCCCD)",
	      "splat (float 0x3FF19999A0000000)");
	check("<2 x half>", "<half f0x3C66, half f0x0001>",
	      "<half 0xH3C66, half 0xH0001>");
}

TEST(stage_newer, short_decimals_are_rounded_to_their_type)
{
	check("float", "1.100000e+00", "0x3FF19999A0000000");
	check("float", "-1.100000e+00", "0xBFF19999A0000000");
	check("float", "1.401298e-45", "0x36A0000000000000");
	check("float", "3.402823466e+38", "0x47EFFFFFE0000000");
	check("half", "1.0996", "0xH3C66");
	check("half", "-1.0996", "0xHBC66");
	check("half", "6.5504e+04", "0xH7BFF");
	check("half", "5.96e-08", "0xH0001");
	check("half", "6.1035e-05", "0xH0400");
	check("bfloat", "1.1", "0xR3F8D");
	check("bfloat", "9.2e-41", "0xR0001");
}

TEST(stage_newer, what_is_no_number_is_read)
{
	check("float", "+inf", "0x7FF0000000000000");
	check("float", "-inf", "0xFFF0000000000000");
	check("float", "+qnan", "0x7FF8000000000000");
	check("half", "-inf", "0xHFC00");
	check("double", "-qnan", "0xFFF8000000000000");
}

TEST(stage_newer, that_is_wrong_in_another_way_is_answered_as_it_was)
{
	const struct stage_made made = add("float", "f0x3F8CCCC");

	CHECK_STAGE_FAILED(made, TKB_ERR_INVALID,
	                   "bad IR: the input:3:35: error: ");
}
