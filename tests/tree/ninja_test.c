/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/ninja.h"

#include <stdlib.h>

#include "harness.h"

/* A copy of exactly the size, for the sanitizer; the caller frees its data. */
static struct tkb_bytes exact(struct tkb_bytes bytes)
{
	char *copy = malloc(bytes.size == 0 ? 1 : bytes.size);

	CHECK(copy != NULL);
	if (bytes.size != 0)
		memcpy(copy, bytes.data, bytes.size);
	return (struct tkb_bytes){ copy, bytes.size };
}

static int read_log(struct tkb_bytes given, struct tkb_ninja_log *out,
                    struct tkb_error *err)
{
	const struct tkb_bytes copy = exact(given);
	const int rc = tkb_ninja_log_read(copy, out, err);

	free((void *)(uintptr_t)copy.data);
	return rc;
}

static int read_deps(struct tkb_bytes given, struct tkb_ninja_deps *out,
                     struct tkb_error *err)
{
	const struct tkb_bytes copy = exact(given);
	const int rc = tkb_ninja_deps_read(copy, out, err);

	free((void *)(uintptr_t)copy.data);
	return rc;
}

static void add_word(struct tkb_buf *out, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		tkb_buf_add_byte(out, (char)(word >> 8 * i));
}

static void add_path(struct tkb_buf *out, const char *path, uint32_t number)
{
	const size_t padding = (4 - strlen(path) % 4) % 4;

	add_word(out, (uint32_t)(strlen(path) + padding + 4));
	tkb_buf_add_text(out, path);
	tkb_buf_add(out, (struct tkb_bytes){ "\0\0\0", padding });
	add_word(out, ~number);
}

static void add_record(struct tkb_buf *out, bool is_wide, uint32_t output,
                       uint64_t mtime, uint32_t first, uint32_t second)
{
	add_word(out, 0x80000000u | (is_wide ? 20 : 16));
	add_word(out, output);
	add_word(out, (uint32_t)mtime);
	if (is_wide)
		add_word(out, (uint32_t)(mtime >> 32));
	add_word(out, first);
	add_word(out, second);
}

/* Two outputs, the first of which was made twice. */
static void make_deps(struct tkb_buf *out, uint32_t version, uint64_t mtime)
{
	const bool is_wide = version == 4;

	tkb_buf_add_text(out, "# ninjadeps\n");
	add_word(out, version);
	add_path(out, "a.o", 0);
	add_path(out, "a.h", 1);
	add_path(out, "/usr/include/x.h", 2);
	add_record(out, is_wide, 0, mtime, 1, 1);
	add_path(out, "b.o", 3);
	add_record(out, is_wide, 3, mtime, 1, 2);
	add_record(out, is_wide, 0, mtime, 2, 1);
}

TEST(ninja_log, of_an_output_the_last_row_counts)
{
	for (int version = 5; version <= 7; version++) {
		TKB_AUTO(tkb_ninja_log_release)
		struct tkb_ninja_log log = { 0 };

		OK(read_log(
			tkb_text(text("# ninja log v%d\n"
		                      "1\t2\t1700000000000000001\tb c\tf00\n"
		                      "1\t2\t1700000000000000002\ta\tf00\n"
		                      "3\t4\t1700000000000000003\tb c\tf01\n"
		                      "3\t4\t1700000000\told\tf01\n"
		                      "3\t4\t0\tz\tf01\n",
		                      version)),
			&log, ERR));
		CHECK_INT(log.output_count, 4);
		CHECK_STR(log.outputs[0].output, "a");
		CHECK_INT(log.outputs[0].mtime, 1700000000000000002);
		CHECK_STR(log.outputs[1].output, "b c");
		CHECK_INT(log.outputs[1].mtime, 1700000000000000003);
		CHECK_STR(log.outputs[2].output, "old");
		CHECK_INT(log.outputs[2].mtime, 1700000000000000000);
		CHECK_INT(log.outputs[3].mtime, 0);
	}
}

