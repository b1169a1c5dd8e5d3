/* SPDX-License-Identifier: Apache-2.0 */
#include "emitting.h"
#include "upkeep.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* What an emit finds in the place of an entry, and what it makes of that. */

static const struct {
	const char *name;
	const char *bundle;
	const char *script; /* in the entry's folder */
	bool starts_lean;   /* the lean entry is there */
} left_alone[] = {
	{ "a whole entry", "a.tkb", .script = ":" },
	{ "a full entry where a lean one is to go", "lean.tkb", .script = ":" },
	{ "a lean entry where a full one is to go", "a.tkb", ":",
	  .starts_lean = true },
	{ "another compile of the kernel", "a.tkb",
	  .script = "sed -i '1i // another' add_kernel.ptx;"
	            "sed -i 's/\"num_stages\": 3/&0/' add_kernel.json;"
	            "grep -q '\"num_stages\": 30' add_kernel.json" },
	{ "a whole entry where a compiler writes", "a.tkb",
	  .script = "mkdir tmp.pid_1_2" },
};

TEST(emit, leaves_alone_what_is_whole)
{
	EACH(i, left_alone) {
		test_name_row(left_alone[i].name);
		shell("rm -rf forged out good");
		arrange();
		forge_collect("forged/.triton/cache", FORGE_KERNEL, true,
		              "lean.tkb");
		if (left_alone[i].starts_lean) {
			remove_folder("out");
			CHECK_DID(emit_once("lean.tkb", "out"), 1, 0, 0);
			CHECK_INT(count_names(KERNEL_FOLDER), 3);
			distrust();
		}
		shell("cd " KERNEL_FOLDER "; %s", left_alone[i].script);
		const char *before = tree("out");

		CHECK_DID(emit_once(left_alone[i].bundle, "out"), 0, 1, 0);
		CHECK_STR(tree("out"), before);
	}
}

TEST(emit, rewrites_the_group_file_alone_of_what_was_moved)
{
	arrange();
	SYS(rename("out", "moved"));
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
	SYS(mkdir(KERNEL_FOLDER, 0777));
	SYS(mkdir(path, 0777));
	SYS(utimensat(AT_FDCWD, path, times, 0));
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
	SYS(rmdir(KERNEL_FOLDER "/tmp.pid_77_abc"));
	check_good();
}

TEST(emit, fills_an_empty_folder_without_moving_it)
{
	arrange();
	remove_folder(KERNEL_FOLDER);
	SYS(mkdir(KERNEL_FOLDER, 0700));
	struct stat folder = stat_of(KERNEL_FOLDER);

	check_repaired();
	CHECK_INT(stat_of(KERNEL_FOLDER).st_ino, folder.st_ino);
	CHECK_INT(stat_of(KERNEL_FOLDER).st_mode, folder.st_mode);
}

TEST(emit, replaces_every_file_of_what_it_repairs)
{
	struct stat before[TKB_COUNT_OF(kernel_files)];

	arrange();
	SYS(unlink(KERNEL_FOLDER "/add_kernel.cubin"));
	EACH(i, kernel_files)
		before[i] = stat_of(text(
			"%s/%s", i == 1 ? "good/" FORGE_KERNEL : KERNEL_FOLDER,
			kernel_files[i]));

	CHECK_DID(emit_once("a.tkb", "out"), 0, 0, 1);
	EACH(i, kernel_files)
		CHECK(stat_of(text(KERNEL_FOLDER "/%s", kernel_files[i]))
		              .st_ino != before[i].st_ino);
}

static void corrupt(const char *path)
{
	flip_bit(path, (uint64_t)stat_of(path).st_size / 2);
}

