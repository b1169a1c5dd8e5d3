/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Emit, pull, push, relocate and the verify of a cache must agree on which
 * entries are whole. Each damage below is done to the one kernel of a cache.
 */

#define KEY "5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA"

TKB_AUTO_POINTER(close_bundle_at, struct tkb_bundle, tkb_bundle_close)

TKB_AUTO_POINTER(close_remote_at, struct tkb_remote, tkb_remote_close)

static struct tkb_remote *open_remote(const char *name)
{
	struct tkb_remote *remote = NULL;

	OK(tkb_remote_open(text("file://%s/%s", test_folder(), name), NULL,
	                   &remote, ERR));
	return remote;
}

struct damage {
	const char *name;
	void (*act)(const char *path);
	const char *file;
};

static void remove_it(const char *path)
{
	SYS(unlink(path));
}

static void empty(const char *path)
{
	SYS(truncate(path, 0));
}

static void halve(const char *path)
{
	struct stat status;

	SYS(stat(path, &status));
	SYS(truncate(path, status.st_size / 2));
}

static void cut_last_byte(const char *path)
{
	struct stat status;

	SYS(stat(path, &status));
	SYS(truncate(path, status.st_size - 1));
}

/* As a file system may leave it after a power failure. */
static void zero(const char *path)
{
	const size_t size = read_file(path).size;

	write_file(path, (struct tkb_bytes){ test_alloc(size), size });
}

static void link_it(const char *path)
{
	SYS(rename(path, "elsewhere"));
	SYS(symlink("../../elsewhere", path));
}

static void change_hash(const char *path)
{
	edit_file(path, "\"hash\": \"e8", "\"hash\": \"e9");
}

static void name_another_file(const char *path)
{
	edit_file(path, "/add_kernel.ptx\"", "/add.ptx\"");
}

/* A stat shows these. */
static const struct damage sizes_of_a_binary[] = {
	{ "no cubin", remove_it, "add_kernel.cubin" },
	{ "an empty cubin", empty, "add_kernel.cubin" },
	{ "half a cubin", halve, "add_kernel.cubin" },
	{ "a cubin without its last byte", cut_last_byte, "add_kernel.cubin" },
};

static const struct damage damages[] = {
	{ "a cubin of zeros", zero, "add_kernel.cubin" },
	{ "a link for a cubin", link_it, "add_kernel.cubin" },
	{ "no metadata", remove_it, "add_kernel.json" },
	{ "empty metadata", empty, "add_kernel.json" },
	{ "half the metadata", halve, "add_kernel.json" },
	{ "metadata of zeros", zero, "add_kernel.json" },
	{ "another hash", change_hash, "add_kernel.json" },
	{ "an empty group file", empty, "__grp__add_kernel.json" },
	{ "half a group file", halve, "__grp__add_kernel.json" },
	{ "a group file of zeros", zero, "__grp__add_kernel.json" },
	{ "a group file that names another file", name_another_file,
	  "__grp__add_kernel.json" },
	{ "no PTX", remove_it, "add_kernel.ptx" },
	{ "empty PTX", empty, "add_kernel.ptx" },
	{ "PTX of zeros", zero, "add_kernel.ptx" },
	{ "an empty IR", empty, "add_kernel.ttir" },
};

/* How many entries of "cache" each calls whole. */
struct verdicts {
	uint64_t emit;
	uint64_t pull;
	uint64_t push;
	uint64_t verify;
	uint64_t relocate;
};

static struct verdicts judge(void)
{
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	TKB_AUTO(close_remote_at) struct tkb_remote *full = open_remote("full");
	TKB_AUTO(close_remote_at)
	struct tkb_remote *none = open_remote("none");
	const struct tkb_collect_options collect_dry = { SIZED(collect_dry),
		                                         .is_dry_run = true };
	const struct tkb_emit_options emit_dry = { SIZED(emit_dry),
		                                   .is_dry_run = true };
	const struct tkb_pull_options pull_dry = { SIZED(pull_dry),
		                                   .emit = &emit_dry };
	const struct tkb_push_options push_dry = { SIZED(push_dry),
		                                   .collect = &collect_dry };
	const struct tkb_relocate_options relocate_dry = { SIZED(relocate_dry),
		                                           .is_dry_run = true };
	struct tkb_emit_report emitted = { SIZED(emitted) };
	struct tkb_pull_report pulled = { SIZED(pulled) };
	struct tkb_push_report pushed = { SIZED(pushed) };
	struct tkb_relocate_report relocated = { SIZED(relocated) };

