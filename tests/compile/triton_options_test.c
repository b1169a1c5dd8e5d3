/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/stat.h>

#include "triton_compile_fixture.h"

/* What goes with a kernel of Triton's: options, environment, the file around it. */

TEST(triton_options, options_are_those_of_a_launch)
{
	TRITON(triton) = open_triton_for(copy_kernel);
	struct tkb_triton_unit unit = unit_of("copy_kernel", COPY_SIGNATURE);
	struct made made;

	struct made plain = make(triton, &unit);
	CHECK_INT(plain.rc, 0);

	unit.num_warps = 4;
	unit.num_stages = 3;
	unit.options = "{\"num_ctas\": 1, \"maxnreg\": null}";
	CHECK_STR(make(triton, &unit).compiled.key, plain.compiled.key);
	unit.num_warps = 2;
	unit.options = "{\"maxnreg\": 64}";
	made = make(triton, &unit);
	CHECK_OK(made.rc, &made.err);
	CHECK_CONTAINS(
		read_file(text("cache/%s/copy_kernel.json", made.compiled.key))
			.data,
		"\"num_warps\": 2, \"num_ctas\": 1, "
		"\"num_stages\": 3, \"warp_size\": 32, "
		"\"maxnreg\": 64");
	unit.options = "{\"num_wraps\": 4}";
	made = make(triton, &unit);
	CHECK_FAILS(made.rc, TKB_ERR_INVALID, &made.err,
	            "Triton 3.6.0 has no option 'num_wraps'; it has: ");
	CHECK_CONTAINS(made.err.message, "num_warps, ");
}

TEST(triton_options, a_parameter_may_be_called_as_an_option)
{
	TRITON(triton) = open_triton_for(
		"@triton.jit\n"
		"def warps_kernel(out, num_warps: tl.constexpr, n):\n"
		"    tl.store(out + n, num_warps)\n");
	struct tkb_triton_unit unit =
		unit_of("warps_kernel", "*i32:16, 8, i32");

	unit.num_warps = 8;
	const struct tkb_triton_compiled made = must_make_unit(triton, &unit);
	CHECK_CONTAINS(file_of(&made, "json"), "\"num_warps\": 8");
}

TEST(triton_options, each_target_has_its_entry)
{
	static const char *const wrong[] = { "xpu:gfx942", "cuda",
		                             "cuda:",      "cuda:9x",
		                             "cuda:90:64", "90",
		                             "cuda:99999" };
	TRITON(triton) = open_triton_for(copy_kernel);
	struct tkb_triton_unit unit = unit_of("copy_kernel", COPY_SIGNATURE);

	const char *key = must_make(triton, "copy_kernel", COPY_SIGNATURE).key;
	unit.target = "cuda:90:32";
	CHECK_STR(make(triton, &unit).compiled.key, key);
	unit.target = "cuda:100";
	const struct tkb_triton_compiled made = must_make_unit(triton, &unit);
	CHECK_CONTAINS(file_of(&made, "ptx"), ".target sm_100a");
	unit.target = "hip:gfx9999";
	must_refuse(triton, &unit, TKB_ERR_INVALID,
	            "there is no target 'hip:gfx9999'");
	EACH(i, wrong) {
		unit.target = wrong[i];
		must_refuse(triton, &unit, TKB_ERR_INVALID,
		            text("'%s' is not a target", wrong[i]));
	}
}

