/* SPDX-License-Identifier: Apache-2.0 */
#include "parsing.h"

#include <stdio.h>

#define DIGEST                                                                 \
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define KEY_A "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define KEY_B "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
#define KEY_C "CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC"

#define AUTOTUNE                                                               \
	"{\"devices\":[0],\"files\":[[\"gelu.autotune.json\",7,\"" DIGEST      \
	"\"]],\"key\":\"" KEY_A "\",\"kind\":\"autotune\","                    \
	"\"name\":\"gelu\",\"platform\":\"\","                                 \
	"\"producer\":[\"triton\",\"\"],\"target\":[\"\",\"\",0]}"

#define KERNEL                                                                 \
	"{\"devices\":[0,3],\"files\":[[\"add.cubin\",10,\"" DIGEST            \
	"\"],[\"__grp__add.json\",20,\"" DIGEST                                \
	"\",2],[\"add.json\",30,\"" DIGEST "\"]],\"key\":\"" KEY_B             \
	"\",\"kind\":\"kernel\",\"name\":\"add\",\"platform\":\"\","           \
	"\"producer\":[\"triton\",\"3.6.0\"],"                                 \
	"\"target\":[\"cuda\",\"90\",32]}"

#define MODULE                                                                 \
	"{\"devices\":[0],\"files\":[[\"utils.so\",40,\"" DIGEST               \
	"\"]],\"key\":\"" KEY_C "\",\"kind\":\"module\",\"name\":\"utils\","   \
	"\"platform\":\"x86_64-glibc2.34\","                                   \
	"\"producer\":[\"triton\",\"\"],\"target\":[\"\",\"\",0]}"

#define WITH(entries)                                                          \
	"{\"entries\":[" entries "],\"format\":\"tkbundle\",\"launchers\":[]," \
	"\"profile\":\"full\",\"requires\":[],\"trees\":[],\"version\":1}"

static const char valid[] = WITH(AUTOTUNE "," KERNEL "," MODULE);

/* `base` with the first `from` replaced by `to`; it must be there. */
static const char *edited(const char *base, const char *from, const char *to)
{
	const char *found = strstr(base, from);

	if (found == NULL)
		fail_msg("there is no <%s>", from);
	return text("%.*s%s%s", (int)(found - base), base, to,
	            found + strlen(from));
}

TEST(manifest, tells_what_it_says)
{
	TKB_AUTO(tkb_manifest_release) struct tkb_manifest manifest = { 0 };

	OK(parse(valid, &manifest, ERR));

	CHECK_STR(manifest.profile, "full");
	CHECK_INT(manifest.entry_count, 3);
	CHECK_INT(manifest.entries[0].kind, TKB_KIND_AUTOTUNE);
	CHECK_INT(manifest.entries[2].kind, TKB_KIND_MODULE);
	CHECK_STR(manifest.entries[2].platform, "x86_64-glibc2.34");
	const struct tkb_entry *kernel = &manifest.entries[1];
	CHECK_INT(kernel->kind, TKB_KIND_KERNEL);
	CHECK_STR(kernel->key, KEY_B);
	CHECK_STR(kernel->name, "add");
	CHECK_STR(kernel->platform, "");
	CHECK_STR(kernel->producer, "triton");
	CHECK_STR(kernel->producer_version, "3.6.0");
	CHECK_STR(kernel->target.backend, "cuda");
	CHECK_STR(kernel->target.arch, "90");
	CHECK_INT(kernel->target.warp_size, 32);
	CHECK_INT(kernel->device_count, 2);
	CHECK_INT(kernel->devices[0], 0);
	CHECK_INT(kernel->devices[1], 3);
	CHECK_INT(kernel->file_count, 3);
	CHECK_STR(kernel->files[1].name, "__grp__add.json");
	CHECK_INT(kernel->files[1].size, 20);
	CHECK_INT(kernel->files[1].sentinels, 2);
	CHECK_INT(kernel->files[2].sentinels, 0);
	CHECK_STR(hex_of(&kernel->files[1].digest), DIGEST);
	CHECK_INT(tkb_entry_size(kernel), 60);
	CHECK_INT(tkb_entry_tar_size(kernel), 3 * 1024);
}

