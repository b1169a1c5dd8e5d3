/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/scrub.h"

#include "base/path.h"
#include "text/json.h"
#include "cache/names.h"

#include "harness.h"

#define KEY "5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA"
#define OTHER "QTEEPGZB42VR33O465X32KCCTRBLNCACUOLQ4Q5DBQICNJLN64DA"

enum {
	LIMIT = 1024 * 1024
};

static int parse(struct tkb_bytes group, struct tkb_arena *arena,
                 struct tkb_group *out, struct tkb_error *err)
{
	return tkb_group_parse(group, KEY, arena, out, err);
}

static void must_be_refused(struct tkb_bytes group, enum tkb_reason reason,
                            const char *message)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_group parsed = { 0 };
	struct tkb_error err = { 0 };
	const int rc = parse(group, &arena, &parsed, &err);

	if (rc != TKB_ERR_CORRUPT || err.reason != (int)reason)
		fail_msg("<%.200s> gives %d, '%s': %s",
		         (const char *)group.data, rc,
		         tkb_reason_name((enum tkb_reason)err.reason),
		         err.message);
	CHECK_CONTAINS(err.message, message);
	CHECK_INT(parsed.child_count, 0);
}

/* A group file whose only child is k.json, at `path`. */
static const char *group_of(const char *path)
{
	return text("{\"child_paths\": {\"k.json\": \"%s\"}}", path);
}

static void must_be_text(const struct tkb_buf *buf, const char *wanted)
{
	CHECK_INT(buf->failure, 0);
	CHECK_STR(text("%.*s", (int)buf->size, (const char *)buf->data),
	          wanted);
}

/* `group`, taken apart and put together again with `prefix`. */
static void must_become(const char *group, const char *prefix, bool is_lean,
                        const char *wanted, uint32_t wanted_count)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	BUF(out, LIMIT);
	struct tkb_group parsed = { 0 };
	uint32_t count = 42;

	OK(parse(tkb_text(group), &arena, &parsed, ERR));
	tkb_group_rewrite(&parsed, tkb_text(prefix), is_lean, &out, &count);
	must_be_text(&out, wanted);
	CHECK_INT(count, wanted_count);
}

TEST(group, of_triton_3_lists_files_by_path)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_group group = { 0 };
	const char *json = "{\"child_paths\": {\"k.cubin\": \"/c/" KEY
			   "/k.cubin\", \"k.json\": \"/c/" KEY "/k.json\"}}";

	OK(parse(tkb_text(json), &arena, &group, ERR));
	CHECK(!group.is_list);
	CHECK_INT(group.child_count, 2);
	CHECK_STR(group.children[0].name, "k.cubin");
	CHECK_STR(group.children[1].name, "k.json");
}

TEST(group, of_the_remote_cache_lists_files_by_name)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_group group = { 0 };
	const char *json = "{\"child_paths\": [\"k.cubin\", \"k\\u002ejson\"]}";

	OK(parse(tkb_text(json), &arena, &group, ERR));
	CHECK(group.is_list);
	CHECK_INT(group.child_count, 2);
	CHECK_STR(group.children[0].name, "k.cubin");
	CHECK_STR(group.children[1].name, "k.json");
}

TEST(group, may_have_other_members)
{
	must_become("{\"a\": [1, {\"child_paths\": 2}], \"child_paths\": "
	            "{\"k.json\": \"/c/" KEY "/k.json\"}, \"z\": \"/c/x\"}\n",
	            "[REPLACE]", false,
	            "{\"a\": [1, {\"child_paths\": 2}], \"child_paths\": "
	            "{\"k.json\": \"[REPLACE]/k.json\"}, \"z\": \"/c/x\"}\n",
	            1);
}

