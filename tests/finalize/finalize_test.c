/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Each step by itself, on modules that stand in tests/finalize: NAME.ll becomes
 * NAME.after.ll, and NAME_not.ll stays as it is.
 */

#include "finalize_fixture.h"

#include <llvm-c/Analysis.h>

static void check_step(const char *step, const char *name, const char *log)
{
	const char *before = text("%s.ll", name);
	const char *after = log[0] == '\0' ? before : text("%s.after.ll", name);
	LLVMModuleRef module = test_module(ir_file(before));
	LLVMModuleRef wanted = test_module(ir_file(after));
	const char *kernel = "kernel";
	const char *names[32];
	struct finalize_request order = { .is_wanted = true };

	choose_only(step, names, &order);
	if (strcmp(step, "internalize") == 0)
		order.kernels = (struct texts){ &kernel, 1 };

	CHECK_STR(finalize_ok(module, NULL, &order), log);

	CHECK_STR(print_ir(module), print_ir(wanted));
}

/* NAME.ll becomes NAME.after.ll if there is something to be logged. */
static const struct {
	const char *step;
	const char *name;
	const char *what;
	const char *log;
} steps[] = {
	{ "strip", "strip", "removes debug data and profiles",
	  "strip: 3 traces of a profile, debug data\n" },
	{ "strip", "strip_not", "keeps other metadata", "" },
	{ "internalize", "internalize",
	  "makes all but the kernel the modules own",
	  "internalize: 7 names\n" },
	{ "internalize", "internalize_not", "leaves what is seen from outside",
	  "" },
	{ "fold-globals", "fold_globals", "makes constant what is only read",
	  "fold-globals: 11 globals\n" },
	{ "fold-globals", "fold_globals_not", "leaves what may be written",
	  "" },
	{ "resolve-calls", "resolve_calls",
	  "calls directly what a constant table holds",
	  "resolve-calls: 1 call\n" },
	{ "resolve-calls", "resolve_calls_not",
	  "leaves calls that are not known", "" },
	{ "resolve-calls", "peephole", "leaves all else", "" },
	{ "unroll", "unroll", "unrolls products of bytes",
	  "unroll: 15 instructions, before 17\n" },
	{ "unroll", "unroll_not", "leaves loops that multiply no bytes", "" },
	{ "read", "read", "reads constants by loads", "read: 4 reads\n" },
	{ "read", "read_not", "leaves what is no constant, or no plain read",
	  "" },
	{ "gather", "gather", "puts products of bytes into words",
	  "gather: 1 word\n" },
	{ "gather", "gather_not", "leaves sums in which nothing is gained",
	  "" },
	{ "prepack", "prepack",
	  "puts constant bytes into words as they are read",
	  "prepack: 12 words repacked into 4 tables\n" },
	{ "prepack", "prepack_loop", "knows the values of a loops counter",
	  "prepack: 3 words repacked into 3 tables\n" },
	{ "prepack", "prepack_rows", "knows the rows of blocks of threads",
	  "prepack: 1 word repacked into 1 table\n" },
	{ "prepack", "prepack_floats", "packs floats of rows and of columns",
	  "prepack: 8 words repacked into 2 tables\n" },
	{ "prepack", "prepack_warp",
	  "puts together what the threads of a warp read together",
	  "prepack: 2 words repacked into 1 table\n" },
	{ "prepack", "prepack_not",
	  "leaves bytes that are not its own or not known", "" },
	{ "prepack", "prepack_widen", "reads aligned bytes as a word",
	  "prepack: 1 word read at once\n" },
	{ "prepack", "prepack_widen_not", "leaves bytes that are no word", "" },
	{ "fold", "fold", "reads constants while compiling",
	  "fold: 3 loads\n" },
	{ "fold", "fold_not", "leaves loads that are not known", "" },
	{ "optimize", "optimize", "runs O3, but not over Triton's kernels",
	  "optimize: 5 instructions, before 10\n" },
	{ "inline", "inline", "puts functions where they are called",
	  "inline: 3 instructions, before 5\n" },
	{ "propagate", "propagate", "puts constants where they are used",
	  "propagate: 5 instructions, before 7\n" },
	{ "peephole", "peephole", "writes small patterns in a simpler way",
	  "peephole: 4 instructions, before 6\n" },
	{ "cse", "cse", "computes once what is computed twice",
	  "cse: 6 instructions, before 8\n" },
	{ "dce", "dce", "drops what nothing uses",
	  "dce: 4 instructions, before 8\n" },
};

