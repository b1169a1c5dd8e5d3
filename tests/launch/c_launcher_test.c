/* SPDX-License-Identifier: Apache-2.0 */
#include "c_launcher_fixture.h"

#define SIGNATURE "*fp32:16, *fp32:16, *fp32:16, i32, 256"

/* It must fail so, and say `part`. */
static void check_fails(const struct tkb_c_kernel *kernel,
                        const struct tkb_c_launcher_options *options,
                        int status, const char *part)
{
	struct tkb_c_launcher *launcher = NULL;

	FAILS(tkb_c_launcher_new(kernel, options, &launcher, ERR), status,
	      part);
	CHECK(launcher == NULL);
}

static void check_refused(const struct tkb_c_kernel *kernel,
                          const char *signature, const char *part)
{
	check_fails(kernel, SIGNED(signature), TKB_ERR_INVALID, part);
}

static const char *source_of(const struct tkb_c_launcher *launcher)
{
	BUF(buf, TKB_MIB);
	const struct tkb_sink sink = tkb_buf_sink(&buf);

	OK(tkb_c_launcher_write_source(launcher, &sink, ERR));
	return test_bytes(tkb_buf_bytes(&buf));
}

/* The function's name for a signature and the numbers of the metadata. */
static void check_name(const struct tkb_c_kernel *kernel, const char *signature,
                       const char *wanted)
{
	const struct tkb_c_launcher *launcher = must(kernel, SIGNED(signature));

	CHECK_STR(tkb_c_launcher_function(launcher),
	          text("add_kernel_%s", wanted));
	CHECK_STR(tkb_c_launcher_suffix(launcher), wanted);
}

TEST(c_launcher, of_the_designs_example_has_its_name)
{
	struct tkb_c_kernel kernel = bare_kernel();

	kernel.metadata = replaced(kernel.metadata, "\"num_warps\": 4",
	                           "\"num_warps\": 1");
	check_name(&kernel, "*fp32,*fp32,*fp32,i32,64", "9969bdda_0123");
	check_name(&kernel, " *fp32, *fp32 ,*fp32,i32,  64 ", "9969bdda_0123");
}

TEST(c_launcher, has_hints_in_its_name)
{
	const struct tkb_c_kernel kernel = bare_kernel();

	check_name(&kernel, "*fp32:16,*fp32:16,*fp32:16,i32:16,i32:1,1024",
	           "c1b09549_0d1d2d3d4c");
	check_name(&kernel, SIGNATURE, "5bd02c15_0d1d2d3");
}

TEST(c_launcher, does_not_count_a_constant_in_the_middle)
{
	const struct tkb_c_kernel kernel = bare_kernel();

	check_name(&kernel, "*fp32:16,64,*fp32,*fp32:16,i32:16",
	           "9ad527dd_0d12d3d");
}

/* What the files tell of the launch, the signature as a text. */
static const char *facts_of(const struct tkb_c_kernel *kernel)
{
	BUF(buf, TKB_MIB);
	const struct tkb_sink sink = tkb_buf_sink(&buf);
	struct tkb_c_facts facts = { SIZED(facts), .num_ctas = 9 };

	OK(tkb_c_facts_read(kernel, &facts, &sink, ERR));
	return text("%u %u %u %u: %s", facts.num_warps, facts.num_stages,
	            facts.num_ctas, facts.shared,
	            test_bytes(tkb_buf_bytes(&buf)));
}

TEST(c_launcher, tells_what_is_known_of_a_launch)
{
	static const struct {
		const char *list;
		const char *told;
	} cases[] = {
		{ "", "4 3 1 0: " },
		{ "%a: i32", "4 3 1 0: i32" },
		{ "%a: !tt.ptr<!tt.ptr<f16>>, %b: !tt.ptr<bf16, 1> "
		  "{tt.divisibility = 16 : i32} loc(\"k.py\":1:0)",
		  "4 3 1 0: **fp16, *bf16:16" },
		{ "%d: !tt.tensordesc<tensor<8x8xf16>>, %n: i64",
		  "4 3 1 0: !tt.tensordesc<tensor<8x8xf16>>, i64" },
		{ "%p: !tt.ptr<vector<2xf32>>",
		  "4 3 1 0: !tt.ptr<vector<2xf32>>" },
		{ "%a: i32, b", "4 3 1 0: " },
		{ "%a: i32, ", "4 3 1 0: " },
	};
	struct tkb_c_kernel kernel = bare_kernel();
	struct tkb_c_facts facts = { SIZED(facts) };

	EACH(i, cases) {
		kernel.ttir = tkb_text(text("tt.func public @add_kernel(%s) {",
		                            cases[i].list));
		CHECK_STR(facts_of(&kernel), cases[i].told);
	}
	kernel.ttir = tkb_text("tt.func public @add_kernel(%a: i32, ");
	CHECK_STR(facts_of(&kernel), "4 3 1 0: ");
	kernel.ttir = tkb_text("tt.func public @other(%a: i32)");
	CHECK_STR(facts_of(&kernel), "4 3 1 0: ");

	/* Also of what C cannot start. */
	kernel.metadata = replaced(kernel.metadata, "\"cuda\"", "\"hip\"");
	CHECK_STR(facts_of(&kernel), "4 3 1 0: ");
	kernel.metadata = tkb_text("{\"name\": \"add_kernel\"}");
	CHECK_STR(facts_of(&kernel), "0 0 0 0: ");
	kernel.metadata = tkb_text("[]");
	FAILS(tkb_c_facts_read(&kernel, &facts, NULL, ERR), TKB_ERR_CORRUPT,
	      "the metadata");
}

