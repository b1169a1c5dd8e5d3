/* SPDX-License-Identifier: Apache-2.0 */
#include "fault_scene.h"
#include "nginx.h"

/* Pushes and pulls by a faulty proxy before the real nginx. */

/* What asks for blobs, for records, and what puts and adds them. */
#define A_GET .request = "GET /cache/cas/"
#define A_PUT .request = "PUT /cache/cas/"
#define AN_ADD .request = "PUT /cache/ref/"
#define A_RECORD .request = "GET /cache/ref/team%2Cmodel/"
#define A_LISTING .request = "GET /cache/ref/team%2Cmodel/ HTTP"

/* Where a body begins; 100 bytes into it; its length. */
#define THE_BODY .behind = "\r\n\r\n"
#define IN_THE_BODY THE_BODY, .at = 100
#define THE_LENGTH .behind = "Content-Length: "

#define SILENCE "no byte moved for 200 ms"

TEST(fault_http, a_pull_whose_connection_is_faulty_is_right_or_a_miss)
{
	static const struct fault_case cases[] = {
		{ "it accepts and says nothing", HARM(STALL), SILENT },
		{ "it hangs up at once", HARM(CUT), GONE("") },
		{ "it resets the connection at once", HARM(RESET), GONE("") },
		{ "it hangs up at once, twice", HARM(CUT, .times = 2),
		  RIGHT(THRICE) },
		{ "it hangs up at once, for ever", HARM(CUT),
		  ENDS(BUSY_OFTEN, 0, TKB_ERR_UNAVAILABLE, "") },
		{ "its first answer is late", HARM(DELAY, .ms = 100),
		  ENDS(ONCE, 100, 0, NULL) },
		{ "a blob is late", HARM(DELAY, A_GET, IN_THE_BODY, .ms = 100),
		  ENDS(ONCE, 100, 0, NULL) },
		{ "a blob is too late",
		  HARM(DELAY, A_GET, IN_THE_BODY, .ms = 1000), SILENT },
		{ "a blob comes so slowly that it is not done in time",
		  HARM(TRICKLE, A_GET, IN_THE_BODY, .ms = 100), LATE },
		{ "a blob stalls", HARM(STALL, A_GET, IN_THE_BODY),
		  ENDS(HASTY_THRICE, 3 * STALL_MS, TKB_ERR_UNAVAILABLE,
		       SILENCE) },
		{ "a blob stalls once",
		  HARM(STALL, A_GET, IN_THE_BODY, .times = 1),
		  ENDS(HASTY_OFTEN, 500, 0, NULL) },
		{ "a blob is cut twice",
		  HARM(CUT, A_GET, IN_THE_BODY, .times = 2), RIGHT(THRICE) },
		{ "a blob is cut three times",
		  HARM(CUT, A_GET, IN_THE_BODY, .times = 3),
		  ENDS(THRICE, 0, TKB_ERR_UNAVAILABLE, "") },
		{ "the listing stalls", HARM(STALL, A_LISTING, IN_THE_BODY),
		  SILENT },
		{ "the listing is cut", HARM(CUT, A_LISTING, IN_THE_BODY),
		  GONE("") },
		{ "a record is cut",
		  HARM(CUT, A_RECORD, .skip = 1, IN_THE_BODY), GONE("") },
		{ "a blob's head is cut", HARM(CUT, A_GET, .at = 30),
		  GONE("") },
	};
	struct scene scene = nginx_scene();

	check_pulls(&scene, cases, TKB_COUNT_OF(cases));
}

TEST(fault_http, a_pull_to_which_is_lied_is_right_or_a_miss)
{
	static const struct fault_case cases[] = {
		{ "a blob is told too long",
		  HARM(LIE, A_GET, THE_LENGTH, .by = 100), SILENT },
		{ "a blob is told too short",
		  HARM(LIE, A_GET, THE_LENGTH, .by = -100),
		  ENDS(ONCE, 0, TKB_ERR_UNAVAILABLE, "") },
		{ "a blob is told to be huge",
		  HARM(LIE, A_GET, THE_LENGTH, .by = 2000000000),
		  ENDS(HASTY_ONCE, 0, TKB_ERR_UNAVAILABLE, "") },
		{ "a record is told too long",
		  HARM(LIE, A_RECORD, .skip = 1, THE_LENGTH, .by = 100),
		  SILENT },
		{ "a record is told too short",
		  HARM(LIE, A_RECORD, .skip = 1, THE_LENGTH, .by = -100),
		  ENDS(ONCE, 0, TKB_ERR_UNAVAILABLE, "ended too early") },
		{ "a bit of a blob is flipped", HARM(FLIP, A_GET, IN_THE_BODY),
		  CORRUPT },
		{ "a bit of a record is flipped",
		  HARM(FLIP, A_RECORD, .skip = 1, IN_THE_BODY),
		  ENDS(ONCE, 0, TKB_ERR_CORRUPT, "another digest") },
	};
	struct scene scene = nginx_scene();

	check_pulls(&scene, cases, TKB_COUNT_OF(cases));
}