TEST(finalize, does_in_each_step_what_it_should_and_no_more)
{
	EACH(i, steps) {
		test_name_row(text("%s %s", steps[i].step, steps[i].what));
		check_step(steps[i].step, steps[i].name, steps[i].log);
	}
}

static void check_refused(const struct finalize_request *order,
                          const char *part)
{
	LLVMModuleRef module = test_module(ir_file("internalize.ll"));

	FAILS(finalize_module(module, NULL, order, NULL, ERR), TKB_ERR_INVALID,
	      part);
}

static struct tkb_binding weights[] = {
	ARRAY("w", "i8[2,4]", "\x00\x01\x02\x03\x04\x05\xFE\xFF"),
	NUMBER("2", "-7"),
	NUMBER("scale", "0.125"),
	NUMBER("4", "0x5"),
	ARRAY("plain", "i16[1]", "\x01\x80"),
	ARRAY("constant", "f32[1]", "\x00\x00\x80\x3F"),
};

TEST(bind, makes_arguments_constants)
{
	LLVMModuleRef module = test_module(ir_file("bind.ll"));
	LLVMModuleRef wanted = test_module(ir_file("bind.after.ll"));
	const char *names[32];
	struct finalize_request order = {
		.is_wanted = true,
		.bindings = { weights, TKB_COUNT_OF(weights) },
	};

	choose_only("bind", names, &order);

	CHECK_STR(finalize_ok(module, NULL, &order), "bind: 6 arguments\n");

	CHECK_STR(print_ir(module), print_ir(wanted));
}

/* Two loops, one in the other, with shared memory and a barrier: no products. */
static const char nested[] =
	"declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
	"define ptx_kernel void @kernel(ptr addrspace(1) %x, i32 %n) {\n"
	"begin:\n"
	"  br label %rows\n"
	"rows:\n"
	"  %i = phi i32 [ 0, %begin ], [ %j, %last ]\n"
	"  br label %columns\n"
	"columns:\n"
	"  %k = phi i32 [ 0, %rows ], [ %l, %columns ]\n"
	"  %q = mul i32 %i, %n\n"
	"  %r = add i32 %q, %k\n"
	"  %p = getelementptr float, ptr addrspace(1) %x, i32 %r\n"
	"  store volatile float 1.0, ptr addrspace(1) %p\n"
	"  %l = add nsw i32 %k, 1\n"
	"  %c = icmp slt i32 %l, %n\n"
	"  br i1 %c, label %columns, label %last\n"
	"last:\n"
	"  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
	"  %j = add nsw i32 %i, 1\n"
	"  %d = icmp slt i32 %j, %n\n"
	"  br i1 %d, label %rows, label %done\n"
	"done:\n"
	"  ret void\n"
	"}\n";

/* The log of "bind", of these, "split" and "hoist" alone. */
static const char *hoisted_with(LLVMModuleRef module,
                                struct tkb_binding *bindings, size_t bound)
{
	const char *names[32];
	struct finalize_request order = { .is_wanted = true,
		                          .bindings = { bindings, bound } };
	size_t count = 0;

	choose_only("hoist", names, &order);
	for (size_t i = 0; i < order.without.count; i++) {
		if (strcmp(names[i], "bind") != 0 &&
		    strcmp(names[i], "split") != 0)
			names[count++] = names[i];
	}
	order.without.count = count;
	return finalize_ok(module, NULL, &order);
}

/* The same, of the argument n. */
static const char *hoisted(LLVMModuleRef module)
{
	struct tkb_binding number = NUMBER("n", "3");

	return hoisted_with(module, &number, 1);
}

TEST(hoist, issues_loads_before_barriers)
{
	LLVMModuleRef module = test_module(ir_file("hoist.ll"));
	LLVMModuleRef wanted = test_module(ir_file("hoist.after.ll"));

	CHECK_STR(hoisted(module), "bind: 1 argument\nhoist: 4 loads\n");

	CHECK_STR(print_ir(module), print_ir(wanted));
}

#define BARRIER "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
#define READ                                                                   \
	" = call i32 asm sideeffect \"ld.global.b32 { $0 }, [ $1 + 0 ];\", "   \
	"\"=r,l\"(ptr addrspace(1) %x)\n"
#define END "store i32 %a, ptr addrspace(1) %y\nret void\n"

