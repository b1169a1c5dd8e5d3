/* SPDX-License-Identifier: Apache-2.0 */
#include "stage_fixture.h"

#include <stdlib.h>

/* NVRTC of this machine, and a ptxas that is not run. */
static struct stage_request order_of(const char *source)
{
	static bool is_there; /* once it is, no need to ask again */
	struct stage_request order = { .input = TKB_INPUT_NONE,
		                       .product = TKB_PRODUCT_PTX,
		                       .with_tools = true };

	order.ptxas = fake_ptxas("exit 1");
	if (!is_there)
		is_there = stage(&order).nvrtc != NULL;
	if (!is_there)
		skip();
	order.input = TKB_INPUT_CUDA;
	order.source = tkb_text(source);
	return order;
}

TEST(stage_cuda, becomes_ptx_and_a_cubin)
{
	struct stage_request order =
		order_of("extern \"C\" __global__ void k(float *p)\n"
	                 "{\n"
	                 "	p[threadIdx.x] *= 2;\n"
	                 "}\n");

	struct stage_made made = stage(&order);
	CHECK_STR(made.err.message, "");
	CHECK_INT(made.cubin.size, 0);

	/* It is of the same release, so it takes the PTX. */
	order.product = TKB_PRODUCT_CUBIN;
	set_field(&order, 0, TKB_FIELD_WITH_NVJITLINK, "1");
	made = stage(&order);
	if (made.rc == TKB_ERR_UNSUPPORTED)
		skip();
	CHECK_STR(made.err.message, "");
	CHECK_STR(made.kernel, "k");
	CHECK_CONTAINS(made.ptx.data, ".visible .entry k(");
	CHECK_CONTAINS(made.ptx.data, ".target sm_90a");
	CHECK(made.cubin.size > 0);
	CHECK_INT(count_parts(made.nvrtc, "."), 2);
	CHECK_CONTAINS(made.tools, text("NVRTC %s (/", made.nvrtc));
}

/* A loader without a cache hides what this machine has besides. */
static void compile_in_a_bare_system(struct stage_request *order)
{
	order->worker = worker_without_cache();
	struct stage_made made = stage(order);
	CHECK_CONTAINS(ptx_of(&made), ".visible .entry k(");
}

TEST(stage_cuda, needs_nothing_of_the_loader_but_the_toolkits_folder)
{
	struct stage_request order =
		order_of("extern \"C\" __global__ void k() {}\n");

	if (getenv("TKB_TEST_CUDA") == NULL)
		skip();
	compile_in_a_bare_system(&order);
}

TEST(stage_cuda, finds_nvrtcs_parts_where_a_link_leads)
{
	struct stage_request order =
		order_of("extern \"C\" __global__ void k() {}\n");
	const char *const toolkit = getenv("TKB_TEST_CUDA");

	if (toolkit == NULL)
		skip();
	const char *library = text("%s/lib/libnvrtc.so.13", toolkit);
	if (!exists(library))
		skip();
	make_folders("cuda/lib");
	CHECK_INT(run("/bin/ln", "-s", library, "cuda/lib", NULL).status, 0);
	order.variables[0] = text("CUDA_HOME=%s/cuda", test_folder());
	compile_in_a_bare_system(&order);
}

TEST(stage_cuda, that_is_wrong_is_answered_in_nvrtcs_words)
{
	struct stage_request order =
		order_of("#warning careful\n"
	                 "extern \"C\" __global__ void k(float *p)\n"
	                 "{\n"
	                 "	q[0] = 1;\n"
	                 "}\n");

	set_field(&order, 0, TKB_FIELD_NAME, "somewhere/a.cu");
	struct stage_made made = stage(&order);

	CHECK_STAGE_FAILED(made, TKB_ERR_INVALID,
	                   "NVRTC: a.cu(4): error: identifier \"q\" is "
	                   "undefined");
	CHECK_CONTAINS(made.log, "careful");
	CHECK_CONTAINS(made.log, "1 error detected in the compilation of "
	                         "\"a.cu\"");
}

TEST(stage_cuda, warnings_of_nvrtc_are_in_the_log)
{
	const struct stage_request order =
		order_of("extern \"C\" __global__ void k(float *p)\n"
	                 "{\n"
	                 "	int unused;\n"
	                 "}\n");
	const struct stage_made made = stage(&order);

	CHECK_INT(made.rc, 0);
	CHECK_CONTAINS(made.log, "\"unused\"");
}

TEST(stage_cuda, includes_what_lies_beside_it_and_where_the_options_say)
{
	struct stage_request order =
		order_of("#include \"beside.h\"\n"
	                 "#include <elsewhere.h>\n"
	                 "extern \"C\" __global__ void k(float *p)\n"
	                 "{\n"
	                 "	p[0] = BESIDE + ELSEWHERE + GIVEN;\n"
	                 "}\n");

	make_folders("here");
	make_folders("there");
	write_text("here/beside.h", "#define BESIDE 1\n");
	write_text("there/elsewhere.h", "#define ELSEWHERE 2\n");
	CHECK_STAGE_FAILS(&order, TKB_ERR_INVALID, "beside.h");

	set_field(&order, 0, TKB_FIELD_NAME,
	          text("%s/here/a.cu", test_folder()));
	set_field(&order, 1, TKB_FIELD_NVRTC_OPTION,
	          text("-I%s/there", test_folder()));
	set_field(&order, 2, TKB_FIELD_NVRTC_OPTION, "-DGIVEN=4");
	struct stage_made made = stage(&order);
	CHECK_CONTAINS(ptx_of(&made), "1088421888"); /* 7.0f */
}

