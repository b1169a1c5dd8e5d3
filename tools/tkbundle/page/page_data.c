/* SPDX-License-Identifier: Apache-2.0 */
#include "page/page.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "cli/cli.h"
#include "cli/text.h"
#include "report/entry_out.h"
#include "report/stats.h"
#include "starts/start_report.h"

#define DIGEST_SHOWN 16 /* digits of a digest, enough to distinguish files */

void page_begin(struct json_out *json, const char *kind, const char *name)
{
	json_out_text(json, "kind", kind);
	json_out_text(json, "name", name);
	json_out_number(json, "time", (uint64_t)time(NULL));
	json_out_open_object(json, "reasons");
	for (size_t i = 0; i < REASON_COUNT; i++)
		json_out_text(json, reason_word((enum reason)i),
		              reason_text((enum reason)i));
	json_out_close(json);
}

/* When entries were first known to be read, in seconds since 1970, by key. */
static json_t *read_uses(const char *root)
{
	struct tkb_uses *uses = NULL;
	json_t *const found = json_object();

	/* The page can do without the uses. */
	if (root == NULL || tkb_uses_open(root, NULL, &uses, NULL) != 0)
		return found;
	for (size_t i = 0; i < tkb_uses_count(uses); i++) {
		const struct tkb_use *const use = tkb_uses_at(uses, i);

		if (use->state == TKB_USE_STATE_USED && use->used_ns > 0)
			(void)json_object_set_new(
				found, use->entry->key,
				json_integer(use->used_ns / 1000000000));
	}
	tkb_uses_close(uses);
	return found;
}

static void add_files(struct json_out *json, const struct stats *stats,
                      const struct tkb_entry *entry)
{
	json_out_open_array(json, NULL);
	for (size_t i = 0; i < entry->file_count; i++) {
		const struct tkb_file *const file = &entry->files[i];
		const struct stats_type *const type =
			stats_find_type(stats, file->name);
		char hex[TKB_DIGEST_HEX_SIZE];

		tkb_digest_to_hex(&file->digest, hex);
		hex[DIGEST_SHOWN] = '\0';
		json_out_open_array(json, NULL);
		json_out_number(json, NULL, (uint64_t)(type - stats->types));
		json_out_number(json, NULL, file->size);
		json_out_text(json, NULL, hex);
		json_out_close(json);
	}
	json_out_close(json);
}

static void add_entry_json(struct json_out *json, const struct stats *stats,
                           const struct tkb_entry *entry, json_int_t used_s,
                           uint32_t time_ms, uint64_t part)
{
	char target[64] = "";
	char devices[64];

	if (entry->kind == TKB_KIND_KERNEL)
		entry_out_target(entry, target, sizeof(target));
	entry_out_devices(entry, devices, sizeof(devices));
	json_out_open_array(json, NULL);
	json_out_text(json, NULL, entry->key);
	json_out_text(json, NULL, tkb_kind_name(entry->kind));
	json_out_text(json, NULL, entry->name);
	json_out_text(json, NULL, text_or_empty(entry->tree));
	json_out_text(json, NULL, target);
	json_out_text(json, NULL, entry->platform);
	json_out_text(json, NULL, devices);
	json_out_number(json, NULL, (uint64_t)used_s);
	json_out_number(json, NULL, time_ms);
	json_out_number(json, NULL, part);
	add_files(json, stats, entry);
	json_out_close(json);
}

int page_add_source(struct json_out *json, const struct source *source,
                    const struct page_facts *facts, struct tkb_error *err)
{
	TKB_AUTO(stats_release) struct stats stats = { .type_count = 0 };
	json_auto_t *uses = NULL;
	const int rc = stats_gather(source, &stats, err);

	if (rc != 0)
		return rc;
	uses = read_uses(facts->root);
	json_out_open_array(json, "types");
	for (size_t i = 0; i < stats.type_count; i++)
		json_out_text(json, NULL, stats.types[i].name);
	json_out_close(json);
	json_out_open_array(json, "entries");
	for (size_t i = 0; i < source_entry_count(source); i++) {
		const struct tkb_entry *const entry = source_entry(source, i);
		uint32_t time_ms = 0;
		uint64_t part = 0;

		if (facts->of_entry != NULL)
			facts->of_entry(facts->self, i, &time_ms, &part);
		add_entry_json(
			json, &stats, entry,
			json_integer_value(json_object_get(uses, entry->key)),
			time_ms, part);
	}
	json_out_close(json);
	return 0;
}

void page_begin_parts(struct json_out *json)
{
	json_out_open_array(json, "parts");
}

void page_add_part(struct json_out *json, const char *name, uint64_t packed,
                   uint64_t size, uint64_t entry_count)
{
	json_out_open_array(json, NULL);
	json_out_text(json, NULL, name);
	json_out_number(json, NULL, packed);
	json_out_number(json, NULL, size);
	json_out_number(json, NULL, entry_count);
	json_out_close(json);
}

void page_end_parts(struct json_out *json, uint64_t packed)
{
	json_out_close(json);
	json_out_number(json, "packed", packed);
}

void page_begin_starts(struct json_out *json)
{
	json_out_open_array(json, "starts");
}

static void add_texts(struct json_out *json, const json_t *list)
{
	size_t index;
	json_t *item;

	json_out_open_array(json, NULL);
	json_array_foreach(list, index, item)
	{
		if (json_is_string(item))
			json_out_text(json, NULL, json_string_value(item));
	}
	json_out_close(json);
}

void page_add_start(struct json_out *json, const json_t *report)
{
	static const char *const numbers[] = { "emitted", "used", "compiled",
		                               "saved_ms", "delay_ms" };
	uint64_t reasons[REASON_COUNT];
	const char *node = start_report_text(report, "node");

	if (report == NULL)
		return;
	if (node[0] == '\0')
		node = start_report_text(report, "gpu");
	json_out_open_array(json, NULL);
	json_out_number(json, NULL,
	                start_report_number(report, "time_ms") / 1000);
	json_out_text(json, NULL, node);
	for (size_t i = 0; i < TKB_COUNT_OF(numbers); i++)
		json_out_number(json, NULL,
		                start_report_number(report, numbers[i]));
	add_texts(json, json_object_get(report, "failures"));
	start_report_reasons(report, reasons);
	json_out_open_object(json, NULL);
	for (size_t i = 0; i < REASON_COUNT; i++) {
		if (reasons[i] != 0)
			json_out_number(json, reason_word((enum reason)i),
			                reasons[i]);
	}
	json_out_close(json);
	json_out_close(json);
}

void page_end(struct json_out *json)
{
	json_out_close(json);
}
