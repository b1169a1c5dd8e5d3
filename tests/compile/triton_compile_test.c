/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "triton_compile_fixture.h"

/* Kernels of Triton's, compiled without a GPU. */

/* The kernels of fixtures/make_triton.py, which may not run here. */
static void write_fixture_kernels(void)
{
	struct tkb_bytes bytes = read_file(TKB_FIXTURES "/make_triton.py");

	write_file("kernels.py", bytes);
	edit_file("kernels.py", "\nmain()\n", "\n#ain()\n");
}

static void check_version(const char *version)
{
	const bool is_old = version[2] < '4';
	struct tkb_triton_unit unit = { SIZED(unit), .file = "kernels.py",
		                        .target = "cuda:90" };
	size_t count = 3;

	need_triton(version);
	write_fixture_kernels();
	unpack(text("triton-%s-cpu", version), "theirs");
	TRITON(triton) = open_triton();
	(void)must_make(triton, "add_kernel",
	                "*fp32:16, *fp32:16, *fp32:16, i32:16, 1024");
	unit.kernel = "softmax_kernel";
	unit.signature = "*fp16:16, *fp16:16, i32, i32, 1024";
	unit.num_warps = 8;
	CHECK_INT(make(triton, &unit).rc, 0);
	unit.kernel = "gelu_kernel";
	unit.signature = "*fp32:16, *fp32:16, i32:16, 256";
	unit.num_warps = is_old ? 0 : 2;
	CHECK_INT(make(triton, &unit).rc, 0);
	if (!is_old) {
		unit.signature = "*fp32:16, *fp32:16, i32:16, 512";
		unit.num_warps = 4;
		CHECK_INT(make(triton, &unit).rc, 0);
		count++;
	}
	CHECK_INT(check_same_kernels("theirs/.triton/cache", "cache",
	                             is_python(11)),
	          count);
	CHECK_INT(count_names("cache"), count);
}

TEST(triton_compile, makes_what_a_launch_of_3_6_makes)
{
	check_version("3.6.0");
}

TEST(triton_compile, makes_what_a_launch_of_3_3_makes)
{
	check_version("3.3.1");
}

TEST(triton_compile, makes_what_a_launch_of_3_9_makes)
{
	check_version("3.9.0");
}

/* Their text and its place are those of the program that ran there. */
TEST(triton_compile, makes_what_an_h100_made)
{
	need_triton(TRITON_USUAL);
	write_file("model.py", read_file(TKB_TESTS "/compile/model.py"));
	write_file("model.json", read_file(TKB_TESTS "/compile/model.json"));
	unpack("triton-3.6.0-h100", "theirs");
	SYS(mkdir("tmp", 0700));

	struct outcome made = run(
		"/usr/bin/env", text("TMPDIR=%s/tmp", test_folder()), program(),
		"compile", "model.json", "--python", triton_python, "--target",
		"cuda:90", "--cache", "cache", NULL);

	CHECK_STR(made.err, "");
	CHECK_INT(made.status, 0);
	CHECK_CONTAINS(made.out, "compiled 13, hits 0, failed 0");
	CHECK_INT(check_same_kernels("theirs/.triton/cache", "cache",
	                             is_python(12)),
	          13);
}

TEST(triton_compile, a_launch_finds_what_was_compiled)
{
	need_triton(TRITON_USUAL);
	write_text("kernels.py",
	           read_file(TKB_TESTS "/support/triton_kernel.py").data);
	TRITON(triton) = open_triton();
	struct tkb_triton_compiled made =
		must_make(triton, "add_kernel",
	                  "*fp32:16, *fp32:16, *fp32:16, i32:16, 1024");
	CHECK(!made.is_hit);

	struct outcome launch =
		run("/usr/bin/env",
	            text("TRITON_CACHE_DIR=%s/cache", test_folder()),
	            text("TMPDIR=%s/tmp", test_folder()), triton_python,
	            TKB_SCRIPT, "compile", NULL);

	CHECK_STR(launch.err, "");
	CHECK_CONTAINS(launch.out, "found add_kernel of 4 warps");
	CHECK_CONTAINS(launch.out, "compiled add_kernel of 8 warps");
}

