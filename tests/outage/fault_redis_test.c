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

static const struct fault_case faults[] = {
	{ "it accepts and says nothing", HARM(STALL), SILENT },
	{ "it hangs up at once", HARM(CUT), GONE(END) },
	{ "it resets the connection at once", HARM(RESET), GONE("connect") },
	{ "it resets the connection in a blob", HARM(RESET, A_BODY),
	  GONE("onnection") },
	{ "it hangs up at once, twice", HARM(CUT, .times = 2), RIGHT(THRICE) },
	{ "its first answer is late", HARM(DELAY, .ms = 100),
	  ENDS(ONCE, 100, 0, NULL) },
	{ "a blob is late", HARM(DELAY, A_BODY, .ms = 100),
	  ENDS(ONCE, 100, 0, NULL) },
	{ "a blob is too late", HARM(DELAY, A_BODY, .ms = 1000), SILENT },
	{ "a blob comes so slowly that it is not done in time",
	  HARM(TRICKLE, A_BODY, .ms = 100), LATE },
	{ "it hangs up at once, for ever", HARM(CUT),
	  ENDS(BUSY_OFTEN, 0, TKB_ERR_UNAVAILABLE, "") },
	{ "a blob stalls", HARM(STALL, A_BODY),
	  ENDS(HASTY_THRICE, 3 * STALL_MS, TKB_ERR_UNAVAILABLE, SILENCE) },
	{ "a blob stalls once", HARM(STALL, A_BODY, .times = 1),
	  ENDS(HASTY_OFTEN, 500, 0, NULL) },
	{ "a blob is cut twice", HARM(CUT, A_BODY, .times = 2), RIGHT(THRICE) },
	{ "a blob is cut three times", HARM(CUT, A_BODY, .times = 3),
	  ENDS(THRICE, 0, TKB_ERR_UNAVAILABLE, END) },
	{ "a blob is told too long", HARM(LIE, A_LENGTH, .by = 100), SILENT },
	{ "a blob is told too short", HARM(LIE, A_LENGTH, .by = -100),
	  GONE("changed while it was read") },
	{ "a bit of a blob is flipped", HARM(FLIP, A_BODY), CORRUPT },
	{ "a bit of a blob's length is flipped", HARM(FLIP, A_LENGTH),
	  ENDS(HASTY_ONCE, 0, TKB_ERR_UNAVAILABLE, "") },
	{ "the records stall", HARM(STALL, THE_RECORDS, .at = 50), SILENT },
	{ "the records are cut", HARM(CUT, THE_RECORDS, .at = 50), GONE(END) },
	{ "a bit of a record is flipped", HARM(FLIP, THE_RECORDS, .at = 200),
	  ENDS(ONCE, 0, TKB_ERR_CORRUPT, "another digest") },
};

TEST(fault_redis, a_pull_that_meets_a_fault_is_right_or_a_miss)
{
	struct scene scene = redis_scene();

	check_pulls(&scene, faults, TKB_COUNT_OF(faults));
}

TEST(fault_redis, a_blob_that_is_cut_anywhere_is_right_at_the_next_try)
{
	struct scene scene = redis_scene();
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
		{ "every blob stalls", HARM(STALL, A_BODY), SILENT },
		{ "every blob stalls, again and again", HARM(STALL, A_BODY),
		  ENDS(HASTY_THRICE, STALL_MS, TKB_ERR_UNAVAILABLE, SILENCE) },
		{ "every blob is too slow", HARM(TRICKLE, A_BODY, .ms = 100),
		  LATE },
		{ "every blob is damaged", HARM(FLIP, A_BODY), CORRUPT },
		{ "one blob stalls", HARM(STALL, A_BODY, .times = 1),
		  ENDS(HASTY_OFTEN, 500, 0, NULL) },
	};
	struct scene scene = redis_scene();

	scene.empty(&scene);
	push_parts(&scene, 8, 2);
	check_pulls(&scene, cases, TKB_COUNT_OF(cases));
}

TEST(fault_redis, a_push_that_meets_a_fault_tears_nothing_and_the_next_heals)
{
	static const struct fault_case cases[] = {
		{ "it accepts and says nothing", HARM(STALL), SILENT },
		{ "it hangs up at once", HARM(CUT), GONE(END) },
		{ "its first answer is late", HARM(DELAY, .ms = 100),
		  ENDS(ONCE, 100, 0, NULL) },
		{ "it hangs up after the blob", HARM(CUT, THE_PUT, .at = 1),
		  GONE(END) },
		{ "it hangs up after the blob, twice",
		  HARM(CUT, THE_PUT, .at = 1, .times = 2), RIGHT(THRICE) },
		{ "it says nothing after the blob",
		  HARM(STALL, THE_PUT, .at = 1), SILENT },
		{ "the record does not arrive whole",
		  HARM(CUT, THE_ADD, .at = 300, .is_upload = true), GONE(END) },
		{ "it hangs up after the record", HARM(CUT, THE_ADD, .at = 1),
		  GONE(END) },
		{ "it hangs up after the record, twice",
		  HARM(CUT, THE_ADD, .at = 1, .times = 2), RIGHT(THRICE) },
	};
	struct scene scene = redis_scene();

	check_pushes(&scene, cases, TKB_COUNT_OF(cases));
}

TEST(fault_redis, a_blob_that_is_cut_on_its_way_up_is_not_there)
{
	static const struct fault cut = { .harm = CUT, THE_PUT };
	struct scene scene = redis_scene();

	check_cut_pushes(&scene, &cut, TKB_ERR_UNAVAILABLE, END);
}

/* Whoever sees it damaged looks again before it drops what others need. */
TEST(fault_redis, a_record_that_is_damaged_on_its_way_is_not_dropped)
{
	static const struct fault flip = {
		.harm = FLIP, THE_RECORDS, .at = 200, .times = 1
	};
	struct scene scene = redis_scene();
	struct proxy proxy = start_proxy(scene.port, &flip, 1);

	unpack("triton-3.6.0-cpu", "other");
	struct attempt attempt = push_to(scene_url(&scene, proxy.port, THRICE),
	                                 "other/.triton/cache");
	CHECK_OK(attempt.rc, &attempt.err);
	CHECK_INT(proxy.counts->struck[0], 1);
	CHECK_INT(attempt.pushed.dropped_count, 0);
	CHECK_INT(count_sound(&scene), 2);
}

TEST(fault_redis, a_record_that_lies_damaged_is_found_and_the_next_push_heals)
{
	struct scene scene = redis_scene();
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
