/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/paths.h"

#include "harness.h"

static const struct tkb_named_root home = { .name = "home", .path = "/home/a" };

static int scrub(const char *given, enum tkb_path_style style,
                 const struct tkb_named_root *roots, size_t count,
                 const char **out, uint32_t *sentinels, struct tkb_error *err)
{
	BUF(buf, TKB_MIB);
	const int rc = tkb_paths_scrub(test_exact(tkb_text(given)), style,
	                               roots, count, &buf, sentinels, err);

	*out = test_bytes(tkb_buf_bytes(&buf));
	return rc;
}

static int restore(struct tkb_bytes given, enum tkb_path_style style,
                   const struct tkb_named_root *roots, size_t count,
                   uint32_t sentinels, const char **out, struct tkb_error *err)
{
	BUF(buf, TKB_MIB);
	const int rc = tkb_paths_restore(test_exact(given), style, roots, count,
	                                 sentinels, &buf, err);

	*out = test_bytes(tkb_buf_bytes(&buf));
	return rc;
}

/* `from` with the path `there` for the root becomes `wanted`, and comes back. */
static void must_become(enum tkb_path_style style, const char *there,
                        const char *from, const char *wanted)
{
	const struct tkb_named_root root = { .name = "r", .path = there };
	uint32_t sentinels = 1000;
	const char *out;

	OK(scrub(from, style, &root, 1, &out, &sentinels, ERR));
	CHECK_STR(out, wanted);
	OK(restore(tkb_text(out), style, &root, 1, sentinels, &out, ERR));
	CHECK_STR(out, from);
}

static void must_stay(enum tkb_path_style style, const char *there,
                      const char *from)
{
	must_become(style, there, from, from);
}

TEST(tree_paths, an_index_of_vllm_names_another_root_after_a_move)
{
	const char *index =
		"{   ((1, 16384), 0, 'inductor_standalone'): {   'cache_key': "
		"'as4y',\n        'graph_handle': (   'artifact_0',\n"
		"                            '/home/a/.cache/vllm/b/art_0')}}";
	const struct tkb_named_root roots[] = {
		{ .name = "cache", .path = "/home/a/.cache" },
		{ .name = "vllm", .path = "/home/a/.cache/vllm" },
		home,
	};
	const struct tkb_named_root there[] = {
		{ .name = "vllm", .path = "/srv/o'neil/\xc3\xa9" },
	};
	uint32_t sentinels = 0;
	const char *out;

	OK(scrub(index, TKB_PATH_STYLE_PYTHON, roots, 3, &out, &sentinels,
	         ERR));
	CHECK_INT(sentinels, 1);
	CHECK_CONTAINS(out, "'[REPLACE:vllm]/b/art_0')}}");
	OK(restore(tkb_text(out), TKB_PATH_STYLE_PYTHON, there, 1, 1, &out,
	           ERR));
	CHECK_CONTAINS(out, "'/srv/o\\'neil/\xc3\xa9/b/art_0')}}");
}

TEST(tree_paths, a_path_ends_where_its_name_ends)
{
	static const char *const ends[] = { "",  "/",  "/x", " ", "\n", "\t",
		                            "'", "\"", "`",  ":", ",",  ";",
		                            ")", "]",  "}",  ">", "|",  "&" };
	static const char *const goes_on[] = { "b",    ".x",   "-1", "_",
		                               "\xff", "\xc3", "~",  "$x",
		                               "\\",   "\\\\", "=" };

	EACH(i, ends)
		must_become(TKB_PATH_STYLE_TEXT, "/home/a",
		            text("x /home/a%s", ends[i]),
		            text("x [REPLACE:r]%s", ends[i]));
	EACH(i, goes_on) {
		must_stay(TKB_PATH_STYLE_TEXT, "/home/a",
		          text("x /home/a%s", goes_on[i]));
		must_stay(TKB_PATH_STYLE_PYTHON, "/home/a",
		          text("x /home/a%s", goes_on[i]));
	}
}

TEST(tree_paths, a_path_begins_where_nothing_comes_before_it)
{
	static const char *const begins[] = {
		"",          " ",    "\n",  "'",    "\"",     "`",   "=",
		":",         ",",    ";",   "(",    "[",      "{",   "<",
		"|",         "&",    "!",   "#",    "@",      "-I",  "\t",
		"-isystem ", "x -L", "'-B", "--a=", "-x /y:", "\x01"
	};
	static const char *const belongs[] = { "x",    "/",   "/mnt", ".",
		                               "..",   "-",   "_",    "~",
		                               "\xc3", "}",   ")",    "$",
		                               "\\",   "x-I", "I",    "-x" };

	EACH(i, begins)
		must_become(TKB_PATH_STYLE_TEXT, "/home/a",
		            text("%s/home/a/b", begins[i]),
		            text("%s[REPLACE:r]/b", begins[i]));
	EACH(i, belongs) {
		must_stay(TKB_PATH_STYLE_TEXT, "/home/a",
		          text("%s/home/a/b", belongs[i]));
		must_stay(TKB_PATH_STYLE_NINJA, "/home/a",
		          text("%s/home/a/b", belongs[i]));
	}
}

