/* SPDX-License-Identifier: Apache-2.0 */
#include "stage_fixture.h"

#include <stdio.h>
#include <stdlib.h>

/* A kernel that multiplies, adds, and uses shared memory. */
static const char kernel_ir[] =
	"target triple = \"nvptx64-nvidia-cuda\"\n"
	"@buffer = external addrspace(3) global [0 x i8], align 16\n"
	"define ptx_kernel void @first(ptr addrspace(1) %p, float %a) {\n"
	"  %x = load float, ptr addrspace(1) %p\n"
	"  %y = fmul float %x, %a\n"
	"  %z = fadd float %y, %a\n"
	"  store float %z, ptr addrspace(3) @buffer\n"
	"  %s = ptrtoint ptr addrspace(3) @buffer to i64\n"
	"  store i64 %s, ptr addrspace(1) %p\n"
	"  ret void\n"
	"}\n";

static const char second_ir[] = "define ptx_kernel void @second() {\n"
				"  ret void\n"
				"}\n";

/* IR to PTX, for a ptxas that is not run. */
static struct stage_request order_of(const char *ir)
{
	need_llvm();
	return (struct stage_request){
		.input = TKB_INPUT_LLIR,
		.source = tkb_text(ir),
		.product = TKB_PRODUCT_PTX,
		.ptxas = fake_ptxas("exit 1"),
	};
}

/* The version alone: "22.1.8" of "22.1.8, build 0123456789abcdef". */
static const char *llvm_of(const struct stage_made *made)
{
	return text("%.*s", (int)strcspn(made->llvm, ","), made->llvm);
}

TEST(stage_ir, ptx_has_the_version_and_target_that_triton_would_give_it)
{
	const struct stage_request order = order_of(kernel_ir);
	const struct stage_made made = stage(&order);

	CHECK_CONTAINS(ptx_of(&made), "\n.version 8.7\n.target sm_90a\n");
	CHECK_STR(made.kernel, "first");
	CHECK_STR(made.ptxas, "12.8.93");
	CHECK_CONTAINS(made.tools, text("LLVM %s, ptxas 12.8.93 (%s)",
	                                llvm_of(&made), order.ptxas));
	CHECK_INT(made.cubin.size, 0);
}

TEST(stage_ir, multiply_and_add_become_one_unless_that_is_forbidden)
{
	struct stage_request order = order_of(kernel_ir);
	struct stage_made made = stage(&order);

	CHECK_INT(count_parts(ptx_of(&made), "fma.rn.f32"), 1);

	set_field(&order, 0, TKB_FIELD_FUSION_OFF, "1");
	made = stage(&order);
	CHECK_INT(count_parts(ptx_of(&made), "fma.rn.f32"), 0);
	CHECK_INT(count_parts(ptx_of(&made), "mul.rn.f32"), 1);
	CHECK_INT(count_parts(ptx_of(&made), "add.rn.f32"), 1);
}

TEST(stage_ir, pointers_to_shared_memory_have_32_bits)
{
	const struct stage_request order = order_of(kernel_ir);
	const struct stage_made made = stage(&order);

	CHECK_CONTAINS(ptx_of(&made), "mov.b32 \t%r");
	CHECK_CONTAINS(ptx_of(&made), ", buffer;");
	CHECK_INT(count_parts(ptx_of(&made), "mov.b64 \t%rd1, buffer"), 0);
}

TEST(stage_ir, what_cannot_be_reached_traps)
{
	const struct stage_request order =
		order_of("declare void @llvm.nvvm.exit()\n"
	                 "define ptx_kernel void @k(i1 %c) {\n"
	                 "  br i1 %c, label %a, label %b\n"
	                 "a: call void asm sideeffect \"nanosleep.u32 1;\", "
	                 "\"\"()\n"
	                 "  unreachable\n"
	                 "b: ret void\n"
	                 "}\n");
	const struct stage_made made = stage(&order);

	CHECK_INT(count_parts(ptx_of(&made), "trap;"), 1);
}

TEST(stage_ir, of_several_kernels_one_must_be_named)
{
	struct stage_request order =
		order_of(text("%s%s", kernel_ir, second_ir));
	CHECK_STAGE_FAILS(&order, TKB_ERR_INVALID,
	                  "the IR has several kernels: name one of first, "
	                  "second");

	set_field(&order, 0, TKB_FIELD_KERNEL, "second");
	struct stage_made made = stage(&order);
	CHECK_INT(made.rc, 0);
	CHECK_STR(made.kernel, "second");

	order.fields[0].text = "third";
	CHECK_STAGE_FAILS(&order, TKB_ERR_INVALID,
	                  "the IR has no kernel 'third', but first, second");
}

