/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <stdio.h>
#include <time.h>

/* What may be put into a recorder, and what that costs. */

#define MIB ((size_t)1 << 20)

/* Kernels of the H100's cache. */
#define ADD "7L6SDEJ5EARFW53EAUKXWJ3XWXHCWI4TI4SGVO6DXAZGV5QZWTSA"
#define MATMUL "D3PPX5GK7UQ4B5NHQFFX2XIJFDP56QMVFEZGVL5KZIPZ7ARB6EFQ"

TEST(recorder, puts_only_keys_for_devices_that_can_be)
{
	static const char *const bad[] = {
		"",
		"..",
		"add_kernel",
		"7L6SDEJ5EARFW53EAUKXWJ3XWXHCWI4TI4SGVO6DXAZGV5QZWTS",
		"7L6SDEJ5EARFW53EAUKXWJ3XWXHCWI4TI4SGVO6DXAZGV5QZWTSAA",
		"7l6sdej5earfw53eaukxwj3xwxhcwi4ti4sgvo6dxazgv5qzwtsa",
		"7L6SDEJ5EARFW53EAUKXWJ3XWXHCWI4TI4SGVO6DXAZGV5QZWTS/",
		"0123456789abcdef0123456789abcdeg"
	};
	const char *root = h100();
	RECORDER(recorder) = recording();

	EACH(i, bad) {
		FAILS(tkb_recorder_put(recorder, bad[i], 0, ERR),
		      TKB_ERR_INVALID, "not have the shape of a key");
		FAILS(tkb_recorder_put_winner(recorder, bad[i], ERR),
		      TKB_ERR_INVALID, "not have the shape of a key");
	}
	FAILS(tkb_recorder_put(recorder, ADD, 1024, ERR), TKB_ERR_INVALID,
	      "no device has number 1024");
	FAILS(tkb_recorder_put(recorder, ADD, UINT32_MAX, ERR), TKB_ERR_INVALID,
	      "no device has number 4294967295");
	put(recorder, MATMUL, 1023);
	put(recorder, "0123456789abcdef0123456789abcdef", 0);

	BUNDLE(bundle) = open_bytes(recorded(recorder, root));
	CHECK_STR(keys_in(bundle), "D3PP");
}

static const char *longer(size_t size)
{
	char *letters = test_alloc(size);

	memset(letters, 'x', size);
	return letters;
}

static const char **many_needs(size_t count)
{
	const char **needs = test_alloc(count * sizeof(*needs));

	needs[0] = ADD;
	for (size_t i = 1; i < count; i++)
		needs[i] = text("%032zx", i);
	return needs;
}

struct bad_launcher {
	struct tkb_launcher_spec launcher;
	int status;
	const char *message;
};

#define MUST_BE(part) TKB_ERR_INVALID, part

TEST(recorder, refuses_a_launcher_of_which_a_part_is_not_as_it_must_be)
{
	static const char *const add[] = { ADD };
	static const char *const twice[] = { ADD, MATMUL, ADD };
	static const char *const shapeless[] = { ADD, "matmul" };
	const char **many = many_needs(1025);
	const struct tkb_bytes huge = { test_alloc(64 * MIB + 1),
		                        64 * MIB + 1 };
	const struct tkb_bytes x = { "x", 1 };
	const enum tkb_need all = TKB_NEED_ALL;
	const size_t own = sizeof(struct tkb_launcher_spec);
	const struct bad_launcher bad[] = {
		{ { own, "", "n", x, all, add, 1 }, MUST_BE("cache key") },
		{ { own, longer(1025), "n", x, all, add, 1 },
		  MUST_BE("cache key") },
		{ { own, "\xff", "n", x, all, add, 1 }, MUST_BE("cache key") },
		{ { own, "a\nb", "n", x, all, add, 1 }, MUST_BE("cache key") },
		{ { own, "a\x7f", "n", x, all, add, 1 }, MUST_BE("cache key") },
		{ { own, "a\x1f", "n", x, all, add, 1 }, MUST_BE("cache key") },
		{ { own, "k", "", x, all, add, 1 },
		  MUST_BE("launcher's name") },
		{ { own, "k", longer(256), x, all, add, 1 },
		  MUST_BE("launcher's name") },
		{ { own, "k", "\xc3", x, all, add, 1 },
		  MUST_BE("launcher's name") },
		{ { own, "k", "\x01", x, all, add, 1 },
		  MUST_BE("launcher's name") },
		{ { own, "k", "n", huge, all, add, 1 },
		  TKB_ERR_TOO_LARGE,
		  "67108865 bytes" },
		{ { own, "k", "n", x, (enum tkb_need)2, add, 1 },
		  MUST_BE("needs all or any") },
		{ { own, "k", "n", x, all, add, 0 }, MUST_BE("1 to 1024") },
		{ { own, "k", "n", x, all, many, 1025 }, MUST_BE("1 to 1024") },
		{ { own, "k", "n", x, all, twice, 3 },
		  MUST_BE("'" ADD "' twice") },
		{ { own, "k", "n", x, TKB_NEED_ANY, shapeless, 2 },
		  MUST_BE("'matmul' does not have the shape of a key") },
	};
	const char *root = h100();
	RECORDER(recorder) = recording();

	save(recorder, "k", "kept", TKB_NEED_ALL, keys_of(1, MATMUL));
	EACH(i, bad) {
		FAILS(tkb_recorder_put_launcher(recorder, &bad[i].launcher,
		                                ERR),
		      bad[i].status, bad[i].message);
	}

	BUNDLE(bundle) = open_bytes(recorded(recorder, root));
	CHECK_STR(keys_in(bundle), "D3PP");
	CHECK_STR(launchers_in(bundle), "k=kept");
}

