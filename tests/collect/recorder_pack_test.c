/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <stdio.h>
#include <sys/stat.h>

/* What a recorder packs of what was put. */

/* Kernels of the H100's Triton cache, and of its Inductor's. */
#define ADD "7L6SDEJ5EARFW53EAUKXWJ3XWXHCWI4TI4SGVO6DXAZGV5QZWTSA"
#define MATMUL "D3PPX5GK7UQ4B5NHQFFX2XIJFDP56QMVFEZGVL5KZIPZ7ARB6EFQ"
#define SOFTMAX "D4QPSSO6MYNPQYWQ3TOI2FKSOEBYMCNACWK5X2E5YQVDBBIBG6GA"
#define MODULE "HEUKIG4JTP2YEOVQFSWBTVS6LZOIS6UFCDGRSN4HPQYM3RTA6GRQ"

/*
 * The same bytes as tkb_collect()
 */

static struct tkb_bytes recorded_keys(const char *root, const struct keys *keys,
                                      const struct tkb_collect_options *options)
{
	RECORDER(recorder) = recording();
	struct tkb_collect_report report = { SIZED(report) };

	put_all(recorder, keys, 0);
	put_all(recorder, keys, 0);
	struct tkb_bytes bytes =
		recorded_with(recorder, root, options, &report);
	CHECK_INT(report.left_out_count, 0);
	return bytes;
}

TEST(recorder, packs_exactly_what_was_put_of_every_kind_of_cache)
{
	static const char *const fixtures[] = { "triton-3.0.0-cpu",
		                                "triton-3.2.0-cpu",
		                                "triton-3.6.0-cpu",
		                                "triton-3.6.0-h100" };

	EACH(i, fixtures) {
		const char *root = text("%s/.triton/cache", fixtures[i]);

		unpack(fixtures[i], fixtures[i]);
		struct keys all = entries_of(root);
		struct keys some = some_of(&all, 1, all.count - 1);

		check_same_bytes(recorded_keys(root, &some, NULL),
		                 collected_keys(root, &some));
		check_same_bytes(recorded_keys(root, &all, NULL),
		                 collected(root, NULL));
	}
}

TEST(recorder, packs_as_its_options_say)
{
	const struct tkb_collect_options options = {
		SIZED(options), .profile = TKB_PROFILE_LEAN,
		.is_kernels_only = true, .threads = 1
	};
	const char *root = h100();
	const struct keys all = entries_of(root);

	check_same_bytes(recorded_keys(root, &all, &options),
	                 collected(root, &options));
}

TEST(recorder, packs_as_hard_as_its_level_says)
{
	static const int32_t levels[] = { -50, -3, 0, 19 };
	struct tkb_collect_report before = { SIZED(before) };
	const char *root = h100();
	const struct keys all = entries_of(root);

	EACH(i, levels) {
		const struct tkb_collect_options options = {
			SIZED(options), .level = levels[i]
		};
		struct tkb_collect_report report = { SIZED(report) };
		RECORDER(recorder) = recording();

		put_all(recorder, &all, 0);
		check_same_bytes(
			recorded_with(recorder, root, &options, &report),
			collected(root, &options));
		if (i != 0) {
			CHECK(report.bundle_size < before.bundle_size);
			CHECK(is_same_digest(&report.id, &before.id));
		}
		before = report;
	}
}

TEST(recorder, refuses_a_level_that_zstd_has_not)
{
	static const int32_t levels[] = { -51, 20, INT32_MIN };
	const char *root = h100();

	EACH(i, levels) {
		const struct tkb_collect_options options = {
			SIZED(options), .level = levels[i]
		};
		const struct tkb_sink sink = { 0 };
		struct tkb_error err = { 0 };
		RECORDER(recorder) = recording();

		CHECK_INT(tkb_recorder_collect(recorder, root, &options, &sink,
		                               NULL, &err),
		          TKB_ERR_INVALID);
		CHECK(strstr(err.message, "level of compression") != NULL);
	}
}

TEST(recorder, packs_the_same_bytes_in_whatever_order_they_were_put)
{
	const char *root = h100();
	const struct keys keys = entries_of(root);
	RECORDER(one) = recording();
	RECORDER(other) = recording();
	const struct keys need = keys_of(2, MATMUL, ADD);

	put_all(one, &keys, 0);
	put_all(one, &keys, 1);
	save(one, "a", "payload a", TKB_NEED_ALL, need);
	save(one, "b", "payload b", TKB_NEED_ANY, need);
	save(other, "b", "payload b", TKB_NEED_ANY, need);
	for (size_t i = keys.count; i-- > 0;) {
		put(other, keys.items[i], 1);
		put(other, keys.items[i], 0);
	}
	save(other, "a", "payload a", TKB_NEED_ALL, need);

	check_same_bytes(recorded(other, root), recorded(one, root));
}

TEST(recorder, packs_all_of_inductor_as_collect_does)
{
	const char *root = inductor();
	const struct keys keys = entries_of(root);
	RECORDER(recorder) = recording();

	CHECK_INT(keys.count, 26);
	put_all(recorder, &keys, 1);
	put_all(recorder, &keys, 0);

	check_same_bytes(recorded(recorder, root), collected(root, NULL));
}

