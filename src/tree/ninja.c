/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/ninja.h"

#include <stdlib.h>

#include "tree/ninja_files.h"

void tkb_ninja_log_release(struct tkb_ninja_log *log)
{
	tkb_arena_release(&log->arena);
}

void tkb_ninja_deps_release(struct tkb_ninja_deps *deps)
{
	tkb_arena_release(&deps->arena);
}

/* By output, the last row first. */
static int compare_rows(const void *a, const void *b)
{
	const struct tkb_ninja_row *left = a;
	const struct tkb_ninja_row *right = b;
	const int order = tkb_bytes_compare(left->output, right->output);

	if (order != 0)
		return order;
	return left->mtime_start < right->mtime_start ? 1 : -1;
}

static int read_rows(struct tkb_bytes text, struct tkb_ninja_row **items,
                     size_t *count, struct tkb_error *err)
{
	struct tkb_ninja_rows rows;
	struct tkb_ninja_row row;
	size_t capacity = 0;
	int rc;

	rc = tkb_ninja_rows_open(text, &rows, err);
	if (rc < 0)
		return rc;
	for (rc = tkb_ninja_rows_next(&rows, &row, err); rc == 0;
	     rc = tkb_ninja_rows_next(&rows, &row, err)) {
		rc = tkb_grow(items, &capacity, *count, sizeof(**items), err);
		if (rc < 0)
			return rc;
		(*items)[(*count)++] = row;
	}
	return rc < 0 ? rc : 0;
}

/* Of each output, the last row counts. */
static int keep_last(struct tkb_ninja_row *items, size_t count,
                     struct tkb_ninja_log *log, struct tkb_error *err)
{
	int rc;

	log->outputs =
		tkb_arena_alloc(&log->arena, count, sizeof(*log->outputs));
	if (log->outputs == NULL)
		return tkb_fail_nomem(err);
	if (count != 0)
		qsort(items, count, sizeof(*items), compare_rows);
	for (size_t i = 0; i < count; i++) {
		struct tkb_ninja_mtime *output =
			&log->outputs[log->output_count];

		if (i > 0 &&
		    tkb_bytes_equal(items[i].output, items[i - 1].output))
			continue;
		output->mtime = items[i].mtime;
		rc = tkb_arena_copy(&log->arena, items[i].output,
		                    &output->output, err);
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

	rc = read_rows(text, &items, &count, err);
	if (rc == 0)
		rc = keep_last(items, count, &log, err);
	if (rc < 0)
		return rc;
	*out = log;
	log = (struct tkb_ninja_log){ 0 };
	return 0;
}

/* All records; `last[i]` is that of output `i`, if it has inputs_start. */
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

static int add_item(const struct tkb_ninja_records *records,
                    const struct tkb_ninja_record *record,
                    struct tkb_ninja_deps *deps, struct tkb_error *err)
{
	struct tkb_ninja_dep *item = &deps->items[deps->count];

	item->output = records->paths[record->output];
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
			rc = add_item(&records, &last[i], &deps, err);
	}
	if (rc < 0)
		return rc;
	*out = deps;
	deps = (struct tkb_ninja_deps){ 0 };
	return 0;
}

/* The times that are given, by output. */
struct stamps {
	const struct tkb_ninja_mtime **items; /* owned */
	bool *are_found;                      /* owned */
	size_t count;
};

static void release_stamps(struct stamps *stamps)
{
	free(stamps->items);
	free(stamps->are_found);
}

static int compare_stamps(const void *a, const void *b)
{
	const struct tkb_ninja_mtime *const *left = a;
	const struct tkb_ninja_mtime *const *right = b;

	return strcmp((*left)->output, (*right)->output);
}

