/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tkbundle/amount.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/digest.h"
#include "base/draft.h"
#include "base/fd.h"
#include "base/parallel.h"
#include "base/path.h"
#include "base/utf8.h"

#include "harness.h"

#define BYTES(literal)                                                         \
	{                                                                      \
		(literal), sizeof(literal) - 1                                 \
	}

TEST(buf, is_printed_into_up_to_its_limit)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf buf = TKB_BUF_INIT(5);

	tkb_print(&buf, "%s", "");
	CHECK_STR((const char *)buf.data, "");
	tkb_print(&buf, "%s%d", "abc", 12);
	CHECK_STR((const char *)buf.data, "abc12");
	CHECK_INT(buf.size, 5);
	CHECK_INT(buf.limit, 5);
	OK(tkb_buf_check(&buf, ERR));

	tkb_print(&buf, "%c", '3');
	CHECK_INT(tkb_buf_check(&buf, NULL), TKB_ERR_TOO_LARGE);
	CHECK_STR((const char *)buf.data, "abc12");
	CHECK_INT(buf.size, 5);
}

/* It must not be left out without a word. */
TEST(buf, is_not_printed_into_what_printf_refuses)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf buf = TKB_BUF_INIT(SIZE_MAX);
	volatile int width = INT_MAX; /* the compiler would refuse it */

	tkb_print(&buf, "%*sabc", width, "");
	CHECK_INT(tkb_buf_check(&buf, NULL), TKB_ERR_TOO_LARGE);
	CHECK_INT(buf.size, 0);
}

TEST(base, texts_are_looked_up_among_none_one_and_many)
{
	const char *texts[] = { "c", "a", "b", "a", "ab" };
	const char *const sorted[] = { "a", "ab", "b", "c" };

	CHECK_INT(tkb_sort_texts(NULL, 0), 0);
	CHECK(!tkb_is_among_sorted("a", NULL, 0));
	CHECK(!tkb_is_among("a", NULL, 0));
	CHECK_INT(tkb_sort_texts(texts, TKB_COUNT_OF(texts)), 4);
	for (size_t i = 0; i < TKB_COUNT_OF(sorted); i++) {
		CHECK_STR(texts[i], sorted[i]);
		CHECK(tkb_is_among_sorted(sorted[i], sorted,
		                          TKB_COUNT_OF(sorted)));
		CHECK(tkb_is_among(sorted[i], sorted, i + 1));
		CHECK(!tkb_is_among(sorted[i], sorted, i));
	}
	CHECK(!tkb_is_among_sorted("", sorted, TKB_COUNT_OF(sorted)));
	CHECK(!tkb_is_among_sorted("abc", sorted, TKB_COUNT_OF(sorted)));

	CHECK(tkb_begins_with("cuda:90", "cuda:"));
	CHECK(tkb_begins_with("cuda:", "cuda:"));
	CHECK(tkb_begins_with("", ""));
	CHECK(!tkb_begins_with("cuda", "cuda:"));
}

TEST(utf8, of_every_code_point_is_decoded_to_it)
{
	for (uint32_t code = 0; code <= 0x10ffff; code++) {
		const bool is_surrogate = code >= 0xd800 && code < 0xe000;
		char encoded[4];
		const struct tkb_bytes bytes = {
			encoded, tkb_utf8_encode(code, encoded)
		};
		uint32_t decoded = 0;
		const size_t length = tkb_utf8_decode(bytes, &decoded);

		if (length != (is_surrogate ? 0 : bytes.size) ||
		    (!is_surrogate && decoded != code))
			fail_msg("U+%04X is decoded to U+%04X", (unsigned)code,
			         (unsigned)decoded);
	}
}

static void check_shown(const char *text, const char *wanted)
{
	char shown[256];

	CHECK_INT(tkb_text_show(text, shown, sizeof(shown)), strlen(wanted));
	CHECK_STR(shown, wanted);
	CHECK_INT(tkb_text_show(text, NULL, 0), strlen(wanted));
}

TEST(text, is_shown_without_what_a_terminal_obeys)
{
	check_shown("", "");
	check_shown("add_kernel", "add_kernel");
	check_shown("Straße 内核 👍", "Straße 内核 👍");
	check_shown("a\x1b[1m\n\x7f", "a\\x1b[1m\\x0a\\x7f");
	check_shown("\xc2\x85|\xc2\x9b", "\\xc2\\x85|\\xc2\\x9b");
	check_shown("\xff|\xe2\x80", "\\xff|\\xe2\\x80");
	check_shown("\u202e\u2066\u200f\u061c",
	            "\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xe2\\x80\\x8f"
	            "\\xd8\\x9c");
	check_shown("\u2028|\u2029|\u200b",
	            "\\xe2\\x80\\xa8|\\xe2\\x80\\xa9|\\xe2\\x80\\x8b");
}

TEST(text, that_is_shown_is_cut_behind_a_whole_character)
{
	static const char text[] = "aé\x1b"
				   "b";

	for (size_t size = 1; size < 9; size++) {
		static const char *const wanted[] = { "",   "",   "a",
			                              "a",  "aé", "aé",
			                              "aé", "aé", "aé\\x1b" };
		char shown[16];

		CHECK_INT(tkb_text_show(text, shown, size), 8);
		CHECK_STR(shown, wanted[size]);
	}
}

TEST(text, of_an_error_is_harmless)
{
	struct tkb_error err = { 0 };

	(void)tkb_fail(&err, TKB_ERR_IO, "no '%s'", "\u202ekcab\n\x9b");
	CHECK_STR(err.message, "no '\\xe2\\x80\\xaekcab\\x0a\\x9b'");
	(void)tkb_fail_while(&err, TKB_ERR_IO, "in '%s'", "\u2029");
	CHECK_STR(err.message, "in '\\xe2\\x80\\xa9': "
	                       "no '\\xe2\\x80\\xaekcab\\x0a\\x9b'");
}