/* What stands in a kernel, and whether its last load may cross the barrier. */
static const struct {
	const char *what;
	const char *body;
	bool is_hoisted;
} around[] = {
	{ "nothing", BARRIER "%a" READ END, true },
	{ "a store to shared memory",
	  "store i32 %k, ptr addrspace(3) @tile\n" BARRIER "%a" READ END,
	  true },
	{ "a store",
	  "store i32 %k, ptr addrspace(1) %y\n" BARRIER "%a" READ END, false },
	{ "a store that is volatile",
	  "store volatile i32 %k, ptr addrspace(3) @tile\n" BARRIER
	  "%a" READ END,
	  false },
	{ "a load that is volatile",
	  "%v = load volatile i32, ptr addrspace(1) %y\n" BARRIER "%a" READ END,
	  false },
	{ "a load that is atomic",
	  "%v = load atomic i32, ptr addrspace(1) %y monotonic, "
	  "align 4\n" BARRIER "%a" READ END,
	  false },
	{ "an atomic operation",
	  "%o = atomicrmw add ptr addrspace(1) %y, i32 1 monotonic\n" BARRIER
	  "%a" READ END,
	  false },
	{ "a fence", "fence acquire\n" BARRIER "%a" READ END, false },
	{ "a call", "call void @outside()\n" BARRIER "%a" READ END, false },
	{ "PTX that is not known",
	  "call void asm sideeffect \"griddepcontrol.wait;\", "
	  "\"~{memory}\"()\n" BARRIER "%a" READ END,
	  false },
	{ "a store on one of two ways",
	  "br i1 %is, label %one, label %two\n"
	  "one:\nstore i32 %k, ptr addrspace(1) %y\nbr label %two\n"
	  "two:\n" BARRIER "%a" READ END,
	  false },
	{ "a store behind it, in a loop",
	  "br label %loop\nloop:\n" BARRIER "%a" READ
	  "store i32 %a, ptr addrspace(1) %y\n"
	  "br i1 %is, label %loop, label %end\nend:\nret void\n",
	  false },
	{ "a loop that only reads",
	  "br label %loop\nloop:\n" BARRIER "%a" READ
	  "%again = icmp sgt i32 %a, 0\n"
	  "br i1 %again, label %loop, label %end\nend:\n" END,
	  true },
	{ "a load of an unusual width",
	  BARRIER "%w = load i33, ptr addrspace(1) %x, align 8\n"
	          "%a = trunc i33 %w to i32\n" END,
	  true },
	{ "an address from shared memory",
	  BARRIER "%s = load i32, ptr addrspace(3) @tile\n"
	          "%p = getelementptr i32, ptr addrspace(1) %x, i32 %s\n"
	          "%a = load i32, ptr addrspace(1) %p\n" END,
	  false },
	{ "a load of shared memory",
	  BARRIER "%a = load i32, ptr addrspace(3) @tile\n" END, false },
};

TEST(hoist, leaves_loads_behind_what_may_write)
{
	EACH(i, around) {
		const char *ir = text(
			"@tile = internal addrspace(3) global i32 undef\n"
			"define ptx_kernel void @kernel(ptr addrspace(1) %%x, "
			"ptr addrspace(1) %%y, i32 %%n, i32 %%k, i1 %%is) "
			"{\n%s}\n"
			"declare void @outside()\n"
			"declare void "
			"@llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n",
			around[i].body);
		LLVMModuleRef module = test_module(tkb_text(ir));

		test_name_row(around[i].what);
		CHECK_STR(hoisted(module), around[i].is_hoisted
		                                   ? "bind: 1 argument\n"
		                                     "hoist: 1 load\n"
		                                   : "bind: 1 argument\n");
	}
}

#define COPY_TEXT(hints)                                                       \
	"call void asm sideeffect \"cp.async.cg.shared.global" hints           \
	" [ $0 + 0 ], [ $1 + 32 ], 0x10, $2;\", \"r,l,r\"(ptr addrspace(3) "   \
	"@tile, ptr addrspace(1) %x, i32 "
#define COPY COPY_TEXT("")
#define WAIT                                                                   \
	"call void @llvm.nvvm.cp.async.commit.group()\n"                       \
	"call void @llvm.nvvm.cp.async.wait.group(i32 0)\n" BARRIER            \
	"%a = load i32, ptr addrspace(3) @tile\n"