TEST(stage_cuda, no_path_gets_into_the_ptx)
{
	struct stage_request order =
		order_of("#include \"beside.h\"\n"
	                 "extern \"C\" __global__ void k(float *p)\n"
	                 "{\n"
	                 "	twice(p);\n"
	                 "}\n");

	make_folders("here");
	write_text("here/beside.h", "__device__ inline void twice(float *p)\n"
	                            "{\n"
	                            "	p[0] *= 2;\n"
	                            "}\n");
	set_field(&order, 0, TKB_FIELD_NAME, "here/a.cu");
	struct stage_made made = stage(&order);
	CHECK_CONTAINS(ptx_of(&made), "\t.file\t1 \"a.cu\"\n");
	CHECK_CONTAINS(made.ptx.data, "\t.file\t2 \"beside.h\"\n");
	CHECK_INT(count_parts(made.ptx.data, test_folder()), 0);
	CHECK_INT(count_parts(made.ptx.data, "here"), 0);

	CHECK_INT(run("/bin/mv", "here", "there", NULL).status, 0);
	order.fields[0].text = "there/a.cu";
	struct stage_made other = stage(&order);
	CHECK_STR(ptx_of(&other), made.ptx.data);
}

TEST(stage_cuda, line_numbers_and_fusion_can_be_left_out)
{
	struct stage_request order =
		order_of("extern \"C\" __global__ void k(float *p)\n"
	                 "{\n"
	                 "	p[0] = p[1] * p[2] + p[3];\n"
	                 "}\n");
	struct stage_made made = stage(&order);

	CHECK_CONTAINS(ptx_of(&made), ".loc");
	CHECK_CONTAINS(made.ptx.data, "fma.rn.f32");

	set_field(&order, 0, TKB_FIELD_LINE_INFO_OFF, "1");
	set_field(&order, 1, TKB_FIELD_FUSION_OFF, "1");
	made = stage(&order);
	CHECK_INT(count_parts(ptx_of(&made), ".loc"), 0);
	CHECK_INT(count_parts(made.ptx.data, "fma.rn.f32"), 0);
}

TEST(stage_cuda, a_kernel_is_named_as_in_cpp_or_as_in_the_ptx)
{
	struct stage_request order =
		order_of("namespace ns {\n"
	                 "template <class T> __global__ void scale(T *p)\n"
	                 "{\n"
	                 "	p[0] *= 2;\n"
	                 "}\n"
	                 "}\n"
	                 "__global__ void plain(float *p)\n"
	                 "{\n"
	                 "	p[0] = 1;\n"
	                 "}\n"
	                 "extern \"C\" __global__ void c(float *p)\n"
	                 "{\n"
	                 "	p[0] = 2;\n"
	                 "}\n");

	set_field(&order, 0, TKB_FIELD_KERNEL, "ns::scale<float>");
	struct stage_made made = stage(&order);
	CHECK_STR(made.err.message, "");
	CHECK_STR(made.kernel, "_ZN2ns5scaleIfEEvPT_");

	order.fields[0].text = "plain";
	CHECK_STR(stage(&order).kernel, "_Z5plainPf");
	order.fields[0].text = "_Z5plainPf";
	CHECK_STR(stage(&order).kernel, "_Z5plainPf");
	order.fields[0].text = "c";
	CHECK_STR(stage(&order).kernel, "c");

	order.fields[0].text = "d";
	made = stage(&order);
	CHECK_STAGE_FAILED(made, TKB_ERR_INVALID,
	                   "the PTX has no kernel 'd', but _Z5plainPf, c");
	CHECK_STR(made.log, "");
}

TEST(stage_cuda, of_several_kernels_one_must_be_named)
{
	const struct stage_request order =
		order_of("extern \"C\" __global__ void a() {}\n"
	                 "extern \"C\" __global__ void b() {}\n");
	const struct stage_made made = stage(&order);

	CHECK_STAGE_FAILED(made, TKB_ERR_INVALID,
	                   "the PTX has several kernels: name one of a, b");
}

TEST(stage_cuda, an_option_that_nvrtc_does_not_know_is_named)
{
	struct stage_request order =
		order_of("extern \"C\" __global__ void k() {}\n");

	set_field(&order, 0, TKB_FIELD_NVRTC_OPTION, "--frobnicate");
	CHECK_STAGE_FAILS(&order, TKB_ERR_INVALID, "frobnicate");
}

TEST(stage_cuda, with_a_nul_in_it_is_refused)
{
	struct stage_request order = order_of("");

	order.source = (struct tkb_bytes){ "a\0b", 3 };
	CHECK_STAGE_FAILED(stage(&order), TKB_ERR_INVALID,
	                   "the source has a NUL in it");
}

TEST(stage_cuda, without_nvrtc_is_refused_in_one_sentence)
{
	struct stage_request order = {
		.input = TKB_INPUT_CUDA,
		.product = TKB_PRODUCT_PTX,
		.source = tkb_text("extern \"C\" __global__ void k() {}"),
		.ptxas = fake_ptxas("exit 1"),
	};
	const struct stage_made made = stage(&order);

	if (made.rc == 0)
		skip();
	CHECK_STAGE_FAILED(made, TKB_ERR_UNSUPPORTED,
	                   "there is no NVRTC of CUDA 12 or 13, not even "
	                   "in '/nonexistent'");
}

TEST(stage_cuda, is_not_asked_for_where_it_takes_no_part)
{
	struct stage_request order = order_of("");

	order.input = TKB_INPUT_NONE;
	set_field(&order, 0, TKB_FIELD_WITHOUT_NVRTC, "1");
	struct stage_made made = stage(&order);
	CHECK_INT(made.rc, 0);
	CHECK(made.nvrtc == NULL);
	CHECK_INT(count_parts(made.tools, "NVRTC"), 0);
}
