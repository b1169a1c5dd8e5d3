/* SPDX-License-Identifier: Apache-2.0 */
#include "ninja/hash.h"
#include "ninja/logs.h"

#include "harness.h"

/* What its block releases. */
#define LOG(name)                                                              \
	TKB_AUTO(tkb_ninja_log_release) struct tkb_ninja_log name = { 0 }
#define DEPS(name)                                                             \
	TKB_AUTO(tkb_ninja_deps_release) struct tkb_ninja_deps name = { 0 }

static int read_log(struct tkb_bytes given, struct tkb_ninja_log *out,
                    struct tkb_error *err)
{
	const struct tkb_bytes copy = test_exact(given);
	const int rc = tkb_ninja_log_read(copy, out, err);

	test_spoil(copy);
	return rc;
}

static int read_deps(struct tkb_bytes given, struct tkb_ninja_deps *out,
                     struct tkb_error *err)
{
	const struct tkb_bytes copy = test_exact(given);
	const int rc = tkb_ninja_deps_read(copy, out, err);

	test_spoil(copy);
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
		LOG(log);

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
		CHECK_STR(log.outputs[0].name, "a");
		CHECK_INT(log.outputs[0].mtime, 1700000000000000002);
		CHECK_STR(log.outputs[1].name, "b c");
		CHECK_INT(log.outputs[1].mtime, 1700000000000000003);
		CHECK_INT(log.outputs[1].hash, 0xf01);
		CHECK_INT(log.version, version);
		CHECK_STR(log.outputs[2].name, "old");
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
		{ "# ninja log v55\n",
		  "line 1 of ninja's log does not state its version" },
		{ "#\n", "line 1 of ninja's log does not state its version" },
		{ "\n", "line 1 of ninja's log does not state its version" },
		{ "# ninja log v7\n1\t2\t3\ta\n", "line 2 of ninja's log has "
		                                  "less than five fields" },
		{ "# ninja log v7\n\n", "has less than five fields" },
		{ "# ninja log v7\n1\t2\t3\ta\tf",
		  "line 2 of ninja's log has no "
		  "end" },
		{ "# ninja log v7\n1\t2\tx\ta\tf\n", "has an invalid time" },
		{ "# ninja log v7\n1\t2\t\ta\tf\n", "has an invalid time" },
		{ "# ninja log v7\n1\t2\t-1\ta\tf\n", "has an invalid time" },
		{ "# ninja log v7\n1\t2\t99999999999999999999\ta\tf\n",
		  "has an invalid time" },
		{ "# ninja log v7\n1\t2\t9223372036854775808\ta\tf\n",
		  "has an invalid time" },
		{ "# ninja log v7\n1\t2\t3\t\tf\n", "has an invalid path" },
		{ "# ninja log v7\n1\t2\t3\ta\tx\n", "has an invalid hash" },
		{ "# ninja log v7\n1\t2\t3\ta\t\n", "has an invalid hash" },
		{ "# ninja log v7\n1\t2\t3\ta\t12345678123456781\n",
		  "has an invalid hash" },
	};

	EACH(i, cases) {
		LOG(log);

		FAILS(read_log(tkb_text(cases[i].text), &log, ERR),
		      TKB_ERR_CORRUPT, cases[i].says);
		CHECK_INT(ERR->reason, TKB_REASON_METADATA);
		CHECK_INT(log.output_count, 0);
	}
}

TEST(ninja_deps, of_an_output_the_last_record_counts)
{
	for (uint32_t version = 3; version <= 4; version++) {
		BUF(bytes, TKB_MIB);
		DEPS(deps);

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
		{ "do not begin as they should", 0, "" },
		{ "do not begin as they should", 15, "# ninjadeps\n\4\0\0" },
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
		{ "an invalid path", 24,
		  "# ninjadeps\n\4\0\0\0\4\0\0\0\xff\xff\xff\xff" },
		{ "an invalid path", 28,
		  "# ninjadeps\n\4\0\0\0\10\0\0\0\0\0\0\0\xff\xff\xff\xff" },
		{ "an invalid path", 28,
		  "# ninjadeps\n\4\0\0\0\10\0\0\0a\0b\0\xff\xff\xff\xff" },
		{ "a path with a wrong number", 28,
		  "# ninjadeps\n\4\0\0\0\10\0\0\0a\0\0\0\xfe\xff\xff\xff" },
		{ "an output that has no path", 32,
		  "# ninjadeps\n\4\0\0\0\14\0\0\x80\0\0\0\0\0\0\0\0\0\0\0\0" },
	};

	EACH(i, cases) {
		DEPS(deps);

		FAILS(read_deps((struct tkb_bytes){ cases[i].bytes,
		                                    cases[i].size },
		                &deps, ERR),
		      TKB_ERR_CORRUPT, cases[i].says);
		CHECK_INT(ERR->reason, TKB_REASON_METADATA);
	}
}