TEST(recorder, packs_one_device_of_inductor_as_collect_does)
{
	const char *root = inductor();
	const struct keys keys = entries_of(root);
	const struct tkb_collect_options options = { SIZED(options),
		                                     .has_device = true,
		                                     .device = 1 };
	RECORDER(recorder) = recording();

	put_all(recorder, &keys, 1);

	check_same_bytes(recorded(recorder, root), collected(root, &options));
}

/*
 * Devices
 */

TEST(recorder, gives_an_entry_of_a_triton_root_the_devices_it_was_put_for)
{
	const char *root = h100();
	RECORDER(recorder) = recording();
	struct tkb_collect_report report = { SIZED(report) };

	put(recorder, ADD, 1023);
	put(recorder, ADD, 3);
	put(recorder, MATMUL, 7);
	put(recorder, ADD, 0);
	put(recorder, ADD, 3);
	put(recorder, SOFTMAX, 0);
	BUNDLE(bundle) = recorded_bundle(recorder, root, &report);

	CHECK_INT(report.collected_count, 3);
	CHECK_STR(keys_in(bundle), "7L6S D3PP D4QP");
	CHECK_STR(devices_of(bundle, ADD), "0,3,1023");
	CHECK_STR(devices_of(bundle, MATMUL), "7");
	CHECK_STR(devices_of(bundle, SOFTMAX), "0");
	emit_bundle(bundle, "out", TKB_LAYOUT_AUTO);
	CHECK_INT(count_names("out/triton/3"), 2);
	CHECK(exists("out/triton/1023/" ADD "/add_kernel.cubin"));
	CHECK(exists("out/triton/7/" MATMUL));
}

TEST(recorder, takes_from_inductor_only_the_devices_it_was_put_for)
{
	const char *root = inductor();
	const struct keys keys = kernels_of(root);
	RECORDER(recorder) = recording();
	struct tkb_collect_report report = { SIZED(report) };

	put(recorder, keys.items[0], 0);
	put(recorder, keys.items[1], 1);
	put(recorder, keys.items[2], 1);
	put(recorder, keys.items[2], 0);
	BUNDLE(bundle) = recorded_bundle(recorder, root, &report);

	CHECK(report.is_inductor);
	CHECK_INT(report.collected_count, 3);
	CHECK_STR(devices_of(bundle, keys.items[0]), "0");
	CHECK_STR(devices_of(bundle, keys.items[1]), "1");
	CHECK_STR(devices_of(bundle, keys.items[2]), "0,1");
}

/*
 * What is not there
 */

TEST(recorder, leaves_out_what_was_put_and_is_not_there)
{
	const char *root = h100();
	RECORDER(recorder) = recording();
	RESULTS(results) = NULL;
	struct tkb_collect_options options = { SIZED(options),
		                               .is_dry_run = true };
	struct tkb_collect_report report = { SIZED(report) };

	OK(tkb_results_new(&results, ERR));
	options.watch = tkb_results_watch(results);
	SYS(mkdir(text("%s/" ABSENT, root), 0777));
	put(recorder, ABSENT, 0);
	put(recorder, ABSENT, 1);
	put(recorder, "0123456789abcdef0123456789abcdef", 0);
	put(recorder, ADD, 0);
	DONE(tkb_recorder_collect(recorder, root, &options, NULL, &report, ERR),
	     report.left_out_count > 0);

	CHECK_INT(report.collected_count, 1);
	CHECK_INT(report.left_out_count, 2);
	CHECK_INT(report.unfinished_count, 0);
	CHECK_INT(tkb_results_count(results), 3);
	CHECK_INT(find_result(results, ADD)->outcome, TKB_OUTCOME_COLLECTED);
	const struct tkb_result *result = find_result(results, ABSENT);
	CHECK_INT(result->outcome, TKB_OUTCOME_LEFT_OUT);
	CHECK_INT(result->reason, TKB_REASON_MISSING);
	CHECK_CONTAINS(result->message, "no finished entry");
	CHECK_STR(result->root, root);
	CHECK(!result->is_launcher);
}

TEST(recorder, refuses_to_leave_out_anything_if_it_is_strict)
{
	const struct tkb_collect_options strict = { SIZED(strict),
		                                    .is_strict = true };
	const char *root = h100();
	RECORDER(recorder) = recording();
	RECORDER(other) = recording();
	struct tkb_collect_report report = { SIZED(report) };
	struct tkb_error err = { 0 };

	put(recorder, ADD, 0);
	put(recorder, ABSENT, 0);
	CHECK_INT(failed_collect(recorder, root, &strict, &err),
	          TKB_ERR_LEFT_OUT);
	CHECK_CONTAINS(err.message, "1 entry would be left out");
	CHECK_INT(tkb_recorder_collect_to_file(recorder, root, &strict, "k.tkb",
	                                       &report, &err),
	          TKB_ERR_LEFT_OUT);
	CHECK_INT(report.left_out_count, 1);
	CHECK_INT(report.collected_count, 1);
	CHECK(!exists("k.tkb"));

	save(other, "k", "payload", TKB_NEED_ALL, keys_of(1, MODULE));
	CHECK_INT(failed_collect(other, root, &strict, &err), TKB_ERR_LEFT_OUT);
	BUNDLE(bundle) = open_bytes(recorded(other, root));
	CHECK_STR(keys_in(bundle), "HEUK");
	CHECK_STR(launchers_in(bundle), "");
}

