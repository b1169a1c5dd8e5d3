/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <tkbundle/makers.h>

#include <unistd.h>

/* Pulls of what is gone, damaged, slow or told to end. */

static const struct part whole = { 0, POOL };

/* One record of the first ten entries, one of the rest. */
static struct tkb_remote *arrange_two(const char *name)
{
	struct tkb_remote *remote = open_spy(spy_url(name));

	CHECK(pool() != NULL);
	(void)push_part(remote, (struct part){ 0, 10 });
	(void)push_part(remote, (struct part){ 10, POOL });
	spy_reset();
	return remote;
}

/* Number of entries, of the record in that file. */
static size_t size_of(const char *record)
{
	size_t count = 0;

	for (size_t i = 0; i < POOL; i++)
		count += strstr(read_file(record).data, pool_keys()[i]) != NULL;
	return count;
}

/* The blob of the record that has ten entries, or of the other. */
static const char *blob_with(const char *remote, size_t count)
{
	const char **records = record_files(remote);

	for (; *records != NULL; records++) {
		if (size_of(*records) == count)
			return blob_of(remote, *records);
	}
	fail_msg("no record has %zu entries", count);
	return NULL;
}

TEST(pull_fault, where_a_blob_is_gone_takes_the_rest)
{
	struct tkb_remote *remote = arrange_two("remote");

	SYS(unlink(blob_with("remote", 10)));
	struct tkb_pull_report report = pull_all(remote, out("pulled"));
	check_is_part(out("pulled"), (struct part){ 10, POOL });
	CHECK_INT(report.wanted_count, 2);
	CHECK_INT(report.gone_count, 1);
	CHECK_INT(report.fetched_count, 1);
	CHECK_INT(report.failed_count, 0);
	CHECK_INT(report.emitted_count, POOL - 10);
}

/* A pull that fails, with what it reports: it is filled in on success only. */
static int pull(struct tkb_remote *remote, const char *root,
                struct tkb_error *err)
{
	return tkb_pull(remote, REF, root, NULL, NULL, err);
}

TEST(pull_fault, where_a_blob_is_damaged_shows_nothing_of_a_bad_frame)
{
	const char *cache = large_pool();
	const struct tkb_bytes bundle = read_file("pool.tkb");
	const size_t entries = count_names(cache);
	size_t most = 0;

	for (unsigned at = 0; at < 16; at++) {
		const char *name = text("remote-%u", at);
		const char *root = out(text("pulled-%u", at));
		struct tkb_remote *remote = open_spy(spy_url(name));

		(void)push_bytes(remote, bundle);
		spy_reset();
		flip(blob_files(name)[0], at);
		FAILS(pull(remote, root, ERR), TKB_ERR_CORRUPT,
		      "has another digest");
		CHECK_CONTAINS(ERR->message, "remote 'spy://");
		/* Those of other frames may be there; all are sound. */
		size_t count = count_entries(root);
		CHECK(count < entries);
		most = count > most ? count : most;
		CHECK_INT(spy_count(SPY_GET), 1);
	}
	CHECK(most >= entries / 2);
}

TEST(pull_fault, where_a_blob_is_cut_short_is_corrupt_and_takes_the_rest)
{
	struct tkb_remote *remote = arrange_two("remote");
	const char *blob = blob_with("remote", 10);

	SYS(truncate(blob, (off_t)read_file(blob).size - 1));
	CHECK_INT(pull(remote, out("pulled"), ERR), TKB_ERR_CORRUPT);
	check_has_part(out("pulled"), (struct part){ 10, POOL });
	SYS(truncate(blob, 0));
	CHECK_INT(pull(remote, out("pulled"), ERR), TKB_ERR_CORRUPT);
	(void)count_entries(out("pulled"));
}

