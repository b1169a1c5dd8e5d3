/* SPDX-License-Identifier: Apache-2.0 */
#include "bundle/manifest.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/json.h"
#include "base/path.h"
#include "bundle/key.h"
#include "bundle/names.h"

enum {
	TEXT_LIMIT = 4096
};

/* Reads tokens in the one order that canonical JSON allows. */
struct parser {
	struct tkb_json json;
	struct tkb_manifest *manifest;
	struct tkb_json_token token; /* the one just read */
	size_t entry_capacity;
	struct tkb_entry *entries; /* owned until the end */
	struct tkb_file *files;    /* of the entry being read; owned */
	size_t file_capacity;
	uint32_t *devices; /* likewise */
	size_t device_capacity;
};

static void parser_release(struct parser *parser)
{
	free(parser->entries);
	free(parser->files);
	free(parser->devices);
}

static int
refuse(const struct parser *parser, const char *what, struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_CORRUPT, "the manifest at byte %zu: %s",
	                parser->token.start, what);
}

static int advance(struct parser *parser, struct tkb_error *err)
{
	struct tkb_error inner = { 0 };

	if (tkb_json_next(&parser->json, &parser->token, &inner) < 0)
		return tkb_fail(err, TKB_ERR_CORRUPT, "the manifest is %s",
		                inner.message);
	return 0;
}

static int expect(struct parser *parser, enum tkb_json_type type,
                  const char *what, struct tkb_error *err)
{
	int rc;

	rc = advance(parser, err);
	if (rc < 0)
		return rc;
	if (parser->token.type != type)
		return refuse(parser, what, err);
	return 0;
}

static bool token_is(const struct parser *parser, const char *text)
{
	return tkb_bytes_equal(tkb_json_raw(&parser->json, &parser->token),
	                       tkb_text(text));
}

/* They stand in a string only as escapes. */
static bool has_control_character(struct tkb_bytes text)
{
	for (size_t i = 0; i < text.size; i++) {
		if (((const unsigned char *)text.data)[i] < 0x20)
			return true;
	}
	return false;
}

/* The text of the string just read, kept. */
static int
keep_text(struct parser *parser, const char **out, struct tkb_error *err)
{
	const struct tkb_bytes raw =
	    tkb_json_raw(&parser->json, &parser->token);
	struct tkb_buf decoded = TKB_BUF_INIT(TEXT_LIMIT);
	struct tkb_bytes value = raw;
	const char *kept;

	if (raw.size > TEXT_LIMIT)
		return refuse(parser, "a text is too long", err);
	if (memchr(raw.data, '\\', raw.size) != NULL) {
		tkb_json_decode(raw, &decoded);
		value = tkb_buf_bytes(&decoded);
		if (has_control_character(value)) {
			tkb_buf_release(&decoded);
			return refuse(parser, "a control character", err);
		}
	}
	kept = tkb_arena_string(&parser->manifest->arena, value);
	tkb_buf_release(&decoded);
	if (kept == NULL)
		return tkb_fail_nomem(err);
	*out = kept;
	return 0;
}

static int
read_text(struct parser *parser, const char **out, struct tkb_error *err)
{
	int rc;

	rc = expect(parser, TKB_JSON_STRING, "a string is missing", err);
	if (rc < 0)
		return rc;
	return keep_text(parser, out, err);
}

static int number_of(const struct parser *parser, uint64_t limit, uint64_t *out,
                     struct tkb_error *err)
{
	uint64_t number;

	if (!tkb_json_number(&parser->json, &parser->token, &number))
		return refuse(parser, "a number is missing", err);
	if (number > limit)
		return refuse(parser, "a number is too large", err);
	*out = number;
	return 0;
}

static int read_number(struct parser *parser, uint64_t limit, uint64_t *out,
                       struct tkb_error *err)
{
	int rc;

	rc = advance(parser, err);
	if (rc < 0)
		return rc;
	return number_of(parser, limit, out, err);
}

static int read_devices(struct parser *parser, struct tkb_entry *entry,
                        struct tkb_error *err)
{
	uint32_t *kept;
	size_t count = 0;
	uint64_t device;
	int rc;