TEST(group, that_cannot_be_understood_is_refused)
{
	static const struct {
		const char *json;
		const char *message;
	} cases[] = {
		{ "", "the group file is empty" },
		{ "\n", "the group file is not JSON at byte 1" },
		{ "{", "the group file is not JSON at byte 1" },
		{ "x", "the group file is not JSON at byte 0" },
		{ "[]", "is not a JSON object" },
		{ "null", "is not a JSON object" },
		{ "\"child_paths\"", "is not a JSON object" },
		{ "{}", "lists no files" },
		{ "{\"child_path\": {\"k.json\": \"/" KEY "/k.json\"}}",
		  "lists no files" },
		{ "{\"a\": {\"child_paths\": {\"k.json\": \"/" KEY
		  "/k.json\"}}}",
		  "lists no files" },
		{ "{\"child_paths\": {}}", "lists no files" },
		{ "{\"child_paths\": []}", "lists no files" },
		{ "{\"child_paths\": null}", "child_paths of no known shape" },
		{ "{\"child_paths\": \"k.json\"}",
		  "child_paths of no known shape" },
		{ "{\"child_paths\": 1}", "child_paths of no known shape" },
		{ "{\"child_paths\": {\"k.json\": 1}}",
		  "lists a path that is not a string" },
		{ "{\"child_paths\": {\"k.json\": [\"/" KEY "/k.json\"]}}",
		  "lists a path that is not a string" },
		{ "{\"child_paths\": {\"k.json\": null}}",
		  "lists a path that is not a string" },
		{ "{\"child_paths\": [1]}",
		  "lists a name that is not a string" },
		{ "{\"child_paths\": [[\"k.json\"]]}",
		  "lists a name that is not a string" },
		{ "{\"child_paths\": [\"a\"], \"child_paths\": [\"b\"]}",
		  "has child_paths twice" },
		{ "{\"child_paths\": [\"a\"], \"child\\u005fpaths\": []}",
		  "has child_paths twice" },
		{ "{\"child_paths\": [\"a\"]} x", "not JSON at byte" },
		{ "{\"child_paths\": [\"a\"]}{}", "not JSON at byte" },
		{ "{\"child_paths\": [\"a\xff\"]}", "not JSON at byte" },
		{ "{\"\xe2\x82\": 1, \"child_paths\": [\"a\"]}",
		  "not JSON at byte" },
		{ "{\"child_paths\": [\"a\"], \"b\": [1,]}",
		  "not JSON at byte" },
	};

	EACH(i, cases)
		must_be_refused(tkb_text(cases[i].json), TKB_REASON_GROUP,
		                cases[i].message);
}

TEST(group, cut_short_anywhere_is_refused)
{
	const struct tkb_bytes whole = tkb_text(
		"{\"child_paths\": {\"k.cubin\": \"/c/" KEY
		"/k.cubin\", \"k.json\": \"/c/" KEY "/k.json\"}, \"a\": [1]}");

	for (size_t size = 0; size < whole.size; size++)
		must_be_refused(tkb_bytes_slice(whole, 0, size),
		                TKB_REASON_GROUP, "the group file ");
}

TEST(group, nested_10000_deep_is_refused)
{
	char *deep = test_alloc(20000);

	memset(deep, '[', 10000);
	memset(deep + 10000, ']', 10000);

	must_be_refused(tkb_text(deep), TKB_REASON_GROUP,
	                "is not a JSON object");
	must_be_refused(tkb_text(text("{\"child_paths\": %s}", deep)),
	                TKB_REASON_GROUP, "is not a string");
	must_be_refused(
		tkb_text(text("{\"child_paths\": {\"k.json\": %s}}", deep)),
		TKB_REASON_GROUP, "is not a string");
	must_be_refused(
		tkb_text(text("{\"a\": %s, \"child_paths\": [\"k.json\"]}",
	                      deep)),
		TKB_REASON_GROUP, "nested deeper than 64");
}

TEST(group, that_lists_a_file_twice_is_refused)
{
	must_be_refused(tkb_text("{\"child_paths\": {\"k.json\": \"/" KEY
	                         "/k.json\", \"k.json\": \"/" KEY
	                         "/k.json\"}}"),
	                TKB_REASON_GROUP, "lists 'k.json' twice");
	must_be_refused(tkb_text("{\"child_paths\": {\"k.json\": \"/" KEY
	                         "/k.json\", \"\\u006b.json\": \"/" KEY
	                         "/k.json\"}}"),
	                TKB_REASON_GROUP, "lists 'k.json' twice");
	must_be_refused(tkb_text("{\"child_paths\": [\"a\", \"b\", \"a\"]}"),
	                TKB_REASON_GROUP, "lists 'a' twice");
}

