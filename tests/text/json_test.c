/* SPDX-License-Identifier: Apache-2.0 */
#include "text/json.h"

#include <stdlib.h>

#include "harness.h"

#define BYTES(literal)                                                         \
	{                                                                      \
		(literal), sizeof(literal) - 1                                 \
	}

/*
 * Read the whole of `text` from memory of exactly its size, so that a
 * sanitizer sees a byte read behind it. One letter per token goes to `out`.
 */
static int tokens(struct tkb_bytes text, unsigned flags, char *out,
                  struct tkb_error *err)
{
	char *copy = malloc(text.size == 0 ? 1 : text.size);
	struct tkb_json_token token = { 0 };
	struct tkb_json json;
	int rc;

	assert_non_null(copy);
	if (text.size != 0)
		memcpy(copy, text.data, text.size);
	json = tkb_json_of((struct tkb_bytes){ copy, text.size }, flags);
	do {
		rc = tkb_json_next(&json, &token, err);
		if (rc == 0 && out != NULL)
			*out++ = "{}[]ksnw$"[token.type];
	} while (rc == 0 && token.type != TKB_JSON_END);
	free(copy);
	return rc;
}

static const char *shown(struct tkb_bytes bytes)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf escaped = TKB_BUF_INIT(TKB_MIB);

	tkb_json_escape_python(bytes, &escaped);
	tkb_buf_add_byte(&escaped, '\0');
	return text("%.200s", (const char *)escaped.data);
}

static void must_accept(struct tkb_bytes text, unsigned flags)
{
	struct tkb_error err = { 0 };

	if (tokens(text, flags, NULL, &err) != 0)
		fail_msg("<%s> is refused: %s", shown(text), err.message);
}

static void must_refuse(struct tkb_bytes text, unsigned flags)
{
	struct tkb_error err = { 0 };
	const int rc = tokens(text, flags, NULL, &err);

	if (rc != TKB_ERR_CORRUPT)
		fail_msg("<%s> gives %d", shown(text), rc);
	CHECK_CONTAINS(err.message, "not JSON at byte ");
}

/* `prefix`, `middle` and `suffix`, in one. */
static struct tkb_bytes joined(const char *prefix, struct tkb_bytes middle,
                               const char *suffix)
{
	const size_t before = strlen(prefix);
	const size_t after = strlen(suffix);
	char *all = test_alloc(before + middle.size + after);

	memcpy(all, prefix, before);
	if (middle.size != 0)
		memcpy(all + before, middle.data, middle.size);
	memcpy(all + before + middle.size, suffix, after);
	return (struct tkb_bytes){ all, before + middle.size + after };
}

/* `count` times "[", or "{"a":" and a value, and as many ends. */
static struct tkb_bytes nested(size_t count, bool objects)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf buf = TKB_BUF_INIT(TKB_MIB);

	for (size_t i = 0; i < count; i++)
		tkb_buf_add_text(&buf, objects ? "{\"a\":" : "[");
	tkb_buf_add_byte(&buf, '1');
	for (size_t i = 0; i < count; i++)
		tkb_buf_add_byte(&buf, objects ? '}' : ']');
	return joined("", tkb_buf_bytes(&buf), "");
}

