/* SPDX-License-Identifier: Apache-2.0 */
#include "records/record.h"

#include "base/digest.h"
#include "cache/key.h"
#include "cache/names.h"
#include "tree/unit.h"
#include "format/manifest_schema.h"
#include "format/manifest_trees.h"
#include "format/reader.h"

void tkb_record_release(struct tkb_record *record)
{
	tkb_digests_release(&record->origin);
	tkb_arena_release(&record->arena);
	*record = (struct tkb_record){ 0 };
}

static bool is_format(const char *text)
{
	return strcmp(text, TKB_RECORD_FORMAT) == 0;
}

static const struct tkb_schema_field blob_fields[] = {
	TKB_FIELD_DIGEST(NULL, struct tkb_record, blob),
	TKB_FIELD_NUMBER(NULL, struct tkb_record, size, UINT64_MAX),
};

static const struct tkb_schema blob_schema = {
	.fields = blob_fields,
	.count = TKB_COUNT_OF(blob_fields),
	.too_many = "a blob has too many parts",
};

static const struct tkb_schema_field version_fields[] = {
	TKB_FIELD_DIGEST(NULL, struct tkb_version, digest),
	TKB_FIELD_NUMBER(NULL, struct tkb_version, changed_ms, UINT64_MAX),
};

static const struct tkb_schema version_schema = {
	.fields = version_fields,
	.count = TKB_COUNT_OF(version_fields),
	.too_many = "a version has too many parts",
};

static const struct tkb_schema_field unit_fields[] = {
	TKB_FIELD_TEXT(NULL, struct tkb_record_entry, tree,
	               tkb_tree_name_is_valid, "a tree's name is not allowed"),
	TKB_FIELD_TEXT(NULL, struct tkb_record_entry, name,
	               tkb_unit_path_is_valid, "a unit's path is not allowed"),
	{ .kind = TKB_SCHEMA_TUPLE,
	  .is_optional = true,
	  .offset = offsetof(struct tkb_record_entry, version),
	  .schema = &version_schema,
	  .missing = "a version is not a list" },
};

static const struct tkb_schema unit_schema = {
	.fields = unit_fields,
	.count = TKB_COUNT_OF(unit_fields),
	.too_many = "a unit has too many parts",
};

static const struct tkb_schema_field entry_fields[] = {
	TKB_FIELD_TEXT(NULL, struct tkb_record_entry, key, tkb_key_is_valid,
	               "a key has no known shape"),
	TKB_FIELD_TEXT(NULL, struct tkb_record_entry, platform, NULL, NULL),
	TKB_FIELD_TUPLE(NULL, offsetof(struct tkb_record_entry, target),
	                &tkb_target_schema, "a target is not a list"),
	TKB_FIELD_LIST(NULL, struct tkb_record_entry, devices, device_count,
	               &tkb_device_list, "devices are not a list"),
	{ .kind = TKB_SCHEMA_TUPLE,
	  .is_optional = true,
	  .schema = &unit_schema,
	  .missing = "a unit is not a list" },
};

static const struct tkb_schema entry_schema = {
	.fields = entry_fields,
	.count = TKB_COUNT_OF(entry_fields),
	.too_many = "an entry has too many parts",
};

static const struct tkb_schema_list entry_list = {
	.item = { .kind = TKB_SCHEMA_TUPLE,
	          .schema = &entry_schema,
	          .missing = "an entry is not a list" },
	.item_size = sizeof(struct tkb_record_entry),
	.limit = TKB_ENTRIES_LIMIT,
	.too_many = "too many entries",
};

static const struct tkb_schema_list time_list = {
	.item = { .kind = TKB_SCHEMA_NUMBER,
	          .size = sizeof(uint32_t),
	          .limit = UINT32_MAX },
	.item_size = sizeof(uint32_t),
	.none = "no times",
	.limit = TKB_ENTRIES_LIMIT,
	.too_many = "too many times",
};

static bool is_sorted(const void *earlier, size_t count, const void *item)
{
	const char *const *texts = earlier;

	return count == 0 || tkb_compare_texts(&texts[count - 1], item) < 0;
}

static const char *triton_fault(const void *earlier, size_t count,
                                const void *item)
{
	return is_sorted(earlier, count, item)
	               ? NULL
	               : "versions of Triton are not sorted";
}

static const char *maker_fault(const void *earlier, size_t count,
                               const void *item)
{
	return is_sorted(earlier, count, item) ? NULL : "makers are not sorted";
}

static const struct tkb_schema_list triton_list = {
	.item = { .kind = TKB_SCHEMA_TEXT },
	.item_size = sizeof(const char *),
	.none = "no versions of Triton",
	.limit = TKB_RECORD_TRITONS_LIMIT,
	.too_many = "too many versions of Triton",
	.fault = triton_fault,
};

