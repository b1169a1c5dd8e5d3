/* SPDX-License-Identifier: Apache-2.0 */
#include "format/manifest.h"

#include <tkbundle/tkbundle.h>

#include <inttypes.h>
#include <stdlib.h>

#include "cache/names.h"
#include "format/launcher_payload.h"
#include "format/manifest_schema.h"
#include "format/manifest_trees.h"

void tkb_manifest_release(struct tkb_manifest *manifest)
{
	tkb_arena_release(&manifest->arena);
	*manifest = (struct tkb_manifest){ 0 };
}

/* The bit of a known word, or 0. */
static unsigned feature_of(const char *word)
{
	for (unsigned i = 0; tkb_manifest_feature(i) != NULL; i++) {
		if (strcmp(word, tkb_manifest_feature(i)) == 0)
			return 1u << i;
	}
	return 0;
}

/* Refuse words that we do not know: a merge could not pass on their meaning. */
static int read_requires(struct tkb_schema_reader *reader, void *out,
                         struct tkb_error *err)
{
	static const struct tkb_schema_field word = {
		.kind = TKB_SCHEMA_TEXT,
		.missing = "requires holds no word",
	};
	unsigned *required = out;

	if (reader->token.type != TKB_JSON_ARRAY)
		return tkb_schema_refuse(reader, "requires is not a list", err);
	for (;;) {
		const char *text = NULL;
		unsigned feature;
		int rc;

		rc = tkb_schema_next(reader, err);
		if (rc < 0 || reader->token.type == TKB_JSON_ARRAY_END)
			return rc;
		rc = tkb_schema_value(reader, &word, &text, err);
		if (rc < 0)
			return rc;
		feature = feature_of(text);
		if (feature == 0)
			return tkb_fail(err, TKB_ERR_UNSUPPORTED,
			                "the bundle requires '%.200s', which "
			                "this tkbundle does not know",
			                text);
		if ((*required & feature) != 0)
			return tkb_schema_refuse(
				reader, "requires has a word twice", err);
		*required |= feature;
	}
}

static int read_version(struct tkb_schema_reader *reader, void *out,
                        struct tkb_error *err)
{
	uint64_t version = 0;
	int rc;

	(void)out;
	rc = tkb_schema_version(reader, TKB_FORMAT_VERSION, &version, err);
	if (rc < 0)
		return rc;
	if (version > TKB_FORMAT_VERSION)
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "the bundle has format version %" PRIu64
		                ", this tkbundle reads up to %d",
		                version, TKB_FORMAT_VERSION);
	return 0;
}

/* A manifest, and the members that are only checked. */
struct reading {
	struct tkb_manifest manifest;
	unsigned required;
	struct tkb_manifest_tree *trees;
	size_t tree_count;
};

static const struct tkb_schema_field fields[] = {
	TKB_FIELD_LIST("entries", struct reading, manifest.entries,
	               manifest.entry_count, &tkb_manifest_entries,
	               "entries are not a list"),
	TKB_FIELD_CONSTANT("format", "tkbundle",
	                   "the format is not 'tkbundle'"),
	TKB_FIELD_LIST("launchers", struct reading, manifest.launchers,
	               manifest.launcher_count, &tkb_manifest_launchers,
	               "launchers are not a list"),
	TKB_FIELD_LAYOUT(struct reading, manifest.layout),
	TKB_FIELD_TEXT("profile", struct reading, manifest.profile,
	               tkb_contents_profile_is_valid,
	               "the profile is not known"),
	TKB_FIELD_CUSTOM("requires", offsetof(struct reading, required),
	                 read_requires),
	TKB_FIELD_LIST("trees", struct reading, trees, tree_count,
	               &tkb_manifest_trees, "trees are not a list"),
	TKB_FIELD_CUSTOM("version", 0, read_version),
};

/*
 * Called when a manifest could not be read. If its format is newer than ours,
 * report its version or what it requires, instead of an entry that we may have
 * misunderstood.
 */
static int check_version(const struct tkb_schema_document *document,
                         struct tkb_error *err)
{
	static const struct tkb_schema_field about[] = {
		TKB_FIELD_CUSTOM("requires", 0, read_requires),
		TKB_FIELD_CUSTOM("version", 0, read_version),
	};
	unsigned required = 0;

