/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Pushes, and what is in the remote after them. */

static const struct part whole = { 0, POOL };

/* Push what is collected so. */
static struct tkb_push_report push_so(struct tkb_remote *remote,
                                      const char *root,
                                      struct tkb_collect_options collect)
{
	return push_with(remote, root,
	                 CHOSEN(tkb_push_options, .collect = &collect));
}

/* A remote whose blobs are no larger. */
static struct tkb_remote *open_bounded(const char *name, uint64_t limit)
{
	return open_spy_with(spy_url(name), CHOSEN(tkb_remote_options,
	                                           .max_blob_size = limit));
}

TEST(push, brings_all_and_the_next_puts_nothing)
{
	const char *root = pool();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_push_report report = push_all(remote, root);

	CHECK_INT(report.pushed_count, POOL);
	CHECK_INT(report.present_count + report.left_out_count, 0);
	CHECK_INT(report.record_count + report.dropped_count, 0);
	CHECK_INT(report.blob_count, 1);
	CHECK_INT(report.size, read_file(blob_files("remote")[0]).size);
	CHECK_INT(count_texts(record_files("remote")), 1);

	spy_reset();
	report = push_all(remote, root);
	CHECK_INT(report.pushed_count + report.blob_count + report.size, 0);
	CHECK_INT(report.present_count, POOL);
	CHECK_INT(report.record_count, 1);
	CHECK_INT(spy_trips(), 2);
	CHECK_INT(spy_count(SPY_RECORDS) + spy_count(SPY_HAS), 2);
	check_pulled(remote, "pulled", whole);
}

/* Keys that were told, and how often. */
struct told_keys {
	char keys[64][80];
	size_t count;
	size_t twice;
	size_t packed;
	enum tkb_reason reason; /* that note_left_out() wants; or none */
};

static void note_key(void *self, const struct tkb_result *result)
{
	struct told_keys *told = self;

	for (size_t i = 0; i < told->count; i++)
		told->twice += strcmp(told->keys[i], result->key) == 0;
	CHECK(told->count < TKB_COUNT_OF(told->keys));
	(void)snprintf(told->keys[told->count++], 80, "%s", result->key);
	told->packed += result->outcome == TKB_OUTCOME_COLLECTED;
}

static void note_left_out(void *self, const struct tkb_result *result)
{
	struct told_keys *told = self;

	if (result->outcome == TKB_OUTCOME_LEFT_OUT &&
	    (told->reason == TKB_REASON_NONE || told->reason == result->reason))
		note_key(told, result);
}

static int refuse_the_whole(const struct spy_event *event,
                            struct tkb_error *err)
{
	return event->op == SPY_PUT && event->earlier == 0
	               ? tkb_fail(err, TKB_ERR_TOO_LARGE, "it is too large")
	               : 0;
}

/* A push that leaves all of the pool out, for this reason. */
static struct tkb_push_report push_in_vain(struct tkb_remote *remote,
                                           enum tkb_reason reason,
                                           const char *words)
{
	struct told_keys told = { .reason = reason };
	const struct tkb_watch watch = { SIZED(watch), .self = &told,
		                         .on_result = note_left_out };
	const struct tkb_collect_options collect = { SIZED(collect),
		                                     .watch = &watch };
	const struct tkb_push_options options = { SIZED(options),
		                                  .collect = &collect };
	struct tkb_push_report report = { SIZED(report) };

	FAILS(tkb_push(remote, REF, pool(), &options, &report, ERR),
	      TKB_ERR_PARTIAL, words);
	CHECK_INT(told.count, POOL);
	CHECK_INT(told.twice, 0);
	CHECK_INT(report.left_out_count, POOL);
	CHECK_INT(report.pushed_count, 0);
	return report;
}

static bool is_put(const struct spy_event *event, const char *folder)
{
	return event->op == SPY_PUT && strcmp(event->folder, folder) == 0;
}

static int refuse_far_puts(const struct spy_event *event, struct tkb_error *err)
{
	return is_put(event, "far")
	               ? tkb_fail(err, TKB_ERR_DENIED, "it is too large")
	               : 0;
}

/* A push was killed between the tiers, or the far one has lost the ref. */
TEST(push, brings_what_only_a_nearer_tier_has)
{
	struct tkb_remote *remote =
		open_spy(text("%s,%s", spy_url("near"), spy_url("far")));

	CHECK_INT(push_all(remote, pool()).pushed_count, POOL);
	shell("rm -r far/ref");
	CHECK_INT(push_all(remote, pool()).pushed_count, POOL);
	check_pulled(open_spy(spy_url("far")), "pulled", whole);
	CHECK_INT(push_all(remote, pool()).present_count, POOL);
}

