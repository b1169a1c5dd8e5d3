/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"
#include "base/path.h"
#include "cache/key.h"
#include "cache/names.h"
#include "format/parser.h"

static int read_devices(struct tkb_parser *parser, struct tkb_error *err)
{
	uint32_t *kept;
	size_t count = 0;
	uint64_t device;
	int rc;

	rc = tkb_parser_expect(parser, TKB_JSON_ARRAY, "devices are no list",
	                       err);
	if (rc < 0)
		return rc;
	for (;;) {
		rc = tkb_parser_advance(parser, err);
		if (rc < 0)
			return rc;
		if (parser->token.type == TKB_JSON_ARRAY_END)
			break;
		rc = tkb_parser_number_of(parser, TKB_DEVICE_LIMIT - 1, &device,
		                          err);
		if (rc < 0)
			return rc;
		if (count != 0 && device <= parser->devices[count - 1])
			return tkb_parser_refuse(parser,
			                         "devices do not ascend", err);
		rc = tkb_grow(&parser->devices, &parser->device_capacity, count,
		              sizeof(*parser->devices), err);
		if (rc < 0)
			return rc;
		parser->devices[count++] = (uint32_t)device;
	}
	if (count == 0)
		return tkb_parser_refuse(parser, "an entry of no device", err);
	kept = tkb_arena_alloc(&parser->manifest->arena, count, sizeof(*kept));
	if (kept == NULL)
		return tkb_fail_nomem(err);
	memcpy(kept, parser->devices, count * sizeof(*kept));
	parser->entry.devices = kept;
	parser->entry.device_count = count;
	return 0;
}

static int read_sentinels(struct tkb_parser *parser, struct tkb_file *file,
                          struct tkb_error *err)
{
	uint64_t number;
	int rc;

	rc = tkb_parser_number_of(parser, UINT32_MAX, &number, err);
	if (rc < 0)
		return rc;
	if (number == 0)
		return tkb_parser_refuse(parser, "a count of no sentinels",
		                         err);
	file->sentinels = (uint32_t)number;
	return tkb_parser_expect(parser, TKB_JSON_ARRAY_END,
	                         "a file has too many parts", err);
}

/* Behind the "[" of a file: name, size, digest, and perhaps sentinels. */
static int read_file(struct tkb_parser *parser, struct tkb_file *file,
                     struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_text(parser, &file->name, err);
	if (rc < 0)
		return rc;
	if (!tkb_name_is_valid(tkb_text(file->name)))
		return tkb_parser_refuse(parser, "a file's name is not allowed",
		                         err);
	rc = tkb_parser_number(parser, TKB_FILE_SIZE_LIMIT, &file->size, err);
	if (rc < 0)
		return rc;
	rc = tkb_parser_digest(parser, &file->digest, err);
	if (rc < 0)
		return rc;
	rc = tkb_parser_advance(parser, err);
	if (rc < 0)
		return rc;
	if (parser->token.type == TKB_JSON_ARRAY_END)
		return 0;
	return read_sentinels(parser, file, err);
}

static int keep_files(struct tkb_parser *parser, size_t count,
                      struct tkb_error *err)
{
	struct tkb_file *kept;

	if (count == 0)
		return tkb_parser_refuse(parser, "an entry of no files", err);
	kept = tkb_arena_alloc(&parser->manifest->arena, count, sizeof(*kept));
	if (kept == NULL)
		return tkb_fail_nomem(err);
	memcpy(kept, parser->files, count * sizeof(*kept));
	parser->entry.files = kept;
	parser->entry.file_count = count;
	if (tkb_entry_size(&parser->entry) > TKB_ENTRY_SIZE_LIMIT)
		return tkb_parser_refuse(parser, "an entry is too large", err);
	return 0;
}

static int read_files(struct tkb_parser *parser, struct tkb_error *err)
{
	size_t count = 0;
	int rc;

	rc = tkb_parser_expect(parser, TKB_JSON_ARRAY, "files are no list",
	                       err);
	if (rc < 0)
		return rc;
	for (;;) {
		struct tkb_file file = { 0 };

		rc = tkb_parser_advance(parser, err);
		if (rc < 0)
			return rc;
		if (parser->token.type == TKB_JSON_ARRAY_END)
			return keep_files(parser, count, err);
		if (parser->token.type != TKB_JSON_ARRAY)
			return tkb_parser_refuse(parser, "a file is no list",
			                         err);
		if (count == TKB_FILES_LIMIT)
			return tkb_parser_refuse(
				parser, "an entry of too many files", err);
		rc = read_file(parser, &file, err);
		if (rc < 0)
			return rc;
		if (count != 0 &&
		    tkb_name_compare(parser->files[count - 1].name,
		                     file.name) >= 0)
			return tkb_parser_refuse(parser,
			                         "files are not in order", err);
		rc = tkb_grow(&parser->files, &parser->file_capacity, count,
		              sizeof(file), err);
		if (rc < 0)
			return rc;
		parser->files[count++] = file;
	}
}

