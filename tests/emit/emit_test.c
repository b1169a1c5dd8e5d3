/* SPDX-License-Identifier: Apache-2.0 */
#include "forge.h"
#include "upkeep.h"

#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define KERNEL_FOLDER "out/" FORGE_KERNEL
#define GROUP_FILE KERNEL_FOLDER "/__grp__add_kernel.json"

/* The fixture's kernel, full: all of its files. */
static const char *const kernel_files[] = {
	"__grp__add_kernel.json", "add_kernel.cubin", "add_kernel.json",
	"add_kernel.llir",        "add_kernel.ptx",   "add_kernel.source",
	"add_kernel.ttgir",       "add_kernel.ttir",
};

static const struct tkb_emit_options dry = { SIZED(dry), .is_dry_run = true };

/* What an emit did, and what was told of its last entry that is no success. */
struct did {
	int rc;
	struct tkb_error err;
	struct tkb_emit_report report;
	unsigned told;
	struct tkb_result last;
	const char *message;
};

static void note_result(void *self, const struct tkb_result *result)
{
	struct did *did = self;

	did->told++;
	if (result->outcome != TKB_OUTCOME_SKIPPED &&
	    result->outcome != TKB_OUTCOME_FAILED)
		return;
	did->last = *result;
	did->message = text("%s", result->message);
}

static struct did emit_with(const char *path, const char *root,
                            const struct tkb_emit_options *options)
{
	struct tkb_bundle *bundle = test_bundle(path);
	struct tkb_emit_options own = { SIZED(own) };
	struct tkb_watch watch = { SIZED(watch) };
	struct did did = { .message = "",
		           .report.struct_size = sizeof(did.report) };

	if (options != NULL)
		own = *options;
	if (own.watch != NULL)
		watch = *own.watch;
	watch.self = &did;
	watch.on_result = note_result;
	own.watch = &watch;
	did.rc = tkb_emit(bundle, root, &own, &did.report, &did.err);
	return did;
}

static struct did emit_once(const char *path, const char *root)
{
	return emit_with(path, root, NULL);
}

#define CHECK_DID(did, emitted, present, repaired)                             \
	check_did((did), (emitted), (present), (repaired), __FILE__, __LINE__)

/* It went well: so many entries each, and none besides. */
static void check_did(struct did did, uint64_t emitted, uint64_t present,
                      uint64_t repaired, const char *file, int line)
{
	const struct tkb_emit_report *report = &did.report;

	if (did.rc == 0 && report->emitted_count == emitted &&
	    report->present_count == present &&
	    report->repaired_count == repaired && report->busy_count == 0 &&
	    report->skipped_count == 0 && report->failed_count == 0 &&
	    report->damaged_count == 0 && report->unsafe_count == 0 &&
	    did.told == emitted + present + repaired)
		return;
	print_error("returned %d (%s); emitted %d, present %d, repaired %d, "
	            "busy %d, skipped %d, failed %d, damaged %d, unsafe %d; "
	            "%s\n",
	            did.rc, did.err.message, (int)report->emitted_count,
	            (int)report->present_count, (int)report->repaired_count,
	            (int)report->busy_count, (int)report->skipped_count,
	            (int)report->failed_count, (int)report->damaged_count,
	            (int)report->unsafe_count, did.message);
	_fail(file, line);
}

static bool is_group(const char *name)
{
	return strncmp(name, "__grp__", 7) == 0;
}

/* `bytes` with each `from` replaced by `to`. */
static struct tkb_bytes replaced(struct tkb_bytes bytes, const char *from,
                                 const char *to)
{
	const char *old =
		text("%.*s", (int)bytes.size, (const char *)bytes.data);
	const char *done = "";
	const char *found;

	if (from[0] == '\0')
		return bytes;
	for (found = strstr(old, from); found != NULL;
	     found = strstr(old, from)) {
		done = text("%s%.*s%s", done, (int)(found - old), old, to);
		old = found + strlen(from);
	}
	return tkb_text(text("%s%s", done, old));
}

/*
 * Folder `entry` must hold what `wanted` holds, byte for byte; in the group
 * file `to` stands where `from` does.
 */
static void check_entry(const char *entry, const char *wanted, const char *from,
                        const char *to)
{
	const char **names = list(wanted);

	CHECK_INT(count_names(entry), count_names(wanted));
	for (size_t i = 0; names[i] != NULL; i++) {
		struct tkb_bytes got =
			read_file(text("%s/%s", entry, names[i]));
		struct tkb_bytes bytes =
			read_file(text("%s/%s", wanted, names[i]));

		if (is_group(names[i]))
			bytes = replaced(bytes, from, to);
		if (!tkb_bytes_equal(got, bytes))
			fail_msg("'%s/%s' differs", entry, names[i]);
	}
}

/* The same for a root, less what is tkbundle's own. */
static void check_root(const char *root, const char *wanted, const char *from,
                       const char *to)
{
	const char **names = list(wanted);
	size_t count = 0;

	for (size_t i = 0; names[i] != NULL; i++) {
		if (names[i][0] == '.')
			continue;
		check_entry(text("%s/%s", root, names[i]),
		            text("%s/%s", wanted, names[i]), from, to);
		count++;
	}
	CHECK_INT(count_names(root),
	          count + exists(text("%s/.tkbundle", root)));
}

static size_t count_stages(const char *root)
{
	const char *own = text("%s/.tkbundle", root);
	size_t count = 0;

	if (!exists(own))
		return 0;
	const char **names = list(own);
	for (size_t i = 0; names[i] != NULL; i++)
		count += strncmp(names[i], "stage-", 6) == 0;
	return count;
}

/*
 * The full kernel is in "a.tkb", emitted to "out", and copied to "good"; the
 * mark is gone, so that everything is looked at.
 */
static void distrust(void)
{
	remove_folder("out/.tkbundle");
}

/* Unpack the fixture, and pack a key of it, or all, into "a.tkb". */
static void pack_key(const char *key)
{
	unpack("triton-3.6.0-cpu", "forged");
	forge_collect("forged/.triton/cache", key, false, "a.tkb");
}

static void arrange(void)
{
	pack_key(FORGE_KERNEL);
	CHECK_DID(emit_once("a.tkb", "out"), 1, 0, 0);
	distrust();
	copy_folder("out", "good");
}

static void check_good(void)
{
	check_root("out", "good", "", "");
	CHECK_INT(count_stages("out"), 0);
}

static void emit_good(void)
{
	CHECK_DID(emit_once("a.tkb", "out"), 1, 0, 0);
	copy_folder("out", "good");
}

/* The one entry is put right, and all is as it was. */
static void check_repaired(void)
{
	CHECK_DID(emit_once("a.tkb", "out"), 0, 0, 1);
	check_good();
}

static const char *const fixtures[] = {
	"triton-3.0.0-cpu", "triton-3.1.0-cpu",  "triton-3.2.0-cpu",
	"triton-3.3.1-cpu", "triton-3.4.0-cpu",  "triton-3.5.1-cpu",
	"triton-3.6.0-cpu", "triton-3.7.1-cpu",  "triton-3.8.0-cpu",
	"triton-3.9.0-cpu", "triton-3.6.0-h100",
};

TEST(emit, of_every_fixture_gives_every_file_but_for_its_own_path)
{
	EACH(i, fixtures) {
		const char *cache = text("%s/.triton/cache", fixtures[i]);

		unpack(fixtures[i], fixtures[i]);
		forge_collect(cache, NULL, false, "a.tkb");
		struct did did = emit_once("a.tkb", "out");

		CHECK_DID(did, count_names(cache), 0, 0);
		CHECK(!did.report.is_inductor);
		check_root("out", cache, "/home/serve/.triton/cache",
		           text("%s/out", test_folder()));
		CHECK_INT(count_stages("out"), 0);

		forge_collect("out", NULL, false, "b.tkb");
		CHECK(tkb_bytes_equal(read_file("a.tkb"), read_file("b.tkb")));
		remove_folder("out");
	}
}

