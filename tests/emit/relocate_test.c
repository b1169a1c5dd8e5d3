/* SPDX-License-Identifier: Apache-2.0 */
#include "upkeep.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define ADD_KEY "5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA"
#define ADD_GROUP ADD_KEY "/__grp__add_kernel.json"

static const char *const fixtures[] = { EVERY_TRITON };

/* What a relocate did. */
struct did {
	int rc;
	struct tkb_error err;
	struct tkb_relocate_report report;
	struct told told;
};

static struct did relocate_with(const char *root,
                                struct tkb_relocate_options options)
{
	struct did did = { .report.struct_size = sizeof(did.report) };

	options.watch = tell_to(&did.told);
	did.rc = tkb_relocate(root, &options, &did.report, &did.err);
	return did;
}

static struct did relocate(const char *root)
{
	return relocate_with(root, (struct tkb_relocate_options){ SIZED(
					   struct tkb_relocate_options) });
}

#define CHECK_DID(did, relocated, present)                                     \
	check_did((did), (relocated), (present), __FILE__, __LINE__)

/* It went well: so many entries each, and none besides. */
static void check_did(struct did did, uint64_t relocated, uint64_t present,
                      const char *file, int line)
{
	if (did.rc == 0 && did.report.relocated_count == relocated &&
	    did.report.present_count == present &&
	    did.report.left_out_count == 0 && did.report.failed_count == 0 &&
	    did.told.count == relocated + present)
		return;
	print_error("returned %d (%s); relocated %d, present %d, left out %d, "
	            "failed %d, told %d\n",
	            did.rc, did.err.message, (int)did.report.relocated_count,
	            (int)did.report.present_count,
	            (int)did.report.left_out_count,
	            (int)did.report.failed_count, (int)did.told.count);
	_fail(file, line);
}

/* A cache at "moved" that was made elsewhere. */
static void arrange_moved(const char *fixture)
{
	unpack(fixture, "unpacked");
	SYS(rename("unpacked/.triton/cache", "moved"));
}

static void check_same(const char *one, const char *other)
{
	const struct outcome outcome =
		run("diff", "-r", "-x", ".tkbundle", one, other, NULL);

	if (outcome.status != 0)
		fail_msg("'%s' and '%s' differ: %s%s", one, other, outcome.out,
		         outcome.err);
}

TEST(relocate, gives_what_an_emit_to_that_place_gives)
{
	EACH(i, fixtures) {
		arrange_moved(fixtures[i]);
		pack("moved", "a.tkb");
		struct tkb_collect_report before = look_at("moved");
		CHECK(before.moved_count >= 3);
		CHECK_DID(relocate("moved"), before.moved_count,
		          before.collected_count - before.moved_count);
		CHECK_INT(look_at("moved").moved_count, 0);

		SYS(rename("moved", "kept"));
		emit("a.tkb", "moved");
		check_same("kept", "moved");
		CHECK_INT(run("rm", "-r", "kept", "moved", "unpacked", "a.tkb",
		              NULL)
		                  .status,
		          0);
	}
}

TEST(relocate, of_inductor_goes_through_all_devices)
{
	unpack("inductor-2.11-llama4-h100", "unpacked");
	SYS(rename("unpacked/.cache/torchinductor", "ind"));
	copy_folder("ind/triton/0", "ind/triton/3");

	struct did did = relocate("ind");
	CHECK_DID(did, 46, 6);
	CHECK(did.report.is_inductor);
	CHECK_INT(look_at("ind").moved_count, 0);
	CHECK_DID(relocate("ind"), 0, 52);
}

TEST(relocate, a_second_time_writes_nothing)
{
	arrange_moved("triton-3.6.0-h100");
	CHECK_DID(relocate("moved"), 13, 4);
	const char *before = tree("moved");

	CHECK_DID(relocate("moved"), 0, 17);
	CHECK_STR(tree("moved"), before);
}

TEST(relocate, of_what_lies_where_it_was_made_writes_nothing)
{
	arrange_emitted("triton-3.6.0-cpu");
	remove_folder("out/.tkbundle");
	const char *before = tree("out");

	CHECK_DID(relocate("out"), 0, 5);
	CHECK_STR(tree("out"), before);
}