TEST(stage_ir, without_a_kernel_is_refused)
{
	struct stage_request order = order_of("define void @f() {\n"
	                                      "  ret void\n"
	                                      "}\n");
	CHECK_STAGE_FAILS(&order, TKB_ERR_INVALID, "the IR has no kernel");

	order.source = (struct tkb_bytes){ "", 0 };
	CHECK_STAGE_FAILS(&order, TKB_ERR_INVALID, "the IR has no kernel");
}

TEST(stage_ir, that_is_wrong_is_answered_in_llvms_words)
{
	struct stage_request order = order_of("define void @f( {\n");
	CHECK_STAGE_FAILS(&order, TKB_ERR_INVALID,
	                  "bad IR: the input:2:1: error: expected type");

	order.source = tkb_text("define ptx_kernel void @f() {\n"
	                        "  %a = add i32 %b, 1\n"
	                        "  %b = add i32 %a, 1\n"
	                        "  ret void\n"
	                        "}\n");
	CHECK_STAGE_FAILS(&order, TKB_ERR_INVALID,
	                  "bad IR: Instruction does not dominate all uses!");
}

TEST(stage_ir, where_llvm_ends_the_process_fails_once_with_its_reason)
{
	struct stage_request order =
		order_of("define ptx_kernel void @k(ptr %p) {\n"
	                 "  %v = load i128, ptr %p\n"
	                 "  %x = sitofp i128 %v to fp128\n"
	                 "  store fp128 %x, ptr %p\n"
	                 "  ret void\n"
	                 "}\n");

	order.tries = 1;
	struct stage_made made = stage(&order);
	CHECK_STAGE_FAILED(made, TKB_ERR_INVALID,
	                   "LLVM: unsupported library call operation");
	CHECK_CONTAINS(made.log, "LLVM: unsupported library call operation\n");
}

TEST(stage_ir, after_a_fatal_one_is_compiled_as_ever)
{
	const char *const fatal = "define ptx_kernel void @k(ptr %p) {\n"
				  "  store atomic i128 0, ptr %p seq_cst, "
				  "align 16\n"
				  "  ret void\n"
				  "}\n";
	struct stage_request orders[8];
	struct stage_made made[8];

	for (size_t i = 0; i < 8; i++)
		orders[i] = order_of(i % 2 == 0 ? fatal : kernel_ir);
	stage_all(orders, 8, made);

	for (size_t i = 0; i < 8; i += 2) {
		CHECK_STAGE_FAILED(made[i], TKB_ERR_INVALID, "seq_cst");
		CHECK_INT(made[i + 1].rc, 0);
	}
}

TEST(stage_ir, for_a_gpu_that_llvm_does_not_know_is_refused)
{
	struct stage_request order = order_of(kernel_ir);

	order.arch = "95";
	CHECK_STAGE_FAILS(
		&order, TKB_ERR_UNSUPPORTED,
		"LLVM 22 cannot compile for GPU 'sm_95', but for 50, ");

	order.arch = "103";
	CHECK_STAGE_FAILS(&order, TKB_ERR_UNSUPPORTED,
	                  "sm_103 needs PTX 8.8, but the tool that reads it "
	                  "knows only versions up to 8.7");

	order.arch = "090";
	CHECK_STAGE_FAILS(&order, TKB_ERR_INVALID,
	                  "'090' is not an architecture, such as 90");
}

TEST(stage_ir, compiles_for_every_gpu_that_llvm_knows)
{
	static const char *const archs[] = { "50",  "52",  "53",  "60",  "61",
		                             "62",  "70",  "72",  "75",  "80",
		                             "86",  "87",  "88",  "89",  "90",
		                             "100", "101", "103", "110", "120",
		                             "121" };
	enum {
		COUNT = sizeof(archs) / sizeof(archs[0])
	};
	const char *const newest =
		write_script("newest", "echo release 14.2, V14.2.1\n");
	struct stage_request orders[COUNT];
	struct stage_made made[COUNT];

	for (size_t i = 0; i < COUNT; i++) {
		orders[i] = order_of(second_ir);
		orders[i].arch = archs[i];
		orders[i].ptxas = newest;
	}
	stage_all(orders, COUNT, made);

	for (size_t i = 0; i < COUNT; i++)
		CHECK_CONTAINS(ptx_of(&made[i]),
		               text(".version 10.2\n.target sm_%s%s\n",
		                    archs[i], atoi(archs[i]) >= 90 ? "a" : ""));
}

TEST(stage_ir, comes_back_as_text_or_bitcode_that_compiles_to_the_same)
{
	struct stage_request order = order_of(kernel_ir);
	const struct stage_made direct = stage(&order);

	order.product = TKB_PRODUCT_LLIR;
	struct stage_made made = stage(&order);
	CHECK_INT(made.rc, 0);
	CHECK_INT(made.ptx.size, 0);
	CHECK_CONTAINS(made.llir.data, "define ptx_kernel void @first(");

	set_field(&order, 0, TKB_FIELD_BITCODE, "1");
	made = stage(&order);
	CHECK_INT(made.rc, 0);
	CHECK(memcmp(made.llir.data, "BC\xc0\xde", 4) == 0);

	order.product = TKB_PRODUCT_PTX;
	order.source = made.llir;
	made = stage(&order);
	CHECK_STR(ptx_of(&made), direct.ptx.data);
}

