/* SPDX-License-Identifier: Apache-2.0 */
#include "ninja/logs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ninja/files.h"

void tkb_ninja_log_release(struct tkb_ninja_log *log)
{
	tkb_arena_release(&log->arena);
}

void tkb_ninja_deps_release(struct tkb_ninja_deps *deps)
{
	tkb_arena_release(&deps->arena);
}

/* Sort by output; of each output, the last row first. */
static int compare_rows(const void *a, const void *b)
{
	const struct tkb_ninja_row *left = a;
	const struct tkb_ninja_row *right = b;
	const int order = tkb_bytes_compare(left->output, right->output);

	if (order != 0)
		return order;
	return left->at < right->at ? 1 : -1;
}

static int read_rows(struct tkb_bytes text, struct tkb_ninja_row **items,
                     size_t *count, int *version, struct tkb_error *err)
{
	struct tkb_ninja_rows rows;
	struct tkb_ninja_row row;
	size_t capacity = 0;
	int rc;

	rc = tkb_ninja_rows_open(text, &rows, err);
	if (rc < 0)
		return rc;
	*version = rows.version;
	for (rc = tkb_ninja_rows_next(&rows, &row, err); rc == 0;
	     rc = tkb_ninja_rows_next(&rows, &row, err)) {
		rc = tkb_grow(items, &capacity, *count, sizeof(**items), err);
		if (rc < 0)
			return rc;
		(*items)[(*count)++] = row;
	}
	return rc < 0 ? rc : 0;
}

/* Keep the last row of each output. */
static int keep_last(struct tkb_ninja_row *items, size_t count,
                     struct tkb_ninja_log *log, struct tkb_error *err)
{
	int rc;

	log->outputs =
		tkb_arena_alloc(&log->arena, count, sizeof(*log->outputs));
	if (log->outputs == NULL)
		return tkb_fail_nomem(err);
	tkb_sort(items, count, sizeof(*items), compare_rows);
	for (size_t i = 0; i < count; i++) {
		struct tkb_ninja_output *output =
			&log->outputs[log->output_count];

		if (i > 0 &&
		    tkb_bytes_equal(items[i].output, items[i - 1].output))
			continue;
		output->mtime = items[i].mtime;
		output->hash = items[i].hash;
		rc = tkb_arena_copy(&log->arena, items[i].output, &output->name,
		                    err);
		if (rc < 0)
			return rc;
		log->output_count++;
	}
	return 0;
}

int tkb_ninja_log_read(struct tkb_bytes text, struct tkb_ninja_log *out,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_ninja_log_release) struct tkb_ninja_log log = { 0 };
	TKB_AUTO(tkb_free_at) struct tkb_ninja_row *items = NULL;
	size_t count = 0;
	int rc;

	rc = read_rows(text, &items, &count, &log.version, err);
	if (rc == 0)
		rc = keep_last(items, count, &log, err);
	if (rc < 0)
		return rc;
	*out = log;
	log = (struct tkb_ninja_log){ 0 };
	return 0;
}

const struct tkb_ninja_output *tkb_ninja_log_find(
	const struct tkb_ninja_log *log, const char *name)
{
	return log->output_count == 0
	               ? NULL
	               : bsearch(&name, log->outputs, log->output_count,
	                         sizeof(*log->outputs), tkb_compare_texts);
}

void tkb_ninja_log_write(const struct tkb_ninja_log *log, struct tkb_buf *out)
{
	tkb_print(out, "# ninja log v%u\n", (unsigned)log->version);
	for (size_t i = 0; i < log->output_count; i++) {
		const struct tkb_ninja_output *output = &log->outputs[i];

		tkb_print(out, "0\t0\t%" PRIu64 "\t%s\t%" PRIx64 "\n",
		          (uint64_t)output->mtime, output->name, output->hash);
	}
}

/*
 * Read all records. `last[i]` is the last record of output `i`; it has
 * inputs_start if there is one.
 */
static int read_records(struct tkb_ninja_records *records,
                        struct tkb_ninja_record **last, size_t *capacity,
                        struct tkb_error *err)
{
	struct tkb_ninja_record record;
	int rc;

	for (rc = tkb_ninja_records_next(records, &record, err); rc == 0;
	     rc = tkb_ninja_records_next(records, &record, err)) {
		if (*capacity <= record.output) {
			const size_t wanted = records->path_capacity;
			struct tkb_ninja_record *grown =
				realloc(*last, wanted * sizeof(*grown));

			if (grown == NULL)
				return tkb_fail_nomem(err);
			memset(grown + *capacity, 0,
			       (wanted - *capacity) * sizeof(*grown));
			*last = grown;
			*capacity = wanted;
		}
		(*last)[record.output] = record;
	}
	return rc < 0 ? rc : 0;
}

static int add_dep(const struct tkb_ninja_records *records,
                   const struct tkb_ninja_record *record,
                   struct tkb_ninja_deps *deps, struct tkb_error *err)
{
	struct tkb_ninja_dep *item = &deps->items[deps->count];

	item->output = records->paths[record->output];
	item->mtime = record->mtime;
	item->input_count = record->input_count;
	item->inputs = tkb_arena_alloc(&deps->arena, record->input_count,
	                               sizeof(*item->inputs));
	if (item->inputs == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < record->input_count; i++)
		item->inputs[i] = records->paths[tkb_ninja_records_input(
			records, record, i)];
	deps->count++;
	return 0;
}

const struct tkb_ninja_dep *tkb_ninja_deps_find(
	const struct tkb_ninja_deps *deps, const char *output)
{
	return deps->count == 0
	               ? NULL
	               : bsearch(&output, deps->items, deps->count,
	                         sizeof(*deps->items), tkb_compare_texts);
}

