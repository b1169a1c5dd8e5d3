/* SPDX-License-Identifier: Apache-2.0 */
#include "collecting.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct tkb_collect_options dry = { SIZED(dry),
	                                        .is_dry_run = true };

/* What `root` gives, in "b.tkb". */
static struct tkb_bundle *pack(const char *root,
                               const struct tkb_collect_options *options)
{
	OK(tkb_collect_to_file(root, options, "b.tkb", NULL, ERR));
	return test_bundle("b.tkb");
}

static const struct tkb_entry *entry_of(const struct tkb_bundle *bundle,
                                        const char *key, size_t *index_out)
{
	OK(tkb_bundle_find(bundle, key, index_out, ERR));
	return tkb_bundle_entry(bundle, *index_out);
}

/* File `name` of entry `key`, as it is packed. */
static struct tkb_bytes packed_file(const struct tkb_bundle *bundle,
                                    const char *key, const char *name)
{
	struct tkb_buf *buf = test_buf((size_t)1 << 30);
	const struct tkb_sink sink = tkb_buf_sink(buf);
	size_t index = 0;
	size_t file = 0;

	const struct tkb_entry *entry = entry_of(bundle, key, &index);
	while (file < entry->file_count &&
	       strcmp(entry->files[file].name, name) != 0)
		file++;
	CHECK(file < entry->file_count);
	OK(tkb_bundle_read(bundle, index, file, &sink, ERR));
	return tkb_buf_bytes(buf);
}

/* Are all files of the entry's folder packed, with the bytes they have? */
static void check_whole(const struct tkb_bundle *bundle, size_t index,
                        const char *root, const char *recorded)
{
	const struct tkb_entry *entry = tkb_bundle_entry(bundle, index);

	CHECK_INT(entry->file_count,
	          count_names(text("%s/%s", root, entry->key)));
	for (size_t i = 0; i < entry->file_count; i++) {
		const char *name = entry->files[i].name;
		struct tkb_bytes packed = packed_file(bundle, entry->key, name);

		if (entry->files[i].sentinels != 0)
			packed = replace(packed, TKB_SENTINEL,
			                 text("%s/%s", recorded, entry->key));
		check_same_bytes(packed, read_file(in(root, entry->key, name)));
	}
}

/* Every entry is collected, whole. */
static void check_all(const char *root, size_t entry_count)
{
	struct seen seen = { 0 };
	const struct tkb_collect_options options = {
		SIZED(options), .watch = watch_with(&seen)
	};
	struct tkb_collect_report report = { SIZED(report) };

	OK(tkb_collect_to_file(root, &options, "all.tkb", &report, ERR));
	CHECK_STR(seen.message, "");
	CHECK_INT(report.left_out_count, 0);
	CHECK_INT(report.collected_count, entry_count);
	struct tkb_bundle *bundle = test_bundle("all.tkb");
	for (size_t i = 0; i < entry_count; i++)
		check_whole(bundle, i, root, RECORDED);
	OK(tkb_bundle_verify(bundle, NULL, NULL, ERR));
}

/*
 * Whole caches, of every version
 */

struct fixture {
	const char *name;
	const char *version; /* of Triton, as the metadata says */
	size_t kernel_count;
	size_t module_count;
	size_t autotune_count;
	size_t file_count;
};

static size_t count_kind(const struct tkb_bundle *bundle, enum tkb_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++)
		count += tkb_bundle_entry(bundle, i)->kind == kind;
	return count;
}

static void check_kernel(const struct tkb_entry *entry, const char *version)
{
	CHECK_STR(entry->target.backend, "cuda");
	CHECK_STR(entry->target.arch, "90");
	CHECK_INT(entry->target.warp_size, 32);
	CHECK_STR(entry->producer, "triton");
	CHECK_STR(entry->producer_version, version);
	CHECK_STR(entry->platform, "");
	CHECK_INT(entry->device_count, 1);
	CHECK_INT(entry->devices[0], 0);
}

static void check_collected(const struct fixture *fixture, const char *folder,
                            const char *root, const char *recorded)
{
	const size_t entry_count = fixture->kernel_count +
	                           fixture->module_count +
	                           fixture->autotune_count;
	struct tkb_collect_report report = { SIZED(report) };
	uint64_t size = 0;

	OK(tkb_collect_to_file(folder, NULL, "b.tkb", &report, ERR));
	CHECK_INT(report.collected_count, entry_count);
	CHECK_INT(report.left_out_count, 0);
	CHECK_INT(report.unfinished_count, 0);
	CHECK_INT(report.stray_count, 0);
	CHECK_INT(report.moved_count, fixture->kernel_count);
	CHECK_INT(report.file_count, fixture->file_count);
	CHECK_INT(report.bundle_size, read_file("b.tkb").size);
	CHECK_INT(report.is_inductor, strcmp(folder, root) != 0);

	struct tkb_bundle *bundle = test_bundle("b.tkb");
	CHECK_STR(tkb_bundle_profile(bundle), "full");
	CHECK_INT(tkb_bundle_entry_count(bundle), entry_count);
	CHECK_INT(count_kind(bundle, TKB_KIND_KERNEL), fixture->kernel_count);
	CHECK_INT(count_kind(bundle, TKB_KIND_MODULE), fixture->module_count);
	CHECK_INT(count_kind(bundle, TKB_KIND_AUTOTUNE),
	          fixture->autotune_count);
	for (size_t i = 0; i < entry_count; i++) {
		const struct tkb_entry *entry = tkb_bundle_entry(bundle, i);

		if (entry->kind == TKB_KIND_KERNEL)
			check_kernel(entry, fixture->version);
		size += tkb_entry_size(entry);
		check_whole(bundle, i, root, recorded);
	}
	CHECK_INT(report.size, size);
	OK(tkb_bundle_verify(bundle, NULL, NULL, ERR));
}

