/* SPDX-License-Identifier: Apache-2.0 */
#include "c_launcher_fixture.h"

#define PLAIN "*fp32,*fp32,*fp32,i32,64"

/* Headers that a test makes. */
static struct tkb_c_header headers[8];
static size_t header_count;

static void start(void)
{
	header_count = 0;
}

static void add(const struct tkb_c_kernel *of,
                const struct tkb_c_launcher_options *options)
{
	CHECK(header_count < TKB_COUNT_OF(headers));
	headers[header_count] = (struct tkb_c_header){
		.name = text("h%zu", header_count),
		.text = tkb_text(header_of(must(of, options))),
	};
	header_count++;
}

/* The headers of launchers with these signatures. */
static void add_signatures(const char *all)
{
	const struct tkb_c_kernel of = bare_kernel();

	for (const char **each = words(all); *each != NULL; each++)
		add(&of, SIGNED(*each));
}

static void free_link(void *self)
{
	tkb_c_link_free(self);
}

static struct tkb_c_link *must_link(void)
{
	struct tkb_c_link *link = NULL;

	OK(tkb_c_link_new(headers, header_count, "all", &link, ERR));
	at_end(free_link, link);
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
	return test_bytes(tkb_buf_bytes(&buf));
}

TEST(c_launcher_link, asks_for_the_most_first)
{
	start();
	add_signatures(PLAIN "|*fp32:16,*fp32,*fp32,i32:16,64"
	                     "|*fp32:16,*fp32,*fp32,i32,64");
	struct tkb_c_link *link = must_link();
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
	tkb_c_link_free(NULL);
}

TEST(c_launcher_link, takes_the_names_that_are_known_best)
{
	const struct tkb_c_kernel of = whole_kernel();

	start();
	add_signatures(PLAIN);
	add(&of, SIGNED("*fp32:16,*fp32:16,*fp32:16,i32,128"));
	add_signatures("*fp32,*fp32,*fp32,i32,32");
	CHECK_CONTAINS(source_of(must_link()),
	               "CUresult add_kernel_64_warps4xstages3(CUstream stream, "
	               "unsigned int gX, unsigned int gY, unsigned int gZ, "
	               "CUdeviceptr x_ptr, CUdeviceptr y_ptr, ");
}

TEST(c_launcher_link, takes_arguments_called_as_what_cuda_has)
{
	struct tkb_c_kernel of = whole_kernel();
	char *const ttir = test_bytes(of.ttir);

	for (char *at = strstr(ttir, "x_ptr"); at != NULL;
	     at = strstr(at, "x_ptr"))
		memcpy(at, "cu_px", strlen("cu_px"));
	of.ttir.data = ttir;
	start();
	add(&of, SIGNED("*fp32:16,*fp32:16,*fp32:16,i32,128"));
	CHECK_CONTAINS(source_of(must_link()),
	               "CUdeviceptr cu_px_, CUdeviceptr ");
}

TEST(c_launcher_link, keeps_algos_in_the_order_of_the_headers)
{
	start();
	add_signatures(PLAIN "|*fp32,*fp32,*fp32,i32,-0.5"
	                     "|*fp32,*fp32,*fp32,i32,100");
	struct tkb_c_link *link = must_link();
	const char *source = source_of(link);
	CHECK_CONTAINS(source, "case 0:\n\t\treturn "
	                       "add_kernel_64_warps4xstages3(");
	CHECK_CONTAINS(source, "case 1:\n\t\treturn "
	                       "add_kernel_m0p5_warps4xstages3(");
	CHECK_CONTAINS(source, "case 2:\n\t\treturn "
	                       "add_kernel_100_warps4xstages3(");
	CHECK_CONTAINS(source, "return 3;");
	CHECK_INT(tkb_c_link_algo_count(link, 0), 3);
}

TEST(c_launcher_link, takes_several_kernels)
{
	const struct tkb_c_kernel of = bare_kernel();

	start();
	add_signatures(PLAIN);
	add(&of, SIGNED(PLAIN, .name = "another"));
	add_signatures("*fp32,*fp32,*fp32,i32:16,64");
	struct tkb_c_link *link = must_link();
	CHECK_INT(tkb_c_link_kernel_count(link), 2);
	CHECK_STR(tkb_c_link_kernel(link, 0), "add_kernel");
	CHECK_STR(tkb_c_link_kernel(link, 1), "another");
	CHECK_CONTAINS(source_of(link), "CUresult another_default(");
}

TEST(c_launcher_link, refuses_launchers_that_are_not_told_apart)
{
	static const struct {
		const char *signatures;
		const char *says;
	} cases[] = {
		{ PLAIN "|*fp32,*fp32,*fp32,u32:16,64",
		  "'h1' and 'h0' are both 'add_kernel', but take different "
		  "arguments; '--out-name' gives a kernel another name" },
		/* All pointers are one type in C. */
		{ PLAIN "|*fp32,*fp16,*fp32,i32,64",
		  "take different arguments" },
		{ PLAIN "|*fp32,**fp32,*fp32,i32,128",
		  "take different arguments" },
		{ PLAIN "|*fp32,*fp32,*fp32,i32,i32:1,64",
		  "take different arguments" },
		{ "*fp32,*fp32:16,*fp32,i32,64|*fp32:16,*fp32,*fp32,i32,64|"
		  "*fp32,*fp32:16,*fp32,i32,64",
		  "but for the same arguments" },
		{ "*fp32,*fp32,*fp32,i32,'a+'|*fp32,*fp32,*fp32,i32:16,'a!'",
		  "have different constants that one name stands for" },
		{ "*fp32,*fp32,*fp32,64,i32|*fp32,*fp32,*fp32,i32:16,64",
		  "have different constants" },
	};

	EACH(i, cases) {
		start();
		add_signatures(cases[i].signatures);
		check_fails(cases[i].says);
	}
}

TEST(c_launcher_link, refuses_grids_and_memory_that_differ)
{
	struct tkb_c_kernel of = bare_kernel();

	start();
	add_signatures(PLAIN);
	add(&of, SIGNED("*fp32,*fp32,*fp32,i32:16,64", .grid = "1,1,1"));
	check_fails("only one has a grid");

	start();
	add_signatures(PLAIN);
	of.metadata = replaced(of.metadata, "\"profile_scratch_size\": 0",
	                       "\"profile_scratch_size\": 64");
	add(&of, SIGNED("*fp32,*fp32,*fp32,i32:16,64"));
	check_fails("only one needs scratch memory");
}

TEST(c_launcher_link, refuses_a_kernel_called_as_something_in_c)
{
	static const char *const names[] = {
		"main",   "printf", "malloc", "read",         "environ",
		"cuInit", "void",   "isnan",  "pthread_join", "write",
	};
	const struct tkb_c_kernel of = bare_kernel();

	EACH(i, names) {
		start();
		add(&of, SIGNED(PLAIN, .name = names[i]));
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
		add_signatures(PLAIN);
		headers[0].text = replaced(headers[0].text, changes[i].from,
		                           changes[i].to);
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
	add_signatures(PLAIN);
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
