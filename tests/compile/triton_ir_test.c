/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/stat.h>

#include "triton_compile_fixture.h"

/* Triton's IR, compiled as triton.compile() does if it is given a path. */

#define LAYOUT                                                                 \
	"#l = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], "      \
	"warpsPerCTA = [4], order = [0]}>\n"
#define OF_LAYOUTS                                                             \
	LAYOUT "module attributes {\"ttg.num-ctas\" = 1 : i32, "               \
	       "\"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:90\", "       \
	       "\"ttg.threads-per-warp\" = 32 : i32} {\n"                      \
	       "tt.func public @k(%x: !tt.ptr<f32>) {\n"                       \
	       "  %at = tt.make_range {end = 128 : i32, start = 0 : i32} : "   \
	       "tensor<128xi32, #l>\n"                                         \
	       "  %all = tt.splat %x : !tt.ptr<f32> -> "                       \
	       "tensor<128x!tt.ptr<f32>, #l>\n"                                \
	       "  %to = tt.addptr %all, %at : tensor<128x!tt.ptr<f32>, #l>, "  \
	       "tensor<128xi32, #l>\n"                                         \
	       "  %one = arith.constant dense<1.0> : tensor<128xf32, #l>\n"    \
	       "  tt.store %to, %one : tensor<128x!tt.ptr<f32>, #l>\n"         \
	       "  tt.return\n}\n}\n"

static struct made make_ir(struct tkb_triton *triton, const char *path,
                           const char *target)
{
	const struct tkb_triton_unit unit = { SIZED(unit), .file = path,
		                              .target = target };

	return make(triton, &unit);
}

/* The key of triton.compile(path, options={"num_warps": warps}). */
static const char *key_of(const char *path, unsigned warps)
{
	const char *script =
		"import sys, triton\n"
		"from triton.backends.compiler import GPUTarget\n"
		"from triton.runtime.driver import driver\n"
		"class Driver:\n"
		"    def get_current_target(self):\n"
		"        return GPUTarget('cuda', 90, 32)\n"
		"driver.set_active(Driver())\n"
		"made = triton.compile(sys.argv[1], options={'num_warps': "
		"int(sys.argv[2])})\n"
		"print(made.hash)\n";
	struct outcome ran =
		run("/usr/bin/env",
	            text("TRITON_CACHE_DIR=%s/theirs", test_folder()),
	            text("TMPDIR=%s/tmp", test_folder()), triton_python, "-c",
	            script, path, text("%u", warps), NULL);

	CHECK_INT(ran.status, 0);
	return ran.out;
}

TEST(triton_ir, of_an_entry_becomes_the_same_code_under_tritons_key)
{
	static const char *const stages[] = { "ttir", "ttgir" };
	struct tkb_triton_unit unit = unit_of("copy_kernel", COPY_SIGNATURE);
	TRITON(triton) = open_triton_for(copy_kernel);

	unit.num_warps = 2;
	const struct tkb_triton_compiled first = must_make_unit(triton, &unit);
	EACH(i, stages) {
		const char *path =
			text("%s/copy_kernel.%s", first.folder, stages[i]);
		struct tkb_triton_unit ir = { SIZED(ir), .file = path,
			                      .target = "cuda:90" };

		ir.metadata = tkb_text(file_of(&first, "json"));
		const struct tkb_triton_compiled again =
			must_make_unit(triton, &ir);
		CHECK_STR(again.note, "");
		CHECK_STR(again.kernel, "@copy_kernel");
		CHECK(!again.is_hit);
		CHECK_STR(text("%s\n", again.hash), key_of(path, 2));
		check_same_cubin(text("%s/copy_kernel.cubin", first.folder),
		                 text("%s/@copy_kernel.cubin", again.folder));
		CHECK(make(triton, &ir).compiled.is_hit);
	}
}

TEST(triton_ir, of_each_kernel_of_an_h100_becomes_its_code)
{
	size_t count = 0;

	need_triton(TRITON_USUAL);
	unpack("triton-3.6.0-h100", "theirs");
	TRITON(triton) = open_triton();
	for (const char **keys = list("theirs/.triton/cache"); *keys != NULL;
	     keys++) {
		const char *folder = text("theirs/.triton/cache/%s", *keys);

		for (const char **names = list(folder); *names != NULL;
		     names++) {
			const char *dot = strrchr(*names, '.');
			const char *stem = text("%s/%.*s", folder,
			                        (int)(dot - *names), *names);
			struct tkb_triton_unit ir = { SIZED(ir),
				                      .target = "cuda:90" };

			if (strcmp(dot, ".ttir") != 0 &&
			    strcmp(dot, ".ttgir") != 0)
				continue;
			ir.file = text("%s%s", stem, dot);
			ir.metadata = read_file(text("%s.json", stem));
			const struct tkb_triton_compiled made =
				must_make_unit(triton, &ir);
			check_same_cubin(
				text("%s.cubin", stem),
				text("%s/%s.cubin", made.folder, made.kernel));
			count++;
		}
	}
	CHECK_INT(count, 26);
}

TEST(triton_ir, for_another_target_is_compiled_with_a_warning)
{
	need_triton(TRITON_USUAL);
	write_text("k.ttgir", OF_LAYOUTS);
	TRITON(triton) = open_triton();

	CHECK_STR(make_ir(triton, "k.ttgir", "cuda:90").compiled.note, "");
	CHECK_STR(make_ir(triton, "k.ttgir", "cuda:80").compiled.note,
	          "the IR was made for cuda:90");
}

