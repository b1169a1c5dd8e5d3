/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <tkbundle/holdings.h>
#include <tkbundle/makers.h>

#include <unistd.h>

#include "fleet/compact.h"

/* Many small records that become one. */

enum {
	MANY = 32 /* records that a ref may have */
};

static const struct part whole = { 0, POOL };

/* Push `count` records of an entry each; the last push may compact. */
static struct tkb_push_report push_many(struct tkb_remote *remote,
                                        unsigned count)
{
	struct tkb_push_report report = { SIZED(report) };

	for (unsigned i = 0; i < count; i++) {
		const char *root = autotunes(text("cache-%u", i), i, i + 1);

		report = push_all(remote, root);
		CHECK_INT(report.pushed_count, 1);
	}
	return report;
}

static void check_has_many(struct tkb_remote *remote, const char *name,
                           unsigned count)
{
	const char *all = autotunes(text("%s-all", name), 0, count);

	(void)pull_all(remote, out(name));
	struct tkb_collect_report wanted = weigh(all);
	struct tkb_collect_report got = weigh(out(name));
	CHECK_INT(got.collected_count, count);
	CHECK(tkb_digest_equal(&got.id, &wanted.id));
}

TEST(compact, comes_with_the_thirty_third_record_and_loses_nothing)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	spy_reset();
	struct tkb_push_report report = push_many(remote, MANY);
	CHECK_INT(report.compacted_count, 0);
	CHECK_INT(count_texts(record_files("remote")), MANY);
	report = push_all(remote, autotunes("next", MANY, MANY + 1));
	CHECK_INT(report.compacted_count, MANY + 1);
	CHECK_INT(count_texts(record_files("remote")), 1);
	/* Who fetches the old ones still can. */
	CHECK_INT(count_texts(blob_files("remote")), MANY + 2);
	check_has_many(remote, "pulled", MANY + 1);
}

static int try_compact(struct tkb_remote *remote, uint64_t *count,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_record_list_release)
	struct tkb_record_list records = { 0 };

	CHECK_OK(tkb_record_list_read(remote, REF, false, &records, err), err);
	return tkb_compact(remote, REF, &records, NULL, count, err);
}

/* Compact REF by hand; how many records became fewer? */
static uint64_t compact(struct tkb_remote *remote)
{
	uint64_t count = 0;

	OK(try_compact(remote, &count, ERR));
	return count;
}

static int refuse_far_adds(const struct spy_event *event, struct tkb_error *err)
{
	return event->op == SPY_ADD && strcmp(event->folder, "far") == 0
	               ? tkb_fail(err, TKB_ERR_DENIED, "it is too large")
	               : 0;
}

/* With on-error=ignore, one that refuses the new record keeps the old ones. */
TEST(compact, drops_nothing_in_a_tier_that_refused_the_new_record)
{
	const char *far = spy_url("far");
	struct tkb_remote *remote =
		open_spy(text("%s,%s?on-error=ignore", spy_url("near"), far));

	(void)push_many(remote, 3);
	spy_reset();
	spy.before = refuse_far_adds;
	CHECK_INT(compact(remote), 3);
	spy_reset();
	CHECK_INT(count_texts(record_files("near")), 1);
	CHECK_INT(count_texts(record_files("far")), 3);
	check_has_many(open_spy(far), "pulled", 3);
}

/* The records that were listed vanish: a compaction has made another one. */
TEST(compact, is_met_by_a_pull_that_lists_the_records_again)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	spy_reset();
	(void)push_many(remote, 3);
	for (size_t vanishing = 1; vanishing <= 2; vanishing++) {
		spy_reset();
		spy.vanishing = vanishing;
		check_has_many(remote, text("pulled-%zu", vanishing), 3);
		CHECK_INT(spy_count(SPY_RECORDS), vanishing + 1);
	}
	/* It does not go on for ever. */
	spy_reset();
	spy.vanishing = SIZE_MAX;
	CHECK_INT(tkb_pull(remote, REF, out("none"), NULL, NULL, ERR),
	          TKB_MISS);
	CHECK_INT(spy_count(SPY_RECORDS), 3);
}