static const char *const kept[][2] = {
	{ "", "" },
	{ "\"full\"", "\"lean\"" },
	{ "\"profile\"", "\"layout\":\"inductor\",\"profile\"" },
	{ "\"utils\"", "\"a \\\"\\\\\xc3\xa9 \xf0\x9f\x98\x80\"" },
	{ "[[\"utils.so\"", "[[\"\\\"\\\\\xc3\xa9.so\"" },
	{ "add.json\",30,", "add.json\",67108864," },
	{ "\"90\",32", "\"90\",4294967295" },
	{ "\",2],", "\",4294967295]," },
	{ AUTOTUNE "," KERNEL "," MODULE, "" },
};

TEST(manifest, that_was_read_is_written_as_it_was)
{
	EACH(i, kept) {
		TKB_AUTO(tkb_manifest_release)
		struct tkb_manifest manifest = { 0 };
		const char *json = edited(valid, kept[i][0], kept[i][1]);

		test_name_row(kept[i][1]);
		OK(parse(json, &manifest, ERR));
		CHECK_STR(written(&manifest).data, json);
	}
}

/* A fixture, and where its cache is. */
struct fixture {
	const char *name;
	const char *root;
};

static const struct fixture fixtures[] = {
	{ "triton-3.0.0-cpu", ".triton/cache" },
	{ "triton-3.2.0-cpu", ".triton/cache" },
	{ "triton-3.4.0-cpu", ".triton/cache" },
	{ "triton-3.9.0-cpu", ".triton/cache" },
	{ "triton-3.6.0-h100", ".triton/cache" },
	{ "inductor-2.11-llama4-h100", ".cache/torchinductor" },
};

/* The manifest of what a bundle holds is the one that gave it its id. */
static void check_bundle(const char *path)
{
	TKB_AUTO(tkb_manifest_release) struct tkb_manifest manifest = { 0 };
	struct tkb_manifest listed = { 0 };

	struct tkb_bundle *bundle = test_bundle(path);
	listed.profile = tkb_bundle_profile(bundle);
	if (tkb_bundle_is_inductor(bundle))
		listed.layout = "inductor";
	listed.entry_count = tkb_bundle_entry_count(bundle);
	CHECK(listed.entry_count > 0);
	listed.entries =
		test_alloc(listed.entry_count * sizeof(*listed.entries));
	for (size_t i = 0; i < listed.entry_count; i++)
		listed.entries[i] = *tkb_bundle_entry(bundle, i);
	struct tkb_bytes bytes = written(&listed);
	const struct tkb_digest id = digest_of(bytes);

	CHECK(is_same_digest(&id, tkb_bundle_id(bundle)));
	OK(tkb_manifest_parse(bytes, &manifest, ERR));
	CHECK(tkb_bytes_equal(written(&manifest), bytes));
}

TEST(manifest, of_the_fixtures_is_written_and_read_and_written_the_same)
{
	EACH(i, fixtures) {
		const struct tkb_collect_options lean = {
			SIZED(lean), .profile = TKB_PROFILE_LEAN
		};
		const char *root =
			text("%s/%s", fixtures[i].name, fixtures[i].root);

		unpack(fixtures[i].name, fixtures[i].name);
		OK(tkb_collect_to_file(root, NULL, "full.tkb", NULL, ERR));
		OK(tkb_collect_to_file(root, &lean, "lean.tkb", NULL, ERR));
		check_bundle("full.tkb");
		check_bundle("lean.tkb");
	}
}

#define N51 "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
#define N255 N51 N51 N51 N51 N51
#define FILE(name)                                                             \
	{                                                                      \
		"[[\"utils.so\"", "[[\"" name "\"", "the manifest at byte"     \
	}
#define ENTRY(name)                                                            \
	{                                                                      \
		"\"utils\"", "\"" name "\"", "the manifest at byte"            \
	}
#define KEYED(key)                                                             \
	{                                                                      \
		KEY_B, key, "a key has no known shape"                         \
	}