TEST(emit, of_inductor_gives_each_device_its_entries)
{
	unpack("inductor-2.11-llama4-h100", "ind");
	forge_collect("ind/.cache/torchinductor", NULL, false, "a.tkb");
	CHECK_INT(mkdir("torchinductor_x", 0777), 0);
	CHECK_INT(mkdir("torchinductor_x/triton", 0777), 0);
	CHECK_INT(mkdir("torchinductor_x/triton/0", 0777), 0);
	struct did did = emit_once("a.tkb", "torchinductor_x");

	CHECK_DID(did, 26, 0, 0);
	CHECK(did.report.is_inductor);
	check_root("torchinductor_x/triton/0",
	           "ind/.cache/torchinductor/triton/0",
	           "/home/serve/.cache/torchinductor",
	           text("%s/torchinductor_x", test_folder()));
}

TEST(emit, to_the_recorded_place_gives_the_recorded_bytes)
{
	unpack("triton-3.6.0-h100", "h100");
	forge_collect("h100/.triton/cache", NULL, false, "a.tkb");
	CHECK_DID(emit_once("a.tkb", "recorded"), 17, 0, 0);
	copy_folder("recorded", "copy");
	forge_collect("recorded", NULL, false, "b.tkb");
	CHECK_DID(emit_once("b.tkb", "elsewhere"), 17, 0, 0);
	remove_folder("recorded");

	CHECK_DID(emit_once("b.tkb", "recorded"), 17, 0, 0);
	check_root("recorded", "copy", "", "");
}

TEST(emit, restores_paths_in_other_json_files_too)
{
	unpack("triton-3.6.0-cpu", "forged");
	edit_file("forged/.triton/cache/" FORGE_KERNEL "/add_kernel.json",
	          "{\"hash\"",
	          "{\"dump\": \"/home/serve/.triton/cache/" FORGE_KERNEL
	          "/x\", \"hash\"");
	forge_collect("forged/.triton/cache", FORGE_KERNEL, false, "a.tkb");

	CHECK_DID(emit_once("a.tkb", "out"), 1, 0, 0);
	CHECK_CONTAINS(read_file(KERNEL_FOLDER "/add_kernel.json").data,
	               text("{\"dump\": \"%s/" KERNEL_FOLDER "/x\", \"hash\"",
	                    test_folder()));
	CHECK_DID(emit_once("a.tkb", "out"), 0, 1, 0);
	distrust();
	CHECK_DID(emit_once("a.tkb", "out"), 0, 1, 0);
}

TEST(emit, of_no_entries_does_nothing)
{
	CHECK_INT(mkdir("empty", 0777), 0);
	forge_collect("empty", NULL, false, "a.tkb");

	CHECK_DID(emit_once("a.tkb", "out"), 0, 0, 0);
	CHECK_INT(run(program(), "emit", "a.tkb", "out", NULL).status, 0);
}

TEST(emit, leaves_a_whole_entry_alone)
{
	arrange();
	const char *before = tree("out");

	CHECK_DID(emit_once("a.tkb", "out"), 0, 1, 0);
	CHECK_STR(tree("out"), before);
}

TEST(emit, leaves_a_full_entry_where_a_lean_one_is_to_go)
{
	arrange();
	forge_collect("forged/.triton/cache", FORGE_KERNEL, true, "lean.tkb");

	CHECK_DID(emit_once("lean.tkb", "out"), 0, 1, 0);
	check_good();
}

TEST(emit, leaves_a_lean_entry_where_a_full_one_is_to_go)
{
	arrange();
	forge_collect("forged/.triton/cache", FORGE_KERNEL, true, "lean.tkb");
	remove_folder("out");
	CHECK_DID(emit_once("lean.tkb", "out"), 1, 0, 0);
	CHECK_INT(count_names(KERNEL_FOLDER), 3);
	distrust();

	CHECK_DID(emit_once("a.tkb", "out"), 0, 1, 0);
	CHECK_INT(count_names(KERNEL_FOLDER), 3);
}

TEST(emit, leaves_another_compile_of_the_kernel_alone)
{
	arrange();
	edit_file(KERNEL_FOLDER "/add_kernel.ptx", "//", "// another\n//");
	edit_file(KERNEL_FOLDER "/add_kernel.json", "\"num_stages\": 3",
	          "\"num_stages\": 30");
	const char *before = tree("out");

	CHECK_DID(emit_once("a.tkb", "out"), 0, 1, 0);
	CHECK_STR(tree("out"), before);
}

TEST(emit, leaves_a_whole_entry_alone_though_a_compiler_writes_there)
{
	arrange();
	CHECK_INT(mkdir(KERNEL_FOLDER "/tmp.pid_1_2", 0777), 0);

	CHECK_DID(emit_once("a.tkb", "out"), 0, 1, 0);
	CHECK(exists(KERNEL_FOLDER "/tmp.pid_1_2"));
}

TEST(emit, rewrites_the_group_file_alone_of_what_was_moved)
{
	arrange();
	CHECK_INT(rename("out", "moved"), 0);
	struct stat folder = stat_of("moved/" FORGE_KERNEL);
	struct stat group =
		stat_of("moved/" FORGE_KERNEL "/__grp__add_kernel.json");
	struct stat cubin = stat_of("moved/" FORGE_KERNEL "/add_kernel.cubin");

	CHECK_DID(emit_once("a.tkb", "moved"), 0, 0, 1);
	check_root("moved", "good", text("%s/out", test_folder()),
	           text("%s/moved", test_folder()));
	CHECK_INT(stat_of("moved/" FORGE_KERNEL).st_ino, folder.st_ino);
	CHECK_INT(stat_of("moved/" FORGE_KERNEL "/add_kernel.cubin").st_ino,
	          cubin.st_ino);
	CHECK(stat_of("moved/" FORGE_KERNEL "/__grp__add_kernel.json").st_ino !=
	      group.st_ino);
	CHECK_INT(count_stages("moved"), 0);
}

TEST(emit, readdresses_another_compile_that_was_moved)
{
	arrange();
	edit_file(KERNEL_FOLDER "/add_kernel.ptx", "//", "// another\n//");
	copy_folder("out", "moved");

	CHECK_DID(emit_once("a.tkb", "moved"), 0, 0, 1);
	check_root("moved", "out", text("%s/out", test_folder()),
	           text("%s/moved", test_folder()));
	CHECK_DID(emit_once("a.tkb", "moved"), 0, 1, 0);
}

/* A folder in which a compiler made its temporary one so long ago. */
static void make_unfinished(time_t age)
{
	const char *path = KERNEL_FOLDER "/tmp.pid_77_abc";
	const struct timespec times[] = { { .tv_sec = time(NULL) - age },
		                          { .tv_sec = time(NULL) - age } };

	remove_folder(KERNEL_FOLDER);
	CHECK_INT(mkdir(KERNEL_FOLDER, 0777), 0);
	CHECK_INT(mkdir(path, 0777), 0);
	CHECK_INT(utimensat(AT_FDCWD, path, times, 0), 0);
}

