/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <malloc.h>
#include <unistd.h>

/* What a recorder packs of the launchers that were saved, and for them. */

/* Kernels of the H100's Triton cache, and a module. */
#define ADD "7L6SDEJ5EARFW53EAUKXWJ3XWXHCWI4TI4SGVO6DXAZGV5QZWTSA"
#define MATMUL "D3PPX5GK7UQ4B5NHQFFX2XIJFDP56QMVFEZGVL5KZIPZ7ARB6EFQ"
#define SOFTMAX "D4QPSSO6MYNPQYWQ3TOI2FKSOEBYMCNACWK5X2E5YQVDBBIBG6GA"
#define MODULE "HEUKIG4JTP2YEOVQFSWBTVS6LZOIS6UFCDGRSN4HPQYM3RTA6GRQ"

TEST(recorder, packs_what_a_launcher_needs_though_nobody_put_it)
{
	const char *root = inductor();
	const struct keys keys = kernels_of(root);
	RECORDER(recorder) = recording();
	struct tkb_collect_report report = { SIZED(report) };

	put(recorder, keys.items[1], 1);
	put(recorder, keys.items[4], 0);
	put_winner(recorder, keys.items[3]);
	save(recorder, "one", "1", TKB_NEED_ALL, some_of(&keys, 0, 2));
	save(recorder, "two", "2", TKB_NEED_ALL, some_of(&keys, 1, 3));
	BUNDLE(bundle) = recorded_bundle(recorder, root, &report);

	CHECK_INT(report.collected_count, 4);
	CHECK_INT(report.left_out_count, 0);
	CHECK_STR(launchers_in(bundle), "one=1 two=2");
	CHECK_STR(devices_of(bundle, keys.items[0]), "0,1");
	CHECK_STR(devices_of(bundle, keys.items[1]), "1");
	CHECK_STR(devices_of(bundle, keys.items[2]), "0,1");
	CHECK_STR(devices_of(bundle, keys.items[3]), "0,1");
}

TEST(recorder, packs_each_of_many_that_launchers_need_once)
{
	const char *root = inductor();
	const struct keys keys = kernels_of(root);
	RECORDER(recorder) = recording();
	struct tkb_collect_report report = { SIZED(report) };

	put_winner(recorder, keys.items[20]);
	for (size_t i = 15; i-- > 0;) {
		struct keys two = keys_of(2, keys.items[i + 1], keys.items[i]);

		if (i % 2 == 0)
			put(recorder, keys.items[i], 0);
		save(recorder, text("%zu", i), "payload", TKB_NEED_ALL, two);
	}
	BUNDLE(bundle) = recorded_bundle(recorder, root, &report);

	CHECK_INT(report.collected_count, 17);
	CHECK_INT(report.left_out_count, 0);
	CHECK_INT(report.launcher_count, 15);
	for (size_t i = 0; i < 16; i++)
		CHECK_STR(devices_of(bundle, keys.items[i]),
		          i % 2 == 0 ? "0" : "0,1");
}

TEST(recorder, packs_what_a_launcher_needs_if_nothing_was_put)
{
	const char *root = h100();
	RECORDER(recorder) = recording();

	save(recorder, "k", "payload", TKB_NEED_ANY, keys_of(2, SOFTMAX, ADD));
	BUNDLE(bundle) = recorded_bundle(recorder, root, NULL);

	CHECK_STR(keys_in(bundle), "7L6S D4QP");
	CHECK_STR(devices_of(bundle, ADD), "0");
	CHECK_STR(launchers_in(bundle), "k=payload");
}

static const char *needs_of(const struct tkb_saved_launcher *launcher)
{
	const struct keys keys = { (const char **)(uintptr_t)launcher->needs,
		                   launcher->need_count };

	return text("%s of %s", tkb_need_name(launcher->need),
	            short_keys(&keys));
}

