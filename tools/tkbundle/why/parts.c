/* SPDX-License-Identifier: Apache-2.0 */
#include "why/parts.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/cli.h"
#include "cli/text.h"
#include "report/kernel_facts.h"
#include "keys/ir.h"

void parts_release(struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		free(parts->items[i].name);
		free(parts->items[i].value);
	}
	free(parts->items);
	*parts = (struct parts){ .count = 0 };
}

int parts_add(struct parts *parts, enum reason reason, const char *name,
              const char *value, size_t size, struct tkb_error *err)
{
	struct part part = { .reason = reason };
	struct part *const items =
		table_grow(parts->items, parts->count, sizeof(*items));

	if (items == NULL)
		return cli_error_nomem(err);
	parts->items = items;
	part.name = strdup(name);
	part.value = strndup(value, size);
	if (part.name == NULL || part.value == NULL) {
		free(part.name);
		free(part.value);
		return cli_error_nomem(err);
	}
	items[parts->count++] = part;
	return 0;
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *const left = a;
	const struct part *const right = b;

	return strcmp(left->name, right->name);
}

void parts_sort(struct parts *parts)
{
	if (parts->count > 1)
		qsort(parts->items, parts->count, sizeof(*parts->items),
		      compare_parts);
}

const char *parts_find(const struct parts *parts, const char *name)
{
	const struct part wanted = { .name = (char *)name };
	const struct part *found = NULL;

	if (parts->count != 0)
		found = bsearch(&wanted, parts->items, parts->count,
		                sizeof(*parts->items), compare_parts);
	return found != NULL ? found->value : NULL;
}

static int add_text_part(struct parts *parts, enum reason reason,
                         const char *name, const char *value,
                         struct tkb_error *err)
{
	return parts_add(parts, reason, name, value, strlen(value), err);
}

/*
 * A kernel
 */

/*
 * The index of the kernel's file with this suffix; the number of files if there
 * is none.
 */
static size_t find_kernel_file(const struct tkb_entry *entry,
                               const char *ending)
{
	size_t i = 0;

	while (i < entry->file_count &&
	       !kernel_file_is(entry->files[i].name, entry->name, ending))
		i++;
	return i;
}

/* Read the file with this suffix; `out` stays empty if there is none. */
static int read_kernel_file(const struct source *source, size_t index,
                            const char *ending, struct tkb_memory *out,
                            struct tkb_error *err)
{
	const struct tkb_entry *const entry = source_entry(source, index);
	const size_t file = find_kernel_file(entry, ending);

	out->size = 0;
	return file == entry->file_count
	               ? 0
	               : source_read_file(source, index, file, out, err);
}

static int add_json(struct tkb_bytes text,
                    int (*add)(const json_t *object, struct parts *out,
                               struct tkb_error *err),
                    struct parts *out, struct tkb_error *err)
{
	json_auto_t *object = json_loadb(text.data, text.size, 0, NULL);

	return json_is_object(object) ? add(object, out, err) : 0;
}

static int add_metadata(const struct source *source, size_t index,
                        struct parts *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_memory_release) struct tkb_memory text = { .size = 0 };
	const int rc = read_kernel_file(source, index, ".json", &text, err);

	return rc == 0 && text.size != 0 ? add_json(source_bytes(&text),
	                                            parts_of_metadata, out, err)
	                                 : rc;
}

/*
 * The input of `tkbundle compile` for a kernel: the first of these files that
 * the kernel has.
 */
static int add_input(const struct source *source, size_t index,
                     struct parts *out, struct tkb_error *err)
{
	static const char *const endings[] = { ".cu", ".llir", ".ptx" };
	TKB_AUTO(tkb_memory_release) struct tkb_memory text = { .size = 0 };
	int rc = 0;

	for (size_t i = 0; i < 3 && rc == 0 && text.size == 0; i++)
		rc = read_kernel_file(source, index, endings[i], &text, err);
	if (rc != 0 || text.size == 0)
		return rc;
	return parts_add(out, REASON_SOURCE, PARTS_CODE,
	                 (const char *)text.data, text.size, err);
}