static int read_kind(struct tkb_parser *parser, struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_expect(parser, TKB_JSON_STRING, "a kind is missing",
	                       err);
	if (rc < 0)
		return rc;
	for (int kind = TKB_KIND_AUTOTUNE; kind <= TKB_KIND_MODULE; kind++) {
		if (tkb_parser_token_is(parser,
		                        tkb_kind_name((enum tkb_kind)kind))) {
			parser->entry.kind = (enum tkb_kind)kind;
			return 0;
		}
	}
	return tkb_parser_refuse(parser, "a kind is not known", err);
}

static int read_producer(struct tkb_parser *parser, struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_expect(parser, TKB_JSON_ARRAY, "a producer is no list",
	                       err);
	if (rc < 0)
		return rc;
	rc = tkb_parser_text(parser, &parser->entry.producer, err);
	if (rc < 0)
		return rc;
	rc = tkb_parser_text(parser, &parser->entry.producer_version, err);
	if (rc < 0)
		return rc;
	return tkb_parser_expect(parser, TKB_JSON_ARRAY_END,
	                         "a producer has too much", err);
}

static int read_target(struct tkb_parser *parser, struct tkb_error *err)
{
	uint64_t warp_size = 0;
	int rc;

	rc = tkb_parser_expect(parser, TKB_JSON_ARRAY, "a target is no list",
	                       err);
	if (rc < 0)
		return rc;
	rc = tkb_parser_text(parser, &parser->entry.target.backend, err);
	if (rc < 0)
		return rc;
	rc = tkb_parser_text(parser, &parser->entry.target.arch, err);
	if (rc < 0)
		return rc;
	rc = tkb_parser_number(parser, UINT32_MAX, &warp_size, err);
	if (rc < 0)
		return rc;
	parser->entry.target.warp_size = (uint32_t)warp_size;
	return tkb_parser_expect(parser, TKB_JSON_ARRAY_END,
	                         "a target has too much", err);
}

static int read_key(struct tkb_parser *parser, struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_text(parser, &parser->entry.key, err);
	if (rc < 0)
		return rc;
	if (!tkb_key_is_valid(parser->entry.key))
		return tkb_parser_refuse(parser, "a key has no known shape",
		                         err);
	return 0;
}

static int read_name(struct tkb_parser *parser, struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_text(parser, &parser->entry.name, err);
	if (rc < 0)
		return rc;
	if (!tkb_name_is_valid(tkb_text(parser->entry.name)))
		return tkb_parser_refuse(parser,
		                         "an entry's name is not allowed", err);
	return 0;
}

static int read_platform(struct tkb_parser *parser, struct tkb_error *err)
{
	return tkb_parser_text(parser, &parser->entry.platform, err);
}

static const struct tkb_member_reader entry_members[] = {
	{ "devices", read_devices },   { "files", read_files },
	{ "key", read_key },           { "kind", read_kind },
	{ "name", read_name },         { "platform", read_platform },
	{ "producer", read_producer }, { "target", read_target },
};

/* Group files in kernels, and nowhere else; exactly one. */
static bool kind_fits_files(const struct tkb_entry *entry)
{
	size_t groups = 0;

	for (size_t i = 0; i < entry->file_count; i++) {
		if (tkb_name_is_group(entry->files[i].name))
			groups++;
	}
	return groups == (entry->kind == TKB_KIND_KERNEL ? 1 : 0);
}

static int check_entry(const struct tkb_parser *parser, struct tkb_error *err)
{
	const struct tkb_entry *entry = &parser->entry;
	const struct tkb_manifest *manifest = parser->manifest;

	if (!kind_fits_files(entry))
		return tkb_parser_refuse(
			parser, "an entry's files do not fit its kind", err);
	if (manifest->entry_count != 0 &&
	    tkb_entry_compare(&parser->entries[manifest->entry_count - 1],
	                      entry) >= 0)
		return tkb_parser_refuse(parser, "entries are not in order",
		                         err);
	return 0;
}

int tkb_parser_entry(struct tkb_parser *parser, struct tkb_error *err)
{
	int rc;

	parser->entry = (struct tkb_entry){ 0 };
	rc = tkb_parser_object(parser, entry_members,
	                       TKB_COUNT_OF(entry_members), err);
	if (rc < 0)
		return rc;
	return check_entry(parser, err);
}
