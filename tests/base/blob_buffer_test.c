/* SPDX-License-Identifier: Apache-2.0 */
#include "base/blob_buffer.h"
#include "remote_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

/* Bytes that are filled by one thread and read by others. */

enum {
	SMALL = 64 * 1024, /* what is kept in memory here */
	LARGE = 1024 * 1024,
	READERS = 4
};

static void release(struct tkb_blob_buffer *hold)
{
	tkb_blob_buffer_release(hold);
}

static void add(struct tkb_blob_buffer *hold, struct tkb_bytes bytes)
{
	OK(tkb_blob_buffer_add(hold, bytes, ERR));
}

/* All of `wanted` is in it, in pieces of any size, and nothing behind. */
static void check_holds(struct tkb_blob_buffer *hold, struct tkb_bytes wanted)
{
	static const size_t sizes[] = { 1, 7, 4096, 65536, 3 * LARGE };
	unsigned char *got = test_alloc(3 * LARGE);
	size_t count = 0;

	CHECK_INT(hold->size, wanted.size);
	EACH(i, sizes) {
		for (size_t at = 0; at < wanted.size;
		     at += wanted.size / 5 + 1) {
			const size_t left = wanted.size - at;

			OK(tkb_blob_buffer_read(hold, at, got, sizes[i], &count,
			                        ERR));
			CHECK_INT(count, left < sizes[i] ? left : sizes[i]);
			CHECK(tkb_bytes_equal(
				(struct tkb_bytes){ got, count },
				tkb_bytes_slice(wanted, at, at + count)));
		}
	}
	OK(tkb_blob_buffer_read(hold, wanted.size, got, 1, &count, ERR));
	CHECK_INT(count, 0);
	OK(tkb_blob_buffer_read(hold, UINT64_MAX, got, 1, &count, ERR));
	CHECK_INT(count, 0);
	OK(tkb_blob_buffer_read(hold, 0, got, 0, &count, ERR));
	CHECK_INT(count, 0);
}

TEST(blob_buffer, gives_what_it_got_in_memory_and_in_a_file)
{
	static const size_t sizes[] = {
		0, 1, SMALL - 1, SMALL, SMALL + 1, LARGE
	};

	EACH(i, sizes) {
		TKB_AUTO(release)
		struct tkb_blob_buffer hold =
			TKB_BLOB_BUFFER_INIT_SMALL(SMALL, LARGE);
		const struct tkb_bytes bytes =
			make_bytes(sizes[i], (uint32_t)i);

		for (size_t at = 0; at < bytes.size; at += 10000)
			add(&hold, tkb_bytes_slice(bytes, at,
			                           at + 10000 < bytes.size
			                                   ? at + 10000
			                                   : bytes.size));
		CHECK_INT(hold.fd >= 0, sizes[i] > SMALL);
		check_holds(&hold, bytes);
	}
}

TEST(blob_buffer, takes_no_more_than_its_limit)
{
	TKB_AUTO(release)
	struct tkb_blob_buffer hold = TKB_BLOB_BUFFER_INIT_SMALL(SMALL, LARGE);
	const struct tkb_bytes bytes = make_bytes(LARGE, 1);

	add(&hold, bytes);
	FAILS(tkb_blob_buffer_add(&hold, (struct tkb_bytes){ "x", 1 }, ERR),
	      TKB_ERR_TOO_LARGE, "1048576");
	check_holds(&hold, bytes);
}

TEST(blob_buffer, begins_anew_after_a_reset)
{
	TKB_AUTO(release)
	struct tkb_blob_buffer hold = TKB_BLOB_BUFFER_INIT_SMALL(SMALL, LARGE);
	const struct tkb_bytes many = make_bytes(LARGE, 1);
	const struct tkb_bytes few = make_bytes(SMALL, 2);

	add(&hold, many);
	tkb_blob_buffer_reset(&hold);
	CHECK_INT(hold.fd, -1);
	add(&hold, few);
	CHECK_INT(hold.fd, -1);
	check_holds(&hold, few);
	tkb_blob_buffer_reset(&hold);
	add(&hold, many);
	check_holds(&hold, many);
}

TEST(blob_buffer, sends_all_of_it)
{
	static const size_t sizes[] = { 0, 100, 3 * LARGE + 5 };

	EACH(i, sizes) {
		TKB_AUTO(release)
		struct tkb_blob_buffer hold =
			TKB_BLOB_BUFFER_INIT_SMALL(SMALL, (uint64_t)8 * LARGE);
		struct tkb_buf *got = test_buf(BLOB_LIMIT);
		const struct tkb_sink sink = tkb_buf_sink(got);
		const struct tkb_bytes bytes = make_bytes(sizes[i], 3);

		add(&hold, bytes);
		OK(tkb_blob_buffer_send(&hold, &sink, ERR));
		CHECK(tkb_bytes_equal(tkb_buf_bytes(got), bytes));
	}
}

