/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <unistd.h>

#include "registry.h"

/* What a clean-up of a remote removes, and what it leaves. */

enum {
	HOUR_S = 3600
};

static const struct part whole = { 0, POOL };

/* Records of entries 0 to 4, 5 to 8, and 9 on; their files, in that order. */
struct three {
	struct tkb_remote *remote;
	const char *records[3];
	const char *blobs[3];
};

static struct three arrange_three_at(const char *name, const char *urls)
{
	static const struct part parts[] = { { 0, 5 }, { 5, 9 }, { 9, POOL } };
	struct three three = { .remote = open_spy(urls) };

	CHECK(pool() != NULL);
	for (size_t i = 0; i < 3; i++) {
		(void)push_part(three.remote, parts[i]);
		for (const char **file = record_files(name); *file != NULL;
		     file++) {
			bool is_known = false;

			for (size_t j = 0; j < i; j++)
				is_known |=
					strcmp(*file, three.records[j]) == 0;
			if (!is_known)
				three.records[i] = *file;
		}
		three.blobs[i] = blob_of(name, three.records[i]);
	}
	spy_reset();
	return three;
}

static uint64_t size_of(const struct three *three)
{
	uint64_t size = 0;

	for (size_t i = 0; i < 3; i++)
		size += read_file(three->blobs[i]).size;
	return size;
}

/* The only record of a ref, by the name of its folder. */
static const char *record_of(const char *folder)
{
	const char *path = text("remote/ref/%s", folder);

	return text("%s/%s", path, list(path)[0]);
}

static struct three arrange_three(void)
{
	return arrange_three_at("remote", spy_url("remote"));
}

static struct tkb_remote_gc_report gc(struct tkb_remote *remote,
                                      struct tkb_remote_gc_options options)
{
	struct tkb_remote_gc_report report = { SIZED(report) };

	OK(tkb_remote_gc(remote, &options, &report, ERR));
	return report;
}

static struct tkb_remote_gc_report gc_unbounded(struct tkb_remote *remote)
{
	return gc(remote, DEFAULTS(tkb_remote_gc_options));
}

/* What nobody used for 30 days goes. */
static struct tkb_remote_gc_report gc_unused(struct tkb_remote *remote)
{
	return gc(remote, CHOSEN(tkb_remote_gc_options, .has_max_age = true,
	                         .max_age_s = 30 * DAY_S));
}

static struct tkb_remote_gc_report gc_to_size(struct tkb_remote *remote,
                                              uint64_t size)
{
	return gc(remote, CHOSEN(tkb_remote_gc_options, .has_max_size = true,
	                         .max_size = size));
}

/* A blob without a name goes however young it is. */
static struct tkb_remote_gc_report gc_graceless(struct tkb_remote *remote)
{
	return gc(remote, CHOSEN(tkb_remote_gc_options, .has_grace = true));
}

/* A record of a newer version, in the ref of this folder. */
static void write_newer(const char *folder)
{
	const char *newer = "{\"version\":9}";
	const struct tkb_digest digest = digest_of(tkb_text(newer));

	write_text(out(text("remote/ref/%s/%s", folder, hex_of(&digest))),
	           newer);
}

TEST(remote_gc, without_bounds_leaves_all_that_is_in_use)
{
	struct three three = arrange_three();

	for (size_t i = 0; i < 3; i++) {
		make_old(three.records[i], 1000 * DAY_S);
		make_old(three.blobs[i], 1000 * DAY_S);
	}
	struct tkb_remote_gc_report report = gc_unbounded(three.remote);
	CHECK_INT(report.ref_count, 1);
	CHECK_INT(report.record_count, 3);
	CHECK_INT(report.expired_count + report.evicted_count +
	                  report.hole_count + report.compacted_count +
	                  report.removed_count,
	          0);
	CHECK_INT(report.kept_count, 3);
	CHECK_INT(report.kept_size, size_of(&three));
	CHECK_INT(spy_count(SPY_DROP) + spy_count(SPY_REMOVE), 0);
	check_pulled(three.remote, "pulled", whole);
}

TEST(remote_gc, of_an_empty_remote_does_nothing)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	struct tkb_remote_gc_report report = gc_unbounded(remote);

	CHECK_INT(report.ref_count + report.kept_count, 0);
}

