/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include "compile/compiler/publish.h"

/* What a worker says of a kernel comes from a source that nobody trusts. */

#define KEY "KRJX2HQ7F5A3F5S77XLFZIGB7OJNLBQWMK7CXOIKV37EDNGX5SKA"

static void check_is_refused(const char *kernel)
{
	const struct tkb_stage_file file = { "cubin", tkb_text("x") };
	const struct tkb_publication publication = {
		.root = "root",
		.key = KEY,
		.kernel = kernel,
		.files = &file,
		.file_count = 1,
		.metadata = tkb_text("{}"),
	};

	FAILS(tkb_publication_write(&publication, ERR), TKB_ERR_CORRUPT,
	      "cannot be a kernel's name");
	CHECK(!exists("root/" KEY));
	CHECK(!exists("root/.tkbundle/escaped.cubin"));
}

TEST(publish, takes_no_kernel_whose_name_leaves_its_folder)
{
	check_is_refused("../../escaped");
	check_is_refused("a/b");
	check_is_refused("a\nb");
}

TEST(publish, finds_no_target_in_what_is_shorter_than_one)
{
	static const char *const texts[] = { "", "c", "cuda",
		                             "cuda:", "cuda:9" };

	EACH(i, texts) {
		char *exact = test_alloc(strlen(texts[i]) + 1);

		strcpy(exact, texts[i]);
		FAILS(tkb_target_check(exact, ERR), TKB_ERR_INVALID, "target");
	}
}
