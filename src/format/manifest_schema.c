/* SPDX-License-Identifier: Apache-2.0 */
#include "format/manifest_schema.h"

#include "base/path.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "cache/names.h"
#include "format/launcher_payload.h"

static bool is_member_name(const char *text)
{
	return tkb_name_is_valid(tkb_text(text));
}

static bool is_cache_key(const char *text)
{
	return tkb_launcher_text_is_valid(text, TKB_CACHE_KEY_LIMIT);
}

static bool is_launcher_name(const char *text)
{
	return tkb_launcher_text_is_valid(text, TKB_NAME_LIMIT);
}

static const char *kind_word(unsigned number)
{
	return number <= TKB_KIND_MODULE ? tkb_kind_name((enum tkb_kind)number)
	                                 : NULL;
}

static const char *need_word(unsigned number)
{
	return number <= TKB_NEED_ANY ? tkb_need_name((enum tkb_need)number)
	                              : NULL;
}

static const char *device_fault(const void *earlier, size_t count,
                                const void *item)
{
	const uint32_t *before = earlier;
	const uint32_t *device = item;

	return count != 0 && *device <= before[count - 1]
	               ? "devices do not ascend"
	               : NULL;
}

const struct tkb_schema_list tkb_device_list = {
	.item = { .kind = TKB_SCHEMA_NUMBER,
	          .size = sizeof(uint32_t),
	          .limit = TKB_DEVICE_LIMIT - 1 },
	.item_size = sizeof(uint32_t),
	.none = "an entry without devices",
	.fault = device_fault,
};

bool tkb_contents_profile_is_valid(const char *text)
{
	return strcmp(text, "full") == 0 || strcmp(text, "lean") == 0;
}

static const struct tkb_schema_field file_fields[] = {
	TKB_FIELD_TEXT(NULL, struct tkb_file, name, is_member_name,
	               "a file's name is not allowed"),
	TKB_FIELD_NUMBER(NULL, struct tkb_file, size, TKB_FILE_SIZE_LIMIT),
	TKB_FIELD_DIGEST(NULL, struct tkb_file, digest),
	TKB_FIELD_SENTINELS,
};

static const struct tkb_schema_list file_list = {
	TKB_ITEMS_TUPLE(struct tkb_file,
	                TKB_TUPLE_OF(file_fields, "a file has too many parts"),
	                "a file is not a list"),
	.limit = TKB_FILES_LIMIT,
	.none = "an entry without files",
	.too_many = "an entry has too many files",
	.compare = tkb_compare_files,
	.unsorted = "files are not in order",
};

static const struct tkb_schema_field producer_fields[] = {
	TKB_FIELD_TEXT(NULL, struct tkb_entry, producer, NULL, NULL),
	TKB_FIELD_TEXT(NULL, struct tkb_entry, producer_version, NULL, NULL),
};

static const struct tkb_schema_field target_fields[] = {
	TKB_FIELD_TEXT(NULL, struct tkb_target, backend, NULL, NULL),
	TKB_FIELD_TEXT(NULL, struct tkb_target, arch, NULL, NULL),
	TKB_FIELD_NUMBER(NULL, struct tkb_target, warp_size, UINT32_MAX),
};

const struct tkb_schema tkb_target_schema = {
	.fields = target_fields,
	.count = TKB_COUNT_OF(target_fields),
	.too_many = "a target has too much",
};

static const struct tkb_schema_field entry_fields[] = {
	TKB_FIELD_LIST("devices", struct tkb_entry, devices, device_count,
	               &tkb_device_list, "devices are not a list"),
	TKB_FIELD_LIST("files", struct tkb_entry, files, file_count, &file_list,
	               "files are not a list"),
	TKB_FIELD_TEXT("key", struct tkb_entry, key, tkb_key_is_valid,
	               "a key has no known shape"),
	TKB_FIELD_CHOICE("kind", struct tkb_entry, kind, kind_word,
	                 "a kind is missing", "a kind is not known"),
	TKB_FIELD_TEXT("name", struct tkb_entry, name, is_member_name,
	               "an entry's name is not allowed"),
	TKB_FIELD_TEXT("platform", struct tkb_entry, platform, NULL, NULL),
	TKB_FIELD_TUPLE(
		"producer", 0,
		TKB_TUPLE_OF(producer_fields, "a producer has too much"),
		"a producer is not a list"),
	TKB_FIELD_TUPLE("target", offsetof(struct tkb_entry, target),
	                &tkb_target_schema, "a target is not a list"),
};

