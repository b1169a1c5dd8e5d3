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

static const struct tkb_schema_field blob_fields[] = {
	TKB_FIELD_DIGEST(NULL, struct tkb_record, blob),
	TKB_FIELD_NUMBER(NULL, struct tkb_record, size, UINT64_MAX),
};

static const struct tkb_schema_field version_fields[] = {
	TKB_FIELD_DIGEST(NULL, struct tkb_version, digest),
	TKB_FIELD_NUMBER(NULL, struct tkb_version, changed_ms, UINT64_MAX),
};

static const struct tkb_schema_field unit_fields[] = {
	TKB_FIELD_TEXT(NULL, struct tkb_record_entry, tree,
	               tkb_tree_name_is_valid, "a tree's name is not allowed"),
	TKB_FIELD_TEXT(NULL, struct tkb_record_entry, name,
	               tkb_unit_path_is_valid, "a unit's path is not allowed"),
	{ .kind = TKB_SCHEMA_TUPLE,
	  .is_optional = true,
	  .offset = offsetof(struct tkb_record_entry, version),
	  .schema =
	          TKB_TUPLE_OF(version_fields, "a version has too many parts"),
	  .missing = "a version is not a list" },
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
	  .schema = TKB_TUPLE_OF(unit_fields, "a unit has too many parts"),
	  .missing = "a unit is not a list" },
};

static const struct tkb_schema_list entry_list = {
	TKB_ITEMS_TUPLE(
		struct tkb_record_entry,
		TKB_TUPLE_OF(entry_fields, "an entry has too many parts"),
		"an entry is not a list"),
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

static const struct tkb_schema_list triton_list = {
	.item = { .kind = TKB_SCHEMA_TEXT },
	.item_size = sizeof(const char *),
	.none = "no versions of Triton",
	.limit = TKB_RECORD_TRITONS_LIMIT,
	.too_many = "too many versions of Triton",
	.compare = tkb_compare_texts,
	.unsorted = "versions of Triton are not sorted",
};

static const struct tkb_schema_list maker_list = {
	.item = { .kind = TKB_SCHEMA_TEXT,
	          .is_valid = tkb_maker_is_valid,
	          .wrong = "a maker is not allowed" },
	.item_size = sizeof(const char *),
	.none = "no makers",
	.limit = TKB_RECORD_MAKERS_LIMIT,
	.too_many = "too many makers",
	.compare = tkb_compare_texts,
	.unsorted = "makers are not sorted",
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
	const char *profile;
	uint64_t version;
};

static const struct tkb_schema_field fields[] = {
	TKB_FIELD_TUPLE("blob", offsetof(struct reading, record),
	                TKB_TUPLE_OF(blob_fields, "a blob has too many parts"),
	                "a blob is not a list"),
	TKB_FIELD_DIGEST("bundle", struct reading, record.bundle),
	TKB_FIELD_LIST("entries", struct reading, record.entries,
	               record.entry_count, &entry_list,
	               "entries are not a list"),
	TKB_FIELD_CONSTANT("format", TKB_RECORD_FORMAT,
	                   "the format is not '" TKB_RECORD_FORMAT "'"),
	TKB_FIELD_DIGEST("frames", struct reading, record.frames),
	TKB_FIELD_LAYOUT(struct reading, record.layout),
	TKB_OPTIONAL_LIST("made", struct reading, record.made,
	                  record.made_count, &made_list,
	                  "'made' is not a list"),
	TKB_OPTIONAL_LIST("makers", struct reading, record.makers,
	                  record.maker_count, &maker_list,
	                  "makers are not a list"),
	TKB_FIELD_TEXT("profile", struct reading, profile,
	               tkb_contents_profile_is_valid,
	               "the profile is not known"),
	TKB_OPTIONAL_LIST("pushes", struct reading, record.pushes,
	                  record.push_count, &tkb_pushes_schema,
	                  "pushes are not a list"),
	TKB_OPTIONAL_LIST("times", struct reading, record.times,
	                  record.time_count, &time_list,
	                  "times are not a list"),
	TKB_OPTIONAL_LIST("triton", struct reading, record.tritons,
	                  record.triton_count, &triton_list,
	                  "versions of Triton are not a list"),
	TKB_FIELD_CUSTOM("version", offsetof(struct reading, version),
	                 read_version),
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
	TKB_AUTO(release_reading) struct reading reading = { .profile = NULL };
	const struct tkb_schema_document document = {
		.text = text,
		.flags = TKB_JSON_CANONICAL,
		.name = "the record",
		.arena = &reading.record.arena,
	};
	int rc;

	rc = tkb_schema_read(&document, TKB_CLOSED_OF(fields), &reading, err);
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
		TKB_FIELD_CUSTOM("version", 0, note_other_version),
	};
	const struct tkb_schema_document document = { .text = text,
		                                      .name = "it" };
	bool is_newer = false;

	return tkb_schema_read(&document, TKB_OBJECT_OF(version), &is_newer,
	                       NULL) == 0 &&
	       is_newer;
}