TEST(group, with_a_name_that_no_file_can_have_is_refused)
{
	static const char *const names[] = {
		"",        ".",         "..",      "a/b",     "/a",
		"a\\/b",   "a\\u002fb", "../k",    "a\\nb",   "a\\u0000",
		"\\u007f", "\\udcff",   "\\ud800", "\\u0001",
	};

	EACH(i, names) {
		const char *list_of_one =
			text("{\"child_paths\": [\"%s\"]}", names[i]);
		const char *dict_of_one = text("{\"child_paths\": {\"%s\": "
		                               "\"/" KEY "/%s\"}}",
		                               names[i], names[i]);

		must_be_refused(tkb_text(list_of_one), TKB_REASON_NAME,
		                "cannot be a file's name");
		must_be_refused(tkb_text(dict_of_one), TKB_REASON_NAME,
		                "cannot be a file's name");
	}
}

TEST(group, names_of_255_bytes_are_the_longest)
{
	char *name = test_alloc(256);

	memset(name, 'n', 255);
	must_become(text("{\"child_paths\": {\"%s\": \"/" KEY "/%s\"}}", name,
	                 name),
	            "[REPLACE]", false,
	            text("{\"child_paths\": {\"%s\": \"[REPLACE]/%s\"}}", name,
	                 name),
	            1);
	name[255] = 'n';
	must_be_refused(tkb_text(text("{\"child_paths\": [\"%s\"]}", name)),
	                TKB_REASON_NAME, "cannot be a file's name");
	must_be_refused(tkb_text(text("{\"child_paths\": [\"%02000d\"]}", 0)),
	                TKB_REASON_NAME, "', which cannot be a file's name");
}

/* What stands before the key is never looked at. */
TEST(group, paths_of_this_entry_are_known_wherever_it_was)
{
	static const struct {
		const char *path;
		const char *scrubbed;
	} cases[] = {
		{ "/home/a/.triton/cache/" KEY "/k.json", "[REPLACE]/k.json" },
		{ "/" KEY "/k.json", "[REPLACE]/k.json" },
		{ KEY "/k.json", "[REPLACE]/k.json" },
		{ "./" KEY "/k.json", "[REPLACE]/k.json" },
		{ "../../x/" KEY "/k.json", "[REPLACE]/k.json" },
		{ "/a/../b/./" KEY "/k.json", "[REPLACE]/k.json" },
		{ "//mnt//cache//" KEY "/k.json", "[REPLACE]/k.json" },
		{ "/" KEY "/x/" KEY "/k.json", "[REPLACE]/k.json" },
		{ "/" OTHER "/" KEY "/k.json", "[REPLACE]/k.json" },
		{ "/x [REPLACE]/" KEY "/k.json", "[REPLACE]/k.json" },
		{ "\\/a\\/" KEY "\\/k.json", "[REPLACE]\\/k.json" },
		{ "\\u002fa\\u002f" KEY "\\u002fk.json",
		  "[REPLACE]\\u002fk.json" },
		{ "\\u002Fa\\u002F" KEY "\\u002Fk.json",
		  "[REPLACE]\\u002Fk.json" },
		{ "/a\\/" KEY "/k.json", "[REPLACE]/k.json" },
		{ "/a/\\u0035DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZ"
		  "XA/k.json",
		  "[REPLACE]/k.json" },
		{ "/a/" KEY "/k\\u002ejson", "[REPLACE]/k\\u002ejson" },
		{ "/caf\\u00e9 \\\"a\\\\b\\udcff\\n/" KEY "/k.json",
		  "[REPLACE]/k.json" },
		{ "/caf\xc3\xa9/" KEY "/k.json", "[REPLACE]/k.json" },
	};

	EACH(i, cases)
		must_become(group_of(cases[i].path), "[REPLACE]", false,
		            group_of(cases[i].scrubbed), 1);
}