/* What is behind the last writable tier, everybody gets from there. */
TEST(push, brings_nothing_that_a_read_only_tier_behind_it_has)
{
	const char *urls =
		text("%s,%s?mode=ro", spy_url("near"), spy_url("far"));
	const char *root = pool();

	(void)push_all(open_spy(spy_url("far")), root);
	check_pulled(open_spy(urls), "pulled", whole);
	CHECK_INT(push_all(open_spy(urls), root).present_count, POOL);
	CHECK(!exists("near/ref"));
}

/* The far tier first: a near record alone would be of use to one node only. */
TEST(push, adds_the_record_to_the_farthest_tier_first)
{
	struct tkb_remote *remote =
		open_spy(text("%s,%s", spy_url("near"), spy_url("far")));
	const char *seen = "";

	spy_reset();
	(void)push_all(remote, pool());
	for (size_t i = 0; i < spy.count; i++) {
		if (spy.events[i].op == SPY_ADD)
			seen = text("%s %s", seen, spy.events[i].folder);
	}
	CHECK_STR(seen, " far near");
}

/*
 * With on-error=ignore, one that refuses the blob gets no record of it; but that
 * the fleet lacks it is told.
 */
TEST(push, adds_no_record_to_a_tier_that_refused_the_blob)
{
	const char *far = spy_url("far");
	struct tkb_remote *remote =
		open_spy(text("%s,%s?on-error=ignore", spy_url("near"), far));

	const char *root = pool();
	spy.before = refuse_far_puts;
	CHECK_INT(push_in_vain(remote, TKB_REASON_IO, "far").blob_count, 1);
	spy_reset();
	CHECK_INT(tkb_pull(open_spy(far), REF, "none", NULL, NULL, ERR),
	          TKB_MISS);
	check_pulled(open_spy(spy_url("near")), "pulled", whole);
	CHECK_INT(push_all(remote, root).pushed_count, POOL);
	check_pulled(open_spy(far), "far-pulled", whole);
}

static int have_no_room(const struct spy_event *event, struct tkb_error *err)
{
	return is_put(event, "far")
	               ? tkb_fail(err, TKB_ERR_TOO_LARGE, "it is too large")
	               : 0;
}

/* Redis keeps no blob above 512 MiB: then the tiers that do have it. */
TEST(push, of_a_blob_too_large_for_one_tier_succeeds)
{
	struct tkb_remote *remote =
		open_spy(text("%s,%s", spy_url("far"), spy_url("near")));
	const char *root = pool();

	spy.before = have_no_room;
	CHECK_INT(push_all(remote, root).pushed_count, POOL);
	CHECK_INT(spy_count(SPY_ADD), 1);
	check_pulled(remote, "pulled", whole);
}

/* Nobody but this node has what only the near one took. */
TEST(push, leaves_out_what_has_no_room_where_the_fleet_shares_it)
{
	struct tkb_remote *remote = open_spy(
		text("%s?on-error=ignore,%s", spy_url("near"), spy_url("far")));
	const char *root = pool();

	spy.before = have_no_room;
	(void)push_in_vain(remote, TKB_REASON_LIMIT, "far");
	spy_reset();
	CHECK_INT(count_texts(blob_files("near")), POOL);
	check_pulled(open_spy(spy_url("near")), "pulled", whole);
	CHECK_INT(push_all(remote, root).pushed_count, POOL);
	check_pulled(open_spy(spy_url("far")), "far-pulled", whole);
}

TEST(push, halves_what_is_too_large_where_the_fleet_shares_it)
{
	struct tkb_remote *remote =
		open_spy(text("%s,%s", spy_url("near"), spy_url("far")));
	const char *root = pool();

	spy.before = refuse_the_whole;
	CHECK_INT(push_all(remote, root).blob_count, 2);
	CHECK_INT(count_texts(blob_files("near")), 2);
	check_pulled(open_spy(spy_url("far")), "pulled", whole);
}

static int have_no_room_or_fail(const struct spy_event *event,
                                struct tkb_error *err)
{
	if (is_put(event, "near"))
		return tkb_fail(err, TKB_ERR_DENIED, "it is closed");
	return have_no_room(event, err);
}

/* It is not the entries that have to be others. */
TEST(push, to_tiers_of_which_one_has_no_room_and_another_fails_does_so)
{
	struct tkb_remote *remote =
		open_spy(text("%s,%s", spy_url("far"), spy_url("near")));
	const char *root = pool();

	spy.before = have_no_room_or_fail;
	FAILS(tkb_push(remote, REF, root, NULL, NULL, ERR), TKB_ERR_DENIED,
	      "it is closed");
}

TEST(push, packs_only_what_the_ref_lacks)
{
	const char *one = cache_of("one", (struct part){ 0, 10 });
	const char *other = cache_of("other", (struct part){ 6, POOL });
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	CHECK_INT(push_all(remote, one).pushed_count, 10);
	struct tkb_push_report report = push_all(remote, other);
	CHECK_INT(report.pushed_count, POOL - 10);
	CHECK_INT(report.present_count, 4);
	CHECK_INT(report.record_count, 1);
	CHECK_INT(report.blob_count, 1);
	CHECK_INT(count_texts(record_files("remote")), 2);
	check_pulled(remote, "pulled", whole);
}