TEST(json, accepts_every_form_of_rfc_8259)
{
	static const struct tkb_bytes cases[] = {
		BYTES("null"),
		BYTES("true"),
		BYTES("false"),
		BYTES("0"),
		BYTES("-0"),
		BYTES("-1"),
		BYTES("1234567890"),
		BYTES("1.5"),
		BYTES("-0.5"),
		BYTES("0.0"),
		BYTES("1e1"),
		BYTES("1E1"),
		BYTES("1e+1"),
		BYTES("1e-1"),
		BYTES("0e0"),
		BYTES("-1.50E-07"),
		BYTES("1e400"),
		BYTES("123456789012345678901234567890"),
		BYTES("\"\""),
		BYTES("\"a\""),
		BYTES("\"/\""),
		BYTES("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
		BYTES("\"\\u0041\\u00e9\\uD834\\udd1E\""),
		BYTES("\"\\u0000\""),
		BYTES("\"\x7f\""),
		BYTES("\"\xc2\x80\xdf\xbf\""),
		BYTES("\"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\""),
		BYTES("\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\""),
		BYTES("[]"),
		BYTES("{}"),
		BYTES("[[],{}]"),
		BYTES("[1,\"a\",null,true,[],{}]"),
		BYTES("{\"a\":1}"),
		BYTES("{\"\":0}"),
		BYTES("{\"b\":{\"a\":[{}]},\"a\":1}"),
		BYTES("{\"a\":1,\"a\":2}"),
		BYTES(" \t\r\n1 \t\r\n"),
		BYTES(" [ 1 , 2 ] "),
		BYTES("\n{\t\"a\"\r: 1 ,\n\"b\" :[ ]\n}\n"),
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++)
		must_accept(cases[i], 0);
}

TEST(json, refuses_what_is_none)
{
	static const struct tkb_bytes cases[] = {
		BYTES(""),
		BYTES(" "),
		BYTES("nul"),
		BYTES("nulll"),
		BYTES("null null"),
		BYTES("True"),
		BYTES("NULL"),
		BYTES("tru"),
		BYTES("undefined"),
		BYTES("a"),
		BYTES("'a'"),
		BYTES("+1"),
		BYTES("01"),
		BYTES("00"),
		BYTES("-01"),
		BYTES("-"),
		BYTES("- 1"),
		BYTES("--1"),
		BYTES("1-"),
		BYTES("1."),
		BYTES("1.e1"),
		BYTES(".5"),
		BYTES("-.5"),
		BYTES("1.5.5"),
		BYTES("1e"),
		BYTES("1e+"),
		BYTES("1e1.5"),
		BYTES("1ee1"),
		BYTES("0x1"),
		BYTES("1_0"),
		BYTES("1 2"),
		BYTES("1,"),
		BYTES("1,2"),
		BYTES("\"a\" \"b\""),
		BYTES("["),
		BYTES("[1"),
		BYTES("[1,"),
		BYTES("[1,]"),
		BYTES("[,1]"),
		BYTES("[,]"),
		BYTES("[1,,2]"),
		BYTES("[1 2]"),
		BYTES("[1:2]"),
		BYTES("[1}"),
		BYTES("[[]"),
		BYTES("[]]"),
		BYTES("[]["),
		BYTES("[]{}"),
		BYTES("]"),
		BYTES("{"),
		BYTES("}"),
		BYTES("{}}"),
		BYTES("{,}"),
		BYTES("{\"a\""),
		BYTES("{\"a\"}"),
		BYTES("{\"a\":"),
		BYTES("{\"a\":}"),
		BYTES("{\"a\":1"),
		BYTES("{\"a\":1,"),
		BYTES("{\"a\":1,}"),
		BYTES("{\"a\":1,,\"b\":1}"),
		BYTES("{\"a\":1 \"b\":2}"),
		BYTES("{\"a\" 1}"),
		BYTES("{\"a\",1}"),
		BYTES("{\"a\"::1}"),
		BYTES("{\"a\":1:2}"),
		BYTES("{\"a\":1]"),
		BYTES("{1:2}"),
		BYTES("{a:1}"),
		BYTES("{null:1}"),
		BYTES("{[]:1}"),
		BYTES(","),
		BYTES(":"),
		BYTES("//\n1"),
		BYTES("/**/1"),
		BYTES("[1]#"),
		BYTES("[1]x"),
		BYTES("\xef\xbb\xbf[1]"),
		BYTES("\v1"),
		BYTES("\f1"),
		BYTES("\xc2\xa0[1]"),
		BYTES("1\0"),
		BYTES("\0"),
		BYTES("[1\0]"),
		BYTES("{\"a\"\0:1}"),
		BYTES("nu\0l"),
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++)
		must_refuse(cases[i], 0);
}

TEST(json, refuses_what_no_string_may_hold)
{
	static const struct tkb_bytes cases[] = {
		BYTES("\\"),      BYTES("\\x"),        BYTES("\\'"),
		BYTES("\\0"),     BYTES("\\a"),        BYTES("\\v"),
		BYTES("\\U0041"), BYTES("\\\0"),       BYTES("\\u"),
		BYTES("\\u1"),    BYTES("\\u12"),      BYTES("\\u123"),
		BYTES("\\u123g"), BYTES("\\u 123"),    BYTES("\\u-123"),
		BYTES("\\u0x12"), BYTES("\\ud83d\\u"), BYTES("\n"),
		BYTES("\t"),      BYTES("\r"),         BYTES("\0"),
		BYTES("\x01"),    BYTES("\x1f"),       BYTES("a\0b"),
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		must_refuse(joined("\"", cases[i], "\""), 0);
		must_refuse(joined("\"", cases[i], ""), 0);
		must_refuse(joined("{\"", cases[i], "\":1}"), 0);
	}
}

TEST(json, refuses_every_form_of_invalid_utf8)
{
	static const struct tkb_bytes cases[] = {
		BYTES("\x80"),
		BYTES("\xbf"),
		BYTES("a\xbfz"),
		BYTES("\xc3\xa9\xa9"),
		BYTES("\xc0\x80"),
		BYTES("\xc0\xaf"),
		BYTES("\xc1\xbf"),
		BYTES("\xc3"),
		BYTES("\xc3z"),
		BYTES("\xc3\xc3"),
		BYTES("\xe0\x80\x80"),
		BYTES("\xe0\x9f\xbf"),
		BYTES("\xe2\x82"),
		BYTES("\xe2\x82z"),
		BYTES("\xe2z\xac"),
		BYTES("\xed\xa0\x80"),
		BYTES("\xed\xb0\x80"),
		BYTES("\xed\xbf\xbf"),
		BYTES("\xf0\x80\x80\x80"),
		BYTES("\xf0\x8f\xbf\xbf"),
		BYTES("\xf0\x9f\x98"),
		BYTES("\xf0\x9f\x98z"),
		BYTES("\xf4\x90\x80\x80"),
		BYTES("\xf5\x80\x80\x80"),
		BYTES("\xf7\xbf\xbf\xbf"),
		BYTES("\xf8\x88\x80\x80\x80"),
		BYTES("\xfc\x84\x80\x80\x80\x80"),
		BYTES("\xfe"),
		BYTES("\xff"),
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		must_refuse(joined("\"", cases[i], "\""), 0);
		must_refuse(joined("\"", cases[i], ""), 0);
		must_refuse(joined("{\"", cases[i], "\":1}"), 0);
		must_refuse(joined("[", cases[i], "]"), 0);
		must_refuse(joined("\"", cases[i], "\""), TKB_JSON_CANONICAL);
	}
}

static bool is_space(int byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static bool is_digit(int byte)
{
	return byte >= '0' && byte <= '9';
}

static bool is_document(int first, int second)
{
	if (is_digit(second) && (is_space(first) || first == '-' ||
	                         (is_digit(first) && first != '0')))
		return true;
	return (is_digit(first) && is_space(second)) ||
	       (first == '"' && second == '"') ||
	       (first == '[' && second == ']') ||
	       (first == '{' && second == '}');
}

TEST(json, of_two_bytes_is_what_the_grammar_says)
{
	for (int first = 0; first < 256; first++) {
		for (int second = 0; second < 256; second++) {
			const char both[] = { (char)first, (char)second };
			const struct tkb_bytes bytes = { both, 2 };

			if (is_document(first, second))
				must_accept(bytes, 0);
			else
				must_refuse(bytes, 0);
		}
	}
}

TEST(json, that_is_cut_short_anywhere_is_refused)
{
	static const char whole[] =
		"{\"a\": [1, -2.5e+3, true, null, \"\\u00e9\\n\xc3\xa9\"], "
		"\"b\": {\"c\": {}, \"d\": []}}";
	const struct tkb_bytes bytes = tkb_text(whole);

	must_accept(bytes, 0);
	for (size_t size = 0; size < bytes.size; size++)
		must_refuse(tkb_bytes_slice(bytes, 0, size), 0);
}

/* In memory that goes on as the text would. */
TEST(json, that_ends_early_does_not_go_on_in_what_lies_behind)
{
	static const char *const documents[] = {
		"\"\\u00e9\"",      "\"\xc3\xa9\"",
		"\"\xe2\x82\xac\"", "\"\xf0\x9f\x98\x80\"",
		"\"\\n\"",          "true",
		"-Infinity",        "[12]",
		"{\"a\":1}",
	};

	for (size_t i = 0; i < TKB_COUNT_OF(documents); i++) {
		const struct tkb_bytes whole = tkb_text(documents[i]);

		for (size_t size = 0; size < whole.size; size++) {
			struct tkb_json json =
				tkb_json_of(tkb_bytes_slice(whole, 0, size), 0);
			struct tkb_json_token token = { 0 };
			int rc;

			do {
				rc = tkb_json_next(&json, &token, NULL);
			} while (rc == 0 && token.type != TKB_JSON_END);
			CHECK_INT(rc, TKB_ERR_CORRUPT);
		}
	}
}

TEST(json, may_hold_what_python_writes_besides)
{
	static const struct tkb_bytes cases[] = {
		BYTES("NaN"),
		BYTES("Infinity"),
		BYTES("-Infinity"),
		BYTES("{\"a\": [NaN, Infinity, -Infinity, -1]}"),
		BYTES("\"\\ud800\""),
		BYTES("\"\\udbffz\""),
		BYTES("\"\\udc00\""),
		BYTES("\"\\udc80\\udcff\""),
		BYTES("\"\\ud800\\ud800\""),
		BYTES("\"\\udc00\\ud800\""),
		BYTES("\"\\ud800\\n\""),
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++)
		must_accept(cases[i], 0);
}

TEST(json, may_not_hold_other_words_for_numbers)
{
	static const struct tkb_bytes cases[] = {
		BYTES("nan"),  BYTES("-NaN"),       BYTES("NaNs"),
		BYTES("Na"),   BYTES("+Infinity"),  BYTES("-Infinit"),
		BYTES("-Inf"), BYTES("Infinit"),    BYTES("infinity"),
		BYTES("inf"),  BYTES("--Infinity"), BYTES("-I"),
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++)
		must_refuse(cases[i], 0);
}

TEST(json, may_be_nested_64_deep_and_no_deeper)
{
	must_accept(nested(64, false), 0);
	must_accept(nested(64, true), 0);
	must_accept(nested(64, true), TKB_JSON_CANONICAL);

	must_refuse(nested(65, false), 0);
	must_refuse(nested(65, true), 0);
	must_refuse(nested(65, true), TKB_JSON_CANONICAL);
	must_refuse(nested(10000, false), 0);
	must_refuse(nested(10000, true), 0);
}

TEST(json, nested_too_deep_says_so)
{
	struct tkb_error err = { 0 };

	CHECK_FAILS(tokens(nested(65, false), 0, NULL, &err), TKB_ERR_CORRUPT,
	            &err, "not JSON at byte 64: nested deeper than 64");
}

TEST(json, knows_at_each_depth_whether_it_is_in_an_object)
{
	char found[64] = "";
	struct tkb_error err = { 0 };

	CHECK_OK(tokens(tkb_text("[{\"a\":[[],{\"b\":{}},1],\"c\":2},[3]]"), 0,
	                found, &err),
	         &err);

	CHECK_STR(found, "[{k[[]{k{}}n]kn}[n]]$");
}

TEST(json, tells_where_each_token_stands)
{
	static const struct tkb_json_token wanted[] = {
		{ TKB_JSON_OBJECT, 1, 2 },      { TKB_JSON_KEY, 2, 5 },
		{ TKB_JSON_ARRAY, 8, 9 },       { TKB_JSON_NUMBER, 9, 12 },
		{ TKB_JSON_STRING, 14, 22 },    { TKB_JSON_WORD, 23, 28 },
		{ TKB_JSON_ARRAY_END, 28, 29 }, { TKB_JSON_KEY, 30, 34 },
		{ TKB_JSON_NUMBER, 35, 44 },    { TKB_JSON_OBJECT_END, 44, 45 },
		{ TKB_JSON_END, 47, 47 },
	};
	struct tkb_json json = tkb_json_of(
		tkb_text(" {\"a\" : [1e5, "
	                 "\"\\u000a\",false],\"\xc3\xa9\":-Infinity}"
	                 " \n"),
		0);
	struct tkb_json_token got;
	struct tkb_error err = { 0 };

	for (size_t i = 0; i < TKB_COUNT_OF(wanted); i++) {
		CHECK_OK(tkb_json_next(&json, &got, &err), &err);
		CHECK_INT(got.type, wanted[i].type);
		CHECK_INT(got.start, wanted[i].start);
		CHECK_INT(got.end, wanted[i].end);
	}
}

TEST(json, gives_the_raw_text_between_the_quotes)
{
	struct tkb_json json = tkb_json_of(tkb_text("[\"\", \"a\\n\"]"), 0);
	struct tkb_json_token token;
	struct tkb_error err = { 0 };

	CHECK_OK(tkb_json_next(&json, &token, &err), &err);
	CHECK_OK(tkb_json_next(&json, &token, &err), &err);
	CHECK(tkb_bytes_equal(tkb_json_raw(&json, &token), tkb_text("")));
	CHECK_OK(tkb_json_next(&json, &token, &err), &err);
	CHECK(tkb_bytes_equal(tkb_json_raw(&json, &token), tkb_text("a\\n")));
}

TEST(json, that_is_wrong_leaves_the_token_alone_and_says_where)
{
	struct tkb_json json = tkb_json_of(tkb_text("[1,  x]"), 0);
	struct tkb_json_token token;
	struct tkb_error err = { 0 };

	CHECK_OK(tkb_json_next(&json, &token, &err), &err);
	CHECK_OK(tkb_json_next(&json, &token, &err), &err);
	CHECK_FAILS(tkb_json_next(&json, &token, &err), TKB_ERR_CORRUPT, &err,
	            "not JSON at byte 5");
	CHECK_INT(token.type, TKB_JSON_NUMBER);
	CHECK_INT(token.start, 1);
	CHECK_INT(token.end, 2);
}

TEST(json, skips_a_value_with_all_in_it)
{
	static const char *const values[] = { "1",
		                              "\"]\"",
		                              "[]",
		                              "{}",
		                              "[[1],{\"a\":[]}]",
		                              "{\"b\":{\"c\":[0]}}" };

	for (size_t i = 0; i < TKB_COUNT_OF(values); i++) {
		const char *document = text("[%s,7]", values[i]);
		struct tkb_json json = tkb_json_of(tkb_text(document), 0);
		struct tkb_json_token token;
		struct tkb_error err = { 0 };
		uint64_t number = 0;

		CHECK_OK(tkb_json_next(&json, &token, &err), &err);
		CHECK_OK(tkb_json_next(&json, &token, &err), &err);
		CHECK_OK(tkb_json_skip(&json, &token, &err), &err);
		CHECK_OK(tkb_json_next(&json, &token, &err), &err);
		CHECK(tkb_json_number(&json, &token, &number));
		CHECK_INT(number, 7);
	}
}

TEST(json, does_not_skip_over_a_fault)
{
	struct tkb_json json = tkb_json_of(tkb_text("[[1,[}]]]"), 0);
	struct tkb_json_token token;
	struct tkb_error err = { 0 };

	CHECK_OK(tkb_json_next(&json, &token, &err), &err);
	CHECK_FAILS(tkb_json_skip(&json, &token, &err), TKB_ERR_CORRUPT, &err,
	            "byte 5");
}

TEST(json, in_canonical_form_is_accepted_as_such)
{
	static const struct tkb_bytes cases[] = {
		BYTES("0"),
		BYTES("18446744073709551615"),
		BYTES("true"),
		BYTES("false"),
		BYTES("null"),
		BYTES("\"\""),
		BYTES("\"/\x7f\xc3\xa9\""),
		BYTES("\"\\\"\\\\\\u0000\\u000a\\u001f\""),
		BYTES("[]"),
		BYTES("[0,[],{}]"),
		BYTES("{}"),
		BYTES("{\"\":0,\"A\":0,\"a\":0,\"aa\":0,\"b\":0}"),
		BYTES("{\"a\":{\"a\":0,\"b\":{\"a\":0}},\"b\":[{\"a\":0}]}"),
		BYTES("{\"b\":{\"z\":0},\"c\":0}"),
		BYTES("[{\"b\":0},{\"a\":0}]"),
		BYTES("{\"z\":0,\"\xc3\xa9\":0}"),
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++)
		must_accept(cases[i], TKB_JSON_CANONICAL);
}

/* Each is JSON, and some other way of writing what has a canonical form. */
TEST(json, in_another_form_is_refused_where_it_must_be_canonical)
{
	static const struct tkb_bytes cases[] = {
		BYTES(" 0"),
		BYTES("0\n"),
		BYTES("[ 0]"),
		BYTES("[0 ]"),
		BYTES("[0, 1]"),
		BYTES("[0 ,1]"),
		BYTES("{ }"),
		BYTES("{\"a\": 0}"),
		BYTES("{\"a\" :0}"),
		BYTES("{\"a\":0 }"),
		BYTES("{\"a\":0,\t\"b\":0}"),
		BYTES("[\r]"),
		BYTES("{\"b\":0,\"a\":0}"),
		BYTES("{\"aa\":0,\"a\":0}"),
		BYTES("{\"a\":0,\"A\":0}"),
		BYTES("{\"a\":0,\"\":0}"),
		BYTES("{\"\xc3\xa9\":0,\"z\":0}"),
		BYTES("{\"a\":{\"c\":0,\"b\":0}}"),
		BYTES("{\"b\":{},\"a\":0}"),
		BYTES("{\"a\":0,\"a\":0}"),
		BYTES("{\"\":0,\"\":0}"),
		BYTES("{\"a\":{\"b\":0,\"b\":1}}"),
		BYTES("{\"a\":[],\"b\":{\"c\":0},\"b\":0}"),
		BYTES("\"\\/\""),
		BYTES("\"\\b\""),
		BYTES("\"\\f\""),
		BYTES("\"\\n\""),
		BYTES("\"\\r\""),
		BYTES("\"\\t\""),
		BYTES("\"\\u0020\""),
		BYTES("\"\\u0022\""),
		BYTES("\"\\u0041\""),
		BYTES("\"\\u005c\""),
		BYTES("\"\\u007f\""),
		BYTES("\"\\u00e9\""),
		BYTES("\"\\u000A\""),
		BYTES("\"\\ud83d\\ude00\""),
		BYTES("\"\\udcff\""),
		BYTES("{\"\\u0061\":0}"),
		BYTES("-0"),
		BYTES("-1"),
		BYTES("1.0"),
		BYTES("0.5"),
		BYTES("1e1"),
		BYTES("1E1"),
		BYTES("NaN"),
		BYTES("Infinity"),
		BYTES("-Infinity"),
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		must_accept(cases[i], 0);
		must_refuse(cases[i], TKB_JSON_CANONICAL);
	}
}

TEST(json, numbers_are_read_up_to_64_bits)
{
	static const struct {
		const char *text;
		bool is_one;
		uint64_t value;
	} cases[] = {
		{ "0", true, 0 },
		{ "9007199254740993", true, UINT64_C(9007199254740993) },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 },
		{ "18446744073709551620", false, 0 },
		{ "184467440737095516150", false, 0 },
		{ "99999999999999999999999999", false, 0 },
		{ "-1", false, 0 },
		{ "-0", false, 0 },
		{ "1.0", false, 0 },
		{ "1e1", false, 0 },
		{ "NaN", false, 0 },
		{ "Infinity", false, 0 },
		{ "\"1\"", false, 0 },
		{ "true", false, 0 },
		{ "[1]", false, 0 },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		struct tkb_json json = tkb_json_of(tkb_text(cases[i].text), 0);
		struct tkb_json_token token;
		struct tkb_error err = { 0 };
		uint64_t number = 42;

		CHECK_OK(tkb_json_next(&json, &token, &err), &err);
		CHECK_INT(tkb_json_number(&json, &token, &number),
		          cases[i].is_one);
		CHECK(number == (cases[i].is_one ? cases[i].value : 42));
	}
}

/* The raw text of a string, and the bytes that it means. */
static const struct {
	struct tkb_bytes raw;
	struct tkb_bytes value;
} strings[] = {
	{ BYTES(""), BYTES("") },
	{ BYTES("a/b"), BYTES("a/b") },
	{ BYTES("\\\"\\\\\\/\\b\\f\\n\\r\\t"), BYTES("\"\\/\b\f\n\r\t") },
	{ BYTES("\\u0041\\u006A\\u006a"), BYTES("Ajj") },
	{ BYTES("\\u0000"), BYTES("\0") },
	{ BYTES("\\u007f\\u0080"), BYTES("\x7f\xc2\x80") },
	{ BYTES("\\u07ff\\u0800"), BYTES("\xdf\xbf\xe0\xa0\x80") },
	{ BYTES("\\uffff"), BYTES("\xef\xbf\xbf") },
	{ BYTES("\\ud83d\\ude00"), BYTES("\xf0\x9f\x98\x80") },
	{ BYTES("\\ud800\\udc00"), BYTES("\xf0\x90\x80\x80") },
	{ BYTES("\\udbff\\udfff"), BYTES("\xf4\x8f\xbf\xbf") },
	{ BYTES("\xc3\xa9\\n\xe2\x82\xac"), BYTES("\xc3\xa9\n\xe2\x82\xac") },
	{ BYTES("\\udc80"), BYTES("\x80") },
	{ BYTES("x\\udcffy"), BYTES("x\xffy") },
	{ BYTES("\\udcc3\\udca9"), BYTES("\xc3\xa9") },
	{ BYTES("\\udc7f"), BYTES("\xed\xb1\xbf") },
	{ BYTES("\\udd00"), BYTES("\xed\xb4\x80") },
	{ BYTES("\\ud800"), BYTES("\xed\xa0\x80") },
	{ BYTES("\\ud800x"), BYTES("\xed\xa0\x80x") },
	{ BYTES("\\ud800\\n"), BYTES("\xed\xa0\x80\n") },
	{ BYTES("\\ud800\\ud83d\\ude00"),
	  BYTES("\xed\xa0\x80\xf0\x9f\x98\x80") },
	{ BYTES("\\ud83d\\u0041"), BYTES("\xed\xa0\xbd\x41") },
	{ BYTES("\\\\u0041"), BYTES("\\u0041") },
};

TEST(json, strings_are_decoded_as_python_means_them)
{
	for (size_t i = 0; i < TKB_COUNT_OF(strings); i++) {
		TKB_AUTO(tkb_buf_release)
		struct tkb_buf out = TKB_BUF_INIT(256);

		must_accept(joined("\"", strings[i].raw, "\""), 0);
		tkb_buf_add_text(&out, ">");
		tkb_json_decode(strings[i].raw, &out);
		CHECK(tkb_bytes_equal(tkb_buf_bytes(&out),
		                      joined(">", strings[i].value, "")));
	}
}

TEST(json, strings_equal_their_value_and_no_other)
{
	for (size_t i = 0; i < TKB_COUNT_OF(strings); i++) {
		const struct tkb_bytes raw = strings[i].raw;

		for (size_t j = 0; j < TKB_COUNT_OF(strings); j++) {
			const struct tkb_bytes value = strings[j].value;

			CHECK_INT(tkb_json_equals(raw, value),
			          tkb_bytes_equal(strings[i].value, value));
		}
		CHECK(!tkb_json_equals(raw, joined("", strings[i].value, "!")));
		CHECK(!tkb_json_equals(raw, joined("!", strings[i].value, "")));
	}
}

TEST(json, strings_begin_with_a_prefix_in_any_spelling)
{
	static const struct {
		const char *raw;
		const char *prefix;
		size_t end; /* SIZE_MAX: does not */
	} cases[] = {
		{ "/a/b", "", 0 },
		{ "", "", 0 },
		{ "", "/", SIZE_MAX },
		{ "/a/b", "/a", 2 },
		{ "/a/b", "/a/b", 4 },
		{ "/a/b", "/a/b/", SIZE_MAX },
		{ "/a/b", "/b", SIZE_MAX },
		{ "\\/a\\/b", "/a", 3 },
		{ "\\u002fa\\u002Fb", "/a/", 13 },
		{ "\\u002f\\u0061", "/a", 12 },
		{ "\\u005bREPLACE]/x", "[REPLACE]", 14 },
		{ "\\u00e9/x", "\xc3\xa9", 6 },
		{ "\xc3\xa9/x", "\xc3\xa9", 2 },
		{ "\\u00e9/x", "\xc3", SIZE_MAX },
		{ "\\udcff/x", "\xff", 6 },
		{ "\\ud83d\\ude00/x", "\xf0\x9f\x98\x80/", 13 },
		{ "\\ud83d\\ude00/x", "\xf0\x9f\x98", SIZE_MAX },
		{ "\\\"x", "\"", 2 },
		{ "\\\"x", "\\", SIZE_MAX },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		size_t end = SIZE_MAX;
		const bool begins =
			tkb_json_begins(tkb_text(cases[i].raw),
		                        tkb_text(cases[i].prefix), &end);

		CHECK_INT(begins, cases[i].end != SIZE_MAX);
		if (begins)
			CHECK_INT(end, cases[i].end);
	}
}

/* Of the two bytes that the escape means, the prefix has the first. */
TEST(json, strings_do_not_begin_with_half_a_character)
{
	const struct tkb_bytes half = { "\xc3\xa9", 1 };
	size_t end = 0;

	CHECK(!tkb_json_begins(tkb_text("\\u00e9"), half, &end));
	CHECK(!tkb_json_equals(tkb_text("\\u00e9"), half));
}

TEST(json, finds_the_last_slash_in_any_spelling)
{
	static const struct {
		const char *raw;
		size_t at; /* SIZE_MAX: none */
		size_t length;
	} cases[] = {
		{ "", SIZE_MAX, 0 },
		{ "name", SIZE_MAX, 0 },
		{ "/name", 0, 1 },
		{ "/a/name", 2, 1 },
		{ "/a/", 2, 1 },
		{ "/a\\/name", 2, 2 },
		{ "/a\\u002fname", 2, 6 },
		{ "/a\\u002Fname", 2, 6 },
		{ "\\u002fa/name", 7, 1 },
		{ "/a\\\\/name", 4, 1 },
		{ "/a\\\\name", 0, 1 },
		{ "/a\\\\u002fname", 0, 1 },
		{ "/\\u00e9\\u012f", 0, 1 },
		{ "/\\ud83d\\ude2f", 0, 1 },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		size_t length = 0;

		CHECK_INT(tkb_json_last_slash(tkb_text(cases[i].raw), &length),
		          cases[i].at);
		if (cases[i].at != SIZE_MAX)
			CHECK_INT(length, cases[i].length);
	}
}

/* json.dumps(os.fsdecode(bytes))[1:-1], as CPython 3.11 gives it. */
TEST(json, escapes_as_pythons_json_dumps_does)
{
	static const struct {
		struct tkb_bytes bytes;
		const char *escaped;
	} cases[] = {
		{ BYTES(""), "" },
		{ BYTES("/home/serve"), "/home/serve" },
		{ BYTES("a b"), "a b" },
		{ BYTES("\""), "\\\"" },
		{ BYTES("\\"), "\\\\" },
		{ BYTES("/"), "/" },
		{ BYTES("\x08\x0c\x0a\x0d\x09"), "\\b\\f\\n\\r\\t" },
		{ BYTES("\x00"), "\\u0000" },
		{ BYTES("\x01\x0b\x1f"), "\\u0001\\u000b\\u001f" },
		{ BYTES(" ~"), " ~" },
		{ BYTES("\x7f"), "\\u007f" },
		{ BYTES("\xc3\xa9"), "\\u00e9" },
		{ BYTES("\xc3\x9f\xe2\x82\xac"), "\\u00df\\u20ac" },
		{ BYTES("\xe8\xaa\x9e"), "\\u8a9e" },
		{ BYTES("\xf0\x9f\x98\x80"), "\\ud83d\\ude00" },
		{ BYTES("\xef\xbf\xbf"), "\\uffff" },
		{ BYTES("\xf0\x90\x80\x80"), "\\ud800\\udc00" },
		{ BYTES("\xf4\x8f\xbf\xbf"), "\\udbff\\udfff" },
		{ BYTES("\xe2\x80\xa8"), "\\u2028" },
		{ BYTES("\xc2\x80"), "\\u0080" },
		{ BYTES("\xdf\xbf\xe0\xa0\x80"), "\\u07ff\\u0800" },
		{ BYTES("\xed\x9f\xbf\xee\x80\x80"), "\\ud7ff\\ue000" },
		{ BYTES("\x80"), "\\udc80" },
		{ BYTES("\xff"), "\\udcff" },
		{ BYTES("\xc3"), "\\udcc3" },
		{ BYTES("\xc3("), "\\udcc3(" },
		{ BYTES("\xc0\x80"), "\\udcc0\\udc80" },
		{ BYTES("\xe2\x82"), "\\udce2\\udc82" },
		{ BYTES("\xe2\x82\xac\xe2\x82"), "\\u20ac\\udce2\\udc82" },
		{ BYTES("\xe2(\xa1"), "\\udce2(\\udca1" },
		{ BYTES("\xed\xa0\x80"), "\\udced\\udca0\\udc80" },
		{ BYTES("\xed\xb3\xbf"), "\\udced\\udcb3\\udcbf" },
		{ BYTES("\xf0\x9f\x98"), "\\udcf0\\udc9f\\udc98" },
		{ BYTES("\xf0\x80\x80\x80"), "\\udcf0\\udc80\\udc80\\udc80" },
		{ BYTES("\xf4\x90\x80\x80"), "\\udcf4\\udc90\\udc80\\udc80" },
		{ BYTES("\xf8\x88\x80\x80\x80"),
		  "\\udcf8\\udc88\\udc80\\udc80\\udc80" },
		{ BYTES("\xfe\xff"), "\\udcfe\\udcff" },
		{ BYTES("/a/\xc3\xa9\"\\\xff/b"),
		  "/a/\\u00e9\\\"\\\\\\udcff/b" },
		{ BYTES("[REPLACE]"), "[REPLACE]" },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		TKB_AUTO(tkb_buf_release)
		struct tkb_buf out = TKB_BUF_INIT(256);

		tkb_json_escape_python(cases[i].bytes, &out);
		tkb_buf_add_byte(&out, '\0');
		CHECK_STR((const char *)out.data, cases[i].escaped);
	}
}

static void check_escape_is_undone(struct tkb_bytes bytes)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf escaped = TKB_BUF_INIT(256);
	TKB_AUTO(tkb_buf_release) struct tkb_buf decoded = TKB_BUF_INIT(256);

	tkb_buf_add_byte(&escaped, '"');
	tkb_json_escape_python(bytes, &escaped);
	tkb_buf_add_byte(&escaped, '"');
	must_accept(tkb_buf_bytes(&escaped), 0);
	for (size_t i = 0; i < escaped.size; i++)
		CHECK(escaped.data[i] >= ' ' && escaped.data[i] <= '~');
	tkb_json_decode(
		tkb_bytes_slice(tkb_buf_bytes(&escaped), 1, escaped.size - 1),
		&decoded);
	if (!tkb_bytes_equal(tkb_buf_bytes(&decoded), bytes))
		fail_msg("'%s' is decoded to other bytes", escaped.data);
}