TEST(group, paths_elsewhere_are_outside)
{
	static const char *const paths[] = {
		"",
		"/",
		"k.json",
		"/k.json",
		"./k.json",
		"/etc/passwd",
		"/a/" OTHER "/k.json",
		"/a/" KEY "/other.json",
		"/a/" KEY "/K.json",
		"/a/" KEY "/k.jsonx",
		"/a/" KEY "/xk.json",
		"/a/" KEY "/k.jso",
		"/a/" KEY "/",
		"/a/" KEY,
		"/a/" KEY "k.json",
		"/a/" KEY "/k.json/",
		"/a/" KEY "/../k.json",
		"/a/" KEY "/./k.json",
		"/a/" KEY "//k.json",
		"/a/" KEY "/../" OTHER "/k.json",
		"/a/" KEY "/sub/k.json",
		"/a/" KEY "/" OTHER "/k.json",
		"/a/x" KEY "/k.json",
		"/a/" KEY "x/k.json",
		"/a/" KEY "\\u0000/k.json",
		"/a/" KEY "/k.json\\u0000",
		"/a\\\\" KEY "/k.json",
		"/a/" KEY "\\\\k.json",
		"/a/5djuwxt22bvryp25opbyucn7re5sdryau5fi7sucrvlo5botfzxa/"
		"k.json",
		" ",
	};

	EACH(i, paths)
		must_be_refused(tkb_text(group_of(paths[i])),
		                TKB_REASON_OUTSIDE, "not in this entry");
}

TEST(group, one_path_elsewhere_among_own_ones_is_outside)
{
	must_be_refused(tkb_text("{\"child_paths\": {\"a\": \"/" KEY
	                         "/a\", \"b\": \"/" OTHER "/b\", \"c\": \"/" KEY
	                         "/c\"}}"),
	                TKB_REASON_OUTSIDE,
	                "lists '/" OTHER "/b', which is not in this entry");
	must_be_refused(tkb_text(group_of(text("/%02000d/k.json", 0))),
	                TKB_REASON_OUTSIDE, "', which is not in this entry");
}

TEST(group, with_the_sentinel_at_the_start_of_a_path_is_refused)
{
	static const char *const paths[] = {
		"[REPLACE]",
		"[REPLACE]/k.json",
		"[REPLACE]/" KEY "/k.json",
		"[REPLACE]x/" KEY "/k.json",
		"\\u005bREPLACE]/k.json",
		"\\u005B\\u0052EPLACE\\u005d/" KEY "/k.json",
	};

	EACH(i, paths)
		must_be_refused(tkb_text(group_of(paths[i])),
		                TKB_REASON_SENTINEL, "holds '[REPLACE]'");
}

/* A restore would take it for one of ours. */
TEST(group, with_the_sentinel_in_another_value_is_refused)
{
	static const char *const groups[] = {
		"{\"child_paths\": {\"k.json\": \"/" KEY "/k.json\"}, "
		"\"a\": \"[REPLACE]\"}",
		"{\"a\": [{\"b\": \"[REPLACE]/x\"}], "
		"\"child_paths\": {\"k.json\": \"/" KEY "/k.json\"}}",
		"{\"a\": \"\\u005bREPLACE]\", \"child_paths\": [\"k.json\"]}",
		"{\"child_paths\": [\"[REPLACE].json\"]}",
		"{\"child_paths\": [\"k.json\", \"\\u005bREPLACE]\"]}",
	};

	EACH(i, groups)
		must_be_refused(tkb_text(groups[i]), TKB_REASON_SENTINEL,
		                "holds '[REPLACE]'");
}

TEST(group, with_the_sentinel_where_no_value_begins_is_none)
{
	must_become("{\"[REPLACE]\": \" [REPLACE]\", \"child_paths\": "
	            "{\"[REPLACE]\": \"/" KEY "/[REPLACE]\"}}",
	            "[REPLACE]", false,
	            "{\"[REPLACE]\": \" [REPLACE]\", \"child_paths\": "
	            "{\"[REPLACE]\": \"[REPLACE]/[REPLACE]\"}}",
	            1);
}

static const char *group_of_many(size_t count, bool is_list)
{
	BUF(buf, LIMIT);

	tkb_buf_add_text(&buf, is_list ? "{\"child_paths\": ["
	                               : "{\"child_paths\": {");
	for (size_t i = 0; i < count; i++) {
		tkb_buf_add_text(&buf, i == 0 ? "" : ", ");
		tkb_buf_add_text(
			&buf,
			is_list ? text("\"%zu\"", i)
				: text("\"%zu\": \"/" KEY "/%zu\"", i, i));
	}
	tkb_buf_add_text(&buf, is_list ? "]}" : "}}");
	return text("%.*s", (int)buf.size, (const char *)buf.data);
}

TEST(group, lists_at_most_63_files)
{
	for (int is_list = 0; is_list < 2; is_list++) {
		TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
		struct tkb_group group = { 0 };

		OK(parse(tkb_text(group_of_many(63, is_list != 0)), &arena,
		         &group, ERR));
		CHECK_INT(group.child_count, 63);
		must_be_refused(tkb_text(group_of_many(64, is_list != 0)),
		                TKB_REASON_LIMIT, "more than 63 files");
	}
}

