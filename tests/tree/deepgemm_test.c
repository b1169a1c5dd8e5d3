/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/deepgemm.h"

#include "harness.h"

/*
 * The hashes are those of get_hex_digest() in csrc/utils/hash.hpp of DeepGEMM 2.6.1,
 * compiled, of the texts that csrc/jit/compiler.hpp puts together.
 */
#define CODE                                                                   \
	"// Includes' hash value: 0123\n"                                      \
	"#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>\n"

static const struct tkb_deepgemm_place first = {
	.package = "/opt/a/deep_gemm",
	.cuda = "/usr/local/cuda",
};

static const struct tkb_deepgemm_place second = {
	.package = "/usr/lib/python3/dist-packages/deep_gemm",
	.cuda = "/opt/cuda",
};

/* Is `from`, of the first place, called `to` at `place`? */
static void check_move(const char *from, const struct tkb_deepgemm_place *place,
                       const char *to)
{
	const struct tkb_bytes code = { CODE, strlen(CODE) };
	char name[TKB_DEEPGEMM_NAME_SIZE];
	char back[TKB_DEEPGEMM_NAME_SIZE];
	size_t way = 0;

	CHECK(tkb_deepgemm_is_name(from));
	CHECK(tkb_deepgemm_reproduce(from, code, &first, false, &way));
	CHECK(tkb_deepgemm_rename(from, code, place, way, name));
	assert_string_equal(name, to);
	/* The same way is found at once, and backwards. */
	CHECK(tkb_deepgemm_reproduce(name, code, place, true, &way));
	CHECK(tkb_deepgemm_rename(name, code, &first, way, back));
	assert_string_equal(back, from);
}

TEST(deepgemm, a_name_is_the_one_that_deepgemm_itself_makes)
{
	check_move("kernel.sm90_gemm.0c2272ef294e884b48668a6970f5b124", &second,
	           "kernel.sm90_gemm.5e934b19cf749a57433dfb1cc9ff8266");
	check_move("kernel.sm90_gemm.59c0a03713eee029a98f5a6bba489f46", &second,
	           "kernel.sm90_gemm.1eb885807af53a66dbeb862795a25cb5");
}

TEST(deepgemm, old_compilers_and_debuggers_flags_are_known)
{
	check_move("kernel.sm90_gemm.9b1170a6c24532606c070461695deb44", &first,
	           "kernel.sm90_gemm.9b1170a6c24532606c070461695deb44");
	check_move("kernel.sm90_gemm.2bd9ee9c2fee5ae8015a552a56c530b6", &first,
	           "kernel.sm90_gemm.2bd9ee9c2fee5ae8015a552a56c530b6");
}

TEST(deepgemm, the_flags_of_vllms_copy_for_an_sm120_are_known)
{
	check_move("kernel.sm120_gemm.35b740af984f92cc802dccd7d9b7c26a",
	           &second,
	           "kernel.sm120_gemm.e93c007331c7e03b71d9f0e98928a770");
	check_move("kernel.sm120_gemm.c2a4ed85d19d8de265beff39fd806ee9",
	           &second,
	           "kernel.sm120_gemm.b5837ea610a217d5fb198666ffe4978b");
	check_move("kernel.sm120_gemm.c2bac546f55035e8ed4b43de8bf9063c",
	           &second,
	           "kernel.sm120_gemm.c584aec431cef7d573cb4c7e56f4c7d5");
}

TEST(deepgemm, a_name_of_another_place_or_code_is_not_reproduced)
{
	static const char name[] =
		"kernel.sm90_gemm.0c2272ef294e884b48668a6970f5b124";
	const struct tkb_bytes code = { CODE, strlen(CODE) };
	size_t way = 0;

	CHECK(!tkb_deepgemm_reproduce(name, code, &second, false, &way));
	CHECK(!tkb_deepgemm_reproduce(
		name, (struct tkb_bytes){ CODE, strlen(CODE) - 1 }, &first,
		false, &way));
	CHECK(!tkb_deepgemm_reproduce(
		"kernel.sm90_gemn.0c2272ef294e884b48668a6970f5b124", code,
		&first, false, &way));
}

TEST(deepgemm, what_nvrtc_compiled_has_no_name_where_cuda_is_not_known)
{
	static const char name[] =
		"kernel.sm90_gemm.59c0a03713eee029a98f5a6bba489f46";
	const struct tkb_deepgemm_place place = { .package = second.package };
	const struct tkb_bytes code = { CODE, strlen(CODE) };
	char out[TKB_DEEPGEMM_NAME_SIZE];
	size_t way = 0;

	CHECK(tkb_deepgemm_reproduce(name, code, &first, false, &way));
	CHECK(!tkb_deepgemm_rename(name, code, &place, way, out));
}

TEST(deepgemm, other_folders_are_none_of_its)
{
	static const char *const names[] = {
		"kernel.sm90_gemm.0c2272ef294e884b48668a6970f5b12",
		"kernel.sm90_gemm.0c2272ef294e884b48668a6970f5b1245",
		"kernel.sm90_gemm.0C2272ef294e884b48668a6970f5b124",
		"sm90_gemm.0c2272ef294e884b48668a6970f5b124",
		"kernel.0c2272ef294e884b48668a6970f5b124",
		"kernel.",
		"kernel",
		"",
	};

	EACH(i, names)
		CHECK(!tkb_deepgemm_is_name(names[i]));
}