TEST(tree_paths, an_escape_is_what_it_means)
{
	static const enum tkb_path_style styles[] = { TKB_PATH_STYLE_JSON,
		                                      TKB_PATH_STYLE_PYTHON };

	EACH(i, styles) {
		must_become(styles[i], "/home/a", "\"x\\n/home/a\\n\"",
		            "\"x\\n[REPLACE:r]\\n\"");
		must_become(styles[i], "/home/a", "\"\\\"/home/a\\\"\"",
		            "\"\\\"[REPLACE:r]\\\"\"");
		must_become(styles[i], "/home/a", "\"\\\\\\t/home/a\\t\"",
		            "\"\\\\\\t[REPLACE:r]\\t\"");
		must_stay(styles[i], "/home/a", "\"x\\\\n/home/a/b\"");
		must_stay(styles[i], "/home/a", "\"x\\\\/home/a/b\"");
		must_stay(styles[i], "/home/a", "\"\\/home/a/b\"");
		must_stay(styles[i], "/home/a", "\"/home/a\\u0062\"");
	}
	must_stay(TKB_PATH_STYLE_TEXT, "/home/a", "x\\n/home/a/b");
	must_stay(TKB_PATH_STYLE_NINJA, "/home/a", "x$ /home/a/b");
	must_stay(TKB_PATH_STYLE_NINJA, "/home/a", "x$:/home/a/b");
	must_become(TKB_PATH_STYLE_NINJA, "/home/a", "x$$ /home/a/b",
	            "x$$ [REPLACE:r]/b");
}

TEST(tree_paths, both_spellings_of_json_are_found)
{
	const char *odd = "/h\xc3\xa9/\xf0\x9f\x98\x80\xff \"\\\n";

	must_become(TKB_PATH_STYLE_JSON, odd,
	            "[\"/h\\u00e9/\\ud83d\\ude00\\udcff \\\"\\\\\\n/x\"]",
	            "[\"[REPLACE:r]/x\"]");
	must_become(TKB_PATH_STYLE_JSON, odd,
	            "[\"/h\xc3\xa9/\xf0\x9f\x98\x80\\udcff \\\"\\\\\\n/x\"]",
	            "[\"[REPLACE:r:utf-8]/x\"]");
	must_become(TKB_PATH_STYLE_JSON, "/h\xc3\xa9",
	            "{\"/h\\u00e9\": [\"/h\xc3\xa9\"]}",
	            "{\"[REPLACE:r]\": [\"[REPLACE:r:utf-8]\"]}");
	must_stay(TKB_PATH_STYLE_JSON, "/h\xc3\xa9", "[\"/h\\u00E9/x\"]");
}

TEST(tree_paths, both_spellings_of_python_are_found)
{
	must_become(TKB_PATH_STYLE_PYTHON, "/h\xc3\xa9\\",
	            "['/h\xc3\xa9\\\\/x', '/h\\xe9\\\\']",
	            "['[REPLACE:r]/x', '[REPLACE:r:ascii]']");
	must_become(TKB_PATH_STYLE_PYTHON, "/o'x", "[\"/o'x/y\", '/o\\'x/\"']",
	            "[\"[REPLACE:r]/y\", '[REPLACE:r]/\"']");
	must_become(TKB_PATH_STYLE_PYTHON, "/a", "# from /a/b, it's",
	            "# from [REPLACE:r]/b, it's");
	must_stay(TKB_PATH_STYLE_PYTHON, "/o'x", "# /o'x/y");
	must_stay(TKB_PATH_STYLE_PYTHON, "/o'x", "\"\\\"/o'x/y\"");
}

TEST(tree_paths, both_spellings_of_ninja_are_found)
{
	must_become(
		TKB_PATH_STYLE_NINJA, "/a b:c$",
		"build /a$ b$:c$$/x.o: cc /a$ b$:c$$/x.c | -I/a$ b$:c$$\n"
		"  flags = -I/a b:c$$/i\n",
		"build [REPLACE:r]/x.o: cc [REPLACE:r]/x.c | -I[REPLACE:r]\n"
		"  flags = -I[REPLACE:r:value]/i\n");
	must_become(TKB_PATH_STYLE_NINJA, "/a", "build /a/x: cc /a/y /a\n",
	            "build [REPLACE:r]/x: cc [REPLACE:r]/y [REPLACE:r]\n");
}

