/* SPDX-License-Identifier: Apache-2.0 */
#include "ninja/files.h"

#include <stdlib.h>

#include "base/digest.h"

static const char log_begin[] = "# ninja log v";
static const char deps_begin[] = "# ninjadeps\n";

/* A lower number is a time in seconds: in nanoseconds it would be in 1970. */
static const int64_t least_nanoseconds = INT64_C(1000000000000);

/* The log */

static int fail_log(const struct tkb_ninja_rows *rows, const char *what,
                    struct tkb_error *err)
{
	return tkb_fail_entry(err, TKB_REASON_METADATA,
	                      "line %zu of ninja's log %s", rows->line, what);
}

/* Take a line, without its line feed. */
static int take_row(struct tkb_ninja_rows *rows, struct tkb_bytes *out,
                    struct tkb_error *err)
{
	const char *first = (const char *)rows->text.data + rows->at;
	const char *end = memchr(first, '\n', rows->text.size - rows->at);

	rows->line++;
	if (end == NULL)
		return fail_log(rows, "has no end", err);
	*out = (struct tkb_bytes){ first, (size_t)(end - first) };
	rows->at += out->size + 1;
	return 0;
}

int tkb_ninja_rows_open(struct tkb_bytes text, struct tkb_ninja_rows *out,
                        struct tkb_error *err)
{
	struct tkb_ninja_rows rows = { .text = text };
	struct tkb_bytes line = { 0 };
	const size_t before = strlen(log_begin);
	const char *version;
	int rc;

	if (text.size == 0)
		return tkb_fail_entry(err, TKB_REASON_METADATA,
		                      "ninja's log is empty");
	rc = take_row(&rows, &line, err);
	if (rc < 0)
		return rc;
	version = (const char *)line.data + before;
	if (line.size != before + 1 ||
	    memcmp(line.data, log_begin, before) != 0)
		return fail_log(&rows, "does not state its version", err);
	if (*version < '5' || *version > '7')
		return tkb_fail_entry(
			err, TKB_REASON_METADATA,
			"ninja's log has version %c, which is not "
			"known",
			*version);
	rows.version = *version - '0';
	*out = rows;
	return 0;
}