TEST(push, puts_the_blob_before_its_record)
{
	const char *root = pool();
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	(void)push_all(remote, root);
	CHECK_INT(spy_trips(), 3);
	CHECK_INT(spy.events[spy.count - 2].op, SPY_PUT);
	CHECK_INT(spy.events[spy.count - 1].op, SPY_ADD);
}

TEST(push, adds_no_record_of_a_blob_that_was_refused)
{
	const char *root = pool();
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	spy_refuse(SPY_PUT, SIZE_MAX, TKB_ERR_DENIED, "it is full");
	FAILS(tkb_push(remote, REF, root, NULL, NULL, ERR), TKB_ERR_DENIED,
	      "it is full");
	CHECK_CONTAINS(ERR->message, "remote 'spy://");
	CHECK_INT(spy_count(SPY_ADD), 0);
	CHECK_INT(count_texts(record_files("remote")), 0);
}

TEST(push, of_what_two_devices_have_takes_that_of_one_alone)
{
	const char *root = inductor_cache();
	const char *pulled = text("%s/pulled", test_folder());
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const struct tkb_collect_report wanted = weigh(root);
	struct tkb_push_report report = push_so(
		remote, root, CHOSEN(tkb_collect_options, .has_device = true));

	CHECK_INT(report.pushed_count, 26);
	report = push_all(remote, root);
	CHECK_INT(report.pushed_count, 26);
	CHECK_INT(report.present_count, 0);
	report = push_all(remote, root);
	CHECK_INT(report.pushed_count, 0);
	CHECK_INT(report.present_count, 26);

	(void)pull_all(remote, pulled);
	struct tkb_collect_report got = weigh(pulled);
	CHECK(got.is_inductor);
	CHECK(tkb_digest_equal(&got.id, &wanted.id));
	CHECK_INT(count_names(text("%s/triton/1", pulled)),
	          count_names(text("%s/triton/0", pulled)));
}

TEST(push, of_a_lean_profile_counts_as_there_for_a_full_one)
{
	const char *root = pool();
	const char *pulled = text("%s/pulled", test_folder());
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const struct tkb_collect_options lean = { SIZED(lean),
		                                  .profile = TKB_PROFILE_LEAN };

	CHECK_INT(push_so(remote, root, lean).pushed_count, POOL);
	CHECK_CONTAINS(read_file(record_files("remote")[0]).data,
	               "\"profile\":\"lean\"");
	CHECK_INT(push_all(remote, root).pushed_count, 0);
	(void)pull_all(remote, pulled);
	CHECK_INT(weigh(pulled).collected_count, POOL);
	CHECK(weigh(pulled).size < weigh(root).size / 2);
}

TEST(push, of_keys_takes_those_alone)
{
	const char **keys = pool_keys();
	const char *chosen[] = { keys[3], keys[9] };
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const struct tkb_collect_options collect = { SIZED(collect),
		                                     .keys = chosen,
		                                     .key_count = 2 };

	CHECK_INT(push_so(remote, pool(), collect).pushed_count, 2);
	struct tkb_push_report report = push_so(remote, pool(), collect);
	CHECK_INT(report.pushed_count, 0);
	CHECK_INT(report.present_count, 2);
	(void)pull_all(remote, "pulled");
	check_has_part(text("%s/pulled", test_folder()), (struct part){ 3, 4 });
	check_has_part(text("%s/pulled", test_folder()),
	               (struct part){ 9, 10 });
	CHECK_INT(count_entries(text("%s/pulled", test_folder())), 2);
}

TEST(push, that_is_dry_changes_nothing_and_tells_what_it_would)
{
	const char *root = pool();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const struct tkb_collect_options dry = { SIZED(dry),
		                                 .is_dry_run = true };
	struct tkb_push_report report = push_so(remote, root, dry);

	CHECK_INT(report.pushed_count, POOL);
	CHECK_INT(report.blob_count + report.size, 0);
	(void)push_part(remote, (struct part){ 0, 5 });
	SYS(unlink(blob_files("remote")[0]));
	spy_reset();
	report = push_so(remote, root, dry);
	CHECK_INT(report.pushed_count, POOL);
	CHECK_INT(report.dropped_count, 1);
	CHECK_INT(spy_count(SPY_PUT) + spy_count(SPY_ADD) + spy_count(SPY_DROP),
	          0);
	CHECK_INT(count_texts(record_files("remote")), 1);
}

