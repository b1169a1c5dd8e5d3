/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/scrub.h"

#include "text/json.h"
#include "base/path.h"
#include "format/manifest.h"
#include "cache/metadata.h"
#include "fuzz.h"

/*
 * The input is a cache root, a line break, and a JSON text, which is taken for
 * the group file of an entry there, and for its metadata.
 *
 * Values of the metadata are valid in a manifest. A scrubbed file can be
 * restored, with exactly as many sentinels as were counted, and scrubbed again
 * to the same bytes. Restored with the recorded path it is the original, if the
 * path was written as json.dumps writes it.
 */

static const char key[] =
	"5DJUWXT22BVRYP25OPBYUCN7RE5SDRYAU5FI7SUCRVLO5BOTFZXA";

/* An entry's folder. */
struct place {
	struct tkb_buf path;
	struct tkb_buf escaped; /* as json.dumps writes it */
};

static void place_release(struct place *place)
{
	tkb_buf_release(&place->path);
	tkb_buf_release(&place->escaped);
}

/* Below `root`, made absolute; a zero byte is in no path. */
static void place_make(struct place *place, struct tkb_bytes root)
{
	const unsigned char *bytes = root.data;
	const size_t limit = root.size + sizeof(key) + 2;

	*place = (struct place){ .path = TKB_BUF_INIT(limit),
		                 .escaped = TKB_BUF_INIT(6 * limit) };
	tkb_buf_add_byte(&place->path, '/');
	for (size_t i = 0; i < root.size && bytes[i] != '\0'; i++) {
		if (i != 0 || bytes[i] != '/')
			tkb_buf_add_byte(&place->path, (char)bytes[i]);
	}
	if (place->path.size > 1)
		tkb_buf_add_byte(&place->path, '/');
	tkb_buf_add_text(&place->path, key);
	tkb_json_escape_python(tkb_buf_bytes(&place->path), &place->escaped);
	MUST(place->path.failure == 0 && place->escaped.failure == 0);
}

static struct tkb_buf roomy(struct tkb_bytes text, const struct place *place)
{
	return (struct tkb_buf)TKB_BUF_INIT((text.size + 1) *
	                                    (place->escaped.size + 16));
}

/* Is every path of the place in `text` written as json.dumps does? */
static bool is_written_plainly(struct tkb_bytes text, const struct place *place)
{
	const struct tkb_bytes path = tkb_buf_bytes(&place->path);
	struct tkb_json json = tkb_json_of(text, 0);
	struct tkb_json_token token = { 0 };
	struct tkb_error err = { 0 };

	do {
		struct tkb_bytes raw;
		size_t end = 0;

		MUST_OK(tkb_json_next(&json, &token, &err), &err);
		if (token.type != TKB_JSON_STRING)
			continue;
		raw = tkb_json_raw(&json, &token);
		if (tkb_json_begins(raw, path, &end) &&
		    !tkb_bytes_equal(tkb_bytes_slice(raw, 0, end),
		                     tkb_buf_bytes(&place->escaped)))
			return false;
	} while (token.type != TKB_JSON_END);
	return true;
}

/* A sentinel stands for a folder: a string ends there, or goes on below. */
static void check_sentinels(struct tkb_bytes scrubbed, uint32_t count)
{
	struct tkb_json json = tkb_json_of(scrubbed, 0);
	struct tkb_json_token token = { 0 };
	struct tkb_error err = { 0 };
	uint32_t found = 0;

	do {
		struct tkb_bytes raw;
		size_t end = 0;

		MUST_OK(tkb_json_next(&json, &token, &err), &err);
		if (token.type != TKB_JSON_STRING)
			continue;
		raw = tkb_json_raw(&json, &token);
		if (!tkb_json_begins(raw, tkb_text(TKB_SENTINEL), &end))
			continue;
		found++;
		raw = tkb_bytes_slice(raw, end, raw.size);
		MUST(raw.size == 0 ||
		     tkb_json_begins(raw, tkb_text("/"), &end));
	} while (token.type != TKB_JSON_END);
	MUST(found == count);
}

static void check_scrubbed(struct tkb_bytes text, const struct place *place,
                           struct tkb_bytes scrubbed, uint32_t count)
{
	const struct tkb_bytes path = tkb_buf_bytes(&place->path);
	TKB_AUTO(tkb_buf_release) struct tkb_buf restored = roomy(text, place);
	TKB_AUTO(tkb_buf_release) struct tkb_buf again = roomy(text, place);
	struct tkb_error err = { 0 };
	uint32_t again_count = 0;