TEST(relocate, touches_the_group_files_alone)
{
	const char *before[64];
	size_t count = 0;

	arrange_moved("triton-3.6.0-cpu");
	const char **all = list("moved/" ADD_KEY);
	for (; all[count] != NULL; count++)
		before[count] = tree(text("moved/" ADD_KEY "/%s", all[count]));
	CHECK_DID(relocate("moved"), 4, 1);

	CHECK_INT(count, 8);
	for (size_t i = 0; i < count; i++) {
		const char *after = tree(text("moved/" ADD_KEY "/%s", all[i]));

		CHECK_INT(strcmp(after, before[i]) == 0,
		          strcmp(all[i], "__grp__add_kernel.json") != 0);
	}
}

TEST(relocate, leaves_nothing_but_its_lock)
{
	arrange_moved("triton-3.6.0-cpu");
	CHECK_DID(relocate("moved"), 4, 1);

	CHECK_INT(count_names("moved"), 6);
	CHECK_INT(count_names("moved/.tkbundle"), 1);
	CHECK(exists("moved/.tkbundle/lock"));
}

TEST(relocate, dry_says_what_it_would_do_and_writes_nothing)
{
	const struct tkb_relocate_options dry = { SIZED(dry),
		                                  .is_dry_run = true };

	arrange_moved("triton-3.6.0-h100");
	const char *before = tree("moved");

	CHECK_DID(relocate_with("moved", dry), 13, 4);
	CHECK_STR(tree("moved"), before);
}

TEST(relocate, takes_the_options_for_granted)
{
	arrange_moved("triton-3.6.0-cpu");

	OK(tkb_relocate("moved", NULL, NULL, ERR));
	CHECK_INT(look_at("moved").moved_count, 0);
}

TEST(relocate, leaves_out_what_is_not_whole)
{
	arrange_moved("triton-3.6.0-cpu");
	SYS(unlink("moved/" ADD_KEY "/add_kernel.cubin"));
	struct tkb_bytes before = read_file("moved/" ADD_GROUP);
	struct did did = relocate("moved");

	CHECK_FAILS(did.rc, TKB_ERR_PARTIAL, &did.err,
	            "entry '" ADD_KEY "': 'add_kernel.cubin' is not there");
	CHECK_INT(did.err.reason, TKB_REASON_MISSING);
	CHECK_INT(did.report.relocated_count, 3);
	CHECK_INT(did.report.present_count, 1);
	CHECK_INT(did.report.left_out_count, 1);
	CHECK_INT(did.told.count, 5);
	CHECK_INT(did.told.items[4].outcome, TKB_OUTCOME_LEFT_OUT);
	CHECK_INT(did.told.items[4].reason, TKB_REASON_MISSING);
	CHECK_STR(did.told.items[4].key, ADD_KEY);
	CHECK_CONTAINS(did.told.items[4].message, "add_kernel.cubin");
	struct tkb_bytes after = read_file("moved/" ADD_GROUP);
	CHECK_INT(after.size, before.size);
	assert_memory_equal(after.data, before.data, before.size);
}

TEST(relocate, never_takes_a_list_of_names_for_moved)
{
	arrange_moved("triton-3.6.0-cpu");
	write_text("moved/" ADD_GROUP,
	           "{\"child_paths\": [\"add_kernel.cubin\", "
	           "\"add_kernel.json\"]}");
	const char *before = tree("moved/" ADD_GROUP);

	CHECK_DID(relocate("moved"), 3, 2);
	CHECK_STR(tree("moved/" ADD_GROUP), before);
}

static void check_names(const char *root, const char *place)
{
	const struct tkb_bytes group = read_file(text("%s/" ADD_GROUP, root));

	CHECK_CONTAINS(group.data,
	               text("\"%s/" ADD_KEY "/add_kernel.cubin\"", place));
}