TEST(push, of_an_empty_cache_does_nothing_and_of_none_is_a_miss)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	spy_reset();
	SYS(mkdir("empty", 0777));
	struct tkb_push_report report = push_all(remote, "empty");
	CHECK_INT(report.pushed_count + report.present_count +
	                  report.blob_count,
	          0);
	CHECK_INT(tkb_push(remote, REF, "none", NULL, NULL, ERR), TKB_MISS);
	CHECK_INT(spy_count(SPY_PUT) + spy_count(SPY_ADD), 0);
}

TEST(push, of_a_damaged_entry_leaves_it_out_and_counts_it_once)
{
	const char *root = cache_of("cache", whole);
	const char **keys = pool_keys();
	const char *folder = text("%s/%s", root, keys[0]);
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	for (const char **name = list(folder); *name != NULL; name++) {
		if (strstr(*name, ".cubin") != NULL)
			SYS(unlink(text("%s/%s", folder, *name)));
	}
	struct tkb_push_report report = push_all(remote, root);
	CHECK_INT(report.pushed_count, POOL - 1);
	CHECK_INT(report.left_out_count, 1);
	check_pulled(remote, "pulled", (struct part){ 1, POOL });
}

/* The pool's bundle, as pool() has packed it. */
static struct tkb_source pool_source(void)
{
	struct tkb_bytes *bytes = test_alloc(sizeof(*bytes));

	CHECK(pool() != NULL);
	*bytes = read_file("pool.tkb");
	return tkb_memory_source(bytes);
}

static struct tkb_push_report push_bundle(struct tkb_remote *remote)
{
	const struct tkb_source source = pool_source();
	struct tkb_push_report report = { SIZED(report) };

	OK(tkb_push_bundle(remote, REF, &source, NULL, &report, ERR));
	return report;
}

static void check_corrupt(struct tkb_remote *remote, struct tkb_bytes bytes)
{
	const struct tkb_source source = tkb_memory_source(&bytes);

	CHECK_INT(tkb_push_bundle(remote, REF, &source, NULL, NULL, ERR),
	          TKB_ERR_CORRUPT);
}

TEST(push, of_a_bundle_brings_it_as_it_is_whatever_the_ref_holds)
{
	const char *root = pool();
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	push_singly(remote, 3);
	struct tkb_push_report report = push_bundle(remote);
	CHECK_INT(report.pushed_count, POOL);
	CHECK_INT(report.record_count, 3);
	CHECK_INT(report.blob_count, 1);
	CHECK_INT(report.size, read_file("pool.tkb").size);
	CHECK_INT(push_all(remote, root).pushed_count, 0);
	CHECK_INT(count_texts(record_files("remote")), 4);
	check_pulled(remote, "pulled", whole);

	(void)push_bundle(remote);
	CHECK_INT(count_texts(record_files("remote")), 4);
	CHECK_INT(count_texts(blob_files("remote")), 4);
}

TEST(push, of_a_bundle_brings_what_only_a_nearer_tier_has)
{
	struct tkb_remote *remote =
		open_spy(text("%s,%s", spy_url("near"), spy_url("far")));

	(void)push_bundle(remote);
	shell("rm -r far/ref");
	CHECK_INT(push_bundle(remote).pushed_count, POOL);
	check_pulled(open_spy(spy_url("far")), "pulled", whole);
}

TEST(push, of_a_bundle_without_room_where_the_fleet_shares_it_leaves_all_out)
{
	const struct tkb_source source = pool_source();
	struct tkb_remote *remote =
		open_spy(text("%s,%s", spy_url("near"), spy_url("far")));
	struct told_keys told = { .reason = TKB_REASON_LIMIT };
	const struct tkb_watch watch = { SIZED(watch), .self = &told,
		                         .on_result = note_left_out };
	const struct tkb_collect_options collect = { SIZED(collect),
		                                     .watch = &watch };
	const struct tkb_push_options options = { SIZED(options),
		                                  .collect = &collect };
	struct tkb_push_report report = { SIZED(report) };

	spy.before = have_no_room;
	FAILS(tkb_push_bundle(remote, REF, &source, &options, &report, ERR),
	      TKB_ERR_PARTIAL, "it is too large");
	CHECK_INT(told.count, POOL);
	CHECK_INT(report.left_out_count, POOL);
	CHECK_INT(report.pushed_count, 0);
	spy_reset();
	check_pulled(open_spy(spy_url("near")), "pulled", whole);
}

/* The nearer tier keeps what it has got, and the next push brings it to all. */
TEST(push, that_is_strict_fails_if_the_fleet_does_not_get_it)
{
	const char *far = spy_url("far");
	struct tkb_remote *remote =
		open_spy(text("%s,%s?on-error=ignore", spy_url("near"), far));
	const char *root = pool();
	const struct tkb_source source = pool_source();
	const struct tkb_collect_options collect = { SIZED(collect),
		                                     .is_strict = true };
	const struct tkb_push_options options = { SIZED(options),
		                                  .collect = &collect };

	spy.before = refuse_far_puts;
	FAILS(tkb_push(remote, REF, root, &options, NULL, ERR), TKB_ERR_DENIED,
	      "it is too large");
	FAILS(tkb_push_bundle(remote, "other", &source, &options, NULL, ERR),
	      TKB_ERR_DENIED, "it is too large");
	spy_reset();
	check_pulled(open_spy(spy_url("near")), "pulled", whole);
	CHECK_INT(push_with(remote, root, options).pushed_count, POOL);
	CHECK_INT(push_with(remote, root, options).present_count, POOL);
	check_pulled(open_spy(far), "far-pulled", whole);
}