TEST(group, names_a_place_if_every_path_does)
{
	static const struct {
		const char *json;
		const char *place;
		bool names;
	} cases[] = {
		{ "{\"child_paths\": {\"a\": \"/c/" KEY "/a\", \"b\": \"/c/" KEY
		  "/b\"}}",
		  "/c/" KEY, true },
		{ "{\"child_paths\": {\"a\": \"/c/" KEY "/a\", \"b\": \"/c/" KEY
		  "/b\"}}",
		  "/d/" KEY, false },
		{ "{\"child_paths\": {\"a\": \"/c/" KEY "/a\", \"b\": \"/d/" KEY
		  "/b\"}}",
		  "/c/" KEY, false },
		{ "{\"child_paths\": {\"a\": \"/c/" KEY "/a\", \"b\": \"/d/" KEY
		  "/b\"}}",
		  "/d/" KEY, false },
		{ "{\"child_paths\": {\"a\": \"/c/" KEY "/a\"}}", "/c/" KEY "/",
		  false },
		{ "{\"child_paths\": {\"a\": \"c/" KEY "/a\"}}", "/c/" KEY,
		  false },
		{ "{\"child_paths\": {\"a\": \"/c\\u00e9/" KEY "/a\"}}",
		  "/c\\u00e9/" KEY, true },
		{ "{\"child_paths\": [\"a\", \"b\"]}", "/anywhere", true },
	};

	EACH(i, cases) {
		TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
		struct tkb_group group = { 0 };

		OK(parse(tkb_text(cases[i].json), &arena, &group, ERR));
		CHECK_INT(tkb_group_names(&group, tkb_text(cases[i].place)),
		          cases[i].names);
	}
}

TEST(group, rewritten_keeps_every_other_byte)
{
	must_become(
		"\t{ \"z\":1.50 ,\"child_paths\" :{\"k\\u002ejson\":\n\"/c/" KEY
		"\\/k.json\" , \"a\":\"" KEY "/a\"}\r\n}  ",
		"/new \\u00e9/" KEY, false,
		"\t{ \"z\":1.50 ,\"child_paths\" :{\"k\\u002ejson\":\n\""
		"/new \\u00e9/" KEY "\\/k.json\" , \"a\":\"/new \\u00e9/" KEY
		"/a\"}\r\n}  ",
		2);
	must_become("{\"child_paths\": [\"k.json\" ]}\n", "[REPLACE]", false,
	            "{\"child_paths\": [\"k.json\" ]}\n", 0);
}

TEST(group, rewritten_lean_lists_what_a_launch_needs)
{
	must_become("{\"child_paths\":{\"k.source\":\"/c/" KEY
	            "/k.source\",\"k.ttir\":\"/c/" KEY
	            "/k.ttir\",\"k.ttgir\":\"/c/" KEY
	            "/k.ttgir\",\"k.llir\":\"/c/" KEY
	            "/k.llir\",\"k.ptx\":\"/c/" KEY
	            "/k.ptx\",\"k.amdgcn\":\"/c/" KEY
	            "/k.amdgcn\",\"k.cubin\":\"/c/" KEY
	            "/k.cubin\",\"k\\u002ejson\":\"/c/" KEY
	            "/k.json\"},\"other\":1}",
	            "[REPLACE]", true,
	            "{\"child_paths\": {\"k.cubin\": \"[REPLACE]/k.cubin\", "
	            "\"k.json\": \"[REPLACE]/k.json\"}}",
	            2);
	must_become("{\"child_paths\":[\"k.ptx\",\"k.hsaco\",\"k.json\","
	            "\"k.ttir\"]}",
	            "[REPLACE]", true,
	            "{\"child_paths\": [\"k.hsaco\", \"k.json\"]}", 0);
}

TEST(group, rewritten_lean_as_it_was_is_the_same)
{
	static const char group[] =
		"{\"child_paths\": {\"k.cubin\": \"/c/" KEY
		"/k.cubin\", \"k.json\": \"/c/" KEY "/k.json\"}}";

	must_become(group, "/c/" KEY, true, group, 2);
}

