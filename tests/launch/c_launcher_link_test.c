/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/c_launcher.h>

#include <stdlib.h>

#include "harness.h"

enum {
	HEADERS = 8
};

/* Headers that a test makes. */
static struct tkb_c_header headers[HEADERS];
static size_t header_count;

/* add_kernel's cubin and metadata, without Triton's IR, so that anything of
 * three pointers and one number of 4 bytes is its signature. */
static struct tkb_c_kernel kernel(void)
{
	static const char folder[] =
		"h/.triton/cache/"
		"WEOKX6OIUHLVIPV24SSRIZM2DVO7PJG6G5BIT4W6Y4XW6D6VPJAA";

	if (!exists("h"))
		unpack("triton-3.6.0-h100", "h");
	return CHOSEN(tkb_c_kernel,
	              .metadata = read_file(text("%s/add_kernel.json", folder)),
	              .cubin = read_file(text("%s/add_kernel.cubin", folder)));
}

static void add(const struct tkb_c_kernel *of,
                const struct tkb_c_launcher_options *options)
{
	BUF(buf, TKB_MIB);
	const struct tkb_sink sink = tkb_buf_sink(&buf);
	struct tkb_c_launcher *launcher = NULL;

	OK(tkb_c_launcher_new(of, options, &launcher, ERR));
	OK(tkb_c_launcher_write_header(launcher, &sink, ERR));
	tkb_c_launcher_free(launcher);
	char *copy = test_alloc(buf.size);
	memcpy(copy, buf.data, buf.size);
	headers[header_count] = (struct tkb_c_header){
		.name = text("h%zu", header_count),
		.text = { copy, buf.size },
	};
	header_count++;
}

/* The header of a launcher with this signature. */
static void add_signature(const char *signature)
{
	const struct tkb_c_kernel of = kernel();

	add(&of, &CHOSEN(tkb_c_launcher_options, .signature = signature));
}

static void start(void)
{
	header_count = 0;
}

static struct tkb_c_link *must(void)
{
	struct tkb_c_link *link = NULL;

	OK(tkb_c_link_new(headers, header_count, "all", &link, ERR));
	return link;
}

static void check_fails(const char *part)
{
	struct tkb_c_link *link = NULL;

	FAILS(tkb_c_link_new(headers, header_count, "all", &link, ERR),
	      TKB_ERR_INVALID, part);
	CHECK(link == NULL);
}

static const char *source_of(const struct tkb_c_link *link)
{
	BUF(buf, TKB_MIB);
	const struct tkb_sink sink = tkb_buf_sink(&buf);

	OK(tkb_c_link_write_source(link, &sink, ERR));
	tkb_buf_add_byte(&buf, '\0');
	return text("%s", (const char *)buf.data);
}

TEST(c_launcher_link, asks_for_the_most_first)
{
	start();
	add_signature("*fp32,*fp32,*fp32,i32,64");
	add_signature("*fp32:16,*fp32,*fp32,i32:16,64");
	add_signature("*fp32:16,*fp32,*fp32,i32,64");
	struct tkb_c_link *link = must();
	const char *source = source_of(link);
	const char *first =
		strstr(source, "if (arg0 % 16 == 0 && arg3 % 16 == 0)");
	const char *second = strstr(source, "if (arg0 % 16 == 0)");
	const char *third = strstr(source, "\n\treturn add_kernel_");
	CHECK(first != NULL && second != NULL && third != NULL);
	CHECK(first < second && second < third);
	CHECK_INT(tkb_c_link_kernel_count(link), 1);
	CHECK_STR(tkb_c_link_kernel(link, 0), "add_kernel");
	CHECK_INT(tkb_c_link_algo_count(link, 0), 1);
	tkb_c_link_free(link);
	tkb_c_link_free(NULL);
}

TEST(c_launcher_link, takes_the_names_that_are_known_best)
{
	struct tkb_c_kernel of = kernel();

	of.ttir = read_file("h/.triton/cache/"
	                    "WEOKX6OIUHLVIPV24SSRIZM2DVO7PJG6G5BIT4W6Y4XW6D6VPJ"
	                    "AA/add_kernel.ttir");
	start();
	add_signature("*fp32,*fp32,*fp32,i32,64");
	add(&of, &CHOSEN(tkb_c_launcher_options,
	                 .signature = "*fp32:16,*fp32:16,*fp32:16,i32,128"));
	add_signature("*fp32,*fp32,*fp32,i32,32");
	struct tkb_c_link *link = must();
	CHECK_CONTAINS(source_of(link),
	               "CUresult add_kernel_64_warps4xstages3(CUstream stream, "
	               "unsigned int gX, unsigned int gY, unsigned int gZ, "
	               "CUdeviceptr x_ptr, CUdeviceptr y_ptr, ");
	tkb_c_link_free(link);
}

