/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Whatever is given to the compiler: it ends in a sentence, or in a whole entry,
 * and the caller goes on.
 */

#include "compile_fixture.h"

#include <stdlib.h>
#include <time.h>

#include <tkbundle/finalize.h>

enum {
	AHEAD = 8, /* compiles at the same time */
	PLACES = 300
};

typedef struct tkb_compiler_options options;

/* What is cut and flipped: always the same places. */
struct damage {
	const struct tkb_bytes *wholes;
	size_t whole_count;
	uint64_t seed;
};

static uint64_t draw(struct damage *damage, uint64_t below)
{
	damage->seed =
		damage->seed * 6364136223846793005u + 1442695040888963407u;
	return (damage->seed >> 33) % below;
}

/* A copy of one of the wholes: cut short, or a bit, a byte or a line changed. */
static struct tkb_bytes break_one(struct damage *damage)
{
	const struct tkb_bytes whole =
		damage->wholes[draw(damage, damage->whole_count)];
	const size_t at = (size_t)draw(damage, whole.size - 1) + 1;
	const size_t length = (size_t)draw(damage, whole.size - at);
	char *const bytes = test_bytes(whole);

	switch (draw(damage, 4)) {
	case 0:
		return (struct tkb_bytes){ bytes, at };
	case 1:
		bytes[at] = (char)(bytes[at] ^ (1 << draw(damage, 8)));
		break;
	case 2:
		bytes[at] = (char)draw(damage, 256);
		break;
	default: /* a piece is gone */
		memmove(bytes + at, bytes + at + length,
		        whole.size - at - length);
		return (struct tkb_bytes){ bytes, whole.size - length };
	}
	return (struct tkb_bytes){ bytes, whole.size };
}

/* What compiles came to. */
struct endings {
	size_t good;
	size_t bad;
};

/* The whole sentence of an ending must be there, and fit what it is. */
static void check_end(struct tkb_compile *compile, struct endings *endings)
{
	struct tkb_error err = { .status = 0 };
	const int rc = tkb_compile_wait(compile, TKB_FOREVER, NULL, &err);

	if (rc == 0) {
		endings->good++;
		return;
	}
	endings->bad++;
	CHECK_INT(err.status, rc);
	CHECK(rc == TKB_ERR_INVALID || rc == TKB_ERR_UNSUPPORTED ||
	      rc == TKB_ERR_UNAVAILABLE);
	CHECK(strlen(err.message) > 10);
	CHECK(strchr(err.message, '\n') == NULL);
}

static struct endings compile_broken(struct tkb_compiler *compiler,
                                     struct damage *damage,
                                     const struct tkb_unit *like, size_t count)
{
	struct tkb_compile *compiles[AHEAD] = { NULL };
	struct endings endings = { 0, 0 };

	for (size_t i = 0; i < count + AHEAD; i++) {
		struct tkb_compile **const place = &compiles[i % AHEAD];
		struct tkb_unit unit = *like;

		if (*place != NULL)
			check_end(*place, &endings);
		tkb_compile_free(*place);
		*place = NULL;
		if (i >= count)
			continue;
		unit.source = break_one(damage);
		OK(tkb_compiler_submit(compiler, &unit, place, ERR));
	}
	CHECK_INT(endings.good + endings.bad, count);
	return endings;
}

/* All that the fixtures have of one kind of file. */
static struct damage damage_of(const char *extension)
{
	static const char *const kernels[] = { "add", "softmax", "matmul" };
	struct tkb_bytes *const wholes = test_alloc(3 * sizeof(*wholes));

	for (size_t i = 0; i < 3; i++)
		wholes[i] = read_file(path_of(kernels[i], extension));
	return (struct damage){ wholes, 3, 1 };
}

static const options into_root = { SIZED(into_root), .cache_root = "root",
	                           .worker_count = 2, .timeout_ms = 20000 };

TEST(bad_input, of_ir_at_300_places_is_a_sentence_or_a_whole_entry)
{
	COMPILER(compiler) = open_compiler(&into_root);
	struct damage damage = damage_of("llir");
	const struct tkb_unit like =
		unit_from("broken.llir", TKB_SOURCE_KIND_LLIR, tkb_text(""));
	const struct tkb_unit whole = unit_of("add", TKB_SOURCE_KIND_LLIR);

	need_llvm();
	struct endings endings =
		compile_broken(compiler, &damage, &like, PLACES);

	CHECK(endings.good > 10);
	CHECK(endings.bad > 100);
	(void)compile(compiler, &whole);
	check_whole("root");
}

