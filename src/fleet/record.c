/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/record.h"

#include <stdlib.h>

#include "base/digest.h"
#include "text/json.h"
#include "cache/key.h"
#include "cache/names.h"
#include "format/reader.h"

enum {
	RECORD_VERSION = 1,
	TEXT_LIMIT = 4096
};

#define RECORD_FORMAT "tkbundle-record"

void tkb_record_release(struct tkb_record *record)
{
	tkb_arena_release(&record->arena);
	*record = (struct tkb_record){ 0 };
}

static void quote(struct tkb_buf *out, const char *text)
{
	tkb_json_quote(tkb_text(text), out);
}

static void write_digest(const struct tkb_digest *digest, struct tkb_buf *out)
{
	char hex[TKB_DIGEST_HEX_SIZE];

	tkb_digest_to_hex(digest, hex);
	quote(out, hex);
}

static void write_entry(const struct tkb_entry *entry, struct tkb_buf *out)
{
	tkb_buf_add_byte(out, '[');
	quote(out, entry->key);
	tkb_buf_add_byte(out, ',');
	quote(out, entry->platform);
	tkb_buf_add_text(out, ",[");
	quote(out, entry->target.backend);
	tkb_buf_add_byte(out, ',');
	quote(out, entry->target.arch);
	tkb_buf_add_byte(out, ',');
	tkb_buf_add_number(out, entry->target.warp_size);
	tkb_buf_add_text(out, "],[");
	for (size_t i = 0; i < entry->device_count; i++) {
		if (i != 0)
			tkb_buf_add_byte(out, ',');
		tkb_buf_add_number(out, entry->devices[i]);
	}
	tkb_buf_add_text(out, "]]");
}

int tkb_record_write(const struct tkb_bundle *bundle,
                     const struct tkb_digest *digest, uint64_t size,
                     struct tkb_buf *out, struct tkb_error *err)
{
	tkb_buf_add_text(out, "{\"blob\":[");
	write_digest(digest, out);
	tkb_buf_add_byte(out, ',');
	tkb_buf_add_number(out, size);
	tkb_buf_add_text(out, "],\"bundle\":");
	write_digest(tkb_bundle_id(bundle), out);
	tkb_buf_add_text(out, ",\"entries\":[");
	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++) {
		if (i != 0)
			tkb_buf_add_byte(out, ',');
		write_entry(tkb_bundle_entry(bundle, i), out);
	}
	tkb_buf_add_text(out, "],\"format\":\"" RECORD_FORMAT "\",\"frames\":");
	write_digest(&bundle->frames_digest, out);
	tkb_buf_add_text(out, ",\"profile\":");
	quote(out, tkb_bundle_profile(bundle));
	tkb_buf_add_text(out, ",\"version\":");
	tkb_buf_add_number(out, RECORD_VERSION);
	tkb_buf_add_byte(out, '}');
	return tkb_buf_check(out, err);
}

/* Reads a record: values in the one order that canonical JSON allows. */
struct reader {
	struct tkb_json json;
	struct tkb_json_token token;
	struct tkb_record *record;
	struct tkb_record_entry *entries; /* owned until the end */
	size_t entry_capacity;
	uint32_t *devices; /* owned; of the entry at hand */
	size_t device_capacity;
};

static void reader_release(struct reader *reader)
{
	free(reader->entries);
	free(reader->devices);
}

static int refuse(const struct reader *reader, struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_CORRUPT,
	                "the record is damaged at byte %zu",
	                reader->token.start);
}

static int expect(struct reader *reader, enum tkb_json_type type,
                  struct tkb_error *err)
{
	if (tkb_json_next(&reader->json, &reader->token, NULL) < 0 ||
	    reader->token.type != type)
		return refuse(reader, err);
	return 0;
}

static bool token_is(const struct reader *reader, const char *text)
{
	return tkb_bytes_equal(tkb_json_raw(&reader->json, &reader->token),
	                       tkb_text(text));
}

static int read_member(struct reader *reader, const char *name,
                       struct tkb_error *err)
{
	int rc;

	rc = expect(reader, TKB_JSON_KEY, err);
	return rc == 0 && !token_is(reader, name) ? refuse(reader, err) : rc;
}

/* A zero would end the text for us, and not for others. */
static bool has_control_character(struct tkb_bytes text)
{
	const unsigned char *bytes = text.data;

	for (size_t i = 0; i < text.size; i++) {
		if (bytes[i] < 0x20)
			return true;
	}
	return false;
}

