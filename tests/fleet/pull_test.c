/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include "server.h"

/* Pulls: what is fetched, emitted and told. */

static const struct part whole = { 0, POOL };

/* A remote of three records: the first 10 entries, 8 to 14, and the rest. */
static struct tkb_remote *arrange_three(void)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_remote *other = open_spy(spy_url("other"));

	CHECK(pool() != NULL);
	(void)push_part(remote, (struct part){ 0, 10 });
	/* Two that overlap come of two that did not see each other. */
	(void)push_part(other, (struct part){ 8, 14 });
	shell("cp -r other/cas remote; cp other/ref/team,model/* "
	      "remote/ref/team,model");
	(void)push_part(remote, (struct part){ 14, POOL });
	CHECK_INT(count_texts(record_files("remote")), 3);
	spy_reset();
	return remote;
}

/* Pull what is emitted so, into the folder `name`. */
static struct tkb_pull_report pull_so(struct tkb_remote *remote,
                                      const char *name,
                                      struct tkb_emit_options emit)
{
	return pull_with(
		remote, out(name),
		CHOSEN(tkb_pull_options, .emit = &emit, .connections = 1));
}

static void make_records_old(void)
{
	for (size_t i = 0; i < 3; i++)
		make_old(record_files("remote")[i], 3 * DAY_S);
}

TEST(pull, into_an_empty_cache_brings_all)
{
	struct tkb_remote *remote = arrange_three();
	const struct tkb_pull_report report = pull_all(remote, out("pulled"));

	check_is_part(out("pulled"), whole);
	CHECK_INT(report.record_count, 3);
	CHECK_INT(report.wanted_count, 3);
	CHECK_INT(report.fetched_count, 3);
	CHECK_INT(report.gone_count + report.failed_count +
	                  report.unreadable_count,
	          0);
	CHECK_INT(report.emitted_count, POOL);
	CHECK_INT(report.present_count + report.repaired_count +
	                  report.busy_count + report.skipped_count +
	                  report.failed_count + report.damaged_count +
	                  report.unsafe_count,
	          0);
	CHECK(!report.is_inductor);
	CHECK_INT(spy_count(SPY_GET), 3);
}

TEST(pull, with_nothing_to_do_asks_once)
{
	struct tkb_remote *remote = arrange_three();

	(void)pull_all(remote, out("pulled"));
	spy_reset();
	struct tkb_pull_report report = pull_all(remote, out("pulled"));
	CHECK_INT(spy_trips(), 1);
	CHECK_INT(report.wanted_count + report.fetched_count, 0);
	CHECK_INT(report.present_count, POOL);
	CHECK_INT(report.emitted_count, 0);
}

TEST(pull, fetches_only_what_holds_something_missing)
{
	struct tkb_remote *remote = arrange_three();
	const char *root = cache_of("has", (struct part){ 0, 14 });

	CHECK_INT(run("rm", "-r", text("%s/%s", root, pool_keys()[9]), NULL)
	                  .status,
	          0);
	/* Those that were copied name another place. */
	CHECK_INT(run(program(), "relocate", root, NULL).status, 0);
	struct tkb_pull_report report = pull_all(remote, root);
	/* That one is in two records, of which one is enough. */
	CHECK_INT(report.wanted_count, 2);
	CHECK_INT(report.fetched_count, 2);
	/* And the manifest of the third: its bytes were never looked at. */
	CHECK_INT(spy_count(SPY_GET), 3);
	CHECK_INT(report.emitted_count, 4);
	CHECK_INT(report.present_count, 13);
	CHECK_INT(report.repaired_count, 0);
	check_has_part(root, whole);
}

TEST(pull, repairs_what_names_another_place)
{
	struct tkb_remote *remote = arrange_three();
	const char *root = cache_of("moved", whole);
	const struct tkb_pull_report report = pull_all(remote, root);

	CHECK_INT(report.repaired_count, 13);
	CHECK_INT(report.present_count + report.repaired_count, POOL);
	check_has_part(root, whole);
}