TEST(c_launcher, takes_constants_as_python_writes_them)
{
	static const char *const constants[] = {
		"0",    "-3",    "+7",         "1_024",    "0.5",  "-1.5e-7",
		".5",   "1.",    "1e3",        "inf",      "-nan", "True",
		"None", "False", "tl.float16", "\"a, b\"", "'x'",
	};
	const struct tkb_c_kernel kernel = bare_kernel();

	EACH(i, constants) {
		const struct tkb_c_launcher *launcher = must(
			&kernel,
			SIGNED(text("*fp32,%s,*fp32,*fp32,i32", constants[i])));

		CHECK_CONTAINS(tkb_c_launcher_suffix(launcher), "_0123");
		CHECK_CONTAINS(header_of(launcher),
		               text("none *fp32, %s, *fp32", constants[i]));
	}
}

TEST(c_launcher, refuses_what_is_no_signature)
{
	static const struct {
		const char *signature;
		const char *says;
	} cases[] = {
		{ "", "the signature is empty" },
		{ "*fp32,,i32", "item 1 of the signature is empty" },
		{ "*fp32,i32,", "item 2 of the signature is empty" },
		{ "*fp33", "item 0 of the signature is '*fp33'" },
		{ "int", "i8 i16 i32 i64" },
		{ "fp8e5", "item 0 of the signature is 'fp8e5'" },
		{ "*", "item 0" },
		{ "i32:8", "the hints are ':1' and ':16'" },
		{ "i32:", "the hints are" },
		{ "i32:16:16", "the hints are" },
		{ "fp32:16", "is for integers" },
		{ "*fp32:1", "is for integers" },
		{ "i32\n", "not plain ASCII" },
		{ "i32\t", "not plain ASCII" },
		{ "\xc3\xa9", "not plain ASCII" },
		{ "1__0", "item 0" },
		{ "1e", "item 0" },
		{ "-", "item 0" },
		{ ".", "item 0" },
		{ "'a', i32'", "item 1" },
		{ "x.y.", "item 0" },
		{ "x", "item 0" },
	};
	const struct tkb_c_kernel kernel = bare_kernel();

	EACH(i, cases)
		check_refused(&kernel, cases[i].signature, cases[i].says);
}

TEST(c_launcher, refuses_a_signature_of_too_many_items_or_bytes)
{
	static const struct {
		const char *item;
		size_t count;
		const char *says;
	} cases[] = {
		{ "i1,", 4097, "has 4097 items in 12290 bytes" },
		{ "1111111111111111", 1025, "has 1 items in 16399 bytes" },
	};
	const struct tkb_c_kernel kernel = bare_kernel();

	EACH(i, cases) {
		const size_t length = strlen(cases[i].item);
		const size_t size = cases[i].count * length - 1;
		char *signature = test_alloc(size + 1);

		for (size_t at = 0; at < size; at++)
			signature[at] = cases[i].item[at % length];
		signature[size] = '\0';
		check_fails(&kernel, SIGNED(signature), TKB_ERR_TOO_LARGE,
		            cases[i].says);
	}
}

TEST(c_launcher, refuses_tensor_descriptors_by_name)
{
	const struct tkb_c_kernel kernel = bare_kernel();
	struct tkb_c_kernel described = kernel;

	check_fails(&kernel, SIGNED("tensordesc<fp16[64,64]>"),
	            TKB_ERR_UNSUPPORTED,
	            "tensor descriptors cannot be passed from C");
	described.metadata =
		replaced(kernel.metadata, "\"tensordesc_meta\": []",
	                 "\"tensordesc_meta\": [{}]");
	check_fails(&described, SIGNED(SIGNATURE), TKB_ERR_UNSUPPORTED,
	            "('tensordesc_meta')");
}