TEST(utf8, takes_one_to_four_bytes)
{
	static const struct {
		uint32_t code;
		const char *bytes;
	} cases[] = {
		{ 0x41, "A" },
		{ 0x7f, "\x7f" },
		{ 0x80, "\xc2\x80" },
		{ 0x7ff, "\xdf\xbf" },
		{ 0x800, "\xe0\xa0\x80" },
		{ 0xd800, "\xed\xa0\x80" },
		{ 0xffff, "\xef\xbf\xbf" },
		{ 0x10000, "\xf0\x90\x80\x80" },
		{ 0x10ffff, "\xf4\x8f\xbf\xbf" },
	};

	EACH(i, cases) {
		const size_t size = strlen(cases[i].bytes);
		char encoded[4];

		CHECK_INT(tkb_utf8_encode(cases[i].code, encoded), size);
		assert_memory_equal(encoded, cases[i].bytes, size);
	}
}

TEST(utf8, of_two_bytes_that_is_valid_is_the_shortest_form)
{
	for (unsigned pair = 0; pair < 0x10000; pair++) {
		const unsigned first = pair >> 8;
		const unsigned second = pair & 0xff;
		const char both[] = { (char)first, (char)second };
		const bool is_valid = (first < 0x80 && second < 0x80) ||
		                      (first >= 0xc2 && first < 0xe0 &&
		                       second >= 0x80 && second < 0xc0);

		if (tkb_utf8_is_valid((struct tkb_bytes){ both, 2 }) !=
		    is_valid)
			fail_msg("%02x %02x", first, second);
	}
}

TEST(utf8, is_valid_only_where_each_part_is)
{
	static const struct {
		struct tkb_bytes bytes;
		bool is_valid;
	} cases[] = {
		{ BYTES(""), true },
		{ BYTES("\0"), true },
		{ BYTES("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"), true },
		{ BYTES("\xe0\xa0\x80"), true },
		{ BYTES("\xe0\x9f\xbf"), false },
		{ BYTES("\xed\x9f\xbf"), true },
		{ BYTES("\xed\xa0\x80"), false },
		{ BYTES("\xf0\x90\x80\x80"), true },
		{ BYTES("\xf0\x8f\xbf\xbf"), false },
		{ BYTES("\xf4\x8f\xbf\xbf"), true },
		{ BYTES("\xf4\x90\x80\x80"), false },
		{ BYTES("\xf5\x80\x80\x80"), false },
		{ BYTES("\xe2\x82"), false },
		{ BYTES("\xf0\x9f\x98"), false },
		{ BYTES("\xe2\x82z"), false },
		{ BYTES("ok\xff"), false },
		{ BYTES("\x80"), false },
		{ BYTES("\xfe"), false },
	};

	EACH(i, cases)
		CHECK_INT(tkb_utf8_is_valid(cases[i].bytes), cases[i].is_valid);
}

TEST(utf8, does_not_go_on_in_what_lies_behind)
{
	static const char *const characters[] = { "\xc3\xa9", "\xe2\x82\xac",
		                                  "\xf0\x9f\x98\x80" };

	EACH(i, characters) {
		const struct tkb_bytes whole = tkb_text(characters[i]);

		CHECK(tkb_utf8_is_valid(whole));
		for (size_t size = 1; size < whole.size; size++)
			CHECK(!tkb_utf8_is_valid(
				tkb_bytes_slice(whole, 0, size)));
	}
}

TEST(utf8, of_no_bytes_is_no_code_point)
{
	uint32_t code = 42;

	CHECK_INT(tkb_utf8_decode((struct tkb_bytes){ NULL, 0 }, &code), 0);
	CHECK_INT(code, 42);
}

TEST(text, is_repaired_where_it_is_no_utf8)
{
	static const struct {
		const char *text;
		const char *repaired;
	} cases[] = {
		{ "", "" },
		{ "plain \xc3\xa9", "plain \xc3\xa9" },
		{ "\xff", "\xef\xbf\xbd" },
		{ "a\xc3", "a\xef\xbf\xbd" },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xf0\x9f\x98\x80\x80", "\xf0\x9f\x98\x80\xef\xbf\xbd" },
	};

	EACH(i, cases) {
		char out[32];

		CHECK_INT(tkb_text_repair(cases[i].text, NULL, 0),
		          strlen(cases[i].repaired));
		CHECK_INT(tkb_text_repair(cases[i].text, out, sizeof(out)),
		          strlen(cases[i].repaired));
		CHECK_STR(out, cases[i].repaired);
		(void)tkb_text_repair(cases[i].text, out, 4);
		CHECK(strlen(out) < 4 && tkb_utf8_is_valid(tkb_text(out)));
	}
}

/* A text that is no amount gives `NONE`, and leaves `out` alone. */
#define NONE 77

struct amount {
	const char *text;
	uint64_t value;
};

TEST(amount, of_bytes_is_a_number_and_a_unit)
{
	static const struct amount cases[] = {
		{ "0", 0 },
		{ "500", 500 },
		{ "12B", 12 },
		{ "5k", 5000 },
		{ "5K", 5000 },
		{ "5Ki", 5120 },
		{ "20GB", 20000000000 },
		{ "20GiB", 21474836480 },
		{ "1T", 1000000000000 },
		{ "1Ti", 1099511627776 },
		{ "15Ei", UINT64_C(15) << 60 },
		{ "18446744073709551615", UINT64_MAX },
		{ "18446744073709551616", NONE },
		{ "16Ei", NONE },
		{ "", NONE },
		{ "M", NONE },
		{ "-1", NONE },
		{ " 1", NONE },
		{ "1 M", NONE },
		{ "1.5M", NONE },
		{ "1m", NONE },
		{ "1i", NONE },
		{ "1Bi", NONE },
		{ "1MBx", NONE },
	};

	EACH(i, cases) {
		uint64_t value = NONE;

		if (tkb_size_parse(cases[i].text, &value) !=
		            (cases[i].value != NONE) ||
		    value != cases[i].value)
			fail_msg("'%s' gives %llu", cases[i].text,
			         (unsigned long long)value);
	}
}