static int read_text(struct reader *reader, const char **out,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf value = TKB_BUF_INIT(TEXT_LIMIT);
	int rc;

	rc = expect(reader, TKB_JSON_STRING, err);
	if (rc < 0)
		return rc;
	tkb_json_decode(tkb_json_raw(&reader->json, &reader->token), &value);
	if (value.failure == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	if (value.failure != 0 || has_control_character(tkb_buf_bytes(&value)))
		return refuse(reader, err);
	*out = tkb_arena_string(&reader->record->arena, tkb_buf_bytes(&value));
	return *out == NULL ? tkb_fail_nomem(err) : 0;
}

static int read_digest(struct reader *reader, struct tkb_digest *out,
                       struct tkb_error *err)
{
	int rc;

	rc = expect(reader, TKB_JSON_STRING, err);
	if (rc < 0)
		return rc;
	if (!tkb_digest_from_hex(tkb_json_raw(&reader->json, &reader->token),
	                         out))
		return refuse(reader, err);
	return 0;
}

static int number_of(const struct reader *reader, uint64_t limit, uint64_t *out,
                     struct tkb_error *err)
{
	if (reader->token.type != TKB_JSON_NUMBER ||
	    !tkb_json_number(&reader->json, &reader->token, out) ||
	    *out > limit)
		return refuse(reader, err);
	return 0;
}

static int read_number(struct reader *reader, uint64_t limit, uint64_t *out,
                       struct tkb_error *err)
{
	int rc;

	rc = expect(reader, TKB_JSON_NUMBER, err);
	return rc == 0 ? number_of(reader, limit, out, err) : rc;
}

static int read_blob(struct reader *reader, struct tkb_error *err)
{
	int rc;

	rc = expect(reader, TKB_JSON_ARRAY, err);
	if (rc == 0)
		rc = read_digest(reader, &reader->record->blob, err);
	if (rc == 0)
		rc = read_number(reader, UINT64_MAX, &reader->record->size,
		                 err);
	return rc == 0 ? expect(reader, TKB_JSON_ARRAY_END, err) : rc;
}

static int read_target(struct reader *reader, struct tkb_target *out,
                       struct tkb_error *err)
{
	uint64_t warp_size = 0;
	int rc;

	rc = expect(reader, TKB_JSON_ARRAY, err);
	if (rc == 0)
		rc = read_text(reader, &out->backend, err);
	if (rc == 0)
		rc = read_text(reader, &out->arch, err);
	if (rc == 0)
		rc = read_number(reader, UINT32_MAX, &warp_size, err);
	out->warp_size = (uint32_t)warp_size;
	return rc == 0 ? expect(reader, TKB_JSON_ARRAY_END, err) : rc;
}

/* The next token, whatever it is. */
static int advance(struct reader *reader, struct tkb_error *err)
{
	return tkb_json_next(&reader->json, &reader->token, NULL) < 0
	               ? refuse(reader, err)
	               : 0;
}

static int keep_devices(struct reader *reader, size_t count,
                        struct tkb_record_entry *entry, struct tkb_error *err)
{
	uint32_t *kept;

	if (count == 0)
		return refuse(reader, err);
	kept = tkb_arena_alloc(&reader->record->arena, count, sizeof(*kept));
	if (kept == NULL)
		return tkb_fail_nomem(err);
	memcpy(kept, reader->devices, count * sizeof(*kept));
	entry->devices = kept;
	entry->device_count = count;
	return 0;
}

static int read_devices(struct reader *reader, struct tkb_record_entry *entry,
                        struct tkb_error *err)
{
	uint64_t device = 0;
	int rc;

	rc = expect(reader, TKB_JSON_ARRAY, err);
	for (size_t count = 0; rc == 0; count++) {
		rc = advance(reader, err);
		if (rc == 0 && reader->token.type == TKB_JSON_ARRAY_END)
			return keep_devices(reader, count, entry, err);
		if (rc == 0)
			rc = number_of(reader, TKB_DEVICE_LIMIT - 1, &device,
			               err);
		if (rc == 0 && count != 0 &&
		    device <= reader->devices[count - 1])
			rc = refuse(reader, err);
		if (rc == 0)
			rc = tkb_grow(&reader->devices,
			              &reader->device_capacity, count,
			              sizeof(*reader->devices), err);
		if (rc == 0)
			reader->devices[count] = (uint32_t)device;
	}
	return rc;
}

/* Behind the "[" of an entry. */
static int read_entry(struct reader *reader, struct tkb_record_entry *entry,
                      struct tkb_error *err)
{
	int rc;

	rc = read_text(reader, &entry->key, err);
	if (rc == 0 && !tkb_key_is_valid(entry->key))
		rc = refuse(reader, err);
	if (rc == 0)
		rc = read_text(reader, &entry->platform, err);
	if (rc == 0)
		rc = read_target(reader, &entry->target, err);
	if (rc == 0)
		rc = read_devices(reader, entry, err);
	return rc == 0 ? expect(reader, TKB_JSON_ARRAY_END, err) : rc;
}

static int keep_entries(struct reader *reader, struct tkb_error *err)
{
	struct tkb_record *record = reader->record;

	record->entries = tkb_arena_alloc(&record->arena, record->entry_count,
	                                  sizeof(*record->entries));
	if (record->entries == NULL)
		return tkb_fail_nomem(err);
	if (record->entry_count != 0)
		memcpy(record->entries, reader->entries,
		       record->entry_count * sizeof(*record->entries));
	return 0;
}

static int read_entries(struct reader *reader, struct tkb_error *err)
{
	struct tkb_record *record = reader->record;
	int rc;

	rc = expect(reader, TKB_JSON_ARRAY, err);
	while (rc == 0) {
		struct tkb_record_entry entry = { 0 };

		rc = advance(reader, err);
		if (rc == 0 && reader->token.type == TKB_JSON_ARRAY_END)
			return keep_entries(reader, err);
		if (rc == 0 && (reader->token.type != TKB_JSON_ARRAY ||
		                record->entry_count == TKB_ENTRIES_LIMIT))
			rc = refuse(reader, err);
		if (rc == 0)
			rc = read_entry(reader, &entry, err);
		if (rc == 0)
			rc = tkb_grow(&reader->entries, &reader->entry_capacity,
			              record->entry_count, sizeof(entry), err);
		if (rc == 0)
			reader->entries[record->entry_count++] = entry;
	}
	return rc;
}

static int read_profile(struct reader *reader, struct tkb_error *err)
{
	int rc;

	rc = expect(reader, TKB_JSON_STRING, err);
	if (rc < 0)
		return rc;
	reader->record->is_lean = token_is(reader, "lean");
	if (!reader->record->is_lean && !token_is(reader, "full"))
		return refuse(reader, err);
	return 0;
}

/* What a newer tkbundle wrote is passed over, not called damaged. */
static int read_version(struct reader *reader, struct tkb_error *err)
{
	uint64_t version = 0;
	int rc;

	rc = read_number(reader, UINT64_MAX, &version, err);
	if (rc == 0 && version > RECORD_VERSION)
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "the record has version %llu, this tkbundle "
		                "reads up to %d",
		                (unsigned long long)version, RECORD_VERSION);
	return rc == 0 && version != RECORD_VERSION ? refuse(reader, err) : rc;
}

