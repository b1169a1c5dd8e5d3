/* SPDX-License-Identifier: Apache-2.0 */
#include "format/manifest.h"

#include "base/digest.h"
#include "text/json.h"
#include "base/path.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "cache/names.h"
#include "tree/unit.h"
#include "format/launcher_payload.h"
#include "fuzz.h"

/*
 * The manifest. If it is accepted, writing it gives the same bytes, unless it
 * has members that this version does not know; reading and writing that gives
 * the same bytes.
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

/* The root's members stand at depth 1, an entry's and a launcher's at 3. */
static bool is_known(struct tkb_json *json, const struct tkb_json_token *member,
                     bool is_of_launcher)
{
	static const char *const of_root[] = { "entries",   "format",
		                               "launchers", "profile",
		                               "requires",  "trees",
		                               "version" };
	static const char *const of_entry[] = { "devices",  "files", "key",
		                                "kind",     "name",  "platform",
		                                "producer", "target" };
	static const char *const of_launcher[] = { "key", "name", "need",
		                                   "needs", "payload" };
	const struct tkb_bytes raw = tkb_json_raw(json, member);

	if (json->depth == 1)
		return is_one_of(of_root, TKB_COUNT_OF(of_root), raw);
	if (json->depth != 3)
		return false;
	return is_of_launcher
	               ? is_one_of(of_launcher, TKB_COUNT_OF(of_launcher), raw)
	               : is_one_of(of_entry, TKB_COUNT_OF(of_entry), raw);
}

static bool has_unknown_members(struct tkb_bytes text)
{
	struct tkb_json json = tkb_json_of(text, TKB_JSON_CANONICAL);
	struct tkb_json_token token = { 0 };
	struct tkb_error err = { 0 };
	bool is_of_launcher = false;

	do {
		MUST_OK(tkb_json_next(&json, &token, &err), &err);
		if (token.type != TKB_JSON_KEY)
			continue;
		if (!is_known(&json, &token, is_of_launcher))
			return true;
		if (json.depth == 1)
			is_of_launcher =
				tkb_bytes_equal(tkb_json_raw(&json, &token),
			                        tkb_text("launchers"));
	} while (token.type != TKB_JSON_END);
	return false;
}

/* What all users of a manifest rely on. */
static void check_entry(const struct tkb_entry *entry)
{
	MUST(tkb_key_is_valid(entry->key));
	MUST(entry->name != NULL && entry->platform != NULL);
	MUST(entry->producer != NULL && entry->producer_version != NULL);
	MUST(entry->target.backend != NULL && entry->target.arch != NULL);
	MUST(entry->device_count != 0);
	for (size_t i = 0; i < entry->device_count; i++)
		MUST(entry->devices[i] < TKB_DEVICE_LIMIT);
	MUST(entry->file_count != 0);
	MUST((entry->kind == TKB_KIND_UNIT) == (entry->tree != NULL));
	MUST(entry->file_count <=
	     (entry->tree != NULL ? TKB_UNIT_FILES_LIMIT : TKB_FILES_LIMIT));
	for (size_t i = 0; i < entry->file_count; i++) {
		const char *name = entry->files[i].name;

		MUST(entry->tree != NULL ? tkb_unit_path_is_valid(name)
		                         : tkb_name_is_valid(tkb_text(name)));
		MUST(entry->files[i].size <= tkb_entry_file_limit(entry));
	}
	MUST(tkb_entry_size(entry) <= tkb_entry_limit(entry));
	MUST(tkb_entry_tar_size(entry) >= tkb_entry_size(entry));
}

static void check_launcher(const struct tkb_saved_launcher *launcher)
{
	MUST(tkb_launcher_text_is_valid(launcher->cache_key,
	                                TKB_CACHE_KEY_LIMIT));
	MUST(tkb_launcher_text_is_valid(launcher->name, TKB_NAME_LIMIT));
	MUST(launcher->need == TKB_NEED_ALL || launcher->need == TKB_NEED_ANY);
	MUST(launcher->need_count != 0 &&
	     launcher->need_count <= TKB_NEEDS_LIMIT);
	for (size_t i = 0; i < launcher->need_count; i++)
		MUST(tkb_key_is_valid(launcher->needs[i]));
	MUST(launcher->size <= TKB_FILE_SIZE_LIMIT);
}

/* The payloads follow the entries, each once, sorted by digest. */
static void check_payloads(const struct tkb_manifest *manifest)
{
	const struct tkb_entry *items =
		manifest->entries + manifest->entry_count;
	const size_t count = manifest->item_count - manifest->entry_count;

	MUST(count <= manifest->launcher_count);
	for (size_t i = 0; i < count; i++) {
		MUST(items[i].kind == TKB_KIND_PAYLOAD);
		MUST(items[i].file_count == 1 && items[i].device_count == 1);
		MUST(i == 0 || memcmp(&items[i - 1].files[0].digest,
		                      &items[i].files[0].digest,
		                      sizeof(items[i].files[0].digest)) < 0);
	}
	for (size_t i = 0; i < manifest->launcher_count; i++) {
		const struct tkb_saved_launcher *launcher =
			&manifest->launchers[i];
		const size_t place =
			tkb_payload_find(items, count, &launcher->digest);

		check_launcher(launcher);
		MUST(place < count);
		MUST(tkb_digest_equal(&items[place].files[0].digest,
		                      &launcher->digest));
		MUST(items[place].files[0].size == launcher->size);
		MUST(i == 0 || strcmp(manifest->launchers[i - 1].cache_key,
		                      launcher->cache_key) < 0);
	}
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
		.layout = manifest->layout,
	};

	MUST(entries != NULL);
	for (size_t i = 0; i < manifest->entry_count; i++) {
		entries[i] = &manifest->entries[i];
		MUST(i == 0 ||
		     tkb_entry_compare(entries[i - 1], entries[i]) < 0);
		check_entry(entries[i]);
	}
	check_payloads(manifest);
	tkb_manifest_write(&contents, out);
	MUST(out->failure == 0);
}

/* Parse `text` and write it again. False if it is refused. */
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
