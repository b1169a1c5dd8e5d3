/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/moved.h"

#include "harness.h"

static const struct tkb_named_root roots[] = {
	{ .name = "t", .path = "/new/root" },
	{ .name = "other", .path = "/other" },
};
static const struct tkb_text_place place = { .tree = "t", .folder = "a/b" };

/* `from` becomes `wanted`, and counts as moved if `is_moved`. */
static void must_become(enum tkb_path_style style,
                        const struct tkb_text_place *at, const char *from,
                        const char *wanted, bool is_moved)
{
	struct tkb_buf *out = test_buf(4096);
	uint32_t sentinels = 0;
	bool was_moved = !is_moved;

	OK(tkb_moved_scrub(tkb_text(from), style, at, roots, 2, out, &sentinels,
	                   &was_moved, ERR));
	CHECK_STR(test_bytes(tkb_buf_bytes(out)), wanted);
	CHECK_INT(was_moved, is_moved);
}

/* A text, and what becomes of it. */
struct row {
	const char *from;
	const char *wanted;
	bool is_moved;
};

TEST(moved, root_is_what_stands_before_the_units_folder)
{
	static const struct row rows[] = {
		{ "'/new/root/a/b/c'", "'[REPLACE:t]/a/b/c'", false },
		{ "'/old/a/b/c'", "'[REPLACE:t]/a/b/c'", true },
		{ "'/o ld/a/b/c'", "'[REPLACE:t]/a/b/c'", true },
		{ "1: '/old/a/b/c', '/old/x'",
		  "1: '[REPLACE:t]/a/b/c', '[REPLACE:t]/x'", true },
		{ "'/old/a/b/c', '/other/x'",
		  "'[REPLACE:t]/a/b/c', '[REPLACE:other]/x'", true },
		{ "'/old/a/bc'", "'/old/a/bc'", false },
		{ "'/old/xa/b/c'", "'/old/xa/b/c'", false },
		{ "'a/b/c'", "'a/b/c'", false },
		{ "'/a/b/c'", "'/a/b/c'", false },
		{ "'old/a/b/c'", "'old/a/b/c'", false },
		{ "/a/b", "/a/b", false },
		{ "", "", false },
	};

	EACH(i, rows)
		must_become(TKB_PATH_STYLE_PYTHON, &place, rows[i].from,
		            rows[i].wanted, rows[i].is_moved);
}

TEST(moved, root_ends_at_a_space_where_paths_have_no_quotes)
{
	must_become(TKB_PATH_STYLE_TEXT, &place, "-I /old/a/b/c",
	            "-I [REPLACE:t]/a/b/c", true);
}

TEST(moved, root_of_a_file_that_is_a_unit_is_not_guessed)
{
	static const struct tkb_text_place file = { .tree = "t",
		                                    .folder = "." };

	must_become(TKB_PATH_STYLE_PYTHON, &file, "'/usr/./lib', '/new/root/x'",
	            "'/usr/./lib', '[REPLACE:t]/x'", false);
}

TEST(moved, text_is_mixed_if_a_path_into_the_folder_is_left)
{
	static const char *const mixed[] = { "'/old/a/b/c'",
		                             "[REPLACE:t]/a/b/c /x/a/b/c",
		                             "/a/b/" };
	static const char *const fine[] = { "'[REPLACE:t]/a/b/c'",
		                            "'[REPLACE:t:ascii]/a/b/c'",
		                            "a/b/c", "", "/a/b" };

	EACH(i, mixed)
		CHECK(tkb_moved_is_mixed(tkb_text(mixed[i]), &place));
	EACH(i, fine)
		CHECK(!tkb_moved_is_mixed(tkb_text(fine[i]), &place));
}