static const struct fixture fixtures[] = {
	{ "triton-3.0.0-cpu", "", 3, 0, 0, 21 },
	{ "triton-3.1.0-cpu", "", 3, 0, 0, 21 },
	{ "triton-3.2.0-cpu", "", 3, 0, 0, 21 },
	{ "triton-3.3.1-cpu", "3.3.1", 3, 0, 0, 21 },
	{ "triton-3.4.0-cpu", "3.4.0", 4, 0, 1, 33 },
	{ "triton-3.5.1-cpu", "3.5.1", 4, 0, 1, 33 },
	{ "triton-3.6.0-cpu", "3.6.0", 4, 0, 1, 33 },
	{ "triton-3.7.1-cpu", "3.7.1", 4, 0, 1, 33 },
	{ "triton-3.8.0-cpu", "3.8.0", 4, 0, 1, 33 },
	{ "triton-3.9.0-cpu", "3.9.0", 4, 0, 1, 33 },
	{ "triton-3.6.0-h100", "3.6.0", 13, 4, 0, 108 },
};

TEST(collect, packs_all_of_every_triton)
{
	EACH(i, fixtures) {
		const char *root = text("%s/%s/.triton/cache", test_folder(),
		                        fixtures[i].name);

		unpack(fixtures[i].name, fixtures[i].name);
		check_collected(&fixtures[i], root, root, RECORDED);
	}
}

TEST(collect, packs_all_of_inductor)
{
	static const struct fixture fixture = {
		"inductor-2.11-llama4-h100", "3.6.0", 23, 3, 0, 187
	};

	unpack(fixture.name, "unpacked");
	check_collected(&fixture, "unpacked/.cache/torchinductor",
	                "unpacked/.cache/torchinductor/triton/0",
	                "/home/serve/.cache/torchinductor/triton/0");
}

TEST(collect, gives_a_module_its_platform)
{
	const char *root = cache_of("triton-3.6.0-h100");
	size_t index = 0;

	struct tkb_bundle *bundle = pack(root, NULL);
	const struct tkb_entry *entry = entry_of(bundle, H100_LAUNCHER, &index);
	CHECK_INT(entry->kind, TKB_KIND_MODULE);
	CHECK_STR(entry->name, "__triton_launcher");
	CHECK(strncmp(entry->platform, "x86_64-glibc2.", 14) == 0);
	CHECK_CONTAINS(entry->platform, "-cpython312");
}

TEST(collect, packs_autotune_timings_under_their_function)
{
	const char *root = small_cache();
	size_t index = 0;

	struct tkb_bundle *bundle = pack(root, NULL);
	const struct tkb_entry *entry = entry_of(bundle, AUTOTUNE, &index);
	CHECK_INT(entry->kind, TKB_KIND_AUTOTUNE);
	CHECK_STR(entry->name, "gelu_kernel");
	CHECK_INT(entry->file_count, 1);
}

TEST(collect, packs_a_group_file_that_is_a_list)
{
	const char *root = small_cache();
	struct tkb_collect_report report = { SIZED(report) };
	size_t index = 0;

	write_text(group_of_add(root), list_of_add);

	OK(tkb_collect_to_file(root, NULL, "b.tkb", &report, ERR));
	CHECK_INT(report.collected_count, 5);
	CHECK_INT(report.moved_count, 3);
	struct tkb_bundle *bundle = test_bundle("b.tkb");
	CHECK_INT(entry_of(bundle, ADD, &index)->file_count, ADD_FILES);
	check_whole(bundle, index, root, RECORDED);
}

TEST(collect, packs_a_key_of_triton_2_whose_metadata_has_no_hash)
{
	static const char key[] = "d41d8cd98f00b204e9800998ecf8427e";
	const char *root = small_cache();

	SYS(rename(text("%s/" ADD, root), text("%s/%s", root, key)));
	write_text(in(root, key, "__grp__add_kernel.json"), list_of_add);
	edit_file(in(root, key, "add_kernel.json"), "\"hash\"", "\"hush\"");

	check_all(root, 5);
}