	return tkb_schema_read(document, TKB_OBJECT_OF(about), &required, err);
}

static int compare_identity(const void *a, const void *b)
{
	const struct tkb_entry *const *left = a;
	const struct tkb_entry *const *right = b;
	const int order = strcmp((*left)->key, (*right)->key);

	return order != 0 ? order
	                  : strcmp((*left)->platform, (*right)->platform);
}

/* Add the entry's devices to `seen`; false if one was seen before. */
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

/* A key may be repeated only for another platform or for other devices. */
static int check_identities(const struct tkb_manifest *manifest,
                            struct tkb_error *err)
{
	const size_t count = manifest->entry_count;
	TKB_AUTO(tkb_free_at)
	const struct tkb_entry **sorted =
		tkb_alloc_array(count, sizeof(*sorted));
	bool seen[TKB_DEVICE_LIMIT] = { false };

	if (sorted == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count; i++)
		sorted[i] = &manifest->entries[i];
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

/* Append the launchers' payloads to the entries. */
static int add_payloads(struct tkb_manifest *manifest, struct tkb_error *err)
{
	const size_t entry_count = manifest->entry_count;
	struct tkb_entry *payloads = NULL;
	struct tkb_entry *items;
	size_t payload_count = 0;
	int rc;

	manifest->item_count = entry_count;
	if (manifest->launcher_count == 0)
		return 0;
	rc = tkb_payload_items(manifest->launchers, manifest->launcher_count,
	                       &manifest->arena, &payloads, &payload_count,
	                       err);
	if (rc < 0)
		return rc;
	items = tkb_arena_alloc(&manifest->arena, entry_count + payload_count,
	                        sizeof(*items));
	if (items == NULL)
		return tkb_fail_nomem(err);
	if (entry_count != 0)
		memcpy(items, manifest->entries, entry_count * sizeof(*items));
	memcpy(items + entry_count, payloads, payload_count * sizeof(*items));
	manifest->entries = items;
	manifest->item_count += payload_count;
	return 0;
}

/*
 * What the manifest requires must match its trees: an older tkbundle must not
 * take a bundle with trees for one without.
 */
static int check_requires(const struct reading *reading, struct tkb_error *err)
{
	unsigned features = 0;

	for (size_t i = 0; i < reading->tree_count; i++)
		features |= tkb_manifest_tree_features(&reading->trees[i]);
	if (reading->required == features)
		return 0;
	return tkb_fail(err, TKB_ERR_CORRUPT,
	                "the manifest's trees do not fit what it requires");
}

static void release_reading(struct reading *reading)
{
	tkb_manifest_release(&reading->manifest);
}

int tkb_manifest_parse(struct tkb_bytes text, struct tkb_manifest *out,
                       struct tkb_error *err)
{
	TKB_AUTO(release_reading) struct reading reading = { .required = 0 };
	const struct tkb_schema_document document = {
		.text = text,
		.flags = TKB_JSON_CANONICAL,
		.name = "the manifest",
		.arena = &reading.manifest.arena,
	};
	struct tkb_error newer = { 0 };
	int rc;

	rc = tkb_schema_read(&document, TKB_OBJECT_OF(fields), &reading, err);
	if (rc == 0)
		rc = check_requires(&reading, err);
	if (rc == 0)
		rc = tkb_manifest_add_units(&reading.manifest, reading.trees,
		                            reading.tree_count, err);
	if (rc == 0)
		rc = add_payloads(&reading.manifest, err);
	if (rc == 0)
		rc = check_identities(&reading.manifest, err);
	if ((rc == TKB_ERR_CORRUPT || rc == TKB_ERR_UNSUPPORTED) &&
	    check_version(&document, &newer) == TKB_ERR_UNSUPPORTED)
		return tkb_fail_as(err, TKB_ERR_UNSUPPORTED, &newer);
	if (rc < 0)
		return rc;
	*out = reading.manifest;
	reading.manifest = (struct tkb_manifest){ 0 };
	return 0;
}
