/* SPDX-License-Identifier: Apache-2.0 */
#include "upkeep.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
	TWO_DAYS_S = 2 * 24 * 60 * 60
};

/* What a gc did. */
struct did {
	int rc;
	struct tkb_error err;
	struct tkb_gc_report report;
	struct told told;
};

static struct did gc(const char *root, struct tkb_gc_options options)
{
	struct did did = { .report.struct_size = sizeof(did.report) };

	options.watch = tell_to(&did.told);
	did.rc = tkb_gc(root, &options, &did.report, &did.err);
	return did;
}

static struct tkb_gc_options at_most(uint64_t count)
{
	return CHOSEN(tkb_gc_options, .has_max_entries = true,
	              .max_entries = count);
}

static struct tkb_gc_options dry(struct tkb_gc_options options)
{
	options.is_dry_run = true;
	return options;
}

#define CHECK_DID(did, removed, kept)                                          \
	check_did((did), (removed), (kept), __FILE__, __LINE__)

/* It went well: so many entries each, and none besides. */
static void check_did(struct did did, uint64_t removed, uint64_t kept,
                      const char *file, int line)
{
	if (did.rc == 0 && did.report.removed_count == removed &&
	    did.report.kept_count == kept && did.report.busy_count == 0 &&
	    did.report.failed_count == 0 && did.told.count == removed)
		return;
	print_error("returned %d (%s); removed %d, kept %d, busy %d, failed "
	            "%d, told %d\n",
	            did.rc, did.err.message, (int)did.report.removed_count,
	            (int)did.report.kept_count, (int)did.report.busy_count,
	            (int)did.report.failed_count, (int)did.told.count);
	_fail(file, line);
}

static uint64_t size_of(const char *folder)
{
	const char **names = list(folder);
	uint64_t size = 0;

	for (size_t i = 0; names[i] != NULL; i++)
		size += (uint64_t)stat_of(text("%s/%s", folder, names[i]))
		                .st_size;
	return size;
}

static bool has_uses(void)
{
	return gc("out", dry(at_most(1000))).report.has_uses;
}

TEST(gc, removes_the_oldest_until_so_many_are_left)
{
	const char **all = arrange_dated();
	struct did did = gc("out", at_most(14));

	CHECK_DID(did, 3, 14);
	CHECK(!did.report.is_inductor);
	for (size_t i = 0; all[i] != NULL; i++)
		CHECK_INT(exists(text("out/%s", all[i])), i >= 3);
	for (size_t i = 0; i < 3; i++) {
		CHECK_STR(did.told.items[i].key, all[i]);
		CHECK_INT(did.told.items[i].outcome, TKB_OUTCOME_REMOVED);
		CHECK_INT(did.told.items[i].reason, TKB_REASON_NONE);
		CHECK_STR(did.told.items[i].root,
		          text("%s/out", test_folder()));
	}
	CHECK_INT(look_at("out").collected_count, 14);
	CHECK_INT(look_at("out").left_out_count, 0);
	CHECK_INT(look_at("out").unfinished_count, 0);
	CHECK_DID(gc("out", at_most(14)), 0, 14);
}

TEST(gc, takes_what_was_read_for_younger_than_what_was_not)
{
	const char **all = arrange_dated();

	if (!has_uses())
		skip();
	date(text("out/%s", all[0]), (time_t)20 * 3600, 0);
	date(text("out/%s", all[1]), (time_t)19 * 3600, 0);
	struct did did = gc("out", dry(at_most(0)));

	CHECK_DID(did, 17, 0);
	CHECK_STR(did.told.items[0].key, all[2]);
	CHECK_STR(did.told.items[15].key, all[1]);
	CHECK_STR(did.told.items[16].key, all[0]);
}

TEST(gc, takes_what_was_written_for_used)
{
	const char **all = arrange_dated();

	date(text("out/%s", all[0]), 1000, (time_t)20 * 3600);
	struct did did = gc("out", dry(at_most(16)));

	CHECK_DID(did, 1, 16);
	CHECK_STR(did.told.items[0].key, all[1]);
}

TEST(gc, of_what_is_equally_old_takes_the_first_key)
{
	const char **all = arrange_dated();

	for (size_t i = 0; all[i] != NULL; i++)
		date(text("out/%s", all[i]), 0, 3600);
	struct did did = gc("out", dry(at_most(0)));

	CHECK_DID(did, 17, 0);
	for (size_t i = 0; all[i] != NULL; i++)
		CHECK_STR(did.told.items[i].key, all[i]);
}