	rc = expect(parser, TKB_JSON_ARRAY, "devices are no list", err);
	if (rc < 0)
		return rc;
	for (;;) {
		rc = advance(parser, err);
		if (rc < 0)
			return rc;
		if (parser->token.type == TKB_JSON_ARRAY_END)
			break;
		rc = number_of(parser, TKB_DEVICE_LIMIT - 1, &device, err);
		if (rc < 0)
			return rc;
		if (count != 0 && device <= parser->devices[count - 1])
			return refuse(parser, "devices do not ascend", err);
		rc = tkb_grow(&parser->devices, &parser->device_capacity, count,
		              sizeof(*parser->devices), err);
		if (rc < 0)
			return rc;
		parser->devices[count++] = (uint32_t)device;
	}
	if (count == 0)
		return refuse(parser, "an entry of no device", err);
	kept = tkb_arena_alloc(&parser->manifest->arena, count, sizeof(*kept));
	if (kept == NULL)
		return tkb_fail_nomem(err);
	memcpy(kept, parser->devices, count * sizeof(*kept));
	entry->devices = kept;
	entry->device_count = count;
	return 0;
}

static int read_sentinels(struct parser *parser, struct tkb_file *file,
                          struct tkb_error *err)
{
	uint64_t number;
	int rc;

	rc = number_of(parser, UINT32_MAX, &number, err);
	if (rc < 0)
		return rc;
	if (number == 0)
		return refuse(parser, "a count of no sentinels", err);
	file->sentinels = (uint32_t)number;
	return expect(parser, TKB_JSON_ARRAY_END, "a file has too many parts",
	              err);
}

/* Behind the "[" of a file: name, size, digest, and perhaps sentinels. */
static int
read_file(struct parser *parser, struct tkb_file *file, struct tkb_error *err)
{
	int rc;

	rc = read_text(parser, &file->name, err);
	if (rc < 0)
		return rc;
	if (!tkb_name_is_valid(tkb_text(file->name)))
		return refuse(parser, "a file's name is not allowed", err);
	rc = read_number(parser, TKB_FILE_SIZE_LIMIT, &file->size, err);
	if (rc < 0)
		return rc;
	rc = expect(parser, TKB_JSON_STRING, "a digest is missing", err);
	if (rc < 0)
		return rc;
	if (!tkb_digest_from_hex(tkb_json_raw(&parser->json, &parser->token),
	                         &file->digest))
		return refuse(parser, "a digest is not 64 digits", err);
	rc = advance(parser, err);
	if (rc < 0)
		return rc;
	if (parser->token.type == TKB_JSON_ARRAY_END)
		return 0;
	return read_sentinels(parser, file, err);
}

static int keep_files(struct parser *parser, struct tkb_entry *entry,
                      size_t count, struct tkb_error *err)
{
	struct tkb_file *kept;

	if (count == 0)
		return refuse(parser, "an entry of no files", err);
	kept = tkb_arena_alloc(&parser->manifest->arena, count, sizeof(*kept));
	if (kept == NULL)
		return tkb_fail_nomem(err);
	memcpy(kept, parser->files, count * sizeof(*kept));
	entry->files = kept;
	entry->file_count = count;
	if (tkb_entry_size(entry) > TKB_ENTRY_SIZE_LIMIT)
		return refuse(parser, "an entry is too large", err);
	return 0;
}

static int read_files(struct parser *parser, struct tkb_entry *entry,
                      struct tkb_error *err)
{
	size_t count = 0;
	int rc;

	rc = expect(parser, TKB_JSON_ARRAY, "files are no list", err);
	if (rc < 0)
		return rc;
	for (;;) {
		struct tkb_file file = { 0 };

		rc = advance(parser, err);
		if (rc < 0)
			return rc;
		if (parser->token.type == TKB_JSON_ARRAY_END)
			return keep_files(parser, entry, count, err);
		if (parser->token.type != TKB_JSON_ARRAY)
			return refuse(parser, "a file is no list", err);
		if (count == TKB_FILES_LIMIT)
			return refuse(parser, "an entry of too many files",
			              err);
		rc = read_file(parser, &file, err);
		if (rc < 0)
			return rc;
		if (count != 0 &&
		    tkb_name_compare(parser->files[count - 1].name,
		                     file.name) >= 0)
			return refuse(parser, "files are not in order", err);
		rc = tkb_grow(&parser->files, &parser->file_capacity, count,
		              sizeof(file), err);
		if (rc < 0)
			return rc;
		parser->files[count++] = file;
	}
}