	OK(tkb_bundle_open("a.tkb", &bundle, ERR));
	OK(tkb_emit(bundle, "cache", &emit_dry, &emitted, ERR));
	OK(tkb_pull(full, "ref", "cache", &pull_dry, &pulled, ERR));
	DONE(tkb_push(none, "ref", "cache", &push_dry, &pushed, ERR),
	     pushed.left_out_count > 0);
	DONE(tkb_relocate("cache", &relocate_dry, &relocated, ERR),
	     relocated.left_out_count > 0);
	struct outcome verified = run(program(), "verify", "cache", NULL);
	CHECK_INT(verified.status == 0, relocated.left_out_count == 0);
	return (struct verdicts){
		.emit = emitted.present_count,
		.pull = 1 - pulled.wanted_count,
		.push = pushed.pushed_count,
		.verify = verified.status == 0,
		.relocate = relocated.present_count + relocated.relocated_count,
	};
}

static void check_verdicts(const char *name, uint64_t wanted)
{
	const struct verdicts got = judge();

	if (got.emit != wanted || got.pull != wanted || got.push != wanted ||
	    got.verify != wanted || got.relocate != wanted)
		fail_msg("%s: emit %d, pull %d, push %d, verify %d, relocate "
		         "%d, and not %d",
		         name, (int)got.emit, (int)got.pull, (int)got.push,
		         (int)got.verify, (int)got.relocate, (int)wanted);
}

static void remove_folder(const char *path)
{
	CHECK_INT(run("rm", "-rf", path, NULL).status, 0);
}

/*
 * One whole kernel in "good", where "cache" will be; its bundle in "a.tkb", and
 * in the remote "full".
 */
static void arrange(void)
{
	static const char *const keys[] = { KEY };
	const struct tkb_collect_options one = { SIZED(one), .keys = keys,
		                                 .key_count = 1 };
	TKB_AUTO(close_bundle_at) struct tkb_bundle *bundle = NULL;
	TKB_AUTO(close_remote_at) struct tkb_remote *full = open_remote("full");

	unpack("triton-3.6.0-cpu", "unpacked");
	OK(tkb_collect_to_file("unpacked/.triton/cache", &one, "a.tkb", NULL,
	                       ERR));
	OK(tkb_bundle_open("a.tkb", &bundle, ERR));
	OK(tkb_emit(bundle, "cache", NULL, NULL, ERR));
	OK(tkb_push(full, "ref", "cache", NULL, NULL, ERR));
	SYS(rename("cache", "good"));
}

static void check_all(const struct damage *all, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		copy_folder("good", "cache");
		all[i].act(text("cache/" KEY "/%s", all[i].file));
		check_verdicts(all[i].name, 0);
		remove_folder("cache");
	}
}

TEST(inspect, calls_no_damaged_entry_whole)
{
	arrange();
	remove_folder("good/.tkbundle");

	check_all(sizes_of_a_binary, TKB_COUNT_OF(sizes_of_a_binary));
	check_all(damages, TKB_COUNT_OF(damages));
}

TEST(inspect, calls_an_undamaged_entry_whole)
{
	arrange();
	remove_folder("good/.tkbundle");
	copy_folder("good", "cache");

	check_verdicts("an undamaged entry", 1);
}

/*
 * The mark says that it was written since boot: texts may not be read then, and
 * of a binary only the size is looked at.
 */
TEST(inspect, calls_no_damaged_binary_whole_though_it_is_trusted)
{
	arrange();
	check_all(sizes_of_a_binary, TKB_COUNT_OF(sizes_of_a_binary));
}