/* An edit of the valid manifest, and what the refusal says. */
static const struct fault {
	const char *from;
	const char *to;
	const char *message;
} faults[] = {
	/* Another form than the canonical */
	{ "{\"entries\"", " {\"entries\"", "not JSON at byte 0" },
	{ "{\"entries\"", "{ \"entries\"", "not JSON at byte 1" },
	{ "\"entries\":", "\"entries\": ", "not JSON" },
	{ "[{\"devices\"", "[\n{\"devices\"", "not JSON" },
	{ ",\"format\"", ", \"format\"", "not JSON" },
	{ "\"version\":1}", "\"version\":1}\n", "not JSON" },
	{ "\"version\":1}", "\"version\":1} ", "not JSON" },
	{ "\"version\":1}", "\"version\":1}x", "not JSON" },
	{ "\"version\":1}", "\"version\":1}{}", "not JSON" },
	{ "\"version\":1}", "\"version\":1,}", "not JSON" },
	{ "\"version\":1}", "\"version\":1", "not JSON" },
	{ "\"version\":1", "\"version\":1.0", "not JSON" },
	{ "[\"add.cubin\",10,", "[\"add.cubin\",010,", "not JSON" },
	{ "[\"add.cubin\",10,", "[\"add.cubin\",+10,", "not JSON" },
	{ "\"version\":1", "\"version\":1e0", "not JSON" },
	{ "\"version\":1", "\"version\":-1", "not JSON" },
	{ "\"version\":1", "\"version\":NaN", "not JSON" },
	{ "\"version\":1", "\"version\":1,\"version\":1", "not JSON" },
	{ "\"trees\":[],\"version\":1", "\"version\":1,\"trees\":[]",
	  "not JSON" },
	{ "\"key\":\"" KEY_B "\",\"kind\":\"kernel\"",
	  "\"kind\":\"kernel\",\"key\":\"" KEY_B "\"", "not JSON" },
	{ "\"name\":\"add\"", "\"name\":\"add\",\"name\":\"add\"", "not JSON" },
	{ "\"add\"", "\"\\u0061dd\"", "not JSON" },
	{ "\"add\"", "\"a\\/dd\"", "not JSON" },
	{ "\"add\"", "\"a\\ndd\"", "not JSON" },
	{ "\"add\"", "\"a\ndd\"", "not JSON" },
	{ "\"add\"", "\"\\u00e9\"", "not JSON" },
	{ "\"add\"", "\"\\udcff\"", "not JSON" },
	{ "\"add\"", "\"\xff\"", "not JSON" },
	{ "\"add\"", "\"\xed\xa0\x80\"", "not JSON" },
	{ "{\"entries\"", "\xef\xbb\xbf{\"entries\"", "not JSON" },
	/* What is missing */
	{ "\"format\":\"tkbundle\",", "", "a member is missing" },
	{ "\"launchers\":[],", "", "a member is missing" },
	{ "\"profile\":\"full\",", "", "a member is missing" },
	{ "\"requires\":[],", "", "a member is missing" },
	{ "\"trees\":[],", "", "a member is missing" },
	{ ",\"version\":1", "", "a member is missing" },
	{ "\"devices\":[0,3],", "", "a member is missing" },
	{ "\"key\":\"" KEY_B "\",", "", "a member is missing" },
	{ "\"kind\":\"kernel\",", "", "a member is missing" },
	{ "\"name\":\"add\",", "", "a member is missing" },
	{ "\"platform\":\"\",\"producer\":[\"triton\",\"3.6.0\"]",
	  "\"producer\":[\"triton\",\"3.6.0\"]", "a member is missing" },
	{ "\"producer\":[\"triton\",\"3.6.0\"],", "", "a member is missing" },
	{ ",\"target\":[\"cuda\",\"90\",32]", "", "a member is missing" },
	{ "\"files\":[[\"utils.so\",40,\"" DIGEST "\"]],", "",
	  "a member is missing" },
	/* Values of another type */
	{ "\"tkbundle\"", "\"other\"", "the format is not 'tkbundle'" },
	{ "\"tkbundle\"", "1", "the manifest at byte" },
	{ "\"full\"", "\"fat\"", "the profile is not known" },
	{ "\"full\"", "\"\"", "the profile is not known" },
	{ "\"full\"", "null", "the manifest at byte" },
	{ "\"launchers\":[]", "\"launchers\":{}", "the manifest at" },
	{ "\"trees\":[]", "\"trees\":null", "the manifest at byte" },
	{ "\"requires\":[]", "\"requires\":\"\"", "the manifest at" },
	{ "\"requires\":[]", "\"requires\":[1]", "the manifest at" },
	{ "\"version\":1", "\"version\":0", "there is no such" },
	{ "\"version\":1", "\"version\":\"1\"", "the manifest at" },
	{ "\"version\":1", "\"version\":true", "a number is missing" },
	{ "\"trees\":[]", "\"trees\":{}", "the manifest at byte" },
	{ "\"requires\":[]", "\"requires\":{}", "the manifest at" },
	{ "[{\"devices\"", "[0,{\"devices\"", "the manifest at byte" },
	{ "\"version\":1", "\"version\":[1]", "the manifest at byte" },
	{ "[{\"devices\"", "[[],{\"devices\"", "the manifest at byte" },
	{ "[{\"devices\"", "[\"\",{\"devices\"", "the manifest at" },
	{ "\"kernel\"", "\"Kernel\"", "a kind is not known" },
	{ "\"kernel\"", "\"\"", "a kind is not known" },
	{ "\"kernel\"", "1", "the manifest at byte" },
	{ "\"add\"", "[\"add\"]", "the manifest at byte" },
	{ "\"add\"", "null", "the manifest at byte" },
	{ "\"platform\":\"\"", "\"platform\":0", "the manifest at" },
	{ "[\"triton\",\"3.6.0\"]", "\"triton\"", "the manifest at" },
	{ "[\"triton\",\"3.6.0\"]", "[\"triton\"]", "the manifest at" },
	{ "\"3.6.0\"]", "3]", "the manifest at byte" },
	{ "\"3.6.0\"]", "\"3.6.0\",1]", "the manifest at byte" },
	{ "[\"cuda\",\"90\",32]", "{}", "the manifest at byte" },
	{ "[\"cuda\",\"90\",32]", "[\"cuda\",90,32]", "the manifest" },
	{ "[\"cuda\",\"90\",32]", "[\"cuda\",\"90\",\"32\"]",
	  "a number is missing" },
	{ "[\"cuda\",\"90\",32]", "[\"cuda\",\"90\"]", "a number is missing" },
	{ "[\"cuda\",\"90\",32]", "[\"cuda\",\"90\",32,1]",
	  "the manifest at byte" },
	{ "[\"cuda\",\"90\",32]", "[\"cuda\",\"90\",4294967296]",
	  "a number is too large" },
	{ "\"" KEY_B "\"", "1", "the manifest at" },
	{ "[[\"utils.so\",40,\"" DIGEST "\"]]", "1", "the manifest at byte" },
	/* Devices */
	{ "[0,3]", "[]", "an entry without devices" },
	{ "[0,3]", "[3,0]", "devices do not ascend" },
	{ "[0,3]", "[3,3]", "devices do not ascend" },
	{ "[0,3]", "[0,1024]", "a number is too large" },
	{ "[0,3]", "[4294967296]", "a number is too large" },
	{ "[0,3]", "[18446744073709551616]", "a number is missing" },
	{ "[0,3]", "[\"0\"]", "a number is missing" },
	{ "[0,3]", "[null]", "a number is missing" },
	{ "[0,3]", "0", "the manifest at byte" },
	/* Files: sizes, digests and sentinels */
	{ "[\"add.cubin\",10,", "[\"add.cubin\",67108865,",
	  "a number is too large" },
	{ "[\"add.cubin\",10,", "[\"add.cubin\",18446744073709551616,",
	  "a number is missing" },
	{ "[\"add.cubin\",10,", "[\"add.cubin\",\"10\",",
	  "a number is missing" },
	{ "[\"add.cubin\",10,", "[\"add.cubin\",", "a number" },
	{ "[\"add.cubin\",10,", "[10,", "the manifest at byte" },
	{ "10,\"" DIGEST "\"", "10", "the manifest at byte" },
	{ "10,\"" DIGEST "\"", "10,1", "the manifest at byte" },
	{ "10,\"" DIGEST "\"", "10,\"\"", "is not 64 digits" },
	{ "10,\"e", "10,\"", "is not 64 digits" },
	{ "10,\"e", "10,\"ee", "is not 64 digits" },
	{ "10,\"e", "10,\"E", "is not 64 digits" },
	{ "10,\"e", "10,\"g", "is not 64 digits" },
	{ "10,\"e", "10,\" ", "is not 64 digits" },
	{ "\",2],", "\",0],", "a count of sentinels is 0" },
	{ "\",2],", "\",4294967296],", "a number is too large" },
	{ "\",2],", "\",\"2\"],", "a number is missing" },
	{ "\",2],", "\",2,2],", "the manifest at byte" },
	{ "[[\"add.cubin\"", "[[],[\"add.cubin\"", "the manifest at" },
	{ "[[\"add.cubin\"", "[1,[\"add.cubin\"", "the manifest at" },
	{ "[[\"utils.so\",40,\"" DIGEST "\"]]", "[]",
	  "an entry without files" },
	/* Their names, and those of entries */
	FILE(""),
	FILE("."),
	FILE(".."),
	FILE("../utils.so"),
	FILE("/a.so"),
	FILE("a/b.so"),
	FILE("a\\u0000.so"),
	FILE("a\\u000a.so"),
	FILE("\x7f.so"),
	{ "[[\"utils.so\"", "[[\"" N255 "n\"", "a file's name is not allowed" },
	ENTRY("."),
	ENTRY(".."),
	ENTRY("../a"),
	ENTRY("/a"),
	ENTRY("a/b"),
	ENTRY("a\x7f"),
	ENTRY(N255 "n"),
	/* Texts */
	{ "\"utils\"", "\"a\\u0000b\"", "a control character" },
	{ "\"utils\"", "\"a\\u000a\"", "a control character" },
	{ "\"3.6.0\"", "\"\\u001b[31m\"", "a control character" },
	{ "\"cuda\"", "\"\\u0000\"", "a control character" },
	{ "\"90\"", "\"90\\u0000\"", "a control character" },
	{ "\"x86_64-", "\"\\u001f\\\"x86_64-", "a control character" },
	/* Keys */
	KEYED(""),
	KEYED("."),
	KEYED(".."),
	KEYED(".tkbundle"),
	KEYED("BBBB"),
	KEYED("../" KEY_B),
	KEYED("/" KEY_B),
	KEYED(KEY_B "B"),
	KEYED("BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB/"),
	KEYED("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"),
	KEYED("BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB1"),
	/* The order of files */
	{ "add.cubin\"", "add.zip\"", "files are not in order" },
	{ "__grp__add.json\"", "zadd.json\"", "files are not in" },
	{ "\"add.json\"", "\"__grp__add.json\"", "files are not in" },
	{ "\"add.json\"", "\"add.cubin\"", "files are not in order" },
	{ "\"add.json\"", "\"ZZZ.json\"", "files are not in order" },
	/* One group file in a kernel, and none elsewhere */
	{ "__grp__add.json\"", "_grp__add.json\"", "do not fit its kind" },
	{ "\"add.json\"", "\"__grp__b.json\"", "do not fit its kind" },
	{ "\"utils.so\"", "\"__grp__utils.json\"", "do not fit its kind" },
	{ "\"gelu.autotune.json\"", "\"__grp__gelu.json\"",
	  "do not fit its kind" },
	{ "\"kind\":\"kernel\"", "\"kind\":\"autotune\"",
	  "do not fit its kind" },
	{ "{\"entries\"", "{\"a\":1.5,\"entries\"", "not JSON" },
};

