/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet_fixture.h"

#include "fleet/prefetch.h"

/* Blobs on their way, several at once, in order. */

enum {
	BLOBS = 12,
	SIZE = 50 * 1000
};

struct sky {
	struct tkb_remote *remote;
	struct tkb_bytes bytes[BLOBS];
	struct tkb_prefetch_blob blobs[BLOBS];
	struct tkb_prefetch *flights;
};

static void close_sky(struct sky *sky)
{
	tkb_prefetch_close(sky->flights);
}

static struct sky arrange_sky(const char *scheme)
{
	struct sky sky = { .remote = open_spy(text("%s://%s/remote", scheme,
		                                   test_folder())) };

	for (size_t i = 0; i < BLOBS; i++) {
		struct tkb_blob blob = { .size = SIZE };

		sky.bytes[i] = make_bytes(SIZE, (uint32_t)i);
		blob.source = tkb_memory_source(&sky.bytes[i]);
		OK(tkb_remote_put(sky.remote, &blob, &sky.blobs[i].digest,
		                  ERR));
		sky.blobs[i].size = SIZE;
	}
	spy_reset();
	return sky;
}

static void take_off(struct sky *sky, size_t connections, bool keeps_all)
{
	const struct tkb_prefetch_start order = {
		.remote = sky->remote,
		.blobs = sky->blobs,
		.count = BLOBS,
		.connections = connections,
		.keeps_all = keeps_all,
	};

	OK(tkb_prefetch_open(&order, &sky->flights, ERR));
}

static void check_blob_at(struct sky *sky, size_t index)
{
	const struct tkb_source source =
		tkb_prefetch_source(sky->flights, index);
	unsigned char *got = test_alloc(SIZE + 1);
	size_t count = 0;

	OK(source.read_at(source.self, 0, got, SIZE + 1, &count, ERR));
	CHECK(tkb_bytes_equal((struct tkb_bytes){ got, count },
	                      sky->bytes[index]));
}

TEST(prefetch, bring_each_blob_in_order)
{
	static const size_t connections[] = { 1, 3, 16 };

	for (size_t i = 0; i < TKB_COUNT_OF(connections); i++) {
		TKB_AUTO(close_sky) struct sky sky = arrange_sky("spy");

		take_off(&sky, connections[i], false);
		for (size_t j = 0; j < BLOBS; j++) {
			check_blob_at(&sky, j);
			OK(tkb_prefetch_await(sky.flights, j, ERR));
			tkb_prefetch_drop(sky.flights, j);
		}
		CHECK_INT(spy_count(SPY_GET), BLOBS);
	}
}

/* So many have begun; a moment later there are still no more. */
static void check_begun(int wanted)
{
	const uint64_t start = now_ms();

	while ((int)spy_count(SPY_GET) < wanted && now_ms() - start < 10000)
		nap_ms(5);
	nap_ms(100);
	CHECK_INT(spy_count(SPY_GET), wanted);
}

TEST(prefetch, go_no_further_ahead_than_there_are_connections)
{
	TKB_AUTO(close_sky) struct sky sky = arrange_sky("spy");

	take_off(&sky, 3, false);
	check_begun(3);
	OK(tkb_prefetch_await(sky.flights, 0, ERR));
	tkb_prefetch_drop(sky.flights, 0);
	check_begun(4);
}

TEST(prefetch, that_are_all_kept_go_on)
{
	TKB_AUTO(close_sky) struct sky sky = arrange_sky("spy");

	take_off(&sky, 3, true);
	OK(tkb_prefetch_await(sky.flights, BLOBS - 1, ERR));
	for (size_t i = 0; i < BLOBS; i++)
		OK(tkb_prefetch_await(sky.flights, i, ERR));
	for (size_t i = BLOBS; i > 0; i--)
		check_blob_at(&sky, i - 1);
	CHECK_INT(spy_count(SPY_GET), BLOBS);
}

TEST(prefetch, that_are_closed_end_what_is_on_its_way)
{
	TKB_AUTO(close_sky) struct sky sky = arrange_sky("spy");

	spy.get_ms = 5000;
	take_off(&sky, 4, false);
	check_begun(4);
	uint64_t start = now_ms();
	tkb_prefetch_close(tkb_take(sky.flights));
	CHECK(now_ms() - start < 2000);
	CHECK_INT(spy.flying, 0);
	CHECK_INT(spy_count(SPY_GET), 4);
}

