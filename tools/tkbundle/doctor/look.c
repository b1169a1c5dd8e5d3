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
#include "config/key_variables.h"
#include "why/ptx.h"

/* Append "name=value\n" to `*text`; false where memory is short. */
static bool append(char **text, const char *name, const char *value)
{
	char *longer = NULL;

	if (asprintf(&longer, "%s%s=%s\n", *text != NULL ? *text : "", name,
	             value) < 0)
		return false;
	free(*text);
	*text = longer;
	return true;
}

/* Triton takes "1", "ON" and "true" for one. */
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

	for (size_t i = 0; key_variable_of_triton(i) != NULL; i++) {
		const char *const name = key_variable_of_triton(i);
		const char *const value = cli_variable(name);

		if (value != NULL)
			(void)append(&text, name, normal(value));
	}
	return text;
}

/*
 * A kernel
 */

/* Triton writes the variables that are in the key as members of the metadata. */
static void look_at_metadata(struct look *look, struct tkb_bytes bytes)
{
	json_t *const document = json_loadb(bytes.data, bytes.size, 0, NULL);

	for (size_t i = 0;
	     key_variable_of_triton(i) != NULL && document != NULL; i++) {
		const char *const name = key_variable_of_triton(i);
		const char *const value =
			json_string_value(json_object_get(document, name));

		if (value != NULL)
			(void)append(&look->environment, name, value);
	}
	json_decref(document);
}

/* Which of its files tell something. */
static bool is_ptx(const char *name)
{
	return text_ends_with(name, ".ptx");
}

static bool is_metadata(const struct tkb_entry *entry, const char *name)
{
	return text_ends_with(name, ".json") && !source_is_group(name) &&
	       strncmp(name, entry->name, strlen(entry->name)) == 0;
}

struct looking {
	const struct source *source;
	struct look *looks;
};

static int on_file(void *self, size_t index, size_t file,
                   struct tkb_bytes bytes, struct tkb_error *err)
{
	const struct looking *const looking = self;
	const struct tkb_entry *const entry =
		source_entry(looking->source, index);
	struct look *const look = &looking->looks[index];
	const char *const name = entry->files[file].name;

	(void)err;
	if (entry->kind != TKB_KIND_KERNEL)
		return 0;
	if (is_ptx(name))
		look->ptx = ptx_of_text(bytes);
	else if (is_metadata(entry, name))
		look_at_metadata(look, bytes);
	look->is_read = true;
	return 0;
}

/* Only the files that tell something. */
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

int looks_take(const struct source *source, uint64_t end_ms, struct look **out,
               struct tkb_error *damage, struct tkb_error *err)
{
	TKB_AUTO(tkb_memory_release) struct tkb_memory bytes = { .size = 0 };
	const size_t count = source_entry_count(source);
	struct looking looking = { .source = source };
	const struct tkb_file_visitor visitor = { on_file, &looking };
	struct tkb_error fault = { .status = 0 };

	looking.looks = calloc(count + 1, sizeof(*looking.looks));
	if (looking.looks == NULL)
		return cli_error(err, TKB_ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		const struct tkb_entry *const entry = source_entry(source, i);

		for (size_t j = 0; j < entry->file_count; j++) {
			if (text_ends_with(entry->files[j].name, ".cubin"))
				looking.looks[i].has_binary = true;
		}
	}
	/* Of a bundle, each frame is decoded once. */
	if (source->bundle != NULL && deadline_now_ms() < end_ms &&
	    source_read_all(source, &visitor, &fault) < 0)
		*damage = fault;
	for (size_t i = 0;
	     i < count && source->cache != NULL && deadline_now_ms() < end_ms;
	     i++) {
		if (source_entry(source, i)->kind == TKB_KIND_KERNEL)
			look_into(&looking, i, &bytes);
	}
	*out = looking.looks;
	return 0;
}

void looks_free(struct look *looks, size_t count)
{
	for (size_t i = 0; looks != NULL && i < count; i++)
		free(looks[i].environment);
	free(looks);
}