static int
read_kind(struct parser *parser, struct tkb_entry *entry, struct tkb_error *err)
{
	int rc;

	rc = expect(parser, TKB_JSON_STRING, "a kind is missing", err);
	if (rc < 0)
		return rc;
	for (int kind = TKB_KIND_AUTOTUNE; kind <= TKB_KIND_MODULE; kind++) {
		if (token_is(parser, tkb_kind_name((enum tkb_kind)kind))) {
			entry->kind = (enum tkb_kind)kind;
			return 0;
		}
	}
	return refuse(parser, "a kind is not known", err);
}

static int read_producer(struct parser *parser, struct tkb_entry *entry,
                         struct tkb_error *err)
{
	int rc;

	rc = expect(parser, TKB_JSON_ARRAY, "a producer is no list", err);
	if (rc < 0)
		return rc;
	rc = read_text(parser, &entry->producer, err);
	if (rc < 0)
		return rc;
	rc = read_text(parser, &entry->producer_version, err);
	if (rc < 0)
		return rc;
	return expect(parser, TKB_JSON_ARRAY_END, "a producer has too much",
	              err);
}

static int read_target(struct parser *parser, struct tkb_entry *entry,
                       struct tkb_error *err)
{
	uint64_t warp_size = 0;
	int rc;

	rc = expect(parser, TKB_JSON_ARRAY, "a target is no list", err);
	if (rc < 0)
		return rc;
	rc = read_text(parser, &entry->target.backend, err);
	if (rc < 0)
		return rc;
	rc = read_text(parser, &entry->target.arch, err);
	if (rc < 0)
		return rc;
	rc = read_number(parser, UINT32_MAX, &warp_size, err);
	if (rc < 0)
		return rc;
	entry->target.warp_size = (uint32_t)warp_size;
	return expect(parser, TKB_JSON_ARRAY_END, "a target has too much", err);
}

static int
read_key(struct parser *parser, struct tkb_entry *entry, struct tkb_error *err)
{
	int rc;

	rc = read_text(parser, &entry->key, err);
	if (rc < 0)
		return rc;
	if (!tkb_key_is_valid(entry->key))
		return refuse(parser, "a key has no known shape", err);
	return 0;
}

static int
read_name(struct parser *parser, struct tkb_entry *entry, struct tkb_error *err)
{
	return read_text(parser, &entry->name, err);
}

static int read_platform(struct parser *parser, struct tkb_entry *entry,
                         struct tkb_error *err)
{
	return read_text(parser, &entry->platform, err);
}

/* An entry's members; others are ignored. */
static const struct {
	const char *name;
	int (*read)(struct parser *parser, struct tkb_entry *entry,
	            struct tkb_error *err);
} entry_members[] = {
	{ "devices", read_devices },   { "files", read_files },
	{ "key", read_key },           { "kind", read_kind },
	{ "name", read_name },         { "platform", read_platform },
	{ "producer", read_producer }, { "target", read_target },
};

static int skip_value(struct parser *parser, struct tkb_error *err)
{
	struct tkb_error inner = { 0 };
	int rc;

	rc = advance(parser, err);
	if (rc < 0)
		return rc;
	if (tkb_json_skip(&parser->json, &parser->token, &inner) < 0)
		return tkb_fail(err, TKB_ERR_CORRUPT, "the manifest is %s",
		                inner.message);
	return 0;
}

/* Behind the "{" of an entry. */
static int read_entry(struct parser *parser, struct tkb_entry *entry,
                      struct tkb_error *err)
{
	unsigned seen = 0;
	int rc;

	for (;;) {
		size_t i = 0;

		rc = advance(parser, err);
		if (rc < 0)
			return rc;
		if (parser->token.type == TKB_JSON_OBJECT_END)
			break;
		while (i < TKB_COUNT_OF(entry_members) &&
		       !token_is(parser, entry_members[i].name))
			i++;
		if (i == TKB_COUNT_OF(entry_members)) {
			rc = skip_value(parser, err);
		} else {
			seen |= 1u << i;
			rc = entry_members[i].read(parser, entry, err);
		}
		if (rc < 0)
			return rc;
	}
	if (seen != (1u << TKB_COUNT_OF(entry_members)) - 1)
		return refuse(parser, "an entry lacks a member", err);
	return 0;
}

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