TEST(pull, that_is_dry_fetches_and_writes_nothing)
{
	struct tkb_remote *remote = arrange_three();
	struct tkb_emit_options emit = { SIZED(emit), .is_dry_run = true };
	struct tkb_pull_options dry = { SIZED(dry), .emit = &emit,
		                        .connections = 2 };

	make_records_old();
	struct tkb_pull_report report = pull_with(remote, out("pulled"), dry);
	CHECK_INT(report.wanted_count, 3);
	CHECK_INT(report.fetched_count, 0);
	CHECK_INT(spy_trips(), 1);
	CHECK(!exists(out("pulled")));
}

TEST(pull, of_keys_brings_those_from_whatever_blobs)
{
	struct tkb_remote *remote = arrange_three();
	const char **keys = pool_keys();
	const char *chosen[] = { text("%.6s", keys[1]), keys[12], keys[16] };
	struct tkb_emit_options emit = { SIZED(emit), .keys = chosen,
		                         .key_count = 3 };
	struct tkb_pull_report report = pull_so(remote, "pulled", emit);

	check_has_part(out("pulled"), (struct part){ 1, 2 });
	check_has_part(out("pulled"), (struct part){ 12, 13 });
	check_has_part(out("pulled"), (struct part){ 16, 17 });
	CHECK_INT(count_entries(out("pulled")), 3);
	CHECK_INT(report.emitted_count, 3);
	CHECK_INT(report.wanted_count, 3);

	spy_reset();
	emit.key_count = 1;
	report = pull_so(remote, "one", emit);
	CHECK_INT(report.emitted_count, 1);
	CHECK_INT(spy_count(SPY_GET), 1);
	report = pull_so(remote, "one", emit);
	CHECK_INT(report.wanted_count, 0);
	CHECK_INT(report.present_count, 1);
}

TEST(pull, of_a_target_leaves_other_kernels)
{
	struct tkb_remote *remote = arrange_three();
	const struct tkb_target hopper = { "cuda", "90", 32 };
	const struct tkb_target ampere = { "cuda", "80", 32 };
	struct tkb_emit_options emit = { SIZED(emit), .targets = &ampere,
		                         .target_count = 1 };
	struct tkb_pull_report report = pull_so(remote, "ampere", emit);

	CHECK_INT(report.emitted_count, 4);
	CHECK_INT(pull_so(remote, "ampere", emit).wanted_count, 0);
	emit.targets = &hopper;
	report = pull_so(remote, "hopper", emit);
	CHECK_INT(report.emitted_count, POOL);
	CHECK_INT(report.skipped_count, 0);
}

TEST(pull, of_two_devices_goes_to_both_or_where_it_is_told)
{
	const char *root = inductor_cache();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const uint32_t fifth = 5;
	const struct tkb_emit_options there = { SIZED(there), .devices = &fifth,
		                                .device_count = 1,
		                                .layout = TKB_LAYOUT_INDUCTOR };
	const struct tkb_emit_options flat = { SIZED(flat),
		                               .layout = TKB_LAYOUT_TRITON };

	(void)push_all(remote, root);
	struct tkb_pull_report report = pull_all(remote, out("both"));
	CHECK(report.is_inductor);
	CHECK_INT(report.emitted_count, 52);
	report = pull_all(remote, out("both"));
	CHECK_INT(report.present_count, 52);
	CHECK_INT(report.wanted_count, 0);

	/* What one device lost comes again, and counts once. */
	shell("rm -r both/triton/1");
	report = pull_all(remote, out("both"));
	CHECK_INT(report.emitted_count, 26);
	CHECK_INT(report.present_count, 26);

	report = pull_so(remote, "fifth", there);
	CHECK_INT(report.emitted_count, 26);
	CHECK_INT(count_names(text("%s/triton", out("fifth"))), 1);
	CHECK(exists(text("%s/triton/5", out("fifth"))));
	CHECK_INT(pull_so(remote, "fifth", there).wanted_count, 0);

	report = pull_so(remote, "flat", flat);
	CHECK(!report.is_inductor);
	CHECK_INT(report.emitted_count, 26);
	CHECK_INT(pull_so(remote, "flat", flat).wanted_count, 0);
	CHECK_INT(pull_all(remote, out("flat")).wanted_count, 0);
}

