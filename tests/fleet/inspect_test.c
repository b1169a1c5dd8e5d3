/* SPDX-License-Identifier: Apache-2.0 */
#include "remote_fixture.h"

#include <stdio.h>

/*
 * Emit, pull, push, relocate and the verify of a cache must agree on which
 * entries are whole. Each damage below is done to the one kernel of a cache.
 */

#define KEY "5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA"

static struct tkb_remote *open_remote(const char *name)
{
	return must_open_remote(text("file://%s/%s", test_folder(), name),
	                        NULL);
}

struct damage {
	const char *name;
	const char *file;
	const char *script; /* $F is that */
};

#define GROUP "__grp__add_kernel.json"
/* A stat shows these. */
static const struct damage sizes_of_a_binary[] = {
	{ "no cubin", "add_kernel.cubin", "rm $F" },
	{ "an empty cubin", "add_kernel.cubin", ": >$F" },
	{ "half a cubin", "add_kernel.cubin", HALVE_IT },
	{ "a cubin without its last byte", "add_kernel.cubin",
	  "truncate -s -1 $F" },
};

static const struct damage damages[] = {
	{ "a cubin of zeros", "add_kernel.cubin", ZERO_IT },
	{ "a link for a cubin", "add_kernel.cubin",
	  "mv $F elsewhere; ln -s ../../elsewhere $F" },
	{ "no metadata", "add_kernel.json", "rm $F" },
	{ "empty metadata", "add_kernel.json", ": >$F" },
	{ "half the metadata", "add_kernel.json", HALVE_IT },
	{ "metadata of zeros", "add_kernel.json", ZERO_IT },
	{ "another hash", "add_kernel.json",
	  "sed -i 's/\"hash\": \"e8/\"hash\": \"e9/' $F" },
	{ "an empty group file", GROUP, ": >$F" },
	{ "half a group file", GROUP, HALVE_IT },
	{ "a group file of zeros", GROUP, ZERO_IT },
	{ "a group file that names another file", GROUP,
	  "sed -i 's,/add_kernel.ptx\",/add.ptx\",' $F" },
	{ "no PTX", "add_kernel.ptx", "rm $F" },
	{ "empty PTX", "add_kernel.ptx", ": >$F" },
	{ "PTX of zeros", "add_kernel.ptx", ZERO_IT },
	{ "an empty IR", "add_kernel.ttir", ": >$F" },
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
	struct tkb_remote *full = open_remote("full");
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

	OK(tkb_emit(test_bundle("a.tkb"), "cache", &emit_dry, &emitted, ERR));
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

static void check_verdicts(uint64_t wanted)
{
	const struct verdicts got = judge();

	if (got.emit != wanted || got.pull != wanted || got.push != wanted ||
	    got.verify != wanted || got.relocate != wanted)
		fail_msg("emit %d, pull %d, push %d, verify %d, relocate %d, "
		         "and not %d",
		         (int)got.emit, (int)got.pull, (int)got.push,
		         (int)got.verify, (int)got.relocate, (int)wanted);
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
	unpack("triton-3.6.0-cpu", "unpacked");
	OK(tkb_collect_to_file("unpacked/.triton/cache", &one, "a.tkb", NULL,
	                       ERR));
	OK(tkb_emit(test_bundle("a.tkb"), "cache", NULL, NULL, ERR));
	OK(tkb_push(open_remote("full"), "ref", "cache", NULL, NULL, ERR));
	SYS(rename("cache", "good"));
}

static void check_all(const struct damage *all, size_t count)
{
	for (size_t i = 0; test_row("damages", i, count); i++) {
		test_name_row(all[i].name);
		shell("rm -rf cache; cp -a good cache; F=cache/" KEY "/%s; %s",
		      all[i].file, all[i].script);
		check_verdicts(0);
	}
}

TEST(inspect, calls_no_damaged_entry_whole)
{
	arrange();
	shell("rm -r good/.tkbundle");

	check_all(sizes_of_a_binary, TKB_COUNT_OF(sizes_of_a_binary));
	check_all(damages, TKB_COUNT_OF(damages));
}

TEST(inspect, calls_an_undamaged_entry_whole)
{
	arrange();
	shell("rm -r good/.tkbundle");
	copy_folder("good", "cache");

	check_verdicts(1);
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