/* The environment of the moment goes with a kernel, not that of its worker. */
TEST(triton_options, variables_that_stand_in_keys_go_along)
{
	static const char *const names[] = { "TRITON_DISABLE_LINE_INFO",
		                             "DISABLE_LLVM_OPT",
		                             "TRITON_DEFAULT_FP_FUSION" };
	TRITON(triton) = open_triton_for(copy_kernel);

	const char *key = must_make(triton, "copy_kernel", COPY_SIGNATURE).key;
	EACH(i, names) {
		SYS(setenv(names[i], i == 2 ? "0" : "1", 1));
		struct tkb_triton_compiled made =
			must_make(triton, "copy_kernel", COPY_SIGNATURE);
		SYS(unsetenv(names[i]));
		CHECK(strcmp(made.key, key) != 0);
		made = must_make(triton, "copy_kernel", COPY_SIGNATURE);
		CHECK_STR(made.key, key);
		CHECK(made.is_hit);
	}
	/* These would leave no entry here. */
	SYS(setenv("TRITON_INTERPRET", "1", 1));
	SYS(setenv("TRITON_CACHE_MANAGER", "none:None", 1));
	SYS(setenv("TRITON_CACHE_DIR", "elsewhere", 1));
	CHECK(must_make(triton, "copy_kernel", COPY_SIGNATURE).is_hit);
	SYS(unsetenv("TRITON_INTERPRET"));
	SYS(unsetenv("TRITON_CACHE_MANAGER"));
	SYS(unsetenv("TRITON_CACHE_DIR"));
	CHECK(!exists("elsewhere"));
}

/* Which ptxas there is stands in the key, and may change while a worker lives. */
TEST(triton_options, another_ptxas_is_another_key)
{
	need_triton(TRITON_USUAL);
	write_kernels(copy_kernel);
	const char *ptxas = run(triton_python, TKB_SCRIPT, "ptxas", NULL).out;
	(void)write_script("ptxas",
	                   "[ \"$1\" != --version ] || exec echo "
	                   "'release 12.8, V12.8.99'\n"
	                   "exec %.*s \"$@\"\n",
	                   (int)strcspn(ptxas, "\n"), ptxas);
	TRITON(triton) = open_triton();
	const char *key = must_make(triton, "copy_kernel", COPY_SIGNATURE).key;

	SYS(setenv("TRITON_PTXAS_PATH", text("%s/ptxas", test_folder()), 1));
	CHECK(strcmp(must_make(triton, "copy_kernel", COPY_SIGNATURE).key,
	             key) != 0);
	SYS(unsetenv("TRITON_PTXAS_PATH"));
	CHECK_STR(must_make(triton, "copy_kernel", COPY_SIGNATURE).key, key);
}

/* Triton itself would take its own instead, without a word. */
TEST(triton_options, a_ptxas_that_is_named_must_be_one)
{
	const struct tkb_triton_options none = { SIZED(none),
		                                 .ptxas = "no/ptxas",
		                                 .python = triton_python,
		                                 .worker = triton_worker };
	const struct tkb_triton_options echo = { SIZED(echo), .ptxas = "echo",
		                                 .worker_count = 1 };
	TRITON(triton) = NULL;

	need_triton(TRITON_USUAL);
	FAILS(tkb_triton_open(&none, &triton, ERR), TKB_ERR_IO,
	      "there is no program 'no/ptxas'");

	write_kernels(copy_kernel);
	(void)write_script("echo", "%s", "");
	triton = open_triton_of(&echo);
	must_fail(triton, "copy_kernel", COPY_SIGNATURE, TKB_ERR_IO,
	          "echo' does not print a version like ptxas");
	CHECK(!exists("cache"));
}

static const char tuned_kernels[] =
	"tuned = triton.autotune([\n"
	"    triton.Config({'SIZE': 64}, num_warps=2),\n"
	"    triton.Config({'SIZE': 128}, num_warps=8, num_stages=2)],\n"
	"    key=['n'])\n\n\n"
	"@tuned\n"
	"@triton.heuristics({'TWO': lambda args: args['SIZE'] // 32,\n"
	"                    'EVEN': lambda args: args['n'] % 2 == 0})\n"
	"@triton.jit\n"
	"def tuned_kernel(out, n, SIZE: tl.constexpr, TWO: tl.constexpr,\n"
	"                 EVEN: tl.constexpr):\n"
	"    at = tl.arange(0, SIZE)\n"
	"    tl.store(out + at, TWO, at < n)\n";

/* With so many warps and stages; 0: Triton's default. The note. */
static const char *note_of(struct tkb_triton *triton, const char *signature,
                           uint32_t num_warps, uint32_t num_stages)
{
	struct tkb_triton_unit unit = unit_of("tuned_kernel", signature);

	unit.num_warps = num_warps;
	unit.num_stages = num_stages;
	return must_make_unit(triton, &unit).note;
}

