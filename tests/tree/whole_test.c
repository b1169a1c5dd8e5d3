/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/whole.h"

#include "harness.h"

static bool is_whole(const char *text, size_t size, enum tkb_path_style style)
{
	return tkb_text_is_whole(test_exact((struct tkb_bytes){ text, size }),
	                         style);
}

static bool is_python(const char *text)
{
	return is_whole(text, strlen(text), TKB_PATH_STYLE_PYTHON);
}

static bool is_json(const char *text)
{
	return is_whole(text, strlen(text), TKB_PATH_STYLE_JSON);
}

static const char index_text[] =
	"{   ((1, 16384), 0, 'inductor_standalone'): {   'cache_key': 'a)b',\n"
	"        'graph_handle': (   'it\\'s',\n '''a\nb' ''c''', "
	"\"d\\\\\",)}}\n";

TEST(whole, a_text_is_to_its_last_bracket_and_no_less)
{
	const size_t end = strlen(index_text) - 1;

	for (size_t size = 0; size <= end + 1; size++)
		CHECK_INT(is_whole(index_text, size, TKB_PATH_STYLE_PYTHON),
		          size >= end);
}

TEST(whole, a_text_of_python_is_with_any_string_and_comment)
{
	CHECK(is_python("{}"));
	CHECK(is_python("1"));
	CHECK(is_python("''"));
	CHECK(is_python("[\"it's\", 'a \"b\"', b'\\'', r\"]\"] # don't ["));
	CHECK(is_python("# one\n{1: '#'}\n"));
}

TEST(whole, a_text_of_python_is_not_with_an_end_of_a_line_in_a_string)
{
	CHECK(!is_python("{1: 'a\n'}"));
	CHECK(is_python("{1: 'a\\\nb'}"));
	CHECK(!is_python("{1: '''a\n''}"));
}

TEST(whole, a_text_of_json_is)
{
	CHECK(is_json("{\"a\": [1, \"]\", \"it's \\\" # \"]}\n"));
	CHECK(!is_json("{\"a\": [1, \"]\", \"it's \\\" # \"]"));
	CHECK(!is_json("{\"a"));
	CHECK(!is_json("{\"a\\"));
}

TEST(whole, a_text_is_not_that_is_empty_or_ends_in_zeros)
{
	CHECK(!is_json(""));
	CHECK(!is_json(" \n"));
	CHECK(!is_python("# a comment"));
	CHECK(!is_whole("\0\0\0", 3, TKB_PATH_STYLE_JSON));
	CHECK(!is_whole("{}\0", 3, TKB_PATH_STYLE_PYTHON));
}

TEST(whole, a_text_is_not_with_brackets_that_do_not_fit)
{
	CHECK(!is_json("{]"));
	CHECK(!is_json("}"));
	CHECK(!is_json("{}}"));
	CHECK(!is_python("(]"));
}

TEST(whole, a_text_is_not_that_is_deeper_than_any_index)
{
	char text[4096];

	memset(text, '[', sizeof(text));
	CHECK(!is_whole(text, sizeof(text), TKB_PATH_STYLE_JSON));
	memset(text, ']', sizeof(text));
	memset(text, '[', 1024);
	CHECK(is_whole(text, 2048, TKB_PATH_STYLE_JSON));
	memset(text, '[', 1025);
	CHECK(!is_whole(text, 2050, TKB_PATH_STYLE_JSON));
}

TEST(whole, a_text_is_in_any_other_style)
{
	CHECK(is_whole("", 0, TKB_PATH_STYLE_TEXT));
	CHECK(is_whole("(", 1, TKB_PATH_STYLE_NINJA));
	CHECK(is_whole("\0", 1, TKB_PATH_STYLE_NONE));
}