TEST(triton_compile, the_same_again_is_a_hit_and_writes_nothing)
{
	TRITON(triton) = open_triton_for(copy_kernel);
	struct stat before;
	struct stat after;

	struct tkb_triton_compiled first =
		must_make(triton, "copy_kernel", COPY_SIGNATURE);
	CHECK(!first.is_hit);
	CHECK_STR(first.kernel, "copy_kernel");
	CHECK_STR(first.version, TRITON_USUAL);
	CHECK_STR(first.note, "");
	CHECK_STR(first.folder, text("%s/cache/%s", test_folder(), first.key));
	const char *path = text("cache/%s/copy_kernel.cubin", first.key);
	SYS(stat(path, &before));

	struct tkb_triton_compiled again =
		must_make(triton, "copy_kernel", COPY_SIGNATURE);

	CHECK(again.is_hit);
	CHECK_STR(again.key, first.key);
	CHECK_STR(again.hash, first.hash);
	SYS(stat(path, &after));
	CHECK_INT(before.st_ino, after.st_ino);
	CHECK_INT(count_names("cache"), 1);
}

/* Triton takes an entry without its cubin for a hit, and dies of torn JSON. */
TEST(triton_compile, an_entry_that_is_not_whole_is_made_again)
{
	static const char *const parts[] = { "cubin", "json" };
	TRITON(triton) = open_triton_for(copy_kernel);

	struct tkb_triton_compiled made =
		must_make(triton, "copy_kernel", COPY_SIGNATURE);
	EACH(i, parts) {
		const char *path =
			text("cache/%s/copy_kernel.%s", made.key, parts[i]);

		if (i == 0)
			SYS(remove(path));
		else
			SYS(truncate(path, 20));
		CHECK(!must_make(triton, "copy_kernel", COPY_SIGNATURE).is_hit);
		CHECK(exists(path));
		CHECK(must_make(triton, "copy_kernel", COPY_SIGNATURE).is_hit);
	}
}

static const char *key_of(struct tkb_triton *triton, const char *signature)
{
	struct tkb_triton_compiled made =
		must_make(triton, "copy_kernel", signature);

	CHECK_STR(made.note, "");
	return made.key;
}

TEST(triton_compile, each_item_of_a_signature_counts)
{
	static const char *const signatures[] = {
		COPY_SIGNATURE,
		"*fp32, *fp32:16, i32, 128",
		"*fp32:16, *fp16:16, i32, 128",
		"*fp32:16, *fp32:16, i32:16, 128",
		"*fp32:16, *fp32:16, i32:1, 128",
		"*fp32:16, *fp32:16, i64, 128",
		"*fp32:16, *fp32:16, i64:16, 128",
		"*fp32:16, *fp32:16, u64, 128",
		"*fp32:16, *fp32:16, fp32, 128",
		"*fp32:16, *fp32:16, i32, 64",
		"*u1:16, *i1, i32, 128",
		"*fp8e4nv:16, *fp8e4nv:16, i32, 128"
	};
	TRITON(triton) = open_triton_for(copy_kernel);
	const char *keys[TKB_COUNT_OF(signatures)];

	EACH(i, signatures) {
		keys[i] = key_of(triton, signatures[i]);
		for (size_t j = 0; j < i; j++)
			CHECK(strcmp(keys[i], keys[j]) != 0);
	}
	/* What a launch does not tell apart is the same. */
	CHECK_STR(key_of(triton, "*fp32:16,*fp32 : 16 ,i32,128"), keys[0]);
	CHECK_STR(key_of(triton, "*fp32:16, *fp32:16, i64:1, 128"), keys[4]);
	CHECK_STR(key_of(triton, "*fp32:16, *fp32:16, 1, 128"), keys[4]);
}

TEST(triton_compile, defaults_stand_for_what_is_left_out)
{
	TRITON(triton) = open_triton_for(
		"@triton.jit\n"
		"def fill_kernel(out, value=16, SIZE: tl.constexpr=64):\n"
		"    tl.store(out + tl.arange(0, SIZE), value)\n");

	const char *key =
		must_make(triton, "fill_kernel", "*i32:16, i32:16, 64").key;

	CHECK_STR(must_make(triton, "fill_kernel", "*i32:16").key, key);
	must_fail(triton, "fill_kernel", "", TKB_ERR_INVALID,
	          "the signature has 0 items, and 'fill_kernel' has 1 to 3 "
	          "parameters: out, value, SIZE");
	must_fail(triton, "fill_kernel", "*i32, i32, 64, 1", TKB_ERR_INVALID,
	          "the signature has 4 items");
}