TEST(collect, packs_an_entry_that_lies_where_its_group_file_says)
{
	const char *root = small_cache();
	struct tkb_collect_report report = { SIZED(report) };

	replace_in_file(group_of_add(root), RECORDED, root);

	OK(tkb_collect(root, &dry, NULL, &report, ERR));
	CHECK_INT(report.collected_count, 5);
	CHECK_INT(report.moved_count, 3);
}

TEST(collect, packs_the_same_from_a_group_file_of_any_place)
{
	const char *root = small_cache();
	const struct tkb_bytes wanted = collected(root, NULL);

	replace_in_file(group_of_add(root), RECORDED, root);
	check_same_bytes(collected(root, NULL), wanted);
	replace_in_file(group_of_add(root), root, "../relative/./path");
	check_same_bytes(collected(root, NULL), wanted);
	replace_in_file(group_of_add(root), "../relative/./path",
	                "/caf\\u00e9/\\\"q\\\"/back\\\\slash");
	check_same_bytes(collected(root, NULL), wanted);
}

TEST(collect, puts_the_sentinel_for_each_path_in_a_group_file)
{
	const char *root = small_cache();

	struct tkb_bundle *bundle = pack(root, NULL);
	struct tkb_bytes packed =
		packed_file(bundle, ADD, "__grp__add_kernel.json");
	check_same_bytes(packed, replace(read_file(group_of_add(root)),
	                                 RECORDED "/" ADD, TKB_SENTINEL));
	CHECK(memmem(packed.data, packed.size, "serve", 5) == NULL);
}

TEST(collect, puts_the_sentinel_for_paths_in_other_json_files)
{
	const char *root = small_cache();

	edit_file(in(root, ADD, "add_kernel.json"), "\"shared\": 0",
	          text("\"a\": \"" RECORDED "/" ADD "/x\", "
	               "\"b\": \"%s/" ADD "\", "
	               "\"c\": \"" RECORDED "/" ADD "x\", \"shared\": 0",
	               root));

	struct tkb_bundle *bundle = pack(root, NULL);
	struct tkb_bytes packed = packed_file(bundle, ADD, "add_kernel.json");
	CHECK_CONTAINS(packed.data, "\"a\": \"[REPLACE]/x\", "
	                            "\"b\": \"[REPLACE]\", "
	                            "\"c\": \"" RECORDED "/" ADD "x\", ");
}

/*
 * What is passed over
 */

#define CACHE "unpacked/.triton/cache"

/* What is passed over, and leaves the bundle as it is. */
static const struct {
	const char *name;
	const char *script; /* in the cache */
	uint64_t collected_count;
	uint64_t unfinished_count;
	uint64_t stray_count;
} passed_over[] = {
	{ "compiles that were stopped",
	  "mkdir -p " H100_MATMUL " " H100_SOFTMAX
	  "/tmp.pid_7_0c5d 'not a key';"
	  "printf module >" H100_SOFTMAX "/tmp.pid_7_0c5d/k.ttir",
	  5, 3, 0 },
	{ "an entry whose group file is not yet there", "rm " ADD "/" ADD_GROUP,
	  4, 1, 0 },
	{ "strays",
	  "echo x >stray; echo x >\"$(printf 'not utf-8: \\377\\n.')\";"
	  "ln -s /etc link; echo x >" ADD "/add_kernel.sass;"
	  "mkdir " ADD "/tmp.pid_7_0c5d;"
	  "echo x >\"$(printf '" AUTOTUNE "/stray\\377')\"",
	  5, 0, 6 },
	{ "tkbundle's own folder",
	  "mkdir -p .tkbundle/stage-1; : >.tkbundle/lock;"
	  "cp -r " ADD " .tkbundle/stage-1/" H100_MATMUL,
	  5, 0, 0 },
};

TEST(collect, counts_what_it_passes_over)
{
	EACH(i, passed_over) {
		shell("rm -rf unpacked");
		const char *root = small_cache();
		const struct tkb_bytes wanted = collected(root, NULL);

		test_name_row(passed_over[i].name);
		shell("cd %s; %s", root, passed_over[i].script);
		check_counts(root, passed_over[i].collected_count,
		             passed_over[i].unfinished_count,
		             passed_over[i].stray_count);
		if (passed_over[i].collected_count == 5)
			check_same_bytes(collected(root, NULL), wanted);
	}
}

TEST(collect, leaves_the_cache_as_it_was)
{
	static const struct timespec long_ago[2] = { { .tv_sec = 1 },
		                                     { .tv_sec = 2 } };
	const char *root = small_cache();
	const char *names[] = { ADD, ADD "/__grp__add_kernel.json",
		                ADD "/add_kernel.json", ADD "/add_kernel.cubin",
		                ADD "/add_kernel.ptx" };
	struct stat status;

	EACH(i, names)
		SYS(utimensat(AT_FDCWD, text("%s/%s", root, names[i]), long_ago,
		              0));

	(void)collected(root, NULL);

	EACH(i, names) {
		SYS(stat(text("%s/%s", root, names[i]), &status));
		CHECK_INT(status.st_atim.tv_sec, 1);
		CHECK_INT(status.st_mtim.tv_sec, 2);
	}
	CHECK_INT(count_names(root), 5);
	CHECK_INT(count_names(text("%s/" ADD, root)), ADD_FILES);
}