TEST(push, of_a_bundle_that_is_there_uploads_nothing)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_push_report report = push_bundle(remote);

	CHECK_INT(report.pushed_count, POOL);
	CHECK_INT(spy_count(SPY_PUT), 1);
	spy_reset();
	report = push_bundle(remote);
	CHECK_INT(report.pushed_count + report.blob_count + report.size, 0);
	CHECK_INT(report.present_count, POOL);
	CHECK_INT(spy_count(SPY_PUT) + spy_count(SPY_ADD), 0);
	CHECK_INT(spy_count(SPY_TOUCH), 1);

	/* Its record without its blob is not the bundle, and heals. */
	SYS(unlink(blob_files("remote")[0]));
	spy_reset();
	report = push_bundle(remote);
	CHECK_INT(report.blob_count, 1);
	CHECK_INT(spy_count(SPY_PUT), 1);
	check_pulled(remote, "pulled", whole);
}

/* Somebody's clean-up is faster than the question whether the blob is there. */
static int clean_up_before_touch(const struct spy_event *event,
                                 struct tkb_error *err)
{
	(void)err;
	if (event->op == SPY_TOUCH)
		SYS(unlink(record_files("remote")[0]));
	return 0;
}

TEST(push, of_a_bundle_whose_record_goes_meanwhile_uploads_it)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	(void)push_bundle(remote);
	spy.before = clean_up_before_touch;
	struct tkb_push_report report = push_bundle(remote);
	spy.before = NULL;
	CHECK_INT(report.blob_count, 1);
	CHECK_INT(count_texts(record_files("remote")), 1);
	check_pulled(remote, "pulled", whole);
}

struct upload {
	uint64_t done;
	uint64_t total;
	size_t count;
	size_t before_put; /* calls */
};

static void note_upload(void *self, uint64_t done, uint64_t total)
{
	struct upload *upload = self;

	CHECK(done >= upload->done && done <= total);
	upload->done = done;
	upload->total = total;
	upload->count++;
	upload->before_put += spy_count(SPY_PUT) == 0;
}

/* Of all files of a cache that can be packed. */
static uint64_t size_of_entries(const char *root)
{
	struct tkb_collect_report report = { SIZED(report) };
	OK(tkb_collect(root, &CHOSEN(tkb_collect_options, .is_dry_run = true),
	               NULL, &report, ERR));
	return report.size;
}

TEST(push, progress_is_that_of_the_packing_and_of_the_upload)
{
	const char *root = pool();
	const uint64_t packed = size_of_entries(root);
	const struct tkb_source source = pool_source();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct upload upload = { 0 };
	const struct tkb_push_options options = {
		SIZED(options),
		.collect = &CHOSEN(tkb_collect_options,
		                   .watch = &CHOSEN(tkb_watch, .self = &upload,
		                                    .on_progress = note_upload))
	};
	struct tkb_push_report report = push_with(remote, root, options);

	CHECK(upload.before_put > 0);
	CHECK(upload.count > upload.before_put);
	CHECK_INT(upload.done, packed + report.size);
	CHECK_INT(upload.total, packed + report.size);

	spy_reset();
	upload = (struct upload){ 0 };
	OK(tkb_push_bundle(remote, "other", &source, &options, &report, ERR));
	CHECK_INT(upload.before_put, 0);
	CHECK_INT(upload.done, report.size);
	CHECK_INT(upload.total, report.size);
}

TEST(push, tells_of_looking_before_it_packs)
{
	const char *root = pool();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct upload looked = { 0 };
	const struct tkb_watch watch = { SIZED(watch), .self = &looked,
		                         .on_look = note_upload };
	const struct tkb_push_report report = push_so(
		remote, root, CHOSEN(tkb_collect_options, .watch = &watch));

	CHECK(looked.count > 0);
	CHECK(looked.done >= report.pushed_count);
}

/* Bytes from the first to the last; folders would be few. */
static void note_bytes(void *self, uint64_t done, uint64_t total)
{
	CHECK(total > 1000);
	note_upload(self, done, total);
}

TEST(push, progress_of_a_dry_run_is_that_of_the_packing)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct upload packed = { 0 };
	const struct tkb_watch watch = { SIZED(watch), .self = &packed,
		                         .on_progress = note_bytes };

	(void)push_so(remote, pool(),
	              CHOSEN(tkb_collect_options, .is_dry_run = true,
	                     .watch = &watch));
	CHECK(packed.count > 0);
	CHECK_INT(packed.done, packed.total);
}