static const struct tkb_schema_list maker_list = {
	.item = { .kind = TKB_SCHEMA_TEXT,
	          .is_valid = tkb_maker_is_valid,
	          .wrong = "a maker is not allowed" },
	.item_size = sizeof(const char *),
	.none = "no makers",
	.limit = TKB_RECORD_MAKERS_LIMIT,
	.too_many = "too many makers",
	.fault = maker_fault,
};

static const struct tkb_schema_list made_list = {
	.item = { .kind = TKB_SCHEMA_NUMBER,
	          .size = sizeof(uint32_t),
	          .limit = TKB_RECORD_MAKERS_LIMIT },
	.item_size = sizeof(uint32_t),
	.limit = TKB_ENTRIES_LIMIT,
	.too_many = "too many numbers of makers",
};

/* A record of a newer tkbundle is ignored: it is not called damaged. */
static int read_version(struct tkb_schema_reader *reader, void *out,
                        struct tkb_error *err)
{
	uint64_t *version = out;
	int rc;

	rc = tkb_schema_version(reader, TKB_RECORD_VERSION, version, err);
	if (rc == 0 && *version > TKB_RECORD_VERSION_LAST)
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "the record has version %llu, this tkbundle "
		                "reads up to %d",
		                (unsigned long long)*version,
		                TKB_RECORD_VERSION_LAST);
	return rc;
}

/* A record, and the members that are only checked. */
struct reading {
	struct tkb_record record;
	const char *format;
	const char *profile;
	uint64_t version;
};

static const struct tkb_schema_field fields[] = {
	TKB_FIELD_TUPLE("blob", offsetof(struct reading, record), &blob_schema,
	                "a blob is not a list"),
	TKB_FIELD_DIGEST("bundle", struct reading, record.bundle),
	TKB_FIELD_LIST("entries", struct reading, record.entries,
	               record.entry_count, &entry_list,
	               "entries are not a list"),
	TKB_FIELD_TEXT("format", struct reading, format, is_format,
	               "the format is not 'tkbundle-record'"),
	TKB_FIELD_DIGEST("frames", struct reading, record.frames),
	TKB_FIELD_LAYOUT(struct reading, record.layout),
	{ .name = "made",
	  .kind = TKB_SCHEMA_LIST,
	  .offset = offsetof(struct reading, record.made),
	  .count_offset = offsetof(struct reading, record.made_count),
	  .is_optional = true,
	  .list = &made_list,
	  .missing = "'made' is not a list" },
	{ .name = "makers",
	  .kind = TKB_SCHEMA_LIST,
	  .offset = offsetof(struct reading, record.makers),
	  .count_offset = offsetof(struct reading, record.maker_count),
	  .is_optional = true,
	  .list = &maker_list,
	  .missing = "makers are not a list" },
	TKB_FIELD_TEXT("profile", struct reading, profile,
	               tkb_contents_profile_is_valid,
	               "the profile is not known"),
	{ .name = "pushes",
	  .kind = TKB_SCHEMA_LIST,
	  .offset = offsetof(struct reading, record.pushes),
	  .count_offset = offsetof(struct reading, record.push_count),
	  .is_optional = true,
	  .list = &tkb_pushes_schema,
	  .missing = "pushes are not a list" },
	{ .name = "times",
	  .kind = TKB_SCHEMA_LIST,
	  .offset = offsetof(struct reading, record.times),
	  .count_offset = offsetof(struct reading, record.time_count),
	  .is_optional = true,
	  .list = &time_list,
	  .missing = "times are not a list" },
	{ .name = "triton",
	  .kind = TKB_SCHEMA_LIST,
	  .offset = offsetof(struct reading, record.tritons),
	  .count_offset = offsetof(struct reading, record.triton_count),
	  .is_optional = true,
	  .list = &triton_list,
	  .missing = "versions of Triton are not a list" },
	{ .name = "version",
	  .kind = TKB_SCHEMA_CUSTOM,
	  .offset = offsetof(struct reading, version),
	  .read = read_version },
};

static void release_reading(struct reading *reading)
{
	tkb_record_release(&reading->record);
}

/*
 * Check that a record with units or a layout has its version, and that keys of
 * units fit their trees and names.
 */
static int check_units(const struct reading *reading, struct tkb_error *err)
{
	TKB_AUTO(tkb_hasher_close) struct tkb_hasher hasher = { 0 };
	const struct tkb_record *record = &reading->record;
	bool has_units = record->layout != NULL;
	int rc;

	rc = tkb_hasher_open(&hasher, err);
	for (size_t i = 0; i < record->entry_count && rc == 0; i++) {
		const struct tkb_record_entry *entry = &record->entries[i];
		char key[TKB_DIGEST_HEX_SIZE];

		if (entry->tree == NULL)
			continue;
		has_units = true;
		rc = tkb_unit_tree_key(&hasher, entry->tree, entry->name, key,
		                       err);
		if (rc == 0 && strcmp(key, entry->key) != 0)
			return tkb_fail(err, TKB_ERR_CORRUPT,
			                "the record has unit '%.200s' under "
			                "another key",
			                entry->name);
	}
	if (rc == 0 && reading->version < TKB_RECORD_VERSION_TIMES &&
	    has_units != (reading->version == TKB_RECORD_VERSION_UNITS))
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "the record's version does not fit its units "
		                "or layout");
	return rc;
}

