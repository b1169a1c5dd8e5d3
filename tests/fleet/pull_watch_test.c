/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <stdatomic.h>

/* What a pull tells while it works, how it ends early, what it does at once. */

enum {
	RECORDS = 8
};

static const struct part chosen = { 0, RECORDS };

/* A remote of eight records, each of one entry. */
static struct tkb_remote *arrange_eight(const char *scheme)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	CHECK(pool() != NULL);
	push_singly(remote, RECORDS);
	spy_reset();
	return open_spy(text("%s://%s/remote", scheme, test_folder()));
}

TEST(pull_watch, several_blobs_are_fetched_at_once_and_never_more_than_asked)
{
	static const uint32_t wanted[] = { 1, 2, 5, 0 };
	struct tkb_remote *remote = arrange_eight("spy");

	for (size_t i = 0; i < TKB_COUNT_OF(wanted); i++) {
		const struct tkb_pull_options options = { SIZED(options),
			                                  .connections =
			                                          wanted[i] };

		spy_reset();
		spy.get_ms = 60;
		(void)pull_with(remote, out(text("pulled-%zu", i)), options);
		CHECK_INT(spy.most_flying, wanted[i] == 0 ? 4 : wanted[i]);
		CHECK_INT(spy_count(SPY_GET), RECORDS);
		check_is_part(out(text("pulled-%zu", i)), chosen);
	}
}

TEST(pull_watch, what_cannot_be_shared_is_fetched_one_after_another)
{
	struct tkb_remote *remote = arrange_eight("lone");
	const struct tkb_pull_options options = { SIZED(options),
		                                  .connections = 8 };

	spy.get_ms = 10;
	(void)pull_with(remote, out("pulled"), options);
	CHECK_INT(spy.most_flying, 1);
	CHECK_INT(spy_count(SPY_OPEN), 1);
	check_is_part(out("pulled"), chosen);
}

TEST(pull_watch, memory_can_be_pulled_from)
{
	struct tkb_remote *remote = must_open_remote("memory://one", NULL);

	CHECK(pool() != NULL);
	push_singly(remote, RECORDS);
	CHECK_INT(pull_all(remote, out("pulled")).fetched_count, RECORDS);
	check_is_part(out("pulled"), chosen);
}

/* A watch that is never called by two at once. */
struct watcher {
	struct tkb_watch watch;
	atomic_int inside;
	atomic_bool was_crowded;
	atomic_bool went_back;
	uint64_t done;
	uint64_t total;
	unsigned results;
	unsigned questions;
	unsigned patience; /* so many questions, then it is cancelled */
};

static void enter(struct watcher *watcher)
{
	if (atomic_fetch_add(&watcher->inside, 1) != 0)
		atomic_store(&watcher->was_crowded, true);
	nap_ms(1);
}

static void leave(struct watcher *watcher)
{
	(void)atomic_fetch_sub(&watcher->inside, 1);
}

static void on_result(void *self, const struct tkb_result *result)
{
	struct watcher *watcher = self;

	(void)result;
	enter(watcher);
	watcher->results++;
	leave(watcher);
}

static void on_progress(void *self, uint64_t done, uint64_t total)
{
	struct watcher *watcher = self;

	enter(watcher);
	if (done < watcher->done || done > total)
		atomic_store(&watcher->went_back, true);
	watcher->done = done;
	watcher->total = total;
	leave(watcher);
}

static bool is_cancelled(void *self)
{
	struct watcher *watcher = self;

	enter(watcher);
	watcher->questions++;
	bool answer = watcher->patience != 0 &&
	              watcher->questions > watcher->patience;
	leave(watcher);
	return answer;
}

static const struct tkb_watch *watch_by(struct watcher *watcher)
{
	watcher->watch = (struct tkb_watch){
		sizeof(watcher->watch), watcher, on_result, on_progress,
		is_cancelled,           NULL
	};
	return &watcher->watch;
}

TEST(pull_watch, is_called_by_one_at_a_time_and_progress_never_goes_back)
{
	struct tkb_remote *remote = arrange_eight("spy");
	struct watcher watcher = { .results = 0 };
	const struct tkb_emit_options emit = { SIZED(emit), .threads = 2,
		                               .watch = watch_by(&watcher) };
	const struct tkb_pull_options options = { SIZED(options), .emit = &emit,
		                                  .connections = 8 };

	spy.get_ms = 30;
	spy.get_parts = 4;
	struct tkb_pull_report report =
		pull_with(remote, out("pulled"), options);
	CHECK(!watcher.was_crowded);
	CHECK(!watcher.went_back);
	CHECK_INT(watcher.results, RECORDS);
	CHECK(watcher.questions > RECORDS);
	CHECK_INT(watcher.done, report.fetched_size);
	CHECK_INT(watcher.total, report.fetched_size);
}

TEST(pull_watch, of_the_remote_is_called_by_one_at_a_time_too)
{
	struct watcher asked = { .results = 0 };
	struct watcher watcher = { .results = 0 };
	const struct tkb_emit_options emit = { SIZED(emit),
		                               .watch = watch_by(&watcher) };
	const struct tkb_pull_options options = { SIZED(options), .emit = &emit,
		                                  .connections = 8 };
	struct tkb_remote *remote = open_spy_with(
		spy_url("remote"),
		CHOSEN(tkb_remote_options, .watch = watch_by(&asked)));

	(void)arrange_eight("spy");
	spy.get_ms = 30;
	spy.get_parts = 4;
	(void)pull_with(remote, out("pulled"), options);
	CHECK(!asked.was_crowded);
	CHECK(asked.questions > RECORDS);
	CHECK(!watcher.was_crowded);
}