/* Read an integer of at most 19 digits that ends at `end`. */
static bool read_row_number(const char *text, const char *end, int64_t *out)
{
	int64_t value = 0;

	if (text == end || end - text > 19)
		return false;
	for (; text < end; text++) {
		const int digit = *text - '0';

		if (digit < 0 || digit > 9 || value > (INT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*out = value;
	return true;
}

/* Read 1 to 16 hexadecimal digits that end at `end`. */
static bool read_hash(const char *text, const char *end, uint64_t *out)
{
	uint64_t value = 0;

	if (text == end || end - text > 16)
		return false;
	for (; text < end; text++) {
		const int digit = tkb_hex_value(*text);

		if (digit < 0)
			return false;
		value = value << 4 | (uint64_t)digit;
	}
	*out = value;
	return true;
}

int tkb_ninja_rows_next(struct tkb_ninja_rows *rows, struct tkb_ninja_row *out,
                        struct tkb_error *err)
{
	const char *text = rows->text.data;
	struct tkb_ninja_row row = { 0 };
	struct tkb_bytes line = { 0 };
	const char *tabs[4];
	const char *at;
	int rc;

	if (rows->at == rows->text.size)
		return TKB_MISS;
	rc = take_row(rows, &line, err);
	if (rc < 0)
		return rc;
	at = line.data;
	for (size_t i = 0; i < TKB_COUNT_OF(tabs); i++) {
		tabs[i] = memchr(at, '\t', (size_t)(text + rows->at - 1 - at));
		if (tabs[i] == NULL)
			return fail_log(rows, "has less than five fields", err);
		at = tabs[i] + 1;
	}
	row.at = (size_t)(tabs[2] + 1 - text);
	row.output = (struct tkb_bytes){ tabs[2] + 1,
		                         (size_t)(tabs[3] - tabs[2] - 1) };
	if (!read_row_number(tabs[1] + 1, tabs[2], &row.mtime))
		return fail_log(rows, "has an invalid time", err);
	if (row.output.size == 0 ||
	    memchr(row.output.data, '\0', row.output.size) != NULL)
		return fail_log(rows, "has an invalid path", err);
	if (!read_hash(tabs[3] + 1, text + rows->at - 1, &row.hash))
		return fail_log(rows, "has an invalid hash", err);
	if (row.mtime < least_nanoseconds) /* in seconds, before ninja 1.9 */
		row.mtime = row.mtime > INT64_MAX / 1000000000
		                    ? INT64_MAX
		                    : row.mtime * 1000000000;
	*out = row;
	return 0;
}

/* The dependencies */

static uint32_t read_word(struct tkb_bytes bytes, size_t at)
{
	const unsigned char *data = (const unsigned char *)bytes.data + at;

	return (uint32_t)data[0] | (uint32_t)data[1] << 8 |
	       (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

static int fail_deps(const struct tkb_ninja_records *records, const char *what,
                     struct tkb_error *err)
{
	return tkb_fail_entry(err, TKB_REASON_METADATA,
	                      "byte %zu of ninja's dependencies: %s",
	                      records->at, what);
}

int tkb_ninja_records_open(struct tkb_bytes bytes, struct tkb_arena *arena,
                           struct tkb_ninja_records *out, struct tkb_error *err)
{
	const size_t before = strlen(deps_begin);
	struct tkb_ninja_records records = { .bytes = bytes, .arena = arena };
	uint32_t version;

	if (bytes.size < before + 4 ||
	    memcmp(bytes.data, deps_begin, before) != 0)
		return fail_deps(&records, "they do not begin as they should",
		                 err);
	version = read_word(bytes, before);
	if (version != 3 && version != 4)
		return tkb_fail_entry(err, TKB_REASON_METADATA,
		                      "ninja's dependencies have version %u, "
		                      "which is not known",
		                      (unsigned)version);
	records.at = before + 4;
	records.is_wide = version == 4;
	*out = records;
	return 0;
}

void tkb_ninja_records_close(struct tkb_ninja_records *records)
{
	free(records->paths);
	records->paths = NULL;
}

/* Read a path, up to three zeros, and the complement of the path's number. */
static int read_path_record(struct tkb_ninja_records *records, size_t size,
                            struct tkb_error *err)
{
	const char *path = (const char *)records->bytes.data + records->at;
	const char *kept;
	size_t length = size - 4;
	int rc;

	for (int i = 0; i < 3 && length > 0 && path[length - 1] == '\0'; i++)
		length--;
	if (length == 0 || memchr(path, '\0', length) != NULL)
		return fail_deps(records, "an invalid path", err);
	if (read_word(records->bytes, records->at + size - 4) !=
	    ~(uint32_t)records->path_count)
		return fail_deps(records, "a path with a wrong number", err);
	rc = tkb_arena_copy(records->arena, (struct tkb_bytes){ path, length },
	                    &kept, err);
	return rc != 0 ? rc
	               : tkb_append(&records->paths, &records->path_count,
	                            &records->path_capacity, &kept,
	                            sizeof(kept), err);
}

uint32_t tkb_ninja_records_input(const struct tkb_ninja_records *records,
                                 const struct tkb_ninja_record *record,
                                 size_t index)
{
	return read_word(records->bytes, record->inputs_start + 4 * index);
}

static int read_record(struct tkb_ninja_records *records, size_t size,
                       struct tkb_ninja_record *out, struct tkb_error *err)
{
	const size_t head = records->is_wide ? 12 : 8;
	struct tkb_ninja_record record = {
		.inputs_start = records->at + head,
	};

	if (size < head || size % 4 != 0)
		return fail_deps(records, "a record of a wrong size", err);
	record.output = read_word(records->bytes, records->at);
	record.mtime = (int64_t)read_word(records->bytes, records->at + 4) *
	               (records->is_wide ? 1 : 1000000000);
	if (records->is_wide)
		record.mtime |= (int64_t)((uint64_t)read_word(records->bytes,
		                                              records->at + 8)
		                          << 32);
	record.input_count = (size - head) / 4;
	if (record.output >= records->path_count)
		return fail_deps(records, "an output that has no path", err);
	for (size_t i = 0; i < record.input_count; i++) {
		if (tkb_ninja_records_input(records, &record, i) >=
		    records->path_count)
			return fail_deps(records, "an input that has no path",
			                 err);
	}
	*out = record;
	return 0;
}

int tkb_ninja_records_next(struct tkb_ninja_records *records,
                           struct tkb_ninja_record *out, struct tkb_error *err)
{
	while (records->at < records->bytes.size) {
		const size_t left = records->bytes.size - records->at;
		bool is_record;
		size_t size;
		int rc;

		if (left < 4)
			return fail_deps(records, "they end in a record", err);
		size = read_word(records->bytes, records->at);
		is_record = size >> 31 != 0;
		size &= 0x7fffffff;
		if (size < 4 || size > TKB_NINJA_RECORD_LIMIT)
			return fail_deps(records, "a record of a wrong size",
			                 err);
		if (size > left - 4)
			return fail_deps(records, "they end in a record", err);
		records->at += 4;
		rc = is_record ? read_record(records, size, out, err)
		               : read_path_record(records, size, err);
		if (rc < 0)
			return rc;
		records->at += size;
		if (is_record)
			return 0;
	}
	return TKB_MISS;
}