TEST(compact, is_left_out_where_the_caller_says_so)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const struct tkb_push_options options = { SIZED(options),
		                                  .is_compaction_off = true };

	spy_reset();
	(void)push_many(remote, MANY);
	CHECK_INT(push_with(remote, autotunes("next", MANY, MANY + 1), options)
	                  .compacted_count,
	          0);
	CHECK_INT(count_texts(record_files("remote")), MANY + 1);
}

/* What the spy saw of adds and drops: "A", then "D"s. */
static const char *changes(void)
{
	const char *seen = "";

	for (size_t i = 0; i < spy.count; i++) {
		if (spy.events[i].op == SPY_ADD ||
		    spy.events[i].op == SPY_DROP || spy.events[i].op == SPY_PUT)
			seen = text("%s%c", seen,
			            spy.events[i].op == SPY_ADD   ? 'A'
			            : spy.events[i].op == SPY_PUT ? 'P'
			                                          : 'D');
	}
	return seen;
}

static struct tkb_remote *arrange_three(const char *name)
{
	struct tkb_remote *remote = open_spy(spy_url(name));

	push_three(remote);
	return remote;
}

TEST(compact, adds_the_new_record_before_it_drops_the_old)
{
	struct tkb_remote *remote = arrange_three("remote");

	CHECK_INT(compact(remote), 3);
	CHECK_STR(changes(), "PADDD");
	check_pulled(remote, "pulled", whole);
	/* One is left as it is. */
	spy_reset();
	CHECK_INT(compact(remote), 0);
	CHECK_STR(changes(), "");
}

TEST(compact, that_cannot_add_drops_nothing)
{
	struct tkb_remote *remote = arrange_three("remote");
	uint64_t count = 0;

	spy_refuse(SPY_ADD, SIZE_MAX, TKB_ERR_DENIED, "it may not");
	CHECK_INT(try_compact(remote, &count, ERR), TKB_ERR_DENIED);
	CHECK_INT(spy_count(SPY_DROP), 0);
	CHECK_INT(count_texts(record_files("remote")), 3);
}

TEST(compact, that_fails_after_a_push_is_no_failure_of_the_push)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	spy_reset();
	(void)push_many(remote, MANY);
	spy_refuse(SPY_DROP, SIZE_MAX, TKB_ERR_DENIED, "it may not");
	CHECK_INT(push_all(remote, autotunes("next", MANY, MANY + 1))
	                  .pushed_count,
	          1);
	spy_reset();
	check_has_many(remote, "pulled", MANY + 1);
}

TEST(compact, of_the_same_records_makes_the_same_record)
{
	struct tkb_remote *one = arrange_three("one");
	struct tkb_remote *other;

	CHECK_INT(run("cp", "-r", "one", "other", NULL).status, 0);
	other = open_spy(spy_url("other"));
	CHECK_INT(compact(one), 3);
	CHECK_INT(compact(other), 3);
	const char *name = strrchr(record_files("one")[0], '/');
	CHECK_INT(count_texts(record_files("other")), 1);
	CHECK_STR(strrchr(record_files("other")[0], '/'), name);
}

/* Another compacts the same when one is about to put what it made. */
static int compact_too(const struct spy_event *event, struct tkb_error *err)
{
	(void)err;
	if (event->op == SPY_PUT && event->earlier == 0) {
		struct tkb_remote *other = open_spy(spy_url("remote"));

		CHECK_INT(compact(other), 3);
	}
	return 0;
}

TEST(compact, by_two_at_once_loses_nothing)
{
	struct tkb_remote *remote = arrange_three("remote");

	spy.before = compact_too;
	CHECK_INT(compact(remote), 3);
	CHECK_INT(count_texts(record_files("remote")), 1);
	spy_reset();
	check_pulled(remote, "pulled", whole);
}