/* Manifests that are no edit of it. */
static const struct {
	const char *json;
	const char *message;
} others[] = {
	{ "", "not JSON" },
	{ "[]", "the manifest is not a JSON object" },
	{ "null", "the manifest is not a JSON object" },
	{ "{}", "a member is missing" },
	{ "{\"format\":\"tkbundle\",\"launchers\":[],"
	  "\"profile\":\"full\",\"requires\":[],\"trees\":[],"
	  "\"version\":1}",
	  "a member is missing" },
};

TEST(manifest, with_any_fault_is_refused)
{
	EACH(i, faults) {
		test_name_row(text("%s for %s", faults[i].to, faults[i].from));
		must_refuse(edited(valid, faults[i].from, faults[i].to),
		            faults[i].message);
	}
	EACH(i, others)
		must_refuse(others[i].json, others[i].message);
}

TEST(manifest, with_an_endless_text_is_refused)
{
	char *endless = test_alloc(4097);

	memset(endless, '6', 4097);
	must_refuse(edited(valid, "\"3.6.0\"", text("\"%s\"", endless)),
	            "a text is too long");
}

/* Edits after which it is as good. */
static const char *const edits[][2] = {
	{ "", "" },
	{ "[0,3]", "[0,1,2,3,1023]" },
	{ "[[\"utils.so\"", "[[\"" N255 "\"" },
	{ KEY_B, DIGEST },
	{ KEY_B, "d41d8cd98f00b204e9800998ecf8427e" },
	{ KEY_B, "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU" },
	/* Members that it does not know */
	{ "{\"entries\"", "{\"a\":1,\"entries\"" },
	{ "\"format\"", "\"extra\":{\"version\":2,\"x\":[[],{}]},\"format\"" },
	{ "\"version\":1", "\"version\":1,\"z\":null" },
	{ "\"files\"", "\"else\":[{\"key\":\"\"}],\"files\"" },
	{ "\"target\":[\"cuda\",\"90\",32]",
	  "\"target\":[\"cuda\",\"90\",32],\"z\":\"\\u0000\"" },
};