TEST(relocate, names_the_root_as_it_is_given)
{
	arrange_moved("triton-3.6.0-cpu");
	SYS(symlink("moved", "link"));

	CHECK_DID(relocate(text("%s/moved", test_folder())), 4, 1);
	check_names("moved", text("%s/moved", test_folder()));
	CHECK_DID(relocate("./moved//"), 0, 5);
	CHECK_DID(relocate("link"), 4, 1);
	check_names("moved", text("%s/link", test_folder()));
}

TEST(relocate, escapes_its_path_as_python_does)
{
	arrange_moved("triton-3.6.0-cpu");
	SYS(rename("moved", "a \"b\" \xc3\xa4"));

	CHECK_DID(relocate("a \"b\" \xc3\xa4"), 4, 1);
	check_names("a \"b\" \xc3\xa4",
	            text("%s/a \\\"b\\\" \\u00e4", test_folder()));
	CHECK_INT(look_at("a \"b\" \xc3\xa4").moved_count, 0);
}

TEST(relocate, of_what_is_no_cache_fails)
{
	write_text("file", "");

	CHECK_INT(tkb_relocate("absent", NULL, NULL, ERR), TKB_MISS);
	FAILS(tkb_relocate("file", NULL, NULL, ERR), TKB_ERR_INVALID,
	      "is not a folder");
}

static int relocate_moved(struct tkb_error *err)
{
	return tkb_relocate("moved", NULL, NULL, err);
}

static void check_refused(void)
{
	const char *before = tree("moved");
	const struct refusal refusal = as_nobody("moved", relocate_moved);

	CHECK_INT(refusal.rc, TKB_ERR_IO);
	CHECK_CONTAINS(refusal.err.message, text("'%s/moved", test_folder()));
	CHECK_CONTAINS(refusal.err.message, "Permission denied");
	CHECK_STR(tree("moved"), before);
}

TEST(relocate, of_a_root_that_cannot_be_written_fails)
{
	arrange_moved("triton-3.6.0-cpu");
	SYS(chmod("moved", 0555));

	check_refused();
}

TEST(relocate, of_a_root_whose_own_folder_cannot_be_written_fails)
{
	arrange_moved("triton-3.6.0-cpu");
	SYS(mkdir("moved/.tkbundle", 0555));

	check_refused();
	SYS(chmod("moved/.tkbundle", 0777));
}

TEST(relocate, goes_on_where_one_entry_cannot_be_written)
{
	arrange_moved("triton-3.6.0-cpu");
	SYS(chmod("moved/" ADD_KEY, 0555));
	struct outcome outcome = run_powerless("relocate", "moved", NULL);
	SYS(chmod("moved/" ADD_KEY, 0777));
	if (outcome.status >= 126)
		skip();

	CHECK_INT(outcome.status, 4);
	CHECK_CONTAINS(outcome.out,
	               "relocated 3, present 1, failed 1 in moved");
	CHECK_CONTAINS(outcome.err, "failed " ADD_KEY " (add_kernel): io: ");
	CHECK_INT(look_at("moved").moved_count, 1);
	CHECK_INT(count_names("moved/.tkbundle"), 1);
}

TEST(relocate, cancelled_leaves_each_entry_as_it_was_or_as_it_should_be)
{
	size_t patience = 0;
	int rc = TKB_ERR_CANCELLED;

	arrange_moved("triton-3.6.0-h100");
	SYS(rename("moved", "old"));
	for (; rc == TKB_ERR_CANCELLED; patience++) {
		struct countdown own = { .left = patience };
		const struct tkb_relocate_options options = {
			SIZED(options),
			.watch = count_down(&own),
			.threads = 1,
		};

		copy_folder("old", "moved");
		rc = tkb_relocate("moved", &options, NULL, ERR);
		CHECK(rc == 0 || rc == TKB_ERR_CANCELLED);
		struct tkb_collect_report report = look_at("moved");
		CHECK_INT(report.collected_count, 17);
		CHECK_INT(report.moved_count, rc == 0 ? 0
		                              : patience <= 34
		                                      ? 13
		                                      : 13 - (patience - 34));
		if (exists("moved/.tkbundle"))
			CHECK_INT(count_names("moved/.tkbundle"), 1);
		remove_folder("moved");
	}
	CHECK_INT(patience, 48);
}

