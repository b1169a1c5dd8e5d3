/* SPDX-License-Identifier: Apache-2.0 */
#include "merging.h"

#include <stdio.h>

/* Saved launchers and their payloads in a merged bundle. */

#define CACHE "unpacked/.triton/cache"

/* SHA-256 of "a payload". */
#define A_PAYLOAD                                                              \
	"d0c27dd3ba9c7d7f7be628d7bec50b9dc6ae296d21315ea880bce1d3042ff571"

/* A bundle of kernel `key` and of launchers that need it. */
static void save(const char *path, const char *key,
                 struct tkb_launcher_spec one, struct tkb_launcher_spec other)
{
	pack_into(path, (struct packing){ .root = CACHE,
	                                  .puts = { { key, 0 } },
	                                  .launchers = { one, other } });
}

static void save_one(const char *path, const char *key, const char *cache_key,
                     const char *payload)
{
	save(path, key, launcher_of(cache_key, payload, key),
	     DEFAULTS(tkb_launcher_spec));
}

static void save_two(const char *path, const char *key,
                     const char *const cache_keys[2],
                     const char *const payloads[2])
{
	save(path, key, launcher_of(cache_keys[0], payloads[0], key),
	     launcher_of(cache_keys[1], payloads[1], key));
}

TEST(launchers, of_all_bundles_are_in_the_merged_one)
{
	(void)arrange_cache();
	save_one("a.tkb", ADD, "fx-2", "the second");
	save_one("b.tkb", SOFTMAX, "fx-1", "the first");
	struct tkb_merge_report report = merge("m.tkb", "a.tkb", "b.tkb", NULL);
	struct tkb_bundle *bundle = test_bundle("m.tkb");

	CHECK_INT(report.launcher_count, 2);
	CHECK_INT(tkb_bundle_launcher_count(bundle), 2);
	CHECK_STR(tkb_bundle_launcher(bundle, 0)->cache_key, "fx-1");
	CHECK_STR(payload_of(bundle, "fx-1"), "the first");
	CHECK_STR(payload_of(bundle, "fx-2"), "the second");
	CHECK_INT(check_verifies("m.tkb").launcher_count, 2);
}

/* Frames differ, but not what is said of the contents. */
TEST(launchers, of_parts_make_the_id_of_the_whole)
{
	(void)arrange_cache();
	save_one("a.tkb", ADD, "fx-1", "a payload");
	save_one("b.tkb", SOFTMAX, "fx-2", "another");
	pack_into("whole.tkb",
	          (struct packing){
			  .root = CACHE,
			  .puts = { { ADD, 0 }, { SOFTMAX, 0 } },
			  .launchers = {
				  launcher_of("fx-1", "a payload", ADD),
				  launcher_of("fx-2", "another", SOFTMAX) } });
	merge("m.tkb", "b.tkb", "a.tkb", NULL);

	CHECK_STR(id_of("m.tkb"), id_of("whole.tkb"));
	check_emit_same("m.tkb", "whole.tkb");
}

TEST(launchers, of_a_bundle_merged_with_itself_stay_as_they_are)
{
	(void)arrange_cache();
	save_one("a.tkb", ADD, "fx-1", "a payload");
	merge("m.tkb", "a.tkb", "a.tkb", NULL);

	check_same_file("m.tkb", "a.tkb");
}

TEST(launchers, of_one_key_are_those_of_the_first_bundle)
{
	(void)arrange_cache();
	save_one("a.tkb", ADD, "fx-1", "the first");
	save_one("b.tkb", SOFTMAX, "fx-1", "another");
	merge("m.tkb", "a.tkb", "b.tkb", NULL);
	struct tkb_bundle *bundle = test_bundle("m.tkb");

	CHECK_INT(tkb_bundle_launcher_count(bundle), 1);
	CHECK_STR(tkb_bundle_launcher(bundle, 0)->needs[0], ADD);
	CHECK_STR(payload_of(bundle, "fx-1"), "the first");
	CHECK_INT(tkb_bundle_entry_count(bundle), 2);
	check_verifies("m.tkb");
}