TEST(push, of_a_damaged_bundle_pushes_nothing)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	CHECK(pool() != NULL);
	for (unsigned i = 0; i < 16; i++) {
		const char *path = text("damaged-%u.tkb", i);

		write_file(path, read_file("pool.tkb"));
		flip(path, i);
		check_corrupt(remote, read_file(path));
	}
	CHECK_INT(spy_count(SPY_PUT) + spy_count(SPY_ADD), 0);
}

TEST(push, of_a_bundle_that_is_cut_short_pushes_nothing)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	CHECK(pool() != NULL);
	const struct tkb_bytes all = read_file("pool.tkb");
	const size_t sizes[] = { 0, 1, 100, all.size / 2, all.size - 1 };

	EACH(i, sizes)
		check_corrupt(remote, (struct tkb_bytes){ all.data, sizes[i] });
	CHECK_INT(spy_count(SPY_PUT) + spy_count(SPY_ADD), 0);
}

TEST(push, of_a_bundle_that_is_dry_verifies_and_puts_nothing)
{
	const struct tkb_source source = pool_source();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const struct tkb_push_options dry = {
		SIZED(dry),
		.collect = &CHOSEN(tkb_collect_options, .is_dry_run = true)
	};
	struct tkb_push_report report = { SIZED(report) };

	OK(tkb_push_bundle(remote, REF, &source, &dry, &report, ERR));
	CHECK_INT(report.pushed_count, POOL);
	CHECK_INT(report.blob_count, 0);
	CHECK_INT(spy_count(SPY_PUT) + spy_count(SPY_ADD), 0);

	/* It foretells what is there, and stamps nothing. */
	(void)push_bundle(remote);
	OK(tkb_push_bundle(remote, REF, &source, &dry, &report, ERR));
	CHECK_INT(report.pushed_count, 0);
	CHECK_INT(report.present_count, POOL);
	CHECK_INT(spy_count(SPY_TOUCH), 0);
}

TEST(push, of_a_bundle_too_large_for_a_blob_is_refused)
{
	const struct tkb_source source = pool_source();
	struct tkb_remote *remote = open_bounded("remote", 100 * 1000);

	CHECK_INT(tkb_push_bundle(remote, REF, &source, NULL, NULL, ERR),
	          TKB_ERR_TOO_LARGE);
	CHECK_INT(spy_count(SPY_PUT) + spy_count(SPY_ADD), 0);
}

TEST(push, to_what_cannot_be_a_ref_is_refused_before_anybody_is_asked)
{
	static const char *const names[] = { "",     ".",    "..",   "/a",
		                             "a/",   "a//b", "a/.b", "a b",
		                             "a,b",  "a*",   "é",    "a\n",
		                             "{gpu}" };
	const char *root = pool();
	const struct tkb_source source = pool_source();
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	for (size_t i = 0; i < TKB_COUNT_OF(names); i++) {
		struct tkb_ref_info info = { SIZED(info) };

		FAILS(tkb_push(remote, names[i], root, NULL, NULL, ERR),
		      TKB_ERR_INVALID, "cannot be a ref's name");
		CHECK_INT(tkb_push_bundle(remote, names[i], &source, NULL, NULL,
		                          ERR),
		          TKB_ERR_INVALID);
		CHECK_INT(tkb_pull(remote, names[i], "out", NULL, NULL, ERR),
		          TKB_ERR_INVALID);
		CHECK_INT(tkb_ref_look(remote, names[i], &info, ERR),
		          TKB_ERR_INVALID);
		CHECK_INT(tkb_ref_delete(remote, names[i], NULL, ERR),
		          TKB_ERR_INVALID);
	}
	CHECK_INT(spy_trips(), 0);
}

TEST(push, halves_what_is_too_large_for_a_blob)
{
	const char *root = pool();
	const uint64_t limit = 150 * 1000;
	struct tkb_remote *remote = open_bounded("remote", limit);
	const struct tkb_push_report report = push_all(remote, root);
	const char **blobs = blob_files("remote");
	uint64_t size = 0;

	CHECK_INT(report.pushed_count, POOL);
	CHECK_INT(report.left_out_count, 0);
	CHECK(report.blob_count > 1);
	CHECK_INT(report.blob_count, count_texts(blobs));
	CHECK_INT(report.blob_count, count_texts(record_files("remote")));
	for (size_t i = 0; blobs[i] != NULL; i++) {
		CHECK(read_file(blobs[i]).size <= limit);
		size += read_file(blobs[i]).size;
	}
	CHECK_INT(report.size, size);
	check_pulled(remote, "pulled", whole);
	CHECK_INT(push_all(remote, root).pushed_count, 0);
}