/*
 * Odd names, and much
 */

TEST(collect, packs_as_long_names_and_as_many_files_as_may_be)
{
	const char *root = small_cache();
	char *name = test_alloc(255);

	memset(name, 'n', 255);
	memcpy(name + 250, ".ttir", 5);
	list_child(root, name);
	write_text(in(root, ADD, name), "module");
	check_all(root, 5);
	for (size_t i = 0; i < 64 - ADD_FILES - 1; i++) {
		list_child(root, text("%02zu.ttir", i));
		write_text(in(root, ADD, text("%02zu.ttir", i)), "module\n");
	}
	check_all(root, 5);
}

TEST(collect, packs_a_kernel_with_the_longest_name)
{
	static const char *const extensions[] = { "source", "ttir", "ttgir",
		                                  "llir",   "ptx",  "cubin",
		                                  "json" };
	const char *root = small_cache();
	char *name = test_alloc(243);

	memset(name, 'k', 243);
	EACH(i, extensions)
		SYS(rename(in(root, ADD, text("add_kernel.%s", extensions[i])),
		           in(root, ADD, text("%s.%s", name, extensions[i]))));
	replace_in_file(group_of_add(root), "add_kernel", name);
	SYS(rename(group_of_add(root),
	           in(root, ADD, text("__grp__%s.json", name))));

	check_all(root, 5);
}

TEST(collect, packs_names_with_quotes_spaces_and_accents)
{
	const char *root = small_cache();

	list_child(root, "q\\\"uo'te.ttir");
	write_text(in(root, ADD, "q\"uo'te.ttir"), "a");
	list_child(root, "back\\\\slash [REPLACE].ttir");
	write_text(in(root, ADD, "back\\slash [REPLACE].ttir"), "b");
	list_child(root, "n\\u00e9 \xe2\x82\xac.ttir");
	write_text(in(root, ADD, "n\xc3\xa9 \xe2\x82\xac.ttir"), "c");

	check_counts(root, 5, 0, 0);
	shell("%s collect %s -o b.tkb --strict; %s verify b.tkb", program(),
	      root, program());
}

TEST(collect, follows_a_root_that_is_a_symbolic_link)
{
	const char *root = small_cache();

	SYS(symlink(root, "link"));

	check_same_bytes(collected("link", NULL), collected(root, NULL));
}

TEST(collect, packs_from_a_root_with_any_name)
{
	static const char odd[] = "caf\xc3\xa9 \"q\" back\\slash [REPLACE]\xff";
	const char *root = small_cache();
	const struct tkb_bytes wanted = collected(root, NULL);

	SYS(rename(root, odd));

	check_same_bytes(collected(odd, NULL), wanted);
	struct outcome outcome =
		run(program(), "collect", odd, "-o", "b.tkb", NULL);
	CHECK_INT(outcome.status, 0);
	check_same_bytes(read_file("b.tkb"), wanted);
}

/*
 * Choices
 */

enum {
	AS_IT_WAS = -1,
	ANY = -1
};

#define COLLECT "$0 collect "
#define INTO CACHE " -o b.tkb "
#define H100 .device = ANY, .fixture = "triton-3.6.0-h100"