TEST(c_launcher, holds_the_signature_against_the_kernel)
{
	static const struct {
		const char *signature;
		const char *says;
	} cases[] = {
		{ "*fp32,*fp32,*fp32,256",
		  "the signature passes 3 arguments; the kernel takes 4" },
		{ "*fp32,*fp32,*fp32,i32,i32,256",
		  "the signature passes 5 arguments; the kernel takes 4" },
		{ "*fp32,*fp32,*fp32,i64,256",
		  "'arg3' is 'i64' in the signature, of 8 bytes; the kernel's "
		  "parameter has 4" },
		{ "*fp32,*fp32,i64,i32,256",
		  "'arg2' is 'i64' in the signature; the kernel's parameter is "
		  "a pointer" },
		{ "*fp32,64,*fp32,fp64,i32",
		  "'arg3' is 'fp64' in the signature; the kernel's parameter "
		  "is a pointer" },
	};
	const struct tkb_c_kernel kernel = bare_kernel();
	struct tkb_c_kernel typed = kernel;
	const char *const floating = "*fp32,*fp32,*fp32,fp32,256";
	const char *const whole = "*fp32,*fp32,*fp32,u32,256";

	EACH(i, cases)
		check_refused(&kernel, cases[i].signature, cases[i].says);

	/* Only PTX tells numbers apart. */
	(void)must(&kernel, SIGNED(floating));
	typed.ptx = whole_kernel().ptx;
	check_refused(&typed, floating, "the kernel's parameter is an integer");
	typed.ptx = replaced(typed.ptx, ".param .u32 add_kernel_param_3",
	                     ".param .f32 add_kernel_param_3");
	(void)must(&typed, SIGNED(floating));
	check_refused(&typed, whole,
	              "the kernel's parameter is a floating-point number");
	typed.ptx = replaced(typed.ptx, ".param .f32 add_kernel_param_3",
	                     ".param .b32 add_kernel_param_3");
	(void)must(&typed, SIGNED(floating));
	(void)must(&typed, SIGNED(whole));
}

/* As of a kernel of CUDA C, whose metadata tkbundle wrote. */
TEST(c_launcher, finds_out_which_parameters_are_for_memory_of_its_own)
{
	static const struct {
		const char *signature;
		bool has_global;
		bool has_profile;
	} cases[] = {
		{ "*fp32,*fp32,*fp32,i32,256", true, true },
		{ "*fp32,*fp32,*fp32,i32,*fp32", true, false },
		{ "*fp32,*fp32,*fp32,i32,*fp32,*i8", false, false },
	};
	struct tkb_c_kernel kernel = bare_kernel();

	kernel.metadata = replaced(kernel.metadata, "\"triton_version\"",
	                           "\"another_version\"");
	EACH(i, cases) {
		const char *source =
			source_of(must(&kernel, SIGNED(cases[i].signature)));

		CHECK_INT(strstr(source, "&tkb_global") != NULL,
		          cases[i].has_global);
		CHECK_INT(strstr(source, "&tkb_profile") != NULL,
		          cases[i].has_profile);
	}
	check_refused(&kernel, "*fp32,*fp32,*fp32,i32,*fp32,*i8,i32",
	              "the signature passes 7 arguments");
	check_refused(&kernel, "*fp32,*fp32,*fp32",
	              "the signature passes 3 arguments; the kernel takes 4");
	/* Then the last parameter counts as others do. */
	kernel.ptx = replaced(whole_kernel().ptx,
	                      ".param .u64 .ptr .global .align 1 "
	                      "add_kernel_param_5",
	                      ".param .f64 add_kernel_param_5");
	check_refused(
		&kernel, cases[2].signature,
		"'arg5' is '*i8' in the signature; the kernel's parameter "
		"is");
	kernel.ptx.size = 0;
	/* What is needed is there. */
	kernel.metadata =
		replaced(kernel.metadata, "\"global_scratch_size\": 0",
	                 "\"global_scratch_size\": 8");
	check_refused(&kernel, cases[2].signature,
	              "the signature passes 6 arguments; the kernel takes 5");
	/* Triton's own metadata leaves nothing open. */
	kernel = bare_kernel();
	check_refused(&kernel, cases[2].signature,
	              "the signature passes 6 arguments; the kernel takes 4");
}

