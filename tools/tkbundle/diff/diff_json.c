/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/diff_json.h"

#include "diff/diff_facts.h"
#include "report/entry_out.h"

/* Describe a file, or a part of it, in JSON. */
static const char *state_word(bool is_in_a, bool is_in_b)
{
	if (!is_in_a)
		return "only_b";
	return is_in_b ? "differs" : "only_a";
}

static void put_only(struct json_out *json, const char *name,
                     const struct diff *diff, enum diff_state state)
{
	json_out_open_array(json, name);
	for (size_t i = 0; i < diff->count; i++) {
		if (diff->pairs[i].state == state)
			entry_out_json(json, NULL, diff_entry(&diff->pairs[i]),
			               NULL, NULL, false);
	}
	json_out_close(json);
}

static void put_facts(struct json_out *json, const struct diff_pair *pair)
{
	json_out_open_array(json, "facts");
	for (size_t i = 0; i < DIFF_FACT_COUNT; i++) {
		char value[DIFF_FACT_SIZE];

		if ((pair->facts & diff_facts[i].flag) == 0)
			continue;
		json_out_open_object(json, NULL);
		json_out_text(json, "fact", diff_facts[i].name);
		diff_facts[i].write(pair->a, value, sizeof(value));
		json_out_text(json, "a", value);
		diff_facts[i].write(pair->b, value, sizeof(value));
		json_out_text(json, "b", value);
		json_out_close(json);
	}
	json_out_close(json);
}

static void put_side(struct json_out *json, const struct tkb_file *file,
                     const char *size_name, const char *digest_name)
{
	if (file == NULL)
		return;
	json_out_number(json, size_name, file->size);
	entry_out_digest(json, digest_name, &file->digest);
}

static void put_file(struct json_out *json, const struct diff_file *file)
{
	json_out_open_object(json, NULL);
	json_out_text(json, "name", file->name);
	json_out_text(json, "is", state_word(file->a != NULL, file->b != NULL));
	put_side(json, file->a, "a_size", "a_sha256");
	put_side(json, file->b, "b_size", "b_sha256");
	if (file->a != NULL && file->b != NULL &&
	    file->a->is_executable != file->b->is_executable)
		json_out_text(json, "executable_in",
		              file->a->is_executable ? "a" : "b");
	json_out_close(json);
}

static void put_part(struct json_out *json, const struct diff_cubin *cubin,
                     const struct cubin_diff_part *part)
{
	const bool is_in_a = part->state != CUBIN_ONLY_B;
	const bool is_in_b = part->state != CUBIN_ONLY_A;

	json_out_open_object(json, NULL);
	json_out_text(json, "file", cubin->file.a->name);
	json_out_text(json, "part", part->name);
	json_out_text(json, "is", state_word(is_in_a, is_in_b));
	if (is_in_a)
		json_out_number(json, "a_size", part->a_size);
	if (is_in_b)
		json_out_number(json, "b_size", part->b_size);
	if (is_in_a && is_in_b) {
		json_out_number(json, "different", part->different);
		json_out_number(json, "first", part->first);
	}
	json_out_close(json);
}

static void put_cubin(struct json_out *json, const struct diff_cubin *cubin)
{
	for (size_t i = 0; i < cubin->diff.count; i++)
		put_part(json, cubin, &cubin->diff.parts[i]);

	if (cubin->failure == NULL)
		return;
	json_out_open_object(json, NULL);
	json_out_text(json, "file", cubin->file.a->name);
	json_out_text(json, "error", cubin->failure);
	json_out_close(json);
}

static void put_devices(struct json_out *json, const struct tkb_entry *entry)
{
	json_out_open_array(json, "devices");
	for (size_t i = 0; i < entry->device_count; i++)
		json_out_number(json, NULL, entry->devices[i]);
	json_out_close(json);
}

static void put_pair(struct json_out *json, const struct diff_pair *pair,
                     const struct diff_cubins *cubins)
{
	struct diff_file file;
	size_t at = 0;

	json_out_open_object(json, NULL);
	json_out_text(json, "key", pair->a->key);
	json_out_text(json, "kind", tkb_kind_name(pair->a->kind));
	json_out_text(json, "name", pair->a->name);
	if (pair->a->kind == TKB_KIND_UNIT)
		json_out_text(json, "tree", pair->a->tree);
	json_out_text(json, "platform", pair->a->platform);
	put_devices(json, pair->a);
	put_facts(json, pair);

	json_out_open_array(json, "files");
	while (diff_next_file(pair, &at, &file))
		put_file(json, &file);
	json_out_close(json);

	at = 0;
	json_out_open_array(json, "parts");
	while (diff_next_file(pair, &at, &file)) {
		const struct diff_cubin *const cubin =
			diff_cubins_find(cubins, pair, &file);

		if (cubin != NULL)
			put_cubin(json, cubin);
	}
	json_out_close(json);
	json_out_close(json);
}

void diff_json(struct json_out *json, const struct diff *diff,
               const struct diff_cubins *cubins)
{
	put_only(json, "only_a", diff, DIFF_ONLY_A);
	put_only(json, "only_b", diff, DIFF_ONLY_B);

	json_out_open_array(json, "differ");
	for (size_t i = 0; i < diff->count; i++) {
		if (diff->pairs[i].state == DIFF_DIFFERS)
			put_pair(json, &diff->pairs[i], cubins);
	}
	json_out_close(json);
}
