/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "triton_compile_fixture.h"

/* `tkbundle compile`, given Triton's kernels. */

static struct outcome compile(const char *input, const char *more,
                              const char *value)
{
	const char *tmp = text("%s/tmp", test_folder());

	(void)mkdir(tmp, 0700);
	return run("/usr/bin/env", text("TMPDIR=%s", tmp), program(), "compile",
	           input, "--python", triton_python, "--target", "cuda:90",
	           "--cache", "cache", "-j1", more, value, NULL);
}

#define KERNEL "\"file\": \"kernels.py\", \"kernel\": \"copy_kernel\""
#define SIGNATURE "\"signature\": \"" COPY_SIGNATURE "\""

/* The entries of a cache; what is noted of them, in .tkbundle, stands first. */
static const char **keys_of(const char *root)
{
	const char **names = list(root);

	while (*names != NULL && **names == '.')
		names++;
	return names;
}

TEST(triton_cli, one_kernel_is_compiled_and_is_a_hit_then)
{
	need_triton(TRITON_USUAL);
	write_kernels(copy_kernel);

	struct outcome made = compile("kernels.py:copy_kernel", "--signature",
	                              COPY_SIGNATURE);
	CHECK_STR(made.err, "");
	CHECK_INT(made.status, 0);
	CHECK_CONTAINS(made.out, "compiled 1, hits 0, failed 0");
	CHECK_CONTAINS(made.out,
	               text("Triton %s (%s)", TRITON_USUAL, triton_python));

	made = compile("kernels.py:copy_kernel", "-v",
	               "--signature=" COPY_SIGNATURE);
	CHECK_CONTAINS(made.out, text("hit %s copy_kernel of "
	                              "kernels.py:copy_kernel for cuda:90\n",
	                              *keys_of("cache")));
	CHECK_CONTAINS(made.out, "compiled 0, hits 1, failed 0");
}

TEST(triton_cli, a_signature_is_wanted)
{
	struct outcome made = compile("kernels.py:copy_kernel", NULL, NULL);

	CHECK_INT(made.status, 2);
	CHECK_CONTAINS(made.err, "'--signature ITEMS' is missing, for "
	                         "'kernels.py:copy_kernel'");
}

TEST(triton_cli, the_document_tells_of_each)
{
	need_triton(TRITON_USUAL);
	write_kernels(copy_kernel);
	write_text("list.json",
	           "[{" KERNEL ", \"signature\": [\"" COPY_SIGNATURE
	           "\", \"*fp32:16, *fp32:16, i8, 128\"]}]");

	struct outcome made = compile("list.json", "--json", NULL);

	CHECK_INT(made.status, 0);
	CHECK_CONTAINS(made.out,
	               text("{\"input\":\"kernels.py:copy_kernel\","
	                    "\"signature\":\"%s\","
	                    "\"configuration\":\"\",\"target\":\"cuda:90\","
	                    "\"key\":\"",
	                    COPY_SIGNATURE));
	CHECK_CONTAINS(made.out,
	               "\"kernel\":\"copy_kernel\",\"outcome\":\"compiled\","
	               "\"message\":\"\",\"note\":\"\","
	               "\"unasked\":false,\"triton\":"
	               "\"" TRITON_USUAL "\"}");
	CHECK_CONTAINS(made.out,
	               "\"note\":\"a launch passes 'n' as i32, not i8\"");
	CHECK_STR(made.err, "tkbundle: kernels.py:copy_kernel for cuda:90: "
	                    "warning: a launch passes 'n' as i32, not i8\n");
}

/* What the list says of a kernel counts more than the command line. */
TEST(triton_cli, a_list_has_warps_and_targets_of_its_own)
{
	size_t count = 0;

	need_triton(TRITON_USUAL);
	write_kernels(copy_kernel);
	write_text("list.json",
	           "[{" KERNEL ", " SIGNATURE ", \"num_warps\": 2, "
	           "\"targets\": [\"cuda:80\", \"cuda:90\"]}, "
	           "{" KERNEL ", " SIGNATURE "}]");

	struct outcome made = compile("list.json", "--num-warps", "8");

	CHECK_STR(made.err, "");
	CHECK_INT(made.status, 0);
	for (const char **keys = keys_of("cache"); *keys != NULL; keys++) {
		const char *json =
			read_file(text("cache/%s/copy_kernel.json", *keys))
				.data;
		const bool is_80 = strstr(json, "\"arch\": 80") != NULL;
		const bool is_8 = strstr(json, "\"num_warps\": 8") != NULL;

		CHECK(!is_80 || !is_8);
		CHECK(is_8 || strstr(json, "\"num_warps\": 2") != NULL);
		count += is_8 ? 10 : 1;
	}
	CHECK_INT(count, 12);
}

