/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "cli/cli.h"
#include "cli/deadline.h"
#include "cli/text.h"
#include "keys/variables.h"
#include "keys/ptx.h"

/* Append "name=value\n" to `*text`; false if out of memory. */
static bool append_setting(char **text, const char *name, const char *value)
{
	char *longer = NULL;

	if (asprintf(&longer, "%s%s=%s\n", *text != NULL ? *text : "", name,
	             value) < 0)
		return false;
	free(*text);
	*text = longer;
	return true;
}

/* Triton treats "1", "ON" and "true" as equal. */
static const char *normal(const char *value)
{
	static const char *const words[][2] = {
		{ "1", "true" },  { "on", "true" },   { "true", "true" },
		{ "0", "false" }, { "off", "false" }, { "false", "false" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(value, words[i][0]) == 0)
			return words[i][1];
	}
	return value;
}

char *look_environment(void)
{
	char *text = NULL;
	size_t at = 0;

	for (const char *name = key_variable_next_of_triton(&at); name != NULL;
	     name = key_variable_next_of_triton(&at)) {
		const char *const value = cli_variable(name);

		if (value != NULL)
			(void)append_setting(&text, name, normal(value));
	}
	return text;
}

/*
 * A kernel
 */

/* Triton writes the variables that are part of the key into the metadata. */
static void look_at_metadata(struct look *look, struct tkb_bytes bytes)
{
	json_t *const document = json_loadb(bytes.data, bytes.size, 0, NULL);
	size_t at = 0;

	for (const char *name = key_variable_next_of_triton(&at); name != NULL;
	     name = key_variable_next_of_triton(&at)) {
		const char *const value =
			json_string_value(json_object_get(document, name));

		if (value != NULL)
			(void)append_setting(&look->environment, name, value);
	}
	json_decref(document);
}

/* Files that show how a kernel was made. */
static bool is_ptx(const char *name)
{
	return text_ends_with(name, ".ptx");
}

static bool is_metadata(const struct tkb_entry *entry, const char *name)
{
	return text_ends_with(name, ".json") && !source_is_group(name) &&
	       strncmp(name, entry->name, strlen(entry->name)) == 0;
}

/*
 * An entry that is examined. The list is sorted by key, then name, for
 * look-ups.
 */
struct looked_at {
	const struct tkb_entry *entry;
	struct look *look;
};

struct looking {
	const struct source *source;
	struct look *looks;
	uint64_t end_ms;
	struct looked_at *sorted; /* owned; set while damage is searched */
};

static int on_file(void *self, size_t index, size_t file,
                   struct tkb_bytes bytes, struct tkb_error *err)
{
	const struct looking *const looking = self;
	const struct tkb_entry *const entry =
		source_entry(looking->source, index);
	struct look *const look = &looking->looks[index];
	const char *const name = entry->files[file].name;

	if (deadline_now_ms() >= looking->end_ms)
		return cli_error(err, TKB_ERR_CANCELLED, "cancelled");
	look->is_checked = true;
	if (entry->kind != TKB_KIND_KERNEL)
		return 0;
	if (is_ptx(name))
		look->ptx = ptx_of_text(bytes);
	if (!is_metadata(entry, name))
		return 0;
	look->is_read = true;
	look_at_metadata(look, bytes);
	return 0;
}

/*
 * A cache: only these files are read
 */

static void look_into(struct looking *looking, size_t index,
                      struct tkb_memory *bytes)
{
	const struct tkb_entry *const entry =
		source_entry(looking->source, index);

	for (size_t i = 0; i < entry->file_count; i++) {
		const char *const name = entry->files[i].name;

		if ((is_ptx(name) || is_metadata(entry, name)) &&
		    source_read_file(looking->source, index, i, bytes, NULL) ==
		            0)
			(void)on_file(
				looking, index, i,
				(struct tkb_bytes){ bytes->data, bytes->size },
				NULL);
	}
}

static void look_into_cache(struct looking *looking)
{
	TKB_AUTO(tkb_memory_release) struct tkb_memory bytes = { .size = 0 };
	const size_t count = source_entry_count(looking->source);

	for (size_t i = 0; i < count && deadline_now_ms() < looking->end_ms;
	     i++) {
		if (source_entry(looking->source, i)->kind == TKB_KIND_KERNEL)
			look_into(looking, i, &bytes);
	}
}

/*
 * A bundle: its frames are decoded once; if one is damaged, every entry is
 * verified to find out which can be used
 */

