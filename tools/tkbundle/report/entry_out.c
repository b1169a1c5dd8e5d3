/* SPDX-License-Identifier: Apache-2.0 */
#include "report/entry_out.h"

#include <inttypes.h>
#include <string.h>

#include "cli/text.h"

void entry_out_target(const struct tkb_entry *entry, char *out, size_t size)
{
	const struct tkb_target *const target = &entry->target;

	if (entry->kind == TKB_KIND_UNIT)
		(void)snprintf(out, size, "%s", entry->tree);
	else if (target->backend[0] == '\0' && target->arch[0] == '\0')
		(void)snprintf(out, size, "-");
	else
		(void)snprintf(out, size, "%s:%s", target->backend,
		               target->arch);
}

/*
 * The index of the last device in the run of consecutive numbers that begins at
 * `first`.
 */
static size_t end_of_run(const struct tkb_entry *entry, size_t first)
{
	size_t last = first;

	while (last + 1 < entry->device_count &&
	       entry->devices[last + 1] == entry->devices[last] + 1)
		last++;
	return last;
}

void entry_out_devices(const struct tkb_entry *entry, char *out, size_t size)
{
	const char *comma = "";
	size_t used = 0;
	size_t last;

	if (entry->kind == TKB_KIND_UNIT) {
		(void)snprintf(out, size, "-");
		return;
	}
	for (size_t i = 0; i < entry->device_count; i = last + 1) {
		char run[32];
		size_t length;

		last = end_of_run(entry, i);
		if (last == i)
			(void)snprintf(run, sizeof(run), "%s%" PRIu32, comma,
			               entry->devices[i]);
		else
			(void)snprintf(run, sizeof(run),
			               "%s%" PRIu32 "-%" PRIu32, comma,
			               entry->devices[i], entry->devices[last]);

		/* Leave room for the dots and the terminating NUL. */
		length = strlen(run);
		if (used + length + 4 > size) {
			(void)snprintf(out + used, size - used, "...");
			return;
		}

		(void)snprintf(out + used, size - used, "%s", run);
		used += length;
		comma = ",";
	}
}

void entry_out_number(uint32_t number, char out[ENTRY_OUT_NUMBER_SIZE])
{
	if (number == 0)
		(void)snprintf(out, ENTRY_OUT_NUMBER_SIZE, "-");
	else
		(void)snprintf(out, ENTRY_OUT_NUMBER_SIZE, "%" PRIu32, number);
}

void entry_out_files(FILE *to, const struct tkb_entry *entry, bool has_digests)
{
	int width = 0;

	for (size_t i = 0; i < entry->file_count; i++) {
		const int length = (int)strlen(entry->files[i].name);

		width = length > width ? length : width;
	}

	for (size_t i = 0; i < entry->file_count; i++) {
		const struct tkb_file *const file = &entry->files[i];
		char digest[TKB_DIGEST_HEX_SIZE] = "";

		if (has_digests)
			tkb_digest_to_hex(&file->digest, digest);
		text_line(to, "  %-*s  %9" PRIu64 "%s%s", width, file->name,
		          file->size, has_digests ? "  " : "", digest);
	}
}

static void put_target(struct json_out *json, const struct tkb_entry *entry)
{
	if (entry->kind != TKB_KIND_KERNEL) {
		json_out_null(json, "target");
		return;
	}

	json_out_open_object(json, "target");
	json_out_text(json, "backend", entry->target.backend);
	json_out_text(json, "arch", entry->target.arch);
	json_out_number(json, "warp_size", entry->target.warp_size);
	json_out_close(json);
}

void entry_out_digest(struct json_out *json, const char *name,
                      const struct tkb_digest *digest)
{
	char hex[TKB_DIGEST_HEX_SIZE];

	tkb_digest_to_hex(digest, hex);
	json_out_text(json, name, hex);
}

static void put_files(struct json_out *json, const struct tkb_entry *entry,
                      bool has_digests)
{
	json_out_open_array(json, "files");
	for (size_t i = 0; i < entry->file_count; i++) {
		const struct tkb_file *const file = &entry->files[i];

		json_out_open_object(json, NULL);
		json_out_text(json, "name", file->name);
		json_out_number(json, "size", file->size);
		json_out_number(json, "sentinels", file->sentinels);
		if (has_digests)
			entry_out_digest(json, "sha256", &file->digest);
		json_out_close(json);
	}
	json_out_close(json);
}

void entry_out_json(struct json_out *json, const char *name,
                    const struct tkb_entry *entry, const bool *is_moved,
                    const struct kernel_facts *facts, bool has_files)
{
	json_out_open_object(json, name);
	json_out_text(json, "key", entry->key);
	json_out_text(json, "kind", tkb_kind_name(entry->kind));
	json_out_text(json, "name", entry->name);
	if (entry->kind == TKB_KIND_UNIT)
		json_out_text(json, "tree", entry->tree);
	put_target(json, entry);
	if (facts != NULL)
		kernel_facts_json(json, facts);
	json_out_text(json, "platform", entry->platform);
	json_out_text(json, "producer", entry->producer);
	json_out_text(json, "producer_version", entry->producer_version);

	json_out_open_array(json, "devices");
	for (size_t i = 0; i < entry->device_count; i++)
		json_out_number(json, NULL, entry->devices[i]);
	json_out_close(json);

	if (is_moved != NULL)
		json_out_flag(json, "moved", *is_moved);
	json_out_number(json, "file_count", entry->file_count);
	json_out_number(json, "size", tkb_entry_size(entry));
	if (has_files)
		put_files(json, entry, is_moved == NULL);
	json_out_close(json);
}