/* Answers that the server does not give. */
#define EMPTY "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define NOTHING "HTTP/1.1 200 OK\r\n\r\n"
#define BROKEN "HTTP/1.1 500 Oh\r\nContent-Length: 4\r\n\r\nwhat"
#define BUSY "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
#define ENOUGH(seconds)                                                        \
	"HTTP/1.1 429 Enough\r\nRetry-After: " seconds                         \
	"\r\nContent-Length: 0\r\n\r\n"
#define LOOP                                                                   \
	"HTTP/1.1 302 Found\r\nLocation: /cache/cas/x\r\n"                     \
	"Content-Length: 0\r\n\r\n"
#define NOT_HTTP "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"
#define NO "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"

TEST(fault_http, a_pull_that_gets_other_answers_is_right_or_a_miss)
{
	static const struct fault_case cases[] = {
		{ "200 with an empty body for a blob",
		  HARM(ANSWER, A_GET, .answer = EMPTY),
		  ENDS(ONCE, 0, TKB_ERR_UNAVAILABLE, "ended too early") },
		{ "200 with an empty body for a blob, then success",
		  HARM(ANSWER, A_GET, .answer = EMPTY, .times = 1),
		  RIGHT(THRICE) },
		{ "200 with nothing for a blob",
		  HARM(ANSWER, A_GET, .answer = NOTHING),
		  ENDS(ONCE, 0, TKB_ERR_UNAVAILABLE, "ended too early") },
		{ "200 with nothing for everything",
		  HARM(ANSWER, .request = " /cache", .answer = NOTHING),
		  GONE("") },
		{ "500, then success",
		  HARM(ANSWER, A_GET, .answer = BROKEN, .times = 1),
		  RIGHT(THRICE) },
		{ "500 twice, then success",
		  HARM(ANSWER, A_GET, .answer = BROKEN, .times = 2),
		  RIGHT(THRICE) },
		{ "500 for ever", HARM(ANSWER, A_GET, .answer = BROKEN),
		  ENDS(THRICE, 0, TKB_ERR_UNAVAILABLE, "500") },
		{ "503 to the first question, then success",
		  HARM(ANSWER, .request = "GET ", .answer = BUSY, .times = 1),
		  RIGHT(THRICE) },
		{ "429 for a second, then success",
		  HARM(ANSWER, A_GET, .answer = ENOUGH("1"), .times = 1),
		  ENDS(THRICE, 1000, 0, NULL) },
		{ "429 for an hour",
		  HARM(ANSWER, A_GET, .answer = ENOUGH("3600")),
		  ENDS(HASTY_THRICE, 0, TKB_ERR_UNAVAILABLE, "429") },
		{ "429 until a day that is far away",
		  HARM(ANSWER, A_GET,
		       .answer = ENOUGH("Wed, 21 Oct 2099 07:28:00 GMT")),
		  ENDS(HASTY_THRICE, 0, TKB_ERR_UNAVAILABLE, "429") },
		{ "429 for no time at all, for ever",
		  HARM(ANSWER, A_GET, .answer = ENOUGH("0")),
		  ENDS(HASTY_THRICE, 0, TKB_ERR_UNAVAILABLE, "429") },
		{ "429 for what makes no sense, then success",
		  HARM(ANSWER, A_GET, .answer = ENOUGH("-99999999999999999999"),
		       .times = 1),
		  RIGHT(THRICE) },
		{ "a redirect that leads back",
		  HARM(ANSWER, A_GET, .answer = LOOP), GONE("redirect") },
		{ "another protocol", HARM(ANSWER, A_GET, .answer = NOT_HTTP),
		  GONE("") },
		{ "403", HARM(ANSWER, A_GET, .answer = NO),
		  ENDS(THRICE, 0, TKB_ERR_DENIED, "403") },
	};
	struct scene scene = nginx_scene();

	check_pulls(&scene, cases, TKB_COUNT_OF(cases));
}

TEST(fault_http, a_server_that_asks_for_an_hour_gets_a_few_seconds)
{
	static const struct fault fault = {
		.harm = ANSWER, A_GET, .answer = ENOUGH("3600"), .times = 1
	};
	struct scene scene = nginx_scene();
	struct proxy proxy = start_proxy(scene.port, &fault, 1);
	const struct attempt attempt =
		pull_from(scene_url(&scene, proxy.port, THRICE), "pulled");

	CHECK_OK(attempt.rc, &attempt.err);
	CHECK_INT(count_right(&scene, "pulled"), scene.entry_count);
	CHECK(attempt.ms >= 5000);
	CHECK(attempt.ms < 15000);
}