TEST(manifest, with_what_may_be_in_it_is_accepted)
{
	EACH(i, edits) {
		test_name_row(edits[i][1]);
		must_accept(edited(valid, edits[i][0], edits[i][1]));
	}
}

TEST(manifest, cut_short_anywhere_is_refused)
{
	for (size_t size = 0; size < strlen(valid); size++)
		must_refuse(text("%.*s", (int)size, valid), "the manifest ");
}

TEST(manifest, may_tell_the_layout_of_its_cache)
{
	TKB_AUTO(tkb_manifest_release) struct tkb_manifest manifest = { 0 };
	const char *told = edited(valid, "\"profile\"",
	                          "\"layout\":\"inductor\",\"profile\"");

	OK(parse(told, &manifest, ERR));
	CHECK_STR(manifest.layout, "inductor");
	must_refuse(edited(told, "inductor", "triton"),
	            "the layout is not known");
	must_refuse(edited(told, "\"inductor\"", "1"), "the manifest at");
}

/* Entries of one file each, in whatever order they are given. */
static const char *entry(const char *kind, const char *name, const char *key,
                         const char *platform, const char *devices)
{
	const char *file = strcmp(kind, "kernel") == 0 ? "__grp__a.json" : "a";

	return text("{\"devices\":%s,\"files\":[[\"%s\",0,\"" DIGEST
	            "\"]],\"key\":\"%s\",\"kind\":\"%s\",\"name\":\"%s\","
	            "\"platform\":\"%s\",\"producer\":[\"triton\",\"\"],"
	            "\"target\":[\"\",\"\",0]}",
	            devices, file, key, kind, name, platform);
}

