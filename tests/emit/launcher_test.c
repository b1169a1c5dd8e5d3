/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <stdio.h>
#include <sys/stat.h>

#include "forge.h"

/* Saved launchers are given back where what they need is in place. */

#define ADD "7L6SDEJ5EARFW53EAUKXWJ3XWXHCWI4TI4SGVO6DXAZGV5QZWTSA"
#define MATMUL "D3PPX5GK7UQ4B5NHQFFX2XIJFDP56QMVFEZGVL5KZIPZ7ARB6EFQ"
#define SOFTMAX "D4QPSSO6MYNPQYWQ3TOI2FKSOEBYMCNACWK5X2E5YQVDBBIBG6GA"

/*
 * Launchers "all" of ADD and MATMUL, "any" of SOFTMAX and ADD, and "one" of
 * MATMUL, from a Triton root.
 */
static struct tkb_bundle *three_launchers(void)
{
	RECORDER(recorder) = recording();

	save(recorder, "one", "payload 1", TKB_NEED_ALL, keys_of(1, MATMUL));
	save(recorder, "all", "payload 2", TKB_NEED_ALL,
	     keys_of(2, ADD, MATMUL));
	save(recorder, "any", "payload 3", TKB_NEED_ANY,
	     keys_of(2, SOFTMAX, ADD));
	return open_bytes(recorded(recorder, h100()));
}

/* The same, emitted to "out". */
static struct tkb_bundle *emitted_launchers(void)
{
	struct tkb_bundle *bundle = three_launchers();

	emit_bundle(bundle, "out", TKB_LAYOUT_TRITON);
	return bundle;
}

static struct tkb_launchers *open_launchers(
	const struct tkb_bundle *bundle, const char *root,
	const struct tkb_launchers_options *options)
{
	struct tkb_launchers *launchers = NULL;

	OK(tkb_launchers_open(bundle, root, options, &launchers, ERR));
	CHECK_INT(ERR->status, 0);
	return launchers;
}

/* What is ready: "key@device:kernel,kernel" of each. */
static const char *ready(const struct tkb_launchers *launchers)
{
	const char *list = "";

	for (size_t i = 0; i < tkb_launchers_count(launchers); i++) {
		const struct tkb_launcher *launcher =
			tkb_launchers_at(launchers, i);

		list = text("%s%s%s@%u:", list, i == 0 ? "" : " ",
		            launcher->cache_key, (unsigned)launcher->device);
		for (size_t j = 0; j < launcher->kernel_count; j++)
			list = text("%s%s%.4s", list, j == 0 ? "" : ",",
			            launcher->kernels[j].key);
	}
	return list;
}

/* What is not: "key:reason" of each. */
static const char *dropped(const struct tkb_launchers *launchers)
{
	const char *list = "";

	for (size_t i = 0; i < tkb_launchers_dropped_count(launchers); i++) {
		const struct tkb_dropped_launcher *launcher =
			tkb_launchers_dropped(launchers, i);

		CHECK(launcher->message[0] != '\0');
		CHECK_STR(launcher->name, "kernel");
		list = text("%s%s%s:%s", list, i == 0 ? "" : " ",
		            launcher->cache_key,
		            tkb_reason_name(launcher->reason));
	}
	return list;
}

static void check_launchers(const struct tkb_bundle *bundle, const char *root,
                            const char *wanted_ready,
                            const char *wanted_dropped)
{
	LAUNCHERS(launchers) = open_launchers(bundle, root, NULL);

	CHECK_STR(ready(launchers), wanted_ready);
	CHECK_STR(dropped(launchers), wanted_dropped);
}

/* Damage was done in "out": what is ready there? */
static void check_out(const struct tkb_bundle *bundle, const char *wanted_ready,
                      const char *wanted_dropped)
{
	check_launchers(bundle, "out", wanted_ready, wanted_dropped);
}

#define ALL_READY "all@0:7L6S,D3PP any@0:D4QP,7L6S one@0:D3PP"
#define ALL_DROPPED "all:needs any:needs one:needs"

