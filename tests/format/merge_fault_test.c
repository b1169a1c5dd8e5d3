/* SPDX-License-Identifier: Apache-2.0 */
#include "forge.h"
#include "merging.h"

#include <stdio.h>
#include <unistd.h>

#include "format/reader.h"

/* What a merge refuses, and what is left behind when it fails: nothing. */

enum {
	MANY = 60000, /* two such bundles are over a limit */
	WRITES_LIMIT = 64
};

/* Bundles of two kernels and of one of them and another. */
static void arrange_two(void)
{
	pack_overlapping(arrange_cache());
}

/* Flip a bit of frame `index` of the bundle `path`, in its middle. */
static void damage_frame(const char *path, size_t index)
{
	const struct tkb_frame *frame = &test_bundle(path)->frames[index];

	flip_bit(path, frame->offset + frame->packed_size / 2);
}

/* Merge "a.tkb" and "b.tkb", with choices. */
static int merge_both(const struct tkb_merge_options *options,
                      const struct tkb_sink *sink, const char *path,
                      struct tkb_error *err)
{
	struct tkb_bundle *a = test_bundle("a.tkb");
	struct tkb_bundle *b = test_bundle("b.tkb");
	const struct tkb_bundle *const bundles[] = { a, b };

	if (path != NULL)
		return tkb_merge_to_file(bundles, 2, options, path, NULL, err);
	return tkb_merge(bundles, 2, options, sink, NULL, err);
}

/* It fails so, and leaves "m.tkb" as it was. */
static void check_fails(const struct tkb_merge_options *options, int status,
                        const char *part)
{
	write_text("m.tkb", "as it was");
	size_t count = count_names(".");
	FAILS(merge_both(options, NULL, "m.tkb", ERR), status, part);
	CHECK_STR(read_file("m.tkb").data, "as it was");
	CHECK_INT(count_names("."), count);
}

TEST(merge, of_a_damaged_frame_fails_and_names_it)
{
	arrange_two();
	damage_frame("b.tkb", 0);

	check_fails(NULL, TKB_ERR_CORRUPT,
	            "'b.tkb', frame 0: its bytes have another digest");
}

TEST(merge, does_not_read_a_frame_that_it_does_not_copy)
{
	arrange_two();
	collect_into("whole.tkb", "unpacked/.triton/cache");
	damage_frame("b.tkb", 0);
	merge("m.tkb", "whole.tkb", "b.tkb", NULL);

	check_same_file("m.tkb", "whole.tkb");
}

TEST(merge, of_a_bundle_with_a_damaged_end_fails)
{
	arrange_two();
	flip_bit("b.tkb", read_file("b.tkb").size - 1);

	check_fails(NULL, TKB_ERR_CORRUPT, "'b.tkb'");
}

TEST(merge, of_a_bundle_with_bytes_behind_its_end_fails)
{
	arrange_two();
	struct tkb_bytes old = read_file("a.tkb"); /* a zero stands behind it */
	write_file("a.tkb", (struct tkb_bytes){ old.data, old.size + 1 });

	check_fails(NULL, TKB_ERR_CORRUPT, "'a.tkb'");
}

TEST(merge, of_a_bundle_that_is_cut_short_meanwhile_fails)
{
	const struct tkb_bundle *bundles[1];

	arrange_two();
	struct tkb_bundle *bundle = test_bundle("a.tkb");
	bundles[0] = bundle;
	SYS(truncate("a.tkb", 4000));

	FAILS(tkb_merge_to_file(bundles, 1, NULL, "m.tkb", NULL, ERR),
	      TKB_ERR_CORRUPT, "'a.tkb', frame 0: it is cut short");
	CHECK(!exists("m.tkb"));
}

TEST(merge, of_no_bundle_is_refused)
{
	FAILS(tkb_merge_to_file(NULL, 0, NULL, "m.tkb", NULL, ERR),
	      TKB_ERR_INVALID, "there is no bundle");
	CHECK_INT(count_names("."), 0);
}

TEST(merge, without_a_sink_is_refused)
{
	arrange_two();
	FAILS(merge_both(NULL, NULL, NULL, ERR), TKB_ERR_INVALID,
	      "there is no sink");
}

TEST(merge, may_replace_a_bundle_that_it_reads)
{
	arrange_two();
	merge("m.tkb", "a.tkb", "b.tkb", NULL);
	merge("b.tkb", "a.tkb", "b.tkb", NULL);

	check_same_file("b.tkb", "m.tkb");
}