/* What the program is asked for, and what it does. */
static const struct {
	const char *name;
	const char *command; /* of a shell, in which $0 is the program */
	int status;
	int entry_count;    /* in "b.tkb"; AS_IT_WAS: nothing is written */
	const char *before; /* this is done first, in a shell, too */
	const char *out;    /* what it says, between bars */
	const char *err;    /* likewise; NULL: if all is well, nothing */
	const char *after;  /* this must be so */
	int device;         /* of all entries */
	const char *fixture;
} runs[] = {
	{ "an empty cache", COLLECT "empty -o b.tkb", 0, 0,
	  .before = "mkdir empty", .device = ANY },
	{ "a cache with more than entries", COLLECT INTO, 0, 5,
	  .before = "cd " CACHE "; echo x >stray; mkdir " H100_SOFTMAX,
	  .out = "collected 5 entries (33 files, |, unfinished 1, stray 1, "
	         "moved "
	         "4\n" },
	/* Keys */
	{ "a unique prefix", COLLECT INTO "--key 5D", 0, 1,
	  .after = "$0 ls --json b.tkb | grep -q " ADD },
	{ "several keys, one of them twice",
	  COLLECT INTO "--key Q --key " ADD " --key 5", 0, 2, .device = 0 },
	{ "a prefix of several keys", COLLECT INTO "--key D", 2, AS_IT_WAS,
	  .err = "several keys begin with 'D'|" H100_MATMUL "|" H100_SOFTMAX,
	  H100 },
	{ "a key that is not there", COLLECT INTO "--key 5D --key ZZ", 3,
	  AS_IT_WAS, .err = "no key begins with 'ZZ'" },
	{ "a key, though others are bad", COLLECT INTO "--strict --key " ADD, 0,
	  1,
	  .before = "cd " CACHE "; : >" GELU_2 "/__grp__gelu_kernel.json;"
	            "truncate -s 100 " SOFTMAX "/softmax_kernel.cubin;"
	            "ln -s /etc " H100_MATMUL },
	{ "a key that is bad", COLLECT INTO "--key " ADD, 4, 0,
	  .before = ": >" CACHE "/" ADD "/" ADD_GROUP },
	/* Roots and devices */
	{ "a cache that is not there", COLLECT "absent -o b.tkb", 3, AS_IT_WAS,
	  .err = "'absent'" },
	{ "a root that is a file", COLLECT "file -o b.tkb", 2, AS_IT_WAS,
	  ": >file", .err = "file' is not a folder" },
	{ "a device for a Triton root", COLLECT INTO "--device 3", 0, 5,
	  .device = 3 },
	{ "one of Inductor's devices",
	  COLLECT "ind -o b.tkb --device 1 --strict", 0, 5,
	  .before = "rm ind/triton/2/" SOFTMAX "/softmax_kernel.ptx",
	  .device = 1 },
	{ "a device that Inductor has not", COLLECT "ind -o b.tkb --device 7",
	  3, .entry_count = AS_IT_WAS },
	{ "the last device that can be",
	  COLLECT "ind -o b.tkb --device 1023 --strict", 0, 5,
	  .before = "cp -r ind/triton/0 ind/triton/1023", .device = 1023 },
	{ "what is no device", COLLECT "ind -o b.tkb --strict", 0, 5,
	  .before = "cd ind/triton; mkdir 01 x 99999 1024; echo no folder >5",
	  .device = ANY },
	/* Choices */
	{ "without modules", COLLECT INTO "--no-modules --strict", 0, 13,
	  .out = "collected 13 entries (104 files, ",
	  .after = "! $0 ls --json b.tkb | grep '\"module\"'", H100 },
	{ "a dry run", COLLECT INTO "-n", 0, AS_IT_WAS,
	  .out = "would collect 5 entries (33 files, " },
	{ "a dry run, which checks as much", COLLECT CACHE " -n", 4, AS_IT_WAS,
	  .before = "sed -i 's/\"name\": \"add_kernel\"/\"name\": "
	            "\"sub_kernel\"/' " CACHE "/" ADD "/add_kernel.json",
	  .out = "would collect 4 entries",
	  .err = "left out " ADD ": binary: " },
	{ "nothing", "TKBUNDLE_DISABLE=1 " COLLECT INTO, 0, AS_IT_WAS,
	  .err = "TKBUNDLE_DISABLE" },
	{ "JSON", COLLECT INTO "--json", 4, 4,
	  .before = "rm " CACHE "/" ADD "/add_kernel.ptx",
	  .out = "\"collected\":4|\"left_out_count\":1|\"key\":\"" ADD "\"|"
	         "\"reason\":\"missing\"|'add_kernel.ptx' is not there" },
	{ "a torn entry, lean", COLLECT INTO "--profile lean", 4, 4,
	  .before = "rm " CACHE "/" ADD "/add_kernel.ttir",
	  .err = "left out " ADD ": missing: 'add_kernel.ttir' is not there" },
	/* Where the bundle goes */
	{ "standard output", COLLECT INTO " && " COLLECT CACHE " -o - >c.tkb",
	  0, 5, .err = "collected 5 entries",
	  .after = "cmp b.tkb c.tkb; rm c.tkb" },
	{ "an old file, and a failure", COLLECT INTO "--strict", 1, AS_IT_WAS,
	  .before = "printf old >b.tkb; rm " CACHE "/" ADD "/add_kernel.ptx",
	  .after = "test $(cat b.tkb) = old" },
	{ "no such folder", COLLECT CACHE " -o absent/b.tkb", 1, AS_IT_WAS,
	  .err = "'absent/b.tkb'" },
	{ "a full disk", COLLECT CACHE " -o /dev/full", 1, AS_IT_WAS,
	  .err = "No space left" },
	{ "a umask", "umask 027; " COLLECT INTO, 0, 5,
	  .after = "test $(stat -c %a b.tkb) = 640" },
};

/* An Inductor folder: devices 0 to 3, the same five entries in each. */
static void make_four_devices(void)
{
	(void)small_cache();
	shell("mkdir -p ind/triton; for device in 0 1 2 3; do"
	      " cp -r " CACHE " ind/triton/$device; done");
}

