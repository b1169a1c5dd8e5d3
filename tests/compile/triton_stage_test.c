/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/stat.h>

#include "triton_compile_fixture.h"

/* A stage instead of an entry, and the IR between Triton's passes. */

static const char *const stages[] = { "ttir", "ttgir", "llir", "ptx", "cubin" };

/* copy_kernel, as COPY_SIGNATURE has it. */
static struct tkb_triton_unit copy_unit(const char *stage)
{
	struct tkb_triton_unit unit = unit_of("copy_kernel", COPY_SIGNATURE);

	unit.stage = stage;
	return unit;
}

/* Of Triton 3.3, what PTX was made before shows in the layout that IR names. */
static void check_same(const char *there, const char *here)
{
	static const char body[] = "\ndefine ";
	struct tkb_bytes a = read_file(there);
	struct tkb_bytes b = read_file(here);
	const char *const in_a = strstr(a.data, body);
	const char *const in_b = strstr(b.data, body);

	if (in_a != NULL && in_b != NULL) {
		CHECK_STR(in_a, in_b);
		return;
	}
	CHECK_INT(a.size, b.size);
	CHECK(memcmp(a.data, b.data, a.size) == 0);
}

static void check_stages(const char *version)
{
	need_triton(version);
	write_kernels(copy_kernel);
	TRITON(triton) = open_triton();
	EACH(i, stages) {
		const struct tkb_triton_unit unit = copy_unit(stages[i]);
		struct made made = make(triton, &unit);

		CHECK_OK(made.rc, &made.err);
		write_file(text("made.%s", stages[i]), made.compiled.product);
		CHECK_STR(made.compiled.kernel, "copy_kernel");
		CHECK_STR(made.compiled.folder, "");
		CHECK(!exists("cache"));
	}
	struct tkb_triton_compiled entry =
		must_make(triton, "copy_kernel", COPY_SIGNATURE);
	CHECK_INT(entry.product.size, 0);
	EACH(i, stages) {
		const struct tkb_triton_unit unit = copy_unit(stages[i]);
		check_same(text("%s/copy_kernel.%s", entry.folder, stages[i]),
		           text("made.%s", stages[i]));
		CHECK_STR(make(triton, &unit).compiled.key, entry.key);
	}
}

TEST(triton_stage, is_the_file_of_the_entry_with_3_6)
{
	check_stages(TRITON_USUAL);
}

TEST(triton_stage, is_the_file_of_the_entry_with_3_0)
{
	check_stages("3.0.0");
}

TEST(triton_stage, is_the_file_of_the_entry_with_3_3)
{
	check_stages("3.3.1");
}

TEST(triton_stage, is_the_file_of_the_entry_with_3_9)
{
	check_stages("3.9.0");
}

/* ptxas refuses what the IR says: that can be seen. */
TEST(triton_stage, is_made_of_a_kernel_that_a_later_one_refuses)
{
	struct tkb_triton_unit unit = copy_unit("ptx");

	need_triton(TRITON_USUAL);
	write_kernels("@triton.jit\n"
	              "def copy_kernel(x, out, n, SIZE: tl.constexpr):\n"
	              "    tl.inline_asm_elementwise('nonsense $0;', '=r', [],"
	              " dtype=tl.int32, is_pure=False, pack=1)\n");
	TRITON(triton) = open_triton();
	struct made made = make(triton, &unit);
	CHECK_OK(made.rc, &made.err);
	CHECK_CONTAINS(made.compiled.product.data, "nonsense");
	unit.stage = "cubin";
	must_refuse(triton, &unit, TKB_ERR_INVALID,
	            "'copy_kernel' does not compile: PTXASError");
}

TEST(triton_stage, of_ir_is_its_own_or_a_later_one)
{
	static const char *const versions[] = { TRITON_USUAL, "3.3.1" };
	struct tkb_triton_unit ir = { SIZED(ir), .file = "k.ttir",
		                      .target = "cuda:90", .stage = "ttir" };

	write_text("k.ttir", "module { tt.func public @k() { tt.return } }\n");
	EACH(i, versions) {
		need_triton(versions[i]);
		TRITON(triton) = open_triton();
		ir.stage = "ttir";
		struct made made = make(triton, &ir);
		CHECK_OK(made.rc, &made.err);
		CHECK_CONTAINS(made.compiled.product.data, "@k()");
		ir.stage = "glir";
		must_refuse(triton, &ir, TKB_ERR_INVALID,
		            text("Triton %s makes no glir of 'k.ttir'",
		                 versions[i]));
	}
	CHECK(!exists("cache"));
}

TEST(triton_stage, that_there_is_not_is_refused)
{
	const struct tkb_triton_unit unit = copy_unit("sass");
	TRITON(triton) = open_triton_for(copy_kernel);
	must_refuse(triton, &unit, TKB_ERR_INVALID,
	            "there is no stage 'sass'; there are ttir, glir, ttgir, "
	            "llir, ptx, cubin, amdgcn and hsaco");
}

/* In order: of Triton's, then LLVM's, then of the code generator. */
TEST(triton_stage, passes_are_shown_and_are_no_part_of_the_key)
{
	static const char *const shown[] = {
		"IR Dump Before Inliner (inline)",
		"IR Dump Before ConvertTritonToTritonGPU",
		"IR Dump Before TritonGPUCoalesce",
		"IR Dump Before ConvertTritonGPUToLLVM",
		"IR Dump After InstCombinePass on copy_kernel",
		"NVPTX DAG->DAG Pattern Instruction Selection",
	};
	const struct tkb_triton_options options = { SIZED(options),
		                                    .worker_count = 1,
		                                    .has_pass_output = true };
	const struct tkb_triton_unit unit = copy_unit(NULL);

	need_triton(TRITON_USUAL);
	write_kernels(copy_kernel);
	TRITON(plain) = open_triton();
	struct made made = make(plain, &unit);
	CHECK(strstr(made.log, "IR Dump") == NULL);
	const char *key = made.compiled.key;
	shell("rm -r cache");
	TRITON(printing) = open_triton_of(&options);
	made = make(printing, &unit);
	CHECK_STR(made.compiled.key, key);
	CHECK(!made.compiled.is_hit);
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		const char *at = strstr(made.log, shown[i]);

		if (at == NULL)
			fail_msg("%s is not shown, or out of order", shown[i]);
		made.log = at;
	}
	CHECK_STR(make(printing, &unit).log, "");
}
