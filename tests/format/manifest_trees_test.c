/* SPDX-License-Identifier: Apache-2.0 */
#include "parsing.h"

#include "tree/unit.h"

#define DIGEST                                                                 \
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define FILE_OF(name, more) "[\"" name "\",1,\"" DIGEST "\"" more "]"
#define UNIT(folder, files) "{\"files\":[" files "],\"folder\":\"" folder "\"}"
#define UNIT_X(folder) UNIT(folder, FILE_OF("x", ""))
#define TREE(name, units) "{\"name\":\"" name "\",\"units\":[" units "]}"
#define WITH(requires, trees)                                                  \
	"{\"entries\":[],\"format\":\"tkbundle\",\"launchers\":[],"            \
	"\"profile\":\"full\",\"requires\":[" requires "],\"trees\":[" trees   \
						       "],\"version\":1}"
#define WITH_UNITS(units) WITH("\"trees\"", TREE("vllm", units))

/* A folder with an index, an executable; and a file that is a unit. */
static const char valid[] = WITH(
	"\"trees\"",
	TREE("inductor", UNIT(".", FILE_OF("a/b.py", ""))) "," TREE(
		"vllm",
		UNIT("a/b", FILE_OF("model", ",1") "," FILE_OF(
				    "x/index.py",
				    ",10,3")) "," UNIT(".", FILE_OF("b/c.json",
                                                                    ",4,1"))));

TEST(manifest_trees, has_units_behind_the_entries)
{
	TKB_AUTO(tkb_manifest_release) struct tkb_manifest manifest = { 0 };

	OK(parse(valid, &manifest, ERR));

	CHECK_INT(manifest.entry_count, 3);
	const struct tkb_entry *file = &manifest.entries[0];
	CHECK_INT(file->kind, TKB_KIND_UNIT);
	CHECK_STR(file->tree, "inductor");
	CHECK_STR(file->name, "a/b.py");
	CHECK_STR(file->folder, ".");
	CHECK_INT(strlen(file->key), 64);
	const struct tkb_entry *unit = &manifest.entries[1];
	CHECK_STR(unit->tree, "vllm");
	CHECK_STR(unit->name, "a/b");
	CHECK_STR(unit->folder, "a/b");
	CHECK_INT(unit->file_count, 2);
	CHECK(unit->files[0].is_executable && !unit->files[0].is_last);
	CHECK(unit->files[1].is_last && !unit->files[1].is_executable);
	CHECK_INT(unit->files[1].style, TKB_PATH_STYLE_PYTHON);
	CHECK_INT(unit->files[1].sentinels, 3);
	CHECK_INT(manifest.entries[2].files[0].style, TKB_PATH_STYLE_JSON);
	CHECK(strcmp(unit->key, file->key) != 0);
}

TEST(manifest_trees, that_were_read_are_written_as_they_were)
{
	static const char *const texts[] = {
		valid,
		WITH("", ""),
		WITH_UNITS(UNIT("a \\\"\\\\\xc3\xa9", FILE_OF("x", ",3"))),
		WITH_UNITS(UNIT("a", FILE_OF("x", ",19,4294967295"))),
		WITH("\"builds\",\"trees\"",
		     TREE("a", UNIT("a", FILE_OF(".ninja_log", ",22")))),
		WITH("\"builds\",\"trees\"",
		     TREE("a", UNIT("a", FILE_OF(".ninja_log", ",22,2")))),
		WITH_UNITS(UNIT("a", FILE_OF("b", "")) "," UNIT(
			"a-b", FILE_OF("b", "")) "," UNIT(".",
		                                          FILE_OF("ab", ""))),
	};

	EACH(i, texts) {
		TKB_AUTO(tkb_manifest_release)
		struct tkb_manifest manifest = { 0 };

		OK(parse(texts[i], &manifest, ERR));
		CHECK_STR(written(&manifest).data, texts[i]);
	}
}

#define TUNED(folder, gpu)                                                     \
	"{\"files\":[" FILE_OF("x", "") "],\"folder\":\"" folder               \
					"\",\"platform\":\"" gpu "\"}"
#define WITH_TUNED(units) WITH("\"trees\",\"tuned\"", TREE("vllm", units))

TEST(manifest_trees, have_what_was_tuned_once_for_each_gpu)
{
	static const char json[] = WITH_TUNED(UNIT_X("a") "," TUNED(
		"a", "gpu A, driver 5") "," TUNED("a", "gpu B, driver 5"));
	TKB_AUTO(tkb_manifest_release) struct tkb_manifest manifest = { 0 };

	OK(parse(json, &manifest, ERR));
	CHECK_INT(manifest.entry_count, 3);
	CHECK_STR(manifest.entries[0].platform, "");
	CHECK_STR(manifest.entries[2].platform, "gpu B, driver 5");
	CHECK_STR(manifest.entries[2].key, manifest.entries[0].key);
	CHECK_STR(written(&manifest).data, json);
}