static int scrub(const char *json, struct tkb_buf *out, uint32_t *count,
                 struct tkb_error *err)
{
	static const struct tkb_bytes prefixes[] = {
		{ "/own/KEY", 8 },
		{ "/old \xc3\xa9\xff/KEY", 12 },
	};

	return tkb_scrub(tkb_text(json), "k.json", prefixes,
	                 TKB_COUNT_OF(prefixes), out, count, err);
}

static void check_scrubbed(const char *json, const char *wanted,
                           uint32_t wanted_count)
{
	BUF(out, LIMIT);
	uint32_t count = 42;

	OK(scrub(json, &out, &count, ERR));
	must_be_text(&out, wanted);
	CHECK_INT(count, wanted_count);
}

static void check_scrub_refused(const char *json, enum tkb_reason reason,
                                const char *message)
{
	BUF(out, LIMIT);
	uint32_t count = 42;

	FAILS(scrub(json, &out, &count, ERR), TKB_ERR_CORRUPT, message);
	CHECK_INT(ERR->reason, reason);
	CHECK_INT(count, 42);
}

TEST(scrub, replaces_values_that_are_the_prefix_or_go_on_with_a_slash)
{
	static const struct {
		const char *json;
		const char *scrubbed;
		uint32_t count;
	} cases[] = {
		{ "\"/own/KEY\"", "\"[REPLACE]\"", 1 },
		{ "\"/own/KEY/\"", "\"[REPLACE]/\"", 1 },
		{ "\"/own/KEY/k.json\"", "\"[REPLACE]/k.json\"", 1 },
		{ "\"/own/KEY//a\\n\"", "\"[REPLACE]//a\\n\"", 1 },
		{ "\"/own/KEY\\/a\"", "\"[REPLACE]\\/a\"", 1 },
		{ "\"/own/KEY\\u002fa\"", "\"[REPLACE]\\u002fa\"", 1 },
		{ "\"\\/own\\/\\u004bEY/a\"", "\"[REPLACE]/a\"", 1 },
		{ "\"/old \\u00e9\\udcff/KEY/a\"", "\"[REPLACE]/a\"", 1 },
		{ " [ \"/own/KEY\" ,{\"a\" : \"/own/KEY/b\"}, NaN,1.50 ]\n",
		  " [ \"[REPLACE]\" ,{\"a\" : \"[REPLACE]/b\"}, NaN,1.50 ]\n",
		  2 },
		{ "{\"a\": \"/own/KEY/x\", \"a\": \"/old \\u00e9\\udcff/KEY\"}",
		  "{\"a\": \"[REPLACE]/x\", \"a\": \"[REPLACE]\"}", 2 },
		{ "{\"/own/KEY\": \"/own/KEY\"}",
		  "{\"/own/KEY\": \"[REPLACE]\"}", 1 },
	};

	EACH(i, cases)
		check_scrubbed(cases[i].json, cases[i].scrubbed,
		               cases[i].count);
}

TEST(scrub, leaves_other_text_alone)
{
	const char **cases =
		words("null|\"\"|{\"a\": [1, true, \"/own/other\"]}|"
	              "{\"/own/KEY\": 1, \"/own/KEY/a\": 2}|\"/own/KEYS\"|"
	              "\"/own/KEY.json\"|\"/own/KEY\\\\a\"|\"/own/KEY \"|"
	              "\"/own/KE\"|\"/own\"|\" /own/KEY/a\"|"
	              "\"x/own/KEY/a\"|\"see /own/KEY/a\"|\"//own/KEY/a\"|"
	              "\"/OWN/KEY/a\"|\"own/KEY/a\"|\"/own/x/../KEY/a\"|"
	              "\"/old \xc3\xa9/KEY/a\"|\"see [REPLACE]/a\"|"
	              "{\"[REPLACE]\": 1, \"[REPLACE]/a\": 2}|\"[REPLACE\"|"
	              "\"[replace]\"");

	for (; *cases != NULL; cases++)
		check_scrubbed(*cases, *cases, 0);
}

TEST(scrub, refuses_values_that_begin_with_the_sentinel)
{
	const char **cases =
		words("\"[REPLACE]\"|\"[REPLACE]/k.json\"|\"[REPLACE]x\"|"
	              "\"\\u005bREPLACE]/a\"|\"[\\u0052EPLACE\\u005D\"|"
	              "{\"a\": \"/own/KEY/x\", \"b\": [[\"[REPLACE]\"]]}");

	for (; *cases != NULL; cases++)
		check_scrub_refused(*cases, TKB_REASON_SENTINEL,
		                    "'k.json' holds '[REPLACE]' already");
}