TEST(c_launcher, holds_the_signature_against_tritons_ir)
{
	static const struct {
		const char *signature;
		const char *says;
	} cases[] = {
		{ "*fp32:16,*fp16:16,*fp32:16,i32,256",
		  "'y_ptr' is '*fp16:16' in the signature; in the kernel it is "
		  "'!tt.ptr<f32>'" },
		{ "*fp32:16,*fp32:16,*fp32,i32,256",
		  "'o_ptr' is '*fp32' in the signature; the kernel was "
		  "compiled "
		  "for a multiple of 16: write '*fp32:16'" },
		{ "*fp32:16,*fp32:16,*fp32:16,fp32,256",
		  "'n' is 'fp32' in the signature; in the kernel it is 'i32'" },
	};
	const struct tkb_c_kernel kernel = whole_kernel();

	EACH(i, cases)
		check_refused(&kernel, cases[i].signature, cases[i].says);
	/* It may ask for more than the kernel does. */
	(void)must(&kernel, SIGNED("*fp32:16,*fp32:16,*fp32:16,u32:16,256"));
}

TEST(c_launcher, is_told_warps_and_stages_by_the_metadata)
{
	const struct tkb_c_kernel kernel = bare_kernel();
	struct tkb_c_kernel silent = kernel;

	check_fails(&kernel, SIGNED(SIGNATURE, .num_warps = 8), TKB_ERR_INVALID,
	            "the kernel was compiled for 4 warps, not for 8");
	check_fails(&kernel, SIGNED(SIGNATURE, .num_warps = 4, .num_stages = 2),
	            TKB_ERR_INVALID,
	            "the kernel was compiled for 3 stages, not for 2");

	silent.metadata =
		replaced(kernel.metadata, "\"num_stages\": 3", "\"x\": 3");
	check_fails(&silent, SIGNED(SIGNATURE, .num_warps = 4), TKB_ERR_INVALID,
	            "the metadata does not have the number of stages: give "
	            "'--num-stages'");
	check_name(&kernel, SIGNATURE, "5bd02c15_0d1d2d3");
	(void)must(&silent, SIGNED(SIGNATURE, .num_warps = 4, .num_stages = 3));
}

TEST(c_launcher, refuses_metadata_that_cannot_be)
{
	static const struct {
		const char *from;
		const char *to;
		int status;
		const char *says;
	} cases[] = {
		{ "\"num_warps\": 4", "\"num_warps\": 33", TKB_ERR_CORRUPT,
		  "the metadata's 'num_warps'" },
		{ "\"num_warps\": 4", "\"num_warps\": \"4\"", TKB_ERR_CORRUPT,
		  "the metadata's 'num_warps'" },
		{ "\"num_warps\": 4", "\"num_warps\": -4", TKB_ERR_CORRUPT,
		  "the metadata's 'num_warps'" },
		{ "\"num_warps\": 4", "\"num_warps\": true", TKB_ERR_CORRUPT,
		  "the metadata's 'num_warps'" },
		{ "\"global_scratch_align\": 1", "\"global_scratch_align\": -1",
		  TKB_ERR_CORRUPT, "the metadata's 'global_scratch_align'" },
		{ "\"num_ctas\": 1", "\"num_ctas\": 0", TKB_ERR_CORRUPT,
		  "the metadata's 'num_ctas'" },
		{ "\"num_ctas\": 1", "\"num_ctas\": 17", TKB_ERR_CORRUPT,
		  "the metadata's 'num_ctas'" },
		{ "\"num_ctas\": 1",
		  "\"num_ctas\": 4, \"cluster_dims\": [2, 1, 1]",
		  TKB_ERR_CORRUPT,
		  "'num_ctas' is 4, but its 'cluster_dims' are [2, 1, 1]" },
		{ "\"num_ctas\": 1", "\"num_ctas\": 1, \"cluster_dims\": [1]",
		  TKB_ERR_CORRUPT, "the metadata's 'cluster_dims'" },
		{ "\"num_ctas\": 1",
		  "\"num_ctas\": 1, \"cluster_dims\": [1, 1, 1, 1]",
		  TKB_ERR_CORRUPT, "the metadata's 'cluster_dims'" },
		{ "\"shared\": 0", "\"shared\": 99999999", TKB_ERR_CORRUPT,
		  "the metadata's 'shared'" },
		{ "\"launch_pdl\": false", "\"launch_pdl\": []",
		  TKB_ERR_CORRUPT, "the metadata's 'launch_pdl'" },
		{ "\"launch_pdl\": false", "\"clc\": true", TKB_ERR_UNSUPPORTED,
		  "('clc')" },
		{ "\"backend\": \"cuda\"", "\"backend\": \"hip\"",
		  TKB_ERR_UNSUPPORTED, "a launcher is for 'cuda'" },
		{ "\"warp_size\": 32}", "\"warp_size\": 64}",
		  TKB_ERR_UNSUPPORTED, "warps of 64 threads" },
		{ "\"name\": \"add_kernel\"", "\"name\": \"\"", TKB_ERR_CORRUPT,
		  "does not name the kernel" },
		{ "\"name\": \"add_kernel\"", "\"name\": \"other\"",
		  TKB_ERR_CORRUPT, "the cubin" },
		{ "\"arch\": 90", "\"arch\": 80", TKB_ERR_CORRUPT, "sm_90" },
		{ "{", "[", TKB_ERR_CORRUPT, "the metadata" },
	};
	const struct tkb_c_kernel kernel = bare_kernel();

	EACH(i, cases) {
		struct tkb_c_kernel changed = kernel;

		changed.metadata =
			replaced(kernel.metadata, cases[i].from, cases[i].to);
		check_fails(&changed, SIGNED(SIGNATURE), cases[i].status,
		            cases[i].says);
	}
}

