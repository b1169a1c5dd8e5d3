/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/origins.h"

#include "harness.h"

/* Where the entries of a cache come from, and which of them are revoked. */

static struct tkb_digest digest(const char *of)
{
	return digest_of(tkb_text(of));
}

/* An entry with `key` comes from `from`, or (NULL) was removed. */
static void note(const char *from, const char *key)
{
	const struct tkb_digest own[] = { digest("any"),
		                          digest(from == NULL ? "" : from) };
	const struct tkb_origin origin = { own, from == NULL ? 0 : 2, &key, 1 };

	OK(tkb_origins_note(test_folder(), &origin, 1, ERR));
}

static bool is_revoked(const char *key)
{
	const struct tkb_digest revoked[] = { digest("other"), digest("bad") };
	struct tkb_origins *origins = NULL;

	OK(tkb_origins_open(test_folder(), revoked, 2, &origins, ERR));
	bool answer = tkb_origins_is_revoked(origins, key);
	tkb_origins_close(origins);
	return answer;
}

TEST(origin, of_an_entry_is_what_was_said_last)
{
	CHECK(!is_revoked("AAA"));
	note("good", "AAA");
	CHECK(!is_revoked("AAA"));
	note("bad", "AAA");
	note("bad", "BBB");
	CHECK(is_revoked("AAA"));
	CHECK(!is_revoked("AA"));
	/* Which of the two stands there, nobody knows. */
	note("good", "AAA");
	CHECK(is_revoked("AAA"));
	note(NULL, "AAA");
	CHECK(!is_revoked("AAA"));
	CHECK(is_revoked("BBB"));
	note("good", "AAA");
	CHECK(!is_revoked("AAA"));
	note("bad", "AAA");
	CHECK(is_revoked("AAA"));
}

TEST(origin, is_noted_once)
{
	const char *path = text("%s/.tkbundle/origins", test_folder());

	note("good", "AAA");
	note("good", "BBB");
	struct tkb_bytes once = read_file(path);
	note("good", "AAA");
	note("good", "BBB");
	CHECK_INT(read_file(path).size, once.size);
	note(NULL, "BBB");
	note("good", "BBB");
	CHECK(read_file(path).size > once.size);
}

TEST(origin, of_many_is_noted_by_one_write)
{
	const char *path = text("%s/.tkbundle/origins", test_folder());
	const struct tkb_digest good = digest("good");
	const struct tkb_digest bad = digest("bad");
	const char *const keys[] = { "AAA", "BBB", "CCC" };
	const struct tkb_origin origins[] = { { &good, 1, keys, 1 },
		                              { &bad, 1, keys + 1, 2 },
		                              { &good, 1, keys + 1, 1 } };
	const size_t count = TKB_COUNT_OF(origins);

	note("good", "DDD");
	OK(tkb_origins_note(test_folder(), origins, count, ERR));
	CHECK(!is_revoked("AAA"));
	CHECK(is_revoked("BBB"));
	CHECK(is_revoked("CCC"));
	struct tkb_bytes once = read_file(path);
	OK(tkb_origins_note(test_folder(), origins, count, ERR));
	CHECK_INT(read_file(path).size, once.size);
	/* Only what is new, or was removed meanwhile, is added. */
	note(NULL, "BBB");
	OK(tkb_origins_note(test_folder(), origins, 1, ERR));
	CHECK(!is_revoked("BBB"));
	OK(tkb_origins_note(test_folder(), origins, count, ERR));
	CHECK(is_revoked("BBB"));
}

/* Anybody who writes the cache can write it: it must only not crash. */
TEST(origin, of_lines_that_are_none_is_unknown)
{
	note("bad", "AAA");
	write_file(text("%s/.tkbundle/origins", test_folder()),
	           tkb_text("\n\n- \n-\nx\n,,, AAA\n0123 AAA\n \n AAA\n"
	                    "a line without an end"));
	CHECK(!is_revoked("AAA"));
	note("bad", "AAA");
	CHECK(is_revoked("AAA"));
}