/* Blobs of a larger record, which is tried first, and of one for each half. */
static struct tkb_remote *arrange_twice(void)
{
	struct tkb_remote *remote = arrange_two("remote");
	struct tkb_bytes bytes = read_file("pool.tkb");
	const struct tkb_source source = tkb_memory_source(&bytes);

	OK(tkb_push_bundle(remote, REF, &source, NULL, NULL, ERR));
	spy_reset();
	return remote;
}

TEST(pull_fault, takes_from_other_records_what_a_damaged_blob_had)
{
	struct tkb_remote *remote = arrange_twice();

	flip(blob_with("remote", POOL), 9);
	FAILS(pull(remote, out("pulled"), ERR), TKB_ERR_CORRUPT,
	      "has another digest");
	check_is_part(out("pulled"), whole);
	CHECK_INT(spy_count(SPY_GET), 3);
}

TEST(pull_fault, takes_from_other_records_what_a_gone_blob_had)
{
	struct tkb_remote *remote = arrange_twice();

	SYS(unlink(blob_with("remote", POOL)));
	struct tkb_pull_report report = pull_all(remote, out("pulled"));
	check_is_part(out("pulled"), whole);
	CHECK_INT(report.gone_count, 1);
	CHECK_INT(report.wanted_count, 3);
	CHECK_INT(report.fetched_count, 2);
	CHECK_INT(report.emitted_count, POOL);
	CHECK_INT(report.present_count, 0);
}

TEST(pull_fault, takes_what_it_can_where_a_remote_stops_to_answer)
{
	struct tkb_remote *remote = arrange_two("remote");
	struct tkb_pull_options options = { SIZED(options), .connections = 1 };

	/* Two more tries, then it counts as dead. */
	spy_refuse(SPY_GET, 3, TKB_ERR_UNAVAILABLE, "it broke off");
	FAILS(tkb_pull(remote, REF, out("pulled"), &options, NULL, ERR),
	      TKB_ERR_UNAVAILABLE, "it broke off");
	CHECK_INT(spy_count(SPY_GET), 3);
	CHECK_INT(count_entries(out("pulled")), 0);
}

TEST(pull_fault, tries_a_blob_again)
{
	struct tkb_remote *remote = arrange_two("remote");
	struct tkb_pull_options options = { SIZED(options), .connections = 1 };

	spy_refuse(SPY_GET, 2, TKB_ERR_UNAVAILABLE, "it broke off");
	CHECK_INT(pull_with(remote, out("pulled"), options).fetched_count, 2);
	CHECK_INT(spy_count(SPY_GET), 4);
	check_is_part(out("pulled"), whole);
}

/* Add `record` to REF of the folder, under its right name. */
static void add_record(const char *remote, const char *record)
{
	const struct tkb_digest digest = digest_of(tkb_text(record));

	write_text(text("%s/%s/ref/team,model/%s", test_folder(), remote,
	                hex_of(&digest)),
	           record);
}

TEST(pull_fault, passes_over_records_that_it_cannot_read_and_counts_them)
{
	struct tkb_remote *remote = arrange_two("remote");
	const char *first = record_files("remote")[0];
	const char *copy = text("%s", (const char *)read_file(first).data);
	struct tkb_ref_info info = { SIZED(info) };

	add_record("remote", "no record at all");
	write_text("newer", copy);
	edit_file("newer", "\"version\":4", "\"version\":9");
	add_record("remote", read_file("newer").data);
	struct tkb_pull_report report = pull_all(remote, out("pulled"));
	check_is_part(out("pulled"), whole);
	CHECK_INT(report.unreadable_count, 2);
	CHECK_INT(report.record_count, 2);
	OK(tkb_ref_look(remote, REF, &info, ERR));
	CHECK_INT(info.unreadable_count, 2);
	CHECK_INT(info.record_count, 4);
	CHECK_INT(push_all(remote, pool()).pushed_count, 0);
}

