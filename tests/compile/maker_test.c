/* SPDX-License-Identifier: Apache-2.0 */

/* What is noted of what made a compiled entry. */

#include "compile_fixture.h"

#include <stdlib.h>

#include <tkbundle/finalize.h>

typedef struct tkb_compiler_options options;

static struct tkb_unit cuda_unit(void)
{
	static const char source[] =
		"#include \"own.h\"\n"
		"extern \"C\" __global__ void one(float *x) { *x = ONE; }\n";

	return unit_from("one.cu", TKB_SOURCE_KIND_CUDA, tkb_text(source));
}

/* What makes `unit`, where the tools are of version 1. */
static const char *maker_with(const options *chosen,
                              const struct tkb_unit *unit)
{
	static const struct versions tools = { "1.1", "1.2", "1.3", "1.4",
		                               "1.5" };
	options with_root = *chosen;

	with_root.cache_root = "root";
	COMPILER(compiler) = open_answering(&with_root, &tools);
	const char *const maker = compile(compiler, unit).maker;

	CHECK_INT(run("rm", "-r", "root", NULL).status, 0);
	return maker;
}

TEST(maker, names_what_decides)
{
	const char *const ptxas[] = { "-O1", "--maxrregcount=32", NULL };
	const struct tkb_finalize_options fast = { SIZED(fast), .is_fast = true,
		                                   .quant = TKB_QUANT_STATIC };
	const struct tkb_unit ir = unit_of("add", TKB_SOURCE_KIND_LLIR);
	const struct tkb_unit ptx = unit_of("add", TKB_SOURCE_KIND_PTX);

	CHECK_STR(maker_with(&OPTIONS(.worker = NULL), &ptx),
	          "input=PTX; options=none; ptxas=1.3; worker=1.5");
	CHECK_STR(maker_with(&OPTIONS(.ptxas_options = ptxas,
	                              .is_fusion_off = true,
	                              .is_line_info_off = true),
	                     &ptx),
	          "input=PTX; options=--ptxas-option -O1 --ptxas-option "
	          "--maxrregcount=32 without line numbers without fusing "
	          "multiply and add; ptxas=1.3; worker=1.5");
	CHECK_STR(maker_with(&OPTIONS(.cubin_with = TKB_CUBIN_TOOL_NVJITLINK,
	                              .is_optimized = true, .finalize = &fast),
	                     &ir),
	          "input=LLVM IR; llvm=1.1; nvjitlink=1.4; "
	          "options=--optimize --finalize --fast --quant static; "
	          "worker=1.5");
}

TEST(maker, has_no_secret_and_no_path)
{
	const char *const plain[] = { "-DONE=1", "-DMY_API_KEY=hush", NULL };
	const char *const placed[] = { "-DONE=1", "-DMY_API_KEY=hush",
		                       "-Isome/place", NULL };
	const char *const hostile[] = { "-DONE=\033[2J; ptxas=2", NULL };
	const struct tkb_unit unit = cuda_unit();
	const char *const maker =
		maker_with(&OPTIONS(.nvrtc_options = plain), &unit);
	const char *const elsewhere =
		maker_with(&OPTIONS(.nvrtc_options = placed), &unit);
	const char *const shown =
		maker_with(&OPTIONS(.nvrtc_options = hostile), &unit);

	CHECK_CONTAINS(maker, "input=CUDA C; nvrtc=1.2; options=-DONE=1 "
	                      "-DMY_API_KEY=");
	CHECK_CONTAINS(maker, "; places=");
	CHECK(strstr(maker, "hush") == NULL);
	CHECK(strstr(elsewhere, "some") == NULL);
	CHECK(strcmp(maker, elsewhere) != 0);
	CHECK(strchr(shown, '\033') == NULL);
	CHECK(strstr(shown, "ptxas=2") == NULL);
	CHECK_CONTAINS(shown, "options=");
}

TEST(maker, is_short)
{
	const char *const ptxas[] = { text("%04999d", 0), NULL };
	const struct tkb_unit unit = unit_of("add", TKB_SOURCE_KIND_PTX);

	const char *const maker =
		maker_with(&OPTIONS(.ptxas_options = ptxas), &unit);

	CHECK_INT(strlen(maker), strlen("input=PTX; options=; ptxas=1.3; "
	                                "worker=1.5") +
	                                 16);
}

TEST(maker, tells_headers_apart)
{
	const struct tkb_unit unit = cuda_unit();

	write_text("own.h", "#define ONE 1\n");
	const char *const one = maker_with(&OPTIONS(.worker = NULL), &unit);
	write_text("own.h", "#define ONE 2\n");
	CHECK(strcmp(maker_with(&OPTIONS(.worker = NULL), &unit), one) != 0);
	write_text("own.h", "#define ONE 1\n");
	CHECK_STR(maker_with(&OPTIONS(.worker = NULL), &unit), one);
}