TEST(amount, of_time_is_a_number_and_a_unit_unless_one_is_understood)
{
	static const struct amount cases[] = {
		{ "500ms", 500 },
		{ "5s", 5000 },
		{ "2m", 120000 },
		{ "1h", 3600000 },
		{ "30d", 2592000000 },
		{ "0s", 0 },
		{ "s", NONE },
		{ "5 s", NONE },
		{ "5w", NONE },
		{ "5S", NONE },
		{ "", NONE },
		{ "-5s", NONE },
		{ "18446744073709551615s", NONE },
	};
	uint64_t value = NONE;

	EACH(i, cases) {
		value = NONE;
		if (tkb_time_parse(cases[i].text, 0, &value) !=
		            (cases[i].value != NONE) ||
		    value != cases[i].value)
			fail_msg("'%s' gives %llu", cases[i].text,
			         (unsigned long long)value);
	}
	CHECK(!tkb_time_parse("5", 0, &value));
	CHECK(tkb_time_parse("5", 1000, &value));
	CHECK_INT(value, 5000);
}

TEST(path, is_made_absolute_without_resolving_it)
{
	static const struct {
		const char *path;
		const char *absolute; /* below the working directory, if not
		                         itself absolute */
	} cases[] = {
		{ "/", "/" },
		{ "//", "/" },
		{ "/.", "/" },
		{ "/a", "/a" },
		{ "/a/", "/a" },
		{ "//a///b//", "/a/b" },
		{ "/./a/./b/.", "/a/b" },
		{ "/a/../b", "/a/../b" },
		{ "/..", "/.." },
		{ "/.a/..b/c.", "/.a/..b/c." },
		{ "/ a/\xc3\xa9\"\\\xff", "/ a/\xc3\xa9\"\\\xff" },
		{ ".", "" },
		{ "./", "" },
		{ "a", "/a" },
		{ "./a//b/", "/a/b" },
		{ "..", "/.." },
		{ "../a", "/../a" },
	};

	EACH(i, cases) {
		struct tkb_buf *out = test_buf(8192);

		OK(tkb_path_absolute(cases[i].path, out, ERR));
		tkb_buf_add_byte(out, '\0');
		CHECK_STR((const char *)out->data,
		          text("%s%s",
		               cases[i].path[0] == '/' ? "" : test_folder(),
		               cases[i].absolute));
	}
}

TEST(path, through_a_link_stays_as_it_is_given)
{
	BUF(out, 8192);

	SYS(mkdir("real", 0777));
	SYS(symlink("real", "link"));

	OK(tkb_path_absolute("link/x", &out, ERR));
	tkb_buf_add_byte(&out, '\0');
	CHECK_STR((const char *)out.data, text("%s/link/x", test_folder()));
}

TEST(path, is_appended_to_what_is_there)
{
	BUF(out, 8192);

	tkb_buf_add_text(&out, "at ");
	OK(tkb_path_absolute("/", &out, ERR));
	CHECK(tkb_bytes_equal(tkb_buf_bytes(&out), tkb_text("at /")));
}

TEST(path, that_is_empty_or_too_long_is_refused)
{
	BUF(out, 4);

	FAILS(tkb_path_absolute("", &out, ERR), TKB_ERR_INVALID,
	      "the path is empty");
	FAILS(tkb_path_absolute("/abcd", &out, ERR), TKB_ERR_TOO_LARGE,
	      "limit of 4 bytes");
}

TEST(path, gets_its_folders_made)
{
	OK(tkb_path_make_folders("a/b/c", ERR));
	OK(tkb_path_make_folders("a/b/d/", ERR));
	OK(tkb_path_make_folders(text("%s/a", test_folder()), ERR));
	SYS(symlink("a", "link"));
	OK(tkb_path_make_folders("link/e", ERR));
	OK(tkb_path_make_folders("link", ERR));

	CHECK(exists("a/b/c"));
	CHECK(exists("a/b/d"));
	CHECK(exists("a/e"));
}

TEST(path, has_no_folder_where_a_file_stands)
{
	write_text("file", "x");

	FAILS(tkb_path_make_folders("file/a", ERR), TKB_ERR_IO,
	      "cannot make folder 'file/a'");
	FAILS(tkb_path_make_folders("file", ERR), TKB_ERR_IO,
	      "cannot make folder 'file'");
}

TEST(name, is_valid_if_a_bundle_may_hold_it)
{
	static const char *const good[] = { "a",
		                            "add_kernel.cubin",
		                            "__grp__k.json",
		                            "...",
		                            ".a",
		                            "a.",
		                            " ",
		                            "a b\\c\"",
		                            "\xc3\xa9",
		                            "\xf0\x9f\x98\x80",
		                            "-rf",
		                            "*",
		                            "[REPLACE]" };
	static const struct tkb_bytes bad[] = {
		BYTES(""),     BYTES("."),        BYTES(".."),
		BYTES("a/b"),  BYTES("/"),        BYTES("a/"),
		BYTES("a\nb"), BYTES("\x01"),     BYTES("\x1f"),
		BYTES("\x7f"), BYTES("a\0b"),     BYTES("\0"),
		BYTES("\xff"), BYTES("a\xc3"),    BYTES("\xed\xa0\x80"),
		BYTES("\t"),   BYTES("\xc0\xaf"), BYTES("../etc/passwd"),
	};

	EACH(i, good)
		CHECK(tkb_name_is_valid(tkb_text(good[i])));
	EACH(i, bad)
		CHECK(!tkb_name_is_valid(bad[i]));
}

TEST(name, has_at_most_255_bytes)
{
	char name[256];

	memset(name, 'a', sizeof(name));
	CHECK(tkb_name_is_valid((struct tkb_bytes){ name, 255 }));
	CHECK(!tkb_name_is_valid((struct tkb_bytes){ name, 256 }));
}