TEST(pull_watch, of_damaged_blobs_never_goes_back_either)
{
	struct watcher watcher = { .results = 0 };
	const struct tkb_emit_options emit = { SIZED(emit), .threads = 1,
		                               .watch = watch_by(&watcher) };
	const struct tkb_pull_options options = { SIZED(options), .emit = &emit,
		                                  .connections = 4 };
	const char *cache = large_pool();
	const struct tkb_bytes bundle = read_file("pool.tkb");
	struct tkb_remote *remote =
		open_spy(text("%s,%s", spy_url("near"), spy_url("far")));

	(void)push_bytes(remote, bundle);
	flip(blob_files("near")[0], 14);
	/* Most of it is emitted before the damage is seen. */
	spy.get_ms = 400;
	spy.get_parts = 8;
	(void)pull_with(remote, out("pulled"), options);
	CHECK_INT(count_entries(out("pulled")), count_names(cache));
	CHECK(!watcher.went_back);
	CHECK_INT(watcher.done, watcher.total);
}

TEST(pull_watch, of_lost_blobs_never_goes_back_either)
{
	struct watcher watcher = { .results = 0 };
	const struct tkb_emit_options emit = { SIZED(emit), .threads = 1,
		                               .watch = watch_by(&watcher) };
	const struct tkb_pull_options options = { SIZED(options), .emit = &emit,
		                                  .connections = 1 };
	const char *cache = large_pool();
	const struct tkb_bytes bundle = read_file("pool.tkb");
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	CHECK(cache != NULL);
	push_singly(remote, RECORDS);
	(void)push_bytes(remote, bundle);
	for (const char **blob = blob_files("remote"); *blob != NULL; blob++) {
		if (read_file(*blob).size == bundle.size)
			flip(*blob, 14);
	}
	CHECK_INT(tkb_pull(remote, REF, out("pulled"), &options, NULL, ERR),
	          TKB_ERR_CORRUPT);
	check_has_part(out("pulled"), chosen);
	CHECK(!watcher.went_back);
}

TEST(pull_watch, ends_a_pull_soon_in_the_middle_of_a_blob)
{
	struct tkb_remote *remote = arrange_eight("spy");

	for (unsigned patience = 1; patience < 200; patience += 23) {
		struct watcher watcher = { .patience = patience };
		const struct tkb_watch watch = { SIZED(watch), .self = &watcher,
			                         .is_cancelled = is_cancelled };
		const struct tkb_emit_options emit = { SIZED(emit),
			                               .watch = &watch };
		const struct tkb_pull_options options = { SIZED(options),
			                                  .emit = &emit,
			                                  .connections = 3 };
		const char *root = out(text("pulled-%u", patience));
		uint64_t start = now_ms();

		spy.get_ms = 2000;
		spy.get_parts = 10;
		CHECK_INT(tkb_pull(remote, REF, root, &options, NULL, ERR),
		          TKB_ERR_CANCELLED);
		CHECK(now_ms() - start < 1800);
		CHECK_INT(spy.flying, 0);
		(void)count_entries(root);
	}
	spy_reset();
	check_pulled(remote, "after", chosen);
}

TEST(pull_watch, of_the_remote_ends_a_pull_too)
{
	struct watcher watcher = { .patience = 40 };
	struct tkb_remote *remote = open_spy_with(
		spy_url("remote"),
		CHOSEN(tkb_remote_options, .watch = watch_by(&watcher)));

	(void)arrange_eight("spy");
	spy.get_ms = 2000;
	spy.get_parts = 10;
	CHECK_INT(tkb_pull(remote, REF, out("pulled"), NULL, NULL, ERR),
	          TKB_ERR_CANCELLED);
}

/* One of several ends while others are still on their way. */
static int fail_last(const struct spy_event *event, struct tkb_error *err)
{
	return event->op == SPY_GET && event->earlier == 0
	               ? tkb_fail(err, TKB_ERR_DENIED, "not this one")
	               : 0;
}

TEST(pull_watch, a_pull_that_fails_waits_for_all_its_threads)
{
	struct tkb_remote *remote = arrange_eight("spy");

	spy.before = fail_last;
	spy.get_ms = 50;
	CHECK_INT(tkb_pull(remote, REF, out("pulled"), NULL, NULL, ERR),
	          TKB_ERR_DENIED);
	CHECK_INT(spy.flying, 0);
	CHECK_INT(count_entries(out("pulled")), RECORDS - 1);
	/* A root that cannot be made ends it before the blobs are here. */
	spy_reset();
	spy.get_ms = 300;
	CHECK_INT(tkb_pull(remote, REF, "/sys/tkbundle", NULL, NULL, ERR),
	          TKB_ERR_IO);
	CHECK(spy_count(SPY_GET) != 0);
	CHECK_INT(spy.flying, 0);
}

TEST(pull_watch, a_root_that_cannot_be_made_ends_a_pull_in_mid_blob)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	(void)push_all(remote, large_pool());
	spy_reset();
	/* Its header comes soon, the rest whatever is said. */
	spy.get_ms = 600;
	spy.get_parts = 6;
	spy.is_deaf = true;
	CHECK_INT(tkb_pull(remote, REF, "/sys/tkbundle", NULL, NULL, ERR),
	          TKB_ERR_IO);
	CHECK_INT(spy_count(SPY_GET), 1);
	CHECK_INT(spy.flying, 0);
}
