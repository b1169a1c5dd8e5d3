/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/memory.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

/* What a machine remembers of signed refs. */

static struct tkb_digest name_of(unsigned number)
{
	return digest_of(tkb_text(text("%u", number)));
}

static uint64_t note(const char *path, unsigned number, uint64_t sequence)
{
	const struct tkb_digest name = name_of(number);
	uint64_t newest = 0;

	OK(tkb_memory_note(path, &name, sequence, &newest, ERR));
	return newest;
}

/* The newest sequence, or TKB_MISS. */
static uint64_t recall(const char *path, unsigned number)
{
	const struct tkb_digest name = name_of(number);
	uint64_t newest = 0;
	const int rc = tkb_memory_recall(path, &name, &newest, ERR);

	CHECK(rc == 0 || rc == TKB_MISS);
	return rc == 0 ? newest : TKB_MISS;
}

TEST(seen, tells_the_newest_that_was_seen)
{
	const char *path = text("%s/state/tkbundle/seen", test_folder());
	struct stat before;
	struct stat after;

	CHECK_INT(recall(path, 1), TKB_MISS);
	CHECK(!exists(path));
	CHECK_INT(note(path, 1, 5), 5);
	CHECK_INT(note(path, 2, UINT64_MAX), UINT64_MAX);
	CHECK_INT(note(path, 1, 7), 7);
	SYS(stat(path, &before));
	CHECK_INT(note(path, 1, 6), 7);
	CHECK_INT(note(path, 1, 7), 7);
	CHECK_INT(note(path, 2, 0), UINT64_MAX);
	SYS(stat(path, &after));
	CHECK_INT(before.st_ino, after.st_ino);
	CHECK_INT(recall(path, 1), 7);
	CHECK_INT(recall(path, 3), TKB_MISS);
}

/* What changed longest ago is forgotten first. */
TEST(seen, holds_so_many_refs_and_no_more)
{
	const char *path = text("%s/seen", test_folder());
	struct stat status;
	FILE *file = fopen(path, "w");

	CHECK(file != NULL);
	(void)fputs("tkbundle-seen 1\n", file);
	for (unsigned i = 0; i < TKB_MEMORY_REFS; i++) {
		const struct tkb_digest name = name_of(i);
		char hex[TKB_DIGEST_HEX_SIZE];

		tkb_digest_to_hex(&name, hex);
		(void)fprintf(file, "%s %020u\n", hex, 9);
	}
	CHECK_INT(fclose(file), 0);
	CHECK_INT(note(path, 0, 10), 10);
	SYS(stat(path, &status));
	const off_t full = status.st_size;
	CHECK_INT(note(path, TKB_MEMORY_REFS, 3), 3);
	SYS(stat(path, &status));
	CHECK_INT(status.st_size, full);
	CHECK_INT(note(path, 0, 1), 10);
	CHECK_INT(note(path, 2, 1), 9);
	CHECK_INT(note(path, 1, 1), 1);
}

TEST(seen, that_is_damaged_is_one_sentence)
{
	static const char *const bad[] = {
		"",
		"x",
		"tkbundle-seen 2\n",
		"tkbundle-seen 1\nx\n",
		"tkbundle-seen 1\n"
		"0000000000000000000000000000000000000000000000000000000000000"
		"00g 00000000000000000009\n",
		"tkbundle-seen 1\n"
		"0000000000000000000000000000000000000000000000000000000000000"
		"000 99999999999999999999\n",
		"tkbundle-seen 1\n"
		"0000000000000000000000000000000000000000000000000000000000000"
		"000 0000000000000000000 \n",
	};
	const char *path = text("%s/seen", test_folder());
	const struct tkb_digest name = name_of(1);
	uint64_t newest = 77;

	EACH(i, bad) {
		write_file(path, tkb_text(bad[i]));
		FAILS(tkb_memory_note(path, &name, 1, &newest, ERR),
		      TKB_ERR_UNTRUSTED, "is damaged");
		FAILS(tkb_memory_recall(path, &name, &newest, ERR),
		      TKB_ERR_UNTRUSTED, "is damaged");
		CHECK_INT(newest, 77);
	}
	SYS(truncate(path, (off_t)TKB_MIB));
	FAILS(tkb_memory_note(path, &name, 1, &newest, ERR), TKB_ERR_UNTRUSTED,
	      "is damaged");
	SYS(unlink(path));
	SYS(mkdir(path, 0700));
	FAILS(tkb_memory_note(path, &name, 1, &newest, ERR), TKB_ERR_IO,
	      "is not a file");
	FAILS(tkb_memory_note(text("/dev/null/x/seen"), &name, 1, &newest, ERR),
	      TKB_ERR_IO, "/dev/null");
}

/* Each of several processes remembers refs of its own, and all of them one. */
TEST(seen, loses_nothing_that_several_write)
{
	enum {
		WRITERS = 6,
		ROUNDS = 30
	};
	const char *path = text("%s/seen", test_folder());
	pid_t children[WRITERS];

	for (unsigned child = 0; child < WRITERS; child++) {
		children[child] = must_fork();
		if (children[child] != 0)
			continue;
		for (unsigned i = 0; i < ROUNDS; i++) {
			const struct tkb_digest own =
				name_of(1 + child * ROUNDS + i);
			const struct tkb_digest shared = name_of(0);
			uint64_t newest = 0;

			if (tkb_memory_note(path, &own, 4, &newest, NULL) !=
			            0 ||
			    tkb_memory_note(path, &shared, i * WRITERS + child,
			                    &newest, NULL) != 0)
				_exit(1);
		}
		_exit(0);
	}
	for (unsigned child = 0; child < WRITERS; child++)
		CHECK_INT(end_of(children[child]), 0);
	CHECK_INT(note(path, 0, 0), ROUNDS * WRITERS - 1);
	for (unsigned i = 1; i <= WRITERS * ROUNDS; i++)
		CHECK_INT(note(path, i, 0), 4);
}