TEST(triton_ir, of_gluon_is_read_by_3_9)
{
	need_triton("3.9.0");
	write_text("k.glir", OF_LAYOUTS);
	TRITON(triton) = open_triton();
	struct made made = make_ir(triton, "k.glir", "cuda:90");

	CHECK_OK(made.rc, &made.err);
	CHECK(exists(text("%s/@k.glir", made.compiled.folder)));
	CHECK(exists(text("%s/@k.ttgir", made.compiled.folder)));
}

/* Before 3.9 the key is that of a .ttgir, whose entry must not be given. */
TEST(triton_ir, of_gluon_is_refused_by_3_6)
{
	need_triton(TRITON_USUAL);
	write_text("k.ttgir", OF_LAYOUTS);
	write_text("k.glir", OF_LAYOUTS);
	TRITON(triton) = open_triton();
	CHECK_INT(make_ir(triton, "k.ttgir", "cuda:90").rc, 0);
	struct made made = make_ir(triton, "k.glir", "cuda:90");

	CHECK_FAILS(made.rc, TKB_ERR_UNSUPPORTED, &made.err,
	            "Triton 3.6.0 cannot read .glir; 3.9 is the oldest that "
	            "can");
}

TEST(triton_ir, that_is_bad_is_refused_in_a_sentence)
{
	static const struct {
		const char *name;
		const char *text;
		const char *part;
	} cases[] = {
		{ "k.ttir", "", "'k.ttir' has no kernel" },
		{ "k.ttir", "module {}", "'k.ttir' has no kernel" },
		{ "k.ttir", "\xb5\x2f", "'k.ttir' is not text" },
		{ "k.ttir", "module { tt.func private @f() { tt.return } }",
		  "'k.ttir' has no kernel" },
		{ "k.ttir",
		  "module { tt.func public @f() { tt.return }\n"
		  "tt.func @g() { tt.return } }",
		  "'k.ttir' has several kernels: 'f', 'g'; an entry has one" },
		{ "k.ttir", "tt.func public @f() {",
		  "'k.ttir' does not compile: RuntimeError: Parse MLIR file "
		  "failed" },
		{ "k.ttgir", "module { tt.func @f() { tt.return } }",
		  "'k.ttgir' does not compile: AssertionError: Unable to "
		  "parse ttg.num-warps" },
	};

	need_triton(TRITON_USUAL);
	TRITON(triton) = open_triton();
	EACH(i, cases) {
		write_text(cases[i].name, cases[i].text);
		struct made made = make_ir(triton, cases[i].name, "cuda:90");
		CHECK_FAILS(made.rc, TKB_ERR_INVALID, &made.err, cases[i].part);
	}
	CHECK(!exists("cache"));
}

TEST(triton_ir, has_metadata_that_are_an_object)
{
	struct tkb_triton_unit ir = { SIZED(ir), .file = "k.ttgir",
		                      .target = "cuda:90",
		                      .metadata = { "[1]", 3 } };

	need_triton(TRITON_USUAL);
	write_text("k.ttgir", OF_LAYOUTS);
	TRITON(triton) = open_triton();
	must_refuse(triton, &ir, TKB_ERR_INVALID,
	            "the metadata are not a JSON object");
}

TEST(triton_ir, takes_no_names_and_a_kernel_no_metadata)
{
	struct tkb_triton_unit unit = { SIZED(unit), .file = "k.ttir",
		                        .target = "cuda:90", .kernel = "k" };

	need_triton(TRITON_USUAL);
	TRITON(triton) = open_triton();
	must_refuse(triton, &unit, TKB_ERR_INVALID,
	            "'k.ttir' is IR: it takes no kernel and no signature");
	unit.file = "k.py";
	unit.signature = "i32";
	unit.metadata = (struct tkb_bytes){ "{}", 2 };
	must_refuse(triton, &unit, TKB_ERR_INVALID,
	            "'k.py' is not IR: only IR takes metadata");
}

/* As the IR and PTX of an entry do. */
/* The one entry of a cache. */
static const char *key_in(const char *cache)
{
	const char **names = list(cache);

	while (names[0] != NULL && names[0][0] == '.') /* our own folder */
		names++;
	CHECK(names[0] != NULL && names[1] == NULL);
	return names[0];
}

TEST(triton_ir, takes_the_metadata_beside_it_on_the_command_line)
{
	need_triton(TRITON_USUAL);
	SYS(mkdir("tmp", 0700));
	unpack("triton-3.6.0-h100", "theirs");
	shell("cp theirs/.triton/cache/D3PP*/matmul_kernel.* .");

	struct outcome made = run(
		"/usr/bin/env", text("TMPDIR=%s/tmp", test_folder()), program(),
		"compile", "matmul_kernel.ttir", "--python", triton_python,
		"--target", "cuda:90", "--cache", "cache", "-v", NULL);

	CHECK_STR(made.err, "");
	CHECK_INT(made.status, 0);
	check_same_cubin(
		"matmul_kernel.cubin",
		text("cache/%s/@matmul_kernel.cubin", key_in("cache")));
	made = run(program(), "compile", "no.ttir", "--target", "cuda:90",
	           "--python", triton_python, "--cache", "cache", NULL);
	CHECK_INT(made.status, 3);
	CHECK_STR(made.err, "tkbundle: there is no 'no.ttir'\n");
}