TEST(emit, leaves_a_folder_to_the_compiler_that_writes_there)
{
	arrange();
	make_unfinished(9 * 60);
	struct did did = emit_once("a.tkb", "out");

	CHECK_FAILS(did.rc, TKB_ERR_PARTIAL, &did.err,
	            "entry '" FORGE_KERNEL "': a compiler is writing there");
	CHECK_INT(did.err.reason, TKB_REASON_BUSY);
	CHECK_INT(did.report.busy_count, 1);
	CHECK_INT(did.report.skipped_count, 0);
	CHECK_INT(did.last.outcome, TKB_OUTCOME_SKIPPED);
	CHECK_INT(did.last.reason, TKB_REASON_BUSY);
	CHECK_INT(count_names(KERNEL_FOLDER), 1);
	struct outcome outcome = run(program(), "emit", "a.tkb", "out", NULL);
	CHECK_INT(outcome.status, 4);
	CHECK_CONTAINS(outcome.err, FORGE_KERNEL);
	CHECK_CONTAINS(outcome.err, "busy");
	CHECK_INT(count_names(KERNEL_FOLDER), 1);
}

TEST(emit, fills_a_folder_that_a_compiler_left_long_ago)
{
	arrange();
	make_unfinished(11 * 60);

	CHECK_DID(emit_once("a.tkb", "out"), 0, 0, 1);
	CHECK(exists(KERNEL_FOLDER "/tmp.pid_77_abc"));
	CHECK_INT(rmdir(KERNEL_FOLDER "/tmp.pid_77_abc"), 0);
	check_good();
}

TEST(emit, fills_an_empty_folder_without_moving_it)
{
	arrange();
	remove_folder(KERNEL_FOLDER);
	CHECK_INT(mkdir(KERNEL_FOLDER, 0700), 0);
	struct stat folder = stat_of(KERNEL_FOLDER);

	check_repaired();
	CHECK_INT(stat_of(KERNEL_FOLDER).st_ino, folder.st_ino);
	CHECK_INT(stat_of(KERNEL_FOLDER).st_mode, folder.st_mode);
}

TEST(emit, repairs_an_entry_that_lacks_any_file)
{
	arrange();
	EACH(i, kernel_files) {
		CHECK_INT(unlink(text(KERNEL_FOLDER "/%s", kernel_files[i])),
		          0);

		check_repaired();
		distrust();
	}
}

TEST(emit, replaces_every_file_of_what_it_repairs)
{
	struct stat before[TKB_COUNT_OF(kernel_files)];

	arrange();
	CHECK_INT(unlink(KERNEL_FOLDER "/add_kernel.cubin"), 0);
	EACH(i, kernel_files)
		before[i] = stat_of(text(
			"%s/%s", i == 1 ? "good/" FORGE_KERNEL : KERNEL_FOLDER,
			kernel_files[i]));

	CHECK_DID(emit_once("a.tkb", "out"), 0, 0, 1);
	EACH(i, kernel_files)
		CHECK(stat_of(text(KERNEL_FOLDER "/%s", kernel_files[i]))
		              .st_ino != before[i].st_ino);
}

TEST(emit, repairs_an_entry_of_which_any_file_is_empty)
{
	arrange();
	EACH(i, kernel_files) {
		write_text(text(KERNEL_FOLDER "/%s", kernel_files[i]), "");

		check_repaired();
		distrust();
	}
}

/* A text that is cut short may be another compile's; these cannot. */
TEST(emit, repairs_an_entry_of_which_a_file_is_cut_short)
{
	arrange();
	for (size_t i = 0; i < 3; i++) {
		const char *path = text(KERNEL_FOLDER "/%s", kernel_files[i]);

		CHECK_INT(truncate(path, stat_of(path).st_size / 2), 0);
		check_repaired();
		distrust();

		CHECK_INT(truncate(path, stat_of(path).st_size - 1), 0);
		check_repaired();
		distrust();
	}
}

TEST(emit, repairs_an_entry_of_which_a_text_was_never_written)
{
	char zeros[4000] = "";

	arrange();
	write_file(KERNEL_FOLDER "/add_kernel.ptx",
	           (struct tkb_bytes){ zeros, sizeof(zeros) });

	check_repaired();
}

TEST(emit, repairs_an_entry_with_damaged_metadata)
{
	static const char *const texts[] = { "not JSON", "{}", "[]",
		                             "{\"hash\": 1}" };

	arrange();
	EACH(i, texts) {
		write_text(KERNEL_FOLDER "/add_kernel.json", texts[i]);
		check_repaired();
		distrust();
	}
	edit_file(KERNEL_FOLDER "/add_kernel.json", "{\"hash\": \"e8d3",
	          "{\"x\": 1, \"hash\": \"e8d4");
	check_repaired();
}

TEST(emit, repairs_an_entry_with_a_group_file_that_lists_files_elsewhere)
{
	arrange();
	edit_file(GROUP_FILE, "add_kernel.ptx\": \"", "add_kernel.ptx\": \"/x");

	check_repaired();
}

TEST(emit, repairs_an_autotune_file_and_a_module)
{
	static const char *const keys[] = { "XU5DT2AO" };

	unpack("triton-3.6.0-h100", "h100");
	forge_collect("h100/.triton/cache", keys[0], false, "a.tkb");
	emit_good();
	const char *module = text("out/%s", list("out")[1]);
	module = text("%s/%s", module, list(module)[0]);
	CHECK_INT(truncate(module, 1000), 0);
	check_repaired();

	unpack("triton-3.6.0-cpu", "forged");
	remove_folder("out");
	remove_folder("good");
	forge_collect("forged/.triton/cache", FORGE_AUTOTUNE, false, "a.tkb");
	emit_good();
	write_text("out/" FORGE_AUTOTUNE "/gelu_kernel.autotune.json", "{");
	check_repaired();
}

/* Something that is no folder stands where the entry should. */
static void check_unsafe(void)
{
	const struct stat before = stat_of(KERNEL_FOLDER);
	struct did did = emit_once("a.tkb", "out");

	CHECK_FAILS(did.rc, TKB_ERR_PARTIAL, &did.err,
	            FORGE_KERNEL "' is not a folder");
	CHECK_INT(did.err.reason, TKB_REASON_UNSAFE);
	CHECK_INT(did.report.unsafe_count, 1);
	CHECK_INT(did.report.emitted_count, 0);
	CHECK_INT(did.last.outcome, TKB_OUTCOME_FAILED);
	CHECK_INT(did.last.reason, TKB_REASON_UNSAFE);
	CHECK_CONTAINS(did.message, FORGE_KERNEL "' is not a folder");
	struct outcome outcome = run(program(), "emit", "a.tkb", "out", NULL);
	CHECK_INT(outcome.status, 5);
	CHECK_CONTAINS(outcome.err, FORGE_KERNEL);
	CHECK_INT(stat_of(KERNEL_FOLDER).st_ino, before.st_ino);
	CHECK_INT(stat_of(KERNEL_FOLDER).st_mode, before.st_mode);
}

TEST(emit, refuses_what_is_no_folder_in_the_place_of_an_entry)
{
	arrange();
	remove_folder(KERNEL_FOLDER);
	write_text(KERNEL_FOLDER, "mine");
	check_unsafe();
	CHECK_STR(read_file(KERNEL_FOLDER).data, "mine");

	/* A link that leads nowhere, and to a folder. */
	CHECK_INT(unlink(KERNEL_FOLDER), 0);
	CHECK_INT(symlink("../elsewhere", KERNEL_FOLDER), 0);
	check_unsafe();
	CHECK(!exists("elsewhere"));
	CHECK_INT(mkdir("elsewhere", 0777), 0);
	check_unsafe();
	CHECK_INT(count_names("elsewhere"), 0);
}

TEST(emit, replaces_links_among_the_files_and_writes_nothing_through_them)
{
	arrange();
	EACH(i, kernel_files) {
		const char *path = text(KERNEL_FOLDER "/%s", kernel_files[i]);

		copy_folder(path, text("kept%zu", i));
		CHECK_INT(unlink(path), 0);
		CHECK_INT(symlink(text("../../kept%zu", i), path), 0);
		check_repaired();
		CHECK(S_ISREG(stat_of(path).st_mode));
		CHECK(tkb_bytes_equal(read_file(text("kept%zu", i)),
		                      read_file(text("good/" FORGE_KERNEL "/%s",
		                                     kernel_files[i]))));
		distrust();
	}
}

