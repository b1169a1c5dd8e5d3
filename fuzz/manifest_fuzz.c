/* SPDX-License-Identifier: Apache-2.0 */
#include "bundle/manifest.h"

#include "base/json.h"
#include "base/path.h"
#include "bundle/key.h"
#include "bundle/names.h"
#include "fuzz.h"

/*
 * The manifest. What is accepted and written again gives the same bytes, unless
 * it has members that this version does not know; and written once more, the
 * same again.
 */

static bool is_one_of(const char *const *names, size_t count,
                      struct tkb_bytes raw)
{
	for (size_t i = 0; i < count; i++) {
		if (tkb_bytes_equal(tkb_text(names[i]), raw))
			return true;
	}
	return false;
}

/* The root's members stand at depth 1, an entry's at depth 3. */
static bool is_known(struct tkb_json *json, const struct tkb_json_token *member)
{
	static const char *const of_root[] = { "entries",   "format",
		                               "launchers", "profile",
		                               "requires",  "trees",
		                               "version" };
	static const char *const of_entry[] = { "devices",  "files", "key",
		                                "kind",     "name",  "platform",
		                                "producer", "target" };
	const struct tkb_bytes raw = tkb_json_raw(json, member);

	if (json->depth == 1)
		return is_one_of(of_root, TKB_COUNT_OF(of_root), raw);
	return json->depth == 3 &&
	       is_one_of(of_entry, TKB_COUNT_OF(of_entry), raw);
}

static bool has_unknown_members(struct tkb_bytes text)
{
	struct tkb_json json = tkb_json_of(text, TKB_JSON_CANONICAL);
	struct tkb_json_token token = { 0 };
	struct tkb_error err = { 0 };

	do {
		MUST_OK(tkb_json_next(&json, &token, &err), &err);
		if (token.type == TKB_JSON_KEY && !is_known(&json, &token))
			return true;
	} while (token.type != TKB_JSON_END);
	return false;
}

/* What everybody who holds a manifest relies on. */
static void check_entry(const struct tkb_entry *entry)
{
	MUST(tkb_key_is_valid(entry->key));
	MUST(entry->name != NULL && entry->platform != NULL);
	MUST(entry->producer != NULL && entry->producer_version != NULL);
	MUST(entry->target.backend != NULL && entry->target.arch != NULL);
	MUST(entry->device_count != 0);
	for (size_t i = 0; i < entry->device_count; i++)
		MUST(entry->devices[i] < TKB_DEVICE_LIMIT);
	MUST(entry->file_count != 0 && entry->file_count <= TKB_FILES_LIMIT);
	for (size_t i = 0; i < entry->file_count; i++) {
		MUST(tkb_name_is_valid(tkb_text(entry->files[i].name)));
		MUST(entry->files[i].size <= TKB_FILE_SIZE_LIMIT);
	}
	MUST(tkb_entry_size(entry) <= TKB_ENTRY_SIZE_LIMIT);
	MUST(tkb_entry_tar_size(entry) >= tkb_entry_size(entry));
}

static void write_again(const struct tkb_manifest *manifest,
                        struct tkb_buf *out)
{
	TKB_AUTO(tkb_free_at)
	const struct tkb_entry **entries =
		tkb_alloc_array(manifest->entry_count, sizeof(*entries));
	const struct tkb_contents contents = {
		.entries = entries,
		.entry_count = manifest->entry_count,
		.launchers = manifest->launchers,
		.launcher_count = manifest->launcher_count,
		.profile = manifest->profile,
	};

	MUST(entries != NULL);
	for (size_t i = 0; i < manifest->entry_count; i++) {
		entries[i] = &manifest->entries[i];
		MUST(i == 0 ||
		     tkb_entry_compare(entries[i - 1], entries[i]) < 0);
		check_entry(entries[i]);
	}
	tkb_manifest_write(&contents, out);
	MUST(out->failure == 0);
}

/* Parse `text` and write it again; false where it is refused. */
static bool read_and_write(struct tkb_bytes text, struct tkb_buf *out)
{
	TKB_AUTO(tkb_manifest_release) struct tkb_manifest manifest = { 0 };
	struct tkb_error err = { 0 };
	const int rc = tkb_manifest_parse(text, &manifest, &err);

	if (rc == 0) {
		write_again(&manifest, out);
		return true;
	}
	MUST(rc == TKB_ERR_CORRUPT || rc == TKB_ERR_UNSUPPORTED);
	MUST(err.status == rc && err.message[0] != '\0');
	MUST(manifest.entries == NULL && manifest.arena.blocks == NULL);
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tkb_bytes text = { data, size };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf once = TKB_BUF_INIT(TKB_MANIFEST_SIZE_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf twice = TKB_BUF_INIT(TKB_MANIFEST_SIZE_LIMIT);

	if (!read_and_write(text, &once))
		return 0;
	MUST(has_unknown_members(text) ||
	     tkb_bytes_equal(tkb_buf_bytes(&once), text));
	MUST(read_and_write(tkb_buf_bytes(&once), &twice));
	MUST(tkb_bytes_equal(tkb_buf_bytes(&once), tkb_buf_bytes(&twice)));
	return 0;
}