/* The fixtures' IR as bitcode. */
static void make_bitcode(const struct tkb_bytes *texts, struct tkb_bytes *out,
                         size_t count)
{
	const struct tkb_finalize_options finalize = { SIZED(finalize),
		                                       .is_bitcode = true };
	COMPILER(compiler) = open_compiler(
		&OPTIONS(.product = TKB_PRODUCT_LLIR, .finalize = &finalize));

	for (size_t i = 0; i < count; i++) {
		const struct tkb_unit unit =
			unit_from("whole.ll", TKB_SOURCE_KIND_LLIR, texts[i]);

		out[i] = compile(compiler, &unit).llir;
		CHECK(memcmp(out[i].data, "BC", 2) == 0);
	}
}

TEST(bad_input, of_bitcode_is_a_sentence_or_a_whole_entry)
{
	struct damage damage = damage_of("llir");
	struct tkb_bytes codes[3];
	const struct tkb_unit like =
		unit_from("broken.bc", TKB_SOURCE_KIND_LLIR, tkb_text(""));
	struct tkb_unit whole = like;

	need_llvm();
	make_bitcode(damage.wholes, codes, 3);
	damage.wholes = codes;
	COMPILER(compiler) = open_compiler(&into_root);
	whole.source = codes[0];
	struct made made = compile(compiler, &whole);
	/* Triton reads all but the cubin as text. */
	CHECK(!exists(text("root/%s/%s.llir", made.key, made.kernel)) ||
	      memcmp(read_file(text("root/%s/%s.llir", made.key, made.kernel))
	                     .data,
	             "BC", 2) != 0);
	struct endings endings = compile_broken(compiler, &damage, &like, 60);

	CHECK(endings.bad > 30);
	check_whole("root");
}

TEST(bad_input, of_ptx_is_a_sentence_or_a_whole_entry)
{
	COMPILER(compiler) = open_compiler(&into_root);
	struct damage damage = damage_of("ptx");
	const struct tkb_unit like =
		unit_from("broken.ptx", TKB_SOURCE_KIND_PTX, tkb_text(""));

	struct endings endings = compile_broken(compiler, &damage, &like, 60);

	CHECK(endings.bad > 20);
	check_whole("root");
}

static const char cuda_source[] =
	"#define ONE 1.0f\n"
	"__device__ static float twice(float x) { return x + x; }\n"
	"template <int N> __device__ float power(float x)\n"
	"{\n"
	"	if constexpr (N == 0) return ONE;\n"
	"	else return x * power<N - 1>(x);\n"
	"}\n"
	"extern \"C\" __global__ void one(float *x, int n)\n"
	"{\n"
	"	int at = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	if (at < n)\n"
	"		x[at] = power<5>(twice(x[at])) + sqrtf(x[at]);\n"
	"}\n";

/* NVRTC is looked for in the toolkit; a test's process has its own. */
static void need_nvrtc(const struct tkb_unit *whole)
{
	const char *const toolkit = getenv("TKB_TEST_CUDA");

	if (toolkit != NULL)
		SYS(setenv("CUDA_HOME", toolkit, 1));
	COMPILER(compiler) = open_compiler(&into_root);
	struct made made = try_compile(compiler, whole);
	if (made.rc == TKB_ERR_UNSUPPORTED) {
		CHECK_CONTAINS(made.err.message, "NVRTC");
		skip();
	}
	CHECK_OK(made.rc, &made.err);
}

TEST(bad_input, of_cuda_is_a_sentence_or_a_whole_entry)
{
	const struct tkb_bytes whole = tkb_text(cuda_source);
	struct damage damage = { &whole, 1, 1 };
	const struct tkb_unit like =
		unit_from("broken.cu", TKB_SOURCE_KIND_CUDA, whole);

	need_nvrtc(&like);
	COMPILER(compiler) = open_compiler(&into_root);
	struct endings endings = compile_broken(compiler, &damage, &like, 60);

	CHECK(endings.bad > 20);
	check_whole("root");
}

/* IR with one kernel, `slow`, around `body`. */
static struct tkb_unit ir_unit(const char *body)
{
	const char *const source =
		text("target triple = \"nvptx64-nvidia-cuda\"\n%s", body);

	return unit_from("bad.ll", TKB_SOURCE_KIND_LLIR, tkb_text(source));
}