TEST(digest, is_64_lower_case_digits_and_nothing_else)
{
	static const char digits[] = "0123456789abcdef";
	struct tkb_digest digest = { { 0 } };
	char hex[TKB_DIGEST_HEX_SIZE];
	char back[TKB_DIGEST_HEX_SIZE];

	for (size_t i = 0; i < 64; i++)
		hex[i] = digits[i * 7 % 16];
	hex[64] = '\0';
	CHECK(tkb_digest_from_hex(tkb_text(hex), &digest));
	tkb_digest_to_hex(&digest, back);
	CHECK_STR(back, hex);

	for (int byte = 0; byte < 256; byte++) {
		const bool is_digit = byte != 0 && strchr(digits, byte) != NULL;

		for (size_t at = 0; at < 64; at += 63) {
			const char kept = hex[at];

			hex[at] = (char)byte;
			CHECK_INT(
				tkb_digest_from_hex(
					(struct tkb_bytes){ hex, 64 }, &digest),
				is_digit);
			hex[at] = kept;
		}
	}
	CHECK(!tkb_digest_from_hex((struct tkb_bytes){ hex, 63 }, &digest));
	CHECK(!tkb_digest_from_hex((struct tkb_bytes){ hex, 65 }, &digest));
}

TEST(buf, grows_to_its_limit_and_not_past_it)
{
	BUF(buf, 1000);

	for (int i = 0; i < 1000; i++)
		tkb_buf_add_byte(&buf, (char)('a' + i % 26));
	OK(tkb_buf_check(&buf, ERR));
	for (int i = 0; i < 1000; i++)
		CHECK_INT(buf.data[i], 'a' + i % 26);

	tkb_buf_add_byte(&buf, '!');
	FAILS(tkb_buf_check(&buf, ERR), TKB_ERR_TOO_LARGE,
	      "limit of 1000 bytes");
	CHECK_INT(buf.size, 1000);
	CHECK(buf.capacity <= buf.limit);
}

TEST(buf, drops_what_comes_after_a_failure)
{
	BUF(buf, 4);

	tkb_buf_add_text(&buf, "abc");
	tkb_buf_add_text(&buf, "de");
	tkb_buf_add_text(&buf, "f");
	tkb_buf_add_number(&buf, 1);

	CHECK(tkb_buf_reserve(&buf, 0) == NULL);
	CHECK_INT(tkb_buf_check(&buf, ERR), TKB_ERR_TOO_LARGE);
	CHECK(tkb_bytes_equal(tkb_buf_bytes(&buf), tkb_text("abc")));
}

TEST(buf, that_is_reset_has_forgotten_its_failure)
{
	BUF(buf, 4);

	tkb_buf_add_text(&buf, "abcde");
	tkb_buf_reset(&buf);
	tkb_buf_add_text(&buf, "abcd");

	OK(tkb_buf_check(&buf, ERR));
	CHECK(tkb_bytes_equal(tkb_buf_bytes(&buf), tkb_text("abcd")));
}

TEST(buf, refuses_a_size_that_would_overflow)
{
	BUF(buf, 100);

	tkb_buf_add_text(&buf, "a");
	CHECK(tkb_buf_reserve(&buf, SIZE_MAX) == NULL);
	CHECK_INT(buf.failure, TKB_ERR_TOO_LARGE);
}

TEST(buf, of_no_bytes_is_no_failure)
{
	BUF(buf, 0);

	tkb_buf_add(&buf, (struct tkb_bytes){ NULL, 0 });
	tkb_buf_add_text(&buf, "");
	OK(tkb_buf_check(&buf, ERR));
	CHECK_INT(buf.size, 0);
}

TEST(buf, writes_numbers_of_64_bits)
{
	BUF(buf, 100);

	tkb_buf_add_number(&buf, 0);
	tkb_buf_add_byte(&buf, ' ');
	tkb_buf_add_number(&buf, UINT64_MAX);
	CHECK(tkb_bytes_equal(tkb_buf_bytes(&buf),
	                      tkb_text("0 18446744073709551615")));
}

TEST(buf, as_a_sink_says_that_it_is_full)
{
	BUF(buf, 3);
	const struct tkb_sink sink = tkb_buf_sink(&buf);

	OK(sink.write(sink.self, tkb_text("ab"), ERR));
	CHECK_INT(sink.write(sink.self, tkb_text("cd"), ERR),
	          TKB_ERR_TOO_LARGE);
	CHECK(tkb_bytes_equal(tkb_buf_bytes(&buf), tkb_text("ab")));
}

TEST(buf, bytes_are_ordered_a_prefix_first)
{
	static const struct tkb_bytes ascending[] = {
		BYTES(""),     BYTES("\0"),       BYTES("A"),    BYTES("a"),
		BYTES("a\0"),  BYTES("aa"),       BYTES("b"),    BYTES("\x7f"),
		BYTES("\x80"), BYTES("\xc3\xa9"), BYTES("\xff"),
	};

	EACH(i, ascending) {
		EACH(j, ascending) {
			const int order =
				tkb_bytes_compare(ascending[i], ascending[j]);

			CHECK_INT((order > 0) - (order < 0), (i > j) - (i < j));
			CHECK_INT(tkb_bytes_equal(ascending[i], ascending[j]),
			          i == j);
		}
	}
}

TEST(arena, gives_zeroed_aligned_memory_that_stays)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	unsigned char *items[500];

	EACH(i, items) {
		const char *word = "odd";

		CHECK_STR(tkb_arena_string(&arena, tkb_text(word)), word);
		items[i] = tkb_arena_alloc(&arena, i, 3);
		CHECK(items[i] != NULL);
		CHECK_INT((uintptr_t)items[i] % _Alignof(max_align_t), 0);
		for (size_t j = 0; j < 3 * i; j++)
			CHECK_INT(items[i][j], 0);
		if (i != 0)
			memset(items[i], (int)(i & 0xff), 3 * i);
	}
	EACH(i, items) {
		for (size_t j = 0; j < 3 * i; j++)
			CHECK_INT(items[i][j], i & 0xff);
	}
}

TEST(arena, holds_what_is_larger_than_a_block)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	char *small = tkb_arena_string(&arena, tkb_text("small"));
	unsigned char *large = tkb_arena_alloc(&arena, 300, 1000);

	CHECK(large != NULL);
	memset(large, 0xff, (size_t)300 * 1000);
	CHECK_STR(small, "small");
	CHECK_STR(tkb_arena_string(&arena, tkb_text("next")), "next");
	CHECK_INT(large[300 * 1000 - 1], 0xff);
}