struct refused {
	size_t count;
	char message[256];
};

static void note_refused(void *self, const struct tkb_result *result)
{
	struct refused *refused = self;

	if (result->outcome != TKB_OUTCOME_LEFT_OUT ||
	    result->reason != TKB_REASON_LIMIT)
		return;
	refused->count++;
	(void)snprintf(refused->message, sizeof(refused->message), "%s",
	               result->message);
}

static struct tkb_push_report push_below(const char *root, uint64_t limit,
                                         struct refused *refused)
{
	const struct tkb_watch watch = { SIZED(watch), .self = refused,
		                         .on_result = note_refused };
	struct tkb_collect_options collect = { SIZED(collect),
		                               .watch = &watch };
	const struct tkb_push_options options = { SIZED(options),
		                                  .collect = &collect };
	struct tkb_push_report report = { SIZED(report) };

	FAILS(tkb_push(open_bounded("remote", limit), REF, root, &options,
	               &report, ERR),
	      TKB_ERR_PARTIAL, text("it has more than %d bytes", (int)limit));
	return report;
}

TEST(push, leaves_out_an_entry_too_large_for_a_blob)
{
	struct refused refused = { .count = 0 };
	struct tkb_push_report report = push_below(pool(), 6000, &refused);

	CHECK_INT(report.pushed_count + report.blob_count, 0);
	CHECK_INT(report.left_out_count, POOL);
	CHECK_INT(refused.count, POOL);
	CHECK_INT(spy_count(SPY_ADD), 0);

	refused.count = 0;
	report = push_below(pool(), 40 * 1000, &refused);
	CHECK_INT(report.left_out_count, 1);
	CHECK_INT(refused.count, 1);
	CHECK_CONTAINS(refused.message,
	               "its blob: it has more than 40000 bytes");
	CHECK_INT(report.pushed_count, POOL - 1);
	CHECK_INT(count_texts(record_files("remote")), report.blob_count);
}

TEST(push, that_is_strict_names_an_entry_too_large_for_a_blob)
{
	const struct tkb_collect_options collect =
		CHOSEN(tkb_collect_options, .is_strict = true);
	const struct tkb_push_options options = { SIZED(options),
		                                  .collect = &collect };

	FAILS(tkb_push(open_bounded("remote", 6000), REF, pool(), &options,
	               NULL, ERR),
	      TKB_ERR_TOO_LARGE,
	      text("entry '%s': its blob: it has more than 6000 bytes",
	           pool_keys()[0]));
}

TEST(push, that_is_strict_names_a_unit_too_large_for_a_blob)
{
	const struct tkb_tree tree = { .name = "notes", .path = "notes" };
	const struct tkb_collect_options collect =
		CHOSEN(tkb_collect_options, .is_strict = true, .trees = &tree,
	               .tree_count = 1);
	const struct tkb_push_options options = { SIZED(options),
		                                  .collect = &collect };

	SYS(mkdir("empty", 0777));
	SYS(mkdir("notes", 0777));
	write_file("notes/long", make_bytes(10 * 1000, 1));
	FAILS(tkb_push(open_bounded("remote", 6000), REF, "empty", &options,
	               NULL, ERR),
	      TKB_ERR_TOO_LARGE,
	      "entry 'long': its blob: it has more than 6000 bytes");
}

/* Each device that it is for has a pick. */
TEST(push, counts_an_entry_too_large_for_a_blob_once)
{
	struct refused refused = { .count = 0 };
	const char *root = inductor_cache();
	const struct tkb_push_report report = push_below(root, 2000, &refused);

	CHECK_INT(report.left_out_count, weigh(root).collected_count);
	CHECK_INT(refused.count, weigh(root).collected_count);
}

/* Of an entry of two devices, the remote takes that of the first alone. */
static int refuse_all_but_one(const struct spy_event *event,
                              struct tkb_error *err)
{
	return event->op == SPY_PUT && event->earlier != 1
	               ? tkb_fail(err, TKB_ERR_TOO_LARGE, "it is too large")
	               : 0;
}

TEST(push, leaves_out_an_entry_that_was_pushed_for_another_device)
{
	const char *root = inductor_cache();
	const char *keys[] = { list(text("%s/triton/1", root))[0] };
	struct told_keys told = { .reason = TKB_REASON_LIMIT };
	const struct tkb_watch watch = { SIZED(watch), .self = &told,
		                         .on_result = note_left_out };
	const struct tkb_collect_options collect = {
		SIZED(collect), .watch = &watch, .keys = keys, .key_count = 1
	};
	const struct tkb_push_options options = { SIZED(options),
		                                  .collect = &collect };
	struct tkb_push_report report = { SIZED(report) };

	struct tkb_remote *remote = open_spy(spy_url("remote"));
	spy.before = refuse_all_but_one;
	FAILS(tkb_push(remote, REF, root, &options, &report, ERR),
	      TKB_ERR_PARTIAL, "it is too large");
	CHECK_INT(report.pushed_count, 1);
	CHECK_INT(report.left_out_count, 1);
	CHECK_INT(told.count, 1);
}

