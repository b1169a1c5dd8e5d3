/* SPDX-License-Identifier: Apache-2.0 */
#include "saved.h"

#include "forge.h"
#include "format/reader.h"

/* Saved launchers as a bundle holds them. */

#define MIB ((size_t)1 << 20)

/*
 * The form
 */

TEST(launcher_payload, launchers_have_one_canonical_form)
{
	static const char wanted[] =
		"],\"format\":\"tkbundle\",\"launchers\":"
		"[" LAUNCHER("a", "all", HELLO) "," LAUNCHER(
			"b", "any", OTHER) "," LAUNCHER("c \\\"q\\\\\\\" "
	                                                "\xc3\xa9",
	                                                "all",
	                                                HELLO) "],\"profile\":"
							       "\"lean\","
							       "\"requires\":["
							       "],\"trees\":[]"
							       ","
							       "\"version\":"
							       "1}";
	const struct forge *forge = forge_three();
	const char *manifest = forge->manifest.data;

	CHECK_STR(strstr(manifest, "],\"format\""), wanted);
	CHECK_STR(forge_digest(forge->manifest),
	          "df2e15ecf3b76be46a150c678ae15613"
	          "edef02733de4fb57b3e4e0c101ef1b1f");
}

TEST(launcher_payload, payloads_lie_once_in_frames_of_their_own)
{
	const struct forge *forge = forge_three();

	CHECK_INT(forge->frame_count, 2);
	CHECK_STR(forge->frames[0].entries, "0");
	CHECK_STR(forge->frames[1].entries, "1-2");
	CHECK_INT(forge->frames[1].member_count, 2);
	CHECK_STR(forge->frames[1].members[0].path, "launcher/" HELLO);
	CHECK_STR(forge->frames[1].members[1].path, "launcher/" OTHER);
	CHECK(tkb_bytes_equal(forge->frames[1].members[0].bytes,
	                      tkb_text("hello")));
	CHECK(tkb_bytes_equal(forge->frames[1].members[1].bytes,
	                      tkb_text("other")));
	for (size_t i = 0; i < forge->frames[0].member_count; i++)
		CHECK_CONTAINS(forge->frames[0].members[i].path,
		               "triton/" FORGE_KERNEL "/");
}

TEST(launcher_payload, launchers_are_read_as_they_were_saved)
{
	static const char *const keys[] = { "a", "b", "c \"q\\\" \xc3\xa9" };

	save_three("real.tkb");
	struct tkb_bundle *bundle = test_bundle("real.tkb");
	check_sound(bundle);

	CHECK_INT(tkb_bundle_entry_count(bundle), 1);
	CHECK_INT(tkb_bundle_launcher_count(bundle), 3);
	for (size_t i = 0; i < 3; i++) {
		const struct tkb_saved_launcher *saved =
			tkb_bundle_launcher(bundle, i);

		CHECK_STR(saved->cache_key, keys[i]);
		CHECK_STR(saved->name, "kernel");
		CHECK_INT(saved->need, i == 1 ? TKB_NEED_ANY : TKB_NEED_ALL);
		CHECK_INT(saved->need_count, 1);
		CHECK_STR(saved->needs[0], FORGE_KERNEL);
		CHECK_INT(saved->size, 5);
		CHECK_STR(hex_of(&saved->digest), i == 1 ? OTHER : HELLO);
	}
	CHECK_STR(launchers_in(bundle),
	          "a=hello b=other c \"q\\\" \xc3\xa9=hello");
}

TEST(launcher_payload, needs_have_names)
{
	CHECK_STR(tkb_need_name(TKB_NEED_ALL), "all");
	CHECK_STR(tkb_need_name(TKB_NEED_ANY), "any");
}

/* Bytes that cannot be compressed, and end in `seed`. */
static const char *noise(size_t size, char seed)
{
	char *bytes = test_alloc(size);
	uint64_t state = 88172645463325252u + (unsigned char)seed;

	for (size_t i = 0; i < size; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		bytes[i] = (char)('!' + state % 90);
	}
	bytes[size - 1] = seed;
	return bytes;
}