TEST(launcher, is_given_back_after_emit_with_its_kernels)
{
	BUNDLE(bundle) = emitted_launchers();
	LAUNCHERS(launchers) = open_launchers(bundle, "out", NULL);

	CHECK_STR(ready(launchers), ALL_READY);
	CHECK_STR(dropped(launchers), "");
	const struct tkb_launcher *all = tkb_launchers_at(launchers, 0);
	CHECK_STR(all->name, "kernel");
	CHECK_STR(all->root, text("%s/out", test_folder()));
	CHECK(tkb_bytes_equal(all->payload, tkb_text("payload 2")));
	CHECK_INT(all->kernel_count, 2);
	CHECK_STR(all->kernels[0].key, ADD);
	CHECK_STR(all->kernels[0].binary,
	          text("%s/out/" ADD "/add_kernel.cubin", test_folder()));
	CHECK_STR(all->kernels[1].binary,
	          text("%s/out/" MATMUL "/matmul_kernel.cubin", test_folder()));
	CHECK(tkb_bytes_equal(read_file(all->kernels[1].binary),
	                      read_file("h100/.triton/cache/" MATMUL
	                                "/matmul_kernel.cubin")));
}

TEST(launcher, is_given_back_after_an_emit_by_another_process)
{
	RECORDER(recorder) = recording();
	const char *root = h100();

	save(recorder, "conf", "payload", TKB_NEED_ALL,
	     keys_of(2, ADD, MATMUL));
	OK(tkb_recorder_collect_to_file(recorder, root, NULL, "k.tkb", NULL,
	                                ERR));
	CHECK_INT(run(program(), "emit", "k.tkb", "out", NULL).status, 0);
	struct tkb_bundle *bundle = test_bundle("k.tkb");

	check_out(bundle, "conf@0:7L6S,D3PP", "");
}

TEST(launcher, is_given_back_in_the_cache_that_it_was_recorded_in)
{
	struct tkb_bundle *first = emitted_launchers();
	RECORDER(recorder) = recording();

	tkb_bundle_close(first);
	save(recorder, "conf", "payload", TKB_NEED_ALL, keys_of(1, ADD));
	BUNDLE(bundle) = open_bytes(recorded(recorder, "out"));

	check_out(bundle, "conf@0:7L6S", "");
}

TEST(launcher, of_a_lean_bundle_is_given_back_too)
{
	const struct tkb_collect_options lean = { SIZED(lean),
		                                  .profile = TKB_PROFILE_LEAN };
	RECORDER(recorder) = recording();

	save(recorder, "conf", "payload", TKB_NEED_ALL, keys_of(1, ADD));
	BUNDLE(bundle) =
		open_bytes(recorded_with(recorder, h100(), &lean, NULL));
	emit_bundle(bundle, "out", TKB_LAYOUT_TRITON);

	check_out(bundle, "conf@0:7L6S", "");
}

TEST(launcher, lives_on_when_the_bundle_is_closed)
{
	struct tkb_bundle *bundle = emitted_launchers();
	LAUNCHERS(launchers) = open_launchers(bundle, "out", NULL);

	tkb_bundle_close(bundle);

	CHECK_STR(ready(launchers), ALL_READY);
	const struct tkb_launcher *any =
		tkb_launchers_find(launchers, "any", 0);
	CHECK(tkb_bytes_equal(any->payload, tkb_text("payload 3")));
	CHECK_STR(any->root, text("%s/out", test_folder()));
	tkb_launchers_close(NULL);
}

TEST(launcher, is_found_by_its_cache_key)
{
	BUNDLE(bundle) = emitted_launchers();
	LAUNCHERS(launchers) = open_launchers(bundle, "out", NULL);

	for (size_t i = 0; i < 3; i++) {
		const struct tkb_launcher *launcher =
			tkb_launchers_at(launchers, i);

		CHECK(tkb_launchers_find(launchers, launcher->cache_key, 0) ==
		      launcher);
		CHECK(tkb_launchers_find(launchers, launcher->cache_key, 9) ==
		      launcher);
	}
	CHECK(tkb_launchers_find(launchers, "", 0) == NULL);
	CHECK(tkb_launchers_find(launchers, "al", 0) == NULL);
	CHECK(tkb_launchers_find(launchers, "alll", 0) == NULL);
	CHECK(tkb_launchers_find(launchers, "zebra", 0) == NULL);
}