TEST(merge, into_a_folder_that_is_not_there_fails)
{
	arrange_two();
	FAILS(merge_both(NULL, NULL, "none/m.tkb", ERR), TKB_ERR_IO, "none");
}

TEST(merge, into_what_is_full_fails)
{
	arrange_two();
	FAILS(merge_both(NULL, NULL, "/dev/full", ERR), TKB_ERR_IO,
	      "/dev/full");
}

/* A sink that takes `left` writes. */
struct narrow {
	size_t left;
	size_t size;
};

static int write_narrow(void *self, struct tkb_bytes bytes,
                        struct tkb_error *err)
{
	struct narrow *narrow = self;

	if (narrow->left == 0)
		return tkb_fail(err, TKB_ERR_LEFT_OUT, "enough");
	narrow->left--;
	narrow->size += bytes.size;
	return 0;
}

TEST(merge, ends_where_the_sink_says_so)
{
	size_t writes = 0;

	arrange_two();
	size_t whole = merge("m.tkb", "a.tkb", "b.tkb", NULL).bundle_size;
	for (;; writes++) {
		struct narrow narrow = { .left = writes };
		const struct tkb_sink sink = { write_narrow, &narrow };
		struct tkb_error err = { 0 };
		const int rc = merge_both(NULL, &sink, NULL, &err);

		CHECK(writes < WRITES_LIMIT);
		if (rc == 0) {
			CHECK_INT(narrow.size, whole);
			break;
		}
		CHECK_INT(rc, TKB_ERR_LEFT_OUT);
		CHECK_STR(err.message, "enough");
		CHECK(narrow.size < whole);
	}
	CHECK_INT(writes, 4); /* the header, two frames, the end */
}

TEST(merge, can_be_cancelled_at_each_frame)
{
	arrange_two();
	for (size_t i = 0; i < 2; i++) {
		struct countdown patience = { .left = i };
		check_fails(&CHOSEN(tkb_merge_options,
		                    .watch = count_down(&patience)),
		            TKB_ERR_CANCELLED, "");
	}
}

struct noted {
	struct countdown progress; /* see_countdown() has it */
	size_t results;
	size_t skipped;
};

static void note_result(void *self, const struct tkb_result *result)
{
	struct noted *noted = self;

	CHECK_STR(result->root, "");
	CHECK(!result->is_launcher);
	noted->results++;
	if (result->outcome == TKB_OUTCOME_COLLECTED) {
		CHECK_INT(result->reason, TKB_REASON_NONE);
		return;
	}
	CHECK_INT(result->outcome, TKB_OUTCOME_SKIPPED);
	CHECK_INT(result->reason, TKB_REASON_TWIN);
	CHECK_STR(result->key, GELU);
	CHECK_STR(result->name, "gelu_kernel");
	CHECK_STR(result->message, "an earlier bundle holds it");
	noted->skipped++;
}

TEST(merge, tells_what_becomes_of_each_entry_and_how_far_it_is)
{
	struct noted noted = { .results = 0 };
	const struct tkb_merge_options options = {
		SIZED(options), .watch = &CHOSEN(tkb_watch, .self = &noted,
		                                 .on_result = note_result,
		                                 .on_progress = see_countdown)
	};

	arrange_two();
	OK(merge_both(&options, NULL, "m.tkb", ERR));

	CHECK_INT(noted.results, 4);
	CHECK_INT(noted.skipped, 1);
	check_told_all(&noted.progress);
}

/* A launcher is no entry; nothing is told of it, nor counted as skipped. */
TEST(merge, counts_launchers_apart_from_entries)
{
	struct noted noted = { .results = 0 };
	const struct tkb_merge_options options = {
		SIZED(options), .watch = &CHOSEN(tkb_watch, .self = &noted,
		                                 .on_result = note_result)
	};
	const char *root = arrange_cache();

	for (size_t i = 0; i < 2; i++)
		pack_into(i == 0 ? "a.tkb" : "b.tkb",
		          (struct packing){ .root = root,
		                            .puts = { { GELU, 0 } },
		                            .launchers = { launcher_of(
						    "fx", "x", GELU) } });
	OK(merge_both(&options, NULL, "m.tkb", ERR));

	CHECK_INT(noted.results, 2);
	CHECK_INT(merge("m.tkb", "a.tkb", "b.tkb", NULL).skipped_count, 1);
}