TEST(remote_gc, drops_records_that_nobody_used_for_so_long)
{
	struct three three = arrange_three();

	make_old(three.records[2], 31 * DAY_S);
	make_old(three.records[1], 29 * DAY_S);
	struct tkb_remote_gc_report report = gc_unused(three.remote);
	CHECK_INT(report.expired_count, 1);
	/* The blob is young: it stays. */
	CHECK_INT(report.removed_count, 0);
	CHECK(!exists(three.records[2]));
	CHECK(exists(three.blobs[2]));
	make_old(three.blobs[2], 25 * HOUR_S);
	report = gc_unbounded(three.remote);
	CHECK_INT(report.removed_count, 1);
	CHECK(!exists(three.blobs[2]));
	check_pulled(three.remote, "pulled", (struct part){ 0, 9 });
}

/* What another process does while the blobs are listed. */
static struct {
	struct tkb_remote *remote;
	struct tkb_bytes record;
	const char *used; /* a record's file */
} meanwhile;

static void promote_meanwhile(const struct spy_event *event)
{
	if (event->op == SPY_LIST)
		OK(tkb_remote_add(meanwhile.remote, "prod/model",
		                  meanwhile.record, ERR));
}

TEST(remote_gc, leaves_a_blob_that_another_ref_names_meanwhile)
{
	struct three three = arrange_three();

	for (size_t i = 0; i < 3; i++) {
		make_old(three.records[i], 40 * DAY_S);
		make_old(three.blobs[i], 40 * DAY_S);
	}
	meanwhile.remote = open_spy(spy_url("remote"));
	meanwhile.record = read_file(three.records[1]);
	spy.after = promote_meanwhile;
	struct tkb_remote_gc_report report = gc_unused(three.remote);
	spy_reset();
	CHECK_INT(report.expired_count, 3);
	CHECK_INT(report.removed_count, 2);
	CHECK(exists(three.blobs[1]));
	OK(tkb_pull(three.remote, "prod/model", out("prod"), NULL, NULL, ERR));
	check_is_part(out("prod"), (struct part){ 5, 9 });
}

static void use_meanwhile(const struct spy_event *event)
{
	/* Its records were read twice: to check all, and to clean it. */
	if (event->op == SPY_RECORDS && event->earlier == 1)
		make_old(meanwhile.used, 0);
}

TEST(remote_gc, leaves_a_record_that_is_used_meanwhile)
{
	struct three three = arrange_three();

	make_old(three.records[0], 40 * DAY_S);
	make_old(three.records[1], 40 * DAY_S);
	meanwhile.used = three.records[1];
	spy.after = use_meanwhile;
	CHECK_INT(gc_unused(three.remote).expired_count, 1);
	CHECK(!exists(three.records[0]));
	CHECK(exists(three.records[1]));
}

TEST(remote_gc, removes_a_blob_without_a_name_only_after_the_grace_time)
{
	struct three three = arrange_three();
	const struct tkb_remote_gc_options hour = { SIZED(hour),
		                                    .has_grace = true,
		                                    .grace_s = HOUR_S };

	OK(tkb_ref_delete(three.remote, REF, NULL, ERR));
	make_old(three.blobs[0], 23 * HOUR_S);
	make_old(three.blobs[1], 25 * HOUR_S);
	CHECK_INT(gc_unbounded(three.remote).removed_count, 1);
	CHECK(exists(three.blobs[0]));
	CHECK(!exists(three.blobs[1]));
	CHECK(exists(three.blobs[2]));
	CHECK_INT(gc(three.remote, hour).removed_count, 1);
	CHECK(!exists(three.blobs[0]));
	CHECK(exists(three.blobs[2]));
	CHECK_INT(gc_graceless(three.remote).removed_count, 1);
	CHECK_INT(count_texts(blob_files("remote")), 0);
}

TEST(remote_gc, evicts_the_least_recently_used_until_the_rest_fits)
{
	struct three three = arrange_three();
	const uint64_t size = size_of(&three);

	for (size_t i = 0; i < 3; i++)
		make_old(three.blobs[i], 60 * DAY_S);
	make_old(three.records[1], 3 * DAY_S);
	make_old(three.records[0], 2 * DAY_S);
	struct tkb_remote_gc_report report = gc_to_size(three.remote, size);
	CHECK_INT(report.evicted_count + report.removed_count, 0);
	report = gc_to_size(three.remote, size - 1);
	CHECK_INT(report.evicted_count, 1);
	CHECK_INT(report.removed_count, 1);
	CHECK_INT(report.kept_count, 2);
	CHECK_INT(report.kept_size + report.removed_size, size);
	CHECK(!exists(three.records[1]));
	CHECK(!exists(three.blobs[1]));
	CHECK_INT(report.kept_size, read_file(three.blobs[0]).size +
	                                    read_file(three.blobs[2]).size);
	report = gc_to_size(three.remote, read_file(three.blobs[2]).size);
	CHECK_INT(report.evicted_count, 1);
	CHECK(!exists(three.records[0]));
	check_pulled(three.remote, "pulled", (struct part){ 9, POOL });
}