TEST(prefetch, of_which_one_has_more_bytes_than_it_should_keep_no_more)
{
	TKB_AUTO(close_sky) struct sky sky = arrange_sky("lone");
	const char *hex = hex_of(&sky.blobs[0].digest);
	unsigned char got[1];
	size_t count = 1;

	write_file(text("remote/cas/%.2s/%s", hex, hex),
	           make_bytes(100 * SIZE, 0));
	take_off(&sky, 1, false);
	FAILS(tkb_prefetch_await(sky.flights, 0, ERR), TKB_ERR_CORRUPT,
	      text("blob %s has more than %d bytes", hex, SIZE));
	const struct tkb_source source = tkb_prefetch_source(sky.flights, 0);
	FAILS(source.read_at(source.self, SIZE, got, 1, &count, ERR),
	      TKB_ERR_CORRUPT, "has more than");
	CHECK_INT(count, 0);
}

static int lose_the_third(const struct spy_event *event, struct tkb_error *err)
{
	(void)err;
	return event->op == SPY_GET && event->earlier == 2 ? TKB_MISS : 0;
}

TEST(prefetch, of_which_one_is_gone_bring_the_others)
{
	TKB_AUTO(close_sky) struct sky sky = arrange_sky("lone");

	spy.before = lose_the_third;
	take_off(&sky, 2, false);
	for (size_t i = 0; i < BLOBS; i++) {
		const struct tkb_source source =
			tkb_prefetch_source(sky.flights, i);
		size_t count = 0;
		char byte;
		const int rc =
			source.read_at(source.self, 0, &byte, 1, &count, ERR);

		CHECK_INT(rc, i == 2 ? TKB_ERR_UNAVAILABLE : 0);
		CHECK_INT(tkb_prefetch_await(sky.flights, i, ERR),
		          i == 2 ? TKB_MISS : 0);
		tkb_prefetch_drop(sky.flights, i);
	}
}

/* The first thread finds it dead while the others get their handles. */
TEST(prefetch, of_a_remote_that_dies_just_then_all_fail)
{
	TKB_AUTO(close_sky) struct sky sky = arrange_sky("spy");

	sky.remote = open_spy(text("spy://%s/remote?retries=0", test_folder()));
	spy_refuse(SPY_GET, SIZE_MAX, TKB_ERR_UNAVAILABLE, "not today");
	take_off(&sky, 16, false);
	for (size_t i = 0; i < BLOBS; i++) {
		struct tkb_error err = { 0 };

		CHECK_INT(tkb_prefetch_await(sky.flights, i, &err),
		          TKB_ERR_UNAVAILABLE);
		CHECK_CONTAINS(err.message, "not today");
		tkb_prefetch_drop(sky.flights, i);
	}
}

static int refuse_a_second_connection(const struct spy_event *event,
                                      struct tkb_error *err)
{
	if (event->op != SPY_OPEN || event->earlier == 0)
		return 0;
	return tkb_fail(err, TKB_ERR_UNAVAILABLE, "it has too many clients");
}

TEST(prefetch, whose_further_connections_are_refused_use_the_first)
{
	TKB_AUTO(close_sky) struct sky sky = arrange_sky("spy");
	struct tkb_error err = { 0 };
	bool is_here = false;

	sky.remote = open_spy(text("spy://%s/remote?retries=0", test_folder()));
	spy.before = refuse_a_second_connection;
	spy.get_ms = 10;
	OK(tkb_remote_has(sky.remote, &sky.blobs[0].digest, 1, &is_here, ERR));
	take_off(&sky, 4, false);
	for (size_t i = 0; i < BLOBS; i++) {
		check_blob_at(&sky, i);
		CHECK_INT(tkb_prefetch_await(sky.flights, i, &err), 0);
		tkb_prefetch_drop(sky.flights, i);
	}
	CHECK(spy_count(SPY_OPEN) > 1);
	spy_reset();
}

TEST(prefetch, leave_the_remote_as_it_was)
{
	TKB_AUTO(close_sky) struct sky sky = arrange_sky("spy");
	const struct tkb_watch before = sky.remote->watch;
	bool is_here = false;

	take_off(&sky, 4, false);
	tkb_prefetch_close(tkb_take(sky.flights));
	CHECK_INT(memcmp(&before, &sky.remote->watch, sizeof(before)), 0);
	OK(tkb_remote_has(sky.remote, &sky.blobs[0].digest, 1, &is_here, ERR));
	CHECK(is_here);
}

TEST(prefetch, of_no_blob_are_none)
{
	TKB_AUTO(close_sky) struct sky sky = arrange_sky("spy");
	const struct tkb_prefetch_start order = { .remote = sky.remote,
		                                  .connections = 4 };

	OK(tkb_prefetch_open(&order, &sky.flights, ERR));
	CHECK_INT(spy_count(SPY_GET), 0);
}