static int check_entry(const struct parser *parser,
                       const struct tkb_entry *entry, struct tkb_error *err)
{
	const struct tkb_manifest *manifest = parser->manifest;

	if (!kind_fits_files(entry))
		return refuse(parser, "an entry's files do not fit its kind",
		              err);
	if (manifest->entry_count != 0 &&
	    tkb_entry_compare(&parser->entries[manifest->entry_count - 1],
	                      entry) >= 0)
		return refuse(parser, "entries are not in order", err);
	return 0;
}

static int read_entries(struct parser *parser, struct tkb_error *err)
{
	struct tkb_manifest *manifest = parser->manifest;
	int rc;

	rc = expect(parser, TKB_JSON_ARRAY, "entries are no list", err);
	if (rc < 0)
		return rc;
	for (;;) {
		struct tkb_entry entry = { 0 };

		rc = advance(parser, err);
		if (rc < 0)
			return rc;
		if (parser->token.type == TKB_JSON_ARRAY_END)
			return 0;
		if (parser->token.type != TKB_JSON_OBJECT)
			return refuse(parser, "an entry is no object", err);
		if (manifest->entry_count == TKB_ENTRIES_LIMIT)
			return refuse(parser, "too many entries", err);
		rc = read_entry(parser, &entry, err);
		if (rc < 0)
			return rc;
		rc = check_entry(parser, &entry, err);
		if (rc < 0)
			return rc;
		rc = tkb_grow(&parser->entries, &parser->entry_capacity,
		              manifest->entry_count, sizeof(entry), err);
		if (rc < 0)
			return rc;
		parser->entries[manifest->entry_count++] = entry;
	}
}

static int read_format(struct parser *parser, struct tkb_error *err)
{
	int rc;

	rc = expect(parser, TKB_JSON_STRING, "format is no string", err);
	if (rc < 0)
		return rc;
	if (!token_is(parser, "tkbundle"))
		return refuse(parser, "the format is another", err);
	return 0;
}

/* What this version cannot hold, it cannot pass on either. */
static int read_empty_list(struct parser *parser, struct tkb_error *err)
{
	int rc;

	rc = expect(parser, TKB_JSON_ARRAY, "a list is missing", err);
	if (rc < 0)
		return rc;
	rc = advance(parser, err);
	if (rc < 0)
		return rc;
	if (parser->token.type != TKB_JSON_ARRAY_END)
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "the bundle holds launchers or trees, which "
		                "tkbundle %s cannot read",
		                "0.1");
	return 0;
}

static int read_profile(struct parser *parser, struct tkb_error *err)
{
	int rc;

	rc = read_text(parser, &parser->manifest->profile, err);
	if (rc < 0)
		return rc;
	if (strcmp(parser->manifest->profile, "full") != 0 &&
	    strcmp(parser->manifest->profile, "lean") != 0)
		return refuse(parser, "the profile is not known", err);
	return 0;
}

static int read_requires(struct parser *parser, struct tkb_error *err)
{
	const char *word = NULL;
	int rc;

	rc = expect(parser, TKB_JSON_ARRAY, "requires is no list", err);
	if (rc < 0)
		return rc;
	rc = advance(parser, err);
	if (rc < 0)
		return rc;
	if (parser->token.type == TKB_JSON_ARRAY_END)
		return 0;
	if (parser->token.type != TKB_JSON_STRING)
		return refuse(parser, "requires holds no word", err);
	rc = keep_text(parser, &word, err);
	if (rc < 0)
		return rc;
	return tkb_fail(err, TKB_ERR_UNSUPPORTED,
	                "the bundle requires '%.200s', which this tkbundle "
	                "does not know",
	                word);
}

static int read_version(struct parser *parser, struct tkb_error *err)
{
	uint64_t version = 0;
	int rc;

	rc = read_number(parser, UINT64_MAX, &version, err);
	if (rc < 0)
		return rc;
	if (version > TKB_FORMAT_VERSION)
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "the bundle has format version %" PRIu64
		                ", this tkbundle reads up to %d",
		                version, TKB_FORMAT_VERSION);
	if (version != TKB_FORMAT_VERSION)
		return refuse(parser, "there is no such version", err);
	return 0;
}