/* With a mark, sizes alone are compared: those of links may be the same. */
TEST(emit, with_a_mark_still_replaces_links_among_the_files)
{
	static const char path[] = KERNEL_FOLDER "/add_kernel.json";
	char target[2048] = "";

	arrange();
	remove_folder("out");
	CHECK_DID(emit_once("a.tkb", "out"), 1, 0, 0);
	size_t size = (size_t)stat_of(path).st_size;
	copy_folder(path, "kept");

	CHECK_INT(unlink(path), 0);
	CHECK_INT(symlink("../../kept", path), 0);
	check_repaired();
	CHECK(S_ISREG(stat_of(path).st_mode));

	CHECK(size < sizeof(target));
	memset(target, '/', size);
	CHECK_INT(unlink(path), 0);
	CHECK_INT(symlink(target, path), 0);
	CHECK_INT(stat_of(path).st_size, size);
	check_repaired();
	CHECK(S_ISREG(stat_of(path).st_mode));
}

TEST(emit, does_not_hang_at_a_fifo_among_the_files)
{
	arrange();
	for (size_t i = 0; i < 3; i++) {
		const char *path = text(KERNEL_FOLDER "/%s", kernel_files[i]);

		CHECK_INT(unlink(path), 0);
		CHECK_INT(mkfifo(path, 0666), 0);
		check_repaired();
		distrust();
	}
}

TEST(emit, refuses_a_folder_in_the_place_of_a_file)
{
	arrange();
	CHECK_INT(unlink(KERNEL_FOLDER "/add_kernel.cubin"), 0);
	CHECK_INT(mkdir(KERNEL_FOLDER "/add_kernel.cubin", 0777), 0);
	struct did did = emit_once("a.tkb", "out");

	CHECK_INT(did.report.unsafe_count, 1);
	CHECK_INT(did.last.reason, TKB_REASON_UNSAFE);
	CHECK_CONTAINS(did.message, "add_kernel.cubin");
	CHECK(!exists(GROUP_FILE));
	CHECK_INT(count_stages("out"), 0);
}

TEST(emit, goes_on_with_the_others_where_one_place_is_unsafe)
{
	pack_key(NULL);
	CHECK_INT(mkdir("out", 0777), 0);
	write_text(KERNEL_FOLDER, "mine");
	struct did did = emit_once("a.tkb", "out");

	CHECK_INT(did.rc, TKB_ERR_PARTIAL);
	CHECK_INT(did.report.emitted_count, 4);
	CHECK_INT(did.report.unsafe_count, 1);
	CHECK_INT(did.told, 5);
}

TEST(emit, writes_nothing_through_a_link_in_the_place_of_its_own_folder)
{
	arrange();
	remove_folder(KERNEL_FOLDER);
	CHECK_INT(mkdir("elsewhere", 0777), 0);
	CHECK_INT(symlink("../elsewhere", "out/.tkbundle"), 0);
	struct did did = emit_once("a.tkb", "out");

	CHECK_INT(did.rc, TKB_ERR_IO);
	CHECK_CONTAINS(did.err.message, ".tkbundle");
	CHECK_INT(count_names("elsewhere"), 0);
	CHECK_INT(count_names("out"), 1);
}

/* What Python would have written: Triton's json.dumps of os.path.join. */
static const char python[] =
	"import json, os, sys\n"
	"folder = os.fsdecode(os.fsencode(sys.argv[1]))\n"
	"path = os.path.join(folder, '__grp__add_kernel.json')\n"
	"text = open(path, 'rb').read()\n"
	"names = json.loads(text)['child_paths']\n"
	"paths = {name: os.path.join(folder, name) for name in names}\n"
	"assert len(paths) == 7, paths\n"
	"want = json.dumps({'child_paths': paths}).encode('ascii')\n"
	"assert text == want, (text, want)\n"
	"assert all(os.path.exists(p) for p in "
	"json.loads(text)['child_paths'].values())\n";

static void check_python(const char *folder)
{
	struct outcome outcome = run("python3", "-c", python, folder, NULL);
	if (outcome.status != 0)
		fail_msg("%s", outcome.err);
}

TEST(emit, escapes_its_path_as_python_does)
{
	static const char *const names[] = {
		"caf\xc3\xa9",       "a \"quoted\" name", "back\\slash",
		"\xff\xfe not \xc3", "tab\tand\nnewline", "\x7f\x1b[0m",
		"\xf0\x9f\x9a\x80",  "\xed\xa0\x80",      "slash\\u002f",
	};

	pack_key(FORGE_KERNEL);
	EACH(i, names) {
		CHECK_DID(emit_once("a.tkb", names[i]), 1, 0, 0);
		check_python(
			text("%s/%s/" FORGE_KERNEL, test_folder(), names[i]));
		CHECK_DID(emit_once("a.tkb", names[i]), 0, 1, 0);
		remove_folder(text("%s/.tkbundle", names[i]));
		CHECK_DID(emit_once("a.tkb", names[i]), 0, 1, 0);
	}
}

TEST(emit, writes_its_root_absolute_however_it_is_given)
{
	static const char *const roots[] = {
		"out", "out/", "./out", "out//", ".//out/.", "link/../out"
	};
	static const char *const places[] = { "out", "out", "out",
		                              "out", "out", "link/../out" };

	pack_key(FORGE_KERNEL);
	CHECK_INT(mkdir("link", 0777), 0);
	EACH(i, roots) {
		CHECK_DID(emit_once("a.tkb", roots[i]), 1, 0, 0);
		check_entry(KERNEL_FOLDER, "forged/.triton/cache/" FORGE_KERNEL,
		            "/home/serve/.triton/cache",
		            text("%s/%s", test_folder(), places[i]));
		remove_folder("out");
	}
}

TEST(emit, through_a_link_names_the_link)
{
	arrange();
	CHECK_INT(mkdir("real", 0777), 0);
	CHECK_INT(symlink("real", "link"), 0);

	CHECK_DID(emit_once("a.tkb", "link"), 1, 0, 0);
	check_root("real", "good", text("%s/out", test_folder()),
	           text("%s/link", test_folder()));
	CHECK_DID(emit_once("a.tkb", "link"), 0, 1, 0);
}

TEST(emit, makes_the_folders_above_its_root)
{
	pack_key(FORGE_KERNEL);

	CHECK_DID(emit_once("a.tkb", "a/b/c"), 1, 0, 0);
	CHECK(exists("a/b/c/" FORGE_KERNEL));
}

TEST(emit, to_a_file_is_refused)
{
	arrange();
	write_text("file", "mine");
	struct did did = emit_once("a.tkb", "file");

	CHECK_INT(did.rc, TKB_ERR_INVALID);
	CHECK_CONTAINS(did.err.message, "file' is not a folder");
	CHECK_STR(read_file("file").data, "mine");
	did = emit_once("a.tkb", "file/root");
	CHECK(did.rc < 0);
}

static int check_mode(const char *path, const struct stat *status, int type,
                      struct FTW *where)
{
	const mode_t mask = umask(0);

	(void)umask(mask);
	(void)where;
	if (type != FTW_D && strstr(path, "/.tkbundle/") != NULL)
		return 0;
	CHECK_INT(status->st_mode & 07777,
	          (type == FTW_D ? 0777 : 0666) & ~mask);
	return 0;
}