/* What is done to each file from kernel_files[from] on, before [to]. */
static const struct {
	const char *name;
	const char *script; /* in the entry's folder, of the file $F; */
	size_t from;        /* NULL: a bit is flipped */
	size_t to;
	bool is_marked; /* the bundle is trusted, so that little is read */
} damages[] = {
	{ "no file", "rm $F", .to = 8 },
	{ "an empty file", ": >$F", .to = 8 },
	{ "a wrong bit", NULL, .to = 8 },
	/* A text that is cut short may be another compile's; these cannot. */
	{ "half a file", HALVE_IT, .to = 3 },
	{ "a file without its end", "truncate -s -1 $F", .to = 3 },
	{ "a text of zeros", "head -c 4000 /dev/zero >$F", .from = 4, .to = 5 },
	{ "metadata that is no JSON", "printf 'not JSON' >$F", .from = 2,
	  .to = 3 },
	{ "metadata without a member", "printf {} >$F", .from = 2, .to = 3 },
	{ "metadata that is a list", "printf [] >$F", .from = 2, .to = 3 },
	{ "metadata whose hash is 1", "printf '{\"hash\": 1}' >$F", .from = 2,
	  .to = 3 },
	{ "metadata of another hash",
	  "sed -i 's/{\"hash\": \"e8d3/{\"x\": 1, \"hash\": \"e8d4/' $F",
	  .from = 2, .to = 3 },
	{ "a group file that lists a file elsewhere",
	  "sed -i 's,add_kernel.ptx\": \",&/x,' $F", .to = 1 },
	{ "a link", "mv $F ../../kept; ln -s ../../kept $F", .to = 8 },
	{ "a FIFO", "rm $F; mkfifo $F", .to = 3 },
	{ "a file cut short", "truncate -s 100 $F", .from = 1, .to = 2,
	  .is_marked = true },
	{ "no file", "rm $F", .from = 4, .to = 5, .is_marked = true },
	{ "a link", "mv $F ../../kept; ln -s ../../kept $F", .from = 2, .to = 3,
	  .is_marked = true },
	{ "a link that is as long as the file was",
	  "size=$(stat -c %s $F);"
	  "ln -sf $(head -c $size /dev/zero | tr '\\0' /) $F;"
	  "test $(stat -c %s $F) = $size",
	  .from = 2, .to = 3, .is_marked = true },
};

TEST(emit, repairs_what_is_not_whole)
{
	arrange();
	EACH(i, damages) {
		for (size_t j = damages[i].from; j < damages[i].to; j++) {
			const char *file = kernel_files[j];

			test_name_row(text("%s: %s", damages[i].name, file));
			if (damages[i].is_marked) {
				remove_folder("out");
				CHECK_DID(emit_once("a.tkb", "out"), 1, 0, 0);
			} else {
				distrust();
			}
			if (damages[i].script != NULL)
				shell("cd " KERNEL_FOLDER "; F=%s; %s", file,
				      damages[i].script);
			else
				corrupt(text(KERNEL_FOLDER "/%s", file));

			check_repaired();
			CHECK(exists(mark()));
			shell("test ! -e kept || cmp kept good/" FORGE_KERNEL
			      "/%s; rm -f kept",
			      file);
		}
	}
}

static void emit_good(void)
{
	CHECK_DID(emit_once("a.tkb", "out"), 1, 0, 0);
	copy_folder("out", "good");
}