/* A bundle of which only manifest and list of frames matter. */
static void forge_header(const char *path, const char *entries,
                         const char *launchers, const char *line)
{
	struct forge forge = {
		.manifest = tkb_text(
			text("{\"entries\":[%s],\"format\":\"tkbundle\","
		             "\"launchers\":[%s],\"profile\":\"full\","
		             "\"requires\":[],\"trees\":[],\"version\":1}",
		             entries, launchers)),
		.first_line = "frames 1 zstd 1.5.4 3",
		.frame_count = 1,
	};

	forge.frames[0].packed = forge_pack(tkb_text("x"));
	forge.frames[0].line =
		text("%s %zu %s\n", forge_digest(forge.frames[0].packed),
	             forge.frames[0].packed.size, line);
	forge_write(&forge, path);
}

static const char *kept(struct tkb_buf *buf)
{
	const char *out = text("%.*s", (int)buf->size, (const char *)buf->data);

	CHECK_INT(buf->failure, 0);
	tkb_buf_release(buf);
	return out;
}

/* MANY entries of no bytes, the first of them number `first`. */
static const char *many_entries(size_t first)
{
	struct tkb_buf buf = TKB_BUF_INIT(64 * TKB_MIB);

	for (size_t i = 0; i < MANY; i++) {
		char entry[512];

		(void)snprintf(entry, sizeof(entry),
		               "%s{\"devices\":[0],\"files\":[[\"a\",0,\"%064d"
		               "\"]],\"key\":\"%032zu\",\"kind\":\"autotune\","
		               "\"name\":\"a\",\"platform\":\"\",\"producer\":["
		               "\"triton\",\"\"],\"target\":[\"\",\"\",0]}",
		               i == 0 ? "" : ",", 0, first + i);
		tkb_buf_add_text(&buf, entry);
	}
	return kept(&buf);
}

static const char *many_launchers(size_t first)
{
	struct tkb_buf buf = TKB_BUF_INIT(64 * TKB_MIB);

	for (size_t i = 0; i < MANY; i++) {
		char launcher[512];

		(void)snprintf(launcher, sizeof(launcher),
		               "%s{\"key\":\"%06zu\",\"name\":\"a\",\"need\":"
		               "\"any\",\"needs\":[\"%032d\"],\"payload\":[\""
		               "%064d\",0]}",
		               i == 0 ? "" : ",", first + i, 0, 0);
		tkb_buf_add_text(&buf, launcher);
	}
	return kept(&buf);
}

TEST(merge, of_more_entries_than_a_bundle_holds_is_refused)
{
	const char *line = text("%d 0-%d", MANY * 512, MANY - 1);

	forge_header("a.tkb", many_entries(0), "", line);
	forge_header("b.tkb", many_entries(MANY), "", line);

	check_fails(NULL, TKB_ERR_TOO_LARGE,
	            "120000 entries, a bundle holds at most 100000");
}

TEST(merge, of_more_launchers_than_a_bundle_holds_is_refused)
{
	forge_header("a.tkb", "", many_launchers(0), "512 0");
	forge_header("b.tkb", "", many_launchers(MANY), "512 0");

	check_fails(NULL, TKB_ERR_TOO_LARGE,
	            "120000 launchers, a bundle holds at most 100000");
}

static const char *a_launcher(const char *key, int payload, int size)
{
	return text("{\"key\":\"%s\",\"name\":\"a\",\"need\":\"any\","
	            "\"needs\":[\"%032d\"],\"payload\":[\"%064d\",%d]}",
	            key, 0, payload, size);
}

/* One of them lies: no bytes have two sizes. */
TEST(merge, of_one_payload_with_two_sizes_is_refused)
{
	forge_header("a.tkb", "", a_launcher("1", 7, 1), "1024 0");
	forge_header("b.tkb", "", a_launcher("2", 7, 600), "1536 0");

	check_fails(NULL, TKB_ERR_CORRUPT, "payload with two sizes");
}

/* The same, where the launcher of the one that lies does not count. */
TEST(merge, of_a_payload_with_another_size_than_counts_is_refused)
{
	const struct tkb_bundle *bundles[3];

	forge_header("a.tkb", "", a_launcher("1", 3, 1), "1024 0");
	forge_header("b.tkb", "", a_launcher("1", 7, 1), "1024 0");
	forge_header("c.tkb", "", a_launcher("2", 7, 600), "1536 0");
	bundles[0] = test_bundle("a.tkb");
	bundles[1] = test_bundle("b.tkb");
	bundles[2] = test_bundle("c.tkb");

	FAILS(tkb_merge_to_file(bundles, 3, NULL, "m.tkb", NULL, ERR),
	      TKB_ERR_CORRUPT, "payload with two sizes");
	CHECK(!exists("m.tkb"));
}
