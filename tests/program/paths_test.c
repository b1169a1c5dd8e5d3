/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "report/path_table.h"
#include "config/paths.h"

static struct tkb_bytes bytes_of(const char *contents)
{
	return (struct tkb_bytes){ contents, strlen(contents) };
}

/* The paths in `bytes`, a blank behind each. */
static const char *paths_in(struct tkb_bytes bytes)
{
	struct tkb_bytes path;
	const char *all = "";
	size_t at = 0;

	while (paths_next(bytes, &at, &path))
		all = text("%s%.*s ", all, (int)path.size,
		           (const char *)path.data);
	CHECK_INT(at, bytes.size);
	return all;
}

static void check_paths(const char *contents, const char *wanted)
{
	CHECK_STR(paths_in(bytes_of(contents)), wanted);
}

TEST(paths, are_absolute_and_have_two_parts)
{
	check_paths("#loc = loc(\"/srv/app/model.py\":9:0)",
	            "/srv/app/model.py ");
	check_paths("\t.file\t1 \"/srv/app/model.py\"\n", "/srv/app/model.py ");
	check_paths("!DIFile(filename: \"a.py\", directory: \"/srv/app\")",
	            "/srv/app ");
	check_paths("/a/b", "/a/b ");
	check_paths("/opt/C++/a_b-c@2.0~1/x", "/opt/C++/a_b-c@2.0~1/x ");
	check_paths("/a/b:/c/d,/e/f", "/a/b /c/d /e/f ");
	check_paths("/srv/app/", "/srv/app ");
}

TEST(paths, are_no_comments_divisions_tags_or_addresses)
{
	check_paths("// x.py:30:0", "");
	check_paths("//x/y/z", "");
	check_paths("a / b / c", "");
	check_paths("a/b/c", "");
	check_paths("</s>", "");
	check_paths("\"/usr\"", "");
	check_paths("https://example.org/a/b", "");
	check_paths("text/x-c/d", "");
	check_paths("../a/b/c ./a/b ~/a/b", "");
	check_paths("/", "");
	check_paths("", "");
	check_paths("/a//b/c", "");
}

TEST(paths, below_a_sentinel_are_none)
{
	check_paths("\"[REPLACE]/a.json\"", "");
	check_paths("\"[REPLACE]/a/b.json\"", "");
	check_paths("\"[REPLACE]\" /a/b", "/a/b ");
	check_paths("REPLACE]/a/b", "/a/b ");
}

TEST(paths, are_found_between_bytes_of_any_kind)
{
	static const char binary[] = "\0/srv/app\0\377/a/b\377/c/\200\0/d/e";
	const struct tkb_bytes bytes = { binary, sizeof(binary) - 1 };

	CHECK_STR(paths_in(bytes), "/srv/app /a/b /d/e ");
	CHECK_STR(paths_in((struct tkb_bytes){ NULL, 0 }), "");
}

TEST(paths, are_as_long_as_a_system_takes_them)
{
	char *longest = test_alloc(PATH_MAX + 1);

	memset(longest, 'x', PATH_MAX);
	memcpy(longest, "/a/", 3);
	CHECK_STR(paths_in((struct tkb_bytes){ longest, PATH_MAX }), "");
	CHECK_INT(strlen(paths_in((struct tkb_bytes){ longest, PATH_MAX - 1 })),
	          PATH_MAX);
}

static bool is_part(char byte)
{
	return strchr("ab.", byte) != NULL;
}

/* What paths.h says, word by word, of texts of "ab./ x". */
static const char *expected(const char *contents)
{
	const char *all = "";

	for (size_t i = 0; contents[i] != '\0'; i++) {
		size_t end = i;
		size_t parts = 0;

		if (contents[i] != '/' || (i > 0 && (is_part(contents[i - 1]) ||
		                                     contents[i - 1] == '/')))
			continue;
		while (contents[end] == '/' && contents[end + 1] != '\0' &&
		       is_part(contents[end + 1])) {
			for (end++;
			     contents[end] != '\0' && is_part(contents[end]);
			     end++)
				;
			parts++;
		}
		if (parts >= 2)
			all = text("%s%.*s ", all, (int)(end - i),
			           contents + i);
	}
	return all;
}

TEST(paths, of_every_short_text_are_those_that_the_rule_names)
{
	static const char letters[] = "/a. ";
	char contents[9] = "";

	for (unsigned number = 0; number < 1u << 16; number++) {
		for (unsigned i = 0; i < 8; i++)
			contents[i] = letters[number >> 2 * i & 3];
		CHECK_STR(paths_in(bytes_of(contents)), expected(contents));
	}
}

static const char *own_of(const char *group)
{
	const struct tkb_bytes own = paths_own(bytes_of(group), "KEY");

	return text("%.*s", (int)own.size, (const char *)own.data);
}