TEST(emit, gives_the_modes_that_triton_gives)
{
	static const mode_t masks[] = { 0, 022, 027, 077 };

	pack_key(NULL);
	EACH(i, masks) {
		const mode_t old = umask(masks[i]);

		CHECK_DID(emit_once("a.tkb", "out"), 5, 0, 0);
		CHECK_INT(nftw("out", check_mode, 16, FTW_PHYS), 0);
		CHECK_INT(unlink(KERNEL_FOLDER "/add_kernel.cubin"), 0);
		CHECK_DID(emit_once("a.tkb", "out"), 0, 4, 1);
		CHECK_INT(nftw("out", check_mode, 16, FTW_PHYS), 0);
		(void)umask(old);
		remove_folder("out");
	}
}

TEST(emit, stamps_group_files_unused)
{
	const time_t now = time(NULL);

	pack_key(FORGE_KERNEL);
	CHECK_DID(emit_once("a.tkb", "out"), 1, 0, 0);

	struct stat group = stat_of(GROUP_FILE);
	CHECK_INT(group.st_atim.tv_sec, 0);
	CHECK_INT(group.st_atim.tv_nsec, 0);
	CHECK(group.st_mtim.tv_sec >= now - 2);

	/* To look at it is not to use it. */
	CHECK_DID(emit_once("a.tkb", "out"), 0, 1, 0);
	distrust();
	CHECK_DID(emit_once("a.tkb", "out"), 0, 1, 0);
	CHECK_INT(stat_of(GROUP_FILE).st_atim.tv_sec, 0);
}

TEST(emit, stamps_what_it_readdresses_unused)
{
	arrange();
	CHECK_INT(rename("out", "moved"), 0);
	CHECK_DID(emit_once("a.tkb", "moved"), 0, 0, 1);

	CHECK_INT(stat_of("moved/" FORGE_KERNEL "/__grp__add_kernel.json")
	                  .st_atim.tv_sec,
	          0);
}

/* An Inductor folder whose devices 0 and 1 have the same two entries. */
static void make_two_devices(void)
{
	unpack("triton-3.6.0-cpu", "forged");
	CHECK_INT(mkdir("ind", 0777), 0);
	CHECK_INT(mkdir("ind/triton", 0777), 0);
	for (int i = 0; i < 2; i++) {
		const char *root = text("ind/triton/%d", i);

		CHECK_INT(mkdir(root, 0777), 0);
		copy_folder("forged/.triton/cache/" FORGE_KERNEL,
		            text("%s/" FORGE_KERNEL, root));
		copy_folder("forged/.triton/cache/" FORGE_AUTOTUNE,
		            text("%s/" FORGE_AUTOTUNE, root));
	}
}

static void check_device(int device)
{
	check_root(text("out/triton/%d", device), text("ind/triton/%d", device),
	           "/home/serve/.triton/cache",
	           text("%s/out/triton/%d", test_folder(), device));
}

static void pack_two_devices(void)
{
	make_two_devices();
	forge_collect("ind", NULL, false, "a.tkb");
}

TEST(emit, for_two_devices_links_all_that_holds_no_path)
{
	static const char one[] = "out/triton/0/" FORGE_KERNEL;
	static const char other[] = "out/triton/1/" FORGE_KERNEL;

	pack_two_devices();
	struct did did = emit_once("a.tkb", "out");

	CHECK_DID(did, 4, 0, 0);
	CHECK(did.report.is_inductor);
	EACH(i, kernel_files) {
		const bool is_shared = !is_group(kernel_files[i]);
		const struct stat a =
			stat_of(text("%s/%s", one, kernel_files[i]));
		const struct stat b =
			stat_of(text("%s/%s", other, kernel_files[i]));

		CHECK_INT(a.st_nlink, is_shared ? 2 : 1);
		CHECK_INT(a.st_ino == b.st_ino, is_shared);
	}
	for (int i = 0; i < 2; i++)
		check_device(i);
	forge_collect("out", NULL, false, "b.tkb");
	CHECK(tkb_bytes_equal(read_file("a.tkb"), read_file("b.tkb")));
}

TEST(emit, for_two_devices_copies_what_the_second_lacks)
{
	pack_two_devices();
	CHECK_DID(emit_once("a.tkb", "out"), 4, 0, 0);
	remove_folder("out/triton/1/" FORGE_KERNEL);

	CHECK_DID(emit_once("a.tkb", "out"), 1, 3, 0);
	check_device(1);
}

TEST(emit, goes_to_the_devices_asked_for)
{
	static const uint32_t devices[] = { 3, 1023 };
	struct tkb_emit_options options = { SIZED(options), .devices = devices,
		                            .device_count = 2 };

	pack_two_devices();
	CHECK_DID(emit_with("a.tkb", "out", &options), 4, 0, 0);
	CHECK_INT(count_names("out"), 1);
	CHECK_INT(count_names("out/triton"), 2);
	CHECK(exists("out/triton/3/" FORGE_KERNEL));
	CHECK(exists("out/triton/1023/" FORGE_KERNEL));

	/* A bundle of one device, too, if several are asked for. */
	forge_collect("forged/.triton/cache", FORGE_KERNEL, false, "b.tkb");
	CHECK_DID(emit_with("b.tkb", "other", &options), 2, 0, 0);
	CHECK(exists("other/triton/1023/" FORGE_KERNEL));
}

TEST(emit, chooses_the_layout)
{
	make_two_devices();
	forge_collect("ind", NULL, false, "two.tkb");
	forge_collect("forged/.triton/cache", FORGE_KERNEL, false, "one.tkb");

	CHECK_DID(emit_once("one.tkb", "plain"), 1, 0, 0);
	CHECK(exists("plain/" FORGE_KERNEL));
	CHECK_INT(mkdir("triton_only", 0777), 0);
	CHECK_INT(mkdir("triton_only/triton", 0777), 0);
	CHECK_INT(mkdir("triton_only/triton/x", 0777), 0);
	CHECK_DID(emit_once("one.tkb", "triton_only"), 1, 0, 0);
	CHECK(exists("triton_only/" FORGE_KERNEL));

	CHECK_DID(emit_once("two.tkb", "several"), 4, 0, 0);
	CHECK(exists("several/triton/1/" FORGE_KERNEL));
	CHECK_INT(mkdir("inductor", 0777), 0);
	CHECK_INT(mkdir("inductor/triton", 0777), 0);
	CHECK_INT(mkdir("inductor/triton/5", 0777), 0);
	CHECK_DID(emit_once("one.tkb", "inductor"), 1, 0, 0);
	CHECK(exists("inductor/triton/0/" FORGE_KERNEL));
}

TEST(emit, takes_the_layout_that_is_asked_for)
{
	const struct tkb_emit_options triton = { SIZED(triton),
		                                 .layout = TKB_LAYOUT_TRITON };
	const struct tkb_emit_options inductor = {
		SIZED(inductor), .layout = TKB_LAYOUT_INDUCTOR
	};

	make_two_devices();
	forge_collect("ind", NULL, false, "two.tkb");
	forge_collect("forged/.triton/cache", FORGE_KERNEL, false, "one.tkb");

	CHECK_DID(emit_with("two.tkb", "out", &triton), 2, 0, 0);
	CHECK(exists(KERNEL_FOLDER));
	CHECK_DID(emit_with("one.tkb", "ind2", &inductor), 1, 0, 0);
	CHECK(exists("ind2/triton/0/" FORGE_KERNEL));
}

