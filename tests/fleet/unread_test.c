/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <stdio.h>
#include <unistd.h>

/* What is there and cannot be read is not absent, above all not to a clean-up. */

enum {
	LARGE = 65 * 1024 * 1024 /* more than any record */
};

/* Three records, and blobs that are old enough to go. */
static struct tkb_remote *arrange_with(struct tkb_remote_options options)
{
	struct tkb_remote *remote = open_spy_with(spy_url("remote"), options);

	push_three(remote);
	for (const char **file = blob_files("remote"); *file != NULL; file++)
		make_old(*file, 2 * DAY_S);
	return remote;
}

static struct tkb_remote *arrange(void)
{
	return arrange_with(DEFAULTS(tkb_remote_options));
}

struct faults {
	size_t count;
	enum tkb_remote_trouble trouble; /* of the last */
};

static void note_fault(void *self, const struct tkb_remote_fault *fault)
{
	struct faults *faults = self;

	CHECK(!fault->is_blob && fault->ref != NULL);
	CHECK(fault->message[0] != '\0');
	faults->count++;
	faults->trouble = fault->trouble;
}

/* It fails so, says so of so many records, and nothing is gone. */
static void check_gc_refuses(struct tkb_remote *remote, int status,
                             const char *part, size_t faults)
{
	struct faults noted = { 0 };
	const struct tkb_remote_gc_options options = {
		SIZED(options),         .has_max_age = true, .has_grace = true,
		.on_fault = note_fault, .self = &noted,
	};

	FAILS(tkb_remote_gc(remote, &options, NULL, ERR), status, part);
	CHECK_INT(noted.count, faults);
	CHECK_INT(spy_count(SPY_REMOVE) + spy_count(SPY_DROP), 0);
	CHECK_INT(count_texts(blob_files("remote")), 3);
}

/* Others than the owner of a file cannot be had in a test: a link is refused. */
static void make_unreadable(const char *path)
{
	SYS(rename(path, out("elsewhere")));
	SYS(symlink(out("elsewhere"), path));
}

TEST(unread, records_keep_gc_from_removing_anything)
{
	struct tkb_remote *remote = arrange();

	make_unreadable(record_files("remote")[1]);
	check_gc_refuses(remote, TKB_ERR_DENIED, "is a symbolic link", 1);
}

TEST(unread, records_are_those_that_are_too_large_for_a_file)
{
	struct tkb_remote *remote = arrange();

	SYS(truncate(record_files("remote")[0], LARGE));
	check_gc_refuses(remote, TKB_ERR_TOO_LARGE, REF, 1);
}

TEST(unread, records_are_those_that_are_larger_than_a_handle_takes)
{
	(void)arrange();
	struct tkb_remote *strict = open_spy_with(
		spy_url("remote"),
		CHOSEN(tkb_remote_options, .max_record_size = 100));
	check_gc_refuses(strict, TKB_ERR_TOO_LARGE, "more than 100", 3);
}

TEST(unread, refs_are_those_that_are_no_folders)
{
	struct tkb_remote *remote = arrange();

	SYS(rename(out("remote/ref/team,model"), out("moved")));
	write_text(out("remote/ref/team,model"), "a file");
	check_gc_refuses(remote, TKB_ERR_UNAVAILABLE, "Not a directory", 0);
	/* Somebody moved it to another disk. */
	SYS(unlink(out("remote/ref/team,model")));
	SYS(symlink(out("moved"), out("remote/ref/team,model")));
	struct tkb_remote *second = open_spy(spy_url("remote"));
	check_gc_refuses(second, TKB_ERR_UNAVAILABLE, "cannot list", 0);
	/* Or all of them. */
	SYS(rename(out("remote/ref"), out("refs")));
	write_text(out("remote/ref"), "a file");
	struct tkb_remote *third = open_spy(spy_url("remote"));
	check_gc_refuses(third, TKB_ERR_UNAVAILABLE, "Not a directory", 0);
}

TEST(unread, blobs_are_no_holes)
{
	struct tkb_remote *remote = arrange();

	SYS(rename(out("remote/cas"), out("cas")));
	write_text(out("remote/cas"), "a file");
	FAILS(tkb_push(remote, REF, pool(), NULL, NULL, ERR),
	      TKB_ERR_UNAVAILABLE, "Not a directory");
	CHECK_INT(spy_count(SPY_DROP), 0);
	CHECK_INT(count_texts(record_files("remote")), 3);
}