/* Check that the numbers of makers fit the makers and the entries. */
static int check_makers(const struct reading *reading, struct tkb_error *err)
{
	const struct tkb_record *record = &reading->record;
	bool is_right = record->made_count ==
	                (record->maker_count > 0 ? record->entry_count : 0);

	for (size_t i = 0; i < record->made_count; i++)
		is_right = is_right && record->made[i] <= record->maker_count;
	return is_right ? 0
	                : tkb_fail(err, TKB_ERR_CORRUPT,
	                           "the record's makers do not fit its "
	                           "entries");
}

/*
 * Check that there is one time for each entry and at least one is known, or
 * else no times; and that the version fits.
 */
static int check_facts(const struct reading *reading, struct tkb_error *err)
{
	const struct tkb_record *record = &reading->record;
	const bool has_notes = record->triton_count > 0 ||
	                       record->push_count > 0 ||
	                       record->maker_count > 0;
	bool is_known = false;

	for (size_t i = 0; i < record->time_count; i++)
		is_known |= record->times[i] != 0;
	if (has_notes != (reading->version == TKB_RECORD_VERSION_NOTES))
		return tkb_fail(
			err, TKB_ERR_CORRUPT,
			"the record's version does not fit its members");
	if ((has_notes ||
	     is_known == (reading->version == TKB_RECORD_VERSION_TIMES)) &&
	    record->time_count == (is_known ? record->entry_count : 0))
		return 0;
	return tkb_fail(err, TKB_ERR_CORRUPT,
	                "the record's times do not fit its version or entries");
}

int tkb_record_add_versions(const struct tkb_record *record,
                            struct tkb_versions *versions,
                            struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < record->entry_count && rc == 0; i++) {
		if (!tkb_version_is_none(&record->entries[i].version))
			rc = tkb_versions_add(versions,
			                      &record->entries[i].version, err);
	}
	return rc;
}

int tkb_record_add_pushes(const struct tkb_record *record,
                          struct tkb_pushes *pushes, struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < record->push_count && rc == 0; i++)
		rc = tkb_pushes_add(pushes, &record->pushes[i], err);
	return rc;
}

int tkb_record_add_times(const struct tkb_record *record,
                         struct tkb_times *times, struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < record->time_count && rc == 0; i++) {
		if (record->times[i] != 0)
			rc = tkb_times_add(times, record->entries[i].key,
			                   record->times[i], err);
	}
	return rc;
}

int tkb_record_add_makers(const struct tkb_record *record,
                          struct tkb_makers *makers, struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < record->made_count && rc == 0; i++) {
		if (record->made[i] != 0)
			rc = tkb_makers_add(makers, record->entries[i].key,
			                    record->makers[record->made[i] - 1],
			                    err);
	}
	return rc;
}

int tkb_record_parse(struct tkb_bytes text, struct tkb_record *out,
                     struct tkb_error *err)
{
	static const struct tkb_schema schema = {
		.fields = fields,
		.count = TKB_COUNT_OF(fields),
		.is_closed = true,
	};
	TKB_AUTO(release_reading) struct reading reading = { .format = NULL };
	const struct tkb_schema_document document = {
		.text = text,
		.flags = TKB_JSON_CANONICAL,
		.name = "the record",
		.arena = &reading.record.arena,
	};
	int rc;

	rc = tkb_schema_read(&document, &schema, &reading, err);
	if (rc == 0)
		rc = check_units(&reading, err);
	if (rc == 0)
		rc = check_facts(&reading, err);
	if (rc == 0)
		rc = check_makers(&reading, err);
	if (rc < 0)
		return rc;
	reading.record.is_lean = strcmp(reading.profile, "lean") == 0;
	*out = reading.record;
	reading.record = (struct tkb_record){ 0 };
	return 0;
}

static int note_other_version(struct tkb_schema_reader *reader, void *out,
                              struct tkb_error *err)
{
	bool *is_other = out;
	uint64_t version = 0;

	*is_other |=
		!tkb_json_number(&reader->json, &reader->token, &version) ||
		version < TKB_RECORD_VERSION ||
		version > TKB_RECORD_VERSION_LAST;
	return tkb_schema_skip(reader, err);
}

bool tkb_record_may_be_newer(struct tkb_bytes text)
{
	static const struct tkb_schema_field version[] = {
		TKB_FIELD_CUSTOM("version", note_other_version),
	};
	static const struct tkb_schema schema = TKB_SCHEMA_OF(version);
	const struct tkb_schema_document document = { .text = text,
		                                      .name = "it" };
	bool is_newer = false;

	return tkb_schema_read(&document, &schema, &is_newer, NULL) == 0 &&
	       is_newer;
}