TEST(emit, takes_kernels_for_the_targets_asked_for_alone)
{
	static const struct {
		struct tkb_target target;
		bool fits;
	} cases[] = {
		{ { "cuda", "90", 32 }, true }, { { "cuda", "90", 0 }, true },
		{ { "cuda", "", 0 }, true },    { { "cuda", NULL, 0 }, true },
		{ { "cuda", "80", 0 }, false }, { { "cuda", "90", 64 }, false },
		{ { "hip", "", 0 }, false },    { { "hip", "90", 32 }, false },
	};

	forge_pair("a.tkb");
	EACH(i, cases) {
		const struct tkb_emit_options options = {
			SIZED(options), .targets = &cases[i].target,
			.target_count = 1
		};
		const struct did did = emit_with("a.tkb", "out", &options);

		/* An autotune file is for any. */
		CHECK_INT(did.rc, 0);
		CHECK_INT(did.report.emitted_count, 1 + cases[i].fits);
		CHECK_INT(did.report.skipped_count, !cases[i].fits);
		CHECK_INT(exists(KERNEL_FOLDER), cases[i].fits);
		if (!cases[i].fits)
			CHECK_INT(did.last.reason, TKB_REASON_TARGET);
		remove_folder("out");
	}
}

TEST(emit, takes_the_keys_asked_for_alone)
{
	static const char *const keys[][2] = {
		{ "5DJU", "OHLE" },
		{ "5DJU", "ZZZ" },
		{ "", "5DJU" },
	};
	struct tkb_emit_options options = { SIZED(options), .keys = keys[0],
		                            .key_count = 1 };

	pack_key(NULL);
	CHECK_DID(emit_with("a.tkb", "out", &options), 1, 0, 0);
	CHECK_INT(count_names("out"), 2);
	CHECK(exists(KERNEL_FOLDER));
	options.key_count = 2;
	CHECK_DID(emit_with("a.tkb", "out", &options), 1, 1, 0);

	options.keys = keys[1];
	CHECK_INT(emit_with("a.tkb", "none", &options).rc, TKB_MISS);
	CHECK(!exists("none"));
	options.keys = keys[2];
	CHECK_INT(emit_with("a.tkb", "none", &options).rc, TKB_ERR_INVALID);
	CHECK(!exists("none"));
}

/* Emit the module, said to be for `platform`. */
static struct did emit_module(const char *platform)
{
	struct forge *forge = forge_open("a.tkb");

	forge_edit(forge, "\"x86_64-glibc2.34-cpython312\"",
	           text("\"%s\"", platform));
	forge_write(forge, "module.tkb");
	remove_folder("out");
	return emit_once("module.tkb", "out");
}

TEST(emit, skips_modules_for_another_machine_or_libc)
{
	struct utsname machine;
	const char *platforms[5];

	(void)uname(&machine);
	unpack("triton-3.6.0-h100", "h100");
	forge_collect("h100/.triton/cache", "XU5DT2AO", false, "a.tkb");
	platforms[0] = "riscv32-glibc2.17-cpython312";
	platforms[1] = text("%s-glibc9.99-cpython312", machine.machine);
	platforms[2] = text("%s-musl-cpython312", machine.machine);
	platforms[3] = text("%sx-glibc2.17-cpython312", machine.machine);
	platforms[4] = "nonsense";

	EACH(i, platforms) {
		const struct did did = emit_module(platforms[i]);

		CHECK_INT(did.rc, 0);
		CHECK_INT(did.report.skipped_count, 1);
		CHECK_INT(did.report.emitted_count, 0);
		CHECK_INT(did.last.reason, TKB_REASON_PLATFORM);
		CHECK(!exists("out") || count_names("out") == 0);
	}
	CHECK_DID(emit_module(text("%s-glibc2.17-cpython312", machine.machine)),
	          1, 0, 0);
}

TEST(emit, takes_the_first_of_two_entries_of_one_key_for_one_place)
{
	const struct tkb_emit_options triton = { SIZED(triton),
		                                 .layout = TKB_LAYOUT_TRITON };

	make_two_devices();
	edit_file("ind/triton/1/" FORGE_KERNEL "/add_kernel.ptx", "//",
	          "// another\n//");
	forge_collect("ind", FORGE_KERNEL, false, "a.tkb");
	struct did did = emit_with("a.tkb", "out", &triton);

	CHECK_INT(did.rc, 0);
	CHECK_INT(did.report.emitted_count, 1);
	CHECK_INT(did.report.skipped_count, 1);
	CHECK_INT(did.last.reason, TKB_REASON_TWIN);
	check_entry(KERNEL_FOLDER, "ind/triton/0/" FORGE_KERNEL,
	            "/home/serve/.triton/cache", text("%s/out", test_folder()));

	CHECK_DID(emit_once("a.tkb", "both"), 2, 0, 0);
	check_entry("both/triton/1/" FORGE_KERNEL, "ind/triton/1/" FORGE_KERNEL,
	            "/home/serve/.triton/cache",
	            text("%s/both/triton/1", test_folder()));
}

TEST(emit, dry_writes_nothing)
{
	arrange();
	CHECK_DID(emit_with("a.tkb", "none", &dry), 1, 0, 0);
	CHECK(!exists("none"));

	CHECK_INT(unlink(KERNEL_FOLDER "/add_kernel.cubin"), 0);
	const char *before = tree("out");
	CHECK_DID(emit_with("a.tkb", "out", &dry), 0, 0, 1);
	CHECK_STR(tree("out"), before);

	remove_folder(KERNEL_FOLDER);
	before = tree("out");
	CHECK_DID(emit_with("a.tkb", "out", &dry), 1, 0, 0);
	CHECK_STR(tree("out"), before);

	CHECK_DID(emit_once("a.tkb", "moved"), 1, 0, 0);
	CHECK_INT(rename("moved", "again"), 0);
	CHECK_INT(mkdir("again/.tkbundle/stage-0123456789abcdef", 0777), 0);
	before = tree("again");
	CHECK_DID(emit_with("a.tkb", "again", &dry), 0, 0, 1);
	CHECK_STR(tree("again"), before);
}

TEST(emit, program_dry_writes_nothing)
{
	pack_two_devices();

	struct outcome outcome =
		run(program(), "emit", "-n", "a.tkb", "none", NULL);
	CHECK_INT(outcome.status, 0);
	CHECK_CONTAINS(outcome.out, "would have emitted 4");
	CHECK(!exists("none"));
}

/* A stage as a killed emit leaves it; `lock` is its lock, opened. */
static int make_stage(const char *name)
{
	const char *stage = text("out/.tkbundle/%s", name);

	CHECK_INT(mkdir(stage, 0777), 0);
	CHECK_INT(mkdir(text("%s/0", stage), 0777), 0);
	write_text(text("%s/0/add_kernel.cubin", stage), "half");
	write_text(text("%s/__grp__1.json", stage), "{}");
	int lock = open(text("%s/lock", stage), O_RDWR | O_CREAT | O_CLOEXEC,
	                0666);
	CHECK(lock >= 0);
	return lock;
}

TEST(emit, removes_the_stages_of_the_dead_and_leaves_those_of_the_living)
{
	arrange();
	CHECK_INT(mkdir("out/.tkbundle", 0777), 0);
	(void)close(make_stage("stage-0000000000000001"));
	(void)close(make_stage("stage-0000000000000002"));
	CHECK_INT(mkdir("out/.tkbundle/stage-0000000000000003", 0777), 0);
	int living = make_stage("stage-0000000000000004");
	CHECK_INT(flock(living, LOCK_EX | LOCK_NB), 0);

	/* Also where there is nothing to emit. */
	CHECK_DID(emit_once("a.tkb", "out"), 0, 1, 0);
	CHECK_INT(count_stages("out"), 1);
	CHECK(exists(
		"out/.tkbundle/stage-0000000000000004/0/add_kernel.cubin"));
	(void)close(living);

	CHECK_DID(emit_once("a.tkb", "out"), 0, 1, 0);
	CHECK_INT(count_stages("out"), 0);
}

