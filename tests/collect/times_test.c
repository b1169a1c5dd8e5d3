/* SPDX-License-Identifier: Apache-2.0 */
#include "collecting.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include <tkbundle/times.h>

#include "base/fd.h"

/* How long entries took to compile, as it is noted beside them. */

#define ONE "7L6SDEJ5EARFW53EAUKXWJ3XWXHCWI4TI4SGVO6DXAZGV5QZWTSA"

enum {
	THREADS = 8,
	NOTES = 300, /* of each thread */
	BATCH = 50000,
	BATCHES = 6,  /* 21 MB */
	MANY = 150000 /* 11 MB */
};

static void check_time(const char *name, uint32_t wanted)
{
	struct tkb_times *times = NULL;

	OK(tkb_times_open(".", &times, ERR));
	CHECK_INT(tkb_times_find(times, NULL, name), wanted);
	tkb_times_close(times);
}

TEST(times, are_told_however_long_they_are_and_the_first_stays)
{
	const struct tkb_time longest = { NULL, ONE, UINT32_MAX };
	const struct tkb_time later = { NULL, ONE, 1 };

	OK(tkb_times_note(".", &longest, 1, ERR));
	check_time(ONE, UINT32_MAX);
	OK(tkb_times_note(".", &later, 1, ERR));
	check_time(ONE, UINT32_MAX);
}

static const char *format_key(char out[TKB_DIGEST_HEX_SIZE], unsigned thread,
                              unsigned note)
{
	(void)snprintf(out, TKB_DIGEST_HEX_SIZE, "%032x%032x", thread, note);
	return out;
}

/* As in a cache whose entries come and go. */
static void fill_notes(unsigned first, unsigned count)
{
	static struct tkb_time items[MANY];
	static char keys[MANY][TKB_DIGEST_HEX_SIZE];

	for (unsigned i = 0; i < count; i++)
		items[i] = (struct tkb_time){ NULL,
			                      format_key(keys[i], 0, first + i),
			                      i + 1 };
	OK(tkb_times_note(".", items, count, ERR));
}

TEST(times, of_the_oldest_entries_are_forgotten_when_there_is_no_room)
{
	const struct tkb_time one = { NULL, ONE, 7 };
	char key[TKB_DIGEST_HEX_SIZE];

	OK(tkb_times_note(".", &one, 1, ERR));
	for (unsigned i = 0; i < BATCHES; i++)
		fill_notes(i * BATCH, BATCH);
	check_time(ONE, 0);
	check_time(format_key(key, 0, BATCHES * BATCH - 1), BATCH);
	check_time(format_key(key, 0, (BATCHES - 1) * BATCH), 1);
	OK(tkb_times_note(".", &one, 1, ERR));
	check_time(ONE, 7);
}

TEST(times, of_more_entries_than_there_is_room_for_are_those_of_the_last)
{
	char key[TKB_DIGEST_HEX_SIZE];

	fill_notes(0, MANY);
	check_time(format_key(key, 0, 0), 0);
	check_time(format_key(key, 0, MANY - 1), MANY);
}

TEST(times, are_told_of_a_file_that_is_too_large)
{
	const struct tkb_time one = { NULL, ONE, 7 };
	char key[TKB_DIGEST_HEX_SIZE];

	fill_notes(0, 1);
	/* A hole: it has no lines. */
	CHECK_INT(truncate(".tkbundle/times", 17 << 20), 0);
	check_time(format_key(key, 0, 0), 0);
	OK(tkb_times_note(".", &one, 1, ERR));
	check_time(ONE, 7);
	CHECK(read_file(".tkbundle/times").size < 1 << 20);
}

static atomic_uint failed_count;

static void *note_times(void *self)
{
	const unsigned thread = *(const unsigned *)self;
	char key[TKB_DIGEST_HEX_SIZE];

	for (unsigned i = 0; i < NOTES; i++) {
		const struct tkb_time time = { NULL, format_key(key, thread, i),
			                       i + 1 };

		if (tkb_times_note(".", &time, 1, NULL) != 0)
			(void)atomic_fetch_add(&failed_count, 1);
	}
	return NULL;
}

TEST(times, are_all_told_that_eight_threads_note_at_once)
{
	unsigned numbers[THREADS];
	char key[TKB_DIGEST_HEX_SIZE];

	EACH(i, numbers)
		numbers[i] = (unsigned)i;
	IN_THREADS(note_times, numbers);

	CHECK_INT(atomic_load(&failed_count), 0);
	for (unsigned i = 0; i < THREADS; i++)
		check_time(format_key(key, i, NOTES - 1), NOTES);
}

static unsigned wrong_reads; /* so many find another size than the file's */

int __real_tkb_fd_read_file(int dir_fd, const char *name, uint64_t limit,
                            struct tkb_buf *buf, struct stat *stat_out,
                            struct tkb_error *err);
int __wrap_tkb_fd_read_file(int dir_fd, const char *name, uint64_t limit,
                            struct tkb_buf *buf, struct stat *stat_out,
                            struct tkb_error *err);

int __wrap_tkb_fd_read_file(int dir_fd, const char *name, uint64_t limit,
                            struct tkb_buf *buf, struct stat *stat_out,
                            struct tkb_error *err)
{
	if (wrong_reads == 0)
		return __real_tkb_fd_read_file(dir_fd, name, limit, buf,
		                               stat_out, err);
	wrong_reads--;
	*stat_out = (struct stat){ .st_size = 0 };
	return tkb_fail_entry(err, TKB_REASON_BUSY, "'%s' changed", name);
}

TEST(times, are_not_read_for_ever_where_sizes_are_wrong)
{
	const struct tkb_time time = { NULL, ONE, 1 };
	struct tkb_times *times = NULL;

	OK(tkb_times_note(".", &time, 1, ERR));
	wrong_reads = 100;

	CHECK_INT(tkb_times_open(".", &times, NULL), TKB_ERR_CORRUPT);

	CHECK_INT(wrong_reads, 98);
	wrong_reads = 0;
}