TEST(gc, removes_until_the_rest_is_small_enough)
{
	const char **all = arrange_dated();
	struct tkb_gc_options options = { SIZED(options),
		                          .has_max_size = true };
	uint64_t total = 0;
	uint64_t first = size_of(text("out/%s", all[0]));
	uint64_t next = size_of(text("out/%s", all[1]));

	for (size_t i = 0; all[i] != NULL; i++)
		total += size_of(text("out/%s", all[i]));

	options.max_size = total;
	CHECK_DID(gc("out", dry(options)), 0, 17);
	options.max_size = total - 1;
	CHECK_DID(gc("out", dry(options)), 1, 16);
	options.max_size = total - first;
	CHECK_DID(gc("out", dry(options)), 1, 16);
	options.max_size = total - first - 1;
	struct did did = gc("out", dry(options));
	CHECK_DID(did, 2, 15);
	CHECK_INT(did.report.removed_size, first + next);
	CHECK_INT(did.report.kept_size, total - first - next);
	options.max_size = 0;
	CHECK_DID(gc("out", dry(options)), 17, 0);
}

TEST(gc, removes_what_was_not_used_for_so_long)
{
	const char **all = arrange_dated();
	struct tkb_gc_options options = { SIZED(options), .has_max_age = true };

	for (size_t i = 0; all[i] != NULL; i++)
		date(text("out/%s", all[i]), 0,
		     time(NULL) - 1800 - (time_t)i * 3600);

	options.max_age_s = (uint64_t)17 * 3600;
	CHECK_DID(gc("out", dry(options)), 0, 17);
	options.max_age_s = 3600;
	struct did did = gc("out", dry(options));
	CHECK_DID(did, 16, 1);
	CHECK_STR(did.told.items[0].key, all[16]);
	options.max_age_s = 0;
	CHECK_DID(gc("out", dry(options)), 17, 0);
	options.max_age_s = UINT64_MAX;
	CHECK_DID(gc("out", dry(options)), 0, 17);
}

TEST(gc, keeps_what_is_dated_in_the_future)
{
	const char **all = arrange_dated();
	struct tkb_gc_options options = { SIZED(options), .has_max_age = true };

	for (size_t i = 0; all[i] != NULL; i++)
		date(text("out/%s", all[i]), 0, time(NULL) + 3600);

	CHECK_DID(gc("out", dry(options)), 0, 17);
}

TEST(gc, holds_every_bound_that_is_given)
{
	const char **all = arrange_dated();
	struct tkb_gc_options options = at_most(5);

	date(text("out/%s", all[16]), 0, time(NULL));
	options.has_max_age = true;
	options.max_age_s = (uint64_t)1000000 * 3600;
	CHECK_DID(gc("out", dry(options)), 12, 5);
	options.max_age_s = 3600;
	CHECK_DID(gc("out", dry(options)), 16, 1);
	options.has_max_size = true;
	CHECK_DID(gc("out", dry(options)), 17, 0);
}

TEST(gc, wants_a_bound)
{
	const struct tkb_gc_options none = { SIZED(none), .max_entries = 3 };

	FAILS(tkb_gc("out", &none, NULL, ERR), TKB_ERR_INVALID,
	      "no bound is given");
	FAILS(tkb_gc("out", NULL, NULL, ERR), TKB_ERR_INVALID,
	      "no bound is given");
}

TEST(gc, of_what_is_no_cache_fails)
{
	const struct tkb_gc_options options = at_most(3);

	write_text("file", "");

	CHECK_INT(tkb_gc("absent", &options, NULL, ERR), TKB_MISS);
	FAILS(tkb_gc("file", &options, NULL, ERR), TKB_ERR_INVALID,
	      "is not a folder");
}

TEST(gc, counts_the_entries_of_all_devices)
{
	unpack("inductor-2.11-llama4-h100", "unpacked");
	SYS(rename("unpacked/.cache/torchinductor", "ind"));
	copy_folder("ind/triton/0", "ind/triton/1");
	const char **all = keys("ind/triton/0");
	for (size_t i = 0; all[i] != NULL; i++) {
		date(text("ind/triton/0/%s", all[i]), 0, (time_t)i * 3600);
		date(text("ind/triton/1/%s", all[i]), 0, (time_t)i * 3600);
	}
	struct did did = gc("ind", at_most(49));

	CHECK_DID(did, 3, 49);
	CHECK(did.report.is_inductor);
	CHECK_STR(did.told.items[0].key, all[0]);
	CHECK_STR(did.told.items[0].root,
	          text("%s/ind/triton/0", test_folder()));
	CHECK_STR(did.told.items[1].root,
	          text("%s/ind/triton/1", test_folder()));
	CHECK(!exists(text("ind/triton/0/%s", all[0])));
	CHECK(!exists(text("ind/triton/1/%s", all[0])));
	CHECK(!exists(text("ind/triton/0/%s", all[1])));
	CHECK(exists(text("ind/triton/1/%s", all[1])));
	CHECK(exists("ind/fxgraph"));
}