TEST(emit, follows_no_link_among_the_stages)
{
	arrange();
	CHECK_INT(mkdir("out/.tkbundle", 0777), 0);
	CHECK_INT(mkdir("elsewhere", 0777), 0);
	write_text("elsewhere/kept", "");
	CHECK_INT(symlink("../../elsewhere",
	                  "out/.tkbundle/stage-0000000000000001"),
	          0);
	(void)close(make_stage("stage-0000000000000002"));
	CHECK_INT(symlink("../../../elsewhere",
	                  "out/.tkbundle/stage-0000000000000002/1"),
	          0);

	CHECK_DID(emit_once("a.tkb", "out"), 0, 1, 0);
	CHECK(exists("elsewhere/kept"));
	CHECK(!exists("out/.tkbundle/stage-0000000000000002"));
}

/* The mark of this boot. */
static const char *mark(void)
{
	const char *boot = read_file("/proc/sys/kernel/random/boot_id").data;

	return text("out/.tkbundle/trusted-%.36s", boot);
}

static const char *id_of(const char *path)
{
	struct tkb_bundle *bundle = test_bundle(path);
	char *hex = test_alloc(TKB_DIGEST_HEX_SIZE);

	tkb_digest_to_hex(tkb_bundle_id(bundle), hex);
	return hex;
}

TEST(emit, marks_each_bundle_as_trusted_since_this_boot)
{
	arrange();
	forge_collect("forged/.triton/cache", NULL, false, "all.tkb");
	CHECK_INT(mkdir("out/.tkbundle", 0777), 0);
	write_text("out/.tkbundle/trusted-00000000-0000-0000-0000-000000000000",
	           text("%s\n", id_of("a.tkb")));

	CHECK_DID(emit_once("a.tkb", "out"), 0, 1, 0);
	CHECK_STR(read_file(mark()).data, text("%s\n", id_of("a.tkb")));
	CHECK_DID(emit_once("all.tkb", "out"), 4, 1, 0);
	CHECK_STR(read_file(mark()).data,
	          text("%s\n%s\n", id_of("a.tkb"), id_of("all.tkb")));
	CHECK_DID(emit_once("a.tkb", "out"), 0, 1, 0);
	CHECK_STR(read_file(mark()).data,
	          text("%s\n%s\n", id_of("a.tkb"), id_of("all.tkb")));
	CHECK(!exists("out/.tkbundle/"
	              "trusted-00000000-0000-0000-0000-000000000000"));
}

TEST(emit, of_a_part_marks_nothing)
{
	static const char *const key = FORGE_KERNEL;
	static const struct tkb_target target = { "cuda", "90", 32 };
	const struct tkb_emit_options by_key = { SIZED(by_key), .keys = &key,
		                                 .key_count = 1 };
	const struct tkb_emit_options by_target = { SIZED(by_target),
		                                    .targets = &target,
		                                    .target_count = 1 };

	arrange();
	CHECK_INT(mkdir("out/.tkbundle", 0777), 0);
	CHECK_DID(emit_with("a.tkb", "out", &by_key), 0, 1, 0);
	CHECK(!exists(mark()));
	CHECK_DID(emit_with("a.tkb", "out", &by_target), 0, 1, 0);
	CHECK(!exists(mark()));

	make_unfinished(0);
	CHECK_INT(emit_once("a.tkb", "out").report.busy_count, 1);
	CHECK(!exists(mark()));
}

static void corrupt_at(const char *path, off_t at)
{
	const int fd = open(path, O_RDWR | O_CLOEXEC);
	char byte = 0;

	CHECK_INT(pread(fd, &byte, 1, at), 1);
	byte ^= 1;
	CHECK_INT(pwrite(fd, &byte, 1, at), 1);
	(void)close(fd);
}

static void corrupt(const char *path)
{
	corrupt_at(path, stat_of(path).st_size / 2);
}

TEST(emit, without_a_mark_finds_any_damage_and_repairs_it)
{
	arrange();
	EACH(i, kernel_files) {
		corrupt(text(KERNEL_FOLDER "/%s", kernel_files[i]));

		check_repaired();
		CHECK(exists(mark()));
		distrust();
	}
}

TEST(emit, with_a_mark_reads_the_group_file_alone)
{
	arrange();
	remove_folder("out");
	CHECK_DID(emit_once("a.tkb", "out"), 1, 0, 0);
	CHECK(exists(mark()));
	corrupt(KERNEL_FOLDER "/add_kernel.cubin");
	corrupt(KERNEL_FOLDER "/add_kernel.ptx");
	CHECK_DID(emit_once("a.tkb", "out"), 0, 1, 0);

	/* In its middle may stand a path, as of an entry that was moved. */
	corrupt_at(GROUP_FILE, 0);
	check_repaired();
}

TEST(emit, with_a_mark_of_another_bundle_trusts_nothing)
{
	arrange();
	CHECK_INT(mkdir("out/.tkbundle", 0777), 0);
	write_text(mark(), text("%s\n", forge_digest(tkb_text("another"))));
	corrupt(KERNEL_FOLDER "/add_kernel.cubin");

	check_repaired();
}

TEST(emit, with_a_mark_still_finds_what_is_missing_or_cut_short)
{
	arrange();
	remove_folder("out");
	CHECK_DID(emit_once("a.tkb", "out"), 1, 0, 0);

	CHECK_INT(truncate(KERNEL_FOLDER "/add_kernel.cubin", 100), 0);
	CHECK_DID(emit_once("a.tkb", "out"), 0, 0, 1);
	CHECK_INT(unlink(KERNEL_FOLDER "/add_kernel.ptx"), 0);
	check_repaired();
}

TEST(emit, can_sync)
{
	const struct tkb_emit_options options = { SIZED(options),
		                                  .is_synced = true };

	pack_two_devices();

	CHECK_DID(emit_with("a.tkb", "out", &options), 4, 0, 0);
	CHECK_DID(emit_with("a.tkb", "out", &options), 0, 4, 0);
	for (int i = 0; i < 2; i++) {
		check_device(i);
		CHECK_INT(count_stages(text("out/triton/%d", i)), 0);
	}
}

static int emit_to_out(struct tkb_error *err)
{
	struct tkb_bundle *bundle = test_bundle("a.tkb");

	return tkb_emit(bundle, "out", NULL, NULL, err);
}

/* Fails unless the one entry is there. */
static int emit_what_is_there(struct tkb_error *err)
{
	struct tkb_bundle *bundle = test_bundle("a.tkb");
	struct tkb_emit_report report = { SIZED(report) };

	int rc = tkb_emit(bundle, "out", NULL, &report, err);
	return rc == 0 && report.present_count != 1
	               ? tkb_fail(err, TKB_ERR_INVALID, "it is not present")
	               : rc;
}

TEST(emit, to_a_root_that_cannot_be_written_fails_and_says_so_once)
{
	struct outcome outcome;

	arrange();
	remove_folder(KERNEL_FOLDER);
	CHECK_INT(chmod("out", 0555), 0);
	struct refusal refusal = as_nobody("out", emit_to_out);

	CHECK_INT(refusal.rc, TKB_ERR_IO);
	CHECK_CONTAINS(refusal.err.message, text("'%s/out'", test_folder()));
	CHECK_CONTAINS(refusal.err.message, "Permission denied");
	CHECK_INT(count_names("out"), 0);

	if (geteuid() == 0)
		outcome = run("setpriv", "--reuid=65534", "--regid=65534",
		              "--clear-groups", program(), "emit", "a.tkb",
		              "out", NULL);
	else
		outcome = run(program(), "emit", "a.tkb", "out", NULL);
	if (outcome.status >= 126) {
		print_message("nobody cannot run '%s'\n", program());
		skip();
	}
	CHECK_INT(outcome.status, 1);
	CHECK_CONTAINS(outcome.err, "Permission denied");
	CHECK(strchr(outcome.err, '\n') ==
	      outcome.err + strlen(outcome.err) - 1);
}