static void check_bundle(size_t entry_count, int device)
{
	struct tkb_bundle *bundle = test_bundle("b.tkb");

	CHECK_INT(tkb_bundle_entry_count(bundle), entry_count);
	for (size_t i = 0; i < entry_count && device != ANY; i++) {
		const struct tkb_entry *entry = tkb_bundle_entry(bundle, i);

		CHECK_INT(entry->device_count, 1);
		CHECK_INT(entry->devices[0], device);
	}
	OK(tkb_bundle_verify(bundle, NULL, NULL, ERR));
}

static void check_says(const char *said, const char *parts)
{
	for (const char **part = words(parts); *part != NULL; part++)
		CHECK_CONTAINS(said, *part);
}

TEST(collect, does_what_the_program_is_asked_for)
{
	EACH(i, runs) {
		const bool is_kept = runs[i].entry_count == AS_IT_WAS;

		test_name_row(runs[i].name);
		shell("rm -rf -- *");
		make_four_devices();
		if (runs[i].fixture != NULL)
			shell("rm -rf unpacked");
		if (runs[i].fixture != NULL)
			(void)cache_of(runs[i].fixture);
		if (runs[i].before != NULL)
			shell("%s", runs[i].before);
		const size_t before = count_names(".");
		const struct outcome outcome =
			run("sh", "-c", runs[i].command, program(), NULL);

		if (outcome.status != runs[i].status)
			fail_msg("exits %d: %s%s", outcome.status, outcome.out,
			         outcome.err);
		if (runs[i].out != NULL)
			check_says(outcome.out, runs[i].out);
		if (runs[i].err != NULL)
			check_says(outcome.err, runs[i].err);
		else if (runs[i].status == 0)
			CHECK_STR(outcome.err, "");
		if (!is_kept)
			check_bundle((size_t)runs[i].entry_count,
			             runs[i].device);
		if (runs[i].after != NULL)
			CHECK_INT(
				run("sh", "-ec", runs[i].after, program(), NULL)
					.status,
				0);
		CHECK_INT(count_names("."), before + !is_kept);
	}
}

TEST(collect, packs_what_is_equal_on_four_devices_once)
{
	struct tkb_collect_report report = { SIZED(report) };

	make_four_devices();

	OK(tkb_collect_to_file("ind", NULL, "b.tkb", &report, ERR));

	CHECK_INT(report.collected_count, 5);
	CHECK(report.is_inductor);
	struct tkb_bundle *bundle = test_bundle("b.tkb");
	CHECK_INT(tkb_bundle_entry_count(bundle), 5);
	for (size_t i = 0; i < 5; i++)
		CHECK_STR(devices_of(bundle, tkb_bundle_entry(bundle, i)->key),
		          "0,1,2,3");
	OK(tkb_bundle_verify(bundle, NULL, NULL, ERR));
}

TEST(collect, packs_equal_entries_once_though_each_names_its_own_place)
{
	struct tkb_collect_report report = { SIZED(report) };

	make_four_devices();
	for (size_t i = 0; i < 4; i++)
		replace_in_file(text("ind/triton/%zu/" ADD "/" ADD_GROUP, i),
		                RECORDED,
		                text("%s/ind/triton/%zu", test_folder(), i));

	OK(tkb_collect_to_file("ind", NULL, "b.tkb", &report, ERR));

	CHECK_INT(report.collected_count, 5);
	CHECK_INT(report.moved_count, 3);
	struct tkb_bundle *bundle = test_bundle("b.tkb");
	CHECK_STR(devices_of(bundle, ADD), "0,1,2,3");
}

TEST(collect, packs_what_differs_on_one_device_apart)
{
	size_t index = 0;

	make_four_devices();
	edit_file("ind/triton/2/" ADD "/add_kernel.ttir", "module", "MODULE");

	struct tkb_bundle *bundle = pack("ind", NULL);
	CHECK_INT(tkb_bundle_entry_count(bundle), 6);
	CHECK_STR(devices_of(bundle, ADD), "0,1,3");
	(void)entry_of(bundle, ADD, &index);
	const struct tkb_entry *other = tkb_bundle_entry(bundle, index + 1);
	CHECK_STR(other->key, ADD);
	CHECK_INT(other->device_count, 1);
	CHECK_INT(other->devices[0], 2);
	OK(tkb_bundle_verify(bundle, NULL, NULL, ERR));
}

TEST(collect, leaves_out_the_device_whose_entry_is_bad)
{
	struct seen seen = { 0 };
	const struct tkb_collect_options options = {
		SIZED(options), .watch = watch_with(&seen)
	};

	make_four_devices();
	SYS(truncate("ind/triton/0/" ADD "/add_kernel.cubin", 1000));

	FAILS(tkb_collect_to_file("ind", &options, "b.tkb", NULL, ERR),
	      TKB_ERR_PARTIAL, ADD);

	CHECK_INT(seen.left_out_count, 1);
	CHECK_INT(seen.reason, TKB_REASON_BINARY);
	CHECK_CONTAINS(seen.message, "'add_kernel.cubin' is cut short");
	struct tkb_bundle *bundle = test_bundle("b.tkb");
	CHECK_INT(tkb_bundle_entry_count(bundle), 5);
	CHECK_STR(devices_of(bundle, ADD), "1,2,3");
	CHECK_STR(devices_of(bundle, SOFTMAX), "0,1,2,3");
}