	check_sentinels(scrubbed, count);
	MUST(tkb_restore(scrubbed, "k.json", path, count + 1, &again, &err) <
	     0);
	tkb_buf_reset(&again);
	MUST_OK(tkb_restore(scrubbed, "k.json", tkb_buf_bytes(&place->escaped),
	                    count, &restored, &err),
	        &err);
	MUST_OK(tkb_scrub(tkb_buf_bytes(&restored), "k.json", &path, 1, &again,
	                  &again_count, &err),
	        &err);
	MUST(again_count == count);
	MUST(tkb_bytes_equal(tkb_buf_bytes(&again), scrubbed));
}

/* With the place alone among the prefixes, it is what comes back. */
static void check_round_trip(struct tkb_bytes text, const struct place *place)
{
	const struct tkb_bytes path = tkb_buf_bytes(&place->path);
	TKB_AUTO(tkb_buf_release) struct tkb_buf scrubbed = roomy(text, place);
	TKB_AUTO(tkb_buf_release) struct tkb_buf restored = roomy(text, place);
	struct tkb_error err = { 0 };
	uint32_t count = 0;

	if (tkb_scrub(text, "k.json", &path, 1, &scrubbed, &count, &err) < 0)
		return;
	MUST_OK(tkb_restore(tkb_buf_bytes(&scrubbed), "k.json",
	                    tkb_buf_bytes(&place->escaped), count, &restored,
	                    &err),
	        &err);
	MUST(!is_written_plainly(text, place) ||
	     tkb_bytes_equal(tkb_buf_bytes(&restored), text));
}

/* The text as metadata, with the recorded place as a second prefix. */
static void check_metadata(struct tkb_bytes text, const struct place *place,
                           struct tkb_bytes recorded)
{
	const struct tkb_bytes prefixes[] = { tkb_buf_bytes(&place->path),
		                              recorded };
	const size_t prefix_count = recorded.size == 0 ? 1 : 2;
	TKB_AUTO(tkb_buf_release) struct tkb_buf scrubbed = roomy(text, place);
	struct tkb_error err = { 0 };
	uint32_t count = 0;
	int rc;

	rc = tkb_scrub(text, "k.json", prefixes, prefix_count, &scrubbed,
	               &count, &err);
	if (rc < 0) {
		MUST(rc == TKB_ERR_CORRUPT);
		MUST(err.reason == TKB_REASON_METADATA ||
		     err.reason == TKB_REASON_SENTINEL);
		return;
	}
	check_scrubbed(text, place, tkb_buf_bytes(&scrubbed), count);
	check_round_trip(text, place);
}

/* The path of a child, or its name in a list, as it was written. */
static void check_child_path(const struct tkb_group *group,
                             const struct tkb_child *child)
{
	const struct tkb_bytes raw =
		tkb_bytes_slice(group->text, child->start, child->end);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf path = TKB_BUF_INIT(raw.size + 1);
	TKB_AUTO(tkb_buf_release) struct tkb_buf own = TKB_BUF_INIT(1024);

	tkb_json_decode(raw, &path);
	if (!group->is_list) {
		tkb_buf_add_text(&own, key);
		tkb_buf_add_byte(&own, '/');
	}
	tkb_buf_add_text(&own, child->name);
	MUST(path.size >= own.size);
	MUST(memcmp(path.data + path.size - own.size, own.data, own.size) == 0);
	MUST(path.size == own.size ||
	     path.data[path.size - own.size - 1] == '/');
}

static void check_child(const struct tkb_group *group, size_t index)
{
	const struct tkb_child *child = &group->children[index];

	check_child_path(group, child);

	MUST(tkb_name_is_valid(tkb_text(child->name)));
	MUST(child->start <= child->end && child->end <= group->text.size);
	for (size_t i = 0; i < index; i++)
		MUST(strcmp(group->children[i].name, child->name) != 0);
}