TEST(emit, repairs_an_autotune_file_and_a_module)
{
	static const char *const keys[] = { "XU5DT2AO" };

	unpack("triton-3.6.0-h100", "h100");
	forge_collect("h100/.triton/cache", keys[0], false, "a.tkb");
	emit_good();
	const char *module = text("out/%s", list("out")[1]);
	module = text("%s/%s", module, list(module)[0]);
	SYS(truncate(module, 1000));
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
static const struct {
	const char *name;
	const char *script;
	const char *still; /* is so afterwards */
} unsafe[] = {
	{ "a file", "printf mine >" KERNEL_FOLDER,
	  "test \"$(cat " KERNEL_FOLDER ")\" = mine" },
	{ "a link that leads nowhere", "ln -s ../elsewhere " KERNEL_FOLDER,
	  "test ! -e elsewhere" },
	{ "a link to a folder",
	  "ln -s ../elsewhere " KERNEL_FOLDER "; mkdir elsewhere",
	  "test -z \"$(ls -A elsewhere)\"" },
};

TEST(emit, refuses_what_is_no_folder_in_the_place_of_an_entry)
{
	arrange();
	EACH(i, unsafe) {
		test_name_row(unsafe[i].name);
		shell("rm -rf " KERNEL_FOLDER "; %s", unsafe[i].script);
		const struct stat before = stat_of(KERNEL_FOLDER);
		const struct did did = emit_once("a.tkb", "out");

		CHECK_FAILS(did.rc, TKB_ERR_PARTIAL, &did.err,
		            FORGE_KERNEL "' is not a folder");
		CHECK_INT(did.err.reason, TKB_REASON_UNSAFE);
		CHECK_INT(did.report.unsafe_count, 1);
		CHECK_INT(did.report.emitted_count, 0);
		CHECK_INT(did.last.outcome, TKB_OUTCOME_FAILED);
		CHECK_INT(did.last.reason, TKB_REASON_UNSAFE);
		CHECK_CONTAINS(did.message, FORGE_KERNEL "' is not a folder");
		struct outcome outcome =
			run(program(), "emit", "a.tkb", "out", NULL);
		CHECK_INT(outcome.status, 5);
		CHECK_CONTAINS(outcome.err, FORGE_KERNEL);
		CHECK_INT(stat_of(KERNEL_FOLDER).st_ino, before.st_ino);
		CHECK_INT(stat_of(KERNEL_FOLDER).st_mode, before.st_mode);
		shell("%s", unsafe[i].still);
	}
}

TEST(emit, refuses_a_folder_in_the_place_of_a_file)
{
	arrange();
	SYS(unlink(KERNEL_FOLDER "/add_kernel.cubin"));
	SYS(mkdir(KERNEL_FOLDER "/add_kernel.cubin", 0777));
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
	SYS(mkdir("out", 0777));
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
	SYS(mkdir("elsewhere", 0777));
	SYS(symlink("../elsewhere", "out/.tkbundle"));
	struct did did = emit_once("a.tkb", "out");

	CHECK_INT(did.rc, TKB_ERR_IO);
	CHECK_CONTAINS(did.err.message, ".tkbundle");
	CHECK_INT(count_names("elsewhere"), 0);
	CHECK_INT(count_names("out"), 1);
}

static const char *id_of(const char *path)
{
	return hex_of(tkb_bundle_id(test_bundle(path)));
}

#define OTHER_MARK "out/.tkbundle/trusted-00000000-0000-0000-0000-00000000000"

TEST(emit, marks_each_bundle_as_trusted_since_this_boot)
{
	arrange();
	forge_collect("forged/.triton/cache", NULL, false, "all.tkb");
	SYS(mkdir("out/.tkbundle", 0777));
	/* One of an earlier boot, and one of a host that shares the root. */
	write_text(OTHER_MARK "0", text("%s\n", id_of("a.tkb")));
	write_text(OTHER_MARK "1", text("%s\n", id_of("a.tkb")));
	age(OTHER_MARK "0", 31 * 24 * 3600);
	age(OTHER_MARK "1", 29 * 24 * 3600);

	CHECK_DID(emit_once("a.tkb", "out"), 0, 1, 0);
	CHECK_STR(read_file(mark()).data, text("%s\n", id_of("a.tkb")));
	CHECK_DID(emit_once("all.tkb", "out"), 4, 1, 0);
	CHECK_STR(read_file(mark()).data,
	          text("%s\n%s\n", id_of("a.tkb"), id_of("all.tkb")));
	CHECK_DID(emit_once("a.tkb", "out"), 0, 1, 0);
	CHECK_STR(read_file(mark()).data,
	          text("%s\n%s\n", id_of("a.tkb"), id_of("all.tkb")));
	CHECK(!exists(OTHER_MARK "0"));
	CHECK(exists(OTHER_MARK "1"));
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
	SYS(mkdir("out/.tkbundle", 0777));
	CHECK_DID(emit_with("a.tkb", "out", &by_key), 0, 1, 0);
	CHECK(!exists(mark()));
	CHECK_DID(emit_with("a.tkb", "out", &by_target), 0, 1, 0);
	CHECK(!exists(mark()));

	make_unfinished(0);
	CHECK_INT(emit_once("a.tkb", "out").report.busy_count, 1);
	CHECK(!exists(mark()));
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
	flip_bit(GROUP_FILE, 0);
	check_repaired();
}

TEST(emit, with_a_mark_of_another_bundle_trusts_nothing)
{
	arrange();
	SYS(mkdir("out/.tkbundle", 0777));
	write_text(mark(), text("%s\n", forge_digest(tkb_text("another"))));
	corrupt(KERNEL_FOLDER "/add_kernel.cubin");

	check_repaired();
}