/*
 * What is not in place
 */

TEST(launcher, is_dropped_where_there_is_no_root)
{
	BUNDLE(bundle) = three_launchers();
	LAUNCHERS(launchers) = open_launchers(bundle, "no/such/root", NULL);

	CHECK_STR(ready(launchers), "");
	CHECK_STR(dropped(launchers), ALL_DROPPED);
	CHECK_STR(tkb_launchers_dropped(launchers, 0)->message,
	          "one of its kernels is not in place");
	CHECK_STR(tkb_launchers_dropped(launchers, 1)->message,
	          "none of its kernels is in place");
	CHECK(tkb_launchers_find(launchers, "all", 0) == NULL);
	CHECK(!exists("no"));
}

TEST(launcher, is_dropped_before_emit)
{
	BUNDLE(bundle) = three_launchers();

	SYS(mkdir("out", 0777));
	check_out(bundle, "", ALL_DROPPED);
}

TEST(launcher, cannot_be_looked_for_in_a_file)
{
	BUNDLE(bundle) = three_launchers();
	struct tkb_launchers *launchers = NULL;

	write_text("file", "no folder");
	FAILS(tkb_launchers_open(bundle, "file", NULL, &launchers, ERR),
	      TKB_ERR_INVALID, "is not a folder");
	CHECK_INT(tkb_launchers_open(bundle, "file", NULL, &launchers, NULL),
	          TKB_ERR_INVALID);
	CHECK(launchers == NULL);
}

/* What is done in "out", and which launchers are ready then. */
static const struct {
	const char *script;
	const char *ready;
	const char *dropped;
} losses[] = {
	{ "rm " MATMUL "/matmul_kernel.cubin", "any@0:D4QP,7L6S",
	  "all:needs one:needs" },
	{ "truncate -s -1 " MATMUL "/matmul_kernel.cubin", "any@0:D4QP,7L6S",
	  "all:needs one:needs" },
	{ ": >" MATMUL "/matmul_kernel.cubin", "any@0:D4QP,7L6S",
	  "all:needs one:needs" },
	{ "cp " ADD "/add_kernel.cubin " MATMUL "/matmul_kernel.cubin",
	  "any@0:D4QP,7L6S", "all:needs one:needs" },
	{ "rm " SOFTMAX "/softmax_kernel.ttir",
	  "all@0:7L6S,D3PP any@0:7L6S one@0:D3PP", "" },
	{ "rm " SOFTMAX "/softmax_kernel.ttir " ADD "/__grp__add_kernel.json",
	  "one@0:D3PP", "all:needs any:needs" },
	{ "rm -r " ADD, "any@0:D4QP one@0:D3PP", "all:needs" },
	{ "rm -r " SOFTMAX, "all@0:7L6S,D3PP any@0:7L6S one@0:D3PP", "" },
	{ "rm -r " SOFTMAX " " ADD, "one@0:D3PP", "all:needs any:needs" },
};

TEST(launcher, is_dropped_without_a_file_of_what_it_needs)
{
	BUNDLE(bundle) = emitted_launchers();

	SYS(rename("out", "whole"));
	EACH(i, losses) {
		test_name_row(losses[i].script);
		shell("rm -rf out; cp -a whole out; cd out; %s",
		      losses[i].script);
		check_out(bundle, losses[i].ready, losses[i].dropped);
	}
}

/* Triton would compile again: the group file names the old place. */
TEST(launcher, is_dropped_in_a_cache_that_was_moved_until_it_is_repaired)
{
	BUNDLE(bundle) = emitted_launchers();

	copy_folder("out", "moved");
	check_launchers(bundle, "moved", "", ALL_DROPPED);
	check_launchers(bundle, "h100/.triton/cache", "", ALL_DROPPED);
	emit_bundle(bundle, "moved", TKB_LAYOUT_TRITON);
	check_launchers(bundle, "moved", ALL_READY, "");
	check_out(bundle, ALL_READY, "");
}

