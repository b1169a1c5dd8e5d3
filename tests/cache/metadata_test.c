/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/metadata.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/path.h"
#include "cache/names.h"

#include "harness.h"

/* One hash, and the key that it gives in each way of writing it. */
#define HASH "e8d34b5e7ad06b1c3f5d73c38a09bf893b21c700a74a8fca828d56ee85d32e6e"
#define BASE64 "6NNLXnrQaxw_XXPDigm_iTshxwCnSo_Kgo1W7oXTLm4"
#define BASE32 "5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA"
#define MD5 "d41d8cd98f00b204e9800998ecf8427e"

static int parse(const char *json, struct tkb_arena *arena,
                 struct tkb_metadata *out, struct tkb_error *err)
{
	return tkb_metadata_parse(tkb_text(json), "k.json", arena, out, err);
}

static void must_be_refused(struct tkb_bytes json, const char *message)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_metadata metadata = { .hash = "untouched" };

	FAILS(tkb_metadata_parse(json, "k.json", &arena, &metadata, ERR),
	      TKB_ERR_CORRUPT, message);
	CHECK_INT(ERR->reason, TKB_REASON_METADATA);
	CHECK_STR(metadata.hash, "untouched");
}

TEST(metadata, of_any_shape_gives_what_it_has)
{
	static const struct {
		const char *json;
		struct tkb_metadata wanted;
	} cases[] = {
		{ "{}", { "", "", "", { "", "", 0 } } },
		{ "{\"hash\": \"ab\", \"name\": \"k\", \"triton_version\": "
		  "\"3.6.0\", \"target\": {\"backend\": \"cuda\", \"arch\": "
		  "90, \"warp_size\": 32}}",
		  { "ab", "k", "3.6.0", { "cuda", "90", 32 } } },
		{ "{\"target\": {\"backend\": \"hip\", \"arch\": \"gfx942\", "
		  "\"warp_size\": 64}}",
		  { "", "", "", { "hip", "gfx942", 64 } } },
		{ "{\"target\": {\"warp_size\": 16, \"x\": {\"arch\": 1}, "
		  "\"arch\": {\"a\": [1]}, \"backend\": \"xpu\"}}",
		  { "", "", "", { "xpu", "", 16 } } },
		{ "{\"target\": [\"cuda\", 90, 32], \"name\": \"k\"}",
		  { "", "k", "", { "", "", 0 } } },
		{ "{\"target\": null, \"name\": null, \"hash\": [\"a\"]}",
		  { "", "", "", { "", "", 0 } } },
		{ "{\"target\": {\"warp_size\": \"32\"}}",
		  { "", "", "", { "", "", 0 } } },
		{ "{\"target\": {\"warp_size\": 4294967328}}",
		  { "", "", "", { "", "", 0 } } },
		{ "{\"target\": {\"warp_size\": -32, \"arch\": 80}}",
		  { "", "", "", { "", "80", 0 } } },
		{ "{\"x\": {\"name\": \"no\", \"hash\": \"no\"}, "
		  "\"name\": \"k\", \"arch\": \"sm90\"}",
		  { "", "k", "", { "", "", 0 } } },
		{ "{\"name\": \"a\", \"name\": \"b\"}",
		  { "", "b", "", { "", "", 0 } } },
		{ "{\"n\\u0061me\": \"caf\\u00e9\\/\xc3\xa9\"}",
		  { "", "caf\xc3\xa9/\xc3\xa9", "", { "", "", 0 } } },
		{ "{\"a\": NaN, \"b\": -Infinity, \"name\": \"k\"}\n",
		  { "", "k", "", { "", "", 0 } } },
	};

	EACH(i, cases) {
		const struct tkb_metadata *wanted = &cases[i].wanted;
		TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
		struct tkb_metadata metadata = { 0 };

		OK(parse(cases[i].json, &arena, &metadata, ERR));
		CHECK_STR(metadata.hash, wanted->hash);
		CHECK_STR(metadata.symbol, wanted->symbol);
		CHECK_STR(metadata.version, wanted->version);
		CHECK_STR(metadata.target.backend, wanted->target.backend);
		CHECK_STR(metadata.target.arch, wanted->target.arch);
		CHECK_INT(metadata.target.warp_size, wanted->target.warp_size);
	}
}

TEST(metadata, that_is_no_object_is_refused)
{
	static const char *const cases[] = { "",
		                             " ",
		                             "{",
		                             "{\"hash\": \"",
		                             "{\"hash\": \"a\"",
		                             "{\"hash\": \"a\"} x",
		                             "{\"hash\": \"a\"}{}",
		                             "{\"a\": [1, 2}",
		                             "{\"target\": {\"arch\": }}",
		                             "{\"target\": {\"arch\": 90}",
		                             "{\"name\": \"\xff\"}",
		                             "{\"a\": \"\xc3\"}" };
	static const char *const others[] = { "[]", "null", "\"{}\"", "1" };

	EACH(i, cases)
		must_be_refused(tkb_text(cases[i]),
		                "'k.json' is not JSON at byte");
	EACH(i, others)
		must_be_refused(tkb_text(others[i]),
		                "'k.json' is not a JSON object");
}