TEST(ninja_log, what_is_none_is_refused)
{
	static const struct {
		const char *text;
		const char *says;
	} cases[] = {
		{ "", "ninja's log is empty" },
		{ "# ninja log v7", "line 1 of ninja's log has no end" },
		{ "# ninja log v4\n", "has version 4" },
		{ "# ninja log v8\n", "has version 8" },
		{ "# ninja log v55\n", "line 1 of ninja's log is no version" },
		{ "#\n", "line 1 of ninja's log is no version" },
		{ "\n", "line 1 of ninja's log is no version" },
		{ "# ninja log v7\n1\t2\t3\ta\n", "line 2 of ninja's log has "
		                                  "less than five fields" },
		{ "# ninja log v7\n\n", "has less than five fields" },
		{ "# ninja log v7\n1\t2\t3\ta\tf",
		  "line 2 of ninja's log has no "
		  "end" },
		{ "# ninja log v7\n1\t2\tx\ta\tf\n",
		  "has a time that is none" },
		{ "# ninja log v7\n1\t2\t\ta\tf\n", "has a time that is none" },
		{ "# ninja log v7\n1\t2\t-1\ta\tf\n",
		  "has a time that is none" },
		{ "# ninja log v7\n1\t2\t99999999999999999999\ta\tf\n",
		  "has a time that is none" },
		{ "# ninja log v7\n1\t2\t9223372036854775808\ta\tf\n",
		  "has a time that is none" },
		{ "# ninja log v7\n1\t2\t3\t\tf\n", "has a path that is none" },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		TKB_AUTO(tkb_ninja_log_release)
		struct tkb_ninja_log log = { 0 };

		FAILS(read_log(tkb_text(cases[i].text), &log, ERR),
		      TKB_ERR_CORRUPT, cases[i].says);
		CHECK_INT(ERR->reason, TKB_REASON_METADATA);
		CHECK_INT(log.output_count, 0);
	}
}

TEST(ninja_deps, of_an_output_the_last_record_counts)
{
	for (uint32_t version = 3; version <= 4; version++) {
		TKB_AUTO(tkb_buf_release)
		struct tkb_buf bytes = TKB_BUF_INIT(TKB_MIB);
		TKB_AUTO(tkb_ninja_deps_release)
		struct tkb_ninja_deps deps = { 0 };

		make_deps(&bytes, version, 7);
		OK(read_deps(tkb_buf_bytes(&bytes), &deps, ERR));
		CHECK_INT(deps.count, 2);
		CHECK_STR(deps.items[0].output, "a.o");
		CHECK_INT(deps.items[0].input_count, 2);
		CHECK_STR(deps.items[0].inputs[0], "/usr/include/x.h");
		CHECK_STR(deps.items[0].inputs[1], "a.h");
		CHECK_STR(deps.items[1].output, "b.o");
		CHECK_STR(deps.items[1].inputs[0], "a.h");
	}
}

TEST(ninja_deps, what_is_none_is_refused)
{
	static const struct {
		const char *says;
		size_t size;
		const char *bytes;
	} cases[] = {
		{ "do not begin as such", 0, "" },
		{ "do not begin as such", 15, "# ninjadeps\n\4\0\0" },
		{ "have version 5", 16, "# ninjadeps\n\5\0\0\0" },
		{ "they end in a record", 19, "# ninjadeps\n\4\0\0\0\1\0\0" },
		{ "they end in a record", 24,
		  "# ninjadeps\n\4\0\0\0\10\0\0\0abcd" },
		{ "a record of a wrong size", 20,
		  "# ninjadeps\n\4\0\0\0\0\0\0\0" },
		{ "a record of a wrong size", 20,
		  "# ninjadeps\n\4\0\0\0\xff\xff\xff\x7f" },
		{ "a record of a wrong size", 20,
		  "# ninjadeps\n\4\0\0\0\xff\xff\xff\xff" },
		{ "a record of a wrong size", 24,
		  "# ninjadeps\n\4\0\0\0\4\0\0\x80\0\0\0\0" },
		{ "a path that is none", 24,
		  "# ninjadeps\n\4\0\0\0\4\0\0\0\xff\xff\xff\xff" },
		{ "a path that is none", 28,
		  "# ninjadeps\n\4\0\0\0\10\0\0\0\0\0\0\0\xff\xff\xff\xff" },
		{ "a path that is none", 28,
		  "# ninjadeps\n\4\0\0\0\10\0\0\0a\0b\0\xff\xff\xff\xff" },
		{ "a path with a wrong number", 28,
		  "# ninjadeps\n\4\0\0\0\10\0\0\0a\0\0\0\xfe\xff\xff\xff" },
		{ "an output that has no path", 32,
		  "# ninjadeps\n\4\0\0\0\14\0\0\x80\0\0\0\0\0\0\0\0\0\0\0\0" },
	};

	for (size_t i = 0; i < TKB_COUNT_OF(cases); i++) {
		TKB_AUTO(tkb_ninja_deps_release)
		struct tkb_ninja_deps deps = { 0 };

		FAILS(read_deps((struct tkb_bytes){ cases[i].bytes,
		                                    cases[i].size },
		                &deps, ERR),
		      TKB_ERR_CORRUPT, cases[i].says);
		CHECK_INT(ERR->reason, TKB_REASON_METADATA);
	}
}

TEST(ninja_deps, an_input_that_has_no_path_is_refused)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf bytes = TKB_BUF_INIT(TKB_MIB);
	TKB_AUTO(tkb_ninja_deps_release) struct tkb_ninja_deps deps = { 0 };

	make_deps(&bytes, 4, 7);
	add_record(&bytes, true, 0, 7, 3, 4);
	FAILS(read_deps(tkb_buf_bytes(&bytes), &deps, ERR), TKB_ERR_CORRUPT,
	      "an input that has no path");
}

