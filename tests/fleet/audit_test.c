/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <stdio.h>
#include <unistd.h>

/* What tkb_remote_verify() finds in a remote, and what it drops. */

static struct tkb_remote *arrange(const char *urls)
{
	static const struct part parts[] = { { 0, 5 }, { 5, 9 }, { 9, POOL } };
	struct tkb_remote *remote = open_spy(urls);

	CHECK(pool() != NULL);
	for (size_t i = 0; i < 3; i++)
		(void)push_part(remote, parts[i]);
	spy_reset();
	return remote;
}

static struct tkb_remote_verify_report verify(struct tkb_remote *remote,
                                              bool is_repair, int status)
{
	const struct tkb_remote_verify_options options = { SIZED(options),
		                                           .is_repair =
		                                                   is_repair };
	struct tkb_remote_verify_report report = { SIZED(report) };
	struct tkb_error err = { 0 };

	CHECK_INT(tkb_remote_verify(remote, &options, &report, &err), status);
	CHECK_INT(err.status, status);
	return report;
}

TEST(audit, of_a_whole_remote_reads_all_and_changes_nothing)
{
	struct tkb_remote *remote = arrange(spy_url("remote"));
	struct tkb_remote_verify_report report = verify(remote, true, 0);

	CHECK_INT(report.ref_count, 1);
	CHECK_INT(report.record_count, 3);
	CHECK_INT(report.blob_count, 3);
	CHECK_INT(report.damaged_count + report.missing_count +
	                  report.unread_count + report.newer_count,
	          0);
	CHECK_INT(spy_count(SPY_GET), 3);
	CHECK_INT(spy_count(SPY_REMOVE) + spy_count(SPY_DROP), 0);
}

TEST(audit, drops_a_blob_of_the_right_size_which_the_next_push_brings)
{
	struct tkb_remote *remote = arrange(spy_url("remote"));
	const char *blob = blob_files("remote")[1];

	flip(blob, 8);
	CHECK_INT(verify(remote, false, TKB_ERR_CORRUPT).damaged_count, 1);
	CHECK(exists(blob));
	struct tkb_remote_verify_report report =
		verify(remote, true, TKB_ERR_CORRUPT);
	CHECK_INT(report.dropped_count, 1);
	CHECK(!exists(blob));
	CHECK_INT(verify(remote, true, TKB_ERR_PARTIAL).missing_count, 1);
	CHECK_INT(push_all(remote, pool()).dropped_count, 1);
	CHECK_INT(verify(remote, false, 0).missing_count, 0);
	check_pulled(remote, "pulled", (struct part){ 0, POOL });
}

TEST(audit, drops_a_damaged_record_and_never_what_cannot_be_read)
{
	struct tkb_remote *remote = arrange(spy_url("remote"));
	const char **records = record_files("remote");
	const char **blobs = blob_files("remote");

	flip(records[0], 8);
	SYS(rename(records[1], out("record")));
	SYS(symlink(out("record"), records[1]));
	SYS(rename(blobs[2], out("blob")));
	SYS(symlink(out("blob"), blobs[2]));
	struct tkb_remote_verify_report report =
		verify(remote, true, TKB_ERR_CORRUPT);
	CHECK_INT(report.damaged_count, 1);
	CHECK(report.unread_count >= 1);
	CHECK_INT(report.dropped_count, 1);
	CHECK(!exists(records[0]));
	CHECK(exists(records[1]));
	CHECK(exists(blobs[2]));
}

TEST(audit, of_a_bundle_that_is_another_drops_the_record_that_lies)
{
	struct tkb_remote *remote = arrange(spy_url("remote"));
	const char *copy = text(
		"%s", (const char *)read_file(record_files("remote")[0]).data);
	const char *other = text(
		"%s", (const char *)read_file(record_files("remote")[1]).data);
	char *lie = (char *)(uintptr_t)text("%s", copy);

	/* The blob of one, and what another says of its bundle. */
	memcpy(strstr(lie, "\"bundle\":\"") + 10,
	       strstr(other, "\"bundle\":\"") + 10, 64);
	OK(tkb_remote_add(remote, REF, tkb_text(lie), ERR));
	CHECK_INT(count_texts(record_files("remote")), 4);
	CHECK_INT(verify(remote, true, TKB_ERR_CORRUPT).dropped_count, 1);
	CHECK_INT(count_texts(record_files("remote")), 3);
	CHECK_INT(count_texts(blob_files("remote")), 3);
}