TEST(metadata, nested_10000_deep_is_refused)
{
	char *deep = test_alloc(20000);

	memset(deep, '[', 10000);
	memset(deep + 10000, ']', 10000);
	must_be_refused(tkb_text(text("{\"a\": %s}", deep)),
	                "nested deeper than 64");
	must_be_refused(tkb_text(text("{\"name\": %s}", deep)),
	                "nested deeper than 64");
	must_be_refused(tkb_text(text("{\"target\": {\"arch\": %s}}", deep)),
	                "nested deeper than 64");
}

TEST(metadata, cut_short_anywhere_is_refused)
{
	const struct tkb_bytes whole = tkb_text(
		"{\"hash\": \"ab\", \"target\": {\"backend\": \"cuda\", "
		"\"arch\": 90, \"warp_size\": 32}, \"a\": [1, {}]}");

	for (size_t size = 0; size < whole.size; size++)
		must_be_refused(tkb_bytes_slice(whole, 0, size),
		                "'k.json' is not JSON at byte");
}

/* A zero byte would cut a text short, and make it equal what it is not. */
TEST(metadata, with_a_text_that_holds_a_zero_byte_is_refused)
{
	must_be_refused(tkb_text("{\"hash\": \"" HASH "\\u0000x\"}"), "k.json");
	must_be_refused(tkb_text("{\"name\": \"k\\u0000x\"}"), "k.json");
	must_be_refused(tkb_text("{\"target\": {\"arch\": \"90\\u0000\"}}"),
	                "k.json");
}

static int check_key(const char *hash, const char *key, struct tkb_error *err)
{
	const struct tkb_metadata metadata = { .hash = hash };

	return tkb_metadata_check_key(&metadata, key, err);
}

TEST(metadata, hash_gives_the_key_in_every_shape)
{
	static const char *const keys[] = { HASH, BASE64, BASE32 };

	EACH(i, keys) {
		OK(check_key(HASH, keys[i], ERR));
	}
}

TEST(metadata, hash_of_another_key_is_refused)
{
	static const char *const keys[] = { HASH, BASE64, BASE32 };
	static const char *const hashes[] = {
		"",
		"e8",
		"f8d34b5e7ad06b1c3f5d73c38a09bf89"
		"3b21c700a74a8fca828d56ee85d32e6e",
		"e8d34b5e7ad06b1c3f5d73c38a09bf89"
		"3b21c700a74a8fca828d56ee85d32e6f",
		"E8D34B5E7AD06B1C3F5D73C38A09BF89"
		"3B21C700A74A8FCA828D56EE85D32E6E",
		HASH "0",
		HASH " ",
		BASE32,
		BASE64,
	};

	EACH(i, keys) {
		EACH(j, hashes) {
			if (strcmp(keys[i], hashes[j]) == 0)
				continue;
			FAILS(check_key(hashes[j], keys[i], ERR),
			      TKB_ERR_CORRUPT,
			      text("hash '%.64s' is not the key's", hashes[j]));
			CHECK_INT(ERR->reason, TKB_REASON_HASH);
		}
	}
}

/* Triton 2, whose keys are MD5 in 32 digits. */
TEST(metadata, without_a_hash_goes_with_a_key_of_triton_2)
{
	OK(check_key("", MD5, ERR));
	OK(check_key(MD5, MD5, ERR));
	FAILS(check_key(HASH, MD5, ERR), TKB_ERR_CORRUPT, "is not the key's");
	CHECK_INT(ERR->reason, TKB_REASON_HASH);
}

static void check_binaries(const char *backend, const char *wanted)
{
	static const char *const all[] = { "cubin", "hsaco", "spv", "zebin",
		                           "ptx",   "json",  "" };
	const char *found = "";

	EACH(i, all) {
		if (tkb_metadata_is_binary(backend, text("k.%s", all[i])))
			found = text("%s %s", found, all[i]);
	}
	CHECK_STR(found, wanted);
	CHECK_CONTAINS(found, text(" %s", tkb_metadata_binary(backend)));
}

TEST(metadata, tells_what_binaries_a_backend_loads)
{
	check_binaries("cuda", " cubin");
	check_binaries("hip", " hsaco");
	check_binaries("xpu", " spv zebin");
	check_binaries("", " cubin hsaco spv zebin");
	check_binaries("other", " cubin hsaco spv zebin");
}