static const char *of_two(const char *first, const char *second)
{
	return text(WITH("%s,%s"), first, second);
}

/* A key's entries for device 0 and for device 1. */
static const char *entries_of(const char *key)
{
	return text("%s,%s", entry("kernel", "a", key, "", "[0]"),
	            entry("kernel", "a", key, "", "[1]"));
}

TEST(manifest, has_entries_sorted_by_kind_name_key_platform_and_device)
{
	const char *const ascending[] = {
		entry("autotune", "b", KEY_B, "", "[5]"),
		entry("kernel", "A", KEY_C, "", "[4]"),
		entry("kernel", "a", KEY_A, "z", "[9]"),
		entry("kernel", "a", KEY_B, "", "[1,8]"),
		entry("kernel", "a", KEY_B, "", "[2]"),
		entry("kernel", "a", KEY_B, "", "[10,11]"),
		entry("kernel", "a", KEY_B, "x", "[0]"),
		entry("kernel", "a.b", KEY_A, "", "[0]"),
		entry("kernel", "aa", KEY_A, "", "[3]"),
		entry("kernel", "\xc3\xa9", DIGEST, "", "[3]"),
		entry("module", "a", KEY_A, "", "[7]"),
	};

	EACH(i, ascending) {
		EACH(j, ascending) {
			const char *both = of_two(ascending[i], ascending[j]);

			if (i < j)
				must_accept(both);
			else
				must_refuse(both, "entries are not in order");
		}
	}
}