TEST(gc, removes_what_is_linked_to_another_device)
{
	unpack("triton-3.6.0-cpu", "unpacked");
	SYS(mkdir("ind", 0777));
	SYS(mkdir("ind/triton", 0777));
	SYS(rename("unpacked/.triton/cache", "ind/triton/0"));
	copy_folder("ind/triton/0", "ind/triton/1");
	pack("ind", "a.tkb");
	emit("a.tkb", "out");
	const char **all = keys("out/triton/0");
	for (size_t i = 0; all[i] != NULL; i++)
		date(text("out/triton/1/%s", all[i]), 0, 3600);

	/* The autotune file is one for both, and so is its date. */
	CHECK_DID(gc("out", at_most(4)), 6, 4);
	CHECK(keys("out/triton/1")[0] == NULL);
	CHECK_INT(look_at("out").collected_count, 4);
	CHECK_INT(look_at("out").left_out_count, 0);
}

TEST(gc, removes_modules_and_autotune_files_too)
{
	arrange_emitted("triton-3.6.0-cpu");
	CHECK_DID(gc("out", at_most(0)), 5, 0);
	CHECK_INT(count_names("out"), 1);

	remove_folder("out");
	remove_folder("unpacked");
	arrange_emitted("triton-3.6.0-h100");
	CHECK_DID(gc("out", at_most(0)), 17, 0);
	CHECK_INT(count_names("out"), 1);
	CHECK(exists("out/.tkbundle"));
}

TEST(gc, dry_says_what_it_would_do_and_writes_nothing)
{
	const char **all = arrange_dated();

	remove_folder("out/.tkbundle");
	const char *before = tree("out");
	struct did did = gc("out", dry(at_most(10)));

	CHECK_DID(did, 7, 10);
	CHECK_STR(did.told.items[6].key, all[6]);
	CHECK_STR(tree("out"), before);
}

TEST(gc, with_nothing_to_do_writes_nothing)
{
	(void)arrange_dated();
	remove_folder("out/.tkbundle");
	const char *before = tree("out");

	CHECK_DID(gc("out", at_most(17)), 0, 17);
	CHECK_STR(tree("out"), before);
}

TEST(gc, leaves_nothing_but_its_lock)
{
	(void)arrange_dated();
	remove_folder("out/.tkbundle");

	CHECK_DID(gc("out", at_most(16)), 1, 16);
	CHECK_INT(count_names("out"), 17);
	CHECK_INT(count_names("out/.tkbundle"), 1);
	CHECK(exists("out/.tkbundle/lock"));
}

TEST(gc, removes_the_stages_of_the_dead)
{
	(void)arrange_dated();
	SYS(mkdir("out/.tkbundle/stage-dead", 0777));
	write_text("out/.tkbundle/stage-dead/lock", "");

	CHECK_DID(gc("out", at_most(17)), 0, 17);
	CHECK(!exists("out/.tkbundle/stage-dead"));
}

TEST(gc, leaves_what_a_compiler_is_writing)
{
	const char **all = arrange_dated();
	struct did did;

	SYS(mkdir(text("out/%s/tmp.pid_1_abc", all[0]), 0777));
	date(text("out/%s", all[0]), 0, 0);
	const char *before = tree(text("out/%s", all[0]));

	for (int is_dry = 1; is_dry >= 0; is_dry--) {
		did = gc("out", is_dry ? dry(at_most(15)) : at_most(15));
		CHECK_FAILS(did.rc, TKB_ERR_PARTIAL, &did.err, all[0]);
		CHECK_INT(did.err.reason, TKB_REASON_BUSY);
		CHECK_INT(did.report.removed_count, 1);
		CHECK_INT(did.report.kept_count, 16);
		CHECK_INT(did.report.busy_count, 1);
		CHECK_INT(did.told.count, 2);
		CHECK_STR(did.told.items[0].key, all[0]);
		CHECK_INT(did.told.items[0].outcome, TKB_OUTCOME_SKIPPED);
		CHECK_INT(did.told.items[0].reason, TKB_REASON_BUSY);
		CHECK_STR(did.told.items[0].message,
		          "a compiler is writing there");
		CHECK_STR(tree(text("out/%s", all[0])), before);
	}
}

TEST(gc, leaves_what_is_not_the_entrys_in_its_folder)
{
	const char **all = arrange_dated();
	const char *folder = text("out/%s", all[0]);

	SYS(mkdir(text("%s/tmp.pid_1_abc", folder), 0777));
	age(text("%s/tmp.pid_1_abc", folder), 3600);
	write_text(text("%s/stray", folder), "");
	date(folder, 0, 0);

	CHECK_DID(gc("out", at_most(16)), 1, 16);
	CHECK_INT(count_names(folder), 2);
	CHECK(exists(text("%s/tmp.pid_1_abc", folder)));
	CHECK(exists(text("%s/stray", folder)));
}