int tkb_ninja_deps_read(struct tkb_bytes bytes, struct tkb_ninja_deps *out,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_ninja_deps_release) struct tkb_ninja_deps deps = { 0 };
	TKB_AUTO(tkb_ninja_records_close)
	struct tkb_ninja_records records = { 0 };
	TKB_AUTO(tkb_free_at) struct tkb_ninja_record *last = NULL;
	size_t count = 0;
	int rc;

	rc = tkb_ninja_records_open(bytes, &deps.arena, &records, err);
	if (rc == 0)
		rc = read_records(&records, &last, &count, err);
	if (rc < 0)
		return rc;
	deps.items = tkb_arena_alloc(&deps.arena, count, sizeof(*deps.items));
	if (deps.items == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count && rc == 0; i++) {
		if (last[i].inputs_start != 0)
			rc = add_dep(&records, &last[i], &deps, err);
	}
	if (rc < 0)
		return rc;
	tkb_sort(deps.items, deps.count, sizeof(*deps.items),
	         tkb_compare_texts);
	*out = deps;
	deps = (struct tkb_ninja_deps){ 0 };
	return 0;
}

/* Write dependencies. A path's number is the number of paths before it. */

struct writer {
	const char **paths; /* owned; sorted, without duplicates */
	uint32_t *numbers;  /* owned; number plus 1; 0: not written yet */
	size_t path_count;
	uint32_t written;
	struct tkb_buf *out;
};

static void release_writer(struct writer *writer)
{
	free(writer->paths);
	free(writer->numbers);
}

static void add_little_endian(uint32_t word, struct tkb_buf *out)
{
	for (int i = 0; i < 4; i++)
		tkb_buf_add_byte(out, (char)(word >> 8 * i));
}

static int list_paths(const struct tkb_ninja_deps *deps, struct writer *writer,
                      struct tkb_error *err)
{
	size_t count = 0;

	for (size_t i = 0; i < deps->count; i++)
		count += 1 + deps->items[i].input_count;
	writer->paths = tkb_alloc_array(count, sizeof(*writer->paths));
	writer->numbers = tkb_alloc_array(count, sizeof(*writer->numbers));
	if (writer->paths == NULL || writer->numbers == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < deps->count; i++) {
		const struct tkb_ninja_dep *item = &deps->items[i];

		writer->paths[writer->path_count++] = item->output;
		for (size_t j = 0; j < item->input_count; j++)
			writer->paths[writer->path_count++] = item->inputs[j];
	}
	writer->path_count = tkb_sort_texts(writer->paths, writer->path_count);
	return 0;
}

/* The number of `path`. If the path is new, its record is written first. */
static uint32_t number_of_path(struct writer *writer, const char *path)
{
	const char **found = bsearch(&path, writer->paths, writer->path_count,
	                             sizeof(*writer->paths), tkb_compare_texts);
	uint32_t *number = &writer->numbers[found - writer->paths];
	const size_t padding = (4 - strlen(path) % 4) % 4;

	if (*number == 0) {
		add_little_endian((uint32_t)(strlen(path) + padding + 4),
		                  writer->out);
		tkb_buf_add_text(writer->out, path);
		for (size_t i = 0; i < padding; i++)
			tkb_buf_add_byte(writer->out, '\0');
		add_little_endian(~writer->written, writer->out);
		*number = ++writer->written;
	}
	return *number - 1;
}

static void write_record(struct writer *writer,
                         const struct tkb_ninja_dep *item)
{
	const uint64_t mtime = (uint64_t)item->mtime;

	(void)number_of_path(writer, item->output);
	for (size_t i = 0; i < item->input_count; i++)
		(void)number_of_path(writer, item->inputs[i]);
	add_little_endian(UINT32_C(0x80000000) + 12 +
	                          4 * (uint32_t)item->input_count,
	                  writer->out);
	add_little_endian(number_of_path(writer, item->output), writer->out);
	add_little_endian((uint32_t)mtime, writer->out);
	add_little_endian((uint32_t)(mtime >> 32), writer->out);
	for (size_t i = 0; i < item->input_count; i++)
		add_little_endian(number_of_path(writer, item->inputs[i]),
		                  writer->out);
}

static bool dep_fits(const struct tkb_ninja_dep *item)
{
	if (item->input_count > (TKB_NINJA_RECORD_LIMIT - 12) / 4 ||
	    strlen(item->output) > TKB_NINJA_RECORD_LIMIT - 8)
		return false;
	for (size_t i = 0; i < item->input_count; i++) {
		if (strlen(item->inputs[i]) > TKB_NINJA_RECORD_LIMIT - 8)
			return false;
	}
	return true;
}

int tkb_ninja_deps_write(const struct tkb_ninja_deps *deps, struct tkb_buf *out,
                         struct tkb_error *err)
{
	TKB_AUTO(release_writer) struct writer writer = { .out = out };
	int rc;

	rc = list_paths(deps, &writer, err);
	if (rc < 0)
		return rc;
	tkb_buf_add_text(out, "# ninjadeps\n");
	add_little_endian(4, out);
	for (size_t i = 0; i < deps->count; i++) {
		if (!dep_fits(&deps->items[i]))
			return tkb_fail_entry(err, TKB_REASON_LIMIT,
			                      "ninja's dependencies cannot "
			                      "hold those of '%.300s'",
			                      deps->items[i].output);
		write_record(&writer, &deps->items[i]);
	}
	return tkb_buf_check(out, err);
}