TEST(c_launcher_link, takes_arguments_called_as_what_cuda_has)
{
	struct tkb_c_kernel of = kernel();

	of.ttir = read_file("h/.triton/cache/"
	                    "WEOKX6OIUHLVIPV24SSRIZM2DVO7PJG6G5BIT4W6Y4XW6D6VPJ"
	                    "AA/add_kernel.ttir");
	char *ttir = test_alloc(of.ttir.size + 1);
	memcpy(ttir, of.ttir.data, of.ttir.size);
	ttir[of.ttir.size] = '\0';
	for (char *at = strstr(ttir, "x_ptr"); at != NULL;
	     at = strstr(at, "x_ptr"))
		memcpy(at, "cu_px", strlen("cu_px"));
	of.ttir.data = ttir;
	start();
	add(&of, &CHOSEN(tkb_c_launcher_options,
	                 .signature = "*fp32:16,*fp32:16,*fp32:16,i32,128"));
	struct tkb_c_link *link = must();
	CHECK_CONTAINS(source_of(link), "CUdeviceptr cu_px_, CUdeviceptr ");
	tkb_c_link_free(link);
}

TEST(c_launcher_link, keeps_algos_in_the_order_of_the_headers)
{
	start();
	add_signature("*fp32,*fp32,*fp32,i32,64");
	add_signature("*fp32,*fp32,*fp32,i32,-0.5");
	add_signature("*fp32,*fp32,*fp32,i32,100");
	struct tkb_c_link *link = must();
	const char *source = source_of(link);
	CHECK_CONTAINS(source, "case 0:\n\t\treturn "
	                       "add_kernel_64_warps4xstages3(");
	CHECK_CONTAINS(source, "case 1:\n\t\treturn "
	                       "add_kernel_m0p5_warps4xstages3(");
	CHECK_CONTAINS(source, "case 2:\n\t\treturn "
	                       "add_kernel_100_warps4xstages3(");
	CHECK_CONTAINS(source, "return 3;");
	CHECK_INT(tkb_c_link_algo_count(link, 0), 3);
	tkb_c_link_free(link);
}

TEST(c_launcher_link, takes_several_kernels)
{
	const struct tkb_c_kernel of = kernel();
	const struct tkb_c_launcher_options other = {
		SIZED(other), .signature = "*fp32,*fp32,*fp32,i32,64",
		.name = "another"
	};

	start();
	add_signature("*fp32,*fp32,*fp32,i32,64");
	add(&of, &other);
	add_signature("*fp32,*fp32,*fp32,i32:16,64");
	struct tkb_c_link *link = must();
	CHECK_INT(tkb_c_link_kernel_count(link), 2);
	CHECK_STR(tkb_c_link_kernel(link, 0), "add_kernel");
	CHECK_STR(tkb_c_link_kernel(link, 1), "another");
	CHECK_CONTAINS(source_of(link), "CUresult another_default(");
	tkb_c_link_free(link);
}

TEST(c_launcher_link, refuses_launchers_of_different_arguments)
{
	start();
	add_signature("*fp32,*fp32,*fp32,i32,64");
	add_signature("*fp32,*fp32,*fp32,u32:16,64");
	check_fails("'h1' and 'h0' are both 'add_kernel', but take different "
	            "arguments; '--out-name' gives a kernel another name");

	/* All pointers are one type in C. */
	start();
	add_signature("*fp32,*fp32,*fp32,i32,64");
	add_signature("*fp32,*fp16,*fp32,i32,64");
	check_fails("take different arguments");
	start();
	add_signature("*fp32,*fp32,*fp32,i32,64");
	add_signature("*fp32,**fp32,*fp32,i32,128");
	check_fails("take different arguments");
	start();
	add_signature("*fp32,*fp32,*fp32,i32,64");
	add_signature("*fp32,*fp32,*fp32,i32,i32:1,64");
	check_fails("take different arguments");
}