TEST(gc, leaves_what_is_no_whole_entry)
{
	const char **all = arrange_dated();
	const char *broken = text("out/%s", all[0]);
	const char *unfinished = text("out/%s", all[1]);

	SYS(unlink(text("%s/add_kernel.cubin", broken)));
	SYS(unlink(stamp_of(unfinished)));
	write_text("out/stray", "");
	SYS(mkdir("out/lost+found", 0777));

	CHECK_DID(gc("out", at_most(0)), 15, 0);
	CHECK_INT(count_names("out"), 5);
	CHECK_INT(count_names(broken), 7);
	CHECK_INT(count_names(unfinished), 7);
}

static int gc_out(struct tkb_error *err)
{
	const struct tkb_gc_options options = at_most(3);

	return tkb_gc("out", &options, NULL, err);
}

static void check_refused(void)
{
	const char *before = tree("out");
	const struct refusal refusal = as_nobody("out", gc_out);

	CHECK_INT(refusal.rc, TKB_ERR_IO);
	CHECK_STR(refusal.err.message,
	          text("cannot write in '%s/out': Permission denied",
	               test_folder()));
	CHECK_STR(tree("out"), before);
}

TEST(gc, of_a_root_that_cannot_be_written_fails)
{
	(void)arrange_dated();
	SYS(chmod("out", 0555));
	check_refused();
	SYS(chmod("out", 0755));

	remove_folder("out/.tkbundle");
	SYS(chmod("out", 0555));
	check_refused();
}

TEST(gc, goes_on_where_one_entry_cannot_be_removed)
{
	const char **all = arrange_dated();
	const char *folder = text("out/%s", all[0]);

	SYS(chmod(folder, 0555));
	struct outcome outcome = run_powerless("gc", "--max-entries=14", "out");
	SYS(chmod(folder, 0777));
	if (outcome.status >= 126)
		skip();

	CHECK_INT(outcome.status, 4);
	CHECK_CONTAINS(outcome.out, "removed 2 (");
	CHECK_CONTAINS(outcome.out, ", kept 15 (");
	CHECK_CONTAINS(outcome.out, ", failed 1 in out");
	CHECK_CONTAINS(outcome.err, text("failed %s", all[0]));
	CHECK_CONTAINS(outcome.err, "Permission denied");
	CHECK_INT(look_at("out").collected_count, 15);
	CHECK_INT(look_at("out").left_out_count, 0);
}

TEST(gc, tells_how_far_it_is)
{
	struct countdown seen = { 0 };
	struct tkb_gc_options options = at_most(10);
	struct tkb_gc_report report = { SIZED(report) };

	(void)arrange_dated();
	options.watch = look_on(&seen);

	OK(tkb_gc("out", &options, &report, ERR));
	check_told_all(&seen);
	CHECK_INT(seen.total, report.removed_size);
}

/* An old folder that is called as a key is, with such files. */
static const char *make_folder(char digit, const char *one, const char *other)
{
	char key[] = "out/00000000000000000000000000000000";

	memset(key + 4, digit, 32);
	SYS(mkdir(key, 0777));
	if (one != NULL)
		write_text(text("%s/%s", key, one), "");
	if (other != NULL)
		write_text(text("%s/%s", key, other), "");
	age_folder(key, TWO_DAYS_S);
	return text("%s", key);
}

TEST(gc, removes_no_unfinished_folder_that_may_be_of_use)
{
	arrange_emitted("triton-3.6.0-cpu");
	for (const char **key = keys("out"); *key != NULL; key++)
		age_folder(text("out/%s", *key), TWO_DAYS_S);
	const char *empty = make_folder('0', NULL, NULL);
	const char *kernel = make_folder('1', "k.v2.ptx", "k.v2.json");
	(void)make_folder('2', "cache-id", "diff");
	(void)make_folder('3', "k.ptx", "other.ptx");
	(void)make_folder('4', "k.ptx", "k.png");
	const char *young = make_folder('5', "k.ptx", NULL);
	age(young, 60);
	const char *young_file = make_folder('6', "k.ptx", "k.json");
	age(text("%s/k.json", young_file), 60);
	const char *deep = make_folder('7', "k.ptx", NULL);
	SYS(mkdir(text("%s/k.json", deep), 0777));
	age_folder(deep, TWO_DAYS_S);
	deep = make_folder('8', "k.ptx", NULL);
	SYS(symlink("k.ptx", text("%s/k.json", deep)));
	age_folder(deep, TWO_DAYS_S);

	CHECK_INT(gc("out", dry(at_most(5))).report.unfinished_count, 2);
	CHECK_INT(gc("out", at_most(5)).report.unfinished_count, 2);
	CHECK(!exists(empty));
	CHECK(!exists(kernel));
	CHECK_INT(look_at("out").unfinished_count, 7);
	CHECK_INT(look_at("out").collected_count, 5);
}