TEST(ninja_deps, no_damage_is_read_past_its_end)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf bytes = TKB_BUF_INIT(TKB_MIB);

	make_deps(&bytes, 4, 7);
	for (size_t i = 0; i < bytes.size * 9; i++) {
		TKB_AUTO(tkb_ninja_deps_release)
		struct tkb_ninja_deps deps = { 0 };
		struct tkb_error err = { 0 };
		const size_t at = i / 9;
		const bool is_cut = i % 9 == 8;
		const unsigned char flip =
			is_cut ? 0 : (unsigned char)(1u << i % 9);
		int rc;

		bytes.data[at] ^= flip;
		rc = read_deps((struct tkb_bytes){ bytes.data,
		                                   is_cut ? at : bytes.size },
		               &deps, &err);
		CHECK(rc == 0 || (rc == TKB_ERR_CORRUPT &&
		                  err.reason == TKB_REASON_METADATA));
		bytes.data[at] ^= flip;
	}
}

TEST(ninja_stamp, gives_times_and_changes_nothing_else)
{
	const char *log = "# ninja log v5\n1\t2\t1700000000000000001\ta.o\tf0\n"
			  "1\t2\t1700000000\tb.o\tf1\n"
			  "1\t2\t1700000000000000001\tc.o\tf2\n"
			  "1\t2\t0\ta.o\tf3\n";
	const struct tkb_ninja_mtime mtimes[] = {
		{ "b.o", 1800000000000000002 },
		{ "a.o", 1800000000000000001 },
	};

	for (uint32_t version = 3; version <= 4; version++) {
		TKB_AUTO(tkb_buf_release)
		struct tkb_buf deps = TKB_BUF_INIT(TKB_MIB);
		TKB_AUTO(tkb_buf_release)
		struct tkb_buf wanted = TKB_BUF_INIT(TKB_MIB);
		TKB_AUTO(tkb_buf_release)
		struct tkb_buf log_out = TKB_BUF_INIT(TKB_MIB);
		TKB_AUTO(tkb_buf_release)
		struct tkb_buf deps_out = TKB_BUF_INIT(TKB_MIB);

		make_deps(&deps, version, 7);
		make_deps(&wanted, version,
		          version == 4 ? 1800000000000000001 : 1800000000);
		if (version == 4) /* that of b.o */
			wanted.data[12 + 4 + 12 + 12 + 24 + 24 + 12 + 8] = 2;
		OK(tkb_ninja_stamp(tkb_text(log), tkb_buf_bytes(&deps), mtimes,
		                   2, &log_out, &deps_out, ERR));
		tkb_buf_add_byte(&log_out, '\0');
		CHECK_STR((const char *)log_out.data,
		          "# ninja log v5\n1\t2\t1800000000000000001\ta.o\tf0\n"
		          "1\t2\t1800000000\tb.o\tf1\n"
		          "1\t2\t1700000000000000001\tc.o\tf2\n"
		          "1\t2\t1800000000000000001\ta.o\tf3\n");
		CHECK_INT(deps_out.size, wanted.size);
		assert_memory_equal(deps_out.data, wanted.data, wanted.size);
	}
}

TEST(ninja_stamp, times_that_cannot_be_given_are_refused)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf out = TKB_BUF_INIT(TKB_MIB);
	const struct tkb_ninja_mtime mtimes[] = { { "b.o", 1 } };
	const struct tkb_ninja_mtime none[] = { { "a.o", 0 } };
	const struct tkb_ninja_mtime twice[] = { { "a.o", 1 }, { "a.o", 2 } };
	const char *log = "# ninja log v7\n1\t2\t3\ta.o\tf\n";

	FAILS(tkb_ninja_stamp(tkb_text(log), (struct tkb_bytes){ NULL, 0 },
	                      mtimes, 1, &out, &out, ERR),
	      TKB_ERR_CORRUPT, "ninja's log does not know 'b.o'");
	CHECK_INT(ERR->reason, TKB_REASON_MISSING);
	FAILS(tkb_ninja_stamp(tkb_text(log), (struct tkb_bytes){ NULL, 0 },
	                      none, 1, &out, &out, ERR),
	      TKB_ERR_INVALID, "'a.o' would have no time");
	FAILS(tkb_ninja_stamp(tkb_text(log), (struct tkb_bytes){ NULL, 0 },
	                      twice, 2, &out, &out, ERR),
	      TKB_ERR_INVALID, "'a.o' is given two times");
	FAILS(tkb_ninja_stamp(tkb_text(log), tkb_text("# ninjadeps"), none, 0,
	                      &out, &out, ERR),
	      TKB_ERR_CORRUPT, "do not begin as such");
}