/* Records that say who made what, and do not add up. */
TEST(pull_fault, passes_over_a_record_whose_makers_do_not_fit_its_entries)
{
	static const char *const edits[][2] = {
		{ "\"makers\":[\"triton=3.6.0\"]", "\"makers\":[]" },
		{ "\"makers\":[\"triton=3.6.0\"]",
		  "\"makers\":[\"triton=3.6.0\",\"a=1\"]" },
		{ "\"made\":[1", "\"made\":[2" },
		{ "\"made\":[1,", "\"made\":[" },
		{ "\"makers\":[\"triton=3.6.0\"],", "" },
	};
	const char *const *keys = pool_keys();
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	for (size_t i = 0; i < POOL; i++) {
		const struct tkb_made made = { NULL, keys[i] };

		OK(tkb_makers_note(pool(), "triton=3.6.0", &made, 1, ERR));
	}
	(void)push_all(remote, pool());
	const char *copy = text(
		"%s", (const char *)read_file(record_files("remote")[0]).data);
	for (size_t i = 0; i < 5; i++) {
		const char *name = text("edited-%zu", i);

		write_text(name, copy);
		edit_file(name, edits[i][0], edits[i][1]);
		add_record("remote", read_file(name).data);
	}
	CHECK_INT(pull_all(remote, out("pulled")).unreadable_count, 5);
}

TEST(pull_fault, takes_the_rest_where_a_record_is_not_what_its_name_says)
{
	struct tkb_remote *remote = arrange_two("remote");
	const char **records = record_files("remote");
	const size_t ten = size_of(records[0]) == 10 ? 0 : 1;

	flip(records[ten], 8);
	FAILS(pull(remote, out("pulled"), ERR), TKB_ERR_CORRUPT,
	      strrchr(records[ten], '/') + 1);
	CHECK_CONTAINS(ERR->message, "remote 'spy://");
	check_is_part(out("pulled"), (struct part){ 10, POOL });
	/* The next push drops it, and brings its entries again. */
	struct tkb_push_report report = push_all(remote, pool());
	CHECK_INT(report.pushed_count, 10);
	CHECK_INT(report.dropped_count, 1);
	check_pulled(remote, "pulled", whole);
}

/* It is damaged on its way the first time, and whole where it lies. */
static const char *flickering;

static int flicker(const struct spy_event *event, struct tkb_error *err)
{
	(void)err;
	if (event->op == SPY_RECORDS && event->earlier < 2)
		flip(flickering, 8);
	return 0;
}

TEST(pull_fault, drops_no_record_that_was_damaged_on_its_way)
{
	struct tkb_remote *remote = arrange_two("remote");

	flickering = record_files("remote")[0];
	spy.before = flicker;
	struct tkb_push_report report = push_all(remote, pool());
	CHECK(report.pushed_count != 0);
	CHECK_INT(report.dropped_count, 0);
	CHECK(exists(flickering));
	check_pulled(remote, "pulled", whole);
}

TEST(pull_fault, believes_no_record_that_names_another_bundle)
{
	struct tkb_remote *remote = arrange_two("remote");
	const char **records = record_files("remote");
	const size_t ten = size_of(records[0]) == 10 ? 0 : 1;
	const char *lie = read_file(records[ten]).data;
	const char *other = read_file(records[1 - ten]).data;

	/* The entries of one, the blob of the other. */
	write_text("lie", lie);
	edit_file("lie", text("%.80s", lie), text("%.80s", other));
	SYS(unlink(records[ten]));
	add_record("remote", read_file("lie").data);
	CHECK_INT(pull(remote, out("pulled"), ERR), TKB_ERR_CORRUPT);
	check_is_part(out("pulled"), (struct part){ 10, POOL });
}

/* Tiers. */

static struct tkb_remote *near_and_far(const char *parameters)
{
	return open_spy(
		text("%s%s,%s", spy_url("near"), parameters, spy_url("far")));
}

/* The same two records in both. */
static void arrange_both(void)
{
	(void)arrange_two("far");
	CHECK_INT(run("cp", "-r", "far", "near", NULL).status, 0);
}

