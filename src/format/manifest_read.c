/* SPDX-License-Identifier: Apache-2.0 */
#include "format/manifest.h"

#include <tkbundle/tkbundle.h>

#include <inttypes.h>
#include <stdlib.h>

#include "cache/names.h"
#include "format/parser.h"
#include "format/launcher_payload.h"

/* Behind the "{" of an entry: read it, and keep it. */
static int add_entry(struct tkb_parser *parser, struct tkb_error *err)
{
	struct tkb_manifest *manifest = parser->manifest;
	int rc;

	rc = tkb_parser_entry(parser, err);
	if (rc < 0)
		return rc;
	rc = tkb_grow(&parser->entries, &parser->entry_capacity,
	              manifest->entry_count, sizeof(parser->entry), err);
	if (rc == 0)
		parser->entries[manifest->entry_count++] = parser->entry;
	return rc;
}

static int read_entries(struct tkb_parser *parser, struct tkb_error *err)
{
	static const struct tkb_list_reader list = {
		.limit = TKB_ENTRIES_LIMIT,
		.read_object = add_entry,
		.no_list = "entries are no list",
		.no_object = "an entry is no object",
		.too_many = "too many entries",
	};

	return tkb_parser_objects(parser, &list, err);
}

static int read_format(struct tkb_parser *parser, struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_expect(parser, TKB_JSON_STRING, "format is no string",
	                       err);
	if (rc < 0)
		return rc;
	if (!tkb_parser_token_is(parser, "tkbundle"))
		return tkb_parser_refuse(parser, "the format is another", err);
	return 0;
}

static int add_launcher(struct tkb_parser *parser, struct tkb_error *err)
{
	struct tkb_manifest *manifest = parser->manifest;
	int rc;

	rc = tkb_parser_launcher(parser, err);
	if (rc < 0)
		return rc;
	rc = tkb_grow(&parser->launchers, &parser->launcher_capacity,
	              manifest->launcher_count, sizeof(parser->launcher), err);
	if (rc == 0)
		parser->launchers[manifest->launcher_count++] =
			parser->launcher;
	return rc;
}

static int read_launchers(struct tkb_parser *parser, struct tkb_error *err)
{
	static const struct tkb_list_reader list = {
		.limit = TKB_LAUNCHERS_LIMIT,
		.read_object = add_launcher,
		.no_list = "launchers are no list",
		.no_object = "a launcher is no object",
		.too_many = "too many launchers",
	};

	return tkb_parser_objects(parser, &list, err);
}

/* What this version cannot hold, it cannot pass on either. */
static int read_trees(struct tkb_parser *parser, struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_expect(parser, TKB_JSON_ARRAY, "trees are no list",
	                       err);
	if (rc < 0)
		return rc;
	rc = tkb_parser_advance(parser, err);
	if (rc < 0)
		return rc;
	if (parser->token.type != TKB_JSON_ARRAY_END)
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "the bundle holds trees, which tkbundle %s "
		                "cannot read",
		                tkb_version());
	return 0;
}

static int read_profile(struct tkb_parser *parser, struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_text(parser, &parser->manifest->profile, err);
	if (rc < 0)
		return rc;
	if (strcmp(parser->manifest->profile, "full") != 0 &&
	    strcmp(parser->manifest->profile, "lean") != 0)
		return tkb_parser_refuse(parser, "the profile is not known",
		                         err);
	return 0;
}

static int read_requires(struct tkb_parser *parser, struct tkb_error *err)
{
	const char *word = NULL;
	int rc;

	rc = tkb_parser_expect(parser, TKB_JSON_ARRAY, "requires is no list",
	                       err);
	if (rc < 0)
		return rc;
	rc = tkb_parser_advance(parser, err);
	if (rc < 0)
		return rc;
	if (parser->token.type == TKB_JSON_ARRAY_END)
		return 0;
	if (parser->token.type != TKB_JSON_STRING)
		return tkb_parser_refuse(parser, "requires holds no word", err);
	rc = tkb_parser_keep_text(parser, &word, err);
	if (rc < 0)
		return rc;
	return tkb_fail(err, TKB_ERR_UNSUPPORTED,
	                "the bundle requires '%.200s', which this tkbundle "
	                "does not know",
	                word);
}

static int read_version(struct tkb_parser *parser, struct tkb_error *err)
{
	uint64_t version = 0;
	int rc;

	rc = tkb_parser_number(parser, UINT64_MAX, &version, err);
	if (rc < 0)
		return rc;
	if (version > TKB_FORMAT_VERSION)
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "the bundle has format version %" PRIu64
		                ", this tkbundle reads up to %d",
		                version, TKB_FORMAT_VERSION);
	if (version != TKB_FORMAT_VERSION)
		return tkb_parser_refuse(parser, "there is no such version",
		                         err);
	return 0;
}