static const struct fault {
	const char *json;
	const char *message;
} faults[] = {
	/* Each part is as it must be. */
	{ WITH_UNITS(""), "a tree without units" },
	{ WITH_UNITS(UNIT("a", "")), "a unit without files" },
	{ WITH("\"trees\"", "1"), "a tree is not an object" },
	{ WITH("\"trees\"", "{\"name\":\"a\"}"), "units" },
	{ WITH("\"trees\"", TREE("vllm", "[]")), "a unit is not an object" },
	{ WITH_UNITS("{\"folder\":\"a\"}"), "files" },
	{ WITH_UNITS(UNIT("a", "\"x\"")), "a file is not a list" },
	{ WITH_UNITS(UNIT("a", FILE_OF("x", ",0"))), "a mode is 0" },
	{ WITH_UNITS(UNIT("a", FILE_OF("x", ",24,1"))),
	  "a number is too large" },
	{ WITH_UNITS(UNIT("a", FILE_OF("x", ",22,1"))),
	  "a record of ninja's has another name, or is not last" },
	{ WITH_UNITS(UNIT("a", FILE_OF(".ninja_log", ",20,1"))),
	  "a record of ninja's has another name, or is not last" },
	{ WITH_UNITS(UNIT("a", FILE_OF(".ninja_log", ",22,1"))),
	  "the manifest's trees do not fit what it requires" },
	{ WITH("\"builds\",\"trees\"", TREE("a", UNIT_X("a"))),
	  "the manifest's trees do not fit what it requires" },
	{ WITH_UNITS(UNIT("a", FILE_OF("x", ",1,0"))),
	  "a count of sentinels is 0" },
	{ WITH_UNITS(UNIT("a", FILE_OF("x", ",4,1,1"))),
	  "a file has too many parts" },
	{ WITH_UNITS(UNIT("a", FILE_OF("x", ",4"))),
	  "style of paths does not fit its sentinels" },
	{ WITH_UNITS(UNIT("a", FILE_OF("x", ",1,1"))),
	  "style of paths does not fit its sentinels" },
	{ WITH_UNITS(UNIT("a", "[\"x\",1073741825,\"" DIGEST "\"]")),
	  "a number is too large" },
	{ WITH_UNITS(UNIT("a", "[\"x\",67108865,\"" DIGEST "\",4,1]")),
	  "a text with paths is too large" },
	{ WITH_UNITS(UNIT("a", "[\"x\",1,\"" DIGEST "0\"]")), "digest" },
	/* They are in order, and none is there twice. */
	{ WITH("\"trees\"", TREE("b", UNIT_X("a")) "," TREE("a", UNIT_X("a"))),
	  "trees are not in order" },
	{ WITH("\"trees\"", TREE("a", UNIT_X("a")) "," TREE("a", UNIT_X("b"))),
	  "trees are not in order" },
	{ WITH_UNITS(UNIT_X("b") "," UNIT_X("a")), "units are not in order" },
	{ WITH_UNITS(UNIT_X("a") "," UNIT(".", FILE_OF("a", ""))),
	  "units are not in order" },
	{ WITH_UNITS(UNIT("a", FILE_OF("y", "") "," FILE_OF("x", ""))),
	  "files are not in order" },
	{ WITH_UNITS(UNIT("a", FILE_OF("x", "") "," FILE_OF("x", ""))),
	  "files are not in order" },
	{ WITH_UNITS(UNIT(".", FILE_OF("x", "") "," FILE_OF("y", ""))),
	  "a unit without a folder has several files" },
	/* No unit is inside another one. */
	{ WITH_UNITS(UNIT_X("a") "," UNIT_X("a/b")),
	  "unit 'a/b' is inside another one" },
	{ WITH_UNITS(UNIT_X("a") "," UNIT_X("a-") "," UNIT(
		  ".", FILE_OF("a/b/c", ""))),
	  "unit 'a/b/c' is inside another one" },
	{ WITH_UNITS(UNIT(".", FILE_OF("a", "")) "," UNIT_X("a/b")),
	  "unit 'a/b' is inside another one" },
	/* What was tuned is for a GPU, and there once for each. */
	{ WITH_TUNED(TUNED("a", "gpu A, driver 5") "," TUNED(
		  "a", "gpu A, driver 5")),
	  "units are not in order" },
	{ WITH_TUNED(TUNED("a", "gpu B, driver 5") "," TUNED(
		  "a", "gpu A, driver 5")),
	  "units are not in order" },
	{ WITH_TUNED(TUNED("a", "gpu A, driver 5") "," TUNED(
		  "a/b", "gpu B, driver 5")),
	  "unit 'a/b' is inside another one" },
	{ WITH_TUNED(TUNED("a", "x86_64-glibc2.2")),
	  "a unit's platform is not that of a GPU" },
	{ WITH_TUNED(TUNED("a", "")),
	  "a unit's platform is not that of a GPU" },
	{ WITH_UNITS(TUNED("a", "gpu A, driver 5")), "" },
	{ WITH_TUNED(UNIT_X("a")), "" },
	/* No file is inside a file. */
	{ WITH_UNITS(UNIT("a", FILE_OF("x", "") "," FILE_OF("x/y", ""))),
	  "is inside another" },
	{ WITH_UNITS(
		  UNIT("a", FILE_OF("y/z.b", "") "," FILE_OF("y/z.b/c/d", ""))),
	  "is inside another" },
	/* They are there if they are required, and only then. */
	{ WITH("", TREE("vllm", UNIT_X("a"))),
	  "the manifest's trees do not fit what it requires" },
	{ WITH("\"trees\"", ""),
	  "the manifest's trees do not fit what it requires" },
	{ WITH("\"trees\",\"trees\"", TREE("vllm", UNIT_X("a"))),
	  "requires has a word twice" },
};