/* A grid, a kernel, and what the copies in it become. */
static const struct {
	const char *what;
	const char *grid; /* its sizes */
	const char *body;
	const char *made; /* NULL: they stay */
} copies[] = {
	{ "a small grid", "4|4|4", BARRIER COPY "16)\n" WAIT END,
	  "\"ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 0 ];\"" },
	{ "under a condition", "64|1|1",
	  "%c = select i1 %is, i32 16, i32 0\n" BARRIER COPY "%c)\n" WAIT END,
	  "@$5 ld.global.v4.b32" },
	{ "of no bytes", "1|1|1", BARRIER COPY "0)\n" WAIT END,
	  "store <4 x i32> zeroinitializer, ptr addrspace(3) @tile, align 16" },
	{ "of some bytes", "1|1|1", BARRIER COPY "8)\n" WAIT END, NULL },
	{ "of a number of bytes that is not known", "1|1|1",
	  BARRIER COPY "%k)\n" WAIT END, NULL },
	{ "a large grid", "65|1|1", BARRIER COPY "16)\n" WAIT END, NULL },
	{ "a grid that is large in all dimensions together", "5|4|4",
	  BARRIER COPY "16)\n" WAIT END, NULL },
	{ "a grid that is not known", "1|1", BARRIER COPY "16)\n" WAIT END,
	  NULL },
	{ "with hints that are not known", "1|1|1",
	  BARRIER COPY_TEXT(".L2::128B") "16)\n" WAIT END, NULL },
	{ "in a loop", "1|1|1",
	  "br label %loop\nloop:\n" BARRIER COPY "16)\n" WAIT
	  "%again = icmp sgt i32 %a, 0\n"
	  "br i1 %again, label %loop, label %end\nend:\n" END,
	  NULL },
	{ "waited for in another block", "1|1|1",
	  COPY "16)\nbr label %next\nnext:\n" COPY "16)\n" WAIT END, NULL },
	{ "to an address that is a number", "1|1|1",
	  "call void asm sideeffect \"cp.async.cg.shared.global [ $0 + 0 ], "
	  "[ $1 + 0 ], 0x10, $2;\", \"r,l,r\"(i32 %k, ptr addrspace(1) %x, "
	  "i32 16)\n" WAIT END,
	  NULL },
	{ "signalled to an mbarrier", "1|1|1",
	  BARRIER COPY
	  "16)\n" WAIT
	  "call void asm sideeffect \"cp.async.mbarrier.arrive.noinc.shared"
	  ".b64 [ $0 ];\", \"r\"(ptr addrspace(3) @tile)\n" END,
	  NULL },
	{ "read by wgmma, which sees no stores", "1|1|1",
	  BARRIER COPY "16)\n" WAIT "call void asm sideeffect "
	               "\"wgmma.fence.sync.aligned;\", \"\"()\n" END,
	  NULL },
	{ "from an address that was loaded", "1|1|1",
	  "%g = load i64, ptr addrspace(1) %x\n"
	  "%f = getelementptr i8, ptr addrspace(1) %y, i64 %g\n" BARRIER
	  "call void asm sideeffect \"cp.async.cg.shared.global [ $0 + 0 ], "
	  "[ $1 + 0 ], 0x10, $2;\", \"r,l,r\"(ptr addrspace(3) @tile, ptr "
	  "addrspace(1) %f, i32 16)\n" WAIT END,
	  NULL },
	{ "after a store", "1|1|1",
	  "store i32 0, ptr addrspace(1) %y\n" COPY "16)\n" WAIT END, NULL },
};

TEST(split, makes_loads_of_copies_in_a_small_grid)
{
	static const char *const names[] = { "nctaid.x", "nctaid.y",
		                             "nctaid.z" };

	EACH(i, copies) {
		const char *ir = text(
			"@tile = internal addrspace(3) global [4 x i32] undef, "
			"align 16\n"
			"define ptx_kernel void @kernel(ptr addrspace(1) %%x, "
			"ptr addrspace(1) %%y, i32 %%k, i1 %%is) "
			"\"nvvm.reqntid\"=\"128\" {\n%s}\n"
			"declare void @llvm.nvvm.cp.async.commit.group()\n"
			"declare void @llvm.nvvm.cp.async.wait.group(i32)\n"
			"declare void "
			"@llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n",
			copies[i].body);
		LLVMModuleRef module = test_module(tkb_text(ir));
		const char **sizes = words(copies[i].grid);
		struct tkb_binding grid[3];
		size_t bound = 0;
		const char *made;

		test_name_row(copies[i].what);
		for (; sizes[bound] != NULL; bound++)
			grid[bound] = (struct tkb_binding)NUMBER(names[bound],
			                                         sizes[bound]);
		(void)hoisted_with(module, grid, bound);
		made = print_ir(module);

		CHECK_INT(strstr(made, "\"cp.async") == NULL,
		          copies[i].made != NULL);
		CHECK_INT(strstr(made, "call void @llvm.nvvm.cp.async") == NULL,
		          copies[i].made != NULL);
		if (copies[i].made != NULL)
			CHECK(strstr(made, copies[i].made) != NULL);
	}
}