static const struct tkb_member_reader members[] = {
	{ "entries", read_entries },     { "format", read_format },
	{ "launchers", read_launchers }, { "profile", read_profile },
	{ "requires", read_requires },   { "trees", read_trees },
	{ "version", read_version },
};

/*
 * A newer format may have entries that this version calls wrong: then its
 * version, or what it requires, is what to report.
 */
static int check_version(struct tkb_bytes text, struct tkb_error *err)
{
	struct tkb_manifest manifest = { 0 };
	struct tkb_parser parser = { .json = tkb_json_of(text,
		                                         TKB_JSON_CANONICAL),
		                     .manifest = &manifest };
	int rc;

	rc = tkb_parser_expect(&parser, TKB_JSON_OBJECT, "it is no object",
	                       err);
	while (rc == 0) {
		rc = tkb_parser_advance(&parser, err);
		if (rc < 0 || parser.token.type == TKB_JSON_OBJECT_END)
			break;
		if (tkb_parser_token_is(&parser, "version"))
			rc = read_version(&parser, err);
		else if (tkb_parser_token_is(&parser, "requires"))
			rc = read_requires(&parser, err);
		else
			rc = tkb_parser_skip(&parser, err);
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
static bool add_devices(const struct tkb_entry *entry,
                        bool seen[TKB_DEVICE_LIMIT])
{
	for (size_t i = 0; i < entry->device_count; i++) {
		if (seen[entry->devices[i]])
			return false;
		seen[entry->devices[i]] = true;
	}
	return true;
}

/* One key stands twice only with another platform or for other devices. */
static int check_identities(struct tkb_parser *parser, struct tkb_error *err)
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

/* Keep the launchers in the arena. */
static int keep_launchers(struct tkb_parser *parser, struct tkb_error *err)
{
	struct tkb_manifest *manifest = parser->manifest;
	const size_t size = sizeof(*manifest->launchers);

	manifest->launchers = tkb_arena_alloc(&manifest->arena,
	                                      manifest->launcher_count, size);
	if (manifest->launchers == NULL)
		return tkb_fail_nomem(err);
	if (manifest->launcher_count != 0)
		memcpy(manifest->launchers, parser->launchers,
		       manifest->launcher_count * size);
	return 0;
}

/* Keep the entries in the arena, and put the launchers' payloads behind. */
static int keep_items(struct tkb_parser *parser, struct tkb_error *err)
{
	struct tkb_manifest *manifest = parser->manifest;
	const size_t size = sizeof(*manifest->entries);
	struct tkb_entry *payloads = NULL;
	size_t payload_count = 0;
	int rc;

	rc = tkb_payload_items(manifest->launchers, manifest->launcher_count,
	                       &manifest->arena, &payloads, &payload_count,
	                       err);
	if (rc < 0)
		return rc;
	manifest->item_count = manifest->entry_count + payload_count;
	manifest->entries =
		tkb_arena_alloc(&manifest->arena, manifest->item_count, size);
	if (manifest->entries == NULL)
		return tkb_fail_nomem(err);
	if (manifest->entry_count != 0)
		memcpy(manifest->entries, parser->entries,
		       manifest->entry_count * size);
	if (payload_count != 0)
		memcpy(manifest->entries + manifest->entry_count, payloads,
		       payload_count * size);
	return 0;
}

static int parse(struct tkb_parser *parser, struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_expect(parser, TKB_JSON_OBJECT, "it is no object", err);
	if (rc < 0)
		return rc;
	rc = tkb_parser_object(parser, members, TKB_COUNT_OF(members), err);
	if (rc < 0)
		return rc;
	rc = tkb_parser_expect(parser, TKB_JSON_END,
	                       "it goes on behind its end", err);
	if (rc < 0)
		return rc;
	rc = keep_launchers(parser, err);
	if (rc < 0)
		return rc;
	rc = keep_items(parser, err);
	if (rc < 0)
		return rc;
	return check_identities(parser, err);
}

int tkb_manifest_parse(struct tkb_bytes text, struct tkb_manifest *out,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_manifest_release) struct tkb_manifest manifest = { 0 };
	TKB_AUTO(tkb_parser_release)
	struct tkb_parser parser = { .json = tkb_json_of(text,
		                                         TKB_JSON_CANONICAL),
		                     .manifest = &manifest };
	struct tkb_error inner = { 0 };
	int rc;

	rc = parse(&parser, err);
	if ((rc == TKB_ERR_CORRUPT || rc == TKB_ERR_UNSUPPORTED) &&
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
