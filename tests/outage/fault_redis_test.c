/* SPDX-License-Identifier: Apache-2.0 */
#include "fault_scene.h"

/* Pushes and pulls by a faulty proxy before the real redis-server. */

/* Of the answer that brings a blob: its length, and 100 bytes into it. */
#define A_LENGTH .request = "GETRANGE", .behind = "\r\n$"
#define A_BODY .request = "GETRANGE", .behind = "\r\n$", .at = 100
#define THE_RECORDS .request = "HGETALL"
#define THE_PUT .request = "\r\nSET\r\n"
#define THE_ADD .request = "\r\nHSET\r\n"

#define END "closed the connection"
#define SILENCE "no byte moved for 200 ms"

static const char *url(unsigned port, const char *parameters)
{
	return text("redis://:" SECRET "@127.0.0.1:%u?%s", port, parameters);
}

static void empty(struct scene *scene)
{
	const struct server server = { .port = scene->port };

	(void)ask_redis(&server, "-a", SECRET, "FLUSHALL", NULL);
}

static struct scene start(void)
{
	struct scene scene = arrange_scene(
		start_redis("requirepass " SECRET "\n").port, url);

	scene.empty = empty;
	return scene;
}

static const struct fault_case faults[] = {
	{ "it accepts and says nothing", { .harm = STALL }, SILENT },
	{ "it hangs up at once", { .harm = CUT }, GONE(END) },
	{ "it resets the connection at once",
	  { .harm = RESET },
	  GONE("connect") },
	{ "it resets the connection in a blob",
	  { .harm = RESET, A_BODY },
	  GONE("onnection") },
	{ "it hangs up at once, twice",
	  { .harm = CUT, .times = 2 },
	  RIGHT(THRICE) },
	{ "its first answer is late",
	  { .harm = DELAY, .ms = 100 },
	  { ONCE, 100, 0, NULL } },
	{ "a blob is late",
	  { .harm = DELAY, A_BODY, .ms = 100 },
	  { ONCE, 100, 0, NULL } },
	{ "a blob is too late", { .harm = DELAY, A_BODY, .ms = 1000 }, SILENT },
	{ "a blob comes so slowly that it is not done in time",
	  { .harm = TRICKLE, A_BODY, .ms = 100 },
	  LATE },
	{ "it hangs up at once, for ever",
	  { .harm = CUT },
	  { BUSY_OFTEN, 0, TKB_ERR_UNAVAILABLE, "" } },
	{ "a blob stalls",
	  { .harm = STALL, A_BODY },
	  { HASTY_THRICE, 3 * STALL_MS, TKB_ERR_UNAVAILABLE, SILENCE } },
	{ "a blob stalls once",
	  { .harm = STALL, A_BODY, .times = 1 },
	  { HASTY_OFTEN, 500, 0, NULL } },
	{ "a blob is cut twice",
	  { .harm = CUT, A_BODY, .times = 2 },
	  RIGHT(THRICE) },
	{ "a blob is cut three times",
	  { .harm = CUT, A_BODY, .times = 3 },
	  { THRICE, 0, TKB_ERR_UNAVAILABLE, END } },
	{ "a blob is told too long",
	  { .harm = LIE, A_LENGTH, .by = 100 },
	  SILENT },
	{ "a blob is told too short",
	  { .harm = LIE, A_LENGTH, .by = -100 },
	  GONE("changed while it was read") },
	{ "a bit of a blob is flipped", { .harm = FLIP, A_BODY }, CORRUPT },
	{ "a bit of a blob's length is flipped",
	  { .harm = FLIP, A_LENGTH },
	  { HASTY_ONCE, 0, TKB_ERR_UNAVAILABLE, "" } },
	{ "the records stall",
	  { .harm = STALL, THE_RECORDS, .at = 50 },
	  SILENT },
	{ "the records are cut",
	  { .harm = CUT, THE_RECORDS, .at = 50 },
	  GONE(END) },
	{ "a bit of a record is flipped",
	  { .harm = FLIP, THE_RECORDS, .at = 200 },
	  { ONCE, 0, TKB_ERR_CORRUPT, "another digest" } },
};

TEST(fault_redis, a_pull_that_meets_a_fault_is_right_or_a_miss)
{
	struct scene scene = start();

	check_pulls(&scene, faults, TKB_COUNT_OF(faults));
}

TEST(fault_redis, a_blob_that_is_cut_anywhere_is_right_at_the_next_try)
{
	struct scene scene = start();
	const struct fault cut = { .harm = CUT,
		                   .request = "GETRANGE",
		                   .behind =
		                           text("$%zu\r\n", scene.blob_size) };

	check_cuts(&scene, &cut, scene.blob_size, TKB_ERR_UNAVAILABLE, END);
}