TEST(recorder, keeps_a_launcher_if_all_or_any_of_what_it_needs_is_there)
{
	const char *root = h100();
	const struct keys good = keys_of(2, MATMUL, ADD);
	const struct keys mixed = keys_of(3, MATMUL, ABSENT, ADD);
	const struct keys bad = keys_of(2, ABSENT, MODULE);
	RECORDER(recorder) = recording();
	struct tkb_collect_report report = { SIZED(report) };

	save(recorder, "any of bad", "1", TKB_NEED_ANY, bad);
	save(recorder, "any of mixed", "2", TKB_NEED_ANY, mixed);
	save(recorder, "any of good", "3", TKB_NEED_ANY, good);
	save(recorder, "all of mixed", "4", TKB_NEED_ALL, mixed);
	save(recorder, "all of good", "5", TKB_NEED_ALL, good);
	BUNDLE(bundle) = recorded_bundle(recorder, root, &report);

	CHECK_INT(report.launcher_count, 3);
	CHECK_INT(report.dropped_count, 2);
	CHECK_INT(report.left_out_count, 1);
	CHECK_INT(report.collected_count, 3);
	CHECK_STR(launchers_in(bundle),
	          "all of good=5 any of good=3 any of mixed=2");
	CHECK_STR(needs_of(tkb_bundle_launcher(bundle, 0)), "all of D3PP 7L6S");
	CHECK_STR(needs_of(tkb_bundle_launcher(bundle, 1)), "any of D3PP 7L6S");
	CHECK_STR(needs_of(tkb_bundle_launcher(bundle, 2)), "any of D3PP 7L6S");
}

TEST(recorder, tells_of_each_launcher)
{
	const char *root = h100();
	RECORDER(recorder) = recording();
	RESULTS(results) = NULL;
	struct tkb_collect_options options = { SIZED(options), .threads = 2 };

	OK(tkb_results_new(&results, ERR));
	options.watch = tkb_results_watch(results);
	save(recorder, "kept", "1", TKB_NEED_ALL, keys_of(1, ADD));
	save(recorder, "dropped", "2", TKB_NEED_ALL, keys_of(1, ABSENT));
	(void)recorded_with(recorder, root, &options, NULL);

	CHECK_INT(tkb_results_count(results), 4);
	CHECK(!find_result(results, ADD)->is_launcher);
	const struct tkb_result *result = find_result(results, "kept");
	CHECK(result->is_launcher);
	CHECK_INT(result->outcome, TKB_OUTCOME_COLLECTED);
	CHECK_INT(result->reason, TKB_REASON_NONE);
	CHECK_STR(result->name, "kernel");
	CHECK_STR(result->message, "");
	result = find_result(results, "dropped");
	CHECK(result->is_launcher);
	CHECK_INT(result->outcome, TKB_OUTCOME_LEFT_OUT);
	CHECK_INT(result->reason, TKB_REASON_NEEDS);
	CHECK_CONTAINS(result->message, "not collected");
}

TEST(recorder, replaces_a_launcher_of_the_same_cache_key)
{
	const char *root = h100();
	RECORDER(recorder) = recording();
	struct tkb_collect_report report = { SIZED(report) };

	save(recorder, "b", "old", TKB_NEED_ALL, keys_of(1, MATMUL));
	save(recorder, "a", "only", TKB_NEED_ALL, keys_of(1, ADD));
	save(recorder, "b", "older", TKB_NEED_ALL, keys_of(1, ABSENT));
	save(recorder, "b", "new", TKB_NEED_ANY, keys_of(1, SOFTMAX));
	BUNDLE(bundle) = recorded_bundle(recorder, root, &report);

	CHECK_INT(report.launcher_count, 2);
	CHECK_INT(report.left_out_count, 0);
	CHECK_STR(keys_in(bundle), "7L6S D4QP");
	CHECK_STR(launchers_in(bundle), "a=only b=new");
	CHECK_STR(needs_of(tkb_bundle_launcher(bundle, 1)), "any of D4QP");
}