/* Launchers "0" to "2", of 4 MiB each: three frames behind the kernel's. */
static void save_large(const char *path)
{
	const struct tkb_collect_options lean = { SIZED(lean),
		                                  .profile = TKB_PROFILE_LEAN };
	RECORDER(recorder) = recording();

	for (char name = '0'; name < '3'; name++)
		save(recorder, text("%c", name), noise(4 * MIB, name),
		     TKB_NEED_ALL, keys_of(1, FORGE_KERNEL));
	unpack("triton-3.6.0-cpu", "forged");
	write_file(path, recorded_with(recorder, "forged/.triton/cache", &lean,
	                               NULL));
}

/* Flip a bit in the middle of the file's data frame `index`. */
static void flip_in_frame(const char *from, size_t index, const char *to)
{
	const struct tkb_frame *frame = &test_bundle(from)->frames[index];

	write_file(to, read_file(from));
	flip_bit(to, frame->offset + frame->packed_size / 2);
}

/* "key:outcome:reason" of each result of a verify, joined by spaces. */
static const char *verify(const struct tkb_bundle *bundle,
                          struct tkb_verify_report *report,
                          struct tkb_error *err)
{
	RESULTS(results) = NULL;
	struct tkb_verify_options options = { SIZED(options), .threads = 1 };
	const char *list = "";

	CHECK_OK(tkb_results_new(&results, err), err);
	options.watch = tkb_results_watch(results);
	CHECK_INT(tkb_bundle_verify(bundle, &options, report, err),
	          TKB_ERR_CORRUPT);
	for (size_t i = 0; i < tkb_results_count(results); i++) {
		const struct tkb_result *result = tkb_results_at(results, i);

		CHECK_INT(result->is_launcher, strlen(result->key) < 20);
		list = text("%s%s%.4s:%s:%s", list, i == 0 ? "" : " ",
		            result->key, tkb_outcome_name(result->outcome),
		            tkb_reason_name(result->reason));
	}
	return list;
}

static const char *ready(const struct tkb_bundle *bundle, const char *root)
{
	LAUNCHERS(launchers) = NULL;
	const char *list = "";

	OK(tkb_launchers_open(bundle, root, NULL, &launchers, ERR));
	for (size_t i = 0; i < tkb_launchers_count(launchers); i++)
		list = text("%s%.1s+", list,
		            tkb_launchers_at(launchers, i)->cache_key);
	for (size_t i = 0; i < tkb_launchers_dropped_count(launchers); i++) {
		const struct tkb_dropped_launcher *dropped =
			tkb_launchers_dropped(launchers, i);

		CHECK_INT(dropped->reason, TKB_REASON_DAMAGED);
		CHECK_CONTAINS(dropped->message, "digest");
		list = text("%s%.1s-", list, dropped->cache_key);
	}
	return list;
}

/*
 * Damage
 */

TEST(launcher_payload, payloads_are_lost_with_their_own_frame_alone)
{
	save_large("good.tkb");
	struct tkb_bundle *good = test_bundle("good.tkb");
	CHECK_INT(tkb_bundle_frame_count(good), 4);
	check_sound(good);
	emit_bundle(good, "out", TKB_LAYOUT_TRITON);
	CHECK_STR(ready(good, "out"), "0+1+2+");
	for (size_t i = 1; i < 4; i++) {
		struct tkb_verify_report report = { SIZED(report) };
		struct tkb_error err = { 0 };
		size_t lost = 0;
		size_t dropped = 0;

		flip_in_frame("good.tkb", i, "bad.tkb");
		struct tkb_bundle *bundle = test_bundle("bad.tkb");
		(void)verify(bundle, &report, &err);
		CHECK_CONTAINS(err.message, text("'bad.tkb', frame %zu", i));
		CHECK_INT(report.verified_count, 1);
		CHECK_INT(report.failed_count, 0);
		CHECK_INT(report.launcher_count, 2);
		CHECK_INT(report.failed_launcher_count, 1);

		const char *found = ready(bundle, "out");
		for (size_t j = 0; j < 3; j++) {
			struct tkb_buf *buf = test_buf(8 * MIB);
			const struct tkb_sink sink = tkb_buf_sink(buf);
			const bool is_lost =
				tkb_bundle_read_launcher(bundle, j, &sink,
			                                 &err) != 0;

			lost += is_lost;
			dropped += strstr(found, text("%zu-", j)) != NULL;
			CHECK_INT(strstr(found, text("%zu-", j)) != NULL,
			          is_lost);
			CHECK_INT(buf->size, is_lost ? 0 : 4 * MIB);
		}
		CHECK_INT(lost, 1);
		CHECK_INT(dropped, 1);
	}
}