static int sort_stamps(const struct tkb_ninja_mtime *mtimes, size_t count,
                       struct stamps *out, struct tkb_error *err)
{
	out->items = tkb_alloc_array(count, sizeof(struct tkb_ninja_mtime *));
	out->are_found = tkb_alloc_array(count, sizeof(bool));
	if (out->items == NULL || out->are_found == NULL)
		return tkb_fail_nomem(err);
	out->count = count;
	for (size_t i = 0; i < count; i++) {
		if (mtimes[i].mtime <= 0)
			return tkb_fail(err, TKB_ERR_INVALID,
			                "'%s' would have no time",
			                mtimes[i].output);
		out->items[i] = &mtimes[i];
	}
	if (count != 0)
		qsort(out->items, count, sizeof(struct tkb_ninja_mtime *),
		      compare_stamps);
	for (size_t i = 1; i < count; i++) {
		if (compare_stamps(&out->items[i - 1], &out->items[i]) == 0)
			return tkb_fail(err, TKB_ERR_INVALID,
			                "'%s' is given two times",
			                out->items[i]->output);
	}
	return 0;
}

/* The number of the stamp for `output`, or the count. */
static size_t find_stamp(const struct stamps *stamps, struct tkb_bytes output)
{
	size_t first = 0;
	size_t end = stamps->count;

	while (first < end) {
		const size_t middle = first + (end - first) / 2;
		const int order = tkb_bytes_compare(
			tkb_text(stamps->items[middle]->output), output);

		if (order == 0)
			return middle;
		if (order < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return stamps->count;
}

static int stamp_log(struct tkb_bytes text, struct stamps *stamps,
                     struct tkb_buf *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) struct tkb_ninja_row *rows = NULL;
	size_t count = 0;
	size_t done = 0;
	int rc;

	rc = read_rows(text, &rows, &count, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count; i++) {
		const struct tkb_ninja_row *row = &rows[i];
		const size_t found = find_stamp(stamps, row->output);
		uint64_t mtime;

		if (found == stamps->count)
			continue;
		stamps->are_found[found] = true;
		mtime = (uint64_t)stamps->items[found]->mtime;
		tkb_buf_add(out, tkb_bytes_slice(text, done, row->mtime_start));
		tkb_buf_add_number(out, row->is_seconds ? mtime / 1000000000
		                                        : mtime);
		done = row->mtime_end;
	}
	tkb_buf_add(out, tkb_bytes_slice(text, done, text.size));
	return tkb_buf_check(out, err);
}

static void write_words(unsigned char *place, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		place[i] = (unsigned char)(value >> 8 * i);
}

static int stamp_deps(struct tkb_bytes bytes, const struct stamps *stamps,
                      struct tkb_buf *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_ninja_records_close)
	struct tkb_ninja_records records = { 0 };
	struct tkb_ninja_record record;
	const size_t before = out->size;
	int rc;

	tkb_buf_add(out, bytes);
	rc = tkb_buf_check(out, err);
	if (rc == 0)
		rc = tkb_ninja_records_open(bytes, &arena, &records, err);
	while (rc == 0) {
		size_t found;
		uint64_t mtime;

		rc = tkb_ninja_records_next(&records, &record, err);
		if (rc != 0)
			break;
		found = find_stamp(stamps,
		                   tkb_text(records.paths[record.output]));
		if (found == stamps->count)
			continue;
		mtime = (uint64_t)stamps->items[found]->mtime;
		write_words(out->data + before + record.mtime_start,
		            records.is_wide ? mtime : mtime / 1000000000,
		            records.is_wide ? 8 : 4);
	}
	return rc < 0 ? rc : 0;
}

int tkb_ninja_stamp(struct tkb_bytes log, struct tkb_bytes deps,
                    const struct tkb_ninja_mtime *mtimes, size_t mtime_count,
                    struct tkb_buf *log_out, struct tkb_buf *deps_out,
                    struct tkb_error *err)
{
	TKB_AUTO(release_stamps) struct stamps stamps = { 0 };
	int rc;

	rc = sort_stamps(mtimes, mtime_count, &stamps, err);
	if (rc == 0)
		rc = stamp_log(log, &stamps, log_out, err);
	for (size_t i = 0; i < stamps.count && rc == 0; i++) {
		if (!stamps.are_found[i])
			rc = tkb_fail_entry(err, TKB_REASON_MISSING,
			                    "ninja's log does not know '%s'",
			                    stamps.items[i]->output);
	}
	if (rc == 0 && deps.size != 0)
		rc = stamp_deps(deps, &stamps, deps_out, err);
	return rc;
}