/* Bytes that malloc() has given and not got back; 0 under a sanitizer. */
static size_t memory_in_use(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

TEST(recorder, frees_launchers_that_were_replaced)
{
	enum {
		ROUNDS = 100,
		KEYS = 10,
		PAYLOAD = 256 * 1024
	};

	static const char *const needs[] = { ADD };
	RECORDER(recorder) = recording();
	char *payload = test_alloc(PAYLOAD);
	const size_t before = memory_in_use();

	memset(payload, 'x', PAYLOAD);
	for (int i = 0; i < ROUNDS * KEYS; i++) {
		const struct tkb_launcher_spec launcher = {
			sizeof(launcher),
			i % KEYS == 0 ? "k0" : text("k%d", i % KEYS),
			"kernel",
			{ payload, PAYLOAD },
			TKB_NEED_ALL,
			needs,
			1
		};

		payload[0] = (char)('0' + i / KEYS % 10);
		OK(tkb_recorder_put_launcher(recorder, &launcher, ERR));
		CHECK(memory_in_use() - before < 6 * KEYS * PAYLOAD);
	}
	BUNDLE(bundle) = open_bytes(recorded(recorder, h100()));
	CHECK_INT(tkb_bundle_launcher_count(bundle), KEYS);
	for (size_t i = 0; i < KEYS; i++)
		CHECK_INT(tkb_bundle_launcher(bundle, i)->size, PAYLOAD);
}

TEST(recorder, keeps_nothing_by_reference)
{
	const char *root = h100();
	char key[] = ADD;
	char cache_key[] = "conf";
	char name[] = "kernel";
	char payload[] = "payload";
	const char *needs[] = { key };
	const struct tkb_launcher_spec launcher = {
		sizeof(launcher), cache_key, name, { payload, 7 },
		TKB_NEED_ALL,     needs,     1
	};
	RECORDER(recorder) = recording();

	put(recorder, key, 3);
	OK(tkb_recorder_put_launcher(recorder, &launcher, ERR));
	memset(key, 'X', sizeof(key) - 1);
	memset(cache_key, 'X', sizeof(cache_key) - 1);
	memset(name, 'X', sizeof(name) - 1);
	memset(payload, 'X', sizeof(payload) - 1);
	needs[0] = NULL;
	BUNDLE(bundle) = recorded_bundle(recorder, root, NULL);

	CHECK_STR(devices_of(bundle, ADD), "3");
	CHECK_STR(launchers_in(bundle), "conf=payload");
	CHECK_STR(tkb_bundle_launcher(bundle, 0)->name, "kernel");
	CHECK_STR(needs_of(tkb_bundle_launcher(bundle, 0)), "all of 7L6S");
}

TEST(recorder, drops_a_launcher_whose_kernel_is_torn)
{
	const char *root = h100();
	RECORDER(recorder) = recording();
	struct tkb_collect_report report = { SIZED(report) };

	SYS(truncate(text("%s/" ADD "/add_kernel.cubin", root), 4000));
	put(recorder, MATMUL, 0);
	save(recorder, "all", "1", TKB_NEED_ALL, keys_of(2, ADD, MATMUL));
	save(recorder, "any", "2", TKB_NEED_ANY, keys_of(2, ADD, MATMUL));
	BUNDLE(bundle) = recorded_bundle(recorder, root, &report);

	CHECK_INT(report.left_out_count, 1);
	CHECK_INT(report.dropped_count, 1);
	CHECK_STR(keys_in(bundle), "D3PP");
	CHECK_STR(launchers_in(bundle), "any=2");
	CHECK_STR(needs_of(tkb_bundle_launcher(bundle, 0)), "any of D3PP");
}

/* Asked once for each of two entries, then once before they are packed. */
struct spoiler {
	unsigned asked;
	const char *path;
};

static bool spoil(void *self)
{
	struct spoiler *spoiler = self;

	spoiler->asked++;
	if (spoiler->asked == 3)
		write_text(spoiler->path, "of another compile");
	return false;
}

TEST(recorder, drops_a_launcher_whose_kernel_changes_while_it_is_packed)
{
	const char *root = h100();
	struct spoiler spoiler = { .path = text("%s/" ADD "/add_kernel.ptx",
		                                root) };
	const struct tkb_collect_options options = {
		SIZED(options), .threads = 1,
		.watch = &CHOSEN(tkb_watch, .self = &spoiler,
		                 .is_cancelled = spoil)
	};
	RECORDER(recorder) = recording();
	RECORDER(other) = recording();
	struct tkb_collect_report report = { SIZED(report) };

	save(recorder, "1", "payload", TKB_NEED_ALL, keys_of(1, ADD));
	save(recorder, "2", "payload", TKB_NEED_ALL, keys_of(1, MATMUL));
	save(recorder, "3", "gone", TKB_NEED_ALL, keys_of(2, MATMUL, ADD));
	save(recorder, "4", "never", TKB_NEED_ALL, keys_of(1, ABSENT));
	struct tkb_bytes got = recorded_with(recorder, root, &options, &report);

	CHECK_INT(spoiler.asked >= 3, true);
	CHECK_INT(report.left_out_count, 2);
	CHECK_INT(report.dropped_count, 3);
	save(other, "2", "payload", TKB_NEED_ALL, keys_of(1, MATMUL));
	check_same_bytes(got, recorded(other, root));
}