/* A blob is as young as the youngest record that names it. */
TEST(remote_gc, evicts_no_record_of_a_blob_that_stays)
{
	struct three three = arrange_three();

	OK(tkb_remote_add(three.remote, "old/model",
	                  read_file(three.records[0]), ERR));
	make_old(record_of("old,model"), 40 * DAY_S);
	make_old(three.records[1], 20 * DAY_S);
	struct tkb_remote_gc_report report =
		gc_to_size(three.remote, size_of(&three) - 1);
	CHECK_INT(report.evicted_count, 1);
	CHECK_INT(report.removed_count, 1);
	CHECK(exists(record_of("old,model")));
	CHECK(!exists(three.blobs[1]));

	/* With the blob, all its records go. */
	make_old(three.records[0], 30 * DAY_S);
	report = gc_to_size(three.remote, read_file(three.blobs[2]).size);
	CHECK_INT(report.evicted_count, 2);
	CHECK_INT(report.removed_count, 1);
	check_pulled(three.remote, "pulled", (struct part){ 9, POOL });
}

TEST(remote_gc, drops_records_whose_blob_is_gone)
{
	struct three three = arrange_three();

	SYS(unlink(three.blobs[1]));
	struct tkb_remote_gc_report report = gc_unbounded(three.remote);
	CHECK_INT(report.hole_count, 1);
	CHECK_INT(report.removed_count, 0);
	CHECK(!exists(three.records[1]));
	CHECK_INT(report.kept_count, 2);
}

/* What goes, as it is told. */
struct log {
	unsigned blobs;
	unsigned records;
	uint64_t size;
};

static void on_removed(void *self, const char *ref,
                       const struct tkb_digest *digest, uint64_t size)
{
	struct log *log = self;

	CHECK(digest != NULL);
	if (ref == NULL) {
		log->blobs++;
		log->size += size;
	} else {
		CHECK_STR(ref, REF);
		log->records++;
	}
}

TEST(remote_gc, that_is_dry_changes_nothing_and_tells_the_same)
{
	struct three three = arrange_three();
	struct log dry_log = { 0 };
	struct log log = { 0 };
	struct tkb_remote_gc_options options = {
		SIZED(options),          .has_max_age = true,
		.max_age_s = 30 * DAY_S, .has_max_size = true,
		.has_grace = true,       .on_removed = on_removed,
		.self = &dry_log,        .is_dry_run = true
	};

	make_old(three.records[0], 31 * DAY_S);
	SYS(unlink(three.blobs[1]));
	struct tkb_remote_gc_report dry = gc(three.remote, options);
	CHECK_INT(spy_count(SPY_DROP) + spy_count(SPY_REMOVE) +
	                  spy_count(SPY_ADD) + spy_count(SPY_PUT),
	          0);
	options.is_dry_run = false;
	options.self = &log;
	struct tkb_remote_gc_report report = gc(three.remote, options);
	CHECK_INT(memcmp(&dry, &report, sizeof(dry)), 0);
	CHECK_INT(memcmp(&dry_log, &log, sizeof(log)), 0);
	CHECK_INT(report.expired_count, 1);
	CHECK_INT(report.hole_count, 1);
	CHECK_INT(report.evicted_count, 1);
	CHECK_INT(report.removed_count, 2);
	CHECK_INT(report.kept_count, 0);
	CHECK_INT(log.records, 3);
	CHECK_INT(log.blobs, 2);
	CHECK_INT(log.size, report.removed_size);
	CHECK_INT(count_texts(blob_files("remote")), 0);
	CHECK_INT(count_texts(record_files("remote")), 0);
}