TEST(manifest, has_a_key_twice_only_for_another_platform_or_device)
{
	static const char twice[] = "key '" KEY_B "' twice for one device";

	must_accept(of_two(entry("kernel", "a", KEY_B, "", "[0,2]"),
	                   entry("kernel", "a", KEY_B, "", "[1,3]")));
	must_accept(of_two(entry("module", "a", KEY_B, "x", "[0]"),
	                   entry("module", "a", KEY_B, "y", "[0]")));

	must_refuse(of_two(entry("kernel", "a", KEY_B, "", "[0,2]"),
	                   entry("kernel", "a", KEY_B, "", "[1,2]")),
	            twice);
	must_refuse(of_two(entry("kernel", "a", KEY_B, "", "[0]"),
	                   entry("kernel", "b", KEY_B, "", "[0]")),
	            twice);
	must_refuse(of_two(entry("autotune", "a", KEY_B, "", "[3]"),
	                   entry("module", "a", KEY_B, "", "[0,3]")),
	            twice);
	must_refuse(of_two(entry("module", "a", KEY_B, "x", "[0]"),
	                   entry("module", "b", KEY_B, "x", "[0]")),
	            twice);
}

TEST(manifest, may_have_several_keys_for_the_same_devices)
{
	must_accept(of_two(entries_of(KEY_A), entries_of(KEY_B)));
}

/* The first and the last of three entries of a key, not neighbours. */
TEST(manifest, has_a_key_once_for_a_device_among_many)
{
	const char *middle =
		text("%s,%s", entry("kernel", "a", KEY_B, "", "[0,1023]"),
	             entry("kernel", "a", KEY_B, "", "[1]"));

	must_accept(of_two(middle, entry("kernel", "a", KEY_B, "", "[2]")));
	must_refuse(of_two(middle, entry("kernel", "a", KEY_B, "", "[2,1023]")),
	            "key '" KEY_B "' twice for one device");
	must_accept(of_two(middle, entry("kernel", "b", KEY_A, "", "[1023]")));
}

TEST(manifest, of_a_newer_format_is_refused_by_what_is_new)
{
	static const struct fault newer[] = {
		{ "\"version\":1", "\"version\":2", "format version 2" },
		{ "\"version\":1", "\"version\":18446744073709551615",
		  "format version 18446744073709551615" },
		{ "\"requires\":[]", "\"requires\":[\"sparse\"]",
		  "requires 'sparse'" },
		{ "\"requires\":[]", "\"requires\":[\"\xc3\xa9\\\"\",\"b\"]",
		  "requires '\xc3\xa9\"'" },
	};

	EACH(i, newer) {
		test_name_row(newer[i].to);
		must_fail(edited(valid, newer[i].from, newer[i].to),
		          TKB_ERR_UNSUPPORTED, newer[i].message);
	}
}