/* The IR before all passes; before Triton 3.4, the IR after the first pass. */
static int add_code(const struct source *source, size_t index,
                    struct parts *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_memory_release) struct tkb_memory ir = { .size = 0 };
	TKB_AUTO(text_free) char *code = NULL;
	TKB_AUTO(text_free) char *lines = NULL;
	char line[IR_TEXT_SIZE];
	size_t size = 0;
	int rc;

	rc = read_kernel_file(source, index, ".source", &ir, err);
	if (rc == 0 && ir.size == 0)
		rc = read_kernel_file(source, index, ".ttir", &ir, err);
	if (rc == 0 && ir.size == 0)
		return add_input(source, index, out, err);
	if (rc != 0)
		return rc;
	code = ir_without_places(source_bytes(&ir), &size);
	if (code == NULL)
		return cli_error_nomem(err);
	rc = parts_add(out, REASON_SOURCE, PARTS_CODE, code, size, err);
	if (rc == 0 && ir_line(source_bytes(&ir), line))
		rc = add_text_part(out, REASON_SOURCE, PARTS_FIRST_LINE, line,
		                   err);
	if (rc == 0 && ir_module(source_bytes(&ir), line))
		rc = add_text_part(out, REASON_SOURCE, PARTS_MODULE, line, err);
	lines = ir_lines(source_bytes(&ir), &size);
	if (lines == NULL)
		return cli_error_nomem(err);
	return rc == 0 ? parts_add(out, REASON_SOURCE, PARTS_LINES, lines, size,
	                           err)
	               : rc;
}

static int add_signature(const struct source *source, size_t index,
                         struct parts *out, struct tkb_error *err)
{
	TKB_AUTO(kernel_facts_release)
	struct kernel_facts facts = { .signature = NULL };
	int rc;

	rc = kernel_facts_read(source, index, &facts, err);
	if (rc == 0 && facts.signature != NULL)
		rc = add_text_part(out, REASON_SIGNATURE, "signature",
		                   facts.signature, err);
	return rc;
}

static int add_ptxas(const struct source *source, size_t index,
                     struct parts *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_memory_release) struct tkb_memory bytes = { .size = 0 };
	char version[IR_TEXT_SIZE];
	bool is_known = false;
	int rc;

	rc = read_kernel_file(source, index, ".cubin", &bytes, err);
	if (rc == 0 && bytes.size != 0)
		is_known = ir_ptxas_of_cubin(source_bytes(&bytes), version);
	if (rc == 0 && !is_known) {
		rc = read_kernel_file(source, index, ".ptx", &bytes, err);
		is_known = rc == 0 && bytes.size != 0 &&
		           ir_ptxas_of_ptx(source_bytes(&bytes), version);
	}
	return rc == 0 && is_known
	               ? add_text_part(out, REASON_PTXAS, "ptxas", version, err)
	               : rc;
}

static int read_kernel(const struct source *source, size_t index,
                       struct parts *out, struct tkb_error *err)
{
	int rc;

	rc = add_metadata(source, index, out, err);
	if (rc == 0)
		rc = add_code(source, index, out, err);
	if (rc == 0)
		rc = add_signature(source, index, out, err);
	return rc == 0 ? add_ptxas(source, index, out, err) : rc;
}

/*
 * A unit
 */

static bool is_graph(const struct tkb_entry *entry)
{
	return strncmp(entry->name, "fxgraph/", 8) == 0 ||
	       strstr(entry->name, "/fxgraph/") != NULL;
}

static int read_unit(const struct source *source, size_t index,
                     struct parts *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_memory_release) struct tkb_memory bytes = { .size = 0 };
	const struct tkb_entry *const entry = source_entry(source, index);
	int rc = 0;

	for (size_t i = 0; i < entry->file_count && rc == 0; i++) {
		const bool is_factors = strcmp(entry->files[i].name,
		                               "cache_key_factors.json") == 0;

		if (!is_factors && !is_graph(entry))
			continue;
		rc = source_read_file(source, index, i, &bytes, err);
		if (rc == 0)
			rc = is_factors ? add_json(source_bytes(&bytes),
			                           parts_of_factors, out, err)
			                : parts_of_graph(source_bytes(&bytes),
			                                 out, err);
		if (!is_factors)
			break;
	}
	return rc;
}

int parts_read(const struct source *source, size_t index, struct parts *out,
               struct tkb_error *err)
{
	const struct tkb_entry *const entry = source_entry(source, index);
	int rc = 0;

	if (entry->kind == TKB_KIND_KERNEL)
		rc = read_kernel(source, index, out, err);
	else if (entry->kind == TKB_KIND_UNIT)
		rc = read_unit(source, index, out, err);
	parts_sort(out);
	out->is_read = true;
	return rc;
}