TEST(relocate, tells_how_far_it_is)
{
	struct countdown patience = { 0 };
	arrange_moved("triton-3.6.0-cpu");

	OK(tkb_relocate(
		"moved",
		&CHOSEN(tkb_relocate_options, .watch = look_on(&patience)),
		NULL, ERR));
	check_told_all(&patience);
}

TEST(relocate, by_several_at_once_gives_whole_entries)
{
	pid_t children[6];

	arrange_moved("triton-3.6.0-h100");
	EACH(i, children)
		children[i] = start(program(), "relocate", "moved", NULL);

	EACH(i, children)
		CHECK_INT(end_of(children[i]), 0);
	CHECK_INT(look_at("moved").moved_count, 0);
	CHECK_INT(look_at("moved").collected_count, 17);
	CHECK_INT(count_names("moved/.tkbundle"), 1);
}

/* A gc that takes a group file away while a relocate wants to rewrite it. */
struct thief {
	struct told told; /* first, for tell_to() */
	pthread_t thread;
	unsigned turns_left;
	int lock;
	const char *group;
};

static void *steal_and_unlock(void *self)
{
	struct thief *thief = self;

	nap_ms(200);
	(void)unlink(thief->group);
	(void)close(thief->lock);
	return NULL;
}

static bool take_lock(void *self)
{
	struct thief *thief = self;

	if (thief->turns_left-- != 0)
		return false;
	thief->lock = lock_root("moved");
	SYS(pthread_create(&thief->thread, NULL, steal_and_unlock, thief));
	return false;
}

TEST(relocate, brings_nothing_back_that_a_gc_takes_away)
{
	struct tkb_relocate_options options = { SIZED(options), .threads = 1 };
	struct tkb_relocate_report report = { SIZED(report) };
	struct thief thief = { .turns_left = 10 };

	arrange_moved("triton-3.6.0-cpu");
	/* The first kernel in a bundle's order, by name. */
	thief.group = "moved/" ADD_GROUP;
	struct tkb_watch watch = *tell_to(&thief.told);
	watch.is_cancelled = take_lock;
	options.watch = &watch;

	FAILS(tkb_relocate("moved", &options, &report, ERR), TKB_ERR_PARTIAL,
	      ADD_KEY);
	SYS(pthread_join(thief.thread, NULL));
	CHECK(!exists(thief.group));
	CHECK_INT(report.relocated_count, 3);
	CHECK_INT(report.left_out_count, 1);
	CHECK_STR(thief.told.items[1].key, ADD_KEY);
	CHECK_INT(thief.told.items[1].outcome, TKB_OUTCOME_LEFT_OUT);
	CHECK_INT(thief.told.items[1].reason, TKB_REASON_MISSING);
}

TEST(relocate, removes_the_stages_of_the_dead)
{
	arrange_moved("triton-3.6.0-cpu");
	SYS(mkdir("moved/.tkbundle", 0777));
	SYS(mkdir("moved/.tkbundle/stage-dead", 0777));
	write_text("moved/.tkbundle/stage-dead/lock", "");

	CHECK_DID(relocate("moved"), 4, 1);
	CHECK_INT(count_names("moved/.tkbundle"), 1);
}

TEST(relocate, makes_entries_unused_since)
{
	struct tkb_uses *uses = NULL;

	arrange_moved("triton-3.6.0-cpu");
	CHECK_DID(relocate("moved"), 4, 1);
	OK(tkb_uses_open("moved", NULL, &uses, ERR));
	bool are_known = tkb_uses_are_known(uses);
	for (size_t i = 0; i < tkb_uses_count(uses) && are_known; i++) {
		const struct tkb_use *use = tkb_uses_at(uses, i);

		CHECK(use->state == TKB_USE_STATE_UNUSED ||
		      use->entry->kind != TKB_KIND_KERNEL);
	}
	tkb_uses_close(uses);
}
