/* SPDX-License-Identifier: Apache-2.0 */

/* What a worker answers is not believed, nor what it read in a source. */

#include "compile_fixture.h"

#include <stdlib.h>

#include "compile/pool/fields.h"

static const struct versions tools = { "", "", "", "", "" };

/* A worker answers so, and nothing comes of it. */
static void check_refused(const struct tkb_compiler_options *options,
                          struct tkb_bytes answer, const char *part)
{
	struct tkb_compiler_options chosen = *options;

	chosen.cache_root = options->product == TKB_PRODUCT_PTX ? NULL : "root";
	SYS(setenv("ECHO", "1", 1));
	COMPILER(compiler) = open_answering(&chosen, &tools);
	must_fail(compiler,
	          &CHOSEN(tkb_unit, .name = "any", .target = "cuda:90",
	                  .kind = TKB_SOURCE_KIND_PTX, .source = answer),
	          TKB_ERR_CORRUPT, part);
	CHECK(!exists("root") || count_entries("root") == 0);
	CHECK_STR(run("find", ".", "-name", "*.cubin", NULL).out, "");
}

TEST(answer, without_what_was_asked_for_is_refused)
{
	static const enum tkb_field products[] = { TKB_FIELD_PTX,
		                                   TKB_FIELD_CUBIN };
	static const char lacks[] =
		"a worker's answer lacks the requested product";

	for (size_t i = 0; i < TKB_COUNT_OF(products); i++) {
		const struct tkb_compiler_options *const options =
			&OPTIONS(.product = i == 0 ? TKB_PRODUCT_PTX
		                                   : TKB_PRODUCT_CUBIN);
		BUF(other, 4096);
		BUF(nameless, 4096);
		BUF(empty, 4096);

		tkb_field_add_text(&other, TKB_FIELD_KERNEL, "add");
		tkb_field_add_text(&other, products[1 - i], "of another stage");
		check_refused(options, tkb_buf_bytes(&other), lacks);
		tkb_field_add_text(&nameless, products[i], "of no kernel");
		check_refused(options, tkb_buf_bytes(&nameless), lacks);
		tkb_field_add_text(&empty, TKB_FIELD_KERNEL, "add");
		tkb_field_add_text(&empty, products[i], "");
		check_refused(options, tkb_buf_bytes(&empty), lacks);
	}
}

TEST(answer, that_is_cut_short_is_refused)
{
	BUF(whole, 4096);

	tkb_field_add_text(&whole, TKB_FIELD_KERNEL, "add");
	tkb_field_add_text(&whole, TKB_FIELD_CUBIN, "of which a byte is gone");
	check_refused(&DEFAULTS(tkb_compiler_options),
	              tkb_bytes_slice(tkb_buf_bytes(&whole), 0, whole.size - 1),
	              "a field is cut short");
}

TEST(answer, about_tools_that_is_cut_short_is_refused)
{
	SYS(setenv("TOOLS", "half", 1));
	check_refused(&DEFAULTS(tkb_compiler_options), tkb_text("any"),
	              "a field is cut short");
	SYS(unsetenv("TOOLS"));
}

TEST(answer, with_a_kernel_whose_name_leaves_its_folder_is_refused)
{
	static const char *const names[] = { "../../escaped", "a/b", "a\nb" };

	EACH(i, names) {
		BUF(named, 4096);

		tkb_field_add_text(&named, TKB_FIELD_KERNEL, names[i]);
		tkb_field_add_text(&named, TKB_FIELD_PTX, "any");
		tkb_field_add_text(&named, TKB_FIELD_CUBIN, "any");
		check_refused(&DEFAULTS(tkb_compiler_options),
		              tkb_buf_bytes(&named),
		              "cannot be a kernel's name");
	}
}
