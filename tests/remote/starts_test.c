/* SPDX-License-Identifier: Apache-2.0 */

/* Reports of starts, over remotes that a fleet shares: tkbundle/starts.h. */

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include <tkbundle/fleet.h>
#include <tkbundle/starts.h>

#include "fake_redis.h"
#include "s3_fixture.h"

#define REF "team/model"

static const char *report_of(unsigned number)
{
	return text("{\"start\": %u, \"more\": \"%01500d\"}", number, 0);
}

static void leave(struct tkb_remote *remote, unsigned first, unsigned count)
{
	for (unsigned i = first; i < first + count; i++) {
		const char *const report = report_of(i);
		struct tkb_digest digest;

		OK(tkb_starts_add(remote, REF,
		                  (struct tkb_bytes){ report, strlen(report) },
		                  NULL, &digest, ERR));
	}
}

struct seen {
	unsigned count;
	uint64_t age_s;
};

static int see(void *self, struct tkb_bytes report, uint64_t age_s,
               struct tkb_error *err)
{
	struct seen *seen = self;

	(void)err;
	CHECK(report.size > 1500);
	CHECK(age_s >= seen->age_s);
	seen->age_s = age_s;
	seen->count++;
	return 0;
}

/* How many are told; they are as they were left. */
static unsigned count_told(struct tkb_remote *remote)
{
	struct seen seen = { 0 };
	const struct tkb_starts_visitor visitor = { see, &seen };
	const int rc = tkb_starts_read(remote, REF, &visitor, ERR);

	CHECK(rc == 0 || rc == TKB_MISS);
	return seen.count;
}

static int count_name_of(void *self, const char *ref, struct tkb_error *err)
{
	unsigned *count = self;

	(void)err;
	CHECK_STR(ref, REF);
	(*count)++;
	return 0;
}

/* Reports as the objects of a bucket; moto makes many at once. */
static const char *bucket_of(unsigned count)
{
	start_s3();
	const char *bucket = new_bucket("starts");
	struct tkb_remote *remote =
		must_open_remote(s3_url(text("%s/x", bucket), ""), NULL);
	leave(remote, 0, count);
	return bucket;
}

static size_t count_objects(const char *bucket)
{
	return count_parts(ask_s3(text("keys/%s", bucket)),
	                   "/ref/@starts,team,model/");
}

TEST(starts, of_many_are_read_in_few_round_trips_from_s3)
{
	const char *const bucket = bucket_of(1000);
	struct tkb_remote *remote =
		must_open_remote(s3_url(text("%s/x", bucket), ""), NULL);

	(void)ask_s3("log");
	CHECK_INT(count_told(remote), 1000);
	CHECK(atoi(ask_s3("connections")) > 4);
	CHECK(atoi(ask_s3("connections")) <= 32);
	const char *const log = ask_s3("log");
	CHECK_INT(count_parts(log, "/ref/@starts,team,model/"), 1000);
	CHECK(count_parts(log, "\n") <= 1000 + 4);
}

TEST(starts, that_are_too_many_are_not_fetched_and_soon_removed)
{
	const char *const bucket = bucket_of(1000);
	unsigned number = 1000;

	/* As others leave them who may remove nothing. */
	for (unsigned i = 0; i < 300; i++) {
		const char *const report = text("{\"late\": %u, \"more\": "
		                                "\"%01500d\"}",
		                                i, 0);
		const struct tkb_bytes bytes = { report, strlen(report) };
		struct handle *handle =
			must_connect(s3_url(text("%s/x", bucket), ""));

		(void)must_add(handle, "@starts/" REF, bytes);
	}
	struct tkb_remote *remote =
		must_open_remote(s3_url(text("%s/x", bucket), ""), NULL);
	CHECK_INT(count_objects(bucket), 1300);
	(void)ask_s3("log");
	CHECK_INT(count_told(remote), 1000);
	CHECK(count_parts(ask_s3("log"), "/ref/@starts,team,model/") <= 1000);

	/* Every so many of those who leave one clean up. */
	while (count_objects(bucket) > 1100 && number < 2000)
		leave(remote, number++, 1);
	CHECK(count_objects(bucket) <= 1100);
	CHECK(count_objects(bucket) >= 1000);
	CHECK_INT(count_told(remote), 1000);
}

TEST(starts, that_are_too_old_count_nowhere)
{
	const struct timespec old[2] = {
		{ .tv_sec = time(NULL) - TKB_STARTS_AGE_S - 60 },
		{ .tv_sec = time(NULL) - TKB_STARTS_AGE_S - 60 }
	};
	const char *const folder = "remote/ref/@starts,team,model";
	unsigned number = 20;

	SYS(mkdir("remote", 0755));
	struct tkb_remote *remote =
		must_open_remote(text("%s/remote", test_folder()), NULL);
	leave(remote, 0, 20);
	CHECK_INT(count_told(remote), 20);
	const char **names = list(folder);
	for (size_t i = 0; names[i] != NULL; i++)
		SYS(utimensat(AT_FDCWD, text("%s/%s", folder, names[i]), old,
		              0));
	CHECK_INT(count_told(remote), 0);
	while (count_names(folder) > number - 20 && number < 1000)
		leave(remote, number++, 1);
	CHECK_INT(count_told(remote), number - 20);
}

static uint64_t count_in_redis(const struct server *server)
{
	struct handle *handle = must_connect(redis_url(server, ""));

	return list_records(handle, "@starts/" REF)->count;
}

TEST(starts, in_redis_stay_about_as_many_as_count)
{
	struct server server = start_redis("");
	struct tkb_remote *remote =
		must_open_remote(redis_url(&server, ""), NULL);
	unsigned refs = 0;
	const struct tkb_ref_visitor visitor = { count_name_of, &refs };

	leave(remote, 0, 1600);
	CHECK(count_in_redis(&server) >= 1000);
	CHECK(count_in_redis(&server) < 1300);
	CHECK_INT(count_told(remote), 1000);
	OK(tkb_starts_refs(remote, &visitor, ERR));
	CHECK_INT(refs, 1);
}

TEST(starts, that_two_tiers_have_count_once)
{
	struct server server = start_redis("");

	start_s3();
	const char *const bucket = new_bucket("starts");
	struct tkb_remote *remote =
		must_open_remote(text("%s,%s", redis_url(&server, ""),
	                              s3_url(text("%s/x", bucket), "")),
	                         NULL);
	leave(remote, 0, 700);
	CHECK_INT(count_told(remote), 700);
	leave(remote, 700, 100);
	CHECK_INT(count_told(remote), 800);
	CHECK_INT(count_objects(bucket), 800);
	CHECK_INT(count_in_redis(&server), 800);
}