static int compare_looked_at(const void *a, const void *b)
{
	const struct looked_at *const left = a;
	const struct looked_at *const right = b;
	const int order = strcmp(left->entry->key, right->entry->key);

	return order != 0 ? order
	                  : strcmp(left->entry->name, right->entry->name);
}

/*
 * Variants for several platforms have the same key and name: a result applies
 * to all of them.
 */
static void note_result(void *self, const struct tkb_result *result)
{
	const struct looking *const looking = self;
	const struct tkb_entry entry = { .key = result->key,
		                         .name = result->name };
	const struct looked_at sought = { &entry, NULL };
	size_t low = 0;
	size_t count = source_entry_count(looking->source);
	const size_t end = count;

	if (result->is_launcher)
		return;
	while (count > 0) {
		const size_t half = count / 2;
		const bool is_above =
			compare_looked_at(&looking->sorted[low + half],
		                          &sought) < 0;

		low += is_above ? half + 1 : 0;
		count = is_above ? count - half - 1 : half;
	}
	for (; low < end &&
	       compare_looked_at(&looking->sorted[low], &sought) == 0;
	     low++) {
		struct look *const look = looking->sorted[low].look;

		look->is_checked = true;
		if (result->outcome == TKB_OUTCOME_FAILED &&
		    look->damage == NULL)
			look->damage = strdup(result->message);
	}
}

static void find_damage(struct looking *looking)
{
	const size_t count = source_entry_count(looking->source);
	const uint64_t now_ms = deadline_now_ms();
	const struct tkb_watch watch = { .struct_size = sizeof(watch),
		                         .self = looking,
		                         .on_result = note_result };
	const struct tkb_verify_options options = {
		.struct_size = sizeof(options),
		.deadline_ms = now_ms < looking->end_ms
		                       ? (uint32_t)(looking->end_ms - now_ms)
		                       : 1,
		.watch = &watch,
	};

	looking->sorted = calloc(count + 1, sizeof(*looking->sorted));
	if (looking->sorted == NULL)
		return;
	for (size_t i = 0; i < count; i++)
		looking->sorted[i] =
			(struct looked_at){ source_entry(looking->source, i),
			                    &looking->looks[i] };
	qsort(looking->sorted, count, sizeof(*looking->sorted),
	      compare_looked_at);
	/* note_result() has already received the results. */
	(void)(tkb_bundle_verify(looking->source->bundle, &options, NULL,
	                         NULL) == 0);
	free(looking->sorted);
}

/* @return the number of entries that were not read for lack of time */
static size_t look_into_bundle(struct looking *looking)
{
	const struct tkb_file_visitor visitor = { on_file, looking };
	const size_t count = source_entry_count(looking->source);
	size_t unread = 0;
	int rc = source_read_all(looking->source, &visitor, NULL);

	if (rc < 0 && rc != TKB_ERR_CANCELLED)
		find_damage(looking);
	for (size_t i = 0; i < count; i++) {
		struct look *const look = &looking->looks[i];

		if (rc != TKB_ERR_CANCELLED && look->damage == NULL &&
		    !look->is_read &&
		    source_entry(looking->source, i)->kind == TKB_KIND_KERNEL)
			rc = tkb_bundle_read_entry(looking->source->bundle, i,
			                           &visitor, NULL);
		unread += !look->is_checked;
	}
	return unread;
}

int looks_take(const struct source *source, uint64_t end_ms, struct looks *out,
               struct tkb_error *err)
{
	const size_t count = source_entry_count(source);
	struct looking looking = { .source = source, .end_ms = end_ms };

	looking.looks = calloc(count + 1, sizeof(*looking.looks));
	if (looking.looks == NULL)
		return cli_error_nomem(err);
	out->items = looking.looks;
	out->count = count;
	for (size_t i = 0; i < count; i++) {
		const struct tkb_entry *const entry = source_entry(source, i);

		for (size_t j = 0; j < entry->file_count; j++) {
			if (text_ends_with(entry->files[j].name, ".cubin"))
				looking.looks[i].has_binary = true;
		}
	}
	if (source->bundle != NULL)
		out->unread_count = look_into_bundle(&looking);
	else
		look_into_cache(&looking);
	return 0;
}

void looks_release(struct looks *looks)
{
	for (size_t i = 0; i < looks->count; i++) {
		free(looks->items[i].environment);
		free(looks->items[i].damage);
	}
	free(looks->items);
}