static int read_format(struct reader *reader, struct tkb_error *err)
{
	int rc;

	rc = expect(reader, TKB_JSON_STRING, err);
	return rc == 0 && !token_is(reader, RECORD_FORMAT) ? refuse(reader, err)
	                                                   : rc;
}

static int read_id(struct reader *reader, struct tkb_error *err)
{
	return read_digest(reader, &reader->record->bundle, err);
}

static int read_frames(struct reader *reader, struct tkb_error *err)
{
	return read_digest(reader, &reader->record->frames, err);
}

static int parse(struct reader *reader, struct tkb_error *err)
{
	static const struct {
		const char *name;
		int (*read)(struct reader *reader, struct tkb_error *err);
	} members[] = {
		{ "blob", read_blob },       { "bundle", read_id },
		{ "entries", read_entries }, { "format", read_format },
		{ "frames", read_frames },   { "profile", read_profile },
		{ "version", read_version },
	};
	int rc;

	rc = expect(reader, TKB_JSON_OBJECT, err);
	for (size_t i = 0; i < TKB_COUNT_OF(members) && rc == 0; i++) {
		rc = read_member(reader, members[i].name, err);
		if (rc == 0)
			rc = members[i].read(reader, err);
	}
	if (rc == 0)
		rc = expect(reader, TKB_JSON_OBJECT_END, err);
	return rc == 0 ? expect(reader, TKB_JSON_END, err) : rc;
}

int tkb_record_parse(struct tkb_bytes text, struct tkb_record *out,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_record_release) struct tkb_record record = { 0 };
	TKB_AUTO(reader_release)
	struct reader reader = { .json = tkb_json_of(text, TKB_JSON_CANONICAL),
		                 .record = &record };
	int rc;

	rc = parse(&reader, err);
	if (rc < 0)
		return rc;
	*out = record;
	record = (struct tkb_record){ 0 };
	return 0;
}

bool tkb_record_may_be_newer(struct tkb_bytes text)
{
	struct tkb_json json = tkb_json_of(text, 0);
	struct tkb_json_token token;
	bool is_newer = false;
	int rc;

	rc = tkb_json_next(&json, &token, NULL);
	if (rc < 0 || token.type != TKB_JSON_OBJECT)
		return false;
	while (rc == 0) {
		bool is_version;
		uint64_t version;

		rc = tkb_json_next(&json, &token, NULL);
		if (rc < 0 || token.type != TKB_JSON_KEY)
			break;
		is_version = tkb_json_equals(tkb_json_raw(&json, &token),
		                             tkb_text("version"));
		rc = tkb_json_next(&json, &token, NULL);
		if (rc < 0)
			break;
		is_newer |= is_version &&
		            (!tkb_json_number(&json, &token, &version) ||
		             version != RECORD_VERSION);
		rc = tkb_json_skip(&json, &token, NULL);
	}
	return rc == 0 && token.type == TKB_JSON_OBJECT_END && is_newer;
}