TEST(recorder, leaves_out_what_a_device_of_inductor_has_not)
{
	const char *root = inductor();
	const struct keys keys = kernels_of(root);
	RECORDER(recorder) = recording();
	RESULTS(results) = NULL;
	struct tkb_collect_options options = { SIZED(options),
		                               .is_dry_run = true };
	struct tkb_collect_report report = { SIZED(report) };

	OK(tkb_results_new(&results, ERR));
	options.watch = tkb_results_watch(results);
	SYS(rename(text("%s/triton/1/%s", root, keys.items[0]), "moved"));
	put(recorder, keys.items[0], 1);
	put(recorder, keys.items[1], 2);
	put(recorder, keys.items[2], 1);
	DONE(tkb_recorder_collect(recorder, root, &options, NULL, &report, ERR),
	     report.left_out_count > 0);

	CHECK_INT(report.collected_count, 1);
	CHECK_INT(report.left_out_count, 2);
	CHECK_STR(find_result(results, keys.items[0])->root,
	          text("%s/triton/1", root));
	CHECK_INT(find_result(results, keys.items[0])->reason,
	          TKB_REASON_MISSING);
	CHECK_INT(find_result(results, keys.items[1])->reason,
	          TKB_REASON_MISSING);
}

TEST(recorder, does_not_look_at_what_was_not_put)
{
	const char *root = h100();
	RECORDER(recorder) = recording();
	struct tkb_collect_report report = { SIZED(report) };
	const struct keys add = keys_of(1, ADD);

	struct tkb_bytes wanted = collected_keys(root, &add);
	write_text(text("%s/" MATMUL "/__grp__matmul_kernel.json", root), "{");
	write_text(text("%s/" SOFTMAX "/softmax_kernel.cubin", root), "torn");
	write_text(text("%s/stray", root), "stray");
	SYS(mkdir(text("%s/" ABSENT, root), 0777));
	put(recorder, ADD, 0);

	check_same_bytes(recorded_with(recorder, root, NULL, &report), wanted);
	CHECK_INT(report.left_out_count, 0);
	CHECK_INT(report.stray_count, 0);
	CHECK_INT(report.unfinished_count, 0);
}

/*
 * Winners
 */

TEST(recorder, packs_only_winners_once_there_are_any)
{
	const char *root = h100();
	const struct keys keys = kernels_of(root);
	RECORDER(recorder) = recording();
	struct tkb_collect_report report = { SIZED(report) };

	put_winner(recorder, MATMUL);
	put_all(recorder, &keys, 2);
	put(recorder, ADD, 5);
	put_winner(recorder, ADD);
	put_winner(recorder, ADD);
	BUNDLE(bundle) = recorded_bundle(recorder, root, &report);

	CHECK_INT(report.collected_count, 2);
	CHECK_INT(report.left_out_count, 0);
	CHECK_STR(keys_in(bundle), "7L6S D3PP");
	CHECK_STR(devices_of(bundle, ADD), "2,5");
	CHECK_STR(devices_of(bundle, MATMUL), "2");
}

TEST(recorder, packs_a_winner_that_was_never_put_for_all_that_have_it)
{
	const char *root = inductor();
	const struct keys keys = kernels_of(root);
	RECORDER(recorder) = recording();
	struct tkb_collect_report report = { SIZED(report) };

	SYS(rename(text("%s/triton/0/%s", root, keys.items[2]), "moved"));
	put(recorder, keys.items[1], 1);
	put(recorder, keys.items[3], 1);
	for (size_t i = 0; i < 3; i++)
		put_winner(recorder, keys.items[i]);
	BUNDLE(bundle) = recorded_bundle(recorder, root, &report);

	CHECK_INT(report.collected_count, 3);
	CHECK_INT(report.left_out_count, 0);
	CHECK_STR(devices_of(bundle, keys.items[0]), "0,1");
	CHECK_STR(devices_of(bundle, keys.items[1]), "1");
	CHECK_STR(devices_of(bundle, keys.items[2]), "1");
}

TEST(recorder, leaves_out_a_winner_that_is_not_there)
{
	RECORDER(recorder) = recording();
	struct tkb_collect_report report = { SIZED(report) };

	put(recorder, ADD, 0);
	put_winner(recorder, ABSENT);
	BUNDLE(bundle) = recorded_bundle(recorder, h100(), &report);

	CHECK_INT(tkb_bundle_entry_count(bundle), 0);
	CHECK_INT(report.collected_count, 0);
	CHECK_INT(report.left_out_count, 1);
}