static const struct {
	const char *name;
	int (*read)(struct parser *parser, struct tkb_error *err);
} members[] = {
	{ "entries", read_entries },      { "format", read_format },
	{ "launchers", read_empty_list }, { "profile", read_profile },
	{ "requires", read_requires },    { "trees", read_empty_list },
	{ "version", read_version },
};

static int read_members(struct parser *parser, struct tkb_error *err)
{
	unsigned seen = 0;
	int rc;

	for (;;) {
		size_t i = 0;

		rc = advance(parser, err);
		if (rc < 0)
			return rc;
		if (parser->token.type == TKB_JSON_OBJECT_END)
			break;
		while (i < TKB_COUNT_OF(members) &&
		       !token_is(parser, members[i].name))
			i++;
		if (i == TKB_COUNT_OF(members)) {
			rc = skip_value(parser, err);
		} else {
			seen |= 1u << i;
			rc = members[i].read(parser, err);
		}
		if (rc < 0)
			return rc;
	}
	if (seen != (1u << TKB_COUNT_OF(members)) - 1)
		return refuse(parser, "a member is missing", err);
	return 0;
}

/*
 * A newer format may have entries that this version calls wrong: then its
 * version, or what it requires, is what to report.
 */
static int check_version(struct tkb_bytes text, struct tkb_error *err)
{
	struct tkb_manifest manifest = { 0 };
	struct parser parser = { .json = tkb_json_of(text, TKB_JSON_CANONICAL),
		                 .manifest = &manifest };
	int rc;

	rc = expect(&parser, TKB_JSON_OBJECT, "it is no object", err);
	while (rc == 0) {
		rc = advance(&parser, err);
		if (rc < 0 || parser.token.type == TKB_JSON_OBJECT_END)
			break;
		if (token_is(&parser, "version"))
			rc = read_version(&parser, err);
		else if (token_is(&parser, "requires"))
			rc = read_requires(&parser, err);
		else
			rc = skip_value(&parser, err);
	}
	tkb_manifest_release(&manifest);
	return rc;
}

static int compare_identity(const void *a, const void *b)
{
	const struct tkb_entry *const *left = a;
	const struct tkb_entry *const *right = b;
	const int order = strcmp((*left)->key, (*right)->key);

	return order != 0 ? order
	                  : strcmp((*left)->platform, (*right)->platform);
}

/* Note the entry's devices in `seen`; false if one is there already. */
static bool
add_devices(const struct tkb_entry *entry, bool seen[TKB_DEVICE_LIMIT])
{
	for (size_t i = 0; i < entry->device_count; i++) {
		if (seen[entry->devices[i]])
			return false;
		seen[entry->devices[i]] = true;
	}
	return true;
}

/* One key stands twice only with another platform or for other devices. */
static int check_identities(struct parser *parser, struct tkb_error *err)
{
	const size_t count = parser->manifest->entry_count;
	TKB_AUTO(tkb_free_at)
	const struct tkb_entry **sorted =
	    tkb_alloc_array(count, sizeof(*sorted));
	bool seen[TKB_DEVICE_LIMIT] = { false };

	if (sorted == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		sorted[i] = &parser->manifest->entries[i];
	qsort(sorted, count, sizeof(*sorted), compare_identity);
	for (size_t i = 1; i < count; i++) {
		if (compare_identity(&sorted[i - 1], &sorted[i]) != 0)
			continue;
		if (i == 1 ||
		    compare_identity(&sorted[i - 2], &sorted[i - 1]) != 0) {
			memset(seen, 0, sizeof(seen));
			(void)add_devices(sorted[i - 1], seen);
		}
		if (!add_devices(sorted[i], seen))
			return tkb_fail(err, TKB_ERR_CORRUPT,
			                "the manifest has key '%s' twice for "
			                "one device",
			                sorted[i]->key);
	}
	return 0;
}

static int parse(struct parser *parser, struct tkb_error *err)
{
	struct tkb_manifest *manifest = parser->manifest;
	const size_t size = sizeof(*manifest->entries);
	int rc;

	rc = expect(parser, TKB_JSON_OBJECT, "it is no object", err);
	if (rc < 0)
		return rc;
	rc = read_members(parser, err);
	if (rc < 0)
		return rc;
	rc = expect(parser, TKB_JSON_END, "it goes on behind its end", err);
	if (rc < 0)
		return rc;
	manifest->entries =
	    tkb_arena_alloc(&manifest->arena, manifest->entry_count, size);
	if (manifest->entries == NULL)
		return tkb_fail_nomem(err);
	if (manifest->entry_count != 0)
		memcpy(manifest->entries, parser->entries,
		       manifest->entry_count * size);
	return check_identities(parser, err);
}

int tkb_manifest_parse(struct tkb_bytes text, struct tkb_manifest *out,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_manifest_release) struct tkb_manifest manifest = { 0 };
	TKB_AUTO(parser_release)
	struct parser parser = { .json = tkb_json_of(text, TKB_JSON_CANONICAL),
		                 .manifest = &manifest };
	struct tkb_error inner = { 0 };
	int rc;

	rc = parse(&parser, err);
	if (rc == TKB_ERR_CORRUPT &&
	    check_version(text, &inner) == TKB_ERR_UNSUPPORTED) {
		if (err != NULL)
			*err = inner;
		return TKB_ERR_UNSUPPORTED;
	}
	if (rc < 0)
		return rc;
	*out = manifest;
	manifest = (struct tkb_manifest){ 0 };
	return 0;
}