/* Each blob is tried, and where others have the same, they are tried, too. */
TEST(fault_redis, a_pull_of_many_blobs_ends_in_time_too)
{
	static const struct fault_case cases[] = {
		{ "every blob stalls", { .harm = STALL, A_BODY }, SILENT },
		{ "every blob stalls, again and again",
		  { .harm = STALL, A_BODY },
		  { HASTY_THRICE, STALL_MS, TKB_ERR_UNAVAILABLE, SILENCE } },
		{ "every blob is too slow",
		  { .harm = TRICKLE, A_BODY, .ms = 100 },
		  LATE },
		{ "every blob is damaged", { .harm = FLIP, A_BODY }, CORRUPT },
		{ "one blob stalls",
		  { .harm = STALL, A_BODY, .times = 1 },
		  { HASTY_OFTEN, 500, 0, NULL } },
	};
	struct scene scene = start();

	empty(&scene);
	push_parts(&scene, 8, 2);
	check_pulls(&scene, cases, TKB_COUNT_OF(cases));
}

TEST(fault_redis, a_push_that_meets_a_fault_tears_nothing_and_the_next_heals)
{
	static const struct fault_case cases[] = {
		{ "it accepts and says nothing", { .harm = STALL }, SILENT },
		{ "it hangs up at once", { .harm = CUT }, GONE(END) },
		{ "its first answer is late",
		  { .harm = DELAY, .ms = 100 },
		  { ONCE, 100, 0, NULL } },
		{ "it hangs up after the blob",
		  { .harm = CUT, THE_PUT, .at = 1 },
		  GONE(END) },
		{ "it hangs up after the blob, twice",
		  { .harm = CUT, THE_PUT, .at = 1, .times = 2 },
		  RIGHT(THRICE) },
		{ "it says nothing after the blob",
		  { .harm = STALL, THE_PUT, .at = 1 },
		  SILENT },
		{ "the record does not arrive whole",
		  { .harm = CUT, THE_ADD, .at = 300, .is_upload = true },
		  GONE(END) },
		{ "it hangs up after the record",
		  { .harm = CUT, THE_ADD, .at = 1 },
		  GONE(END) },
		{ "it hangs up after the record, twice",
		  { .harm = CUT, THE_ADD, .at = 1, .times = 2 },
		  RIGHT(THRICE) },
	};
	struct scene scene = start();

	check_pushes(&scene, cases, TKB_COUNT_OF(cases));
}

TEST(fault_redis, a_blob_that_is_cut_on_its_way_up_is_not_there)
{
	static const struct fault cut = { .harm = CUT, THE_PUT };
	struct scene scene = start();

	check_cut_pushes(&scene, &cut, TKB_ERR_UNAVAILABLE, END);
}

/* Whoever sees it damaged looks again before it drops what others need. */
TEST(fault_redis, a_record_that_is_damaged_on_its_way_is_not_dropped)
{
	static const struct fault flip = {
		.harm = FLIP, THE_RECORDS, .at = 200, .times = 1
	};
	struct scene scene = start();
	struct proxy proxy = start_proxy(scene.port, &flip, 1);

	unpack("triton-3.6.0-cpu", "other");
	struct attempt attempt =
		push_to(url(proxy.port, THRICE), "other/.triton/cache");
	CHECK_OK(attempt.rc, &attempt.err);
	CHECK_INT(proxy.counts->struck[0], 1);
	CHECK_INT(attempt.pushed.dropped_count, 0);
	CHECK_INT(count_sound(&scene), 2);
}

TEST(fault_redis, a_record_that_lies_damaged_is_found_and_the_next_push_heals)
{
	struct scene scene = start();
	const char *key = "tkbundle:ref:" SCENE_REF;
	const struct server server = { .port = scene.port };
	const char *name = ask_redis(&server, "-a", SECRET, "HKEYS", key, NULL);

	name = text("%.64s", name);
	(void)ask_redis(&server, "-a", SECRET, "HSET", key, name, "{}", NULL);
	struct attempt attempt = pull_from(scene.direct, "first");
	CHECK_INT(attempt.rc, TKB_ERR_CORRUPT);
	check_message(&attempt, attempt.name, name);
	CHECK_INT(count_right(&scene, "first"), 0);
	attempt = push_to(scene.direct, scene.source);
	CHECK_OK(attempt.rc, &attempt.err);
	CHECK_INT(count_sound(&scene), 1);
	attempt = pull_from(scene.direct, "second");
	CHECK_OK(attempt.rc, &attempt.err);
	CHECK_INT(count_right(&scene, "second"), scene.entry_count);
}
