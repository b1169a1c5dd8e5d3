/* SPDX-License-Identifier: Apache-2.0 */
#include "text/json.h"
#include "format/manifest_trees.h"

void tkb_manifest_write_file(const struct tkb_file *file, unsigned mode,
                             const char *before, struct tkb_buf *out)
{
	tkb_buf_add_text(out, before);
	tkb_json_add_text(out, "[", file->name);
	tkb_json_add_number(out, ",", file->size);
	tkb_json_add_digest(out, ",", &file->digest);
	if (mode != 0)
		tkb_json_add_number(out, ",", mode);
	if (file->sentinels != 0)
		tkb_json_add_number(out, ",", file->sentinels);
	tkb_buf_add_byte(out, ']');
}

void tkb_manifest_write_devices(const struct tkb_entry *entry,
                                struct tkb_buf *out)
{
	tkb_buf_add_byte(out, '[');
	for (size_t i = 0; i < entry->device_count; i++)
		tkb_json_add_number(out, i == 0 ? "" : ",", entry->devices[i]);
	tkb_buf_add_byte(out, ']');
}

void tkb_manifest_write_target(const struct tkb_target *target,
                               struct tkb_buf *out)
{
	tkb_json_add_text(out, "[", target->backend);
	tkb_json_add_text(out, ",", target->arch);
	tkb_json_add_number(out, ",", target->warp_size);
	tkb_buf_add_byte(out, ']');
}

static void write_manifest_entry(const struct tkb_entry *entry,
                                 struct tkb_buf *out)
{
	tkb_buf_add_text(out, "{\"devices\":");
	tkb_manifest_write_devices(entry, out);
	tkb_buf_add_text(out, ",\"files\":[");
	for (size_t i = 0; i < entry->file_count; i++)
		tkb_manifest_write_file(&entry->files[i], 0, i == 0 ? "" : ",",
		                        out);
	tkb_json_add_text(out, "],\"key\":", entry->key);
	tkb_json_add_text(out, ",\"kind\":", tkb_kind_name(entry->kind));
	tkb_json_add_text(out, ",\"name\":", entry->name);
	tkb_json_add_text(out, ",\"platform\":", entry->platform);
	tkb_json_add_text(out, ",\"producer\":[", entry->producer);
	tkb_json_add_text(out, ",", entry->producer_version);
	tkb_buf_add_text(out, "],\"target\":");
	tkb_manifest_write_target(&entry->target, out);
	tkb_buf_add_byte(out, '}');
}

static void write_launcher(const struct tkb_saved_launcher *launcher,
                           struct tkb_buf *out)
{
	tkb_json_add_text(out, "{\"key\":", launcher->cache_key);
	tkb_json_add_text(out, ",\"name\":", launcher->name);
	tkb_json_add_text(out, ",\"need\":", tkb_need_name(launcher->need));
	tkb_buf_add_text(out, ",\"needs\":[");
	for (size_t i = 0; i < launcher->need_count; i++)
		tkb_json_add_text(out, i == 0 ? "" : ",", launcher->needs[i]);
	tkb_json_add_digest(out, "],\"payload\":[", &launcher->digest);
	tkb_json_add_number(out, ",", launcher->size);
	tkb_buf_add_text(out, "]}");
}

static void write_required(const struct tkb_entry *const *units, size_t count,
                           struct tkb_buf *out)
{
	unsigned features = 0;
	const char *before = "";

	for (size_t i = 0; i < count; i++)
		features |= tkb_manifest_features(units[i]);
	tkb_buf_add_text(out, ",\"requires\":[");
	for (unsigned i = 0; tkb_manifest_feature(i) != NULL; i++) {
		if ((features & 1u << i) == 0)
			continue;
		tkb_json_add_text(out, before, tkb_manifest_feature(i));
		before = ",";
	}
	tkb_buf_add_byte(out, ']');
}

void tkb_manifest_write(const struct tkb_contents *contents,
                        struct tkb_buf *out)
{
	size_t count = contents->entry_count;

	/* Units follow the other entries, in order. */
	while (count != 0 &&
	       contents->entries[count - 1]->kind == TKB_KIND_UNIT)
		count--;
	tkb_buf_add_text(out, "{\"entries\":[");
	for (size_t i = 0; i < count; i++) {
		tkb_buf_add_text(out, i == 0 ? "" : ",");
		write_manifest_entry(contents->entries[i], out);
	}
	tkb_buf_add_text(out, "],\"format\":\"tkbundle\",\"launchers\":[");
	for (size_t i = 0; i < contents->launcher_count; i++) {
		tkb_buf_add_text(out, i == 0 ? "" : ",");
		write_launcher(&contents->launchers[i], out);
	}
	tkb_buf_add_byte(out, ']');
	if (contents->layout != NULL)
		tkb_json_add_text(out, ",\"layout\":", contents->layout);
	tkb_json_add_text(out, ",\"profile\":", contents->profile);
	write_required(contents->entries + count, contents->entry_count - count,
	               out);
	tkb_buf_add_text(out, ",\"trees\":[");
	tkb_manifest_write_trees(contents->entries + count,
	                         contents->entry_count - count, out);
	tkb_json_add_number(out, "],\"version\":", TKB_FORMAT_VERSION);
	tkb_buf_add_byte(out, '}');
}