TEST(collect, writes_no_file_in_a_dry_run_of_the_library)
{
	const char *root = small_cache();

	OK(tkb_collect_to_file(root, &dry, "b.tkb", NULL, ERR));

	CHECK_INT(count_names("."), 1);
}

TEST(collect, tells_in_a_dry_run_the_id_that_the_bundle_would_have)
{
	const char *root = small_cache();
	struct tkb_collect_report would = { SIZED(would) };
	struct tkb_collect_report did = { SIZED(did) };

	OK(tkb_collect(root, &dry, NULL, &would, ERR));
	OK(tkb_collect_to_file(root, NULL, "b.tkb", &did, ERR));

	assert_memory_equal(&would.id, &did.id, sizeof(did.id));
	CHECK_INT(would.bundle_size, 0);
	CHECK_INT(would.size, did.size);
}

/*
 * Where the bundle goes
 */

TEST(collect, replaces_a_file_whole)
{
	const char *root = small_cache();
	const struct tkb_bytes wanted = collected(root, NULL);
	char *old = test_alloc(1000000);

	memset(old, 'o', 1000000);
	write_text("b.tkb", old);
	SYS(link("b.tkb", "held"));

	shell("%s collect %s -o b.tkb", program(), root);

	check_same_bytes(read_file("b.tkb"), wanted);
	CHECK_STR(read_file("held").data, old);
	CHECK_INT(count_names("."), 3);
}

TEST(collect, appends_to_an_open_file_and_leaves_the_link_to_it)
{
	const char *root = small_cache();
	const struct tkb_bytes wanted = collected(root, NULL);
	const int fd = open("open", O_WRONLY | O_CREAT, 0666);

	CHECK(fd >= 0);
	SYS(symlink(text("/proc/self/fd/%d", fd), "link"));
	write_text("open", "old");

	OK(tkb_collect_to_file(root, NULL, "link", NULL, ERR));

	SYS(close(fd));
	struct tkb_bytes found = read_file("open");
	CHECK_INT(found.size, 3 + wanted.size);
	check_same_bytes(tkb_bytes_slice(found, 3, found.size), wanted);
	CHECK_INT(count_names("."), 3);
}

static int refuse(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	size_t *calls = self;

	(void)bytes;
	(*calls)++;
	return tkb_fail(err, TKB_ERR_IO, "the sink is full");
}

TEST(collect, replaces_a_file_with_the_longest_name)
{
	const char *root = small_cache();
	const char *path = text("%0255d", 1);

	write_text(path, "old");

	OK(tkb_collect_to_file(root, NULL, path, NULL, ERR));

	check_same_bytes(read_file(path), collected(root, NULL));
	CHECK_INT(count_names("."), 2);
}

TEST(collect, passes_on_what_its_sink_says)
{
	const char *root = small_cache();
	size_t calls = 0;
	const struct tkb_sink sink = { refuse, &calls };

	FAILS(tkb_collect(root, NULL, &sink, NULL, ERR), TKB_ERR_IO,
	      "the sink is full");
	CHECK_INT(calls, 1);
}

TEST(collect, sends_nothing_where_strict_leaves_something_out)
{
	const char *root = small_cache();
	size_t calls = 0;
	const struct tkb_sink sink = { refuse, &calls };
	const struct tkb_collect_options strict = { SIZED(strict),
		                                    .is_strict = true };
	struct tkb_collect_report report = { SIZED(report) };

	SYS(truncate(in(root, ADD, "add_kernel.cubin"), 1000));

	FAILS(tkb_collect(root, &strict, &sink, &report, ERR), TKB_ERR_LEFT_OUT,
	      "1 entr");
	CHECK_INT(calls, 0);
	CHECK_INT(report.left_out_count, 1);
	CHECK_INT(report.collected_count, 4);
}

TEST(collect, ends_where_it_is_cancelled_and_leaves_nothing)
{
	const char *root = small_cache();
	const struct tkb_collect_options options = {
		SIZED(options),
		.watch = &CHOSEN(tkb_watch, .is_cancelled = always)
	};

	FAILS(tkb_collect_to_file(root, &options, "b.tkb", NULL, ERR),
	      TKB_ERR_CANCELLED, "cancelled");
	CHECK_INT(count_names("."), 1);
}

static int count_call(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	size_t *calls = self;

	(void)bytes;
	(void)err;
	(*calls)++;
	return 0;
}

static bool has_calls(void *self)
{
	const size_t *calls = self;

	return *calls != 0;
}

