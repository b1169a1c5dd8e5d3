/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_race.h"

#include "fake_http.h"
#include "nginx.h"
#include "registry.h"
#include "s3_fixture.h"

TEST(fleet_race, at_a_folder_nothing_is_lost)
{
	race_at(text("file://%s/remote", test_folder()));
}

TEST(fleet_race, at_redis_nothing_is_lost)
{
	struct server redis = start_redis("");

	race_at(text("redis://127.0.0.1:%u", redis.port));
}

TEST(fleet_race, at_nginx_nothing_is_lost)
{
	struct server nginx = start_nginx(nginx_dav());

	race_at(text("http://127.0.0.1:%u/fleet", nginx.port));
}

/* Each record is a tag. */
TEST(fleet_race, at_a_registry_nothing_is_lost)
{
	struct server server = start_registry("");

	race_at(text("oci://127.0.0.1:%u/fleet", server.port));
}

/* All records in one document, which is written under If-Match. */
TEST(fleet_race, at_a_document_nothing_is_lost)
{
	struct server web = start_web(0);

	race_at(text("http://127.0.0.1:%u/fleet", web.port));
}

TEST(fleet_race, at_s3_nothing_is_lost)
{
	start_s3();
	/* It is Python's, and slow where 26 ask at once. */
	race_at(s3_url(text("%s/fleet", new_bucket("race")),
	               "&stall-timeout=1m&timeout=2m&retries=6"));
}
