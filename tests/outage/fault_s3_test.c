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

static const char *bucket;

static const char *url(unsigned port, const char *parameters)
{
	return text("s3://%s/cache?endpoint=http://127.0.0.1:%u&%s", bucket,
	            port, parameters);
}

static void empty(struct scene *scene)
{
	bucket = new_bucket("later");
	scene->direct = url(scene->port, "");
}

static struct scene start(void)
{
	start_s3();
	bucket = new_bucket("faults");
	struct scene scene = arrange_scene(s3_port(), url);

	scene.empty = empty;
	return scene;
}

TEST(fault_s3, a_pull_that_meets_a_fault_is_right_or_a_miss)
{
	static const struct fault_case cases[] = {
		{ "it accepts and says nothing",
		  { .harm = STALL },
		  { HASTY_ONCE, STALL_MS, TKB_ERR_UNAVAILABLE, "" } },
		{ "a blob is cut twice",
		  { .harm = CUT, A_BLOB, IN_THE_BODY, .times = 2 },
		  RIGHT(THRICE) },
		{ "a blob is cut three times",
		  { .harm = CUT, A_BLOB, IN_THE_BODY, .times = 3 },
		  { THRICE, 0, TKB_ERR_UNAVAILABLE, "" } },
		{ "it is asked to slow down once",
		  { .harm = ANSWER, A_BLOB, .answer = SLOW_DOWN, .times = 1 },
		  RIGHT(THRICE) },
		{ "it is asked to slow down for ever",
		  { .harm = ANSWER, A_BLOB, .answer = SLOW_DOWN },
		  { HASTY_THRICE, 0, TKB_ERR_UNAVAILABLE, "503" } },
		{ "a bit of a blob is flipped",
		  { .harm = FLIP, A_BLOB, IN_THE_BODY },
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
		  { .harm = FLIP, A_BLOB, IN_THE_BODY, .is_upload = true },
		  GONE("changed on their way") },
		{ "a bit of a record is flipped",
		  { .harm = FLIP, A_RECORD, IN_THE_BODY, .is_upload = true },
		  GONE("changed on their way") },
		{ "a bit of a blob is flipped, then not",
		  { .harm = FLIP,
		    A_BLOB,
		    IN_THE_BODY,
		    .is_upload = true,
		    .times = 1 },
		  RIGHT(THRICE) },
		{ "a blob is cut",
		  { .harm = CUT, A_BLOB, IN_THE_BODY, .is_upload = true },
		  GONE("") },
	};
	struct scene scene = start();

	check_pushes(&scene, cases, TKB_COUNT_OF(cases));
}