static const char *unrolled(const char *ir, const char *n)
{
	LLVMModuleRef module = test_module(tkb_text(ir));
	struct tkb_binding binding = NUMBER("n", n);
	struct finalize_request order = {
		.is_wanted = true,
		.bindings = { &binding, 1 },
	};

	finalize_ok(module, NULL, &order);
	return print_ir(module);
}

TEST(unroll, leaves_no_loop_whose_count_is_bound)
{
	const char *few = unrolled(nested, "12");

	CHECK(strstr(few, "br ") == NULL);
	CHECK(strstr(few, "i64 143") != NULL || strstr(few, "i64 572") != NULL);
}

TEST(unroll, keeps_a_loop_that_would_be_too_large)
{
	const char *many = unrolled(nested, "5000");

	CHECK(strstr(many, "br i1") != NULL);
	CHECK(strlen(many) < 300000);
}

TEST(unroll, leaves_a_loop_whose_metadata_have_no_word)
{
	static const char *const metadata[] = {
		"!{!0, !1}\n!1 = !{}",
		"!{!0, !1}\n!1 = !{null}",
		"!{!0, null}",
	};

	EACH(i, metadata) {
		AUTO_LLVM(LLVMContextRef) context = LLVMContextCreate();
		AUTO_LLVM(LLVMModuleRef)
		module = parse_ir(
			context,
			tkb_text(text("define void @f(ptr %%p, i1 %%is) {\n"
		                      "entry:\n br label %%loop\n"
		                      "loop:\n %%b = load i8, ptr %%p\n"
		                      " %%m = mul i8 %%b, %%b\n"
		                      " store i8 %%m, ptr %%p\n"
		                      " br i1 %%is, label %%loop, label %%end, "
		                      "!llvm.loop !0\n"
		                      "end:\n ret void\n}\n"
		                      "!0 = distinct %s\n",
		                      metadata[i])));
		struct finalize_request order = { .is_wanted = true };
		const char *names[32];

		test_name_row(metadata[i]);
		choose_only("unroll", names, &order);
		CHECK_STR(finalize_ok(module, NULL, &order), "");
	}
}

TEST(unroll, makes_no_copies_of_a_loop_around_the_one_that_it_weighs)
{
	const char *made =
		unrolled("define ptx_kernel void @kernel(ptr addrspace(1) %x, "
	                 "i32 %n) {\n"
	                 "begin:\n"
	                 "  br label %outer\n"
	                 "outer:\n"
	                 "  br label %inner\n"
	                 "inner:\n"
	                 "  %v = load volatile i32, ptr addrspace(1) %x\n"
	                 "  %c = icmp eq i32 %v, 7\n"
	                 "  br i1 %c, label %inner, label %outer\n"
	                 "}\n",
	                 "1");

	CHECK(strlen(made) < 300000);
}

/* The branches back become one block, which comes before the body. */
TEST(unroll, weighs_each_block_of_a_loop)
{
	const char *body = "  store volatile i32 %v, ptr addrspace(1) %x\n";

	for (int i = 0; i < 9; i++)
		body = text("%s%s", body, body);
	body = unrolled(
		text("define ptx_kernel void @kernel(ptr addrspace(1) %%x, "
	             "i32 %%n) {\n"
	             "begin:\n"
	             "  br label %%head\n"
	             "head:\n"
	             "  %%v = load volatile i32, ptr addrspace(1) %%x\n"
	             "  %%z = icmp eq i32 %%v, 0\n"
	             "  br i1 %%z, label %%head, label %%body\n"
	             "body:\n%s"
	             "  %%d = icmp eq i32 %%v, 5\n"
	             "  br i1 %%d, label %%end, label %%head\n"
	             "end:\n"
	             "  ret void\n"
	             "}\n",
	             body),
		"1");

	CHECK(strlen(body) < 300000);
}