/* A kernel has exactly one group file; any other entry has none. */
static bool kind_fits_files(const struct tkb_entry *entry)
{
	size_t groups = 0;

	for (size_t i = 0; i < entry->file_count; i++) {
		if (tkb_name_is_group(entry->files[i].name))
			groups++;
	}
	return groups == (entry->kind == TKB_KIND_KERNEL ? 1 : 0);
}

static const char *entry_fault(const void *earlier, size_t count,
                               const void *item)
{
	const struct tkb_entry *before = earlier;
	const struct tkb_entry *entry = item;

	if (tkb_entry_size(entry) > TKB_ENTRY_SIZE_LIMIT)
		return "an entry is too large";
	if (!kind_fits_files(entry))
		return "an entry's files do not fit its kind";
	if (count != 0 && tkb_entry_compare(&before[count - 1], entry) >= 0)
		return "entries are not in order";
	return NULL;
}

const struct tkb_schema_list tkb_manifest_entries = {
	TKB_ITEMS_OBJECT(struct tkb_entry, TKB_OBJECT_OF(entry_fields),
	                 "an entry is not an object"),
	.limit = TKB_ENTRIES_LIMIT,
	.too_many = "too many entries",
	.fault = entry_fault,
};

static const char *need_fault(const void *earlier, size_t count,
                              const void *item)
{
	const char *const *key = item;

	return tkb_is_among(*key, earlier, count)
	               ? "a launcher needs a key twice"
	               : NULL;
}

static const struct tkb_schema_list need_list = {
	.item = { .kind = TKB_SCHEMA_TEXT,
	          .missing = "a needed key is not a string",
	          .is_valid = tkb_key_is_valid,
	          .wrong = "a key has no known shape" },
	.item_size = sizeof(const char *),
	.limit = TKB_NEEDS_LIMIT,
	.none = "a launcher needs nothing",
	.too_many = "a launcher needs too much",
	.fault = need_fault,
};

static const struct tkb_schema_field payload_fields[] = {
	TKB_FIELD_DIGEST(NULL, struct tkb_saved_launcher, digest),
	TKB_FIELD_NUMBER(NULL, struct tkb_saved_launcher, size,
	                 TKB_FILE_SIZE_LIMIT),
};

static const struct tkb_schema_field launcher_fields[] = {
	TKB_FIELD_TEXT("key", struct tkb_saved_launcher, cache_key,
	               is_cache_key, "a launcher's key is not allowed"),
	TKB_FIELD_TEXT("name", struct tkb_saved_launcher, name,
	               is_launcher_name, "a launcher's name is not allowed"),
	TKB_FIELD_CHOICE("need", struct tkb_saved_launcher, need, need_word,
	                 "a need is missing", "a need is not known"),
	TKB_FIELD_LIST("needs", struct tkb_saved_launcher, needs, need_count,
	               &need_list, "needs are not a list"),
	TKB_FIELD_TUPLE(
		"payload", 0,
		TKB_TUPLE_OF(payload_fields, "a payload has too many parts"),
		"a payload is not a list"),
};

const struct tkb_schema_list tkb_manifest_launchers = {
	TKB_ITEMS_OBJECT(struct tkb_saved_launcher,
	                 TKB_OBJECT_OF(launcher_fields),
	                 "a launcher is not an object"),
	.limit = TKB_LAUNCHERS_LIMIT,
	.too_many = "too many launchers",
	.compare = tkb_compare_texts, /* by their keys */
	.unsorted = "launchers are not in order",
};