TEST(c_launcher, refuses_a_cubin_that_is_cut_or_says_nothing)
{
	const struct tkb_c_kernel whole = bare_kernel();
	struct tkb_c_kernel kernel = whole;

	for (size_t i = 0; i < 100; i++) {
		struct tkb_c_launcher *launcher = NULL;

		kernel.cubin.size = whole.cubin.size * i / 100;
		CHECK_INT(tkb_c_launcher_new(&kernel, SIGNED(SIGNATURE),
		                             &launcher, ERR),
		          TKB_ERR_CORRUPT);
	}
	kernel.cubin = replaced(whole.cubin, ".nv.info.add_kernel",
	                        ".nv.infx.add_kernel");
	check_fails(&kernel, SIGNED(SIGNATURE), TKB_ERR_CORRUPT,
	            "the cubin lists no parameters of 'add_kernel'");
}

/* Where the record of parameter `ordinal` begins in the cubin. */
static size_t record_at(struct tkb_bytes cubin, unsigned ordinal)
{
	const unsigned char record[] = {
		4, 0x17, 12, 0, 0, 0, 0, 0, (unsigned char)ordinal, 0
	};
	const char *const found =
		memmem(cubin.data, cubin.size, record, sizeof(record));

	CHECK(found != NULL);
	return (size_t)(found - (const char *)cubin.data);
}

TEST(c_launcher, refuses_a_damaged_table_of_parameters)
{
	static const struct {
		unsigned ordinal;
		size_t at; /* in the record */
		int byte;
		int status;
	} cases[] = {
		{ 3, 2, 13, TKB_ERR_CORRUPT },   /* a record of another size */
		{ 3, 2, 0xff, TKB_ERR_CORRUPT }, /* longer than the table */
		{ 3, 8, 9, TKB_ERR_CORRUPT },    /* a gap before the last */
		{ 3, 8, 2, TKB_ERR_CORRUPT },    /* one twice */
		{ 3, 9, 0xff, TKB_ERR_CORRUPT }, /* too many */
		{ 5, 1, 0x18, TKB_ERR_INVALID }, /* the last is missing */
		{ 3, 14, 0, TKB_ERR_CORRUPT },   /* of no size */
		{ 5, 8, 4, TKB_ERR_CORRUPT },    /* one twice, and no gap */
	};
	const struct tkb_c_kernel whole = bare_kernel();

	EACH(i, cases) {
		struct tkb_c_kernel kernel = whole;
		struct tkb_c_launcher *launcher = NULL;
		unsigned char *const copy = test_alloc(whole.cubin.size);

		memcpy(copy, whole.cubin.data, whole.cubin.size);
		copy[record_at(whole.cubin, cases[i].ordinal) + cases[i].at] =
			(unsigned char)cases[i].byte;
		if (cases[i].at == 14)
			copy[record_at(whole.cubin, 3) + 15] = 0;
		kernel.cubin.data = copy;
		int rc = tkb_c_launcher_new(&kernel, SIGNED(SIGNATURE),
		                            &launcher, ERR);
		CHECK_INT(rc, cases[i].status);
	}
}