/* A kernel, what is bound, and what is wrong with it. */
static const struct {
	const char *body;
	struct tkb_binding binding;
	const char *why;
} unbound[] = {
	{ "", NUMBER("q", "1"),
	  "kernel 'kernel' has no argument 'q' among its 3: an argument is "
	  "named "
	  "as in the IR, or by its position, from 0" },
	{ "", NUMBER("3", "1"), "has no argument '3'" },
	{ "", NUMBER("n", "1.5"),
	  "the argument 'n' cannot be bound to '1.5': it takes an integer" },
	{ "", NUMBER("n", "4294967296"), "the number does not fit into it" },
	{ "", NUMBER("n", "-2147483649"), "the number does not fit into it" },
	{ "", NUMBER("n", "-010"), "no 0 before it" },
	{ "", NUMBER("nctaid.x", "08"), "no 0 before it" },
	{ "", ARRAY("n", "i8[1]", "1"), "it takes a number" },
	{ "", NUMBER("f", "one"), "it takes a number" },
	{ "", NUMBER("f", "-3.4028236e38"), "the number does not fit into it" },
	{ "", ARRAY("nctaid.x", "i8[1]", "1"),
	  "the argument 'nctaid.x' cannot be bound to 'i8[1]': it takes a "
	  "number" },
	{ "", NUMBER("nctaid.y", "1.5"), "it takes an integer" },
	{ "", NUMBER("nctaid.z", "0"), "no grid has so many blocks" },
	{ "", NUMBER("nctaid.x", "-1"), "no grid has so many blocks" },
	{ "", NUMBER("nctaid.x", "2147483648"), "no grid has so many blocks" },
	{ "", NUMBER("nctaid.w", "1"), "has no argument 'nctaid.w'" },
	{ "", NUMBER("p", "1"),
	  "it takes the memory that it points to, as an array" },
	{ "",
	  { "p", "i8[2]", { "", 1 }, "w.bin" },
	  "'w.bin': the argument 'p' is i8[2], of 2 bytes, and was given 1" },
	{ "", ARRAY("p", "i7[2]", "1"),
	  "'i7[2]' is not an array type, such as i8[256,256]" },
	{ "", ARRAY("p", "i8[0]", ""), "is not an array type" },
	{ "", ARRAY("p", "i8[65536,65536]", ""), "is not an array type" },
	{ "store i8 1, ptr addrspace(1) %p\n", ARRAY("p", "i8[1]", "1"),
	  "the kernel may write to its memory" },
	{ "call void asm sideeffect \"st.global.b8 [ $0 + 0 ], 1;\", \"l\"("
	  "ptr addrspace(1) %p)\n",
	  ARRAY("p", "i8[1]", "1"), "the kernel may write to its memory" },
	{ "call ptr addrspace(1) asm \"mov.u64 $0, $1;\", \"=l,l\"("
	  "ptr addrspace(1) %p)\n",
	  ARRAY("p", "i8[1]", "1"), "the kernel may write to its memory" },
	{ "call i32 asm \"ld.volatile.global.b32 $0, [ $1 ];\", \"=r,l\"("
	  "ptr addrspace(1) %p)\n",
	  ARRAY("p", "i8[1]", "1"), "the kernel may write to its memory" },
};

static void check_unbound(const char *kernel, const struct tkb_binding *binding,
                          const char *why)
{
	LLVMModuleRef module = test_module(tkb_text(kernel));
	struct tkb_binding copy = *binding;
	const struct finalize_request order = { .bindings = { &copy, 1 } };

	FAILS(finalize_module(module, NULL, &order, NULL, ERR), TKB_ERR_INVALID,
	      why);
}

TEST(bind, refuses_what_an_argument_cannot_be)
{
	EACH(i, unbound) {
		test_name_row(unbound[i].why);
		check_unbound(
			text("define ptx_kernel void @kernel(ptr addrspace(1) "
		             "%%p, i32 %%n, float %%f) {\n%sret void\n}\n",
		             unbound[i].body),
			&unbound[i].binding, unbound[i].why);
	}
}