TEST(c_launcher_link, refuses_two_launchers_for_the_same)
{
	start();
	add_signature("*fp32,*fp32:16,*fp32,i32,64");
	add_signature("*fp32:16,*fp32,*fp32,i32,64");
	add_signature("*fp32,*fp32:16,*fp32,i32,64");
	check_fails("but for the same arguments");

	start();
	add_signature("*fp32,*fp32,*fp32,i32,'a+'");
	add_signature("*fp32,*fp32,*fp32,i32:16,'a!'");
	check_fails("have different constants that one name stands for");
	start();
	add_signature("*fp32,*fp32,*fp32,64,i32");
	add_signature("*fp32,*fp32,*fp32,i32:16,64");
	check_fails("have different constants");
}

TEST(c_launcher_link, refuses_grids_and_memory_that_differ)
{
	struct tkb_c_kernel of = kernel();
	const struct tkb_c_launcher_options grid = {
		SIZED(grid), .signature = "*fp32,*fp32,*fp32,i32:16,64",
		.grid = "1,1,1"
	};
	const struct tkb_c_launcher_options plain = {
		SIZED(plain), .signature = "*fp32,*fp32,*fp32,i32:16,64"
	};

	start();
	add_signature("*fp32,*fp32,*fp32,i32,64");
	add(&of, &grid);
	check_fails("only one has a grid");

	start();
	add_signature("*fp32,*fp32,*fp32,i32,64");
	write_file("m", of.metadata);
	edit_file("m", "\"profile_scratch_size\": 0",
	          "\"profile_scratch_size\": 64");
	of.metadata = read_file("m");
	add(&of, &plain);
	check_fails("only one needs scratch memory");
}

TEST(c_launcher_link, refuses_a_kernel_called_as_something_in_c)
{
	static const char *const names[] = {
		"main",   "printf", "malloc", "read",         "environ",
		"cuInit", "void",   "isnan",  "pthread_join", "write",
	};
	const struct tkb_c_kernel of = kernel();

	EACH(i, names) {
		const struct tkb_c_launcher_options options = {
			SIZED(options), .signature = "*fp32,*fp32,*fp32,i32,64",
			.name = names[i]
		};

		start();
		add(&of, &options);
		check_fails(text("'%s' already has a meaning in C", names[i]));
	}
}

TEST(c_launcher_link, reads_no_header_but_its_own)
{
	static const struct {
		const char *from;
		const char *to;
	} changes[] = {
		{ "// tkb-launcher: 1 ", "// tkb-launcher: 2 " },
		{ "// tkb-arguments: ", "// tkb-argument: " },
		{ "// tkb-arguments: arg0", "// tkb-arguments: " },
		{ "// tkb-arguments: arg0", "// tkb-arguments: arg0 x" },
		{ "// tkb-arguments: arg0", "// tkb-arguments: a;b" },
		{ "// tkb-arguments: arg0", "// tkb-arguments: int" },
		{ ": 1 add_kernel ", ": 1 add;kernel " },
		{ ": 1 add_kernel ", ": 1  " },
		{ " 4 3 free", " 4 0 free" },
		{ " 4 3 free", " 4 x free" },
		{ " 4 3 free", " 4 1000 free" },
		{ " 4 3 free", " 8 3 free" },
		{ " free none ", " free some " },
		{ " none *fp32,", " none *fp33," },
		{ " none *fp32,", " none *fp16," },
		{ "_0123 4 3", "_0124 4 3" },
	};

	EACH(i, changes) {
		start();
		add_signature("*fp32,*fp32,*fp32,i32,64");
		write_file("changed", headers[0].text);
		edit_file("changed", changes[i].from, changes[i].to);
		headers[0].text = read_file("changed");
		check_fails("'h0' is not a header written by "
		            "'tkbundle launcher'");
	}
	start();
	headers[0] = (struct tkb_c_header){ .name = "h0" };
	header_count = 1;
	check_fails("'h0' is not a header");
	header_count = 0;
	check_fails("there is no header");
}

TEST(c_launcher_link, refuses_a_header_cut_anywhere)
{
	start();
	add_signature("*fp32,*fp32,*fp32,i32,64");
	size_t whole = headers[0].text.size;
	size_t needed = (size_t)(strstr(headers[0].text.data, "arg2 arg3\n") +
	                         10 - (const char *)headers[0].text.data);
	for (size_t i = 0; i < whole; i++) {
		struct tkb_c_link *link = NULL;

		headers[0].text.size = i;
		int rc = tkb_c_link_new(headers, 1, "all", &link, ERR);
		CHECK_INT(rc, i < needed ? TKB_ERR_INVALID : 0);
		tkb_c_link_free(link);
	}
}