TEST(arena, ends_strings_with_a_zero)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	const struct tkb_bytes part = { "abcdef", 3 };

	CHECK_STR(tkb_arena_string(&arena, part), "abc");
	CHECK_STR(tkb_arena_string(&arena, (struct tkb_bytes){ NULL, 0 }), "");
}

TEST(arena, refuses_a_size_that_overflows)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	const struct tkb_bytes endless = { "", SIZE_MAX };

	CHECK(tkb_arena_alloc(&arena, SIZE_MAX / 2, 4) == NULL);
	CHECK(tkb_arena_alloc(&arena, SIZE_MAX, 1) == NULL);
	CHECK(tkb_arena_alloc(&arena, SIZE_MAX / 4 + 2, 4) == NULL);
	CHECK(tkb_arena_string(&arena, endless) == NULL);
	CHECK_STR(tkb_arena_string(&arena, tkb_text("still")), "still");
}

static void write_draft(struct tkb_draft *draft, const char *contents)
{
	OK(tkb_fd_write_all(draft->fd, tkb_text(contents), "a draft", ERR));
}

TEST(draft, is_seen_by_nobody_until_it_is_published)
{
	TKB_AUTO(tkb_fd_close_at)
	int nameless = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	TKB_AUTO(tkb_draft_close_at) struct tkb_draft *draft = NULL;

	OK(tkb_draft_open("target", &draft, ERR));
	write_draft(draft, "one ");
	write_draft(draft, "two");
	CHECK(!exists("target"));
	if (nameless >= 0) /* and so has none until then */
		CHECK_INT(count_names("."), 0);

	OK(tkb_draft_publish(draft, ERR));
	tkb_draft_close_at(&draft);
	CHECK_STR(read_file("target").data, "one two");
	CHECK_INT(count_names("."), 1);
}

TEST(draft, that_is_discarded_leaves_nothing)
{
	struct tkb_draft *draft = NULL;

	OK(tkb_draft_open("target", &draft, ERR));
	write_draft(draft, "x");
	tkb_draft_close_at(&draft);
	tkb_draft_close_at(&draft);

	CHECK(draft == NULL);
	CHECK_INT(count_names("."), 0);
}

TEST(draft, replaces_a_file_in_one_step)
{
	TKB_AUTO(tkb_fd_close_at) int old = -1;
	TKB_AUTO(tkb_draft_close_at) struct tkb_draft *draft = NULL;
	char byte = 0;

	write_text("target", "old");
	old = open("target", O_RDONLY | O_CLOEXEC);
	OK(tkb_draft_open("target", &draft, ERR));
	write_draft(draft, "new");
	CHECK_STR(read_file("target").data, "old");

	OK(tkb_draft_publish(draft, ERR));
	tkb_draft_close_at(&draft);
	CHECK_STR(read_file("target").data, "new");
	CHECK_INT(read(old, &byte, 1), 1);
	CHECK_INT(byte, 'o');
	CHECK_INT(count_names("."), 1);
}

TEST(draft, of_one_file_does_not_disturb_another)
{
	TKB_AUTO(tkb_draft_close_at) struct tkb_draft *first = NULL;
	TKB_AUTO(tkb_draft_close_at) struct tkb_draft *second = NULL;

	OK(tkb_draft_open("target", &first, ERR));
	OK(tkb_draft_open("target", &second, ERR));
	write_draft(first, "first");
	write_draft(second, "second");

	OK(tkb_draft_publish(second, ERR));
	CHECK_STR(read_file("target").data, "second");
	OK(tkb_draft_publish(first, ERR));
	CHECK_STR(read_file("target").data, "first");
	CHECK_INT(count_names("."), 1);
}

TEST(draft, gets_the_mode_that_the_umask_leaves)
{
	TKB_AUTO(tkb_draft_close_at) struct tkb_draft *draft = NULL;
	const mode_t old = umask(027);
	struct stat status;

	OK(tkb_draft_open("target", &draft, ERR));
	OK(tkb_draft_publish(draft, ERR));
	(void)umask(old);

	SYS(stat("target", &status));
	CHECK_INT(status.st_mode & 07777, 0640);
}

TEST(draft, that_cannot_be_published_leaves_nothing)
{
	struct tkb_draft *draft = NULL;

	OK(tkb_draft_open("target", &draft, ERR));
	write_draft(draft, "x");
	SYS(mkdir("target", 0777));

	FAILS(tkb_draft_publish(draft, ERR), TKB_ERR_IO,
	      "cannot write 'target'");
	tkb_draft_close_at(&draft);
	CHECK_INT(count_names("."), 1);
	CHECK_INT(count_names("target"), 0);
}

TEST(draft, needs_a_folder_and_no_folder_of_its_name)
{
	TKB_AUTO(tkb_draft_close_at) struct tkb_draft *draft = NULL;

	SYS(mkdir("folder", 0777));

	FAILS(tkb_draft_open("absent/target", &draft, ERR), TKB_ERR_IO,
	      "cannot write 'absent/target'");
	FAILS(tkb_draft_open("folder", &draft, ERR), TKB_ERR_IO,
	      "cannot write 'folder'");
	CHECK(draft == NULL);
	CHECK_INT(count_names("."), 1);
}