static size_t count_at(enum spy_op op, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < spy.count; i++) {
		const struct spy_event *event = &spy.events[i];

		count += event->op == op && strcmp(event->folder, name) == 0;
	}
	return count;
}

TEST(pull_fault, of_tiers_asks_the_nearest_first_and_fills_it)
{
	struct tkb_remote *remote = near_and_far("");

	(void)arrange_two("far");
	check_pulled(remote, "pulled", whole);
	CHECK_INT(count_at(SPY_GET, "far"), 2);
	CHECK_INT(count_at(SPY_PUT, "near"), 2);
	CHECK_INT(count_texts(blob_files("near")), 2);
	spy_reset();
	check_pulled(remote, "again", whole);
	CHECK_INT(count_at(SPY_GET, "far"), 0);
	CHECK_INT(count_at(SPY_GET, "near"), 2);
}

TEST(pull_fault, of_tiers_takes_from_the_next_what_one_has_damaged)
{
	const char *cache = large_pool();
	const struct tkb_bytes bundle = read_file("pool.tkb");
	const size_t entries = count_names(cache);

	for (unsigned at = 0; at < 16; at += 3) {
		const char *root = out(text("pulled-%u", at));

		CHECK_INT(run("rm", "-rf", "near", "far", NULL).status, 0);
		struct tkb_remote *remote = near_and_far("");
		(void)push_bytes(remote, bundle);
		spy_reset();
		flip(blob_files("near")[0], at);
		struct tkb_pull_report report = pull_all(remote, root);
		CHECK_INT(count_entries(root), entries);
		CHECK_INT(report.emitted_count, entries);
		CHECK_INT(report.present_count + report.damaged_count +
		                  report.failed_count,
		          0);
		CHECK_INT(report.fetched_count, 1);
		CHECK_INT(count_at(SPY_GET, "far"), 1);
		/* And the nearer is whole again. */
		CHECK(tkb_bytes_equal(read_file(blob_files("near")[0]),
		                      bundle));
	}
}

static int fail_near(const struct spy_event *event, struct tkb_error *err)
{
	return event->op != SPY_OPEN && strcmp(event->folder, "near") == 0
	               ? tkb_fail(err, TKB_ERR_DENIED, "go away")
	               : 0;
}

TEST(pull_fault, of_tiers_ignores_the_errors_of_one_that_says_so)
{
	arrange_both();
	struct tkb_remote *remote = near_and_far("?on-error=ignore");
	struct tkb_remote *strict = near_and_far("");
	spy.before = fail_near;
	CHECK_INT(pull_all(remote, out("pulled")).fetched_count, 2);
	check_is_part(out("pulled"), whole);
	FAILS(pull(strict, out("other"), ERR), TKB_ERR_DENIED, "go away");
	CHECK_INT(push_all(remote, pool()).pushed_count, 0);
}

TEST(pull_fault, of_tiers_fills_none_that_is_read_only)
{
	struct tkb_remote *remote = near_and_far("?mode=ro");

	(void)arrange_two("far");
	check_pulled(remote, "pulled", whole);
	CHECK(!exists("near/cas"));
}

TEST(pull_fault, into_a_root_that_cannot_be_written_says_so)
{
	struct tkb_remote *remote = arrange_two("remote");
	struct tkb_error err = { 0 };

	CHECK_INT(pull(remote, "/sys/tkbundle", &err), TKB_ERR_IO);
	CHECK_CONTAINS(err.message, "/sys/tkbundle");
	CHECK_INT(pull(remote, "/sys/tkbundle", &err), TKB_ERR_IO);
	CHECK_CONTAINS(err.message, "/sys/tkbundle");
	write_text("file", "in the way");
	CHECK_INT(pull(remote, out("file/cache"), &err), TKB_ERR_INVALID);
	CHECK_CONTAINS(err.message, "file");
}
