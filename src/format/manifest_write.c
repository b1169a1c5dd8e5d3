/* SPDX-License-Identifier: Apache-2.0 */
#include "text/json.h"
#include "format/manifest_trees.h"

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

static void write_launcher(const struct tkb_saved_launcher *launcher,
                           struct tkb_buf *out)
{
	char hex[TKB_DIGEST_HEX_SIZE];

	tkb_digest_to_hex(&launcher->digest, hex);
	tkb_buf_add_text(out, "{\"key\":");
	quote(out, launcher->cache_key);
	tkb_buf_add_text(out, ",\"name\":");
	quote(out, launcher->name);
	tkb_buf_add_text(out, ",\"need\":");
	quote(out, tkb_need_name(launcher->need));
	tkb_buf_add_text(out, ",\"needs\":[");
	for (size_t i = 0; i < launcher->need_count; i++) {
		if (i != 0)
			tkb_buf_add_byte(out, ',');
		quote(out, launcher->needs[i]);
	}
	tkb_buf_add_text(out, "],\"payload\":[\"");
	tkb_buf_add_text(out, hex);
	tkb_buf_add_text(out, "\",");
	tkb_buf_add_number(out, launcher->size);
	tkb_buf_add_text(out, "]}");
}

void tkb_manifest_write(const struct tkb_contents *contents,
                        struct tkb_buf *out)
{
	size_t count = contents->entry_count;

	/* Units are in order behind the entries. */
	while (count != 0 &&
	       contents->entries[count - 1]->kind == TKB_KIND_UNIT)
		count--;
	tkb_buf_add_text(out, "{\"entries\":[");
	for (size_t i = 0; i < count; i++) {
		if (i != 0)
			tkb_buf_add_byte(out, ',');
		write_entry(contents->entries[i], out);
	}
	tkb_buf_add_text(out, "],\"format\":\"tkbundle\",\"launchers\":[");
	for (size_t i = 0; i < contents->launcher_count; i++) {
		if (i != 0)
			tkb_buf_add_byte(out, ',');
		write_launcher(&contents->launchers[i], out);
	}
	tkb_buf_add_text(out, "],\"profile\":");
	quote(out, contents->profile);
	tkb_buf_add_text(out,
	                 count == contents->entry_count
	                         ? ",\"requires\":[],\"trees\":["
	                         : ",\"requires\":[\"trees\"],\"trees\":[");
	tkb_manifest_write_trees(contents->entries + count,
	                         contents->entry_count - count, out);
	tkb_buf_add_text(out, "],\"version\":");
	tkb_buf_add_number(out, TKB_FORMAT_VERSION);
	tkb_buf_add_byte(out, '}');
}