TEST(stage_ir, is_no_product_of_ptx_or_cuda)
{
	struct stage_request order = order_of("x");

	order.product = TKB_PRODUCT_LLIR;
	order.input = TKB_INPUT_PTX;
	struct stage_made made = stage(&order);
	CHECK_STAGE_FAILED(made, TKB_ERR_INVALID,
	                   "LLVM IR cannot be made of PTX");

	order.input = TKB_INPUT_CUDA;
	made = stage(&order);
	CHECK_STAGE_FAILED(made, TKB_ERR_INVALID,
	                   "LLVM IR cannot be made of CUDA C");
}

TEST(stage_ir, names_the_builds_of_llvm_and_of_the_worker)
{
	struct stage_request order = order_of(kernel_ir);
	struct stage_made made = stage(&order);

	const char *const build = strstr(made.llvm, ", build ");

	CHECK(build != NULL);
	CHECK_INT(strspn(build + strlen(", build "), "0123456789abcdef"), 16);
	CHECK_INT(strlen(build), strlen(", build ") + 16);
	CHECK_INT(strlen(made.worker_sources), 16);
	CHECK_INT(strspn(made.worker_sources, "0123456789abcdef"), 16);
}

TEST(stage_ir, needs_no_ptxas_where_no_cubin_is_wanted)
{
	struct stage_request order = order_of(kernel_ir);

	if (exists("/usr/local/cuda/bin/ptxas"))
		skip();
	order.ptxas = NULL;
	order.variables[0] = "PATH=/nonexistent";
	struct stage_made made = stage(&order);
	CHECK_CONTAINS(ptx_of(&made), ".version 8.6\n");
	CHECK(made.ptxas == NULL);
	CHECK_STR(made.tools, text("LLVM %s", llvm_of(&made)));

	order.product = TKB_PRODUCT_CUBIN;
	CHECK_STAGE_FAILS(&order, TKB_ERR_UNSUPPORTED,
	                  "there is no ptxas: name one with --ptxas or "
	                  "TRITON_PTXAS_PATH");
}

TEST(stage_ir, is_optimized_only_where_that_is_asked)
{
	const char *const ir = "define internal i32 @f(i32 %x) {\n"
			       "  ret i32 %x\n"
			       "}\n"
			       "define ptx_kernel void @k(ptr %p) {\n"
			       "  %v = call i32 @f(i32 7)\n"
			       "  store i32 %v, ptr %p\n"
			       "  ret void\n"
			       "}\n";
	struct stage_request order = order_of(ir);
	struct stage_made made = stage(&order);

	CHECK_CONTAINS(ptx_of(&made), "call.uni");

	set_field(&order, 0, TKB_FIELD_OPTIMIZED, "1");
	made = stage(&order);
	CHECK_INT(count_parts(ptx_of(&made), "call.uni"), 0);
}

TEST(stage_ir, is_printed_after_each_pass_where_that_is_asked)
{
	struct stage_request order = order_of(kernel_ir);
	struct stage_made made = stage(&order);

	CHECK_INT(count_parts(made.log, "IR Dump After"), 0);

	order.has_pass_output = true;
	made = stage(&order);
	CHECK_INT(made.rc, 0);
	CHECK_CONTAINS(made.log, "IR Dump After");
}

/* What stands for libdevice: bitcode of it is IR like any other. */
static const char library_ir[] =
	"declare i32 @__nvvm_reflect(ptr)\n"
	"@name = private constant [11 x i8] c\"__CUDA_FTZ\\00\"\n"
	"define float @__nv_twice(float %x) {\n"
	"  %f = call i32 @__nvvm_reflect(ptr @name)\n"
	"  %c = icmp ne i32 %f, 0\n"
	"  %a = fadd float %x, %x\n"
	"  %b = fadd float %x, 1.0\n"
	"  %r = select i1 %c, float %a, float %b\n"
	"  ret float %r\n"
	"}\n"
	"define float @__nv_unused(float %x) {\n"
	"  ret float %x\n"
	"}\n";

static const char calling_ir[] =
	"declare float @__nv_twice(float)\n"
	"define ptx_kernel void @k(ptr addrspace(1) %p) {\n"
	"  %x = load float, ptr addrspace(1) %p\n"
	"  %y = call float @__nv_twice(float %x)\n"
	"  store float %y, ptr addrspace(1) %p\n"
	"  ret void\n"
	"}\n";