TEST(emit, of_what_is_there_does_without_the_right_to_write)
{
	arrange();
	CHECK_INT(chmod("out", 0555), 0);
	const char *before = tree("out");
	struct refusal refusal = as_nobody("out", emit_what_is_there);

	CHECK_OK(refusal.rc, &refusal.err);
	CHECK_STR(tree("out"), before);
	CHECK_INT(chmod("out", 0777), 0);
}

TEST(emit, of_what_is_there_does_so_below_its_own_folder_too)
{
	arrange();
	CHECK_INT(mkdir("out/.tkbundle", 0555), 0);
	CHECK_INT(chmod("out", 0555), 0);
	const char *before = tree("out");
	struct refusal refusal = as_nobody("out", emit_what_is_there);

	CHECK_OK(refusal.rc, &refusal.err);
	CHECK_STR(tree("out"), before);
	CHECK_INT(chmod("out", 0777), 0);
}

TEST(emit, of_what_is_there_writes_nothing_and_exits_0)
{
	pack_key(NULL);
	CHECK_DID(emit_once("a.tkb", "out"), 5, 0, 0);
	const char *before = tree("out");

	struct outcome outcome = run(program(), "emit", "a.tkb", "out", NULL);
	CHECK_INT(outcome.status, 0);
	CHECK_CONTAINS(outcome.out, "emitted 0, present 5, repaired 0");
	CHECK_STR(tree("out"), before);
}

/* A thread that emits, when all are ready. */
struct racer {
	pthread_t thread;
	pthread_barrier_t *barrier;
	const struct tkb_bundle *bundle;
	struct tkb_emit_report report;
	int rc;
};

static void *race(void *argument)
{
	struct racer *racer = argument;
	const struct tkb_emit_options options = { SIZED(options),
		                                  .threads = 2 };

	(void)pthread_barrier_wait(racer->barrier);
	racer->rc =
		tkb_emit(racer->bundle, "out", &options, &racer->report, NULL);
	return NULL;
}

static void run_race(struct racer *racers, size_t count)
{
	pthread_barrier_t barrier;

	CHECK_INT(pthread_barrier_init(&barrier, NULL, (unsigned)count), 0);
	for (size_t i = 0; i < count; i++) {
		racers[i].barrier = &barrier;
		racers[i].report.struct_size = sizeof(racers[i].report);
		CHECK_INT(pthread_create(&racers[i].thread, NULL, race,
		                         &racers[i]),
		          0);
	}
	for (size_t i = 0; i < count; i++) {
		(void)pthread_join(racers[i].thread, NULL);
		CHECK_INT(racers[i].rc, 0);
	}
	(void)pthread_barrier_destroy(&barrier);
}

TEST(emit, by_several_at_once_gives_each_entry_once)
{
	pack_key(NULL);
	struct tkb_bundle *bundle = test_bundle("a.tkb");
	for (size_t round = 0; round < 10; round++) {
		struct racer racers[4] = { 0 };
		uint64_t emitted = 0;

		EACH(i, racers)
			racers[i].bundle = bundle;
		run_race(racers, TKB_COUNT_OF(racers));
		EACH(i, racers) {
			emitted += racers[i].report.emitted_count;
			CHECK_INT(racers[i].report.emitted_count +
			                  racers[i].report.present_count,
			          5);
		}
		CHECK_INT(emitted, 5);
		check_root("out", "forged/.triton/cache",
		           "/home/serve/.triton/cache",
		           text("%s/out", test_folder()));
		CHECK_INT(count_stages("out"), 0);
		remove_folder("out");
	}
}

TEST(emit, of_different_bundles_at_once_gives_whole_entries)
{
	unpack("triton-3.6.0-cpu", "forged");
	forge_collect("forged/.triton/cache", NULL, false, "full.tkb");
	forge_collect("forged/.triton/cache", NULL, true, "lean.tkb");
	struct tkb_bundle *full = test_bundle("full.tkb");
	struct tkb_bundle *lean = test_bundle("lean.tkb");
	for (size_t round = 0; round < 10; round++) {
		struct racer racers[4] = { 0 };

		/* Empty folders are filled file by file. */
		CHECK_INT(mkdir("out", 0777), 0);
		CHECK_INT(mkdir(KERNEL_FOLDER, 0777), 0);
		EACH(i, racers)
			racers[i].bundle = i % 2 == 0 ? full : lean;
		run_race(racers, TKB_COUNT_OF(racers));
		forge_collect("out", NULL, false, "b.tkb");
		CHECK_INT(forge_open("b.tkb")->frames[0].member_count >=
		                  1 + 4 * 3,
		          1);
		CHECK_INT(count_stages("out"), 0);
		remove_folder("out");
	}
}

/* Cancel at each question in turn, until nobody asks so often. */
static void check_cancelled(bool is_synced)
{
	struct tkb_bundle *bundle = test_bundle("a.tkb");
	unsigned patience = 0;
	int rc = TKB_ERR_CANCELLED;

	for (; rc == TKB_ERR_CANCELLED; patience++) {
		struct countdown own = { .left = patience };
		const struct tkb_emit_options options = {
			SIZED(options),
			.watch = &CHOSEN(tkb_watch, .self = &own,
			                 .is_cancelled = is_counted_down),
			.is_synced = is_synced,
			.threads = patience % 2 + 1,
		};

		rc = tkb_emit(bundle, "out", &options, NULL, ERR);
		CHECK(rc == 0 || rc == TKB_ERR_CANCELLED);
		CHECK(patience < 100);
		CHECK_INT(count_stages("out"), 0);
		const char **names = list("out");
		for (size_t i = 0; names[i] != NULL; i++) {
			if (names[i][0] != '.')
				check_entry(text("out/%s", names[i]),
				            text("forged/.triton/cache/%s",
				                 names[i]),
				            "/home/serve/.triton/cache",
				            text("%s/out", test_folder()));
		}
		CHECK(rc == 0 || !exists(mark()));
		remove_folder("out");
	}
	CHECK(patience > 5);
}

TEST(emit, cancelled_leaves_whole_entries_and_nothing_else)
{
	pack_key(NULL);

	check_cancelled(false);
	check_cancelled(true);
}

TEST(emit, tells_how_far_it_is)
{
	struct countdown patience = { 0 };
	const struct tkb_emit_options options = {
		SIZED(options),
		.watch = &CHOSEN(tkb_watch, .self = &patience,
		                 .on_progress = see_progress),
	};

	pack_two_devices();
	struct tkb_bundle *bundle = test_bundle("a.tkb");

	OK(tkb_emit(bundle, "out", &options, NULL, ERR));
	CHECK(!patience.went_wrong);
	CHECK(patience.total > 0);
	CHECK_INT(patience.done, patience.total);
}

TEST(emit, names_the_place_where_a_staged_root_will_lie)
{
	const char *stage = text("%s/stage", test_folder());
	const char *root = text("%s/srv/cache", stage);
	const struct tkb_emit_options options = { SIZED(options),
		                                  .staged_in = stage };

	struct tkb_bytes group;

	forge_single("a.tkb");
	CHECK_DID(emit_with("a.tkb", root, &options), 1, 0, 0);
	group = read_file(
		text("%s/" FORGE_KERNEL "/__grp__add_kernel.json", root));
	CHECK_CONTAINS(text("%.*s", (int)group.size, (const char *)group.data),
	               "\"/srv/cache/" FORGE_KERNEL "/add_kernel.cubin\"");
}

TEST(emit, refuses_a_root_that_is_not_where_it_is_staged)
{
	const struct tkb_emit_options options = { SIZED(options),
		                                  .staged_in = "/elsewhere" };
	struct did did;

	forge_single("a.tkb");
	did = emit_with("a.tkb", "out", &options);
	CHECK_FAILS(did.rc, TKB_ERR_INVALID, &did.err,
	            "is not below '/elsewhere'");
}