TEST(fault_http, a_blob_that_is_cut_anywhere_is_right_at_the_next_try)
{
	static const struct fault cut = { .harm = CUT, A_GET, THE_BODY };
	struct scene scene = nginx_scene();

	check_cuts(&scene, &cut, scene.blob_size, TKB_ERR_UNAVAILABLE, "");
}

static size_t count_pulled(const struct scene *scene, struct fault fault)
{
	struct proxy proxy = start_proxy(scene->port, &fault, 1);
	const char *root = text("%s/part-%u", test_folder(), proxy.port);
	const struct attempt attempt =
		pull_from(scene_url(scene, proxy.port, ONCE), root);

	CHECK(attempt.rc < 0);
	stop_proxy(&proxy);
	return count_right(scene, root);
}

/* Each is checked by itself, while the rest comes in. */
TEST(fault_http, of_several_frames_those_that_are_whole_are_emitted)
{
	static const struct fault cut = { .harm = CUT, A_GET, THE_BODY };
	const struct scene scene =
		arrange_large_scene(start_nginx(nginx_dav()).port, NGINX_FORM);
	struct fault fault = cut;

	check_cuts(&scene, &cut, scene.blob_size, TKB_ERR_UNAVAILABLE, "");
	fault.at = scene.blob_size - 1000;
	size_t count = count_pulled(&scene, fault);
	CHECK(count > scene.entry_count / 2 && count < scene.entry_count);
	fault.harm = FLIP;
	CHECK_INT(count_pulled(&scene, fault), count);
	fault.at = scene.blob_size / 2;
	count = count_pulled(&scene, fault);
	CHECK(count > scene.entry_count / 2 && count < scene.entry_count);
}

/* What has come is not asked for again. */
TEST(fault_http, a_transfer_goes_on_where_it_was_cut)
{
	struct scene scene = nginx_scene();
	const struct fault cut = { .harm = CUT,
		                   A_GET,
		                   THE_BODY,
		                   .at = scene.blob_size / 2,
		                   .times = 1 };
	struct proxy proxy = start_proxy(scene.port, &cut, 1);
	const struct attempt attempt =
		pull_from(scene_url(&scene, proxy.port, THRICE), "pulled");

	CHECK_OK(attempt.rc, &attempt.err);
	CHECK_INT(proxy.counts->met[0], 2);
	CHECK(proxy.counts->down < scene.blob_size + scene.record_size + 8192);
}

TEST(fault_http, a_push_that_meets_a_fault_tears_nothing_and_the_next_heals)
{
	static const struct fault_case cases[] = {
		{ "it accepts and says nothing", HARM(STALL), SILENT },
		{ "it hangs up at once", HARM(CUT), GONE("") },
		{ "it hangs up after the blob", HARM(CUT, A_PUT, .at = 1),
		  GONE("") },
		{ "it hangs up after the blob, twice",
		  HARM(CUT, A_PUT, .at = 1, .times = 2), RIGHT(THRICE) },
		{ "it says nothing after the blob", HARM(STALL, A_PUT, .at = 1),
		  SILENT },
		{ "500 for the blob, then success",
		  HARM(ANSWER, A_PUT, .answer = BROKEN, .times = 1),
		  RIGHT(THRICE) },
		{ "500 for the blob, for ever",
		  HARM(ANSWER, A_PUT, .answer = BROKEN),
		  ENDS(THRICE, 0, TKB_ERR_UNAVAILABLE, "500") },
		{ "403 for the blob", HARM(ANSWER, A_PUT, .answer = NO),
		  ENDS(THRICE, 0, TKB_ERR_DENIED, "403") },
		{ "200 for the blob, which is not stored",
		  HARM(ANSWER, A_PUT, .answer = EMPTY), RIGHT(ONCE) },
		{ "the record does not arrive whole",
		  HARM(CUT, AN_ADD, IN_THE_BODY, .is_upload = true), GONE("") },
		{ "it hangs up after the record", HARM(CUT, AN_ADD, .at = 1),
		  GONE("") },
		{ "it hangs up after the record, twice",
		  HARM(CUT, AN_ADD, .at = 1, .times = 2), RIGHT(THRICE) },
	};
	struct scene scene = nginx_scene();

	check_pushes(&scene, cases, TKB_COUNT_OF(cases));
}

/* A connection that was used before libcurl tries again by itself. */
TEST(fault_http, a_blob_that_is_cut_on_its_way_up_is_whole_or_not_there)
{
	static const struct fault cut = { .harm = CUT, A_PUT, THE_BODY };
	struct scene scene = nginx_scene();

	check_cut_pushes(&scene, &cut, EITHER, "");
}