/*
 * Payloads
 */

TEST(launcher, of_an_empty_payload_is_given_back)
{
	RECORDER(recorder) = recording();

	save(recorder, "empty", "", TKB_NEED_ALL, keys_of(1, ADD));
	BUNDLE(bundle) = open_bytes(recorded(recorder, h100()));
	check_sound(bundle);
	emit_bundle(bundle, "out", TKB_LAYOUT_TRITON);
	LAUNCHERS(launchers) = open_launchers(bundle, "out", NULL);

	CHECK_STR(ready(launchers), "empty@0:7L6S");
	CHECK_INT(tkb_launchers_at(launchers, 0)->payload.size, 0);
}

TEST(launcher, shares_its_payload_with_another)
{
	RECORDER(recorder) = recording();

	for (size_t i = 0; i < 4; i++)
		save(recorder, text("conf %zu", i), i == 2 ? "other" : "same",
		     TKB_NEED_ALL, keys_of(1, i == 3 ? MATMUL : ADD));
	BUNDLE(bundle) = open_bytes(recorded(recorder, h100()));
	emit_bundle(bundle, "out", TKB_LAYOUT_TRITON);
	SYS(rename("out/" MATMUL, "gone"));
	LAUNCHERS(launchers) = open_launchers(bundle, "out", NULL);

	CHECK_STR(ready(launchers),
	          "conf 0@0:7L6S conf 1@0:7L6S conf 2@0:7L6S");
	CHECK_STR(dropped(launchers), "conf 3:needs");
	for (size_t i = 0; i < 3; i++)
		CHECK(tkb_bytes_equal(tkb_launchers_at(launchers, i)->payload,
		                      tkb_text(i == 2 ? "other" : "same")));
}

TEST(launcher, is_not_in_a_bundle_of_collect)
{
	const char *root = h100();
	BUNDLE(bundle) = open_bytes(collected(root, NULL));

	CHECK_INT(tkb_bundle_launcher_count(bundle), 0);
	check_launchers(bundle, root, "", "");
	check_launchers(bundle, "no/root", "", "");
}

/*
 * Several devices
 */

/* Of Inductor's first three kernels; emitted to "out". */
static struct tkb_bundle *inductor_launchers(struct keys *keys_out)
{
	RECORDER(recorder) = recording();
	const char *root = inductor();
	const struct keys keys = kernels_of(root);

	put(recorder, keys.items[2], 1);
	save(recorder, "pair", "payload 1", TKB_NEED_ALL, some_of(&keys, 0, 2));
	save(recorder, "second", "payload 2", TKB_NEED_ANY,
	     some_of(&keys, 1, 3));
	save(recorder, "third", "payload 3", TKB_NEED_ALL,
	     some_of(&keys, 2, 3));
	struct tkb_bundle *bundle = open_bytes(recorded(recorder, root));
	emit_bundle(bundle, "out", TKB_LAYOUT_INDUCTOR);
	*keys_out = keys;
	return bundle;
}

/* "pair@0:a,b pair@1:a,b ..." with the keys' letters for those. */
static const char *with_letters(const struct tkb_launchers *launchers,
                                const struct keys *keys)
{
	const char *list = ready(launchers);

	for (size_t i = 0; i < 3; i++) {
		const char *key = text("%.4s", keys->items[i]);
		const char *found = strstr(list, key);

		for (; found != NULL; found = strstr(list, key))
			list = text("%.*s%c%s", (int)(found - list), list,
			            (char)('a' + i), found + 4);
	}
	return list;
}