void tkb_manifest_release(struct tkb_manifest *manifest)
{
	tkb_arena_release(&manifest->arena);
	*manifest = (struct tkb_manifest){ 0 };
}

static void quote(struct tkb_buf *out, const char *text)
{
	tkb_json_quote(tkb_text(text), out);
}

static void write_file(const struct tkb_file *file, struct tkb_buf *out)
{
	char hex[TKB_DIGEST_HEX_SIZE];

	tkb_digest_to_hex(&file->digest, hex);
	tkb_buf_add_byte(out, '[');
	quote(out, file->name);
	tkb_buf_add_byte(out, ',');
	tkb_buf_add_number(out, file->size);
	tkb_buf_add_text(out, ",\"");
	tkb_buf_add_text(out, hex);
	tkb_buf_add_byte(out, '"');
	if (file->sentinels != 0) {
		tkb_buf_add_byte(out, ',');
		tkb_buf_add_number(out, file->sentinels);
	}
	tkb_buf_add_byte(out, ']');
}

static void write_entry(const struct tkb_entry *entry, struct tkb_buf *out)
{
	tkb_buf_add_text(out, "{\"devices\":[");
	for (size_t i = 0; i < entry->device_count; i++) {
		if (i != 0)
			tkb_buf_add_byte(out, ',');
		tkb_buf_add_number(out, entry->devices[i]);
	}
	tkb_buf_add_text(out, "],\"files\":[");
	for (size_t i = 0; i < entry->file_count; i++) {
		if (i != 0)
			tkb_buf_add_byte(out, ',');
		write_file(&entry->files[i], out);
	}
	tkb_buf_add_text(out, "],\"key\":");
	quote(out, entry->key);
	tkb_buf_add_text(out, ",\"kind\":");
	quote(out, tkb_kind_name(entry->kind));
	tkb_buf_add_text(out, ",\"name\":");
	quote(out, entry->name);
	tkb_buf_add_text(out, ",\"platform\":");
	quote(out, entry->platform);
	tkb_buf_add_text(out, ",\"producer\":[");
	quote(out, entry->producer);
	tkb_buf_add_byte(out, ',');
	quote(out, entry->producer_version);
	tkb_buf_add_text(out, "],\"target\":[");
	quote(out, entry->target.backend);
	tkb_buf_add_byte(out, ',');
	quote(out, entry->target.arch);
	tkb_buf_add_byte(out, ',');
	tkb_buf_add_number(out, entry->target.warp_size);
	tkb_buf_add_text(out, "]}");
}

void tkb_manifest_write(const struct tkb_entry *const *entries, size_t count,
                        const char *profile, struct tkb_buf *out)
{
	tkb_buf_add_text(out, "{\"entries\":[");
	for (size_t i = 0; i < count; i++) {
		if (i != 0)
			tkb_buf_add_byte(out, ',');
		write_entry(entries[i], out);
	}
	tkb_buf_add_text(out, "],\"format\":\"tkbundle\",\"launchers\":[],"
	                      "\"profile\":");
	quote(out, profile);
	tkb_buf_add_text(out, ",\"requires\":[],\"trees\":[],\"version\":");
	tkb_buf_add_number(out, TKB_FORMAT_VERSION);
	tkb_buf_add_byte(out, '}');
}