TEST(remote_gc, compacts_a_ref_of_many_records)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));
	const struct tkb_remote_gc_options none = { SIZED(none),
		                                    .is_compaction_off = true };

	CHECK(pool() != NULL);
	push_singly(remote, POOL);
	/* The same bundles under other digests: as if of other pushers. */
	for (size_t i = 0; i < POOL; i++) {
		struct tkb_collect_options collect = { SIZED(collect) };
		struct tkb_push_options lean = { SIZED(lean),
			                         .collect = &collect,
			                         .is_compaction_off = true };
		struct tkb_remote *other =
			open_spy(spy_url(text("other-%zu", i)));

		collect.profile = TKB_PROFILE_LEAN;
		collect.keys = pool_keys() + i;
		collect.key_count = 1;
		(void)push_with(other, pool(), lean);
		CHECK_INT(run("cp", "-r", text("other-%zu/cas", i),
		              text("other-%zu/ref", i), "remote", NULL)
		                  .status,
		          0);
	}
	CHECK_INT(count_texts(record_files("remote")), 2 * POOL);
	CHECK_INT(gc(remote, none).compacted_count, 0);
	for (const char **blob = blob_files("remote"); *blob != NULL; blob++)
		make_old(*blob, 2 * DAY_S);
	struct tkb_remote_gc_report report = gc_unbounded(remote);
	CHECK_INT(report.record_count, 2 * POOL);
	CHECK_INT(report.compacted_count, 2 * POOL);
	CHECK_INT(count_texts(record_files("remote")), 2);
	/* Of some the lean ones come. */
	(void)pull_all(remote, out("pulled"));
	CHECK_INT(weigh(out("pulled")).collected_count, POOL);
	/* Some may be fetching them; the next time they go. */
	CHECK_INT(report.removed_count, 0);
	report = gc_unbounded(remote);
	CHECK_INT(report.removed_count, 2 * POOL);
	CHECK_INT(report.kept_count, 2);
}

TEST(remote_gc, stops_at_a_record_of_a_newer_version)
{
	struct three three = arrange_three();
	const struct tkb_remote_gc_options options = { SIZED(options),
		                                       .has_grace = true };

	SYS(unlink(three.records[0]));
	write_newer("team,model");
	FAILS(tkb_remote_gc(three.remote, &options, NULL, ERR),
	      TKB_ERR_UNSUPPORTED, REF);
	CHECK_INT(spy_count(SPY_REMOVE) + spy_count(SPY_DROP), 0);
	CHECK_INT(count_texts(blob_files("remote")), 3);
}

TEST(remote_gc, drops_a_record_that_is_not_what_its_name_says)
{
	struct three three = arrange_three();

	flip(three.records[1], 8);
	struct tkb_remote_gc_report report = gc_unbounded(three.remote);
	CHECK_INT(report.hole_count, 1);
	CHECK_INT(report.removed_count, 0);
	CHECK(!exists(three.records[1]));
	CHECK(exists(three.records[0]));
	CHECK(exists(three.records[2]));
}

TEST(remote_gc, that_stops_at_one_ref_has_changed_no_other)
{
	struct three three = arrange_three();
	const struct tkb_remote_gc_options options = { SIZED(options),
		                                       .has_max_age = true };

	/* Behind the other, by name. */
	CHECK_INT(run("mkdir", "remote/ref/zebra", NULL).status, 0);
	write_newer("zebra");
	make_old(three.records[0], DAY_S);
	CHECK_INT(tkb_remote_gc(three.remote, &options, NULL, ERR),
	          TKB_ERR_UNSUPPORTED);
	CHECK_INT(spy_count(SPY_REMOVE) + spy_count(SPY_DROP), 0);
}

TEST(remote_gc, ends_when_it_is_told_so)
{
	struct three three = arrange_three();

	OK(tkb_ref_delete(three.remote, REF, NULL, ERR));
	for (unsigned patience = 0; patience < 2; patience++) {
		struct countdown left = { .left = patience };
		CHECK_INT(tkb_remote_gc(three.remote,
		                        &CHOSEN(tkb_remote_gc_options,
		                                .has_grace = true,
		                                .watch = count_down(&left)),
		                        NULL, ERR),
		          TKB_ERR_CANCELLED);
	}
	CHECK(count_texts(blob_files("remote")) != 0);
}

TEST(remote_gc, of_what_may_not_be_written_is_denied)
{
	struct tkb_remote *remote =
		open_spy(text("%s?mode=ro", spy_url("remote")));

	(void)arrange_three();
	CHECK_INT(tkb_remote_gc(remote, NULL, NULL, ERR), TKB_ERR_DENIED);
	CHECK_INT(spy_count(SPY_REMOVE) + spy_count(SPY_DROP), 0);
}

/* Two tiers: the nearer has a part of the blobs. */

/* What was refused, and how often. */
struct refused {
	unsigned records;
	unsigned blobs;
};

static void note_refused(void *self, const char *ref,
                         const struct tkb_digest *digest, const char *message)
{
	struct refused *refused = self;

	CHECK(digest != NULL);
	CHECK_CONTAINS(message, "it refuses to delete (HTTP 405)");
	refused->records += ref != NULL;
	refused->blobs += ref == NULL;
}

