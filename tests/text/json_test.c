/* SPDX-License-Identifier: Apache-2.0 */
#include "text/json.h"

#include "harness.h"

#define BYTES(literal)                                                         \
	{                                                                      \
		(literal), sizeof(literal) - 1                                 \
	}

/* Read the whole of `text`. One letter per token goes to `out`. */
static int tokens(struct tkb_bytes text, unsigned flags, char *out,
                  struct tkb_error *err)
{
	struct tkb_json json = tkb_json_of(test_exact(text), flags);
	struct tkb_json_token token = { 0 };
	int rc;

	do {
		rc = tkb_json_next(&json, &token, err);
		if (rc == 0 && out != NULL)
			*out++ = "{}[]ksnw$"[token.type];
	} while (rc == 0 && token.type != TKB_JSON_END);
	return rc;
}

static const char *shown(struct tkb_bytes bytes)
{
	struct tkb_buf *escaped = test_buf(TKB_MIB);

	tkb_json_escape_python(bytes, escaped);
	return text("%.200s", test_bytes(tkb_buf_bytes(escaped)));
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

/* The same of each of `all`, with bars between them. */
static void must_accept_each(const char *all, unsigned flags)
{
	for (const char **each = words(all); *each != NULL; each++)
		must_accept(tkb_text(*each), flags);
}

static void must_refuse_each(const char *all, unsigned flags)
{
	for (const char **each = words(all); *each != NULL; each++)
		must_refuse(tkb_text(*each), flags);
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

/* As a string, as one that has no end, and as a key. */
static void must_refuse_string(struct tkb_bytes raw)
{
	must_refuse(joined("\"", raw, "\""), 0);
	must_refuse(joined("\"", raw, ""), 0);
	must_refuse(joined("{\"", raw, "\":1}"), 0);
}

/* `count` times "[", or "{"a":" and a value, and as many ends. */
static struct tkb_bytes nested(size_t count, bool objects)
{
	BUF(buf, TKB_MIB);

	for (size_t i = 0; i < count; i++)
		tkb_buf_add_text(&buf, objects ? "{\"a\":" : "[");
	tkb_buf_add_byte(&buf, '1');
	for (size_t i = 0; i < count; i++)
		tkb_buf_add_byte(&buf, objects ? '}' : ']');
	return joined("", tkb_buf_bytes(&buf), "");
}

TEST(json, accepts_every_form_of_rfc_8259)
{
	must_accept_each("null|true|false|0|-0|-1|1234567890|1.5|-0.5|0.0|1e1|"
	                 "1E1|1e+1|1e-1|0e0|-1.50E-07|1e400|"
	                 "123456789012345678901234567890|\"\"|\"a\"|\"/\"|"
	                 "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"|"
	                 "\"\\u0041\\u00e9\\uD834\\udd1E\"|\"\\u0000\"|"
	                 "\"\x7f\"|\"\xc2\x80\xdf\xbf\"|"
	                 "\"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\"|"
	                 "\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"|[]|{}|[[],{}]|"
	                 "[1,\"a\",null,true,[],{}]|{\"a\":1}|{\"\":0}|"
	                 "{\"b\":{\"a\":[{}]},\"a\":1}|{\"a\":1,\"a\":2}|"
	                 " \t\r\n1 \t\r\n| [ 1 , 2 ] |"
	                 "\n{\t\"a\"\r: 1 ,\n\"b\" :[ ]\n}\n",
	                 0);
}

TEST(json, refuses_what_is_none)
{
	static const struct tkb_bytes zeros[] = { BYTES("1\0"), BYTES("\0"),
		                                  BYTES("[1\0]"),
		                                  BYTES("{\"a\"\0:1}"),
		                                  BYTES("nu\0l") };
	must_refuse_each("| |nul|nulll|null null|True|NULL|tru|undefined|a|"
	                 "'a'|+1|01|00|-01|-|- 1|--1|1-|1.|1.e1|.5|-.5|1.5.5|"
	                 "1e|1e+|1e1.5|1ee1|0x1|1_0|1 2|1,|1,2|\"a\" \"b\"|[|"
	                 "[1|[1,|[1,]|[,1]|[,]|[1,,2]|[1 2]|[1:2]|[1}|[[]|[]]|"
	                 "[][|[]{}|]|{|}|{}}|{,}|{\"a\"|{\"a\"}|{\"a\":|"
	                 "{\"a\":}|{\"a\":1|{\"a\":1,|{\"a\":1,}|"
	                 "{\"a\":1,,\"b\":1}|{\"a\":1 \"b\":2}|{\"a\" 1}|"
	                 "{\"a\",1}|{\"a\"::1}|{\"a\":1:2}|{\"a\":1]|{1:2}|"
	                 "{a:1}|{null:1}|{[]:1}|,|:|//\n1|/**/1|[1]#|[1]x|"
	                 "\xef\xbb\xbf[1]|\v1|\f1|\xc2\xa0[1]",
	                 0);
	EACH(i, zeros)
		must_refuse(zeros[i], 0);
}

TEST(json, refuses_what_no_string_may_hold)
{
	const char **cases =
		words("\\|\\x|\\'|\\0|\\a|\\v|\\U0041|\\u|\\u1|\\u12|"
	              "\\u123|\\u123g|\\u 123|\\u-123|\\u0x12|\\ud83d\\u|"
	              "\n|\t|\r|\x01|\x1f");
	static const struct tkb_bytes zeros[] = { BYTES("\\\0"), BYTES("\0"),
		                                  BYTES("a\0b") };

	for (; *cases != NULL; cases++)
		must_refuse_string(tkb_text(*cases));
	EACH(i, zeros)
		must_refuse_string(zeros[i]);
}

TEST(json, refuses_every_form_of_invalid_utf8)
{
	const char **cases =
		words("\x80|\xbf|a\xbfz|\xc3\xa9\xa9|\xc0\x80|\xc0\xaf|"
	              "\xc1\xbf|\xc3|\xc3z|\xc3\xc3|\xe0\x80\x80|"
	              "\xe0\x9f\xbf|\xe2\x82|\xe2\x82z|\xe2z\xac|"
	              "\xed\xa0\x80|\xed\xb0\x80|\xed\xbf\xbf|"
	              "\xf0\x80\x80\x80|\xf0\x8f\xbf\xbf|\xf0\x9f\x98|"
	              "\xf0\x9f\x98z|\xf4\x90\x80\x80|\xf5\x80\x80\x80|"
	              "\xf7\xbf\xbf\xbf|\xf8\x88\x80\x80\x80|"
	              "\xfc\x84\x80\x80\x80\x80|\xfe|\xff");

	for (; *cases != NULL; cases++) {
		must_refuse_string(tkb_text(*cases));
		must_refuse(joined("[", tkb_text(*cases), "]"), 0);
		must_refuse(joined("\"", tkb_text(*cases), "\""),
		            TKB_JSON_CANONICAL);
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

	EACH(i, documents) {
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

TEST(json, number_ends_with_the_text_whatever_digits_lie_behind)
{
	struct tkb_json json =
		tkb_json_of(tkb_bytes_slice(tkb_text("12"), 0, 1), 0);
	struct tkb_json_token token;

	OK(tkb_json_next(&json, &token, ERR));
	CHECK_INT(token.type, TKB_JSON_NUMBER);
	CHECK_INT(token.end, 1);
	OK(tkb_json_next(&json, &token, ERR));
	CHECK_INT(token.type, TKB_JSON_END);
}

TEST(json, may_hold_what_python_writes_besides)
{
	must_accept_each("NaN|Infinity|-Infinity|"
	                 "{\"a\": [NaN, Infinity, -Infinity, -1]}|\"\\ud800\"|"
	                 "\"\\udbffz\"|\"\\udc00\"|\"\\udc80\\udcff\"|"
	                 "\"\\ud800\\ud800\"|\"\\udc00\\ud800\"|\"\\ud800\\n\"",
	                 0);
}

TEST(json, may_not_hold_other_words_for_numbers)
{
	must_refuse_each("nan|-NaN|NaNs|Na|+Infinity|-Infinit|-Inf|Infinit|"
	                 "infinity|inf|--Infinity|-I",
	                 0);
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
	FAILS(tokens(nested(65, false), 0, NULL, ERR), TKB_ERR_CORRUPT,
	      "not JSON at byte 64: nested deeper than 64");
}

TEST(json, knows_at_each_depth_whether_it_is_in_an_object)
{
	char found[64] = "";

	OK(tokens(tkb_text("[{\"a\":[[],{\"b\":{}},1],\"c\":2},[3]]"), 0, found,
	          ERR));

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

	EACH(i, wanted) {
		OK(tkb_json_next(&json, &got, ERR));
		CHECK_INT(got.type, wanted[i].type);
		CHECK_INT(got.start, wanted[i].start);
		CHECK_INT(got.end, wanted[i].end);
	}
}

TEST(json, gives_the_raw_text_between_the_quotes)
{
	struct tkb_json json = tkb_json_of(tkb_text("[\"\", \"a\\n\"]"), 0);
	struct tkb_json_token token;

	OK(tkb_json_next(&json, &token, ERR));
	OK(tkb_json_next(&json, &token, ERR));
	CHECK(tkb_bytes_equal(tkb_json_raw(&json, &token), tkb_text("")));
	OK(tkb_json_next(&json, &token, ERR));
	CHECK(tkb_bytes_equal(tkb_json_raw(&json, &token), tkb_text("a\\n")));
}

TEST(json, that_is_wrong_leaves_the_token_alone_and_says_where)
{
	struct tkb_json json = tkb_json_of(tkb_text("[1,  x]"), 0);
	struct tkb_json_token token;

	OK(tkb_json_next(&json, &token, ERR));
	OK(tkb_json_next(&json, &token, ERR));
	FAILS(tkb_json_next(&json, &token, ERR), TKB_ERR_CORRUPT,
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

	EACH(i, values) {
		const char *document = text("[%s,7]", values[i]);
		struct tkb_json json = tkb_json_of(tkb_text(document), 0);
		struct tkb_json_token token;
		uint64_t number = 0;

		OK(tkb_json_next(&json, &token, ERR));
		OK(tkb_json_next(&json, &token, ERR));
		OK(tkb_json_skip(&json, &token, ERR));
		OK(tkb_json_next(&json, &token, ERR));
		CHECK(tkb_json_number(&json, &token, &number));
		CHECK_INT(number, 7);
	}
}

TEST(json, does_not_skip_over_a_fault)
{
	struct tkb_json json = tkb_json_of(tkb_text("[[1,[}]]]"), 0);
	struct tkb_json_token token;

	OK(tkb_json_next(&json, &token, ERR));
	FAILS(tkb_json_skip(&json, &token, ERR), TKB_ERR_CORRUPT, "byte 5");
}

TEST(json, in_canonical_form_is_accepted_as_such)
{
	must_accept_each("0|18446744073709551615|true|false|null|\"\"|"
	                 "\"/\x7f\xc3\xa9\"|\"\\\"\\\\\\u0000\\u000a\\u001f\"|"
	                 "[]|[0,[],{}]|{}|"
	                 "{\"\":0,\"A\":0,\"a\":0,\"aa\":0,\"b\":0}|"
	                 "{\"a\":{\"a\":0,\"b\":{\"a\":0}},\"b\":[{\"a\":0}]}|"
	                 "{\"b\":{\"z\":0},\"c\":0}|[{\"b\":0},{\"a\":0}]|"
	                 "{\"z\":0,\"\xc3\xa9\":0}",
	                 TKB_JSON_CANONICAL);
}

/* Each is JSON, and some other way of writing what has a canonical form. */
TEST(json, in_another_form_is_refused_where_it_must_be_canonical)
{
	static const char cases[] =
		" 0|0\n|[ 0]|[0 ]|[0, 1]|[0 ,1]|{ }|{\"a\": 0}|"
		"{\"a\" :0}|{\"a\":0 }|{\"a\":0,\t\"b\":0}|[\r]|"
		"{\"b\":0,\"a\":0}|{\"aa\":0,\"a\":0}|"
		"{\"a\":0,\"A\":0}|{\"a\":0,\"\":0}|"
		"{\"\xc3\xa9\":0,\"z\":0}|{\"a\":{\"c\":0,\"b\":0}}|"
		"{\"b\":{},\"a\":0}|{\"a\":0,\"a\":0}|"
		"{\"\":0,\"\":0}|{\"a\":{\"b\":0,\"b\":1}}|"
		"{\"a\":[],\"b\":{\"c\":0},\"b\":0}|\"\\/\"|\"\\b\"|"
		"\"\\f\"|\"\\n\"|\"\\r\"|\"\\t\"|\"\\u0020\"|"
		"\"\\u0022\"|\"\\u0041\"|\"\\u005c\"|\"\\u007f\"|"
		"\"\\u00e9\"|\"\\u000A\"|\"\\ud83d\\ude00\"|"
		"\"\\udcff\"|{\"\\u0061\":0}|-0|-1|1.0|0.5|1e1|1E1|"
		"NaN|Infinity|-Infinity";

	must_accept_each(cases, 0);
	must_refuse_each(cases, TKB_JSON_CANONICAL);
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

	EACH(i, cases) {
		struct tkb_json json = tkb_json_of(tkb_text(cases[i].text), 0);
		struct tkb_json_token token;
		uint64_t number = 42;

		OK(tkb_json_next(&json, &token, ERR));
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
	EACH(i, strings) {
		struct tkb_buf *out = test_buf(256);

		must_accept(joined("\"", strings[i].raw, "\""), 0);
		tkb_buf_add_text(out, ">");
		tkb_json_decode(strings[i].raw, out);
		CHECK(tkb_bytes_equal(tkb_buf_bytes(out),
		                      joined(">", strings[i].value, "")));
	}
}

TEST(json, strings_equal_their_value_and_no_other)
{
	EACH(i, strings) {
		const struct tkb_bytes raw = strings[i].raw;

		EACH(j, strings) {
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

	EACH(i, cases) {
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

	EACH(i, cases) {
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

	EACH(i, cases) {
		struct tkb_buf *out = test_buf(256);

		tkb_json_escape_python(cases[i].bytes, out);
		CHECK_STR(test_bytes(tkb_buf_bytes(out)), cases[i].escaped);
	}
}

static void check_escape_is_undone(struct tkb_bytes bytes)
{
	BUF(escaped, 256);
	BUF(decoded, 256);

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

	EACH(i, cases) {
		struct tkb_buf *out = test_buf(256);

		tkb_json_quote(cases[i].bytes, out);
		CHECK(tkb_bytes_equal(tkb_buf_bytes(out),
		                      tkb_text(cases[i].quoted)));
		must_accept(tkb_buf_bytes(out), TKB_JSON_CANONICAL);
	}
}