TEST(triton_cli, a_list_that_cannot_be_read_fails_as_a_kernel_does)
{
	struct outcome made = compile("none.json", "--json", NULL);
	CHECK_INT(made.status, 3);
	CHECK_STR(made.err, "tkbundle: there is no 'none.json'\n");
	CHECK_CONTAINS(made.out, "\"kernels\":[{\"input\":\"none.json\","
	                         "\"signature\":\"\",\"configuration\":\"\","
	                         "\"target\":\"\",\"key\":\"\","
	                         "\"kernel\":\"\",\"outcome\":\"failed\","
	                         "\"message\":\"there is no 'none.json'\"}],"
	                         "\"compiled\":0,\"hits\":0,\"failed\":1,");

	need_triton(TRITON_USUAL);
	write_kernels(copy_kernel);
	write_text("bad.json", "{}");
	made = compile("bad.json", "kernels.py:copy_kernel",
	               "--signature=" COPY_SIGNATURE);
	CHECK_INT(made.status, 1);
	CHECK_CONTAINS(made.err,
	               "tkbundle: 'bad.json' is not a list of kernels");
	CHECK_CONTAINS(made.out, "compiled 0, hits 0, failed 1, left 1 ");
	write_text("list.json", "[{\"file\": \"no.py\", \"kernel\": \"k\", "
	                        "\"signature\": \"i32\"}]");
	made = compile("list.json", NULL, NULL);
	CHECK_INT(made.status, 3);
	CHECK_STR(made.err, "tkbundle: there is no 'no.py'\n");
}

static void write_three(void)
{
	write_kernels(copy_kernel);
	write_text("list.json",
	           "[{" KERNEL ", " SIGNATURE "}, "
	           "{" KERNEL ", \"signature\": \"i33\"}, "
	           "{" KERNEL ", " SIGNATURE ", \"num_warps\": 8}]");
}

TEST(triton_cli, after_a_failure_the_rest_is_left)
{
	need_triton(TRITON_USUAL);
	write_three();

	struct outcome made = compile("list.json", NULL, NULL);

	CHECK_INT(made.status, 4);
	CHECK_CONTAINS(
		made.err,
		"tkbundle: kernels.py:copy_kernel for cuda:90: item 1 of "
		"the signature, 'i33', is neither");
	CHECK_CONTAINS(made.out, "compiled 1, hits 0, failed 1, left 1 ");
}

TEST(triton_cli, or_it_goes_on)
{
	need_triton(TRITON_USUAL);
	write_three();

	struct outcome made = compile("list.json", "--keep-going", NULL);

	CHECK_INT(made.status, 4);
	CHECK_CONTAINS(made.out, "compiled 2, hits 0, failed 1 ");
}

TEST(triton_cli, a_list_may_name_pythons)
{
	need_triton(TRITON_USUAL);
	write_kernels(copy_kernel);
	(void)write_script("own", "exec %s \"$@\"\n", triton_python);
	write_text("list.json",
	           text("[{%s, %s, \"python\": \"%s/own\"}, "
	                "{%s, %s, \"python\": \"no-such-python\"}, "
	                "{%s, %s, \"num_warps\": 8}, "
	                "{%s, %s, \"num_warps\": 2, \"python\": \"%s/own\"}]",
	                KERNEL, SIGNATURE, test_folder(), KERNEL, SIGNATURE,
	                KERNEL, SIGNATURE, KERNEL, SIGNATURE, test_folder()));

	struct outcome made = compile("list.json", "--keep-going", NULL);

	CHECK_INT(made.status, 4);
	CHECK_STR(made.err,
	          "tkbundle: there is no 'no-such-python' on $PATH\n");
	CHECK_CONTAINS(made.out, "compiled 3, hits 0, failed 1 ");
	CHECK_CONTAINS(made.out, text("(%s/own), Triton", test_folder()));
}

TEST(triton_cli, a_deadline_ends_it)
{
	need_triton(TRITON_USUAL);
	write_kernels("while True:\n    pass\n");
	write_text("list.json", "[{" KERNEL ", " SIGNATURE "}, {" KERNEL
	                        ", " SIGNATURE "}]");

	struct outcome made = compile("list.json", "--deadline", "500ms");

	CHECK_INT(made.status, 1);
	CHECK_CONTAINS(made.err,
	               "the deadline of 500ms ended it: 2 kernels are left");
}

TEST(triton_cli, what_failed_is_told_whole)
{
	need_triton(TRITON_USUAL);
	write_kernels("@triton.jit\n"
	              "def bad_kernel(out):\n"
	              "    tl.store(out, unknown_name)\n");

	struct outcome made =
		compile("kernels.py:bad_kernel", "--signature", "*i32:16");

	CHECK_INT(made.status, 1);
	CHECK_CONTAINS(made.err, "tkbundle: kernels.py:bad_kernel for cuda:90: "
	                         "'bad_kernel' does not compile: "
	                         "at 2:18: NameError(");
	CHECK_CONTAINS(made.err, "\nTraceback (most recent call last):\n");
	CHECK_CONTAINS(made.err, "\n    tl.store(out, unknown_name)\n");
}

TEST(triton_cli, what_autotuning_never_chooses_is_warned_of)
{
	need_triton(TRITON_USUAL);
	write_kernels(
		"@triton.autotune([triton.Config({'SIZE': 64})], key=[])\n"
		"@triton.jit\n"
		"def tuned_kernel(out, SIZE: tl.constexpr):\n"
		"    tl.store(out + tl.arange(0, SIZE), 1)\n");

	struct outcome made = compile("kernels.py:tuned_kernel", "--signature",
	                              "*i32:16, 64");
	CHECK_STR(made.err, "");
	made = compile("kernels.py:tuned_kernel", "--signature", "*i32:16, 32");
	CHECK_INT(made.status, 0);
	CHECK_STR(made.err, "tkbundle: kernels.py:tuned_kernel for cuda:90: "
	                    "warning: no launch asks for this: 'tuned_kernel' "
	                    "is autotuned, and no configuration of it is "
	                    "SIZE=32; there are: "
	                    "SIZE=64 num_warps=4 num_stages=3\n");
}