TEST(launchers, that_do_not_count_leave_no_frame_with_their_payload)
{
	(void)arrange_cache();
	save_one("a.tkb", ADD, "fx-1", "the first");
	save_one("b.tkb", SOFTMAX, "fx-1", "another");
	CHECK_STR(frames_of("b.tkb"), "0 | 1");
	CHECK_INT(merge("m.tkb", "a.tkb", "b.tkb", NULL).frame_count, 3);

	CHECK_STR(frames_of("m.tkb"), "0 | 2 | 1");
	check_verifies("m.tkb");
}

TEST(launchers, that_share_a_payload_have_it_once)
{
	(void)arrange_cache();
	save_one("a.tkb", ADD, "fx-1", "the same");
	save_one("b.tkb", SOFTMAX, "fx-2", "the same");
	merge("m.tkb", "a.tkb", "b.tkb", NULL);
	struct tkb_bundle *bundle = test_bundle("m.tkb");

	CHECK_STR(frames_of("m.tkb"), "0 | 2 | 1");
	CHECK_STR(payload_of(bundle, "fx-1"), "the same");
	CHECK_STR(payload_of(bundle, "fx-2"), "the same");
	check_verifies("m.tkb");
}

TEST(launchers, that_do_not_count_leave_a_payload_unused_beside_another)
{
	(void)arrange_cache();
	save_one("a.tkb", ADD, "fx-1", "the first");
	save_two("b.tkb", SOFTMAX, (const char *const[]){ "fx-1", "fx-2" },
	         (const char *const[]){ "is not used", "is used" });
	struct tkb_merge_report report = merge("m.tkb", "a.tkb", "b.tkb", NULL);
	struct tkb_bundle *bundle = test_bundle("m.tkb");

	CHECK_INT(report.frame_count, 4);
	CHECK_INT(report.unused_size, strlen("is not used"));
	CHECK(strstr(frames_of("m.tkb"), " +1") != NULL);
	CHECK_STR(payload_of(bundle, "fx-1"), "the first");
	CHECK_STR(payload_of(bundle, "fx-2"), "is used");
	check_verifies("m.tkb");
}

/* The second bundle's launcher is lost, the third's needs its payload. */
TEST(launchers, find_their_payload_where_another_one_left_it)
{
	(void)arrange_cache();
	save_one("a.tkb", ADD, "fx-1", "the first");
	save_one("b.tkb", SOFTMAX, "fx-1", "another");
	save_one("c.tkb", GELU, "fx-2", "another");
	merge("m.tkb", "a.tkb", "b.tkb", "c.tkb", NULL);
	struct tkb_bundle *bundle = test_bundle("m.tkb");

	CHECK_INT(tkb_bundle_frame_count(bundle), 5);
	CHECK_STR(payload_of(bundle, "fx-1"), "the first");
	CHECK_STR(payload_of(bundle, "fx-2"), "another");
	check_verifies("m.tkb");
}

TEST(launchers, may_have_an_empty_payload)
{
	(void)arrange_cache();
	save_one("a.tkb", ADD, "fx-1", "");
	save_one("b.tkb", SOFTMAX, "fx-2", "");
	merge("m.tkb", "a.tkb", "b.tkb", NULL);
	struct tkb_bundle *bundle = test_bundle("m.tkb");

	CHECK_STR(payload_of(bundle, "fx-1"), "");
	CHECK_STR(payload_of(bundle, "fx-2"), "");
	check_verifies("m.tkb");
}