/* Take the next of the texts that are ended by a zero each. */
static const char *take_said(const char **said)
{
	const char *first = *said;

	*said += strlen(first) + 1;
	return first;
}

TEST(tree_paths, the_spellings_are_those_of_python)
{
	static const char *const paths[] = {
		"/plain",
		"/o'neil",
		"/the \"x\"",
		"/both'\"",
		"/h\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
		"/back\\slash",
		"/tab\tline\nreturn\rbell\x07 del\x7f",
		"/nbsp\xc2\xa0-c1\xc2\x85-zwsp\xe2\x80\x8b-ls\xe2\x80\xa8",
	};
	const struct outcome done =
		run("/usr/bin/env", "PYTHONUTF8=1", "python3", "-c",
	            "import json, sys\n"
	            "for path in [path + '/x' for path in sys.argv[1:]]:\n"
	            "  for text in (json.dumps([path]), repr(path),\n"
	            "               json.dumps([path], ensure_ascii=False)):\n"
	            "    sys.stdout.buffer.write(text.encode() + bytes(1))",
	            paths[0], paths[1], paths[2], paths[3], paths[4], paths[5],
	            paths[6], paths[7], NULL);
	const char *said = done.out;

	CHECK_INT(done.status, 0);
	EACH(i, paths) {
		const char *ascii = take_said(&said);
		const char *python = take_said(&said);
		const char *utf8 = take_said(&said);

		must_become(TKB_PATH_STYLE_JSON, paths[i], ascii,
		            "[\"[REPLACE:r]/x\"]");
		must_become(TKB_PATH_STYLE_JSON, paths[i], utf8,
		            strcmp(utf8, ascii) == 0
		                    ? "[\"[REPLACE:r]/x\"]"
		                    : "[\"[REPLACE:r:utf-8]/x\"]");
		must_become(TKB_PATH_STYLE_PYTHON, paths[i], python,
		            text("%c[REPLACE:r]/x%c", python[0], python[0]));
	}
	CHECK(said == done.out + done.out_size);
}

TEST(tree_paths, a_text_that_holds_a_sentinel_is_refused)
{
	uint32_t sentinels = 77;
	const char *out;

	FAILS(scrub("x [REPLACE:home]", TKB_PATH_STYLE_TEXT, &home, 1, &out,
	            &sentinels, ERR),
	      TKB_ERR_CORRUPT, "it holds '[REPLACE:' already");
	CHECK_INT(ERR->reason, TKB_REASON_SENTINEL);
	CHECK_INT(sentinels, 77);
}

TEST(tree_paths, a_file_that_is_never_rewritten_may_hold_anything)
{
	const char *given = "[REPLACE:x] /home/a";
	uint32_t sentinels = 77;
	const char *out;

	OK(scrub(given, TKB_PATH_STYLE_NONE, &home, 1, &out, &sentinels, ERR));
	CHECK_INT(sentinels, 0);
	CHECK_STR(out, given);
	OK(restore(tkb_text(given), TKB_PATH_STYLE_NONE, &home, 1, 0, &out,
	           ERR));
	CHECK_STR(out, given);
	FAILS(restore(tkb_text(given), TKB_PATH_STYLE_NONE, &home, 1, 1, &out,
	              ERR),
	      TKB_ERR_CORRUPT, "holds 0 sentinels");
}

TEST(tree_paths, a_sentinel_that_is_not_one_is_refused)
{
	static const struct {
		const char *text;
		const char *says;
	} cases[] = {
		{ "[REPLACE:home", "has no end" },
		{ "[REPLACE:", "has no end" },
		{ "[REPLACE:]", "names the root ''" },
		{ "[REPLACE:other]", "names the root 'other'" },
		{ "[REPLACE:homes]", "names the root 'homes'" },
		{ "[REPLACE:hom]", "names the root 'hom'" },
		{ "[REPLACE:home:ascii]", "of another style" },
		{ "[REPLACE:home:]", "of another style" },
		{ "[REPLACE::utf-8]", "names the root ':utf-8'" },
		{ "[REPLACE:home] [REPLACE:home]", "holds 2 sentinels" },
		{ "home", "holds 0 sentinels, the manifest says 1" },
		{ "", "holds 0 sentinels, the manifest says 1" },
	};
	const char *out;

	EACH(i, cases) {
		FAILS(restore(tkb_text(cases[i].text), TKB_PATH_STYLE_JSON,
		              &home, 1, 1, &out, ERR),
		      TKB_ERR_CORRUPT, cases[i].says);
		CHECK_INT(ERR->reason, TKB_REASON_SENTINEL);
	}
	FAILS(restore((struct tkb_bytes){ NULL, 0 }, TKB_PATH_STYLE_JSON, &home,
	              1, 1, &out, ERR),
	      TKB_ERR_CORRUPT, "holds 0 sentinels");
}