TEST(manifest_trees, with_any_fault_are_refused)
{
	EACH(i, faults)
		must_refuse(faults[i].json, faults[i].message);
}

/* Nothing leads out of a root, or into tkbundle's own folder. */
TEST(manifest_trees, have_paths_that_stay_in_their_root)
{
	static const char *const bad[] = {
		"..",        "../a",      "a/..",
		"a/../b",    "/a",        "a//b",
		"a/",        "",          "./a",
		"a/./b",     ".tkbundle", ".tkbundle/a",
		"a\\nb",     "a\\u0000b", "a/.tkbundle/b",
		"a\\u007fb", "\xff\xfe",  "a/b/..",
	};

	EACH(i, bad) {
		const char *unit = text(WITH_UNITS(UNIT_X("%s")), bad[i]);
		const char *file =
			text(WITH_UNITS(UNIT("a", FILE_OF("%s", ""))), bad[i]);
		TKB_AUTO(tkb_manifest_release)
		struct tkb_manifest manifest = { 0 };

		CHECK_INT(parse(unit, &manifest, NULL), TKB_ERR_CORRUPT);
		CHECK_INT(parse(file, &manifest, NULL), TKB_ERR_CORRUPT);
	}
	must_refuse(WITH_UNITS(UNIT("a", FILE_OF(".", ""))),
	            "a path in a tree is not allowed");
}

TEST(manifest_trees, have_names_of_letters_and_digits)
{
	static const char *const bad[] = {
		"",    "1a",       "a b",
		"a/b", "..",       "-",
		"a.b", "\xc3\xa9", "abcdefghijklmnopqrstuvwxyzabcdefg"
	};

	EACH(i, bad)
		must_refuse(text(WITH("\"trees\"", TREE("%s", UNIT_X("a"))),
		                 bad[i]),
		            "a tree's name is not allowed");
}

TEST(manifest_trees, that_are_of_a_newer_format_are_refused_by_its_name)
{
	must_fail(WITH("\"forests\"", ""), TKB_ERR_UNSUPPORTED,
	          "requires 'forests', which this tkbundle does not know");
	must_fail(WITH("\"forests\",\"trees\"", TREE("vllm", UNIT_X("a"))),
	          TKB_ERR_UNSUPPORTED, "requires 'forests'");
}

/* `count` files of a unit, or units of one file each. */
static const char *many(size_t count, const char *before, const char *behind)
{
	struct tkb_buf *buf = test_buf(TKB_MANIFEST_SIZE_LIMIT);

	for (size_t i = 0; i < count; i++)
		tkb_buf_add_text(buf, text("%s%s%06zu%s", i == 0 ? "" : ",",
		                           before, i, behind));
	tkb_buf_add_byte(buf, '\0');
	OK(tkb_buf_check(buf, ERR));
	return (const char *)buf->data;
}

static const char *of_files(size_t count)
{
	return text("%s%s%s",
	            "{\"entries\":[],\"format\":\"tkbundle\",\"launchers\":[],"
	            "\"profile\":\"full\",\"requires\":[\"trees\"],\"trees\":["
	            "{\"name\":\"a\",\"units\":[{\"files\":[",
	            many(count, "[\"", "\",1,\"" DIGEST "\"]"),
	            "],\"folder\":\"u\"}]}],\"version\":1}");
}

static const char *of_trees(size_t count)
{
	return text(
		"%s%s%s",
		"{\"entries\":[],\"format\":\"tkbundle\",\"launchers\":[],"
		"\"profile\":\"full\",\"requires\":[\"trees\"],\"trees\":[",
		many(count, "{\"name\":\"t", "\",\"units\":[" UNIT_X("a") "]}"),
		"],\"version\":1}");
}

TEST(manifest_trees, hold_so_many_files_and_so_long_paths)
{
	char path[TKB_UNIT_PATH_LIMIT + 2] = "";

	must_accept(of_files(TKB_UNIT_FILES_LIMIT));
	must_refuse(of_files(TKB_UNIT_FILES_LIMIT + 1),
	            "a unit has too many files");
	must_accept(of_trees(TKB_TREES_LIMIT));
	must_refuse(of_trees(TKB_TREES_LIMIT + 1), "too many trees");

	memset(path, 'a', TKB_UNIT_PATH_LIMIT - 1);
	for (size_t i = 200; i < TKB_UNIT_PATH_LIMIT - 1; i += 200)
		path[i] = '/';
	must_accept(text(WITH_UNITS(UNIT_X("%s")), path));
	must_refuse(text(WITH_UNITS(UNIT("%s", FILE_OF("xy", ""))), path),
	            "a path in a tree is too long");
}
