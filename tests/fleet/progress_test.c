/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

/* Who works with a remote is told how far it is. */

struct seen {
	uint64_t done;
	uint64_t total;
	size_t calls;
};

static void see(void *self, uint64_t done, uint64_t total)
{
	struct seen *seen = self;

	CHECK(done > seen->done && done <= total);
	seen->done = done;
	seen->total = total;
	seen->calls++;
}

/* A remote of three records, each of one entry. */
static struct tkb_remote *arrange_three(void)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	CHECK(pool() != NULL);
	push_singly(remote, 3);
	spy_reset();
	return remote;
}

TEST(progress, of_a_clean_up_counts_refs_twice_and_blobs)
{
	struct tkb_remote *remote = arrange_three();
	struct seen seen = { 0 };
	const struct tkb_remote_gc_options options = {
		SIZED(options),
		.watch = &CHOSEN(tkb_watch, .self = &seen, .on_progress = see)
	};

	OK(tkb_remote_gc(remote, &options, NULL, ERR));
	CHECK_INT(seen.total, 2 + 3);
	CHECK_INT(seen.done, seen.total);
	CHECK_INT(seen.calls, seen.total);
}

TEST(progress, of_a_verify_counts_records_and_the_blobs_that_are_listed)
{
	struct tkb_remote *remote = arrange_three();
	struct seen all = { 0 };
	struct seen one = { 0 };
	struct tkb_remote_verify_options options = {
		SIZED(options),
		.watch = &CHOSEN(tkb_watch, .self = &all, .on_progress = see)
	};

	OK(tkb_remote_verify(remote, &options, NULL, ERR));
	CHECK_INT(all.total, 3 + 3);
	CHECK_INT(all.done, all.total);
	options.ref = REF;
	options.watch = &CHOSEN(tkb_watch, .self = &one, .on_progress = see);
	OK(tkb_remote_verify(remote, &options, NULL, ERR));
	CHECK_INT(one.total, 3);
	CHECK_INT(one.done, one.total);
}

static int drop(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)self, (void)bytes, (void)err;
	return 0;
}

/* Put and get `bytes`; `seen` follows the get. */
static void get_back(const char *urls, struct tkb_bytes bytes,
                     struct seen *seen, bool is_followed)
{
	const struct tkb_sink sink = { drop, NULL };
	const struct tkb_blob blob = { bytes.size, tkb_memory_source(&bytes) };
	const struct tkb_watch watch = { SIZED(watch), .self = seen,
		                         .on_progress = see };
	struct tkb_remote_options options = { SIZED(options) };
	struct tkb_digest digest;

	OK(tkb_remote_put(open_spy(urls), &blob, &digest, ERR));
	spy_reset();
	spy.get_ms = 20;
	spy.get_parts = 10;
	if (is_followed)
		options.watch = &watch;
	OK(tkb_remote_get(open_spy_with(urls, options), &digest, &sink, ERR));
}

TEST(progress, of_a_blob_counts_its_bytes_of_those_that_it_has)
{
	struct seen seen = { 0 };

	CHECK(pool() != NULL);
	get_back(spy_url("remote"), read_file("pool.tkb"), &seen, true);
	CHECK_INT(seen.done, read_file("pool.tkb").size);
	CHECK_INT(seen.total, seen.done);
	CHECK(seen.calls >= 10);
	CHECK_INT(spy_count(SPY_HAS), 1);
}

TEST(progress, of_a_blob_costs_who_does_not_follow_no_question)
{
	struct seen seen = { 0 };

	CHECK(pool() != NULL);
	get_back(spy_url("remote"), read_file("pool.tkb"), &seen, false);
	CHECK_INT(seen.calls, 0);
	CHECK_INT(spy_count(SPY_HAS), 0);
}

TEST(progress, of_a_blob_that_is_damaged_in_one_tier_does_not_go_back)
{
	struct seen seen = { 0 };

	CHECK(pool() != NULL);
	struct tkb_bytes bytes = read_file("pool.tkb");
	get_back(spy_url("near"), bytes, &seen, false);
	flip(blob_files("near")[0], 8);
	get_back(text("%s?mode=ro,%s", spy_url("near"), spy_url("far")), bytes,
	         &seen, true);
	CHECK_INT(spy_count(SPY_GET), 2);
	CHECK_INT(seen.done, bytes.size);
	CHECK_INT(seen.total, bytes.size);
}
