/* SPDX-License-Identifier: Apache-2.0 */
#include "emitting.h"

#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static const struct tkb_emit_options dry = { SIZED(dry), .is_dry_run = true };

static const char *const fixtures[] = { EVERY_TRITON };

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
	shell("mkdir -p torchinductor_x/triton/0");
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
	SYS(mkdir("empty", 0777));
	forge_collect("empty", NULL, false, "a.tkb");

	CHECK_DID(emit_once("a.tkb", "out"), 0, 0, 0);
	CHECK_INT(run(program(), "emit", "a.tkb", "out", NULL).status, 0);
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
	SYS(mkdir("link", 0777));
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
	shell("mkdir real; ln -s real link");

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
		SYS(nftw("out", check_mode, 16, FTW_PHYS));
		SYS(unlink(KERNEL_FOLDER "/add_kernel.cubin"));
		CHECK_DID(emit_once("a.tkb", "out"), 0, 4, 1);
		SYS(nftw("out", check_mode, 16, FTW_PHYS));
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
	SYS(rename("out", "moved"));
	CHECK_DID(emit_once("a.tkb", "moved"), 0, 0, 1);

	CHECK_INT(stat_of("moved/" FORGE_KERNEL "/__grp__add_kernel.json")
	                  .st_atim.tv_sec,
	          0);
}