TEST(launcher, is_given_for_each_device_of_inductor_that_has_what_it_needs)
{
	struct keys keys;
	BUNDLE(bundle) = inductor_launchers(&keys);
	LAUNCHERS(launchers) = open_launchers(bundle, "out", NULL);

	CHECK_STR(with_letters(launchers, &keys),
	          "pair@0:a,b pair@1:a,b second@0:b second@1:b,c third@1:c");
	CHECK_STR(dropped(launchers), "");
	const struct tkb_launcher *found =
		tkb_launchers_find(launchers, "second", 1);
	CHECK_INT(found->device, 1);
	CHECK_STR(found->root, text("%s/out/triton/1", test_folder()));
	CHECK_CONTAINS(
		found->kernels[0].binary,
		text("%s/out/triton/1/%s/", test_folder(), keys.items[1]));
	CHECK(exists(found->kernels[0].binary));
	CHECK(tkb_bytes_equal(found->payload, tkb_text("payload 2")));
	CHECK_INT(tkb_launchers_find(launchers, "second", 0)->device, 0);
	CHECK(tkb_launchers_find(launchers, "third", 0) == NULL);
	CHECK(tkb_launchers_find(launchers, "third", 1) != NULL);
	CHECK(tkb_launchers_find(launchers, "pair", 2) == NULL);
}

TEST(launcher, is_given_for_one_device_though_a_later_one_has_not_what_it_needs)
{
	struct keys keys;
	BUNDLE(bundle) = inductor_launchers(&keys);

	SYS(rename(text("out/triton/1/%s", keys.items[0]), "gone"));
	LAUNCHERS(launchers) = open_launchers(bundle, "out", NULL);

	CHECK_STR(with_letters(launchers, &keys),
	          "pair@0:a,b second@0:b second@1:b,c third@1:c");
	CHECK_STR(dropped(launchers), "");
}

/* Flip a bit in the last data frame, which has the payloads. */
static struct tkb_bytes with_damaged_payloads(struct tkb_bytes bytes)
{
	char *copy = memcpy(test_alloc(bytes.size), bytes.data, bytes.size);
	struct tkb_bytes rest = { copy, bytes.size };
	struct tkb_bytes end = forge_take_frame(&rest);

	while (rest.size != 0)
		end = forge_take_frame(&rest);
	copy[bytes.size - end.size - 10] ^= 1;
	return (struct tkb_bytes){ copy, bytes.size };
}

TEST(launcher, is_dropped_once_for_all_devices_if_its_payload_is_damaged)
{
	RECORDER(recorder) = recording();
	const char *root = inductor();
	const struct keys keys = kernels_of(root);

	save(recorder, "b", "payload 1", TKB_NEED_ALL, some_of(&keys, 0, 2));
	save(recorder, "c", "payload 2", TKB_NEED_ALL, some_of(&keys, 2, 3));
	save(recorder, "a", "payload 3", TKB_NEED_ALL, some_of(&keys, 1, 2));
	save(recorder, "d", "payload 4", TKB_NEED_ALL, some_of(&keys, 0, 1));
	struct tkb_bytes bytes = recorded(recorder, root);
	BUNDLE(bundle) = open_bytes(bytes);
	emit_bundle(bundle, "out", TKB_LAYOUT_INDUCTOR);
	for (size_t i = 0; i < 2; i++)
		SYS(rename(text("out/triton/%zu/%s", i, keys.items[2]),
		           text("gone %zu", i)));
	BUNDLE(damaged) = open_bytes(with_damaged_payloads(bytes));

	check_out(damaged, "", "a:damaged b:damaged c:needs d:damaged");
}

TEST(launcher, is_dropped_only_if_no_device_of_inductor_has_what_it_needs)
{
	struct keys keys;
	BUNDLE(bundle) = inductor_launchers(&keys);

	SYS(rename(text("out/triton/0/%s", keys.items[0]), "gone 0"));
	LAUNCHERS(one) = open_launchers(bundle, "out", NULL);
	SYS(rename(text("out/triton/1/%s", keys.items[0]), "gone 1"));
	LAUNCHERS(none) = open_launchers(bundle, "out", NULL);

	CHECK_STR(with_letters(one, &keys),
	          "pair@1:a,b second@0:b second@1:b,c third@1:c");
	CHECK_STR(dropped(one), "");
	CHECK_STR(with_letters(none, &keys),
	          "second@0:b second@1:b,c third@1:c");
	CHECK_STR(dropped(none), "pair:needs");
}