TEST(launcher_payload,
     launchers_that_are_damaged_are_named_and_entries_are_not_affected)
{
	BUF(buf, MIB);
	const struct tkb_sink sink = tkb_buf_sink(&buf);
	struct tkb_verify_report report = { SIZED(report) };

	save_three("good.tkb");
	flip_in_frame("good.tkb", 1, "bad.tkb");
	struct tkb_bundle *bundle = test_bundle("bad.tkb");

	CHECK_STR(verify(bundle, &report, ERR),
	          "5DJU:verified: a:failed:damaged b:failed:damaged "
	          "c \"q:failed:damaged");
	CHECK_INT(report.verified_count, 1);
	CHECK_INT(report.failed_launcher_count, 3);
	emit_bundle(bundle, "out", TKB_LAYOUT_TRITON);
	CHECK_STR(ready(bundle, "out"), "a-b-c-");
	for (size_t i = 0; i < 3; i++)
		FAILS(tkb_bundle_read_launcher(bundle, i, &sink, ERR),
		      TKB_ERR_CORRUPT, "'bad.tkb', frame 1");
	CHECK_INT(buf.size, 0);
}

TEST(launcher_payload, payloads_have_no_bit_that_may_be_flipped)
{
	struct tkb_bytes rest;

	save_three("good.tkb");
	struct tkb_bytes all = rest = read_file("good.tkb");
	(void)forge_take_frame(&rest);
	(void)forge_take_frame(&rest);
	struct tkb_bytes frame = forge_take_frame(&rest);
	size_t start =
		(size_t)((const char *)frame.data - (const char *)all.data);
	char *copy = test_alloc(all.size);
	memcpy(copy, all.data, all.size);
	for (size_t i = 0; i < frame.size; i++) {
		struct tkb_verify_report report = { SIZED(report) };

		copy[start + i] ^= (char)(1 << i % 8);
		BUNDLE(bundle) =
			open_bytes((struct tkb_bytes){ copy, all.size });
		CHECK_INT(tkb_bundle_verify(bundle, NULL, &report, NULL),
		          TKB_ERR_CORRUPT);
		CHECK_INT(report.verified_count, 1);
		CHECK_INT(report.failed_launcher_count, 3);
		copy[start + i] ^= (char)(1 << i % 8);
	}
}

TEST(launcher_payload, launchers_do_not_need_the_frame_of_an_entry)
{
	struct tkb_verify_report report = { SIZED(report) };

	save_three("good.tkb");
	struct tkb_bundle *good = test_bundle("good.tkb");
	emit_bundle(good, "out", TKB_LAYOUT_TRITON);
	flip_in_frame("good.tkb", 0, "bad.tkb");
	struct tkb_bundle *bad = test_bundle("bad.tkb");

	CHECK_STR(verify(bad, &report, ERR),
	          "5DJU:failed:damaged a:verified: b:verified: "
	          "c \"q:verified:");
	CHECK_INT(report.launcher_count, 3);
	CHECK_STR(ready(bad, "out"), "a+b+c+");
}

/*
 * Hostile bundles
 */