TEST(compact, leaves_lean_and_full_apart)
{
	const char *root = pool();
	struct tkb_remote *remote = arrange_three("remote");
	struct tkb_remote *lean = open_spy(spy_url("lean"));
	struct tkb_collect_options collect = { SIZED(collect) };
	struct tkb_push_options options = { SIZED(options), .collect = &collect,
		                            .is_compaction_off = true };

	collect.profile = TKB_PROFILE_LEAN;
	collect.keys = pool_keys();
	collect.key_count = 4;
	(void)push_with(lean, root, options);
	collect.keys += 4;
	(void)push_with(lean, root, options);
	CHECK_INT(
		run("cp", "-r", "lean/cas", "lean/ref", "remote", NULL).status,
		0);
	CHECK_INT(count_texts(record_files("remote")), 5);
	CHECK_INT(compact(remote), 5);
	CHECK_INT(count_texts(record_files("remote")), 2);
}

TEST(compact, leaves_a_blob_that_is_gone_or_damaged)
{
	struct tkb_remote *remote = arrange_three("remote");
	const char **records = record_files("remote");

	SYS(unlink(blob_of("remote", records[0])));
	CHECK_INT(compact(remote), 2);
	CHECK_INT(count_texts(record_files("remote")), 2);
	CHECK(exists(records[0]));
	CHECK_INT(push_all(remote, pool()).dropped_count, 1);
	check_pulled(remote, "pulled", whole);

	CHECK_INT(push_bytes(remote, read_file("pool.tkb")).blob_count, 1);
	records = record_files("remote");
	flip(blob_of("remote", records[0]), 8);
	(void)compact(remote);
	CHECK(exists(records[0]));
}

TEST(compact, leaves_one_that_is_much_larger_than_all_others)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	TKB_AUTO(tkb_record_list_release)
	struct tkb_record_list records = { 0 };
	uint64_t count = 0;

	(void)push_all(remote, large_pool());
	const char *large = record_files("remote")[0];
	(void)push_all(remote, autotunes("one", 0, 1));
	(void)push_all(remote, autotunes("two", 1, 2));
	OK(tkb_record_list_read(remote, REF, false, &records, ERR));
	for (size_t i = 0; i < records.count; i++) {
		if (records.items[i].entry_count > 1)
			records.items[i].size = 17 * 1024 * 1024;
	}
	OK(tkb_compact(remote, REF, &records, NULL, &count, ERR));
	CHECK_INT(count, 2);
	CHECK_INT(count_texts(record_files("remote")), 2);
	CHECK(exists(large));
}

TEST(compact, makes_no_blob_that_is_too_large)
{
	struct tkb_remote *first = arrange_three("remote");
	struct tkb_remote *remote;
	uint64_t largest = 0;

	for (const char **blob = blob_files("remote"); *blob != NULL; blob++) {
		const uint64_t size = read_file(*blob).size;

		largest = size > largest ? size : largest;
	}
	CHECK(compact(first) != 0);
	CHECK_INT(run("rm", "-r", "remote", NULL).status, 0);
	(void)arrange_three("remote");
	remote = open_spy_with(
		spy_url("remote"),
		CHOSEN(tkb_remote_options, .max_blob_size = largest));
	(void)compact(remote);
	for (const char **blob = blob_files("remote"); *blob != NULL; blob++)
		CHECK(read_file(*blob).size <= largest);
	check_pulled(remote, "pulled", whole);

	/* Blobs that are too large already stay as they are. */
	remote =
		open_spy_with(spy_url("remote"), CHOSEN(tkb_remote_options,
	                                                .max_blob_size = 1000));
	CHECK_INT(compact(remote), 0);
}

/* Somebody pushes when all records are read. */
static int push_too(const struct spy_event *event, struct tkb_error *err)
{
	(void)err;
	if (event->op == SPY_ADD && event->earlier == 0) {
		struct tkb_remote *other = open_spy(spy_url("remote"));

		CHECK_INT(push_all(other, autotunes("late", 7, 8)).pushed_count,
		          1);
	}
	return 0;
}