/* A launch has those of one configuration, and no others. */
static void check_notes(const char *version)
{
	static const char there[] = "; there are: SIZE=64 num_warps=2 "
				    "num_stages=3, SIZE=128 num_warps=8 "
				    "num_stages=2";

	need_triton(version);
	write_kernels(tuned_kernels);
	TRITON(triton) = open_triton();
	CHECK_STR(note_of(triton, "*i32:16, i32, 64, 2, True", 2, 0), "");
	CHECK_STR(note_of(triton, "*i32:16, i32, 64, 2, False", 2, 3), "");
	CHECK_STR(note_of(triton, "*i32:16, i32:16, 128, 4, True", 8, 2), "");
	CHECK_STR(note_of(triton, "*i32:16, i32, 128, 4, True", 8, 0), "");
	CHECK_STR(note_of(triton, "*i32:16, i32, 128, 4, True", 8, 3),
	          text("no launch asks for this: 'tuned_kernel' is autotuned, "
	               "and no configuration of it is SIZE=128 num_warps=8 "
	               "num_stages=3%s",
	               there));
	CHECK_STR(note_of(triton, "*i32:16, i32, 32, 1, True", 2, 3),
	          text("no launch asks for this: 'tuned_kernel' is autotuned, "
	               "and no configuration of it is SIZE=32 num_warps=2 "
	               "num_stages=3%s",
	               there));
	CHECK_STR(note_of(triton, "*i32:16, i32, 64, 2, True", 0, 0), "");
	CHECK_STR(note_of(triton, "*i32:16, i32, 64, 7, True", 2, 3),
	          "no launch asks for this: a heuristic makes 'TWO' 2, not 7");
	/* It is told of what was there, too. */
	CHECK_CONTAINS(note_of(triton, "*i32:16, i32, 64, 7, True", 2, 3),
	               "makes 'TWO' 2");
}

TEST(triton_options, what_no_configuration_has_is_told_by_3_3_1)
{
	check_notes("3.3.1");
}

TEST(triton_options, what_no_configuration_has_is_told_by_3_6_0)
{
	check_notes("3.6.0");
}

TEST(triton_options, what_no_configuration_has_is_told_by_3_9_0)
{
	check_notes("3.9.0");
}

TEST(triton_options, what_stands_around_a_kernel_is_looked_through)
{
	TRITON(triton) = open_triton_for(
		"@triton.autotune([triton.Config({'SIZE': 64})], key=[])\n"
		"@triton.heuristics({'TWO': lambda args: 2})\n"
		"@triton.jit\n"
		"def tuned_kernel(out, SIZE: tl.constexpr, "
		"TWO: tl.constexpr):\n"
		"    tl.store(out + tl.arange(0, SIZE), TWO)\n\n\n"
		"tuned_kernel.fn.fn.add_pre_run_hook(lambda *a, **b: 1 / 0)\n"
		"class Holder:\n"
		"    inner = tuned_kernel\n");

	CHECK_STR(must_make(triton, "Holder.inner", "*i32:16, 64, 2").key,
	          must_make(triton, "tuned_kernel", "*i32:16, 64, 2").key);
}

static void write_pair(const char *folder, const char *package, int value)
{
	SYS(mkdir(folder, 0777));
	if (package[0] != '\0')
		write_text(text("%s/__init__.py", folder), "");
	write_text(text("%s/helper.py", folder),
	           text("import triton.language as tl\n"
	                "VALUE = tl.constexpr(%d)\n",
	                value));
	write_text(text("%s/kernels.py", folder),
	           text("import triton\n"
	                "from %shelper import VALUE\n"
	                "import triton.language as tl\n\n\n"
	                "@triton.jit\n"
	                "def value_kernel(out):\n"
	                "    tl.store(out, VALUE)\n",
	                package));
}