TEST(metadata, files_that_are_no_binary_may_hold_anything)
{
	static const char *const names[] = { "k.ptx", "k.json", "k.ttir",
		                             "k",     "cubin",  "k.cubin.txt" };
	const struct tkb_metadata metadata = { .symbol = "k" };

	EACH(i, names) {
		OK(tkb_metadata_check_binary(&metadata, names[i], tkb_text(""),
		                             ERR));
	}
}

TEST(metadata, binaries_of_other_backends_are_not_empty)
{
	const struct tkb_metadata metadata = { .symbol = "k" };

	OK(tkb_metadata_check_binary(&metadata, "k.spv", tkb_text("x"), ERR));
	OK(tkb_metadata_check_binary(&metadata, "k.zebin", tkb_text("x"), ERR));
	FAILS(tkb_metadata_check_binary(&metadata, "k.spv", tkb_text(""), ERR),
	      TKB_ERR_CORRUPT, "'k.spv' is empty");
	CHECK_INT(ERR->reason, TKB_REASON_BINARY);
	FAILS(tkb_metadata_check_binary(&metadata, "k.zebin", tkb_text(""),
	                                ERR),
	      TKB_ERR_CORRUPT, "'k.zebin' is empty");
	FAILS(tkb_metadata_check_binary(&metadata, "k.hsaco", tkb_text("x"),
	                                ERR),
	      TKB_ERR_CORRUPT, "'k.hsaco' is not an ELF file");
	CHECK_INT(ERR->reason, TKB_REASON_BINARY);
}

/* A fixture, and what all of its kernels' metadata says. */
struct fixture {
	const char *name;
	const char *root;
	const char *version;
	size_t key_size;
	size_t kernel_count;
};

static const struct fixture fixtures[] = {
	{ "triton-3.0.0-cpu", ".triton/cache", "", 64, 3 },
	{ "triton-3.1.0-cpu", ".triton/cache", "", 64, 3 },
	{ "triton-3.2.0-cpu", ".triton/cache", "", 43, 3 },
	{ "triton-3.3.1-cpu", ".triton/cache", "3.3.1", 52, 3 },
	{ "triton-3.4.0-cpu", ".triton/cache", "3.4.0", 52, 4 },
	{ "triton-3.5.1-cpu", ".triton/cache", "3.5.1", 52, 4 },
	{ "triton-3.6.0-cpu", ".triton/cache", "3.6.0", 52, 4 },
	{ "triton-3.7.1-cpu", ".triton/cache", "3.7.1", 52, 4 },
	{ "triton-3.8.0-cpu", ".triton/cache", "3.8.0", 52, 4 },
	{ "triton-3.9.0-cpu", ".triton/cache", "3.9.0", 52, 4 },
	{ "triton-3.6.0-h100", ".triton/cache", "3.6.0", 52, 13 },
	{ "inductor-2.11-llama4-h100", ".cache/torchinductor/triton/0", "3.6.0",
	  52, 23 },
};

/* The `<name>` of the kernel in `folder`, or NULL if there is none. */
static const char *kernel_name(const char *folder)
{
	const char **names = list(folder);

	while (*names != NULL && !tkb_name_is_group(*names))
		names++;
	return *names == NULL
	               ? NULL
	               : text("%.*s", (int)(strlen(*names) - strlen(".json")),
	                      *names) +
	                         strlen("__grp__");
}

static void check_files(const char *folder, const struct tkb_metadata *metadata)
{
	const char **names = list(folder);
	size_t cubins = 0;

	for (; *names != NULL; names++) {
		const struct tkb_bytes bytes =
			read_file(text("%s/%s", folder, *names));

		OK(tkb_metadata_check_binary(metadata, *names, bytes, ERR));
		cubins += tkb_name_ends_with(*names, ".cubin");
	}
	CHECK_INT(cubins, 1);
}

static bool check_kernel(const struct fixture *fixture, const char *folder,
                         const char *key)
{
	const char *name = kernel_name(folder);
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_metadata metadata = { 0 };

	if (name == NULL)
		return false;
	OK(tkb_metadata_parse(read_file(text("%s/%s.json", folder, name)),
	                      text("%s.json", name), &arena, &metadata, ERR));
	CHECK_STR(metadata.version, fixture->version);
	CHECK_STR(metadata.target.backend, "cuda");
	CHECK_STR(metadata.target.arch, "90");
	CHECK_INT(metadata.target.warp_size, 32);
	/* Triton cuts a file's name at 150 bytes, but not the symbol. */
	CHECK(strncmp(metadata.symbol, name, strlen(name)) == 0);
	CHECK_INT(strlen(key), fixture->key_size);
	OK(tkb_metadata_check_key(&metadata, key, ERR));
	check_files(folder, &metadata);
	return true;
}

