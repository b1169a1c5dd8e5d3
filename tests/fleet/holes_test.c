/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include <unistd.h>

#include "server.h"

/* Blobs that are gone, and those who push meanwhile. */

static const struct part whole = { 0, POOL };

static void evict(size_t index)
{
	SYS(unlink(blob_of("remote", record_files("remote")[index])));
}

static void check_pulls(const char *name, struct part part)
{
	check_pulled(open_spy(spy_url("remote")), name, part);
}

TEST(holes, are_filled_by_the_next_push)
{
	const char *root = pool();
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	(void)push_part(remote, (struct part){ 0, 6 });
	(void)push_part(remote, (struct part){ 6, 12 });
	(void)push_part(remote, (struct part){ 12, POOL });
	evict(0);
	evict(2);
	spy_reset();
	struct tkb_push_report report = push_all(remote, root);
	CHECK_INT(report.record_count, 3);
	CHECK_INT(report.dropped_count, 2);
	CHECK_INT(report.pushed_count + report.present_count, POOL);
	CHECK(report.pushed_count >= 10);
	CHECK_INT(count_texts(record_files("remote")), 2);
	check_pulls("pulled", whole);
}

TEST(holes, of_entries_that_the_pusher_has_not_go_from_the_ref)
{
	const char *some = cache_of("some", (struct part){ 0, 5 });
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	(void)push_part(remote, whole);
	evict(0);
	CHECK_INT(push_all(remote, some).dropped_count, 1);
	check_pulls("pulled", (struct part){ 0, 5 });
}

TEST(holes, in_the_tier_that_all_share_count_though_a_nearer_one_is_whole)
{
	const char *root = pool();
	struct tkb_remote *remote =
		open_spy(text("%s,%s", spy_url("near"), spy_url("remote")));

	(void)push_all(remote, root);
	evict(0);
	CHECK_INT(push_all(remote, root).dropped_count, 1);
	check_pulls("pulled", whole);
}

TEST(holes, that_somebody_else_dropped_already_are_no_failure)
{
	const char *root = pool();
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	(void)push_part(remote, whole);
	evict(0);
	CHECK_INT(push_all(remote, root).dropped_count, 1);
	evict(0);
	spy_reset();
	CHECK_INT(push_all(remote, root).pushed_count, POOL);
	check_pulls("pulled", whole);
}

/* Another pushes just what is gone, while one is about to drop its record. */
static const char *refiller;

static int refill(const struct spy_event *event, struct tkb_error *err)
{
	(void)err;
	if (event->op == SPY_DROP && event->earlier == 0) {
		struct tkb_remote *remote = open_spy(spy_url("remote"));

		(void)push_all(remote, refiller);
	}
	return 0;
}

TEST(holes, that_another_fills_meanwhile_with_the_same_stay_filled)
{
	const char *one = cache_of("one", (struct part){ 0, 5 });
	const char *other = cache_of("other", (struct part){ 5, POOL });
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	refiller = other;
	(void)push_all(remote, other);
	evict(0);
	spy_reset();
	spy.before = refill;
	(void)push_all(remote, one);
	spy_reset();
	check_pulls("pulled", whole);
}

TEST(holes, that_another_fills_while_they_are_cleaned_up_stay_filled)
{
	const char *other = cache_of("other", whole);
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	refiller = other;
	(void)push_all(remote, other);
	evict(0);
	spy_reset();
	spy.before = refill;
	OK(tkb_remote_gc(remote, NULL, NULL, ERR));
	CHECK(spy_count(SPY_DROP) != 0);
	spy_reset();
	check_pulls("pulled", whole);
}

/* Cut it short, as a loss of power may, or empty it. */
static void cut(const char *path, off_t size)
{
	SYS(truncate(path, size));
}

TEST(holes, are_blobs_of_another_size_than_their_records_say)
{
	const char *root = pool();
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	(void)push_part(remote, (struct part){ 0, 6 });
	(void)push_part(remote, (struct part){ 6, 12 });
	(void)push_part(remote, (struct part){ 12, POOL });
	cut(blob_files("remote")[0], 0);
	cut(blob_files("remote")[1], 1000);
	struct tkb_push_report report = push_all(remote, root);
	CHECK_INT(report.dropped_count, 2);
	CHECK_INT(push_all(remote, root).pushed_count, 0);
	check_pulls("pulled", whole);
}

TEST(holes, that_are_the_very_same_blob_are_replaced)
{
	const char *root = pool();
	struct tkb_remote *remote = open_spy(spy_url("remote"));

	(void)push_all(remote, root);
	for (unsigned i = 0; i < 2; i++) {
		cut(blob_files("remote")[0], i * 100);
		CHECK_INT(push_all(remote, root).dropped_count, 1);
		CHECK_INT(count_texts(blob_files("remote")), 1);
		check_pulls(i == 0 ? "pulled" : "again", whole);
	}
}

TEST(holes, in_redis_are_blobs_that_are_cut_short)
{
	struct server redis = start_redis("");
	struct tkb_remote *remote = must_open_remote(
		text("redis://127.0.0.1:%u", redis.port), NULL);

	(void)push_all(remote, pool());
	char *key = (char *)(uintptr_t)ask_redis(&redis, "--raw", "KEYS",
	                                         "tkbundle:cas:*", NULL);
	key[strcspn(key, "\n")] = '\0';
	(void)ask_redis(&redis, "SET", key, "short", NULL);
	CHECK_INT(push_all(remote, pool()).dropped_count, 1);
	check_pulled(remote, "pulled", whole);
}

/* Redis is short of memory, and throws away what it will. */
TEST(holes, that_redis_makes_are_filled_by_the_next_push)
{
	struct server redis = start_redis("maxmemory-policy allkeys-random\n");
	struct tkb_remote *remote = must_open_remote(
		text("redis://127.0.0.1:%u", redis.port), NULL);

	CHECK(pool() != NULL);
	push_singly(remote, POOL);
	for (unsigned i = 0; i < 5; i++) {
		(void)ask_redis(&redis, "CONFIG", "SET", "maxmemory",
		                text("%u", 1100000 - i * 30000), NULL);
		(void)ask_redis(&redis, "CONFIG", "SET", "maxmemory", "0",
		                NULL);
		(void)push_all(remote, pool());
		check_pulled(remote, text("pulled-%u", i), whole);
	}
	CHECK(strstr(ask_redis(&redis, "INFO", "stats", NULL),
	             "evicted_keys:0\r") == NULL);
}