TEST(c_launcher, takes_no_grid_but_arithmetic_over_arguments)
{
	static const struct {
		const char *grid;
		const char *says;
	} cases[] = {
		{ "", "the grid's x: something is missing at the end" },
		{ "1,1", "does not have three sizes" },
		{ "1,1,1,1", "does not have three sizes" },
		{ "1,1,", "the grid's z: something is missing at the end" },
		{ "1,,1", "the grid's y: something is missing" },
		{ "m,1,1", "no argument 'm', but x_ptr, y_ptr, " },
		{ "x_ptr,1,1", "the grid's x: not an integer: 'x_ptr'" },
		{ "n(1),1,1", "and parentheses, but no '('" },
		{ "n;1,1,1", "and parentheses, but no ';'" },
		{ "1,1,system(\"x\")", "no argument 'system'" },
		{ "1,n=1,1", "the grid's y: there are + - * / % and" },
		{ "1,n++,1", "something is missing at the end" },
		{ "1,n/*x*/,1", "a name, a number or '(' is expected at '*'" },
		{ "1,n//x,1", "a name, a number or '(' is expected at '/'" },
		{ "1,(n,1", "the grid's y: unmatched '('" },
		{ "1,n),1", "the grid's y: unmatched ')'" },
		{ "1,(),1", "is expected at ')'" },
		{ "1,1 n,1", "but no 'n'" },
		{ "1,n\n,1", "but no '\\x0a'" },
		{ "1,\"n\",1", "is expected at '\"'" },
		{ "1,0x10,1", "but no 'x'" },
		{ "1,1.5,1", "but no '.'" },
		{ "1,n<<1,1", "but no '<'" },
		{ "1,9999999999999999999,1", "too large a number" },
		{ "*n,1,1", "is expected at '*'" },
		{ "tkb_x,1,1", "no argument 'tkb_x'" },
	};
	const struct tkb_c_kernel kernel = whole_kernel();

	EACH(i, cases) {

		check_fails(&kernel, SIGNED(SIGNATURE, .grid = cases[i].grid),
		            TKB_ERR_INVALID, cases[i].says);
	}
}

TEST(c_launcher, limits_the_depth_of_a_grid)
{
	const struct tkb_c_kernel kernel = whole_kernel();
	char *const grid = test_alloc(2048);
	const struct tkb_c_launcher_options *const options =
		SIGNED(SIGNATURE, .grid = grid);

	memset(grid, '(', 100);
	memcpy(grid + 100, "n", 2);
	check_fails(&kernel, options, TKB_ERR_INVALID, "is too deep");
	memset(grid, '+', 1000);
	memcpy(grid + 1000, "n,1,1", 6);
	(void)must(&kernel, options);
	for (size_t i = 0; i < 1000; i++)
		grid[i] = i % 2 == 0 ? 'n' : '+';
	memcpy(grid + 1000, "n,1,1", 6);
	check_fails(&kernel, options, TKB_ERR_INVALID, "is too long");
	memset(grid, ' ', 2000);
	grid[2000] = '\0';
	check_fails(&kernel, options, TKB_ERR_TOO_LARGE,
	            "the grid is longer than");
}

/* The line of the source that computes an axis, after "=". */
static void check_grid(const char *grid, char axis, const char *wanted)
{
	const struct tkb_c_kernel kernel = whole_kernel();
	const struct tkb_c_launcher *launcher =
		must(&kernel, SIGNED(SIGNATURE, .grid = grid));

	CHECK_CONTAINS(source_of(launcher),
	               text("const long long tkb_%c = %s;\n", axis, wanted));
}

TEST(c_launcher, computes_a_grid_by_the_rules_of_c)
{
	check_grid("1 + 2 * n, 1, 1", 'x', "(1LL + (2LL * (long long)n))");
	check_grid("1 * 2 + n, 1, 1", 'x', "((1LL * 2LL) + (long long)n)");
	check_grid("9 - 3 - n, 1, 1", 'x', "((9LL - 3LL) - (long long)n)");
	check_grid("1, (n + 3) / 4 % 5, 1", 'y',
	           "((((long long)n + 3LL) / 4LL) % 5LL)");
	check_grid("1,1,-n * -(2 - n)", 'z',
	           "((-(long long)n) * (-(2LL - (long long)n)))");
	check_grid("010, 1, 1", 'x', "10LL");
	check_grid("00, 1, 1", 'x', "0LL");
	check_grid("n / 0, 1, 1", 'x',
	           "add_kernel_5bd02c15_0d1d2d3_divide((long long)n, 0LL, "
	           "&tkb_bad)");
	check_grid("7 % n, 1, 1", 'x',
	           "add_kernel_5bd02c15_0d1d2d3_divide_rest(7LL, (long long)n, "
	           "&tkb_bad)");
}

/* A 64-bit argument may be anything, and so may a product of three. */
TEST(c_launcher, notices_where_a_grid_is_too_large_for_a_number)
{
	check_grid("n * n, 1, 1", 'x', "((long long)n * (long long)n)");
	check_grid("1, n * n * n, 1", 'y',
	           "add_kernel_5bd02c15_0d1d2d3_times(((long long)n * (long "
	           "long)n), (long long)n, &tkb_bad)");
	check_grid("1, 1, 9 * 999999999999999999 + 999999999999999999", 'z',
	           "add_kernel_5bd02c15_0d1d2d3_plus((9LL * "
	           "999999999999999999LL), 999999999999999999LL, &tkb_bad)");
	check_grid("-(n * n * n), 1, 1", 'x',
	           "add_kernel_5bd02c15_0d1d2d3_minus(0LL, "
	           "add_kernel_5bd02c15_0d1d2d3_times(((long long)n * (long "
	           "long)n), (long long)n, &tkb_bad), &tkb_bad)");
}