TEST(tree_paths, a_path_that_a_file_cannot_hold_is_refused)
{
	const struct tkb_named_root line = { .name = "r",
		                             .path = "/a\nbuild x: evil" };
	const struct tkb_named_root quote = { .name = "r", .path = "/o'neil" };
	const char *out;

	FAILS(restore(tkb_text("[REPLACE:r]"), TKB_PATH_STYLE_NINJA, &line, 1,
	              1, &out, ERR),
	      TKB_ERR_CORRUPT, "cannot be written in it");
	FAILS(restore(tkb_text("[REPLACE:r]"), TKB_PATH_STYLE_TEXT, &line, 1, 1,
	              &out, ERR),
	      TKB_ERR_CORRUPT, "cannot be written in it");
	FAILS(restore(tkb_text("x = [REPLACE:r]"), TKB_PATH_STYLE_PYTHON,
	              &quote, 1, 1, &out, ERR),
	      TKB_ERR_CORRUPT, "cannot be written in it");
}

TEST(tree_paths, roots_must_be_roots)
{
	static const struct {
		struct tkb_named_root root;
		const char *says;
	} cases[] = {
		{ { .name = "", .path = "/a" }, "cannot be a root's name" },
		{ { .name = "a b", .path = "/a" }, "cannot be a root's name" },
		{ { .name = "a]", .path = "/a" }, "cannot be a root's name" },
		{ { .name = "a:utf-8", .path = "/a" },
		  "cannot be a root's name" },
		{ { .name = "a", .path = "" }, "cannot be a root's path" },
		{ { .name = "a", .path = "/" }, "cannot be a root's path" },
		{ { .name = "a", .path = "x" }, "cannot be a root's path" },
		{ { .name = "a", .path = "/a/" }, "cannot be a root's path" },
		{ { .name = "home", .path = "/b" },
		  "two roots have the name 'home'" },
	};
	uint32_t sentinels;
	const char *out;

	EACH(i, cases) {
		const struct tkb_named_root roots[] = { home, cases[i].root };

		FAILS(scrub("x", TKB_PATH_STYLE_TEXT, roots, 2, &out,
		            &sentinels, ERR),
		      TKB_ERR_INVALID, cases[i].says);
		FAILS(restore(tkb_text("x"), TKB_PATH_STYLE_TEXT, roots, 2, 0,
		              &out, ERR),
		      TKB_ERR_INVALID, cases[i].says);
	}
}

TEST(tree_paths, what_does_not_fit_is_too_large)
{
	BUF(out, 20);
	uint32_t sentinels = 0;

	FAILS(tkb_paths_scrub(tkb_text("/home/a /home/a"), TKB_PATH_STYLE_TEXT,
	                      &home, 1, &out, &sentinels, ERR),
	      TKB_ERR_TOO_LARGE, "limit of 20 bytes");
	tkb_buf_reset(&out);
	FAILS(tkb_paths_restore(
		      tkb_text("[REPLACE:home][REPLACE:home][REPLACE:home]"),
		      TKB_PATH_STYLE_TEXT, &home, 1, 3, &out, ERR),
	      TKB_ERR_TOO_LARGE, "limit of 20 bytes");
}

TEST(tree_paths, any_text_comes_back_as_it_was)
{
	static const char *const parts[] = {
		"/a",   "/a/a", "/a b",     "/\xc3\xa9", "/\\xe9",  "/a'b",
		"/a:$", "/a$:", "/a$ b",    "/a\\'b",    "\\u00e9", "/",
		" ",    "'",    "\"",       "\\",        "$",       "\\n",
		"-I",   "x",    "[REPLACE", "]",         ":",       "\n",
	};
	const struct tkb_named_root roots[] = {
		{ .name = "a", .path = "/a" },
		{ .name = "aa", .path = "/a/a" },
		{ .name = "b", .path = "/a b" },
		{ .name = "c", .path = "/\xc3\xa9" },
		{ .name = "d", .path = "/a'b" },
		{ .name = "e", .path = "/a:$" },
	};
	uint32_t seed = 1;
	size_t found = 0;

	for (int round = 0; round < 5000; round++) {
		const enum tkb_path_style style =
			(enum tkb_path_style)(round % 5);
		uint32_t sentinels = 0;
		const char *given =
			test_mix(&seed, 20, parts, TKB_COUNT_OF(parts));
		const char *out;

		if (strstr(given, "[REPLACE:") != NULL)
			continue;
		OK(scrub(given, style, roots, TKB_COUNT_OF(roots), &out,
		         &sentinels, ERR));
		found += sentinels;
		OK(restore(tkb_text(out), style, roots, TKB_COUNT_OF(roots),
		           sentinels, &out, ERR));
		CHECK_STR(out, given);
	}
	CHECK(found > 2500);
}