/* A worker that has run one file is to the next as if it had not. */
TEST(triton_options, files_do_not_see_each_others_modules)
{
	static const char *const folders[] = { "one", "two", "three" };
	struct tkb_triton_unit unit = unit_of("value_kernel", "*i32:16");

	need_triton(TRITON_USUAL);
	write_pair("one", "", 111);
	write_pair("two", "", 222);
	write_pair("three", ".", 333);
	TRITON(triton) = open_triton();
	for (size_t i = 0; i < 2 * TKB_COUNT_OF(folders); i++) {
		const size_t which = i % TKB_COUNT_OF(folders);

		unit.file = text("%s/kernels.py", folders[which]);
		const struct tkb_triton_compiled made =
			must_make_unit(triton, &unit);
		CHECK_INT(made.is_hit, i >= TKB_COUNT_OF(folders));
		CHECK_CONTAINS(
			file_of(&made, "ttir"),
			text("%zu%zu%zu", which + 1, which + 1, which + 1));
	}
	CHECK(!exists("one/__pycache__"));
}

/* The text of a kernel is read anew: its line stands in the key. */
TEST(triton_options, a_file_that_changes_is_another)
{
	TRITON(triton) = open_triton_for(copy_kernel);

	const char *key = must_make(triton, "copy_kernel", COPY_SIGNATURE).key;

	write_kernels(text("\n%s", copy_kernel));
	CHECK(strcmp(must_make(triton, "copy_kernel", COPY_SIGNATURE).key,
	             key) != 0);
	write_kernels(copy_kernel);
	CHECK_STR(must_make(triton, "copy_kernel", COPY_SIGNATURE).key, key);
}

TEST(triton_options, a_file_may_ask_for_the_target)
{
	TRITON(triton) =
		open_triton_for("driver = triton.runtime.driver.active\n"
	                        "ARCH = tl.constexpr("
	                        "driver.get_current_target().arch)\n\n\n"
	                        "@triton.jit\n"
	                        "def arch_kernel(out):\n"
	                        "    tl.store(out, ARCH)\n");
	struct tkb_triton_unit unit = unit_of("arch_kernel", "*i32:16");

	unit.target = "cuda:80";
	const struct tkb_triton_compiled made = must_make_unit(triton, &unit);
	CHECK_CONTAINS(file_of(&made, "ttir"), "80 : i32");
}

TEST(triton_options, a_file_is_logged_before_it_is_compiled)
{
	struct tkb_buf log = TKB_BUF_INIT(1024 * 1024);
	const struct tkb_triton_options options = {
		SIZED(options),
		.worker_count = 1,
		.log = tkb_buf_sink(&log),
	};

	need_triton(TRITON_USUAL);
	write_kernels("import os\nos.abort()\n");
	TRITON(triton) = open_triton_of(&options);

	CHECK_INT(make_kernel(triton, "copy_kernel", COPY_SIGNATURE).rc,
	          TKB_ERR_UNAVAILABLE);

	CHECK(tkb_bytes_equal(tkb_buf_bytes(&log), read_file("kernels.py")));
	tkb_buf_release(&log);
}

/* At the same time, too: a file that writes a line each time that it is run. */
TEST(triton_options, what_is_wanted_twice_is_compiled_once)
{
	static const char *const signatures[] = {
		COPY_SIGNATURE, "*fp16:16, *fp16:16, i32, 128", COPY_SIGNATURE
	};
	TRITON(triton) = open_triton_for(
		text("print(1, file=open('runs', 'a'))\n\n\n%s", copy_kernel));
	struct tkb_triton_compile *compiles[3] = { NULL };
	const struct tkb_triton_compiled *made[3] = { NULL };

	for (size_t i = 0; i < 3; i++) {
		const struct tkb_triton_unit unit =
			unit_of("copy_kernel", signatures[i]);

		OK(tkb_triton_submit(triton, &unit, &compiles[i], ERR));
	}
	for (size_t i = 0; i < 3; i++)
		OK(tkb_triton_wait(compiles[i], TKB_FOREVER, &made[i], ERR));
	CHECK_STR(made[0]->key, made[2]->key);
	CHECK(strcmp(made[0]->key, made[1]->key) != 0);
	CHECK_STR(read_file("runs").data, "1\n1\n");
	for (size_t i = 0; i < 3; i++)
		tkb_triton_free(compiles[i]);
}