/* What is not called is not there: compilers warn of it. */
TEST(c_launcher, has_the_arithmetic_that_its_grid_wants)
{
	static const char *const names[] = { "_plus", "_minus", "_times",
		                             "_divide", "_divide_rest" };
	static const char *const grids[] = { "n*n*n + 9999999999999999",
		                             "-n*n*n", "n*n*n", "n / n",
		                             "n % n" };
	static const unsigned wanted[] = { 5, 4, 4, 8, 16 };
	const struct tkb_c_kernel kernel = whole_kernel();

	EACH(i, grids) {
		const struct tkb_c_launcher *launcher = must(
			&kernel,
			SIGNED(SIGNATURE, .grid = text("%s, 1, 1", grids[i])));
		unsigned there = 0;

		EACH(j, names)
			there |= strstr(source_of(launcher),
			                text("static long long add_kernel_"
			                     "5bd02c15_0d1d2d3%s(",
			                     names[j])) == NULL
			                 ? 0
			                 : 1u << j;
		CHECK_INT(there, wanted[i]);
	}
}

TEST(c_launcher, has_names_of_arguments_that_mean_nothing_in_c)
{
	static const char *const names[][2] = {
		{ "int", "int_" },
		{ "class", "class_" },
		{ "stream", "stream_" },
		{ "CUDA_VERSION", "CUDA_VERSION_" },
		{ "uint8_t", "uint8_t_" },
		{ "tkb_x", "tkb_x_" },
		{ "cuInit", "cuInit_" },
		{ "NULL", "NULL_" },
		{ "_Bool", "_Bool_" },
		{ "a__b", "a__b_" },
		{ "M", "M" },
		{ "x_", "x_" },
		{ "gX", "gX_" },
		{ "linux", "linux_" },
		{ "xor_eq", "xor_eq_" },
		{ "EOF", "EOF_" },
	};
	const struct tkb_c_kernel kernel = whole_kernel();

	EACH(i, names) {
		struct tkb_c_kernel named = kernel;

		named.ttir = replaced(
			kernel.ttir, "(%x_ptr: ", text("(%%%s: ", names[i][0]));
		const struct tkb_c_launcher *launcher =
			must(&named, SIGNED(SIGNATURE));
		CHECK_CONTAINS(header_of(launcher),
		               text("stream, unsigned int gX, unsigned int "
		                    "gY, unsigned int gZ, CUdeviceptr %s, ",
		                    names[i][1]));
	}
}

/* Up to Triton 3.3 the IR counts what is left, and not what was given. */
TEST(c_launcher, names_arguments_by_their_item_where_the_ir_has_numbers)
{
	struct tkb_c_kernel kernel = whole_kernel();

	kernel.ttir = replaced(kernel.ttir, "(%x_ptr: ", "(%arg0: ");
	kernel.ttir = replaced(kernel.ttir, ", %y_ptr: ", ", %arg1: ");
	kernel.ttir = replaced(kernel.ttir, ", %o_ptr: ", ", %arg2: ");
	kernel.ttir = replaced(kernel.ttir, ", %n: ", ", %arg3: ");
	const struct tkb_c_launcher *launcher =
		must(&kernel, SIGNED("*fp32:16,i32:1,*fp32:16,64,*fp32:16,i32",
	                             .grid = "arg5, 1, 1"));
	CHECK_CONTAINS(header_of(launcher),
	               "CUdeviceptr arg0, CUdeviceptr arg2, CUdeviceptr arg4, "
	               "int32_t arg5);");
}

TEST(c_launcher, refuses_two_arguments_of_one_name)
{
	struct tkb_c_kernel kernel = whole_kernel();

	kernel.ttir = replaced(kernel.ttir, "(%x_ptr: ", "(%int: ");
	kernel.ttir = replaced(kernel.ttir, ", %y_ptr: ", ", %int_: ");
	check_fails(&kernel, SIGNED(SIGNATURE), TKB_ERR_INVALID,
	            "two arguments would have the name 'int_' in C");
}