TEST(pull, of_a_ref_without_records_is_a_miss)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	spy_reset();
	CHECK_INT(tkb_pull(remote, REF, "out", NULL, NULL, ERR), TKB_MISS);
	CHECK(!exists("out"));
	CHECK_INT(spy_trips(), 1);
}

TEST(pull, stamps_a_record_older_than_a_day_once_and_no_younger_one)
{
	struct tkb_remote *remote = arrange_three();
	const char **records = record_files("remote");

	make_old(records[0], 2 * DAY_S);
	make_old(records[2], DAY_S - 100);
	(void)pull_all(remote, out("pulled"));
	CHECK_INT(spy_count(SPY_TOUCH), 1);
	(void)pull_all(remote, out("pulled"));
	CHECK_INT(spy_count(SPY_TOUCH), 1);

	/* Also where all of it is here. */
	make_old(records[1], 2 * DAY_S);
	(void)pull_all(remote, out("pulled"));
	CHECK_INT(spy_count(SPY_TOUCH), 2);
}

TEST(pull, does_not_stamp_what_nobody_asked_for)
{
	struct tkb_remote *remote = arrange_three();
	const char *chosen[] = { pool_keys()[16] };

	make_records_old();
	(void)pull_so(remote, "pulled",
	              CHOSEN(tkb_emit_options, .keys = chosen, .key_count = 1));
	CHECK_INT(spy_count(SPY_TOUCH), 1);
}

TEST(pull, from_a_remote_that_is_read_only_stamps_nothing)
{
	struct tkb_remote *remote =
		open_spy(text("%s?mode=ro", spy_url("remote")));

	(void)arrange_three();
	make_records_old();
	check_pulled(remote, "pulled", whole);
	CHECK_INT(spy_count(SPY_TOUCH), 0);
	CHECK_INT(spy_trips(), 4);
}

/* How many commands a server has answered; this asks one more. */
static unsigned count_commands(const struct server *redis)
{
	const char *stats = ask_redis(redis, "INFO", "stats", NULL);
	const char *at = strstr(stats, "total_commands_processed:");

	CHECK(at != NULL);
	return (unsigned)strtoul(at + strlen("total_commands_processed:"), NULL,
	                         10);
}

TEST(pull, from_redis_with_nothing_to_do_asks_for_the_records_alone)
{
	struct server redis = start_redis("");
	struct tkb_remote *remote = must_open_remote(
		text("redis://127.0.0.1:%u", redis.port), NULL);

	(void)push_all(remote, pool());
	check_pulled(remote, "pulled", whole);
	unsigned before = count_commands(&redis);
	CHECK_INT(pull_all(remote, out("pulled")).present_count, POOL);
	unsigned between = count_commands(&redis) - before - 1;
	CHECK(between != 0);
	/* The two hashes of the ref, asked for together. */
	CHECK(between <= 3);
}

/* A pull gave these bytes: a bundle of the whole pool. */
static struct tkb_bundle *check_bundle(const struct tkb_buf *got)
{
	write_file("got.tkb", tkb_buf_bytes(got));
	struct tkb_bundle *bundle = test_bundle("got.tkb");
	CHECK_INT(tkb_bundle_entry_count(bundle), POOL);
	OK(tkb_bundle_verify(bundle, NULL, NULL, ERR));
	return bundle;
}

TEST(pull, of_a_bundle_is_all_of_the_ref_as_one)
{
	struct tkb_remote *remote = arrange_three();
	BUF(got, BLOB_LIMIT);
	const struct tkb_sink sink = tkb_buf_sink(&got);
	const struct tkb_collect_report wanted = weigh(pool());
	struct tkb_pull_report report = { SIZED(report) };

	OK(tkb_pull_bundle(remote, REF, NULL, &sink, &report, ERR));
	CHECK_INT(report.record_count, 3);
	CHECK_INT(report.fetched_count, 3);
	CHECK_INT(spy_count(SPY_GET), 3);
	CHECK(tkb_digest_equal(tkb_bundle_id(check_bundle(&got)), &wanted.id));
}