TEST(remote_gc, over_a_registry_that_deletes_nothing_names_it_and_loses_nothing)
{
	struct refused refused = { 0 };
	const struct tkb_remote_gc_options options = {
		SIZED(options), .has_max_size = true, .max_size = 0,
		.self = &refused, .on_refused = note_refused
	};
	struct tkb_remote_gc_report report = { SIZED(report) };
	struct server server = start_registry(
		text("storage:\n  filesystem:\n    rootdirectory: %s/data\n",
	             test_folder()));
	struct tkb_remote *remote = must_open_remote(
		text("oci://127.0.0.1:%u/fleet", server.port), NULL);

	CHECK(pool() != NULL);
	(void)push_part(remote, whole);
	FAILS(tkb_remote_gc(remote, &options, &report, ERR), TKB_ERR_PARTIAL,
	      "it refuses to delete (HTTP 405)");
	CHECK_INT(report.refused_count, 1);
	CHECK_INT(report.evicted_count + report.removed_count, 0);
	CHECK_INT(report.kept_count, 1);
	CHECK_INT(refused.records, 1);
	CHECK_INT(refused.blobs, 0);
	check_pulled(remote, "cache", whole);
}

TEST(remote_gc, of_tiers_counts_and_bounds_each)
{
	struct three three = arrange_three_at(
		"remote", text("%s,%s", spy_url("near"), spy_url("remote")));
	struct tkb_remote_gc_report report = gc_unbounded(three.remote);

	CHECK_INT(report.kept_count, 6);
	CHECK_INT(report.record_count, 3);
	SYS(unlink(three.blobs[0]));
	/* It is gone where the fleet looks, so its record goes. */
	report = gc_graceless(three.remote);
	CHECK_INT(report.hole_count, 1);
	CHECK_INT(report.removed_count, 1);
	CHECK_INT(report.kept_count, 4);
}

TEST(remote_gc, of_tiers_leaves_in_one_what_another_lacks)
{
	struct three three = arrange_three_at(
		"remote", text("%s,%s", spy_url("near"), spy_url("remote")));

	/* The oldest is not in the nearer; of the rest one may stay there. */
	make_old(three.records[0], 3 * DAY_S);
	make_old(text("%s/near/ref/team,model%s", test_folder(),
	              strrchr(three.records[0], '/')),
	         3 * DAY_S);
	make_old(three.records[1], 2 * DAY_S);
	make_old(text("%s/near/ref/team,model%s", test_folder(),
	              strrchr(three.records[1], '/')),
	         2 * DAY_S);
	for (const char **blob = blob_files("near"); *blob != NULL; blob++) {
		make_old(*blob, 9 * DAY_S);
		if (strcmp(strrchr(*blob, '/'), strrchr(three.blobs[0], '/')) ==
		    0)
			SYS(unlink(*blob));
	}
	for (size_t i = 0; i < 3; i++)
		make_old(three.blobs[i], 9 * DAY_S);
	struct tkb_remote_gc_report report =
		gc_to_size(three.remote, read_file(three.blobs[2]).size);
	CHECK_INT(report.evicted_count, 2);
	CHECK_INT(report.kept_count, 2);
	/* What records name is there. */
	for (const char **record = record_files("remote"); *record != NULL;
	     record++)
		CHECK(exists(blob_of("remote", *record)));
	check_pulled(three.remote, "pulled", (struct part){ 9, POOL });
}

/* Two at once. */

static int clean_in_a_child(void)
{
	const pid_t pid = must_fork();
	const struct tkb_remote_gc_options options = { SIZED(options),
		                                       .has_max_size = true,
		                                       .has_grace = true };

	if (pid == 0) {
		struct tkb_remote *remote = open_spy(spy_url("remote"));
		struct tkb_error err = { 0 };

		_exit(tkb_remote_gc(remote, &options, NULL, &err) != 0);
	}
	return pid;
}

TEST(remote_gc, by_two_at_once_is_no_failure_of_either)
{
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	CHECK(pool() != NULL);
	for (int i = 0; i < 5; i++) {
		int pids[4];

		push_singly(remote, POOL);
		for (size_t j = 0; j < TKB_COUNT_OF(pids); j++)
			pids[j] = clean_in_a_child();
		for (size_t j = 0; j < TKB_COUNT_OF(pids); j++)
			CHECK_INT(end_of(pids[j]), 0);
		CHECK_INT(count_texts(blob_files("remote")), 0);
		CHECK_INT(count_texts(record_files("remote")), 0);
	}
}