TEST(ninja_deps, an_input_that_has_no_path_is_refused)
{
	BUF(bytes, TKB_MIB);
	DEPS(deps);

	make_deps(&bytes, 4, 7);
	add_record(&bytes, true, 0, 7, 3, 4);
	FAILS(read_deps(tkb_buf_bytes(&bytes), &deps, ERR), TKB_ERR_CORRUPT,
	      "an input that has no path");
}

TEST(ninja_deps, no_damage_is_read_past_its_end)
{
	BUF(bytes, TKB_MIB);

	make_deps(&bytes, 4, 7);
	for (size_t i = 0; i < bytes.size * 9; i++) {
		DEPS(deps);
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

TEST(ninja_log, what_is_written_is_read_again)
{
	static const char text[] = "# ninja log v6\n"
				   "0\t0\t1700000000000000002\ta b\tf00\n"
				   "0\t0\t1700000000000000003\tc\t1\n";
	LOG(log);
	BUF(out, TKB_MIB);
	struct tkb_error err = { 0 };

	CHECK_OK(read_log(tkb_text(text), &log, &err), &err);
	tkb_ninja_log_write(&log, &out);
	CHECK_INT(out.size, strlen(text));
	assert_memory_equal(out.data, text, out.size);
	CHECK_INT(tkb_ninja_log_find(&log, "c")->hash, 1);
	CHECK(tkb_ninja_log_find(&log, "d") == NULL);
}

TEST(ninja_deps, what_is_written_is_read_again)
{
	for (uint32_t version = 3; version <= 4; version++) {
		BUF(bytes, TKB_MIB);
		BUF(out, TKB_MIB);
		DEPS(deps);
		DEPS(again);
		struct tkb_error err = { 0 };

		make_deps(&bytes, version,
		          version == 4 ? 1700000000000000001 : 1700000000);
		CHECK_OK(read_deps(tkb_buf_bytes(&bytes), &deps, &err), &err);
		CHECK_OK(tkb_ninja_deps_write(&deps, &out, &err), &err);
		CHECK_OK(read_deps(tkb_buf_bytes(&out), &again, &err), &err);
		CHECK_INT(again.count, 2);
		CHECK_STR(again.items[0].output, "a.o");
		CHECK_INT(again.items[0].mtime, version == 4
		                                        ? 1700000000000000001
		                                        : 1700000000000000000);
		CHECK_INT(again.items[0].input_count, 2);
		CHECK_STR(again.items[0].inputs[0], "/usr/include/x.h");
		CHECK_STR(again.items[0].inputs[1], "a.h");
		CHECK_STR(tkb_ninja_deps_find(&again, "b.o")->inputs[0], "a.h");
		CHECK(tkb_ninja_deps_find(&again, "c.o") == NULL);
	}
}

/* As ninja's own sources hash: 1.11.1's for 5 and 6, 1.13.2's for 7. */
TEST(ninja_hash, is_that_of_ninja)
{
	char bytes[101];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7);
#define HASH(version, size)                                                    \
	tkb_ninja_hash(version, (struct tkb_bytes){ bytes, size })
	CHECK(HASH(5, 0) == UINT64_C(0x87c2bc0beaf1d91d));
	CHECK(HASH(7, 0) == UINT64_C(0x5a6ef77074ebc84b));
	CHECK(HASH(6, 1) == UINT64_C(0x124ceecf6637ed9e));
	CHECK(HASH(7, 1) == UINT64_C(0x48dfce108249b3f8));
	CHECK(HASH(5, 3) == UINT64_C(0x2a022043d345eff1));
	CHECK(HASH(7, 3) == UINT64_C(0xe6836e21793ca821));
	CHECK(HASH(6, 4) == UINT64_C(0x2d6f8d0d62d4ba20));
	CHECK(HASH(7, 4) == UINT64_C(0x2b3529c7e5668b2e));
	CHECK(HASH(5, 8) == UINT64_C(0xff9a2545b2036559));
	CHECK(HASH(7, 8) == UINT64_C(0x8e1f72b9bfb73993));
	CHECK(HASH(6, 15) == UINT64_C(0xe8322142eeaaf57c));
	CHECK(HASH(7, 15) == UINT64_C(0x908baf901da71400));
	CHECK(HASH(5, 16) == UINT64_C(0x55e67b468390bd1a));
	CHECK(HASH(7, 16) == UINT64_C(0x50a6574ee8c5f802));
	CHECK(HASH(6, 17) == UINT64_C(0xb3f133362549f305));
	CHECK(HASH(7, 17) == UINT64_C(0x63252588fa30261));
	CHECK(HASH(7, 33) == UINT64_C(0xbfaf9b8556581368));
	CHECK(HASH(7, 48) == UINT64_C(0xe60a82ca2ac29230));
	CHECK(HASH(7, 49) == UINT64_C(0xc943f9e113661ceb));
	CHECK(HASH(7, 97) == UINT64_C(0x119af85e3aabcd41));
	CHECK(HASH(7, 101) == UINT64_C(0x929d1287486d82ae));
#undef HASH
}
