/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_NINJA_FILES_H
#define TKB_NINJA_FILES_H

/* Read ninja's two files item by item; for logs.c. */

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"

enum {
	/* ninja does not read a longer record. */
	TKB_NINJA_RECORD_LIMIT = (1 << 19) - 1
};

/* A row of the log: "start \t end \t mtime \t output \t hash \n". */
struct tkb_ninja_row {
	size_t at;     /* the offset of its output in the text */
	int64_t mtime; /* in nanoseconds */
	uint64_t hash; /* of the command */
	struct tkb_bytes output;
};

struct tkb_ninja_rows {
	struct tkb_bytes text; /* kept by reference */
	size_t at;
	size_t line;
	int version;
};

/* Begin, and read the first line. */
TKB_NODISCARD int tkb_ninja_rows_open(struct tkb_bytes text,
                                      struct tkb_ninja_rows *out,
                                      struct tkb_error *err);

/* Read the next row; TKB_MISS after the last. */
TKB_NODISCARD int tkb_ninja_rows_next(struct tkb_ninja_rows *rows,
                                      struct tkb_ninja_row *out,
                                      struct tkb_error *err);

/* A record of dependencies. Paths are numbered in the order of the file. */
struct tkb_ninja_record {
	uint32_t output;
	int64_t mtime; /* in nanoseconds */
	size_t inputs_start;
	size_t input_count;
};

struct tkb_ninja_records {
	struct tkb_bytes bytes;  /* kept by reference */
	struct tkb_arena *arena; /* the same; for paths */
	size_t at;
	bool is_wide; /* times are nanoseconds in 8 bytes; else seconds in 4 */
	const char **paths; /* owned */
	size_t path_count;
	size_t path_capacity;
};

TKB_NODISCARD int tkb_ninja_records_open(struct tkb_bytes bytes,
                                         struct tkb_arena *arena,
                                         struct tkb_ninja_records *out,
                                         struct tkb_error *err);
void tkb_ninja_records_close(struct tkb_ninja_records *records);

/* Read the next record of dependencies; TKB_MISS after the last. */
TKB_NODISCARD int tkb_ninja_records_next(struct tkb_ninja_records *records,
                                         struct tkb_ninja_record *out,
                                         struct tkb_error *err);

/* The number of input `index` of a record. */
uint32_t tkb_ninja_records_input(const struct tkb_ninja_records *records,
                                 const struct tkb_ninja_record *record,
                                 size_t index);

#endif
