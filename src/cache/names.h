/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_NAMES_H
#define TKB_CACHE_NAMES_H

/* What the names of an entry's files say. */

#include "base/base.h"

enum {
	TKB_FILES_LIMIT = 64,       /* an entry */
	TKB_ENTRIES_LIMIT = 100000, /* a bundle */
	TKB_DEVICE_LIMIT = 1024     /* devices are below */
};

#define TKB_FILE_SIZE_LIMIT ((uint64_t)64 * 1024 * 1024)

/* A frame is decoded in memory, and an entry is never split. */
#define TKB_ENTRY_SIZE_LIMIT ((uint64_t)256 * 1024 * 1024)

/* Behind the last dot; "" where there is none. Part of `name`. */
const char *tkb_name_extension(const char *name);

bool tkb_name_ends_with(const char *name, const char *ending);

/* "__grp__<name>.json" */
bool tkb_name_is_group(const char *name);

/* "*.so", and "*.autotune.json" */
bool tkb_name_is_module(const char *name);
bool tkb_name_is_autotune(const char *name);

/* The `<name>` of a group file, module or autotune file; its length. */
size_t tkb_name_stem(const char *name, const char **start_out);

/* Source, IR or assembly, which no launch reads: what lean drops. */
bool tkb_name_is_lean_drop(const char *name);

/* The order of an entry's files: by extension, then by name. */
int tkb_name_compare(const char *a, const char *b);

#endif