/* An Inductor folder whose devices 0 and 1 have the same two entries. */
static void make_two_devices(void)
{
	unpack("triton-3.6.0-cpu", "forged");
	shell("mkdir -p ind/triton/0; cd forged/.triton/cache;"
	      "cp -r " FORGE_KERNEL " " FORGE_AUTOTUNE " %s/ind/triton/0;"
	      "cp -r %s/ind/triton/0 %s/ind/triton/1",
	      test_folder(), test_folder(), test_folder());
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

static const uint32_t asked_for[] = { 3, 1023 };

static const struct {
	const char *name;
	const char *bundle;
	const char *root;
	uint64_t emitted;
	const char *names;   /* in the root, */
	const char *devices; /* and in its folder of devices */
	const char *below;   /* these folders are there */
	enum tkb_layout layout;
	size_t device_count;
} layouts[] = {
	{ "one device", "one.tkb", "plain", 1,
	  .names = ".tkbundle " FORGE_KERNEL },
	{ "into a root that has a folder of no device", "one.tkb", "other", 1,
	  ".tkbundle " FORGE_KERNEL " triton", "x", .below = "triton/x" },
	{ "two devices", "two.tkb", "several", 4, "triton", .devices = "0 1" },
	{ "one device into Inductor's", "one.tkb", "inductor", 1, "triton",
	  "0 5", .below = "triton/5" },
	{ "Triton's is asked for", "two.tkb", "out", 2,
	  .names = ".tkbundle " FORGE_KERNEL " " FORGE_AUTOTUNE,
	  .layout = TKB_LAYOUT_TRITON },
	{ "Inductor's is asked for", "one.tkb", "ind2", 1, "triton",
	  .devices = "0", .layout = TKB_LAYOUT_INDUCTOR },
	{ "devices are asked for", "two.tkb", "far", 4, "triton",
	  .devices = "1023 3", .device_count = 2 },
	{ "devices are asked for, of one", "one.tkb", "farther", 2, "triton",
	  .devices = "1023 3", .device_count = 2 },
};

/* All names in a folder. */
static const char *names_in(const char *folder)
{
	const char **names = list(folder);
	const char *all = names[0];

	for (size_t i = 1; names[i] != NULL; i++)
		all = text("%s %s", all, names[i]);
	return all;
}

TEST(emit, refuses_a_device_that_cannot_be)
{
	const uint32_t devices[] = { 1023, 1024 };
	const struct tkb_emit_options options = { SIZED(options),
		                                  .devices = devices,
		                                  .device_count = 2 };

	forge_single("a.tkb");
	struct did did = emit_with("a.tkb", "out", &options);
	CHECK_FAILS(did.rc, TKB_ERR_INVALID, &did.err,
	            "no device has number 1024");
	CHECK(!exists("out"));
}

TEST(emit, chooses_the_layout_or_takes_the_one_asked_for)
{
	make_two_devices();
	forge_collect("ind", NULL, false, "two.tkb");
	forge_collect("forged/.triton/cache", FORGE_KERNEL, false, "one.tkb");
	EACH(i, layouts) {
		const char *root = layouts[i].root;
		const struct tkb_emit_options options = {
			SIZED(options), .layout = layouts[i].layout,
			.devices = asked_for,
			.device_count = layouts[i].device_count
		};

		test_name_row(layouts[i].name);
		if (layouts[i].below != NULL)
			shell("mkdir -p %s/%s", root, layouts[i].below);
		CHECK_DID(emit_with(layouts[i].bundle, root, &options),
		          layouts[i].emitted, 0, 0);
		CHECK_STR(names_in(root), layouts[i].names);
		if (layouts[i].devices == NULL)
			continue;
		CHECK_STR(names_in(text("%s/triton", root)),
		          layouts[i].devices);
		for (const char **device = list(text("%s/triton", root));
		     *device != NULL; device++)
			CHECK_INT(exists(text("%s/triton/%s/" FORGE_KERNEL,
			                      root, *device)),
			          strcmp(*device, "x") != 0 &&
			                  strcmp(*device, "5") != 0);
	}
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

	SYS(unlink(KERNEL_FOLDER "/add_kernel.cubin"));
	const char *before = tree("out");
	CHECK_DID(emit_with("a.tkb", "out", &dry), 0, 0, 1);
	CHECK_STR(tree("out"), before);

	remove_folder(KERNEL_FOLDER);
	before = tree("out");
	CHECK_DID(emit_with("a.tkb", "out", &dry), 1, 0, 0);
	CHECK_STR(tree("out"), before);

	CHECK_DID(emit_once("a.tkb", "moved"), 1, 0, 0);
	SYS(rename("moved", "again"));
	SYS(mkdir("again/.tkbundle/stage-0123456789abcdef", 0777));
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

	SYS(mkdir(stage, 0777));
	SYS(mkdir(text("%s/0", stage), 0777));
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
	SYS(mkdir("out/.tkbundle", 0777));
	(void)close(make_stage("stage-0000000000000001"));
	(void)close(make_stage("stage-0000000000000002"));
	SYS(mkdir("out/.tkbundle/stage-0000000000000003", 0777));
	int living = make_stage("stage-0000000000000004");
	SYS(flock(living, LOCK_EX | LOCK_NB));

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
	SYS(mkdir("out/.tkbundle", 0777));
	SYS(mkdir("elsewhere", 0777));
	write_text("elsewhere/kept", "");
	SYS(symlink("../../elsewhere", "out/.tkbundle/stage-0000000000000001"));
	(void)close(make_stage("stage-0000000000000002"));
	SYS(symlink("../../../elsewhere",
	            "out/.tkbundle/stage-0000000000000002/1"));

	CHECK_DID(emit_once("a.tkb", "out"), 0, 1, 0);
	CHECK(exists("elsewhere/kept"));
	CHECK(!exists("out/.tkbundle/stage-0000000000000002"));
}

/* A folder that cannot be written keeps its links, wherever they lead. */
TEST(emit, follows_no_link_in_a_folder_of_a_stage_that_cannot_be_written)
{
	const char *folder = "out/.tkbundle/stage-0000000000000001/0";

	arrange();
	SYS(mkdir("out/.tkbundle", 0777));
	SYS(mkdir("elsewhere", 0777));
	write_text("elsewhere/kept", "");
	(void)close(make_stage("stage-0000000000000001"));
	SYS(symlink("../../../../elsewhere", text("%s/link", folder)));
	SYS(chmod(folder, 0555));

	struct outcome outcome = run_powerless("emit", "a.tkb", "out");
	SYS(chmod(folder, 0777));
	if (outcome.status >= 126)
		skip();

	CHECK_INT(outcome.status, 0);
	CHECK(exists(text("%s/link", folder)));
	CHECK(exists("elsewhere/kept"));
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
	SYS(chmod("out", 0555));
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

/* It may be Inductor's, which has its kernels elsewhere. */
TEST(emit, to_a_root_that_cannot_be_listed_says_so)
{
	arrange();
	SYS(chmod("out", 0333));
	struct refusal refusal = as_nobody("out", emit_to_out);

	CHECK_INT(refusal.rc, TKB_ERR_IO);
	CHECK_CONTAINS(refusal.err.message, "cannot list folder");
	CHECK_CONTAINS(refusal.err.message, text("'%s/out'", test_folder()));
}

static void check_present_to_nobody(void)
{
	SYS(chmod("out", 0555));
	const char *before = tree("out");
	struct refusal refusal = as_nobody("out", emit_what_is_there);

	CHECK_OK(refusal.rc, &refusal.err);
	CHECK_STR(tree("out"), before);
	SYS(chmod("out", 0777));
}

TEST(emit, of_what_is_there_does_without_the_right_to_write)
{
	arrange();
	check_present_to_nobody();
}

TEST(emit, of_what_is_there_does_so_below_its_own_folder_too)
{
	arrange();
	SYS(mkdir("out/.tkbundle", 0555));
	check_present_to_nobody();
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
	(void)pthread_barrier_wait(racer->barrier);
	racer->rc = tkb_emit(racer->bundle, "out",
	                     &CHOSEN(tkb_emit_options, .threads = 2),
	                     &racer->report, NULL);
	return NULL;
}

static void run_race(struct racer *racers, size_t count)
{
	pthread_barrier_t barrier;

	SYS(pthread_barrier_init(&barrier, NULL, (unsigned)count));
	for (size_t i = 0; i < count; i++) {
		racers[i].barrier = &barrier;
		racers[i].report.struct_size = sizeof(racers[i].report);
		SYS(pthread_create(&racers[i].thread, NULL, race, &racers[i]));
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

/* More than one part of a stage holds. */
TEST(emit, of_many_entries_by_several_threads_gives_what_one_gives)
{
	uint32_t devices[40];
	struct tkb_emit_options options = {
		SIZED(options),
		.devices = devices,
		.device_count = TKB_COUNT_OF(devices),
		.threads = 1,
	};
	const uint64_t all = 5 * TKB_COUNT_OF(devices);

	EACH(i, devices)
		devices[i] = (uint32_t)i;
	pack_key(NULL);
	CHECK_DID(emit_with("a.tkb", "one", &options), all, 0, 0);
	options.threads = 8;
	CHECK_DID(emit_with("a.tkb", "several", &options), all, 0, 0);
	EACH(i, devices) {
		const char *root = text("several/triton/%zu", i);

		check_root(root, text("one/triton/%zu", i),
		           text("%s/one", test_folder()),
		           text("%s/several", test_folder()));
		CHECK_INT(count_stages(root), 0);
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
		SYS(mkdir("out", 0777));
		SYS(mkdir(KERNEL_FOLDER, 0777));
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
			.watch = count_down(&own),
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
	pack_two_devices();
	struct tkb_bundle *bundle = test_bundle("a.tkb");

	OK(tkb_emit(bundle, "out",
	            &CHOSEN(tkb_emit_options, .watch = look_on(&patience)),
	            NULL, ERR));
	check_told_all(&patience);
}

static void check_staged(const char *stage, const char *root,
                         const char *wanted)
{
	const struct tkb_emit_options options = { SIZED(options),
		                                  .staged_in = stage };

	CHECK_DID(emit_with("a.tkb", root, &options), 1, 0, 0);
	struct tkb_bytes group = read_file(
		text("%s/" FORGE_KERNEL "/__grp__add_kernel.json", root));
	CHECK_CONTAINS(
		text("%.*s", (int)group.size, (const char *)group.data),
		text("\"%s/" FORGE_KERNEL "/add_kernel.cubin\"", wanted));
}

TEST(emit, names_the_place_where_a_staged_root_will_lie)
{
	const char *stage = text("%s/stage", test_folder());

	forge_single("a.tkb");
	check_staged(stage, text("%s/srv/cache", stage), "/srv/cache");
	check_staged(text("%s//", stage), text("%s/srv/other", stage),
	             "/srv/other");
	check_staged("/", text("%s/third", stage), text("%s/third", stage));
}

TEST(emit, refuses_a_root_that_is_not_where_it_is_staged)
{
	const struct tkb_emit_options options = { SIZED(options),
		                                  .staged_in = "/elsewhere" };

	forge_single("a.tkb");
	struct did did = emit_with("a.tkb", "out", &options);
	CHECK_FAILS(did.rc, TKB_ERR_INVALID, &did.err,
	            "is not below '/elsewhere'");
}