TEST(own_path, is_what_the_group_file_names)
{
	CHECK_STR(own_of("{\"child_paths\": {\"a\": \"/x/KEY/a\"}}"), "/x/KEY");
	CHECK_STR(own_of("{\"a\": \"/a b/(c)/\\u00fc/KEY/a\"}"),
	          "/a b/(c)/\\u00fc/KEY");
	CHECK_STR(own_of("{\"a\": \"/x/\\\"b\\\" c\\\\/d/KEY/a\"}"),
	          "/x/\\\"b\\\" c\\\\/d/KEY");
	CHECK_STR(own_of("{\"KEY\": \"x\", \"b\": \"/KEY/KEY/b\"}"), "/KEY");
	CHECK_STR(own_of("{\"a\": \"/MONKEY/a\", \"b\": \"/x/KEY/b\"}"),
	          "/x/KEY");
	CHECK_STR(own_of("{\"child_paths\": [\"a\", \"b\"]}"), "");
	CHECK_STR(own_of("/KEY/"), "");
	CHECK_STR(own_of("KEY"), "");
	CHECK_STR(own_of(""), "");
}

/* What is left of `json`, and how often `own` was in it. */
static void check_own(const char *json, const char *own, const char *left,
                      size_t count)
{
	struct tkb_bytes part;
	const char *all = "";
	size_t found = 0;
	size_t at = 0;

	while (paths_next_own(bytes_of(json), bytes_of(own), &at, &part)) {
		all = text("%s%.*s*", all, (int)part.size,
		           (const char *)part.data);
		found++;
	}
	all = text("%s%.*s", all, (int)part.size, (const char *)part.data);
	CHECK_STR(all, left);
	CHECK_INT(found, count);
}

TEST(own_path, is_cut_out_of_strings_that_are_it_or_below_it)
{
	check_own("{\"a\": \"/x/KEY/a\", \"b\": \"/x/KEY\"}", "/x/KEY",
	          "{\"a\": \"*\", \"b\": \"*\"}", 2);
	check_own("[\"/x/KEYS/a\", \"/y/x/KEY/a\", \"/x/KEY\"]", "/x/KEY",
	          "[\"/x/KEYS/a\", \"/y/x/KEY/a\", \"*\"]", 1);
	check_own("[\"/a (b)/KEY/c/d\"]", "/a (b)/KEY", "[\"*\"]", 1);
	check_own("[\"/\\\"b\\\"/c/KEY/c\"]", "/\\\"b\\\"/c/KEY", "[\"*\"]", 1);
	check_own("[\"/x/KEY/a", "/x/KEY", "[\"*", 1);
	check_own("/x/KEY/a", "/x/KEY", "/x/KEY/a", 0);
	check_own("[\"/x/KEY", "/x/KEY", "[\"/x/KEY", 0);
	check_own("[\"/x/KEY\"]", "", "[\"/x/KEY\"]", 0);
	check_own("", "/x/KEY", "", 0);
}

TEST(path_table, counts_and_puts_the_most_frequent_first)
{
	static const char *const paths[] = { "/b/b", "/a/a",  "/c/c", "/c/c",
		                             "/c",   "/c/cc", "/c/c" };
	static const char *const sorted[] = { "/c/c", "/a/a", "/b/b", "/c",
		                              "/c/cc" };
	struct path_table table = { .count = 0 };

	for (size_t i = 0; i < TKB_COUNT_OF(paths); i++)
		CHECK(path_table_add(&table, bytes_of(paths[i])));
	path_table_sort(&table);

	CHECK_INT(table.count, TKB_COUNT_OF(sorted));
	CHECK_INT(table.total, TKB_COUNT_OF(paths));
	for (size_t i = 0; i < table.count; i++) {
		CHECK_STR(table.items[i]->text, sorted[i]);
		CHECK_INT(table.items[i]->count, i == 0 ? 3 : 1);
	}
	path_table_release(&table);
}

TEST(path_table, keeps_a_limited_number_and_counts_the_rest)
{
	struct path_table table = { .count = 0 };
	char path[32];

	for (int i = 0; i < PATH_TABLE_LIMIT + 3; i++) {
		(void)snprintf(path, sizeof(path), "/a/%d", i);
		CHECK(path_table_add(&table, bytes_of(path)));
	}
	CHECK(path_table_add(&table, bytes_of("/a/0")));

	CHECK_INT(table.count, PATH_TABLE_LIMIT);
	CHECK_INT(table.beyond, 3);
	CHECK_INT(table.total, PATH_TABLE_LIMIT + 4);
	path_table_sort(&table);
	CHECK_STR(table.items[0]->text, "/a/0");
	CHECK_INT(table.items[0]->count, 2);
	path_table_release(&table);
}

TEST(path_table, keeps_a_limited_number_of_bytes)
{
	struct path_table table = { .count = 0 };
	const size_t size = PATH_MAX - 2; /* so that 4 bytes are left */
	char *path = test_alloc(size + 1);
	const size_t limit = PATH_TABLE_SIZE_LIMIT / size;

	memset(path, 'x', size);
	for (size_t i = 0; i <= limit; i++) {
		(void)snprintf(path, size, "/a/%05zu", i);
		path[8] = 'x';
		CHECK(path_table_add(&table, (struct tkb_bytes){ path, size }));
	}

	CHECK_INT(table.count, limit);
	CHECK_INT(table.beyond, 1);
	CHECK(table.size <= PATH_TABLE_SIZE_LIMIT);
	CHECK(path_table_add(&table, bytes_of("/a/b")));
	CHECK_INT(table.count, limit + 1);
	path_table_release(&table);
}