TEST(metadata, of_every_kernel_of_the_fixtures_fits_its_key_and_binary)
{
	EACH(i, fixtures) {
		const struct fixture *fixture = &fixtures[i];
		const char *root = text("%s/%s", fixture->name, fixture->root);
		size_t kernels = 0;
		const char **keys;

		unpack(fixture->name, fixture->name);
		for (keys = list(root); *keys != NULL; keys++)
			kernels += check_kernel(
				fixture, text("%s/%s", root, *keys), *keys);
		CHECK_INT(kernels, fixture->kernel_count);
	}
}

TEST(metadata, with_another_target_or_symbol_does_not_fit_the_cubin)
{
	static const struct {
		struct tkb_metadata metadata;
		const char *message; /* NULL: fits */
	} cases[] = {
		{ { .symbol = "add_kernel", .target = { "cuda", "90", 32 } },
		  NULL },
		{ { .symbol = "", .target = { "cuda", "", 0 } }, NULL },
		{ { .symbol = "add_kernel", .target = { "cuda", "80", 32 } },
		  "is for sm_90, its metadata says sm_80" },
		{ { .symbol = "add_kernel", .target = { "cuda", "100", 32 } },
		  "is for sm_90, its metadata says sm_100" },
		{ { .symbol = "gelu_kernel", .target = { "cuda", "90", 32 } },
		  "'add_kernel.cubin' has no kernel 'gelu_kernel'" },
	};

	unpack("triton-3.6.0-cpu", "cache");
	struct tkb_bytes cubin =
		read_file("cache/.triton/cache/" BASE32 "/add_kernel.cubin");

	EACH(i, cases) {
		struct tkb_error err = { 0 };
		const int rc = tkb_metadata_check_binary(
			&cases[i].metadata, "add_kernel.cubin", cubin, &err);

		CHECK_INT(rc, cases[i].message == NULL ? 0 : TKB_ERR_CORRUPT);
		if (rc == 0)
			continue;
		CHECK_INT(err.reason, TKB_REASON_BINARY);
		CHECK_CONTAINS(err.message, cases[i].message);
	}
}

/* The cache in `root` is packed without a fault, and the bundle opens. */
static void check_bundle_opens(const char *root)
{
	struct tkb_bundle *bundle = NULL;
	struct tkb_collect_report report = { SIZED(report) };

	DONE(tkb_collect_to_file(root, NULL, "x.tkb", &report, ERR),
	     report.left_out_count > 0);
	OK(tkb_bundle_open("x.tkb", &bundle, ERR));
	CHECK(tkb_bundle_entry_count(bundle) >= 4);
	tkb_bundle_close(bundle);
}

/* Else one kernel would make a bundle that nobody can open. */
TEST(metadata, with_a_text_that_no_manifest_holds_spoils_no_bundle)
{
	char *endless = test_alloc(5000);
	const char *versions[] = { "\"3.6\\udcff\"", "\"3.6\\n\"",
		                   "\"\\ud800\"", NULL, endless };

	memset(endless, '6', 5000);
	versions[3] = text("\"%s\"", endless);
	EACH(i, versions) {
		const char *root = text("%zu", i);

		unpack("triton-3.6.0-cpu", root);
		edit_file(text("%s/.triton/cache/" BASE32 "/add_kernel.json",
		               root),
		          "\"3.6.0\"", versions[i]);
		check_bundle_opens(text("%s/.triton/cache", root));
	}
}

TEST(metadata, of_a_kernel_with_an_odd_name_spoils_no_bundle)
{
	static const char *const names[] = { ".", "..", " ", "a\"b" };

	EACH(i, names) {
		const char *root = text("%zu", i);
		const char *folder = text("%s/.triton/cache/" BASE32, root);
		const char *name = i == 3 ? "a\\\"b" : names[i];

		unpack("triton-3.6.0-cpu", root);
		SYS(rename(text("%s/add_kernel.json", folder),
		           text("%s/%s.json", folder, names[i])));
		SYS(remove(text("%s/__grp__add_kernel.json", folder)));
		write_text(text("%s/__grp__%s.json", folder, names[i]),
		           text("{\"child_paths\": {\"%s.json\": \"/" BASE32
		                "/%s.json\", \"add_kernel.cubin\": \"/" BASE32
		                "/add_kernel.cubin\"}}",
		                name, name));
		check_bundle_opens(text("%s/.triton/cache", root));
	}
}

TEST(module, of_no_name_spoils_no_bundle)
{
	const char *root = "h100/.triton/cache";
	const char *folder = text("%s/" HASH, root);

	unpack("triton-3.6.0-h100", "h100");
	SYS(mkdir(folder, 0777));
	copy_folder(text("%s/XU5DT2AO5BD5AEHEYGLPP5LRDFHHCUEJT4LGDVLB4STXUGVGHF"
	                 "PA/cuda_utils.cpython-312-x86_64-linux-gnu.so",
	                 root),
	            text("%s/.x.so", folder));
	check_bundle_opens(root);
}
