/* SPDX-License-Identifier: Apache-2.0 */
#include "base/blob_buffer.h"
#include "remote_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/parallel.h"

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
		OK(tkb_blob_buffer_send(&hold, 0, hold.size, &sink, ERR));
		CHECK(tkb_bytes_equal(tkb_buf_bytes(got), bytes));
	}
}

/* Pieces, which are sent one by one */

struct piece {
	uint64_t offset;
	uint64_t size;
};

static struct piece put(struct tkb_blob_buffer *hold, struct tkb_bytes bytes)
{
	struct piece piece = { .size = bytes.size };

	OK(tkb_blob_buffer_put(hold, bytes, &piece.offset, ERR));
	return piece;
}

static void check_piece(struct tkb_blob_buffer *hold, struct piece piece,
                        struct tkb_bytes wanted)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf got = TKB_BUF_INIT(16 * TKB_MIB);
	const struct tkb_sink sink = tkb_buf_sink(&got);

	OK(tkb_blob_buffer_send(hold, piece.offset, piece.size, &sink, ERR));
	CHECK(tkb_bytes_equal(tkb_buf_bytes(&got), wanted));
}

TEST(blob_buffer, keeps_pieces_in_memory_and_then_in_a_file_without_a_name)
{
	static const char *const texts[] = { "1234567", "890", "abcd", "efg" };
	static const size_t order[] = { 3, 1, 2, 0, 2 };
	TKB_AUTO(release)
	struct tkb_blob_buffer hold = TKB_BLOB_BUFFER_INIT_SMALL(10, LARGE);
	struct piece pieces[4];

	hold.folder = test_folder();
	EACH(i, texts) {
		pieces[i] = put(&hold, tkb_text(texts[i]));
		CHECK_INT(hold.fd >= 0, i >= 2);
		for (size_t k = 0; k <= i; k++)
			check_piece(&hold, pieces[k], tkb_text(texts[k]));
	}
	CHECK_INT(count_names("."), 0);
	EACH(i, order) {
		check_piece(&hold, pieces[order[i]], tkb_text(texts[order[i]]));
	}
}

TEST(blob_buffer, holds_pieces_of_no_bytes_and_of_many)
{
	TKB_AUTO(release)
	struct tkb_blob_buffer hold = TKB_BLOB_BUFFER_INIT_SMALL(0, 4 * LARGE);
	const struct tkb_bytes many = make_bytes(3 * LARGE + 5, 4);
	const struct piece first = put(&hold, tkb_text("a"));
	const struct piece empty = put(&hold, tkb_text(""));
	const struct piece large = put(&hold, many);

	CHECK(hold.fd >= 0);
	check_piece(&hold, empty, tkb_text(""));
	check_piece(&hold, large, many);
	check_piece(&hold, first, tkb_text("a"));
}

TEST(blob_buffer, says_that_its_folder_is_not_there)
{
	TKB_AUTO(release)
	struct tkb_blob_buffer hold = TKB_BLOB_BUFFER_INIT_SMALL(0, LARGE);

	hold.folder = "absent";
	FAILS(tkb_blob_buffer_add(&hold, tkb_text("a"), ERR), TKB_ERR_IO,
	      "absent");
	CHECK_INT(hold.size, 0);
}

static int refuse_bytes(void *self, struct tkb_bytes bytes,
                        struct tkb_error *err)
{
	(void)bytes;
	(*(int *)self)++;
	return tkb_fail(err, TKB_ERR_CANCELLED, "no more");
}

TEST(blob_buffer, stops_when_the_sink_refuses)
{
	int calls = 0;
	const struct tkb_sink sink = { refuse_bytes, &calls };
	TKB_AUTO(release)
	struct tkb_blob_buffer hold = TKB_BLOB_BUFFER_INIT_SMALL(0, 3 * LARGE);

	add(&hold, make_bytes(3 * LARGE, 1));
	FAILS(tkb_blob_buffer_send(&hold, 0, hold.size, &sink, ERR),
	      TKB_ERR_CANCELLED, "no more");
	CHECK_INT(calls, 1);
}

/* Nobody can cut the file, but what is not there must not be sent for ever. */
TEST(blob_buffer, says_that_its_file_is_cut_short)
{
	TKB_AUTO(release)
	struct tkb_blob_buffer hold = TKB_BLOB_BUFFER_INIT_SMALL(0, 3 * LARGE);
	struct tkb_buf *got = test_buf(BLOB_LIMIT);
	const struct tkb_sink sink = tkb_buf_sink(got);

	add(&hold, make_bytes(2 * LARGE, 1));
	SYS(ftruncate(hold.fd, LARGE + 1));
	FAILS(tkb_blob_buffer_send(&hold, 0, hold.size, &sink, ERR), TKB_ERR_IO,
	      "cut short");
}

enum {
	PIECES = 5000,
	PIECE_SIZE = 2048
};

struct putting {
	struct tkb_blob_buffer hold;
	uint64_t offsets[PIECES];
};

/* A text of its own for each index, of 1 to 97 lines. */
static struct tkb_bytes piece_text(size_t index, char *room)
{
	size_t size = 0;

	for (size_t i = 0; i <= index % 97; i++)
		size += (size_t)snprintf(room + size, PIECE_SIZE - size,
		                         "%zu.%zu\n", index, i);
	return (struct tkb_bytes){ room, size };
}

static int put_one(void *self, size_t worker, size_t index,
                   struct tkb_error *err)
{
	struct putting *putting = self;
	char room[PIECE_SIZE];

	(void)worker;
	return tkb_blob_buffer_put(&putting->hold, piece_text(index, room),
	                           &putting->offsets[index], err);
}

TEST(blob_buffer, takes_pieces_from_several_threads)
{
	struct putting *putting = test_alloc(sizeof(*putting));
	const struct tkb_parallel_work work = { put_one, putting };
	char room[PIECE_SIZE];

	putting->hold = (struct tkb_blob_buffer)TKB_BLOB_BUFFER_INIT_SMALL(
		50000, UINT64_MAX);
	OK(tkb_parallel(PIECES, 8, &work, ERR));
	CHECK(putting->hold.fd >= 0);
	CHECK(putting->hold.memory.data == NULL);
	for (size_t i = 0; i < PIECES; i++) {
		const struct tkb_bytes wanted = piece_text(i, room);

		check_piece(&putting->hold,
		            (struct piece){ putting->offsets[i], wanted.size },
		            wanted);
	}
	tkb_blob_buffer_release(&putting->hold);
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