/* Readers beside the one who fills. */
struct scene {
	struct tkb_blob_buffer hold;
	struct tkb_bytes wanted;
	size_t piece;
	atomic_size_t wrong;
	int rc;       /* what all readers must get */
	size_t whole; /* so many bytes come before that */
};

static void *read_all(void *argument)
{
	struct scene *scene = argument;
	const struct tkb_source source =
		tkb_blob_buffer_live_source(&scene->hold);
	unsigned char got[5000];
	struct tkb_error err = { 0 };
	size_t at = 0;

	for (;;) {
		size_t count = 0;
		const int rc = source.read_at(source.self, at, got,
		                              scene->piece, &count, &err);

		if (rc < 0) {
			scene->wrong += rc != scene->rc || at > scene->whole ||
			                strcmp(err.message, "broken") != 0;
			return NULL;
		}
		scene->wrong +=
			memcmp(got, (const char *)scene->wanted.data + at,
		               count) != 0;
		at += count;
		if (count < scene->piece)
			break;
	}
	scene->wrong += scene->rc != 0 || at != scene->wanted.size;
	return NULL;
}

/* Fill it slowly while others read; then end it with `rc`. */
static void play(struct scene *scene, size_t fill)
{
	pthread_t threads[READERS];
	struct tkb_error failure = { .status = scene->rc, .message = "broken" };

	tkb_blob_buffer_begin(&scene->hold);
	for (size_t i = 0; i < READERS; i++)
		SYS(pthread_create(&threads[i], NULL, read_all, scene));
	for (size_t at = 0; at < fill;) {
		const size_t end = at + 3333 < fill ? at + 3333 : fill;

		add(&scene->hold, tkb_bytes_slice(scene->wanted, at, end));
		at = end;
		if (at % 7 == 0)
			nap_ms(1);
	}
	tkb_blob_buffer_end(&scene->hold, scene->rc, &failure);
	for (size_t i = 0; i < READERS; i++)
		SYS(pthread_join(threads[i], NULL));
	CHECK_INT(atomic_load(&scene->wrong), 0);
	tkb_blob_buffer_release(&scene->hold);
}

TEST(blob_buffer, is_read_while_it_is_filled)
{
	static const size_t pieces[] = { 100, 4096, 5000 };

	EACH(i, pieces) {
		struct scene scene = {
			.hold = TKB_BLOB_BUFFER_INIT_SMALL(SMALL, LARGE),
			.wanted = make_bytes(300 * 1000, 5),
			.piece = pieces[i],
		};

		play(&scene, scene.wanted.size);
	}
}

TEST(blob_buffer, that_ends_early_tells_why_to_all_who_wait)
{
	struct scene scene = {
		.hold = TKB_BLOB_BUFFER_INIT_SMALL(SMALL, LARGE),
		.wanted = make_bytes(300 * 1000, 6),
		.piece = 4096,
		.rc = TKB_ERR_UNAVAILABLE,
		.whole = 200 * 1000,
	};

	play(&scene, 200 * 1000);
}

/* A transfer breaks off and begins again, with the same bytes. */
TEST(blob_buffer, may_be_reset_while_it_is_read)
{
	struct scene scene = {
		.hold = TKB_BLOB_BUFFER_INIT_SMALL(SMALL, LARGE),
		.wanted = make_bytes(300 * 1000, 7),
		.piece = 4096,
	};
	pthread_t threads[READERS];

	tkb_blob_buffer_begin(&scene.hold);
	for (size_t i = 0; i < READERS; i++)
		SYS(pthread_create(&threads[i], NULL, read_all, &scene));
	for (int i = 1; i <= 4; i++) {
		const size_t fill = scene.wanted.size * (size_t)i / 4;

		tkb_blob_buffer_reset(&scene.hold);
		for (size_t at = 0; at < fill; at += 1000)
			add(&scene.hold,
			    tkb_bytes_slice(scene.wanted, at, at + 1000));
	}
	tkb_blob_buffer_end(&scene.hold, 0, NULL);
	for (size_t i = 0; i < READERS; i++)
		SYS(pthread_join(threads[i], NULL));
	CHECK_INT(atomic_load(&scene.wrong), 0);
	tkb_blob_buffer_release(&scene.hold);
}

TEST(blob_buffer, that_is_empty_ends_at_once)
{
	struct scene scene = { .hold = TKB_BLOB_BUFFER_INIT(LARGE),
		               .wanted = { "", 0 },
		               .piece = 10 };

	play(&scene, 0);
}
