/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <tkbundle/collect.h>
#include <tkbundle/memory.h>

#include <stdlib.h>

/* Bytes in memory, and the words for what functions return. */

static struct tkb_bytes bytes_of(const struct tkb_memory *memory)
{
	return (struct tkb_bytes){ memory->data, memory->size };
}

TEST(memory, takes_a_bundle_and_gives_it_back)
{
	const char *root = "x/.triton/cache";
	struct tkb_memory memory = { .limit = 0 };
	const struct tkb_sink sink = tkb_memory_sink(&memory);
	BUNDLE(bundle) = NULL;
	struct tkb_collect_report report = { SIZED(report) };

	unpack("triton-3.6.0-h100", "x");
	OK(tkb_collect(root, NULL, &sink, &report, ERR));
	CHECK_INT(memory.size, report.bundle_size);
	struct tkb_bytes bytes = bytes_of(&memory);
	struct tkb_source source = tkb_memory_source(&bytes);
	OK(tkb_bundle_open_source(&source, "memory", &bundle, ERR));
	OK(tkb_bundle_verify(bundle, NULL, NULL, ERR));
	CHECK_INT(tkb_bundle_entry_count(bundle), report.collected_count);
	tkb_memory_release(&memory);
}

TEST(memory, is_never_more_than_its_limit)
{
	struct tkb_memory memory = { .limit = 5 };
	const struct tkb_sink sink = tkb_memory_sink(&memory);

	OK(sink.write(sink.self, tkb_text(""), ERR));
	CHECK(memory.data == NULL);
	OK(sink.write(sink.self, tkb_text("abc"), ERR));
	FAILS(sink.write(sink.self, tkb_text("def"), ERR), TKB_ERR_TOO_LARGE,
	      "more than the limit of 5 bytes");
	OK(sink.write(sink.self, tkb_text("de"), ERR));
	CHECK_INT(memory.size, 5);
	CHECK(memcmp(memory.data, "abcde", 5) == 0);

	tkb_memory_release(&memory);
	CHECK(memory.data == NULL);
	CHECK_INT(memory.size + memory.capacity, 0);
	CHECK_INT(memory.limit, 5);
}

TEST(memory, is_read_from_anywhere_and_not_beyond_its_end)
{
	const struct tkb_bytes bytes = tkb_text("abcde");
	const struct tkb_source source = tkb_memory_source(&bytes);
	char got[8] = "";
	size_t size = 9;

	OK(source.read_at(source.self, 3, got, 5, &size, ERR));
	CHECK_INT(size, 2);
	CHECK(memcmp(got, "de", 2) == 0);
	OK(source.read_at(source.self, 5, got, 5, &size, ERR));
	CHECK_INT(size, 0);
	OK(source.read_at(source.self, UINT64_MAX, got, 1, &size, ERR));
	CHECK_INT(size, 0);
}

TEST(status, has_a_name_for_each)
{
	static const struct {
		int status;
		const char *name;
	} names[] = {
		{ TKB_OK, "ok" },
		{ TKB_MISS, "miss" },
		{ TKB_ERR_INVALID, "invalid" },
		{ TKB_ERR_NOMEM, "nomem" },
		{ TKB_ERR_IO, "io" },
		{ TKB_ERR_CORRUPT, "corrupt" },
		{ TKB_ERR_UNSUPPORTED, "unsupported" },
		{ TKB_ERR_TOO_LARGE, "too_large" },
		{ TKB_ERR_CANCELLED, "cancelled" },
		{ TKB_ERR_LEFT_OUT, "left_out" },
		{ TKB_ERR_UNAVAILABLE, "unavailable" },
		{ TKB_ERR_DENIED, "denied" },
		{ TKB_ERR_PARTIAL, "partial" },
		{ TKB_ERR_UNTRUSTED, "untrusted" },
	};
	size_t known = 0;

	EACH(i, names)
		CHECK_STR(tkb_status_name(names[i].status), names[i].name);
	for (int status = -1000; status <= 1000; status++)
		known += strcmp(tkb_status_name(status), "unknown") != 0;
	CHECK_INT(known, TKB_COUNT_OF(names));
}

/* Whoever adds one to the header has to name it. */
TEST(status, has_as_many_names_as_the_header_has_values)
{
	const struct tkb_bytes header =
		read_file(TKB_INCLUDE "/tkbundle/error.h");
	const char *const all =
		text("%.*s", (int)header.size, (const char *)header.data);
	const char *at = strstr(all, "enum tkb_status {");
	const char *const end = at != NULL ? strstr(at, "};") : NULL;
	size_t count = 0;

	CHECK(end != NULL);
	while ((at = strstr(at, " = ")) != NULL && at < end) {
		at += 3;
		count++;
		CHECK(strcmp(tkb_status_name((int)strtol(at, NULL, 10)),
		             "unknown") != 0);
	}
	CHECK_INT(count, 14);
}