TEST(c_launcher, refuses_names_that_c_does_not_have)
{
	static const char *const names[] = { "a-b", "1a",   "",
		                             "a b", "a*/b", "\xc3\xa9" };
	static const char *const files[] = { "a\"b", "a\\b", "a\nb", "",
		                             "a/b",  "a*",   "a?" };
	const struct tkb_c_kernel kernel = bare_kernel();
	char *const longer = test_alloc(601);

	EACH(i, names) {
		check_fails(&kernel, SIGNED(SIGNATURE, .name = names[i]),
		            TKB_ERR_INVALID,
		            "cannot be the name of a function in C");
	}
	memset(longer, 'a', 600);
	check_fails(&kernel, SIGNED(SIGNATURE, .name = longer), TKB_ERR_INVALID,
	            "is longer than");
	EACH(i, files) {
		check_fails(&kernel,
		            SIGNED(SIGNATURE, .name = "fine",
		                   .file_name = files[i]),
		            TKB_ERR_INVALID, "cannot be included in C");
	}
}

TEST(c_launcher, lets_nothing_out_of_a_comment_or_a_text)
{
	struct tkb_c_kernel kernel = bare_kernel();

	kernel.key = "*/\n#error\n/*/ \\ \?\?/";
	kernel.metadata =
		replaced(kernel.metadata, "\"triton_version\": \"3.6.0\"",
	                 "\"triton_version\": \"*/ int x; /* \\\\\"");
	const struct tkb_c_launcher *launcher = must(
		&kernel, SIGNED("*fp32:16,*fp32:16,*fp32:16,i32,\"*/ /* \"",
	                        .file_name = "a b"));
	const char *header = header_of(launcher);
	const char *source = source_of(launcher);

	CHECK_INT(count_parts(source, "/*"), count_parts(source, "*/"));
	CHECK(strstr(source, "\n#error\n") == NULL);
	CHECK(strstr(header, "\n#error\n") == NULL);
	/* Trigraphs, of which there are some in any cubin. */
	CHECK(strstr(source, "\?\?") == NULL);
	CHECK(strstr(header, "\?\?") == NULL);
	CHECK_CONTAINS(source, "#include \"a b.");
	/* The signature is there as it is only behind two slashes. */
	CHECK_INT(count_parts(header, "\"*/ /* \""), 1);
	CHECK_CONTAINS(header, "\n// tkb-launcher: 1 add_kernel ");
}

/* Behind the end of an ELF file anything may stand. */
TEST(c_launcher, writes_every_byte_so_that_it_is_read_as_that)
{
	static const unsigned char end[] = "\0017\001x\1778\?\?/\\\"@%s\n*/";
	static const char wanted[] =
		"\\0017\\1x\\1778\\77\\77/\\\\\\\"\\100%s\\12*/\";";
	struct tkb_c_kernel kernel = bare_kernel();
	BUF(longer, TKB_MIB);

	tkb_buf_add(&longer, kernel.cubin);
	tkb_buf_add(&longer, (struct tkb_bytes){ end, sizeof(end) - 1 });
	kernel.cubin = tkb_buf_bytes(&longer);
	const struct tkb_c_launcher *launcher =
		must(&kernel, SIGNED(SIGNATURE));

	/* Lines may end anywhere. */
	char *source = (char *)source_of(launcher);
	char *to = source;
	for (const char *from = source; *from != '\0'; from++) {
		if (strncmp(from, "\"\n\"", 3) == 0)
			from += 2;
		else
			*to++ = *from;
	}
	*to = '\0';
	CHECK_CONTAINS(source, wanted);
}

TEST(c_launcher, is_the_same_for_the_same_input)
{
	const struct tkb_c_kernel kernel = whole_kernel();
	const struct tkb_c_launcher *one =
		must(&kernel, SIGNED(SIGNATURE, .grid = "n, 1, 1"));
	const struct tkb_c_launcher *other =
		must(&kernel, SIGNED(SIGNATURE, .grid = "n, 1, 1"));

	CHECK_STR(source_of(one), source_of(other));
	CHECK_STR(header_of(one), header_of(other));
	tkb_c_launcher_free(NULL);
}

static int refuse(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)self;
	(void)bytes;
	(void)err;
	return TKB_ERR_IO;
}

TEST(c_launcher, returns_what_a_sink_returned)
{
	const struct tkb_c_kernel kernel = whole_kernel();
	const struct tkb_sink sink = { .write = refuse };
	const struct tkb_c_launcher *launcher =
		must(&kernel, SIGNED(SIGNATURE));

	CHECK_INT(tkb_c_launcher_write_source(launcher, &sink, NULL),
	          TKB_ERR_IO);
	CHECK_INT(tkb_c_launcher_write_header(launcher, &sink, NULL),
	          TKB_ERR_IO);
}
