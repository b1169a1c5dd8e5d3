/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/glob.h"

#include "harness.h"

/* Patterns and paths, in pairs; the last is NULL. */
static void check_all(const char *const *pairs, bool wanted)
{
	for (; *pairs != NULL; pairs += 2) {
		if (tkb_glob_matches(pairs[0], pairs[1]) != wanted)
			fail_msg("'%s' %s '%s'", pairs[0],
			         wanted ? "does not match" : "matches",
			         pairs[1]);
	}
}

static void must_match(const char *const *pairs)
{
	check_all(pairs, true);
}

static void must_not_match(const char *const *pairs)
{
	check_all(pairs, false);
}

#define PAIRS(...) ((const char *const[]){ __VA_ARGS__, NULL })

TEST(glob, a_pattern_matches_the_whole_path)
{
	must_match(PAIRS("a", "a", "a/b", "a/b", "a.b-c_d", "a.b-c_d"));
	must_not_match(PAIRS("a", "ab", "a", "ba", "a", "a/b", "b", "a/b",
	                     "a/b", "a", "a.b", "axb", "", "a", "a", "", "", "",
	                     "a/", "a", "a", "a/", "a//b", "a/b"));
}

TEST(glob, a_star_takes_any_part_of_a_name)
{
	must_match(PAIRS("*", "a", "*", ".hidden", "*.lock", ".lock", "*.lock",
	                 "a.b.lock", "tmp.*", "tmp.", "a*b*c", "abbbc", "a*b*c",
	                 "a-bc-bc", "a*", "a", "a***b", "ab", "*a*a*", "aa",
	                 "*/x", "a/x", "a**b", "a--b"));
	must_not_match(PAIRS("*.lock", "a.lock.x", "*", "a/b", "a*b", "a/b",
	                     "*a*a*", "a", "a*b*c", "acb", "a**b", "a/b"));
}

TEST(glob, a_question_mark_is_one_character)
{
	must_match(PAIRS("?", "a", "a?c", "abc", "?", "\xc3\xa9", "??",
	                 "\xf0\x9f\x98\x80x", "?", "\xff"));
	must_not_match(
		PAIRS("?", "", "?", "ab", "a?b", "a/b", "??", "\xc3\xa9"));
}

TEST(glob, a_set_is_one_of_its_characters)
{
	must_match(PAIRS("[abc]", "b", "[a-c]x", "bx", "[!a-c]", "d", "[]]",
	                 "]", "[!]]", "a", "[a-]", "-", "[*]", "*", "[?]", "?",
	                 "[\xc3\xa0-\xc3\xbf]", "\xc3\xa9", "x[0-9a-f]y", "xdy",
	                 "[]-]", "-", "[--]", "-"));
	must_not_match(PAIRS("[abc]", "d", "[abc]", "", "[abc]", "ab", "[a-c]",
	                     "d", "[!a-c]", "b", "[*]", "a", "a[!b]c", "a/c",
	                     "a[.-0]c", "a/c", "[!]]", "]"));
}

TEST(glob, a_bracket_that_nothing_closes_is_a_bracket)
{
	must_match(PAIRS("[", "[", "[ab", "[ab", "[]", "[]", "[!]", "[!]",
	                 "a[/b]", "a[/b]", "[!", "[!", "[a-", "[a-"));
	must_not_match(PAIRS("[ab", "a", "a[/b]", "a/b]", "[", ""));
}

TEST(glob, two_stars_and_a_slash_are_any_number_of_folders)
{
	must_match(PAIRS("**/x", "x", "**/x", "a/x", "**/x", "a/b/x", "a/**/x",
	                 "a/x", "a/**/x", "a/b/c/x", "**/a/*/x", "a/a/b/x",
	                 "**/a/**/b", "a/a/c/b/b", "**/**/x", "x", "**/*.lock",
	                 "locks/a.lock", "**/a/x", "a/b/a/a/x"));
	must_not_match(PAIRS("**/x", "ax", "**/x", "x/a", "a/**/x", "x",
	                     "a/**/x", "b/a/x", "a/**/x", "ax", "**/", "a",
	                     "**/", "a/b", "a**/x", "a/b/x", "**/a/*/x",
	                     "a/x"));
}

TEST(glob, two_stars_at_the_end_are_all_below)
{
	must_match(PAIRS("**", "a", "**", "a/b/c", "a/**", "a/b", "a/**",
	                 "a/b/c", "**/t/**", "a/t/b/c"));
	must_not_match(
		PAIRS("a/**", "a", "a/**", "a/", "a/**", "b/a", "**", ""));
}

TEST(glob, no_pattern_takes_for_ever)
{
	char *name = test_alloc(4001);
	char *pattern = test_alloc(4001);
	char *folders = test_alloc(4001);
	char *path = test_alloc(4001);

	memset(name, 'a', 4000);
	memset(path, 'a', 4000);
	for (size_t i = 0; i < 4000; i += 2)
		memcpy(pattern + i, "*a", 2);
	for (size_t i = 0; i < 4000; i += 5)
		memcpy(folders + i, "**/a/", 5);
	for (size_t i = 1; i < 3999; i += 2)
		path[i] = '/';
	name[4000] = pattern[4000] = folders[4000] = path[4000] = '\0';

	CHECK(tkb_glob_matches(pattern, name));
	name[3999] = 'b';
	CHECK(!tkb_glob_matches(pattern, name));
	folders[3999] = 'b';
	CHECK(!tkb_glob_matches(folders, path));
}
