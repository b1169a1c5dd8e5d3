/* SPDX-License-Identifier: Apache-2.0 */

/* A module is sent to a worker, and comes back finalized. No ptxas is needed. */

#include "compile_fixture.h"

#include <tkbundle/finalize.h>

static const char table[] =
	"@table = internal addrspace(1) global [2 x i32] [i32 5, i32 7]\n"
	"define internal i32 @helper(ptr addrspace(1) %p) {\n"
	"  %x = load i32, ptr addrspace(1) %p\n"
	"  ret i32 %x\n"
	"}\n"
	"define ptx_kernel void @one(ptr addrspace(1) %out) {\n"
	"  %p = getelementptr i32, ptr addrspace(1) @table, i32 1\n"
	"  %x = call i32 @helper(ptr addrspace(1) %p)\n"
	"  store i32 %x, ptr addrspace(1) %out\n"
	"  ret void\n"
	"}\n"
	"define ptx_kernel void @two(ptr addrspace(1) %out) {\n"
	"  ret void\n"
	"}\n";

static struct tkb_compiler *open_worker(void)
{
	struct tkb_compiler *compiler = NULL;

	OK(tkb_compiler_open(
		&OPTIONS(.worker = compile_worker(), .worker_count = 1),
		&compiler, ERR));
	return compiler;
}

/* Finalize; the test is skipped where the worker has no LLVM. */
static int try_finalize(struct tkb_bytes module,
                        const struct tkb_finalize_options *options,
                        const char **out, struct tkb_error *err)
{
	COMPILER(compiler) = open_worker();
	BUF(made, 1 << 24);
	const struct tkb_sink sink = tkb_buf_sink(&made);
	const int rc = tkb_finalize(compiler, module, options, &sink, err);

	if (rc == TKB_ERR_UNSUPPORTED) {
		CHECK_CONTAINS(err->message, "without LLVM");
		skip();
	}
	tkb_buf_add_byte(&made, '\0');
	*out = text("%s", (const char *)made.data);
	return rc;
}

static const char *finalize(const struct tkb_finalize_options *options)
{
	const char *out = NULL;

	OK(try_finalize(tkb_text(table), options, &out, ERR));
	return out;
}

static void check_refused(struct tkb_bytes module,
                          const struct tkb_finalize_options *options,
                          const char *part)
{
	const char *out = NULL;

	FAILS(try_finalize(module, options, &out, ERR), TKB_ERR_INVALID, part);
	CHECK_STR(out, "");
}

TEST(worker, finalizes_with_all_steps_by_default)
{
	const char *const out = finalize(NULL);

	CHECK_CONTAINS(out, "store i32 7, ptr addrspace(1) %out");
	CHECK_CONTAINS(out, "@two(");
	CHECK(strstr(out, "@table") == NULL);
	CHECK(strstr(out, "@helper") == NULL);
}

TEST(worker, keeps_the_kernels_that_are_named)
{
	const char *const kernels[] = { "one", NULL };
	const char *const out =
		finalize(&CHOSEN(tkb_finalize_options, .kernels = kernels));

	CHECK_CONTAINS(out, "@one(");
	CHECK(strstr(out, "@two(") == NULL);
}

TEST(worker, leaves_out_steps_that_are_named)
{
	const char *const without[] = { "inline", "fold-globals", "optimize",
		                        NULL };
	const char *const out =
		finalize(&CHOSEN(tkb_finalize_options, .without = without));

	CHECK_CONTAINS(out, "@table = internal addrspace(1) global");
	CHECK_CONTAINS(out, "@helper");
}

TEST(worker, gives_bitcode_where_that_is_wanted)
{
	const char *const out =
		finalize(&CHOSEN(tkb_finalize_options, .is_bitcode = true));

	CHECK(strncmp(out, "BC\xc0\xde", 4) == 0);
}