/* A restored group file lists the same files, all at the place. */
static void check_restored_group(const struct tkb_group *group,
                                 const struct place *place,
                                 struct tkb_bytes restored,
                                 struct tkb_bytes scrubbed)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf again = TKB_BUF_INIT(scrubbed.size + 1);
	struct tkb_error err = { 0 };
	struct tkb_group twin = { 0 };
	uint32_t count = 0;

	MUST_OK(tkb_group_parse(restored, key, &arena, &twin, &err), &err);
	MUST(tkb_group_names(&twin, tkb_buf_bytes(&place->escaped)));
	MUST(twin.child_count == group->child_count);
	for (size_t i = 0; i < twin.child_count; i++)
		MUST(strcmp(twin.children[i].name, group->children[i].name) ==
		     0);
	tkb_group_rewrite(&twin, tkb_text(TKB_SENTINEL), false, &again, &count);
	MUST(tkb_bytes_equal(tkb_buf_bytes(&again), scrubbed));
	if (tkb_group_names(group, tkb_buf_bytes(&place->escaped)))
		MUST(tkb_bytes_equal(restored, group->text));
}

static void check_lean(const struct tkb_group *group, const struct place *place)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf lean = roomy(group->text, place);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf restored = roomy(group->text, place);
	struct tkb_error err = { 0 };
	uint32_t count = 0;

	tkb_group_rewrite(group, tkb_text(TKB_SENTINEL), true, &lean, &count);
	MUST_OK(tkb_restore(tkb_buf_bytes(&lean), "__grp__k.json",
	                    tkb_buf_bytes(&place->escaped), count, &restored,
	                    &err),
	        &err);
}

static void check_group(const struct tkb_group *group,
                        const struct place *place)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf scrubbed = roomy(group->text, place);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf restored = roomy(group->text, place);
	struct tkb_error err = { 0 };
	uint32_t count = 0;

	for (size_t i = 0; i < group->child_count; i++)
		check_child(group, i);
	tkb_group_rewrite(group, tkb_text(TKB_SENTINEL), false, &scrubbed,
	                  &count);
	MUST(scrubbed.failure == 0);
	check_sentinels(tkb_buf_bytes(&scrubbed), count);
	MUST_OK(tkb_restore(tkb_buf_bytes(&scrubbed), "__grp__k.json",
	                    tkb_buf_bytes(&place->escaped), count, &restored,
	                    &err),
	        &err);
	check_restored_group(group, place, tkb_buf_bytes(&restored),
	                     tkb_buf_bytes(&scrubbed));
	check_lean(group, place);
}

/* What is read from metadata can stand in a manifest. */
static void check_target(struct tkb_bytes text)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_manifest_release) struct tkb_manifest manifest = { 0 };
	TKB_AUTO(tkb_buf_release) struct tkb_buf written = TKB_BUF_INIT(65536);
	const struct tkb_file file = { .name = "__grp__k.json" };
	const uint32_t device = 0;
	struct tkb_entry entry = { .key = key,
		                   .name = "k",
		                   .kind = TKB_KIND_KERNEL,
		                   .platform = "",
		                   .producer = "triton",
		                   .devices = &device,
		                   .device_count = 1,
		                   .files = &file,
		                   .file_count = 1 };
	const struct tkb_entry *const entries[] = { &entry };
	const struct tkb_contents contents = { .entries = entries,
		                               .entry_count = 1,
		                               .profile = "full" };
	struct tkb_metadata metadata = { 0 };
	struct tkb_error err = { 0 };

	if (tkb_metadata_parse(text, "k.json", &arena, &metadata, &err) < 0) {
		MUST(err.reason == TKB_REASON_METADATA);
		return;
	}
	MUST(tkb_metadata_check_key(&metadata, key, &err) <= 0);
	entry.target = metadata.target;
	entry.producer_version = metadata.version;
	tkb_manifest_write(&contents, &written);
	MUST_OK(tkb_manifest_parse(tkb_buf_bytes(&written), &manifest, &err),
	        &err);
	MUST(strcmp(manifest.entries[0].target.arch, metadata.target.arch) ==
	     0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tkb_bytes text = { data, size };
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(place_release) struct place place = { 0 };
	TKB_AUTO(tkb_buf_release) struct tkb_buf recorded = TKB_BUF_INIT(size);
	struct tkb_group group = { 0 };
	struct tkb_error err = { 0 };

	place_make(&place, fuzz_take(&text, "\n"));
	if (tkb_group_parse(text, key, &arena, &group, &err) == 0) {
		check_group(&group, &place);
		if (!group.is_list)
			tkb_json_decode(
				tkb_bytes_slice(text, group.children[0].start,
			                        group.children[0].slash),
				&recorded);
	} else {
		MUST(err.status == TKB_ERR_CORRUPT && err.reason != 0);
	}
	check_metadata(text, &place, tkb_buf_bytes(&recorded));
	check_target(text);
	return 0;
}