/* A type, a number, and what the argument becomes; NULL: it is refused. */
static const struct {
	const char *type;
	const char *number;
	const char *constant;
} floats[] = {
	{ "half", "0.1", "store half 0xH2E66," },
	{ "half", "-65519.9", "store half 0xHFBFF," },
	{ "half", "65520", NULL },
	{ "half", "inf", "store half 0xH7C00," },
	{ "bfloat", "0.1", "store bfloat 0xR3DCC," },
	{ "bfloat", "-3.4e38", "store bfloat 0xRFF7F," },
	{ "bfloat", "1e39", NULL },
	{ "bfloat", "nan", "store bfloat 0xR7FC0," },
	{ "float", "3.4028235e38", "store float 0x47EFFFFFE0000000," },
	{ "float", "1e39", NULL },
	{ "float", "-inf", "store float 0xFFF0000000000000," },
	{ "double", "1e308", "store double 1.000000e+308," },
	{ "double", "1e309", NULL },
};

TEST(bind, makes_a_number_what_a_launch_passes)
{
	EACH(i, floats) {
		LLVMModuleRef module = test_module(
			tkb_text(text("define ptx_kernel void @kernel(ptr "
		                      "addrspace(1) %%p, %s %%x) {\n"
		                      "store %s %%x, ptr addrspace(1) %%p\n"
		                      "ret void\n}\n",
		                      floats[i].type, floats[i].type)));
		struct tkb_binding binding = NUMBER("x", floats[i].number);
		const struct finalize_request order = { .bindings = { &binding,
			                                              1 } };

		test_name_row(text("%s %s", floats[i].type, floats[i].number));
		if (floats[i].constant == NULL) {
			FAILS(finalize_module(module, NULL, &order, NULL, ERR),
			      TKB_ERR_INVALID,
			      "the number does not fit into it");
			continue;
		}
		finalize_ok(module, NULL, &order);
		CHECK(strstr(print_ir(module), floats[i].constant) != NULL);
	}
}

/* An argument of that name comes first. */
TEST(bind, makes_the_grid_a_constant)
{
	static const char body[] =
		"%b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
		"%c = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()\n"
		"%d = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()\n"
		"%e = add i32 %b, %c\n%f = add i32 %d, %e\n"
		"store i32 %f, ptr addrspace(1) %p\nret void\n}\n"
		"declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
		"declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()\n"
		"declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.y()\n";
	static const char *const arguments[] = { "%n", "%nctaid.x" };

	EACH(i, arguments) {
		LLVMModuleRef module = test_module(
			tkb_text(text("define ptx_kernel void @kernel(ptr "
		                      "addrspace(1) %%p, i32 %s) {\n%s",
		                      arguments[i], body)));
		struct tkb_binding sixteen = NUMBER("nctaid.x", "0x10");
		const bool is_grid = i == 0;
		const char *made;

		test_name_row(arguments[i]);
		(void)hoisted_with(module, &sixteen, 1);
		made = print_ir(module);

		CHECK_INT(strstr(made,
		                 "call range(i32 0, 16) i32 "
		                 "@llvm.nvvm.read.ptx.sreg.ctaid.x()") != NULL,
		          is_grid);
		CHECK_INT(strstr(made, "add i32 %b, 16") != NULL, is_grid);
		CHECK(strstr(made, "sreg.nctaid.y()") != NULL);
	}
}

/* It is kept as something outside uses it, and may have another grid. */
static void check_refused_beside_another_kernel(void)
{
	LLVMModuleRef module = test_module(
		tkb_text("@llvm.used = appending global [1 x ptr] [ptr @b], "
	                 "section \"llvm.metadata\"\n"
	                 "define ptx_kernel void @a() {\nret void\n}\n"
	                 "define ptx_kernel void @b() {\nret void\n}\n"));
	struct tkb_binding grid = NUMBER("nctaid.x", "1");
	const char *kept = "a";
	const struct finalize_request order = { .kernels = { &kept, 1 },
		                                .bindings = { &grid, 1 } };

	FAILS(finalize_module(module, NULL, &order, NULL, ERR), TKB_ERR_INVALID,
	      "the module keeps another kernel");
}

TEST(bind, keeps_a_name_of_any_length)
{
	const char *const name = text("%02000d", 1);
	LLVMModuleRef module = test_module(
		tkb_text(text("define ptx_kernel void @k%s(ptr %%p, "
	                      "i32 %%n) {\n  ret void\n}\n",
	                      name)));
	struct tkb_binding binding = NUMBER("n", "1");
	struct finalize_request order = { .is_wanted = true,
		                          .bindings = { &binding, 1 } };

	finalize_ok(module, NULL, &order);

	CHECK(LLVMGetNamedFunction(module, text("k%s", name)) != NULL);
}

