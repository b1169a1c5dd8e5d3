/* SPDX-License-Identifier: Apache-2.0 */
#include "fault_scene.h"
#include "s3_fixture.h"

/*
 * Pushes and pulls by a faulty proxy before an S3 server. It is HTTP as in
 * fault_http_test.c; what is its own is that each request is signed.
 */

#define A_BLOB .request = "/cache/cas/"
#define A_RECORD .request = "/cache/ref/"
#define THE_BODY .behind = "\r\n\r\n"
#define IN_THE_BODY THE_BODY, .at = 100

#define SLOW_DOWN                                                              \
	"HTTP/1.1 503 Slow Down\r\nContent-Length: 78\r\n\r\n"                 \
	"<Error><Code>SlowDown</Code><Message>Please reduce your rate."        \
	"</Message></Error>"

static const char *form_of(const char *bucket)
{
	return text("s3://%s/cache?endpoint=http://127.0.0.1:%%u&%%s", bucket);
}

static void empty(struct scene *scene)
{
	scene->form = form_of(new_bucket("later"));
	scene->direct = scene_url(scene, scene->port, "");
}

static struct scene start(void)
{
	start_s3();
	struct scene scene =
		arrange_scene(s3_port(), form_of(new_bucket("faults")));

	scene.empty = empty;
	return scene;
}

TEST(fault_s3, a_pull_that_meets_a_fault_is_right_or_a_miss)
{
	static const struct fault_case cases[] = {
		{ "it accepts and says nothing", HARM(STALL),
		  ENDS(HASTY_ONCE, STALL_MS, TKB_ERR_UNAVAILABLE, "") },
		{ "a blob is cut twice",
		  HARM(CUT, A_BLOB, IN_THE_BODY, .times = 2), RIGHT(THRICE) },
		{ "a blob is cut three times",
		  HARM(CUT, A_BLOB, IN_THE_BODY, .times = 3),
		  ENDS(THRICE, 0, TKB_ERR_UNAVAILABLE, "") },
		{ "it is asked to slow down once",
		  HARM(ANSWER, A_BLOB, .answer = SLOW_DOWN, .times = 1),
		  RIGHT(THRICE) },
		{ "it is asked to slow down for ever",
		  HARM(ANSWER, A_BLOB, .answer = SLOW_DOWN),
		  ENDS(HASTY_THRICE, 0, TKB_ERR_UNAVAILABLE, "503") },
		{ "a bit of a blob is flipped", HARM(FLIP, A_BLOB, IN_THE_BODY),
		  CORRUPT },
	};
	const struct scene scene = start();

	check_pulls(&scene, cases, TKB_COUNT_OF(cases));
}

/* The signature tells what the proxy did. */
TEST(fault_s3, what_is_changed_on_its_way_up_is_not_stored)
{
	static const struct fault_case cases[] = {
		{ "a bit of a blob is flipped",
		  HARM(FLIP, A_BLOB, IN_THE_BODY, .is_upload = true),
		  GONE("changed on their way") },
		{ "a bit of a record is flipped",
		  HARM(FLIP, A_RECORD, IN_THE_BODY, .is_upload = true),
		  GONE("changed on their way") },
		{ "a bit of a blob is flipped, then not",
		  HARM(FLIP, A_BLOB, IN_THE_BODY, .is_upload = true,
		       .times = 1),
		  RIGHT(THRICE) },
		{ "a blob is cut",
		  HARM(CUT, A_BLOB, IN_THE_BODY, .is_upload = true), GONE("") },
	};
	struct scene scene = start();

	check_pushes(&scene, cases, TKB_COUNT_OF(cases));
}