TEST(triton_compile, constants_are_of_every_kind)
{
	static const char *const constants[] = { "1.5",    "True",       "None",
		                                 "'a, b'", "tl.float16", "-3" };
	TRITON(triton) =
		open_triton_for("@triton.jit\n"
	                        "def one_kernel(out, WHAT: tl.constexpr):\n"
	                        "    tl.store(out, 1)\n");
	const char *keys[TKB_COUNT_OF(constants)];

	EACH(i, constants) {
		keys[i] = must_make(triton, "one_kernel",
		                    text("*i32:16, %s", constants[i]))
		                  .key;
		for (size_t j = 0; j < i; j++)
			CHECK(strcmp(keys[i], keys[j]) != 0);
	}
}

/* As a launch does it, where it can; else it is said. */
TEST(triton_compile, what_no_launch_makes_is_made_and_noted)
{
	static const struct {
		const char *kernel;
		const char *signature;
		const char *note;
	} cases[] = {
		{ "copy_kernel", "*fp32:16, *fp32:16, i8, 128",
		  "a launch passes 'n' as i32, not i8" },
		{ "copy_kernel", "*fp32:16, *fp32:16, fp16, 128",
		  "a launch passes 'n' as fp32, not fp16" },
		{ "copy_kernel", "*fp32:16, *fp32:16, 100, 128",
		  "a launch does not make 'n' a constant" },
		{ "copy_kernel", "*kfp32:16, *fp32:16, i32, 128",
		  "a launch passes 'x' as *fp32, not *kfp32" },
		{ "blind_kernel", "*fp32:16, i32:16",
		  "a launch does not check whether 'n' is a multiple of 16" },
		{ "typed_kernel", "*fp32:16, i8", "" },
		{ "typed_kernel", "*fp32:16, i32",
		  "a launch passes 'n' as i8, not i32" },
	};
	TRITON(triton) =
		open_triton_for(text("%s\n\n"
	                             "@triton.jit(do_not_specialize=['n'])\n"
	                             "def blind_kernel(out, n):\n"
	                             "    tl.store(out, n)\n\n\n"
	                             "@triton.jit\n"
	                             "def typed_kernel(out, n: tl.int8):\n"
	                             "    tl.store(out, n)\n",
	                             copy_kernel));

	EACH(i, cases)
		CHECK_STR(must_make(triton, cases[i].kernel, cases[i].signature)
		                  .note,
		          cases[i].note);
	const char *blind =
		must_make(triton, "blind_kernel", "*fp32:16, i32").key;
	CHECK_STR(must_make(triton, "blind_kernel", "*fp32:16, i32:16").key,
	          blind);
	CHECK_CONTAINS(read_file(text("cache/%s/copy_kernel.ttir",
	                              must_make(triton, "copy_kernel",
	                                        "*fp32:16, *fp32:16, i8, 128")
	                                      .key))
	                       .data,
	               "%n: i8");
}

/* Else a result would name a folder in which there is nothing. */
TEST(triton_compile, an_entry_lands_in_the_root_or_it_is_said_where)
{
	TRITON(triton) = open_triton_for(
		text("import os\n"
	             "os.environ['TRITON_CACHE_DIR'] = '%s/other'\n"
	             "os.umask(0)\n\n\n%s",
	             test_folder(), copy_kernel));

	struct tkb_triton_compiled made =
		must_make(triton, "copy_kernel", COPY_SIGNATURE);
	CHECK_STR(made.folder, text("%s/cache/%s", test_folder(), made.key));
	CHECK(!exists("other"));

	write_kernels(text("triton.knobs.cache.dir = '%s/other'\n\n\n%s",
	                   test_folder(), copy_kernel));
	must_fail(triton, "copy_kernel", COPY_SIGNATURE, TKB_ERR_IO,
	          text("not in '%s/cache'", test_folder()));
}