TEST(launcher_payload,
     payloads_that_are_not_what_the_manifest_says_are_not_given)
{
	struct forge *forge = forge_three();
	BUF(buf, MIB);
	const struct tkb_sink sink = tkb_buf_sink(&buf);
	struct tkb_verify_report report = { SIZED(report) };

	forge->frames[1].members[0].bytes = tkb_text("HELLO");
	forge_write(forge, "hostile.tkb");
	struct tkb_bundle *bundle = test_bundle("hostile.tkb");

	CHECK_STR(verify(bundle, &report, ERR),
	          "5DJU:verified: a:failed:damaged b:verified: "
	          "c \"q:failed:damaged");
	emit_bundle(bundle, "out", TKB_LAYOUT_TRITON);
	CHECK_STR(ready(bundle, "out"), "b+a-c-");
	FAILS(tkb_bundle_read_launcher(bundle, 0, &sink, ERR), TKB_ERR_CORRUPT,
	      "'" HELLO "' has another digest");
	CHECK_INT(buf.size, 0);
	OK(tkb_bundle_read_launcher(bundle, 1, &sink, ERR));
	CHECK(tkb_bytes_equal(tkb_buf_bytes(&buf), tkb_text("other")));
}

/* The key of an autotune file is no kernel's, though it stands there. */
TEST(launcher_payload, launchers_that_need_what_is_no_kernel_are_dropped)
{
	struct forge *forge = forge_three();
	LAUNCHERS(launchers) = NULL;

	BUNDLE(whole) = open_bytes(collected("forged/.triton/cache", NULL));
	emit_bundle(whole, "out", TKB_LAYOUT_TRITON);
	forge_edit(forge, NEEDS, "\"needs\":[\"" FORGE_AUTOTUNE "\"]");
	forge_write(forge, "hostile.tkb");
	struct tkb_bundle *bundle = test_bundle("hostile.tkb");
	OK(tkb_launchers_open(bundle, "out", NULL, &launchers, ERR));

	CHECK(exists("out/" FORGE_AUTOTUNE));
	CHECK_INT(tkb_launchers_count(launchers), 2);
	CHECK_INT(tkb_launchers_dropped_count(launchers), 1);
	CHECK_STR(tkb_launchers_dropped(launchers, 0)->cache_key, "a");
}

/* The frame of the payloads is made so that its decoding fails. */
static void check_frame_refused(struct forge *forge, const char *message)
{
	struct tkb_verify_report report = { SIZED(report) };
	struct tkb_error err = { 0 };

	forge_write(forge, "hostile.tkb");
	struct tkb_bundle *bundle = test_bundle("hostile.tkb");
	(void)verify(bundle, &report, &err);
	CHECK_CONTAINS(err.message, message);
	CHECK_INT(report.verified_count, 1);
	CHECK_INT(report.launcher_count, 0);
}

TEST(launcher_payload, payloads_stand_under_their_digest_and_in_its_order)
{
	struct forge *forge = forge_three();
	struct forge_member *members = forge->frames[1].members;
	const struct forge_member hello = members[0];

	members[0] = members[1];
	members[1] = hello;
	check_frame_refused(forge, "'launcher/" OTHER "' stands where");
	members[1] = members[0];
	members[0] = hello;
	members[0].path = "triton/" FORGE_KERNEL "/" HELLO;
	check_frame_refused(forge, "stands where 'launcher/" HELLO "' should");
	members[0].path = "launcher/../" HELLO;
	check_frame_refused(forge, "'launcher/../");
	members[0] = hello;
	members[0].bytes = tkb_text("hello, world");
	check_frame_refused(forge, "has 12 bytes, the manifest says 5");
}

static int refuse(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)self;
	(void)bytes;
	return tkb_fail(err, TKB_ERR_TOO_LARGE, "no room");
}

TEST(launcher_payload, payload_goes_to_a_sink_that_may_fail)
{
	const struct tkb_sink sink = { refuse, NULL };

	save_three("real.tkb");
	struct tkb_bundle *bundle = test_bundle("real.tkb");
	FAILS(tkb_bundle_read_launcher(bundle, 0, &sink, ERR),
	      TKB_ERR_TOO_LARGE, "no room");
}