TEST(collect, ends_where_it_is_cancelled_while_it_sends)
{
	size_t calls = 0;
	const struct tkb_sink sink = { count_call, &calls };
	const struct tkb_collect_options options = {
		SIZED(options), .watch = &CHOSEN(tkb_watch, .self = &calls,
		                                 .is_cancelled = has_calls)
	};

	FAILS(tkb_collect(small_cache(), &options, &sink, NULL, ERR),
	      TKB_ERR_CANCELLED, "cancelled");
	CHECK_INT(calls, 1);
}

TEST(collect, tells_its_progress_to_the_end)
{
	const char *root = small_cache();
	struct seen seen = { 0 };
	const struct tkb_collect_options options = {
		SIZED(options), .is_dry_run = true, .watch = watch_with(&seen)
	};
	struct tkb_collect_report report = { SIZED(report) };

	OK(tkb_collect(root, &options, NULL, &report, ERR));

	CHECK_INT(seen.done, report.size);
	CHECK_INT(seen.total, report.size);
	CHECK(!seen.went_back);
}

TEST(collect, tells_no_more_progress_than_there_is_to_make)
{
	const char *root = small_cache();
	struct seen seen = { 0 };
	const struct tkb_collect_options options = {
		SIZED(options), .is_dry_run = true, .watch = watch_with(&seen)
	};

	SYS(truncate(in(root, ADD, "add_kernel.cubin"), 1000));

	FAILS(tkb_collect(root, &options, NULL, NULL, ERR), TKB_ERR_PARTIAL,
	      ADD);

	CHECK_INT(seen.left_out_count, 1);
	CHECK(!seen.went_too_far);
	CHECK(!seen.went_back);
	CHECK_INT(seen.done, seen.total);
}

/*
 * Lean
 */

static const char lean_group[] =
	"{\"child_paths\": {"
	"\"add_kernel.cubin\": \"[REPLACE]/add_kernel.cubin\", "
	"\"add_kernel.json\": \"[REPLACE]/add_kernel.json\"}}";

static const struct tkb_collect_options lean = { SIZED(lean),
	                                         .profile = TKB_PROFILE_LEAN };

TEST(collect, packs_lean_what_a_launch_needs)
{
	const char *root = small_cache();
	size_t index = 0;

	shell("%s collect %s -o b.tkb --profile lean --strict", program(),
	      root);

	struct tkb_bundle *bundle = test_bundle("b.tkb");
	CHECK_STR(tkb_bundle_profile(bundle), "lean");
	CHECK_INT(tkb_bundle_entry_count(bundle), 5);
	const struct tkb_entry *entry = entry_of(bundle, ADD, &index);
	CHECK_INT(entry->file_count, 3);
	check_same_bytes(packed_file(bundle, ADD, "__grp__add_kernel.json"),
	                 tkb_text(lean_group));
	check_same_bytes(packed_file(bundle, ADD, "add_kernel.cubin"),
	                 read_file(in(root, ADD, "add_kernel.cubin")));
	check_same_bytes(packed_file(bundle, ADD, "add_kernel.json"),
	                 read_file(in(root, ADD, "add_kernel.json")));
	OK(tkb_bundle_verify(bundle, NULL, NULL, ERR));
}

TEST(collect, packs_lean_a_group_file_that_is_a_list)
{
	const char *root = small_cache();

	write_text(group_of_add(root), list_of_add);

	struct tkb_bundle *bundle = pack(root, &lean);
	check_same_bytes(packed_file(bundle, ADD, "__grp__add_kernel.json"),
	                 tkb_text("{\"child_paths\": [\"add_kernel.cubin\", "
	                          "\"add_kernel.json\"]}"));
	OK(tkb_bundle_verify(bundle, NULL, NULL, ERR));
}

TEST(collect, counts_no_strays_for_what_lean_drops)
{
	const char *root = small_cache();
	struct tkb_collect_report report = { SIZED(report) };

	OK(tkb_collect_to_file(root, &lean, "b.tkb", &report, ERR));

	CHECK_INT(report.stray_count, 0);
	CHECK_INT(report.file_count, 4 * 3 + 1);
}

TEST(collect, packs_again_what_lean_left)
{
	const char *root = small_cache();
	const struct tkb_collect_options again = { SIZED(again),
		                                   .profile = TKB_PROFILE_LEAN,
		                                   .is_strict = true };
	struct tkb_collect_report report = { SIZED(report) };

	struct tkb_bundle *bundle = pack(root, &lean);
	OK(tkb_emit(bundle, "out", NULL, NULL, ERR));

	check_counts("out", 5, 0, 0);
	OK(tkb_collect_to_file("out", &again, "c.tkb", &report, ERR));
	CHECK_INT(report.moved_count, 0);
	check_same_bytes(read_file("c.tkb"), read_file("b.tkb"));
}

TEST(collect, without_a_sink_is_refused_unless_it_is_dry)
{
	unpack("triton-3.6.0-cpu", "cache");
	FAILS(tkb_collect("cache/.triton/cache", NULL, NULL, NULL, ERR),
	      TKB_ERR_INVALID, "there is no sink");
	OK(tkb_collect("cache/.triton/cache", &dry, NULL, NULL, ERR));
}