/* What a newer format might hold, and this one calls wrong. */
TEST(manifest, of_a_newer_format_is_named_whatever_else_it_holds)
{
	static const char *const wrongs[][2] = {
		{ KEY_A, "sha512-of-something" },
		{ "\"autotune\"", "\"graph\"" },
		{ "\"devices\":[0],", "" },
		{ "\"devices\":[0]", "\"devices\":\"all\"" },
		{ "[\"gelu.autotune.json\",7,", "[\"a/b\",7," },
		{ "[\"gelu.autotune.json\",7,", "[{\"name\":\"a\"},7," },
		{ "\"target\":[\"\",\"\",0]", "\"target\":{}" },
		{ "[" AUTOTUNE, "{\"a\":[" AUTOTUNE },
		{ "\"profile\":\"full\",", "" },
		{ "\"profile\":\"full\"", "\"profile\":\"tiny\"" },
		{ "\"trees\":[],", "" },
		{ "\"trees\":[]", "\"trees\":{}" },
		{ "\"trees\":[]", "\"trees\":[1]" },
		{ "\"launchers\":[]", "\"launchers\":[{\"a\":1}]" },
	};

	EACH(i, wrongs) {
		const char *wrong = edited(valid, wrongs[i][0], wrongs[i][1]);

		test_name_row(wrongs[i][1]);
		if (wrongs[i][1][0] == '{')
			wrong = edited(wrong, "],\"format\"", "]},\"format\"");
		must_fail(edited(wrong, "\"version\":1", "\"version\":2"),
		          TKB_ERR_UNSUPPORTED, "format version 2");
		must_fail(edited(wrong, "\"requires\":[]",
		                 "\"requires\":[\"sparse\"]"),
		          TKB_ERR_UNSUPPORTED, "requires 'sparse'");
	}
}

/* A module of `count` files of `size` bytes. */
static const char *of_files(size_t count, uint64_t size)
{
	BUF(buf, TKB_MIB);

	for (size_t i = 0; i < count; i++)
		tkb_buf_add_text(&buf, text("%s[\"%03zu\",%llu,\"" DIGEST "\"]",
		                            i == 0 ? "" : ",", i,
		                            (unsigned long long)size));
	return edited(valid, "[\"utils.so\",40,\"" DIGEST "\"]",
	              text("%.*s", (int)buf.size, (const char *)buf.data));
}

TEST(manifest, holds_at_most_64_files_and_256_mib_an_entry)
{
	static const char one[] = "[\"001\",67108864,";

	must_accept(of_files(64, 1));
	must_refuse(of_files(65, 1), "too many files");
	must_accept(of_files(4, 67108864));
	must_refuse(of_files(5, 67108864), "an entry is too large");
	must_accept(edited(of_files(5, 67108864), one, "[\"001\",0,"));
	must_refuse(edited(of_files(5, 67108864), one, "[\"001\",1,"),
	            "an entry is too large");
}

static struct tkb_bytes of_entries(size_t count, struct tkb_buf *buf)
{
	tkb_buf_add_text(buf, "{\"entries\":[");
	for (size_t i = 0; i < count; i++) {
		char key[65];

		(void)snprintf(key, sizeof(key), "%064zx", i);
		tkb_buf_add_text(buf, i == 0 ? "" : ",");
		tkb_buf_add_text(
			buf, "{\"devices\":[0],\"files\":[[\"a\",0,\"" DIGEST
			     "\"]],\"key\":\"");
		tkb_buf_add_text(buf, key);
		tkb_buf_add_text(buf, "\",\"kind\":\"module\",\"name\":\"a\","
		                      "\"platform\":\"\",\"producer\":[\"\","
		                      "\"\"],\"target\":[\"\",\"\",0]}");
	}
	tkb_buf_add_text(buf, edited(WITH(""), "{\"entries\":[", ""));
	return tkb_buf_bytes(buf);
}

TEST(manifest, holds_at_most_100000_entries)
{
	for (size_t over = 0; over < 2; over++) {
		TKB_AUTO(tkb_manifest_release)
		struct tkb_manifest manifest = { 0 };
		struct tkb_buf *buf = test_buf(64 * TKB_MIB);
		const struct tkb_bytes json = of_entries(100000 + over, buf);

		if (over == 0) {
			OK(tkb_manifest_parse(json, &manifest, ERR));
			CHECK_INT(manifest.entry_count, 100000);
		} else {
			FAILS(tkb_manifest_parse(json, &manifest, ERR),
			      TKB_ERR_CORRUPT, "too many entries");
		}
	}
}