TEST(launchers, keep_their_needs_in_the_order_given)
{
	static const char *const needs[] = { SOFTMAX, ADD };
	const struct tkb_launcher_spec spec = {
		SIZED(spec),          .cache_key = "fx-1",
		.name = "add_kernel", .payload = tkb_text("x"),
		.need = TKB_NEED_ANY, .needs = needs,
		.need_count = 2
	};

	(void)arrange_cache();
	pack_into("a.tkb",
	          (struct packing){ .root = CACHE, .launchers = { spec } });
	save_one("b.tkb", GELU, "fx-0", "y");
	merge("m.tkb", "b.tkb", "a.tkb", NULL);
	struct tkb_bundle *bundle = test_bundle("m.tkb");
	const struct tkb_saved_launcher *launcher =
		tkb_bundle_launcher(bundle, 1);

	CHECK_STR(launcher->cache_key, "fx-1");
	CHECK_STR(launcher->name, "add_kernel");
	CHECK_INT(launcher->need, TKB_NEED_ANY);
	CHECK_INT(launcher->need_count, 2);
	CHECK_STR(launcher->needs[0], SOFTMAX);
	CHECK_STR(launcher->needs[1], ADD);
}

/* After three levels of merges and an emit they are given back. */
TEST(launchers, can_be_used_where_a_merged_bundle_was_emitted)
{
	struct tkb_launchers *launchers = NULL;

	collect_into("whole.tkb", arrange_cache());
	save_one("a.tkb", ADD, "fx-1", "the first");
	save_two("b.tkb", SOFTMAX, (const char *const[]){ "fx-1", "fx-2" },
	         (const char *const[]){ "is not used", "is used" });
	merge("one.tkb", "a.tkb", "b.tkb", NULL);
	merge("two.tkb", "whole.tkb", "one.tkb", NULL);
	merge("three.tkb", "two.tkb", "b.tkb", "a.tkb", NULL);
	emit_all("three.tkb", "root");
	struct tkb_bundle *bundle = test_bundle("three.tkb");
	OK(tkb_launchers_open(bundle, "root", NULL, &launchers, ERR));

	CHECK_INT(tkb_launchers_count(launchers), 2);
	CHECK_INT(tkb_launchers_dropped_count(launchers), 0);
	const struct tkb_launcher *launcher =
		tkb_launchers_find(launchers, "fx-1", 0);
	CHECK_INT(launcher->payload.size, strlen("the first"));
	assert_memory_equal(launcher->payload.data, "the first", 9);
	CHECK_STR(launcher->kernels[0].key, ADD);
	CHECK(exists(launcher->kernels[0].binary));
	launcher = tkb_launchers_find(launchers, "fx-2", 0);
	assert_memory_equal(launcher->payload.data, "is used", 7);
	tkb_launchers_close(launchers);
	check_verifies("three.tkb");
}

TEST(launchers, alone_make_a_bundle_whose_kernels_come_from_another)
{
	collect_into("whole.tkb", arrange_cache());
	save_one("a.tkb", ADD, "fx-1", "a payload");
	merge("m.tkb", "whole.tkb", "a.tkb", NULL);
	struct tkb_bundle *bundle = test_bundle("m.tkb");

	CHECK_STR(frames_of("m.tkb"), "0-4 | 5");
	CHECK_STR(payload_of(bundle, "fx-1"), "a payload");
	check_verifies("m.tkb");
}

/* A key of Triton 3.0 is a SHA-256 in hexadecimal, as is a payload's name. */
TEST(launchers, have_payloads_that_are_no_entries_of_that_key)
{
	(void)arrange_cache();
	SYS(rename(CACHE "/" AUTOTUNE, CACHE "/" A_PAYLOAD));
	pack_into("a.tkb", (struct packing){ .root = CACHE,
	                                     .puts = { { A_PAYLOAD, 0 } } });
	save_one("b.tkb", ADD, "fx-1", "a payload");
	CHECK_INT(merge("m.tkb", "a.tkb", "b.tkb", NULL).frame_count, 3);
	struct tkb_bundle *bundle = test_bundle("m.tkb");

	CHECK_STR(payload_of(bundle, "fx-1"), "a payload");
	CHECK(entry_for(bundle, A_PAYLOAD, 0, NULL) != NULL);
	check_verifies("m.tkb");
}