TEST(worker, prints_the_module_before_and_after_each_step)
{
	static const char *const names[] = {
		"strip",    "internalize", "fold-globals", "resolve-calls",
		"inline",   "propagate",   "peephole",     "cse",
		"dce",      "unroll",      "split",        "read",
		"gather",   "fuse",        "prepack",      "fold",
		"optimize", "hoist",       "verify"
	};
	const struct tkb_finalize_options plain =
		DEFAULTS(tkb_finalize_options);
	const struct tkb_unit unit =
		unit_from("k.ll", TKB_SOURCE_KIND_LLIR, tkb_text(table));
	COMPILER(compiler) = NULL;

	need_llvm();
	OK(tkb_compiler_open(&OPTIONS(.worker = compile_worker(),
	                              .worker_count = 1, .finalize = &plain,
	                              .has_pass_output = true,
	                              .product = TKB_PRODUCT_LLIR),
	                     &compiler, ERR));
	const char *at = compile(compiler, &unit).log;
	EACH(i, names) {
		const char *before = strstr(
			at, text("IR Dump Before finalize's %s ***", names[i]));
		const char *after = strstr(
			at, text("IR Dump After finalize's %s", names[i]));

		CHECK(before != NULL && after != NULL && before < after);
		CHECK(strstr(before, "@one(") < after);
		at = after;
	}
	CHECK_CONTAINS(at, "@one(");
}

TEST(worker, takes_the_users_rules)
{
	static const char rule[] =
		"define i32 @plus.pattern(i32 %x) #0 {\n"
		"  %y = add i32 %x, 41\n"
		"  ret i32 %y\n"
		"}\n"
		"define i32 @plus.replacement(i32 %x) {\n"
		"  %y = sub i32 %x, -41\n"
		"  ret i32 %y\n"
		"}\n"
		"attributes #0 = { \"tkb.rule\"=\"exact\" }\n";
	static const char kernel[] =
		"define ptx_kernel void @k(i32 %x, ptr addrspace(1) %out) {\n"
		"  %y = add i32 %x, 41\n"
		"  store i32 %y, ptr addrspace(1) %out\n"
		"  ret void\n"
		"}\n";
	const struct tkb_bytes rules[] = { tkb_text(rule) };
	const char *const without[] = { "optimize", NULL };
	const struct tkb_finalize_options options = { SIZED(options),
		                                      .without = without,
		                                      .rules = rules,
		                                      .rule_count = 1 };
	const char *out = NULL;

	OK(try_finalize(tkb_text(kernel), &options, &out, ERR));

	CHECK_CONTAINS(out, "sub i32 %x, -41");
}

TEST(worker, refuses_a_step_that_is_not_there)
{
	const char *const without[] = { "unwind", NULL };

	check_refused(tkb_text(table),
	              &CHOSEN(tkb_finalize_options, .without = without),
	              "finalize has no step 'unwind', but strip, ");
}

TEST(worker, refuses_a_kernel_of_another_scheme)
{
	check_refused(
		tkb_text(table),
		&CHOSEN(tkb_finalize_options, .quant = TKB_QUANT_WEIGHT_ONLY),
		"cannot be quantized by 'weight-only': it makes no float");
	check_refused(
		tkb_text(table),
		&CHOSEN(tkb_finalize_options, .quant = (enum tkb_quant)17),
		"there is no quantization 17");
}

TEST(worker, refuses_a_kernel_that_is_not_there)
{
	const char *const kernels[] = { "three", NULL };

	check_refused(tkb_text(table),
	              &CHOSEN(tkb_finalize_options, .kernels = kernels),
	              "the IR has no kernel 'three' to be kept");
}

TEST(worker, refuses_a_target_that_is_not_there)
{
	check_refused(tkb_text(table),
	              &CHOSEN(tkb_finalize_options, .target = "cuda:1"),
	              "'cuda:1'");
}

TEST(worker, refuses_bad_ir)
{
	check_refused(tkb_text("define"), NULL, "bad IR");
}

static int refuse(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)self, (void)bytes, (void)err;
	return TKB_ERR_CANCELLED;
}

TEST(worker, gives_what_the_sink_fails_with)
{
	COMPILER(compiler) = open_worker();
	const struct tkb_sink sink = { refuse, NULL };
	const int rc =
		tkb_finalize(compiler, tkb_text(table), NULL, &sink, ERR);

	if (rc == TKB_ERR_UNSUPPORTED)
		skip();
	CHECK_INT(rc, TKB_ERR_CANCELLED);
}