TEST(bind, refuses_a_kernel_that_is_not_the_only_one_or_called)
{
	const struct tkb_binding one = NUMBER("n", "1");

	check_unbound("define ptx_kernel void @a(i32 %n) {\nret void\n}\n"
	              "define ptx_kernel void @b(i32 %n) {\nret void\n}\n",
	              &one, "the IR has several kernels");
	check_unbound(
		"define ptx_kernel void @a(ptr byval(i64) %n) {\n"
		"ret void\n}\n",
		&(const struct tkb_binding)ARRAY("n", "i64[1]", "12345678"),
		"it is passed by value");
	check_refused_beside_another_kernel();
	check_unbound("define void @a(i32 %n) {\nret void\n}\n", &one,
	              "the IR has no kernel whose arguments could be bound");
	check_unbound("define ptx_kernel void @a(i32 %n) {\nret void\n}\n"
	              "define void @b() {\n"
	              "call ptx_kernel void @a(i32 1)\nret void\n}\n",
	              &one, "the kernel is called within the module");
}

TEST(bind, refuses_an_argument_that_is_bound_twice)
{
	struct tkb_binding twice[] = { NUMBER("n", "1"), NUMBER("0", "1") };
	LLVMModuleRef module =
		test_module(tkb_text("define ptx_kernel void @a(i32 %n) {\n"
	                             "ret void\n}\n"));
	const struct finalize_request order = { .bindings = { twice, 2 } };

	FAILS(finalize_module(module, NULL, &order, NULL, ERR), TKB_ERR_INVALID,
	      "it has a value already");
	twice[1].argument = "n";
	FAILS(finalize_module(module, NULL, &order, NULL, ERR), TKB_ERR_INVALID,
	      "the argument 'n' is bound twice");
}

TEST(bind, refuses_to_be_skipped)
{
	struct tkb_binding one = NUMBER("n", "1");
	const char *name = "bind";

	check_refused(&(struct finalize_request){ .bindings = { &one, 1 },
	                                          .without = { &name, 1 } },
	              "the step 'bind' cannot be skipped when arguments are "
	              "bound");
}

TEST(gather, leaves_machines_that_are_big_endian)
{
	LLVMModuleRef module = test_module(ir_file("gather.ll"));
	const char *names[32];
	struct finalize_request order = { .is_wanted = true };

	choose_only("gather", names, &order);
	LLVMSetDataLayout(module, "E-i64:64");

	CHECK_STR(finalize_ok(module, NULL, &order), "");
}

TEST(finalize, leaves_a_module_in_which_there_is_nothing_to_do)
{
	LLVMModuleRef module = test_module(ir_file("nothing.ll"));
	const struct finalize_request order = { .is_wanted = true };
	const char *before = print_ir(module);

	CHECK_STR(finalize_ok(module, nvptx(), &order), "");

	CHECK_STR(print_ir(module), before);
}

TEST(finalize, refuses_a_step_that_is_not_there)
{
	const char *name = "strips";

	check_refused(&(struct finalize_request){ .without = { &name, 1 } },
	              "finalize has no step 'strips', but strip, "
	              "internalize, bind, fold-globals, ");
}

TEST(finalize, refuses_a_kernel_that_is_not_there)
{
	const char *name = "helper";

	check_refused(&(struct finalize_request){ .kernels = { &name, 1 } },
	              "the IR has no kernel 'helper' to be kept");
}

TEST(finalize, refuses_rules_that_are_none)
{
	const char *rule = "define";

	check_refused(&(struct finalize_request){ .rules = { &rule, 1 } },
	              "rules 1");
}

static int refuse(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)self, (void)bytes, (void)err;
	return TKB_ERR_CANCELLED;
}

TEST(finalize, gives_what_the_log_fails_with)
{
	LLVMModuleRef module = test_module(ir_file("internalize.ll"));
	const struct finalize_request order = { .is_wanted = true };
	const struct tkb_sink log = { refuse, NULL };

	CHECK_INT(finalize_module(module, NULL, &order, &log, ERR),
	          TKB_ERR_CANCELLED);
}

TEST(finalize, has_a_name_and_a_text_for_each_step)
{
	for (size_t i = 0; i < tkb_finalize_step_count(); i++) {
		CHECK(tkb_finalize_step_name(i)[0] != '\0');
		CHECK(tkb_finalize_step_text(i)[0] != '\0');
	}
	CHECK_STR(tkb_finalize_step_name(0), "strip");
	CHECK_STR(tkb_finalize_step_name(tkb_finalize_step_count() - 1),
	          "verify");
}