static int refuse_near(const struct spy_event *event, struct tkb_error *err)
{
	if (event->op != SPY_RECORDS || strcmp(event->folder, "near") != 0)
		return 0;
	return tkb_fail(err, TKB_ERR_UNAVAILABLE, "it is asleep");
}

TEST(unread, tiers_count_for_gc_also_where_their_errors_are_to_be_ignored)
{
	(void)arrange();
	struct tkb_remote *tiers =
		open_spy(text("%s?on-error=ignore&retries=0,%s",
	                      spy_url("near"), spy_url("remote")));
	/* Somebody pushes to both, then one of them loses the record. */
	(void)push_with(tiers, pool(),
	                CHOSEN(tkb_push_options, .is_compaction_off = true));
	spy_reset();
	spy.before = refuse_near;
	check_gc_refuses(tiers, TKB_ERR_UNAVAILABLE, "it is asleep", 0);
}

TEST(unread, records_hinder_no_pull_of_the_others_and_are_told)
{
	struct tkb_remote *remote = arrange();
	struct tkb_pull_report report = { SIZED(report) };

	make_unreadable(record_files("remote")[1]);
	FAILS(tkb_pull(remote, REF, out("pulled"), NULL, &report, ERR),
	      TKB_ERR_DENIED, "is a symbolic link");
	CHECK_INT(report.unreadable_count, 1);
	CHECK_INT(report.record_count, 2);
	size_t rest = count_entries(out("pulled"));
	CHECK(rest > 0 && rest < POOL);
	/* What it holds is pushed again, and the very same record is mended. */
	CHECK_INT(push_all(remote, pool()).pushed_count, POOL - rest);
	check_pulled(remote, "all", (struct part){ 0, POOL });
}

TEST(unread, records_are_told_by_the_result_where_the_rest_is_a_bundle)
{
	struct tkb_remote *remote = arrange();
	BUF(got, LARGE);
	const struct tkb_sink sink = tkb_buf_sink(&got);
	struct tkb_pull_report report = { SIZED(report) };
	struct tkb_launchers *launchers = NULL;

	make_unreadable(record_files("remote")[1]);
	FAILS(tkb_pull_bundle(remote, REF, NULL, &sink, &report, ERR),
	      TKB_ERR_PARTIAL, "is a symbolic link");
	CHECK_INT(report.unreadable_count, 1);
	CHECK_INT(report.fetched_count, 2);
	FAILS(tkb_pull_launchers(remote, REF, "absent", NULL, NULL, &launchers,
	                         ERR),
	      TKB_ERR_PARTIAL, "is a symbolic link");
	CHECK_INT(tkb_launchers_count(launchers), 0);
	tkb_launchers_close(launchers);
	struct outcome outcome = run(program(), "pull", REF, "-o", "some.tkb",
	                             "--remote", "remote", NULL);
	CHECK_INT(outcome.status, 4);
	CHECK_CONTAINS(outcome.err, "is a symbolic link");
	CHECK(exists("some.tkb"));
}

TEST(unread, records_can_be_dropped_with_their_ref)
{
	struct tkb_remote *remote = arrange();
	uint64_t dropped = 0;

	make_unreadable(record_files("remote")[1]);
	OK(tkb_ref_delete(remote, REF, &dropped, ERR));
	CHECK_INT(dropped, 3);
	CHECK_INT(count_texts(record_files("remote")), 0);
}

TEST(unread, names_of_blobs_in_damaged_records_keep_all_blobs_for_once)
{
	const struct tkb_remote_gc_options options = { SIZED(options),
		                                       .has_grace = true };
	struct tkb_remote *remote = arrange();
	struct tkb_remote_gc_report report = { SIZED(report) };

	flip(record_files("remote")[1], 8);
	OK(tkb_remote_gc(remote, &options, &report, ERR));
	CHECK_INT(report.hole_count, 1);
	CHECK_INT(report.removed_count, 0);
	CHECK_INT(count_texts(blob_files("remote")), 3);
	OK(tkb_remote_gc(remote, &options, &report, ERR));
	CHECK_INT(report.removed_count, 1);
}
