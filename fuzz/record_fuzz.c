/* SPDX-License-Identifier: Apache-2.0 */
#include "records/record.h"

#include "base/digest.h"
#include "text/json.h"
#include "cache/key.h"
#include "cache/names.h"
#include "tree/unit.h"
#include "fuzz.h"

/* Writing an accepted record gives the same bytes. */

enum {
	RECORD_LIMIT = 16 * 1024 * 1024
};

static void add_text(const char *text, struct tkb_buf *out)
{
	tkb_json_quote(tkb_text(text), out);
}

static void add_digest(const struct tkb_digest *digest, struct tkb_buf *out)
{
	char hex[TKB_DIGEST_HEX_SIZE];

	tkb_digest_to_hex(digest, hex);
	add_text(hex, out);
}

static void add_entry(const struct tkb_record_entry *entry, struct tkb_buf *out)
{
	tkb_buf_add_byte(out, '[');
	add_text(entry->key, out);
	tkb_buf_add_byte(out, ',');
	add_text(entry->platform, out);
	tkb_buf_add_text(out, ",[");
	add_text(entry->target.backend, out);
	tkb_buf_add_byte(out, ',');
	add_text(entry->target.arch, out);
	tkb_buf_add_byte(out, ',');
	tkb_buf_add_number(out, entry->target.warp_size);
	tkb_buf_add_text(out, "],[");
	for (size_t i = 0; i < entry->device_count; i++) {
		if (i != 0)
			tkb_buf_add_byte(out, ',');
		tkb_buf_add_number(out, entry->devices[i]);
	}
	tkb_buf_add_byte(out, ']');
	if (entry->tree != NULL) {
		tkb_buf_add_text(out, ",[");
		add_text(entry->tree, out);
		tkb_buf_add_byte(out, ',');
		add_text(entry->name, out);
		tkb_buf_add_byte(out, ']');
	}
	tkb_buf_add_byte(out, ']');
}

static void write_again(const struct tkb_record *record, struct tkb_buf *out)
{
	bool has_units = false;

	tkb_buf_add_text(out, "{\"blob\":[");
	add_digest(&record->blob, out);
	tkb_buf_add_byte(out, ',');
	tkb_buf_add_number(out, record->size);
	tkb_buf_add_text(out, "],\"bundle\":");
	add_digest(&record->bundle, out);
	tkb_buf_add_text(out, ",\"entries\":[");
	for (size_t i = 0; i < record->entry_count; i++) {
		if (i != 0)
			tkb_buf_add_byte(out, ',');
		add_entry(&record->entries[i], out);
		has_units |= record->entries[i].tree != NULL;
	}
	tkb_buf_add_text(out, "],\"format\":\"tkbundle-record\",\"frames\":");
	add_digest(&record->frames, out);
	tkb_buf_add_text(out, ",\"profile\":");
	add_text(record->is_lean ? "lean" : "full", out);
	tkb_buf_add_text(out, ",\"version\":");
	tkb_buf_add_number(out, has_units ? 2 : 1);
	tkb_buf_add_byte(out, '}');
	MUST(out->failure == 0);
}

/* What a pull relies on. */
static void check_entry(const struct tkb_record_entry *entry)
{
	MUST(tkb_key_is_valid(entry->key));
	MUST(entry->device_count != 0);
	MUST(entry->tree == NULL || (tkb_tree_name_is_valid(entry->tree) &&
	                             tkb_unit_path_is_valid(entry->name)));
	for (size_t i = 0; i < entry->device_count; i++) {
		MUST(entry->devices[i] < TKB_DEVICE_LIMIT);
		MUST(i == 0 || entry->devices[i - 1] < entry->devices[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tkb_bytes text = { data, size };
	TKB_AUTO(tkb_record_release) struct tkb_record record = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf again = TKB_BUF_INIT(RECORD_LIMIT);
	struct tkb_error err = { 0 };
	const int rc = tkb_record_parse(text, &record, &err);

	MUST(rc == 0 || rc == TKB_ERR_CORRUPT || rc == TKB_ERR_UNSUPPORTED);
	if (rc < 0) {
		MUST(err.status == rc && err.message[0] != '\0');
		MUST(record.entries == NULL);
		return 0;
	}
	for (size_t i = 0; i < record.entry_count; i++)
		check_entry(&record.entries[i]);
	write_again(&record, &again);
	MUST(tkb_bytes_equal(tkb_buf_bytes(&again), text));
	return 0;
}