TEST(recorder, takes_a_launcher_of_which_each_part_is_as_large_as_it_may_be)
{
	const char *root = h100();
	RECORDER(recorder) = recording();
	const struct tkb_launcher_spec launcher = {
		SIZED(launcher),
		.cache_key = longer(1024),
		.name = longer(255),
		.payload = { test_alloc(64 * MIB), 64 * MIB },
		.need = TKB_NEED_ANY,
		.needs = many_needs(1024),
		.need_count = 1024,
	};

	OK(tkb_recorder_put_launcher(recorder, &launcher, ERR));

	BUNDLE(bundle) = open_bytes(recorded(recorder, root));
	check_sound(bundle);
	CHECK_INT(tkb_bundle_launcher_count(bundle), 1);
	const struct tkb_saved_launcher *saved = tkb_bundle_launcher(bundle, 0);
	CHECK_STR(saved->cache_key, launcher.cache_key);
	CHECK_STR(saved->name, launcher.name);
	CHECK_INT(saved->size, 64 * MIB);
	CHECK_INT(saved->need_count, 1);
}

TEST(recorder, notes_100000_pairs_and_no_more)
{
	RECORDER(recorder) = recording();
	char key[65];

	for (unsigned i = 0; i < 100000; i++) {
		(void)snprintf(key, sizeof(key), "%064x", i / 4);
		CHECK_INT(tkb_recorder_put(recorder, key, i % 4, ERR), 0);
	}
	(void)snprintf(key, sizeof(key), "%064x", 0);
	FAILS(tkb_recorder_put(recorder, key, 4, ERR), TKB_ERR_TOO_LARGE,
	      "at most 100000 kernels");
	FAILS(tkb_recorder_put_winner(recorder, key, ERR), TKB_ERR_TOO_LARGE,
	      "at most 100000 kernels");
	for (unsigned i = 0; i < 100000; i++) {
		(void)snprintf(key, sizeof(key), "%064x", i / 4);
		CHECK_INT(tkb_recorder_put(recorder, key, i % 4, ERR), 0);
	}
	tkb_recorder_end_compile(recorder);
	OK(tkb_recorder_begin_compile(recorder, ERR));
	put(recorder, key, 4);
}

/*
 * Cost
 */

static double now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

TEST(recorder, puts_what_it_knows_in_no_time)
{
	enum {
		ROUNDS = 100,
		KEYS = 1000,
		PUTS = 2000
	};
	static char keys[KEYS][65];
	RECORDER(recorder) = recording();
	double best = 1e18;

	for (unsigned i = 0; i < KEYS; i++) {
		(void)snprintf(keys[i], sizeof(keys[i]), "%064x", i * 7919);
		put(recorder, keys[i], i % 8);
	}
	for (size_t round = 0; round < ROUNDS; round++) {
		const double start = now_ns();
		int failed = 0;

		for (unsigned i = 0; i < PUTS; i++)
			failed |= tkb_recorder_put(recorder, keys[i % KEYS],
			                           i % KEYS % 8, NULL);
		double took = (now_ns() - start) / PUTS;
		CHECK_INT(failed, 0);
		best = took < best ? took : best;
	}
	print_message("a put of a known pair: %.0f ns\n", best);
	CHECK(best < 5000 || has_thread_sanitizer());
}