TEST(json, escapes_of_any_bytes_are_ascii_and_can_be_undone)
{
	uint32_t random = 1;

	for (unsigned pair = 0; pair < 0x10000; pair++) {
		const char bytes[] = { (char)(pair >> 8), (char)pair };

		check_escape_is_undone((struct tkb_bytes){ bytes, 2 });
	}
	for (unsigned i = 0; i < 50000; i++) {
		char bytes[6];

		/* Mostly bytes that take part in longer forms. */
		for (size_t j = 0; j < sizeof(bytes); j++) {
			random = random * 1664525 + 1013904223;
			bytes[j] = (char)(0x80 | random >> 24);
		}
		check_escape_is_undone(
			(struct tkb_bytes){ bytes, sizeof(bytes) });
	}
}

TEST(json, quotes_in_canonical_form)
{
	static const struct {
		struct tkb_bytes bytes;
		const char *quoted;
	} cases[] = {
		{ BYTES(""), "\"\"" },
		{ BYTES("add_kernel.json"), "\"add_kernel.json\"" },
		{ BYTES("\""), "\"\\\"\"" },
		{ BYTES("\\"), "\"\\\\\"" },
		{ BYTES("a\"b\\c"), "\"a\\\"b\\\\c\"" },
		{ BYTES("/"), "\"/\"" },
		{ BYTES("\b\f\n\r\t"),
		  "\"\\u0008\\u000c\\u000a\\u000d\\u0009\"" },
		{ BYTES("x\0y\x1f z"), "\"x\\u0000y\\u001f z\"" },
		{ BYTES("\x7f"), "\"\x7f\"" },
		{ BYTES("\xc3\xa9\xf0\x9f\x98\x80"),
		  "\"\xc3\xa9\xf0\x9f\x98\x80\"" },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		TKB_AUTO(tkb_buf_release)
		struct tkb_buf out = TKB_BUF_INIT(256);

		tkb_json_quote(cases[i].bytes, &out);
		CHECK(tkb_bytes_equal(tkb_buf_bytes(&out),
		                      tkb_text(cases[i].quoted)));
		must_accept(tkb_buf_bytes(&out), TKB_JSON_CANONICAL);
	}
}