TEST(scrub, refuses_what_is_not_json)
{
	char *deep = test_alloc(20000);
	const char *cases[] = {
		"", "{", "[1]x", "\"\xff\"", "{\"a\": }", deep
	};

	memset(deep, '[', 10000);
	memset(deep + 10000, ']', 10000);

	EACH(i, cases)
		check_scrub_refused(cases[i], TKB_REASON_METADATA,
		                    "'k.json' is not JSON at byte");
}

TEST(scrub, says_that_the_result_is_too_long)
{
	BUF(out, 8);
	uint32_t count = 42;

	CHECK_INT(scrub("\"/own/KEY\"", &out, &count, ERR), TKB_ERR_TOO_LARGE);
	CHECK_INT(count, 42);
}

static int restore(const char *json, uint32_t count, struct tkb_buf *out,
                   struct tkb_error *err)
{
	return tkb_restore(tkb_text(json), "k.json", tkb_text("/n\\u00e9w"),
	                   count, out, err);
}

TEST(restore, replaces_every_sentinel_at_the_start_of_a_value)
{
	static const struct {
		const char *json;
		const char *restored;
		uint32_t count;
	} cases[] = {
		{ "1", "1", 0 },
		{ "\"[REPLACE]\"", "\"/n\\u00e9w\"", 1 },
		{ "\"[REPLACE]/a\\n\"", "\"/n\\u00e9w/a\\n\"", 1 },
		{ " {\"a\" : [\"[REPLACE]/a\",1e5] , \"b\":\"[REPLACE]\"}\n",
		  " {\"a\" : [\"/n\\u00e9w/a\",1e5] , \"b\":\"/n\\u00e9w\"}\n",
		  2 },
		{ "{\"[REPLACE]\": \"x[REPLACE]\"}",
		  "{\"[REPLACE]\": \"x[REPLACE]\"}", 0 },
	};

	EACH(i, cases) {
		struct tkb_buf *out = test_buf(LIMIT);

		OK(restore(cases[i].json, cases[i].count, out, ERR));
		must_be_text(out, cases[i].restored);
	}
}

TEST(restore, of_another_number_of_sentinels_fails)
{
	static const char json[] = "[\"[REPLACE]/a\", \"[REPLACE]/b\"]";
	static const uint32_t counts[] = { 0, 1, 3, UINT32_MAX };

	EACH(i, counts) {
		struct tkb_buf *out = test_buf(LIMIT);

		FAILS(restore(json, counts[i], out, ERR), TKB_ERR_CORRUPT,
		      text("'k.json' holds 2 sentinels, the manifest "
		           "says %u",
		           (unsigned)counts[i]));
		CHECK_INT(ERR->reason, TKB_REASON_SENTINEL);
	}
}

TEST(restore, of_what_is_not_json_fails)
{
	BUF(out, LIMIT);

	FAILS(restore("[\"[REPLACE]\"", 1, &out, ERR), TKB_ERR_CORRUPT,
	      "'k.json' is not JSON");
	CHECK_INT(ERR->reason, TKB_REASON_METADATA);
}

/* A folder whose name takes every kind of escape. */
static const char odd_place[] =
	"/srv/caf\xc3\xa9 \"a\\b\xff\n\xf0\x9f\x98\x80/" KEY;

#define ODD_ESCAPED "/srv/caf\\u00e9 \\\"a\\\\b\\udcff\\n\\ud83d\\ude00/" KEY

/* As json.dumps wrote it, of os.fsdecode(odd_place + b"/k.cubin") and so on. */
static const char odd_group[] =
	"{\"child_paths\": {\"k.cubin\": \"" ODD_ESCAPED
	"/k.cubin\", \"k.json\": \"" ODD_ESCAPED "/k.json\"}}";

static const char odd_metadata[] = "{\"cache_dir\": \"" ODD_ESCAPED
				   "\", \"x\": [\"" ODD_ESCAPED "/k.json\"]}";