TEST(draft, for_a_pipe_goes_through_it)
{
	TKB_AUTO(tkb_fd_close_at) int reader = -1;
	TKB_AUTO(tkb_draft_close_at) struct tkb_draft *draft = NULL;
	struct stat status;
	char got[8] = "";

	SYS(mkfifo("pipe", 0666));
	reader = open("pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CHECK(reader >= 0);

	OK(tkb_draft_open("pipe", &draft, ERR));
	write_draft(draft, "through");
	OK(tkb_draft_publish(draft, ERR));
	CHECK_INT(read(reader, got, sizeof(got)), 7);
	CHECK_STR(got, "through");
	SYS(lstat("pipe", &status));
	CHECK(S_ISFIFO(status.st_mode));
	CHECK_INT(count_names("."), 1);
}

/* Through a link: a draft that is wrong replaces that, not the device. */
TEST(draft, for_a_device_does_not_replace_it)
{
	TKB_AUTO(tkb_draft_close_at) struct tkb_draft *draft = NULL;
	struct stat status;

	SYS(symlink("/dev/null", "null"));

	OK(tkb_draft_open("null", &draft, ERR));
	write_draft(draft, "nothing");
	OK(tkb_draft_publish(draft, ERR));
	tkb_draft_close_at(&draft);
	SYS(lstat("null", &status));
	CHECK(S_ISLNK(status.st_mode));
	SYS(stat("null", &status));
	CHECK(S_ISCHR(status.st_mode));
	CHECK_INT(count_names("."), 1);
}

TEST(draft, removes_what_dead_writers_of_its_file_left)
{
	static const char *const others[] = {
		"target.0123456789abcde.tmp",   "target.0123456789abcdef.tmpx",
		"target.0123456789ABCDEF.tmp",  "other.0123456789abcdef.tmp",
		"xtarget.0123456789abcdef.tmp", "target.tmp",
	};
	TKB_AUTO(tkb_draft_close_at) struct tkb_draft *draft = NULL;

	write_text("target.0123456789abcdef.tmp", "dead");
	EACH(i, others)
		write_text(others[i], "not ours");

	OK(tkb_draft_open(text("%s/target", test_folder()), &draft, ERR));
	CHECK(!exists("target.0123456789abcdef.tmp"));
	EACH(i, others)
		CHECK(exists(others[i]));
}

TEST(draft, leaves_alone_what_a_live_writer_of_its_file_holds)
{
	static const char name[] = "target.0123456789abcdef.tmp";
	TKB_AUTO(tkb_draft_close_at) struct tkb_draft *draft = NULL;
	TKB_AUTO(tkb_fd_close_at) int live = -1;

	write_text(name, "alive");
	live = open(name, O_RDONLY | O_CLOEXEC);
	SYS(flock(live, LOCK_EX | LOCK_NB));

	OK(tkb_draft_open("target", &draft, ERR));
	CHECK(exists(name));
}

/* In a process of its own, which an alarm ends if it waits for the pipe. */
TEST(draft, does_not_wait_for_a_pipe_that_looks_like_a_dead_one)
{
	SYS(mkfifo("target.0123456789abcdef.tmp", 0666));
	pid_t child = must_fork();
	if (child == 0) {
		struct tkb_draft *draft = NULL;

		(void)alarm(2);
		_exit(tkb_draft_open("target", &draft, NULL) == 0 ? 0 : 1);
	}

	CHECK_INT(end_of(child), 0);
}

enum {
	ITEM_COUNT = 300000,
	THREAD_COUNT = 8
};

struct counting {
	pthread_barrier_t barrier; /* where all threads begin at once */
	bool has_met[THREAD_COUNT];
	bool is_meeting;
	atomic_int calls[ITEM_COUNT];
	atomic_int wrong_workers;
	size_t threads;
	size_t fails_at;
};

static int count_one(void *self, size_t worker, size_t index,
                     struct tkb_error *err)
{
	struct counting *counting = self;

	if (counting->is_meeting && !counting->has_met[worker]) {
		counting->has_met[worker] = true;
		(void)pthread_barrier_wait(&counting->barrier);
	}
	atomic_fetch_add(&counting->calls[index], 1);
	if (worker >= counting->threads)
		atomic_fetch_add(&counting->wrong_workers, 1);
	if (index >= counting->fails_at)
		return tkb_fail(err, TKB_ERR_TOO_LARGE, "item %zu is bad",
		                index);
	return 0;
}

static void check_each_once(size_t threads)
{
	struct counting *counting = test_alloc(sizeof(*counting));
	const struct tkb_parallel_work work = { count_one, counting };

	SYS(pthread_barrier_init(&counting->barrier, NULL, (unsigned)threads));
	counting->is_meeting = true;
	counting->threads = threads;
	counting->fails_at = SIZE_MAX;
	OK(tkb_parallel(ITEM_COUNT, threads, &work, ERR));
	(void)pthread_barrier_destroy(&counting->barrier);

	for (size_t i = 0; i < ITEM_COUNT; i++)
		CHECK_INT(counting->calls[i], 1);
	CHECK_INT(counting->wrong_workers, 0);
	CHECK_INT(ERR->status, 0);
}

TEST(parallel, does_every_index_once_on_one_thread)
{
	check_each_once(1);
}

TEST(parallel, does_every_index_once_on_eight_threads)
{
	for (int round = 0; round < 3; round++)
		check_each_once(THREAD_COUNT);
}

enum {
	PART_COUNT = 8
};

/* Items in parts: item i has i % PART_COUNT of them. */
struct parting {
	struct tkb_parallel_team *team;
	size_t item_count;
	size_t fails_at; /* this item's last part */
	atomic_int calls[ITEM_COUNT][PART_COUNT];
	atomic_int wrong_threads;
	atomic_int others; /* parts on another thread than their item's */
	atomic_int turns;  /* threads that hold the team */
	bool waits;
};

struct item {
	struct parting *parting;
	size_t worker;
	size_t index;
};

static int do_part(void *self, size_t worker, size_t index,
                   struct tkb_error *err)
{
	const struct item *item = self;
	struct parting *parting = item->parting;

	atomic_fetch_add(&parting->calls[item->index][index], 1);
	if (worker >= PART_COUNT)
		atomic_fetch_add(&parting->wrong_threads, 1);
	if (worker != item->worker)
		atomic_fetch_add(&parting->others, 1);
	/* Wait for another thread to help. */
	for (int i = 0; parting->waits && i < 10000 && parting->others == 0;
	     i++)
		SYS(usleep(1000));
	if (item->index == parting->fails_at && index == 2)
		return tkb_fail(err, TKB_ERR_TOO_LARGE, "part %zu is bad",
		                index);
	return 0;
}

static int share_one(void *self, size_t worker, size_t index,
                     struct tkb_error *err)
{
	struct parting *parting = self;
	struct item item = { parting, worker, index };
	const struct tkb_parallel_work part = { do_part, &item };
	const size_t count =
		parting->item_count == 1 ? PART_COUNT : index % PART_COUNT;

	return tkb_parallel_share(parting->team, worker, count, &part, err);
}

static struct parting *do_parts(size_t item_count, size_t threads,
                                size_t fails_at, int rc)
{
	struct parting *parting = test_alloc(sizeof(*parting));
	const struct tkb_parallel_work work = { share_one, parting };

	memset(parting, 0, sizeof(*parting));
	parting->item_count = item_count;
	parting->fails_at = fails_at;
	parting->waits = item_count == 1 && threads > 1;
	CHECK_INT(tkb_parallel_in_parts(item_count, item_count * PART_COUNT,
	                                threads, &work, &parting->team, ERR),
	          rc);
	CHECK(parting->team == NULL);
	CHECK_INT(parting->wrong_threads, 0);
	return parting;
}

TEST(parallel, does_every_part_of_every_item_once)
{
	for (size_t threads = 1; threads <= PART_COUNT; threads++) {
		const struct parting *parting =
			do_parts(ITEM_COUNT, threads, SIZE_MAX, 0);

		for (size_t i = 0; i < ITEM_COUNT; i++) {
			for (size_t j = 0; j < PART_COUNT; j++)
				CHECK_INT(parting->calls[i][j],
				          j < i % PART_COUNT);
		}
	}
}

TEST(parallel, threads_without_an_item_help_with_the_parts_of_one)
{
	CHECK_INT(do_parts(1, 1, SIZE_MAX, 0)->others, 0);
	CHECK(do_parts(1, PART_COUNT, SIZE_MAX, 0)->others > 0);
}

/* Each item has its turn, and in the first one parts for those that wait. */
static int share_in_turn(void *self, size_t worker, size_t index,
                         struct tkb_error *err)
{
	struct parting *parting = self;
	struct item item = { parting, worker, index };
	const struct tkb_parallel_work part = { do_part, &item };
	int rc;

	tkb_parallel_hold(parting->team, worker);
	if (atomic_fetch_add(&parting->turns, 1) != 0)
		atomic_fetch_add(&parting->wrong_threads, 1);
	rc = tkb_parallel_share(parting->team, worker, PART_COUNT, &part, err);
	if (parting->waits && parting->others == 0)
		atomic_fetch_add(&parting->wrong_threads, 1);
	atomic_fetch_sub(&parting->turns, 1);
	tkb_parallel_let_go(parting->team);
	return rc;
}

TEST(parallel, threads_that_wait_for_their_turn_help_the_one_that_has_it)
{
	for (size_t threads = 1; threads <= 2; threads++) {
		struct parting *parting = test_alloc(sizeof(*parting));
		const struct tkb_parallel_work work = { share_in_turn,
			                                parting };

		memset(parting, 0, sizeof(*parting));
		parting->fails_at = SIZE_MAX;
		parting->waits = threads > 1;
		OK(tkb_parallel_in_parts(threads, threads * PART_COUNT, threads,
		                         &work, &parting->team, ERR));
		CHECK_INT(parting->wrong_threads, 0);
	}
}

TEST(parallel, begins_no_further_part_after_one_has_failed)
{
	const struct parting *parting = do_parts(1, 1, 0, TKB_ERR_TOO_LARGE);

	CHECK_STR(ERR->message, "part 2 is bad");
	for (size_t i = 0; i < PART_COUNT; i++)
		CHECK_INT(parting->calls[0][i], i <= 2);
	for (int round = 0; round < 10; round++) {
		(void)do_parts(ITEM_COUNT, PART_COUNT, 6, TKB_ERR_TOO_LARGE);
		CHECK_STR(ERR->message, "part 2 is bad");
	}
}

static int note_order(void *self, size_t worker, size_t index,
                      struct tkb_error *err)
{
	size_t *done = self;

	(void)err;
	CHECK_INT(worker, 0);
	CHECK_INT(index, *done);
	(*done)++;
	return 0;
}

TEST(parallel, on_one_thread_does_them_in_order)
{
	size_t done = 0;
	const struct tkb_parallel_work work = { note_order, &done };

	OK(tkb_parallel(100, 1, &work, ERR));
	CHECK_INT(done, 100);
}

TEST(parallel, does_nothing_where_there_is_nothing)
{
	size_t done = 0;
	const struct tkb_parallel_work work = { note_order, &done };

	OK(tkb_parallel(0, 0, &work, ERR));
	OK(tkb_parallel(0, 8, &work, ERR));
	CHECK_INT(done, 0);
}

TEST(parallel, work_of_fewer_items_than_threads_is_done)
{
	struct counting *counting = test_alloc(sizeof(*counting));
	const struct tkb_parallel_work work = { count_one, counting };

	counting->threads = 1000;
	counting->fails_at = SIZE_MAX;
	OK(tkb_parallel(3, 1000, &work, ERR));

	for (size_t i = 0; i < 4; i++)
		CHECK_INT(counting->calls[i], i < 3);
	CHECK_INT(counting->wrong_workers, 0);
}

TEST(parallel, begins_nothing_after_a_failure_on_one_thread)
{
	struct counting *counting = test_alloc(sizeof(*counting));
	const struct tkb_parallel_work work = { count_one, counting };

	counting->threads = 1;
	counting->fails_at = 7;
	FAILS(tkb_parallel(ITEM_COUNT, 1, &work, ERR), TKB_ERR_TOO_LARGE,
	      "item 7 is bad");
	CHECK_INT(tkb_parallel(ITEM_COUNT, 1, &work, NULL), TKB_ERR_TOO_LARGE);

	for (size_t i = 0; i < ITEM_COUNT; i++)
		CHECK_INT(counting->calls[i], i < 8 ? 2 : 0);
}

TEST(parallel, ends_soon_after_a_failure_on_eight_threads)
{
	struct counting *counting = test_alloc(sizeof(*counting));
	const struct tkb_parallel_work work = { count_one, counting };
	size_t failed;
	int begun = 0;

	counting->threads = THREAD_COUNT;
	counting->fails_at = 100;
	FAILS(tkb_parallel(ITEM_COUNT, THREAD_COUNT, &work, ERR),
	      TKB_ERR_TOO_LARGE, "is bad");

	/* From 100 on each fails: a thread begins at most one of them. */
	CHECK_INT(sscanf(ERR->message, "item %zu", &failed), 1);
	CHECK(failed >= 100 && failed < 100 + THREAD_COUNT);
	for (size_t i = 0; i < ITEM_COUNT; i++) {
		CHECK_INT(counting->calls[i], i < 100 ? 1 : counting->calls[i]);
		begun += counting->calls[i];
	}
	CHECK(begun > 100 && begun <= 100 + THREAD_COUNT);
}

struct meeting {
	pthread_barrier_t barrier;
	atomic_uint workers; /* a bit for each that came */
	atomic_int unblocked;
	atomic_int small_stacks; /* threads whose stack has about 2 MiB */
	cpu_set_t cores;         /* that the caller may use */
	atomic_int free_workers;
};

/* Wait until this thread may use the caller's cores, as it may soon. */
static bool is_soon_free(const struct meeting *meeting)
{
	for (int tries = 0; tries < 5000; tries++) {
		cpu_set_t cores;

		CPU_ZERO(&cores);
		if (sched_getaffinity(0, sizeof(cores), &cores) != 0)
			return false;
		if (CPU_EQUAL(&cores, &meeting->cores))
			return true;
		(void)usleep(1000);
	}
	return false;
}

static size_t stack_size(void)
{
	pthread_attr_t attributes;
	size_t size = 0;

	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		return 0;
	(void)pthread_attr_getstacksize(&attributes, &size);
	(void)pthread_attr_destroy(&attributes);
	return size;
}

static int meet(void *self, size_t worker, size_t index, struct tkb_error *err)
{
	struct meeting *meeting = self;
	sigset_t blocked;

	(void)index;
	(void)err;
	atomic_fetch_or(&meeting->workers, 1u << worker);
	if (pthread_sigmask(SIG_BLOCK, NULL, &blocked) != 0 ||
	    (worker != 0) != sigismember(&blocked, SIGUSR1))
		atomic_fetch_add(&meeting->unblocked, 1);
	if (worker != 0 && stack_size() > (size_t)2000 * 1024 &&
	    stack_size() <= (size_t)2048 * 1024)
		atomic_fetch_add(&meeting->small_stacks, 1);
	(void)pthread_barrier_wait(&meeting->barrier);
	atomic_fetch_add(&meeting->free_workers, is_soon_free(meeting));
	return 0;
}

/* Each item waits until all are at work, which takes a thread for each. */
TEST(parallel, works_on_as_many_threads_as_asked_on_all_cores_without_signals)
{
	struct meeting *meeting = test_alloc(sizeof(*meeting));
	const struct tkb_parallel_work work = { meet, meeting };
	sigset_t after;

	CPU_ZERO(&meeting->cores);
	SYS(sched_getaffinity(0, sizeof(meeting->cores), &meeting->cores));
	SYS(pthread_barrier_init(&meeting->barrier, NULL, THREAD_COUNT));
	OK(tkb_parallel(THREAD_COUNT, THREAD_COUNT, &work, ERR));
	(void)pthread_barrier_destroy(&meeting->barrier);

	CHECK_INT(meeting->workers, (1u << THREAD_COUNT) - 1);
	CHECK_INT(meeting->unblocked, 0);
	CHECK_INT(meeting->free_workers, THREAD_COUNT);
	CHECK_INT(meeting->small_stacks, THREAD_COUNT - 1);
	SYS(pthread_sigmask(SIG_BLOCK, NULL, &after));
	CHECK_INT(sigismember(&after, SIGUSR1), 0);
}

/* The process is killed if it sets the cores of a thread. */
static void forbid_setaffinity(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		         offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0,
		         1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { TKB_COUNT_OF(code), code };

	SYS(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	SYS(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
}

TEST(parallel, a_filter_of_system_calls_does_not_end_the_process)
{
	const pid_t child = must_fork();

	if (child == 0) {
		forbid_setaffinity();
		check_each_once(THREAD_COUNT);
		_exit(0);
	}
	CHECK_INT(end_of(child), 0);
}

TEST(parallel, the_largest_come_first_and_equal_ones_in_order)
{
	static const uint64_t sizes[] = { 3, 7, 3, UINT64_MAX, 0, 7 };
	static const size_t wanted[] = { 3, 1, 5, 0, 2, 4 };
	size_t *order = tkb_largest_first(sizes, TKB_COUNT_OF(sizes));

	CHECK(order != NULL);
	CHECK(memcmp(order, wanted, sizeof(wanted)) == 0);
	free(order);
	order = tkb_largest_first(NULL, 0);
	CHECK(order != NULL);
	free(order);
}

TEST(parallel, small_items_have_a_thread_for_every_eight)
{
	CHECK_INT(tkb_parallel_useful(0, 4), 1);
	CHECK_INT(tkb_parallel_useful(7, 4), 1);
	CHECK_INT(tkb_parallel_useful(8, 4), 2);
	CHECK_INT(tkb_parallel_useful(1000, 4), 4);
	CHECK_INT(tkb_parallel_useful(1000, 1), 1);
}

TEST(parallel, threads_are_1_to_256)
{
	CHECK(tkb_parallel_threads(0) >= 1);
	CHECK(tkb_parallel_threads(0) <= 256);
	CHECK_INT(tkb_parallel_threads(1), 1);
	CHECK_INT(tkb_parallel_threads(256), 256);
	CHECK_INT(tkb_parallel_threads(257), 256);
	CHECK_INT(tkb_parallel_threads(UINT32_MAX), 256);
}