TEST(audit, finds_blobs_that_no_record_names_but_not_for_one_ref)
{
	struct tkb_remote *remote = arrange(spy_url("remote"));
	const struct tkb_bytes bytes = make_bytes(5000, 1);
	const struct tkb_blob blob = { bytes.size, tkb_memory_source(&bytes) };
	const struct tkb_remote_verify_options options = { SIZED(options),
		                                           .ref = REF };
	struct tkb_remote_verify_report report = { SIZED(report) };
	struct tkb_digest digest;

	OK(tkb_remote_put(remote, &blob, &digest, ERR));
	const char *hex = hex_of(&digest);
	flip(out(text("remote/cas/%.2s/%s", hex, hex)), 8);
	OK(tkb_remote_verify(remote, &options, &report, ERR));
	CHECK_INT(report.blob_count, 3);
	CHECK_INT(verify(remote, true, TKB_ERR_CORRUPT).dropped_count, 1);
	CHECK_INT(verify(remote, true, 0).blob_count, 3);
}

TEST(audit, of_tiers_mends_each_and_asks_only_the_last_for_all)
{
	struct tkb_remote *remote =
		arrange(text("%s,%s", spy_url("near"), spy_url("remote")));
	const char **near = blob_files("near");

	flip(near[0], 8);
	SYS(unlink(near[1]));
	struct tkb_remote_verify_report report =
		verify(remote, true, TKB_ERR_CORRUPT);
	CHECK_INT(report.damaged_count, 1);
	CHECK_INT(report.dropped_count, 1);
	CHECK_INT(report.missing_count, 0);
	CHECK_INT(count_texts(blob_files("near")), 1);
	CHECK_INT(count_texts(blob_files("remote")), 3);
}

TEST(audit, of_a_ref_without_records_is_a_miss)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const struct tkb_remote_verify_options options = { SIZED(options),
		                                           .ref = "none" };

	CHECK_INT(tkb_remote_verify(remote, &options, NULL, ERR), TKB_MISS);
}

TEST(audit, reads_on_behind_blobs_that_it_may_not_read)
{
	struct tkb_remote *remote = arrange(spy_url("remote"));

	spy_refuse(SPY_GET, SIZE_MAX, TKB_ERR_DENIED, "it is private");
	CHECK_INT(verify(remote, true, TKB_ERR_PARTIAL).unread_count, 3);
	CHECK_INT(spy_count(SPY_REMOVE) + spy_count(SPY_DROP), 0);
}

TEST(audit, ends_at_its_deadline)
{
	struct tkb_remote *remote = arrange(spy_url("remote"));
	const struct tkb_remote_verify_options options = { SIZED(options),
		                                           .deadline_ms = 200 };
	const uint64_t start = now_ms();
	struct tkb_error err = { 0 };

	spy.get_ms = 60000;
	CHECK_INT(tkb_remote_verify(remote, &options, NULL, &err),
	          TKB_ERR_CANCELLED);
	CHECK(now_ms() - start < 30000);
	CHECK(strstr(err.message, "the deadline of 200 ms ended it") != NULL);
}

static bool is_fetched;

static void note_get(const struct spy_event *event)
{
	is_fetched = is_fetched || event->op == SPY_GET;
}

static bool is_cancelled_once_fetched(void *self)
{
	(void)self;
	return is_fetched;
}

TEST(audit, asks_its_watch_while_it_checks_a_bundle)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const struct tkb_remote_verify_options options = {
		SIZED(options), .ref = REF,
		.watch = &CHOSEN(tkb_watch,
		                 .is_cancelled = is_cancelled_once_fetched)
	};
	struct tkb_error err = { 0 };

	(void)push_all(remote, pool());
	spy_reset();
	is_fetched = false;
	spy.after = note_get;
	CHECK_INT(tkb_remote_verify(remote, &options, NULL, &err),
	          TKB_ERR_CANCELLED);
	CHECK_INT(spy_count(SPY_GET), 1);
	CHECK(strstr(err.message, "cancelled") != NULL);
	spy.after = NULL;
}