TEST(stage_ir, gets_from_libdevice_what_it_calls_and_no_more)
{
	struct stage_request order = order_of(calling_ir);

	write_text("library.ll", library_ir);
	set_field(&order, 0, TKB_FIELD_LIBDEVICE,
	          text("%s/library.ll", test_folder()));
	struct stage_made made = stage(&order);

	CHECK_INT(count_parts(ptx_of(&made), "__nv_"), 0);
	CHECK_INT(count_parts(ptx_of(&made), "call"), 0);
	CHECK_INT(count_parts(ptx_of(&made), "__nvvm_reflect"), 0);
	CHECK_INT(count_parts(ptx_of(&made), "0f3F800000"), 0); /* ftz is 1 */
}

TEST(stage_ir, finds_libdevice_by_tritons_variable_and_in_the_toolkit)
{
	struct stage_request order = order_of(calling_ir);

	write_text("library.ll", library_ir);
	order.variables[0] =
		text("TRITON_LIBDEVICE_PATH=%s/library.ll", test_folder());
	struct stage_made made = stage(&order);
	CHECK_INT(made.rc, 0);

	make_folders("cuda/nvvm/libdevice");
	write_text("cuda/nvvm/libdevice/libdevice.10.bc", library_ir);
	order.variables[0] = text("CUDA_HOME=%s/cuda", test_folder());
	made = stage(&order);
	CHECK_INT(made.rc, 0);
}

TEST(stage_ir, that_calls_what_is_nowhere_is_refused)
{
	struct stage_request order = order_of(calling_ir);
	CHECK_STAGE_FAILS(&order, TKB_ERR_INVALID,
	                  "'__nv_twice' is not defined: name a "
	                  "libdevice");

	write_text("library.ll", "define void @__nv_other() {\n"
	                         "  ret void\n"
	                         "}\n");
	set_field(&order, 0, TKB_FIELD_LIBDEVICE,
	          text("%s/library.ll", test_folder()));
	CHECK_STAGE_FAILS(&order, TKB_ERR_INVALID,
	                  "'__nv_twice' is not defined, not even in '");

	order.fields[0].text = text("%s/none", test_folder());
	CHECK_STAGE_FAILS(&order, TKB_ERR_IO, "/none': No such file");

	write_text("library.ll", "nonsense");
	order.fields[0].text = text("%s/library.ll", test_folder());
	CHECK_STAGE_FAILS(&order, TKB_ERR_INVALID, "library.ll': ");
}

TEST(stage_ir, warnings_of_llvm_are_in_the_log)
{
	static const char flag[] = "!llvm.module.flags = !{!0}\n"
				   "!0 = !{i32 2, !\"answer\", i32 %d}\n";
	struct stage_request order = order_of(calling_ir);
	const char *const one = text(flag, 41);
	const char *const other = text(flag, 42);

	order.source = tkb_text(text("%s%s", calling_ir, one));
	write_text("library.ll", text("%s%s", library_ir, other));
	set_field(&order, 0, TKB_FIELD_LIBDEVICE,
	          text("%s/library.ll", test_folder()));
	struct stage_made made = stage(&order);

	CHECK_INT(made.rc, 0);
	CHECK_CONTAINS(made.log, "LLVM: warning: linking module flags");
}

TEST(stage_ir, that_is_cut_or_flipped_never_ends_the_test)
{
	enum {
		COUNT = 60
	};
	struct stage_request orders[COUNT];
	struct stage_made made[COUNT];
	size_t failed = 0;

	for (size_t i = 0; i < COUNT; i++) {
		const size_t size = sizeof(kernel_ir) - 1;
		char *damaged = test_bytes(tkb_text(kernel_ir));

		damaged[i * 7 % size] ^= 1;
		orders[i] = order_of(damaged);
		if (i % 2 == 0)
			orders[i].source.size = i * 8 % size;
	}
	stage_all(orders, COUNT, made);

	for (size_t i = 0; i < COUNT; i++) {
		CHECK(made[i].rc <= 0);
		CHECK(made[i].rc == 0 || made[i].err.message[0] != '\0');
		failed += made[i].rc < 0;
	}
	CHECK(failed > COUNT / 2);
}

TEST(stage_ir, without_llvm_is_refused_in_one_sentence)
{
	const struct stage_request order = {
		.input = TKB_INPUT_LLIR,
		.source = tkb_text(second_ir),
		.product = TKB_PRODUCT_PTX,
		.ptxas = fake_ptxas("exit 1"),
	};
	const struct stage_made made = stage(&order);

	if (made.rc == 0)
		skip();
	CHECK_STAGE_FAILED(made, TKB_ERR_UNSUPPORTED,
	                   "this tkbundle-compile was built without LLVM, "
	                   "and cannot compile LLVM IR");
}