TEST(bad_input, that_llvm_cannot_select_is_said_in_its_words)
{
	struct tkb_unit unit =
		ir_unit("declare void @llvm.nvvm.wgmma.fence.sync.aligned()\n"
	                "define ptx_kernel void @one() {\n"
	                "  call void @llvm.nvvm.wgmma.fence.sync.aligned()\n"
	                "  ret void\n}\n");
	COMPILER(compiler) = open_compiler(&into_root);

	need_llvm();
	unit.target = "cuda:80";
	struct made made = try_compile(compiler, &unit);

	CHECK_FAILS(made.rc, TKB_ERR_INVALID, &made.err, "Cannot select");
	CHECK_CONTAINS(made.log, "Cannot select");
	unit.target = "cuda:90";
	(void)compile(compiler, &unit);
}

TEST(bad_input, is_said_in_the_words_of_what_refused_it)
{
	static const struct {
		const char *body;
		const char *message;
	} cases[] = {
		{ "define", "bad IR: the input:2:7: error: expected type" },
		{ "", "no kernel" },
		{ "define void @one() { ret void }\n", "no kernel" },
		{ "define ptx_kernel void @one() { ret void }\n"
		  "define ptx_kernel void @two() { ret void }\n",
		  "one, two" },
		{ "declare void @other()\n"
		  "define ptx_kernel void @one() {\n"
		  "  call void @other()\n  ret void\n}\n",
		  "'other'" },
		{ "define ptx_kernel void @one() {\n"
		  "  call void asm sideeffect \"garbage;\", \"\"()\n"
		  "  ret void\n}\n",
		  "ptxas exited with status 255: " },
		{ "define ptx_kernel void @one() {\n"
		  "  %a = add i32 %b, 1\n  %b = add i32 %a, 1\n"
		  "  ret void\n}\n",
		  "bad IR: " },
	};
	COMPILER(compiler) = open_compiler(&into_root);

	need_llvm();
	EACH(i, cases) {
		const struct tkb_unit unit = ir_unit(cases[i].body);
		must_fail(compiler, &unit, TKB_ERR_INVALID, cases[i].message);
	}
	CHECK(!exists("root"));
}

/*
 * Each store may change what the next load gives, and each is in one block: LLVM
 * looks at all pairs of them, again and again.
 */
static const char *endless_ir(void)
{
	struct tkb_buf *out = test_buf(64 * TKB_MIB);

	tkb_buf_add_text(out, "target triple = \"nvptx64-nvidia-cuda\"\n"
	                      "define ptx_kernel void @slow(ptr %p) {\n"
	                      "  %v0 = load i32, ptr %p\n");
	for (unsigned i = 0; i < 40000; i++)
		tkb_buf_add_text(out,
		                 text("  %%q%u = getelementptr i32, ptr %%p, "
		                      "i32 %%v%u\n"
		                      "  store i32 %%v%u, ptr %%q%u\n"
		                      "  %%v%u = load i32, ptr %%q%u\n",
		                      i, i, i, i, i + 1, i));
	tkb_buf_add_text(out, "  ret void\n}\n");
	tkb_buf_add_byte(out, '\0');
	return text("%s", (const char *)out->data);
}

TEST(bad_input, that_keeps_a_pass_busy_ends_with_the_deadline)
{
	const uint64_t begin_ms = now_ms();

	need_llvm();
	write_text("slow.ll", endless_ir());
	struct outcome ended =
		run(program(), "compile", "slow.ll", "--target", "cuda:90",
	            "--cache", "root", "--ptxas", real_ptxas(), "-j1",
	            "--deadline", "1s", NULL);

	CHECK_INT(ended.status, 1);
	CHECK_STR(ended.err,
	          "tkbundle: the deadline of 1s ended it: 1 kernel is left\n");
	CHECK(now_ms() - begin_ms < 20000);
	CHECK(!exists("root"));
}

TEST(bad_input, that_keeps_a_pass_busy_is_given_up_by_the_library)
{
	const char *const source = endless_ir();
	const struct tkb_unit unit =
		unit_from("slow.ll", TKB_SOURCE_KIND_LLIR, tkb_text(source));
	const struct tkb_unit good = unit_of("add", TKB_SOURCE_KIND_LLIR);

	need_llvm();
	COMPILER(compiler) = open_compiler(&OPTIONS(.timeout_ms = 700));
	struct made made = try_compile(compiler, &unit);
	tkb_compiler_close(compiler);
	CHECK_INT(made.rc, TKB_ERR_UNAVAILABLE);

	compiler = open_compiler(&into_root);
	(void)compile(compiler, &good);
}