static void note_root(void *self, const struct tkb_result *result)
{
	struct told_keys *told = self;

	if (result->outcome != TKB_OUTCOME_LEFT_OUT)
		return;
	told->count++;
	CHECK_CONTAINS(result->root, "/torchinductor/triton/");
}

/* As a damaged one, or one that is too large for a blob. */
TEST(push, tells_in_which_root_is_what_the_fleet_does_not_get)
{
	const char *root = inductor_cache();
	struct told_keys told = { .count = 0 };
	const struct tkb_watch watch = { SIZED(watch), .self = &told,
		                         .on_result = note_root };
	const struct tkb_collect_options collect = { SIZED(collect),
		                                     .watch = &watch };
	const struct tkb_push_options options = { SIZED(options),
		                                  .collect = &collect };
	struct tkb_remote *remote = open_spy(
		text("%s,%s?on-error=ignore", spy_url("near"), spy_url("far")));

	spy.before = refuse_far_puts;
	FAILS(tkb_push(remote, REF, root, &options, NULL, ERR), TKB_ERR_PARTIAL,
	      "far");
	CHECK_INT(told.count, weigh(root).collected_count);
}

TEST(push, to_remotes_that_may_not_be_written_is_denied)
{
	const char *root = pool();
	struct tkb_remote *remote =
		open_spy(text("%s?mode=ro", spy_url("remote")));

	FAILS(tkb_push(remote, REF, root, NULL, NULL, ERR), TKB_ERR_DENIED,
	      "no remote may be written");
	CHECK_INT(spy_count(SPY_PUT), 0);
}

TEST(push, that_is_cancelled_puts_nothing)
{
	const char *root = pool();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const struct tkb_watch watch = { SIZED(watch), .is_cancelled = always };
	const struct tkb_collect_options collect = { SIZED(collect),
		                                     .watch = &watch };
	const struct tkb_push_options options = { SIZED(options),
		                                  .collect = &collect };

	CHECK_INT(tkb_push(remote, REF, root, &options, NULL, ERR),
	          TKB_ERR_CANCELLED);
	CHECK_INT(spy_count(SPY_PUT) + spy_count(SPY_ADD), 0);
}

TEST(push, tells_each_entry_once_also_where_it_halves)
{
	const char *root = pool();
	struct told_keys told = { .count = 0 };
	struct told_keys dry_told = { .count = 0 };
	struct tkb_watch watch = { SIZED(watch), .on_result = note_key };
	struct tkb_collect_options collect = { SIZED(collect),
		                               .watch = &watch };
	struct tkb_remote *remote = open_bounded("remote", 150 * 1000);

	watch.self = &dry_told;
	collect.is_dry_run = true;
	(void)push_so(remote, root, collect);
	CHECK_INT(dry_told.packed, POOL);
	CHECK_INT(dry_told.twice, 0);
	watch.self = &told;
	collect.is_dry_run = false;
	CHECK(push_so(remote, root, collect).blob_count > 1);
	CHECK_INT(told.packed, POOL);
	CHECK_INT(told.twice, 0);
}

/* Once the first half is there, something removes a binary of the other one. */
static void damage_the_last(const struct spy_event *event)
{
	if (event->op == SPY_ADD && event->earlier == 0)
		shell("rm cache/%s/*.cubin", pool_keys()[POOL - 1]);
}

TEST(push, names_what_is_damaged_after_it_has_halved)
{
	const char *root = cache_of("cache", whole);
	struct told_keys told = { .count = 0 };
	const struct tkb_watch watch = { SIZED(watch), .self = &told,
		                         .on_result = note_left_out };
	struct tkb_push_report report;

	spy.before = refuse_the_whole;
	spy.after = damage_the_last;
	report = push_so(open_spy(spy_url("remote")), root,
	                 CHOSEN(tkb_collect_options, .watch = &watch));
	CHECK_INT(report.blob_count, 2);
	CHECK_INT(report.left_out_count, 1);
	CHECK_INT(told.count, 1);
	CHECK_STR(told.keys[0], pool_keys()[POOL - 1]);
}

TEST(push, never_goes_back_in_what_it_tells_of_its_progress)
{
	const char *root = pool();

	for (uint64_t limit = 0; limit < 300000; limit += 150000) {
		struct countdown progress = { 0 };
		struct tkb_remote *remote =
			open_bounded(limit == 0 ? "one" : "many", limit);

		(void)push_so(remote, root,
		              CHOSEN(tkb_collect_options, .threads = 1,
		                     .watch = look_on(&progress)));
		CHECK(progress.total != 0);
		CHECK(!progress.went_wrong);
	}
}
