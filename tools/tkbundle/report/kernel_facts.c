/* SPDX-License-Identifier: Apache-2.0 */
#include "report/kernel_facts.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/*
 * The state while the files of the entries are visited, one entry after
 * another.
 */
struct reading {
	const struct source *source;
	struct kernel_facts *list; /* by index, from `first` on */
	size_t first;
	size_t index; /* the entry whose metadata was read */
	struct tkb_memory metadata;
};

static void release_metadata(struct reading *reading)
{
	tkb_memory_release(&reading->metadata);
}

static int keep_signature(void *self, struct tkb_bytes bytes,
                          struct tkb_error *err)
{
	char **const out = self;

	*out = strndup(bytes.data, bytes.size);
	if (*out == NULL)
		return cli_error_nomem(err);
	return 0;
}

/* The metadata comes before Triton's IR, which may be missing. */
static int read_facts_of(struct reading *reading, size_t index,
                         struct tkb_bytes ttir, struct tkb_error *err)
{
	struct kernel_facts *const facts =
		&reading->list[index - reading->first];
	const struct tkb_sink sink = { keep_signature, &facts->signature };
	const struct tkb_c_kernel kernel = {
		.struct_size = sizeof(kernel),
		.metadata = { reading->metadata.data, reading->metadata.size },
		.ttir = ttir,
	};
	int rc;

	free(facts->signature);
	facts->signature = NULL;
	facts->numbers.struct_size = sizeof(facts->numbers);
	rc = tkb_c_facts_read(&kernel, &facts->numbers, &sink, err);
	return rc == TKB_ERR_NOMEM ? rc : 0;
}

bool kernel_file_is(const char *file, const char *kernel, const char *suffix)
{
	const size_t length = strlen(kernel);

	return strncmp(file, kernel, length) == 0 &&
	       strcmp(file + length, suffix) == 0;
}

static bool is_wanted_file(const struct tkb_entry *entry, size_t file,
                           const char *suffix)
{
	return entry->kind == TKB_KIND_KERNEL &&
	       kernel_file_is(entry->files[file].name, entry->name, suffix);
}

static int on_file(void *self, size_t index, size_t file,
                   struct tkb_bytes bytes, struct tkb_error *err)
{
	struct reading *const reading = self;
	const struct tkb_entry *const entry =
		source_entry(reading->source, index);
	const struct tkb_sink sink = tkb_memory_sink(&reading->metadata);
	int rc;

	if (is_wanted_file(entry, file, ".json")) {
		reading->metadata.size = 0;
		rc = sink.write(sink.self, bytes, err);
		reading->index = index;
		return rc != 0 ? rc
		               : read_facts_of(reading, index,
		                               (struct tkb_bytes){ .size = 0 },
		                               err);
	}
	if (is_wanted_file(entry, file, ".ttir") && reading->index == index)
		return read_facts_of(reading, index, bytes, err);
	return 0;
}

/* In a cache, read only these two files. */
static int read_one(struct reading *reading, size_t index,
                    struct tkb_error *err)
{
	TKB_AUTO(tkb_memory_release) struct tkb_memory bytes = { .size = 0 };
	const struct tkb_entry *const entry =
		source_entry(reading->source, index);
	int rc = 0;

	for (size_t i = 0; i < entry->file_count && rc == 0; i++) {
		if (!is_wanted_file(entry, i, ".json") &&
		    !is_wanted_file(entry, i, ".ttir"))
			continue;
		rc = source_read_file(reading->source, index, i, &bytes, err);
		if (rc == 0)
			rc = on_file(reading, index, i, source_bytes(&bytes),
			             err);
	}

	return rc;
}

int kernel_facts_read(const struct source *source, size_t index,
                      struct kernel_facts *out, struct tkb_error *err)
{
	TKB_AUTO(release_metadata)
	struct reading reading = {
		.source = source, .list = out, .first = index, .index = SIZE_MAX
	};

	return read_one(&reading, index, err);
}

int kernel_facts_read_all(const struct source *source,
                          struct kernel_facts **out, struct tkb_error *err)
{
	const size_t count = source_entry_count(source);
	TKB_AUTO(release_metadata)
	struct reading reading = { .source = source, .index = SIZE_MAX };
	const struct tkb_file_visitor visitor = { on_file, &reading };
	int rc = 0;

	reading.list = calloc(count + 1, sizeof(*reading.list));
	if (reading.list == NULL)
		return cli_error_nomem(err);
	if (source->bundle != NULL)
		rc = tkb_bundle_read_all(source->bundle, &visitor, NULL, err);
	for (size_t i = 0; source->bundle == NULL && i < count && rc == 0; i++)
		rc = read_one(&reading, i, err);
	if (rc == 0)
		*out = reading.list;
	else
		kernel_facts_free(reading.list, count);
	return rc;
}

void kernel_facts_release(struct kernel_facts *facts)
{
	free(facts->signature);
	facts->signature = NULL;
}

void kernel_facts_free(struct kernel_facts *list, size_t count)
{
	for (size_t i = 0; list != NULL && i < count; i++)
		kernel_facts_release(&list[i]);
	free(list);
}

static void put_number(struct json_out *json, const char *name, uint32_t value)
{
	if (value != 0)
		json_out_number(json, name, value);
	else
		json_out_null(json, name);
}

void kernel_facts_json(struct json_out *json, const struct kernel_facts *facts)
{
	put_number(json, "num_warps", facts->numbers.num_warps);
	put_number(json, "num_stages", facts->numbers.num_stages);
	json_out_text(json, "signature", facts->signature);
}