TEST(compact, leaves_what_is_pushed_meanwhile)
{
	struct tkb_remote *remote = arrange_three("remote");

	spy.before = push_too;
	CHECK_INT(compact(remote), 3);
	spy_reset();
	CHECK_INT(count_texts(record_files("remote")), 2);
	CHECK_INT(pull_all(remote, out("pulled")).emitted_count, POOL + 1);
}

/* Somebody was killed in between: the new record is there, the old ones too. */
TEST(compact, that_makes_what_is_there_already_keeps_it)
{
	struct tkb_remote *remote = arrange_three("remote");
	uint64_t count = 0;

	spy_refuse(SPY_DROP, SIZE_MAX, TKB_ERR_DENIED, "it may not");
	CHECK_INT(try_compact(remote, &count, ERR), TKB_ERR_DENIED);
	CHECK_INT(count_texts(record_files("remote")), 4);
	spy_reset();
	struct tkb_remote *again = open_spy(spy_url("remote"));
	CHECK(compact(again) != 0);
	CHECK_INT(count_texts(record_files("remote")), 1);
	check_pulled(again, "pulled", whole);
}

TEST(compact, keeps_the_labels_of_each_push)
{
	static const char *const commits[] = { "one", "two" };
	const char *root = pool();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const struct tkb_holdings_options brief = { SIZED(brief),
		                                    .is_brief = true };
	struct tkb_holdings *holdings = NULL;

	for (size_t i = 0; i < 2; i++) {
		const struct tkb_label label = { "commit", commits[i] };
		const char *key = pool_keys()[i];
		const struct tkb_collect_options collect = { SIZED(collect),
			                                     .keys = &key,
			                                     .key_count = 1 };

		(void)push_with(remote, root,
		                (struct tkb_push_options){
					SIZED(struct tkb_push_options),
					.collect = &collect,
					.is_compaction_off = true,
					.labels = &label, .label_count = 1 });
	}
	CHECK_INT(compact(remote), 2);

	OK(tkb_holdings_open(remote, REF, &brief, &holdings, ERR));
	const struct tkb_holdings_record *record =
		tkb_holdings_record(holdings, 0);
	CHECK_INT(tkb_holdings_record_count(holdings), 1);
	CHECK_INT(record->push_count, 2);
	for (size_t i = 0; i < 2; i++) {
		CHECK_INT(record->pushes[i].entry_count, 1);
		CHECK_STR(record->pushes[i].labels[0].name, "commit");
		CHECK_STR(record->pushes[i].labels[0].value, commits[i]);
	}
	CHECK_STR(record->tritons[0], "3.6.0");
	tkb_holdings_close(holdings);
}

TEST(compact, keeps_what_made_entries_and_a_pull_notes_it)
{
	static const char *const makers[] = { "triton=3.6.0", "torch=2.11.0" };
	const char *const *keys = pool_keys();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_makers *pulled = NULL;

	for (unsigned i = 0; i < 2; i++) {
		const struct tkb_made made = { NULL, keys[i] };
		const char *root = cache_of(text("part-%u", i), whole);

		CHECK_INT(
			run("rm", "-rf", text("%s/%s", root, keys[1 - i]), NULL)
				.status,
			0);
		OK(tkb_makers_note(root, makers[i], &made, 1, ERR));
		(void)push_all(remote, root);
	}
	CHECK_INT(compact(remote), 2);

	(void)pull_all(remote, out("pulled"));
	OK(tkb_makers_open(out("pulled"), &pulled, ERR));
	for (size_t i = 0; i < 2; i++)
		CHECK_STR(tkb_makers_find(pulled, NULL, keys[i]), makers[i]);
	CHECK(tkb_makers_find(pulled, NULL, keys[2]) == NULL);
	tkb_makers_close(pulled);
}