TEST(pull, of_a_bundle_takes_what_is_left_of_a_ref_with_holes)
{
	struct tkb_remote *remote = arrange_three();
	BUF(got, BLOB_LIMIT);
	const struct tkb_sink sink = tkb_buf_sink(&got);
	struct tkb_pull_report report = { SIZED(report) };
	const char **blobs = blob_files("remote");

	SYS(unlink(blobs[0]));
	FAILS(tkb_pull_bundle(remote, REF, NULL, &sink, &report, ERR),
	      TKB_ERR_PARTIAL, "a blob of ref '" REF "' is gone");
	CHECK_INT(report.gone_count, 1);
	CHECK_INT(report.fetched_count, 2);
	CHECK(got.size != 0);
	SYS(unlink(blobs[1]));
	SYS(unlink(blobs[2]));
	got.size = 0;
	CHECK_INT(tkb_pull_bundle(remote, REF, NULL, &sink, &report, ERR),
	          TKB_MISS);
	CHECK_INT(got.size, 0);
}

TEST(pull, of_a_bundle_of_lean_and_full_records_gives_a_sound_one)
{
	const char *root = pool();
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	BUF(got, BLOB_LIMIT);
	const struct tkb_sink sink = tkb_buf_sink(&got);
	struct tkb_collect_options collect = { SIZED(collect) };
	struct tkb_push_options lean = { SIZED(lean), .collect = &collect,
		                         .is_compaction_off = true };

	(void)push_part(remote, (struct part){ 0, 8 });
	collect.profile = TKB_PROFILE_LEAN;
	(void)push_with(remote, root, lean);
	OK(tkb_pull_bundle(remote, REF, NULL, &sink, NULL, ERR));
	(void)check_bundle(&got);
}

TEST(pull, tells_what_a_ref_holds_and_deletes_it)
{
	struct tkb_remote *remote = arrange_three();
	const char **blobs = blob_files("remote");
	struct tkb_ref_info info = { SIZED(info) };
	uint64_t size = 0;
	uint64_t dropped = 0;

	for (size_t i = 0; blobs[i] != NULL; i++)
		size += read_file(blobs[i]).size;
	for (size_t i = 0; i < 3; i++)
		make_old(record_files("remote")[i], 1000 * ((unsigned)i + 1));
	OK(tkb_ref_look(remote, REF, &info, ERR));
	CHECK_STR(info.ref, REF);
	CHECK_INT(info.record_count, 3);
	CHECK_INT(info.unreadable_count, 0);
	CHECK_INT(info.entry_count, POOL);
	CHECK_INT(info.size, size);
	CHECK(info.age_s >= 1000 && info.age_s < 1100);

	OK(tkb_ref_delete(remote, REF, &dropped, ERR));
	CHECK_INT(dropped, 3);
	CHECK_INT(count_texts(record_files("remote")), 0);
	CHECK_INT(count_texts(blob_files("remote")), 3);
	CHECK_INT(tkb_ref_look(remote, REF, &info, ERR), TKB_MISS);
	CHECK_INT(tkb_ref_delete(remote, REF, &dropped, ERR), TKB_MISS);
}

TEST(pull, of_a_key_that_no_record_has_or_that_is_not_unique_fetches_nothing)
{
	struct tkb_remote *remote = arrange_three();
	const char *absent[] = { pool_keys()[0], "AAAAAAAAAAAA" };
	const char *ambiguous[] = { text("%.1s", pool_keys()[0]) };
	struct tkb_emit_options emit = { SIZED(emit) };
	struct tkb_pull_options options = { SIZED(options), .emit = &emit,
		                            .connections = 1 };

	emit.keys = absent;
	emit.key_count = 2;
	CHECK_INT(tkb_pull(remote, REF, out("pulled"), &options, NULL, ERR),
	          TKB_MISS);
	/* Two of them begin so. */
	for (size_t i = 1; i < POOL; i++) {
		if (pool_keys()[i][0] == pool_keys()[i - 1][0])
			ambiguous[0] = text("%.1s", pool_keys()[i]);
	}
	emit.keys = ambiguous;
	emit.key_count = 1;
	FAILS(tkb_pull(remote, REF, out("pulled"), &options, NULL, ERR),
	      TKB_ERR_INVALID, "several keys begin with");
	CHECK_INT(spy_count(SPY_GET), 0);
}