TEST(launcher, is_given_for_the_devices_asked_for_alone)
{
	static const uint32_t first[] = { 0 };
	static const uint32_t both[] = { 7, 1, 0 };
	static const uint32_t other[] = { 7 };
	const struct tkb_launchers_options options[] = {
		{ .struct_size = sizeof(options[0]),
		  .devices = first,
		  .device_count = 1 },
		{ .struct_size = sizeof(options[0]),
		  .devices = both,
		  .device_count = 3 },
		{ .struct_size = sizeof(options[0]),
		  .devices = other,
		  .device_count = 1 },
		{ .struct_size = sizeof(options[0]), .devices = NULL },
	};
	static const char *const wanted[] = {
		"pair@0:a,b second@0:b",
		"pair@0:a,b pair@1:a,b second@0:b second@1:b,c third@1:c",
		"",
		"pair@0:a,b pair@1:a,b second@0:b second@1:b,c third@1:c",
	};
	static const char *const wanted_dropped[] = {
		"third:needs", "", "pair:needs second:needs third:needs", ""
	};
	struct keys keys;
	BUNDLE(bundle) = inductor_launchers(&keys);

	EACH(i, options) {
		LAUNCHERS(launchers) =
			open_launchers(bundle, "out", &options[i]);

		CHECK_STR(with_letters(launchers, &keys), wanted[i]);
		CHECK_STR(dropped(launchers), wanted_dropped[i]);
	}
}

/* A Triton root has no devices to choose from. */
TEST(launcher, of_a_triton_root_is_given_for_every_device)
{
	static const uint32_t devices[] = { 3 };
	const struct tkb_launchers_options options = { SIZED(options),
		                                       .devices = devices,
		                                       .device_count = 1 };
	BUNDLE(bundle) = emitted_launchers();
	LAUNCHERS(launchers) = open_launchers(bundle, "out", &options);

	CHECK_STR(ready(launchers), ALL_READY);
	CHECK(tkb_launchers_find(launchers, "one", 3) != NULL);
}

/* As many launchers as a model has, each with a kernel of all. */
TEST(launcher, is_found_among_hundreds)
{
	enum {
		COUNT = 300
	};
	const char *root = h100();
	const struct keys keys = kernels_of(root);
	RECORDER(recorder) = recording();

	for (size_t i = 0; i < COUNT; i++)
		save(recorder, text("conf %zu", i * 37 % COUNT),
		     text("payload %zu", i * 37 % COUNT / 2), TKB_NEED_ALL,
		     keys_of(1, keys.items[i * 37 % COUNT % keys.count]));
	BUNDLE(bundle) = open_bytes(recorded(recorder, root));
	check_sound(bundle);
	emit_bundle(bundle, "out", TKB_LAYOUT_TRITON);
	LAUNCHERS(launchers) = open_launchers(bundle, "out", NULL);

	CHECK_INT(tkb_launchers_count(launchers), COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		const struct tkb_launcher *launcher =
			tkb_launchers_find(launchers, text("conf %zu", i), 0);

		CHECK(launcher != NULL);
		CHECK_STR(launcher->kernels[0].key, keys.items[i % keys.count]);
		CHECK(tkb_bytes_equal(launcher->payload,
		                      tkb_text(text("payload %zu", i / 2))));
	}
}

TEST(launcher, can_be_cancelled_at_each_launcher_and_frame)
{
	struct tkb_bundle *bundle = emitted_launchers();
	const size_t steps = tkb_bundle_launcher_count(bundle) +
	                     tkb_bundle_frame_count(bundle);
	struct tkb_launchers *launchers = NULL;

	for (unsigned asked = 0; asked <= steps; asked++) {
		struct countdown patience = { .left = asked };
		CHECK_INT(tkb_launchers_open(
				  bundle, "out",
				  &CHOSEN(tkb_launchers_options,
		                          .watch = count_down(&patience)),
				  &launchers, ERR),
		          asked < steps ? TKB_ERR_CANCELLED : TKB_OK);
		CHECK((launchers != NULL) == (asked == steps));
		CHECK(asked < steps || patience.done == steps);
		CHECK_INT(patience.total, steps);
		CHECK(!patience.went_wrong);
	}
	tkb_launchers_close(launchers);
	tkb_bundle_close(bundle);
}