TEST(restore, writes_an_odd_path_as_pythons_json_dumps_does)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	BUF(place, LIMIT);
	BUF(out, LIMIT);
	struct tkb_group group = { 0 };

	tkb_json_escape_python(tkb_text(odd_place), &place);
	OK(tkb_restore(tkb_text("{\"child_paths\": {\"k.cubin\": \"[REPLACE]/"
	                        "k.cubin\", \"k.json\": "
	                        "\"[REPLACE]/k.json\"}}"),
	               "__grp__k.json", tkb_buf_bytes(&place), 2, &out, ERR));
	must_be_text(&out, odd_group);

	OK(parse(tkb_buf_bytes(&out), &arena, &group, ERR));
	CHECK(tkb_group_names(&group, tkb_buf_bytes(&place)));
}

TEST(scrub, knows_an_odd_path_as_python_wrote_it)
{
	const struct tkb_bytes prefix = tkb_text(odd_place);
	BUF(out, LIMIT);
	BUF(again, LIMIT);
	uint32_t count = 0;

	OK(tkb_scrub(tkb_text(odd_metadata), "k.json", &prefix, 1, &out, &count,
	             ERR));
	must_be_text(&out, "{\"cache_dir\": \"[REPLACE]\", "
	                   "\"x\": [\"[REPLACE]/k.json\"]}");
	CHECK_INT(count, 2);
	OK(tkb_restore(tkb_buf_bytes(&out), "k.json", tkb_text(ODD_ESCAPED),
	               count, &again, ERR));
	must_be_text(&again, odd_metadata);
	must_become(odd_group, TKB_SENTINEL, false,
	            "{\"child_paths\": {\"k.cubin\": \"[REPLACE]/k.cubin\", "
	            "\"k.json\": \"[REPLACE]/k.json\"}}",
	            2);
}

static const char *const fixtures[] = { EVERY_TRITON,
	                                "inductor-2.11-llama4-h100" };

/* What one scrub gives: bytes, and how many sentinels they hold. */
static void scrub_file(struct tkb_bytes bytes, const char *name,
                       const char *key, const char *place, struct tkb_buf *out,
                       uint32_t *count)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	const struct tkb_bytes prefix = tkb_text(place);
	struct tkb_group group = { 0 };

	if (!tkb_name_is_group(name)) {
		OK(tkb_scrub(bytes, name, &prefix, 1, out, count, ERR));
		return;
	}
	OK(tkb_group_parse(bytes, key, &arena, &group, ERR));
	CHECK(tkb_group_names(&group, prefix));
	tkb_group_rewrite(&group, tkb_text(TKB_SENTINEL), false, out, count);
	CHECK_INT(*count, group.child_count);
}

static void check_identity(const char *path, const char *name, const char *key,
                           const char *place)
{
	const struct tkb_bytes bytes = read_file(path);
	BUF(packed, LIMIT);
	BUF(out, LIMIT);
	uint32_t count = 0;

	scrub_file(bytes, name, key, place, &packed, &count);
	CHECK(memmem(packed.data, packed.size, place, strlen(place)) == NULL);
	OK(tkb_restore(tkb_buf_bytes(&packed), name, tkb_text(place), count,
	               &out, ERR));
	if (!tkb_bytes_equal(tkb_buf_bytes(&out), bytes))
		fail_msg("'%s' is not what it was", path);
}

static size_t check_folder(const char *root, const char *key,
                           const char *recorded)
{
	const char *place = text("%s/%s", recorded, key);
	const char **names = list(text("%s/%s", root, key));
	size_t checked = 0;

	for (; *names != NULL; names++) {
		if (!tkb_name_ends_with(*names, ".json"))
			continue;
		check_identity(text("%s/%s/%s", root, key, *names), *names, key,
		               place);
		checked++;
	}
	return checked;
}

TEST(restore, undoes_the_scrub_of_every_file_of_the_fixtures)
{
	size_t checked = 0;

	EACH(i, fixtures) {
		const char *place = strncmp(fixtures[i], "triton", 6) == 0
		                            ? ".triton/cache"
		                            : ".cache/torchinductor/triton/0";
		const char *root = text("%s/%s", fixtures[i], place);
		const char *recorded = text("/home/serve/%s", place);
		const char **keys;

		unpack(fixtures[i], fixtures[i]);
		for (keys = list(root); *keys != NULL; keys++)
			checked += check_folder(root, *keys, recorded);
	}
	CHECK_INT(checked, 150);
}
